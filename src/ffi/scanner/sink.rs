//! Where the events of a call go, and what sinks share: what a call works on, and events as C sees them. Callbacks, arrays and
//! plain text are three sinks.

use libc::{c_char, size_t};

use super::{Lent, failed, lent};
use crate::ffi::memory::bytes;
use crate::ffi::status::{fail, fail_null, fail_with};
use crate::ffi::types::*;
use crate::scanner::{Text, check_lengths};
use crate::{Channel, Error, Event, Events, Kind, Scanner, Token};

/// Where the events of a call go.
pub(super) trait Sink: Copy {
    /// Whether a chunk may be fed in two parts, each with a text of its own: then what is held need not be copied together
    /// with a long chunk.
    const IN_PARTS: bool;

    /// Returns whether events can go there without a closer look.
    fn is_sound(self) -> bool;

    /// Feeds a chunk of at most `SHORT` bytes that is text, if all that comes of it can go there.
    #[inline(always)]
    fn advance_short(scanner: &mut Scanner, chunk: &[u8]) -> Option<Text> {
        scanner.feed_short(chunk)
    }

    /// Feeds a longer chunk in the same way.
    #[inline(always)]
    fn advance_long(scanner: &mut Scanner, chunk: &[u8]) -> Option<Text> {
        scanner.feed_long(chunk)
    }

    /// Takes a text of the innermost channel, which has just been fed: of the chunk, or of what was held.
    ///
    /// # Safety
    /// The scanner is there, and READY; the sink is sound. No `&mut Stream` from before is used again.
    unsafe fn text(self, scanner: *mut aside_scanner, chunk: &[u8], text: Text) -> aside_status;

    /// Does all else: takes the events of a call one by one, or says what is wrong. `fed`: bytes of the caller's buffer that
    /// were fed before.
    ///
    /// # Safety
    /// `scanner` is NULL or there; the sink's pointers are as its function's caller promises.
    unsafe fn events(self, scanner: *mut aside_scanner, work: Work<'_>, fed: usize) -> aside_status;

    /// Does all else for a chunk, of which `fed` bytes were fed before.
    ///
    /// # Safety
    /// As of `events`; a `buf` that is not NULL leads to `len` bytes.
    unsafe fn rest(self, scanner: *mut aside_scanner, buf: *const c_char, len: size_t, fed: usize) -> aside_status {
        // SAFETY: the caller's promise.
        unsafe {
            match bytes(buf.wrapping_add(fed), len - fed, "buf") {
                Ok(chunk) => self.events(scanner, Work::Feed(chunk), fed),
                Err(status) => status,
            }
        }
    }
}

/// What a call works on.
#[derive(Clone, Copy)]
pub(super) enum Work<'a> {
    Feed(&'a [u8]),
    /// The tokens' lengths add up to the chunk's.
    FeedTokens(&'a [u8], &'a [Token]),
    Finish,
    Flush,
    ForceClose,
}

impl Work<'_> {
    /// Feeds tokens that are text and nothing else: most are.
    #[inline]
    pub(super) fn advance(&self, scanner: &mut Scanner) -> Option<(&[u8], Text)> {
        let Work::FeedTokens(chunk, tokens) = self else { return None };
        let (_, offset) = scanner.feed_whole_tokens(chunk, tokens)?;
        Some((chunk, Text { offset, is_held: false, len: chunk.len() }))
    }

    #[inline]
    pub(super) fn start<'a>(&'a self, scanner: &'a mut Scanner) -> Result<Events<'a>, Error> {
        Ok(match self {
            Work::Feed(chunk) => scanner.events(chunk),
            Work::FeedTokens(chunk, tokens) => scanner.summed_token_events(chunk, tokens)?,
            Work::Finish => scanner.finish_events(),
            Work::Flush => scanner.flush_events(),
            Work::ForceClose => scanner.force_close_events(),
        })
    }
}

/// The caller's bytes with their tokens.
///
/// # Safety
/// As of `bytes` and `tokens`.
#[inline]
pub(super) unsafe fn feed_of_tokens<'a>(
    buf: *const c_char,
    len: size_t,
    tokens: *const aside_token,
    count: size_t,
) -> Result<Work<'a>, aside_status> {
    // SAFETY: the caller's promise.
    let (chunk, tokens) = unsafe { (bytes(buf, len, "buf")?, self::tokens(tokens, count)?) };
    check_lengths(chunk, tokens).map_err(failed)?;
    Ok(Work::FeedTokens(chunk, tokens))
}

/// The caller's tokens. NULL is good where there are none.
///
/// # Safety
/// A pointer that is not NULL leads to `count` tokens that nobody changes during `'a`.
pub(super) unsafe fn tokens<'a>(tokens: *const aside_token, count: usize) -> Result<&'a [Token], aside_status> {
    if tokens.is_null() {
        return if count == 0 { Ok(&[]) } else { Err(fail_null("tokens")) };
    }
    if count > isize::MAX as usize / size_of::<Token>() || !tokens.is_aligned() {
        return Err(fail_with(ASIDE_ERROR_LENGTH, "no array of tokens can be there"));
    }
    // SAFETY: not NULL, aligned and of a possible length; the layouts are the same, and any numbers will do.
    Ok(unsafe { std::slice::from_raw_parts(tokens.cast(), count) })
}

/// An event of text as C sees it.
#[inline]
pub(super) fn text_record(channel: Channel, offset: u64, len: usize) -> aside_event {
    aside_event {
        kind: ASIDE_TEXT,
        channel: channel as u32,
        cause: 0,
        rule: 0,
        offset,
        len: len as u64,
        tag: 0,
        text_at: 0,
        name_len: 0,
        value_len: 0,
        raw_name_at: 0,
        raw_name_len: 0,
        raw_value_at: 0,
        raw_value_len: 0,
    }
}

/// An event as C sees it, all but an attribute's names and values.
#[inline]
pub(super) fn record(event: &Event<'_>) -> aside_event {
    let mut record = text_record(event.channel, event.offset, event.bytes.len());
    match &event.kind {
        Kind::Text => {}
        Kind::Open { rule, tag } => {
            record.kind = ASIDE_OPEN;
            record.rule = *rule;
            record.tag = *tag;
        }
        Kind::Framing => record.kind = ASIDE_FRAMING,
        Kind::Reclassify => record.kind = ASIDE_RECLASSIFY,
        Kind::Budget => record.kind = ASIDE_BUDGET,
        Kind::Close(cause) => {
            record.kind = ASIDE_CLOSE;
            record.cause = *cause as u32;
        }
        Kind::Attribute(attribute) => {
            // The limit for a tag is a u32 itself, and no decoded value is longer than its raw form.
            record.kind = ASIDE_ATTRIBUTE;
            record.name_len = attribute.name.len() as u32;
            record.value_len = attribute.value.len() as u32;
            record.raw_name_at = attribute.raw_name.start as u32;
            record.raw_name_len = attribute.raw_name.len() as u32;
            record.raw_value_at = attribute.raw_value.start as u32;
            record.raw_value_len = attribute.raw_value.len() as u32;
        }
    }
    record
}

/// Forgets attribute texts of before.
#[inline]
pub(super) fn clear(place: &mut Option<Box<Lent>>) {
    if let Some(lent) = place {
        lent.attributes.clear();
    }
}

/// Appends an attribute's name and value to the borrowed text. Returns where they begin, and the whole text.
pub(super) fn append<'a>(
    place: &'a mut Option<Box<Lent>>,
    name: &[u8],
    value: &[u8],
) -> Result<(usize, &'a [u8]), aside_status> {
    let text = &mut lent(place)?.attributes;
    let at = text.len();
    text.try_reserve(name.len() + value.len()).map_err(|_| fail(ASIDE_ERROR_MEMORY))?;
    text.extend_from_slice(name);
    text.extend_from_slice(value);
    Ok((at, text))
}
