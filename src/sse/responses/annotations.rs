//! Corrects the positions of annotations after text before them was removed. The positions count characters, not bytes.

use crate::json::{Edits, Span, Value, decimal, whole_number};
use crate::memory::{self, append, push};

/// Returns the number of characters of a text.
pub fn chars(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64
}

/// The state of the text that annotations belong to.
#[derive(Clone, Copy)]
pub enum Annotations<'a> {
    /// The text without this number of characters at its beginning.
    Before(u64),
    /// The text is `len` characters of these stretches of the whole text, after the first `skip`. A stretch is its first
    /// character and its number of characters.
    In { stretches: &'a [(u64, u64)], skip: u64, len: u64 },
}

impl Annotations<'_> {
    /// Returns the range in the text of a range of characters of the whole text, if all of these are in the text.
    fn place(self, start: u64, end: u64) -> Option<(u64, u64)> {
        match self {
            Annotations::Before(before) => Some((start.checked_sub(before)?, end.checked_sub(before)?)),
            Annotations::In { stretches, skip, len } => {
                let place = |at: u64| {
                    let mut before = 0;
                    for &(first, len) in stretches {
                        if (first..first.saturating_add(len)).contains(&at) {
                            return Some(before + at - first);
                        }
                        before += len;
                    }
                    None
                };
                let start_place = place(start)?.checked_sub(skip)?;
                let end_place = if end > start { place(end - 1)? + 1 } else { place(start)? };
                let end_place = end_place.checked_sub(skip)?;
                (end_place <= len).then_some((start_place, end_place))
            }
        }
    }

    /// Adds the annotations of a list that belong to the text to a list of JSON.
    pub fn write_all(self, data: &[u8], list: Span, out: &mut Vec<u8>) -> memory::Result<()> {
        let mut memory = Ok(());
        Value { text: data, span: list }.items(|annotation| {
            let start = out.len();
            let is_object = annotation.is_object();
            let write = || {
                append(out, if start > 0 { b"," } else { b"" })?;
                self.write(data, annotation.span, out)
            };
            if is_object && memory.is_ok() {
                match write() {
                    Ok(true) => {}
                    Ok(false) => out.truncate(start),
                    Err(error) => memory = Err(error),
                }
            }
        });
        memory
    }

    /// Writes an annotation with its corrected position. Returns whether the annotation belongs to the text.
    pub fn write(self, data: &[u8], at: Span, out: &mut Vec<u8>) -> memory::Result<bool> {
        let places = Value { text: data, span: at.clone() }.find([b"start_index", b"end_index", b"index"]);
        let [start, end, single] =
            places.map(|place| place.and_then(|place| Some((place.span.clone(), whole_number(place.json())?))));
        let (first, last) = match (&start, &end, &single) {
            (Some((_, start)), Some((_, end)), _) => (*start, *end),
            (_, _, Some((_, index))) => (*index, *index),
            // An annotation without a position belongs to any text.
            _ => (0, 0),
        };
        let mut edits = Edits::default();
        if start.is_some() && end.is_some() || single.is_some() {
            let Some((start_place, end_place)) = self.place(first, last) else { return Ok(false) };
            let places = [(start, start_place), (end, end_place), (single, start_place)];
            for ((span, old), new) in places.into_iter().filter_map(|(old, new)| Some((old?, new))) {
                if old != new {
                    edits.replace(span, |out| append(out, decimal(new, &mut [0; 20]).as_bytes()))?;
                }
            }
        }
        edits.apply(data, at, Span::clone, out)?;
        Ok(true)
    }
}

/// The stretches of a text that are content.
#[derive(Default)]
pub struct Stretches {
    pub list: Vec<(u64, u64)>,
    at: u64,
}

impl Stretches {
    /// Adds the next bytes of the whole text.
    pub fn add(&mut self, bytes: &[u8], is_content: bool) -> memory::Result<()> {
        let (first, len) = (self.at, chars(bytes));
        self.at += len;
        match self.list.last_mut() {
            _ if !is_content || len == 0 => Ok(()),
            Some((start, before)) if *start + *before == first => {
                *before += len;
                Ok(())
            }
            _ => push(&mut self.list, (first, len)),
        }
    }
}
