package aside

// #include "bridge.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Markers is what [Join] does with markers in its parts.
type Markers uint32

const (
	// MarkersRefuse: it fails with ErrJoin.
	MarkersRefuse Markers = C.ASIDE_MARKERS_REFUSE
	// MarkersEscape: it breaks them, as Escape does.
	MarkersEscape Markers = C.ASIDE_MARKERS_ESCAPE
)

// Strip gives the content of a whole text: what a reader is meant to see of it, ASCII white space trimmed at both ends.
// Any number of goroutines may call it at once.
func Strip(d *Dialect, text string) (string, error) {
	return whole(d, func(out **C.char, n *C.size_t) C.aside_status {
		return C.aside_strip(d.c, chars(text), C.size_t(len(text)), out, n)
	})
}

// Join puts thinking and content into one text, as a model of the dialect writes them: the text splits back into the
// same, byte for byte. Without thinking no block of it is written, unless the text starts inside one. Any bytes will do.
//
// start is what is open where the text begins, and must be given to the scanner that splits it: [StartDefault],
// [StartContent], [StartHeader], or [StartThinking], where no opener is written. Where a part holds what would be read as
// a marker, the error is [ErrJoin] and says at which byte of which part; or with [MarkersEscape] that is broken, and the
// text splits back into the escaped parts. Any number of goroutines may call it at once.
func Join(d *Dialect, thinking, content string, start Start, markers Markers) (string, error) {
	return whole(d, func(out **C.char, n *C.size_t) C.aside_status {
		return C.aside_join(d.c, chars(thinking), C.size_t(len(thinking)), chars(content), C.size_t(len(content)),
			C.uint32_t(start), C.uint32_t(markers), out, n)
	})
}

// Escape gives a text without the dialect's markers, those where a turn begins among them, for a prompt that a user's text
// goes into: behind the first character of each marker stands U+200B (zero width space), so that it reads the same and is
// no marker. A text that was escaped is not changed again. Escape a text whole: a marker that is put together from two
// texts is seen in neither. Special tokens that the dialect does not name are the host's to keep out.
//
// Where the dialect has a marker that nothing can break, the error is [ErrJoin]. Any number of goroutines may call it at
// once.
func Escape(d *Dialect, text string) (string, error) {
	return whole(d, func(out **C.char, n *C.size_t) C.aside_status {
		return C.aside_escape(d.c, chars(text), C.size_t(len(text)), out, n)
	})
}

// whole gives a copy of the text that a call has made.
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
	return string(lent(out, n)), nil
}
