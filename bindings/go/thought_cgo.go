package aside

// #include "bridge.h"
import "C"

import (
	"bytes"
	"runtime"
)

func (s *Scanner) takeThought() (Thought, bool, error) {
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
		Text:      bytes.Clone(borrowed(c.text.at, c.text.len)),
		Offset:    int64(c.offset),
		Cause:     Cause(c.cause),
		Truncated: c.truncated != 0,
	}
	if c.has_thought_type != 0 {
		kind := text(c.thought_type)
		thought.Type = &kind
	}
	if c.has_confidence != 0 {
		confidence := float64(c.confidence)
		thought.Confidence = &confidence
	}
	for i := range c.attribute_count {
		attribute := C.aside_attribute{size: C.sizeof_aside_attribute}
		if status := C.aside_scanner_thought_attribute(s.c.scanner, i, &attribute); status != C.ASIDE_OK {
			return Thought{}, false, lastFailure(status)
		}
		thought.Attributes = append(thought.Attributes, ThoughtAttribute{text(attribute.name), text(attribute.value)})
	}
	return thought, true, nil
}
