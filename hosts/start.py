"""Starts a host (envoy or nginx) on a free port, with the configuration of its folder. Tests and figures import it. As a program
(start.py HOST FOLDER UPSTREAM), it writes its address to standard error and ends when standard input ends; FOLDER has the files
that scripts/test-hosts installs."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Host:
    """A running host, with `text` as its configuration."""

    def restart(self, old, new):
        assert old in self.text, old
        self.process.terminate()
        self.process.wait()
        self.process = self.start(self.text.replace(old, new))

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Nginx(Host):
    takes_trailers = False
    # The setting of the dialect, and the form of a setting after it.
    setting, more = 'dialect = "qwen3"', ', comments = "{}"'

    def __init__(self, folder, upstream, is_plain=False):
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
        if is_plain:
            text = re.sub(r" *(header_filter|body_filter|init)_by_lua_block .*\n", "", text)
        self.text = text
        libraries = f"{root}/usr/lib/x86_64-linux-gnu:{root}/lib/x86_64-linux-gnu"
        self.command = [f"{root}/usr/sbin/nginx", "-p", self.folder, "-c", f"{self.folder}/nginx.conf", "-e", f"{self.folder}/error.log"]
        self.environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
        self.process = self.start(text)

    def start(self, text):
        with open(f"{self.folder}/nginx.conf", "w") as file:
            file.write(text)
        return subprocess.Popen([*self.command, "-g", "daemon off;"], env=self.environment)

    def reload(self):
        subprocess.run([*self.command, "-s", "reload"], env=self.environment, check=True)

    def log(self):
        with open(f"{self.folder}/error.log") as file:
            return file.read()


class Envoy(Host):
    takes_trailers = True
    setting, more = "dialect=qwen3 ", "comments={} "

    def __init__(self, folder, upstream, is_plain=False):
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
        if is_plain:
            text = re.sub(r" *typed_per_filter_config:\n(?: {18,}.*\n)+", "", text)
            text = re.sub(r" *- name: aside\n(?: {12,}.*\n)+", "", text)
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


HOSTS = {"nginx": Nginx, "envoy": Envoy}


def main(name, folder, upstream):
    host = HOSTS[name](folder, int(upstream))
    try:
        wait_for(host)
        print(f"listening on 127.0.0.1:{host.port}", file=sys.stderr, flush=True)
        sys.stdin.read()
    finally:
        host.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
