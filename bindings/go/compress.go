// The second half: what tools print, made shorter before a model reads it.

package aside

// #include "bridge.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"
)

const (
	// MinCompressibleLength is the length below which a text is never touched, in UTF-16 code units.
	MinCompressibleLength = C.ASIDE_MIN_COMPRESSIBLE_LENGTH
	// MinBudget is the smallest budget of a compressor, in bytes.
	MinBudget = C.ASIDE_MIN_BUDGET
)

// Filter is a host's own filter. It promises only that what it gives is shorter; that is checked.
//
// Its methods run in the goroutines that compress, several at once if the host does so. They may use the package, but for
// the compressor that called them: that says [ErrBusy]. One that panics has failed: the filter is passed over in that
// call, and [Report.Failed] has the panic. They must not call [runtime.Goexit], and so no FailNow of a test, nor the next of
// an [iter.Pull] that was made outside of them. The bytes that they are given are good until they return, and must not be
// changed. input is JSON with sorted keys and no white space.
type Filter interface {
	// ID is its name in banners and reports, without control characters. One of the same id makes place for it.
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

// CompressorOptions say what a compressor is made of. Filters of tools run in the order in which they stand here, and
// caches look up so.
type CompressorOptions struct {
	Bare       bool     // without the built-in filters
	Without    []string // ids of built-in filters that are not wanted; one that is not there is ErrUnknown
	TOML       []string // filters: the texts of filter files. Their tests are not run: CheckFilter
	Filters    []Filter // the host's own
	MinifyJSON bool     // with the filter minify-json, the only one for text that is protected
	LastRun    int      // with the cache last-run: the last result of each call, in so many bytes. 0: without
	Caches     []Cache  // the host's own

	// Budget is how many bytes the text parts of a result may have together, banners and markers included; at least
	// MinBudget. 0: none. Text that is never touched stays whole all the same, and each other text part has at least
	// MinBudget for itself: 100 of them may come to 100 KiB, however small the budget is.
	Budget int
	// SwitchOff is the banner's last sentence: how a user of this host switches compression off. "": a general one.
	SwitchOff string
}

// Compressor makes tool results shorter. It never changes, its caches apart: any number of goroutines may use one at once.
type Compressor struct {
	_ noCopy
	c *C.aside_compressor // nil once closed
	_ *byte               // without a pointer of Go's, small values share memory, and a finalizer may never run
}

// NewCompressor makes a compressor. The options may be nil: the built-in filters, no cache and no budget. A text that is no
// filter file is [ErrFilter], and the message names line and key.
//
// Close frees the compressor; one that is forgotten is freed by the garbage collector, unless a filter or cache of its own
// leads to it.
func NewCompressor(options *CompressorOptions) (*Compressor, error) {
	if options == nil {
		options = &CompressorOptions{}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	builtIn := C.uint32_t(1)
	if options.Bare {
		builtIn = 0
	}
	registry := C.aside_registry_new(builtIn)
	if registry == nil {
		return nil, lastFailure(C.aside_last_status())
	}
	defer func() { // also where ID or ToolIDs of a filter or cache panics
		if registry != nil {
			C.aside_registry_free(registry)
		}
	}()
	if err := options.register(registry); err != nil {
		return nil, err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	c := C.aside_compressor_new(registry, &C.aside_compressor_options{
		size:       C.sizeof_aside_compressor_options,
		budget:     C.uint64_t(max(options.Budget, 0)),
		switch_off: pinned(&pin, options.SwitchOff),
	})
	if c == nil {
		return nil, lastFailure(C.aside_last_status())
	}
	registry = nil // it is the compressor's
	compressor := &Compressor{c: c}
	runtime.SetFinalizer(compressor, (*Compressor).Close)
	return compressor, nil
}

// register puts into a registry what the options name.
func (o *CompressorOptions) register(registry *C.aside_registry) error {
	if o.Budget < 0 || o.LastRun < 0 {
		return &failure{ErrOption, "a size is below 0"}
	}
	for _, id := range o.Without {
		switch status := C.aside_registry_remove(registry, chars(id), C.size_t(len(id))); status {
		case C.ASIDE_OK:
		case C.ASIDE_NONE:
			return &failure{ErrUnknown, fmt.Sprintf("no filter is called %q", id)}
		default:
			return lastFailure(status)
		}
	}
	for _, toml := range o.TOML {
		if status := C.aside_registry_add_toml(registry, chars(toml), C.size_t(len(toml))); status != C.ASIDE_OK {
			return lastFailure(status)
		}
	}
	for _, filter := range o.Filters {
		if filter == nil {
			return ErrNull
		}
		if err := addHost(filter.ID(), filter.ToolIDs(), filter, func(id C.aside_bytes, tools []C.aside_bytes, user C.uintptr_t) C.aside_status {
			return C.aside_go_add_filter(registry, id, unsafe.SliceData(tools), C.size_t(len(tools)), user)
		}); err != nil {
			return err
		}
	}
	if o.MinifyJSON {
		if status := C.aside_registry_minify_json(registry); status != C.ASIDE_OK {
			return lastFailure(status)
		}
	}
	if o.LastRun > 0 {
		if status := C.aside_registry_add_last_run(registry, C.size_t(o.LastRun)); status != C.ASIDE_OK {
			return lastFailure(status)
		}
	}
	for _, cache := range o.Caches {
		if cache == nil {
			return ErrNull
		}
		if err := addHost(cache.ID(), cache.ToolIDs(), cache, func(id C.aside_bytes, tools []C.aside_bytes, user C.uintptr_t) C.aside_status {
			return C.aside_go_add_cache(registry, id, unsafe.SliceData(tools), C.size_t(len(tools)), user)
		}); err != nil {
			return err
		}
	}
	return nil
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

// Close frees the compressor. Streams that were made from it go on. No other goroutine may be using it; inside a callback of
// its filters and caches nothing is freed, and the error is [ErrBusy]. Closing it again does nothing.
func (c *Compressor) Close() error {
	if c.c == nil {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.isInside() {
		return ErrBusy
	}
	runtime.SetFinalizer(c, nil)
	C.aside_compressor_free(c.c)
	c.c = nil
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

// Call is a tool call whose result is to be compressed.
type Call struct {
	ToolID string
	// Input is what the tool was called with. A terminal tool's has "command", and may have "cwd" and "exit_code". Empty:
	// null.
	Input json.RawMessage
	// Now is the time, for caches: the library has no clock of its own.
	Now time.Time
}

// c gives the call to C, for as long as it is pinned.
func (call *Call) c(pin *runtime.Pinner) *C.aside_call {
	return &C.aside_call{
		size:    C.sizeof_aside_call,
		tool_id: pinned(pin, call.ToolID),
		input:   pinnedBytes(pin, call.Input),
		now:     C.uint64_t(max(call.Now.Unix(), 0)),
	}
}

// Compress makes the parts of one tool's result shorter. A part that is nil is something else than text and passed over.
// It gives each part as it is now: a part that stays is the slice that came in, and one that goes, because another says
// what it said, is nil. What filters and caches fail in stands in the report and is no error of the call.
//
// Errors are [ErrOption] for an input that is not JSON, [ErrBusy] inside a callback of the same compressor.
func (c *Compressor) Compress(call Call, parts ...[]byte) ([][]byte, *Report, error) {
	if c.c == nil {
		return nil, nil, ErrClosed
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	defer runtime.KeepAlive(c)
	raw := make([]C.aside_bytes, len(parts))
	for i, part := range parts {
		if part != nil {
			raw[i] = pinnedBytes(&pin, part)
		}
	}
	var out *C.aside_compressed
	said := under{compressor: c}
	if err := said.run(func() C.aside_status {
		return C.aside_compress(c.c, call.c(&pin), unsafe.SliceData(raw), C.size_t(len(raw)), &out)
	}); err != nil {
		return nil, nil, err
	}
	report := newReport(out, said.failed)
	results := make([][]byte, len(parts))
	for i, part := range parts {
		var text *C.char
		var n C.size_t
		switch C.aside_compressed_part(out, C.size_t(i), &text, &n) {
		case C.ASIDE_NONE:
			results[i] = part
		case C.ASIDE_OK:
			if n > 0 {
				results[i] = append([]byte(nil), lent(text, n)...)
			}
		}
	}
	runtime.KeepAlive(report)
	return results, report, nil
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
	c *C.aside_compressed // nil once closed
	_ *byte               // as of a Compressor
}

func (c *compressed) free() {
	if c.c != nil {
		runtime.SetFinalizer(c, nil)
		C.aside_compressed_free(c.c)
		c.c = nil
	}
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
	if r.c == nil || r.c.c == nil {
		return nil, ErrClosed
	}
	if part < 0 || start < 0 || end < start {
		return nil, ErrRange
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.KeepAlive(r)
	data := (*C.char)(unsafe.Pointer(unsafe.SliceData(original)))
	if status := C.aside_go_slice(r.c.c, C.size_t(part), data, C.size_t(len(original)), C.uint64_t(start),
		C.uint64_t(end-start)); status != C.ASIDE_OK {
		return nil, lastFailure(status)
	}
	return original[start:end:end], nil
}

// Close frees what Slice needs; the rest of the report stays. One that is forgotten is freed by the garbage collector.
// Closing it again does nothing.
func (r *Report) Close() error {
	if r.c != nil {
		r.c.free()
	}
	return nil
}

// ToolStream is a writer for one tool's output that is compressed as it comes, into another writer. One goroutine at a time
// may use it.
type ToolStream struct {
	_       noCopy
	c       *toolStream // nil once closed
	to      io.Writer
	err     error // of the writer: it lasts
	inside  bool
	callers under
}

// toolStream has the finalizer: a writer may lead back to its ToolStream, and what is in a circle is never finalized.
type toolStream struct {
	c *C.aside_tool_stream
	_ *byte // as of a Compressor
}

func (s *toolStream) free() {
	runtime.SetFinalizer(s, nil)
	C.aside_tool_stream_free(s.c)
}

// NewStream makes a stream for one tool's output, with memory bytes for it: at least four times the budget, and at least
// 4,096; less is [ErrOption]. While the text fits into that, the result is that of one call, without a banner, and comes at
// the end. A longer text without a budget comes out as it goes, less its repeats; with one it comes at the end: head, tail
// and error regions. The compressor may be closed before the stream.
//
// Close frees the stream; one that is forgotten is freed by the garbage collector.
func (c *Compressor) NewStream(call Call, memory int, to io.Writer) (*ToolStream, error) {
	if c.c == nil {
		return nil, ErrClosed
	}
	if to == nil {
		return nil, ErrNull
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.KeepAlive(c)
	var pin runtime.Pinner
	defer pin.Unpin()
	stream := C.aside_tool_stream_new(c.c, call.c(&pin), C.size_t(max(memory, 0)))
	if stream == nil {
		return nil, lastFailure(C.aside_last_status())
	}
	s := &ToolStream{c: &toolStream{c: stream}, to: to, callers: under{compressor: c}}
	runtime.SetFinalizer(s.c, (*toolStream).free)
	return s, nil
}

// Write feeds the next bytes of the output, cut anywhere, and writes what is decided. The error of the writer is given as it
// is, and again by each later call; the bytes of p are taken all the same. A writer that panics has failed for all later
// calls. After Finish the error is [ErrOrder].
func (s *ToolStream) Write(p []byte) (int, error) {
	data := (*C.char)(unsafe.Pointer(unsafe.SliceData(p)))
	fed, err := s.run(func(out **C.char, n *C.size_t) C.aside_status {
		return C.aside_tool_stream_feed(s.c.c, data, C.size_t(len(p)), out, n)
	})
	if fed {
		return len(p), err
	}
	return 0, err
}

// Finish ends the output, writes the rest, and gives what was done. The stream takes no more text then.
func (s *ToolStream) Finish() (*Report, error) {
	var report *Report // before the writer is called, which may panic
	_, err := s.run(func(out **C.char, n *C.size_t) C.aside_status {
		var compressed *C.aside_compressed
		status := C.aside_tool_stream_finish(s.c.c, out, n, &compressed)
		if status == C.ASIDE_OK {
			report = newReport(compressed, s.callers.failed)
		}
		return status
	})
	return report, err
}

// run makes a call, and writes what that gives. done says whether the library has done its part.
func (s *ToolStream) run(call func(out **C.char, n *C.size_t) C.aside_status) (done bool, err error) {
	switch {
	case s.c == nil:
		return false, ErrClosed
	case s.inside:
		return false, ErrBusy
	case s.err != nil:
		return false, s.err
	}
	s.inside = true
	defer runtime.KeepAlive(s.c) // until the writer returns
	defer func() { s.inside = false }()
	var out *C.char
	var n C.size_t
	if err := s.callers.run(func() C.aside_status { return call(&out, &n) }); err != nil {
		return false, err
	}
	if n > 0 {
		var written int
		s.err = errLeft // until the writer returns
		if written, s.err = s.to.Write(lent(out, n)); s.err == nil && written < int(n) {
			s.err = io.ErrShortWrite
		}
	}
	return true, s.err
}

// Close frees the stream. What was not finished is lost. Inside one of its calls the error is [ErrBusy]; closing it again does
// nothing.
func (s *ToolStream) Close() error {
	if s.inside {
		return ErrBusy
	}
	if s.c != nil {
		s.c.free()
		s.c = nil
	}
	return nil
}

// Command is a command of a command line.
type Command struct {
	Name       string   // without folder and version: "pytest" of "python -m pytest"
	Subcommand string   // the first argument that is no option nor an option's value; may be ""
	Words      []string // all words behind the program
	Prints     bool     // its output is seen
	Piped      bool     // it goes through head, grep and the like, so that it may be only a part
}

// Commands takes a command line apart as a shell would, and gives its commands in their order; for a shell with -c those that
// it runs. None where the line is better left alone: with case, or with shells in shells more than eight deep. A line that is
// not UTF-8 is [ErrOption].
func Commands(line string) ([]Command, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	parsed := C.aside_command_line_parse(chars(line), C.size_t(len(line)))
	if parsed == nil {
		return nil, lastFailure(C.aside_last_status())
	}
	defer C.aside_command_line_free(parsed)
	var n C.size_t
	first := C.aside_command_line_commands(parsed, &n)
	commands := make([]Command, 0, int(n))
	for _, raw := range unsafe.Slice(first, int(n)) {
		command := Command{Name: text(raw.name), Subcommand: text(raw.subcommand), Prints: raw.prints == 1, Piped: raw.piped == 1}
		for _, word := range unsafe.Slice(raw.words, int(raw.word_count)) {
			command.Words = append(command.Words, text(word))
		}
		commands = append(commands, command)
	}
	return commands, nil
}

// IsProtected says whether a text is of a machine format, such as JSON, and so passes untouched.
func IsProtected(text []byte) bool {
	data := (*C.char)(unsafe.Pointer(unsafe.SliceData(text)))
	return C.aside_is_protected(data, C.size_t(len(text))) == 1
}

// FormatBanner gives the line that a compressed text begins with, without a line end: by which filters, from how many UTF-16
// code units to how many. An id that is not UTF-8 is [ErrOption].
func FormatBanner(filters []string, before, after int) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var pin runtime.Pinner
	defer pin.Unpin()
	ids := allPinned(&pin, filters)
	var out *C.char
	var n C.size_t
	if status := C.aside_format_banner(unsafe.SliceData(ids), C.size_t(len(ids)), C.uint64_t(max(before, 0)),
		C.uint64_t(max(after, 0)), &out, &n); status != C.ASIDE_OK {
		return "", lastFailure(status)
	}
	defer C.free(unsafe.Pointer(out))
	return string(lent(out, n)), nil
}

// CheckFilter reads the text of a filter file and runs its own tests, of which it must have one of each kind. What is wrong is
// [ErrFilter], and the message names line and key.
func CheckFilter(toml string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := C.aside_filter_check(chars(toml), C.size_t(len(toml))); status != C.ASIDE_OK {
		return lastFailure(status)
	}
	return nil
}

// pinned gives a string to C inside a struct, for as long as it is pinned.
func pinned(pin *runtime.Pinner, text string) C.aside_bytes {
	return pinnedBytes(pin, unsafe.Slice(unsafe.StringData(text), len(text)))
}

// nothing stands for an empty slice, which need not have memory.
var nothing = new([1]byte)

func pinnedBytes(pin *runtime.Pinner, text []byte) C.aside_bytes {
	at := unsafe.SliceData(text)
	if len(text) == 0 {
		at = &nothing[0]
	}
	pin.Pin(at)
	return C.aside_bytes{at: (*C.char)(unsafe.Pointer(at)), len: C.size_t(len(text))}
}

func allPinned(pin *runtime.Pinner, texts []string) []C.aside_bytes {
	all := make([]C.aside_bytes, len(texts))
	for i, text := range texts {
		all[i] = pinned(pin, text)
	}
	return all
}

// text copies bytes that the library lends.
func text(bytes C.aside_bytes) string { return string(lent(bytes.at, bytes.len)) }
