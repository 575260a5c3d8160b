// Tests how handles of both halves behave with the garbage collector, go vet and many goroutines.

package aside_test

import (
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	aside "aside.example/bindings/go"
)

// held keeps small values alive that may share an allocation with a handle.
var held []*uint64

// Each forgotten handle is collected by itself, however small it is and whatever shares its allocation.
func TestForgottenOnesAreCollected(t *testing.T) {
	const many = 64
	collected := make(chan bool, 3*many)
	func() {
		dialect, err := aside.Find("qwen3")
		if err != nil {
			t.Fatal(err)
		}
		for range many {
			own, err := aside.Load(own)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, new(uint64))
			rewriter, err := aside.NewRewriter(dialect, nil)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, new(uint64))
			compressor, err := aside.NewCompressor(&aside.CompressorOptions{Bare: true})
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, new(uint64))
			collects(own, collected)
			collects(rewriter, collected)
			collects(compressor, collected)
		}
	}()
	timeout := time.After(20 * time.Second)
	// The last handles may still be on the stack.
	for left := 3*many - 3; left > 0; {
		runtime.GC()
		select {
		case <-collected:
			left--
		case <-timeout:
			t.Fatal(left, "handles are not collected")
		case <-time.After(10 * time.Millisecond):
		}
	}
	held = nil
}

// collects reports when the finalizer of a handle has run.
func collects[T io.Closer](handle T, collected chan<- bool) {
	runtime.SetFinalizer(handle, nil)
	runtime.SetFinalizer(handle, func(handle T) {
		handle.Close()
		collected <- true
	})
}

// go vet reports copies of a type that has a field of type noCopy.
func TestCopiesAreSeen(t *testing.T) {
	for _, of := range []any{aside.Dialect{}, aside.Scanner{}, aside.Splitter{}, aside.Answer{}, aside.Rewriter{}, aside.Compressor{}, aside.ToolStream{}} {
		kind, seen := reflect.TypeOf(of), false
		for i := range kind.NumField() {
			seen = seen || kind.Field(i).Type.Name() == "noCopy"
		}
		if !seen {
			t.Error(kind, "may be copied")
		}
	}
}

func TestOneCompressorOfManyGoroutines(t *testing.T) {
	compressor := compressorOf(t, nil)
	text := []byte(strings.Repeat("the same line\n", 1000))
	_, report, err := compressor.Compress(callOf("x"), text)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := compressor.NewStream(callOf("x"), 1<<16, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	slice := func() {
		_, err := report.Slice(0, text, 0, 10)
		may(t, err, aside.ErrClosed, aside.ErrOriginal)
	}
	together(
		func() {
			_, report, err := compressor.Compress(callOf("x"), text)
			if may(t, err, aside.ErrClosed); err == nil {
				may(t, report.Close())
			}
		},
		func() {
			stream, err := compressor.NewStream(callOf("x"), 1<<16, io.Discard)
			if may(t, err, aside.ErrClosed); err == nil {
				may(t, stream.Close())
			}
		},
		func() { _, err := stream.Write([]byte("a line\n")); may(t, err, aside.ErrClosed, aside.ErrOrder) },
		func() { _, err := stream.Finish(); may(t, err, aside.ErrClosed, aside.ErrOrder) },
		slice, slice,
	)
	together(
		func() { _, _, err := compressor.Compress(callOf("x"), text[:500]); may(t, err, aside.ErrClosed) },
		func() { may(t, compressor.Close()) },
		func() { _, err := stream.Write([]byte("a line\n")); may(t, err, aside.ErrClosed, aside.ErrOrder) },
		func() { may(t, stream.Close()) },
		slice,
		func() { may(t, report.Close()) },
	)
	for _, err := range []error{compressor.Close(), stream.Close(), report.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
}
