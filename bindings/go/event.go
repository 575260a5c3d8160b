package aside

// #include "bridge.h"
import "C"

import "fmt"

// Kind is the kind of an event. Ignore kinds that are not listed here: later versions may add some.
type Kind uint32

const (
	// KindOpen begins a span. Text is its opening marker; empty if the stream starts inside the span.
	KindOpen Kind = C.ASIDE_KIND_OPEN
	// KindAttribute is an attribute of the marker that has just opened a span, in Attr. It has no bytes of the stream.
	KindAttribute Kind = C.ASIDE_KIND_ATTRIBUTE
	// KindText is text of the channel. It is never empty and never cuts a character of valid UTF-8.
	KindText Kind = C.ASIDE_KIND_TEXT
	// KindFraming marks bytes that are part of no text, such as the newline that a family puts around its markers.
	KindFraming Kind = C.ASIDE_KIND_FRAMING
	// KindClose ends a span. Text is its closing marker; empty if it ends without one.
	KindClose Kind = C.ASIDE_KIND_CLOSE
	// KindReclassify says that all content so far was thinking, in a dialect with stray_close = "reclassify". It has no bytes
	// of the stream and comes at most once.
	KindReclassify Kind = C.ASIDE_KIND_RECLASSIFY
	// KindBudget says that from here on the thinking exceeds ScannerOptions.Budget. It has no bytes of the stream and stands between
	// two characters.
	KindBudget Kind = C.ASIDE_KIND_BUDGET

	// The kinds below come only with ScannerOptions.Calls, all in the channel tool.

	// KindCall begins a tool call. Text is what begins it, if the opener of its span was not that.
	KindCall Kind = C.ASIDE_KIND_CALL
	// KindCallName is the name of the call, whole. If Text is empty, the name is the value of a header's field, in Attr.
	KindCallName Kind = C.ASIDE_KIND_CALL_NAME
	// KindCallID is an id of the call, whole. If the whole head of the call is its id, it comes in parts, with the name
	// between them.
	KindCallID Kind = C.ASIDE_KIND_CALL_ID
	// KindCallKey is a key of the arguments, whole. Arguments that are JSON have none.
	KindCallKey Kind = C.ASIDE_KIND_CALL_KEY
	// KindCallType is the word that says of which type the next value is, whole.
	KindCallType Kind = C.ASIDE_KIND_CALL_TYPE
	// KindCallValue is a value, or arguments that are JSON, in pieces that cut no character.
	KindCallValue Kind = C.ASIDE_KIND_CALL_VALUE
	// KindCallValueEnd ends a value. Text is its closer, or empty. Arguments that are JSON have none.
	KindCallValueEnd Kind = C.ASIDE_KIND_CALL_VALUE_END
	// KindCallEnd ends the call. Text is its last marker, or empty.
	KindCallEnd Kind = C.ASIDE_KIND_CALL_END
)

// String returns the kind's name, such as "open", or the number of an unknown kind.
func (k Kind) String() string {
	return name(uint32(k), "", "open", "attribute", "text", "framing", "close", "reclassify", "budget", "call", "call_name",
		"call_id", "call_key", "call_type", "call_value", "call_value_end", "call_end")
}

// Channel says what a stretch of a stream is meant for.
type Channel uint32

const (
	// ChannelContent is what the reader is meant to see.
	ChannelContent Channel = C.ASIDE_CHANNEL_CONTENT
	// ChannelThinking is what the model thinks. Some interfaces call it reasoning or reasoning_content.
	ChannelThinking Channel = C.ASIDE_CHANNEL_THINKING
	// ChannelNarration is what the model says about what it is doing.
	ChannelNarration Channel = C.ASIDE_CHANNEL_NARRATION
	// ChannelTool is tool calls.
	ChannelTool Channel = C.ASIDE_CHANNEL_TOOL
)

// String returns the channel's name, such as "thinking", or the number of an unknown channel.
func (c Channel) String() string {
	return name(uint32(c), "content", "thinking", "narration", "tool")
}

// Cause is the reason why a span or a call ended.
type Cause uint32

const (
	// CauseMarker means that the closing marker came.
	CauseMarker Cause = C.ASIDE_CAUSE_MARKER
	// CauseImplied means that something came that ends such a span without a closing marker.
	CauseImplied Cause = C.ASIDE_CAUSE_IMPLIED
	// CauseEnd means that the stream ended inside the span.
	CauseEnd Cause = C.ASIDE_CAUSE_END_OF_STREAM
	// CauseForced means that the host called ForceClose.
	CauseForced Cause = C.ASIDE_CAUSE_FORCED
	// CauseMalformed means that the text of a tool call broke its grammar. No span ends so.
	CauseMalformed Cause = C.ASIDE_CAUSE_MALFORMED
)

// String returns the cause's name, such as "marker", or the number of an unknown cause.
func (c Cause) String() string {
	return name(uint32(c), "marker", "implied", "end of stream", "forced", "malformed")
}

func name(number uint32, names ...string) string {
	if int64(number) < int64(len(names)) && names[number] != "" {
		return names[number]
	}
	return fmt.Sprint(number)
}

// Event is a piece of the stream and what it is. Every byte of the stream is in exactly one event: the bytes of all events,
// joined in order, are the stream.
//
// Text and Attr are borrowed. They are valid until the yield function returns and must not be changed; copy them to keep
// them.
type Event struct {
	Kind    Kind
	Channel Channel // of the span that opens or closes, or of the text; of framing, the channel around it
	Cause   Cause   // of KindClose and KindCallEnd: why the span or the call ended
	Rule    uint32  // of KindOpen and KindCall: the index of the [[span]] in the dialect's file; a header has the number of spans
	Tag     uint32  // of KindOpen: the index of the span's opening literal or name; Dialect.Opener returns the words
	Call    uint32  // of KindCall and KindCallEnd: the number of the call in the stream, from 0
	Offset  int64   // of Text in the stream, whose first byte has offset 0; of KindAttribute, of the marker
	Text    []byte  // the bytes; empty for KindAttribute
	Attr    *Attr   // of KindAttribute, and of a KindCallName without Text, which is its Value; otherwise nil
}

// Attr is an attribute of a marker, or the name of a call that a header has. It is borrowed, like the [Event] that has it.
type Attr struct {
	Name  []byte
	Value []byte // decoded

	// The places of the undecoded name and value in the marker, counted from its first byte. RawNameLen is 0 if the marker
	// does not name the attribute.
	RawNameAt, RawNameLen   int
	RawValueAt, RawValueLen int
}
