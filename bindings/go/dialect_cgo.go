package aside

// #include "bridge.h"
import "C"

import (
	"runtime"
	"strings"
	"unsafe"
)

// dialectState is the library's part of a dialect.
type dialectState struct{ c *C.aside_dialect } // nil once closed

func (d *dialectState) isClosed() bool { return d.c == nil }

// free frees the dialect, if it is not a built-in one.
func (d *dialectState) free() {
	C.aside_dialect_free(d.c)
	d.c = nil
}

func findDialect(by by, text string) (*Dialect, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var c *C.aside_dialect
	switch at, n := chars(text), C.size_t(len(text)); by {
	case byName:
		c = C.aside_dialect_find(at, n)
	case byModel:
		c = C.aside_dialect_find_for_model(at, n)
	case byResponseTemplate:
		c = C.aside_dialect_from_response_template(at, n)
	default:
		c = C.aside_dialect_load(at, n)
	}
	if c == nil {
		return nil, lastFailure(C.aside_last_status())
	}
	d := &Dialect{dialectState: dialectState{c}}
	if by == byFile || by == byResponseTemplate { // all other dialects are built in
		runtime.SetFinalizer(d, (*Dialect).Close)
	}
	return d, nil
}

func findForTemplate(template string) (*Dialect, Start, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	room := make([]*C.aside_dialect, len(DialectNames()))
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&room[0])
	found := C.aside_template_match{
		size:     C.sizeof_aside_template_match,
		dialects: &room[0],
		capacity: C.size_t(len(room)),
	}
	if c := C.aside_dialect_find_for_template(chars(template), C.size_t(len(template)), &found); c != nil {
		return &Dialect{dialectState: dialectState{c}}, Start(found.start), nil
	}
	err := lastFailure(C.aside_last_status())
	if found.count == 0 {
		return nil, StartDefault, err
	}
	ambiguous := &AmbiguousError{err: err}
	for _, c := range room[:found.count] {
		ambiguous.Candidates = append(ambiguous.Candidates, C.GoString(C.aside_dialect_name(c, nil)))
	}
	return nil, StartDefault, ambiguous
}

func preload(names []string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all := strings.Join(names, " ")
	if status := C.aside_dialect_preload(chars(all), C.size_t(len(all))); status != C.ASIDE_OK {
		return lastFailure(status)
	}
	return nil
}

func dialectNames() []string {
	var names []string
	for name := C.aside_dialect_name_at(0, nil); name != nil; name = C.aside_dialect_name_at(C.size_t(len(names)), nil) {
		names = append(names, C.GoString(name))
	}
	return names
}

func (d *dialectState) name() string { return C.GoString(C.aside_dialect_name(d.c, nil)) }

func (d *dialectState) start() Start { return Start(C.aside_dialect_start(d.c)) }

func (d *dialectState) maxHold() int { return int(C.aside_dialect_max_hold(d.c)) }

func (d *dialectState) family(rule uint32) string {
	var n C.size_t
	return words(C.aside_dialect_family(d.c, C.uint32_t(rule), &n), n)
}

func (d *dialectState) opener(rule, tag uint32) string {
	var n C.size_t
	return words(C.aside_dialect_opener(d.c, C.uint32_t(rule), C.uint32_t(tag), &n), n)
}

func version() string { return C.GoString(C.aside_version()) }

// words copies a text that may contain a NUL. It returns "" for NULL.
func words(at *C.char, n C.size_t) string {
	if at == nil {
		return ""
	}
	return string(borrowed(at, n))
}

// chars returns a string's bytes for C, valid for one call. No NUL follows them. An empty string may have no memory; it is
// replaced by one byte.
func chars(text string) *C.char {
	if text == "" {
		text = "\x00"
	}
	return (*C.char)(unsafe.Pointer(unsafe.StringData(text)))
}
