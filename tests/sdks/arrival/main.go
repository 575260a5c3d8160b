// Sends a chat request to the server at argv[1] with openai-go, whole and streamed, and prints each piece as a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
)

func main() {
	client := openai.NewClient(option.WithBaseURL(os.Args[1]), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{
		Model:    "m",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is twice 21?")},
	}
	whole, err := client.Chat.Completions.New(context.Background(), params)
	if err != nil {
		log.Fatal(err)
	}
	message := whole.Choices[0].Message
	show("whole", message.JSON.ExtraFields, message.Content)

	stream := client.Chat.Completions.NewStreaming(context.Background(), params)
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			show("streamed", choice.Delta.JSON.ExtraFields, choice.Delta.Content)
			for _, call := range choice.Delta.ToolCalls {
				say([3]string{"streamed", "call", call.Function.Name})
			}
		}
	}
	if err := stream.Err(); err != nil {
		log.Fatal(err)
	}
}

func show(mode string, extra map[string]respjson.Field, content string) {
	reasoning := ""
	if field, there := extra["reasoning_content"]; there {
		if err := json.Unmarshal([]byte(field.Raw()), &reasoning); err != nil {
			log.Fatal(err)
		}
	}
	for _, piece := range [][3]string{{mode, "reasoning_content", reasoning}, {mode, "content", content}} {
		if piece[2] != "" {
			say(piece)
		}
	}
}

func say(piece [3]string) {
	line, _ := json.Marshal(piece)
	fmt.Println(string(line))
}
