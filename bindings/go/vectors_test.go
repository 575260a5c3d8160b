package aside_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	aside "aside.example/bindings/go"
)

// vector is a line of tests/vectors; the README there explains the keys. An absent key is not checked.
type vector struct {
	Dialect   string
	About     string
	Chunks    []string
	ChunksB64 [][]byte `json:"chunks_b64"`
	Start     *string

	Content, Thinking, Narration, Tool *string
	ContentB64                         *[]byte `json:"content_b64"`
	ThinkingB64                        *[]byte `json:"thinking_b64"`
	NarrationB64                       *[]byte `json:"narration_b64"`
	ToolB64                            *[]byte `json:"tool_b64"`

	Thoughts   *[]thought
	Attributes *[][2]string
	Causes     *[]string
}

type thought struct {
	Thought     string
	ThoughtType *string `json:"thought_type"`
	Confidence  *float64

	plain bool // the case has only the text
}

func (t *thought) UnmarshalJSON(line []byte) error {
	if line[0] == '"' {
		t.plain = true
		return json.Unmarshal(line, &t.Thought)
	}
	type fields thought
	return strict(line, (*fields)(t))
}

// strict decodes one value and refuses keys that nothing reads.
func strict(line []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// judge returns the expectations of the case that the events and thoughts do not meet.
func (v *vector) judge(got *recorder, thoughts []aside.Thought) error {
	for _, channel := range []struct {
		channel aside.Channel
		text    *string
		b64     *[]byte
	}{
		{aside.ChannelContent, v.Content, v.ContentB64},
		{aside.ChannelThinking, v.Thinking, v.ThinkingB64},
		{aside.ChannelNarration, v.Narration, v.NarrationB64},
		{aside.ChannelTool, v.Tool, v.ToolB64},
	} {
		var wanted []byte
		switch {
		case channel.text != nil:
			wanted = []byte(*channel.text)
		case channel.b64 != nil:
			wanted = *channel.b64
		default:
			continue
		}
		if text := got.text(channel.channel); !bytes.Equal(text, wanted) {
			return fmt.Errorf("%v:\n  wanted %q\n  got    %q", channel.channel, wanted, text)
		}
	}
	if v.Thoughts != nil {
		if len(thoughts) != len(*v.Thoughts) {
			return fmt.Errorf("wanted %d thoughts, got %d", len(*v.Thoughts), len(thoughts))
		}
		for i, wanted := range *v.Thoughts {
			is := thoughts[i]
			if string(is.Text) != wanted.Thought || is.Truncated ||
				!wanted.plain && (!same(is.Type, wanted.ThoughtType) || !same(is.Confidence, wanted.Confidence)) {
				return fmt.Errorf("thought %d:\n  wanted %+v\n  got    %+v", i, wanted, is)
			}
		}
	}
	attributes, causes := [][2]string{}, []string{}
	for _, event := range got.events {
		switch event.Kind {
		case aside.KindAttribute:
			attributes = append(attributes, [2]string{string(event.attribute.Name), string(event.attribute.Value)})
		case aside.KindClose:
			causes = append(causes, strings.ReplaceAll(event.Cause.String(), "_", " "))
		}
	}
	if v.Attributes != nil && fmt.Sprintf("%q", *v.Attributes) != fmt.Sprintf("%q", attributes) {
		return fmt.Errorf("attributes:\n  wanted %q\n  got    %q", *v.Attributes, attributes)
	}
	if v.Causes != nil && fmt.Sprintf("%q", *v.Causes) != fmt.Sprintf("%q", causes) {
		return fmt.Errorf("causes:\n  wanted %q\n  got    %q", *v.Causes, causes)
	}
	return nil
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

var starts = map[string]aside.Start{
	"content": aside.StartContent, "thinking": aside.StartThinking, "narration": aside.StartNarration,
	"tool": aside.StartTool, "header": aside.StartHeader,
}

// check runs a case with its own cuts, whole, byte by byte, and split in two at every place. All runs must have the same events.
func (v *vector) check(t testing.TB) error {
	chunks := v.ChunksB64
	for _, chunk := range v.Chunks {
		chunks = append(chunks, []byte(chunk))
	}
	if len(chunks) == 0 {
		return fmt.Errorf("no chunks")
	}
	options := aside.ScannerOptions{Collect: 1 << 26}
	if v.Start != nil {
		start, known := starts[*v.Start]
		if !known {
			return fmt.Errorf("start %q", *v.Start)
		}
		options.Start = start
	}
	dialect, err := aside.Find(v.Dialect)
	if err != nil {
		return err
	}
	scanner, err := aside.NewScanner(dialect, &options)
	if err != nil {
		return err
	}
	defer scanner.Close()

	text := bytes.Join(chunks, nil)
	ways := [][][]byte{chunks, {text}, bytes.SplitAfter(text, nil)}
	for i := range text {
		ways = append(ways, [][]byte{text[:i], text[i:]})
	}
	first := ""
	for i, way := range ways {
		got := scan(t, scanner, way...)
		var thoughts []aside.Thought
		for {
			thought, ok, err := scanner.TakeThought()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			thoughts = append(thoughts, thought)
		}
		err := v.judge(got, thoughts)
		if all := got.String(); i == 0 {
			first = all
		} else if err == nil && all != first {
			err = fmt.Errorf("events differ from those of the case's own cuts:\n%s\n%s", first, all)
		}
		if err != nil {
			return fmt.Errorf("%w\n  chunks %q", err, way)
		}
	}
	return nil
}

func TestVectors(t *testing.T) {
	files, err := filepath.Glob("../../tests/vectors/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no vectors", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			in, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			lines := bufio.NewScanner(in)
			lines.Buffer(nil, 1<<24)
			number := 0
			for lines.Scan() {
				number++
				var v vector
				err := strict(lines.Bytes(), &v)
				if err == nil {
					err = v.check(t)
				}
				if err != nil {
					t.Errorf("line %d, %s: %v", number, v.About, err)
				}
			}
			if lines.Err() != nil || number == 0 {
				t.Fatal("no line", lines.Err())
			}
		})
	}
}

// Checks that the runner fails for wrong expectations.
func TestWrongVectorsFail(t *testing.T) {
	for _, line := range []string{
		`{"dialect": "qwen33", "chunks": ["a"]}`,
		`{"dialect": "qwen3", "chunks": ["a"], "contents": "a"}`,
		`{"dialect": "qwen3", "chunks": ["a"], "content": "b"}`,
		`{"dialect": "qwen3", "chunks": ["<think>a"], "thoughts": []}`,
		`{"dialect": "qwen3", "chunks": ["<think>a"], "thoughts": [{"thought": "a", "thought_type": "plan"}]}`,
		`{"dialect": "qwen3", "chunks": ["<think>a"], "causes": ["marker"]}`,
		`{"dialect": "thought-stream", "chunks": ["<thinking a=\"b\">"], "attributes": [["a", "c"]]}`,
		`{"dialect": "qwen3", "chunks_b64": ["YQ=="], "content_b64": "Yg=="}`,
		`{"dialect": "qwen3", "chunks": ["a"], "start": "nowhere"}`,
		`{"dialect": "qwen3"}`,
	} {
		var v vector
		err := strict([]byte(line), &v)
		if err == nil {
			err = v.check(t)
		}
		if err == nil {
			t.Errorf("passes: %s", line)
		}
	}
}
