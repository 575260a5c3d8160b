//! Mends a chunk of chat completions: a reason to finish that the calls contradict, and thinking and content at once, of
//! which some clients lose one. `members` puts the thinking and the content of a server into the shape that is asked for.

use super::members::{Member, MemberKind, Wanted, reshape, write};
use crate::json::{Edits, Reader, Span, name, whole_number};
use crate::memory::{self, push};
use crate::sse::choices::{REASONING, says};
use crate::sse::normalise::Shapes;

/// The most choices of a stream whose calls are remembered.
const CHOICES: usize = 128;

/// The member of a choice that has its text, in a chunk and in a body.
pub const DELTA: &[u8] = b"delta";
pub const BODY: &[u8] = b"message";

const STOP: &[u8] = b"\"stop\"";
const TOOL_CALLS: &[u8] = b"\"tool_calls\"";
/// The finish reason of an answer whose call is in `function_call`.
const FUNCTION_CALL: &[u8] = b"\"function_call\"";

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
    /// The members of its delta.
    members: Span,
    /// Its delta is written anew.
    is_reshaped: bool,
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
    wanted: Wanted,
    /// The indexes of the choices that have had a call, and whether it was in `tool_calls`.
    called: Vec<(u64, bool)>,
    choices: Vec<Choice>,
    /// The members of the deltas, and the replacements of some.
    members: Vec<Member>,
    made: Vec<u8>,
    /// The values that only one of two portions may have.
    once: Vec<Span>,
}

impl Chunk {
    pub fn new(wanted: Wanted) -> Chunk {
        Chunk { wanted, ..Chunk::default() }
    }

    pub fn wanted(&self) -> Wanted {
        self.wanted
    }

    pub fn clear(&mut self) {
        memory::clear(&mut self.choices);
        memory::clear(&mut self.members);
        memory::clear(&mut self.made);
        memory::clear(&mut self.once);
    }

    /// Reads the list of choices, whose texts are in their member `part`. `None`: it is not JSON, or there is no memory.
    pub fn read_choices(
        &mut self,
        text: &[u8],
        part: &[u8],
        reader: &mut Reader<'_>,
        memory: &mut memory::Result<()>,
    ) -> Option<()> {
        reader.array(|reader| {
            let index = Some(self.choices.len() as u64);
            note(&mut self.choices, Choice { index, ..Choice::default() }, memory)?;
            match reader.peek()? {
                b'{' => self.read_choice(text, part, reader, memory),
                _ => reader.value().map(drop),
            }
        })
    }

    /// Notes where the chunk's `usage` is.
    pub fn note_usage(&mut self, value: Span, memory: &mut memory::Result<()>) -> Option<()> {
        note(&mut self.once, value, memory)
    }

    fn read_choice(
        &mut self,
        text: &[u8],
        part: &[u8],
        reader: &mut Reader<'_>,
        memory: &mut memory::Result<()>,
    ) -> Option<()> {
        let Chunk { wanted, choices, members, made, once, .. } = self;
        let choice = choices.last_mut()?;
        reader.object(|reader, key| match name(text, &key, &mut [0; 24]) {
            known if known == part && reader.peek() == Some(b'{') => {
                let (start, first) = (reader.offset(), members.len());
                reader.object(|reader, key| {
                    let value = reader.value()?;
                    let says = says(text, &value);
                    let kind = match name(text, &key, &mut [0; 24]) {
                        b"role" => MemberKind::Role,
                        b"content" => MemberKind::Content,
                        known => {
                            match known {
                                b"tool_calls" => choice.has_calls |= says,
                                b"function_call" => choice.has_function |= says,
                                _ => {}
                            }
                            match REASONING.iter().position(|name| *name == known) {
                                Some(place) => MemberKind::Thinking(place),
                                None => MemberKind::Other,
                            }
                        }
                    };
                    note(members, Member { kind, at: key.start..value.end, value, says, made: None }, memory)
                })?;
                choice.delta = Some(start..reader.offset());
                match reshape(text, wanted, part == BODY, members, first, made) {
                    Ok(is_reshaped) => choice.is_reshaped = is_reshaped,
                    Err(error) => *memory = Err(error),
                }
                choice.members = first..members.len();
                memory.is_ok().then_some(())
            }
            b"index" => {
                let value = reader.value()?;
                choice.index = whole_number(&text[value]);
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

    /// Returns where the content is, if the chunk has nothing else that may be changed, whatever the content says.
    pub fn content(&self, text: &[u8]) -> Option<Span> {
        let [choice @ Choice { index: Some(_), delta: Some(_), is_reshaped: false, .. }] = &self.choices[..] else {
            return None;
        };
        let finishes = choice.finish.as_ref().is_some_and(|finish| says(text, finish));
        if finishes || choice.has_calls || choice.has_function {
            return None;
        }
        let members = &self.members[choice.members.clone()];
        if members.iter().any(|member| member.says && member.kind.is_thinking()) {
            return None;
        }
        let mut contents = members.iter().filter(|member| member.kind == MemberKind::Content);
        let content = contents.next().filter(|content| text[content.value.start] == b'"')?;
        contents.next().is_none().then(|| content.value.clone())
    }

    /// Returns the portions of a stream's chunk that are sent.
    pub fn portions(&self) -> &'static [Portion] {
        let Wanted { repairs, merges, .. } = self.wanted;
        let splits = repairs || self.wanted.has(Shapes::CHUNKS) || self.wanted.has(Shapes::CONTENT);
        match &self.choices[..] {
            [Choice { index: Some(_), delta: Some(_), members, .. }] if splits && !merges => {
                let members = &self.members[members.clone()];
                let has = |is: fn(MemberKind) -> bool| members.iter().any(|member| member.says && is(member.kind));
                match has(MemberKind::is_thinking) && has(|kind| kind == MemberKind::Content) {
                    true => &[Portion::Thinking, Portion::Rest],
                    false => &[Portion::All],
                }
            }
            _ => &[Portion::All],
        }
    }

    /// Notes the changes of a portion.
    pub fn mend(&self, text: &[u8], portion: Portion, edits: &mut Edits) -> memory::Result<()> {
        for choice in self.choices.iter().filter(|choice| choice.is_reshaped || portion != Portion::All) {
            let Some(delta) = choice.delta.clone() else { continue };
            let is_part = |kind: MemberKind| match portion {
                Portion::All => true,
                Portion::Thinking => kind.is_thinking() || kind == MemberKind::Role,
                Portion::Rest => !kind.is_thinking() && kind != MemberKind::Role,
            };
            edits.replace(delta, |out| write(text, &self.members[choice.members.clone()], &self.made, is_part, out))?;
        }
        if portion == Portion::Thinking {
            return self.once.iter().try_for_each(|value| edits.put(value.clone(), &[b"null"]));
        }
        for choice in self.choices.iter().filter(|_| self.wanted.repairs) {
            let (Some(index), Some(finish)) = (choice.index, &choice.finish) else { continue };
            let call = self.called.iter().find(|(called, _)| *called == index);
            let reason = match (&text[finish.clone()], call) {
                (TOOL_CALLS | FUNCTION_CALL, None) if self.called.len() < CHOICES => STOP,
                (STOP | FUNCTION_CALL, Some((_, true))) => TOOL_CALLS,
                (STOP | TOOL_CALLS, Some((_, false))) => FUNCTION_CALL,
                _ => continue,
            };
            edits.put(finish.clone(), &[reason])?;
        }
        Ok(())
    }
}

/// Adds to a list of a chunk's members. `None`: there is no memory.
fn note<T>(list: &mut Vec<T>, item: T, memory: &mut memory::Result<()>) -> Option<()> {
    *memory = push(list, item);
    memory.is_ok().then_some(())
}
