//! Tests each rule of the writer with calls that are written by hand, each call cut in every way.

use serde_json::{Value, json};

use super::{
    super::{CallState, CallWriter, Options, Piece},
    client::{Call, Source, any_dialect, in_characters, options, uncut, write},
    table::table,
};
use crate::Cause::{self, EndOfStream, Forced, Implied, Malformed, Marker};
use Piece::{End, Framing, Id, Key, Name, Type, ValueEnd};

fn object() -> Value {
    json!({"body": "object"})
}

fn tags() -> Value {
    json!({"body": "tags", "key": ["<k>", "</k>"], "value": ["<v>", "</v>"]})
}

fn python() -> Value {
    json!({"body": "literal", "open": "(", "close": ")", "assign": "="})
}

fn gemma() -> Value {
    json!({"body": "literal", "open": "{", "close": "}", "assign": ":", "raw_quote": "<q>"})
}

fn elements() -> Value {
    json!({"body": "tags", "nested": true, "mark": "]<", "key": ["]<", ">"], "value": ["", "]</"]})
}

fn value(text: &str) -> Piece<'_> {
    Piece::Value(text.as_bytes())
}

fn tool(properties: &str) -> String {
    format!(r#"[{{"name": "f", "parameters": {{"properties": {properties}}}}}]"#)
}

/// Writes the calls of a stream with every cut, checks that the results are equal, and returns them.
fn written(options: &Options, keys: &Value, calls: &[&[Piece<'_>]]) -> Vec<Call> {
    let table = table(keys);
    let source = |(call, pieces): (usize, &&[_])| Source { table: &table, call: call as u64, pieces: pieces.to_vec() };
    let sources: Vec<Source<'_>> = calls.iter().enumerate().map(source).collect();
    let whole = write(options, &sources, uncut);
    assert_eq!(write(options, &sources, in_characters), whole, "in characters");
    for at in 1..200 {
        assert_eq!(write(options, &sources, |bytes| (at < bytes.len()).then_some(at).into_iter().collect()), whole);
    }
    whole
}

/// Returns the arguments of one call that is emitted, and whether they are complete.
fn arguments(options: &Options, keys: &Value, pieces: &[Piece<'_>]) -> (String, bool) {
    let calls = written(options, keys, &[pieces]);
    assert_eq!(calls.len(), 1, "{calls:?}");
    let call = calls.into_iter().next().unwrap();
    (call.arguments, call.is_whole)
}

/// Returns the arguments of a JSON call with this value.
fn of_value(text: &str, cause: Cause) -> Option<(String, bool)> {
    let calls = written(&options(None), &object(), &[&[Name(b"f"), value(text), End(cause)]]);
    calls.into_iter().next().map(|call| (call.arguments, call.is_whole))
}

/// Returns the JSON of a value between markers, with a schema for it.
fn of_tag(text: &str, schema: &str) -> String {
    let options = options(Some(&tool(&format!(r#"{{"x": {schema}}}"#))));
    let pieces = [Name(b"f"), Key(b"x"), value(text), ValueEnd(b"</v>"), End(Marker)];
    let (arguments, is_whole) = arguments(&options, &tags(), &pieces);
    assert!(is_whole);
    arguments.strip_prefix("{\"x\":").unwrap().strip_suffix('}').unwrap().to_owned()
}

#[test]
fn emits_calls_of_tools_that_there_are() {
    let call: &[&[Piece<'_>]] = &[&[Name(b"f"), value("{}"), End(Marker)], &[Name(b"g"), value("{}"), End(Marker)]];
    let names = |tools: Option<&str>| {
        let calls = written(&options(tools), &object(), call);
        calls.into_iter().map(|call| (call.call, call.id, call.name)).collect::<Vec<_>>()
    };
    let (f, g) = ((0, "id_0".to_owned(), "f".to_owned()), (1, "id_1".to_owned(), "g".to_owned()));
    assert_eq!(names(None), [f.clone(), g.clone()]);
    assert_eq!(names(Some("[]")), []);
    assert_eq!(names(Some(r#"[{"name": "f"}, {"name": "g"}]"#)), [f.clone(), g]);
    // The id is made from the index, which counts only emitted calls.
    assert_eq!(names(Some(r#"[{"function": {"name": "g"}}]"#)), [(1, "id_0".to_owned(), "g".to_owned())]);
}

#[test]
fn decodes_the_name_of_an_object_and_no_other() {
    let name = |keys: &Value, name| written(&options(None), keys, &[&[Name(name), End(Marker)]])[0].name.clone();
    assert_eq!(name(&object(), br"get\u005f\ud83e\udde0\q"), r"get_🧠\q");
    assert_eq!(name(&json!({"body": "json"}), br"get\u005fx"), r"get\u005fx");
    assert_eq!(name(&object(), b"a\xFFb"), "a\u{FFFD}b");
    assert!(written(&options(None), &object(), &[&[value("{}"), End(Malformed)]]).is_empty());
}

#[test]
fn takes_what_follows_the_first_dot_for_the_name_where_the_table_says_so() {
    let mut keys = json!({"body": "json", "namespace": true});
    let tools = options(Some(r#"[{"name": "echo"}, {"name": "a.b"}, {"name": "b.c"}]"#));
    let name = |keys: &Value, name: &'static [u8]| {
        written(&tools, keys, &[&[Name(name), End(Marker)]]).pop().map(|call| call.name)
    };
    assert_eq!(name(&keys, b"x.echo").as_deref(), Some("echo"));
    assert_eq!(name(&keys, b"a.b").as_deref(), Some("a.b"));
    assert_eq!(name(&keys, b"a.b.c").as_deref(), Some("b.c"));
    assert_eq!(name(&keys, b"x.y.echo"), None);
    assert_eq!(name(&keys, b"echo.x"), None);
    keys["namespace"] = json!(false);
    assert_eq!(name(&keys, b"x.echo"), None);
}

#[test]
fn emits_no_cut_call_before_a_byte_of_its_arguments() {
    for cause in [EndOfStream, Forced, Malformed] {
        for keys in [object(), tags(), python(), elements()] {
            assert!(written(&options(None), &keys, &[&[Name(b"f"), End(cause)]]).is_empty());
        }
        for text in ["", "\"", "\"\"", "\"\\", "\"\\u00", "n", "null", "\"null\""] {
            assert_eq!(of_value(text, cause), None, "{text}");
        }
        assert_eq!(of_value("{", cause), Some(("{".into(), false)));
        // A key is sent with the first byte of its value.
        assert!(written(&options(None), &tags(), &[&[Name(b"f"), Key(b"x"), End(cause)]]).is_empty());
        let cut = [Name(b"f"), Key(b"x"), value("1"), End(cause)];
        assert_eq!(arguments(&options(None), &tags(), &cut), ("{\"x\":\"1".into(), false));
    }
    for cause in [Marker, Implied] {
        for keys in [object(), tags(), python(), elements()] {
            assert_eq!(arguments(&options(None), &keys, &[Name(b"f"), End(cause)]), ("{}".into(), true));
        }
    }
}

#[test]
fn hands_json_on_as_it_is() {
    for text in ["{\"a\": 1.0e5,\n \"a\": [7, \"\\u00e9é\\ud83e\\/\"]}", "{}", " { } "] {
        assert_eq!(of_value(text, Marker), Some((text.into(), true)), "{text}");
    }
    // Invalid arguments are not mended, and the call is not whole.
    let escapes = ["{\"a\": \"\\q\"}", "{\"a\": \"\\u12g4\"}", "{\"a\": \"\\\n\"}"];
    let texts = ["[1]", "42", "nullx", "true", "{\"a\": 07}", "{\"a\": True}", "{\"a\": 1,}", "{} {}", "{"];
    for text in texts.into_iter().chain(escapes) {
        assert_eq!(of_value(text, Marker), Some((text.into(), false)), "{text}");
    }
    // No byte of the arguments was sent, so there is no call.
    assert_eq!(of_value("nul", Marker), None);
    // A JSON string cannot contain a control character, so it is escaped.
    let of_control = |text| of_value(text, Marker).unwrap();
    assert_eq!(
        of_control("{\"a\n\": \"b\t\x01\",\n\"c\": 1}"),
        ("{\"a\\n\": \"b\\t\\u0001\",\n\"c\": 1}".into(), true)
    );
    let calls =
        written(&options(None), &object(), &[&[Name(b"f"), Piece::Value(b"{\"a\xFF\xE2\x82\": 1}"), End(Marker)]]);
    assert_eq!(calls[0].arguments, "{\"a\u{FFFD}\u{FFFD}\": 1}");
}

#[test]
fn decodes_arguments_that_are_a_string() {
    let cases = [
        (r#""{\"a\": \"b\\n\u00e9\ud83e\udde0\"}""#, r#"{"a": "b\né🧠"}"#),
        (r#""{\"a\": \"\ud83e\\q\"}""#, "{\"a\": \"\u{FFFD}\\q\"}"),
        ("\"{\\\"a\\\":\n\\\"b\n\\\"}\"", "{\"a\":\n\"b\\n\"}"),
        (r#""""#, "{}"),
        ("null", "{}"),
        (r#""null""#, "{}"),
    ];
    for (text, decoded) in cases {
        let is_whole = !decoded.contains("\\q");
        assert_eq!(of_value(text, Implied), Some((decoded.into(), is_whole)), "{text}");
    }
    assert_eq!(of_value(r#""nul""#, Implied), None);
    for text in ["null ", "string_args", "[1]", "{a}", " "] {
        assert_eq!(of_value(&format!("\"{text}\""), Implied), Some((text.into(), false)), "{text}");
    }
    // The text ends inside an escape, whose part stays unchanged.
    assert_eq!(of_value(r#""{\"a\": \"b\u00"#, EndOfStream), Some(("{\"a\": \"b\\u00".into(), false)));
    assert_eq!(of_value(r#""{\"a\": \"\ud83e"#, EndOfStream), Some(("{\"a\": \"\u{FFFD}".into(), false)));
}

#[test]
fn takes_the_models_id_or_makes_one() {
    let id = |keys: &Value, pieces: &[Piece<'_>]| {
        let call = written(&options(None), keys, &[pieces]).pop().unwrap();
        (call.id, call.late_id)
    };
    assert_eq!(id(&object(), &[Id(b"a\\u0062"), Name(b"f"), value("{}"), End(Marker)]), ("ab".into(), None));
    assert_eq!(id(&object(), &[Name(b"f"), Id(b"ab"), value("{}"), End(Marker)]), ("ab".into(), None));
    assert_eq!(id(&object(), &[Name(b"f"), End(Marker)]), ("id_0".into(), None));
    // The first delta was sent before the id arrived.
    assert_eq!(id(&object(), &[Name(b"f"), value("{}"), Id(b"ab"), End(Marker)]), ("id_0".into(), Some("ab".into())));
    assert_eq!(id(&object(), &[value("{}"), Name(b"f"), Id(b"ab"), End(Marker)]), ("id_0".into(), Some("ab".into())));
    assert_eq!(id(&object(), &[value("{}"), Id(b"ab"), Name(b"f"), End(Marker)]), ("ab".into(), None));
    // The whole head of the call is its id.
    let head = json!({"body": "json", "id": "head"});
    assert_eq!(id(&head, &[Id(b"functions."), Name(b"f"), Id(b":0"), value("{}"), End(Marker)]).0, "functions.f:0");
    assert_eq!(id(&head, &[Name(b"f"), value("{}"), End(Marker)]).0, "f");
}

#[test]
fn holds_arguments_that_come_before_the_name() {
    let mut options = options(Some(r#"[{"name": "f"}]"#));
    options.max_held = 8;
    let calls = |text: &str, name| written(&options, &object(), &[&[value(text), Name(name), End(Marker)]]);
    assert_eq!(calls("{\"a\":12}", b"f")[0].arguments, "{\"a\":12}");
    assert_eq!(calls("{\"a\":123}", b"f"), []);
    assert_eq!(calls("{\"a\":12}", b"g"), []);
    // Only the bytes that would be sent count.
    assert_eq!(calls(r#""{\"a\":12}""#, b"f")[0].arguments, "{\"a\":12}");
    assert_eq!(calls("null", b"f")[0].arguments, "{}");
    assert_eq!(calls("", b"f")[0].arguments, "{}");
    // A call that was dropped is not emitted because of later text.
    let late = [value("{\"a\":123}"), Name(b"f"), value("{}"), End(Marker)];
    assert_eq!(written(&options, &object(), &[&late]), []);
}

#[test]
fn says_the_state_of_a_call() {
    let (tags, object) = (table(&tags()), table(&object()));
    let mut writer = CallWriter::new(&any_dialect(), options(Some(r#"[{"name": "f"}]"#)));
    let feed = |writer: &mut CallWriter, piece| {
        writer.feed(piece, &mut |_| Ok(())).unwrap();
        writer.state()
    };
    assert_eq!(writer.state(), CallState::Idle);
    writer.begin(&tags, 0).unwrap();
    assert_eq!(writer.state(), CallState::Undecided);
    assert_eq!(feed(&mut writer, Name(b"f")), CallState::Undecided);
    assert_eq!(feed(&mut writer, Key(b"x")), CallState::Undecided);
    assert_eq!(feed(&mut writer, value("1")), CallState::Undecided);
    assert_eq!(feed(&mut writer, ValueEnd(b"</v>")), CallState::Emitted);
    assert_eq!(writer.emitted(), 1);
    assert_eq!(feed(&mut writer, End(Marker)), CallState::Idle);
    assert_eq!(writer.emitted(), 1);
    writer.begin(&object, 1).unwrap();
    assert_eq!(feed(&mut writer, value("{}")), CallState::Undecided);
    assert_eq!(feed(&mut writer, Name(b"g")), CallState::Dropped);
    assert_eq!(feed(&mut writer, End(Marker)), CallState::Idle);
    assert_eq!(feed(&mut writer, value("{}")), CallState::Idle);
    writer.reset();
    assert_eq!((writer.state(), writer.emitted()), (CallState::Idle, 0));
}

#[test]
fn fails_with_its_sink_and_writes_the_next_stream() {
    let object = table(&object());
    let mut writer = CallWriter::new(&any_dialect(), options(None));
    writer.begin(&object, 0).unwrap();
    writer.feed(Name(b"f"), &mut |_| Ok(())).unwrap();
    let failed = writer.feed(value("{}"), &mut |_| Err(crate::Error::OutOfMemory));
    assert_eq!(failed, Err(crate::Error::OutOfMemory));
    writer.reset();
    writer.begin(&object, 0).unwrap();
    let mut emitted = String::new();
    for piece in [Name(b"g"), value("[]"), End(Marker)] {
        let mut sink = |delta: super::super::CallDelta<'_>| {
            emitted += &format!("{}{:?}{}", delta.index, delta.name, delta.arguments);
            Ok(())
        };
        writer.feed(piece, &mut sink).unwrap();
    }
    assert_eq!(emitted, "0Some(\"g\")[]0None");
}

#[test]
fn makes_one_object_of_keys_and_values() {
    let pieces = [
        Name(b"f"),
        Framing(b"\n"),
        Key(b"a\"b"),
        value("1"),
        ValueEnd(b"</v>"),
        Key("é\u{1}".as_bytes()),
        value("x"),
        ValueEnd(b"</v>"),
        Key(b"a\"b"),
        ValueEnd(b""),
        End(Implied),
    ];
    let (arguments, is_whole) = arguments(&options(None), &tags(), &pieces);
    assert_eq!((arguments.as_str(), is_whole), (r#"{"a\"b":1,"é\u0001":"x","a\"b":""}"#, true));
}

#[test]
fn writes_a_tagged_value_by_its_schema() {
    let cases = [
        (r#"{"type": "string"}"#, " a\n\t\r\u{8}\u{c}\u{1}\"\\é ", r#"" a\n\t\r\b\f\u0001\"\\é ""#),
        (r#"{"type": "string"}"#, "", r#""""#),
        (r#"{"type": "string"}"#, "42", r#""42""#),
        (r#"{"type": "integer"}"#, " 42\n", "42"),
        (r#"{"type": "integer"}"#, "07", r#""07""#),
        (r#"{"type": ["string", "integer"]}"#, "42", "42"),
        (r#"{"type": "string", "nullable": true}"#, "null", "null"),
        (r#"{"type": "string", "nullable": true}"#, " x", r#"" x""#),
        (r#"{"anyOf": [{"type": "boolean"}, {"type": "null"}]}"#, "None", "null"),
        (r#"{"type": "boolean"}"#, "True", "true"),
        (r#"{"enum": ["a", 1]}"#, "1", "1"),
        (r#"{"type": "object"}"#, " {\"a\": 1e400}\n", "{\"a\": 1e400}"),
        (r#"{"type": "array"}"#, "[1,", r#""[1,""#),
        ("{}", "42", "42"),
        ("{}", "True", r#""True""#),
        ("{}", "", r#""""#),
    ];
    for (schema, text, json) in cases {
        assert_eq!(of_tag(text, schema), json, "{text} as {schema}");
    }
}

#[test]
fn asks_the_schema_then_the_word_then_the_table() {
    let mut keys = tags();
    keys["type"] = json!([" t=\"", "\""]);
    keys["type_words"] = json!({"true": "string", "false": "json"});
    let schema = options(Some(&tool(r#"{"n": {"type": "integer"}, "loose": {}}"#)));
    let written = |keys: &Value, key, word: &'static [u8]| {
        let pieces = [Name(b"f"), Key(key), Type(word), value("42"), ValueEnd(b"</v>"), End(Marker)];
        arguments(&schema, keys, &pieces).0
    };
    assert_eq!(written(&keys, b"n", b"true"), r#"{"n":42}"#);
    assert_eq!(written(&keys, b"loose", b"true"), r#"{"loose":"42"}"#);
    assert_eq!(written(&keys, b"other", b"true"), r#"{"other":"42"}"#);
    assert_eq!(written(&keys, b"other", b"false"), r#"{"other":42}"#);
    assert_eq!(written(&keys, b"other", b"boolean"), r#"{"other":"42"}"#);
    assert_eq!(written(&keys, b"other", b"number"), r#"{"other":42}"#);
    keys["types"] = json!("string");
    assert_eq!(written(&keys, b"other", b"false"), r#"{"other":"42"}"#);
    assert_eq!(written(&keys, b"other", b"number"), r#"{"other":42}"#);
    assert_eq!(written(&keys, b"n", b"false"), r#"{"n":42}"#);
}

#[test]
fn streams_a_string_and_holds_what_may_be_something_else() {
    let tags = table(&tags());
    let options = options(Some(&tool(r#"{"s": {"type": "string"}}"#)));
    let deltas = |key, text: &str| {
        let mut writer = CallWriter::new(&any_dialect(), options.clone());
        let mut deltas = Vec::new();
        writer.begin(&tags, 0).unwrap();
        let values = text.split_inclusive(|_| true).map(value);
        for piece in [Name(b"f"), Key(key)].into_iter().chain(values).chain([ValueEnd(b"</v>"), End(Marker)]) {
            writer
                .feed(piece, &mut |delta| {
                    deltas.push(delta.arguments.to_owned());
                    Ok(())
                })
                .unwrap();
        }
        deltas
    };
    assert_eq!(deltas(b"s", "a\nb"), ["{\"s\":\"a", "\\n", "b", "\"", "}"]);
    assert_eq!(deltas(b"x", "a\nb"), ["{\"x\":\"a\\nb\"", "}"]);
    assert_eq!(deltas(b"x", "120"), ["{\"x\":120", "}"]);
}

#[test]
fn writes_a_value_that_is_too_long_to_be_held_as_a_string() {
    let mut options = options(None);
    options.max_held = 4;
    let written =
        |text| arguments(&options, &tags(), &[Name(b"f"), Key(b"x"), value(text), ValueEnd(b"</v>"), End(Marker)]);
    assert_eq!(written("1234"), ("{\"x\":1234}".into(), true));
    assert_eq!(written("12345"), ("{\"x\":\"12345\"}".into(), true));
    let (text, _) =
        arguments(&options, &python(), &[Name(b"f"), Key(b"x"), value("'abc'"), ValueEnd(b""), End(Marker)]);
    assert_eq!(text, "{\"x\":\"'abc'\"}");
}

#[test]
fn completes_nothing_of_a_call_that_is_cut() {
    let schema = options(Some(&tool(r#"{"s": {"type": "string"}}"#)));
    for cause in [EndOfStream, Forced, Malformed] {
        let written = |keys: &Value, key, values: &[Piece<'_>]| {
            let pieces: Vec<_> = [Name(b"f"), Key(b"a"), value("1"), ValueEnd(b"</v>"), Key(key)]
                .into_iter()
                .chain(values.iter().copied())
                .chain([End(cause)])
                .collect();
            let (arguments, is_whole) = arguments(&schema, keys, &pieces);
            assert!(!is_whole);
            arguments
        };
        assert_eq!(written(&tags(), b"s", &[]), "{\"a\":1");
        assert_eq!(written(&tags(), b"s", &[value("x\"y")]), "{\"a\":1,\"s\":\"x\\\"y");
        assert_eq!(written(&tags(), b"x", &[value("12")]), "{\"a\":1,\"x\":\"12");
        assert_eq!(written(&tags(), b"x", &[value("12"), ValueEnd(b"</v>")]), "{\"a\":1,\"x\":12");
        assert_eq!(written(&python(), b"x", &[value("'y'")]), "{\"a\":1,\"x\":\"'y'");
        assert_eq!(written(&python(), b"x", &[value("'y'"), ValueEnd(b"")]), "{\"a\":1,\"x\":\"y\"");
        let open = [Framing(b">"), value("t"), Framing(b"]<"), Key(b"y"), Framing(b">"), value("1")];
        assert_eq!(written(&elements(), b"x", &open), "{\"a\":1,\"x\":\"t]<y>1");
        assert_eq!(written(&elements(), b"s", &open), "{\"a\":1,\"s\":\"t]<y>1");
    }
}

#[test]
fn stops_at_a_literal_that_cannot_be_read() {
    let pieces =
        [Name(b"f"), Key(b"a"), value("[1,,2]"), ValueEnd(b"</v>"), Key(b"b"), value("1"), ValueEnd(b""), End(Marker)];
    assert_eq!(arguments(&options(None), &python(), &pieces), ("{\"a\":\"[1,,2]".into(), false));
}

#[test]
fn reads_literals_by_their_spelling_or_by_the_schema() {
    let schema = options(Some(&tool(r#"{"s": {"type": "string"}, "l": {"items": {"type": "string"}}}"#)));
    let written = |keys: &Value, key, text| {
        let pieces = [Name(b"f"), Key(key), value(text), ValueEnd(b"</v>"), End(Marker)];
        let (arguments, is_whole) = arguments(&schema, keys, &pieces);
        assert!(is_whole);
        arguments
    };
    assert_eq!(written(&python(), b"s", "1"), "{\"s\":1}");
    assert_eq!(written(&python(), b"x", "('a', {'b'}, None, 07)"), "{\"x\":[\"a\",[\"b\"],null,\"07\"]}");
    assert_eq!(written(&gemma(), b"s", "1"), "{\"s\":\"1\"}");
    assert_eq!(written(&gemma(), b"l", "[1, <q>\"a\n<q>]"), "{\"l\":[\"1\",\"\\\"a\\n\"]}");
    assert_eq!(written(&gemma(), b"x", "1"), "{\"x\":1}");
}

/// Writes elements as a model does: `<a>` opens, and `</>` closes by the right name.
fn of_elements(properties: &str, max_held: usize, text: &str, cause: Cause) -> (String, bool) {
    let mut options = options(Some(&tool(properties)));
    options.max_held = max_held;
    let (mut open, mut closers) = (Vec::new(), Vec::new());
    for tag in text.split('<').skip(1).filter_map(|tag| tag.split_once('>')).map(|(tag, _)| tag) {
        match tag.strip_prefix('/') {
            Some("") => closers.push(format!("]</{}>", open.pop().unwrap())),
            Some(name) => closers.push(format!("]</{name}>")),
            None => open.push(tag),
        }
    }
    let mut closers = closers.iter();
    let mut pieces = vec![Name(b"f")];
    for part in text.split_inclusive('>').flat_map(|part| {
        let at = part.find('<').unwrap_or(part.len());
        [&part[..at], &part[at..]]
    }) {
        match part.strip_prefix('<').and_then(|part| part.strip_suffix('>')) {
            Some(name) if name.starts_with('/') => pieces.push(ValueEnd(closers.next().unwrap().as_bytes())),
            Some(name) => pieces.extend([Framing(b"]<"), Key(name.as_bytes()), Framing(b">")]),
            None => pieces.push(value(part)),
        }
    }
    pieces.push(End(cause));
    arguments(&options, &elements(), &pieces)
}

#[test]
fn makes_lists_objects_and_texts_of_elements() {
    let schema = r#"{
        "s": {"type": "string"}, "n": {"type": "integer"}, "l": {"type": "array", "items": {"type": "string"}},
        "nl": {"type": ["array", "null"]}, "o": {"type": "object", "properties": {"s": {"type": "string"}, "item": {}}}
    }"#;
    let cases = [
        ("<n>1</><x>1</><s>1</>", r#"{"n":1,"x":1,"s":"1"}"#),
        ("<x> <a>1</> <b>t</> </>", r#"{"x":{"a":1,"b":"t"}}"#),
        ("<x><item>1</><item>a</></>", r#"{"x":[1,"a"]}"#),
        ("<x><item>1</><b>a</></>", r#"{"x":[1,"a"]}"#),
        ("<x><b>1</><item>a</></>", r#"{"x":{"b":1,"item":"a"}}"#),
        ("<l><e>1</><f>2</></>", r#"{"l":["1","2"]}"#),
        ("<nl><e>1</></><nl>null</><nl></>", r#"{"nl":[1],"nl":null,"nl":[]}"#),
        ("<o><item>1</></>", r#"{"o":{"item":1}}"#),
        ("<o><s>1<b>2</></></>", r#"{"o":{"s":"1]<b>2]</b>"}}"#),
        ("<l> </><o>\n</><x> </><s> </><n></>", r#"{"l":[],"o":{},"x":" ","s":" ","n":""}"#),
        ("<s>a<b>1</>c</>", r#"{"s":"a]<b>1]</b>c"}"#),
        ("<x><item><item>1</></><item><k>2</></></>", r#"{"x":[[1],{"k":2}]}"#),
        ("<x>[1, 2]</>", r#"{"x":[1, 2]}"#),
    ];
    for (text, json) in cases {
        assert_eq!(of_elements(schema, 1 << 20, text, Marker), (json.into(), true), "{text}");
        serde_json::from_str::<Value>(json).unwrap();
    }
}

#[test]
fn an_element_is_closed_by_its_name() {
    let broken = |text: &str| of_elements(r#"{"s": {"type": "string"}}"#, 1 << 20, text, Marker);
    assert_eq!(broken("<y>1</><x><a>1</b></>"), (r#"{"y":1,"x":"]<a>1]</b>"#.into(), false));
    assert_eq!(broken("<s>1</x><y>2</>"), (r#"{"s":"1"#.into(), false));
    // Blanks around a name do not matter, and the end of the call closes all elements.
    let pieces = |closer| [Name(b"f"), Key(b"x"), Framing(b">"), value("1"), ValueEnd(closer), End(Marker)];
    for closer in [&b"]</ x >"[..], b""] {
        assert_eq!(arguments(&options(None), &elements(), &pieces(closer)), (r#"{"x":1}"#.into(), true));
    }
    // No byte of the arguments was sent, so the call is text.
    assert!(written(&options(None), &elements(), &[&pieces(b"]</y>")]).is_empty());
}

#[test]
fn writes_an_element_as_it_stands_if_it_is_cut_too_long_or_too_deep() {
    assert_eq!(of_elements("{}", 99, "<x><a>1</><b>2", EndOfStream), (r#"{"x":"]<a>1]</a>]<b>2"#.into(), false));
    assert_eq!(of_elements("{}", 99, "<x><a>1</></><y>2", Malformed), (r#"{"x":{"a":1},"y":"2"#.into(), false));
    let long = of_elements("{}", 9, "<x><a>1</><b>2</></><y>3</>", Marker);
    assert_eq!(long, (r#"{"x":"]<a>1]</a>]<b>2]</b>","y":"3"}"#.into(), true));
    let deep = |depth| "<e>".repeat(depth) + "1" + &"</>".repeat(depth);
    let (json, _) = of_elements("{}", 1 << 20, &deep(64), Marker);
    assert_eq!(json, "{\"e\":".repeat(64) + "1" + &"}".repeat(64));
    let (json, is_whole) = of_elements("{}", 1 << 20, &deep(65), Marker);
    assert!(is_whole && json.starts_with("{\"e\":\"]<e>]<e>") && json.ends_with("]</e>\"}"), "{json}");
}

#[test]
fn makes_characters_of_bytes_that_are_none() {
    let pieces = [Name(b"f"), Key(b"a\xFF"), Piece::Value(b"\xFF\xE2\x82x\xF0\x9F"), ValueEnd(b""), End(Marker)];
    let (arguments, _) = arguments(&options(None), &tags(), &pieces);
    assert_eq!(arguments, "{\"a\u{FFFD}\":\"\u{FFFD}\u{FFFD}x\u{FFFD}\"}");
}

#[test]
fn holds_no_more_than_it_may() {
    let (tags, elements) = (table(&tags()), table(&elements()));
    for (keys, table) in [("tags", &tags), ("elements", &elements)] {
        let max_held = 50_000;
        let mut writer = CallWriter::new(&any_dialect(), options(None).max_held(max_held));
        writer.begin(table, 0).unwrap();
        let mut feed = |piece| {
            writer.feed(piece, &mut |_| Ok(())).unwrap();
            assert!(writer.memory() <= max_held + 4096, "{keys}: {}", writer.memory());
        };
        feed(Name(b"f"));
        feed(Key(b"x"));
        for _ in 0..10_000 {
            if keys == "elements" {
                feed(Framing(b">"));
                feed(Key(b"a"));
                feed(ValueEnd(b"]</a>"));
            } else {
                feed(value("12345"));
            }
        }
        feed(ValueEnd(b""));
        feed(End(Marker));
        assert!(writer.memory() < 16_384, "{keys}: {}", writer.memory());
    }
}
