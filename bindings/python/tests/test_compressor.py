"""Tests tool results, whole and as streams."""

from __future__ import annotations

from typing import Any

import pytest

import libaside
from libaside import Compressor

LOG = "".join(f"compiling unit {n}\n" for n in range(500)) + "main.c:3:1: error: unknown type name 'item'\n"
INPUT = {"command": "make", "exit_code": 2}


def test_a_result_is_shorter_and_keeps_its_error() -> None:
    short = Compressor(budget=1024).compress(LOG, tool_id="bash", input=INPUT)
    assert len(short.text.encode()) <= 1024 and LOG.splitlines()[-1] in short.text
    assert short.report.before == len(LOG) and short.report.after < short.report.before and short.report.filters
    data = Compressor(budget=1024).compress(LOG.encode(), tool_id="bash", input=INPUT)
    assert data.text == short.text.encode()
    assert Compressor().compress("short\n", tool_id="bash", input="make").text == "short\n"


def test_lengths_are_bytes_and_units_are_what_the_banner_says() -> None:
    text = "日本語 the same line 😀\n" * 200
    short = Compressor().compress(text, tool_id="bash", input="make")
    report = short.report
    assert (report.before, report.before_units) == (len(text.encode()), len(text.encode("utf-16-le")) // 2)
    assert (report.after, report.after_units) == (len(short.text.encode()), len(short.text.encode("utf-16-le")) // 2)


def test_a_budget_in_tokens_is_estimated_or_counted() -> None:
    log = "".join(f"step {n} is done\n" for n in range(5000))
    estimated = Compressor(budget_tokens=600).compress(log, tool_id="bash", input=INPUT)
    assert len(estimated.text) <= 3600
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return len(text) // 2

    counted = Compressor(budget_tokens=600, count=count).compress(log, tool_id="bash", input=INPUT)
    assert len(counted.text) <= 1201 and counted.text in seen and len(seen) <= 8 and not counted.report.failed
    with Compressor(budget_tokens=600, count=count).stream(tool_id="bash", input=INPUT, memory=16_384) as stream:
        assert len(stream.feed(log) + stream.finish()) <= 1201

    def broken(text: str) -> int:
        raise RuntimeError("no tokenizer")

    def negative(_: str) -> int:
        return -1

    def words(_: str) -> Any:
        return "many"

    for wrong, reason in [(broken, "no tokenizer"), (negative, "negative"), (words, "str")]:
        short = Compressor(budget_tokens=600, count=wrong).compress(log, tool_id="bash", input=INPUT)
        assert short.text == estimated.text
        [(name, why)] = short.report.failed
        assert name == "count" and reason in why
    with pytest.raises(libaside.AsideError, match="the least is 512"):
        Compressor(budget_tokens=511)


def test_a_stream_holds_no_more_than_its_memory() -> None:
    with Compressor(budget=1024).stream(tool_id="bash", input=INPUT, memory=16_384) as stream:
        out = "".join(stream.feed(LOG[at : at + 100]) for at in range(0, len(LOG), 100)) + stream.finish()
        report = stream.report
        with pytest.raises(libaside.AsideError, match="ended"):
            stream.feed("more")
    assert report is not None and report.before == len(LOG)
    assert len(out.encode()) <= 1024 and LOG.splitlines()[-1] in out


def test_errors_say_what_to_do() -> None:
    with pytest.raises(libaside.AsideError, match="the least is 1024"):
        Compressor(budget=10)
    with pytest.raises(libaside.DialectError):
        Compressor(filters=["name = 3"])


def test_the_exit_code_of_a_stream_comes_last() -> None:
    for code in (0, 2):
        stream = Compressor().stream(tool_id="bash", input={"command": "pytest"})
        stream.feed("==== 3 passed in 0.1s ====\n")
        stream.set_exit_code(code)
        stream.finish()
        assert stream.report is not None and stream.report.unexplained == (code == 2)
        with pytest.raises(ValueError):
            stream.set_exit_code(code)


def test_a_text_that_is_longer_than_the_memory() -> None:
    text = "the same line\n" * 100_000
    assert len(Compressor(budget=2000, memory=8192).compress(text, tool_id="bash", input="make").text) <= 2000


def test_a_stream_of_str_is_not_cut_inside_a_character() -> None:
    text = "日本語" * 20_000
    stream = Compressor().stream(tool_id="bash", input="cat x", memory=4096)
    out = "".join(stream.feed(text[at : at + 777]) for at in range(0, len(text), 777)) + stream.finish()
    assert out == text


def test_a_stream_that_is_left_can_still_be_ended() -> None:
    with Compressor().stream(tool_id="bash", input="make") as stream:
        assert stream.feed("short\n") == ""
    assert stream.finish() == "short\n" and stream.report is not None
    with pytest.raises(RuntimeError), Compressor().stream(tool_id="bash", input="make") as stream:
        stream.feed("short\n")
        raise RuntimeError
    with pytest.raises(ValueError):
        stream.finish()
