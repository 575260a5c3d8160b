"""openai: chat completions, completions and responses (seen.py)."""

from openai import LengthFinishReasonError, OpenAI
from seen import Seen, serve

MESSAGES = [{"role": "user", "content": "What is twice 21?"}]


def ask(url, format, stream, tools):
    client = OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    return {"chat": chat, "completions": completions, "responses": responses}[format](client, stream, tools)


def chat(client, stream, tools):
    request = dict(model="m", messages=MESSAGES)
    if tools:
        # The package's helper for streams needs strict tools.
        request["tools"] = [{"type": "function", "function": {**tool, "strict": True}} for tool in tools]
    if not stream:
        return None, message(client.chat.completions.create(**request))
    seen = Seen()
    with client.chat.completions.stream(**request) as events:
        for event in events:
            if event.type == "chunk":
                for choice in event.chunk.choices:
                    delta = choice.delta
                    seen.think(getattr(delta, "reasoning_content", None))
                    seen.say(delta.content)
                    for call in delta.tool_calls or []:
                        if call.index == len(seen.calls):
                            seen.call(call.function.name)
                        seen.more(call.function.arguments)
                    seen.reason = choice.finish_reason or seen.reason
        try:
            return seen, message(events.get_final_completion())
        except LengthFinishReasonError as error:
            return seen, message(error.completion)


def message(completion):
    seen = Seen()
    choice = completion.choices[0]
    seen.think(getattr(choice.message, "reasoning_content", None))
    seen.say(choice.message.content)
    for call in choice.message.tool_calls or []:
        seen.call(call.function.name, call.function.arguments)
    seen.reason = choice.finish_reason
    return seen


def completions(client, stream, tools):
    request = dict(model="m", prompt="What is twice 21?")
    seen = Seen()
    for part in client.completions.create(**request, stream=True) if stream else [client.completions.create(**request)]:
        for choice in part.choices:
            seen.think(getattr(choice, "reasoning_content", None))
            seen.say(choice.text)
            seen.reason = choice.finish_reason or seen.reason
    return (seen, None) if stream else (None, seen)


def responses(client, stream, tools):
    request = dict(model="m", input="What is twice 21?")
    if tools:
        request["tools"] = [listed(**tool) for tool in tools]
    if not stream:
        return None, items(client.responses.create(**request))
    seen = Seen()
    with client.responses.stream(**request) as events:
        for event in events:
            match event.type:
                case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
                    seen.think(event.delta)
                case "response.output_text.delta":
                    seen.say(event.delta)
                case "response.output_item.added" if event.item.type == "function_call":
                    seen.call(called(event.item))
                case "response.function_call_arguments.delta":
                    seen.more(event.delta)
                case "response.completed":
                    seen.reason = event.response.status
                case "response.incomplete":
                    seen.reason = event.response.status
                    return seen, items(event.response)  # the helper has a final response only for completed streams
        return seen, items(events.get_final_response())


def listed(namespace=None, **tool):
    function = {"type": "function", **tool, "strict": True}
    if namespace is None:
        return function
    return {"type": "namespace", "name": namespace, "description": "Tools", "tools": [function]}


def called(item):
    return item.name if item.namespace is None else f"{item.namespace}.{item.name}"


def items(response):
    seen = Seen()
    for item in response.output:
        match item.type:
            case "reasoning":
                for part in [*(item.content or []), *item.summary]:
                    seen.think(part.text)
            case "message":
                for part in item.content:
                    seen.say(part.text)
            case "function_call":
                seen.call(called(item), item.arguments)
    seen.reason = response.status
    return seen


serve(ask)
