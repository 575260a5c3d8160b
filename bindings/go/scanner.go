package aside

// #include "bridge.h"
import "C"

import (
	"bytes"
	"io"
	"iter"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Options of a scanner.
type Options struct {
	Start Start
	// Collect whole thoughts for TakeThought: the most bytes of them to hold at a time, text, types and attributes, of
	// which each counts as 48 at least. What has no room is cut off, the text last. 0: off.
	Collect uint64
	// Budget of the thinking: where it goes beyond, a Budget event stands. nil: none.
	Budget *Limit
	// StrayClose is what becomes of a closer of the thinking that has no opener and comes after content.
	StrayClose StrayClose
}

// StrayClose is what becomes of a closer of the thinking that has no opener and comes after content.
type StrayClose uint32

const (
	// StrayCloseDialect: what the dialect says.
	StrayCloseDialect StrayClose = C.ASIDE_STRAY_CLOSE_DIALECT
	// StrayCloseText: it is text, for a host that is sure that its model does not think.
	StrayCloseText StrayClose = C.ASIDE_STRAY_CLOSE_TEXT
)

// Limit is the most thinking that there may be.
type Limit struct {
	Max   uint64
	Unit  Unit
	Scope Scope
}

// Unit is what a limit counts.
type Unit uint32

const (
	// UnitBytes: bytes.
	UnitBytes Unit = C.ASIDE_BUDGET_BYTES
	// UnitCharacters: characters.
	UnitCharacters Unit = C.ASIDE_BUDGET_CHARACTERS
)

// Scope is what a limit is for.
type Scope uint32

const (
	// ScopeSpan: each thinking span has it.
	ScopeSpan Scope = C.ASIDE_BUDGET_SPAN
	// ScopeStream: all thinking of the stream has it together.
	ScopeStream Scope = C.ASIDE_BUDGET_STREAM
)

// Start is what is open at the first byte.
type Start uint32

const (
	// StartDefault: as the dialect says.
	StartDefault Start = C.ASIDE_START_DEFAULT
	// StartContent: no span is open.
	StartContent Start = C.ASIDE_START_CONTENT
	// StartThinking: the stream begins inside a thinking span, whose opener was in the prompt.
	StartThinking Start = C.ASIDE_START_THINKING
	// StartNarration: the stream begins inside a narration span.
	StartNarration Start = C.ASIDE_START_NARRATION
	// StartTool: the stream begins inside a tool span.
	StartTool Start = C.ASIDE_START_TOOL
	// StartHeader: the stream begins inside a channel header, of a dialect that has headers.
	StartHeader Start = C.ASIDE_START_HEADER
)

// Scanner is the state of one stream. One call at a time may use it: a second one, from another goroutine or from a
// yield function, says [ErrBusy] and changes nothing. Different scanners share nothing that changes. Feeding allocates
// nothing in the steady state.
//
// A yield function that returns false pauses the scanner, and so does one that panics; the event that it was called
// with counts as delivered. This is no error and nothing is lost or repeated: events that are still due come first in
// the next call, and [Scanner.Consumed] bytes of the chunk are done. A scanner that is called from its own yield function,
// or from the reader that All reads, says [ErrBusy]. Methods without an error may be called at any time: they say how
// far the scanner was when it last looked up.
type Scanner struct {
	use exclusive
	// What methods without an error give, also while a call is under way.
	offset, holds, maxHold, consumed atomic.Int64
	lost                             atomic.Uint64

	scannerState

	_ noCopy
}

// scannerState is what belongs to the call that is inside.
type scannerState struct {
	c         *C.aside_go // nil once closed
	finishing bool        // a finish was paused

	// The events of c that are still due are those from next up to count. Their bytes lie in chunk, of which the first
	// has the offset base, and in before, of which the first held bytes stood directly before chunk.
	next, count int
	base        uint64
	chunk       []byte
	held        int
	before      []byte
	attributes  []byte
	attr        Attr
	tokens      []C.aside_token // what FeedTokens was given, as C has it

	// What All reads into, what of it was not fed yet, and the reader's error behind that.
	buf, rest []byte
	readErr   error
}

// noCopy lets go vet see copies: one would free the memory of the other.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// NewScanner makes a scanner at the start of a stream. The options may be nil. The dialect may be closed before the
// scanner. A start that the dialect does not have is [ErrOption].
//
// Close frees the scanner; one that is forgotten is freed by the garbage collector, which does not see how much memory of
// C's there is.
func NewScanner(d *Dialect, options *Options) (*Scanner, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if options == nil {
		options = &Options{}
	}
	c := C.aside_options{
		size:        C.sizeof_aside_options,
		start:       C.uint32_t(options.Start),
		stray_close: C.uint32_t(options.StrayClose),
		collect:     C.uint64_t(options.Collect),
	}
	if limit := options.Budget; limit != nil {
		c.has_budget = 1
		c.budget = C.uint64_t(limit.Max)
		c.budget_unit = C.uint32_t(limit.Unit)
		c.budget_scope = C.uint32_t(limit.Scope)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &Scanner{}
	if status := C.aside_go_new(d.c, &c, &s.c); status != C.ASIDE_OK {
		return nil, lastFailure(status)
	}
	s.begin()
	return s, nil
}

// Clone makes a second scanner in the same state, in mid-stream too: for beams, and for trying again from here. What is
// fed to one does not change the other. Events that are due after a pause, thoughts that were not taken, and bytes that
// All has read and not fed are in both. Close frees it, as one from [NewScanner].
func (s *Scanner) Clone() (*Scanner, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	second := &Scanner{scannerState: scannerState{
		finishing:  s.finishing,
		next:       s.next,
		count:      s.count,
		base:       s.base,
		held:       s.held,
		before:     bytes.Clone(s.before),
		attributes: bytes.Clone(s.attributes),
		rest:       bytes.Clone(s.rest),
		readErr:    s.readErr,
	}}
	if status := C.aside_go_clone(s.c, &second.c); status != C.ASIDE_OK {
		return nil, lastFailure(status)
	}
	second.consumed.Store(s.consumed.Load())
	second.begin()
	return second, nil
}

// begin is the end of making a scanner.
func (s *Scanner) begin() {
	s.maxHold.Store(int64(C.aside_scanner_max_hold(s.c.scanner)))
	s.note()
	runtime.SetFinalizer(s, (*Scanner).Close)
}

// Close frees the scanner. What it held back is lost: Finish first. While a call is under way nothing is freed, and the
// error is [ErrBusy]. Closing it again does nothing.
func (s *Scanner) Close() error {
	if !s.use.enter() {
		return ErrBusy
	}
	defer s.use.leave()
	if s.c == nil {
		return nil
	}
	runtime.SetFinalizer(s, nil)
	C.aside_go_free(s.c)
	s.scannerState = scannerState{}
	s.offset.Store(0)
	s.holds.Store(0)
	s.maxHold.Store(0)
	s.consumed.Store(0)
	s.lost.Store(0)
	return nil
}

// Feed feeds the next bytes of the stream, cut anywhere, and calls yield for each event that they settle. It gives how
// many bytes of p are done: all of them, unless yield has paused the scanner or an error has come. After a pause, go on
// with Feed(p[n:], yield), or Finish if p is of no interest any more.
//
// p is not used after the call. After an error of kind [ErrBusy], [ErrOrder] or [ErrClosed] nothing has changed.
func (s *Scanner) Feed(p []byte, yield func(Event) bool) (n int, err error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	if err := s.ready(); err != nil {
		return 0, err
	}
	if s.next < s.count { // events are due since a pause
		_, err = s.run(feed, p, yield)
		return s.Consumed(), err
	}
	// Written as early as can be, so that what was written in small pieces need not be read in large ones at once.
	event := Event{Kind: Text, Channel: Channel(s.c.channel), Offset: int64(s.c.offset), Text: p[:len(p):len(p)]}
	if s.passes(p) {
		s.c.offset += C.uint64_t(len(p))
		s.c.passed += C.uint64_t(len(p))
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

// Up to so many bytes, a look at each is cheaper than a crossing.
const shortest = 32

// passes says whether a chunk can pass without a crossing: all its bytes change nothing where the stream stands. The
// scanner is told of it with the next crossing.
func (s *Scanner) passes(p []byte) bool {
	if len(p) > shortest || len(p) == 0 {
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

// Token is a token of the model's, as the caller's tokenizer knows it.
type Token struct {
	Len     uint32 // how many bytes of the chunk; one of none counts nowhere
	Special bool   // one of the tokenizer's added tokens; otherwise it is text, whatever it looks like
}

// FeedTokens is Feed for bytes whose tokens are known: their lengths add up to p's, or the error is [ErrLength] and
// nothing of p is fed. Markers that a dialect calls special then count only where a special token begins them, so that a
// marker typed as ordinary text stays text, and Counts tells the tokens of each channel. Feeds with and without tokens
// may be mixed.
//
// After a pause, go on with p[n:] and the tokens that are not wholly done, the first of them with the length that is
// left of it. tokens is not used after the call.
func (s *Scanner) FeedTokens(p []byte, tokens []Token, yield func(Event) bool) (n int, err error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	if err := s.ready(); err != nil {
		return 0, err
	}
	s.tokens = s.tokens[:0]
	for _, token := range tokens {
		c := C.aside_token{len: C.uint32_t(token.Len)}
		if token.Special {
			c.special = 1
		}
		s.tokens = append(s.tokens, c)
	}
	_, err = s.run(feedTokens, p, yield)
	return s.Consumed(), err
}

// StartFromPrompt says where the next stream starts, before its first byte: behind a rendered prompt that ends in tail.
// What stands there behind the dialect's last turn marker is read as if the model had written it, so that the stream may
// start inside a span or a header. Spans that are open open at offset 0, without bytes, when the first byte is fed.
// Finish and Reset go back to the scanner's own start; so does an empty tail.
//
// It gives what is open at byte 0. Where the stream has begun, the error is [ErrOrder].
func (s *Scanner) StartFromPrompt(tail string) (Start, error) {
	if err := s.enter(); err != nil {
		return StartDefault, err
	}
	defer s.leave()
	if err := s.ready(); err != nil {
		return StartDefault, err
	}
	var start C.uint32_t
	status := C.aside_go_start_from_prompt(s.c, chars(tail), C.size_t(len(tail)), &start)
	s.note()
	if status != C.ASIDE_OK {
		return StartDefault, s.failure(status)
	}
	return Start(start), nil
}

// Finish ends the stream: settles what is held back, closes what is open. The scanner is then as new, and the next Feed
// begins a new stream at offset 0. If yield has paused it, call Finish again: a Feed in between is [ErrOrder].
func (s *Scanner) Finish(yield func(Event) bool) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := s.ready(); err != nil && !(err == ErrOrder && s.finishing) {
		return err
	}
	s.readErr = nil
	_, err := s.run(finish, nil, yield)
	return err
}

// Flush releases what is held back as text of its channel, and keeps the state: the stream goes on. For a host that must
// show everything now; a marker of which a part was flushed is no marker any more.
func (s *Scanner) Flush(yield func(Event) bool) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := s.ready(); err != nil {
		return err
	}
	_, err := s.run(flush, nil, yield)
	return err
}

// ForceClose closes the thinking that is open, behind the bytes that are done: releases what is held back as text, and
// ends the span with [CauseForced]. Where the innermost span is no thinking, nothing happens. A closer that comes next,
// with only blanks before it, is removed. For a host that ends a thinking which has become too long.
func (s *Scanner) ForceClose(yield func(Event) bool) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := s.ready(); err != nil {
		return err
	}
	_, err := s.run(forceClose, nil, yield)
	return err
}

// Reset drops everything, and makes the scanner as new: what was held back or is still due, thoughts not taken, and
// every error but [ErrDefect].
func (s *Scanner) Reset() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	status := C.aside_go_reset(s.c)
	s.note()
	if status != C.ASIDE_OK {
		return s.failure(status)
	}
	s.finishing = false
	s.next, s.count = 0, 0
	s.consumed.Store(0)
	s.rest, s.readErr = nil, nil
	return nil
}

// All reads r to its end, and gives the events of the stream, finished. An error, of r or of the scanner, is given once,
// with an empty event, and is the last.
//
// A loop that is left early pauses the scanner: ranging over All of the same reader goes on where it stopped, and until
// then or Reset, Feed, Flush and Finish are [ErrOrder] if bytes were read and not fed yet. An error that r has given by then
// is kept for the next All. After an error of r the stream is not finished: what is held back stays so.
func (s *Scanner) All(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := s.all(r, func(event Event) bool { return yield(event, nil) }); err != nil {
			yield(Event{}, err)
		}
	}
}

const (
	readSize   = 16 * 1024
	emptyReads = 100 // in a row, before a reader is said to make no progress
)

func (s *Scanner) all(r io.Reader, yield func(Event) bool) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave() // the reader finds it busy too: it must not be closed under All
	if s.buf == nil {
		s.buf = make([]byte, readSize)
	}
	empty, eof := 0, false
	for !s.finishing {
		// Also without a rest: events may be due since a pause.
		if paused, err := s.feedRest(yield); paused || err != nil {
			return err
		}
		if err := s.readErr; err != nil {
			s.readErr = nil
			return err
		}
		if eof {
			break
		}
		n, err := r.Read(s.buf)
		if n < 0 || n > len(s.buf) {
			return errCount
		}
		s.rest = s.buf[:n]
		switch {
		case err == io.EOF:
			eof = true
		case err != nil:
			s.readErr = err
		case n > 0:
			empty = 0
		default:
			if empty++; empty == emptyReads {
				return io.ErrNoProgress
			}
		}
	}
	_, err := s.run(finish, nil, yield)
	return err
}

// feedRest feeds what All has read; also where yield panics, what is done of it counts as done.
func (s *Scanner) feedRest(yield func(Event) bool) (paused bool, err error) {
	defer func() { s.rest = s.rest[s.Consumed():] }()
	return s.run(feed, s.rest, yield)
}

// enter begins a call, which leave ends. It gives the error of a scanner that is closed or in use.
func (s *Scanner) enter() error {
	if !s.use.enter() {
		return ErrBusy
	}
	if s.c == nil {
		s.use.leave()
		return ErrClosed
	}
	return nil
}

// leave ends a call, however that ends.
func (s *Scanner) leave() {
	s.letGo()
	s.use.leave()
}

// ready gives the error of a scanner that cannot be fed now.
func (s *Scanner) ready() error {
	switch {
	case s.finishing:
		return ErrOrder
	case len(s.rest) > 0:
		return &failure{ErrOrder, "bytes that All has read are not fed yet: go on with All, or reset the scanner"}
	}
	return nil
}

type work int

const (
	feed work = iota
	feedTokens
	finish
	flush
	forceClose
)

// run does a piece of work with one crossing for each array of events, mostly just one. Events that are due come first.
func (s *Scanner) run(work work, p []byte, yield func(Event) bool) (paused bool, err error) {
	s.consumed.Store(0)
	s.finishing = work == finish
	defer s.letGo()
	if !s.due(yield) {
		return true, nil
	}
	return s.deliver(work, s.cross(work, p, s.tokens), p, yield)
}

// due calls yield for the events that are due; false where that pauses.
func (s *Scanner) due(yield func(Event) bool) bool {
	for s.next < s.count {
		s.next++
		if !yield(s.event(&s.c.events[s.next-1])) {
			return false
		}
	}
	return true
}

// cross crosses once, with a chunk and its tokens.
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

// deliver takes what the first crossing of a piece of work has given, and crosses again while there is more.
func (s *Scanner) deliver(work work, status C.aside_status, p []byte, yield func(Event) bool) (paused bool, err error) {
	for tokens := s.tokens; ; {
		s.note()
		if status < 0 {
			s.finishing = false
			return false, s.failure(status)
		}
		s.take()
		if !s.due(yield) {
			return true, nil
		}
		if status == C.ASIDE_OK {
			s.finishing = false
			return false, nil
		}
		if work == feedTokens {
			tokens = behind(tokens, len(s.chunk))
		}
		status = s.cross(work, p[s.Consumed():], tokens)
	}
}

// data is where a chunk lies.
func data(p []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(p))) }

// behind gives the tokens that are not wholly done where n of their bytes are, the first with the length that is left.
func behind(tokens []C.aside_token, n int) []C.aside_token {
	for len(tokens) > 0 && n >= int(tokens[0].len) {
		n -= int(tokens[0].len)
		tokens = tokens[1:]
	}
	if n > 0 {
		tokens[0].len -= C.uint32_t(n)
	}
	return tokens
}

// take notes what a crossing has given. What the library lends is copied, for nobody can say when it ends: it is no
// more than a few bytes of a marker, and attributes.
func (s *Scanner) take() {
	fed := &s.c.fed
	s.next, s.count = 0, int(fed.count)
	s.base = uint64(fed.offset)
	s.chunk = s.chunk[:fed.consumed]
	s.consumed.Add(int64(fed.consumed))
	s.held = int(fed.held_len)
	s.before = append(s.before[:0], lent(fed.held, fed.held_len)...)
	s.attributes = append(s.attributes[:0], lent(fed.attributes, fed.attributes_len)...)
}

// note says what a crossing has left behind.
func (s *Scanner) note() {
	s.offset.Store(int64(s.c.offset))
	// A store costs, and these seldom change.
	if holds := int64(s.c.holds); holds != s.holds.Load() {
		s.holds.Store(holds)
	}
	if lost := uint64(s.c.lost); lost != s.lost.Load() {
		s.lost.Store(lost)
	}
}

// letGo gives the chunk back to its caller: the bytes of events that are still due move to the scanner.
func (s *Scanner) letGo() {
	if s.next < s.count {
		s.before = append(s.before[:s.held], s.chunk...)
		s.held = len(s.before)
		s.base += uint64(len(s.chunk))
	}
	s.chunk = nil
}

func (s *Scanner) event(c *C.aside_event) Event {
	event := Event{
		Kind:    Kind(c.kind),
		Channel: Channel(c.channel),
		Cause:   Cause(c.cause),
		Rule:    uint32(c.rule),
		Tag:     uint32(c.tag),
		Offset:  int64(c.offset),
	}
	if event.Kind != Attribute {
		event.Text = s.bytes(uint64(c.offset), int(c.len))
		return event
	}
	text := s.attributes[c.text_at:]
	middle, end := c.name_len, c.name_len+c.value_len
	s.attr = Attr{
		Name:        text[:middle:middle],
		Value:       text[middle:end:end],
		RawNameAt:   int(c.raw_name_at),
		RawNameLen:  int(c.raw_name_len),
		RawValueAt:  int(c.raw_value_at),
		RawValueLen: int(c.raw_value_len),
	}
	event.Attr = &s.attr
	return event
}

// bytes gives the n bytes of the stream from an offset on. One event at most begins before the chunk and ends inside it:
// its bytes in the chunk are joined to those before.
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

// lent views memory of the scanner's.
func lent(at *C.char, n C.size_t) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(at)), int(n))
}

// Consumed is how many bytes of the last Feed's chunk are done: what Feed returns, for those whose yield function
// has panicked.
func (s *Scanner) Consumed() int { return int(s.consumed.Load()) }

// Counts is what a channel has had of a stream.
type Counts struct {
	Bytes      uint64 // of text; markers and framing count nowhere
	Characters uint64 // of text; of invalid UTF-8, the bytes that do not continue a character
	Spans      uint64 // that were opened
	Tokens     uint64 // whose first byte is text of the channel, of those from FeedTokens
}

// Counts gives how much of a channel's text was settled since the stream began; of the stream that was finished last,
// until another begins. What is held back counts when it is settled; events that are due after a pause are counted.
//
// After Finish, bytes of thinking and none of content or tool calls are an answer that was thinking to its end: the model broke
// off, or the stream was started in the thinking although that was off. A host that knows it was off can show the text.
func (s *Scanner) Counts(channel Channel) (Counts, error) {
	if err := s.enter(); err != nil {
		return Counts{}, err
	}
	defer s.leave()
	if status := C.aside_go_counts(s.c, C.uint32_t(channel)); status != C.ASIDE_OK {
		return Counts{}, s.failure(status)
	}
	c := &s.c.counts
	return Counts{uint64(c.bytes), uint64(c.characters), uint64(c.spans), uint64(c.tokens)}, nil
}

// Offset is the offset in the stream of the next byte to be fed; 0 once the scanner is closed.
func (s *Scanner) Offset() int64 { return s.offset.Load() }

// Held is how many bytes are held back now, because they may still become part of a marker or of a character; 0 once
// the scanner is closed.
func (s *Scanner) Held() int { return int(s.holds.Load()) }

// MaxHold is the most bytes that this scanner holds back for what may come; 0 once it is closed.
func (s *Scanner) MaxHold() int { return int(s.maxHold.Load()) }
