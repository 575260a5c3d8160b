"""Tests a host (envoy or nginx) with the rewriter inside it: recordings to the byte, servers that die, clients that leave, and
answers that pass unchanged. scripts/test-hosts installs the needed files and runs it: test.py HOST FOLDER, where the folder has
these files."""

import glob
import json
import os
import socket
import subprocess
import sys
import threading
import time

from start import HOSTS, ROOT, wait_for

CHAT = "/v1/chat/completions"


def event(text):
    return b'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text


def is_lines(name):
    """Returns whether a recording has Ollama's own format."""
    return name.endswith(".ndjson") or "ollama" in os.path.basename(os.path.dirname(name)) or "/ollama" in name


def head_of(stream):
    """Reads a head and the body that its length says. Returns them, or None at the end."""
    text = b""
    while not text.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            return None
        text += line
    headers = {}
    for line in text.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(": ")
        headers.setdefault(name.lower(), []).append(value)
    return text.decode("latin-1").split("\r\n")[0], headers


def read_chunked(stream):
    """Returns a chunked body, and whether it is complete."""
    body = b""
    while True:
        line = stream.readline()
        if not line.strip():
            return body, False
        size = int(line, 16)
        piece = stream.read(size + 2)
        if len(piece) < size + 2:
            return body + piece, False
        if size == 0:
            return body, True
        body += piece[:-2]


class Server:
    """A model's server that obeys the header x-do of a request."""

    def __init__(self, recordings):
        self.recordings = recordings
        self.left = threading.Event()
        self.seen = None
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        stream = connection.makefile("rb")
        while (request := head_of(stream)) is not None:
            headers = request[1]
            if "content-length" in headers:
                stream.read(int(headers["content-length"][0]))
            elif "transfer-encoding" in headers:
                read_chunked(stream)
            self.seen = request
            try:
                if not self.answer(connection, headers["x-do"][0].split()):
                    connection.close()
                    break
            except OSError:
                self.left.set()
                break

    def answer(self, connection, what):
        def chunk(data):
            connection.sendall(b"%x\r\n%s\r\n" % (len(data), data))

        kind = "text/event-stream"
        if what[0] == "recording":
            name, data = self.recordings[int(what[1])]
            kind = "application/x-ndjson" if is_lines(name) else "application/json" if data[:1] == b"{" else kind
        if what[0] == "plain":
            connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\netag: "1"\r\ncontent-length: 5\r\n\r\nhello')
            return True
        connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-type: %s\r\netag: "1"\r\ntransfer-encoding: chunked\r\n\r\n' % kind.encode())
        if what[0] == "recording":
            cuts = [1, 7, 2, 30, 3] if len(data) < 8000 else [4099, 1, 509, 16384]
            at = number = 0
            while at < len(data):
                size = cuts[number % len(cuts)]
                chunk(data[at : at + size])
                at, number = at + size, number + 1
            connection.sendall(b"0\r\n\r\n")
        elif what[0] == "die":
            chunk(event(b"a") + event(b"b <thi"))
            time.sleep(0.05)
            return False
        elif what[0] == "forever":
            while True:
                chunk(event(b"x"))
                time.sleep(0.005)
        elif what[0] == "slow":
            for _ in range(20):
                chunk(event(b"<think>x</think>y"))
                time.sleep(0.1)
            connection.sendall(b"0\r\n\r\n")
        elif what[0] == "quiet":
            chunk(event(b"a") + b": still here\n\n" + event(b"b") + b"data: [DONE]\n\n")
            connection.sendall(b"0\r\n\r\n")
        elif what[0] == "trailers":
            chunk(event(b"a") + (event(b"b <thi") if what[1] == "held" else b"data: [DONE]\n\n"))
            connection.sendall(b"0\r\nx-sum: 1\r\n\r\n")
        return True


def ask(port, path, do, lines="", body="{}"):
    """Returns the head and the body of an answer, and whether it is complete."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        request = f"POST {path} HTTP/1.1\r\nhost: me\r\nx-do: {do}\r\naccept-encoding: gzip\r\n{lines}content-length: {len(body)}\r\n\r\n"
        connection.sendall((request + body).encode())
        stream = connection.makefile("rb")
        try:
            answer = head_of(stream)
            if answer is None:
                return None, b"", False
            if "content-length" in answer[1]:
                return answer, stream.read(int(answer[1]["content-length"][0])), True
            return answer, *read_chunked(stream)
        except OSError:
            return None, b"", False


def said(stream):
    """Joins the deltas of chat: the thinking, a bar, the content."""
    parts = {"reasoning_content": "", "content": ""}
    for line in stream.decode().split("\n"):
        if line.startswith("data: {"):
            delta = json.loads(line[6:])["choices"][0]["delta"]
            for name in parts:
                parts[name] += delta.get(name) or ""
    return "|".join(parts.values())


def check(what, right):
    print(("ok   " if right else "FAIL ") + what, flush=True)
    if not right:
        check.failed = True


check.failed = False


def all_streams():
    """Returns the recordings, and answers of models that are written as streams of chat: names and bytes."""
    streams = []
    for place in ("tests/sse", "../shared/corpus/sse", "../shared/cases/formats", "../shared/cases/streams-2", "../shared/cases/faults-3"):
        for path in sorted(glob.glob(f"{ROOT}/{place}/**/*", recursive=True)):
            if path.endswith((".sse", ".ndjson", ".json", ".jsonl")):
                with open(path, "rb") as file:
                    streams.append((path, file.read()))
    for path in sorted(glob.glob(f"{ROOT}/../shared/corpus/transcripts/*.jsonl")):
        with open(path) as file:
            for line in file:
                text = json.loads(line)["text"]
                pieces = [json.dumps(text[at : at + 30])[1:-1].encode() for at in range(0, len(text), 30)]
                streams.append((path, b"".join(map(event, pieces)) + b"data: [DONE]\n\n"))
    return streams


def main(name, folder):
    recordings = all_streams()
    server = Server(recordings)
    host = HOSTS[name](folder, server.port)
    try:
        wait_for(host)
        wrong = changed = 0
        for number, (path, data) in enumerate(recordings):
            asked = "/api/chat" if is_lines(path) else "/v1/messages" if "messages" in path or "anthropic" in path else CHAT
            asked = "/v1/responses" if "responses" in path else "/v1/completions" if "completions" in path else asked
            command = [os.environ["ASIDE_PROGRAM"], "resplit", "--dialect", "qwen3"]
            wanted = subprocess.run(command, input=data, capture_output=True, check=True).stdout
            answer, got, whole = ask(host.port, asked, f"recording {number}")
            changed += wanted != data
            if got != wanted or not whole or "etag" in answer[1]:
                wrong += 1
                print("     ", path, whole, answer)
        check(f"{len(recordings)} streams, {changed} of them changed, {wrong} differ", wrong == 0 and changed > 10)
        check("the server is asked for identity", server.seen[1].get("accept-encoding") == ["identity"])

        answer, body, whole = ask(host.port, "/v1/embeddings", "plain")
        check("another path passes", body == b"hello" and answer[1]["etag"] == ['"1"'])

        answer, body, whole = ask(host.port, CHAT, "die")
        # Held text is lost, because neither host calls a filter again after the server's connection
        # breaks.
        check("a server that dies: the answer breaks off", not whole and said(body).startswith("|ab"))

        with socket.create_connection(("127.0.0.1", host.port)) as connection:
            connection.sendall(f"POST {CHAT} HTTP/1.1\r\nhost: me\r\nx-do: forever\r\ncontent-length: 2\r\n\r\n{{}}".encode())
            connection.recv(1000)
        check("a client that leaves: the server's request ends", server.left.wait(10))

        if hasattr(host, "reload"):
            result = []
            thread = threading.Thread(target=lambda: result.append(ask(host.port, CHAT, "slow")))
            thread.start()
            time.sleep(0.5)
            host.reload()
            thread.join()
            check("a reload in mid-stream", result[0][2] and said(result[0][1]) == "x" * 20 + "|" + "y" * 20)
        for comments, events in (("keep", 2), ("drop", 2), ("chunk", 3)):
            host.restart(host.setting, host.setting + host.more.format(comments))
            wait_for(host)
            _, body, _ = ask(host.port, CHAT, "quiet")
            right = said(body) == "|ab" and body.count(b"data: {") == events and (b": still here" in body) == (comments == "keep")
            check(f"comments: {comments}", right)
        if host.takes_trailers:
            answer, body, whole = ask(host.port, CHAT, "trailers whole")
            check("trailers pass", said(body) == "|a" and body.endswith(b"data: [DONE]\n\n"))
            answer, body, whole = ask(host.port, CHAT, "trailers held")
            check("trailers after text that is held: an error", not whole and said(body).startswith("|ab"))
            # Sources of the dialect: the route, a header, the configuration.
            number = next(n for n, (path, _) in enumerate(recordings) if path.endswith("tests/sse/qwen3.sse"))
            _, body, _ = ask(host.port, "/unsplit" + CHAT, f"recording {number}")
            check("a route's own configuration: off", body == recordings[number][1])
            _, body, _ = ask(host.port, CHAT, f"recording {number}", "x-dialect: off\r\n")
            check("a header that says off", body == recordings[number][1] and "x-dialect" not in server.seen[1])
            _, body, _ = ask(host.port, CHAT, f"recording {number}", "x-dialect: nobody\r\n")
            check("a header with an unknown name: it passes", body == recordings[number][1])
            host.restart("value: \"dialect=qwen3", "value: \"dialect=off")
            wait_for(host)
            _, body, _ = ask(host.port, CHAT, f"recording {number}")
            check("off for all", body == recordings[number][1])
            _, body, _ = ask(host.port, CHAT, f"recording {number}", body='{"model":"Qwen/Qwen3-8B"}')
            check("the model of the request before the configuration", body != recordings[number][1])
            _, body, _ = ask(host.port, CHAT, f"recording {number}", "x-model: Qwen/Qwen3-8B\r\n")
            check("a header with the model", body != recordings[number][1] and "x-model" not in server.seen[1])
            host.restart("dialect=qwen3", "dialct=qwen3")
            status = host.process.wait(timeout=60)
            check("an unknown setting stops the start", status == 1 and "aside: dialct=qwen3 is not a setting" in host.log())
        if check.failed:
            print(host.log()[-3000:])
    finally:
        host.stop()
    sys.exit(check.failed)


main(*sys.argv[1:])
