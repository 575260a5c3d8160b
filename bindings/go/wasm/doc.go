// Package aside splits the output of a language model into thinking, content, narration and tool calls, while it streams.
//
// It has the same names as aside.example/bindings/go, with the same meaning, but needs no cgo: the library is embedded as
// WebAssembly and run by wazero. A program needs no C compiler and no library, and is cross-compiled like any Go program. This
// package is slower; the README has the figures. Only the other package has filters of tool results and the history of requests.
//
// The output is one stream of bytes. An [Answer] takes it in chunks of any size and reports its parts: thinking, content, and tool
// calls with JSON arguments. A [Scanner] is the level below and reports events: a span opens, text arrives on a channel, a span
// closes. A [Dialect] names the bytes that are markers. There is one for each family of models;
// [Find], [FindForModel] and [FindForTemplate] return the built-in ones, and [Load] reads one from a file.
//
// [Splitter] writes each channel to a separate writer, and [Rewriter] edits the answer of an OpenAI-style server. [Strip], [Join] and [Escape] work on whole texts.
//
// # Errors
//
// Every error of the library is a [Status] or wraps one: compare with [errors.Is].
//
// The methods of an object that is nil, or that no function of this package has made, return [ErrNull]; those without an error
// return zero.
//
// # Memory
//
// All objects share the memory of one WebAssembly instance. Close frees an object; without Close, the garbage collector does. An
// [Event] borrows its bytes: they are valid until the yield function returns.
//
// # Goroutines
//
// Any number of goroutines may use a [Dialect] at once. Any other object admits one call at a time: a second call returns
// [ErrBusy] and changes nothing. Calls into the instance run one after the other, even on different objects.
//
// A defect of the library ends the instance: all existing answers, scanners and rewriters return [ErrDefect] from then on, and
// new ones work.
package aside
