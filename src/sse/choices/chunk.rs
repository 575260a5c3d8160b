//! The positions of the fields that are rewritten in a chat completion or a chunk of it. No other field may be read or changed.

use super::layout::Layout;
use crate::Error;
use crate::answer::Target;
use crate::json::{Member, Reader, Span, unescape, whole_number};
use crate::memory::{self, push, reserve_one};
use crate::sse::options::Field;

/// The maximum number of choices that are read. No API returns more.
pub const CHOICES: usize = 128;

/// The members of a chunk, a choice and a delta that are read in every format. A format's layout names more.
const LIST: &[u8] = b"choices";
const ERROR: &[u8] = b"error";
const INDEX: &[u8] = b"index";
const DONE: &[u8] = b"done";
const ROLE: &[u8] = b"role";
pub const REASONING: [&[u8]; 4] = [b"reasoning_content", b"reasoning", b"reasoning_details", b"thinking"];
const CALLS: [&[u8]; 2] = [b"tool_calls", b"function_call"];
const PARTS: [&[u8]; 3] = [b"refusal", b"audio", b"images"];

/// Returns whether members with this name are read, in any format and any object.
pub fn is_read(name: &[u8]) -> bool {
    let of_layout =
        |layout: &&Layout| [layout.part, layout.whole_part, layout.text.as_bytes(), layout.reason].contains(&name);
    [LIST, ERROR, INDEX, DONE, ROLE].contains(&name)
        || REASONING.contains(&name)
        || CALLS.contains(&name)
        || PARTS.contains(&name)
        || Layout::ALL.iter().any(of_layout)
}

/// A choice with the fields of its `delta` or `message`.
#[derive(Clone, Default)]
pub struct Choice<At = Span> {
    /// The choice's `index`; `None` if it is not a whole number.
    pub index: Option<u64>,
    /// Whether there is a `finish_reason` other than `null` or `""`.
    pub finishes: bool,
    /// The value of `finish_reason`, if that is `"stop"`.
    pub stop: Option<At>,
    /// The `content`, if it is a string.
    pub content: Option<Member<At>>,
    /// Whether the choice has text: its `content` is not empty, be it a string or a list.
    pub answers: bool,
    /// The value of `content`, if it is not a string.
    pub no_content: Option<At>,
    /// The first string of reasoning that the server itself has split from the content.
    pub reasoning: Option<At>,
    /// Whether an earlier member is named `content` too.
    pub is_doubled: bool,
    /// Whether the server has split the text: `content` is a list, or there is reasoning already.
    pub is_split: bool,
    /// The value of the field for reasoning, if the choice has that field and it is empty.
    pub field: Option<At>,
    /// The value of `tool_calls`, if the choice has that member and it is empty.
    pub calls: Option<At>,
    /// The `role`, if it is a string and the only one.
    pub role: Option<Member<At>>,
    /// A field other than the text that clients show as a separate part.
    pub breaks: Option<Break>,
    /// The `message` of a stream's choice, which some servers send next to its delta with the whole text so far.
    pub beside: Option<At>,
    /// The list of log probabilities of a body's tokens.
    pub tokens: Option<At>,
    /// Whether the text is all that the choice's chunk has for a client; `None` if that is not determined yet.
    pub has_only_text: Option<bool>,
}

impl<At> Choice<At> {
    /// Returns the choice with each position replaced by what `place` returns for it.
    pub fn moved<To>(&self, place: impl Fn(&At) -> To) -> Choice<To> {
        let moved = |at: &Option<At>| at.as_ref().map(&place);
        Choice {
            index: self.index,
            finishes: self.finishes,
            stop: moved(&self.stop),
            content: self.content.as_ref().map(|content| content.moved(&place)),
            answers: self.answers,
            no_content: moved(&self.no_content),
            reasoning: moved(&self.reasoning),
            is_doubled: self.is_doubled,
            is_split: self.is_split,
            field: moved(&self.field),
            calls: moved(&self.calls),
            role: self.role.as_ref().map(|role| role.moved(&place)),
            breaks: self.breaks,
            beside: moved(&self.beside),
            tokens: moved(&self.tokens),
            has_only_text: self.has_only_text,
        }
    }
}

impl Choice {
    /// Returns the value of the field for `target`, if the choice has that field and it is empty; `None` for content.
    pub fn empty(&self, target: Target) -> Option<&Span> {
        match target {
            Target::Reasoning => self.field.as_ref(),
            Target::Calls => self.calls.as_ref(),
            Target::Content => None,
        }
    }
}

/// A field that ends the text before it: clients close their text part there, and show later text after it.
#[derive(Clone, Copy, PartialEq)]
pub enum Break {
    /// `tool_calls`, or `function_call` of older servers.
    Call,
    /// `refusal`, `audio` or `images`.
    Other,
}

/// Returns whether a value is other than `null`, `false` and the empty string, list and object.
pub fn says(text: &[u8], value: &Span) -> bool {
    let value = &text[value.clone()];
    match value[0] {
        b'[' | b'{' => value[1..value.len() - 1].iter().any(|byte| !byte.is_ascii_whitespace()),
        _ => !matches!(value, b"null" | b"false" | b"\"\""),
    }
}

/// Reads a chunk, or a whole answer (`is_body`). Returns whether the JSON reports an error, or `None` and no choices if it
/// cannot be rewritten.
pub fn read(
    text: &[u8],
    layout: &Layout,
    is_body: bool,
    field: Option<Field>,
    choices: &mut Vec<Choice>,
) -> Result<Option<bool>, Error> {
    choices.clear();
    reserve_one(choices)?;
    let mut memory = Ok(());
    let mut error = false;
    let mut reader = Reader::new(text);
    if !layout.has_list {
        choices.push(Choice { index: Some(0), ..Choice::default() });
        let whole = choice(text, &mut reader, layout, is_body, field, &mut choices[0]).and_then(|()| reader.end());
        if whole.is_none() {
            choices.clear();
        }
        return Ok(whole.map(|()| false));
    }
    let whole = reader.members(|reader, name, _| {
        if name == LIST {
            choices.clear();
        }
        if name == LIST && reader.peek() == Some(b'[') {
            return reader.array(|reader| {
                (choices.len() < CHOICES).then_some(())?;
                memory = reserve_one(choices);
                memory.is_ok().then_some(())?;
                // The choice is read directly into the list, because it is too large to be moved.
                choices.push(Choice { index: Some(choices.len() as u64), ..Choice::default() });
                choice(text, reader, layout, is_body, field, choices.last_mut()?)
            });
        }
        let value = reader.value()?;
        if name == ERROR {
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

fn choice(
    text: &[u8],
    reader: &mut Reader<'_>,
    layout: &Layout,
    is_body: bool,
    field: Option<Field>,
    choice: &mut Choice,
) -> Option<()> {
    let part = if is_body { layout.whole_part } else { layout.part };
    let mut own = part.is_empty().then(Summary::default);
    let mut parts = 0;
    reader.members(|reader, name, key| {
        if name == part && own.is_none() {
            if parts > 0 {
                let Choice { index, finishes, .. } = *choice;
                let (stop, beside) = (choice.stop.take(), choice.beside.take());
                *choice = Choice { index, finishes, stop, beside, ..Choice::default() };
            }
            parts += 1;
            if reader.peek() == Some(b'{') {
                return delta(text, reader, layout, field, choice);
            }
        }
        let value = reader.value()?;
        match name {
            _ if !is_body && own.is_none() && name == layout.whole_part && text[value.start] == b'{' => {
                choice.beside = (name != part).then_some(value);
            }
            INDEX if layout.has_list => {
                choice.index = whole_number(&text[value]);
            }
            DONE if !layout.has_list => choice.finishes = text[value] == *b"true",
            _ if name == layout.reason => {
                if layout.has_list {
                    choice.finishes = says(text, &value);
                }
                choice.stop = (text[value.clone()] == *b"\"stop\"").then_some(value);
            }
            _ => {
                if let Some(own) = &mut own {
                    own.take(text, layout, field, name, Member { key, value }, choice);
                }
            }
        }
        Some(())
    })?;
    if let Some(own) = own {
        own.judge(choice);
    }
    Some(())
}

/// Reads the `message` next to the delta of a choice.
pub fn read_beside(text: &[u8], at: &Span, layout: &Layout, field: Option<Field>, choice: &Choice) -> Choice {
    let Choice { index, finishes, .. } = *choice;
    let mut beside = Choice { index, finishes, stop: choice.stop.clone(), ..Choice::default() };
    // This was parsed before, so it is an object.
    let _ = delta(text, &mut Reader::at(text, at.start), layout, field, &mut beside);
    beside
}

fn delta(
    text: &[u8],
    reader: &mut Reader<'_>,
    layout: &Layout,
    field: Option<Field>,
    choice: &mut Choice,
) -> Option<()> {
    let mut summary = Summary::default();
    reader.members(|reader, name, key| {
        let value = reader.value()?;
        summary.take(text, layout, field, name, Member { key, value }, choice);
        Some(())
    })?;
    summary.judge(choice);
    Some(())
}

/// The facts about the object with the text: whether the text is a list, and which other fields are not empty. If two fields have the
/// same name, the last one counts.
#[derive(Default)]
struct Summary {
    lists: bool,
    reasoning: [bool; REASONING.len()],
    calls: [bool; CALLS.len()],
    parts: [bool; PARTS.len()],
    texts: u32,
    roles: u32,
}

impl Summary {
    #[inline]
    fn take(
        &mut self,
        text: &[u8],
        layout: &Layout,
        field: Option<Field>,
        name: &[u8],
        member: Member,
        choice: &mut Choice,
    ) {
        let first = text[member.value.start];
        let says = says(text, &member.value);
        let place = |names: &[&[u8]]| names.iter().position(|known| *known == name);
        if name == layout.text.as_bytes() {
            self.lists = says && first != b'"';
            choice.answers = says;
            choice.no_content = (first != b'"').then(|| member.value.clone());
            choice.content = (first == b'"').then_some(member);
            choice.is_doubled = self.texts > 0;
            self.texts += 1;
        } else if name == ROLE {
            choice.role = (first == b'"' && self.roles == 0).then_some(member);
            self.roles += 1;
        } else if let Some(place) = place(&REASONING) {
            self.reasoning[place] = says;
            if says && first == b'"' && choice.reasoning.is_none() {
                choice.reasoning = Some(member.value.clone());
            }
            if field.is_some_and(|field| name == field.name().as_bytes()) {
                choice.field = Some(member.value);
            }
        } else if let Some(place) = place(&CALLS) {
            self.calls[place] = says;
            if place == 0 {
                choice.calls = Some(member.value);
            }
        } else if let Some(place) = place(&PARTS) {
            self.parts[place] = says;
        }
    }

    fn judge(&self, choice: &mut Choice) {
        choice.is_split = self.lists || self.reasoning.contains(&true);
        choice.breaks = match (self.calls.contains(&true), self.parts.contains(&true)) {
            (true, _) => Some(Break::Call),
            (_, true) => Some(Break::Other),
            _ => None,
        };
    }
}

/// Returns whether the text of its choice is all that a parsed chunk has for a client: every other member is empty or the same in all
/// chunks.
pub fn has_only_text(text: &[u8], layout: &Layout) -> bool {
    fn has_only(text: &[u8], reader: &mut Reader<'_>, layout: &Layout, part: Option<&[u8]>) -> Option<bool> {
        let mut only = true;
        reader.members(|reader, name, _| {
            if part == Some(name) && !name.is_empty() && reader.peek() == Some(b'{') {
                only &= has_only(text, reader, layout, None)?;
                return Some(());
            }
            if layout.has_list && name == LIST && part.is_some() && reader.peek() == Some(b'[') {
                return reader.array(|reader| {
                    only &= has_only(text, reader, layout, part)?;
                    Some(())
                });
            }
            let value = reader.value()?;
            let is_known = name == layout.text.as_bytes()
                || layout.envelope.contains(&name)
                || layout.has_list && name == INDEX
                || layout.repeats_role && name == ROLE;
            only &= is_known || !says(text, &value);
            Some(())
        })?;
        Some(only)
    }
    has_only(text, &mut Reader::new(text), layout, Some(layout.part)).unwrap_or(false)
}

/// Returns the letters and digits of the chunk's `id`, or of `created` if it has no `id`. Some layouts name other members for
/// this.
pub fn id(text: &[u8], layout: &Layout) -> memory::Result<Vec<u8>> {
    let mut ids = [Vec::new(), Vec::new()];
    let mut memory = Ok(());
    // The text was parsed before, so it is an object.
    let _ = Reader::new(text).members(|reader, name, _| {
        let value = &text[reader.value()?];
        let Some(place) = layout.ids.iter().position(|known| *known == name) else { return Some(()) };
        // Only the second member may be a number: it is a time. An id is a string.
        if !matches!(value[0], b'"') && (place == 0 || !value[0].is_ascii_digit()) {
            return Some(());
        }
        let found = &mut ids[place];
        found.clear();
        let inside = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
        unescape(inside, |part| {
            let part = part.iter().copied().filter(u8::is_ascii_alphanumeric);
            for byte in part {
                if memory.is_ok() {
                    memory = push(found, byte);
                }
            }
        });
        memory.is_ok().then_some(())
    });
    memory?;
    let [id, other] = ids;
    Ok(if id.is_empty() { other } else { id })
}
