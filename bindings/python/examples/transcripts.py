"""Code that the examples for stored text share: a set of transcripts, and the function that Ray, polars and Spark all call."""

from __future__ import annotations

from typing import Any

from libaside import Compressor, arrow

DIALECT = "qwen3"
LOG = "".join(f"compiling unit {number}\n" for number in range(200))


def transcripts(rows: int) -> dict[str, list[str]]:
    """Return two columns of a store of transcripts: the answers of a model, and the output of the tool that it called."""
    return {
        "answer": [f"<think>\nTwice {row}.\n</think>\n\nIt is {2 * row}." for row in range(rows)],
        "result": [f"{LOG}main.c:{row}:1: error: unknown type name 'item'\n" for row in range(rows)],
    }


def split_and_squeeze(answers: Any, results: Any) -> tuple[Any, Any, Any]:
    """Return three columns: the thinking of answers, their content, and shortened tool results."""
    thinking, content = arrow.split(answers, DIALECT)
    call = {"command": "make", "exit_code": 2}
    return thinking, content, arrow.compress(results, Compressor(budget=1024), tool_id="bash", input=call)
