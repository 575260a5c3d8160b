"""Grammars for the calls of a dialect, as vLLM's structural tags. They are made from the tables with which the answer is read, so a
grammar allows exactly the form that is read."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from ._libaside import Dialect, ToolTrigger


@functools.lru_cache(maxsize=16)
def register_structural_tag(dialect: Dialect) -> str | None:
    """Register a builder for the calls of a dialect, and return its name; None if vLLM or the dialect has no grammar for them."""
    triggers = [one for one in dialect.tool_triggers() if one.arguments in ("json", "tags")]
    if not triggers:
        return None
    try:
        registry = importlib.import_module("vllm.tool_parsers.structural_tag_registry")
        forms = importlib.import_module("xgrammar.structural_tag")
        register = registry.register_vllm_structural_tag
    except (ImportError, AttributeError):
        return None

    def build(tools: list[Any], builtin_tools: list[Any], tool_choice: str, reasoning: bool, suffix: str = "") -> Any:
        tags = [_tag(forms, one, tool.function) for one in triggers for tool in tools]
        if tool_choice == "auto":
            made = forms.TriggeredTagsFormat(triggers=sorted({one.trigger for one in triggers}), tags=tags)
        else:
            made = forms.TagsWithSeparatorFormat(
                tags=tags, separator="", at_least_one=True, stop_after_first=tool_choice == "forced"
            )
        return forms.StructuralTag(format=made)

    name = f"aside-{dialect.name}"
    register(name)(build)
    return name


def _tag(forms: Any, one: ToolTrigger, function: Any) -> Any:
    """Return the tag of a call of one tool. If the tool is not strict, its arguments are not constrained."""
    is_free = getattr(function, "strict", None) is False or function.parameters is None
    schema: Any = True if is_free else function.parameters
    begin = one.begin + function.name + one.after_name
    content = forms.JSONSchemaFormat(json_schema=schema) if one.arguments == "json" else _pairs(forms, one, schema)
    return forms.TagFormat(begin=begin, content=content, end=one.end)


def _pairs(forms: Any, one: ToolTrigger, schema: Any) -> Any:
    """Return the grammar of keys and values in tags: the keys of the schema in any order, or any keys if the schema has none."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    text = forms.AnyTextFormat(excludes=[end for end in (one.value_end.strip(),) if end])
    if not properties:
        return forms.AnyTextFormat(excludes=[end for end in (one.end.strip(),) if end])
    pairs = []
    for key, wanted in properties.items():
        types = wanted.get("type") if isinstance(wanted, dict) else None
        is_text = types in (None, "string") or isinstance(types, list)
        value = text if is_text else forms.JSONSchemaFormat(json_schema=wanted)
        before = one.key_begin + key + one.key_end + one.value_begin
        ends = forms.ConstStringFormat(value=one.value_end)
        pairs.append(forms.SequenceFormat(elements=[forms.ConstStringFormat(value=before), value, ends]))
    return forms.StarFormat(content=pairs[0] if len(pairs) == 1 else forms.OrFormat(elements=pairs))
