"""What the entry files for engines share: which dialect a model is read in, and how a stream becomes reasoning and content.

An engine hands a tool parser the content that comes out of a reasoning parser, so tool calls stay in the content here, with their
markers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, Protocol

from ._libaside import AsideError, Dialect, Event, Scanner, UnknownDialectError, join

Start = Literal["content", "thinking", "narration", "tool", "header"]

# The end of a prompt that says what is open there.
PROMPT_TOKENS = 256


class Tokenizer(Protocol):
    """What is asked of an engine's tokenizer."""

    def decode(self, token_ids: Sequence[int]) -> str: ...


class Piece(NamedTuple):
    """A stretch of text, as an engine tells it: reasoning, or all else."""

    is_reasoning: bool
    text: str


def choose_dialect(*models: object) -> Dialect:
    """Return the dialect of the environment variable `ASIDE_DIALECT`, else that of the first model whose name is known, else `any`."""
    if name := os.environ.get("ASIDE_DIALECT"):
        return Dialect.find(name)
    for model in models:
        try:
            if isinstance(model, str) and model:
                return Dialect.find_for_model(model)
        except UnknownDialectError:
            pass
    return Dialect.find("any")


def pieces(events: Iterable[Event[str]]) -> list[Piece]:
    """Return the text of events as reasoning and content, neighbours joined. What belongs to a tool call is content, markers included."""
    joined: list[Piece] = []
    for event in events:
        if event.channel == "thinking":
            text = event.text if event.kind == "text" else ""
        elif event.channel == "tool":
            text = event.text if event.kind in ("open", "text", "framing", "close") else ""
        else:
            text = event.text if event.kind == "text" else ""
        if not text:
            continue
        is_reasoning = event.channel == "thinking"
        if joined and joined[-1].is_reasoning == is_reasoning:
            joined[-1] = Piece(is_reasoning, joined[-1].text + text)
        else:
            joined.append(Piece(is_reasoning, text))
    return joined


def both(parts: Iterable[Piece]) -> tuple[str, str]:
    """Return the reasoning and the content of pieces."""
    parts = list(parts)
    reasoning = "".join(part.text for part in parts if part.is_reasoning)
    return reasoning, "".join(part.text for part in parts if not part.is_reasoning)


def whole(dialect: Dialect, text: str, start: Start | None) -> tuple[str, str]:
    """Return the reasoning and the content of a whole text. A text whose beginning turns out to be reasoning, or content, is read as that."""
    scanner: Scanner[str] = Scanner(dialect, start=start)
    events = scanner.feed(text) + scanner.finish()
    turn = next((at for at, event in enumerate(events) if event.kind == "reclassify"), None)
    if turn is None:
        return both(pieces(events))
    before = "".join(part.text for part in pieces(events[:turn]))
    reasoning, content = both(pieces(events[turn:]))
    if events[turn].channel == "content":
        return reasoning, before + content
    return before + reasoning, content


def markers(dialect: Dialect) -> tuple[str, str]:
    """Return what a model of this dialect writes before and after its reasoning, or `<think>` and `</think>` if it cannot be said."""
    try:
        before, rest = join("\x02", "\x03", dialect=dialect).split("\x02")
        after, _ = rest.split("\x03")
    except (AsideError, ValueError):
        return "<think>", "</think>"
    return before.strip() or "<think>", after.strip() or "</think>"
