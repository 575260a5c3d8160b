//! Divides the stretches of a message among items: as the stream has sent them, or anew.

use std::mem;

use super::calls::unique;
use super::message::{ItemKind, Message, Piece};
use super::outgoing::Outgoing;
use super::split::{Comparison, cut_off, take};
use super::stretch::{Entry, Stretch};
use super::whole::{Items, Scope};
use crate::Error;
use crate::answer;
use crate::json::Span;
use crate::memory::push;
use crate::sse::protocol::ALONE;

impl Items<'_> {
    /// Returns the stretches for each item, divided as in the stream. Thinking that is left out gets no place.
    pub(super) fn as_sent(
        &mut self,
        entries: &mut [Entry],
        pieces: &[Piece],
        record: &Message,
    ) -> Result<Vec<Stretch>, Error> {
        let mut stretches = Vec::new();
        for (place, entry) in entries.iter_mut().enumerate() {
            let own = || pieces.iter().filter(|piece| piece.part == place as u64);
            let Some(split) = &mut entry.split else {
                // Without such a piece, the part was in no earlier event.
                let piece = own().find(|piece| piece.kind == ItemKind::Verbatim);
                let (out, pair) = piece.map_or((record.place, record.pair), |piece| (piece.out, piece.pair));
                push(&mut stretches, Stretch { kind: ItemKind::Verbatim, entry: place, out, pair, range: 0..0 })?;
                continue;
            };
            let is_same = entry.comparison == Comparison::Same;
            if is_same {
                split.lay_out(own())?;
            }
            let [mut thinking, mut content] = [0, 0];
            let last = |kind: ItemKind| {
                own().enumerate().filter(|(_, piece)| piece.kind == kind).last().map(|(number, _)| number)
            };
            let (last_thinking, last_content) = (last(ItemKind::Reasoning), last(ItemKind::Message));
            let mut calls = 0;
            // The lengths of the pieces were measured in the text of the deltas.
            let take_text = |at: &mut usize, text: &[u8], len: usize, is_last: bool| {
                let len = if is_same { len } else { len + cut_off(text.get(*at..).unwrap_or_default(), len) };
                take(at, text.len(), len, is_last)
            };
            for (number, piece) in own().enumerate() {
                let range = match piece.kind {
                    ItemKind::Reasoning => {
                        take_text(&mut thinking, &split.thinking, piece.len, last_thinking == Some(number))
                    }
                    ItemKind::Message => {
                        take_text(&mut content, &split.content, piece.len, last_content == Some(number))
                    }
                    ItemKind::Call(_) => take(&mut calls, split.calls.len(), 1, false),
                    ItemKind::Verbatim => continue,
                };
                if matches!(piece.kind, ItemKind::Call(_)) && range.is_empty() {
                    continue;
                }
                let (out, pair) = (piece.out, piece.pair);
                push(&mut stretches, Stretch { kind: piece.kind, entry: place, out, pair, range })?;
            }
            // The text and calls that the stream did not have.
            let thinking = if self.outgoing.drops_thinking { split.thinking.len() } else { thinking };
            let rest = [
                (ItemKind::Reasoning, thinking..split.thinking.len()),
                (ItemKind::Message, content..split.content.len()),
            ];
            for (kind, range) in rest.into_iter().filter(|(_, range)| !range.is_empty() && self.scope != Scope::Item) {
                let out = self.outgoing.places.insert(record.index);
                push(&mut stretches, Stretch { kind, entry: place, out, pair: record.pair + 1, range })?;
            }
            for call in (calls..split.calls.len()).filter(|_| self.scope != Scope::Item) {
                let kind = ItemKind::Call(unique(&split.calls[call].id, self.outgoing)?);
                let out = self.outgoing.places.insert(record.index);
                push(&mut stretches, Stretch { kind, entry: place, out, pair: record.pair, range: call..call + 1 })?;
            }
        }
        // Stretches of parts that arrived by turns are put into the same item.
        stretches.sort_unstable_by_key(|stretch| (stretch.out, stretch.entry, stretch.range.start));
        Ok(stretches)
    }

    /// Returns the stretches for each item, divided without regard to a stream. Thinking that is left out gets no place.
    pub(super) fn anew(
        &mut self,
        entries: &[Entry],
        index: u64,
        record: Option<&Message>,
    ) -> Result<Vec<Stretch>, Error> {
        let mut stretches: Vec<Stretch> = Vec::new();
        let (mut pair, mut has_reasoning, mut has_message) = (1, false, false);
        let mut is_reserved = record.is_none();
        let mut add = |outgoing: &mut Outgoing, kind: ItemKind, entry: usize, range: Span| {
            let is_message = |kind: ItemKind| matches!(kind, ItemKind::Message | ItemKind::Verbatim);
            let mut out = stretches.last().map_or(0, |last| last.out);
            let goes_on = stretches.last().is_some_and(|last| {
                is_message(last.kind) && is_message(kind)
                    || last.kind == ItemKind::Reasoning && kind == ItemKind::Reasoning
            });
            if !goes_on {
                if is_message(kind) && has_message || kind == ItemKind::Reasoning && (has_message || has_reasoning) {
                    pair += 1;
                    (has_message, has_reasoning) = (false, false);
                }
                out = match kind {
                    ItemKind::Reasoning if outgoing.drops_thinking => out,
                    _ if is_message(kind) && mem::take(&mut is_reserved) => outgoing.places.of(index)?,
                    _ => outgoing.places.insert(index),
                };
                has_message |= is_message(kind);
                has_reasoning |= kind == ItemKind::Reasoning;
            }
            Ok::<(), Error>(push(&mut stretches, Stretch { kind, entry, out, pair, range })?)
        };
        for (place, entry) in entries.iter().enumerate() {
            let Some(split) = &entry.split else {
                add(self.outgoing, ItemKind::Verbatim, place, 0..0)?;
                continue;
            };
            if entry.said.is_empty() {
                add(self.outgoing, ItemKind::Message, place, 0..0)?;
            }
            let (mut thinking, mut content, mut calls) = (0, 0, 0);
            for &(target, len) in split.order.iter().take(ALONE) {
                let (kind, range) = match target {
                    answer::Target::Reasoning => {
                        (ItemKind::Reasoning, take(&mut thinking, split.thinking.len(), len, false))
                    }
                    answer::Target::Content => (ItemKind::Message, take(&mut content, split.content.len(), len, false)),
                    answer::Target::Calls => {
                        let range = take(&mut calls, split.calls.len(), 1, false);
                        let id = split.calls.get(range.start).map_or(&b""[..], |call| &call.id);
                        (ItemKind::Call(unique(id, self.outgoing)?), range)
                    }
                };
                add(self.outgoing, kind, place, range)?;
            }
            let rest = [
                (ItemKind::Reasoning, thinking..split.thinking.len()),
                (ItemKind::Message, content..split.content.len()),
            ];
            for (kind, range) in rest.into_iter().filter(|(_, range)| !range.is_empty()) {
                add(self.outgoing, kind, place, range)?;
            }
            for call in calls..split.calls.len() {
                let number = unique(&split.calls[call].id, self.outgoing)?;
                add(self.outgoing, ItemKind::Call(number), place, call..call + 1)?;
            }
        }
        if is_reserved && !entries.is_empty() {
            self.outgoing.places.leave_out();
        }
        Ok(stretches)
    }
}
