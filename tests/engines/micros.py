"""The microseconds that an engine's parser takes for a token of a stream, its own and libaside's in its place, in turns in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

WORDS = "so the next step of the plan is to read it "
RUNS = 5


def tokens(count: int) -> list[str]:
    """Return an answer of about so many tokens of four characters: thinking, and then a few of content."""
    thinking = (WORDS * (count * 4 // len(WORDS) + 1))[: count * 4 - 400]
    text = "<think>\n" + thinking + "\n</think>\n\n" + "The answer is 42. " * 22
    return [text[at : at + 4] for at in range(0, len(text), 4)]


def print_micros(engine: str, own: Callable[[], Callable[[str], Any]], ours: Callable[[], Callable[[str], Any]]) -> None:
    """Print the least of several runs for each. Both functions begin an answer, and return what is called for each token."""
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
