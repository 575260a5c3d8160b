//! Writes the split text of a choice into fields of the event or body in which it arrived. It replaces the received text where
//! possible, and fills existing fields that are empty.

use super::chunk::Choice;
use super::layout::{CallForm, Layout};
use crate::answer::{Parts, Run, Target};
use crate::json::{Edits, Member, Span};
use crate::memory::{self, append, append_all};
use crate::sse::options::Field;

/// Returns the name of the field for text of this kind, or `None` for thinking that is left out.
pub fn name(target: Target, layout: &Layout, field: Option<Field>) -> &'static str {
    match target {
        Target::Reasoning => field.map_or("", Field::name),
        Target::Content => layout.text,
        Target::Calls => "tool_calls",
    }
}

/// Writes the value of a field: its text in `runs`. `is_body` means an answer that is not a stream.
pub fn write_value(
    layout: &Layout,
    parts: &Parts,
    runs: &[Run],
    target: Target,
    is_body: bool,
    out: &mut Vec<u8>,
) -> memory::Result<()> {
    match (target, layout.calls) {
        (Target::Calls, CallForm::Objects) => parts.write_objects(runs, out),
        _ => parts.write(runs, target, is_body, out),
    }
}

/// The stretches of a choice's text that are written into the event or body in which they arrived.
pub struct Fields<'a> {
    pub layout: &'static Layout,
    /// The field for the thinking; `None` if the thinking is left out.
    pub field: Option<Field>,
    pub data: &'a [u8],
    pub choice: &'a Choice,
    /// The member with the received text.
    pub content: &'a Member,
    pub parts: &'a Parts,
    pub runs: &'a [Run],
    pub is_body: bool,
}

/// The position of the text among the edits, if all of it is for one field.
pub struct EditRef {
    pub edit: usize,
    /// The number of bytes of the edit before the text.
    pub skip: usize,
}

impl Fields<'_> {
    /// Returns whether there is text for this field.
    fn has(&self, target: Target) -> bool {
        (target != Target::Reasoning || self.field.is_some()) && self.runs.iter().any(|run| run.target() == target)
    }

    /// Returns whether there is text for this field, and no empty field of the choice to put it into.
    fn is_new(&self, target: Target) -> bool {
        self.has(target) && self.choice.empty(target).is_none()
    }

    fn write(&self, target: Target, out: &mut Vec<u8>) -> memory::Result<()> {
        write_value(self.layout, self.parts, self.runs, target, self.is_body, out)
    }

    /// Writes the key of a new field.
    fn write_name(&self, target: Target, out: &mut Vec<u8>) -> memory::Result<()> {
        append_all(out, &[b"\"", name(target, self.layout, self.field).as_bytes(), b"\""])
    }

    /// Notes the changes.
    pub fn note(&self, edits: &mut Edits) -> memory::Result<EditRef> {
        let Member { key, value } = self.content;
        // If all of an answer is thinking that is left out, its content is an empty string.
        let is_empty = (self.is_body || self.field.is_none()) && !self.has(Target::Calls);
        let keeps_text = self.is_body || self.layout.keeps_text || self.has(Target::Content) || is_empty;
        // The replacement of the received text, and whether the thinking precedes it.
        let first = if keeps_text {
            Some(Target::Content)
        } else {
            Target::ALL.into_iter().find(|&target| self.is_new(target))
        };
        let leads = keeps_text && !self.layout.keeps_text && self.is_new(Target::Reasoning);
        if leads {
            let end = if self.is_body { value.start } else { key.end };
            edits.replace(key.start..end, |out| {
                self.write_name(Target::Reasoning, out)?;
                append(out, b":")?;
                self.write(Target::Reasoning, out)?;
                append(out, b",")?;
                self.write_name(Target::Content, out)?;
                append(out, if self.is_body { b":" } else { b"" })
            })?;
        } else if let Some(first @ (Target::Reasoning | Target::Calls)) = first {
            edits.replace(key.clone(), |out| {
                // Without this, clients would take the earlier `content`.
                append(out, if self.choice.is_doubled { b"\"content\":null," } else { b"" })?;
                self.write_name(first, out)
            })?;
        }
        let mut edit_ref = EditRef { edit: edits.list.len(), skip: 0 };
        edits.replace(value.clone(), |out| {
            let start = out.len();
            match first.filter(|&first| self.has(first)) {
                Some(first) => self.write(first, out)?,
                // A message that consists only of calls has no content.
                None if is_empty => append(out, b"\"\"")?,
                None => append(out, self.layout.no_text())?,
            }
            for target in [Target::Reasoning, Target::Calls] {
                let stands = Some(target) == first || leads && target == Target::Reasoning;
                if self.is_new(target) && !stands {
                    append(out, b",")?;
                    self.write_name(target, out)?;
                    append(out, b":")?;
                    edit_ref.skip = out.len() - start;
                    self.write(target, out)?;
                }
            }
            Ok(())
        })?;
        for target in [Target::Reasoning, Target::Calls].into_iter().filter(|&target| self.has(target)) {
            let Some(empty) = self.choice.empty(target) else { continue };
            edit_ref.edit = edits.list.len();
            self.fill(empty.clone(), target, edits)?;
        }
        Ok(edit_ref)
    }

    fn fill(&self, empty: Span, target: Target, edits: &mut Edits) -> memory::Result<()> {
        if self.is_body {
            return edits.replace(empty, |out| self.write(target, out));
        }
        let mut parts = lines(self.data, empty);
        parts.next().map_or(Ok(()), |first| edits.replace(first, |out| self.write(target, out)))?;
        parts.try_for_each(|rest| edits.replace(rest, |_| Ok(())))
    }
}

/// Returns the parts of `span`, one for each line of the data: in the event, other lines may be between these lines.
pub fn lines(data: &[u8], span: Span) -> impl Iterator<Item = Span> {
    let mut at = span.start;
    data[span].split(|&byte| byte == b'\n').filter_map(move |line| {
        let start = at;
        at += line.len() + 1;
        (!line.is_empty()).then_some(start..start + line.len())
    })
}
