// Code generated from src/ffi by tests/header. DO NOT EDIT.

package aside

// #include "bridge.h"
import "C"

import "runtime"

// c returns the options for C. They point to texts that pin keeps in their place.
func (o *AnswerOptions) c(pin *runtime.Pinner) C.aside_answer_options {
	c := C.aside_answer_options{size: C.sizeof_aside_answer_options}
	c.start = C.uint32_t(o.Start)
	c.stray_close = C.uint32_t(o.StrayClose)
	c.calls_in_thinking = C.uint32_t(o.CallsInThinking)
	c.leading_tags = C.uint32_t(o.LeadingTags)
	c.thinking = C.uint32_t(o.Thinking)
	c.not_whole = C.uint32_t(o.NotWhole)
	c.unknown_tool = C.uint32_t(o.UnknownTool)
	c.implied_end = C.uint32_t(o.ImpliedEnd)
	c.tools = pinnedTools(pin, o.Tools)
	if o.StartCall != "" {
		c.start_call = pinned(pin, o.StartCall)
	}
	if o.IDPrefix != "" {
		c.id_prefix = pinned(pin, o.IDPrefix)
	}
	c.max_tools = C.uint64_t(o.MaxTools)
	c.max_held = C.uint64_t(o.MaxHeld)
	c.max_calls = C.uint64_t(o.MaxCalls)
	c.budget = C.uint64_t(o.Budget)
	c.budget_unit = C.uint32_t(o.BudgetUnit)
	c.budget_scope = C.uint32_t(o.BudgetScope)
	c.repair_arguments = flag(o.RepairArguments)
	c.promote_empty = flag(o.PromoteEmpty)
	c.keep_guessed = flag(o.KeepGuessed)
	c.may_take_back = flag(o.MayTakeBack)
	c.inline_calls = flag(o.InlineCalls)
	return c
}

// c returns the options for C. They point to texts that pin keeps in their place.
func (o *RewriterOptions) c(pin *runtime.Pinner) C.aside_rewriter_options {
	c := C.aside_rewriter_options{size: C.sizeof_aside_rewriter_options}
	c.field = C.uint32_t(o.Field)
	c.body = C.uint32_t(o.Body)
	c.off = flag(o.Off)
	c.calls = flag(o.Calls)
	c.max_event = C.uint64_t(o.MaxEvent)
	c.formats = C.uint32_t(o.Formats)
	c.responses_as = C.uint32_t(o.ResponsesAs)
	c.repair = flag(o.Repair)
	c.merge = flag(o.Merge)
	c.normalise = C.uint32_t(o.Normalise)
	c.label = flag(o.Label)
	c.comments = C.uint32_t(o.Comments)
	inner := &C.aside_answer_options{size: C.sizeof_aside_answer_options}
	pin.Pin(inner)
	c.answer = inner
	inner.start = C.uint32_t(o.Start)
	inner.stray_close = C.uint32_t(o.StrayClose)
	inner.calls_in_thinking = C.uint32_t(o.CallsInThinking)
	inner.leading_tags = C.uint32_t(o.LeadingTags)
	inner.thinking = C.uint32_t(o.Thinking)
	inner.not_whole = C.uint32_t(o.NotWhole)
	inner.unknown_tool = C.uint32_t(o.UnknownTool)
	inner.implied_end = C.uint32_t(o.ImpliedEnd)
	inner.tools = pinnedTools(pin, o.Tools)
	if o.StartCall != "" {
		inner.start_call = pinned(pin, o.StartCall)
	}
	inner.max_tools = C.uint64_t(o.MaxTools)
	inner.max_held = C.uint64_t(o.MaxHeld)
	inner.max_calls = C.uint64_t(o.MaxCalls)
	inner.repair_arguments = flag(o.RepairArguments)
	inner.promote_empty = flag(o.PromoteEmpty)
	inner.keep_guessed = flag(o.KeepGuessed)
	return c
}

// statsOf returns the counts of a struct of C.
func statsOf(c *C.aside_rewriter_stats) (stats Stats) {
	stats.Events = uint64(c.events)
	stats.Changed = uint64(c.changed)
	stats.Added = uint64(c.added)
	stats.Repaired = uint64(c.repaired)
	stats.TooLong = uint64(c.too_long)
	stats.Unread = uint64(c.unread)
	stats.Unpromoted = uint64(c.unpromoted)
	stats.Truncated = uint64(c.truncated)
	stats.ThinkingBytes = uint64(c.thinking_bytes)
	stats.ContentBytes = uint64(c.content_bytes)
	stats.Held = uint64(c.held)
	stats.SplitByServer = uint64(c.split_by_server)
	stats.Encoded = c.encoded != 0
	stats.Calls = uint64(c.calls)
	stats.Contradicted = uint64(c.contradicted)
	return stats
}
