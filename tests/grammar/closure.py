"""Tries the grammars of `aside grammar` with the engines that use them: xgrammar and llguidance.

    python tests/grammar/closure.py target/release/aside [DIALECT]
    python tests/grammar/closure.py target/release/aside --texts FILE

Each call that a chat template of tests/field writes must be in the grammar of its dialect, in both languages; the same call without a
required key must not be. The call must also be in the grammar of free text with calls in it. A turn that a template writes with thinking
must be in the grammars that have the thinking, with and without its opener, and not in the one that begins after it; `aside split` must
read its calls. With `--texts`, each line of a file is a text that must be in the grammar of its dialect and its start: `ASIDE_JOINED=FILE cargo test --lib grammar` writes what `join` writes, `ASIDE_SAMPLES=FILE` what was sampled from the grammars. Needs the packages xgrammar, llguidance and jinja2. xgrammar needs only the names of torch and transformers.
"""

from __future__ import annotations

import copy
import datetime
import functools
import json
import os
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

import jinja2
import jinja2.ext
import tvm_ffi  # noqa: F401  (before the replacement for torch, which it would look into)
from jinja2.sandbox import SandboxedEnvironment
from llguidance import LLMatcher, LLTokenizer


class _Names(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return (lambda *_, **__: None) if name == "tensor" else type(name, (), {})


for _name in ("torch", "transformers"):
    sys.modules.setdefault(_name, _Names(_name))

import xgrammar  # noqa: E402
from xgrammar.testing import _is_grammar_accept_string  # noqa: E402

HERE = Path(__file__).parent
TEMPLATES = HERE.parent / "field" / "templates"
TOOLS = json.loads((HERE / "tools.json").read_text())
BYTES = LLTokenizer("byte")

# The arguments of a call of each tool, with the keys in the order of the schema.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "get_weather": {"city": "Oslo", "days": 3},
    "now": {},
    "search": {"query": "a <b> & \"c\"", "limit": 5},
    "write_file": {"content": "# Title\n\nText.\n", "path": "a/b.md"},
    "set_unit": {"unit": "celsius"},
    "add": {"a": -1.5, "b": 2},
    "tag-list": {"tags": ["x", "y z"]},
    "move_to": {"place": {"x": 1, "y": -2}},
    "remind": {"at": "noon"},
    "play": {"loud": True, "song": "Ode"},
    "rate": {"stars": 4},
    "draw": {"points": [{"x": 0.5, "y": 1}, {"x": 2, "y": 3}]},
}

# Thinking that mentions openers of calls, which are text in it.
THINKING = "Hm.\n\nA <tool_call> or a [TOOL_CALLS] begins a call, and <tool_calls> several."

# Templates whose calls no grammar can allow, with the reason.
LEFT_OUT = {
    "ovms_chat_template_phi4_mini.jinja": "writes arguments as Python does, and no opener",
    "kaito_tool-chat-phi4-mini.jinja": "writes arguments as Python does, and no opener",
    "anew_command-r-plus.jinja": "writes OpenAI's entries, which the family does not",
    "anew_muse.jinja": "writes the arguments alone, in a message to the tool",
    "anew_functionary.jinja": "belongs to no dialect",
}
NO_OPENER = {
    "ik_Apriel-1.6-15b-Thinker-fixed.jinja": "its prompts have the opener, and its turns have none",
}
LEFT_OUT_CALLS = {
    ("ovmst_chat_template_minicpm5.jinja", "tag-list"): "writes lists as Python does",
    ("ovmst_chat_template_minicpm5.jinja", "move_to"): "writes all arguments as one object, which the dialect does not read",
    ("ovmst_chat_template_minicpm5.jinja", "draw"): "writes all arguments as one object, which the dialect does not read",
    ("anew_nemotron-3.jinja", "tag-list"): "writes lists as Python does",
}


class _Generation(jinja2.ext.Extension):
    """The tag that marks what a model writes, for training."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Any) -> Any:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


@functools.cache
def template(file: str) -> jinja2.Template:
    extensions = ["jinja2.ext.loopcontrols", "jinja2.ext.do", _Generation]
    environment = SandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=extensions)
    environment.filters["tojson"] = lambda value, **_: json.dumps(value, ensure_ascii=False)
    environment.filters["from_json"] = json.loads
    environment.globals.update(raise_exception=refuse, strftime_now=lambda form: datetime.datetime.now().strftime(form))
    return environment.from_string((TEMPLATES / file).read_text())


def render(file: str, messages: list[Any], **variables: Any) -> str:
    return template(file).render(
        messages=messages, tools=TOOLS, add_generation_prompt=False, bos_token="", eos_token="</s>", **variables
    )


def turn(file: str, calls: list[tuple[str, Any]], thinking: str = "") -> str | None:
    """Return a turn with calls, and with thinking before them, as a template writes it; None if it writes no calls."""
    user = {"role": "user", "content": "hi"}
    thought: dict[str, Any] = {}
    if thinking:
        thought = dict.fromkeys(("reasoning_content", "reasoning", "thinking"), thinking)
        if "block['type'] == 'thinking'" in (TEMPLATES / file).read_text():
            thought = {"content": [{"type": "thinking", "thinking": thinking}]}
    for form in (lambda value: value, json.dumps):
        made = [
            {
                "id": f"functions.{name}:{at}" if "kimi" in file else f"abcdefgh{at}",
                "type": "function",
                "function": {"name": name, "arguments": form(copy.deepcopy(arguments))},
            }
            for at, (name, arguments) in enumerate(calls)
        ]
        for after in ([], [{"role": "tool", "content": "ok", "tool_call_id": made[0]["id"], "name": calls[0][0]}]):
            try:
                variables = {"enable_thinking": True} if thinking else {}
                before = render(file, [user], **variables)
                answer = {"role": "assistant", "content": "", "tool_calls": made, **thought}
                whole = render(file, [user, answer, *after], **variables)
            except (jinja2.TemplateError, TypeError):
                continue
            text = whole[len(os.path.commonprefix([before, whole])) :]
            if all(name in text for name, _ in calls) and "{'" not in text:
                return text
    return None


class Grammar:
    """A grammar in both languages."""

    def __init__(self, program: str, dialect: str, choice: str, start: str | None = None) -> None:
        def made(engine: str) -> str:
            command = [program, "grammar", "--dialect", dialect, "--tools", str(HERE / "tools.json"), "--for", engine]
            command += ["--choice", choice, *(["--start", start] if start else [])]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{dialect}: {done.stderr}")
            return done.stdout

        self.tag = xgrammar.Grammar.from_structural_tag(json.loads(made("xgrammar")))
        self.lark = LLMatcher.grammar_from_lark(made("lark"))
        if error := LLMatcher.validate_grammar(self.lark, BYTES):
            raise SystemExit(f"{dialect}: {error}")
        self.matcher = LLMatcher(BYTES, self.lark)

    def allows(self, text: str) -> tuple[bool, bool]:
        matcher, tokens = self.matcher.deep_copy(), BYTES.tokenize_bytes(text.encode())
        is_read = matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()
        return _is_grammar_accept_string(self.tag, text), is_read


def main(program: str, only: str | None = None) -> None:
    counts, wrong = [0, 0], []
    rows = [row.rstrip("\n").split("\t") for row in (TEMPLATES / "INDEX.tsv").open() if not row.startswith("#")]
    grammars: dict[str, Grammar] = {}
    free: dict[str, Grammar] = {}
    thoughts = Thoughts(program)
    for file, dialects, *_ in rows:
        for dialect in dialects.split("|"):
            if file in LEFT_OUT or dialect == "-" or only not in (None, dialect):
                continue
            pairs = list(ARGUMENTS.items())
            for calls in [[pair] for pair in pairs] + [pairs[:2], pairs[2:5]]:
                text = turn(file, calls)
                if text is None or any((file, name) in LEFT_OUT_CALLS for name, _ in calls):
                    continue
                if dialect not in grammars:
                    grammars[dialect] = Grammar(program, dialect, "required")
                    free[dialect] = Grammar(program, dialect, "auto")
                grammar = grammars[dialect]
                # The calls are somewhere in the turn. The text around them has no name of a tool.
                first = text.index(calls[0][0])
                found, call = search(grammar, text, range(first, max(-1, first - 150), -1), text.rindex(calls[-1][0]))
                counts[0] += 1
                if not all(found):
                    wrong.append(f"{dialect} {file} {[name for name, _ in calls]}: {found} {text!r}")
                elif not all(free[dialect].allows("Well. " + call)):
                    wrong.append(f"{dialect} {file}: not in free text: {call!r}")
                counts[1] += any(refused(grammar, file, *pair) for pair in calls if len(calls) == 1)
                thoughts.check(dialect, file, calls, grammar)
    print(f"{counts[1]} calls without a required key are refused")
    print(f"{counts[0] - len(wrong)} of {counts[0]} turns with calls are in the grammar of their dialect")
    print(f"{thoughts.count - len(thoughts.wrong)} of {thoughts.count} turns with thinking, of {len(thoughts.files)} templates and {len(thoughts.dialects)} dialects")
    wrong += thoughts.wrong
    print("\n".join(wrong[:40]))
    sys.exit(bool(wrong) or not (only or thoughts.count))


class Thoughts:
    """Checks turns with thinking before their calls."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.count = 0
        self.wrong: list[str] = []
        self.dialects: set[str] = set()
        self.files: set[str] = set()

    @functools.cache
    def grammar(self, dialect: str, choice: str, start: str) -> Grammar:
        return Grammar(self.program, dialect, choice, start)

    @functools.cache
    def start(self, dialect: str) -> str:
        listed = subprocess.run([self.program, "dialects", dialect], capture_output=True, text=True, check=True)
        return "header" if " header\n" in listed.stdout else "content"

    def check(self, dialect: str, file: str, calls: list[tuple[str, Any]], plain: Grammar) -> None:
        text = turn(file, calls, THINKING) or ""
        if THINKING not in text:
            return
        at, last, start = text.index(THINKING), text.rindex(calls[-1][0]), self.start(dialect)
        found, whole = search(self.grammar(dialect, "required", start), text, range(at, max(-1, at - 150), -1), last)
        inside, rest = search(self.grammar(dialect, "required", "thinking"), text, range(at, at - 1, -1), last)
        faults = []
        if file in NO_OPENER:
            found, whole, start = inside, rest, "thinking"
        if not all(found + inside):
            faults.append(f"{found} from {start}, {inside} from inside")
        elif any(plain.allows(whole) + plain.allows(rest)):
            faults.append("allowed after the thinking")
        else:
            free = [(start, whole), (start, "Well. " + whole), ("thinking", rest)]
            faults += [f"not in free text: {one!r}" for start, one in free if not all(self.grammar(dialect, "auto", start).allows(one))]
            command = [self.program, "split", "--calls", "--dialect", dialect, "--start"]
            for where, one in [(start, whole), ("thinking", rest)]:
                done = subprocess.run([*command, where], input=one, capture_output=True, text=True, check=True)
                thinking, *read = done.stdout.split("[tool call=")
                if THINKING not in thinking or len(read) != len(calls):
                    faults.append(f"read as {done.stdout!r}")
        self.count += 1
        self.dialects.add(dialect)
        self.files.add(file)
        self.wrong += [f"{dialect} {file} {[name for name, _ in calls]}: {fault}: {text!r}" for fault in faults[:1]]


def try_texts(program: str, file: str) -> None:
    """Try the texts of a file, each with its dialect."""
    grammars: dict[tuple[str, str | None], Grammar] = {}
    wrong, count = [], 0
    for line in Path(file).read_text().splitlines():
        row = json.loads(line)
        dialect, text, start = row["dialect"], row["text"], row.get("start")
        if (dialect, start) not in grammars:
            grammars[dialect, start] = Grammar(program, dialect, "required", start)
        count += 1
        allowed = grammars[dialect, start].allows(text)
        if not all(allowed):
            wrong.append(f"{dialect}: {allowed} {text!r}")
    names = {dialect for dialect, _ in grammars}
    print(f"{count - len(wrong)} of {count} texts are in the grammar of their dialect, of {len(names)} dialects")
    print("\n".join(wrong[:40]))
    sys.exit(bool(wrong) or not count)


def refused(grammar: Grammar, file: str, name: str, arguments: dict[str, Any]) -> bool:
    """Return whether both engines refuse a call without a required key. Raise an error if one of them allows it."""
    schema = next(tool["function"]["parameters"] for tool in TOOLS if tool["function"]["name"] == name)
    if not schema.get("required"):
        return False
    less = {key: value for key, value in arguments.items() if key != schema["required"][-1]}
    text = turn(file, [(name, less)])
    if text is None:
        return False
    at = text.index(name)
    if any(search(grammar, text, range(at, max(-1, at - 150), -1), at)[0]):
        raise SystemExit(f"{file}: a call without {schema['required'][-1]!r} is allowed: {text!r}")
    return True


def search(grammar: Grammar, text: str, starts: range, last: int) -> tuple[list[bool], str]:
    """Return whether each engine allows a part of a turn that begins at one of these places and ends after `last`, and that part."""
    for start in starts:
        tokens = BYTES.tokenize_bytes(text[start:].encode())
        if grammar.matcher.validate_tokens(tokens[:12]) < min(12, len(tokens)):
            continue
        matcher = grammar.matcher.deep_copy()
        # An engine that refuses a beginning refuses it with every end: only the last place at which the text may end is tried.
        end = 0
        for done, token in enumerate(tokens, 1):
            if matcher.try_consume_tokens([token]) == 0:
                break
            if matcher.is_accepting():
                end = done
        if end > len(text[start:last].encode()):
            part = bytes(tokens[:end]).decode()
            return [_is_grammar_accept_string(grammar.tag, part), True], part
    return [False, False], ""


if __name__ == "__main__":
    if sys.argv[2:3] == ["--texts"]:
        try_texts(sys.argv[1], sys.argv[3])
    else:
        main(*sys.argv[1:])
