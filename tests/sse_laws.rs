//! The laws of the rewriter, for all formats: streams and bodies of the recorded texts and of random texts, and the recorded
//! answers, each with several sets of options.
//!
//! - Bytes that need no change pass.
//! - Cuts make no difference, and neither do other streams of the same thread.
//! - If calls are held until they are whole, a body is a stream that has each of its texts in one delta, as a list. The exception is
//!   content that turns out to be thinking: only in a body, it can still become thinking.
//! - Dropping the thinking is splitting, and then dropping it.
//! - Splitting, putting into one shape and repairing change no text when they are repeated. The exception is content in which a
//!   marker is text, such as a call that breaks off: for a second reader it may be a marker.
//! - Every word of a text is in exactly one part.

use std::fmt::Write;

use aside::Dialect;
use aside::answer::NotWhole;
use aside::sse::{Body, Comments, Field, Formats, Options, ResponsesAs, Rewriter, Shapes, Thinking};
use samples::Random;
use serde_json::{Value, json};
use support::accounts::{Shape, WORD, words};
use support::client::events;
use support::rewriting::{at_random_cuts, rewrite, sorted};
use support::{files, random_cuts, shared_files};

/// The parts of random texts. Each word is replaced by a different character.
const PIECES: [&str; 15] = [
    "§",
    "§ ",
    "<think>§</think>",
    "<think>\n§\n</think>\n\n§",
    "§</think>§",
    "\n",
    "é\"\\",
    "<thi",
    "</thi§",
    "§ <tool_",
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"§\"}}\n</tool_call>",
    "<tool_call>\n{\"name\": \"g§\", \"arguments\": {}}\n</tool_call>\n",
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"§",
    "<tool_call>§</tool_call>",
    "</tool_call>",
];

/// A text that a model wrote, and its dialect.
struct Text {
    dialect: Dialect,
    text: String,
}

/// Returns the recorded texts and random texts.
fn texts(random: &mut Random) -> Vec<Text> {
    let recordings = files(format!("{}/examples/recordings", support::ROOT));
    let mut texts: Vec<Text> = Vec::new();
    for file in recordings.iter().filter(|file| file.extension().is_some_and(|end| end == "txt")) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let name = if name.starts_with("qwen3") { "qwen3" } else { name };
        texts.push(Text { dialect: Dialect::find(name).unwrap(), text: std::fs::read_to_string(file).unwrap() });
    }
    assert!(texts.len() > 8);
    let mut word = 0x4E00;
    for _ in 0..400 {
        let mut text = String::new();
        for _ in 0..random.below(7) {
            for character in random.pick(&PIECES).chars() {
                word += u32::from(character == WORD);
                text.push(if character == WORD { char::from_u32(word).unwrap() } else { character });
            }
        }
        texts.push(Text { dialect: Dialect::find("qwen3").unwrap(), text });
    }
    texts
}

/// Returns a text in pieces of up to `most` characters.
fn pieces(random: &mut Random, text: &str, most: usize) -> Vec<String> {
    let mut pieces = support::rewriting::pieces(random, text, most);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

// ------------------------------------------------------------------------------------------------------------- servers

/// Returns an answer with this text as a stream with these deltas.
fn stream(shape: Shape, deltas: &[String]) -> String {
    let mut out = String::new();
    let mut send = |data: Value| {
        let name = data["type"].as_str().map_or(String::new(), |name| format!("event: {name}\n"));
        match shape.is_of_lines() {
            true => writeln!(out, "{data}").unwrap(),
            false => write!(out, "{name}data: {data}\n\n").unwrap(),
        }
    };
    let whole = deltas.concat();
    match shape {
        Shape::Chat | Shape::Completions => {
            let choice = |text: Option<&str>| match (shape, text) {
                (Shape::Chat, Some(text)) => json!({"index": 0, "delta": {"content": text}, "finish_reason": null}),
                (Shape::Chat, None) => json!({"index": 0, "delta": {}, "finish_reason": "stop"}),
                (_, Some(text)) => json!({"index": 0, "text": text, "finish_reason": null}),
                (_, None) => json!({"index": 0, "text": "", "finish_reason": "stop"}),
            };
            for text in deltas.iter().map(|text| Some(&text[..])).chain([None]) {
                send(json!({"id": "c", "choices": [choice(text)]}));
            }
        }
        Shape::Messages => {
            send(json!({"type": "message_start", "message": {"id": "m", "type": "message", "content": []}}));
            send(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
            for text in deltas {
                let delta = json!({"type": "text_delta", "text": text});
                send(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
            }
            send(json!({"type": "content_block_stop", "index": 0}));
            send(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}));
            send(json!({"type": "message_stop"}));
        }
        Shape::Responses => {
            let part = |text: &str| json!({"type": "output_text", "annotations": [], "text": text});
            let item = |status: &str, content: &[Value]| json!({"id": "m", "type": "message", "role": "assistant", "status": status, "content": content});
            let mut number = 0;
            let mut of_item = |kind: &str, member: &str, value: Value, is_of_part: bool| {
                let mut event = json!({"type": format!("response.{kind}"), "output_index": 0, "sequence_number": number, member: value});
                if is_of_part {
                    (event["item_id"], event["content_index"]) = ("m".into(), 0.into());
                }
                number += 1;
                send(event);
            };
            of_item("output_item.added", "item", item("in_progress", &[]), false);
            of_item("content_part.added", "part", part(""), true);
            for text in deltas {
                of_item("output_text.delta", "delta", text[..].into(), true);
            }
            of_item("output_text.done", "text", whole[..].into(), true);
            of_item("content_part.done", "part", part(&whole), true);
            of_item("output_item.done", "item", item("completed", &[part(&whole)]), false);
            send(
                json!({"type": "response.completed", "sequence_number": number, "response": body_of(Shape::Responses, &whole)}),
            );
        }
        Shape::OllamaChat | Shape::OllamaGenerate => {
            for text in deltas {
                send(line(shape, text, false));
            }
            send(line(shape, "", true));
        }
    }
    out
}

fn line(shape: Shape, text: &str, is_done: bool) -> Value {
    let mut line = json!({"model": "m", "created_at": "2026-07-28T06:38:03.2Z", "done": is_done});
    match shape {
        Shape::OllamaGenerate => line["response"] = text.into(),
        _ => line["message"] = json!({"role": "assistant", "content": text}),
    }
    if is_done {
        line["done_reason"] = "stop".into();
    }
    line
}

/// Returns an answer with this text as a body.
fn body_of(shape: Shape, text: &str) -> Value {
    match shape {
        Shape::Chat => {
            json!({"id": "c", "choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]})
        }
        Shape::Completions => json!({"id": "c", "choices": [{"index": 0, "text": text, "finish_reason": "stop"}]}),
        Shape::Messages => {
            let content = json!([{"type": "text", "text": text}]);
            json!({"id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn"})
        }
        Shape::Responses => {
            let part = json!({"type": "output_text", "annotations": [], "text": text});
            let item =
                json!({"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]});
            json!({"id": "r", "object": "response", "status": "completed", "output": [item]})
        }
        Shape::OllamaChat | Shape::OllamaGenerate => line(shape, text, true),
    }
}

// ------------------------------------------------------------------------------------------------------------- clients

/// The texts and calls that a client gets.
#[derive(Clone, Debug, Default, PartialEq)]
struct Said {
    thinking: String,
    content: String,
    /// The names and the arguments.
    calls: Vec<(String, String)>,
}

impl Said {
    /// Reads a stream or a body of any format.
    fn read(answer: &str) -> Said {
        let mut said = Said::default();
        if let Ok(body) = serde_json::from_str(answer) {
            said.take(&body);
            return said;
        }
        let is_of_events = !answer.starts_with('{');
        let events = events(answer).into_iter().map(|event| event.data).filter(|_| is_of_events);
        for data in events.chain(answer.lines().map(str::to_owned).filter(|_| !is_of_events)) {
            match serde_json::from_str(&data) {
                Ok(value) => said.take(&value),
                // The last data of one recording is not JSON, and no option changes it.
                Err(_) if data.starts_with('{') => said.content += &data,
                Err(_) => {}
            }
        }
        said
    }

    fn take(&mut self, value: &Value) {
        let kind = value["type"].as_str().unwrap_or_default();
        let index = &value["index"];
        if value.get("choices").is_some() {
            value["choices"].as_array().into_iter().flatten().for_each(|choice| self.choice(choice));
        } else if value.get("done").is_some() {
            self.choice(value);
        } else if kind == "message" || kind == "message_start" {
            let content = if kind == "message" { &value["content"] } else { &value["message"]["content"] };
            content.as_array().into_iter().flatten().for_each(|block| self.block(block));
        } else if kind == "content_block_start" {
            assert!(index.is_u64());
            self.block(&value["content_block"]);
        } else if kind == "content_block_delta" {
            self.block(&value["delta"]);
        } else if value["object"] == "response" {
            value["output"].as_array().into_iter().flatten().for_each(|item| self.item(item));
        } else if kind == "response.output_item.added" && value["item"]["type"] == "function_call" {
            self.calls.push((text(&value["item"]["name"]), String::new()));
        } else if let Some(kind) = kind.strip_prefix("response.").and_then(|kind| kind.strip_suffix(".delta")) {
            let delta = text(&value["delta"]);
            match kind {
                "output_text" => self.content += &delta,
                "reasoning_text" | "reasoning_summary_text" => self.thinking += &delta,
                "function_call_arguments" => self.arguments(&delta),
                _ => panic!("{value}"),
            }
        }
    }

    fn arguments(&mut self, more: &str) {
        self.calls.last_mut().expect("the beginning of the call").1 += more;
    }

    fn choice(&mut self, choice: &Value) {
        let part = ["delta", "message"].into_iter().find(|part| choice[*part].is_object());
        let part = part.map_or(choice, |part| &choice[part]);
        for (name, value) in part.as_object().unwrap() {
            match &name[..] {
                "content" | "text" | "response" if value.is_array() => {
                    value.as_array().unwrap().iter().for_each(|block| self.block(block));
                }
                "content" | "text" | "response" => self.content += &text(value),
                "reasoning_content" | "reasoning" | "thinking" => self.thinking += &text(value),
                "tool_calls" => {
                    for call in value.as_array().into_iter().flatten() {
                        let function = &call["function"];
                        if function.get("name").is_some() {
                            self.calls.push((text(&function["name"]), String::new()));
                        }
                        self.arguments(&match &function["arguments"] {
                            Value::Object(object) => json!(object).to_string(),
                            string => text(string),
                        });
                    }
                }
                _ => {}
            }
        }
    }

    fn block(&mut self, block: &Value) {
        self.content += &text(&block["text"]);
        self.thinking += &text(&block["thinking"]);
        if block["type"] == "tool_use" {
            let input = if block["input"] == json!({}) { String::new() } else { block["input"].to_string() };
            self.calls.push((text(&block["name"]), input));
        } else if let Some(json) = block["partial_json"].as_str() {
            self.arguments(json);
        }
    }

    fn item(&mut self, item: &Value) {
        if item["type"] == "function_call" {
            self.calls.push((text(&item["name"]), text(&item["arguments"])));
        }
        let parts = [&item["content"], &item["summary"]].into_iter().flat_map(|list| list.as_array()).flatten();
        for part in parts {
            let to = if item["type"] == "reasoning" { &mut self.thinking } else { &mut self.content };
            *to += &text(&part["text"]);
        }
    }

    /// Returns the same with arguments in one form. A call without arguments may have an empty object or nothing.
    fn plain(mut self) -> Said {
        for (_, arguments) in &mut self.calls {
            match serde_json::from_str::<Value>(arguments) {
                Ok(value) => *arguments = value.to_string(),
                Err(_) if arguments.is_empty() => *arguments = "{}".to_owned(),
                // The text ends inside the call.
                Err(_) => {}
            }
        }
        self
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

// ------------------------------------------------------------------------------------------------------------- options

/// Returns the sets of options that may change the form of an answer, but keep its thinking.
fn options() -> Vec<Options> {
    let all = || Options::new().formats(Formats::ALL);
    vec![
        all(),
        all().calls(true),
        all().calls(true).not_whole(NotWhole::Hold).merge(true),
        all().calls(true).repair(true).label(true).responses_as(ResponsesAs::Summary),
        all().normalise(Shapes::ALL).field(Field::Reasoning),
        all().normalise(Shapes::ALL).calls(true).repair(true).comments(Comments::Drop),
    ]
}

/// Returns the same options for a stream, or a body, of this shape.
fn with_body(options: &Options, shape: Shape, is_body: bool) -> Options {
    options.clone().body(match (is_body, shape.is_of_lines()) {
        (true, _) => Body::Json,
        (false, true) => Body::Lines,
        (false, false) => Body::Events,
    })
}

/// Returns the recorded answers, with options for their format.
fn recorded() -> Vec<(Options, String)> {
    let own = files(format!("{}/tests/sse", support::ROOT)).into_iter();
    let own = own.chain(files(format!("{}/tests/sse/formats", support::ROOT)));
    let shared = shared_files("corpus/sse").into_iter().filter(|kind| kind.is_dir()).flat_map(files);
    let read = |file: std::path::PathBuf| {
        let answer = std::fs::read_to_string(&file).ok()?;
        let body = match file.extension()?.to_str()? {
            "json" => Body::Json,
            "ndjson" => Body::Lines,
            "sse" => Body::Events,
            _ => return None,
        };
        Some((Options::new().formats(Formats::ALL).body(body), answer))
    };
    own.chain(shared).filter_map(read).collect()
}

/// Calls `check` with each text as an answer of each shape, as a body and as streams, with a set of options.
fn each(mut check: impl FnMut(&mut Random, &Text, &Options, Shape, &str)) {
    let mut random = Random::announced("sse_laws");
    let texts = texts(&mut random);
    for (number, text) in texts.iter().enumerate() {
        for shape in Shape::ALL {
            for (way, options) in options().iter().enumerate() {
                // Each random text is tried with one of the sets.
                if text.text.len() < 200 && way != number % options_len() {
                    continue;
                }
                let body = body_of(shape, &text.text).to_string();
                check(&mut random, text, &with_body(options, shape, true), shape, &body);
                let deltas = pieces(&mut random, &text.text, 9);
                check(&mut random, text, &with_body(options, shape, false), shape, &stream(shape, &deltas));
            }
        }
    }
}

fn options_len() -> usize {
    options().len()
}

// ---------------------------------------------------------------------------------------------------------------- laws

#[test]
fn bytes_that_need_no_change_pass() {
    let toml = "name = \"foreign\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"\\u007F<\"]\nclose = [\"\\u007F>\"]\n";
    let foreign = Dialect::load(toml).unwrap();
    let passes = |options: &Options, answer: &str| {
        for options in [options.clone(), options.clone().merge(true), options.clone().calls(true).label(true)] {
            let out = rewrite(&foreign, &options, [answer]);
            // A block's start is held until it has text, and a ping may be sent before that.
            let is_same = out == answer || answer.contains("ping") && sorted(&out) == sorted(answer);
            assert!(is_same, "{answer}\nbecame\n{out}");
        }
    };
    let recorded = recorded();
    // Where the server leaves indexes out, they are added.
    let is_placed = |answer: &str| !answer.contains("response.created") || answer.contains("output_index");
    let placed = recorded.iter().filter(|(_, answer)| is_placed(answer));
    placed.for_each(|(options, answer)| passes(options, answer));
    each(|_, text, options, shape, answer| {
        // A block or item is not opened by blanks alone, so these are held and joined to the text after them.
        let begins = text.text.trim_start().len() == text.text.len() && !text.text.is_empty();
        if begins && format!("{options:?}").contains("repair: false") {
            let is_body = answer.starts_with('{') && !shape.is_of_lines();
            passes(&with_body(&Options::new().formats(Formats::ALL), shape, is_body), answer);
        }
    });
}

#[test]
fn cuts_make_no_difference() {
    let mut random = Random::announced("cuts_make_no_difference");
    for (plain, answer) in recorded() {
        if answer.len() < 40_000 {
            let qwen3 = Dialect::find("qwen3").unwrap();
            for options in [plain.clone(), plain.clone().calls(true).repair(true), plain.clone().normalise(Shapes::ALL)]
            {
                at_random_cuts(&qwen3, &options, &answer, &mut random);
                at_random_cuts(&qwen3, &options.thinking(Thinking::Drop), &answer, &mut random);
            }
        }
    }
    each(|random, text, options, _, answer| {
        at_random_cuts(&text.dialect, options, answer, random);
        at_random_cuts(&text.dialect, &options.clone().thinking(Thinking::Drop), answer, random);
    });
}

/// Feeds several streams in turns on one thread, because the streams of a thread share their buffers.
#[test]
fn streams_of_a_thread_do_not_mix() {
    let mut random = Random::announced("streams_of_a_thread_do_not_mix");
    let qwen3 = Dialect::find("qwen3").unwrap();
    let recorded: Vec<_> = recorded().into_iter().filter(|(_, answer)| answer.len() < 40_000).collect();
    // The last event has no line end, and needs an extra chunk with the line end of the event before.
    let last = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"<think>b</think>c\"}}]}";
    // Events of a call are left out, and then so is the `\n` that a cut has separated from one.
    let call = pieces(&mut random, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"b\"}}\n</tool_call>", 4);
    let event = |text: &String| format!("data: {}\r\n\r\n", json!({"choices": [{"delta": {"content": text}}]}));
    let call: String = call.iter().map(event).collect();
    let short = [last.to_owned(), last.replace('\n', "\r\n"), call].map(|answer| (Options::new().calls(true), answer));
    for answers in recorded.chunks(7) {
        let stream = |(number, (options, answer)): (usize, &(Options, String))| {
            let (options, most) = match number < short.len() {
                true => (options.clone(), 3),
                false => (options.clone().calls(number % 3 > 0).repair(number % 3 > 1), 400),
            };
            let chunks = random_cuts(&mut random, answer.as_bytes(), most).into_iter().map(<[u8]>::to_vec);
            let chunks = chunks.collect::<Vec<_>>().into_iter();
            (rewrite(&qwen3, &options, [answer]), Rewriter::new(&qwen3, &options).unwrap(), chunks, Vec::new())
        };
        let mut streams: Vec<_> = short.iter().chain(answers).enumerate().map(stream).collect();
        let mut open: Vec<usize> = (0..streams.len()).collect();
        while !open.is_empty() {
            let at = random.below(open.len());
            let (wanted, rewriter, chunks, out) = &mut streams[open[at]];
            if let Some(chunk) = chunks.next() {
                rewriter.feed(chunk, out).unwrap();
                continue;
            }
            rewriter.finish(out).unwrap();
            assert_eq!(String::from_utf8_lossy(out), *wanted);
            open.swap_remove(at);
        }
    }
}

#[test]
fn a_body_is_a_stream_of_whole_texts() {
    let mut random = Random::announced("a_body_is_a_stream_of_whole_texts");
    let mut calls = 0;
    for Text { dialect, text } in texts(&mut random) {
        for shape in Shape::ALL {
            let options = Options::new().formats(Formats::ALL).calls(true).not_whole(NotWhole::Hold);
            let rewritten = |answer: String, is_body: bool| {
                Said::read(&rewrite(&dialect, &with_body(&options, shape, is_body), [answer])).plain()
            };
            let body = rewritten(body_of(shape, &text).to_string(), true);
            for most in [usize::MAX, 5] {
                let deltas = if most == usize::MAX { vec![text.clone()] } else { pieces(&mut random, &text, most) };
                let mut streamed = rewritten(stream(shape, &deltas), false);
                if streamed != body && text.contains("</think>") {
                    // Content that turns out to be thinking stays content in a stream.
                    let joined = |said: &Said| words(&json!([said.thinking, said.content]));
                    let (mut one, mut other) = (joined(&streamed), joined(&body));
                    one.sort_unstable();
                    other.sort_unstable();
                    assert_eq!(one, other, "{text:?}");
                    assert!(streamed.content.len() > body.content.len(), "{shape:?} {text:?}\n{streamed:?}\n{body:?}");
                    (streamed.thinking, streamed.content) = (body.thinking.clone(), body.content.clone());
                }
                assert_eq!(streamed, body, "{shape:?} {text:?}");
            }
            calls += body.calls.len();
        }
    }
    assert!(calls > 100, "{calls}");
}

#[test]
fn dropping_is_splitting_and_then_dropping() {
    let mut dropped = 0;
    let mut check = |dialect: &Dialect, options: &Options, answer: &str| {
        let split = Said::read(&rewrite(dialect, options, [answer]));
        let got = Said::read(&rewrite(dialect, &options.clone().thinking(Thinking::Drop), [answer]));
        dropped += usize::from(!split.thinking.is_empty());
        assert_eq!(got, Said { thinking: String::new(), ..split }, "{options:?}\n{answer}");
    };
    each(|_, text, options, _, answer| {
        check(&text.dialect, options, answer);
        check(&text.dialect, &options.clone().promote_empty(true), answer);
    });
    for (plain, answer) in recorded().iter().filter(|(_, answer)| !answer.contains("reasoning_details")) {
        for options in [plain.clone(), plain.clone().calls(true).repair(true), plain.clone().normalise(Shapes::ALL)] {
            check(&Dialect::find("qwen3").unwrap(), &options, answer);
        }
    }
    assert!(dropped > 1000, "{dropped}");
}

#[test]
fn a_second_pass_changes_no_text() {
    let mut changed = 0;
    each(|_, text, options, shape, answer| {
        let once = rewrite(&text.dialect, options, [answer]);
        let twice = rewrite(&text.dialect, options, [&once]);
        let said = Said::read(&once).plain();
        if ["think>", "tool_call>"].iter().any(|marker| said.content.contains(marker)) {
            return;
        }
        changed += usize::from(once != answer);
        assert_eq!(Said::read(&twice).plain(), said, "{shape:?} {options:?}\n{answer}\n{once}\n{twice}");
    });
    assert!(changed > 1000, "{changed}");
}

#[test]
fn every_word_is_in_one_part() {
    let mut count = 0;
    each(|_, text, options, shape, answer| {
        let Said { thinking, content, calls } = Said::read(&rewrite(&text.dialect, options, [answer]));
        let mut got = words(&json!([thinking, content, calls]));
        let mut wanted = words(&json!(text.text));
        count += wanted.len();
        got.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(got, wanted, "{shape:?} {options:?}\n{answer}");
    });
    assert!(count > 1000, "{count}");
}
