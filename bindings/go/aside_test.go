package aside_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	aside "aside.example/bindings/go"
)

// isNilDialect says whether an error names the dialect that is nil.
func isNilDialect(err error) bool {
	return errors.Is(err, aside.ErrNull) && err.Error() == "aside: the dialect is nil"
}

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
	attribute aside.Attribute
}

func record(event aside.Event) recorded {
	r := recorded{Event: event}
	r.Text = bytes.Clone(event.Text)
	if event.Attribute != nil {
		r.attribute = *event.Attribute
		r.attribute.Name, r.attribute.Value = bytes.Clone(event.Attribute.Name), bytes.Clone(event.Attribute.Value)
		r.Attribute = nil
	}
	return r
}

// recorder keeps events and joins text that chunks or pauses have cut, so that two runs can be compared. It also checks that no
// byte and no token is lost, repeated or moved.
type recorder struct {
	t      testing.TB
	events []recorded
	stream []byte
	tokens uint64
}

func (r *recorder) yield(event aside.Event) bool {
	r.t.Helper()
	if event.Kind == aside.KindAttribute {
		if len(event.Text) != 0 || event.Attribute == nil {
			r.t.Errorf("an attribute with text, or without a name: %+v", event)
		}
	} else if event.Offset != int64(len(r.stream)) || event.Attribute != nil {
		r.t.Errorf("at offset %d, where %d bytes were seen: %+v", event.Offset, len(r.stream), event)
	}
	if event.Kind == aside.KindText && len(event.Text) == 0 {
		r.t.Errorf("text without text: %+v", event)
	}
	if event.FirstToken != r.tokens {
		r.t.Errorf("from token %d on, where %d were seen: %+v", event.FirstToken, r.tokens, event)
	}
	r.stream = append(r.stream, event.Text...)
	r.tokens += uint64(event.Tokens)
	if last := len(r.events) - 1; last >= 0 && event.Kind == r.events[last].Kind &&
		(event.Kind == aside.KindText || event.Kind == aside.KindFraming) && event.Channel == r.events[last].Channel {
		r.events[last].Text = append(r.events[last].Text, event.Text...)
		r.events[last].Tokens += event.Tokens
	} else {
		r.events = append(r.events, record(event))
	}
	return true
}

func (r *recorder) String() string {
	var all bytes.Buffer
	for _, e := range r.events {
		fmt.Fprintf(&all, "%d %v %v %q %d %v %d %d %+v\n",
			e.Offset, e.Kind, e.Channel, e.Text, e.Tokens, e.Cause, e.Rule, e.Tag, e.attribute)
	}
	return all.String()
}

// text joins the text events of a channel.
func (r *recorder) text(channel aside.Channel) []byte {
	var texts [4][]byte
	for _, e := range r.events {
		switch e.Kind {
		case aside.KindText:
			texts[e.Channel] = append(texts[e.Channel], e.Text...)
		case aside.KindReclassify:
			// All content so far was thinking. No span preceded it, so that content is all of the thinking.
			texts[aside.ChannelThinking], texts[aside.ChannelContent] = texts[aside.ChannelContent], nil
		}
	}
	return texts[channel]
}

// scan feeds chunks, finishes, and checks that every byte was consumed.
func scan(t testing.TB, scanner *aside.Scanner, chunks ...[]byte) *recorder {
	t.Helper()
	r := &recorder{t: t}
	for _, chunk := range chunks {
		if n, err := scanner.Feed(chunk, r.yield); n != len(chunk) || err != nil {
			t.Fatalf("Feed of %d bytes returns %d, %v", len(chunk), n, err)
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
