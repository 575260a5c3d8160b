//! The enumerations of the C interface: each number once, with its name in C and its value in Rust. Numbers are plain integers,
//! so that an unknown number from C is an error and not undefined behaviour. This file must import nothing of this folder,
//! because every other file may name a status.
//!
//! The doc comments of this folder become the comments of the headers. `tests/header` also writes those of enumerations into the
//! bindings, so they mention only other enumerators, `options.` and functions.

use crate::answer::{ImpliedEnd, NotWhole, Part, Thinking, UnknownTool};
use crate::history::{self, Made, Missing, Outcome, Turns};
use crate::sse::{Body, Comments, Field, Formats, Hint, ResponsesAs, Shapes};
use crate::{
    BudgetScope, BudgetUnit, CallsInThinking, Cause, Channel, EndReason, GrammarFormat, Kind, LeadingTags, Markers,
    Start, StrayClose,
};

/// A conversion of a value in Rust to its number in C.
pub(in crate::ffi) trait ToNumber {
    /// Returns the number.
    fn to_number(&self) -> u32;
}

/// A conversion of a number from C to its value in Rust.
pub(in crate::ffi) trait FromNumber: Sized {
    /// The name of the number's type in C.
    const TYPE: &'static str;

    /// Returns the value of a number; None if no value has the number.
    fn from_number(number: u32) -> Option<Self>;
}

/// Declares an enumeration of C: the type, then each enumerator with its number and its value in Rust. After the name
/// of the type follows
/// - the Rust type: the macro writes both conversions. A variant without a number does not compile;
/// - `number of` and a type whose values have more data than a number: each enumerator has a pattern, and C gets only the number;
/// - `bits of` and a type with constants and `bits()`: the bits are the same in both languages;
/// - `i32`, for statuses: they have no value in Rust.
///
/// In the doc comment of the type, the first paragraph describes it, in one sentence without a verb; the second one, if
/// there is one, describes its values.
macro_rules! enumeration {
    ($(#[$about:meta])* $name:ident: i32 { $($(#[$doc:meta])* $number:ident = $value:literal,)+ }) => {
        $crate::ffi::constants::enumeration!(@constants $(#[$about])* $name i32 $($(#[$doc])* $number = $value,)+);
    };
    ($(#[$about:meta])* $name:ident: bits of $type:ty {
        $($(#[$doc:meta])* $number:ident = $value:literal => $bits:ident,)+
    }) => {
        $crate::ffi::constants::enumeration!(@constants $(#[$about])* $name u32 $($(#[$doc])* $number = $value,)+);

        const _: () = {
            $(assert!(<$type>::$bits.bits() == $number);)+
        };
    };
    ($(#[$about:meta])* $name:ident: number of $type:ty {
        $($(#[$doc:meta])* $number:ident = $value:literal => $pattern:pat,)+
    }) => {
        $crate::ffi::constants::enumeration!(@constants $(#[$about])* $name u32 $($(#[$doc])* $number = $value,)+);

        impl $crate::ffi::constants::ToNumber for $type {
            #[inline]
            fn to_number(&self) -> u32 {
                match self {
                    $($pattern => $number,)+
                }
            }
        }
    };
    // Tokens that are both a pattern and an expression: a path, perhaps with an argument in parentheses.
    ($(#[$about:meta])* $name:ident: $type:ty {
        $($(#[$doc:meta])* $number:ident = $value:literal => $($path:ident)::+ $(($($inside:tt)+))?,)+
    }) => {
        $crate::ffi::constants::enumeration!(@constants $(#[$about])* $name u32 $($(#[$doc])* $number = $value,)+);

        impl $crate::ffi::constants::ToNumber for $type {
            #[inline]
            fn to_number(&self) -> u32 {
                match self {
                    $($($path)::+ $(($($inside)+))? => $number,)+
                }
            }
        }

        impl $crate::ffi::constants::FromNumber for $type {
            const TYPE: &'static str = stringify!($name);

            fn from_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some($($path)::+ $(($($inside)+))?),)+
                    _ => None,
                }
            }
        }
    };
    (@constants $(#[$about:meta])* $name:ident $integer:ident $($(#[$doc:meta])* $number:ident = $value:literal,)+) => {
        $(#[$about])*
        pub type $name = $integer;
        $(
            $(#[$doc])*
            pub const $number: $integer = $value;
        )+
    };
}
pub(in crate::ffi) use enumeration;

enumeration! {
    /// The result of a function.
    ///
    /// 0 is done, above 0 is a pause and not an error, below 0 is a failure. Failures are far from any value of `errno`.
    /// `aside_last_error()` has the message of a failure, `aside_status_text()` the general sentence.
    aside_status: i32 {
        /// Done.
        ASIDE_OK = 0,
        /// A pause: the callback returned non-zero. The event that it was called with counts as delivered.
        /// `aside_scanner_consumed()` bytes of the buffer are consumed; the next call continues after them.
        ASIDE_STOPPED = 1,
        /// A pause: the event array is full, or `attributes` has grown to its limit. The contents of `*out` are valid. Call
        /// again with the rest of the buffer, `out.consumed` bytes further on, even if it is empty. From
        /// `aside_request_model()`: more of the body is needed.
        ASIDE_MORE = 2,
        /// Not a failure: there is nothing to return, or nothing to do.
        ASIDE_NONE = 3,
        /// A pointer that is needed is NULL.
        ASIDE_ERROR_NULL = -1001,
        /// A length is above PTRDIFF_MAX: no object is that large. Or the lengths of the tokens do not add up to the
        /// buffer's length, or the address of the tokens is invalid.
        ASIDE_ERROR_LENGTH = -1002,
        /// No built-in dialect has that name (the message lists the nearest names), or no dialect is known for that model or
        /// template.
        ASIDE_ERROR_UNKNOWN = -1003,
        /// The text of a dialect file, or of a server file, has an error. The message names the line and the key.
        ASIDE_ERROR_DIALECT = -1004,
        /// An option has a value that it cannot have, or that the dialect does not support.
        ASIDE_ERROR_OPTION = -1005,
        /// A `size` field, an `event_size` or a `capacity` has an impossible value.
        ASIDE_ERROR_SIZE = -1006,
        /// The scanner, answer, rewriter, registry, compressor or stream is in use: it was called from its own
        /// callback, or, as far as that can be detected, from two threads at the same time where that is not allowed.
        /// Nothing has changed.
        ASIDE_ERROR_BUSY = -1007,
        /// Calls in the wrong order: a feed or flush after a `finish` that was paused (continue with `finish`, or `reset`), a
        /// start that is set after the stream's first byte, bytes skipped in a state in which none may be skipped, or output of
        /// a tool after its end.
        ASIDE_ERROR_ORDER = -1008,
        /// Memory ran out. A scanner that returns this stays in error until `aside_scanner_reset()`, a rewriter until
        /// `aside_rewriter_reset()`, an answer until `aside_answer_reset()`.
        ASIDE_ERROR_MEMORY = -1009,
        /// An index is not below the count, or a channel does not exist.
        ASIDE_ERROR_RANGE = -1010,
        /// A defect of the library, caught at the boundary. The scanner returns this forever; it can only be freed. (A
        /// library that was built with `panic = "abort"` ends the process instead.)
        ASIDE_ERROR_PANIC = -1011,
        /// A text cannot be joined or escaped. The message says which byte of which part would be read as a marker, or the form
        /// that the dialect lacks.
        ASIDE_ERROR_JOIN = -1012,
        /// The text of a filter file has an error, or does not pass its own tests. The message names the line and the key.
        ASIDE_ERROR_FILTER = -1013,
        /// The text is not the original that the report describes.
        ASIDE_ERROR_ORIGINAL = -1014,
        /// Several dialects fit a template equally well. The message names them.
        ASIDE_ERROR_AMBIGUOUS = -1015,
    }
}

enumeration! {
    /// The kind of an event.
    aside_kind: number of Kind<'_> {
        /// A span begins. The bytes are its opening marker; there are none if the stream starts inside the span.
        ASIDE_KIND_OPEN = 1 => Kind::Open { .. },
        /// An attribute of the marker that has just opened a span. It has no bytes of the stream.
        ASIDE_KIND_ATTRIBUTE = 2 => Kind::Attribute(_),
        /// Text of the channel. It is never empty, and never cuts a character of valid UTF-8.
        ASIDE_KIND_TEXT = 3 => Kind::Text,
        /// Bytes that belong to no text, such as the newline that a family puts around its markers.
        ASIDE_KIND_FRAMING = 4 => Kind::Framing,
        /// A span ends. The bytes are the closing marker; there are none if the span ends without a closing marker.
        ASIDE_KIND_CLOSE = 5 => Kind::Close(_),
        /// All content so far was thinking, or all thinking so far was content: the event's channel is the right one. The content
        /// was thinking if a closer of the thinking has come without an opener before it, in a dialect with `stray_close =
        /// "reclassify"`. The thinking was content if the stream has ended in thinking that was only guessed
        /// (`aside_scanner_end_reason()`), or if the closer of a wrapper of the answer ends the thinking. The event has no bytes
        /// of the stream, and is reported at most once in a stream.
        ASIDE_KIND_RECLASSIFY = 6 => Kind::Reclassify,
        /// The thinking exceeds its budget here. The event has no bytes of the stream and is between two characters. It is
        /// reported once for each span or stream, as `options.budget_scope` says.
        ASIDE_KIND_BUDGET = 7 => Kind::Budget,
        /// A tool call begins. This and the kinds after it are reported only with `options.calls`, from dialects that say how
        /// calls are written. The bytes are the beginning of the call; there are none if the opener of its span was the
        /// beginning.
        ASIDE_KIND_CALL = 8 => Kind::Call { .. },
        /// The name of the call, whole. If it has no bytes, the name is the value of a header's field.
        ASIDE_KIND_CALL_NAME = 9 => Kind::CallName(_),
        /// An id of the call, whole. If the whole head of the call is its id, the id is reported in parts, with the name
        /// between them.
        ASIDE_KIND_CALL_ID = 10 => Kind::CallId,
        /// A key of the arguments, whole. For arguments that are JSON, no keys are reported.
        ASIDE_KIND_CALL_KEY = 11 => Kind::CallKey,
        /// The word for the type of the next value, whole.
        ASIDE_KIND_CALL_TYPE = 12 => Kind::CallType,
        /// A value, or the arguments as JSON, as they are in the stream. It is reported in pieces that do not cut a character.
        ASIDE_KIND_CALL_VALUE = 13 => Kind::CallValue,
        /// The value ends. The bytes are the value's closer, if it has a closer. For arguments that are JSON, no end of a value
        /// is reported.
        ASIDE_KIND_CALL_VALUE_END = 14 => Kind::CallValueEnd { .. },
        /// The call ends. The bytes are the call's last marker, if it has such a marker.
        ASIDE_KIND_CALL_END = 15 => Kind::CallEnd { .. },
    }
}

enumeration! {
    /// The purpose of a stretch of a stream.
    aside_channel: Channel {
        /// Text for the reader.
        ASIDE_CHANNEL_CONTENT = 0 => Channel::Content,
        /// The model's thinking. Some interfaces call it `reasoning` or `reasoning_content`.
        ASIDE_CHANNEL_THINKING = 1 => Channel::Thinking,
        /// The model's remarks on what it is doing.
        ASIDE_CHANNEL_NARRATION = 2 => Channel::Narration,
        /// Tool calls.
        ASIDE_CHANNEL_TOOL = 3 => Channel::Tool,
    }
}

enumeration! {
    /// The kind of a part of an answer. Later versions may add kinds: ignore those that you do not know.
    aside_part_kind: number of Part<'_> {
        /// The next text of the thinking.
        ASIDE_PART_KIND_THINKING = 0 => Part::Thinking(_),
        /// The next text of the answer itself.
        ASIDE_PART_KIND_CONTENT = 1 => Part::Content(_),
        /// A call begins: its id and its name.
        ASIDE_PART_KIND_CALL = 2 => Part::Call { .. },
        /// The next part of the arguments of a call. Joined, they are a JSON object if the call is whole.
        ASIDE_PART_KIND_ARGUMENTS = 3 => Part::Arguments { .. },
        /// A call ends.
        ASIDE_PART_KIND_CALL_END = 4 => Part::CallEnd { .. },
        /// All text that was reported in one channel belongs at the end of the other channel's text: content that turned out to be
        /// thinking, because a closer of the thinking came without an opener, or thinking that turned out to be the answer. Only
        /// with `options.may_take_back`. If the thinking is dropped, leave out the content that moves to it.
        ASIDE_PART_KIND_MOVED = 5 => Part::Moved { .. },
        /// The thinking exceeds its budget here.
        ASIDE_PART_KIND_BUDGET = 6 => Part::Budget,
    }
}

enumeration! {
    /// The cause of the end of a span or a call.
    aside_cause: Cause {
        /// The closing marker was read.
        ASIDE_CAUSE_MARKER = 0 => Cause::Marker,
        /// A text was read that ends the span without being its closer.
        ASIDE_CAUSE_IMPLIED = 1 => Cause::Implied,
        /// The stream ended inside the span.
        ASIDE_CAUSE_END_OF_STREAM = 2 => Cause::EndOfStream,
        /// `aside_scanner_force_close()` ended the span.
        ASIDE_CAUSE_FORCED = 3 => Cause::Forced,
        /// The text of a tool call broke its grammar. No span ends with this cause.
        ASIDE_CAUSE_MALFORMED = 4 => Cause::Malformed,
        /// The answer ended by itself inside a tool call, as the host has reported with `aside_scanner_end_reason()`. No span ends
        /// with this cause, and no part of an answer has it.
        ASIDE_CAUSE_ENDED = 5 => Cause::Ended,
    }
}

enumeration! {
    /// The start of a stream.
    aside_start: Option<Start> {
        /// The dialect decides.
        ASIDE_START_DEFAULT = 0 => None,
        /// No span is open.
        ASIDE_START_CONTENT = 1 => Some(Start::Channel(Channel::Content)),
        /// The stream begins inside a thinking span, whose opener was in the prompt.
        ASIDE_START_THINKING = 2 => Some(Start::Channel(Channel::Thinking)),
        /// The stream begins inside a narration span.
        ASIDE_START_NARRATION = 3 => Some(Start::Channel(Channel::Narration)),
        /// The stream begins inside a tool span.
        ASIDE_START_TOOL = 4 => Some(Start::Channel(Channel::Tool)),
        /// The stream begins inside a channel header, of a dialect that has headers.
        ASIDE_START_HEADER = 5 => Some(Start::Header),
        /// For a rewriter that looks for calls, and a request with `"tool_choice": "required"`: a grammar makes the model write a list
        /// of tool calls without markers, after its thinking.
        ASIDE_START_CALLS = 6 => Some(Start::Calls),
    }
}

enumeration! {
    /// The treatment of a tool call that begins inside the thinking.
    aside_calls_in_thinking: CallsInThinking {
        /// The dialect decides whether the call ends the thinking, interrupts it, or is text of it.
        ASIDE_CALLS_IN_THINKING_DIALECT = 0 => CallsInThinking::Dialect,
        /// Every tool opener in the thinking is text.
        ASIDE_CALLS_IN_THINKING_NEVER = 1 => CallsInThinking::Never,
        /// The dialect decides, and a rewriter reports a call at once. Otherwise a rewriter waits until it is clear whether the
        /// model means the call: text after the call shows that the call is part of the thinking.
        ASIDE_CALLS_IN_THINKING_ALWAYS = 2 => CallsInThinking::Always,
    }
}

enumeration! {
    /// The treatment of a closer of the thinking without an opener, after content.
    aside_stray_close: StrayClose {
        /// The dialect decides.
        ASIDE_STRAY_CLOSE_DIALECT = 0 => StrayClose::Dialect,
        /// A closer of the thinking in the content, after other text, is text: for a host that is sure that its model does
        /// not think.
        ASIDE_STRAY_CLOSE_TEXT = 1 => StrayClose::Text,
        /// Only the closer is removed, and the text on both sides of it stays content: for a host whose prompt has ended the
        /// thinking.
        ASIDE_STRAY_CLOSE_DROP = 2 => StrayClose::Drop,
    }
}

enumeration! {
    /// The reason why a stream ends, as far as its host knows it.
    aside_end_reason: EndReason {
        /// Not known.
        ASIDE_END_REASON_UNKNOWN = 0 => EndReason::Unknown,
        /// The model has ended its answer: `"finish_reason":"stop"`.
        ASIDE_END_REASON_ENDED = 1 => EndReason::Ended,
        /// The answer was cut off, by a limit or an error: `"finish_reason":"length"`.
        ASIDE_END_REASON_CUT_OFF = 2 => EndReason::CutOff,
    }
}

enumeration! {
    /// The part of a call that is sent before the call is whole.
    aside_not_whole: NotWhole {
        /// The arguments, as they arrive. If a call breaks off, the client keeps the part that was sent.
        ASIDE_NOT_WHOLE_TELL = 0 => NotWhole::Tell,
        /// Nothing: a whole call is sent at once. A call that is not whole, was repaired, or is longer than may be held is
        /// text.
        ASIDE_NOT_WHOLE_HOLD = 1 => NotWhole::Hold,
        /// Nothing until the call is whole, or longer than may be held; from then on, its arguments as they arrive. A call that
        /// is held, and is not whole or was repaired, is text.
        ASIDE_NOT_WHOLE_TEXT = 2 => NotWhole::Text,
    }
}

enumeration! {
    /// The treatment of a call of a tool that the request does not list.
    aside_unknown_tool: UnknownTool {
        /// The call is text.
        ASIDE_UNKNOWN_TOOL_TEXT = 0 => UnknownTool::Text,
        /// The call is removed.
        ASIDE_UNKNOWN_TOOL_DROP = 1 => UnknownTool::Drop,
        /// The call is emitted like a call of a listed tool.
        ASIDE_UNKNOWN_TOOL_TELL = 2 => UnknownTool::Tell,
    }
}

enumeration! {
    /// The language of a grammar.
    aside_grammar_format: GrammarFormat {
        /// A structural tag of xgrammar, as JSON.
        ASIDE_GRAMMAR_FORMAT_XGRAMMAR = 0 => GrammarFormat::Xgrammar,
        /// A Lark grammar of llguidance.
        ASIDE_GRAMMAR_FORMAT_LARK = 1 => GrammarFormat::Lark,
    }
}

enumeration! {
    /// Whether the end of a text that has ended by itself may end a call.
    aside_implied_end: ImpliedEnd {
        /// A call written as keys and values between markers is whole if the text ends after a value.
        ASIDE_IMPLIED_END_ON = 0 => ImpliedEnd::On,
        /// A call that the end of the text cuts off is never whole.
        ASIDE_IMPLIED_END_OFF = 1 => ImpliedEnd::Off,
    }
}

enumeration! {
    /// The reading of a tag of another family, such as `<think>`, at the beginning of a stream, after blanks at most.
    aside_leading_tags: LeadingTags {
        /// In a dialect of a model, the tag opens the thinking, and either the tag's own closer or the dialect's closer ends
        /// it.
        ASIDE_LEADING_TAGS_DIALECT = 0 => LeadingTags::Dialect,
        /// The tag is text: for a host that asks for such a tag in its prompt and looks for it itself.
        ASIDE_LEADING_TAGS_TEXT = 1 => LeadingTags::Text,
    }
}

enumeration! {
    /// The unit of a budget.
    aside_budget_unit: BudgetUnit {
        /// Bytes.
        ASIDE_BUDGET_UNIT_BYTES = 0 => BudgetUnit::Bytes,
        /// Characters.
        ASIDE_BUDGET_UNIT_CHARACTERS = 1 => BudgetUnit::Characters,
    }
}

enumeration! {
    /// The scope of a budget.
    aside_budget_scope: BudgetScope {
        /// Each thinking span has the whole budget.
        ASIDE_BUDGET_SCOPE_SPAN = 0 => BudgetScope::Span,
        /// All thinking of the stream shares the budget.
        ASIDE_BUDGET_SCOPE_STREAM = 1 => BudgetScope::Stream,
    }
}

enumeration! {
    /// The treatment of a part that contains a marker, in a join.
    aside_markers: Markers {
        /// The call fails with `ASIDE_ERROR_JOIN`.
        ASIDE_MARKERS_REFUSE = 0 => Markers::Refuse,
        /// The call breaks the markers, as `aside_escape()` does.
        ASIDE_MARKERS_ESCAPE = 1 => Markers::Escape,
    }
}

enumeration! {
    /// The name of the field for the thinking.
    aside_field: Field {
        /// `reasoning_content`.
        ASIDE_FIELD_REASONING_CONTENT = 0 => Field::ReasoningContent,
        /// `reasoning`.
        ASIDE_FIELD_REASONING = 1 => Field::Reasoning,
        /// `thinking`.
        ASIDE_FIELD_THINKING = 2 => Field::Thinking,
    }
}

enumeration! {
    /// The kind of body that is fed to a rewriter.
    aside_body: Body {
        /// The first byte that is not white space decides. JSON begins with `{`, an event stream never does.
        ASIDE_BODY_UNKNOWN = 0 => Body::Unknown,
        /// An event stream, `text/event-stream`.
        ASIDE_BODY_EVENTS = 1 => Body::Events,
        /// One JSON object, `application/json`.
        ASIDE_BODY_JSON = 2 => Body::Json,
        /// JSON objects, each on a separate line, `application/x-ndjson`: Ollama's streams.
        ASIDE_BODY_LINES = 3 => Body::Lines,
    }
}

enumeration! {
    /// A set of formats of answers, each with the end of its path.
    aside_formats: bits of Formats {
        /// Chat completions of OpenAI, `/chat/completions`.
        ASIDE_FORMAT_CHAT = 1 => CHAT,
        /// Completions of OpenAI, `/completions`.
        ASIDE_FORMAT_COMPLETIONS = 2 => COMPLETIONS,
        /// OpenAI Responses, `/responses`.
        ASIDE_FORMAT_RESPONSES = 4 => RESPONSES,
        /// Anthropic Messages, `/messages`.
        ASIDE_FORMAT_MESSAGES = 8 => MESSAGES,
        /// Ollama's own format, `/api/chat` and `/api/generate`.
        ASIDE_FORMAT_OLLAMA = 16 => OLLAMA,
        /// All formats, including the formats of later versions: all bits of an `int`. Any other value is refused if it has a bit
        /// that belongs to no format.
        ASIDE_FORMAT_ALL = 0x7FFF_FFFF => ALL,
    }
}

enumeration! {
    /// A set of differences between the shapes of servers' answers, which a rewriter removes.
    ///
    /// The shapes apply to chat completions, and `ASIDE_SHAPE_CONTENT` to every format.
    aside_shapes: bits of Shapes {
        /// No shape: the answer of a server stays unchanged.
        ASIDE_SHAPE_NONE = 0 => NONE,
        /// The thinking that a server sends as `reasoning_content`, `reasoning`, `thinking`, or as the text of
        /// `reasoning_details`, is sent in the field `options.field`.
        ASIDE_SHAPE_FIELD = 1 => FIELD,
        /// Content that is a list of texts and thinking becomes a string, with the thinking in its field.
        ASIDE_SHAPE_LISTS = 2 => LISTS,
        /// A chunk of a stream with thinking and content becomes two, the thinking first.
        ASIDE_SHAPE_CHUNKS = 4 => CHUNKS,
        /// The content after thinking that the server has split is split too: markers are removed, and a second thinking is
        /// moved. In a chat's stream this includes `ASIDE_SHAPE_CHUNKS`.
        ASIDE_SHAPE_CONTENT = 8 => CONTENT,
        /// All shapes, including the shapes of later versions: all bits of an `int`. Any other value is refused if it has a bit
        /// that belongs to no shape.
        ASIDE_SHAPE_ALL = 0x7FFF_FFFF => ALL,
    }
}

enumeration! {
    /// Whether the thinking is sent.
    aside_thinking: Thinking {
        /// The thinking is sent.
        ASIDE_THINKING_KEEP = 0 => Thinking::Keep,
        /// The thinking is left out, also if a server has split it itself. An answer of thinking alone ends with empty content,
        /// or with its thinking as content if `options.promote_empty` is set.
        ASIDE_THINKING_DROP = 1 => Thinking::Drop,
        /// The thinking stays in the content, with its markers: for hosts that pass the content to another parser. Calls are
        /// taken out of the text, unless `options.inline_calls` is set, and so are markers of other channels. Thinking that a
        /// server has split itself is sent as thinking.
        ASIDE_THINKING_INLINE = 2 => Thinking::Inline,
    }
}

enumeration! {
    /// Whether a request says that the model should think.
    aside_thinks: Option<bool> {
        /// The request does not say, so the model decides.
        ASIDE_THINKS_UNKNOWN = 0 => None,
        /// The model should think.
        ASIDE_THINKS_ON = 1 => Some(true),
        /// The model should not think.
        ASIDE_THINKS_OFF = 2 => Some(false),
    }
}

enumeration! {
    /// The form of the thinking in the items of OpenAI Responses.
    aside_responses_as: ResponsesAs {
        /// The content of a reasoning item, as `reasoning_text`: right for clients that send items back.
        ASIDE_RESPONSES_AS_REASONING_TEXT = 0 => ResponsesAs::ReasoningText,
        /// The summary of a reasoning item, as `summary_text`: for clients that show only summaries.
        ASIDE_RESPONSES_AS_SUMMARY = 1 => ResponsesAs::Summary,
    }
}

enumeration! {
    /// The treatment of comments in a stream of events, which servers send to keep a connection open.
    aside_comments: Comments {
        /// Comments stay.
        ASIDE_COMMENTS_KEEP = 0 => Comments::Keep,
        /// Comments are left out.
        ASIDE_COMMENTS_DROP = 1 => Comments::Drop,
        /// Each comment becomes an event without text: a chunk in chat and legacy completions, a `ping` in Messages. It is left
        /// out in formats without such an event, such as Responses, and before the first event unless `options.formats` names
        /// one format.
        ASIDE_COMMENTS_CHUNK = 2 => Comments::Chunk,
    }
}

enumeration! {
    /// The change that a host should make to a request.
    aside_hint: Hint {
        /// Send `Accept-Encoding: identity` to the server: no compressed answer can be read.
        ASIDE_HINT_IDENTITY = 1 => Hint::Identity,
    }
}

/// From `aside_scanner_feed_text()`: nothing was fed. From `aside_scanner_quiet()`: no chunk may be skipped.
pub const ASIDE_NOT_TEXT: i32 = -1;

enumeration! {
    /// The place of the thinking of an earlier turn in its message.
    ///
    /// A name that does not exist in the request's format changes nothing.
    aside_history_name: number of history::Name {
        /// The thinking stays where it is.
        ASIDE_HISTORY_NAME_AS_IS = 0 => history::Name::AsIs,
        /// Chat: the member `reasoning_content`.
        ASIDE_HISTORY_NAME_REASONING_CONTENT = 1 => history::Name::ReasoningContent,
        /// Chat: the member `reasoning`.
        ASIDE_HISTORY_NAME_REASONING = 2 => history::Name::Reasoning,
        /// Chat: the member `thinking`.
        ASIDE_HISTORY_NAME_THINKING = 3 => history::Name::Thinking,
        /// Chat: the member `reasoning_details`, a list with one entry of the type `reasoning.text`.
        ASIDE_HISTORY_NAME_REASONING_DETAILS = 4 => history::Name::ReasoningDetails,
        /// Chat: a part of the type `thinking` at the beginning of the content, which becomes a list.
        ASIDE_HISTORY_NAME_PARTS = 5 => history::Name::Parts,
        /// Responses: the `content` of a reasoning item, as `reasoning_text`.
        ASIDE_HISTORY_NAME_REASONING_TEXT = 6 => history::Name::ReasoningText,
        /// Responses: the `summary` of a reasoning item, as `summary_text`.
        ASIDE_HISTORY_NAME_SUMMARY = 7 => history::Name::Summary,
        /// All formats: the text of the message, with the markers of `options.dialect`. A message for which that cannot be done
        /// stays unchanged.
        ASIDE_HISTORY_NAME_TEXT = 8 => history::Name::Text(_),
    }
}

enumeration! {
    /// The turns whose thinking stays in a request.
    aside_history_turns: Turns {
        /// All turns.
        ASIDE_HISTORY_TURNS_ALL = 0 => Turns::All,
        /// The turns since the last message of the user: the loop of tool calls that is running.
        ASIDE_HISTORY_TURNS_SINCE_USER = 1 => Turns::SinceUser,
        /// None: all thinking is removed.
        ASIDE_HISTORY_TURNS_NONE = 2 => Turns::None,
    }
}

enumeration! {
    /// The change to an assistant message without thinking.
    aside_history_missing: Missing {
        /// The message stays unchanged.
        ASIDE_HISTORY_MISSING_LEAVE = 0 => Missing::Leave,
        /// The message gets an empty string under the name of the thinking, if its value is a string; in Messages, an empty
        /// thinking block.
        ASIDE_HISTORY_MISSING_EMPTY = 1 => Missing::Empty,
        /// The member, block or item of empty thinking is removed.
        ASIDE_HISTORY_MISSING_REMOVE = 2 => Missing::Remove,
    }
}

enumeration! {
    /// The treatment of blocks and items that a rewriter made, and the server did not.
    aside_history_made: Made {
        /// The blocks and items stay unchanged.
        ASIDE_HISTORY_MADE_KEEP = 0 => Made::Keep,
        /// In Messages, unsigned thinking blocks are removed; if the server would then refuse the request, its thinking is turned
        /// off. In Responses, made items lose their `id`, and references to them are removed.
        ASIDE_HISTORY_MADE_REMOVE = 1 => Made::Remove,
    }
}

enumeration! {
    /// Whether the body of a request was read, or why it was returned unchanged.
    aside_history_outcome: Outcome {
        /// The body was read, and may be unchanged.
        ASIDE_HISTORY_OUTCOME_READ = 0 => Outcome::Read,
        /// The body is longer than `options.max_body`.
        ASIDE_HISTORY_OUTCOME_TOO_LONG = 1 => Outcome::TooLong,
        /// The body is not UTF-8.
        ASIDE_HISTORY_OUTCOME_NOT_UTF8 = 2 => Outcome::NotUtf8,
        /// The body is not a JSON object with a list of messages or items, or its nesting is deeper than 128.
        ASIDE_HISTORY_OUTCOME_NOT_REQUEST = 3 => Outcome::NotRequest,
        /// A member appears twice, and servers differ in which of the two they read.
        ASIDE_HISTORY_OUTCOME_REPEATED = 4 => Outcome::Repeated,
        /// The server has the history: `previous_response_id` or `conversation`.
        ASIDE_HISTORY_OUTCOME_STORED = 5 => Outcome::Stored,
    }
}
