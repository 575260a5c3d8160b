package asideollama

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"

	aside "aside.example/bindings/go"
	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"
)

// A test of Ollama's own parsers: a text and its expected result.
type testCase struct {
	Suite, Family, Dialect, Source, Input, Verdict, Start string
	Content, Thinking                                     *string
	Calls                                                 []testCall
	Tools                                                 []api.ToolFunction
}

type testCall struct {
	Name      string
	Arguments map[string]any
}

// The first cases are written for this test; the others, Ollama's own, are read if the folder of the project's cases exists.
const own = `
{"dialect": "qwen3", "start": "default", "input": "<think>hm</think>Yes.", "content": "Yes.", "thinking": "hm", "calls": []}
{"dialect": "qwen3", "start": "default", "input": "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"é\"]}}\n</tool_call>", "content": "", "thinking": "", "calls": [{"name": "f", "arguments": {"a": [1, "é"]}}]}
{"dialect": "qwen3", "start": "default", "input": "Yes. <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1", "content": "Yes. <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1", "calls": []}
{"dialect": "qwen3", "start": "content", "input": "<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call>", "content": "", "calls": [{"name": "g", "arguments": {}}], "tools": [{"name": "f", "parameters": {"type": "object", "properties": {}}}]}`

const cases = "../../../shared/cases/calls-2/peers.jsonl"

// The only text whose result differs from that of Ollama's own parser: a quoted marker counts as a marker.
const known = "model/parsers TestGlimmerParserLiteralStartTokenInMessages"

func TestCases(t *testing.T) {
	text := []byte(own)
	others, err := os.ReadFile(cases)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	passed, counted := 0, 0
	lines := bufio.NewScanner(strings.NewReader(string(text) + "\n" + string(others)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c testCase
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) && !strings.Contains(lines.Text(), `"suite": "ollama"`) {
				continue // another suite's case
			}
			t.Fatal(err)
		}
		// Of the other cases, only those count for which the two projects want the same result.
		isOwn := c.Suite == ""
		if !isOwn && (c.Suite != "ollama" || c.Verdict != "right" && c.Verdict != "aside") {
			continue
		}
		difference := differs(t, c)
		if !isOwn {
			counted++
		}
		switch {
		case difference == "":
			if !isOwn {
				passed++
			}
		case strings.Contains(c.Source, known):
			t.Logf("known: %s: %s", c.Input, difference)
		default:
			t.Errorf("%s %s: %s: %s", c.Dialect, c.Source, c.Input, difference)
		}
	}
	t.Logf("%d of %d texts of Ollama's tests", passed, counted)
}

// differs describes how the result of a case differs from the expected one, for the server's cuts, pieces of three bytes, and the
// whole text.
func differs(t *testing.T, c testCase) string {
	t.Helper()
	for _, size := range []int{1, 3, len(c.Input) + 1} {
		content, thinking, calls := run(t, c, size)
		switch {
		case c.Content != nil && blankless(content) != blankless(*c.Content):
			return "content " + content
		case c.Thinking != nil && blankless(thinking) != blankless(*c.Thinking):
			return "thinking " + thinking
		case len(calls) != len(c.Calls):
			return "another number of calls"
		}
		for i, call := range calls {
			if call.Function.Name != c.Calls[i].Name {
				return "called " + call.Function.Name
			}
			if got := call.Function.Arguments.ToMap(); len(got)+len(c.Calls[i].Arguments) > 0 && !reflect.DeepEqual(got, c.Calls[i].Arguments) {
				return "arguments " + call.Function.Arguments.String()
			}
		}
	}
	return ""
}

func run(t *testing.T, c testCase, size int) (content, thinking string, calls []api.ToolCall) {
	t.Helper()
	name := "aside-" + c.Dialect
	if c.Start == "thinking" {
		name += "-opened"
	}
	parser := parsers.ParserForName(name)
	if parser == nil {
		t.Fatalf("no parser for %s", c.Dialect)
	}
	var tools []api.Tool
	for _, tool := range c.Tools {
		tools = append(tools, api.Tool{Type: "function", Function: tool})
	}
	var think *api.ThinkValue
	if c.Start == "" || c.Start == "content" {
		think = &api.ThinkValue{Value: false}
	}
	parser.Init(tools, nil, think)
	for rest := c.Input; ; {
		n := min(size, len(rest))
		part := rest[:n]
		rest = rest[n:]
		someContent, someThinking, someCalls, err := parser.Add(part, rest == "")
		if err != nil {
			t.Fatalf("%s %s: %v", c.Dialect, c.Input, err)
		}
		content, thinking, calls = content+someContent, thinking+someThinking, append(calls, someCalls...)
		if rest == "" {
			return content, thinking, calls
		}
	}
}

func blankless(text string) string { return strings.Join(strings.Fields(text), "") }

func TestErrors(t *testing.T) {
	parser := New("quen3", aside.StartDefault)
	parser.Init(nil, nil, nil)
	if _, _, _, err := parser.Add("a", true); err == nil || !strings.Contains(err.Error(), "qwen3") {
		t.Error(err)
	}
	if _, _, _, err := New("qwen3", aside.StartDefault).Add("a", true); err == nil {
		t.Error("Add before Init")
	}
	if !New("qwen3", aside.StartDefault).HasToolSupport() || New("inline-think", aside.StartDefault).HasToolSupport() || New("quen3", aside.StartDefault).HasToolSupport() {
		t.Error("HasToolSupport")
	}
}

func TestContinuedMessages(t *testing.T) {
	parser := New("qwen3-thinking", aside.StartDefault)
	parser.Init(nil, &api.Message{Role: "assistant", Content: "Yes"}, nil)
	if content, thinking, _, err := parser.Add(", it is.", true); content != ", it is." || thinking != "" || err != nil {
		t.Error(content, thinking, err)
	}
	parser.Init(nil, &api.Message{Role: "assistant", Thinking: "hm"}, nil)
	if content, thinking, _, err := parser.Add(", so</think>Yes.", true); content != "Yes." || thinking != ", so" || err != nil {
		t.Error(content, thinking, err)
	}
}

func TestMain(m *testing.M) {
	Register()
	os.Exit(m.Run())
}
