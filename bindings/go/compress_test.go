package aside_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	aside "aside.example/bindings/go"
)

// A log with a middle that repeats and an end that must be kept.
var log4k = []byte(strings.Repeat("the noise\n", 400) + "error: the end.\n")

func compressorOf(t testing.TB, options *aside.CompressorOptions) *aside.Compressor {
	t.Helper()
	c, err := aside.NewCompressor(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func compress(t testing.TB, c *aside.Compressor, call aside.Invocation, parts ...[]byte) ([][]byte, *aside.Report) {
	t.Helper()
	results, report, err := c.Compress(call, parts...)
	if err != nil || len(results) != len(parts) {
		t.Fatal(len(results), err)
	}
	t.Cleanup(func() { report.Close() })
	return results, report
}

func callOf(command string) aside.Invocation {
	input, _ := json.Marshal(map[string]string{"command": command})
	return aside.Invocation{ToolID: "bash", Input: input, Now: time.Unix(1000, 0)}
}

// hostFilter is a filter made of functions.
type hostFilter struct {
	id      string
	tools   []string
	matches func(tool string, input []byte) bool
	apply   func(text, input []byte) ([]byte, error)
}

func (f *hostFilter) ID() string        { return f.id }
func (f *hostFilter) ToolIDs() []string { return f.tools }
func (f *hostFilter) Matches(tool string, input []byte) bool {
	return f.matches == nil || f.matches(tool, input)
}
func (f *hostFilter) Apply(text, input []byte) ([]byte, error) { return f.apply(text, input) }

// half keeps the first half of a text.
func half(text, _ []byte) ([]byte, error) { return text[:len(text)/2], nil }

func TestCompress(t *testing.T) {
	c := compressorOf(t, nil)
	short := []byte("short")
	results, report := compress(t, c, callOf("make"), log4k, nil, short)
	if !bytes.HasPrefix(results[0], []byte("[Output compressed by repeats (4016 → ")) ||
		!bytes.HasSuffix(results[0], []byte("error: the end.\n")) || len(results[0]) > 400 {
		t.Errorf("%s", results[0])
	}
	if results[1] != nil || &results[2][0] != &short[0] {
		t.Error("parts that must stay do not")
	}
	if report.Before != 4021 || report.After >= 400 || len(report.Failed) != 0 || report.Hit != "" || report.CutProtected || report.Unexplained ||
		strings.Join(report.Filters, " ") != "repeats" || len(report.Parts) != 1 {
		t.Errorf("%+v", report)
	}
	part := report.Parts[0]
	at := 0
	for _, s := range part.Stretches {
		if s.Start != at || (s.Change == aside.ChangeKept) != (s.Filter == "") {
			t.Errorf("%+v after %d", s, at)
		}
		at = s.End
		if got, err := report.Slice(part.Part, log4k, s.Start, s.End); err != nil || !bytes.Equal(got, log4k[s.Start:s.End]) {
			t.Error(err)
		}
	}
	if at != part.Len || part.Len != len(log4k) || part.Part != 0 {
		t.Error(at, part.Len)
	}
	for _, c := range []struct {
		part, start, end int
		original         []byte
		want             error
	}{
		{0, 0, 1, short, aside.ErrOriginal},
		{0, 0, len(log4k), append([]byte("T"), log4k[1:]...), aside.ErrOriginal},
		{2, 0, 1, short, aside.ErrOriginal},
		{0, 0, len(log4k) + 1, log4k, aside.ErrRange},
		{0, 2, 1, log4k, aside.ErrRange},
		{0, -1, 1, log4k, aside.ErrRange},
		{-1, 0, 1, log4k, aside.ErrRange},
	} {
		if got, err := report.Slice(c.part, c.original, c.start, c.end); got != nil || !errors.Is(err, c.want) {
			t.Errorf("%d %d %d: %v", c.part, c.start, c.end, err)
		}
	}
	report.Close()
	report.Close()
	if _, err := report.Slice(0, log4k, 0, 1); err != aside.ErrClosed {
		t.Error(err)
	}
}

func TestCompressorOptions(t *testing.T) {
	git, err := os.ReadFile("../../filters/git-status.toml")
	if err != nil {
		t.Fatal(err)
	}
	never := &hostFilter{id: "never", apply: half}
	for name, c := range map[string]struct {
		options aside.CompressorOptions
		want    error
	}{
		"budget":       {aside.CompressorOptions{Budget: 1023}, aside.ErrOption},
		"below 0":      {aside.CompressorOptions{Budget: -1}, aside.ErrOption},
		"last run":     {aside.CompressorOptions{LastRun: -1}, aside.ErrOption},
		"sentence":     {aside.CompressorOptions{SwitchOff: "\xff"}, aside.ErrOption},
		"no filter":    {aside.CompressorOptions{TOML: []string{"=", ""}}, aside.ErrFilter},
		"an empty id":  {aside.CompressorOptions{Filters: []aside.Filter{never, &hostFilter{}}}, aside.ErrOption},
		"a bad id":     {aside.CompressorOptions{Caches: []aside.Cache{&memory{id: "a\n"}}}, aside.ErrOption},
		"a nil filter": {aside.CompressorOptions{Filters: []aside.Filter{nil}}, aside.ErrNull},
		"a nil cache":  {aside.CompressorOptions{Caches: []aside.Cache{nil}}, aside.ErrNull},
	} {
		if made, err := aside.NewCompressor(&c.options); made != nil || !errors.Is(err, c.want) {
			t.Error(name, err)
		}
	}

	bare := compressorOf(t, &aside.CompressorOptions{Bare: true, TOML: []string{string(git)}})
	if results, report := compress(t, bare, callOf("make"), log4k); &results[0][0] != &log4k[0] || report.Filters != nil {
		t.Errorf("%+v", report)
	}
	object := []byte(`{` + strings.Repeat(" ", 2000) + `"a": 1.50}`)
	if results, _ := compress(t, compressorOf(t, nil), callOf("x"), object); &results[0][0] != &object[0] {
		t.Error("a protected text is changed")
	}
	mini := compressorOf(t, &aside.CompressorOptions{MinifyJSON: true, SwitchOff: "Ask me not."})
	if results, _ := compress(t, mini, callOf("x"), object); !strings.HasSuffix(string(results[0]), "Ask me not.]\n{\"a\":1.50}") {
		t.Errorf("%s", results[0])
	}
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, "this is line %d of the output, and no other\n", i*i)
	}
	small := compressorOf(t, &aside.CompressorOptions{Budget: 2048})
	if results, _ := compress(t, small, callOf("x"), []byte(lines.String())); len(results[0]) > 2048 || len(results[0]) < 1024 {
		t.Errorf("%d bytes", len(results[0]))
	}
}

func TestTokenBudget(t *testing.T) {
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "step %d is done\n", i)
	}
	log := []byte(lines.String())
	estimated, _ := compress(t, compressorOf(t, &aside.CompressorOptions{BudgetTokens: 600}), callOf("make"), log)
	if len(estimated[0]) > 3600 {
		t.Errorf("%d bytes", len(estimated[0]))
	}
	asked := 0
	counted := compressorOf(t, &aside.CompressorOptions{BudgetTokens: 600, Count: func(text []byte) (int, error) {
		asked++
		return len(text) / 2, nil
	}})
	if results, report := compress(t, counted, callOf("make"), log); len(results[0]) > 1201 || asked > 8 || report.Failed != nil {
		t.Errorf("%d bytes, asked %d times, %v", len(results[0]), asked, report.Failed)
	}
	broken := errors.New("no tokenizer")
	for name, count := range map[string]func([]byte) (int, error){
		"error":   func([]byte) (int, error) { return 0, broken },
		"panic":   func([]byte) (int, error) { panic(broken) },
		"below 0": func([]byte) (int, error) { return -1, nil },
	} {
		c := compressorOf(t, &aside.CompressorOptions{BudgetTokens: 600, Count: count})
		results, report := compress(t, c, callOf("make"), log)
		if !bytes.Equal(results[0], estimated[0]) || len(report.Failed) != 1 || report.Failed[0].ID != "count" {
			t.Errorf("%s: %d bytes, %v", name, len(results[0]), report.Failed)
		}
	}
	if _, err := aside.NewCompressor(&aside.CompressorOptions{BudgetTokens: 511, Count: func([]byte) (int, error) { return 0, nil }}); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
}

func TestHostFilters(t *testing.T) {
	broken := errors.New("broken")
	seen := ""
	good := &hostFilter{id: "good", tools: []string{"bash"}, apply: func(text, input []byte) ([]byte, error) {
		seen = string(input)
		return half(text, input)
	}, matches: func(tool string, input []byte) bool { return tool == "bash" && strings.Contains(string(input), "make") }}
	fails := &hostFilter{id: "fails", apply: func(_, _ []byte) ([]byte, error) { return nil, broken }}
	panics := &hostFilter{id: "panics", apply: func(text, _ []byte) ([]byte, error) { return text[len(text)+1:], nil }}
	unmatched := &hostFilter{id: "unmatched", apply: half, matches: func(string, []byte) bool { panic(broken) }}
	longer := &hostFilter{id: "longer", apply: func(text, _ []byte) ([]byte, error) { return append(text[:len(text):len(text)], '.'), nil }}
	idle := &hostFilter{id: "idle", apply: func(_, _ []byte) ([]byte, error) { return nil, nil }}
	c := compressorOf(t, &aside.CompressorOptions{Bare: true, Filters: []aside.Filter{fails, panics, unmatched, longer, idle, good}})

	results, report := compress(t, c, aside.Invocation{ToolID: "bash", Input: []byte(`{ "command" : "make" , "a":1}`)}, log4k, log4k)
	if strings.Join(report.Filters, " ") != "good" || seen != `{"a":1,"command":"make"}` {
		t.Errorf("%q %+v", seen, report)
	}
	for _, result := range results {
		if !bytes.HasSuffix(result, append([]byte("\n"), log4k[:len(log4k)/2]...)) {
			t.Errorf("%s", result)
		}
	}
	failed := map[string]error{}
	for _, one := range report.Failed {
		if failed[one.ID] != nil {
			t.Error(one.ID, "failed twice")
		}
		failed[one.ID] = one.Err
	}
	var defect runtime.Error
	if len(failed) != 3 || failed["fails"] != broken || !errors.As(failed["panics"], &defect) ||
		!errors.Is(failed["unmatched"], broken) {
		t.Error(failed)
	}
	if results, report := compress(t, c, callOf("ls"), log4k); &results[0][0] != &log4k[0] || len(report.Failed) != 3 {
		t.Error("a filter of another call is used, or a failure has lasted", report.Failed)
	}
}

// Callbacks cannot use the compressor that called them, but can use a different one.
func TestCallsFromCallbacks(t *testing.T) {
	other := compressorOf(t, nil)
	var c *aside.Compressor
	var stream *aside.ToolStream
	ran := 0
	filter := &hostFilter{id: "calls", apply: func(text, _ []byte) ([]byte, error) {
		ran++
		if _, _, err := c.Compress(callOf("x"), text); !errors.Is(err, aside.ErrBusy) {
			t.Error(err)
		}
		if err := c.Close(); err != aside.ErrBusy {
			t.Error(err)
		}
		if stream != nil {
			if _, err := stream.Write(text); err != aside.ErrBusy {
				t.Error(err)
			}
			if err := stream.Close(); err != aside.ErrBusy {
				t.Error(err)
			}
		}
		results, report, err := other.Compress(callOf("x"), text)
		if err != nil || len(report.Filters) != 1 {
			t.Error(report, err)
			return nil, err
		}
		return results[0][bytes.IndexByte(results[0], '\n')+1:], nil
	}}
	c = compressorOf(t, &aside.CompressorOptions{Bare: true, Filters: []aside.Filter{filter}})
	if _, report := compress(t, c, callOf("x"), log4k); len(report.Filters) != 1 || len(report.Failed) != 0 {
		t.Errorf("%+v", report)
	}
	stream, err := c.NewStream(callOf("x"), 1<<16, new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	stream.Write(log4k)
	if report, err := stream.Finish(); err != nil || len(report.Filters) != 1 {
		t.Error(report, err)
	}
	if ran != 2 {
		t.Error(ran)
	}
}

// memory is a cache of the host.
type memory struct {
	id     string
	lock   sync.Mutex
	hits   map[string]*aside.Hit
	seen   int
	panics string // the method that panics
}

func (m *memory) fail(where string) {
	if m.panics == where {
		panic(where)
	}
}

func (m *memory) ID() string        { return m.id }
func (m *memory) ToolIDs() []string { return []string{"bash"} }
func (m *memory) Observe(string, []byte) {
	m.fail("observe")
	m.lock.Lock()
	defer m.lock.Unlock()
	m.seen++
}

func (m *memory) Lookup(tool string, input []byte) (*aside.Hit, error) {
	m.fail("lookup")
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.hits[tool+string(input)], nil
}

func (m *memory) Record(tool string, input, text []byte, now time.Time) error {
	m.fail("record")
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.hits == nil {
		m.hits = map[string]*aside.Hit{}
	}
	m.hits[tool+string(input)] = &aside.Hit{Text: bytes.Clone(text), Time: now}
	return nil
}

func TestCaches(t *testing.T) {
	own := &memory{id: "own"}
	for name, options := range map[string]*aside.CompressorOptions{
		"own": {Caches: []aside.Cache{own}}, "last-run": {LastRun: 1 << 20},
	} {
		c := compressorOf(t, options)
		if _, report := compress(t, c, callOf("make"), log4k); report.Hit != "" {
			t.Error(report.Hit)
		}
		results, report := compress(t, c, callOf("make"), log4k)
		if report.Hit != name || !strings.HasPrefix(string(results[0]), "Same output as last run (1970-01-01T00:16:40") {
			t.Errorf("%s %s", report.Hit, results[0])
		}
		if _, report := compress(t, c, callOf("make"), log4k[10:]); report.Hit != "" {
			t.Error("a hit of another text")
		}
	}
	if own.seen != 3 {
		t.Error(own.seen)
	}
	// A part is left out if another part has the same text.
	results, _ := compress(t, compressorOf(t, &aside.CompressorOptions{Caches: []aside.Cache{&memory{id: "two", hits: map[string]*aside.Hit{
		`bash{"command":"make"}`: {Text: append(append(bytes.Clone(log4k), '\n'), log4k...)},
	}}}}), callOf("make"), log4k, nil, log4k)
	if len(results[0]) == 0 || results[1] != nil || results[2] != nil {
		t.Errorf("%q", results)
	}
	for _, where := range []string{"observe", "lookup", "record"} {
		c := compressorOf(t, &aside.CompressorOptions{Caches: []aside.Cache{&memory{id: "bad", panics: where}}})
		_, report := compress(t, c, callOf("make"), log4k)
		if len(report.Failed) != 1 || report.Failed[0].ID != "bad" || report.Failed[0].Err.Error() != "panic: "+where {
			t.Error(where, report.Failed)
		}
		if len(report.Filters) != 1 {
			t.Error("the filters did not go on")
		}
	}
}

func TestCompressRefuses(t *testing.T) {
	c := compressorOf(t, nil)
	for _, call := range []aside.Invocation{{ToolID: "a", Input: []byte("{")}, {ToolID: "\xff"}} {
		if _, _, err := c.Compress(call, log4k); !errors.Is(err, aside.ErrOption) {
			t.Error(err)
		}
		if _, err := c.NewStream(call, 1<<16, new(bytes.Buffer)); !errors.Is(err, aside.ErrOption) {
			t.Error(err)
		}
	}
	if _, err := c.NewStream(aside.Invocation{}, 10, new(bytes.Buffer)); !errors.Is(err, aside.ErrOption) {
		t.Error(err)
	}
	if _, err := c.NewStream(aside.Invocation{}, 1<<16, nil); err != aside.ErrNull {
		t.Error(err)
	}
	if results, _ := compress(t, c, aside.Invocation{}); len(results) != 0 {
		t.Error(results)
	}
	if results, _ := compress(t, c, aside.Invocation{}, []byte{}); results[0] == nil {
		t.Error("an empty text is gone")
	}
	c.Close()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Compress(aside.Invocation{}); err != aside.ErrClosed {
		t.Error(err)
	}
	if _, err := c.NewStream(aside.Invocation{}, 1<<16, new(bytes.Buffer)); err != aside.ErrClosed {
		t.Error(err)
	}
}

func TestToolStream(t *testing.T) {
	whole, _ := compress(t, compressorOf(t, nil), callOf("make"), log4k)
	_, expected, _ := bytes.Cut(whole[0], []byte("\n"))
	for _, step := range []int{1, 7, len(log4k)} {
		c := compressorOf(t, nil)
		var out bytes.Buffer
		stream, err := c.NewStream(callOf("make"), 1<<16, &out)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		for at := 0; at < len(log4k); at += step {
			piece := log4k[at:min(at+step, len(log4k))]
			if n, err := stream.Write(piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
		}
		if n, err := stream.Write(nil); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		report, err := stream.Finish()
		if err != nil || !bytes.Equal(out.Bytes(), expected) || strings.Join(report.Filters, "") != "repeats" {
			t.Errorf("%v %q", err, &out)
		}
		if _, err := stream.Write([]byte("a")); !errors.Is(err, aside.ErrOrder) {
			t.Error(err)
		}
		if _, err := stream.Finish(); !errors.Is(err, aside.ErrOrder) {
			t.Error(err)
		}
		stream.Close()
		stream.Close()
		if _, err := stream.Write([]byte("a")); err != aside.ErrClosed {
			t.Error(err)
		}
	}

	var out bytes.Buffer
	small, err := compressorOf(t, &aside.CompressorOptions{Budget: 1024}).NewStream(aside.Invocation{}, 4096, &out)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		small.Write(log4k)
	}
	if _, err := small.Finish(); err != nil || out.Len() > 1024 || !strings.HasSuffix(out.String(), "error: the end.\n") {
		t.Errorf("%v %s", err, &out)
	}

	full := errors.New("full")
	stream, err := compressorOf(t, nil).NewStream(aside.Invocation{}, 4096, failing{full})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = stream.Write([]byte(fmt.Sprintln(time.Now().UnixNano(), "one line of many, unlike the others")))
	}
	if err != full {
		t.Error(err)
	}
	if _, err := stream.Finish(); err != full {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestToolStreamWriterPanics(t *testing.T) {
	c := compressorOf(t, nil)
	call := callOf("make")
	stream, err := c.NewStream(call, 4096, writerFunc(func([]byte) (int, error) { panic("writer") }))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	func() {
		defer func() {
			if said := recover(); said != "writer" {
				t.Error(said)
			}
		}()
		for i := range 1000 {
			fmt.Fprintf(stream, "line %d\n", i)
		}
	}()
	_, failed := io.WriteString(stream, "more\n")
	if report, err := stream.Finish(); failed == nil || err != failed || report != nil {
		t.Error(failed, err)
	}
}

func TestToolStreamWriterCountsWrong(t *testing.T) {
	for _, n := range []int{-1, 1 << 20} {
		stream, err := compressorOf(t, nil).NewStream(callOf("make"), 4096, writerFunc(func([]byte) (int, error) { return n, nil }))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(stream, "line\n")
		if _, err := stream.Finish(); err == nil {
			t.Error(n)
		}
		stream.Close()
	}
}

// session is a writer that refers to its stream.
type session struct{ stream *aside.ToolStream }

func (s *session) Write(p []byte) (int, error) { return len(p), nil }

// Memory of C that nobody refers to any more is freed: that of streams, of reports whose stream's writer has panicked, and of
// filters that could not be added.
func TestNothingIsLeftBehind(t *testing.T) {
	c := compressorOf(t, nil)
	// Many stretches make the report large.
	var text []byte
	for i := range 500 {
		text = append(text, strings.Repeat(fmt.Sprintf("waiting for server %d\n", i), 4)...)
	}
	panics := writerFunc(func([]byte) (int, error) { panic("writer") })
	for name, once := range map[string]func(){
		"a writer that leads to its stream": func() {
			to := &session{}
			var err error
			if to.stream, err = c.NewStream(callOf("make"), 1<<20, to); err != nil {
				t.Fatal(err)
			}
			to.stream.Write(text)
		},
		"a writer that panics": func() {
			stream, err := c.NewStream(callOf("make"), 1<<20, panics)
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			defer func() { recover() }()
			stream.Write(text)
			stream.Finish()
			t.Error("it did not panic")
		},
		"a filter that is nil": func() {
			defer func() { recover() }()
			aside.NewCompressor(&aside.CompressorOptions{Filters: []aside.Filter{(*hostFilter)(nil)}})
			t.Error("it did not panic")
		},
	} {
		const many = 1000
		run := func() {
			for i := range many {
				if once(); i%20 == 0 {
					runtime.GC()
				}
			}
		}
		run() // until memory stops growing
		before := resident(t)
		run()
		if grown := resident(t) - before; grown > many<<14 {
			t.Errorf("%s: %d KiB more after %d", name, grown>>10, many)
		}
	}
}

// Reports may be copied.
func TestReportsAreCopied(t *testing.T) {
	c := compressorOf(t, nil)
	var kept []aside.Report
	for range 20 {
		_, report, err := c.Compress(callOf("make"), log4k)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, *report)
	}
	runtime.GC()
	runtime.GC()
	compress(t, c, callOf("make"), log4k) // reuses memory that was freed
	for i := range kept {
		if got, err := kept[i].Slice(0, log4k, 0, 9); string(got) != "the noise" || err != nil {
			t.Errorf("%q %v", got, err)
		}
	}
	copied := kept[0]
	kept[0].Close()
	if _, err := copied.Slice(0, log4k, 0, 9); err != aside.ErrClosed {
		t.Error(err)
	}
}

// Goexit in a method is forbidden, but the threads of other goroutines must keep running.
func TestGoexitInAFilter(t *testing.T) {
	c := compressorOf(t, &aside.CompressorOptions{Filters: []aside.Filter{
		&hostFilter{id: "exits", tools: []string{"exits"}, apply: func([]byte, []byte) ([]byte, error) {
			runtime.Goexit()
			return nil, nil
		}},
	}})
	var group sync.WaitGroup
	for range 20 {
		group.Add(1)
		go func() {
			defer group.Done()
			c.Compress(aside.Invocation{ToolID: "exits"}, log4k)
			t.Error("it came back")
		}()
	}
	group.Wait()
	for range 200 {
		group.Add(1)
		go func() {
			defer group.Done()
			if _, _, err := c.Compress(callOf("make"), log4k); err != nil {
				t.Error(err)
			}
		}()
	}
	group.Wait()
}

// Filters and caches are released with their compressor, even if the compressor was not closed.
func TestCompressorsAreFreed(t *testing.T) {
	freed := make(chan bool, 2)
	for _, close := range []bool{true, false} {
		func() {
			filter := &hostFilter{id: "half", apply: half}
			runtime.SetFinalizer(filter, func(*hostFilter) { freed <- true })
			c, err := aside.NewCompressor(&aside.CompressorOptions{Filters: []aside.Filter{filter}})
			if err != nil {
				t.Fatal(err)
			}
			if close {
				c.Close()
			}
		}()
	}
	timeout := time.After(20 * time.Second)
	for left := 2; left > 0; {
		runtime.GC()
		select {
		case <-freed:
			left--
		case <-timeout:
			t.Fatal(left, "filters are held")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestCompressInManyGoroutines(t *testing.T) {
	own := &memory{id: "own"}
	c := compressorOf(t, &aside.CompressorOptions{Caches: []aside.Cache{own}, Filters: []aside.Filter{
		&hostFilter{id: "odd", matches: func(_ string, input []byte) bool { return bytes.Contains(input, []byte("1")) },
			apply: func(_, input []byte) ([]byte, error) { return nil, errors.New(string(input)) }},
	}})
	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for turn := range 20 {
				call := callOf(fmt.Sprint(worker%2, " ", 2*turn, " ", worker))
				_, report, err := c.Compress(call, log4k)
				if err != nil {
					t.Error(err)
					return
				}
				odd := strings.Contains(string(call.Input), "1")
				if odd != (len(report.Failed) == 1) || odd && report.Failed[0].Err.Error() != string(call.Input) {
					t.Error(string(call.Input), report.Failed)
				}
			}
		}()
	}
	group.Wait()
}

func TestExitCodeOfAStreamComesLast(t *testing.T) {
	for _, code := range []int{0, 2} {
		var out bytes.Buffer
		stream, err := compressorOf(t, nil).NewStream(aside.Invocation{ToolID: "bash", Input: []byte(`{"command": "pytest"}`)}, 1<<16, &out)
		if err != nil {
			t.Fatal(err)
		}
		stream.Write([]byte("==== 3 passed in 0.1s ====\n"))
		if err := stream.SetExitCode(code); err != nil {
			t.Fatal(err)
		}
		report, err := stream.Finish()
		if err != nil || report.Unexplained != (code == 2) {
			t.Errorf("%d: %v %v", code, report, err)
		}
		if err := stream.SetExitCode(code); !errors.Is(err, aside.ErrOrder) {
			t.Error(err)
		}
		stream.Close()
		if err := stream.SetExitCode(code); err != aside.ErrClosed {
			t.Error(err)
		}
	}
}

func TestTextIsBounded(t *testing.T) {
	text := strings.Repeat("the same line\n", 100_000)
	results, report := compress(t, compressorOf(t, &aside.CompressorOptions{Budget: 2000, Memory: 8192}), aside.Invocation{}, []byte(text))
	if len(results) != 1 || len(results[0]) > 2000 || len(report.Parts) != 0 {
		t.Errorf("%d results, %d parts", len(results), len(report.Parts))
	}
}

// The errors of compressors, streams and reports that are nil or that no function has made.
func TestResultsThatAreNotThere(t *testing.T) {
	const none, zero = "aside: the object is nil", "aside: the object is a zero value: make it with the function New of its type"
	compress := func(c *aside.Compressor) error { _, _, err := c.Compress(callOf("make")); return err }
	begin := func(c *aside.Compressor) error {
		_, err := c.NewStream(callOf("make"), 1<<16, new(bytes.Buffer))
		return err
	}
	write := func(s *aside.ToolStream) error { _, err := s.Write([]byte("a")); return err }
	finish := func(s *aside.ToolStream) error { _, err := s.Finish(); return err }
	slice := func(r *aside.Report) error { _, err := r.Slice(0, log4k, 0, 1); return err }
	for _, test := range []struct {
		err  error
		text string
	}{
		{compress(nil), none},
		{begin(nil), none},
		{(*aside.Compressor)(nil).Close(), none},
		{write(nil), none},
		{finish(nil), none},
		{(*aside.ToolStream)(nil).SetExitCode(1), none},
		{(*aside.ToolStream)(nil).Close(), none},
		{slice(nil), none},
		{(*aside.Report)(nil).Close(), none},
		{compress(&aside.Compressor{}), zero},
		{begin(&aside.Compressor{}), zero},
		{write(&aside.ToolStream{}), zero},
		{finish(&aside.ToolStream{}), zero},
		{new(aside.ToolStream).SetExitCode(1), zero},
		{slice(&aside.Report{}), "aside: the report is a zero value: Compress and Finish return one"},
	} {
		if !errors.Is(test.err, aside.ErrNull) || test.err.Error() != test.text {
			t.Errorf("%v, and not %s", test.err, test.text)
		}
	}
	if err := errors.Join(new(aside.Compressor).Close(), new(aside.ToolStream).Close(), new(aside.Report).Close()); err != nil {
		t.Error(err)
	}
}
