//! The caller's bytes with their tokens, if the caller knows them. No part of a chunk may outlive its pull.

use std::cell::Cell;

use super::error::Error;
use crate::matcher::recogniser::TokenMark;

/// A token of the model, as the caller's tokenizer knows it.
///
/// ```
/// use aside::{Channel, Dialect, Scanner, Token};
///
/// let mut scanner = Scanner::new(&Dialect::find("qwen3")?);
/// scanner.feed_tokens("<think>hm", &[Token::special(7), Token::text(2)], |_| ())?;
/// assert_eq!(scanner.counts(Channel::Thinking).tokens, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Token {
    len: u32,
    /// Non-zero if the token is special. It is a number because C fills the same struct.
    special: u32,
}

impl Token {
    /// Returns a token of `len` bytes that is text, even if it looks like a marker.
    #[must_use]
    pub const fn text(len: u32) -> Token {
        Token { len, special: 0 }
    }

    /// Returns a token of `len` bytes that is one of the tokenizer's added tokens.
    #[must_use]
    pub const fn special(len: u32) -> Token {
        Token { len, special: 1 }
    }

    /// Returns the number of bytes of the token.
    #[allow(clippy::len_without_is_empty)] // It is a number of bytes, not that of a container's elements.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Returns whether the token is one of the tokenizer's added tokens.
    #[must_use]
    pub const fn is_special(&self) -> bool {
        self.special != 0
    }
}

/// Fails unless the tokens' lengths add up to the chunk's.
pub(crate) fn check_lengths(chunk: &[u8], tokens: &[Token]) -> Result<(), Error> {
    let len = tokens.iter().map(|token| u64::from(token.len())).sum::<u64>();
    if len == chunk.len() as u64 { Ok(()) } else { Err(Error::TokenLengths) }
}

/// A chunk, or the beginning of one.
pub struct Chunk<'a> {
    pub bytes: &'a [u8],
    tokens: Option<Tokens<'a>>,
}

#[derive(Clone)]
struct Tokens<'a> {
    list: &'a [Token],
    /// Whether the first token began in the previous chunk.
    goes_on: bool,
    /// The token that was looked up last: its index, and the index of its first byte. The next look-up is usually near it.
    near: Cell<(usize, usize)>,
}

impl<'a> Chunk<'a> {
    pub const EMPTY: Chunk<'static> = Chunk { bytes: &[], tokens: None };

    pub fn plain(bytes: &'a [u8]) -> Chunk<'a> {
        Chunk { bytes, tokens: None }
    }

    /// Returns a chunk with its tokens, whose lengths must add up to the chunk's.
    pub fn of_tokens(bytes: &'a [u8], list: &'a [Token], goes_on: bool) -> Chunk<'a> {
        Chunk { bytes, tokens: Some(Tokens { list, goes_on, near: Cell::new((0, 0)) }) }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether this index is inside a token.
    pub fn is_inside_token(&self, at: usize) -> bool {
        self.tokens.as_ref().is_some_and(|tokens| {
            let (index, start) = tokens.find(at);
            index < tokens.list.len() && start < at
        })
    }

    pub fn mark(&self, at: usize) -> TokenMark {
        self.tokens.as_ref().map_or(TokenMark::PLAIN, |tokens| tokens.mark(at))
    }

    /// Returns the number of tokens that begin in the `len` bytes from `at` on.
    pub fn tokens_in(&self, at: usize, len: usize) -> u32 {
        let Some(tokens) = &self.tokens else { return 0 };
        let (first, start) = tokens.find(at);
        let mut start = start;
        let mut count = 0;
        for (index, token) in tokens.list.iter().enumerate().skip(first) {
            if start >= at + len {
                break;
            }
            count += u32::from(start >= at && token.len > 0 && tokens.is_begun(index));
            start += token.len as usize;
        }
        count
    }
}

impl Tokens<'_> {
    /// Returns the index of the token that contains this byte, and the index of the token's first byte.
    fn find(&self, at: usize) -> (usize, usize) {
        let (mut index, mut start) = self.near.get();
        while start > at {
            index -= 1;
            start -= self.list[index].len as usize;
        }
        while let Some(token) = self.list.get(index).filter(|token| start + token.len as usize <= at) {
            index += 1;
            start += token.len as usize;
        }
        self.near.set((index, start));
        (index, start)
    }

    fn is_begun(&self, index: usize) -> bool {
        index > 0 || !self.goes_on
    }

    fn mark(&self, at: usize) -> TokenMark {
        let (index, start) = self.find(at);
        match self.list.get(index) {
            Some(token) if start == at && self.is_begun(index) => TokenMark::start(token.is_special()),
            _ => TokenMark::NONE,
        }
    }
}
