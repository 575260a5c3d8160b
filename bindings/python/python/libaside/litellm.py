"""A callback for LiteLLM's proxy that splits answers if their server has not done so.

    litellm_settings:
      callbacks: libaside.litellm.handler

On `/v1/chat/completions` the thinking of each choice moves from `content` to `reasoning_content`, and tool calls that the model wrote
as text move to `tool_calls`. On `/v1/messages` they become separate blocks. Streams and whole answers have the same result.
Thinking and calls that the server has already split stay unchanged. The dialect is that of the environment variable
`ASIDE_DIALECT`, otherwise that of the model of the request or of the answer, otherwise `any`.

Written for the interface of LiteLLM 1.108.7.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from ._engine import choose_dialect
from ._libaside import Rewriter

__all__ = ["handler"]


def _rewriter(request: Mapping[str, Any], model: object, body: Literal["events", "json"]) -> Rewriter:
    """Return the rewriter of an answer. Only calls of the request's tools are read: without tools, text that looks like a call is
    text."""
    return Rewriter(
        choose_dialect(request.get("model"), model),
        body=body,
        formats=["chat", "messages"],
        calls=bool(request.get("tools")),
        tools=request.get("tools") or None,
        max_calls=1 if request.get("parallel_tool_calls") is False else None,
    )


class _Answer:
    """The stream of one answer, in LiteLLM's parts: bytes of Messages events, or objects with choices."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._request = request
        self._rewriter: Rewriter | None = None
        self._class: type[Any] | None = None

    def feed(self, part: Any) -> Iterator[Any]:
        """Yield the parts that replace a part."""
        if isinstance(part, (bytes, str)):
            data = part.encode() if isinstance(part, str) else part
            self._rewriter = self._rewriter or _rewriter(self._request, _model_of_events(data), "events")
            if made := self._rewriter.feed(data):
                yield made if isinstance(part, bytes) else made.decode()
        elif hasattr(part, "model_dump"):
            self._rewriter = self._rewriter or _rewriter(self._request, getattr(part, "model", None), "events")
            self._class = type(part)
            event = _event(part.model_dump())
            made = self._rewriter.feed(event)
            # If nothing changes, pass the object itself: it has more data than LiteLLM writes.
            yield from [part] if made == event else self._parts(made)
        else:
            yield part

    def finish(self) -> Iterator[Any]:
        """Yield the text that is still held back, if the stream ends without a finish reason."""
        made = self._rewriter.finish() if self._rewriter else b""
        if self._class is not None:
            yield from self._parts(made)
        elif made:
            yield made

    def _parts(self, events: bytes) -> Iterator[Any]:
        for line in events.splitlines():
            if line.startswith(b"data: ") and self._class is not None:
                yield self._class(**json.loads(line.removeprefix(b"data: ")))


def _event(message: Any) -> bytes:
    return b"data: " + json.dumps(message, ensure_ascii=False, default=str).encode() + b"\n\n"


def _model_of_events(data: bytes) -> object:
    """Return the model that the first event of a message names."""
    for line in data.splitlines():
        if line.startswith(b"data: "):
            try:
                return json.loads(line.removeprefix(b"data: "))["message"]["model"]
            except (KeyError, TypeError, ValueError):
                return None
    return None


def _joined(thinking: object, content: object) -> str | None:
    """Return the text that the model wrote, if LiteLLM has split it. LiteLLM splits whole answers, and keeps the white space around
    the markers. Return None if there is no such white space."""
    if not isinstance(thinking, str) or not isinstance(content, str) or "<think" in content or "</think" in thinking:
        return None
    is_framed = thinking != thinking.strip() or content != content.lstrip()
    return f"<think>{thinking}</think>{content}" if is_framed else None


def _unsplit(message: dict[str, Any]) -> None:
    """Undo the splitting of LiteLLM, so that whole answers have the same result as streams."""
    for choice in message.get("choices") or []:
        one = choice.get("message") or {}
        if (text := _joined(one.get("reasoning_content"), one.get("content"))) is not None:
            one["content"] = text
            del one["reasoning_content"]
    blocks = message.get("content")
    if isinstance(blocks, list) and len(blocks) > 1 and all(isinstance(block, dict) for block in blocks[:2]):
        first, second = blocks[:2]
        # A signature is the model's own, so a block with a signature must be sent back to the model unchanged.
        if first.get("type") == "thinking" and second.get("type") == "text" and not first.get("signature"):
            if (text := _joined(first.get("thinking"), second.get("text"))) is not None:
                message["content"] = [{**second, "text": text}, *blocks[2:]]


def _whole(request: Mapping[str, Any], answer: Any) -> Any:
    """Return a whole answer, split: an object with choices, or a message."""
    is_object = hasattr(answer, "model_dump")
    message = answer.model_dump() if is_object else answer
    if not isinstance(message, dict):
        return answer
    rewriter = _rewriter(request, message.get("model"), "json")
    before = json.dumps(message, default=str)
    message = json.loads(before)
    _unsplit(message)
    body = json.dumps(message, ensure_ascii=False, default=str).encode()
    made = rewriter.feed(body) + rewriter.finish()
    split = json.loads(made)
    if split == json.loads(before):
        return answer
    if not is_object:
        answer.update(split)
    elif "choices" in split:
        answer.choices = type(answer)(**split).choices
    else:
        answer = type(answer)(**split)
    return answer


def _handler_class() -> type[Any]:
    try:
        base: Any = importlib.import_module("litellm.integrations.custom_logger").CustomLogger
    except ImportError as error:
        raise ImportError("libaside.litellm needs LiteLLM: run it in the environment of the proxy (pip install litellm)") from error

    class AsideHandler(base):  # type: ignore[misc]
        """Splits the answers that pass through LiteLLM's proxy."""

        async def async_post_call_streaming_iterator_hook(
            self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
        ) -> AsyncIterator[Any]:
            answer = _Answer(request_data)
            async for part in response:
                for made in answer.feed(part):
                    yield made
            for made in answer.finish():
                yield made

        async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
            return _whole(data, response)

    return AsideHandler


if TYPE_CHECKING:
    handler: Any


def __getattr__(name: str) -> Any:
    """Make the handler when LiteLLM asks for it, because LiteLLM is not needed before that."""
    if name == "handler":
        made = _handler_class()()
        globals()[name] = made
        return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
