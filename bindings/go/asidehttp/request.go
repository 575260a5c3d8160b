package asidehttp

import (
	"io"
	"sync"

	aside "aside.example/bindings/go"
)

// mostRead is the largest number of bytes of a request that are examined.
const mostRead = 8 << 20

// request is the body of a request whose answer may be split, copied while it is forwarded, because it says whether the model is to
// think and which tools it may call. The lock is needed because the answer may begin before the request ends, on another goroutine.
type request struct {
	body io.ReadCloser
	lock sync.Mutex
	seen []byte
}

func (r *request) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.lock.Lock()
	defer r.lock.Unlock()
	if room := mostRead - len(r.seen); room > 0 {
		r.seen = append(r.seen, p[:min(n, room)]...)
	}
	return n, err
}

func (r *request) Close() error { return r.body.Close() }

// read returns the facts of the bytes that were copied.
func (r *request) read() aside.Request {
	r.lock.Lock()
	defer r.lock.Unlock()
	read := aside.ReadRequest(aside.Exchange{}, r.seen)
	r.seen = nil
	return read
}

// start returns the start of the answer.
func start(thinks aside.Thinks, o *Options) aside.Start {
	switch thinks {
	case aside.ThinksOn:
		return o.On
	case aside.ThinksOff:
		return o.Off
	}
	return aside.StartDefault
}
