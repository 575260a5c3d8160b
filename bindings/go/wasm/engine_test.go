package aside

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// A trap in one stream ends all streams of its instance, and existing dialects make new streams in the next instance.
func TestTrap(t *testing.T) {
	dialect, err := Find("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	own, err := Load("name = 'own'\nspan = [{ channel = 'thinking', open = ['<think>'], close = ['</think>'] }]")
	if err != nil {
		t.Fatal(err)
	}
	yield := func(Event) bool { return true }
	for range 3 {
		scanner, err := NewScanner(dialect, nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := NewScanner(own, nil)
		if err != nil {
			t.Fatal(err)
		}
		rewriter, err := NewRewriter(dialect, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := NewAnswer(dialect, nil)
		if err != nil {
			t.Fatal(err)
		}
		// A text that is longer than the window: the module panics.
		ended := current
		ended.mu.Lock()
		_, err = ended.enter(ended.feed, scanner.number, 0, uint64(ended.windowSize)+1)
		ended.mu.Unlock()
		if !errors.Is(err, ErrDefect) || !strings.Contains(err.Error(), "unreachable") {
			t.Fatal(err)
		}
		_, ofScanner := scanner.Feed([]byte("a"), yield)
		ofOther := other.Finish(yield)
		_, ofRewriter := rewriter.Feed(nil, []byte("data: {}\n\n"))
		_, ofAnswer := answer.Feed([]byte("a"))
		for _, err := range []error{ofScanner, ofOther, ofRewriter, ofAnswer} {
			if !errors.Is(err, ErrDefect) || !strings.Contains(err.Error(), "by this object or by another one") {
				t.Error(err)
			}
		}
		for _, err := range []error{scanner.Close(), other.Close(), rewriter.Close(), answer.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
		for _, dialect := range []*Dialect{dialect, own} {
			if text, err := Strip(dialect, "<think>hm</think>Yes."); text != "Yes." || err != nil {
				t.Error(text, err)
			}
			made, err := NewScanner(dialect, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := made.Close(); err != nil {
				t.Error(err)
			}
		}
		if family := dialect.Family(0); family == "" {
			t.Error("no family")
		}
		if current == ended {
			t.Error("the instance has not ended")
		}
	}
}

// Texts that are longer than the window are passed in pieces.
func TestLongTexts(t *testing.T) {
	dialect, err := Find("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("雪, 1 < 2. ", 30_000)
	text := "<think>\n" + long + "</think>\n\n" + long
	scanner, err := NewScanner(dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer scanner.Close()
	var stream, content bytes.Buffer
	take := func(event Event) bool {
		stream.Write(event.Text)
		if event.Kind == KindText && event.Channel == ChannelContent {
			content.Write(event.Text)
		}
		return true
	}
	// After a pause, the scanner continues where it stopped, in whichever piece that is.
	rest := []byte(text)
	for calls := 0; len(rest) > 0; calls++ {
		n, err := scanner.Feed(rest, func(event Event) bool { take(event); return calls%2 == 1 })
		if err != nil || n == 0 && calls%2 == 1 {
			t.Fatal(n, err)
		}
		rest = rest[n:]
	}
	if err := scanner.Finish(take); err != nil {
		t.Fatal(err)
	}
	if stream.String() != text || content.String() != long {
		t.Error(stream.Len(), content.Len())
	}
	if stripped, err := Strip(dialect, text); stripped != strings.TrimSpace(long) || err != nil {
		t.Error(len(stripped), err)
	}
	answer, err := NewAnswer(dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	parts, err := answer.Feed([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	last, err := answer.Finish(EndReasonEnded)
	var answered string
	for _, part := range append(parts, last...) {
		if part.Kind == PartKindContent {
			answered += part.Text
		}
	}
	if answered != long || err != nil {
		t.Error(len(answered), err)
	}
	rewriter, err := NewRewriter(dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rewriter.Close()
	body := `{"choices":[{"message":{"content":"` + strings.ReplaceAll(text, "\n", `\n`) + `"}}]}`
	out, err := rewriter.Feed(nil, []byte(body))
	if err == nil {
		out, err = rewriter.Finish(out)
	}
	if want := `{"choices":[{"message":{"reasoning_content":"` + long + `","content":"` + long + `"}}]}`; string(out) != want || err != nil {
		t.Error(len(out), len(want), err)
	}
}
