//! Tests the ends of answers, as servers send them: a finish reason twice or before any text, text after it, the whole message next
//! to the last deltas, and errors in all their forms.

use aside::Dialect;
use aside::sse::{Body, Formats, Options, Thinking};
use serde_json::{Value, json};
use support::rewriting::at_every_cut;

const CALL: &str = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call>";

fn chunk(delta: Value, reason: Option<&str>) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
}

fn content(text: &str) -> Value {
    chunk(json!({"content": text}), None)
}

fn stream(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>() + "data: [DONE]\n\n"
}

/// Returns the data of all events of a rewritten stream, at every cut.
#[track_caller]
fn rewritten(options: &Options, events: &[Value]) -> Vec<Value> {
    let output = at_every_cut(&Dialect::find("qwen3").unwrap(), options, &stream(events));
    let data = output.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// Returns the thinking, the content and the finish reasons of a stream.
fn said(events: &[Value]) -> (String, String, Vec<String>) {
    let (mut thinking, mut content, mut reasons) = (String::new(), String::new(), Vec::new());
    for choice in events.iter().map(|event| &event["choices"][0]) {
        thinking += choice["delta"]["reasoning_content"].as_str().unwrap_or_default();
        content += choice["delta"]["content"].as_str().unwrap_or_default();
        reasons.extend(choice["finish_reason"].as_str().map(ToOwned::to_owned));
    }
    (thinking, content, reasons)
}

#[track_caller]
fn says(options: &Options, events: &[Value], thinking: &str, content: &str, reasons: &[&str]) {
    let output = rewritten(options, events);
    let wanted = (thinking.to_owned(), content.to_owned(), reasons.iter().map(ToString::to_string).collect());
    assert_eq!(said(&output), wanted, "{events:?}\n{output:?}");
}

#[test]
fn a_finish_reason_that_comes_again_is_the_same() {
    let calls = Options::new().calls(true);
    let finish = |reason| chunk(json!({}), Some(reason));
    let [stop, length] = [finish("stop"), finish("length")];
    let call = content(CALL);
    for repair in [false, true] {
        let calls = calls.clone().repair(repair);
        says(&calls, &[call.clone(), stop.clone(), stop.clone()], "", "", &["tool_calls", "tool_calls"]);
        let empty = chunk(json!({"content": ""}), Some("stop"));
        let four = ["tool_calls"; 4];
        says(&calls, &[call.clone(), stop.clone(), empty, stop.clone(), stop.clone()], "", "", &four);
        says(&calls, &[content("Hi"), stop.clone(), stop.clone()], "", "Hi", &["stop", "stop"]);
        // The first finish reason counts.
        says(&calls, &[call.clone(), length.clone(), stop.clone()], "", "", &["length", "stop"]);
    }
    // Each choice has its own finish reason.
    let second = |mut chunk: Value| {
        chunk["choices"][0]["index"] = json!(1);
        chunk
    };
    let events = [call, second(content("Hi")), stop.clone(), second(stop.clone()), stop.clone(), second(stop)];
    let reasons = said(&rewritten(&calls, &events)).2;
    assert_eq!(reasons, ["tool_calls", "stop", "tool_calls", "stop"]);
}

#[test]
fn a_finish_reason_before_any_text_ends_nothing() {
    let plain = Options::new();
    for first in [
        chunk(json!({}), Some("stop")),
        chunk(json!({"role": "assistant", "content": ""}), Some("stop")),
        chunk(json!({"role": "assistant", "content": null}), Some("length")),
    ] {
        let reason = first["choices"][0]["finish_reason"].as_str().unwrap().to_owned();
        let events = [first.clone(), content("<think>hm</thi"), content("nk>Yes <thi"), chunk(json!({}), Some("stop"))];
        says(&plain, &events, "hm", "Yes <thi", &[&reason, "stop"]);
        says(&plain, &events[..3], "hm", "Yes <thi", &[&reason]);
        // An answer without text does not count as an answer.
        says(&plain, &[first.clone(), first], "", "", &[&reason, &reason]);
    }
    let early = chunk(json!({}), Some("stop"));
    let events = [early.clone(), content(CALL), chunk(json!({}), Some("stop"))];
    says(&plain.clone().calls(true), &events, "", "", &["stop", "tool_calls"]);
    let promoted = [early, content("<think>hm"), chunk(json!({}), Some("stop"))];
    says(&plain.promote_empty(true), &promoted, "hm", "hm", &["stop", "stop"]);
}

#[test]
fn text_after_a_finish_reason_is_a_new_answer() {
    let plain = Options::new();
    let stop = chunk(json!({}), Some("stop"));
    let late =
        [content("<think>a</think>One <thi"), stop.clone(), content("<think>b</thi"), content("nk>Two"), stop.clone()];
    says(&plain, &late, "ab", "One <thiTwo", &["stop", "stop"]);
    // Only the first answer starts inside the thinking.
    let thinking = plain.clone().start(aside::Start::Channel(aside::Channel::Thinking));
    says(
        &thinking,
        &[content("a</think>One"), stop.clone(), content("Two"), stop.clone()],
        "a",
        "OneTwo",
        &["stop"; 2],
    );
    // The calls of both answers are numbered consecutively.
    let calls = plain.clone().calls(true);
    let output = rewritten(&calls, &[content(CALL), stop.clone(), content(CALL), stop.clone()]);
    let told: Vec<&Value> = output
        .iter()
        .flat_map(|event| event["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten())
        .filter(|call| call["id"].is_string())
        .collect();
    let ids: Vec<_> = told.iter().map(|call| (call["index"].as_u64(), call["id"].as_str())).collect();
    assert_eq!(ids, [(Some(0), Some("call_c_0_0")), (Some(1), Some("call_c_0_1"))]);
    assert_eq!(said(&output).2, ["tool_calls", "tool_calls"]);
    // If the server splits the thinking itself, its answers stay unchanged, before and after the end.
    let own = [chunk(json!({"reasoning_content": "a"}), None), content("One"), stop.clone(), content("<think>b"), stop];
    says(&plain, &own, "a", "One<think>b", &["stop", "stop"]);
    // Nothing of a stream remains for the next one.
    let qwen3 = Dialect::find("qwen3").unwrap();
    let mut rewriter = aside::sse::Rewriter::new(&qwen3, &thinking).unwrap();
    let mut outputs = Vec::new();
    for _ in 0..2 {
        let mut out = Vec::new();
        rewriter
            .feed(stream(&[content("a</think>One"), chunk(json!({}), Some("stop")), content("Two")]), &mut out)
            .unwrap();
        rewriter.finish(&mut out).unwrap();
        outputs.push(out);
    }
    assert_eq!(outputs[0], outputs[1]);
}

#[test]
fn a_message_beside_the_delta_is_split_as_a_body_is() {
    let beside = |delta: Option<&str>, whole: &str, reason: Option<&str>| {
        let mut chunk = chunk(json!({}), reason);
        let choice = chunk["choices"][0].as_object_mut().unwrap();
        choice.insert("message".to_owned(), json!({"role": "assistant", "content": whole}));
        match delta {
            Some(delta) => choice["delta"]["content"] = json!(delta),
            None => drop(choice.remove("delta")),
        }
        chunk
    };
    let whole = "<think>\nhm\n</think>\n\nYes.";
    let events = [
        beside(Some("<think>\nhm"), "<think>\nhm", None),
        beside(Some("\n</think>\n\nYes."), whole, None),
        beside(None, whole, Some("stop")),
    ];
    for repair in [false, true] {
        let output = rewritten(&Options::new().repair(repair), &events);
        assert_eq!(said(&output), ("hm".to_owned(), "Yes.".to_owned(), vec!["stop".to_owned()]), "{output:?}");
        let messages: Vec<&Value> =
            output.iter().map(|event| &event["choices"][0]["message"]).filter(|message| !message.is_null()).collect();
        let last = json!({"role": "assistant", "reasoning_content": "hm", "content": "Yes."});
        assert_eq!(messages[0], &json!({"role": "assistant", "reasoning_content": "hm", "content": ""}));
        assert_eq!((messages[1], messages[2]), (&last, &last));
    }
    let hidden = rewritten(&Options::new().thinking(Thinking::Drop), &events);
    assert!(!format!("{hidden:?}").contains("hm"), "{hidden:?}");
    // The calls in the message have the ids of the deltas, and the finish reason is that of calls.
    let events = [content(CALL), beside(None, CALL, Some("stop"))];
    let output = rewritten(&Options::new().calls(true), &events);
    let last = &output.last().unwrap()["choices"][0];
    assert_eq!(last["finish_reason"], "tool_calls");
    assert_eq!(last["message"]["content"], Value::Null);
    assert_eq!(last["message"]["tool_calls"][0]["id"], "call_c_0_0");
    assert_eq!(last["message"]["tool_calls"][0]["function"]["arguments"], "{\"x\": 1}");
    // The message of a server that splits the thinking itself stays, and so does a message without markers.
    let own = [chunk(json!({"reasoning_content": "a"}), None), beside(Some("b"), "<think>b", None)];
    assert_eq!(rewritten(&Options::new(), &own), own);
    let plain = [beside(Some("a"), "a", None), beside(Some("b"), "ab", Some("stop"))];
    assert_eq!(rewritten(&Options::new(), &plain), plain);
    // The text of such a message is counted once.
    let mut rewriter = aside::sse::Rewriter::new(&Dialect::find("qwen3").unwrap(), &Options::new()).unwrap();
    let mut out = Vec::new();
    rewriter.feed(stream(&plain), &mut out).unwrap();
    assert_eq!(rewriter.stats().content_bytes, 2);
}

#[test]
fn held_text_leaves_before_every_error() {
    for error in [
        r#"{"error":{"message":"no"}}"#,
        r#"{"error":"no"}"#,
        r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
        r#"{"object":"error","message":"no","type":"BadRequestError","param":null,"code":400}"#,
        r#"{"detail":"no"}"#,
        r#"{"detail":[{"msg":"no"}]}"#,
        r#"{"code":500,"msg":"no"}"#,
        r#"{"code":"E1","message":"no"}"#,
        "[ERROR] no",
        "[ERROR]",
    ] {
        let qwen3 = Dialect::find("qwen3").unwrap();
        let before = format!("data: {}\n\n", content("<think>hm</think>Hi <thi"));
        let input = format!("{before}data: {error}\n\n{before}");
        for formats in [Formats::ALL, Formats::CHAT] {
            for repair in [false, true] {
                let options = Options::new().formats(formats).body(Body::Events).repair(repair);
                let output = at_every_cut(&qwen3, &options, &input);
                let (first, rest) = output.split_once(&format!("data: {error}\n\n")).expect(&output);
                assert!(first.contains("<thi"), "{error}: {output}");
                // A new stream begins after the error.
                assert_eq!(rest, first, "{error}");
            }
        }
    }
    // These are none.
    for other in [r#"{"code":0,"msg":"ok"}"#, r#"{"code":200,"message":"ok"}"#, r#"{"error":null}"#, r#"{"detail":""}"#]
    {
        let input = format!("data: {}\n\ndata: {other}\n\ndata: {}\n\n", content("<th"), content("ink>hm"));
        let output = at_every_cut(&Dialect::find("qwen3").unwrap(), &Options::new(), &input);
        assert!(output.contains(r#""reasoning_content":"hm""#), "{other}: {output}");
    }
}

#[test]
fn the_log_probabilities_of_a_body_are_those_of_its_content() {
    let token = |text: &str| json!({"token": text, "logprob": -0.1, "bytes": text.as_bytes(), "top_logprobs": []});
    let body = |tokens: &[&str], logprobs: Value| {
        let text: String = tokens.iter().copied().filter(|token| *token != "<|im_end|>").collect();
        let message = json!({"role": "assistant", "content": text});
        let choice = json!({"index": 0, "message": message, "logprobs": logprobs, "finish_reason": "stop"});
        json!({"id": "c", "object": "chat.completion", "choices": [choice]}).to_string()
    };
    let rewritten = |body: &str| -> Value {
        let output = at_every_cut(&Dialect::find("qwen3").unwrap(), &Options::new().calls(true), body);
        serde_json::from_str::<Value>(&output).unwrap()["choices"][0].clone()
    };
    for (tokens, wanted) in [
        (&["<think>", "hm", "</think>", "\n\n", "Yes", "."][..], &["Yes", "."][..]),
        (&["<think>", "hm", "</think>", "\n\n", "Yes", ".", "<|im_end|>"], &["Yes", "."]),
        // A token of which only a part belongs to the thinking stays.
        (&["<think>hm", "</think>\n\nYes", "."], &["</think>\n\nYes", "."]),
        (&["<think>hm</think>"], &[]),
        (&["<think>", "hm", "</think>", CALL], &[]),
        (&["Yes", "."], &["Yes", "."]),
    ] {
        let all: Vec<Value> = tokens.iter().map(|text| token(text)).collect();
        let kept: Vec<Value> = wanted.iter().map(|text| token(text)).collect();
        let choice = rewritten(&body(tokens, json!({"content": all, "refusal": null})));
        assert_eq!(choice["logprobs"], json!({"content": kept, "refusal": null}), "{tokens:?}");
        // If the tokens have no bytes, their texts are used.
        let strip = |tokens: &[Value]| tokens.iter().map(|token| json!({"token": token["token"]})).collect::<Vec<_>>();
        let choice = rewritten(&body(tokens, json!({"content": strip(&all)})));
        assert_eq!(choice["logprobs"], json!({"content": strip(&kept)}), "{tokens:?}");
    }
    // If the tokens do not make up the text, all of them stay.
    for logprobs in [json!({"content": [token("no")]}), json!({"content": null}), json!(null), json!({"content": [1]})]
    {
        let choice = rewritten(&body(&["<think>hm</think>Yes"], logprobs.clone()));
        assert_eq!((&choice["logprobs"], &choice["message"]["content"]), (&logprobs, &json!("Yes")));
    }
}
