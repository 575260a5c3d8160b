"""Code for the clients in Python: a client's result, and the loop that reads requests.

A request is a line of JSON: url, format (chat, completions, messages, responses, ollama, generate), stream, and tools, each with
its name and JSON Schema. The answer is also a line of JSON: the result of the pieces (null without stream) and the object that the
package makes from them, or an error.
"""

import json
import sys
import traceback


class Seen:
    """Text and calls in the order of arrival."""

    def __init__(self):
        self.order, self.thinking, self.content, self.calls, self.reason = [], "", "", [], None

    def _note(self, kind):
        if self.order[-1:] != [kind] or kind == "call":
            self.order.append(kind)

    def think(self, text):
        if text:
            self._note("thinking")
            self.thinking += text

    def say(self, text):
        if text:
            self._note("content")
            self.content += text

    def call(self, name, arguments=""):
        self._note("call")
        self.calls.append([name, arguments])

    def more(self, arguments):
        """Adds to the arguments of the last call."""
        self.calls[-1][1] += arguments or ""

    def show(self):
        calls = [[name, json.loads(said) if isinstance(said, str) else said] for name, said in self.calls]
        return {
            "order": self.order,
            "thinking": self.thinking,
            "content": self.content,
            "calls": calls,
            "reason": self.reason,
        }


def serve(ask):
    """Answers requests with ask(url, format, stream, tools), which returns the streamed result and the final object."""
    answers, sys.stdout = sys.stdout, sys.stderr  # because some packages print to it
    for line in sys.stdin:
        try:
            streamed, final = ask(**json.loads(line))
            answer = {"streamed": streamed and streamed.show(), "final": final and final.show()}
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), file=answers, flush=True)
