package aside

// #include "bridge.h"
import "C"

import (
	"bytes"
	"runtime"
	"unsafe"
)

// Thought is a whole thought. It belongs to the caller.
type Thought struct {
	Text       []byte
	Offset     int64    // of the opening marker, in the stream
	Cause      Cause    // why it ended; CauseEndOfStream if the stream ended inside it
	Truncated  bool     // Options.Collect was too small for all of it
	Type       *string  // nil if the marker had none
	Confidence *float64 // from 0 to 1; nil if the marker had none
	Attrs      []ThoughtAttr
}

// ThoughtAttr is an attribute of a thought's opening marker.
type ThoughtAttr struct {
	Name, Value string // the value is decoded
}

// TakeThought removes and returns the oldest thought that has ended, of a scanner made with Options.Collect. It returns false
// if no thought is waiting.
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
		Text:      bytes.Clone(borrowed(c.text, c.text_len)),
		Offset:    int64(c.offset),
		Cause:     Cause(c.cause),
		Truncated: c.truncated != 0,
	}
	if c.has_thought_type != 0 {
		kind := string(borrowed(c.thought_type, c.thought_type_len))
		thought.Type = &kind
	}
	if c.has_confidence != 0 {
		confidence := float64(c.confidence)
		thought.Confidence = &confidence
	}
	for _, attr := range unsafe.Slice(c.attributes, int(c.attribute_count)) {
		thought.Attrs = append(thought.Attrs, ThoughtAttr{
			Name:  string(borrowed(attr.name, attr.name_len)),
			Value: string(borrowed(attr.value, attr.value_len)),
		})
	}
	return thought, true, nil
}

// LostThoughts returns how many thoughts were dropped since the start or the last Reset. A thought is dropped if 1,024 others
// are waiting. It may be called at any time.
func (s *Scanner) LostThoughts() uint64 { return s.lost.Load() }
