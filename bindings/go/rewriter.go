//go:build cgo

package aside

import "runtime"

// Rewriter reads the bytes of an answer, an event stream, lines of JSON or a JSON body, and returns the same bytes with the
// thinking moved out of the content to the place that the format has for it; with RewriterOptions.Calls the tool calls too. It
// returns anything that it cannot read unchanged. [Wants] reports whether an answer is for a rewriter.
//
// Only one call at a time may use a rewriter. A second call returns [ErrBusy] and changes nothing.
type Rewriter struct {
	use exclusive
	rewriterState
	_ noCopy
}

// NewRewriter returns a rewriter at the start of a stream. The options may be nil. The error is [ErrOption] for a start that
// the dialect does not have and for tools that cannot be read, [ErrNull] or [ErrClosed] for a dialect that is nil or closed,
// and [ErrMemory].
//
// The dialect may be closed before the rewriter. Close frees the rewriter; without Close, the garbage collector does.
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

// UseTools sets the tools of the next stream's request, before its first byte, like RewriterOptions.Tools. Use it for a rewriter
// that serves one request after another. Finish and Reset restore the rewriter's own tools.
//
// The error is [ErrOption] for tools that cannot be read, with the place of the fault, and [ErrOrder] if the stream has begun.
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

// Feed reads the next bytes, cut anywhere, and appends to dst the bytes to forward: each event as soon as it is complete. p is not
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
