//! The beginnings of a stream's extra chunks. An extra chunk begins like the event in which its text arrived. Most held text is
//! sent in the next event, so the event is kept, and the beginning is made only when it is needed.

use super::chunk::Choice;
use super::layout::Layout;
use crate::json::{Reader, Span};
use crate::memory::{self, append, append_all};
use crate::sse::event::{EventPart, LINE_END};

/// The maximum number of bytes of an extra chunk's beginning, far more than real servers write. A field that does not fit is left out,
/// and an event that is longer than this is not kept.
const HEAD: usize = 2048;

/// The beginning of an extra chunk for the held text of a choice.
pub struct Head {
    pub layout: &'static Layout,
    pub line_end: &'static [u8],
    /// The finished beginning, or the name and the data of the event from which it will be made.
    bytes: Vec<u8>,
    /// The positions of the parts of the event; `None` if `bytes` is the finished beginning.
    kept: Option<Kept>,
}

struct Kept {
    name_len: usize,
    /// The position of the role in the data, if the format has the role in each chunk.
    role: Option<Span>,
}

impl Head {
    pub fn new(layout: &'static Layout) -> Head {
        Head { layout, line_end: LINE_END, bytes: Vec::new(), kept: None }
    }

    /// Returns whether no event was kept.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Keeps an event, from which extra chunks are made. They get the role of `choice`.
    pub fn keep(
        &mut self,
        event: &EventPart<'_>,
        layout: &'static Layout,
        choice: Option<&Choice>,
    ) -> memory::Result<()> {
        (self.layout, self.line_end) = (layout, event.event.line_end);
        let role = choice.and_then(|choice| role(layout, choice));
        let (name, data) = (event.name(), event.data());
        self.bytes.clear();
        if name.len() + data.len() > HEAD {
            self.kept = None;
            return write_head(name, data, layout, role, self.line_end, &mut self.bytes);
        }
        self.kept = Some(Kept { name_len: name.len(), role });
        append_all(&mut self.bytes, &[name, data])
    }

    /// Writes the beginning.
    pub fn write(&self, head: &mut Vec<u8>) -> memory::Result<()> {
        let Some(Kept { name_len, role }) = &self.kept else { return append(head, &self.bytes) };
        let (name, data) = self.bytes.split_at(*name_len);
        write_head(name, data, self.layout, role.clone(), self.line_end, head)
    }
}

/// Writes the beginning of an extra chunk for a choice of this event, up to the choice's own members.
pub fn write(
    event: &EventPart<'_>,
    layout: &'static Layout,
    choice: &Choice,
    head: &mut Vec<u8>,
) -> memory::Result<()> {
    write_head(event.name(), event.data(), layout, role(layout, choice), event.event.line_end, head)
}

/// Returns the position of the choice's role, if the format has the role in each chunk.
fn role(layout: &Layout, choice: &Choice) -> Option<Span> {
    choice.role.as_ref().filter(|_| layout.repeats_role).map(|role| role.value.clone())
}

fn write_head(
    name: &[u8],
    text: &[u8],
    layout: &Layout,
    role: Option<Span>,
    line_end: &[u8],
    head: &mut Vec<u8>,
) -> memory::Result<()> {
    if !matches!(name.len(), 0 | 1024..) && name != b"error" {
        append_all(head, &[b"event: ", name, line_end])?;
    }
    append(head, layout.extra.begin)?;
    let mut memory = Ok(());
    // The text was read before, so it is an object.
    let _ = Reader::new(text).members(|reader, name, _| {
        let value = &text[reader.value()?];
        if let Some(name) = layout.envelope.iter().find(|known| **known == name)
            && head.len() + value.len() <= HEAD
            && !matches!(value[0], b'[' | b'{')
        {
            memory = append_all(head, &[b"\"", name, b"\":", value, b","]);
        }
        memory.is_ok().then_some(())
    });
    memory?;
    append(head, layout.extra.before_index)?;
    match role {
        Some(role) if head.len() + role.len() <= HEAD => append_all(head, &[b"\"role\":", &text[role], b","]),
        _ => Ok(()),
    }
}
