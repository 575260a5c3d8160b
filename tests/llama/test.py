"""Tests `aside proxy` in front of llama.cpp, with the packages of OpenAI and Anthropic: test.py PROGRAM FOLDER. Each model writes
one text (model.py). The proxy gets no setting except the server's URL. scripts/test-server installs what this needs."""

import json
import os
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

import anthropic
import openai

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATE = os.path.join(HERE, "../field/templates/ik_Qwen-Qwen3-0.6B.jinja")
PROGRAM, FOLDER = sys.argv[1:3]
ASKED = [{"role": "user", "content": "21 + 21?"}]
ANSWER = "<think>\nTwice 21 – é.\n</think>\n\nIt is 42."
CALL = '<think>\nAsk it.\n</think>\n\n<tool_call>\n{"name": "add", "arguments": {"a": 21, "b": 20}}\n</tool_call>'
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": SCHEMA}}]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server(unittest.TestCase):
    """A server with a model that writes this text, and the proxy in front of it."""

    text = ""
    options = ()

    @classmethod
    def setUpClass(cls):
        model = f"{FOLDER}/{cls.__name__}.gguf"
        subprocess.run([sys.executable, f"{HERE}/model.py", model, TEMPLATE, cls.text], check=True)
        ports = [free_port(), free_port()]
        cls.url = f"http://127.0.0.1:{ports[1]}"
        upstream = f"http://127.0.0.1:{ports[0]}"
        cls.log = open(f"{FOLDER}/{cls.__name__}.log", "w+", encoding="utf-8")
        server = [sys.executable, f"{HERE}/serve.py", model, str(ports[0]), *cls.options]
        cls.running = [subprocess.Popen(server, stdout=cls.log, stderr=cls.log)]
        cls.addClassCleanup(cls.end)
        cls.wait(f"{upstream}/health")
        proxy = [PROGRAM, "proxy", "--upstream", upstream, "--listen", f"127.0.0.1:{ports[1]}"]
        cls.running.append(subprocess.Popen(proxy, stderr=cls.log))
        cls.wait(f"{cls.url}/health")
        cls.openai = openai.OpenAI(base_url=f"{cls.url}/v1", api_key="none", max_retries=0)
        cls.anthropic = anthropic.Anthropic(base_url=cls.url, api_key="none", max_retries=0)

    @classmethod
    def wait(cls, url):
        for _ in range(300):
            try:
                urllib.request.urlopen(url, timeout=5).close()
                return
            except OSError:
                assert cls.running[-1].poll() is None, f"it has ended; {cls.log.name} says why"
                time.sleep(0.1)
        raise AssertionError(f"{url} does not answer; {cls.log.name} may say why")

    @classmethod
    def end(cls):
        for process in cls.running:
            process.kill()
            process.wait()
        cls.log.close()


def joined(values):
    return "".join(value or "" for value in values)


class Thinking(Server):
    text = ANSWER

    def test_the_template_says_the_dialect(self):
        answer = self.openai.chat.completions.with_raw_response.create(model="m", messages=ASKED)
        self.assertEqual(answer.headers["x-aside-dialect"], "qwen3")

    def test_chat(self):
        message = self.openai.chat.completions.create(model="m", messages=ASKED).choices[0].message
        self.assertEqual((message.reasoning_content, message.content), ("Twice 21 – é.", "It is 42."))
        chunks = list(self.openai.chat.completions.create(model="m", messages=ASKED, stream=True))
        deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
        self.assertEqual(joined(getattr(delta, "reasoning_content", None) for delta in deltas), "Twice 21 – é.")
        self.assertEqual(joined(delta.content for delta in deltas), "It is 42.")
        self.assertEqual(chunks[-1].choices[0].finish_reason, "stop")
        # A model writes one token after another, and they must arrive one by one.
        self.assertGreater(len(deltas), 10)

    def test_completions(self):
        chunks = self.openai.completions.create(model="m", prompt="21 + 21?\n", stream=True, max_tokens=64)
        self.assertEqual(joined(chunk.choices[0].text for chunk in chunks), "It is 42.")

    def test_responses(self):
        answer = self.openai.responses.create(model="m", input="21 + 21?")
        self.assertEqual(answer.output_text, "It is 42.")
        self.assertEqual([item.type for item in answer.output], ["reasoning", "message"])
        # llama.cpp writes no indexes, and this package fails without them.
        with self.openai.responses.stream(model="m", input="21 + 21?") as stream:
            events = list(stream)
        of = lambda kind: joined(event.delta for event in events if event.type == kind)
        self.assertEqual(of("response.reasoning_text.delta"), "Twice 21 – é.")
        self.assertEqual(of("response.output_text.delta"), "It is 42.")

    def test_messages(self):
        message = self.anthropic.messages.create(model="m", max_tokens=64, messages=ASKED)
        self.assertEqual([block.type for block in message.content], ["thinking", "text"])
        with self.anthropic.messages.stream(model="m", max_tokens=64, messages=ASKED) as stream:
            message = stream.get_final_message()
        self.assertEqual([block.type for block in message.content], ["thinking", "text"])
        self.assertEqual((message.content[0].thinking, message.content[1].text), ("Twice 21 – é.", "It is 42."))


class Calls(Server):
    text = CALL
    options = ("--skip-chat-parsing",)

    def test_chat(self):
        chunks = self.openai.chat.completions.create(model="m", messages=ASKED, tools=TOOLS, stream=True)
        choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
        pieces = [call for choice in choices for call in choice.delta.tool_calls or []]
        self.assertEqual({call.index for call in pieces}, {0})
        self.assertEqual(joined(call.function.name for call in pieces), "add")
        self.assertEqual(json.loads(joined(call.function.arguments for call in pieces)), {"a": 21, "b": 20})
        self.assertEqual(joined(choice.delta.content for choice in choices), "")
        self.assertEqual(choices[-1].finish_reason, "tool_calls")
        message = self.openai.chat.completions.create(model="m", messages=ASKED, tools=TOOLS).choices[0].message
        self.assertEqual(message.tool_calls[0].function.name, "add")

    def test_messages(self):
        tools = [{"name": "add", "input_schema": SCHEMA}]
        with self.anthropic.messages.stream(model="m", max_tokens=64, messages=ASKED, tools=tools) as stream:
            message = stream.get_final_message()
        self.assertEqual([block.type for block in message.content], ["thinking", "tool_use"])
        self.assertEqual((message.content[1].name, message.content[1].input), ("add", {"a": 21, "b": 20}))
        self.assertEqual(message.stop_reason, "tool_use")


class CallsOfTheServer(Server):
    """Without --skip-chat-parsing, llama.cpp finds the calls, and the proxy passes them on unchanged."""

    text = CALL

    def test_chat(self):
        chunks = self.openai.chat.completions.create(model="m", messages=ASKED, tools=TOOLS, stream=True)
        deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
        calls = [call for delta in deltas for call in delta.tool_calls or []]
        self.assertEqual(json.loads(joined(call.function.arguments for call in calls)), {"a": 21, "b": 20})
        self.assertEqual(joined(getattr(delta, "reasoning_content", None) for delta in deltas), "Ask it.")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
