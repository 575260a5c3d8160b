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

// ScannerOptions are the options of a scanner.
type ScannerOptions struct {
	// Start says what is open at the first byte.
	Start Start
	// Collect is how many bytes of whole thoughts to hold for TakeThought: text, types and attributes, of which each counts
	// as at least 48. What does not fit is cut off, the text last. 0: thoughts are not collected.
	Collect uint64
	// Budget limits the thinking: a KindBudget event stands where the thinking exceeds it. nil: no limit.
	Budget *Budget
	// StrayClose says how a closer of the thinking without an opener, after content, is treated.
	StrayClose StrayClose
	// LeadingTags says how to read a tag think, thinking or thought as the first thing of a stream, where it is not the
	// dialect's own.
	LeadingTags LeadingTags
	// Calls reports tool calls with their names and arguments, as the kinds from KindCall on, if the dialect says how they are
	// written. Otherwise their bytes are text of the channel tool. A [CallWriter] makes JSON of them.
	Calls bool
	// CallsInThinking says how a tool call that begins inside the thinking is treated.
	CallsInThinking CallsInThinking
}

// Budget is how much thinking there may be.
type Budget struct {
	Limit uint64
	Unit  BudgetUnit
	Scope BudgetScope
}

// Scanner splits one stream into events. In the steady state, feeding allocates nothing.
//
// A yield function that returns false pauses the scanner; so does one that panics. The event that it was called with counts as
// delivered. A pause is not an error, and nothing is lost or repeated: the next call begins with the events that are still
// pending, and [Scanner.Consumed] says how many bytes of the chunk are done.
//
// One call at a time may use a scanner. A second one, from another goroutine, from the scanner's own yield function or from
// the reader that All reads, returns [ErrBusy] and changes nothing. Methods that return no error may be called at any time:
// they report the state after the last completed crossing into C. Scanners share no state with each other.
type Scanner struct {
	use exclusive
	// The results of the methods without an error, readable while a call is in progress.
	offset, holds, maxHold, consumed atomic.Int64

	scannerState

	_ noCopy
}

// scannerState belongs to the call that is in progress; nothing else may touch it.
type scannerState struct {
	c         *C.aside_go // nil once closed
	finishing bool        // a finish was paused

	// The pending events are those of c from next up to count. Their bytes are in chunk, whose first byte has the offset
	// base, and in the first held bytes of before, which precede chunk in the stream.
	next, count int
	base        uint64
	chunk       []byte
	held        int
	before      []byte
	attributes  []byte
	attribute   Attribute
	tokens      []C.aside_token // the tokens given to FeedTokens, for C
	// How many tokens begin before the next event. The first event of a stream never takes the shortcut of Feed, so that this
	// number begins anew with it.
	firstToken uint64

	// The buffer of All, the part of it that is not fed yet, and the reader's error after that part.
	buf, rest []byte
	readErr   error
}

// noCopy makes go vet report copies, of which each would free the memory of the others.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// NewScanner returns a scanner at the start of a stream. The options may be nil. The error is [ErrOption] for a start that the
// dialect does not have, [ErrNull] or [ErrClosed] for a dialect that is nil or closed, and [ErrMemory].
//
// The dialect may be closed before the scanner. Close frees the scanner; the garbage collector frees a forgotten one, but it
// does not see how much memory of C that is.
func NewScanner(d *Dialect, options *ScannerOptions) (*Scanner, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if options == nil {
		options = &ScannerOptions{}
	}
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
	s := &Scanner{}
	if status := C.aside_go_new(d.c, &c, &s.c); status != C.ASIDE_OK {
		return nil, lastFailure(status)
	}
	s.begin()
	return s, nil
}

// Clone returns a second scanner in the same state, in mid-stream too: for beam search, and for trying again from here. Feeding
// one does not change the other. Both have the pending events of a pause, the thoughts that were not taken, and the bytes that
// All has read and not fed. Close the clone like any scanner.
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
		firstToken: s.firstToken,
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

// begin completes a new scanner.
func (s *Scanner) begin() {
	s.maxHold.Store(int64(C.aside_scanner_max_hold(s.c.scanner)))
	s.note()
	runtime.SetFinalizer(s, (*Scanner).Close)
}

// Close frees the scanner. Held bytes are lost: call Finish first to get them. Close returns [ErrBusy] and frees nothing while
// a call is in progress. Closing it again does nothing.
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
	return nil
}

// Feed scans the next bytes of the stream, cut anywhere, and calls yield for each event that they decide. It returns how many
// bytes of p are done: all of them, unless yield paused the scanner or the call failed. After a pause, go on with
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
	// Written well before it is read: a wide load directly after narrow stores stalls the processor.
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

// mostLooked is the longest chunk for which looking at each byte is cheaper than crossing into C.
const mostLooked = 32

// passes reports whether a chunk needs no crossing, because none of its bytes changes the scanner's state. The next crossing
// tells the scanner how many bytes have passed.
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

// Token is a token of the model, as the caller's tokenizer knows it.
type Token struct {
	Len     uint32 // its number of bytes in the chunk; a token without bytes is not counted
	Special bool   // one of the tokenizer's added tokens; all others are text, whatever they look like
}

// FeedTokens is [Scanner.Feed] for bytes whose tokens are known. Markers that a dialect calls special then count only where a
// special token begins them, so that a marker typed as ordinary text stays text. Event.Tokens and Event.FirstToken say which
// tokens begin in an event, and Counts reports the tokens of each channel. Feeds with and without tokens may be mixed.
//
// The lengths of the tokens must add up to len(p); otherwise the error is [ErrLength] and nothing is fed. After a pause, go on
// with p[n:] and the tokens that are not completely done, the first of them with its remaining length. tokens is not kept.
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

// StartFromPrompt sets where the next stream starts, before its first byte: after a rendered prompt that ends in tail. It reads
// what follows the dialect's last turn marker in tail as if the model had written it, so the stream may start inside a span or
// a header. The events of open spans come with the first byte, at offset 0 and without bytes of their own. Finish, Reset and an
// empty tail go back to the scanner's own start.
//
// It returns what is open at byte 0. What the prompt leaves undecided is not open: a marker that is cut off, and an opener of a
// tool call that counts only if a call comes after it. If the stream decides that the opener counts, the first event opens its
// span. If the stream has begun, the error is [ErrOrder].
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

// Start returns where the current stream starts, or the next one: as a prompt or the options say, or else the dialect. guessed
// reports whether that is only what the dialect guesses of its models, that they start in the thinking: neither a prompt nor the
// options have said so.
func (s *Scanner) Start() (start Start, guessed bool, err error) {
	if err := s.enter(); err != nil {
		return StartDefault, false, err
	}
	defer s.leave()
	var c, isGuessed C.uint32_t
	if status := C.aside_go_start(s.c, &c, &isGuessed); status != C.ASIDE_OK {
		return StartDefault, false, s.failure(status)
	}
	return Start(c), isGuessed == 1, nil
}

// EndReason says why the stream ends, before Finish, which forgets the reason, as Reset does.
//
// It matters where the start was guessed to be in the thinking. If an answer ended ([EndReasonEnded]) and nothing in it has closed
// that thinking or written its opener, it was the answer: Finish then reports [KindReclassify] with [ChannelContent], before the
// span is closed.
func (s *Scanner) EndReason(reason EndReason) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := s.ready(); err != nil {
		return err
	}
	if status := C.aside_go_end_reason(s.c, C.uint32_t(reason)); status != C.ASIDE_OK {
		return s.failure(status)
	}
	return nil
}

// Finish ends the stream: it decides the held bytes and closes the open spans. The scanner is reset by that, and the next Feed
// begins a new stream at offset 0. If yield pauses it, call Finish again: a Feed in between returns [ErrOrder].
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

// Flush releases the held bytes as text of their channel. The stream goes on. It is for a host that must show everything now: a
// marker of which a part was flushed is not recognised any more.
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

// ForceClose closes the open thinking span, after the bytes fed so far: it releases the held bytes as text and ends the span
// with [CauseForced]. If the innermost span is not thinking, nothing happens. A closer that comes next, with only blanks before
// it, is removed. It is for a host that ends thinking that has become too long.
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

// Reset drops the stream: held bytes, pending events, thoughts that were not taken, and every error but [ErrDefect]. The next
// Feed begins a new stream.
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

// All returns an iterator that reads r to its end, finishes the stream and yields its events. An error, of r or of the scanner,
// is yielded once, with an empty event, and ends the loop. After an error of r the stream is not finished, and held bytes stay
// held.
//
// Leaving the loop early pauses the scanner; ranging over All of the same reader goes on where it stopped. If bytes were read
// and not fed by then, Feed, Flush and Finish return [ErrOrder] until they are fed or Reset drops them. An error that r has
// returned by then is kept for the next All.
func (s *Scanner) All(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := s.all(r, func(event Event) bool { return yield(event, nil) }); err != nil {
			yield(Event{}, err)
		}
	}
}

const (
	readSize   = 16 * 1024
	emptyReads = 100 // in a row: the reader makes no progress
)

func (s *Scanner) all(r io.Reader, yield func(Event) bool) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave() // held while the reader runs: Close must not free the scanner during All
	if s.buf == nil {
		s.buf = make([]byte, readSize)
	}
	empty, eof := 0, false
	for !s.finishing {
		// Also without unfed bytes: events may be pending since a pause.
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

// feedRest feeds what All has read. If yield panics, the bytes consumed so far count as done.
func (s *Scanner) feedRest(yield func(Event) bool) (paused bool, err error) {
	defer func() { s.rest = s.rest[s.Consumed():] }()
	return s.run(feed, s.rest, yield)
}

// enter begins a call, which leave ends. It returns an error if the scanner is closed or in use.
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

// leave ends a call, by return or by panic.
func (s *Scanner) leave() {
	s.releaseChunk()
	s.use.leave()
}

// ready returns an error if the scanner cannot be fed now.
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

// run yields the pending events, then does a piece of work. It crosses into C once for each array of events, usually once.
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

// cross crosses into C once, with a chunk and its tokens.
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

// deliver yields the events of the first crossing, and crosses again while there are more.
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

// remaining returns the tokens that are left once n of their bytes are done, the first of them with its remaining length.
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

// take stores the results of a crossing. It copies what is borrowed from the library, because a pause may outlive it: only a
// few bytes of a marker, and attributes.
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
	// An atomic store is expensive, and this seldom changes.
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

// bytes returns n bytes of the stream from an offset on. At most one event begins before the chunk and ends inside it: its
// bytes in the chunk are appended to those before.
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

// Consumed returns how many bytes of the last Feed's chunk are done. Feed returns the same number; Consumed is for those whose
// yield function has panicked. It may be called at any time.
func (s *Scanner) Consumed() int { return int(s.consumed.Load()) }

// Counts has the counts of one channel of a stream.
type Counts struct {
	Bytes      uint64 // of text; markers and framing are not counted
	Characters uint64 // of text; in invalid UTF-8, the bytes that do not continue a character
	Spans      uint64 // opened
	Tokens     uint64 // from FeedTokens, whose first byte is text of the channel
	// LostThoughts, of ChannelThinking: thoughts that were dropped since the start or the last Reset, because 1,024 others
	// were waiting for TakeThought.
	LostThoughts uint64
}

// Counts returns how much text of a channel the stream has had so far. After Finish it is about the finished stream, until
// another begins. Held bytes are not counted yet; pending events are. The error is [ErrRange] for a channel that does not
// exist.
//
// If a finished stream has bytes of thinking, and none of content or tool calls, then the whole answer was thinking: the model
// broke off, or thinking was off although the stream started inside it. A host that knows it was off can show the text.
func (s *Scanner) Counts(channel Channel) (Counts, error) {
	if err := s.enter(); err != nil {
		return Counts{}, err
	}
	defer s.leave()
	if status := C.aside_go_counts(s.c, C.uint32_t(channel)); status != C.ASIDE_OK {
		return Counts{}, s.failure(status)
	}
	c := &s.c.counts
	return Counts{
		Bytes:        uint64(c.bytes),
		Characters:   uint64(c.characters),
		Spans:        uint64(c.spans),
		Tokens:       uint64(c.tokens),
		LostThoughts: uint64(c.lost_thoughts),
	}, nil
}

// Offset returns the offset of the next byte to be fed; 0 once the scanner is closed. It may be called at any time.
func (s *Scanner) Offset() int64 { return s.offset.Load() }

// Held returns how many bytes are held back now, because they could still become part of a marker or complete a character; 0
// once the scanner is closed. It may be called at any time.
func (s *Scanner) Held() int { return int(s.holds.Load()) }

// MaxHold returns the largest number of bytes that this scanner holds back; 0 once it is closed. It may be called at any time.
func (s *Scanner) MaxHold() int { return int(s.maxHold.Load()) }
