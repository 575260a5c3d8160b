package aside_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	aside "aside.example/bindings/go"
)

func Example() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()

	show := func(event aside.Event) bool {
		if event.Kind == aside.KindText {
			fmt.Printf("%v: %s\n", event.Channel, event.Text)
		}
		return true
	}
	for _, chunk := range []string{"<thi", "nk>\nTwice 21.\n</thi", "nk>\n\nIt is 42."} {
		if _, err := scanner.Feed([]byte(chunk), show); err != nil {
			log.Fatal(err)
		}
	}
	if err := scanner.Finish(show); err != nil {
		log.Fatal(err)
	}
	// Output:
	// thinking: Twice 21.
	// content: It is 42.
}

func ExampleFind() {
	_, err := aside.Find("qwen33")
	fmt.Println(errors.Is(err, aside.ErrUnknown))
	// Output: true
}

func ExampleFindForModel() {
	dialect, err := aside.FindForModel("unsloth/Qwen3-32B-GGUF:Q4_K_M")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dialect.Name())
	// Output: qwen3
}

func ExampleFindForTemplate() {
	dialect, start, err := aside.FindForTemplate(
		"{{ '<|turn>user\\n' }}{% if add_generation_prompt %}{{ '<|turn>model\\n<|channel>' }}{% endif %}")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dialect.Name(), start == aside.StartThinking)

	_, _, err = aside.FindForTemplate("{{ '[unused16]◁think▷' }}")
	var ambiguous *aside.AmbiguousError
	fmt.Println(errors.As(err, &ambiguous) && len(ambiguous.Candidates) > 1)
	// Output:
	// gemma-4 true
	// true
}

func ExampleDialect_Opener() {
	dialect, err := aside.Find("thinking-tags")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	for event, err := range scanner.All(strings.NewReader("<THINK>Twice 21.")) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Kind == aside.KindOpen {
			fmt.Println(dialect.Family(event.Rule), dialect.Opener(event.Rule, event.Tag))
		}
	}
	// Output: thinking-tags think
}

func ExampleJoin() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		log.Fatal(err)
	}
	text, err := aside.Join(dialect, "Twice 21.", "It is 42.", nil)
	fmt.Printf("%q %v\n", text, err)
	// Output: "<think>\nTwice 21.\n</think>\n\nIt is 42." <nil>
}

func ExampleEscape() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		log.Fatal(err)
	}
	text, err := aside.Escape(dialect, "What does <think> do?")
	fmt.Printf("%+q %v\n", text, err)
	// Output: "What does <\u200bthink> do?" <nil>
}

func ExampleLoad() {
	dialect, err := aside.Load(`
name = "brackets"
start = "content"

[[span]]
channel = "thinking"
open = ["[["]
close = ["]]"]
`)
	if err != nil {
		log.Fatal(err)
	}
	defer dialect.Close()
	content, err := aside.Strip(dialect, "[[Twice 21.]] It is 42.")
	fmt.Println(content, err)
	// Output: It is 42. <nil>
}

func ExampleFromResponseTemplate() {
	dialect, err := aside.FromResponseTemplate(`{
		"start_anchor": "<|assistant|>",
		"fields": {"thinking": {"open": "<think>", "close_pattern": "</think>\\s*"}, "content": {}}
	}`)
	if err != nil {
		log.Fatal(err)
	}
	defer dialect.Close()
	content, err := aside.Strip(dialect, "<think>Twice 21.</think> It is 42.")
	fmt.Println(content, err)
	// Output: It is 42. <nil>
}

func ExampleScanner_All() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	for event, err := range scanner.All(strings.NewReader("<think>\nTwice 21.")) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %v %v %q %v\n", event.Offset, event.Kind, event.Channel, event.Text, event.Cause)
	}
	// Output:
	// 0 open thinking "<think>" marker
	// 7 framing thinking "\n" marker
	// 8 text thinking "Twice 21." marker
	// 17 close thinking "" end_of_stream
}

// Pauses: yield returns false, and a later call continues with the rest of the chunk.
func ExampleScanner_Feed_pause() {
	dialect, err := aside.Find("think")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()

	chunk := []byte("<think>Twice 21.</think>It is 42.")
	n, err := scanner.Feed(chunk, func(event aside.Event) bool {
		fmt.Printf("%s\n", event.Text)
		return event.Kind != aside.KindClose
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("later")
	_, err = scanner.Feed(chunk[n:], func(event aside.Event) bool {
		fmt.Printf("%s\n", event.Text)
		return true
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// <think>
	// Twice 21.
	// </think>
	// later
	// It is 42.
}

// A stream that continues a prompt which has opened the thinking.
func ExampleScanner_StartFromPrompt() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	start, err := scanner.StartFromPrompt("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(start == aside.StartThinking)
	for event, err := range scanner.All(strings.NewReader("Twice 21.\n</think>\n\nIt is 42.")) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Kind == aside.KindText {
			fmt.Printf("%v: %s\n", event.Channel, event.Text)
		}
	}
	// Output:
	// true
	// thinking: Twice 21.
	// content: It is 42.
}

// Thinking that becomes too long is closed, and the stream continues as content.
func ExampleScanner_ForceClose() {
	dialect, err := aside.Find("think")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, &aside.ScannerOptions{Budget: &aside.Budget{Limit: 10}})
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	over := false
	show := func(event aside.Event) bool {
		switch event.Kind {
		case aside.KindBudget:
			over = true
		case aside.KindText:
			fmt.Printf("%s", event.Text)
		case aside.KindClose:
			fmt.Printf(" [%v]", event.Cause)
		}
		return true
	}
	for _, chunk := range []string{"<think>Twice 21", " is what", " It is 42."} {
		if _, err := scanner.Feed([]byte(chunk), show); err != nil {
			log.Fatal(err)
		}
		if over {
			over = false
			if err := scanner.ForceClose(show); err != nil {
				log.Fatal(err)
			}
		}
	}
	// Output:
	// Twice 21 is what [forced] It is 42.
}

// Tokens of a server that knows which of them are special.
func ExampleScanner_FeedTokens() {
	dialect, err := aside.Find("think")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	tokens := []aside.Token{{Len: 7, Special: true}, {Len: 5}, {Len: 4}, {Len: 8, Special: true}, {Len: 2}}
	chunk := []byte("<think>Twice 21.</think>42")
	if _, err := scanner.FeedTokens(chunk, tokens, func(aside.Event) bool { return true }); err != nil {
		log.Fatal(err)
	}
	thinking, err := scanner.Counts(aside.ChannelThinking)
	fmt.Println(thinking.Tokens, thinking.Characters, err)
	// Output: 2 9 <nil>
}

// Two continuations from one place.
func ExampleScanner_Clone() {
	dialect, err := aside.Find("think")
	if err != nil {
		log.Fatal(err)
	}
	first, err := aside.NewScanner(dialect, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer first.Close()
	show := func(event aside.Event) bool {
		if event.Kind == aside.KindText {
			fmt.Printf("%v: %s\n", event.Channel, event.Text)
		}
		return true
	}
	if _, err := first.Feed([]byte("<think>Twice 21.</th"), show); err != nil {
		log.Fatal(err)
	}
	second, err := first.Clone()
	if err != nil {
		log.Fatal(err)
	}
	defer second.Close()
	if _, err := first.Feed([]byte("ink>It is 42."), show); err != nil {
		log.Fatal(err)
	}
	if _, err := second.Feed([]byte("e end"), show); err != nil {
		log.Fatal(err)
	}
	// Output:
	// thinking: Twice 21.
	// content: It is 42.
	// thinking: </the end
}

func ExampleScanner_TakeThought() {
	dialect, err := aside.Find("think")
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := aside.NewScanner(dialect, &aside.ScannerOptions{Collect: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	if _, err := scanner.Feed([]byte("<think>Twice 21.</think>42"), func(aside.Event) bool { return true }); err != nil {
		log.Fatal(err)
	}
	thought, ok, err := scanner.TakeThought()
	fmt.Printf("%q %v %v\n", thought.Text, ok, err)
	// Output: "Twice 21." true <nil>
}

func ExampleSplitter() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		log.Fatal(err)
	}
	var thinking strings.Builder
	splitter, err := aside.NewSplitter(dialect, os.Stdout, &thinking)
	if err != nil {
		log.Fatal(err)
	}
	for _, chunk := range []string{"<thi", "nk>\nTwice 21.\n</thi", "nk>\n\nIt is 42.\n"} {
		if _, err := splitter.Write([]byte(chunk)); err != nil {
			log.Fatal(err)
		}
	}
	if err := splitter.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("It thought:", thinking.String())
	// Output:
	// It is 42.
	// It thought: Twice 21.
}

func ExampleStrip() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		log.Fatal(err)
	}
	content, err := aside.Strip(dialect, "<think>\nTwice 21.\n</think>\n\nIt is 42.\n")
	fmt.Println(content, err)
	// Output: It is 42. <nil>
}
