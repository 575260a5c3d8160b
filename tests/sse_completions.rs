//! Rewrites legacy completions, whose text is in the choice itself: from the output, a client must get the reference's result for
//! the whole text, and every chunk must have a text, because clients need one.

use std::collections::BTreeMap;

use aside::Dialect;
use aside::sse::{Body, Field, Formats, Options};
use samples::Random;
use serde_json::{Value, json};
use support::Pair;
use support::client::{Runs, events, push, split};
use support::rewriting::{at_every_cut, at_random_cuts, case, examples, pieces, rewrite, texts};

fn options() -> Options {
    Options::new().formats(Formats::COMPLETIONS).keep_guessed(true)
}

fn qwen3(input: &str) -> String {
    at_every_cut(&Dialect::find("qwen3").unwrap(), &options(), input)
}

/// Returns a chunk of the choice 0.
fn chunk(members: &str) -> String {
    format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,{members}}}]}}\n\n")
}

fn text(text: &str) -> String {
    chunk(&format!("\"text\":\"{text}\",\"logprobs\":null,\"finish_reason\":null"))
}

fn thinking(text: &str) -> String {
    chunk(&format!("\"text\":\"\",\"reasoning_content\":\"{text}\",\"logprobs\":null,\"finish_reason\":null"))
}

fn finish(reason: &str) -> String {
    chunk(&format!("\"text\":\"\",\"logprobs\":null,\"finish_reason\":\"{reason}\""))
}

// -------------------------------------------------------------------------------------------------------------- clients

/// The texts of a choice that a client has received at the end of the stream.
#[derive(Debug, Default, PartialEq)]
struct Said {
    runs: Runs,
    finish: Vec<String>,
}

fn client(stream: &str) -> BTreeMap<u64, Said> {
    let mut said: BTreeMap<u64, Said> = BTreeMap::new();
    for event in events(stream).iter().filter(|event| event.data != "[DONE]") {
        let value: Value = serde_json::from_str(&event.data).unwrap();
        for choice in value["choices"].as_array().unwrap() {
            let said = said.entry(choice["index"].as_u64().unwrap()).or_default();
            let text = choice["text"].as_str().unwrap_or_else(|| panic!("no text: {value}"));
            assert!(choice.get("logprobs").is_some(), "no logprobs: {value}");
            assert!(said.finish.is_empty(), "more after the end: {value}");
            push(&mut said.runs, true, choice["reasoning_content"].as_str().unwrap_or_default());
            push(&mut said.runs, false, text);
            said.finish.extend(choice["finish_reason"].as_str().map(str::to_owned));
        }
    }
    said
}

/// Returns a stream of several choices, whose pieces of text are mixed.
fn stream(random: &mut Random, texts: &[String]) -> String {
    let most = *random.pick(&[1, 4, 12, 200]);
    let mut open: Vec<_> = texts.iter().map(|text| pieces(random, text, most).into_iter()).enumerate().collect();
    let mut out = String::new();
    while !open.is_empty() {
        let place = random.below(open.len());
        let index = open[place].0;
        let text = open[place].1.next();
        let finish = if text.is_none() { json!("stop") } else { Value::Null };
        if text.is_none() {
            open.remove(place);
        }
        let choice =
            json!({"index": index, "text": text.unwrap_or_default(), "logprobs": null, "finish_reason": finish});
        let chunk = json!({"id": "c", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]});
        out += &format!("data: {chunk}\n\n");
    }
    out + "data: [DONE]\n\n"
}

// --------------------------------------------------------------------------------------------------------------- streams

#[test]
fn the_cases_are_split() {
    // The expected stream was written by hand and has fewer chunks.
    assert_eq!(client(&qwen3(&case("completions.raw.sse"))), client(&case("completions.split.sse")));
    for body in [Body::Unknown, Body::Json] {
        let (dialect, options) = (Dialect::find("qwen3").unwrap(), options().body(body));
        let wanted = case("completions-body.split.json");
        assert_eq!(at_every_cut(&dialect, &options, &case("completions-body.raw.json")), wanted);
    }
}

#[test]
fn the_examples_of_the_page_are_true() {
    let examples = examples("completions.md");
    assert_eq!(examples.len(), 2);
    for [input, output] in examples {
        assert_eq!(qwen3(&input), output);
    }
}

#[test]
fn random_texts_are_split_as_the_reference_says() {
    let mut random = Random::announced("random_texts_are_split_as_the_reference_says");
    for pair in Pair::all() {
        for _ in 0..20 {
            let count = 1 + random.below(3);
            let texts = texts(&mut random, &pair, count);
            let input = stream(&mut random, &texts);
            let output = at_random_cuts(&pair.library, &options(), &input, &mut random);
            let said = client(&output);
            assert_eq!(said.len(), count, "{input}\nbecame\n{output}");
            for (index, text) in texts.iter().enumerate() {
                let said = &said[&(index as u64)];
                assert_eq!(said.runs, split(&pair, text, None, false), "{text}\n{input}\nbecame\n{output}");
                assert_eq!(said.finish, ["stop"], "{output}");
            }
        }
    }
}

#[test]
fn other_formats_pass() {
    let chat = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"<think>a</think>b\"}}]}\n\n";
    assert_eq!(qwen3(chat), chat);
    let dialect = Dialect::find("qwen3").unwrap();
    let completion = text("<think>a</think>b");
    assert_eq!(at_every_cut(&dialect, &Options::new().formats(Formats::CHAT), &completion), completion);
    let both = at_every_cut(&dialect, &Options::new(), &(completion.clone() + chat));
    assert!(both.starts_with(&qwen3(&completion)) && both.contains("\"delta\":{\"content\":\"b\"}"), "{both}");
}

#[test]
fn extra_chunks_have_the_envelope_and_the_last_stretch_the_rest() {
    let input = "event: x\ndata: {\"id\":\"c\",\"object\":\"text_completion\",\"system_fingerprint\":\"f\",\"x\":1,\"choices\":[{\"text\" : \
                 \"a<think>b</think>c\",\"index\":3,\"y\":2,\"logprobs\":{\"tokens\":[\"a\"]},\"finish_reason\":\"length\"}],\"usage\":{}}\n\n";
    let extra = |members: &str| {
        format!(
            "event: x\ndata: {{\"id\":\"c\",\"object\":\"text_completion\",\"system_fingerprint\":\"f\",\"choices\":[{{\"index\":3,{members},\
             \"logprobs\":null,\"finish_reason\":null}}]}}\n\n"
        )
    };
    let output = extra("\"text\":\"a\"")
        + &extra("\"text\":\"\",\"reasoning_content\":\"b\"")
        + &input.replace("a<think>b</think>c", "c");
    let dialect = "name = \"anywhere\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<think>\"]\nclose = [\"</think>\"]";
    assert_eq!(at_every_cut(&Dialect::load(dialect).unwrap(), &options(), input), output);
}

#[test]
fn thinking_stands_beside_an_empty_text() {
    assert_eq!(qwen3(&text("<think>hm")), thinking("hm"));
    // If the field exists and is empty, it is filled.
    for empty in ["null", "\"\""] {
        let input = chunk(&format!("\"reasoning_content\":{empty},\"text\":\"<think>hm\""));
        assert_eq!(qwen3(&input), chunk("\"reasoning_content\":\"hm\",\"text\":\"\""));
    }
    let options = options().field(Field::Reasoning);
    let output = at_every_cut(&Dialect::find("qwen3").unwrap(), &options, &text("<think>hm"));
    assert_eq!(output, thinking("hm").replace("reasoning_content", "reasoning"));
    // If a choice has two texts, the last one counts.
    let input = chunk("\"text\":\"a\",\"text\":\"<think>hm\"");
    assert_eq!(qwen3(&input), chunk("\"text\":\"a\",\"text\":\"\",\"reasoning_content\":\"hm\""));
}

#[test]
fn held_text_leaves_before_the_end() {
    let held = text("a <thi");
    let (kept, gone) = (text("a "), text("<thi"));
    for end in [finish("stop"), "data: [DONE]\n\n".to_owned(), "data: {\"error\":{\"message\":\"no\"}}\n\n".to_owned()]
    {
        assert_eq!(qwen3(&(held.clone() + &end)), kept.clone() + &gone + &end);
    }
    assert_eq!(qwen3(&held), kept + &gone);
    let last = |text: &str| chunk(&format!("\"text\":\"{text}\",\"finish_reason\":\"stop\""));
    assert_eq!(qwen3(&(text("a <thi") + &last("s"))), text("a ") + &last("<this"));
    // Text after the end begins a new answer.
    let after = text("<think>a</think>b");
    for first in ["", "x"] {
        let end = text(first) + &finish("stop");
        assert_eq!(qwen3(&(end.clone() + &after)), end + &qwen3(&after));
    }
}

#[test]
fn a_choice_that_comes_twice_in_a_chunk_keeps_its_order() {
    let twice = |first: &str, second: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"text\":{first},\"logprobs\":null}},{{\"index\":0,\"text\":{second},\"logprobs\":null}}]}}\n\n"
        )
    };
    let extra = |members: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,{members},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n")
    };
    let output = extra("\"text\":\"\",\"reasoning_content\":\"a\"")
        + &extra("\"text\":\"\",\"reasoning_content\":\"b\"")
        + &twice("\"\"", "\"c\"");
    assert_eq!(qwen3(&twice("\"<think>a\"", "\"b</think>c\"")), output);
    let output = twice("\"\",\"reasoning_content\":\"a\"", "\"\",\"reasoning_content\":\"b\"");
    assert_eq!(qwen3(&twice("\"<think>a\"", "\"b\"")), output);
}

#[test]
fn a_server_that_splits_is_left_alone() {
    let input = thinking("<think>") + &text("<think>a</think>b") + &finish("stop");
    assert_eq!(qwen3(&input), input);
    // Held text is sent first.
    let input = text("<thi") + &thinking("a");
    assert_eq!(qwen3(&input), text("") + &text("<thi") + &thinking("a"));
    let body = r#"{"choices":[{"index":0,"text":"<think>a</think>b","reasoning_content":"c"}]}"#;
    assert_eq!(qwen3(body), body);
}

#[test]
fn calls_stay_text() {
    let dialect = Dialect::load(include_str!("dialects/calls-tags.toml")).unwrap();
    let call = r#"<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}}</tool_call>"#;
    let input = text(call) + &finish("stop");
    let output = at_every_cut(&dialect, &options().calls(true), &input);
    assert_eq!(client(&output)[&0].runs, client(&input)[&0].runs);
    assert_eq!(client(&output)[&0].finish, ["stop"]);
    let body = format!("{{\"choices\":[{{\"index\":0,\"text\":\"{call}\",\"finish_reason\":\"stop\"}}]}}");
    assert_eq!(at_every_cut(&dialect, &options().calls(true), &body), body);
}

#[test]
fn what_is_not_read_passes() {
    for input in [
        chunk("\"text\":null"),
        chunk("\"text\":[\"<think>a</think>b\"]"),
        text("<think>a</think>b").replace("\"index\":0", "\"index\":-1"),
        text("<think>a</think>b").replace("]}", "]"),
        ": ping\n\n".to_owned(),
    ] {
        assert_eq!(qwen3(&input), input);
    }
    let options = options().max_event(100);
    let long = text(&"a".repeat(100));
    let dialect = Dialect::find("qwen3").unwrap();
    let out = rewrite(&dialect, &options, [(text("<thi") + &long).as_bytes()]);
    assert_eq!(out, text("") + &text("<thi") + &long);
}
