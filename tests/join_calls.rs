//! Joins calls: if they are read back with the schemas of their tools, they must be the same, in every dialect that describes
//! calls. A call must be refused only if it cannot be written so.

use std::collections::BTreeSet;

use aside::call_writer::{self, CallWriter, Tools};
use aside::{
    CallFault, CallPart, Channel, Dialect, JoinCall, JoinError, JoinOptions, Markers, Scanner, ScannerOptions, Start,
};
use samples::{Random, Texts};
use serde_json::{Map, Value, json};
use support::Pair;

#[derive(Debug, PartialEq)]
struct Call {
    name: String,
    arguments: Value,
    id: Option<String>,
}

/// The words with a meaning in a dialect's tables, and those of them that end a value.
struct Words {
    all: Vec<String>,
    ends: Vec<String>,
    are_nested: bool,
}

impl Words {
    fn new(tables: &[&reference::CallTable], closers: &[&String]) -> Words {
        let (mut all, mut ends) = (BTreeSet::new(), BTreeSet::new());
        all.extend(closers.iter().map(|closer| (*closer).clone()));
        for table in tables {
            let single = [&table.begin, &table.end, &table.mark, &table.open, &table.close, &table.assign];
            all.extend(single.into_iter().chain(&table.key).chain(&table.skip).chain(&table.name_end).cloned());
            let framing = [&table.framing.after_open, &table.framing.before_close];
            all.extend(framing.into_iter().chain([&table.value[0]]).cloned());
            ends.extend([&table.value[1], &table.raw_quote].into_iter().cloned());
            if table.body == "tags" && !table.nested {
                // A value without its closer may end at a key, the call's end or a misspelt closer.
                ends.extend([&table.key[0], &table.end].into_iter().cloned());
                ends.extend(closers.iter().filter(|_| table.end.is_empty()).map(|closer| (*closer).clone()));
                ends.extend(table.value[1].strip_suffix('>').map(str::to_string));
                ends.insert("</".into());
            }
            if table.nested {
                ends.insert(table.mark.clone());
            }
            if table.cdata {
                ends.insert("<![CDATA[".into());
            }
        }
        all.extend(ends.iter().cloned());
        let list = |set: BTreeSet<String>| set.into_iter().filter(|word| !word.is_empty()).collect();
        Words { all: list(all), ends: list(ends), are_nested: tables.iter().any(|table| table.nested) }
    }

    fn of(reference: &reference::Dialect) -> Words {
        let header = reference.header.iter().flat_map(|header| &header.calls);
        let tables: Vec<_> = reference.spans.iter().flat_map(|span| &span.calls).chain(header).collect();
        let closers = reference.spans.iter().flat_map(|span| span.close.iter().chain(&span.open));
        let of_header = reference.header.iter().flat_map(|header| header.begin.iter().chain(&header.close));
        Words::new(&tables, &closers.chain(of_header).collect::<Vec<_>>())
    }

    fn text(&self, random: &mut Random) -> String {
        const PLAIN: [&str; 22] = [
            "a",
            "Zürich",
            "{\"x\": 1}",
            "\"q\"",
            "it's",
            "a\nb",
            "1 < 2 & 3",
            "雪\t",
            "\\n",
            "x, y)",
            " pad ",
            "[1",
            "//",
            "<b>",
            "\u{1}\u{7f}",
            "🦀",
            "\n",
            "None",
            "42",
            "null",
            "&amp;",
            "]]>",
        ];
        let mut text = String::new();
        for _ in 0..random.below(4) {
            match random.below(6) {
                0 => text.push_str(random.pick::<String>(&self.all)),
                // The beginning of a word.
                1 => {
                    let word: &String = random.pick(&self.all);
                    let chars = word.chars().count();
                    text.extend(word.chars().take(random.below(chars)));
                }
                _ => text.push_str(random.pick::<&str>(&PLAIN)),
            }
        }
        text
    }

    /// Elements have no types. So if a dialect writes values as elements, a list has either strings or a single item of any type.
    fn list(&self, random: &mut Random, depth: usize) -> Value {
        match random.below(if self.are_nested { 2 } else { 3 }) {
            0 => (0..random.below(3)).map(|_| self.text(random)).collect(),
            1 => vec![self.value(random, depth + 1)].into(),
            _ => (0..random.below(3)).map(|_| self.value(random, depth + 1)).collect(),
        }
    }

    fn value(&self, random: &mut Random, depth: usize) -> Value {
        match random.below(if depth < 3 { 10 } else { 6 }) {
            0..=2 => self.text(random).into(),
            3 => random.pick(&[json!(0), json!(-7), json!(42), json!(3.5), json!(1e-9)]).clone(),
            4 => random.one_in(2).into(),
            5 => Value::Null,
            6 | 7 => self.list(random, depth),
            _ => {
                let keys = ["k", "long_key", "z9", "é"];
                (0..random.below(3)).map(|_| (random.pick(&keys).to_string(), self.value(random, depth + 1))).collect()
            }
        }
    }

    fn calls(&self, random: &mut Random, prefix: &str, is_head: bool) -> Vec<Call> {
        let call = |random: &mut Random, index: usize| {
            let name = format!("{}{index}", random.pick(&["get_weather", "ns.tool-2", "f", "_write/file", "é"]));
            let keys = ["city", "days", "text", "items", "opt_1"];
            let mut arguments = Map::new();
            for _ in 0..random.below(4) {
                arguments.insert((*random.pick(&keys)).into(), self.value(random, 0));
            }
            let id = if is_head { format!("{prefix}{name}:{index}") } else { format!("id-{index}") };
            Call { name, arguments: arguments.into(), id: if random.one_in(2) { Some(id) } else { None } }
        };
        (0..1 + random.below(3)).map(|index| call(random, index)).collect()
    }
}

/// Returns a schema with exactly the types of a value.
fn schema(values: &[&Value]) -> Value {
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds: BTreeSet<&str> = values.iter().map(|value| kind(value)).collect();
    let mut properties = Map::new();
    let members = || values.iter().filter_map(|value| value.as_object());
    for key in members().flat_map(|members| members.keys()) {
        let values: Vec<&Value> = members().filter_map(|members| members.get(key)).collect();
        properties.insert(key.clone(), schema(&values));
    }
    let items: Vec<&Value> = values.iter().filter_map(|value| value.as_array()).flatten().collect();
    let items = if items.is_empty() { json!({}) } else { schema(&items) };
    json!({"type": kinds, "properties": properties, "items": items})
}

/// Returns what a client receives: the calls, the thinking and the content.
fn read(dialect: &Dialect, text: &[u8], start: Start, calls: &[Call]) -> (Vec<Call>, Vec<u8>, Vec<u8>) {
    let tools: Vec<Value> =
        calls.iter().map(|call| json!({"name": call.name, "parameters": schema(&[&call.arguments])})).collect();
    let tools = Some(Tools::read(&json!(tools).to_string()).unwrap());
    let mut writer = CallWriter::new(dialect, call_writer::Options::new().tools(tools));
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().start(start).calls(true)).unwrap();
    let mut read: Vec<(String, String, String)> = Vec::new();
    let (mut thinking, mut content) = (Vec::new(), Vec::new());
    let mut on_event = |event: aside::Event<'_>| {
        match (&event.kind, event.channel) {
            (aside::Kind::Text, Channel::Thinking) => thinking.extend_from_slice(event.bytes),
            (aside::Kind::Text, Channel::Content) => content.extend_from_slice(event.bytes),
            (aside::Kind::Text, _) => panic!("text in a region of calls: {}", event.bytes.escape_ascii()),
            _ => {}
        }
        let written = writer.event(&event, |delta| {
            if let (Some(name), Some(id)) = (delta.name, delta.id) {
                read.push((name.into(), String::new(), id.into()));
            }
            read.last_mut().unwrap().1 += delta.arguments;
            assert!(delta.end.is_none_or(|end| end.is_whole && end.late_id.is_none()));
        });
        written.unwrap();
    };
    for chunk in text.chunks(7) {
        scanner.feed(chunk, &mut on_event).unwrap();
    }
    scanner.finish(&mut on_event).unwrap();
    let calls = read.into_iter().map(|(name, arguments, id)| {
        let arguments = serde_json::from_str(&arguments).unwrap_or_else(|error| panic!("{error}: {arguments}"));
        Call { name, arguments, id: Some(id) }
    });
    (calls.collect(), thinking, content)
}

fn join(
    dialect: &Dialect,
    thinking: &[u8],
    content: &[u8],
    calls: &[Call],
    options: &JoinOptions<'_>,
) -> Result<Vec<u8>, JoinError> {
    let arguments: Vec<String> = calls.iter().map(|call| call.arguments.to_string()).collect();
    let calls: Vec<JoinCall<'_>> = std::iter::zip(calls, &arguments)
        .map(|(call, arguments)| JoinCall::new(&call.name, arguments).id(call.id.as_deref()))
        .collect();
    dialect.join(thinking, content, &options.calls(&calls))
}

/// Returns whether a string in a value contains one of these words, or ends with the beginning of one, which the next text may
/// complete.
fn has_word(value: &Value, words: &[String]) -> bool {
    match value {
        Value::String(text) => words.iter().any(|word| {
            let is_begun = word.char_indices().skip(1).any(|(at, _)| text.ends_with(&word[..at]));
            is_begun || text.contains(word.as_str())
        }),
        Value::Array(items) => items.iter().any(|item| has_word(item, words)),
        Value::Object(members) => members.values().any(|value| has_word(value, words)),
        _ => false,
    }
}

/// Checks many random calls.
fn holds(pair: &Pair, rounds: usize, random: &mut Random, shown: &str) {
    let dialect = &pair.library;
    let Some(table) = first_table(&pair.reference) else { return };
    let words = Words::of(&pair.reference);
    let has_place = table.body == "object" && !table.key_is_name || table.id.is_some();
    let has_place = has_place || !table.id_begin.is_empty() || !table.id_end.is_empty();
    let is_head = table.body != "object" && table.id.is_some();
    let prefix = table.prefix.first().map_or("", String::as_str);
    let (mut joined, mut refused) = (0, 0);
    for _ in 0..rounds {
        let calls = words.calls(random, prefix, is_head);
        let text = match join(dialect, b"", b"", &calls, &JoinOptions::new().start(dialect.start())) {
            Ok(text) => text,
            Err(JoinError::Call { call, part: CallPart::Value(key), fault }) => {
                let value = &calls[call].arguments[&*key];
                assert!(has_word(value, &words.ends), "{shown}: {fault:?} of {key} in {:?}", calls[call]);
                refused += 1;
                continue;
            }
            Err(error) => panic!("{shown}: {error}: {calls:?}"),
        };
        joined += 1;
        let (read, ..) = read(dialect, &text, dialect.start(), &calls);
        let text = text.escape_ascii();
        assert_eq!(read.len(), calls.len(), "{shown}: {text}");
        for (got, wanted) in std::iter::zip(&read, &calls) {
            assert_eq!((&got.name, &got.arguments), (&wanted.name, &wanted.arguments), "{shown}: {text}");
            assert!(!has_place || wanted.id.is_none() || got.id == wanted.id, "{shown}: {text}: {got:?}");
        }
    }
    assert!(
        joined > rounds / 2,
        "{shown}: of {rounds} lists of calls only {joined} were joined, and {refused} refused"
    );
}

/// Returns the table by which calls are written, if the dialect describes calls.
fn first_table(reference: &reference::Dialect) -> Option<&reference::CallTable> {
    let header = reference.header.iter().flat_map(|header| &header.calls);
    let spans = reference.spans.iter().filter(|span| !span.bare);
    spans.filter_map(|span| span.calls.first()).chain(header).next()
}

#[test]
fn calls_that_are_joined_are_read_back() {
    let mut random = Random::announced("calls_that_are_joined_are_read_back");
    let pairs: Vec<Pair> = Pair::all().into_iter().filter(Pair::has_calls).collect();
    assert!(pairs.len() > 7);
    for pair in &pairs {
        holds(pair, 300, &mut random, &pair.reference.name);
    }
}

/// Checks each table of the specification alone, if the specification is available.
#[test]
fn calls_of_every_family_are_read_back() {
    let Some(path) = support::shared("spec/call-tables.toml") else { return };
    let tables = std::fs::read_to_string(path).unwrap();
    let mut random = Random::announced("calls_of_every_family_are_read_back");
    let (mut span, mut count) = (String::new(), 0);
    for block in tables.split("\n[").map(|block| block.trim_start_matches('[')) {
        let (head, body) = block.split_once('\n').unwrap_or((block, ""));
        let is_line = |line: &&str| {
            !line.starts_with('#')
                && !line.starts_with("ends ")
                && !line.starts_with("pauses ")
                && !line.starts_with("quote ")
                && !line.starts_with("value_stop ")
        };
        let lines: Vec<&str> = body.lines().filter(is_line).collect();
        if head.ends_with(".span]]") {
            // A tool region alone, in a dialect without thinking. The stream may begin with the region anywhere.
            span = lines.join("\n").replace("where = \"start\"", "");
        } else if head.ends_with(".span.call]]") && !span.contains("bare") {
            let text = format!("name = \"own\"\n[[span]]\n{span}\n[[span.call]]\n{}\n", lines.join("\n"));
            holds(&Pair::parse(&text), 100, &mut random, &text);
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
}

#[test]
fn calls_stand_after_thinking_and_content() {
    let mut random = Random::announced("calls_stand_after_thinking_and_content");
    for pair in Pair::all().iter().filter(|pair| first_table(&pair.reference).is_some()) {
        let texts = Texts::new(&pair.reference);
        let words = Words::of(&pair.reference);
        let mut joined = 0;
        for _ in 0..100 {
            let thinks = pair.library.join("a", "", &JoinOptions::new()).is_ok();
            let length = random.below(20);
            let thinking = if thinks { texts.next(&mut random, length) } else { Vec::new() };
            let length = random.below(20);
            let content = texts.next(&mut random, length);
            let calls = [Call { name: "f".into(), arguments: json!({"x": random.below(9)}), id: None }];
            let markers = if random.one_in(2) { Markers::Escape } else { Markers::Refuse };
            match join(&pair.library, &thinking, &content, &calls, &JoinOptions::new().markers(markers)) {
                Ok(text) => {
                    let (read, got_thinking, got_content) = read(&pair.library, &text, pair.library.start(), &calls);
                    let shown = text.escape_ascii();
                    assert_eq!((&read[0].name, &read[0].arguments), (&calls[0].name, &calls[0].arguments), "{shown}");
                    assert_eq!(read.len(), 1, "{shown}");
                    if markers == Markers::Refuse {
                        assert_eq!((got_thinking, got_content), (thinking, content), "{shown}");
                    }
                    joined += 1;
                }
                Err(JoinError::Marker { part: Channel::Thinking, offset }) => assert!(offset <= thinking.len()),
                Err(JoinError::Marker { part: Channel::Content, offset }) => assert!(offset <= content.len()),
                Err(error) => panic!("{}: {error}: {}", pair.reference.name, content.escape_ascii()),
            }
        }
        assert!(joined > 30, "{}: {joined} of 100; words {:?}", pair.reference.name, words.all);
    }
}

#[test]
fn calls_that_have_no_opener_are_not_written() {
    let pythonic = Dialect::find("pythonic").unwrap();
    let refused = pythonic.join("", "", &JoinOptions::new().calls(&[JoinCall::new("f", "{}")]));
    assert_eq!(refused, Err(JoinError::NotWritten(Channel::Tool)));
}

const TAGS: &str = include_str!("dialects/calls-tags.toml");
const HEADS: &str = include_str!("dialects/calls-heads.toml");
const PYTHON: &str = include_str!("dialects/calls-python.toml");
const RAW: &str = include_str!("dialects/calls-raw.toml");
const NESTED: &str = include_str!("dialects/calls-nested.toml");
const HEADER: &str = include_str!("dialects/calls-header.toml");
const TYPES: &str = include_str!("dialects/calls-types.toml");

/// Returns the dialect with only one table of calls.
fn only_tags() -> String {
    TAGS.replace("[[span.call]]\nbody = \"object\"\n", "")
}

#[track_caller]
fn writes(toml: &str, calls: &[JoinCall<'_>], wanted: &str) {
    let dialect = Dialect::load(toml).unwrap();
    let text = dialect.join("", "", &JoinOptions::new().calls(calls)).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), wanted);
}

#[test]
fn as_the_model_writes_them() {
    let f = JoinCall::new("f", r#" {"a": "it's \"1\"\n", "b": [true, {"k": null}], "c": -1.5e3} "#);
    let g = JoinCall::new("g", "{}");
    let body = r#""arguments": {"a": "it's \"1\"\n", "b": [true, {"k": null}], "c": -1.5e3}}</tool_call>"#;
    writes(
        TAGS,
        &[f.id("7"), g],
        &format!(
            r#"<tool_call>{{"id": "7", "name": "f", {body}<tool_call>{{"name": "g", "arguments": {{}}}}</tool_call>"#
        ),
    );
    writes(
        &only_tags(),
        &[f, g],
        "<tool_call><function=f><parameter=a>\nit's \"1\"\n\n</parameter><parameter=b>\n[true, {\"k\": null}]\n</parameter>\
         <parameter=c>\n-1.5e3\n</parameter></function><function=g></function></tool_call>",
    );
    writes(
        HEADS,
        &[JoinCall::new("f", r#"{"a":1}"#).id("functions.f:9"), g, JoinCall::new("h:1", "{}")],
        "<calls><call>functions.f:9<args>{\"a\":1}</call><call>functions.g:1<args>{}</call>\
         <call>functions.h:1:2<args>{}</call></calls>",
    );
    writes(PYTHON, &[f, g], r#"<|start|>[f(a="it's \"1\"\n", b=[True, {"k":None}], c=-1.5e3), g()]<|end|>"#);
    writes(
        RAW,
        &[f, JoinCall::new("g", r#"{"a b": {"c d": "", "e": []}}"#)],
        "<|tool>call:f{a:<|q|>it's \"1\"\n<|q|>, b:[true, {k:null}], c:-1.5e3}<tool|>\
         <|tool>call:g{<|q|>a b<|q|>:{<|q|>c d<|q|>:<|q|><|q|>, e:[]}}<tool|>",
    );
    writes(
        NESTED,
        &[f, g],
        "<tools>|call f>|a>it's \"1\"\n|/a>|b>|item>true|/item>|item>|k>null|/k>|/item>|/b>|c>-1.5e3|/c>|/call>\
         |call g>|/call></tools>",
    );
    writes(
        TYPES,
        &[JoinCall::new("f", r#"{"i": 1, "s": "", "n": 0.5, "o": {}, "a": [], "b": false, "z": null}"#).id("x")],
        "<calls><call:x|f;!<k>i</k><t>int</t><v>\n1\n</v><k>s</k><t>string</t><v>\n\n</v><k>n</k><t>number</t><v>\n0.5\n</v>\
         <k>o</k><t>object</t><v>\n{}\n</v><k>a</k><t>array</t><v>\n[]\n</v><k>b</k><t>boolean</t><v>\nfalse\n</v>\
         <k>z</k><t>null</t><v>\nnull\n</v></call></calls>",
    );
    writes(
        HEADER,
        &[g, JoinCall::new("functions.h", r#"{"x": "<|call|>"}"#)],
        "<|start|>assistant<|channel|>commentary to=functions.g<|message|>{}<|call|>\
         <|start|>assistant<|channel|>commentary to=functions.functions.h<|message|>{\"x\": \"<|call|>\"}<|call|>",
    );
}

/// Checks calls in messages of built-in dialects with headers.
#[test]
fn messages_with_calls() {
    let f = JoinCall::new("f", r#"{"x":1}"#).id("7");
    let cases = [
        (
            "harmony",
            "<|start|>assistant<|channel|>final<|message|>Yes.<|end|>\
             <|start|>assistant<|channel|>commentary to=functions.f<|constrain|>json<|message|>{\"x\":1}<|call|>",
        ),
        (
            "muse",
            "<|start|>assistant to=user<|message|>Yes.<|eom|><|start|>assistant to=muse_tool<|message|>\
             <atem:invoke name=\"f\"><atem:parameter name=\"x\">1</atem:parameter></atem:invoke><|eom|>",
        ),
        (
            "solar",
            "<|begin|>assistant<|content|>Yes.<|end|><|begin|>assistant<|tool_calls|>\
             <|tool_call:begin|>7<|tool_call:name|>f<|tool_call:args|>{\"x\":1}<|tool_call:end|><|end|>",
        ),
        (
            "inkling",
            "<|message_model|><|content_text|>Yes.<|end_message|><|message_model|><|content_invoke_tool_json|>\
             {\"id\": \"7\", \"name\": \"f\", \"args\": {\"x\":1}}<|end_message|>",
        ),
    ];
    for (name, wanted) in cases {
        let dialect = Dialect::find(name).unwrap();
        let text = dialect.join("", "Yes.", &JoinOptions::new().calls(&[f])).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), wanted, "{name}");
    }
}

/// Checks that each call is written in a separate region, or in a list if nothing would end the first region.
#[test]
fn several_calls_stand_apart() {
    let with =
        |span: &str, call: &str| format!("name = \"own\"\n[[span]]\nchannel = \"tool\"\n{span}[[span.call]]\n{call}");
    let calls = [JoinCall::new("f", "{}"), JoinCall::new("g", "{}")];
    let [f, g] = ["f", "g"].map(|name| format!("{{\"name\": \"{name}\", \"arguments\": {{}}}}"));
    let object = "body = \"object\"\n";
    writes(&with("open = [\"<|tool|>\"]\n", object), &calls, &format!("<|tool|>[{f}, {g}]"));
    writes(&with("open = [\"<|tool|>\"]\n", object), &calls[..1], &format!("<|tool|>{f}"));
    writes(&with("open = [\"<c>[\"]\nclose = [\"]</c>\"]\n", object), &calls, &format!("<c>[{f}]</c><c>[{g}]</c>"));
    let begun = "body = \"object\"\nbegin = \"<c>\"\nskip = [\"</c>\"]\n";
    writes(
        &with("open = [\"<s>\"]\nclose = [\"</s>\"]\n", begun),
        &calls,
        &format!("<s><c>{f}</c></s><s><c>{g}</c></s>"),
    );
    let json = "body = \"json\"\nbegin = \"[C]\"\nname_end = [\"[A]\"]\nid_begin = \"[I]\"\n";
    writes(&with("open = [\"[C]\"]\n", json), &[calls[0].id("9"), calls[1]], "[C]f[I]9[A]{}[C]g[A]{}");
    let tag = "body = \"tags\"\nkey = [\"<k>\", \"</k>\"]\nvalue = [\"<v>\", \"</v>\"]\n";
    writes(&with("tag = { names = [\"job\"] }\n", tag), &calls, "<job>f</job><job>g</job>");
}

#[track_caller]
fn refuses(toml: &str, call: JoinCall<'_>, part: CallPart, fault: CallFault) {
    let dialect = Dialect::load(toml).unwrap();
    // The error must be about the faulty call, not the call before it.
    let result = dialect.join("", "", &JoinOptions::new().calls(&[JoinCall::new("fine", "{}"), call]));
    assert_eq!(result, Err(JoinError::Call { call: 1, part, fault }));
}

#[test]
fn calls_that_would_not_be_read_back() {
    use CallFault::{Closer, Misread, NotObject, Stop, Surrogate};
    let f = |arguments: &'static str| JoinCall::new("f", arguments);
    let value = || CallPart::Value("k".into());
    let tags = &*only_tags();
    refuses(tags, f(r#"{"a": 1, "k": "é</parameter>"}"#), value(), Closer { offset: 2 });
    refuses(tags, f(r#"{"k": "a\n</parameter> <parameter=x>"}"#), value(), Closer { offset: 1 });
    refuses(tags, f(r#"{"k": "a\n<parameter=x>"}"#), value(), Stop { offset: 1 });
    refuses(tags, f(r#"{"k": "a</k>\n<parameter=x>"}"#), value(), Stop { offset: 1 });
    refuses(tags, f(r#"{"k": {"x": "\n", "y": "</parameter></function>"}}"#), value(), Closer { offset: 18 });
    refuses(tags, f(r#"{"k\n": 1}"#), CallPart::Key("k\n".into()), Misread { offset: 1 });
    refuses(tags, f(r#"{"": 1}"#), CallPart::Key("".into()), Misread { offset: 0 });
    refuses(tags, f(r#"{"a": 1, "k": "\ud83d"}"#), value(), Surrogate);
    refuses(tags, f(r#"{"a": 1, "\ud83d": 1}"#), CallPart::Arguments, Surrogate);
    refuses(tags, f("[1]"), CallPart::Arguments, NotObject);
    refuses(tags, f(""), CallPart::Arguments, NotObject);
    refuses(tags, f("{} {}"), CallPart::Arguments, NotObject);
    refuses(tags, JoinCall::new("1f", "{}"), CallPart::Name, Misread { offset: 0 });
    refuses(TAGS, JoinCall::new("", "{}"), CallPart::Name, Misread { offset: 0 });
    let types = &TYPES.replace("framing = {", "#");
    refuses(types, f(r#"{"k": "<![CDATA[x"}"#), value(), Misread { offset: 0 });
    refuses(HEADS, f("{}").id("call_1"), CallPart::Id, Misread { offset: 0 });
    refuses(HEADS, f("{}").id("functions.f:x"), CallPart::Id, Misread { offset: 0 });
    refuses(HEADS, f("{}").id("tools.f:1"), CallPart::Id, Misread { offset: 0 });
    refuses(HEADS, JoinCall::new("f:1", "{}").id("functions.f:1"), CallPart::Name, Misread { offset: 1 });
    refuses(PYTHON, f(r#"{"a b": 1}"#), CallPart::Key("a b".into()), Misread { offset: 1 });
    refuses(RAW, f(r#"{"a": 1, "k": "a<|q|>b"}"#), value(), Closer { offset: 6 });
    // With two closers, the brackets around the value would still match.
    refuses(RAW, f(r#"{"k": ["a<|q|>, <|q|>b"]}"#), value(), Closer { offset: 7 });
    refuses(NESTED, f(r#"{"k": {"x": "a|/x>|y>b"}}"#), value(), Closer { offset: 1 });
    let deep = format!("{{\"k\": {}{}}}", "[".repeat(65), "]".repeat(65));
    let dialect = Dialect::load(PYTHON).unwrap();
    let error = dialect.join("", "", &JoinOptions::new().calls(&[JoinCall::new("f", &deep)])).unwrap_err();
    assert_eq!(error, JoinError::Call { call: 0, part: value(), fault: Misread { offset: 64 } });
    assert_eq!(
        error.to_string(),
        "call 0: the value of \"k\" would not be read back as it is: byte 64 of it is read as something else"
    );
}

/// Checks that if the text contains the opener of calls, the error names the text and not the calls.
#[test]
fn a_text_that_is_read_as_a_call_is_refused() {
    let dialect = Dialect::load(TAGS).unwrap();
    let call = [JoinCall::new("f", "{}")];
    let error = dialect.join("", "a <tool_call>{\"", &JoinOptions::new().calls(&call)).unwrap_err();
    assert_eq!(error, JoinError::Marker { part: Channel::Content, offset: 2 });
    let mention = "I write <tool_call> and {";
    let text = dialect.join(mention, mention, &JoinOptions::new().calls(&call)).unwrap();
    let wanted =
        format!("<think>{mention}</think>{mention}<tool_call>{{\"name\": \"f\", \"arguments\": {{}}}}</tool_call>");
    assert_eq!(String::from_utf8(text).unwrap(), wanted);
}

#[test]
fn a_dialect_without_tables_writes_no_calls() {
    let dialect = Dialect::load("name = \"own\"\n[[span]]\nchannel = \"tool\"\nopen = [\"((\"]\n").unwrap();
    let error = dialect.join("", "", &JoinOptions::new().calls(&[JoinCall::new("f", "{}")])).unwrap_err();
    assert_eq!(error, JoinError::NotWritten(Channel::Tool));
    assert_eq!(dialect.join("", "a", &JoinOptions::new().calls(&[])), Ok(b"a".to_vec()));
}
