"""The rewriter and the transports for httpx, with the real openai client over loopback where it is installed."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import libaside
from libaside import Rewriter

TEXT = "<think>\nTwice 21.\n</think>\n\nIt is 42."


def events(size: int) -> bytes:
    pieces = [TEXT[at : at + size] for at in range(0, len(TEXT), size)]
    chunks: list[dict[str, Any]] = [{"id": "c", "choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    chunks.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks) + b"data: [DONE]\n\n"


def read(stream: bytes) -> tuple[str, str]:
    thinking = content = ""
    for line in stream.decode().splitlines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:])["choices"]:
                thinking += choice["delta"].get("reasoning_content") or ""
                content += choice["delta"].get("content") or ""
    return thinking, content


@pytest.mark.parametrize("size", [1, 7, len(TEXT)])
def test_every_cut_gives_the_same(size: int) -> None:
    stream = events(size)
    rewriter = Rewriter("qwen3")
    whole = rewriter.feed(stream) + rewriter.finish()
    assert read(whole) == ("Twice 21.", "It is 42.")
    for cut in range(0, len(stream), 11):
        assert rewriter.feed(stream[:cut]) + rewriter.feed(memoryview(stream)[cut:]) + rewriter.finish() == whole
    stats = rewriter.stats
    assert stats.thinking_bytes and stats.content_bytes and stats.events


def test_options_are_checked_with_advice() -> None:
    with pytest.raises(libaside.AsideError, match="name at least one, or leave it out for all"):
        Rewriter("qwen3", formats=[])
    with pytest.raises(TypeError, match="a word or a list of words is wanted, not int\nwhile processing 'formats'"):
        Rewriter("qwen3", formats=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Rewriter("qwen3").feed("text")  # type: ignore[arg-type]


def test_all_formats_are_read_unless_some_are_named() -> None:
    message = b'{"type":"message","role":"assistant","content":[{"type":"text","text":"<think>hm</think>Yes."}]}'
    for formats, changes in [(None, True), ("all", True), (["chat", "messages"], True), ("chat", False)]:
        rewriter = Rewriter("qwen3", formats=formats)  # type: ignore[arg-type]
        assert (b'"thinking":"hm"' in rewriter.feed(message) + rewriter.finish()) == changes, formats


def test_calls_in_the_thinking_and_stray_closers_are_as_the_options_say() -> None:
    def read(text: str, **options: Any) -> tuple[str, str]:
        rewriter = Rewriter("qwen3", **options)
        body = {"choices": [{"message": {"content": text}}]}
        answer = json.loads(rewriter.feed(json.dumps(body).encode()) + rewriter.finish())
        message = answer["choices"][0]["message"]
        return message.get("reasoning_content") or "", message.get("content") or ""

    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    assert call in read(f"<think>\nhm{call}")[1]
    assert read(f"<think>\nhm{call}", calls_in_thinking="dialect") == read(f"<think>\nhm{call}")
    assert read(f"<think>\nhm{call}", calls_in_thinking="never") == (f"hm{call}", "")
    text = "It ends</think>."
    assert read(text, stray_close="dialect") == read(text) != read(text, stray_close="text") == ("", text)
    assert read(text, stray_close="drop") == ("", text.replace("</think>", ""))


def test_the_next_answer_may_have_another_dialect_and_start() -> None:
    rewriter = Rewriter("qwen3")
    body = b'{"choices":[{"message":{"content":"hm</think>Yes."}}]}'
    split = b'{"choices":[{"message":{"reasoning_content":"hm","content":"Yes."}}]}'
    rewriter.use_dialect(None, start="thinking")
    assert rewriter.feed(body) + rewriter.finish() == split
    rewriter.use_dialect("qwen3-thinking")
    assert rewriter.feed(body) + rewriter.finish() == split
    with pytest.raises(libaside.AsideError):
        rewriter.use_dialect(None, start="narration")
    rewriter.feed(b"{")
    with pytest.raises(libaside.AsideError, match="begun"):
        rewriter.use_dialect("qwen3")


def test_the_stats_say_that_an_answer_is_encoded() -> None:
    rewriter = Rewriter("qwen3")
    assert rewriter.stats.encoded is False
    rewriter.feed(b"\x1f\x8b\x08\x00")
    assert rewriter.stats.encoded is True


def test_the_gate() -> None:
    assert libaside.wants(200, "/v1/messages", "text/event-stream") == "events"
    assert libaside.wants(200, "/v1/messages", "text/event-stream", formats="chat") is None
    assert libaside.wants(200, "/v1/messages", "application/json", "gzip") is None
    assert libaside.wants(404, "/v1/messages", "application/json") is None
    assert libaside.wants(200, "/api/chat", "application/x-ndjson", "", ["ollama"]) == "lines"
    assert libaside.request_hint("/v1/chat/completions", "POST") == "identity"
    assert libaside.request_hint("/v1/messages", "POST") == "identity"
    assert libaside.request_hint("/v1/messages", "POST", "chat") is None
    assert libaside.request_hint("/v1/models", "GET") is None
    assert libaside.request_model(b'{"model":"a"}') == "a" and libaside.request_model(b"{}") is None


def test_one_shape() -> None:
    server = b'{"choices":[{"message":{"thinking":"A","content":[{"type":"text","text":"Hi."}]}}]}'
    assert Rewriter("qwen3", normalise=["field", "lists"]).feed(server) == (
        b'{"choices":[{"message":{"reasoning_content":"A","content":"Hi."}}]}'
    )
    dropped = Rewriter("qwen3", normalise="all", thinking="drop").feed(server)
    assert dropped == b'{"choices":[{"message":{"content":"Hi."}}]}'
    text = b'{"type":"message","content":[{"type":"text","text":"<think>a</think>b"}]}'
    assert b'"aside:1:' in Rewriter("qwen3", label=True).feed(text)
    request = libaside.read_request("/v1/messages", b"{}")
    assert (request.thinks, request.thinking, request.tools) == (None, "drop", "[]")
    request = libaside.read_request("/v1/messages", b'{"thinking":{"type":"enabled"},"tools":[{"name":"f"}]}')
    assert (request.thinks, request.thinking, request.tools) == (True, "keep", '[{"name":"f"}]')


@contextmanager
def server(size: int, cut: int) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            assert self.headers["accept-encoding"] == "identity"
            stream = request.get("stream", False)
            message = {"role": "assistant", "content": TEXT}
            body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            data = events(size) if stream else json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if stream else "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            for at in range(0, len(data), cut):
                self.wfile.write(data[at : at + cut])

        def log_message(self, format: str, *args: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}/v1"
    finally:
        httpd.shutdown()
        httpd.server_close()


@pytest.mark.parametrize("cut", [1, 7, 1 << 20])
def test_the_real_client_over_loopback(cut: int) -> None:
    httpx = pytest.importorskip("httpx")
    openai = pytest.importorskip("openai")
    from libaside.httpx import AsyncTransport, Transport

    with server(3, cut) as url:
        client = openai.OpenAI(base_url=url, api_key="-", http_client=httpx.Client(transport=Transport("qwen3")))
        ask = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        message = client.chat.completions.create(**ask).choices[0].message
        assert (message.reasoning_content, message.content) == ("Twice 21.", "It is 42.")
        thinking = content = ""
        for chunk in client.chat.completions.create(stream=True, **ask):
            delta = chunk.choices[0].delta
            thinking += getattr(delta, "reasoning_content", None) or ""
            content += delta.content or ""
        assert (thinking, content) == ("Twice 21.", "It is 42.")
        client.close()

        async def ask_async() -> str:
            http = httpx.AsyncClient(transport=AsyncTransport("qwen3"))
            async with openai.AsyncOpenAI(base_url=url, api_key="-", http_client=http) as client:
                text = ""
                async for chunk in await client.chat.completions.create(stream=True, **ask):
                    text += chunk.choices[0].delta.content or ""
                return text

        import asyncio

        assert asyncio.run(ask_async()) == "It is 42."
