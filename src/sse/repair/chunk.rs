//! Mends what a chunk of chat completions says: a reason to finish that the calls contradict, and thinking and content at once, of
//! which some clients lose one.

use crate::json::{Edits, Reader, Span, name};
use crate::memory::{self, append, push};
use crate::sse::choices::{REASONING, says};

/// The most choices of a stream whose calls are remembered.
const CHOICES: usize = 128;

const STOP: &[u8] = b"\"stop\"";
const TOOL_CALLS: &[u8] = b"\"tool_calls\"";

/// The kind of a member of a delta.
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

/// The part of a chunk that is sent as a chunk.
#[derive(Clone, Copy, PartialEq)]
pub enum Portion {
    All,
    /// The thinking, before the rest.
    Thinking,
    Rest,
}

/// The chunk that was read last, and the calls of its stream.
#[derive(Default)]
pub struct Chunk {
    /// The indexes of the choices that have had a call, and whether it was in `tool_calls`.
    called: Vec<(u64, bool)>,
    choices: Vec<Choice>,
    /// The members of the last delta.
    members: Vec<(MemberKind, Span)>,
    /// The values that only one of two portions may have.
    once: Vec<Span>,
}

impl Chunk {
    pub fn clear(&mut self) {
        memory::clear(&mut self.choices);
        memory::clear(&mut self.members);
        memory::clear(&mut self.once);
    }

    /// Reads the list of choices. `None`: it is not JSON, or there is no memory.
    pub fn read_choices(
        &mut self,
        text: &[u8],
        reader: &mut Reader<'_>,
        memory: &mut memory::Result<()>,
    ) -> Option<()> {
        reader.array(|reader| {
            let index = Some(self.choices.len() as u64);
            note(&mut self.choices, Choice { index, ..Choice::default() }, memory)?;
            match reader.peek()? {
                b'{' => self.read_choice(text, reader, memory),
                _ => reader.value().map(drop),
            }
        })
    }

    /// Notes where the chunk's `usage` is.
    pub fn note_usage(&mut self, value: Span, memory: &mut memory::Result<()>) -> Option<()> {
        note(&mut self.once, value, memory)
    }

    fn read_choice(&mut self, text: &[u8], reader: &mut Reader<'_>, memory: &mut memory::Result<()>) -> Option<()> {
        let Chunk { choices, members, once, .. } = self;
        let choice = choices.last_mut()?;
        reader.object(|reader, key| match name(text, &key, &mut [0; 24]) {
            b"delta" if reader.peek() == Some(b'{') => {
                memory::clear(members);
                let start = reader.offset();
                reader.object(|reader, key| {
                    let value = reader.value()?;
                    let says = says(text, &value);
                    let kind = match name(text, &key, &mut [0; 24]) {
                        b"role" => MemberKind::Role,
                        name if REASONING.contains(&name) => {
                            choice.has_thinking |= says;
                            MemberKind::Thinking
                        }
                        name => {
                            match name {
                                b"content" => choice.has_content = says && text[value.start] == b'"',
                                b"tool_calls" => choice.has_calls |= says,
                                b"function_call" => choice.has_function |= says,
                                _ => {}
                            }
                            MemberKind::Other
                        }
                    };
                    note(members, (kind, key.start..value.end), memory)
                })?;
                choice.delta = Some(start..reader.offset());
                Some(())
            }
            b"index" => {
                let value = reader.value()?;
                choice.index = std::str::from_utf8(&text[value]).ok().and_then(|index| index.parse().ok());
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

    /// Notes the calls of the chunk.
    pub fn note_calls(&mut self) -> memory::Result<()> {
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

    /// Returns the portions that are sent.
    pub fn portions(&self) -> &'static [Portion] {
        match self.choices[..] {
            [Choice { index: Some(_), delta: Some(_), has_thinking: true, has_content: true, .. }] => {
                &[Portion::Thinking, Portion::Rest]
            }
            _ => &[Portion::All],
        }
    }

    /// Notes the changes of a portion.
    pub fn mend(&self, text: &[u8], portion: Portion, edits: &mut Edits) -> memory::Result<()> {
        if let (true, [Choice { delta: Some(delta), .. }]) = (portion != Portion::All, &self.choices[..]) {
            let has_thinking = portion == Portion::Thinking;
            let is_part = |kind| (kind != MemberKind::Other) == has_thinking;
            edits.replace(delta.clone(), |out| write(text, &self.members, is_part, out))?;
        }
        if portion == Portion::Thinking {
            return self.once.iter().try_for_each(|value| edits.put(value.clone(), &[b"null"]));
        }
        for choice in &self.choices {
            let (Some(index), Some(finish)) = (choice.index, &choice.finish) else { continue };
            let call = self.called.iter().find(|(called, _)| *called == index);
            let reason = match (&text[finish.clone()], call) {
                (TOOL_CALLS, None) if self.called.len() < CHOICES => STOP,
                (STOP, Some((_, true))) => TOOL_CALLS,
                _ => continue,
            };
            edits.put(finish.clone(), &[reason])?;
        }
        Ok(())
    }
}

/// Adds to a list of what is read of a chunk. `None`: there is no memory.
fn note<T>(list: &mut Vec<T>, item: T, memory: &mut memory::Result<()>) -> Option<()> {
    *memory = push(list, item);
    memory.is_ok().then_some(())
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
