package aside

// #include "bridge.h"
import "C"

// Status says what kind of failure an error is. The errors of this package are one of these constants, or wrap one and
// add a message: compare with [errors.Is].
type Status int32

const (
	// ErrNull: a dialect, writer, filter or cache that is needed is nil.
	ErrNull Status = C.ASIDE_ERROR_NULL
	// ErrLength: the lengths of tokens do not add up to the chunk's. Nothing has changed.
	ErrLength Status = C.ASIDE_ERROR_LENGTH
	// ErrUnknown: no dialect of that name is built in (the message names the nearest ones), or known for that model or
	// template; or no filter has an id of CompressorOptions.Without.
	ErrUnknown Status = C.ASIDE_ERROR_UNKNOWN
	// ErrDialect: a dialect's text is not one. The message names line and key.
	ErrDialect Status = C.ASIDE_ERROR_DIALECT
	// ErrOption: an option has a value that it cannot have, or that the dialect has no use for.
	ErrOption Status = C.ASIDE_ERROR_OPTION
	// ErrBusy: a call is under way, in another goroutine or around this one: a scanner was called from its own yield
	// function or reader, a compressor from a callback of its own, a stream or splitter from its writer; or what is in use
	// was to be closed. Nothing has changed.
	ErrBusy Status = C.ASIDE_ERROR_BUSY
	// ErrOrder: a pause is to be ended first, by the call that was stopped or by Reset; or a start is said behind the
	// stream's first byte, or a tool's output behind its end. Nothing has changed.
	ErrOrder Status = C.ASIDE_ERROR_ORDER
	// ErrMemory: memory ran out. A scanner that says so stays in error until Reset.
	ErrMemory Status = C.ASIDE_ERROR_MEMORY
	// ErrRange: there is no such channel, or no such range in an original.
	ErrRange Status = C.ASIDE_ERROR_RANGE
	// ErrJoin: a text cannot be joined or escaped. The message says which part and which byte of it would be read as
	// something else, or what the dialect lacks.
	ErrJoin Status = C.ASIDE_ERROR_JOIN
	// ErrFilter: a filter's text is not one, or does not pass its own tests. The message names line and key.
	ErrFilter Status = C.ASIDE_ERROR_FILTER
	// ErrOriginal: a text is not the one that a report is about.
	ErrOriginal Status = C.ASIDE_ERROR_ORIGINAL
	// ErrDefect: a defect of the library, caught. The scanner says so for ever; it can only be closed.
	ErrDefect Status = C.ASIDE_ERROR_PANIC
	// ErrClosed: what was called was closed before.
	ErrClosed Status = -1
)

// Error gives the general sentence.
func (s Status) Error() string {
	if s == ErrClosed {
		return "aside: used after Close"
	}
	return "aside: " + C.GoString(C.aside_status_text(C.aside_status(s)))
}

// failure is a status with a message of its own.
type failure struct {
	status  Status
	message string
}

func (f *failure) Error() string { return "aside: " + f.message }
func (f *failure) Unwrap() error { return f.status }

// lastFailure is the error of a call that has just failed in this thread, which is locked since before the call.
func lastFailure(status C.aside_status) error {
	if C.aside_last_status() != status {
		return Status(status)
	}
	return &failure{Status(status), C.GoString(C.aside_last_error())}
}
