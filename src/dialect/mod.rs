//! Dialects: a TOML file is read (`schema`), refused if it cannot work (`check`, `ambiguity`), compiled to the matcher's tables
//! (`compile`, `markers`), and found by name (`catalogue`) or by model (`model_search`). `prompt` finds where the model's turn
//! begins in a prompt. No code of this module runs while a stream is read.

mod ambiguity;
mod calls;
pub(crate) mod catalogue;
mod check;
mod compile;
pub(crate) mod compiled;
mod fault;
mod markers;
mod model_names;
mod model_search;
mod model_table;
mod prompt;
mod quoted;
pub(crate) mod schema;
mod spelling;

use std::{fmt, sync::Arc};

use crate::channel::{Channel, Start};
use crate::file_error::FileError;
#[cfg(feature = "c-api")]
pub(crate) use catalogue::{COUNT, c_name, starts};
pub use catalogue::{KnownModel, UnknownDialect, UnknownModel};
pub(crate) use catalogue::{find, find_for_model};
use compiled::{Compiled, Labels};
pub(crate) use markers::BREAK;
pub(crate) use quoted::quoted;

/// The markers and rules of a model family, ready for scanners. A dialect never changes, can be shared between threads, and is
/// cheap to clone.
///
/// ```
/// let dialect = aside::Dialect::find("qwen3")?;
/// assert_eq!(dialect.name(), "qwen3");
///
/// let own = aside::Dialect::load(r#"
///     name = "mine"
///     [[span]]
///     channel = "thinking"
///     open = ["[[think]]"]
///     close = ["[[/think]]"]
/// "#)?;
/// assert_eq!(own.strip("[[think]]hm[[/think]] Yes.")?, b"Yes.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Dialect {
    pub(crate) compiled: Arc<Compiled>,
    /// The start according to the file, or to the model pattern by which the dialect was found.
    start: Start,
}

impl Dialect {
    /// Returns the built-in dialect of this name or alias. Only the first call for a dialect, which loads it, allocates
    /// memory.
    ///
    /// # Errors
    ///
    /// [`UnknownDialect`], which names the nearest dialects.
    #[doc(alias = "aside_dialect_find")]
    pub fn find(name: &str) -> Result<Dialect, UnknownDialect> {
        find(name.as_bytes()).map(|place| Dialect::built_in(place, None))
    }

    /// Returns the built-in dialect that a model of this name writes. The name may be the one that a hub, a registry or an API
    /// uses, or a file's path, in upper or lower case. Owner, size, format and quantisation do not matter, but a point release
    /// that no dialect lists is unknown: the error names the nearest known models.
    ///
    /// The start is that of this model, if the dialect's file has a start for this model: see `start`. It is the content if the
    /// name shows that the model does not think (`…-nothink`, `…-instant`). For a model that writes tool calls and no thinking,
    /// the dialect of the calls is returned. Memory is allocated as in `find`.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Start};
    ///
    /// let dialect = Dialect::find_for_model("unsloth/Qwen3-32B-GGUF:Q4_K_M")?;
    /// assert_eq!(dialect.name(), "qwen3");
    /// let dialect = Dialect::find_for_model("moonshotai/Kimi-K2.5")?;
    /// assert_eq!((dialect.name(), dialect.start()), ("kimi-k2", Start::Channel(Channel::Thinking)));
    ///
    /// let error = Dialect::find_for_model("qwen3.9-32b").unwrap_err();
    /// assert!(error.to_string().contains("its elder qwen3.8 writes qwen3-thinking"));
    /// # Ok::<(), aside::UnknownModel>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`UnknownModel`], which names the nearest models.
    #[doc(alias = "aside_dialect_find_for_model")]
    pub fn find_for_model(model: &str) -> Result<Dialect, UnknownModel> {
        find_for_model(model.as_bytes()).map(|(place, start)| Dialect::built_in(place, start))
    }

    /// Loads the built-in dialects of these names or aliases, so that finding one of them later allocates no memory. A host
    /// calls this at its start; `Dialect::preload(Dialect::names())` loads all. Without enough memory, loading may end the
    /// process.
    ///
    /// # Errors
    ///
    /// [`UnknownDialect`] for the first unknown name. The dialects before it are loaded.
    ///
    /// ```
    /// aside::Dialect::preload(["qwen3", "harmony"])?;
    /// # Ok::<(), aside::UnknownDialect>(())
    /// ```
    #[doc(alias = "aside_dialect_preload")]
    pub fn preload<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), UnknownDialect> {
        names.into_iter().try_for_each(|name| Dialect::find(name).map(|_| ()))
    }

    /// Returns the names of the built-in dialects, in alphabetical order.
    #[doc(alias = "aside_dialect_name_at")]
    pub fn names() -> impl Iterator<Item = &'static str> {
        catalogue::names()
    }

    /// Returns the name of each built-in dialect, its start and its aliases, without loading it.
    #[doc(hidden)] // For the program's list.
    pub fn listed() -> impl Iterator<Item = (&'static str, Start, &'static [&'static str])> {
        catalogue::listed()
    }

    /// Returns the beginnings of names by which [`Dialect::find_for_model`] recognises a model, for a shell's completions.
    ///
    /// ```
    /// assert!(aside::Dialect::models().all(|model| aside::Dialect::find_for_model(model).is_ok()));
    /// ```
    pub fn models() -> impl Iterator<Item = &'static str> {
        catalogue::models()
    }

    /// Reads a dialect file. The form of its `[[example]]`s is checked, but they are not run.
    ///
    /// # Errors
    ///
    /// [`FileError`], which describes the fault and its place.
    #[doc(alias = "aside_dialect_load")]
    pub fn load(text: &str) -> Result<Dialect, FileError> {
        Ok(Dialect::new(Arc::new(compile::from_toml(text, false)?)))
    }

    fn new(compiled: Arc<Compiled>) -> Dialect {
        Dialect { start: compiled.start, compiled }
    }

    /// Returns the built-in dialect with this index in `names`, with the start of a model pattern, or with its own start. Loads
    /// it if needed.
    pub(crate) fn built_in(place: usize, start: Option<Start>) -> Dialect {
        let compiled = catalogue::compiled(place);
        Dialect { start: start.unwrap_or(compiled.start), compiled: compiled.clone() }
    }

    /// Returns the start of the dialect that `built_in` returns.
    #[cfg(feature = "c-api")]
    pub(crate) fn built_in_start(place: usize, start: Option<Start>) -> Start {
        start.unwrap_or_else(|| catalogue::start(place))
    }

    /// Returns the name in the dialect's file.
    #[doc(alias = "aside_dialect_name")]
    #[must_use]
    pub fn name(&self) -> &str {
        &self.compiled.name
    }

    /// Returns the dialect's other names, which are those of families that write the same bytes.
    #[must_use]
    pub fn aliases(&self) -> &[String] {
        &self.compiled.aliases
    }

    /// Returns the span that is open at byte 0, unless the scanner's options set another start. For a dialect from
    /// `find_for_model`, it is the file's start for that model; otherwise, the file's general start.
    #[doc(alias = "aside_dialect_start")]
    #[must_use]
    pub fn start(&self) -> Start {
        self.start
    }

    /// Returns the family of an `Open` event's rule: the `family` of its span or header, or else the dialect's name.
    /// Returns `None` if there is no such rule.
    #[doc(alias = "aside_dialect_family")]
    #[must_use]
    pub fn family(&self, rule: u32) -> Option<&str> {
        Some(&self.labels(rule)?.family)
    }

    /// Returns the text of the opener that an `Open` event's rule and tag identify, as in the file: the literal, the tag's
    /// name, the fence's info string, or the beginning of the header (the first one, if the header's beginning was missing).
    /// The [tags of other families](crate::ScannerOptions::leading_tags) are the last openers of the first thinking rule.
    /// Returns `None` if there is no such rule or tag.
    ///
    /// ```
    /// let dialect = aside::Dialect::find("harmony")?;
    /// assert_eq!(dialect.family(0), Some("harmony"));
    /// assert_eq!(dialect.opener(0, 1), Some("<|channel|>"));
    /// assert_eq!(dialect.opener(0, 99), None);
    /// # Ok::<(), aside::UnknownDialect>(())
    /// ```
    #[doc(alias = "aside_dialect_opener")]
    #[must_use]
    pub fn opener(&self, rule: u32, tag: u32) -> Option<&str> {
        let tag = usize::try_from(tag).ok()?;
        self.labels(rule)?.openers.get(tag).map(String::as_str)
    }

    fn labels(&self, rule: u32) -> Option<&Labels> {
        self.compiled.labels.get(usize::try_from(rule).ok()?)
    }

    /// Returns whether the dialect describes the form of calls, so that an answer or a rewriter can turn them into
    /// `tool_calls`.
    ///
    /// ```
    /// assert!(aside::Dialect::find("qwen3")?.has_calls());
    /// assert!(!aside::Dialect::find("inline-think")?.has_calls());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has_calls(&self) -> bool {
        !self.compiled.calls.is_empty()
    }

    /// Returns the maximum number of bytes that a scanner of this dialect holds back.
    #[doc(alias = "aside_dialect_max_hold")]
    #[must_use]
    pub fn max_hold(&self) -> usize {
        self.compiled.max_hold
    }
}

impl fmt::Debug for Dialect {
    /// Writes the name; with `{:#?}`, also the table for finding markers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return write!(f, "{}\n{:?}", self.name(), self.compiled.automaton);
        }
        f.debug_tuple("Dialect").field(&self.name()).finish()
    }
}
