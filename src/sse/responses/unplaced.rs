//! Adds the indexes that some servers leave out of events: llama.cpp writes neither `output_index` nor `content_index`. The
//! rewriter needs them to split text and to move items, and clients read them. They are found by counting the ids of the items.

use super::fields::{Fields, Kind, Object, inside};
use super::outgoing::write_index;
use crate::Error;
use crate::json::Span;
use crate::memory::{self, append, push};

/// The maximum number of items of a response that are counted.
const ITEMS: usize = 128;

/// An item whose events have no index.
struct Item {
    id: Vec<u8>,
    /// The number of parts that have begun.
    parts: u64,
}

/// The items of a response, from the first item without an index on.
#[derive(Default)]
pub struct Unplaced {
    items: Vec<Item>,
}

impl Unplaced {
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Returns an event with its missing indexes added, or `None` if no index is missing or the indexes are not known. `at` is the
    /// position of the event's data.
    pub fn complete(&mut self, raw: &[u8], at: Span, fields: &Fields) -> Result<Option<Vec<u8>>, Error> {
        if fields.output_index.is_some() || self.items.is_empty() && fields.kind != Kind::ItemAdded {
            return Ok(None);
        }
        let data = &raw[at.clone()];
        let id = match &fields.item {
            Some(item) => Object::read(data, item.clone()).id,
            None => fields.item_id.clone(),
        };
        let Some(id) = id.map(|id| inside(data, &id)) else { return Ok(None) };
        let found = self.items.iter().position(|item| item.id == id);
        let index = match found {
            Some(index) => index,
            None if fields.kind == Kind::ItemAdded && self.items.len() < ITEMS => {
                push(&mut self.items, Item { id: memory::copy(id)?, parts: 0 })?;
                self.items.len() - 1
            }
            None => return Ok(None),
        };
        let item = &mut self.items[index];
        let content = match fields.kind {
            Kind::PartAdded => {
                item.parts += 1;
                Some(item.parts - 1)
            }
            Kind::PartDone | Kind::TextDelta | Kind::TextDone | Kind::Annotation => Some(item.parts.saturating_sub(1)),
            _ => None,
        };
        let Some(last) = data.iter().rposition(|&byte| byte == b'}') else { return Ok(None) };
        let end = at.start + last;
        let mut completed = memory::copy(&raw[..end])?;
        write_index(b",\"output_index\":", index as u64, &mut completed)?;
        if let Some(content) = content.filter(|_| fields.content_index.is_none()) {
            write_index(b",\"content_index\":", content, &mut completed)?;
        }
        append(&mut completed, &raw[end..])?;
        Ok(Some(completed))
    }
}
