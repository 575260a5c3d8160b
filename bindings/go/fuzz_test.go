package aside_test

import (
	"testing"

	aside "aside.example/bindings/go"
)

// FuzzScanner feeds any bytes, cut anywhere, in any dialect, with pauses. The events must join to the input and must not depend
// on cuts and pauses.
func FuzzScanner(f *testing.F) {
	f.Add(uint8(0), []byte{3}, uint8(0), text[:100])
	f.Add(uint8(17), []byte{1, 9}, uint8(2), []byte("<|channel|>analysis<|message|>a<|end|>b\xf0\x9f\x98\x80\xff\x00</think>"))
	names := aside.DialectNames()
	f.Fuzz(func(t *testing.T, which uint8, cuts []byte, pause uint8, text []byte) {
		dialect := names[int(which)%len(names)]
		scanner := newScanner(t, dialect)
		want := scan(t, scanner, text).String()

		r := &recorder{t: t}
		seen := 0
		yield := func(event aside.Event) bool {
			r.yield(event)
			seen++
			return pause == 0 || seen%int(pause) != 0
		}
		for i, at := 0, 0; at < len(text); i++ {
			size := 1
			if len(cuts) > 0 {
				size = int(cuts[i%len(cuts)])
			}
			chunk := text[at:min(at+size, len(text))]
			n, err := scanner.Feed(chunk, yield)
			if err != nil {
				t.Fatal(err)
			}
			if size == 0 {
				chunk = text[at : at+1]
				if n, err = scanner.Feed(chunk, yield); err != nil {
					t.Fatal(err)
				}
			}
			at += n
		}
		for before := -1; before != seen; {
			before = seen
			if err := scanner.Finish(yield); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.String(); got != want {
			t.Fatalf("%s, cuts %v, pause %d:\n%s\nwanted\n%s", dialect, cuts, pause, got, want)
		}
	})
}
