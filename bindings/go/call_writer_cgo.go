package aside

// #include "bridge.h"
import "C"

import "runtime"

// writerState is the library's part of a call writer.
type writerState struct{ c *C.aside_go_calls } // nil once closed

func (w *writerState) isClosed() bool { return w.c == nil }

func (w *writerState) free() {
	C.aside_go_calls_free(w.c)
	w.c = nil
}

func (w *writerState) open(d *Dialect, options *CallWriterOptions) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	c := C.aside_call_writer_options{
		size:      C.sizeof_aside_call_writer_options,
		tools:     pinnedTools(&pin, options.Tools),
		max_held:  C.uint64_t(options.MaxHeld),
		max_tools: C.uint64_t(options.MaxTools),

		not_whole:        C.uint32_t(options.NotWhole),
		unknown_tool:     C.uint32_t(options.UnknownTool),
		implied_end:      C.uint32_t(options.ImpliedEnd),
		max_calls:        C.uint64_t(options.MaxCalls),
		repair_arguments: flag(options.RepairArguments),
	}
	if options.IDPrefix != "" {
		c.id_prefix = pinned(&pin, options.IDPrefix)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := C.aside_go_calls_new(d.c, &c, &w.c); status != C.ASIDE_OK {
		return lastFailure(status)
	}
	return nil
}

func (w *writerState) feed(event Event) (*CallDelta, error) {
	text, tag := event.Text, event.Tag
	if event.Repaired {
		tag = 1
	}
	w.c.event = C.aside_event{
		kind:    C.uint32_t(event.Kind),
		channel: C.uint32_t(event.Channel),
		cause:   C.uint32_t(event.Cause),
		rule:    C.uint32_t(event.Rule),
		offset:  C.uint64_t(event.Offset),
		len:     C.uint64_t(len(text)),
		tag:     C.uint32_t(tag),
		call:    C.uint32_t(event.Call),
	}
	if event.Kind == KindCallName && event.Attribute != nil {
		text = event.Attribute.Value
		w.c.event.value_len = C.uint32_t(len(text))
	}
	switch status := C.aside_go_calls_feed(w.c, data(text)); status {
	case C.ASIDE_OK:
		return w.delta(), nil
	case C.ASIDE_NONE:
		return nil, nil
	default:
		return nil, w.failure(status)
	}
}

func (w *writerState) reset() error {
	if status := C.aside_go_calls_reset(w.c); status != C.ASIDE_OK {
		return w.failure(status)
	}
	return nil
}

// delta returns a copy of the library's delta.
func (w *writerState) delta() *CallDelta {
	c := &w.c.delta
	return &CallDelta{
		Call:      uint64(c.call),
		Index:     uint64(c.index),
		First:     c.is_first == 1,
		Last:      c.is_last == 1,
		ID:        text(c.id),
		Name:      text(c.name),
		Arguments: text(c.arguments),
		Cause:     Cause(c.cause),
		Whole:     c.is_whole == 1,
		Repaired:  c.is_repaired == 1,
		LateID:    text(c.late_id),
	}
}

func (w *writerState) failure(status C.aside_status) error {
	return &failure{Status(status), C.GoString(&w.c.message[0])}
}
