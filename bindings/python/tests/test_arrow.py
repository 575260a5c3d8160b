"""Columns of pyarrow and polars, against the functions for single texts."""

from __future__ import annotations

import importlib
import threading
import time
from typing import Any

import pytest
from libaside import AsideError, Compressor, UnknownDialectError, arrow, split, strip

# Neither has types that are strict enough.
pa: Any = importlib.import_module("pyarrow")
pl: Any = importlib.import_module("polars")

TEXTS: list[str | None] = [
    "<think>\nTwice 21.\n</think>\n\nIt is 42.",
    None,
    "",
    "It is 42.",
    "no opener</think>Yes.",
    "<think>日本</think>" + "é" * 100,
    "<think>never ends",
] * 40


def wanted() -> tuple[list[str | None], list[str | None]]:
    parts = [None if text is None else split(text, "qwen3") for text in TEXTS]
    return [part and part.thinking for part in parts], [part and part.content for part in parts]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_arrays_of_pyarrow(kind: Any) -> None:
    array: Any = pa.array(TEXTS, kind)
    for thinking, content in [arrow.split(array, "qwen3")]:
        assert isinstance(thinking, pa.Array) and thinking.type == content.type == kind
        assert (thinking.to_pylist(), content.to_pylist()) == wanted()
    # A slice has an offset.
    thinking, content = arrow.split(array[3:50], "qwen3")
    assert thinking.to_pylist() == wanted()[0][3:50] and content.to_pylist() == wanted()[1][3:50]


def test_chunked_arrays_and_tables() -> None:
    column: Any = pa.chunked_array([TEXTS[:7], [], TEXTS[7:]], pa.string())
    thinking, content = arrow.split(column, "qwen3")
    assert isinstance(thinking, pa.ChunkedArray) and thinking.num_chunks == 3
    assert (thinking.to_pylist(), content.to_pylist()) == wanted()
    table = pa.table({"text": column}).append_column("thinking", thinking)
    assert table.num_rows == len(TEXTS)
    assert arrow.split(pa.chunked_array([], pa.string()), "qwen3")[0].to_pylist() == []


def test_series_of_polars() -> None:
    series = pl.Series("text", TEXTS)
    thinking, content = arrow.split(series, "qwen3")
    assert isinstance(thinking, pl.Series) and thinking.dtype == pl.String and thinking.name == "text"
    assert (thinking.to_list(), content.to_list()) == wanted()


def test_objects_of_any_library() -> None:
    class Column:
        def __init__(self, array: Any) -> None:
            self.array = array

        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return self.array.__arrow_c_array__(requested_schema)

    answers: Any = arrow.strip(Column(pa.array(["<think>a</think> b"])), "qwen3")
    assert pa.chunked_array(answers).to_pylist() == ["b"]


def test_answers_and_starts() -> None:
    texts = [text for text in TEXTS if text is not None]
    assert arrow.strip(pa.array(texts), "qwen3").to_pylist() == [strip(text, "qwen3") for text in texts]
    thinking, content = arrow.split(pa.array(["hm</think>Yes."]), "qwen3", start="thinking")
    assert (thinking.to_pylist(), content.to_pylist()) == (["hm"], ["Yes."])


def test_results_of_tools() -> None:
    compressor = Compressor(budget=1024)
    log = "".join(f"compiling unit {n}\n" for n in range(500)) + "main.c:3:1: error: no\n"
    call = {"command": "make", "exit_code": 2}
    made = arrow.compress(pa.array([log, None, "short"]), compressor, tool_id="bash", input=call).to_pylist()
    assert made == [compressor.compress(log, tool_id="bash", input=call).text, None, "short"]


def test_what_is_not_a_column_of_strings() -> None:
    with pytest.raises(AsideError, match="an array of strings is needed .* not of Int64"):
        arrow.split(pa.array([1, 2]), "qwen3")
    with pytest.raises(UnknownDialectError):
        arrow.split(pa.array(["a"]), "quen3")
    with pytest.raises((TypeError, ValueError)):
        no_column: Any = ["a"]
        arrow.split(no_column, "qwen3")


def test_other_threads_go_on() -> None:
    array = pa.array(["<think>" + "word " * 2000 + "</think>Yes."] * 5000)
    ticks, is_over = [0], threading.Event()

    def other() -> None:
        while not is_over.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=other)
    thread.start()
    time.sleep(0.01)
    before = ticks[0]
    arrow.split(array, "qwen3")
    after = ticks[0]
    is_over.set()
    thread.join()
    # With the lock, one or two ticks could come while the call begins and ends.
    assert after - before > 5
