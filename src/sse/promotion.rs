//! The thinking of an answer that may have to be its content, because no other comes: a model that forgets to close its thinking
//! has answered in it. It is kept only while it may.
//!
//! | state | thinking comes | content or a call comes | the answer ends by itself |
//! |---|---|---|---|
//! | open | kept; long, if it is too much | closed | what is kept is the content |
//! | long | | closed | it is counted as not promoted |
//! | closed | | | |

use super::text::{Parts, Target};
use crate::memory::{self, append};

/// What an answer has said so far.
pub enum Promotion {
    /// Nothing but thinking, all of which is kept: at most this many bytes.
    Open { most: usize, thinking: Vec<u8> },
    /// Nothing but thinking, and more than is kept.
    Long,
    /// Content or a call as well, it is over, or the host does not want this.
    Closed,
}

impl Promotion {
    /// Returns that of an answer that has not begun. `most` is `None` if the host does not want this.
    pub fn new(most: Option<usize>) -> Promotion {
        most.map_or(Promotion::Closed, |most| Promotion::Open { most, thinking: Vec::new() })
    }

    pub fn is_closed(&self) -> bool {
        matches!(self, Promotion::Closed)
    }

    /// Notes that the answer has something else to show, or is over.
    pub fn close(&mut self) {
        *self = Promotion::Closed;
    }

    /// Takes what a text has become.
    pub fn take(&mut self, parts: &Parts) -> memory::Result<()> {
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

    pub fn take_thinking(&mut self, text: &[u8]) -> memory::Result<()> {
        match self {
            Promotion::Open { most, thinking } if text.len() <= most.saturating_sub(thinking.len()) => {
                append(thinking, text)
            }
            _ => {
                self.give_up();
                Ok(())
            }
        }
    }

    /// Keeps no more thinking, because there is too much.
    pub fn give_up(&mut self) {
        if let Promotion::Open { .. } = self {
            *self = Promotion::Long;
        }
    }

    /// Returns what is to be the content of an answer that has ended by itself: nothing, most of the time. `None` says that it was
    /// too long.
    pub fn content(&self) -> Option<&[u8]> {
        match self {
            Promotion::Open { thinking, .. } => Some(thinking),
            Promotion::Long => None,
            Promotion::Closed => Some(&[]),
        }
    }
}
