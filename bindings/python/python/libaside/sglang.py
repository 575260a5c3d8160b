"""Reasoning and function-call detectors for SGLang that split with libaside.

    pip install libaside
    python -m sglang.launch_server --model-path Qwen/Qwen3-32B --reasoning-parser aside --tool-call-parser aside

SGLang finds them by their entry point (group `sglang.srt.plugins`; the variable `SGLANG_PLUGINS`, if it is set, must name
`aside`). The dialect is that of the environment variable `ASIDE_DIALECT`, otherwise that of the served model, otherwise `any`.
Names such as `aside-qwen3` select the dialect after the first hyphen. SGLang's server also reads fields of a detector. So each
detector is a subclass of the family's own, if SGLang has one, and replaces only the methods that parse.

By default, a call of a tool that the request does not list is text. With `ASIDE_SGLANG_UNKNOWN_TOOL=drop`, it is left out; SGLang's
own detectors leave it out too. If `SGLANG_FORWARD_UNKNOWN_TOOLS` is set, it is reported like other calls.

Written for the interface of SGLang 0.5.23.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
from collections.abc import Callable
from typing import Any

from ._engine import Said, Start, choose_dialect, markers, said, whole_calls
from ._libaside import Answer, Dialect
from ._structural import structural_tag

__all__ = ["NAME", "register"]

# The value for --reasoning-parser and --tool-call-parser.
NAME = "aside"

_REASONING = "sglang.srt.parser.reasoning_parser"
_CALLS = "sglang.srt.function_call.function_call_parser"

# SGLang passes these arguments to a class if its signature contains them.
_OPTIONAL = ("tokenizer", "tool_call_parser_active")

# The names of SGLang's own parsers for a dialect's family, for the reasoning and for the calls.
_FAMILIES: dict[str, tuple[str | None, str | None]] = {
    "apertus": ("apertus2509", "apertus2509"),
    "cohere-command-a": ("cohere_command4", "cohere_command4"),
    "deepseek-r1": ("deepseek-r1", "deepseekv3"),
    "deepseek-v3": ("deepseek-v3", "deepseekv31"),
    "deepseek-v4": ("deepseek-v4", "deepseekv4"),
    "dots3": ("dots", "dots"),
    "gemma-4": ("gemma4", "gemma4"),
    "gigachat-3": (None, "gigachat3"),
    "gigachat-3.5": ("gigachat35", "gigachat35"),
    "glm-4.5": ("glm45", "glm45"),
    "glm-4.7": ("glm45", "glm47"),
    "granite-4": ("granite_thinking_parser", None),
    "harmony": ("gpt-oss", "gpt-oss"),
    "hunyuan-a13b": ("hunyuan", "hunyuan"),
    "hy3": ("hunyuan", "hunyuan"),
    "inkling": ("inkling", "inkling"),
    "internlm2": (None, "interns1"),
    "k2-horizon": ("k2_horizon", "k2_horizon"),
    "kimi-k2": ("kimi_k2", "kimi_k2"),
    "kimi-k3": ("kimi_k3", "kimi_k3"),
    "kimi-vl": ("kimi", None),
    "laguna": ("poolside_v1", "poolside_v1"),
    "lfm2.5": (None, "lfm2"),
    "llama-3": (None, "llama3"),
    "llama-4-pythonic": (None, "pythonic"),
    "minicpm5": (None, "minicpm5"),
    "minimax-m2": ("minimax", "minimax-m2"),
    "minimax-m3": ("minimax-m3", "minimax-m3"),
    "mistral": ("mistral", "mistral"),
    "muse": ("muse", "muse"),
    "nemotron": ("nemotron_3", "qwen3_coder"),
    "pythonic": (None, "pythonic"),
    "qwen3": ("qwen3", "qwen25"),
    "qwen3-thinking": ("qwen3-thinking", "qwen25"),
    "step-3": ("step3", "step3"),
    "step-3.5": ("step3p5", "step3p5"),
}


def register() -> None:
    """Add the detectors to SGLang's own. SGLang calls this function before it reads its arguments. For reasoning and for calls, there is
    one detector for the served model, and one for each dialect."""
    # SGLang takes the choices of the arguments from these modules only if they are already imported.
    reasoning, calls = _module(_REASONING), _module(_CALLS)
    detectors, parsers = reasoning.ReasoningParser.DetectorMap, calls.FunctionCallParser.ToolCallParserEnum
    for name in Dialect.names():
        family, tools = _FAMILIES.get(name, (None, None))
        base = detectors.get(family, reasoning.BaseReasoningFormatDetector)
        dialect = functools.partial(_find, name)
        detectors[f"{NAME}-{name}"] = _reasoning_class(dialect, base, reasoning.StreamingParseResult)
        parsers[f"{NAME}-{name}"] = _calls_class(dialect, parsers.get(tools, calls.BaseFormatDetector))
    detectors[NAME] = _served_class(detectors, reasoning.BaseReasoningFormatDetector)
    parsers[NAME] = _served_class(parsers, calls.BaseFormatDetector)


@functools.cache
def _find(name: str) -> Dialect:
    """Return a dialect. It is compiled when the first detector for it is made."""
    return Dialect.find(name)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("libaside.sglang needs SGLang: run it in the environment of the server (pip install sglang)") from error


def _model() -> str | None:
    """Return the name of the model that this process serves, if there is one."""
    try:
        args = importlib.import_module("sglang.srt.runtime_context").get_server_args()
    except Exception:  # Outside a server, each version of SGLang raises a different error.
        return None
    name: object = getattr(args, "served_model_name", None) or getattr(args, "model_path", None)
    return name if isinstance(name, str) else None


def _served_class(classes: dict[str, type[Any]], base: Any) -> type[Any]:
    """Return a class that makes a detector for the dialect of the served model."""

    class AsideDetector(base):  # type: ignore[misc]
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            chosen = classes[f"{NAME}-{choose_dialect(_model()).name}"]
            known = inspect.signature(chosen).parameters
            return chosen(*args, **{name: one for name, one in kwargs.items() if name in known or name not in _OPTIONAL})

        def __init__(self, tokenizer: Any = None, tool_call_parser_active: bool = False, **kwargs: Any) -> None:
            raise NotImplementedError

    return AsideDetector


def _reasoning_class(dialect_of: Callable[[], Dialect], base: Any, result: type[Any]) -> Any:
    is_known = base.__name__ != "BaseReasoningFormatDetector"

    class AsideDetector(base):  # type: ignore[misc]
        """Splits a model's output into reasoning and normal text. SGLang makes one for each request."""

        # The signature is kept too, because SGLang inspects it.
        @functools.wraps(base.__init__)  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self._dialect = dialect_of()
            super().__init__(*(() if is_known else markers(self._dialect)), *args, **kwargs)
            # The request decides whether the reasoning is open, otherwise the family, otherwise the dialect.
            asked = kwargs.get("force_reasoning", self.force_reasoning or None)
            wanted: Start | None = None if asked is None else "thinking" if asked else "content"
            self._start: Start | None = wanted if wanted in self._dialect.starts else None
            self._before = self.previous_content
            self._waiting = self._said = ""
            self._has_content = False
            self._answer = self._begin()

        def _begin(self) -> Answer[str]:
            """Return an answer that begins with the generated text."""
            answer: Answer[str] = Answer(self._dialect, start=None if self._before else self._start, inline_calls=True)
            if self._before:
                # The client already has this text. Bytes that are held back at its end are not part of the answer either.
                answer.feed(self._before)
                answer.flush()
            return answer

        def detect_and_parse(self, text: str) -> Any:
            answer = self._begin()
            reasoning, content, _ = said(answer.feed(text) + answer.finish())
            if self._force_nonempty_content and not content:
                reasoning, content = "", reasoning
            return result(normal_text=content, reasoning_text=reasoning)

        def parse_streaming_increment(self, new_text: str) -> Any:
            return self._result(said(self._answer.feed(new_text)))

        def finish(self) -> Any:
            last = self._result(said(self._answer.finish()))
            last.reasoning_text += self._waiting
            self._waiting = ""
            if self._force_nonempty_content and not self._has_content:
                return result(normal_text=self._said if self.stream_reasoning else last.reasoning_text)
            return last

        def _result(self, part: Said) -> Any:
            reasoning, content, _ = part
            self._has_content |= bool(content)
            if not self.stream_reasoning:
                # All reasoning is returned at once, when content arrives.
                self._waiting += reasoning
                reasoning = ""
                if content:
                    reasoning, self._waiting = self._waiting, ""
            elif self._force_nonempty_content and not self._has_content:
                self._said += reasoning
            self._in_reasoning = not self._has_content
            return result(normal_text=content, reasoning_text=reasoning)

    return AsideDetector


def _calls_class(dialect_of: Callable[[], Dialect], base: Any) -> Any:
    types = _module("sglang.srt.function_call.core_types")

    is_known = base.__name__ != "BaseFormatDetector"

    class AsideCallDetector(base):  # type: ignore[misc]
        """Reads the tool calls in the normal text. SGLang makes one for each request."""

        _answer: Answer[str] | None = None

        def _begin(self, tools: Any, **options: Any) -> Answer[str]:
            dialect = dialect_of()
            start: Start | None = "content" if "content" in dialect.starts else None
            drops = os.environ.get("ASIDE_SGLANG_UNKNOWN_TOOL") == "drop"
            is_open = os.environ.get("SGLANG_FORWARD_UNKNOWN_TOOLS", "").lower() in ("1", "true", "yes", "y", "t")
            # Thinking that the detector of reasoning has left in the normal text stays there.
            return Answer(
                dialect,
                start=start,
                thinking="inline",
                tools=[tool.model_dump() for tool in tools or []] or None,
                stray_close="text",
                unknown_tool="tell" if is_open else "drop" if drops else "text",
                **options,
            )

        def has_tool_call(self, text: str) -> bool:
            answer = self._begin(None, not_whole="text")
            return bool(said(answer.feed(text) + answer.finish()).calls)

        def detect_and_parse(self, text: str, tools: Any) -> Any:
            # In a whole answer, a call that breaks off is text.
            answer = self._begin(tools, not_whole="text")
            part = said(answer.feed(text) + answer.finish())
            made = [
                types.ToolCallItem(tool_index=index, name=call.name, parameters=call.arguments)
                for index, call in enumerate(whole_calls(part.calls))
            ]
            return types.StreamingParseResult(normal_text=part.content, calls=made)

        def parse_streaming_increment(self, new_text: str, tools: Any) -> Any:
            self._answer = self._answer or self._begin(tools)
            return self._result(said(self._answer.feed(new_text)))

        def finish(self, tools: Any) -> Any:
            return self._result(said(self._answer.finish())) if self._answer else types.StreamingParseResult()

        def _result(self, part: Said) -> Any:
            made = [
                types.ToolCallItem(tool_index=one.index, name=one.name or None, parameters=one.text)
                for one in part.calls
                if one.kind != "call_end"
            ]
            return types.StreamingParseResult(normal_text=part.content, calls=made)

        def get_structural_tag(
            self,
            tools: Any = None,
            tool_choice: Any = "auto",
            thinking_mode: bool = False,
            parallel_tool_calls: bool = True,
        ) -> Any:
            choice = tool_choice if isinstance(tool_choice, str) else tool_choice.function.name
            listed = [tool.model_dump(exclude_none=True) for tool in tools or []]
            # Where the dialect has no grammar, SGLang's own form is used.
            made = structural_tag(dialect_of(), listed, choice, parallel_tool_calls, thinking_mode)
            return made or super().get_structural_tag(tools, tool_choice, thinking_mode, parallel_tool_calls)

        def supports_structural_tag(self) -> bool:
            return is_known and super().supports_structural_tag()

        def structure_info(self) -> Any:
            return super().structure_info()

    return AsideCallDetector
