"""The functions over asynchronous streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from libaside import Compressor, Rewriter, aio

LOG = "".join(f"compiling unit {n}\n" for n in range(500)) + "main.c:3:1: error: no\n"
MAKE = {"command": "make", "exit_code": 2}


async def chunks(text: str, size: int) -> AsyncIterator[str]:
    for at in range(0, len(text), size):
        await asyncio.sleep(0)
        yield text[at : at + size]


def test_a_stream_is_split() -> None:
    async def run() -> list[tuple[str, str]]:
        return [pair async for pair in aio.split_iter(chunks("<think>hm</think>Yes.", 5), "qwen3")]

    pairs = asyncio.run(run())
    assert "".join(text for channel, text in pairs if channel == "thinking") == "hm"
    assert "".join(text for channel, text in pairs if channel == "content") == "Yes."


def test_an_answer_is_rewritten() -> None:
    body = '{"choices":[{"message":{"content":"<think>hm</think>Yes."}}]}'

    async def bytes_of() -> AsyncIterator[bytes]:
        async for chunk in chunks(body, 7):
            yield chunk.encode()

    async def run() -> bytes:
        return b"".join([out async for out in aio.rewrite(bytes_of(), Rewriter("qwen3"))])

    assert asyncio.run(run()) == b'{"choices":[{"message":{"reasoning_content":"hm","content":"Yes."}}]}'


def test_results_are_compressed() -> None:
    compressor = Compressor(budget=1024)
    for text in (LOG, LOG * 200):
        made = asyncio.run(aio.compress(text, compressor, tool_id="bash", input=MAKE))
        assert made.text == compressor.compress(text, tool_id="bash", input=MAKE).text

    async def run() -> str:
        stream = compressor.stream(tool_id="bash", input=MAKE, memory=1 << 16)
        return "".join([out async for out in aio.compress_stream(chunks(LOG, 100), stream)])

    with compressor.stream(tool_id="bash", input=MAKE, memory=1 << 16) as stream:
        assert asyncio.run(run()) == stream.feed(LOG) + stream.finish()
