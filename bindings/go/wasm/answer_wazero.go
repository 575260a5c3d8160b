package aside

// answerState is the library's part of an answer.
type answerState struct{ object }

func (a *answerState) free() { a.release("answer_free") }

func (a *answerState) open(d *Dialect, o *AnswerOptions) error {
	texts, err := o.texts()
	if err != nil {
		return err
	}
	dialect, err := d.in()
	if err != nil {
		return err
	}
	number, err := texts.open(dialect, "answer_new")
	if err == nil {
		a.object = object{dialect.engine, uint64(number)}
	}
	return err
}

func (a *answerState) startFromPrompt(tail string) (Start, error) {
	var start Start
	_, err := a.run("answer_prompt", nil, []string{tail}, func(out *reader) { start = startOf(out.string()) })
	return start, err
}

func (a *answerState) useTools(tools []byte) error { return a.setTools("answer_use_tools", tools) }

func (a *Answer) feed(p []byte) ([]Part, error) { return a.step(stepFeed, p) }

func (a *Answer) flush() ([]Part, error) { return a.step(stepFlush, nil) }

func (a *Answer) forceClose() ([]Part, error) { return a.step(stepForceClose, nil) }

// step runs a step of the answer, such as feeding a chunk.
func (a *Answer) step(step uint64, p []byte) (parts []Part, err error) {
	a.engine.mu.Lock()
	defer a.engine.mu.Unlock()
	for {
		piece := p[:min(len(p), int(a.engine.windowSize))]
		_, out, err := a.engine.put(a.engine.read, piece, a.number, step)
		if err != nil {
			return nil, err
		}
		parts = out.parts(parts)
		if p = p[len(piece):]; len(p) == 0 {
			break
		}
	}
	return parts, a.note()
}

func (a *Answer) feedTokens(p []byte, tokens []Token) (parts []Part, err error) {
	_, err = a.run("answer_tokens", nil, tokenTexts(p, tokens), func(out *reader) {
		parts = out.parts(nil)
		err = a.note()
	})
	return parts, err
}

func (a *Answer) finish(reason EndReason) (parts []Part, err error) {
	_, err = a.run("answer_finish", nil, []string{reason.String()}, func(out *reader) {
		parts = out.parts(nil)
		a.holds.Store(0)
	})
	return parts, err
}

func (a *Answer) reset() error {
	_, err := a.run("answer_reset", nil, nil, nil)
	a.holds.Store(0)
	return err
}

func (a *answerState) countsOf(channel Channel) (counts Counts, err error) {
	if channel > ChannelTool {
		return Counts{}, ErrRange
	}
	_, err = a.run("answer_counts", nil, nil, func(out *reader) { counts = out.counts(channel) })
	return counts, err
}

// note publishes the number of held bytes, inside the instance's lock.
func (a *Answer) note() error {
	held, err := a.engine.enter(a.engine.held, a.number)
	a.holds.Store(int64(held))
	return err
}

// parts appends the parts that were written.
func (r *reader) parts(parts []Part) []Part {
	for range r.number() {
		part := Part{
			Kind: PartKind(r.number()), Cause: Cause(r.number()), From: Channel(r.number()), To: Channel(r.number()),
			Made: r.flag(), Whole: r.flag(), Repaired: r.flag(), Index: r.long(),
		}
		text, id := r.string(), r.string()
		switch part.Kind {
		case PartKindCall:
			part.Name, part.ID = text, id
		case PartKindCallEnd:
			part.LateID = id
		default:
			part.Text = text
		}
		parts = append(parts, part)
	}
	return parts
}
