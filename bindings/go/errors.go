//go:build cgo

package aside

// Status is a kind of failure. The errors of this package are one of these constants, or wrap one and add a message: compare
// with [errors.Is].
type Status int32

const (
	// ErrNull means that an object that is required is nil, or a zero value that no function has made.
	ErrNull Status = errorNull
	// ErrLength means that the lengths of the tokens do not add up to the chunk's. Nothing has changed.
	ErrLength Status = errorLength
	// ErrUnknown means that no built-in dialect has that name, or that no dialect is known for that model or template. For a
	// dialect's name, the message lists the nearest names.
	ErrUnknown Status = errorUnknown
	// ErrAmbiguous means that a template fits several dialects equally well: see [AmbiguousError].
	ErrAmbiguous Status = errorAmbiguous
	// ErrDialect means that a text is not a dialect file. The message names the line and the key.
	ErrDialect Status = errorDialect
	// ErrOption means that an option has a value that it cannot have, or that the dialect does not support.
	ErrOption Status = errorOption
	// ErrBusy means that a different call is in progress, in another goroutine or as the caller of this one. A scanner returns it when
	// called from its own yield function or reader, a compressor from its own callback, a stream or splitter from its own writer.
	// Close returns it for an object in use. Nothing has changed.
	ErrBusy Status = errorBusy
	// ErrOrder means that calls came in an order that is not allowed. Either a paused call must be completed first, or
	// cancelled by Reset; or a start was set after the stream's first byte; or a tool's output was fed after its end. Nothing
	// has changed.
	ErrOrder Status = errorOrder
	// ErrMemory means that memory ran out. A scanner, answer or rewriter stays in this error until Reset.
	ErrMemory Status = errorMemory
	// ErrRange means that there is no such channel, or no such range in an original.
	ErrRange Status = errorRange
	// ErrJoin means that a text cannot be joined or escaped. The message says which byte of which part would be read as a
	// marker, or the form that the dialect lacks.
	ErrJoin Status = errorJoin
	// ErrFilter means that a text is not a filter file, or the filter fails its own tests. The message names the line and the key.
	ErrFilter Status = errorFilter
	// ErrOriginal means that a text is not the original that a report describes.
	ErrOriginal Status = errorOriginal
	// ErrDefect means that the library caught a defect in itself. The object keeps this error; it can only be closed.
	ErrDefect Status = errorPanic
	// ErrClosed means that the object was closed.
	ErrClosed Status = -1
)

// Error returns a sentence about the status.
func (s Status) Error() string {
	if s == ErrClosed {
		return "aside: used after Close"
	}
	return "aside: " + statusText(s)
}

// failure is a status with a specific message.
type failure struct {
	status  Status
	message string
}

func (f *failure) Error() string { return "aside: " + f.message }
func (f *failure) Unwrap() error { return f.status }
