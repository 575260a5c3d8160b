package aside

// #include "bridge.h"
import "C"

import (
	"runtime"
	"unsafe"
)

func (d *Dialect) strip(text string) (string, error) {
	return whole(func(n *C.size_t) *C.char { return C.aside_strip(d.c, chars(text), C.size_t(len(text)), n) })
}

func (d *Dialect) join(thinking, content string, options *JoinOptions) (string, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	list := make([]C.aside_join_call, len(options.Calls))
	for i, call := range options.Calls {
		list[i] = C.aside_join_call{name: pinned(&pin, call.Name), arguments: pinned(&pin, call.Arguments)}
		if call.ID != "" {
			list[i].id = pinned(&pin, call.ID)
		}
	}
	raw := C.aside_join_options{
		size:       C.sizeof_aside_join_options,
		thinking:   pinned(&pin, thinking),
		content:    pinned(&pin, content),
		call_count: C.size_t(len(list)),
		call_size:  C.sizeof_aside_join_call,
		start:      C.uint32_t(options.Start),
		markers:    C.uint32_t(options.Markers),
	}
	if len(list) > 0 {
		pin.Pin(&list[0])
		raw.calls = &list[0]
	}
	return whole(func(n *C.size_t) *C.char { return C.aside_join(d.c, &raw, n) })
}

func (d *Dialect) escape(text string) (string, error) {
	return whole(func(n *C.size_t) *C.char { return C.aside_escape(d.c, chars(text), C.size_t(len(text)), n) })
}

// whole returns a copy of the text that a call has allocated, and frees that text.
func whole(call func(n *C.size_t) *C.char) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var n C.size_t
	return made(call(&n), &n)
}

// made returns a copy of a text that the library has allocated, and frees that text. The thread must be locked.
func made(text *C.char, n *C.size_t) (string, error) {
	if text == nil {
		return "", lastFailure(C.aside_last_status())
	}
	defer C.aside_free(unsafe.Pointer(text))
	return string(borrowed(text, *n)), nil
}

// madeStatus returns the status of a call that returns an object.
func madeStatus(made bool) C.aside_status {
	if made {
		return C.ASIDE_OK
	}
	return C.aside_last_status()
}
