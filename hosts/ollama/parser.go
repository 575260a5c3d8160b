// Package asideollama has a parser for Ollama's server that reads any dialect of aside: thinking, content and tool calls.
package asideollama

import (
	"encoding/json"
	"fmt"
	"strings"

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

// Parser reads one answer. Init begins it, and the calls of Add that follow are its parts.
type Parser struct {
	dialect string
	start   aside.Start
	scanner *aside.Scanner
	writer  *aside.CallWriter
	calls   []api.ToolCall
	open    map[uint64]*call // those that the model is writing, by their number in the stream
	err     error            // of Init, which cannot return one
}

type call struct {
	id, name  string
	arguments strings.Builder
}

// New returns a parser for a built-in dialect. start is where an answer begins that may think: Ollama does not give a parser the
// prompt. An unknown dialect, and a start that it does not have, are errors of the first Add.
func New(dialect string, start aside.Start) *Parser { return &Parser{dialect: dialect, start: start} }

// Init begins an answer. Calls of other tools than these are reported too, as by Ollama's own parsers.
func (p *Parser) Init(tools []api.Tool, lastMessage *api.Message, think *api.ThinkValue) []api.Tool {
	p.Close()
	*p = Parser{dialect: p.dialect, start: p.start, open: map[uint64]*call{}}
	p.err = p.begin(tools, lastMessage, think)
	return tools
}

func (p *Parser) begin(tools []api.Tool, lastMessage *api.Message, think *api.ThinkValue) error {
	dialect, err := aside.Find(p.dialect)
	if err != nil {
		return err
	}
	calls := aside.CallWriterOptions{UnknownTool: aside.UnknownToolTell}
	if len(tools) > 0 {
		if calls.Tools, err = json.Marshal(tools); err != nil {
			return err
		}
	}
	if p.writer, err = aside.NewCallWriter(dialect, &calls); err != nil {
		return err
	}
	options := aside.ScannerOptions{Calls: true, Start: p.begins(lastMessage, think)}
	p.scanner, err = aside.NewScanner(dialect, &options)
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

// Add reads the next part of the answer. A call is returned when it is whole.
func (p *Parser) Add(s string, done bool) (content, thinking string, calls []api.ToolCall, err error) {
	var texts [2]strings.Builder // content, thinking
	take := func(event aside.Event) bool {
		if event.Kind == aside.KindText && event.Channel != aside.ChannelTool {
			at := 0
			if event.Channel == aside.ChannelThinking {
				at = 1
			}
			texts[at].Write(event.Text)
		}
		p.err = p.call(event)
		return p.err == nil
	}
	if p.err == nil && p.scanner == nil {
		p.err = fmt.Errorf("aside: Add before Init")
	}
	if p.err == nil {
		_, err = p.scanner.Feed([]byte(s), take)
	}
	if p.err == nil && err == nil && done {
		err = p.scanner.Finish(take)
	}
	if p.err == nil {
		p.err = err
	}
	calls, p.calls = p.calls, nil
	return texts[0].String(), texts[1].String(), calls, p.err
}

func (p *Parser) call(event aside.Event) error {
	delta, err := p.writer.Feed(event)
	if delta == nil || err != nil {
		return err
	}
	if delta.First {
		p.open[delta.Call] = &call{id: delta.ID, name: delta.Name}
	}
	open := p.open[delta.Call]
	open.arguments.WriteString(delta.Arguments)
	if !delta.Last {
		return nil
	}
	delete(p.open, delta.Call)
	made := api.ToolCall{ID: open.id, Function: api.ToolCallFunction{Index: int(delta.Index), Name: open.name}}
	if err := json.Unmarshal([]byte(open.arguments.String()), &made.Function.Arguments); err != nil {
		return fmt.Errorf("aside: the arguments of a call of %s: %w", open.name, err)
	}
	p.calls = append(p.calls, made)
	return nil
}

// HasToolSupport reports whether the dialect has tables of calls.
func (p *Parser) HasToolSupport() bool {
	dialect, err := aside.Find(p.dialect)
	if err != nil {
		return false
	}
	triggers, err := dialect.ToolTriggers()
	return err == nil && len(triggers) > 0
}

// HasThinkingSupport reports true: every dialect has a channel of thinking.
func (p *Parser) HasThinkingSupport() bool { return true }

// Close frees the scanner and the writer. The garbage collector frees those of a parser that Ollama has forgotten.
func (p *Parser) Close() {
	if p.scanner != nil {
		p.scanner.Close()
	}
	if p.writer != nil {
		p.writer.Close()
	}
}
