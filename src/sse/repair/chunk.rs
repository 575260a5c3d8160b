//! Mends chunks of chat completions: a reason to finish that the calls contradict, and a chunk with thinking and content at once, of
//! which some clients lose one.

use crate::Error;
use crate::json::{Reader, Span, name};
use crate::memory::{self, append, push};
use crate::sse::edits::Edits;

/// The most choices of a stream whose calls are remembered.
const CHOICES: usize = 128;

const STOP: &[u8] = b"\"stop\"";
const TOOL_CALLS: &[u8] = b"\"tool_calls\"";

/// What a member of a delta is.
#[derive(Clone, Copy, PartialEq)]
enum MemberKind {
    Thinking,
    Role,
    Other,
}

/// A choice of a chunk.
#[derive(Default)]
struct Choice {
    index: Option<u64>,
    /// The value of `finish_reason`.
    finish: Option<Span>,
    /// It has calls in `tool_calls`, or one in `function_call`.
    has_calls: bool,
    has_function: bool,
    delta: Option<Span>,
    has_thinking: bool,
    has_content: bool,
}

/// Mends the chunks of a stream.
#[derive(Default)]
pub struct Chunks {
    /// The indexes of the choices that have had a call, and whether it was in `tool_calls`.
    called: Vec<(u64, bool)>,
    /// The choices of the chunk that was read last, and the members of their deltas.
    choices: Vec<Choice>,
    members: Vec<(MemberKind, Span)>,
    /// The values that only one half of the chunk may have.
    once: Vec<Span>,
    edits: Edits,
    mended: Vec<u8>,
}

impl Chunks {
    /// Passes on what a chunk becomes: one chunk, or two.
    pub fn mend(&mut self, text: &[u8], mut pass: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        memory::clear(&mut self.choices);
        memory::clear(&mut self.members);
        memory::clear(&mut self.once);
        if self.read(text)?.is_none() {
            return pass(text);
        }
        self.note_calls()?;
        self.edits.clear();
        let Chunks { called, choices, members, once, edits, mended } = self;
        if let [Choice { delta: Some(delta), has_thinking: true, has_content: true, .. }] = &choices[..] {
            for value in once.iter() {
                edits.replace(value.clone(), |out| append(out, b"null"))?;
            }
            let is_first = |kind| kind != MemberKind::Other;
            edits.replace(delta.clone(), |out| write(text, members, is_first, out))?;
            memory::clear(mended);
            edits.apply(text, 0..text.len(), Span::clone, mended)?;
            pass(mended)?;
            edits.clear();
            let is_second = |kind| kind == MemberKind::Other;
            edits.replace(delta.clone(), |out| write(text, members, is_second, out))?;
        }
        for choice in choices.iter() {
            let (Some(index), Some(finish)) = (choice.index, &choice.finish) else { continue };
            let call = called.iter().find(|(called, _)| *called == index);
            let reason = match (&text[finish.clone()], call) {
                (TOOL_CALLS, None) if called.len() < CHOICES => STOP,
                (STOP, Some((_, true))) => TOOL_CALLS,
                _ => continue,
            };
            edits.replace(finish.clone(), |out| append(out, reason))?;
        }
        if edits.list.is_empty() {
            return pass(text);
        }
        memory::clear(mended);
        edits.apply(text, 0..text.len(), Span::clone, mended)?;
        pass(mended)
    }

    fn note_calls(&mut self) -> memory::Result<()> {
        for choice in self.choices.iter().filter(|choice| choice.has_calls || choice.has_function) {
            let Some(index) = choice.index else { continue };
            match self.called.iter().position(|(called, _)| *called == index) {
                Some(at) => self.called[at].1 |= choice.has_calls,
                None if self.called.len() < CHOICES => push(&mut self.called, (index, choice.has_calls))?,
                None => {}
            }
        }
        Ok(())
    }

    /// Reads what is needed of a chunk. `None`: it cannot be mended.
    fn read(&mut self, text: &[u8]) -> memory::Result<Option<()>> {
        let Chunks { choices, members, once, .. } = self;
        let mut memory = Ok(());
        let read = Reader::new(text).object(|reader, key| match name(text, &key, &mut [0; 24]) {
            b"choices" if reader.peek() == Some(b'[') => reader.array(|reader| {
                let index = Some(choices.len() as u64);
                memory = push(choices, Choice { index, ..Choice::default() });
                memory.is_ok().then_some(())?;
                read_choice(text, reader, choices.last_mut()?, members, once, &mut memory)
            }),
            b"usage" => note(once, reader.value()?, &mut memory),
            _ => reader.value().map(drop),
        });
        memory.map(|()| read)
    }
}

/// Adds to a list of what is read of a chunk. `None`: there is no memory.
fn note<T>(list: &mut Vec<T>, item: T, memory: &mut memory::Result<()>) -> Option<()> {
    *memory = push(list, item);
    memory.is_ok().then_some(())
}

fn read_choice(
    text: &[u8],
    reader: &mut Reader<'_>,
    choice: &mut Choice,
    members: &mut Vec<(MemberKind, Span)>,
    once: &mut Vec<Span>,
    memory: &mut memory::Result<()>,
) -> Option<()> {
    reader.object(|reader, key| match name(text, &key, &mut [0; 24]) {
        b"delta" if reader.peek() == Some(b'{') => {
            memory::clear(members);
            let start = reader.offset();
            reader.object(|reader, key| {
                let value = reader.value()?;
                let (says, is_text) = (says(&text[value.clone()]), text[value.start] == b'"');
                let kind = match name(text, &key, &mut [0; 24]) {
                    b"reasoning_content" | b"reasoning" | b"thinking" | b"reasoning_details" => {
                        choice.has_thinking |= says;
                        MemberKind::Thinking
                    }
                    b"role" => MemberKind::Role,
                    b"content" => {
                        choice.has_content = says && is_text;
                        MemberKind::Other
                    }
                    b"tool_calls" => {
                        choice.has_calls |= says;
                        MemberKind::Other
                    }
                    b"function_call" => {
                        choice.has_function |= says;
                        MemberKind::Other
                    }
                    _ => MemberKind::Other,
                };
                note(members, (kind, key.start..value.end), memory)
            })?;
            choice.delta = Some(start..reader.offset());
            Some(())
        }
        b"index" => {
            let value = reader.value()?;
            choice.index = std::str::from_utf8(&text[value]).ok()?.parse().ok();
            Some(())
        }
        b"finish_reason" => {
            let value = reader.value()?;
            choice.finish = Some(value.clone());
            note(once, value, memory)
        }
        b"logprobs" | b"stop_reason" => note(once, reader.value()?, memory),
        _ => reader.value().map(drop),
    })
}

/// Returns whether a value says something.
fn says(value: &[u8]) -> bool {
    !matches!(value, b"null" | b"false" | b"\"\"" | b"[]" | b"{}")
}

/// Writes a delta with the members of these kinds.
fn write(
    text: &[u8],
    members: &[(MemberKind, Span)],
    has: impl Fn(MemberKind) -> bool,
    out: &mut Vec<u8>,
) -> memory::Result<()> {
    append(out, b"{")?;
    let members = members.iter().filter(|(kind, _)| has(*kind));
    for (number, (_, member)) in members.enumerate() {
        append(out, if number > 0 { b"," } else { b"" })?;
        append(out, &text[member.clone()])?;
    }
    append(out, b"}")
}
