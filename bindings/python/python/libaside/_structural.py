"""Grammars for the calls of a dialect, as structural tags of xgrammar for vLLM and SGLang. `Dialect.grammar` makes them from the tables
with which the answer is read, so a grammar allows exactly the form that is read."""

from __future__ import annotations

import functools
import importlib
import json
from typing import Any

from ._libaside import Dialect
from .types import Start


def structural_tag(
    dialect: Dialect, tools: list[Any], choice: str, is_parallel: bool = True, thinking: bool = False
) -> Any:
    """Return a structural tag for calls of these tools of a request; None if the dialect has none, and for `any`, in which no model
    writes. `choice` is `auto`, `required` or the name of a tool. Unless `is_parallel`, the tag allows only one call. With `thinking`, the
    tag has the thinking too, whether or not the prompt has opened it."""
    if dialect.name == "any":
        return None
    start: Start | None = None
    # The free text before a single call has the thinking.
    if thinking and (is_parallel or choice != "auto"):
        # If the prompt does not have the opener, the opener may be a part of the text up to the
        # closer.
        starts = dialect.starts
        start = "header" if "header" in starts else "thinking" if "thinking" in starts else "content"

    def form(choice: str) -> Any:
        return json.loads(dialect.grammar("xgrammar", tools, choice, start).text)["format"]

    try:
        made = form(choice)
        if not is_parallel and choice in ("auto", "required"):
            one = {"type": "or", "elements": [form(tool["function"]["name"]) for tool in tools]}
            made = one if choice == "required" else {
                "type": "sequence",
                # The last element is the free text.
                "elements": [made["elements"][-1], {"type": "optional", "content": one}],
            }
    except ValueError:
        return None
    return importlib.import_module("xgrammar").StructuralTag.model_validate({"format": made})


@functools.lru_cache(maxsize=32)
def register_structural_tag(dialect: Dialect, is_parallel: bool = True) -> str | None:
    """Register a builder for the calls of a dialect, and return its name; None if vLLM or the dialect has no grammar for them."""
    try:
        registry = importlib.import_module("vllm.tool_parsers.structural_tag_registry")
        register = registry.register_vllm_structural_tag
    except (ImportError, AttributeError):
        return None
    if structural_tag(dialect, [{"name": "f"}], "required") is None:
        return None

    def build(tools: list[Any], builtin_tools: list[Any], tool_choice: str, reasoning: bool, suffix: str = "") -> Any:
        listed = [tool.model_dump(exclude_none=True) for tool in tools]
        choice = listed[0]["function"]["name"] if tool_choice == "forced" else tool_choice
        return structural_tag(dialect, listed, choice, is_parallel, reasoning)

    name = f"aside-{dialect.name}" + ("" if is_parallel else "-one")
    register(name)(build)
    return name
