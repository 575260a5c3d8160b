// The output of one tool, as it comes.

package aside

// #include "bridge.h"
import "C"

import (
	"io"
	"runtime"
	"unsafe"
)

// ToolStream is a writer for one tool's output that is compressed as it comes, into another writer. One call at a time may
// use it: a second one, from another goroutine, a filter or the writer, says [ErrBusy] and changes nothing.
type ToolStream struct {
	_       noCopy
	use     exclusive
	c       *toolStream // nil once closed
	to      io.Writer
	err     error // of the writer: it lasts
	callers under
}

// toolStream has the finalizer: a writer may lead back to its ToolStream, and what is in a circle is never finalized.
type toolStream struct {
	c *C.aside_tool_stream
	_ *byte // as of a Compressor
}

func (s *toolStream) free() {
	runtime.SetFinalizer(s, nil)
	C.aside_tool_stream_free(s.c)
}

// NewStream makes a stream for one tool's output, with memory bytes for it: at least four times the budget, and at least
// 4,096; less is [ErrOption]. While the text fits into that, the result is that of one call, without a banner, and comes at
// the end. A longer text without a budget comes out as it goes, less its repeats; with one it comes at the end: head, tail
// and error regions. The compressor may be closed before the stream.
//
// Close frees the stream; one that is forgotten is freed by the garbage collector.
func (c *Compressor) NewStream(call Call, memory int, to io.Writer) (*ToolStream, error) {
	if err := c.use.enter(); err != nil {
		return nil, err
	}
	defer c.use.leave()
	if to == nil {
		return nil, ErrNull
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var pin runtime.Pinner
	defer pin.Unpin()
	stream := C.aside_tool_stream_new(c.c, call.c(&pin), C.size_t(max(memory, 0)))
	if stream == nil {
		return nil, lastFailure(C.aside_last_status())
	}
	s := &ToolStream{c: &toolStream{c: stream}, to: to, callers: under{compressor: c}}
	runtime.SetFinalizer(s.c, (*toolStream).free)
	return s, nil
}

// Write feeds the next bytes of the output, cut anywhere, and writes what is decided. The error of the writer is given as it
// is, and again by each later call; the bytes of p are taken all the same. A writer that panics has failed for all later
// calls. After Finish the error is [ErrOrder].
func (s *ToolStream) Write(p []byte) (int, error) {
	data := (*C.char)(unsafe.Pointer(unsafe.SliceData(p)))
	fed, err := s.run(func(out **C.char, n *C.size_t) C.aside_status {
		return C.aside_tool_stream_feed(s.c.c, data, C.size_t(len(p)), out, n)
	})
	if fed {
		return len(p), err
	}
	return 0, err
}

// Finish ends the output, writes the rest, and gives what was done. The stream takes no more text then.
func (s *ToolStream) Finish() (*Report, error) {
	var report *Report // before the writer is called, which may panic
	_, err := s.run(func(out **C.char, n *C.size_t) C.aside_status {
		var compressed *C.aside_compressed
		status := C.aside_tool_stream_finish(s.c.c, out, n, &compressed)
		if status == C.ASIDE_OK {
			report = newReport(compressed, s.callers.failed)
		}
		return status
	})
	return report, err
}

// run makes a call, and writes what that gives. done says whether the library has done its part.
func (s *ToolStream) run(call func(out **C.char, n *C.size_t) C.aside_status) (done bool, err error) {
	if !s.use.enter() {
		return false, ErrBusy
	}
	defer s.use.leave()
	switch {
	case s.c == nil:
		return false, ErrClosed
	case s.err != nil:
		return false, s.err
	}
	defer runtime.KeepAlive(s.c) // until the writer returns
	var out *C.char
	var n C.size_t
	if err := s.callers.run(func() C.aside_status { return call(&out, &n) }); err != nil {
		return false, err
	}
	if n > 0 {
		s.err = errLeft // until the writer returns
		_, s.err = write(s.to, lent(out, n))
	}
	return true, s.err
}

// Close frees the stream. What was not finished is lost. Inside one of its calls the error is [ErrBusy]; closing it again does
// nothing.
func (s *ToolStream) Close() error {
	if !s.use.enter() {
		return ErrBusy
	}
	defer s.use.leave()
	if s.c != nil {
		s.c.free()
		s.c = nil
	}
	return nil
}
