//! Checks that time grows in proportion to the length of the input, and not with its square.

use std::time::Duration;

use cpu_time::ThreadTime;
use serde_json::json;

use super::{
    super::{CallWriter, Options, Piece},
    client::{any_dialect, options},
    table::table,
};
use crate::{Cause, calls::table::CallTable};

/// The parts that a call consists of, after the first pieces.
enum Workload {
    /// One value: copies of this text, in pieces of four bytes.
    Value(&'static str),
    /// One element with many small ones.
    Elements,
    /// Many keys, each with a value.
    Keys,
}

/// Returns the processor time for a call that begins with the pieces `first`.
fn write(options: &Options, table: &CallTable, first: &[Piece<'_>], workload: &Workload, bytes: usize) -> Duration {
    let mut writer = CallWriter::new(&any_dialect(), options.clone());
    writer.begin(table, 0).unwrap();
    let mut feed = |piece| writer.feed(piece, &mut |_| Ok(())).unwrap();
    let text = if let Workload::Value(copy) = workload { copy.repeat(bytes / copy.len()) } else { String::new() };
    // This is not the time of a clock, because the machine may run other programs meanwhile.
    let begun = ThreadTime::now();
    first.iter().for_each(|&piece| feed(piece));
    text.as_bytes().chunks(4).for_each(|part| feed(Piece::Value(part)));
    for _ in 0..if text.is_empty() { bytes / 16 } else { 0 } {
        if let Workload::Elements = workload {
            feed(Piece::Framing(b"<"));
        }
        for piece in [Piece::Key(b"a"), Piece::Framing(b">"), Piece::Value(b"1"), Piece::ValueEnd(b"</a>")] {
            feed(piece);
        }
    }
    feed(Piece::ValueEnd(b""));
    feed(Piece::End(Cause::Marker));
    begun.elapsed()
}

#[test]
fn takes_time_in_proportion_to_what_is_fed() {
    let tools = |more: &str| {
        let parameters = format!(r#"{{"properties": {{"s": {{"type": "string"}}}}{more}}}"#);
        options(Some(&format!(r#"[{{"name": "f", "parameters": {parameters}}}]"#)))
    };
    let (plain, circles) = (tools(""), tools(r##", "anyOf": [{"$ref": "#"}, {}]"##));
    let object = table(&json!({"body": "object"}));
    let tags = table(&json!({"body": "tags", "key": ["<", ">"], "value": ["", "</"]}));
    let elements = table(&json!({"body": "tags", "nested": true, "mark": "<", "key": ["<", ">"], "value": ["", "</"]}));
    let python = table(&json!({"body": "literal", "open": "(", "close": ")", "assign": "="}));
    let gemma = table(&json!({"body": "literal", "open": "{", "close": "}", "assign": ":", "raw_quote": "<q>"}));
    let name = Piece::Name(b"f");
    let (held, string) = ([name, Piece::Key(b"x")], [name, Piece::Key(b"s")]);
    let open = |first| [name, Piece::Key(b"x"), Piece::Value(first)];
    let cases: [(&str, &CallTable, &[Piece<'_>], Workload); 14] = [
        ("JSON", &object, &[name], Workload::Value("{\"a\": [1]}")),
        ("an early JSON", &object, &[], Workload::Value("{\"a\": [1]}")),
        ("a JSON string", &object, &[name, Piece::Value(b"\"")], Workload::Value("\\ud83e\\n\\\"x")),
        ("a string", &tags, &string, Workload::Value("a\"\n")),
        ("a held value", &tags, &held, Workload::Value("[[{\"a")),
        ("blanks", &tags, &held, Workload::Value(" ")),
        ("keys", &tags, &[name], Workload::Keys),
        ("elements", &elements, &held, Workload::Elements),
        ("a string of elements", &elements, &string, Workload::Elements),
        ("Python's list", &python, &open(b"["), Workload::Value("'a\\n',")),
        ("Python's sets", &python, &open(b"["), Workload::Value("{'a','b'},")),
        ("Python's dicts", &python, &open(b"["), Workload::Value("{'a':{'b':1}},")),
        ("Python's brackets", &python, &held, Workload::Value("{[(")),
        ("Gemma's map", &gemma, &open(b"{"), Workload::Value("a:<q>b<q>,")),
    ];
    for (what, table, first, workload) in cases {
        let options = if what == "keys" { &circles } else { &plain };
        let of = |bytes| write(options, table, first, &workload, bytes);
        // The second input is 16 times as long, so quadratic time would be 256 times as long.
        let times: Vec<_> = (0..8).map(|_| (of(8_000), of(128_000))).collect();
        let (short, long) = (times.iter().map(|time| time.0).min(), times.iter().map(|time| time.1).min());
        assert!(long < short.map(|short| short * 64), "{what}: {times:?}");
    }
}
