//! Writes stretches of an answer's text as JSON values of fields. A call's arguments are JSON already, but clients expect them in a
//! string.

use crate::answer::{CallPart, Parts, Run, RunKind, Target};
use crate::json::{decimal, escape, join_lines};
use crate::memory::{self, append, append_all};

impl Parts {
    /// Writes the value of a field: its text in `runs`. `is_whole` means an answer that is not a stream, in which calls
    /// have no number.
    pub fn write(&self, runs: &[Run], target: Target, is_whole: bool, out: &mut Vec<u8>) -> memory::Result<()> {
        let mut runs = runs.iter().filter(|run| run.target() == target);
        if target == Target::Calls {
            return self.write_calls(runs, is_whole, out);
        }
        append(out, b"\"")?;
        runs.try_for_each(|run| escape(self.text_of(run), out))?;
        append(out, b"\"")
    }

    /// Writes the list of the whole calls in `runs`, on one line.
    pub fn write_objects(&self, runs: &[Run], out: &mut Vec<u8>) -> memory::Result<()> {
        let start = out.len();
        let mut before = &b"["[..];
        for run in runs {
            let (RunKind::Object { index, .. }, Some([id, name, arguments])) = (run.kind, self.object(run)) else {
                continue;
            };
            append_all(out, &[before, b"{\"id\":\""])?;
            escape(id, out)?;
            append_all(out, &[b"\",\"function\":{\"index\":", decimal(index, &mut [0; 20]).as_bytes()])?;
            append(out, b",\"name\":\"")?;
            escape(name, out)?;
            append_all(out, &[b"\",\"arguments\":", arguments, b"}}"])?;
            before = b",";
        }
        join_lines(&mut out[start..]);
        append(out, b"]")
    }

    /// Writes a list of calls. Stretches of one call become one entry, since clients that look for the entries of a call take
    /// the first one.
    fn write_calls<'a>(
        &self,
        runs: impl Iterator<Item = &'a Run>,
        is_whole: bool,
        out: &mut Vec<u8>,
    ) -> memory::Result<()> {
        let mut open = None;
        append(out, b"[")?;
        for run in runs {
            let index = match run.kind {
                RunKind::Call { index, .. } | RunKind::Arguments { index } => index,
                _ => continue,
            };
            if open != Some(index) {
                let before = if open.is_some() { &b"\"}},{"[..] } else { b"{" };
                append(out, before)?;
                open = Some(index);
                if !is_whole {
                    append_all(out, &[b"\"index\":", decimal(index, &mut [0; 20]).as_bytes(), b","])?;
                }
                if let Some(CallPart::Begin { id, name }) = self.call_part(run) {
                    append(out, b"\"id\":\"")?;
                    escape(id, out)?;
                    append(out, b"\",\"type\":\"function\",\"function\":{\"name\":\"")?;
                    escape(name, out)?;
                    append(out, b"\",\"arguments\":\"")?;
                    continue;
                }
                append(out, b"\"function\":{\"arguments\":\"")?;
            }
            escape(self.text_of(run), out)?;
        }
        append_all(out, &[if open.is_some() { b"\"}}" } else { b"" }, b"]"])
    }
}
