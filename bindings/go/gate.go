package aside

// #include "bridge.h"
import "C"

// Response is what HTTP says of an answer. Header values are as they came, and empty where there is none.
type Response struct {
	Status          int
	Path            string // of its request, with or without a query; if it is empty, any path fits
	ContentType     string
	ContentEncoding string
}

// Wants returns what the body of an answer is, for RewriterOptions.Body, and whether the answer is for a rewriter of these
// formats at all: its status is 200, it is not compressed, its media type is one that a rewriter reads, and its path is that of
// one of the formats. formats may be 0: [FormatChat]. With an unknown bit, no answer is.
//
// Whoever rewrites an answer removes its headers Content-Length, ETag, Content-MD5, Digest and Repr-Digest, and calls
// [Rewriter.Finish] at its end. Wants may be called at any time.
func Wants(r Response, formats Formats) (Body, bool) {
	if r.Status < 0 {
		return BodyUnknown, false
	}
	var body C.uint32_t
	status := C.aside_rewriter_wants(C.uint32_t(r.Status), chars(r.Path), C.size_t(len(r.Path)),
		chars(r.ContentType), C.size_t(len(r.ContentType)),
		chars(r.ContentEncoding), C.size_t(len(r.ContentEncoding)), C.uint32_t(formats), &body)
	return Body(body), status == C.ASIDE_OK
}

// RequestHint returns what a host does with a request, and whether there is something to do: the request is a POST to a path of
// one of the formats. path and formats are as for [Wants]. It may be called at any time.
func RequestHint(path, method string, formats Formats) (Hint, bool) {
	var hint C.uint32_t
	status := C.aside_request_hint(chars(path), C.size_t(len(path)), chars(method), C.size_t(len(method)),
		C.uint32_t(formats), &hint)
	return Hint(hint), status == C.ASIDE_OK
}

// mostModel is the longest name of a model that is read.
const mostModel = 1024

// RequestModel finds the model that a request asks for, the first string "model" of its JSON object, in all of its body that has
// come so far; 64 KiB are enough. It returns false while more of the body must come. The model is empty if there is none: the
// body is not a JSON object, or its model is not a string, is not UTF-8, or is longer than 1,024 bytes. It may be called at any
// time.
func RequestModel(body []byte) (model string, known bool) {
	var room [mostModel]byte
	var size C.size_t
	status := C.aside_request_model(data(body), C.size_t(len(body)), data(room[:]), C.size_t(len(room)), &size)
	return string(room[:size]), status != C.ASIDE_MORE
}
