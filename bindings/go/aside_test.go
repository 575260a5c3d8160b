package aside_test

import (
	"bytes"
	"fmt"
	"testing"

	aside "aside.example/bindings/go"
)

func find(t testing.TB, name string) *aside.Dialect {
	t.Helper()
	dialect, err := aside.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return dialect
}

func newScanner(t testing.TB, dialect string) *aside.Scanner {
	t.Helper()
	scanner, err := aside.NewScanner(find(t, dialect), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scanner.Close() })
	return scanner
}

// recorded is an event whose bytes were copied.
type recorded struct {
	aside.Event
	attr aside.Attr
}

func record(event aside.Event) recorded {
	r := recorded{Event: event}
	r.Text = bytes.Clone(event.Text)
	if event.Attr != nil {
		r.attr = *event.Attr
		r.attr.Name, r.attr.Value = bytes.Clone(event.Attr.Name), bytes.Clone(event.Attr.Value)
		r.Attr = nil
	}
	return r
}

// recorder keeps events. Where text goes on, as chunks or pauses have cut it, it joins it, so that two runs can be
// compared; that no byte is lost, repeated or moved, it sees itself.
type recorder struct {
	t      testing.TB
	events []recorded
	stream []byte
}

func (r *recorder) yield(event aside.Event) bool {
	r.t.Helper()
	if event.Kind == aside.Attribute {
		if len(event.Text) != 0 || event.Attr == nil {
			r.t.Errorf("an attribute with text, or without a name: %+v", event)
		}
	} else if event.Offset != int64(len(r.stream)) || event.Attr != nil {
		r.t.Errorf("at offset %d, where %d bytes were seen: %+v", event.Offset, len(r.stream), event)
	}
	if event.Kind == aside.Text && len(event.Text) == 0 {
		r.t.Errorf("text without text: %+v", event)
	}
	r.stream = append(r.stream, event.Text...)
	if last := len(r.events) - 1; last >= 0 && event.Kind == r.events[last].Kind &&
		(event.Kind == aside.Text || event.Kind == aside.Framing) && event.Channel == r.events[last].Channel {
		r.events[last].Text = append(r.events[last].Text, event.Text...)
	} else {
		r.events = append(r.events, record(event))
	}
	return true
}

func (r *recorder) String() string {
	var all bytes.Buffer
	for _, e := range r.events {
		fmt.Fprintf(&all, "%d %v %v %q %v %d %d %+v\n", e.Offset, e.Kind, e.Channel, e.Text, e.Cause, e.Rule, e.Tag, e.attr)
	}
	return all.String()
}

// text joins what a channel's text events say.
func (r *recorder) text(channel aside.Channel) []byte {
	var texts [4][]byte
	for _, e := range r.events {
		switch e.Kind {
		case aside.Text:
			texts[e.Channel] = append(texts[e.Channel], e.Text...)
		case aside.Reclassify:
			// All content so far was thinking; no span came before, so there is no other.
			texts[aside.Thinking], texts[aside.Content] = texts[aside.Content], nil
		}
	}
	return texts[channel]
}

// scan feeds chunks and finishes, and sees that all was taken.
func scan(t testing.TB, scanner *aside.Scanner, chunks ...[]byte) *recorder {
	t.Helper()
	r := &recorder{t: t}
	for _, chunk := range chunks {
		if n, err := scanner.Feed(chunk, r.yield); n != len(chunk) || err != nil {
			t.Fatalf("Feed of %d bytes gives %d, %v", len(chunk), n, err)
		}
	}
	if err := scanner.Finish(r.yield); err != nil {
		t.Fatal(err)
	}
	if whole := bytes.Join(chunks, nil); !bytes.Equal(r.stream, whole) {
		t.Fatalf("the events join to %q, which was %q", r.stream, whole)
	}
	return r
}
