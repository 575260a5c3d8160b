//go:build cgo

package aside

import "runtime"

// RewriterOptions are the options of a rewriter.
type RewriterOptions struct {
	Start    Start  // what is open at the first byte of each choice's text
	Field    Field  // the name of the field for the thinking
	Body     Body   // what comes in
	Off      bool   // nothing is split: what comes in is sent
	MaxEvent uint64 // longer events, and longer JSON bodies, pass unread. In bytes; 0: 16 MiB

	// StrayClose is the treatment of a closer of the thinking without an opener, after content, in the text of each choice. It
	// applies to every stream, whatever its start and dialect.
	StrayClose StrayClose
	// LeadingTags is the reading of a tag think, thinking or thought at the beginning of each choice's text, if it is not the
	// dialect's own tag.
	LeadingTags LeadingTags

	// Calls makes tool_calls of the calls that the model writes as text, if the dialect says how they are written. A choice is
	// left alone from the first call that the server itself has made.
	Calls bool
	// Tools is the request's tools as JSON, as for a [CallWriter]: calls of other tools stay in the text. nil: every call is
	// emitted. A gateway that serves requests without tools passes `[]`.
	Tools []byte
	// CallsInThinking is the treatment of a tool call that begins inside the thinking.
	CallsInThinking CallsInThinking
	// MaxHeld is the largest number of bytes of a choice's text that may be held in a stream until it is clear whether a call is
	// for the client. 0: 1 MiB.
	MaxHeld uint64

	// Formats are the formats of the answers that are read; an answer of another format is returned unchanged. 0: [FormatAll].
	Formats Formats
	// ResponsesAs is the form of the thinking in the items of OpenAI Responses.
	ResponsesAs ResponsesAs
	// Repair mends faults in a stream of events that make clients fail or lose text: empty data lines, comments inside an event,
	// an object over several lines, chunks without choices, and more.
	Repair bool
	// PromoteEmpty sends the thinking again as content if an answer ends by itself and has neither content nor a call.
	PromoteEmpty bool
	// Merge writes one chunk for each chunk of the server, the thinking before the content, for clients that count chunks. It
	// applies to chat completions, completions and Ollama's lines, also where Repair or Normalise would make two.
	Merge bool

	// Normalise is the set of differences between servers' answers that are removed: [ShapeAll], or some. 0: none.
	Normalise Shapes
	// Thinking says whether the thinking is sent; [RequestThinking] returns what a request wants.
	Thinking Thinking
	// Label labels the thinking blocks of Messages and the reasoning items of Responses that the rewriter makes, so that they can
	// be removed from a history.
	Label bool
	// Comments is the treatment of comments in a stream of events, for clients that fail on them.
	Comments Comments

	// KeepGuessed leaves guessed thinking unchanged. Otherwise, if an answer ends by itself in the thinking in which the dialect
	// guessed it to start, and nothing has confirmed that guess, a stream repeats the text as content, and a body has it as
	// content alone.
	KeepGuessed bool

	// MaxTools is the largest number of bytes of Tools, and of UseTools' argument, that are read; a longer list is an error.
	// 0: 4 MiB.
	MaxTools uint64

	// NotWhole says, with Calls, which part of a call is sent before the call is whole. A body, and Ollama's format, have whole
	// calls only.
	NotWhole NotWhole
	// UnknownTool is, with Calls, the treatment of a call of a tool that is not in Tools.
	UnknownTool UnknownTool
	// ImpliedEnd says, with Calls, whether the end of a text that has ended by itself may end a call.
	ImpliedEnd ImpliedEnd
	// MaxCalls is, with Calls, the largest number of calls of a choice that become tool_calls, such as 1 for
	// `"parallel_tool_calls": false`; later ones stay text. 0: 1,024, and never more.
	MaxCalls uint64
	// RepairArguments mends, with Calls, arguments as CallWriterOptions.RepairArguments does.
	RepairArguments bool
	// StartCall is, with Calls, the name of a tool. The text of each choice, without its thinking, is read as the arguments of a
	// call of this tool, as a grammar for a named tool (tool_choice) makes a model write them. Empty: none. For a list of calls
	// there is [StartCalls].
	StartCall string
}

// Stats has the counts of a rewriter since it was made, or since the last Reset.
type Stats struct {
	Events        uint64 // events that have data, lines of JSON, and bodies that were read whole
	Changed       uint64 // of them, those that were sent changed, or with chunks before them
	Added         uint64 // chunks and events in addition to those that came
	Repaired      uint64 // faults that RewriterOptions.Repair has mended
	TooLong       uint64 // events and bodies that passed unread, longer than RewriterOptions.MaxEvent
	Unread        uint64 // JSON objects of no format that is read, nor an error
	Unpromoted    uint64 // answers whose thinking was to be sent as content too, and was too long
	Truncated     uint64 // events that repeat a whole text and lack some of it, because it was too long to be kept
	ThinkingBytes uint64 // bytes of text that were sent as thinking, without what a server splits itself
	ContentBytes  uint64 // bytes of text that were sent as content
	Held          uint64 // bytes of text and of an unfinished event that Finish would send now
	SplitByServer uint64 // texts whose thinking the server splits itself
	// Encoded reports whether the stream is returned unread because its first bytes are not text: it is compressed, or its
	// encoding is not UTF-8. Ask the server for Accept-Encoding: identity, or decode the body first.
	Encoded bool
	Calls   uint64 // tool calls of the text that were sent as calls, without those that a server sends itself
}

// Rewriter reads the bytes of an answer, an event stream, lines of JSON or a JSON body, and returns the same bytes with the
// thinking moved out of the content to where the format has it, and with RewriterOptions.Calls the tool calls too. It returns
// anything that it cannot read unchanged. [Wants] reports which answers are for a rewriter.
//
// One call at a time may use a rewriter. A second one returns [ErrBusy] and changes nothing.
type Rewriter struct {
	use exclusive
	rewriterState
	_ noCopy
}

// NewRewriter returns a rewriter at the start of a stream. The options may be nil. The error is [ErrOption] for a start that
// the dialect does not have and for tools that cannot be read, [ErrNull] or [ErrClosed] for a dialect that is nil or closed,
// and [ErrMemory].
//
// The dialect may be closed before the rewriter. Close frees the rewriter; the garbage collector frees a forgotten one.
func NewRewriter(d *Dialect, options *RewriterOptions) (*Rewriter, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if options == nil {
		options = &RewriterOptions{}
	}
	w := &Rewriter{}
	if err := w.open(d, options); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(w, (*Rewriter).Close)
	return w, nil
}

// Close frees the rewriter. Held bytes are lost: call Finish first to get them. Close returns [ErrBusy] and frees nothing while
// a call is in progress. Closing it again does nothing.
func (w *Rewriter) Close() error {
	if w == nil {
		return errNil
	}
	if !w.use.enter() {
		return ErrBusy
	}
	defer w.use.leave()
	w.use.closed = true
	if !w.isClosed() {
		runtime.SetFinalizer(w, nil)
		w.free()
	}
	return nil
}

// UseDialect sets, before the first byte of the next stream, its dialect and the span that is open at the first byte of each
// choice's text. With nil the dialect stays the rewriter's own, so that one rewriter serves a model with thinking on and off;
// with [StartDefault] the dialect decides where the stream starts. The results of [FindForTemplate] can be passed to it. Finish
// and Reset restore the rewriter's own dialect and start.
//
// The dialect may be closed after the call. Errors are those of [NewRewriter], and [ErrOrder] if the stream has begun.
func (w *Rewriter) UseDialect(d *Dialect, start Start) error {
	if d == nil {
		return w.do(func() error { return w.useDialect(nil, start) })
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return w.do(func() error { return w.useDialect(d, start) })
}

// UseTools sets the tools of the next stream's request, before its first byte, as RewriterOptions.Tools. It is for a rewriter
// that serves one request after another. Finish and Reset restore the rewriter's own tools.
//
// The error is [ErrOption] for tools that cannot be read, and says where, and [ErrOrder] if the stream has begun.
func (w *Rewriter) UseTools(tools []byte) error {
	return w.do(func() error { return w.useTools(tools) })
}

// StartFromPrompt sets the start of the next stream, before its first byte: the text of each choice continues a rendered prompt
// that ends in tail, which is read as by [Scanner.StartFromPrompt]. Finish and Reset restore the rewriter's own start; an empty
// tail cancels an earlier one.
//
// It returns the span that is open at the first byte. If the stream has begun, the error is [ErrOrder].
func (w *Rewriter) StartFromPrompt(tail string) (Start, error) {
	var start Start
	err := w.do(func() (err error) {
		start, err = w.startFromPrompt(tail)
		return err
	})
	return start, err
}

// Feed reads the next bytes, cut anywhere, and appends the decided bytes to dst: each event as soon as it is complete. p is not
// kept. On an error it returns dst unchanged.
func (w *Rewriter) Feed(dst, p []byte) ([]byte, error) {
	err := w.do(func() (err error) {
		dst, err = w.feed(dst, p)
		return err
	})
	return dst, err
}

// Finish ends the stream and appends the held bytes to dst. The next Feed begins a new stream. On an error it returns dst
// unchanged.
func (w *Rewriter) Finish(dst []byte) ([]byte, error) {
	err := w.do(func() (err error) {
		dst, err = w.finish(dst)
		return err
	})
	return dst, err
}

// Reset drops the stream, and every error but [ErrDefect]. The next Feed begins a new stream.
func (w *Rewriter) Reset() error {
	return w.do(func() error { return w.reset() })
}

// do makes a call.
func (w *Rewriter) do(call func() error) error {
	if w == nil {
		return errNil
	}
	if !w.use.enter() {
		return ErrBusy
	}
	defer w.use.leave()
	if w.isClosed() {
		return w.use.gone()
	}
	return call()
}

// Stats returns the counts since the start or the last Reset, and the number of bytes held now. The error is [ErrBusy] while a
// call is in progress and [ErrClosed] after Close.
func (w *Rewriter) Stats() (Stats, error) {
	var stats Stats
	err := w.do(func() (err error) {
		stats, err = w.stats()
		return err
	})
	return stats, err
}
