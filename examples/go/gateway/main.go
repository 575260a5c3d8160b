// Gateway is a proxy for an OpenAI-compatible server that sends a model's thinking and tool calls as content. Clients get the
// thinking as reasoning_content and the calls of the request's tools as tool_calls, chunk by chunk while they arrive.
//
//	go run . -listen localhost:8080 -upstream http://localhost:8000 -dialect qwen3-thinking
//
// A request may turn the thinking on or off, by chat_template_kwargs and the like (request.go). Where the answer starts depends
// on the prompt that the model's chat template writes. After a prompt that ends in <think>, it starts in the thinking; after
// one that has closed the thinking, or has not opened it, in the content. For DeepSeek-V3.1, use -dialect deepseek-v3 -on
// thinking.
package main

import (
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"net/url"

	aside "aside.example/bindings/go"
)

func main() {
	listen := flag.String("listen", "localhost:8080", "the address to listen on")
	upstream := flag.String("upstream", "http://localhost:8000", "the server's URL, without /v1")
	name := flag.String("dialect", "qwen3", "the dialect of the server's model")
	var starts starts
	start("on", "dialect", "where an answer `starts` whose request turns the thinking on", &starts.on)
	start("off", "content", "where an answer `starts` whose request turns the thinking off", &starts.off)
	flag.Parse()

	target, err := url.Parse(*upstream)
	if err != nil {
		log.Fatal(err)
	}
	if target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		log.Fatalf("-upstream must be an http:// or https:// URL: %q", *upstream)
	}
	dialect, err := aside.Find(*name)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening on %s", listener.Addr())
	log.Fatal(http.Serve(listener, newGateway(target, dialect, starts)))
}

// start declares a flag for where an answer starts.
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
