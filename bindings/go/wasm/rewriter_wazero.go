package aside

// rewriterState is the library's part of a rewriter.
type rewriterState struct{ object }

func (w *rewriterState) free() { w.release("rewriter_free") }

func (w *rewriterState) open(d *Dialect, o *RewriterOptions) error {
	texts, err := o.texts()
	if err != nil {
		return err
	}
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

func (w *rewriterState) useTools(tools []byte) error { return w.setTools("rewriter_use_tools", tools) }

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
	_, err = w.run("rewriter_stats", nil, nil, func(out *reader) { stats = out.stats() })
	return stats, err
}
