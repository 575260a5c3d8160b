//! Stretches of the texts of a message, each of which goes to an item.

use super::fields::Object;
use super::message::{ItemKind, Message};
use super::split::{Comparison, SplitText};
use crate::Error;
use crate::json::Span;
use crate::memory::push;

/// A part of a message: its text, if it has one, split.
pub struct Entry {
    pub object: Object,
    pub said: Vec<u8>,
    pub split: Option<SplitText>,
    pub stretches: Vec<(u64, u64)>,
    pub comparison: Comparison,
}

impl Entry {
    /// Returns the text of a stretch. It was measured on that.
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

    /// Returns whether its text is content as it is.
    pub fn is_content(&self) -> bool {
        let Some(split) = &self.split else { return true };
        split.content == self.said && split.thinking.is_empty() && split.calls.is_empty()
    }

    /// Returns whether it has something other than an empty text.
    pub fn has_content(&self) -> bool {
        self.split.is_none() || !self.said.is_empty()
    }
}

/// Returns the place of the one message that got all of these parts, if it did: then it stays as the server writes it, also where
/// that contradicts the events before.
pub fn place_of_all(entries: &[Entry], record: &Message) -> Option<u64> {
    let pieces = record.pieces.as_ref()?;
    let first = pieces.first()?;
    let is_one = pieces.iter().all(|piece| {
        matches!(piece.kind, ItemKind::Message | ItemKind::Verbatim) && piece.out == first.out && piece.pair == 1
    });
    (is_one && entries.iter().all(Entry::is_content)).then_some(first.out)
}

/// The addition to an item: a range of an entry's thinking or content, as `kind` says, or one of its calls.
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

    /// Returns whether another stretch goes to the same item. If a server contradicts itself, several may have one place.
    pub fn has_item_of(&self, other: &Stretch) -> bool {
        let is_of_kind = match self.kind {
            ItemKind::Reasoning => other.kind == ItemKind::Reasoning,
            ItemKind::Message | ItemKind::Verbatim => other.is_of_message(),
            ItemKind::Call(_) => false,
        };
        is_of_kind && self.out == other.out
    }
}

/// Returns all of a message in the item that is open.
pub fn all_in_one(entries: &[Entry], record: &Message) -> Result<Vec<Stretch>, Error> {
    let mut stretches = Vec::new();
    for (entry, Entry { split, .. }) in entries.iter().enumerate() {
        let (kind, len) =
            split.as_ref().map_or((ItemKind::Verbatim, 0), |split| (ItemKind::Message, split.content.len()));
        push(&mut stretches, Stretch { kind, entry, out: record.place, pair: record.pair, range: 0..len })?;
    }
    Ok(stretches)
}
