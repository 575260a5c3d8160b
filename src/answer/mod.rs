//! A model's text in; thinking, content and tool calls out: what a host needs, without the markers and the forms of each family.
//!
//! An [`Answer`] reads one text of a model as it streams, cut anywhere, and reports [parts](Part): text for the user, thinking, and
//! calls with JSON arguments. Every byte of the text is in exactly one part, in a call that is reported, or is a marker or framing
//! around these: what turns out not to be a call is content, in its place. Three options change that on request:
//! [`Thinking::Drop`], [`UnknownTool::Drop`], and text that is [reported again](Options::promote_empty).
//!
//! ```
//! use aside::answer::{Answer, Options, Part};
//! use aside::{Dialect, EndReason};
//!
//! let mut answer = Answer::new(&Dialect::find_for_model("Qwen/Qwen3-32B")?, &Options::new())?;
//! let (mut thinking, mut content, mut calls) = (Vec::new(), Vec::new(), Vec::new());
//! let mut show = |part: Part<'_>| match part {
//!     Part::Thinking(text) => thinking.extend_from_slice(text),
//!     Part::Content(text) => content.extend_from_slice(text),
//!     Part::Call { name, .. } => calls.push((name.to_owned(), String::new())),
//!     Part::Arguments { json, .. } => calls.last_mut().expect("a call has begun").1.push_str(json),
//!     _ => {}
//! };
//! let text = "<think>\nLook it up.\n</think>\nOne moment.\n<tool_call>\n{\"name\": \"find\", \"arguments\": {\"q\": \"x\"}}\n</tool_call>";
//! for chunk in text.as_bytes().chunks(4) {
//!     answer.feed(chunk, &mut show)?;
//! }
//! answer.finish(EndReason::Ended, &mut show)?;
//! assert_eq!((&*thinking, &*content), (&b"Look it up."[..], &b"One moment."[..]));
//! assert_eq!(calls, [("find".to_owned(), r#"{"q": "x"}"#.to_owned())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// `reader` has the functions that a host calls. A rewriter of streams (`crate::sse`) uses the files below it directly: `setup` has
// the settings that all texts of a stream share, and `stream` reads one text. A scanner reads the bytes; `calls` turns its events
// into calls, by `call_writer`, with unique `ids`, and `rehearsal` waits for calls in the thinking that may not be meant; `bare`
// reads calls without markers; `around` decides which blanks and tokens around calls are sent; `parts` collects the result;
// `promotion` keeps thinking that may turn out to be the answer. This code does not depend on the JSON around a text.

mod around;
mod bare;
mod calls;
pub(crate) mod ids;
mod options;
mod parts;
mod promotion;
mod reader;
mod rehearsal;
mod setup;
mod stats;
mod stream;

pub(crate) use calls::Calls;
pub use options::{Options, Thinking};
pub(crate) use parts::{CallPart, Parts, Purpose, Run, RunKind, Target};
pub(crate) use promotion::{Promotes, Promotion};
pub use reader::{Answer, Part};
pub(crate) use setup::Setup;
pub use stats::Stats;
pub(crate) use stream::{Input, TextStream};

pub use crate::call_writer::{ImpliedEnd, NotWhole, Tools, ToolsError, UnknownTool};
