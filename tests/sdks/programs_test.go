// Package sdks tests the project's gateway, its proxy, and Envoy and nginx with aside, with widely used client packages. The test's
// own server, the gateway and the client are three processes that use real sockets.
package sdks

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	// packages is the folder where scripts/test-sdks has installed the clients' packages.
	packages = os.Getenv("ASIDE_CLIENTS")
	modules  = filepath.Join(packages, "node_modules")
	python   = filepath.Join(packages, "python/bin/python")
	// long is true if all cuts are tested, and not only one.
	long = os.Getenv("ASIDE_LONG") != ""
	// host is envoy or nginx if this host is tested instead of the gateway.
	host = os.Getenv("ASIDE_HOST")
)

// built is the folder of the built programs.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "sdks"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(built)
	os.Exit(status)
}

// build builds the program of a folder, unless an earlier test has built it, and returns its path.
func build(t *testing.T, folder string, flags ...string) string {
	t.Helper()
	program := filepath.Join(built, filepath.Base(folder))
	if _, err := os.Stat(program); err == nil {
		return program
	}
	command := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", program}, flags...), ".")...)
	command.Dir = folder
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return program
}

// startGateway runs the gateway as its users do, or `aside proxy` if ASIDE_PROGRAM names the program, and returns its URL. Both
// have the same flags. Envoy and nginx have no flags.
func startGateway(t *testing.T, upstream string, flags ...string) string {
	t.Helper()
	arguments := append([]string{"-listen", "127.0.0.1:0", "-upstream", upstream, "-dialect", "qwen3"}, flags...)
	program := os.Getenv("ASIDE_PROGRAM")
	if host != "" {
		program = "python3"
		arguments = []string{"../../hosts/start.py", host, os.Getenv("ASIDE_HOSTS"), upstream[strings.LastIndex(upstream, ":")+1:]}
	} else if program == "" {
		program = build(t, "../../examples/go/gateway", "-tags", os.Getenv("ASIDE_TAGS"))
	} else {
		for i, argument := range arguments {
			if strings.HasPrefix(argument, "-") {
				arguments[i] = "-" + argument
			}
		}
		arguments = append([]string{"proxy"}, arguments...)
	}
	gateway := exec.Command(program, arguments...)
	stderr, err := gateway.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := gateway.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if host == "" {
			gateway.Process.Kill()
		}
		gateway.Wait()
	})
	lines := bufio.NewScanner(stderr)
	if !lines.Scan() {
		t.Fatal("the gateway says nothing")
	}
	_, address, found := strings.Cut(lines.Text(), "listening on ")
	if !found {
		var entry struct{ Address string }
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil || entry.Address == "" {
			t.Fatal(lines.Text())
		}
		go io.Copy(io.Discard, stderr) // a log line for each exchange
		return "http://" + entry.Address
	}
	go io.Copy(os.Stderr, stderr)
	return "http://" + address
}

// request is a request that a client must send.
type request struct {
	URL    string `json:"url"`
	Format string `json:"format"`
	Stream bool   `json:"stream"`
	Tools  []tool `json:"tools"`
}

type tool struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
	Namespace  string          `json:"namespace,omitempty"` // of Responses
}

// seen is a client's result.
type seen struct {
	Order    []string
	Thinking string
	Content  string
	Calls    []call
	Reason   string
}

func (s seen) String() string {
	var line strings.Builder
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(line.String())
}

// call is the name of a call and its arguments.
type call [2]any

// reply is a client's answer to a request: the result of the pieces and the object that its package makes from them, or the error
// that ended the request.
type reply struct {
	Streamed, Final *seen
	Error           string
}

// client is a running client of one package.
type client struct {
	in  io.Writer
	out *bufio.Reader
}

// startClient runs a client, or skips the test if its package is not installed.
func startClient(t *testing.T, needs string, command ...string) *client {
	t.Helper()
	if _, err := os.Stat(needs); err != nil {
		t.Skip("the package is not installed: ", err)
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skip(err)
	}
	process := exec.Command(command[0], command[1:]...)
	process.Env = append(os.Environ(), "NODE_PATH="+modules)
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := process.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &client{in, bufio.NewReader(out)}
}

// ask sends a request to a client and returns its reply.
func (c *client) ask(t *testing.T, asked request) reply {
	t.Helper()
	if err := json.NewEncoder(c.in).Encode(asked); err != nil {
		t.Fatal(err)
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		t.Fatal("the client has ended: ", err)
	}
	var said reply
	if err := json.Unmarshal(line, &said); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return said
}
