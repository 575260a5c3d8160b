"""Splits and squeezes a set of stored transcripts with polars: python examples/polars_split.py"""

from __future__ import annotations

import importlib
from typing import Any

from transcripts import split_and_squeeze, transcripts


def run(rows: int) -> Any:
    """Return a frame with the thinking, the content and the shortened result of each row."""
    polars: Any = importlib.import_module("polars")
    frame = polars.DataFrame(transcripts(rows))
    thinking, content, result = split_and_squeeze(frame["answer"], frame["result"])
    return frame.select(thinking=thinking, content=content, result=result)


if __name__ == "__main__":
    print(run(1000))
