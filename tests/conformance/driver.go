// The driver of Go, and of Go without cgo with the other package: README.md says what it reads and writes.
package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	aside "aside.example/bindings/go"
)

var starts = map[string]aside.Start{
	"-": aside.StartDefault, "content": aside.StartContent, "thinking": aside.StartThinking,
	"narration": aside.StartNarration, "tool": aside.StartTool, "header": aside.StartHeader,
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		said, err := answer(strings.Split(strings.TrimSuffix(line, "\n"), " "))
		if err != nil {
			said = "! " + err.Error()
		}
		fmt.Println(said)
	}
}

func answer(fields []string) (string, error) {
	dialect, err := aside.Find(fields[1])
	if err != nil {
		return "", err
	}
	switch start := starts[fields[2]]; fields[0] {
	case "scan":
		return scan(dialect, start, fields[3:])
	case "calls":
		return calls(dialect, start, fields[3], fields[4:])
	case "gone":
		return gone(dialect)
	default:
		return rewrite(dialect, start, fields[3:])
	}
}

// each scans chunks and calls yield for each event.
func each(dialect *aside.Dialect, options aside.ScannerOptions, chunks []string, yield func(aside.Event) bool) error {
	scanner, err := aside.NewScanner(dialect, &options)
	if err != nil {
		return err
	}
	defer scanner.Close()
	for _, chunk := range chunks {
		if _, err := scanner.Feed(bytesOf(chunk), yield); err != nil {
			return err
		}
	}
	return scanner.Finish(yield)
}

func scan(dialect *aside.Dialect, start aside.Start, chunks []string) (string, error) {
	var texts [4][]byte
	err := each(dialect, aside.ScannerOptions{Start: start}, chunks, func(event aside.Event) bool {
		to := &texts[event.Channel]
		switch event.Kind {
		case aside.KindText:
			*to = append(*to, event.Text...)
		case aside.KindReclassify:
			from := &texts[aside.ChannelThinking]
			if event.Channel == aside.ChannelThinking {
				from = &texts[aside.ChannelContent]
			}
			*to, *from = append(*to, *from...), nil
		}
		return true
	})
	var said []string
	for _, text := range texts {
		said = append(said, hexOf(text))
	}
	return strings.Join(said, " "), err
}

func calls(dialect *aside.Dialect, start aside.Start, tools string, chunks []string) (string, error) {
	var options aside.CallWriterOptions
	if tools != "-" {
		options.Tools = bytesOf(tools)
	}
	writer, err := aside.NewCallWriter(dialect, &options)
	if err != nil {
		return "", err
	}
	defer writer.Close()
	var said []string
	var arguments string
	var failed error
	err = each(dialect, aside.ScannerOptions{Start: start, Calls: true}, chunks, func(event aside.Event) bool {
		delta, err := writer.Feed(event)
		if err != nil {
			failed = err
		}
		if delta == nil {
			return true
		}
		if delta.First {
			said, arguments = append(said, hexOf([]byte(delta.Name))), ""
		}
		arguments += delta.Arguments
		if delta.Last {
			whole := "0"
			if delta.Whole {
				whole = "1"
			}
			said = append(said, hexOf([]byte(arguments)), whole)
		}
		return true
	})
	if err == nil {
		err = failed
	}
	return strings.Join(said, " "), err
}

func rewrite(dialect *aside.Dialect, start aside.Start, chunks []string) (string, error) {
	rewriter, err := aside.NewRewriter(dialect, &aside.RewriterOptions{Start: start})
	if err != nil {
		return "", err
	}
	defer rewriter.Close()
	var out []byte
	for _, chunk := range chunks {
		if out, err = rewriter.Feed(out, bytesOf(chunk)); err != nil {
			return "", err
		}
	}
	out, err = rewriter.Finish(out)
	return hexOf(out), err
}

// gone returns the errors of a scanner that was closed, of one that is nil, and of a zero value.
func gone(dialect *aside.Dialect) (string, error) {
	closed, err := aside.NewScanner(dialect, nil)
	if err != nil {
		return "", err
	}
	if err := closed.Close(); err != nil {
		return "", err
	}
	names := map[aside.Status]string{aside.ErrClosed: "ErrClosed", aside.ErrNull: "ErrNull"}
	var said []string
	for _, scanner := range []*aside.Scanner{closed, nil, {}} {
		_, _ = aside.Find("nobody") // a failure with another message
		err := scanner.Reset()
		var status aside.Status
		errors.As(err, &status)
		said = append(said, hexOf([]byte(names[status])), hexOf([]byte(err.Error())))
	}
	return strings.Join(said, " "), nil
}

func bytesOf(text string) []byte {
	bytes, _ := hex.DecodeString(strings.TrimPrefix(text, "-"))
	return bytes
}

func hexOf(bytes []byte) string {
	if len(bytes) == 0 {
		return "-"
	}
	return hex.EncodeToString(bytes)
}
