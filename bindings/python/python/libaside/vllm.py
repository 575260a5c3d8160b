"""A reasoning parser and a tool parser for vLLM that split with libaside.

    pip install libaside
    vllm serve Qwen/Qwen3-32B --reasoning-parser aside --enable-auto-tool-choice --tool-call-parser aside

vLLM finds both by an entry point (group `vllm.general_plugins`). The dialect is that of the environment variable
`ASIDE_DIALECT`, else that of the model that is served, else that of the tokenizer's chat template. A parser for one dialect,
under a name of your own:

    ReasoningParserManager.register_module("mine", module=libaside.vllm.reasoning_parser("qwen3"))
    ToolParserManager.register_module("mine", module=libaside.vllm.tool_parser("qwen3"))

With a tool parser, vLLM asks a reasoning parser no more once the first content has come: thinking that comes after that is
reported by the tool parser here. Without one, set `ASIDE_VLLM_STAY=1`, and thinking is split wherever it stands.

Written for the interface of vLLM 0.33.0.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._engine import Answer, Ids, Part, Start, both, choose_dialect, is_off, markers, own_id, pieces, read_by, start_of, taught, vocabulary, whole
from ._libaside import CallDelta, Dialect, Scanner
from ._structural import register_structural_tag

__all__ = ["NAME", "reasoning_parser", "register", "tool_parser"]

# The names for --reasoning-parser and --tool-call-parser.
NAME = "aside"

# Where versions of vLLM have the messages of a stream, the newest first.
_PROTOCOLS = (
    "vllm.entrypoints.generate.base.protocol",
    "vllm.entrypoints.openai.engine.protocol",
    "vllm.entrypoints.openai.protocol",
)


def register() -> None:
    """Register both parsers under the name `aside`. vLLM calls this in each of its processes."""
    reasoning = _module("vllm.reasoning").ReasoningParserManager
    reasoning.register_lazy_module(name=NAME, module_path=__name__, class_name="AsideReasoningParser")
    tools = _module("vllm.tool_parsers").ToolParserManager
    tools.register_lazy_module(name=NAME, module_path=__name__, class_name="AsideToolParser")


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("libaside.vllm needs vLLM: run it in the environment of the server (pip install vllm)") from error


def _protocol() -> Any:
    for module in _PROTOCOLS:
        try:
            found = importlib.import_module(module)
        except ImportError:
            continue
        if hasattr(found, "DeltaMessage"):
            return found
    raise ImportError("this version of vLLM has no DeltaMessage where libaside looks for it; libaside.vllm is for vLLM 0.33")


def reasoning_parser(dialect: str | Dialect) -> type[Any]:
    """Return the reasoning parser of a dialect: a class that vLLM makes for each request."""
    found = Dialect.find(dialect) if isinstance(dialect, str) else dialect
    return _reasoning_class(lambda tokenizer, config: found)


def tool_parser(dialect: str | Dialect) -> type[Any]:
    """Return the tool parser of a dialect: a class that vLLM makes for each request."""
    found = Dialect.find(dialect) if isinstance(dialect, str) else dialect
    return _tool_class(lambda tokenizer, config: found, found)


def _served(tokenizer: Any, config: Any) -> Dialect:
    served = getattr(config, "served_model_name", None)
    names = served if isinstance(served, list) else [served]
    model = getattr(config, "model", None) or getattr(tokenizer, "name_or_path", None)
    return choose_dialect(*names, model, template=getattr(tokenizer, "chat_template", None))


def _reasoning_class(dialect_of: Callable[[Any, Any], Dialect]) -> type[Any]:
    base = _module("vllm.reasoning").ReasoningParser
    message = _protocol().DeltaMessage

    class AsideReasoningParser(base):  # type: ignore[valid-type, misc]
        """Splits what a model writes into reasoning and content. One for each request."""

        # Only then does vLLM call `finish_streaming` and ask whether the reasoning has ended.
        engine_based_streaming = True

        def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(tokenizer, *args, **kwargs)
            self._dialect = dialect_of(tokenizer, kwargs.get("model_config"))
            asked = read_by(getattr(tokenizer, "chat_template", None), kwargs.get("chat_template_kwargs") or {})
            self._start: Start | None = start_of(self._dialect, asked)
            self._is_off = is_off(asked)
            self._ids = Ids(self._dialect, taught(tokenizer, vocabulary(tokenizer), self._dialect), self._start)
            self._prompt = self._said = ""
            self._scanner = self._begin()
            self._has_content = self._has_begun = False
            self._stays = os.environ.get("ASIDE_VLLM_STAY") == "1"

        @property
        def reasoning_start_str(self) -> str | None:
            return markers(self._dialect)[0]

        @property
        def reasoning_end_str(self) -> str | None:
            return markers(self._dialect)[1]

        # ---- the request and its prompt ----

        def adjust_request(self, request: Any) -> Any:
            """Let markers that are special tokens come as text."""
            request.skip_special_tokens = False
            if hasattr(request, "spaces_between_special_tokens"):
                request.spaces_between_special_tokens = False
            return request

        def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
            """Read off the prompt what is open where the answer begins."""
            self._prompt = self._ids.prompt(prompt_token_ids)
            self._scanner = self._begin()

        def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
            self.set_prompt_token_ids(prompt_token_ids)

        def _begin(self) -> Scanner[str]:
            # A model that was asked not to think writes no closer, unless its prompt has closed the thinking.
            stray: Literal["text", "dialect"] = "text" if self._is_off and not self._prompt else "dialect"
            scanner: Scanner[str] = Scanner(self._dialect, start=self._start, stray_close=stray)
            if self._prompt:
                scanner.start_from_prompt(self._prompt)
            return scanner

        # ---- the whole answer ----

        def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
            asked = _template_kwargs(request)
            scanner = self._begin()
            if not self._prompt and is_off(asked):
                scanner = Scanner(self._dialect, start=start_of(self._dialect, asked))
            reasoning, content = whole(scanner, model_output)
            if _wants_content(asked) and not content:
                reasoning, content = "", reasoning
            # Blanks alone do not make content.
            return reasoning or None, content if content.strip() else None

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
            if not self._has_begun and previous_text:
                # Another parser has read the beginning.
                self._scanner.feed(previous_text)
            self._has_begun = True
            return self._message(self._scanner.feed(delta_text))

        def finish_streaming(self) -> Any:
            """Return what was held back."""
            return self._message(self._scanner.finish())

        def has_engine_confirmed_reasoning_end(self) -> bool:
            """Return whether content has come: from then on vLLM hands the text to its tool parser."""
            return self._has_content and not self._stays

        def get_streaming_fallback_content(self, text: str, request: Any) -> str | None:
            """Return what is the content of an answer that has had none, if the request wants one. vLLM asks at the end."""
            return self._said or None if _wants_content(_template_kwargs(request)) and not self._has_content else None

        def _message(self, events: list[Any]) -> Any:
            reasoning, content = both(pieces(events))
            self._has_content |= bool(content)
            self._said += reasoning
            if not reasoning and not content:
                return None
            return message(reasoning=reasoning or None, content=content or None)

        # ---- token ids, for structured output and budgets ----

        def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
            """Return whether the reasoning of the turn has ended in these ids."""
            return self._ids.has_ended(input_ids)

        def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
            """Return whether it has ended with the last ids."""
            return self._ids.has_ended_with(input_ids, list(delta_ids))

        def extract_content_ids(self, input_ids: list[int]) -> list[int]:
            return self._ids.content(input_ids)

        def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
            return self._ids.count(token_ids)

    return AsideReasoningParser


def _template_kwargs(request: Any) -> dict[str, Any]:
    found = getattr(request, "chat_template_kwargs", None)
    return found if isinstance(found, dict) else {}


def _wants_content(template_kwargs: dict[str, Any]) -> bool:
    """Return whether an answer of reasoning alone is to be content."""
    return template_kwargs.get("force_nonempty_content") is True or is_off(template_kwargs)


def _tool_class(dialect_of: Callable[[Any, Any], Dialect], known: Dialect | None) -> type[Any]:
    base = _module("vllm.tool_parsers.abstract_tool_parser").ToolParser
    make_tool_call_id = _module("vllm.renderers.chat_utils").make_tool_call_id
    protocol = _protocol()

    class AsideToolParser(base):  # type: ignore[valid-type, misc]
        """Reads tool calls out of the content. One for each request."""

        engine_based_streaming = True
        # Required and named calls are constrained as the model writes them, where there is a grammar for that, and read as such.
        supports_required_and_named = False
        structural_tag_model = register_structural_tag(known) if known else None

        def __init__(self, tokenizer: Any, tools: Any = None, *args: Any, **kwargs: Any) -> None:
            super().__init__(tokenizer, tools)
            self._dialect = dialect_of(tokenizer, kwargs.get("model_config"))
            self._answer: Answer | None = None
            self._ids: list[str] = []

        def adjust_request(self, request: Any) -> Any:
            """Let markers that are special tokens come as text."""
            request = super().adjust_request(request)
            if request.tools and request.tool_choice != "none":
                request.skip_special_tokens = False
            return request

        def _begin(self, request: Any) -> Answer:
            scanner: Scanner[str] = Scanner(
                self._dialect,
                start="content" if "content" in self._dialect.starts else None,
                calls=True,
                tools=_tools(request, self.tools),
                stray_close="text",
                unknown_tool="tell",
                max_calls=1 if getattr(request, "parallel_tool_calls", True) is False else None,
            )
            return Answer(scanner)

        # ---- the whole answer ----

        def extract_tool_calls(self, model_output: str, request: Any) -> Any:
            answer = self._begin(request)
            content = answer.feed(model_output).content + answer.finish().content
            made = [
                protocol.ToolCall(
                    id=call.id or make_tool_call_id(func_name=call.name, idx=index),
                    type="function",
                    function=protocol.FunctionCall(name=call.name, arguments=call.arguments),
                )
                for index, call in enumerate(answer.whole_calls())
            ]
            if not made:
                return protocol.ExtractedToolCallInformation(tools_called=False, tool_calls=[], content=model_output)
            return protocol.ExtractedToolCallInformation(tools_called=True, tool_calls=made, content=content or None)

        # ---- a stream ----

        def extract_tool_calls_streaming(
            self,
            previous_text: str,
            current_text: str,
            delta_text: str,
            previous_token_ids: Sequence[int],
            current_token_ids: Sequence[int],
            delta_token_ids: Sequence[int],
            request: Any,
        ) -> Any:
            if self._answer is None:
                self._answer = self._begin(request)
            return self._message(self._answer.feed(delta_text))

        def finish_streaming(self) -> Any:
            """Return what was held back."""
            return self._message(self._answer.finish()) if self._answer else None

        def _message(self, part: Part) -> Any:
            made: dict[int, Any] = {}

            def add(index: int, arguments: str) -> None:
                if index not in made:
                    made[index] = protocol.DeltaToolCall(index=index, function=protocol.DeltaFunctionCall(arguments=""))
                made[index].function.arguments += arguments
                self.streamed_args_for_tool[index] += arguments

            for delta in part.calls:
                is_new = delta.index >= len(self._ids)
                if is_new:
                    self._begin_call(delta)
                    function = protocol.DeltaFunctionCall(name=delta.name, arguments="")
                    made[delta.index] = protocol.DeltaToolCall(
                        index=delta.index, id=self._ids[delta.index], type="function", function=function
                    )
                self.prev_tool_call_arr[delta.index]["arguments"] += delta.arguments
                if delta.arguments:
                    add(delta.index, delta.arguments)
            said: dict[str, Any] = {}
            if part.content:
                said["content"] = part.content
            if made:
                said["tool_calls"] = list(made.values())
            return protocol.DeltaMessage(**said) if said else None

        def _begin_call(self, delta: CallDelta) -> None:
            """Note a call where vLLM looks to say why an answer has ended."""
            self._ids.append(own_id(delta) or make_tool_call_id(func_name=delta.name, idx=delta.index))
            self.current_tool_id = delta.index
            self.current_tool_name_sent = True
            self.prev_tool_call_arr.append({"name": delta.name, "arguments": ""})
            self.streamed_args_for_tool.append("")

    return AsideToolParser


def _tools(request: Any, tools: Any) -> list[Any] | None:
    """Return the tools of a request, or those that the parser was made with, as the API takes them."""
    found = []
    for tool in getattr(request, "tools", None) or tools or []:
        dumped = tool.model_dump() if hasattr(tool, "model_dump") else tool
        if isinstance(dumped, dict):
            found.append(dumped)
    return found or None


if TYPE_CHECKING:
    AsideReasoningParser: type[Any]
    AsideToolParser: type[Any]


def __getattr__(name: str) -> Any:
    """Make a class when vLLM asks for it: vLLM is not needed before."""
    if name == "AsideReasoningParser":
        made = _reasoning_class(_served)
    elif name == "AsideToolParser":
        made = _tool_class(_served, None)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made
    return made
