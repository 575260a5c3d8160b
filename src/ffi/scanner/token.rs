//! Tokens from C. They must never be copied: an array of `aside_token` is read as an array of the crate's `Token`.

use libc::{c_char, size_t};

use super::sink::Input;
use crate::Token;
use crate::ffi::constants::*;
use crate::ffi::memory::{bytes, layout};
use crate::ffi::status::{fail_null, fail_with, failed};
use crate::scanner::check_lengths;

/// A token of the model, as the caller's tokenizer knows it. A token of zero bytes is not counted.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct aside_token {
    /// The number of the token's bytes in the buffer.
    pub len: u32,
    /// 1: one of the tokenizer's added tokens. 0: text, whatever it looks like.
    pub special: u32,
}

// The layouts never change; tests/c/layout.c checks them in C.
const _: () = {
    layout!(aside_token 8: len 0, special 4);
    // An array of `aside_token` is read as an array of `Token`.
    assert!(size_of::<Token>() == size_of::<aside_token>() && align_of::<Token>() == align_of::<aside_token>());
};

/// Returns the caller's bytes with their tokens.
///
/// # Safety
/// The same as for `bytes` and `tokens`.
#[inline]
pub(super) unsafe fn feed_of_tokens<'a>(
    buf: *const c_char,
    len: size_t,
    tokens: *const aside_token,
    count: size_t,
) -> Result<Input<'a>, aside_status> {
    // SAFETY: the caller meets this function's conditions.
    let (chunk, tokens) = unsafe { (bytes(buf, len, "buf")?, self::tokens(tokens, count)?) };
    check_lengths(chunk, tokens).map_err(failed)?;
    Ok(Input::FeedTokens(chunk, tokens))
}

/// Returns the caller's tokens. `tokens` may be NULL if `count` is 0.
///
/// # Safety
/// A pointer that is not NULL points to `count` tokens that do not change during `'a`.
pub(in crate::ffi) unsafe fn tokens<'a>(tokens: *const aside_token, count: usize) -> Result<&'a [Token], aside_status> {
    if tokens.is_null() {
        return if count == 0 { Ok(&[]) } else { Err(fail_null("tokens")) };
    }
    if count > isize::MAX as usize / size_of::<Token>() || !tokens.is_aligned() {
        return Err(fail_with(ASIDE_ERROR_LENGTH, "no array of tokens can be there"));
    }
    // SAFETY: not NULL, aligned and of a possible length; the layouts are the same, and every bit pattern is valid.
    Ok(unsafe { std::slice::from_raw_parts(tokens.cast(), count) })
}
