//go:build !cgo

// Package aside needs cgo. Without cgo, only this file is compiled: it stops the build with an explanation; otherwise the compiler
// would only say that there are no Go files.
package aside

var _ = aside_needs_cgo__import_aside_example_bindings_go_wasm_instead__or_install_a_C_compiler_and_libaside__see_the_README
