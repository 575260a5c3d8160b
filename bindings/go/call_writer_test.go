package aside_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"strings"
	"testing"

	aside "aside.example/bindings/go"
)

const tools = `[{"type": "function", "function": {"name": "add", "parameters":
	{"properties": {"a": {"type": "integer"}, "note": {"type": "string"}}}}}]`

// Two calls, one of an unknown tool, and a broken one.
const callText = "Hm.<tool_call><function=add><parameter=a>\n2\n</parameter><parameter=note>\n\"x\" </tool_call>\n" +
	"</parameter></function></tool_call>\n" +
	`<tool_call>{"name": "add", "id": "own", "arguments": {"a": 40, "b": "é"}}</tool_call>` +
	`<tool_call>{"name": "rm", "arguments": {"a": 1}}</tool_call>` +
	`<tool_call>{"name": "add", "arguments": {"a": [1}}</tool_call>.`

// For each call: its numbers, id, name, arguments, cause, and whether it is whole.
const told = `0/0 call_0 add {"a":2,"note":"\"x\" </tool_call>"} marker true
1/1 own add {"a": 40, "b": "é"} marker true
3/2 call_2 add {"a": [1 malformed false
`

func loadDialect(t testing.TB, name string) *aside.Dialect {
	t.Helper()
	toml, err := os.ReadFile("../../tests/dialects/" + name)
	if err != nil {
		t.Fatal(err)
	}
	dialect, err := aside.Load(string(toml))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialect.Close() })
	return dialect
}

func newCalls(t testing.TB, dialect *aside.Dialect, options *aside.CallWriterOptions) (*aside.Scanner, *aside.CallWriter) {
	t.Helper()
	scanner, err := aside.NewScanner(dialect, &aside.ScannerOptions{Calls: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scanner.Close() })
	writer, err := aside.NewCallWriter(dialect, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writer.Close() })
	return scanner, writer
}

// written returns the calls of a stream that is fed in pieces, with the deltas of each joined. With pause, each event pauses the
// scanner.
func written(t testing.TB, scanner *aside.Scanner, writer *aside.CallWriter, stream string, size int, pause bool) string {
	t.Helper()
	var said strings.Builder
	yield := func(event aside.Event) bool {
		delta, err := writer.Feed(event)
		if err != nil {
			t.Fatal(err)
		}
		if delta == nil {
			return !pause
		}
		if delta.First {
			fmt.Fprintf(&said, "%d/%d %s %s ", delta.Call, delta.Index, delta.ID, delta.Name)
		}
		said.WriteString(delta.Arguments)
		if delta.Last {
			fmt.Fprintf(&said, " %v %v%s\n", delta.Cause, delta.Whole, delta.LateID)
		}
		return !pause
	}
	for at := 0; at < len(stream); {
		n, err := scanner.Feed([]byte(stream[at:min(at+size, len(stream))]), yield)
		if err != nil {
			t.Fatal(err)
		}
		at += n
	}
	for {
		paused := false
		err := scanner.Finish(func(event aside.Event) bool {
			paused = !yield(event)
			return !paused
		})
		if err != nil {
			t.Fatal(err)
		}
		if !paused {
			break
		}
	}
	if err := writer.Reset(); err != nil {
		t.Fatal(err)
	}
	return said.String()
}

func TestCallWriter(t *testing.T) {
	scanner, writer := newCalls(t, loadDialect(t, "calls-tags.toml"), &aside.CallWriterOptions{Tools: []byte(tools)})
	for _, size := range []int{1, 7, len(callText)} {
		for _, pause := range []bool{false, true} {
			if got := written(t, scanner, writer, callText, size, pause); got != told {
				t.Errorf("pieces of %d, pause %v:\n%s", size, pause, got)
			}
		}
	}
}

// The name is the value of a header's field, and not in the text of its event.
func TestCallWriterTakesANameFromAHeader(t *testing.T) {
	scanner, writer := newCalls(t, loadDialect(t, "calls-header.toml"), nil)
	const stream = ` to=functions.f<|message|>{"x": 1}<|call|>`
	for _, size := range []int{1, 7, len(stream)} {
		for _, pause := range []bool{false, true} {
			if got := written(t, scanner, writer, stream, size, pause); got != "0/0 call_0 f {\"x\": 1} implied true\n" {
				t.Errorf("pieces of %d, pause %v: %s", size, pause, got)
			}
		}
	}
}

func TestCallWriterOptions(t *testing.T) {
	dialect := loadDialect(t, "calls-tags.toml")
	scanner, writer := newCalls(t, dialect, &aside.CallWriterOptions{Tools: []byte("[]")})
	if got := written(t, scanner, writer, callText, 7, false); got != "" {
		t.Error(got)
	}
	scanner, writer = newCalls(t, dialect, &aside.CallWriterOptions{IDPrefix: "c-", MaxHeld: 8})
	const stream = `<tool_call>{"arguments":"0123456789","name":"f"}</tool_call>` +
		`<tool_call>{"name":"f","arguments":{},"id":" late"}</tool_call>`
	if got := written(t, scanner, writer, stream, 3, false); got != "1/0 c-0 f {} marker true late\n" {
		t.Error(got)
	}
	for tools, message := range map[string]string{
		"":     "aside: options.tools: not JSON, or nested too deep, at line 1, column 1",
		"{}":   "aside: options.tools: not a JSON array",
		"[1]":  "aside: options.tools[0]: not a JSON object",
		"\xff": "aside: options.tools: not UTF-8",
	} {
		_, err := aside.NewCallWriter(dialect, &aside.CallWriterOptions{Tools: []byte(tools)})
		if !errors.Is(err, aside.ErrOption) || err.Error() != message {
			t.Error(err)
		}
	}
	limited := aside.CallWriterOptions{Tools: []byte(tools), MaxTools: uint64(len(tools))}
	if _, err := aside.NewCallWriter(dialect, &limited); err != nil {
		t.Error(err)
	}
	limited.MaxTools--
	if _, err := aside.NewCallWriter(dialect, &limited); !errors.Is(err, aside.ErrOption) || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

func TestCallWriterPolicies(t *testing.T) {
	dialect := loadDialect(t, "calls-tags.toml")
	const cut = "<tool_call><function=add><parameter=a>2</parameter>"
	const two = `<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>` +
		`<tool_call>{"name":"rm","arguments":{"b":"C:\D"}}</tool_call>`
	for _, test := range []struct {
		options *aside.CallWriterOptions
		stream  string
		reason  aside.EndReason
		told    string
	}{
		{nil, cut, aside.EndReasonEnded, "0/0 call_0 add {\"a\":2} implied true\n"},
		{nil, cut, aside.EndReasonCutOff, "0/0 call_0 add {\"a\":2 end_of_stream false\n"},
		{&aside.CallWriterOptions{ImpliedEnd: aside.ImpliedEndOff}, cut, aside.EndReasonEnded, "0/0 call_0 add {\"a\":2 end_of_stream false\n"},
		{&aside.CallWriterOptions{NotWhole: aside.NotWholeHold}, cut, aside.EndReasonCutOff, ""},
		{&aside.CallWriterOptions{MaxCalls: 1}, two, aside.EndReasonEnded, "0/0 call_0 add {\"a\":1} marker true\n"},
		{&aside.CallWriterOptions{Tools: []byte(tools), UnknownTool: aside.UnknownToolTell}, two, aside.EndReasonEnded,
			"0/0 call_0 add {\"a\":1} marker true\n1/1 call_1 rm {\"b\":\"C:\\D\"} malformed false\n"},
		{&aside.CallWriterOptions{RepairArguments: true}, two, aside.EndReasonEnded,
			"0/0 call_0 add {\"a\":1} marker true\n1/1 call_1 rm {\"b\":\"C:\\\\D\"} marker true\n"},
	} {
		scanner, writer := newCalls(t, dialect, test.options)
		if err := scanner.SetEndReason(test.reason); err != nil {
			t.Fatal(err)
		}
		if got := written(t, scanner, writer, test.stream, 3, false); got != test.told {
			t.Errorf("%+v: %q, not %q", test.options, got, test.told)
		}
	}
	if _, err := aside.NewCallWriter(dialect, &aside.CallWriterOptions{NotWhole: 3}); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
}

func TestCallEvents(t *testing.T) {
	dialect := loadDialect(t, "calls-tags.toml")
	const stream = "<think>a<tool_call><function=f><parameter=k>v</parameter></function></tool_call>" +
		`<tool_call>{"id":"7","name":1}</tool_call>`
	scan := func(options *aside.ScannerOptions) (said string) {
		scanner, err := aside.NewScanner(dialect, options)
		if err != nil {
			t.Fatal(err)
		}
		defer scanner.Close()
		for event, err := range scanner.All(strings.NewReader(stream)) {
			if err != nil {
				t.Fatal(err)
			}
			if event.Kind >= aside.KindCall {
				said += fmt.Sprintf("%v %q %d.%d %d %v;", event.Kind, event.Text, event.Rule, event.Tag, event.Call, event.Cause)
			}
		}
		return said
	}
	const all = `call "<function=" 1.1 0 marker;call_name "f" 0.0 0 marker;call_key "k" 0.0 0 marker;` +
		`call_value "v" 0.0 0 marker;call_value_end "</parameter>" 0.0 0 marker;call_end "</function>" 0.0 0 marker;` +
		`call "{" 1.0 1 marker;call_id "7" 0.0 0 marker;call_end "" 0.0 1 malformed;`
	if got := scan(&aside.ScannerOptions{Calls: true}); got != all {
		t.Error(got)
	}
	if got := scan(nil) + scan(&aside.ScannerOptions{Calls: true, CallsInThinking: aside.CallsInThinkingNever}); got != "" {
		t.Error(got)
	}
}

func TestJoinOfCalls(t *testing.T) {
	dialect := loadDialect(t, "calls-tags.toml")
	scanner, writer := newCalls(t, dialect, nil)
	calls := []aside.JoinCall{{Name: "add", Arguments: `{"a": 1, "n": "x"}`}, {Name: "g", Arguments: "{}", ID: "7"}}
	text, err := aside.Join(dialect, "hm", "Adding.", &aside.JoinOptions{Calls: calls})
	if err != nil {
		t.Fatal(err)
	}
	const wanted = "0/0 call_0 add {\"a\": 1, \"n\": \"x\"} marker true\n1/1 7 g {} marker true\n"
	if got := written(t, scanner, writer, text, 7, false); got != wanted {
		t.Error(text, got)
	}
	if text, err := aside.Join(dialect, "", "a", nil); text != "a" || err != nil {
		t.Error(text, err)
	}
	for arguments, status := range map[string]aside.Status{"{": aside.ErrJoin, "": aside.ErrJoin, "\xff": aside.ErrOption} {
		calls[1].Arguments = arguments
		_, err := aside.Join(dialect, "", "", &aside.JoinOptions{Calls: calls})
		if !errors.Is(err, status) {
			t.Errorf("%q: %v", arguments, err)
		}
	}
}

func ExampleJoin_calls() {
	dialect, err := aside.Load(`
		name = "mine"
		[[span]]
		channel = "tool"
		open = ["<tool_call>"]
		close = ["</tool_call>"]
		[[span.call]]
		body = "object"
	`)
	if err != nil {
		log.Fatal(err)
	}
	defer dialect.Close()
	calls := []aside.JoinCall{{Name: "add", Arguments: `{"a": 2}`}}
	text, err := aside.Join(dialect, "", "Adding.", &aside.JoinOptions{Calls: calls})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
	// Output: Adding.<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>
}

func TestCallWriterInUseAndClosed(t *testing.T) {
	scanner, writer := newCalls(t, loadDialect(t, "calls-tags.toml"), nil)
	var events []aside.Event
	if _, err := scanner.Feed([]byte(callText), func(event aside.Event) bool {
		event.Text, event.Attribute = []byte(string(event.Text)), nil
		events = append(events, event)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	together(
		func() {
			for _, event := range events {
				_, err := writer.Feed(event)
				may(t, err)
			}
		},
		func() { may(t, writer.Reset()) },
	)
	if err := writer.Reset(); err != nil {
		t.Fatal("left busy:", err)
	}
	together(
		func() { _, err := writer.Feed(events[0]); may(t, err, aside.ErrClosed) },
		func() { may(t, writer.Reset(), aside.ErrClosed) },
		func() { may(t, writer.Close()) },
	)
	if _, err := writer.Feed(events[0]); err != aside.ErrClosed {
		t.Error(err)
	}
	if _, err := aside.NewCallWriter(nil, nil); !isNilDialect(err) {
		t.Error(err)
	}
}

func ExampleCallWriter() {
	dialect, err := aside.Load(`
		name = "mine"
		[[span]]
		channel = "tool"
		open = ["<tool_call>"]
		close = ["</tool_call>"]
		[[span.call]]
		body = "tags"
		begin = "<function="
		name_end = [">"]
		key = ["<parameter=", ">"]
		value = ["", "</parameter>"]
		end = "</function>"
	`)
	if err != nil {
		log.Fatal(err)
	}
	defer dialect.Close()
	scanner, err := aside.NewScanner(dialect, &aside.ScannerOptions{Calls: true})
	if err != nil {
		log.Fatal(err)
	}
	defer scanner.Close()
	writer, err := aside.NewCallWriter(dialect, &aside.CallWriterOptions{
		Tools: []byte(`[{"name": "add", "parameters": {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}}]`),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer writer.Close()

	const answer = `<tool_call><function=add><parameter=a>40</parameter><parameter=b>2</parameter></function></tool_call>`
	for event, err := range scanner.All(strings.NewReader(answer)) {
		if err != nil {
			log.Fatal(err)
		}
		delta, err := writer.Feed(event)
		if err != nil {
			log.Fatal(err)
		}
		if delta == nil {
			continue
		}
		if delta.First {
			fmt.Printf("call %d, %s: %s ", delta.Index, delta.ID, delta.Name)
		}
		fmt.Print(delta.Arguments)
		if delta.Last {
			fmt.Println(" is whole:", delta.Whole)
		}
	}
	// Output: call 0, call_0: add {"a":40,"b":"2"} is whole: true
}

func TestToolTriggers(t *testing.T) {
	qwen3, err := aside.Find("qwen3")
	if err != nil {
		t.Fatal(err)
	}
	triggers, err := qwen3.ToolTriggers()
	if err != nil {
		t.Fatal(err)
	}
	want := aside.ToolTrigger{
		Trigger: "<tool_call>", Begin: `<tool_call>{"name": "`, AfterName: `", "arguments": `, End: "}</tool_call>",
		Arguments: aside.ToolArgumentsJSON, Preserved: []string{"<tool_call>", "</tool_call>"},
	}
	if len(triggers) != 4 || !reflect.DeepEqual(triggers[0], want) {
		t.Errorf("%+v", triggers)
	}
	if tags := triggers[2]; tags.Arguments != aside.ToolArgumentsTags || tags.KeyBegin+tags.KeyEnd != "<parameter=>" ||
		tags.ValueBegin+tags.ValueEnd != "\n\n</parameter>" {
		t.Errorf("%+v", tags)
	}
	closed := loadDialect(t, "calls-tags.toml")
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := closed.ToolTriggers(); !errors.Is(err, aside.ErrClosed) {
		t.Error(err)
	}
}
