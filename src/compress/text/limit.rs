//! Limits for the length of a text, in bytes, tokens and UTF-16 code units. The budget and the filters must agree on whether a text fits, and on
//! the next limit to try if it does not.

use std::fmt;

use super::{
    length::{Length, units},
    tokens::{estimated_tokens, most_tokens},
};

/// The maximum number of bytes for each token of a budget.
const MOST_BYTES: usize = 6;

/// A limit for a text. A text fits if it exceeds none of these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub bytes: usize,
    /// Tokens by the estimate, if they are limited.
    pub tokens: Option<usize>,
    /// UTF-16 code units, if they are limited.
    pub units: Option<usize>,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tokens {
            Some(tokens) => write!(f, "{tokens} tokens and {} bytes", self.bytes),
            None => write!(f, "{} bytes", self.bytes),
        }
    }
}

impl Limit {
    pub fn of_bytes(bytes: usize) -> Limit {
        Limit { bytes, tokens: None, units: None }
    }

    /// Returns the limit of a budget in tokens. It also limits the bytes, because a text with few tokens could otherwise need too
    /// much memory.
    pub fn of_tokens(tokens: usize) -> Limit {
        Limit { tokens: Some(tokens), ..Limit::of_bytes(tokens.saturating_mul(MOST_BYTES)) }
    }

    /// Returns the limit of a text to which both limits apply.
    pub fn and(self, other: Limit) -> Limit {
        let least = |one: Option<usize>, two: Option<usize>| one.into_iter().chain(two).min();
        Limit {
            bytes: self.bytes.min(other.bytes),
            tokens: least(self.tokens, other.tokens),
            units: least(self.units, other.units),
        }
    }

    /// Returns this limit for a result that must also be shorter than a text of this length.
    pub fn below(self, length: Length) -> Limit {
        let shorter =
            Limit { units: Some(length.units.saturating_sub(1)), ..Limit::of_bytes(length.bytes.saturating_sub(1)) };
        self.and(shorter)
    }

    /// Returns whether a text is within the limit.
    pub fn fits(self, text: &[u8]) -> bool {
        let has_few = |tokens| most_tokens(text.len()) <= tokens || estimated_tokens(text) <= tokens;
        text.len() <= self.bytes
            && self.units.is_none_or(|most| text.len() <= most || units(text) <= most)
            && self.tokens.is_none_or(has_few)
    }

    /// Returns the part of the limit that is left for further text next to this text.
    pub fn without(self, text: &[u8]) -> Limit {
        Limit {
            bytes: self.bytes.saturating_sub(text.len()),
            tokens: self.tokens.map(|tokens| tokens.saturating_sub(estimated_tokens(text))),
            units: self.units.map(|most| most.saturating_sub(units(text))),
        }
    }

    /// Returns the number of bytes to which a text should be shortened in the first attempt.
    pub fn target(self, text: &[u8]) -> usize {
        let bytes = self.bytes.min(text.len());
        // The kept text may have more bytes for each token than the whole text, so the aim is a quarter higher.
        let tokens = self
            .tokens
            .map_or(bytes, |tokens| scaled(text.len(), tokens.saturating_mul(5), estimated_tokens(text) * 4));
        bytes.min(tokens)
    }

    /// Returns the number of bytes for the next attempt, if `text`, the result of an attempt with `target` bytes, does not fit.
    /// `round` is the number of attempts before that one. The target falls faster from round to round, because lines that must
    /// stay may hide the effect of small steps.
    pub fn next_target(self, round: u32, target: usize, text: &[u8]) -> usize {
        let target = target.min(text.len());
        let tokens = self.tokens.map_or(target, |tokens| scaled(target, tokens, estimated_tokens(text)));
        let units = self.units.map_or(target, |most| scaled(target, most, units(text)));
        let longest = target.saturating_sub((target >> 7_u32.saturating_sub(round).max(1)).max(1));
        longest.min(tokens).min(units).min(scaled(target, self.bytes, text.len()))
    }
}

/// Returns `length` times `part / whole`.
fn scaled(length: usize, part: usize, whole: usize) -> usize {
    usize::try_from(length as u128 * part as u128 / whole.max(1) as u128).unwrap_or(usize::MAX)
}
