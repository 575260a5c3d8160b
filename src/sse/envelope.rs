//! The last event of a stream, for comparison with the next one: servers write the same envelope around each token. If an event
//! differs only in its text and in values that are not read, it need not be parsed again. The result without parsing must be the
//! same as with parsing.

use super::buffers::{AnyFields, Buffers};
use super::choices::{self, Choice, Choices, Layout};
use super::event::LINE_END;
use super::format::{self, Format};
use super::known::{Ends, KnownEvent, MOST_BYTES, Place};
use super::{messages, responses};
use crate::json::Span;
use crate::memory;

/// The maximum number of envelopes that may be learnt without being used. If the events of a stream differ in more than their values,
/// learning envelopes only costs time.
const MOST_VAIN: u32 = 8;

/// The parts of the event that were read.
enum Known {
    Choice(&'static Layout, Choice<Place>),
    Messages(messages::Fields<Place>),
    Responses(responses::Fields<Place>),
}

/// The envelope of a stream's events.
pub struct Envelope {
    event: KnownEvent,
    known: Option<(Format, Known)>,
    name: Place,
    data: Place,
    line_end: &'static [u8],
    /// The number of envelopes that were learnt and not used.
    vain: u32,
    /// Whether the text is all that the event has for a client; `None` until that is determined.
    has_only_text: Option<bool>,
}

impl Envelope {
    pub fn new() -> Envelope {
        Envelope {
            event: KnownEvent::default(),
            known: None,
            name: Place::NONE,
            data: Place::NONE,
            line_end: LINE_END,
            vain: 0,
            has_only_text: None,
        }
    }

    /// Forgets the stream.
    pub fn clear(&mut self) {
        self.known = None;
        self.event.clear();
        self.vain = 0;
    }

    /// Reads an event that has the known envelope, for the code of its format. Returns the format, or `None` if the event must
    /// be parsed.
    pub fn read(
        &mut self,
        raw: &[u8],
        choices: &mut Choices,
        Buffers { event, chunk, fields, ends, .. }: &mut Buffers,
    ) -> memory::Result<Option<Format>> {
        ends.clear();
        if self.known.is_none() || !self.event.fits(raw, |known, compared| ends.note(known, compared))? {
            return Ok(None);
        }
        self.vain = self.vain.saturating_sub(1);
        let has_only_text = if choices.looks_for_calls() { self.has_only_text(raw, ends) } else { None };
        let start = usize::from(self.data.start);
        let in_event = |place: &Place| ends.moved(place.start.into())..ends.moved(place.end.into());
        let in_data = |place: &Place| {
            let Span { start: from, end: to } = place.span();
            ends.moved(from + start) - start..ends.moved(to + start) - start
        };
        event.set(in_event(&self.name), in_event(&self.data), self.line_end)?;
        let Some((format, known)) = &self.known else { return Ok(None) };
        match known {
            Known::Choice(layout, choice) => {
                choices.take(layout, Choice { has_only_text, ..choice.moved(in_data) }, chunk)?;
            }
            Known::Messages(known) => *fields = AnyFields::Messages(known.moved(in_data)),
            Known::Responses(known) => *fields = AnyFields::Responses(known.moved(in_data)),
        }
        Ok(Some(*format))
    }

    /// Returns whether the text is all that the compared event has for a client, or `None` if the event must be read to decide that.
    fn has_only_text(&mut self, raw: &[u8], ends: &Ends) -> Option<bool> {
        let Some((_, Known::Choice(layout, _))) = &self.known else { return None };
        let known = &self.event.raw()[self.data.span()];
        let has_only_text = *self.has_only_text.get_or_insert_with(|| choices::has_only_text(known, layout));
        let says_as_much = |(known, value)| choices::says(raw, &value) == choices::says(self.event.raw(), &known);
        self.event.varying(ends).all(says_as_much).then_some(has_only_text)
    }

    /// Learns the envelope of a parsed event, if the event has one text.
    pub fn learn(
        &mut self,
        raw: &[u8],
        format: Format,
        Buffers { event, chunk, fields, .. }: &Buffers,
    ) -> memory::Result<()> {
        let Some(data) = event.single() else { return Ok(()) };
        if raw.len() > MOST_BYTES || self.vain > MOST_VAIN {
            self.known = None;
            self.event.clear();
            return Ok(());
        }
        let (known, text, is_read): (_, _, fn(&[u8]) -> bool) = match (fields, Layout::of(format)) {
            (AnyFields::Messages(fields), _) => {
                let Some(text) = fields.added() else { return Ok(()) };
                (Known::Messages(fields.moved(Place::of)), text, messages::is_read)
            }
            (AnyFields::Responses(fields), _) => {
                let Some(text) = fields.added() else { return Ok(()) };
                (Known::Responses(fields.moved(Place::of)), text, responses::is_read)
            }
            (_, Some(layout)) => {
                let Some(choice) = chunk.only() else { return Ok(()) };
                let Some(content) = &choice.content else { return Ok(()) };
                (Known::Choice(layout, choice.moved(Place::of)), content.value.clone(), choices::is_read)
            }
            _ => return Ok(()),
        };
        self.vain += 1;
        self.known = None;
        let text = text.start + data.start..text.end + data.start;
        if !self.event.learn(raw, &data, text, |name| is_read(name) || format::is_read(name))? {
            return Ok(());
        }
        self.has_only_text = None;
        self.known = Some((format, known));
        (self.name, self.data, self.line_end) = (Place::of(&event.name), Place::of(&data), event.line_end);
        Ok(())
    }
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
        let inner = [
            "id",
            "status",
            "summary",
            "annotations",
            "output",
            "reasoning",
            "reasoning_text",
            "summary_text",
            "output_text",
        ];
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
