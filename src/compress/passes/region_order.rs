//! The order in which error regions compete for a budget, and the similarity of regions and lines. This code does not know the
//! budget itself.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use twox_hash::XxHash3_64;

use crate::compress::lines::{class::Class, failures, layout::Text};

/// Regions of rare kinds precede the other regions, and get the remaining budget divided by this number.
const RARE_SHARE: usize = 4;

/// A text with the classes of its lines.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    pub text: Text<'a>,
    pub classes: &'a [Class],
    /// For each line, the heading of the problem that it belongs to.
    pub headings: &'a [Option<u32>],
}

/// The order in which regions are kept, as indices. A build reports its cause near the beginning or the end. Among many similar
/// failures, a different failure is more informative than another similar failure.
pub struct Order {
    /// The first and the last region.
    pub ends: Vec<usize>,
    /// Regions of kinds that occur at most twice, if another kind occurs often.
    rare: Vec<usize>,
    /// The other regions without copies, beginning with the last.
    others: Vec<usize>,
    /// Copies (regions that a later region repeats), beginning with the last.
    copies: Vec<usize>,
}

impl Order {
    pub fn of(lines: Lines<'_>, regions: &[Range<usize>]) -> Order {
        const RARE: usize = 2;
        const OFTEN: usize = 3;
        let kinds: Vec<u64> = regions.iter().map(|region| kind(lines, region)).collect();
        let mut counts: HashMap<u64, usize> = HashMap::new();
        kinds.iter().for_each(|kind| *counts.entry(*kind).or_default() += 1);
        let is_any_often = counts.values().any(|&count| count > OFTEN);
        let mut seen = HashSet::new();
        let mut is_copy: Vec<bool> = regions.iter().rev().map(|region| !seen.insert(content(lines, region))).collect();
        is_copy.reverse();
        let mut order = Order { ends: Vec::new(), rare: Vec::new(), others: Vec::new(), copies: Vec::new() };
        for at in (0..regions.len()).rev() {
            let group = match () {
                _ if at == 0 || at + 1 == regions.len() => &mut order.ends,
                _ if is_copy[at] => &mut order.copies,
                _ => &mut order.others,
            };
            group.push(at);
        }
        order.ends.reverse();
        order.rare = order.others.clone();
        order.rare.retain(|&at| is_any_often && counts[&kinds[at]] <= RARE);
        order
    }

    /// Returns the groups of regions in order, each with its share of the remaining budget, as a divisor.
    pub fn steps(&self) -> [(&[usize], usize); 4] {
        [(&self.ends, 1), (&self.rare, RARE_SHARE), (&self.others, 1), (&self.copies, 1)]
    }

    /// Returns all regions except the copies.
    pub fn originals(&self) -> impl Iterator<Item = usize> {
        self.ends.iter().chain(&self.others).copied()
    }
}

/// Returns a hash of a region's kind: the words of its first failure line that contain neither a digit nor a slash.
fn kind(Lines { text, classes, .. }: Lines<'_>, region: &Range<usize>) -> u64 {
    let line = region.clone().find(|&line| classes[line].has(Class::FAILURE)).unwrap_or(region.start);
    let line = failures::built_in().without_prefix(text.line(line));
    let is_plain = |word: &&[u8]| !word.iter().any(|byte| byte.is_ascii_digit() || b"/\\".contains(byte));
    let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(is_plain).collect();
    XxHash3_64::oneshot(&words.join(&b' '))
}

/// Returns a hash of a region's lines without their digits, and without machines' prefixes; and of the
/// heading above it.
fn content(Lines { text, headings, .. }: Lines<'_>, region: &Range<usize>) -> u64 {
    let mut content = Vec::new();
    if let Some(heading) = region.clone().find_map(|line| headings[line]) {
        content.extend_from_slice(text.line(heading as usize));
    }
    for line in region.clone() {
        let line = failures::built_in().without_prefix(text.line(line));
        content.push(b'\n');
        content.extend(line.iter().filter(|byte| !byte.is_ascii_digit()));
    }
    XxHash3_64::oneshot(&content)
}

/// Returns a hash of a line's shape: its words, except for those with a digit, a slash or a quote.
pub fn shape(line: &[u8]) -> u64 {
    let line = failures::built_in().without_prefix(line);
    let is_value = |byte: &u8| byte.is_ascii_digit() || b"/\\'\"`".contains(byte);
    let mut shape = Vec::with_capacity(line.len());
    for word in line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        shape.extend_from_slice(if word.iter().any(is_value) { b"0" } else { word });
        shape.push(b' ');
    }
    XxHash3_64::oneshot(&shape)
}
