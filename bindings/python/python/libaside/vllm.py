"""A reasoning parser and a tool parser for vLLM that split with libaside.

    pip install libaside
    vllm serve Qwen/Qwen3-32B --reasoning-parser aside --enable-auto-tool-choice --tool-call-parser aside

vLLM finds both by an entry point (group `vllm.general_plugins`). The dialect is that of the environment variable
`ASIDE_DIALECT`, otherwise that of the served model, otherwise that of the tokenizer's chat template. To register the parsers of
one dialect under a name that you choose:

    ReasoningParserManager.register_module("mine", module=libaside.vllm.reasoning_parser("qwen3"))
    ToolParserManager.register_module("mine", module=libaside.vllm.tool_parser("qwen3", around_calls="drop"))

With a tool parser, vLLM stops calling the reasoning parser at the first content; the tool parser then gets later thinking as
content, and does not split it. Without a tool parser, set `ASIDE_VLLM_STAY=1` to split thinking wherever it occurs. `parser`
returns both parsers as one `Parser`, which splits thinking after content too; vLLM has no name under which a `Parser` can be
registered.

Written for the interface of vLLM 0.33.0.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._engine import (
    Ids,
    Said,
    Start,
    choose_dialect,
    markers,
    own_id,
    read_by,
    said,
    start_of,
    taught,
    thinks,
    vocabulary,
    whole_calls,
)
from ._libaside import Answer, Dialect, Part
from ._structural import register_structural_tag

__all__ = ["NAME", "compose_parser", "parser", "reasoning_parser", "register", "tool_parser"]

# The names for --reasoning-parser and --tool-call-parser.
NAME = "aside"

# The modules in which versions of vLLM define the messages of a stream, the newest first.
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


def reasoning_parser(dialect: str | Dialect, **policies: Any) -> type[Any]:
    """Return the reasoning parser of a dialect: a class that vLLM makes for each request. Some of vLLM's own parsers have these
    policies:

    - `empty_reasoning=True`: the reasoning of a whole answer without reasoning is an empty string. By default, it is None.
    - `efforts=("low", "high")`: a request whose variable `reasoning_effort` has another value is refused."""
    found = Dialect.find(dialect) if isinstance(dialect, str) else dialect
    return _reasoning_class(lambda tokenizer, config: found, **policies)


def tool_parser(dialect: str | Dialect, **policies: Any) -> type[Any]:
    """Return the tool parser of a dialect: a class that vLLM makes for each request.

    By default, no text is lost, and a call is reported as it arrives. Some of vLLM's own parsers have other policies:

    - `around_calls="drop"`: the content ends where the first call begins. Blanks before that call are kept.
    - `name_first=True`: the name of a call is reported in one message of a stream, and its arguments in later ones.
    - `forms=("xml", "json")`: a request whose variable `tool_call_format` has another value is refused. The first is the default.
    - The options of an `Answer`: `not_whole="hold"` reports a whole call in one message, and `unknown_tool="text"` only calls of
      the request's tools."""
    found = Dialect.find(dialect) if isinstance(dialect, str) else dialect
    return _tool_class(lambda tokenizer, config: found, **policies)


def parser(dialect: str | Dialect, **policies: Any) -> type[Any]:
    """Return the `Parser` of a dialect: a class that vLLM makes for each request. It reads reasoning, content and calls with one
    `Answer`. The policies are those of `tool_parser`."""
    return compose_parser(reasoning_parser(dialect), tool_parser(dialect, **policies))


def compose_parser(reasoning: type[Any] | None, tool: type[Any] | None, **fields: Any) -> type[Any]:
    """Return the `Parser` of a pair of parsers that this module has made. `fields` are added to the class."""
    base = _module("vllm.parser.abstract_parser").DelegatingParser
    return type("AsideParser", (_Streams, base), {"reasoning_parser_cls": reasoning, "tool_parser_cls": tool, **fields})


class _Streams:
    """Makes a `DelegatingParser` read a stream with one `Answer`, if it has both parsers and vLLM does not read a forced call
    itself."""

    _reasoning_parser: Any
    _tool_parser: Any
    _answer: Answer[str] | None = None

    def parse_delta(
        self, delta_text: str, delta_token_ids: list[int], request: Any, prompt_token_ids: list[int] | None = None, *, finished: bool
    ) -> Any:
        pair = self._reasoning_parser and self._tool_parser
        is_forced = request.tool_choice not in (None, "auto", "none")
        if not pair or is_forced and self._tool_parser.supports_required_and_named:
            own = super().parse_delta  # type: ignore[misc]
            return own(delta_text, delta_token_ids, request, prompt_token_ids, finished=finished)
        if self._answer is None:
            if prompt_token_ids is not None:
                self._reasoning_parser.set_prompt_token_ids(prompt_token_ids)
            has_calls = request.tool_choice != "none"
            options = self._tool_parser.options(request) if has_calls else {"inline_calls": True}
            self._answer = self._reasoning_parser.begin(**options)
        parts = self._answer.feed(delta_text)
        part = self._tool_parser.around.said(delta_text, parts + self._answer.finish() if finished else parts)
        made = self._reasoning_parser.message(part.reasoning, part.content)
        calls = self._tool_parser.deltas(part, finished)
        if finished and (promoted := self._reasoning_parser.get_streaming_fallback_content("", request)):
            made = _protocol().DeltaMessage(reasoning=part.reasoning or None, content=promoted)
        if calls:
            made = made or _protocol().DeltaMessage()
            made.tool_calls = calls
        if made and not request.include_reasoning:
            made.reasoning = None
            if not made.content and not made.tool_calls:
                return None
        return made


def _served(tokenizer: Any, config: Any) -> Dialect:
    served = getattr(config, "served_model_name", None)
    names = served if isinstance(served, list) else [served]
    model = getattr(config, "model", None) or getattr(tokenizer, "name_or_path", None)
    named = tuple(name for name in (*names, model) if isinstance(name, str))
    return _chosen(os.environ.get("ASIDE_DIALECT"), getattr(tokenizer, "chat_template", None), *named)


@functools.lru_cache(maxsize=16)
def _chosen(variable: str | None, template: Any, *names: str) -> Dialect:
    """Return the dialect, which is chosen once for all requests of a server."""
    return choose_dialect(*names, template=template)


def _reasoning_class(
    dialect_of: Callable[[Any, Any], Dialect], empty_reasoning: bool = False, efforts: Sequence[str] = ()
) -> type[Any]:
    base = _module("vllm.reasoning").ReasoningParser
    message = _protocol().DeltaMessage

    class AsideReasoningParser(base):  # type: ignore[valid-type, misc]
        """Splits a model's output into reasoning and content. vLLM makes one for each request."""

        # vLLM calls `finish_streaming` and asks whether the reasoning has ended only for a parser with this attribute.
        engine_based_streaming = True

        def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(tokenizer, *args, **kwargs)
            self._dialect = dialect_of(tokenizer, kwargs.get("model_config"))
            given = kwargs.get("chat_template_kwargs") or {}
            _refuse("reasoning_effort", given, efforts)
            asked = read_by(getattr(tokenizer, "chat_template", None), given)
            self._start: Start | None = start_of(self._dialect, asked)
            self._is_off = thinks(asked) is False
            self._ids = Ids(self._dialect, taught(tokenizer, vocabulary(tokenizer), self._dialect), self._start)
            self._prompt = ""
            self._said: list[str] = []
            self._answer = self.begin(inline_calls=True)
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
            """Let vLLM pass markers that are special tokens as text."""
            request.skip_special_tokens = False
            if hasattr(request, "spaces_between_special_tokens"):
                request.spaces_between_special_tokens = False
            return request

        def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
            """Determine from the prompt which span is open where the answer begins."""
            self._prompt = self._ids.prompt(prompt_token_ids)
            self._answer = self.begin(inline_calls=True)

        def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
            self.set_prompt_token_ids(prompt_token_ids)

        def begin(self, **options: Any) -> Answer[str]:
            """Return an answer with these options that starts where the prompt ends."""
            # A model that was asked not to think writes no closer, unless its prompt has closed the thinking.
            stray: Literal["text", "dialect"] = "text" if self._is_off and not self._prompt else "dialect"
            answer: Answer[str] = Answer(self._dialect, start=self._start, stray_close=stray, **options)
            if self._prompt:
                answer.start_from_prompt(self._prompt)
            return answer

        # ---- the whole answer ----

        def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
            asked = _template_kwargs(request)
            answer = self.begin(inline_calls=True, may_take_back=True)
            if not self._prompt and thinks(asked) is False:
                start = start_of(self._dialect, asked)
                answer = Answer(self._dialect, start=start, inline_calls=True, may_take_back=True)
            reasoning, content, _ = said(answer.feed(model_output) + answer.finish())
            if _wants_content(asked) and not content:
                reasoning, content = "", reasoning
            # Blanks alone do not make content.
            return reasoning if empty_reasoning else reasoning or None, content if content.strip() else None

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
                # A different parser has read the beginning of the answer.
                self._answer.feed(previous_text)
            self._has_begun = True
            return self._message(self._answer.feed(delta_text))

        def finish_streaming(self) -> Any:
            """Return the message for the text that was held back."""
            return self._message(self._answer.finish())

        def has_engine_confirmed_reasoning_end(self) -> bool:
            """Return whether content has arrived. From then on vLLM passes the text to its tool parser."""
            return self._has_content and not self._stays

        def get_streaming_fallback_content(self, text: str, request: Any) -> str | None:
            """Return the text to use as the content of an answer without content, if the request wants that. vLLM asks at the
            end."""
            return "".join(self._said) or None if _wants_content(_template_kwargs(request)) and not self._has_content else None

        def _message(self, parts: list[Part[str]]) -> Any:
            part = said(parts)
            return self.message(part.reasoning, part.content)

        def message(self, reasoning: str, content: str) -> Any:
            """Return the message for a part of a stream, or None if the part is empty."""
            self._has_content |= bool(content)
            self._said.append(reasoning)
            if not reasoning and not content:
                return None
            return message(reasoning=reasoning or None, content=content or None)

        # ---- token ids, for structured output and budgets ----

        def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
            """Return whether the reasoning of the turn has ended in these ids."""
            return self._ids.has_ended(input_ids)

        def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
            """Return whether the reasoning has ended within the last ids."""
            return self._ids.has_ended_with(input_ids, list(delta_ids))

        def extract_content_ids(self, input_ids: list[int]) -> list[int]:
            return self._ids.content(input_ids)

        def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
            return self._ids.count(token_ids)

    return AsideReasoningParser


def _template_kwargs(request: Any) -> dict[str, Any]:
    found = getattr(request, "chat_template_kwargs", None)
    return found if isinstance(found, dict) else {}


def _refuse(name: str, template_kwargs: Mapping[str, Any], values: Sequence[str]) -> None:
    """Raise an error if this variable of a chat template has a value that is not listed. An empty list allows all values."""
    if values and name in template_kwargs and template_kwargs[name] not in values:
        raise ValueError(f"Unsupported {name} {template_kwargs[name]!r}: write one of {', '.join(values)}")


def _wants_content(template_kwargs: dict[str, Any]) -> bool:
    """Return whether an answer that is only reasoning is to be returned as content."""
    return template_kwargs.get("force_nonempty_content") is True or thinks(template_kwargs) is False


class _Around:
    """The additions of an answer. With `drops`, as in many parsers of engines, the content ends where the first call begins; blanks
    before that call, which an answer removes, are kept if they follow text."""

    def __init__(self, drops: bool) -> None:
        self._drops = drops
        self._text = ""
        self._has_content = self._has_call = False

    def said(self, text: str, parts: list[Part[str]]) -> Said:
        """Return the additions of the parts that this text makes."""
        whole = said(parts)
        if not self._drops:
            return whole
        if self._has_call:
            return whole._replace(content="")
        until = next((at for at, part in enumerate(parts) if part.kind == "call"), None)
        content = said(parts[:until]).content
        # Text that the answer holds is kept. Text before the thinking does not belong to the content after it.
        self._text = text if whole.reasoning else self._text + text
        if content:
            self._has_content, self._text = True, self._text.partition(content)[2]
        if until is not None:
            self._has_call = True
            if self._has_content:
                content += self._text[: len(self._text) - len(self._text.lstrip())]
        return whole._replace(content=content)


def _tool_class(
    dialect_of: Callable[[Any, Any], Dialect],
    around_calls: Literal["keep", "drop"] = "keep",
    name_first: bool = False,
    forms: Sequence[str] = (),
    **options: Any,
) -> type[Any]:
    base = _module("vllm.tool_parsers.abstract_tool_parser").ToolParser
    make_tool_call_id = _module("vllm.renderers.chat_utils").make_tool_call_id
    envs = _module("vllm.envs")
    protocol = _protocol()

    class AsideToolParser(base):  # type: ignore[valid-type, misc]
        """Reads the tool calls in the content. vLLM makes one for each request."""

        engine_based_streaming = True

        def __init__(self, tokenizer: Any, tools: Any = None, *args: Any, **kwargs: Any) -> None:
            super().__init__(tokenizer, tools)
            self._dialect = dialect_of(tokenizer, kwargs.get("model_config"))
            # Required and named calls are constrained to the model's own form, and read in that form. If there is no grammar for
            # the form, vLLM makes the model write the calls as JSON, and reads them itself.
            self.structural_tag_model = register_structural_tag(self._dialect)
            self.supports_required_and_named = not (self.structural_tag_model and envs.VLLM_ENFORCE_STRICT_TOOL_CALLING)
            self._answer: Answer[str] | None = None
            self._ids: list[str] = []
            self._late: list[Part[str]] = []
            self.around = _Around(around_calls == "drop")

        def adjust_request(self, request: Any) -> Any:
            """Let vLLM pass markers that are special tokens as text. Refuse a form that the options do not list."""
            _refuse("tool_call_format", _template_kwargs(request), forms)
            request = super().adjust_request(request)
            if request.tools and request.tool_choice != "none":
                request.skip_special_tokens = False
            return request

        def get_structural_tag(self, request: Any, **options: Any) -> Any:
            # vLLM limits only its own forms to one call.
            is_parallel = getattr(request, "parallel_tool_calls", True) is not False
            self.structural_tag_model = register_structural_tag(self._dialect, is_parallel)
            return super().get_structural_tag(request, **options)

        def options(self, request: Any) -> dict[str, Any]:
            """Return the options of an answer to a request."""
            is_parallel = getattr(request, "parallel_tool_calls", True) is not False
            tools = _tools(request, self.tools)
            return {"tools": tools, "unknown_tool": "tell", "max_calls": None if is_parallel else 1, **options}

        def _begin(self, request: Any, **defaults: Any) -> Answer[str]:
            # Thinking that the reasoning parser has left in the content stays there.
            start: Start | None = "content" if "content" in self._dialect.starts else None
            given = {**defaults, **self.options(request)}
            return Answer(self._dialect, start=start, stray_close="text", thinking="inline", **given)

        # ---- the whole answer ----

        def extract_tool_calls(self, model_output: str, request: Any) -> Any:
            # In a whole answer, a call that breaks off is text.
            answer = self._begin(request, not_whole="text")
            part = _Around(around_calls == "drop").said(model_output, answer.feed(model_output) + answer.finish())
            made = [
                protocol.ToolCall(
                    id=call.id or make_tool_call_id(func_name=call.name, idx=index),
                    type="function",
                    function=protocol.FunctionCall(name=call.name, arguments=call.arguments),
                )
                for index, call in enumerate(whole_calls(part.calls))
            ]
            if not made:
                return protocol.ExtractedToolCallInformation(tools_called=False, tool_calls=[], content=model_output)
            return protocol.ExtractedToolCallInformation(tools_called=True, tool_calls=made, content=part.content or None)

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
            return self._message(self.around.said(delta_text, self._answer.feed(delta_text)))

        def finish_streaming(self) -> Any:
            """Return the message for the text that was held back."""
            return self._message(self.around.said("", self._answer.finish()), True) if self._answer else None

        def _message(self, part: Said, is_last: bool = False) -> Any:
            fields: dict[str, Any] = {}
            if part.content:
                fields["content"] = part.content
            if calls := self.deltas(part, is_last):
                fields["tool_calls"] = calls
            return protocol.DeltaMessage(**fields) if fields else None

        def deltas(self, part: Said, is_last: bool = False) -> list[Any]:
            """Return the additions to calls, one for each call."""
            made: list[Any] = []
            calls, self._late = self._late + part.calls, []
            for at, one in enumerate(calls):
                if one.kind == "call":
                    self._begin_call(one)
                    function = protocol.DeltaFunctionCall(name=one.name, arguments="")
                    made.append(protocol.DeltaToolCall(index=one.index, id=self._ids[-1], type="function", function=function))
                    if name_first and not is_last:
                        self._late = calls[at + 1 :]
                        break
                elif one.kind == "arguments":
                    if not made or made[-1].index != one.index or name_first and not made[-1].function.arguments:
                        made.append(protocol.DeltaToolCall(index=one.index, function=protocol.DeltaFunctionCall(arguments="")))
                    made[-1].function.arguments += one.text
                    self.streamed_args_for_tool[one.index] += one.text
                    self.prev_tool_call_arr[one.index]["arguments"] += one.text
            return made

        def _begin_call(self, call: Part[str]) -> None:
            """Note a call in the lists by which vLLM determines why an answer has ended."""
            self._ids.append(own_id(call) or make_tool_call_id(func_name=call.name, idx=call.index))
            self.current_tool_id = call.index
            self.current_tool_name_sent = True
            self.prev_tool_call_arr.append({"name": call.name, "arguments": ""})
            self.streamed_args_for_tool.append("")

    return AsideToolParser


def _tools(request: Any, tools: Any) -> list[Any] | None:
    """Return the tools of a request, or those that the parser was made with, in the form of the API."""
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
    """Make a class when vLLM asks for it, because vLLM is not needed before that."""
    if name == "AsideReasoningParser":
        made = _reasoning_class(_served)
    elif name == "AsideToolParser":
        made = _tool_class(_served)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made
    return made
