package aside

// #include "bridge.h"
import "C"

// statusText returns the library's sentence about a status.
func statusText(status Status) string { return C.GoString(C.aside_status_text(C.aside_status(status))) }

// lastFailure returns the error of a call that has just failed on this thread. The thread must be locked since before that
// call, because the library keeps the message for each thread.
func lastFailure(status C.aside_status) error {
	if C.aside_last_status() != status {
		return Status(status)
	}
	return &failure{Status(status), C.GoString(C.aside_last_error())}
}
