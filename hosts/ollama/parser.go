// Package asideollama has a parser for Ollama's server that reads any dialect of aside: thinking, content and tool calls.
package asideollama

import (
	"encoding/json"
	"errors"

	aside "aside.example/bindings/go"
	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"
)

// Register registers parsers for each built-in dialect, under names for PARSER in a Modelfile: aside-qwen3 and so on, and
// aside-qwen3-opened for a model whose template opens the thinking in the prompt.
func Register() {
	for _, name := range aside.DialectNames() {
		parsers.Register("aside-"+name, func() parsers.Parser { return New(name, aside.StartDefault) })
		parsers.Register("aside-"+name+"-opened", func() parsers.Parser { return New(name, aside.StartThinking) })
	}
}

// Parser reads one answer. Init begins the answer, and each following call of Add reads its next part.
type Parser struct {
	dialect string
	start   aside.Start
	answer  *aside.Answer
	err     error // the error of Init, which cannot return it
}

// New returns a parser for a built-in dialect. start is the start of an answer that may have thinking, because Ollama does not give
// a parser the prompt. If the dialect is unknown or lacks that start, the first Add returns an error.
func New(dialect string, start aside.Start) *Parser { return &Parser{dialect: dialect, start: start} }

// Init begins an answer. Calls of tools that the request does not list are reported too, as by Ollama's own parsers.
func (p *Parser) Init(tools []api.Tool, lastMessage *api.Message, think *api.ThinkValue) []api.Tool {
	p.Close()
	*p = Parser{dialect: p.dialect, start: p.start}
	p.err = p.begin(tools, lastMessage, think)
	return tools
}

func (p *Parser) begin(tools []api.Tool, lastMessage *api.Message, think *api.ThinkValue) error {
	dialect, err := aside.Find(p.dialect)
	if err != nil {
		return err
	}
	options := aside.AnswerOptions{
		Start: p.begins(lastMessage, think), UnknownTool: aside.UnknownToolTell, NotWhole: aside.NotWholeHold,
	}
	if len(tools) > 0 {
		if options.Tools, err = json.Marshal(tools); err != nil {
			return err
		}
	}
	p.answer, err = aside.NewAnswer(dialect, &options)
	return err
}

// begins returns where this answer begins.
func (p *Parser) begins(lastMessage *api.Message, think *api.ThinkValue) aside.Start {
	isContinued := lastMessage != nil && lastMessage.Role == "assistant"
	switch {
	case isContinued && lastMessage.Content != "", think != nil && !think.Bool():
		return aside.StartContent
	case isContinued && lastMessage.Thinking != "":
		return aside.StartThinking
	default:
		return p.start
	}
}

// Add reads the next part of the answer. A call is returned when it is whole; a call that is not whole is content.
func (p *Parser) Add(s string, done bool) (content, thinking string, calls []api.ToolCall, err error) {
	if p.err == nil && p.answer == nil {
		p.err = errors.New("aside: Add before Init")
	}
	if p.err != nil {
		return "", "", nil, p.err
	}
	parts, err := p.answer.Feed([]byte(s))
	if err == nil && done {
		var rest []aside.Part
		rest, err = p.answer.Finish(aside.EndReasonUnknown)
		parts = append(parts, rest...)
	}
	var arguments string
	for _, part := range parts {
		switch part.Kind {
		case aside.PartKindContent:
			content += part.Text
		case aside.PartKindThinking:
			thinking += part.Text
		case aside.PartKindCall:
			arguments = ""
			calls = append(calls, api.ToolCall{ID: part.ID, Function: api.ToolCallFunction{Index: int(part.Index), Name: part.Name}})
		case aside.PartKindArguments:
			arguments += part.Text
		case aside.PartKindCallEnd:
			err = errors.Join(err, json.Unmarshal([]byte(arguments), &calls[len(calls)-1].Function.Arguments))
		}
	}
	p.err = err
	return content, thinking, calls, err
}

// HasToolSupport reports whether the dialect describes how calls are written.
func (p *Parser) HasToolSupport() bool {
	dialect, err := aside.Find(p.dialect)
	if err != nil {
		return false
	}
	_, err = aside.Join(dialect, "", "", &aside.JoinOptions{Calls: []aside.JoinCall{{Name: "f", Arguments: "{}"}}})
	return err == nil
}

// HasThinkingSupport reports true: every dialect has a channel of thinking.
func (p *Parser) HasThinkingSupport() bool { return true }

// Close frees the answer. The garbage collector frees it if Ollama drops a parser without closing it.
func (p *Parser) Close() { p.answer.Close() }
