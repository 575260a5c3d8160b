//! Mends a chunk of chat completions: corrects a finish reason that contradicts the calls, and divides a chunk that has thinking,
//! content and a finish reason at once, because some clients ignore one of these. `calls` mends the calls of the chunk. `members` puts
//! the server's thinking and content into the wanted shape.

use super::calls::{self, Calls};
use super::members::{Member, MemberKind, Wanted, reshape, write};
use crate::json::{Edits, Reader, Span, Value, whole_number};
use crate::memory::{self, push};
use crate::sse::choices::{REASONING, says};
use crate::sse::normalise::Shapes;

/// The maximum number of choices of a stream whose calls are remembered.
const CHOICES: usize = 128;

/// The member of a choice that has the text: in a chunk `delta`, in a body `message`.
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
    /// The change that replaces a `delta` that is null or missing by an empty object.
    missing: Option<(Span, &'static [u8])>,
    /// The value of `tool_calls`.
    calls: Option<Span>,
    function: Option<Span>,
    /// Whether the choice has calls in `tool_calls`.
    has_calls: bool,
    has_function: bool,
    delta: Option<Span>,
    /// The range of the delta's members in the chunk's list of members.
    members: Span,
    /// Whether the delta is written anew.
    is_reshaped: bool,
}

/// Which parts of a chunk are sent in this chunk.
#[derive(Clone, Copy, PartialEq)]
pub struct Portion {
    thinking: bool,
    rest: bool,
    end: bool,
}

impl Portion {
    pub const ALL: Portion = Portion { thinking: true, rest: true, end: true };
    pub const THINKING: Portion = Portion { thinking: true, rest: false, end: false };
    const REST: Portion = Portion { thinking: false, rest: true, end: true };
    const CONTENT: Portion = Portion { thinking: false, rest: true, end: false };
    const TEXT: Portion = Portion { thinking: true, rest: true, end: false };
    const END: Portion = Portion { thinking: false, rest: false, end: true };
}

/// The chunk that was read last, and the calls of its stream.
#[derive(Default)]
pub struct Chunk {
    wanted: Wanted,
    /// The indexes of the choices that have had a call, and whether the call was in `tool_calls`.
    called: Vec<(u64, bool)>,
    calls: Vec<(u64, Calls)>,
    choices: Vec<Choice>,
    /// The members of all deltas.
    members: Vec<Member>,
    made: Vec<u8>,
    /// The values that only the last portion may have.
    ends: Vec<Span>,
    logprobs: Vec<Span>,
    edits: Edits,
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
        memory::clear(&mut self.ends);
        memory::clear(&mut self.logprobs);
    }

    /// Reads the list of choices, whose texts are in their member `part`. Returns `None` if it is not JSON, or without memory.
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

    /// Notes the position of the chunk's `usage`.
    pub fn note_usage(&mut self, value: Span, memory: &mut memory::Result<()>) -> Option<()> {
        note(&mut self.ends, value, memory)
    }

    fn read_choice(
        &mut self,
        text: &[u8],
        part: &[u8],
        reader: &mut Reader<'_>,
        memory: &mut memory::Result<()>,
    ) -> Option<()> {
        let Chunk { wanted, choices, members, made, ends, logprobs, .. } = self;
        let choice = choices.last_mut()?;
        let mut has_text = false;
        reader.members(|reader, name, _| match name {
            known if known == part && reader.peek() == Some(b'{') => {
                let (start, first) = (reader.offset(), members.len());
                reader.members(|reader, name, key| {
                    let value = reader.value()?;
                    let says = says(text, &value);
                    let kind = match name {
                        b"role" => MemberKind::Role,
                        b"content" => MemberKind::Content,
                        known => {
                            match known {
                                b"tool_calls" if says => {
                                    (choice.has_calls, choice.calls) = (true, Some(value.clone()));
                                }
                                b"function_call" if says => {
                                    (choice.has_function, choice.function) = (true, Some(value.clone()));
                                }
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
                note(ends, value, memory)
            }
            b"stop_reason" => note(ends, reader.value()?, memory),
            b"logprobs" => note(logprobs, reader.value()?, memory),
            known if known == part && reader.peek() == Some(b'n') => {
                choice.missing = Some((reader.value()?, b"{}"));
                Some(())
            }
            known => {
                has_text |= matches!(known, DELTA | BODY | b"text");
                reader.value().map(drop)
            }
        })?;
        let end = reader.offset() - 1;
        if choice.finish.is_some() && !has_text && choice.delta.is_none() && choice.missing.is_none() {
            choice.missing = Some((end..end, b",\"delta\":{}"));
        }
        Some(())
    }

    /// Notes the calls of the chunk, and mends them.
    pub fn note_calls(&mut self, text: &[u8]) -> memory::Result<()> {
        for choice in self.choices.iter().filter(|choice| choice.has_calls || choice.has_function) {
            let Some(index) = choice.index else { continue };
            match self.called.iter().position(|(called, _)| *called == index) {
                Some(at) => self.called[at].1 |= choice.has_calls,
                None if self.called.len() < CHOICES => push(&mut self.called, (index, choice.has_calls))?,
                None => {}
            }
            if let Some(calls) = &choice.calls {
                let known = match self.calls.iter().position(|(known, _)| *known == index) {
                    None if self.calls.len() == CHOICES => continue,
                    None => {
                        push(&mut self.calls, (index, Calls::default()))?;
                        self.calls.len() - 1
                    }
                    Some(known) => known,
                };
                self.edits.clear();
                self.calls[known].1.mend(text, calls.clone(), &mut self.edits)?;
                remake(text, &mut self.members, calls, &mut self.edits, &mut self.made)?;
            }
            if let Some(function) = &choice.function {
                let [given] = Value { text, span: function.clone() }.find([b"arguments"]);
                self.edits.clear();
                calls::arguments(text, given.map(|given| given.span).as_ref(), &mut self.edits)?;
                remake(text, &mut self.members, function, &mut self.edits, &mut self.made)?;
            }
        }
        Ok(())
    }

    /// Returns the position of the content, if no other part of a chunk of this form can ever need a change.
    pub fn content(&self, text: &[u8]) -> Option<Span> {
        let [choice @ Choice { index: Some(_), delta: Some(_), is_reshaped: false, .. }] = &self.choices[..] else {
            return None;
        };
        // A finish reason is changed even if it is empty.
        let finishes = choice.finish.as_ref().is_some_and(|finish| text[finish.clone()] != *b"null");
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

    /// Returns the portions into which a stream's chunk is divided.
    pub fn portions(&self, text: &[u8]) -> &'static [Portion] {
        let Wanted { repairs, merges, .. } = self.wanted;
        let splits = repairs || self.wanted.has(Shapes::CHUNKS) || self.wanted.has(Shapes::CONTENT);
        match &self.choices[..] {
            [Choice { index: Some(_), delta: Some(_), members, finish, .. }] if splits && !merges => {
                let members = &self.members[members.clone()];
                let has = |is: fn(MemberKind) -> bool| members.iter().any(|member| member.says && is(member.kind));
                let (thinks, answers) = (has(MemberKind::is_thinking), has(|kind| kind == MemberKind::Content));
                let ends = repairs && finish.as_ref().is_some_and(|finish| says(text, finish));
                match (thinks, answers) {
                    (true, true) if ends => &[Portion::THINKING, Portion::CONTENT, Portion::END],
                    (true, true) => &[Portion::THINKING, Portion::REST],
                    _ if ends && has(|kind| kind != MemberKind::Role) => &[Portion::TEXT, Portion::END],
                    _ => &[Portion::ALL],
                }
            }
            _ => &[Portion::ALL],
        }
    }

    /// Notes the changes of a portion.
    pub fn mend(&self, text: &[u8], portion: Portion, edits: &mut Edits) -> memory::Result<()> {
        let Portion { thinking, rest, end } = portion;
        for choice in &self.choices {
            let Some(delta) = choice.delta.clone() else { continue };
            let members = &self.members[choice.members.clone()];
            if choice.is_reshaped || !thinking || !rest {
                let is_part = |kind: MemberKind| match kind.is_thinking() || kind == MemberKind::Role {
                    true => thinking,
                    false => rest,
                };
                edits.replace(delta, |out| write(text, members, &self.made, is_part, out))?;
            } else {
                let made = members.iter().filter_map(|member| Some((member.at.clone(), member.made.clone()?)));
                made.into_iter().try_for_each(|(at, made)| edits.put(at, &[&self.made[made]]))?;
            }
        }
        for (values, are_sent) in [(&self.ends, end), (&self.logprobs, rest)] {
            values.iter().filter(|_| !are_sent).try_for_each(|value| edits.put(value.clone(), &[b"null"]))?;
        }
        for choice in self.choices.iter().filter(|_| self.wanted.repairs && end) {
            choice.missing.iter().try_for_each(|(at, delta)| edits.put(at.clone(), &[delta]))?;
            let (Some(index), Some(finish)) = (choice.index, &choice.finish) else { continue };
            if text[finish.clone()] == *b"\"\"" {
                edits.put(finish.clone(), &[b"null"])?;
            }
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

/// Writes the member that has this value, with its changes.
fn remake(
    text: &[u8],
    members: &mut [Member],
    value: &Span,
    edits: &mut Edits,
    made: &mut Vec<u8>,
) -> memory::Result<()> {
    let is_it = |member: &&mut Member| member.kind == MemberKind::Other && member.value == *value;
    if edits.len() > 0
        && let Some(member) = members.iter_mut().find(is_it)
    {
        let start = made.len();
        edits.apply(text, member.at.clone(), Span::clone, made)?;
        member.made = Some(start..made.len());
    }
    Ok(())
}

/// Adds an item to a list. Returns `None` if there is no memory.
fn note<T>(list: &mut Vec<T>, item: T, memory: &mut memory::Result<()>) -> Option<()> {
    *memory = push(list, item);
    memory.is_ok().then_some(())
}
