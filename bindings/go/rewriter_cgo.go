package aside

// #include "bridge.h"
import "C"

import "runtime"

// rewriterState is the library's part of a rewriter.
type rewriterState struct{ c *C.aside_go_rewriter } // nil once closed

func (w *rewriterState) isClosed() bool { return w.c == nil }

func (w *rewriterState) free() {
	C.aside_go_rewriter_free(w.c)
	w.c = nil
}

func (w *rewriterState) open(d *Dialect, options *RewriterOptions) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	c := options.c(&pin)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := C.aside_go_rewriter_new(d.c, &c, &w.c); status != C.ASIDE_OK {
		return lastFailure(status)
	}
	return nil
}

func (w *rewriterState) useDialect(d *Dialect, start Start) error {
	var c *C.aside_dialect
	if d != nil {
		c = d.c
	}
	return w.result(C.aside_go_rewriter_use_dialect(w.c, c, C.uint32_t(start)))
}

func (w *rewriterState) useTools(tools []byte) error {
	return w.result(C.aside_go_rewriter_use_tools(w.c, data(tools), C.size_t(len(tools))))
}

func (w *rewriterState) startFromPrompt(tail string) (Start, error) {
	var start C.uint32_t
	err := w.result(C.aside_go_rewriter_start_from_prompt(w.c, chars(tail), C.size_t(len(tail)), &start))
	return Start(start), err
}

func (w *rewriterState) feed(dst, p []byte) ([]byte, error) {
	return w.append(dst, C.aside_go_rewriter_feed(w.c, data(p), C.size_t(len(p))))
}

func (w *rewriterState) finish(dst []byte) ([]byte, error) {
	return w.append(dst, C.aside_go_rewriter_finish(w.c))
}

func (w *rewriterState) reset() error { return w.result(C.aside_go_rewriter_reset(w.c)) }

func (w *rewriterState) stats() (Stats, error) {
	var c C.aside_rewriter_stats
	err := w.result(C.aside_go_rewriter_stats(w.c, &c))
	return statsOf(&c), err
}

// append appends the output of a call.
func (w *rewriterState) append(dst []byte, status C.aside_status) ([]byte, error) {
	if status != C.ASIDE_OK {
		return dst, w.result(status)
	}
	return append(dst, borrowed(w.c.out.at, w.c.out.len)...), nil
}

// result returns the error of a call.
func (w *rewriterState) result(status C.aside_status) error {
	if status == C.ASIDE_OK {
		return nil
	}
	return &failure{Status(status), C.GoString(&w.c.message[0])}
}

// flag returns a bool in C's form.
func flag(set bool) C.uint32_t {
	if set {
		return 1
	}
	return 0
}
