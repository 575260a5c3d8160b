package aside

// #include "bridge.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// answerState is the library's part of an answer.
type answerState struct{ c *C.aside_go_answer } // nil once closed

func (a *Answer) isClosed() bool { return a.c == nil }

func (a *Answer) free() {
	C.aside_go_answer_free(a.c)
	a.c = nil
}

func (a *Answer) open(d *Dialect, options *AnswerOptions) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	c := options.c(&pin)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := C.aside_go_answer_new(d.c, &c, &a.c); status != C.ASIDE_OK {
		return lastFailure(status)
	}
	return nil
}

func (a *Answer) startFromPrompt(tail string) (Start, error) {
	var start C.uint32_t
	err := a.result(C.aside_go_answer_start_from_prompt(a.c, chars(tail), C.size_t(len(tail)), &start))
	return Start(start), err
}

func (a *Answer) useTools(tools []byte) error {
	return a.result(C.aside_go_answer_use_tools(a.c, data(tools), C.size_t(len(tools))))
}

func (a *Answer) feed(p []byte) ([]Part, error) {
	return a.parts(C.aside_go_answer_feed(a.c, data(p), C.size_t(len(p))))
}

func (a *Answer) feedTokens(p []byte, tokens []Token) ([]Part, error) {
	c := appendTokens(nil, tokens)
	return a.parts(C.aside_go_answer_feed_tokens(a.c, data(p), C.size_t(len(p)), unsafe.SliceData(c), C.size_t(len(c))))
}

func (a *Answer) flush() ([]Part, error) { return a.parts(C.aside_go_answer_flush(a.c)) }

func (a *Answer) forceClose() ([]Part, error) { return a.parts(C.aside_go_answer_force_close(a.c)) }

func (a *Answer) finish(reason EndReason) ([]Part, error) {
	return a.parts(C.aside_go_answer_finish(a.c, C.uint32_t(reason)))
}

func (a *Answer) reset() error {
	status := C.aside_go_answer_reset(a.c)
	a.holds.Store(0)
	return a.result(status)
}

func (a *Answer) countsOf(channel Channel) (Counts, error) {
	var c C.aside_counts
	err := a.result(C.aside_go_answer_counts(a.c, C.uint32_t(channel), &c))
	return countsOf(&c), err
}

// parts returns a copy of the parts that a call has reported.
func (a *Answer) parts(status C.aside_status) ([]Part, error) {
	a.holds.Store(int64(a.c.holds))
	if status != C.ASIDE_OK || a.c.count == 0 {
		return nil, a.result(status)
	}
	parts := make([]Part, a.c.count)
	for i, c := range unsafe.Slice(a.c.parts, int(a.c.count)) {
		part := &parts[i]
		*part = Part{
			Kind:     PartKind(c.kind),
			Index:    uint64(c.index),
			Made:     c.is_made == 1,
			Whole:    c.is_whole == 1,
			Repaired: c.is_repaired == 1,
			Cause:    Cause(c.cause),
			From:     Channel(c.from),
			To:       Channel(c.to),
		}
		switch part.Kind {
		case PartKindCall:
			part.Name, part.ID = text(c.text), text(c.id)
		case PartKindCallEnd:
			part.LateID = text(c.id)
		default:
			part.Text = text(c.text)
		}
	}
	return parts, nil
}

// result returns the error of a call.
func (a *Answer) result(status C.aside_status) error {
	if status == C.ASIDE_OK {
		return nil
	}
	return &failure{Status(status), C.GoString(&a.c.message[0])}
}
