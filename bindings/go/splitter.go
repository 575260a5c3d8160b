package aside

import (
	"errors"
	"io"
)

// Splitter is a writer that splits a stream into writers, one for each channel. Markers and what belongs to no text are
// dropped. Each piece goes to its writer as soon as it is known what it is. One call at a time may use a splitter: a second
// one, from another goroutine or from a writer, says [ErrBusy] and changes nothing.
type Splitter struct {
	// Writers for two more channels, set before the first Write. What has no writer (nil) is dropped.
	Narration, Tool io.Writer

	use               exclusive
	content, thinking io.Writer
	scanner           *Scanner
	write             func(Event) bool // sp.event, made once
	offset            int64            // of the next byte to be written to the splitter
	err               error            // of a writer: it lasts
	errAt             int64            // the offset of the first byte that the writer did not take

	_ noCopy // write is the original's, and so would be the errors of the copy's writers
}

// NewSplitter makes a splitter, at the start of a stream: what the reader is meant to see goes to content, what the
// model thinks to thinking. Either may be nil: it is dropped.
//
// Close ends the stream and frees the splitter; one that is forgotten is freed by the garbage collector.
func NewSplitter(d *Dialect, content, thinking io.Writer) (*Splitter, error) {
	scanner, err := NewScanner(d, nil)
	if err != nil {
		return nil, err
	}
	sp := &Splitter{content: content, thinking: thinking, scanner: scanner}
	sp.write = sp.event
	return sp, nil
}

// Write feeds the next bytes of the stream. The error of a writer is given as it is, and again by each later call; n
// bytes of p stand before the first byte that this writer did not take. A writer that takes less than it was given and
// has no error fails with [io.ErrShortWrite], and one that panics has failed for all later calls.
func (sp *Splitter) Write(p []byte) (n int, err error) {
	if !sp.use.enter() {
		return 0, ErrBusy
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

// Close ends the stream: what was held back is written, and the splitter is freed. The writers stay open. It gives the
// error of a writer, and nil when called again after a success.
func (sp *Splitter) Close() error {
	if !sp.use.enter() {
		return ErrBusy
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

var errCount = errors.New("aside: a reader or writer names a number of bytes that cannot be")

var errLeft = errors.New("aside: a writer has panicked or ended its goroutine")

// event writes an event's text; false where that fails.
func (sp *Splitter) event(event Event) bool {
	if event.Kind != Text {
		return true
	}
	var to io.Writer
	switch event.Channel {
	case Content:
		to = sp.content
	case Thinking:
		to = sp.thinking
	case Narration:
		to = sp.Narration
	case Tool:
		to = sp.Tool
	}
	if to == nil {
		return true
	}
	returned := false
	defer func() {
		// Nobody knows what the writer took.
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

// write gives how much the writer took, and why not all of it.
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
