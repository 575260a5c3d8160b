package aside

import "strconv"

// writerState is the library's part of a call writer.
type writerState struct{ object }

func (w *writerState) free() { w.release("calls_free") }

func (w *writerState) open(d *Dialect, o *CallWriterOptions) error {
	var texts options
	if err := texts.tools(o.Tools, o.MaxTools); err != nil {
		return err
	}
	texts.text("idPrefix", o.IDPrefix)
	texts.number("maxHeld", o.MaxHeld)
	texts.writing(o.NotWhole, o.UnknownTool, o.ImpliedEnd, o.MaxCalls, o.RepairArguments)
	dialect, err := d.in()
	if err != nil {
		return err
	}
	number, err := texts.open(dialect, "calls_new")
	if err == nil {
		w.object = object{dialect.engine, uint64(number)}
	}
	return err
}

// feed joins the deltas of one event: they belong to the same call.
func (w *writerState) feed(event Event) (*CallDelta, error) {
	bytes, tag := event.Text, event.Tag
	if event.Repaired {
		tag = 1
	}
	if event.Kind == KindCallName && event.Attribute != nil {
		bytes = event.Attribute.Value
	}
	var delta *CallDelta
	numbers := []uint64{uint64(event.Kind - 1), uint64(event.Cause), uint64(event.Rule), uint64(tag), uint64(event.Call)}
	_, err := w.run("calls_feed", numbers, []string{text(bytes)}, func(out *reader) {
		if len(out.words) == 0 {
			return
		}
		for range out.number() {
			if delta == nil {
				delta = &CallDelta{}
			}
			delta.Call, delta.Index = out.long(), out.long()
			delta.ID += out.optional()
			if out.flag() {
				delta.First = true
				delta.Name += out.string()
			}
			delta.Arguments += out.string()
			if out.flag() {
				delta.Last = true
				delta.Cause, delta.Whole, delta.Repaired = Cause(out.number()), out.flag(), out.flag()
				delta.LateID += out.optional()
			}
		}
	})
	return delta, err
}

func (w *writerState) reset() error {
	_, err := w.run("calls_reset", nil, nil, nil)
	return err
}

// writing adds the options of all that write calls.
func (o *options) writing(notWhole NotWhole, unknown UnknownTool, implied ImpliedEnd, most uint64, repair bool) {
	word(o, "notWhole", notWhole)
	word(o, "unknownTool", unknown)
	word(o, "impliedEnd", implied)
	o.number("maxCalls", most)
	o.flag("repairArguments", repair)
}

// rewriterState is the library's part of a rewriter.
type rewriterState struct{ object }

func (w *rewriterState) free() { w.release("rewriter_free") }

func (w *rewriterState) open(d *Dialect, o *RewriterOptions) error {
	var texts options
	word(&texts, "start", o.Start)
	word(&texts, "field", o.Field)
	word(&texts, "body", o.Body)
	texts.flag("off", o.Off)
	texts.number("maxEvent", o.MaxEvent)
	word(&texts, "strayClose", o.StrayClose)
	word(&texts, "leadingTags", o.LeadingTags)
	texts.add("calls", strconv.FormatBool(o.Calls))
	if err := texts.tools(o.Tools, o.MaxTools); err != nil {
		return err
	}
	word(&texts, "callsInThinking", o.CallsInThinking)
	texts.number("maxHeld", o.MaxHeld)
	texts.text("formats", o.Formats.words())
	word(&texts, "responsesAs", o.ResponsesAs)
	texts.flag("repair", o.Repair)
	texts.text("normalise", o.Normalise.words())
	word(&texts, "thinking", o.Thinking)
	texts.flag("label", o.Label)
	word(&texts, "comments", o.Comments)
	texts.flag("promoteEmpty", o.PromoteEmpty)
	texts.flag("merge", o.Merge)
	texts.flag("keepGuessed", o.KeepGuessed)
	texts.writing(o.NotWhole, o.UnknownTool, o.ImpliedEnd, o.MaxCalls, o.RepairArguments)
	texts.text("startCall", o.StartCall)
	dialect, err := d.in()
	if err != nil {
		return err
	}
	number, err := texts.open(dialect, "rewriter_new")
	if err == nil {
		w.object = object{dialect.engine, uint64(number)}
	}
	return err
}

func (w *rewriterState) useDialect(d *Dialect, start Start) error {
	number, texts := ^uint64(0), []string(nil)
	if d != nil {
		dialect, err := d.in()
		if err != nil {
			return err
		}
		number = dialect.number
	}
	if start != StartDefault {
		texts = append(texts, start.String())
	}
	_, err := w.run("rewriter_use_dialect", []uint64{number & 0xffff_ffff}, texts, nil)
	return err
}

func (w *rewriterState) useTools(tools []byte) error {
	var texts []string
	if tools != nil {
		texts = append(texts, text(tools))
	}
	_, err := w.run("rewriter_use_tools", nil, texts, nil)
	return err
}

func (w *rewriterState) startFromPrompt(tail string) (Start, error) {
	var start Start
	_, err := w.run("rewriter_prompt", nil, []string{tail}, func(out *reader) { start = startOf(out.string()) })
	return start, err
}

func (w *rewriterState) feed(dst, p []byte) ([]byte, error) {
	w.engine.mu.Lock()
	defer w.engine.mu.Unlock()
	before := len(dst)
	for {
		n := min(len(p), int(w.engine.windowSize))
		_, out, err := w.engine.put(w.engine.rewrite, p[:n], w.number, 0)
		if err != nil {
			return dst[:before], err
		}
		dst = append(dst, out.bytes...)
		if p = p[n:]; len(p) == 0 {
			return dst, nil
		}
	}
}

func (w *rewriterState) finish(dst []byte) ([]byte, error) {
	_, err := w.run("rewriter_finish", nil, nil, func(out *reader) { dst = append(dst, out.bytes...) })
	return dst, err
}

func (w *rewriterState) reset() error {
	_, err := w.run("rewriter_reset", nil, nil, nil)
	return err
}

func (w *rewriterState) stats() (stats Stats, err error) {
	_, err = w.run("rewriter_stats", nil, nil, func(out *reader) {
		for _, count := range []*uint64{
			&stats.Events, &stats.Changed, &stats.Added, &stats.Repaired, &stats.TooLong, &stats.Unread, &stats.Unpromoted,
			&stats.Truncated, &stats.ThinkingBytes, &stats.ContentBytes, &stats.Held, &stats.SplitByServer, &stats.Calls,
		} {
			*count = out.long()
		}
		stats.Encoded = out.flag()
	})
	return stats, err
}
