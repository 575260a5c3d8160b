"""Tests a host (envoy or nginx) with the rewriter inside it: recordings to the byte, servers that die, clients that leave, and what
passes. scripts/test-hosts installs what it needs and runs it: test.py HOST FOLDER, where the folder has the installed parts."""

import glob
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHAT = "/v1/chat/completions"


def event(text):
    return b'data: {"id":"c1","choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text


def is_lines(name):
    """Returns whether a recording has Ollama's own format."""
    return name.endswith(".ndjson") or "ollama" in os.path.basename(os.path.dirname(name)) or "/ollama" in name


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


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
    """Returns a chunked body, and whether its end came."""
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
    """A model's server that does what a request's x-do header says."""

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
        elif what[0] == "trailers":
            chunk(event(b"a") + (event(b"b <thi") if what[1] == "held" else b"data: [DONE]\n\n"))
            connection.sendall(b"0\r\nx-sum: 1\r\n\r\n")
        return True


def ask(port, path, do, lines="", body="{}"):
    """Returns the head and the body of an answer, and whether it ended."""
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


class Nginx:
    takes_trailers = False

    def __init__(self, folder, upstream):
        self.port = free_port()
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o755)
        with open(f"{ROOT}/hosts/nginx/nginx.conf") as file:
            text = file.read()
        root = f"{folder}/root"
        for old, new in [
            ("modules/", f"{root}/usr/lib/nginx/modules/"),
            ("/etc/nginx/aside/?.lua;/usr/share/lua/5.1/", f"{ROOT}/hosts/nginx/?.lua;{root}/usr/share/lua/5.1/"),
            ("/usr/local", f"{folder}/prefix"),
            ("127.0.0.1:8080", f"127.0.0.1:{upstream}"),
            ("127.0.0.1:8088", f"127.0.0.1:{self.port}"),
        ]:
            assert old in text, old
            text = text.replace(old, new)
        paths = "".join(f"    {name}_temp_path {self.folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        text = text.replace("http {\n", f"http {{\n    access_log off;\n{paths}")
        text = f"pid {self.folder}/pid;\nerror_log {self.folder}/error.log;\n" + ("user root;\n" if os.getuid() == 0 else "") + text
        with open(f"{self.folder}/nginx.conf", "w") as file:
            file.write(text)
        libraries = f"{root}/usr/lib/x86_64-linux-gnu:{root}/lib/x86_64-linux-gnu"
        self.command = [f"{root}/usr/sbin/nginx", "-p", self.folder, "-c", f"{self.folder}/nginx.conf", "-e", f"{self.folder}/error.log"]
        self.environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
        self.process = subprocess.Popen([*self.command, "-g", "daemon off;"], env=self.environment)

    def reload(self):
        subprocess.run([*self.command, "-s", "reload"], env=self.environment, check=True)

    def log(self):
        with open(f"{self.folder}/error.log") as file:
            return file.read()


class Envoy:
    takes_trailers = True

    def __init__(self, folder, upstream):
        self.port = free_port()
        self.folder = tempfile.mkdtemp()
        with open(f"{ROOT}/hosts/envoy/envoy.yaml") as file:
            text = file.read().replace("port_value: 8080", f"port_value: {upstream}").replace("port_value: 8088", f"port_value: {self.port}")
        # By default, Envoy drops the trailers of HTTP/1.1.
        trailers = "http_protocol_options: {enable_trailers: true}"
        text = text.replace("stat_prefix: models", f"stat_prefix: models\n          {trailers}")
        kind = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
        options = f'{{"@type": type.googleapis.com/{kind}, explicit_http_config: {{{trailers}}}}}'
        text = text.replace("connect_timeout: 5s", f"connect_timeout: 5s\n    typed_extension_protocol_options: {{{kind}: {options}}}")
        self.text = text
        self.program = f"{folder}/bin/envoy"
        self.environment = {**os.environ, "ENVOY_DYNAMIC_MODULES_SEARCH_PATH": folder}
        self.process = self.start(text)

    def start(self, text):
        path = f"{self.folder}/envoy.yaml"
        with open(path, "w") as file:
            file.write(text)
        self.log_file = open(f"{self.folder}/log", "w+")
        command = [self.program, "-c", path, "--concurrency", "1", "--disable-hot-restart", "--base-id", "77", "-l", "warning"]
        return subprocess.Popen(command, env=self.environment, stderr=self.log_file, stdout=self.log_file)

    def restart(self, old, new):
        self.process.terminate()
        self.process.wait()
        self.process = self.start(self.text.replace(old, new))

    def log(self):
        self.log_file.flush()
        with open(f"{self.folder}/log") as file:
            return file.read()


def wait_for(host):
    """Waits until a host listens."""
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", host.port)).close()
            return
        except OSError:
            assert host.process.poll() is None, host.log()
            time.sleep(0.1)


def main(name, folder):
    recordings = []
    for place in ("tests/sse", "../shared/corpus/sse"):
        for path in sorted(glob.glob(f"{ROOT}/{place}/**/*", recursive=True)):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    recordings.append((path, file.read()))
    server = Server(recordings)
    host = {"nginx": Nginx, "envoy": Envoy}[name](folder, server.port)
    try:
        wait_for(host)
        wrong = changed = 0
        for number, (path, data) in enumerate(recordings):
            asked = "/api/chat" if is_lines(path) else "/v1/messages" if "messages" in path or "anthropic" in path else CHAT
            asked = "/v1/responses" if "responses" in path else "/v1/completions" if "completions" in path else asked
            wanted = subprocess.run([os.environ["ASIDE_PROGRAM"], "resplit", "--dialect", "qwen3", path], capture_output=True, check=True).stdout
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
        # Held text is lost there: neither host asks a filter again.
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
        host.process.terminate()
        host.process.wait()
        shutil.rmtree(host.folder, ignore_errors=True)
    sys.exit(check.failed)


main(*sys.argv[1:])
