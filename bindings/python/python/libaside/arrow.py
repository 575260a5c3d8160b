"""Whole columns of stored text at once: pyarrow's arrays, polars' series, and every other object that speaks Arrow's interface for
Python (`__arrow_c_array__` or `__arrow_c_stream__`).

    >>> import pyarrow as pa
    >>> from libaside import arrow
    >>> thinking, content = arrow.split(pa.array(["<think>hm</think>Yes.", None]), "qwen3")
    >>> thinking.to_pylist(), content.to_pylist()
    (['hm', None], ['Yes.', None])

A column has one of the types `string`, `large_string` and `string_view`, and so have those that come out. Nulls stay null. What
comes out is of the library that what went in is of: pyarrow's arrays and chunked arrays, polars' series, and for any other an object
with `__arrow_c_stream__`. No library is needed but the one that the column is of.

The interpreter's lock is released while a column is read, so that threads work side by side.
"""

from __future__ import annotations

import importlib
from typing import Any, Literal, TypeVar

from . import _libaside
from ._libaside import Compressor, Dialect

__all__ = ["compress", "split", "strip"]

_Column = TypeVar("_Column")
_Start = Literal["content", "thinking", "narration", "tool", "header"]


def split(array: _Column, dialect: Dialect | str, *, start: _Start | None = None) -> tuple[_Column, _Column]:
    """Return the thinking and the content of each text, as columns as long as `array`.

    The content has narration too. The text of tool calls is in neither: `libaside.split` has it.
    Raises AsideError for a column that is not of strings, and UnknownDialectError.
    """
    thinking, content = _libaside.arrow_split(array, dialect, start=start)
    return _like(array, thinking), _like(array, content)


def strip(array: _Column, dialect: Dialect | str) -> _Column:
    """Return the answer of each text, without white space around it, as `libaside.strip` does."""
    return _like(array, _libaside.arrow_strip(array, dialect))


def compress(array: _Column, compressor: Compressor, *, tool_id: str, input: object) -> _Column:
    """Return each text as `Compressor.compress` shortens it. `tool_id` and `input` say what printed all of them."""
    return _like(array, _libaside.arrow_compress(array, compressor, tool_id=tool_id, input=input))


def _like(array: _Column, made: Any) -> _Column:
    """Return a column in the library of `array`."""
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
