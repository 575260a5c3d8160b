//! Rewrites Ollama's own format, which has one object per line: from the output, a client must get the reference's result for the
//! whole text, and all lines must be as Ollama writes them.

use std::path::{Path, PathBuf};

use aside::Dialect;
use aside::answer::{ImpliedEnd, Tools};
use aside::sse::{Body, Field, Formats, Options};
use samples::{Random, Texts};
use serde_json::{Value, json};
use support::Pair;
use support::client::{Runs, push, split};
use support::rewriting::{at_every_cut, at_random_cuts, case, examples, pieces, rewrite, texts};

const TAGS: &str = include_str!("dialects/calls-tags.toml");

/// A dialect whose markers count anywhere.
const ANYWHERE: &str =
    "name = \"anywhere\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<think>\"]\nclose = [\"</think>\"]";

fn options() -> Options {
    Options::new().formats(Formats::OLLAMA).keep_guessed(true).implied_end(ImpliedEnd::Off)
}

/// Returns the rewritten lines, checked to be the same whether or not the host says that the input is lines.
fn with(dialect: &Dialect, options: &Options, input: &str) -> String {
    let output = at_every_cut(dialect, &options.clone().body(Body::Lines), input);
    assert_eq!(at_every_cut(dialect, options, input), output, "unknown");
    output
}

fn qwen3(input: &str) -> String {
    with(&Dialect::find("qwen3").unwrap(), &options(), input)
}

/// Returns a line of `/api/chat`.
fn line(members: &str) -> String {
    format!(
        "{{\"model\":\"m\",\"created_at\":\"2026-07-28T06:38:03.2Z\",\"message\":{{\"role\":\"assistant\",{members}}},\"done\":false}}\n"
    )
}

fn content(text: &str) -> String {
    line(&format!("\"content\":\"{text}\""))
}

fn thinking(text: &str) -> String {
    line(&format!("\"content\":\"\",\"thinking\":\"{text}\""))
}

/// Returns the last line, with some text.
fn last(reason: &str, text: &str) -> String {
    content(text).replace(
        "\"done\":false",
        &format!("\"done\":true,\"done_reason\":\"{reason}\",\"eval_count\":5,\"context\":[1]"),
    )
}

/// Returns a line of `/api/chat` in the form of `/api/generate`.
fn generate(line: &str) -> String {
    line.replace("\"message\":{\"role\":\"assistant\",\"content\"", "\"response\"").replace("},\"done\"", ",\"done\"")
}

// -------------------------------------------------------------------------------------------------------------- clients

/// The texts that a client has received at the end of the answer.
#[derive(Debug, Default, PartialEq)]
struct Said {
    runs: Runs,
    calls: Vec<Value>,
    reasons: Vec<String>,
}

impl Said {
    fn text(&self, thinking: bool) -> String {
        self.runs.iter().filter(|run| run.0 == thinking).map(|run| run.1.as_str()).collect()
    }
}

fn client(output: &str) -> Said {
    let mut said = Said::default();
    for line in output.lines().filter(|line| !line.is_empty()) {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let is_chat = value["message"].is_object();
        let part = if is_chat { &value["message"] } else { &value };
        let text = part[if is_chat { "content" } else { "response" }].as_str();
        assert!(value["model"].is_string() && value["created_at"].is_string(), "{line}");
        assert!(!is_chat || part["role"] == "assistant", "{line}");
        assert!(said.reasons.is_empty(), "more after the end: {line}");
        push(&mut said.runs, true, part["thinking"].as_str().unwrap_or_default());
        push(&mut said.runs, false, text.unwrap_or_else(|| panic!("no text: {line}")));
        for call in part["tool_calls"].as_array().into_iter().flatten() {
            assert_eq!(call["function"]["index"], said.calls.len(), "{line}");
            assert!(call["function"]["arguments"].is_object(), "{line}");
            assert!(said.calls.iter().all(|other| other["id"] != call["id"]), "{line}");
            said.calls.push(call.clone());
        }
        if value["done"].as_bool().unwrap() {
            said.reasons.push(value["done_reason"].as_str().unwrap().to_owned());
        }
    }
    said
}

/// Returns lines with pieces of a text, in the form of `/api/chat` or of `/api/generate`.
fn stream(random: &mut Random, text: &str, is_chat: bool) -> String {
    let most = *random.pick(&[1, 4, 12, 200]);
    let mut out = String::new();
    let end = *random.pick(&["\n", "\r\n"]);
    let mut pieces = pieces(random, text, most);
    pieces.push(String::new());
    if random.one_in(2) {
        pieces.pop();
    }
    for (at, piece) in pieces.iter().enumerate() {
        let done = at + 1 == pieces.len();
        let mut line = json!({"model": "m", "created_at": format!("2026-07-28T06:38:03.{at}Z"), "done": done});
        if is_chat {
            line["message"] = json!({"role": "assistant", "content": piece});
        } else {
            line["response"] = json!(piece);
        }
        if done {
            line["done_reason"] = json!("stop");
        }
        out += &(line.to_string() + end);
        if random.one_in(9) {
            out += end;
        }
    }
    out
}

// --------------------------------------------------------------------------------------------------------------- streams

#[test]
fn the_cases_are_split() {
    for name in ["chat", "generate"] {
        let (raw, split) = (case(&format!("ollama-{name}.raw.ndjson")), case(&format!("ollama-{name}.split.ndjson")));
        // The expected streams were written by hand and have fewer lines.
        assert_eq!(client(&qwen3(&raw)), client(&split));
        let without_end = raw.trim_end();
        assert_eq!(client(&qwen3(without_end)), client(&split));
        assert!(!qwen3(without_end).ends_with('\n'));
    }
    for body in [Body::Unknown, Body::Json, Body::Lines] {
        let (dialect, options) = (Dialect::find("qwen3").unwrap(), options().body(body));
        let output = at_every_cut(&dialect, &options, &case("ollama-body.raw.json"));
        assert_eq!(output, case("ollama-body.split.json"), "{body:?}");
    }
}

#[test]
fn the_examples_of_the_page_are_true() {
    let examples = examples("ollama.md");
    assert_eq!(examples.len(), 3);
    for [input, output] in examples {
        assert_eq!(with(&Dialect::find("qwen3").unwrap(), &options().calls(true), &input), output);
    }
}

#[test]
fn random_texts_of_ollama_are_split_as_the_reference_says() {
    let mut random = Random::announced("random_texts_of_ollama_are_split_as_the_reference_says");
    for pair in Pair::all() {
        for text in texts(&mut random, &pair, 20) {
            let is_chat = random.one_in(2);
            let input = stream(&mut random, &text, is_chat);
            if input.is_empty() {
                continue;
            }
            let body = *random.pick(&[Body::Unknown, Body::Lines]);
            let output = at_random_cuts(&pair.library, &options().body(body), &input, &mut random);
            let said = client(&output);
            let is_one_line = input.lines().filter(|line| !line.is_empty()).count() == 1;
            let wanted = split(&pair, &text, None, is_one_line);
            if is_one_line {
                // If the whole answer is in one line, thinking and content have no order.
                let wanted = Said { runs: wanted, ..Said::default() };
                assert_eq!([true, false].map(|of| said.text(of)), [true, false].map(|of| wanted.text(of)), "{input}");
            } else {
                assert_eq!(said.runs, wanted, "{text}\n{input}\nbecame\n{output}");
            }
            assert_eq!(said.reasons, ["stop"], "{output}");
        }
    }
}

fn recordings() -> Vec<PathBuf> {
    let recordings = support::shared_files("corpus/sse/ollama-ndjson");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sse/formats");
    let own = support::files(own).into_iter().filter(|file| file.extension().is_some_and(|end| end == "ndjson"));
    recordings.into_iter().chain(own).collect()
}

#[test]
fn recordings_pass_where_nothing_is_to_be_split() {
    let mut random = Random::announced("recordings_pass_where_nothing_is_to_be_split");
    let foreign = ANYWHERE.replace("think>", "\u{1F512}>");
    let foreign = Dialect::load(&foreign).unwrap();
    for file in recordings() {
        let input = std::fs::read_to_string(&file).unwrap();
        for formats in [Formats::ALL, Formats::OLLAMA] {
            for body in [Body::Unknown, Body::Lines] {
                let options = Options::new().formats(formats).body(body);
                assert_eq!(at_random_cuts(&foreign, &options, &input, &mut random), input, "{}", file.display());
                // Tests every cut of the first lines.
                let first = input.split_inclusive('\n').take(12).map(str::len).sum::<usize>();
                for at in 0..first {
                    let (before, after) = input.as_bytes().split_at(at);
                    assert_eq!(rewrite(&foreign, &options, [before, after]), input, "{} at {at}", file.display());
                }
            }
        }
    }
}

#[test]
fn one_line_becomes_one_for_each_stretch() {
    let anywhere = Dialect::load(ANYWHERE).unwrap();
    let input = last("stop", "a<think>b</think>c") + &content("x");
    // Another line precedes it, because a single line would be a whole answer.
    let output = content("-") + &content("a") + &thinking("b") + &last("stop", "c") + &content("x");
    let input = content("-") + &input;
    for of in [str::to_owned, |lines: &str| lines.lines().map(|line| generate(line) + "\n").collect()] {
        assert_eq!(with(&anywhere, &options(), &of(&input)), of(&output));
        let of_others = |lines: String| lines.replace('\n', "\r\n");
        assert_eq!(with(&anywhere, &options(), &of_others(of(&input))), of_others(of(&output)));
    }
}

#[test]
fn thinking_stands_beside_an_empty_text() {
    let dialect = Dialect::find("qwen3").unwrap();
    let input = content("<think>hm");
    assert_eq!(qwen3(&input), thinking("hm"));
    assert_eq!(qwen3(&generate(&input)), generate(&thinking("hm")));
    let output = with(&dialect, &options().field(Field::Reasoning), &input);
    assert_eq!(output, thinking("hm"), "clients know no other field");
    let input = line("\"thinking\":\"\",\"content\":\"<think>hm\"");
    assert_eq!(qwen3(&input), line("\"thinking\":\"hm\",\"content\":\"\""));
}

#[test]
fn held_text_leaves_before_the_end() {
    let error = "{\"error\":\"no\"}\n".to_owned();
    for end in [last("stop", ""), last("length", ""), error] {
        let (input, output) = (content("a <thi") + &end, content("a ") + &content("<thi") + &end);
        assert_eq!(qwen3(&input), output);
        assert_eq!(qwen3(input.trim_end()), output.trim_end());
        if end.contains("message") {
            assert_eq!(qwen3(&(generate(&content("a <thi")) + &generate(&end))).matches("\"response\"").count(), 3);
        }
    }
    assert_eq!(qwen3(&content("a <thi")), content("a ") + &content("<thi"));
    // In a last line that breaks off, nothing is held.
    assert_eq!(qwen3(content("a <thi").trim_end()), content("a <thi").trim_end());
    // After the end and after an error, another answer may follow.
    let end = content("a") + &last("stop", "");
    assert_eq!(qwen3(&(end.clone() + &content("<think>a"))), end + &thinking("a"));
    let after = "{\"error\":\"no\"}\n".to_owned() + &content("<think>a");
    assert_eq!(
        at_every_cut(&Dialect::find("qwen3").unwrap(), &options().body(Body::Lines), &after),
        "{\"error\":\"no\"}\n".to_owned() + &thinking("a")
    );
}

#[test]
fn a_server_that_splits_is_left_alone() {
    let input = content("") + &thinking("<think>") + &content("<think>a</think>b") + &last("stop", "");
    for of in [str::to_owned, |lines: &str| lines.lines().map(|line| generate(line) + "\n").collect()] {
        assert_eq!(qwen3(&of(&input)), of(&input));
    }
    let body = last("stop", "<think>a</think>b").replace("\"role\"", "\"thinking\":\"x\",\"role\"");
    assert_eq!(qwen3(&body), body);
}

#[test]
fn held_text_leaves_before_a_part_of_another_kind() {
    for part in ["\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]", "\"images\":[\"aGk=\"]"] {
        let part = line(&format!("\"content\":\"\",{part}"));
        assert_eq!(qwen3(&(content("a <") + &part)), content("a ") + &content("<") + &part);
    }
}

#[test]
fn blank_lines_and_what_is_not_read_pass() {
    for input in [
        "\n\r\n\n".to_owned() + &content("a") + "\n\n" + &content("b"),
        "{\"status\":\"success\"}\n".to_owned() + &content("a"),
        content("a") + "{\"model\n" + "[1]\n" + "data: {}\n" + "\u{1}\n" + &last("stop", ""),
    ] {
        assert_eq!(at_every_cut(&Dialect::find("qwen3").unwrap(), &options().body(Body::Lines), &input), input);
    }
    // If only chat is enabled, the first object is a body, and the text after it stays unchanged.
    let input = content("<think>a</think>b") + &last("stop", "");
    for body in [Body::Unknown, Body::Json, Body::Lines] {
        let options = Options::new().formats(Formats::CHAT).body(body);
        assert_eq!(at_every_cut(&Dialect::find("qwen3").unwrap(), &options, &input), input);
    }
    // In an event stream, the object of a line is not rewritten, because no line can be added.
    let input = format!("data: {}\n\n", content("a<think>b</think>c").trim_end());
    assert_eq!(at_every_cut(&Dialect::find("think").unwrap(), &options(), &input), input);
}

#[test]
fn a_byte_order_mark_stays_first() {
    let dialect = Dialect::find("qwen3").unwrap();
    let input = format!("\u{FEFF}{}", content("<think>a"));
    let output = format!("\u{FEFF}{}", thinking("a"));
    assert_eq!(at_every_cut(&dialect, &options().body(Body::Lines), &input), output);
}

#[test]
fn a_long_line_passes_and_is_counted() {
    let dialect = Dialect::find("qwen3").unwrap();
    let options = options().body(Body::Lines).max_event(200);
    let long = content(&format!("<think>{}", "a".repeat(200)));
    let input = content("<thi") + &long + &content("<think>b") + &long + &content("c");
    let output = content("") + &content("<thi") + &long + &thinking("b") + &long + &thinking("c");
    assert_eq!(at_every_cut(&dialect, &options, &input), output);
    let mut rewriter = aside::sse::Rewriter::new(&dialect, &options).unwrap();
    rewriter.feed(&input, &mut Vec::new()).unwrap();
    assert_eq!((rewriter.stats().too_long, rewriter.stats().events), (2, 3));
}

#[test]
fn a_rewriter_serves_stream_after_stream() {
    let dialect = Dialect::find("qwen3").unwrap();
    let mut rewriter = aside::sse::Rewriter::new(&dialect, &Options::new().formats(Formats::ALL)).unwrap();
    let chat = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"<think>a\"}}]}\n\n";
    for _ in 0..2 {
        for (input, output) in [
            (content("<think>a") + &last("stop", ""), thinking("a") + &last("stop", "")),
            (chat.to_owned(), chat.replace("content\":\"<think>", "reasoning_content\":\"")),
            (
                last("stop", "<think>a</think>b"),
                last("stop", "b").replace("\"content\":\"b\"", "\"content\":\"b\",\"thinking\":\"a\""),
            ),
        ] {
            let mut out = Vec::new();
            rewriter.feed(&input, &mut out).unwrap();
            rewriter.finish(&mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), output);
        }
    }
}

// ----------------------------------------------------------------------------------------------------------------- calls

fn wanting() -> Options {
    let tools = r#"[{"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}}, {"name": "g"}]"#;
    options().calls(true).tools(Tools::read(tools).unwrap())
}

const CALL: &str = r#"<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}}</tool_call>"#;

fn told(index: u64) -> String {
    format!(
        r#""content":"","tool_calls":[{{"id":"call_20260728T063803 2Z_0_{index}","function":{{"index":{index},"name":"f","arguments":{{"x": 1}}}}}}]"#
    )
    .replace(' ', "")
    .replace("{\"x\":1}", "{\"x\": 1}")
}

#[test]
fn each_call_is_a_line() {
    let dialect = Dialect::load(TAGS).unwrap();
    let text = format!("<think>hm</think>a {CALL}{CALL} b");
    let output = thinking("hm") + &content("a") + &line(&told(0)) + &line(&told(1)) + &content(" b");
    let input = content(&text);
    assert_eq!(with(&dialect, &wanting(), &(input.clone() + &last("stop", ""))), output.clone() + &last("stop", ""));
    // The server may cut the text anywhere.
    for len in 1..20 {
        let mut cut = String::new();
        let decoded: String = serde_json::from_str(&format!("\"{text}\"")).unwrap();
        for piece in decoded.as_bytes().chunks(len) {
            let piece = serde_json::to_string(std::str::from_utf8(piece).unwrap()).unwrap();
            cut += &content(&piece[1..piece.len() - 1]);
        }
        let said = client(&rewrite(&dialect, &wanting(), [(cut + &last("stop", "")).as_bytes()]));
        assert_eq!(said, client(&(output.clone() + &last("stop", ""))), "pieces of {len}");
    }
}

#[test]
fn a_whole_answer_has_its_calls_in_one_list() {
    let dialect = Dialect::load(TAGS).unwrap();
    let (one, two) = (told(0), told(1));
    let two = two.strip_prefix("\"content\":\"\",\"tool_calls\":[").unwrap();
    let both = format!("{},{two}", one.strip_suffix(']').unwrap());
    let output = last("stop", "").replace("\"content\":\"\"", &both);
    assert_eq!(with(&dialect, &wanting(), &last("stop", &format!("{CALL}{CALL}"))), output);
}

#[test]
fn what_is_no_call_for_ollama_stays_text() {
    let dialect = Dialect::load(TAGS).unwrap();
    for text in [
        CALL.replace("\\\"f\\\"", "\\\"h\\\""),
        CALL.replace("{\\\"x\\\": 1}", "[1]"),
        CALL.replace("{\\\"x\\\": 1}", "\\\"x\\\""),
        CALL.replace("}}</tool_call>", ""),
    ] {
        let input = content(&text) + &last("stop", "");
        let said = client(&with(&dialect, &wanting(), &input));
        assert_eq!(said, client(&input), "{text}");
        let input = last("stop", &text);
        assert_eq!(with(&dialect, &wanting(), &input), input);
    }
    // An answer of `/api/generate` has no place for calls.
    let input = generate(&content(CALL)) + &generate(&last("stop", ""));
    assert_eq!(client(&with(&dialect, &wanting(), &input)), client(&input));
    // No more text is held than the limit allows.
    let long = content(&CALL.replace('1', &"1".repeat(300))) + &content(CALL) + &last("stop", "");
    let said = client(&with(&dialect, &wanting().max_held(200), &long));
    assert_eq!((said.calls.len(), said.text(false).len()), (1, CALL.replace('\\', "").len() + 299));
}

#[test]
fn a_call_that_a_part_of_the_server_cuts_is_text() {
    let dialect = Dialect::load(TAGS).unwrap();
    let own = line(
        "\"content\":\"\",\"tool_calls\":[{\"id\":\"s\",\"function\":{\"index\":0,\"name\":\"f\",\"arguments\":{}}}]",
    );
    let (before, after) = CALL.split_at(40);
    let input = content(before) + &own + &content(after) + &content(CALL) + &last("stop", "");
    let said = client(&with(&dialect, &wanting(), &input));
    assert_eq!((said.calls.len(), said.text(false)), (1, CALL.replace('\\', "").repeat(2)));
    let images = line("\"content\":\"\",\"images\":[\"aGk=\"]");
    let input = content(before) + &images + &content(after) + &content(CALL) + &last("stop", "");
    let said = client(&with(&dialect, &wanting(), &input));
    assert_eq!((said.calls.len(), said.text(false)), (1, CALL.replace('\\', "")));
}

#[test]
fn calls_of_random_texts_are_told_once() {
    let mut random = Random::announced("calls_of_random_texts_are_told_once");
    let mut count = 0;
    for pair in Pair::all().iter().filter(|pair| pair.has_calls()) {
        let texts = Texts::new(&pair.reference);
        for _ in 0..30 {
            let length = random.below(200);
            let text = String::from_utf8_lossy(&texts.next(&mut random, length)).into_owned();
            let mut wanted = support::told::told(pair, &aside::ScannerOptions::new(), None, text.as_bytes(), true);
            let input = stream(&mut random, &text, true);
            if input.lines().filter(|line| !line.is_empty()).count() > 1 {
                let moved: String = wanted.thinking.drain(..wanted.moved).collect();
                wanted.content.insert_str(0, &moved);
            }
            let said = client(&at_random_cuts(&pair.library, &options().calls(true), &input, &mut random));
            let calls: Vec<_> =
                said.calls.iter().map(|call| [&call["function"]["name"], &call["function"]["arguments"]]).collect();
            let wanted_calls: Vec<_> = wanted
                .calls
                .iter()
                .map(|[name, arguments]| [json!(name), serde_json::from_str(arguments).unwrap()])
                .collect();
            assert_eq!(
                calls,
                wanted_calls.iter().map(|[name, arguments]| [name, arguments]).collect::<Vec<_>>(),
                "{text:?}"
            );
            assert_eq!(
                (said.text(true), said.text(false)),
                (wanted.thinking, wanted.content),
                "{} {text:?}",
                pair.reference.name
            );
            count += calls.len();
        }
    }
    assert!(count > 100, "{count} calls");
}
