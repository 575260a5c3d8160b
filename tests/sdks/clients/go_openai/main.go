// Streamed chats of go-openai. Requests and answers are those of seen.py.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/sashabaranov/go-openai"
)

type seen struct {
	Order    []string `json:"order"`
	Thinking string   `json:"thinking"`
	Content  string   `json:"content"`
	Reason   string   `json:"reason"`
}

func (s *seen) note(kind string) {
	if len(s.Order) == 0 || s.Order[len(s.Order)-1] != kind {
		s.Order = append(s.Order, kind)
	}
}

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var asked struct{ URL string }
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		streamed, err := chat(asked.URL + "/v1")
		answer := map[string]any{"streamed": streamed}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		line, _ := json.Marshal(answer)
		fmt.Println(string(line))
	}
}

func chat(url string) (*seen, error) {
	config := openai.DefaultConfig("none")
	config.BaseURL = url
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{
		Model:    "m",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "What is twice 21?"}},
	})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	all := &seen{}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		for _, choice := range chunk.Choices {
			if choice.Delta.ReasoningContent != "" {
				all.note("thinking")
				all.Thinking += choice.Delta.ReasoningContent
			}
			if choice.Delta.Content != "" {
				all.note("content")
				all.Content += choice.Delta.Content
			}
			if choice.FinishReason != "" {
				all.Reason = string(choice.FinishReason)
			}
		}
	}
}
