"""Tests the `Parser` of `libaside.vllm` with vLLM's own `ParserManager` and the patch of hosts/vllm, and the pair of registered
parsers without the patch. Prints how many streamed answers have the parts from which they were written, and the microseconds for a
token.

    vllm_parser.py SOURCE OUT

SOURCE is vLLM's source. Answers that are read wrong are written to OUT/lost-vllm-parser.txt.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import subprocess
import sys
from typing import Any

from answers import ONE, SIZES, TOOLS, Answer, Said, check_grammars, pieces, value, written
from micros import print_micros, tokens
from vllm_tests import DIALECTS, HERE, OUT, SOURCE, prepare, tokenizer

PATCH = HERE.parents[1] / "hosts" / "vllm" / "parser_manager.patch"


def patched_manager() -> Any:
    """Return vLLM's parser manager with the patch."""
    made = OUT / "parser_manager.py"
    subprocess.run(["patch", "--quiet", f"--output={made}", "vllm/parser/parser_manager.py", PATCH], cwd=SOURCE, check=True)
    spec = importlib.util.spec_from_file_location("patched_parser_manager", made)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ParserManager


def parser_of(manager: Any, dialect: str) -> Any:
    os.environ["ASIDE_DIALECT"] = dialect
    return manager.get_parser(tool_parser_name="aside", reasoning_parser_name="aside", enable_auto_tools=True)


def request() -> Any:
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

    tools = [{"type": "function", "function": tool} for tool in TOOLS]
    return ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "?"}], tools=tools, tool_choice="auto")


def tag_of(manager: Any, dialect: str, choice: str, is_parallel: bool) -> Any:
    """Return the structural tag that vLLM gets for a request with tools that are strict."""
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

    tools = [{"type": "function", "function": {**tool, "strict": True}} for tool in TOOLS]
    named = {"type": "function", "function": {"name": choice}}
    asked = ChatCompletionRequest(
        model="m",
        messages=[{"role": "user", "content": "?"}],
        tools=tools,
        tool_choice=choice if choice in ("auto", "required") else named,
        parallel_tool_calls=is_parallel,
    )
    parser = parser_of(manager, dialect)(tokenizer(), asked.tools)
    outputs = parser.adjust_request(asked).structured_outputs
    return json.loads(outputs.structural_tag) if outputs and outputs.structural_tag else None


def streamed(parser: Any, text: str, size: int) -> Said:
    thought = content = ""
    found: dict[int, list[str]] = {}
    parts = pieces(text, size)
    for at, part in enumerate(parts):
        made = parser.parse_delta(part, tokenizer().encode(part), request(), [], finished=at == len(parts) - 1)
        if made is None:
            continue
        thought += made.reasoning or ""
        content += made.content or ""
        for call in made.tool_calls or []:
            one = found.setdefault(call.index, ["", ""])
            one[0] += call.function.name or ""
            one[1] += call.function.arguments or ""
    return Said(thought.strip(), content.strip(), [(name, value(given)) for name, given in found.values()])


def whole(parser: Any, text: str) -> Said:
    thought, content, calls = parser.parse(text, request(), enable_auto_tools=True)
    found = [(call.name, json.loads(call.arguments)) for call in calls or []]
    return Said((thought or "").strip(), (content or "").strip(), found)


def make(parser: Any, answer: Answer) -> Any:
    asked = answer.is_thinking or bool(answer.wanted.reasoning)
    return parser(tokenizer(), None, chat_template_kwargs={"enable_thinking": asked})


def is_right(parser: Any, answer: Answer) -> bool:
    try:
        return whole(make(parser, answer), answer.text) == answer.wanted and all(
            streamed(make(parser, answer), answer.text, size) == answer.wanted for size in SIZES
        )
    except Exception:  # If a parser fails, the text counts as read wrong.
        return False


def again(answers: list[Answer]) -> list[Answer]:
    """Return answers in which the model thinks again after content or a call."""
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", "days": 3}}\n</tool_call>'
    calls = [(ONE[0]["name"], ONE[0]["arguments"])]
    return [
        Answer("qwen3", False, Said("ab", "Yes.No.", []), "<think>\na\n</think>\n\nYes.<think>b</think>No."),
        Answer("qwen3", False, Said("ab", "Yes.No.", calls), f"<think>\na\n</think>\n\nYes.{call}<think>b</think>No."),
        Answer("qwen3", False, Said("ab", "No.", calls), f"<think>\na\n</think>\n\n{call}<think>b</think>No."),
    ]


def main() -> None:
    prepare()
    import libaside.vllm as entry
    from vllm.parser.parser_manager import ParserManager

    entry.register()
    manager = patched_manager()
    check_grammars("vllm", functools.partial(tag_of, ParserManager))
    names = sorted({*DIALECTS["reasoning"].values()} & {*DIALECTS["tool"].values()})
    harmony = manager.get_parser("aside", "aside", enable_auto_tools=True, is_harmony=True)
    assert harmony.__name__ == "AsideParser", "vLLM's own parser of the format"
    answers = list(written(names))
    answers += again(answers)
    lost = []
    right = [0, 0]
    for answer in answers:
        pair, parser = (parser_of(one, answer.dialect) for one in (ParserManager, manager))
        assert parser.__name__ == "AsideParser", "the patch has no effect"
        is_parser = is_right(parser, answer)
        right[0] += is_right(pair, answer)
        right[1] += is_parser
        if not is_parser:
            lost.append(f"{answer}\n\t{whole(make(parser, answer), answer.text)}\n\t{streamed(make(parser, answer), answer.text, 1)}\n")
    (OUT / "lost-vllm-parser.txt").write_text("".join(lost))
    print(f"vllm answers: registered pair {right[0]}, Parser {right[1]}, of {len(answers)}")

    ids = {part: tokenizer().encode(part) for part in tokens(64_000)}
    asked = request()

    def feeder(parser: Any) -> Any:
        made = parser(tokenizer(), asked.tools)
        return lambda part: made.parse_delta(part, ids.get(part) or [1], asked, [], finished=False)

    own = ParserManager.get_parser(tool_parser_name="qwen3_coder", reasoning_parser_name="qwen3", enable_auto_tools=True)
    print_micros("vllm (pair)", lambda: feeder(own), lambda: feeder(parser_of(ParserManager, "qwen3")))
    print_micros("vllm (Parser)", lambda: feeder(own), lambda: feeder(parser_of(manager, "qwen3")))


main()
