package sdks

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestArrival checks that the first piece arrives while the server still waits to send the rest.
func TestArrival(t *testing.T) {
	next := make(chan struct{}) // closed when the client has the first piece
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Stream bool }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/chat/completions" {
			t.Error(err, r.URL)
		}
		if !asked.Stream {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,`+
				`"message":{"role":"assistant","content":"<think>\nTwice 21.\n</think>\n\nIt is 42."},"finish_reason":"stop"}]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(delta string) {
			fmt.Fprintf(w, `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m",`+
				`"choices":[{"index":0,"delta":%s,"finish_reason":null}]}`+"\n\n", delta)
			w.(http.Flusher).Flush()
		}
		send(`{"role":"assistant","content":""}`)
		send(`{"content":"<thi"}`)
		send(`{"content":"nk>\nTwice "}`)
		select {
		case <-next:
		case <-time.After(20 * time.Second):
			t.Error("the first piece does not arrive before the second is sent")
		}
		send(`{"content":"21.\n</think>\n\nIt "}`)
		send(`{"content":"is 42. If a <"}`)
		send(`{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`)
		io.WriteString(w, `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m",`+
			`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer upstream.Close()
	gateway := startGateway(t, upstream.URL)

	native := build(t, "arrival")
	for name, c := range map[string]struct {
		needs   string
		command []string
	}{
		"python": {python, []string{python, "arrival/client.py"}},
		"node":   {filepath.Join(modules, "openai"), []string{"node", "arrival/client.cjs"}},
		"go":     {native, []string{native}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(c.needs); err != nil {
				t.Skip("the package openai is not there: ", err)
			}
			command := c.command
			client := exec.Command(command[0], append(command[1:], gateway+"/v1")...)
			client.Env = append(os.Environ(), "NODE_PATH="+modules)
			client.Stderr = os.Stderr
			stdout, err := client.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			pieces := 0
			for lines := bufio.NewScanner(stdout); lines.Scan(); {
				var piece [3]string
				if err := json.Unmarshal(lines.Bytes(), &piece); err != nil {
					t.Fatal(err, lines.Text())
				}
				// Bytes that were held as a possible marker must arrive before the call.
				if text := got["streamed content"]; piece[1] == "call" && text != "It is 42. If a <" {
					t.Errorf("the call comes after %q", text)
				}
				got[piece[0]+" "+piece[1]] += piece[2]
				if piece[0] == "streamed" {
					if pieces++; pieces == 1 {
						next <- struct{}{}
					}
				}
			}
			if err := client.Wait(); err != nil {
				t.Fatal(err)
			}
			for mode, content := range map[string]string{"whole ": "It is 42.", "streamed ": "It is 42. If a <"} {
				if got[mode+"reasoning_content"] != "Twice 21." || got[mode+"content"] != content {
					t.Errorf("%s: %q", mode, got)
				}
			}
			if got["streamed call"] != "f" {
				t.Errorf("%q", got)
			}
			if pieces < 4 {
				t.Errorf("%d pieces", pieces)
			}
		})
	}
}
