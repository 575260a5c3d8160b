"""Tests arguments that are words: the stub lists the words that the compiled module takes, and a wrong word is refused with
advice."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import libaside
import pytest
from libaside import Answer, AsideError, Rewriter, Scanner

TYPES = (files("libaside") / "types.py").read_text()


def words(alias: str) -> list[str]:
    """Return the words of one of the literals in `types`."""
    found = re.search(rf"^{alias}: TypeAlias = Literal\[(.*?)\]", TYPES, re.MULTILINE | re.DOTALL)
    assert found, alias
    return re.findall(r'"(\w+)"', found[1])


def scanner(**options: Any) -> object:
    return Scanner("qwen3", **options)


def answer(**options: Any) -> object:
    return Answer("qwen3", **options)


def rewriter(**options: Any) -> object:
    return Rewriter("qwen3", **options)


def join(**options: Any) -> object:
    return libaside.join("", "", dialect="qwen3", **options)


def wants(**options: Any) -> object:
    return libaside.wants(200, "/v1/messages", "application/json", **options)


def rewrite_history(**options: Any) -> object:
    given: dict[str, Any] = {"format": "chat", "dialect": "qwen3", **options}
    return libaside.rewrite_history("{}", **given)


def counts(**options: Any) -> object:
    counting: Scanner[str] = Scanner("qwen3")
    return counting.counts(**options)


TAKERS: list[tuple[Callable[..., object], str, str]] = [
    (scanner, "calls_in_thinking", "CallsInThinking"),
    (scanner, "stray_close", "StrayClose"),
    (rewriter, "calls_in_thinking", "CallsInThinking"),
    (rewriter, "stray_close", "StrayClose"),
    (rewriter, "field", "Field"),
    (rewriter, "body", "Body"),
    (rewriter, "formats", "Format"),
    (rewriter, "responses_as", "ResponsesAs"),
    (rewriter, "normalise", "Shape"),
    (rewriter, "thinking", "Thinking"),
    (rewriter, "comments", "Comments"),
    (rewrite_history, "format", "HistoryFormat"),
    (rewrite_history, "name", "HistoryName"),
    (rewrite_history, "turns", "HistoryTurns"),
    (rewrite_history, "missing", "HistoryMissing"),
    (rewrite_history, "made", "HistoryMade"),
    (answer, "stray_close", "StrayClose"),
    (answer, "thinking", "Thinking"),
    (answer, "budget_unit", "BudgetUnit"),
    (answer, "budget_scope", "BudgetScope"),
    (answer, "not_whole", "NotWhole"),
    (answer, "unknown_tool", "UnknownTool"),
    (answer, "implied_end", "ImpliedEnd"),
    (rewriter, "not_whole", "NotWhole"),
    (rewriter, "unknown_tool", "UnknownTool"),
    (rewriter, "implied_end", "ImpliedEnd"),
    (wants, "formats", "Format"),
    (join, "markers", "Markers"),
    (counts, "channel", "Channel"),
]


@pytest.mark.parametrize(("make", "argument", "alias"), TAKERS)
def test_words_are_those_of_the_stub(make: Callable[..., object], argument: str, alias: str) -> None:
    known = words(alias)
    assert len(known) > 1
    for word in known:
        make(**{argument: word})
    *others, last = [f'"{word}"' for word in known]
    advice = f'{argument}="Dialect" is unknown: write {", ".join(others)} or {last}'
    with pytest.raises(AsideError) as error:
        make(**{argument: "Dialect"})
    assert str(error.value) == advice


@pytest.mark.parametrize("make", [scanner, answer, rewriter])
@pytest.mark.parametrize("argument", ["calls_in_thinking", "stray_close"])
@pytest.mark.parametrize("value", [True, False, None])
def test_a_word_is_no_bool(make: Callable[..., object], argument: str, value: object) -> None:
    with pytest.raises(TypeError, match="is not an instance of 'str'"):
        make(**{argument: value})


def test_literals_in_the_package_are_those_of_the_stub() -> None:
    from libaside import _engine, arrow

    for literal, alias in [
        (libaside._Start, "Start"),  # pyright: ignore[reportPrivateUsage]
        (arrow._Start, "Start"),  # pyright: ignore[reportPrivateUsage]
        (_engine.Start, "Start"),
    ]:
        # Only answers and rewriters read calls without markers.
        assert list(typing.get_args(literal)) == [word for word in words(alias) if word != "calls"]


def test_starts_are_those_of_the_stub() -> None:
    starts = {start for name in libaside.Dialect.names() for start in libaside.Dialect.find(name).starts}
    assert starts == set(words("Start")) - {"calls"}
    with pytest.raises(AsideError, match="end"):
        scanner(start="end")


def test_causes_kinds_and_channels_are_those_of_the_stub() -> None:
    text = '<think>a</think>b<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call><think>'
    scanner: Scanner[str] = Scanner("qwen3", calls=True, budget=0)
    events = scanner.feed(text) + scanner.finish()
    assert {event.kind for event in events} <= set(words("Kind"))
    assert {event.channel for event in events} <= set(words("Channel"))
    assert {event.cause for event in events if event.cause} == {"marker", "end_of_stream"} <= set(words("Cause"))
    parts = Answer("qwen3").feed(text)
    assert {part.kind for part in parts} == {"thinking", "content", "call", "arguments", "call_end"} < set(words("PartKind"))
