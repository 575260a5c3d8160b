//! Records in lines of text. Some records have a heading: the files of a diff, sections, blocks that begin alike. The matches of
//! a search in one file are also a record. So is each row of a table or a log.

use std::{collections::HashMap, ops::Range};

use twox_hash::XxHash3_64;

use super::fields::{Field, rarity, separator, words};
use crate::compress::{
    lines::{failures::Failures, layout::Text},
    text::marker::Marker,
};

/// A record of several lines.
pub struct Record {
    pub lines: Range<usize>,
    /// The name, as offsets into the text.
    pub name: Range<usize>,
    /// Whether the first line is a heading, without which the other lines cannot be understood.
    pub has_heading: bool,
}

/// The minimum number of records of a list, and of blocks with the same first word.
const FEWEST: usize = 2;
const FEWEST_BLOCKS: usize = 5;
/// The minimum and the maximum number of rows that are compared.
const FEWEST_ROWS: usize = 20;
const MOST_ROWS: usize = 200_000;
/// The maximum number of fields of a block.
const MOST_FIELDS: usize = 24;

/// Returns the records of a text, if the text is a list of records.
pub fn find(text: Text<'_>, failures: &Failures) -> Vec<Record> {
    let forms: [&dyn Fn(usize) -> Option<Range<usize>>; 4] = [
        &|line| failures.is_record(text.line(line)).then(|| heading_name(text, line)),
        &|line| heads_matches(text, line).then(|| text.start(line)..text.start(line) + text.line(line).len()),
        &|line| match_name(text, line),
        &|line| block_name(text, line),
    ];
    let [headings, paths, matches, blocks] = forms;
    for heads in [headings, paths] {
        let found = headed(text, heads);
        if found.len() >= FEWEST {
            return found;
        }
    }
    let found = searched(text, matches);
    if found.len() >= FEWEST {
        return found;
    }
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    let names: Vec<Option<Range<usize>>> = (0..text.len()).map(blocks).collect();
    names.iter().flatten().for_each(|name| *counts.entry(&text.bytes[name.clone()]).or_default() += 1);
    let Some((&first, &count)) = counts.iter().max_by_key(|(name, count)| (**count, *name)) else { return Vec::new() };
    if count < FEWEST_BLOCKS || count * 2 < names.iter().flatten().count() {
        return Vec::new();
    }
    headed(text, &|line| {
        let name = names[line].clone().filter(|name| &text.bytes[name.clone()] == first)?;
        Some(name.start..text.start(line) + text.line(line).len())
    })
}

/// Returns the records that begin at headings. Together they are most of the text.
fn headed(text: Text<'_>, name: &dyn Fn(usize) -> Option<Range<usize>>) -> Vec<Record> {
    let mut found: Vec<Record> = Vec::new();
    for line in 0..text.len() {
        match name(line) {
            Some(name) => found.push(Record { lines: line..line + 1, name, has_heading: true }),
            None => found.last_mut().into_iter().for_each(|last| last.lines.end = line + 1),
        }
    }
    let covered: usize = found.iter().map(|record| text.spans(record.lines.clone()).len()).sum();
    if covered * 2 < text.bytes.len() { Vec::new() } else { found }
}

/// Returns the records of adjacent lines with the same name. Together they are most of the text.
fn searched(text: Text<'_>, name: &dyn Fn(usize) -> Option<Range<usize>>) -> Vec<Record> {
    let mut found: Vec<Record> = Vec::new();
    for line in 0..text.len() {
        let Some(name) = name(line) else { continue };
        match found.last_mut() {
            Some(last) if last.lines.end == line && text.bytes[last.name.clone()] == text.bytes[name.clone()] => {
                last.lines.end += 1
            }
            _ => found.push(Record { lines: line..line + 1, name, has_heading: false }),
        }
    }
    let covered: usize = found.iter().map(|record| text.spans(record.lines.clone()).len()).sum();
    if covered * 10 < text.bytes.len() * 9 { Vec::new() } else { found }
}

/// Returns the name in a heading: the path of a file in a diff, or the words without the drawn characters around them.
fn heading_name(text: Text<'_>, line: usize) -> Range<usize> {
    let (start, bytes) = (text.start(line), text.line(line));
    if bytes.starts_with(b"diff ") {
        let from = memchr::memmem::find(bytes, b" b/").map_or(0, |at| at + 3);
        return start + from..start + bytes.len();
    }
    let is_drawn = |byte: &u8| b"=>< -*#".contains(byte);
    let from = bytes.iter().position(|byte| !is_drawn(byte)).unwrap_or(0);
    let to = bytes.iter().rposition(|byte| !is_drawn(byte)).map_or(bytes.len(), |at| at + 1);
    start + from..start + to
}

/// Returns the path of a match of a search: `src/a.rs:12:`.
fn match_name(text: Text<'_>, line: usize) -> Option<Range<usize>> {
    let (start, bytes) = (text.start(line), text.line(line));
    let is_end = |&at: &usize| at > 0 && !bytes[at - 1].is_ascii_whitespace() && bytes[at - 1] != b':';
    let end = memchr::memchr2_iter(b':', b'-', bytes).filter(is_end).find(|&at| {
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0 && bytes.get(at + 1 + digits).is_some_and(|&byte| byte == bytes[at])
    })?;
    let is_path = bytes[..end].iter().any(|byte| b"./\\".contains(byte)) && !bytes[..end].contains(&b' ');
    is_path.then_some(start..start + end)
}

/// Returns whether a line is the path above the matches of a search (lines such as `12:…`), or above a marker that replaces the first
/// match.
fn heads_matches(text: Text<'_>, line: usize) -> bool {
    let is_match = |line: usize| {
        let bytes = if line < text.len() { text.line(line) } else { b"" };
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        digits > 0 && matches!(bytes.get(digits), Some(b':' | b'-'))
    };
    let bytes = text.line(line);
    let is_path = bytes.iter().any(|byte| b"./\\".contains(byte)) && !bytes.contains(&b' ');
    let is_omission = |line: usize| line < text.len() && Marker::parse(text.line(line)).is_some();
    let begins = line == 0 || text.is_blank(line - 1) || is_omission(line - 1);
    is_path && begins && !is_match(line) && (is_match(line + 1) || is_omission(line + 1))
}

/// Returns the first word of a block, if a block of lines begins with this line.
fn block_name(text: Text<'_>, line: usize) -> Option<Range<usize>> {
    let begins = line == 0 || text.is_blank(line - 1) || text.line(line - 1).starts_with(b"---");
    let bytes = text.line(line);
    let is_drawn = !bytes.iter().any(u8::is_ascii_alphanumeric);
    if !begins || is_drawn || bytes.first().is_none_or(|byte| !byte.is_ascii_graphic()) {
        return None;
    }
    let end = bytes.iter().position(|byte| b" \t:".contains(byte)).unwrap_or(bytes.len());
    Some(text.start(line)..text.start(line) + end)
}

/// Returns the records in the order in which they are kept: records that differ, the first and the last, and the others from the
/// front.
pub fn order(text: Text<'_>, records: &[Record]) -> Vec<usize> {
    let fields: Vec<Vec<Field>> = records.iter().map(|record| block_fields(text, record)).collect();
    let rarity = rarity(&fields);
    let mut order: Vec<usize> = (0..records.len()).collect();
    let is_end = |at: usize| at == 0 || at + 1 == records.len();
    order.sort_by_key(|&at| (rarity[at], !is_end(at)));
    order
}

/// Returns the fields of a block: `key: value`.
fn block_fields(text: Text<'_>, record: &Record) -> Vec<Field> {
    let field = |line: usize| {
        let line = text.line(line);
        let colon = memchr::memchr(b':', line)?;
        Some((XxHash3_64::oneshot(&line[..colon]), XxHash3_64::oneshot(&line[colon..])))
    };
    record.lines.clone().filter_map(field).take(MOST_FIELDS).collect()
}

/// Returns the rows with a rare value, the rarest first: few rows have the value, in a column in which most rows have one of a
/// few values.
pub fn rare_rows(text: Text<'_>, failures: &Failures) -> Vec<usize> {
    let rows: Vec<usize> =
        (0..text.len()).filter(|&line| !text.is_blank(line) && Marker::parse(text.line(line)).is_none()).collect();
    if !(FEWEST_ROWS..=MOST_ROWS).contains(&rows.len()) {
        return Vec::new();
    }
    let is_stamped = text.is_stamped(failures);
    let separator = separator(text.line(rows[0]));
    let fields = |line: usize| {
        let line = if is_stamped { text.unstamped(line, failures) } else { text.line(line) };
        words(line, separator).enumerate().map(|(place, word)| (place as u64, XxHash3_64::oneshot(word))).collect()
    };
    let fields: Vec<Vec<Field>> = rows.iter().map(|&line| fields(line)).collect();
    let rarity = rarity(&fields);
    let mut rare: Vec<(usize, usize)> = rarity.into_iter().zip(rows).filter(|(count, _)| *count < usize::MAX).collect();
    rare.sort_unstable();
    rare.into_iter().map(|(_, line)| line).collect()
}
