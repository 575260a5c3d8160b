//! Decides whether a model's name fits a pattern of `models`, and if not, how near the name is to the pattern.
//!
//! Names may be hostile, so matching never backtracks: a pattern consists of literals between `*`, each literal can read a name in
//! only one way, and the first place where a literal fits is always right. The time is linear in the name.

use std::cmp::Reverse;

use memchr::{memchr2, memrchr2};

use super::{
    Start,
    spelling::{CLASSES, Symbol, Taken, folded},
};

/// An entry of `models`, in lower case.
pub struct Pattern {
    pub text: &'static str,
    /// The start of the dialect when it is found by this pattern; `None` means the file's start.
    pub start: Option<Start>,
}

/// The rank of a pattern that fits. A pattern that fits further left has a higher rank, because names of training data are
/// further right. At the same place, the more specific pattern has the higher rank.
pub type Rank = (Reverse<usize>, usize);

/// The longest name of a model.
pub const LONGEST: usize = 1024;

/// The parts of a model's name that patterns are compared with.
#[derive(Clone, Copy)]
pub struct Model<'a> {
    name: &'a [u8],
    /// The last part of the name, in which patterns without a slash are searched for.
    pub last: Part<'a>,
}

impl<'a> Model<'a> {
    /// Returns the name, ready to be compared, or `None` if it is too long.
    pub fn new(name: &'a [u8]) -> Option<Model<'a>> {
        if name.len() > LONGEST {
            return None;
        }
        let mut name = name;
        while let [b'/' | b'\\', rest @ ..] | [rest @ .., b'/' | b'\\'] = name {
            name = rest;
        }
        Some(Model { name, last: Part(&name[last_part(name)..]) })
    }

    /// Returns the last two parts of the name, in which patterns with a slash are searched for, or `None` for a name without a
    /// slash.
    pub fn last_two(&self) -> Option<Part<'a>> {
        let before = self.name.len() - self.last.0.len();
        (before > 0).then(|| Part(&self.name[last_part(&self.name[..before - 1])..]))
    }

    /// Returns the part of the name that a pattern is compared with.
    fn part(&self, pattern: &[u8]) -> Part<'a> {
        if pattern.contains(&b'/') { self.last_two().unwrap_or(self.last) } else { self.last }
    }
}

/// Returns the index at which the last of these parts begins.
fn last_part(parts: &[u8]) -> usize {
    memrchr2(b'/', b'\\', parts).map_or(0, |slash| slash + 1)
}

/// One or more parts of a name. Reading returns letters in lower case, and `/` for `\`.
#[derive(Clone, Copy)]
pub struct Part<'a>(&'a [u8]);

impl<'a> Part<'a> {
    /// Returns the original bytes.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns the byte at an offset, or NUL after the end; no pattern contains NUL.
    #[inline]
    pub fn at(self, at: usize) -> u8 {
        self.0.get(at).map_or(0, |byte| folded(*byte))
    }

    /// Returns the class of the byte at an offset, or `None` at the end.
    #[inline]
    pub fn class(self, at: usize) -> Option<usize> {
        self.0.get(at).map(|byte| usize::from(CLASSES[usize::from(*byte)]))
    }

    /// Returns the offset of the next word, or the length of the part if there is none.
    pub fn next_word(self, at: usize) -> usize {
        let is_edge = |at: &usize| self.0[*at].is_ascii_alphanumeric() && !self.0[at - 1].is_ascii_alphanumeric();
        (at + 1..self.0.len()).find(is_edge).unwrap_or(self.0.len())
    }

    /// Returns whether the part has a letter at this offset or later.
    pub fn has_from(self, at: usize, letter: u8) -> bool {
        memchr2(letter, letter.to_ascii_uppercase(), self.0.get(at..).unwrap_or_default()).is_some()
    }

    pub fn len(self) -> usize {
        self.0.len()
    }

    pub fn is_digit(self, at: usize) -> bool {
        self.0.get(at).is_some_and(u8::is_ascii_digit)
    }

    /// Returns the offset of each word, with its first byte.
    #[inline]
    pub fn words(self) -> impl Iterator<Item = (usize, u8)> {
        let mut before = 0u8;
        let bytes = self.0.iter().map(|byte| folded(*byte)).enumerate();
        bytes.filter(move |(_, byte)| !std::mem::replace(&mut before, *byte).is_ascii_alphanumeric())
    }

    /// Returns the number of digits at an offset.
    fn digits(self, at: usize) -> usize {
        (at..).take_while(|&at| self.is_digit(at)).count()
    }
}

/// The result of comparing a pattern with a name.
#[derive(Debug, PartialEq, Eq)]
pub enum PatternMatch {
    Fits(Rank),
    /// The name has, at this offset, a later release than the pattern.
    Later(usize),
    Nothing,
}

/// Compares a pattern with a name.
pub fn fit(pattern: &str, model: &Model) -> PatternMatch {
    let pattern = pattern.as_bytes();
    let part = model.part(pattern);
    let mut later = None;
    for place in places(pattern, part) {
        match read_literal(pattern, 0, part, place) {
            Ok(read) if has_rest(pattern, part, read) => return PatternMatch::Fits((Reverse(place), said(pattern))),
            // The rest of the pattern does not fit after this place, so it cannot fit after a later place either.
            Ok(_) => break,
            Err(stop) if stop.goes_on => later = later.or(Some(place)),
            Err(_) => {}
        }
    }
    later.map_or(PatternMatch::Nothing, PatternMatch::Later)
}

/// Returns the number of bytes of a pattern without its `*`.
pub fn said(pattern: &[u8]) -> usize {
    pattern.iter().filter(|byte| **byte != b'*').count()
}

/// Returns whether a pattern fits at the beginning of a name, or after a provider's `:` or `.`.
pub fn begins(pattern: &str, model: &Model) -> bool {
    let part = model.part(pattern.as_bytes());
    match fit(pattern, model) {
        PatternMatch::Fits((Reverse(place), _)) => place == 0 || matches!(part.at(place - 1), b'.' | b':'),
        _ => false,
    }
}

/// The distance of a name from a pattern of its family. The distance of a nearer pattern compares as less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FamilyDistance {
    /// The number of bytes of the pattern that the name has.
    read: Reverse<usize>,
    /// The distance between the numbers at which name and pattern differ.
    apart: u32,
    /// Whether the name has the higher number, or an additional one.
    is_elder: Reverse<bool>,
}

impl FamilyDistance {
    pub fn is_elder(&self) -> bool {
        self.is_elder.0
    }
}

/// Returns the distance of a name from a pattern, or `None` if they are not of one family: a name of the family has the text
/// before the pattern's first number, and then a number.
pub fn distance(pattern: &str, model: &Model) -> Option<FamilyDistance> {
    let pattern = pattern.as_bytes();
    let first_number = pattern.iter().position(u8::is_ascii_digit)?;
    // A single letter is not enough to recognise a family.
    if pattern.contains(&b'*') || first_number < 2 {
        return None;
    }
    let part = model.part(pattern);
    let distance = places(pattern, part).filter_map(|place| {
        let stop = read_literal(pattern, 0, part, place).err()?;
        let theirs = number_around(part.0, stop.name);
        let ours = number_around(pattern, stop.pattern);
        let is_of_family = stop.pattern >= first_number && (theirs.is_some() || stop.pattern > first_number);
        is_of_family.then(|| FamilyDistance {
            read: Reverse(stop.pattern),
            apart: theirs.unwrap_or_default().abs_diff(ours.unwrap_or_default()),
            is_elder: Reverse(theirs > ours || stop.pattern == pattern.len()),
        })
    });
    distance.min()
}

/// Returns the number around an index.
fn number_around(text: &[u8], at: usize) -> Option<u32> {
    let before = text[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = text[at - before..].iter().take_while(|byte| byte.is_ascii_digit()).take(4);
    let number = digits.clone().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    digits.clone().next().map(|_| number)
}

/// Returns the offsets of words that begin with the first byte of a pattern.
fn places(pattern: &[u8], part: Part<'_>) -> impl Iterator<Item = usize> {
    let initial = pattern.first().copied();
    part.words().filter(move |(_, byte)| Some(*byte) == initial).map(|(at, _)| at)
}

/// The progress in a literal: the offsets in the pattern and in the name.
#[derive(Clone, Copy)]
pub struct Cursor {
    pattern: usize,
    name: usize,
    /// Whether the literal ended at a number that continues in the name as a point release.
    goes_on: bool,
}

impl Cursor {
    pub fn until(pattern: usize, name: usize) -> Cursor {
        Cursor { pattern, name, goes_on: false }
    }
}

/// Finds the second and all further literals of a pattern, each at the first place where it fits.
#[inline(never)]
pub fn has_rest(pattern: &[u8], part: Part<'_>, mut read: Cursor) -> bool {
    while read.pattern < pattern.len() {
        let literal = read.pattern + 1;
        let Some(&first) = pattern.get(literal) else { return true };
        // `*` matches any bytes except a slash.
        let mut place = read.name;
        read = loop {
            let byte = part.at(place);
            let is_there = !first.is_ascii_lowercase() || byte == first;
            if let Some(next) = is_there.then(|| read_literal(pattern, literal, part, place).ok()).flatten() {
                break next;
            }
            if byte == b'/' || place >= part.0.len() {
                return false;
            }
            place += 1;
        };
    }
    true
}

/// Compares a pattern from `from` to its next `*` or its end. If it does not fit, the error contains the progress.
fn read_literal(pattern: &[u8], from: usize, part: Part<'_>, place: usize) -> Result<Cursor, Cursor> {
    let mut read = Cursor::until(from, place);
    while let Some(symbol) = Symbol::at(pattern, read.pattern) {
        #[cfg(test)]
        tests::STEPS.set(tests::STEPS.get() + 1);
        match symbol.take(part.at(read.name)) {
            Taken::Read => {}
            Taken::LeftOut => {
                read.pattern += 1;
                continue;
            }
            Taken::Dash => {
                read.name += 1;
                if !symbol.is(part.at(read.name)) {
                    return Err(read);
                }
            }
            Taken::Differs => return Err(read),
        }
        read.pattern += 1;
        read.name += 1;
        if symbol.end.is_some_and(|end| goes_on(end.has_point, part, read.name)) {
            read.goes_on = !part.at(read.name).is_ascii_digit();
            return Err(read);
        }
    }
    let is_over = read.pattern < pattern.len() || is_word_over(part, read.name);
    if is_over { Ok(read) } else { Err(read) }
}

/// Returns whether a pattern may end here: it must not end inside a word.
pub fn is_word_over(part: Part<'_>, at: usize) -> bool {
    !part.0.get(at).is_some_and(u8::is_ascii_alphanumeric)
}

/// Returns whether the name continues the number at the end of a pattern: with more digits, or as a point release (`.5`, `p5`,
/// `-5`). Sizes (`-8b`, `-0.6b`) and dates (`-0905`) do not count. `has_point` means that the pattern's number has a point.
pub fn goes_on(has_point: bool, part: Part<'_>, at: usize) -> bool {
    let byte = |at: usize| part.0.get(at).copied().unwrap_or_default();
    match byte(at) {
        b'0'..=b'9' => return true,
        b'.' | b'p' | b'P' => return part.is_digit(at + 1),
        b'-' | b'_' if part.is_digit(at + 1) => {}
        _ => return false,
    }
    let is_null = byte(at + 1) == b'0';
    let is_two = part.is_digit(at + 2);
    // These two digits may be the month of a date.
    if is_two && (is_null || part.is_digit(at + 3)) {
        return false;
    }
    let behind = at + 2 + usize::from(is_two);
    match byte(behind) {
        b'.' => !part.is_digit(behind + 1),
        // A size may have a dash for its point, `-0-6b`. It is a size if its first digit is 0, or if the pattern has a point
        // release already.
        b'-' | b'_' => {
            let digits = part.digits(behind + 1);
            let has_unit = digits > 0 && matches!(part.at(behind + 1 + digits), b'b' | b'm' | b't');
            !has_unit || !has_point && !is_null
        }
        next => !next.is_ascii_alphanumeric(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    std::thread_local! {
        /// The number of bytes of patterns that were compared in this thread.
        pub static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    fn fits(pattern: &str, name: &str) -> bool {
        matches!(fit(pattern, &Model::new(name.as_bytes()).unwrap()), PatternMatch::Fits(_))
    }

    #[track_caller]
    fn check(pattern: &str, good: &[&str], bad: &[&str]) {
        for name in good {
            assert!(fits(pattern, name), "{pattern} does not fit {name}");
        }
        for name in bad {
            assert!(!fits(pattern, name), "{pattern} fits {name}");
        }
    }

    #[test]
    fn a_point_release_is_not_its_elder() {
        let others = ["f3.5", "f3p5", "f3-5", "f-3-7-max", "F3_5-8b", "f3.5:8b", "f3-12", "f3-9-27b", "f3-1-7b", "f35"];
        let sizes =
            ["f3", "f3-8b", "f3-0.6b", "f3-0-6b", "f3-14b-it", "f3-0324", "f3-05-28", "f3:8b", "f3-8bit", "f3-2025-07"];
        check("f3", &sizes, &others);
        check(
            "f3.5",
            &["f3.5", "f3p5", "f3-5", "f3_5", "f3.5-9b", "f-3-5-1-2b", "f3.5-0.8b"],
            &["f3.5.1", "f3-5-1", "f3.50", "f3"],
        );
        check("f3-*t", &["f3-8b-t", "f3-t"], &["f3-9-t", "f3.9-t"]);
        check("f3*t", &["f3-8b-t", "f3:t", "f3t"], &["f3.9-t", "f3-9-t", "f39-t", "f3p9-t"]);
    }

    #[test]
    fn spelling() {
        check(
            "lm-2.5",
            &["lm-2.5-1b", "lm2.5", "lm2p5", "lm-2-5", "lm_2_5", "lm.2.5"],
            &["lm--2.5", "lm2", "xlm-2.5", "lm-25"],
        );
        check("lm2", &["lm2", "lm-2", "LM_2"], &["lm--2", "l-m2"]);
        check("a.b", &["a.b", "a_b"], &["a-b", "apb"]);
        check("a-v3", &["a-v3", "a.v3", "a:v3", "a_v3", "x/a-v-3"], &["av3"]);
    }

    #[test]
    fn slashes() {
        check("x/a", &["x/a", "y/x/a-7b", r"y\x\a\"], &["a", "x-a", "x/y/a"]);
        check("a*b", &["a-b", "ab", "a-x-b"], &["a/b"]);
        check("x*/a*b", &["xy/a-b"], &["x/y/a-b", "x/a/b"]);
    }

    /// Checks that a name twice as long needs at most twice as many steps, even if it nearly fits.
    #[test]
    fn matching_is_linear_in_the_name() {
        let patterns = ["a-*a-*a-*a-*a-*b", "a*a*a*a*b", "a3.5*a3.5*z", "a", "aa-aa-aa-aa-b", "a/a*a*b"];
        let names = ["a-", "a", "aa-", "a3.5", "a-a3.5-aa-aa-", "-", "a3-5p", "/a"];
        for pattern in patterns {
            for name in names {
                let steps = |len: usize| {
                    let name: Vec<u8> = name.bytes().cycle().take(len).collect();
                    STEPS.set(0);
                    fit(pattern, &Model::new(&name).unwrap());
                    STEPS.get()
                };
                let (half, whole) = (steps(LONGEST / 2), steps(LONGEST));
                assert!(whole <= 2 * half + 64, "{pattern}, {name}: {half}, then {whole}");
                assert!(whole <= LONGEST * (pattern.len() + 1), "{pattern}, {name}: {whole}");
            }
        }
        assert!(Model::new(&[b'a'; LONGEST + 1]).is_none());
    }
}
