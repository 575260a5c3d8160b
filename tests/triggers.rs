//! Tests the texts that a server needs to make a model write a dialect's calls by a grammar: a call that is made of these texts
//! must be read as that call, in every table of every built-in dialect.

use aside::call_writer::{CallWriter, Options, Tools};
use aside::{Dialect, Scanner, ScannerOptions, Start, ToolArguments, ToolTrigger};

const TOOLS: &str =
    r#"[{"name": "get_time", "parameters": {"properties": {"city": {"type": "string"}, "n": {"type": "integer"}}}}]"#;

/// Returns the arguments in the form that a server's grammar allows.
fn arguments(one: &ToolTrigger) -> String {
    let ToolTrigger { key_begin, key_end, value_begin, value_end, .. } = one;
    let tagged = |key: &str, value: &str| format!("{key_begin}{key}{key_end}{value_begin}{value}{value_end}");
    match one.arguments {
        ToolArguments::Json => r#"{"city": "Oslo", "n": 1}"#.into(),
        ToolArguments::Tags => tagged("city", "Oslo") + &tagged("n", "1"),
        ToolArguments::Elements => {
            let element = |key: &str, value: &str| tagged(key, value) + key + key_end;
            element("city", "Oslo") + &element("n", "1")
        }
        ToolArguments::Literal if value_begin.is_empty() => format!(r#"city{key_end}"Oslo", n{key_end}1"#),
        ToolArguments::Literal => format!("city{key_end}{value_begin}Oslo{value_end}, n{key_end}1"),
        other => panic!("arguments of a new style: {other:?}"),
    }
}

fn read(dialect: &Dialect, start: Start, text: &str) -> Vec<(String, String, bool)> {
    let options = Options::new().tools(Tools::read(TOOLS).unwrap());
    let mut writer = CallWriter::new(dialect, options);
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().start(start).calls(true)).unwrap();
    let mut calls: Vec<(String, String, bool)> = Vec::new();
    let mut take = |event: aside::Event<'_>| {
        let taken = writer.event(&event, |delta| {
            if let Some(name) = delta.name {
                calls.push((name.into(), String::new(), false));
            }
            let call = calls.last_mut().unwrap();
            call.1 += delta.arguments;
            call.2 = delta.end.is_some_and(|end| end.is_whole && !end.is_repaired);
        });
        taken.unwrap();
    };
    scanner.feed(text, &mut take).unwrap();
    scanner.finish(&mut take).unwrap();
    calls
}

#[test]
fn a_call_of_these_texts_is_read_as_that_call() {
    let mut count = 0;
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        for one in dialect.tool_triggers().unwrap() {
            count += 1;
            let ToolTrigger { trigger, begin, after_name, end, .. } = &one;
            assert!(begin.starts_with(trigger) && !trigger.is_empty(), "{name}: {one:?}");
            let start =
                if dialect.start() == Start::Header { Start::Header } else { Start::Channel(aside::Channel::Content) };
            let text = format!("{begin}get_time{after_name}{}{end}", arguments(&one));
            let calls = read(&dialect, start, &text);
            let [(called, json, true)] = &calls[..] else { panic!("{name}: {text}: {calls:?}") };
            assert_eq!(called, "get_time", "{name}: {text}");
            let json: serde_json::Value = serde_json::from_str(json).unwrap();
            assert_eq!(json, serde_json::json!({"city": "Oslo", "n": 1}), "{name}: {text}");
            let whole = [begin, after_name, end, &one.key_begin, &one.key_end, &one.value_begin, &one.value_end]
                .map(|it| &**it);
            assert!(
                one.preserved
                    .iter()
                    .all(|tag| tag == "[CALL_ID]" || whole.iter().any(|text| text.contains(tag.as_str())))
            );
        }
    }
    assert!(count > 60, "{count} tables");
}
