// The words of the interface, indexed by their numbers.

// Generated from src/ffi by tests/header: do not edit.
export const KINDS = [
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
];
export const PART_KINDS = ["thinking", "content", "call", "arguments", "call_end", "moved", "budget"];
export const CHANNELS = ["content", "thinking", "narration", "tool"];
export const CAUSES = ["marker", "implied", "end_of_stream", "forced", "malformed", "ended"];
export const STATS = [
  "events",
  "changed",
  "added",
  "repaired",
  "tooLong",
  "unread",
  "unpromoted",
  "truncated",
  "thinkingBytes",
  "contentBytes",
  "held",
  "splitByServer",
  "encoded",
  "calls",
  "contradicted",
];
// End of the generated part.
