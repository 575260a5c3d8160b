//go:build cgo

package aside

import (
	"runtime"
	"sync/atomic"
)

// Part is a part of an answer. Fields that its kind does not name are empty. It belongs to the caller.
//
// Joined, the texts of all parts of PartKindThinking are the thinking, and those of PartKindContent the content. A text may end
// inside a character if the model's does.
type Part struct {
	Kind     PartKind // ignore kinds that are not listed, because later versions may add some
	Text     string   // of PartKindThinking and PartKindContent; of PartKindArguments: JSON, a whole object if the parts of a whole call are joined
	Index    uint64   // of parts of calls: the number of the call in the answer, from 0
	ID       string   // of PartKindCall: an id that no other call of the answer has
	Name     string   // of PartKindCall: the name of the tool
	Made     bool     // of PartKindCall: the library made the id, because the model wrote none, or the id of an earlier call
	Whole    bool     // of PartKindCallEnd: the arguments are complete; do not run a call that is not whole
	Repaired bool     // of PartKindCallEnd: the call broke a rule of its grammar; the model may have meant other arguments
	Cause    Cause    // of PartKindCallEnd: why the call ended, or CauseMalformed if its arguments are not a JSON object
	LateID   string   // of PartKindCallEnd: an id that the model wrote only after PartKindCall was reported; use it only in a whole message
	From, To Channel  // of PartKindMoved: the channel in which the text was reported, and the one to which it belongs
}

// Answer reads one text of a model, cut anywhere, and reports its parts: thinking and content without markers, and tool calls with
// their arguments as JSON. Every byte of the text is in exactly one part, in a call that is reported, or is a marker or framing
// around these: text that turns out not to be a call is content, in its place. Chunking does not change the joined parts.
//
// Only one call at a time may use an answer. A second call returns [ErrBusy] and changes nothing. Held may be called at any time.
// Answers share no state with each other.
type Answer struct {
	use   exclusive
	holds atomic.Int64
	answerState
	_ noCopy
}

// NewAnswer returns an answer at the start of a text. The options may be nil. The error is [ErrOption] for a start that the dialect
// does not have and for tools that cannot be read, with the place of the fault; [ErrNull] or [ErrClosed] for a dialect that is nil
// or closed, and [ErrMemory].
//
// The dialect may be closed before the answer. Close frees the answer; without Close, the garbage collector does, but it does not
// see how much memory of C that is.
func NewAnswer(d *Dialect, options *AnswerOptions) (*Answer, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if options == nil {
		options = &AnswerOptions{}
	}
	a := &Answer{}
	if err := a.open(d, options); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(a, (*Answer).Close)
	return a, nil
}

// Close frees the answer. Held bytes are lost: call Finish first to get them. Close returns [ErrBusy] and frees nothing while a
// call is in progress. Closing it again does nothing.
func (a *Answer) Close() error {
	if a == nil {
		return errNil
	}
	if !a.use.enter() {
		return ErrBusy
	}
	defer a.use.leave()
	a.use.closed = true
	if !a.isClosed() {
		runtime.SetFinalizer(a, nil)
		a.free()
		a.holds.Store(0)
	}
	return nil
}

// StartFromPrompt sets the start of the text from tail, the end of the rendered prompt, which is read as by
// [Scanner.StartFromPrompt]. Call it before the first byte of the text. Finish, Reset and an empty tail restore the answer's own
// start.
//
// It returns the span that is open at the first byte. If the text has begun, the error is [ErrOrder].
func (a *Answer) StartFromPrompt(tail string) (Start, error) {
	return within(a, func() (Start, error) { return a.startFromPrompt(tail) })
}

// UseTools sets the tools of the request, before the first byte of the text, like AnswerOptions.Tools. Use it for an answer that
// serves one request after another; for a request without tools, pass `[]`. Finish and Reset restore the answer's own tools.
//
// The error is [ErrOption] for tools that cannot be read, with the place of the fault, and [ErrOrder] if the text has begun.
func (a *Answer) UseTools(tools []byte) error {
	if err := a.enter(); err != nil {
		return err
	}
	defer a.use.leave()
	return a.useTools(tools)
}

// Feed reads the next bytes of the text, cut anywhere, and returns the parts that are decided, which may be none. p is not kept.
//
// After [ErrBusy] and [ErrClosed] nothing has changed; after [ErrMemory] the answer stays in error until Reset.
func (a *Answer) Feed(p []byte) ([]Part, error) {
	return within(a, func() ([]Part, error) { return a.feed(p) })
}

// FeedTokens is [Answer.Feed] for bytes whose tokens are known, as for [Scanner.FeedTokens]. If the lengths of the tokens do not add
// up to len(p), the error is [ErrLength] and nothing is fed. tokens is not kept.
func (a *Answer) FeedTokens(p []byte, tokens []Token) ([]Part, error) {
	return within(a, func() ([]Part, error) { return a.feedTokens(p, tokens) })
}

// Flush returns the held bytes as text: those that may begin a marker, and those of a call that is not decided. The text continues.
func (a *Answer) Flush() ([]Part, error) {
	return within(a, func() ([]Part, error) { return a.flush() })
}

// ForceClose closes the open thinking or the open call, as [Scanner.ForceClose] does.
func (a *Answer) ForceClose() ([]Part, error) {
	return within(a, func() ([]Part, error) { return a.forceClose() })
}

// Finish ends the text and returns the parts that are left. The answer is then reset, except for its counts, and the next Feed
// begins a new text.
//
// The reason matters if a call, or thinking that may be the answer, is open at the end: only a text that ended by itself
// ([EndReasonEnded]) may end a call that has no end, or turn out to be an answer without markers. The error is [ErrOption] for an
// unknown reason, after which nothing has changed.
func (a *Answer) Finish(reason EndReason) ([]Part, error) {
	return within(a, func() ([]Part, error) { return a.finish(reason) })
}

// Reset drops the text, its counts, and every error but [ErrDefect]. The next Feed begins a new text.
func (a *Answer) Reset() error {
	if err := a.enter(); err != nil {
		return err
	}
	defer a.use.leave()
	return a.reset()
}

// Held returns the number of bytes of the text that are held back now; 0 once the answer is closed. It may be called at any time.
func (a *Answer) Held() int {
	if a == nil {
		return 0
	}
	return int(a.holds.Load())
}

// Counts returns the counts of the text of a channel so far, as [Scanner.Counts] does: also those of thinking that was dropped, and
// of text that was moved later. After Finish they are those of the finished text, until another begins. The error is [ErrRange] for
// a channel that does not exist.
func (a *Answer) Counts(channel Channel) (Counts, error) {
	return within(a, func() (Counts, error) { return a.countsOf(channel) })
}

// within runs a call while no other call uses the answer.
func within[T any](a *Answer, call func() (T, error)) (none T, err error) {
	if err := a.enter(); err != nil {
		return none, err
	}
	defer a.use.leave()
	return call()
}

// enter begins a call, like Scanner.enter.
func (a *Answer) enter() error {
	if a == nil {
		return errNil
	}
	if !a.use.enter() {
		return ErrBusy
	}
	if a.isClosed() {
		defer a.use.leave()
		return a.use.gone()
	}
	return nil
}
