// The same agent as agent.py, with openai-go.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	client := openai.NewClient(option.WithBaseURL(os.Args[1]), option.WithAPIKey("none"), option.WithMaxRetries(0))
	keys := map[string]any{"city": map[string]string{"type": "string"}, "days": map[string]string{"type": "integer"}}
	params := openai.ChatCompletionNewParams{
		Model:    "m",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("How is Paris, and when?")},
		Tools: []openai.ChatCompletionToolUnionParam{
			tool("weather", keys),
			tool("clock", map[string]any{}),
		},
	}
	for {
		message := ask(client, params)
		if len(message.ToolCalls) == 0 {
			fmt.Println(message.Content)
			return
		}
		params.Messages = append(params.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			said := run(call.Function.Name, call.Function.Arguments)
			params.Messages = append(params.Messages, openai.ToolMessage(said, call.ID))
		}
	}
}

func tool(name string, keys map[string]any) openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name:       name,
		Parameters: openai.FunctionParameters{"type": "object", "properties": keys},
	})
}

// ask returns the next message, which is requested whole or as a stream.
func ask(client openai.Client, params openai.ChatCompletionNewParams) openai.ChatCompletionMessage {
	if os.Args[2] == "whole" {
		whole, err := client.Chat.Completions.New(context.Background(), params)
		if err != nil {
			log.Fatal(err)
		}
		return whole.Choices[0].Message
	}
	stream := client.Chat.Completions.NewStreaming(context.Background(), params)
	joined := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		if !joined.AddChunk(stream.Current()) {
			log.Fatal("a chunk that does not fit: ", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		log.Fatal(err)
	}
	return joined.Choices[0].Message
}

func run(name, arguments string) string {
	var asked struct {
		City string
		Days int
	}
	if err := json.Unmarshal([]byte(arguments), &asked); err != nil {
		log.Fatal(err, arguments)
	}
	if name == "clock" {
		return "noon"
	}
	return fmt.Sprintf("%d days of rain in %s", asked.Days, asked.City)
}
