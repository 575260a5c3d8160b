// Filters and caches written in Go, and the callbacks through which the library runs them. No panic and no pointer to Go memory
// may pass through the library's frames.

package aside

// #include "bridge.h"
import "C"

import (
	"fmt"
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"
)

// Filter is a filter of the host. Its result must be shorter than the text, which the library checks; nothing else is required.
//
// Its methods run on the goroutines that compress, possibly several at once. They may use the package, except the compressor
// that called them: it returns [ErrBusy]. If a method returns an error or panics, the filter is skipped for that call, and
// [Report.Failed] has the error. Methods must not end their goroutine: no [runtime.Goexit], no FailNow of a test, no next of an
// [iter.Pull] made outside them.
//
// Byte slices passed to a method are borrowed: they are valid until it returns and must not be changed. input is JSON with
// sorted keys and no white space. A returned slice is copied.
type Filter interface {
	// ID returns the filter's name in banners and reports, without control characters. The filter replaces an earlier one with the
	// same id. NewCompressor calls ID once.
	ID() string
	// ToolIDs returns the tools whose results the filter is for; an empty slice means all. NewCompressor calls it once.
	ToolIDs() []string
	// Matches reports whether the filter is for the result of an invocation.
	Matches(toolID string, input []byte) bool
	// Apply returns a shorter text, or nil if there is nothing to do.
	Apply(text, input []byte) ([]byte, error)
}

// Cache is a cache of the host, which remembers results. A recorded result is used only if its text equals the fresh text. The
// rules for the methods of a [Filter] apply to its methods too. Unstable.
type Cache interface {
	// ID returns the cache's name in reports, without control characters. NewCompressor calls it once.
	ID() string
	// ToolIDs returns the tools whose results the cache is for; an empty slice means all. NewCompressor calls it once.
	ToolIDs() []string
	// Observe receives every invocation, before any cache's Lookup is called.
	Observe(toolID string, input []byte)
	// Lookup returns the recorded result of an invocation, or nil if there is none.
	Lookup(toolID string, input []byte) (*Hit, error)
	// Record stores a result: its raw text parts, joined with line feeds.
	Record(toolID string, input, text []byte, now time.Time) error
}

// Hit is a recorded result of a [Cache]. Unstable.
type Hit struct {
	Text []byte
	Time time.Time
}

// host is a filter or cache, with the id under which it was registered.
type host struct {
	id string
	is any // Filter, Cache or the function that counts tokens
}

func addHost(id string, tools []string, is any, add func(C.aside_bytes, []C.aside_bytes, C.uintptr_t) C.aside_status) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	handle := cgo.NewHandle(&host{id, is})
	if status := add(pinned(&pin, id), allPinned(&pin, tools), C.uintptr_t(handle)); status != C.ASIDE_OK {
		handle.Delete() // after a failure the library does not call asideGoRelease
		return lastFailure(status)
	}
	return nil
}

// callFrame is the call of the library in which callbacks run.
type callFrame struct {
	compressor *Compressor
	outer      C.uintptr_t // the handle of the enclosing call
	failed     []Failed
}

// run makes a call of the library, in which callbacks find f.
func (f *callFrame) run(call func() C.aside_status) error {
	runtime.LockOSThread()
	returned := false
	defer func() {
		// After a Goexit inside the library the thread stays locked, so that it ends with its goroutine.
		if returned {
			runtime.UnlockOSThread()
		}
	}()
	handle := cgo.NewHandle(f)
	defer handle.Delete()
	f.outer = C.aside_go_inside(C.uintptr_t(handle))
	defer func() { C.aside_go_inside(f.outer) }()
	status := call()
	returned = true
	if status != C.ASIDE_OK {
		return lastFailure(status)
	}
	return nil
}

// isInside reports whether this thread, which must be locked, runs a callback of the compressor.
func (c *Compressor) isInside() bool {
	handle := C.aside_go_inside(0)
	C.aside_go_inside(handle)
	for handle != 0 {
		f := cgo.Handle(handle).Value().(*callFrame)
		if f.compressor == c {
			return true
		}
		handle = f.outer
	}
	return false
}

// hasFailed reports whether a filter or cache has failed in the call.
func (f *callFrame) hasFailed(id string) bool {
	for _, failed := range f.failed {
		if failed.ID == id {
			return true
		}
	}
	return false
}

// callback runs a method of a filter or cache, unless that has failed in this call before. It recovers every panic, because a
// panic must not pass through the library's frames.
func callback[T any](call, user C.uintptr_t, method func(T) (C.int32_t, error)) (code C.int32_t) {
	frame := cgo.Handle(call).Value().(*callFrame)
	host := cgo.Handle(user).Value().(*host)
	if frame.hasFailed(host.id) {
		return 0
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			err, isError := panicked.(error)
			if !isError {
				err = fmt.Errorf("%v", panicked)
			}
			frame.failed = append(frame.failed, Failed{host.id, fmt.Errorf("panic: %w", err)})
			code = -1
		}
	}()
	code, err := method(host.is.(T))
	if err != nil {
		frame.failed = append(frame.failed, Failed{host.id, err})
		return -1
	}
	return code
}

//export asideGoMatches
func asideGoMatches(call, user C.uintptr_t, tool, input C.aside_bytes) C.int32_t {
	return callback(call, user, func(filter Filter) (C.int32_t, error) {
		if filter.Matches(text(tool), borrowed(input.at, input.len)) {
			return 1, nil
		}
		return 0, nil
	})
}

//export asideGoApply
func asideGoApply(call, user C.uintptr_t, text, input C.aside_bytes, reply *C.aside_reply) C.int32_t {
	return callback(call, user, func(filter Filter) (C.int32_t, error) {
		shorter, err := filter.Apply(borrowed(text.at, text.len), borrowed(input.at, input.len))
		if err != nil || shorter == nil {
			return 0, err
		}
		return answer(reply, shorter)
	})
}

//export asideGoObserve
func asideGoObserve(call, user C.uintptr_t, tool, input C.aside_bytes) C.int32_t {
	return callback(call, user, func(cache Cache) (C.int32_t, error) {
		cache.Observe(text(tool), borrowed(input.at, input.len))
		return 0, nil
	})
}

//export asideGoLookup
func asideGoLookup(call, user C.uintptr_t, tool, input C.aside_bytes, reply *C.aside_reply, timestamp *C.uint64_t) C.int32_t {
	return callback(call, user, func(cache Cache) (C.int32_t, error) {
		hit, err := cache.Lookup(text(tool), borrowed(input.at, input.len))
		if err != nil || hit == nil {
			return 0, err
		}
		*timestamp = C.uint64_t(max(hit.Time.Unix(), 0))
		return answer(reply, hit.Text)
	})
}

//export asideGoRecord
func asideGoRecord(call, user C.uintptr_t, tool, input, text C.aside_bytes, now C.uint64_t) C.int32_t {
	return callback(call, user, func(cache Cache) (C.int32_t, error) {
		return 0, cache.Record(string(borrowed(tool.at, tool.len)), borrowed(input.at, input.len), borrowed(text.at, text.len), time.Unix(int64(now), 0))
	})
}

//export asideGoCount
func asideGoCount(call, user C.uintptr_t, text C.aside_bytes) C.int64_t {
	tokens := -1
	code := callback(call, user, func(count func([]byte) (int, error)) (C.int32_t, error) {
		counted, err := count(borrowed(text.at, text.len))
		if err == nil && counted < 0 {
			err = fmt.Errorf("it counted %d tokens", counted)
		}
		tokens = counted
		return 0, err
	})
	if code < 0 {
		return C.int64_t(code)
	}
	return C.int64_t(tokens)
}

//export asideGoRelease
func asideGoRelease(user C.uintptr_t) { cgo.Handle(user).Delete() }

func answer(reply *C.aside_reply, text []byte) (C.int32_t, error) {
	data := (*C.char)(unsafe.Pointer(unsafe.SliceData(text)))
	if status := C.aside_reply_write(reply, data, C.size_t(len(text))); status != C.ASIDE_OK {
		return -1, Status(status)
	}
	return 1, nil
}
