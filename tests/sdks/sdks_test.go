package sdks

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// scene is an answer and a client's expected result.
type scene struct {
	answer
	tools []tool // of the request
	want  seen
	// spaces says that the tools have namespaces, which only Responses has. The clients of other packages do not list them.
	spaces bool
	// asText is the result if the API has no calls or calls must stay text.
	asText *seen
	// promoted is the result if an answer with only thinking is also sent as content.
	promoted *seen
}

func parameters(keys string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + keys + `},"additionalProperties":false}`)
}

var tools = []tool{
	{"f", json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`), ""},
	{"weather", parameters(`"city":{"type":"string"},"days":{"type":"integer"}`), ""},
	{"clock", parameters(""), ""},
}

// spaced are tools in a namespace, as Codex lists the tools of a server for MCP.
var spaced = []tool{
	{"weather", tools[1].Parameters, "mcp__web"},
	{"clock", tools[2].Parameters, "mcp__web"},
}

// written has two calls as qwen3 writes them.
const written = "<tool_call>\n" +
	`{"name": "weather", "arguments": {"city": "Paris </tool_call> é", "days": 2}}` + "\n</tool_call>\n" +
	"<tool_call>\n" + `{"name": "clock", "arguments": {}}` + "\n</tool_call>"

// single is one call and nothing else.
const single = "<tool_call>\n" + `{"name": "f", "arguments": {"a": 1}}` + "\n</tool_call>"

// tagged is a call as other models of the family write it.
const tagged = "<tool_call>\n<function=weather>\n<parameter=city>\n7\n</parameter>\n<parameter=days>\n2\n</parameter>\n" +
	"</function>\n</tool_call>"

const rehearsed = "<think>\nI could write <tool_call> here.\n</think>\n\n"

var writtenCalls = []call{{"weather", map[string]any{"city": "Paris </tool_call> é", "days": 2.0}}, {"clock", map[string]any{}}}

// scenes are answers by name. Their finish reasons are those of chat completions; reasons has the words of the other APIs.
var scenes = map[string]scene{
	"plain": {
		answer: answer{text: "It is 42, and 1 < 2."},
		want:   seen{Order: []string{"content"}, Content: "It is 42, and 1 < 2.", Reason: "stop"},
	},
	"thinking": {
		answer: answer{text: "<think>\nTwice 21 < 43, é 🙂.\n</think>\n\nIt is 42 🙂."},
		want: seen{
			Order: []string{"thinking", "content"}, Thinking: "Twice 21 < 43, é 🙂.", Content: "It is 42 🙂.", Reason: "stop",
		},
	},
	"twice": {
		answer: answer{text: "One.<think>\nHm.\n</think>\n\nTwo."},
		want: seen{
			Order: []string{"content", "thinking", "content"}, Thinking: "Hm.", Content: "One.\n\nTwo.", Reason: "stop",
		},
	},
	"alone": {
		answer: answer{text: "<think>\nIt is 42.\n</think>\n\n"},
		want:   seen{Order: []string{"thinking"}, Thinking: "It is 42.", Reason: "stop"},
		promoted: &seen{
			Order: []string{"thinking", "content"}, Thinking: "It is 42.", Content: "It is 42.", Reason: "stop",
		},
	},
	"cut": {
		answer: answer{text: "<think>\nTwice 21", cut: true},
		want:   seen{Order: []string{"thinking"}, Thinking: "Twice 21", Reason: "length"},
	},
	"own": {
		answer: answer{text: "<think>\nTwice 21.\n</think>\n\nIt is 42.", own: true},
		tools:  tools,
		want: seen{
			Order: []string{"thinking", "content", "call"}, Thinking: "Twice 21.", Content: "It is 42.",
			Calls: []call{{"f", map[string]any{"a": 1.0}}}, Reason: "tool_calls",
		},
		asText: &seen{Order: []string{"thinking", "content"}, Thinking: "Twice 21.", Content: "It is 42.", Reason: "stop"},
	},
	"written": {
		answer: answer{text: rehearsed + "I ask.\n" + written},
		tools:  tools,
		want: seen{
			Order:    []string{"thinking", "content", "call", "call"},
			Thinking: "I could write <tool_call> here.", Content: "I ask.", Calls: writtenCalls, Reason: "tool_calls",
		},
		asText: &seen{
			Order: []string{"thinking", "content"}, Thinking: "I could write <tool_call> here.", Content: "I ask.\n" + written,
			Reason: "stop",
		},
	},
	"calls": {
		answer: answer{text: single},
		tools:  tools,
		want:   seen{Order: []string{"call"}, Calls: []call{{"f", map[string]any{"a": 1.0}}}, Reason: "tool_calls"},
		asText: &seen{Order: []string{"content"}, Content: single, Reason: "stop"},
	},
	// The type of a value between tags is only in the request.
	"tagged": {
		answer: answer{text: tagged},
		tools:  tools,
		want: seen{
			Order: []string{"call"}, Calls: []call{{"weather", map[string]any{"city": "7", "days": 2.0}}}, Reason: "tool_calls",
		},
		asText: &seen{Order: []string{"content"}, Content: tagged, Reason: "stop"},
	},
	// The model may write the flat name of a tool, or its own name.
	"spaced": {
		answer: answer{text: strings.Replace(written, `"weather"`, `"mcp__web__weather"`, 1)},
		tools:  spaced,
		spaces: true,
		want: seen{
			Order: []string{"call", "call"},
			Calls: []call{{"mcp__web.weather", writtenCalls[0][1]}, {"mcp__web.clock", writtenCalls[1][1]}}, Reason: "tool_calls",
		},
		asText: &seen{
			Order: []string{"content"}, Content: strings.Replace(written, `"weather"`, `"mcp__web__weather"`, 1), Reason: "stop",
		},
	},
	// A call of a tool that the request does not have.
	"unlisted": {
		answer: answer{text: rehearsed + "I ask.\n" + written},
		want: seen{
			Order: []string{"thinking", "content"}, Thinking: "I could write <tool_call> here.", Content: "I ask.\n" + written,
			Reason: "stop",
		},
	},
}

// reasons are the words for stop, tool_calls and length. Responses has the status of the answer instead, and Ollama has no word for
// calls.
var reasons = map[string][]string{
	"chat": {"stop", "tool_calls", "length"}, "completions": {"stop", "stop", "length"},
	"messages": {"end_turn", "tool_use", "max_tokens"}, "responses": {"completed", "completed", "incomplete"},
	"ollama": {"stop", "stop", "length"}, "generate": {"stop", "stop", "length"},
	"ai": {"stop", "tool-calls", "length"},
}

// sdk is a package that is tested.
type sdk struct {
	name    string
	needs   string
	command []string
	formats []string
	// lacks has the parts that the package itself does not show: "object", an object that it makes from a stream; "thinking", if it
	// has no field for it; "order", if it shows calls after the text; "reason". The keys are the format and the part of the result:
	// the "streamed" one, its "final" object, or a "whole" answer.
	lacks map[string][]string
}

func sdks(t *testing.T) []sdk {
	node := func(name, provider string) []string {
		return append([]string{"node", "clients/" + name}, provider)
	}
	openai, ollama := build(t, "clients/openai_go"), build(t, "clients/ollama_go")
	object, thinking := []string{"object"}, []string{"thinking"}
	return []sdk{
		{
			"openai-python", python, []string{python, "clients/openai_client.py"}, []string{"chat", "completions", "responses"},
			map[string][]string{"completions final": object},
		},
		{
			"openai-node", filepath.Join(modules, "openai"), node("openai_client.cjs", ""), []string{"chat", "completions", "responses"},
			map[string][]string{"completions final": object, "chat final": thinking},
		},
		{
			"openai-go", openai, []string{openai}, []string{"chat", "completions", "responses"},
			map[string][]string{"completions final": object, "chat final": thinking},
		},
		{"anthropic-python", python, []string{python, "clients/anthropic_client.py"}, []string{"messages"}, nil},
		{"anthropic-node", filepath.Join(modules, "@anthropic-ai/sdk"), node("anthropic_client.cjs", ""), []string{"messages"}, nil},
		{
			"ollama-python", python, []string{python, "clients/ollama_client.py"}, []string{"ollama", "generate"},
			map[string][]string{"ollama final": object, "generate final": object},
		},
		{
			"ollama-node", filepath.Join(modules, "ollama"), node("ollama_client.cjs", ""), []string{"ollama", "generate"},
			map[string][]string{"ollama final": object, "generate final": object},
		},
		{
			"ollama-go", ollama, []string{ollama}, []string{"ollama", "generate"},
			map[string][]string{"ollama final": object, "generate final": object},
		},
		{
			"ai-compatible", filepath.Join(modules, "ai"), node("ai_client.cjs", "compatible"), []string{"chat", "completions"},
			map[string][]string{
				"chat streamed":        {"order"},
				"completions streamed": thinking, "completions final": thinking, "completions whole": thinking,
			},
		},
		{"ai-anthropic", filepath.Join(modules, "ai"), node("ai_client.cjs", "anthropic"), []string{"messages"}, nil},
		{
			"ai-openai", filepath.Join(modules, "ai"), node("ai_client.cjs", "openai"), []string{"chat", "responses"},
			map[string][]string{"chat streamed": {"thinking", "order"}, "chat final": thinking, "chat whole": thinking},
		},
	}
}

// way is a set of flags for the gateway.
type way struct {
	name    string
	flags   []string
	formats []string // the formats for which the flags matter
}

// ways are tested in addition to the gateway without flags: only the first one, unless long is set.
var ways = []way{
	{"promoted", []string{"-promote-empty"}, nil},
	{"summary", []string{"-responses-as", "summary"}, []string{"responses"}},
	{"merged", []string{"-merge"}, []string{"chat", "completions", "ollama", "generate"}},
}

// TestSdks asks for each answer with each package in each of its APIs, streamed and not.
func TestSdks(t *testing.T) {
	upstream := startServer(t)
	gateways := map[string]string{"": startGateway(t, upstream)}
	if host == "" {
		for _, way := range ways {
			gateways[way.name] = startGateway(t, upstream, way.flags...)
		}
	}
	cuts := [][2]int{{7, 7}}
	if long {
		cuts = nil
		for _, characters := range []int{1, 7, 0} {
			for _, bytes := range []int{1, 7, 0} {
				cuts = append(cuts, [2]int{characters, bytes})
			}
		}
	}
	for _, sdk := range sdks(t) {
		t.Run(sdk.name, func(t *testing.T) {
			client := startClient(t, sdk.needs, sdk.command...)
			for _, format := range sdk.formats {
				for name, scene := range scenes {
					if scene.spaces && (sdk.name != "openai-python" || format != "responses") {
						continue
					}
					for _, way := range waysOf(sdk.name, format, name) {
						for _, cut := range cuts {
							for _, mode := range []string{"streamed", "whole"} {
								if mode == "whole" && cut[0] != cuts[0][0] {
									continue // only streams have deltas
								}
								test := strings.TrimSuffix(fmt.Sprintf("%s/%s/%s/%d-%d/%s", format, name, mode, cut[0], cut[1], way), "/")
								t.Run(test, func(t *testing.T) {
									got := client.ask(t, request{
										URL:    fmt.Sprintf("%s/%s/%d/%d", gateways[way], name, cut[0], cut[1]),
										Format: format, Stream: mode == "streamed", Tools: scene.tools,
									})
									compare(t, sdk, format, mode, way, scene, got)
								})
							}
						}
					}
				}
			}
		})
	}
}

// waysOf returns the names of the ways with which an answer is requested.
func waysOf(sdk, format, scene string) []string {
	names := []string{""}
	if sdk == "ai-openai" && format == "responses" {
		names = []string{"summary"} // this package shows thinking only as a summary
	}
	if host != "" {
		return slices.DeleteFunc(names, func(name string) bool { return name != "" }) // Envoy and nginx have no flags
	}
	for _, way := range ways {
		if (long || scene == "alone" && way.name == "promoted") && !slices.Contains(names, way.name) &&
			(way.formats == nil || slices.Contains(way.formats, format)) && names[0] == "" {
			names = append(names, way.name)
		}
	}
	return names
}

// compare compares a client's result with the expected one.
func compare(t *testing.T, sdk sdk, format, mode, way string, scene scene, got reply) {
	t.Helper()
	if got.Error != "" {
		t.Fatal("the client fails: ", got.Error)
	}
	want := scene.want
	// Envoy and nginx leave calls in the text. A call that the server has made stays unchanged.
	if scene.asText != nil && (format == "completions" || format == "generate" || host != "" && !scene.own) {
		want = *scene.asText
	}
	if way == "promoted" && scene.promoted != nil {
		want = *scene.promoted
	}
	words := reasons[format]
	if strings.HasPrefix(sdk.name, "ai-") {
		words = reasons["ai"]
	}
	want.Reason = words[slices.Index(reasons["chat"], want.Reason)]
	if mode == "whole" {
		if got.Streamed != nil {
			t.Errorf("a whole answer was streamed: %s", got.Streamed)
		}
		compareSeen(t, format, way, "whole", sdk.lacks[format+" whole"], want, got.Final)
		return
	}
	compareSeen(t, format, way, "streamed", sdk.lacks[format+" streamed"], want, got.Streamed)
	if !slices.Contains(sdk.lacks[format+" final"], "object") {
		compareSeen(t, format, way, "final", sdk.lacks[format+" final"], want, got.Final)
	}
}

// compareSeen compares one part of a client's result: the "streamed" one, the "final" object of that, or a "whole" answer.
func compareSeen(t *testing.T, format, way, part string, lacks []string, want seen, got *seen) {
	t.Helper()
	if got == nil {
		t.Errorf("%s: nothing", part)
		return
	}
	if slices.Contains(lacks, "thinking") && strings.HasSuffix(want.Thinking, got.Thinking) {
		want.Thinking = got.Thinking // no thinking, or its last piece
		want.Order = slices.DeleteFunc(slices.Clone(want.Order), func(kind string) bool { return kind == "thinking" })
		want.Order = slices.CompactFunc(want.Order, func(a, b string) bool { return a == "content" && b == a })
	}
	if slices.Contains(lacks, "order") || way == "merged" || part != "streamed" && format != "messages" && format != "responses" {
		// A chunk, or an object without a list of blocks or items, has separate fields for thinking, content and calls, without an order.
		want.Order, got.Order = nil, nil
	}
	if slices.Contains(lacks, "reason") {
		want.Reason = ""
	}
	if len(got.Calls) == 0 {
		got.Calls = nil
	}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("%s:\n   got %s\nwanted %s", part, got, want)
	}
}
