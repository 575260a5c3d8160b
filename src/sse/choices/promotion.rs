//! Thinking that is sent once more as content, because the answer had nothing else: a model that forgets to close its thinking
//! has answered in it.

use crate::memory::{self, append};
use crate::sse::text::{Parts, Target};

/// What one choice has said so far.
#[derive(Default)]
pub struct Promotion {
    thinking: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    /// Nothing but thinking, all of which is kept.
    #[default]
    Thinking,
    /// Nothing but thinking, and more than is kept.
    Long,
    /// Content or a call as well, or it is over.
    Closed,
}

impl Promotion {
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Says that nothing will be promoted.
    pub fn close(&mut self) {
        *self = Promotion { thinking: Vec::new(), state: State::Closed };
    }

    /// Takes text that goes out. At most `most` bytes of thinking are kept.
    pub fn take(&mut self, parts: &Parts, most: usize) -> memory::Result<()> {
        for run in parts.runs() {
            match run.target() {
                Target::Reasoning => self.take_thinking(parts.text_of(run), most)?,
                Target::Content | Target::Calls => self.close(),
            }
        }
        Ok(())
    }

    pub fn take_thinking(&mut self, text: &[u8], most: usize) -> memory::Result<()> {
        match self.state {
            State::Thinking if self.thinking.len() + text.len() <= most => append(&mut self.thinking, text),
            State::Thinking => {
                *self = Promotion { thinking: Vec::new(), state: State::Long };
                Ok(())
            }
            State::Long | State::Closed => Ok(()),
        }
    }

    /// Ends the choice. Returns the thinking that is to be its content, or `None` if that was too long.
    pub fn end(&mut self) -> Option<Vec<u8>> {
        let Promotion { thinking, state } = std::mem::take(self);
        self.close();
        (state != State::Long).then_some(thinking)
    }
}
