//! Keeps the thinking of an answer that may have to become its content, because the answer has no other content: a model that
//! forgets to close its thinking has answered in it, and a model that was only guessed to start in the thinking may not have
//! thought at all. The thinking is dropped as soon as content arrives.
//!
//! | state | thinking comes | content or a call comes | the text cannot be a wrong guess | the answer ends by itself |
//! |---|---|---|---|---|
//! | open | kept; *long* if it is too much | *closed* | *closed* if only guesses are wanted | the kept thinking is the content
//! |
//! | long | | *closed* | *closed* if only guesses are wanted | the answer is counted as not promoted |
//! | closed | | | | |

use super::options::Options;
use super::parts::{Parts, Target};
use super::stats::Stats;
use crate::memory::{self, append};

/// The thinking that a host wants repeated as content.
#[derive(Clone, Copy)]
pub struct Promotes {
    /// Whether the thinking of an answer without content is wanted as content.
    pub is_empty_wanted: bool,
    /// Whether text that was only guessed to be thinking is wanted as content.
    pub is_guess_wanted: bool,
    /// The maximum number of bytes of thinking that are kept.
    most: usize,
}

impl Promotes {
    /// Returns the settings of a host. At most `most` bytes of thinking are kept.
    pub fn new(options: &Options, most: usize) -> Promotes {
        Promotes { is_empty_wanted: options.promote_empty, is_guess_wanted: !options.keep_guessed, most }
    }

    /// Returns these settings without a limit, for a caller that limits the kept text itself.
    pub fn without_limit(self) -> Promotes {
        Promotes { most: usize::MAX, ..self }
    }

    pub fn is_any_wanted(&self) -> bool {
        self.is_empty_wanted || self.is_guess_wanted
    }

    /// Returns the promotion at the start of a stream.
    pub fn of_stream(&self) -> Promotion {
        if !self.is_any_wanted() {
            return Promotion::Closed;
        }
        Promotion::Open { most: self.most, is_guess: !self.is_empty_wanted, thinking: Vec::new() }
    }

    /// Returns the promotion of a whole answer. In a whole answer, a wrong guess is corrected when the text is split.
    pub fn of_body(&self) -> Promotion {
        Promotes { is_guess_wanted: false, ..*self }.of_stream()
    }
}

/// Whether the thinking of an answer may become its content, and the thinking that is kept for this.
pub enum Promotion {
    /// The answer has only thinking so far, at most `most` bytes, all of which are kept.
    Open {
        most: usize,
        /// Whether the text is promoted only if it was guessed to be thinking.
        is_guess: bool,
        thinking: Vec<u8>,
    },
    /// The answer has only thinking so far, but more than may be kept.
    Long { is_guess: bool },
    /// The thinking stays thinking: the answer has content or a call, or is over, or the host does not want promotion.
    Closed,
}

impl Promotion {
    /// Returns the promotion for a whole text of at most this length.
    pub fn of_text(most: usize) -> Promotion {
        Promotion::Open { most, is_guess: false, thinking: Vec::new() }
    }

    pub fn is_closed(&self) -> bool {
        matches!(self, Promotion::Closed)
    }

    fn is_guess(&self) -> bool {
        matches!(self, Promotion::Open { is_guess: true, .. } | Promotion::Long { is_guess: true })
    }

    /// Notes that the answer has something other than thinking, or is over.
    pub fn close(&mut self) {
        *self = Promotion::Closed;
    }

    /// Adds the thinking of a split text, or closes if the text has content or a call.
    pub fn take(&mut self, parts: &Parts) -> memory::Result<()> {
        self.see(parts);
        if self.is_closed() {
            return Ok(());
        }
        parts.runs().iter().try_for_each(|run| match run.target() {
            Target::Reasoning => self.take_thinking(parts.text_of(run)),
            Target::Content | Target::Calls => {
                self.close();
                Ok(())
            }
        })
    }

    /// Notes whether the text can still be a wrong guess.
    pub fn see(&mut self, parts: &Parts) {
        if parts.may_be_answer == Some(false) && self.is_guess() {
            self.close();
        }
    }

    pub fn take_thinking(&mut self, text: &[u8]) -> memory::Result<()> {
        match self {
            Promotion::Open { most, thinking, .. } if text.len() <= most.saturating_sub(thinking.len()) => {
                append(thinking, text)
            }
            _ => {
                self.give_up();
                Ok(())
            }
        }
    }

    /// Adds thinking that the server has itself separated.
    pub fn take_of_server(&mut self, text: &[u8]) -> memory::Result<()> {
        if self.is_guess() {
            self.close();
        }
        self.take_thinking(text)
    }

    /// Drops the kept thinking, because there is too much.
    pub fn give_up(&mut self) {
        if let Promotion::Open { is_guess, .. } = *self {
            *self = Promotion::Long { is_guess };
        }
    }

    /// Returns the text to promote to the content of an answer that has ended by itself: usually none. `None` means that the
    /// thinking was too long.
    pub fn content(&self) -> Option<&[u8]> {
        match self {
            Promotion::Open { thinking, .. } => Some(thinking),
            Promotion::Long { .. } => None,
            Promotion::Closed => Some(&[]),
        }
    }

    /// Returns the same text as `text`, and counts an answer whose thinking was too long.
    pub fn counted(&self, stats: &mut Stats) -> &[u8] {
        let content = self.content();
        stats.unpromoted += u64::from(content.is_none());
        content.unwrap_or_default()
    }
}
