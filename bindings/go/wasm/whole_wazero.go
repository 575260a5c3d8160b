package aside

import (
	"fmt"
	"unicode/utf8"
)

func (d *Dialect) strip(text string) (string, error) { return d.whole("text_strip", text) }

func (d *Dialect) escape(text string) (string, error) { return d.whole("text_escape", text) }

func (d *Dialect) join(thinking, content string, o *JoinOptions) (string, error) {
	start := ""
	if o.Start != StartDefault {
		start = o.Start.String()
	}
	texts := []string{thinking, content, o.Markers.String(), start}
	for i, call := range o.Calls {
		if !utf8.ValidString(call.Name + call.Arguments + call.ID) {
			return "", &failure{ErrOption, fmt.Sprintf("call %d has a text that is not UTF-8", i)}
		}
		texts = append(texts, call.Name, call.Arguments, call.ID)
	}
	return d.whole("text_join", texts...)
}

// whole returns the text that a function makes from its arguments.
func (d *Dialect) whole(name string, texts ...string) (made string, err error) {
	dialect, err := d.in()
	if err != nil {
		return "", err
	}
	_, err = dialect.run(name, nil, texts, func(out *reader) { made = string(out.bytes) })
	return made, err
}

func wants(exchange *Exchange) (body Body, is bool) {
	e, err := instance()
	if err != nil {
		return BodyUnknown, false
	}
	texts := []string{exchange.Path, exchange.ContentType, exchange.ContentEncoding, exchange.Formats.words()}
	e.run("gate_wants", []uint64{uint64(max(exchange.Status, 0))}, texts, func(out *reader) {
		if is = out.flag(); is {
			word := out.string()
			for body.String() != word && body <= BodyLines {
				body++
			}
		}
	})
	return body, is
}

func requestHint(exchange *Exchange) (Hint, bool) {
	e, err := instance()
	if err != nil {
		return 0, false
	}
	texts := []string{exchange.Path, exchange.Method, exchange.Formats.words()}
	if result, err := e.run("gate_hint", nil, texts, nil); err != nil || result == 0 {
		return 0, false
	}
	return HintIdentity, true
}

func requestModel(body []byte) (model string, known bool) {
	e, err := instance()
	if err != nil {
		return "", false
	}
	result, err := e.run("gate_model", nil, []string{text(body)}, func(out *reader) { model = out.optional() })
	return model, err == nil && result == 0
}

func readRequest(exchange *Exchange, body []byte) Request {
	request := Request{Tools: []byte("[]")}
	e, err := instance()
	if err != nil {
		return request
	}
	var thinking, tools string
	thinks, err := e.run("gate_request", nil, []string{exchange.Path, text(body)}, func(out *reader) {
		thinking, tools = out.optional(), out.optional()
	})
	if err != nil {
		return request
	}
	request.Thinks, request.Tools = Thinks(thinks), []byte(tools)
	if thinking == ThinkingDrop.String() {
		request.Thinking = ThinkingDrop
	}
	return request
}
