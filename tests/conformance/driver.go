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
	case "answer":
		return read(dialect, start, fields[3], fields[4:])
	case "gone":
		return gone(dialect)
	default:
		return rewrite(dialect, start, fields[3:])
	}
}

func scan(dialect *aside.Dialect, start aside.Start, chunks []string) (string, error) {
	scanner, err := aside.NewScanner(dialect, &aside.ScannerOptions{Start: start})
	if err != nil {
		return "", err
	}
	defer scanner.Close()
	var texts [4][]byte
	take := func(event aside.Event) bool {
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
	}
	for _, chunk := range chunks {
		if _, err := scanner.Feed(bytesOf(chunk), take); err != nil {
			return "", err
		}
	}
	err = scanner.Finish(take)
	var said []string
	for _, text := range texts {
		said = append(said, hexOf(text))
	}
	return strings.Join(said, " "), err
}

func read(dialect *aside.Dialect, start aside.Start, tools string, chunks []string) (string, error) {
	options := aside.AnswerOptions{Start: start}
	if tools != "-" {
		options.Tools = bytesOf(tools)
	}
	answer, err := aside.NewAnswer(dialect, &options)
	if err != nil {
		return "", err
	}
	defer answer.Close()
	var parts []aside.Part
	for _, chunk := range chunks {
		more, err := answer.Feed(bytesOf(chunk))
		if err != nil {
			return "", err
		}
		parts = append(parts, more...)
	}
	rest, err := answer.Finish(aside.EndReasonUnknown)
	var thinking, content string
	var calls []call
	for _, part := range append(parts, rest...) {
		switch part.Kind {
		case aside.PartKindThinking:
			thinking += part.Text
		case aside.PartKindContent:
			content += part.Text
		case aside.PartKindCall:
			calls = append(calls, call{name: part.Name, whole: "0"})
		case aside.PartKindArguments:
			calls[part.Index].arguments += part.Text
		case aside.PartKindCallEnd:
			if part.Whole {
				calls[part.Index].whole = "1"
			}
		}
	}
	said := []string{hexOf([]byte(thinking)), hexOf([]byte(content))}
	for _, call := range calls {
		said = append(said, hexOf([]byte(call.name)), hexOf([]byte(call.arguments)), call.whole)
	}
	return strings.Join(said, " "), err
}

type call struct{ name, arguments, whole string }

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

// gone returns the errors of a closed scanner, of a nil scanner, and of a zero value.
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
