//go:build !race

// The race detector itself allocates.

package aside_test

import (
	"testing"

	aside "aside.example/bindings/go"
)

func TestFeedingAllocatesNothing(t *testing.T) {
	scanner := newScanner(t, "thought-stream")
	splitter, err := aside.NewSplitter(find(t, "thought-stream"), discard{}, discard{})
	if err != nil {
		t.Fatal(err)
	}
	defer splitter.Close()
	for name, feed := range map[string]func(chunk []byte){
		"scanner": func(chunk []byte) {
			if _, err := scanner.Feed(chunk, func(event aside.Event) bool { return len(event.Text) != 1000 }); err != nil {
				t.Error(err)
			}
		},
		"scanner, paused": func(chunk []byte) {
			for range chunk { // more often than there are events
				n, err := scanner.Feed(chunk, func(aside.Event) bool { return false })
				if err != nil {
					t.Error(err)
				}
				chunk = chunk[n:]
			}
		},
		"scanner, tokens": func(chunk []byte) {
			tokens := [30]aside.Token{} // all of three bytes but the last
			for i := range tokens {
				tokens[i].Len = uint32(min(3, len(chunk)-min(3*i, len(chunk))))
			}
			if _, err := scanner.FeedTokens(chunk, tokens[:], func(aside.Event) bool { return true }); err != nil {
				t.Error(err)
			}
		},
		"scanner, closed by force": func(chunk []byte) {
			if _, err := scanner.Feed(chunk, func(aside.Event) bool { return true }); err != nil {
				t.Error(err)
			}
			if err := scanner.ForceClose(func(aside.Event) bool { return true }); err != nil {
				t.Error(err)
			}
			if _, err := scanner.Counts(aside.ChannelThinking); err != nil {
				t.Error(err)
			}
		},
		"splitter": func(chunk []byte) {
			if _, err := splitter.Write(chunk); err != nil {
				t.Error(err)
			}
		},
	} {
		// A text with attributes, with held bytes that must be joined, and with more events than an array
		// holds.
		whole := func() {
			for at := 0; at < len(text); at += 90 {
				feed(text[at:min(at+90, len(text))])
			}
		}
		whole() // what a scanner allocates once
		if allocs := testing.AllocsPerRun(50, whole); allocs != 0 {
			t.Errorf("%s: %v allocations in a stream of %d bytes", name, allocs, len(text))
		}
	}
}

func TestRewritingAllocatesNothing(t *testing.T) {
	rewriter := newRewriter(t, nil)
	stream := []byte(events)
	var out []byte
	whole := func() {
		for at := 0; at < len(stream); at += 50 {
			var err error
			if out, err = rewriter.Feed(out[:0], stream[at:min(at+50, len(stream))]); err != nil {
				t.Error(err)
			}
		}
	}
	whole()
	if allocs := testing.AllocsPerRun(50, whole); allocs != 0 {
		t.Errorf("%v allocations in a stream of %d bytes", allocs, len(events))
	}
}
