//! A text block of the server, and the blocks that are sent in its place. Clients expect one kind of text in a block, so each
//! change of kind ends a block and begins another.

use std::{mem, slice};

use super::fields::Fields;
use super::outgoing::{Delta, Outgoing, call_block, empty, text_block, thinking_block};
use crate::Error;
use crate::answer::{CallPart, Parts, Run, Target, TextStream};
use crate::json::{Edits, decimal, write_string};
use crate::memory::{self, append, push};
use crate::sse::event::{Event, EventPart};

/// The maximum number of bytes that are kept of a block's start event and of events without text after it.
const KEPT: usize = 16 << 10;

/// The block that is open in the output.
#[derive(Clone, Copy)]
pub struct OpenBlock {
    /// The index of the block; `None` if the block is left out.
    pub index: Option<u64>,
    /// The kind of text in the block.
    pub target: Target,
}

/// A text block that the server has begun and not ended.
pub struct TextBlock {
    /// The server's index.
    pub index: u64,
    pub text: TextStream,
    pub open: Option<OpenBlock>,
    /// Whether text of the block has arrived.
    pub has_text: bool,
    /// Whether the start of the block is held.
    pub waits: bool,
    /// The server's event that starts the block, from which each block of content is made; then, while the start is held,
    /// events without text. Empty if the start is too long.
    start: Vec<u8>,
    /// The end in `start` of each of these events.
    ends: Vec<usize>,
}

impl TextBlock {
    pub fn new(index: u64, text: TextStream) -> TextBlock {
        TextBlock { index, text, open: None, has_text: false, waits: false, start: Vec::new(), ends: Vec::new() }
    }

    /// Returns the number of bytes of the block that are held back.
    pub fn held(&self) -> usize {
        self.text.held() + if self.waits && !self.has_text { self.start.len() } else { 0 }
    }

    /// Keeps the event that starts the block, or an event without text after it. Returns whether there was room.
    pub fn keep(&mut self, event: &EventPart<'_>) -> memory::Result<bool> {
        let most = KEPT.saturating_sub(self.start.len());
        if event.part.len() + event.name().len() > most {
            return Ok(false);
        }
        event.write(&mut Edits::default(), &mut self.start)?;
        append(&mut self.start, event.missing_end())?;
        push(&mut self.ends, self.start.len())?;
        Ok(true)
    }

    /// Opens a block for text of this kind, after closing a block for another kind. Returns its index, or `None` if it is left
    /// out. The start of a call's block is not written here, but with the call's id and name.
    pub fn open(&mut self, target: Target, outgoing: &mut Outgoing, out: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        if let Some(open) = self.open.filter(|open| open.target == target) {
            return Ok(open.index);
        }
        self.close(outgoing, out)?;
        let index = outgoing.take_index(target == Target::Reasoning);
        self.open = Some(OpenBlock { index, target });
        match target {
            Target::Reasoning => outgoing.start(index, out, |out| thinking_block(None, out, empty))?,
            Target::Content if self.start.is_empty() => outgoing.start(index, out, |out| text_block(out, empty))?,
            Target::Content => self.write_start(index, outgoing, out)?,
            Target::Calls => {}
        }
        Ok(index)
    }

    /// Writes the start of the block if it is held, because later text must not precede it.
    pub fn make_way(&mut self, outgoing: &mut Outgoing, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.waits && !self.has_text {
            self.open(Target::Content, outgoing, out)?;
        }
        Ok(())
    }

    /// Writes the start event with this index, and the held events after it.
    fn write_start(&mut self, index: Option<u64>, outgoing: &mut Outgoing, out: &mut Vec<u8>) -> Result<(), Error> {
        outgoing.added += u64::from(!mem::take(&mut self.waits));
        let (mut event, mut edits) = (Event::default(), Edits::default());
        let mut from = 0;
        for &end in &self.ends {
            let raw = &self.start[from..end];
            event.read(raw)?;
            let part = EventPart { raw, part: 0..raw.len(), event: &event };
            let fields = Fields::read(part.data());
            edits.clear();
            set_index(&fields, index, &mut edits)?;
            // The text in the start event has been read already.
            if let Some((_, text)) = fields.block.text.filter(|(_, text)| text.len() > 2) {
                edits.replace(text, empty)?;
            }
            part.write(&mut edits, out)?;
            from = end;
        }
        // From now on, only the start event is needed.
        self.ends.truncate(1);
        self.start.truncate(self.ends.first().copied().unwrap_or(0));
        Ok(())
    }

    /// Ends the open block.
    pub fn close(&mut self, outgoing: &mut Outgoing, out: &mut Vec<u8>) -> memory::Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        self.before_stop(open, outgoing, out)?;
        outgoing.stop(open.index, out)
    }

    /// Writes the events before the end of a block.
    pub fn before_stop(&self, open: OpenBlock, outgoing: &mut Outgoing, out: &mut Vec<u8>) -> memory::Result<()> {
        if open.target == Target::Reasoning { outgoing.signature(open.index, out) } else { Ok(()) }
    }

    /// Writes stretches of the block's text as separate events. `alone` is the number of stretches that may still be separate.
    pub fn write(
        &mut self,
        parts: &Parts,
        runs: &[Run],
        alone: &mut usize,
        outgoing: &mut Outgoing,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        pieces(parts, runs, alone, |runs, target| {
            if target == Target::Calls {
                return runs.iter().try_for_each(|run| self.write_call(parts, run, outgoing, out));
            }
            let index = self.open(target, outgoing, out)?;
            let kind = if target == Target::Reasoning { Delta::Thinking } else { Delta::Text };
            Ok(outgoing.delta(index, kind, out, |out| parts.write(runs, target, false, out))?)
        })
    }

    fn write_call(
        &mut self,
        parts: &Parts,
        run: &Run,
        outgoing: &mut Outgoing,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        match parts.call_part(run) {
            Some(CallPart::Begin { id, name }) => {
                self.close(outgoing, out)?;
                let index = self.open(Target::Calls, outgoing, out)?;
                outgoing.start(index, out, |out| call_block(id, name, b"{}", out))?;
            }
            Some(CallPart::Arguments(arguments)) => {
                let Some(open) = self.open else { return Ok(()) };
                outgoing.delta(open.index, Delta::Input, out, |out| write_string(arguments, out))?;
            }
            None => {}
        }
        Ok(())
    }
}

/// Notes the changes that replace the event's text `said` by this stretch.
pub fn set_text(fields: &Fields, parts: &Parts, run: &Run, said: &[u8], edits: &mut Edits) -> memory::Result<()> {
    let Some((key, value)) = fields.block.text.clone() else { return Ok(()) };
    let text = parts.text_of(run);
    let to = match run.target() {
        Target::Content if text == said => return Ok(()),
        Target::Content => None,
        Target::Reasoning => Some(Delta::Thinking),
        Target::Calls => Some(Delta::Input),
    };
    if let (Some(to), Some(kind)) = (to, fields.block.kind.clone()) {
        edits.replace(kind, |out| append(out, to.kind()))?;
        edits.replace(key, |out| append(out, to.member()))?;
    }
    edits.replace(value, |out| write_string(text, out))
}

/// Calls `piece` with stretches and the kind of their text: separately for at most `alone` stretches, and once for each kind of the
/// rest. This limits the size of the blocks: otherwise a few bytes of text could become many times as many bytes of blocks. A call's
/// arguments stay with its beginning.
pub fn pieces<E>(
    parts: &Parts,
    runs: &[Run],
    alone: &mut usize,
    mut piece: impl FnMut(&[Run], Target) -> Result<(), E>,
) -> Result<(), E> {
    let rest_of_call = |runs: &[Run]| {
        runs.iter().take_while(|run| matches!(parts.call_part(run), Some(CallPart::Arguments(_)))).count()
    };
    let mut runs = runs;
    while let Some(first) = runs.first() {
        let is_rest = rest_of_call(slice::from_ref(first)) > 0;
        if *alone == 0 && !is_rest {
            break;
        }
        *alone -= usize::from(!is_rest);
        let (apart, left) = runs.split_at(1 + rest_of_call(&runs[1..]));
        piece(apart, first.target())?;
        runs = left;
    }
    let has = |&target: &Target| runs.iter().any(|run| run.target() == target);
    Target::ALL.into_iter().filter(has).try_for_each(|target| piece(runs, target))
}

/// Notes that an event gets the index of its block. Returns whether the event is sent, because the block has an index.
pub fn set_index(fields: &Fields, index: Option<u64>, edits: &mut Edits) -> memory::Result<bool> {
    if let (Some((known, at)), Some(index)) = (&fields.index, index)
        && *known != index
    {
        edits.replace(at.clone(), |out| append(out, decimal(index, &mut [0; 20]).as_bytes()))?;
    }
    Ok(index.is_some())
}
