//! Thinking that a server sends in its field with the markers around it: they are removed. A thinking that does not begin with an
//! opener passes unchanged, whatever it has after that.

use crate::json::{Edits, Span, decode, escape};
use crate::memory::{self, append};
use crate::sse::text::{Input, Setup};
use crate::{Channel, Error, Kind, Scanner};

/// The thinking of one choice, as the server sends it.
pub enum Wrapper {
    /// The thinking so far may begin with an opener; it is held.
    Begins(Scanner, Vec<u8>),
    /// It has begun with one.
    Inside(Scanner),
    /// It passes.
    Passes,
}

impl Wrapper {
    pub fn new(setup: &Setup) -> Result<Wrapper, Error> {
        Ok(Wrapper::Begins(setup.split_scanner()?, Vec::new()))
    }

    /// Returns how many bytes are held.
    pub fn held(&self) -> usize {
        match self {
            Wrapper::Begins(_, held) => held.len(),
            Wrapper::Inside(scanner) => scanner.held().len(),
            Wrapper::Passes => 0,
        }
    }

    /// Adds to `out` the rest of the next text, or of the held text.
    pub fn take(&mut self, input: Input<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let (scanner, said) = match (&mut *self, input) {
            (Wrapper::Passes, Input::Feed(said)) => return Ok(append(out, said)?),
            (Wrapper::Passes, _) => return Ok(()),
            (Wrapper::Begins(_, held), Input::Flush | Input::ServerCall | Input::Finish) => {
                append(out, held)?;
                *self = Wrapper::Passes;
                return Ok(());
            }
            (Wrapper::Begins(scanner, held), Input::Feed(said)) => {
                append(held, said)?;
                (scanner, said)
            }
            (Wrapper::Inside(scanner), Input::Feed(said)) => (scanner, said),
            (Wrapper::Inside(scanner), _) => (scanner, &b""[..]),
        };
        let start = out.len();
        let (mut first, mut taken) = (None, Ok(()));
        let take = |event: crate::Event<'_>| {
            let is_marker = event.channel == Channel::Thinking && event.kind != Kind::Text;
            first.get_or_insert(is_marker);
            if taken.is_ok() && !is_marker {
                taken = append(out, event.bytes);
            }
        };
        match input {
            Input::Feed(_) => scanner.feed(said, take),
            _ => scanner.finish(take),
        }?;
        taken?;
        if let Wrapper::Begins(_, held) = self {
            match first {
                None => {}
                Some(false) => {
                    out.truncate(start);
                    append(out, held)?;
                    *self = Wrapper::Passes;
                }
                Some(true) => {
                    if let Wrapper::Begins(scanner, _) = std::mem::replace(self, Wrapper::Passes) {
                        *self = Wrapper::Inside(scanner);
                    }
                }
            }
        }
        if !matches!(input, Input::Feed(_)) {
            *self = Wrapper::Passes;
        }
        Ok(())
    }

    /// Takes the thinking at `at`, and writes it to `left` without its markers. Returns whether that differs. With `is_whole`, no more
    /// thinking follows.
    pub fn unwrap(&mut self, data: &[u8], at: &Span, is_whole: bool, left: &mut Vec<u8>) -> Result<bool, Error> {
        let mut decoded = Vec::new();
        let said = decode(&data[at.clone()], &mut decoded)?;
        self.take(Input::Feed(said), left)?;
        if is_whole {
            self.take(Input::Finish, left)?;
        }
        Ok(left != said)
    }
}

/// Notes that this text takes the place of a string.
pub fn put(text: &[u8], at: Span, edits: &mut Edits) -> memory::Result<()> {
    edits.replace(at, |out| string(text, out))
}

/// Writes text as a string.
pub fn string(text: &[u8], out: &mut Vec<u8>) -> memory::Result<()> {
    append(out, b"\"")?;
    escape(text, out)?;
    append(out, b"\"")
}
