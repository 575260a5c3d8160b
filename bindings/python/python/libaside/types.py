"""The words that arguments take and results have, as types.

    >>> from typing import get_args
    >>> from libaside.types import Channel
    >>> get_args(Channel)
    ('content', 'thinking', 'narration', 'tool')
"""

from typing import Literal, TypeAlias

# Generated from src/ffi by tests/header: do not edit.
Kind: TypeAlias = Literal[
    "open",
    "attribute",
    "text",
    "framing",
    "close",
    "reclassify",
    "budget",
    "call",
    "call_name",
    "call_id",
    "call_key",
    "call_type",
    "call_value",
    "call_value_end",
    "call_end",
]
Channel: TypeAlias = Literal["content", "thinking", "narration", "tool"]
PartKind: TypeAlias = Literal["thinking", "content", "call", "arguments", "call_end", "moved", "budget"]
Cause: TypeAlias = Literal["marker", "implied", "end_of_stream", "forced", "malformed", "ended"]
Start: TypeAlias = Literal["content", "thinking", "narration", "tool", "header", "calls"]
CallsInThinking: TypeAlias = Literal["dialect", "never", "always"]
StrayClose: TypeAlias = Literal["dialect", "text", "drop"]
EndReason: TypeAlias = Literal["unknown", "ended", "cut_off"]
NotWhole: TypeAlias = Literal["tell", "hold", "text"]
UnknownTool: TypeAlias = Literal["text", "drop", "tell"]
GrammarFormat: TypeAlias = Literal["xgrammar", "lark"]
ImpliedEnd: TypeAlias = Literal["on", "off"]
LeadingTags: TypeAlias = Literal["dialect", "text"]
BudgetUnit: TypeAlias = Literal["bytes", "characters"]
BudgetScope: TypeAlias = Literal["span", "stream"]
Markers: TypeAlias = Literal["refuse", "escape"]
Field: TypeAlias = Literal["reasoning_content", "reasoning", "thinking"]
Body: TypeAlias = Literal["unknown", "events", "json", "lines"]
Format: TypeAlias = Literal["chat", "completions", "responses", "messages", "ollama", "all"]
Shape: TypeAlias = Literal["none", "field", "lists", "chunks", "content", "all"]
Thinking: TypeAlias = Literal["keep", "drop", "inline"]
ResponsesAs: TypeAlias = Literal["reasoning_text", "summary"]
Comments: TypeAlias = Literal["keep", "drop", "chunk"]
Hint: TypeAlias = Literal["identity"]
HistoryName: TypeAlias = Literal[
    "as_is",
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
    "parts",
    "reasoning_text",
    "summary",
    "text",
]
HistoryTurns: TypeAlias = Literal["all", "since_user", "none"]
HistoryMissing: TypeAlias = Literal["leave", "empty", "remove"]
HistoryMade: TypeAlias = Literal["keep", "remove"]
HistoryOutcome: TypeAlias = Literal["read", "too_long", "not_utf8", "not_request", "repeated", "stored"]
# End of the generated part.

HistoryFormat: TypeAlias = Literal["chat", "responses", "messages"]
Role: TypeAlias = Literal["text", "marker", "framing"]
