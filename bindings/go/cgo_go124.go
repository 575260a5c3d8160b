//go:build go1.24

// What the toolchain may take for granted of the functions that feed: they keep no pointer and call nothing of Go's.

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
#cgo noescape aside_go_sse_feed
#cgo nocallback aside_go_sse_feed
#cgo nocallback aside_go_sse_finish
*/
import "C"
