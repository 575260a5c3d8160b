"""Transports for httpx that split a server's answers in process, for every client that is built on httpx.

    import httpx, openai
    from libaside.httpx import Transport

    client = openai.OpenAI(http_client=httpx.Client(transport=Transport("qwen3")))

A transport asks the server for an answer that is not compressed, and rewrites the answers that the options name. All other
answers stay unchanged.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx

from ._libaside import Dialect, Rewriter, request_hint, wants

__all__ = ["AsyncTransport", "Transport"]

# These headers describe the server's body, not the rewritten one.
_GONE = ("content-length", "etag", "content-md5", "digest", "repr-digest")


class _Options:
    """The code that both transports share: everything except reading the answer."""

    def __init__(self, dialect: Dialect | str, **options: Any) -> None:
        self._dialect = dialect
        self._options = options
        # Wrong options raise an error here, before the first answer.
        Rewriter(dialect, **self._options)

    def prepare(self, request: httpx.Request) -> None:
        if hint := request_hint(request.url.path, request.method, self._options.get("formats")):
            request.headers["accept-encoding"] = hint

    def rewriter(self, request: httpx.Request, response: httpx.Response) -> Rewriter | None:
        body = wants(
            response.status_code,
            request.url.path,
            response.headers.get("content-type"),
            response.headers.get("content-encoding"),
            self._options.get("formats"),
        )
        if body is None:
            return None
        for name in _GONE:
            response.headers.pop(name, None)
        return Rewriter(self._dialect, **{"body": body, **self._options})


class _Stream(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, rewriter: Rewriter) -> None:
        self._inner, self._rewriter = inner, rewriter

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            if out := self._rewriter.feed(chunk):
                yield out
        if out := self._rewriter.finish():
            yield out

    def close(self) -> None:
        self._inner.close()


class _AsyncStream(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, rewriter: Rewriter) -> None:
        self._inner, self._rewriter = inner, rewriter

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            if out := self._rewriter.feed(chunk):
                yield out
        if out := self._rewriter.finish():
            yield out

    async def aclose(self) -> None:
        await self._inner.aclose()


class Transport(httpx.BaseTransport):
    """A transport that splits answers. `inner` is the transport that carries them, by default `httpx.HTTPTransport()`. The options
    are those of `Rewriter`."""

    def __init__(self, dialect: Dialect | str, inner: httpx.BaseTransport | None = None, **options: Any) -> None:
        self._options = _Options(dialect, **options)
        self._inner = inner or httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._options.prepare(request)
        response = self._inner.handle_request(request)
        rewriter = self._options.rewriter(request, response)
        if rewriter is not None and isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _Stream(response.stream, rewriter)
        return response

    def close(self) -> None:
        self._inner.close()


class AsyncTransport(httpx.AsyncBaseTransport):
    """As `Transport`, for `httpx.AsyncClient`."""

    def __init__(self, dialect: Dialect | str, inner: httpx.AsyncBaseTransport | None = None, **options: Any) -> None:
        self._options = _Options(dialect, **options)
        self._inner = inner or httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._options.prepare(request)
        response = await self._inner.handle_async_request(request)
        rewriter = self._options.rewriter(request, response)
        if rewriter is not None and isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _AsyncStream(response.stream, rewriter)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()
