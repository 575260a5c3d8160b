//! Drafts a dialect from a chat template. The template is rendered for conversations that differ in one thing (`probes`,
//! `renderings`); the differences show the text around turns (`frame`), thoughts (`thinking`) and calls (`calls`, `bodies`). If
//! turns do not show these, the system prompt may describe them (`instructions`). The result (`sketch`) is written as a dialect
//! file (`file`) with the turns as its examples (`examples`). The file is for a person to correct: each fact that no turn showed is
//! a doubt, written as a comment.

mod bodies;
mod caller;
mod calls;
mod examples;
mod file;
mod frame;
mod gguf;
mod input;
mod instructions;
mod probes;
mod renderings;
mod sketch;
mod texts;
mod thinking;

use std::fmt;

use crate::Dialect;
use crate::template::render::{Jinja, prepared};
use caller::Caller;
use examples::Example;
use file::Way;
use frame::Frame;
use probes::{ANSWER, After, Call, Content, NO_ARGUMENT, ONE, RESULT, SECOND, THOUGHT, TWO_ARGUMENTS, Turn};
use renderings::Renderings;
use sketch::Sketch;
use thinking::Shown;

/// A dialect that was drafted from a chat template.
///
/// [`Dialect::draft`] makes it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Draft {
    /// The dialect file: for a person to read, to correct and to keep.
    pub toml: String,
    /// The dialect that the file describes.
    pub dialect: Dialect,
    /// The parts that the template did not show, and the assumptions in their place: a line for each. The file has the same lines
    /// as comments.
    pub doubts: Vec<String>,
}

/// The error of a template from which no dialect can be drafted: it cannot be rendered, its turns show neither thinking nor
/// calls, or its spans are headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftError(String);

impl fmt::Display for DraftError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DraftError {}

/// A chat template, and further data of its checkpoint, which may be unknown.
///
/// ```
/// let template = aside::ChatTemplate { name: Some("mine".to_owned()), ..aside::ChatTemplate::new("{{ messages[0].content }}") };
/// assert!(aside::Dialect::draft(&template).is_err());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatTemplate {
    /// The template, in Jinja.
    pub text: String,
    /// The name of the dialect. By default it is `draft`.
    pub name: Option<String>,
    /// The text of `bos_token`, if it is known.
    pub begin_of_text: Option<String>,
    /// The text of `eos_token`, if it is known.
    pub end_of_text: Option<String>,
    /// The special tokens of the vocabulary: markers that are special tokens are `special` in the file.
    pub special: Vec<String>,
}

impl ChatTemplate {
    /// Returns a template without further data.
    #[must_use]
    pub fn new(text: impl Into<String>) -> ChatTemplate {
        ChatTemplate { text: text.into(), ..ChatTemplate::default() }
    }
}

impl Dialect {
    /// Drafts a dialect from a chat template, for a model that has none: the template is rendered for conversations that differ
    /// in one thing, and the differences show the text around thoughts, answers and calls.
    ///
    /// The draft is a dialect file with examples. The examples are the rendered turns. An example that the dialect does not read as
    /// the template wrote it is a doubt, and so is every fact that no turn shows. A template shows what a model was trained to write,
    /// and not the mistakes that it makes: a person must add those.
    ///
    /// A template may be hostile, so rendering it is bounded in time, depth and memory.
    ///
    /// ```
    /// use aside::{ChatTemplate, Dialect};
    ///
    /// let template = "{% for message in messages %}<|im_start|>{{ message.role }}\n\
    ///     {% if message.reasoning %}<reflect>{{ message.reasoning }}</reflect>\n{% endif %}\
    ///     {{ message.content }}<|im_end|>\n{% endfor %}\
    ///     {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
    /// let draft = Dialect::draft(&ChatTemplate::new(template))?;
    /// assert_eq!(draft.dialect.strip("<reflect>hm</reflect>\nYes.<|im_end|>")?, "Yes.".as_bytes());
    /// assert_eq!(draft.doubts, ["no calls were seen"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`DraftError`]; its message says why. Templates whose messages have headers (gpt-oss and others) are refused: no difference
    /// between two renderings shows a header's keys.
    pub fn draft(template: &ChatTemplate) -> Result<Draft, DraftError> {
        draft(template)
    }
}

pub(crate) fn draft(template: &ChatTemplate) -> Result<Draft, DraftError> {
    let error = |why: &dyn fmt::Display| DraftError(format!("the template cannot be rendered: {why}"));
    let source = prepared(&template.text).map_err(|why| error(&why))?;
    let jinja = Jinja::new(&source, renderings::FUEL, renderings::LONGEST_TEXT).map_err(|why| error(&why))?;
    let begin = template.begin_of_text.as_deref().unwrap_or(probes::BEGIN_OF_TEXT);
    let end = template.end_of_text.as_deref().unwrap_or(probes::END_OF_TEXT);
    let renderings = Renderings::new(&jinja, begin, end);
    // Variables that the template also sets, to themselves or to a default, are missing from this list.
    let mut variables = jinja.variables();
    let switches = probes::SWITCHES.iter().map(|(name, ..)| *name).filter(|name| template.text.contains(name));
    variables.extend(
        switches.filter(|name| !variables.iter().any(|known| known == name)).map(str::to_owned).collect::<Vec<_>>(),
    );
    let frame = Frame::find(&renderings, &variables);
    let mut frame = frame.ok_or_else(|| match renderings.refusal() {
        Some(why) => error(&why),
        None => DraftError("its turns do not show an answer".to_owned()),
    })?;
    let mut sketch = Sketch::default();
    let shown = thinking::find(&renderings, &mut frame, &template.text, &mut sketch).map_err(|role| {
        let why = "its spans are headers, which no difference of two renderings shows: write this dialect by hand";
        DraftError(format!(
            "`{role}` comes again between a thought and the answer. Each is a message with a header; {why}"
        ))
    })?;
    if sketch.thinking.is_none() {
        instructions::thinking(&renderings, &frame, &mut sketch);
    }
    let caller = calls::find(&renderings, &frame, &mut sketch);
    if sketch.calls.as_ref().is_none_or(|region| region.open.is_empty())
        && let Some((region, doubt)) = instructions::calls(&renderings, &frame)
    {
        sketch.calls = Some(region);
        sketch.doubt(doubt);
    }
    if renderings.is_exhausted() {
        return Err(DraftError("the template takes more work than it may: it was not seen whole".to_owned()));
    }
    if sketch.thinking.is_none() && sketch.calls.is_none() {
        return Err(DraftError("its turns show no thinking and no calls".to_owned()));
    }
    finish(&mut sketch, &frame);
    let examples = examples_of(&renderings, &frame, shown.as_ref(), caller.as_ref(), &sketch);
    write(sketch, template, &examples)
}

/// Adds the texts of turns to the sketch, and the parts that were not seen.
fn finish(sketch: &mut Sketch, frame: &Frame) {
    sketch.turns = frame.turns(sketch.wrapper.as_ref().map(|[_, close]| close.as_str()));
    let of_calls = std::mem::take(&mut sketch.ends);
    for end in frame.ends.iter().cloned().chain(of_calls) {
        if !sketch.ends.contains(&end) {
            sketch.ends.push(end);
        }
    }
    if sketch.ends.iter().any(|end| end == probes::END_OF_TEXT) {
        sketch.ends.retain(|end| end != probes::END_OF_TEXT);
        sketch.doubt("a turn ends with `eos_token`, whose text the template does not have: add it to `drop`");
    }
    // The marker that begins calls does not end turns.
    let of_region = sketch.calls.iter().flat_map(|region| [region.open.clone(), region.close.clone()]);
    for marker in of_region.filter(|marker| !marker.is_empty()).collect::<Vec<_>>() {
        let begins = |end: &String| marker.starts_with(end.as_str());
        if sketch.ends.iter().any(begins) {
            sketch.doubt(format!("`{marker}` begins as a turn's end does, which is not in `drop` therefore"));
            sketch.ends.retain(|end| !begins(end));
        }
    }
    if sketch.thinking.is_none() {
        sketch.doubt("no thinking was seen");
    }
    if sketch.calls.is_none() {
        sketch.doubt("no calls were seen");
    }
}

/// Returns the turns that were used, as examples.
fn examples_of(
    renderings: &Renderings<'_>,
    frame: &Frame,
    shown: Option<&Shown>,
    caller: Option<&Caller<'_>>,
    sketch: &Sketch,
) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut add = |about: &str, text: &str, calls: &[Call]| {
        let (thinks, answers) = (text.contains(THOUGHT), text.contains(ANSWER));
        let input = until_end(text, frame, calls, &sketch.ends);
        examples.push(Example { about: about.to_owned(), input, thinks, answers, calls: calls.to_vec() });
    };
    match (shown, &sketch.thinking) {
        (Some(shown), Some(_)) if !shown.text.contains(RESULT) => add("the ordinary answer", &shown.text, shown.calls),
        (_, Some(thinking)) => {
            let wrapper = sketch.wrapper.clone().unwrap_or_default();
            let parts = [&thinking.open, &thinking.after_open, THOUGHT, &thinking.before_close, &thinking.close];
            let answer = [&thinking.after_close, &wrapper[0], ANSWER, &wrapper[1]];
            add("an answer with thinking", &[parts.concat(), answer.concat()].concat(), &[]);
        }
        _ => {}
    }
    add("an answer alone", frame.turn_of(&frame.answer), &[]);
    let Some(caller) = caller.filter(|_| sketch.calls.as_ref().is_some_and(|region| region.is_seen)) else {
        return examples;
    };
    let line_break = probes::VALUES[0].1;
    let turns: [(&str, &[Call]); 5] = [
        ("a call", &[ONE]),
        ("two calls", &[ONE, SECOND]),
        ("a call with two arguments", &[TWO_ARGUMENTS]),
        ("a call without arguments", &[NO_ARGUMENT]),
        ("a call with a line break in a value", &[line_break]),
    ];
    for (about, calls) in turns {
        if let Some(text) = caller.text(calls).filter(|text| calls.iter().all(|call| text.contains(call.name))) {
            add(about, &text, calls);
        }
    }
    if let Some(shown) = shown.filter(|shown| shown.calls.is_empty()) {
        let turn = Turn { content: Content::Empty, after: After::Nothing, ..caller.turn(&[ONE]) };
        let turn = Turn { thought: Some(&shown.shape), ..turn };
        let text = renderings.turn(&turn, &shown.settings).map(|text| frame.turn_of(&text).to_owned());
        if let Some(text) = text.filter(|text| text.contains(THOUGHT) && text.contains(ONE.name)) {
            add("a call after the thinking", &text, &[ONE]);
        }
    }
    examples
}

/// Returns a turn without the beginning of the next turn. The marker at the turn's end is included if the dialect drops it.
fn until_end(text: &str, frame: &Frame, calls: &[Call], dropped: &[String]) -> String {
    let words = [ANSWER, THOUGHT].into_iter().chain(calls.iter().map(|call| call.name));
    let last = words.filter_map(|word| text.rfind(word)).max().unwrap_or(0);
    let Some(at) = frame.end_in(&text[last..]).map(|at| last + at) else { return text.trim_end().to_owned() };
    let end = dropped.iter().find(|end| text[at..].starts_with(end.as_str())).map_or(0, String::len);
    text[..at + end].to_owned()
}

/// Writes the file. If the library refuses it, leaves parts out, and adds a doubt that names them.
fn write(mut sketch: Sketch, template: &ChatTemplate, examples: &[Example]) -> Result<Draft, DraftError> {
    let name = template.name.as_deref().unwrap_or("draft");
    let whole = Way { name, special: &template.special, guard: true, drops: true, wrapper: true, calls: true };
    let ways = [
        ("", whole),
        ("markers next to code (`guard`)", Way { guard: false, ..whole }),
        ("the ends of turns", Way { drops: false, ..whole }),
        ("what wraps the answer", Way { wrapper: false, ..whole }),
        ("the ends of turns, and what wraps the answer", Way { drops: false, wrapper: false, ..whole }),
        ("the calls", Way { calls: false, ..whole }),
        (
            "the calls, the ends of turns and what wraps the answer",
            Way { calls: false, drops: false, wrapper: false, ..whole },
        ),
    ];
    let mut fault = None;
    for (without, way) in ways {
        if sketch.thinking.is_none() && !way.calls {
            continue;
        }
        match Dialect::load(&file::write(&sketch, &way)) {
            Ok(dialect) => {
                if let Some(fault) = fault.filter(|_| !without.is_empty()) {
                    sketch.doubt(format!("{without}: left out, because the file would be refused ({fault})"));
                }
                let (examples, wrong) = examples::write(&dialect, examples);
                wrong.into_iter().for_each(|doubt| sketch.doubt(doubt));
                let toml = [file::write(&sketch, &way), examples].concat();
                return Ok(Draft { toml, dialect, doubts: sketch.doubts });
            }
            Err(error) => fault = fault.or(Some(error.to_string())),
        }
    }
    Err(DraftError(format!("these markers are not a dialect: {}", fault.unwrap_or_default())))
}
