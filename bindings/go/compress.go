// The second half: what tools print, made shorter before a model reads it. This file has the compressor and one call.

package aside

// #include "bridge.h"
import "C"

import (
	"encoding/json"
	"fmt"
	"runtime"
	"time"
	"unsafe"
)

const (
	// MinCompressibleLength is the length below which a text is never touched, in UTF-16 code units.
	MinCompressibleLength = C.ASIDE_MIN_COMPRESSIBLE_LENGTH
	// MinBudget is the smallest budget of a compressor, in bytes.
	MinBudget = C.ASIDE_MIN_BUDGET
)

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
	_   noCopy
	use shared
	c   *C.aside_compressor // nil once closed
	_   *byte               // without a pointer of Go's, small values share memory, and a finalizer may never run
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

// Close frees the compressor. Streams that were made from it go on. While a call of another goroutine is under way, and inside
// a callback of its filters and caches, nothing is freed, and the error is [ErrBusy]. Closing it again does nothing.
func (c *Compressor) Close() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if c.isInside() { // of a stream, too
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
	if err := c.use.enter(); err != nil {
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
