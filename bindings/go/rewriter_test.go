package aside_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	aside "aside.example/bindings/go"
)

const events = `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"<think>\nhm` + "é" + `"}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"content":"</think>\n\nYes."}}]}

data: [DONE]

`

const split = `data: {"id":"c1","choices":[{"index":0,"delta":{"reasoning_content":"hm` + "é" + `"}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Yes."}}]}

data: [DONE]

`

func newRewriter(t testing.TB, options *aside.RewriterOptions) *aside.Rewriter {
	t.Helper()
	rewriter, err := aside.NewRewriter(find(t, "qwen3"), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rewriter.Close() })
	return rewriter
}

func rewrite(t testing.TB, rewriter *aside.Rewriter, chunks ...string) string {
	t.Helper()
	var out []byte
	var err error
	for _, chunk := range chunks {
		if out, err = rewriter.Feed(out, []byte(chunk)); err != nil {
			t.Fatal(err)
		}
	}
	if out, err = rewriter.Finish(out); err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRewriter(t *testing.T) {
	rewriter := newRewriter(t, nil)
	for i := range events {
		if got := rewrite(t, rewriter, events[:i], events[i:]); got != split {
			t.Fatalf("cut at %d:\n%s", i, got)
		}
	}
	body := `{"choices":[{"message":{"content":"<think>\nhm\n</think>\n\nYes."}}]}`
	got := rewrite(t, newRewriter(t, &aside.RewriterOptions{Field: aside.FieldReasoning, Body: aside.BodyJSON}), body)
	if got != `{"choices":[{"message":{"reasoning":"hm","content":"Yes."}}]}` &&
		got != `{"choices":[{"message":{"content":"Yes.","reasoning":"hm"}}]}` {
		t.Error(got)
	}
	if got := rewrite(t, newRewriter(t, &aside.RewriterOptions{Off: true}), events); got != events {
		t.Error(got)
	}
	small := newRewriter(t, &aside.RewriterOptions{MaxEvent: 20})
	if got := rewrite(t, small, events); got != events || counted(t, small).TooLong != 2 {
		t.Error(got, counted(t, small).TooLong)
	}
	if small.Reset() != nil || counted(t, small).TooLong != 0 {
		t.Error("Reset")
	}
	// Bytes that were fed before are dropped.
	if out, err := rewriter.Feed(nil, []byte(events[:50])); err != nil || rewriter.Reset() != nil {
		t.Error(string(out), err)
	}
	if got := rewrite(t, rewriter, events); got != split {
		t.Error(got)
	}
}

func TestRewriterCalls(t *testing.T) {
	const call = `<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>`
	const body = `{"id":"c1","choices":[{"message":{"content":"<think>hm` + call + `"},"finish_reason":"stop"}]}`
	const told = `{"id":"c1","choices":[{"message":{"reasoning_content":"hm","content":null,"tool_calls":[{"id":"call_c1_0_0",` +
		`"type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]},"finish_reason":"tool_calls"}]}`
	const text = `{"id":"c1","choices":[{"message":{"reasoning_content":"hm","content":"` + call + `"},"finish_reason":"stop"}]}`
	const thought = `{"id":"c1","choices":[{"message":{"reasoning_content":"hm` + call + `","content":""},"finish_reason":"stop"}]}`
	dialect := loadDialect(t, "calls-tags.toml")
	newCalls := func(options aside.RewriterOptions) *aside.Rewriter {
		options.Calls = true
		rewriter, err := aside.NewRewriter(dialect, &options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { rewriter.Close() })
		return rewriter
	}
	check := func(rewriter *aside.Rewriter, wanted string) {
		t.Helper()
		if got := rewrite(t, rewriter, body[:60], body[60:]); got != wanted {
			t.Error(got)
		}
	}
	check(newCalls(aside.RewriterOptions{}), told)
	// A region whose tool name does not arrive soon enough stays in the text.
	const chunk = `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"` + call + `"}}]}` + "\n\n"
	if got := rewrite(t, newCalls(aside.RewriterOptions{MaxHeld: 4}), chunk); got != chunk {
		t.Error(got)
	}
	check(newCalls(aside.RewriterOptions{CallsInThinking: aside.CallsInThinkingNever}), thought)
	rewriter := newCalls(aside.RewriterOptions{Tools: []byte("[]")})
	check(rewriter, text)
	if err := rewriter.UseTools([]byte(`[{"name": "f"}]`)); err != nil {
		t.Error(err)
	}
	check(rewriter, told)
	check(rewriter, text) // its own tools are restored
	if err := rewriter.UseTools(nil); err != nil {
		t.Error(err)
	}
	check(rewriter, told)
	if err := rewriter.UseTools([]byte{}); !errors.Is(err, aside.ErrOption) || !strings.Contains(err.Error(), "tools: not JSON") {
		t.Error(err)
	}
	if _, err := aside.NewRewriter(dialect, &aside.RewriterOptions{Tools: []byte("{}")}); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
	limited, err := aside.NewRewriter(dialect, &aside.RewriterOptions{Tools: []byte("[]"), MaxTools: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := limited.UseTools([]byte("[ ]")); !errors.Is(err, aside.ErrOption) || !strings.Contains(err.Error(), "3 bytes, more than 2") {
		t.Error(err)
	}
	if _, err := rewriter.Feed(nil, []byte("{")); err != nil {
		t.Error(err)
	}
	if err := rewriter.UseTools(nil); !errors.Is(err, aside.ErrOrder) {
		t.Error(err)
	}
}

func TestRewriterPolicies(t *testing.T) {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	body := func(content string) string {
		return `{"id":"c1","choices":[{"message":{"content":"` + strings.ReplaceAll(content, `"`, `\"`) + `"},"finish_reason":"stop"}]}`
	}
	called := func(name string) string {
		return `{"id":"c1","choices":[{"message":{"content":null,"tool_calls":[{"id":"call_c1_0_0","type":"function","function":{"name":"` +
			name + `","arguments":"{\"x\":1}"}}]},"finish_reason":"tool_calls"}]}`
	}
	const call = `{"name":"f","arguments":{"x":1}}`
	const tagged = "<tool_call>" + call + "</tool_call>"
	for _, test := range []struct {
		options aside.RewriterOptions
		in, out string
	}{
		{aside.RewriterOptions{}, body(tagged), called("f")},
		{aside.RewriterOptions{Tools: []byte("[]"), UnknownTool: aside.UnknownToolDrop}, body(tagged), body("")},
		{aside.RewriterOptions{Tools: []byte("[]"), UnknownTool: aside.UnknownToolTell, MaxCalls: 1}, body(tagged), called("f")},
		{aside.RewriterOptions{Start: aside.StartCalls}, body("[" + call + "]"), called("f")},
		{aside.RewriterOptions{StartCall: "g"}, body(`{"x":1}`), called("g")},
		{aside.RewriterOptions{NotWhole: aside.NotWholeHold, ImpliedEnd: aside.ImpliedEndOff, RepairArguments: true}, body(tagged), called("f")},
	} {
		test.options.Calls = true
		rewriter, err := aside.NewRewriter(dialect, &test.options)
		if err != nil {
			t.Fatal(err)
		}
		if got := rewrite(t, rewriter, test.in); got != test.out {
			t.Errorf("%+v: %s, not %s", test.options, got, test.out)
		}
		rewriter.Close()
	}
	if _, err := aside.NewRewriter(dialect, &aside.RewriterOptions{UnknownTool: 3}); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
}

func TestRewriterMisuse(t *testing.T) {
	for _, options := range []aside.RewriterOptions{{Field: 9}, {Body: 9}, {Start: aside.StartHeader}} {
		if _, err := aside.NewRewriter(find(t, "qwen3"), &options); !errors.Is(err, aside.ErrOption) {
			t.Error(options, err)
		}
	}
	if _, err := aside.NewRewriter(nil, nil); !isNilDialect(err) {
		t.Error(err)
	}
	rewriter := newRewriter(t, nil)
	if rewriter.Close() != nil || rewriter.Close() != nil {
		t.Error("Close")
	}
	dst, feed := rewriter.Feed([]byte("dst"), []byte("a"))
	_, finish := rewriter.Finish(nil)
	for _, err := range []error{feed, finish, rewriter.Reset()} {
		if err != aside.ErrClosed || string(dst) != "dst" {
			t.Error(err)
		}
	}
}

func ExampleRewriter() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		fmt.Println(err)
		return
	}
	rewriter, err := aside.NewRewriter(dialect, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rewriter.Close()
	var out []byte // to be sent after each Feed
	for _, read := range []string{
		`data: {"choices":[{"index":0,"delta":{"content":"<thi`, "nk>\\nhm\"}}]}\n\n",
		`data: {"choices":[{"index":0,"delta":{"content":"</think>\n\nYes."}}]}` + "\n\n",
	} {
		if out, err = rewriter.Feed(out, []byte(read)); err != nil {
			fmt.Println(err)
		}
	}
	if out, err = rewriter.Finish(out); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s", bytes.TrimSpace(out))
	// Output:
	// data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}
	//
	// data: {"choices":[{"index":0,"delta":{"content":"Yes."}}]}
}

func TestRewriterStarts(t *testing.T) {
	const in = "data: {\"choices\":[{\"delta\":{\"content\":\"hm\"}},{\"delta\":{\"content\":\"hm\"},\"index\":7}]}\n\n"
	thinking := strings.ReplaceAll(in, "content", "reasoning_content")
	rewriter, err := aside.NewRewriter(find(t, "qwen3"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rewriter.Close()
	other := find(t, "qwen3-thinking")
	for name, set := range map[string]func() error{
		"by hand":   func() error { return rewriter.UseDialect(nil, aside.StartThinking) },
		"a dialect": func() error { return rewriter.UseDialect(other, aside.StartDefault) },
		"its start": func() error { return rewriter.UseDialect(find(t, "inline-think"), aside.StartThinking) },
		"back to it": func() error {
			return errors.Join(rewriter.UseDialect(other, aside.StartContent), rewriter.UseDialect(other, aside.StartDefault))
		},
		"after prompt": func() error {
			start, err := rewriter.StartFromPrompt("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n")
			if start != aside.StartThinking {
				t.Error(start)
			}
			return err
		},
	} {
		if err := set(); err != nil {
			t.Error(name, err)
		}
		if got := rewrite(t, rewriter, in); got != thinking {
			t.Errorf("%s: %s", name, got)
		}
		if got := rewrite(t, rewriter, in); got != in {
			t.Errorf("after %s: %s", name, got)
		}
	}
	if start, err := rewriter.StartFromPrompt(""); start != aside.StartContent || err != nil {
		t.Error(start, err)
	}

	calls := func(want error) {
		t.Helper()
		_, prompt := rewriter.StartFromPrompt("")
		for _, err := range []error{prompt, rewriter.UseDialect(nil, aside.StartContent), rewriter.UseDialect(other, aside.StartDefault)} {
			if !errors.Is(err, want) {
				t.Error(err)
			}
		}
	}
	if _, err := rewriter.Feed(nil, []byte("\n")); err != nil {
		t.Error(err)
	}
	calls(aside.ErrOrder)
	if err := rewriter.Reset(); err != nil {
		t.Error(err)
	}
	for _, err := range []error{rewriter.UseDialect(nil, aside.StartHeader), rewriter.UseDialect(nil, 99), rewriter.UseDialect(other, aside.StartHeader)} {
		if !errors.Is(err, aside.ErrOption) {
			t.Error(err)
		}
	}
	rewriter.Close()
	calls(aside.ErrClosed)
}

func TestRewriterSaysWhatIsEncoded(t *testing.T) {
	rewriter, err := aside.NewRewriter(find(t, "qwen3"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rewriter.Close()
	const gzip = "\x1f\x8b\x08\x00"
	if got := rewrite(t, rewriter, gzip); got != gzip || !counted(t, rewriter).Encoded {
		t.Errorf("%q", got)
	}
	if rewrite(t, rewriter, "data: 1\n\n"); counted(t, rewriter).Encoded {
		t.Error("text is encoded")
	}
}

// counted returns a rewriter's counts.
func counted(t *testing.T, rewriter *aside.Rewriter) aside.Stats {
	t.Helper()
	stats, err := rewriter.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return stats
}
