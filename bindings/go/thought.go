package aside

// #include "bridge.h"
import "C"

import (
	"bytes"
	"runtime"
	"unsafe"
)

// Thought is a whole thought. It is a copy: the scanner has no part in it.
type Thought struct {
	Text       []byte
	Offset     int64    // in the stream, of the marker that opened it
	Cause      Cause    // why it ended; CauseEnd: it was cut off
	Truncated  bool     // Options.Collect was too small for all of it
	Type       *string  // nil where the marker had none
	Confidence *float64 // from 0 to 1; nil where the marker had none
	Attrs      []ThoughtAttr
}

// ThoughtAttr is an attribute of a thought's marker.
type ThoughtAttr struct {
	Name, Value string // the value is decoded
}

// TakeThought takes the oldest thought that has ended and was not taken yet, of a scanner that was made with
// Options.Collect. It gives false where there is none.
func (s *Scanner) TakeThought() (Thought, bool, error) {
	if err := s.enter(); err != nil {
		return Thought{}, false, err
	}
	defer s.leave()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := C.aside_thought{size: C.sizeof_aside_thought}
	switch status := C.aside_scanner_take_thought(s.c.scanner, &c); status {
	case C.ASIDE_OK:
	case C.ASIDE_NONE:
		return Thought{}, false, nil
	default:
		return Thought{}, false, lastFailure(status)
	}
	thought := Thought{
		Text:      bytes.Clone(lent(c.text, c.text_len)),
		Offset:    int64(c.offset),
		Cause:     Cause(c.cause),
		Truncated: c.truncated != 0,
	}
	if c.has_thought_type != 0 {
		kind := string(lent(c.thought_type, c.thought_type_len))
		thought.Type = &kind
	}
	if c.has_confidence != 0 {
		confidence := float64(c.confidence)
		thought.Confidence = &confidence
	}
	for _, attr := range unsafe.Slice(c.attributes, int(c.attribute_count)) {
		thought.Attrs = append(thought.Attrs, ThoughtAttr{
			Name:  string(lent(attr.name, attr.name_len)),
			Value: string(lent(attr.value, attr.value_len)),
		})
	}
	return thought, true, nil
}

// LostThoughts is how many thoughts were lost since the start or the last Reset, because 1,024 were waiting.
func (s *Scanner) LostThoughts() uint64 { return s.lost.Load() }
