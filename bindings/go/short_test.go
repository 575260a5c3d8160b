// Feeds of plain text use a shortcut, which must yield the same events as an array of events.

package aside_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	aside "aside.example/bindings/go"
)

var shortTexts = map[string]string{
	"qwen3":          "<think>\nTwice 21.\n</think>\n\nIt is 42, und schön: 結果.\n",
	"thought-stream": "a bc<thinking thought=\"A\">def</thinking>ghi < j",
	"inline-think":   "\xffabc<think>d\xc3\xa9f</think>é </thi",
}

// eachEvent returns the events of each feed and of the end of the stream, unjoined.
func eachEvent(t *testing.T, scanner *aside.Scanner, feed func(chunk []byte, yield func(aside.Event) bool) (int, error),
	chunks ...[]byte) string {
	t.Helper()
	var said bytes.Buffer
	offset := int64(0)
	for _, chunk := range chunks {
		n, err := feed(chunk, func(event aside.Event) bool {
			fmt.Fprintf(&said, "%+v\n", record(event))
			if event.Kind == aside.KindText && event.Offset >= offset {
				if at := event.Offset - offset; unsafe.SliceData(event.Text) != &chunk[at] || cap(event.Text) != len(event.Text) {
					t.Errorf("%q is not the chunk's own", event.Text)
				}
			}
			return true
		})
		if n != len(chunk) || err != nil || scanner.Consumed() != n {
			t.Fatal(n, err, scanner.Consumed())
		}
		offset += int64(n)
		if scanner.Offset() != offset {
			t.Fatal(scanner.Offset(), offset)
		}
	}
	if err := scanner.Finish(func(event aside.Event) bool {
		fmt.Fprintf(&said, "%+v\n", record(event))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return said.String()
}

func TestTheShortWayIsTheLongWay(t *testing.T) {
	for dialect, text := range shortTexts {
		text := []byte(text)
		short, long := newScanner(t, dialect), newScanner(t, dialect)
		for i := range text {
			for j := i; j <= len(text); j++ {
				cut := [][]byte{text[:i], text[i:j], text[j:]}
				got, want := eachEvent(t, short, short.Feed, cut...), eachEvent(t, long, long.FeedTheLongWay, cut...)
				if got != want {
					t.Fatalf("%s cut at %d and %d:\n%s\nwanted\n%s", dialect, i, j, got, want)
				}
			}
		}
		bytewise := make([][]byte, len(text))
		for i := range text {
			bytewise[i] = text[i : i+1]
		}
		if got, want := eachEvent(t, short, short.Feed, bytewise...), eachEvent(t, long, long.FeedTheLongWay, bytewise...); got != want {
			t.Fatalf("%s byte by byte:\n%s\nwanted\n%s", dialect, got, want)
		}
	}
}

// Offsets and numbers of tokens are right after everything that changes them, on every channel.
func TestOffsetsOfTheShortWay(t *testing.T) {
	scanner := newScanner(t, "inline-think")
	tokens := uint64(0)
	feed := func(scanner *aside.Scanner, text string, channel aside.Channel, offset int64) {
		t.Helper()
		calls := 0
		n, err := scanner.Feed([]byte(text), func(event aside.Event) bool {
			calls++
			if event.Kind != aside.KindText || event.Channel != channel || event.Offset != offset || string(event.Text) != text ||
				event.FirstToken != tokens || event.Tokens != 0 {
				t.Errorf("%+v, wanted %q of %v at %d, after %d tokens", event, text, channel, offset, tokens)
			}
			return calls > 1 // a pause after the only event: nothing is pending
		})
		if n != len(text) || err != nil || calls != 1 {
			t.Error(n, err, calls)
		}
	}
	yield := func(aside.Event) bool { return true }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		_, err := scanner.Feed([]byte("<think>"), yield)
		must(err)
		_, err = scanner.FeedTokens([]byte("so"), []aside.Token{{Len: 1}, {Len: 1}}, yield)
		must(err)
		tokens = 2
		feed(scanner, "Twice", aside.ChannelThinking, 9)
		second, err := scanner.Clone()
		must(err)
		defer second.Close()
		must(scanner.ForceClose(yield))
		feed(scanner, "Two", aside.ChannelContent, 14)
		feed(scanner, "Three", aside.ChannelContent, 17)
		feed(second, " 21", aside.ChannelThinking, 14)
		must(second.Reset())
		tokens = 0
		feed(second, "anew", aside.ChannelContent, 0)
		must(scanner.Finish(yield))
	}
	if n, err := scanner.Feed(nil, yield); n != 0 || err != nil {
		t.Error(n, err)
	}
	feed(scanner, "last", aside.ChannelContent, 0)
	if n, err := scanner.FeedTokens([]byte("ab"), []aside.Token{{Len: 1}}, yield); n != 0 || !errors.Is(err, aside.ErrLength) {
		t.Error(n, err)
	}
	feed(scanner, "more", aside.ChannelContent, 4)
	must(scanner.Close())
	if n, err := scanner.Feed([]byte("a"), yield); n != 0 || err != aside.ErrClosed {
		t.Error(n, err)
	}
}

// A panic leaves the scanner in the same state with the shortcut and without it.
func TestPanicOnTheShortWay(t *testing.T) {
	scanner := newScanner(t, "inline-think")
	feed := func(text string) {
		defer func() {
			if recover() != "yield" {
				t.Error("no panic")
			}
		}()
		scanner.Feed([]byte(text), func(aside.Event) bool { panic("yield") })
	}
	feed("abc")
	feed("def")
	if scanner.Consumed() != 3 || scanner.Offset() != 6 {
		t.Error(scanner.Consumed(), scanner.Offset())
	}
	if err := scanner.Finish(func(event aside.Event) bool { t.Error("repeated:", event); return true }); err != nil {
		t.Error(err)
	}
}

// Tokens that need no call into C count as fed in every count and clone, and before every other call.
func TestWhatPassesIsCounted(t *testing.T) {
	scanner := newScanner(t, "inline-think")
	feed := func(text string, want ...aside.Kind) {
		t.Helper()
		var kinds []aside.Kind
		n, err := scanner.Feed([]byte(text), func(event aside.Event) bool {
			kinds = append(kinds, event.Kind)
			if _, err := scanner.Feed([]byte("x"), nil); err != aside.ErrBusy {
				t.Error(err)
			}
			if _, err := scanner.Counts(aside.ChannelContent); err != aside.ErrBusy {
				t.Error(err)
			}
			return true
		})
		if n != len(text) || err != nil || !slices.Equal(kinds, want) {
			t.Errorf("%q: %d, %v, %v", text, n, err, kinds)
		}
	}
	counts := func(scanner *aside.Scanner, channel aside.Channel, bytes, characters uint64, offset int64) {
		t.Helper()
		got, err := scanner.Counts(channel)
		if err != nil || got.Bytes != bytes || got.Characters != characters || scanner.Offset() != offset {
			t.Error(got, err, scanner.Offset())
		}
	}
	feed("<think>so", aside.KindOpen, aside.KindText)
	for range 3 {
		feed(" ab", aside.KindText)
	}
	if scanner.Offset() != 18 || scanner.Held() != 0 {
		t.Error(scanner.Offset(), scanner.Held())
	}
	counts(scanner, aside.ChannelThinking, 11, 11, 18)
	feed(" ab", aside.KindText)
	feed("é", aside.KindText)
	feed(" ab", aside.KindText)
	second, err := scanner.Clone()
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	counts(second, aside.ChannelThinking, 19, 18, 26)
	feed("cd", aside.KindText)
	feed("e</thi", aside.KindText)
	feed("nk>f", aside.KindClose, aside.KindText)
	feed("gh", aside.KindText)
	if err := scanner.Finish(func(event aside.Event) bool { t.Error(event); return true }); err != nil {
		t.Error(err)
	}
	counts(scanner, aside.ChannelThinking, 22, 21, 0)
	counts(scanner, aside.ChannelContent, 3, 3, 0)
	feed("i", aside.KindText)
	feed("jk", aside.KindText)
	if err := scanner.Reset(); err != nil {
		t.Error(err)
	}
	counts(scanner, aside.ChannelContent, 0, 0, 0)
	counts(second, aside.ChannelThinking, 19, 18, 26)
}

// With a budget, or if thoughts are collected, each byte counts, so every byte must be fed by a call into
// C.
func TestBudgetsAreKept(t *testing.T) {
	scanner := scannerOf(t, find(t, "inline-think"), &aside.ScannerOptions{Budget: &aside.Budget{Limit: 5}, Collect: 100})
	budgets := 0
	for _, text := range []string{"<think>", "ab", "cd", "ef", "gh", "</think>", "i"} {
		if _, err := scanner.Feed([]byte(text), func(event aside.Event) bool {
			if event.Kind == aside.KindBudget {
				budgets++
				if event.Offset != 12 {
					t.Error(event)
				}
			}
			return true
		}); err != nil {
			t.Error(err)
		}
	}
	thought, ok, err := scanner.TakeThought()
	if budgets != 1 || !ok || err != nil || string(thought.Text) != "abcdefgh" {
		t.Error(budgets, thought, ok, err)
	}
}
