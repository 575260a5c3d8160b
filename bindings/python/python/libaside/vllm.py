"""A reasoning parser for vLLM that splits with libaside.

    pip install libaside
    vllm serve Qwen/Qwen3-32B --reasoning-parser aside

vLLM finds it by its entry point (group `vllm.general_plugins`). The dialect is that of the environment variable
`ASIDE_DIALECT`, else that of the model that is served, else `any`. A tool parser after it gets the content, tool calls with
their markers.

With a tool parser, vLLM asks a reasoning parser no more once the first content has come: what a model thinks after that stays in
the content. Without one, set `ASIDE_VLLM_STAY=1`, and thinking is split wherever it stands.

Written for the interface of vLLM 0.33.0.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ._engine import PROMPT_TOKENS, Piece, Start, both, choose_dialect, pieces, whole
from ._libaside import Dialect, Scanner

__all__ = ["NAME", "register"]

# What --reasoning-parser is given.
NAME = "aside"

# Where versions of vLLM have the message of a stream, the newest first.
_PROTOCOLS = (
    "vllm.entrypoints.generate.base.protocol",
    "vllm.entrypoints.openai.engine.protocol",
    "vllm.entrypoints.openai.protocol",
)


def register() -> None:
    """Register the parser under the name `aside`. vLLM calls this in each of its processes."""
    manager = importlib.import_module("vllm.reasoning").ReasoningParserManager
    manager.register_lazy_module(name=NAME, module_path=__name__, class_name="AsideReasoningParser")


def _message_class() -> Any:
    for module in _PROTOCOLS:
        try:
            return importlib.import_module(module).DeltaMessage
        except (ImportError, AttributeError):
            continue
    raise ImportError("this version of vLLM has no DeltaMessage where libaside looks for it; libaside.vllm is for vLLM 0.33")


def _base() -> Any:
    try:
        return importlib.import_module("vllm.reasoning").ReasoningParser
    except ImportError as error:
        raise ImportError("libaside.vllm needs vLLM: run it in the environment of the server (pip install vllm)") from error


def _parser_class() -> type[Any]:
    base = _base()
    message = _message_class()

    class AsideReasoningParser(base):  # type: ignore[valid-type, misc]
        """Splits what a model writes into reasoning and content. One for each request."""

        # Only then does vLLM call `finish_streaming` and ask whether the reasoning has ended.
        engine_based_streaming = True

        def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(tokenizer, *args, **kwargs)
            config = kwargs.get("model_config")
            served = getattr(config, "served_model_name", None)
            names = served if isinstance(served, list) else [served]
            model = getattr(config, "model", None) or getattr(tokenizer, "name_or_path", None)
            self._tokenizer = tokenizer
            self._dialect: Dialect = choose_dialect(*names, model)
            self._start: Start | None = None
            self._scanner: Scanner[str] = Scanner(self._dialect)
            self._has_content = False
            self._stays = os.environ.get("ASIDE_VLLM_STAY") == "1"

        # ---- the prompt ----

        def adjust_request(self, request: Any) -> Any:
            """Let markers that are special tokens come as text."""
            request.skip_special_tokens = False
            return request

        def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
            """Read off the prompt what is open where the answer begins."""
            self.adjust_initial_state_from_prompt(prompt_token_ids)

        def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
            tail = self._tokenizer.decode(list(prompt_token_ids)[-PROMPT_TOKENS:])
            self._scanner = Scanner(self._dialect)
            self._start = self._scanner.start_from_prompt(tail)

        # ---- the whole answer ----

        def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
            reasoning, content = whole(self._dialect, model_output, self._start)
            return reasoning or None, content or None

        # ---- a stream ----

        def extract_reasoning_streaming(
            self,
            previous_text: str,
            current_text: str,
            delta_text: str,
            previous_token_ids: Sequence[int],
            current_token_ids: Sequence[int],
            delta_token_ids: Sequence[int],
        ) -> Any:
            return self._message(pieces(self._scanner.feed(delta_text)))

        def finish_streaming(self) -> Any:
            """Return what was held back."""
            return self._message(pieces(self._scanner.finish()))

        def has_engine_confirmed_reasoning_end(self) -> bool:
            """Return whether content has come: from then on vLLM hands the text to its tool parser."""
            return self._has_content and not self._stays

        def _message(self, parts: list[Piece]) -> Any:
            reasoning, content = both(parts)
            self._has_content |= bool(content)
            if not reasoning and not content:
                return None
            return message(reasoning=reasoning or None, content=content or None)

        # ---- token ids, for structured output ----

        def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
            """Return whether a prompt ends after its reasoning, so that none can come."""
            text = self._tokenizer.decode(list(input_ids)[-PROMPT_TOKENS:])
            closed, rest = self._closed(text)
            return closed and not rest.strip()

        def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
            """Return whether the reasoning ends in the last tokens."""
            delta, ids = list(delta_ids), list(input_ids)
            before = self._tokenizer.decode(ids[: len(ids) - len(delta)][-PROMPT_TOKENS:])
            text = before + self._tokenizer.decode(delta)
            return self._closed(text)[0] and not self._closed(before)[0]

        def extract_content_ids(self, input_ids: list[int]) -> list[int]:
            """Return the ids after the one that ends the reasoning; all of them if none does."""
            for end in range(1, len(input_ids) + 1):
                if self._closed(self._tokenizer.decode(input_ids[:end]))[0]:
                    return list(input_ids[end:])
            return list(input_ids)

        def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
            scanner: Scanner[str] = Scanner(self._dialect, start=self._start)
            texts = [self._tokenizer.decode([token]) for token in token_ids]
            lengths = [len(text.encode()) for text in texts]
            scanner.feed_tokens("".join(texts), lengths, [True] * len(texts))
            tokens = scanner.counts("thinking").tokens
            scanner.finish()
            return max(tokens, scanner.counts("thinking").tokens)

        def _closed(self, text: str) -> tuple[bool, str]:
            """Return whether the last span of thinking in a text is closed, and what comes after it. The text may begin inside one."""
            scanner: Scanner[str] = Scanner(self._dialect, start="content" if "content" in self._dialect.starts else None)
            is_closed, rest = False, ""
            for event in scanner.feed(text):
                if event.kind == "open" and event.channel == "thinking":
                    is_closed = False
                elif event.kind == "reclassify" or event.kind == "close" and event.channel == "thinking":
                    is_closed, rest = True, ""
                elif event.kind == "text":
                    rest += event.text
            return is_closed, rest + text[len(text) - scanner.held :] if is_closed and scanner.held else rest

    return AsideReasoningParser


if TYPE_CHECKING:
    AsideReasoningParser: type[Any]


def __getattr__(name: str) -> Any:
    """Make the class when vLLM asks for it: vLLM is not needed before."""
    if name == "AsideReasoningParser":
        made = _parser_class()
        globals()[name] = made
        return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
