package aside_test

import (
	"errors"
	"fmt"
	"log"
	"os"
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
	unknown + `<tool_call>{"name": "add", "arguments": {"a": [1}}</tool_call>.`

const unknown = `<tool_call>{"name": "rm", "arguments": {"a": 1}}</tool_call>`

// The thinking, the content, and for each call its number, id, name, arguments, cause, and whether it is whole.
const told = " | Hm.\n" + unknown + `}}. | 0 call_0 made add {"a":2,"note":"\"x\" </tool_call>"} marker true` +
	` | 1 own add {"a": 40, "b": "é"} marker true | 2 call_2 made add {"a": [1 malformed false`

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

func newAnswer(t testing.TB, dialect *aside.Dialect, options *aside.AnswerOptions) *aside.Answer {
	t.Helper()
	answer, err := aside.NewAnswer(dialect, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Close() })
	return answer
}

// message collects the parts of an answer, as a host would.
type message struct {
	thinking, content string
	calls             []string
}

func (m *message) add(parts []aside.Part) {
	for _, part := range parts {
		switch part.Kind {
		case aside.PartKindThinking:
			m.thinking += part.Text
		case aside.PartKindContent:
			m.content += part.Text
		case aside.PartKindCall:
			made := ""
			if part.Made {
				made = " made"
			}
			m.calls = append(m.calls, fmt.Sprintf("%d %s%s %s ", part.Index, part.ID, made, part.Name))
		case aside.PartKindArguments:
			m.calls[part.Index] += part.Text
		case aside.PartKindCallEnd:
			m.calls[part.Index] += fmt.Sprintf(" %v %v%s", part.Cause, part.Whole, part.LateID)
		case aside.PartKindMoved:
			if part.From == aside.ChannelContent {
				m.thinking, m.content = m.thinking+m.content, ""
			} else {
				m.thinking, m.content = "", m.thinking+m.content
			}
		}
	}
}

func (m *message) String() string {
	return strings.Join(append([]string{m.thinking, m.content}, m.calls...), " | ")
}

// read feeds a text in pieces, and returns the answer's parts as one text.
func read(t testing.TB, answer *aside.Answer, reason aside.EndReason, text string, size int) string {
	t.Helper()
	var m message
	for at := 0; at < len(text); at += size {
		parts, err := answer.Feed([]byte(text[at:min(at+size, len(text))]))
		if err != nil {
			t.Fatal(err)
		}
		m.add(parts)
	}
	parts, err := answer.Finish(reason)
	if err != nil {
		t.Fatal(err)
	}
	m.add(parts)
	if answer.Held() != 0 {
		t.Error("held:", answer.Held())
	}
	return m.String()
}

func TestAnswer(t *testing.T) {
	answer := newAnswer(t, loadDialect(t, "calls-tags.toml"), &aside.AnswerOptions{Tools: []byte(tools)})
	for _, size := range []int{1, 7, len(callText)} {
		if got := read(t, answer, aside.EndReasonUnknown, callText, size); got != told {
			t.Errorf("pieces of %d: %s", size, got)
		}
	}
}

// The result is the same whole and byte by byte.
func TestAnswerValues(t *testing.T) {
	const good, broken = `<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>`, `<tool_call>{"nme":"f"}</tool_call>`
	const two = `<tool_call>{"name":"f","arguments":{"a":1}}</tool_call><tool_call>{"name":"rm","arguments":{"b":"C:\D"}}</tool_call>`
	const thought = "<think>\nhm\n</think>\n\nYes." + good
	const cut = "<tool_call><function=f>\n<parameter=a>\n2\n</parameter>\n"
	const first = `0 call_0 made f {"a":1} marker true`
	for _, test := range []struct {
		dialect string
		options aside.AnswerOptions
		text    string
		reason  aside.EndReason
		want    string
	}{
		// Text that is not a call.
		{"qwen3", aside.AnswerOptions{}, `<tool_call>{"name": 5}</tool_call>`, aside.EndReasonEnded, ` | <tool_call>{"name": 5}</tool_call>`},
		{"qwen3", aside.AnswerOptions{}, `Yes. <tool_call>{"na`, aside.EndReasonEnded, ` | Yes. <tool_call>{"na`},
		{"qwen3", aside.AnswerOptions{}, good + broken, aside.EndReasonEnded, ` | ` + broken + ` | ` + first},
		// The reason of the end.
		{"qwen3", aside.AnswerOptions{}, cut, aside.EndReasonEnded, ` |  | 0 call_0 made f {"a":"2"} implied true`},
		{"qwen3", aside.AnswerOptions{}, cut, aside.EndReasonCutOff, ` |  | 0 call_0 made f {"a":"2" end_of_stream false`},
		{"deepseek-r1", aside.AnswerOptions{}, "42", aside.EndReasonUnknown, "42 | "},
		{"deepseek-r1", aside.AnswerOptions{}, "42", aside.EndReasonEnded, "42 | 42"},
		// Each option.
		{"qwen3", aside.AnswerOptions{Start: aside.StartThinking}, "hm</think>Yes.", aside.EndReasonEnded, "hm | Yes."},
		{"qwen3", aside.AnswerOptions{StrayClose: aside.StrayCloseDrop}, "a</think>b", aside.EndReasonEnded, " | ab"},
		{"qwen3", aside.AnswerOptions{CallsInThinking: aside.CallsInThinkingNever}, "<think>" + good, aside.EndReasonEnded, good + " | "},
		{"gemma-4", aside.AnswerOptions{LeadingTags: aside.LeadingTagsText}, "<think>a</think>", aside.EndReasonEnded, " | <think>a</think>"},
		{"qwen3", aside.AnswerOptions{}, thought, aside.EndReasonEnded, "hm | Yes. | " + first},
		{"qwen3", aside.AnswerOptions{Thinking: aside.ThinkingDrop}, thought, aside.EndReasonEnded, " | Yes. | " + first},
		{"qwen3", aside.AnswerOptions{Thinking: aside.ThinkingInline}, thought, aside.EndReasonEnded, " | <think>\nhm\n</think>\n\nYes. | " + first},
		{"qwen3", aside.AnswerOptions{NotWhole: aside.NotWholeHold}, `<tool_call>{"name":"f","arguments":{"a":1`, aside.EndReasonEnded,
			` | <tool_call>{"name":"f","arguments":{"a":1`},
		{"qwen3", aside.AnswerOptions{Tools: []byte("[]")}, good, aside.EndReasonEnded, " | " + good},
		{"qwen3", aside.AnswerOptions{Tools: []byte(`[{"name":"f"}]`), UnknownTool: aside.UnknownToolDrop}, two, aside.EndReasonEnded, " |  | " + first},
		{"qwen3", aside.AnswerOptions{ImpliedEnd: aside.ImpliedEndOff}, cut, aside.EndReasonEnded, ` |  | 0 call_0 made f {"a":"2" end_of_stream false`},
		{"qwen3", aside.AnswerOptions{StartCall: "f"}, `<think>hm</think>{"a":1}`, aside.EndReasonEnded, `hm |  | 0 call_0 made f {"a":1} implied true`},
		{"qwen3", aside.AnswerOptions{IDPrefix: "c-"}, good, aside.EndReasonEnded, ` |  | 0 c-0 made f {"a":1} marker true`},
		{"qwen3", aside.AnswerOptions{MaxHeld: 4}, good, aside.EndReasonEnded, " | " + good},
		{"qwen3", aside.AnswerOptions{MaxCalls: 1}, good + good, aside.EndReasonEnded, " | " + good + " | " + first},
		{"qwen3", aside.AnswerOptions{RepairArguments: true, MaxCalls: 2}, two, aside.EndReasonEnded,
			" |  | " + first + ` | 1 call_1 made rm {"b":"C:\\D"} marker true`},
		{"qwen3", aside.AnswerOptions{PromoteEmpty: true}, "<think>42", aside.EndReasonEnded, "42 | 42"},
		{"qwen3", aside.AnswerOptions{PromoteEmpty: true, MayTakeBack: true}, "<think>42", aside.EndReasonEnded, " | 42"},
		{"qwen3", aside.AnswerOptions{MayTakeBack: true}, "hm</think>Yes.", aside.EndReasonEnded, "hm | Yes."},
		{"deepseek-r1", aside.AnswerOptions{KeepGuessed: true}, "42", aside.EndReasonEnded, "42 | "},
	} {
		answer := newAnswer(t, find(t, test.dialect), &test.options)
		for _, size := range []int{len(test.text), 1} {
			if got := read(t, answer, test.reason, test.text, size); got != test.want {
				t.Errorf("%s %+v, pieces of %d: %q, not %q", test.dialect, test.options, size, got, test.want)
			}
		}
	}
}

func TestAnswerOptionsThatAreWrong(t *testing.T) {
	dialect := find(t, "qwen3")
	for tools, message := range map[string]string{
		"":     "aside: options.tools: not JSON, or nested too deep, at line 1, column 1",
		"{}":   "aside: options.tools: not a JSON array",
		"[1]":  "aside: options.tools[0]: not a JSON object",
		"\xff": "aside: options.tools: not UTF-8",
	} {
		_, err := aside.NewAnswer(dialect, &aside.AnswerOptions{Tools: []byte(tools)})
		if !errors.Is(err, aside.ErrOption) || err.Error() != message {
			t.Error(err)
		}
	}
	limited := aside.AnswerOptions{Tools: []byte(tools), MaxTools: uint64(len(tools))}
	newAnswer(t, dialect, &limited)
	limited.MaxTools--
	for _, options := range []aside.AnswerOptions{
		limited, {NotWhole: 3}, {Thinking: 3}, {Start: aside.StartHeader}, {Budget: 1, BudgetUnit: 9},
	} {
		if _, err := aside.NewAnswer(dialect, &options); !errors.Is(err, aside.ErrOption) {
			t.Errorf("%+v: %v", options, err)
		}
	}
	if _, err := aside.NewAnswer(nil, nil); !isNilDialect(err) {
		t.Error(err)
	}
}

// Sets the start and the tools of one text, also by calls in a wrong order.
func TestAnswerOfSeveralRequests(t *testing.T) {
	const call = `<tool_call>{"name":"f","arguments":{}}</tool_call>`
	answer := newAnswer(t, find(t, "qwen3"), &aside.AnswerOptions{Tools: []byte(`[{"name":"f"}]`)})
	for _, test := range []struct{ tail, tools, text, want string }{
		{"<|im_start|>assistant\n<think>\n", "", "hm</think>Yes." + call, "hm | Yes. | 0 call_0 made f {} marker true"},
		{"", "[]", "<think>hm</think>" + call, "hm | " + call},
		{"", "", call, " |  | 0 call_0 made f {} marker true"},
	} {
		start, err := answer.StartFromPrompt(test.tail)
		if err != nil || (start == aside.StartThinking) != strings.HasSuffix(test.tail, "<think>\n") {
			t.Error(start, err)
		}
		if test.tools != "" {
			if err := answer.UseTools([]byte(test.tools)); err != nil {
				t.Error(err)
			}
		}
		if got := read(t, answer, aside.EndReasonEnded, test.text, 3); got != test.want {
			t.Errorf("%q, not %q", got, test.want)
		}
	}
	if _, err := answer.Feed([]byte("<think>a")); err != nil {
		t.Fatal(err)
	}
	if _, err := answer.StartFromPrompt("x"); !errors.Is(err, aside.ErrOrder) {
		t.Error(err)
	}
	if err := answer.UseTools(nil); !errors.Is(err, aside.ErrOrder) {
		t.Error(err)
	}
	if counts, err := answer.Counts(aside.ChannelThinking); counts.Bytes != 1 || counts.Spans != 1 || err != nil {
		t.Error(counts, err)
	}
	if _, err := answer.Counts(9); !errors.Is(err, aside.ErrRange) {
		t.Error(err)
	}
	if _, err := answer.Finish(9); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
	if err := answer.Reset(); err != nil {
		t.Fatal(err)
	}
	if err := answer.UseTools([]byte("{}")); !errors.Is(err, aside.ErrOption) || err.Error() != "aside: tools: not a JSON array" {
		t.Error(err)
	}
}

func TestAnswerFlushesAndCloses(t *testing.T) {
	answer := newAnswer(t, find(t, "qwen3"), &aside.AnswerOptions{Budget: 2})
	var m message
	kinds := map[aside.PartKind]int{}
	take := func(parts []aside.Part, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		m.add(parts)
		for _, part := range parts {
			kinds[part.Kind]++
		}
	}
	take(answer.FeedTokens([]byte("<think>hmm"), []aside.Token{{Len: 7, Special: true}, {Len: 3}}))
	take(answer.ForceClose())
	take(answer.Feed([]byte("Yes.<tool_call>{")))
	if answer.Held() != len("<tool_call>{") {
		t.Error(answer.Held())
	}
	take(answer.Flush())
	if answer.Held() != 0 || m.String() != "hmm | Yes.<tool_call>{" || kinds[aside.PartKindBudget] != 1 {
		t.Error(answer.Held(), m.String(), kinds)
	}
	if _, err := answer.FeedTokens([]byte("ab"), []aside.Token{{Len: 3}}); !errors.Is(err, aside.ErrLength) {
		t.Error(err)
	}
	if counts, err := answer.Counts(aside.ChannelThinking); counts.Tokens != 1 || err != nil {
		t.Error(counts, err)
	}
}

// The parts belong to the caller.
func TestPartsAreKept(t *testing.T) {
	answer := newAnswer(t, find(t, "qwen3"), nil)
	kept, err := answer.Feed([]byte(`Yes.<tool_call>{"name":"f","id":"x1","arguments":{"a":1}}</tool_call>`))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := answer.Feed([]byte(strings.Repeat("another text ", 100))); err != nil {
			t.Fatal(err)
		}
	}
	if err := answer.Close(); err != nil {
		t.Fatal(err)
	}
	var m message
	if m.add(kept); m.String() != ` | Yes. | 0 x1 f {"a":1} marker true` {
		t.Error(m.String())
	}
}

func TestAnswerInUseAndClosed(t *testing.T) {
	answer := newAnswer(t, find(t, "qwen3"), nil)
	feed := func(allowed ...error) func() {
		return func() { _, err := answer.Feed([]byte("<think>a</think>b<tool_call>{")); may(t, err, allowed...) }
	}
	together(
		feed(), feed(),
		func() { _, err := answer.Finish(aside.EndReasonEnded); may(t, err) },
		func() { _, err := answer.Flush(); may(t, err) },
		func() { _, err := answer.ForceClose(); may(t, err) },
		func() { _, err := answer.Counts(aside.ChannelContent); may(t, err) },
		func() { _, err := answer.StartFromPrompt("<think>"); may(t, err, aside.ErrOrder) },
		func() { may(t, answer.UseTools(nil), aside.ErrOrder) },
		func() { may(t, answer.Reset()) },
		func() {
			if answer.Held() < 0 {
				t.Error("held")
			}
		},
	)
	if err := answer.Reset(); err != nil {
		t.Fatal("left busy:", err)
	}
	together(
		feed(aside.ErrClosed),
		func() { may(t, answer.Reset(), aside.ErrClosed) },
		func() { may(t, answer.Close()) },
	)
	if err := answer.Close(); err != nil {
		t.Error(err)
	}
	if _, err := answer.Feed(nil); err != aside.ErrClosed || answer.Held() != 0 {
		t.Error(err)
	}
}

func ExampleAnswer() {
	dialect, err := aside.Find("qwen3")
	if err != nil {
		log.Fatal(err)
	}
	answer, err := aside.NewAnswer(dialect, &aside.AnswerOptions{
		Tools: []byte(`[{"name": "add", "parameters": {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}}]`),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Close()
	show := func(parts []aside.Part) {
		for _, part := range parts {
			switch part.Kind {
			case aside.PartKindThinking:
				fmt.Printf("thinking: %q\n", part.Text)
			case aside.PartKindContent:
				fmt.Printf("content: %q\n", part.Text)
			case aside.PartKindCall:
				fmt.Printf("call %d, %s: %s ", part.Index, part.ID, part.Name)
			case aside.PartKindArguments:
				fmt.Print(part.Text)
			case aside.PartKindCallEnd:
				fmt.Println(" is whole:", part.Whole)
			}
		}
	}
	for _, chunk := range []string{
		"<think>\nA sum.\n</think>\n\nAdding.", "<tool_call>\n<function=add>\n<parameter=a>\n40\n</parameter>\n",
		"<parameter=b>\n2\n</parameter>\n</function>\n</tool_call>",
	} {
		parts, err := answer.Feed([]byte(chunk))
		if err != nil {
			log.Fatal(err)
		}
		show(parts)
	}
	parts, err := answer.Finish(aside.EndReasonEnded)
	if err != nil {
		log.Fatal(err)
	}
	show(parts)
	// Output:
	// thinking: "A sum."
	// content: "Adding."
	// call 0, call_0: add {"a":40,"b":"2"} is whole: true
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
	calls := []aside.JoinCall{{Name: "add", Arguments: `{"a": 1, "n": "x"}`}, {Name: "g", Arguments: "{}", ID: "7"}}
	text, err := aside.Join(dialect, "hm", "Adding.", &aside.JoinOptions{Calls: calls})
	if err != nil {
		t.Fatal(err)
	}
	const wanted = `hm | Adding. | 0 call_0 made add {"a": 1, "n": "x"} marker true | 1 7 g {} marker true`
	if got := read(t, newAnswer(t, dialect, nil), aside.EndReasonEnded, text, 7); got != wanted {
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
