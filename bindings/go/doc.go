// Package aside splits the output of a language model into thinking, content, narration and tool calls, while it streams.
//
// The output is one stream of bytes. An [Answer] takes it in chunks of any size and reports its parts: thinking, content, and tool
// calls with JSON arguments. A [Scanner] is the level below and reports events: a span opens, text arrives on a channel, a span
// closes. A [Dialect] names the bytes that are markers. There is one for each family of models;
// [Find], [FindForModel] and [FindForTemplate] return the built-in ones, and [Load] reads one from a file.
//
// Chunking does not matter: the joined text of each channel, the spans and the attributes are the same for every way to cut
// the stream. Every byte is in exactly one event, in order. The only bytes that a scanner holds back are those that could still
// become part of a marker or complete a character; an answer also holds those of a call that is not decided. Time is linear in the length of the stream. No text event cuts a character of valid UTF-8;
// bytes that are not UTF-8 stay unchanged.
//
// [Splitter] writes each channel to a separate writer, and [Rewriter] edits the answer of an OpenAI-style server. [Strip], [Join] and [Escape] work on whole texts. A [Compressor] shortens a tool's output before a
// model reads it.
//
// # Errors
//
// Every error of the library is a [Status] or wraps one. The errors of a caller's own reader, writer, filter or cache are returned
// unchanged, and a reader or writer that breaks its contract causes an error such as [io.ErrShortWrite]. Compare with [errors.Is]:
//
//	if _, err := aside.Find("qwen33"); errors.Is(err, aside.ErrUnknown) { … }
//
// The methods of an object that is nil, or that no function of this package has made, return [ErrNull]; those without an error
// return zero.
//
// # Memory
//
// Answers, scanners, rewriters, compressors and similar objects own memory of C. Close frees it; the garbage collector frees forgotten
// objects, but it does not see how large that memory is. Do not copy these types, only pointers to them: go vet reports copies. A
// [Report] may be copied. Closing a dialect or a compressor does not affect objects that were made from it.
//
// An [Event] borrows its bytes: they are valid until the yield function returns. Everything else that the package returns
// belongs to the caller.
//
// # Goroutines
//
// Any number of goroutines may use a [Dialect] or a [Compressor] at once. An [Answer], [Scanner], [Splitter], [Rewriter]
// or [ToolStream] admits one call at a time: a second call returns [ErrBusy] and changes nothing. The methods that return no
// error, such as [Scanner.Held], may be called at any time.
//
// The package binds the C library libaside through cgo. The README says how to link it.
//
// # Unstable
//
// Functions marked as unstable may change in any version of the package. A program panics when it starts if its library has a
// different version of these functions.
package aside
