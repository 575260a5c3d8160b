//! Tests streams and bodies that start inside the thinking only by the dialect's guess: if the answer ended by itself and nothing
//! shows that it was thinking, the client must get it as content, in every format.

use aside::sse::{Options, Rewriter};
use aside::{Channel, Dialect, Scanner, Start};
use serde_json::{Value, json};
use support::columns::Columns;

/// The formats, each with the field of the thinking.
const FORMATS: [Format; 5] = [Format::Chat, Format::Completions, Format::Ollama, Format::Messages, Format::Responses];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Chat,
    Completions,
    Ollama,
    Messages,
    Responses,
}

/// The reason why the model stopped.
#[derive(Clone, Copy, PartialEq)]
enum Stop {
    Itself,
    Limit,
}

impl Format {
    /// Returns the stream of an answer in these pieces.
    fn stream(self, pieces: &[&str], stop: Stop) -> String {
        let by_itself = stop == Stop::Itself;
        let reason = if by_itself { "stop" } else { "length" };
        let mut out = String::new();
        let mut send = |event: Value| match self {
            Format::Ollama => out += &format!("{event}\n"),
            Format::Chat | Format::Completions => out += &format!("data: {event}\n\n"),
            Format::Messages | Format::Responses => {
                out += &format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
            }
        };
        match self {
            Format::Chat => {
                for piece in pieces {
                    send(json!({"id": "c", "choices": [{"index": 0, "delta": {"content": piece}}]}));
                }
                send(json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
            }
            Format::Completions => {
                for piece in pieces {
                    send(json!({"id": "c", "object": "text_completion", "choices": [{"index": 0, "text": piece}]}));
                }
                let last = json!({"index": 0, "text": "", "finish_reason": reason});
                send(json!({"id": "c", "object": "text_completion", "choices": [last]}));
            }
            Format::Ollama => {
                for piece in pieces {
                    send(json!({"model": "m", "message": {"role": "assistant", "content": piece}, "done": false}));
                }
                let message = json!({"role": "assistant", "content": ""});
                send(json!({"model": "m", "message": message, "done": true, "done_reason": reason}));
            }
            Format::Messages => {
                send(json!({"type": "message_start", "message": {"id": "m", "type": "message", "content": []}}));
                let block = json!({"type": "text", "text": ""});
                send(json!({"type": "content_block_start", "index": 0, "content_block": block}));
                for piece in pieces {
                    let delta = json!({"type": "text_delta", "text": piece});
                    send(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
                }
                send(json!({"type": "content_block_stop", "index": 0}));
                let reason = if by_itself { "end_turn" } else { "max_tokens" };
                send(json!({"type": "message_delta", "delta": {"stop_reason": reason}}));
                send(json!({"type": "message_stop"}));
            }
            Format::Responses => {
                let status = if by_itself { "completed" } else { "incomplete" };
                let text = pieces.concat();
                let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
                let item =
                    |content: Value| json!({"id": "m", "type": "message", "role": "assistant", "content": content});
                send(json!({"type": "response.created", "response": {"id": "r", "output": []}}));
                let place = json!({"output_index": 0, "content_index": 0, "item_id": "m"});
                let with = |kind: &str, name: &str, value: Value| {
                    let mut event = place.clone();
                    (event["type"], event[name]) = (kind.into(), value);
                    event
                };
                send(json!({"type": "response.output_item.added", "output_index": 0, "item": item(json!([]))}));
                send(with("response.content_part.added", "part", part("")));
                for piece in pieces {
                    send(with("response.output_text.delta", "delta", json!(piece)));
                }
                send(with("response.output_text.done", "text", json!(text)));
                send(with("response.content_part.done", "part", part(&text)));
                let whole = item(json!([part(&text)]));
                send(json!({"type": "response.output_item.done", "output_index": 0, "item": whole}));
                let response = json!({"id": "r", "status": status, "output": [whole]});
                send(json!({"type": format!("response.{status}"), "response": response}));
            }
        }
        out
    }

    /// Returns the body of an answer without a stream.
    fn body(self, text: &str, stop: Stop) -> String {
        let by_itself = stop == Stop::Itself;
        let reason = if by_itself { "stop" } else { "length" };
        let body = match self {
            Format::Chat => {
                json!({"id": "c", "choices": [{"index": 0, "message": {"content": text}, "finish_reason": reason}]})
            }
            Format::Completions => {
                let choice = json!({"index": 0, "text": text, "finish_reason": reason});
                json!({"id": "c", "object": "text_completion", "choices": [choice]})
            }
            Format::Ollama => json!({"model": "m", "message": {"content": text}, "done": true, "done_reason": reason}),
            Format::Messages => {
                let reason = if by_itself { "end_turn" } else { "max_tokens" };
                let content = json!([{"type": "text", "text": text}]);
                json!({"id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": reason})
            }
            Format::Responses => {
                let status = if by_itself { "completed" } else { "incomplete" };
                let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
                let item = json!({"id": "m", "type": "message", "role": "assistant", "content": content});
                json!({"id": "r", "object": "response", "status": status, "output": [item]})
            }
        };
        body.to_string()
    }

    /// Returns the thinking and the content that a client gets.
    fn client(self, out: &str) -> [String; 2] {
        let mut said = [String::new(), String::new()];
        let mut add = |at: usize, value: &Value| said[at] += value.as_str().unwrap_or_default();
        for line in out.lines() {
            let Ok(event) = serde_json::from_str::<Value>(line.strip_prefix("data: ").unwrap_or(line)) else {
                continue;
            };
            let choice = &event["choices"][0];
            let message = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
            for (at, name) in ["reasoning_content", "content"].iter().enumerate() {
                add(at, &message[name]);
            }
            add(0, &choice["reasoning_content"]);
            add(1, &choice["text"]);
            add(0, &event["message"]["thinking"]);
            add(1, &event["message"]["content"]);
            match event["type"].as_str() {
                Some("content_block_delta") => {
                    add(0, &event["delta"]["thinking"]);
                    add(1, &event["delta"]["text"]);
                }
                Some("message") => {
                    for block in event["content"].as_array().unwrap() {
                        add(0, &block["thinking"]);
                        add(1, &block["text"]);
                    }
                }
                Some("response.reasoning_text.delta") => add(0, &event["delta"]),
                Some("response.output_text.delta") => add(1, &event["delta"]),
                _ => {}
            }
            for item in event["output"].as_array().into_iter().flatten() {
                let at = usize::from(item["type"] != "reasoning");
                item["content"].as_array().into_iter().flatten().for_each(|part| add(at, &part["text"]));
            }
        }
        said
    }
}

fn rewrite(dialect: &Dialect, options: &Options, input: &str) -> String {
    let mut whole = Vec::new();
    let mut rewriter = Rewriter::new(dialect, options).unwrap();
    rewriter.feed(input, &mut whole).unwrap();
    rewriter.finish(&mut whole).unwrap();
    let mut bytes = Vec::new();
    for byte in input.bytes() {
        rewriter.feed([byte], &mut bytes).unwrap();
    }
    rewriter.finish(&mut bytes).unwrap();
    assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&whole), "{input}");
    String::from_utf8(whole).unwrap()
}

fn guessing() -> Dialect {
    let dialect = Dialect::find("qwen3-thinking").unwrap();
    assert_eq!(dialect.start(), Start::Channel(Channel::Thinking));
    dialect
}

#[test]
fn a_guessed_thinking_that_ends_the_answer_is_sent_as_content() {
    for format in FORMATS {
        let input = format.stream(&["The answer", " is 42."], Stop::Itself);
        let out = rewrite(&guessing(), &Options::new(), &input);
        assert_eq!(format.client(&out), ["The answer is 42."; 2], "{format:?}: {out}");
        let body = rewrite(&guessing(), &Options::new(), &format.body("The answer is 42.", Stop::Itself));
        assert_eq!(format.client(&body), ["", "The answer is 42."], "{format:?}: {body}");
    }
}

#[test]
fn a_thinking_that_was_cut_off_stays_one() {
    for format in FORMATS {
        let out = rewrite(&guessing(), &Options::new(), &format.stream(&["Let me", " see."], Stop::Limit));
        assert_eq!(format.client(&out), ["Let me see.", ""], "{format:?}: {out}");
        let body = rewrite(&guessing(), &Options::new(), &format.body("Let me see.", Stop::Limit));
        assert_eq!(format.client(&body), ["Let me see.", ""], "{format:?}: {body}");
    }
}

#[test]
fn a_thinking_that_is_sure_stays_one() {
    let sure = Options::new().start(Start::Channel(Channel::Thinking));
    for format in FORMATS {
        for (options, pieces, wanted) in [
            (sure.clone(), &["hm"][..], ["hm", ""]),
            (Options::new().keep_guessed(true), &["hm"], ["hm", ""]),
            // The opener that the model writes shows that the text is thinking.
            (Options::new(), &["<think>", "hm"], ["hm", ""]),
            // The closer shows it too.
            (Options::new(), &["hm</thi", "nk>"], ["hm", ""]),
            (Options::new(), &["hm</think>", "Yes."], ["hm", "Yes."]),
        ] {
            let out = rewrite(&guessing(), &options, &format.stream(pieces, Stop::Itself));
            assert_eq!(format.client(&out), wanted, "{format:?}, {pieces:?}: {out}");
            let body = rewrite(&guessing(), &options, &format.body(&pieces.concat(), Stop::Itself));
            assert_eq!(format.client(&body), wanted, "{format:?}, {pieces:?}: {body}");
        }
    }
}

/// Returns the built-in dialects with texts that may open their thinking without a marker, each with its closer: an empty text if the
/// dialect starts inside the thinking, and words with which an answer may also begin.
fn guessed_openers() -> Vec<(Dialect, String, String)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"'.,:/".contains(&byte);
    let mut all = Vec::new();
    for name in Dialect::names() {
        let file = format!("{}/dialects/{name}.toml", support::ROOT);
        let file: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
        let dialect = Dialect::find(name).unwrap();
        let mut is_due = dialect.start() == Start::Channel(Channel::Thinking);
        let spans = file.get("span").and_then(|spans| spans.as_array()).into_iter().flatten();
        for span in spans.filter(|span| span["channel"].as_str() == Some("thinking")) {
            let close = span.get("close").map(|close| close[0].as_str().unwrap().to_owned());
            let close = close.or_else(|| Some(format!("</{}>", span.get("tag")?["names"][0].as_str()?)));
            let Some(close) = close else { continue };
            if std::mem::take(&mut is_due) {
                all.push((dialect.clone(), String::new(), close.clone()));
            }
            let openers = span.get("open").and_then(|open| open.as_array()).into_iter().flatten();
            let openers = openers.map(|open| open.as_str().unwrap()).filter(|open| open.bytes().all(is_word));
            all.extend(openers.map(|open| (dialect.clone(), open.to_owned(), close.clone())));
        }
        assert!(!is_due, "{name}");
    }
    all
}

#[test]
fn no_guessed_opener_swallows_an_answer() {
    let all = guessed_openers();
    assert!(all.iter().filter(|(_, opener, _)| !opener.is_empty()).count() > 3, "{}", all.len());
    for (dialect, opener, _) in &all {
        let answer = "The answer is 42.";
        let text = format!("{opener}{answer}");
        for format in FORMATS {
            let body = rewrite(dialect, &Options::new(), &format.body(&text, Stop::Itself));
            assert_eq!(format.client(&body), ["", answer], "{}, {opener:?}: {body}", dialect.name());
            let pieces = [&text[..text.len() / 2], &text[text.len() / 2..]];
            let out = rewrite(dialect, &Options::new(), &format.stream(&pieces, Stop::Itself));
            assert_eq!(format.client(&out), [answer; 2], "{}, {opener:?}: {out}", dialect.name());
        }
    }
}

/// Checks the same after a thought, whether the model has closed it or the host has.
#[test]
fn no_opener_swallows_an_answer_after_a_thought() {
    let answer = "The answer is 42.";
    for (dialect, opener, closer) in guessed_openers() {
        for is_forced in [false, true] {
            let (mut scanner, mut columns) = (Scanner::new(&dialect), Columns::default());
            scanner.feed(format!("{opener}hm"), |event| columns.hear(&event)).unwrap();
            if is_forced {
                scanner.force_close(|event| columns.hear(&event)).unwrap();
            }
            scanner.feed(format!("{closer}{opener}{answer}"), |event| columns.hear(&event)).unwrap();
            scanner.finish(|event| columns.hear(&event)).unwrap();
            let (thinking, content) = columns.split();
            let name = dialect.name();
            assert!(thinking == "hm" && content.ends_with(answer), "{name}, {opener:?}: {thinking:?}, {content:?}");
        }
    }
}

/// Checks an answer that starts inside the thinking by the prompt: if the closer of the answer's wrapper follows, the text was the
/// answer.
#[test]
fn a_closer_of_the_answer_in_the_thinking_makes_it_content() {
    let kimi = Dialect::find("kimi-k3").unwrap();
    for format in FORMATS {
        let pieces = ["Par", "is.<|close|>resp", "onse<|sep|><|close|>message<|sep|>"];
        let out = rewrite(&kimi, &Options::new(), &format.stream(&pieces, Stop::Itself));
        assert_eq!(format.client(&out), ["Paris."; 2], "{format:?}: {out}");
        let body = rewrite(&kimi, &Options::new(), &format.body(&pieces.concat(), Stop::Itself));
        assert_eq!(format.client(&body), ["", "Paris."], "{format:?}: {body}");
    }
}

#[test]
fn no_more_than_an_event_may_have_is_kept() {
    for format in FORMATS {
        let pieces = ["a".repeat(600), "b".repeat(600)];
        let pieces = [&pieces[0][..], &pieces[1]];
        let mut rewriter = Rewriter::new(&guessing(), &Options::new().max_event(1100)).unwrap();
        let mut out = Vec::new();
        rewriter.feed(format.stream(&pieces, Stop::Itself), &mut out).unwrap();
        rewriter.finish(&mut out).unwrap();
        let [_, content] = format.client(&String::from_utf8(out).unwrap());
        // In Responses, the server's events may be too long for the rewriter. They then stay unchanged.
        if format != Format::Responses {
            assert_eq!((content.as_str(), rewriter.stats().unpromoted), ("", 1), "{format:?}");
        }
    }
}
