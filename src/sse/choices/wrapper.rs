//! Removes markers from thinking that a server sends in a separate field. If the thinking does not begin with an opener, only a closer
//! at the end of the thinking is removed.

use crate::answer::{Input, Setup};
use crate::json::{Edits, Span, decode, write_string};
use crate::memory::{self, append, append_all};
use crate::{Channel, Error, Kind, Scanner};

/// The thinking of one choice, as the server sends it.
pub enum Wrapper {
    /// The thinking so far may be the beginning of an opener, so it is held.
    Begins(Scanner, Vec<u8>),
    /// The thinking has begun with an opener.
    Inside(Scanner),
    /// The thinking has begun without an opener. Bytes at its end that may be the closer are held.
    Ends(Scanner, Vec<u8>),
    /// The thinking is sent unchanged.
    Passes,
}

impl Wrapper {
    pub fn new(setup: &Setup) -> Result<Wrapper, Error> {
        Ok(Wrapper::Begins(setup.split_scanner()?, Vec::new()))
    }

    /// Returns the number of bytes that are held.
    pub fn held(&self) -> usize {
        match self {
            Wrapper::Begins(_, held) => held.len(),
            Wrapper::Inside(scanner) => scanner.held().len(),
            Wrapper::Ends(scanner, held) => scanner.held().len() + held.len(),
            Wrapper::Passes => 0,
        }
    }

    /// Adds the next text, or the held text, to `out` without markers.
    fn take(&mut self, setup: &Setup, input: Input<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let (scanner, said) = match (&mut *self, input) {
            (Wrapper::Ends(scanner, held), _) => {
                let goes_on = take_end(scanner, held, input, out)?;
                if goes_on || !matches!(input, Input::Feed(_)) {
                    *self = Wrapper::Passes;
                }
                return Ok(());
            }
            (Wrapper::Passes, Input::Feed(said)) => return Ok(append(out, said)?),
            (Wrapper::Passes, _) => return Ok(()),
            (Wrapper::Begins(scanner, held), Input::Feed(said)) => {
                append(held, said)?;
                (scanner, said)
            }
            (Wrapper::Begins(_, held), _) => {
                append(out, held)?;
                *self = Wrapper::Passes;
                return Ok(());
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
                    let held = std::mem::take(held);
                    *self = match setup.thinking_scanner() {
                        Ok(scanner) => Wrapper::Ends(scanner, Vec::new()),
                        Err(Error::NoSuchStart) => Wrapper::Passes,
                        Err(error) => return Err(error),
                    };
                    self.take(setup, Input::Feed(&held), out)?;
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

    /// Ends the thinking: adds the held bytes to `out`, unless they are a marker.
    pub fn end(&mut self, setup: &Setup, out: &mut Vec<u8>) -> Result<(), Error> {
        self.take(setup, Input::Finish, out)
    }

    /// Writes the thinking at `at` to `left` without its markers. Returns whether it had markers. With `is_whole`, no more thinking
    /// follows.
    pub fn unwrap(
        &mut self,
        setup: &Setup,
        data: &[u8],
        at: &Span,
        is_whole: bool,
        left: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let mut decoded = Vec::new();
        let said = decode(&data[at.clone()], &mut decoded)?;
        self.take(setup, Input::Feed(said), left)?;
        if is_whole {
            self.end(setup, left)?;
        }
        Ok(left != said)
    }
}

/// Adds thinking to `out`. A closer and blanks at its end are added to `held`. Returns whether text follows a closer.
fn take_end(scanner: &mut Scanner, held: &mut Vec<u8>, input: Input<'_>, out: &mut Vec<u8>) -> Result<bool, Error> {
    let (mut goes_on, mut taken) = (false, Ok(()));
    let take = |event: crate::Event<'_>| {
        if taken.is_err() || event.bytes.is_empty() {
            return;
        }
        let is_thinking = event.channel == Channel::Thinking;
        let may_end = is_thinking && matches!(event.kind, Kind::Close(_) | Kind::Framing)
            || !held.is_empty() && event.bytes.trim_ascii().is_empty();
        if may_end && !goes_on {
            taken = append(held, event.bytes);
            return;
        }
        goes_on |= !is_thinking;
        taken = append_all(out, &[held, event.bytes]);
        held.clear();
    };
    match input {
        Input::Feed(said) => scanner.feed(said, take),
        _ => scanner.finish(take),
    }?;
    taken?;
    Ok(goes_on)
}

/// Notes that this text replaces a string.
pub fn put(text: &[u8], at: Span, edits: &mut Edits) -> memory::Result<()> {
    edits.replace(at, |out| write_string(text, out))
}
