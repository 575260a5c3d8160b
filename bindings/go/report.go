// What one call did.

package aside

// #include "bridge.h"
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Report is what one call did.
type Report struct {
	Before, After int      // length of the text parts in UTF-16 code units, banners included
	Filters       []string // those that changed something, in the order of their first change
	Failed        []Failed // filters and caches that failed and were passed over
	// Parts that filters changed. None for a stream that outgrew its memory.
	Parts []PartReport
	Hit   string // the cache that had the same output; "" if none had
	// CutProtected: text of a machine format was cut, because it outgrew a stream's memory and there was a budget.
	CutProtected bool

	c *compressed // copies of a Report share it
}

// compressed is what Slice needs, freed when no Report leads to it any more.
type compressed struct {
	use shared
	c   *C.aside_compressed // nil once closed
	_   *byte               // as of a Compressor
}

func (c *compressed) free() error {
	switch c.use.close() {
	case ErrBusy:
		return ErrBusy
	case ErrClosed:
		return nil
	}
	runtime.SetFinalizer(c, nil)
	C.aside_compressed_free(c.c)
	c.c = nil
	return nil
}

// Failed is a filter or cache that failed in a call.
type Failed struct {
	ID  string
	Err error // its own, where it is a host's
}

// PartReport is what became of a text part that filters changed.
type PartReport struct {
	Part      int       // its place in the result that came in
	Len       int       // bytes of the original
	Hash      uint64    // XXH3 (64 bits, seed 0) of the original
	Stretches []Stretch // that tile the original
}

// Stretch is a stretch of an original.
type Stretch struct {
	Start, End int    // in the original, in bytes
	Hash       uint64 // XXH3 (64 bits, seed 0) of its bytes
	Change     Change
	Filter     string // who did it; "" for what was kept
}

// Change is what became of a stretch.
type Change uint32

const (
	// Kept: it is in the result, byte for byte.
	Kept Change = C.ASIDE_KEPT
	// Replaced: other bytes stand for it.
	Replaced Change = C.ASIDE_REPLACED
	// LeftOut: it is not there; a marker line may stand for it.
	LeftOut Change = C.ASIDE_LEFT_OUT
)

// newReport reads a report. What callbacks of Go's failed in comes from them; the library knows less of it.
func newReport(c *C.aside_compressed, failed []Failed) *Report {
	raw := C.aside_report{size: C.sizeof_aside_report}
	C.aside_compressed_report(c, &raw)
	r := &Report{
		Before:       int(raw.before),
		After:        int(raw.after),
		Hit:          text(raw.hit),
		CutProtected: raw.cut_protected != 0,
		Failed:       failed,
		c:            &compressed{c: c},
	}
	for _, id := range unsafe.Slice(raw.filters, int(raw.filter_count)) {
		r.Filters = append(r.Filters, text(id))
	}
	known := under{failed: failed}
	for _, one := range unsafe.Slice(raw.failed, int(raw.failed_count)) {
		if id := text(one.id); !known.has(id) {
			r.Failed = append(r.Failed, Failed{id, fmt.Errorf("%s", text(one.reason))})
		}
	}
	for _, part := range unsafe.Slice(raw.parts, int(raw.part_count)) {
		stretches := make([]Stretch, 0, int(part.stretch_count))
		for _, s := range unsafe.Slice(part.stretches, int(part.stretch_count)) {
			stretch := Stretch{Start: int(s.start), End: int(s.start + s.len), Hash: uint64(s.hash), Change: Change(s.change)}
			if s.filter != C.ASIDE_NO_FILTER {
				stretch.Filter = r.Filters[s.filter]
			}
			stretches = append(stretches, stretch)
		}
		r.Parts = append(r.Parts, PartReport{int(part.part), int(part.len), uint64(part.hash), stretches})
	}
	runtime.SetFinalizer(r.c, (*compressed).free)
	return r
}

// Slice gives back what was left out: the bytes from start to end of a part's original, a slice of it. original is the text of
// that part as it came in. Another text, and a part that no filter changed, is [ErrOriginal]; a range outside it is
// [ErrRange].
func (r *Report) Slice(part int, original []byte, start, end int) ([]byte, error) {
	if r.c == nil {
		return nil, ErrClosed
	}
	if err := r.c.use.enter(); err != nil {
		return nil, err
	}
	defer r.c.use.leave()
	if part < 0 || start < 0 || end < start {
		return nil, ErrRange
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	data := (*C.char)(unsafe.Pointer(unsafe.SliceData(original)))
	if status := C.aside_go_slice(r.c.c, C.size_t(part), data, C.size_t(len(original)), C.uint64_t(start),
		C.uint64_t(end-start)); status != C.ASIDE_OK {
		return nil, lastFailure(status)
	}
	return original[start:end:end], nil
}

// Close frees what Slice needs; the rest of the report stays. One that is forgotten is freed by the garbage collector. While
// another goroutine is in Slice nothing is freed, and the error is [ErrBusy]. Closing it again does nothing.
func (r *Report) Close() error {
	if r.c == nil {
		return nil
	}
	return r.c.free()
}
