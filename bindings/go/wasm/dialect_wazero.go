package aside

import (
	"runtime"
	"sync"
)

// dialectState is the library's part of a dialect, with the data for finding the dialect again after a trap.
type dialectState struct {
	mu     sync.Mutex
	by     by
	source string
	found
}

// found is a dialect of an instance, and its properties.
type found struct {
	object
	label  string
	begin  Start
	mostIn int
}

// find finds a dialect in the instance for new objects. It also returns the start of a template.
func find(by by, source string) (found, Start, error) {
	e, err := instance()
	if err != nil {
		return found{}, StartDefault, err
	}
	f := found{object: object{engine: e}}
	var start Start
	number, err := e.run("dialect_find", []uint64{uint64(by)}, []string{source}, func(out *reader) {
		f.label, f.begin, f.mostIn = out.string(), startOf(out.string()), int(out.number())
		start = startOf(out.string())
	})
	f.number = uint64(number)
	return f, start, err
}

// startOf returns the start of this name; the default for "".
func startOf(name string) Start {
	for start := StartContent; start <= StartCalls; start++ {
		if start.String() == name {
			return start
		}
	}
	return StartDefault
}

func findDialect(by by, source string) (*Dialect, error) {
	f, _, err := find(by, source)
	if err != nil {
		return nil, err
	}
	return newDialect(by, source, f), nil
}

func newDialect(by by, source string, f found) *Dialect {
	d := &Dialect{dialectState: dialectState{by: by, source: source, found: f}}
	runtime.SetFinalizer(d, (*Dialect).Close)
	return d
}

func findForTemplate(template string) (*Dialect, Start, error) {
	f, start, err := find(byTemplate, template)
	if err != nil {
		return nil, StartDefault, err
	}
	return newDialect(byTemplate, template, f), start, nil
}

// in returns the dialect in an instance that has not trapped.
func (d *dialectState) in() (object, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.engine.hasTrapped() {
		again, _, err := find(d.by, d.source)
		if err != nil {
			return object{}, err
		}
		d.found = again
	}
	return d.object, nil
}

func (d *dialectState) free() { d.release("dialect_free") }

func preload(names []string) error {
	if len(names) == 0 {
		names = dialectNames()
	}
	for _, name := range names {
		d, err := findDialect(byName, name)
		if err != nil {
			return err
		}
		d.Close()
	}
	return nil
}

func dialectNames() []string {
	e, err := instance()
	if err != nil {
		return nil
	}
	var names []string
	e.run("dialect_names", nil, nil, func(out *reader) { names = out.list() })
	return names
}

func (d *dialectState) name() string { return d.label }

func (d *dialectState) start() Start { return d.begin }

func (d *dialectState) maxHold() int { return d.mostIn }

func (d *dialectState) family(rule uint32) string { return d.words(rule, -1) }

func (d *dialectState) opener(rule, tag uint32) string { return d.words(rule, int32(tag)) }

// words returns the family of a rule, or the words of one of its openers if the opener's number is not below 0.
func (d *dialectState) words(rule uint32, tag int32) string {
	dialect, err := d.in()
	if err != nil {
		return ""
	}
	var words string
	dialect.run("dialect_label", []uint64{uint64(rule), uint64(uint32(tag))}, nil, func(out *reader) { words = out.string() })
	return words
}

func version() string {
	e, err := instance()
	if err != nil {
		return ""
	}
	var version string
	e.run("version", nil, nil, func(out *reader) { version = out.string() })
	return version
}
