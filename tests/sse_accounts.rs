//! Rewrites streams of servers that repeat a text with differences, in every format. There must be no panic, cuts must make no
//! difference, the output must be JSON, and no word of the pieces or of the repeated text may be lost.

use std::collections::BTreeSet;

use aside::answer::Tools;
use aside::sse::{Body, Field, Formats, Options, ResponsesAs, Rewriter};
use aside::{CallsInThinking, Channel, Dialect, Start, StrayClose};
use samples::Random;
use serde_json::Value;
use support::accounts::{Server, Shape, words};
use support::random_cuts;

/// The number of streams and the number of bodies that are tested for each format.
const ANSWERS: usize = 1500;

/// The pieces of random texts. A call is one piece, because other tests check calls.
const PIECES: [&str; 14] = [
    "<think>",
    "<think>\n",
    "</think>",
    "\n</think>\n\n",
    "<think>§</think>",
    "<think>\n§\n</think>\n\n§",
    "\n",
    " ",
    "é",
    "<thi",
    "\"\\",
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"§\"}}\n</tool_call>",
    "<tool_call>\n{\"name\": \"h\", \"arguments\": {\"a\": \"§\"}}\n</tool_call>",
    "</tool_call>",
];

fn options(random: &mut Random) -> Options {
    let tools = Tools::read(r#"[{"type": "function", "function": {"name": "f"}}]"#).unwrap();
    let starts = [None, None, Some(Start::Channel(Channel::Thinking)), Some(Start::Channel(Channel::Content))];
    Options::new()
        .formats(Formats::ALL)
        .start(*random.pick(&starts))
        .field(*random.pick(&[Field::ReasoningContent, Field::Reasoning, Field::Thinking]))
        .calls(!random.one_in(3))
        .tools(random.one_in(3).then_some(tools))
        .calls_in_thinking(*random.pick(&[CallsInThinking::Dialect, CallsInThinking::Never]))
        .stray_close(*random.pick(&[StrayClose::Dialect, StrayClose::Text, StrayClose::Drop]))
        .max_held(random.one_in(4).then(|| random.below(60)))
        .responses_as(*random.pick(&[ResponsesAs::ReasoningText, ResponsesAs::Summary]))
        .promote_empty(random.one_in(3))
        .merge(random.one_in(3))
        .repair(random.one_in(4))
}

/// Returns the rewritten answer, checked to be the same at cuts and with a used rewriter.
fn rewritten(dialect: &Dialect, options: &Options, answer: &str, random: &mut Random) -> String {
    let mut rewriter = Rewriter::new(dialect, options).unwrap();
    let mut run = |chunks: &[&[u8]]| {
        let mut out = Vec::new();
        for chunk in chunks {
            rewriter.feed(chunk, &mut out).unwrap();
        }
        rewriter.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let whole = run(&[answer.as_bytes()]);
    for most in [1, 7, 90, 900] {
        let cuts = random_cuts(random, answer.as_bytes(), most);
        assert_eq!(run(&cuts), whole, "{options:?}\n{answer}");
    }
    whole
}

/// The words of an answer, each of which is one character.
#[derive(Default)]
struct Said {
    all: BTreeSet<char>,
    /// The words of events with new text.
    pieces: BTreeSet<char>,
    /// The words of the events that end a response.
    last: BTreeSet<char>,
}

impl Said {
    /// Reads the lines of a stream, or a body. Each must be JSON.
    fn read(answer: &str, shape: Shape) -> Said {
        let mut said = Said::default();
        for line in answer.split(['\n', '\r']) {
            let data = line.strip_prefix("data:").map_or(line, str::trim_start);
            if data == "[DONE]" || !data.starts_with('{') {
                continue;
            }
            let value: Value = serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}\n{answer}"));
            let words = words(&value);
            said.all.extend(&words);
            let kind = value["type"].as_str().unwrap_or_default();
            let says_again = kind.ends_with("done")
                || matches!(kind.rsplit('.').next(), Some("completed" | "incomplete" | "failed"));
            if shape != Shape::Responses || !says_again {
                said.pieces.extend(&words);
            }
            if value["response"]["output"].is_array() {
                said.last.extend(&words);
            }
        }
        said
    }
}

fn check(shape: Shape, is_body: bool) {
    let mut random = Random::announced("sse_accounts");
    let dialects = ["qwen3", "qwen3-thinking"].map(|name| Dialect::find(name).unwrap());
    let pieces = PIECES.map(str::to_owned);
    for round in 0..ANSWERS {
        let options = options(&mut random);
        let body = match (shape.is_of_lines(), is_body) {
            (_, true) => Body::Json,
            (true, false) => Body::Lines,
            (false, false) => Body::Events,
        };
        let options = options.body(if random.one_in(3) { Body::Unknown } else { body });
        let answer = {
            let mut below = |bound| random.below(bound);
            let server = Server::new(&pieces, &mut below);
            if is_body { server.body(shape) } else { server.stream(shape) }
        };
        let dialect = random.pick(&dialects).clone();
        let out = rewritten(&dialect, &options, &answer, &mut random);
        let (before, after) = (Said::read(&answer, shape), Said::read(&out, shape));
        for (what, before, after) in [
            ("the answer", &before.all, &after.all),
            ("the pieces", &before.pieces, &after.pieces),
            ("the end", &before.last, &after.last),
        ] {
            let lost: Vec<_> = before.difference(after).collect();
            assert!(lost.is_empty(), "{shape:?} {round}: {what} lacks {lost:?}\n{options:?}\n{answer}\nbecame\n{out}");
        }
    }
}

macro_rules! formats {
    ($($stream:ident $body:ident $shape:expr;)*) => {
        $(#[test]
        fn $stream() {
            check($shape, false);
        }

        #[test]
        fn $body() {
            check($shape, true);
        })*
    };
}

formats! {
    chat_streams chat_bodies Shape::Chat;
    completion_streams completion_bodies Shape::Completions;
    responses_streams responses_bodies Shape::Responses;
    messages_streams messages_bodies Shape::Messages;
    ollama_chat_streams ollama_chat_bodies Shape::OllamaChat;
    ollama_generate_streams ollama_generate_bodies Shape::OllamaGenerate;
}
