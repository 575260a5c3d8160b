//! Optional per-stream state, boxed on first use so that an idle scanner stays small: a budget, collected thoughts, counts
//! of tokens, and a prompt that said where the stream starts.

use super::{counts::BudgetTracker, error::Error, thoughts::Thoughts};
use crate::{
    calls::body::{Body, MOST_NESTED, Piece, SelfLoop},
    channel::{Channel, Start},
    memory::TryBox,
};

#[derive(Default)]
pub struct Optional {
    pub budget: Option<BudgetTracker>,
    pub thoughts: Option<Thoughts>,
    /// The last chunk ended inside a token.
    pub in_token: bool,
    /// The tokens of each channel, counted when the text is reported, like `ChannelCounts`.
    pub tokens: [u64; 4],
    pub prompt: Prompt,
    pub calls: StreamCalls,
}

/// State that a prompt has left for the stream.
#[derive(Clone, Copy, Default)]
pub struct Prompt {
    /// Where the stream starts. None if no prompt has said so.
    pub start: Option<Start>,
    /// The number of the first span that the prompt has opened and that is not reported. None if there is no prompt, or if all
    /// are reported.
    pub open: Option<u8>,
    /// The number of held bytes at the front that belong to the prompt. They are in no event.
    pub early: usize,
    /// Some of the prompt's bytes are decided.
    pub is_settled: bool,
    /// The number of bytes of the last marker that belong to the prompt.
    pub marker: usize,
}

/// The calls of a stream.
#[derive(Default)]
pub struct StreamCalls {
    /// The host wants their events.
    pub are_wanted: bool,
    /// An opener inside the thinking is text.
    pub never_in_thinking: bool,
    /// The position in the body of the innermost span, if it is read by tables.
    pub body: Option<Body>,
    /// Hashes of the names of the elements that are open; room for all, in a dialect with elements.
    pub elements: TryBox<[u32; MOST_NESTED as usize]>,
    /// The number of calls of the stream.
    pub count: u64,
    /// The bytes that change nothing at the body's position, and the loop mask for them. Its pieces are text if calls are not
    /// wanted.
    pub self_loop: Option<(SelfLoop, u32)>,
}

impl StreamCalls {
    /// Passes a piece, after which the body is at `next`. Returns the number of the last call.
    pub fn pass(&mut self, piece: Piece, next: Body) -> u64 {
        self.set_body(Some(next));
        if let Piece::Call { .. } = piece {
            self.count += 1;
        }
        self.last()
    }

    pub fn set_body(&mut self, body: Option<Body>) {
        // Bytes that changed nothing before may change something after it.
        (self.body, self.self_loop) = (body, None);
        if let Some((at, name)) = body.and_then(|body| body.named_element())
            && let Some(element) = self.elements.get_mut().and_then(|names| names.get_mut(at))
        {
            *element = name;
        }
    }

    /// Returns the hash of the innermost element's name, 0 if none is open.
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

    /// Numbers the calls of a stream after a prompt: one that the prompt has begun is the first, and one that has ended there
    /// has no number.
    pub fn begin_after_prompt(&mut self) {
        self.count = self.body.is_some_and(|body| body.is_in_call()).into();
    }
}

impl Optional {
    pub fn try_clone(&self) -> Result<Optional, Error> {
        let thoughts = self.thoughts.as_ref().map(Thoughts::try_clone).transpose()?;
        let elements = self.calls.elements.get().copied().map_or(Ok(TryBox::NONE), TryBox::new)?;
        let calls = StreamCalls { elements, ..self.calls };
        Ok(Optional { thoughts, calls, ..*self })
    }

    /// Begins a stream. Its counts are cleared with its first byte.
    pub fn begin_stream(&mut self) {
        self.in_token = false;
        self.prompt = Prompt::default();
        self.calls.begin_stream();
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
