//go:build cgo

// Guards against concurrent and re-entrant use. The library's memory belongs to C, and the library knows no goroutines, so no call
// may reach the library while another call uses the same object, or after the object was freed.

package aside

import "sync/atomic"

// exclusive admits one call at a time. A second call, from another goroutine or from a callback of the first, is refused.
type exclusive struct {
	busy   atomic.Bool
	closed bool
}

// The errors of objects that no function of this package has made.
var (
	errNil        = &failure{ErrNull, "the object is nil"}
	errNilDialect = &failure{ErrNull, "the dialect is nil"}
	errZero       = &failure{ErrNull, "the object is a zero value: make it with the function New of its type"}
)

// gone returns the error of an object that has no memory of the library: it was closed, or no function made it.
func (e *exclusive) gone() error {
	if e.closed {
		return ErrClosed
	}
	return errZero
}

// enter begins a call and reports whether it may continue. leave ends it.
func (e *exclusive) enter() bool { return e.busy.CompareAndSwap(false, true) }

func (e *exclusive) leave() { e.busy.Store(false) }

// shared admits any number of calls at once, until it is closed.
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

// close refuses all later calls. It returns [ErrBusy] while a call is in progress, and [ErrClosed] the second time.
func (s *shared) close() error {
	switch {
	case s.calls.CompareAndSwap(0, -1):
		return nil
	case s.calls.Load() < 0:
		return ErrClosed
	}
	return ErrBusy
}
