package aside

// #include "bridge.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// HistoryOptions are the options of [RewriteHistory]. The zero value with a Format changes nothing. All of this is
// unstable: it may change in any version.
type HistoryOptions struct {
	Format  Formats        // the format of the request: FormatChat, FormatResponses or FormatMessages
	Name    HistoryName    // the place for the thinking of an earlier turn
	Dialect *Dialect       // with HistoryNameText, the dialect whose markers are written
	Turns   HistoryTurns   // the turns whose thinking stays
	Missing HistoryMissing // the treatment of an assistant message without thinking
	Made    HistoryMade    // the treatment of blocks and items that a rewriter made and the server did not
	MaxBody uint64         // the length of the longest body that is read, in bytes; 0: 32 MiB
}

// HistoryReport is the report of [RewriteHistory].
type HistoryReport struct {
	Changed     uint64         // messages or items that were changed or removed
	Refused     uint64         // messages or items whose thinking cannot be written into their text
	Unread      uint64         // messages or items whose thinking is signed, encrypted or in an unknown form
	Outcome     HistoryOutcome // whether the body was read, or why it was returned unchanged
	ThinkingOff bool           // thinking was turned off in the request: see HistoryMadeRemove
}

// HistoryFormat returns the format of the requests to a path, with or without a query, and whether the history of these requests is
// rewritten. It may be called at any time. It is unstable.
func HistoryFormat(path string) (Formats, bool) {
	var format C.aside_formats
	status := C.aside_history_format(chars(path), C.size_t(len(path)), &format)
	return Formats(format), status == C.ASIDE_OK
}

// FindHistoryServer returns the options for a built-in server and requests of a format, or nil if they need no change. For
// an unknown server, the error is [ErrUnknown] and lists the known servers. It is unstable.
func FindHistoryServer(name string, format Formats) (*HistoryOptions, error) {
	return historyServer(func(raw *C.aside_history_options) C.aside_status {
		return C.aside_history_server_find(chars(name), C.size_t(len(name)), C.aside_formats(format), raw)
	})
}

// LoadHistoryServer returns the options in the text of a server file (TOML), like [FindHistoryServer] for a built-in server. If the
// file has an error, the error is [ErrDialect] and names the line and the key. It is unstable.
func LoadHistoryServer(toml string, format Formats) (*HistoryOptions, error) {
	return historyServer(func(raw *C.aside_history_options) C.aside_status {
		return C.aside_history_server_load(chars(toml), C.size_t(len(toml)), C.aside_formats(format), raw)
	})
}

func historyServer(fill func(*C.aside_history_options) C.aside_status) (*HistoryOptions, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	raw := C.aside_history_options{size: C.sizeof_aside_history_options}
	switch status := fill(&raw); {
	case status == C.ASIDE_NONE:
		return nil, nil
	case status != C.ASIDE_OK:
		return nil, lastFailure(status)
	}
	options := &HistoryOptions{
		Format:  Formats(raw.format),
		Name:    HistoryName(raw.name),
		Turns:   HistoryTurns(raw.turns),
		Missing: HistoryMissing(raw.missing),
		Made:    HistoryMade(raw.made),
		MaxBody: uint64(raw.max_body),
	}
	if raw.dialect != nil {
		options.Dialect = &Dialect{dialectState: dialectState{raw.dialect}} // built in
	}
	return options, nil
}

// HistoryServers returns the names of the built-in servers, in alphabetical order. It is unstable.
func HistoryServers() []string {
	var names []string
	for {
		var n C.size_t
		name := C.aside_history_server_name_at(C.size_t(len(names)), &n)
		if name == nil {
			return names
		}
		names = append(names, string(borrowed(name, n)))
	}
}

// RewriteHistory returns the body of a request with the thinking of earlier turns where the server reads it. body is the whole
// body. Everything that the options do not name stays unchanged, byte for byte; a body that cannot be read is returned unchanged,
// and the report says why. The sender of the result must set Content-Length again, and any digest or signature of the body.
//
// An impossible option is [ErrOption]. Any number of goroutines may call RewriteHistory at once. It is unstable.
func RewriteHistory(body []byte, options *HistoryOptions) ([]byte, HistoryReport, error) {
	raw := C.aside_history_options{
		size:     C.sizeof_aside_history_options,
		max_body: C.uint64_t(options.MaxBody),
		format:   C.uint32_t(options.Format),
		name:     C.uint32_t(options.Name),
		turns:    C.uint32_t(options.Turns),
		missing:  C.uint32_t(options.Missing),
		made:     C.uint32_t(options.Made),
	}
	if d := options.Dialect; d != nil {
		if err := d.enter(); err != nil {
			return nil, HistoryReport{}, err
		}
		defer d.leave()
		raw.dialect = d.c
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	report := C.aside_history_report{size: C.sizeof_aside_history_report}
	var n C.size_t
	out := C.aside_history_rewrite(&raw, data(body), C.size_t(len(body)), &report, &n)
	if out == nil {
		return nil, HistoryReport{}, lastFailure(C.aside_last_status())
	}
	defer C.aside_free(unsafe.Pointer(out))
	return []byte(string(borrowed(out, n))), HistoryReport{
		Changed:     uint64(report.changed),
		Refused:     uint64(report.refused),
		Unread:      uint64(report.unread),
		Outcome:     HistoryOutcome(report.outcome),
		ThinkingOff: report.thinking_off != 0,
	}, nil
}
