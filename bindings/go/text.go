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
	return whole(d, func(out **C.char, n *C.size_t) C.aside_status {
		return C.aside_strip(d.c, chars(text), C.size_t(len(text)), out, n)
	})
}

// Join returns thinking and content as one text, written as a model of the dialect writes them. The text splits back into the
// same parts, byte for byte. Without thinking it has no thinking block, unless the text starts inside one. The parts may be
// any bytes.
//
// start says what is open where the text begins: [StartDefault], [StartContent], [StartHeader], or [StartThinking], which
// writes no opener. The scanner that splits the text needs the same start.
//
// If a part contains what would be read as a marker, the error is [ErrJoin] and says at which byte of which part. With
// [MarkersEscape] such markers are broken instead, and the text splits back into the escaped parts. Any number of goroutines
// may call Join at once.
func Join(d *Dialect, thinking, content string, start Start, markers Markers) (string, error) {
	return whole(d, func(out **C.char, n *C.size_t) C.aside_status {
		return C.aside_join(d.c, chars(thinking), C.size_t(len(thinking)), chars(content), C.size_t(len(content)),
			C.uint32_t(start), C.uint32_t(markers), out, n)
	})
}

// JoinCall is a tool call for [JoinWithCalls]. Its texts are UTF-8.
type JoinCall struct {
	Name      string
	Arguments string // a JSON object
	ID        string // written where the dialect has a place for one; empty: none
}

// JoinWithCalls returns thinking, content and the tool calls after them as one text, as [Join] does. A [Scanner] with
// Options.Calls reads the calls back as they are. Calls are never escaped: for a call that cannot be written the error is
// [ErrJoin], which says which call, and which part of it.
func JoinWithCalls(d *Dialect, thinking, content string, calls []JoinCall, start Start, markers Markers) (string, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	list := make([]C.aside_join_call, len(calls))
	for i, call := range calls {
		name, arguments, id := pinned(&pin, call.Name), pinned(&pin, call.Arguments), pinned(&pin, call.ID)
		list[i] = C.aside_join_call{
			name: name.at, name_len: name.len, arguments: arguments.at, arguments_len: arguments.len, id_len: id.len,
		}
		if call.ID != "" {
			list[i].id = id.at
		}
	}
	return whole(d, func(out **C.char, n *C.size_t) C.aside_status {
		return C.aside_join_with_calls(d.c, chars(thinking), C.size_t(len(thinking)), chars(content), C.size_t(len(content)),
			unsafe.SliceData(list), C.size_t(len(list)), C.uint32_t(start), C.uint32_t(markers), out, n)
	})
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
	return whole(d, func(out **C.char, n *C.size_t) C.aside_status {
		return C.aside_escape(d.c, chars(text), C.size_t(len(text)), out, n)
	})
}

// whole returns a copy of the text that a call has allocated, and frees that text.
func whole(d *Dialect, call func(out **C.char, n *C.size_t) C.aside_status) (string, error) {
	if err := d.enter(); err != nil {
		return "", err
	}
	defer d.leave()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var out *C.char
	var n C.size_t
	if status := call(&out, &n); status != C.ASIDE_OK {
		return "", lastFailure(status)
	}
	defer C.free(unsafe.Pointer(out))
	return string(borrowed(out, n)), nil
}
