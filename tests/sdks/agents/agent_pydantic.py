"""The same agent as agent.py, with pydantic-ai."""

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

agent = Agent(OpenAIChatModel("m", provider=OpenAIProvider(base_url=sys.argv[1], api_key="none")), retries=0)


@agent.tool_plain
def weather(city: str, days: int) -> str:
    return f"{days} days of rain in {city}"


@agent.tool_plain
def clock() -> str:
    return "noon"


async def read(_context, events):
    async for _ in events:
        pass


async def main():
    # If there is a handler for events, the model's answers are streamed.
    handler = read if sys.argv[2] == "streamed" else None
    print((await agent.run("How is Paris, and when?", event_stream_handler=handler)).output)


asyncio.run(main())
