package aside_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Runs the programs of the READMEs and of docs/gate.md, complete or as the body of main, verbatim in a separate module.
func TestReadmes(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, section, stdout, stderr string }{
		{"README.md", "# aside for Go", "It is 42.\n", "Twice 21."},
		{"README.md", "## Tool calls", "content: Adding.\nadd {\"a\": 40} is whole: true\n", ""},
		{"../../docs/start.md", "### Go", "It is 42.\n", "Twice 21."},
		{"../../docs/gate.md", "## The request", "Accept-Encoding: identity\nQwen/Qwen3-8B true\ntrue 2 4 <nil>\n", ""},
	} {
		t.Run(c.section, func(t *testing.T) {
			readme, err := os.ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			_, section, found := strings.Cut("\n"+string(readme), "\n"+c.section+"\n")
			_, rest, begins := strings.Cut(section, "```go\n")
			program, _, ends := strings.Cut(rest, "```\n")
			if !found || !begins || !ends {
				t.Fatal("no program in", c.file)
			}
			if !strings.HasPrefix(program, "package main\n") {
				program = "package main\n\nimport (\n\"io\"\n\"log\"\n\"os\"\naside \"aside.example/bindings/go\"\n)\n" +
					"func main() {\n" + program + "if err != nil { log.Fatal(err) }\n}\n"
			}
			dir := t.TempDir()
			files := map[string]string{
				"main.go": program,
				"go.mod": "module example\n\ngo 1.23\n\nrequire aside.example/bindings/go v0.0.0\n" +
					"replace aside.example/bindings/go => " + here + "\n",
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run := exec.Command("go", "run", "-tags", tags, ".")
			run.Dir = dir
			run.Stdin = strings.NewReader("<think>\nTwice 21.\n</think>\n\nIt is 42.\n")
			var stdout, stderr bytes.Buffer
			run.Stdout, run.Stderr = &stdout, &stderr
			if err := run.Run(); err != nil || stdout.String() != c.stdout || stderr.String() != c.stderr {
				t.Errorf("%v\n%q\n%s", err, &stdout, &stderr)
			}
		})
	}
}
