//! What few streams need: a budget, collected thoughts, tokens, and a prompt that said where the stream starts.

use alloc::vec::Vec;

use crate::dialect::{Channel, attempt::Mark};

use super::{Error, counts::Limit, thoughts::Thoughts};

#[derive(Default)]
pub struct Extra {
    pub limit: Option<Limit>,
    /// With a budget: what is held begins with so many bytes that have turned out to be text.
    pub known: usize,
    pub thoughts: Option<Thoughts>,
    /// Of the bytes that are held, once tokens have come.
    pub marks: Vec<Mark>,
    /// The chunk before ended inside a token.
    pub in_token: bool,
    /// Of each channel, counted like what `Meter` counts.
    pub tokens: [u64; 4],
    pub prompt: Prompt,
}

/// What a prompt left behind for the stream.
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

impl Extra {
    pub fn try_clone(&self) -> Result<Extra, Error> {
        let mut marks = Vec::new();
        marks.try_reserve_exact(self.marks.capacity())?;
        marks.extend_from_slice(&self.marks);
        let thoughts = self.thoughts.as_ref().map(Thoughts::try_clone).transpose()?;
        Ok(Extra { marks, thoughts, ..*self })
    }

    /// A stream begins; its counts are cleared with its first byte.
    pub fn begin_stream(&mut self) {
        self.known = 0;
        self.marks.clear();
        self.in_token = false;
        self.prompt = Prompt::default();
        if let Some(thoughts) = &mut self.thoughts {
            thoughts.drop_guess();
        }
    }

    /// Does text of the channel change nothing here?
    pub fn is_calm(&self, channel: Channel) -> bool {
        let collects = self.thoughts.as_ref().is_some_and(|thoughts| thoughts.collects(channel));
        self.prompt.early == 0 && !self.in_token && !collects
    }

    pub fn clear_counts(&mut self) {
        self.tokens = [0; 4];
        if let Some(limit) = &mut self.limit {
            limit.clear();
        }
    }
}
