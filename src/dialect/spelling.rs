//! The spellings of a pattern of `models` in the names of models. A name may differ from a pattern only in separators; the
//! bytes around a separator in the pattern decide which spellings are allowed. `build.rs` uses this file too, to make the table
//! of all patterns.

/// The bytes of patterns, except `*`; and `_`, which only names have.
pub const BYTES: [u8; 41] = *b"abcdefghijklmnopqrstuvwxyz0123456789-_.:/";

/// Returns a byte of a name in its canonical form: letters become lower case, and `\` becomes `/`.
pub const fn folded(byte: u8) -> u8 {
    if byte == b'\\' { b'/' } else { byte.to_ascii_lowercase() }
}

/// For each byte of a name, its number in `BYTES`, counted from 1, or 0 if `BYTES` does not contain it.
pub static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        let mut class = 0;
        while class < BYTES.len() {
            if BYTES[class] == folded(byte as u8) {
                classes[byte] = class as u8 + 1;
            }
            class += 1;
        }
        byte += 1;
    }
    classes
};

/// A byte of a pattern, with the effect of the bytes around it.
#[derive(Clone, Copy)]
pub struct Symbol {
    byte: u8,
    /// Whether the spelling may vary: a `-` between a letter and a digit, which a name may leave out; a `.` between digits; a
    /// digit after a letter, before which a name may have a dash.
    is_loose: bool,
    /// Set if a number ends here, without a condition on the text after it.
    pub end: Option<NumberEnd>,
}

#[derive(Clone, Copy)]
pub struct NumberEnd {
    pub has_point: bool,
}

/// The effect of a byte of a name on a symbol.
pub enum Taken {
    Read,
    /// The name does not have the symbol.
    LeftOut,
    /// The byte is a dash that only the name has. The byte of the symbol must follow.
    Dash,
    Differs,
}

impl Symbol {
    /// Returns the symbol at an index of a pattern, or `None` at a `*` and at the end.
    pub fn at(pattern: &[u8], at: usize) -> Option<Symbol> {
        let byte = *pattern.get(at).filter(|byte| **byte != b'*')?;
        if byte.is_ascii_lowercase() {
            return Some(Symbol { byte, is_loose: false, end: None });
        }
        let before = at.checked_sub(1).map_or(0, |before| pattern[before]);
        let precedes_digit = pattern.get(at + 1).is_some_and(u8::is_ascii_digit);
        let is_loose = match byte {
            b'-' => before.is_ascii_alphabetic() && precedes_digit,
            b'.' => before.is_ascii_digit() && precedes_digit,
            byte => byte.is_ascii_digit() && before.is_ascii_alphabetic(),
        };
        let is_end = byte.is_ascii_digit() && ends_here(&pattern[at + 1..]);
        let end = is_end.then(|| NumberEnd { has_point: has_point(&pattern[..=at]) });
        Some(Symbol { byte, is_loose, end })
    }

    /// Compares the symbol with a byte of a name in lower case.
    pub fn take(self, next: u8) -> Taken {
        let is_dash = matches!(next, b'-' | b'_');
        let fits = match self.byte {
            b'-' if self.is_loose && next.is_ascii_digit() => return Taken::LeftOut,
            b'-' => is_dash || matches!(next, b'.' | b':'),
            b'.' if self.is_loose => is_dash || matches!(next, b'.' | b'p'),
            b'.' => matches!(next, b'.' | b'_'),
            _ if self.is_loose && is_dash => return Taken::Dash,
            byte => next == byte,
        };
        if fits { Taken::Read } else { Taken::Differs }
    }

    /// Returns whether a byte of a name is the symbol's own byte.
    pub fn is(self, next: u8) -> bool {
        next == self.byte
    }
}

/// Returns whether a number may end here without a condition on the text after it.
fn ends_here(rest: &[u8]) -> bool {
    matches!(rest, [] | [b'*', ..] | [b'-' | b'.' | b':', b'*', ..])
}

/// Returns whether a text ends with a number that has a point.
fn has_point(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let fraction = &text[..text.len() - digits(text)];
    fraction.split_last().is_some_and(|(last, whole)| *last == b'.' && digits(whole) > 0)
}
