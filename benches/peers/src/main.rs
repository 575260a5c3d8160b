//! Feeds the workloads of aside's benches to aside and to other crates, in the same run.
//!
//!     aside-peers counts      feeds each under callgrind, which counts inside `counted`; a line with its name for each
//!     aside-peers times       ns per byte
//!     aside-peers wrong       where what comes out is not what went in: messages, and bytes of markers
//!
//! Run by `scripts/benchmarks peers`.

use std::hint::black_box;
use std::time::Instant;

use clark_agent::ThinkingTagStreamFilter;
use reasoning_parser::{Qwen3Parser, ReasoningParser};

#[path = "../../ways.rs"]
#[allow(dead_code)]
mod ways;
#[path = "../../workloads.rs"]
#[allow(dead_code)]
mod workloads;

use workloads::{Markers, Message, TRAPS, Workload, trap};

/// The channel of a text.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Thinking,
    Content,
}

/// Splits one message, and passes the output to `sink`.
type Split = fn(&Message, &mut dyn FnMut(Part, &str));

const MARKERS: Markers = Markers { dialect: "think", open: "<think>", close: "</think>", triggers: b"<" };

const ALL: &[(&str, Split)] = &[
    ("aside", aside),
    ("reasoning-parser", reasoning_parser),
    ("clark-agent", clark_agent),
    #[cfg(feature = "dynamo")]
    ("dynamo-parsers", dynamo_parsers),
];

fn chunks(message: &Message) -> impl Iterator<Item = &str> {
    // SAFETY: the texts are UTF-8, and are cut between characters.
    message.chunks().map(|chunk| unsafe { std::str::from_utf8_unchecked(chunk) })
}

fn aside(message: &Message, sink: &mut dyn FnMut(Part, &str)) {
    thread_local! {
        static DIALECT: aside::Dialect = aside::Dialect::find(MARKERS.dialect).expect("a name of the catalogue");
    }
    let mut scanner = DIALECT.with(aside::Scanner::new);
    let mut text = |event: aside::Event<'_>| {
        if event.kind == aside::Kind::Text {
            let part = if event.channel == aside::Channel::Thinking { Part::Thinking } else { Part::Content };
            // SAFETY: the input is UTF-8, and an event has only whole characters.
            sink(part, unsafe { std::str::from_utf8_unchecked(event.bytes) });
        }
    };
    for chunk in chunks(message) {
        scanner.feed(chunk.as_bytes(), &mut text).expect("nothing to fail");
    }
    scanner.finish(&mut text).expect("nothing to fail");
}

fn reasoning_parser(message: &Message, sink: &mut dyn FnMut(Part, &str)) {
    let mut parser = Qwen3Parser::new();
    let mut give = |result: reasoning_parser::ParserResult| {
        sink(Part::Thinking, &result.reasoning_text);
        sink(Part::Content, &result.normal_text);
    };
    for chunk in chunks(message) {
        // The parser fails after 4 MiB without an end, but no text here is that long.
        give(parser.parse_reasoning_streaming_incremental(chunk).expect("room"));
    }
    give(parser.flush().expect("room"));
}

fn clark_agent(message: &Message, sink: &mut dyn FnMut(Part, &str)) {
    let mut filter = ThinkingTagStreamFilter::new();
    for chunk in chunks(message) {
        let content = filter.feed(chunk);
        if let Some(thought) = filter.take_completed_thought() {
            sink(Part::Thinking, &thought);
        }
        sink(Part::Content, &content);
    }
    sink(Part::Content, &filter.flush());
}

#[cfg(feature = "dynamo")]
fn dynamo_parsers(message: &Message, sink: &mut dyn FnMut(Part, &str)) {
    use dynamo_parsers::ReasoningParser;

    let mut parser = dynamo_parsers::ReasoningParserType::Qwen.get_reasoning_parser();
    let mut give = |result: dynamo_parsers::ParserResult| {
        sink(Part::Thinking, &result.reasoning_text);
        sink(Part::Content, &result.normal_text);
    };
    for chunk in chunks(message) {
        give(parser.parse_reasoning_streaming_incremental(chunk, &[]));
    }
    give(parser.finish_reasoning_stream());
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("counts") => counts(),
        Some("times") => times(),
        Some("wrong") => wrong(),
        _ => println!("run by scripts/benchmarks"),
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
fn counted(split: Split, workload: &Workload) -> usize {
    let mut bytes = 0;
    for message in &workload.messages {
        black_box(split)(message, &mut |_, text| bytes += black_box(text).len());
    }
    bytes
}

const WORKLOADS: [&str; 6] = ["W1", "W2", "W3", "W4", "W5m", "W5t"];
const KIB: usize = 1024;

fn counts() {
    for &(who, split) in ALL {
        // Objects that are made only once are not counted.
        split(&Message::empty(), &mut |_, _| {});
        for name in WORKLOADS {
            let workload = Workload::new(name, &MARKERS, 128 * KIB);
            counted(split, &workload);
            println!("peers\t{who}\t{name}\t{}", workload.feeds());
        }
        let text = Workload::new("W1", &MARKERS, 64 * KIB).messages.remove(0).text;
        let text = String::from_utf8(text).expect("the texts are UTF-8");
        for size in (0..=12).map(|power| 1 << power) {
            let workload = Workload::in_chunks(text.clone(), size);
            counted(split, &workload);
            println!("chunk\t{who}\t{size}\t{}", workload.bytes());
        }
        for times in (0..=6).map(|power| 1 << power) {
            let bytes = times * 8 * KIB;
            let texts = TRAPS.iter().map(|kind| (*kind, Workload::of_text(trap(kind, MARKERS.open, bytes))));
            for (kind, workload) in [("prose", Workload::new("W2", &MARKERS, bytes))].into_iter().chain(texts) {
                counted(split, &workload);
                println!("length\t{who}\t{kind}\t{times}\t{}", workload.bytes());
            }
        }
    }
}

fn times() {
    for name in WORKLOADS {
        let workload = Workload::new(name, &MARKERS, if name.starts_with("W5") { 3_150_000 } else { 1024 * KIB });
        let mut best = vec![f64::INFINITY; ALL.len()];
        for _ in 0..7 {
            for (best, (_, split)) in best.iter_mut().zip(ALL) {
                let start = Instant::now();
                black_box(counted(*split, &workload));
                *best = best.min(start.elapsed().as_secs_f64());
            }
        }
        for (best, (who, _)) in best.iter().zip(ALL) {
            println!("peertime\t{who}\t{name}\t{:.4}", best * 1e9 / workload.bytes() as f64);
        }
    }
}

/// Counts wrong messages. White space at the ends of a part is not compared, because the parsers differ in the white space that
/// they count to the markers.
fn wrong() {
    // A special case: a `<` directly before a marker, in chunks of every size.
    let angle = "<think>a <</think>b";
    let messages = (1..=angle.len()).flat_map(|size| Workload::in_chunks(angle.to_owned(), size).messages);
    let workloads = ["W4", "W5m", "W5t"].map(|name| (name, Workload::new(name, &MARKERS, 3_150_000)));
    for (name, workload) in workloads.into_iter().chain([("<<", Workload { messages: messages.collect() })]) {
        for (who, split) in ALL {
            let (mut messages, mut leaked) = (0, 0);
            for message in &workload.messages {
                let text = std::str::from_utf8(&message.text).expect("the texts are UTF-8");
                let (thinking, content) = text[MARKERS.open.len()..].split_once(MARKERS.close).expect("both parts");
                let (mut got_thinking, mut got_content) = (String::new(), String::new());
                split(message, &mut |part, text| match part {
                    Part::Thinking => got_thinking += text,
                    Part::Content => got_content += text,
                });
                messages += usize::from(got_thinking.trim() != thinking.trim() || got_content.trim() != content.trim());
                for marker in [MARKERS.open, MARKERS.close] {
                    leaked +=
                        marker.len() * (got_thinking.matches(marker).count() + got_content.matches(marker).count());
                }
            }
            println!("wrong\t{who}\t{name}\t{messages}\t{leaked}\t{}", workload.messages.len());
        }
    }
}
