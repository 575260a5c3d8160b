//! Rewrites event streams and bodies. No cut may change a byte of the output, and what is not to be split must come out as
//! it came. Of what a server might have sent, clients must see what the reference says of the text, and its calls where they
//! are wanted.
//!
//! Input: the dialect's name and a newline; the start; the options; how many lengths of chunks, and these; then the stream
//! as it is, or how it is made.

use std::sync::LazyLock;

use aside::Dialect;
use aside::sse::{Body, Field, Formats, Options, ResponsesAs, Rewriter};
use serde_json::Value;
use support::{Pair, client};

use super::scanner::pair;
use super::{Input, cut};

/// Its marker is in no stream that is held against it.
static FOREIGN: LazyLock<Dialect> = LazyLock::new(|| {
    let file = "name = \"foreign\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"\\u007F<\"]\nclose = [\"\\u007F>\"]\n";
    Dialect::load(file).unwrap()
});

pub fn run(data: &[u8]) {
    let mut input = Input { rest: data };
    let pair = pair(input.until(b'\n'));
    let starts = pair.reference.starts();
    let start = starts[input.below(starts.len())];
    let choices = input.byte();
    let field = [Field::ReasoningContent, Field::Reasoning, Field::Thinking][choices as usize % 3];
    let start_at = start.parse::<aside::Start>().unwrap();
    let wants_calls = choices >> 3 & 1 == 1;
    // Clients of calls read this field.
    let field = if wants_calls { Field::ReasoningContent } else { field };
    let options = Options::new().start(start_at).field(field).calls(wants_calls);
    let told = |text: &str, is_body| {
        let scanner = aside::ScannerOptions::new().start(start_at);
        support::told::told(pair, &scanner, None, text.as_bytes(), is_body)
    };
    let lengths = input.lengths();
    match choices >> 6 {
        0 | 1 => {
            let body = [Body::Unknown, Body::Events, Body::Json, Body::Lines][usize::from(choices >> 4 & 3)];
            let max_event = (choices >> 6 == 1).then(|| 4 * usize::from(input.byte()));
            let (formats, others) = (input.byte(), input.byte());
            let is = |bit: u8| others >> bit & 1 == 1;
            let options = options
                .body(body)
                .max_event(max_event)
                .formats(Formats::from_bits(u32::from(formats & 31)).unwrap_or_default())
                .responses_as(if is(0) { ResponsesAs::Summary } else { ResponsesAs::ReasoningText })
                .promote_empty(is(1))
                .merge(is(2));
            raw(&pair.library, &options, is(3), is(1), input.rest, lengths);
        }
        2 => {
            let stream = stream(&mut input, choices);
            let out = same(&pair.library, &options, stream.as_bytes(), lengths);
            let out = std::str::from_utf8(&out).unwrap();
            if !wants_calls {
                return client::check(pair, Some(start), field.name(), &stream, out);
            }
            let sent = support::told::client(&stream);
            for (index, said) in support::told::client(out) {
                told(&sent[&index].content, false).check(&said, &stream);
            }
        }
        _ => {
            let texts = [input.until(0), input.rest].map(String::from_utf8_lossy);
            let choice = |(index, text): (usize, &str)| {
                let content = string(text, choices & 4 != 0);
                let message = format!("{{\"role\":\"assistant\",\"content\":{content},\"refusal\":null}}");
                format!("{{\"index\":{index},\"message\":{message},\"finish_reason\":\"stop\"}}")
            };
            let all = [choice((0, &texts[0])), choice((1, &texts[1]))];
            let body = format!("{{\"id\":\"c\",\"choices\":[{}], \"n\":1.50}}\n", all.join(","));
            let out = same(&pair.library, &options, body.as_bytes(), lengths);
            if !wants_calls {
                return is_split(pair, start, field.name(), &texts.map(|text| text.into_owned()), &body, &out);
            }
            let said = support::told::client(std::str::from_utf8(&out).unwrap());
            for (index, text) in texts.iter().enumerate() {
                told(text, true).check(&said[&(index as u64)], &body);
            }
        }
    }
}

/// What becomes of a stream, checked to be the same however it is cut, and of a rewriter that was used before.
fn same(dialect: &Dialect, options: &Options, stream: &[u8], lengths: &[u8]) -> Vec<u8> {
    let mut rewriter = Rewriter::new(dialect, options).unwrap();
    let mut run = |chunks: &[&[u8]]| {
        let mut out = Vec::new();
        rewriter.reset();
        for chunk in chunks {
            rewriter.feed(chunk, &mut out).unwrap();
        }
        rewriter.finish(&mut out).unwrap();
        (out, rewriter.stats().too_long)
    };
    let whole = run(&[stream]);
    let mut ways = vec![cut(stream, lengths)];
    // Of a long one this takes most of the time, and finds what a short one does.
    if stream.len() < 1500 {
        ways.push(support::bytes(stream));
    }
    for chunks in ways {
        let got = run(&chunks);
        assert!(
            got == whole,
            "{} gives {} ({} too long), not {} ({})",
            support::shown(&chunks),
            got.0.escape_ascii(),
            got.1,
            whole.0.escape_ascii(),
            whole.1
        );
    }
    whole.0
}

fn raw(dialect: &Dialect, options: &Options, repairs: bool, promotes: bool, stream: &[u8], lengths: &[u8]) {
    let options = options.clone().repair(repairs);
    let out = same(dialect, &options, stream, lengths);
    assert!(out.len() <= 64 * stream.len() + 4096, "{} bytes of {}", out.len(), stream.escape_ascii());
    let off = options.clone().off(true);
    assert_eq!(same(dialect, &off, stream, lengths), stream);
    // Half a character is held back, and an escape may be a marker's. Thinking of the server's own may be promoted.
    let escapes = stream.windows(2).any(|pair| pair == b"\\u");
    if std::str::from_utf8(stream).is_err() || stream.contains(&0x7F) || escapes || promotes {
        return;
    }
    let options = options.start(None);
    let out = same(&FOREIGN, &options, stream, lengths);
    if !repairs {
        return is_as_it_came(&out, stream);
    }
    // Splitting comes after mending, and what is mended stays so, if no event is too long now that was not.
    let options = options.max_event(None);
    let out = same(&FOREIGN, &options, stream, lengths);
    is_as_it_came(&same(&FOREIGN, &options.clone().repair(false), &out, lengths), &out);
    is_as_it_came(&same(&FOREIGN, &options, &out, lengths), &out);
}

/// Nothing was changed. In Messages and Responses, a start may wait until its text has come, and an event of another kind go before
/// it: in Messages out of the same event too, so that only the data is compared.
fn is_as_it_came(out: &[u8], stream: &[u8]) {
    let has = |word: &[u8]| stream.windows(word.len()).any(|part| part == word);
    let lines = |text: &[u8]| {
        let data = text.split(|byte| matches!(byte, b'\r' | b'\n')).filter(|line| line.starts_with(b"data"));
        let mut lines: Vec<Vec<u8>> = data.map(<[u8]>::to_vec).collect();
        lines.sort_unstable();
        lines
    };
    let may_move = has(b"content_block_start") || has(b"response.");
    let same = if may_move { lines(out) == lines(stream) } else { out == stream };
    assert!(same, "{}\nis not\n{}", out.escape_ascii(), stream.escape_ascii());
}

/// A JSON string, with all of it in escapes where that is wanted.
fn string(text: &str, escaped: bool) -> String {
    if !escaped {
        return Value::from(text).to_string();
    }
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{units}\"")
}

/// A stream of up to three choices in turn, with what else servers send between their chunks.
fn stream(input: &mut Input<'_>, choices: u8) -> String {
    let end = ["\n", "\r\n", "\r", "\n"][usize::from(choices >> 4 & 3)];
    let mut out = String::new();
    let mut finished = [false; 3];
    for number in 0..200 {
        if input.rest.is_empty() {
            break;
        }
        let call = input.byte();
        let index = usize::from(call & 3);
        if index == 3 {
            let others =
                [": ping", "event: ping\ndata: {\"choices\":null}", "data: not JSON", "id: 7", "retry: 5\ndata"];
            out += &others[usize::from(call >> 2) % others.len()].replace('\n', end);
            out += end;
            out += end;
            continue;
        }
        let len = input.below(48);
        let text = String::from_utf8_lossy(input.bytes(len));
        if finished[index] {
            continue;
        }
        let is = |bit: u8| call >> bit & 1 == 1;
        let mut delta = vec![format!("\"content\":{}", string(&text, is(4)))];
        if text.is_empty() && is(5) {
            delta = vec!["\"content\":null".to_owned()];
        } else if is(5) {
            delta.push("\"reasoning_content\": \"\"".to_owned());
        }
        if is(2) {
            delta.insert(usize::from(is(6)).min(delta.len()), "\"role\":\"assistant\"".to_owned());
        }
        finished[index] = is(3) && is(7);
        let reason = if finished[index] { "\"stop\"" } else { "null" };
        let choice = format!(
            "{{\"index\":{index},\"delta\":{{{}}},\"finish_reason\":{reason}}}",
            delta.join(if is(6) { " ,\t" } else { "," })
        );
        let usage = if is(6) { ",\"usage\":{\"total_tokens\":1e2}" } else { "" };
        out += &format!("data: {{\"id\":\"c\",\"choices\":[{choice}]{usage},\"number\":{number}}}{end}{end}");
    }
    if choices & 4 != 0 {
        out += &format!("data: [DONE]{end}{end}");
    }
    out
}

/// The body has the thinking of its texts in the field, the rest in the content, and all else as it was.
fn is_split(pair: &Pair, start: &str, field: &str, texts: &[String; 2], body: &str, out: &[u8]) {
    let (before, mut after): (Value, Value) =
        (serde_json::from_str(body).unwrap(), serde_json::from_slice(out).unwrap());
    for (index, text) in texts.iter().enumerate() {
        let message = after["choices"][index]["message"].as_object_mut().unwrap();
        let runs = client::split(pair, text, Some(start), 0);
        let part = |reasoning| runs.iter().filter(|run| run.0 == reasoning).map(|run| &run.1[..]).collect::<String>();
        let thinking = message.remove(field).map(|value| value.as_str().unwrap().to_owned());
        assert_eq!(thinking.unwrap_or_default(), part(true), "{body}");
        let content = message.insert("content".to_owned(), text.as_str().into()).unwrap();
        assert_eq!(content.as_str().unwrap(), part(false), "{body}");
    }
    assert_eq!(before, after);
}
