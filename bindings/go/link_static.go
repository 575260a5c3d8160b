//go:build aside_static

package aside

// Names the archive in full, so that the linker never chooses a shared library from the same folder, and the system libraries that
// the archive needs. CGO_CFLAGS and CGO_LDFLAGS say where the header and the archive are; with-aside sets both from ASIDE_DIR.

// #cgo LDFLAGS: -l:libaside.a -lutil -lrt -lpthread -lm -ldl
import "C"
