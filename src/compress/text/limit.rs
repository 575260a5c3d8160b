//! Limits for the length of a text, in bytes and in tokens. The budget and the filters must agree on whether a text fits, and on
//! the next limit to try if it does not.

use std::fmt;

use super::tokens::{estimated_tokens, most_tokens};

/// The most bytes for each token of a budget.
const MOST_BYTES: usize = 6;

/// A limit for a text. The text must keep to both parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub bytes: usize,
    /// Tokens by the estimate, if they are limited.
    pub tokens: Option<usize>,
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
        Limit { bytes, tokens: None }
    }

    /// Returns the limit of a budget in tokens. Text that has few tokens for its bytes is limited in bytes too, because memory is
    /// limited.
    pub fn of_tokens(tokens: usize) -> Limit {
        Limit { bytes: tokens.saturating_mul(MOST_BYTES), tokens: Some(tokens) }
    }

    /// Returns the smaller one of two limits, in bytes and in tokens.
    pub fn and(self, other: Limit) -> Limit {
        let tokens = match (self.tokens, other.tokens) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Limit { bytes: self.bytes.min(other.bytes), tokens }
    }

    /// Returns whether a text is within the limit.
    pub fn fits(self, text: &[u8]) -> bool {
        let has_few = |tokens| most_tokens(text.len()) <= tokens || estimated_tokens(text) <= tokens;
        text.len() <= self.bytes && self.tokens.is_none_or(has_few)
    }

    /// Returns the limit that is left for a text next to another one.
    pub fn without(self, text: &[u8]) -> Limit {
        let tokens = self.tokens.map(|tokens| tokens.saturating_sub(estimated_tokens(text)));
        Limit { bytes: self.bytes.saturating_sub(text.len()), tokens }
    }

    /// Returns the number of bytes of a text to aim at first.
    pub fn target(self, text: &[u8]) -> usize {
        let Some(tokens) = self.tokens else { return self.bytes };
        let all = estimated_tokens(text).max(1) as u128;
        // The remaining text may have more bytes for each token than the whole text.
        self.bytes.min((text.len() as u128 * tokens as u128 / all * 5 / 4) as usize)
    }

    /// Returns the number of bytes to aim at next, if a text of about `target` bytes does not fit.
    pub fn next_target(self, target: usize, text: &[u8]) -> usize {
        let least = |share: usize| target.saturating_sub((target / share).max(1));
        match self.tokens {
            Some(tokens) if text.len() <= self.bytes => {
                let all = estimated_tokens(text).max(1) as u128;
                least(128).min((target as u128 * tokens as u128 / all) as usize)
            }
            _ => least(16),
        }
    }
}
