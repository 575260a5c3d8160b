"""Tests requests whose history is rewritten."""

from __future__ import annotations

import json

import libaside
import pytest
from libaside import AsideError, Dialect, DialectError, history_server, rewrite_history

BODY = '{"messages":[{"role":"assistant","content":"b","reasoning_content":"a"}]}'


def test_the_thinking_goes_under_the_name_that_the_server_reads() -> None:
    path_format = libaside.history_format("/v1/chat/completions?x")
    assert path_format == "chat"
    assert libaside.history_format("/v1/models") is None
    wanted = {
        "vllm": '{"messages":[{"role":"assistant","content":"b","reasoning":"a"}]}',
        "sglang": BODY,
        "minimax": '{"messages":[{"role":"assistant","content":"<think>\\na\\n</think>\\n\\nb"}]}',
    }
    for server, body in wanted.items():
        options = history_server(server, path_format)
        assert options is not None
        out, report = rewrite_history(BODY, **options)
        assert (out, report.outcome, report.changed) == (body, "read", int(body != BODY))
        assert rewrite_history(BODY.encode(), **options)[0] == body.encode()
    assert "deepseek" in libaside.history_servers()
    assert history_server("mistral", "responses") is None


def test_every_option_and_outcome() -> None:
    blocks = [{"type": "thinking", "thinking": "a", "signature": ""}, {"type": "tool_use"}]
    request = {"thinking": {"type": "enabled"}, "messages": [{"role": "assistant", "content": blocks}]}
    out, report = rewrite_history(json.dumps(request), format="messages", made="remove")
    request = {"thinking": {"type": "disabled"}, "messages": [{"role": "assistant", "content": blocks[1:]}]}
    assert json.loads(out) == request
    assert (report.changed, report.refused, report.unread, report.thinking_off) == (1, 0, 0, True)
    for body, outcome in {
        b"[]": "not_request",
        b"\xff": "not_utf8",
        b'{"a":1,"a":2}': "repeated",
        b'{"conversation":"c","input":[]}': "stored",
        b" " * 100: "too_long",
    }.items():
        same, report = rewrite_history(body, format="responses", turns="none", missing="remove", max_body=99)
        assert (same, report.outcome) == (body, outcome)
    names = {
        "thinking": '"thinking":"a"',
        "parts": '"content":[{"type":"thinking"',
        "reasoning_details": '"reasoning_details":[',
        "text": '"content":"[t]a[/t]b"',
    }
    dialect = Dialect.load("name = 'm'\n[[span]]\nchannel = 'thinking'\nopen = ['[t]']\nclose = ['[/t]']\n")
    for name, part in names.items():
        assert part in rewrite_history(BODY, format="chat", name=name, dialect=dialect)[0]  # type: ignore[arg-type]


def test_faults() -> None:
    with pytest.raises(AsideError, match="the nearest is vllm"):
        history_server("vlm", "chat")
    with pytest.raises(DialectError) as error:
        libaside.load_history_server("name = 3", "chat")
    assert (error.value.line, error.value.key) == (1, "name")
    options = libaside.load_history_server("name = 'm'\n[chat]\nmissing = 'empty'\nsources = []\n", "chat")
    assert options == {"format": "chat", "name": "as_is", "turns": "all", "missing": "empty", "made": "keep"}
    with pytest.raises(AsideError, match="needs a dialect"):
        rewrite_history("{}", format="chat", name="text")
    with pytest.raises(AsideError, match=r'turns="some" is unknown: write "all"'):
        rewrite_history("{}", format="chat", turns="some")  # type: ignore[arg-type]
