// Gateway is a proxy for a server that sends a model's thinking and tool calls as content. Clients get the thinking and the calls
// of the request's tools in the fields of the answer's format, chunk by chunk while they arrive: OpenAI's chat completions,
// completions and Responses, Anthropic's Messages, and Ollama's own.
//
//	go run . -listen localhost:8080 -upstream http://localhost:8000 -dialect qwen3-thinking
//
// A request may turn the thinking on or off, with chat_template_kwargs or similar fields. The start of the answer depends on the
// prompt that the model's chat template writes. If the prompt ends with <think>, the answer starts inside the thinking. If the
// prompt has closed the thinking or has not opened it, the answer starts in the content. For DeepSeek-V3.1, use -dialect
// deepseek-v3 -on thinking.
//
// With -server, the thinking of earlier turns in a request is moved to the field that the server reads:
//
//	go run . -dialect minimax-m2 -server vllm
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	aside "aside.example/bindings/go"
	"aside.example/bindings/go/asidehttp"
)

func main() {
	listen := flag.String("listen", "localhost:8080", "the address to listen on")
	upstream := flag.String("upstream", "http://localhost:8000", "the server's URL, without /v1")
	name := flag.String("dialect", "qwen3", "the dialect of the server's model")
	var split asidehttp.Options
	start("on", "dialect", "where an answer `starts` whose request turns the thinking on", &split.On)
	start("off", "content", "where an answer `starts` whose request turns the thinking off", &split.Off)
	options := &split.Rewriter
	options.Calls, options.Formats = true, aside.FormatAll
	flag.Func("formats", "the `formats` of answers that are split, with commas between them: chat, completions, responses, "+
		"messages, ollama or all (default all)", func(value string) (err error) {
		options.Formats, err = formats(value)
		return err
	})
	flag.Func("responses-as", "what the thinking becomes in Responses: `reasoning_text` or summary (default reasoning_text)",
		func(value string) error {
			known := map[string]aside.ResponsesAs{
				"reasoning_text": aside.ResponsesAsReasoningText, "summary": aside.ResponsesAsSummary,
			}
			as, ok := known[value]
			if !ok {
				return errors.New("must be reasoning_text or summary")
			}
			options.ResponsesAs = as
			return nil
		})
	flag.BoolVar(&options.Repair, "repair", false, "mend what makes clients fail in a stream of events")
	flag.BoolVar(&options.PromoteEmpty, "promote-empty", false,
		"send the thinking once more as content if an answer has neither content nor a call")
	flag.BoolVar(&options.Merge, "merge", false, "write one chunk for each that came, for clients that count them")
	flag.Func("server", "the `server`, whose requests get the thinking of earlier turns where it reads it: "+
		strings.Join(aside.HistoryServers(), ", ")+" (default none: requests stay unchanged)", func(value string) (err error) {
		split.History, err = asidehttp.FindHistory(value)
		return err
	})
	flag.Parse()

	target, err := url.Parse(*upstream)
	if err != nil {
		log.Fatal(err)
	}
	if target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		log.Fatalf("-upstream must be an http:// or https:// URL: %q", *upstream)
	}
	if split.Dialect, err = aside.Find(*name); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening on %s", listener.Addr())
	log.Fatal(newServer(asidehttp.NewHandler(target, nil, split)).Serve(listener))
}

// newServer returns a server that does not wait forever for a client that sends no request or half a header. Bodies and answers
// have no limit, because a model may take minutes, and the gateway does not keep the data that it passes on. The upstream server
// limits both.
func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}

// formats returns the formats of a list of names.
func formats(names string) (aside.Formats, error) {
	known := map[string]aside.Formats{
		"chat": aside.FormatChat, "completions": aside.FormatCompletions, "responses": aside.FormatResponses,
		"messages": aside.FormatMessages, "ollama": aside.FormatOllama, "all": aside.FormatAll,
	}
	var all aside.Formats
	for _, name := range strings.Split(names, ",") {
		format, ok := known[name]
		if !ok {
			return 0, fmt.Errorf("%q is not a format", name)
		}
		all |= format
	}
	return all, nil
}

// start declares a flag for the start of an answer.
func start(name, value, usage string, to *aside.Start) {
	known := map[string]aside.Start{
		"dialect": aside.StartDefault, "content": aside.StartContent, "thinking": aside.StartThinking,
	}
	*to = known[value]
	flag.Func(name, usage+": dialect (the dialect decides), content or thinking (default "+value+")", func(value string) error {
		start, ok := known[value]
		if !ok {
			return errors.New("must be dialect, content or thinking")
		}
		*to = start
		return nil
	})
}
