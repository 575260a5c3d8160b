package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	aside "aside.example/bindings/go"
)

// model is a server that calls the tool with each of these arguments in turn, and then answers. It records the requests.
func model(t *testing.T, calls ...string) (url string, read *[]string) {
	t.Helper()
	read = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Messages []message }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/chat/completions" {
			t.Error(r.URL, err)
		}
		last := asked.Messages[len(asked.Messages)-1]
		*read = append(*read, last.Content)
		answer := message{Role: "assistant", Content: "Done."}
		if turn := len(*read); turn <= len(calls) {
			call := toolCall{ID: "c", Type: "function"}
			call.Function.Name, call.Function.Arguments = "shell", calls[turn-1]
			answer = message{Role: "assistant", ToolCalls: []toolCall{call}}
		}
		if len(*read) > 1 && (last.Role != "tool" || last.ToolCallID != "c") {
			t.Errorf("%+v", last)
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": answer}}})
	}))
	t.Cleanup(server.Close)
	return server.URL, read
}

func agentOf(t *testing.T, url string) (*agent, *bytes.Buffer) {
	t.Helper()
	compressor, err := aside.NewCompressor(&aside.CompressorOptions{Budget: 2048, LastRun: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { compressor.Close() })
	log := new(bytes.Buffer)
	return &agent{server: url, model: "m", compressor: compressor, log: log}, log
}

// The model gets a long output shortened, then a line that it is the same again, and then the whole output because it asks for it.
func TestToolResultsAreShortened(t *testing.T) {
	const command = `for i in $(seq 2000); do echo \"step $i of the build\"; done; echo 'error: no such file'; exit 3`
	call := `{"command": "` + command + `"}`
	url, read := model(t, call, call, `{"command": "`+command+`", "compress": false}`, `{"command": "echo a"}`, "{")
	agent, log := agentOf(t, url)
	answer, err := agent.run(context.Background(), "Does it build?")
	if err != nil || answer != "Done." || len(*read) != 6 || (*read)[0] != "Does it build?" {
		t.Fatalf("%v %q %q", err, answer, *read)
	}
	short, again, whole := (*read)[1], (*read)[2], (*read)[3]
	if !strings.HasPrefix(short, "[Output compressed by ") || len(short) > 2048+len("\n[exit code 3]") ||
		!strings.HasSuffix(short, "error: no such file\n\n[exit code 3]") {
		t.Error(short)
	}
	if !strings.HasPrefix(again, "Same output as last run (") {
		t.Error(again)
	}
	if strings.Count(whole, "\n") != 2002 {
		t.Error(strings.Count(whole, "\n"))
	}
	if (*read)[4] != "a\n\n[exit code 0]" || (*read)[5] != "There is no such call: shell {" {
		t.Errorf("%q", (*read)[4:])
	}
	if strings.Count(log.String(), " chars\n") != 3 {
		t.Error(log)
	}
}

func TestAgentEnds(t *testing.T) {
	url, read := model(t, strings.Split(strings.Repeat(`{"command": "true"};`, 30), ";")...)
	agent, _ := agentOf(t, url)
	if answer, err := agent.run(context.Background(), "?"); err == nil || len(*read) != maxTurns {
		t.Error(answer, len(*read))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := agent.run(ctx, "?"); err == nil {
		t.Error("a cancelled run answers")
	}
	down := httptest.NewServer(http.NotFoundHandler())
	defer down.Close()
	agent.server = down.URL
	if _, err := agent.run(context.Background(), "?"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Error(err)
	}
}

// A command may leave a job that keeps its output open, or may not start at all.
func TestOddCommands(t *testing.T) {
	long := `{"command": "true ` + strings.Repeat("x", 1<<18) + `"}`
	url, read := model(t, `{"command": "sleep 60 & echo $!"}`, `{"command": "echo \u0000"}`, long)
	agent, _ := agentOf(t, url)
	begun := time.Now()
	answer, err := agent.run(context.Background(), "?")
	if err != nil || answer != "Done." || time.Since(begun) > 30*time.Second {
		t.Fatal(answer, err, time.Since(begun))
	}
	var job int
	if _, err := fmt.Sscanf((*read)[1], "%d\n\n[exit code 0]", &job); err != nil {
		t.Errorf("%q", (*read)[1])
	} else if err := syscall.Kill(job, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	for _, result := range (*read)[2:] {
		if !strings.HasPrefix(result, "The command cannot be run: ") {
			t.Errorf("%q", result)
		}
	}
}

// Cancelling must end a run, even while a command runs.
func TestCancelledCommand(t *testing.T) {
	url, read := model(t, `{"command": "sleep 60"}`)
	agent, _ := agentOf(t, url)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if answer, err := agent.run(ctx, "?"); !errors.Is(err, context.DeadlineExceeded) || len(*read) != 1 {
		t.Error(answer, err)
	}
}
