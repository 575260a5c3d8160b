//! Damages the examples of every dialect at random, as models and servers do. No interface may report a damaged call as whole if
//! its arguments are not a JSON object.

use std::collections::BTreeSet;

use aside::CallsInThinking;
use aside::answer::ImpliedEnd;
use aside::sse::Options;
use samples::{Random, Texts};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use support::Pair;
use support::calls::{Call, calls};
use support::rewriting::rewrite;

/// Returns whether the arguments are a JSON object. An unpaired surrogate is allowed, although not every client can make a string
/// of it.
fn is_object(arguments: &str) -> bool {
    arguments.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

/// Deletes, doubles, swaps, inserts and replaces bytes, and removes or doubles text that may be a marker.
fn damage(random: &mut Random, text: &mut Vec<u8>, others: &Texts) {
    for _ in 0..1 + random.below(3) {
        if text.is_empty() {
            return;
        }
        let at = random.below(text.len());
        let end = (at + 1 + random.below(4)).min(text.len());
        match random.below(8) {
            0 => drop(text.drain(at..end)),
            1 => {
                let same = text[at..end].to_vec();
                text.splice(at..at, same);
            }
            2 => text.swap(at, end - 1),
            3 => text[at] = *random.pick(b"{}[]\",:\\ \n\x01'tT0-.<>()=/"),
            4 => text.insert(at, *random.pick(b"{}[]\",:\\ \n\x01'tT0-.<>()=/")),
            5 => {
                let piece = others.next(random, 1);
                text.splice(at..at, piece);
            }
            6 => text.truncate(at),
            _ => {
                // Most markers begin and end with a bracket.
                let Some(begin) = text[at..].iter().position(|byte| b"<[{\"]".contains(byte)).map(|len| at + len)
                else {
                    continue;
                };
                let len = text[begin..].iter().position(|byte| b">]}\"\n".contains(byte)).map_or(1, |len| len + 1);
                let marker: Vec<u8> = text.drain(begin..begin + len).collect();
                if random.one_in(3) {
                    text.splice(begin..begin, [marker.clone(), marker].concat());
                }
            }
        }
    }
}

/// Returns the rewritten body of an answer that is not a stream.
fn body(pair: &Pair, options: &Options, body: &Value) -> Value {
    let out = rewrite(&pair.library, options, [body.to_string().as_bytes()]);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

/// Returns the number of damaged versions of each example.
fn rounds() -> usize {
    std::env::var("ASIDE_MADE").map_or(40, |count| count.parse().unwrap())
}

/// Damages one marker of a call: a closer of a value, `end`, or the opener or closer of its span. Returns false if the text has
/// none.
fn damage_marker(random: &mut Random, text: &mut Vec<u8>, markers: &[Vec<u8>]) -> bool {
    let is_here = |at: &usize| markers.iter().any(|marker| text[*at..].starts_with(marker));
    let places: Vec<usize> = (0..text.len()).filter(is_here).collect();
    if places.is_empty() {
        return false;
    }
    let at = *random.pick(&places);
    let here = markers.iter().filter(|marker| text[at..].starts_with(marker)).max_by_key(|marker| marker.len());
    let len = here.map_or(0, Vec::len);
    let inside = at + random.below(len);
    match random.below(5) {
        0 => drop(text.drain(at..at + len)),
        1 => drop(text.drain(inside..inside + 1)),
        2 => text[inside] = *random.pick(b"abc_</> \n"),
        3 => text.insert(inside, *random.pick(b"abc_</> \n")),
        _ => {
            let marker = text[at..at + len].to_vec();
            text.splice(at..at, marker);
        }
    }
    true
}

/// Checks the share of damaged markers that change a call without any sign of it. The limit is a measured share. In nearly all of
/// these cases, the damaged marker is inside a value, so the value changes.
#[test]
fn a_damaged_marker_makes_no_other_call_without_a_sign() {
    let mut random = Random::announced("a_damaged_marker_makes_no_other_call_without_a_sign");
    let rounds = rounds();
    let (mut damaged, mut silent) = (0, 0);
    for pair in Pair::all().iter().filter(|pair| pair.has_calls()) {
        let mut markers = BTreeSet::new();
        for span in pair.reference.spans.iter().filter(|span| !span.calls.is_empty()) {
            markers.extend(span.open.iter().chain(&span.close).cloned());
            for table in &span.calls {
                markers.extend([&table.value[1], &table.end].into_iter().cloned());
            }
        }
        let markers: Vec<Vec<u8>> = markers.into_iter().map(String::into_bytes).filter(|it| !it.is_empty()).collect();
        let has_tags = pair.reference.spans.iter().flat_map(|span| &span.calls).any(|table| table.body == "tags");
        for example in pair.reference.examples.iter().filter(|example| has_tags && example.calls.is_some()) {
            let start = example.start.as_deref();
            let right = calls(pair, start, None, &[example.input.as_bytes()]);
            for _ in 0..rounds {
                let mut text = example.input.clone().into_bytes();
                if !damage_marker(&mut random, &mut text, &markers) {
                    break;
                }
                let told = calls(pair, start, None, &[&text]);
                let is_sign = |call: &Call| call.cause.is_some() || call.is_repaired;
                let is_other = |call: &&Call| !is_sign(call) && !right.iter().any(|wanted| call.is(wanted));
                damaged += 1;
                if let Some(call) = told.iter().find(is_other) {
                    silent += 1;
                    if std::env::var_os("ASIDE_SHOW").is_some() {
                        println!("{}: {call:?} of {}", pair.reference.name, text.escape_ascii());
                    }
                }
            }
        }
    }
    println!("{silent} of {damaged} texts have another call without a sign");
    assert!(damaged > 1000 && silent * 1000 <= damaged * 102, "{silent} of {damaged}");
}

#[test]
fn no_call_is_whole_whose_arguments_are_not_an_object() {
    let mut random = Random::announced("no_call_is_whole_whose_arguments_are_not_an_object");
    let rounds = rounds();
    let (mut whole, mut broken) = (0, 0);
    for pair in Pair::all().iter().filter(|pair| pair.has_calls()) {
        let others = Texts::new(&pair.reference);
        for example in pair.reference.examples.iter().filter(|example| example.calls.is_some()) {
            let start = example.start.as_deref();
            for _ in 0..rounds {
                let mut text = example.input.clone().into_bytes();
                damage(&mut random, &mut text, &others);
                let shown = || format!("{}: {}", pair.reference.name, text.escape_ascii());
                let told = calls(pair, start, None, &[&text]);
                for call in &told {
                    assert!(call.cause.is_some() || is_object(&call.arguments), "{call:?} of {}", shown());
                    (whole, broken) = match call.cause {
                        None => (whole + 1, broken),
                        Some(_) => (whole, broken + 1),
                    };
                }
                let cuts = support::random_cuts(&mut random, &text, 6);
                assert_eq!(calls(pair, start, None, &cuts), told, "{}", shown());
                let wanted = reference::read_with_calls(&pair.reference, &text, start);
                assert_eq!(pair.difference_of_calls(start, &cuts, &wanted), None, "{}", shown());

                let Ok(text) = std::str::from_utf8(&text) else { continue };
                let options = Options::new().calls(true).start(start.map(|start| start.parse().unwrap()));
                // The options report only calls that the text contains, whatever ended the answer.
                let options = options.implied_end(ImpliedEnd::Off).calls_in_thinking(CallsInThinking::Always);
                let chat =
                    |part: &str| json!({"choices": [{"index": 0, part: {"content": text}, "finish_reason": "stop"}]});
                let got = body(pair, &options, &chat("message"));
                let calls = got["choices"][0]["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
                for call in &calls {
                    assert!(is_object(call["function"]["arguments"].as_str().unwrap()), "{call} of {}", shown());
                }
                assert_eq!(got["choices"][0]["finish_reason"] == "tool_calls", !calls.is_empty(), "{got}");
                // A stream's finish reason is `tool_calls` if one of the calls is whole.
                let out = rewrite(&pair.library, &options, [format!("data: {}\n\n", chat("delta")).as_bytes()]);
                let is_whole = told.iter().any(|call| call.cause.is_none());
                assert_eq!(out.contains("\"finish_reason\":\"tool_calls\""), is_whole, "{out}");
                // In these formats, arguments are an object.
                body(
                    pair,
                    &options,
                    &json!({"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}),
                );
                body(
                    pair,
                    &options,
                    &json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": true}),
                );
            }
        }
    }
    assert!(whole > 1000 && broken > 300, "{whole} whole calls, {broken} others");
}
