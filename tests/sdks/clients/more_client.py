"""Streamed chats with the package that argv[1] names: litellm, langchain, pydantic_ai or llm (seen.py)."""

import os
import sys

from seen import Seen, serve

QUESTION = "What is twice 21?"


def litellm():
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    def ask(url):
        seen, chunks = Seen(), []
        messages = [{"role": "user", "content": QUESTION}]
        for chunk in litellm.completion(
            model="openai/m", api_base=url, api_key="none", messages=messages, stream=True, max_retries=0
        ):
            chunks.append(chunk)
            for choice in chunk.choices:
                seen.think(getattr(choice.delta, "reasoning_content", None))
                seen.say(choice.delta.content)
                seen.reason = choice.finish_reason or seen.reason
        final, choice = Seen(), litellm.stream_chunk_builder(chunks, messages=messages).choices[0]
        final.think(getattr(choice.message, "reasoning_content", None))
        final.say(choice.message.content)
        final.reason = choice.finish_reason
        return seen, final

    return ask


def langchain():
    from langchain_openai import ChatOpenAI

    def ask(url):
        seen, whole = Seen(), None
        for chunk in ChatOpenAI(model="m", base_url=url, api_key="none", max_retries=0).stream(QUESTION):
            seen.say(chunk.content)
            seen.reason = chunk.response_metadata.get("finish_reason") or seen.reason
            whole = chunk if whole is None else whole + chunk
        final = Seen()
        final.say(whole.content)
        final.reason = whole.response_metadata.get("finish_reason")
        return seen, final

    return ask


def pydantic_ai():
    from pydantic_ai.direct import model_request_stream_sync
    from pydantic_ai.messages import ModelRequest, PartDeltaEvent, PartStartEvent, TextPart, ThinkingPart
    from pydantic_ai.messages import ThinkingPartDelta
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    def ask(url):
        model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="none"))
        seen, final = Seen(), Seen()
        with model_request_stream_sync(model, [ModelRequest.user_text_prompt(QUESTION)]) as events:
            for event in events:
                if isinstance(event, PartStartEvent):
                    show(seen, isinstance(event.part, ThinkingPart), event.part.content)
                elif isinstance(event, PartDeltaEvent):
                    show(seen, isinstance(event.delta, ThinkingPartDelta), event.delta.content_delta)
            whole = events.response
        for part in whole.parts:
            assert isinstance(part, (TextPart, ThinkingPart)), part
            show(final, isinstance(part, ThinkingPart), part.content)
        seen.reason = final.reason = whole.finish_reason
        return seen, final

    def show(seen, thinking, text):
        (seen.think if thinking else seen.say)(text)

    return ask


def llm():
    from llm.default_plugins.openai_models import Chat

    def ask(url):
        seen = Seen()
        response = Chat("m", model_name="m", api_base=url).prompt(QUESTION, key="none")
        for piece in response:
            seen.say(piece)
        final = Seen()
        final.say(response.text())
        return seen, final

    return ask


ask = globals()[sys.argv[1]]()
serve(lambda url, **_: ask(url + "/v1"))
