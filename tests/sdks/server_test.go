package sdks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// answer is the output of the model in a test.
type answer struct {
	text string
	own  bool // the server has parsed a call itself: f({"a": 1})
	cut  bool // the answer ends because it is too long
}

// format is an API of servers that do not recognise thinking: they send the model's text unchanged.
type format struct {
	kind   string // the content type of its streams
	body   func(a answer) string
	stream func(a answer, deltas []string, arguments []string) string
}

// formats are the APIs by the ends of their paths.
var formats = map[string]format{
	"/chat/completions": {"text/event-stream", chatBody, chatStream},
	"/completions":      {"text/event-stream", completionsBody, completionsStream},
	"/messages":         {"text/event-stream", messagesBody, messagesStream},
	"/responses":        {"text/event-stream", responsesBody, responsesStream},
	"/api/chat":         {"application/x-ndjson", ollamaChatBody, ollamaChatStream},
	"/api/generate":     {"application/x-ndjson", ollamaGenerateBody, ollamaGenerateStream},
}

// startServer runs a model's server and returns its URL. A path begins with the answer's name, the number of characters in a delta
// and the number of bytes in a write, where 0 means all: /thinking/7/1/v1/chat/completions.
func startServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Stream *bool }
		parts := strings.SplitN(r.URL.Path, "/", 5)
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(parts) < 5 {
			t.Error(err, r.URL)
			return
		}
		characters, bytes := number(parts[2]), number(parts[3])
		streamed := strings.HasPrefix(parts[4], "api/") // Ollama's default
		if asked.Stream != nil {
			streamed = *asked.Stream
		}
		if shape, there := shapes[parts[1]]; there {
			w.Header().Set("Content-Type", "text/event-stream")
			write(w, shape, bytes)
			return
		}
		found, path := "", "/"+parts[4]
		for end := range formats {
			if strings.HasSuffix(path, end) && len(end) > len(found) {
				found = end
			}
		}
		scene, there := scenes[parts[1]]
		if found == "" || !there {
			t.Error("nothing is served at ", r.URL)
			return
		}
		format := formats[found]
		if !streamed {
			w.Header().Set("Content-Type", "application/json")
			write(w, format.body(scene.answer), bytes)
			return
		}
		w.Header().Set("Content-Type", format.kind)
		write(w, format.stream(scene.answer, pieces(scene.text, characters), pieces(`{"a":1}`, characters)), bytes)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func number(text string) int {
	number, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return number
}

// write sends a text in pieces of size bytes, or all at once if size is 0.
func write(w http.ResponseWriter, text string, size int) {
	if size == 0 {
		size = len(text)
	}
	for len(text) > 0 {
		size = min(size, len(text))
		fmt.Fprint(w, text[:size])
		w.(http.Flusher).Flush()
		text = text[size:]
	}
}

// pieces cuts a text into pieces of size characters, or returns it whole if size is 0.
func pieces(text string, size int) []string {
	var cut []string
	for rest := []rune(text); len(rest) > 0; {
		if size == 0 {
			size = len(rest)
		}
		size = min(size, len(rest))
		cut = append(cut, string(rest[:size]))
		rest = rest[size:]
	}
	return cut
}

// quoted returns a text as JSON with no more escapes than a server in Python writes.
func quoted(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// reason returns the finish reason of the answer in the words of an API.
func (a answer) reason(stop, calls, length string) string {
	switch {
	case a.cut:
		return length
	case a.own:
		return calls
	}
	return stop
}

func chatBody(a answer) string {
	calls := ""
	if a.own {
		calls = `,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]`
	}
	return fmt.Sprintf(`{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":`+
		`{"role":"assistant","content":%s%s},"logprobs":null,"finish_reason":"%s"}],"usage":{"prompt_tokens":9,`+
		`"completion_tokens":3,"total_tokens":12}}`, quoted(a.text), calls, a.reason("stop", "tool_calls", "length"))
}

func chatStream(a answer, deltas, arguments []string) string {
	var out strings.Builder
	send := func(delta, reason string) {
		fmt.Fprintf(&out, `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,`+
			`"delta":%s,"logprobs":null,"finish_reason":%s}]}`+"\n\n", delta, reason)
	}
	send(`{"role":"assistant","content":""}`, "null")
	for _, delta := range deltas {
		send(`{"content":`+quoted(delta)+`}`, "null")
	}
	if a.own {
		send(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]}`, "null")
		for _, piece := range arguments {
			send(`{"tool_calls":[{"index":0,"function":{"arguments":`+quoted(piece)+`}}]}`, "null")
		}
	}
	send("{}", `"`+a.reason("stop", "tool_calls", "length")+`"`)
	return out.String() + "data: [DONE]\n\n"
}

func completionsBody(a answer) string {
	return fmt.Sprintf(`{"id":"c1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":%s,`+
		`"logprobs":null,"finish_reason":"%s"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`,
		quoted(a.text), a.reason("stop", "stop", "length"))
}

func completionsStream(a answer, deltas, _ []string) string {
	var out strings.Builder
	send := func(text, reason string) {
		fmt.Fprintf(&out, `data: {"id":"c1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,`+
			`"text":%s,"logprobs":null,"finish_reason":%s}]}`+"\n\n", quoted(text), reason)
	}
	for _, delta := range deltas {
		send(delta, "null")
	}
	send("", `"`+a.reason("stop", "stop", "length")+`"`)
	return out.String() + "data: [DONE]\n\n"
}

func messagesBody(a answer) string {
	calls := ""
	if a.own {
		calls = `,{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}`
	}
	return fmt.Sprintf(`{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":%s}%s],`+
		`"stop_reason":"%s","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":3}}`,
		quoted(a.text), calls, a.reason("end_turn", "tool_use", "max_tokens"))
}

func messagesStream(a answer, deltas, arguments []string) string {
	var out strings.Builder
	send := func(event, rest string) {
		fmt.Fprintf(&out, "event: %s\ndata: {\"type\":\"%s\"%s}\n\n", event, event, rest)
	}
	send("message_start", `,"message":{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[],`+
		`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}`)
	send("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	send("ping", "")
	for _, delta := range deltas {
		send("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":`+quoted(delta)+`}`)
	}
	send("content_block_stop", `,"index":0`)
	if a.own {
		send("content_block_start", `,"index":1,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}`)
		for _, piece := range arguments {
			send("content_block_delta", `,"index":1,"delta":{"type":"input_json_delta","partial_json":`+quoted(piece)+`}`)
		}
		send("content_block_stop", `,"index":1`)
	}
	send("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":"%s","stop_sequence":null},"usage":{"output_tokens":3}`,
		a.reason("end_turn", "tool_use", "max_tokens")))
	send("message_stop", "")
	return out.String()
}

// responsesPart returns the text part of a message of Responses.
func responsesPart(text string) string {
	return `{"type":"output_text","annotations":[],"logprobs":[],"text":` + quoted(text) + `}`
}

// responsesOutput returns the items of a whole answer: the message, and the call.
func responsesOutput(a answer) []string {
	items := []string{fmt.Sprintf(`{"id":"msg_1","type":"message","status":"%s","content":[%s],"role":"assistant"}`,
		a.reason("completed", "completed", "incomplete"), responsesPart(a.text))}
	if a.own {
		items = append(items,
			`{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"a\":1}","call_id":"call_1","name":"f"}`)
	}
	return items
}

// response returns the object of an answer with the output so far.
func response(a answer, status string, output []string) string {
	incomplete := "null"
	if status == "incomplete" {
		incomplete = `{"reason":"max_output_tokens"}`
	}
	return fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1761506036,"status":"%s","error":null,`+
		`"incomplete_details":%s,"instructions":null,"model":"m","output":[%s],"parallel_tool_calls":true,"tool_choice":"auto",`+
		`"tools":[],"temperature":1.0,"top_p":1.0,"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},`+
		`"output_tokens":3,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":12}}`,
		status, incomplete, strings.Join(output, ","))
}

func responsesBody(a answer) string {
	return response(a, a.reason("completed", "completed", "incomplete"), responsesOutput(a))
}

func responsesStream(a answer, deltas, arguments []string) string {
	var out strings.Builder
	count := 0
	send := func(event, rest string) {
		fmt.Fprintf(&out, "event: response.%s\ndata: {\"type\":\"response.%s\",\"sequence_number\":%d,%s}\n\n",
			event, event, count, rest)
		count++
	}
	text := `"item_id":"msg_1","output_index":0,"content_index":0`
	send("created", `"response":`+response(a, "in_progress", nil))
	send("in_progress", `"response":`+response(a, "in_progress", nil))
	send("output_item.added",
		`"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}`)
	send("content_part.added", text+`,"part":`+responsesPart(""))
	for _, delta := range deltas {
		send("output_text.delta", text+`,"delta":`+quoted(delta)+`,"logprobs":[]`)
	}
	items := responsesOutput(a)
	send("output_text.done", text+`,"text":`+quoted(a.text)+`,"logprobs":[]`)
	send("content_part.done", text+`,"part":`+responsesPart(a.text))
	send("output_item.done", `"output_index":0,"item":`+items[0])
	if a.own {
		call := `"item_id":"fc_1","output_index":1`
		send("output_item.added", `"output_index":1,"item":{"id":"fc_1","type":"function_call","status":"in_progress",`+
			`"arguments":"","call_id":"call_1","name":"f"}`)
		for _, piece := range arguments {
			send("function_call_arguments.delta", call+`,"delta":`+quoted(piece))
		}
		send("function_call_arguments.done", call+`,"arguments":"{\"a\":1}","name":"f"`)
		send("output_item.done", `"output_index":1,"item":`+items[1])
	}
	status := a.reason("completed", "completed", "incomplete")
	send(status, `"response":`+response(a, status, items))
	return out.String()
}

const (
	ollamaStart = `{"model":"m","created_at":"2026-07-28T06:38:03.222822Z",`
	ollamaCalls = `"tool_calls":[{"id":"call_1","function":{"index":0,"name":"f","arguments":{"a":1}}}]`
)

// ollamaDone returns the end of the last line.
func ollamaDone(a answer) string {
	return fmt.Sprintf(`,"done":true,"done_reason":"%s","total_duration":4852334875,"load_duration":1,"prompt_eval_count":39,`+
		`"prompt_eval_duration":1,"eval_count":289,"eval_duration":1}`+"\n", a.reason("stop", "stop", "length"))
}

func ollamaChatBody(a answer) string {
	calls := ""
	if a.own {
		calls = "," + ollamaCalls
	}
	return ollamaStart + `"message":{"role":"assistant","content":` + quoted(a.text) + calls + `}` + ollamaDone(a)
}

func ollamaChatStream(a answer, deltas, _ []string) string {
	var out strings.Builder
	for _, delta := range deltas {
		out.WriteString(ollamaStart + `"message":{"role":"assistant","content":` + quoted(delta) + `},"done":false}` + "\n")
	}
	if a.own {
		out.WriteString(ollamaStart + `"message":{"role":"assistant","content":"",` + ollamaCalls + `},"done":false}` + "\n")
	}
	return out.String() + ollamaStart + `"message":{"role":"assistant","content":""}` + ollamaDone(a)
}

func ollamaGenerateBody(a answer) string {
	return ollamaStart + `"response":` + quoted(a.text) + ollamaDone(a)
}

func ollamaGenerateStream(a answer, deltas, _ []string) string {
	var out strings.Builder
	for _, delta := range deltas {
		out.WriteString(ollamaStart + `"response":` + quoted(delta) + `,"done":false}` + "\n")
	}
	return out.String() + ollamaStart + `"response":""` + ollamaDone(a)
}
