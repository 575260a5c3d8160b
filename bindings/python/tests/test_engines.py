"""Tests the entry files for vLLM, SGLang and LiteLLM with the calls that these programs make, in the same order. None of the
programs is installed here: doubles replace the modules that the files import, and follow the interfaces of vLLM 0.33.0, SGLang
0.5.23 and LiteLLM 1.108.7."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from libaside import Dialect, Scanner, split, strip
from libaside._engine import choose_dialect, markers

RECORDINGS = Path(__file__).parents[3] / "examples" / "recordings"

CALL = '<tool_call>\n{"name": "run", "arguments": {"a": 1}}\n</tool_call>'

# For each case: the dialect, the text, the reasoning, and the content with its tool calls.
TEXTS = [
    ("qwen3", "<think>\nTwice 21.\n</think>\n\nIt is 42.", "Twice 21.", "It is 42."),
    ("qwen3", "It is 42.", "", "It is 42."),
    ("qwen3", "<think>\nhm\n</think>\n\n" + CALL, "hm", CALL),
    ("qwen3", "<think>\nhm\n</think>\n\nLook: " + CALL, "hm", "Look: " + CALL),
    ("qwen3", "<think>\nnever ends", "never ends", ""),
    ("qwen3", "<think>\nhm\n</think>\n\n", "hm", ""),
    ("harmony", "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.", "hm", "Yes."),
    ("glm-4.5", "\n<think>我想</think>\n答案 <b> <", "我想", "答案 <b> <"),
]


# The end of a prompt that opens no span, for a dialect.
TURNS = {"qwen3": "<|im_start|>assistant\n", "harmony": "<|start|>assistant", "glm-4.5": "<|assistant|>"}


def cuts(text: str) -> Iterator[list[str]]:
    """Return a text cut into characters, into two parts at every place, into threes, and whole."""
    yield list(text)
    yield [text]
    yield [text[at : at + 3] for at in range(0, len(text), 3)]
    for at in range(1, len(text)):
        yield [text[:at], text[at:]]


def modules(monkeypatch: pytest.MonkeyPatch, found: dict[str, dict[str, Any]]) -> None:
    """Make these modules importable, with these members."""
    for name, members in found.items():
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            path = ".".join(parts[:end])
            if path not in sys.modules or end == len(parts):
                monkeypatch.setitem(sys.modules, path, ModuleType(path))
        for member, value in members.items():
            setattr(sys.modules[name], member, value)


# ---- vLLM ----


@dataclass
class DeltaMessage:
    content: str | None = None
    reasoning: str | None = None


class ReasoningParser:
    engine_based_streaming = False

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        self.model_tokenizer = tokenizer


class ToolParser:
    engine_based_streaming = False
    structural_tag_model: str | None = None

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.streamed_args_for_tool: list[str] = []
        self.tools: Any = tools or ()

    def adjust_request(self, request: Any) -> Any:
        return request


class Message(SimpleNamespace):
    """Return the arguments that vLLM makes of keywords."""


class Delta(SimpleNamespace):
    """A message of a stream, whose fields exist even if no value is given."""

    content = None
    tool_calls: Sequence[Any] = ()


class Manager:
    lazy: dict[str, tuple[str, str]] = {}

    @classmethod
    def register_lazy_module(cls, name: str, module_path: str, class_name: str) -> None:
        cls.lazy[name] = (module_path, class_name)


class Tokenizer:
    """A tokenizer whose tokens are characters, except for the markers, each of which is one token."""

    name_or_path = "somebody/unknown"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        rest = text
        while rest:
            found = next((marker for marker in ("<think>", "</think>") if rest.startswith(marker)), rest[0])
            ids.append(len(self.texts))
            self.texts.append(found)
            rest = rest[len(found) :]
        return ids

    def decode(self, token_ids: Sequence[int]) -> str:
        return "".join(self.texts[token] for token in token_ids)


class ToolManager(Manager):
    lazy: dict[str, tuple[str, str]] = {}


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    modules(
        monkeypatch,
        {
            "vllm.reasoning": {"ReasoningParser": ReasoningParser, "ReasoningParserManager": Manager},
            "vllm.tool_parsers": {"ToolParserManager": ToolManager},
            "vllm.entrypoints.generate.base.protocol": {"DeltaMessage": DeltaMessage},
        },
    )
    file = importlib.import_module("libaside.vllm")
    monkeypatch.delitem(file.__dict__, "AsideReasoningParser", raising=False)
    # Follows vLLM: the entry point registers a name, and the class is imported when it is needed.
    file.register()
    module, name = Manager.lazy["aside"]
    made: type[Any] = getattr(importlib.import_module(module), name)
    return made


@dataclass
class Server:
    """Do what `parse_delta` of vLLM 0.33.0 does with a reasoning parser, and with a tool parser that only takes text."""

    parser: Any
    has_tool_parser: bool
    reasoning: str = ""
    content: str = ""
    tools: str = ""
    has_ended: bool = False
    ids: list[int] = field(default_factory=list[int])

    def prompt(self, ids: list[int]) -> None:
        self.parser.set_prompt_token_ids(ids)
        if self.parser.is_reasoning_end(ids):
            self.has_ended = True
        else:
            self.parser.adjust_initial_state_from_prompt(ids)

    def delta(self, text: str, ids: list[int], finished: bool) -> None:
        before, self.ids = self.ids, self.ids + ids
        message: DeltaMessage | None = None
        has_transitioned = False
        if not self.has_ended:
            message = self.parser.extract_reasoning_streaming("", "", text, before, self.ids, ids)
            if self.parser.has_engine_confirmed_reasoning_end():
                self.has_ended = has_transitioned = True
                self.parser.extract_content_ids(ids)
                rest = self.parser.finish_streaming()
                text = (message.content or "" if message else "") + (rest.content or "" if rest else "")
                message = message or DeltaMessage()
                message.content = None if self.has_tool_parser else text
        if self.has_ended and self.has_tool_parser:
            self.tools += text
        elif message is None and self.has_ended and not has_transitioned:
            message = DeltaMessage(content=text)
        if finished and not self.has_ended:
            self.add(message)
            message = self.parser.finish_streaming()
        self.add(message)

    def add(self, message: DeltaMessage | None) -> None:
        if message is not None:
            self.reasoning += message.reasoning or ""
            self.content += message.content or ""


def serve(made: type[Any], chunks: list[str], has_tool_parser: bool, prompt: str = "") -> Server:
    tokenizer = Tokenizer()
    server = Server(made(tokenizer, model_config=SimpleNamespace(served_model_name=["x"], model="y")), has_tool_parser)
    server.prompt(tokenizer.encode(prompt))
    for number, chunk in enumerate(chunks):
        server.delta(chunk, tokenizer.encode(chunk), number + 1 == len(chunks))
    return server


@pytest.mark.parametrize("has_tool_parser", [False, True])
def test_vllm_streams_are_right_at_every_cut(
    vllm: type[Any], has_tool_parser: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for dialect, text, reasoning, content in TEXTS:
        monkeypatch.setenv("ASIDE_DIALECT", dialect)
        for chunks in cuts(text):
            server = serve(vllm, chunks, has_tool_parser, TURNS[dialect])
            said = (server.reasoning, server.tools if has_tool_parser else server.content)
            assert said == (reasoning, content), (dialect, chunks)
            assert not (has_tool_parser and server.content)


def test_vllm_whole_answers_are_what_streams_are(vllm: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for dialect, text, reasoning, content in TEXTS:
        monkeypatch.setenv("ASIDE_DIALECT", dialect)
        tokenizer = Tokenizer()
        parser = vllm(tokenizer)
        parser.set_prompt_token_ids(tokenizer.encode(TURNS[dialect]))
        assert parser.extract_reasoning(text, None) == (reasoning or None, content or None)


def test_vllm_prompts_that_open_or_close_the_thinking(vllm: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASIDE_DIALECT", "qwen3")
    turn = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    for prompt, text, reasoning, content in [
        (turn, "<think>\nhm\n</think>\n\nYes.", "hm", "Yes."),
        (turn + "<think>\n", "hm\n</think>\n\nYes.", "hm", "Yes."),
        (turn + "<think>\n\n</think>\n\n", "Yes.", "", "Yes."),
        ("<think>\nold\n</think>\n\nOld.<|im_end|>\n" + turn, "<think>\nhm\n</think>\n\nYes.", "hm", "Yes."),
    ]:
        for chunks in cuts(text):
            server = serve(vllm, chunks, False, prompt)
            assert (server.reasoning, server.content) == (reasoning, content), (prompt, chunks)


def test_vllm_thinking_again_is_left_to_vllm_or_split(vllm: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASIDE_DIALECT", "qwen3")
    text = "<think>\na\n</think>\n\nb<think>\nc\n</think>\n\nd"
    assert serve(vllm, list(text), False).content == "b<think>\nc\n</think>\n\nd"
    monkeypatch.setenv("ASIDE_VLLM_STAY", "1")
    for chunks in cuts(text):
        server = serve(vllm, chunks, False)
        assert (server.reasoning, server.content) == ("ac", "b\n\nd"), chunks


def test_vllm_token_ids(vllm: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASIDE_DIALECT", "qwen3")
    tokenizer = Tokenizer()
    parser = vllm(tokenizer)
    ids = tokenizer.encode("<think>\nhm\n</think>\n\nYes.")
    assert tokenizer.decode(parser.extract_content_ids(ids)) == "\n\nYes."
    # The text of the thinking is `h` and `m`; markers and framing do not count.
    assert [parser.count_reasoning_tokens(ids[:at]) for at in (2, 4, len(ids))] == [0, 2, 2]
    ends = [at for at in range(1, len(ids) + 1) if parser.is_reasoning_end_streaming(ids[:at], iter(ids[at - 1 : at]))]
    assert tokenizer.texts[ends[0] - 1] == "</think>" and ends == list(range(ends[0], len(ids) + 1))
    # Proposed tokens, one of which is -1: it was not proposed.
    assert parser.is_reasoning_end_streaming(ids[:8], ids[3:8]) and not parser.is_reasoning_end_streaming(ids[:4] + [-1], [-1])
    assert not parser.is_reasoning_end(ids[:4]) and parser.is_reasoning_end(tokenizer.encode("<think>\n\n</think>\n\n"))
    # The answer that a prompt continues may have any length.
    assert parser.is_reasoning_end(tokenizer.encode("<think>\n\n</think>\n\n" + "Yes. " * 500))
    request = SimpleNamespace(skip_special_tokens=True)
    assert parser.adjust_request(request).skip_special_tokens is False
    assert (parser.reasoning_start_str, parser.reasoning_end_str) == ("<think>", "</think>")


def test_vllm_starts_where_the_template_says(vllm: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASIDE_DIALECT", "qwen3")
    for variables, reasoning, content in [
        ({}, "a", None),
        ({"enable_thinking": True}, "a", None),
        ({"enable_thinking": False}, None, "a"),
        ({"reasoning_effort": "none"}, None, "a"),
    ]:
        parser = vllm(Tokenizer(), chat_template_kwargs=variables)
        assert parser.extract_reasoning("a", None) == (reasoning, content)
    tokenizer = Tokenizer()
    tokenizer.chat_template = "{{ '<think>' }}"  # type: ignore[attr-defined]
    parser = vllm(tokenizer, chat_template_kwargs={"enable_thinking": False})
    assert parser.extract_reasoning("a", None) == ("a", None)


def make_tool_call_id(func_name: str, idx: int) -> str:
    return f"made-{func_name}-{idx}"


def tool_parser(monkeypatch: pytest.MonkeyPatch, dialect: str, **policies: Any) -> Any:
    modules(
        monkeypatch,
        {
            "vllm.tool_parsers.abstract_tool_parser": {"ToolParser": ToolParser},
            "vllm.renderers.chat_utils": {"make_tool_call_id": make_tool_call_id},
            "vllm.envs": {"VLLM_ENFORCE_STRICT_TOOL_CALLING": True},
            "vllm.entrypoints.generate.base.protocol": {
                "DeltaMessage": Delta,
                "DeltaToolCall": Message,
                "DeltaFunctionCall": Message,
                "ExtractedToolCallInformation": Message,
                "ToolCall": Message,
                "FunctionCall": Message,
            },
        },
    )
    return importlib.import_module("libaside.vllm").tool_parser(dialect, **policies)(Tokenizer())


def request(**more: Any) -> SimpleNamespace:
    return SimpleNamespace(tools=None, tool_choice="auto", **more)


def test_vllm_tool_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    other = CALL.replace("run", "stop")
    for text, content, names in [
        ("Yes.", "Yes.", []),
        (CALL, None, ["run"]),
        ("\n\n" + CALL + "\n" + other + "\n", None, ["run", "stop"]),
        ("Look: " + CALL + " Done.", "Look: Done.", ["run"]),
        ("<think>\nhm\n</think>\n\n" + CALL, "<think>\nhm\n</think>", ["run"]),
        ("<tool_call>no call</tool_call>" + CALL, "<tool_call>no call</tool_call>", ["run"]),
        ("<tool_call>no call</tool_call>", "<tool_call>no call</tool_call>", []),
        (CALL.replace("</tool", "and more</tool") + "ok", "and moreok", ["run"]),
    ]:
        whole = tool_parser(monkeypatch, "qwen3").extract_tool_calls(text, request())
        assert (whole.content, [call.function.name for call in whole.tool_calls]) == (content, names)
        assert [call.id for call in whole.tool_calls] == [f"made-{name}-{at}" for at, name in enumerate(names)]
        for chunks in cuts(text):
            parser = tool_parser(monkeypatch, "qwen3")
            messages = [parser.extract_tool_calls_streaming("", "", part, [], [], [], request()) for part in chunks]
            messages = [one for one in [*messages, parser.finish_streaming()] if one is not None]
            assert ("".join(one.content or "" for one in messages) or None) == content, chunks
            calls = [call for one in messages for call in one.tool_calls]
            assert [call.function.name for call in calls if hasattr(call, "id")] == names
            arguments = ["".join(call.function.arguments for call in calls if call.index == at) for at in range(len(names))]
            assert arguments == ['{"a": 1}'] * len(names) == parser.streamed_args_for_tool


def test_vllm_a_call_that_breaks_off_is_text_in_a_whole_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = '<tool_call>\n{"name": "run", "argum'
    whole = tool_parser(monkeypatch, "qwen3").extract_tool_calls(CALL + cut, request())
    assert (whole.content, [call.function.name for call in whole.tool_calls]) == (cut, ["run"])


def test_vllm_unknown_tools_are_told_and_one_call_if_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = [{"type": "function", "function": {"name": "other"}}]
    asked = SimpleNamespace(tools=tools, tool_choice="auto", parallel_tool_calls=False)
    made = tool_parser(monkeypatch, "qwen3").extract_tool_calls(CALL + CALL, asked)
    assert [call.function.name for call in made.tool_calls] == ["run"]


def test_vllm_content_ends_at_the_first_call_if_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, content in [
        ("Look: \n" + CALL + " Done." + CALL + "\nBye.", "Look: \n"),
        ("\n\n" + CALL + " Done.", None),
        ("Look: <b> " + CALL, "Look: <b> "),
        ("No call. ", "No call. "),
    ]:
        assert tool_parser(monkeypatch, "qwen3", around_calls="drop").extract_tool_calls(text, request()).content == content
        for chunks in cuts(text):
            parser = tool_parser(monkeypatch, "qwen3", around_calls="drop")
            messages = [parser.extract_tool_calls_streaming("", "", part, [], [], [], request()) for part in chunks]
            messages = [one for one in [*messages, parser.finish_streaming()] if one is not None]
            assert ("".join(one.content or "" for one in messages) or None) == content, chunks


def test_vllm_names_are_sent_before_arguments_if_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for chunks in cuts(CALL + CALL.replace("run", "stop")):
        parser = tool_parser(monkeypatch, "qwen3", name_first=True)
        messages = [parser.extract_tool_calls_streaming("", "", part, [], [], [], request()) for part in chunks]
        calls = [call for one in [*messages, parser.finish_streaming()] if one is not None for call in one.tool_calls]
        assert not any(call.function.arguments for call in calls if hasattr(call, "id")), chunks
        assert [call.function.name for call in calls if hasattr(call, "id")] == ["run", "stop"]
        arguments = ["".join(call.function.arguments for call in calls if call.index == at) for at in range(2)]
        assert arguments == ['{"a": 1}'] * 2 == parser.streamed_args_for_tool


def test_vllm_refuses_other_forms_and_takes_the_options_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = tool_parser(monkeypatch, "qwen3", forms=("json",), unknown_tool="text")
    for variables, is_right in [({}, True), ({"tool_call_format": "json"}, True), ({"tool_call_format": None}, False)]:
        asked = request(chat_template_kwargs=variables)
        if is_right:
            assert parser.adjust_request(asked) is asked
        else:
            with pytest.raises(ValueError, match="tool_call_format"):
                parser.adjust_request(asked)
    asked = SimpleNamespace(tools=[{"type": "function", "function": {"name": "other"}}], tool_choice="auto")
    assert parser.extract_tool_calls(CALL, asked).content == CALL


class DelegatingParser:
    reasoning_parser_cls: Any
    tool_parser_cls: Any

    def __init__(self, tokenizer: Any) -> None:
        self._reasoning_parser = self.reasoning_parser_cls(tokenizer)
        self._tool_parser = self.tool_parser_cls(tokenizer)

    def parse_delta(self, *args: Any, **kwargs: Any) -> str:
        return "vLLM's"


def test_vllm_parser_splits_thinking_after_content_and_calls(vllm: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    tool_parser(monkeypatch, "qwen3")
    modules(monkeypatch, {"vllm.parser.abstract_parser": {"DelegatingParser": DelegatingParser}})
    made = importlib.import_module("libaside.vllm").parser("qwen3")
    assert made.__mro__[2] is DelegatingParser
    text = f"<think>\na\n</think>\n\nb{CALL}<think>c</think>d"
    for include in (True, False):
        for chunks in cuts(text):
            parser, asked = made(Tokenizer()), request(include_reasoning=include)
            messages = [parser.parse_delta(part, [], asked, [], finished=False) for part in chunks]
            messages = [one for one in [*messages, parser.parse_delta("", [], asked, finished=True)] if one is not None]
            assert "".join(one.content or "" for one in messages) == "bd", chunks
            assert "".join(getattr(one, "reasoning", None) or "" for one in messages) == ("ac" if include else "")
            calls = [call for one in messages for call in one.tool_calls]
            assert "".join(call.function.arguments for call in calls) == '{"a": 1}'
    # A call that vLLM has written as JSON is read by vLLM.
    parser = made(Tokenizer())
    parser._tool_parser.supports_required_and_named = True
    asked = request(include_reasoning=True)
    asked.tool_choice = "required"
    assert parser.parse_delta("[]", [], asked, [], finished=True) == "vLLM's"


# ---- SGLang ----


class StreamingParseResult:
    def __init__(self, normal_text: str | None = None, reasoning_text: str | None = None) -> None:
        self.normal_text, self.reasoning_text = normal_text or "", reasoning_text or ""


class BaseReasoningFormatDetector:
    def __init__(
        self,
        think_start_token: str,
        think_end_token: str,
        force_reasoning: bool = False,
        stream_reasoning: bool = True,
        continue_final_message: bool = False,
        previous_content: str = "",
        force_nonempty_content: bool = False,
    ) -> None:
        self.think_start_token, self.think_end_token = think_start_token, think_end_token
        self._in_reasoning, self.stream_reasoning = force_reasoning, stream_reasoning
        self.force_reasoning = force_reasoning
        self.previous_content = previous_content if continue_final_message else ""
        self._force_nonempty_content = force_nonempty_content


class OwnDetector(BaseReasoningFormatDetector):
    """The detector of a family, with a field that the server reads."""

    def __init__(self, force_reasoning: bool = False, **kwargs: Any) -> None:
        super().__init__("<own>", "</own>", force_reasoning, **kwargs)
        self.reasoning_default = "own"


class BaseFormatDetector:
    def get_structural_tag(self, *args: Any) -> str:
        return "own"


class SglangReasoningParser:
    DetectorMap: dict[str, type[Any]] = {}


class FunctionCallParser:
    ToolCallParserEnum: dict[str, type[Any]] = {}


@pytest.fixture
def sglang(monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    modules(
        monkeypatch,
        {
            "sglang.srt.parser.reasoning_parser": {
                "StreamingParseResult": StreamingParseResult,
                "BaseReasoningFormatDetector": BaseReasoningFormatDetector,
                "ReasoningParser": SglangReasoningParser,
            },
            "sglang.srt.function_call.function_call_parser": {
                "BaseFormatDetector": BaseFormatDetector,
                "FunctionCallParser": FunctionCallParser,
            },
            "sglang.srt.function_call.core_types": {
                "StreamingParseResult": Message,
                "StructureInfo": Message,
                "ToolCallItem": Message,
            },
            "sglang.srt.runtime_context": {
                "get_server_args": lambda: SimpleNamespace(served_model_name=None, model_path="Qwen/Qwen3-32B")
            },
        },
    )
    monkeypatch.setattr(SglangReasoningParser, "DetectorMap", {"qwen3": OwnDetector})
    monkeypatch.setattr(FunctionCallParser, "ToolCallParserEnum", {})
    importlib.import_module("libaside.sglang").register()
    return SglangReasoningParser.DetectorMap["aside"]


def detect(detector: Any, chunks: list[str]) -> tuple[str, str]:
    """Return the result of a stream: `parse_stream_chunk` for each chunk, then `parse_stream_end`."""
    results = [detector.parse_streaming_increment(chunk) for chunk in chunks] + [detector.finish()]
    return "".join(one.reasoning_text for one in results), "".join(one.normal_text for one in results)


def test_sglang_streams_and_whole_answers(sglang: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for dialect, text, reasoning, content in TEXTS:
        monkeypatch.setenv("ASIDE_DIALECT", dialect)
        whole = sglang(stream_reasoning=True).detect_and_parse(text)
        assert (whole.reasoning_text, whole.normal_text) == (reasoning, content)
        for chunks in cuts(text):
            for streams in (True, False):
                assert detect(sglang(stream_reasoning=streams), chunks) == (reasoning, content), (dialect, chunks)


def test_sglang_takes_the_model_of_the_server(sglang: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASIDE_DIALECT", raising=False)
    detector = sglang()
    assert isinstance(detector, OwnDetector) and detector.reasoning_default == "own"
    monkeypatch.setenv("ASIDE_DIALECT", "seed-oss")
    detector = sglang(tokenizer=None)
    assert (detector.think_start_token, detector.think_end_token) == ("<seed:think>", "</seed:think>")


def test_sglang_has_a_name_for_each_dialect(sglang: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASIDE_DIALECT", "harmony")
    assert {f"aside-{name}" for name in Dialect.names()} < set(SglangReasoningParser.DetectorMap)
    whole = SglangReasoningParser.DetectorMap["aside-qwen3"]().detect_and_parse("<think>\nhm\n</think>\n\nYes.")
    assert (whole.reasoning_text, whole.normal_text) == ("hm", "Yes.")


def test_sglang_calls(sglang: type[Any]) -> None:
    made = FunctionCallParser.ToolCallParserEnum["aside-qwen3"]
    tools = [SimpleNamespace(model_dump=lambda: {"type": "function", "function": {"name": "run"}})]
    other = CALL.replace("run", "stop")
    for text, content, count in [
        ("Yes.", "Yes.", 0),
        ("Look: " + CALL + CALL, "Look:", 2),
        (other + "Yes.", other + "Yes.", 0),
        (CALL + other, other, 1),
    ]:
        whole = made().detect_and_parse(text, tools)
        assert (whole.normal_text, [call.name for call in whole.calls]) == (content, ["run"] * count)
        assert made().has_tool_call(text) == ("<tool_call>" in text)
        for chunks in cuts(text):
            detector = made()
            results = [detector.parse_streaming_increment(part, tools) for part in chunks] + [detector.finish(tools)]
            assert "".join(one.normal_text for one in results) == content, chunks
            calls = [call for one in results for call in one.calls]
            assert [call.name for call in calls if call.name] == ["run"] * count
            assert "".join(call.parameters for call in calls) == '{"a": 1}' * count
    cut = '<tool_call>\n{"name": "run", "argum'
    assert not made().has_tool_call(cut)
    whole = made().detect_and_parse(CALL + cut, tools)
    assert (whole.normal_text, [call.name for call in whole.calls]) == (cut, ["run"])


def test_sglang_constrains_calls_to_the_dialect(sglang: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def form(tag: dict[str, Any]) -> Any:
        return tag["format"]

    def tool(name: str) -> SimpleNamespace:
        def dump(**_: Any) -> dict[str, Any]:
            return {"type": "function", "function": {"name": name}}

        return SimpleNamespace(model_dump=dump)

    modules(monkeypatch, {"xgrammar": {"StructuralTag": SimpleNamespace(model_validate=form)}})
    tools = [tool("run"), tool("stop")]
    detector = FunctionCallParser.ToolCallParserEnum["aside-qwen3"]()
    tag = detector.get_structural_tag
    assert tag(tools)["elements"][1] == {"type": "any_text", "excludes": ["<tool_call>"]}
    assert "stop" in str(tag(tools, "required")) and tag(tools, "required")["elements"][-1]["type"] == "star"
    assert "stop" not in str(tag(tools, SimpleNamespace(function=SimpleNamespace(name="run"))))
    # One call of one of the two tools.
    one = tag(tools, "required", parallel_tool_calls=False)
    assert one["type"] == "or" and "stop" in str(one)
    assert {call["elements"][-1]["type"] for call in one["elements"]} == {"const_string"}
    text, call = tag(tools, parallel_tool_calls=False)["elements"]
    assert text == {"type": "any_text", "excludes": ["<tool_call>"]} and call == {"type": "optional", "content": one}
    # The thinking before the calls. It is part of the free text before a single call.
    before, blanks, *calls = tag(tools, "required", thinking_mode=True)["elements"]
    assert before["elements"] == [{"type": "any_text", "excludes": ["</think>"]}, {"type": "const_string", "value": "</think>"}]
    assert (blanks["type"], calls) == ("regex", tag(tools, "required")["elements"])
    single = tag(tools, "required", thinking_mode=True, parallel_tool_calls=False)["elements"]
    assert [call["elements"][0] for call in single] == [before, before]
    assert tag(tools, thinking_mode=True)["elements"][0] == before
    assert tag(tools, thinking_mode=True, parallel_tool_calls=False) == tag(tools, parallel_tool_calls=False)
    # SGLang's own forms.
    assert FunctionCallParser.ToolCallParserEnum["aside-s1"]().get_structural_tag(tools, "required") == "own"
    assert FunctionCallParser.ToolCallParserEnum["aside-any"]().get_structural_tag(tools, "required") == "own"


def test_sglang_leaves_out_calls_of_unknown_tools_if_that_is_asked_for(sglang: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASIDE_SGLANG_UNKNOWN_TOOL", "drop")
    made = FunctionCallParser.ToolCallParserEnum["aside-qwen3"]
    tools = [SimpleNamespace(model_dump=lambda: {"type": "function", "function": {"name": "run"}})]
    other = CALL.replace("run", "stop")
    for text, content in [("Look: " + CALL + other, "Look:"), ("Hm." + other, "Hm."), (other, ""), ("Yes. ", "Yes. ")]:
        assert made().detect_and_parse(text, tools).normal_text == content
        for chunks in cuts(text):
            detector = made()
            results = [detector.parse_streaming_increment(part, tools) for part in chunks] + [detector.finish(tools)]
            assert "".join(one.normal_text for one in results) == content, chunks


def test_sglang_reasoning_comes_at_once_if_it_is_not_streamed(sglang: type[Any]) -> None:
    detector = sglang(stream_reasoning=False)
    parts = [detector.parse_streaming_increment(chunk) for chunk in ["<think>\na", "b", "\n</think>\n\n", "c", "d"]]
    assert [part.reasoning_text for part in parts] == ["", "", "", "ab", ""]
    detector = sglang(stream_reasoning=False)
    assert not detector.parse_streaming_increment("<think>\nab").reasoning_text
    assert detector.finish().reasoning_text == "ab"


def test_sglang_forced_reasoning(sglang: type[Any]) -> None:
    for chunks in cuts("hm\n</think>\n\nYes."):
        assert detect(sglang(force_reasoning=True), chunks) == ("hm", "Yes.")


def test_sglang_goes_on_with_a_message(sglang: type[Any]) -> None:
    for before, text, reasoning, content in [
        ("<think>\na", "b\n</think>\n\nc", "b", "c"),
        ("<think>\na\n</think>\n\nb", "c", "", "c"),
        ("a", "b", "", "b"),
    ]:
        options: dict[str, Any] = {"continue_final_message": True, "previous_content": before}
        whole = sglang(**options).detect_and_parse(text)
        assert (whole.reasoning_text, whole.normal_text) == (reasoning, content)
        for chunks in cuts(text):
            assert detect(sglang(**options), chunks) == (reasoning, content), (before, chunks)


def test_sglang_content_is_not_empty_if_that_is_asked_for(sglang: type[Any]) -> None:
    text = "<think>\nonly this\n</think>\n\n"
    whole = sglang(force_nonempty_content=True).detect_and_parse(text)
    assert (whole.reasoning_text, whole.normal_text) == ("", "only this")
    for chunks in cuts(text):
        assert detect(sglang(force_nonempty_content=True), chunks) == ("only this", "only this")
        assert detect(sglang(force_nonempty_content=True, stream_reasoning=False), chunks) == ("", "only this")
    assert detect(sglang(force_nonempty_content=True), ["<think>\na\n</think>\n\nb"]) == ("a", "b")


# ---- LiteLLM ----


class CustomLogger:
    pass


def items(value: Any) -> list[Any]:
    return list(value)


class Model:
    """An object like those of LiteLLM: made from keywords, with an object for each nested dict."""

    def __init__(self, **data: Any) -> None:
        def read(value: Any) -> Any:
            if isinstance(value, dict):
                return Model(**{str(name): one for name, one in items(value.items())})  # pyright: ignore
            return [read(one) for one in items(value)] if isinstance(value, list) else value

        self.__dict__.update({name: read(value) for name, value in data.items()})

    def __getattr__(self, name: str) -> Any:
        return None

    def model_dump(self) -> dict[str, Any]:
        def write(value: Any) -> Any:
            return value.model_dump() if isinstance(value, Model) else value

        return {
            name: [write(one) for one in items(value)] if isinstance(value, list) else write(value)
            for name, value in self.__dict__.items()
        }


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Any:
    modules(monkeypatch, {"litellm.integrations.custom_logger": {"CustomLogger": CustomLogger}})
    monkeypatch.setenv("ASIDE_DIALECT", "qwen3")
    file = importlib.import_module("libaside.litellm")
    monkeypatch.delitem(file.__dict__, "handler", raising=False)
    return file.handler


def chunk(index: int, content: str | None, finish: str | None = None, **more: Any) -> Model:
    choice = {"index": index, "delta": {"content": content, **more}, "finish_reason": finish}
    return Model(object="chat.completion.chunk", model="m", choices=[choice])


TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}]


def hooked(handler: Any, parts: Sequence[Any], **more: Any) -> list[Any]:
    async def stream() -> AsyncIterator[Any]:
        for one in parts:
            yield one

    async def run() -> list[Any]:
        hook = handler.async_post_call_streaming_iterator_hook(None, stream(), {"model": "x", **more})
        return [one async for one in hook]

    return asyncio.run(run())


def said(chunks: list[Any], index: int = 0) -> tuple[str, str]:
    deltas = [choice.delta for one in chunks for choice in one.choices if choice.index == index]
    reasoning = "".join(delta.reasoning_content or "" for delta in deltas)
    return reasoning, "".join(delta.content or "" for delta in deltas)


def test_litellm_streams(handler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for dialect, text, reasoning, content in TEXTS:
        monkeypatch.setenv("ASIDE_DIALECT", dialect)
        for parts in cuts(text):
            for last in (True, False):
                chunks = [chunk(0, part) for part in parts] + ([chunk(0, None, "stop")] if last else [])
                made = hooked(handler, chunks)
                assert said(made) == (reasoning, content), (dialect, parts)
                finishes = [choice.finish_reason for one in made for choice in one.choices if choice.finish_reason]
                assert finishes == (["stop"] if last else [])


def test_litellm_calls_of_the_request_s_tools(handler: Any) -> None:
    for parts in cuts("<think>\nhm\n</think>\n\n" + CALL):
        made = hooked(handler, [*(chunk(0, part) for part in parts), chunk(0, None, "stop")], tools=TOOLS)
        assert said(made) == ("hm", "")
        calls = [call for one in made for choice in one.choices for call in items(choice.delta.tool_calls or ())]
        assert [call.function.name for call in calls if call.function.name] == ["run"]
        assert "".join(call.function.arguments or "" for call in calls) == '{"a": 1}'
        assert [choice.finish_reason for one in made for choice in one.choices if choice.finish_reason] == ["tool_calls"]


def test_litellm_bytes_of_messages(handler: Any) -> None:
    def event(kind: str, **data: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()

    text = "<think>\nhm\n</think>\n\nYes."
    for parts in cuts(text):
        events = [
            event("message_start", message={"id": "m", "role": "assistant", "model": "x", "content": []}),
            event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
            *(event("content_block_delta", index=0, delta={"type": "text_delta", "text": part}) for part in parts),
            event("content_block_stop", index=0),
            event("message_delta", delta={"stop_reason": "end_turn"}),
            event("message_stop"),
        ]
        lines = b"".join(hooked(handler, events)).splitlines()
        deltas = [json.loads(line[6:]).get("delta", {}) for line in lines if line.startswith(b"data: ")]
        assert "".join(delta.get("thinking", "") for delta in deltas) == "hm"
        assert "".join(delta.get("text", "") for delta in deltas) == "Yes."


def test_litellm_choices_are_apart(handler: Any) -> None:
    parts = ["<thi", "nk>\na", "\n</think>\n\nb"]
    chunks = [chunk(index, part) for part in parts for index in (0, 1)]
    made = hooked(handler, chunks)
    assert said(made, 0) == said(made, 1) == ("a", "b")


def test_litellm_leaves_what_is_split(handler: Any) -> None:
    chunks = [chunk(0, None, reasoning_content="hm"), chunk(0, "<think>Yes."), chunk(0, None, "stop")]
    assert said(hooked(handler, chunks)) == ("hm", "<think>Yes.")


def test_litellm_whole_answers(handler: Any) -> None:
    def run(response: Any, **more: Any) -> Any:
        return asyncio.run(handler.async_post_call_success_hook({"model": "x", **more}, None, response))

    def message(content: str, asked: dict[str, Any] | None = None, **more: Any) -> Any:
        choice = {"index": 0, "message": {"role": "assistant", "content": content, **more}, "finish_reason": "stop"}
        return run(Model(object="chat.completion", model="m", choices=[choice]), **asked or {}).choices[0].message

    one = message("<think>\nhm\n</think>\n\nYes.")
    assert (one.reasoning_content, one.content) == ("hm", "Yes.")
    one = message("<think>Yes.", reasoning_content="hm")
    assert (one.reasoning_content, one.content) == ("hm", "<think>Yes.")
    # The answers, as LiteLLM leaves them after it has split them.
    one = message("\n\nYes.", reasoning_content="\nhm\n")
    assert (one.reasoning_content, one.content) == ("hm", "Yes.")
    one = message("\n\n" + CALL, {"tools": TOOLS}, reasoning_content="\nhm\n")
    assert (one.reasoning_content, one.content) == ("hm", None)
    assert [(call.function.name, call.function.arguments) for call in one.tool_calls] == [("run", '{"a": 1}')]
    assert message("Yes.").reasoning_content is None

    blocks = [{"type": "thinking", "thinking": "\nhm\n"}, {"type": "text", "text": "\n\nYes."}]
    made = run({"type": "message", "role": "assistant", "model": "x", "content": blocks, "stop_reason": "end_turn"})
    assert [(block["type"], block.get("thinking", block.get("text"))) for block in made["content"]] == [
        ("thinking", "hm"),
        ("text", "Yes."),
    ]


# ---- shared code ----


def test_dialects_are_chosen_by_the_variable_then_the_model(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("ASIDE_DIALECT", raising=False)
    assert choose_dialect(None, "my-model", "Qwen/Qwen3-32B").name == "qwen3"
    assert choose_dialect("my-model").name == "any"
    assert "ASIDE_DIALECT" in caplog.text
    template = "{% if add_generation_prompt %}{{ '<|turn>model\\n<|channel>' }}{% endif %}"
    assert choose_dialect("my-model", template=template).name == "gemma-4"
    monkeypatch.setenv("ASIDE_DIALECT", "harmony")
    assert choose_dialect("Qwen/Qwen3-32B").name == "harmony"


def test_a_dialect_is_drafted_where_the_host_asks_for_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("ASIDE_DIALECT", raising=False)
    monkeypatch.delenv("ASIDE_DRAFT", raising=False)
    turn = "<|{{ m.role }}|>{% if m.reasoning %}<reflect>{{ m.reasoning }}</reflect>{% endif %}{{ m.content }}<|end|>"
    template = "{% for m in messages %}" + turn + "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    assert choose_dialect("my-model", template=template).name == "any"
    monkeypatch.setenv("ASIDE_DRAFT", "1")
    caplog.clear()
    dialect = choose_dialect("org/My Model", template=template)
    assert dialect.name == "my-model" and strip("<reflect>hm</reflect>Yes.<|end|>", dialect) == "Yes."
    assert "has drafted the dialect of org/My Model" in caplog.text and "no calls were seen" in caplog.text
    # A known model needs no draft.
    assert choose_dialect("Qwen/Qwen3-32B", template=template).name == "qwen3"


def test_markers_of_dialects() -> None:
    assert markers(Dialect.find("qwen3")) == ("<think>", "</think>")
    assert markers(Dialect.find("kimi-k2"))[0]
    assert all(all(markers(Dialect.find(name))) for name in ("harmony", "any", "gigachat-3"))


def test_entry_points_name_the_files() -> None:
    for group, value in [("vllm.general_plugins", "libaside.vllm"), ("sglang.srt.plugins", "libaside.sglang")]:
        found = [point for point in entry_points(group=group) if point.name == "aside"]
        assert [point.module for point in found] == [value]
        assert callable(found[0].load())


def test_without_the_host_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, attribute in [
        ("vllm", "AsideReasoningParser"),
        ("vllm", "AsideToolParser"),
        ("litellm", "handler"),
    ]:
        if importlib.util.find_spec(name):
            continue
        file = importlib.import_module(f"libaside.{name}")
        monkeypatch.delitem(file.__dict__, attribute, raising=False)
        with pytest.raises(ImportError, match="pip install"):
            getattr(file, attribute)
    if not importlib.util.find_spec("sglang"):
        with pytest.raises(ImportError, match="pip install"):
            importlib.import_module("libaside.sglang").register()


@pytest.mark.parametrize("file", sorted(path.name for path in RECORDINGS.glob("*.txt")))
def test_recordings_of_all_dialects(file: str, sglang: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    name = file.removesuffix(".txt")
    if name in ("qwen3-cut", "qwen3-tool"):
        name = "qwen3"
    text = (RECORDINGS / file).read_text()
    monkeypatch.setenv("ASIDE_DIALECT", name)
    wanted = split(text, name)
    scanner: Scanner[str] = Scanner(name)
    if any(event.kind == "reclassify" for event in scanner.feed(text)):
        pytest.skip("what was content has gone out already")
    for size in (1, 5, len(text)):
        reasoning, content = detect(sglang(), [text[at : at + size] for at in range(0, len(text), size)])
        assert reasoning == wanted.thinking
        assert len(content) >= len(wanted.content + wanted.narration + wanted.tool)
