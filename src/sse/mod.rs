//! Rewrites the bytes of an OpenAI-style answer, most often an event stream: its text is split into fields, and all else stays
//! the same.
//!
//! A server that does not separate a model's thinking from its answer sends both as `content`. A [`Rewriter`] sits between such
//! a server and its clients. The host feeds it what it reads from the socket ([`Rewriter::feed`]); the output has the thinking
//! as `reasoning_content`. The dialect decides which bytes are thinking, by one scanner for each choice. Tool calls in the text
//! become `tool_calls` if the host wants that ([`Options::calls`]).

// `rewriter` has the functions that a host calls, and `framing` cuts the bytes into events, lines and bodies. `repair` repairs
// events, and puts chunks into one shape, if the host asks for that. `format` determines the format of an event, and `rewrite`
// hands the event to the code for that format: `choices`, `messages` or `responses`, each a `Protocol`. The protocol finds the
// text of the event, has `answer` split it, and notes the changes as `json::Edits`: all other bytes must stay the same. `values`
// writes the split text as JSON.
// `envelope` finds the fields of an event faster, if the event differs from the `known` one in little more than its text. If no
// thinking is wanted, none is written, and `hide` removes thinking that a server has split itself. `comments` removes comments.
//
// Each format keeps the laws of `tests/sse_laws.rs`, whatever the server sends.

mod choices;
mod comments;
mod envelope;
mod event;
mod format;
mod framing;
mod gate;
mod hide;
mod known;
mod messages;
mod normalise;
mod options;
mod protocol;
mod repair;
mod responses;
mod rewrite;
mod rewriter;
mod values;

pub use crate::answer::{Stats, Thinking};
pub use gate::{Exchange, Hint, Request, RequestModel, read_request, request_hint, request_model, wants};
pub use normalise::Shapes;
pub use options::{Body, Comments, Field, Formats, Options, ResponsesAs};
pub use rewriter::Rewriter;
