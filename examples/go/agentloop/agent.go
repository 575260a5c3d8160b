package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"time"

	aside "aside.example/bindings/go"
)

// agent sends a question to a model, and runs the tools that it calls, until an answer has no call.
type agent struct {
	server, model string
	compressor    *aside.Compressor
	log           io.Writer // gets a line for each command
}

type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// shell is the only tool. With its argument compress, the model can ask for a whole output.
const shell = `[{"type": "function", "function": {"name": "shell", "description": "Runs a shell command.",
	"parameters": {"type": "object", "required": ["command"], "properties": {
		"command": {"type": "string"},
		"compress": {"type": "boolean", "description": "false: the output comes whole"}}}}}]`

// maxTurns is the largest number of turns for one question.
const maxTurns = 20

func (a *agent) run(ctx context.Context, question string) (string, error) {
	messages := []message{{Role: "user", Content: question}}
	for range maxTurns {
		answer, err := a.ask(ctx, messages)
		if err != nil {
			return "", err
		}
		messages = append(messages, answer)
		if len(answer.ToolCalls) == 0 {
			return answer.Content, nil
		}
		for _, call := range answer.ToolCalls {
			result, err := a.call(ctx, call)
			if err != nil {
				return "", err
			}
			messages = append(messages, message{Role: "tool", Content: result, ToolCallID: call.ID})
		}
	}
	return "", fmt.Errorf("no answer in %d turns", maxTurns)
}

func (a *agent) ask(ctx context.Context, messages []message) (message, error) {
	body, err := json.Marshal(map[string]any{"model": a.model, "messages": messages, "tools": json.RawMessage(shell)})
	if err != nil {
		return message{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.server+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return message{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return message{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return message{}, fmt.Errorf("the server says %s", response.Status)
	}
	var answer struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return message{}, err
	}
	if len(answer.Choices) == 0 {
		return message{}, errors.New("the server's answer has no choice")
	}
	return answer.Choices[0].Message, nil
}

// call runs a command and returns the text for the model. If the model makes a mistake, the message about it is the result, and
// there is no error.
func (a *agent) call(ctx context.Context, call toolCall) (string, error) {
	arguments := struct {
		Command  string `json:"command"`
		Compress *bool  `json:"compress"`
	}{}
	if err := json.Unmarshal([]byte(call.Function.Arguments), &arguments); err != nil || call.Function.Name != "shell" {
		return fmt.Sprintf("There is no such call: %s %s", call.Function.Name, call.Function.Arguments), nil
	}
	command := exec.CommandContext(ctx, "sh", "-c", arguments.Command)
	// A background job of the command may keep its output open forever.
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if command.ProcessState == nil {
		return fmt.Sprintf("The command cannot be run: %v", err), nil
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return "", err
	}
	code := command.ProcessState.ExitCode()
	if arguments.Compress == nil || *arguments.Compress {
		if output, err = a.shorten(arguments.Command, code, output); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s\n[exit code %d]", output, code), nil
}

// shorten returns the command's output, shortened by the compressor.
func (a *agent) shorten(command string, code int, output []byte) ([]byte, error) {
	input, err := json.Marshal(map[string]any{"command": command, "exit_code": code})
	if err != nil {
		return nil, err
	}
	results, report, err := a.compressor.Compress(aside.Invocation{ToolID: "shell", Input: input, Now: time.Now()}, output)
	if err != nil {
		return nil, err
	}
	defer report.Close()
	fmt.Fprintf(a.log, "%s: %d → %d chars\n", command, report.Before, report.After)
	for _, failed := range report.Failed {
		fmt.Fprintf(a.log, "%s: %v\n", failed.ID, failed.Err)
	}
	return results[0], nil
}
