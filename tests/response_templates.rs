//! Makes dialects from response templates. At every cut, they must have the same results as the format's own parser.

use std::collections::BTreeMap;

use aside::call_writer::{CallWriter, Options};
use aside::{Channel, Dialect, Event, Kind, Scanner, ScannerOptions};
use serde_json::Value;

const TEMPLATES: &str = include_str!("response_templates/trl.json");
const CASES: &str = include_str!("response_templates/cases.jsonl");

#[derive(Debug, Default, PartialEq)]
struct Message {
    thinking: String,
    content: String,
    calls: Vec<(String, Value)>,
}

fn read(dialect: &Dialect, prefix: &str, pieces: &[&str]) -> Message {
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().calls(true)).unwrap();
    scanner.start_from_prompt(prefix).unwrap();
    let mut writer = CallWriter::new(dialect, Options::new());
    let (mut message, mut calls) = (Message::default(), BTreeMap::<u64, (String, String)>::new());
    let mut take = |event: Event<'_>| {
        let text = std::str::from_utf8(event.bytes).unwrap();
        match (&event.kind, event.channel) {
            (Kind::Text, Channel::Thinking) => message.thinking += text,
            (Kind::Text, Channel::Content) => message.content += text,
            (Kind::Reclassify, _) => message.thinking = std::mem::take(&mut message.content),
            _ => {}
        }
        let add = |delta: aside::call_writer::CallDelta<'_>| {
            let call = calls.entry(delta.index).or_default();
            call.0 += delta.name.unwrap_or_default();
            call.1 += delta.arguments;
        };
        writer.event(&event, add).unwrap();
    };
    for piece in pieces {
        scanner.feed(piece, &mut take).unwrap();
    }
    scanner.finish(&mut take).unwrap();
    // The format's parser removes white space around a field.
    message.thinking = message.thinking.trim().to_owned();
    message.content = message.content.trim().to_owned();
    message.calls = calls
        .into_values()
        .map(|(name, arguments)| (name, serde_json::from_str(&arguments).unwrap_or(Value::String(arguments))))
        .collect();
    message
}

#[test]
fn they_read_as_their_own_parser_does_at_every_cut() {
    let templates: Value = serde_json::from_str(TEMPLATES).unwrap();
    let mut wrong = Vec::new();
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| case[name].as_str().unwrap().to_owned();
        let call = |call: &Value| (call["name"].as_str().unwrap().to_owned(), call["arguments"].clone());
        let wanted = Message {
            thinking: field("thinking"),
            content: field("content"),
            calls: case["calls"].as_array().unwrap().iter().map(call).collect(),
        };
        let (name, prefix, text) = (field("template"), field("prefix"), field("text"));
        let dialect = Dialect::from_response_template(&templates[&name].to_string());
        let dialect = dialect.unwrap_or_else(|error| panic!("{name}: {error}"));
        let read = |pieces: &[&str]| read(&dialect, &prefix, pieces);
        let whole = read(&[&text]);
        if whole != wanted {
            wrong.push(format!("{name}: {text:?}\n    {whole:?}\n not {wanted:?}"));
        }
        for (at, _) in text.char_indices() {
            assert_eq!(read(&[&text[..at], &text[at..]]), whole, "{name}: {text:?} cut at {at}");
        }
        let characters: Vec<&str> = text.split_inclusive(|_| true).collect();
        assert_eq!(read(&characters), whole, "{name}: {text:?}");
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_template_is_found_in_a_tokenizers_configuration() {
    let config = r#"{"model_max_length": 1, "response_template": {"start_anchor": "<a>",
        "fields": {"thinking": {"open": ["[t]", "[u]"], "close": "[/t]"}, "content": {}}}}"#;
    let dialect = Dialect::from_response_template(config).unwrap();
    assert_eq!(dialect.strip("[u]hm[/t]Yes.").unwrap(), b"Yes.");
}

#[test]
fn a_part_that_is_not_read_is_named() {
    let template = |fields: &str| format!(r#"{{"start_anchor": "<a>", "fields": {fields}}}"#);
    for (json, message) in [
        ("{", "line 1, a response template is JSON"),
        ("{}", "line 1, fields: a response template has `fields`"),
        (
            &template(r#"{"content": {"close_pattern": "<e>.*"}}"#),
            "line 1, fields.content.close_pattern: the pattern `<e>.*` is not read",
        ),
        (&template(r#"{"content": {"closes": "<e>"}}"#), "line 1, fields.content.closes: a field has no `closes`"),
        (&template(r#"{"mood": {"open": "<m>"}}"#), "line 1, fields.mood: a field is `content`"),
        (
            &template(r#"{"thinking": {"open": "<t>"}}"#),
            "line 1, fields.thinking.close_pattern: a thinking needs a closer",
        ),
        (
            &template(r#"{"tool_calls": {"open": "<c>", "close": "</c>", "content": "kv-lines"}}"#),
            "line 1, fields.tool_calls.content: calls are read of `json`",
        ),
    ] {
        let error = Dialect::from_response_template(json).unwrap_err().to_string();
        assert!(error.starts_with(message), "{json}: {error}");
    }
    let config = "{\"a\": {\"fields\": 1},\n\"response_template\": {\"fields\": {\n\"content\": {},\n\"thinking\": {\n\"open\": 1}}}}";
    let error = Dialect::from_response_template(config).unwrap_err();
    assert_eq!((error.line(), error.key()), (Some(5), "fields.thinking.open"), "{error}");
}
