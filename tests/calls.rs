//! Tests the tool calls that a dialect's tables describe. The expected events of each text are written here by hand, one per line.
//! The events must be the same at every cut, no byte may be lost, and a host that does not want calls must see the same spans.

use aside::call_writer::{self, CallWriter, Tools};
use aside::{CallsInThinking, Channel, Dialect, Kind, Scanner, ScannerOptions, Token};
use reference::{Call, What};
use samples::CallPieces;
use support::Pair;

const TAGS: &str = include_str!("dialects/calls-tags.toml");
const HEADS: &str = include_str!("dialects/calls-heads.toml");
const PYTHON: &str = include_str!("dialects/calls-python.toml");
const RAW: &str = include_str!("dialects/calls-raw.toml");
const NESTED: &str = include_str!("dialects/calls-nested.toml");
const HEADER: &str = include_str!("dialects/calls-header.toml");
const TYPES: &str = include_str!("dialects/calls-types.toml");
const BODIES: &str = include_str!("dialects/calls-bodies.toml");

/// A dialect with markers and framing in any ASCII case.
const ANY_CASE: &str = r#"
name = "any-case"
case = "ascii"

[[span]]
channel = "tool"
open = ["<CALL>"]
close = ["</CALL>"]
framing = { after_open = "Json:" }
sure = false

[[span.call]]
body = "object"
"#;

/// A text, its events, and the dialect.
const CASES: &[(&str, &str, &[&str])] = &[
    (
        TAGS,
        "hm <tool_call>\n{\"name\": \"f\", \"arguments\": {\"c\": \"</tool_call> x\"}}\n</tool_call> ok",
        &[
            "text hm ",
            "open tool <tool_call>",
            "framing \n",
            "call 0 {",
            "framing \"name\": \"",
            "name f",
            "framing \", \"arguments\": ",
            "value {\"c\": \"</tool_call> x\"}",
            "end 0 marker }",
            "framing \n",
            "close marker </tool_call>",
            "text  ok",
        ],
    ),
    // Two calls, the arguments before the name, an id, and a member without a meaning.
    (
        TAGS,
        "<tool_call>[{\"arguments\":[1],\"name\":\"f\",\"id\":\"7\"},{\"x\":{\"name\":1},\"name\":\"é\",\"parameters\":{}}]</tool_call>",
        &[
            "open tool <tool_call>",
            "framing [",
            "call 0 {",
            "framing \"arguments\":",
            "value [1]",
            "framing ,\"name\":\"",
            "name f",
            "framing \",\"id\":\"",
            "id 7",
            "framing \"",
            "end 0 marker }",
            "framing ,",
            "call 1 {",
            "framing \"x\":{\"name\":1},\"name\":\"",
            "name é",
            "framing \",\"parameters\":",
            "value {}",
            "end 1 marker }",
            "framing ]",
            "close marker </tool_call>",
        ],
    ),
    (
        TAGS,
        "<think>a<tool_call>\n<function=f>\n<parameter=k>\nv</param\n</parameter>\n</function>\n</tool_call>b",
        &[
            "open thinking <think>",
            "text a",
            "close implied ",
            "open tool <tool_call>",
            "framing \n",
            "call 0 <function=",
            "name f",
            "framing >\n<parameter=",
            "key k",
            "framing >\n",
            "value v</param",
            "framing \n",
            "value_end </parameter>",
            "framing \n",
            "end 0 marker </function>",
            "framing \n",
            "close marker </tool_call>",
            "text b",
        ],
    ),
    // A value without its closer ends if the next line begins with a key.
    (
        TAGS,
        "<tool_call><function=f><parameter=a>1\n<parameter=b>2</parameter></function></tool_call>",
        &[
            "open tool <tool_call>",
            "call 0 <function=",
            "name f",
            "framing ><parameter=",
            "key a",
            "framing >",
            "value 1",
            "framing \n",
            "value_end ",
            "framing <parameter=",
            "key b",
            "framing >",
            "value 2",
            "value_end </parameter>",
            "end 0 marker </function>",
            "close marker </tool_call>",
        ],
    ),
    // A mentioned call is not a call, and must not hide the call after it.
    (
        TAGS,
        "<think>I write <tool_call> and {</think>a <tool_call> b<tool_call>{\"name\":\"f\"}</tool_call>",
        &[
            "open thinking <think>",
            "text I write <tool_call> and {",
            "close marker </think>",
            "text a <tool_call> b",
            "open tool <tool_call>",
            "call 0 {",
            "framing \"name\":\"",
            "name f",
            "framing \"",
            "end 0 marker }",
            "close marker </tool_call>",
        ],
    ),
    // Calls that are broken, cut off, or without a name.
    (
        TAGS,
        "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1]}</tool_call>",
        &[
            "open tool <tool_call>",
            "call 0 {",
            "framing \"name\": \"",
            "name f",
            "framing \", \"arguments\": ",
            "value {\"a\": 1",
            "end 0 malformed ",
            "text ]}",
            "close marker </tool_call>",
        ],
    ),
    (
        TAGS,
        "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"\\",
        &[
            "open tool <tool_call>",
            "call 0 {",
            "framing \"name\": \"",
            "name f",
            "framing \", \"arguments\": ",
            "value {\"a\": \"\\",
            "end 0 end of stream ",
            "close end of stream ",
        ],
    ),
    (
        TAGS,
        "<tool_call>{\"nam\": \"f\"} {\"name\":\"\"}</tool_call>",
        &[
            "open tool <tool_call>",
            "call 0 {",
            "framing \"nam\": \"f\"",
            "end 0 malformed }",
            "framing  ",
            "call 1 {",
            "framing \"name\":",
            "end 1 malformed ",
            "text \"\"}",
            "close marker </tool_call>",
        ],
    ),
    (
        HEADS,
        "<calls><call>functions.f:0<args>{}</call><call>g<args>{\"x\":\"</call>\"} </call></calls>",
        &[
            "open tool <calls>",
            "call 0 <call>",
            "id functions.",
            "name f",
            "id :0",
            "framing <args>",
            "value {}",
            "end 0 marker </call>",
            "call 1 <call>",
            "name g",
            "framing <args>",
            "value {\"x\":\"</call>\"}",
            "framing  ",
            "end 1 marker </call>",
            "close marker </calls>",
        ],
    ),
    // A head that is cut off is not a call, and neither is one that does not match the table.
    (HEADS, "<calls><call>f<arg", &["text <calls><call>f<arg"]),
    (HEADS, "<calls><call>...<args>{}", &["text <calls><call>...<args>{}"]),
    // A key that is cut off by the text's end is reported.
    (
        PYTHON,
        "<|start|>[f(ke",
        &[
            "open tool <|start|>",
            "framing [",
            "call 0 ",
            "name f",
            "framing (",
            "key ke",
            "end 0 end of stream ",
            "close end of stream ",
        ],
    ),
    (
        PYTHON,
        "<|start|>[f(a='it\\'s', b=[1, (2)]), g()]<|end|>",
        &[
            "open tool <|start|>",
            "framing [",
            "call 0 ",
            "name f",
            "framing (",
            "key a",
            "framing =",
            "value 'it\\'s'",
            "value_end ",
            "framing , ",
            "key b",
            "framing =",
            "value [1, (2)]",
            "value_end ",
            "end 0 marker )",
            "framing , ",
            "call 1 ",
            "name g",
            "framing (",
            "end 1 marker )",
            "framing ]",
            "close marker <|end|>",
        ],
    ),
    (
        RAW,
        "<|tool>call:f{a:<|q|>x}<tool|>\"<|q|>,b:{c:1}}<tool|>",
        &[
            "open tool <|tool>",
            "call 0 call:",
            "name f",
            "framing {",
            "key a",
            "framing :",
            "value <|q|>x}<tool|>\"<|q|>",
            "value_end ",
            "framing ,",
            "key b",
            "framing :",
            "value {c:1}",
            "value_end ",
            "end 0 marker }",
            "close marker <tool|>",
        ],
    ),
    (
        NESTED,
        "<tools>|call f>|a>|b>1|/b>|/a> |c>x|/call></tools>",
        &[
            "open tool <tools>",
            "call 0 |call ",
            "name f",
            "framing >|",
            "key a",
            "framing >|",
            "key b",
            "framing >",
            "value 1",
            "value_end |/b>",
            "value_end |/a>",
            "framing  |",
            "key c",
            "framing >",
            "value x",
            "value_end ",
            "end 0 marker |/call>",
            "close marker </tools>",
        ],
    ),
    (
        HEADER,
        " to=functions.f<|message|>{\"x\": 1}<|call|><|start|>a to=python<|message|>{\"x\": 1}<|end|>",
        &[
            "open tool  to=functions.f<|message|>",
            "call 0 ",
            "name f",
            "value {\"x\": 1}",
            "end 0 implied ",
            "close marker <|call|>",
            "open tool <|start|>a to=python<|message|>",
            "text {\"x\": 1}",
            "close marker <|end|>",
        ],
    ),
    // Framing after the opener and in the other allowed places. An id ends at the first `name_end` of the file.
    (
        TYPES,
        "<calls>\n<call:7|f~8;!</call>\n</calls><calls><call:7|g;;!</call>,\n\n</calls>",
        &[
            "open tool <calls>",
            "framing \n",
            "call 0 <call:",
            "id 7",
            "framing |",
            "name f",
            "framing ~",
            "id 8",
            "framing ;!",
            "end 0 marker </call>",
            "framing \n",
            "close marker </calls>",
            "open tool <calls>",
            "call 1 <call:",
            "id 7",
            "framing |",
            "name g",
            "framing ;;!",
            "end 1 marker </call>",
            "framing ,\n\n",
            "close marker </calls>",
        ],
    ),
    // Between a key and its value, blanks are allowed only after `>`.
    (
        TYPES,
        "[call]f[key]k[/key] [value]v[/value][/call]",
        &[
            "open tool [call]",
            "call 0 ",
            "name f",
            "framing [key]",
            "key k",
            "framing [/key]",
            "end 0 malformed ",
            "text  [value]v[/value]",
            "close marker [/call]",
        ],
    ),
    // A number is not removed from the name if the name would be empty then.
    (
        HEADS,
        "<calls><call>functions.:0<args>{}</call></calls>",
        &[
            "open tool <calls>",
            "call 0 <call>",
            "id functions.",
            "name :0",
            "framing <args>",
            "value {}",
            "end 0 marker </call>",
            "close marker </calls>",
        ],
    ),
    // The text of a `begin` without a call may begin with framing. A header, in any case that the dialect allows, ends the body.
    (
        BODIES,
        "<|H|>tool<|m|>[ARGS<|h|>tool<|M|>x<|END|>",
        &[
            "open tool <|H|>tool<|m|>",
            "framing [",
            "text ARGS",
            "close implied ",
            "open tool <|h|>tool<|M|>",
            "text x",
            "close marker <|END|>",
        ],
    ),
    (
        ANY_CASE,
        "<call>JSON:{\"name\":\"f\"}</Call>",
        &[
            "open tool <call>",
            "framing JSON:",
            "call 0 {",
            "framing \"name\":\"",
            "name f",
            "framing \"",
            "end 0 marker }",
            "close marker </Call>",
        ],
    ),
];

/// The events of a scanner, one per line; pieces of one text are joined.
#[derive(Default)]
struct Seen {
    lines: Vec<(String, Vec<u8>)>,
    bytes: Vec<u8>,
    /// The number of bytes of text and of markers in the tool channel.
    tool: usize,
}

impl Seen {
    fn see(&mut self, event: aside::Event<'_>) {
        self.bytes.extend_from_slice(event.bytes);
        let mut bytes = event.bytes;
        let line = match event.kind {
            Kind::Open { .. } => format!("open {}", event.channel),
            Kind::Attribute(_) => return,
            Kind::Text => "text".to_owned(),
            Kind::Framing => "framing".to_owned(),
            Kind::Close(cause) => format!("close {}", cause.as_str()),
            Kind::Call { index, .. } => format!("call {index}"),
            Kind::CallName(name) => {
                bytes = name.unwrap_or(bytes);
                "name".to_owned()
            }
            Kind::CallId => "id".to_owned(),
            Kind::CallKey => "key".to_owned(),
            Kind::CallType => "type".to_owned(),
            Kind::CallValue => "value".to_owned(),
            Kind::CallValueEnd { .. } => "value_end".to_owned(),
            Kind::CallEnd { index, cause, .. } => format!("end {index} {}", cause.as_str()),
            other => panic!("{other:?}"),
        };
        if event.channel == Channel::Tool {
            self.tool += event.bytes.len();
        }
        let joins = ["text", "framing", "value"].contains(&line.as_str());
        match self.lines.last_mut() {
            Some((last, text)) if joins && *last == line => text.extend_from_slice(bytes),
            _ => self.lines.push((line, bytes.to_vec())),
        }
    }

    fn lines(&self) -> Vec<String> {
        self.lines.iter().map(|(line, bytes)| format!("{line} {}", String::from_utf8_lossy(bytes))).collect()
    }
}

fn seen<'a>(dialect: &Dialect, options: &ScannerOptions, chunks: impl IntoIterator<Item = &'a [u8]>) -> Seen {
    let mut scanner = Scanner::with_options(dialect, options).unwrap();
    let mut seen = Seen::default();
    for chunk in chunks {
        scanner.feed(chunk, |event| seen.see(event)).unwrap();
        let held = scanner.held().len();
        assert!(held <= dialect.max_hold(), "{held} bytes are held");
    }
    scanner.finish(|event| seen.see(event)).unwrap();
    seen
}

#[test]
fn calls_are_told_apart_at_every_cut() {
    let options = ScannerOptions::new().calls(true);
    for (toml, text, wanted) in CASES {
        let dialect = Dialect::load(toml).unwrap();
        let text = text.as_bytes();
        let whole = seen(&dialect, &options, [text]);
        assert_eq!(whole.lines(), *wanted, "{}", String::from_utf8_lossy(text));
        assert_eq!(whole.bytes, text);
        let by_bytes = seen(&dialect, &options, text.chunks(1));
        assert_eq!(by_bytes.lines(), *wanted, "{}, by bytes", String::from_utf8_lossy(text));
        for first in 1..text.len() {
            for second in first..text.len() {
                let cut = seen(&dialect, &options, [&text[..first], &text[first..second], &text[second..]]);
                assert_eq!(cut.lines(), *wanted, "{}, cut at {first}, {second}", String::from_utf8_lossy(text));
                assert_eq!(cut.bytes, text);
            }
        }
    }
}

#[test]
fn spans_are_the_same_for_a_host_that_does_not_want_calls() {
    for (toml, text, _) in CASES {
        let dialect = Dialect::load(toml).unwrap();
        let spans = |calls: bool| {
            let seen = seen(&dialect, &ScannerOptions::new().calls(calls), text.as_bytes().chunks(3));
            let mut spans: Vec<String> = seen.lines();
            spans.retain(|line| line.starts_with("close"));
            (spans.iter().map(|line| line.split_whitespace().take(2).collect()).collect::<Vec<String>>(), seen.tool)
        };
        assert_eq!(spans(false), spans(true), "{text}");
    }
}

#[test]
fn a_stopped_call_goes_on_where_it_stopped() {
    let options = ScannerOptions::new().calls(true);
    for (toml, text, wanted) in CASES {
        let dialect = Dialect::load(toml).unwrap();
        let mut scanner = Scanner::with_options(&dialect, &options).unwrap();
        let (mut seen, mut rest) = (Seen::default(), text.as_bytes());
        loop {
            let mut events = scanner.events(rest);
            let is_over = match events.next().unwrap() {
                Some(event) => {
                    seen.see(event);
                    false
                }
                None => true,
            };
            let consumed = events.consumed();
            drop(events);
            rest = &rest[consumed..];
            if is_over && rest.is_empty() {
                break;
            }
        }
        scanner.finish(|event| seen.see(event)).unwrap();
        assert_eq!(seen.lines(), *wanted, "{text}");
    }
}

#[test]
fn a_flush_lets_go_of_a_value_as_the_value_and_breaks_a_word() {
    let dialect = Dialect::load(TAGS).unwrap();
    let flushed = |text: &str| {
        let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
        let mut seen = Seen::default();
        scanner.feed(text.as_bytes(), |event| seen.see(event)).unwrap();
        scanner.flush(|event| seen.see(event)).unwrap();
        assert_eq!(seen.bytes, text.as_bytes());
        assert!(scanner.held().is_empty());
        seen.lines().split_off(2)
    };
    let value = flushed("<tool_call><function=f><parameter=k>v</param");
    assert_eq!(value, ["name f", "framing ><parameter=", "key k", "framing >", "value v</param"]);
    let word = flushed("<tool_call><function=f><parameter=ke");
    assert_eq!(word, ["name f", "framing ><parameter=", "end 0 malformed ", "text ke"]);
}

#[test]
fn a_forced_close_ends_the_call_its_span_and_the_thinking_around_it() {
    let text = "<think>a<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"x";
    let ends = ["value {\"a\":\"x", "end 0 forced ", "close forced "];
    let pauses = TAGS.replace("ends = ", "pauses = ");
    for (toml, wanted) in [(TAGS, &[][..]), (&pauses[..], &["close forced "][..])] {
        let dialect = Dialect::load(toml).unwrap();
        for size in 1..=text.len() {
            for wants in [true, false] {
                let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(wants)).unwrap();
                let mut seen = Seen::default();
                for chunk in text.as_bytes().chunks(size) {
                    scanner.feed(chunk, |event| seen.see(event)).unwrap();
                }
                scanner.force_close(|event| seen.see(event)).unwrap();
                scanner.feed("b", |event| seen.see(event)).unwrap();
                scanner.finish(|event| seen.see(event)).unwrap();
                let lines = seen.lines();
                let after = match wants {
                    true => lines.iter().position(|line| line == ends[0]).unwrap(),
                    false => lines.len() - wanted.len() - 2,
                };
                let ends = if wants { &ends[..] } else { &ends[2..] };
                let wanted = [ends, wanted, &["text b"]].concat();
                assert_eq!(lines[after..], wanted, "{size}, {wants}");
            }
        }
    }
}

/// Returns a dialect with one table of tags.
fn of_tags(rest: &str) -> String {
    let span = "name = \"own\"\n[[span]]\nchannel = \"tool\"\nopen = [\"<t>\"]\nclose = [\"</t>\"]\n";
    format!("{span}[[span.call]]\nbody = \"tags\"\nkey = [\"<k>\", \"</k>\"]\n{rest}")
}

#[track_caller]
fn reads(toml: &str, start: &str, text: &str, wanted: &[&str]) {
    let dialect = Dialect::load(toml).unwrap();
    for cut in 0..=text.len() {
        let options = ScannerOptions::new().start(start.parse::<aside::Start>().unwrap()).calls(true);
        let mut scanner = Scanner::with_options(&dialect, &options).unwrap();
        let (before, after) = text.as_bytes().split_at(cut);
        let mut events = Vec::new();
        let mut on_event = |event: aside::Event<'_>| support::push(&mut events, event);
        scanner.feed(before, &mut on_event).unwrap();
        scanner.feed(after, &mut on_event).unwrap();
        scanner.finish(&mut on_event).unwrap();
        let shown: Vec<String> = reference::joined_with_calls(&events)
            .iter()
            .filter(|event| !matches!(event.what, What::Open { .. } | What::Attribute { .. } | What::Close(_)))
            .map(|event| format!("{:?} {}", event.what, event.bytes.escape_ascii()))
            .collect();
        assert_eq!(shown, wanted, "{text}, cut at {cut}");
    }
}

/// The events of the call in these texts, up to its first value.
const TO_VALUE: [&str; 5] =
    ["Call(Begin { table: 0, index: 0 }) ", "Call(Name(None)) f", "Framing <k>", "Call(Key) k", "Framing </k><v>"];

/// Checks that the text after two overlapping closers decides which one counts.
#[test]
fn the_closer_counts_after_which_the_call_goes_on() {
    let dialect = of_tags("value = [\"<v>\", \">>\"]\nframing.before_close = \"->\"\nend = \"</e>\"\n");
    let wanted = [
        "Call(Value) a",
        "Framing ->",
        "Call(ValueEnd { is_repaired: false }) >>",
        "Call(End { index: 0, cause: \"marker\", is_repaired: false }) </e>",
    ];
    reads(&dialect, "content", "<t>f<k>k</k><v>a->>></e></t>", &[&TO_VALUE[..], &wanted].concat());
}

/// Checks the ends of values in a dialect whose calls have an `end`, and in a dialect in which the span's closer ends the call.
#[test]
fn values_end_where_the_grammar_goes_on() {
    let letters = format!("</v{}>", "w".repeat(24));
    let long = format!("a</v>{}", " ".repeat(65));
    // The value, its closer, the text between the closer and the call's end, and whether the value is repaired.
    let cases = [
        ("a", "</v>", "", false),
        ("a", "</v>", " \n</v>", false),
        ("a</v> ", "</v>", "\n</v>", false),
        ("a", "</v>", "\n \n", false),
        ("a</v>b", "</v>", "", false),
        (&long, "</v>", "", false),
        ("a</vv>b", "</v", " ", true),
        ("a", &letters, "", true),
        ("a", "</k>", "\n", true),
        ("a", "", "", true),
        ("", "", "", true),
        ("a<k> b", "", "", true),
    ];
    for (end, cause) in [("</e>", "marker"), ("", "implied")] {
        let table = if end.is_empty() { String::new() } else { format!("end = \"{end}\"\n") };
        let pair = Pair::parse(&of_tags(&format!("value = [\"<v>\", \"</v>\"]\n{table}")));
        for (value, closer, after, is_repaired) in cases {
            let text = format!("<t>f<k>k</k><v>{value}{closer}{after}{end}</t>");
            let seen = reference::read_with_calls(&pair.reference, text.as_bytes(), None);
            for at in 0..text.len() {
                let (before, after) = text.as_bytes().split_at(at);
                pair.check_calls(None, &[before, after], &seen);
            }
            pair.check_calls(None, &support::bytes(text.as_bytes()), &seen);
            let texts = |call: Call| -> Vec<u8> {
                let events = seen.iter().filter(|event| event.what == What::Call(call.clone()));
                events.flat_map(|event| event.bytes.clone()).collect()
            };
            assert_eq!(texts(Call::Value), value.as_bytes(), "{text}");
            assert_eq!(texts(Call::ValueEnd { is_repaired }), closer.as_bytes(), "{text}");
            let over = What::Call(Call::End { index: 0, cause, is_repaired });
            assert!(seen.iter().any(|event| event.what == over), "{text}: {seen:?}");
        }
    }
}

/// Checks that after a closer that does not count, a key does not end the value, and the end of the call breaks the call.
#[test]
fn a_value_with_a_closer_ends_with_one_that_counts() {
    let dialect = of_tags("value = [\"<v>\", \"</v>\"]\nend = \"</e>\"\nframing.before_close = \"\\n\"\n");
    let wanted = [
        "Call(Value) a</v>b\\n<k>l</k><v>c",
        "Call(ValueEnd { is_repaired: false }) </v>",
        "Call(End { index: 0, cause: \"marker\", is_repaired: false }) </e>",
    ];
    reads(&dialect, "content", "<t>f<k>k</k><v>a</v>b\n<k>l</k><v>c</v></e></t>", &[&TO_VALUE[..], &wanted].concat());
    let wanted =
        ["Call(Value) a</v>b", "Call(End { index: 0, cause: \"malformed\", is_repaired: false }) ", "Text </e>"];
    reads(&dialect, "content", "<t>f<k>k</k><v>a</v>b</e></t>", &[&TO_VALUE[..], &wanted].concat());
}

/// Checks a host that stops after an event and feeds the rest in other chunks: a literal that the scanner has seen whole arrives
/// again in pieces.
#[test]
fn what_was_seen_whole_comes_again_in_pieces() {
    let toml = of_tags("value = [\"<v>\", \"</v>\"]\nend = \"</e>\"\n").replace("\"</k>\"", "\"\\n=\\n\"");
    let dialect = Dialect::load(&toml).unwrap();
    let text = b"<t>f<k>a\n=\n<v>1</v></e></t>".as_slice();
    let wanted =
        support::run(&mut Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap(), &[text]);
    for stop in 1..10 {
        let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
        let (mut got, mut events) = (Vec::new(), scanner.events(text));
        for _ in 0..stop {
            support::push(&mut got, events.next().unwrap().unwrap());
        }
        let rest = &text[events.consumed()..];
        drop(events);
        for byte in rest.chunks(1) {
            scanner.feed(byte, |event| support::push(&mut got, event)).unwrap();
        }
        scanner.finish(|event| support::push(&mut got, event)).unwrap();
        assert_eq!(reference::joined_with_calls(&got), reference::joined_with_calls(&wanted), "stopped after {stop}");
    }
}

/// Checks two rules for the place directly after an opener, and only there: a label that belongs to the opener's framing may
/// precede a closer, and a second opener is absorbed.
#[test]
fn what_counts_where_a_body_begins_counts_nowhere_else() {
    let toml = of_tags("value = [\"<v>\", \"</v>\"]\n")
        .replace("close =", "sure = false\nagain = \"absorb\"\nframing.after_open = \"x\\n\"\nclose =");
    let dialect = Dialect::load(&toml).unwrap();
    let closes = |text: &str| {
        let mut ends = Vec::new();
        for size in 1..=text.len() {
            let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
            let mut events = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                scanner.feed(chunk, |event| support::push(&mut events, event)).unwrap();
            }
            scanner.finish(|event| support::push(&mut events, event)).unwrap();
            let tool = reference::channel(&events, "tool");
            let content = reference::channel(&events, "content");
            ends.push((String::from_utf8(tool).unwrap(), String::from_utf8(content).unwrap()));
        }
        ends.dedup();
        assert_eq!(ends.len(), 1, "{text}: {ends:?}");
        ends.pop().unwrap()
    };
    let pair = |tool: &str, content: &str| (tool.to_string(), content.to_string());
    assert_eq!(closes("<t>x</t>a"), pair("", "a"));
    assert_eq!(closes("<t>;x</t>a"), pair(";x", "a"));
}

/// Checks that a closer that is a special token breaks a call if it is inside one of the call's literals.
#[test]
fn a_special_closer_in_the_middle_of_a_literal_breaks_the_call() {
    let toml = of_tags("value = [\"<v>\", \"</v>\"]\nname_end = [\";\"]\n")
        .replace("close = [\"</t>\"]", "close = [\"=>\"]\nspecial = true")
        .replace("\"<k>\"", "\"<k=>\"");
    let dialect = Dialect::load(&toml).unwrap();
    let tokens = [Token::special(3), Token::text(2), Token::text(2), Token::special(2)];
    let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
    let mut ends = Vec::new();
    scanner
        .feed_tokens("<t>f;<k=>", &tokens, |event| {
            ends.extend(match event.kind {
                Kind::CallEnd { cause, .. } => Some(cause.as_str()),
                Kind::Close(cause) => Some(cause.as_str()),
                _ => None,
            });
        })
        .unwrap();
    assert_eq!(ends, ["malformed", "marker"]);
}

/// Checks that blanks between elements end where a mark begins, even if the mark begins with a blank.
#[test]
fn a_mark_may_begin_with_a_blank() {
    let toml = of_tags("").replace("key = [\"<k>\", \"</k>\"]", "key = [\"\\n<\", \">\"]\nvalue = [\"\", \"\\n/\"]");
    let toml = toml + "nested = true\nmark = \"\\n\"\nend = \"\\n.\"\nname_end = [\";\"]\n";
    let wanted = [
        "Call(Begin { table: 0, index: 0 }) ",
        "Call(Name(None)) f",
        "Framing ;\\n<",
        "Call(Key) a",
        "Framing >",
        "Call(Value) 1",
        "Call(ValueEnd { is_repaired: false }) \\n/a>",
        "Framing  \\n<",
        "Call(Key) b",
        "Framing >",
        "Call(End { index: 0, cause: \"end of stream\", is_repaired: false }) ",
    ];
    reads(&toml, "content", "<t>f;\n<a>1\n/a> \n<b>", &wanted);
}

/// Checks the blanks between a word and the literal that ends it, if the literal begins with a blank itself.
#[test]
fn a_literal_after_a_word_may_begin_with_a_blank() {
    let toml = of_tags("value = [\"<v>\", \"</v>\"]\nend = \"</e>\"\n").replace("\"</k>\"", "\"\\n=\"");
    let wanted = [
        "Call(Begin { table: 0, index: 0 }) ",
        "Call(Name(None)) f",
        "Framing <k>",
        "Call(Key) a",
        "Framing \\n\\n=<v>",
        "Call(Value) 1",
        "Call(ValueEnd { is_repaired: false }) </v>",
        "Call(End { index: 0, cause: \"marker\", is_repaired: false }) </e>",
    ];
    reads(&toml, "content", "<t>f<k>a\n\n=<v>1</v></e></t>", &wanted);
}

/// Checks that a header may name a call that is written in tags or in brackets.
#[test]
fn a_header_names_calls_of_every_body() {
    let with = |body: &str| HEADER.replace("body = \"json\"", body).replace("need_prefix = true\n", "");
    let tags = with("body = \"tags\"\nkey = [\"<k>\", \"</k>\"]\nvalue = [\"<v>\", \"</v>\"]");
    let begin = ["Call(Begin { table: 0, index: 0 }) ", "Call(Name(Some([102]))) "];
    let rest = [
        "Framing  <k>",
        "Call(Key) a",
        "Framing </k><v>",
        "Call(Value) 1",
        "Call(ValueEnd { is_repaired: false }) </v>",
        "Call(End { index: 0, cause: \"implied\", is_repaired: false }) ",
    ];
    let text = "<|start|>assistant to=f<|message|> <k>a</k><v>1</v><|call|>";
    reads(&tags, "header", text, &[&begin[..], &rest].concat());
    let literal = with("body = \"literal\"\nopen = \"(\"\nclose = \")\"\nassign = \"=\"");
    let rest = [
        "Framing  ",
        "Call(Key) a",
        "Framing =",
        "Call(Value) 1",
        "Call(ValueEnd { is_repaired: false }) ",
        "Call(End { index: 0, cause: \"marker\", is_repaired: false }) )",
    ];
    reads(&literal, "header", "<|start|>assistant to=f<|message|> a=1)<|call|>", &[&begin[..], &rest].concat());
}

/// Texts in tokens, with `§` before special ones, and the expected events.
const OF_TOKENS: &[(&[&str], &[&str])] = &[
    // A closer that is a special token ends the span even inside a string, and breaks the call.
    (
        &["§<tool_call>", "{\"name\":\"f\",\"arguments\":{\"a\":\"x", "§</tool_call>", "\"}} y"],
        &[
            "open tool <tool_call>",
            "call 0 {",
            "framing \"name\":\"",
            "name f",
            "framing \",\"arguments\":",
            "value {\"a\":\"x",
            "end 0 malformed ",
            "close marker </tool_call>",
            "text \"}} y",
        ],
    ),
    // A closer that is ordinary text does not end anything.
    (
        &["§<tool_call>", "{\"name\":\"f\"}", "</tool_call>", "\n", "§</tool_call>", " y"],
        &[
            "open tool <tool_call>",
            "call 0 {",
            "framing \"name\":\"",
            "name f",
            "framing \"",
            "end 0 marker }",
            "text </tool_call>\n",
            "close marker </tool_call>",
            "text  y",
        ],
    ),
    // A closer that is a special token inside a key: the key is incomplete, and is text.
    (
        &["§<tool_call>", "<function=f><parameter=k", "§</tool_call>", "y"],
        &[
            "open tool <tool_call>",
            "call 0 <function=",
            "name f",
            "framing ><parameter=",
            "end 0 malformed ",
            "text k",
            "close marker </tool_call>",
            "text y",
        ],
    ),
];

#[test]
fn a_closer_that_is_a_special_token_counts_everywhere() {
    let dialect = Dialect::load(TAGS).unwrap();
    for (pieces, wanted) in OF_TOKENS {
        let mut tokens: Vec<Token> = Vec::new();
        let mut text = String::new();
        for piece in *pieces {
            let (special, piece) = piece.strip_prefix('§').map_or((false, *piece), |piece| (true, piece));
            let len = piece.len() as u32;
            tokens.push(if special { Token::special(len) } else { Token::text(len) });
            text += piece;
        }
        for most in 1..=tokens.len() {
            let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
            let mut seen = Seen::default();
            let mut rest = text.as_bytes();
            for tokens in tokens.chunks(most) {
                let len = tokens.iter().map(|token| token.len() as usize).sum();
                let (chunk, after) = rest.split_at(len);
                scanner.feed_tokens(chunk, tokens, |event| seen.see(event)).unwrap();
                rest = after;
            }
            scanner.finish(|event| seen.see(event)).unwrap();
            assert_eq!(seen.lines(), *wanted, "{text}, {most} tokens a feed");
        }
    }
}

/// Checks that framing before a special closer does not count as the closer if it arrives as a special token.
#[test]
fn a_special_token_before_a_closer_is_not_the_closer() {
    let span = "name = \"own\"\n[[span]]\nchannel = \"tool\"\nopen = [\"<t>\"]\nclose = [\"</t>\"]\nspecial = true\n";
    let table = "[[span.call]]\nbody = \"json\"\nbegin = \"<c>\"\nname_end = [\"|\"]\nend = \"</c>\"\n";
    let dialect = Dialect::load(&format!("{span}framing.before_close = \"\\n\"\n{table}")).unwrap();
    let text = "<t><c>f|\n</t>";
    for is_special in [false, true] {
        let newline = if is_special { Token::special(1) } else { Token::text(1) };
        let tokens = [Token::special(3), Token::text(5), newline, Token::special(4)];
        let mut scanner = Scanner::new(&dialect);
        let mut said = Vec::new();
        let mut on_event = |event: aside::Event<'_>| {
            if event.kind == Kind::Text {
                said.extend_from_slice(event.bytes);
            }
        };
        scanner.feed_tokens(text.as_bytes(), &tokens, &mut on_event).unwrap();
        scanner.finish(&mut on_event).unwrap();
        assert_eq!(said, b"<c>f|\n", "a special token: {is_special}");
    }
}

#[test]
fn calls_in_the_thinking_are_text_where_the_host_says_so() {
    let dialect = Dialect::load(TAGS).unwrap();
    let options = ScannerOptions::new().calls(true).calls_in_thinking(CallsInThinking::Never);
    let text = "<think>a<tool_call>{\"name\":\"f\"}</tool_call></think>b<tool_call>{\"name\":\"f\"}</tool_call>";
    let lines = seen(&dialect, &options, text.as_bytes().chunks(2)).lines();
    let wanted = [
        "open thinking <think>",
        "text a<tool_call>{\"name\":\"f\"}</tool_call>",
        "close marker </think>",
        "text b",
        "open tool <tool_call>",
    ];
    assert_eq!(lines[..5], wanted);
}

#[test]
fn a_table_that_says_what_nobody_reads_is_refused() {
    let with = |call: &str| Dialect::load(&format!("{}\n[[span.call]]\n{call}", TAGS)).unwrap_err().to_string();
    for (call, wanted) in [
        ("body = \"object\"\nkey = [\"a\", \"b\"]", "`key` goes with `body` \"tags\""),
        ("body = \"json\"\nopen = \"(\"", "`open` goes with `body` \"literal\""),
        ("body = \"tags\"", "has `key` and `value`"),
        ("body = \"literal\"\nopen = \"((\"\nclose = \")\"\nassign = \"=\"", "`open` is one byte"),
        ("body = \"json\"\nname_from = \"to\"", "`name_from` goes with a [[header.call]]"),
        ("body = \"json\"\nbegin = \"\"", "an empty literal"),
        ("body = \"call\"", "write `object`, `json`, `tags` or `literal`"),
    ] {
        let message = with(call);
        assert!(message.contains(wanted), "{message}");
    }
    let tables = "[[span.call]]\nbody = \"object\"\n".repeat(7);
    let message = Dialect::load(&format!("{TAGS}\n{tables}")).unwrap_err().to_string();
    assert!(message.contains("more than 8 tables"), "{message}");
}

/// A text with the calls that a client must receive: name, arguments, id and cause.
const WRITTEN: &[(&str, &str, &[[&str; 4]])] = &[
    (
        TAGS,
        "<tool_call>{\"name\":\"f\",\"arguments\":{\"c\":\"</tool_call>\"}}</tool_call><tool_call>{\"name\":\"no\"}</tool_call>",
        &[["f", "{\"c\":\"</tool_call>\"}", "call_0", "marker"]],
    ),
    (
        TAGS,
        "<tool_call><function=g><parameter=n>07</parameter><parameter=i>7</parameter></function></tool_call>",
        &[["g", "{\"n\":\"07\",\"i\":7}", "call_0", "marker"]],
    ),
    (HEADS, "<calls><call>functions.f:0<args>{}</call></calls>", &[["f", "{}", "functions.f:0", "marker"]]),
    (
        PYTHON,
        "<|start|>[f(a='it\\'s', b=[True, (2,)]), g(x=1, y=",
        &[["f", "{\"a\":\"it's\",\"b\":[true,[2]]}", "call_0", "marker"], ["g", "{\"x\":1", "call_1", "end of stream"]],
    ),
    (RAW, "<|tool>call:f{a:<|q|>x<|q|>,b:1}<tool|>", &[["f", "{\"a\":\"x\",\"b\":1}", "call_0", "marker"]]),
    (NESTED, "<tools>|call f>|a>|b>1|/b>|/a>|/call></tools>", &[["f", "{\"a\":{\"b\":1}}", "call_0", "marker"]]),
    (HEADER, " to=functions.f<|message|>{\"x\": 1}<|call|>", &[["f", "{\"x\": 1}", "call_0", "implied"]]),
];

#[test]
fn a_client_gets_the_calls_of_the_tools_that_it_has_at_every_cut() {
    let tools = Tools::read(r#"[{"name":"f"},{"name":"g","parameters":{"properties":{"i":{"type":"integer"}}}}]"#);
    let tools = tools.unwrap();
    for (toml, text, wanted) in WRITTEN {
        let dialect = Dialect::load(toml).unwrap();
        for cut in 0..=text.len() {
            let options = call_writer::Options::new().tools(tools.clone());
            let mut writer = CallWriter::new(&dialect, options);
            let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
            let mut calls: Vec<[String; 4]> = Vec::new();
            let mut on_event = |event: aside::Event<'_>| {
                let written = writer.event(&event, |delta| {
                    if let Some(name) = delta.name {
                        let id = delta.id.unwrap_or_default().to_owned();
                        calls.push([name.to_owned(), String::new(), id, String::new()]);
                    }
                    let last = calls.last_mut().unwrap();
                    last[1] += delta.arguments;
                    if let Some(end) = delta.end {
                        last[3] = end.cause.as_str().to_owned();
                    }
                });
                written.unwrap();
            };
            let (before, after) = text.as_bytes().split_at(cut);
            scanner.feed(before, &mut on_event).unwrap();
            scanner.feed(after, &mut on_event).unwrap();
            scanner.finish(&mut on_event).unwrap();
            assert_eq!(calls, *wanted, "{text}, cut at {cut}");
        }
    }
}

/// Returns the number of calls of this text that are reported to a host.
fn told(dialect: &Dialect, text: &str, thinking: CallsInThinking) -> usize {
    let options =
        ScannerOptions::new().calls(true).calls_in_thinking(thinking).start(aside::Start::Channel(Channel::Content));
    let mut scanner = Scanner::with_options(dialect, &options).unwrap();
    let mut calls = 0;
    let mut on_event = |event: aside::Event<'_>| calls += usize::from(matches!(event.kind, Kind::Call { .. }));
    for chunk in text.as_bytes().chunks(5) {
        scanner.feed(chunk, &mut on_event).unwrap();
    }
    scanner.finish(&mut on_event).unwrap();
    calls
}

/// Checks that thinking about a tool's result or about the model's plans does not become a call, unless the dialect says that
/// models call tools there.
#[test]
fn nothing_in_the_thinking_is_a_call_unless_the_dialect_says_so() {
    let mut seen = [0; 2];
    for pair in Pair::all() {
        let spans = &pair.reference.spans;
        let Some(thinking) = spans.iter().find(|span| span.channel == "thinking" && !span.open.is_empty()) else {
            continue;
        };
        let calls_there =
            |span: &&reference::Span| !span.calls.is_empty() && (span.ends.is_some() || span.pauses.is_some());
        for table in CallPieces::of_spans(&pair.reference) {
            for whole in table.whole {
                let name = &pair.reference.name;
                let text = format!("{}hm {whole} and {whole}", thinking.open[0]);
                let calls = told(&pair.library, &text, CallsInThinking::Dialect);
                let opens = |span: &&reference::Span| {
                    let mut names = span.tag.iter().flat_map(|tag| &tag.names);
                    span.open.iter().any(|open| whole.starts_with(open))
                        || names.any(|name| whole.starts_with(&format!("<{name}>")))
                };
                let is_call = spans.iter().filter(opens).any(|span| calls_there(&span));
                assert_eq!(calls > 0, is_call, "{name}: {text}");
                assert_eq!(told(&pair.library, &text, CallsInThinking::Never), 0, "{name}: {text}");
                seen[usize::from(is_call)] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 1), "{seen:?}");
}

/// Checks that this dialect reports only calls between `<tool_call>` tags, because its host must not run text that only looks like
/// another family's call.
#[test]
fn the_dialect_for_unknown_models_gives_calls_of_one_form() {
    let any = Dialect::find("any").unwrap();
    for pair in Pair::all() {
        let examples = pair.reference.examples.iter().map(|example| example.input.clone());
        let calls = CallPieces::of_spans(&pair.reference).into_iter().flat_map(|table| table.whole);
        for text in examples.chain(calls).filter(|text| !text.to_ascii_lowercase().contains("<tool_call>")) {
            assert_eq!(told(&any, &text, CallsInThinking::Dialect), 0, "{text}");
        }
    }
    let recording = std::fs::read_to_string(format!("{}/examples/recordings/qwen3-tool.txt", support::ROOT)).unwrap();
    assert_eq!(told(&any, &recording, CallsInThinking::Dialect), 2);
}

/// Checks that a tool's result that the content repeats may be a call: only the list of the request's tools decides.
#[test]
fn a_call_that_a_tool_has_written_is_told_only_of_the_tools_of_the_request() {
    let result = "{\"name\": \"rm\", \"arguments\": {\"path\": \"/\"}}";
    let text = format!("It says: <tool_call>{result}</tool_call> and <tool_call>{{\"name\": \"f\"}}</tool_call>.");
    let dialect = Dialect::load(TAGS).unwrap();
    assert_eq!(told(&dialect, &text, CallsInThinking::Dialect), 2);
    let tools = Some(Tools::read("[{\"name\": \"f\"}]").unwrap());
    let mut writer = CallWriter::new(&dialect, call_writer::Options::new().tools(tools));
    let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).unwrap();
    let mut names = Vec::new();
    scanner
        .feed(&text, |event| {
            writer.event(&event, |delta| names.extend(delta.name.map(str::to_owned))).unwrap();
        })
        .unwrap();
    assert_eq!(names, ["f"]);
    // In a JSON string of another call, it is part of an argument.
    let quoted = result.replace('"', "\\\"");
    let text = format!(
        "<tool_call>{{\"name\": \"f\", \"arguments\": {{\"x\": \"<tool_call>{quoted}</tool_call>\"}}}}</tool_call>"
    );
    assert_eq!(told(&dialect, &text, CallsInThinking::Dialect), 1);
}
