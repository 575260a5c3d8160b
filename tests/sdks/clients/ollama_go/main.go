// The client of Ollama's Go package: chat and generate. Requests and answers are those of seen.py.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"

	"github.com/ollama/ollama/api"
)

const question = "What is twice 21?"

type request struct {
	URL, Format string
	Stream      bool
	Tools       []json.RawMessage
}

// seen is a client's result, text and calls in the order in which they came.
type seen struct {
	Order    []string `json:"order"`
	Thinking string   `json:"thinking"`
	Content  string   `json:"content"`
	Calls    [][2]any `json:"calls"`
	Reason   string   `json:"reason"`
}

func (s *seen) note(kind string) {
	if len(s.Order) == 0 || s.Order[len(s.Order)-1] != kind || kind == "call" {
		s.Order = append(s.Order, kind)
	}
}

func (s *seen) take(thinking, content, reason string) {
	if thinking != "" {
		s.note("thinking")
		s.Thinking += thinking
	}
	if content != "" {
		s.note("content")
		s.Content += content
	}
	s.Reason = reason
}

func ask(asked request) (*seen, error) {
	base, err := url.Parse(asked.URL)
	if err != nil {
		return nil, err
	}
	client, all := api.NewClient(base, http.DefaultClient), &seen{}
	if asked.Format == "generate" {
		params := &api.GenerateRequest{Model: "m", Prompt: question, Stream: &asked.Stream}
		return all, client.Generate(context.Background(), params, func(part api.GenerateResponse) error {
			all.take(part.Thinking, part.Response, part.DoneReason)
			return nil
		})
	}
	params := &api.ChatRequest{Model: "m", Messages: []api.Message{{Role: "user", Content: question}}, Stream: &asked.Stream}
	for _, function := range asked.Tools {
		tool := api.Tool{Type: "function"}
		if err := json.Unmarshal(function, &tool.Function); err != nil {
			return nil, err
		}
		params.Tools = append(params.Tools, tool)
	}
	return all, client.Chat(context.Background(), params, func(part api.ChatResponse) error {
		all.take(part.Message.Thinking, part.Message.Content, part.DoneReason)
		for _, call := range part.Message.ToolCalls {
			all.note("call")
			all.Calls = append(all.Calls, [2]any{call.Function.Name, call.Function.Arguments})
		}
		return nil
	})
}

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		all, err := ask(asked)
		answer := map[string]any{"streamed": all, "final": nil}
		if !asked.Stream {
			answer = map[string]any{"streamed": nil, "final": all}
		}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		line, err := json.Marshal(answer)
		if err != nil {
			line, _ = json.Marshal(map[string]any{"error": err.Error()})
		}
		fmt.Println(string(line))
	}
}
