//! An event that is kept for comparison with the next one: servers write the same envelope around each token. An event that differs
//! only in its text and in values that are not read need not be parsed again.

use crate::json::{Reader, Span};
use crate::memory::{self, append, push};

/// The longest event that is kept, and the maximum number of its values. Events beyond these limits are parsed.
pub const MOST_BYTES: usize = 4096;
const MOST_VALUES: usize = 64;

/// A position in the known event, which has at most `MOST_BYTES` bytes.
#[derive(Clone, Copy)]
pub struct Place {
    pub start: u16,
    pub end: u16,
}

impl Place {
    pub const NONE: Place = Place { start: 0, end: 0 };

    pub fn of(span: &Span) -> Place {
        Place { start: span.start as u16, end: span.end as u16 }
    }

    pub fn span(self) -> Span {
        self.start.into()..self.end.into()
    }
}

/// A value of the known event that may differ in the next event.
struct KnownValue {
    /// The position in the known event.
    place: Place,
    /// Whether the value is the text.
    is_text: bool,
    /// Whether the value has differed in an earlier event.
    varies: bool,
}

/// The known event, if there is one.
#[derive(Default)]
pub struct KnownEvent {
    raw: Vec<u8>,
    values: Vec<KnownValue>,
}

/// For each value of a known event that may differ: its end in the known event, and its end in the compared event.
#[derive(Default)]
pub struct Ends(Vec<(usize, usize)>);

impl Ends {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds the two ends of a value.
    pub fn note(&mut self, known: usize, compared: usize) -> memory::Result<()> {
        push(&mut self.0, (known, compared))
    }

    /// Returns the position in the compared event that corresponds to a position in the known event.
    pub fn moved(&self, place: usize) -> usize {
        let before = self.0.iter().take_while(|(end, _)| *end <= place).last();
        before.map_or(place, |(end, moved)| place - end + moved)
    }
}

impl KnownEvent {
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Returns whether an event differs from the known one only in its text and in values that have differed before. Calls `note` with
    /// the ends of each of these values: in the known event, and in the compared event.
    pub fn fits(&self, raw: &[u8], mut note: impl FnMut(usize, usize) -> memory::Result<()>) -> memory::Result<bool> {
        let (mut from, mut at) = (0, 0);
        for value in self.values.iter().filter(|value| value.is_text || value.varies) {
            let span = value.place.span();
            let fixed = &self.raw[from..span.start];
            let Some(rest) = raw[at..].strip_prefix(fixed) else { return Ok(false) };
            at += fixed.len();
            let is_string = rest.first() == Some(&b'"');
            let mut reader = Reader::at(raw, at);
            let read = if is_string { reader.text() } else { reader.value() };
            let Some(end) = read.filter(|span| span.start == at).map(|span| span.end) else { return Ok(false) };
            // Line ends in a list or an object would end the line of data.
            if !is_string && (value.is_text || raw[at..end].iter().any(|byte| matches!(byte, b'\r' | b'\n'))) {
                return Ok(false);
            }
            (from, at) = (span.end, end);
            note(from, at)?;
        }
        Ok(from > 0 && raw[at..] == self.raw[from..])
    }

    /// Returns the values other than the text that may have differed: in the known event, and in the event that was compared.
    pub fn varying(&self, ends: &Ends) -> impl Iterator<Item = (Span, Span)> {
        let values = self.values.iter().filter(|value| value.is_text || value.varies).zip(&ends.0);
        values.filter(|(value, _)| !value.is_text).map(|(value, &(_, end))| {
            let span = value.place.span();
            (span.clone(), ends.moved(span.start)..end)
        })
    }

    /// Forgets the event.
    pub fn clear(&mut self) {
        self.values.clear();
        self.raw.clear();
    }

    /// Keeps an event that was sent unchanged, if only its text may differ in the next one: `place` is the position of its data, and of
    /// its text in the event.
    pub fn keep(
        &mut self,
        raw: &[u8],
        place: Option<(Span, Span)>,
        is_read: impl Fn(&[u8]) -> bool,
    ) -> memory::Result<()> {
        match place {
            Some((data, text)) => self.learn(raw, &data, text, is_read).map(drop),
            None => {
                self.clear();
                Ok(())
            }
        }
    }

    /// Keeps an event whose data at `data` is an object with this `text`. `is_read` returns whether the values of members with a name
    /// must be equal in two events. Returns false if the event has too many values, and is not kept.
    pub fn learn(
        &mut self,
        raw: &[u8],
        data: &Span,
        text: Span,
        is_read: impl Fn(&[u8]) -> bool,
    ) -> memory::Result<bool> {
        if raw.len() > MOST_BYTES {
            self.clear();
            return Ok(false);
        }
        let mut values = Vec::new();
        let mut memory = Ok(());
        let mut reader = Reader::at(&raw[..data.end], data.start);
        // The event was parsed before, so it is an object.
        let _ = find(&mut reader, 0, &text, &is_read, &mut |span| {
            let is_text = span == text;
            memory = push(&mut values, KnownValue { place: Place::of(&span), is_text, varies: false });
            (memory.is_ok() && values.len() <= MOST_VALUES).then_some(())
        });
        memory?;
        if values.len() > MOST_VALUES || !values.iter().any(|value| value.is_text) {
            self.clear();
            return Ok(false);
        }
        if self.is_alike(raw, &values) {
            for (value, known) in values.iter_mut().zip(&self.values) {
                value.varies = known.varies || raw[value.place.span()] != self.raw[known.place.span()];
            }
        }
        self.raw.clear();
        append(&mut self.raw, raw)?;
        self.values = values;
        Ok(true)
    }

    /// Returns whether an event differs from the known event only in these values.
    fn is_alike(&self, raw: &[u8], values: &[KnownValue]) -> bool {
        let fixed = |raw: &[u8], values: &[KnownValue], number: usize| {
            let start = number.checked_sub(1).map_or(0, |before| values[before].place.span().end);
            start..values.get(number).map_or(raw.len(), |value| value.place.span().start)
        };
        values.len() == self.values.len()
            && values.iter().zip(&self.values).all(|(value, known)| value.is_text == known.is_text)
            && (0..=values.len())
                .all(|number| raw[fixed(raw, values, number)] == self.raw[fixed(&self.raw, &self.values, number)])
    }
}

/// The depth of the objects whose members are read: the chunk, its choice and its delta.
const DEPTH: u32 = 2;

/// Finds the values of an object, and of the objects in it that are read, that may differ in the next event: the `text`, and
/// values that are not read. The rest identifies the envelope.
fn find(
    reader: &mut Reader<'_>,
    depth: u32,
    text: &Span,
    is_read: &impl Fn(&[u8]) -> bool,
    found: &mut dyn FnMut(Span) -> Option<()>,
) -> Option<()> {
    reader.members(|reader, name, _| match (name, reader.peek()) {
        (b"delta" | b"message", Some(b'{')) if depth < DEPTH => find(reader, depth + 1, text, is_read, found),
        (b"choices", Some(b'[')) if depth == 0 => reader.array(|reader| match reader.peek() {
            Some(b'{') => find(reader, depth + 1, text, is_read, found),
            _ => reader.value().map(|_| ()),
        }),
        _ => {
            let value = reader.value()?;
            if value == *text || !is_read(name) { found(value) } else { Some(()) }
        }
    })
}
