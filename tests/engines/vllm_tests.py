"""Runs vLLM's own tests of its parsers, first with vLLM's parsers and then with those of `libaside.vllm` in their place. Prints a
line for each kind of parser: how many tests count, and how many of them pass.

    vllm_tests.py SOURCE OUT

SOURCE is vLLM's source. The messages of tests that libaside fails are written to OUT/lost-KIND.txt. `vllm-lost.txt` has the reason for
each of them; differences from that list are printed. The tests that vLLM's own parsers pass are counted, except those in
`vllm-uncounted.txt`, which test internals of a parser's class, or no parser.

Models are not downloaded. One tokenizer made here replaces those of the hub: it has bytes, some merges, and the markers of all
families.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SOURCE, OUT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
DIALECTS = tomllib.loads((HERE / "vllm-dialects.toml").read_text())
FOLDERS = {"reasoning": "tests/reasoning", "tool": "tests/tool_parsers"}
# These files do not test parsers.
LEFT_OUT = ("tests/tool_parsers/test_utils.py", "tests/tool_parsers/test_structural_tag_registry.py")

sys.path.insert(0, str(SOURCE))
os.chdir(SOURCE)

import pytest  # noqa: E402
import transformers  # noqa: E402
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: E402


class Local(transformers.PreTrainedTokenizerFast):
    """Replaces a tokenizer of the hub."""

    def decode(self, token_ids: Any, *args: Any, **kwargs: Any) -> Any:
        # Some tests pass tokens instead of ids.
        if isinstance(token_ids, (list, tuple)) and token_ids and isinstance(token_ids[0], str):
            token_ids = self.convert_tokens_to_ids(list(token_ids))
        return super().decode(token_ids, *args, **kwargs)


@functools.cache
def tokenizer() -> Local:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    text = "This is a reasoning section and this is the rest of the response with a content and a tool call for weather in the city of Dallas"
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator([text] * 3, trainers.BpeTrainer(vocab_size=700, initial_alphabet=alphabet, show_progress=False))
    made.add_special_tokens([AddedToken("<|endoftext|>", special=True)])
    # The markers are not special, so that they are decoded.
    made.add_tokens([AddedToken(word, normalized=False) for word in (HERE / "special-tokens.txt").read_text().split()])
    return Local(tokenizer_object=made, eos_token="<|im_end|>", clean_up_tokenization_spaces=False)


def prepare() -> None:
    """Prepare both runs: put in the tokenizer, and make calls equal if their arguments are the same JSON value."""
    transformers.AutoTokenizer.from_pretrained = classmethod(lambda cls, *args, **kwargs: tokenizer())
    for module in ("vllm.tokenizers", "vllm.tokenizers.registry"):
        found = importlib.import_module(module)
        for name in ("get_tokenizer", "cached_get_tokenizer"):
            if hasattr(found, name):
                setattr(found, name, lambda *args, **kwargs: tokenizer())

    def value(text: Any) -> Any:
        try:
            return json.loads(text)
        except (TypeError, ValueError):
            return text

    call = importlib.import_module("vllm.entrypoints.generate.base.protocol").FunctionCall
    call.__eq__ = lambda one, two: (
        isinstance(two, call) and one.name == two.name and value(one.arguments) == value(two.arguments)
    )
    importlib.import_module("vllm.parser.engine.registered_adapters")


def put_in(kind: str) -> dict[type, type]:
    """Register libaside's parsers in vLLM's manager. Return the replacement of each class."""
    aside = importlib.import_module("libaside.vllm")
    if kind == "reasoning":
        manager, make = importlib.import_module("vllm.reasoning").ReasoningParserManager, aside.reasoning_parser
        store = manager.reasoning_parsers
    else:
        manager, make = importlib.import_module("vllm.tool_parsers").ToolParserManager, aside.tool_parser
        store = manager.tool_parsers
    stand_ins: dict[type, type] = {}
    for name, (module, class_name) in list(manager.lazy_parsers.items()):
        if name in DIALECTS[kind]:
            own = getattr(importlib.import_module(module), class_name)
            # The ids of the tests contain the class name.
            policies = DIALECTS["policies"][kind].get(name, {})
            stand_ins.setdefault(own, type(class_name, (make(DIALECTS[kind][name], **policies),), {}))
            store[name] = stand_ins[own]
    return stand_ins


class Results:
    """Collects the result of each test, and replaces the parsers that test modules have imported by name."""

    def __init__(self, stand_ins: dict[type, type]) -> None:
        self.stand_ins = stand_ins
        self.lost: dict[str, str] = {}
        self.passed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        ours = [module for name, module in sys.modules.items() if name.startswith("vllm.")]
        for module in {item.module for item in items} | {*ours}:
            for name, value in list(vars(module).items()):
                if isinstance(value, type) and value in self.stand_ins:
                    setattr(module, name, self.stand_ins[value])
                elif isinstance(value, type) and re.match("(Dummy|Fake|Mock|Stub).*okenizer", name):
                    if module.__name__.startswith("tests") and not hasattr(value, "decode"):
                        value.decode = decode

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)
        elif report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.lost[report.nodeid] = " ".join(str(getattr(crash, "message", "")).split())[:300]
            self.passed.discard(report.nodeid)


def decode(self: Any, ids: Any, **kwargs: Any) -> str:
    """Decode ids for a tokenizer of vLLM's tests that has no method `decode`."""
    names = {number: token for token, number in self.get_vocab().items()}
    return "".join(names.get(number, chr(number) if isinstance(number, int) and number < 128 else "") for number in ids)


def run(kind: str, is_ours: bool) -> Path:
    """Run the tests of a kind in a separate process, because vLLM can be imported only once. Return the path of the results."""
    out = OUT / f"{'aside' if is_ours else 'own'}-{kind}.json"
    out.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        log = os.open(out.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        results = Results(put_in(kind) if is_ours else {})
        options = ["-q", "-p", "no:cacheprovider", "--tb=line", "-W", "ignore", "-o", "asyncio_mode=auto"]
        ignored = [f"--ignore={path}" for path in LEFT_OUT]
        pytest.main([*options, f"--confcutdir={FOLDERS[kind]}", *ignored, FOLDERS[kind]], plugins=[results])
        out.write_text(json.dumps({"passed": sorted(results.passed), "lost": results.lost}))
        os._exit(0)
    os.waitpid(child, 0)
    return out


def main() -> None:
    prepare()
    OUT.mkdir(parents=True, exist_ok=True)
    uncounted = set((HERE / "vllm-uncounted.txt").read_text().splitlines())
    for kind in FOLDERS:
        own, ours = (json.loads(run(kind, is_ours).read_text()) for is_ours in (False, True))
        counted = set(own["passed"]) - uncounted
        lost = sorted(counted - set(ours["passed"]))
        known = {line.split("\t")[1] for line in (HERE / "vllm-lost.txt").read_text().splitlines()}
        for test in sorted(set(lost) ^ {test for test in known if test.startswith(FOLDERS[kind])}):
            print(f"vllm {kind}: {'no reason for' if test in lost else 'passes now:'} {test}")
        lines = [f"{test}\t{ours['lost'].get(test, 'not run')}\n" for test in lost]
        (OUT / f"lost-{kind}.txt").write_text("".join(lines))
        print(f"vllm {kind}: own {len(counted)}, aside {len(counted) - len(lost)}, of {len(counted)}")


if __name__ == "__main__":
    main()
