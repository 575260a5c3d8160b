package aside

// #include "bridge.h"
import "C"

import (
	"bytes"
	"runtime"
	"unsafe"
)

func (s *Scanner) isClosed() bool { return s.c == nil }

func (s *Scanner) free() { C.aside_go_free(s.c) }

func (s *Scanner) open(d *Dialect, options *ScannerOptions) error {
	c := C.aside_scanner_options{
		size:        C.sizeof_aside_scanner_options,
		start:       C.uint32_t(options.Start),
		stray_close: C.uint32_t(options.StrayClose),
		collect:     C.uint64_t(options.Collect),

		calls:             flag(options.Calls),
		calls_in_thinking: C.uint32_t(options.CallsInThinking),
		leading_tags:      C.uint32_t(options.LeadingTags),
	}
	if budget := options.Budget; budget != nil {
		c.has_budget = 1
		c.budget = C.uint64_t(budget.Limit)
		c.budget_unit = C.uint32_t(budget.Unit)
		c.budget_scope = C.uint32_t(budget.Scope)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := C.aside_go_new(d.c, &c, &s.c); status != C.ASIDE_OK {
		return lastFailure(status)
	}
	s.begin()
	return nil
}

// openClone makes s a scanner in the state of another scanner.
func (s *Scanner) openClone(of *Scanner) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.scannerState = scannerState{
		finishing:  of.finishing,
		next:       of.next,
		count:      of.count,
		base:       of.base,
		held:       of.held,
		before:     bytes.Clone(of.before),
		attributes: bytes.Clone(of.attributes),
		firstToken: of.firstToken,
		rest:       bytes.Clone(of.rest),
		readErr:    of.readErr,
	}
	if status := C.aside_go_clone(of.c, &s.c); status != C.ASIDE_OK {
		return lastFailure(status)
	}
	s.begin()
	return nil
}

func (s *Scanner) startFromPrompt(tail string) (Start, error) {
	var start C.uint32_t
	status := C.aside_go_start_from_prompt(s.c, chars(tail), C.size_t(len(tail)), &start)
	s.note()
	if status != C.ASIDE_OK {
		return StartDefault, s.failure(status)
	}
	return Start(start), nil
}

func (s *Scanner) currentStart() (start Start, guessed bool, err error) {
	var c, isGuessed C.uint32_t
	if status := C.aside_go_start(s.c, &c, &isGuessed); status != C.ASIDE_OK {
		return StartDefault, false, s.failure(status)
	}
	return Start(c), isGuessed == 1, nil
}

func (s *Scanner) setEndReason(reason EndReason) error {
	if status := C.aside_go_end_reason(s.c, C.uint32_t(reason)); status != C.ASIDE_OK {
		return s.failure(status)
	}
	return nil
}

func (s *Scanner) reset() error {
	status := C.aside_go_reset(s.c)
	s.note()
	if status != C.ASIDE_OK {
		return s.failure(status)
	}
	return nil
}

func (s *Scanner) countsOf(channel Channel) (Counts, error) {
	if status := C.aside_go_counts(s.c, C.uint32_t(channel)); status != C.ASIDE_OK {
		return Counts{}, s.failure(status)
	}
	return countsOf(&s.c.counts), nil
}

func countsOf(c *C.aside_counts) Counts {
	return Counts{
		Bytes:        uint64(c.bytes),
		Characters:   uint64(c.characters),
		Spans:        uint64(c.spans),
		Tokens:       uint64(c.tokens),
		LostThoughts: uint64(c.lost_thoughts),
	}
}

// scannerState belongs to the call that is in progress; no other code may touch it.
type scannerState struct {
	c         *C.aside_go // nil once closed
	finishing bool        // a finish was paused

	// The pending events are the events of c from next up to count. Their bytes are in chunk, whose first byte has the offset base,
	// and in the first held bytes of before, which precede chunk in the stream.
	next, count int
	base        uint64
	chunk       []byte
	held        int
	before      []byte
	attributes  []byte
	attribute   Attribute
	tokens      []C.aside_token // the tokens given to FeedTokens, for C
	// The number of tokens that begin before the next event. The first event of a stream never uses the shortcut of Feed, so that the
	// number starts from 0 with each stream.
	firstToken uint64

	// The buffer of All, the part of it that is not fed yet, and the reader's error after that part.
	buf, rest []byte
	readErr   error
}

// begin completes a new scanner.
func (s *Scanner) begin() {
	s.maxHold.Store(int64(C.aside_scanner_max_hold(s.c.scanner)))
	s.note()
	runtime.SetFinalizer(s, (*Scanner).Close)
}

// Feed scans the next bytes of the stream, cut anywhere, and calls yield for each event that they decide. It returns the number of
// bytes of p that are consumed: all of them, unless yield paused the scanner or the call failed. After a pause, continue with
// Feed(p[n:], yield), or with Finish to drop the rest of p.
//
// p is not kept. After [ErrBusy], [ErrOrder] and [ErrClosed] nothing has changed; after [ErrMemory] the scanner stays in error
// until Reset.
func (s *Scanner) Feed(p []byte, yield func(Event) bool) (n int, err error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	if err := s.ready(); err != nil {
		return 0, err
	}
	if s.next < s.count { // pending since a pause
		_, err = s.run(feed, p, yield)
		return s.Consumed(), err
	}
	// This is written well before it is read, because a wide load directly after narrow stores stalls the processor.
	event := Event{
		Kind:       KindText,
		Channel:    Channel(s.c.channel),
		Offset:     int64(s.c.offset),
		Text:       p[:len(p):len(p)],
		FirstToken: s.firstToken,
	}
	if s.passes(p) {
		s.c.offset += C.uint64_t(len(p))
		s.c.passed += C.uint64_t(len(p))
		s.c.last = C.uint8_t(p[len(p)-1])
	} else {
		status := C.aside_go_feed(C.uintptr_t(uintptr(unsafe.Pointer(s.c))), data(p), C.size_t(len(p)))
		if status < C.ASIDE_GO_TEXT {
			s.consumed.Store(0)
			s.chunk = p
			_, err = s.deliver(feed, C.aside_status(status), p, yield)
			return s.Consumed(), err
		}
		if channel := Channel(status - C.ASIDE_GO_TEXT); channel != event.Channel {
			event.Channel = channel
		}
	}
	s.offset.Store(int64(s.c.offset))
	s.consumed.Store(int64(len(p)))
	yield(event)
	return len(p), nil
}

// mostLooked is the longest chunk for which looking at each byte is cheaper than a cgo call.
const mostLooked = 32

// passes reports whether a chunk needs no cgo call, because none of its bytes changes the scanner's state. The next cgo call
// reports the number of such bytes to the scanner.
func (s *Scanner) passes(p []byte) bool {
	if len(p) > mostLooked || len(p) == 0 {
		return false
	}
	quiet := &s.c.quiet
	for _, b := range p {
		if quiet[b/64]>>(b%64)&1 == 0 {
			return false
		}
	}
	return true
}

// FeedTokens is [Scanner.Feed] for bytes whose tokens are known. Markers that a dialect calls special then count only where a
// special token begins them, so that a marker typed as ordinary text stays text. Event.Tokens and Event.FirstToken say which
// tokens begin in an event, and Counts reports the tokens of each channel. Feeds with and without tokens may be mixed.
//
// The lengths of the tokens must add up to len(p); otherwise the error is [ErrLength] and nothing is fed. After a pause,
// continue with p[n:] and the tokens that are not completely consumed, the first of them with its remaining length. tokens is not
// kept.
func (s *Scanner) FeedTokens(p []byte, tokens []Token, yield func(Event) bool) (n int, err error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	if err := s.ready(); err != nil {
		return 0, err
	}
	s.tokens = appendTokens(s.tokens[:0], tokens)
	_, err = s.run(feedTokens, p, yield)
	return s.Consumed(), err
}

// appendTokens appends tokens in C's form.
func appendTokens(to []C.aside_token, tokens []Token) []C.aside_token {
	for _, token := range tokens {
		to = append(to, C.aside_token{len: C.uint32_t(token.Len), special: flag(token.Special)})
	}
	return to
}

// run yields the pending events, then does a piece of work. It makes one cgo call for each full array of events, so usually only
// one.
func (s *Scanner) run(work work, p []byte, yield func(Event) bool) (paused bool, err error) {
	s.consumed.Store(0)
	s.finishing = work == finish
	defer s.releaseChunk()
	if !s.yieldPending(yield) {
		return true, nil
	}
	return s.deliver(work, s.cross(work, p, s.tokens), p, yield)
}

// yieldPending calls yield for the pending events. It returns false if yield pauses the scanner.
func (s *Scanner) yieldPending(yield func(Event) bool) bool {
	for s.next < s.count {
		s.next++
		if !yield(s.event(&s.c.events[s.next-1])) {
			return false
		}
	}
	return true
}

// cross makes one cgo call, with a chunk and its tokens.
func (s *Scanner) cross(work work, p []byte, tokens []C.aside_token) C.aside_status {
	s.chunk = p
	switch work {
	case feed:
		return C.aside_go_feed_events(s.c, data(p), C.size_t(len(p)))
	case feedTokens:
		return C.aside_go_feed_tokens(s.c, data(p), C.size_t(len(p)), unsafe.SliceData(tokens), C.size_t(len(tokens)))
	case finish:
		return C.aside_go_finish(s.c)
	case flush:
		return C.aside_go_flush(s.c)
	default:
		return C.aside_go_force_close(s.c)
	}
}

// deliver yields the events of the first cgo call, and calls C again while there are more.
func (s *Scanner) deliver(work work, status C.aside_status, p []byte, yield func(Event) bool) (paused bool, err error) {
	for tokens := s.tokens; ; {
		s.note()
		if status < 0 {
			s.finishing = false
			return false, s.failure(status)
		}
		s.take()
		if !s.yieldPending(yield) {
			return true, nil
		}
		if status == C.ASIDE_OK {
			s.finishing = false
			return false, nil
		}
		if work == feedTokens {
			tokens = remaining(tokens, len(s.chunk))
		}
		status = s.cross(work, p[s.Consumed():], tokens)
	}
}

// data returns the address of a chunk.
func data(p []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(p))) }

// remaining returns the tokens that remain after n of their bytes are consumed, the first of them with its remaining length.
func remaining(tokens []C.aside_token, n int) []C.aside_token {
	for len(tokens) > 0 && n >= int(tokens[0].len) {
		n -= int(tokens[0].len)
		tokens = tokens[1:]
	}
	if n > 0 {
		tokens[0].len -= C.uint32_t(n)
	}
	return tokens
}

// take stores the results of a cgo call. It copies memory that is borrowed from the library, because a pause may outlive it: only
// a few bytes of a marker, and attributes.
func (s *Scanner) take() {
	array := &s.c.array
	s.next, s.count = 0, int(array.count)
	s.base = uint64(array.offset)
	s.chunk = s.chunk[:array.consumed]
	s.consumed.Add(int64(array.consumed))
	s.held = int(array.held.len)
	s.before = append(s.before[:0], borrowed(array.held.at, array.held.len)...)
	s.attributes = append(s.attributes[:0], borrowed(array.attributes.at, array.attributes.len)...)
	if s.count > 0 {
		last := &s.c.events[s.count-1]
		s.firstToken = uint64(last.first_token) + uint64(last.tokens)
	}
}

// note publishes the scanner's position for the methods without an error.
func (s *Scanner) note() {
	s.offset.Store(int64(s.c.offset))
	// An atomic store is expensive, and this value seldom changes.
	if holds := int64(s.c.holds); holds != s.holds.Load() {
		s.holds.Store(holds)
	}
}

// releaseChunk drops the caller's chunk. It copies the bytes of pending events into the scanner first.
func (s *Scanner) releaseChunk() {
	if s.next < s.count {
		s.before = append(s.before[:s.held], s.chunk...)
		s.held = len(s.before)
		s.base += uint64(len(s.chunk))
	}
	s.chunk = nil
}

func (s *Scanner) event(c *C.aside_event) Event {
	event := Event{
		Kind:       Kind(c.kind),
		Channel:    Channel(c.channel),
		Cause:      Cause(c.cause),
		Rule:       uint32(c.rule),
		Tag:        uint32(c.tag),
		Call:       uint32(c.call),
		Offset:     int64(c.offset),
		FirstToken: uint64(c.first_token),
		Tokens:     uint32(c.tokens),
	}
	if event.Kind == KindCallValueEnd || event.Kind == KindCallEnd {
		event.Tag, event.Repaired = 0, event.Tag == 1
	}
	if event.Kind != KindAttribute && !(event.Kind == KindCallName && c.value_len > 0) {
		event.Text = s.bytes(uint64(c.offset), int(c.len))
		return event
	}
	text := s.attributes[c.text_at:]
	middle, end := c.name_len, c.name_len+c.value_len
	s.attribute = Attribute{
		Name:        text[:middle:middle],
		Value:       text[middle:end:end],
		RawNameAt:   int(c.raw_name_at),
		RawNameLen:  int(c.raw_name_len),
		RawValueAt:  int(c.raw_value_at),
		RawValueLen: int(c.raw_value_len),
	}
	event.Attribute = &s.attribute
	return event
}

// bytes returns n bytes of the stream from an offset on. At most one event begins before the chunk and ends inside it: its bytes
// in the chunk are appended to its earlier bytes.
func (s *Scanner) bytes(offset uint64, n int) []byte {
	if offset >= s.base {
		at := int(offset - s.base)
		return s.chunk[at : at+n : at+n]
	}
	at := s.held - int(s.base-offset)
	if end := at + n; end > s.held {
		s.before = append(s.before[:s.held], s.chunk[:end-s.held]...)
	}
	return s.before[at : at+n : at+n]
}

func (s *Scanner) failure(status C.aside_status) error {
	return &failure{Status(status), C.GoString(&s.c.message[0])}
}

// borrowed returns memory of the library as a slice, valid as long as aside.h says.
func borrowed(at *C.char, n C.size_t) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(at)), int(n))
}
