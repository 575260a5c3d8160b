//! Walks over an object or an array that is known to be JSON, because the text around it has been read.

use super::read::{Reader, Span, name};

/// Walks over the members of an object: their names without escapes, their keys and their values. Any other value has no members.
pub fn members(data: &[u8], at: Span, mut member: impl FnMut(&[u8], Span, Span)) {
    let base = at.start;
    let shift = |span: Span| base + span.start..base + span.end;
    let _ = Reader::new(&data[at]).object(|reader, key| {
        let value = shift(reader.value()?);
        let key = shift(key);
        member(name(data, &key, &mut [0; 24]), key, value);
        Some(())
    });
}

/// Walks over the values of an array. Any other value has none.
pub fn values(data: &[u8], at: Span, mut item: impl FnMut(Span)) {
    let base = at.start;
    let _ = Reader::new(&data[at]).array(|reader| {
        let value = reader.value()?;
        item(base + value.start..base + value.end);
        Some(())
    });
}

/// Walks over the objects of an array.
pub fn objects(data: &[u8], at: Span, mut item: impl FnMut(Span)) {
    values(data, at, |value| {
        if data[value.start] == b'{' {
            item(value);
        }
    });
}
