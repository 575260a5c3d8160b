//! The caller's bytes, and what the caller knows of the tokens that they came from.

use std::cell::Cell;

use crate::matcher::recogniser::TokenMark;

/// A token of the model's, as the caller's tokenizer knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Token {
    len: u32,
    /// Not 0: it is special. A number, as C has it.
    special: u32,
}

impl Token {
    /// One of so many bytes that is text, whatever it looks like.
    pub fn text(len: u32) -> Token {
        Token { len, special: 0 }
    }

    /// One of so many bytes that is one of the tokenizer's added tokens.
    pub fn special(len: u32) -> Token {
        Token { len, special: 1 }
    }

    /// Its bytes.
    #[allow(clippy::len_without_is_empty)] // A number of bytes, not a container's.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Is it one of the tokenizer's added tokens?
    pub fn is_special(&self) -> bool {
        self.special != 0
    }
}

/// A chunk, or the beginning of one.
pub struct Chunk<'a> {
    pub bytes: &'a [u8],
    tokens: Option<Tokens<'a>>,
}

#[derive(Clone)]
struct Tokens<'a> {
    list: &'a [Token],
    /// The first one was begun in the chunk before.
    goes_on: bool,
    /// A token near the one asked for last: its index and its first byte.
    near: Cell<(usize, usize)>,
}

impl<'a> Chunk<'a> {
    pub const EMPTY: Chunk<'static> = Chunk { bytes: &[], tokens: None };

    pub fn plain(bytes: &'a [u8]) -> Chunk<'a> {
        Chunk { bytes, tokens: None }
    }

    /// The tokens' lengths, added up, are the chunk's.
    pub fn of_tokens(bytes: &'a [u8], list: &'a [Token], goes_on: bool) -> Chunk<'a> {
        Chunk { bytes, tokens: Some(Tokens { list, goes_on, near: Cell::new((0, 0)) }) }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Does a token go on here?
    pub fn is_inside_token(&self, at: usize) -> bool {
        self.tokens.as_ref().is_some_and(|tokens| {
            let (index, start) = tokens.find(at);
            index < tokens.list.len() && start < at
        })
    }

    pub fn mark(&self, at: usize) -> TokenMark {
        self.tokens.as_ref().map_or(TokenMark::PLAIN, |tokens| tokens.mark(at))
    }

    /// Tokens that begin in the `len` bytes from `at` on.
    pub fn tokens_in(&self, at: usize, len: usize) -> u64 {
        let Some(tokens) = &self.tokens else { return 0 };
        let (first, start) = tokens.find(at);
        let mut start = start;
        let mut count = 0;
        for (index, token) in tokens.list.iter().enumerate().skip(first) {
            if start >= at + len {
                break;
            }
            count += u64::from(start >= at && token.len > 0 && tokens.is_begun(index));
            start += token.len as usize;
        }
        count
    }
}

impl Tokens<'_> {
    /// The token that has this byte, and the token's first byte. Those asked for lie close to each other.
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
