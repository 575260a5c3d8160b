package aside

// #include "bridge.h"
import "C"

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// RewriterOptions are the options of a rewriter.
type RewriterOptions struct {
	Start    Start // what is open at the first byte of each choice's text
	Field    Field
	Body     Body
	Off      bool   // nothing is split: what comes in goes out
	MaxEvent uint64 // the most bytes of an event, or of a JSON body, that are read: longer ones pass. 0: 16 MiB

	// StrayClose is what becomes of a closer of the thinking that has no opener and comes after content, in the text of
	// each choice. It holds for every stream, wherever that starts and whatever its dialect is.
	StrayClose StrayClose
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
// thinking moved from content to a field of its own. What it cannot read passes as it came. One call at a time may use
// it: a second one says [ErrBusy] and changes nothing.
type Rewriter struct {
	use exclusive
	c   *C.aside_go_sse // nil once closed
	// What methods without an error give, also while a call is under way.
	tooLong atomic.Uint64
	encoded atomic.Bool
	_       noCopy
}

// NewRewriter makes a rewriter at the start of a stream. The options may be nil. The dialect may be closed before the
// rewriter. A start that the dialect does not have is [ErrOption].
//
// Close frees the rewriter; one that is forgotten is freed by the garbage collector.
func NewRewriter(d *Dialect, options *RewriterOptions) (*Rewriter, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if options == nil {
		options = &RewriterOptions{}
	}
	c := C.aside_sse_options{
		size:        C.sizeof_aside_sse_options,
		start:       C.uint32_t(options.Start),
		field:       C.uint32_t(options.Field),
		body:        C.uint32_t(options.Body),
		max_event:   C.uint64_t(options.MaxEvent),
		stray_close: C.uint32_t(options.StrayClose),
	}
	if options.Off {
		c.off = 1
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := &Rewriter{}
	if status := C.aside_go_sse_new(d.c, &c, &w.c); status != C.ASIDE_OK {
		return nil, lastFailure(status)
	}
	runtime.SetFinalizer(w, (*Rewriter).Close)
	return w, nil
}

// Close frees the rewriter. What it held back is lost: Finish first. While a call of another goroutine is under way nothing
// is freed, and the error is [ErrBusy]. Closing it again does nothing.
func (w *Rewriter) Close() error {
	if !w.use.enter() {
		return ErrBusy
	}
	defer w.use.leave()
	if w.c != nil {
		runtime.SetFinalizer(w, nil)
		C.aside_go_sse_free(w.c)
		w.c = nil
		w.tooLong.Store(0)
		w.encoded.Store(false)
	}
	return nil
}

// StartAt says where the next stream starts, before its first byte: what is open at the first byte of each choice's text.
// One rewriter then serves a model with thinking on and off. Finish and Reset go back to the rewriter's own start. A start
// that the dialect does not have is [ErrOption]; where the stream has begun, the error is [ErrOrder].
func (w *Rewriter) StartAt(start Start) error {
	return w.do(func() C.aside_status { return C.aside_go_sse_start_at(w.c, C.uint32_t(start)) })
}

// UseDialect reads the next stream by another dialect, and says where it starts, before its first byte: with StartDefault
// as that dialect says. What [FindForTemplate] finds goes here. Finish and Reset go back to the rewriter's own dialect and
// start. The dialect may be closed after the call. Errors are those of StartAt.
func (w *Rewriter) UseDialect(d *Dialect, start Start) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return w.do(func() C.aside_status { return C.aside_go_sse_use_dialect(w.c, d.c, C.uint32_t(start)) })
}

// StartFromPrompt says where the next stream starts, before its first byte: the text of each choice goes on behind a
// rendered prompt that ends in tail, read as by [Scanner.StartFromPrompt]. Finish and Reset go back to the rewriter's own
// start; an empty tail takes back what an earlier one said.
//
// It gives what is open at the first byte. Where the stream has begun, the error is [ErrOrder].
func (w *Rewriter) StartFromPrompt(tail string) (Start, error) {
	var start C.uint32_t
	err := w.do(func() C.aside_status {
		return C.aside_go_sse_start_from_prompt(w.c, chars(tail), C.size_t(len(tail)), &start)
	})
	return Start(start), err
}

// Feed takes the next bytes, cut anywhere, and appends to dst what is decided by them: each event as soon as it is
// whole. On an error dst is given as it was.
func (w *Rewriter) Feed(dst, p []byte) ([]byte, error) {
	err := w.do(func() C.aside_status {
		status := C.aside_go_sse_feed(w.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(p))), C.size_t(len(p)))
		dst = w.append(dst, status)
		return status
	})
	return dst, err
}

// Finish ends the stream, and appends to dst what was held back. The rewriter is then as new, and the next Feed begins a
// new stream.
func (w *Rewriter) Finish(dst []byte) ([]byte, error) {
	err := w.do(func() C.aside_status {
		status := C.aside_go_sse_finish(w.c)
		dst = w.append(dst, status)
		return status
	})
	return dst, err
}

// Reset drops everything, and makes the rewriter as new.
func (w *Rewriter) Reset() error {
	return w.do(func() C.aside_status { return C.aside_go_sse_reset(w.c) })
}

// do makes a call.
func (w *Rewriter) do(call func() C.aside_status) error {
	if !w.use.enter() {
		return ErrBusy
	}
	defer w.use.leave()
	if w.c == nil {
		return ErrClosed
	}
	status := call()
	w.tooLong.Store(uint64(w.c.too_long))
	w.encoded.Store(w.c.encoded == 1)
	if status != C.ASIDE_OK {
		return &failure{Status(status), C.GoString(&w.c.message[0])}
	}
	return nil
}

// append takes what a call has given.
func (w *Rewriter) append(dst []byte, status C.aside_status) []byte {
	if status != C.ASIDE_OK {
		return dst
	}
	return append(dst, lent(w.c.out, w.c.out_len)...)
}

// TooLong is how many events and bodies have passed unread since the start or the last Reset, because they were longer
// than RewriterOptions.MaxEvent; 0 once the rewriter is closed.
func (w *Rewriter) TooLong() uint64 { return w.tooLong.Load() }

// IsEncoded says whether the stream passes unread because its first bytes are no text: it is compressed, or in another
// encoding than UTF-8. Ask the server for Accept-Encoding: identity, or decode the body first. It is of the stream that was
// finished last, until another begins.
func (w *Rewriter) IsEncoded() bool { return w.encoded.Load() }
