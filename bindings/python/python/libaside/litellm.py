"""A callback for LiteLLM's proxy that splits the answers of servers that do not.

    litellm_settings:
      callbacks: libaside.litellm.handler

The thinking of each choice moves from `content` to `reasoning_content`, in streams and in whole answers; an answer that has
`reasoning_content` already stays as it is. The dialect is that of the environment variable `ASIDE_DIALECT`, else that of the model of
the request, else `any`. Tool calls in the text stay there, with their markers.

Written for the interface of LiteLLM 1.108.7.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from ._engine import Piece, choose_dialect, pieces, whole
from ._libaside import Dialect, Scanner

__all__ = ["handler"]


class _Choice:
    """One choice of a stream."""

    def __init__(self, dialect: Dialect) -> None:
        self.scanner: Scanner[str] = Scanner(dialect)
        # The server splits it itself.
        self.passes = False
        self.has_ended = False


class _Answer:
    """The stream of one answer, choice by choice."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._choices: dict[int, _Choice] = {}
        self._last: Any = None

    def chunks(self, chunk: Any) -> list[Any]:
        """Return the chunks that one becomes: each stretch of text has one, in order."""
        out: list[Any] = []
        for choice in getattr(chunk, "choices", None) or []:
            delta = getattr(choice, "delta", None)
            if delta is None:
                continue
            state = self._choices.setdefault(choice.index, _Choice(self._dialect))
            if getattr(delta, "reasoning_content", None):
                state.passes = True
            if state.passes or state.has_ended:
                continue
            text = getattr(delta, "content", None) or ""
            events = state.scanner.feed(text) if text else []
            if getattr(choice, "finish_reason", None):
                events += state.scanner.finish()
                state.has_ended = True
            parts = pieces(events)
            for part in parts[:-1]:
                out.append(_with(chunk, choice.index, part))
            if text or parts:
                _set(delta, parts[-1] if parts else Piece(False, ""))
        self._last = chunk
        return [*out, chunk]

    def rest(self) -> list[Any]:
        """Return chunks for what is held back, if the stream ends without a finish reason."""
        out: list[Any] = []
        for index, state in self._choices.items():
            if not state.passes and not state.has_ended:
                out += [_with(self._last, index, part) for part in pieces(state.scanner.finish())]
        return out


def _set(delta: Any, part: Piece) -> None:
    if part.is_reasoning:
        delta.reasoning_content, delta.content = part.text, None
    else:
        delta.content = part.text


def _with(chunk: Any, index: int, part: Piece) -> Any:
    """Return a chunk like another one that has a stretch of text of one choice, and nothing else."""
    made = copy.deepcopy(chunk)
    made.choices = [choice for choice in made.choices if choice.index == index] or made.choices[:1]
    choice = made.choices[0]
    choice.index, choice.finish_reason = index, None
    if getattr(choice.delta, "tool_calls", None):
        choice.delta.tool_calls = None
    _set(choice.delta, part)
    if getattr(made, "usage", None) is not None:
        made.usage = None
    return made


def _handler_class() -> type[Any]:
    try:
        base: Any = importlib.import_module("litellm.integrations.custom_logger").CustomLogger
    except ImportError as error:
        raise ImportError("libaside.litellm needs LiteLLM: run it in the environment of the proxy (pip install litellm)") from error

    class AsideHandler(base):  # type: ignore[misc]
        """Splits the answers that pass LiteLLM's proxy."""

        async def async_post_call_streaming_iterator_hook(
            self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
        ) -> AsyncIterator[Any]:
            answer: _Answer | None = None
            async for chunk in response:
                answer = answer or _Answer(choose_dialect(request_data.get("model"), getattr(chunk, "model", None)))
                for made in answer.chunks(chunk):
                    yield made
            for made in answer.rest() if answer else []:
                yield made

        async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
            dialect = choose_dialect(data.get("model"), getattr(response, "model", None))
            for choice in getattr(response, "choices", None) or []:
                message = getattr(choice, "message", None)
                content = getattr(message, "content", None)
                if message is None or not isinstance(content, str) or getattr(message, "reasoning_content", None):
                    continue
                reasoning, rest = whole(dialect, content, None)
                if reasoning:
                    message.reasoning_content = reasoning
                if rest != content:
                    message.content = rest
            return response

    return AsideHandler


if TYPE_CHECKING:
    handler: Any


def __getattr__(name: str) -> Any:
    """Make the handler when LiteLLM asks for it: LiteLLM is not needed before."""
    if name == "handler":
        made = _handler_class()()
        globals()[name] = made
        return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
