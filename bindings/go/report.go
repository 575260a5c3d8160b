// Reports of a compressor: the changes of each call, and the way to get omitted text back.

package aside

// #include "bridge.h"
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Report describes one call of a compressor. Its fields belong to the caller. A report may be copied; any number of
// goroutines may use one at once.
type Report struct {
	Before, After int // length of the text parts in bytes, banners included
	// The lengths Before and After in UTF-16 code units, as in a banner.
	BeforeUnits, AfterUnits int
	Filters                 []string // the filters that changed something, in the order of their first change
	Failed                  []Failed // filters and caches that failed and were skipped. Unstable
	// The parts that filters changed. Empty for a stream that outgrew its memory. Unstable.
	Parts []PartReport
	Hit   string // the id of the cache that had the same output, or ""
	// CutProtected reports whether text in a machine format, or text that was compressed before, was cut, because it did not
	// fit into the budget.
	CutProtected bool
	// Unexplained reports whether the command failed, by its exit code, and the remaining text says only that it passed.
	Unexplained bool

	c *compressed // shared by copies of the report
}

// compressed is the library's record of a call, for Slice. It is freed when no Report refers to it any more.
type compressed struct {
	use shared
	c   *C.aside_compressed // nil once closed
	_   *byte               // see Compressor
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

// Failed is a filter or cache that failed in a call. Unstable.
type Failed struct {
	ID  string
	Err error // the filter's own error, or the library's description
}

// PartReport describes a text part that filters changed. Unstable.
type PartReport struct {
	Part      int       // the index in the original result
	Len       int       // bytes of the original
	Hash      uint64    // XXH3 (64 bits, seed 0) of the original
	Stretches []Stretch // in order and without gaps: together, the whole original
}

// Stretch is a stretch of an original. Unstable.
type Stretch struct {
	Start, End int    // in the original, in bytes
	Hash       uint64 // XXH3 (64 bits, seed 0) of its bytes
	Change     Change
	Filter     string // the filter that changed it; "" if it was kept
}

// newReport reads a report and takes ownership of c. failed are the errors of callbacks in Go, of which the library has only the
// texts.
func newReport(c *C.aside_compressed, failed []Failed) *Report {
	raw := C.aside_report{size: C.sizeof_aside_report}
	C.aside_compressed_report(c, &raw)
	r := &Report{
		Before:       int(raw.before),
		After:        int(raw.after),
		BeforeUnits:  int(raw.before_units),
		AfterUnits:   int(raw.after_units),
		Hit:          text(raw.hit),
		CutProtected: raw.cut_protected != 0,
		Unexplained:  raw.unexplained != 0,
		Failed:       failed,
		c:            &compressed{c: c},
	}
	for _, id := range unsafe.Slice(raw.filters, int(raw.filter_count)) {
		r.Filters = append(r.Filters, text(id))
	}
	known := callFrame{failed: failed}
	for i := range raw.failed_count {
		one := C.aside_failed{size: C.sizeof_aside_failed}
		C.aside_compressed_failed(c, i, &one)
		if id := text(one.id); !known.hasFailed(id) {
			r.Failed = append(r.Failed, Failed{id, fmt.Errorf("%s", text(one.reason))})
		}
	}
	for i := range raw.part_count {
		part := C.aside_part_report{size: C.sizeof_aside_part_report}
		C.aside_compressed_part_report(c, i, &part)
		stretches := make([]Stretch, 0, int(part.stretch_count))
		for j := range part.stretch_count {
			s := C.aside_stretch{size: C.sizeof_aside_stretch}
			C.aside_compressed_stretch(c, i, j, &s)
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

// Slice returns the bytes from start to end of a part's original, so that omitted text can be shown after all. original is the
// unchanged text of that part; the result is a slice of it. The error is [ErrOriginal] for a different text and for a part that
// no filter changed, and [ErrRange] for a range outside the text. Unstable.
func (r *Report) Slice(part int, original []byte, start, end int) ([]byte, error) {
	switch {
	case r == nil:
		return nil, errNil
	case r.c == nil:
		return nil, &failure{ErrNull, "the report is a zero value: Compress and Finish return one"}
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

// Close frees the memory that Slice needs; the rest of the report stays valid. If a report is not closed, the garbage collector
// frees it. Close returns [ErrBusy] and frees nothing while another goroutine is in Slice. Closing it again does nothing.
func (r *Report) Close() error {
	switch {
	case r == nil:
		return errNil
	case r.c == nil:
		return nil
	}
	return r.c.free()
}
