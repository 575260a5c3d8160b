// The client of openai-go: chat completions, completions and responses. Requests and answers are those of seen.py.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/responses"
)

const question = "What is twice 21?"

type request struct {
	URL, Format string
	Stream      bool
	Tools       []struct {
		Name       string
		Parameters map[string]any
	}
}

type call struct{ name, arguments string }

// seen is a client's result, text and calls in the order in which they came.
type seen struct {
	Order    []string `json:"order"`
	Thinking string   `json:"thinking"`
	Content  string   `json:"content"`
	Calls    []call   `json:"calls"`
	Reason   string   `json:"reason"`
}

func (c call) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{c.name, json.RawMessage(c.arguments)})
}

func (s *seen) note(kind string) {
	if len(s.Order) == 0 || s.Order[len(s.Order)-1] != kind || kind == "call" {
		s.Order = append(s.Order, kind)
	}
}

func (s *seen) think(text string) {
	if text != "" {
		s.note("thinking")
		s.Thinking += text
	}
}

func (s *seen) say(text string) {
	if text != "" {
		s.note("content")
		s.Content += text
	}
}

func (s *seen) call(name, arguments string) {
	s.note("call")
	s.Calls = append(s.Calls, call{name, arguments})
}

// more adds to the arguments of the last call.
func (s *seen) more(arguments string) { s.Calls[len(s.Calls)-1].arguments += arguments }

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		client := openai.NewClient(option.WithBaseURL(asked.URL+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
		formats := map[string]func(openai.Client, request) (streamed, final *seen, err error){
			"chat": chat, "completions": completions, "responses": answers,
		}
		streamed, final, err := formats[asked.Format](client, asked)
		answer := map[string]any{"streamed": streamed, "final": final}
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

// reasoning returns the text of the field that the package does not know.
func reasoning(extra map[string]respjson.Field) (text string) {
	if field, there := extra["reasoning_content"]; there {
		if err := json.Unmarshal([]byte(field.Raw()), &text); err != nil {
			log.Fatal(err)
		}
	}
	return text
}

func chat(client openai.Client, asked request) (*seen, *seen, error) {
	params := openai.ChatCompletionNewParams{
		Model:    "m",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
	}
	for _, tool := range asked.Tools {
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
	streamed := &seen{}
	var accumulated openai.ChatCompletionAccumulator
	stream := client.Chat.Completions.NewStreaming(context.Background(), params)
	for stream.Next() {
		chunk := stream.Current()
		if !accumulated.AddChunk(chunk) {
			return nil, nil, fmt.Errorf("the accumulator refuses %s", chunk.RawJSON())
		}
		for _, choice := range chunk.Choices {
			streamed.think(reasoning(choice.Delta.JSON.ExtraFields))
			streamed.say(choice.Delta.Content)
			for _, call := range choice.Delta.ToolCalls {
				if int(call.Index) == len(streamed.Calls) {
					streamed.call(call.Function.Name, "")
				}
				streamed.more(call.Function.Arguments)
			}
			if choice.FinishReason != "" {
				streamed.Reason = choice.FinishReason
			}
		}
	}
	return streamed, message(&accumulated.ChatCompletion), stream.Err()
}

func message(completion *openai.ChatCompletion) *seen {
	final := &seen{}
	if len(completion.Choices) == 0 {
		return final
	}
	choice := completion.Choices[0]
	final.think(reasoning(choice.Message.JSON.ExtraFields))
	final.say(choice.Message.Content)
	for _, call := range choice.Message.ToolCalls {
		final.call(call.Function.Name, call.Function.Arguments)
	}
	final.Reason = choice.FinishReason
	return final
}

func completions(client openai.Client, asked request) (*seen, *seen, error) {
	params := openai.CompletionNewParams{
		Model:  "m",
		Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(question)},
	}
	all := &seen{}
	read := func(part openai.Completion) {
		for _, choice := range part.Choices {
			all.think(reasoning(choice.JSON.ExtraFields))
			all.say(choice.Text)
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

func answers(client openai.Client, asked request) (*seen, *seen, error) {
	params := responses.ResponseNewParams{
		Model: "m",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(question)},
	}
	for _, tool := range asked.Tools {
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
	streamed := &seen{}
	var final *seen
	stream := client.Responses.NewStreaming(context.Background(), params)
	for stream.Next() {
		switch event := stream.Current().AsAny().(type) {
		case responses.ResponseReasoningTextDeltaEvent:
			streamed.think(event.Delta)
		case responses.ResponseReasoningSummaryTextDeltaEvent:
			streamed.think(event.Delta)
		case responses.ResponseTextDeltaEvent:
			streamed.say(event.Delta)
		case responses.ResponseOutputItemAddedEvent:
			if event.Item.Type == "function_call" {
				streamed.call(event.Item.Name, "")
			}
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			streamed.more(event.Delta)
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

func items(response *responses.Response) *seen {
	final := &seen{Reason: string(response.Status)}
	for _, item := range response.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseReasoningItem:
			for _, part := range item.Content {
				final.think(part.Text)
			}
			for _, part := range item.Summary {
				final.think(part.Text)
			}
		case responses.ResponseOutputMessage:
			for _, part := range item.Content {
				final.say(part.Text)
			}
		case responses.ResponseFunctionToolCall:
			final.call(item.Name, item.Arguments)
		}
	}
	return final
}
