package aside_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	aside "aside.example/bindings/go"
	"aside.example/bindings/go/internal/empty"
)

// chunks returns the chunks in the file that ASIDE_WORKLOAD names, which scripts/benchmarks writes. Without that variable, they are
// deltas of four bytes of a long answer that begins with thinking.
func chunks(b *testing.B) (chunks [][]byte) {
	path := os.Getenv("ASIDE_WORKLOAD")
	if path == "" {
		answer := bytes.Repeat([]byte("<think>\nTwice 21 is 42.\n</think>\n\nIt is 42, and not a little more. "), 50)
		for ; len(answer) >= 4; answer = answer[4:] {
			chunks = append(chunks, answer[:4])
		}
		return chunks
	}
	file, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	for len(file) > 0 {
		n := binary.LittleEndian.Uint32(file)
		if n > 0 { // not between messages
			chunks = append(chunks, file[4:4+n])
		}
		file = file[4+n:]
	}
	return chunks
}

// feeds runs feed for each chunk, and repeats the text.
func feeds(b *testing.B, feed func(chunk []byte) error) {
	chunks := chunks(b)
	b.ReportAllocs()
	b.ResetTimer()
	for i, at := 0, 0; i < b.N; i++ {
		if err := feed(chunks[at]); err != nil {
			b.Fatal(err)
		}
		if at++; at == len(chunks) {
			at = 0
		}
	}
}

func BenchmarkFeed(b *testing.B) {
	scanner := newScanner(b, "qwen3")
	seen := 0
	yield := func(event aside.Event) bool { seen += len(event.Text); return true }
	feeds(b, func(chunk []byte) error {
		_, err := scanner.Feed(chunk, yield)
		return err
	})
}

// A lower bound for a feed: a call from Go into a C function that does nothing.
func BenchmarkEmptyCall(b *testing.B) {
	scanner := empty.New()
	feeds(b, func(chunk []byte) error {
		if !scanner.Feed(chunk) {
			b.Fatal("an empty call says so")
		}
		return nil
	})
}

// Feeds sixteen tokens in one call into C. A token is the unit, as in the other benchmarks.
func BenchmarkFeedSixteen(b *testing.B) {
	scanner := newScanner(b, "qwen3")
	yield := func(aside.Event) bool { return true }
	var joined []byte
	count := 0
	feeds(b, func(chunk []byte) error {
		joined = append(joined, chunk...)
		if count++; count < 16 {
			return nil
		}
		_, err := scanner.Feed(joined, yield)
		joined, count = joined[:0], 0
		return err
	})
}

func BenchmarkFeedTokens(b *testing.B) {
	scanner := newScanner(b, "think")
	tokens := []aside.Token{{}}
	yield := func(aside.Event) bool { return true }
	feeds(b, func(chunk []byte) error {
		tokens[0].Len = uint32(len(chunk))
		_, err := scanner.FeedTokens(chunk, tokens, yield)
		return err
	})
}

func BenchmarkSplitter(b *testing.B) {
	splitter, err := aside.NewSplitter(find(b, "qwen3"), discard{}, discard{})
	if err != nil {
		b.Fatal(err)
	}
	defer splitter.Close()
	feeds(b, func(chunk []byte) error {
		_, err := splitter.Write(chunk)
		return err
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
