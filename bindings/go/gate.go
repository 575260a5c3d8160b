//go:build cgo

package aside

// Exchange has the HTTP facts about a request and its answer. Header values are verbatim; the value of an absent header is empty.
type Exchange struct {
	Method          string // of the request; only [RequestHint] reads it
	Path            string // of the request, with or without a query; if it is empty, any path fits
	Status          int    // of the answer
	ContentType     string // of the answer
	ContentEncoding string // of the answer
	// Formats are the formats that the rewriter reads. 0: all. With an unknown bit, no answer is for a rewriter.
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

// RequestHint returns the change that a host should make to a request, and whether a change is needed: the request is a POST to a
// path of one of the formats. It may be called at any time.
func RequestHint(exchange Exchange) (Hint, bool) {
	return requestHint(&exchange)
}

// RequestModel finds the model that a request asks for, the first string "model" of its JSON object, in the part of its body that
// has arrived so far; 64 KiB are enough. It returns false if more of the body is needed. The model is empty if there is none: the
// body is not a JSON object, or its model is not a string, is not UTF-8, or is longer than 1,024 bytes. It may be called at any
// time.
func RequestModel(body []byte) (model string, known bool) {
	return requestModel(body)
}

// Request has the facts of a request that concern its answer.
type Request struct {
	Thinks   Thinks   // whether the model should think
	Thinking Thinking // whether the client wants the thinking in the answer, for RewriterOptions.Thinking
	Tools    []byte   // the JSON text of "tools", a part of the request's body; "[]" if the request offers none
}

// ReadRequest reads the facts of a request that concern its answer. Only the path of the exchange is read; body is the whole body of
// the request. An incomplete body, or one that is not a JSON object, decides nothing.
//
// The model should think or not, if one of these says so; the first one counts: a variable of the chat template
// ("chat_template_kwargs": "enable_thinking", "thinking", "thinking_mode"), "enable_thinking" or "think" as a boolean, the type of
// "thinking", an effort ("think", "reasoning_effort", also as a variable, and "reasoning.effort"), which is off as "none" or
// "no_think". The client wants no thinking if the request has "include_reasoning": false, "reasoning": {"exclude": true} or
// "think": false, or if it is a Messages request whose "thinking" is absent or disabled.
//
// It may be called at any time. This function may change in any version.
func ReadRequest(exchange Exchange, body []byte) Request {
	return readRequest(&exchange, body)
}
