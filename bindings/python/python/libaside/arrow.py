"""Whole columns of stored text at once: pyarrow's arrays, polars' series, and every other object with Arrow's interface for
Python (`__arrow_c_array__` or `__arrow_c_stream__`).

    >>> import pyarrow as pa
    >>> from libaside import arrow
    >>> thinking, content = arrow.split(pa.array(["<think>hm</think>Yes.", None]), "qwen3")
    >>> thinking.to_pylist(), content.to_pylist()
    (['hm', None], ['Yes.', None])

The types of columns are `string`, `large_string` and `string_view`, also in the columns of texts that are returned. A dictionary of
one of these types is read as its values, and a column of the type `null` as strings. Nulls stay null.

`dialect` is a dialect or its name, for all rows, or a column as long as `array` that names the dialect of each row. If the name in
a row is null, the result is null too.

    >>> arrow.strip(pa.array(["<think>hm</think>Yes.", "[THINK]hm[/THINK]Yes."]), pa.array(["qwen3", "mistral"])).to_pylist()
    ['Yes.', 'Yes.']

The returned columns belong to the same library as `array`: they are pyarrow's arrays and chunked arrays, or polars' series. For any
other library, they are objects with `__arrow_c_stream__`. No other library is needed.

The interpreter's lock is released while a column is read, so that threads can run at the same time.
"""

from __future__ import annotations

import importlib
from typing import Any, Literal, TypeVar

from . import _libaside
from ._libaside import Compressor, Dialect

__all__ = ["compress", "spans", "split", "strip"]

_Column = TypeVar("_Column")
_Start = Literal["content", "thinking", "narration", "tool", "header"]


def split(array: _Column, dialect: Dialect | str | object, *, start: _Start | None = None) -> tuple[_Column, _Column]:
    """Return the thinking and the content of each text, as columns as long as `array`.

    The content includes narration. The text of tool calls is in neither column; `libaside.split` returns it.
    Raises AsideError for a column that is not of strings, and UnknownDialectError.
    """
    thinking, content = _libaside.arrow_split(_readable(array), dialect, start=start)
    return _like(array, thinking), _like(array, content)


def spans(array: _Column, dialect: Dialect | str | object, *, start: _Start | None = None) -> _Column:
    """Return the parts of each text that are text of a channel, as `libaside.spans` does: a column of lists, whose entries have a
    `channel`, and `start` and `end` in characters. A mask over a tokenizer's offsets can be made from these without a copy of the
    texts.

    >>> import pyarrow as pa
    >>> from libaside import arrow
    >>> arrow.spans(pa.array(["<think>é</think>Yes."]), "qwen3").to_pylist()[0][1]
    {'channel': 'content', 'start': 16, 'end': 20}
    """
    return _like(array, _libaside.arrow_spans(_readable(array), dialect, start=start))


def strip(array: _Column, dialect: Dialect | str | object) -> _Column:
    """Return the answer of each text, without white space around it, as `libaside.strip` does."""
    return _like(array, _libaside.arrow_strip(_readable(array), dialect))


def compress(array: _Column, compressor: Compressor, *, tool_id: str, input: object) -> _Column:
    """Return each text as `Compressor.compress` shortens it. `tool_id` and `input` describe the tool that printed all of them."""
    return _like(array, _libaside.arrow_compress(_readable(array), compressor, tool_id=tool_id, input=input))


def _readable(array: Any) -> Any:
    """Return a column that Arrow's libraries can read: they refuse a column of only nulls as polars exports it."""
    if type(array).__module__.partition(".")[0] != "polars" or str(array.dtype) != "Null":
        return array
    polars: Any = importlib.import_module("polars")
    return array.cast(polars.String)


def _like(array: _Column, made: Any) -> _Column:
    """Return a column of the same library as `array`."""
    library = type(array).__module__.partition(".")[0]
    result = made
    if library == "pyarrow":
        chunked: Any = importlib.import_module("pyarrow").chunked_array(made)
        result = chunked if hasattr(array, "chunks") else chunked.combine_chunks()
    elif library == "polars":
        polars: Any = importlib.import_module("polars")
        result = polars.Series(made).alias(getattr(array, "name", ""))
    typed: _Column = result
    return typed
