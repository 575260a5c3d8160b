package aside

// #include "bridge.h"
import "C"

import "runtime"

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

func requestThinking(exchange *Exchange, body []byte) Thinking {
	var pin runtime.Pinner
	defer pin.Unpin()
	var thinking C.uint32_t
	C.aside_request_thinking(exchange.c(&pin), data(body), C.size_t(len(body)), &thinking)
	return Thinking(thinking)
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
