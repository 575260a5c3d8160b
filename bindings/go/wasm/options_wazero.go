// Code generated from src/ffi by tests/header. DO NOT EDIT.

package aside

import "strconv"

// texts returns the names and values of the options that are set.
func (o *AnswerOptions) texts() (options, error) {
	var texts options
	word(&texts, "start", o.Start)
	word(&texts, "strayClose", o.StrayClose)
	word(&texts, "callsInThinking", o.CallsInThinking)
	word(&texts, "leadingTags", o.LeadingTags)
	word(&texts, "thinking", o.Thinking)
	word(&texts, "notWhole", o.NotWhole)
	word(&texts, "unknownTool", o.UnknownTool)
	word(&texts, "impliedEnd", o.ImpliedEnd)
	if err := texts.tools(o.Tools); err != nil {
		return nil, err
	}
	texts.text("startCall", o.StartCall)
	texts.text("idPrefix", o.IDPrefix)
	texts.number("maxTools", o.MaxTools)
	texts.number("maxHeld", o.MaxHeld)
	texts.number("maxCalls", o.MaxCalls)
	texts.number("budget", o.Budget)
	word(&texts, "budgetUnit", o.BudgetUnit)
	word(&texts, "budgetScope", o.BudgetScope)
	texts.flag("repairArguments", o.RepairArguments)
	texts.flag("promoteEmpty", o.PromoteEmpty)
	texts.flag("keepGuessed", o.KeepGuessed)
	texts.flag("mayTakeBack", o.MayTakeBack)
	texts.flag("inlineCalls", o.InlineCalls)
	return texts, nil
}

// texts returns the names and values of the options that are set.
func (o *RewriterOptions) texts() (options, error) {
	var texts options
	word(&texts, "start", o.Start)
	word(&texts, "strayClose", o.StrayClose)
	word(&texts, "callsInThinking", o.CallsInThinking)
	word(&texts, "leadingTags", o.LeadingTags)
	word(&texts, "thinking", o.Thinking)
	word(&texts, "notWhole", o.NotWhole)
	word(&texts, "unknownTool", o.UnknownTool)
	word(&texts, "impliedEnd", o.ImpliedEnd)
	if err := texts.tools(o.Tools); err != nil {
		return nil, err
	}
	texts.text("startCall", o.StartCall)
	texts.number("maxTools", o.MaxTools)
	texts.number("maxHeld", o.MaxHeld)
	texts.number("maxCalls", o.MaxCalls)
	texts.flag("repairArguments", o.RepairArguments)
	texts.flag("promoteEmpty", o.PromoteEmpty)
	texts.flag("keepGuessed", o.KeepGuessed)
	word(&texts, "field", o.Field)
	word(&texts, "body", o.Body)
	texts.flag("off", o.Off)
	texts.add("calls", strconv.FormatBool(o.Calls))
	texts.number("maxEvent", o.MaxEvent)
	word(&texts, "formats", o.Formats)
	word(&texts, "responsesAs", o.ResponsesAs)
	texts.flag("repair", o.Repair)
	texts.flag("merge", o.Merge)
	word(&texts, "normalise", o.Normalise)
	texts.flag("label", o.Label)
	word(&texts, "comments", o.Comments)
	return texts, nil
}

// stats reads the counts of a rewriter.
func (r *reader) stats() (stats Stats) {
	stats.Events = r.long()
	stats.Changed = r.long()
	stats.Added = r.long()
	stats.Repaired = r.long()
	stats.TooLong = r.long()
	stats.Unread = r.long()
	stats.Unpromoted = r.long()
	stats.Truncated = r.long()
	stats.ThinkingBytes = r.long()
	stats.ContentBytes = r.long()
	stats.Held = r.long()
	stats.SplitByServer = r.long()
	stats.Encoded = r.long() != 0
	stats.Calls = r.long()
	stats.Contradicted = r.long()
	return stats
}
