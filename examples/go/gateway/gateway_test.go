package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	aside "aside.example/bindings/go"
)

func TestNamesOfFormats(t *testing.T) {
	for names, want := range map[string]aside.Formats{
		"all": aside.FormatAll, "chat": 1, "completions,responses": 6, "messages,ollama,chat": 25, "": 0, "chat,": 0, "Chat": 0, "gemini": 0,
	} {
		if got, err := formats(names); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d, %v", names, got, err)
		}
	}
}

// The server must not wait forever for a client that sends half a header or no further request, but must wait for a long answer.
func TestServerDoesNotWaitWithoutEnd(t *testing.T) {
	const short = 200 * time.Millisecond
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 2)
		_, err := io.ReadFull(r.Body, body)
		time.Sleep(3 * short)
		fmt.Fprintf(w, "%s %v", body, err)
	})
	server := newServer(handler)
	if server.ReadHeaderTimeout <= 0 || server.IdleTimeout <= 0 {
		t.Fatal("no limit")
	}
	server.ReadHeaderTimeout, server.IdleTimeout = short, short // the same limits, but shorter
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })

	for _, c := range []struct{ sent, later, answer string }{
		{sent: "POST / HTTP/1.1\r\nHost: a\r\nX-Half: "},
		{sent: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na", later: "b", answer: "ab <nil>"},
		{sent: "GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + strings.Repeat("x", 1<<17) + "\r\n\r\n", answer: "431"},
	} {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		connection.SetDeadline(time.Now().Add(10 * time.Second))
		io.WriteString(connection, c.sent)
		if c.later != "" {
			time.Sleep(2 * short)
			io.WriteString(connection, c.later)
		}
		// The server closes the connection after the time for the header, or after an answer, when the connection has been idle.
		got, err := io.ReadAll(connection)
		if c.answer != "431" && err != nil || !strings.Contains(string(got), c.answer) {
			t.Errorf("%.60q: %q, %v", c.sent, got, err)
		}
		connection.Close()
	}
}
