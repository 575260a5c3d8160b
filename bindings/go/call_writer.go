//go:build cgo

package aside

import "runtime"

// CallWriterOptions are the options of a call writer.
type CallWriterOptions struct {
	// Tools is the request's tools as JSON: an array of objects with name and parameters, which may also be inside function,
	// or with name and input_schema, as in Anthropic's Messages. Only calls of these are emitted, and their schemas have the types
	// of the arguments. nil: every call is emitted. A gateway that serves requests without tools passes `[]`, so that no call is
	// emitted.
	Tools []byte
	// IDPrefix begins the id of a call to which the model gave no id; the Index of the call follows. Empty: "call_".
	IDPrefix string
	// MaxHeld is the largest number of bytes of a call that may be held because they cannot be sent yet: arguments until the name
	// has come, a value until its type is known. 0: 1 MiB.
	MaxHeld uint64
	// MaxTools is the largest number of bytes of Tools that are read; a longer list is an error. Reading a list may take some 40
	// times as much memory. 0: 4 MiB.
	MaxTools uint64

	// NotWhole says which part of a call is sent before the call is whole. At most MaxHeld bytes are held for it.
	NotWhole NotWhole
	// UnknownTool is the treatment of a call of a tool that is not in Tools. For a call writer, which writes no text,
	// [UnknownToolText] and [UnknownToolDrop] are the same: the call has no delta.
	UnknownTool UnknownTool
	// ImpliedEnd says whether the end of a text that has ended by itself ([CauseEnded]) may end a call.
	ImpliedEnd ImpliedEnd
	// MaxCalls is the largest number of calls of a stream that are emitted, such as 1 for `"parallel_tool_calls": false`. 0: all.
	MaxCalls uint64
	// RepairArguments mends arguments that can mean only one thing; the last delta of such a call is Repaired. In JSON, a
	// backslash that does not begin an escape is escaped. If the schema asks for an array or an object and not for a string, a
	// string that contains it as JSON is decoded, and a Python literal between markers becomes JSON.
	RepairArguments bool
}

// CallDelta is the next part of a tool call for a client. It belongs to the caller.
type CallDelta struct {
	Call        uint64 // the number of the call in the stream, from 0, as Event.Call; calls that are not emitted count too
	Index       uint64 // the number of the call among those that are emitted, from 0: index of OpenAI's tool_calls
	First, Last bool   // the first delta of the call, the last one
	ID, Name    string // in the first delta; otherwise empty
	Arguments   string // the next part of them, perhaps empty; all parts, joined, are JSON if the call is whole
	Cause       Cause  // in the last delta: why the call ended
	Whole       bool   // in the last delta: the call ended by its marker or what follows it, and each value could be read
	Repaired    bool   // in the last delta: the call was repaired; the model may have meant other arguments
	LateID      string // in the last delta: an id that came after the first delta; it counts for clients of whole answers
}

// CallWriter makes OpenAI's tool_calls of the events of one stream: a name, and arguments as JSON, which are sent while the
// model writes them. It completes nothing. Chunking does not change the arguments.
//
// One call at a time may use a writer. A second one returns [ErrBusy] and changes nothing.
type CallWriter struct {
	use exclusive
	writerState
	_ noCopy
}

// NewCallWriter returns a writer for the events of scanners of a dialect that have ScannerOptions.Calls. The options may be nil. The
// error is [ErrOption] for tools that cannot be read, and says where; [ErrNull] or [ErrClosed] for a dialect that is nil or
// closed, and [ErrMemory].
//
// The dialect may be closed before the writer. Close frees the writer; the garbage collector frees a forgotten one.
func NewCallWriter(d *Dialect, options *CallWriterOptions) (*CallWriter, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if options == nil {
		options = &CallWriterOptions{}
	}
	w := &CallWriter{}
	if err := w.open(d, options); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(w, (*CallWriter).Close)
	return w, nil
}

// Close frees the writer. It returns [ErrBusy] and frees nothing while a call is in progress. Closing it again does nothing.
func (w *CallWriter) Close() error {
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

// Feed takes the next event of the stream. It returns a delta if a part of a call can be sent now; otherwise nil. Events that
// belong to no call change nothing. A call that is not emitted, because Tools does not have it or because it was cut before its
// arguments, has no delta; every emitted call has a last delta.
func (w *CallWriter) Feed(event Event) (*CallDelta, error) {
	if err := w.enter(); err != nil {
		return nil, err
	}
	defer w.use.leave()
	if event.Channel != ChannelTool || event.Kind < KindCall && event.Kind != KindFraming {
		return nil, nil
	}
	return w.feed(event)
}

// Reset forgets the stream, and every error but [ErrDefect]: call it after the scanner's Finish and Reset.
func (w *CallWriter) Reset() error {
	if err := w.enter(); err != nil {
		return err
	}
	defer w.use.leave()
	return w.reset()
}

// enter begins a call, as Scanner.enter does.
func (w *CallWriter) enter() error {
	if w == nil {
		return errNil
	}
	if !w.use.enter() {
		return ErrBusy
	}
	if w.isClosed() {
		defer w.use.leave()
		return w.use.gone()
	}
	return nil
}
