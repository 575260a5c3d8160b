// Gateway stands in front of an OpenAI-compatible server that sends a model's thinking as content, and splits it: clients
// get the thinking as reasoning_content, chunk by chunk as it comes.
//
//	go run . -listen localhost:8080 -upstream http://localhost:8000 -dialect qwen3
package main

import (
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
	flag.Parse()

	target, err := url.Parse(*upstream)
	if err != nil {
		log.Fatal(err)
	}
	if target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		log.Fatalf("-upstream is no http:// or https:// URL: %q", *upstream)
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
	log.Fatal(http.Serve(listener, newGateway(target, dialect)))
}
