//! What a dialect is: its TOML file read (`model`), refused where it cannot work (`check`), compiled to the scanner's
//! tables (`compile`, `candidates`, `markers`, `tables`; `calm` for plain text, in which `few` looks for bytes), and found
//! by name (`catalogue`) or by model (`models`, `template`); and where the model's turn begins in a prompt (`prompt`). How
//! bytes become a marker is here too: `starts` says where one may begin, `attempt` reads on, `lines` follows code fences.

pub(crate) mod attempt;
pub(crate) mod calm;
mod candidates;
mod catalogue;
mod check;
mod compile;
mod error;
mod few;
pub(crate) mod lines;
mod markers;
mod model;
mod models;
mod prompt;
pub(crate) mod starts;
pub(crate) mod tables;
mod template;

use alloc::{string::String, sync::Arc};
use core::{fmt, str::FromStr};

use serde::Deserialize;

pub use catalogue::{UnknownDialect, UnknownModel, UnknownTemplate};
pub use error::DialectError;
pub(crate) use markers::BREAK;
use tables::Tables;

/// Whom a stretch of the stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Channel {
    /// What the model says.
    Content = 0,
    /// What it thinks; APIs call the field `reasoning_content`, `reasoning` or `thinking`.
    Thinking = 1,
    /// What it tells the user on the way to the answer.
    Narration = 2,
    /// A tool call, for the host's own tool parser.
    Tool = 3,
}

impl Channel {
    /// All of them, in the order of their numbers.
    pub const ALL: [Channel; 4] = [Channel::Content, Channel::Thinking, Channel::Narration, Channel::Tool];

    /// The channel's name: `content`, `thinking`, `narration` or `tool`.
    pub fn as_str(self) -> &'static str {
        ["content", "thinking", "narration", "tool"][self as usize]
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What is open at byte 0 of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum Start {
    /// A span of this channel; `Content` is no span at all.
    Channel(Channel),
    /// A message header, of a dialect that has them.
    Header,
}

impl Start {
    /// The name that `parse` reads: a channel's, or `header`.
    pub fn as_str(self) -> &'static str {
        match self {
            Start::Channel(channel) => channel.as_str(),
            Start::Header => "header",
        }
    }
}

/// A name that is neither a channel's nor `header`.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownStart(String);

impl FromStr for Start {
    type Err = UnknownStart;

    fn from_str(name: &str) -> Result<Start, UnknownStart> {
        let channel = Channel::ALL.into_iter().find(|channel| channel.as_str() == name);
        match (channel, name) {
            (Some(channel), _) => Ok(Start::Channel(channel)),
            (None, "header") => Ok(Start::Header),
            _ => Err(UnknownStart(name.into())),
        }
    }
}

impl TryFrom<String> for Start {
    type Error = UnknownStart;

    fn try_from(name: String) -> Result<Start, UnknownStart> {
        name.parse()
    }
}

impl fmt::Display for UnknownStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is none of content, thinking, narration, tool, header", self.0.escape_debug())
    }
}

impl core::error::Error for UnknownStart {}

/// A model family's markers and rules, ready for scanners: immutable, shared between threads, cheap to clone.
///
/// ```
/// let dialect = aside::Dialect::find("qwen3")?;
/// assert_eq!(dialect.name(), "qwen3");
///
/// let own = aside::Dialect::from_toml(r#"
///     name = "mine"
///     [[span]]
///     channel = "thinking"
///     open = ["[[think]]"]
///     close = ["[[/think]]"]
/// "#)?;
/// assert_eq!(aside::strip(&own, b"[[think]]hm[[/think]] Yes.")?, b"Yes.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Dialect {
    pub(crate) tables: Arc<Tables>,
}

impl Dialect {
    /// The built-in dialect of this name or alias.
    pub fn find(name: &str) -> Result<Dialect, UnknownDialect> {
        catalogue::find(name)
    }

    /// The built-in dialect that a model of this name writes: of a hub, a registry or an interface, or a file's path,
    /// in any case. Owner, size, format and quantisation do not matter.
    ///
    /// ```
    /// let dialect = aside::Dialect::find_for_model("unsloth/Qwen3-32B-GGUF:Q4_K_M")?;
    /// assert_eq!(dialect.name(), "qwen3");
    /// assert!(aside::Dialect::find_for_model("llama-3.1-8b-instruct").is_err());
    /// # Ok::<(), aside::UnknownModel>(())
    /// ```
    pub fn find_for_model(model: &str) -> Result<Dialect, UnknownModel> {
        catalogue::find_for_model(model)
    }

    /// The built-in dialect that a chat template is written for, and where generation starts behind its generation
    /// prompt: inside the thinking where a branch of it opens that and leaves it open. Read from the markers in its text
    /// and the framing around them; the template is not run. Where it fits several dialects equally well, the error
    /// lists them.
    ///
    /// ```
    /// use aside::{Channel, Dialect, Start};
    ///
    /// let template = r"{% if add_generation_prompt %}{{ '<|turn>model\n<|channel>' }}{% endif %}";
    /// let (dialect, start) = Dialect::find_for_template(template)?;
    /// assert_eq!((dialect.name(), start), ("gemma-4", Start::Channel(Channel::Thinking)));
    /// # Ok::<(), aside::UnknownTemplate>(())
    /// ```
    pub fn find_for_template(template: &str) -> Result<(Dialect, Start), UnknownTemplate> {
        catalogue::find_for_template(template)
    }

    /// The names of the built-in dialects, in alphabetical order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        catalogue::names()
    }

    /// Reads a dialect file. Its `[[example]]`s are checked for their form, not run.
    pub fn from_toml(text: &str) -> Result<Dialect, DialectError> {
        let model = error::read(text)?;
        let tables = compile::compile(&model).map_err(|fault| fault.locate(text))?;
        Ok(Dialect { tables: Arc::new(tables) })
    }

    /// The name that its file gives it.
    pub fn name(&self) -> &str {
        &self.tables.name
    }

    /// Its other names: models that write the same bytes.
    pub fn aliases(&self) -> &[String] {
        &self.tables.aliases
    }

    /// What is open at byte 0, where the scanner's options do not say otherwise.
    pub fn start(&self) -> Start {
        self.tables.start
    }

    /// The family of an `Open` event's rule: what its span or the header names as its `family`, or else the dialect's
    /// name. None where there is no such rule.
    pub fn family(&self, rule: u32) -> Option<&str> {
        Some(&self.words(rule)?.family)
    }

    /// What an `Open` event's rule and tag stand for, as the file has it: the literal, the tag's name, the fence's info
    /// string, the beginning of the header (the first one, where a header begins with none).
    ///
    /// ```
    /// let dialect = aside::Dialect::find("harmony")?;
    /// assert_eq!(dialect.family(0), Some("harmony"));
    /// assert_eq!(dialect.opener(0, 1), Some("<|channel|>"));
    /// assert_eq!(dialect.opener(0, 2), None);
    /// # Ok::<(), aside::UnknownDialect>(())
    /// ```
    pub fn opener(&self, rule: u32, tag: u32) -> Option<&str> {
        let tag = usize::try_from(tag).ok()?;
        self.words(rule)?.openers.get(tag).map(String::as_str)
    }

    fn words(&self, rule: u32) -> Option<&tables::Words> {
        self.tables.words.get(usize::try_from(rule).ok()?)
    }

    /// The most bytes that a scanner holds back for what may come.
    pub fn max_hold(&self) -> usize {
        self.tables.max_hold
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dialect").field(&self.name()).finish()
    }
}
