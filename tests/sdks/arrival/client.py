"""Sends a chat request to the server at argv[1] with the openai package, whole and streamed, and prints each piece as a line of
JSON."""

import json
import sys

from openai import OpenAI

client = OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
messages = [{"role": "user", "content": "What is twice 21?"}]


def show(mode, piece):
    for field in ("reasoning_content", "content"):
        text = getattr(piece, field, None)
        if text:
            print(json.dumps([mode, field, text]), flush=True)
    for call in piece.tool_calls or []:
        print(json.dumps([mode, "call", call.function.name]), flush=True)


show("whole", client.chat.completions.create(model="m", messages=messages).choices[0].message)
for chunk in client.chat.completions.create(model="m", messages=messages, stream=True):
    for choice in chunk.choices:
        show("streamed", choice.delta)
