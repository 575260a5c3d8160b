//! The last event of a stream, for comparison with the next one: servers write the same envelope around each token. If an event
//! differs only in its text and in values that are not read, it need not be parsed again. The result without parsing must be the
//! same as with parsing.

use super::choices::{self, Choice, Choices, Layout};
use super::event::Event;
use super::format::{self, Format};
use super::{messages, responses};
use crate::json::{self, Reader, Span};
use crate::memory::{self, append, push};

/// The longest event that is kept, and the most values of it. Events beyond these limits are parsed.
const MOST_BYTES: usize = 4096;
const MOST_VALUES: usize = 64;

/// The most envelopes that may be learnt without being used. If the events of a stream differ in more than their values,
/// learning envelopes only costs time.
const MOST_VAIN: u32 = 8;

/// A position in the known event, which has at most `MOST_BYTES` bytes.
#[derive(Clone, Copy)]
struct Place {
    start: u16,
    end: u16,
}

impl Place {
    const NONE: Place = Place { start: 0, end: 0 };

    fn of(span: &Span) -> Place {
        Place { start: span.start as u16, end: span.end as u16 }
    }

    fn span(self) -> Span {
        self.start.into()..self.end.into()
    }
}

/// A value of the known event that may differ in the next event.
struct Value {
    /// The position in the known event.
    place: Place,
    /// Whether the value is the text.
    is_text: bool,
    /// Whether the value has differed in an earlier event.
    varies: bool,
}

/// The parts of the event that were read.
enum Known {
    Choice(&'static Layout, Choice<Place>),
    Messages(messages::Fields<Place>),
    Responses(responses::Fields<Place>),
}

/// The parts of an event that were read, unless they are kept with the choices.
#[allow(clippy::large_enum_variant)] // It lives on the stack, for as long as its event is written.
pub enum Read {
    Nothing,
    Messages(messages::Fields),
    Responses(responses::Fields),
}

/// The envelope of a stream's events.
pub struct Envelope {
    /// The event.
    raw: Vec<u8>,
    values: Vec<Value>,
    known: Option<(Format, Known)>,
    name: Place,
    data: Place,
    line_end: &'static [u8],
    /// For each value that may differ: its end in the known event, and its end in the compared event.
    ends: Vec<(usize, usize)>,
    /// The number of envelopes that were learnt and not used.
    vain: u32,
    /// Whether the event has nothing for a client but its text; `None` until that is determined.
    has_only_text: Option<bool>,
}

impl Envelope {
    pub fn new() -> Envelope {
        Envelope {
            raw: Vec::new(),
            values: Vec::new(),
            known: None,
            name: Place::NONE,
            data: Place::NONE,
            line_end: b"\n",
            ends: Vec::new(),
            vain: 0,
            has_only_text: None,
        }
    }

    /// Forgets the stream.
    pub fn clear(&mut self) {
        self.known = None;
        self.vain = 0;
    }

    /// Reads an event that has the known envelope, for the code of its format. Returns the format, or `None` if the event must
    /// be parsed.
    pub fn read(
        &mut self,
        raw: &[u8],
        event: &mut Event,
        choices: &mut Choices,
        read: &mut Read,
    ) -> memory::Result<Option<Format>> {
        if self.known.is_none() || !self.fits(raw)? {
            return Ok(None);
        }
        self.vain = self.vain.saturating_sub(1);
        let has_only_text = if choices.looks_for_calls() { self.has_only_text(raw) } else { None };
        let start = usize::from(self.data.start);
        let in_event = |place: &Place| self.moved(place.start.into())..self.moved(place.end.into());
        let in_data = |place: &Place| {
            let Span { start: from, end: to } = place.span();
            self.moved(from + start) - start..self.moved(to + start) - start
        };
        event.set(in_event(&self.name), in_event(&self.data), self.line_end)?;
        let Some((format, known)) = &self.known else { return Ok(None) };
        match known {
            Known::Choice(layout, choice) => {
                choices.begin_event();
                choices.take(layout, Choice { has_only_text, ..choice.moved(in_data) })?;
            }
            Known::Messages(fields) => *read = Read::Messages(fields.moved(in_data)),
            Known::Responses(fields) => *read = Read::Responses(fields.moved(in_data)),
        }
        Ok(Some(*format))
    }

    /// Returns whether an event has this envelope, and notes where its values end.
    fn fits(&mut self, raw: &[u8]) -> memory::Result<bool> {
        self.ends.clear();
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
            push(&mut self.ends, (from, at))?;
        }
        Ok(raw[at..] == self.raw[from..])
    }

    /// Returns whether the event that was compared has nothing for a client but its text, or `None` if it must be read to
    /// decide that.
    fn has_only_text(&mut self, raw: &[u8]) -> Option<bool> {
        let Some((_, Known::Choice(layout, _))) = &self.known else { return None };
        let known = &self.raw[self.data.span()];
        let has_only_text = *self.has_only_text.get_or_insert_with(|| choices::has_only_text(known, layout));
        let says_as_much = |(value, &(_, end)): (&Value, &(usize, usize))| {
            let span = value.place.span();
            value.is_text || choices::says(raw, &(self.moved(span.start)..end)) == choices::says(&self.raw, &span)
        };
        let mut values = self.values.iter().filter(|value| value.is_text || value.varies).zip(&self.ends);
        values.all(says_as_much).then_some(has_only_text)
    }

    /// Returns the position, in the compared event, that corresponds to a place of the known event.
    fn moved(&self, place: usize) -> usize {
        let before = self.ends.iter().take_while(|(end, _)| *end <= place).last();
        before.map_or(place, |(end, moved)| place - end + moved)
    }

    /// Learns the envelope of a parsed event, if the event has one text.
    pub fn learn(
        &mut self,
        raw: &[u8],
        event: &Event,
        format: Format,
        choices: &Choices,
        read: &Read,
    ) -> memory::Result<()> {
        let Some(data) = event.single() else { return Ok(()) };
        if raw.len() > MOST_BYTES || self.vain > MOST_VAIN {
            self.known = None;
            return Ok(());
        }
        let (known, text, is_read): (_, _, fn(&[u8]) -> bool) = match (read, Layout::of(format)) {
            (Read::Messages(fields), _) => {
                let Some(text) = fields.added() else { return Ok(()) };
                (Known::Messages(fields.moved(Place::of)), text, messages::is_read)
            }
            (Read::Responses(fields), _) => {
                let Some(text) = fields.added() else { return Ok(()) };
                (Known::Responses(fields.moved(Place::of)), text, responses::is_read)
            }
            (_, Some(layout)) => {
                let Some(choice) = choices.only() else { return Ok(()) };
                let Some(content) = &choice.content else { return Ok(()) };
                (Known::Choice(layout, choice.moved(Place::of)), content.value.clone(), choices::is_read)
            }
            _ => return Ok(()),
        };
        self.vain += 1;
        let mut values = Vec::new();
        let text = text.start + data.start..text.end + data.start;
        let mut memory = Ok(());
        let mut reader = Reader::at(&raw[..data.end], data.start);
        // The event was parsed above, so it is an object.
        let _ = find(raw, &mut reader, 0, &text, is_read, &mut |span| {
            let is_text = span == text;
            memory = push(&mut values, Value { place: Place::of(&span), is_text, varies: false });
            (memory.is_ok() && values.len() <= MOST_VALUES).then_some(())
        });
        memory?;
        if values.len() > MOST_VALUES || !values.iter().any(|value| value.is_text) {
            self.known = None;
            return Ok(());
        }
        if self.is_alike(raw, &values) {
            for (value, known) in values.iter_mut().zip(&self.values) {
                value.varies = known.varies || raw[value.place.span()] != self.raw[known.place.span()];
            }
        }
        self.known = None;
        self.raw.clear();
        append(&mut self.raw, raw)?;
        (self.values, self.has_only_text) = (values, None);
        self.known = Some((format, known));
        (self.name, self.data, self.line_end) = (Place::of(&event.name), Place::of(&data), event.line_end);
        Ok(())
    }

    /// Returns whether an event differs from the known event only in these values.
    fn is_alike(&self, raw: &[u8], values: &[Value]) -> bool {
        let fixed = |raw: &[u8], values: &[Value], number: usize| {
            let start = number.checked_sub(1).map_or(0, |before| values[before].place.span().end);
            start..values.get(number).map_or(raw.len(), |value| value.place.span().start)
        };
        self.known.is_some()
            && values.len() == self.values.len()
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
    data: &[u8],
    reader: &mut Reader<'_>,
    depth: u32,
    text: &Span,
    is_read: fn(&[u8]) -> bool,
    found: &mut dyn FnMut(Span) -> Option<()>,
) -> Option<()> {
    reader.object(|reader, key| {
        let mut room = [0; 24];
        let name = json::name(data, &key, &mut room);
        match (name, reader.peek()) {
            (b"delta" | b"message", Some(b'{')) if depth < DEPTH => find(data, reader, depth + 1, text, is_read, found),
            (b"choices", Some(b'[')) if depth == 0 => reader.array(|reader| match reader.peek() {
                Some(b'{') => find(data, reader, depth + 1, text, is_read, found),
                _ => reader.value().map(|_| ()),
            }),
            _ => {
                let value = reader.value()?;
                if value == *text || !is_read(name) && !format::is_read(name) { found(value) } else { Some(()) }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{choices, format, messages, responses};

    /// Checks that the values of all members that the code reads are fixed in an envelope. Otherwise their values would be read
    /// from the first event alone.
    #[test]
    fn what_is_read_is_known() {
        let chat = [include_str!("choices/chunk.rs"), include_str!("choices/layout.rs"), include_str!("format.rs")];
        let copied = ["id", "created", "created_at", "model", "system_fingerprint", "service_tier", "provider"];
        all_are_read(&chat, choices::is_read, &copied);
        all_are_read(&[include_str!("messages/fields.rs"), include_str!("format.rs")], messages::is_read, &[]);
        // The positions of these members are noted, so their values are read in each event.
        let anew = ["sequence_number", "output_index", "logprobs"];
        // These are members of an object that is read in each event, or names of types.
        let inner = ["id", "status", "summary", "annotations", "output", "reasoning", "reasoning_text", "summary_text"];
        let both = [&anew[..], &inner].concat();
        all_are_read(&[include_str!("responses/fields.rs"), include_str!("format.rs")], responses::is_read, &both);
    }

    fn all_are_read(sources: &[&str], is_read: fn(&[u8]) -> bool, may_vary: &[&str]) {
        let mut read = 0;
        for source in sources {
            let source = source.split("#[cfg(test)]").next().unwrap();
            for name in source.split("b\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                if is_name && !may_vary.contains(&name) && !matches!(name, "null" | "false" | "true") {
                    assert!(is_read(name.as_bytes()) || format::is_read(name.as_bytes()), "{name}");
                    read += 1;
                }
            }
        }
        assert!(read > 10, "{read} names");
        assert!(!is_read(b"usage") && may_vary.iter().all(|name| !is_read(name.as_bytes())));
    }
}
