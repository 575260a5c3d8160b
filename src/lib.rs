//! Splits a language model's output, as it streams, into thinking, content, narration and tool calls.
//!
//! # The problem
//!
//! A model writes one stream of text, and marks the purpose of each part in it: `<think>` … `</think>`, code fences, message
//! headers, tags with attributes; each family of models does it in its own way. The stream arrives in chunks that are cut
//! anywhere, even in the middle of a marker or of a character. Code that searches each chunk for the markers shows thinking as
//! the answer, or loses bytes, as soon as a cut falls in the wrong place.
//!
//! A [`Scanner`] reads the stream by the rules of a [`Dialect`]. Chunking does not matter: the same text has the same result,
//! however it is cut. Every byte is in exactly one [`Event`]. Only bytes that could still become a marker are held back. Time
//! is linear, and memory bounded, for every input.
//!
//! # A program
//!
//! ```
//! use aside::{Channel, Dialect, Kind, Scanner};
//!
//! // By the name of a model; `Dialect::find` takes that of a dialect, `Dialect::load` a file of your own.
//! let dialect = Dialect::find_for_model("Qwen/Qwen3-32B")?;
//! let mut scanner = Scanner::new(&dialect);
//!
//! let (mut thinking, mut answer) = (Vec::new(), Vec::new());
//! let mut show = |event: aside::Event<'_>| match (event.kind, event.channel) {
//!     (Kind::Text, Channel::Thinking) => thinking.extend_from_slice(event.bytes),
//!     (Kind::Text, Channel::Content) => answer.extend_from_slice(event.bytes),
//!     _ => {}
//! };
//! for chunk in ["<th", "ink>\nTwice ", "21.\n</thi", "nk>\n\nIt is 4", "2."] {
//!     scanner.feed(chunk, &mut show)?;
//! }
//! scanner.finish(&mut show)?;
//!
//! assert_eq!(thinking, b"Twice 21.");
//! assert_eq!(answer, b"It is 42.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to go next
//!
//! | to | see |
//! |---|---|
//! | find the dialect of a model or of its chat template | [`Dialect::find_for_model`], [`Dialect::find_for_template`] |
//! | read an answer with its tool calls, as parts | [`answer::Answer`] |
//! | start where a rendered prompt ends | [`Scanner::start_from_prompt`] |
//! | limit the thinking, or collect whole thoughts | [`ScannerOptions`], [`Scanner::force_close`], [`Scanner::take_thought`] |
//! | feed the model's own tokens | [`Scanner::feed_tokens`] |
//! | stop between two events | [`Scanner::events`] |
//! | extract the answer from a whole text | [`Dialect::strip`] |
//! | write thinking, content and calls with their markers | [`Dialect::join`], [`JoinOptions::calls`] |
//! | keep markers out of a prompt | [`Dialect::escape`] |
//! | rewrite an OpenAI-style answer between server and client | [`sse::Rewriter`] |
//! | give a server the thinking of earlier turns under the name that it reads | [`history::rewrite`] |
#![cfg_attr(feature = "compress", doc = "| shorten what tools print before a model reads it | [`compress`] |")]
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `c-api` | yes | the C interface; without it the crate builds for targets that have no C, such as WebAssembly |
//! | `compress` | yes | the module `compress`; without it there are no regular expressions among the dependencies |
//! | `store` | no | the module `store`: a folder that keeps the whole texts of shortened ones |
//! | `templates` | no | `Dialect::find_for_rendered_template`, which renders a chat template with the variables of a request, and `Dialect::draft`, which drafts a dialect from one |

#![deny(unsafe_code, missing_docs, missing_debug_implementations)]
#![warn(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use
)]

pub mod answer;
// This module is public only for the project's own program and tests. Hosts use `answer`.
#[doc(hidden)]
pub mod call_writer;
mod calls;
mod channel;
#[cfg(feature = "compress")]
pub mod compress;
mod dialect;
mod distance;
#[cfg(feature = "templates")]
mod draft;
#[cfg(feature = "c-api")]
mod ffi;
mod file_error;
mod grammar;
pub mod history;
mod join;
mod json;
mod matcher;
mod memory;
mod recent;
mod response_template;
mod scanner;
pub mod sse;
#[cfg(feature = "store")]
pub mod store;
mod tables_only;
mod template;
mod tokens;
mod utf8;
mod words;

pub use channel::{Channel, Start, UnknownStart};
pub use dialect::{Dialect, KnownModel, UnknownDialect, UnknownModel};
#[cfg(feature = "templates")]
pub use draft::{ChatTemplate, Draft, DraftError};
pub use file_error::FileError;
pub use grammar::{GrammarError, GrammarFormat, ToolChoice, ToolGrammar};
pub use join::{CallFault, CallPart, JoinCall, JoinError, JoinOptions, Markers};
pub use scanner::{
    Attribute, Budget, BudgetScope, BudgetUnit, CallsInThinking, Cause, Counts, EndReason, Error, Event, Events, Kind,
    LeadingTags, Scanner, ScannerOptions, StrayClose, TextSpan, Thought, Token,
};
pub use template::UnknownTemplate;
pub use tokens::{Role, TokenBytes, TokenState, Vocabulary};
pub use words::Words;
