"""Code that the entry files for engines share: it chooses the dialect of a model, and turns a stream into reasoning and content.

An engine passes the content that a reasoning parser returns to a tool parser, so a reasoning parser leaves the calls in it.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from ._libaside import AsideError, Dialect, Part, TokenState, UnknownDialectError, Vocabulary, join, read_request

_log = logging.getLogger(__name__)

Start = Literal["content", "thinking", "narration", "tool", "header"]


def choose_dialect(*models: object, template: object = None) -> Dialect:
    """Return the dialect that the environment variable `ASIDE_DIALECT` names, otherwise that of the first model whose name is
    known, otherwise that of a chat template, otherwise, if `ASIDE_DRAFT` is `1`, a draft from the template, otherwise `any`, with a
    warning."""
    if name := os.environ.get("ASIDE_DIALECT"):
        return Dialect.find(name)
    named = [model for model in models if isinstance(model, str) and model]
    for model in named:
        try:
            return Dialect.find_for_model(model)
        except UnknownDialectError:
            pass
    if isinstance(template, str):
        try:
            return Dialect.find_for_template(template)[0]
        except UnknownDialectError:
            pass
        if os.environ.get("ASIDE_DRAFT") == "1" and (drafted := _draft(template, named)):
            return drafted
    if named:
        _log.warning(
            "libaside knows no dialect for %s and reads the most common markers; set ASIDE_DIALECT to the dialect of the model",
            " or ".join(dict.fromkeys(named)),
        )
    return Dialect.find("any")


def _draft(template: str, named: Sequence[str]) -> Dialect | None:
    """Return a draft from a chat template, with a warning that has its doubts, or None if nothing can be drafted."""
    model = " or ".join(dict.fromkeys(named)) or "the model"
    try:
        draft = Dialect.draft(template, name=named[0] if named else None)
    except AsideError as error:
        _log.warning("libaside cannot draft a dialect for %s: %s", model, error)
        return None
    doubts = "; ".join(draft.doubts) or "no doubts"
    _log.warning("libaside has drafted the dialect of %s from its chat template, with %s", model, doubts)
    return draft.dialect


# Dialects whose models think by default although their prompts open no thinking, and dialects whose models think only if the
# request asks for it. vLLM makes the same assumptions where nothing else is known.
_THINK = ("glm-4.5", "granite-4", "kimi-k2", "qwen3")
_ASK = ("deepseek-v3", "gemma-4", "hy3")


def read_by(template: object, template_kwargs: Mapping[str, object]) -> Mapping[str, object]:
    """Return the variables that a chat template reads, because the others have no effect. Return all if the template is not
    known."""
    if not isinstance(template, str):
        return template_kwargs
    return {name: value for name, value in template_kwargs.items() if name in template}


def thinks(template_kwargs: Mapping[str, object]) -> bool | None:
    """Return whether the variables of a chat template switch the thinking on or off, or None if they do not."""
    return read_request("", json.dumps({"chat_template_kwargs": dict(template_kwargs)}, default=str).encode()).thinks


def start_of(dialect: Dialect, template_kwargs: Mapping[str, object]) -> Start | None:
    """Return the span that is open at the first byte of an answer whose prompt is not known, or None if the dialect decides."""
    wanted: Start | None = None
    wishes = thinks(template_kwargs)
    if wishes is None:
        wishes = True if dialect.name in _THINK else False if dialect.name in _ASK else None
    if wishes is not None:
        wanted = "thinking" if wishes else "content"
    return wanted if wanted in dialect.starts else None


def markers(dialect: Dialect) -> tuple[str, str]:
    """Return the texts that a model of this dialect writes around its reasoning, or the tags of `<think>` if they are not known."""
    starts: tuple[Start | None, ...] = ("content", None)
    for start in starts:
        try:
            before, rest = join("\x02", "\x03", dialect=dialect, start=start).split("\x02")
            after, _ = rest.split("\x03")
        except (AsideError, ValueError):
            continue
        if before.strip():
            return before.strip(), after.strip() or "</think>"
    return "<think>", "</think>"


# ---- parts of an answer ----


class Said(NamedTuple):
    """The additions that parts of an answer make to the reasoning, to the content and to calls."""

    reasoning: str
    content: str
    calls: list[Part[str]]


def said(parts: Iterable[Part[str]]) -> Said:
    """Return the additions of parts. Text that turns out to belong to the other channel is added to that channel's text."""
    texts, calls = {"thinking": "", "content": ""}, []
    for part in parts:
        if part.kind in texts:
            texts[part.kind] += part.text
        elif part.kind in ("call", "arguments", "call_end"):
            calls.append(part)
        elif part.kind == "moved":
            texts[part.to_channel] += texts[part.from_channel]
            texts[part.from_channel] = ""
    return Said(texts["thinking"], texts["content"], calls)


class Call(NamedTuple):
    """A whole call. The id is None if the model wrote none, so that the host must make one."""

    id: str | None
    name: str
    arguments: str


def own_id(call: Part[str]) -> str | None:
    """Return the id that the model wrote."""
    return None if call.is_made else call.id


def whole_calls(parts: Iterable[Part[str]]) -> list[Call]:
    """Return the calls that are complete."""
    made: list[Call] = []
    whole: list[Call] = []
    for part in parts:
        if part.kind == "call":
            made.append(Call(own_id(part), part.name, ""))
        elif part.kind == "arguments":
            made[part.index] = made[part.index]._replace(arguments=made[part.index].arguments + part.text)
        elif part.is_whole:
            whole.append(made[part.index]._replace(id=part.late_id or made[part.index].id))
    return whole


# ---- token ids ----

Tokens = Vocabulary | Callable[[int], bytes]

# The vocabularies, by tokenizer, because all requests share a tokenizer.
_vocabularies: WeakKeyDictionary[Any, Tokens] = WeakKeyDictionary()


def vocabulary(tokenizer: Any) -> Tokens:
    """Return the bytes of a tokenizer's tokens. A marker counts wherever its text occurs, as in the text of the answer."""
    try:
        found = _vocabularies.get(tokenizer)
        if found is None:
            found = _vocabularies[tokenizer] = _read(tokenizer)
    except TypeError:  # The tokenizer is not hashable, so its vocabulary is not kept.
        found = _read(tokenizer)
    return found


def _read(tokenizer: Any) -> Tokens:
    decoder = _decoder(tokenizer)
    if decoder:
        ids: Mapping[str, int] = tokenizer.get_vocab()
        tokens = [""] * (max(ids.values(), default=-1) + 1)
        for token, number in ids.items():
            tokens[number] = token
        make = Vocabulary.byte_level if decoder == "ByteLevel" else Vocabulary.byte_fallback
        return make(tokens, list(tokenizer.get_added_vocab().values()), special=False)

    # The tokenizer is of an unknown kind. If a token is decoded alone, bytes of a character that several tokens share may be lost.
    known: dict[int, bytes] = {}

    def bytes_of(number: int) -> bytes:
        if number not in known:
            try:
                text = tokenizer.decode([number])
            except Exception:  # Each tokenizer raises a different exception for an unknown id.
                text = ""
            known[number] = text.encode(errors="replace") if isinstance(text, str) else b""
        return known[number]

    return bytes_of


def taught(tokenizer: Any, tokens: Tokens, dialect: Dialect) -> Tokens:
    """Return the tokens, with the correct bytes for the markers of the thinking: some tokenizers decode a special token alone to an
    empty or a different text."""
    if isinstance(tokens, Vocabulary):
        return tokens
    known: dict[int, bytes] = {}
    for marker in markers(dialect):
        parts = re.findall("<[^<>]*>|[^<>]+", marker)
        try:
            ids = list(tokenizer.encode(marker, add_special_tokens=False))
        except Exception:  # Each tokenizer raises a different exception for a text that it refuses.
            continue
        if b"".join(map(tokens, ids)) == marker.encode():
            continue
        if len(ids) == 1:
            known[ids[0]] = marker.encode()
        elif len(ids) == len(parts):
            known.update(zip(ids, map(str.encode, parts), strict=True))
    return (lambda number: known[number] if number in known else tokens(number)) if known else tokens


def _decoder(tokenizer: Any) -> str | None:
    """Return how a tokenizer of the package `tokenizers` writes bytes: `ByteLevel`, `ByteFallback`, or None if that is not
    known."""
    try:
        state = json.loads(tokenizer.backend_tokenizer.to_str())["decoder"]
        kinds = [one["type"] for one in state.get("decoders", [state])]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return next((kind for kind in ("ByteLevel", "ByteFallback") if kind in kinds), None)


# The number of last ids that are compared to see whether a list of ids continues another list.
_TAIL = 16


class _Kept:
    """A state over the ids of a list that an engine passes again and again, each time with a few more ids."""

    def __init__(self, begin: Callable[[list[int]], TokenState], is_prompt: bool) -> None:
        # Whether the list begins with the ids of a prompt, of which only the model's own turn counts.
        self._begin, self._is_prompt = begin, is_prompt
        self._len = 0
        self._tail: list[int] = []
        self._state: TokenState | None = None

    def reach(self, ids: Sequence[int], end: int) -> TokenState:
        """Return the state after the first `end` of the ids."""
        known = self._len
        state = self._state
        if state is None or known > end or list(ids[max(0, known - _TAIL) : known]) != self._tail:
            first = list(ids[:end])
            state = self._begin(first if self._is_prompt else [])
            if not self._is_prompt:
                state.push(first)
        elif known < end:
            state.push(list(ids[known:end]))
        self._state, self._len, self._tail = state, end, list(ids[max(0, end - _TAIL) : end])
        return state


class Ids:
    """Answers an engine's questions about the token ids of one request. It keeps states over the ids, so that the time grows in
    proportion to the number of ids, however often the engine asks."""

    def __init__(self, dialect: Dialect, vocabulary: Tokens, start: Start | None) -> None:
        self._dialect, self._vocabulary, self._start = dialect, vocabulary, start
        self._prompt: list[int] = []
        self._stream = _Kept(self._begin, True)
        self._answer = _Kept(lambda _: self._begin(self._prompt), False)

    def _begin(self, prompt: list[int]) -> TokenState:
        return TokenState(self._dialect, self._vocabulary, prompt, start=self._start)

    def prompt(self, ids: Sequence[int]) -> str:
        """Take the ids of the prompt. Return its text."""
        if list(ids) != self._prompt:
            self._prompt = list(ids)
            self._answer = _Kept(lambda _: self._begin(self._prompt), False)
        tokens = self._vocabulary
        text = tokens.decode(self._prompt) if isinstance(tokens, Vocabulary) else b"".join(map(tokens, self._prompt))
        return text.decode(errors="replace")

    def has_ended(self, ids: Sequence[int]) -> bool:
        """Return whether the thinking has ended in the last turn of these ids."""
        return self._begin(list(ids)).has_ended_thinking()

    def has_ended_with(self, ids: Sequence[int], last: Sequence[int]) -> bool:
        """Return whether the thinking has ended within the last ids, which may be those of tokens that are only proposed."""
        state = self._stream.reach(ids, len(ids) - len(last)).copy()
        state.push(list(last))
        return state.has_ended_thinking()

    def content(self, ids: Sequence[int]) -> list[int]:
        """Return the ids after the end of the thinking, in an answer or in the part of an answer in which the thinking ends."""
        state = self._begin([])
        state.push(list(ids))
        return state.content_ids()

    def count(self, ids: Sequence[int]) -> int:
        """Return the number of an answer's tokens that are text of the thinking."""
        state = self._answer.reach(ids, len(ids)).copy()
        state.finish()
        return state.count("thinking")
