//! Optional state of a stream, which is allocated on first use so that a scanner without it stays small: a budget, collected
//! thoughts, counts of tokens, the data of a prompt, and calls.

use super::{counts::BudgetTracker, error::Error, thoughts::Thoughts};
use crate::{
    calls::body::{Body, MOST_NESTED, Piece, SelfLoop},
    channel::{Channel, Start},
    memory::TryBox,
};

#[derive(Default)]
pub struct Optional {
    pub budget: TryBox<BudgetTracker>,
    pub thoughts: TryBox<Thoughts>,
    /// Whether the last chunk ended inside a token.
    pub in_token: bool,
    /// The number of tokens of each channel, counted when the text is reported, like `ChannelCounts`.
    pub tokens: [u64; 4],
    pub prompt: Prompt,
    pub calls: StreamCalls,
}

/// The part of a stream's state that comes from its prompt.
#[derive(Clone, Copy, Default)]
pub struct Prompt {
    /// The start of the stream; `None` without a prompt.
    pub start: Option<Start>,
    /// The number of the first span of the prompt that is not reported yet; `None` if all are reported, or without a prompt.
    pub open: Option<u8>,
    /// The number of held bytes that belong to the prompt. They are at the front, and will be in no event.
    pub early: usize,
    /// Whether some of the prompt's held bytes are decided.
    pub is_settled: bool,
    /// The number of bytes of the last marker that belong to the prompt.
    pub marker: usize,
}

/// The calls of a stream.
#[derive(Default)]
pub struct StreamCalls {
    /// Whether the host wants events of calls.
    pub are_wanted: bool,
    /// Whether tool openers inside the thinking are text.
    pub never_in_thinking: bool,
    /// The position in the body of the innermost span, if tables describe the body.
    pub body: Option<Body>,
    /// Hashes of the names of the open elements, in a dialect with elements.
    pub elements: TryBox<[u32; MOST_NESTED as usize]>,
    /// The number of calls of the stream.
    pub count: u64,
    /// The bytes that do not change the state at the body's position, and their loop mask. The bytes are text if calls are not
    /// wanted.
    pub self_loop: Option<(SelfLoop, u32)>,
}

impl StreamCalls {
    /// Notes a piece, after which the body is at `next`. Returns the number of the last call.
    pub fn pass(&mut self, piece: Piece, next: Body) -> u64 {
        self.set_body(Some(next));
        if let Piece::Call { .. } = piece {
            self.count += 1;
        }
        self.last()
    }

    pub fn set_body(&mut self, body: Option<Body>) {
        // After the piece, different bytes may change the state.
        (self.body, self.self_loop) = (body, None);
        if let Some((at, name)) = body.and_then(|body| body.named_element())
            && let Some(element) = self.elements.get_mut().and_then(|names| names.get_mut(at))
        {
            *element = name;
        }
    }

    /// Returns the hash of the innermost element's name, or 0 if no element is open.
    pub fn innermost(&self) -> u32 {
        let open = self.body.map_or(0, |body| body.open_elements());
        open.checked_sub(1).and_then(|at| self.elements.get()?.get(at)).copied().unwrap_or(0)
    }

    /// Returns the number of the last call.
    pub fn last(&self) -> u64 {
        self.count.saturating_sub(1)
    }

    pub fn begin_stream(&mut self) {
        self.body = None;
        self.count = 0;
        self.self_loop = None;
    }

    /// Starts the numbers of calls after a prompt: a call that is open at the prompt's end is the first, and calls that ended
    /// in the prompt do not count.
    pub fn begin_after_prompt(&mut self) {
        self.count = self.body.is_some_and(|body| body.is_in_call()).into();
    }
}

impl Optional {
    pub fn try_clone(&self) -> Result<Optional, Error> {
        let budget = TryBox::of(self.budget.get().copied())?;
        let thoughts = TryBox::of(self.thoughts.get().map(Thoughts::try_clone).transpose()?)?;
        let calls = StreamCalls { elements: TryBox::of(self.calls.elements.get().copied())?, ..self.calls };
        Ok(Optional { budget, thoughts, calls, ..*self })
    }

    /// Begins a stream. Its counts are cleared at its first byte.
    pub fn begin_stream(&mut self) {
        self.in_token = false;
        self.prompt = Prompt::default();
        self.calls.begin_stream();
        if let Some(thoughts) = self.thoughts.get_mut() {
            thoughts.drop_guess();
        }
    }

    /// Returns whether the automaton alone cannot report text of the channel, because of a prompt, tokens or thoughts.
    pub fn reads_text(&self, channel: Channel) -> bool {
        let collects = self.thoughts.get().is_some_and(|thoughts| thoughts.collects(channel));
        self.prompt.early > 0 || self.prompt.open.is_some() || self.in_token || collects
    }

    pub fn clear_counts(&mut self) {
        self.tokens = [0; 4];
        if let Some(budget) = self.budget.get_mut() {
            budget.clear();
        }
    }
}
