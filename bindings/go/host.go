// Filters and caches of the host, and the callbacks by which the library asks them.

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

// Filter is a host's own filter. It promises only that what it gives is shorter; that is checked.
//
// Its methods run in the goroutines that compress, several at once if the host does so. They may use the package, but for
// the compressor that called them: that says [ErrBusy]. One that panics has failed: the filter is passed over in that
// call, and [Report.Failed] has the panic. They must not call [runtime.Goexit], and so no FailNow of a test, nor the next of
// an [iter.Pull] that was made outside of them. The bytes that they are given are good until they return, and must not be
// changed. input is JSON with sorted keys and no white space.
type Filter interface {
	// ID is its name in banners and reports, without control characters. It replaces one of the same id.
	ID() string
	// ToolIDs are the tools whose results it is for; none: all. Like ID, it is called once, by NewCompressor.
	ToolIDs() []string
	// Matches says whether it is for a call.
	Matches(toolID string, input []byte) bool
	// Apply gives a shorter text; nil if there is nothing to do.
	Apply(text, input []byte) ([]byte, error)
}

// Cache is a host's own cache: it remembers results, and is trusted only where the fresh text is the recorded one. For its
// methods holds what [Filter] says.
type Cache interface {
	ID() string
	ToolIDs() []string
	// Observe sees every call, before any cache looks up.
	Observe(toolID string, input []byte)
	// Lookup gives the recorded result of a call; nil if there is none.
	Lookup(toolID string, input []byte) (*Hit, error)
	// Record takes a result: its raw text parts, joined with line feeds.
	Record(toolID string, input, text []byte, now time.Time) error
}

// Hit is a recorded result.
type Hit struct {
	Text []byte
	Time time.Time
}

// host is a filter or cache under the id that it was registered with.
type host struct {
	id string
	is any // Filter or Cache
}

func addHost(id string, tools []string, is any, add func(C.aside_bytes, []C.aside_bytes, C.uintptr_t) C.aside_status) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	handle := cgo.NewHandle(&host{id, is})
	if status := add(pinned(&pin, id), allPinned(&pin, tools), C.uintptr_t(handle)); status != C.ASIDE_OK {
		handle.Delete() // after a failure nothing is released
		return lastFailure(status)
	}
	return nil
}

// under is what callbacks know of the call that they run in.
type under struct {
	compressor *Compressor
	around     C.uintptr_t // the handle of the call that this one is inside of
	failed     []Failed
}

// run makes a call whose callbacks find u.
func (u *under) run(call func() C.aside_status) error {
	runtime.LockOSThread()
	returned := false
	defer func() {
		// A thread that was left inside the library, by a Goexit, ends with its goroutine.
		if returned {
			runtime.UnlockOSThread()
		}
	}()
	handle := cgo.NewHandle(u)
	defer handle.Delete()
	u.around = C.aside_go_inside(C.uintptr_t(handle))
	defer func() { C.aside_go_inside(u.around) }()
	status := call()
	returned = true
	if status != C.ASIDE_OK {
		return lastFailure(status)
	}
	return nil
}

// isInside says whether this thread, which is locked, is inside a callback of the compressor's.
func (c *Compressor) isInside() bool {
	handle := C.aside_go_inside(0)
	C.aside_go_inside(handle)
	for handle != 0 {
		u := cgo.Handle(handle).Value().(*under)
		if u.compressor == c {
			return true
		}
		handle = u.around
	}
	return false
}

// has says whether a filter or cache has failed in the call.
func (u *under) has(id string) bool {
	for _, failed := range u.failed {
		if failed.ID == id {
			return true
		}
	}
	return false
}

// callback runs a method of a filter or cache. One that has failed before in this call is not run again. No panic leaves it,
// for the library's frames are above.
func callback[T any](call, user C.uintptr_t, method func(T) (C.int32_t, error)) (code C.int32_t) {
	u := cgo.Handle(call).Value().(*under)
	host := cgo.Handle(user).Value().(*host)
	if u.has(host.id) {
		return 0
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			err, isError := panicked.(error)
			if !isError {
				err = fmt.Errorf("%v", panicked)
			}
			u.failed = append(u.failed, Failed{host.id, fmt.Errorf("panic: %w", err)})
			code = -1
		}
	}()
	code, err := method(host.is.(T))
	if err != nil {
		u.failed = append(u.failed, Failed{host.id, err})
		return -1
	}
	return code
}

//export asideGoMatches
func asideGoMatches(call, user C.uintptr_t, tool *C.char, toolLen C.size_t, input *C.char, inputLen C.size_t) C.int32_t {
	return callback(call, user, func(filter Filter) (C.int32_t, error) {
		if filter.Matches(string(lent(tool, toolLen)), lent(input, inputLen)) {
			return 1, nil
		}
		return 0, nil
	})
}

//export asideGoApply
func asideGoApply(call, user C.uintptr_t, text *C.char, textLen C.size_t, input *C.char, inputLen C.size_t, reply *C.aside_reply) C.int32_t {
	return callback(call, user, func(filter Filter) (C.int32_t, error) {
		shorter, err := filter.Apply(lent(text, textLen), lent(input, inputLen))
		if err != nil || shorter == nil {
			return 0, err
		}
		return answer(reply, shorter)
	})
}

//export asideGoObserve
func asideGoObserve(call, user C.uintptr_t, tool *C.char, toolLen C.size_t, input *C.char, inputLen C.size_t) C.int32_t {
	return callback(call, user, func(cache Cache) (C.int32_t, error) {
		cache.Observe(string(lent(tool, toolLen)), lent(input, inputLen))
		return 0, nil
	})
}

//export asideGoLookup
func asideGoLookup(call, user C.uintptr_t, tool *C.char, toolLen C.size_t, input *C.char, inputLen C.size_t, reply *C.aside_reply, timestamp *C.uint64_t) C.int32_t {
	return callback(call, user, func(cache Cache) (C.int32_t, error) {
		hit, err := cache.Lookup(string(lent(tool, toolLen)), lent(input, inputLen))
		if err != nil || hit == nil {
			return 0, err
		}
		*timestamp = C.uint64_t(max(hit.Time.Unix(), 0))
		return answer(reply, hit.Text)
	})
}

//export asideGoRecord
func asideGoRecord(call, user C.uintptr_t, tool *C.char, toolLen C.size_t, input *C.char, inputLen C.size_t, text *C.char, textLen C.size_t, now C.uint64_t) C.int32_t {
	return callback(call, user, func(cache Cache) (C.int32_t, error) {
		return 0, cache.Record(string(lent(tool, toolLen)), lent(input, inputLen), lent(text, textLen), time.Unix(int64(now), 0))
	})
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
