"""Tests the scanner and the code that is built on it: the form of the text, every cut, threads, and errors."""

from __future__ import annotations

import asyncio
import itertools
import json
import pickle
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest

import libaside
from libaside import Dialect, Event, Scanner, Split, split_aiter, split_iter

ROOT = Path(__file__).parents[3]
TEXT = "<think>\nTwice 21, größer: 😀\n</think>\n\nIt is 42."
PAIRS = {"thinking": "Twice 21, größer: 😀", "content": "It is 42."}


def joined(texts: list[str], dialect: Dialect | str = "qwen3") -> dict[str, str]:
    result: dict[str, str] = {}
    for channel, text in split_iter(texts, dialect):
        result[channel] = result.get(channel, "") + text
    return result


def test_every_cut_gives_the_same() -> None:
    whole = joined([TEXT])
    assert whole["thinking"] == PAIRS["thinking"] and whole["content"] == PAIRS["content"]
    for cut in range(len(TEXT) + 1):
        assert joined([TEXT[:cut], TEXT[cut:]]) == whole
    assert joined(list(TEXT)) == whole


def test_bytes_in_are_bytes_out_and_may_be_cut_inside_characters() -> None:
    data = TEXT.encode()
    scanner: Scanner[bytes] = Scanner("qwen3")
    for cut in range(len(data) + 1):
        events = scanner.feed(data[:cut]) + scanner.feed(data[cut:]) + scanner.finish()
        assert b"".join(event.text for event in events) == data
        thinking = b"".join(event.text for event in events if (event.kind, event.channel) == ("text", "thinking"))
        assert thinking.decode() == PAIRS["thinking"]


def test_what_is_no_utf8_passes() -> None:
    scanner: Scanner[bytes] = Scanner("qwen3")
    assert b"".join(event.text for event in scanner.feed(b"a\xff\x00b") + scanner.finish()) == b"a\xff\x00b"


def test_forms_do_not_mix() -> None:
    scanner: Scanner[str] = Scanner("qwen3")
    scanner.feed("a")
    with pytest.raises(TypeError, match="feed str"):
        scanner.feed(b"b")  # type: ignore[arg-type]
    scanner.finish()
    scanner.feed(b"b")  # type: ignore[arg-type]


def test_a_lone_surrogate_is_named_by_its_index() -> None:
    scanner: Scanner[str] = Scanner("qwen3")
    with pytest.raises(ValueError) as error:
        scanner.feed("ab\ud800")
    assert isinstance(error.value, UnicodeEncodeError) and error.value.start == 2


def test_split_is_what_servers_call_for_each_token() -> None:
    scanner: Scanner[str] = Scanner("qwen3")
    parts = [scanner.split(character) for character in TEXT] + [scanner.finish_split()]
    assert all(isinstance(part, Split) for part in parts)
    assert "".join(part.thinking for part in parts) == PAIRS["thinking"]
    assert "".join(part.content for part in parts) == PAIRS["content"]
    whole = libaside.split(TEXT, "qwen3")
    assert (whole.thinking, whole.content) == (PAIRS["thinking"], PAIRS["content"])


def test_an_asynchronous_stream() -> None:
    async def stream() -> AsyncIterator[str]:
        for character in TEXT:
            yield character

    async def collect() -> str:
        return "".join([text async for channel, text in split_aiter(stream(), "qwen3") if channel == "thinking"])

    assert asyncio.run(collect()) == PAIRS["thinking"]


def test_dialects_are_found() -> None:
    assert "qwen3" in Dialect.names() and Dialect.names() == sorted(Dialect.names())
    assert Dialect.find_for_model("Qwen/Qwen3-32B").name == "qwen3"
    assert Dialect.find("qwen3").max_hold > 0 and "thinking" in Dialect.find("qwen3").starts
    with pytest.raises(libaside.UnknownDialectError) as unknown:
        Dialect.find("quen3")
    assert "qwen3" in unknown.value.nearest
    with pytest.raises(libaside.DialectError) as error:
        Dialect.load("name = 3")
    assert (error.value.line, error.value.key) == (1, "name")
    mine = Dialect.load('name = "mine"\n[[span]]\nchannel = "thinking"\nopen = ["<a>"]\nclose = ["</a>"]')
    assert joined(["<", "a>b</", "a>c"], mine) == {"thinking": "b", "content": "c"}


def test_a_template_is_read_and_only_rendered_where_the_name_says_so() -> None:
    template = (ROOT / "tests/templates/qwen3-thinking.jinja").read_text()
    dialect, start = Dialect.find_for_template(template)
    assert (dialect.name, start) == ("qwen3-thinking", "thinking")
    # Rendering this template would fail.
    fails = "{{ raise_exception('was rendered') }}" + template
    assert Dialect.find_for_template(fails)[0].name == "qwen3-thinking"
    with pytest.raises(libaside.AsideError, match="was rendered") as failure:
        Dialect.find_for_rendered_template(fails, {})
    assert not isinstance(failure.value, libaside.UnknownDialectError)
    # The state at the end of a prompt depends on the variables, which are not known if the template is only read.
    template = "<|turn>model\n{% if enable_thinking %}<|channel>{% endif %}"
    rendered = [Dialect.find_for_rendered_template(template, {"enable_thinking": value})[1] for value in (True, False)]
    assert rendered == ["thinking", "content"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'variables'"):
        Dialect.find_for_template(template, variables={})  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'variables'"):
        Dialect.find_for_rendered_template(template)  # type: ignore[call-arg]
    with pytest.raises(libaside.AmbiguousDialectError, match="fits several dialects: kimi-vl, openpangu") as several:
        Dialect.find_for_template("{{ '[unused16]◁think▷' }}")
    assert several.value.candidates == ["kimi-vl", "openpangu"] and several.value.nearest == []
    with pytest.raises(libaside.UnknownDialectError) as none:
        Dialect.find_for_template("{{ messages }}")
    assert type(none.value) is libaside.UnknownDialectError and none.value.nearest == []


def test_a_dialect_is_drafted_from_a_template() -> None:
    turn = "<|{{ m.role }}|>{% if m.reasoning %}<reflect>{{ m.reasoning }}</reflect>{% endif %}{{ m.content }}{{ eos_token }}"
    template = "{% for m in messages %}" + turn + "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    draft = Dialect.draft(template)
    assert draft.dialect.name == "draft" and Dialect.load(draft.toml).name == "draft"
    assert len(draft.doubts) == 2 and all(f"# Doubt: {doubt}.\n" in draft.toml for doubt in draft.doubts)
    known = Dialect.draft(template, name="Org/New Model", eos_token="</s>", special_tokens=["</s>"])
    assert known.dialect.name == "new-model" and known.doubts == ["no calls were seen"]
    assert 'drop = [{ marker = "</s>", special = true }]' in known.toml
    again: Dialect = pickle.loads(pickle.dumps(known.dialect))
    assert libaside.strip("<reflect>hm</reflect>Yes.</s>", again) == "Yes."
    with pytest.raises(libaside.AsideError, match="cannot be rendered"):
        Dialect.draft("{{ '")


def test_starts_budgets_thoughts_and_counts() -> None:
    scanner: Scanner[str] = Scanner("qwen3", start="thinking", budget=3, collect=True)
    events = scanner.feed("abcdef</think>g")
    assert [event.offset for event in events if event.kind == "budget"] == [3]
    assert scanner.counts("thinking").characters == 6
    thought = scanner.take_thought()
    assert thought is not None and thought.text == "abcdef" and scanner.take_thought() is None
    copy = scanner.copy()
    assert copy.split("h").content == "h" and scanner.counts("content").bytes == 1
    scanner.reset()
    assert scanner.start_from_prompt("<|im_start|>assistant\n<think>\n") == "thinking"
    with pytest.raises(libaside.AsideError):
        Scanner("qwen3", start="narration")
    scanner.feed("a")
    assert [event.cause for event in scanner.force_close() if event.kind == "close"] == ["forced"]


def test_thoughts_that_nobody_takes_are_counted() -> None:
    scanner: Scanner[str] = Scanner("inline-think", collect=True)
    scanner.feed("<think>a</think>" * 1030)
    assert (scanner.counts("thinking").lost_thoughts, scanner.counts("content").lost_thoughts) == (6, 0)


def test_tokens() -> None:
    scanner: Scanner[str] = Scanner("qwen3")
    events = scanner.feed_tokens("<think>a</think>", [7, 1, 8], [True, False, False]) + scanner.finish()
    assert "".join(event.text for event in events if event.kind == "text") == "a</think>"
    with pytest.raises(libaside.AsideError):
        scanner.feed_tokens("ab", [1], [False])


def test_events_say_which_tokens_they_have() -> None:
    tokens = [("<think>", True), ("\n", False), ("Tw", False), ("ice", False), (" 21.\n", False), ("</think>", True), ("Yes", False)]

    def events(sizes: list[int]) -> list[Event[str]]:
        scanner: Scanner[str] = Scanner("qwen3")
        events, at = list[Event[str]](), 0
        for size in sizes:
            texts, special = zip(*tokens[at : at + size], strict=True)
            events += scanner.feed_tokens("".join(texts), [len(text) for text in texts], special)
            at += size
        return events + scanner.finish()

    for sizes in ([7], [1] * 7, [2, 5], [3, 3, 1]):
        told = events(sizes)
        assert sum(event.tokens for event in told) == len(tokens)
        for event, after in zip(told, told[1:], strict=False):
            assert after.first_token == event.first_token + event.tokens
        # The token ` 21.` and a line end begins in the text.
        assert sum(event.tokens for event in told if (event.kind, event.channel) == ("text", "thinking")) == 3
    scanner: Scanner[str] = Scanner("qwen3")
    assert all((event.first_token, event.tokens) == (0, 0) for event in scanner.feed(TEXT))


def test_calls_in_the_thinking_and_stray_closers_are_as_the_options_say() -> None:
    def bytes_of(text: str, channel: Literal["content", "thinking", "tool"], **options: Any) -> int:
        scanner: Scanner[str] = Scanner("qwen3", **options)
        scanner.feed(text)
        scanner.finish()
        return scanner.counts(channel).bytes

    text = '<think>\nhm <tool_call>{"name": "f"}</tool_call> hm'
    assert bytes_of(text, "tool") == bytes_of(text, "tool", calls_in_thinking="dialect") > 0
    assert bytes_of(text, "tool", calls_in_thinking="never") == 0
    text = "It ends</think>."
    assert bytes_of(text, "content") == bytes_of(text, "content", stray_close="dialect") < len(text)
    assert bytes_of(text, "content", stray_close="text") == len(text)
    assert bytes_of(text, "content", stray_close="drop") == len(text) - len("</think>")


def test_a_guessed_thinking_that_was_the_answer() -> None:
    scanner: Scanner[str] = Scanner("qwen3-thinking")
    assert (scanner.start, scanner.is_start_guessed) == ("thinking", True)
    scanner.end_reason("ended")
    events = scanner.feed("Yes.") + scanner.finish()
    assert [(event.kind, event.channel) for event in events[-2:]] == [("reclassify", "content"), ("close", "thinking")]
    assert scanner.counts("content").bytes == 4
    assert all(event.kind != "reclassify" for event in scanner.feed("Yes.") + scanner.finish())
    with pytest.raises(ValueError, match="end"):
        scanner.end_reason("stop")  # type: ignore[arg-type]
    scanner.start_from_prompt("<think>\n")
    assert not scanner.is_start_guessed
    body = b'{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}'
    for keep in (False, True):
        rewriter = libaside.Rewriter("qwen3-thinking", keep_guessed=keep)
        out = rewriter.feed(body) + rewriter.finish()
        assert (out == body) is not keep


def test_a_grammar_of_calls() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer", "minimum": 1}}, "required": ["x"]}
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    qwen3 = libaside.Dialect.find("qwen3")
    assert qwen3.grammar("lark", tools, "f").text.startswith('%llguidance {}\nstart: "<tool_call>"')
    assert libaside.Dialect.find("glm-4.5").grammar("lark", json.dumps(tools), "required").limits == []
    literal = libaside.Dialect.find("olmo-3").grammar("xgrammar", tools)
    assert literal.limits == ["f.x: `minimum` is not in the grammar"]
    for dialect, wrong, message in [(qwen3, "g", "no tool is named"), (libaside.Dialect.find("s1"), "f", "does not say")]:
        with pytest.raises(ValueError, match=message):
            dialect.grammar("xgrammar", tools, wrong)
    assert qwen3.grammar("lark", tools, "f", start="content").text.startswith('%llguidance {}\nstart: ("<think>"')
    with pytest.raises(ValueError, match="a grammar starts in"):
        qwen3.grammar("lark", tools, start="header")
    with pytest.raises(ValueError, match="format"):
        qwen3.grammar("gbnf", tools)  # type: ignore[arg-type]
    # The manual's example, where xgrammar is installed.
    grammars = pytest.importorskip("xgrammar")
    testing = pytest.importorskip("xgrammar.testing")
    grammar = grammars.Grammar.from_structural_tag(json.loads(qwen3.grammar("xgrammar", tools).text))
    text = 'Well. <tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
    assert testing._is_grammar_accept_string(grammar, text)
    assert not testing._is_grammar_accept_string(grammar, text.replace('"f"', '"g"'))
    grammar = grammars.Grammar.from_structural_tag(json.loads(qwen3.grammar("xgrammar", tools, "f", "thinking").text))
    call = text.removeprefix("Well. ")
    assert testing._is_grammar_accept_string(grammar, "I use <tool_call> for f.\n</think>\n\n" + call)
    assert not testing._is_grammar_accept_string(grammar, call)


def test_a_rewriter_makes_calls_as_a_host_wants_them() -> None:
    body = b'{"id":"c","choices":[{"message":{"content":%s},"finish_reason":"stop"}]}'
    for rewriter, content in (
        (libaside.Rewriter("qwen3", calls=True, start_call="h"), b'"{}"'),
        (libaside.Rewriter("qwen3", calls=True, start="calls"), rb'"[{\"name\":\"h\"}]"'),
    ):
        assert b'"name":"h","arguments":"{}"' in rewriter.feed(body % content) + rewriter.finish()
    rewriter = libaside.Rewriter("qwen3", tools=[], unknown_tool="drop", max_calls=1, not_whole="text", implied_end="off")
    out = rewriter.feed(body % rb'"<tool_call>{\"name\":\"h\"}</tool_call>"') + rewriter.finish()
    assert out == body % b'""'


def test_causes_are_identifiers() -> None:
    causes: list[str] = []
    for text in ("<think>a</think>b", "<think>a", '<think>a<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'):
        scanner: Scanner[str] = Scanner("qwen3", calls=True, collect=True)
        causes += [event.cause for event in scanner.feed(text) + scanner.finish() if event.cause]
        thought = scanner.take_thought()
        assert thought is not None and thought.cause.isidentifier()
    assert {"marker", "end_of_stream", "implied"} <= set(causes) and all(cause.isidentifier() for cause in causes)
    cut = libaside.Answer("qwen3")
    parts = cut.feed('<tool_call>\n{"name": "f", "arguments": {') + cut.finish()
    assert [part.cause for part in parts if part.kind == "call_end"] == ["end_of_stream"]


def test_a_second_thread_is_refused_and_nothing_is_lost() -> None:
    scanner: Scanner[bytes] = Scanner("qwen3")
    text, fed, busy = b"word " * 400_000, list[int](), list[RuntimeError]()
    deadline = time.monotonic() + 60

    def work() -> None:
        for turn in itertools.count():
            if turn >= 20 and (busy or time.monotonic() > deadline):
                return
            try:
                fed.append(len(scanner.split(text).content))
            except RuntimeError as error:
                busy.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(fed) == {len(text)} and scanner.counts("content").bytes == sum(fed)
    assert busy and {type(error) for error in busy} == {libaside.BusyError}


def test_a_scanner_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(Scanner("qwen3"))


def test_many_scanners_leave_nothing() -> None:
    import resource

    def make(count: int) -> int:
        for _ in range(count):
            scanner: Scanner[str] = Scanner("inline-think")
            scanner.split("<think>a</thi")
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    first = make(10_000)
    assert make(100_000) - first < 4096, "kilobytes"


def test_the_other_way() -> None:
    joined_text = libaside.join("Twice 21.", "It is 42.", dialect="qwen3")
    assert libaside.strip(joined_text, "qwen3") == "It is 42."
    assert libaside.strip(joined_text.encode(), "qwen3") == b"It is 42."
    call = {"name": "weather", "arguments": {"city": "Oslo"}}
    entry = {"type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    written = [libaside.join("", "", dialect="qwen3", calls=calls) for calls in ([call], [entry])]
    assert written[0] == written[1] and '"weather"' in written[0]
    with pytest.raises(libaside.JoinError) as error:
        libaside.join("It says </think> here.", "", dialect="qwen3")
    assert (error.value.part, error.value.offset) == ("thinking", 8)
    assert libaside.escape("a < b, <think>", "qwen3") == "a < b, <\u200bthink>"


def test_none_is_named_in_a_feed_and_skipped_in_a_stream() -> None:
    none: Any = None
    with pytest.raises(TypeError, match="^text must be str or bytes, not None"):
        Scanner("qwen3").feed(none)
    texts = ["<think>hm", None, "</think>Yes.", None]
    assert list(split_iter(texts, "qwen3")) == [("thinking", "hm"), ("content", "Yes.")]

    async def stream() -> AsyncIterator[str | None]:
        for text in texts:
            yield text

    async def pairs() -> list[tuple[str, str]]:
        return [pair async for pair in split_aiter(stream(), "qwen3")]

    assert asyncio.run(pairs()) == [("thinking", "hm"), ("content", "Yes.")]


def test_a_dialect_is_pickled() -> None:
    toml = 'name = "mine"\n[[span]]\nchannel = "thinking"\nopen = ["[["]\nclose = ["]]"]'
    for dialect in [Dialect.find("qwen3"), Dialect.find_for_model("Qwen/QwQ-32B"), Dialect.load(toml)]:
        copy = pickle.loads(pickle.dumps(dialect))
        assert (copy.name, copy.start, copy.max_hold) == (dialect.name, dialect.start, dialect.max_hold)
    with pytest.raises(TypeError, match="pickle the one that it was made with"):
        pickle.dumps(Scanner("qwen3").dialect)
