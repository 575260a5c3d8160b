//! The members of a delta or message. Members with the server's thinking, and content that is a list, get the wanted shape.

use crate::json::{Reader, Span};
use crate::memory::{self, append, append_all, reserve_one};
use crate::sse::choices::{REASONING, says};
use crate::sse::normalise::Shapes;
use crate::sse::options::{Field, Formats, Options};

/// The changes to chunks that a host wants.
#[derive(Clone, Copy, Default)]
pub struct Wanted {
    pub repairs: bool,
    /// Whether thinking and content stay in one chunk.
    pub merges: bool,
    pub normalise: Shapes,
    /// The field for the thinking.
    pub field: Field,
}

impl Wanted {
    pub fn new(options: &Options) -> Wanted {
        let normalise = if options.formats.contains(Formats::CHAT) { options.normalise } else { Shapes::NONE };
        Wanted { repairs: options.repair, merges: options.merge, normalise, field: options.field }
    }

    /// Returns whether a chunk or a body may get another shape.
    pub fn shapes(&self) -> bool {
        self.normalise != Shapes::NONE
    }

    pub fn has(&self, forms: Shapes) -> bool {
        self.normalise.contains(forms)
    }
}

/// The kind of a member.
#[derive(Clone, Copy, PartialEq)]
pub enum MemberKind {
    /// Thinking; the number is the position of the member's name in `REASONING`.
    Thinking(usize),
    Role,
    /// Content that is a string, once the members have their shape.
    Content,
    Other,
}

impl MemberKind {
    pub fn is_thinking(self) -> bool {
        matches!(self, MemberKind::Thinking(_))
    }
}

/// A member.
pub struct Member {
    pub kind: MemberKind,
    /// The span of the member.
    pub at: Span,
    pub value: Span,
    /// Whether the value is not empty, `null` or `false`.
    pub says: bool,
    /// The span of the member's replacement in the new bytes. An empty span removes the member.
    pub made: Option<Span>,
}

impl Member {
    fn leave_out(&mut self) {
        (self.says, self.made) = (false, Some(0..0));
    }
}

/// Puts the members from `first` on into the wanted shape. Returns whether something changes.
pub fn reshape(
    text: &[u8],
    wanted: &Wanted,
    is_body: bool,
    members: &mut Vec<Member>,
    first: usize,
    made: &mut Vec<u8>,
) -> memory::Result<bool> {
    let mut changes = false;
    if let Some(list) = (first..members.len()).find(|&at| is_list(text, &members[at])) {
        changes = wanted.has(Shapes::LISTS) && unlist(text, wanted, is_body, members, first, list, made)?;
        if !changes {
            members[list].kind = MemberKind::Other;
        }
    }
    if wanted.has(Shapes::FIELD) {
        changes |= rename(text, wanted, members, first, made)?;
    }
    Ok(changes)
}

/// Writes an object with the members of these kinds.
pub fn write(
    text: &[u8],
    members: &[Member],
    made: &[u8],
    has: impl Fn(MemberKind) -> bool,
    out: &mut Vec<u8>,
) -> memory::Result<()> {
    let values = members.iter().filter(|member| has(member.kind)).map(|member| match &member.made {
        Some(at) => &made[at.clone()],
        None => &text[member.at.clone()],
    });
    append(out, b"{")?;
    for (number, value) in values.filter(|value| !value.is_empty()).enumerate() {
        append_all(out, &[if number > 0 { b"," } else { b"" }, value])?;
    }
    append(out, b"}")
}

fn is_list(text: &[u8], member: &Member) -> bool {
    member.kind == MemberKind::Content && text[member.value.start] == b'['
}

/// Returns the position in `REASONING` of the name for the thinking.
fn place(wanted: &Wanted) -> usize {
    REASONING.iter().position(|name| *name == wanted.field.name().as_bytes()).unwrap_or(0)
}

/// Changes content that is a list into strings. Returns whether that was possible without loss.
fn unlist(
    text: &[u8],
    wanted: &Wanted,
    is_body: bool,
    members: &mut Vec<Member>,
    first: usize,
    list: usize,
    made: &mut Vec<u8>,
) -> memory::Result<bool> {
    let Some([thinking, content]) = List::read(text, members[list].value.clone())? else { return Ok(false) };
    let has_thinking = |member: &Member| member.kind.is_thinking() && member.says;
    if !thinking.is_empty() && members[first..].iter().any(has_thinking) {
        return Ok(false);
    }
    let is_left = is_body || !content.is_empty() || thinking.is_empty();
    members[list].made = Some(string(if is_left { "content" } else { "" }, &content, made)?);
    members[list].says = !content.is_empty();
    if !thinking.is_empty() {
        put_thinking(wanted, &thinking, members, first, list, made)?;
    }
    Ok(true)
}

/// Moves the server's thinking to the wanted field. Returns whether something changes.
fn rename(
    text: &[u8],
    wanted: &Wanted,
    members: &mut Vec<Member>,
    first: usize,
    made: &mut Vec<u8>,
) -> memory::Result<bool> {
    let place = place(wanted);
    let is_wanted = |member: &Member| member.kind == MemberKind::Thinking(place);
    let is_text = |member: &Member| {
        let is_string = member.made.as_ref().map_or(text[member.value.start], |_| b'"') == b'"';
        member.kind.is_thinking() && member.says && is_string
    };
    let all = first..members.len();
    let is_there = all.clone().find(|&at| is_wanted(&members[at]) && is_text(&members[at]));
    let Some(main) = is_there.or_else(|| all.clone().find(|&at| is_text(&members[at]))) else {
        let is_details = |member: &Member| member.says && text[member.value.start] == b'[';
        let Some(details) = all.clone().find(|&at| members[at].kind.is_thinking() && is_details(&members[at])) else {
            return Ok(false);
        };
        let thinking = details_text(text, members[details].value.clone())?;
        if !thinking.is_empty() {
            put_thinking(wanted, &thinking, members, first, details, made)?;
        }
        return Ok(!thinking.is_empty());
    };
    let mut changes = false;
    let said = members[main].value.clone();
    for at in all {
        let member = &mut members[at];
        if at == main {
            if !is_wanted(member) {
                member.made = Some(string(wanted.field.name(), &text[said.start + 1..said.end - 1], made)?);
                member.kind = MemberKind::Thinking(place);
                changes = true;
            }
        } else if is_text(member) && text[member.value.clone()] == text[said.clone()]
            || is_wanted(member) && !member.says
        {
            member.leave_out();
            changes = true;
        }
    }
    Ok(changes)
}

/// Puts thinking before the member at `before`. An empty field for thinking is removed.
fn put_thinking(
    wanted: &Wanted,
    thinking: &[u8],
    members: &mut Vec<Member>,
    first: usize,
    before: usize,
    made: &mut Vec<u8>,
) -> memory::Result<()> {
    let kind = MemberKind::Thinking(place(wanted));
    members[first..].iter_mut().filter(|member| member.kind == kind).for_each(Member::leave_out);
    let made = Some(string(wanted.field.name(), thinking, made)?);
    let Member { at, value, .. } = &members[before];
    let member = Member { kind, at: at.clone(), value: value.clone(), says: true, made };
    reserve_one(members)?;
    members.insert(before, member);
    Ok(())
}

/// Writes a member whose value is a string; `text` is escaped already. Writes nothing if `name` is empty. Returns the span of
/// the member.
fn string(name: &str, text: &[u8], made: &mut Vec<u8>) -> memory::Result<Span> {
    let start = made.len();
    if !name.is_empty() {
        append_all(made, &[b"\"", name.as_bytes(), b"\":\"", text, b"\""])?;
    }
    Ok(start..made.len())
}

/// Adds a string without its quotes. Returns `None` if the value is not a string, or without memory.
fn join(text: &[u8], value: &Span, joined: &mut Vec<u8>, memory: &mut memory::Result<()>) -> Option<()> {
    let string = text[value.clone()].strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    *memory = append(joined, string);
    memory.is_ok().then_some(())
}

/// Returns the texts and summaries in `reasoning_details`, joined, without their quotes.
fn details_text(text: &[u8], list: Span) -> memory::Result<Vec<u8>> {
    let (mut joined, mut memory) = (Vec::new(), Ok(()));
    // This was parsed before, so it is a list.
    let _ = Reader::at(text, list.start).array(|reader| match reader.peek()? {
        b'{' => reader.members(|reader, name, _| {
            let value = reader.value()?;
            let is_text = matches!(name, b"text" | b"summary");
            if is_text && text[value.start] == b'"' { join(text, &value, &mut joined, &mut memory) } else { Some(()) }
        }),
        _ => reader.value().map(drop),
    });
    memory.map(|()| joined)
}

/// Content that is a list.
struct List<'a> {
    text: &'a [u8],
    thinking: Vec<u8>,
    content: Vec<u8>,
    memory: memory::Result<()>,
}

impl List<'_> {
    /// Returns all thinking and all text of the list, without quotes, or `None` if the list has something else too.
    fn read(text: &[u8], at: Span) -> memory::Result<Option<[Vec<u8>; 2]>> {
        let mut list = List { text, thinking: Vec::new(), content: Vec::new(), memory: Ok(()) };
        let read = Reader::at(text, at.start).array(|reader| list.part(reader, false));
        list.memory?;
        Ok(read.map(|()| [list.thinking, list.content]))
    }

    /// Reads a part of the list. With `is_inside`, it is inside a part of thinking, so it is thinking too.
    fn part(&mut self, reader: &mut Reader<'_>, is_inside: bool) -> Option<()> {
        let text = self.text;
        let (mut kind, mut said, mut thought) = (0..0, None, None);
        reader.members(|reader, name, _| {
            let value = reader.value()?;
            match name {
                b"type" => kind = value,
                b"text" => said = Some(value),
                b"thinking" => thought = Some(value),
                b"closed" | b"index" => {}
                _ if says(text, &value) => return None,
                _ => {}
            }
            Some(())
        })?;
        match (&text[kind], said, thought) {
            (b"\"text\"", Some(said), None) => {
                let joined = if is_inside { &mut self.thinking } else { &mut self.content };
                join(text, &said, joined, &mut self.memory)
            }
            (b"\"thinking\"", None, Some(thought)) if !is_inside => match text[thought.start] {
                b'[' => Reader::at(text, thought.start).array(|reader| self.part(reader, true)),
                _ => join(text, &thought, &mut self.thinking, &mut self.memory),
            },
            _ => None,
        }
    }
}
