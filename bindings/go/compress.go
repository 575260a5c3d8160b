// The compressor, which shortens the output of tools before a model reads it, and its one-shot call. tool_stream.go has
// streams.

package aside

// #include "bridge.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"
)

// MinCompressible returns the length in bytes below which a text is never changed. Unstable.
func MinCompressible() int { return int(C.aside_min_compressible()) }

// MinBudget returns the smallest budget of a compressor, in bytes. Unstable.
func MinBudget() int { return int(C.aside_min_budget()) }

// CompressorOptions are the options of a compressor. Filters run, and caches are asked, in the order of these fields.
type CompressorOptions struct {
	Bare       bool     // leave out the built-in filters
	Without    []string // ids of built-in filters to leave out; an unknown id is ErrUnknown. Unstable
	TOML       []string // texts of filter files. Their own tests are not run; CheckFilter runs them
	Filters    []Filter // filters of the host
	MinifyJSON bool     // add the filter minify-json, the only one that changes protected text. Unstable
	LastRun    int      // bytes for the cache last-run, which keeps the last result of each invocation. 0: no such cache. Unstable
	Caches     []Cache  // caches of the host. Unstable

	// Budget limits the bytes of a result's text parts together, banners and markers included. It is at least [MinBudget];
	// 0: no budget. Protected and short parts stay whole, and every other part may have that many bytes, so that a result of
	// 100 parts may have 100 KiB under any budget.
	Budget int
	// BudgetTokens limits the tokens of a result's text parts together, by an estimate from the shape of the text. It is at least
	// 512; 0: no such budget. It is a budget of 6 bytes for each token too. Of Budget and this, both hold.
	BudgetTokens int
	// Count returns the number of tokens of a text, in place of the estimate, which still chooses what stays. It is called at most
	// eight times for one result, with all its text parts as one text; what [Filter] says of methods holds for it. If it fails,
	// the estimate holds, and [Report.Failed] has an entry "count".
	Count func(text []byte) (int, error)
	// Memory is the longest text, in bytes, that Compress works on as a whole. A longer one goes window by window, as in a
	// [ToolStream] with that much memory, and the report has no stretches of it. At least 4,096 bytes count, and at least four
	// times the budget. 0: a text of any length is worked on as a whole, which takes some times as much memory as it has bytes.
	Memory int
	// SwitchOff is the banner's last sentence, which says how to switch compression off on this host. "": a general one.
	SwitchOff string
}

// Compressor shortens tool results. Only its caches change, so any number of goroutines may use one at once.
type Compressor struct {
	_   noCopy
	use shared
	c   *C.aside_compressor // nil once closed
	_   *byte               // without a pointer, small values share an allocation, and a finalizer may never run
}

// NewCompressor returns a compressor. Nil options mean the built-in filters, no cache and no budget.
//
// The error is [ErrFilter] for a text that is not a filter file, with the line and the key in the message; [ErrUnknown] for an
// unknown id in Without; [ErrOption] for a size that is too small; [ErrNull] for a nil filter or cache; and [ErrMemory].
//
// Close frees the compressor. The garbage collector frees a forgotten one, unless one of its filters or caches refers to it.
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

// enter begins a call, which c.use.leave ends. It returns an error if the compressor is nil or closed, or was not made here.
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
	// Input is the JSON that the tool was run with; empty means null. That of a terminal has "command", and may have
	// "cwd" and "exit_code".
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
// the result, an unchanged part is the caller's slice, a changed part is new and belongs to the caller, and a part that is left
// out because another part says the same is nil.
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

// Command is one command of a command line. Unstable.
type Command struct {
	Name       string   // without folder and version: "pytest" of "python -m pytest"
	Subcommand string   // the first argument that is neither an option nor an option's value; may be ""
	Words      []string // all words after the program
	Prints     bool     // its output reaches the terminal
	Piped      bool     // its output goes through head, grep and the like, so it may be incomplete
}

// Commands parses a command line as a shell would and returns its commands in order; of a shell with -c, the commands that it
// runs. It runs nothing. It returns none for a line that it does not try to parse: one with case, or with shells nested more
// than eight deep. A line that is not UTF-8 is [ErrOption]. Unstable.
func Commands(line string) ([]Command, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	parsed := C.aside_command_line_parse(chars(line), C.size_t(len(line)))
	if parsed == nil {
		return nil, lastFailure(C.aside_last_status())
	}
	defer C.aside_command_line_free(parsed)
	var commands []Command
	raw := C.aside_command{size: C.sizeof_aside_command}
	for C.aside_command_line_command(parsed, C.size_t(len(commands)), &raw) == C.ASIDE_OK {
		command := Command{Name: text(raw.name), Subcommand: text(raw.subcommand), Prints: raw.prints == 1, Piped: raw.piped == 1}
		for _, word := range unsafe.Slice(raw.words, int(raw.word_count)) {
			command.Words = append(command.Words, text(word))
		}
		commands = append(commands, command)
	}
	return commands, nil
}

// IsProtected reports whether a text is in a machine format, such as JSON or CSV. A compressor does not change such texts.
// Unstable.
func IsProtected(text []byte) bool {
	data := (*C.char)(unsafe.Pointer(unsafe.SliceData(text)))
	return C.aside_is_protected(data, C.size_t(len(text))) == 1
}

// FormatBanner returns the line that a compressed text begins with, without its line end. The line names the filters and the
// lengths before and after, in UTF-16 code units. An id that is not UTF-8 is [ErrOption]. Unstable.
func FormatBanner(filters []string, before, after int) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var pin runtime.Pinner
	defer pin.Unpin()
	ids := allPinned(&pin, filters)
	var n C.size_t
	return made(C.aside_format_banner(unsafe.SliceData(ids), C.size_t(len(ids)), C.uint64_t(max(before, 0)),
		C.uint64_t(max(after, 0)), &n), &n)
}

// CheckFilter reads the text of a filter file and runs the file's own tests, of which there must be one of each kind. If
// something is wrong, the error is [ErrFilter] and names the line and the key. Unstable.
func CheckFilter(toml string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := C.aside_filter_check(chars(toml), C.size_t(len(toml))); status != C.ASIDE_OK {
		return lastFailure(status)
	}
	return nil
}

// pinned returns a string for a field of a C struct, valid until pin is released.
func pinned(pin *runtime.Pinner, text string) C.aside_bytes {
	return pinnedBytes(pin, unsafe.Slice(unsafe.StringData(text), len(text)))
}

// nothing replaces an empty slice, which may have no memory.
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
