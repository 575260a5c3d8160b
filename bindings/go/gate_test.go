package aside_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	aside "aside.example/bindings/go"
)

func TestWants(t *testing.T) {
	chat := aside.Exchange{Status: 200, Path: "/v1/chat/completions?x", ContentType: "text/event-stream; charset=utf-8"}
	with := func(change func(r *aside.Exchange)) aside.Exchange {
		r := chat
		change(&r)
		return r
	}
	for _, test := range []struct {
		exchange aside.Exchange
		formats  aside.Formats
		wanted   aside.Body
	}{
		{chat, aside.FormatAll, aside.BodyEvents},
		{chat, 0, aside.BodyEvents},
		{chat, aside.FormatChat | aside.FormatOllama, aside.BodyEvents},
		{chat, aside.FormatCompletions, 0},
		{chat, 64, 0},
		{with(func(r *aside.Exchange) { r.Status = 404 }), aside.FormatAll, 0},
		{with(func(r *aside.Exchange) { r.Status = 200 - 1<<32 }), aside.FormatAll, 0},
		{with(func(r *aside.Exchange) { r.Path = "" }), aside.FormatMessages, aside.BodyEvents},
		{with(func(r *aside.Exchange) { r.Path = "/v1/messages/count_tokens" }), aside.FormatAll, 0},
		{with(func(r *aside.Exchange) { r.ContentType = "application/json" }), aside.FormatChat, aside.BodyJSON},
		{with(func(r *aside.Exchange) { r.ContentType = "application/jsonl" }), aside.FormatChat, aside.BodyLines},
		{with(func(r *aside.Exchange) { r.ContentType = "" }), aside.FormatChat, aside.BodyJSON},
		{with(func(r *aside.Exchange) { r.ContentType = "text/html" }), aside.FormatChat, 0},
		{with(func(r *aside.Exchange) { r.ContentEncoding = " Identity" }), aside.FormatChat, aside.BodyEvents},
		{with(func(r *aside.Exchange) { r.ContentEncoding = "br" }), aside.FormatChat, 0},
	} {
		test.exchange.Formats = test.formats
		body, ok := aside.Wants(test.exchange)
		if body != test.wanted || ok != (test.wanted != 0) {
			t.Errorf("%+v: %v %v", test.exchange, body, ok)
		}
	}
}

func TestRequestHint(t *testing.T) {
	if hint, ok := aside.RequestHint(aside.Exchange{Path: "/v1/responses", Method: "POST"}); hint != aside.HintIdentity || !ok {
		t.Error(hint, ok)
	}
	for _, test := range []struct {
		path, method string
		formats      aside.Formats
	}{
		{"/v1/responses", "POST", aside.FormatChat},
		{"/v1/responses", "GET", aside.FormatAll},
		{"/v1/responses", "POST", 64},
		{"/v1/models", "POST", aside.FormatAll},
	} {
		if hint, ok := aside.RequestHint(aside.Exchange{Path: test.path, Method: test.method, Formats: test.formats}); ok {
			t.Error(test, hint)
		}
	}
}

func TestRequestModel(t *testing.T) {
	long := fmt.Sprintf(`{"model":"%01025d"}`, 7)
	for _, test := range []struct {
		body, model string
		known       bool
	}{
		{`{"a":[1],"model":"Qwen\/Qwen3","b`, "Qwen/Qwen3", true},
		{`{"a":[1],"mod`, "", false},
		{``, "", false},
		{`{"model":7}`, "", true},
		{`[`, "", true},
		{long, "", true},
		{long[:10] + long[11:], long[11 : len(long)-2], true},
	} {
		if model, known := aside.RequestModel([]byte(test.body)); model != test.model || known != test.known {
			t.Errorf("%s: %q %v", test.body, model, known)
		}
	}
}

func TestStats(t *testing.T) {
	rewriter := newRewriter(t, nil)
	rewrite(t, rewriter, events, "data: {\"candidates\":[]}\n\n")
	if _, err := rewriter.Feed(nil, []byte("data")); err != nil {
		t.Fatal(err)
	}
	wanted := aside.Stats{Events: 4, Changed: 2, Unread: 1, ThinkingBytes: 4, ContentBytes: 4, Held: 4}
	if stats, err := rewriter.Stats(); stats != wanted || err != nil {
		t.Errorf("%+v %v", stats, err)
	}
	if err := rewriter.Reset(); err != nil {
		t.Fatal(err)
	}
	if stats, err := rewriter.Stats(); stats != (aside.Stats{}) || err != nil {
		t.Errorf("%+v %v", stats, err)
	}
	rewriter.Close()
	if _, err := rewriter.Stats(); !errors.Is(err, aside.ErrClosed) {
		t.Error(err)
	}
}

func TestFormatsAndSwitches(t *testing.T) {
	for _, options := range []aside.RewriterOptions{
		{Formats: aside.FormatAll},
		{Formats: aside.FormatAll, ResponsesAs: aside.ResponsesAsSummary},
		{Repair: true},
		{PromoteEmpty: true},
	} {
		if got := rewrite(t, newRewriter(t, &options), events); got != split {
			t.Errorf("%+v: %s", options, got)
		}
	}
	if got := rewrite(t, newRewriter(t, &aside.RewriterOptions{Formats: aside.FormatOllama}), events); got != events {
		t.Error(got)
	}
	if got := rewrite(t, newRewriter(t, &aside.RewriterOptions{Comments: aside.CommentsDrop}), ": a\n\n"+events); got != split {
		t.Error(got)
	}
	for _, options := range []aside.RewriterOptions{{Formats: 32}, {ResponsesAs: 2}, {Comments: 3}, {Body: aside.BodyLines + 1}} {
		if _, err := aside.NewRewriter(find(t, "qwen3"), &options); !errors.Is(err, aside.ErrOption) {
			t.Errorf("%+v: %v", options, err)
		}
	}
}

func TestOneShape(t *testing.T) {
	const server = `{"choices":[{"message":{"thinking":"A","content":[{"type":"text","text":"Hi."}]}}]}`
	for _, test := range []struct {
		options aside.RewriterOptions
		want    string
	}{
		{aside.RewriterOptions{}, server},
		{aside.RewriterOptions{Normalise: aside.ShapeAll}, `{"choices":[{"message":{"reasoning_content":"A","content":"Hi."}}]}`},
		{
			aside.RewriterOptions{Normalise: aside.ShapeLists, Thinking: aside.ThinkingDrop},
			`{"choices":[{"message":{"content":"Hi."}}]}`,
		},
	} {
		if got := rewrite(t, newRewriter(t, &test.options), server); got != test.want {
			t.Errorf("%+v: %s", test.options, got)
		}
	}
	const text = `{"type":"message","content":[{"type":"text","text":"<think>a</think>b"}]}`
	if got := rewrite(t, newRewriter(t, &aside.RewriterOptions{Label: true}), text); !strings.Contains(got, `"aside:1:`) {
		t.Error(got)
	}
	for _, options := range []aside.RewriterOptions{{Normalise: 32}, {Thinking: 3}} {
		if _, err := aside.NewRewriter(find(t, "qwen3"), &options); !errors.Is(err, aside.ErrOption) {
			t.Errorf("%+v: %v", options, err)
		}
	}
}

func ExampleReadRequest() {
	exchange := aside.Exchange{Path: "/v1/messages"}
	request := aside.ReadRequest(exchange, []byte(`{"model":"m","messages":[]}`))
	fmt.Println(request.Thinks, request.Thinking, string(request.Tools))
	request = aside.ReadRequest(exchange, []byte(`{"model":"m","thinking":{"type":"adaptive"},"tools":[{"name":"f"}]}`))
	fmt.Println(request.Thinks, request.Thinking, string(request.Tools))
	// Output:
	// unknown drop []
	// on keep [{"name":"f"}]
}

func ExampleWants() {
	exchange := aside.Exchange{Status: 200, Path: "/v1/messages", ContentType: "text/event-stream"}
	body, ok := aside.Wants(exchange)
	fmt.Println(body == aside.BodyEvents, ok)
	exchange.Path = "/v1/messages/count_tokens"
	_, ok = aside.Wants(exchange)
	fmt.Println(ok)
	// Output:
	// true true
	// false
}

func ExampleRewriter_Stats() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		panic(err)
	}
	rewriter, err := aside.NewRewriter(dialect, &aside.RewriterOptions{Formats: aside.FormatAll})
	if err != nil {
		panic(err)
	}
	defer rewriter.Close()
	answer := `data: {"choices":[{"index":0,"delta":{"content":"<think>Twice 21.</think>It is 42."}}]}` + "\n\n"
	if _, err := rewriter.Feed(nil, []byte(answer)); err != nil {
		panic(err)
	}
	stats, err := rewriter.Stats()
	fmt.Println(stats.ThinkingBytes, stats.ContentBytes, err)
	// Output: 9 9 <nil>
}
