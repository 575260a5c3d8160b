// Compression of one tool's output while it arrives, in bounded memory.

package aside

// #include "bridge.h"
import "C"

import (
	"io"
	"runtime"
	"unsafe"
)

// ToolStream is a writer that compresses one tool's output while it arrives, and writes the result to another writer.
//
// One call at a time may use a stream. A second call, from another goroutine, a filter or the writer, returns [ErrBusy] and changes
// nothing.
type ToolStream struct {
	_       noCopy
	use     exclusive
	c       *toolStream // nil once closed
	to      io.Writer
	err     error // the error of the writer; permanent
	callers callFrame
}

// toolStream has the finalizer. A writer may refer to its ToolStream, and an object in a cycle is never finalized.
type toolStream struct {
	c *C.aside_tool_stream
	_ *byte // see Compressor
}

func (s *toolStream) free() {
	runtime.SetFinalizer(s, nil)
	C.aside_tool_stream_free(s.c)
}

// NewStream returns a stream for one tool's output, which holds up to memory bytes of it. memory must be at least 4,096 and at
// least four times the budget; smaller values are [ErrOption].
//
// A text that fits into the memory is written at the end, as [Compressor.Compress] returns it but without a banner. From a
// longer text, a compressor without a budget removes repeats and writes the rest as it arrives; one with a budget writes head,
// tail and error regions at the end.
//
// The compressor may be closed before the stream. Close frees the stream; without Close, the garbage collector does.
func (c *Compressor) NewStream(invocation Invocation, memory int, to io.Writer) (*ToolStream, error) {
	if err := c.enter(); err != nil {
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
	stream := C.aside_tool_stream_new(c.c, invocation.c(&pin), C.size_t(max(memory, 0)))
	if stream == nil {
		return nil, lastFailure(C.aside_last_status())
	}
	s := &ToolStream{c: &toolStream{c: stream}, to: to, callers: callFrame{compressor: c}}
	runtime.SetFinalizer(s.c, (*toolStream).free)
	return s, nil
}

// Write feeds the next bytes of the output and writes the decided text. p may be cut anywhere and is not kept.
//
// It returns the writer's error unchanged, now and from every later call; the bytes of p count as written. A writer that panics
// counts as failed in later calls. After Finish the error is [ErrOrder].
func (s *ToolStream) Write(p []byte) (int, error) {
	data := (*C.char)(unsafe.Pointer(unsafe.SliceData(p)))
	fed, err := s.run(func(out *C.aside_bytes) C.aside_status {
		return C.aside_tool_stream_feed(s.c.c, data, C.size_t(len(p)), out)
	})
	if fed {
		return len(p), err
	}
	return 0, err
}

// SetExitCode sets the exit code of the command, which is known when the command has ended: after the last Write, before Finish.
// Until then, a command without an exit code counts as failed. After Finish the error is [ErrOrder].
func (s *ToolStream) SetExitCode(code int) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.use.leave()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.KeepAlive(s.c)
	if status := C.aside_tool_stream_set_exit_code(s.c.c, C.int64_t(code)); status != C.ASIDE_OK {
		return lastFailure(status)
	}
	return nil
}

// Finish ends the output, writes the rest and returns a report. The stream accepts no more text after it. The report is returned
// even if the writer failed.
func (s *ToolStream) Finish() (*Report, error) {
	var report *Report // set before the writer is called, which may panic
	_, err := s.run(func(out *C.aside_bytes) C.aside_status {
		if status := C.aside_tool_stream_finish(s.c.c, out); status != C.ASIDE_OK {
			return status
		}
		compressed := C.aside_tool_stream_report(s.c.c)
		if compressed != nil {
			report = newReport(compressed, s.callers.failed)
		}
		return madeStatus(compressed != nil)
	})
	return report, err
}

// run makes a call and writes its output. done reports whether the call of the library succeeded.
func (s *ToolStream) run(call func(out *C.aside_bytes) C.aside_status) (done bool, err error) {
	if err := s.enter(); err != nil {
		return false, err
	}
	defer s.use.leave()
	if s.err != nil {
		return false, s.err
	}
	defer runtime.KeepAlive(s.c) // until the writer returns
	var out C.aside_bytes
	if err := s.callers.run(func() C.aside_status { return call(&out) }); err != nil {
		return false, err
	}
	if out.len > 0 {
		s.err = errLeft // until the writer returns
		_, s.err = write(s.to, borrowed(out.at, out.len))
	}
	return true, s.err
}

// enter begins a call, like Scanner.enter.
func (s *ToolStream) enter() error {
	if s == nil {
		return errNil
	}
	if !s.use.enter() {
		return ErrBusy
	}
	if s.c == nil {
		defer s.use.leave()
		return s.use.gone()
	}
	return nil
}

// Close frees the stream and drops text that Finish has not written. It returns [ErrBusy] while a call is in progress. Closing
// it again does nothing.
func (s *ToolStream) Close() error {
	if s == nil {
		return errNil
	}
	if !s.use.enter() {
		return ErrBusy
	}
	defer s.use.leave()
	s.use.closed = true
	if s.c != nil {
		s.c.free()
		s.c = nil
	}
	return nil
}
