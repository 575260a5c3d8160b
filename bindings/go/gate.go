//go:build cgo

package aside

// Exchange has the HTTP facts about a request and its answer. Header values are as they came, and empty where there is none.
type Exchange struct {
	Method          string // of the request; only [RequestHint] reads it
	Path            string // of the request, with or without a query; if it is empty, any path fits
	Status          int    // of the answer
	ContentType     string // of the answer
	ContentEncoding string // of the answer
	// Formats are those that the rewriter reads. 0: all. With an unknown bit, none is.
	Formats Formats
}

// Wants returns the kind of an answer's body, for RewriterOptions.Body, and whether the answer is for a rewriter of these
// formats at all: its status is 200, it is not compressed, its media type is one that a rewriter reads, and its path is that of
// one of the formats.
//
// The program that rewrites an answer must remove its headers Content-Length, ETag, Content-MD5, Digest and Repr-Digest, and
// call [Rewriter.Finish] at its end. Wants may be called at any time.
func Wants(exchange Exchange) (Body, bool) {
	return wants(&exchange)
}

// RequestHint returns the change that a host should make to a request, and whether there is something to do: the request is a POST
// to a path of one of the formats. It may be called at any time.
func RequestHint(exchange Exchange) (Hint, bool) {
	return requestHint(&exchange)
}

// RequestModel finds the model that a request asks for, the first string "model" of its JSON object, in all of its body that has
// come so far; 64 KiB are enough. It returns false while more of the body must come. The model is empty if there is none: the
// body is not a JSON object, or its model is not a string, is not UTF-8, or is longer than 1,024 bytes. It may be called at any
// time.
func RequestModel(body []byte) (model string, known bool) {
	return requestModel(body)
}

// RequestThinking returns whether a request wants the thinking in its answer, for RewriterOptions.Thinking. Only the path of
// the exchange is read; body is the whole body of the request.
//
// A request wants none if it has "include_reasoning": false, "reasoning": {"exclude": true} or "think": false, or if it is a
// Messages request without "thinking", or with "thinking" that is disabled. Any other, and a body that is not a JSON object,
// wants it. It may be called at any time. This function may change in any version.
func RequestThinking(exchange Exchange, body []byte) Thinking {
	return requestThinking(&exchange, body)
}
