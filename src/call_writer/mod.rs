//! The call writer: turns the calls that a scanner reports into OpenAI's `tool_calls`.
//!
//! Models write calls in many forms, and clients accept one: a name, and arguments that are JSON. The writer is fed with the
//! events of a scanner and reports deltas ([`CallDelta`]) as soon as they are certain: the bytes of JSON arguments as they
//! arrive, and a value between markers as soon as its type is clear. The type decides whether `42` is a number or a text. It is
//! found in the schemas of the request's [`Tools`].
//!
//! The writer never completes a call, so that a client gets only text that the model wrote. A call is whole only if its
//! arguments are a JSON object. Sent text is never read again, so that memory is bounded and time is linear in the input.
//!
//! Take a call that GLM writes, cut anywhere:
//!
//! ```text
//! <tool_call>get_weather
//! <arg_key>city</arg_key>
//! <arg_value>Oslo</arg_value>
//! <arg_key>days</arg_key>
//! <arg_value>3</arg_value>
//! </tool_call>
//! ```
//!
//! | piece | sent, if `city` is a string and `days` an integer |
//! |---|---|
//! | `Name("get_weather")` | nothing yet: a call that is cut here must not be run without arguments |
//! | `Key("city")` | nothing yet: a key is sent with the first byte of its value |
//! | `Value("Os")` | id, name and `{"city":"Os` |
//! | `Value("lo")` | `lo` |
//! | `ValueEnd` | `"` |
//! | `Key("days")` | nothing yet |
//! | `Value("3")` | nothing yet: more digits may follow, or letters |
//! | `ValueEnd` | `,"days":3` |
//! | `End(Marker)` | `}` and the end |
//!
//! ```
//! use std::sync::Arc;
//!
//! use aside::{Dialect, ScannerOptions, Scanner, call_writer::{self, CallWriter, Tools}};
//!
//! let dialect = Dialect::load(
//!     r#"
//!     name = "mine"
//!     [[span]]
//!     channel = "tool"
//!     open = ["<tool_call>"]
//!     close = ["</tool_call>"]
//!     [[span.call]]
//!     body = "object"
//!     "#,
//! )?;
//! let tools = Tools::read(r#"[{"name": "f"}]"#)?;
//! let mut writer = CallWriter::new(&dialect, call_writer::Options::new().tools(tools));
//! let mut scanner = Scanner::with_options(&dialect, &ScannerOptions::new().calls(true))?;
//! let (mut name, mut arguments) = (String::new(), String::new());
//! for chunk in [r#"<tool_call>{"name": "f", "argu"#, r#"ments": {"x": 1}}</tool_call>"#] {
//!     scanner.feed(chunk, |event| {
//!         let written = writer.event(&event, |delta| {
//!             name.push_str(delta.name.unwrap_or_default());
//!             arguments.push_str(delta.arguments);
//!         });
//!         written.expect("memory for what is held");
//!     })?;
//! }
//! assert_eq!((&*name, &*arguments), ("f", r#"{"x": 1}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// `events` reads the events of a scanner, and `writer` decides which calls are reported and in which order; `quoted` decides
// which keys are only text of a value, and `keys` has the keys of the call; `json` and `keyed` write the arguments of the two
// kinds of tables. Below them, `value`, `literal` and `element` read values, `tools`, `schema` and `document` read a request's
// description of its tools, and `output`, `held`, `string` and `text` send, hold and decode text.

mod delta;
mod document;
mod element;
mod events;
mod held;
mod json;
mod keyed;
mod keys;
mod literal;
mod mend;
mod options;
mod output;
mod quoted;
mod schema;
mod string;
mod text;
mod tools;
mod value;
mod writer;

#[cfg(test)]
mod tests;

#[cfg(test)]
use delta::Piece;
pub(crate) use delta::Sink;
pub use delta::{CallDelta, End};
pub(crate) use events::has_tables;
pub use options::{ImpliedEnd, NotWhole, Options, UnknownTool};
pub(crate) use schema::{Schema, Types};
pub use tools::{Tools, ToolsError};
pub(crate) use tools::{flat_name, namespace_end};
pub use writer::{CallState, CallWriter};
