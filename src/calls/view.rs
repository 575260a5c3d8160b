//! The bytes that are examined, and whether more may follow. A result does not change when more bytes arrive: if they could
//! change it, it is `More`.

use super::table::MOST_BLANKS_AFTER;
use crate::matcher::bytes::is_blank;

/// A decision about the text at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    Yes,
    No,
    /// More bytes are needed.
    More,
}

impl Decision {
    /// Returns `Yes` if either is `Yes`; otherwise `More` if either is.
    pub fn or(self, other: Decision) -> Decision {
        match (self, other) {
            (Decision::Yes, _) | (_, Decision::Yes) => Decision::Yes,
            (Decision::More, _) | (_, Decision::More) => Decision::More,
            _ => Decision::No,
        }
    }

    /// Returns `Yes` for true, and `No` for false.
    pub fn from(is_so: bool) -> Decision {
        if is_so { Decision::Yes } else { Decision::No }
    }

    /// Returns `Yes` for a result, or the `No` or `More` that an error contains.
    pub fn of<T>(found: Result<T, Decision>) -> Decision {
        found.err().unwrap_or(Decision::Yes)
    }

    pub fn ok(self) -> Result<(), Decision> {
        if self == Decision::Yes { Ok(()) } else { Err(self) }
    }
}

/// The text from the body's position on.
pub struct View<'a> {
    pub text: &'a [u8],
    /// Whether no more bytes follow the text.
    pub is_end: bool,
    /// The hash of the innermost element's name.
    pub innermost: u32,
    /// Returns whether a closer of the region is at an index. The second argument is the number of bytes that may be examined.
    pub closers: &'a dyn Fn(usize, usize) -> Decision,
}

impl View<'_> {
    /// Returns the view of the first `len` bytes, after which more may follow.
    pub fn first(&self, len: usize) -> View<'_> {
        View { text: &self.text[..len], is_end: self.is_end && len == self.text.len(), ..*self }
    }

    /// Returns the byte at an index; `None` at the text's end.
    pub fn byte(&self, at: usize) -> Result<Option<u8>, Decision> {
        match self.text.get(at) {
            Some(&byte) => Ok(Some(byte)),
            None if self.is_end => Ok(None),
            None => Err(Decision::More),
        }
    }

    fn rest(&self, at: usize) -> &[u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// Returns whether one of these bytes is at an index.
    pub fn one_of(&self, at: usize, bytes: &[u8]) -> Result<(), Decision> {
        match self.byte(at)? {
            Some(byte) if bytes.contains(&byte) => Ok(()),
            _ => Err(Decision::No),
        }
    }

    /// Returns whether a literal is at an index.
    pub fn literal(&self, at: usize, literal: &[u8]) -> Decision {
        let rest = self.text.get(at..).unwrap_or_default();
        if rest.starts_with(literal) {
            Decision::Yes
        } else if !self.is_end && literal.starts_with(rest) {
            Decision::More
        } else {
            Decision::No
        }
    }

    /// Returns whether the marker that was found at an index is `closer`. Its letters may differ in case, and a tag may have a
    /// suffix after a colon.
    pub fn is_this_closer(&self, at: usize, closer: &[u8]) -> Decision {
        let (stem, is_tag) = closer.strip_suffix(b">").map_or((closer, false), |stem| (stem, true));
        let rest = self.rest(at);
        let len = rest.len().min(stem.len());
        if closer.is_empty() || !rest[..len].eq_ignore_ascii_case(&stem[..len]) {
            return Decision::No;
        }
        match len < stem.len() {
            true if self.is_end => Decision::No,
            true => Decision::More,
            false if is_tag => Decision::of(self.one_of(at + len, b">:")),
            false => Decision::Yes,
        }
    }

    /// Returns the length of the longest of these literals at an index. They are sorted by length, the longest first.
    pub fn longest(&self, at: usize, literals: &[Box<[u8]>]) -> Result<usize, Decision> {
        for literal in literals {
            match self.literal(at, literal) {
                Decision::Yes => return Ok(literal.len()),
                Decision::More => return Err(Decision::More),
                Decision::No => {}
            }
        }
        Err(Decision::No)
    }

    /// Returns whether a closer of the region is at an index.
    pub fn closer(&self, at: usize) -> Decision {
        (self.closers)(at, self.text.len())
    }

    /// Returns whether a literal is at an index. An empty literal is at no index.
    pub fn marker(&self, at: usize, literal: &[u8]) -> Decision {
        if literal.is_empty() { Decision::No } else { self.literal(at, literal) }
    }

    /// Returns whether a literal is at an index, whole or cut by the end of the text.
    pub fn begins(&self, at: usize, literal: &[u8]) -> Decision {
        let is_over = self.is_end && self.rest(at).is_empty() && !literal.is_empty();
        if is_over || self.is_cut(at, literal) { Decision::Yes } else { self.marker(at, literal) }
    }

    /// Returns whether a literal is at an index and is cut by the end of the text.
    pub fn is_cut(&self, at: usize, literal: &[u8]) -> bool {
        let rest = self.rest(at);
        self.is_end && !rest.is_empty() && rest.len() < literal.len() && literal.starts_with(rest)
    }

    /// Returns whether `is_here` holds at an index, or after the blanks there.
    pub fn comes(&self, at: usize, is_here: impl Fn(usize) -> Decision) -> Decision {
        let blanks = self.rest(at).iter().take(MOST_BLANKS_AFTER).take_while(|&&byte| is_blank(byte)).count();
        (at..=at + blanks)
            .fold(Decision::No, |seen, at| if seen == Decision::Yes { seen } else { seen.or(is_here(at)) })
    }

    /// Returns whether a closer of the region, or one of the literals that begin a call, is at an index.
    pub fn closer_or_begin(&self, at: usize, begins: &[Box<[u8]>]) -> Decision {
        self.closer(at).or(Decision::of(self.longest(at, begins)))
    }

    /// Returns the index after at most `most` blanks at an index.
    pub fn skip_blanks(&self, at: usize, most: usize) -> Result<usize, Decision> {
        let mut blanks = 0;
        while blanks < most && self.byte(at + blanks)?.is_some_and(is_blank) {
            blanks += 1;
        }
        Ok(at + blanks)
    }

    /// Returns the number of bytes, at most `most`, before the next literal.
    pub fn find(&self, at: usize, literal: &[u8], most: usize) -> Result<usize, Decision> {
        let rest = self.text.get(at..).unwrap_or_default();
        let reach = &rest[..rest.len().min(most + literal.len())];
        match memchr::memmem::find(reach, literal) {
            Some(len) => Ok(len),
            None if reach.len() == most + literal.len() || self.is_end => Err(Decision::No),
            None => Err(Decision::More),
        }
    }

    /// Returns the number of bytes of a word before the next literal: at least one, at most `most`.
    pub fn up_to(&self, at: usize, literal: &[u8], most: usize) -> Result<usize, Decision> {
        match self.find(at, literal, most)? {
            0 => Err(Decision::No),
            len => Ok(len),
        }
    }
}
