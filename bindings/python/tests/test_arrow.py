"""Compares columns of pyarrow and polars with the functions for single texts."""

from __future__ import annotations

import importlib
import threading
import time
from typing import Any

import pytest
from libaside import AsideError, Compressor, UnknownDialectError, arrow, spans, split, strip

# Neither library's type annotations are strict enough.
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


def test_a_dialect_for_each_row() -> None:
    texts = ["<think>a</think>b", "[THINK]a[/THINK]b", None, "<think>a</think>b", "<think>a</think>b"]
    names = ["qwen3", "mistral", "qwen3", None, "qwen3"]
    columns: list[tuple[Any, Any]] = [
        (pa.array(texts), pa.array(names)),
        (pa.array(texts), pa.array(names).dictionary_encode()),
        (pa.chunked_array([texts[:2], [], texts[2:]]), pa.chunked_array([names[:3], names[3:]])),
        (pl.Series(texts), pl.Series(names)),
    ]
    for column, dialects in columns:
        thinking, content = arrow.split(column, dialects)
        assert [pl.Series(made).to_list() for made in (thinking, content, arrow.strip(column, dialects))] == [
            ["a", "a", None, None, "a"],
            ["b", "b", None, None, "b"],
            ["b", "b", None, None, "b"],
        ]
    with pytest.raises(UnknownDialectError):
        arrow.split(pa.array(["a"]), pa.array(["quen3"]))
    with pytest.raises(AsideError, match="the column of dialects has 1 rows, and that of texts 2"):
        arrow.split(pa.array(["a", "b"]), pa.array(["qwen3"]))
    assert arrow.split(pa.array([], pa.string()), pa.array([], pa.string()))[0].to_pylist() == []


def test_dictionaries_and_columns_of_nulls() -> None:
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        array: Any = pa.array(TEXTS, pa.string()).dictionary_encode().cast(pa.dictionary(pa.int32(), kind))
        thinking, content = arrow.split(array, "qwen3")
        assert thinking.type == kind and (thinking.to_pylist(), content.to_pylist()) == wanted()
    # A null may also be a value of the dictionary, and the dictionary may be empty.
    with_null: Any = pa.DictionaryArray.from_arrays([1, 0, None], ["a", None])
    assert arrow.strip(with_null, "qwen3").to_pylist() == [None, "a", None]
    empty: Any = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.string()))
    assert arrow.strip(empty, "qwen3").to_pylist() == [None]
    nulls: Any = arrow.strip(pa.nulls(3), "qwen3")
    assert nulls.type == pa.string() and nulls.to_pylist() == [None, None, None]
    assert arrow.strip(pl.Series(["a", "b"], dtype=pl.Categorical), "qwen3").to_list() == ["a", "b"]
    assert arrow.strip(pl.Series([None, None]), "qwen3").to_list() == [None, None]


def test_spans_in_characters() -> None:
    for column in (pa.array(TEXTS), pa.chunked_array([TEXTS[:9], TEXTS[9:]])):
        found: Any = arrow.spans(column, "qwen3")
        rows = [row and [tuple(span.values()) for span in row] for row in found.to_pylist()]
        assert rows == [None if text is None else spans(text, "qwen3") for text in TEXTS]
    first, second = arrow.spans(pl.Series(["<think>é</think>b"]), "qwen3").to_list()[0]
    assert first == {"channel": "thinking", "start": 7, "end": 8}
    assert second == {"channel": "content", "start": 16, "end": 17}
    assert arrow.spans(pa.array(["a</think>b"]), pa.array(["qwen3"]), start="thinking").to_pylist()[0][0]["end"] == 1


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
    # If the lock were held, there could be only one or two ticks, while the call begins and ends.
    assert after - before > 5
