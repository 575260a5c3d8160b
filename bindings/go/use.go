// Who may go into what the library has made: the memory of C's knows no goroutines.

package aside

import "sync/atomic"

// exclusive lets in one call at a time. A second one, of another goroutine or from a callback of the first, is told so
// and changes nothing.
type exclusive struct{ busy atomic.Bool }

// enter says whether a call may begin, which leave ends.
func (e *exclusive) enter() bool { return e.busy.CompareAndSwap(false, true) }

func (e *exclusive) leave() { e.busy.Store(false) }

// shared lets in any number of calls at once, until it is closed.
type shared struct{ calls atomic.Int64 } // below 0 once closed

// enter begins a call, which leave ends.
func (s *shared) enter() error {
	for {
		calls := s.calls.Load()
		if calls < 0 {
			return ErrClosed
		}
		if s.calls.CompareAndSwap(calls, calls+1) {
			return nil
		}
	}
}

func (s *shared) leave() { s.calls.Add(-1) }

// close lets in no more calls. The error is [ErrBusy] where one is under way, and [ErrClosed] the second time.
func (s *shared) close() error {
	switch {
	case s.calls.CompareAndSwap(0, -1):
		return nil
	case s.calls.Load() < 0:
		return ErrClosed
	}
	return ErrBusy
}
