package aside_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	aside "aside.example/bindings/go"
)

// together runs each of several functions many times, each on its own goroutine.
func together(work ...func()) {
	var wait sync.WaitGroup
	for _, work := range work {
		for range 2 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for range 200 {
					work()
				}
			}()
		}
	}
	wait.Wait()
}

// may fails the test if a call returns an error other than the allowed ones.
func may(t *testing.T, err error, allowed ...error) {
	t.Helper()
	if err == nil {
		return
	}
	for _, allowed := range append(allowed, aside.ErrBusy) {
		if errors.Is(err, allowed) {
			return
		}
	}
	t.Error(err)
}

// Calls from many goroutines: each has its whole effect or is refused.
func TestOneScannerOfManyGoroutines(t *testing.T) {
	scanner := newScanner(t, "inline-think")
	var got, fed int // only by admitted calls, which exclude each other
	yield := func(event aside.Event) bool {
		got += len(event.Text)
		return true
	}
	feed := func(text string) func() {
		return func() {
			var mine int
			n, err := scanner.Feed([]byte(text), func(event aside.Event) bool { mine += len(event.Text); return true })
			if err == nil && n != len(text) {
				t.Error(n)
			}
			may(t, err, aside.ErrOrder)
		}
	}
	together(
		feed("a b"), feed("<think>so</think>"), feed("<thi"), feed(strings.Repeat("long ", 100)),
		func() {
			_, err := scanner.FeedTokens([]byte("ab"), []aside.Token{{Len: 1}, {Len: 1}}, func(aside.Event) bool { return true })
			may(t, err, aside.ErrOrder)
		},
		func() { may(t, scanner.Flush(func(aside.Event) bool { return true })) },
		func() { may(t, scanner.ForceClose(func(aside.Event) bool { return true })) },
		func() { may(t, scanner.Finish(func(aside.Event) bool { return true })) },
		func() { may(t, scanner.Reset()) },
		func() { _, err := scanner.StartFromPrompt("<think>"); may(t, err, aside.ErrOrder) },
		func() { _, err := scanner.Counts(aside.ChannelThinking); may(t, err) },
		func() { _, _, err := scanner.TakeThought(); may(t, err) },
		func() {
			clone, err := scanner.Clone()
			if may(t, err); err == nil {
				may(t, clone.Close())
			}
		},
		func() {
			for _, err := range scanner.All(strings.NewReader("<think>a</think>b")) {
				may(t, err)
			}
		},
		func() {
			if scanner.Offset() < 0 || scanner.Held() > scanner.MaxHold() || scanner.Consumed() < 0 {
				t.Error("numbers")
			}
		},
	)
	if err := scanner.Reset(); err != nil {
		t.Fatal("left busy:", err)
	}

	// Everything that was admitted has been read.
	let := make(chan int, 1000)
	together(func() {
		if n, err := scanner.Feed([]byte("abc "), yield); err == nil {
			let <- n
		} else {
			may(t, err)
		}
	})
	close(let)
	for n := range let {
		fed += n
	}
	if fed == 0 || got != fed || scanner.Offset() != int64(fed) {
		t.Error(fed, got, scanner.Offset())
	}

	// Close is also refused or has its whole effect.
	together(
		func() {
			_, err := scanner.Feed([]byte("<think>a</think>"), func(aside.Event) bool { return true })
			may(t, err, aside.ErrClosed)
		},
		func() { may(t, scanner.Close()) },
		func() { may(t, scanner.Reset(), aside.ErrClosed) },
		func() { scanner.Offset(); scanner.Held(); scanner.MaxHold() },
	)
	if err := scanner.Close(); err != nil || scanner.Offset() != 0 || scanner.MaxHold() != 0 {
		t.Error(err)
	}
	if _, err := scanner.Feed(nil, nil); err != aside.ErrClosed {
		t.Error(err)
	}
}

// While a yield function runs, other goroutines are refused, and can read the scanner's position.
func TestAScannerThatIsBusyElsewhere(t *testing.T) {
	scanner := newScanner(t, "inline-think")
	for _, first := range []string{"<think>abc<", "ab"} { // through an array of events, and as plain text
		if err := scanner.Reset(); err != nil {
			t.Fatal(err)
		}
		asked := false
		n, err := scanner.Feed([]byte(first), func(aside.Event) bool {
			if asked {
				return true
			}
			asked = true
			done := make(chan struct{})
			go func() {
				defer close(done)
				never := func(aside.Event) bool { t.Error("an event"); return true }
				_, feed := scanner.Feed([]byte("x"), never)
				_, tokens := scanner.FeedTokens([]byte("x"), []aside.Token{{Len: 1}}, never)
				_, clone := scanner.Clone()
				_, start := scanner.StartFromPrompt("x")
				_, counts := scanner.Counts(aside.ChannelContent)
				_, _, thought := scanner.TakeThought()
				for i, err := range []error{
					feed, tokens, clone, start, counts, thought, scanner.Finish(never), scanner.Flush(never),
					scanner.ForceClose(never), scanner.Reset(), scanner.Close(),
				} {
					if err != aside.ErrBusy {
						t.Error(i, err)
					}
				}
				for _, err := range scanner.All(strings.NewReader("x")) {
					if err != aside.ErrBusy {
						t.Error(err)
					}
				}
				if scanner.Offset() != int64(len(first)) || scanner.MaxHold() != 7 || scanner.Held() != strings.Count(first[1:], "<") {
					t.Error(scanner.Offset(), scanner.MaxHold(), scanner.Held())
				}
			}()
			<-done
			return true
		})
		if n != len(first) || err != nil || !asked {
			t.Error(n, err)
		}
	}
}

func TestOneRewriterOfManyGoroutines(t *testing.T) {
	dialect := find(t, "qwen3")
	rewriter, err := aside.NewRewriter(dialect, &aside.RewriterOptions{MaxEvent: 100})
	if err != nil {
		t.Fatal(err)
	}
	events := []byte("data: {\"choices\":[{\"delta\":{\"content\":\"<think>hm\"}}]}\n\n" + "data: " + strings.Repeat("x", 200) + "\n\n")
	calls := func(closed ...error) []func() {
		return []func(){
			func() {
				dst, err := rewriter.Feed([]byte("dst"), events)
				if may(t, err, closed...); !bytes.HasPrefix(dst, []byte("dst")) {
					t.Errorf("%q", dst)
				}
			},
			func() { _, err := rewriter.Finish(nil); may(t, err, closed...) },
			func() { may(t, rewriter.Reset(), closed...) },
			func() { may(t, rewriter.UseDialect(nil, aside.StartThinking), append(closed, aside.ErrOrder)...) },
			func() { may(t, rewriter.UseDialect(dialect, aside.StartDefault), append(closed, aside.ErrOrder)...) },
			func() { _, err := rewriter.StartFromPrompt("<think>"); may(t, err, append(closed, aside.ErrOrder)...) },
		}
	}
	together(calls()...)
	if err := rewriter.Reset(); err != nil {
		t.Fatal(err)
	}
	together(append(calls(aside.ErrClosed), func() { may(t, rewriter.Close()) })...)
	if err := rewriter.Close(); err != nil {
		t.Error(err)
	}
}

func TestOneDialectOfManyGoroutines(t *testing.T) {
	dialect, err := aside.Load("name = 'x'\nspan = [{ channel = 'thinking', open = ['<think>'], close = ['</think>'] }]")
	if err != nil {
		t.Fatal(err)
	}
	rewriter, err := aside.NewRewriter(dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rewriter.Close()
	use := func() {
		if scanner, err := aside.NewScanner(dialect, nil); err == nil {
			may(t, scanner.Close())
		} else {
			may(t, err, aside.ErrClosed)
		}
		if text, err := aside.Strip(dialect, "<think>a</think>b"); err == nil && text != "b" {
			t.Error(text)
		} else {
			may(t, err, aside.ErrClosed)
		}
		may(t, rewriter.UseDialect(dialect, aside.StartDefault), aside.ErrClosed)
		if name := dialect.Name(); name != "x" && name != "" {
			t.Error(name)
		}
		dialect.MaxHold()
		dialect.Family(0)
		dialect.Opener(0, 0)
	}
	together(use)
	if dialect.Name() != "x" {
		t.Error("closed")
	}
	together(use, func() { may(t, dialect.Close()) })
	if err := dialect.Close(); err != nil || dialect.Name() != "" || dialect.MaxHold() != 0 {
		t.Error(err)
	}
}

func TestOneSplitterOfManyGoroutines(t *testing.T) {
	var splitter *aside.Splitter
	var content bytes.Buffer
	inside := writerFunc(func(p []byte) (int, error) {
		if _, err := splitter.Write([]byte("x")); err != aside.ErrBusy {
			t.Error(err)
		}
		if err := splitter.Close(); err != aside.ErrBusy {
			t.Error(err)
		}
		return content.Write(p)
	})
	splitter, err := aside.NewSplitter(find(t, "qwen3"), inside, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	together(func() { _, err := splitter.Write([]byte("ab ")); may(t, err) })
	if err := splitter.Close(); err != nil || content.Len() == 0 || strings.Trim(content.String(), "ab ") != "" {
		t.Error(err, content.Len())
	}
}

// The errors of objects that no function has made, and of objects that were closed. Both modules have the same sentences.
func TestObjectsThatAreNotThere(t *testing.T) {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := scanner.Close(); err != nil {
		t.Fatal(err)
	}
	feed := func(s *aside.Scanner) error { return s.Reset() }
	read := func(a *aside.Answer) error { return a.Reset() }
	rewrite := func(w *aside.Rewriter) error { return w.Reset() }
	split := func(sp *aside.Splitter) error { _, err := sp.Write([]byte("a")); return err }
	strip := func(d *aside.Dialect) error { _, err := aside.Strip(d, "a"); return err }
	const none, zero = "aside: the object is nil", "aside: the object is a zero value: make it with the function New of its type"
	for _, test := range []struct {
		err    error
		status aside.Status
		text   string
	}{
		{feed(nil), aside.ErrNull, none},
		{read(nil), aside.ErrNull, none},
		{rewrite(nil), aside.ErrNull, none},
		{(*aside.Scanner)(nil).Close(), aside.ErrNull, none},
		{split(nil), aside.ErrNull, none},
		{(*aside.Splitter)(nil).Close(), aside.ErrNull, none},
		{(*aside.Dialect)(nil).Close(), aside.ErrNull, "aside: the dialect is nil"},
		{feed(&aside.Scanner{}), aside.ErrNull, zero},
		{read(&aside.Answer{}), aside.ErrNull, zero},
		{rewrite(&aside.Rewriter{}), aside.ErrNull, zero},
		{split(&aside.Splitter{}), aside.ErrNull, zero},
		{new(aside.Splitter).Close(), aside.ErrNull, zero},
		{strip(&aside.Dialect{}), aside.ErrNull, zero},
		{new(aside.AmbiguousError), aside.ErrAmbiguous, aside.ErrAmbiguous.Error()},
		{feed(scanner), aside.ErrClosed, "aside: used after Close"},
		{aside.ErrUnknown, aside.ErrUnknown, "aside: no such dialect"},
		{aside.ErrOrder, aside.ErrOrder, "aside: a call in the wrong order"},
		{aside.ErrMemory, aside.ErrMemory, "aside: out of memory"},
		{aside.ErrDefect, aside.ErrDefect, "aside: the library has a defect, and this handle met it"},
	} {
		if !errors.Is(test.err, test.status) || test.err.Error() != test.text {
			t.Errorf("%v, and not %s", test.err, test.text)
		}
	}
	for _, s := range []*aside.Scanner{nil, {}, scanner} {
		if s.Offset() != 0 || s.Held() != 0 || s.MaxHold() != 0 || s.Consumed() != 0 {
			t.Errorf("%p has a number that is not 0", s)
		}
	}
	for _, d := range []*aside.Dialect{nil, {}} {
		if d.Name() != "" || d.Start() != aside.StartDefault || d.MaxHold() != 0 || d.Family(0) != "" || d.Opener(0, 0) != "" {
			t.Errorf("%p is a dialect", d)
		}
	}
	if err := errors.Join(new(aside.Dialect).Close(), new(aside.Scanner).Close(), new(aside.Answer).Close(), new(aside.Rewriter).Close()); err != nil {
		t.Error(err)
	}
	for value, text := range map[interface{ String() string }]string{
		aside.FormatChat | aside.FormatOllama: "chat,ollama", aside.FormatAll: "all", aside.Formats(0): "none",
		aside.Formats(1 << 9): "512", aside.ShapeLists: "lists",
	} {
		if value.String() != text {
			t.Errorf("%s, and not %s", value, text)
		}
	}
}
