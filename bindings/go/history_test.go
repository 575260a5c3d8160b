package aside_test

import (
	"errors"
	"slices"
	"testing"

	aside "aside.example/bindings/go"
)

func TestHistoryGoesUnderTheNameThatTheServerReads(t *testing.T) {
	format, ok := aside.HistoryFormat("/v1/chat/completions?x")
	if !ok || format != aside.FormatChat {
		t.Fatal(format, ok)
	}
	if format, ok := aside.HistoryFormat("/v1/models"); ok {
		t.Error(format)
	}
	body := []byte(`{"messages":[{"role":"assistant","content":"b","reasoning_content":"a"}]}`)
	for server, wanted := range map[string]string{
		"vllm":    `{"messages":[{"role":"assistant","content":"b","reasoning":"a"}]}`,
		"sglang":  string(body),
		"minimax": `{"messages":[{"role":"assistant","content":"<think>\na\n</think>\n\nb"}]}`,
	} {
		options, err := aside.FindHistoryServer(server, format)
		if err != nil {
			t.Fatal(err)
		}
		got, report, err := aside.RewriteHistory(body, options)
		if err != nil || string(got) != wanted || report.Outcome != aside.HistoryOutcomeRead {
			t.Errorf("%s: %s, %+v, %v", server, got, report, err)
		}
		if (report.Changed == 1) != (wanted != string(body)) {
			t.Errorf("%s: %+v", server, report)
		}
	}
	if names := aside.HistoryServers(); !slices.Contains(names, "deepseek") || !slices.IsSorted(names) {
		t.Error(names)
	}
}

func TestHistoryOptions(t *testing.T) {
	dialect, err := aside.Load("name = \"mine\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"[t]\"]\nclose = [\"[/t]\"]\n")
	if err != nil {
		t.Fatal(err)
	}
	options := &aside.HistoryOptions{Format: aside.FormatMessages, Name: aside.HistoryNameText, Dialect: dialect}
	body := []byte(`{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"text","text":"b"}]}]}`)
	got, report, err := aside.RewriteHistory(body, options)
	if err != nil || string(got) != `{"messages":[{"role":"assistant","content":[{"type":"text","text":"[t]a[/t]b"}]}]}` || report.Changed != 1 {
		t.Error(string(got), report, err)
	}
	dialect.Close()
	if _, _, err := aside.RewriteHistory(body, options); !errors.Is(err, aside.ErrClosed) {
		t.Error(err)
	}
	options.Dialect = nil
	if _, _, err := aside.RewriteHistory(body, options); err == nil {
		t.Error("there is no dialect")
	}
	options.Name, options.Turns = aside.HistoryNameAsIs, 9
	if _, _, err := aside.RewriteHistory(body, options); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
	options.Turns, options.MaxBody = aside.HistoryTurnsNone, 10
	got, report, err = aside.RewriteHistory(body, options)
	if err != nil || string(got) != string(body) || report.Outcome != aside.HistoryOutcomeTooLong {
		t.Error(string(got), report, err)
	}
	got, report, err = aside.RewriteHistory(nil, options)
	if err != nil || len(got) != 0 || report.Outcome != aside.HistoryOutcomeNotRequest {
		t.Error(string(got), report, err)
	}
}

func TestHistoryServerFiles(t *testing.T) {
	file := "name = \"mine\"\n[chat]\nname = \"thinking\"\nmissing = \"empty\"\nsources = []\n"
	options, err := aside.LoadHistoryServer(file, aside.FormatChat)
	if err != nil || options.Name != aside.HistoryNameThinking || options.Missing != aside.HistoryMissingEmpty {
		t.Error(options, err)
	}
	if options, err := aside.LoadHistoryServer(file, aside.FormatMessages); options != nil || err != nil {
		t.Error(options, err)
	}
	if _, err := aside.LoadHistoryServer("name = 3", aside.FormatChat); !errors.Is(err, aside.ErrDialect) {
		t.Error(err)
	}
	if _, err := aside.FindHistoryServer("vlm", aside.FormatChat); !errors.Is(err, aside.ErrUnknown) {
		t.Error(err)
	}
	if _, err := aside.FindHistoryServer("vllm", aside.FormatOllama); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
}
