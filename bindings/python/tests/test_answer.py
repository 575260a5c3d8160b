"""Tests the answer: its parts, every cut, the form of the text, options, threads, and errors."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Iterable
from typing import Any, Literal

import pytest

import libaside
from libaside import Answer, Part

GOOD = '<tool_call>\n{"name":"f","arguments":{"a":1}}\n</tool_call>'

Call = tuple[str, str, bool]


def message(parts: Iterable[Part[str]]) -> tuple[str, str, list[Call]]:
    """Return the thinking and the content of parts, and for each call its name, its arguments and whether it is whole."""
    texts, calls = {"thinking": "", "content": ""}, list[Call]()
    for part in parts:
        if part.kind == "call":
            calls.append((part.name, "", False))
        elif part.kind == "arguments":
            name, arguments, is_whole = calls[part.index]
            calls[part.index] = (name, arguments + part.text, is_whole)
        elif part.kind == "call_end":
            calls[part.index] = (*calls[part.index][:2], part.is_whole)
        elif part.kind == "moved":
            assert part.to_channel and part.from_channel != part.to_channel
            moved = texts["thinking"] + texts["content"]
            texts = {"thinking": "", "content": "", part.to_channel: moved}
        elif part.kind != "budget":
            texts[part.kind] += part.text
    return texts["thinking"], texts["content"], calls


def read(
    text: str, dialect: str = "qwen3", reason: Literal["unknown", "ended", "cut_off"] = "ended", **options: Any
) -> tuple[str, str, list[Call]]:
    """Return the result of a text, checked to be the same at every cut."""
    answer: Answer[str] = Answer(dialect, **options)
    whole = message(answer.feed(text) + answer.finish(reason))
    for size in (1, 2, 3, 7):
        parts = [part for at in range(0, len(text), size) for part in answer.feed(text[at : at + size])]
        assert message(parts + answer.finish(reason)) == whole
    return whole


def test_text_that_is_no_call_is_content() -> None:
    odd = '<tool_call>\n{"name": 5, "arguments": {"city": "Oslo"}}\n</tool_call>'
    assert read(odd) == ("", odd, [])
    cut = 'Yes.\n<tool_call>\n{"name": "f", "argum'
    assert read(cut) == ("", cut, [])
    broken = '<tool_call>\n{"nme":"f"}\n</tool_call>'
    assert read(f"{GOOD}\n{broken}") == ("", broken, [("f", '{"a":1}', True)])


def test_calls_as_a_host_wants_them() -> None:
    tools = [{"name": "f", "parameters": {"properties": {"list": {"type": "array"}}}}]
    text = '<tool_call>{"name": "f", "arguments": {"list": "[1]"}}</tool_call><tool_call>{"name": "g", "arguments": {"x": 1'
    first = ("f", '{"list": "[1]"}', True)
    assert read(text, tools=tools)[2] == [first]
    assert read(text, tools=[])[2] == []
    assert read(text, tools=json.dumps(tools), unknown_tool="tell")[2] == [first, ("g", '{"x": 1', False)]
    assert read(text, tools=tools, unknown_tool="tell", not_whole="hold")[2] == [first]
    assert read(text, tools=tools, unknown_tool="tell", max_calls=1, implied_end="off")[2] == [first]
    assert read(text, tools=tools, repair_arguments=True)[2] == [("f", '{"list": [1]}', True)]
    assert read('{"x": 1}', start_call="f")[2] == [("f", '{"x": 1}', True)]


def test_a_part_has_all_that_is_known() -> None:
    answer = Answer("qwen3", id_prefix="call_7_")
    thinking, content, call, arguments, end = answer.feed(f"<think>hm</think>Yes.{GOOD}") + answer.finish()
    assert (thinking.kind, thinking.text, content.kind, content.text) == ("thinking", "hm", "content", "Yes.")
    assert (call.index, call.id, call.is_made, call.name, call.text) == (0, "call_7_0", True, "f", "")
    assert (arguments.index, arguments.text) == (0, '{"a":1}')
    assert (end.is_whole, end.is_repaired, end.cause, end.late_id) == (True, False, "marker", None)
    assert [repr(part) for part in (content, call, arguments, end)] == [
        "Part(kind='content', text='Yes.')",
        "Part(kind='call', index=0, id='call_7_0', name='f')",
        "Part(kind='arguments', index=0, text='{\"a\":1}')",
        "Part(kind='call_end', index=0, is_whole=True)",
    ]
    [own, *_] = Answer("qwen3").feed('<tool_call>{"id": "x7", "name": "f", "arguments": {}}</tool_call>')
    assert (own.id, own.is_made) == ("x7", False)


def test_the_thinking_is_kept_dropped_or_left_in_the_content() -> None:
    text = "<think>\nhm 雪\n</think>\n\nYes."
    assert read(text) == ("hm 雪", "Yes.", [])
    assert read(text, thinking="drop") == ("", "Yes.", [])
    assert read(text, thinking="inline") == ("", text, [])


def test_calls_may_stay_in_the_content() -> None:
    call = '<tool_call>{"name": "f"}</tool_call>'
    assert read("<think>hm</think>" + call, inline_calls=True) == ("hm", call, [])


def test_text_that_was_in_the_wrong_channel() -> None:
    empty = "<think>It is 42."
    assert read(empty) == ("It is 42.", "", [])
    assert read(empty, promote_empty=True) == ("It is 42.", "It is 42.", [])
    assert read(empty, promote_empty=True, may_take_back=True) == ("", "It is 42.", [])
    assert read("hm</think>Yes.", may_take_back=True) == ("hm", "Yes.", [])
    assert read("42", "deepseek-r1") == ("42", "42", [])
    assert read("42", "deepseek-r1", "cut_off") == ("42", "", [])
    assert read("42", "deepseek-r1", keep_guessed=True) == ("42", "", [])


def test_bytes_in_are_bytes_out() -> None:
    answer: Answer[bytes] = Answer("qwen3")
    text = f"<think>größer 😀</think>雪{GOOD}".encode()
    parts = [part for at in range(len(text)) for part in answer.feed(text[at : at + 1])] + answer.finish()
    joined = {kind: b"".join(part.text for part in parts if part.kind == kind) for kind in ("thinking", "content", "arguments")}
    assert joined == {"thinking": "größer 😀".encode(), "content": "雪".encode(), "arguments": b'{"a":1}'}
    mixed: Answer[Any] = Answer("qwen3")
    mixed.feed("a")
    with pytest.raises(TypeError, match="feed str, not bytes"):
        mixed.feed(b"b")
    with pytest.raises(TypeError, match="^text must be str or bytes, not None"):
        mixed.feed(None)
    mixed.reset()
    mixed.feed(b"b")


def test_tokens_prompts_budgets_held_bytes_and_counts() -> None:
    answer = Answer("qwen3", budget=3, budget_unit="characters", budget_scope="stream")
    assert answer.start_from_prompt("<|im_start|>assistant\n<think>\n") == "thinking"
    parts = answer.feed("größer</thi")
    assert [(part.kind, part.text) for part in parts] == [("thinking", "grö"), ("budget", ""), ("thinking", "ßer")]
    assert answer.held == 5
    for late in (lambda: answer.start_from_prompt(""), lambda: answer.use_tools([])):
        with pytest.raises(libaside.AsideError):
            late()
    assert message(answer.force_close() + answer.feed("Yes <") + answer.flush() + answer.finish()) == ("</thi", "Yes <", [])
    assert answer.counts("content").bytes == 5
    with pytest.raises(libaside.AsideError, match='channel="all" is unknown'):
        answer.counts("all")  # type: ignore[arg-type]
    parts = answer.feed_tokens("<think>a</think>", [7, 1, 8], [True, False, False]) + answer.finish()
    assert (message(parts), answer.counts("thinking").tokens) == (("a</think>", "", []), 2)
    for special in ([False], []):
        with pytest.raises(libaside.AsideError):
            answer.feed_tokens("ab", [1], special)


def test_an_answer_begins_again_after_its_end() -> None:
    answer = Answer("qwen3", tools=[{"name": "f"}])

    def told() -> int:
        return len(message(answer.feed(GOOD) + answer.finish())[2])

    answer.use_tools([])
    assert (told(), told()) == (0, 1)
    answer.use_tools('[{"name": "g"}]')
    assert told() == 0
    answer.use_tools(None)
    assert told() == 1


def test_options_that_are_wrong_say_what_to_write() -> None:
    with pytest.raises(ValueError, match='not_whole="keep" is unknown: write "tell", "hold" or "text"'):
        Answer("qwen3", not_whole="keep")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="3 bytes, more than 2: list fewer tools, or set `max_tools` higher"):
        Answer("qwen3", tools="[ ]", max_tools=2)
    with pytest.raises(ValueError, match="the dialect has nothing of that kind to start in"):
        Answer("qwen3", start="narration")
    with pytest.raises(ValueError, match='reason="stop" is unknown'):
        Answer("qwen3").finish("stop")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an answer cannot be pickled"):
        pickle.dumps(Answer("qwen3"))


def test_threads_lose_nothing() -> None:
    answer: Answer[bytes] = Answer("qwen3")
    fed = list[int]()

    def work() -> None:
        for _ in range(50):
            try:
                fed.append(sum(len(part.text) for part in answer.feed(b"word " * 1000)))
            except libaside.BusyError:  # Nothing has changed.
                pass

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rest = sum(len(part.text) for part in answer.finish())
    assert sum(fed) + rest == answer.counts("content").bytes == len(fed) * 5000
