package aside

// #include "bridge.h"
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Dialect says which bytes of a stream are markers, and of what. It never changes: any number of goroutines may use
// one at once.
type Dialect struct {
	use shared
	c   *C.aside_dialect // nil once closed
	_   noCopy
	_   *byte // without a pointer of Go's, small values share memory, and a finalizer may never run
}

// Find gives the built-in dialect of that name or alias. Where there is none, the error is [ErrUnknown] and names the
// nearest ones.
func Find(name string) (*Dialect, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := C.aside_dialect_find(chars(name), C.size_t(len(name)))
	if c == nil {
		return nil, lastFailure(C.aside_last_status())
	}
	return &Dialect{c: c}, nil
}

// FindForModel gives the built-in dialect that a model writes, by the model's name: of a hub, a registry or an interface,
// or a file's path, in any case. It starts as this model does: see [Dialect.Start]. Where no dialect is known for the
// model, or several fit equally well, the error is [ErrUnknown]. It names those, or the nearest known models with their
// dialects, or says that the model is known to write no thinking in its text.
func FindForModel(model string) (*Dialect, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := C.aside_dialect_find_for_model(chars(model), C.size_t(len(model)))
	if c == nil {
		return nil, lastFailure(C.aside_last_status())
	}
	return &Dialect{c: c}, nil
}

// Preload loads the built-in dialects of these names or aliases, or all where there is none, so that finding them later
// takes no memory of the library's. A host calls it once, before it serves. A name that is not known is [ErrUnknown]; the
// dialects before it are loaded. If memory runs out in loading, the process ends.
func Preload(names ...string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, name := range names {
		if strings.TrimSpace(name) == "" || len(strings.Fields(name)) > 1 {
			return &failure{ErrUnknown, fmt.Sprintf("no dialect %q: a name has no white space", name)}
		}
	}
	all := strings.Join(names, " ")
	if status := C.aside_dialect_preload(chars(all), C.size_t(len(all))); status != C.ASIDE_OK {
		return lastFailure(status)
	}
	return nil
}

// FindForTemplate returns the built-in dialect that a chat template (Jinja) is written for, by the markers that it writes,
// and where generation starts after the template's generation prompt. Where it has the markers of no dialect, the error is
// [ErrUnknown]; where it does not tell several apart, it is an [AmbiguousError].
func FindForTemplate(template string) (*Dialect, Start, error) {
	return FindForTemplateWith(template, "")
}

// FindForTemplateWith is [FindForTemplate] for the request at hand: variables is a JSON object with the variables that the
// template is rendered with for it, such as {"enable_thinking": true}; what it leaves out has its default. The error is
// [ErrOption] where variables is no JSON object, where the template cannot be rendered with them, and where the library was
// built without its feature templates.
func FindForTemplateWith(template, variables string) (*Dialect, Start, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	found := make([]*C.aside_dialect, C.aside_dialect_count())
	var start C.uint32_t
	count := C.aside_dialect_find_for_template_with(chars(template), C.size_t(len(template)),
		chars(variables), C.size_t(len(variables)), unsafe.SliceData(found), C.size_t(len(found)), &start)
	switch count {
	case 0:
		return nil, StartDefault, lastFailure(C.aside_last_status())
	case 1:
		return &Dialect{c: found[0]}, Start(start), nil
	}
	ambiguous := &AmbiguousError{}
	for _, c := range found[:count] {
		ambiguous.Candidates = append(ambiguous.Candidates, C.GoString(C.aside_dialect_name(c, nil)))
	}
	return nil, StartDefault, ambiguous
}

// AmbiguousError is the error of a template that fits several dialects equally well. It is an [ErrUnknown].
type AmbiguousError struct {
	Candidates []string // the names of these dialects, sorted
}

func (e *AmbiguousError) Error() string {
	return "aside: the template fits several dialects: " + strings.Join(e.Candidates, ", ")
}

func (e *AmbiguousError) Unwrap() error { return ErrUnknown }

// Load makes a dialect from the text of a dialect file (TOML, UTF-8). Where the text is not one, the error is
// [ErrDialect] and names line and key. Close frees the dialect; one that is forgotten is freed by the garbage collector.
func Load(toml string) (*Dialect, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var c *C.aside_dialect
	if status := C.aside_dialect_load(chars(toml), C.size_t(len(toml)), &c); status != C.ASIDE_OK {
		return nil, lastFailure(status)
	}
	d := &Dialect{c: c}
	runtime.SetFinalizer(d, (*Dialect).Close)
	return d, nil
}

// Dialects gives the names of the built-in dialects, sorted.
func Dialects() []string {
	names := make([]string, C.aside_dialect_count())
	for i := range names {
		names[i] = C.GoString(C.aside_dialect_name_at(C.size_t(i), nil))
	}
	return names
}

// Close frees a dialect from [Load]. Scanners that were made from it go on; the dialect itself can no longer be used. While
// another goroutine is using it nothing is freed, and the error is [ErrBusy]. Closing it again does nothing.
func (d *Dialect) Close() error {
	switch d.use.close() {
	case ErrBusy:
		return ErrBusy
	case ErrClosed:
		return nil
	}
	runtime.SetFinalizer(d, nil)
	C.aside_dialect_free(d.c) // leaves built-in ones alone
	d.c = nil
	return nil
}

// Name is the dialect's name; "" once it is closed.
func (d *Dialect) Name() string {
	if d.enter() != nil {
		return ""
	}
	defer d.leave()
	return C.GoString(C.aside_dialect_name(d.c, nil))
}

// Start is where a stream of this dialect starts if the options do not say otherwise: of a dialect from [FindForModel], the
// start of that model. [StartDefault] once it is closed.
func (d *Dialect) Start() Start {
	defer runtime.KeepAlive(d)
	return Start(C.aside_dialect_start(d.c))
}

// MaxHold is the most bytes that a scanner of this dialect holds back for what may come; 0 once it is closed.
func (d *Dialect) MaxHold() int {
	if d.enter() != nil {
		return 0
	}
	defer d.leave()
	return int(C.aside_dialect_max_hold(d.c))
}

// Family is the family of the rule of an [Open] event: what the dialect's file names as its family, or else the
// dialect's name. "" where there is no such rule, or the dialect is closed.
func (d *Dialect) Family(rule uint32) string {
	if d.enter() != nil {
		return ""
	}
	defer d.leave()
	var n C.size_t
	return words(C.aside_dialect_family(d.c, C.uint32_t(rule), &n), n)
}

// Opener is what rule and tag of an [Open] event stand for, as the dialect's file has it: the literal, the tag's name, the
// fence's info string, the beginning of the header. "" where there is no such rule or tag, or the dialect is closed.
func (d *Dialect) Opener(rule, tag uint32) string {
	if d.enter() != nil {
		return ""
	}
	defer d.leave()
	var n C.size_t
	return words(C.aside_dialect_opener(d.c, C.uint32_t(rule), C.uint32_t(tag), &n), n)
}

// words copies a text that may hold a NUL; "" where there is none.
func words(at *C.char, n C.size_t) string {
	if at == nil {
		return ""
	}
	return string(lent(at, n))
}

// enter begins a use of the dialect, which leave ends. It gives the error of one that is nil or closed.
func (d *Dialect) enter() error {
	if d == nil {
		return ErrNull
	}
	if err := d.use.enter(); err != nil {
		return err
	}
	if d.c == nil {
		d.use.leave()
		return ErrClosed
	}
	return nil
}

func (d *Dialect) leave() { d.use.leave() }

// Version is the version of the library that runs.
func Version() string { return C.GoString(C.aside_version()) }

// chars gives a string's bytes to C, for the length of one call. They have no NUL at their end; an empty string may give
// no memory at all, so that it stands for one.
func chars(text string) *C.char {
	if text == "" {
		text = "\x00"
	}
	return (*C.char)(unsafe.Pointer(unsafe.StringData(text)))
}
