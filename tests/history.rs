//! Tests the rewriting of a request's history: the changes, the bytes that must stay, and the rules in each server's file.

use std::{fs, path::Path};

use aside::Dialect;
use aside::history::{Format, Made, Missing, Name, Options, Outcome, Report, Server, Turns, rewrite};
use samples::Random;
use serde_json::{Value, json};
use support::ROOT;

/// Returns whether thinking is removed even if it cannot be written into the text.
fn options_remove(options: &Options) -> bool {
    format!("{options:?}").contains("made: Remove")
}

fn rewritten(body: &str, options: &Options) -> (String, Report) {
    let (out, report) = rewrite(body, options).unwrap();
    let out = String::from_utf8(out).unwrap();
    if report.outcome == Outcome::Read {
        let (again, second) = rewrite(&out, options).unwrap();
        assert_eq!(String::from_utf8(again).unwrap(), out, "a second time, of {body}");
        let is_removed = options_remove(options);
        assert!(second.changed == 0 && (second.refused == report.refused || is_removed), "{second:?} of {body}");
    }
    (out, report)
}

/// Checks rows of input and output, with the same options.
fn check(options: &Options, rows: &[(&str, &str)]) {
    for (input, wanted) in rows {
        let (out, report) = rewritten(input, options);
        assert_eq!(out, *wanted, "of {input}");
        assert_eq!(report.changed > 0, input != wanted, "{input}");
    }
}

/// Checks rows of one assistant message.
fn check_messages(options: &Options, rows: &[(&str, &str)]) {
    for (input, wanted) in rows {
        let body = |message: &str| format!("{{\"model\": \"m\",\"messages\":[ {message} ],\"n\":1e0}}");
        let (out, _) = rewritten(&body(input), options);
        assert_eq!(out, body(wanted), "of {input}");
    }
}

fn chat() -> Options {
    Options::new(Format::Chat)
}

fn qwen3() -> Name {
    Name::Text(Dialect::find("qwen3").unwrap())
}

#[test]
fn every_server_does_what_its_examples_say() {
    let mut count = 0;
    for entry in fs::read_dir(Path::new(ROOT).join("servers")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let server = Server::load(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(path.file_stem().unwrap().to_str(), Some(server.name()));
        assert!(Server::names().any(|name| name == server.name()));
        let built_in = Server::find(server.name()).unwrap();
        let file: toml::Table = text.parse().unwrap();
        let formats = [("chat", Format::Chat), ("messages", Format::Messages), ("responses", Format::Responses)];
        for example in file["example"].as_array().unwrap() {
            let (_, format) = *formats.iter().find(|(word, _)| Some(*word) == example["format"].as_str()).unwrap();
            let [input, output] = ["input", "output"].map(|key| example[key].as_str().unwrap());
            let (out, report) = rewritten(input, built_in.options(format).unwrap());
            assert_eq!(out, output, "{}: {}", path.display(), example["about"]);
            assert_eq!(report.outcome, Outcome::Read);
            count += 1;
        }
        for (word, format) in formats {
            assert_eq!(built_in.options(format).is_some(), file.contains_key(word), "{}: {word}", path.display());
            let sources = file.get(word).map_or(&[][..], |table| table["sources"].as_array().unwrap());
            assert!(!file.contains_key(word) || !sources.is_empty(), "{}: {word}", path.display());
            assert!(sources.iter().all(|it| it.as_str().unwrap().starts_with("https://")), "{}", path.display());
        }
    }
    assert!(count >= Server::names().count() && count >= 9, "{count}");
    assert!(Server::names().is_sorted());
    let manual = fs::read_to_string(Path::new(ROOT).join("docs/history.md")).unwrap();
    let names: Vec<String> = Server::names().map(|name| format!("`{name}`")).collect();
    let (last, others) = names.split_last().unwrap();
    assert!(manual.contains(&format!("Built in are {} and {last}.", others.join(", "))), "{names:?}");
    // The server file in the manual.
    let (_, file) = manual.split_once("```toml\n").unwrap();
    let (file, _) = file.split_once("```").unwrap();
    let example: toml::Table = file.parse().unwrap();
    let [input, output] = ["input", "output"].map(|key| example["example"][0][key].as_str().unwrap());
    let server = Server::load(file).unwrap();
    assert_eq!(rewritten(input, server.options(Format::Chat).unwrap()).0, output);
}

#[test]
fn faults_of_a_server_file_are_named() {
    for (file, wanted) in [
        ("", "the file has no `name`"),
        ("name = \"a\"", "the file has no requests: write [chat], [messages] or [responses]"),
        ("name = \"\"\n[chat]\nsources = []", "`name` is empty"),
        ("name = \"a\"\n[chat]\n", "this [chat] has no `sources`"),
        (
            "name = \"a\"\n[chat]\nname = \"summary\"\nsources = []",
            "line 3, chat.name: requests of this format have no such name: write `reasoning_content`, `reasoning`, `thinking`, \
             `reasoning_details`, `parts` or `text`",
        ),
        ("name = \"a\"\n[messages]\nname = \"thinking\"\nsources = []", "write `text`, or leave `name` out"),
        ("name = \"a\"\n[responses]\nname = \"text\"\nsources = []", "add `dialect` with the name of a built-in one"),
        ("name = \"a\"\n[chat]\ndialect = \"qwen3\"\nsources = []", "`dialect` belongs to `name = \"text\"`"),
        (
            "name = \"a\"\n[chat]\nname = \"text\"\ndialect = \"qwn3\"\nsources = []",
            "no dialect `qwn3`; the nearest are qwen3",
        ),
        ("name = \"a\"\n[chat]\nturn = \"all\"\nsources = []", "the nearest is `turns`"),
        ("name = \"a\"\n[chat]\nturns = \"some\"\nsources = []", "write `all`, `since_user` or `none`"),
    ] {
        let error = Server::load(file).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error:?} of {file:?}");
    }
    let error = Server::find("vlm").unwrap_err().to_string();
    assert!(error.starts_with("no server `vlm`; the nearest is vllm; known: "), "{error}");
}

#[test]
fn a_name_moves_to_the_name_that_is_asked_for() {
    check_messages(
        &chat().name(Name::Reasoning),
        &[
            (
                r#"{"role":"assistant","reasoning_content" : "a\u00e9\n","content":null}"#,
                r#"{"role":"assistant","reasoning" : "a\u00e9\n","content":null}"#,
            ),
            (r#"{"thinking":"a","role":"assistant"}"#, r#"{"reasoning":"a","role":"assistant"}"#),
            (r#"{"role":"assistant","reasoning":"a"}"#, r#"{"role":"assistant","reasoning":"a"}"#),
            // If a message has thinking under two names, the requested name wins, unless its text is empty.
            (
                r#"{"role":"assistant","reasoning_content":"a","reasoning":"b"}"#,
                r#"{"role":"assistant","reasoning":"b"}"#,
            ),
            (
                r#"{"role":"assistant","reasoning":null, "reasoning_content":"a"}"#,
                r#"{"role":"assistant", "reasoning":"a"}"#,
            ),
            // Empty thinking is moved too.
            (r#"{"role":"assistant","thinking":""}"#, r#"{"role":"assistant","reasoning":""}"#),
            // Details with readable text.
            (
                r#"{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"a\""},{"type":"reasoning.summary","summary":"b"}],"content":"c"}"#,
                r#"{"role":"assistant","content":"c","reasoning":"a\"b"}"#,
            ),
            // Thinking in parts of the content.
            (
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"}]}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"b"}],"reasoning":"a"}"#,
            ),
            (
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"a"}]}"#,
                r#"{"role":"assistant","content":"","reasoning":"a"}"#,
            ),
            // Only messages of the assistant have thinking.
            (r#"{"role":"user","reasoning_content":"a"}"#, r#"{"role":"user","reasoning_content":"a"}"#),
            (r#"{"reasoning_content":"a"}"#, r#"{"reasoning_content":"a"}"#),
            (r#"{"role":["assistant"],"reasoning_content":"a"}"#, r#"{"role":["assistant"],"reasoning_content":"a"}"#),
            // Names with escapes are the same names.
            (
                r#"{"r\u006fle":"\u0061ssistant","th\u0069nking":"a"}"#,
                r#"{"r\u006fle":"\u0061ssistant","reasoning":"a"}"#,
            ),
            (r#"3,"assistant",null"#, r#"3,"assistant",null"#),
        ],
    );
}

#[test]
fn what_cannot_be_read_stays_and_is_counted() {
    for message in [
        r#"{"role":"assistant","reasoning_content":{"a":1}}"#,
        r#"{"role":"assistant","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}"#,
        r#"{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"a","signature":"x"}]}"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"x"}]}"#,
    ] {
        let body = format!("{{\"messages\":[{message}]}}");
        let (out, report) = rewritten(&body, &chat().name(Name::Thinking));
        assert_eq!((out, report.unread, report.changed), (body.clone(), 1, 0));
        // The unreadable thinking is removed if its turn must have none.
        let (out, report) = rewritten(&body, &chat().turns(Turns::None));
        assert!(!out.contains("reason") && !out.contains("thinking"), "{out}");
        assert_eq!((report.unread, report.changed), (0, 1));
    }
}

#[test]
fn details_and_parts_are_written() {
    check_messages(
        &chat().name(Name::ReasoningDetails),
        &[
            (
                r#"{"role":"assistant","reasoning":"a","content":"b"}"#,
                r#"{"role":"assistant","content":"b","reasoning_details":[{"type":"reasoning.text","text":"a"}]}"#,
            ),
            (
                r#"{"role":"assistant","reasoning_details":null,"reasoning":"a"}"#,
                r#"{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"a"}]}"#,
            ),
            // If the server's own details are there, they replace all other thinking.
            (
                r#"{"role":"assistant","reasoning":"a","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}"#,
                r#"{"role":"assistant","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}"#,
            ),
        ],
    );
    let part = r#"{"type":"thinking","thinking":[{"type":"text","text":"a"}]}"#;
    let row = |content: &str| format!("{{\"role\":\"assistant\",\"content\":{content},\"x\":1}}");
    for (content, wanted) in [
        ("null", format!("[{part}]")),
        ("\"\"", format!("[{part}]")),
        ("\"b\"", format!("[{part},{{\"type\":\"text\",\"text\":\"b\"}}]")),
        ("[]", format!("[{part}]")),
        ("[ {\"type\":\"text\",\"text\":\"b\"}]", format!("[{part}, {{\"type\":\"text\",\"text\":\"b\"}}]")),
        ("[{\"type\":\"thinking\",\"thinking\":\"b\"}]", "[{\"type\":\"thinking\",\"thinking\":\"b\"}]".into()),
    ] {
        let input = row(content).replace("\"x\"", "\"reasoning\":\"a\",\"x\"");
        check_messages(&chat().name(Name::Parts), &[(&input, &row(&wanted))]);
    }
    check_messages(
        &chat().name(Name::Parts),
        &[
            (
                "{\"role\":\"assistant\",\"reasoning\":\"a\"}",
                &format!("{{\"role\":\"assistant\",\"content\":[{part}]}}"),
            ),
            // Thinking cannot be written into a content of this kind.
            (
                "{\"role\":\"assistant\",\"reasoning\":\"a\",\"content\":3}",
                "{\"role\":\"assistant\",\"reasoning\":\"a\",\"content\":3}",
            ),
        ],
    );
}

#[test]
fn the_text_gets_the_markers_of_a_dialect() {
    check_messages(
        &chat().name(qwen3()),
        &[
            (
                r#"{"role":"assistant","reasoning_content":"a\"","content":"b\u00e9\ud83d\ude00"}"#,
                r#"{"role":"assistant","content":"<think>\na\"\n</think>\n\nbé😀"}"#,
            ),
            (
                r#"{"role":"assistant","reasoning_content":"a","content":null,"tool_calls":[1]}"#,
                r#"{"role":"assistant","content":"<think>\na\n</think>\n\n","tool_calls":[1]}"#,
            ),
            (
                r#"{"role":"assistant","tool_calls":[1],"thinking":"a"}"#,
                r#"{"role":"assistant","tool_calls":[1],"content":"<think>\na\n</think>\n\n"}"#,
            ),
            (
                r#"{"role":"assistant","thinking":"a","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"<think>\na\n</think>\n\nb"},{"type":"text","text":"c"}]}"#,
            ),
            (
                r#"{"role":"assistant","thinking":"a","content":[{"type":"refusal","refusal":"no"}]}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"<think>\na\n</think>\n\n"},{"type":"refusal","refusal":"no"}]}"#,
            ),
            (
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"a"}]}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"<think>\na\n</think>\n\n"}]}"#,
            ),
            (
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"x"}]}"#,
                r#"{"role":"assistant","content":[{"type":"text","text":"<think>\na\n</think>\n\n"},{"type":"x"}]}"#,
            ),
        ],
    );
    // Thinking that `join` refuses stays unchanged, and is counted.
    for message in [
        r#"{"role":"assistant","thinking":"It says </think>.","content":"b"}"#,
        r#"{"role":"assistant","thinking":"a","content":"<think>a</think>b"}"#,
        r#"{"role":"assistant","thinking":"a","content":{}}"#,
    ] {
        let body = format!("{{\"messages\":[{message}]}}");
        let (out, report) = rewritten(&body, &chat().name(qwen3()));
        assert_eq!((out, report.refused, report.changed), (body, 1, 0));
    }
    let harmony = Name::Text(Dialect::find("harmony").unwrap());
    let body = r#"{"messages":[{"role":"assistant","thinking":"a","content":"b"}]}"#;
    let (out, report) = rewritten(body, &chat().name(harmony));
    assert_eq!((&*out, report.refused), (body, 1));
    // The opener is written, although it was in the prompt of that turn.
    let open = Name::Text(Dialect::find("qwen3-thinking").unwrap());
    let (out, _) = rewritten(body, &chat().name(open));
    assert_eq!(out, r#"{"messages":[{"role":"assistant","content":"<think>\na\n</think>\n\nb"}]}"#);
}

/// Checks that every dialect writes thinking that it can read again, or refuses to write it.
#[test]
fn every_dialect_reads_what_is_written() {
    let body = r#"{"messages":[{"role":"assistant","reasoning":"Hm, a\nb.","content":"Yes."}]}"#;
    let mut written = 0;
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let (out, report) = rewritten(body, &chat().name(Name::Text(dialect.clone())));
        let out: Value = serde_json::from_str(&out).unwrap();
        let message = &out["messages"][0];
        if report.refused == 1 {
            assert_eq!(message["reasoning"], "Hm, a\nb.", "{name}");
            continue;
        }
        assert!(message.get("reasoning").is_none(), "{name}");
        let content = message["content"].as_str().unwrap();
        assert!(content.contains("Hm, a\nb.") && content.len() > "Hm, a\nb.Yes.".len(), "{name}: {content}");
        written += 1;
    }
    assert!(written > 30, "{written}");
}

const TURNS: &str = r#"{"messages":[{"role":"user","content":"1"},{"role":"assistant","content":"2","reasoning":"a"},{"role":"user","content":"3"},{"role":"assistant","content":null,"reasoning":"b","tool_calls":[]},{"role":"tool","content":"4"},{"role":"assistant","content":"5","reasoning":"c"}]}"#;

#[test]
fn turns_before_the_last_message_of_the_user_lose_their_thinking() {
    let since = r#"{"messages":[{"role":"user","content":"1"},{"role":"assistant","content":"2"},{"role":"user","content":"3"},{"role":"assistant","content":null,"reasoning":"b","tool_calls":[]},{"role":"tool","content":"4"},{"role":"assistant","content":"5","reasoning":"c"}]}"#;
    let none = r#"{"messages":[{"role":"user","content":"1"},{"role":"assistant","content":"2"},{"role":"user","content":"3"},{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","content":"4"},{"role":"assistant","content":"5"}]}"#;
    check(&chat().turns(Turns::All), &[(TURNS, TURNS)]);
    check(&chat().turns(Turns::SinceUser), &[(TURNS, since)]);
    check(&chat().turns(Turns::None), &[(TURNS, none)]);
    let empty = since.replace("\"2\"", "\"2\",\"thinking\":\"\"").replace("\"reasoning\"", "\"thinking\"");
    check(&chat().turns(Turns::SinceUser).name(Name::Thinking).missing(Missing::Empty), &[(TURNS, &empty)]);
    // Without a message of the user, all turns count as being after it.
    let body = r#"{"messages":[{"role":"assistant","reasoning":"a"}]}"#;
    check(&chat().turns(Turns::SinceUser), &[(body, body)]);
}

#[test]
fn missing_thinking_is_left_empty_or_removed() {
    let rows = [
        r#"{"role":"assistant","content":"a"}"#,
        r#"{"role":"assistant","content":"a","reasoning":""}"#,
        r#"{"role":"assistant","reasoning":null,"content":"a"}"#,
        r#"{"role":"assistant","content":"a","reasoning_content":null}"#,
        r#"{"role":"assistant","reasoning_content":"","reasoning":null,"reasoning_details":[],"content":"a"}"#,
    ];
    let with = |missing, wanted: [&str; 5]| {
        let options = chat().name(Name::Reasoning).missing(missing);
        check_messages(&options, &std::array::from_fn::<_, 5, _>(|at| (rows[at], wanted[at])));
    };
    let bare = rows[0];
    with(Missing::Remove, [bare; 5]);
    let empty = rows[1];
    let first = r#"{"role":"assistant","reasoning":"","content":"a"}"#;
    with(Missing::Empty, [empty, empty, first, empty, first]);
    let null = r#"{"role":"assistant","content":"a","reasoning":null}"#;
    let own = r#"{"role":"assistant","reasoning":null,"content":"a"}"#;
    with(Missing::Leave, [bare, rows[1], rows[2], null, own]);
    // Without a name for the thinking, empty thinking cannot be added.
    for row in rows {
        check_messages(&chat().missing(Missing::Empty), &[(row, row)]);
    }
    check_messages(&chat().missing(Missing::Remove), &rows.map(|row| (row, bare)));
}

#[test]
fn blocks_of_messages() {
    let body = |blocks: &str| {
        format!(
            "{{\"thinking\":{{\"type\":\"enabled\",\"budget_tokens\":9}},\"messages\":[{{\"role\":\"user\",\"content\":\"1\"}},\
             {{\"role\":\"assistant\",\"content\":{blocks}}},{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\"}}]}}]}}"
        )
    };
    let made = r#"{"type":"thinking","thinking":"a","signature":""}"#;
    let labelled = r#"{"type":"thinking","thinking":"a","signature":"aside:1:Zq3"}"#;
    let signed = r#"{"type":"thinking","thinking":"a","signature":"Er8="}"#;
    let redacted = r#"{"type":"redacted_thinking","data":"x"}"#;
    let text = r#"{"type":"text","text":"b"}"#;
    let call = r#"{"type":"tool_use","id":"t"}"#;
    let options = Options::new(Format::Messages);

    // A server that checks signatures.
    let remove = options.clone().made(Made::Remove);
    for (blocks, wanted, is_off) in [
        (format!("[{made},{text},{call}]"), format!("[{text},{call}]"), true),
        (format!("[ {labelled} , {call} ]"), format!("[ {call} ]"), true),
        (format!("[{signed},{made},{call}]"), format!("[{signed},{call}]"), false),
        (format!("[{made},{redacted},{call}]"), format!("[{redacted},{call}]"), false),
        (format!("[{signed},{call}]"), format!("[{signed},{call}]"), false),
        ("\"b\"".into(), "\"b\"".into(), false),
    ] {
        let (out, report) = rewritten(&body(&blocks), &remove);
        let off = body(&wanted).replace(r#"{"type":"enabled","budget_tokens":9}"#, r#"{"type":"disabled"}"#);
        assert_eq!(out, if is_off { off } else { body(&wanted) });
        assert_eq!(report.thinking_off, is_off, "{blocks}");
    }
    // The server does not check finished turns, nor requests that let the model decide whether it thinks.
    let over = body(&format!("[{made},{text}]")).replace(r#"[{"type":"tool_result"}]"#, "\"2\"");
    let (out, report) = rewritten(&over, &remove);
    assert_eq!((out, report.thinking_off), (over.replace(&format!("{made},"), ""), false));
    let adaptive = body(&format!("[{made},{call}]")).replace(r#""enabled""#, r#""adaptive""#);
    let (out, report) = rewritten(&adaptive, &remove);
    assert_eq!((out, report.thinking_off), (adaptive.replace(&format!("{made},"), ""), false));
    // A message that becomes empty is removed, because servers refuse empty messages.
    let (out, report) = rewritten(&over.replace(&format!(",{text}"), ""), &remove);
    assert_eq!(out, over.replace(&format!("{{\"role\":\"assistant\",\"content\":[{made},{text}]}},"), ""));
    assert_eq!(report.changed, 1);

    // Turns.
    let kept = body(&format!("[{signed},{made},{text}]"));
    check(&options.clone().turns(Turns::SinceUser), &[(&kept, &kept)]);
    check(&options.clone().turns(Turns::None), &[(&kept, &body(&format!("[{text}]")))]);
    let over = kept.replace(r#"[{"type":"tool_result"}]"#, r#"[{"type":"tool_result"},{"type":"text","text":"2"}]"#);
    check(&options.clone().turns(Turns::SinceUser), &[(&over, &over.replace(&format!("{signed},{made},"), ""))]);

    // Missing thinking.
    let none = r#"{"type":"thinking","thinking":"","signature":""}"#;
    let empty = options.clone().missing(Missing::Empty);
    check(
        &empty,
        &[
            (&body(&format!("[{call}]")), &body(&format!("[{none},{call}]"))),
            (&body("\"b\""), &body(&format!("[{none},{text}]"))),
            (&body("\"\""), &body(&format!("[{none}]"))),
            (&body("[]"), &body(&format!("[{none}]"))),
            (&body("null"), &body("null")),
            (&body(&format!("[{signed}]")), &body(&format!("[{signed}]"))),
        ],
    );
    let out = empty.clone().turns(Turns::None);
    check(&out, &[(&body(&format!("[{signed},{text}]")), &body(&format!("[{none},{text}]")))]);
    check(&out, &[(&body(&format!("[{signed}]")), &body(&format!("[{none}]")))]);
    let remove = options.clone().missing(Missing::Remove);
    check(&remove, &[(&body(&format!("[{none},{text}]")), &body(&format!("[{text}]")))]);

    // The text.
    let written = r#"{"type":"text","text":"<think>\na\n</think>\n\nb"}"#;
    let alone = r#"{"type":"text","text":"<think>\na\n</think>\n\n"}"#;
    check(
        &options.clone().name(qwen3()),
        &[
            (&body(&format!("[{made},{text},{call}]")), &body(&format!("[{written},{call}]"))),
            (&body(&format!("[{made},{call},{labelled},{text}]")), &body(&format!("[{alone},{call},{written}]"))),
            (&body(&format!("[{signed},{text}]")), &body(&format!("[{signed},{text}]"))),
            (&body(&format!("[{none},{text}]")), &body(&format!("[{none},{text}]"))),
        ],
    );
    let trap = body(&format!("[{made},{text}]")).replace("\"b\"", "\"</think>\"");
    let trap = trap.replace("\"a\"", "\"</think>\"");
    let (out, report) = rewritten(&trap, &options.clone().name(qwen3()));
    assert_eq!((out, report.refused), (trap, 1));
}

#[test]
fn items_of_responses() {
    let options = Options::new(Format::Responses);
    let body = |items: &str| format!("{{\"input\":[{{\"role\":\"user\",\"content\":\"1\"}},{items}],\"store\":false}}");
    let item = r#"{"type":"reasoning","id":"rs_msg_1","summary":[],"content":[{"type":"reasoning_text","text":"a"}]}"#;
    let summary = r#"{"type":"reasoning","id":"rs_0a","summary":[{"type":"summary_text","text":"a"}]}"#;
    let sealed = r#"{"type":"reasoning","id":"rs_0a","summary":[],"encrypted_content":"x"}"#;
    let message = r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"b"}]}"#;
    let call = r#"{"type":"function_call","id":"fc_call_1","call_id":"call_1","name":"f","arguments":"{}"}"#;
    let own = r#"{"type":"function_call","id":"fc_9","call_id":"call_1","name":"f","arguments":"{}"}"#;

    // Ids that a rewriter made and the server does not know.
    let second = item.replace("msg_1", "msg_1_2");
    check(
        &options.clone().made(Made::Remove),
        &[
            (
                &body(&format!("{item},{message}")),
                &body(&format!("{},{message}", item.replace(r#""id":"rs_msg_1","#, ""))),
            ),
            (&body(call), &body(&call.replace(r#""id":"fc_call_1","#, ""))),
            (&body(own), &body(own)),
            (&body(summary), &body(summary)),
            (&body(&item.replace("rs_msg_1", "rs_aside_1_x")), &body(&item.replace(r#""id":"rs_msg_1","#, ""))),
            (
                &body(&format!("{second},{}", message.replace("msg_1", "msg_1_2"))),
                &body(&format!(
                    "{},{}",
                    item.replace(r#""id":"rs_msg_1","#, ""),
                    message.replace(r#""id":"msg_1","#, "")
                )),
            ),
            // References to items of the history that the client believes the server has kept.
            (
                &body(r#"{"type":"item_reference","id":"rs_msg_1"},{"type":"item_reference","id":"msg_1"}"#),
                &body(r#"{"type":"item_reference","id":"msg_1"}"#),
            ),
        ],
    );

    // Names.
    let as_text = r#"{"type":"reasoning","id":"rs_0a","summary":[],"content":[{"type":"reasoning_text","text":"a"}]}"#;
    let text = options.clone().name(Name::ReasoningText);
    check(&text, &[(&body(summary), &body(as_text)), (&body(item), &body(item))]);
    let null = summary.replace("\"summary\"", "\"content\":null,\"summary\"");
    let wanted = as_text.replace(",\"content\"", "").replace("\"summary\":[]", "\"content\"");
    let wanted = wanted.replace("\"content\"[", "\"content\":[").replace("}]}", "}],\"summary\":[]}");
    check(&text, &[(&body(&null), &body(&wanted))]);
    let (out, report) = rewritten(&body(sealed), &text);
    assert_eq!((out, report.unread), (body(sealed), 1));
    check(
        &options.clone().name(Name::Summary),
        &[(
            &body(item),
            &body(
                r#"{"type":"reasoning","id":"rs_msg_1","summary":[{"type":"summary_text","text":"a"}],"content":[]}"#,
            ),
        )],
    );

    // The rules for turns and for missing thinking.
    let later = format!("{},{{\"role\":\"user\",\"content\":\"2\"}}", message);
    check(
        &options.clone().turns(Turns::SinceUser),
        &[
            (&body(&format!("{item},{later}")), &body(&later)),
            (&body(&format!("{sealed},{later}")), &body(&later)),
            (&body(&format!("{item},{message}")), &body(&format!("{item},{message}"))),
        ],
    );
    check(&options.clone().turns(Turns::None), &[(&body(&format!("{message},{item}")), &body(message))]);
    let empty = r#"{"type":"reasoning","summary":[]}"#;
    check(&options.clone().missing(Missing::Remove), &[(&body(&format!("{empty},{message}")), &body(message))]);

    // The text.
    let written = message.replace("\"b\"", "\"<think>\\na\\n</think>\\n\\nb\"");
    let alone =
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"<think>\na\n</think>\n\n"}]}"#;
    check(
        &options.clone().name(qwen3()),
        &[
            (&body(&format!("{item},{message}")), &body(&written)),
            (&body(&format!("{item},{call}")), &body(&format!("{alone},{call}"))),
            (
                &body(&format!("{item},{{\"role\":\"assistant\",\"content\":\"b\"}}")),
                &body("{\"role\":\"assistant\",\"content\":\"<think>\\na\\n</think>\\n\\nb\"}"),
            ),
        ],
    );
}

/// Checks that blocks and items that a rewriter made are recognised when a client sends them back, with and without a label,
/// streamed and whole.
#[test]
fn what_a_rewriter_makes_is_recognised() {
    use aside::sse::{self, Rewriter};
    let qwen3 = Dialect::find("qwen3").unwrap();
    let message = r#"{"id":"msg_7","type":"message","role":"assistant","content":[{"type":"text","text":"<think>a</think>b"}],"stop_reason":"end_turn"}"#;
    let response = r#"{"object":"response","status":"completed","output":[{"id":"msg_7","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"text":"<think>a</think>b<think>c</think>d"}],"role":"assistant"}]}"#;
    let stream = concat!(
        r#"data: {"type":"message_start","message":{"id":"msg_7","type":"message","role":"assistant","content":[]}}"#,
        "\n\n",
        r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        "\n\n",
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"<think>a</think>b"}}"#,
        "\n\n",
        r#"data: {"type":"content_block_stop","index":0}"#,
        "\n\n",
    );
    let made = |label: bool, input: &str, size: usize| {
        let mut rewriter = Rewriter::new(&qwen3, &sse::Options::new().label(label)).unwrap();
        let mut out = Vec::new();
        input.as_bytes().chunks(size).for_each(|chunk| rewriter.feed(chunk, &mut out).unwrap());
        rewriter.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    for label in [false, true] {
        // The label is the same in a body and in a stream, however the stream is cut.
        let whole: Value = serde_json::from_str(&made(label, message, message.len())).unwrap();
        let signature = whole["content"][0]["signature"].as_str().unwrap();
        assert_eq!(signature.starts_with("aside:1:") && signature.len() == 19, label, "{signature}");
        assert_eq!(signature.is_empty(), !label);
        for size in [1, 7, stream.len()] {
            let delta = format!(r#""delta":{{"type":"signature_delta","signature":"{signature}"}}"#);
            assert!(made(label, stream, size).contains(&delta), "{}", made(label, stream, size));
        }
        let request = json!({"messages": [{"role": "assistant", "content": whole["content"]}]}).to_string();
        let (out, _) = rewritten(&request, &Options::new(Format::Messages).made(Made::Remove));
        assert_eq!(out, r#"{"messages":[{"content":[{"text":"b","type":"text"}],"role":"assistant"}]}"#);

        let whole: Value = serde_json::from_str(&made(label, response, 1)).unwrap();
        let ids = |items: &Value| -> Vec<Option<String>> {
            items.as_array().unwrap().iter().map(|item| Some(item.get("id")?.as_str()?.to_owned())).collect()
        };
        let prefix = if label { "rs_aside_1_" } else { "rs_" };
        let wanted = [format!("{prefix}msg_7"), "msg_7".into(), format!("{prefix}msg_7_2"), "msg_7_2".into()];
        assert_eq!(ids(&whole["output"]), wanted.map(Some));
        let request = json!({"input": whole["output"]}).to_string();
        let (out, _) = rewritten(&request, &Options::new(Format::Responses).made(Made::Remove));
        assert_eq!(ids(&parsed(&out)["input"]), [None, Some("msg_7".into()), None, None]);
    }
}

#[test]
fn bodies_that_are_not_read_pass() {
    let all = |format| {
        let options = Options::new(format).name(Name::Reasoning).turns(Turns::None).missing(Missing::Empty);
        options.made(Made::Remove).max_body(400)
    };
    let body = r#"{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"}],"thinking":"a"}]}"#;
    let twice = [
        body.replace("{\"messages\"", "{\"m\":1,\"m\":2,\"messages\""),
        body.replace("{\"messages\"", "{\"m\":1,\"\\u006d\":2,\"messages\""),
        body.replace("\"role\"", "\"thinking\":\"b\",\"role\""),
        body.replace("\"role\"", "\"thin\\u006bing\":\"b\",\"role\""),
        body.replace("\"type\"", "\"text\":\"b\",\"type\""),
    ];
    let mut rows: Vec<(Format, Vec<u8>, Outcome)> = Vec::new();
    for body in twice {
        rows.push((Format::Chat, body.clone().into(), Outcome::Repeated));
        rows.push((Format::Messages, body.into(), Outcome::Repeated));
    }
    let item = r#"{"input":[{"type":"reasoning","summary":[],"summary":[]}]}"#;
    rows.push((Format::Responses, item.into(), Outcome::Repeated));
    rows.push((Format::Chat, format!("{body}{}", " ".repeat(400)).into(), Outcome::TooLong));
    rows.push((Format::Chat, [&b"{\"a\":\"\xff\","[..], &body.as_bytes()[1..]].concat(), Outcome::NotUtf8));
    for text in [
        "",
        "[]",
        "{",
        "{}",
        "{\"messages\":3}",
        "{\"messages\":[}",
        "{\"messages\":[]} x",
        "\u{feff}{\"messages\":[]}",
    ] {
        rows.push((Format::Chat, text.into(), Outcome::NotRequest));
        rows.push((Format::Messages, text.into(), Outcome::NotRequest));
        rows.push((Format::Responses, text.into(), Outcome::NotRequest));
    }
    let deep = format!("{{\"messages\":[],\"x\":{}{}}}", "[".repeat(130), "]".repeat(130));
    rows.push((Format::Chat, deep.into(), Outcome::NotRequest));
    for stored in ["\"previous_response_id\":\"resp_1\"", "\"conversation\":{\"id\":\"c\"}"] {
        let body = format!("{{{stored},\"input\":[{{\"type\":\"reasoning\",\"summary\":[]}}]}}");
        rows.push((Format::Responses, body.into(), Outcome::Stored));
    }
    for (format, body, outcome) in rows {
        let (out, report) = rewrite(&body, &all(format)).unwrap();
        assert_eq!(out, body);
        let none = (report.changed, report.refused, report.unread, report.thinking_off) == (0, 0, 0, false);
        assert!(none && report.outcome == outcome, "{report:?} of {}", body.escape_ascii());
    }
    // These bodies are read, but have no history.
    for body in [r#"{"previous_response_id":null,"input":[]}"#, r#"{"input":"Hi"}"#] {
        check(&all(Format::Responses), &[(body, body)]);
    }
}

#[test]
fn paths_have_formats() {
    for (path, format) in [
        ("/v1/chat/completions", Some(Format::Chat)),
        ("/openai/v1/chat/completions?api-version=1", Some(Format::Chat)),
        ("/v1/messages", Some(Format::Messages)),
        ("/v1/messages/count_tokens", None),
        ("/v1/responses", Some(Format::Responses)),
        ("/v1/completions", None),
        ("/api/chat", None),
        ("", None),
    ] {
        assert_eq!(Format::of_path(path), format, "{path}");
    }
}

/// A random request body, with the names and values that matter for the history, and with blanks.
struct Bodies {
    random: Random,
    out: String,
}

/// The name of a member, and the function that writes its value.
type MemberOf<'a> = (&'a str, fn(&mut Bodies));

impl Bodies {
    fn blanks(&mut self) {
        while self.random.one_in(6) {
            self.out += *self.random.pick(&[" ", "\n", "\t", "\r\n"]);
        }
    }

    fn string(&mut self) {
        let pieces = [
            "",
            "",
            "a",
            "é",
            "\\u00e9",
            "\\n",
            "\\\"",
            "<think>",
            "</think>",
            "\\ud83d\\ude00",
            "😀",
            "\\ud83d",
            "{",
            ",\\\"role\\\":",
        ];
        let count = self.random.below(4);
        let text: String = (0..count).map(|_| *self.random.pick(&pieces)).collect();
        self.out += &format!("\"{text}\"");
    }

    fn list(&mut self, most: usize, mut item: impl FnMut(&mut Self)) {
        self.out.push('[');
        for at in 0..self.random.below(most + 1) {
            self.out += if at > 0 { "," } else { "" };
            self.blanks();
            item(self);
            self.blanks();
        }
        self.out.push(']');
    }

    /// Writes an object with some of these members in random order, each at most once.
    fn object(&mut self, members: &[MemberOf]) {
        let mut left: Vec<usize> = (0..members.len()).collect();
        self.out.push('{');
        let mut separator = "";
        for _ in 0..members.len() {
            let at = left.swap_remove(self.random.below(left.len()));
            if self.random.one_in(3) && members[at].0 != "role" && members[at].0 != "type" {
                continue;
            }
            self.out += std::mem::replace(&mut separator, ",");
            self.blanks();
            self.out += &format!("\"{}\"", members[at].0);
            self.blanks();
            self.out.push(':');
            self.blanks();
            members[at].1(self);
            self.blanks();
        }
        self.out.push('}');
    }

    fn thinking(&mut self) {
        match self.random.below(8) {
            0 => self.out += "null",
            1 if self.random.one_in(4) => self.out += "{\"x\":1}",
            _ => self.string(),
        }
    }

    fn word(&mut self, words: &[&str]) {
        let word = self.random.pick(words);
        self.out += &format!("\"{word}\"");
    }

    fn content(&mut self) {
        match self.random.below(6) {
            0 => self.out += "null",
            1..=3 => self.list(4, Self::part),
            4 if self.random.one_in(6) => self.out += "17",
            _ => self.string(),
        }
    }

    fn part(&mut self) {
        self.object(&[
            ("type", |it| {
                it.word(&[
                    "text",
                    "text",
                    "thinking",
                    "thinking",
                    "redacted_thinking",
                    "tool_use",
                    "tool_result",
                    "output_text",
                ])
            }),
            ("text", Self::string),
            ("thinking", |it| {
                if it.random.one_in(3) {
                    it.list(2, |it| it.object(&[("type", |it| it.word(&["text"])), ("text", Self::string)]))
                } else {
                    it.string()
                }
            }),
            ("signature", |it| it.word(&["", "", "aside:1:abc", "Er8="])),
            ("cache_control", |it| it.out += "{\"type\": \"ephemeral\"}"),
        ]);
    }

    fn details(&mut self) {
        self.list(2, |it| {
            it.object(&[
                ("type", |it| {
                    it.word(&["reasoning.text", "reasoning.text", "reasoning.summary", "reasoning.encrypted"])
                }),
                ("text", Self::string),
                ("summary", Self::string),
                ("format", |it| it.out += "null"),
            ]);
        });
    }

    fn message(&mut self) {
        self.object(&[
            ("role", |it| it.word(&["assistant", "assistant", "assistant", "user", "tool", "system"])),
            ("content", Self::content),
            ("reasoning_content", Self::thinking),
            ("reasoning", Self::thinking),
            ("thinking", Self::thinking),
            ("reasoning_details", Self::details),
            ("tool_calls", |it| it.out += "[{\"id\":\"c\",\"function\":{\"arguments\":\"{\\\"reasoning\\\": 1}\"}}]"),
            ("name", |it| it.out += "1.50"),
        ]);
    }

    fn texts(&mut self, kind: &'static str) {
        self.out.push('[');
        for at in 0..self.random.below(3) {
            self.out += if at > 0 { "," } else { "" };
            self.out += &format!("{{\"type\":\"{kind}\",\"text\":");
            self.string();
            self.out.push('}');
        }
        self.out.push(']');
    }

    fn item(&mut self) {
        match self.random.below(6) {
            0..=2 => self.object(&[
                ("type", |it| it.word(&["reasoning"])),
                ("id", |it| it.word(&["rs_msg_1", "rs_msg_1_2", "rs_0a", "rs_aside_1_q"])),
                ("summary", |it| it.texts("summary_text")),
                ("content", |it| it.texts("reasoning_text")),
                ("encrypted_content", |it| it.word(&["", "x"])),
            ]),
            3 => self.object(&[
                ("type", |it| it.word(&["function_call", "item_reference"])),
                ("id", |it| it.word(&["fc_call_1", "rs_msg_1", "fc_2"])),
                ("call_id", |it| it.word(&["call_1"])),
            ]),
            _ => self.object(&[
                ("type", |it| it.word(&["message"])),
                ("role", |it| it.word(&["assistant", "assistant", "user"])),
                ("id", |it| it.word(&["msg_1", "msg_1_2"])),
                ("content", Self::content),
            ]),
        }
    }

    fn body(random: &mut Random, format: Format) -> String {
        let mut bodies = Bodies { random: Random::new(random.next()), out: String::new() };
        bodies.blanks();
        match format {
            Format::Responses => {
                bodies.object(&[("model", Self::string), ("type", |it| it.out += "true")]);
                bodies.out.pop();
                bodies.out += ",\"input\":";
                bodies.list(6, Self::item);
            }
            _ => {
                bodies.object(&[
                    ("model", Self::string),
                    ("type", |it| it.out += "true"),
                    ("thinking", |it| it.out += "{\"type\":\"enabled\"}"),
                ]);
                bodies.out.pop();
                bodies.out += ",\"messages\" : ";
                bodies.list(6, Self::message);
            }
        }
        bodies.out += ",\"temperature\":1.0e0}";
        bodies.blanks();
        bodies.out
    }
}

/// Returns a message without its thinking, so that messages can be compared. A content that is a string becomes a list with this
/// text, or an empty list if the text is empty.
fn without(message: &Value) -> Value {
    let mut message = message.clone();
    let Some(object) = message.as_object_mut() else { return message };
    for name in ["reasoning_content", "reasoning", "thinking", "reasoning_details", "summary", "encrypted_content"] {
        object.remove(name);
    }
    if object.get("type") == Some(&json!("reasoning")) {
        object.remove("content");
    }
    let content = object.remove("content").unwrap_or_default();
    let mut parts = match content {
        Value::Array(parts) => parts,
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Null => Vec::new(),
        other => vec![other],
    };
    let is_thinking = |part: &Value| ["thinking", "redacted_thinking"].iter().any(|kind| part["type"] == *kind);
    let is_empty = |part: &Value| part == &json!({"type": "text", "text": ""});
    parts.retain(|part| !is_thinking(part) && !is_empty(part));
    object.insert("content".into(), parts.into());
    object.remove("id");
    message
}

const FORMATS: [Format; 3] = [Format::Chat, Format::Messages, Format::Responses];

/// Parses a body. Unpaired surrogates, which `serde_json` does not accept, become U+FFFD.
fn parsed(body: &str) -> Value {
    let body = body.replace("\\ud83d\\ude00", "😀").replace("\\ud83d", "\u{fffd}");
    serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

#[test]
fn what_is_not_named_stays_to_the_byte() {
    let mut random = Random::announced("what_is_not_named_stays_to_the_byte");
    let qwen3 = qwen3();
    for _ in 0..20_000 {
        let format = *random.pick(&FORMATS);
        let body = Bodies::body(&mut random, format);
        let (same, report) = rewritten(&body, &Options::new(format));
        assert_eq!((same, report.changed), (body.clone(), 0));

        let names = [
            Name::AsIs,
            Name::ReasoningContent,
            Name::Reasoning,
            Name::Thinking,
            Name::ReasoningDetails,
            Name::Parts,
            Name::ReasoningText,
            Name::Summary,
            qwen3.clone(),
        ];
        let name = random.pick(&names).clone();
        let is_text = matches!(name, Name::Text(_));
        let turns = *random.pick(&[Turns::All, Turns::SinceUser, Turns::None]);
        let missing = *random.pick(&[Missing::Leave, Missing::Empty, Missing::Remove]);
        let made = *random.pick(&[Made::Keep, Made::Remove]);
        let options = Options::new(format).name(name).turns(turns).missing(missing).made(made);
        let (out, report) = rewritten(&body, &options);
        assert_eq!(report.outcome, Outcome::Read, "{body}");
        assert_eq!(report.changed > 0, out != body, "{body}\n{out}");
        // The text around the history must stay.
        let list = if format == Format::Responses { "\"input\":" } else { "\"messages\" : " };
        let (head, _) = body.split_once(list).unwrap();
        let (_, tail) = body.rsplit_once(']').unwrap();
        assert!(out.ends_with(tail), "{body}\n{out}");
        assert!(out.starts_with(head) || report.thinking_off, "{body}\n{out}");
        // Everything except the thinking must be the same, whatever happened to the thinking.
        let list = list.split('"').nth(1).unwrap();
        let messages = |body: &str| {
            let mut messages: Vec<Value> = parsed(body)[list].as_array().unwrap().iter().map(without).collect();
            let is_empty = |message: &Value| {
                message["type"] == "reasoning" || message["type"] == "item_reference" || message["content"] == json!([])
            };
            if format != Format::Chat {
                messages.retain(|message| !is_empty(message));
            }
            messages
        };
        if !is_text {
            assert_eq!(messages(&out), messages(&body), "{options:?}\n{body}\n{out}");
        }
        if turns == Turns::None {
            let mut left = parsed(&out)[list].as_array().unwrap().clone();
            left.retain(|message| message["role"] == "assistant" || message["type"] == "reasoning");
            for message in left {
                for name in ["reasoning_content", "reasoning", "thinking"] {
                    let value = message.get(name).unwrap_or(&Value::Null);
                    assert!(format == Format::Messages || value.is_null() || value == "", "{body}\n{out}");
                }
                assert_ne!(message["type"], "reasoning", "{body}\n{out}");
            }
        }
    }
}

/// Checks that if the thinking of all turns is kept, a message is always written in the same way, whatever follows it.
#[test]
fn a_history_that_grows_keeps_its_beginning() {
    let mut random = Random::announced("a_history_that_grows_keeps_its_beginning");
    for _ in 0..2_000 {
        let server = *random.pick(&Server::names().collect::<Vec<_>>());
        let server = Server::find(server).unwrap();
        let Some(options) = server.options(Format::Chat) else { continue };
        let body = Bodies::body(&mut random, Format::Chat);
        let Some(more) = body.rfind(']').filter(|&at| !body[..at].trim_end().ends_with('[')) else { continue };
        let longer = format!("{},{{\"role\":\"user\",\"content\":\"x\"}}{}", &body[..more], &body[more..]);
        let (short, _) = rewritten(&body, options);
        let (long, _) = rewritten(&longer, options);
        let end = short.rfind(']').unwrap();
        assert_eq!(short[..end], long[..end]);
    }
}

/// Checks that damaged bodies stay unchanged, and are never rewritten in part.
#[test]
fn damage_passes() {
    let mut random = Random::announced("damage_passes");
    for _ in 0..20_000 {
        let format = *random.pick(&FORMATS);
        let mut body = Bodies::body(&mut random, format).into_bytes();
        let at = random.below(body.len());
        match random.below(3) {
            0 => body.truncate(at),
            1 => body[at] = random.below(256) as u8,
            _ => drop(body.remove(at)),
        }
        let options = Options::new(format).name(Name::Reasoning).turns(Turns::SinceUser).made(Made::Remove);
        let (out, report) = rewrite(&body, &options).unwrap();
        if report.outcome != Outcome::Read {
            assert_eq!(out, body);
        } else {
            assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&out).is_ok(), "{}", body.escape_ascii());
        }
    }
}
