//! A2 and A3: lines that are there already. Adjacent repeats of lines and blocks, blank runs, progress; then blocks that
//! repeat something further up. Hunks and error regions are left alone.

use std::{collections::HashMap, sync::LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};
use twox_hash::XxHash3_64;

use super::{
    draft::{Edit, How},
    failures::Class,
    text::Text,
};

/// The longest block, in lines, whose adjacent repeats are seen.
const LONGEST_PERIOD: usize = 64;
/// A block that repeats one further up has at least so many lines, or bytes.
const FEWEST_LINES: usize = 3;
const FEWEST_BYTES: usize = 120;
/// The first and last lines of a text say what it is and how it ended.
const EDGE: usize = 3;
/// `[=====>   ]`, `#####`, `████`: drawn in place of a percentage.
const BARS: [&str; 4] = ["=====", "#####", "█████", "━━━━━"];

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

/// A2: adjacent repeats, blank runs and all but the last of a run of progress lines.
pub fn adjacent(text: Text<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    let may_show_progress = with_signs_of_progress(text);
    // The last lines with their hashes; a collision only hides a repeat.
    let mut last = [(0, usize::MAX); 256];
    let mut line = 0;
    while line < text.len() {
        if !is_movable(text, line) {
            line += 1;
            continue;
        }
        let run = blank_run(text, line);
        if run > 0 {
            if run > 1 {
                edits.push(Edit::leave_out(text.spans(line + 1..line + run)));
            }
            line += run;
            continue;
        }
        let run = if may_show_progress[line] { progress_run(text, line) } else { 0 };
        if run > 2 {
            edits.push(Edit::leave_out(text.spans(line..line + run - 1)));
            line += run;
            continue;
        }
        let hash = hash(text, line);
        let (other, before) = std::mem::replace(&mut last[(hash & 0xff) as usize], (hash, line));
        if hash == other && before < line && line - before <= LONGEST_PERIOD {
            let period = line - before;
            let long = (line..text.len()).take_while(|&next| is_movable(text, next) && same(text, next, next - period));
            let repeats = long.count() / period * period;
            if repeats > 0 {
                edits.push(Edit { range: text.spans(line..line + repeats), how: How::AsAbove });
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

/// Of each line, whether it has what progress lines have. The text is searched as a whole, since most lines have nothing.
fn with_signs_of_progress(text: Text<'_>) -> Vec<bool> {
    static ANY_BAR: LazyLock<AhoCorasick> = LazyLock::new(|| {
        AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(BARS).expect("the bars are few")
    });
    let mut has_sign = vec![false; text.len()];
    mark_lines(text, memchr::memchr_iter(b'%', text.bytes), &mut has_sign);
    mark_lines(text, ANY_BAR.find_iter(text.bytes).map(|bar| bar.start()), &mut has_sign);
    has_sign
}

/// Marks the lines of these places, which are in their order.
fn mark_lines(text: Text<'_>, places: impl Iterator<Item = usize>, marks: &mut [bool]) {
    let mut line = 0;
    for place in places {
        while text.start(line + 1) <= place {
            line += 1;
        }
        marks[line] = true;
    }
}

fn progress_run(text: Text<'_>, first: usize) -> usize {
    let Some(words) = progress_words(text.line(first)) else { return 0 };
    let is_next = |line| progress_words(text.line(line)).is_some_and(|next| next.eq(words.clone()));
    1 + (first + 1..text.len()).take_while(|&line| is_movable(text, line) && is_next(line)).count()
}

/// A progress line's words, the units of its figures apart. `None` if the line shows no progress.
fn progress_words(line: &[u8]) -> Option<impl Iterator<Item = &[u8]> + Clone> {
    const UNITS: [&[u8]; 19] = [
        b"b", b"kb", b"mb", b"gb", b"kib", b"mib", b"gib", b"s", b"ms", b"m", b"min", b"h", b"eta", b"k", b"g", b"it",
        b"d", b"bytes", b"t",
    ];
    let percent = || memchr::memchr(b'%', line).is_some_and(|at| at > 0 && line[at - 1].is_ascii_digit());
    if line.len() > 400 || !(percent() || is_bar(line)) {
        return None;
    }
    let is_unit = |word: &[u8]| UNITS.iter().any(|unit| word.eq_ignore_ascii_case(unit));
    let words = line.split(|byte| !byte.is_ascii_alphabetic());
    Some(words.filter(move |word| !word.is_empty() && !is_unit(word)))
}

fn is_bar(line: &[u8]) -> bool {
    let Some(at) = memchr::memchr3(b'#', b'=', 0xe2, line) else { return false };
    BARS.iter().any(|bar| line[at..].starts_with(bar.as_bytes())) && line.iter().any(u8::is_ascii_digit)
}

/// A3: blocks of lines that are there already, further up. The first copy stays.
pub fn distant(text: Text<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    // With keys of its own: lines can be made whose hashes would meet in one place of a table that takes them as they are.
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
                edits.push(Edit { range, how: How::AsAbove });
                line += lines;
                continue;
            }
        }
        line += 1;
    }
    edits
}
