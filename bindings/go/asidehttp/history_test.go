package asidehttp

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	aside "aside.example/bindings/go"
)

// arrived is a request in the form in which the server receives it.
type arrived struct {
	body   string
	length int64
	header http.Header
}

// recorder runs a handler with the history of a server, and returns its address, and a function that returns each request that the
// server receives.
func recorder(t *testing.T, server string) (string, func() arrived) {
	t.Helper()
	requests := make(chan arrived, 1)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		requests <- arrived{string(body), r.ContentLength, r.Header}
	}))
	t.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	dialect, err := aside.Find("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	history, err := FindHistory(server)
	if err != nil {
		t.Fatal(err)
	}
	gateway := httptest.NewServer(NewHandler(target, nil, Options{Dialect: dialect, Rewriter: all, History: history}))
	t.Cleanup(gateway.Close)
	return gateway.URL, func() arrived { return <-requests }
}

func TestHistoryIsRewritten(t *testing.T) {
	address, next := recorder(t, "vllm")
	const in = `{"messages":[{"role":"assistant","content":"b","reasoning_content":"a"}], "n": 1e0}`
	const out = `{"messages":[{"role":"assistant","content":"b","reasoning":"a"}], "n": 1e0}`
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	io.WriteString(zip, in)
	zip.Close()
	long := `{"messages":[{"role":"assistant","content":"` + strings.Repeat("long ", mostHeld/5) + `","reasoning_content":"a"}]}`
	for _, test := range []struct {
		path, body, encoding, want string
		chunked                    bool
	}{
		{path: "/v1/chat/completions", body: in, want: out},
		{path: "/v1/chat/completions?x=1", body: in, want: out, chunked: true},
		{path: "/v1/chat/completions", body: in, encoding: "identity", want: out},
		{path: "/v1/chat/completions", body: zipped.String(), encoding: "gzip", want: zipped.String()},
		{path: "/v1/chat/completions", body: "not JSON", want: "not JSON"},
		{path: "/v1/chat/completions", body: "", want: ""},
		{path: "/v1/chat/completions", body: long, want: long},
		{path: "/v1/embeddings", body: in, want: in},
	} {
		var body io.Reader = strings.NewReader(test.body)
		if test.chunked {
			body = io.MultiReader(body)
		}
		request, err := http.NewRequest("POST", address+test.path, body)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-MD5", "x")
		if test.encoding != "" {
			request.Header.Set("Content-Encoding", test.encoding)
		}
		response, err := curl.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		got := next()
		name := fmt.Sprintf("%s, %.40q", test.path, test.body)
		if got.body != test.want {
			t.Errorf("%s: %.80q", name, got.body)
		}
		if isNew := test.want == out; got.length != int64(len(test.want)) || isNew != (got.header.Get("Content-MD5") == "") {
			t.Errorf("%s: %d bytes, Content-MD5 %q", name, got.length, got.header.Get("Content-MD5"))
		}
	}
}

func TestUnknownServer(t *testing.T) {
	if _, err := FindHistory("vlm"); err == nil || !strings.Contains(err.Error(), "the nearest is vllm") {
		t.Error(err)
	}
}
