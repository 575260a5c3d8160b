package aside

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// After a trap, existing objects fail, and dialects that were found before make new objects.
func TestTrap(t *testing.T) {
	dialect, err := Find("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := NewScanner(dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	current.mu.Lock()
	current.trap = errors.New("unreachable")
	current.mu.Unlock()
	if _, err := scanner.Feed([]byte("a"), func(Event) bool { return true }); !errors.Is(err, ErrDefect) || !strings.Contains(err.Error(), "unreachable") {
		t.Error(err)
	}
	if err := scanner.Close(); err != nil {
		t.Error(err)
	}
	if text, err := Strip(dialect, "<think>hm</think>Yes."); text != "Yes." || err != nil {
		t.Error(text, err)
	}
	if _, err := NewScanner(dialect, nil); err != nil {
		t.Error(err)
	}
	if family := dialect.Family(0); family == "" {
		t.Error("no family")
	}
}

// Texts that are longer than the window go in pieces.
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
	// After a pause, the scanner continues where it stopped, in any piece.
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
