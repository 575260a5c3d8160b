"""Splits the stream of a language model, and makes the output of tools shorter.

A model writes one stream of text that carries its thinking, its answer and its tool calls. The stream arrives in chunks that may be
cut anywhere, even in the middle of a marker. The same text always has the same result, however it is cut:

    >>> from libaside import split_iter
    >>> list(split_iter(["<thi", "nk>hm</thi", "nk>Yes."], "qwen3"))
    [('thinking', 'hm'), ('content', 'Yes.')]

`Answer` reads one stream, and reports thinking, content and tool calls; `Scanner` returns the text of each channel, or events,
and `Rewriter` splits the answer of a server on its way to a client. `split` and `strip` take whole texts, `join` and `escape`
write texts that can be split again, and `Compressor` shortens tool results.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Literal, TypeVar

from ._libaside import (
    AmbiguousDialectError,
    Answer,
    AsideError,
    Attribute,
    BusyError,
    Compressed,
    Compressor,
    Counts,
    Dialect,
    DialectError,
    Draft,
    Event,
    HistoryReport,
    JoinError,
    Part,
    Report,
    Rewriter,
    Scanner,
    Split,
    Stats,
    Thought,
    TokenState,
    ToolStream,
    ToolGrammar,
    UnknownDialectError,
    Vocabulary,
    __version__,
    escape,
    history_format,
    history_server,
    history_servers,
    join,
    load_history_server,
    read_request,
    request_hint,
    request_model,
    rewrite_history,
    spans,
    split,
    strip,
    wants,
)
from .types import Channel

__all__ = [
    "AmbiguousDialectError",
    "Answer",
    "AsideError",
    "Attribute",
    "BusyError",
    "Compressed",
    "Compressor",
    "Counts",
    "Dialect",
    "DialectError",
    "Draft",
    "Event",
    "HistoryReport",
    "JoinError",
    "Part",
    "Report",
    "Rewriter",
    "Scanner",
    "Split",
    "Stats",
    "Thought",
    "TokenState",
    "ToolStream",
    "ToolGrammar",
    "UnknownDialectError",
    "Vocabulary",
    "__version__",
    "escape",
    "history_format",
    "history_server",
    "history_servers",
    "join",
    "load_history_server",
    "read_request",
    "request_hint",
    "request_model",
    "rewrite_history",
    "spans",
    "split",
    "split_aiter",
    "split_iter",
    "strip",
    "wants",
]

_Text = TypeVar("_Text", str, bytes)


_Start = Literal["content", "thinking", "narration", "tool", "header"]


def _pairs(events: list[Event[_Text]]) -> Iterator[tuple[Channel, _Text]]:
    for event in events:
        if event.kind == "text" or (event.channel == "tool" and event.kind.startswith("call")):
            if event.text:
                yield event.channel, event.text


def split_iter(
    texts: Iterable[_Text | None], dialect: Dialect | str, *, start: _Start | None = None
) -> Iterator[tuple[Channel, _Text]]:
    """Yield pairs of a channel and a text, as soon as each is known. `texts` is a stream, cut anywhere. None in the
    stream is skipped, because the content of a delta of OpenAI's API is None if the delta has something else.

    >>> from libaside import split_iter
    >>> list(split_iter(["hm</th", "ink>Yes."], "qwen3", start="thinking"))
    [('thinking', 'hm'), ('content', 'Yes.')]
    """
    scanner: Scanner[_Text] = Scanner(dialect, start=start)
    for text in texts:
        if text is not None:
            yield from _pairs(scanner.feed(text))
    yield from _pairs(scanner.finish())


async def split_aiter(
    texts: AsyncIterable[_Text | None], dialect: Dialect | str, *, start: _Start | None = None
) -> AsyncIterator[tuple[Channel, _Text]]:
    """Yield pairs of a channel and a text, as `split_iter` does, from an asynchronous stream.

    >>> import asyncio
    >>> from libaside import split_aiter
    >>> async def main():
    ...     async def stream():
    ...         for text in ["<thi", "nk>hm</think>", "Yes."]:
    ...             yield text
    ...     return [pair async for pair in split_aiter(stream(), "qwen3")]
    >>> asyncio.run(main())
    [('thinking', 'hm'), ('content', 'Yes.')]
    """
    scanner: Scanner[_Text] = Scanner(dialect, start=start)
    async for text in texts:
        if text is None:
            continue
        for pair in _pairs(scanner.feed(text)):
            yield pair
    for pair in _pairs(scanner.finish()):
        yield pair
