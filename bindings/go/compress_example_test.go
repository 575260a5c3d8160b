// Examples of tool results.

package aside_test

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	aside "aside.example/bindings/go"
)

// quiet is a filter that leaves out lines which only say that all is well.
type quiet struct{}

func (quiet) ID() string                  { return "quiet" }
func (quiet) ToolIDs() []string           { return []string{"deploy"} }
func (quiet) Matches(string, []byte) bool { return true }
func (quiet) Apply(text, input []byte) ([]byte, error) {
	var kept []byte
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		if !bytes.HasPrefix(line, []byte("ok ")) {
			kept = append(kept, line...)
		}
	}
	return kept, nil
}

func ExampleFilter() {
	c, err := aside.NewCompressor(&aside.CompressorOptions{Filters: []aside.Filter{quiet{}}, SwitchOff: "See the log for all."})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	text := []byte(strings.Repeat("ok host\n", 200) + "host 7 does not answer\n")
	results, report, err := c.Compress(aside.Invocation{ToolID: "deploy"}, text)
	if err != nil {
		log.Fatal(err)
	}
	defer report.Close()
	fmt.Printf("%s", results[0])
	// Output:
	// [Output compressed by quiet (1623 → 23 chars). See the log for all.]
	// host 7 does not answer
}

func ExampleCompressor_Compress() {
	c, err := aside.NewCompressor(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	output := []byte("start\n" + strings.Repeat("waiting for the server\n", 100) + "error: no answer\n")
	call := aside.Invocation{ToolID: "bash", Input: []byte(`{"command": "make test", "exit_code": 2}`)}
	results, report, err := c.Compress(call, output)
	if err != nil {
		log.Fatal(err)
	}
	defer report.Close()
	_, text, _ := strings.Cut(string(results[0]), "\n") // without the banner
	fmt.Print(text)
	for _, stretch := range report.Parts[0].Stretches {
		if stretch.Change != aside.ChangeKept {
			fmt.Println(stretch.End-stretch.Start, "bytes by", stretch.Filter)
		}
	}
	// Output:
	// start
	// waiting for the server
	// [… 99 lines as above]
	// error: no answer
	// 2277 bytes by repeats
}

func ExampleCompressor_NewStream() {
	c, err := aside.NewCompressor(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	stream, err := c.NewStream(aside.Invocation{ToolID: "bash"}, 1<<16, os.Stdout)
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	for range 100 {
		fmt.Fprintln(stream, "waiting for the server")
	}
	report, err := stream.Finish()
	if err != nil {
		log.Fatal(err)
	}
	defer report.Close()
	// Output:
	// waiting for the server
	// [… 99 lines as above]
}

// lastResult is a cache that remembers one result.
type lastResult struct {
	key string
	hit *aside.Hit
}

func (*lastResult) ID() string             { return "last-result" }
func (*lastResult) ToolIDs() []string      { return nil }
func (*lastResult) Observe(string, []byte) {}
func (c *lastResult) Lookup(toolID string, input []byte) (*aside.Hit, error) {
	if c.key != toolID+string(input) {
		return nil, nil
	}
	return c.hit, nil
}
func (c *lastResult) Record(toolID string, input, text []byte, now time.Time) error {
	c.key, c.hit = toolID+string(input), &aside.Hit{Text: bytes.Clone(text), Time: now}
	return nil
}

func ExampleCache() {
	c, err := aside.NewCompressor(&aside.CompressorOptions{Caches: []aside.Cache{&lastResult{}}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	output := []byte(strings.Repeat("an answer that stays the same\n", 100))
	for range 2 {
		_, report, err := c.Compress(aside.Invocation{ToolID: "poll", Now: time.Now()}, output)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%q\n", report.Hit)
		report.Close()
	}
	// Output:
	// ""
	// "last-result"
}

// Parts that were left out can still be shown.
func ExampleReport_Slice() {
	c, err := aside.NewCompressor(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	output := []byte("start\n" + strings.Repeat("waiting for the server\n", 100) + "error: no answer\n")
	_, report, err := c.Compress(aside.Invocation{ToolID: "bash"}, output)
	if err != nil {
		log.Fatal(err)
	}
	defer report.Close()
	for _, part := range report.Parts {
		for _, stretch := range part.Stretches {
			if stretch.Change != aside.ChangeKept {
				left, err := report.Slice(part.Part, output, stretch.Start, stretch.End)
				fmt.Println(bytes.Count(left, []byte("\n")), "lines", err)
			}
		}
	}
	// Output: 99 lines <nil>
}

func ExampleToolStream() {
	c, err := aside.NewCompressor(&aside.CompressorOptions{Budget: 2048})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	var result strings.Builder
	stream, err := c.NewStream(aside.Invocation{ToolID: "bash"}, 8192, &result)
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	for n := range 10_000 {
		fmt.Fprintf(stream, "compiling file %d\n", n)
	}
	report, err := stream.Finish()
	if err != nil {
		log.Fatal(err)
	}
	defer report.Close()
	fmt.Fprintln(os.Stdout, result.Len() <= 2048, strings.HasSuffix(result.String(), "compiling file 9999\n"))
	// Output: true true
}
