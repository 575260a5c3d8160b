"""Tests the forms in which LiteLLM's proxy sends an answer, with `libaside.litellm` as its callback: two routes, whole and
streamed, with and without a call. Prints how many are right, and each wrong one.

A server in this script writes thinking and calls as text. The clients are the packages `openai` and `anthropic`.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anthropic
import openai

# The model's text, in the pieces of a stream, and what a client must receive: thinking, content, calls.
ANSWERS: dict[str, tuple[list[str], tuple[str, str, list[Any]]]] = {
    "plain": (["<thi", "nk>\nTwo ", "steps.\n</th", "ink>\n\nIt is", " 42."], ("Two steps.", "It is 42.", [])),
    "call": (
        ["<think>\nhm\n</think>\n\n", '<tool_call>\n{"name": "w", "argu', 'ments": {"city": "Rome"}}\n</tool_call>'],
        ("hm", "", [("w", {"city": "Rome"})]),
    ),
    "silent": (["Just", " text."], ("", "Just text.", [])),
    "cut": (["<think>\nnever ", "ends"], ("never ends", "", [])),
}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


class Server(BaseHTTPRequestHandler):
    """Sends the answer that the request's last message names."""

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = asked["messages"][-1]["content"]
        said = said if isinstance(said, str) else "".join(part.get("text", "") for part in said)
        parts = ANSWERS[said.strip()][0]
        reason = "length" if said.strip() == "cut" else "stop"
        choices = range(asked.get("n") or 1)
        answer: dict[str, Any] = {"id": "c1", "created": 1, "model": asked["model"]}
        usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if asked.get("stream") else "application/json")
        self.end_headers()
        if not asked.get("stream"):
            message = {"role": "assistant", "content": "".join(parts)}
            made = [{"index": at, "message": message, "finish_reason": reason} for at in choices]
            whole = {**answer, "object": "chat.completion", "choices": made, "usage": usage}
            self.wfile.write(json.dumps(whole).encode())
            return
        deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": ""}, None)]
        deltas += [({"content": part}, None) for part in parts] + [({}, reason)]
        for delta, why in deltas:
            for at in choices:
                made = [{"index": at, "delta": delta, "finish_reason": why}]
                self.event({**answer, "object": "chat.completion.chunk", "choices": made})
        self.event({**answer, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, data: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(data).encode() + b"\n\n")
        self.wfile.flush()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def calls(found: Any) -> list[Any]:
    return [(name, json.loads(text) if isinstance(text, str) else text) for name, text in found]


def openai_whole(client: Any, model: str, **options: Any) -> list[Any]:
    answer = client.chat.completions.create(model=model, **options)
    return [
        (
            getattr(choice.message, "reasoning_content", None) or "",
            choice.message.content or "",
            calls((one.function.name, one.function.arguments) for one in choice.message.tool_calls or []),
        )
        for choice in answer.choices
    ]


def openai_stream(client: Any, model: str, **options: Any) -> list[Any]:
    seen: dict[int, list[Any]] = {}
    for chunk in client.chat.completions.create(model=model, stream=True, **options):
        for choice in chunk.choices:
            one = seen.setdefault(choice.index, ["", "", {}])
            one[0] += getattr(choice.delta, "reasoning_content", None) or ""
            one[1] += choice.delta.content or ""
            for part in choice.delta.tool_calls or []:
                call = one[2].setdefault(part.index, ["", ""])
                call[0] += part.function.name or ""
                call[1] += part.function.arguments or ""
    return [(one[0], one[1], calls(one[2].values())) for _, one in sorted(seen.items())]


def blocks(content: list[Any]) -> list[Any]:
    thinking = "".join(block.thinking for block in content if block.type == "thinking")
    text = "".join(block.text for block in content if block.type == "text")
    return [(thinking, text, [(block.name, block.input) for block in content if block.type == "tool_use"])]


def messages_whole(client: Any, model: str, **options: Any) -> list[Any]:
    return blocks(client.messages.create(model=model, max_tokens=2000, **options).content)


def messages_stream(client: Any, model: str, **options: Any) -> list[Any]:
    with client.messages.stream(model=model, max_tokens=2000, **options) as stream:
        for _ in stream:
            pass
        return blocks(stream.get_final_message().content)


def shapes() -> Iterator[tuple[Callable[..., list[Any]], str, str, dict[str, Any]]]:
    tool = {"name": "w", "description": "The weather."}
    of_chat = {"tools": [{"type": "function", "function": {**tool, "parameters": SCHEMA}}]}
    of_messages = {"tools": [{**tool, "input_schema": SCHEMA}]}
    for model in ("Qwen/Qwen3-32B", "vllm"):
        for ask in (openai_whole, openai_stream):
            for script in ANSWERS:
                yield ask, model, script, of_chat if script == "call" else {}
            yield ask, model, "plain", {"n": 2}
    for ask in (openai_whole, openai_stream):
        yield ask, "alias", "plain", {}
    for ask in (messages_whole, messages_stream):
        for script in ANSWERS:
            yield ask, "vllm", script, of_messages if script == "call" else {}
        yield ask, "vllm", "plain", {"thinking": {"type": "enabled", "budget_tokens": 1024}}


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}/v1"
    served = {"Qwen/Qwen3-32B": "openai", "alias": "openai", "vllm": "hosted_vllm"}
    models = [
        {"model_name": name, "litellm_params": {"model": f"{host}/Qwen/Qwen3-32B", "api_base": base, "api_key": "none"}}
        for name, host in served.items()
    ]
    settings = {"callbacks": "libaside.litellm.handler"}
    port, key = free_port(), f"sk-{secrets.token_hex(16)}"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.yaml"
        # Every JSON text is also YAML.
        config.write_text(json.dumps({"model_list": models, "litellm_settings": settings}))
        environment = {
            **os.environ,
            "LITELLM_MASTER_KEY": key,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_TELEMETRY": "False",
        }
        command = [sys.executable, "-c", "from litellm import run_server; run_server()"]
        command += ["--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        with open(Path(sys.argv[1]) / "litellm.log", "w") as log:
            proxy = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            check(port, key, proxy)
        finally:
            proxy.terminate()
            proxy.wait()


def check(port: int, key: str, proxy: Any) -> None:
    for _ in range(240):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                break
        if proxy.poll() is not None:
            break
        time.sleep(0.5)
    of_chat = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=key, max_retries=0, timeout=60)
    of_messages = anthropic.Anthropic(base_url=f"http://127.0.0.1:{port}", api_key=key, max_retries=0, timeout=60)
    right = total = 0
    for ask, model, script, options in shapes():
        client = of_messages if ask in (messages_whole, messages_stream) else of_chat
        wanted = [ANSWERS[script][1]] * options.get("n", 1)
        got: object
        try:
            got = ask(client, model, messages=[{"role": "user", "content": script}], **options)
        except Exception as error:
            got = f"{type(error).__name__} {error}"[:300]
        total += 1
        right += got == wanted
        if got != wanted:
            print(f"  {ask.__name__} {model} {script} {' '.join(options)}: wanted {wanted}, got {got}")
    print(f"litellm shapes: aside {right} of {total}")


main()
