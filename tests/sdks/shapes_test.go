package sdks

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// chunks are the data of a chat's events.
var chunks = func() []string {
	var data []string
	for _, event := range strings.Split(chatStream(answer{}, pieces(scenes["thinking"].answer.text, 7), nil), "\n\n") {
		data = append(data, strings.TrimPrefix(event, "data: "))
	}
	return data[:len(data)-1] // no event follows the last blank line
}()

// shapes are forms of this chat in which some client fails or loses text, and a few forms that all clients can read.
var shapes = map[string]string{
	"empty data":              between("data:\n\n"),
	"a keepalive as data":     between("data: : keepalive\n\n"),
	"an id alone":             between("id: 7\n\n"),
	"a time to retry":         between("retry: 3000\n\n"),
	"an empty ping":           between("event: ping\ndata: {}\n\n"),
	"a chunk without choices": between(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m"}` + "\n\n"),
	"a comment":               between(": OPENROUTER PROCESSING\n\n"),
	"ids":                     each(func(data string) string { return "id: 1\ndata: " + data + "\n\n" }),
	"names":                   each(func(data string) string { return "event: chunk\ndata: " + data + "\n\n" }),
	"a comment in events":     each(func(data string) string { return ": alive\ndata: " + data + "\n\n" }),
	"carriage returns":        each(func(data string) string { return "data: " + data + "\r\r" }),
	"lines that end in CRLF":  each(func(data string) string { return "data: " + data + "\r\n\r\n" }),
	"several lines of data":   each(func(data string) string { return "data: " + strings.Replace(data, `,"`, ",\ndata: \"", 2) + "\n\n" }),
	"several chunks in an event": each(func(data string) string {
		if strings.Contains(data, `"role"`) || data == "[DONE]" || strings.Contains(data, `"finish_reason":"stop"`) {
			return plain(data)
		}
		return "data: " + data + "\ndata: " + chunk("") + "\n\n"
	}),
	// Its first chunk has text.
	"a byte order mark": "\ufeff" + strings.Replace(strings.Replace(each(plain), `"content":"<think>"`, `"content":""`, 1),
		`"content":""`, `"content":"<think>"`, 1),
	"another id":               strings.Replace(strings.ReplaceAll(each(plain), `"id":"c1"`, `"id":"c2"`), `"id":"c2"`, `"id":"c1"`, 1),
	"data after the end":       each(plain) + plain(chunk("Lost?")),
	"no blank line at the end": strings.TrimSuffix(each(plain), "\n"),
}

// chunk returns the data of an event with some text.
func chunk(content string) string {
	return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":` +
		quoted(content) + `},"logprobs":null,"finish_reason":null}]}`
}

func plain(data string) string { return "data: " + data + "\n\n" }

// each returns the stream with events of this form.
func each(write func(data string) string) string {
	var out strings.Builder
	for _, data := range chunks {
		out.WriteString(write(data))
	}
	return out.String()
}

// between returns the stream with an additional event between the third chunk and the fourth.
func between(event string) string {
	at := 0
	return each(func(data string) string {
		if at++; at == 4 {
			return event + plain(data)
		}
		return plain(data)
	})
}

// TestRepair has every client read the shapes from a gateway that repairs.
func TestRepair(t *testing.T) {
	upstream := startServer(t)
	gateway := startGateway(t, upstream, "-repair")
	cuts := []int{7}
	if long {
		cuts = []int{1, 7, 0}
	}
	for _, sdk := range append(sdks(t), others(t)...) {
		if !slices.Contains(sdk.formats, "chat") || sdk.name == "ai-openai" {
			continue
		}
		t.Run(sdk.name, func(t *testing.T) {
			client := startClient(t, sdk.needs, sdk.command...)
			for name := range shapes {
				for _, bytes := range cuts {
					t.Run(fmt.Sprintf("%s/%d", name, bytes), func(t *testing.T) {
						got := client.ask(t, request{
							URL: fmt.Sprintf("%s/%s/0/%d", gateway, strings.ReplaceAll(name, " ", "%20"), bytes), Format: "chat", Stream: true,
						})
						compare(t, sdk, "chat", "streamed", "", scenes["thinking"], got)
					})
				}
			}
		})
	}
}

// others are more clients, some of which use the packages above. They are tested with scripts/test-sdks --long.
func others(t *testing.T) []sdk {
	if !long {
		return nil
	}
	python := filepath.Join(packages, "more/bin/python")
	native := build(t, "clients/go_openai")
	of := func(name string) []string { return []string{python, "clients/more_client.py", name} }
	thinking := []string{"thinking"}
	return []sdk{
		{"litellm", python, of("litellm"), []string{"chat"}, nil},
		{
			"langchain-openai", python, of("langchain"), []string{"chat"},
			map[string][]string{"chat streamed": thinking, "chat final": thinking},
		},
		{"pydantic-ai", python, of("pydantic_ai"), []string{"chat"}, nil},
		{
			"llm", python, of("llm"), []string{"chat"},
			map[string][]string{"chat streamed": {"thinking", "reason"}, "chat final": {"thinking", "reason"}},
		},
		{"go-openai", native, []string{native}, []string{"chat"}, map[string][]string{"chat final": {"object"}}},
	}
}
