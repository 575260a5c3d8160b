// The compressor, which shortens the output of tools before a model reads it, and its one-shot call. tool_stream.go has
// streams.

package aside

// #include "bridge.h"
import "C"

import (
	"encoding/json"
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"
)

// CompressorOptions are the options of a compressor. Filters run, and caches are searched, in the order of these fields.
type CompressorOptions struct {
	Bare       bool     // leave out the built-in filters
	TOML       []string // texts of filter files. Their own tests are not run: `aside check FILE` runs them
	Filters    []Filter // filters of the host
	MinifyJSON bool     // add the filter minify-json, the only one that changes protected text. Unstable
	LastRun    int      // bytes for the cache last-run, which keeps the last result of each invocation. 0: no such cache. Unstable
	Caches     []Cache  // caches of the host. Unstable

	// Budget limits the bytes of a result's text parts together, banners and markers included. It is at least 1,024;
	// 0: no budget. Protected and short parts stay whole, and every other part may have 1,024 bytes: a result of 100 parts may
	// have 100 KiB under any budget.
	Budget int
	// BudgetTokens limits the tokens of a result's text parts together, estimated from the shape of the text. It is at least 512; 0:
	// no such budget. It also sets a budget of 6 bytes for each token. If Budget is set too, both apply.
	BudgetTokens int
	// Count returns the number of tokens of a text, in place of the estimate, which still chooses the lines that are kept. It is
	// called at most eight times for one result, with all its text parts as one text; the rules for the methods of a [Filter] apply to
	// it. If it fails, the estimate counts, and [Report.Failed] has an entry "count".
	Count func(text []byte) (int, error)
	// Memory is the longest text, in bytes, that Compress works on as a whole. A longer text is read window by window, as in a
	// [ToolStream] with that much memory, and the report has no stretches of it. A value below 4,096, or below four times the budget,
	// is raised to that. 0: a text of any length is worked on as a whole, which needs several times its length in memory.
	Memory int
	// SwitchOff is the banner's last sentence, which says how to switch compression off on this host. "": a general sentence.
	SwitchOff string
}

// Compressor shortens tool results. Only its caches change, so any number of goroutines may use one compressor at once.
type Compressor struct {
	_   noCopy
	use shared
	c   *C.aside_compressor // nil once closed
	_   *byte               // without a pointer, small values share an allocation, and a finalizer may never run
}

// NewCompressor returns a compressor. Nil options mean the built-in filters, no cache and no budget.
//
// The error is [ErrFilter] for a text that is not a filter file, with the line and the key in the message; [ErrOption] for a size that is too small; [ErrNull] for a nil filter or cache; and [ErrMemory].
//
// Close frees the compressor. Without Close, the garbage collector does, unless one of its filters or caches refers to it.
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
	defer C.aside_registry_free(registry) // also if ID or ToolIDs of a filter or cache panics
	if err := options.register(registry); err != nil {
		return nil, err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	var count cgo.Handle
	if options.Count != nil {
		count = cgo.NewHandle(&host{"count", options.Count})
	}
	c := C.aside_go_compressor_new(registry, C.aside_compressor_options{
		budget:        C.uint64_t(max(options.Budget, 0)),
		budget_tokens: C.uint64_t(max(options.BudgetTokens, 0)),
		switch_off:    pinned(&pin, options.SwitchOff),
		memory:        C.uint64_t(max(options.Memory, 0)),
	}, C.uintptr_t(count))
	if c == nil {
		if count != 0 {
			count.Delete() // after a failure the library does not call asideGoRelease
		}
		return nil, lastFailure(C.aside_last_status())
	}
	compressor := &Compressor{c: c}
	runtime.SetFinalizer(compressor, (*Compressor).Close)
	return compressor, nil
}

// register adds the filters and caches of the options to a registry.
func (o *CompressorOptions) register(registry *C.aside_registry) error {
	if o.Budget < 0 || o.BudgetTokens < 0 || o.LastRun < 0 {
		return &failure{ErrOption, "a size is negative"}
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

// Close frees the compressor. Streams that were made from it remain usable. Close returns [ErrBusy] and frees nothing while a
// call is in progress, and inside a callback of the compressor's filters and caches. Closing it again does nothing.
func (c *Compressor) Close() error {
	if c == nil {
		return errNil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.isInside() { // also in a stream's callback
		return ErrBusy
	}
	switch c.use.close() {
	case ErrBusy:
		return ErrBusy
	case ErrClosed:
		return nil
	}
	runtime.SetFinalizer(c, nil)
	C.aside_compressor_free(c.c)
	c.c = nil
	return nil
}

// enter begins a call, which c.use.leave ends. It returns an error if the compressor is nil or closed, or was not made by NewCompressor.
func (c *Compressor) enter() error {
	if c == nil {
		return errNil
	}
	if err := c.use.enter(); err != nil {
		return err
	}
	if c.c == nil {
		c.use.leave()
		return errZero
	}
	return nil
}

// Invocation is one run of a tool, whose result is compressed.
type Invocation struct {
	// ToolID names the tool.
	ToolID string
	// Input is the JSON that the tool was run with; empty means null. The input of a terminal has "command", and may have "cwd" and
	// "exit_code".
	Input json.RawMessage
	// Now is the time for caches, since the library does not read a clock.
	Now time.Time
}

// c returns the invocation for C, valid until pin is released.
func (i *Invocation) c(pin *runtime.Pinner) *C.aside_invocation {
	return &C.aside_invocation{
		size:    C.sizeof_aside_invocation,
		tool_id: pinned(pin, i.ToolID),
		input:   pinnedBytes(pin, i.Input),
		now:     C.uint64_t(max(i.Now.Unix(), 0)),
	}
}

// Compress shortens the parts of one tool's result and returns them with a report. A nil part is not text, and is skipped. In
// the result, an unchanged part is the caller's slice, a changed part is new and belongs to the caller, and a part that is left out
// because another part has the same text is nil.
//
// A filter or cache that fails is listed in the report; that is not an error of the call. Errors are [ErrOption] for an input
// that is not JSON, [ErrBusy] inside a callback of the same compressor, [ErrClosed] and [ErrMemory].
func (c *Compressor) Compress(invocation Invocation, parts ...[]byte) ([][]byte, *Report, error) {
	if err := c.enter(); err != nil {
		return nil, nil, err
	}
	defer c.use.leave()
	var pin runtime.Pinner
	defer pin.Unpin()
	raw := make([]C.aside_bytes, len(parts))
	for i, part := range parts {
		if part != nil {
			raw[i] = pinnedBytes(&pin, part)
		}
	}
	var out *C.aside_compressed
	frame := callFrame{compressor: c}
	if err := frame.run(func() C.aside_status {
		out = C.aside_compress(c.c, invocation.c(&pin), unsafe.SliceData(raw), C.size_t(len(raw)))
		return madeStatus(out != nil)
	}); err != nil {
		return nil, nil, err
	}
	report := newReport(out, frame.failed)
	results := make([][]byte, len(parts))
	for i, part := range parts {
		var text C.aside_bytes
		switch C.aside_compressed_part(out, C.size_t(i), &text) {
		case C.ASIDE_NONE:
			results[i] = part
		case C.ASIDE_OK:
			if text.len > 0 {
				results[i] = append([]byte(nil), borrowed(text.at, text.len)...)
			}
		}
	}
	runtime.KeepAlive(report)
	return results, report, nil
}

// pinned returns a string for a field of a C struct, valid until pin is released.
func pinned(pin *runtime.Pinner, text string) C.aside_bytes {
	return pinnedBytes(pin, unsafe.Slice(unsafe.StringData(text), len(text)))
}

// nothing replaces an empty slice, which may have no address.
var nothing = new([1]byte)

func pinnedBytes(pin *runtime.Pinner, text []byte) C.aside_bytes {
	at := unsafe.SliceData(text)
	if len(text) == 0 {
		at = &nothing[0]
	}
	pin.Pin(at)
	return C.aside_bytes{at: (*C.char)(unsafe.Pointer(at)), len: C.size_t(len(text))}
}

// pinnedTools returns a request's tools for C. nil stays NULL: no list.
func pinnedTools(pin *runtime.Pinner, tools []byte) C.aside_bytes {
	if tools == nil {
		return C.aside_bytes{}
	}
	return pinnedBytes(pin, tools)
}

func allPinned(pin *runtime.Pinner, texts []string) []C.aside_bytes {
	all := make([]C.aside_bytes, len(texts))
	for i, text := range texts {
		all[i] = pinned(pin, text)
	}
	return all
}

// text copies bytes borrowed from the library.
func text(bytes C.aside_bytes) string { return string(borrowed(bytes.at, bytes.len)) }
