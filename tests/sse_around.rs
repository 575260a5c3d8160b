//! Checks the framing around the calls of an answer: blanks, a second closer, sections without a call, and tokens that end a turn
//! must not become content, in any format and however the server and the network cut the answer.

use aside::Dialect;
use aside::answer::Tools;
use aside::sse::{Formats, Options, Rewriter};
use serde_json::{Value, json};

const TOOLS: &str = r#"[{"name": "f", "parameters": {"type": "object"}}]"#;
const F: &str = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call>";

/// A format of answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Chat,
    Ollama,
    Messages,
    Responses,
}

const FORMATS: [Format; 4] = [Format::Chat, Format::Ollama, Format::Messages, Format::Responses];

fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
}

impl Format {
    fn stream(self, pieces: &[&str]) -> String {
        match self {
            Format::Chat => {
                let chunk = |delta: Value, finish: Value| {
                    format!(
                        "data: {}\n\n",
                        json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
                    )
                };
                let first = chunk(json!({"role": "assistant", "content": ""}), Value::Null);
                let texts: String = pieces.iter().map(|text| chunk(json!({"content": text}), Value::Null)).collect();
                first + &texts + &chunk(json!({}), json!("stop")) + "data: [DONE]\n\n"
            }
            Format::Ollama => {
                let line = |text: &str, done: bool| {
                    let mut line = json!({"model": "m", "created_at": "2026-01-01T00:00:00Z",
                        "message": {"role": "assistant", "content": text}, "done": done});
                    if done {
                        line["done_reason"] = json!("stop");
                    }
                    format!("{line}\n")
                };
                pieces.iter().map(|text| line(text, false)).collect::<String>() + &line("", true)
            }
            Format::Messages => {
                let mut out = event(&json!({"type": "message_start", "message": {"id": "msg_1", "content": []}}));
                out += &event(
                    &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                );
                for text in pieces {
                    let delta = json!({"type": "text_delta", "text": text});
                    out += &event(&json!({"type": "content_block_delta", "index": 0, "delta": delta}));
                }
                out += &event(&json!({"type": "content_block_stop", "index": 0}));
                out += &event(&json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
                out + &event(&json!({"type": "message_stop"}))
            }
            Format::Responses => {
                let text = pieces.concat();
                let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
                let item = |content: Value, status: &str| json!({"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": content});
                let place = |mut value: Value| {
                    for (name, at) in [("output_index", 0), ("content_index", 0)] {
                        value[name] = json!(at);
                    }
                    value["item_id"] = json!("msg_1");
                    event(&value)
                };
                let mut out = event(&json!({"type": "response.created", "response": {"id": "r", "output": []}}));
                let added = item(json!([]), "in_progress");
                out += &event(&json!({"type": "response.output_item.added", "output_index": 0, "item": added}));
                out += &place(json!({"type": "response.content_part.added", "part": part("")}));
                for text in pieces {
                    out += &place(json!({"type": "response.output_text.delta", "delta": text}));
                }
                out += &place(json!({"type": "response.output_text.done", "text": text}));
                out += &place(json!({"type": "response.content_part.done", "part": part(&text)}));
                let done = item(json!([part(&text)]), "completed");
                out += &event(&json!({"type": "response.output_item.done", "output_index": 0, "item": done}));
                let response = json!({"id": "r", "status": "completed", "output": [done]});
                out + &event(&json!({"type": "response.completed", "response": response}))
            }
        }
    }

    fn body(self, text: &str) -> String {
        let body = match self {
            Format::Chat => json!({"id": "c", "choices": [{"index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": text}}]}),
            Format::Ollama => json!({"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": true,
                "message": {"role": "assistant", "content": text}, "done_reason": "stop"}),
            Format::Messages => json!({"id": "msg_1", "type": "message", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": text}]}),
            Format::Responses => json!({"id": "r", "object": "response", "status": "completed", "output": [
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content":
                    [{"type": "output_text", "text": text, "annotations": []}]}]}),
        };
        body.to_string()
    }

    /// Returns what a client gets from a stream: each text in the order of arrival, and each call.
    fn read(self, stream: &str) -> Vec<Said> {
        let mut said = Vec::new();
        for line in stream.lines() {
            let line = line.strip_prefix("data: ").unwrap_or(line);
            let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
            let mut take = |kind: &'static str, text: &Value| {
                if let Some(text) = text.as_str().filter(|text| !text.is_empty()) {
                    said.push(Said(kind, text.to_owned()));
                }
            };
            match self {
                Format::Chat | Format::Ollama => {
                    let delta = if self == Format::Chat { &value["choices"][0]["delta"] } else { &value["message"] };
                    take("thinking", &delta["reasoning_content"]);
                    take("thinking", &delta["thinking"]);
                    take("text", &delta["content"]);
                    let calls = delta["tool_calls"].as_array();
                    calls.into_iter().flatten().for_each(|call| take("call", &call["function"]["name"]));
                }
                Format::Messages => {
                    take("text", &value["delta"]["text"]);
                    take("thinking", &value["delta"]["thinking"]);
                    take("call", &value["content_block"]["name"]);
                }
                Format::Responses => match value["type"].as_str() {
                    Some("response.output_text.delta") => take("text", &value["delta"]),
                    Some("response.reasoning_text.delta") => take("thinking", &value["delta"]),
                    Some("response.output_item.added") => take("call", &value["item"]["name"]),
                    _ => {}
                },
            }
        }
        said
    }

    /// Returns the contents of a body.
    fn read_body(self, body: &str) -> Vec<Said> {
        let body: Value = serde_json::from_str(body).unwrap();
        let mut said = Vec::new();
        let mut take = |kind: &'static str, text: &Value| {
            if let Some(text) = text.as_str().filter(|text| !text.is_empty()) {
                said.push(Said(kind, text.to_owned()));
            }
        };
        match self {
            Format::Chat | Format::Ollama => {
                let message = if self == Format::Chat { &body["choices"][0]["message"] } else { &body["message"] };
                take("thinking", &message["reasoning_content"]);
                take("thinking", &message["thinking"]);
                take("text", &message["content"]);
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    take("call", &call["function"]["name"]);
                }
            }
            Format::Messages => {
                for block in body["content"].as_array().unwrap() {
                    take("thinking", &block["thinking"]);
                    take("text", &block["text"]);
                    take("call", &block["name"]);
                }
            }
            Format::Responses => {
                for item in body["output"].as_array().unwrap() {
                    let kind = if item["type"] == "reasoning" { "thinking" } else { "text" };
                    item["content"].as_array().into_iter().flatten().for_each(|part| take(kind, &part["text"]));
                    take("call", &item["name"]);
                }
            }
        }
        said
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Said(&'static str, String);

fn rewrite<'a>(dialect: &str, chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
    let options = Options::new()
        .formats(Formats::ALL)
        .responses_as(aside::sse::ResponsesAs::ReasoningText)
        .calls(true)
        .tools(Tools::read(TOOLS).unwrap());
    let mut rewriter = Rewriter::new(&Dialect::find(dialect).unwrap(), &options).unwrap();
    let mut out = Vec::new();
    for chunk in chunks {
        rewriter.feed(chunk, &mut out).unwrap();
    }
    rewriter.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Joins consecutive texts of one kind.
fn joined(said: &[Said]) -> Vec<Said> {
    let mut joined: Vec<Said> = Vec::new();
    for Said(kind, text) in said {
        match joined.last_mut() {
            Some(last) if last.0 == *kind && *kind != "call" => last.1 += text,
            _ => joined.push(Said(kind, text.clone())),
        }
    }
    joined
}

/// Returns a text in pieces of `len` characters.
fn pieces(text: &str, len: usize) -> Vec<String> {
    text.chars().collect::<Vec<_>>().chunks(len).map(|piece| piece.iter().collect()).collect()
}

/// Checks the result of clients of all formats for a text, in a stream and in a body.
fn check(dialect: &str, text: &str, wanted: &[(&'static str, &str)]) {
    let wanted: Vec<Said> = wanted.iter().map(|(kind, text)| Said(kind, (*text).to_owned())).collect();
    let has_call = wanted.iter().any(|said| said.0 == "call");
    for format in FORMATS {
        // In formats with choices, a call does not divide the text.
        let is_of_choices = matches!(format, Format::Chat | Format::Ollama);
        for len in [1, 3, usize::MAX] {
            let texts = pieces(text, len);
            let stream = format.stream(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            let out = rewrite(dialect, [stream.as_bytes()]);
            assert_eq!(rewrite(dialect, stream.as_bytes().chunks(1)), out, "{format:?} {text:?}: byte by byte");
            let said = format.read(&out);
            let about = format!("{format:?}, pieces of {len}: {text:?}\n{out}");
            let got = joined(&said);
            let trimmed = |said: &[Said]| -> Vec<Said> {
                said.iter().map(|Said(kind, text)| Said(kind, text.trim().to_owned())).collect()
            };
            match is_of_choices {
                true => assert_eq!(trimmed(&got), trimmed(&wanted), "{about}"),
                false => assert_eq!(got, wanted, "{about}"),
            }
            // Only the last text may consist of blanks, because no text follows it.
            let before_last = &said[..said.len().saturating_sub(1)];
            let is_text = |Said(_, text): &Said| !text.trim().is_empty();
            assert!(!has_call || before_last.iter().all(is_text), "blanks alone: {about}");
        }
        let out = rewrite(dialect, [format.body(text).as_bytes()]);
        let got = format.read_body(&out);
        let mut in_body = wanted.clone();
        if is_of_choices {
            in_body.sort_by_key(|said| ["thinking", "text", "call"].iter().position(|kind| *kind == said.0));
        }
        let texts = in_body.iter().filter(|said| said.0 == "text").count();
        if !is_of_choices || texts < 2 {
            assert_eq!(got, in_body, "{format:?}, body: {text:?}\n{out}");
        }
    }
}

#[test]
fn an_answer_of_calls_alone_has_no_content() {
    let call = ("call", "f");
    for (text, calls) in [
        (F.to_owned(), 1),
        (format!("\n\n{F}\n"), 1),
        (format!("{F}\n{F}"), 2),
        (format!(" {F} \n\n {F}\n\n"), 2),
        (format!("{F}\n</tool_call>\n"), 1),
        (format!("{F}</tool_call></tool_call>{F}\n</tool_call>"), 2),
        (format!("<tool_call>\n</tool_call>\n{F}<tool_call></tool_call>"), 1),
        (format!("{F}</s>"), 1),
        (format!("{F}\n<|im_end|>\n<|endoftext|>"), 1),
        (format!("{F}<|im_start|>assistant\n"), 1),
    ] {
        check("qwen3", &text, &vec![call; calls]);
    }
    check("gemma-4", "<|tool_call>call:f{x:1}<tool_call|><tool_call|><|tool_response>", &[call]);
    let deepseek =
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"x\": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>";
    check("deepseek-v3", &format!("{deepseek}<｜tool▁outputs▁begin｜>"), &[call]);
}

#[test]
fn text_around_calls_stays() {
    let call = ("call", "f");
    check("qwen3", &format!("Wait.\n\n{F}"), &[("text", "Wait."), call]);
    check("qwen3", &format!("Wait.\n\n{F}\n"), &[("text", "Wait."), call]);
    check("qwen3", &format!("{F}\n\nDone.\n"), &[call, ("text", "Done.\n")]);
    check("qwen3", &format!("{F}\n{F}\nDone."), &[call, call, ("text", "Done.")]);
    check("qwen3", &format!("{F}</tool_call>\nDone."), &[call, ("text", "Done.")]);
    // Text that only begins like a token stays.
    check("qwen3", &format!("{F}\n</tool"), &[call, ("text", "</tool")]);
    check("qwen3", &format!("{F}\n</s is a tag"), &[call, ("text", "</s is a tag")]);
    check("qwen3", &format!("{F}\n<tool_call> begins"), &[call, ("text", "<tool_call> begins")]);
    check("qwen3", &format!("</tool {F}"), &[("text", "</tool"), call]);
    // Tokens inside a text stay text.
    check("qwen3", &format!("The </s> ends {F}"), &[("text", "The </s> ends"), call]);
    check("qwen3", "<think>\nhm\n</think>\n\nHi", &[("thinking", "hm"), ("text", "Hi")]);
    check("qwen3", &format!("<think>\nhm\n</think>\n\n \n{F}"), &[("thinking", "hm"), call]);
    // Without a call for the client, everything stays.
    check("qwen3", " \n", &[("text", " \n")]);
    check("qwen3", "\n\nHi \n\n you\n", &[("text", "\n\nHi \n\n you\n")]);
    check("qwen3", "Hi</s>", &[("text", "Hi</s>")]);
    let other = F.replace("\"f\"", "\"g\"");
    check("qwen3", &format!("a\n{other}\n b\n"), &[("text", &format!("a\n{other}\n b\n"))]);
}

/// Checks that a message to a tool of the server is thinking.
#[test]
fn code_for_a_tool_of_the_server_is_thinking() {
    let python = "<|channel|>commentary to=python <|constrain|>code<|message|>print(1)<|call|>";
    check("harmony", python, &[("thinking", "print(1)")]);
    let answer = "<|start|>assistant<|channel|>final<|message|>Yes.<|return|>";
    check("harmony", &format!("{python}{answer}"), &[("thinking", "print(1)"), ("text", "Yes.")]);
    let f = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"x\": 1}<|call|>";
    check("harmony", f, &[("call", "f")]);
    // The client does not have this tool.
    check("harmony", &f.replace("functions.f", "functions.g"), &[("text", "{\"x\": 1}")]);
}

/// Checks that the text before and after a call in a choice is one text, whose words stay separate.
#[test]
fn words_stay_apart() {
    for (text, wanted) in [
        (format!("One {F} two"), "One two"),
        (format!("One{F}\n\ntwo"), "One\n\ntwo"),
        (format!("One\n\n{F}\n{F} \n</tool_call>\ntwo"), "One\n\ntwo"),
        (format!("One{F}two"), "Onetwo"),
        (format!("{F}\ntwo"), "two"),
    ] {
        for format in [Format::Chat, Format::Ollama] {
            let content = |said: Vec<Said>| -> String {
                said.into_iter().filter(|said| said.0 == "text").map(|said| said.1).collect()
            };
            for len in [1, 4, usize::MAX] {
                let texts = pieces(&text, len);
                let stream = format.stream(&texts.iter().map(String::as_str).collect::<Vec<_>>());
                assert_eq!(content(format.read(&rewrite("qwen3", [stream.as_bytes()]))), wanted, "{text:?}");
            }
            let body = rewrite("qwen3", [format.body(&text).as_bytes()]);
            assert_eq!(content(format.read_body(&body)), wanted, "{text:?}");
        }
    }
}

/// Checks that blanks are not held without a limit, and that none is lost.
#[test]
fn only_so_many_blanks_wait() {
    let blanks = " ".repeat(10_000);
    check("qwen3", &format!("{blanks}Hi"), &[("text", &format!("{blanks}Hi"))]);
    check("qwen3", &format!("Hi{blanks}you"), &[("text", &format!("Hi{blanks}you"))]);
}

#[test]
fn a_flush_releases_what_waits() {
    let options = Options::new().calls(true);
    let mut rewriter = Rewriter::new(&Dialect::find("qwen3").unwrap(), &options).unwrap();
    let mut out = Vec::new();
    let delta = |delta: Value| format!("data: {}\n\n", json!({"id": "c", "choices": [{"index": 0, "delta": delta}]}));
    rewriter.feed(delta(json!({"content": "Hi\n\n"})), &mut out).unwrap();
    assert_eq!(rewriter.stats().held, 2);
    rewriter.feed(delta(json!({"refusal": "No."})), &mut out).unwrap();
    assert_eq!(rewriter.stats().held, 0);
    assert_eq!(joined(&Format::Chat.read(&String::from_utf8(out).unwrap())), [Said("text", "Hi\n\n".into())]);
}

#[test]
fn a_chunk_of_which_nothing_is_left_is_not_sent() {
    let text = format!("Look.{F}");
    let pieces: Vec<&str> = (0..text.len()).step_by(4).map(|at| &text[at..text.len().min(at + 4)]).collect();
    for format in FORMATS {
        let stream = format.stream(&pieces);
        let out = rewrite("qwen3", [stream.as_bytes()]);
        let empty = out.lines().filter_map(|line| {
            let value: Value = serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok()?;
            let text = match format {
                Format::Chat => &value["choices"][0]["delta"]["content"],
                Format::Ollama => &value["message"]["content"],
                Format::Messages => &value["delta"]["text"],
                Format::Responses => &value["delta"],
            };
            let says_more = value["choices"][0]["delta"]["role"].is_string()
                || value["message"]["tool_calls"].is_array()
                || value["done"] == true;
            (*text == "" && !says_more).then(|| line.to_owned())
        });
        assert_eq!(empty.collect::<Vec<_>>(), Vec::<String>::new(), "{format:?}");
    }
}

#[test]
fn a_chunk_with_more_than_its_text_is_sent() {
    let whole = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "usage": null,
        "choices": [{"index": 0, "delta": {"content": "<tool_call>", "refusal": null}, "logprobs": null}]});
    let chunk = |value: &Value| format!("data: {value}\n\n");
    assert_eq!(rewrite("qwen3", [chunk(&whole).as_bytes()]).matches("\"content\":\"\"").count(), 0);
    let more = [
        ("", "usage", json!({"total_tokens": 1})),
        ("", "prompt_logprobs", json!([1])),
        ("/choices/0", "logprobs", json!({"content": []})),
        ("/choices/0", "token_ids", json!([7])),
        ("/choices/0/delta", "role", json!("assistant")),
        ("/choices/0/delta", "name", json!("m")),
    ];
    for (place, name, value) in more {
        let mut chunk_with = whole.clone();
        chunk_with.pointer_mut(place).unwrap()[name] = value.clone();
        let out = rewrite("qwen3", [chunk(&chunk_with).as_bytes()]);
        assert_eq!(out.matches(&format!("\"{name}\":{value}")).count(), 1, "{name}: {out}");
    }
    for raw in [format!("id: 7\n{}", chunk(&whole)), format!(": a comment\nevent: e\n{}", chunk(&whole))] {
        let first = raw.lines().next().unwrap();
        assert!(rewrite("qwen3", [raw.as_bytes()]).starts_with(first), "{raw}");
    }
}
