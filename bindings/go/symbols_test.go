package aside_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Functions of the C interface that a Go program does not need, with the reason.
var notInGo = map[string]string{
	"aside_abi_version":      "the linker compares versions",
	"aside_dialect_grammar":  "for the languages of engines: docs/bindings.md",
	"aside_scanner_consumed": "for feeds with a callback; aside_event_array has it",
}

// The binding uses every exported function. If two differ by callback and array, it uses the one with the array.
func TestTheInterfaceIsCovered(t *testing.T) {
	list, err := os.ReadFile("../../include/aside.symbols")
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	call := regexp.MustCompile(`\b(aside_\w+)\(`)
	for _, file := range append(sources, "bridge.h", "compress.c") {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range call.FindAllStringSubmatch(string(source), -1) {
			used[found[1]] = used[found[1]] || !strings.HasSuffix(file, "_test.go")
		}
	}
	symbols := strings.Fields(string(list))
	if len(symbols) < 40 {
		t.Fatal(symbols)
	}
	for _, symbol := range symbols {
		_, left := notInGo[symbol]
		if strings.HasPrefix(symbol, "aside_version_") { // ASIDE_VERSION_SYMBOL calls the newest one
			continue
		}
		if has := used[symbol] || used[symbol+"_into"]; has == left {
			t.Errorf("%s: used %v, left out %v", symbol, has, left)
		}
	}
}
