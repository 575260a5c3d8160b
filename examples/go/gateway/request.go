package main

import (
	"encoding/json"
	"io"
	"sync"

	aside "aside.example/bindings/go"
)

// mostRead is the largest number of bytes of a request that are examined.
const mostRead = 8 << 20

// request is the body of a chat's request, copied while it passes, because it says whether the model is to think. The lock is
// needed because the answer may begin before the request ends, on another goroutine.
type request struct {
	body io.ReadCloser
	lock sync.Mutex
	seen []byte
}

type requestKey struct{}

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

// start returns where the answer starts. Variables of the chat template come first, then the fields that servers map to them.
func (r *request) start(starts starts) aside.Start {
	var asked struct {
		Template struct {
			EnableThinking *bool `json:"enable_thinking"` // Qwen3, GLM, Nemotron and others
			Thinking       *bool `json:"thinking"`        // DeepSeek, Kimi, Granite
		} `json:"chat_template_kwargs"`
		EnableThinking *bool `json:"enable_thinking"`
		Thinking       struct {
			Type string `json:"type"` // enabled, disabled
		} `json:"thinking"`
		ReasoningEffort string `json:"reasoning_effort"`
	}
	r.lock.Lock()
	// A field of another type is ignored, and an incomplete request decides nothing.
	_ = json.Unmarshal(r.seen, &asked)
	r.seen = nil
	r.lock.Unlock()
	for _, thinks := range []*bool{asked.Template.EnableThinking, asked.Template.Thinking, asked.EnableThinking} {
		switch {
		case thinks == nil:
		case *thinks:
			return starts.on
		default:
			return starts.off
		}
	}
	switch {
	case asked.Thinking.Type == "disabled", asked.Thinking.Type == "" && asked.ReasoningEffort == "none":
		return starts.off
	case asked.Thinking.Type != "", asked.ReasoningEffort != "":
		return starts.on
	}
	return aside.StartDefault
}
