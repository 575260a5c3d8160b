//! Optional per-stream state, boxed on first use so that an idle scanner stays small: a budget, collected thoughts, counts
//! of tokens, and a prompt that said where the stream starts.

use super::{counts::BudgetTracker, error::Error, thoughts::Thoughts};
use crate::channel::Channel;

#[derive(Default)]
pub struct Optional {
    pub budget: Option<BudgetTracker>,
    pub thoughts: Option<Thoughts>,
    /// The chunk before ended inside a token.
    pub in_token: bool,
    /// Of each channel, counted like what `ChannelCounts` counts.
    pub tokens: [u64; 4],
    pub prompt: Prompt,
}

/// What a prompt left for the stream.
#[derive(Clone, Copy, Default)]
pub struct Prompt {
    /// The prompt said where this stream starts. Of the spans that it left open, the first one not yet reported.
    pub open: Option<u8>,
    /// Bytes at the front of what is held that are the prompt's, and in no event.
    pub early: usize,
    /// Some of the prompt's bytes have been settled.
    pub is_settled: bool,
    /// Bytes of the marker before that are the prompt's.
    pub marker: usize,
}

impl Optional {
    pub fn try_clone(&self) -> Result<Optional, Error> {
        let thoughts = self.thoughts.as_ref().map(Thoughts::try_clone).transpose()?;
        Ok(Optional { thoughts, ..*self })
    }

    /// A stream begins; its counts are cleared with its first byte.
    pub fn begin_stream(&mut self) {
        self.in_token = false;
        self.prompt = Prompt::default();
        if let Some(thoughts) = &mut self.thoughts {
            thoughts.drop_guess();
        }
    }

    /// Returns whether text of the channel has to be looked at by more than the automaton.
    pub fn reads_text(&self, channel: Channel) -> bool {
        let collects = self.thoughts.as_ref().is_some_and(|thoughts| thoughts.collects(channel));
        self.prompt.early > 0 || self.prompt.open.is_some() || self.in_token || collects
    }

    pub fn clear_counts(&mut self) {
        self.tokens = [0; 4];
        if let Some(budget) = &mut self.budget {
            budget.clear();
        }
    }
}
