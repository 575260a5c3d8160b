//! Reads a text that follows a prompt. If the prompt has the beginning of the model's turn, the whole turn is read, and the
//! prompt's part is removed from the result.

use crate::events::{END, Event, IMPLIED, Part, What, joined};
use crate::file::Dialect;
use crate::read::{Options, events_with};

/// Returns the prompt's part of the model's turn: all text after the last turn marker.
pub fn own_turn<'a>(dialect: &Dialect, prompt: &'a [u8]) -> &'a [u8] {
    let ends = |at: &usize| dialect.turns.iter().any(|turn| prompt[..*at].ends_with(turn.as_bytes()));
    &prompt[(0..=prompt.len()).rev().find(ends).unwrap_or(0)..]
}

/// Reads a text that follows a prompt: reads the whole turn, then removes the prompt's part. Spans that the prompt left open
/// are opened at byte 0.
pub fn read_behind(dialect: &Dialect, prompt: &[u8], text: &[u8]) -> Vec<Event> {
    if text.is_empty() {
        return Vec::new();
    }
    let turn = own_turn(dialect, prompt);
    let cut = turn.len();
    let start = if dialect.start.as_deref() == Some("header") { "header" } else { "content" };
    let options = Options { prompt: cut, ..Options::default() };
    let whole = events_with(dialect, &[turn, text].concat(), Some(start), options);
    let end = |index: usize| {
        let event: &Event = &whole[index];
        let kept = whole.get(index + 1).filter(|next| {
            next.what == What::Text && next.part == Part::Marker && matches!(event.what, What::Open { .. })
        });
        event.offset + event.bytes.len() + kept.map_or(0, |kept| kept.bytes.len())
    };
    let mut open: Vec<Vec<Event>> = Vec::new();
    let mut out = Vec::new();
    // Whether the last marker of the prompt opened the innermost span.
    let mut just_opened = false;
    for (index, event) in whole.iter().enumerate() {
        // A marker belongs to the part in which it ends. An implied close is in the part of the opener that implies it, even if
        // framing is between them.
        let marker = (index..whole.len()).find(|&at| matches!(whole[at].what, What::Open { .. })).unwrap_or(index);
        let is_prompts = match event.what {
            What::Close(IMPLIED) => end(marker) <= cut,
            What::Close(END) | What::Budget => false,
            // This event precedes its marker.
            What::Reclassify => end(index + 1) <= cut,
            What::Open { .. } | What::Close(_) => end(index) <= cut,
            What::Attribute { .. } => out.is_empty(),
            What::Text | What::Framing | What::Call(_) => end(index) <= cut && !event.bytes.is_empty(),
        };
        if is_prompts {
            match event.what {
                What::Open { .. } => open.push(vec![event.clone()]),
                What::Close(_) => drop(open.pop()),
                What::Attribute { .. } => open.last_mut().unwrap().push(event.clone()),
                What::Text | What::Framing | What::Reclassify | What::Budget | What::Call(_) => {}
            }
            just_opened = match event.what {
                What::Open { .. } => true,
                What::Close(_) | What::Reclassify | What::Budget => false,
                What::Attribute { .. } | What::Text | What::Framing | What::Call(_) => {
                    just_opened && event.part != Part::Marker
                }
            };
            continue;
        }
        let early = cut.saturating_sub(event.offset);
        let mut event = event.clone();
        event.bytes.drain(..early.min(event.bytes.len()));
        event.offset = event.offset.saturating_sub(cut);
        if let What::Attribute { raw, .. } = &mut event.what {
            *raw = raw.start.saturating_sub(early)..raw.end.saturating_sub(early);
        }
        if !event.bytes.is_empty() || !matches!(event.what, What::Text | What::Framing) {
            out.push(event);
        }
    }
    let innermost = open.len();
    let announced = open.into_iter().enumerate().flat_map(|(index, events)| {
        let with_attributes = just_opened && index + 1 == innermost;
        events.into_iter().take(if with_attributes { usize::MAX } else { 1 })
    });
    let announced = announced.map(|mut event| {
        event.bytes.clear();
        event.offset = 0;
        if let What::Attribute { raw, .. } = &mut event.what {
            *raw = 0..0;
        }
        event
    });
    let announced: Vec<Event> = announced.collect();
    joined(&announced.into_iter().chain(out).collect::<Vec<_>>())
}
