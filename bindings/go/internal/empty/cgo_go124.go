//go:build go1.24

package empty

// As the feed has it in the package itself.

// #cgo noescape empty_feed
// #cgo nocallback empty_feed
import "C"
