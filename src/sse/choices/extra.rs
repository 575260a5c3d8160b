//! Extra chunks of a stream, for text that the server's own chunk has no place for.

use std::slice;

use super::fields::{name, write_value};
use super::head::Head;
use super::layout::Layout;
use crate::answer::{Parts, Run, Target};
use crate::json;
use crate::memory::{self, append, append_all};
use crate::sse::options::Field;

/// The writer of extra chunks for text of one choice that the server's event has no place for.
pub struct ExtraChunk<'a> {
    pub layout: &'static Layout,
    pub head: &'a [u8],
    pub index: u64,
    /// The field for the thinking; `None` if the thinking is left out.
    pub field: Option<Field>,
    pub line_end: &'static [u8],
}

impl ExtraChunk<'_> {
    /// Writes one chunk for each run, the first with the role. `alone` is the number of runs that may still have a separate chunk;
    /// the rest share one chunk for each field. With `merges`, there is one chunk for all. Returns the number of chunks.
    pub fn write(
        &self,
        parts: &Parts,
        runs: &[Run],
        mut role: Option<&[u8]>,
        merges: bool,
        alone: &mut usize,
        out: &mut Vec<u8>,
    ) -> memory::Result<u64> {
        let single = if merges { 0 } else { runs.len().min(*alone) };
        *alone -= single;
        let (single, joined) = runs.split_at(single);
        let has = |target: Target| joined.iter().any(|run| run.target() == target);
        let mut written = single.len() as u64;
        for run in single {
            let runs = slice::from_ref(run);
            self.write_one(
                role.take(),
                |target| target == run.target(),
                out,
                |target, out| write_value(self.layout, parts, runs, target, false, out),
            )?;
        }
        let value = |target, out: &mut Vec<u8>| write_value(self.layout, parts, joined, target, false, out);
        if merges && !joined.is_empty() {
            self.write_one(role, has, out, value)?;
            return Ok(1);
        }
        for field in Target::ALL.into_iter().filter(|&target| has(target)) {
            written += 1;
            self.write_one(role.take(), |target| target == field, out, value)?;
        }
        Ok(written)
    }

    /// Writes one chunk with the fields for which `has` returns true.
    pub fn write_one(
        &self,
        role: Option<&[u8]>,
        has: impl Fn(Target) -> bool,
        out: &mut Vec<u8>,
        value: impl Fn(Target, &mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<()> {
        let Layout { has_list, text, extra, .. } = self.layout;
        let is_left_out = |target| target == Target::Reasoning && self.field.is_none();
        // If all of the text is thinking that is left out, the chunk has empty text.
        let is_empty =
            Target::ALL.into_iter().any(&has) && !Target::ALL.into_iter().any(|it| has(it) && !is_left_out(it));
        let keeps_text = self.layout.keeps_text || is_empty;
        append(out, self.head)?;
        if *has_list {
            append(out, json::decimal(self.index, &mut [0; 20]).as_bytes())?;
        }
        append(out, extra.before_text)?;
        if let Some(role) = role {
            append_all(out, &[b"\"role\":", role, b","])?;
        }
        let mut before = &b"\""[..];
        if keeps_text {
            append_all(out, &[b"\"", text.as_bytes(), b"\":"])?;
            if has(Target::Content) {
                value(Target::Content, out)?
            } else {
                append(out, b"\"\"")?
            }
            before = b",\"";
        }
        for target in Target::ALL {
            if has(target) && !is_left_out(target) && !(keeps_text && target == Target::Content) {
                append_all(out, &[before, name(target, self.layout, self.field).as_bytes(), b"\":"])?;
                value(target, out)?;
                before = b",\"";
            }
        }
        append_all(out, &[extra.end, self.line_end, if extra.is_event { self.line_end } else { b"" }])
    }
}

/// Writes a chunk without text that begins like the kept event.
pub fn write_empty(kept: &Head, out: &mut Vec<u8>) -> memory::Result<()> {
    let head = &mut Vec::new();
    kept.write(head)?;
    let chunk = ExtraChunk { layout: kept.layout, head, index: 0, field: None, line_end: kept.line_end };
    chunk.write_one(None, |_| false, out, |_, _| Ok(()))
}
