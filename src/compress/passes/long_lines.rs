//! Leaves out the middle of very long lines. A line stays whole if anything in it looks important, unless a budget requires more.
//! Under a budget, encoded data is removed from every line. If a line is still too long, only its ends stay, and the text in its
//! middle that reports a failure.

use std::{ops::Range, sync::LazyLock};

use super::pass::{Pass, Promise, Stage};
use crate::compress::{
    invocation::input::Input,
    lines::{
        class::Class,
        failures,
        layout::Text,
        patterns::{Patterns, set},
    },
    text::{
        bytes::is_boundary,
        edit::{Edit, EditKind, Inner},
    },
};

/// Under a budget, a line that is longer than this share of the budget loses its middle.
pub const LINE_SHARE: usize = 4;
/// A line that is longer than this loses its middle; these bytes at its beginning and its end stay.
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

/// A pass that leaves out the middle of long lines.
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

/// Returns edits that cut the middle out of long lines. Under a budget, the rest of each line is short enough for several to fit.
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
        if limit < usize::MAX && !class.has(Class::HUNK) {
            let start = text.span(line).start;
            let found = blobs(bytes, |_| FEWEST_DIGITS);
            if !found.is_empty() {
                edits.extend(found.into_iter().map(|(range, inner)| Edit {
                    range: start + range.start..start + range.end,
                    kind: EditKind::Middle(inner),
                }));
                continue;
            }
        }
        if class.must_stay() || class.has(Class::HUNK) || PRECIOUS.is_match(bytes) {
            continue;
        }
        edits.push(middle(text, line, HEAD.min(most), TAIL.min(most)));
    }
    edits
}

/// Returns the edit that leaves about `head` and `tail` bytes at the two ends of a longer line.
fn middle(text: Text<'_>, line: usize, head: usize, tail: usize) -> Edit {
    let start = text.span(line).start;
    let range = whole_characters(text.line(line), head..text.line(line).len() - tail);
    Edit { range: start + range.start..start + range.end, kind: EditKind::Middle(Inner::Any) }
}

/// Returns the range, enlarged so that it does not cut a character.
fn whole_characters(bytes: &[u8], mut range: Range<usize>) -> Range<usize> {
    // A character has at most three bytes after its first.
    for _ in 0..3 {
        range.start -= usize::from(!is_boundary(bytes, range.start));
        range.end += usize::from(!is_boundary(bytes, range.end));
    }
    range
}

/// Returns edits that leave about `most` bytes of a longer line.
pub fn shortened(text: Text<'_>, line: usize, most: usize) -> Vec<Edit> {
    let start = text.span(line).start;
    let edit = |range: Range<usize>| Edit {
        range: start + range.start..start + range.end,
        kind: EditKind::Middle(Inner::Any),
    };
    inner(text.line(line), most).into_iter().map(edit).collect()
}

/// The length of a marker inside a line, with the line ends around it.
const MARKER: usize = 48;

/// Returns the parts to remove from a line that is longer than `most` bytes. Its two ends stay, and the text around the first
/// and the last word in its middle that says that something failed.
pub fn inner(line: &[u8], most: usize) -> Vec<Range<usize>> {
    let plain = most / 2..line.len() - (most / 2 - 8);
    let mut found = failures::built_in().failing_words(line, plain.clone());
    let Some(first) = found.next() else { return vec![whole_characters(line, plain)] };
    let around = most / 4;
    // The end of the last word that reports a failure, unless the stretch around the first such word contains it.
    let last = found.last().filter(|&last| last > first + around);
    let ends_beside = |stretches: usize| most.saturating_sub(stretches * (around + MARKER)) / 2;
    let last = last.filter(|_| ends_beside(2) >= most / 8);
    let mut gone = Vec::new();
    let ends = ends_beside(1 + usize::from(last.is_some())).max(most / 8);
    let mut at = ends;
    for end in [Some(first), last].into_iter().flatten() {
        let start = end.saturating_sub(around / 3).max(at);
        gone.push(at..start);
        at = (start + around).min(line.len() - ends).max(at);
    }
    gone.push(at..line.len() - ends);
    gone.retain(|gone| gone.len() > MARKER);
    gone.into_iter().map(|gone| whole_characters(line, gone)).collect()
}

/// The fewest digits in a row that count as data.
pub const FEWEST_DIGITS: usize = 1000;

/// Returns runs of base64 or hexadecimal digits that nobody reads. `least` returns the least number of digits of a run that begins
/// at a place. A path may consist of the same characters, but has a slash now and then.
pub fn blobs(line: &[u8], least: impl Fn(usize) -> usize) -> Vec<(Range<usize>, Inner)> {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/_-=".contains(byte);
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let end = line[at..].iter().position(|byte| !is_digit(byte)).map_or(line.len(), |len| at + len);
        let run = &line[at..end];
        if run.len() >= least(at) {
            let others = run.iter().filter(|byte| !byte.is_ascii_alphanumeric()).count();
            let inner = if run.iter().all(u8::is_ascii_hexdigit) { Inner::Hex } else { Inner::Base64 };
            if others * 16 <= run.len() {
                found.push((at..end, inner));
            }
        }
        at = end + 1;
    }
    found
}
