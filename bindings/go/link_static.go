//go:build aside_static

package aside

// The archive, by its full name so that a shared library beside it is not taken, and what it needs of the system. Where
// header and archive are, CGO_CFLAGS and CGO_LDFLAGS say: with-aside sets both from ASIDE_DIR.

// #cgo LDFLAGS: -l:libaside.a -lutil -lrt -lpthread -lm -ldl
import "C"
