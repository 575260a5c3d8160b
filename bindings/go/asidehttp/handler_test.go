package asidehttp

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	aside "aside.example/bindings/go"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // the proxy logs each server that disconnects
	os.Exit(m.Run())
}

// all has the gateway's defaults, without flags.
var all = aside.RewriterOptions{Calls: true, Formats: aside.FormatAll}

// starts has the starts of answers whose request turns the thinking on or off.
type starts struct{ on, off aside.Start }

// serve runs the gateway in front of a server.
func serve(t *testing.T, server http.HandlerFunc) string {
	t.Helper()
	upstream := httptest.NewServer(server)
	t.Cleanup(upstream.Close)
	return front(t, upstream.URL)
}

// front runs the gateway in front of an address.
func front(t *testing.T, upstream string) string {
	t.Helper()
	return frontOf(t, upstream, "qwen3", starts{off: aside.StartContent})
}

func frontOf(t *testing.T, upstream, name string, starts starts) string {
	t.Helper()
	return frontWith(t, upstream, name, starts, all)
}

func frontWith(t *testing.T, upstream, name string, starts starts, options aside.RewriterOptions) string {
	t.Helper()
	target, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	dialect, err := aside.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	gateway := httptest.NewServer(NewHandler(target, nil, Options{Dialect: dialect, On: starts.on, Off: starts.off, Rewriter: options}))
	t.Cleanup(gateway.Close)
	return gateway.URL
}

// curl is a client that does not ask for compression by itself.
var curl = &http.Client{Transport: &http.Transport{DisableCompression: true}}

func ask(t testing.TB, ctx context.Context, url string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/chat/completions", strings.NewReader(`{"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := curl.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func event(field, text string) string {
	return fmt.Sprintf(`data: {"id":"c1","choices":[{"index":0,"delta":{%q:%q}}]}`+"\n\n", field, text)
}

var (
	spoken   = event("content", "<thi") + event("content", "nk>\nTwice 21.\n") + event("content", "</think>\n\nIt is 42 – é.")
	expected = "Twice 21." + "|" + "It is 42 – é."
)

// said joins the deltas of an event stream: the thinking, then a bar (|), then the content.
func said(t testing.TB, stream string) string {
	t.Helper()
	var thinking, content strings.Builder
	for _, line := range strings.Split(stream, "\n") {
		var text string
		if at := strings.Index(line, `"reasoning_content":`); at >= 0 {
			fmt.Sscanf(line[at:], `"reasoning_content":%q`, &text)
			thinking.WriteString(text)
		}
		if at := strings.Index(line, `"content":`); at >= 0 {
			fmt.Sscanf(line[at:], `"content":%q`, &text)
			content.WriteString(text)
		}
	}
	return thinking.String() + "|" + content.String()
}

// The server waits until the client has received the text that it sent before, so no text is delayed on the way.
func TestEachPieceAtOnce(t *testing.T) {
	seen := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, piece := range []string{"a", "b", "c", "d"} {
			io.WriteString(w, event("content", piece))
			w.(http.Flusher).Flush()
			select {
			case <-seen:
			case <-time.After(10 * time.Second):
				t.Errorf("%q is not there before the next is sent", piece)
				return
			}
		}
	})
	lines := bufio.NewScanner(ask(t, context.Background(), url).Body)
	got := ""
	for lines.Scan() {
		if text := said(t, lines.Text()); text != "|" {
			got += text
			seen <- struct{}{}
		}
	}
	if got != "|a|b|c|d" || lines.Err() != nil {
		t.Error(got, lines.Err())
	}
}

// Calls become tool_calls if the request offers their tool, and stay in the text otherwise.
func TestCallsOfTheRequestsTools(t *testing.T) {
	const call = `<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range []string{"<think>hm", call[:20], call[20:]} {
			io.WriteString(w, event("content", piece))
		}
		io.WriteString(w, `data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n")
	}))
	t.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	toml, err := os.ReadFile("../../../tests/dialects/calls-tags.toml")
	if err != nil {
		t.Fatal(err)
	}
	dialect, err := aside.Load(string(toml))
	if err != nil {
		t.Fatal(err)
	}
	gateway := httptest.NewServer(NewHandler(target, nil, Options{Dialect: dialect, Rewriter: all}))
	t.Cleanup(gateway.Close)

	for _, c := range []struct {
		request string
		told    bool
	}{
		{`{"tools": [{"type": "function", "function": {"name": "f"}}]}`, true},
		{`{"tools": [{"type": "function", "function": {"name": "g"}}]}`, false},
		{`{"tools": []}`, false},
		{`{"tools": null}`, false},
		{`{"tools": "f"}`, false},
		{`{}`, false},
		{`{"tools": [{"type": "function", "function": {"name": "f"}}]`, false}, // cut
	} {
		response, err := curl.Post(gateway.URL+"/v1/chat/completions", "application/json", strings.NewReader(c.request))
		if err != nil {
			t.Fatal(err)
		}
		stream, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		wanted := "hm|" + call
		if c.told {
			wanted = "hm|"
		}
		told := strings.Contains(string(stream), `"function":{"name":"f","arguments":""}`)
		if got := said(t, string(stream)); got != wanted || told != c.told ||
			strings.Contains(string(stream), `"finish_reason":"tool_calls"`) != c.told {
			t.Errorf("%s: %s", c.request, stream)
		}
	}
}

// One gateway serves a model with thinking on and off.
func TestStartsWhereTheRequestSays(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("content", "a"))
	}))
	t.Cleanup(upstream.Close)
	const thinking, content = "a|", "|a"
	open := frontOf(t, upstream.URL, "qwen3-thinking", starts{off: aside.StartContent})
	closed := frontOf(t, upstream.URL, "deepseek-v3", starts{on: aside.StartThinking, off: aside.StartContent})
	long := strings.Repeat("long ", 1<<20)
	for request, want := range map[string][2]string{
		`{"messages":[]}`: {thinking, content},
		`not JSON`:        {thinking, content},
		``:                {thinking, content},
		`{"messages":[{"content":"` + long + `"}],"chat_template_kwargs":{"enable_thinking":false}}`: {content, content},
		`{"chat_template_kwargs":{"enable_thinking":true}}`:                                          {thinking, thinking},
		`{"chat_template_kwargs":{"thinking":true}}`:                                                 {thinking, thinking},
		`{"chat_template_kwargs":{"thinking":false},"reasoning_effort":"high"}`:                      {content, content},
		`{"chat_template_kwargs":7,"enable_thinking":false}`:                                         {content, content},
		`{"enable_thinking":true}`:                                                                   {thinking, thinking},
		`{"thinking":{"type":"disabled"}}`:                                                           {content, content},
		`{"thinking":{"type":"enabled"}}`:                                                            {thinking, thinking},
		`{"reasoning_effort":"none"}`:                                                                {content, content},
		`{"reasoning_effort":"low"}`:                                                                 {thinking, thinking},
		`{"reasoning":{"effort":"none"}}`:                                                            {content, content},
		`{"reasoning":{"effort":"low"}}`:                                                             {thinking, thinking},
		`{"think":false}`:                                                                            {content, content},
		`{"think":true}`:                                                                             {thinking, thinking},
		`{"think":"high"}`:                                                                           {thinking, thinking},
		`{"messages":[{"content":"enable_thinking\":false"}]}`:                                       {thinking, content},
	} {
		for i, url := range []string{open, closed} {
			response, err := curl.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(request))
			if err != nil {
				t.Fatal(err)
			}
			stream, err := io.ReadAll(response.Body)
			response.Body.Close()
			if got := said(t, string(stream)); got != want[i] || err != nil {
				t.Errorf("%d, %.80s: %q, %v", i, request, got, err)
			}
		}
	}
}

// The result does not depend on how the server's bytes arrive. A flush does not guarantee a separate read but makes one
// likely.
func TestEverySplit(t *testing.T) {
	whole := spoken + "data: [DONE]\n\n"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var cut int
		fmt.Sscan(r.Header.Get("X-Cut"), &cut)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, whole[:cut])
		w.(http.Flusher).Flush()
		io.WriteString(w, whole[cut:])
	})
	for cut := range whole {
		request, _ := http.NewRequest("POST", url+"/v1/chat/completions", nil)
		request.Header.Set("X-Cut", fmt.Sprint(cut))
		response, err := curl.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || said(t, string(all)) != expected || !strings.HasSuffix(string(all), "data: [DONE]\n\n") {
			t.Fatalf("cut at %d: %v\n%s", cut, err, all)
		}
	}
}

func TestWholeAnswer(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("the server is asked for %q", got)
		}
		body := `{"choices":[{"index":0,"message":{"role":"assistant","content":"<think>\nhm\n</think>\n\nYes."}}]}`
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		io.WriteString(w, body)
	})
	response := ask(t, context.Background(), url)
	body, err := io.ReadAll(response.Body)
	if err != nil || said(t, string(body)) != "hm|Yes." || !strings.Contains(string(body), `"role":"assistant"`) {
		t.Errorf("%v %s", err, body)
	}
	if got := response.Header.Get("Content-Length"); got != "" && got != fmt.Sprint(len(body)) {
		t.Error("Content-Length", got)
	}
}

// The answers of all formats are read, or only of the chosen formats.
func TestFormats(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" && !strings.Contains(r.URL.RawQuery, "passes") {
			t.Errorf("%s: the server is asked for %q", r.URL, got)
		}
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, name := range []string{"ETag", "Content-MD5", "Digest", "Repr-Digest"} {
			w.Header().Set(name, "of the body")
		}
		// An answer is split even if its format differs from that of the path.
		io.WriteString(w, spoken)
	}))
	t.Cleanup(upstream.Close)
	paths := map[string]aside.Formats{
		"/v1/chat/completions": aside.FormatChat,
		"/v1/completions":      aside.FormatCompletions,
		"/v1/responses":        aside.FormatResponses,
		"/v1/messages":         aside.FormatMessages,
		"/api/chat":            aside.FormatOllama,
		"/api/generate":        aside.FormatOllama,
	}
	for _, only := range append([]aside.Formats{aside.FormatAll}, aside.FormatChat, aside.FormatMessages|aside.FormatChat) {
		url := frontWith(t, upstream.URL, "qwen3", starts{}, aside.RewriterOptions{Formats: only})
		for path, format := range paths {
			reads := only&format != 0
			query := ""
			if !reads {
				query = "?passes"
			}
			response, err := curl.Post(url+path+query, "application/json", strings.NewReader(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			stream, err := io.ReadAll(response.Body)
			response.Body.Close()
			got, want := said(t, string(stream)), said(t, spoken)
			if reads {
				want = expected
			}
			if got != want || err != nil {
				t.Errorf("%d, %s: %q, %v", only, path, got, err)
			}
			for _, name := range []string{"ETag", "Content-MD5", "Digest", "Repr-Digest"} {
				if got := response.Header.Get(name); (got == "") != reads {
					t.Errorf("%d, %s: %s: %q", only, path, name, got)
				}
			}
		}
	}
}

// Everything that is not an answer of a format stays unchanged.
func TestOthersPass(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, kind string
		status             int
		compressed         bool
	}{
		"other path":    {"POST", "/v1/embeddings", "application/json", 200, false},
		"tokens":        {"POST", "/v1/messages/count_tokens", "application/json", 200, false},
		"a patch":       {"POST", "/v1/chat/completions", "application/json-patch+json", 200, false},
		"other method":  {"GET", "/v1/chat/completions", "application/json", 200, false},
		"error":         {"POST", "/v1/chat/completions", "application/json", 429, false},
		"other type":    {"POST", "/v1/chat/completions", "text/html", 200, false},
		"no body":       {"POST", "/v1/chat/completions", "application/json", 204, false},
		"models":        {"GET", "/v1/models", "application/json", 200, true},
		"a bad request": {"POST", "/v1/chat/completions", "application/json", 400, false},
	} {
		t.Run(name, func(t *testing.T) {
			body := spoken
			if c.status == 204 {
				body = ""
			}
			if c.compressed {
				var packed strings.Builder
				zip := gzip.NewWriter(&packed)
				io.WriteString(zip, body)
				zip.Close()
				body = packed.String()
			}
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = []string{c.kind}
				if c.compressed {
					w.Header().Set("Content-Encoding", "gzip")
				}
				if c.status != 204 {
					w.Header().Set("Content-Length", fmt.Sprint(len(body)))
				}
				w.WriteHeader(c.status)
				io.WriteString(w, body)
			})
			request, _ := http.NewRequest(c.method, url+c.path, nil)
			response, err := curl.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			got, err := io.ReadAll(response.Body)
			if err != nil || string(got) != body || response.StatusCode != c.status {
				t.Errorf("%v %d %q", err, response.StatusCode, got)
			}
			if c.status != 204 && response.ContentLength != int64(len(body)) {
				t.Error(response.ContentLength)
			}
		})
	}
}

// The answer of a server that compresses without being asked is decompressed; if the server dies meanwhile, the stream does not end
// properly.
func TestCompressed(t *testing.T) {
	for _, dies := range []bool{false, true} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			for _, piece := range strings.SplitAfter(spoken, "\n\n") {
				io.WriteString(zip, piece)
				zip.Flush()
				w.(http.Flusher).Flush()
			}
			if dies {
				panic(http.ErrAbortHandler)
			}
			zip.Close()
		})
		response := ask(t, context.Background(), url)
		body, err := io.ReadAll(response.Body)
		if (err != nil) != dies || said(t, string(body)) != expected || response.Header.Get("Content-Encoding") != "" {
			t.Errorf("%v %v %q", dies, err, body)
		}
	}
}

// A client gets the same without a proxy, through its transport, and its request stays unchanged.
func TestTransport(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, spoken)
	}))
	defer server.Close()
	dialect, err := aside.Find("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &Transport{Options: Options{Dialect: dialect, Rewriter: all}}}
	request, _ := http.NewRequest("POST", server.URL+"/v1/chat/completions", strings.NewReader("{}"))
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || said(t, string(body)) != expected || request.Header.Get("Accept-Encoding") != "" {
		t.Errorf("%v %q %v", err, body, request.Header)
	}
}

// If a server dies, the stream does not end properly. Bytes held back as a possible marker are still sent.
func TestServerDies(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("content", "a")+event("content", "b <thi")+`data: {"choi`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	body, err := io.ReadAll(ask(t, context.Background(), url).Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || said(t, string(body)) != "|ab <thi" {
		t.Errorf("%v %q", err, body)
	}
}

// A server may answer before it has read the whole request; that must cut neither the request nor the answer.
func TestAnswerBeforeTheRequestEnds(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("content", "a"))
		w.(http.Flusher).Flush()
		rest, err := io.ReadAll(r.Body)
		if string(rest) != "{}" || err != nil {
			t.Errorf("%q %v", rest, err)
		}
		io.WriteString(w, event("content", "b"))
	})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	body, rest := io.Pipe()
	defer rest.Close()
	written := make(chan struct{})
	go func() {
		defer close(written)
		io.WriteString(rest, "{")
	}()
	request, _ := http.NewRequestWithContext(ctx, "POST", url+"/v1/chat/completions", body)
	response, err := curl.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	first, err := lines.ReadString('\n')
	if err != nil || said(t, first) != "|a" {
		t.Fatal(first, err)
	}
	<-written
	io.WriteString(rest, "}")
	rest.Close()
	if more, err := io.ReadAll(lines); err != nil || said(t, string(more)) != "|b" {
		t.Errorf("%v\n%s", err, more)
	}
}

// A server may close its connections unread, or answer unread and close: the clients' connections must stay usable.
func TestServerReadsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		status int
	}{
		"closes":  {"", http.StatusBadGateway},
		"refuses": {"HTTP/1.1 401 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			go func() {
				for {
					connection, err := server.Accept()
					if err != nil {
						return
					}
					io.WriteString(connection, c.answer)
					connection.Close()
				}
			}()
			url := front(t, "http://"+server.Addr().String())
			var group sync.WaitGroup
			for range 8 {
				group.Add(1)
				go func() {
					defer group.Done()
					for range 100 {
						response, err := curl.Post(url+"/v1/chat/completions", "application/json", strings.NewReader("{}"))
						if err != nil {
							t.Error(err)
							return
						}
						io.Copy(io.Discard, response.Body)
						response.Body.Close()
						// If the server has closed the connection before the request reached it, the client gets this error.
						if response.StatusCode != c.status && response.StatusCode != http.StatusBadGateway {
							t.Error(response.Status)
						}
					}
				}()
			}
			group.Wait()
		})
	}
}

// A client that waits for permission to send a request's body gets the whole answer without sending it.
func TestClientExpectsToContinue(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	connection, err := net.Dial("tcp", strings.TrimPrefix(front(t, server.URL), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(connection, "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusBadGateway || !response.Close {
		t.Errorf("%v %s %q", err, response.Status, body)
	}
}

// If there is no server, the client still gets an answer, in the shape of the API's errors.
func TestServerIsNotThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	url := front(t, server.URL)
	const message = `"the model's server cannot be reached, or has broken off before its answer"`
	for path, wanted := range map[string]string{
		"/v1/chat/completions": `{"error":{"code":null,"message":` + message + `,"param":null,"type":"server_error"}}`,
		"/v1/messages":         `{"error":{"message":` + message + `,"type":"api_error"},"type":"error"}`,
		"/api/chat":            `{"error":` + message + `}`,
	} {
		response, err := curl.Post(url+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusBadGateway || response.Header.Get("Content-Type") != "application/json" ||
			strings.TrimSpace(string(body)) != wanted {
			t.Errorf("%s: %v %s %s", path, err, response.Status, body)
		}
	}
}

// A client that disconnects ends the server's work.
func TestClientGoesAway(t *testing.T) {
	gone := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, event("content", "a"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, leave := context.WithCancel(context.Background())
	response := ask(t, ctx, url)
	if _, err := io.ReadFull(response.Body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	leave()
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Error("the server works on for nobody")
	}
}

func TestManyAtOnce(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range strings.SplitAfter(spoken, "\n\n") {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	})
	var group sync.WaitGroup
	for range 20 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 5 {
				body, err := io.ReadAll(ask(t, context.Background(), url).Body)
				if err != nil || said(t, string(body)) != expected {
					t.Errorf("%v\n%s", err, body)
				}
			}
		}()
	}
	group.Wait()
}
