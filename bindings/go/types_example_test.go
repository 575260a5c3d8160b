// Examples of the types that example_test.go does not show.

package aside_test

import (
	"errors"
	"fmt"
	"log"
	"strings"

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
