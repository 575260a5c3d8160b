//! Sends a call's deltas: the first with id and name, the arguments with small pieces joined, and the last with the end.

use super::delta::{CallDelta, End, Sink};
use crate::{Error, json::decimal, memory::append_text};

/// The length up to which small pieces are joined.
const BUFFER: usize = 2048;

/// A destination for text.
pub trait Put {
    /// Adds text at the end.
    fn put(&mut self, text: &str) -> Result<(), Error>;
}

/// Drops the text, for a caller that only needs to know whether it can be written.
pub struct Discard;

impl Put for Discard {
    fn put(&mut self, _: &str) -> Result<(), Error> {
        Ok(())
    }
}

impl Put for String {
    fn put(&mut self, text: &str) -> Result<(), Error> {
        Ok(append_text(self, text)?)
    }
}

/// The data of a call that is known before its arguments.
#[derive(Debug, Default)]
pub struct CallHeader {
    pub call: u64,
    pub index: u64,
    pub id: String,
    pub late_id: String,
    pub name: String,
    /// Whether the first delta has been sent.
    pub is_emitted: bool,
    /// The rules for holding the call; `None` if the call is sent as it arrives.
    pub holding: Option<Holding>,
    /// Whether the call had more arguments than may be held.
    pub is_too_long: bool,
    /// Whether something of the call was repaired.
    pub is_repaired: bool,
    /// Pieces of the arguments that have not been sent yet.
    buffer: String,
}

/// The rules for holding a call until it is whole.
#[derive(Clone, Copy, Debug)]
pub struct Holding {
    /// The maximum number of bytes of arguments that are held.
    pub most: usize,
    /// Whether a call that exceeds this limit is not emitted. If false, its held part is then sent, and the rest as it
    /// arrives.
    pub is_strict: bool,
    /// Whether a repaired call is emitted too.
    pub takes_repaired: bool,
}

impl CallHeader {
    /// Returns whether any of the arguments have been written.
    pub fn has_arguments(&self) -> bool {
        self.is_emitted || !self.buffer.is_empty()
    }

    #[cfg(test)]
    pub fn memory(&self) -> usize {
        [&self.id, &self.late_id, &self.name, &self.buffer].iter().map(|text| text.capacity()).sum()
    }

    /// Begins a call.
    pub fn begin(&mut self, call: u64, index: u64) {
        (self.call, self.index) = (call, index);
        (self.is_emitted, self.is_too_long, self.is_repaired) = (false, false, false);
        for text in [&mut self.id, &mut self.late_id, &mut self.name, &mut self.buffer] {
            text.clear();
        }
        if self.buffer.capacity() > BUFFER {
            self.buffer = String::new();
        }
    }
}

/// Writes the arguments of a call to a sink.
pub struct Output<'a, 's> {
    pub header: &'a mut CallHeader,
    pub id_prefix: &'a str,
    pub sink: &'a mut Sink<'s>,
}

impl Output<'_, '_> {
    /// Sends the joined pieces.
    pub fn flush(&mut self) -> Result<(), Error> {
        if self.header.buffer.is_empty() || self.header.holding.is_some() { Ok(()) } else { self.hand_over("", None) }
    }

    /// Sends the held bytes although the call is not whole, and from then on all bytes as they arrive.
    pub fn stop_holding(&mut self) -> Result<(), Error> {
        self.header.holding = None;
        self.flush()
    }

    /// Sends the call's last delta.
    pub fn end(&mut self, cause: crate::Cause, is_whole: bool) -> Result<(), Error> {
        if self.header.is_too_long { Ok(()) } else { self.hand_over("", Some((cause, is_whole))) }
    }

    /// Sends a delta with `text`, or with the joined pieces.
    fn hand_over(&mut self, text: &str, end: Option<(crate::Cause, bool)>) -> Result<(), Error> {
        let CallHeader { call, index, id, late_id, name, is_emitted, is_repaired, buffer, .. } = &mut *self.header;
        if !*is_emitted && id.is_empty() {
            id.put(self.id_prefix)?;
            let mut digits = [0; 20];
            id.put(decimal(*index, &mut digits))?;
        }
        let is_first = !std::mem::replace(is_emitted, true);
        let late_id = (!late_id.is_empty()).then_some(&**late_id);
        let delta = CallDelta {
            call: *call,
            index: *index,
            id: is_first.then_some(id),
            name: is_first.then_some(name),
            arguments: if text.is_empty() { buffer } else { text },
            end: end.map(|(cause, is_whole)| End { cause, is_whole, is_repaired: *is_repaired, late_id }),
        };
        let taken = (self.sink)(delta);
        if text.is_empty() {
            buffer.clear();
        }
        taken
    }
}

impl Put for Output<'_, '_> {
    fn put(&mut self, text: &str) -> Result<(), Error> {
        if let Some(Holding { most, is_strict, .. }) = self.header.holding {
            let buffer = &mut self.header.buffer;
            if self.header.is_too_long {
                return Ok(());
            }
            if text.len() <= most.saturating_sub(buffer.len()) {
                return Ok(append_text(buffer, text)?);
            }
            if is_strict {
                self.header.is_too_long = true;
                return Ok(());
            }
            self.stop_holding()?;
        }
        if self.header.buffer.len() + text.len() > BUFFER {
            self.flush()?;
            if text.len() > BUFFER / 2 {
                return self.hand_over(text, None);
            }
        }
        if self.header.buffer.capacity() == 0 {
            self.header.buffer.try_reserve_exact(BUFFER)?;
        }
        self.header.buffer.push_str(text);
        Ok(())
    }
}
