//! Finds the dialect that a chat template is written for, and where generation starts after its generation prompt.
//!
//! A template is read but not run (`source`, `expression`), or, with the feature `templates`, rendered (`render`). Either
//! way the dialects' markers (`signatures`) are compared with the text that it writes (`score`). The scanner finds the start
//! of a stream after a rendered prompt; neither the scanner nor a dialect may depend on this module.

#[cfg(feature = "templates")]
mod compare;
mod expression;
pub(crate) mod marks;
#[cfg(feature = "templates")]
pub(crate) mod render;
#[cfg(feature = "templates")]
pub(crate) mod said;
mod score;
mod signatures;
mod source;
#[cfg(feature = "templates")]
mod syntax;
mod unnamed;
mod value;

use std::fmt;

use crate::memory::{OutOfMemory, append, copy_text, push};
use crate::recent::Recent;
use crate::{channel::Start, dialect::Dialect};
use score::{By, Candidate, Evidence, Scorer};
use source::Source;
use value::UNKNOWN;

type Found = Result<(Dialect, Start), UnknownTemplate>;

/// The templates that were read last, each with its dialect and start, or the reason why there is none.
static KNOWN: Recent<Found> = Recent::new(64, 64 << 10);

fn copied(found: &Found) -> Found {
    match found {
        Ok(found) => Ok(found.clone()),
        Err(error) => Err(error.copied()),
    }
}

impl Dialect {
    /// Returns the built-in dialect that a chat template (Jinja) is written for, and the start of generation after its
    /// prompt. It compares the markers that the template writes, and the framing around them.
    ///
    /// The template is read, never rendered. The results for the last 64 templates of up to 64 KiB are cached, so that a host
    /// may call this for each request. The start is for a generation prompt with default variables. A host that knows the
    /// variables of a request should call `find_for_rendered_template` (with the feature `templates`), or start its scanner
    /// after the prompt itself ([`Scanner::start_from_prompt`](crate::Scanner::start_from_prompt)).
    ///
    /// If the template fits several dialects equally well, and they are the same as far as its text shows, the first by name is
    /// returned. Otherwise the error lists them.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Start};
    ///
    /// let template = r"{% if add_generation_prompt %}{{ '<|turn>model\n<|channel>' }}{% endif %}";
    /// let (dialect, start) = Dialect::find_for_template(template)?;
    /// assert_eq!((dialect.name(), start), ("gemma-4", Start::Channel(Channel::Thinking)));
    /// # Ok::<(), aside::UnknownTemplate>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`UnknownTemplate`] if no dialect fits, if several do, or if memory has run out.
    #[doc(alias = "aside_dialect_find_for_template")]
    pub fn find_for_template(template: &str) -> Result<(Dialect, Start), UnknownTemplate> {
        KNOWN.recall(template, copied).unwrap_or_else(|| {
            let found = find(template, None);
            let is_kept = |copy: &Found| !matches!(copy, Err(error) if error.is_out_of_memory());
            KNOWN.keep(template, || Some(copied(&found)).filter(is_kept));
            found
        })
    }

    /// Renders a chat template, and returns the built-in dialect that it is written for, and the start of generation after
    /// the prompt of one request.
    ///
    /// `variables` is a JSON object with the template's variables for that request, such as `enable_thinking`,
    /// `reasoning_effort`, `tools` or `messages`. By default, there is one user message, `add_generation_prompt` is true, and
    /// `bos_token` and `eos_token` are placeholder texts. An empty text means an empty object.
    ///
    /// The start is found in the rendered prompt ([`Scanner::start_from_prompt`](crate::Scanner::start_from_prompt)), and the
    /// dialect in a rendered turn with a thought, an answer and a tool call. A template may be hostile, so its rendering is
    /// bounded in time, depth and memory.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Start};
    ///
    /// let template = "{% if add_generation_prompt %}<|turn>model\n\
    ///                 {% if enable_thinking %}<|channel>{% endif %}{% endif %}";
    /// let (_, start) = Dialect::find_for_rendered_template(template, "{}")?;
    /// assert_eq!(start, Start::Channel(Channel::Content));
    /// let (_, start) = Dialect::find_for_rendered_template(template, r#"{"enable_thinking": true}"#)?;
    /// assert_eq!(start, Start::Channel(Channel::Thinking));
    /// # Ok::<(), aside::UnknownTemplate>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`find_for_template`](Dialect::find_for_template). The same error if `variables` is not a JSON object, or if
    /// the template cannot be rendered with them, because it raises an exception, is not Jinja, or would exceed the bounds. The
    /// message says why.
    #[cfg(feature = "templates")]
    pub fn find_for_rendered_template(template: &str, variables: &str) -> Result<(Dialect, Start), UnknownTemplate> {
        let rendered =
            render::Rendered::with(template, variables).map_err(|why| UnknownTemplate(Reason::Variables(why)))?;
        find(template, Some(&rendered))
    }
}

#[cfg(not(feature = "templates"))]
mod render {
    /// Replaces `render::Rendered` if the feature is off. The type has no values, because nothing is rendered then.
    pub enum Rendered {}
}

fn find(template: &str, rendered: Option<&render::Rendered>) -> Result<(Dialect, Start), UnknownTemplate> {
    let source = Source::read(template)?;
    let (prompts, thinking_prompts) = (borrowed(&source.prompts)?, borrowed(&source.thinking_prompts)?);
    #[cfg_attr(not(feature = "templates"), allow(unused_mut))]
    let mut evidence = Evidence {
        source: &source.text,
        written: &source.written,
        call: "",
        thought: UNKNOWN,
        answer: UNKNOWN,
        prompts: &prompts,
        thinking_prompts: &thinking_prompts,
    };
    #[cfg(feature = "templates")]
    let rendered_prompts = rendered.map(render::Rendered::prompts);
    #[cfg(feature = "templates")]
    if let (Some(rendered), Some([prompt, thinking_prompt])) = (rendered, &rendered_prompts) {
        rendered.show(&mut evidence);
        (evidence.prompts, evidence.thinking_prompts) =
            (std::slice::from_ref(prompt), std::slice::from_ref(thinking_prompt));
    }
    // The dialect of a model that does not think is found by its calls: by the rendered call if possible, otherwise by the
    // template's markers.
    let candidate = best(By::Thinking, &evidence, |_| true)
        .or_else(|error| error.or_next(|| best(By::Calls, &evidence, |name| reads_call(name, rendered))))
        .or_else(|error| error.or_next(|| best(By::Calls, &evidence, |_| true)))?;
    check_named(candidate.signature, &evidence)?;
    // All candidates are built-in dialects, so the look-up cannot fail.
    let dialect = Dialect::find(candidate.signature.name).map_err(|_| UnknownTemplate(Reason::NoMarker))?;
    #[cfg(feature = "templates")]
    if let Some(rendered) = rendered {
        let start = rendered.start(&dialect)?;
        return Ok((dialect, start));
    }
    #[cfg(not(feature = "templates"))]
    let _ = rendered;
    Ok((dialect, candidate.start))
}

/// Refuses a dialect that lacks a marker of the template: the marker would silently be text.
fn check_named(found: &'static signatures::Signature, evidence: &Evidence) -> Result<(), UnknownTemplate> {
    let catalogue = signatures::catalogue();
    let scorer = Scorer::new(By::Calls, evidence, catalogue)?;
    let call = scorer.foreign_call(found);
    match unnamed::unnamed(found, catalogue, evidence, call, |needle| scorer.has(needle)) {
        Some(marker) => Err(UnknownTemplate(Reason::Unnamed(copy_text(marker)?, found.name))),
        None => Ok(()),
    }
}

fn borrowed(texts: &[String]) -> Result<Vec<&str>, OutOfMemory> {
    let mut list = Vec::new();
    for text in texts {
        push(&mut list, &**text)?;
    }
    Ok(list)
}

/// Returns whether a dialect reads the rendered call, if there is one.
#[cfg(feature = "templates")]
fn reads_call(name: &str, rendered: Option<&render::Rendered>) -> bool {
    let Some((rendered, call)) = rendered.and_then(|rendered| Some((rendered, rendered.call.as_ref()?))) else {
        return true;
    };
    Dialect::find(name).is_ok_and(|dialect| dialect.reads_call(rendered, call))
}

#[cfg(not(feature = "templates"))]
fn reads_call(_: &str, _: Option<&render::Rendered>) -> bool {
    true
}

/// Returns the dialect that fits best, among those for which `may_be` returns true.
fn best(by: By, evidence: &Evidence, may_be: impl Fn(&str) -> bool) -> Result<Candidate, UnknownTemplate> {
    let catalogue = signatures::catalogue();
    let scorer = Scorer::new(by, evidence, catalogue)?;
    let mut candidates: Vec<Candidate> = Vec::new();
    let scores = catalogue.families.iter().filter_map(|signature| scorer.score(signature));
    for candidate in scores.filter(|candidate| may_be(candidate.signature.name)) {
        match candidates.first().map(|best| best.rank().cmp(&candidate.rank())) {
            Some(std::cmp::Ordering::Greater) => continue,
            Some(std::cmp::Ordering::Less) => candidates.clear(),
            _ => {}
        }
        push(&mut candidates, candidate)?;
    }
    let Some(first) = candidates.first() else { return Err(UnknownTemplate(Reason::NoMarker)) };
    if candidates.iter().all(|candidate| scorer.are_alike(first.signature, candidate.signature)) {
        return Ok(*first);
    }
    let mut names = Vec::new();
    for candidate in &candidates {
        push(&mut names, candidate.signature.name)?;
    }
    Err(UnknownTemplate(Reason::Several(names)))
}

/// The error for a chat template without exactly one dialect: it has no marker of a built-in dialect, or fits several; it has a
/// marker that the nearest dialect lacks; its variables are wrong, or it cannot be rendered with them; or memory has run out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTemplate(Reason);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Reason {
    NoMarker,
    Several(Vec<&'static str>),
    /// A marker, and the dialect that lacks it.
    Unnamed(String, &'static str),
    #[cfg_attr(not(feature = "templates"), allow(dead_code))]
    Variables(String),
    OutOfMemory,
}

impl UnknownTemplate {
    /// Tries `next` if this error means that no dialect was found.
    fn or_next<T>(self, next: impl FnOnce() -> Result<T, UnknownTemplate>) -> Result<T, UnknownTemplate> {
        if self.0 == Reason::NoMarker { next() } else { Err(self) }
    }

    /// Returns a copy of the error, or the error that memory has run out.
    fn copied(&self) -> UnknownTemplate {
        let copied = match &self.0 {
            Reason::NoMarker => Ok(Reason::NoMarker),
            Reason::Several(names) => {
                let mut copy = Vec::new();
                append(&mut copy, names).map(|()| Reason::Several(copy))
            }
            Reason::Unnamed(marker, nearest) => copy_text(marker).map(|marker| Reason::Unnamed(marker, nearest)),
            Reason::Variables(why) => copy_text(why).map(Reason::Variables),
            Reason::OutOfMemory => Err(OutOfMemory),
        };
        copied.map_or_else(UnknownTemplate::from, UnknownTemplate)
    }

    /// Returns the dialects that fit equally well, in alphabetical order. There are none if the template has no marker.
    #[must_use]
    pub fn candidates(&self) -> &[&'static str] {
        match &self.0 {
            Reason::Several(names) => names,
            _ => &[],
        }
    }

    /// Returns the sign that the template belongs to a family without a dialect. It is a marker that the dialect with the
    /// template's other markers lacks: the beginning of an answer, or a text at which the template splits answers. If that
    /// dialect has only tags of the template, the sign is the role line. [`nearest`](UnknownTemplate::nearest) is the dialect
    /// that would otherwise be found.
    #[must_use]
    pub fn unnamed(&self) -> Option<&str> {
        match &self.0 {
            Reason::Unnamed(marker, _) => Some(marker),
            _ => None,
        }
    }

    /// Returns the dialect that has more of the template's markers than any other, if it lacks [`unnamed`](UnknownTemplate::unnamed).
    /// A host may decide to use it nevertheless.
    #[must_use]
    pub fn nearest(&self) -> Option<&'static str> {
        match &self.0 {
            Reason::Unnamed(_, nearest) => Some(nearest),
            _ => None,
        }
    }

    /// Returns whether an allocation was refused. If so, the template was not read to its end.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        self.0 == Reason::OutOfMemory
    }

    /// Returns whether the variables are not a JSON object, or the template cannot be rendered with them.
    #[must_use]
    pub fn is_of_variables(&self) -> bool {
        matches!(self.0, Reason::Variables(_))
    }
}

impl From<OutOfMemory> for UnknownTemplate {
    fn from(_: OutOfMemory) -> UnknownTemplate {
        UnknownTemplate(Reason::OutOfMemory)
    }
}

impl fmt::Display for UnknownTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::NoMarker => f.write_str("the template has the markers of no dialect"),
            Reason::Several(names) => {
                f.write_str("the template fits several dialects: ")?;
                for (index, name) in names.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    f.write_str(name)?;
                }
                Ok(())
            }
            Reason::Unnamed(marker, nearest) => {
                write!(
                    f,
                    "the template has `{}`, which no dialect has with its other markers: the nearest is {nearest}",
                    marker.escape_debug()
                )
            }
            Reason::Variables(why) => f.write_str(why),
            Reason::OutOfMemory => f.write_str("out of memory"),
        }
    }
}

impl std::error::Error for UnknownTemplate {}
