//go:build cgo

package aside

import (
	"io"
	"iter"
	"runtime"
	"sync/atomic"
)

// ScannerOptions are the options of a scanner.
type ScannerOptions struct {
	// Start is the span that is open at the first byte.
	Start Start
	// Collect is the largest number of bytes of whole thoughts to hold for TakeThought: text, types and attributes, of which each
	// counts as at least 48. If a thought does not fit, attributes are dropped first, then the type, and then the end of the text. 0:
	// thoughts are not collected.
	Collect uint64
	// Budget limits the thinking: a KindBudget event marks where the thinking exceeds it. nil: no limit.
	Budget *Budget
	// StrayClose is the treatment of a closer of the thinking without an opener, after content.
	StrayClose StrayClose
	// LeadingTags is the reading of a tag think, thinking or thought at the beginning of a stream, where it is not the dialect's
	// own.
	LeadingTags LeadingTags
	// Calls reports tool calls with their names and arguments, as the kinds from KindCall on, if the dialect says how they are
	// written. Otherwise their bytes are text of the channel tool. An [Answer] makes JSON of them.
	Calls bool
	// CallsInThinking is the treatment of a tool call that begins inside the thinking.
	CallsInThinking CallsInThinking
}

// Budget is the limit of the thinking.
type Budget struct {
	Limit uint64
	Unit  BudgetUnit
	Scope BudgetScope
}

// Scanner splits one stream into events. In the steady state, feeding allocates nothing.
//
// A yield function that returns false pauses the scanner; so does one that panics. The event that it was called with counts as
// delivered. A pause is not an error, and nothing is lost or repeated: the next call begins with the events that are still
// pending, and [Scanner.Consumed] says how many bytes of the chunk are consumed.
//
// Only one call at a time may use a scanner. A second call, from another goroutine, from the scanner's own yield function or from
// the reader that All reads, returns [ErrBusy] and changes nothing. Methods that return no error may be called at any time: they
// report the state after the last completed call into C. Scanners share no state with each other.
type Scanner struct {
	use exclusive
	// The results of the methods that return no error; they can be read while a call is in progress.
	offset, holds, maxHold, consumed atomic.Int64

	scannerState

	_ noCopy
}

// noCopy makes go vet report copies, because each copy would free the memory of the others.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// NewScanner returns a scanner at the start of a stream. The options may be nil. The error is [ErrOption] for a start that the
// dialect does not have, [ErrNull] or [ErrClosed] for a dialect that is nil or closed, and [ErrMemory].
//
// The dialect may be closed before the scanner. Close frees the scanner; without Close, the garbage collector does, but it
// does not see how much memory of C that is.
func NewScanner(d *Dialect, options *ScannerOptions) (*Scanner, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	if options == nil {
		options = &ScannerOptions{}
	}
	s := &Scanner{}
	if err := s.open(d, options); err != nil {
		return nil, err
	}
	return s, nil
}

// Clone returns a second scanner in the same state, in mid-stream too: for beam search, and for trying again from here. Feeding one
// scanner does not change the other. Both have the pending events of a pause, the thoughts that were not taken, and the bytes that
// All has read and not fed. Close the clone like any scanner.
func (s *Scanner) Clone() (*Scanner, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	second := &Scanner{}
	if err := second.openClone(s); err != nil {
		return nil, err
	}
	second.consumed.Store(s.consumed.Load())
	return second, nil
}

// Close frees the scanner. Held bytes are lost: call Finish first to get them. Close returns [ErrBusy] and frees nothing while
// a call is in progress. Closing it again does nothing.
func (s *Scanner) Close() error {
	if s == nil {
		return errNil
	}
	if !s.use.enter() {
		return ErrBusy
	}
	defer s.use.leave()
	s.use.closed = true
	if s.isClosed() {
		return nil
	}
	runtime.SetFinalizer(s, nil)
	s.free()
	s.scannerState = scannerState{}
	s.offset.Store(0)
	s.holds.Store(0)
	s.maxHold.Store(0)
	s.consumed.Store(0)
	return nil
}

// Token is a token of the model, as the caller's tokenizer knows it.
type Token struct {
	Len     uint32 // its number of bytes in the chunk; a token without bytes is not counted
	Special bool   // one of the tokenizer's added tokens; all others are text, whatever they look like
}

// StartFromPrompt sets the start of the next stream from tail, the end of the rendered prompt. Call it before the first byte of
// the stream. It reads the text after the dialect's last turn marker in tail as if the model had written it, so the stream may
// start inside a span or a header. The events of open spans are reported with the first byte, at offset 0 and without bytes.
// Finish, Reset and an empty tail restore the scanner's own start.
//
// It returns the span that is open at byte 0. An undecided marker at the prompt's end opens no span: an incomplete marker, or an
// opener of a tool call that counts only if a call follows. If the stream decides that the opener counts, the first event opens its
// span. If the stream has begun, the error is [ErrOrder].
func (s *Scanner) StartFromPrompt(tail string) (Start, error) {
	if err := s.enter(); err != nil {
		return StartDefault, err
	}
	defer s.leave()
	if err := s.ready(); err != nil {
		return StartDefault, err
	}
	return s.startFromPrompt(tail)
}

// Start returns the start of the current stream, or of the next one: which the prompt, the options or else the dialect determine.
// guessed reports whether the start is only the dialect's guess that its models start in the thinking, which neither a prompt nor
// the options have confirmed.
func (s *Scanner) Start() (start Start, guessed bool, err error) {
	if err := s.enter(); err != nil {
		return StartDefault, false, err
	}
	defer s.leave()
	return s.currentStart()
}

// SetEndReason sets the reason why the stream ends. Call it before Finish, which clears the reason, as Reset does.
//
// The reason matters if the stream was only guessed to start in the thinking. If the model ended its answer ([EndReasonEnded]), and
// the text has neither a closer nor an opener of the thinking, the thinking was the answer: Finish then reports [KindReclassify]
// with [ChannelContent], before the span is closed.
func (s *Scanner) SetEndReason(reason EndReason) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if err := s.ready(); err != nil {
		return err
	}
	return s.setEndReason(reason)
}

// Finish ends the stream: it decides the held bytes, closes the open spans and resets the scanner, so that the next Feed begins
// a new stream at offset 0. If yield pauses it, call Finish again: a Feed in between returns [ErrOrder].
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

// Flush releases the held bytes as text of their channel. The stream continues. Use it if the host must show everything now: a
// marker of which a part was flushed is no longer recognised.
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
// with [CauseForced]. If the innermost span is not thinking, nothing happens. A closer that follows, with only blanks before it, is
// removed. Use it to end thinking that has become too long.
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
	if err := s.reset(); err != nil {
		return err
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
// Leaving the loop early pauses the scanner; ranging over All of the same reader continues where it stopped. If bytes were read
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
	emptyReads = 100 // empty reads in a row: the reader makes no progress
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
		// Runs also without unfed bytes, because events may be pending since a pause.
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

// feedRest feeds the bytes that All has read. If yield panics, the bytes consumed so far count as fed.
func (s *Scanner) feedRest(yield func(Event) bool) (paused bool, err error) {
	defer func() { s.rest = s.rest[s.Consumed():] }()
	return s.run(feed, s.rest, yield)
}

// enter begins a call, which leave ends. It returns an error if the scanner is nil, closed or in use, or was not made by NewScanner
// or Clone.
func (s *Scanner) enter() error {
	if s == nil {
		return errNil
	}
	if !s.use.enter() {
		return ErrBusy
	}
	if s.isClosed() {
		defer s.use.leave()
		return s.use.gone()
	}
	return nil
}

// leave ends a call. It is called when the call returns, and when it panics.
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
		return &failure{ErrOrder, "bytes that All has read are not fed yet: continue with All, or reset the scanner"}
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

// Consumed returns the number of bytes of the last Feed's chunk that are consumed. Feed returns the same number; Consumed is for
// callers whose yield function has panicked. It may be called at any time.
func (s *Scanner) Consumed() int {
	if s == nil {
		return 0
	}
	return int(s.consumed.Load())
}

// Counts has the counts of one channel of a stream.
type Counts struct {
	Bytes      uint64 // of text; markers and framing are not counted
	Characters uint64 // of text; in invalid UTF-8, the bytes that do not continue a character
	Spans      uint64 // opened
	Tokens     uint64 // from FeedTokens, whose first byte is text of the channel
	// LostThoughts, for ChannelThinking, is the number of thoughts that were dropped since the start or the last Reset, because 1,024
	// others were waiting for TakeThought.
	LostThoughts uint64
}

// Counts returns the counts of the text of a channel so far. After Finish they are those of the finished stream, until another
// begins. Held bytes are not counted yet; pending events are. The error is [ErrRange] for a channel that does not exist.
//
// If a finished stream has bytes of thinking, and none of content or tool calls, then the whole answer was thinking: the model
// broke off, or thinking was off although the stream started inside it. A host that knows that the thinking was off can show the
// text.
func (s *Scanner) Counts(channel Channel) (Counts, error) {
	if err := s.enter(); err != nil {
		return Counts{}, err
	}
	defer s.leave()
	return s.countsOf(channel)
}

// Offset returns the offset of the next byte to be fed; 0 once the scanner is closed. It may be called at any time.
func (s *Scanner) Offset() int64 {
	if s == nil {
		return 0
	}
	return s.offset.Load()
}

// Held returns the number of bytes that are held back now, because they could still become part of a marker or complete a
// character; 0 once the scanner is closed. It may be called at any time.
func (s *Scanner) Held() int {
	if s == nil {
		return 0
	}
	return int(s.holds.Load())
}

// MaxHold returns the largest number of bytes that this scanner holds back; 0 once it is closed. It may be called at any time.
func (s *Scanner) MaxHold() int {
	if s == nil {
		return 0
	}
	return int(s.maxHold.Load())
}
