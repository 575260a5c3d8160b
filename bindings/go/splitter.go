//go:build cgo

package aside

import (
	"errors"
	"io"
)

// Splitter is a writer that splits a stream into several writers, one for each channel. It drops markers and framing, and
// writes each piece as soon as its channel is known.
//
// One call at a time may use a splitter. A second call, from another goroutine or from one of the writers, returns [ErrBusy] and
// changes nothing.
type Splitter struct {
	// Writers for two more channels. Set them before the first Write; a channel whose writer is nil is dropped.
	Narration, Tool io.Writer

	use               exclusive
	content, thinking io.Writer
	scanner           *Scanner
	write             func(Event) bool // sp.event, made once
	offset            int64            // of the next byte to be written to the splitter
	err               error            // the error of a writer; permanent
	errAt             int64            // the offset of the first byte that the writer did not accept

	_ noCopy // write refers to the original, so the errors of a copy's writers would be stored in the original
}

// NewSplitter returns a splitter at the start of a stream. It writes the text for the reader to content, and the model's
// thinking to thinking; a nil writer drops its channel. Errors are those of [NewScanner].
//
// The dialect may be closed before the splitter. Close ends the stream and frees the splitter; without Close, the garbage
// collector does.
func NewSplitter(d *Dialect, content, thinking io.Writer) (*Splitter, error) {
	scanner, err := NewScanner(d, nil)
	if err != nil {
		return nil, err
	}
	sp := &Splitter{content: content, thinking: thinking, scanner: scanner}
	sp.write = sp.event
	return sp, nil
}

// Write feeds the next bytes of the stream; p is not kept.
//
// It returns a writer's error unchanged, now and from every later call; n is then the number of bytes of p before the first byte
// that this writer did not accept. A writer that accepts fewer bytes than it was given, without an error, fails with
// [io.ErrShortWrite]. A writer that panics counts as failed in later calls.
func (sp *Splitter) Write(p []byte) (n int, err error) {
	if err := sp.enter(); err != nil {
		return 0, err
	}
	defer sp.use.leave()
	if sp.err != nil {
		return 0, sp.err
	}
	n, err = sp.scanner.Feed(p, sp.write)
	if sp.err != nil {
		return int(max(sp.errAt-sp.offset, 0)), sp.err
	}
	sp.offset += int64(n)
	return n, err
}

// Close ends the stream: it writes the held text and frees the splitter. The writers stay open. It returns a writer's
// error, and nil when called again after a success.
func (sp *Splitter) Close() error {
	if err := sp.enter(); err != nil {
		return err
	}
	defer sp.use.leave()
	err := sp.err
	if err == nil {
		if err = sp.scanner.Finish(sp.write); err == ErrClosed {
			return nil
		}
		if sp.err != nil {
			err = sp.err
		}
	}
	if closed := sp.scanner.Close(); err == nil {
		err = closed
	}
	return err
}

// enter begins a call, like Scanner.enter.
func (sp *Splitter) enter() error {
	switch {
	case sp == nil:
		return errNil
	case sp.scanner == nil:
		return errZero
	case !sp.use.enter():
		return ErrBusy
	}
	return nil
}

var errCount = errors.New("aside: a reader or writer returned an impossible number of bytes")

var errLeft = errors.New("aside: a writer has panicked or ended its goroutine")

// event writes an event's text and reports whether that succeeded.
func (sp *Splitter) event(event Event) bool {
	if event.Kind != KindText {
		return true
	}
	var to io.Writer
	switch event.Channel {
	case ChannelContent:
		to = sp.content
	case ChannelThinking:
		to = sp.thinking
	case ChannelNarration:
		to = sp.Narration
	case ChannelTool:
		to = sp.Tool
	}
	if to == nil {
		return true
	}
	returned := false
	defer func() {
		// The number of bytes that the writer accepted is unknown.
		if !returned {
			sp.err, sp.errAt = errLeft, event.Offset
		}
	}()
	n, err := write(to, event.Text)
	returned = true
	if err != nil {
		sp.err, sp.errAt = err, event.Offset+int64(n)
	}
	return err == nil
}

// write writes text and returns the number of bytes that the writer accepted; the error says why it was not all.
func write(to io.Writer, text []byte) (int, error) {
	n, err := to.Write(text)
	switch {
	case n < 0 || n > len(text):
		return 0, errCount
	case n < len(text) && err == nil:
		return n, io.ErrShortWrite
	}
	return n, err
}
