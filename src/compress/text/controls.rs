//! Finds the ends of control sequences in a text, and removes the sequences. Their effect on a screen is in `passes/screen.rs`.

use memchr::{memchr3, memrchr};

pub const ESC: u8 = 0x1b;
pub const BS: u8 = 0x08;

/// Returns whether the text contains anything that a terminal would act on.
pub fn has_controls(bytes: &[u8]) -> bool {
    memchr3(ESC, b'\r', BS, bytes).is_some()
}

/// A character as a number: a code point, or an invalid byte.
pub type Cell = u32;
pub const INVALID: Cell = 0x8000_0000;

/// Returns the characters of a text. Each byte that is not UTF-8 is a separate character.
pub fn characters(bytes: &[u8]) -> impl Iterator<Item = Cell> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let valid = chunk.valid().chars().map(Cell::from);
        valid.chain(chunk.invalid().iter().map(|&byte| INVALID | Cell::from(byte)))
    })
}

/// Returns the end of the control sequence that begins at `at`.
pub fn sequence_end(bytes: &[u8], at: usize) -> usize {
    let after = |from: usize, inside: fn(u8) -> bool| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().position(|&byte| !inside(byte)).unwrap_or(rest.len())
    };
    match bytes.get(at + 1) {
        None => bytes.len(),
        Some(b'[') => {
            let last = after(at + 2, |byte| (0x20..0x40).contains(&byte));
            last + usize::from(bytes.get(last).is_some_and(|last| (0x40..0x7f).contains(last)))
        }
        // Titles, links and device strings end at their terminator. If this line has no terminator, only the introducer is removed.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => match memchr3(ESC, 0x07, b'\n', &bytes[at + 2..]) {
            Some(found) if bytes[at + 2 + found] == 0x07 => at + 3 + found,
            Some(found) if bytes[at + 2 + found] == ESC && bytes.get(at + 3 + found) == Some(&b'\\') => at + 4 + found,
            _ => at + 2,
        },
        Some(0x20..=0x2f) => (after(at + 1, |byte| (0x20..0x30).contains(&byte)) + 1).min(bytes.len()),
        Some(0x30..=0x7e) => at + 2,
        // Not a sequence: ESC itself is invisible, but the text after it is visible.
        Some(_) => at + 1,
    }
}

pub fn number(digits: &[u8]) -> Option<usize> {
    // All large numbers have the same effect, because they exceed the size of any screen.
    const FAR: usize = 100_000;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.is_empty())?;
    Some(digits.parse().map_or(FAR, |number: usize| number.min(FAR)))
}

/// Returns a line without its colours. Returns `None` if it has other controls.
pub fn without_colours(line: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(line.len());
    let mut rest = line.strip_suffix(b"\r").unwrap_or(line);
    while let Some(at) = memchr3(ESC, b'\r', BS, rest) {
        text.extend_from_slice(&rest[..at]);
        let sequence = rest[at..].strip_prefix(b"\x1b[")?;
        let end = sequence.iter().position(|byte| !(0x20..0x40).contains(byte))?;
        match (&sequence[..end], sequence[end]) {
            // Erasing to the end of the line has no effect here, because the cursor is at the end of the line's text.
            (_, b'm') | (b"" | b"0", b'K') => rest = &sequence[end + 1..],
            _ => return None,
        }
    }
    text.extend_from_slice(rest);
    text.retain(|&byte| byte != 0x07);
    Some(text)
}

/// Returns all text that was written, even if it was overwritten. Text after a move of the cursor begins a new line, except that
/// a move to the right becomes a gap. The result is never longer than the bytes.
pub fn written(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut column = 0;
    let mut at = 0;
    while at < bytes.len() {
        let stop = memchr3(ESC, b'\r', BS, &bytes[at..]).map_or(bytes.len(), |found| at + found);
        let line = memrchr(b'\n', &bytes[at..stop]).map_or(at, |end| at + end + 1);
        column = characters(&bytes[line..stop]).count() + if line > at { 0 } else { column };
        text.extend_from_slice(&bytes[at..stop]);
        at = if bytes.get(stop) == Some(&ESC) { sequence_end(bytes, stop) } else { stop + 1 };
        let sequence = bytes.get(stop..at).unwrap_or_default();
        let goes_to = match sequence {
            [_, b'[', count @ .., b'C' | b'a'] => column + number(count).unwrap_or(1).max(1),
            [_, b'[', count @ .., b'G' | b'`'] => number(count).unwrap_or(1).max(1) - 1,
            _ => 0,
        };
        if goes_to > column {
            let gap = (goes_to - column).min(at - text.len());
            text.resize(text.len() + gap, b' ');
            column += gap;
            continue;
        }
        let moves = match sequence {
            [b'\r'] => true,
            [_, b'[', .., last] => b"ABDEFGHJLMSTdfu`".contains(last),
            [_, kind] => b"78DEMc".contains(kind),
            _ => false,
        };
        if moves && text.last().is_some_and(|&byte| byte != b'\n') && bytes.get(at) != Some(&b'\n') {
            text.push(b'\n');
            column = 0;
        }
    }
    text.retain(|&byte| byte != 0x07);
    text.truncate(text.trim_ascii_end().len());
    if bytes.ends_with(b"\n") {
        text.push(b'\n');
    }
    text
}

/// Returns a text with the same lines, each without its controls. For an overwritten line, the result has the text that was written
/// last.
pub fn plain_lines(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let start = text.len();
        let shown = line.strip_suffix(b"\n").unwrap_or(line);
        let shown = shown.strip_suffix(b"\r").unwrap_or(shown);
        if has_controls(shown) {
            let written = written(shown);
            let last = memrchr(b'\n', &written).map_or(0, |end| end + 1);
            text.extend_from_slice(&written[last..]);
        } else {
            text.extend_from_slice(shown);
        }
        if line.ends_with(b"\n") || text.len() == start {
            text.push(b'\n');
        }
    }
    text
}
