//go:build go1.24

package empty

// The same promises to cgo as those for the feed of package aside, so that the comparison is fair.

// #cgo noescape empty_feed
// #cgo nocallback empty_feed
import "C"
