//! Stretches of the texts of a message, each for one item.

use super::fields::Object;
use super::message::{ItemKind, Message};
use super::split::{Comparison, SplitText};
use crate::Error;
use crate::json::Span;
use crate::memory::push;

/// A part of a message, with its split text, if it has text.
pub struct Entry {
    pub object: Object,
    pub said: Vec<u8>,
    pub split: Option<SplitText>,
    pub stretches: Vec<(u64, u64)>,
    pub comparison: Comparison,
}

impl Entry {
    /// Returns the text in which the range of a stretch was measured.
    pub fn text(&self, stretch: &Stretch) -> &[u8] {
        let text = self.split.as_ref().map(|split| match stretch.kind {
            ItemKind::Reasoning => &split.thinking[..],
            ItemKind::Message => &split.content,
            ItemKind::Verbatim | ItemKind::Call(_) => b"",
        });
        let text = text.and_then(|text| text.get(stretch.range.clone()));
        debug_assert!(
            text.is_some() || !matches!(stretch.kind, ItemKind::Reasoning | ItemKind::Message),
            "a stretch of another text"
        );
        text.unwrap_or_default()
    }

    /// Returns whether the whole text of the part is content.
    pub fn is_content(&self) -> bool {
        let Some(split) = &self.split else { return true };
        split.content == self.said && split.thinking.is_empty() && split.calls.is_empty()
    }

    /// Returns whether the part is other than an empty text.
    pub fn has_content(&self) -> bool {
        self.split.is_none() || !self.said.is_empty()
    }
}

/// Returns the place of the message in which all of these parts were sent, if there was only one. Such a message stays as the
/// server repeats it, even where that contradicts earlier events.
pub fn place_of_all(entries: &[Entry], record: &Message) -> Option<u64> {
    let pieces = record.pieces.as_ref()?;
    let first = pieces.first()?;
    let is_one = pieces.iter().all(|piece| {
        matches!(piece.kind, ItemKind::Message | ItemKind::Verbatim) && piece.out == first.out && piece.pair == 1
    });
    (is_one && entries.iter().all(Entry::is_content)).then_some(first.out)
}

/// A range of an entry's thinking or content, or one of its calls, that is put into an item.
pub struct Stretch {
    pub kind: ItemKind,
    pub entry: usize,
    pub out: u64,
    pub pair: u64,
    pub range: Span,
}

impl Stretch {
    pub fn is_of_message(&self) -> bool {
        matches!(self.kind, ItemKind::Message | ItemKind::Verbatim)
    }

    /// Returns whether another stretch is for the same item. If a server contradicts itself, several items may have one place.
    pub fn has_item_of(&self, other: &Stretch) -> bool {
        let is_of_kind = match self.kind {
            ItemKind::Reasoning => other.kind == ItemKind::Reasoning,
            ItemKind::Message | ItemKind::Verbatim => other.is_of_message(),
            ItemKind::Call(_) => false,
        };
        is_of_kind && self.out == other.out
    }
}

/// Returns stretches that put the whole message into the open item.
pub fn all_in_one(entries: &[Entry], record: &Message) -> Result<Vec<Stretch>, Error> {
    let mut stretches = Vec::new();
    for (entry, Entry { split, .. }) in entries.iter().enumerate() {
        let (kind, len) =
            split.as_ref().map_or((ItemKind::Verbatim, 0), |split| (ItemKind::Message, split.content.len()));
        push(&mut stretches, Stretch { kind, entry, out: record.place, pair: record.pair, range: 0..len })?;
    }
    Ok(stretches)
}
