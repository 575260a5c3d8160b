// Runs the library as WebAssembly: how texts and numbers are passed (bindings/js/wasm/src/host.rs has the module's part), and
// recovery after a trap.

package aside

import (
	"context"
	_ "embed"
	"encoding/binary"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

//go:embed aside.wasm
var program []byte

// engine is an instance of the library, with its memory. One call at a time runs in it.
type engine struct {
	mu        sync.Mutex
	module    api.Module
	memory    api.Memory
	functions map[string]api.Function
	feed      api.Function // functions that are called for each token; the map is slower
	read      api.Function
	held      api.Function
	rewrite   api.Function
	stack     [8]uint64
	trap      error // the instance has ended

	window, windowSize, results uint32
}

// compiled is the WebAssembly, compiled at its first use.
var compiled = sync.OnceValues(func() (wazero.Runtime, wazero.CompiledModule) {
	host := wazero.NewRuntime(context.Background())
	module, err := host.CompileModule(context.Background(), program)
	if err != nil {
		panic("aside: the embedded program cannot be compiled: " + err.Error())
	}
	return host, module
})

var (
	currentMu sync.Mutex
	current   *engine
)

// instance returns the instance for new objects. After a trap, it makes a new one.
func instance() (*engine, error) {
	currentMu.Lock()
	defer currentMu.Unlock()
	if current != nil && !current.hasTrapped() {
		return current, nil
	}
	host, module := compiled()
	made, err := host.InstantiateModule(context.Background(), module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, &failure{ErrMemory, "the program cannot be started: " + err.Error()}
	}
	e := &engine{module: made, memory: made.Memory(), functions: map[string]api.Function{}}
	for name := range made.ExportedFunctionDefinitions() {
		e.functions[name] = made.ExportedFunction(name)
	}
	e.feed, e.rewrite = e.functions["scanner_events"], e.functions["rewriter_feed"]
	e.read, e.held = e.functions["answer_feed"], e.functions["answer_held"]
	for name, to := range map[string]*uint32{"window": &e.window, "window_size": &e.windowSize, "results": &e.results} {
		number, err := e.enter(e.functions[name])
		if err != nil {
			return nil, err
		}
		*to = uint32(number)
	}
	current = e
	return e, nil
}

func (e *engine) hasTrapped() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.trap != nil
}

// enter calls a function. A trap ends the instance.
func (e *engine) enter(function api.Function, arguments ...uint64) (int32, error) {
	if e.trap == nil {
		copy(e.stack[:], arguments)
		e.trap = function.CallWithStack(context.Background(), e.stack[:])
	}
	if e.trap != nil {
		return 0, &failure{ErrDefect, "a defect of the library, met by this object or by another one, has ended it: make a new one, and please report the input that led to it: " +
			e.trap.Error()}
	}
	return int32(e.stack[0]), nil
}

// push makes a text an argument of the next function.
func (e *engine) push(text string) error {
	add := e.functions["push"]
	for {
		n := min(len(text), int(e.windowSize))
		e.memory.WriteString(e.window, text[:n])
		switch lost, err := e.enter(add, uint64(n)); {
		case err != nil:
			return err
		case lost != 0:
			return ErrMemory
		}
		if text = text[n:]; text == "" {
			return nil
		}
		add = e.functions["extend"]
	}
}

// run calls a function after its texts have become its arguments, and calls read with its output, which is valid only until read
// returns. read may be nil.
func (e *engine) run(name string, numbers []uint64, texts []string, read func(*reader)) (int32, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, text := range texts {
		if err := e.push(text); err != nil {
			return 0, err
		}
	}
	result, err := e.enter(e.functions[name], numbers...)
	if err != nil {
		return 0, err
	}
	out := e.output()
	if result < 0 {
		return 0, out.failure()
	}
	if read != nil {
		read(&out)
	}
	return result, nil
}

// put calls a function of an object with bytes that are in the window, after lock. The output stays valid until unlock.
func (e *engine) put(function api.Function, p []byte, number, step uint64) (int32, reader, error) {
	e.memory.Write(e.window, p)
	e.stack[0], e.stack[1], e.stack[2] = number, step, uint64(len(p))
	if function == e.rewrite {
		e.stack[1] = uint64(len(p))
	}
	result, err := e.enter(function)
	if err != nil {
		return 0, reader{}, err
	}
	out := e.output()
	if result < 0 {
		return 0, reader{}, out.failure()
	}
	return result, out, nil
}

// output returns a reader of the last function's output.
func (e *engine) output() reader {
	at, _ := e.memory.Read(e.results, 7*4)
	number := func(index int) uint32 { return binary.LittleEndian.Uint32(at[4*index:]) }
	words, _ := e.memory.Read(number(0), 4*number(1))
	bytes, _ := e.memory.Read(number(2), number(3))
	return reader{words: words, bytes: bytes, offset: int64(uint64(number(5)) | uint64(number(6))<<32)}
}

// reader reads values in the order in which they were written.
type reader struct {
	words, bytes []byte
	offset       int64 // the offset of a result without output
}

func (r *reader) number() uint32 {
	number := binary.LittleEndian.Uint32(r.words)
	r.words = r.words[4:]
	return number
}

func (r *reader) long() uint64 {
	number := binary.LittleEndian.Uint64(r.words)
	r.words = r.words[8:]
	return number
}

func (r *reader) double() float64 { return math.Float64frombits(r.long()) }

func (r *reader) flag() bool { return r.number() == 1 }

// borrowed returns the bytes of a text, in the memory of the instance.
func (r *reader) borrowed() []byte {
	n := r.number()
	text := r.bytes[:n:n]
	r.bytes = r.bytes[n:]
	return text
}

func (r *reader) string() string { return string(r.borrowed()) }

// optional returns a text, or "" if it is missing.
func (r *reader) optional() string {
	if r.flag() {
		return r.string()
	}
	return ""
}

func (r *reader) list() []string {
	var texts []string
	for range r.number() {
		texts = append(texts, r.string())
	}
	return texts
}

// classes are the kinds of failure, in the order of bindings/js/wasm/src/failure.rs.
var classes = [...]Status{ErrMemory, ErrOption, ErrDialect, ErrUnknown, ErrAmbiguous, ErrJoin, ErrOrder, ErrLength}

// failure returns the error that a function has written.
func (r *reader) failure() error {
	status := classes[r.number()]
	err := &failure{status, r.string()}
	if status == ErrAmbiguous {
		return &AmbiguousError{Candidates: r.list(), err: err}
	}
	return err
}

// object is an object of the library: a number in an instance.
type object struct {
	engine *engine // nil once closed
	number uint64
}

func (o *object) isClosed() bool { return o.engine == nil }

// release frees the object by the function of this name.
func (o *object) release(name string) {
	o.engine.mu.Lock()
	defer o.engine.mu.Unlock()
	o.engine.enter(o.engine.functions[name], o.number) // after a trap there is nothing to free
	*o = object{}
}

// run calls a function of the object.
func (o *object) run(name string, numbers []uint64, texts []string, read func(*reader)) (int32, error) {
	defer runtime.KeepAlive(o)
	return o.engine.run(name, append([]uint64{o.number}, numbers...), texts, read)
}

// setTools calls a function of the object with a request's tools; without an argument if the tools are not known.
func (o *object) setTools(name string, tools []byte) error {
	var texts []string
	if tools != nil {
		texts = append(texts, text(tools))
	}
	_, err := o.run(name, nil, texts, nil)
	return err
}

// text returns bytes as a string that must not be kept.
func text(p []byte) string { return unsafe.String(unsafe.SliceData(p), len(p)) }

// These sentences must equal those of src/ffi/status.rs.
var statusTexts = map[Status]string{
	ErrNull:      "a pointer is NULL",
	ErrLength:    "a length cannot be right: above PTRDIFF_MAX, or not what the tokens add up to",
	ErrUnknown:   "no such dialect",
	ErrAmbiguous: "several dialects fit equally well",
	ErrDialect:   "the dialect has an error",
	ErrOption:    "an option has a wrong value",
	ErrBusy:      "the handle is in use: called from its own callback, or from two threads at once",
	ErrOrder:     "a call in the wrong order",
	ErrMemory:    "out of memory",
	ErrRange:     "the index is not below the count",
	ErrJoin:      "the text cannot be joined or escaped",
	ErrFilter:    "the filter has an error",
	ErrOriginal:  "this is not the text that the report is about",
	ErrDefect:    "the library has a defect, and this handle met it",
}

// statusText returns a sentence about a status.
func statusText(status Status) string { return statusTexts[status] }
