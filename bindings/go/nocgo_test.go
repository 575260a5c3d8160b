package aside_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// Without cgo the build stops with one error, which says what to install.
func TestWithoutCgo(t *testing.T) {
	build := exec.Command("go", "build", ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	if err == nil || bytes.Count(said, []byte(".go:")) != 1 || !bytes.Contains(said, []byte("import_aside_example_bindings_go_wasm")) {
		t.Errorf("%v: %s", err, said)
	}
}
