//go:build cgo

package aside

// Strip returns the content of a whole text: the text for the reader, with ASCII white space trimmed at both ends.
//
// The error is [ErrNull] or [ErrClosed] for a dialect that is nil or closed, and [ErrMemory]. Any number of goroutines may
// call Strip at once.
func Strip(d *Dialect, text string) (string, error) {
	if err := d.enter(); err != nil {
		return "", err
	}
	defer d.leave()
	return d.strip(text)
}

// JoinOptions are the options of [Join].
type JoinOptions struct {
	// Start is the span that is open where the text begins: [StartDefault], [StartContent], [StartHeader], or [StartThinking],
	// which writes no opener. The scanner that splits the text needs the same start.
	Start   Start
	Markers Markers    // the treatment of markers in the parts
	Calls   []JoinCall // the tool calls after the content
}

// JoinCall is a tool call for [Join]. Its texts are UTF-8.
type JoinCall struct {
	Name      string
	Arguments string // a JSON object
	ID        string // written if the dialect has a place for an id; empty: no id
}

// Join returns thinking, content and the tool calls after them as one text, written as a model of the dialect writes them. The
// text splits back into the same parts, byte for byte. Without thinking it has no thinking block, unless the text starts inside
// one. Thinking and content may be any bytes; the options may be nil.
//
// If a part contains a marker, the error is [ErrJoin] and names the part and the byte. With [MarkersEscape] such markers are broken
// instead, and the text splits back into the escaped parts. Calls are never escaped: for a call that cannot be written the error is
// [ErrJoin] too. A [Scanner] with ScannerOptions.Calls reads the same calls back. Any number of goroutines may call Join at once.
func Join(d *Dialect, thinking, content string, options *JoinOptions) (string, error) {
	if options == nil {
		options = &JoinOptions{}
	}
	if err := d.enter(); err != nil {
		return "", err
	}
	defer d.leave()
	return d.join(thinking, content, options)
}

// Escape returns a text in which the dialect's markers are broken, so that a user's text can go into a prompt. It inserts
// U+200B (zero width space) after the first character of each marker, including markers that begin a turn. The text looks the same,
// and escaping it again does not change it.
//
// Escape a text as a whole: a marker that is split over two texts is not found. The host must remove special tokens that the
// dialect does not name.
//
// If the dialect has a marker that cannot be broken, the error is [ErrJoin]. Any number of goroutines may call Escape at
// once.
func Escape(d *Dialect, text string) (string, error) {
	if err := d.enter(); err != nil {
		return "", err
	}
	defer d.leave()
	return d.escape(text)
}
