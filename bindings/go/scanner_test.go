package aside_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	aside "aside.example/bindings/go"
)

// A text with more events than fit into the array of one call into C, with attributes, with spans across cuts, and with
// an end inside a span.
var text = []byte(strings.Repeat("a<thinking thought=\"A &amp; B\" thought_type='plan'>é</thinking>b<", 20) + "<thinking>end")

func streamScanner(t testing.TB) *aside.Scanner {
	return newScanner(t, "thought-stream")
}

func TestDialectNames(t *testing.T) {
	names := aside.DialectNames()
	if len(names) < 10 {
		t.Fatal(names)
	}
	for _, name := range names {
		if dialect := find(t, name); dialect.Name() != name || dialect.MaxHold() < 3 {
			t.Error(name, dialect.Name(), dialect.MaxHold())
		}
	}
	for _, name := range []string{"", "qwen33", "qwen3\x00", "\xff"} {
		if dialect, err := aside.Find(name); dialect != nil || !errors.Is(err, aside.ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := aside.Find("qwen33"); !strings.Contains(err.Error(), "qwen3,") {
		t.Errorf("the nearest name is missing: %v", err)
	}
	if aside.Version() == "" {
		t.Error("no version")
	}
}

const own = "name = \"own\"\nstart = \"content\"\n\n[[span]]\nchannel = \"thinking\"\nopen = [\"[[\"]\nclose = [\"]]\"]\n"

func TestLoad(t *testing.T) {
	dialect, err := aside.Load(own)
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer scanner.Close()
	if dialect.Name() != "own" || dialect.Close() != nil || dialect.Close() != nil {
		t.Error(dialect.Name())
	}
	got := scan(t, scanner, []byte("a[[b"), []byte("]]c"))
	if string(got.text(aside.ChannelContent)) != "ac" || string(got.text(aside.ChannelThinking)) != "b" {
		t.Error(got)
	}

	if dialect.Name() != "" || dialect.MaxHold() != 0 {
		t.Error("a closed dialect has a name")
	}
	if _, err := aside.NewScanner(dialect, nil); err != aside.ErrClosed {
		t.Error(err)
	}
	if _, err := aside.Strip(dialect, "a"); err != aside.ErrClosed {
		t.Error(err)
	}
	for _, bad := range []string{"", "name", "colour = 1\n" + own} {
		if _, err := aside.Load(bad); !errors.Is(err, aside.ErrDialect) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := aside.Load("colour = 1\n" + own); !strings.Contains(err.Error(), "colour") {
		t.Error("the message names no key:", err)
	}
	builtIn := find(t, "qwen3")
	if builtIn.Close() != nil || find(t, "qwen3").Name() != "qwen3" {
		t.Error("a built-in dialect was freed")
	}
}

func TestOptions(t *testing.T) {
	for _, start := range []aside.Start{aside.StartHeader, 99} {
		if _, err := aside.NewScanner(find(t, "qwen3"), &aside.ScannerOptions{Start: start}); !errors.Is(err, aside.ErrOption) {
			t.Error(start, err)
		}
	}
	scanner, err := aside.NewScanner(find(t, "qwen3"), &aside.ScannerOptions{Start: aside.StartThinking, Collect: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer scanner.Close()
	scan(t, scanner, []byte("Twice 21</think>42"))
	thought, ok, err := scanner.TakeThought()
	if !ok || err != nil || string(thought.Text) != "Twic" || !thought.Truncated || thought.Cause != aside.CauseMarker {
		t.Error(thought, ok, err)
	}
	if _, ok, err := scanner.TakeThought(); ok || err != nil {
		t.Error("a thought twice", err)
	}
}

func TestThoughts(t *testing.T) {
	scanner, err := aside.NewScanner(find(t, "thought-stream"), &aside.ScannerOptions{Collect: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer scanner.Close()
	scan(t, scanner, []byte(`a<thinking thought="A" thought_type="plan" confidence="0.25" x="&lt;">B</thinking>c`))
	thought, ok, err := scanner.TakeThought()
	want := []aside.ThoughtAttribute{{"thought", "A"}, {"thought_type", "plan"}, {"confidence", "0.25"}, {"x", "<"}}
	if !ok || err != nil || thought.Offset != 1 || *thought.Type != "plan" || *thought.Confidence != 0.25 {
		t.Error(thought, ok, err)
	}
	if fmt.Sprint(thought.Attributes) != fmt.Sprint(want) {
		t.Error(thought.Attributes)
	}
}

func TestLostThoughts(t *testing.T) {
	scanner := scannerOf(t, find(t, "inline-think"), &aside.ScannerOptions{Collect: 1 << 20})
	scan(t, scanner, bytes.Repeat([]byte("<think>a</think>"), 1030))
	thinking, err := scanner.Counts(aside.ChannelThinking)
	if err != nil || thinking.LostThoughts != 6 || thinking.Spans != 1030 {
		t.Error(thinking, err)
	}
	if content, err := scanner.Counts(aside.ChannelContent); err != nil || content.LostThoughts != 0 {
		t.Error(content, err)
	}
}

func TestStrip(t *testing.T) {
	for _, c := range [][2]string{{"", ""}, {"<think>Twice 21</think>\n\n42.\n", "42."}, {"a\x00b", "a\x00b"}, {"<think>", ""}} {
		if out, err := aside.Strip(find(t, "qwen3"), c[0]); out != c[1] || err != nil {
			t.Errorf("%q: %q, %v", c[0], out, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	scanner := newScanner(t, "inline-think")
	if scanner.MaxHold() != 7 || scanner.Held() != 0 || scanner.Offset() != 0 {
		t.Error(scanner.MaxHold(), scanner.Held(), scanner.Offset())
	}
	r := &recorder{t: t}
	if n, err := scanner.Feed([]byte("<thi"), r.yield); n != 4 || err != nil {
		t.Error(n, err)
	}
	if scanner.Held() != 4 || scanner.Offset() != 4 || scanner.Consumed() != 4 || len(r.events) != 0 {
		t.Error(scanner.Held(), scanner.Offset(), r)
	}
	if err := scanner.Flush(r.yield); err != nil || string(r.text(aside.ChannelContent)) != "<thi" {
		t.Error(err, r)
	}
	if _, err := scanner.Feed([]byte("<"), r.yield); err != nil || scanner.Reset() != nil || scanner.Offset() != 0 {
		t.Error("reset", err, scanner.Offset())
	}
}

// Held bytes and chunk are joined correctly for every way to cut a stream: recorder.yield compares offsets and bytes.
func TestEverySplitInTwoAndThree(t *testing.T) {
	scanner := streamScanner(t)
	short := text[:150]
	want := scan(t, scanner, short).String()
	for i := range short {
		for j := i; j < len(short); j++ {
			if got := scan(t, scanner, short[:i], short[i:j], short[j:]).String(); got != want {
				t.Fatalf("cut at %d and %d:\n%s\nwanted\n%s", i, j, got, want)
			}
		}
	}
}

// Every pause is tried. After each, the chunk is overwritten, like a reader's buffer, and the rest is fed again.
func TestPauses(t *testing.T) {
	want := scan(t, streamScanner(t), text).String()
	for _, every := range []int{1, 2, 3, 31, 32, 33} {
		for _, size := range []int{1, 7, len(text)} {
			scanner := streamScanner(t)
			r := &recorder{t: t}
			seen := 0
			yield := func(event aside.Event) bool {
				r.yield(event)
				seen++
				return seen%every != 0
			}
			// again calls again if the last call was paused by its last event.
			again := func(before int) bool { return seen > before && seen%every == 0 }
			for at := 0; at < len(text); {
				chunk := bytes.Clone(text[at:min(at+size, len(text))])
				before := seen
				n, err := scanner.Feed(chunk, yield)
				if err != nil || n != len(chunk) && !again(before) || n != scanner.Consumed() {
					t.Fatal(n, err)
				}
				clear(chunk)
				at += n
			}
			for before := -1; again(before) || before < 0; {
				before = seen
				if err := scanner.Finish(yield); err != nil {
					t.Fatal(err)
				}
				if again(before) {
					if _, err := scanner.Feed([]byte("a"), yield); !errors.Is(err, aside.ErrOrder) {
						t.Fatal("a feed after a paused finish:", err)
					}
				}
			}
			if got := r.String(); got != want || !bytes.Equal(r.stream, text) {
				t.Fatalf("paused after %d, chunks of %d:\n%s\nwanted\n%s", every, size, got, want)
			}
			if scan(t, scanner, text).String() != want {
				t.Fatal("the scanner is not as new")
			}
		}
	}
}

func TestFlushAndResetBehindAPause(t *testing.T) {
	scanner := streamScanner(t)
	r := &recorder{t: t}
	once := func(event aside.Event) bool { r.yield(event); return false }
	n, err := scanner.Feed(text[:100], once)
	if err != nil || len(r.events) != 1 {
		t.Fatal(n, err, r)
	}
	if err := scanner.Flush(r.yield); err != nil || !bytes.Equal(r.stream, text[:n]) {
		t.Fatalf("%v: %q", err, r.stream)
	}
	if err := scanner.Reset(); err != nil {
		t.Fatal(err)
	}
	if _, err := scanner.Feed(text[:100], func(aside.Event) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if err := scanner.Reset(); err != nil {
		t.Fatal(err)
	}
	scan(t, scanner, text)
}

// A panic in yield passes through Feed. The event of that yield counts as delivered, and nothing is lost or repeated.
func TestPanicInYield(t *testing.T) {
	want := scan(t, streamScanner(t), text).String()
	scanner := streamScanner(t)
	r := &recorder{t: t}
	seen := 0
	yield := func(event aside.Event) bool {
		r.yield(event)
		if seen++; seen%5 == 0 {
			panic("yield")
		}
		return true
	}
	panics := 0
	try := func(call func() error) (paused bool) {
		defer func() {
			if said := recover(); said != nil {
				if said != "yield" {
					panic(said)
				}
				paused = true
				panics++
			}
		}()
		if err := call(); err != nil {
			t.Fatal(err)
		}
		return false
	}
	for at := 0; at < len(text); {
		chunk := bytes.Clone(text[at:min(at+50, len(text))])
		try(func() error { _, err := scanner.Feed(chunk, yield); return err })
		clear(chunk)
		at += scanner.Consumed()
	}
	for try(func() error { return scanner.Finish(yield) }) {
	}
	if r.String() != want || panics < 10 {
		t.Fatalf("%d panics:\n%s\nwanted\n%s", panics, r, want)
	}

	// runtime.Goexit acts like a panic.
	done := make(chan struct{})
	go func() {
		defer close(done)
		scanner.Feed([]byte("a"), func(aside.Event) bool { runtime.Goexit(); return true })
	}()
	<-done
	if err := scanner.Reset(); err != nil {
		t.Error("the scanner is left busy:", err)
	}
}

func TestCallsFromYield(t *testing.T) {
	scanner := streamScanner(t)
	other := streamScanner(t)
	calls := 0
	n, err := scanner.Feed([]byte("abc"), func(event aside.Event) bool {
		calls++
		never := func(aside.Event) bool { t.Error("an event of a busy scanner"); return true }
		n, err := scanner.Feed([]byte("x"), never)
		_, _, thought := scanner.TakeThought()
		for _, err := range []error{
			err, scanner.Finish(never), scanner.Flush(never), scanner.Reset(), scanner.Close(), thought,
		} {
			if n != 0 || !errors.Is(err, aside.ErrBusy) {
				t.Error(n, err)
			}
		}
		for event, err := range scanner.All(strings.NewReader("x")) {
			if !errors.Is(err, aside.ErrBusy) {
				t.Error(event, err)
			}
		}
		scan(t, other, []byte("x"))
		if string(event.Text) != "abc" || scanner.Offset() != 3 {
			t.Errorf("%q", event.Text)
		}
		return true
	})
	if n != 3 || err != nil || calls != 1 {
		t.Error(n, err, calls)
	}
}

func TestClosed(t *testing.T) {
	scanner := streamScanner(t)
	if scanner.Close() != nil || scanner.Close() != nil {
		t.Error("Close")
	}
	yield := func(aside.Event) bool { t.Error("an event"); return true }
	_, feed := scanner.Feed([]byte("a"), yield)
	_, _, thought := scanner.TakeThought()
	for _, err := range []error{feed, thought, scanner.Finish(yield), scanner.Flush(yield), scanner.Reset()} {
		if err != aside.ErrClosed {
			t.Error(err)
		}
	}
	if scanner.Offset() != 0 || scanner.Held() != 0 || scanner.MaxHold() != 0 {
		t.Error("a closed scanner has numbers")
	}
	if _, err := aside.NewScanner(nil, nil); !isNilDialect(err) {
		t.Error(err)
	}
	if _, err := aside.NewScanner(&aside.Dialect{}, nil); !errors.Is(err, aside.ErrNull) {
		t.Error(err)
	}
	for _, status := range []aside.Status{aside.ErrClosed, aside.ErrBusy, aside.ErrDefect, 12345} {
		if !strings.HasPrefix(status.Error(), "aside: ") {
			t.Error(status)
		}
	}
}

func TestNames(t *testing.T) {
	got := fmt.Sprint(aside.KindOpen, aside.KindClose, aside.Kind(0), aside.Kind(99), aside.ChannelTool, aside.Channel(9), aside.CauseEndOfStream)
	if got != "open close 0 99 tool 9 end_of_stream" {
		t.Error(got)
	}
}

// resident returns the resident memory of the process in bytes, memory of C included, which Go does not see.
func resident(t *testing.T) int {
	t.Helper()
	line, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("needs /proc")
	}
	var size, pages int
	if _, err := fmt.Sscan(string(line), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// The memory of a scanner that was not closed is freed soon.
func TestForgotten(t *testing.T) {
	const many = 10_000
	forget := func() {
		for i := range many {
			dialect, err := aside.Load(own)
			if err != nil {
				t.Fatal(err)
			}
			scanner, err := aside.NewScanner(dialect, nil)
			if err != nil {
				t.Fatal(err)
			}
			scanner.Feed([]byte("a[[b["), func(aside.Event) bool { return true })
			// Between two collections, little memory stays unfreed, compared with the limit of this test. Another goroutine frees
			// the memory that a collection finds.
			if i%25 == 0 {
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
		}
	}
	forget() // until memory stops growing
	before := resident(t)
	forget()
	// The events of one scanner alone need 2 KiB.
	if grown := resident(t) - before; grown > many*2000 {
		t.Errorf("%d forgotten scanners and dialects: %d KiB more", many, grown>>10)
	}
}

func all(t testing.TB, scanner *aside.Scanner, r io.Reader) *recorder {
	t.Helper()
	got := &recorder{t: t}
	for event, err := range scanner.All(r) {
		if err != nil {
			t.Fatal(err)
		}
		got.yield(event)
	}
	return got
}

func TestAll(t *testing.T) {
	want := scan(t, streamScanner(t), text).String()
	scanner := streamScanner(t)
	for _, r := range []io.Reader{
		bytes.NewReader(text),
		iotest.OneByteReader(bytes.NewReader(text)),
		iotest.HalfReader(bytes.NewReader(text)),
		iotest.DataErrReader(bytes.NewReader(text)),
	} {
		if got := all(t, scanner, r); got.String() != want {
			t.Errorf("%T:\n%s\nwanted\n%s", r, got, want)
		}
	}
}

func TestAllLeftEarly(t *testing.T) {
	want := scan(t, streamScanner(t), text).String()
	for _, every := range []int{1, 5, 32} {
		scanner := streamScanner(t)
		r := bytes.NewReader(text)
		got := &recorder{t: t}
		for left := true; left; {
			left = false
			seen := 0
			for event, err := range scanner.All(r) {
				if err != nil {
					t.Fatal(err)
				}
				got.yield(event)
				if seen++; seen == every {
					left = true
					break
				}
			}
			if left && len(got.stream) < len(text)/2 {
				if _, err := scanner.Feed([]byte("x"), got.yield); !errors.Is(err, aside.ErrOrder) {
					t.Error("a feed before what was read:", err)
				}
			}
		}
		if got.String() != want {
			t.Errorf("left after %d:\n%s\nwanted\n%s", every, got, want)
		}
	}
}

func TestAllErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		reader io.Reader
		want   error
	}{
		{iotest.ErrReader(broken), broken},
		{io.MultiReader(strings.NewReader("a<"), iotest.ErrReader(broken)), broken},
		{noProgress{}, io.ErrNoProgress},
	} {
		scanner := streamScanner(t)
		times := 0
		for event, err := range scanner.All(c.reader) {
			if err == nil && event.Kind == aside.KindText {
				continue
			}
			if times++; err != c.want || event.Kind != 0 || times > 1 {
				t.Error(event, err, times)
			}
		}
		// The stream is not finished and can continue.
		seen := ""
		want := strings.Repeat("<", scanner.Held()) + "b"
		for event, err := range scanner.All(strings.NewReader("b")) {
			if err != nil {
				t.Error(err)
			}
			seen += string(event.Text)
		}
		if times != 1 || seen != want {
			t.Errorf("%d times %v, then %q", times, c.want, seen)
		}
	}
}

type noProgress struct{}

func (noProgress) Read([]byte) (int, error) { return 0, nil }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// readAll returns the text of a stream and the error at its end.
func readAll(scanner *aside.Scanner, r io.Reader) (text string, err error) {
	for event, failure := range scanner.All(r) {
		text += string(event.Text)
		err = failure
	}
	return text, err
}

func TestAllWhereTheReaderUsesTheScanner(t *testing.T) {
	scanner := newScanner(t, "qwen3")
	reads := 0
	text, err := readAll(scanner, readerFunc(func(p []byte) (int, error) {
		if err := scanner.Close(); err != aside.ErrBusy {
			t.Error(err)
		}
		if _, err := scanner.Feed([]byte("b"), nil); err != aside.ErrBusy {
			t.Error(err)
		}
		if reads++; reads == 3 {
			return copy(p, "c"), io.EOF
		}
		return copy(p, "a"), nil
	}))
	if text != "aac" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	func() {
		defer func() { recover() }()
		readAll(scanner, readerFunc(func([]byte) (int, error) { panic("reader") }))
	}()
	if text, err := readAll(scanner, strings.NewReader("d")); text != "d" || err != nil {
		t.Errorf("%q %v", text, err)
	}
}

func TestAllWhereTheReaderLies(t *testing.T) {
	for _, n := range []int{-1, 1 << 20} {
		scanner := newScanner(t, "qwen3")
		if text, err := readAll(scanner, readerFunc(func([]byte) (int, error) { return n, nil })); text != "" || err == nil {
			t.Errorf("%d: %q %v", n, text, err)
		}
	}
}

// Readers may return an error once, and io.EOF after it.
func TestAllKeepsTheReadersErrorOverAPause(t *testing.T) {
	errCut := errors.New("cut")
	reader := func() io.Reader {
		return io.MultiReader(strings.NewReader("<think>a</think>b"), iotest.ErrReader(errCut))
	}
	once := func(r io.Reader) io.Reader {
		failed := false
		return readerFunc(func(p []byte) (int, error) {
			if failed {
				return 0, io.EOF
			}
			n, err := io.ReadFull(r, p)
			failed = true
			return n, err
		})
	}
	scanner := newScanner(t, "qwen3")
	r := once(reader())
	for range scanner.All(r) {
		break
	}
	second, err := scanner.Clone()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for _, s := range []*aside.Scanner{scanner, second} {
		if text, err := readAll(s, r); text != "a</think>b" || err != errCut {
			t.Errorf("%q %v", text, err)
		}
	}
	for range scanner.All(once(reader())) {
		break
	}
	if err := scanner.Reset(); err != nil {
		t.Fatal(err)
	}
	if text, err := readAll(scanner, strings.NewReader("c")); text != "c" || err != nil {
		t.Errorf("%q %v", text, err)
	}
}

// Tests one dialect in many goroutines, each with a scanner, under the race detector.
func TestGoroutines(t *testing.T) {
	dialect := find(t, "thought-stream")
	want := scan(t, streamScanner(t), text).String()
	var group sync.WaitGroup
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 20 {
				scanner, err := aside.NewScanner(dialect, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if got := scan(t, scanner, text[:77], text[77:]).String(); got != want {
					t.Errorf("got\n%s\nwanted\n%s", got, want)
				}
				if _, err := aside.Find("nothing"); !errors.Is(err, aside.ErrUnknown) {
					t.Error(err)
				}
				scanner.Close()
			}
		}()
	}
	group.Wait()
}
