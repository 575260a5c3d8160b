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
// writes the split text as JSON. `buffers` has the buffers for one event.
// `envelope` finds the fields of an event faster, if the event differs from the `known` one in little more than its text. If no
// thinking is wanted, none is written, and `hide` removes thinking that a server has split itself. `comments` removes comments.
// `gate` reads requests, and decides which answers need a rewriter.
//
// The laws, which `tests/sse_laws.rs` tests in all formats, and the code that keeps them:
//
// - Bytes that need no change stay unchanged. A format notes changes as edits; all other bytes are copied, and so are events that are
//   not read.
// - Cuts make no difference. `framing` waits for whole events, lines and bodies, and a scanner's results for a text do not depend
//   on its cuts.
// - A body is a stream that has each of its texts in one delta, as a list, if calls are held until they are whole, no thinking is
//   sent again as content, and no content turns out to be thinking. A format reads the texts of a body as it reads those of a
//   stream.
// - Dropping the thinking has the same result as splitting it off and then removing its field. A format leaves out the thinking when
//   it writes a split text.
// - Splitting, putting into one shape and repairing change no text when they are repeated, unless the content has a marker that is
//   text. `repair` changes nothing in its own output, and a scanner finds no marker in the text that remains.
// - Every byte of a text is in exactly one part, or is a marker or framing. `answer` makes the parts, and a format writes each once.
//
// The first comment of a module says which laws it keeps, and how.

mod buffers;
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
