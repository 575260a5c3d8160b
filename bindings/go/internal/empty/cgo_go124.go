//go:build go1.24

package empty

// Makes the same promises to cgo as package aside makes for its feed, so that the comparison is fair.

// #cgo noescape empty_feed
// #cgo nocallback empty_feed
import "C"
