package aside

// #include "bridge.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// RewriterOptions are the options of a rewriter.
type RewriterOptions struct {
	Start    Start // what is open at the first byte of each choice's text
	Field    Field
	Body     Body
	Off      bool   // nothing is split: what comes in goes out
	MaxEvent uint64 // the most bytes of an event, or of a JSON body, that are read: longer ones pass. 0: 16 MiB
}

// Field is what the field for the thinking is called.
type Field uint32

const (
	// FieldReasoningContent: reasoning_content, as most servers and clients say.
	FieldReasoningContent Field = C.ASIDE_FIELD_REASONING_CONTENT
	// FieldReasoning: reasoning.
	FieldReasoning Field = C.ASIDE_FIELD_REASONING
	// FieldThinking: thinking.
	FieldThinking Field = C.ASIDE_FIELD_THINKING
)

// Body is what comes in.
type Body uint32

const (
	// BodyUnknown: the first byte that is not blank says it.
	BodyUnknown Body = C.ASIDE_BODY_UNKNOWN
	// BodyEvents: an event stream, text/event-stream.
	BodyEvents Body = C.ASIDE_BODY_EVENTS
	// BodyJSON: one JSON object, application/json.
	BodyJSON Body = C.ASIDE_BODY_JSON
)

// Rewriter takes the bytes of an OpenAI-style answer, an event stream or a JSON body, and gives the same bytes with the
// thinking moved from content to a field of its own. What it cannot read passes as it came. One goroutine at a time may
// use it.
type Rewriter struct {
	c *C.aside_go_sse // nil once closed
	_ noCopy
}

// NewRewriter makes a rewriter at the start of a stream. The options may be nil. The dialect may be closed before the
// rewriter. A start that the dialect does not have is [ErrOption].
//
// Close frees the rewriter; one that is forgotten is freed by the garbage collector.
func NewRewriter(d *Dialect, options *RewriterOptions) (*Rewriter, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	if options == nil {
		options = &RewriterOptions{}
	}
	c := C.aside_sse_options{
		size:      C.sizeof_aside_sse_options,
		start:     C.uint32_t(options.Start),
		field:     C.uint32_t(options.Field),
		body:      C.uint32_t(options.Body),
		max_event: C.uint64_t(options.MaxEvent),
	}
	if options.Off {
		c.off = 1
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.KeepAlive(d)
	w := &Rewriter{}
	if status := C.aside_go_sse_new(d.c, &c, &w.c); status != C.ASIDE_OK {
		return nil, lastFailure(status)
	}
	runtime.SetFinalizer(w, (*Rewriter).Close)
	return w, nil
}

// Close frees the rewriter. What it held back is lost: Finish first. It always gives nil, also when called again.
func (w *Rewriter) Close() error {
	if w.c != nil {
		runtime.SetFinalizer(w, nil)
		C.aside_go_sse_free(w.c)
		w.c = nil
	}
	return nil
}

// Feed takes the next bytes, cut anywhere, and appends to dst what is decided by them: each event as soon as it is
// whole. On an error dst is given as it was.
func (w *Rewriter) Feed(dst, p []byte) ([]byte, error) {
	if w.c == nil {
		return dst, ErrClosed
	}
	return w.append(dst, C.aside_go_sse_feed(w.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(p))), C.size_t(len(p))))
}

// Finish ends the stream, and appends to dst what was held back. The rewriter is then as new, and the next Feed begins a
// new stream.
func (w *Rewriter) Finish(dst []byte) ([]byte, error) {
	if w.c == nil {
		return dst, ErrClosed
	}
	return w.append(dst, C.aside_go_sse_finish(w.c))
}

// append takes what a call has given.
func (w *Rewriter) append(dst []byte, status C.aside_status) ([]byte, error) {
	defer runtime.KeepAlive(w)
	if status != C.ASIDE_OK {
		return dst, w.failure(status)
	}
	return append(dst, lent(w.c.out, w.c.out_len)...), nil
}

// Reset drops everything, and makes the rewriter as new.
func (w *Rewriter) Reset() error {
	if w.c == nil {
		return ErrClosed
	}
	defer runtime.KeepAlive(w)
	if status := C.aside_go_sse_reset(w.c); status != C.ASIDE_OK {
		return w.failure(status)
	}
	return nil
}

func (w *Rewriter) failure(status C.aside_status) error {
	return &failure{Status(status), C.GoString(&w.c.message[0])}
}

// TooLong is how many events and bodies have passed unread since the start or the last Reset, because they were longer
// than RewriterOptions.MaxEvent; 0 once the rewriter is closed.
func (w *Rewriter) TooLong() uint64 {
	if w.c == nil {
		return 0
	}
	defer runtime.KeepAlive(w)
	return uint64(C.aside_sse_too_long(w.c.sse))
}
