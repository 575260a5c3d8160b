"""ollama: chat and generate (seen.py)."""

from ollama import Client
from seen import Seen, serve


def ask(url, format, stream, tools):
    client = Client(host=url)
    if format == "ollama":
        request = dict(model="m", messages=[{"role": "user", "content": "What is twice 21?"}], stream=stream)
        if tools:
            request["tools"] = [{"type": "function", "function": tool} for tool in tools]
        answer = client.chat(**request)
    else:
        answer = client.generate(model="m", prompt="What is twice 21?", stream=stream)
    seen = Seen()
    for line in answer if stream else [answer]:
        said = line.message if format == "ollama" else line
        seen.think(said.thinking)
        seen.say(said.content if format == "ollama" else said.response)
        for call in getattr(said, "tool_calls", None) or []:
            seen.call(call.function.name, dict(call.function.arguments))
        seen.reason = line.done_reason if line.done else None
    return (seen, None) if stream else (None, seen)


serve(ask)
