package sdks

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The model's first turn: thinking that mentions a marker, and then two calls, one of them with a closer in an argument. The second
// turn repeats the results.
const (
	calling = "<think>\nI could write <tool_call> here.\n</think>\n\nI ask.\n" +
		`<tool_call>` + "\n" + `{"name": "weather", "arguments": {"city": "Paris </tool_call> é", "days": 2}}` + "\n" + `</tool_call>` + "\n" +
		`<tool_call>` + "\n" + `{"name": "clock", "arguments": {}}` + "\n" + `</tool_call>`
	answering = "<think>\nIt rains.\n</think>\n\nRain at noon."
)

// message is a message of a request.
type message struct {
	Role       string
	Content    any
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// server is a model's server that does not recognise reasoning and calls: it sends the text unchanged, in pieces of several
// characters.
type server struct {
	size int
	// streams is the number of answers that were requested as streams.
	streams int
	// histories are the requests that the clients sent with the results of their tools.
	histories [][]message
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Stream   bool
		Messages []message
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text := calling
	if asked.Messages[len(asked.Messages)-1].Role == "tool" {
		text = answering
		s.histories = append(s.histories, asked.Messages)
	}
	if !asked.Stream {
		w.Header().Set("Content-Type", "application/json")
		quoted, _ := json.Marshal(text)
		fmt.Fprintf(w, `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,`+
			`"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]}`, quoted)
		return
	}
	s.streams++
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta, reason string) {
		fmt.Fprintf(w, `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m",`+
			`"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, reason)
	}
	send(`{"role":"assistant","content":""}`, "null")
	for rest := []rune(text); len(rest) > 0; {
		size := min(s.size, len(rest))
		quoted, _ := json.Marshal(string(rest[:size]))
		send(fmt.Sprintf(`{"content":%s}`, quoted), "null")
		rest = rest[size:]
	}
	send(`{}`, `"stop"`)
	io.WriteString(w, "data: [DONE]\n\n")
}

// check returns the faults in the history of a client that has run both tools.
func check(history []message) error {
	if len(history) != 4 {
		return fmt.Errorf("%d messages", len(history))
	}
	said, calls := history[1], history[1].ToolCalls
	// Blanks before and between calls are framing, and may be lost.
	if text(said.Content) != "I ask." || len(calls) != 2 {
		return fmt.Errorf("the model's turn is %+v", said)
	}
	wanted := []struct {
		name, result string
		arguments    map[string]any
	}{
		{"weather", "2 days of rain in Paris </tool_call> é", map[string]any{"city": "Paris </tool_call> é", "days": 2.0}},
		{"clock", "noon", map[string]any{}},
	}
	for at, want := range wanted {
		var arguments map[string]any
		if err := json.Unmarshal([]byte(calls[at].Function.Arguments), &arguments); err != nil {
			return fmt.Errorf("%q: %w", calls[at].Function.Arguments, err)
		}
		if calls[at].Function.Name != want.name || !reflect.DeepEqual(arguments, want.arguments) {
			return fmt.Errorf("call %d is %+v", at, calls[at])
		}
		// Some clients send the results in another order.
		found := false
		for _, result := range history[2:] {
			found = found || result.ToolCallID == calls[at].ID && text(result.Content) == want.result
		}
		if !found {
			return fmt.Errorf("no result of %s: %+v", calls[at].ID, history[2:])
		}
	}
	if calls[0].ID == calls[1].ID {
		return fmt.Errorf("both calls have the id %s", calls[0].ID)
	}
	return nil
}

// text returns the text of a message's content, which may be a string or a list of parts.
func text(content any) string {
	if parts, is := content.([]any); is {
		var joined strings.Builder
		for _, part := range parts {
			joined.WriteString(part.(map[string]any)["text"].(string))
		}
		return joined.String()
	}
	text, _ := content.(string)
	return text
}

// TestAgents runs the loop of an agent: the model calls tools in its text, the client runs them, and the model answers.
func TestAgents(t *testing.T) {
	native := build(t, "agents")
	agents := map[string]struct {
		needs   string
		command []string
	}{
		"python":      {python, []string{python, "agents/agent.py"}},
		"pydantic-ai": {python, []string{python, "agents/agent_pydantic.py"}},
		"node":        {filepath.Join(modules, "openai"), []string{"node", "agents/agent.cjs"}},
		"ai-sdk":      {filepath.Join(modules, "ai"), []string{"node", "agents/agent_ai.mjs"}},
		"go":          {native, []string{native}},
	}
	sizes := []int{7}
	if long {
		sizes = []int{1, 7, len(calling)}
	}
	for _, size := range sizes {
		model := &server{size: size}
		upstream := httptest.NewServer(model)
		defer upstream.Close()
		gateway := startGateway(t, upstream.URL)
		for name, agent := range agents {
			for _, mode := range []string{"streamed", "whole"} {
				if mode == "whole" && size != sizes[0] {
					continue // only streams have pieces
				}
				t.Run(fmt.Sprintf("%s/%s/%d", name, mode, size), func(t *testing.T) {
					if _, err := os.Stat(agent.needs); err != nil {
						t.Skip("its packages are not there: ", err)
					}
					model.streams, model.histories = 0, nil
					client := exec.Command(agent.command[0], append(agent.command[1:], gateway+"/v1", mode)...)
					client.Env = append(os.Environ(), "NODE_PATH="+modules)
					client.Stderr = os.Stderr
					said, err := client.Output()
					if err != nil {
						t.Fatal(err)
					}
					if string(said) != "Rain at noon.\n" {
						t.Errorf("the answer is %q", said)
					}
					if streamed := mode == "streamed"; model.streams != 0 != streamed {
						t.Errorf("%d of the answers were streamed", model.streams)
					}
					if len(model.histories) != 1 {
						t.Fatalf("%d requests with results", len(model.histories))
					}
					if err := check(model.histories[0]); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}
