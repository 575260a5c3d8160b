//! Finds markers in instructions, if no turn shows them: markers that the system prompt names next to a tool, or only if thinking
//! is switched on. Instructions are text for a model, so each finding is also a doubt.

use super::frame::Frame;
use super::renderings::{Renderings, with_tools};
use super::sketch::{Body, Region, Sketch, Thinking};
use super::texts::{OF_THINKING, markers, opener_of};

/// Words in the names of markers, for each kind of text between these markers.
const ANSWERS: [&str; 2] = ["response", "answer"];
const CALLS: [&str; 3] = ["call", "function", "action"];
/// The maximum number of bytes between a marker and the word or the object that shows the marker's meaning.
const NEAR: usize = 48;

/// Finds the markers of the thinking in a prompt that asks for it.
pub fn thinking(renderings: &Renderings<'_>, frame: &Frame, sketch: &mut Sketch) {
    let texts = frame.variants.iter().filter_map(|variant| renderings.before_question(&variant.settings));
    for text in texts.collect::<Vec<_>>() {
        let Some([open, close]) = pair(&text, &OF_THINKING) else { continue };
        sketch.doubt(format!(
            "no turn shows a thought: the system prompt tells the model to write `{open}` and `{close}`"
        ));
        sketch.thinking = Some(Thinking { open, close, ..Thinking::default() });
        if let (None, Some(answer)) = (&sketch.wrapper, pair(&text, &ANSWERS)) {
            sketch.wrapper = Some(answer);
        }
        return;
    }
}

/// Returns an opener and its closer in a text, if their name has one of these words.
fn pair(text: &str, words: &[&str]) -> Option<[String; 2]> {
    let found: Vec<&str> = markers(text).into_iter().map(|marker| &text[marker]).collect();
    let closers = found.iter().filter(|close| words.iter().any(|word| close.to_lowercase().contains(word)));
    closers
        .filter_map(|close| Some((opener_of(close)?, *close)))
        .find_map(|(open, close)| found.contains(&open.as_str()).then(|| [open, close.to_owned()]))
}

/// Finds calls that are objects after a marker, in a prompt that has tools.
pub fn calls(renderings: &Renderings<'_>, frame: &Frame) -> Option<(Region, String)> {
    let mut settings = frame.plain().clone();
    let without = renderings.before_question(&settings)?;
    settings.extend(with_tools());
    let text = renderings.before_question(&settings)?;
    let body = || Body::Object {
        name: "name".to_owned(),
        arguments: if text.contains("\"arguments\"") || !text.contains("\"parameters\":") {
            "arguments"
        } else {
            "parameters"
        }
        .to_owned(),
        id: None,
        key_is_name: false,
    };
    let doubt = |what: &str| format!("no turn shows a call: the system prompt tells the model to write {what}");
    for marker in markers(&text) {
        let open = &text[marker.clone()];
        let is_call = CALLS.iter().any(|word| open.to_lowercase().contains(word)) && opener_of(open).is_none();
        if !is_call || without.contains(open) {
            continue;
        }
        let rest = &text[marker.end..];
        let near = &rest[..rest.char_indices().map(|(at, _)| at).take_while(|at| *at <= NEAR).last().unwrap_or(0)];
        let is_object = near.trim_start().starts_with(['{', '[']) && near.contains("\"name\"");
        let close = markers(rest)
            .into_iter()
            .map(|marker| &rest[marker])
            .find(|close| opener_of(close).as_deref() == Some(open));
        match close {
            Some(close) if is_object => {
                let region =
                    Region { open: open.to_owned(), close: close.to_owned(), body: body(), ..Region::default() };
                return Some((region, doubt(&format!("an object between `{open}` and `{close}`"))));
            }
            None if is_object || near.to_lowercase().contains("json") => {
                let region = Region { open: open.to_owned(), body: body(), ..Region::default() };
                return Some((region, doubt(&format!("a list of objects after `{open}`"))));
            }
            _ => {}
        }
    }
    // The last possibility: the marker is a word directly before a list of calls.
    let at = text.find("[{\"name\":")?;
    let word = text[..at].rsplit(|char: char| !char.is_ascii_alphanumeric() && char != '_').next()?;
    (word.len() > 3 && !without.contains(word)).then(|| {
        let region = Region { open: word.to_owned(), body: body(), ..Region::default() };
        (region, doubt(&format!("a list of objects after `{word}`")))
    })
}
