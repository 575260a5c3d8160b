//! Corrects values that quote the text of a key. A model may forget the closer of a value, so the scanner ends a value where a
//! line begins with a key. The scanner knows neither the schema nor earlier keys. If the key is only a quotation, this code makes its
//! bytes text of the value again, before any of them is written.

use super::delta::Piece;
use crate::{
    Error,
    calls::table::{BodyRule, CDATA, CallTable},
    memory::append,
};

/// The place in a call of keys and values between tags.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Place {
    /// Outside values.
    #[default]
    Outside,
    /// After a key.
    BeforeValue,
    Value,
    /// After a value without a closer, whose end the next piece confirms or not.
    Ended,
}

/// Corrects the pieces of a call.
#[derive(Debug, Default)]
pub struct Quoted {
    /// The table's texts around a value: opener, closer, and the framing at both ends.
    opener: Vec<u8>,
    closer: Vec<u8>,
    framing: [Vec<u8>; 2],
    place: Place,
    /// Bytes after the value's text so far, which belong to the value if it continues after them.
    after: Vec<u8>,
}

impl Quoted {
    /// Begins a call. Returns whether its values may quote keys.
    pub fn begin(&mut self, table: &CallTable) -> Result<bool, Error> {
        let BodyRule::Tags(rule) = &table.body else { return Ok(false) };
        let opener = if rule.value[0].is_empty() { &rule.key[1] } else { &rule.value[0] };
        let [after_open, before_close] = &mut self.framing;
        for (own, text) in [
            (&mut self.opener, opener),
            (&mut self.closer, &rule.value[1]),
            (after_open, &rule.after_open),
            (before_close, &rule.before_close),
        ] {
            own.clear();
            append(own, text)?;
        }
        self.after.clear();
        self.place = Place::Outside;
        Ok(rule.nested.is_none())
    }

    /// Returns whether the caller must decide whether the next key counts (`counts` in `take`).
    pub fn asks_for_key(&self) -> bool {
        self.place == Place::Ended
    }

    /// Returns whether the next bytes of a value need no correction.
    pub fn is_in_text(&self) -> bool {
        self.place == Place::Value && self.after.is_empty()
    }

    /// Reads the next piece, and calls `then` with the corrected pieces. A value without its closer ends with an empty closer.
    /// `counts` says whether a key after such a value is a key and not a quotation.
    pub fn take(
        &mut self,
        piece: Piece<'_>,
        counts: bool,
        mut then: impl FnMut(Piece<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.place == Place::Ended {
            match piece {
                Piece::Framing(bytes) => return Ok(append(&mut self.after, bytes)?),
                Piece::Key(bytes) if !counts => {
                    append(&mut self.after, bytes)?;
                    self.place = Place::Value;
                    return self.release(&mut then);
                }
                _ => {
                    self.after.clear();
                    self.place = Place::Outside;
                    then(Piece::ValueEnd(b""))?;
                }
            }
        }
        if self.place == Place::BeforeValue && matches!(piece, Piece::Value(_) | Piece::ValueEnd(_)) {
            self.place = Place::Value;
            self.open();
        }
        match (self.place, piece) {
            (Place::Outside, Piece::Key(_)) => self.place = Place::BeforeValue,
            (Place::BeforeValue | Place::Value, Piece::Framing(bytes)) => append(&mut self.after, bytes)?,
            // Parts of a key that the value quotes.
            (Place::Value, Piece::Key(bytes) | Piece::Type(bytes)) => {
                append(&mut self.after, bytes)?;
                return self.release(&mut then);
            }
            (Place::Value, Piece::Value(_)) => self.release(&mut then)?,
            (Place::Value, Piece::ValueEnd(bytes)) => {
                if !bytes.ends_with(&self.closer) {
                    self.place = Place::Ended;
                    return Ok(append(&mut self.after, bytes)?);
                }
                self.place = Place::Outside;
                if self.after.ends_with(&self.framing[1]) {
                    self.after.truncate(self.after.len() - self.framing[1].len());
                }
                self.release(&mut then)?;
            }
            (Place::Value, Piece::End(_)) => self.release(&mut then)?,
            _ => {}
        }
        then(piece)
    }

    /// Removes the text before a value.
    fn open(&mut self) {
        let opener = memchr::memmem::find(&self.after, &self.opener).map_or(0, |at| at + self.opener.len());
        let rest = &self.after[opener..];
        let framing = [CDATA, &self.framing[0]].into_iter().find(|text| rest.starts_with(text));
        self.after.drain(..opener + framing.map_or(0, <[u8]>::len));
    }

    /// Calls `then` with the bytes after the value's text, because they belong to the value.
    fn release(&mut self, then: &mut impl FnMut(Piece<'_>) -> Result<(), Error>) -> Result<(), Error> {
        if !self.after.is_empty() {
            then(Piece::Value(&self.after))?;
            self.after.clear();
        }
        Ok(())
    }

    #[cfg(test)]
    pub fn memory(&self) -> usize {
        [&self.opener, &self.closer, &self.framing[0], &self.framing[1], &self.after]
            .iter()
            .map(|it| it.capacity())
            .sum()
    }
}
