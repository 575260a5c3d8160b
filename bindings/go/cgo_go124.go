//go:build go1.24

// Promises to the toolchain about the C functions on the hot path: they keep no pointer and never call back into Go. A broken
// promise corrupts memory, so list a function here only if aside.h makes the same promise.

package aside

/*
#include "bridge.h"
#cgo noescape aside_go_feed
#cgo nocallback aside_go_feed
#cgo noescape aside_go_feed_events
#cgo nocallback aside_go_feed_events
#cgo noescape aside_go_feed_tokens
#cgo nocallback aside_go_feed_tokens
#cgo nocallback aside_go_finish
#cgo nocallback aside_go_flush
#cgo nocallback aside_go_force_close
#cgo noescape aside_go_rewriter_feed
#cgo nocallback aside_go_rewriter_feed
#cgo nocallback aside_go_rewriter_finish
*/
import "C"
