//! Event streams: the bytes of an OpenAI-style answer in, the same bytes out with its text split into fields.
//!
//! A server that does not separate a model's thinking from its answer sends both as `content`. A [`Rewriter`] sits between such
//! a server and its clients. Bytes from the socket go through [`Rewriter::feed`], one call for each read; the output has the
//! thinking as `reasoning_content`. Which bytes are thinking is decided by the dialect: there is one scanner for each choice.
//! Tool calls in the text become `tool_calls` if the host wants that ([`Options::calls`]).

// `rewriter` has the functions that a host calls, and `framing` cuts the bytes into events, lines and bodies. `repair` mends
// events where that is asked for, and puts chunks into one shape. `format` says which format one has, and `rewrite` hands it to
// the code of that: `choices`, `messages` or `responses`, each a `Protocol`. That finds the text of the event, has `text` split
// it, and notes the changes as `json::Edits`: text that is not split must pass byte for byte. `envelope` is a shorter way to an
// event's fields, if it differs from the last one in little more than its text. `hide` takes the thinking out of the output,
// where none is wanted.

mod choices;
mod envelope;
mod event;
mod format;
mod framing;
mod gate;
mod hide;
mod ids;
mod messages;
mod normalise;
mod options;
mod promotion;
mod protocol;
mod repair;
mod responses;
mod rewrite;
mod rewriter;
mod stats;
mod text;

pub use gate::{Exchange, Hint, RequestModel, request_hint, request_model, request_thinking, wants};
pub use normalise::{Shapes, Thinking};
pub use options::{Body, Field, Formats, Options, ResponsesAs};
pub use rewriter::Rewriter;
pub use stats::Stats;
