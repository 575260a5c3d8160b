//! Event streams: the bytes of an OpenAI-style answer in, the same bytes out with its text split into fields.
//!
//! A server that does not tell a model's thinking from its answer sends both as `content`. A [`Rewriter`] stands between
//! such a server and its clients. What comes off the socket goes through [`Rewriter::feed`], one call for each read; what
//! comes out has the thinking as `reasoning_content`. Which bytes are thinking is decided by the dialect: there is one
//! scanner for each choice. Tool calls in the text become `tool_calls` if the host wants that ([`Options::calls`]).

// `event` cuts the stream into events, `repair` mends them where that is asked for, and `rewrite` hands each to the code of its
// format: `choices` for what is made of choices.
// That finds the text of an event, has `text` split it, and notes the changes as `edits`: what is not split must go out as it
// came in, to the byte.

mod choices;
mod edits;
mod envelope;
mod event;
mod format;
mod framing;
mod gate;
mod ids;
mod messages;
mod options;
mod promotion;
mod protocol;
mod repair;
mod responses;
mod rewrite;
mod rewriter;
mod stats;
mod text;

pub use gate::{Exchange, Hint, RequestModel, request_hint, request_model, wants};
pub use options::{Body, Field, Formats, Options, ResponsesAs};
pub use rewriter::Rewriter;
pub use stats::Stats;
