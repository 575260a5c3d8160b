package aside

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// options are names and values as texts, in the form that the WebAssembly reads. Options with their zero value are left out.
type options []string

func (o *options) add(name, value string) { *o = append(*o, name, value) }

func (o *options) flag(name string, set bool) {
	if set {
		o.add(name, "true")
	}
}

func (o *options) number(name string, number uint64) {
	if number > 0 {
		o.add(name, strconv.FormatUint(number, 10))
	}
}

// word adds an enumeration whose zero value is the default.
func word[T ~uint32](o *options, name string, value T) {
	if value != 0 {
		o.add(name, fmt.Sprint(value))
	}
}

func (o *options) text(name, text string) {
	if text != "" {
		o.add(name, text)
	}
}

func (o *options) tools(tools []byte) error {
	if !utf8.Valid(tools) {
		return &failure{ErrOption, "options.tools: not UTF-8"}
	}
	if tools != nil {
		o.add("tools", string(tools))
	}
	return nil
}

// open makes an object of a dialect with these options, and returns its number.
func (o options) open(dialect object, function string) (int32, error) {
	number, err := dialect.run(function, nil, o, nil)
	if failed, is := err.(*failure); is && failed.status == ErrOption {
		failed.message = "options." + failed.message
	}
	return number, err
}

// words returns the formats with commas between them; "" for all.
func (f Formats) words() string {
	if f == 0 {
		return ""
	}
	return f.String()
}
