// aside.hpp - separates what a language model says from what it thinks: the C interface for C++17 and later
//
// SPDX-License-Identifier: MIT OR Apache-2.0
// Header-only, over aside.h, which says more about each call; link with -laside.
//
// A model's output is one stream of bytes that carries several channels: thinking, content, narration, tool calls. An
// Answer takes that stream in chunks, cut anywhere, and reports thinking, content and tool calls, without markers. A
// Scanner, the level below, reports events, with every byte: a span opens, text of a channel, a span closes. A Dialect
// decides which bytes are markers. There is one for each family of models, built in or loaded from a file.
//
// This whole program prints the text for the reader, without the thinking, from the events of a scanner:
//
//     #include <aside.hpp>
//     #include <iostream>
//
//     int main()
//     {
//         aside::Scanner scanner(aside::Dialect::find("inline-think"));
//         const auto show = [](const aside::Event &event) {
//             if (event.is_text(aside::Channel::content))
//                 std::cout << event.bytes;
//         };
//         for (const char *chunk : {"<thi", "nk>Twice 21", " is 42.</th", "ink>It is 42.\n"})
//             scanner.feed(chunk, show);
//         scanner.finish(show);
//     }
//
// There are two ways to read the events. With a callable: feed(), finish() and similar functions call it for each event. The callable is
// compiled into the function that the library calls back: no std::function, no allocation. With a loop: events(), finish_events() and
// similar functions return ranges. Both report the same events with the same bytes, except that either may cut a text into two events where
// the other reports one.
//
// Ownership. Dialect, Scanner, Answer and Rewriter own their contents, can be moved and not copied, and free it when they are destroyed.
// Scanners, answers and rewriters keep the data that they need of their dialect, which may be destroyed before them. An object that was
// moved from is empty: `if (scanner)` is then false, and a call of an empty object fails with Status::null.
//
// Lifetime. An event's views are valid until the callable returns, or until the loop's next step. A thought's views
// are valid until the next take_thought() or reset() of that scanner, or until it is destroyed; the parts of an
// answer and the output of a rewriter, until its next call. Copy anything that is needed longer.
//
// Errors. Functions that fail throw Error, which has the status and the message; aside.h describes each status. Three are not
// errors. Status::stopped: the callable paused. Status::more: a range is not at its end, or request_model() needs more of the body.
// Status::none: there is nothing to take. Programs without exceptions (-fno-exceptions) call the functions of aside.h; run-time type
// information is never needed. If memory runs out in a function that finds, lists or loads dialects, takes a thought, or reads a
// request's tools, the process ends; every other function of this header then throws.
//
// Exceptions of a callable do not pass through the library: they are caught, pause the scanner, and are thrown again
// from the function that was given the callable. The scanner is still usable; the event that
// was being handled counts as delivered. See Pauses for how to continue. A thread must not end inside a callable, by pthread_exit
// or by being cancelled.
//
// Pauses. A callable that returns Flow::pause, or throws, pauses the call, and so does leaving a loop early. Nothing is lost if the
// rest is fed: after a feed, chunk.substr(scanner.consumed()); after a loop, range.rest(), or another loop over the same range.
// Pending events are reported first. After a pause in finish() call it again until it is done: a feed in between fails with
// Status::order.
//
// Threads. Dialects never change: any number of threads may use one. A scanner, answer or rewriter may be used by any thread,
// but only by one at a time; two such objects share nothing. last_error() is kept for each thread. A scanner must not be used,
// moved or destroyed from its own callable: the library refuses (Status::busy), and a scanner that is destroyed there is never
// freed.
//
// Versions. A function that finds or loads a dialect calls the function that carries this header's version in its name, so that a program
// does not link with an older library. Enumerations may get values that this header does not name: ignore them. Call C functions that have
// no counterpart in this header with handle().

#ifndef ASIDE_HPP
#define ASIDE_HPP

#if __cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L)
#error "aside.hpp needs C++17 or later"
#endif
#if !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#error "aside.hpp needs exceptions: call the functions of aside.h without them"
#endif

#include <aside.h>
#include <aside_unstable.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace aside {

namespace detail {

/// Returns a text for C.
inline aside_bytes bytes(std::string_view text) noexcept { return {text.data(), text.size()}; }

/// Returns a text of C.
inline std::string_view view(aside_bytes bytes) noexcept { return {bytes.at, bytes.len}; }

/// Returns a text for C, with a NULL pointer only if the option is not set.
inline std::string_view for_c(const std::optional<std::string_view> &text) noexcept
{
    const std::string_view view = text.value_or(std::string_view());
    return text.has_value() && view.data() == nullptr ? std::string_view("") : view;
}

} // namespace detail

// ---------------------------------------------------------------------------------------------------------------------
// Numbers and options
// ---------------------------------------------------------------------------------------------------------------------

// Generated from src/ffi by tests/header: do not edit.

/// The result of a function.
// clang-format off
enum class [[nodiscard]] Status : aside_status {
    // clang-format on
    ok = ASIDE_OK,
    stopped = ASIDE_STOPPED,
    more = ASIDE_MORE,
    none = ASIDE_NONE,
    null = ASIDE_ERROR_NULL,
    length = ASIDE_ERROR_LENGTH,
    unknown = ASIDE_ERROR_UNKNOWN,
    dialect = ASIDE_ERROR_DIALECT,
    option = ASIDE_ERROR_OPTION,
    size = ASIDE_ERROR_SIZE,
    busy = ASIDE_ERROR_BUSY,
    order = ASIDE_ERROR_ORDER,
    memory = ASIDE_ERROR_MEMORY,
    range = ASIDE_ERROR_RANGE,
    panic = ASIDE_ERROR_PANIC,
    join = ASIDE_ERROR_JOIN,
    filter = ASIDE_ERROR_FILTER,
    original = ASIDE_ERROR_ORIGINAL,
    ambiguous = ASIDE_ERROR_AMBIGUOUS,
};

/// The kind of an event.
enum class Kind : std::uint32_t {
    /// A span begins. The bytes are its opening marker; there are none if the stream starts inside the span.
    open = ASIDE_KIND_OPEN,
    /// An attribute of the marker that has just opened a span. It has no bytes of the stream.
    attribute = ASIDE_KIND_ATTRIBUTE,
    /// Text of the channel. It is never empty, and never cuts a character of valid UTF-8.
    text = ASIDE_KIND_TEXT,
    /// Bytes that belong to no text, such as the newline that a family puts around its markers.
    framing = ASIDE_KIND_FRAMING,
    /// A span ends. The bytes are the closing marker; there are none if the span ends without a closing marker.
    close = ASIDE_KIND_CLOSE,
    /// All content so far was thinking, or all thinking so far was content: the event's channel is the right one. The
    /// content was thinking if a closer of the thinking has come without an opener before it, in a dialect with
    /// `stray_close = "reclassify"`. The thinking was content if the stream has ended in thinking that was only guessed
    /// (`end_reason()`), or if the closer of a wrapper of the answer ends the thinking. The event has no bytes of the
    /// stream, and is reported at most once in a stream.
    reclassify = ASIDE_KIND_RECLASSIFY,
    /// The thinking exceeds its budget here. The event has no bytes of the stream and is between two characters. It is
    /// reported once for each span or stream, as `options.budget_scope` says.
    budget = ASIDE_KIND_BUDGET,
    /// A tool call begins. This and the kinds after it are reported only with `options.calls`, from dialects that say how
    /// calls are written. The bytes are the beginning of the call; there are none if the opener of its span was the
    /// beginning.
    call = ASIDE_KIND_CALL,
    /// The name of the call, whole. If it has no bytes, the name is the value of a header's field.
    call_name = ASIDE_KIND_CALL_NAME,
    /// An id of the call, whole. If the whole head of the call is its id, the id is reported in parts, with the name
    /// between them.
    call_id = ASIDE_KIND_CALL_ID,
    /// A key of the arguments, whole. For arguments that are JSON, no keys are reported.
    call_key = ASIDE_KIND_CALL_KEY,
    /// The word for the type of the next value, whole.
    call_type = ASIDE_KIND_CALL_TYPE,
    /// A value, or the arguments as JSON, as they are in the stream. It is reported in pieces that do not cut a character.
    call_value = ASIDE_KIND_CALL_VALUE,
    /// The value ends. The bytes are the value's closer, if it has a closer. For arguments that are JSON, no end of a value
    /// is reported.
    call_value_end = ASIDE_KIND_CALL_VALUE_END,
    /// The call ends. The bytes are the call's last marker, if it has such a marker.
    call_end = ASIDE_KIND_CALL_END,
};

/// The purpose of a stretch of a stream.
enum class Channel : std::uint32_t {
    /// Text for the reader.
    content = ASIDE_CHANNEL_CONTENT,
    /// The model's thinking. Some interfaces call it `reasoning` or `reasoning_content`.
    thinking = ASIDE_CHANNEL_THINKING,
    /// The model's remarks on what it is doing.
    narration = ASIDE_CHANNEL_NARRATION,
    /// Tool calls.
    tool = ASIDE_CHANNEL_TOOL,
};

/// The kind of a part of an answer. Later versions may add kinds: ignore those that you do not know.
enum class PartKind : std::uint32_t {
    /// The next text of the thinking.
    thinking = ASIDE_PART_KIND_THINKING,
    /// The next text of the answer itself.
    content = ASIDE_PART_KIND_CONTENT,
    /// A call begins: its id and its name.
    call = ASIDE_PART_KIND_CALL,
    /// The next part of the arguments of a call. Joined, they are a JSON object if the call is whole.
    arguments = ASIDE_PART_KIND_ARGUMENTS,
    /// A call ends.
    call_end = ASIDE_PART_KIND_CALL_END,
    /// All text that was reported in one channel belongs at the end of the other channel's text: content that turned out to
    /// be thinking, because a closer of the thinking came without an opener, or thinking that turned out to be the answer.
    /// Only with `options.may_take_back`. If the thinking is dropped, leave out the content that moves to it.
    moved = ASIDE_PART_KIND_MOVED,
    /// The thinking exceeds its budget here.
    budget = ASIDE_PART_KIND_BUDGET,
};

/// The cause of the end of a span or a call.
enum class Cause : std::uint32_t {
    /// The closing marker was read.
    marker = ASIDE_CAUSE_MARKER,
    /// A text was read that ends the span without being its closer.
    implied = ASIDE_CAUSE_IMPLIED,
    /// The stream ended inside the span.
    end_of_stream = ASIDE_CAUSE_END_OF_STREAM,
    /// `force_close()` ended the span.
    forced = ASIDE_CAUSE_FORCED,
    /// The text of a tool call broke its grammar. No span ends with this cause.
    malformed = ASIDE_CAUSE_MALFORMED,
    /// The answer ended by itself inside a tool call, as the host has reported with `end_reason()`. No span ends with this
    /// cause, and no part of an answer has it.
    ended = ASIDE_CAUSE_ENDED,
};

/// The start of a stream.
enum class Start : std::uint32_t {
    /// The dialect decides.
    dialect = ASIDE_START_DEFAULT,
    /// No span is open.
    content = ASIDE_START_CONTENT,
    /// The stream begins inside a thinking span, whose opener was in the prompt.
    thinking = ASIDE_START_THINKING,
    /// The stream begins inside a narration span.
    narration = ASIDE_START_NARRATION,
    /// The stream begins inside a tool span.
    tool = ASIDE_START_TOOL,
    /// The stream begins inside a channel header, of a dialect that has headers.
    header = ASIDE_START_HEADER,
    /// For a rewriter that looks for calls, and a request with `"tool_choice": "required"`: a grammar makes the model write
    /// a list of tool calls without markers, after its thinking.
    calls = ASIDE_START_CALLS,
};

/// The treatment of a tool call that begins inside the thinking.
enum class CallsInThinking : std::uint32_t {
    /// The dialect decides whether the call ends the thinking, interrupts it, or is text of it.
    dialect = ASIDE_CALLS_IN_THINKING_DIALECT,
    /// Every tool opener in the thinking is text.
    never = ASIDE_CALLS_IN_THINKING_NEVER,
    /// The dialect decides, and a rewriter reports a call at once. Otherwise a rewriter waits until it is clear whether the
    /// model means the call: text after the call shows that the call is part of the thinking.
    always = ASIDE_CALLS_IN_THINKING_ALWAYS,
};

/// The treatment of a closer of the thinking without an opener, after content.
enum class StrayClose : std::uint32_t {
    /// The dialect decides.
    dialect = ASIDE_STRAY_CLOSE_DIALECT,
    /// A closer of the thinking in the content, after other text, is text: for a host that is sure that its model does not
    /// think.
    text = ASIDE_STRAY_CLOSE_TEXT,
    /// Only the closer is removed, and the text on both sides of it stays content: for a host whose prompt has ended the
    /// thinking.
    drop = ASIDE_STRAY_CLOSE_DROP,
};

/// The reason why a stream ends, as far as its host knows it.
enum class EndReason : std::uint32_t {
    /// Not known.
    unknown = ASIDE_END_REASON_UNKNOWN,
    /// The model has ended its answer: `"finish_reason":"stop"`.
    ended = ASIDE_END_REASON_ENDED,
    /// The answer was cut off, by a limit or an error: `"finish_reason":"length"`.
    cut_off = ASIDE_END_REASON_CUT_OFF,
};

/// The part of a call that is sent before the call is whole.
enum class NotWhole : std::uint32_t {
    /// The arguments, as they arrive. If a call breaks off, the client keeps the part that was sent.
    tell = ASIDE_NOT_WHOLE_TELL,
    /// Nothing: a whole call is sent at once. A call that is not whole, was repaired, or is longer than may be held is
    /// text.
    hold = ASIDE_NOT_WHOLE_HOLD,
    /// Nothing until the call is whole, or longer than may be held; from then on, its arguments as they arrive. A call that
    /// is held, and is not whole or was repaired, is text.
    text = ASIDE_NOT_WHOLE_TEXT,
};

/// The treatment of a call of a tool that the request does not list.
enum class UnknownTool : std::uint32_t {
    /// The call is text.
    text = ASIDE_UNKNOWN_TOOL_TEXT,
    /// The call is removed.
    drop = ASIDE_UNKNOWN_TOOL_DROP,
    /// The call is emitted like a call of a listed tool.
    tell = ASIDE_UNKNOWN_TOOL_TELL,
};

/// The language of a grammar.
enum class GrammarFormat : std::uint32_t {
    /// A structural tag of xgrammar, as JSON.
    xgrammar = ASIDE_GRAMMAR_FORMAT_XGRAMMAR,
    /// A Lark grammar of llguidance.
    lark = ASIDE_GRAMMAR_FORMAT_LARK,
};

/// Whether the end of a text that has ended by itself may end a call.
enum class ImpliedEnd : std::uint32_t {
    /// A call written as keys and values between markers is whole if the text ends after a value.
    on = ASIDE_IMPLIED_END_ON,
    /// A call that the end of the text cuts off is never whole.
    off = ASIDE_IMPLIED_END_OFF,
};

/// The reading of a tag of another family, such as `<think>`, at the beginning of a stream, after blanks at most.
enum class LeadingTags : std::uint32_t {
    /// In a dialect of a model, the tag opens the thinking, and either the tag's own closer or the dialect's closer ends
    /// it.
    dialect = ASIDE_LEADING_TAGS_DIALECT,
    /// The tag is text: for a host that asks for such a tag in its prompt and looks for it itself.
    text = ASIDE_LEADING_TAGS_TEXT,
};

/// The unit of a budget.
enum class BudgetUnit : std::uint32_t {
    /// Bytes.
    bytes = ASIDE_BUDGET_UNIT_BYTES,
    /// Characters.
    characters = ASIDE_BUDGET_UNIT_CHARACTERS,
};

/// The scope of a budget.
enum class BudgetScope : std::uint32_t {
    /// Each thinking span has the whole budget.
    span = ASIDE_BUDGET_SCOPE_SPAN,
    /// All thinking of the stream shares the budget.
    stream = ASIDE_BUDGET_SCOPE_STREAM,
};

/// The treatment of a part that contains a marker, in a join.
enum class Markers : std::uint32_t {
    /// The call fails with `Status::join`.
    refuse = ASIDE_MARKERS_REFUSE,
    /// The call breaks the markers, as `escape()` does.
    escape = ASIDE_MARKERS_ESCAPE,
};

/// The name of the field for the thinking.
enum class Field : std::uint32_t {
    /// `reasoning_content`.
    reasoning_content = ASIDE_FIELD_REASONING_CONTENT,
    /// `reasoning`.
    reasoning = ASIDE_FIELD_REASONING,
    /// `thinking`.
    thinking = ASIDE_FIELD_THINKING,
};

/// The kind of body that is fed to a rewriter.
enum class Body : std::uint32_t {
    /// The first byte that is not white space decides. JSON begins with `{`, an event stream never does.
    unknown = ASIDE_BODY_UNKNOWN,
    /// An event stream, `text/event-stream`.
    events = ASIDE_BODY_EVENTS,
    /// One JSON object, `application/json`.
    json = ASIDE_BODY_JSON,
    /// JSON objects, each on a separate line, `application/x-ndjson`: Ollama's streams.
    lines = ASIDE_BODY_LINES,
};

/// A set of formats of answers, each with the end of its path.
enum class Formats : std::uint32_t {
    /// Chat completions of OpenAI, `/chat/completions`.
    chat = ASIDE_FORMAT_CHAT,
    /// Completions of OpenAI, `/completions`.
    completions = ASIDE_FORMAT_COMPLETIONS,
    /// OpenAI Responses, `/responses`.
    responses = ASIDE_FORMAT_RESPONSES,
    /// Anthropic Messages, `/messages`.
    messages = ASIDE_FORMAT_MESSAGES,
    /// Ollama's own format, `/api/chat` and `/api/generate`.
    ollama = ASIDE_FORMAT_OLLAMA,
    /// All formats, including the formats of later versions: all bits of an `int`. Any other value is refused if it has a
    /// bit that belongs to no format.
    all = ASIDE_FORMAT_ALL,
};

/// A set of differences between the shapes of servers' answers, which a rewriter removes.
enum class Shapes : std::uint32_t {
    /// No shape: the answer of a server stays unchanged.
    none = ASIDE_SHAPE_NONE,
    /// The thinking that a server sends as `reasoning_content`, `reasoning`, `thinking`, or as the text of
    /// `reasoning_details`, is sent in the field `options.field`.
    field = ASIDE_SHAPE_FIELD,
    /// Content that is a list of texts and thinking becomes a string, with the thinking in its field.
    lists = ASIDE_SHAPE_LISTS,
    /// A chunk of a stream with thinking and content becomes two, the thinking first.
    chunks = ASIDE_SHAPE_CHUNKS,
    /// The content after thinking that the server has split is split too: markers are removed, and a second thinking is
    /// moved. In a chat's stream this includes `Shapes::chunks`.
    content = ASIDE_SHAPE_CONTENT,
    /// All shapes, including the shapes of later versions: all bits of an `int`. Any other value is refused if it has a bit
    /// that belongs to no shape.
    all = ASIDE_SHAPE_ALL,
};

/// Whether the thinking is sent.
enum class Thinking : std::uint32_t {
    /// The thinking is sent.
    keep = ASIDE_THINKING_KEEP,
    /// The thinking is left out, also if a server has split it itself. An answer of thinking alone ends with empty content,
    /// or with its thinking as content if `options.promote_empty` is set.
    drop = ASIDE_THINKING_DROP,
    /// The thinking stays in the content, with its markers: for hosts that pass the content to another parser. Calls are
    /// taken out of the text, unless `options.inline_calls` is set, and so are markers of other channels. Thinking that a
    /// server has split itself is sent as thinking.
    inlined = ASIDE_THINKING_INLINE,
};

/// Whether a request says that the model should think.
enum class Thinks : std::uint32_t {
    /// The request does not say, so the model decides.
    unknown = ASIDE_THINKS_UNKNOWN,
    /// The model should think.
    on = ASIDE_THINKS_ON,
    /// The model should not think.
    off = ASIDE_THINKS_OFF,
};

/// The form of the thinking in the items of OpenAI Responses.
enum class ResponsesAs : std::uint32_t {
    /// The content of a reasoning item, as `reasoning_text`: right for clients that send items back.
    reasoning_text = ASIDE_RESPONSES_AS_REASONING_TEXT,
    /// The summary of a reasoning item, as `summary_text`: for clients that show only summaries.
    summary = ASIDE_RESPONSES_AS_SUMMARY,
};

/// The treatment of comments in a stream of events, which servers send to keep a connection open.
enum class Comments : std::uint32_t {
    /// Comments stay.
    keep = ASIDE_COMMENTS_KEEP,
    /// Comments are left out.
    drop = ASIDE_COMMENTS_DROP,
    /// Each comment becomes an event without text: a chunk in chat and legacy completions, a `ping` in Messages. It is left
    /// out in formats without such an event, such as Responses, and before the first event unless `options.formats` names
    /// one format.
    chunk = ASIDE_COMMENTS_CHUNK,
};

/// The change that a host should make to a request.
enum class Hint : std::uint32_t {
    /// Send `Accept-Encoding: identity` to the server: no compressed answer can be read.
    identity = ASIDE_HINT_IDENTITY,
};

/// The place of the thinking of an earlier turn in its message.
enum class HistoryName : std::uint32_t {
    /// The thinking stays where it is.
    as_is = ASIDE_HISTORY_NAME_AS_IS,
    /// Chat: the member `reasoning_content`.
    reasoning_content = ASIDE_HISTORY_NAME_REASONING_CONTENT,
    /// Chat: the member `reasoning`.
    reasoning = ASIDE_HISTORY_NAME_REASONING,
    /// Chat: the member `thinking`.
    thinking = ASIDE_HISTORY_NAME_THINKING,
    /// Chat: the member `reasoning_details`, a list with one entry of the type `reasoning.text`.
    reasoning_details = ASIDE_HISTORY_NAME_REASONING_DETAILS,
    /// Chat: a part of the type `thinking` at the beginning of the content, which becomes a list.
    parts = ASIDE_HISTORY_NAME_PARTS,
    /// Responses: the `content` of a reasoning item, as `reasoning_text`.
    reasoning_text = ASIDE_HISTORY_NAME_REASONING_TEXT,
    /// Responses: the `summary` of a reasoning item, as `summary_text`.
    summary = ASIDE_HISTORY_NAME_SUMMARY,
    /// All formats: the text of the message, with the markers of `options.dialect`. A message for which that cannot be done
    /// stays unchanged.
    text = ASIDE_HISTORY_NAME_TEXT,
};

/// The turns whose thinking stays in a request.
enum class HistoryTurns : std::uint32_t {
    /// All turns.
    all = ASIDE_HISTORY_TURNS_ALL,
    /// The turns since the last message of the user: the loop of tool calls that is running.
    since_user = ASIDE_HISTORY_TURNS_SINCE_USER,
    /// None: all thinking is removed.
    none = ASIDE_HISTORY_TURNS_NONE,
};

/// The change to an assistant message without thinking.
enum class HistoryMissing : std::uint32_t {
    /// The message stays unchanged.
    leave = ASIDE_HISTORY_MISSING_LEAVE,
    /// The message gets an empty string under the name of the thinking, if its value is a string; in Messages, an empty
    /// thinking block.
    empty = ASIDE_HISTORY_MISSING_EMPTY,
    /// The member, block or item of empty thinking is removed.
    remove = ASIDE_HISTORY_MISSING_REMOVE,
};

/// The treatment of blocks and items that a rewriter made, and the server did not.
enum class HistoryMade : std::uint32_t {
    /// The blocks and items stay unchanged.
    keep = ASIDE_HISTORY_MADE_KEEP,
    /// In Messages, unsigned thinking blocks are removed; if the server would then refuse the request, its thinking is
    /// turned off. In Responses, made items lose their `id`, and references to them are removed.
    remove = ASIDE_HISTORY_MADE_REMOVE,
};

/// Whether the body of a request was read, or why it was returned unchanged.
enum class HistoryOutcome : std::uint32_t {
    /// The body was read, and may be unchanged.
    read = ASIDE_HISTORY_OUTCOME_READ,
    /// The body is longer than `options.max_body`.
    too_long = ASIDE_HISTORY_OUTCOME_TOO_LONG,
    /// The body is not UTF-8.
    not_utf8 = ASIDE_HISTORY_OUTCOME_NOT_UTF8,
    /// The body is not a JSON object with a list of messages or items, or its nesting is deeper than 128.
    not_request = ASIDE_HISTORY_OUTCOME_NOT_REQUEST,
    /// A member appears twice, and servers differ in which of the two they read.
    repeated = ASIDE_HISTORY_OUTCOME_REPEATED,
    /// The server has the history: `previous_response_id` or `conversation`.
    stored = ASIDE_HISTORY_OUTCOME_STORED,
};

/// The options of an answer. The defaults follow its dialect.
struct AnswerOptions {
    /// The span that is open at the first byte.
    Start start = Start::dialect;
    /// The treatment of a closer of the thinking without an opener, after content.
    StrayClose stray_close = StrayClose::dialect;
    /// The treatment of a tool call that begins inside the thinking.
    CallsInThinking calls_in_thinking = CallsInThinking::dialect;
    /// The reading of a tag that is not the dialect's own at the beginning of the text.
    LeadingTags leading_tags = LeadingTags::dialect;
    /// Whether the thinking is reported.
    Thinking thinking = Thinking::keep;
    /// The part of a call that is reported before the call is whole. At most `max_held` bytes of it are held.
    NotWhole not_whole = NotWhole::tell;
    /// The treatment of a call of a tool that is not in `tools`.
    UnknownTool unknown_tool = UnknownTool::text;
    /// Whether the end of a text that has ended by itself (`EndReason::ended`) may end a call.
    ImpliedEnd implied_end = ImpliedEnd::on;
    /// The request's `tools`: a JSON array of objects with `name` and `parameters`, which may also be inside `function`, or
    /// with `name` and `input_schema`, as in Anthropic's Messages. Their schemas have the types of the arguments. `[]`: all
    /// calls are content, which is right for a request without tools. Not set: every call is reported, and the types of its
    /// arguments are not known.
    std::optional<std::string_view> tools{};
    /// The name of a tool. The text, without its thinking, is read as the arguments of a call of this tool: if a request
    /// names a tool (`tool_choice`), a grammar makes the model write the arguments without markers. Not set: the text is
    /// read as usual.
    std::optional<std::string_view> start_call{};
    /// The beginning of the id that is made for a call without one; `index` of the call follows it. UTF-8. Ids are unique
    /// in a conversation only if each answer has a different beginning. Not set: `call_`.
    std::optional<std::string_view> id_prefix{};
    /// The maximum number of bytes of `tools` that are read; a longer list is an error. Reading a list may need about 40
    /// times its length in memory. 0: 4 MiB.
    std::uint64_t max_tools = 0;
    /// The maximum number of bytes of text that are held until it is clear whether they are a call, and of a value that are
    /// held until its type is clear, at most 4 MiB of text. 0: 1 MiB.
    std::uint64_t max_held = 0;
    /// The maximum number of calls that are reported, such as 1 for `"parallel_tool_calls": false`; later calls are
    /// content. 0: 1,024, the maximum.
    std::uint64_t max_calls = 0;
    /// The limit of the thinking, beyond which `PartKind::budget` is reported. 0: there is no limit.
    std::uint64_t budget = 0;
    /// The unit of the budget.
    BudgetUnit budget_unit = BudgetUnit::bytes;
    /// The scope of the budget.
    BudgetScope budget_scope = BudgetScope::span;
    /// If true, mend arguments that have only one possible meaning; such a call counts as repaired. In JSON, a backslash
    /// that does not begin an escape is escaped. If the schema asks for an array or an object and not for a string, a
    /// string that contains it as JSON is decoded, and a Python literal between markers becomes JSON. If false, leave the
    /// arguments unchanged.
    bool repair_arguments = false;
    /// If true, report the thinking as content if the text ends by itself and has neither content nor a call. At most
    /// 16 MiB of thinking are kept for this. If false, such a text has no content.
    bool promote_empty = false;
    /// If true, leave guessed thinking unchanged. If false, report thinking as content too, if the dialect only guessed
    /// that the text starts in the thinking, and the text ends by itself in the thinking, without a marker that confirms
    /// the guess.
    bool keep_guessed = false;
    /// If true, report `PartKind::moved` if reported text belongs to the other channel, for a host that builds a whole
    /// message. If false, content that turns out to be thinking stays content, and thinking that turns out to be the answer
    /// is reported again as content.
    bool may_take_back = false;
    /// If true, leave calls in the content, as the model wrote them, for a host that passes the content to another parser;
    /// `tools`, `start_call`, `id_prefix` and the policies for calls then have no effect. If false, report calls.
    bool inline_calls = false;
};

namespace detail {

inline aside_answer_options lend(const AnswerOptions &options) noexcept
{
    aside_answer_options raw{};
    raw.size = sizeof raw;
    raw.start = static_cast<std::uint32_t>(options.start);
    raw.stray_close = static_cast<std::uint32_t>(options.stray_close);
    raw.calls_in_thinking = static_cast<std::uint32_t>(options.calls_in_thinking);
    raw.leading_tags = static_cast<std::uint32_t>(options.leading_tags);
    raw.thinking = static_cast<std::uint32_t>(options.thinking);
    raw.not_whole = static_cast<std::uint32_t>(options.not_whole);
    raw.unknown_tool = static_cast<std::uint32_t>(options.unknown_tool);
    raw.implied_end = static_cast<std::uint32_t>(options.implied_end);
    raw.tools = bytes(for_c(options.tools));
    raw.start_call = bytes(for_c(options.start_call));
    raw.id_prefix = bytes(for_c(options.id_prefix));
    raw.max_tools = options.max_tools;
    raw.max_held = options.max_held;
    raw.max_calls = options.max_calls;
    raw.budget = options.budget;
    raw.budget_unit = static_cast<std::uint32_t>(options.budget_unit);
    raw.budget_scope = static_cast<std::uint32_t>(options.budget_scope);
    raw.repair_arguments = options.repair_arguments ? 1 : 0;
    raw.promote_empty = options.promote_empty ? 1 : 0;
    raw.keep_guessed = options.keep_guessed ? 1 : 0;
    raw.may_take_back = options.may_take_back ? 1 : 0;
    raw.inline_calls = options.inline_calls ? 1 : 0;
    return raw;
}

} // namespace detail

/// The options of a rewriter. The defaults follow its dialect.
struct RewriterOptions {
    /// The span that is open at the first byte.
    Start start = Start::dialect;
    /// The treatment of a closer of the thinking without an opener, after content.
    StrayClose stray_close = StrayClose::dialect;
    /// The treatment of a tool call that begins inside the thinking.
    CallsInThinking calls_in_thinking = CallsInThinking::dialect;
    /// The reading of a tag that is not the dialect's own at the beginning of the text.
    LeadingTags leading_tags = LeadingTags::dialect;
    /// Whether the thinking is reported.
    Thinking thinking = Thinking::keep;
    /// The part of a call that is reported before the call is whole. At most `max_held` bytes of it are held.
    NotWhole not_whole = NotWhole::tell;
    /// The treatment of a call of a tool that is not in `tools`.
    UnknownTool unknown_tool = UnknownTool::text;
    /// Whether the end of a text that has ended by itself (`EndReason::ended`) may end a call.
    ImpliedEnd implied_end = ImpliedEnd::on;
    /// The request's `tools`: a JSON array of objects with `name` and `parameters`, which may also be inside `function`, or
    /// with `name` and `input_schema`, as in Anthropic's Messages. Their schemas have the types of the arguments. `[]`: all
    /// calls are content, which is right for a request without tools. Not set: every call is reported, and the types of its
    /// arguments are not known.
    std::optional<std::string_view> tools{};
    /// The name of a tool. The text, without its thinking, is read as the arguments of a call of this tool: if a request
    /// names a tool (`tool_choice`), a grammar makes the model write the arguments without markers. Not set: the text is
    /// read as usual.
    std::optional<std::string_view> start_call{};
    /// The maximum number of bytes of `tools` that are read; a longer list is an error. Reading a list may need about 40
    /// times its length in memory. 0: 4 MiB.
    std::uint64_t max_tools = 0;
    /// The maximum number of bytes of text that are held until it is clear whether they are a call, and of a value that are
    /// held until its type is clear, at most 4 MiB of text. 0: 1 MiB.
    std::uint64_t max_held = 0;
    /// The maximum number of calls that are reported, such as 1 for `"parallel_tool_calls": false`; later calls are
    /// content. 0: 1,024, the maximum.
    std::uint64_t max_calls = 0;
    /// If true, mend arguments that have only one possible meaning; such a call counts as repaired. In JSON, a backslash
    /// that does not begin an escape is escaped. If the schema asks for an array or an object and not for a string, a
    /// string that contains it as JSON is decoded, and a Python literal between markers becomes JSON. If false, leave the
    /// arguments unchanged.
    bool repair_arguments = false;
    /// If true, report the thinking as content if the text ends by itself and has neither content nor a call. At most
    /// 16 MiB of thinking are kept for this. If false, such a text has no content.
    bool promote_empty = false;
    /// If true, leave guessed thinking unchanged. If false, report thinking as content too, if the dialect only guessed
    /// that the text starts in the thinking, and the text ends by itself in the thinking, without a marker that confirms
    /// the guess.
    bool keep_guessed = false;
    /// The name of the field for the thinking.
    Field field = Field::reasoning_content;
    /// The kind of body that is fed.
    Body body = Body::unknown;
    /// If true, nothing is split, and the output equals the input. If false, the text is split.
    bool off = false;
    /// If true, make `tool_calls` from the calls that the model writes as text, if the dialect says how they are written,
    /// and change the `finish_reason` from `stop` to `tool_calls`. After the first call that the server itself makes in a
    /// choice, calls in the text of that choice stay in the text. A body, and Ollama's format, have whole calls only. If
    /// false, calls stay in the text.
    bool calls = false;
    /// The length of the longest event or JSON body that is read, in bytes; a longer one is forwarded unchanged. 0: 16 MiB.
    std::uint64_t max_event = 0;
    /// The formats of the answers that are read; an answer of a different format is forwarded unchanged. Not set: all
    /// formats.
    Formats formats{};
    /// The form of the thinking in the items of OpenAI Responses.
    ResponsesAs responses_as = ResponsesAs::reasoning_text;
    /// If true, mend faults in a stream of events that make clients fail or lose text: empty `data:` lines, comments inside
    /// an event, an object over several lines, chunks without `choices`, and more. If false, leave the faults unchanged.
    bool repair = false;
    /// If true, in chat completions, completions and Ollama's lines, send one chunk for each chunk of the server, the
    /// thinking before the content, for clients that count chunks, even if `repair` or `normalise` would make two chunks.
    /// If false, each chunk has text for one field.
    bool merge = false;
    /// The differences between servers' answers that are removed. Not set: none.
    Shapes normalise = Shapes::none;
    /// If true, label the thinking blocks of Messages and the reasoning items of Responses that the rewriter makes, so that
    /// they can be removed from a history. If false, their signatures are empty, and their ids begin with `rs_`.
    bool label = false;
    /// The treatment of comments in a stream of events, for clients that fail on them.
    Comments comments = Comments::keep;
};

namespace detail {

inline aside_answer_options lend_answer(const RewriterOptions &options) noexcept
{
    aside_answer_options raw{};
    raw.size = sizeof raw;
    raw.start = static_cast<std::uint32_t>(options.start);
    raw.stray_close = static_cast<std::uint32_t>(options.stray_close);
    raw.calls_in_thinking = static_cast<std::uint32_t>(options.calls_in_thinking);
    raw.leading_tags = static_cast<std::uint32_t>(options.leading_tags);
    raw.thinking = static_cast<std::uint32_t>(options.thinking);
    raw.not_whole = static_cast<std::uint32_t>(options.not_whole);
    raw.unknown_tool = static_cast<std::uint32_t>(options.unknown_tool);
    raw.implied_end = static_cast<std::uint32_t>(options.implied_end);
    raw.tools = bytes(for_c(options.tools));
    raw.start_call = bytes(for_c(options.start_call));
    raw.max_tools = options.max_tools;
    raw.max_held = options.max_held;
    raw.max_calls = options.max_calls;
    raw.repair_arguments = options.repair_arguments ? 1 : 0;
    raw.promote_empty = options.promote_empty ? 1 : 0;
    raw.keep_guessed = options.keep_guessed ? 1 : 0;
    return raw;
}

inline aside_rewriter_options lend(const RewriterOptions &options, const aside_answer_options &answer) noexcept
{
    aside_rewriter_options raw{};
    raw.size = sizeof raw;
    raw.field = static_cast<std::uint32_t>(options.field);
    raw.body = static_cast<std::uint32_t>(options.body);
    raw.off = options.off ? 1 : 0;
    raw.calls = options.calls ? 1 : 0;
    raw.max_event = options.max_event;
    raw.formats = static_cast<std::uint32_t>(options.formats);
    raw.responses_as = static_cast<std::uint32_t>(options.responses_as);
    raw.repair = options.repair ? 1 : 0;
    raw.merge = options.merge ? 1 : 0;
    raw.normalise = static_cast<std::uint32_t>(options.normalise);
    raw.label = options.label ? 1 : 0;
    raw.comments = static_cast<std::uint32_t>(options.comments);
    raw.answer = &answer;
    return raw;
}

} // namespace detail

/// The counts of a rewriter since it was made or last reset.
struct Stats {
    /// Events that have data, lines of JSON, and bodies that were read whole.
    std::uint64_t events = 0;
    /// The number of `events` that were sent changed, or with chunks before them.
    std::uint64_t changed = 0;
    /// Chunks and events that were written in addition to the server's.
    std::uint64_t added = 0;
    /// Faults of the stream that the option `repair` has mended.
    std::uint64_t repaired = 0;
    /// Events and bodies that were forwarded unread because they were longer than the option `max_event`.
    std::uint64_t too_long = 0;
    /// JSON objects that were forwarded unread because they are neither in a format that is read nor an error.
    std::uint64_t unread = 0;
    /// Answers whose thinking was to be sent as content too, and was too long for that.
    std::uint64_t unpromoted = 0;
    /// Events that repeat a whole text and lack some of it, because that text was longer than `max_event`.
    std::uint64_t truncated = 0;
    /// Bytes of text that were sent as thinking. Text that a server splits itself is not counted.
    std::uint64_t thinking_bytes = 0;
    /// Bytes of text that were sent as content.
    std::uint64_t content_bytes = 0;
    /// Bytes of text, and of an unfinished event or body, that are held now. A finish would return them.
    std::uint64_t held = 0;
    /// Texts whose thinking the server splits itself.
    std::uint64_t split_by_server = 0;
    /// Whether the stream is forwarded unread because its first bytes are not text: it is compressed (gzip, zstd, zlib
    /// or Brotli), or not in UTF-8. Ask the server for `Accept-Encoding: identity`, or decode the body before it is
    /// fed. After the end of a stream, this describes that stream, until another begins.
    bool encoded = false;
    /// Tool calls in the text that were sent as calls. Calls that the server itself has made are not counted.
    std::uint64_t calls = 0;
    /// Texts that a server repeats in Responses and that were split again, because their message differs from what was
    /// sent before, or was too long to be kept.
    std::uint64_t contradicted = 0;
};

namespace detail {

inline Stats stats_of(const aside_rewriter_stats &raw) noexcept
{
    Stats stats;
    stats.events = raw.events;
    stats.changed = raw.changed;
    stats.added = raw.added;
    stats.repaired = raw.repaired;
    stats.too_long = raw.too_long;
    stats.unread = raw.unread;
    stats.unpromoted = raw.unpromoted;
    stats.truncated = raw.truncated;
    stats.thinking_bytes = raw.thinking_bytes;
    stats.content_bytes = raw.content_bytes;
    stats.held = raw.held;
    stats.split_by_server = raw.split_by_server;
    stats.encoded = raw.encoded != 0;
    stats.calls = raw.calls;
    stats.contradicted = raw.contradicted;
    return stats;
}

} // namespace detail

// End of the generated part.

// ---------------------------------------------------------------------------------------------------------------------
// Statuses and errors
// ---------------------------------------------------------------------------------------------------------------------

/// Returns whether a status is a failure, and not success or a pause.
constexpr bool failed(Status status) noexcept { return static_cast<aside_status>(status) < 0; }

/// Returns the general sentence of a status.
inline const char *describe(Status status) noexcept { return aside_status_text(static_cast<aside_status>(status)); }

/// Returns the message of the last failure in this thread; empty if nothing has failed. Valid until the next failure.
inline const char *last_error() noexcept { return aside_last_error(); }

/// Returns the status that belongs to last_error().
inline Status last_status() noexcept { return static_cast<Status>(aside_last_status()); }

/// Returns the version of the loaded library; ASIDE_VERSION is the header's version.
inline const char *version() noexcept { return aside_version(); }

/// Returns the version of the library's binary interface. A program fits the library if the version is ASIDE_ABI_VERSION.
inline std::uint32_t abi_version() noexcept { return aside_abi_version(); }

/// The exception that functions throw. what() is the message of the failure.
class Error : public std::runtime_error {
public:
    Error(Status status, const char *message) : std::runtime_error(message), status_(status) {}

    Status status() const noexcept { return status_; }

private:
    Status status_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Events
// ---------------------------------------------------------------------------------------------------------------------

/// Returns the name of a channel, as dialect files write it; empty for a channel that this header does not know.
constexpr std::string_view name(Channel channel) noexcept
{
    switch (channel) {
    case Channel::content: return "content";
    case Channel::thinking: return "thinking";
    case Channel::narration: return "narration";
    case Channel::tool: return "tool";
    }
    return {};
}

/// A place in a marker, counted from the marker's first byte.
struct Place {
    std::uint32_t at;
    std::uint32_t len;
};

/// One event. The bytes of all events, in order, are the stream.
struct Event {
    Kind kind;
    Channel channel;      ///< of the span or the text; of framing, the channel around it
    Cause cause;          ///< of a close, or of the end of a call
    std::uint32_t rule;   ///< of an open or a call: which [[span]] of the dialect's file, from 0; their number for a header
    std::uint32_t tag;    ///< of an open: which of the span's opening literals or names; Dialect::opener() has the words.
                          ///< Of a call: which of the span's [[span.call]], from 0
    std::uint32_t call;   ///< of a call or its end: its number in the stream, from 0
    std::uint64_t offset; ///< the index of the bytes in the stream; of an attribute, of the marker
    std::string_view bytes; ///< the bytes of the stream; of an attribute, none
    std::string_view name;  ///< of an attribute; of a call's name, the name: if it is in a header, there are no bytes
    std::string_view value; ///< of an attribute, decoded
    Place raw_name;         ///< of an attribute: the range of the name in the marker; len 0 where it has none there
    Place raw_value;        ///< of an attribute: the range of the value in the marker, not decoded
    /// The number of tokens of feed_tokens() that begin inside the bytes. A token that begins in one event and ends in another
    /// belongs to the first, so that each token with bytes is in exactly one event.
    std::uint32_t tokens;
    std::uint64_t first_token; ///< how many tokens of the stream begin before the event
    bool is_repaired; ///< of the end of a value: it ended without its closer; of the end of a call: a value of it did

    /// Returns whether the event is text of this channel.
    constexpr bool is_text(Channel of) const noexcept { return kind == Kind::text && channel == of; }
};

/// The result of a callable: whether the feed continues. After a callable that returns nothing, it always does.
enum class Flow : std::int32_t { go_on = 0, pause = 1 };

namespace detail {

/// Returns the message of a call that has failed. If it failed because an object is empty, last_error() may be the message of
/// an earlier call.
inline const char *reason(Status status) noexcept
{
    if (status == Status::null)
        return "the object is empty: it was moved from, or could not be made";
    return status == last_status() ? last_error() : describe(status);
}

inline Status check(Status status)
{
    if (failed(status))
        throw Error(status, reason(status));
    return status;
}

inline void check_status(aside_status status) { static_cast<void>(check(static_cast<Status>(status))); }

/// Returns an object, or throws Error if the object is empty.
template <class T>
T check(T made)
{
    if (!made)
        throw Error(last_status(), aside_last_error());
    return made;
}

/// Returns whether the data of an event is in `aside_event_array.attributes`, and not in the stream.
inline bool is_apart(const aside_event &raw) noexcept
{
    return raw.kind == ASIDE_KIND_ATTRIBUTE || (raw.kind == ASIDE_KIND_CALL_NAME && raw.value_len > 0);
}

/// `bytes`: of an attribute, its name and value; of a call's name in a header, that name; otherwise the bytes of the stream.
inline Event read(const aside_event &raw, const char *bytes) noexcept
{
    const bool has_tag = raw.kind != ASIDE_KIND_CALL_VALUE_END && raw.kind != ASIDE_KIND_CALL_END;
    Event event{static_cast<Kind>(raw.kind),
                static_cast<Channel>(raw.channel),
                static_cast<Cause>(raw.cause),
                raw.rule,
                has_tag ? raw.tag : 0,
                raw.call,
                raw.offset,
                std::string_view(bytes, static_cast<std::size_t>(raw.len)),
                {},
                {},
                {raw.raw_name_at, raw.raw_name_len},
                {raw.raw_value_at, raw.raw_value_len},
                raw.tokens,
                raw.first_token,
                !has_tag && raw.tag == 1};
    if (event.kind == Kind::attribute) {
        event.name = std::string_view(bytes, raw.name_len);
        event.value = std::string_view(bytes + raw.name_len, raw.value_len);
    } else if (event.kind == Kind::call_name) {
        event.name = is_apart(raw) ? std::string_view(bytes, raw.value_len) : event.bytes;
    }
    return event;
}

/// A callable in the form in which the library calls it.
template <class F>
struct Call {
    static_assert(std::is_invocable_v<F &, const Event &>, "the callable takes a const aside::Event &");
    using Result = std::invoke_result_t<F &, const Event &>;
    static_assert(std::is_void_v<Result> || std::is_same_v<Result, Flow>, "the callable returns void or aside::Flow");

    F &callable;
    std::exception_ptr thrown{};

    /// An aside_event_fn; `user` is the Call.
    static std::int32_t on_event(void *user, const aside_event *raw, const char *bytes) noexcept
    {
        Call &call = *static_cast<Call *>(user);
        try {
            return call.invoke(read(*raw, bytes));
        } catch (...) {
            call.thrown = std::current_exception();
            return static_cast<std::int32_t>(Flow::pause);
        }
    }

    std::int32_t invoke(const Event &event)
    {
        if constexpr (std::is_void_v<Result>) {
            callable(event);
            return static_cast<std::int32_t>(Flow::go_on);
        } else {
            return static_cast<std::int32_t>(callable(event));
        }
    }
};

/// Runs `feed(function, user)` with the callable as its function. Returns false if the callable paused.
template <class F, class Feed>
bool run(F &callable, Feed feed)
{
    Call<F> call{callable};
    const Status status = static_cast<Status>(feed(&Call<F>::on_event, &call));
    if (call.thrown)
        std::rethrow_exception(std::move(call.thrown));
    return check(status) == Status::ok;
}

} // namespace detail

// ---------------------------------------------------------------------------------------------------------------------
// Dialects
// ---------------------------------------------------------------------------------------------------------------------

struct TemplateMatch;
struct ToolGrammar;

/// The byte sequences that are markers, and their effect. A dialect never changes; any number of threads may use it.
class Dialect {
public:
    /// Makes an empty object, which owns nothing.
    Dialect() noexcept = default;

    /// Finds a built-in dialect by its name or an alias; empty if there is none, and last_error() names the nearest ones.
    static Dialect try_find(std::string_view name) noexcept
    {
        ASIDE_VERSION_SYMBOL();
        return Dialect(aside_dialect_find(name.data(), name.size()));
    }

    /// try_find() that fails with Status::unknown if there is no such dialect.
    static Dialect find(std::string_view name) { return detail::check(try_find(name)); }

    /// Finds the built-in dialect that a model writes, by the model's name: on a hub, in a registry or an interface, or a
    /// file's path, in upper or lower case (`Qwen/Qwen3-32B-AWQ`, `deepseek-r1:14b`). Its start() is this model's. Fails
    /// with Status::unknown if no dialect is known for the model, or several fit equally well. The message then names the dialects
    /// that fit, or the nearest known models with their dialects, or says that the model is known to write no thinking in its text.
    static Dialect find_for_model(std::string_view model)
    {
        ASIDE_VERSION_SYMBOL();
        return detail::check(Dialect(aside_dialect_find_for_model(model.data(), model.size())));
    }

    /// Finds the built-in dialect that a chat template (Jinja, UTF-8) is written for, by the markers that the template writes:
    /// it is read and never rendered. Fails with Status::unknown if the template has no dialect's markers, or a marker that the
    /// nearest dialect lacks, and with Status::ambiguous if several dialects fit equally well: the message names them. `*match` is
    /// written if at least one dialect fits.
    static Dialect find_for_template(std::string_view text, TemplateMatch *match = nullptr);

    /// Makes a dialect from the text of a dialect file (TOML, UTF-8). Fails with Status::dialect if it has an error: the
    /// message names the line and the key.
    static Dialect load(std::string_view toml)
    {
        ASIDE_VERSION_SYMBOL();
        return detail::check(Dialect(aside_dialect_load(toml.data(), toml.size())));
    }

    /// Makes a dialect from a response template (JSON, UTF-8): the `response_template` of a `tokenizer_config.json`, or all of
    /// that file. Fails with Status::dialect if a part of it cannot be read: the message names the part and its pattern.
    static Dialect from_response_template(std::string_view json)
    {
        ASIDE_VERSION_SYMBOL();
        return detail::check(Dialect(aside_dialect_from_response_template(json.data(), json.size())));
    }

    /// Loads built-in dialects, so that finding them later allocates nothing: a host calls it once, before it serves. `names`
    /// has names or aliases with blanks between them (`"qwen3 harmony"`); if it is empty, all dialects are loaded.
    /// Status::unknown if a name is not known (the message lists the nearest names); the dialects before it are loaded. If
    /// memory runs out while they are loaded, the process ends.
    static void preload(std::string_view names = {})
    {
        ASIDE_VERSION_SYMBOL();
        detail::check_status(aside_dialect_preload(names.data(), names.size()));
    }

    /// Returns the dialect's name; empty for an empty dialect. Valid as long as the dialect.
    std::string_view name() const noexcept
    {
        std::size_t len = 0;
        const char *name = aside_dialect_name(handle(), &len);
        return name == nullptr ? std::string_view() : std::string_view(name, len);
    }

    /// Returns the family of a rule, as Event::rule numbers them: the family that the span or header has in the file, or else
    /// the dialect's name. Empty if there is no such rule (Status::range). Valid as long as the dialect.
    std::string_view family(std::uint32_t rule) const noexcept
    {
        std::size_t len = 0;
        const char *family = aside_dialect_family(handle(), rule, &len);
        return family == nullptr ? std::string_view() : std::string_view(family, len);
    }

    /// Returns the text that Event::rule and Event::tag of an open identify, as the dialect's file has it: the literal, the
    /// tag's name, the fence's info string, the beginning of the header. Empty if there is no such rule or tag (Status::range).
    /// Valid as long as the dialect.
    std::string_view opener(std::uint32_t rule, std::uint32_t tag) const noexcept
    {
        std::size_t len = 0;
        const char *opener = aside_dialect_opener(handle(), rule, tag, &len);
        return opener == nullptr ? std::string_view() : std::string_view(opener, len);
    }

    /// Returns a grammar that makes a model of the dialect write calls of these tools, for xgrammar or llguidance. `tools` has the
    /// tools of a request, as JSON. `choice` is `auto` for free text with any number of calls in it, `required` for one call or
    /// several and nothing else, or the name of a tool for one call of that tool. `start` is the place at which the text begins
    /// that the grammar constrains. Without it: after the thinking, so that no thinking may come. Start::content: before the
    /// thinking, which may come; Start::header: the same in a dialect with headers, if the prompt has begun the header.
    /// Start::thinking: in the thinking, whose opener is in the prompt. Fails with Status::option if the tools cannot be read, if
    /// no tool has the name, if the dialect does not describe how calls are written, or if no grammar of the dialect starts there.
    /// Unstable: with a library that has a different version of aside_unstable.h, it fails with Status::unknown.
    ToolGrammar grammar(GrammarFormat format, std::string_view tools, std::string_view choice = "auto",
                        std::optional<Start> start = std::nullopt) const;

    /// Returns the largest number of bytes that a scanner of this dialect holds back.
    std::size_t max_hold() const noexcept { return aside_dialect_max_hold(handle()); }

    /// Returns the start of a stream of this dialect if the options name no start; Start::dialect only for an empty dialect.
    /// For a dialect from find_for_model(), it is the start of that model.
    Start start() const noexcept { return static_cast<Start>(aside_dialect_start(handle())); }

    /// Returns the names of the built-in dialects, sorted. They are valid as long as the library.
    static std::vector<std::string_view> names() noexcept
    {
        std::vector<std::string_view> names;
        std::size_t len = 0;
        while (const char *name = aside_dialect_name_at(names.size(), &len))
            names.emplace_back(name, len);
        return names;
    }

    /// Returns whether the object is not empty.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

    /// Returns the handle for functions of aside.h; the dialect still owns it.
    const aside_dialect *handle() const noexcept { return handle_.get(); }

private:
    struct Free {
        // The library does not free a built-in dialect.
        void operator()(const aside_dialect *dialect) const noexcept
        {
            aside_dialect_free(const_cast<aside_dialect *>(dialect));
        }
    };

    explicit Dialect(const aside_dialect *handle) noexcept : handle_(handle) {}

    std::unique_ptr<const aside_dialect, Free> handle_;
};

/// The result of Dialect::find_for_template(), in addition to the dialect. If a template fits several dialects equally well, the
/// host must choose one of them, by the model's name for example.
///
///     aside::TemplateMatch match;
///     const aside::Dialect dialect = aside::Dialect::find_for_template(text, &match);
///     options.start = match.start;
struct TemplateMatch {
    Start start = Start::dialect;  ///< if one dialect fits: where generation starts, after the generation prompt
    std::vector<Dialect> dialects; ///< all that fit equally well, sorted by name
};

/// A grammar of calls, from Dialect::grammar().
struct ToolGrammar {
    std::string text;                ///< the grammar in its language
    std::vector<std::string> limits; ///< the facts that the schemas of the tools have and the grammar does not, in English
};

inline Dialect Dialect::find_for_template(std::string_view text, TemplateMatch *match)
{
    ASIDE_VERSION_SYMBOL();
    std::vector<const aside_dialect *> room(match == nullptr ? 0 : names().size());
    aside_template_match raw{};
    raw.size = sizeof raw;
    raw.dialects = room.data();
    raw.capacity = room.size();
    Dialect found(aside_dialect_find_for_template(text.data(), text.size(), &raw));
    if (match != nullptr && raw.count > 0) {
        match->start = static_cast<Start>(raw.start);
        match->dialects.clear();
        for (std::size_t at = 0; at < raw.count; at++)
            match->dialects.push_back(Dialect(room[at]));
    }
    return detail::check(std::move(found));
}

// ---------------------------------------------------------------------------------------------------------------------
// Whole thoughts
// ---------------------------------------------------------------------------------------------------------------------

/// An attribute of a thought.
struct Attribute {
    std::string_view name;
    std::string_view value; ///< decoded
};

/// A whole thought. Its views are memory of the scanner, valid until the next take_thought() or reset(), or until the scanner
/// is destroyed.
struct Thought {
    std::string_view text;
    std::uint64_t offset = 0;             ///< in the stream, of the marker that opened it
    Cause cause = Cause::marker;          ///< why it ended; Cause::end_of_stream: it was cut off
    bool truncated = false;               ///< ScannerOptions::collect was too small for all of it
    std::optional<std::string_view> type; ///< if the marker had a type
    std::optional<double> confidence;     ///< from 0 to 1, if the marker had one
    std::vector<Attribute> attributes;    ///< of the marker, in its order
};

// ---------------------------------------------------------------------------------------------------------------------
// Scanners
// ---------------------------------------------------------------------------------------------------------------------

/// No budget.
inline constexpr std::uint64_t unlimited = UINT64_MAX;

/// The options of a scanner. The defaults follow the scanner's dialect.
struct ScannerOptions {
    Start start = Start::dialect;
    /// Non-zero: collect whole thoughts for take_thought(), and hold at most this many bytes of them at a time: text, types, and
    /// attributes, of which each counts as at least 48. If a thought does not fit, attributes are dropped first, then the type, and then
    /// the end of the text.
    std::uint64_t collect = 0;
    /// The limit of the thinking, beyond which a Kind::budget event is reported, once for each span or stream.
    std::uint64_t budget = unlimited;
    BudgetUnit budget_unit = BudgetUnit::bytes;
    BudgetScope budget_scope = BudgetScope::span;
    /// The treatment of a closer of the thinking without an opener, after content.
    StrayClose stray_close = StrayClose::dialect;
    /// The reading of a tag think, thinking or thought at the beginning of a stream, if it is not the dialect's own tag.
    LeadingTags leading_tags = LeadingTags::dialect;
    /// Report tool calls with their names and arguments, as the kinds from Kind::call on, if the dialect says how they are
    /// written. Otherwise their bytes are text of the tool channel.
    bool calls = false;
    CallsInThinking calls_in_thinking = CallsInThinking::dialect;
};

/// A token of the model, as the caller's tokenizer knows it: `len` bytes of the chunk, and `special` 1 for one of the
/// tokenizer's added tokens, 0 for text, whatever it looks like.
using Token = aside_token;

/// The counts of a channel in a stream.
struct Counts {
    std::uint64_t bytes = 0;      ///< of text; markers and framing count nowhere
    std::uint64_t characters = 0; ///< of text; of invalid UTF-8, the bytes that do not continue a character
    std::uint64_t spans = 0;      ///< that were opened
    std::uint64_t tokens = 0;     ///< whose first byte is text of the channel, of those from feed_tokens()
    /// Of Channel::thinking: whole thoughts that were lost since the start or the last reset, because 1,024 others were waiting for
    /// take_thought().
    std::uint64_t lost_thoughts = 0;
};

class EventRange;

/// The state of one stream. Only one thread at a time may use it; scanners share no state that changes.
class Scanner {
public:
    /// Makes an empty object, which owns nothing.
    Scanner() noexcept = default;

    /// Makes a scanner at the start of a stream. Fails with Status::option for a start that the dialect does not have, and with
    /// Status::memory.
    explicit Scanner(const Dialect &dialect, const ScannerOptions &options = {})
    {
        aside_scanner_options raw{};
        raw.size = sizeof raw;
        raw.start = static_cast<std::uint32_t>(options.start);
        raw.collect = options.collect;
        raw.stray_close = static_cast<std::uint32_t>(options.stray_close);
        raw.leading_tags = static_cast<std::uint32_t>(options.leading_tags);
        raw.calls = options.calls ? 1 : 0;
        raw.calls_in_thinking = static_cast<std::uint32_t>(options.calls_in_thinking);
        if (options.budget != unlimited) {
            raw.has_budget = 1;
            raw.budget = options.budget;
            raw.budget_unit = static_cast<std::uint32_t>(options.budget_unit);
            raw.budget_scope = static_cast<std::uint32_t>(options.budget_scope);
        }
        handle_.reset(detail::check(aside_scanner_new(dialect.handle(), &raw)));
    }

    /// Makes a second scanner in the same state, also in the middle of a stream: for beam search, and for trying again from
    /// here. Feeding one scanner does not change the other; thoughts that were not taken are in both.
    Scanner clone() const
    {
        Scanner scanner;
        scanner.handle_.reset(detail::check(aside_scanner_clone(handle())));
        return scanner;
    }

    /// Sets the start of the next stream, for a model that continues a rendered prompt, which ends in `tail`. Call this before the
    /// first byte of the stream. The bytes after the dialect's last turn marker are read as if the model had written them. Returns
    /// the span that is open at byte 0. An undecided marker at the prompt's end opens no span: an incomplete marker, or an opener of
    /// a tool call that counts only if a call follows it. If the stream decides that the opener counts, the first event opens its span. finish(), reset() and an
    /// empty tail restore the scanner's own start. Status::order if the stream has begun.
    Start start_from_prompt(std::string_view tail)
    {
        std::uint32_t start = ASIDE_START_DEFAULT;
        detail::check_status(aside_scanner_start_from_prompt(handle(), tail.data(), tail.size(), &start));
        return static_cast<Start>(start);
    }

    /// Returns the start of the current stream, or of the next one: from a prompt, the options, or else the dialect. `*is_guessed`
    /// becomes true if the dialect only guesses that its models start in the thinking.
    Start start(bool *is_guessed = nullptr) const
    {
        std::uint32_t start = ASIDE_START_DEFAULT;
        std::uint32_t guessed = 0;
        detail::check_status(aside_scanner_start(handle(), &start, &guessed));
        if (is_guessed != nullptr)
            *is_guessed = guessed == 1;
        return static_cast<Start>(start);
    }

    /// Sets the reason why the stream ends. Call it before the stream is finished: finishing clears the reason, as a reset
    /// does. If the stream was only guessed to start in the thinking, and the answer ended there without confirming the guess,
    /// finishing reports Kind::reclassify with Channel::content before the span is closed.
    void end_reason(EndReason reason)
    {
        detail::check_status(aside_scanner_end_reason(handle(), static_cast<std::uint32_t>(reason)));
    }

    // Functions with a callable, which takes a const Event & and returns nothing, or Flow. They return false if it paused.

    /// Feeds the next bytes of the stream, cut anywhere, and calls the callable for each event that they complete.
    /// After a pause, feed chunk.substr(consumed()) next.
    template <class F>
    bool feed(std::string_view chunk, F &&callable)
    {
        return detail::run(callable, [&](aside_event_fn function, void *user) noexcept {
            return aside_scanner_feed(handle(), chunk.data(), chunk.size(), function, user);
        });
    }

    /// Ends the stream: decides the held bytes, and closes open spans. The scanner is then reset. After a pause call it
    /// again.
    template <class F>
    bool finish(F &&callable)
    {
        return detail::run(callable, [&](aside_event_fn function, void *user) noexcept {
            return aside_scanner_finish(handle(), function, user);
        });
    }

    /// Releases the bytes that are held back as text of their channel; the stream continues. If a part of a marker was
    /// flushed, the rest of it is text too.
    template <class F>
    bool flush(F &&callable)
    {
        return detail::run(callable, [&](aside_event_fn function, void *user) noexcept {
            return aside_scanner_flush(handle(), function, user);
        });
    }

    /// Feeds the chunk if all of it is text of one channel and nothing else happens, as with most tokens, and returns the
    /// channel: the cheapest way to feed. Otherwise, also after an error, it feeds nothing: give the chunk to feed().
    std::optional<Channel> feed_text(std::string_view chunk) noexcept
    {
        const std::int32_t channel = aside_scanner_feed_text(handle(), chunk.data(), chunk.size());
        return channel == ASIDE_NOT_TEXT ? std::nullopt : std::optional(static_cast<Channel>(channel));
    }

    /// Feeds bytes whose tokens are known, like feed(). `tokens` is an array, a vector or another contiguous container of
    /// Token, and their lengths add up to the chunk's (Status::length). Markers that a dialect calls special then count only if a
    /// special token begins them; Event::first_token and Event::tokens say which tokens begin in an event, and counts() counts the
    /// tokens of each channel. After a pause feed the rest of the chunk, with the tokens that are not completely consumed,
    /// the first of them with its remaining length.
    template <class Tokens, class F>
    bool feed_tokens(std::string_view chunk, const Tokens &tokens, F &&callable)
    {
        const Token *const first = std::data(tokens);
        return detail::run(callable, [&](aside_event_fn function, void *user) noexcept {
            return aside_scanner_feed_tokens(handle(), chunk.data(), chunk.size(), first, std::size(tokens), function, user);
        });
    }

    /// Closes the open thinking: releases the held bytes as text, and ends the span with Cause::forced. Nothing happens if the
    /// innermost span is not thinking. A closer that comes next, with only blanks before it, is removed. For a host that ends
    /// thinking which has become too long. After a pause call it again.
    template <class F>
    bool force_close(F &&callable)
    {
        return detail::run(callable, [&](aside_event_fn function, void *user) noexcept {
            return aside_scanner_force_close(handle(), function, user);
        });
    }

    // Functions that return a range of events, for loops. The chunk is fed while the loop reads the events, and the loop's steps throw
    // failures. Chunk, tokens and scanner must outlive the range, and nothing else may call this scanner during the loop.

    [[nodiscard]] EventRange events(std::string_view chunk) &noexcept;
    [[nodiscard]] EventRange finish_events() &noexcept;
    [[nodiscard]] EventRange flush_events() &noexcept;
    [[nodiscard]] EventRange force_close_events() &noexcept;
    template <class Tokens>
    [[nodiscard]] EventRange token_events(std::string_view chunk, const Tokens &tokens) &noexcept;

    /// Resets the scanner: drops the held bytes, and every error except Status::panic.
    void reset() { detail::check_status(aside_scanner_reset(handle())); }

    /// Removes the oldest thought that has ended from a scanner with ScannerOptions::collect, and returns it, or nothing if no
    /// thought is waiting.
    std::optional<Thought> take_thought()
    {
        aside_thought raw{};
        raw.size = sizeof raw;
        if (detail::check(static_cast<Status>(aside_scanner_take_thought(handle(), &raw))) == Status::none)
            return std::nullopt;
        Thought thought;
        thought.text = detail::view(raw.text);
        thought.offset = raw.offset;
        thought.cause = static_cast<Cause>(raw.cause);
        thought.truncated = raw.truncated != 0;
        if (raw.has_thought_type != 0)
            thought.type = detail::view(raw.thought_type);
        if (raw.has_confidence != 0)
            thought.confidence = raw.confidence;
        for (std::size_t at = 0; at < raw.attribute_count; at++) {
            aside_attribute attribute{};
            attribute.size = sizeof attribute;
            if (aside_scanner_thought_attribute(handle(), at, &attribute) == ASIDE_OK)
                thought.attributes.push_back({detail::view(attribute.name), detail::view(attribute.value)});
        }
        return thought;
    }

    /// Returns the counts of a channel since the stream began; after finish(), those of the finished stream, until another begins.
    /// Held bytes count when they are reported. Status::range means that the channel does not exist. If a finished stream has
    /// thinking, and neither content nor tool text, the whole answer was thinking: the model broke off, or the stream was started in
    /// the thinking although the thinking was off.
    Counts counts(Channel channel) const
    {
        aside_counts raw{};
        raw.size = sizeof raw;
        detail::check_status(aside_scanner_counts(handle(), static_cast<std::uint32_t>(channel), &raw));
        return {raw.bytes, raw.characters, raw.spans, raw.tokens, raw.lost_thoughts};
    }

    /// Returns the number of bytes of the last feed's chunk that are consumed.
    std::size_t consumed() const noexcept { return aside_scanner_consumed(handle()); }

    /// Returns the number of bytes that are held back now.
    std::size_t held() const noexcept { return aside_scanner_held(handle()); }

    /// Returns the largest number of bytes that the scanner holds back.
    std::size_t max_hold() const noexcept { return aside_scanner_max_hold(handle()); }

    /// Returns the offset in the stream of the next byte to be fed.
    std::uint64_t offset() const noexcept { return aside_scanner_offset(handle()); }

    /// Returns whether the object is not empty.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

    /// Returns the handle for functions of aside.h; the scanner still owns it. A const scanner returns it too, as unique_ptr
    /// does.
    aside_scanner *handle() const noexcept { return handle_.get(); }

private:
    friend class EventRange;

    struct Free {
        void operator()(aside_scanner *scanner) const noexcept { aside_scanner_free(scanner); }
    };

    /// Returns a buffer for the one event of a call that begins in held bytes and ends in the chunk. NULL if memory ran out.
    char *room(std::size_t size) noexcept
    {
        if (size > joined_size_ || joined_ == nullptr) {
            joined_size_ = size < 128 ? 128 : 2 * size;
            joined_.reset(new (std::nothrow) char[joined_size_]);
        }
        return joined_.get();
    }

    std::unique_ptr<aside_scanner, Free> handle_;
    std::unique_ptr<char[]> joined_;
    std::size_t joined_size_ = 0;
};

/// The events of one chunk, of a finish, a flush or a forced close: an input range. Each step pulls one event; begin() pulls
/// the first, or, after a loop that was left early, the next one.
class EventRange {
public:
    struct sentinel {};

    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Event;
        using difference_type = std::ptrdiff_t;
        using pointer = const Event *;
        using reference = const Event &;

        reference operator*() const noexcept { return range_->event_; }
        pointer operator->() const noexcept { return &range_->event_; }
        iterator &operator++()
        {
            range_->next();
            return *this;
        }
        void operator++(int) { range_->next(); }

        friend bool operator==(const iterator &at, sentinel) noexcept { return at.is_at_end(); }
        friend bool operator!=(const iterator &at, sentinel) noexcept { return !at.is_at_end(); }
        friend bool operator==(sentinel, const iterator &at) noexcept { return at.is_at_end(); }
        friend bool operator!=(sentinel, const iterator &at) noexcept { return !at.is_at_end(); }

    private:
        friend EventRange;
        explicit iterator(EventRange *range) noexcept : range_(range) {}
        bool is_at_end() const noexcept { return range_->at_end_; }

        EventRange *range_;
    };

    EventRange(EventRange &&) noexcept = default;
    EventRange &operator=(EventRange &&) noexcept = default;

    iterator begin()
    {
        next();
        return iterator(this);
    }
    sentinel end() const noexcept { return {}; }

    /// Returns Status::more before the end, Status::ok at the end, or the status of the failure.
    Status status() const noexcept { return status_; }

    /// Returns the part of the chunk that has not been fed; empty at the end.
    std::string_view rest() const noexcept { return rest_; }

private:
    friend Scanner;
    enum class Work { feed, feed_tokens, finish, flush, force_close };

    EventRange(Scanner *scanner, Work work, std::string_view chunk = {}, const Token *tokens = nullptr,
               std::size_t token_count = 0) noexcept
        : scanner_(scanner), work_(work), rest_(chunk), tokens_(tokens), token_count_(token_count)
    {}

    // Pulls one event from the library, so that a loop that is left early leaves the scanner paused just after the loop's last
    // event.
    void next()
    {
        while (status_ == Status::more) {
            aside_event raw;
            aside_event_array array{};
            array.size = sizeof array;
            array.events = &raw;
            array.event_size = sizeof raw;
            array.capacity = 1;
            const char *chunk = rest_.data();
            status_ = static_cast<Status>(call(&array));
            if (failed(status_))
                break;
            rest_.remove_prefix(array.consumed);
            if (work_ == Work::feed_tokens)
                pass_tokens(array.consumed);
            if (array.count == 0)
                continue;
            if (const char *bytes = find(raw, array, chunk)) {
                event_ = detail::read(raw, bytes);
                return;
            }
            status_ = Status::memory;
        }
        at_end_ = true;
        static_cast<void>(detail::check(status_));
    }

    aside_status call(aside_event_array *array) noexcept
    {
        aside_scanner *const scanner = scanner_->handle();
        switch (work_) {
        case Work::finish: return aside_scanner_finish_into(scanner, array);
        case Work::flush: return aside_scanner_flush_into(scanner, array);
        case Work::force_close: return aside_scanner_force_close_into(scanner, array);
        case Work::feed_tokens:
            // The rest of a token that was partly consumed is fed alone, because the caller's tokens must not be changed.
            if (begun_.len > 0)
                return aside_scanner_feed_tokens_into(scanner, rest_.data(), begun_.len, &begun_, 1, array);
            return aside_scanner_feed_tokens_into(scanner, rest_.data(), rest_.size(), tokens_, token_count_, array);
        case Work::feed: break;
        }
        return aside_scanner_feed_into(scanner, rest_.data(), rest_.size(), array);
    }

    /// Skips the tokens of `len` bytes; begun_ becomes the rest of a token that was partly skipped.
    void pass_tokens(std::size_t len) noexcept
    {
        if (begun_.len > 0) {
            begun_.len -= static_cast<std::uint32_t>(len);
            if (status_ == Status::ok && token_count_ > 0)
                status_ = Status::more;
            return;
        }
        for (; token_count_ > 0 && tokens_->len <= len; tokens_++, token_count_--)
            len -= tokens_->len;
        if (len > 0) {
            begun_ = {tokens_->len - static_cast<std::uint32_t>(len), tokens_->special};
            tokens_++;
            token_count_--;
        }
    }

    /// Returns the event's bytes: in the chunk, in the held bytes, or, if the event spans both, copied into the scanner's
    /// buffer.
    const char *find(const aside_event &raw, const aside_event_array &array, const char *chunk) noexcept
    {
        if (detail::is_apart(raw))
            return array.attributes.at + raw.text_at;
        if (raw.len == 0)
            return "";
        if (raw.offset >= array.offset)
            return chunk + (raw.offset - array.offset);
        const std::size_t before = static_cast<std::size_t>(array.offset - raw.offset);
        const std::size_t len = static_cast<std::size_t>(raw.len);
        const char *held = array.held.at + (array.held.len - before);
        if (len <= before)
            return held;
        char *room = scanner_->room(len);
        if (room != nullptr) {
            std::memcpy(room, held, before);
            std::memcpy(room + before, chunk, len - before);
        }
        return room;
    }

    Scanner *scanner_;
    Work work_;
    std::string_view rest_;
    const Token *tokens_;
    std::size_t token_count_;
    Token begun_{};
    Status status_ = Status::more;
    bool at_end_ = false;
    Event event_{};
};

inline EventRange Scanner::events(std::string_view chunk) &noexcept { return {this, EventRange::Work::feed, chunk}; }
inline EventRange Scanner::finish_events() &noexcept { return {this, EventRange::Work::finish}; }
inline EventRange Scanner::flush_events() &noexcept { return {this, EventRange::Work::flush}; }
inline EventRange Scanner::force_close_events() &noexcept { return {this, EventRange::Work::force_close}; }
template <class Tokens>
EventRange Scanner::token_events(std::string_view chunk, const Tokens &tokens) &noexcept
{
    return {this, EventRange::Work::feed_tokens, chunk, std::data(tokens), std::size(tokens)};
}

// ---------------------------------------------------------------------------------------------------------------------
// Answers: a text in, thinking, content and tool calls out
// ---------------------------------------------------------------------------------------------------------------------

/// A part of an answer. Members that a kind does not name are empty, 0 or false. All views are memory of the answer, valid until its
/// next call; names, ids and arguments are UTF-8.
struct Part {
    PartKind kind;
    /// The next text of the thinking or of the content, or the next JSON of a call's arguments: joined, these are a JSON object if
    /// the call is whole. The text of thinking and of content may end inside a character, if the model's text does.
    std::string_view text;
    std::uint64_t index;   ///< of the parts of a call: its number in the answer, from 0
    std::string_view name; ///< of a call: the tool
    std::string_view id;   ///< of a call: an id that no other call of the answer has
    bool is_made;          ///< of a call: the library made the id, as the model wrote none, or that of an earlier call
    bool is_whole;         ///< of a call's end: the arguments are complete; do not run a call that is not whole
    bool is_repaired;      ///< of a call's end: it was repaired, and the model may have meant other arguments
    Cause cause;           ///< of a call's end: why, or Cause::malformed if the arguments are not a JSON object
    std::string_view
        late_id;  ///< of a call's end: an id that the model wrote after the call was reported, for whole messages
    Channel from; ///< of a move: the channel in which all its text was reported
    Channel to;   ///< of a move: the channel to which that text belongs
};

/// The parts that a call of an answer has reported, for a loop. They are memory of the answer, valid until its next call.
class Parts {
public:
    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Part;
        using difference_type = std::ptrdiff_t;
        using pointer = const Part *;
        using reference = Part;

        iterator() noexcept = default;

        Part operator*() const noexcept
        {
            const bool is_call = at_->kind == ASIDE_PART_KIND_CALL;
            const std::string_view text = detail::view(at_->text);
            const std::string_view id = detail::view(at_->id);
            return {static_cast<PartKind>(at_->kind),
                    is_call ? std::string_view() : text,
                    at_->index,
                    is_call ? text : std::string_view(),
                    is_call ? id : std::string_view(),
                    at_->is_made == 1,
                    at_->is_whole == 1,
                    at_->is_repaired == 1,
                    static_cast<Cause>(at_->cause),
                    is_call ? std::string_view() : id,
                    static_cast<Channel>(at_->from),
                    static_cast<Channel>(at_->to)};
        }
        iterator &operator++() noexcept
        {
            ++at_;
            return *this;
        }
        iterator operator++(int) noexcept { return iterator(at_++); }

        friend bool operator==(const iterator &a, const iterator &b) noexcept { return a.at_ == b.at_; }
        friend bool operator!=(const iterator &a, const iterator &b) noexcept { return a.at_ != b.at_; }

    private:
        friend Parts;
        explicit iterator(const aside_part *at) noexcept : at_(at) {}

        const aside_part *at_ = nullptr;
    };

    /// Makes an empty list.
    Parts() noexcept = default;

    iterator begin() const noexcept { return iterator(first_); }
    iterator end() const noexcept { return iterator(first_ + count_); }
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }

private:
    friend class Answer;

    const aside_part *first_ = nullptr;
    std::size_t count_ = 0;
};

/// Reads one text of a model, cut anywhere, and reports thinking, content and tool calls with JSON arguments, as parts without markers.
/// Every byte of the text is in exactly one part, in a call that is reported, or is a marker or framing around these: text that turns out
/// not to be a call is content, in its place. Only one thread at a time may use it; answers share no state that changes.
///
///     aside::AnswerOptions options;
///     options.tools = request.tools;
///     aside::Answer answer(aside::Dialect::find("qwen3"), options);
///     for (const aside::Part &part : answer.feed(chunk)) {
///         switch (part.kind) {
///         case aside::PartKind::content: send_text(part.text); break;
///         case aside::PartKind::call: send_call(part.index, part.id, part.name); break;
///         case aside::PartKind::arguments: send_arguments(part.index, part.text); break;
///         default: break;
///         }
///     }
class Answer {
public:
    /// Makes an empty object, which owns nothing.
    Answer() noexcept = default;

    /// Makes an answer at the start of a text. Fails with Status::option for a start that the dialect does not have, and for tools that
    /// cannot be read (the message has the place of the fault), and with Status::memory. If memory runs out while the tools are read, the
    /// process ends.
    explicit Answer(const Dialect &dialect, const AnswerOptions &options = {})
    {
        const aside_answer_options raw = detail::lend(options);
        handle_.reset(detail::check(aside_answer_new(dialect.handle(), &raw)));
    }

    /// Sets the start of the text, for a model that continues a rendered prompt, which ends in `tail`. It is read as by
    /// Scanner::start_from_prompt(). Call this before the first byte of the text. Returns the span that is open at the first byte. finish() and reset() restore the answer's own
    /// start. Status::order if the text has begun.
    Start start_from_prompt(std::string_view tail)
    {
        std::uint32_t start = ASIDE_START_DEFAULT;
        detail::check_status(aside_answer_start_from_prompt(handle(), tail.data(), tail.size(), &start));
        return static_cast<Start>(start);
    }

    /// Sets the tools of the request, before the first byte of the text, like AnswerOptions::tools; without tools, every call is
    /// reported. Use it for an answer that serves one request after another. finish() and reset() restore the answer's own tools.
    /// Fails with Status::option for tools that cannot be read, and with Status::order if the text has begun.
    void use_tools(std::optional<std::string_view> tools)
    {
        const std::string_view text = detail::for_c(tools);
        detail::check_status(aside_answer_use_tools(handle(), text.data(), text.size()));
    }

    /// Feeds the next bytes of the text, cut anywhere. Returns the parts that are decided, which may be none.
    Parts feed(std::string_view chunk)
    {
        return read([&](const aside_part **first, std::size_t *count) noexcept {
            return aside_answer_feed(handle(), chunk.data(), chunk.size(), first, count);
        });
    }

    /// Feeds bytes whose tokens are known, like feed(). `tokens` is an array, a vector or another contiguous container of Token,
    /// and their lengths add up to the chunk's (Status::length). Markers that a dialect calls special then count only if a special
    /// token begins them.
    template <class Tokens>
    Parts feed_tokens(std::string_view chunk, const Tokens &tokens)
    {
        const Token *const at = std::data(tokens);
        return read([&](const aside_part **first, std::size_t *count) noexcept {
            return aside_answer_feed_tokens(handle(), chunk.data(), chunk.size(), at, std::size(tokens), first, count);
        });
    }

    /// Reports the held bytes as text: those that may begin a marker, and those of a call that is not decided. The text continues.
    Parts flush()
    {
        return read([&](const aside_part **first, std::size_t *count) noexcept {
            return aside_answer_flush(handle(), first, count);
        });
    }

    /// Closes the open thinking or the open call, as Scanner::force_close() does.
    Parts force_close()
    {
        return read([&](const aside_part **first, std::size_t *count) noexcept {
            return aside_answer_force_close(handle(), first, count);
        });
    }

    /// Ends the text, and returns the parts that are left. The answer is then reset, except for its counts. The reason matters
    /// if a call, or thinking that may be the answer, is open at the end: only a text that ended by itself (EndReason::ended) may
    /// end a call that has no end, or turn out to be an answer without markers.
    Parts finish(EndReason reason = EndReason::unknown)
    {
        return read([&](const aside_part **first, std::size_t *count) noexcept {
            return aside_answer_finish(handle(), static_cast<std::uint32_t>(reason), first, count);
        });
    }

    /// Resets the answer: drops the held bytes, the counts, and every error except Status::panic.
    void reset() { detail::check_status(aside_answer_reset(handle())); }

    /// Returns the counts of a channel's text, like Scanner::counts(): also those of thinking that was dropped, and of text that was
    /// moved later.
    Counts counts(Channel channel) const
    {
        aside_counts raw{};
        raw.size = sizeof raw;
        detail::check_status(aside_answer_counts(handle(), static_cast<std::uint32_t>(channel), &raw));
        return {raw.bytes, raw.characters, raw.spans, raw.tokens, raw.lost_thoughts};
    }

    /// Returns the number of bytes of the text that are held back now.
    std::size_t held() const noexcept { return aside_answer_held(handle()); }

    /// Returns whether the object is not empty.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

    /// Returns the handle for functions of aside.h; the answer still owns it.
    aside_answer *handle() const noexcept { return handle_.get(); }

private:
    struct Free {
        void operator()(aside_answer *answer) const noexcept { aside_answer_free(answer); }
    };

    /// Runs `call(first, count)`, which writes parts.
    template <class Call>
    static Parts read(Call call)
    {
        Parts parts;
        detail::check_status(call(&parts.first_, &parts.count_));
        return parts;
    }

    std::unique_ptr<aside_answer, Free> handle_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Event streams
// ---------------------------------------------------------------------------------------------------------------------

/// Returns the formats of both sets.
constexpr Formats operator|(Formats a, Formats b) noexcept
{
    return static_cast<Formats>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

/// Returns the shapes of both sets.
constexpr Shapes operator|(Shapes a, Shapes b) noexcept
{
    return static_cast<Shapes>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

/// Rewrites the bytes of an answer, an event stream, lines of JSON or a JSON body: the thinking moves from the content to the place
/// that the format has for it, and everything else is unchanged. Only one thread at a time may use it; rewriters share no state
/// that changes.
///
///     aside::Rewriter rewriter(aside::Dialect::find("qwen3"));
///     while (const std::size_t len = receive(buffer, sizeof buffer))
///         send(rewriter.feed({buffer, len}));
///     send(rewriter.finish());
class Rewriter {
public:
    /// Makes an empty object, which owns nothing.
    Rewriter() noexcept = default;

    /// Makes a rewriter at the start of a stream. Fails with Status::option for a start that the dialect does not have, and with
    /// Status::memory.
    explicit Rewriter(const Dialect &dialect, const RewriterOptions &options = {})
    {
        const aside_answer_options answer = detail::lend_answer(options);
        const aside_rewriter_options raw = detail::lend(options, answer);
        handle_.reset(detail::check(aside_rewriter_new(dialect.handle(), &raw)));
    }

    /// Sets the dialect of the next stream, such as a result of Dialect::find_for_template(), and its start, before its first byte;
    /// Start::dialect: the dialect's own start. finish() and reset() restore the rewriter's own dialect. The dialect may be
    /// destroyed after the call. Status::order if the stream has begun, Status::option for a start that the dialect does not have.
    void use_dialect(const Dialect &dialect, Start start = Start::dialect)
    {
        detail::check_status(aside_rewriter_use_dialect(handle(), dialect.handle(), static_cast<std::uint32_t>(start)));
    }

    /// Sets the start of the next stream, before its first byte, and keeps the rewriter's own dialect: the span that is open at the
    /// first byte of each choice's text.
    void use_dialect(std::nullptr_t, Start start)
    {
        detail::check_status(aside_rewriter_use_dialect(handle(), nullptr, static_cast<std::uint32_t>(start)));
    }

    /// Sets the tools of the next stream's request, before its first byte, like RewriterOptions::tools; without tools, every call
    /// is emitted. Use it for a rewriter that serves one request after another. finish() and reset() restore the rewriter's own
    /// tools. Fails with Status::option for tools that cannot be read, and with Status::order if the stream has begun.
    void use_tools(std::optional<std::string_view> tools)
    {
        const std::string_view text = detail::for_c(tools);
        detail::check_status(aside_rewriter_use_tools(handle(), text.data(), text.size()));
    }

    /// Sets the start of the next stream, before its first byte: the text of each choice follows a rendered prompt that ends in
    /// `tail`, read as by Scanner::start_from_prompt(). Returns the span that is open there. finish() and reset() restore the
    /// rewriter's own start. Status::order if the stream has begun.
    Start start_from_prompt(std::string_view tail)
    {
        std::uint32_t start = ASIDE_START_DEFAULT;
        detail::check_status(aside_rewriter_start_from_prompt(handle(), tail.data(), tail.size(), &start));
        return static_cast<Start>(start);
    }

    /// Feeds the next bytes, cut anywhere: one call for each read from the network. Returns the bytes to forward: all events that are
    /// whole, which may be none. They are valid until the next call. Bytes that cannot be read are forwarded unchanged; that is not
    /// an error.
    std::string_view feed(std::string_view bytes)
    {
        aside_bytes out{};
        detail::check_status(aside_rewriter_feed(handle(), bytes.data(), bytes.size(), &out));
        return detail::view(out);
    }

    /// Ends the stream, and returns the bytes that were held back. The rewriter is then reset.
    std::string_view finish()
    {
        aside_bytes out{};
        detail::check_status(aside_rewriter_finish(handle(), &out));
        return detail::view(out);
    }

    /// Resets the rewriter: drops the held bytes, and every error except Status::panic.
    void reset() { detail::check_status(aside_rewriter_reset(handle())); }

    /// Returns the counts since the start or the last reset, and the number of bytes held now.
    Stats stats() const
    {
        aside_rewriter_stats raw{};
        raw.size = sizeof raw;
        detail::check_status(aside_rewriter_get_stats(handle(), &raw));
        return detail::stats_of(raw);
    }

    /// Returns whether the object is not empty.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

    /// Returns the handle for functions of aside.h; the rewriter still owns it.
    aside_rewriter *handle() const noexcept { return handle_.get(); }

private:
    struct Free {
        void operator()(aside_rewriter *rewriter) const noexcept { aside_rewriter_free(rewriter); }
    };

    std::unique_ptr<aside_rewriter, Free> handle_;
};

/// The HTTP facts about a request and its answer. Header values are verbatim; the value of an absent header is empty.
struct Exchange {
    std::uint32_t status = 0;            ///< of the answer
    std::string_view path{};             ///< of the request, with or without a query; empty: any path fits
    std::string_view content_type{};     ///< of the answer
    std::string_view content_encoding{}; ///< of the answer
    std::string_view method{};           ///< of the request
    Formats formats = Formats::all;      ///< that the rewriter reads
};

namespace detail {

inline aside_exchange lend(const Exchange &exchange) noexcept
{
    aside_exchange raw{};
    raw.size = sizeof raw;
    raw.status = exchange.status;
    raw.formats = static_cast<std::uint32_t>(exchange.formats);
    raw.method = bytes(exchange.method);
    raw.path = bytes(exchange.path);
    raw.content_type = bytes(exchange.content_type);
    raw.content_encoding = bytes(exchange.content_encoding);
    return raw;
}

} // namespace detail

/// Returns the kind of an answer's body, for RewriterOptions::body, or nothing if the answer is not for a rewriter: its
/// status is not 200, it is compressed, or its media type or path belongs to no format. A host that rewrites an answer
/// removes the headers `Content-Length`, `ETag`, `Content-MD5`, `Digest` and `Repr-Digest`. Any thread may call this; it
/// allocates nothing.
///
///     if (const auto body = aside::wants({200, "/v1/messages", "text/event-stream"}))
///         options.body = *body;
inline std::optional<Body> wants(const Exchange &exchange) noexcept
{
    const aside_exchange raw = detail::lend(exchange);
    std::uint32_t body = 0;
    if (aside_rewriter_wants(&raw, &body) != ASIDE_OK)
        return std::nullopt;
    return static_cast<Body>(body);
}

/// Returns the change that a host should make to a request, by its method and path, or nothing if the answer is not for a
/// rewriter: the request is not a `POST`, or its path belongs to no format. Any thread may call this; it allocates nothing.
inline std::optional<Hint> request_hint(const Exchange &exchange) noexcept
{
    const aside_exchange raw = detail::lend(exchange);
    std::uint32_t hint = 0;
    if (aside_request_hint(&raw, &hint) != ASIDE_OK)
        return std::nullopt;
    return static_cast<Hint>(hint);
}

/// Finds the model that a request asks for, in the part of its body that has arrived so far; a host need not keep more than 64 KiB.
/// The name is written to `room`, and `model` becomes a view of it.
///
/// Returns Status::ok; Status::more while the model is not known yet; Status::none if the body names no model, if the name is
/// not a string, or if it does not fit. `model` is written with Status::ok only. Any thread may call this; it allocates
/// nothing.
template <std::size_t size>
Status request_model(std::string_view body, char (&room)[size], std::string_view &model) noexcept
{
    std::size_t len = 0;
    const Status status = static_cast<Status>(aside_request_model(body.data(), body.size(), room, size, &len));
    if (status == Status::ok)
        model = std::string_view(room, len);
    return status;
}

/// The facts of a request that concern its answer, from read_request().
struct Request {
    /// Whether the model should think.
    Thinks thinks = Thinks::unknown;
    /// Whether the client wants the thinking in the answer, for RewriterOptions::thinking.
    Thinking thinking = Thinking::keep;
    /// The JSON text of `tools`, for the options of an answer or a rewriter: a part of the request's body, or `[]` if it offers none.
    std::string_view tools = "[]";
};

/// Reads the facts of a request that concern its answer. Only the path of the exchange is read; `body` is the whole body of the
/// request. An incomplete body, or one that is not a JSON object, decides nothing. Any thread may call this; it allocates nothing.
/// With a library that has a different version of aside_unstable.h, nothing is decided: this function may change in any version.
///
/// The model should think or not, if one of these says so; the first one counts: a variable of the chat template
/// (`chat_template_kwargs`: `enable_thinking`, `thinking`, `thinking_mode`), `enable_thinking` or `think` as a boolean, the type
/// of `thinking`, an effort (`think`, `reasoning_effort`, also as a variable, and `reasoning.effort`), which is off as `none` or
/// `no_think`. The client wants no thinking if the request has `"include_reasoning": false`, `"reasoning": {"exclude": true}` or
/// `"think": false`, or if it is a Messages request whose `thinking` is absent or `disabled`.
inline Request read_request(const Exchange &exchange, std::string_view body) noexcept
{
    const aside_exchange raw = detail::lend(exchange);
    aside_request read{};
    read.size = sizeof read;
    if (aside_unstable_version() != 1 || aside_request_read(&raw, body.data(), body.size(), &read) != ASIDE_OK)
        return {};
    return {static_cast<Thinks>(read.thinks), static_cast<Thinking>(read.thinking), {read.tools.at, read.tools.len}};
}

// ---------------------------------------------------------------------------------------------------------------------
// Simple calls: a whole text at once
// ---------------------------------------------------------------------------------------------------------------------

/// A tool call for join(). Its texts are UTF-8, and must stay valid until that call has returned.
struct JoinCall : aside_join_call {
    /// Makes a call of a tool. The arguments are a JSON object. The id is written if the dialect has a place for one.
    JoinCall(std::string_view tool, std::string_view json, std::optional<std::string_view> known = std::nullopt) noexcept
        : aside_join_call{detail::bytes(tool), detail::bytes(json), detail::bytes(detail::for_c(known))}
    {}
};
// An array of JoinCall is read as an array of aside_join_call.
static_assert(sizeof(JoinCall) == sizeof(aside_join_call));

/// The options of a join.
struct JoinOptions {
    /// The span that is open where the text begins; give the same start to the scanner that splits the text. Start::thinking:
    /// no opener is written. Start::narration and Start::tool are refused.
    Start start = Start::dialect;
    Markers markers = Markers::refuse;
    /// The tool calls after the content. A Scanner with ScannerOptions::calls reads the same calls back. Calls are never escaped.
    const JoinCall *calls = nullptr;
    std::size_t call_count = 0;

    /// Takes an array, a vector or another contiguous container of JoinCall, which must stay valid until the text is joined.
    template <class Calls>
    JoinOptions &set_calls(const Calls &all) noexcept
    {
        calls = std::data(all);
        call_count = std::size(all);
        return *this;
    }
};

namespace detail {

struct FreeText {
    void operator()(char *text) const noexcept { aside_free(text); }
};

/// A text that the library has allocated.
using OwnedText = std::unique_ptr<char, FreeText>;

/// Returns a copy of a text that the library has allocated, or throws Error if it has not.
inline std::string copy(char *bytes, std::size_t size)
{
    const OwnedText text(check(bytes));
    return std::string(text.get(), size);
}

/// Throws Error if the library has a different version of aside_unstable.h.
inline void check_unstable()
{
    if (aside_unstable_version() != 1)
        throw Error(Status::unknown, "the library has a different version of aside_unstable.h");
}

} // namespace detail

inline ToolGrammar Dialect::grammar(GrammarFormat format, std::string_view tools, std::string_view choice,
                                    std::optional<Start> start) const
{
    detail::check_unstable();
    std::size_t size = 0;
    const detail::OwnedText text(detail::check(
        aside_dialect_grammar(handle(), static_cast<std::uint32_t>(format), tools.data(), tools.size(), choice.data(),
                              choice.size(), static_cast<std::uint32_t>(start.value_or(Start::dialect)), &size)));
    ToolGrammar grammar{std::string(text.get(), size), {}};
    // The limits follow, a line for each.
    for (std::string_view rest = text.get() + size + 1; !rest.empty();) {
        const std::size_t end = rest.find('\n');
        grammar.limits.emplace_back(rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return grammar;
}

/// Returns the content of a whole text: the text for the reader, with ASCII white space trimmed at both ends.
inline std::string strip(const Dialect &dialect, std::string_view text)
{
    std::size_t size = 0;
    char *const bytes = aside_strip(dialect.handle(), text.data(), text.size(), &size);
    return detail::copy(bytes, size);
}

/// Joins thinking, content and the tool calls after them into one text, as a model of the dialect writes them: the text
/// splits back into the same bytes. Without thinking, no thinking block is written, unless the text starts inside one. Fails with
/// Status::join, and the message names the part and the byte, the call and its part that cannot be written, or the form that the
/// dialect lacks; with Status::option for a text of a call that is not UTF-8.
inline std::string join(const Dialect &dialect, std::string_view thinking, std::string_view content,
                        const JoinOptions &options = {})
{
    aside_join_options raw{};
    raw.size = sizeof raw;
    raw.thinking = detail::bytes(thinking);
    raw.content = detail::bytes(content);
    raw.calls = options.calls;
    raw.call_count = options.call_count;
    raw.call_size = sizeof(JoinCall);
    raw.start = static_cast<std::uint32_t>(options.start);
    raw.markers = static_cast<std::uint32_t>(options.markers);
    std::size_t size = 0;
    char *const bytes = aside_join(dialect.handle(), &raw, &size);
    return detail::copy(bytes, size);
}

/// Returns a text in which the dialect's markers are broken, turn markers included, so that a user's text can go into a
/// prompt: U+200B follows the first character of each marker, and the text looks the same. Escape a text as a whole: a marker that
/// is split over two texts is not found. The host must remove special tokens that the dialect does not name. Fails with
/// Status::join if the dialect has a marker that cannot be broken.
inline std::string escape(const Dialect &dialect, std::string_view text)
{
    std::size_t size = 0;
    char *const bytes = aside_escape(dialect.handle(), text.data(), text.size(), &size);
    return detail::copy(bytes, size);
}

// ---------------------------------------------------------------------------------------------------------------------
// Requests: moving the thinking of earlier turns to the place where the server reads it
// ---------------------------------------------------------------------------------------------------------------------

/// The options of a rewrite. Set the format, or let history_server() fill in a server's options. Unstable, like all of this
/// part: with a library that has a different version of aside_unstable.h, calls fail with Status::unknown.
struct HistoryOptions {
    /// The format of the request: Formats::chat, Formats::responses or Formats::messages.
    Formats format = Formats::chat;
    /// The place of the thinking of an earlier turn.
    HistoryName name = HistoryName::as_is;
    HistoryTurns turns = HistoryTurns::all;
    HistoryMissing missing = HistoryMissing::leave;
    HistoryMade made = HistoryMade::keep;
    /// The maximum length of a body in bytes: a longer body is returned unchanged. 0: 32 MiB.
    std::uint64_t max_body = 0;
    /// With HistoryName::text, the handle() of the dialect whose markers are written. The dialect must stay valid until the request
    /// is rewritten.
    const aside_dialect *dialect = nullptr;
};

/// The report of a rewrite.
struct HistoryReport {
    std::uint64_t changed = 0; ///< messages or items that were changed or removed
    std::uint64_t refused = 0; ///< those whose thinking cannot be written into their text
    std::uint64_t unread = 0;  ///< those whose thinking is signed, encrypted or in a form that is not known
    HistoryOutcome outcome{};  ///< whether the body was read, or why it was returned unchanged
    bool thinking_off = false; ///< thinking was turned off in the request: see HistoryMade::remove
};

namespace detail {
inline aside_history_options history_options(const HistoryOptions &options) noexcept
{
    aside_history_options raw{};
    raw.size = sizeof raw;
    raw.dialect = options.dialect;
    raw.max_body = options.max_body;
    raw.format = static_cast<std::uint32_t>(options.format);
    raw.name = static_cast<std::uint32_t>(options.name);
    raw.turns = static_cast<std::uint32_t>(options.turns);
    raw.missing = static_cast<std::uint32_t>(options.missing);
    raw.made = static_cast<std::uint32_t>(options.made);
    return raw;
}

/// Writes a server's options. Returns whether requests of the format need a change.
inline bool take_history(aside_status status, const aside_history_options &raw, HistoryOptions &options)
{
    if (check(static_cast<Status>(status)) == Status::none)
        return false;
    options.format = static_cast<Formats>(raw.format);
    options.name = static_cast<HistoryName>(raw.name);
    options.turns = static_cast<HistoryTurns>(raw.turns);
    options.missing = static_cast<HistoryMissing>(raw.missing);
    options.made = static_cast<HistoryMade>(raw.made);
    options.max_body = raw.max_body;
    options.dialect = raw.dialect;
    return true;
}
} // namespace detail

/// Finds the format of the requests to a path, with or without a query. Returns Status::ok, or Status::none if the path belongs
/// to no format with a history.
inline Status history_format(std::string_view path, Formats &format) noexcept
{
    aside_formats found = 0;
    const Status status = static_cast<Status>(aside_history_format(path.data(), path.size(), &found));
    if (status == Status::ok)
        format = static_cast<Formats>(found);
    return status;
}

/// Fills `options` for a built-in server and requests of a format. Returns whether the requests need a change. Fails with
/// Status::unknown for an unknown server, and the message names the known servers; with Status::option for a format without a
/// history.
inline bool history_server(std::string_view name, Formats format, HistoryOptions &options)
{
    detail::check_unstable();
    aside_history_options raw = detail::history_options(options);
    const auto number = static_cast<aside_formats>(format);
    return detail::take_history(aside_history_server_find(name.data(), name.size(), number, &raw), raw, options);
}

/// Fills `options` as history_server() does, from the text of a server file (TOML, UTF-8). Fails with Status::dialect if the file
/// has an error, and the message names the line and the key.
inline bool history_server_load(std::string_view toml, Formats format, HistoryOptions &options)
{
    detail::check_unstable();
    aside_history_options raw = detail::history_options(options);
    const auto number = static_cast<aside_formats>(format);
    return detail::take_history(aside_history_server_load(toml.data(), toml.size(), number, &raw), raw, options);
}

/// Returns the names of the built-in servers, in alphabetical order.
inline std::vector<std::string_view> history_servers()
{
    std::vector<std::string_view> names;
    std::size_t size = 0;
    while (const char *const name = aside_history_server_name_at(names.size(), &size))
        names.emplace_back(name, size);
    return names;
}

/// Returns the whole body of a request with the thinking of earlier turns where the server reads it. Everything that the
/// options do not name stays unchanged, byte for byte; a body that cannot be read is returned unchanged, and the report says
/// why. Then set `Content-Length` again, and any digest or signature of the body.
inline std::string rewrite_history(std::string_view body, const HistoryOptions &options, HistoryReport *report = nullptr)
{
    detail::check_unstable();
    const aside_history_options raw = detail::history_options(options);
    aside_history_report done{};
    done.size = sizeof done;
    std::size_t size = 0;
    char *const bytes = aside_history_rewrite(&raw, body.data(), body.size(), &done, &size);
    if (bytes != nullptr && report != nullptr) {
        *report = {done.changed, done.refused, done.unread, static_cast<HistoryOutcome>(done.outcome),
                   done.thinking_off != 0};
    }
    return detail::copy(bytes, size);
}

} // namespace aside

#endif // ASIDE_HPP
