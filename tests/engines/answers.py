"""Answers as a model of a dialect writes them, by `libaside.join`: their text, and the parts that an engine's parser must find in
it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import libaside

# The lengths of the pieces into which an answer is cut, in characters. The last one is the whole answer.
SIZES = (1, 3, 7, 10**6)

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
TOOLS = [{"name": "get_weather", "parameters": SCHEMA}, {"name": "search", "parameters": SCHEMA}]
ONE = [{"name": "get_weather", "arguments": {"city": "Zürich", "days": 3}}]
TWO = [*ONE, {"name": "search", "arguments": {"city": "a < b"}}]


class Said(NamedTuple):
    """The parts of an answer, without blanks at their ends."""

    reasoning: str
    content: str
    calls: list[tuple[str, Any]]


class Answer(NamedTuple):
    dialect: str
    is_thinking: bool
    """Whether the text begins inside the reasoning."""
    wanted: Said
    text: str

    def __str__(self) -> str:
        return f"{self.dialect}, {'thinking' if self.is_thinking else 'content'}, {self.text!r}"


def value(text: str) -> Any:
    """Return arguments as a value, or unchanged if they are not JSON."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def written(dialects: Iterable[str]) -> Iterator[Answer]:
    """Write answers in these dialects."""
    for name in dialects:
        dialect = libaside.Dialect.find(name)
        for start in ("thinking", "content"):
            if start not in dialect.starts:
                continue
            for thinking in ("", "Hm < 3.\nSo."):
                for content in ("", "It is 42."):
                    for calls in ([], ONE, TWO):
                        if not (thinking or content or calls):
                            continue
                        try:
                            text = libaside.join(thinking, content, dialect=dialect, start=start, calls=calls or None)
                        except (ValueError, libaside.AsideError):  # The dialect cannot write this answer.
                            continue
                        wanted = Said(thinking, content, [(call["name"], call["arguments"]) for call in calls])
                        yield Answer(name, start == "thinking", wanted, text)


# The choices of a tool that are tried, and whether several calls are allowed.
CHOICES = [("required", True), ("required", False), ("get_weather", True), ("auto", True), ("auto", False)]
# The turn's beginning, which a prompt has.
TURN = re.compile(r"^<\|(\w+\|>assistant|message_model\|>)")


def check_thinking(engine: str, tag_of: Callable[[str, str, bool, bool], Any]) -> None:
    """Check the structural tags with thinking that an engine gets for all dialects that think, on answers that the dialects write."""
    from xgrammar import Grammar
    from xgrammar.testing import _is_grammar_accept_string as accepts

    wrong, count, dialects = [], 0, 0
    for name in libaside.Dialect.names():
        dialect = libaside.Dialect.find(name)
        start = "header" if dialect.start == "header" else "content"
        try:
            text = TURN.sub("", libaside.join("Hm < 3.\nSo.", "", dialect=dialect, start=start, calls=ONE))
        except libaside.AsideError:  # The dialect writes no calls, or no thinking.
            continue
        # `join` closes hyperclova-x's thinking before the call; models leave that to the opener of the call.
        if name in ("any", "hyperclova-x"):
            continue
        dialects += 1
        for choice, is_parallel in CHOICES:
            for one, has_thinking, is_right in [
                (text, True, True),
                (text, False, choice == "auto"),
                (text.replace("get_weather", "get_time"), True, False),
            ]:
                count += 1
                if accepts(Grammar.from_structural_tag(tag_of(name, choice, is_parallel, has_thinking)), one) != is_right:
                    wrong.append(f"{name}, {choice}, {is_parallel}: {one!r} is {'not ' if is_right else ''}accepted")
    print(f"{engine} grammars with thinking: of {count} texts of {dialects} dialects, {len(wrong)} are judged wrongly")
    assert not wrong and dialects > 30, "\n".join(wrong)


def check_grammars(engine: str, tag_of: Callable[[str, str, bool], Any]) -> None:
    """Check the structural tags that an engine gets for the calls of all dialects, on calls that the dialects write. `tag_of` returns
    the tag for a dialect, a choice of a tool, and whether several calls are allowed; None without a grammar."""
    from xgrammar import Grammar
    from xgrammar.testing import _is_grammar_accept_string as accepts

    wrong, dialects = [], 0
    for name in libaside.Dialect.names():
        dialect = libaside.Dialect.find(name)
        start = "header" if dialect.start == "header" else "content"
        try:
            written = [libaside.join("", "", dialect=dialect, start=start, calls=calls) for calls in (ONE, TWO)]
        except libaside.AsideError:  # The dialect writes no calls.
            continue
        # A prompt has begun the turn.
        one, two = (TURN.sub("", text) for text in written)
        before = "" if start == "header" else "Well. "
        for choice, is_parallel in CHOICES:
            tag = tag_of(name, choice, is_parallel)
            if (tag is None) != (name == "any"):
                wrong.append(f"{name}, {choice}: {'no' if tag is None else 'a'} grammar")
                continue
            if tag is None:
                continue
            grammar = Grammar.from_structural_tag(tag)
            free = before if choice == "auto" else ""
            several = is_parallel and choice != "get_weather"
            for text, is_right in [(one, True), (two, several), (one.replace("get_weather", "get_time"), False)]:
                if accepts(grammar, free + text) != is_right:
                    wrong.append(f"{name}, {choice}, {is_parallel}: {free + text!r} is {'not ' if is_right else ''}accepted")
        dialects += name != "any"
    print(f"{engine} grammars: of {dialects} dialects, {len(wrong)} texts are judged wrongly")
    assert not wrong and dialects > 45, "\n".join(wrong)
