//! The numbers that cross the boundary, and their names in C. They are plain integers, so that an unknown one from C is an
//! error and not undefined behaviour. This file must import nothing: every other one may name a status.
//!
//! The doc comments of this folder are the comments of the headers.

/// What a function returns: 0 is done, above 0 is a pause and not an error, below 0 is a failure. Failures are far from
/// any value of `errno`. `aside_last_error()` has the message of a failure, `aside_status_text()` the general sentence.
pub type aside_status = i32;

/// Done.
pub const ASIDE_OK: i32 = 0;

/// A pause: the callback returned non-zero. The event that it was called with counts as delivered.
/// `aside_scanner_consumed()` bytes of the buffer are done; the next call goes on after them.
pub const ASIDE_STOPPED: i32 = 1;

/// A pause: the event array is full, or `attributes` has grown to its limit. What is in `*out` is valid. Call again with
/// what is left of the buffer, `out.consumed` bytes further on, even if nothing is left of it. From
/// `aside_request_model()`: more of the body is needed.
pub const ASIDE_MORE: i32 = 2;

/// Not a failure: there is nothing to take, or nothing to do.
pub const ASIDE_NONE: i32 = 3;

/// A pointer that is needed is NULL.
pub const ASIDE_ERROR_NULL: i32 = -1001;

/// A length is above PTRDIFF_MAX: no object is that large. Or the lengths of tokens do not add up to the buffer's, or no
/// array of tokens can be where they are said to be.
pub const ASIDE_ERROR_LENGTH: i32 = -1002;

/// No dialect of that name is built in (the message names the nearest ones), or known for that model or template.
pub const ASIDE_ERROR_UNKNOWN: i32 = -1003;

/// The text of a dialect file has an error. The message names line and key.
pub const ASIDE_ERROR_DIALECT: i32 = -1004;

/// An option has a value that it cannot have, or that the dialect has no use for.
pub const ASIDE_ERROR_OPTION: i32 = -1005;

/// A `size` field, an `event_size` or a `capacity` cannot be right.
pub const ASIDE_ERROR_SIZE: i32 = -1006;

/// The scanner, rewriter, call writer, registry, compressor or stream is in use: it was called from its own callback, or, as
/// far as that can be detected, from two threads at the same time where that is not allowed. Nothing has changed.
pub const ASIDE_ERROR_BUSY: i32 = -1007;

/// Calls in the wrong order: a feed or flush after a `finish` that was paused (go on with `finish`, or `reset`), a start
/// that is set after the stream's first byte, bytes skipped where none can have passed, or output of a tool after its end.
pub const ASIDE_ERROR_ORDER: i32 = -1008;

/// Memory ran out. A scanner that returns this stays in error until `aside_scanner_reset()`, a rewriter until
/// `aside_rewriter_reset()`, a call writer until `aside_call_writer_reset()`.
pub const ASIDE_ERROR_MEMORY: i32 = -1009;

/// An index is not below the count.
pub const ASIDE_ERROR_RANGE: i32 = -1010;

/// A defect of the library, caught at the boundary. The scanner returns this forever; it can only be freed. (A library that
/// was built with `panic = "abort"` ends the process instead.)
pub const ASIDE_ERROR_PANIC: i32 = -1011;

/// A text cannot be joined or escaped. The message says which part and which byte of it would be read as something else,
/// or what the dialect lacks.
pub const ASIDE_ERROR_JOIN: i32 = -1012;

/// The text of a filter file has an error, or does not pass its own tests. The message names line and key.
pub const ASIDE_ERROR_FILTER: i32 = -1013;

/// The text is not the one that the report is about.
pub const ASIDE_ERROR_ORIGINAL: i32 = -1014;

/// Several dialects fit a template equally well. The message names them.
pub const ASIDE_ERROR_AMBIGUOUS: i32 = -1015;

/// An `ASIDE_KIND_OPEN`, `ASIDE_KIND_TEXT`, … value.
pub type aside_kind = u32;

/// A span begins. The bytes are its opening marker; there are none if the stream starts inside the span.
pub const ASIDE_KIND_OPEN: u32 = 1;

/// An attribute of the marker that has just opened a span. It has no bytes of the stream.
pub const ASIDE_KIND_ATTRIBUTE: u32 = 2;

/// Text of the channel. It is never empty, and never cuts a character of valid UTF-8.
pub const ASIDE_KIND_TEXT: u32 = 3;

/// Bytes that belong to no text, such as the newline that a family puts around its markers.
pub const ASIDE_KIND_FRAMING: u32 = 4;

/// A span ends. The bytes are its closing marker; there are none if it ends without one.
pub const ASIDE_KIND_CLOSE: u32 = 5;

/// All content so far was thinking: a closer of the thinking has come without an opener before it, in a dialect with
/// `stray_close = "reclassify"`. It has no bytes of the stream, and comes at most once in it.
pub const ASIDE_KIND_RECLASSIFY: u32 = 6;

/// The thinking exceeds `options.budget` here. It has no bytes of the stream and stands between two characters. It comes
/// once for each span or stream, as `options.budget_scope` says.
pub const ASIDE_KIND_BUDGET: u32 = 7;

/// A tool call begins. This and the kinds after it come only with `options.calls`, from dialects that say how calls are
/// written. The bytes are what begins the call, if the opener of its span was not that. `call` is the number of the
/// call in the stream, `rule` the span, and `tag` the number of the `[[span.call]]` in it.
pub const ASIDE_KIND_CALL: u32 = 8;

/// The name of the call, whole. If `len` is 0, the name is the value of a header's field: `value_len` bytes, handed over
/// as those of an attribute are.
pub const ASIDE_KIND_CALL_NAME: u32 = 9;

/// An id of the call, whole. If the whole head of the call is its id, it comes in parts, with the name between them.
pub const ASIDE_KIND_CALL_ID: u32 = 10;

/// A key of the arguments, whole. Arguments that are JSON have none.
pub const ASIDE_KIND_CALL_KEY: u32 = 11;

/// The word that says of which type the next value is, whole.
pub const ASIDE_KIND_CALL_TYPE: u32 = 12;

/// A value, or the arguments as JSON, as they are in the stream. It comes in pieces that cut no character.
pub const ASIDE_KIND_CALL_VALUE: u32 = 13;

/// The value ends. The bytes are its closer, if it has one. Arguments that are JSON have none.
pub const ASIDE_KIND_CALL_VALUE_END: u32 = 14;

/// The call ends. The bytes are its last marker, if it has one. `cause` says why, and `call` is as for `ASIDE_KIND_CALL`.
pub const ASIDE_KIND_CALL_END: u32 = 15;

/// An `ASIDE_CHANNEL_CONTENT`, `ASIDE_CHANNEL_THINKING`, … value.
pub type aside_channel = u32;

/// What the reader is meant to see.
pub const ASIDE_CHANNEL_CONTENT: u32 = 0;

/// What the model thinks (`reasoning`, `reasoning_content` in some interfaces).
pub const ASIDE_CHANNEL_THINKING: u32 = 1;

/// What the model says about what it is doing.
pub const ASIDE_CHANNEL_NARRATION: u32 = 2;

/// Tool calls.
pub const ASIDE_CHANNEL_TOOL: u32 = 3;

/// From `aside_scanner_feed_text()`: nothing was fed. From `aside_scanner_quiet()`: no chunk may be skipped.
pub const ASIDE_NOT_TEXT: i32 = -1;

/// An `ASIDE_CAUSE_` value.
pub type aside_cause = u32;

/// The closing marker came.
pub const ASIDE_CAUSE_MARKER: u32 = 0;

/// Something else came that ends such a span.
pub const ASIDE_CAUSE_IMPLIED: u32 = 1;

/// The stream ended inside the span.
pub const ASIDE_CAUSE_END_OF_STREAM: u32 = 2;

/// `aside_scanner_force_close()` ended it.
pub const ASIDE_CAUSE_FORCED: u32 = 3;

/// The text of a tool call broke its grammar. No span ends with this cause.
pub const ASIDE_CAUSE_MALFORMED: u32 = 4;

/// An `ASIDE_START_` value.
pub type aside_start = u32;

/// As the dialect says.
pub const ASIDE_START_DEFAULT: u32 = 0;

/// No span is open.
pub const ASIDE_START_CONTENT: u32 = 1;

/// The stream begins inside a thinking span, whose opener was in the prompt.
pub const ASIDE_START_THINKING: u32 = 2;

/// The stream begins inside a narration span.
pub const ASIDE_START_NARRATION: u32 = 3;

/// The stream begins inside a tool span.
pub const ASIDE_START_TOOL: u32 = 4;

/// The stream begins inside a channel header, of a dialect that has headers.
pub const ASIDE_START_HEADER: u32 = 5;

/// An `ASIDE_CALLS_IN_THINKING_` value.
pub type aside_calls_in_thinking = u32;

/// As the dialect says: the call ends the thinking, interrupts it, or is text of it.
pub const ASIDE_CALLS_IN_THINKING_DIALECT: u32 = 0;

/// Every tool opener in the thinking is text.
pub const ASIDE_CALLS_IN_THINKING_NEVER: u32 = 1;

/// An `ASIDE_STRAY_CLOSE_` value.
pub type aside_stray_close = u32;

/// As the dialect says.
pub const ASIDE_STRAY_CLOSE_DIALECT: u32 = 0;

/// A closer of the thinking in the content, after other text, is text: for a host that is sure that its model does not
/// think.
pub const ASIDE_STRAY_CLOSE_TEXT: u32 = 1;

/// `ASIDE_BUDGET_UNIT_BYTES` or `ASIDE_BUDGET_UNIT_CHARACTERS`.
pub type aside_budget_unit = u32;

/// Bytes.
pub const ASIDE_BUDGET_UNIT_BYTES: u32 = 0;

/// Characters.
pub const ASIDE_BUDGET_UNIT_CHARACTERS: u32 = 1;

/// `ASIDE_BUDGET_SCOPE_SPAN` or `ASIDE_BUDGET_SCOPE_STREAM`.
pub type aside_budget_scope = u32;

/// Each thinking span has the whole budget.
pub const ASIDE_BUDGET_SCOPE_SPAN: u32 = 0;

/// All thinking of the stream shares it.
pub const ASIDE_BUDGET_SCOPE_STREAM: u32 = 1;

/// An `ASIDE_MARKERS_` value.
pub type aside_markers = u32;

/// The call fails with `ASIDE_ERROR_JOIN`.
pub const ASIDE_MARKERS_REFUSE: u32 = 0;

/// The call breaks the markers, as `aside_escape()` does.
pub const ASIDE_MARKERS_ESCAPE: u32 = 1;

/// An `ASIDE_FIELD_` value.
pub type aside_field = u32;

/// `reasoning_content`.
pub const ASIDE_FIELD_REASONING_CONTENT: u32 = 0;

/// `reasoning`.
pub const ASIDE_FIELD_REASONING: u32 = 1;

/// `thinking`.
pub const ASIDE_FIELD_THINKING: u32 = 2;

/// An `ASIDE_BODY_` value.
pub type aside_body = u32;

/// The first byte that is not white space decides. JSON begins with `{`, an event stream never does.
pub const ASIDE_BODY_UNKNOWN: u32 = 0;

/// An event stream, `text/event-stream`.
pub const ASIDE_BODY_EVENTS: u32 = 1;

/// One JSON object, `application/json`.
pub const ASIDE_BODY_JSON: u32 = 2;

/// JSON objects, each on a line of its own, `application/x-ndjson`: Ollama's streams.
pub const ASIDE_BODY_LINES: u32 = 3;

/// `ASIDE_FORMAT_` bits.
pub type aside_formats = u32;

/// Chat completions of OpenAI, `/chat/completions`.
pub const ASIDE_FORMAT_CHAT: u32 = 1;

/// Completions of OpenAI, `/completions`.
pub const ASIDE_FORMAT_COMPLETIONS: u32 = 2;

/// OpenAI Responses, `/responses`.
pub const ASIDE_FORMAT_RESPONSES: u32 = 4;

/// Anthropic Messages, `/messages`.
pub const ASIDE_FORMAT_MESSAGES: u32 = 8;

/// Ollama's own, `/api/chat` and `/api/generate`.
pub const ASIDE_FORMAT_OLLAMA: u32 = 16;

/// All of them, those that later versions add included: all bits that an `int` has. No other value with a bit of no format
/// is accepted.
pub const ASIDE_FORMAT_ALL: u32 = 0x7FFF_FFFF;

/// An `ASIDE_RESPONSES_AS_` value.
pub type aside_responses_as = u32;

/// The content of a reasoning item, as `reasoning_text`: right for clients that send items back.
pub const ASIDE_RESPONSES_AS_REASONING_TEXT: u32 = 0;

/// Its summary, as `summary_text`: for clients that show only that.
pub const ASIDE_RESPONSES_AS_SUMMARY: u32 = 1;

/// An `ASIDE_HINT_` value.
pub type aside_hint = u32;

/// Send `Accept-Encoding: identity` to the server: no compressed answer can be read.
pub const ASIDE_HINT_IDENTITY: u32 = 1;
