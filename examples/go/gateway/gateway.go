package main

import (
	"context"
	"io"
	"log"
	"mime"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	aside "aside.example/bindings/go"
)

// starts says where the answer to a request starts that turns the thinking on or off. For other requests the dialect decides.
type starts struct{ on, off aside.Start }

// newGateway returns a handler that passes everything to target and splits the answers of chat completions. A call in the text
// becomes one of tool_calls only if the request has its tool: a prompt can make a model write any call.
func newGateway(target *url.URL, dialect *aside.Dialect, starts starts) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // it would ask for gzip although the client does not, and unpack it
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
			if isChat(r.In) {
				// A compressed answer could not be read.
				r.Out.Header.Set("Accept-Encoding", "identity")
			}
		},
		ModifyResponse: func(r *http.Response) error { return split(r, dialect, starts) },
		FlushInterval:  -1, // each chunk at once
		Transport:      transport,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without full duplex, the first byte of an answer closes the request's body. If the server answers before it has
		// read the whole body, the proxy then drops the connection.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			log.Print(err)
		}
		in := r
		if isChat(r) {
			request := &request{body: r.Body}
			in = r.WithContext(context.WithValue(r.Context(), requestKey{}, request))
			in.Body = request // on the copy: the server checks the body of the original
		}
		proxy.ServeHTTP(w, in)
		// In full duplex, net/http reads the rest of a request only after the answer. The next request may be part of that
		// read and is then read by two goroutines, which ends the process (golang.org/issue/68560). A client that expects
		// "100 Continue" has sent nothing to read, and its connection is closed in any case.
		if r.Header.Get("Expect") == "" {
			r.Body.Close()
		}
	})
}

func isChat(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions")
}

// split wraps the body of a chat's answer in a rewriter. Errors of the server, and bodies that are neither events nor JSON,
// stay as they are.
func split(r *http.Response, dialect *aside.Dialect, starts starts) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if !isChat(r.Request) || r.StatusCode != http.StatusOK || r.Header.Get("Content-Encoding") != "" ||
		kind != "text/event-stream" && kind != "application/json" {
		return nil
	}
	rewriter, err := aside.NewRewriter(dialect, &aside.RewriterOptions{Calls: true, Tools: noTools})
	if err != nil {
		return err
	}
	asked := r.Request.Context().Value(requestKey{}).(*request).read()
	if err := rewriter.StartAt(asked.start(starts)); err != nil {
		return err
	}
	if err := rewriter.UseTools(asked.tools); err != nil {
		log.Print("calls stay in the text: ", err)
	}
	r.Body = &body{server: r.Body, rewriter: rewriter, in: make([]byte, 16*1024)}
	r.ContentLength = -1
	r.Header.Del("Content-Length")
	return nil
}

// body is an answer that is split while it is read. One goroutine reads and then closes it, as with every body.
type body struct {
	server   io.ReadCloser
	rewriter *aside.Rewriter
	in       []byte
	out      []byte // rewritten
	read     int    // number of bytes of out that were read
	err      error  // of the server; returned after out
}

func (b *body) Read(p []byte) (int, error) {
	for b.read == len(b.out) {
		if b.err != nil {
			return 0, b.err
		}
		b.fill()
	}
	n := copy(p, b.out[b.read:])
	b.read += n
	return n, nil
}

// fill reads once from the server. out may stay empty, because bytes are held back.
func (b *body) fill() {
	n, err := b.server.Read(b.in)
	b.out, b.read = b.out[:0], 0
	b.err = err
	b.out, err = b.rewriter.Feed(b.out, b.in[:n])
	if err == nil && b.err != nil {
		// Also if the server dies: the client must get what was held back.
		b.out, err = b.rewriter.Finish(b.out)
		if b.rewriter.IsEncoded() {
			log.Print("an answer is compressed but does not say so: it has passed unchanged")
		}
	}
	if err != nil {
		b.err = err
	}
}

func (b *body) Close() error {
	b.rewriter.Close()
	return b.server.Close()
}
