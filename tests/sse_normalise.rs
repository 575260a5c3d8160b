//! Tests the options that give all output one form: for thinking that a server splits itself, for content in lists, and for
//! removing the thinking. At every cut, the output must be that of simple functions in this file, which work on parsed JSON. A
//! second pass must not change it.

use std::path::Path;

use aside::Dialect;
use aside::sse::{Body, Field, Formats, Options, Shapes, Thinking};
use samples::Random;
use serde_json::{Map, Value, json};
use support::rewriting::rewrite_bytes;

// ---------------------------------------------------------------------------------------------------------- the references

const NAMES: [&str; 4] = ["reasoning_content", "reasoning", "reasoning_details", "thinking"];

fn says(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != "" && *value != json!([]) && *value != json!({})
}

fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// Returns the thinking and the text of a list of content parts, if it has no other parts.
fn list_of(parts: &[Value]) -> Option<[String; 2]> {
    let mut both = [String::new(), String::new()];
    for part in parts {
        let part = part.as_object()?;
        let other = |(name, value): (&String, &Value)| {
            !["type", "text", "thinking", "closed", "index"].contains(&&name[..]) && says(value)
        };
        if part.iter().any(other) {
            return None;
        }
        match (part.get("type")?.as_str()?, part.get("text"), part.get("thinking")) {
            ("text", Some(Value::String(text)), None) => both[1] += text,
            ("thinking", None, Some(Value::String(text))) => both[0] += text,
            ("thinking", None, Some(Value::Array(inner))) => {
                if inner.iter().any(|part| part["type"] != "text") {
                    return None;
                }
                both[0] += &list_of(inner)?[1];
            }
            _ => return None,
        }
    }
    Some(both)
}

/// Changes a delta or a message to the requested form.
fn shape(object: &mut Map<String, Value>, forms: Shapes, field: &str, is_body: bool) {
    let put = |object: &mut Map<String, Value>, thinking: &str| {
        object.insert(field.to_owned(), Value::from(thinking));
    };
    if let (true, Some(Value::Array(parts))) = (forms.contains(Shapes::LISTS), object.get("content"))
        && let Some([thinking, content]) = list_of(parts)
        && (thinking.is_empty() || !NAMES.iter().any(|name| object.get(*name).is_some_and(says)))
    {
        object.insert("content".into(), content.clone().into());
        if !thinking.is_empty() {
            put(object, &thinking);
            if content.is_empty() && !is_body {
                object.remove("content");
            }
        }
    }
    if forms.contains(Shapes::FIELD) {
        let value = |name: &str| object.get(name).and_then(text).map(ToOwned::to_owned);
        // If several names have a text, the first name in the JSON counts. A parsed object has no order, so the tests have at most
        // one such text.
        let found = value(field).or_else(|| NAMES.iter().find_map(|name| value(name)));
        match found {
            Some(thinking) => {
                object.retain(|name, value| !NAMES.contains(&&name[..]) || *value != thinking);
                put(object, &thinking);
            }
            None => {
                let details = object.get("reasoning_details").and_then(Value::as_array);
                let parts = details.into_iter().flatten().flat_map(|part| [part.get("text"), part.get("summary")]);
                let thinking: String = parts.flatten().filter_map(Value::as_str).collect();
                if !thinking.is_empty() {
                    put(object, &thinking);
                }
            }
        }
    }
}

/// Returns the chunks that replace a chunk.
fn shaped(mut chunk: Value, forms: Shapes, field: &str) -> Vec<Value> {
    let Some(choices) = chunk.get_mut("choices").and_then(Value::as_array_mut) else { return vec![chunk] };
    for choice in choices.iter_mut() {
        if let Some(delta) = choice.get_mut("delta").and_then(Value::as_object_mut) {
            shape(delta, forms, field, false);
        }
    }
    let splits = forms.contains(Shapes::CHUNKS) || forms.contains(Shapes::CONTENT);
    let [choice] = &mut choices[..] else { return vec![chunk] };
    let Some(delta) = choice.get("delta").and_then(Value::as_object).filter(|_| splits).cloned() else {
        return vec![chunk];
    };
    let is_thinking = |name: &str| NAMES.contains(&name);
    if delta.get("content").and_then(text).is_none()
        || !delta.iter().any(|(name, value)| is_thinking(name) && says(value))
    {
        return vec![chunk];
    }
    let (first, rest): (Map<_, _>, Map<_, _>) =
        delta.into_iter().partition(|(name, _)| name == "role" || is_thinking(name));
    let mut thinking = chunk.clone();
    thinking["choices"][0]["delta"] = first.into();
    for name in ["finish_reason", "logprobs", "stop_reason"] {
        if let Some(value) = thinking["choices"][0].get_mut(name) {
            *value = Value::Null;
        }
    }
    if let Some(usage) = thinking.get_mut("usage") {
        *usage = Value::Null;
    }
    chunk["choices"][0]["delta"] = rest.into();
    vec![thinking, chunk]
}

/// Returns the JSON values of a stream's events or lines, or of a body.
fn values(answer: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(answer).unwrap();
    let lines = text.lines().filter_map(|line| match line.strip_prefix("data:") {
        Some(data) => serde_json::from_str(data).ok(),
        None => serde_json::from_str(line).ok(),
    });
    match serde_json::from_str(text) {
        Ok(body) => vec![body],
        Err(_) => lines.collect(),
    }
}

/// Removes the thinking from a split answer.
fn hidden(answer: &[Value]) -> Vec<Value> {
    let mut out = Vec::new();
    let (mut blocks, mut items, mut events) = (Vec::new(), Vec::new(), 0);
    let moved = |index: u64, hidden: &[u64]| index - hidden.iter().filter(|other| **other < index).count() as u64;
    let no_items = |list: &mut Value| {
        if let Some(list) = list.as_array_mut() {
            list.retain(|item| {
                !["reasoning", "thinking", "redacted_thinking"].iter().any(|kind| item["type"] == *kind)
            });
        }
    };
    for value in answer {
        let mut value = value.clone();
        let kind = value["type"].as_str().unwrap_or_default().to_owned();
        if kind == "message" || value["object"] == "response" {
            ["content", "output"].iter().for_each(|name| value.get_mut(*name).into_iter().for_each(no_items));
        } else if let Some(index) =
            value.get("index").and_then(Value::as_u64).filter(|_| kind.starts_with("content_block"))
        {
            if kind == "content_block_start" && value["content_block"]["type"].as_str().unwrap().contains("thinking") {
                blocks.push(index);
            }
            if blocks.contains(&index) {
                continue;
            }
            value["index"] = moved(index, &blocks).into();
        } else if kind == "message_start" {
            blocks.clear();
        } else if kind.starts_with("response.") {
            if let Some(index) = value.get("output_index").and_then(Value::as_u64) {
                if value["item"]["type"] == "reasoning" && !items.contains(&index) {
                    items.push(index);
                }
                if items.contains(&index) {
                    events += 1;
                    continue;
                }
                value["output_index"] = moved(index, &items).into();
            }
            if let Some(number) = value.get("sequence_number").and_then(Value::as_u64) {
                value["sequence_number"] = (number - events).into();
            }
            if value.get("response").is_some_and(|response| response.get("output").is_some()) {
                no_items(&mut value["response"]["output"]);
            }
        } else {
            let name = if value.get("response").is_some() { "response" } else { "content" };
            let objects: Vec<&mut Value> = match value.get("choices") {
                Some(_) => value["choices"].as_array_mut().into_iter().flatten().collect(),
                None => vec![&mut value],
            };
            for choice in objects {
                let object = match ["delta", "message"].iter().find(|part| choice.get(**part).is_some()) {
                    Some(part) => choice.get_mut(*part).unwrap(),
                    None => choice,
                };
                let Some(object) = object.as_object_mut() else { continue };
                let name = if object.contains_key("text") { "text" } else { name };
                if let Some(Value::Array(parts)) = object.get_mut(name) {
                    let before = parts.len();
                    parts.retain(|part| part["type"] != "thinking");
                    if parts.is_empty() && before > 0 {
                        object.insert(name.to_owned(), "".into());
                    }
                }
                let before = object.len();
                object.retain(|name, value| !NAMES.contains(&&name[..]) || !says(value));
                let is_empty = object.get(name).is_none_or(Value::is_null);
                if object.len() < before && is_empty && !object.get("tool_calls").is_some_and(says) {
                    object.insert(name.to_owned(), "".into());
                }
            }
        }
        out.push(value);
    }
    out
}

// ------------------------------------------------------------------------------------------------------------------ running

fn foreign() -> Dialect {
    let text = "name = \"foreign\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"\u{1F512}\u{1F512}\"]\nclose = [\"\u{1F513}\"]";
    Dialect::load(text).unwrap()
}

fn qwen3() -> Dialect {
    Dialect::find("qwen3").unwrap()
}

/// Rewrites an answer, checked to be the same at every cut.
#[track_caller]
fn cut(dialect: &Dialect, options: &Options, answer: &str) -> Vec<u8> {
    let bytes = answer.as_bytes();
    let whole = rewrite_bytes(dialect, options, &[bytes]);
    for chunks in support::cuts(bytes) {
        let got = rewrite_bytes(dialect, options, &chunks);
        assert!(got == whole, "{answer}\n wanted {}\n got {}", whole.escape_ascii(), got.escape_ascii());
    }
    whole
}

fn stream(deltas: &[Value]) -> String {
    let chunk = |delta: &Value| json!({"id": "c", "choices": [{"index": 0, "delta": delta}]});
    deltas.iter().map(|delta| format!("data: {}\n\n", chunk(delta))).collect::<String>() + "data: [DONE]\n\n"
}

fn deltas(answer: &[u8]) -> Vec<Value> {
    values(answer).into_iter().map(|chunk| chunk["choices"][0]["delta"].clone()).collect()
}

fn body(message: &Value) -> String {
    json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).to_string()
}

fn message(answer: &[u8]) -> Value {
    values(answer)[0]["choices"][0]["message"].clone()
}

fn all() -> Options {
    Options::new().normalise(Shapes::ALL)
}

fn dropping() -> Options {
    Options::new().thinking(Thinking::Drop)
}

// ------------------------------------------------------------------------------------------------------------------ the shape

fn random_part(random: &mut Random) -> Value {
    match random.below(9) {
        0 => json!({"type": "image_url", "image_url": {"url": "u"}}),
        1 => json!({"type": "thinking", "thinking": "B", "signature": ""}),
        2 => json!({"type": "thinking", "thinking": [{"type": "text", "text": "\u{e9}\n"}], "closed": true}),
        3 => json!({"type": "thinking", "thinking": "C", "signature": *random.pick(&["s", ""])}),
        _ => json!({"type": "text", "text": *random.pick(&["a", "", "\"q\"", "</think>"])}),
    }
}

fn random_delta(random: &mut Random) -> Value {
    let mut delta = Map::new();
    if random.one_in(3) {
        delta.insert("role".into(), "assistant".into());
    }
    // All fields with a text have the same one.
    let thinking = *random.pick(&["", "A", "hm\n"]);
    for name in ["reasoning_content", "reasoning", "thinking"] {
        match random.below(6) {
            0 => delta.insert(name.into(), thinking.into()),
            1 => delta.insert(name.into(), Value::Null),
            2 => delta.insert(name.into(), "".into()),
            _ => None,
        };
    }
    if random.one_in(5) {
        let details =
            json!([{"type": "reasoning.text", "text": thinking, "signature": "s"}, {"type": "x", "summary": "S"}]);
        delta.insert("reasoning_details".into(), if random.one_in(3) { json!([]) } else { details });
    }
    match random.below(8) {
        0 => delta.insert("content".into(), Value::Null),
        1 => delta.insert("content".into(), "".into()),
        2..=4 => delta.insert("content".into(), (*random.pick(&["Hi", "<think>x</think>", "</think>y", "é"])).into()),
        5 | 6 => {
            let parts = random.below(4);
            delta.insert("content".into(), (0..parts).map(|_| random_part(random)).collect())
        }
        _ => None,
    };
    if random.one_in(8) {
        delta.insert("tool_calls".into(), json!([{"index": 0, "id": "x"}]));
    }
    delta.into()
}

fn random_chunk(random: &mut Random) -> Value {
    let choices = if random.one_in(8) { 2 } else { 1 };
    let choice = |index: usize, random: &mut Random| {
        let mut choice = json!({"index": index, "delta": random_delta(random)});
        if random.one_in(3) {
            choice["logprobs"] = json!({"content": [1]});
        }
        choice["finish_reason"] = if random.one_in(6) { "stop".into() } else { Value::Null };
        choice
    };
    let choices: Vec<Value> = (0..choices).map(|index| choice(index, random)).collect();
    let mut chunk = json!({"id": "c", "choices": choices});
    if random.one_in(4) {
        chunk["usage"] = json!({"n": 1});
    }
    chunk
}

fn random_forms(random: &mut Random) -> Shapes {
    Shapes::from_bits(random.below(16) as u32).unwrap()
}

fn fields(random: &mut Random) -> Field {
    *random.pick(&[Field::ReasoningContent, Field::Reasoning, Field::Thinking])
}

#[test]
fn chunks_get_the_shape_that_the_reference_says() {
    let mut random = Random::announced("chunks_get_the_shape_that_the_reference_says");
    for _ in 0..400 {
        let (forms, field) = (random_forms(&mut random), fields(&mut random));
        let options = Options::new().normalise(forms).field(field);
        let chunks: Vec<Value> = (0..1 + random.below(4)).map(|_| random_chunk(&mut random)).collect();
        let end = *random.pick(&["\n", "\r\n"]);
        let sent = |chunks: &[Value]| chunks.iter().map(|chunk| format!("data: {chunk}{end}{end}")).collect::<String>();
        let wanted: Vec<Value> = chunks.iter().flat_map(|chunk| shaped(chunk.clone(), forms, field.name())).collect();
        let got = cut(&foreign(), &options, &sent(&chunks));
        assert_eq!(values(&got), wanted, "{forms:?} {}", sent(&chunks));
        assert!(rewrite_bytes(&foreign(), &options, &[&got]) == got, "again: {}", got.escape_ascii());
        if wanted == chunks {
            assert_eq!(got.escape_ascii().to_string(), sent(&chunks).as_bytes().escape_ascii().to_string());
        }
        // Splitting must have the same result as if the server had sent this form.
        let plain = Options::new().field(field).normalise(if forms.contains(Shapes::CONTENT) {
            Shapes::CONTENT
        } else {
            Shapes::NONE
        });
        assert_eq!(
            values(&cut(&qwen3(), &options, &sent(&chunks))),
            values(&rewrite_bytes(&qwen3(), &plain, &[sent(&wanted).as_bytes()]))
        );
        // With `repair`, mending and this option work in one pass.
        let mended =
            |answer: &[u8], options: &Options| rewrite_bytes(&foreign(), &options.clone().repair(true), &[answer]);
        let separate =
            mended(&rewrite_bytes(&foreign(), &options, &[sent(&chunks).as_bytes()]), &Options::new().field(field));
        assert_eq!(
            values(&mended(sent(&chunks).as_bytes(), &options)),
            values(&separate),
            "{forms:?} {}",
            sent(&chunks)
        );
    }
}

#[test]
fn bodies_get_the_shape_that_the_reference_says() {
    let mut random = Random::announced("bodies_get_the_shape_that_the_reference_says");
    for _ in 0..2000 {
        let (forms, field) = (random_forms(&mut random), fields(&mut random));
        let options = Options::new().normalise(forms).field(field);
        let mut message = random_delta(&mut random);
        let answer = body(&message);
        shape(message.as_object_mut().unwrap(), forms, field.name(), true);
        let got = rewrite_bytes(&foreign(), &options, &[answer.as_bytes()]);
        assert_eq!(values(&got), values(body(&message).as_bytes()), "{forms:?} {answer}");
        assert!(rewrite_bytes(&foreign(), &options, &[&got]) == got, "again: {}", got.escape_ascii());
        assert!(got == rewrite_bytes(&foreign(), &options, &support::bytes(answer.as_bytes())), "{answer}");
    }
}

#[test]
fn the_rest_of_an_event_stays_as_it_came() {
    let options = all().field(Field::Reasoning);
    let shape = |answer: &str| String::from_utf8(cut(&foreign(), &options, answer)).unwrap();
    assert_eq!(
        shape(
            "\u{FEFF}id: 7\r\ndata: { \"choices\" : [ {\"delta\" : {\"reasoning_content\":\"\\u00e9\", \"x\":1e1}} ] }\r\nretry: 5\r\n\r\n: hm\n\n"
        ),
        "\u{FEFF}id: 7\r\ndata: { \"choices\" : [ {\"delta\" : {\"reasoning\":\"\\u00e9\",\"x\":1e1}} ] }\r\nretry: 5\r\n\r\n: hm\n\n"
    );
    assert_eq!(
        shape("event: x\ndata: {\"choices\":[{\"delta\":{\"reasoning\":\"a\",\ndata: \"content\":\"b\"}}]}\n\n"),
        "event: x\ndata: {\"choices\":[{\"delta\":{\"reasoning\":\"a\"}}]}\n\nevent: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"
    );
    // The last event has no blank line after it, so it is not split into two.
    let last = "data: {\"choices\":[{\"delta\":{\"reasoning\":\"a\",\"content\":\"b\"}}]}";
    assert_eq!(shape(last), last);
    // Other formats, and forms that are not requested.
    let chat = Options::new().normalise(Shapes::ALL).formats(Formats::MESSAGES).field(Field::Reasoning);
    let renamed = stream(&[json!({"thinking": "a"})]);
    assert_eq!(cut(&foreign(), &chat, &renamed), renamed.as_bytes());
    assert_eq!(cut(&foreign(), &Options::new().field(Field::Reasoning), &renamed), renamed.as_bytes());
}

#[test]
fn merge_keeps_a_chunk_with_thinking_and_content_one() {
    let both = stream(&[json!({"reasoning_content": "A", "content": "B"})]);
    for options in [all(), Options::new().repair(true), all().repair(true)] {
        assert_eq!(deltas(&cut(&qwen3(), &options, &both)).len(), 2);
        assert_eq!(cut(&qwen3(), &options.merge(true), &both), both.as_bytes());
    }
    // With `merge`, split text is also sent in one chunk, and the other forms are made too.
    let text = stream(&[json!({"content": "<think>A</think>B"}), json!({"content": "C"})]);
    let wanted = [json!({"reasoning_content": "A", "content": "B"}), json!({"content": "C"})];
    let got = cut(&qwen3(), &all().repair(true).merge(true), &text);
    assert_eq!(deltas(&got), wanted);
    assert_eq!(cut(&qwen3(), &all().repair(true).merge(true), std::str::from_utf8(&got).unwrap()), got);
    let list = stream(&[json!({"content": [{"type": "thinking", "thinking": "A"}, {"type": "text", "text": "B"}]})]);
    assert_eq!(deltas(&cut(&qwen3(), &all().merge(true), &list)), [json!({"reasoning_content": "A", "content": "B"})]);
}

// ---------------------------------------------------------------------------------------------- content after a server's split

#[test]
fn content_behind_a_split_is_split() {
    let options = Options::new().normalise(Shapes::CONTENT);
    let streams = [
        // A closer alone, an opener alone, a second block, and a closer that is cut off by the end.
        (&["</think>\n\n", "Hi."][..], &[json!({"content": ""}), json!({"content": "Hi."})][..]),
        (&["More.</thi", "nk>It is 42."], &[json!({"content": "More."}), json!({"content": "It is 42."})]),
        (
            &["<think>", "B", "</think>Hi."],
            &[json!({"content": ""}), json!({"reasoning_content": "B"}), json!({"content": "Hi."})],
        ),
        (&["Hi.", "<"], &[json!({"content": "Hi."}), json!({"content": ""}), json!({"content": "<"})]),
    ];
    for (content, wanted) in streams {
        let mut all = vec![json!({"reasoning_content": "A"})];
        all.extend(content.iter().map(|content| json!({"content": content})));
        let got = cut(&qwen3(), &options, &stream(&all));
        assert_eq!(deltas(&got)[1..], *wanted, "{content:?}");
        // Without the option, all of this stays, except a closer at the beginning.
        let passed = stream(&all).replace(r"</think>\n\n", "");
        assert_eq!(cut(&qwen3(), &Options::new(), &stream(&all)), passed.as_bytes());
    }
    let bodies = [
        ("</think>\n\nHi.", json!({"reasoning_content": "A", "content": "Hi."})),
        ("More.</think>Hi.", json!({"reasoning_content": "AMore.", "content": "Hi."})),
        ("<think>B</think>Hi.", json!({"reasoning_content": "AB", "content": "Hi."})),
        ("Hi.", json!({"reasoning_content": "A", "content": "Hi."})),
    ];
    for (content, wanted) in bodies {
        let answer = body(&json!({"reasoning_content": "A", "content": content}));
        assert_eq!(message(&cut(&qwen3(), &options, &answer)), wanted, "{content}");
    }
    // Thinking under another name is not renamed here. It stays, and the thinking from the content is written next to it.
    let answer = body(&json!({"reasoning": "A", "content": "<think>B</think>Hi."}));
    let wanted = json!({"reasoning": "A", "reasoning_content": "B", "content": "Hi."});
    assert_eq!(message(&cut(&qwen3(), &options, &answer)), wanted);
}

#[test]
fn a_wrapper_around_the_thinking_goes() {
    let options = Options::new().normalise(Shapes::CONTENT);
    let thinking = |pieces: &[&str]| -> Vec<Value> {
        let pieces = pieces.iter().map(|piece| json!({"reasoning_content": piece}));
        pieces.chain([json!({"content": "Hi."})]).collect()
    };
    let texts = |answer: &[u8]| {
        let all = deltas(answer);
        let join = |name: &str| all.iter().filter_map(|delta| delta[name].as_str()).collect::<String>();
        [join("reasoning_content"), join("content")]
    };
    for (pieces, wanted) in [
        (&["<think>\nA\n</think>"][..], "A"),
        (&["<thi", "nk>\n", "A\n</", "think>"], "A"),
        (&["<think>A", " b <"], "A b <"),
        (&["<thi", "s is it"], "<this is it"),
        (&["It writes <think>", "x</think>."], "It writes <think>x</think>."),
        (&["<"], "<"),
        (&["A\n</think>"], "A"),
        (&["A", "\n</thi", "nk>", "\n"], "A"),
        (&["A\n", "</think>\n", "B\n\nC"], "A\n</think>\nB\n\nC"),
        (&["A\n", "\nB <think>", "C"], "A\n\nB <think>C"),
    ] {
        let answer = stream(&thinking(pieces));
        assert_eq!(texts(&cut(&qwen3(), &options, &answer)), [wanted, "Hi."], "{pieces:?}");
        let unended = stream(&thinking(pieces)[..pieces.len()]);
        assert_eq!(texts(&cut(&qwen3(), &options, &unended)), [wanted, ""], "{pieces:?}");
        let whole = |content: Value| body(&json!({"reasoning_content": pieces.concat(), "content": content}));
        let wanted = |content: Value| json!({"reasoning_content": wanted, "content": content});
        assert_eq!(message(&cut(&qwen3(), &options, &whole("Hi.".into()))), wanted("Hi.".into()));
        assert_eq!(message(&cut(&qwen3(), &options, &whole(Value::Null))), wanted(Value::Null));
        let joined = message(&cut(&qwen3(), &options, &whole("<think>+</think>Hi.".into())));
        assert_eq!(
            joined["reasoning_content"].as_str(),
            Some(&*format!("{}+", wanted(Value::Null)["reasoning_content"].as_str().unwrap()))
        );
    }
    let promoting = options.promote_empty(true);
    let answer = body(&json!({"reasoning_content": "<think>\nA\n</think>", "content": null}));
    assert_eq!(message(&cut(&qwen3(), &promoting, &answer)), json!({"reasoning_content": "A", "content": "A"}));
}

#[test]
fn content_behind_a_split_is_split_in_other_formats() {
    let options = Options::new().normalise(Shapes::CONTENT);
    let answer = json!({"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [
        {"type": "thinking", "thinking": "A", "signature": "s"}, {"type": "text", "text": "<think>B</think>Hi."}]});
    let content = &values(&cut(&qwen3(), &options, &answer.to_string()))[0]["content"];
    assert_eq!(content[1], json!({"type": "thinking", "thinking": "B", "signature": ""}));
    assert_eq!(content[2], json!({"type": "text", "text": "Hi."}));
    let answer = json!({"object": "response", "status": "completed", "output": [
        {"id": "r", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "A"}]},
        {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content":
            [{"type": "output_text", "text": "</think>\n\nHi.", "annotations": []}]}]});
    let output = &values(&cut(&qwen3(), &options, &answer.to_string()))[0]["output"];
    assert_eq!(output[1]["content"][0]["text"], "Hi.");
    let lines = "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"A\"},\"done\":false}\n\
        {\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"</think>Hi.\"},\"done\":false}\n\
        {\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n";
    assert_eq!(values(&cut(&qwen3(), &options, lines))[1]["message"]["content"], "Hi.");
}

// -------------------------------------------------------------------------------------------------------- without the thinking

/// Answers of every format: streams and bodies, split and not split.
fn answers() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kinds = support::shared_files("corpus/sse");
    let files = kinds.iter().filter(|kind| kind.is_dir()).flat_map(support::files);
    let own = support::files(root.join("tests/sse")).into_iter().chain(support::files(root.join("tests/sse/formats")));
    own.chain(files).filter_map(|file| std::fs::read_to_string(file).ok()).collect()
}

#[test]
fn dropped_thinking_does_not_leave() {
    let mut answers = answers();
    answers.push(stream(&[json!({"role": "assistant", "content": null, "reasoning": "A"}), json!({"content": "Hi."})]));
    answers
        .push(stream(&[json!({"content": [{"type": "text", "text": "Hi."}], "reasoning_details": [{"text": "A"}]})]));
    answers.push(body(&json!({"content": null, "reasoning": "A", "thinking": "B", "tool_calls": [{"id": "x"}]})));
    assert!(answers.len() > 20);
    let mut count = 0;
    for answer in &answers {
        let whole = rewrite_bytes(&qwen3(), &Options::new(), &[answer.as_bytes()]);
        let wanted = hidden(&values(&whole));
        let got = rewrite_bytes(&qwen3(), &dropping(), &[answer.as_bytes()]);
        assert_eq!(values(&got), wanted, "{}", got.escape_ascii());
        count += usize::from(values(&whole) != wanted);
        if values(&whole) == wanted {
            assert!(got == whole, "{}", got.escape_ascii());
        }
        let bytes = answer.as_bytes();
        if bytes.len() < 6000 {
            assert_eq!(got, cut(&qwen3(), &dropping(), answer));
        } else {
            let chunks: Vec<&[u8]> = bytes.chunks(61).collect();
            assert!(got == rewrite_bytes(&qwen3(), &dropping(), &chunks));
        }
    }
    assert!(count > 15, "{count}");
}

#[test]
fn text_with_the_index_of_dropped_thinking_stays() {
    let event = |value: Value| format!("data: {value}\n\n");
    let block = |kind: &str, text: &str| {
        let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": kind, (kind): ""}});
        let delta = json!({"type": format!("{kind}_delta"), (kind): text});
        let delta = json!({"type": "content_block_delta", "index": 0, "delta": delta});
        [start, delta, json!({"type": "content_block_stop", "index": 0})].map(event).concat()
    };
    let start = event(json!({"type": "message_start", "message": {"content": []}}));
    let answer = format!("{start}{}{}", block("thinking", "A"), block("text", "Hi."));
    assert_eq!(
        values(&cut(&qwen3(), &dropping(), &answer)),
        values(format!("{start}{}", block("text", "Hi.")).as_bytes())
    );

    let created = event(json!({"type": "response.created", "response": {"output": []}}));
    let added = |item: Value| json!({"type": "response.output_item.added", "output_index": 0, "item": item});
    let thinking = event(json!({"type": "response.reasoning_text.delta", "output_index": 0, "delta": "A"}));
    let text = json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": "Hi."});
    let message = added(json!({"id": "m", "type": "message", "role": "assistant", "content": []}));
    let reasoning = event(added(json!({"id": "rs", "type": "reasoning"})));
    let answer = format!("{created}{reasoning}{thinking}{}{}", event(message), event(text.clone()));
    let got = values(&cut(&qwen3(), &dropping(), &answer));
    assert_eq!(got.last(), Some(&text));
    assert!(got.iter().all(|value| value["item"]["type"] != "reasoning"), "{got:?}");
}

#[test]
fn an_answer_of_thinking_alone_ends_with_empty_content() {
    let thinking = [json!({"role": "assistant", "content": "<think>hm"})];
    assert_eq!(deltas(&cut(&qwen3(), &dropping(), &stream(&thinking))), [json!({"role": "assistant", "content": ""})]);
    let server = body(&json!({"content": null, "reasoning_content": "hm"}));
    assert_eq!(message(&cut(&qwen3(), &dropping(), &server)), json!({"content": ""}));
    // With `promote_empty`, the thinking becomes content.
    let promoting = dropping().promote_empty(true);
    assert_eq!(message(&cut(&qwen3(), &promoting, &server)), json!({"content": "hm"}));
    assert_eq!(message(&cut(&qwen3(), &promoting, &body(&json!({"content": "<think>hm"})))), json!({"content": "hm"}));
    let answer = "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"hm\"}}]}\n\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let wanted = [json!({"content": ""}), json!({"content": "hm"}), json!({})];
    assert_eq!(deltas(&cut(&qwen3(), &promoting, answer)), wanted);
}

#[test]
fn lines_and_merged_chunks_lose_their_thinking_too() {
    let answer = stream(&[json!({"content": "<think>hm</think>Yes."})]);
    assert_eq!(deltas(&cut(&qwen3(), &dropping().merge(true), &answer)), [json!({"content": "Yes."})]);
    let line = "{\"model\":\"m\",\"response\":\"<think>hm</think>Yes.\",\"done\":false}\n";
    let got = values(&cut(&qwen3(), &dropping().body(Body::Lines), line));
    assert!(
        got.iter().all(|line| line.get("thinking").is_none()) && got.last().unwrap()["response"] == "Yes.",
        "{got:?}"
    );
}

#[test]
fn the_closer_that_a_server_leaves_of_its_thinking_is_removed() {
    let plain = Options::new();
    for options in [plain.clone(), plain.calls(true)] {
        for (content, wanted) in [
            ("</think>\n\nYes.", "Yes."),
            ("\n</think>\n\nYes.", "Yes."),
            ("</think>Yes.", "Yes."),
            // Other texts stay as the server has split them.
            ("\n\nYes.", "\n\nYes."),
            ("Yes.</think>No.", "Yes.</think>No."),
            ("<think>x</think>Yes.", "<think>x</think>Yes."),
            ("Use </think> here.", "Use </think> here."),
        ] {
            let chunks = [json!({"reasoning_content": "hm"}), json!({"content": content}), json!({"content": " End"})];
            let out = deltas(&cut(&qwen3(), &options, &stream(&chunks)));
            let said = |name: &str| -> String { out.iter().filter_map(|delta| delta[name].as_str()).collect() };
            assert_eq!([said("reasoning_content"), said("content")], ["hm".to_owned(), format!("{wanted} End")]);
            let server = body(&json!({"reasoning_content": "hm", "content": content}));
            let wanted = json!({"reasoning_content": "hm", "content": wanted});
            assert_eq!(message(&cut(&qwen3(), &options, &server)), wanted, "{content:?}");
        }
        // In pieces.
        let pieces = ["</th", "ink>", "\n", "\nYes."].map(|piece| json!({"content": piece}));
        let chunks = [&[json!({"reasoning_content": "hm"})], &pieces[..]].concat();
        let out = deltas(&cut(&qwen3(), &options, &stream(&chunks)));
        assert_eq!(out.iter().filter_map(|delta| delta["content"].as_str()).collect::<String>(), "Yes.");
    }
}

// -------------------------------------------------------------------------------------- the thinking stays in the content

#[test]
fn thinking_in_the_content_stays_there() {
    let text = "<think>\nhm\n</think>\n\nYes.";
    let call = "<tool_call>{\"name\": \"f\"}</tool_call>";
    let chat = |delta: &Value, key: &str| json!({"id": "c", "choices": [{"index": 0, key: delta}]}).to_string();
    let options = Options::new().thinking(Thinking::Inline).calls(true);
    let qwen3 = Dialect::find("qwen3").unwrap();
    let content = |output: &str| -> String {
        let datas = output.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let events: Vec<Value> = datas.filter_map(|data| serde_json::from_str(data).ok()).collect();
        let deltas = events.iter().map(|event| &event["choices"][0]);
        deltas
            .filter_map(|choice| choice["delta"]["content"].as_str().or(choice["message"]["content"].as_str()))
            .collect()
    };
    let body = chat(&json!({"content": format!("{text}{call}")}), "message");
    let stream: String = format!("{text}{call}")
        .chars()
        .map(|piece| format!("data: {}\n\n", chat(&json!({"content": piece.to_string()}), "delta")))
        .collect();
    for input in [body, stream] {
        let whole = String::from_utf8(rewrite_bytes(&qwen3, &options, [&input])).unwrap();
        assert_eq!(content(&whole), text, "{whole}");
        assert_eq!(whole.matches("\"tool_calls\"").count(), if input.starts_with('{') { 1 } else { 2 }, "{whole}");
        assert!(!whole.contains("reasoning_content"), "{whole}");
        let pieces = input.as_bytes().chunks(1);
        assert_eq!(String::from_utf8(rewrite_bytes(&qwen3, &options, pieces)).unwrap(), whole);
    }
    // A server's own thinking is sent as thinking.
    let split = chat(&json!({"reasoning_content": "hm", "content": "Yes."}), "message");
    assert_eq!(rewrite_bytes(&qwen3, &options, [&split]), split.as_bytes());
}
