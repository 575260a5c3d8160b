"""Runs SGLang's reasoning and function-call parsers on texts of each family of models, first with SGLang's own detectors and then
with those of `libaside.sglang`. Prints how many texts each parser reads right, and the microseconds for a token.

    sglang_detectors.py OUT

A text is read right if reasoning, content and calls are those from which it was written, whole and cut into pieces of several
sizes. `libaside.join` writes the texts, because SGLang's package has no tests. The cases of SGLang's own tests are counted
separately, if they are in `../shared`. Texts that only libaside reads wrong are written to OUT/lost-sglang.txt.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import libaside.sglang as entry
from answers import SIZES, TOOLS, Answer, Said, check_grammars, check_thinking, pieces, value, written
from micros import print_micros
from sglang.srt.entrypoints.openai.protocol import Function, Tool, ToolChoice, ToolChoiceFuncName
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser

ROOT = Path(__file__).resolve().parents[2]
OUT = Path(sys.argv[1])
PEERS = ROOT / ".." / "shared" / "cases" / "calls-2" / "peers.jsonl"


def read(text: str, size: int, parsers: tuple[str | None, str | None], tools: list[Any], starts: bool | None) -> Said:
    """Read an answer as SGLang's server does: the reasoning parser first, and the calls from the text that it leaves."""
    offered = [Tool(type="function", function=Function(**tool)) for tool in tools]
    reasoning = parsers[0] and ReasoningParser(parsers[0], force_reasoning=starts, tool_call_parser_active=bool(parsers[1]))
    calls = parsers[1] and FunctionCallParser(offered, parsers[1])
    thought = content = ""
    found: dict[int, list[str]] = {}
    if size >= len(text):
        if reasoning:
            thought, text = reasoning.parse_non_stream(text)
        made: list[Any] = []
        if calls and calls.has_tool_call(text):
            text, made = calls.parse_non_stream(text)
        return Said((thought or "").strip(), text.strip(), [(one.name, value(one.parameters)) for one in made])

    def take(said: str, last: bool) -> None:
        nonlocal content
        made = []
        if calls:
            said, made = calls.parse_stream_chunk(said) if said else ("", [])
            if last:
                rest, more = calls.parse_stream_end()
                said, made = said + rest, made + more
        content += said
        for one in made:
            found.setdefault(one.tool_index, ["", ""])
            found[one.tool_index][0] += one.name or ""
            found[one.tool_index][1] += one.parameters

    for part in pieces(text, size):
        if reasoning:
            more, part = reasoning.parse_stream_chunk(part)
            thought += more or ""
        take(part or "", False)
    more, part = reasoning.parse_stream_end() if reasoning else ("", "")
    thought += more or ""
    take(part or "", True)
    return Said(thought.strip(), content.strip(), [(name, value(given)) for name, given in found.values()])


def tag_of(dialect: str, choice: str, is_parallel: bool, has_thinking: bool = False) -> Any:
    """Return the structural tag that SGLang gets for a request with tools that are strict. It has the thinking if the server has no
    reasoning parser."""
    tools = [Tool(type="function", function=Function(**tool, strict=True)) for tool in TOOLS]
    named = ToolChoice(type="function", function=ToolChoiceFuncName(name=choice))
    parser = FunctionCallParser(tools, f"aside-{dialect}")
    asked = choice if choice in ("auto", "required") else named
    made = parser.get_structure_constraint(asked, parallel_tool_calls=is_parallel, thinking_mode=has_thinking)
    kind, tag = made or (None, None)
    return tag.model_dump() if kind == "structural_tag" else None


def is_right(text: str, parsers: tuple[str | None, str | None], tools: list[Any], wanted: Said, starts: bool | None) -> bool:
    try:
        return all(read(text, size, parsers, tools, starts) == wanted for size in SIZES)
    except Exception:  # If a parser fails, the text counts as read wrong.
        return False


def is_taken(answer: Answer) -> bool:
    """Return whether SGLang has its own parsers for an answer, and a reasoning parser for its start: some always begin inside the
    thinking."""
    reasoning, calls = entry._FAMILIES[answer.dialect]
    thinks = answer.is_thinking or bool(answer.wanted.reasoning)
    if thinks and not reasoning or answer.wanted.calls and not calls:
        return False
    try:
        return not reasoning or bool(ReasoningParser(reasoning, force_reasoning=answer.is_thinking))
    except ValueError:
        return False


def main() -> None:
    entry.register()
    check_grammars("sglang", tag_of)
    check_thinking("sglang", tag_of)
    lost = []
    right = [0, 0]
    answers = [one for one in written(entry._FAMILIES) if is_taken(one)]
    for one in answers:
        own, ours = entry._FAMILIES[one.dialect], (f"aside-{one.dialect}", f"aside-{one.dialect}")
        is_own, is_ours = (is_right(one.text, parsers, TOOLS, one.wanted, one.is_thinking) for parsers in (own, ours))
        right[0] += is_own
        right[1] += is_ours
        if not is_ours:
            lost.append(f"{one}\n")
    print(f"sglang answers: own {right[0]}, aside {right[1]}, of {len(answers)}")
    if PEERS.exists():
        # As SGLang's own detectors do.
        os.environ["ASIDE_SGLANG_UNKNOWN_TOOL"] = "drop"
        cases = [case for line in PEERS.read_text().splitlines() if (case := json.loads(line))["suite"] == "sglang"]
        counted = 0
        passed = 0
        for case in cases:
            wanted = Said("", case["content"].strip(), [(call["name"], call.get("arguments", value(call.get("arguments_raw", "")))) for call in case["calls"]])
            tools = case.get("tools") or TOOLS
            own = entry._FAMILIES.get(case["dialect"], (None, None))[1]
            if not own or not is_right(case["input"], (None, own), tools, wanted, None):
                continue
            counted += 1
            if is_right(case["input"], (None, f"aside-{case['dialect']}"), tools, wanted, None):
                passed += 1
            else:
                lost.append(f"{case['source']}\t{case.get('kind', case['verdict'])}\n")
        print(f"sglang cases: own {counted}, aside {passed}, of {counted}")
    (OUT / "lost-sglang.txt").write_text("".join(lost))

    def stream(name: str) -> Any:
        parser = ReasoningParser(name, stream_reasoning=True)
        return parser.parse_stream_chunk

    print_micros("sglang", lambda: stream("qwen3"), lambda: stream("aside-qwen3"))


main()
