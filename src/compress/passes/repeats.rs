//! Leaves out repeated lines: adjacent repeats of lines and blocks, runs of blank lines, progress; then blocks that repeat
//! something further up. It must never change hunks and error regions.

use std::{collections::HashMap, sync::LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};
use twox_hash::XxHash3_64;

use super::pass::{Pass, Promise, Stage};
use crate::compress::{
    invocation::{files::shows_files, input::Input},
    lines::{
        class::Class,
        failures,
        layout::Text,
        patterns::{Patterns, set},
    },
    text::edit::{Edit, EditKind},
};

/// The longest block whose adjacent repeats are found, in lines.
const LONGEST_PERIOD: usize = 64;
/// The minimum number of lines, or bytes, of a block that is left out because it is also further up.
const FEWEST_LINES: usize = 3;
const FEWEST_BYTES: usize = 120;
/// The number of lines at each end of a text that stay, because they show what the text is and how it ended.
const EDGE: usize = 3;
/// Bars that programs draw instead of a percentage: `[=====>   ]`, `#####`, `████`.
const BARS: [&str; 4] = ["=====", "#####", "█████", "━━━━━"];

const UNIT: &str = "(?i:b|kb|mb|gb|kib|mib|gib|bytes|k|m|g|t|s|ms|min|h|d|it|eta)";

/// Words that may differ between lines of one progress: figures, bars and spinners.
static VARIES: LazyLock<Patterns> = LazyLock::new(|| {
    // Programs draw with punctuation, and with the characters for lines, blocks and Braille patterns.
    let drawn = r"(?:[[:punct:]]|\xe2[\x94-\x97\xa0-\xa3][\x80-\xbf])*";
    let figures = format!("^{drawn}(?:[0-9]+{UNIT}?(?:/{UNIT})?{drawn})*$");
    set(&[figures, format!("^{drawn}{UNIT}(?:/{UNIT})?{drawn}$")])
});

/// Words of `VARIES` that must not differ, because they are names: a version or an address, and a whole number (of a disk, a
/// step, a core).
static FIXED: LazyLock<Patterns> =
    LazyLock::new(|| set(&[r"[0-9]\.[0-9]+\.[0-9]", "^[[:punct:]--%]*[0-9]+[[:punct:]--%]*$"]));

/// The text after a whole number that makes the number a count.
static COUNTED: LazyLock<Patterns> = LazyLock::new(|| set(&[format!("^(?:of$|/|{UNIT}(?:$|[^A-Za-z]))")]));

/// A pass that leaves out adjacent repeats, runs of blank lines and progress.
pub struct Repeats;

impl Pass for Repeats {
    fn id(&self) -> &str {
        "repeats"
    }

    fn promise(&self) -> Promise {
        Promise::Select
    }

    fn stage(&self) -> Stage {
        Stage::General
    }

    fn edits(&self, text: Text<'_>, input: &Input, _: usize) -> Vec<Edit> {
        // If a program printed a file, only repeats are left out, and a marker counts them. Lines of a file that look like progress
        // are not progress.
        adjacent(text, shows_files(input))
    }
}

/// A pass that leaves out blocks of lines that are also further up. It does not change the text of a file that a program printed:
/// a line that occurs twice in the file stays twice.
pub struct RepeatsAbove;

impl Pass for RepeatsAbove {
    fn id(&self) -> &str {
        "repeats-above"
    }

    fn promise(&self) -> Promise {
        Promise::Select
    }

    fn stage(&self) -> Stage {
        Stage::General
    }

    fn matches(&self, _: &str, input: &Input) -> bool {
        !shows_files(input)
    }

    fn edits(&self, text: Text<'_>, _: &Input, _: usize) -> Vec<Edit> {
        distant(text)
    }
}

fn is_movable(text: Text<'_>, line: usize) -> bool {
    let class = text.class(line);
    !class.must_stay() && !class.has(Class::HUNK)
}

fn hash(text: Text<'_>, line: usize) -> u64 {
    XxHash3_64::oneshot(text.line(line))
}

fn same(text: Text<'_>, a: usize, b: usize) -> bool {
    text.line(a) == text.line(b)
}

/// Returns edits for adjacent repeats. If the text is not the contents of files (`of_files`), they also leave out runs of blank
/// lines, and all but the last line of a run of progress lines.
fn adjacent(text: Text<'_>, of_files: bool) -> Vec<Edit> {
    let mut edits = Vec::new();
    // In the contents of a file, neither times before lines nor progress are looked for.
    let failures = failures::built_in();
    let is_stamped = !of_files && text.is_stamped(failures);
    let said = |line: usize| if is_stamped { text.unstamped(line, failures) } else { text.line(line) };
    let may_show_progress = if of_files { vec![false; text.len()] } else { with_signs_of_progress(text) };
    // For each value of the hash's last byte, the last line, with its hash. A collision can only hide a repeat.
    let mut last = [(0, usize::MAX); 256];
    let mut line = 0;
    while line < text.len() {
        if !is_movable(text, line) {
            line += 1;
            continue;
        }
        let run = blank_run(text, line);
        if run > 0 {
            if run > 1 && !of_files {
                edits.push(Edit::leave_out(text.spans(line + 1..line + run)));
            }
            line += run;
            continue;
        }
        let run = if may_show_progress[line] { progress_run(text, line, said) } else { 0 };
        if run > 2 {
            edits.push(Edit::leave_out(text.spans(line..line + run - 1)));
            line += run;
            continue;
        }
        let hash = XxHash3_64::oneshot(said(line));
        let (other, before) = std::mem::replace(&mut last[(hash & 0xff) as usize], (hash, line));
        if hash == other && before < line && line - before <= LONGEST_PERIOD {
            let period = line - before;
            let long =
                (line..text.len()).take_while(|&next| is_movable(text, next) && said(next) == said(next - period));
            let repeats = long.count() / period * period;
            // If the lines of a run have different times, its last line stays, because it has the last time.
            let has_times = (line..line + repeats).any(|next| !same(text, next, next - period));
            let gone = repeats - usize::from(has_times).min(repeats);
            if gone > 0 {
                edits.push(Edit { range: text.spans(line..line + gone), kind: EditKind::AsAbove });
            }
            if repeats > 0 {
                line += repeats;
                continue;
            }
        }
        line += 1;
    }
    edits
}

fn blank_run(text: Text<'_>, line: usize) -> usize {
    (line..text.len()).take_while(|&line| text.is_blank(line) && is_movable(text, line)).count()
}

/// Returns, for each line, whether it looks like a progress line. The text is searched as a whole, because most lines have no sign
/// of progress.
fn with_signs_of_progress(text: Text<'_>) -> Vec<bool> {
    static ANY_BAR: LazyLock<AhoCorasick> = LazyLock::new(|| {
        AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(BARS).expect("the bars are few")
    });
    let mut has_sign = vec![false; text.len()];
    mark_lines(text, memchr::memchr_iter(b'%', text.bytes), &mut has_sign);
    mark_lines(text, memchr::memmem::find_iter(text.bytes, b"B/"), &mut has_sign);
    mark_lines(text, ANY_BAR.find_iter(text.bytes).map(|bar| bar.start()), &mut has_sign);
    has_sign
}

/// Marks the lines of these offsets, which are in ascending order.
fn mark_lines(text: Text<'_>, places: impl Iterator<Item = usize>, marks: &mut [bool]) {
    let mut line = 0;
    for place in places {
        while text.start(line + 1) <= place {
            line += 1;
        }
        marks[line] = true;
    }
}

/// Returns the number of lines, from `first` on, that differ only in their progress. `said` returns a line in the form in which
/// lines are compared.
fn progress_run<'a>(text: Text<'a>, first: usize, said: impl Fn(usize) -> &'a [u8]) -> usize {
    let Some(progress) = Progress::read(said(first)) else { return 0 };
    let mut percent = progress.percent;
    let goes_on = |&line: &usize| {
        let next = Progress::read(said(line)).filter(|next| is_movable(text, line) && progress.is_of(next));
        // Percentages of progress only grow. In the rows of a table, they also fall.
        next.is_some_and(|next| std::mem::replace(&mut percent, next.percent) <= next.percent)
    };
    1 + (first + 1..text.len()).take_while(goes_on).count()
}

/// A line that may report the progress of something.
struct Progress<'a> {
    line: &'a [u8],
    percent: Option<f32>,
}

impl<'a> Progress<'a> {
    fn read(line: &'a [u8]) -> Option<Progress<'a>> {
        if line.len() > 400 {
            return None;
        }
        let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        let mut percents = memchr::memchr_iter(b'%', line).filter_map(|end| {
            let start = line[..end].iter().rposition(|byte| !is_number(byte)).map_or(0, |at| at + 1);
            str::from_utf8(&line[start..end]).ok()?.parse().ok()
        });
        let percent = percents.next();
        // A line with two percentages is a row of a table.
        let is_one = percents.next().is_none();
        (is_one && (percent.is_some() || is_bar(line) || is_counter(line))).then_some(Progress { line, percent })
    }

    /// Returns whether both lines are about the same progress: they differ only in figures and bars.
    fn is_of(&self, other: &Progress<'_>) -> bool {
        self.words().eq(other.words())
    }

    /// Returns the words that all lines about the same progress share: names, and whole numbers without a unit.
    fn words(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut words = self.line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).peekable();
        std::iter::from_fn(move || {
            loop {
                let word = words.next()?;
                let counts = |next: &&[u8]| COUNTED.is_match(next);
                if !VARIES.is_match(word) || FIXED.is_match(word) && !words.peek().is_some_and(counts) {
                    return Some(word);
                }
            }
        })
    }
}

/// Returns whether the line counts bytes: `1.032GB/1.329GB`.
fn is_counter(line: &[u8]) -> bool {
    memchr::memmem::find_iter(line, b"B/").any(|at| {
        let unit = line[..at].iter().rev().take_while(|byte| b"kKMGTi".contains(byte)).count();
        line[..at - unit].last().is_some_and(u8::is_ascii_digit) && line.get(at + 2).is_some_and(u8::is_ascii_digit)
    })
}

fn is_bar(line: &[u8]) -> bool {
    let Some(at) = memchr::memchr3(b'#', b'=', 0xe2, line) else { return false };
    BARS.iter().any(|bar| line[at..].starts_with(bar.as_bytes())) && line.iter().any(u8::is_ascii_digit)
}

/// Returns edits for blocks of lines that are also further up. The first copy stays.
fn distant(text: Text<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    // This table hashes with random keys, so that nobody can write lines that all collide in it.
    let mut first: HashMap<u64, usize> = HashMap::new();
    first.reserve(text.len());
    let end = text.len().saturating_sub(EDGE);
    let mut line = 0;
    while line < end {
        if text.is_blank(line) {
            line += 1;
            continue;
        }
        let before = *first.entry(hash(text, line)).or_insert(line);
        if before < line && line >= EDGE {
            let long = (line..end).take_while(|&next| {
                let copy = before + (next - line);
                copy < line && is_movable(text, next) && same(text, next, copy)
            });
            let lines = long.count();
            let range = text.spans(line..line + lines);
            if lines >= FEWEST_LINES || range.len() >= FEWEST_BYTES {
                edits.push(Edit { range, kind: EditKind::AsAbove });
                line += lines;
                continue;
            }
        }
        line += 1;
    }
    edits
}
