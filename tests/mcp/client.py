"""Asks `aside mcp` by the official client for a text that `aside hook` has kept, in every form that its tools take."""

import asyncio
import json
import os
import subprocess
import sys

from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ASIDE = sys.argv[1]
# A client hands down only some variables.
SERVER = StdioServerParameters(command=ASIDE, args=["mcp"], env={"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]})
TEXT = "".join(f"line {number}\n" for number in range(1, 9001))


def kept():
    """Returns the id of a text that the hook has kept."""
    event = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_response": {"stdout": TEXT, "stderr": ""},
    }
    answer = subprocess.run([ASIDE, "hook"], input=json.dumps(event).encode(), capture_output=True, check=True).stdout
    first = json.loads(answer)["hookSpecificOutput"]["updatedToolOutput"]["stdout"].split("\n")[0]
    return first.split("aside recall ")[1].split(" ")[0]


async def try_tools(client, name):
    """Calls each tool of a connected client."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert sorted(tools) == ["list", "recall"], tools
    assert all(tool.annotations.read_only_hint for tool in tools.values()), tools

    async def call(tool, **arguments):
        result = await client.call_tool(tool, arguments)
        return result.is_error, result.content[0].text

    for arguments, shown in [
        ({"lines": "7-9"}, "line 7\nline 8\nline 9\n"),
        ({"lines": 9000}, "line 9000\n"),
        ({"lines": "4242:6-8", "find": None}, "424\n"),
        ({"find": "line 4242"}, "4242: line 4242\n"),
        ({"find": "line 4242", "context": 1}, "4241- line 4241\n4242: line 4242\n4243- line 4243\n"),
    ]:
        result = await call("recall", id=name, **arguments)
        assert result == (False, shown), (arguments, result)
    is_error, text = await call("recall", id=name, lines="99999-")
    assert is_error and "has 9000 lines" in text, text
    is_error, text = await call("recall", id="../passwd")
    assert is_error and "twelve digits" in text, text
    for wrong, says in [
        ({"id": name, "lines": [5]}, "`lines`: write a line as a number"),
        ({"id": name, "context": "2"}, "`context`: write a number"),
        ({"id": int(name)}, "`id`: write the twelve digits as a string"),
    ]:
        is_error, text = await call("recall", **wrong)
        assert is_error and says in text, text
    is_error, text = await call("list")
    assert not is_error and text.startswith("1 texts\n" + name) and f"{len(TEXT)} bytes" in text and text.endswith(" Bash\n"), text


async def main():
    async with Client(SERVER) as client:
        assert (await client.call_tool("list", {})).content[0].text == "0 texts\n"
    name = kept()
    async with Client(SERVER) as client:
        await try_tools(client, name)
    # As clients of earlier protocols begin.
    async with stdio_client(SERVER) as (read, write), ClientSession(read, write) as session:
        info = await session.initialize()
        assert info.server_info.name == "aside", info
        await try_tools(session, name)
    table = subprocess.run([ASIDE, "hook", "--stats"], capture_output=True, check=True, text=True).stdout
    assert table.split("\n")[1].split()[0::4] == ["Bash", "12"], table
    print("aside mcp: the official client got what it asked for")


asyncio.run(main())
