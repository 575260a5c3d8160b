//! Rewrites a case's stream with one library. This file is compiled twice: `super::library` is the current library or the older one.

use std::sync::Arc;

use super::library::answer::{ImpliedEnd, NotWhole, Tools, UnknownTool};
use super::library::sse::{Body, Comments, Field, Formats, Options, ResponsesAs, Rewriter, Shapes, Thinking};
use super::library::{CallsInThinking, Channel, Dialect, Start, StrayClose};
use crate::rewriters::{Case, Wishes};

const TOOLS: &str = r#"[{"type": "function", "function": {"name": "f"}}]"#;

/// Returns the output of the stream.
pub fn run(case: &Case) -> Vec<u8> {
    let dialect = Dialect::find(&case.dialect).expect("a built-in dialect");
    let mut rewriter = Rewriter::new(&dialect, &options(&case.wishes)).expect("a start that every dialect has");
    let mut out = Vec::new();
    for chunk in case.chunks() {
        rewriter.feed(chunk, &mut out).expect("room");
    }
    rewriter.finish(&mut out).expect("room");
    out
}

/// Returns the options, for a message.
pub fn shown(case: &Case) -> String {
    format!("{:?}", options(&case.wishes))
}

fn options(wishes: &Wishes) -> Options {
    let Wishes { thinking, body, mut bits, limits } = *wishes;
    let mut below = |bound: u64| {
        let number = (bits % bound) as usize;
        bits /= bound;
        number
    };
    let starts = [None, None, None, Some(Start::Channel(Channel::Thinking)), Some(Start::Channel(Channel::Content))];
    let mut options = Options::new()
        .formats(Formats::ALL)
        .thinking([Thinking::Keep, Thinking::Drop, Thinking::Inline][thinking])
        .body([Body::Unknown, Body::Events, Body::Json, Body::Lines][body])
        .start(starts[below(5)])
        .field([Field::ReasoningContent, Field::Reasoning, Field::Thinking][below(3)])
        .responses_as([ResponsesAs::ReasoningText, ResponsesAs::Summary][below(2)])
        .promote_empty(below(3) == 1)
        .keep_guessed(below(3) == 1)
        .merge(below(4) == 1)
        .label(below(4) == 1)
        .repair(below(4) == 1)
        .comments([Comments::Keep, Comments::Keep, Comments::Drop, Comments::Chunk][below(4)])
        .stray_close([StrayClose::Dialect, StrayClose::Dialect, StrayClose::Text, StrayClose::Drop][below(4)])
        .max_event([None, None, None, None, None, Some(150), Some(600)][below(7)].filter(|_| limits))
        .max_held([None, None, None, Some(20)][below(4)]);
    if below(3) == 1 {
        options = options.normalise([Shapes::ALL, Shapes::CONTENT, Shapes::CHUNKS, Shapes::FIELD][below(4)]);
    }
    if below(3) > 0 {
        options = options
            .calls(true)
            .not_whole([NotWhole::Tell, NotWhole::Hold, NotWhole::Text][below(3)])
            .unknown_tool([UnknownTool::Text, UnknownTool::Drop, UnknownTool::Tell][below(3)])
            .implied_end([ImpliedEnd::On, ImpliedEnd::Off][below(2)])
            .calls_in_thinking([CallsInThinking::Dialect, CallsInThinking::Never][below(2)]);
        if below(3) == 1 {
            // An older library returns the list itself.
            let tools: Arc<Tools> = Tools::read(TOOLS).expect("a list of tools").into();
            options = options.tools(tools);
        }
    }
    options
}
