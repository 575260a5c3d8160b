//! Finds the markers of the thinking: the text around a thought if a turn shows one; otherwise the marker that the generation
//! prompt opens, the closer in the prompt with thinking switched off, and the text at which the template splits answers.

use super::frame::{Frame, Variant};
use super::probes::{ANSWER, After, Call, Content, ONE, SHAPES, Shape, THOUGHT, Turn};
use super::renderings::{Renderings, Settings};
use super::sketch::{Sketch, Thinking};
use super::texts::{is_closer, leading_marker, marker, markers, opener_of, split_at, trimmed};

/// A turn that shows a thought, and the probe for which it was rendered.
pub struct Shown {
    pub shape: Shape,
    pub settings: Settings,
    pub after: After,
    /// The text of the turn after the role line. It has a call if the template shows thoughts only next to a call.
    pub text: String,
    pub calls: &'static [Call],
}

const CALL: &[Call] = &[ONE];

/// Finds the markers of the thinking and of the answer's wrapper. Returns the turn that showed them.
///
/// # Errors
///
/// Returns the role line's marker if it is also between a thought and the answer, because the role line and that marker then
/// begin messages with headers.
pub fn find(
    renderings: &Renderings<'_>,
    frame: &mut Frame,
    template: &str,
    sketch: &mut Sketch,
) -> Result<Option<Shown>, String> {
    let closers: Vec<String> = split_at(template).into_iter().filter(|text| opener_of(text).is_some()).collect();
    let shown = shown(renderings, frame, &closers);
    let between = shown.as_ref().and_then(|shown| around(&shown.text)).map(|(_, between, _)| between);
    if let (Some(between), Some(role)) = (between, leading_marker(&frame.role))
        && between.contains(role)
    {
        return Err(role.to_owned());
    }
    match &shown {
        Some(shown) => from_turn(frame, &shown.text, sketch),
        None => from_prompts(renderings, frame, &closers, sketch),
    }
    let shown = shown.map(|mut shown| {
        // The frame may have made the role line shorter since this turn was rendered.
        if let Some(text) = shown.render(renderings).filter(|text| around(text).is_some()) {
            frame.turn_of(&text).clone_into(&mut shown.text);
        }
        shown
    });
    if let Some(thinking) = &sketch.thinking {
        let begun = frame.begun(&frame.variants[0]);
        sketch.starts_thinking = opens(&begun, thinking);
    } else {
        wrapper_of_answer(frame, sketch);
    }
    Ok(shown)
}

impl Shown {
    pub fn turn(&self) -> Turn<'_> {
        Turn { thought: Some(&self.shape), calls: self.calls, after: self.after, ..Turn::ANSWER }
    }

    fn render(&self, renderings: &Renderings<'_>) -> Option<String> {
        renderings.turn(&self.turn(), &self.settings)
    }
}

/// Returns whether a text leaves the thinking open.
pub fn opens(text: &str, thinking: &Thinking) -> bool {
    let open = text.rfind(thinking.open.as_str());
    open.is_some() && open > text.rfind(thinking.close.as_str())
}

/// Looks for a turn that shows a thought and its closer.
fn shown(renderings: &Renderings<'_>, frame: &Frame, closers: &[String]) -> Option<Shown> {
    let inside = closers.iter().filter_map(|close| Some(Shape::Inside(opener_of(close)?, close.clone())));
    let shapes: Vec<Shape> = SHAPES.iter().cloned().chain(inside).collect();
    let look = |variants: &[Variant], shapes: &[Shape], after: After, calls: &'static [Call]| {
        let all = variants.iter().flat_map(|variant| shapes.iter().map(move |shape| (variant, shape)));
        all.into_iter().find_map(|(variant, shape)| {
            let (shape, settings) = (shape.clone(), variant.settings.clone());
            let shown = Shown { shape, settings, after, text: String::new(), calls };
            let text = shown.render(renderings)?;
            let text = frame.turn_of(&text).to_owned();
            is_shown(&text, &shown.shape).then(|| Shown { text, ..shown })
        })
    };
    let (first, switched) = frame.variants.split_at(frame.variants.len().min(2));
    let ways = [(After::Nothing, &[][..]), (After::Question, &[]), (After::Result, CALL), (After::Nothing, CALL)];
    let shown = ways.into_iter().find_map(|(after, calls)| look(first, &shapes, after, calls));
    // Some templates keep thoughts only with a certain switch.
    if let Some(shown) = shown.or_else(|| look(switched, SHAPES, After::Nothing, &[])) {
        return Some(shown);
    }
    frame.variants.iter().take(2).find_map(|variant| before_call(renderings, frame, &variant.settings, &shapes))
}

/// Looks for a thought in a turn with a call and no answer, for templates that write thoughts nowhere else. In the returned text,
/// an answer replaces the call.
fn before_call(renderings: &Renderings<'_>, frame: &Frame, settings: &Settings, shapes: &[Shape]) -> Option<Shown> {
    let turn = Turn { content: Content::Null, calls: CALL, ..Turn::ANSWER };
    let plain = renderings.turn(&turn, settings)?;
    let plain = frame.turn_of(&plain);
    let before = plain[..plain.find(ONE.name)?].trim_start();
    shapes.iter().filter(|shape| !matches!(shape, Shape::Inside(..))).find_map(|shape| {
        let text = renderings.turn(&Turn { thought: Some(shape), ..turn.clone() }, settings)?;
        let text = frame.turn_of(&text);
        let thought = text.find(THOUGHT)? + THOUGHT.len();
        let between = text[thought..thought + text[thought..].find(ONE.name)?].strip_suffix(before)?;
        let text = [&text[..thought], between, ANSWER].concat();
        let shown = Shown { shape: shape.clone(), settings: settings.clone(), after: After::Nothing, text, calls: &[] };
        is_shown(&shown.text, shape).then_some(shown)
    })
}

/// Returns whether a turn has the thought, the answer after it, and a closer between them. A template writes an unknown part of the
/// content as a value, which does not count.
fn is_shown(text: &str, shape: &Shape) -> bool {
    let Some((before, mid, _)) = around(text) else { return false };
    let is_value = before.ends_with(['\'', '"']) || mid.starts_with(['\'', '"']);
    let is_verbatim = matches!(shape, Shape::Inside(open, close) if before.ends_with(open.as_str()) && mid == close);
    !mid.trim().is_empty() && !is_value && !is_verbatim
}

/// Returns the text before the thought, between thought and answer, and after the answer.
fn around(text: &str) -> Option<(&str, &str, &str)> {
    let at = text.find(THOUGHT)?;
    let rest = &text[at + THOUGHT.len()..];
    let answer = rest.find(ANSWER)?;
    Some((&text[..at], &rest[..answer], &rest[answer + ANSWER.len()..]))
}

fn from_turn(frame: &mut Frame, text: &str, sketch: &mut Sketch) {
    let Some((before, mid, after)) = around(text) else { return };
    // If the turn has a call too, the call may precede the answer.
    let is_between = mid.contains(ONE.name);
    let (mid, after) = if is_between {
        let end = before_name(mid);
        (&mid[..end], "")
    } else {
        (mid, after)
    };
    let (before_close, inner, after_close) = trimmed(mid);
    // If the text between thought and answer begins with a marker, the marker is the closer, and the opener of the answer's
    // wrapper may follow.
    let close_len = marker(inner).unwrap_or(inner.len());
    let (close, rest) = inner.split_at(close_len);
    let (between, wrapper, _) = trimmed(rest);
    let is_wrapper = marker(wrapper).is_some() && !is_between;
    let close = if wrapper.is_empty() || is_wrapper { close } else { inner };
    let after_close = if is_wrapper { between } else { after_close };
    let (before_open, opener, after_open) = trimmed(before);
    let mut thinking = Thinking {
        before_open: if opener.is_empty() { String::new() } else { before_open.to_owned() },
        open: opener.to_owned(),
        close: close.to_owned(),
        after_open: after_open.to_owned(),
        before_close: before_close.to_owned(),
        after_close: after_close.to_owned(),
        // If the closer is prose, the opener may be prose too.
        leads: opener_of(close).is_none(),
    };
    if opener.is_empty() {
        find_opener(frame, &mut thinking, sketch);
    }
    if thinking.open.is_empty() {
        return sketch.doubt(format!("a thought ends with `{close}`, and nothing opens it"));
    }
    label(&mut thinking);
    thinking.leads = marker(&thinking.open).is_none();
    if is_wrapper {
        wrap(frame, wrapper, leading_marker(after).unwrap_or_default(), sketch);
    }
    sketch.thinking = Some(thinking);
    if !is_wrapper && !is_between {
        wrapper_of_answer(frame, sketch);
    }
}

/// Returns the end of the first marker of a text, or the beginning of the call's name.
fn before_name(text: &str) -> usize {
    let blanks = text.len() - text.trim_start().len();
    marker(&text[blanks..]).map_or_else(|| text.find(ONE.name).unwrap_or(text.len()), |len| blanks + len)
}

/// Notes the wrapper of the answer. Its closer does not end a turn.
fn wrap(frame: &mut Frame, open: &str, close: &str, sketch: &mut Sketch) {
    if close.is_empty() || open == close {
        return sketch
            .doubt(format!("`{open}` comes before an answer, and nothing after it was seen: it is left in the text"));
    }
    sketch.wrapper = Some([open.to_owned(), close.to_owned()]);
    if frame.ends.first().is_some_and(|end| end == close) {
        frame.ends.remove(0);
        let rest = [&frame.answer, &frame.answered].into_iter().find_map(|text| {
            let after = &text[text.find(ANSWER)? + ANSWER.len()..];
            let rest = after.trim_start().strip_prefix(close)?;
            leading_marker(rest).map(str::to_owned)
        });
        frame.ends.extend(rest);
    }
}

/// Finds the wrapper of the answer in a turn without a thought: markers before the answer that do not close thinking.
fn wrapper_of_answer(frame: &mut Frame, sketch: &mut Sketch) {
    let answer = frame.turn_of(&frame.answer).to_owned();
    let Some((before, after)) = answer.split_once(ANSWER) else { return };
    let close = sketch.thinking.as_ref().map(|thinking| thinking.close.as_str());
    let before = close.and_then(|close| before.rfind(close).map(|at| &before[at + close.len()..])).unwrap_or(before);
    let open = before.trim();
    if marker(open).is_some() && sketch.thinking.as_ref().is_none_or(|thinking| !open.starts_with(&thinking.open)) {
        wrap(frame, open, leading_marker(after).unwrap_or_default(), sketch);
    }
}

/// Finds the opener if a turn shows none before the thought: in the common beginning of all turns, in the prompt, or from the
/// spelling of the closer. Blanks before the thought are framing.
fn find_opener(frame: &mut Frame, thinking: &mut Thinking, sketch: &mut Sketch) {
    let expected = opener_of(&thinking.close);
    let of_role = expected.as_ref().and_then(|expected| {
        let at = frame.role.rfind(expected.as_str())?;
        let (_, word, _) = trimmed(&frame.role[at + expected.len()..]);
        word.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(at)
    });
    if let Some(at) = of_role {
        let (_, open, after) = trimmed(&frame.role[at..]);
        thinking.after_open = [after, &thinking.after_open].concat();
        thinking.open = open.to_owned();
        return frame.cut_role(at);
    }
    for index in 0..frame.variants.len() {
        let begun = frame.begun(&frame.variants[index]);
        if begun.len() > LONGEST {
            continue;
        }
        let begun = begun.find(thinking.close.as_str()).map_or(begun.as_str(), |at| &begun[..at]);
        let (_, open, after) = trimmed(begun);
        if !open.is_empty() && (marker(open).is_some() || thinking.leads) {
            open.clone_into(&mut thinking.open);
            after.clone_into(&mut thinking.after_open);
            return;
        }
    }
    if let Some(expected) = expected {
        sketch.doubt(format!("no opener of the thinking was seen: `{expected}` is that of its closer"));
        thinking.open = expected;
    }
}

/// Splits a word off an opener (`<|channel>thought`): only the marker is the opener, and the word is framing.
fn label(thinking: &mut Thinking) {
    let Some(len) = marker(&thinking.open).filter(|len| *len < thinking.open.len()) else { return };
    let word = &thinking.open[len..];
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !thinking.after_open.is_empty() {
        thinking.after_open = [word, &thinking.after_open].concat();
        thinking.open.truncate(len);
    }
}

/// The longest text with which a prompt begins a turn, in bytes. A longer text is an instruction.
const LONGEST: usize = 256;

/// Finds the markers of the thinking if no turn shows a thought.
fn from_prompts(renderings: &Renderings<'_>, frame: &mut Frame, closers: &[String], sketch: &mut Sketch) {
    let begun = frame.variants.iter().map(|variant| frame.begun(variant));
    let begun: Vec<String> = begun.filter(|text| text.len() <= LONGEST).collect();
    // If a template removes the text up to a closer, that text is a thought.
    let taken = closers.iter().find(|close| {
        let Some(open) = opener_of(close) else { return false };
        let shape = Shape::Inside(open, (*close).clone());
        [After::Nothing, After::Question, After::Turn].into_iter().any(|after| {
            let turn = Turn { thought: Some(&shape), after, content: Content::Answer, ..Turn::ANSWER };
            let text = renderings.turn(&turn, frame.plain());
            text.is_some_and(|text| text.contains(ANSWER) && !text.contains(THOUGHT))
        })
    });
    let closed = begun.iter().find_map(|text| {
        let close = markers(text).into_iter().find(|range| is_closer(&text[range.clone()]))?;
        let (before, close) = (text[..close.start].trim(), &text[close]);
        let is_pair = opener_of(close).is_some_and(|open| before.starts_with(&open));
        (before.is_empty() || is_pair).then(|| close.to_owned())
    });
    let opened = begun.iter().find_map(|text| {
        let (_, open, after) = trimmed(text);
        let is_open = marker(open) == Some(open.len()) && !is_closer(open);
        is_open.then(|| (open.to_owned(), after.to_owned()))
    });
    let close = taken.cloned().or(closed);
    let Some(close) = close.or_else(|| closer_of(&opened.as_ref()?.0)) else { return };
    let mut thinking = Thinking { close, ..Thinking::default() };
    find_opener(frame, &mut thinking, sketch);
    if thinking.open.is_empty() {
        return;
    }
    label(&mut thinking);
    sketch.doubt("no turn shows a thought: the line breaks around the closer are not known");
    sketch.thinking = Some(thinking);
    wrapper_of_answer(frame, sketch);
}

fn closer_of(open: &str) -> Option<String> {
    let rest = open.strip_prefix('<').filter(|rest| !rest.starts_with(['|', '｜'])).map(|rest| ["</", rest].concat());
    rest.or_else(|| open.strip_prefix('[').map(|rest| ["[/", rest].concat()))
        .or_else(|| open.strip_prefix('◁').map(|rest| ["◁/", rest].concat()))
        .or_else(|| open.contains("START").then(|| open.replacen("START", "END", 1)))
}
