// Package aside splits the output of a language model into thinking, content, narration and tool calls, while it streams.
//
// It is aside.example/bindings/go without cgo: the same names, which mean the same, over the library as WebAssembly, which is
// embedded and run by wazero. A program needs no C compiler and no library, and is built for other systems as any Go program.
// It is slower; the README has the figures. Filters of tool results and the history of requests are in the other package alone.
//
// The output is one stream of bytes. A [Scanner] takes it in chunks of any size and reports events: a span opens, text
// arrives on a channel, a span closes. A [Dialect] names the bytes that are markers. There is one for each family of models;
// [Find], [FindForModel] and [FindForTemplate] return the built-in ones, and [Load] reads one from a file.
//
// [Splitter] writes each channel to a separate writer, [CallWriter] makes JSON of tool calls, and [Rewriter] edits the answer
// of an OpenAI-style server. [Strip], [Join] and [Escape] work on whole texts.
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
// All objects share the memory of one instance of the program. Close frees an object; the garbage collector frees forgotten
// ones. An [Event] borrows its bytes: they are valid until the yield function returns.
//
// # Goroutines
//
// Any number of goroutines may use a [Dialect] at once. Any other object admits one call at a time: a second call returns
// [ErrBusy] and changes nothing. Inside the program calls run one after the other, whatever their objects.
//
// A defect of the library ends the instance: the scanners, call writers and rewriters that were there return [ErrDefect] from then
// on, and new ones work.
package aside
