//! Arguments that the model writes as JSON: they are handed on as they are, or decoded if they stand in a string.

use super::{output::Put, string};
use crate::{Error, json::Unescape};

/// Written for no arguments, which clients do not take.
const NULL: &str = "null";

/// What the first byte of the arguments has shown.
#[derive(Debug, Default)]
enum Form {
    #[default]
    Unknown,
    Plain,
    String(Unescape),
}

/// The arguments of one call.
#[derive(Debug, Default)]
pub struct JsonArguments {
    form: Form,
    null: NullState,
}

impl JsonArguments {
    /// Writes the next part.
    pub fn feed(&mut self, mut text: &str, out: &mut impl Put) -> Result<(), Error> {
        if let (Form::Unknown, Some(&first)) = (&self.form, text.as_bytes().first()) {
            self.form = Form::Plain;
            if first == b'"' {
                self.form = Form::String(Unescape::default());
                text = &text[1..];
            }
        }
        let mut out = NullFilter { null: &mut self.null, out };
        match &mut self.form {
            Form::String(inside) => string::unescape(inside, text, &mut out),
            _ => out.put(text),
        }
    }

    /// Writes what is held at the end of the call. If `is_whole`, arguments that say nothing become an empty object.
    pub fn end(&mut self, is_whole: bool, out: &mut impl Put) -> Result<(), Error> {
        if let Form::String(inside) = &mut self.form {
            string::end(inside, &mut NullFilter { null: &mut self.null, out })?;
        }
        match self.null {
            NullState::Held(0 | 4) if is_whole => out.put("{}"),
            NullState::Held(len) => out.put(&NULL[..len]),
            NullState::Open => Ok(()),
        }
    }
}

/// Whether the arguments could still be `null`: then that many bytes of it are held.
#[derive(Debug)]
enum NullState {
    Held(usize),
    Open,
}

impl Default for NullState {
    fn default() -> NullState {
        NullState::Held(0)
    }
}

/// Holds `null` back while the arguments may still be that.
struct NullFilter<'a, P: Put> {
    null: &'a mut NullState,
    out: &'a mut P,
}

impl<P: Put> Put for NullFilter<'_, P> {
    fn put(&mut self, text: &str) -> Result<(), Error> {
        if let NullState::Held(len) = *self.null {
            if NULL[len..].starts_with(text) {
                *self.null = NullState::Held(len + text.len());
                return Ok(());
            }
            *self.null = NullState::Open;
            self.out.put(&NULL[..len])?;
        }
        self.out.put(text)
    }
}
