//! Shortens results to a budget in tokens that the host counts. Lines are still chosen by the estimate; the host's count changes the
//! limit for the estimate until the result is within the budget. The host's code is not trusted: without a usable count, only the
//! estimate is used.

use std::fmt;

use super::{promises::caught, report::Failed};
use crate::compress::text::{limit::Limit, tokens::estimated_tokens};

/// The maximum number of calls of the host for one result.
const MOST_COUNTS: usize = 8;
/// If the first result uses less than this share of the budget, a second result is made with more room.
const ENOUGH: (usize, usize) = (7, 8);

type Count = dyn Fn(&[u8]) -> Result<usize, String> + Send + Sync;

/// A host's function that counts the tokens of a text.
pub struct Counter(Box<Count>);

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counter")
    }
}

impl Counter {
    pub fn new(count: impl Fn(&[u8]) -> Result<usize, String> + Send + Sync + 'static) -> Counter {
        Counter(Box::new(count))
    }

    /// Makes a result within a limit, if there is one. With a counter, makes several results; see [`Counter::within`].
    pub fn within_any<T>(
        counter: Option<&Counter>,
        limit: Option<Limit>,
        failed: &mut Vec<Failed>,
        mut make: impl FnMut(Option<Limit>) -> T,
        text: impl Fn(&T) -> Vec<u8>,
    ) -> T {
        match (counter, limit) {
            (Some(counter), Some(limit)) => counter.within(limit, failed, |limit| make(Some(limit)), text),
            (_, limit) => make(limit),
        }
    }

    /// Makes results with `make`, for one limit after another, until the host counts no more tokens than the budget allows. `text`
    /// returns a result's text. Failures are added to `failed`.
    pub fn within<T>(
        &self,
        limit: Limit,
        failed: &mut Vec<Failed>,
        mut make: impl FnMut(Limit) -> T,
        text: impl Fn(&T) -> Vec<u8>,
    ) -> T {
        let Some(most) = limit.tokens else { return make(limit) };
        let scaled = |tokens: usize, counted: usize| {
            usize::try_from(tokens as u128 * most as u128 / counted.max(1) as u128).unwrap_or(usize::MAX)
        };
        let mut tokens = most;
        // The result with the fewest tokens, and the number of its tokens.
        let mut best: Option<(T, usize)> = None;
        for round in 0..MOST_COUNTS {
            let made = make(Limit { tokens: Some(tokens), ..limit });
            let shown = text(&made);
            let estimated = estimated_tokens(&shown);
            let counted = match caught(|| (self.0)(&shown)) {
                Ok(counted) => counted,
                Err(reason) => {
                    failed.push(Failed { filter: ID.to_owned(), reason });
                    return if round == 0 { made } else { make(limit) };
                }
            };
            if counted <= most {
                let is_enough = counted as u128 * ENOUGH.1 as u128 >= most as u128 * ENOUGH.0 as u128;
                // With more room, a text that was not cut would not change.
                let is_whole = estimated as u128 * 2 < tokens as u128;
                if round > 0 || is_enough || is_whole {
                    return made;
                }
                tokens = scaled(tokens, counted).min(tokens.saturating_mul(2));
                best = Some((made, counted));
                continue;
            }
            tokens = scaled(tokens.min(estimated), counted);
            tokens -= tokens / 32;
            match best {
                Some((best, fewest)) if fewest <= most => return best,
                Some((_, fewest)) if fewest <= counted => {}
                _ => best = Some((made, counted)),
            }
        }
        let fewest = best.as_ref().map_or(0, |best| best.1);
        let reason = format!("the text has {fewest} tokens, and {most} is the most; asked {MOST_COUNTS} times");
        failed.push(Failed { filter: ID.to_owned(), reason });
        best.map_or_else(|| make(limit), |best| best.0)
    }
}

/// The name of the host's count in reports.
const ID: &str = "count";
