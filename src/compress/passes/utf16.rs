//! Decodes UTF-16. This filter must run before all other filters, since they cannot read such a text. It leaves nothing out.

use super::pass::{Pass, Promise, Stage};
use crate::compress::{
    invocation::input::Input,
    lines::layout::Text,
    text::{
        edit::{Edit, EditKind},
        utf16::{ByteOrder, MARK, text_of},
    },
};

/// The id of the filter that decodes UTF-16.
pub const UTF16: &str = "utf-16";

/// Decodes UTF-16.
pub struct Utf16;

impl Pass for Utf16 {
    fn id(&self) -> &str {
        UTF16
    }

    fn promise(&self) -> Promise {
        Promise::Decode
    }

    fn stage(&self) -> Stage {
        Stage::Terminal
    }

    /// Returns an edit for each line, so that lines of the result lead back to those of the original.
    fn edits(&self, text: Text<'_>, _: &Input, _: usize) -> Vec<Edit> {
        let Some(order) = ByteOrder::of(text.bytes) else { return Vec::new() };
        let units: Vec<u16> = units(text.bytes, order).collect();
        let mut at = 0;
        let lines = units.split_inclusive(|&unit| unit == u16::from(b'\n')).map(|line| {
            let range = at..at + 2 * line.len();
            at = range.end;
            let line = if range.start == 0 { line.strip_prefix(&[MARK]).unwrap_or(line) } else { line };
            Edit { range, kind: EditKind::Replace(text_of(line.iter().copied())) }
        });
        lines.collect()
    }

    fn is_undone(&self, old: &[u8], new: &[u8]) -> bool {
        let Some(order) = ByteOrder::of(old) else { return false };
        let is_same = |(old, new): (u16, u16)| {
            old == new || new == char::REPLACEMENT_CHARACTER as u16 && matches!(old, 0xd800..=0xdfff)
        };
        let new = new.strip_suffix(&old[old.len() / 2 * 2..]).map(std::str::from_utf8);
        let Some(Ok(new)) = new else { return false };
        let old = units(old, order).enumerate().filter(|&(at, unit)| at > 0 || unit != MARK).map(|(_, unit)| unit);
        old.clone().count() == new.encode_utf16().count() && old.zip(new.encode_utf16()).all(is_same)
    }
}

fn units(text: &[u8], order: ByteOrder) -> impl Iterator<Item = u16> + Clone + '_ {
    text.chunks_exact(2).map(move |pair| order.unit([pair[0], pair[1]]))
}
