"""The functions of the package for asyncio, over asynchronous streams. No function blocks the event loop for longer than one chunk takes.

    >>> import asyncio
    >>> from libaside import aio
    >>> async def main():
    ...     async def stream():
    ...         for text in ["<thi", "nk>hm</think>", "Yes."]:
    ...             yield text
    ...     return [pair async for pair in aio.split_iter(stream(), "qwen3")]
    >>> asyncio.run(main())
    [('thinking', 'hm'), ('content', 'Yes.')]

Scanners and rewriters need no adapter: a chunk of some bytes takes less than a microsecond.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from typing import TypeVar

from . import split_aiter as split_iter
from ._libaside import Compressed, Compressor, Rewriter, ToolStream

__all__ = ["compress", "compress_stream", "rewrite", "split_iter"]

_Text = TypeVar("_Text", str, bytes)

# The length of a text, in characters or bytes, from which on a thread does the work.
_LONG = 1 << 20


async def rewrite(answer: AsyncIterable[bytes], rewriter: Rewriter) -> AsyncIterator[bytes]:
    """Yield the bytes of an answer as `rewriter` changes them, and at the end the bytes that it held back."""
    async for chunk in answer:
        if out := rewriter.feed(chunk):
            yield out
    if out := rewriter.finish():
        yield out


async def compress(text: _Text, compressor: Compressor, *, tool_id: str, input: object) -> Compressed[_Text]:
    """Return the result of `compressor.compress`. A text of a mebibyte or more is processed in a thread."""
    if len(text) < _LONG:
        return compressor.compress(text, tool_id=tool_id, input=input)
    return await asyncio.to_thread(compressor.compress, text, tool_id=tool_id, input=input)


async def compress_stream(chunks: AsyncIterable[_Text], stream: ToolStream[_Text]) -> AsyncIterator[_Text]:
    """Yield the output of `stream` for the chunks of a tool's output. Afterwards, the stream's `report` describes the changes."""
    async for chunk in chunks:
        if out := stream.feed(chunk):
            yield out
    if out := await asyncio.to_thread(stream.finish):
        yield out
