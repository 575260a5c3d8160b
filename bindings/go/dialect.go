//go:build cgo

package aside

import (
	"fmt"
	"runtime"
	"strings"
)

// Dialect defines which bytes of a stream are markers, and their effect. It never changes, so any number of goroutines may use
// one at once.
type Dialect struct {
	use shared
	dialectState
	_ noCopy
	_ *byte // without a pointer, small values share an allocation, and a finalizer may never run
}

// by is the way in which a dialect is found: by its name, by a model's name, by a chat template, or from the text of a file.
type by int

const (
	byName by = iota
	byModel
	byTemplate
	byFile
	// a response template
	byResponseTemplate
)

// Find returns the built-in dialect with that name or alias. If there is none, the error is [ErrUnknown] and lists the nearest
// names. The dialect need not be closed.
func Find(name string) (*Dialect, error) {
	return findDialect(byName, name)
}

// FindForModel returns the built-in dialect that a model writes. model is the name that a hub, a registry or an API has for it,
// or a file's path, in upper or lower case. The dialect has this model's start: see [Dialect.Start].
//
// If no dialect is known for the model, or several fit equally well, the error is [ErrUnknown]. It lists those dialects, or the
// nearest known models with their dialects, or says that the model is known to write no thinking in its text.
func FindForModel(model string) (*Dialect, error) {
	return findDialect(byModel, model)
}

// Preload loads the built-in dialects with these names or aliases, or all of them if there are no names. Finding them later
// then allocates nothing in the library. Call it once, before serving.
//
// An unknown name is [ErrUnknown]; the dialects before it are loaded. If memory runs out while loading, the process ends.
func Preload(names ...string) error {
	for _, name := range names {
		if strings.TrimSpace(name) == "" || len(strings.Fields(name)) > 1 {
			return &failure{ErrUnknown, fmt.Sprintf("no dialect %q: a name has no white space", name)}
		}
	}
	return preload(names)
}

// FindForTemplate returns the built-in dialect that a chat template (Jinja) is written for, and where generation starts after
// the template's generation prompt. It compares the markers that the template writes; it reads the template and never renders it.
// If the markers fit no dialect, the error is [ErrUnknown]; if they fit several dialects, it is an [AmbiguousError].
func FindForTemplate(template string) (*Dialect, Start, error) {
	return findForTemplate(template)
}

// AmbiguousError is the error for a template that fits several dialects equally well. It wraps [ErrAmbiguous].
type AmbiguousError struct {
	Candidates []string // the names of these dialects, sorted
	err        error
}

// Error returns a sentence with the names of the candidates.
func (e *AmbiguousError) Error() string { return e.Unwrap().Error() }

// Unwrap returns an error that wraps [ErrAmbiguous].
func (e *AmbiguousError) Unwrap() error {
	if e.err == nil {
		return ErrAmbiguous
	}
	return e.err
}

// Load returns a dialect read from the text of a dialect file (TOML, UTF-8). If the text is not a dialect file, the error is
// [ErrDialect] and names the line and the key. Close frees the dialect; without Close, the garbage collector does.
func Load(toml string) (*Dialect, error) {
	return findDialect(byFile, toml)
}

// FromResponseTemplate returns a dialect read from a response template (JSON, UTF-8): the response_template of a model's
// tokenizer_config.json, which describes how its text is divided. json is the template or that file. If a part of it cannot be
// read, the error is [ErrDialect] and names the part and its pattern. Close frees the dialect, like one from [Load].
func FromResponseTemplate(json string) (*Dialect, error) {
	return findDialect(byResponseTemplate, json)
}

// DialectNames returns the names of the built-in dialects, sorted.
func DialectNames() []string {
	return dialectNames()
}

// Close frees a dialect from [Load]. Scanners and rewriters that were made from it remain usable; the dialect itself can no
// longer be used. Close returns [ErrBusy] and frees nothing while another goroutine uses the dialect. Closing it again does
// nothing.
func (d *Dialect) Close() error {
	if d == nil {
		return errNilDialect
	}
	switch d.use.close() {
	case ErrBusy:
		return ErrBusy
	case ErrClosed:
		return nil
	}
	if !d.isClosed() {
		runtime.SetFinalizer(d, nil)
		d.free()
	}
	return nil
}

// Name returns the dialect's name; "" once it is closed.
func (d *Dialect) Name() string {
	if d.enter() != nil {
		return ""
	}
	defer d.leave()
	return d.name()
}

// Start returns the start of a stream of this dialect if the options name no start. A dialect from [FindForModel] has the start
// of that model. Start returns [StartDefault] once the dialect is closed.
func (d *Dialect) Start() Start {
	if d.enter() != nil {
		return StartDefault
	}
	defer d.leave()
	return d.start()
}

// MaxHold returns the largest number of bytes that a scanner of this dialect holds back; 0 once the dialect is closed.
func (d *Dialect) MaxHold() int {
	if d.enter() != nil {
		return 0
	}
	defer d.leave()
	return d.maxHold()
}

// Family returns the family of the rule of a [KindOpen] event: the family that the dialect's file names, or else the dialect's
// name. It returns "" if there is no such rule or the dialect is closed.
func (d *Dialect) Family(rule uint32) string {
	if d.enter() != nil {
		return ""
	}
	defer d.leave()
	return d.family(rule)
}

// Opener returns the words for the rule and tag of a [KindOpen] event, as the dialect's file has them: the literal, the tag's
// name, the fence's info string, or the beginning of the header. It returns "" if there is no such rule or tag or the dialect
// is closed.
func (d *Dialect) Opener(rule, tag uint32) string {
	if d.enter() != nil {
		return ""
	}
	defer d.leave()
	return d.opener(rule, tag)
}

// enter begins a use of the dialect, which leave ends. It returns an error if the dialect is nil or closed.
func (d *Dialect) enter() error {
	if d == nil {
		return errNilDialect
	}
	if err := d.use.enter(); err != nil {
		return err
	}
	if d.isClosed() {
		d.use.leave()
		return errZero
	}
	return nil
}

func (d *Dialect) leave() { d.use.leave() }

// Version returns the version of the loaded library, such as "0.1.0".
func Version() string { return version() }
