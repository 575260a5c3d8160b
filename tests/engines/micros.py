"""Measures the microseconds for a token of a stream with an engine's own parser and with libaside's in its place, alternately in
one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

WORDS = "so the next step of the plan is to read it "
RUNS = 5


def tokens(count: int) -> list[str]:
    """Return an answer of about this many tokens of four characters: thinking, and then a few tokens of content."""
    thinking = (WORDS * (count * 4 // len(WORDS) + 1))[: count * 4 - 400]
    text = "<think>\n" + thinking + "\n</think>\n\n" + "The answer is 42. " * 22
    return [text[at : at + 4] for at in range(0, len(text), 4)]


def print_micros(engine: str, own: Callable[[], Callable[[str], Any]], ours: Callable[[], Callable[[str], Any]]) -> None:
    """Print the shortest time of several runs for each parser. Both functions begin an answer, and return the function that is
    called for each token."""
    for count in (4_000, 64_000):
        parts = tokens(count)
        least = [float("inf"), float("inf")]
        for _ in range(RUNS):
            for at, begin in enumerate((own, ours)):
                feed = begin()
                before = time.process_time()
                for part in parts:
                    feed(part)
                least[at] = min(least[at], time.process_time() - before)
        micros = [1e6 * one / len(parts) for one in least]
        print(f"{engine} µs a token at {count // 1000}k tokens: own {micros[0]:.1f}, aside {micros[1]:.1f}")
