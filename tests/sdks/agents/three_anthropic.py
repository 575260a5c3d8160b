"""An agent that uses the anthropic package and sends the model's messages back unchanged. It asks the gateway at argv[1]."""

import sys

from anthropic import Anthropic

TOOLS = [
    {"name": name, "input_schema": {"type": "object", "properties": keys}}
    for name, keys in {"weather": {"city": {"type": "string"}, "days": {"type": "integer"}}, "clock": {}}.items()
]

client = Anthropic(base_url=sys.argv[1], api_key="none", max_retries=0)
messages = [{"role": "user", "content": "How is Paris, and when?"}]
while True:
    message = client.messages.create(
        model="m",
        max_tokens=4096,
        messages=messages,
        tools=TOOLS,
        thinking={"type": "enabled", "budget_tokens": 1024},
    )
    calls = [block for block in message.content if block.type == "tool_use"]
    if not calls:
        break
    messages.append({"role": "assistant", "content": message.content})
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "noon"} for call in calls]
    messages.append({"role": "user", "content": results})
print("".join(block.text for block in message.content if block.type == "text"))
