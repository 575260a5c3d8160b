// The client of Ollama's Go package: chat and generate. Requests and answers have the form of seen.py.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/ollama/ollama/api"

	"aside.example/tests/sdks/clients/seen"
)

func ask(asked seen.Request) (*seen.Seen, error) {
	base, err := url.Parse(asked.URL)
	if err != nil {
		return nil, err
	}
	client, all := api.NewClient(base, http.DefaultClient), &seen.Seen{}
	if asked.Format == "generate" {
		params := &api.GenerateRequest{Model: "m", Prompt: seen.Question, Stream: &asked.Stream}
		return all, client.Generate(context.Background(), params, func(part api.GenerateResponse) error {
			all.Think(part.Thinking)
			all.Say(part.Response)
			all.Reason = part.DoneReason
			return nil
		})
	}
	params := &api.ChatRequest{Model: "m", Messages: []api.Message{{Role: "user", Content: seen.Question}}, Stream: &asked.Stream}
	for _, function := range asked.Tools {
		tool := api.Tool{Type: "function"}
		if err := json.Unmarshal(function, &tool.Function); err != nil {
			return nil, err
		}
		params.Tools = append(params.Tools, tool)
	}
	return all, client.Chat(context.Background(), params, func(part api.ChatResponse) error {
		all.Think(part.Message.Thinking)
		all.Say(part.Message.Content)
		all.Reason = part.DoneReason
		for _, call := range part.Message.ToolCalls {
			all.Call(call.Function.Name, call.Function.Arguments.String())
		}
		return nil
	})
}

func main() {
	seen.Serve(func(asked seen.Request) (streamed, final *seen.Seen, err error) {
		all, err := ask(asked)
		if asked.Stream {
			return all, nil, err
		}
		return nil, all, err
	})
}
