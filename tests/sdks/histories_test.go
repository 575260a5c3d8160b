package sdks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// turns are the model's outputs in a loop of three turns. The model thinks before each call, and needs this thinking in the next
// request.
var turns = []string{
	"<think>\nLook up the \"weather\", é.\n</think>\n\n" + `<tool_call>` + "\n" + `{"name": "weather", "arguments": {"city": "Paris", "days": 2}}` + "\n" + `</tool_call>`,
	"<think>\nRain. Now the clock.\n</think>\n\n" + `<tool_call>` + "\n" + `{"name": "clock", "arguments": {}}` + "\n" + `</tool_call>`,
	"<think>\nBoth known.\n</think>\n\nRain at noon.",
}

var thoughts = []string{"Look up the \"weather\", é.", "Rain. Now the clock."}

// loop is a model's server for three turns, with chat completions and Messages. It keeps the last request.
type loop struct {
	last map[string]any
	// problem is the fault of a request.
	problem string
}

func (l *loop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.last = nil
	if err := json.NewDecoder(r.Body).Decode(&l.last); err != nil {
		l.problem = fmt.Sprintf("%d bytes: %v", r.ContentLength, err)
	}
	said := 0
	for _, one := range l.messages() {
		if one["role"] == "assistant" {
			said++
		}
	}
	text, _ := json.Marshal(turns[min(said, len(turns)-1)])
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/messages") {
		fmt.Fprintf(w, `{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":%s}],`+
			`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`, said, text)
		return
	}
	fmt.Fprintf(w, `{"id":"c%d","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,`+
		`"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]}`, said, text)
}

func (l *loop) messages() []map[string]any {
	list, _ := l.last["messages"].([]any)
	messages := make([]map[string]any, 0, len(list))
	for _, one := range list {
		message, _ := one.(map[string]any)
		messages = append(messages, message)
	}
	return messages
}

// thinking returns the thinking in the assistant's messages: the field of this name, or the first block.
func (l *loop) thinking(name string) (found []string) {
	for _, one := range l.messages() {
		if one["role"] != "assistant" {
			continue
		}
		thinking, _ := one[name].(string)
		if blocks, is := one["content"].([]any); is && name == "blocks" {
			block, _ := blocks[0].(map[string]any)
			thinking, _ = block["thinking"].(string)
		}
		found = append(found, thinking)
	}
	return found
}

// TestHistories runs a loop of three turns with packages that send the thinking back as they received it. In the last request, the
// thinking must be in the field that the server reads.
func TestHistories(t *testing.T) {
	for _, test := range []struct {
		name, needs string
		command     []string
		server      string // the gateway's flag
		reads       string // the field in which the server reads the thinking; "": it gets no thinking
	}{
		{"openai/vllm", python, []string{python, "agents/three.py"}, "vllm", "reasoning"},
		{"openai/deepseek", python, []string{python, "agents/three.py"}, "deepseek", "reasoning_content"},
		{"anthropic/vllm", python, []string{python, "agents/three_anthropic.py"}, "vllm", "blocks"},
		{"anthropic/anthropic", python, []string{python, "agents/three_anthropic.py"}, "anthropic", ""},
		{"ai-sdk/vllm", filepath.Join(modules, "ai"), []string{"node", "agents/three_ai.mjs"}, "vllm", "reasoning"},
		{"ai-sdk/moonshot", filepath.Join(modules, "ai"), []string{"node", "agents/three_ai.mjs"}, "moonshot", "reasoning_content"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := os.Stat(test.needs); err != nil {
				t.Skip("its packages are not there: ", err)
			}
			model := &loop{}
			upstream := httptest.NewServer(model)
			defer upstream.Close()
			gateway := startGateway(t, upstream.URL, "-server", test.server)
			client := exec.Command(test.command[0], append(test.command[1:], gateway)...)
			client.Env = append(os.Environ(), "NODE_PATH="+modules)
			client.Stderr = os.Stderr
			said, err := client.Output()
			if err != nil || string(said) != "Rain at noon.\n" {
				t.Fatalf("%q, %v", said, err)
			}
			if model.problem != "" {
				t.Error(model.problem)
			}
			body, _ := json.Marshal(model.last)
			if test.reads == "" {
				thinking, _ := model.last["thinking"].(map[string]any)
				if got := model.thinking("blocks"); strings.Join(got, "") != "" || len(got) != 2 || thinking["type"] != "disabled" {
					t.Errorf("%s", body)
				}
				return
			}
			if got := model.thinking(test.reads); len(got) != 2 || got[0] != thoughts[0] || got[1] != thoughts[1] {
				t.Errorf("%q in %s", got, body)
			}
			for _, name := range []string{"reasoning", "reasoning_content"} {
				if got := model.thinking(name); name != test.reads && strings.Join(got, "") != "" {
					t.Errorf("%q under %s", got, name)
				}
			}
		})
	}
}
