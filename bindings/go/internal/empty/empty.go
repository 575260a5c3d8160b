// Package empty measures a lower bound for a feed: a cgo call with the same arguments of a function that does nothing. It is a
// separate package because test files cannot use cgo. Only benchmarks may import it.
package empty

/*
#include <stdint.h>
#include <stdlib.h>

typedef struct empty { uint64_t fed[7]; } empty;

static int32_t empty_feed(empty *to, const char *buf, size_t len)
{
    (void)to, (void)buf, (void)len;
    return 0;
}
*/
import "C"

import "unsafe"

// Scanner replaces a scanner, in memory of C.
type Scanner struct{ c *C.empty }

// New returns a Scanner that is never freed.
func New() *Scanner { return &Scanner{(*C.empty)(C.calloc(1, C.sizeof_empty))} }

// Feed makes one cgo call.
func (s *Scanner) Feed(p []byte) bool {
	return C.empty_feed(s.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(p))), C.size_t(len(p))) == 0
}
