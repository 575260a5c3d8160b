package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	aside "aside.example/bindings/go"
)

// starts says where the answer to a request starts that turns the thinking on or off. For other requests the dialect decides.
type starts struct{ on, off aside.Start }

// gateway says how answers are split, and how the history of requests is rewritten. The options have the formats; body, tools and
// start are those of each answer.
type gateway struct {
	dialect *aside.Dialect
	starts  starts
	options aside.RewriterOptions
	history history
}

// newGateway returns a handler that passes everything to target and splits the answers of the formats. A call in the text
// becomes one of the format's only if the request has its tool: a prompt can make a model write any call.
func newGateway(target *url.URL, g gateway) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // it would ask for gzip although the client does not, and unpack it
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
			if hint, ok := g.hint(r.In); ok && hint == aside.HintIdentity {
				r.Out.Header.Set("Accept-Encoding", "identity")
			}
		},
		ModifyResponse: g.split,
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
		if _, ok := g.hint(r); ok {
			request := &request{}
			in = r.WithContext(context.WithValue(r.Context(), requestKey{}, request))
			if err := g.history.rewrite(in); err != nil {
				http.Error(w, "the request cannot be read: "+err.Error(), http.StatusBadRequest)
				return
			}
			request.body = in.Body
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

// hint returns what is to be done with a request, and whether its answer may be one to split.
func (g gateway) hint(r *http.Request) (aside.Hint, bool) {
	return aside.RequestHint(aside.Exchange{Path: r.URL.EscapedPath(), Method: r.Method, Formats: g.options.Formats})
}

// split wraps the body of an answer in a rewriter, if the answer is of the formats. Others, such as errors of the server, stay
// as they are.
func (g gateway) split(r *http.Response) error {
	request, ok := r.Request.Context().Value(requestKey{}).(*request)
	if !ok {
		return nil
	}
	options := g.options
	options.Body, ok = aside.Wants(aside.Exchange{
		Status:          r.StatusCode,
		Path:            r.Request.URL.EscapedPath(),
		ContentType:     r.Header.Get("Content-Type"),
		ContentEncoding: strings.Join(r.Header.Values("Content-Encoding"), ", "),
		Formats:         options.Formats,
	})
	if !ok {
		return nil
	}
	rewriter, err := aside.NewRewriter(g.dialect, &options)
	if err != nil {
		return err
	}
	asked := request.read()
	if err := rewriter.UseDialect(nil, asked.start(g.starts)); err != nil {
		return err
	}
	if err := rewriter.UseTools(asked.tools); err != nil {
		log.Print("calls stay in the text: ", err)
	}
	r.Body = &body{server: r.Body, rewriter: rewriter, in: make([]byte, 16*1024)}
	r.ContentLength = -1
	// They are those of the server's body.
	for _, name := range []string{"Content-Length", "ETag", "Content-MD5", "Digest", "Repr-Digest"} {
		r.Header.Del(name)
	}
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
		b.complain()
	}
	if err != nil {
		b.err = err
	}
}

// complain logs why an answer, or a part of it, has passed unchanged although it was to be split.
func (b *body) complain() {
	stats, err := b.rewriter.Stats()
	if err == nil && stats.Encoded {
		log.Print("an answer is compressed but does not say so: it has passed unchanged")
	}
	if err == nil && stats.TooLong+stats.Unread+stats.Unpromoted+stats.Truncated > 0 {
		log.Printf("an answer was not read to its end: of %d events, %d were too long and %d of no format that is read; "+
			"%d texts were too long to be promoted and %d to be repeated",
			stats.Events, stats.TooLong, stats.Unread, stats.Unpromoted, stats.Truncated)
	}
}

func (b *body) Close() error {
	b.rewriter.Close()
	return b.server.Close()
}
