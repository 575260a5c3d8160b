// The client of openai-go: chat completions, completions and responses. Requests and answers have the form of seen.py.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/responses"

	"aside.example/tests/sdks/clients/seen"
)

// tool is a function of a request.
type tool struct {
	Name       string
	Parameters map[string]any
}

// tools reads the functions of a request.
func tools(asked seen.Request) ([]tool, error) {
	all := make([]tool, len(asked.Tools))
	for at, function := range asked.Tools {
		if err := json.Unmarshal(function, &all[at]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func main() {
	formats := map[string]func(openai.Client, seen.Request, []tool) (streamed, final *seen.Seen, err error){
		"chat": chat, "completions": completions, "responses": answers,
	}
	seen.Serve(func(asked seen.Request) (*seen.Seen, *seen.Seen, error) {
		client := openai.NewClient(option.WithBaseURL(asked.URL+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
		tools, err := tools(asked)
		if err != nil {
			return nil, nil, err
		}
		return formats[asked.Format](client, asked, tools)
	})
}

// reasoning returns the text of reasoning_content, which the package does not know.
func reasoning(extra map[string]respjson.Field) (text string) {
	if field, there := extra["reasoning_content"]; there {
		if err := json.Unmarshal([]byte(field.Raw()), &text); err != nil {
			log.Fatal(err)
		}
	}
	return text
}

func chat(client openai.Client, asked seen.Request, tools []tool) (*seen.Seen, *seen.Seen, error) {
	params := openai.ChatCompletionNewParams{
		Model:    "m",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(seen.Question)},
	}
	for _, tool := range tools {
		function := openai.FunctionDefinitionParam{Name: tool.Name, Parameters: tool.Parameters}
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(function))
	}
	if !asked.Stream {
		whole, err := client.Chat.Completions.New(context.Background(), params)
		if err != nil {
			return nil, nil, err
		}
		return nil, message(whole), nil
	}
	streamed := &seen.Seen{}
	var accumulated openai.ChatCompletionAccumulator
	stream := client.Chat.Completions.NewStreaming(context.Background(), params)
	for stream.Next() {
		chunk := stream.Current()
		if !accumulated.AddChunk(chunk) {
			return nil, nil, fmt.Errorf("the accumulator refuses %s", chunk.RawJSON())
		}
		for _, choice := range chunk.Choices {
			streamed.Think(reasoning(choice.Delta.JSON.ExtraFields))
			streamed.Say(choice.Delta.Content)
			for _, call := range choice.Delta.ToolCalls {
				if int(call.Index) == len(streamed.Calls) {
					streamed.Call(call.Function.Name, "")
				}
				streamed.More(call.Function.Arguments)
			}
			if choice.FinishReason != "" {
				streamed.Reason = choice.FinishReason
			}
		}
	}
	return streamed, message(&accumulated.ChatCompletion), stream.Err()
}

func message(completion *openai.ChatCompletion) *seen.Seen {
	final := &seen.Seen{}
	if len(completion.Choices) == 0 {
		return final
	}
	choice := completion.Choices[0]
	final.Think(reasoning(choice.Message.JSON.ExtraFields))
	final.Say(choice.Message.Content)
	for _, call := range choice.Message.ToolCalls {
		final.Call(call.Function.Name, call.Function.Arguments)
	}
	final.Reason = choice.FinishReason
	return final
}

func completions(client openai.Client, asked seen.Request, _ []tool) (*seen.Seen, *seen.Seen, error) {
	params := openai.CompletionNewParams{
		Model:  "m",
		Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(seen.Question)},
	}
	all := &seen.Seen{}
	read := func(part openai.Completion) {
		for _, choice := range part.Choices {
			all.Think(reasoning(choice.JSON.ExtraFields))
			all.Say(choice.Text)
			if choice.FinishReason != "" {
				all.Reason = string(choice.FinishReason)
			}
		}
	}
	if !asked.Stream {
		whole, err := client.Completions.New(context.Background(), params)
		if err != nil {
			return nil, nil, err
		}
		read(*whole)
		return nil, all, nil
	}
	stream := client.Completions.NewStreaming(context.Background(), params)
	for stream.Next() {
		read(stream.Current())
	}
	return all, nil, stream.Err()
}

func answers(client openai.Client, asked seen.Request, tools []tool) (*seen.Seen, *seen.Seen, error) {
	params := responses.ResponseNewParams{
		Model: "m",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(seen.Question)},
	}
	for _, tool := range tools {
		params.Tools = append(params.Tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: tool.Name, Parameters: tool.Parameters, Strict: param.NewOpt(true),
		}})
	}
	if !asked.Stream {
		whole, err := client.Responses.New(context.Background(), params)
		if err != nil {
			return nil, nil, err
		}
		return nil, items(whole), nil
	}
	streamed := &seen.Seen{}
	var final *seen.Seen
	stream := client.Responses.NewStreaming(context.Background(), params)
	for stream.Next() {
		switch event := stream.Current().AsAny().(type) {
		case responses.ResponseReasoningTextDeltaEvent:
			streamed.Think(event.Delta)
		case responses.ResponseReasoningSummaryTextDeltaEvent:
			streamed.Think(event.Delta)
		case responses.ResponseTextDeltaEvent:
			streamed.Say(event.Delta)
		case responses.ResponseOutputItemAddedEvent:
			if event.Item.Type == "function_call" {
				streamed.Call(event.Item.Name, "")
			}
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			streamed.More(event.Delta)
		case responses.ResponseCompletedEvent:
			final = items(&event.Response)
		case responses.ResponseIncompleteEvent:
			final = items(&event.Response)
		}
	}
	if final != nil {
		streamed.Reason = final.Reason
	}
	return streamed, final, stream.Err()
}

func items(response *responses.Response) *seen.Seen {
	final := &seen.Seen{Reason: string(response.Status)}
	for _, item := range response.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseReasoningItem:
			for _, part := range item.Content {
				final.Think(part.Text)
			}
			for _, part := range item.Summary {
				final.Think(part.Text)
			}
		case responses.ResponseOutputMessage:
			for _, part := range item.Content {
				final.Say(part.Text)
			}
		case responses.ResponseFunctionToolCall:
			final.Call(item.Name, item.Arguments)
		}
	}
	return final
}
