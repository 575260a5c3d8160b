//! Extra chunks of a stream.

use std::slice;

use crate::json;
use crate::memory::{self, append, append_all};
use crate::sse::options::Field;
use crate::sse::text::{Parts, Run, Target};

/// Writes extra chunks of the stream, for text of one choice that its own event has no place for.
pub struct ExtraChunk<'a> {
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
            self.write_one(role.take(), target, out, |out| parts.write(runs, target, false, out))?;
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
        append(out, self.head)?;
        append(out, json::decimal(self.index, &mut [0; 20]).as_bytes())?;
        append(out, b",\"delta\":{")?;
        if let Some(role) = role {
            append_all(out, &[b"\"role\":", role, b","])?;
        }
        append_all(out, &[b"\"", target.name(self.field).as_bytes(), b"\":"])?;
        value(out)?;
        append_all(out, &[b"},\"finish_reason\":null}]}", self.line_end, self.line_end])
    }
}
