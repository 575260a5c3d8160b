// Package aside tells apart what a language model's output carries: thinking, content, narration and tool calls.
//
// The output is one stream of bytes. A [Scanner] takes it in pieces, cut anywhere, and gives events: a span opens, text
// of a channel, a span closes. Which bytes are markers is the affair of a [Dialect]: one for each family of models, built
// in ([Find]) or loaded from a file ([Load]).
//
// However the stream is cut, the joined text of each channel, the spans and the attributes are the same. Every byte is
// in exactly one event, in order. A byte is held back only while it may be part of a marker or of a character whose end
// has not come. Time is linear in the length of the stream; no text cuts a character of valid UTF-8; other bytes pass
// through.
//
// The second half makes tool results shorter: a [Compressor] takes what a tool printed, before the model reads it.
//
// What the functions here make must not be copied, only the pointer to it: go vet says where that is done. Reports may be.
//
// The package is a binding of libaside, through cgo. Feeding crosses into C once for each chunk at most, and calls nothing
// of Go's from there. See the README for how to link it.
package aside
