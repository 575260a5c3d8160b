// Package asidehttp splits the answers of a model's server on their way to clients: thinking and tool calls are sent in
// separate fields, in the formats of OpenAI, Anthropic and Ollama, as they arrive. [Transport] is a client's http.RoundTripper,
// and [NewHandler] a reverse proxy.
package asidehttp

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	aside "aside.example/bindings/go"
)

// Options are the options for splitting answers.
type Options struct {
	// Dialect is the dialect of the server's model.
	Dialect *aside.Dialect
	// On and Off are the starts of an answer whose request turns the thinking on or off. For other answers, the dialect decides.
	On, Off aside.Start
	// Rewriter has the other options. Body, Tools and Start are set for each answer. A call in the text becomes a call of the format
	// only if the request offers its tool, because a prompt can make a model write any call.
	Rewriter aside.RewriterOptions
	// History puts the thinking of earlier turns in a request where the server reads it. nil: requests stay unchanged.
	History History
}

// Transport is an http.RoundTripper whose answers are split. Everything except answers of the formats stays unchanged. Any number
// of goroutines may use one Transport.
type Transport struct {
	// Base makes the requests. nil: http.DefaultTransport, without its compression.
	Base http.RoundTripper
	Options
}

// plain asks for gzip only if the client does, and never unpacks it.
var plain = func() http.RoundTripper {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	return transport
}()

// RoundTrip sends a request, and returns its answer, which is split while it is read. It closes the request's body, and does
// not change the request itself. An answer that is compressed with gzip although the request did not ask for gzip is unpacked;
// an answer in another encoding is returned unchanged.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = plain
	}
	hint, ok := aside.RequestHint(aside.Exchange{Path: r.URL.EscapedPath(), Method: r.Method, Formats: t.Rewriter.Formats})
	if !ok {
		return base.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	if hint == aside.HintIdentity {
		r.Header.Set("Accept-Encoding", "identity")
	}
	seen := &request{}
	if r.Body != nil {
		if err := t.History.rewrite(r); err != nil {
			r.Body.Close()
			return nil, err
		}
		seen.body = r.Body
		r.Body, r.GetBody = seen, nil
	}
	response, err := base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if err := t.split(response, seen); err != nil {
		response.Body.Close()
		return nil, err
	}
	return response, nil
}

// split wraps the body of an answer in a rewriter, if the answer has one of the formats. All other answers, such as errors of
// the server, stay unchanged.
func (t *Transport) split(r *http.Response, seen *request) error {
	options := t.Rewriter
	exchange := aside.Exchange{
		Status:          r.StatusCode,
		Path:            r.Request.URL.EscapedPath(),
		ContentType:     r.Header.Get("Content-Type"),
		ContentEncoding: strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ", ")),
		Formats:         options.Formats,
	}
	packed := strings.EqualFold(exchange.ContentEncoding, "gzip")
	if packed {
		exchange.ContentEncoding = ""
	}
	var ok bool
	if options.Body, ok = aside.Wants(exchange); !ok {
		return nil
	}
	options.Tools = []byte("[]") // also if the request's tools cannot be read
	rewriter, err := aside.NewRewriter(t.Dialect, &options)
	if err != nil {
		return err
	}
	asked := seen.read()
	if err := rewriter.UseDialect(nil, start(asked.Thinks, &t.Options)); err != nil {
		rewriter.Close()
		return err
	}
	if err := rewriter.UseTools(asked.Tools); err != nil {
		log.Print("calls stay in the text: ", err)
	}
	b := &body{server: r.Body, text: r.Body, rewriter: rewriter, in: make([]byte, 16*1024)}
	if packed {
		b.text = &unpacked{packed: r.Body}
	}
	r.Body = b
	r.ContentLength = -1
	// These headers describe the server's body, not the rewritten one.
	for _, name := range []string{"Content-Encoding", "Content-Length", "ETag", "Content-MD5", "Digest", "Repr-Digest"} {
		r.Header.Del(name)
	}
	return nil
}

// unpacked is a body that is decompressed. Its gzip header is read with its first byte, which may arrive late.
type unpacked struct {
	packed io.Reader
	reader *gzip.Reader
}

func (u *unpacked) Read(p []byte) (n int, err error) {
	if u.reader == nil {
		if u.reader, err = gzip.NewReader(u.packed); err != nil {
			return 0, err
		}
	}
	return u.reader.Read(p)
}

// NewHandler returns a handler that forwards every request to a server, and splits the answers of the formats. The transport may be
// nil.
func NewHandler(target *url.URL, base http.RoundTripper, options Options) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
		},
		FlushInterval: -1, // each chunk at once
		Transport:     &Transport{Base: base, Options: options},
		ErrorHandler:  badGateway,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without full duplex, the first byte of an answer closes the request's body. If the server answers before it has
		// read the whole body, the proxy then drops the connection.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil && r.ProtoMajor == 1 {
			log.Print(err)
		}
		proxy.ServeHTTP(w, r)
		// In full duplex, net/http reads the rest of a request only after the answer. The next request may be part of that
		// read and is then read by two goroutines, which ends the process (golang.org/issue/68560). A client that expects
		// "100 Continue" has sent nothing to read, and its connection is closed in any case.
		if r.Header.Get("Expect") == "" {
			r.Body.Close()
		}
	})
}

// badGateway answers in place of a server that cannot be reached or has broken off, with an error in the form of the requested API,
// so that clients show the message.
func badGateway(w http.ResponseWriter, r *http.Request, err error) {
	log.Printf("%s %s: %v", r.Method, r.URL.Path, err)
	asks := func(formats aside.Formats) bool {
		_, ok := aside.RequestHint(aside.Exchange{Path: r.URL.EscapedPath(), Method: r.Method, Formats: formats})
		return ok
	}
	const message = "the model's server cannot be reached, or has broken off before its answer"
	var fault any = map[string]any{"error": map[string]any{"message": message, "type": "server_error", "param": nil, "code": nil}}
	switch {
	case asks(aside.FormatMessages):
		fault = map[string]any{"type": "error", "error": map[string]string{"type": "api_error", "message": message}}
	case asks(aside.FormatOllama):
		fault = map[string]string{"error": message}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadGateway)
	json.NewEncoder(w).Encode(fault)
}

// body is an answer that is split while it is read. One goroutine reads and then closes it, as with every body.
type body struct {
	server   io.Closer
	text     io.Reader
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

// fill reads once from the server. out may stay empty, because the rewriter may hold all bytes back.
func (b *body) fill() {
	n, err := b.text.Read(b.in)
	b.out, b.read = b.out[:0], 0
	b.err = err
	b.out, err = b.rewriter.Feed(b.out, b.in[:n])
	if err == nil && b.err != nil {
		// The client must get the held text, even if the server has broken off.
		b.out, err = b.rewriter.Finish(b.out)
		b.complain()
	}
	if err != nil {
		b.err = err
	}
}

// complain logs why an answer that was to be split, or a part of it, was forwarded unchanged.
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
