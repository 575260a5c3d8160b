// Package seen has the code for the clients in Go: requests and results in the form of seen.py.
package seen

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
)

// Question is the text of each request.
const Question = "What is twice 21?"

// Request is a request, whose tools are functions with a name and parameters.
type Request struct {
	URL, Format string
	Stream      bool
	Tools       []json.RawMessage
}

// Call is a tool call, with its arguments as JSON.
type Call struct{ Name, Arguments string }

// MarshalJSON writes the name and the arguments.
func (c Call) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{c.Name, json.RawMessage(c.Arguments)})
}

// Seen is a client's result: text and calls in the order of arrival.
type Seen struct {
	Order    []string `json:"order"`
	Thinking string   `json:"thinking"`
	Content  string   `json:"content"`
	Calls    []Call   `json:"calls"`
	Reason   string   `json:"reason"`
}

func (s *Seen) note(kind string) {
	if len(s.Order) == 0 || s.Order[len(s.Order)-1] != kind || kind == "call" {
		s.Order = append(s.Order, kind)
	}
}

// Think adds thinking.
func (s *Seen) Think(text string) {
	if text != "" {
		s.note("thinking")
		s.Thinking += text
	}
}

// Say adds content.
func (s *Seen) Say(text string) {
	if text != "" {
		s.note("content")
		s.Content += text
	}
}

// Call adds a call.
func (s *Seen) Call(name, arguments string) {
	s.note("call")
	s.Calls = append(s.Calls, Call{name, arguments})
}

// More adds to the arguments of the last call.
func (s *Seen) More(arguments string) { s.Calls[len(s.Calls)-1].Arguments += arguments }

// Serve reads requests from standard input, one in each line, and writes a line for each: the streamed and the final result of ask,
// or its error.
func Serve(ask func(Request) (streamed, final *Seen, err error)) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var asked Request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		streamed, final, err := ask(asked)
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
