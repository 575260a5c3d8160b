"""A reasoning detector for SGLang that splits with libaside.

    pip install libaside
    python -m sglang.launch_server --model-path Qwen/Qwen3-32B --reasoning-parser aside

SGLang finds it by its entry point (group `sglang.srt.plugins`; the variable `SGLANG_PLUGINS`, if it is set, must name `aside`).
The dialect is that of the environment variable `ASIDE_DIALECT`, else that of the model that is served, else `any`; with
`--reasoning-parser aside-qwen3` it is the one of this name. Tool calls stay in the normal text with their markers, for SGLang's tool
call parser.

Written for the interface of SGLang 0.5.23.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._engine import Piece, Start, both, choose_dialect, markers, pieces, whole
from ._libaside import Dialect, Scanner

__all__ = ["NAME", "register"]

# The value for --reasoning-parser.
NAME = "aside"

_MODULE = "sglang.srt.parser.reasoning_parser"


def register() -> None:
    """Add the detectors to those of SGLang, which calls this before it reads its arguments: one for the model that is served, and
    one for each dialect."""
    module = _module()
    module.ReasoningParser.DetectorMap[NAME] = _detector_class(module, None)
    for name in Dialect.names():
        module.ReasoningParser.DetectorMap[f"{NAME}-{name}"] = _detector_class(module, name)


def _module() -> Any:
    # The choices of --reasoning-parser are taken from this module only if it is imported already.
    try:
        return importlib.import_module(_MODULE)
    except ImportError as error:
        raise ImportError("libaside.sglang needs SGLang: run it in the environment of the server (pip install sglang)") from error


def _model() -> str | None:
    """Return the name of the model that this process serves, if there is one."""
    try:
        args = importlib.import_module("sglang.srt.runtime_context").get_server_args()
    except Exception:  # Outside a server, each version of SGLang refuses in its own way.
        return None
    name: object = getattr(args, "served_model_name", None) or getattr(args, "model_path", None)
    return name if isinstance(name, str) else None


def _detector_class(module: Any, name: str | None) -> type[Any]:
    result = module.StreamingParseResult

    class AsideDetector(module.BaseReasoningFormatDetector):  # type: ignore[misc]
        """Splits what a model writes into reasoning and normal text. One for each request."""

        def __init__(
            self,
            stream_reasoning: bool = True,
            force_reasoning: bool | None = None,
            continue_final_message: bool = False,
            previous_content: str = "",
            force_nonempty_content: bool = False,
            **kwargs: Any,
        ) -> None:
            self._dialect: Dialect = Dialect.find(name) if name else choose_dialect(_model())
            begin, end = markers(self._dialect)
            super().__init__(
                begin,
                end,
                force_reasoning=bool(force_reasoning),
                stream_reasoning=stream_reasoning,
                continue_final_message=continue_final_message,
                previous_content=previous_content,
                force_nonempty_content=force_nonempty_content,
            )
            is_thinking = force_reasoning and "thinking" in self._dialect.starts
            self._start: Start | None = "thinking" if is_thinking else None
            self._before = previous_content if continue_final_message else ""
            self._waiting = ""
            self._said = ""
            self._has_content = False
            self._scanner = self._begin()

        def _begin(self) -> Scanner[str]:
            """Return a scanner for the beginning of the generated text."""
            scanner: Scanner[str] = Scanner(self._dialect, start=self._start)
            if self._before:
                # The text that the client already has. Bytes held back of it are not part of the answer either.
                scanner.feed(self._before)
                scanner.flush()
            return scanner

        def detect_and_parse(self, text: str) -> Any:
            if self._before:
                scanner = self._begin()
                reasoning, content = both(pieces(scanner.feed(text) + scanner.finish()))
            else:
                reasoning, content = whole(Scanner(self._dialect, start=self._start), text)
            if self._force_nonempty_content and not content:
                reasoning, content = "", reasoning
            return result(normal_text=content, reasoning_text=reasoning)

        def parse_streaming_increment(self, new_text: str) -> Any:
            return self._result(pieces(self._scanner.feed(new_text)))

        def finish(self) -> Any:
            last = self._result(pieces(self._scanner.finish()))
            last.reasoning_text += self._waiting
            self._waiting = ""
            if self._force_nonempty_content and not self._has_content:
                return result(normal_text=self._said + last.reasoning_text if self.stream_reasoning else last.reasoning_text)
            return last

        def _result(self, parts: list[Piece]) -> Any:
            reasoning, content = both(parts)
            self._has_content |= bool(content)
            if not self.stream_reasoning:
                # Reasoning comes at once, when content does.
                self._waiting += reasoning
                reasoning = ""
                if content:
                    reasoning, self._waiting = self._waiting, ""
            elif self._force_nonempty_content and not self._has_content:
                self._said += reasoning
            self._in_reasoning = not self._has_content
            return result(normal_text=content, reasoning_text=reasoning)

    return AsideDetector


if TYPE_CHECKING:
    AsideDetector: type[Any]


def __getattr__(name: str) -> Any:
    """Make the class when it is asked for: SGLang is not needed before."""
    if name == "AsideDetector":
        made = _detector_class(_module(), None)
        globals()[name] = made
        return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
