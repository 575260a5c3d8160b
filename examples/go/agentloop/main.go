// Agentloop runs an agent against an OpenAI-compatible server: the model may run shell commands, and their output is shortened
// before the model reads it. It runs every command of the model, so try it in an environment where no damage is possible.
//
//	go run . -server http://localhost:8000 -model qwen3 -budget 8192 'Do the tests pass?'
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"

	aside "aside.example/bindings/go"
)

func main() {
	server := flag.String("server", "http://localhost:8000", "the server's URL, without /v1")
	model := flag.String("model", "qwen3", "the model's name")
	budget := flag.Int("budget", 8192, "the most bytes of a command's output that the model reads; 0: no limit")
	flag.Parse()

	compressor, err := aside.NewCompressor(&aside.CompressorOptions{
		Budget:    *budget,
		LastRun:   1 << 20,
		SwitchOff: "Set compress to false for the whole output.",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer compressor.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	agent := &agent{server: *server, model: *model, compressor: compressor, log: os.Stderr}
	answer, err := agent.run(ctx, strings.Join(flag.Args(), " "))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}
