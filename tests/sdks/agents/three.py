"""An agent that uses the openai package and sends the model's messages back unchanged. It asks the gateway at argv[1]."""

import json
import sys

from openai import OpenAI

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": keys}}}
    for name, keys in {"weather": {"city": {"type": "string"}, "days": {"type": "integer"}}, "clock": {}}.items()
]

client = OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0)
messages = [{"role": "user", "content": "How is Paris, and when?"}]
while True:
    message = client.chat.completions.create(model="m", messages=messages, tools=TOOLS).choices[0].message
    if not message.tool_calls:
        break
    messages.append(message.model_dump(exclude_none=True))
    for call in message.tool_calls:
        json.loads(call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "noon"})
print(message.content)
