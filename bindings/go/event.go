package aside

import (
	"fmt"
	"math"
	"strings"
)

// name returns the name of a number, or the number if it has none.
func name(number uint32, names ...string) string {
	if int64(number) < int64(len(names)) && names[number] != "" {
		return names[number]
	}
	return fmt.Sprint(number)
}

// names returns the names of a set's bits, with commas between them; a bit without a name is a number.
func names(set uint32, known ...string) string {
	switch set {
	case 0:
		return "none"
	case math.MaxInt32:
		return "all"
	}
	var in []string
	for bit, name := range known {
		if set&(1<<bit) != 0 {
			in = append(in, name)
			set &^= 1 << bit
		}
	}
	if set != 0 {
		in = append(in, fmt.Sprint(set))
	}
	return strings.Join(in, ",")
}

// Event is a piece of the stream with its kind. Every byte of the stream is in exactly one event: the bytes of all events,
// joined in order, are the stream.
//
// Text and Attribute are borrowed. They are valid until the yield function returns and must not be changed; copy them to keep
// them.
type Event struct {
	Kind      Kind       // ignore kinds that are not listed, because later versions may add some
	Channel   Channel    // of the span that opens or closes, or of the text; of framing, the channel around it
	Cause     Cause      // of KindClose and KindCallEnd: why the span or the call ended
	Rule      uint32     // of KindOpen and KindCall: which [[span]] of the dialect's file, from 0; of a header, the number of spans
	Tag       uint32     // of KindOpen: the index of the span's opening literal or name; Dialect.Opener returns the words
	Call      uint32     // of KindCall and KindCallEnd: the number of the call in the stream, from 0
	Repaired  bool       // of KindCallValueEnd: the value ended without its closer; of KindCallEnd: a value of the call did
	Offset    int64      // of Text in the stream, whose first byte has offset 0; of KindAttribute, of the marker
	Text      []byte     // the bytes; empty for KindAttribute
	Attribute *Attribute // of KindAttribute, and of a KindCallName without Text, which is its Value; otherwise nil

	// Counts of the tokens that were fed with FeedTokens: FirstToken is the number that begin before the event, and Tokens the number
	// that begin inside its bytes. A token that begins in one event and ends in another belongs to the first, so that each token with
	// bytes is in exactly one event.
	FirstToken uint64
	Tokens     uint32
}

// Attribute is an attribute of a marker, or the name of a call that a header has. It is borrowed, like its [Event].
type Attribute struct {
	Name  []byte
	Value []byte // decoded

	// The places of the undecoded name and value in the marker, counted from its first byte. RawNameLen is 0 if the marker
	// does not name the attribute.
	RawNameAt, RawNameLen   int
	RawValueAt, RawValueLen int
}
