//! Numbers of C that scanners, rewriters and simple calls share, as the crate's own types. None is trusted: an unknown one is
//! a failure.

use super::constants::*;
use super::status::fail_with;
use crate::sse::{Formats, ResponsesAs};
use crate::{CallsInThinking, Channel, Start, StrayClose};

/// An `ASIDE_START_` value.
pub(super) fn start(number: aside_start) -> Result<Option<Start>, aside_status> {
    Ok(match number {
        ASIDE_START_DEFAULT => None,
        ASIDE_START_CONTENT => Some(Start::Channel(Channel::Content)),
        ASIDE_START_THINKING => Some(Start::Channel(Channel::Thinking)),
        ASIDE_START_NARRATION => Some(Start::Channel(Channel::Narration)),
        ASIDE_START_TOOL => Some(Start::Channel(Channel::Tool)),
        ASIDE_START_HEADER => Some(Start::Header),
        other => return Err(fail_with(ASIDE_ERROR_OPTION, format_args!("start {other} is not an ASIDE_START_ value"))),
    })
}

/// An `ASIDE_STRAY_CLOSE_` value.
pub(super) fn stray_close(number: aside_stray_close) -> Result<StrayClose, aside_status> {
    match number {
        ASIDE_STRAY_CLOSE_DIALECT => Ok(StrayClose::Dialect),
        ASIDE_STRAY_CLOSE_TEXT => Ok(StrayClose::Text),
        other => {
            Err(fail_with(ASIDE_ERROR_OPTION, format_args!("stray_close {other} is not an ASIDE_STRAY_CLOSE_ value")))
        }
    }
}

/// An `ASIDE_CALLS_IN_THINKING_` value.
pub(super) fn calls_in_thinking(number: aside_calls_in_thinking) -> Result<CallsInThinking, aside_status> {
    match number {
        ASIDE_CALLS_IN_THINKING_DIALECT => Ok(CallsInThinking::Dialect),
        ASIDE_CALLS_IN_THINKING_NEVER => Ok(CallsInThinking::Never),
        other => Err(fail_with(
            ASIDE_ERROR_OPTION,
            format_args!("calls_in_thinking {other} is not an ASIDE_CALLS_IN_THINKING_ value"),
        )),
    }
}

/// `ASIDE_FORMAT_` bits; 0 is chat alone.
pub(super) fn formats(bits: aside_formats) -> Result<Formats, aside_status> {
    match bits {
        0 => Ok(Formats::CHAT),
        bits => Formats::from_bits(bits).ok_or_else(|| {
            fail_with(ASIDE_ERROR_OPTION, format_args!("formats {bits} has a bit that is not an ASIDE_FORMAT_ value"))
        }),
    }
}

/// An `ASIDE_RESPONSES_AS_` value.
pub(super) fn responses_as(number: aside_responses_as) -> Result<ResponsesAs, aside_status> {
    match number {
        ASIDE_RESPONSES_AS_REASONING_TEXT => Ok(ResponsesAs::ReasoningText),
        ASIDE_RESPONSES_AS_SUMMARY => Ok(ResponsesAs::Summary),
        other => {
            Err(fail_with(ASIDE_ERROR_OPTION, format_args!("responses_as {other} is not an ASIDE_RESPONSES_AS_ value")))
        }
    }
}

/// The number of a start.
pub(super) fn start_number(start: Start) -> aside_start {
    match start {
        Start::Channel(Channel::Content) => ASIDE_START_CONTENT,
        Start::Channel(Channel::Thinking) => ASIDE_START_THINKING,
        Start::Channel(Channel::Narration) => ASIDE_START_NARRATION,
        Start::Channel(Channel::Tool) => ASIDE_START_TOOL,
        Start::Header => ASIDE_START_HEADER,
    }
}

/// Returns a limit of the options; None for 0.
pub(super) fn limit(number: u64) -> Option<usize> {
    (number > 0).then(|| usize::try_from(number).unwrap_or(usize::MAX))
}

/// Writes what is open where a stream starts, for a caller that asked for it.
///
/// # Safety
/// `out` is NULL or may be written; it need not be aligned.
pub(super) unsafe fn write_start(start: Start, out: *mut aside_start) {
    if !out.is_null() {
        // SAFETY: not NULL, and the caller promises that it may be written.
        unsafe { out.write_unaligned(start_number(start)) };
    }
}
