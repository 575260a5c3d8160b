"""anthropic: messages (seen.py)."""

from anthropic import Anthropic
from seen import Seen, serve


def ask(url, format, stream, tools):
    client = Anthropic(base_url=url, api_key="none", max_retries=0)
    request = dict(model="m", max_tokens=1000, messages=[{"role": "user", "content": "What is twice 21?"}])
    if tools:
        request["tools"] = [{"name": tool["name"], "input_schema": tool["parameters"]} for tool in tools]
    if not stream:
        return None, blocks(client.messages.create(**request))
    seen = Seen()
    with client.messages.stream(**request) as events:
        for event in events:
            match event.type:
                case "content_block_start" if event.content_block.type == "tool_use":
                    seen.call(event.content_block.name)
                case "content_block_delta":
                    match event.delta.type:
                        case "thinking_delta":
                            seen.think(event.delta.thinking)
                        case "text_delta":
                            seen.say(event.delta.text)
                        case "input_json_delta":
                            seen.more(event.delta.partial_json)
                case "message_delta":
                    seen.reason = event.delta.stop_reason
        return seen, blocks(events.get_final_message())


def blocks(message):
    seen = Seen()
    for block in message.content:
        match block.type:
            case "thinking":
                seen.think(block.thinking)
            case "text":
                seen.say(block.text)
            case "tool_use":
                seen.call(block.name, block.input)
    seen.reason = message.stop_reason
    return seen


serve(ask)
