package asidehttp

import (
	"encoding/json"
	"io"
	"sync"

	aside "aside.example/bindings/go"
)

// mostRead is the largest number of bytes of a request that are examined.
const mostRead = 8 << 20

// request is the body of a request whose answer may be split, copied while it passes, because it says whether the model is to think and which
// tools it may call. The lock is needed because the answer may begin before the request ends, on another goroutine.
type request struct {
	body io.ReadCloser
	lock sync.Mutex
	seen []byte
}

func (r *request) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	r.lock.Lock()
	defer r.lock.Unlock()
	if room := mostRead - len(r.seen); room > 0 {
		r.seen = append(r.seen, p[:min(n, room)]...)
	}
	return n, err
}

func (r *request) Close() error { return r.body.Close() }

// asked is what a request says of its answer: whether the model thinks, and the tools.
type asked struct {
	thinks *bool // nil: it does not say
	tools  []byte
}

// read parses the bytes that were copied. Variables of the chat template come before the fields that servers map to these
// variables.
func (r *request) read() asked {
	var fields struct {
		Tools    json.RawMessage `json:"tools"`
		Template struct {
			EnableThinking *bool `json:"enable_thinking"` // Qwen3, GLM, Nemotron and others
			Thinking       *bool `json:"thinking"`        // DeepSeek, Kimi, Granite
		} `json:"chat_template_kwargs"`
		EnableThinking *bool `json:"enable_thinking"`
		Thinking       struct {
			Type string `json:"type"` // enabled, disabled; of Messages too
		} `json:"thinking"`
		ReasoningEffort string `json:"reasoning_effort"`
		Reasoning       struct {
			Effort string `json:"effort"` // of Responses
		} `json:"reasoning"`
		Think any `json:"think"` // of Ollama: a bool or an effort
	}
	r.lock.Lock()
	// A field of another type is ignored, and an incomplete request decides nothing.
	_ = json.Unmarshal(r.seen, &fields)
	r.seen = nil
	r.lock.Unlock()
	asked := asked{tools: fields.Tools}
	if len(fields.Tools) == 0 || string(fields.Tools) == "null" {
		asked.tools = noTools
	}
	for _, thinks := range []*bool{fields.Template.EnableThinking, fields.Template.Thinking, fields.EnableThinking} {
		if thinks != nil {
			asked.thinks = thinks
			return asked
		}
	}
	effort := fields.ReasoningEffort
	if effort == "" {
		effort = fields.Reasoning.Effort
	}
	switch think := fields.Think.(type) {
	case bool:
		asked.thinks = &think
		return asked
	case string:
		effort = think
	}
	switch {
	case fields.Thinking.Type == "disabled", fields.Thinking.Type == "" && effort == "none":
		asked.thinks = new(bool)
	case fields.Thinking.Type != "", effort != "":
		thinks := true
		asked.thinks = &thinks
	}
	return asked
}

// noTools is the list of tools of a request without tools: its answer gets no calls, whatever the model writes.
var noTools = []byte("[]")

// start returns the start of the answer.
func (a asked) start(o *Options) aside.Start {
	switch {
	case a.thinks == nil:
		return aside.StartDefault
	case *a.thinks:
		return o.On
	}
	return o.Off
}
