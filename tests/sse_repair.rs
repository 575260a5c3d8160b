//! Mends event streams: the output must be that of a plain reference, written here for whole texts, byte for byte and at every
//! cut. Splitting comes after mending.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use aside::Dialect;
use aside::sse::{Body, Formats, Options, Rewriter};
use samples::Random;
use serde_json::{Map, Value};
use support::rewriting::rewrite_bytes;

// ----------------------------------------------------------------------------------------------------------- the reference

/// The parts of a stream that have been seen.
#[derive(Default)]
struct Seen {
    /// Neither chunks nor blocks are mended.
    keeps_shapes: bool,
    over: bool,
    id: Option<String>,
    /// The choices that have had a call, and whether it was in `tool_calls`.
    called: Vec<(u64, bool)>,
    /// The block that is open, by its index in the stream, and those that were; how many there have been.
    open: Option<(u64, u64)>,
    /// Whether it is one of thinking, if it is of that or text.
    thinks: Option<bool>,
    closed: Vec<(u64, u64)>,
    blocks: u64,
}

fn object(text: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// Returns the lines of a stream, of which the last one has no end.
fn lines(stream: &str) -> Vec<String> {
    let text = stream.strip_prefix('\u{FEFF}').unwrap_or(stream);
    text.replace("\r\n", "\n").replace('\r', "\n").split('\n').map(ToOwned::to_owned).collect()
}

/// Returns the value of a line, if it has the field of this name.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(rest);
    }
    let value = rest.strip_prefix(':')?;
    Some(value.strip_prefix(' ').unwrap_or(value))
}

/// Returns the text with another value of the object's own `id`.
fn with_id(text: &str, id: &str) -> String {
    let (mut depth, mut inside, mut escaped) = (0, false, false);
    let mut string = 0;
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' if inside => {
                inside = false;
                let value = text[at + 1..].trim_start();
                if depth == 1 && &text[string..=at] == "\"id\"" && value.starts_with(':') {
                    let value = value[1..].trim_start();
                    let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
                    values.next().unwrap().unwrap();
                    let start = text.len() - value.len();
                    return format!("{}{id}{}", &text[..start], &value[values.byte_offset()..]);
                }
            }
            '"' => (inside, string) = (true, at),
            _ if inside => {}
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    unreachable!("it has an id: {text}")
}

/// Returns the members of an object: each key, the whole member, and its value.
fn members(object: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    let mut rest = object.trim().strip_prefix('{').unwrap().trim_start();
    while !rest.starts_with('}') {
        let mut keys = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let key = keys.next().unwrap().unwrap();
        let after = rest[keys.byte_offset()..].trim_start()[1..].trim_start();
        let mut values = serde_json::Deserializer::from_str(after).into_iter::<Value>();
        values.next().unwrap().unwrap();
        let (value, end) = after.split_at(values.byte_offset());
        let member = &rest[..rest.len() - end.len()];
        found.push((key, member.to_owned(), value.to_owned()));
        rest = end.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    found
}

/// Puts another value in the place of the first one after this path, if that is there.
fn with(text: &str, path: &[&str], new: &str) -> String {
    let [key, rest @ ..] = path else { return new.to_owned() };
    let inside = |value: &str| match value.strip_prefix('[') {
        Some(list) if !rest.is_empty() => {
            let list = list.trim_start();
            let mut items = serde_json::Deserializer::from_str(list).into_iter::<Value>();
            items.next().unwrap().unwrap();
            let (item, end) = list.split_at(items.byte_offset());
            format!("{}{}{end}", &value[..value.len() - list.len()], with(item, rest, new))
        }
        _ => with(value, rest, new),
    };
    for (name, member, value) in members(text) {
        if name == *key {
            let changed = format!("{}{}", &member[..member.len() - value.len()], inside(&value));
            return text.replacen(&member, &changed, 1);
        }
    }
    text.to_owned()
}

fn says(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != "" && *value != Value::Array(Vec::new())
}

/// Returns the chunks that one becomes. Only chunks of one choice are mended here.
fn mended_chunk(text: String, seen: &mut Seen) -> Vec<String> {
    let chunk = object(&text).unwrap();
    let Some(Value::Array(choices)) = chunk.get("choices") else { return vec![text] };
    let [choice] = &choices[..] else { return vec![text] };
    let Some(index) = choice.get("index").map_or(Some(0), Value::as_u64) else { return vec![text] };
    let delta = &choice["delta"];
    let (calls, function) = (says(&delta["tool_calls"]), says(&delta["function_call"]));
    if calls || function {
        match seen.called.iter_mut().find(|(called, _)| *called == index) {
            Some((_, has_calls)) => *has_calls |= calls,
            None => seen.called.push((index, calls)),
        }
    }
    let mut out = Vec::new();
    let mut text = text;
    const THINKING: [&str; 4] = ["reasoning_content", "reasoning", "thinking", "reasoning_details"];
    if delta["content"].is_string() && says(&delta["content"]) && THINKING.iter().any(|name| says(&delta[*name])) {
        let choices = members(&text).into_iter().find(|(name, ..)| name == "choices").unwrap().2;
        let choice = choices.trim().trim_start_matches('[').trim_end_matches(']').trim();
        let delta = members(choice).into_iter().find(|(name, ..)| name == "delta").unwrap().2;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for (name, member, _) in members(&delta) {
            let is_first = name == "role" || THINKING.contains(&&name[..]);
            if is_first { first.push(member) } else { second.push(member) }
        }
        let mut thinking = with(&text, &["choices", "delta"], &format!("{{{}}}", first.join(",")));
        for path in
            [&["usage"][..], &["choices", "finish_reason"], &["choices", "logprobs"], &["choices", "stop_reason"]]
        {
            thinking = with(&thinking, path, "null");
        }
        out.push(thinking);
        text = with(&text, &["choices", "delta"], &format!("{{{}}}", second.join(",")));
    }
    let called = seen.called.iter().find(|(called, _)| *called == index);
    let reason = match (choice["finish_reason"].as_str(), called) {
        (Some("tool_calls" | "function_call"), None) => Some("\"stop\""),
        (Some("stop" | "function_call"), Some((_, true))) => Some("\"tool_calls\""),
        (Some("stop" | "tool_calls"), Some((_, false))) => Some("\"function_call\""),
        _ => None,
    };
    out.push(reason.map_or(text.clone(), |reason| with(&text, &["choices", "finish_reason"], reason)));
    out
}

/// Returns the mended events of an event of Messages, with their types if they are not its own.
fn mended_block_event(text: &str, seen: &mut Seen) -> Vec<(Option<&'static str>, String)> {
    let event = object(text).unwrap();
    let kind = event["type"].as_str().unwrap();
    let stop = |seen: &mut Seen| {
        let open = seen.open.take()?;
        seen.closed.push(open);
        let text = format!("{{\"type\":\"content_block_stop\",\"index\":{}}}", open.1);
        Some((Some("content_block_stop"), text))
    };
    let part = event.get(if kind == "content_block_start" { "content_block" } else { "delta" }).unwrap_or(&Value::Null);
    let thinks = match part["type"].as_str() {
        Some("text" | "text_delta") => Some(false),
        Some("thinking" | "redacted_thinking" | "thinking_delta" | "signature_delta") => Some(true),
        _ => None,
    };
    let begin = |seen: &mut Seen, index: u64| {
        (seen.open, seen.thinks) = (Some((index, seen.blocks)), thinks);
        seen.blocks += 1;
        seen.blocks - 1
    };
    let mut out = Vec::new();
    let Some(index) = event.get("index").and_then(Value::as_u64) else {
        match kind {
            "message_start" => (seen.open, seen.closed, seen.blocks) = (None, Vec::new(), 0),
            "message_delta" | "message_stop" => out.extend(stop(seen)),
            _ => {}
        }
        out.push((None, text.to_owned()));
        return out;
    };
    let own = match (kind, seen.open.filter(|(open, _)| *open == index)) {
        ("content_block_start", _) => {
            out.extend(stop(seen));
            begin(seen, index)
        }
        ("content_block_delta", Some((_, own)))
            if thinks.is_none() || seen.thinks.is_none() || thinks == seen.thinks =>
        {
            own
        }
        ("content_block_delta", Some(_))
            if !["text", "thinking", "signature"].iter().any(|name| says(&part[*name])) =>
        {
            return out;
        }
        ("content_block_stop", Some(open)) => {
            seen.open = None;
            seen.closed.push(open);
            open.1
        }
        ("content_block_delta", _) => {
            let block = thinks.map(|thinks| match thinks {
                true => "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}",
                false => "{\"type\":\"text\",\"text\":\"\"}",
            });
            match block {
                Some(block) => {
                    out.extend(stop(seen));
                    let own = begin(seen, index);
                    let start =
                        format!("{{\"type\":\"content_block_start\",\"index\":{own},\"content_block\":{block}}}");
                    out.push((Some("content_block_start"), start));
                    own
                }
                None => seen.closed.iter().rfind(|(closed, _)| *closed == index).map_or(index, |(_, own)| *own),
            }
        }
        ("content_block_stop", None) => return out,
        _ => index,
    };
    out.push((None, with(text, &["index"], &own.to_string())));
    out
}

fn mended_value(text: &str, names: &str, whole: bool, seen: &mut Seen) -> String {
    let text = text.trim_matches([' ', '\t']);
    if text.is_empty() {
        return ":\n\n".to_owned();
    }
    if text.starts_with(':') {
        return format!(": {}\n\n", text.trim_start_matches([':', ' ']));
    }
    if text == "[DONE]" {
        seen.over = true;
        return "data: [DONE]\n\n".to_owned();
    }
    let Some(object) = object(text) else {
        return if whole { format!("{names}data: {text}\n\n") } else { String::new() };
    };
    if object.is_empty() {
        let name = names.lines().next().and_then(|line| field(line, "event"));
        return format!(": {}\n\n", name.unwrap_or_default().trim());
    }
    let mut text = text.to_owned();
    if object.get("object").is_some_and(|kind| kind == "chat.completion.chunk") || object.contains_key("choices") {
        if !object.contains_key("choices") {
            text.truncate(text.len() - 1);
            text += ",\"choices\":[]}";
        }
        if let Some(Value::String(id)) = object.get("id").filter(|id| *id != "") {
            let first = seen.id.get_or_insert_with(|| id.clone());
            if first != id {
                text = with_id(&text, &Value::from(first.as_str()).to_string());
            }
        }
        let chunks = if seen.keeps_shapes { vec![text] } else { mended_chunk(text, seen) };
        return chunks.iter().map(|chunk| format!("{names}data: {chunk}\n\n")).collect();
    }
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
    if !seen.keeps_shapes && (kind.starts_with("content_block_") || kind.starts_with("message_")) {
        let named = |kind: Option<&str>| match kind {
            Some(kind) if !names.is_empty() => format!("event: {kind}\n"),
            Some(_) => String::new(),
            None => names.to_owned(),
        };
        let events = mended_block_event(&text, seen);
        return events.iter().map(|(kind, text)| format!("{}data: {text}\n\n", named(*kind))).collect();
    }
    format!("{names}data: {text}\n\n")
}

fn mended_block(block: &[&str], whole: bool, seen: &mut Seen) -> String {
    let mut out: String = block.iter().filter(|line| line.starts_with(':')).map(|line| format!("{line}\n")).collect();
    if !out.is_empty() {
        out += "\n";
    }
    let names = block.iter().filter(|line| field(line, "event").is_some());
    let names: String = names.map(|line| format!("{line}\n")).collect();
    let data: Vec<&str> = block.iter().filter_map(|line| field(line, "data")).collect();
    if seen.over || data.is_empty() {
        return out;
    }
    let joined = data.join(" ");
    if data.len() == 1 || object(&joined).is_some() {
        out += &mended_value(&joined, &names, whole, seen);
    } else if data.iter().all(|value| object(value).is_some()) {
        out.extend(data.iter().map(|value| mended_value(value, &names, whole, seen)));
    } else if whole {
        out += &names;
        out.extend(data.iter().map(|value| format!("data: {value}\n")));
        out += "\n";
    }
    out
}

fn reference(stream: &str) -> String {
    mended(stream, Seen::default())
}

fn mended(stream: &str, mut seen: Seen) -> String {
    let lines = lines(stream);
    let (mut out, mut block) = (String::new(), Vec::new());
    for (number, line) in lines.iter().enumerate() {
        let is_last = number + 1 == lines.len();
        if !line.is_empty() {
            block.push(&line[..]);
        }
        if line.is_empty() || is_last {
            out += &mended_block(&std::mem::take(&mut block), !is_last, &mut seen);
        }
    }
    out
}

// ------------------------------------------------------------------------------------------------------------- running

fn foreign() -> Dialect {
    let text = "name = \"foreign\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"\u{1F512}\u{1F512}\"]\nclose = [\"\u{1F513}\"]";
    Dialect::load(text).unwrap()
}

fn events() -> Options {
    Options::new().body(Body::Events).repair(true)
}

/// Returns options for recordings of all servers: events other than chat are mended and not split.
fn chat_events() -> Options {
    events().formats(Formats::CHAT)
}

#[track_caller]
fn same(wanted: &str, got: &[u8], stream: &str) {
    if wanted.as_bytes() != got {
        let got = got.escape_ascii();
        panic!("{}\n  wanted {}\n  got    {got}", stream.escape_debug(), wanted.as_bytes().escape_ascii());
    }
}

/// Checks a stream at every cut in two, or at some cuts of a long one, and byte by byte; and that mended events stay mended.
#[track_caller]
fn check(options: &Options, stream: &str, wanted: &str) {
    let bytes = stream.as_bytes();
    let foreign = foreign();
    let qwen3 = Dialect::find("qwen3").unwrap();
    // Starts of text blocks would wait, whatever the dialect is.
    let chat = options.clone().formats(Formats::CHAT);
    let off = options.clone().repair(false);
    let split = String::from_utf8(rewrite_bytes(&qwen3, &off, &[wanted.as_bytes()])).unwrap();
    let step = bytes.len() / 300 + 1;
    let cuts = (0..=bytes.len()).step_by(step).map(|at| vec![&bytes[..at], &bytes[at..]]);
    for chunks in cuts.chain([support::bytes(bytes)]) {
        same(wanted, &rewrite_bytes(&foreign, &chat, &chunks), stream);
        same(&split, &rewrite_bytes(&qwen3, options, &chunks), stream);
    }
    same(wanted, &rewrite_bytes(&foreign, &chat, &[wanted.as_bytes()]), "what is mended");
}

// ----------------------------------------------------------------------------------------------------------------- tests

const CHUNK: &str = r#"{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hm"}}]}"#;

/// Returns the events that make clients fail, and their repaired form.
fn table() -> Vec<(String, String)> {
    let chunk = format!("data: {CHUNK}\n\n");
    let changes = [
        ("", ""),
        // Data that is empty, or a comment.
        ("data:\n\n", ":\n\n"),
        ("data\n\n", ":\n\n"),
        ("data: \t \n\n", ":\n\n"),
        ("data: : keepalive\n\n", ": keepalive\n\n"),
        ("data::\n\n", ": \n\n"),
        ("data: ::: a : b\n\n", ": a : b\n\n"),
        // Lines that resume streams, and ones that are not known.
        ("id: 7\n\n", ""),
        ("retry: 10\nid\n\n", ""),
        ("event: ping\n\n", ""),
        ("id: 7\ndata: 1\nretry: 5\n\n", "data: 1\n\n"),
        ("what: 7\n data: 2\ndata2: 3\nevents: a\ndata: 1\n\n", "data: 1\n\n"),
        // Line ends.
        ("data: 1\r\rdata: 2\r\n\r\ndata: 3\n\r\n\r:a\r\n\r\n", "data: 1\n\ndata: 2\n\ndata: 3\n\n:a\n\n"),
        ("\n\r\n\r\r\ndata: 1\n\n\n\n\r\r\n", "data: 1\n\n"),
        ("\r\n \t\n\tdata: 0\ndata: 1\n\n", "data: 1\n\n"),
        // Data over several lines.
        ("data: {\"a\":\ndata: 1,\ndata:  \"b\":[]}\n\n", "data: {\"a\": 1,  \"b\":[]}\n\n"),
        ("data: {\"a\":\"x\ndata: y\"}\n\n", "data: {\"a\":\"x y\"}\n\n"),
        ("data:one\ndata\ndata:  two \n\n", "data: one\ndata: \ndata:  two \n\n"),
        ("data:\ndata:{\"a\":1}\ndata:\n\n", "data: {\"a\":1}\n\n"),
        ("data: {\"a\":1}\ndata:{\"b\":2} \n\n", "data: {\"a\":1}\n\ndata: {\"b\":2}\n\n"),
        ("event: x\ndata: {\"a\":1}\ndata: {}\nevent: y\n\n", "event: x\nevent: y\ndata: {\"a\":1}\n\n: x\n\n"),
        ("data: {\"a\":1}\ndata: [DONE]\n\ndata: 1\n\n", "data: {\"a\":1}\ndata: [DONE]\n\ndata: 1\n\n"),
        ("data: [1]\ndata: [2]\n\n", "data: [1]\ndata: [2]\n\n"),
        // A byte order mark.
        ("\u{FEFF}data: 1\n\n\u{FEFF}data: 2\n\n", "data: 1\n\n"),
        ("\u{FEFF}\n:a\ndata: 1\n\n", ":a\n\ndata: 1\n\n"),
        ("\u{FEFF}:a\r\ndata: 1\r\n\r\n", ":a\n\ndata: 1\n\n"),
        ("\u{FEFF}", ""),
        // Chunks without choices.
        (
            "data: {\"object\":\"chat.completion.chunk\",\"usage\":{\"n\":{}} } \n\n",
            "data: {\"object\":\"chat.completion.chunk\",\"usage\":{\"n\":{}} ,\"choices\":[]}\n\n",
        ),
        (
            "data: {\"object\":\"chat.completion.chunk\",\"choic\\u0065s\":null}\n\n",
            "data: {\"object\":\"chat.completion.chunk\",\"choic\\u0065s\":null}\n\n",
        ),
        ("data: {\"object\":\"chat.completion\"}\n\n", "data: {\"object\":\"chat.completion\"}\n\n"),
        ("data: {\"error\":{\"message\":\"no\"}}\n\n", "data: {\"error\":{\"message\":\"no\"}}\n\n"),
        // Empty objects.
        ("event: ping\ndata: {}\n\n", ": ping\n\n"),
        ("data: { }\n\n", ": \n\n"),
        ("event\ndata: {}\n\n", ": \n\n"),
        ("event: ping\ndata: {\"type\": \"ping\"}\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n"),
        // Other ids.
        (
            "data: {\"choices\":[],\"id\":\"\"}\n\ndata: {\"choices\":[{\"id\":\"no\"}],\"id\" : \"a\"}\n\ndata: {\"x\":\"id\",\"id\" : \"b\" ,\"choices\":[{\"id\":\"b\"}]}\n\n",
            "data: {\"choices\":[],\"id\":\"\"}\n\ndata: {\"choices\":[{\"id\":\"no\"}],\"id\" : \"a\"}\n\ndata: {\"x\":\"id\",\"id\" : \"a\" ,\"choices\":[{\"id\":\"b\"}]}\n\n",
        ),
        (
            "data: {\"id\":\"x\"}\n\ndata: {\"id\":\"a\",\"choices\":null}\n\ndata: {\"id\":\"b\",\"object\":\"chat.completion.chunk\"}\n\ndata: {\"id\":\"x\"}\n\n",
            "data: {\"id\":\"x\"}\n\ndata: {\"id\":\"a\",\"choices\":null}\n\ndata: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\ndata: {\"id\":\"x\"}\n\n",
        ),
        // Reasons to finish.
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[]},\"finish_reason\":\"tool_calls\"}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[]},\"finish_reason\":\"stop\"}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":2,\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\ndata: {\"choices\":[{\"index\":2,\"delta\":{},\"finish_reason\": \"stop\"}]}\n\n",
            "data: {\"choices\":[{\"index\":2,\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\ndata: {\"choices\":[{\"index\":2,\"delta\":{},\"finish_reason\": \"tool_calls\"}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":3,\"delta\":{\"function_call\":{\"name\":\"f\"}},\"finish_reason\":\"stop\"}]}\n\n",
            "data: {\"choices\":[{\"index\":3,\"delta\":{\"function_call\":{\"name\":\"f\"}},\"finish_reason\":\"function_call\"}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"function_call\":null},\"finish_reason\":\"function_call\"}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"function_call\":null},\"finish_reason\":\"stop\"}]}\n\n",
        ),
        // Thinking and content in one chunk.
        (
            "event: e\ndata: {\"usage\":{\"n\":1},\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\", \"content\":\"It\",\"x\":1,\"reasoning\" : \"B\"},\"finish_reason\":\"length\"}]}\n\n",
            "event: e\ndata: {\"usage\":null,\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"reasoning\" : \"B\"},\"finish_reason\":null}]}\n\nevent: e\ndata: {\"usage\":{\"n\":1},\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It\",\"x\":1},\"finish_reason\":\"length\"}]}\n\n",
        ),
        (
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It\",\"reasoning\":\"\"}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"It\",\"reasoning\":\"\"}}]}\n\n",
        ),
        // Blocks of Messages: an index twice, a delta without a start, a start before the stop, an end before the stop.
        (
            "event: m\ndata: {\"type\":\"content_block_start\",\"index\":0}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"content_block_start\",\"index\": 0 }\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\"}}\n\nevent: m\ndata: {\"type\":\"content_block_start\",\"index\":7}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\"}\n\n",
            "event: m\ndata: {\"type\":\"content_block_start\",\"index\":0}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"content_block_start\",\"index\": 1 }\n\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\nevent: m\ndata: {\"type\":\"content_block_start\",\"index\":2}\n\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\ndata: {\"type\":\"message_delta\"}\n\n",
        ),
        (
            "event: m\ndata: {\"type\":\"content_block_delta\",\"index\":4,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":5,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"b\"}}\n\ndata: {\"type\":\"message_start\"}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: m\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"b\"}}\n\ndata: {\"type\":\"message_start\"}\n\n",
        ),
        // Events after the end.
        (
            "event: x\ndata: [DONE] \n\ndata: {\"a\":1}\n\n:a\ndata: 1\n\nid: 7\n\n: b\n",
            "data: [DONE]\n\n:a\n\n: b\n\n",
        ),
        // Comments.
        (":a\n:b\n\n:c\ndata: 1\n:d\nevent: x\n: e\n\n", ":a\n:b\n\n:c\n:d\n: e\n\nevent: x\ndata: 1\n\n"),
        (":a\r\n:b\r\n\r\n:c\rdata: 1\r\r", ":a\n:b\n\n:c\n\ndata: 1\n\n"),
        // Events that are not whole.
        ("data: 1", ""),
        ("data: 1\n", ""),
        ("data: 1\r\n", ""),
        ("data: [1]\n", ""),
        ("data: {\"a\":1}", "data: {\"a\":1}\n\n"),
        ("event: x\ndata: {\"a\":1}\r", "event: x\ndata: {\"a\":1}\n\n"),
        ("data: {\"a\":\ndata:1}", "data: {\"a\": 1}\n\n"),
        ("data: {\"a\":1\n", ""),
        ("data: 1\ndata: 2\n", ""),
        ("data: [DONE]", "data: [DONE]\n\n"),
        ("data:", ":\n\n"),
        ("data: {}", ": \n\n"),
        (":a", ":a\n\n"),
        (":a\ndata: 1", ":a\n\n"),
        ("da", ""),
        (" ", ""),
        ("\n", ""),
    ];
    let mut table: Vec<(String, String)> =
        changes.iter().map(|&(stream, wanted)| (stream.to_owned(), wanted.to_owned())).collect();
    // Those of other events than chunks, between chunks.
    for (stream, wanted) in changes {
        if stream.ends_with("\n\n") && !stream.contains("DONE") && !stream.contains("\"id\"") {
            let stream = stream.trim_start_matches('\u{FEFF}');
            table.push((format!("{chunk}{stream}{chunk}"), format!("{chunk}{wanted}{chunk}")));
        }
    }
    table
}

#[test]
fn what_makes_clients_fail_is_mended() {
    for (stream, wanted) in table() {
        same(&reference(&stream), wanted.as_bytes(), &stream);
        check(&events(), &stream, &wanted);
        check(&Options::new().repair(true), &stream, &wanted);
    }
}

#[test]
fn without_the_option_nothing_changes() {
    for (stream, _) in table() {
        let out = rewrite_bytes(&foreign(), &Options::new().body(Body::Events), &[stream.as_bytes()]);
        same(&stream, &out, &stream);
    }
}

#[test]
fn bodies_and_lines_stay() {
    let body = "\r\n\n {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\r\n\"usage\":{}}\r\n\r\n";
    for kind in [Body::Unknown, Body::Json, Body::Lines] {
        let options = Options::new().repair(true).body(kind);
        for chunks in [vec![body.as_bytes()], support::bytes(body.as_bytes())] {
            same(body, &rewrite_bytes(&foreign(), &options, &chunks), body);
        }
    }
    // A compressed body is not a stream of events.
    let gzip = b"\x1F\x8B\x08\r\r\n\0data: \n\n";
    assert_eq!(rewrite_bytes(&foreign(), &events(), &[gzip]), gzip);
    let off = events().off(true);
    assert_eq!(rewrite_bytes(&foreign(), &off, &[b"data:\r\r"]), b"data:\r\r");
}

#[test]
fn bytes_that_are_no_text_stay() {
    let stream = b":\xFF\ndata: {\"id\":\"\xFF\",\"choices\":[]}\r\rdata:\xFE\rdata:\r\rdata: {\"choices\":[],\"id\":\"\xFE\"}\n\n";
    let wanted = b":\xFF\n\ndata: {\"id\":\"\xFF\",\"choices\":[]}\n\ndata: \xFE\ndata: \n\ndata: {\"choices\":[],\"id\":\"\xFF\"}\n\n";
    for at in 0..stream.len() {
        assert_eq!(rewrite_bytes(&foreign(), &events(), &[&stream[..at], &stream[at..]]), wanted);
    }
}

#[test]
fn a_comment_leaves_when_its_line_ends() {
    let mut rewriter = Rewriter::new(&foreign(), &events()).unwrap();
    let mut out = Vec::new();
    for (chunk, wanted) in [
        (":a\n", ":a\n"),
        (":b\r", ":b\n"),
        ("\n", ""),
        ("\r", "\n"),
        ("\n: c\ndata: 1", ": c\n"),
        ("\n:d\n", ""),
        ("\n", ":d\n\ndata: 1\n\n"),
        ("data: [DONE]\n\n: e\n", "data: [DONE]\n\n: e\n"),
        ("data: 1\n\n", "\n"),
    ] {
        rewriter.feed(chunk, &mut out).unwrap();
        same(wanted, &out, chunk);
        out.clear();
    }
    // A finish and a reset begin a new stream.
    for reset in [false, true] {
        match reset {
            false => rewriter.finish(&mut out).unwrap(),
            true => rewriter.reset(),
        }
        rewriter.feed("\u{FEFF}data:\n\ndata: {\"id\":\"b\",\"choices\":[]}\n\ndata: [DONE]\n\n", &mut out).unwrap();
        same(":\n\ndata: {\"id\":\"b\",\"choices\":[]}\n\ndata: [DONE]\n\n", &out, "a new stream");
        out.clear();
    }
}

#[test]
fn events_that_are_too_long_pass_unread() {
    let long = format!("data:{}\r\n", "x".repeat(60));
    let stream = format!(":a\r\n{long}{long}\r\ndata:\r\n\r\n:{long}\r\ndata: [DONE]\n\n{long}\n:{long}\ndata:1\n\n");
    let short = long.replace("\r\n", "\n");
    let wanted = format!(":a\n\n{short}{short}\n:\n\n:{short}\ndata: [DONE]\n\n:{short}\n");
    let options = events().max_event(50);
    let bytes = stream.as_bytes();
    let whole = rewrite_bytes(&foreign(), &options, &[bytes]);
    same(&wanted, &whole, &stream);
    for at in 0..bytes.len() {
        same(&wanted, &rewrite_bytes(&foreign(), &options, &[&bytes[..at], &bytes[at..]]), &stream);
    }
    same(&wanted, &rewrite_bytes(&foreign(), &options, &support::bytes(bytes)), &stream);
}

#[test]
fn what_is_mended_or_left_out_is_counted() {
    let stream = "\u{FEFF}data: 1\r\n\r\n: a\n\ndata: 2\n\n\n:b\r\n:c\ndata: 3\n:d\n\nid: 7\n\ndata: [DONE]\n\ndata: 4\n\ndata: 5";
    for chunks in [vec![stream.as_bytes()], support::bytes(stream.as_bytes())] {
        let mut rewriter = Rewriter::new(&foreign(), &events()).unwrap();
        let mut out = Vec::new();
        chunks.iter().for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
        rewriter.finish(&mut out).unwrap();
        // The first event, the comment `b`, the event with a comment inside, the id, and the text after the end.
        assert_eq!(rewriter.stats().repaired, 6, "{}", out.escape_ascii());
        rewriter.reset();
        assert_eq!(rewriter.stats().repaired, 0);
    }
}

/// Returns a stream of such lines as servers send, and of some that they should not.
fn random_stream(random: &mut Random) -> String {
    const LINES: &[&str] = &[
        "data:",
        "data",
        "data: ",
        "data: : keepalive",
        "data::",
        "data: {}",
        "data: { }",
        "data: [DONE]",
        "data:[DONE]",
        "data: not JSON",
        "data: {\"a\":",
        "data: 1}",
        "data: \"b\":2}",
        "data:{\"a\":1}",
        "data:  {\"a\": [1, {}]} \t",
        "data: {\"error\":{\"message\":\"no\"}}",
        "data: null",
        "data: [1]",
        ":",
        ": a",
        ":b:",
        "id: 7",
        "id",
        "retry: 5",
        "event: ping",
        "event:x",
        "event",
        "event:  two ",
        "events: no",
        "dat",
        "data2: no",
        " data: no",
        " ",
        "\t",
        "data: {\"type\":\"ping\"}",
        "data: {\"choices\":[],\"id\":\"\"}",
        "data: {\"id\":null,\"choices\":null}",
        "data: {\"object\":\"chat.completion.chunk\",\"id\":\"u\",\"usage\":{\"id\":\"v\"}}",
        "data: {\"object\":\"chat.completion.chunk\"}",
        "data: {\"object\":\"chat.completion\",\"id\":\"n\"}",
        "data: {\"id\":\"w\",\"choices\":[{\"id\":\"x\",\"index\":0,\"delta\":{\"content\":\"<think>\"}}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\\\"id\\\":m \\u00e9\"}}],\"id\" : \"y\" ,\"n\":[\"id\"]}",
        "data: {\"id\":\"z\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"</think>\\n\"}},{\"index\":1,\"delta\":{\"content\":\"é<\"}}]}",
        "data: {\"id\":\"w\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a <\"},\"finish_reason\":\"stop\"}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\",\"reasoning\":\"b\"},\"finish_reason\":\"tool_calls\"}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"x\"}]},\"finish_reason\":null}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"function_call\":{\"name\":\"f\"}},\"finish_reason\":\"stop\"}]}",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"function_call\"}]}",
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
        "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"a\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"b\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"\"}}",
        "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}",
        "data: {\"type\":\"content_block_stop\",\"index\":0}",
        "data: {\"type\":\"content_block_stop\",\"index\":1}",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}",
    ];
    let mut stream = String::from(if random.one_in(6) { "\u{FEFF}" } else { "" });
    let own = *random.pick(&["\n", "\n", "\r\n", "\r"]);
    for _ in 0..random.below(14) {
        let mixed = random.one_in(8);
        let mut end = || if mixed { *random.pick(&["\n", "\r\n", "\r"]) } else { own };
        let end_of_line = end();
        let end_of_event = end();
        stream += *random.pick(LINES);
        stream += end_of_line;
        if !random.one_in(3) {
            stream += end_of_event;
        }
    }
    if random.one_in(3) {
        stream += *random.pick(LINES);
    }
    stream
}

/// Streams of many servers, where they are there, and the project's own.
fn recordings() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kinds = support::shared_files("corpus/sse");
    let files = kinds.iter().filter(|kind| kind.is_dir()).flat_map(support::files);
    let files = support::files(root.join("tests/sse")).into_iter().chain(files);
    files.filter_map(|file| Some((file.clone(), std::fs::read_to_string(&file).ok()?))).collect()
}

#[test]
fn random_streams_are_mended_as_the_reference_says() {
    let mut random = Random::announced("random_streams_are_mended_as_the_reference_says");
    for _ in 0..2000 {
        let stream = random_stream(&mut random);
        let options = events().max_event(random.one_in(2).then_some(1 << 20));
        let wanted = reference(&stream);
        same(&wanted, reference(&wanted).as_bytes(), "what is mended, by the reference");
        check(&options, &stream, &wanted);
    }
}

#[test]
fn recordings_are_mended_as_the_reference_says() {
    let mut random = Random::announced("recordings_are_mended_as_the_reference_says");
    for (file, stream) in recordings() {
        let wanted = reference(&stream);
        let name = file.display().to_string();
        let chunks = [vec![stream.as_bytes()], support::bytes(stream.as_bytes())];
        let cuts = (0..8).map(|_| support::random_cuts(&mut random, stream.as_bytes(), 400)).collect::<Vec<_>>();
        for chunks in chunks.into_iter().chain(cuts) {
            same(&wanted, &rewrite_bytes(&foreign(), &chat_events(), &chunks), &name);
        }
        same(&wanted, &rewrite_bytes(&foreign(), &chat_events(), &[wanted.as_bytes()]), &name);
    }
}

/// Checks that the specification's own reference, in Python, agrees about everything but the texts of chunks and blocks, if
/// both are there.
#[test]
fn the_reference_of_the_specification_says_the_same() {
    let Some(script) = support::shared("spec/repair_reference.py") else { return };
    if Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: no python3");
        return;
    }
    const DRIVER: &str = "\
import struct, sys
sys.path.insert(0, sys.argv[1])
from repair_reference import repair
data = sys.stdin.buffer.read()
while data:
    size, data = struct.unpack('<I', data[:4])[0], data[4:]
    out, data = repair(data[:size]), data[size:]
    sys.stdout.buffer.write(struct.pack('<I', len(out)) + out)
";
    let mut random = Random::announced("the_reference_of_the_specification_says_the_same");
    let streams = (0..3000).map(|_| random_stream(&mut random));
    let recordings = recordings().into_iter().map(|(_, stream)| stream);
    let streams: Vec<String> = table().into_iter().map(|(stream, _)| stream).chain(recordings).chain(streams).collect();
    let mut python = Command::new("python3")
        .args(["-B", "-c", DRIVER])
        .arg(script.parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input: Vec<u8> = streams
        .iter()
        .flat_map(|stream| (stream.len() as u32).to_le_bytes().into_iter().chain(stream.bytes()).collect::<Vec<u8>>())
        .collect();
    // All is read before anything is written.
    python.stdin.take().unwrap().write_all(&input).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    let mut rest = &output.stdout[..];
    for stream in &streams {
        let (size, after) = rest.split_first_chunk::<4>().unwrap();
        let (wanted, after) = after.split_at(u32::from_le_bytes(*size) as usize);
        rest = after;
        let keeping = Seen { keeps_shapes: true, ..Seen::default() };
        same(std::str::from_utf8(wanted).unwrap(), mended(stream, keeping).as_bytes(), stream);
    }
}
