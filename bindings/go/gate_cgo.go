package aside

// #include "bridge.h"
import "C"

import (
	"runtime"
	"unsafe"
)

func wants(exchange *Exchange) (Body, bool) {
	var pin runtime.Pinner
	defer pin.Unpin()
	var body C.uint32_t
	status := C.aside_rewriter_wants(exchange.c(&pin), &body)
	return Body(body), status == C.ASIDE_OK
}

func requestHint(exchange *Exchange) (Hint, bool) {
	var pin runtime.Pinner
	defer pin.Unpin()
	var hint C.uint32_t
	status := C.aside_request_hint(exchange.c(&pin), &hint)
	return Hint(hint), status == C.ASIDE_OK
}

// mostModel is the longest name of a model that is read.
const mostModel = 1024

func requestModel(body []byte) (model string, known bool) {
	var room [mostModel]byte
	var size C.size_t
	status := C.aside_request_model(data(body), C.size_t(len(body)), data(room[:]), C.size_t(len(room)), &size)
	return string(room[:size]), status != C.ASIDE_MORE
}

func readRequest(exchange *Exchange, body []byte) Request {
	var pin runtime.Pinner
	defer pin.Unpin()
	read := C.aside_request{size: C.sizeof_aside_request}
	request := Request{Tools: []byte("[]")}
	if C.aside_request_read(exchange.c(&pin), data(body), C.size_t(len(body)), &read) == C.ASIDE_OK {
		request.Thinks, request.Thinking = Thinks(read.thinks), Thinking(read.thinking)
		request.Tools = C.GoBytes(unsafe.Pointer(read.tools.at), C.int(read.tools.len))
	}
	runtime.KeepAlive(body)
	return request
}

// c returns the exchange for C, valid until pin is released.
func (e *Exchange) c(pin *runtime.Pinner) *C.aside_exchange {
	return &C.aside_exchange{
		size:             C.sizeof_aside_exchange,
		status:           C.uint32_t(max(e.Status, 0)),
		formats:          C.uint32_t(e.Formats),
		method:           pinned(pin, e.Method),
		path:             pinned(pin, e.Path),
		content_type:     pinned(pin, e.ContentType),
		content_encoding: pinned(pin, e.ContentEncoding),
	}
}
