package asidehttp

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"strings"

	aside "aside.example/bindings/go"
)

// mostHeld is the largest number of bytes of a request that are held to rewrite its history. A longer request is forwarded
// unchanged.
const mostHeld = 32 << 20

// History describes the history that the server reads in a request, by the request's format. Requests of other formats need no
// change.
type History map[aside.Formats]*aside.HistoryOptions

// FindHistory returns the history of a built-in server, one of [aside.HistoryServers].
func FindHistory(server string) (History, error) {
	h := History{}
	for _, format := range []aside.Formats{aside.FormatChat, aside.FormatResponses, aside.FormatMessages} {
		options, err := aside.FindHistoryServer(server, format)
		if err != nil {
			return nil, err
		}
		if options != nil {
			h[format] = options
		}
	}
	return h, nil
}

// joined is a body whose beginning has already been read.
type joined struct {
	io.Reader
	io.Closer
}

// rewrite puts the thinking of earlier turns where the server reads it. It holds the whole body, and sets the length of the new
// one. r must be a copy of the request: its header is replaced.
func (h History) rewrite(r *http.Request) error {
	format, ok := aside.HistoryFormat(r.URL.EscapedPath())
	options := h[format]
	encoding := strings.TrimSpace(strings.Join(r.Header.Values("Content-Encoding"), ", "))
	if !ok || options == nil || r.Method != http.MethodPost || encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, mostHeld+1))
	if err != nil {
		return err
	}
	if len(body) > mostHeld {
		log.Print("a request is too long: its history has passed as it came")
		r.Body = joined{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		return nil
	}
	out, report, err := aside.RewriteHistory(body, options)
	switch {
	case err != nil:
		return err
	case report.Outcome != aside.HistoryOutcomeRead:
		log.Printf("the history of a request has passed as it came: %s", report.Outcome)
	case report.Refused > 0:
		log.Printf("the thinking of %d messages cannot be written into their text", report.Refused)
	}
	r.Body = joined{bytes.NewReader(out), r.Body}
	r.ContentLength, r.TransferEncoding = int64(len(out)), nil
	r.Header = r.Header.Clone()
	r.Header.Del("Content-Length") // the transport writes it
	if !bytes.Equal(out, body) {
		// These headers describe the client's body, not the rewritten one.
		for _, name := range []string{"Content-MD5", "Digest", "Content-Digest", "Repr-Digest"} {
			r.Header.Del(name)
		}
	}
	return nil
}
