"""Checks at every token that the answers about token ids agree with the scanner's events for their text."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from libaside import Scanner, TokenState, Vocabulary, spans, split

RECORDINGS = Path(__file__).parents[3] / "examples" / "recordings"


def test_byte_level_and_byte_fallback() -> None:
    level = Vocabulary.byte_level(["<think>", "Ġcaf", "Ã", "©", "</s>"], [0, 4])
    assert level.decode([0, 1, 2, 3, 4]) == "<think> café</s>".encode()
    fallback = Vocabulary.byte_fallback(["<think>", "▁caf", "<0xC3>", "<0xA9>"], [0])
    assert fallback.decode([0, 1, 2, 3, 99]) == "<think> café".encode()
    assert len(level) == 5 and len(fallback) == 4


def test_special_tokens_alone_are_markers_if_they_are_known() -> None:
    tokens = [b"<think>", b"<thi", b"nk>", b"hm"]
    known = TokenState("qwen3", Vocabulary(tokens, special=[0]))
    assert known.push([1, 2, 3]) == [("content", "text")] * 3
    text = TokenState("qwen3", Vocabulary(tokens))
    # The last token begins inside the opener and continues after it, so it counts as part of the
    # marker.
    assert text.push([1, 2, 3]) == [("thinking", "marker")] * 2 + [("thinking", "text")]


def test_a_function_in_place_of_a_vocabulary() -> None:
    state = TokenState("qwen3", lambda number: bytes([number]))
    state.push(list(b"<think>hm</think>Yes"))
    assert state.has_ended_thinking() and bytes(state.content_ids()) == b"Yes"
    assert (state.count("thinking"), state.count("content")) == (2, 3)
    with pytest.raises(TypeError, match="a vocabulary is"):
        TokenState("qwen3", "x")  # type: ignore[arg-type]


def test_prompts_copies_and_proposed_tokens() -> None:
    tokens = [b"<|im_start|>assistant\n", b"<think>", b"</think>", b"\n\n", b"hm", b"<tool_call>", b'{"name": "f"}']
    vocabulary = Vocabulary(tokens, special=[1, 2, 5])
    assert not TokenState("qwen3", vocabulary, [0, 1, 2, 4, 0]).has_ended_thinking()
    assert TokenState("qwen3", vocabulary, [0, 1, 3, 2, 3]).has_ended_thinking()
    state = TokenState("qwen3", vocabulary, [0, 1, 3])
    assert state.find_end([4, -1, 2, 3, 1]) == 2 and not state.has_ended_thinking()
    copy = state.copy()
    copy.push([4, 5, 6])
    # A call ends the thinking too, and its opener is content.
    assert copy.has_ended_thinking() and copy.content_ids() == [5, 6]
    assert state.push([4]) == [("thinking", "text")] and state.content_ids() == []
    assert state.finish() == []


@pytest.mark.parametrize("file", sorted(path.name for path in RECORDINGS.glob("*.txt")))
def test_ids_are_what_text_is_at_every_token(file: str) -> None:
    name = file.removesuffix(".txt")
    name = "qwen3" if name in ("qwen3-cut", "qwen3-tool") else name
    text = (RECORDINGS / file).read_bytes()
    rng = random.Random(file)
    cuts = sorted({0, len(text), *(rng.randrange(len(text)) for _ in range(len(text) // 3))})
    tokens = [text[at:end] for at, end in zip(cuts, cuts[1:], strict=False)]
    vocabulary = Vocabulary(tokens)
    state = TokenState(name, vocabulary)
    scanner: Scanner[bytes] = Scanner(name)
    seen: list[tuple[str, str]] = []
    for number, token in enumerate(tokens):
        seen += state.push([number])
        lengths, special = [len(token)], [True]
        scanner.feed_tokens(token, lengths, special)
        whole = TokenState(name, vocabulary)
        if number % 7 == 0:
            whole.push(list(range(number + 1)))
            assert whole.has_ended_thinking() == state.has_ended_thinking()
            assert whole.content_ids() == state.content_ids()
        assert state.content_ids() in ([], list(range(number + 1))[-len(state.content_ids()) :])
    assert len(seen) + len(state.finish()) == len(tokens)


@pytest.mark.parametrize("file", sorted(path.name for path in RECORDINGS.glob("*.txt")))
def test_masks_are_the_spans_of_the_text_at_every_token(file: str) -> None:
    name = file.removesuffix(".txt")
    name = "qwen3" if name in ("qwen3-cut", "qwen3-tool") else name
    text = (RECORDINGS / file).read_bytes()
    tokens = [text[at : at + 5] for at in range(0, len(text), 5)]
    vocabulary = Vocabulary(tokens)
    for count in range(0, len(tokens) + 1, 1 + len(tokens) // 60):
        state = TokenState(name, vocabulary)
        masks = state.channels(list(range(count)))
        prefix = text[: 5 * count]
        wanted: dict[str, bytearray] = {key: bytearray(count) for key in masks}
        for channel, begin, end in spans(prefix, name):
            for number in range(-(-begin // 5), -(-end // 5)):
                wanted[channel][number] = wanted["text"][number] = 1
        assert masks["text"] == wanted["text"]
        for channel in ("content", "thinking", "narration", "tool"):
            is_text = bytearray(a & b for a, b in zip(masks[channel], masks["text"], strict=True))
            assert is_text == wanted[channel]
        assert all(sum(mask) == 1 for mask in zip(*(masks[key] for key in masks if key != "text"), strict=True))


def test_spans_are_in_characters() -> None:
    text = "<think>日本</think>é<think>hm"
    assert [(channel, text[begin:end]) for channel, begin, end in spans(text, "qwen3")] == [
        ("thinking", "日本"),
        ("content", "é"),
        ("thinking", "hm"),
    ]
    data = text.encode()
    found = b"".join(data[begin:end] for channel, begin, end in spans(data, "qwen3") if channel == "thinking")
    assert found == split(data, "qwen3").thinking
    assert spans("no opener</think>Yes.", "qwen3") == [("thinking", 0, 9), ("content", 17, 21)]
