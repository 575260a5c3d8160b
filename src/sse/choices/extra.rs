//! Extra chunks of a stream, and the fields of a choice that have its text.

use std::slice;

use super::layout::{CallForm, Layout};
use crate::json;
use crate::memory::{self, append, append_all};
use crate::sse::options::Field;
use crate::sse::text::{Parts, Run, Target};

/// Returns the name of the field that such text goes to.
pub fn name(target: Target, layout: &Layout, field: Field) -> &'static str {
    match target {
        Target::Content => layout.text,
        _ => target.name(field),
    }
}

/// Writes the value of a field: what `runs` have for it. `is_body` is said of an answer that is not a stream.
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

/// Writes extra chunks of the stream, for text of one choice that its own event has no place for.
pub struct ExtraChunk<'a> {
    pub layout: &'static Layout,
    pub head: &'a [u8],
    pub index: u64,
    pub field: Field,
    pub line_end: &'static [u8],
}

impl ExtraChunk<'_> {
    /// Writes one chunk for each run, the first with the role. `alone` counts how many more may be; after these, there is one
    /// chunk for each field. Returns how many it wrote.
    pub fn write(
        &self,
        parts: &Parts,
        runs: &[Run],
        mut role: Option<&[u8]>,
        alone: &mut usize,
        out: &mut Vec<u8>,
    ) -> memory::Result<u64> {
        let (single, joined) = runs.split_at(runs.len().min(*alone));
        *alone -= single.len();
        let has = |&target: &Target| joined.iter().any(|run| run.target() == target);
        let single = single.iter().map(|run| (slice::from_ref(run), run.target()));
        let joined = Target::ALL.into_iter().filter(has).map(|target| (joined, target));
        let mut written = 0;
        for (runs, target) in single.chain(joined) {
            written += 1;
            self.write_one(role.take(), target, out, |out| write_value(self.layout, parts, runs, target, false, out))?;
        }
        Ok(written)
    }

    pub fn write_one(
        &self,
        role: Option<&[u8]>,
        target: Target,
        out: &mut Vec<u8>,
        value: impl FnOnce(&mut Vec<u8>) -> memory::Result<()>,
    ) -> memory::Result<()> {
        let Layout { has_list, text, keeps_text, extra, .. } = self.layout;
        append(out, self.head)?;
        if *has_list {
            append(out, json::decimal(self.index, &mut [0; 20]).as_bytes())?;
        }
        append(out, extra.before_text)?;
        if let Some(role) = role {
            append_all(out, &[b"\"role\":", role, b","])?;
        }
        if *keeps_text && target != Target::Content {
            append_all(out, &[b"\"", text.as_bytes(), b"\":\"\","])?;
        }
        append_all(out, &[b"\"", name(target, self.layout, self.field).as_bytes(), b"\":"])?;
        value(out)?;
        append_all(out, &[extra.end, self.line_end, if extra.is_event { self.line_end } else { b"" }])
    }
}
