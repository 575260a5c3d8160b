//! Says whether a model's name fits a pattern of `models`, and if not, how near it comes.
//!
//! Names come from anybody, so matching never goes back over a choice: a pattern is a row of literals between `*`, each
//! literal reads a name in one way only, and taking the first place where a literal fits is never wrong. The time is
//! linear in the name.

use std::cmp::Reverse;

use super::Start;

/// An entry of `models`, in lower case.
pub struct Pattern {
    pub text: &'static str,
    /// Where the dialect starts that is found by it; as the file says where there is none.
    pub start: Option<Start>,
}

/// The rank of a pattern that fits: what begins further left names the family rather than what it was trained on; then
/// the more it says the better.
pub type Rank = (Reverse<usize>, usize);

/// Longer names are none.
pub const LONGEST: usize = 1024;

/// A model's name as patterns are held against it: in lower case, and `/` for `\`.
pub struct Model {
    bytes: [u8; LONGEST],
    len: usize,
    /// Where the last part begins, and where the last two do.
    last: usize,
    last_two: usize,
    /// Letters with which a word of the last two parts begins, by the lower five bits.
    initials: u32,
}

impl Model {
    /// None where the name is too long.
    pub fn new(name: &[u8]) -> Option<Model> {
        if name.len() > LONGEST {
            return None;
        }
        let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
        let begin = name.iter().position(|byte| !is_slash(byte)).unwrap_or(name.len());
        let end = name.iter().rposition(|byte| !is_slash(byte)).map_or(begin, |at| at + 1);
        let mut model = Model { bytes: [0; LONGEST], len: end - begin, last: 0, last_two: 0, initials: 0 };
        for (at, byte) in name[begin..end].iter().enumerate() {
            model.bytes[at] = match byte {
                b'\\' => b'/',
                byte => byte.to_ascii_lowercase(),
            };
            if model.bytes[at] == b'/' {
                (model.last_two, model.last) = (model.last, at + 1);
            }
        }
        let part = &model.bytes[model.last_two..model.len];
        let initials = (0..part.len()).filter(|&at| is_edge(part, at)).map(|at| 1 << (part[at] & 31));
        model.initials = initials.fold(0, |all, initial| all | initial);
        Some(model)
    }

    /// Returns the last part, in which a pattern without a slash is looked for.
    pub fn last_part(&self) -> &[u8] {
        &self.bytes[self.last..self.len]
    }

    /// Returns what a pattern is held against: the last part, or the last two of a pattern that has a slash.
    fn part(&self, pattern: &[u8]) -> &[u8] {
        let begin = if pattern.contains(&b'/') { self.last_two } else { self.last };
        &self.bytes[begin..self.len]
    }

    /// Returns where a word begins with the pattern's first byte.
    fn places<'a>(&self, pattern: &[u8], part: &'a [u8]) -> impl Iterator<Item = usize> + use<'a> {
        let initial = pattern.first().copied().unwrap_or_default();
        let len = if self.initials & 1 << (initial & 31) == 0 { 0 } else { part.len() };
        (0..len).filter(move |&at| part[at] == initial && is_edge(part, at))
    }
}

/// The match of a pattern with a name.
#[derive(Debug, PartialEq, Eq)]
pub enum PatternMatch {
    Fits(Rank),
    /// From this place on, the name is that of a later release than the pattern's.
    Later(usize),
    Nothing,
}

/// Says how a pattern fits a name.
pub fn fit(pattern: &str, model: &Model) -> PatternMatch {
    let pattern = pattern.as_bytes();
    let part = model.part(pattern);
    let mut later = None;
    for place in model.places(pattern, part) {
        match read_literal(pattern, 0, part, place) {
            Ok(read) if has_rest(pattern, part, read) => {
                return PatternMatch::Fits((Reverse(place), pattern.iter().filter(|byte| **byte != b'*').count()));
            }
            // From a later place less of the name is left, so that the rest would not fit there either.
            Ok(_) => break,
            Err(stop) if stop.goes_on => later = later.or(Some(place)),
            Err(_) => {}
        }
    }
    later.map_or(PatternMatch::Nothing, PatternMatch::Later)
}

/// Returns whether a pattern fits that counts only where a name, or what follows a provider's `:` or `.`, begins.
pub fn begins(pattern: &str, model: &Model) -> bool {
    let part = model.part(pattern.as_bytes());
    match fit(pattern, model) {
        PatternMatch::Fits((Reverse(place), _)) => place == 0 || matches!(part[place - 1], b'.' | b':'),
        _ => false,
    }
}

/// The distance of a name from a pattern of its family: the shortest comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FamilyDistance {
    /// How many bytes of the pattern were read.
    read: Reverse<usize>,
    /// How far apart the numbers are at which both part.
    apart: u32,
    /// The name has the higher number, or one more.
    is_elder: Reverse<bool>,
}

impl FamilyDistance {
    pub fn is_elder(&self) -> bool {
        self.is_elder.0
    }
}

/// Says how near a name is that is of the pattern's family: all that the pattern says before its first number is there, and
/// a number follows.
pub fn distance(pattern: &str, model: &Model) -> Option<FamilyDistance> {
    let pattern = pattern.as_bytes();
    let first_number = pattern.iter().position(u8::is_ascii_digit)?;
    if pattern.contains(&b'*') {
        return None;
    }
    let part = model.part(pattern);
    let distance = model.places(pattern, part).filter_map(|place| {
        let stop = read_literal(pattern, 0, part, place).err()?;
        let theirs = number_around(part, stop.name);
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

/// Returns the number that stands at a place, or ends there.
fn number_around(text: &[u8], at: usize) -> Option<u32> {
    let before = text[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = text[at - before..].iter().take_while(|byte| byte.is_ascii_digit()).take(4);
    let number = digits.clone().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    digits.clone().next().map(|_| number)
}

/// A cursor in a pattern and in a name: how far a literal was read in both.
#[derive(Clone, Copy)]
struct Cursor {
    pattern: usize,
    name: usize,
    /// It ended at a number that goes on in the name as a point release.
    goes_on: bool,
}

/// Finds the literals after the first one, each at the first place where it fits.
fn has_rest(pattern: &[u8], name: &[u8], mut read: Cursor) -> bool {
    while read.pattern < pattern.len() {
        // `*` stands for any bytes but a slash.
        let literal = read.pattern + 1;
        if literal == pattern.len() {
            return true;
        }
        let reach = name[read.name..].iter().position(|byte| *byte == b'/').unwrap_or(name.len() - read.name);
        let mut places = read.name..=read.name + reach;
        match places.find_map(|place| read_literal(pattern, literal, name, place).ok()) {
            Some(next) => read = next,
            None => return false,
        }
    }
    true
}

/// Reads a pattern from `from` to its next `*` or its end. The error is how far it came.
fn read_literal(pattern: &[u8], from: usize, name: &[u8], place: usize) -> Result<Cursor, Cursor> {
    let is = |text: &[u8], at: usize, test: fn(&u8) -> bool| text.get(at).is_some_and(test);
    let mut read = Cursor { pattern: from, name: place, goes_on: false };
    while let Some(&byte) = pattern.get(read.pattern).filter(|byte| **byte != b'*') {
        #[cfg(test)]
        tests::STEPS.set(tests::STEPS.get() + 1);
        let at = read.pattern;
        let follows_letter = at > 0 && pattern[at - 1].is_ascii_alphabetic();
        let next = name.get(read.name).copied();
        let is_dash = matches!(next, Some(b'-' | b'_'));
        let fits = match byte {
            b'-' if follows_letter
                && is(pattern, at + 1, u8::is_ascii_digit)
                && is(name, read.name, u8::is_ascii_digit) =>
            {
                // The name leaves it out.
                read.pattern += 1;
                continue;
            }
            b'-' => is_dash || matches!(next, Some(b'.' | b':')),
            b'.' if at > 0 && pattern[at - 1].is_ascii_digit() && is(pattern, at + 1, u8::is_ascii_digit) => {
                is_dash || matches!(next, Some(b'.' | b'p'))
            }
            b'.' => matches!(next, Some(b'.' | b'_')),
            _ if byte.is_ascii_digit() && follows_letter && is_dash => {
                // The name has one more.
                read.name += 1;
                name.get(read.name) == Some(&byte)
            }
            _ => next == Some(byte),
        };
        if !fits {
            return Err(read);
        }
        read.pattern += 1;
        read.name += 1;
        if byte.is_ascii_digit()
            && ends_here(&pattern[read.pattern..])
            && goes_on(&pattern[..read.pattern], &name[read.name..])
        {
            read.goes_on = !is(name, read.name, u8::is_ascii_digit);
            return Err(read);
        }
    }
    let is_over = read.pattern < pattern.len() || !is(name, read.name, u8::is_ascii_alphanumeric);
    if is_over { Ok(read) } else { Err(read) }
}

/// Returns whether nothing is said of what follows a number.
fn ends_here(rest: &[u8]) -> bool {
    matches!(rest, [] | [b'*', ..] | [b'-' | b'.' | b':', b'*', ..])
}

/// Returns whether the number goes on that a pattern ends with: by more digits, or as a point release (`.5`, `p5`, `-5`).
/// Sizes (`-8b`, `-0.6b`) and dates (`-0905`) do not count.
fn goes_on(pattern: &[u8], rest: &[u8]) -> bool {
    match rest {
        [b'0'..=b'9', ..] | [b'.' | b'p', b'0'..=b'9', ..] => true,
        [b'-' | b'_', rest @ ..] => {
            let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (number, behind) = rest.split_at(len);
            let is_number = match number {
                [_] => true,
                // The month of a date.
                [first, _] => *first != b'0',
                _ => false,
            };
            let is_size = match behind {
                [b'.', b'0'..=b'9', ..] => true,
                [next, ..] if next.is_ascii_alphanumeric() => true,
                // A size with a dash for its point, `-0-6b`: no release is of that number, or the pattern has named one.
                [b'-' | b'_', digits @ ..] => {
                    let unit = digits.iter().find(|byte| !byte.is_ascii_digit());
                    let has_unit =
                        digits.first().is_some_and(u8::is_ascii_digit) && matches!(unit, Some(b'b' | b'm' | b't'));
                    has_unit && (number == b"0" || has_point(pattern))
                }
                _ => false,
            };
            is_number && !is_size
        }
        _ => false,
    }
}

/// Returns whether a text ends with a number that has a point.
fn has_point(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let fraction = &text[..text.len() - digits(text)];
    fraction.split_last().is_some_and(|(last, whole)| *last == b'.' && digits(whole) > 0)
}

/// Returns whether a word begins here.
fn is_edge(text: &[u8], at: usize) -> bool {
    at == 0 || !text[at - 1].is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    std::thread_local! {
        /// Bytes of patterns that were compared in this thread.
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

    /// The steps for a name twice as long are at most twice as many, however nearly it fits.
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
