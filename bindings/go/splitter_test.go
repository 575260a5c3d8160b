package aside_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	aside "aside.example/bindings/go"
)

func newSplitter(t testing.TB, dialect string, content, thinking io.Writer) *aside.Splitter {
	t.Helper()
	splitter, err := aside.NewSplitter(find(t, dialect), content, thinking)
	if err != nil {
		t.Fatal(err)
	}
	return splitter
}

func TestSplitter(t *testing.T) {
	const call = `{"name":"f"}`
	in := "<think>\nTwice 21.\n</think>\n\nIt is 42<tool_call>" + call + "</tool_call>.<"
	for i := range in {
		var content, thinking, tool bytes.Buffer
		splitter := newSplitter(t, "qwen3", &content, &thinking)
		splitter.Tool = &tool
		for _, chunk := range []string{in[:i], in[i:]} {
			if n, err := io.WriteString(splitter, chunk); n != len(chunk) || err != nil {
				t.Fatal(n, err)
			}
		}
		if splitter.Close() != nil || splitter.Close() != nil {
			t.Fatal("Close")
		}
		if content.String() != "It is 42.<" || thinking.String() != "Twice 21." || !strings.Contains(tool.String(), call) {
			t.Fatalf("cut at %d: %q, %q, %q", i, &content, &thinking, &tool)
		}
		if _, err := splitter.Write([]byte("a")); err != aside.ErrClosed {
			t.Fatal(err)
		}
	}
}

func TestSplitterDropsWhatHasNoWriter(t *testing.T) {
	var thinking bytes.Buffer
	splitter := newSplitter(t, "thought-narrate", nil, &thinking)
	_, err := io.Copy(splitter, strings.NewReader("<thought>a</thought>b<narrate>c</narrate>"))
	if err != nil || splitter.Close() != nil || thinking.String() != "a" {
		t.Errorf("%v %q", err, &thinking)
	}
}

var errFull = errors.New("full")

// limited accepts a number of bytes and then fails. A writer may also return an error together with the bytes: err.
type limited struct {
	room int
	err  error
	got  []byte
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.room)
	l.got = append(l.got, p[:n]...)
	l.room -= n
	if n < len(p) {
		return n, l.err
	}
	return n, nil
}

// n counts the bytes before the first one that the writer did not accept.
func TestSplitterWriterFails(t *testing.T) {
	in := []byte("ab<think>cd</think>ef")
	for room := range 4 {
		for _, failure := range []error{errFull, nil} {
			want := failure
			if want == nil {
				want = io.ErrShortWrite
			}
			for cut := range len(in) {
				content := &limited{room: room, err: failure}
				splitter := newSplitter(t, "think", content, nil)
				n, err := splitter.Write(in[:cut])
				if err == nil {
					var more int
					if n != cut {
						t.Fatal("a short write without an error")
					}
					if more, err = splitter.Write(in[cut:]); err == nil {
						t.Fatal("no error")
					}
					n += more
				}
				stop := []int{0, 1, 19, 20}[room]
				if n != stop || err != want || len(content.got) != room {
					t.Fatalf("room for %d, cut at %d: %d %v", room, cut, n, err)
				}
				if n, err := splitter.Write(in); n != 0 || err != want {
					t.Fatal("the error does not last:", n, err)
				}
				if splitter.Close() != want {
					t.Fatal("Close has no error")
				}
			}
		}
	}
}

func TestSplitterFailsAtClose(t *testing.T) {
	splitter := newSplitter(t, "think", &limited{err: errFull}, nil)
	if n, err := splitter.Write([]byte("<thi")); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	for range 2 {
		if err := splitter.Close(); err != errFull {
			t.Fatal(err)
		}
	}
}

type liar struct{ n int }

func (l liar) Write([]byte) (int, error) { return l.n, nil }

func TestSplitterWriterLies(t *testing.T) {
	for _, n := range []int{-1, 4} {
		splitter := newSplitter(t, "think", liar{n}, nil)
		if got, err := splitter.Write([]byte("abc")); got != 0 || err == nil {
			t.Error(got, err)
		}
		splitter.Close()
	}
	if _, err := aside.NewSplitter(nil, nil, nil); !isNilDialect(err) {
		t.Error(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// The number of bytes that such a writer accepted is unknown, and so is the text that must follow.
func TestSplitterWriterPanics(t *testing.T) {
	splitter := newSplitter(t, "qwen3", writerFunc(func([]byte) (int, error) { panic("writer") }), nil)
	func() {
		defer func() {
			if said := recover(); said != "writer" {
				t.Error(said)
			}
		}()
		io.WriteString(splitter, strings.Repeat("a<think>b</think>", 50)+"c")
	}()
	n, err := io.Copy(splitter, bytes.NewBufferString("abc"))
	if n != 0 || err == nil || splitter.Close() != err {
		t.Error(n, err)
	}
}
