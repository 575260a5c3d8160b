"""Tests the forms of the package's functions: the text is the first argument, and another order is an error that explains this.
Also tests the classes of exceptions, and runs the examples in docstrings."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import libaside
import pytest
from libaside import AsideError, BusyError, Compressor, Dialect, UnknownDialectError, aio, arrow

QWEN3 = Dialect.find("qwen3")
TEXT = "<think>hm</think>Yes."


@pytest.mark.parametrize("function", [libaside.strip, libaside.split, libaside.escape])
def test_the_text_comes_before_the_dialect(function: Callable[..., Any]) -> None:
    assert list(inspect.signature(function).parameters)[:2] == ["text", "dialect"]
    for text in (TEXT, TEXT.encode()):
        assert repr(function(text, "qwen3")) == repr(function(text, QWEN3)) == repr(function(text=text, dialect="qwen3"))
    with pytest.raises(UnknownDialectError, match="no dialect `<think>hm.*the text comes first, then the dialect"):
        function("qwen3", TEXT)
    # The hint appears only if it helps.
    with pytest.raises(UnknownDialectError) as unknown:
        function(TEXT, "quen3")
    assert "text" not in str(unknown.value)
    with pytest.raises(TypeError, match="text must be str or bytes, not Dialect"):
        function(QWEN3, TEXT)
    with pytest.raises(TypeError, match="a dialect is a Dialect or the name of one, not bytes"):
        function("qwen3", TEXT.encode())
    with pytest.raises(UnicodeEncodeError):
        function(TEXT, "\ud800")


def test_join_takes_the_dialect_by_name() -> None:
    parameters = inspect.signature(libaside.join).parameters
    assert list(parameters)[:3] == ["thinking", "content", "dialect"]
    assert parameters["dialect"].kind is inspect.Parameter.KEYWORD_ONLY
    assert libaside.join("hm", "Yes.", dialect="qwen3") == libaside.join("hm", "Yes.", dialect=QWEN3)
    assert libaside.join(b"hm", b"Yes.", dialect="qwen3") == libaside.join("hm", "Yes.", dialect="qwen3").encode()
    join: Any = libaside.join
    for dialect in ("qwen3", QWEN3):
        with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
            join(dialect, "hm", "Yes.")
    with pytest.raises(TypeError, match="missing 1 required keyword argument: 'dialect'"):
        join("hm", "Yes.")
    with pytest.raises(TypeError, match="began with str"):
        join("hm", b"Yes.", dialect="qwen3")


def test_tool_results_come_before_what_printed_them() -> None:
    compressor: Any = Compressor()
    for function, first in [(compressor.compress, "text"), (aio.compress, "text"), (arrow.compress, "array")]:
        parameters = inspect.signature(function).parameters
        assert next(iter(parameters)) == first
        assert {name for name, parameter in parameters.items() if parameter.kind is inspect.Parameter.KEYWORD_ONLY} == {
            "tool_id",
            "input",
        }
    with pytest.raises(TypeError, match="takes 1 positional arguments? but 3 were given"):
        compressor.compress("bash", "make", "a log")
    with pytest.raises(TypeError, match="takes 0 positional arguments but 2 were given"):
        compressor.stream("bash", "make")
    column: Any = ["a log"]
    with pytest.raises(TypeError, match="takes 2 positional arguments but 4 were given"):
        arrow.compress(column, compressor, "bash", "make")  # type: ignore[call-arg]


def test_columns_come_before_the_dialect() -> None:
    for function in (arrow.split, arrow.strip):
        assert list(inspect.signature(function).parameters)[:2] == ["array", "dialect"]
        swapped: Any = function
        with pytest.raises((TypeError, ValueError)):
            swapped("qwen3", ["a text"])


def test_exceptions_have_the_classes_that_programs_catch() -> None:
    assert issubclass(BusyError, AsideError) and issubclass(BusyError, RuntimeError)
    assert (BusyError.__module__, BusyError.__qualname__) == ("libaside", "BusyError") and BusyError.__doc__
    for error in (libaside.DialectError, libaside.JoinError, UnknownDialectError):
        assert issubclass(error, AsideError) and not issubclass(error, RuntimeError)
    assert issubclass(AsideError, ValueError) and issubclass(libaside.AmbiguousDialectError, UnknownDialectError)


# Calls a function with little memory left, and with more each time, until there is enough. With too little memory, the process must
# not end.
POOR = """
import resource
from libaside import Dialect, Rewriter, Scanner, escape, join, split, strip

text = {text}
scanner, rewriter = Scanner("qwen3"), Rewriter("qwen3")
[function("<think>a</think>b", "qwen3") for function in (strip, split, escape)]
Dialect.find_for_template("<think>")
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
for room in range(0, 400 << 20, 20 << 20):
    resource.setrlimit(resource.RLIMIT_AS, (size + room, resource.RLIM_INFINITY))
    try:
        {call}
    except MemoryError as error:
        assert type(error) is MemoryError
        outcome = "MemoryError"
    else:
        outcome = "done"
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(outcome)
    if outcome == "done":
        break
    scanner.reset()
    rewriter.reset()
"""
WHOLE = '"<think>" + "a" * (20 << 20) + "</think>" + "b" * (20 << 20)'


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory as Linux has them")
@pytest.mark.parametrize(
    ("text", "call"),
    [
        (WHOLE, 'strip(text, "qwen3")'),
        (WHOLE, 'split(text, "qwen3")'),
        (f"({WHOLE}).encode()", 'split(text, "qwen3")'),
        (WHOLE, 'escape(text, "qwen3")'),
        ('"a" * (20 << 20)', 'join(text, text, dialect="qwen3")'),
        (WHOLE, "scanner.split(text)"),
        (WHOLE, "scanner.feed(text)"),
        (f"({WHOLE}).encode()", "rewriter.feed(b'data: ' + text)"),
        ('"<think>" + "a" * (40 << 20)', "Dialect.find_for_template(text)"),
    ],
)
def test_memory_that_runs_out_is_a_memory_error(text: str, call: str) -> None:
    program = POOR.format(text=text, call=call)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    outcomes = done.stdout.split()
    assert len(outcomes) > 1 and outcomes == ["MemoryError"] * (len(outcomes) - 1) + ["done"]


def docstrings() -> Iterator[tuple[str, str]]:
    for name in libaside.__all__:
        item = getattr(libaside, name)
        members = [(f"{name}.{member}", value) for member, value in vars(item).items()] if inspect.isclass(item) else []
        for path, value in [(name, item), *members]:
            text = getattr(value, "__doc__", None)
            if isinstance(text, str) and ">>>" in text and not isinstance(value, str):
                yield path, text
    yield "libaside", libaside.__doc__ or ""


@pytest.mark.parametrize(("path", "text"), list(docstrings()))
def test_examples_are_true(path: str, text: str) -> None:
    example = doctest.DocTestParser().get_doctest(text, {}, path, None, None)
    assert example.examples
    result = doctest.DocTestRunner().run(example)
    assert result.failed == 0


def test_functions_have_examples() -> None:
    with_examples = {path for path, _ in docstrings()}
    functions = {name for name in libaside.__all__ if inspect.isroutine(getattr(libaside, name))}
    assert functions and functions <= with_examples, functions - with_examples
