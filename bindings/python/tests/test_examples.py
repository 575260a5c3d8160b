"""The examples for stored text that need no cluster. `scripts/test-python --long` runs the one for Ray."""

from __future__ import annotations

import sys
from pathlib import Path

from libaside import split

EXAMPLES = str(Path(__file__).parents[1] / "examples")


def test_polars() -> None:
    sys.path.insert(0, EXAMPLES)
    try:
        import polars_split
        import transcripts
    finally:
        sys.path.remove(EXAMPLES)
    frame = polars_split.run(50)
    columns = transcripts.transcripts(50)
    assert frame["thinking"].to_list() == [split(text, "qwen3").thinking for text in columns["answer"]]
    assert frame["content"].to_list() == [split(text, "qwen3").content for text in columns["answer"]]
    assert all(len(result) <= 1024 and "error: unknown type" in result for result in frame["result"])
