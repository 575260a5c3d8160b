// Examples of the types that example_test.go does not show.

package aside_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	aside "aside.example/bindings/go"
)

func ExampleStatus() {
	_, err := aside.Load("name = 1")
	var status aside.Status
	fmt.Println(errors.Is(err, aside.ErrDialect), errors.As(err, &status) && status == aside.ErrDialect)
	// Output: true true
}

func ExampleDialect() {
	dialect, err := aside.Find("qwen3-thinking")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dialect.Name(), dialect.Start() == aside.StartThinking)
	// Output: qwen3-thinking true
}

// The attributes of a marker follow its opening event.
func ExampleEvent() {
	dialect, err := aside.Find("thought-stream")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	for event, err := range scanner.All(strings.NewReader(`<thinking confidence="0.9">Twice 21.</thinking>It is 42.`)) {
		if err != nil {
			log.Fatal(err)
		}
		switch event.Kind {
		case aside.KindAttribute:
			fmt.Printf("%s is %s\n", event.Attribute.Name, event.Attribute.Value)
		case aside.KindText:
			fmt.Printf("%v: %s\n", event.Channel, event.Text)
		}
	}
	// Output:
	// confidence is 0.9
	// thinking: Twice 21.
	// content: It is 42.
}

// A host that is sure that its model does not think keeps a closer without an opener in the text.
func ExampleScannerOptions() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, &aside.ScannerOptions{Start: aside.StartContent, StrayClose: aside.StrayCloseText})
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	for event, err := range scanner.All(strings.NewReader("End it with </think>.")) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s", event.Text)
	}
	// Output: End it with </think>.
}

func ExampleThought() {
	dialect, err := aside.Find("thought-stream")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, &aside.ScannerOptions{Collect: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	const stream = `<thinking thought="Twice 21." thought_type="plan" confidence="0.9"/>It is 42.`
	if _, err := scanner.Feed([]byte(stream), func(aside.Event) bool { return true }); err != nil {
		log.Fatal(err)
	}
	thought, ok, err := scanner.TakeThought()
	if err != nil || !ok {
		log.Fatal(err)
	}
	fmt.Printf("%s (%s, %.1f)\n", thought.Text, *thought.Type, *thought.Confidence)
	// Output: Twice 21. (plan, 0.9)
}

func ExampleCounts() {
	dialect, err := aside.Find("think")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	if _, err := scanner.Feed([]byte("<think>Größe</think>42"), func(aside.Event) bool { return true }); err != nil {
		log.Fatal(err)
	}
	counts, err := scanner.Counts(aside.ChannelThinking)
	fmt.Println(counts.Bytes, counts.Characters, counts.Spans, err)
	// Output: 7 5 1 <nil>
}

func ExampleCommand() {
	commands, err := aside.Commands("cd app && sudo git -C lib diff | head")
	if err != nil {
		log.Fatal(err)
	}
	for _, command := range commands {
		fmt.Printf("%s %q %v\n", command.Name, command.Subcommand, command.Piped)
	}
	// Output:
	// cd "app" false
	// git "diff" true
	// head "" false
}

func ExampleCheckFilter() {
	err := aside.CheckFilter(`id = "mine"`)
	fmt.Println(errors.Is(err, aside.ErrFilter))
	// Output: true
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

// What was left out can be shown after all.
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
