//! Rewrites event streams and bodies of every format with any options. No cut may change a byte of the output, and text that must
//! not be split must stay unchanged. Clients must get the reference's result for any text that a server might send, with its calls
//! if they are wanted. If a server contradicts itself, JSON must stay JSON.
//!
//! Input: the dialect's name and a newline, the kind of test, the options, the settings before the stream, the number of chunk
//! lengths, the lengths, and then the stream itself or the choices by which it is generated.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use aside::answer::{ImpliedEnd, Tools};
use aside::sse::{Body, Field, Formats, Options, ResponsesAs, Rewriter};
use aside::{CallsInThinking, Channel, Dialect, Error, Start, StrayClose};
use samples::{CallPieces, Pieces};
use serde_json::Value;
use support::accounts::{Server, Shape, WORD, words};
use support::{Pair, client};

use super::scanner::{PAIRS, pair};
use super::{Input, cut};

/// A dialect whose markers are in no stream that is compared with it.
static FOREIGN: LazyLock<Dialect> = LazyLock::new(|| {
    let file = "name = \"foreign\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"\\u007F<\"]\nclose = [\"\\u007F>\"]\n";
    Dialect::load(file).unwrap()
});

/// For each dialect, the parts of servers' texts: its markers, and pieces of markers and of calls.
pub static PIECES: LazyLock<BTreeMap<&str, Vec<String>>> = LazyLock::new(|| {
    let pieces = |pair: &'static Pair| {
        let markers = Pieces::new(&pair.reference).few;
        let mut pieces: Vec<String> = markers.iter().map(|piece| String::from_utf8_lossy(piece).into_owned()).collect();
        for calls in CallPieces::of_spans(&pair.reference) {
            pieces.extend(calls.whole.into_iter().chain(calls.few));
        }
        pieces.extend(["\"", "\\", "{", "}"].map(str::to_owned));
        pieces.push(format!("{{\"a\": \"{WORD}\"}}"));
        (&pair.reference.name[..], pieces)
    };
    PAIRS.iter().map(pieces).collect()
});

/// The tools of requests: the tools of the calls in the texts, and no tool.
static TOOLS: LazyLock<[Arc<Tools>; 2]> = LazyLock::new(|| {
    let some = r#"[{"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}},
        {"name": "get", "input_schema": {"properties": {"a": {"type": "integer"}}}}]"#;
    [some, "[]"].map(|tools| Tools::read(tools).unwrap())
});

pub fn run(data: &[u8]) {
    let mut input = Input { rest: data };
    let pair = pair(input.until(b'\n'));
    let way = input.below(6);
    let mut settings = Settings::read(&mut input, pair);
    let begin = Begin::read(&mut input);
    let lengths = input.lengths();
    match way {
        0 => raw(&pair.library, &settings, &begin, input.rest, lengths),
        1 => chat_stream(pair, &settings, &mut input, lengths),
        2 => chat_body(pair, &settings, &mut input, lengths),
        _ => {
            // Nearly all faults of this kind were found in Responses.
            let shape = if way == 3 { Shape::Responses } else { Shape::ALL[input.below(Shape::ALL.len())] };
            let is_body = input.below(8) == 1;
            // The input is declared as lines or a body, because lines that are read as events would be removed if events are
            // mended.
            settings.body = match settings.body {
                Body::Unknown => Body::Unknown,
                _ if is_body => Body::Json,
                _ if shape.is_of_lines() => Body::Lines,
                _ => Body::Events,
            };
            let answer = {
                let mut below = |bound: usize| match bound {
                    ..=256 => input.below(bound),
                    _ => (usize::from(input.byte()) << 8 | usize::from(input.byte())) % bound,
                };
                let server = Server::new(&PIECES[&pair.reference.name[..]], &mut below);
                if is_body { server.body(shape) } else { server.stream(shape) }
            };
            let out = any(&pair.library, &settings, &begin, answer.as_bytes(), lengths);
            words_of(&out, &answer);
            // If nothing is split, no word may be lost.
            let out = same(&FOREIGN, &settings.all().start(None), &Begin::Nothing, answer.as_bytes(), lengths);
            let (before, after) = (words_of(answer.as_bytes(), &answer), words_of(&out, &answer));
            assert!(before.is_subset(&after), "{answer}\nbecame\n{}", String::from_utf8_lossy(&out));
        }
    }
}

/// A host's choices.
struct Settings {
    start: &'static str,
    field: Field,
    wants_calls: bool,
    tools: Option<Arc<Tools>>,
    stray_close: StrayClose,
    calls_in_thinking: CallsInThinking,
    /// A bit for each option that does not affect how a text is read.
    others: u8,
    body: Body,
    formats: Formats,
    max_event: Option<usize>,
    max_held: Option<usize>,
}

impl Settings {
    fn read(input: &mut Input<'_>, pair: &'static Pair) -> Settings {
        let starts = pair.reference.starts();
        let start = starts[input.below(starts.len())];
        let of_text = input.byte();
        let is = |bit: u8| of_text >> bit & 1 == 1;
        let others = input.byte();
        // With few formats or short limits, most of a stream is not read.
        let formats = if others & 32 == 0 { Formats::ALL } else { formats(input.byte()) };
        Settings {
            start,
            field: [Field::ReasoningContent, Field::Reasoning, Field::Thinking][usize::from(of_text & 3) % 3],
            wants_calls: is(2),
            tools: is(3).then(|| TOOLS[usize::from(is(4) && is(5))].clone()),
            stray_close: match (is(6), others & 1) {
                (false, _) => StrayClose::Dialect,
                (true, 0) => StrayClose::Text,
                (true, _) => StrayClose::Drop,
            },
            calls_in_thinking: if is(7) { CallsInThinking::Never } else { CallsInThinking::Dialect },
            others,
            body: [Body::Unknown, Body::Events, Body::Json, Body::Lines][input.below(4)],
            formats,
            max_event: (others & 64 != 0).then(|| 8 * usize::from(input.byte())),
            max_held: (others & 128 != 0).then(|| usize::from(input.byte())),
        }
    }

    fn starts_at(&self) -> Start {
        self.start.parse().unwrap()
    }

    /// Returns the options by which a text is read.
    fn of_text(&self) -> Options {
        Options::new()
            .start(self.starts_at())
            // The client in the tests of calls reads this field.
            .field(if self.wants_calls { Field::ReasoningContent } else { self.field })
            .calls(self.wants_calls)
            // The reference has only the text, and does not know how the answer ended.
            .keep_guessed(true)
            .implied_end(ImpliedEnd::Off)
    }

    fn all(&self) -> Options {
        let is = |bit: u8| self.others >> bit & 1 == 1;
        self.of_text()
            .field(self.field)
            .tools(self.tools.clone())
            .stray_close(self.stray_close)
            .calls_in_thinking(self.calls_in_thinking)
            .body(self.body)
            .formats(self.formats)
            .max_event(self.max_event)
            .max_held(self.max_held)
            .responses_as(if is(0) { ResponsesAs::Summary } else { ResponsesAs::ReasoningText })
            .promote_empty(self.promotes())
            .merge(is(2))
            .repair(self.repairs())
    }

    fn promotes(&self) -> bool {
        self.others & 2 != 0
    }

    fn repairs(&self) -> bool {
        self.others & 8 != 0
    }
}

fn formats(bits: u8) -> Formats {
    Formats::from_bits(u32::from(bits & 31)).unwrap_or_default()
}

/// A host's choices for a stream before its first byte.
enum Begin {
    Nothing,
    StartAt(Option<Start>),
    Prompt(Vec<u8>),
    Dialect(&'static Pair, Option<Start>),
    Tools(Option<Arc<Tools>>),
}

impl Begin {
    fn read(input: &mut Input<'_>) -> Begin {
        let channel = |way: usize| [None, Some(Channel::Content), Some(Channel::Thinking), Some(Channel::Tool)][way];
        match input.below(16) {
            1 => Begin::StartAt(channel(input.below(4)).map(Start::Channel)),
            2 => {
                let len = input.below(40);
                Begin::Prompt(input.bytes(len).to_vec())
            }
            3 => {
                let other = &PAIRS[input.below(PAIRS.len())];
                Begin::Dialect(other, channel(input.below(4)).map(Start::Channel))
            }
            4 => Begin::Tools([None, Some(0), Some(1)][input.below(3)].map(|at: usize| TOOLS[at].clone())),
            _ => Begin::Nothing,
        }
    }

    fn say(&self, rewriter: &mut Rewriter) -> Result<(), Error> {
        match self {
            Begin::Nothing => Ok(()),
            Begin::StartAt(start) => rewriter.use_dialect(None, *start),
            Begin::Prompt(tail) => rewriter.start_from_prompt(tail).map(|_| ()),
            Begin::Dialect(pair, start) => rewriter.use_dialect(&pair.library, *start),
            Begin::Tools(tools) => rewriter.use_tools(tools.clone()),
        }
    }
}

/// Compares a stream of chat completions with the reference's result for its texts.
fn chat_stream(pair: &'static Pair, settings: &Settings, input: &mut Input<'_>, lengths: &[u8]) {
    let choices = input.byte();
    let stream = stream(input, choices);
    let options = settings.of_text();
    if !settings.wants_calls {
        let out = same(&pair.library, &options, &Begin::Nothing, stream.as_bytes(), lengths);
        let out = std::str::from_utf8(&out).unwrap();
        return client::check(pair, Some(settings.start), settings.field.name(), &stream, out);
    }
    let out = same(&pair.library, &with_calls(settings), &Begin::Nothing, stream.as_bytes(), lengths);
    let sent = support::told::client(&stream);
    for (index, said) in support::told::client(std::str::from_utf8(&out).unwrap()) {
        told(pair, settings, &sent[&index].content, false).check(&said, &stream);
    }
}

/// Does the same for a body of a chat completion with two choices.
fn chat_body(pair: &'static Pair, settings: &Settings, input: &mut Input<'_>, lengths: &[u8]) {
    let is_escaped = input.byte() & 4 != 0;
    let texts = [input.until(0), input.rest].map(String::from_utf8_lossy);
    let choice = |(index, text): (usize, &str)| {
        let content = string(text, is_escaped);
        let message = format!("{{\"role\":\"assistant\",\"content\":{content},\"refusal\":null}}");
        format!("{{\"index\":{index},\"message\":{message},\"finish_reason\":\"stop\"}}")
    };
    let all = [choice((0, &texts[0])), choice((1, &texts[1]))];
    let body = format!("{{\"id\":\"c\",\"choices\":[{}], \"n\":1.50}}\n", all.join(","));
    if !settings.wants_calls {
        let out = same(&pair.library, &settings.of_text(), &Begin::Nothing, body.as_bytes(), lengths);
        let texts = texts.map(|text| text.into_owned());
        return is_split(pair, settings.start, settings.field.name(), &texts, &body, &out);
    }
    let out = same(&pair.library, &with_calls(settings), &Begin::Nothing, body.as_bytes(), lengths);
    let said = support::told::client(std::str::from_utf8(&out).unwrap());
    for (index, text) in texts.iter().enumerate() {
        told(pair, settings, text, true).check(&said[&(index as u64)], &body);
    }
}

/// Returns the options by which a text with calls is read.
fn with_calls(settings: &Settings) -> Options {
    let options = settings.of_text().tools(settings.tools.clone());
    options.stray_close(settings.stray_close).calls_in_thinking(settings.calls_in_thinking)
}

/// Returns the client's expected result for such a text.
fn told(pair: &Pair, settings: &Settings, text: &str, is_body: bool) -> support::told::Told {
    let scanner = aside::ScannerOptions::new().start(settings.starts_at());
    let scanner = scanner.stray_close(settings.stray_close).calls_in_thinking(settings.calls_in_thinking);
    support::told::told(pair, &scanner, settings.tools.clone(), text.as_bytes(), is_body)
}

/// Returns the words of the output, which must be JSON.
fn words_of(out: &[u8], answer: &str) -> BTreeSet<char> {
    let out = std::str::from_utf8(out).unwrap();
    let lines = out.split(['\n', '\r']).map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let values = lines.filter(|line| line.starts_with('{')).flat_map(|line| match serde_json::from_str(line) {
        Ok(value) => words(&value),
        Err(error) => panic!("{error}: {line}\n{answer}\nbecame\n{out}"),
    });
    values.collect()
}

/// Returns the rewritten stream, checked to be the same at these cuts and with a used rewriter.
fn same(dialect: &Dialect, options: &Options, begin: &Begin, stream: &[u8], lengths: &[u8]) -> Vec<u8> {
    let mut rewriter = Rewriter::new(dialect, options).unwrap();
    let mut run = |chunks: &[&[u8]]| {
        let mut out = Vec::new();
        rewriter.reset();
        // A refused call must not have an effect.
        let _ = begin.say(&mut rewriter);
        for chunk in chunks {
            rewriter.feed(chunk, &mut out).unwrap();
        }
        rewriter.finish(&mut out).unwrap();
        (out, rewriter.stats())
    };
    let whole = run(&[stream]);
    let mut ways = vec![cut(stream, lengths)];
    // Long streams are not fed byte by byte, because that takes most of the time and finds no more than short streams.
    if stream.len() < 1500 {
        ways.push(support::bytes(stream));
    }
    for chunks in ways {
        let got = run(&chunks);
        assert!(
            got == whole,
            "{} gives {} ({:?}), not {} ({:?})",
            support::shown(&chunks),
            got.0.escape_ascii(),
            got.1,
            whole.0.escape_ascii(),
            whole.1
        );
    }
    whole.0
}

/// Returns the result for arbitrary bytes.
fn any(dialect: &Dialect, settings: &Settings, begin: &Begin, stream: &[u8], lengths: &[u8]) -> Vec<u8> {
    let options = settings.all();
    let out = same(dialect, &options, begin, stream, lengths);
    assert!(out.len() <= 64 * stream.len() + 4096, "{} bytes of {}", out.len(), stream.escape_ascii());
    assert_eq!(same(dialect, &options.off(true), begin, stream, lengths), stream);
    out
}

/// Does the same, and compares the output with the input if nothing is to be split.
fn raw(dialect: &Dialect, settings: &Settings, begin: &Begin, stream: &[u8], lengths: &[u8]) {
    any(dialect, settings, begin, stream, lengths);
    // Streams with an incomplete character or an escape are left out, because these may be held or may be a marker. So are options
    // by which the server's own thinking may be promoted.
    let escapes = stream.windows(2).any(|pair| pair == b"\\u");
    if std::str::from_utf8(stream).is_err() || stream.contains(&0x7F) || escapes || settings.promotes() {
        return;
    }
    let (options, begin) = (settings.all().start(None), &Begin::Nothing);
    let foreign = same(&FOREIGN, &options, begin, stream, lengths);
    if !settings.repairs() {
        return is_as_it_came(&foreign, stream);
    }
    // Splitting works on mended events, and a second pass must not change mended events. There is no limit on events here, because
    // mending may make an event longer.
    let options = options.max_event(None);
    let mended = same(&FOREIGN, &options, begin, stream, lengths);
    is_as_it_came(&same(&FOREIGN, &options.clone().repair(false), begin, &mended, lengths), &mended);
    is_as_it_came(&same(&FOREIGN, &options, begin, &mended, lengths), &mended);
}

/// Checks that nothing was changed, with these exceptions. In Messages and Responses, a start may be held until text arrives, and
/// an event of another kind may be sent before it. In Messages, it may even be of the same event, so only the data is compared. In
/// Responses, a missing start is added and replaces a late one, and missing ends are added too. The rest is then the same except
/// for its numbers.
fn is_as_it_came(out: &[u8], stream: &[u8]) {
    let has = |word: &str| has(stream, word);
    let may_move = has("content_block_start") || has("response.");
    let same = if may_move {
        let ((starts, others), (came, others_came)) = (data(out), data(stream));
        if starts != came { has_only_more_ends(&others, &others_came) } else { others == others_came }
    } else {
        out == stream
    };
    assert!(same, "{}\nis not\n{}", out.escape_ascii(), stream.escape_ascii());
}

/// The events that begin an item of Responses and a part of an item.
const STARTS: [&str; 2] = ["response.output_item.added", "response.content_part.added"];

/// The events that end an item or a part.
const ENDS: [&str; 3] = ["response.output_text.done", "response.content_part.done", "response.output_item.done"];

fn has(text: &[u8], word: &str) -> bool {
    text.windows(word.len()).any(|part| part == word.as_bytes())
}

/// Returns the data of such starts, and all other data, both sorted.
fn data(text: &[u8]) -> (Vec<&[u8]>, Vec<&[u8]>) {
    let data = text.split(|byte| matches!(byte, b'\r' | b'\n')).filter(|line| line.starts_with(b"data"));
    let is_start = |line: &&[u8]| STARTS.iter().any(|start| has(line, start));
    let (mut starts, mut others): (Vec<&[u8]>, Vec<&[u8]>) = data.partition(is_start);
    starts.sort_unstable();
    others.sort_unstable();
    (starts, others)
}

/// Returns whether `lines` are the lines of the input, apart from digits, with only ends added.
fn has_only_more_ends(lines: &[&[u8]], came: &[&[u8]]) -> bool {
    let without_digits =
        |line: &&[u8]| -> Vec<u8> { line.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect() };
    let mut more: Vec<Vec<u8>> = lines.iter().map(without_digits).collect();
    for line in came.iter().map(without_digits) {
        let Some(at) = more.iter().position(|other| *other == line) else { return false };
        more.swap_remove(at);
    }
    more.iter().all(|line| ENDS.iter().any(|end| has(line, end)))
}

/// Returns a JSON string, entirely in escapes if requested.
fn string(text: &str, escaped: bool) -> String {
    if !escaped {
        return Value::from(text).to_string();
    }
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{units}\"")
}

/// Returns a stream of up to three mixed choices, with other data that servers send between chunks.
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

/// Checks that the rewritten body has the thinking in the field and the rest of the text in the content, and is otherwise
/// unchanged.
fn is_split(pair: &Pair, start: &str, field: &str, texts: &[String; 2], body: &str, out: &[u8]) {
    let (before, mut after): (Value, Value) =
        (serde_json::from_str(body).unwrap(), serde_json::from_slice(out).unwrap());
    for (index, text) in texts.iter().enumerate() {
        let message = after["choices"][index]["message"].as_object_mut().unwrap();
        let runs = client::split(pair, text, Some(start), true);
        let part = |reasoning| runs.iter().filter(|run| run.0 == reasoning).map(|run| &run.1[..]).collect::<String>();
        let thinking = message.remove(field).map(|value| value.as_str().unwrap().to_owned());
        assert_eq!(thinking.unwrap_or_default(), part(true), "{body}");
        let content = message.insert("content".to_owned(), text.as_str().into()).unwrap();
        assert_eq!(content.as_str().unwrap(), part(false), "{body}");
    }
    assert_eq!(before, after);
}
