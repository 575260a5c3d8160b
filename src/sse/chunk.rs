//! What a chunk of a chat completion, or a whole one, says and where: the fields that are rewritten, and no others.

use super::json::{Reader, Span, unescape};
use super::options::Field;
use super::put::{put, put_all};
use crate::Error;

/// The most choices that are read; no API gives more.
pub const CHOICES: usize = 128;

/// Fields of a chunk that stand in each chunk of a stream.
const ENVELOPE: [&[u8]; 7] =
    [b"id", b"object", b"created", b"model", b"system_fingerprint", b"service_tier", b"provider"];

/// The longest beginning of an extra chunk, far longer than real ones; a field that does not fit is left out.
const HEAD: usize = 2048;

/// A key and its value, from the key's first quote on.
#[derive(Clone)]
pub struct Member {
    pub key: Span,
    pub value: Span,
}

impl Member {
    pub fn span(&self) -> Span {
        self.key.start..self.value.end
    }
}

/// A choice, and what its `delta` or `message` says.
#[derive(Default)]
pub struct Choice {
    /// `None`: no number that can be one.
    pub index: Option<u64>,
    /// `finish_reason` says something.
    pub finishes: bool,
    /// `content` that is a string.
    pub content: Option<Member>,
    /// There was another `content` before.
    pub is_doubled: bool,
    /// `content` is a list, or there is reasoning already: who wrote this has split the text.
    pub is_split: bool,
    /// The field for reasoning is there and empty.
    pub field: Option<Member>,
    /// `role` that is a string, if it is the only one.
    pub role: Option<Member>,
    /// A field besides the text that clients show as a part of its own.
    pub part: Option<Part>,
}

/// What ends the text before it: clients close their text part there, and show what comes later behind it.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    /// `tool_calls`, or `function_call` of older servers.
    Call,
    /// `refusal`, `audio` or `images`.
    Other,
}

/// Does it say something? `null` and `false` do not, nor do the empty string, list and object.
fn says(text: &[u8], value: &Span) -> bool {
    let value = &text[value.clone()];
    match value[0] {
        b'[' | b'{' => value[1..value.len() - 1].iter().any(|byte| !byte.is_ascii_whitespace()),
        _ => !matches!(value, b"null" | b"false" | b"\"\""),
    }
}

/// A key without its quotes. One that is longer than `room` is none that is looked for.
fn name<'a>(text: &'a [u8], key: &Span, room: &'a mut [u8; 24]) -> &'a [u8] {
    let raw = &text[key.start + 1..key.end - 1];
    if !raw.contains(&b'\\') {
        return raw;
    }
    let mut len = 0;
    unescape(raw, |part| {
        if let Some(place) = room.get_mut(len..len + part.len()) {
            place.copy_from_slice(part);
        }
        len += part.len();
    });
    room.get(..len).unwrap_or_default()
}

/// The members of an object by their names; `member` reads each value.
fn members(
    text: &[u8],
    reader: &mut Reader<'_>,
    mut member: impl FnMut(&mut Reader<'_>, &[u8], Span) -> Option<()>,
) -> Option<()> {
    reader.object(|reader, key| member(reader, name(text, &key, &mut [0; 24]), key))
}

/// Reads a chunk (`part` is `delta`) or a whole completion (`message`), and gives whether it tells of an error. `None`,
/// and no choices, where it is none that can be rewritten.
pub fn read(text: &[u8], part: &[u8], field: Field, choices: &mut Vec<Choice>) -> Result<Option<bool>, Error> {
    choices.clear();
    choices.try_reserve(1)?;
    let mut memory = Ok(());
    let mut error = false;
    let mut reader = Reader::new(text);
    let whole = members(text, &mut reader, |reader, name, _| {
        if name == b"choices" {
            choices.clear();
        }
        if name == b"choices" && reader.peek() == Some(b'[') {
            return reader.array(|reader| {
                (choices.len() < CHOICES).then_some(())?;
                memory = choices.try_reserve(1);
                memory.is_ok().then_some(())?;
                choices.push(choice(text, reader, part, field, choices.len())?);
                Some(())
            });
        }
        let value = reader.value()?;
        if name == b"error" {
            error = says(text, &value);
        }
        Some(())
    });
    memory?;
    let whole = whole.and_then(|()| reader.end());
    if whole.is_none() {
        choices.clear();
    }
    Ok(whole.map(|()| error))
}

fn choice(text: &[u8], reader: &mut Reader<'_>, part: &[u8], field: Field, place: usize) -> Option<Choice> {
    let mut choice = Choice { index: Some(place as u64), ..Choice::default() };
    members(text, reader, |reader, name, _| {
        if name == part {
            choice = Choice { index: choice.index, finishes: choice.finishes, ..Choice::default() };
        }
        if name == part && reader.peek() == Some(b'{') {
            return delta(text, reader, field, &mut choice);
        }
        let value = reader.value()?;
        match name {
            b"index" => choice.index = std::str::from_utf8(&text[value]).ok().and_then(|index| index.parse().ok()),
            b"finish_reason" => choice.finishes = says(text, &value),
            _ => {}
        }
        Some(())
    })?;
    Some(choice)
}

fn delta(text: &[u8], reader: &mut Reader<'_>, field: Field, choice: &mut Choice) -> Option<()> {
    const REASONING: [&[u8]; 4] = [b"reasoning_content", b"reasoning", b"reasoning_details", b"thinking"];
    const CALLS: [&[u8]; 2] = [b"tool_calls", b"function_call"];
    const PARTS: [&[u8]; 3] = [b"refusal", b"audio", b"images"];
    // Whether the content is a list, and whether each of these says something: of two of one name, the last counts.
    let mut lists = false;
    let (mut reasoning, mut calls, mut parts) = ([false; REASONING.len()], [false; CALLS.len()], [false; PARTS.len()]);
    let (mut contents, mut roles) = (0, 0);
    members(text, reader, |reader, name, key| {
        let value = reader.value()?;
        let first = text[value.start];
        let says = says(text, &value);
        let member = Member { key, value };
        let place = |names: &[&[u8]]| names.iter().position(|known| *known == name);
        match name {
            b"content" => {
                lists = says && first != b'"';
                choice.content = (first == b'"').then_some(member);
                choice.is_doubled = contents > 0;
                contents += 1;
            }
            b"role" => {
                choice.role = (first == b'"' && roles == 0).then_some(member);
                roles += 1;
            }
            _ => {
                if let Some(place) = place(&REASONING) {
                    reasoning[place] = says;
                    if name == field.name().as_bytes() {
                        choice.field = Some(member);
                    }
                } else if let Some(place) = place(&CALLS) {
                    calls[place] = says;
                } else if let Some(place) = place(&PARTS) {
                    parts[place] = says;
                }
            }
        }
        Some(())
    })?;
    choice.is_split = lists || reasoning.contains(&true);
    choice.part = match (calls.contains(&true), parts.contains(&true)) {
        (true, _) => Some(Part::Call),
        (_, true) => Some(Part::Other),
        _ => None,
    };
    Some(())
}

/// Writes the beginning of an extra chunk of the same stream, up to the choice's own members.
pub fn write_head(text: &[u8], head: &mut Vec<u8>) -> Result<(), Error> {
    put(head, b"data: {")?;
    let mut memory = Ok(());
    // It was read before: it is an object.
    let _ = members(text, &mut Reader::new(text), |reader, name, _| {
        let value = &text[reader.value()?];
        if let Some(name) = ENVELOPE.iter().find(|known| **known == name)
            && head.len() + value.len() <= HEAD
            && !matches!(value[0], b'[' | b'{')
        {
            memory = put_all(head, &[b"\"", name, b"\":", value, b","]);
        }
        memory.is_ok().then_some(())
    });
    memory?;
    put(head, b"\"choices\":[{\"index\":")
}
