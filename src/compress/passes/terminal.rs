//! Turns a text into the text that a terminal without a width would show. Colours, titles, links and overwritten text are
//! removed.
//!
//! A line without ESC, CR or BS stays unchanged. If a program clears the screen, the old page stays above the new one, as in a
//! terminal's scrollback, except for programs that run again whenever a file changes (`watch.rs`). Each character takes one column;
//! tabs move to multiples of eight.
//!
//! A failure that was overwritten is shown nevertheless, with the lines that belong to it: the terminal may have had another size,
//! and the reader of the text did not see the failure before it was overwritten.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use memchr::{memchr, memchr3, memrchr};
use twox_hash::XxHash3_64;

use super::{
    pass::{Pass, Promise, Stage},
    screen::Screen,
    watch::first_page,
};
use crate::compress::{
    invocation::input::Input,
    lines::{
        class::Class,
        failures,
        layout::{Layout, Text},
    },
    text::{
        bytes::{is_blank, letters},
        controls::{BS, ESC, has_controls, without_colours, written},
        edit::{Edit, EditKind},
    },
};

/// The id of the filter that turns a text into a terminal's view of it.
pub const TERMINAL: &str = "terminal";

/// A pass that turns a text into a terminal's view of it.
pub struct Terminal;

impl Pass for Terminal {
    fn id(&self) -> &str {
        TERMINAL
    }

    fn promise(&self) -> Promise {
        Promise::Normalise
    }

    fn stage(&self) -> Stage {
        Stage::Terminal
    }

    fn edits(&self, text: Text<'_>, input: &Input, _: usize) -> Vec<Edit> {
        edits(text.bytes, text.goes_on, input)
    }
}

/// Returns edits that turn the text into a terminal's view of it. If that view would be longer than the text, the edits show all
/// text that was written instead. `goes_on` means that the terminal showed other text above this text; text that the program writes
/// into that other text is put above the rest.
fn edits(bytes: &[u8], goes_on: bool, input: &Input) -> Vec<Edit> {
    if !has_controls(bytes) {
        return Vec::new();
    }
    let mut screen = Screen::new(bytes, goes_on);
    let mut control = 0;
    let mut at = 0;
    while at < bytes.len() {
        let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |found| at + found);
        if control <= at {
            control = memchr3(ESC, b'\r', BS, &bytes[at..]).map_or(bytes.len(), |found| at + found);
        }
        let next = (end + 1).min(bytes.len());
        if control < end {
            if !screen.coloured(at, end) {
                screen.interpret(at, end, next);
            }
            control = 0;
        } else {
            screen.plain(at, end, next);
        }
        if screen.filled > bytes.len() || screen.moves_rows {
            return all_written(bytes);
        }
        if end < bytes.len() {
            screen.line_feed(next);
        }
        at = next;
    }
    if screen.pages() > 0
        && let Some(page) = first_page(&screen, input)
    {
        screen.forget_before(page);
    }
    let shown_from = screen.shown_from;
    let mut edits = screen.edits();
    bring_back(bytes, shown_from, &mut edits);
    if is_shorter(&edits) { edits } else { all_written(bytes) }
}

fn is_shorter(edits: &[Edit]) -> bool {
    let shown = |edit: &Edit| if let EditKind::Replace(text) = &edit.kind { text.len() } else { 0 };
    edits.iter().map(shown).sum::<usize>() < edits.iter().map(|edit| edit.range.len()).sum()
}

/// If an edit would hide a failure or a line of an error region, makes the edit show all text that was written after
/// `shown_from`. Of several frames in one line, only frames with failures are shown.
fn bring_back(bytes: &[u8], shown_from: usize, edits: &mut [Edit]) {
    let failures = failures::built_in();
    let moves = |edit: &Edit| without_colours(&bytes[edit.range.clone()]).is_none();
    if !failures.may_say_failure(bytes) || !edits.iter().any(moves) {
        return;
    }
    let mut all = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let spans = edits.iter().map(|edit| {
        all.extend_from_slice(&bytes[at..edit.range.start]);
        at = edit.range.end;
        let start = all.len();
        all.extend(written(&bytes[edit.range.start.max(shown_from.min(edit.range.end))..edit.range.end]));
        start..all.len()
    });
    let spans: Vec<Range<usize>> = spans.collect();
    all.extend_from_slice(&bytes[at..]);
    let layout = Layout::new(&all, failures);
    let text = Text::new(&all, &layout);
    for (edit, span) in edits.iter_mut().zip(spans) {
        let lines = text.line_at(span.start)..text.line_at(span.end.max(1) - 1) + 1;
        if let EditKind::Replace(shown) = &mut edit.kind
            && is_lost(text, lines.clone(), shown)
        {
            let is_one_line = !bytes[edit.range.clone()].trim_ascii_end().contains(&b'\n');
            *shown = if is_one_line { with_failures(text, lines, shown) } else { all[span].to_vec() };
        }
    }
}

/// Returns whether a failure, or another line of an error region, was written but is not shown.
fn is_lost(written: Text<'_>, lines: Range<usize>, shown: &[u8]) -> bool {
    if lines.clone().all(|line| written.class(line) == Class::default()) {
        return false;
    }
    // White space is not compared, because gaps may differ in width.
    let words = |line: &[u8]| -> Vec<u8> { line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect() };
    let shown: HashSet<Vec<u8>> = shown.split(|&byte| byte == b'\n').map(words).collect();
    // The lines are read from the end: if several frames show the same failure, its lines are lost only if no later frame repeats
    // them.
    let mut later = HashSet::new();
    let mut region = Vec::new();
    for line in lines.rev() {
        let (class, is_indented) = (written.class(line), written.line(line).starts_with(b" "));
        let mut line = words(written.line(line));
        let is_gone = !line.is_empty() && !shown.contains(&line);
        if class.has(Class::FAILURE) || class.has(Class::START) {
            let failure = XxHash3_64::oneshot(&line);
            if is_gone || region.iter().any(|&(line, is_gone)| is_gone && !later.contains(&(failure, line))) {
                return true;
            }
            later.extend(region.drain(..).map(|(line, _)| (failure, line)));
        } else if class.has(Class::REGION) {
            // The numbers in indented lines may grow from frame to frame, so they are not compared. In other lines, a different
            // number means a different message.
            line.retain(|byte| !(is_indented && byte.is_ascii_digit()));
            region.push((XxHash3_64::oneshot(&line), is_gone));
        } else {
            region.clear();
        }
    }
    region.iter().any(|&(_, is_gone)| is_gone)
}

/// The maximum number of frames with the same letters that are shown. Further such frames are probably those of a counter.
const MOST_ALIKE: usize = 10;

/// Returns the frames that are part of an error region or are verdicts, and after them the text that their line shows at the end.
fn with_failures(written: Text<'_>, frames: Range<usize>, shown: &[u8]) -> Vec<u8> {
    let mut said: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut text = Vec::with_capacity(shown.len());
    for line in frames {
        let (class, line) = (written.class(line), written.line(line));
        if class == Class::default() || line == shown.trim_ascii_end() {
            continue;
        }
        let alike = said.entry(letters(line)).or_default();
        *alike += 1;
        if *alike <= MOST_ALIKE {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
    match is_blank(shown) {
        true => text.truncate(text.trim_ascii_end().len()),
        false => text.extend_from_slice(shown),
    }
    text
}

/// Returns edits that replace each line with controls by all text that was written in it.
fn all_written(bytes: &[u8]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr3(ESC, b'\r', BS, &bytes[at..]) {
        let start = memrchr(b'\n', &bytes[at..at + found]).map_or(at, |end| at + end + 1);
        let end = memchr(b'\n', &bytes[at + found..]).map_or(bytes.len(), |end| at + found + end);
        edits.push(Edit { range: start..end, kind: EditKind::Replace(written(&bytes[start..end])) });
        at = end;
    }
    edits
}
