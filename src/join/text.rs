//! A joined text with the role of each stretch, so that it can be compared with the scanner's events.

use std::ops::Range;

use crate::{
    channel::Channel,
    memory::{self, append, push},
    scanner::{Cause, Error, Kind, Scanner},
};

/// The role of a part. All other stretches are markers or framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Text(Channel),
    Name,
    Id,
    /// The key of an argument, and the key of an element inside an argument.
    Key,
    InnerKey,
    Value,
}

/// A part: a stretch with its role.
#[derive(Clone, Debug)]
pub struct Part {
    pub role: Role,
    pub range: Range<usize>,
}

#[derive(Default)]
pub struct Text {
    pub bytes: Vec<u8>,
    /// The parts in the order of the text.
    pub parts: Vec<Part>,
    /// The beginning of each call, with the region's opener if the call is its first.
    pub calls: Vec<usize>,
    /// The ranges of names that are fields of headers.
    pub header_names: Vec<Range<usize>>,
}

impl Text {
    /// Writes a marker, or framing.
    pub fn mark(&mut self, bytes: &[u8]) -> memory::Result<()> {
        append(&mut self.bytes, bytes)
    }

    /// Writes a part, and returns its range.
    pub fn part(&mut self, role: Role, bytes: &[u8]) -> memory::Result<Range<usize>> {
        let from = self.bytes.len();
        append(&mut self.bytes, bytes)?;
        self.parts_since(role, from)
    }

    /// Notes the text from an index on as one part.
    pub fn parts_since(&mut self, role: Role, from: usize) -> memory::Result<Range<usize>> {
        let range = from..self.bytes.len();
        push(&mut self.parts, Part { role, range: range.clone() })?;
        Ok(range)
    }

    /// Appends another text.
    pub fn append(&mut self, other: &Text) -> memory::Result<()> {
        let from = self.bytes.len();
        append(&mut self.bytes, &other.bytes)?;
        let shifted = |range: &Range<usize>| from + range.start..from + range.end;
        for part in &other.parts {
            push(&mut self.parts, Part { role: part.role, range: shifted(&part.range) })?;
        }
        for &call in &other.calls {
            push(&mut self.calls, from + call)?;
        }
        for name in &other.header_names {
            push(&mut self.header_names, shifted(name))?;
        }
        Ok(())
    }

    /// Reads the text as a host would. Returns the first byte whose role differs from the role in which it was written.
    pub fn misread(&self, scanner: &mut Scanner) -> Result<Option<usize>, Error> {
        let mut verifier = Verifier { text: self, part: 0, ended: 0, named: 0, wrong: None };
        scanner.feed(&self.bytes, |event| verifier.see(&event))?;
        scanner.finish(|event| verifier.see(&event))?;
        if verifier.ended != self.calls.len() {
            verifier.wrong.get_or_insert(self.bytes.len());
        }
        Ok(verifier.wrong)
    }
}

/// The progress of reading a text back.
struct Verifier<'a> {
    text: &'a Text,
    /// The index of the first part that has not been read to its end.
    part: usize,
    /// The number of calls that have ended properly, and the number of header names that were reported.
    ended: usize,
    named: usize,
    wrong: Option<usize>,
}

impl Verifier<'_> {
    fn see(&mut self, event: &crate::Event<'_>) {
        if self.wrong.is_none() {
            self.wrong = self.misread(event);
        }
    }

    fn misread(&mut self, event: &crate::Event<'_>) -> Option<usize> {
        let from = event.offset as usize;
        let roles: &[Role] = match event.kind {
            Kind::Text => &[Role::Text(event.channel)],
            Kind::CallName(Some(name)) => {
                let written = self.text.header_names.get(self.named).map(|range| &self.text.bytes[range.clone()]);
                self.named += 1;
                return if written == Some(name) { None } else { Some(from) };
            }
            Kind::CallName(None) => &[Role::Name],
            Kind::CallId => &[Role::Id],
            Kind::CallKey => &[Role::Key, Role::InnerKey],
            Kind::CallValue => &[Role::Value],
            Kind::CallEnd { cause, .. } => {
                if !matches!(cause, Cause::Marker | Cause::Implied) {
                    return Some(from);
                }
                self.ended += 1;
                &[]
            }
            _ => &[],
        };
        if event.bytes.is_empty() {
            return None;
        }
        while self.text.parts.get(self.part).is_some_and(|part| part.range.end <= from) {
            self.part += 1;
        }
        let mut rest = self.text.parts[self.part..].iter().filter(|part| !part.range.is_empty());
        let next = rest.next();
        let (is_right, end) = match next {
            Some(part) if part.range.start <= from => (roles.contains(&part.role), part.range.end),
            next => (roles.is_empty(), next.map_or(self.text.bytes.len(), |part| part.range.start)),
        };
        match from + event.bytes.len() > end {
            _ if !is_right => Some(from),
            true => Some(end),
            false => None,
        }
    }
}
