//! What is looked at: the bytes that are there, and whether any come after them. Each question is answered for the whole text:
//! `More` where the bytes that are missing could change the answer.

use crate::matcher::bytes::is_blank;

/// The answer to a question about the text at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    Yes,
    No,
    /// Only more bytes can tell.
    More,
}

impl Seen {
    /// Whether one of both is so.
    pub fn or(self, other: Seen) -> Seen {
        match (self, other) {
            (Seen::Yes, _) | (_, Seen::Yes) => Seen::Yes,
            (Seen::More, _) | (_, Seen::More) => Seen::More,
            _ => Seen::No,
        }
    }

    /// The answer to whether something was found.
    pub fn of<T>(found: Result<T, Seen>) -> Seen {
        found.err().unwrap_or(Seen::Yes)
    }

    pub fn ok(self) -> Result<(), Seen> {
        if self == Seen::Yes { Ok(()) } else { Err(self) }
    }
}

/// The text from where the body stands.
pub struct View<'a> {
    pub text: &'a [u8],
    /// Nothing comes after it.
    pub is_end: bool,
    /// Says whether a closer of the region is at an index.
    pub closers: &'a dyn Fn(usize) -> Seen,
}

impl View<'_> {
    /// The byte at an index; none at the text's end.
    pub fn byte(&self, at: usize) -> Result<Option<u8>, Seen> {
        match self.text.get(at) {
            Some(&byte) => Ok(Some(byte)),
            None if self.is_end => Ok(None),
            None => Err(Seen::More),
        }
    }

    /// Whether one of these bytes is at an index.
    pub fn one_of(&self, at: usize, bytes: &[u8]) -> Result<(), Seen> {
        match self.byte(at)? {
            Some(byte) if bytes.contains(&byte) => Ok(()),
            _ => Err(Seen::No),
        }
    }

    /// Whether a literal is at an index.
    pub fn literal(&self, at: usize, literal: &[u8]) -> Seen {
        let rest = self.text.get(at..).unwrap_or_default();
        if rest.starts_with(literal) {
            Seen::Yes
        } else if !self.is_end && literal.starts_with(rest) {
            Seen::More
        } else {
            Seen::No
        }
    }

    /// The longest of these literals at an index, which are in order of their length, the longest first.
    pub fn longest(&self, at: usize, literals: &[Box<[u8]>]) -> Result<usize, Seen> {
        for literal in literals {
            match self.literal(at, literal) {
                Seen::Yes => return Ok(literal.len()),
                Seen::More => return Err(Seen::More),
                Seen::No => {}
            }
        }
        Err(Seen::No)
    }

    /// Whether a closer of the region is at an index.
    pub fn closer(&self, at: usize) -> Seen {
        (self.closers)(at)
    }

    /// Whether a literal is at an index. An empty one, which stands for none, is nowhere.
    pub fn marker(&self, at: usize, literal: &[u8]) -> Seen {
        if literal.is_empty() { Seen::No } else { self.literal(at, literal) }
    }

    /// Whether a closer of the region, or one of the literals that begin a call, is at an index.
    pub fn closer_or_begin(&self, at: usize, begins: &[Box<[u8]>]) -> Seen {
        self.closer(at).or(Seen::of(self.longest(at, begins)))
    }

    /// Returns the index after the blanks at an index, of which at most `most` are passed.
    pub fn skip_blanks(&self, at: usize, most: usize) -> Result<usize, Seen> {
        let mut blanks = 0;
        while blanks < most && self.byte(at + blanks)?.is_some_and(is_blank) {
            blanks += 1;
        }
        Ok(at + blanks)
    }

    /// How many bytes stand before a literal, `most` at most.
    pub fn find(&self, at: usize, literal: &[u8], most: usize) -> Result<usize, Seen> {
        let rest = self.text.get(at..).unwrap_or_default();
        let reach = &rest[..rest.len().min(most + literal.len())];
        match memchr::memmem::find(reach, literal) {
            Some(len) => Ok(len),
            None if reach.len() == most + literal.len() || self.is_end => Err(Seen::No),
            None => Err(Seen::More),
        }
    }

    /// Returns how many bytes of a word stand before a literal: at least one, at most `most`.
    pub fn up_to(&self, at: usize, literal: &[u8], most: usize) -> Result<usize, Seen> {
        match self.find(at, literal, most)? {
            0 => Err(Seen::No),
            len => Ok(len),
        }
    }
}
