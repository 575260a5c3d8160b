"""An agent that uses the openai package: asks the server at argv[1], runs the tools that the model calls, and prints the answer.

argv[2] is "streamed" or "whole".
"""

import json
import sys

from openai import OpenAI

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {key: {"type": kind} for key, kind in keys.items()}},
        },
    }
    for name, keys in {"weather": {"city": "string", "days": "integer"}, "clock": {}}.items()
]


def run(name, arguments):
    return {"weather": lambda city, days: f"{days} days of rain in {city}", "clock": lambda: "noon"}[name](**arguments)


def ask(client, messages):
    """Returns the text of the next message and its calls: id, name and arguments."""
    request = dict(model="m", messages=messages, tools=TOOLS)
    if sys.argv[2] == "whole":
        message = client.chat.completions.create(**request).choices[0].message
        calls = [[call.id, call.function.name, call.function.arguments] for call in message.tool_calls or []]
        return message.content or "", calls
    text, calls = "", []
    for chunk in client.chat.completions.create(**request, stream=True):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for call in choice.delta.tool_calls or []:
                if call.index == len(calls):
                    calls.append([call.id, call.function.name, ""])
                calls[call.index][2] += call.function.arguments or ""
    return text, calls


client = OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
messages = [{"role": "user", "content": "How is Paris, and when?"}]
while True:
    text, calls = ask(client, messages)
    if not calls:
        break
    functions = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id, name, arguments in calls
    ]
    messages.append({"role": "assistant", "content": text, "tool_calls": functions})
    for id, name, arguments in calls:
        messages.append({"role": "tool", "tool_call_id": id, "content": run(name, json.loads(arguments))})
print(text)
