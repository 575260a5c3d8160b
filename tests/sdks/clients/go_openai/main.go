// Streamed chats with go-openai. Requests and answers have the form of seen.py.
package main

import (
	"context"
	"errors"
	"io"

	"github.com/sashabaranov/go-openai"

	"aside.example/tests/sdks/clients/seen"
)

func main() {
	seen.Serve(func(asked seen.Request) (streamed, final *seen.Seen, err error) {
		streamed, err = chat(asked.URL + "/v1")
		return streamed, nil, err
	})
}

func chat(url string) (*seen.Seen, error) {
	config := openai.DefaultConfig("none")
	config.BaseURL = url
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{
		Model:    "m",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: seen.Question}},
	})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	all := &seen.Seen{}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		for _, choice := range chunk.Choices {
			all.Think(choice.Delta.ReasoningContent)
			all.Say(choice.Delta.Content)
			if choice.FinishReason != "" {
				all.Reason = string(choice.FinishReason)
			}
		}
	}
}
