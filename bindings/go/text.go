package aside

// #include "bridge.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Strip returns the content of a whole text: what a reader is meant to see, with ASCII white space trimmed at both ends.
//
// The error is [ErrNull] or [ErrClosed] for a dialect that is nil or closed, and [ErrMemory]. Any number of goroutines may
// call Strip at once.
func Strip(d *Dialect, text string) (string, error) {
	return whole(d, func(n *C.size_t) *C.char {
		return C.aside_strip(d.c, chars(text), C.size_t(len(text)), n)
	})
}

// JoinOptions are the options of [Join].
type JoinOptions struct {
	// Start says what is open where the text begins: [StartDefault], [StartContent], [StartHeader], or [StartThinking], which
	// writes no opener. The scanner that splits the text needs the same start.
	Start   Start
	Markers Markers    // what Join does with markers in the parts
	Calls   []JoinCall // the tool calls after the content
}

// JoinCall is a tool call for [Join]. Its texts are UTF-8.
type JoinCall struct {
	Name      string
	Arguments string // a JSON object
	ID        string // written where the dialect has a place for one; empty: none
}

// Join returns thinking, content and the tool calls after them as one text, written as a model of the dialect writes them. The
// text splits back into the same parts, byte for byte. Without thinking it has no thinking block, unless the text starts inside
// one. Thinking and content may be any bytes; the options may be nil.
//
// If a part contains what would be read as a marker, the error is [ErrJoin] and says at which byte of which part. With
// [MarkersEscape] such markers are broken instead, and the text splits back into the escaped parts. Calls are never escaped:
// for a call that cannot be written the error is [ErrJoin] too. A [Scanner] with ScannerOptions.Calls reads the calls back as
// they are. Any number of goroutines may call Join at once.
func Join(d *Dialect, thinking, content string, options *JoinOptions) (string, error) {
	if options == nil {
		options = &JoinOptions{}
	}
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
	return whole(d, func(n *C.size_t) *C.char { return C.aside_join(d.c, &raw, n) })
}

// Escape returns a text in which the dialect's markers are broken, so that a user's text can go into a prompt. It inserts
// U+200B (zero width space) after the first character of each marker, those that begin a turn included. The text looks the
// same, and escaping it again does not change it.
//
// Escape a text as a whole: a marker whose halves are in two texts is found in neither. Special tokens that the dialect does
// not name are left in; the host must remove them.
//
// If the dialect has a marker that cannot be broken, the error is [ErrJoin]. Any number of goroutines may call Escape at
// once.
func Escape(d *Dialect, text string) (string, error) {
	return whole(d, func(n *C.size_t) *C.char {
		return C.aside_escape(d.c, chars(text), C.size_t(len(text)), n)
	})
}

// whole returns a copy of the text that a call has made, and frees that text.
func whole(d *Dialect, call func(n *C.size_t) *C.char) (string, error) {
	if err := d.enter(); err != nil {
		return "", err
	}
	defer d.leave()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var n C.size_t
	return made(call(&n), &n)
}

// made returns a copy of a text that the library has made, and frees that text. The thread must be locked.
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
