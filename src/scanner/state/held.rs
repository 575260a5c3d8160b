//! The bytes that are held back: beginnings of markers and of characters, which only what comes next can decide.

use alloc::vec::Vec;
use core::ops::Range;

use crate::dialect::attempt::Mark;

use super::{Pending, State};
use crate::scanner::{Error, chunk::Chunk};

impl State {
    /// The bytes kept for whoever read the last events are let go; what is held is what the call begins with.
    pub(super) fn let_go(&mut self) {
        let done = self.done;
        self.let_go_of_bytes(self.held.len() - done);
        if let Some(marks) = self.marks() {
            marks.drain(..done.min(marks.len()));
        }
    }

    /// The same without the marks. `left`: how many bytes are held.
    #[inline]
    pub(super) fn let_go_of_bytes(&mut self, left: usize) {
        if left > 0 && self.done > 0 {
            self.held.drop_front(self.done);
        }
        self.held.truncate(left);
        self.done = 0;
        self.before = left;
    }

    pub fn held(&self) -> &[u8] {
        self.held.get(self.done..).unwrap_or_default()
    }

    /// The same without what is the prompt's.
    pub fn held_of_stream(&self) -> &[u8] {
        &self.held()[self.early()..]
    }

    pub fn all_held(&self) -> &[u8] {
        &self.held
    }

    pub fn before(&self) -> &[u8] {
        &self.held[..self.before]
    }

    /// Copies the rest of a marker whose events are not all reported: the caller will not feed it again. There is room for it
    /// (`make_room_to_park`), unless memory has run out in this call; nothing but a reset helps then.
    #[inline]
    pub fn park(&mut self, chunk: &Chunk<'_>, pos: &mut usize) {
        if let Pending::Due(due) = self.pending
            && self.held().is_empty()
        {
            let end = *pos + due.len();
            self.forget_done();
            if self.reserve(due.len()).is_ok() {
                self.copy(chunk, *pos..end);
                *pos = end;
            }
        }
    }

    /// Lends out what is held beside the rest of the state.
    pub(super) fn with_held<T>(&mut self, read: impl FnOnce(&mut State, &[u8], &[Mark]) -> T) -> T {
        let held = core::mem::take(&mut self.held);
        let marks = self.extra.get_mut().map(|extra| core::mem::take(&mut extra.marks)).unwrap_or_default();
        let result = read(self, &held[self.done..], marks.get(self.done..).unwrap_or(&[]));
        self.held = held;
        if let Some(extra) = self.extra.get_mut() {
            extra.marks = marks;
        }
        result
    }

    /// Takes the next `len` bytes of the chunk to what is held.
    pub(super) fn hold(&mut self, chunk: &Chunk<'_>, pos: &mut usize, len: usize) -> Result<(), Error> {
        self.forget_done();
        self.reserve(len)?;
        self.copy(chunk, *pos..*pos + len);
        *pos += len;
        Ok(())
    }

    pub(super) fn reserve(&mut self, len: usize) -> Result<(), Error> {
        self.held.try_reserve(len)?;
        if let Some(marks) = self.marks() {
            marks.try_reserve(len)?;
        }
        Ok(())
    }

    /// What is known of each held byte, where bytes come with their tokens.
    fn marks(&mut self) -> Option<&mut Vec<Mark>> {
        self.extra.get_mut().filter(|_| self.has_tokens).map(|extra| &mut extra.marks)
    }

    fn copy(&mut self, chunk: &Chunk<'_>, range: Range<usize>) {
        self.held.extend(&chunk.bytes[range.clone()]);
        if let Some(marks) = self.marks() {
            marks.extend(range.map(|at| chunk.mark(at)));
        }
    }

    /// Makes room where nothing is held any more. What the call began with stays.
    pub(super) fn forget_done(&mut self) {
        if self.done == self.held.len() {
            self.truncate(self.before);
            self.done = self.held.len();
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.held.truncate(len);
        if let Some(extra) = self.extra.get_mut() {
            extra.marks.truncate(len);
        }
    }
}
