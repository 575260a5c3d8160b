//! Arguments that the model writes as JSON. They are sent unchanged, or decoded if they are in a string. They are also checked,
//! because only an object is complete. A control character in a string, which JSON does not allow, is written as an escape.

use super::{keys::Keys, mend::DoublyEncoded, output::Put, schema::Schema, string};
use crate::{
    Error,
    json::{Seen, Syntax, Unescape},
};

/// Some models write `null` for no arguments. Clients do not accept it.
const NULL: &str = "null";

/// The form of the arguments, as their first byte shows it.
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
    check: ObjectCheck,
    /// Decodes doubly encoded values, if arguments are to be mended.
    doubly: Option<DoublyEncoded>,
}

impl JsonArguments {
    /// Begins a call. With `mends`, its arguments are mended.
    pub fn begin(&mut self, mends: bool) {
        let mut keys = std::mem::take(&mut self.check.keys);
        keys.clear();
        let check = ObjectCheck { mends, keys, ..ObjectCheck::default() };
        *self = JsonArguments { check, doubly: mends.then(DoublyEncoded::default), ..JsonArguments::default() };
    }

    /// Writes the next part of arguments with this schema. At most `most` bytes are held for mending.
    pub fn feed(
        &mut self,
        mut text: &str,
        schema: Option<Schema<'_>>,
        most: usize,
        out: &mut impl Put,
    ) -> Result<(), Error> {
        if let (Form::Unknown, Some(&first)) = (&self.form, text.as_bytes().first()) {
            self.form = Form::Plain;
            if first == b'"' {
                self.form = Form::String(Unescape::default());
                text = &text[1..];
            }
        }
        let out = NullFilter { null: &mut self.null, out: Checked { check: &mut self.check, out } };
        let mut out = Mending { doubly: self.doubly.as_mut(), schema, most, out };
        match &mut self.form {
            Form::String(inside) => string::unescape(inside, text, &mut out),
            _ => out.put(text),
        }
    }

    /// Returns whether something was mended.
    pub fn is_mended(&self) -> bool {
        self.check.is_mended || self.doubly.as_ref().is_some_and(|doubly| doubly.is_mended)
    }

    /// Returns whether the object has a key twice.
    pub fn has_key_twice(&self) -> bool {
        self.check.keys.has_twice()
    }

    /// Returns whether the call has no arguments.
    pub fn are_absent(&self) -> bool {
        matches!(self.form, Form::Unknown)
    }

    /// Returns whether the arguments are a finished object.
    pub fn are_object(&self) -> bool {
        self.check.is_whole()
    }

    #[cfg(test)]
    pub fn memory(&self) -> usize {
        self.check.keys.memory()
    }

    /// Returns whether the arguments so far are an object, or empty.
    pub fn is_whole(&self) -> bool {
        match self.null {
            NullState::Held(len) => len == 0 || len == NULL.len(),
            NullState::Open => self.check.is_whole(),
        }
    }

    /// Writes the held bytes at the end of the call. If `is_whole`, empty arguments and `null` become an empty object.
    pub fn end(&mut self, is_whole: bool, out: &mut impl Put) -> Result<(), Error> {
        let mut checked = Checked { check: &mut self.check, out };
        if let Some(doubly) = &mut self.doubly {
            doubly.end(&mut NullFilter { null: &mut self.null, out: checked.again() })?;
        }
        if let Form::String(inside) = &mut self.form {
            string::end(inside, &mut NullFilter { null: &mut self.null, out: checked.again() })?;
        }
        match self.null {
            NullState::Held(_) if is_whole => checked.put("{}"),
            NullState::Held(len) => checked.put(&NULL[..len]),
            NullState::Open => Ok(()),
        }
    }
}

/// Whether the arguments may still be `null`, and the number of bytes of `null` that are held.
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

/// Holds the beginning of `null` back while the arguments may still be `null`.
struct NullFilter<'a, P: Put> {
    null: &'a mut NullState,
    out: Checked<'a, P>,
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

/// A destination that mends the arguments, if that is requested, and then passes them to another destination.
struct Mending<'a, P: Put> {
    doubly: Option<&'a mut DoublyEncoded>,
    schema: Option<Schema<'a>>,
    most: usize,
    out: P,
}

impl<P: Put> Put for Mending<'_, P> {
    fn put(&mut self, text: &str) -> Result<(), Error> {
        match &mut self.doubly {
            Some(doubly) => doubly.feed(text, self.schema, self.most, &mut self.out),
            None => self.out.put(text),
        }
    }
}

/// Checks whether the written text is a whole object.
#[derive(Debug)]
struct ObjectCheck {
    syntax: Syntax,
    /// The number of missing digits of an escape.
    digits: u8,
    is_broken: bool,
    has_begun: bool,
    /// Whether backslashes that do not begin an escape are to be mended, and whether one was mended.
    mends: bool,
    is_mended: bool,
    /// The keys of the object as written: two spellings of one key count as two keys.
    keys: Keys,
}

impl Default for ObjectCheck {
    fn default() -> ObjectCheck {
        ObjectCheck {
            syntax: Syntax::START,
            digits: 0,
            is_broken: false,
            has_begun: false,
            mends: false,
            is_mended: false,
            keys: Keys::default(),
        }
    }
}

/// The kind of the byte after bytes that are sent unchanged.
enum Next {
    Nothing,
    /// A control character in a string.
    Control,
    /// A character that does not form an escape with the backslash before it, so that another backslash must precede it.
    NoEscape,
}

impl ObjectCheck {
    fn is_whole(&self) -> bool {
        self.syntax.is_over() && !self.is_broken
    }

    /// Returns the number of the next bytes that are sent unchanged, and the kind of the byte after them.
    fn take(&mut self, text: &[u8]) -> Result<(usize, Next), Error> {
        let mut at = 0;
        while at < text.len() && !self.is_broken {
            let byte = text[at];
            let is_in_key = self.syntax.is_in_key_of_root();
            if self.syntax.is_in_text() && self.digits == 0 {
                let from = at;
                at += plain_len(&text[at..]);
                if is_in_key {
                    self.keys.write(&text[from..at]);
                }
                match text.get(at) {
                    None => break,
                    Some(0..0x20) => return Ok((at, Next::Control)),
                    Some(&byte) => _ = self.syntax.step(byte),
                }
                if is_in_key && self.syntax.is_text() {
                    self.keys.write(b"\\");
                } else if is_in_key {
                    self.keys.end()?;
                }
            } else if self.syntax.is_text() && self.digits == 0 && self.mends && !is_escape(byte) {
                self.is_mended = true;
                self.syntax.step(b'\\');
                return Ok((at, Next::NoEscape));
            } else if self.syntax.is_text() {
                if is_in_key {
                    self.keys.write(&[byte]);
                }
                self.escape(byte);
            } else if self.syntax.is_over() {
                self.is_broken = !is_blank(byte);
            } else {
                self.is_broken = !self.has_begun && byte != b'{' && !is_blank(byte);
                self.has_begun |= byte == b'{';
                self.is_broken |= self.syntax.step(byte) == Seen::Fault;
            }
            at += 1;
        }
        Ok((text.len(), Next::Nothing))
    }

    /// Reads the next byte of an escape.
    fn escape(&mut self, byte: u8) {
        if self.digits > 0 {
            self.digits -= 1;
            self.is_broken = !byte.is_ascii_hexdigit();
        } else {
            self.syntax.step(byte);
            self.digits = if byte == b'u' { 4 } else { 0 };
            self.is_broken = !is_escape(byte);
        }
    }
}

/// Returns the number of the next bytes of a string that are neither its end, nor a backslash, nor a control character.
fn plain_len(text: &[u8]) -> usize {
    let len = memchr::memchr2(b'"', b'\\', text).unwrap_or(text.len());
    let text = &text[..len];
    // Hardly any string has a control character, so examining all bytes without branches is the fastest.
    let has_control = text.iter().fold(false, |seen, &byte| seen | (byte < 0x20));
    if has_control { text.iter().take_while(|&&byte| byte >= 0x20).count() } else { len }
}

/// Returns whether this byte after a backslash makes an escape.
fn is_escape(byte: u8) -> bool {
    br#""\/bfnrtu"#.contains(&byte)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// A destination that checks the arguments, and then passes them to another destination.
struct Checked<'a, P: Put> {
    check: &'a mut ObjectCheck,
    out: &'a mut P,
}

impl<P: Put> Checked<'_, P> {
    fn again(&mut self) -> Checked<'_, P> {
        Checked { check: self.check, out: self.out }
    }
}

impl<P: Put> Put for Checked<'_, P> {
    fn put(&mut self, mut text: &str) -> Result<(), Error> {
        loop {
            let (len, next) = self.check.take(text.as_bytes())?;
            if len > 0 {
                self.out.put(&text[..len])?;
            }
            text = &text[len..];
            match next {
                Next::Nothing => return Ok(()),
                Next::NoEscape => self.out.put("\\")?,
                Next::Control => {
                    string::escape(&text[..1], self.out)?;
                    text = &text[1..];
                }
            }
        }
    }
}
