//go:build cgo

package aside

// Thought is a whole thought. It belongs to the caller.
type Thought struct {
	Text       []byte
	Offset     int64    // the offset of the opening marker in the stream
	Cause      Cause    // why the thought ended; CauseEndOfStream if the stream ended inside it
	Truncated  bool     // ScannerOptions.Collect was too small for the whole thought
	Type       *string  // nil if the marker had none
	Confidence *float64 // from 0 to 1; nil if the marker had none
	Attributes []ThoughtAttribute
}

// ThoughtAttribute is an attribute of a thought's opening marker.
type ThoughtAttribute struct {
	Name, Value string // the value is decoded
}

// TakeThought removes and returns the oldest thought that has ended, of a scanner made with ScannerOptions.Collect. It returns
// false if no thought is waiting.
func (s *Scanner) TakeThought() (Thought, bool, error) {
	if err := s.enter(); err != nil {
		return Thought{}, false, err
	}
	defer s.leave()
	return s.takeThought()
}
