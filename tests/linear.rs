//! Tests point 4 of the contract, linear work. Traps of 2 MiB must have the right result. Counted in instructions with callgrind,
//! an input of four times the size may need at most 4.2 times the work, fed whole and in small chunks.

use aside::call_writer::{self, CallWriter};
use aside::{Dialect, JoinCall, JoinError, JoinOptions, Scanner, ScannerOptions, Start};
use support::{Pair, callgrind};

fn repeated(unit: &str, size: usize) -> Vec<u8> {
    let mut text = unit.repeat(size / unit.len() + 1).into_bytes();
    text.truncate(size);
    text
}

/// Returns a text that makes a careless scanner read the same bytes again and again.
fn trap(name: &str, size: usize) -> Vec<u8> {
    let after = |begin: &str, unit: &str| [begin.as_bytes(), &repeated(unit, size)].concat();
    if let Some((begin, unit)) = name.split_once(AFTER) {
        return after(begin, unit);
    }
    match name {
        "<" => repeated("<", size),
        "tag and spaces" => after("<thinking ", " "),
        "backticks" => repeated("`", size),
        "lines of backticks" => repeated("```rs x`\n   ``\n", size),
        "line without end" => repeated("a ", size),
        "open fence" => after("```\n", "a\n```rs\n"),
        "blank" => repeated(" \n", size),
        "near misses" => repeated("<thin<think <</thin", size),
        "spaced tags" => repeated(&format!("<{}", " ".repeat(60)), size),
        "openers" => repeated("<think>", size),
        "spans" => repeated("<think>a</think>", size),
        "closers" => repeated("\n</think>", size),
        "open value" => after("<thinking a='", "b"),
        "open value in text" => after("a<thinking a='", "b"),
        "values in values" => repeated("<thinking a='<thinking b=\"", size),
        "many values" => repeated("<thinking a='", size),
        "attributes" => after("<thinking", " a='&#x'"),
        "references" => after("<thinking a='", "&#xffffff &"),
        "line breaks" => repeated("\n", size),
        "header begins" => repeated("<|channel|>", size),
        "headers" => repeated("<|channel|>analysis ", size),
        "keys" => after("<|start|>", "to="),
        "boxes" => repeated("<|begin_of_box|>", size),
        unit if JOINED.contains(&unit) => repeated(unit, size),
        "quotes" => after("<|tool_call>", "<|\"|><tool_call|"),
        other => panic!("no trap {other}"),
    }
}

/// The units of the values that are joined, as they are written in a JSON string.
const JOINED: [&str; 7] = ["\\\"", "a", "{", "</parameter", "<|q|", "|/", "'"];

/// In the name of a trap, this separates its beginning from the unit that is repeated after it.
const AFTER: &str = " … ";

const SIZES: [usize; 3] = [1 << 10, 4 << 10, 16 << 10];

/// The sizes for traps of calls, which are smaller because there are many of these traps.
const CALL_SIZES: [usize; 3] = [512, 2 << 10, 8 << 10];

/// A tag with attributes is limited to 64 KiB. Only far beyond the limit could work be repeated.
const LARGE_SIZES: [usize; 3] = [1 << 10, 128 << 10, 512 << 10];

// ---------------------------------------------------------------------------------------------------- by instructions

/// Runs the measured code. Callgrind counts only inside this function, and writes a count for each call.
#[inline(never)]
fn counted(dialect: &aside::Dialect, start: &str, text: &[u8]) {
    if start == "join" {
        let escape = aside::JoinOptions::new().markers(aside::Markers::Escape);
        let joined = dialect.join(text, text, &escape).unwrap();
        assert!(joined.len() >= 2 * text.len());
        return;
    }
    if start == "join calls" {
        let text = std::str::from_utf8(text).unwrap();
        let arguments = format!("{{\"k\": [\"{text}\", \"{text}\"]}}");
        // Some values cannot be written. Finding that must be linear too.
        let joined = dialect.join("", "", &JoinOptions::new().calls(&[JoinCall::new("f", &arguments); 2]));
        assert!(joined.is_ok() || matches!(joined, Err(JoinError::Call { .. })));
        return;
    }
    let mut bytes = 0;
    for chunk in [text.len(), 5] {
        let options = ScannerOptions::new().start(start.parse::<Start>().unwrap()).calls(has_calls(dialect));
        let mut scanner = Scanner::with_options(dialect, &options).unwrap();
        let mut writer = has_calls(dialect).then(|| CallWriter::new(dialect, call_writer::Options::new()));
        let mut on_event = |event: aside::Event<'_>| {
            bytes += event.bytes.len();
            if let Some(writer) = &mut writer {
                writer.event(&event, |_| {}).unwrap();
            }
        };
        for chunk in text.chunks(chunk) {
            scanner.feed(chunk, &mut on_event).unwrap();
        }
        scanner.finish(&mut on_event).unwrap();
    }
    assert_eq!(bytes, 2 * text.len());
}

/// Returns whether this is one of the tests' dialects with tables of calls.
fn has_calls(dialect: &Dialect) -> bool {
    dialect.name().starts_with("calls-")
}

fn dialect(name: &str) -> Dialect {
    Dialect::find(name).unwrap_or_else(|_| {
        let file = format!("{}/tests/dialects/{name}.toml", support::ROOT);
        Dialect::load(&std::fs::read_to_string(file).unwrap()).unwrap()
    })
}

/// Separates the parts of a job. No trap contains it.
const SEPARATOR: &str = "\u{1f}";

/// Feeds the named traps, whole and in chunks, under valgrind for the tests below.
#[test]
#[ignore = "a helper of the tests of this file"]
fn work() {
    let Ok(job) = std::env::var("ASIDE_WORK") else { return };
    let job: Vec<&str> = job.split(SEPARATOR).collect();
    let [name, start, sizes, names @ ..] = &job[..] else { panic!("{job:?}") };
    let dialect = dialect(name);
    for name in names {
        for size in sizes.split(' ') {
            counted(&dialect, start, &trap(name, size.parse().unwrap()));
        }
    }
}

fn linear(dialect: &str, start: &str, traps: &[&str], sizes: [usize; 3]) {
    let sizes = sizes.map(|size| size.to_string()).join(" ");
    callgrind::linear("linear", &[&[dialect, start, &sizes], traps].concat().join(SEPARATOR), traps);
}

#[test]
fn point_4_literals_are_linear() {
    let traps = ["<", "tag and spaces", "near misses", "openers", "closers", "blank", "line breaks"];
    linear("inline-think", "content", &traps, SIZES);
    linear("qwen3", "content", &traps, SIZES);
    linear("qwen3", "content", &["spans"], LARGE_SIZES);
    linear("qwen3", "thinking", &["<", "closers", "line breaks"], SIZES);
    linear("glm-4.5", "content", &["<", "boxes", "line breaks"], SIZES);
    linear("gemma-4", "content", &["<", "quotes"], SIZES);
}

#[test]
fn point_4_tags_are_linear() {
    let traps = ["<", "tag and spaces", "near misses", "spaced tags", "openers"];
    linear("thinking-tags", "content", &traps, SIZES);
    linear("thinking-tags", "thinking", &traps, SIZES);
    linear("thought-narrate", "content", &["<", "tag and spaces", "spaced tags"], SIZES);
}

#[test]
fn point_4_tags_with_attributes_are_linear() {
    linear("thought-stream", "content", &["<", "near misses", "values in values", "many values"], SIZES);
    linear("thought-stream", "content", &["tag and spaces", "open value", "attributes", "references"], LARGE_SIZES);
}

/// Checks a tag below the limit that may still end: many bytes are held, and must not be read again with each piece.
#[test]
fn point_4_a_tag_that_may_still_end_is_linear() {
    linear("thought-stream", "content", &["open value in text"], SIZES);
}

#[test]
fn point_4_fences_are_linear() {
    let traps = ["backticks", "lines of backticks", "line without end", "open fence", "line breaks"];
    linear("fenced-thinking", "content", &traps, SIZES);
    linear("fenced-thinking", "thinking", &traps, SIZES);
}

#[test]
fn point_4_headers_are_linear() {
    linear("harmony", "header", &["<", "header begins", "headers", "keys"], SIZES);
    linear("harmony", "thinking", &["<", "headers"], SIZES);
}

#[test]
fn point_4_all_kinds_of_markers_at_once_are_linear() {
    let text =
        ["<", "tag and spaces", "near misses", "backticks", "lines of backticks", "header begins", "headers", "keys"];
    linear("any", "content", &text, SIZES);
    linear("any", "content", &["open value", "values in values", "attributes", "quotes"], LARGE_SIZES);
    linear("any", "thinking", &["<", "closers", "lines of backticks", "headers", "line breaks"], SIZES);
}

/// Checks the scanner and the call writer with each of these units, repeated after each of these beginnings.
fn calls_are_linear(dialect: &str, begins: &[&str], units: &[&str]) {
    let traps = begins.iter().flat_map(|begin| units.iter().map(move |unit| format!("{begin}{AFTER}{unit}")));
    let traps: Vec<String> = traps.collect();
    linear(dialect, "content", &traps.iter().map(String::as_str).collect::<Vec<_>>(), CALL_SIZES);
}

#[test]
fn calls_between_openers_are_linear() {
    let units = [
        "{",
        "[",
        "\"",
        "\\",
        "<",
        "<parameter=",
        "<function=",
        " ",
        "]<",
        "{\"name\":",
        "<tool_call>",
        "<tool_call> [",
    ];
    calls_are_linear("calls-tags", &["", "<think>", "<tool_call><function=f>"], &units);
    calls_are_linear("calls-heads", &[""], &["<calls><call>", "<calls><call>functions.f", "call:"]);
    calls_are_linear("calls-types", &["<calls>"], &["<call:x|", "<call:x|f;", "<call:x|f~y", "{\"f\":1}", " ", "&"]);
}

#[test]
fn calls_of_json_are_linear() {
    let units =
        ["{", "[", "\"", "\\", "<", "</tool_call", " ", "]<", "{\"name\":", "{\"name\":\"f\"},", "\"name\":\"f\","];
    calls_are_linear("calls-tags", &["<tool_call>{", "<think><tool_call>{\"name\":\"f\",\"arguments\":"], &units);
    calls_are_linear(
        "calls-tags",
        &["<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\""],
        &["<", "\\", "\\\"", "</tool_call>"],
    );
}

#[test]
fn calls_between_tags_are_linear() {
    let units = [
        "<",
        "<parameter=",
        "</parameter",
        "\n",
        "\n<parameter",
        "\n<parameter=",
        " ",
        "]<",
        "x\n</parameter>\n<parameter=a>",
    ];
    calls_are_linear("calls-tags", &["<tool_call><function=f><parameter=a>"], &units);
    calls_are_linear("calls-types", &["<calls><call:x|f;!<k>a</k><v><![CDATA["], &["]]>", "]", "</v>", "\n</v"]);
    let units = ["|", "|a>", "|/", "|/a>", "|a>x|/a>", " ", "x"];
    calls_are_linear("calls-nested", &["<tools>|call f>", "<tools>|call f>|a>x"], &units);
}

#[test]
fn calls_in_brackets_are_linear() {
    let units = ["call:", "[", "{", "\"", "\\", "<", "<|q|", "<|q|>", " ", "a:1,", "call:f{}"];
    calls_are_linear("calls-raw", &["<|tool>", "<|tool>call:f{a:", "<|tool>call:f{a:[<|q|>"], &units);
    let units = ["[", "(", "\"", "'", "\\", ",", "f(a=1),", "a=1,", "a"];
    calls_are_linear("calls-python", &["<|start|>[", "<|start|>[f(", "<|start|>[f(a=[1,"], &units);
}

#[test]
fn joining_calls_is_linear() {
    for name in ["calls-tags", "calls-nested", "calls-python", "calls-raw"] {
        linear(name, "join calls", &JOINED, CALL_SIZES);
    }
}

#[test]
fn joining_and_escaping_are_linear() {
    linear("qwen3", "join", &["<", "openers", "blank", "line breaks"], SIZES);
    // Each closer makes the text longer, so its memory grows in steps, which are large compared with a short text.
    linear("qwen3", "join", &["closers"], [1 << 10, 16 << 10, 64 << 10]);
    linear("thinking-tags", "join", &["tag and spaces", "near misses", "spaced tags", "openers"], SIZES);
    linear("thought-stream", "join", &["values in values", "many values"], SIZES);
    linear("fenced-thinking", "join", &["backticks", "lines of backticks", "open fence"], SIZES);
    linear("harmony", "join", &["<", "header begins", "headers", "keys"], SIZES);
}

// --------------------------------------------------------------------------------------------------------- at full size

fn whole(pair: &Pair, start: &str, text: &[u8], chunk: usize) {
    let chunks: Vec<&[u8]> = text.chunks(chunk).collect();
    let events = support::run(&mut support::scanner(&pair.library, Some(start), None), &chunks);
    let channel = if start == "header" { "content" } else { start };
    assert!(
        reference::channel(&events, channel) == text,
        "{} from {start}: {} is not all {channel}",
        pair.reference.name,
        text[..20].escape_ascii()
    );
}

#[test]
fn point_4_two_mebibytes_of_each_trap_come_out_right() {
    const SIZE: usize = 2 << 20;
    let [angles, spaces, backticks] = ["<", "tag and spaces", "backticks"].map(|name| trap(name, SIZE));
    for pair in Pair::all() {
        let start = pair.reference.start.as_deref().unwrap_or("content");
        for text in [&angles, &spaces, &backticks] {
            whole(&pair, start, &text[..1 << 20], 61);
        }
        if pair.reference.name == "fenced-thinking" {
            whole(&pair, "content", &backticks, SIZE);
            whole(&pair, "thinking", &backticks, SIZE);
        } else {
            whole(&pair, start, &angles, SIZE);
        }
        if pair.reference.spans.iter().any(|span| span.tag.is_some()) {
            whole(&pair, "content", &spaces, SIZE);
            whole(&pair, "thinking", &spaces, 4096);
        }
    }
}

#[test]
fn point_4_an_attribute_value_of_ten_mebibytes_is_text_but_for_the_tag_inside() {
    let pair = Pair::find("thought-stream");
    let filler = repeated("b", 10 << 20);
    let text = [b"<thinking a='", &filler[..], b"'/><thinking a='c'/>d"].concat();
    let chunks: Vec<&[u8]> = text.chunks(1000).collect();
    let events = support::run(&mut support::scanner(&pair.library, None, None), &chunks);
    let content = reference::channel(&events, "content");
    assert!(content == [b"<thinking a='", &filler[..], b"'/>d"].concat());
}
