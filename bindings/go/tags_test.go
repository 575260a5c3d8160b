//go:build !aside_static

package aside_test

// The build tags of this test, for programs that it builds itself.
const tags = ""
