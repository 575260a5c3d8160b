package aside

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"slices"
	"strconv"
)

// scannerState belongs to the call that is in progress; no other code may touch it.
type scannerState struct {
	object
	finishing bool // a finish was paused
	finished  bool // the WebAssembly has done its part of the finish

	// The pending events are those from next up to count. Their bytes are in text, or are a chunk that is one event.
	next, count int
	events      []Event
	attributes  []Attribute
	text        []byte
	end         int64 // of the last event
	// The number of tokens that begin before the next event.
	firstToken uint64

	// The buffer of All, the part of it that is not fed yet, and the reader's error after that part.
	buf, rest []byte
	readErr   error
}

// The steps of a scanner, with their numbers in the WebAssembly.
const (
	stepFeed = iota
	stepFlush
	stepForceClose
	stepFinish
)

func (s *Scanner) free() { s.release("scanner_free") }

func (s *Scanner) open(d *Dialect, options *ScannerOptions) error {
	texts := scannerTexts(options)
	dialect, err := d.in()
	if err != nil {
		return err
	}
	number, err := texts.open(dialect, "scanner_new")
	if err != nil {
		return err
	}
	s.object = object{dialect.engine, uint64(number)}
	return s.begin()
}

func scannerTexts(o *ScannerOptions) options {
	var texts options
	word(&texts, "start", o.Start)
	texts.number("collect", o.Collect)
	if budget := o.Budget; budget != nil {
		texts.add("budget", strconv.FormatUint(budget.Limit, 10))
		texts.add("budgetUnit", budget.Unit.String())
		texts.add("budgetScope", budget.Scope.String())
	}
	word(&texts, "strayClose", o.StrayClose)
	word(&texts, "leadingTags", o.LeadingTags)
	texts.flag("calls", o.Calls)
	word(&texts, "callsInThinking", o.CallsInThinking)
	return texts
}

// begin completes a new scanner.
func (s *Scanner) begin() error {
	_, err := s.object.run("scanner_state", nil, nil, func(out *reader) {
		out.string()
		out.flag()
		out.number()
		s.maxHold.Store(int64(out.number()))
	})
	runtime.SetFinalizer(s, (*Scanner).Close)
	return err
}

// openClone makes s a scanner in the state of another one.
func (s *Scanner) openClone(of *Scanner) error {
	number, err := of.object.run("scanner_copy", nil, nil, nil)
	if err != nil {
		return err
	}
	s.scannerState = scannerState{
		object:     object{of.engine, uint64(number)},
		finishing:  of.finishing,
		finished:   of.finished,
		next:       of.next,
		count:      of.count,
		events:     slices.Clone(of.events),
		end:        of.end,
		firstToken: of.firstToken,
		rest:       bytes.Clone(of.rest),
		readErr:    of.readErr,
	}
	for i := range s.events {
		event := &s.events[i]
		event.Text = bytes.Clone(event.Text)
		if attribute := event.Attribute; attribute != nil {
			own := *attribute
			own.Name, own.Value = bytes.Clone(own.Name), bytes.Clone(own.Value)
			event.Attribute = &own
		}
	}
	s.offset.Store(of.offset.Load())
	s.holds.Store(of.holds.Load())
	return s.begin()
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
	_, err = s.run(feed, p, yield)
	return s.Consumed(), err
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
	s.consumed.Store(0)
	if !s.yieldPending(yield) {
		return 0, nil
	}
	if _, err := s.object.run("scanner_tokens", nil, tokenTexts(p, tokens), s.take); err != nil {
		return 0, err
	}
	s.note(len(p))
	s.yieldPending(yield)
	return s.Consumed(), nil
}

// tokenTexts returns a chunk and its tokens as the WebAssembly reads them.
func tokenTexts(p []byte, tokens []Token) []string {
	lengths, special := make([]byte, 0, 4*len(tokens)), make([]byte, len(tokens))
	for i, token := range tokens {
		lengths = binary.LittleEndian.AppendUint32(lengths, token.Len)
		if token.Special {
			special[i] = 1
		}
	}
	return []string{text(p), text(lengths), text(special)}
}

func (s *Scanner) startFromPrompt(tail string) (Start, error) {
	var start Start
	_, err := s.object.run("scanner_prompt", nil, []string{tail}, func(out *reader) { start = startOf(out.string()) })
	return start, err
}

func (s *Scanner) currentStart() (start Start, guessed bool, err error) {
	_, err = s.object.run("scanner_state", nil, nil, func(out *reader) { start, guessed = startOf(out.string()), out.flag() })
	return start, guessed, err
}

func (s *Scanner) setEndReason(reason EndReason) error {
	_, err := s.object.run("scanner_end_reason", nil, []string{reason.String()}, nil)
	return err
}

func (s *Scanner) reset() error {
	_, err := s.object.run("scanner_reset", nil, nil, nil)
	s.finished = false
	s.rewind()
	return err
}

// rewind resets the state for the next stream.
func (s *Scanner) rewind() {
	s.end, s.firstToken = 0, 0
	s.offset.Store(0)
	s.holds.Store(0)
}

func (s *Scanner) countsOf(channel Channel) (Counts, error) {
	if channel > ChannelTool {
		return Counts{}, ErrRange
	}
	var counts Counts
	_, err := s.object.run("scanner_counts", nil, nil, func(out *reader) {
		counts = out.counts(channel)
		if lost := out.long(); channel == ChannelThinking {
			counts.LostThoughts = lost
		}
	})
	return counts, err
}

// counts reads the counts of all channels, and returns those of one.
func (r *reader) counts(channel Channel) (counts Counts) {
	for each := ChannelContent; each <= ChannelTool; each++ {
		of := Counts{Bytes: r.long(), Characters: r.long(), Spans: r.long(), Tokens: r.long()}
		if each == channel {
			counts = of
		}
	}
	return counts
}

func (s *Scanner) takeThought() (thought Thought, taken bool, err error) {
	result, err := s.object.run("scanner_take_thought", nil, nil, func(out *reader) {
		if len(out.words) == 0 {
			return
		}
		thought.Text = bytes.Clone(out.borrowed())
		for range out.number() {
			thought.Attributes = append(thought.Attributes, ThoughtAttribute{out.string(), out.string()})
		}
		if out.flag() {
			kind := out.string()
			thought.Type = &kind
		}
		hasConfidence, confidence := out.flag(), out.double()
		if hasConfidence {
			thought.Confidence = &confidence
		}
		thought.Offset, thought.Cause, thought.Truncated = int64(out.long()), Cause(out.number()), out.flag()
	})
	return thought, result == 1, err
}

// run yields the pending events, then does a piece of work: a chunk that is longer than the window is passed in several calls.
func (s *Scanner) run(work work, p []byte, yield func(Event) bool) (paused bool, err error) {
	s.consumed.Store(0)
	s.finishing = work == finish
	if !s.yieldPending(yield) {
		return true, nil
	}
	for len(p) > 0 || work != feed {
		piece := p[:min(len(p), int(s.engine.windowSize))]
		if !s.finished {
			if err := s.cross(work, piece); err != nil {
				s.finishing = false
				return false, err
			}
			s.finished = work == finish
		}
		if !s.yieldPending(yield) {
			return true, nil
		}
		if p = p[len(piece):]; work != feed {
			break
		}
	}
	s.finishing, s.finished = false, false
	return false, nil
}

var steps = map[work]uint64{feed: stepFeed, finish: stepFinish, flush: stepFlush, forceClose: stepForceClose}

// cross runs a step, such as feeding a piece that fits into the window, and stores the events.
func (s *Scanner) cross(work work, p []byte) error {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	result, out, err := s.engine.put(s.engine.feed, p, s.number, steps[work])
	if err != nil {
		return err
	}
	if result > 0 { // the whole piece is text
		channel, n := Channel(result-1), len(p)
		s.events = append(s.events[:0], Event{
			Kind: KindText, Channel: channel, Offset: out.offset, Text: p[:n:n], FirstToken: s.firstToken,
		})
		s.next, s.count, s.end = 0, 1, out.offset+int64(n)
	} else {
		s.take(&out)
	}
	if work == finish {
		s.rewind()
	} else {
		s.note(len(p))
	}
	return nil
}

// later marks an attribute whose place may still change.
var later Attribute

// take copies the events that were written.
func (s *Scanner) take(out *reader) {
	s.events, s.attributes = s.events[:0], s.attributes[:0]
	count := int(out.number())
	s.text = append(s.text[:0], out.bytes...)
	out.bytes = s.text
	for range count {
		event := Event{Kind: Kind(out.number() + 1), Channel: Channel(out.number())}
		cause, rule := out.number(), out.number()
		event.Cause, event.Rule = Cause(max(cause, 1)-1), max(rule, 1)-1
		event.Repaired, event.Offset, event.FirstToken, event.Tokens = out.flag(), int64(out.long()), out.long(), out.number()
		event.Tag, event.Call = out.number(), out.number()
		text := out.borrowed()
		switch {
		case event.Kind == KindAttribute:
			event.Attribute = &later
			s.attributes = append(s.attributes, Attribute{
				Name: out.borrowed(), Value: out.borrowed(),
				RawNameAt: int(out.number()), RawNameLen: int(out.number()),
				RawValueAt: int(out.number()), RawValueLen: int(out.number()),
			})
		case event.Kind == KindCallName && event.Tag == 1: // the value of a header's field
			event.Tag, event.Attribute = 0, &later
			s.attributes = append(s.attributes, Attribute{Value: text})
		default:
			event.Text = text
			s.end = max(s.end, event.Offset+int64(len(text)))
		}
		s.firstToken = event.FirstToken + uint64(event.Tokens)
		s.events = append(s.events, event)
	}
	attributes := s.attributes
	for i := range s.events {
		if event := &s.events[i]; event.Attribute != nil {
			event.Attribute, attributes = &attributes[0], attributes[1:]
		}
	}
	s.next, s.count = 0, count
}

// note publishes the scanner's position for the methods without an error, after n bytes more.
func (s *Scanner) note(n int) {
	s.consumed.Add(int64(n))
	offset := s.offset.Add(int64(n))
	s.holds.Store(offset - s.end)
}

// yieldPending calls yield for the pending events. It returns false if yield pauses the scanner.
func (s *Scanner) yieldPending(yield func(Event) bool) bool {
	for s.next < s.count {
		s.next++
		if !yield(s.events[s.next-1]) {
			return false
		}
	}
	return true
}

// releaseChunk drops the caller's chunk, which an event refers to only if it is the only event.
func (s *Scanner) releaseChunk() {
	if s.next == s.count {
		clear(s.events)
	}
}
