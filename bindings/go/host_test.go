package aside_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	aside "aside.example/bindings/go"
)

const special = "name = \"special\"\n[[span]]\nchannel = \"thinking\"\nfamily = \"plain\"\nopen = [\"<think>\", \"<hm>\"]\n" +
	"close = [\"</think>\"]\nspecial = true\n"

func load(t testing.TB, toml string) *aside.Dialect {
	t.Helper()
	dialect, err := aside.Load(toml)
	if err != nil {
		t.Fatal(err)
	}
	return dialect
}

func scannerOf(t testing.TB, dialect *aside.Dialect, options *aside.ScannerOptions) *aside.Scanner {
	t.Helper()
	scanner, err := aside.NewScanner(dialect, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scanner.Close() })
	return scanner
}

func feed(t testing.TB, scanner *aside.Scanner, chunk string, yield func(aside.Event) bool) {
	t.Helper()
	if n, err := scanner.Feed([]byte(chunk), yield); n != len(chunk) || err != nil {
		t.Fatal(n, err)
	}
}

// spans writes the spans of a recorder as text: "(" and the number of the channel for each opening, ")" and the number of the
// cause for each end, "!" for a budget, "<" for a reclassification.
func spans(r *recorder) string {
	var said strings.Builder
	for _, event := range r.events {
		switch event.Kind {
		case aside.KindOpen:
			fmt.Fprintf(&said, "(%d", event.Channel)
		case aside.KindClose:
			fmt.Fprintf(&said, ")%d", event.Cause)
		case aside.KindBudget:
			said.WriteByte('!')
		case aside.KindReclassify:
			said.WriteByte('<')
		}
	}
	return said.String()
}

func TestFindForModel(t *testing.T) {
	for model, name := range map[string]string{"unsloth/Qwen3-32B-GGUF:Q4_K_M": "qwen3", "gpt-oss:20b": "harmony"} {
		if dialect, err := aside.FindForModel(model); err != nil || dialect.Name() != name {
			t.Error(model, dialect, err)
		}
	}
	for _, model := range []string{"", "gpt-4o", "\xff\x00"} {
		if dialect, err := aside.FindForModel(model); dialect != nil || !errors.Is(err, aside.ErrUnknown) {
			t.Errorf("%q: %v", model, err)
		}
	}
}

func TestStartOfAModel(t *testing.T) {
	for model, start := range map[string]aside.Start{
		"moonshotai/Kimi-K2.5": aside.StartThinking, "kimi-k2": aside.StartContent, "gpt-oss:20b": aside.StartHeader,
	} {
		dialect, err := aside.FindForModel(model)
		if err != nil || dialect.Start() != start {
			t.Error(model, dialect, err)
		}
		dialect.Close()
		if dialect.Start() != aside.StartDefault {
			t.Error(model, "closed")
		}
	}
	if _, err := aside.FindForModel("qwen3.9"); err == nil || !strings.Contains(err.Error(), "its elder qwen3.8 writes qwen3-thinking") {
		t.Error(err)
	}
}

func TestPreload(t *testing.T) {
	if err := errors.Join(aside.Preload("qwen3", "gpt-oss"), aside.Preload()); err != nil {
		t.Error(err)
	}
	for _, names := range [][]string{{"qwen3", "qwne3"}, {""}, {"qwen3 harmony"}} {
		if err := aside.Preload(names...); !errors.Is(err, aside.ErrUnknown) {
			t.Error(names, err)
		}
	}
}

func TestFindForTemplate(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("../../tests/templates", name+".jinja"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, want := range map[string]aside.Start{
		"qwen3": aside.StartContent, "deepseek-r1": aside.StartThinking, "harmony": aside.StartHeader,
	} {
		if dialect, start, err := aside.FindForTemplate(read(name)); err != nil || dialect.Name() != name || start != want {
			t.Error(name, dialect, start, err)
		}
	}
	dialect, start, err := aside.FindForTemplate("{{ '[unused16]◁think▷' }}")
	var ambiguous *aside.AmbiguousError
	if dialect != nil || start != aside.StartDefault || !errors.Is(err, aside.ErrAmbiguous) || !errors.As(err, &ambiguous) {
		t.Fatal(dialect, start, err)
	}
	if all := strings.Join(ambiguous.Candidates, ", "); all != "kimi-vl, openpangu" || !strings.HasSuffix(err.Error(), all) {
		t.Error(all, err)
	}
	for _, text := range []string{"", "plain", read("no-marker")} {
		dialect, _, err := aside.FindForTemplate(text)
		var ambiguous *aside.AmbiguousError
		if dialect != nil || !errors.Is(err, aside.ErrUnknown) || errors.As(err, &ambiguous) {
			t.Error(dialect, err)
		}
	}
}

func TestOpeners(t *testing.T) {
	dialect := load(t, special)
	var open aside.Event
	r := scan(t, scannerOf(t, dialect, nil), []byte("<hm>"))
	if open = r.events[0].Event; open.Kind != aside.KindOpen {
		t.Fatal(r)
	}
	if dialect.Family(open.Rule) != "plain" || dialect.Opener(open.Rule, open.Tag) != "<hm>" {
		t.Error(dialect.Family(open.Rule), dialect.Opener(open.Rule, open.Tag))
	}
	if dialect.Opener(0, 2) != "" || dialect.Opener(1, 0) != "" || dialect.Family(1) != "" {
		t.Error("openers that are not there")
	}
	dialect.Close()
	if dialect.Opener(0, 0) != "" || dialect.Family(0) != "" {
		t.Error("openers of a closed dialect")
	}
	// A NUL is an ordinary byte.
	nul := load(t, "name = 'nul'\n[[span]]\nfamily = \"f\\u0000g\"\nchannel = 'thinking'\nopen = [\"<a\\u0000>\"]\nclose = ['</a>']")
	if nul.Opener(0, 0) != "<a\x00>" || nul.Family(0) != "f\x00g" {
		t.Errorf("%q %q", nul.Opener(0, 0), nul.Family(0))
	}
}

func TestStartFromPrompt(t *testing.T) {
	const prompt = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>"
	scanner := newScanner(t, "qwen3")
	if start, err := scanner.StartFromPrompt(prompt); start != aside.StartThinking || err != nil {
		t.Fatal(start, err)
	}
	r := &recorder{t: t}
	feed(t, scanner, "\nhm\n</think>", r.yield)
	if _, err := scanner.StartFromPrompt(prompt); !errors.Is(err, aside.ErrOrder) {
		t.Error(err)
	}
	feed(t, scanner, "\n\nYes.", r.yield)
	err := scanner.Finish(r.yield)
	if err != nil || string(r.text(aside.ChannelThinking)) != "hm" || string(r.text(aside.ChannelContent)) != "Yes." {
		t.Error(err, r)
	}
	// The next stream has the scanner's own start again.
	if r := scan(t, scanner, []byte("hm")); string(r.text(aside.ChannelContent)) != "hm" {
		t.Error(r)
	}
	if start, err := scanner.StartFromPrompt(""); start != aside.StartContent || err != nil {
		t.Error(start, err)
	}
	// The prompt holds the first part of a marker; the stream's bytes are the rest only.
	scanner = newScanner(t, "think")
	for _, size := range []int{1, 3, 100} {
		if _, err := scanner.StartFromPrompt("<|im_start|>assistant\n<th"); err != nil {
			t.Fatal(err)
		}
		var chunks [][]byte
		for text := []byte("ink>hm</think>"); len(text) > 0; text = text[min(size, len(text)):] {
			chunks = append(chunks, text[:min(size, len(text))])
		}
		if r := scan(t, scanner, chunks...); string(r.text(aside.ChannelThinking)) != "hm" || len(r.text(aside.ChannelContent)) != 0 {
			t.Error(size, r)
		}
	}
}

func TestBudget(t *testing.T) {
	text := []byte("<think>\u00e9\u00e9x</think>a<think>bc</think>")
	for _, c := range []struct {
		budget aside.Budget
		want   string
	}{
		{aside.Budget{Limit: 5}, "(1)0(1)0"},
		{aside.Budget{Limit: 4}, "(1!)0(1)0"},
		{aside.Budget{Limit: 1, Unit: aside.BudgetUnitCharacters}, "(1!)0(1!)0"},
		{aside.Budget{Limit: 4, Unit: aside.BudgetUnitCharacters, Scope: aside.BudgetScopeStream}, "(1)0(1!)0"},
		{aside.Budget{Scope: aside.BudgetScopeStream}, "(1!)0(1)0"},
	} {
		scanner := scannerOf(t, find(t, "thinking-tags"), &aside.ScannerOptions{Budget: &c.budget})
		for i := range text {
			if got := spans(scan(t, scanner, text[:i], text[i:])); got != c.want {
				t.Errorf("%+v, cut at %d: %s, wanted %s", c.budget, i, got, c.want)
			}
		}
	}
	for _, budget := range []aside.Budget{{Unit: 2}, {Scope: 2}} {
		if _, err := aside.NewScanner(find(t, "qwen3"), &aside.ScannerOptions{Budget: &budget}); !errors.Is(err, aside.ErrOption) {
			t.Error(budget, err)
		}
	}
}

func TestReclassify(t *testing.T) {
	dialect := load(t, "name = \"late\"\nstray_close = \"reclassify\"\n"+
		"[[span]]\nchannel = \"thinking\"\nopen = [\"<think>\"]\nclose = [\"</think>\"]\n")
	scanner := scannerOf(t, dialect, nil)
	r := scan(t, scanner, []byte("hm</thi"), []byte("nk>yes"))
	if spans(r) != "<" {
		t.Error(r)
	}
	thinking, err := scanner.Counts(aside.ChannelThinking)
	if err != nil || thinking != (aside.Counts{Bytes: 2, Characters: 2, Spans: 1}) {
		t.Error(thinking, err)
	}
}

func TestStrayClose(t *testing.T) {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	r := scan(t, scannerOf(t, dialect, &aside.ScannerOptions{StrayClose: aside.StrayCloseText}), []byte("a</thi"), []byte("nk>b"))
	if text := string(r.text(aside.ChannelContent)); text != "a</think>b" {
		t.Error(text)
	}
	r = scan(t, scannerOf(t, dialect, &aside.ScannerOptions{StrayClose: aside.StrayCloseDrop}), []byte("a</thi"), []byte("nk>b"))
	if text := string(r.text(aside.ChannelContent)); text != "ab" {
		t.Error(text)
	}
	rewriter, err := aside.NewRewriter(dialect, &aside.RewriterOptions{StrayClose: aside.StrayCloseText})
	if err != nil {
		t.Fatal(err)
	}
	const chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a</think>b\"}}]}\n\n"
	for what, set := range map[string]func() error{
		"as it is":  func() error { return nil },
		"a start":   func() error { return rewriter.UseDialect(nil, aside.StartContent) },
		"a dialect": func() error { return rewriter.UseDialect(find(t, "glm-4.5"), aside.StartDefault) },
		"a prompt": func() error {
			_, err := rewriter.StartFromPrompt("<|im_start|>assistant\n<think>\n\n</think>\n\n")
			return err
		},
	} {
		if err := set(); err != nil {
			t.Fatal(what, err)
		}
		out, err := rewriter.Feed(nil, []byte(chunk))
		if err != nil {
			t.Fatal(what, err)
		}
		if out, err = rewriter.Finish(out); err != nil || string(out) != chunk {
			t.Errorf("%s: %q %v", what, out, err)
		}
	}
	if _, err := aside.NewScanner(dialect, &aside.ScannerOptions{StrayClose: 3}); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
	if _, err := aside.NewRewriter(dialect, &aside.RewriterOptions{StrayClose: 3}); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
}

func TestForceClose(t *testing.T) {
	for _, pause := range []bool{false, true} {
		scanner := newScanner(t, "inline-think")
		r := &recorder{t: t}
		feed(t, scanner, "<think>ab</thi", r.yield)
		if scanner.Held() != 5 {
			t.Error(scanner.Held())
		}
		seen := -1
		for seen != len(r.events) {
			seen = len(r.events)
			if err := scanner.ForceClose(func(event aside.Event) bool { return r.yield(event) && !pause }); err != nil {
				t.Fatal(err)
			}
		}
		feed(t, scanner, " </think>c", r.yield)
		if err := scanner.Finish(r.yield); err != nil {
			t.Fatal(err)
		}
		if spans(r) != "(1)3" || string(r.text(aside.ChannelThinking)) != "ab</thi" || string(r.text(aside.ChannelContent)) != " c" {
			t.Error(r)
		}
		// No span is open, so nothing happens.
		if err := scanner.ForceClose(func(event aside.Event) bool { t.Error(event); return true }); err != nil {
			t.Error(err)
		}
	}
}

func TestFeedTokens(t *testing.T) {
	dialect := load(t, special)
	scanner := scannerOf(t, dialect, nil)
	r := &recorder{t: t}
	chunk := []byte("a <think>b<think>c")
	tokens := []aside.Token{{Len: 2}, {Len: 3}, {}, {Len: 4}, {Len: 1}, {Len: 7, Special: true}, {Len: 1}}
	for at, rest := 0, tokens; len(rest) > 0; rest = rest[1:] {
		end := at + int(rest[0].Len)
		if n, err := scanner.FeedTokens(chunk[at:end], rest[:1], r.yield); n != end-at || err != nil {
			t.Fatal(n, err)
		}
		at = end
	}
	content, err := scanner.Counts(aside.ChannelContent)
	if string(r.text(aside.ChannelContent)) != "a <think>b" || string(r.text(aside.ChannelThinking)) != "c" || err != nil ||
		content != (aside.Counts{Bytes: 10, Characters: 10, Tokens: 4}) {
		t.Error(r, content, err)
	}
	var tokenCounts []uint32
	for _, event := range r.events {
		tokenCounts = append(tokenCounts, event.Tokens)
	}
	if fmt.Sprint(tokenCounts) != "[4 1 1]" || r.tokens != 6 {
		t.Error(tokenCounts, r.tokens)
	}
	// In bytes without tokens no token begins, and the count continues after them.
	feed(t, scanner, "de", r.yield)
	if _, err := scanner.FeedTokens([]byte("f"), []aside.Token{{Len: 1}}, r.yield); err != nil || r.tokens != 7 {
		t.Error(r, err)
	}
	never := func(event aside.Event) bool { t.Error(event); return true }
	for _, wrong := range [][]aside.Token{nil, {{Len: 1}}, {{Len: 3}}, {{Len: 1 << 31}, {Len: 1 << 31}}} {
		if n, err := scanner.FeedTokens([]byte("ab"), wrong, never); n != 0 || !errors.Is(err, aside.ErrLength) {
			t.Error(wrong, n, err)
		}
	}
	if n, err := scanner.FeedTokens(nil, nil, never); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// There are more events than one call into C returns, and pauses: each token counts once, and a special token that is cut
// stays special.
func TestFeedTokensGoesOn(t *testing.T) {
	dialect := load(t, special)
	var chunk []byte
	var tokens []aside.Token
	for range 50 {
		for _, token := range []string{"a b", "<think>", "<think>", "c", "</think>", ""} {
			chunk = append(chunk, token...)
			tokens = append(tokens, aside.Token{Len: uint32(len(token)), Special: strings.HasPrefix(token, "<")})
		}
	}
	want, counts := "", [2]aside.Counts{}
	for _, every := range []int{0, 1, 2, 31, 33} {
		scanner := scannerOf(t, dialect, nil)
		r := &recorder{t: t}
		seen := 0
		yield := func(event aside.Event) bool {
			r.yield(event)
			seen++
			return every == 0 || seen%every != 0
		}
		rest, left := chunk, append([]aside.Token(nil), tokens...)
		for before := -1; len(rest) > 0 || before != seen; {
			before = seen
			n, err := scanner.FeedTokens(rest, left, yield)
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
			for n > 0 {
				part := min(n, int(left[0].Len))
				n -= part
				if left[0].Len -= uint32(part); left[0].Len == 0 {
					left = left[1:]
				}
			}
		}
		if !bytes.Equal(r.stream, chunk) {
			t.Fatalf("%q", r.stream)
		}
		content, err := scanner.Counts(aside.ChannelContent)
		if err != nil {
			t.Fatal(err)
		}
		thinking, err := scanner.Counts(aside.ChannelThinking)
		if err != nil {
			t.Fatal(err)
		}
		if every == 0 {
			want, counts = r.String(), [2]aside.Counts{content, thinking}
			if content.Tokens != 50 || content.Spans != 0 || thinking.Spans != 50 {
				t.Error(counts)
			}
		} else if got := r.String(); got != want || counts != [2]aside.Counts{content, thinking} {
			t.Errorf("paused after %d: %+v %+v, wanted %+v\n%s\nwanted\n%s", every, content, thinking, counts, got, want)
		}
	}
}

func TestCountsMisuse(t *testing.T) {
	scanner := newScanner(t, "qwen3")
	if counts, err := scanner.Counts(4); !errors.Is(err, aside.ErrRange) || counts != (aside.Counts{}) {
		t.Error(counts, err)
	}
}

func TestClone(t *testing.T) {
	first := newScanner(t, "inline-think")
	r := &recorder{t: t}
	feed(t, first, "<think>a</th", r.yield)
	clone := func(s *aside.Scanner, seen *recorder) (*aside.Scanner, *recorder) {
		second, err := s.Clone()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { second.Close() })
		other := &recorder{t: t, stream: bytes.Clone(seen.stream), tokens: seen.tokens}
		for _, event := range seen.events {
			event.Text = bytes.Clone(event.Text)
			other.events = append(other.events, event)
		}
		return second, other
	}
	second, other := clone(first, r)
	feed(t, first, "ink>b", r.yield)
	if err := first.Finish(r.yield); err != nil || first.Close() != nil {
		t.Error(err)
	}
	feed(t, second, "is</think>c", other.yield)
	if err := second.Finish(other.yield); err != nil {
		t.Error(err)
	}
	if string(r.text(aside.ChannelThinking)) != "a" || string(r.text(aside.ChannelContent)) != "b" ||
		string(other.text(aside.ChannelThinking)) != "a</this" || string(other.text(aside.ChannelContent)) != "c" {
		t.Errorf("%s\n%s", r, other)
	}

	// After each pause, with pending events.
	var resets sync.WaitGroup
	defer resets.Wait()
	want := scan(t, streamScanner(t), text).String()
	for pause := 1; pause < 60; pause++ {
		first := streamScanner(t)
		r := &recorder{t: t}
		once := func(event aside.Event) bool { return r.yield(event) && len(r.events) < pause }
		n, err := first.Feed(text, once)
		if err != nil {
			t.Fatal(err)
		}
		second, other := clone(first, r)
		resets.Add(1)
		go func() { // The race detector checks the data that they share.
			defer resets.Done()
			first.Reset()
		}()
		if _, err := second.Feed(text[n:], other.yield); err != nil {
			t.Fatal(err)
		}
		if err := second.Finish(other.yield); err != nil || other.String() != want {
			t.Fatalf("cloned after %d events: %v\n%s\nwanted\n%s", pause, err, other, want)
		}
	}

	// During a finish, and with bytes that All has read and not fed.
	first = streamScanner(t)
	r = &recorder{t: t}
	for event := range first.All(bytes.NewReader(text)) {
		r.yield(event)
		break
	}
	second, other = clone(first, r)
	for event, err := range second.All(strings.NewReader("")) {
		if err != nil {
			t.Fatal(err)
		}
		other.yield(event)
	}
	if other.String() != want {
		t.Errorf("%s\nwanted\n%s", other, want)
	}
}

func TestCallsFromYieldAndClosed(t *testing.T) {
	scanner := streamScanner(t)
	calls := func(want error) {
		never := func(aside.Event) bool { t.Error("an event"); return true }
		_, tokens := scanner.FeedTokens([]byte("x"), []aside.Token{{Len: 1}}, never)
		_, start := scanner.StartFromPrompt("x")
		_, counts := scanner.Counts(aside.ChannelContent)
		clone, cloned := scanner.Clone()
		for _, err := range []error{tokens, start, counts, cloned, scanner.ForceClose(never)} {
			if !errors.Is(err, want) || clone != nil {
				t.Error(err)
			}
		}
	}
	feed(t, scanner, "abc", func(aside.Event) bool { calls(aside.ErrBusy); return true })
	if err := scanner.Close(); err != nil {
		t.Error(err)
	}
	calls(aside.ErrClosed)
}

func TestJoin(t *testing.T) {
	qwen := find(t, "qwen3")
	for _, c := range []struct {
		start   aside.Start
		markers aside.Markers
		parts   [2]string
		want    string
	}{
		{aside.StartDefault, aside.MarkersRefuse, [2]string{"hm", "Yes."}, "<think>\nhm\n</think>\n\nYes."},
		{aside.StartThinking, aside.MarkersRefuse, [2]string{"hm", "Yes."}, "hm\n</think>\n\nYes."},
		{aside.StartDefault, aside.MarkersRefuse, [2]string{"", ""}, ""},
		{aside.StartDefault, aside.MarkersRefuse, [2]string{"a\x00\xff", "\n\xf0\x9f"}, "<think>\na\x00\xff\n</think>\n\n\n\xf0\x9f"},
		{aside.StartDefault, aside.MarkersEscape, [2]string{"a</think>", "b"}, "<think>\na<\u200b/think>\n</think>\n\nb"},
	} {
		text, err := aside.Join(qwen, c.parts[0], c.parts[1], &aside.JoinOptions{Start: c.start, Markers: c.markers})
		if text != c.want || err != nil {
			t.Errorf("%q: %q, %v", c.parts, text, err)
		}
		if c.markers == aside.MarkersRefuse {
			r := scan(t, scannerOf(t, qwen, &aside.ScannerOptions{Start: c.start}), []byte(text))
			if string(r.text(aside.ChannelThinking)) != c.parts[0] || string(r.text(aside.ChannelContent)) != c.parts[1] {
				t.Errorf("%q: %s", c.parts, r)
			}
		}
	}
	_, err := aside.Join(qwen, "ab</think>", "c", nil)
	if !errors.Is(err, aside.ErrJoin) || !strings.Contains(err.Error(), "byte 2 of it") {
		t.Error(err)
	}
	for _, wrong := range []func() (string, error){
		func() (string, error) { return aside.Join(qwen, "", "", &aside.JoinOptions{Start: 99}) },
		func() (string, error) { return aside.Join(qwen, "", "", &aside.JoinOptions{Markers: 9}) },
	} {
		if _, err := wrong(); !errors.Is(err, aside.ErrOption) {
			t.Error(err)
		}
	}
	if _, err := aside.Join(nil, "", "", nil); !isNilDialect(err) {
		t.Error(err)
	}
}

func TestEscape(t *testing.T) {
	const escaped = "a <\u200bthink> b"
	for _, c := range [][2]string{{"a <think> b", escaped}, {escaped, escaped}, {"", ""}, {"\x00\xff", "\x00\xff"}} {
		if text, err := aside.Escape(find(t, "qwen3"), c[0]); text != c[1] || err != nil {
			t.Errorf("%q: %q, %v", c[0], text, err)
		}
	}
	single := load(t, "name = \"m\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"(\"]\nclose = [\")\"]\n")
	if _, err := aside.Escape(single, "a"); !errors.Is(err, aside.ErrJoin) {
		t.Error(err)
	}
	single.Close()
	if _, err := aside.Escape(single, "a"); err != aside.ErrClosed {
		t.Error(err)
	}
}

func TestEndReason(t *testing.T) {
	dialect := find(t, "qwen3-thinking")
	s := scannerOf(t, dialect, nil)
	if start, guessed, err := s.Start(); start != aside.StartThinking || !guessed || err != nil {
		t.Error(start, guessed, err)
	}
	if err := s.SetEndReason(aside.EndReasonEnded); err != nil {
		t.Fatal(err)
	}
	if r := scan(t, s, []byte("Ye"), []byte("s.")); spans(r) != "(1<)2" {
		t.Error(spans(r))
	}
	if counts, err := s.Counts(aside.ChannelContent); counts.Bytes != 4 || err != nil {
		t.Error(counts, err)
	}
	if r := scan(t, s, []byte("Yes.")); spans(r) != "(1)2" {
		t.Error("Finish has not forgotten the reason: ", spans(r))
	}
	if err := s.SetEndReason(3); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
	if _, err := s.StartFromPrompt("<think>\n"); err != nil {
		t.Fatal(err)
	}
	if _, guessed, err := s.Start(); guessed || err != nil {
		t.Error(guessed, err)
	}
	const body = `{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`
	for _, keep := range []bool{false, true} {
		rewriter, err := aside.NewRewriter(dialect, &aside.RewriterOptions{KeepGuessed: keep})
		if err != nil {
			t.Fatal(err)
		}
		out, err := rewriter.Feed(nil, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if out, err = rewriter.Finish(out); err != nil || (string(out) == body) == keep {
			t.Errorf("%q %v", out, err)
		}
	}
}
