//! Leaves out the middle of very long lines. A line in which anything looks as if it mattered stays whole.

use std::sync::LazyLock;

use super::pass::{Pass, Promise, Stage};
use crate::compress::{
    invocation::input::Input,
    lines::{
        class::Class,
        layout::Text,
        patterns::{Patterns, set},
    },
    text::{
        bytes::is_boundary,
        edit::{Edit, EditKind},
    },
};

/// Under a budget, a line longer than this share of it is cut in its middle.
pub const LINE_SHARE: usize = 4;
/// A line longer than this is cut to its first and last bytes.
const LONGEST: usize = 2000;
const HEAD: usize = 600;
const TAIL: usize = 400;

/// Paths, places in files, stack frames, errors, verdicts, exit statuses, diff markers, addresses.
static PRECIOUS: LazyLock<Patterns> = LazyLock::new(|| {
    let patterns = [
        r#"(?:^|[\s"'(<\[=:,])(?:~|\.{1,2})?/[\w.@+-]+"#,
        r"\b[\w.-]+/[\w./-]*\.[A-Za-z]{1,5}\b",
        r"\b[A-Za-z]:\\\w",
        r"[\w-]\.[A-Za-z]{1,5}:\d+",
        r"^\s+at \S|^#\d+ |\bline \d+",
        // Words may be parts of names: `NullPointerException`, `OOMKilled`.
        r"(?i)(?:errors?|fail(?:ed|ures?)?|fatal|panic(?:ked)?|exceptions?|traceback|denied|abort(?:ed)?|killed|refused|timed out|timeout)\b",
        r"(?i)\b(?:assert|cannot |could not |unable to |not found\b|no such |no space left)|left == right",
        r"\bE(?:ACCES|ADDR|AI_|BUSY|CONN|EXIST|HOST|INVAL|MFILE|NET|NO[A-Z]{3}|PERM|PIPE|TIMEDOUT)",
        r"(?i)\b(?:passed|succeeded|success|successful)\b|\bPASS\b|\bOK\b",
        r"(?i)\b(?:exit(?:ed)?|status|code|return(?:ed)?)\b.{0,12}\d",
        r"^(?:\+\+\+|---|@@|diff --git|[+-])",
        r"\b[a-z][a-z0-9+.-]*://",
    ];
    set(&patterns)
});

/// Leaves out the middle of long lines.
pub struct LongLines;

impl Pass for LongLines {
    fn id(&self) -> &str {
        "long-lines"
    }

    fn promise(&self) -> Promise {
        Promise::Select
    }

    fn stage(&self) -> Stage {
        Stage::General
    }

    fn edits(&self, text: Text<'_>, _: &Input, limit: usize) -> Vec<Edit> {
        edits(text, limit)
    }
}

/// Returns edits that cut the middle out of long lines; under a budget, enough that several of them fit.
fn edits(text: Text<'_>, limit: usize) -> Vec<Edit> {
    let mut edits = Vec::new();
    let most = if text.bytes.len() > limit { limit / LINE_SHARE / 2 } else { usize::MAX };
    if text.bytes.len() <= LONGEST {
        return edits;
    }
    for line in 0..text.len() {
        let bytes = text.line(line);
        if bytes.len() <= LONGEST {
            continue;
        }
        let class = text.class(line);
        if class.must_stay() || class.has(Class::HUNK) || PRECIOUS.is_match(bytes) {
            continue;
        }
        edits.push(middle(text, line, HEAD.min(most), TAIL.min(most)));
    }
    edits
}

/// Returns the edit that leaves about `head` and `tail` bytes of a longer line.
pub fn middle(text: Text<'_>, line: usize, head: usize, tail: usize) -> Edit {
    let span = text.span(line);
    let mut start = span.start + head;
    let mut end = span.start + text.line(line).len() - tail;
    // A character has at most three bytes after its first.
    for _ in 0..3 {
        start -= usize::from(!is_boundary(text.bytes, start));
        end += usize::from(!is_boundary(text.bytes, end));
    }
    Edit { range: start..end, kind: EditKind::Middle }
}
