//! A value in a text that is known to be JSON, because the text around it has been read. Its inside is read only when it is asked for.

use super::read::{Reader, Span, name};
use super::string::unescape;
use super::walk::{members, values};
use crate::memory::{self, push};

#[derive(Clone, Debug)]
pub struct Value<'a> {
    pub text: &'a [u8],
    pub span: Span,
}

impl<'a> Value<'a> {
    /// Reads a text. The error is the offset at which the text stops being JSON.
    pub fn read(text: &'a [u8]) -> Result<Value<'a>, usize> {
        let mut reader = Reader::new(text);
        match reader.value().and_then(|span| reader.end().map(|()| span)) {
            Some(span) => Ok(Value { text, span }),
            None => Err(reader.offset()),
        }
    }

    pub fn json(&self) -> &'a [u8] {
        &self.text[self.span.clone()]
    }

    pub fn is_null(&self) -> bool {
        self.json() == b"null"
    }

    pub fn is_object(&self) -> bool {
        self.json().starts_with(b"{")
    }

    /// Returns the inside of a string, with its escapes.
    pub fn string(&self) -> Option<&'a [u8]> {
        self.json().strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    /// Returns whether the value is this string. The word must be at most 24 bytes long.
    pub fn is(&self, word: &str) -> bool {
        self.string().is_some() && name(self.text, &self.span, &mut [0; 24]) == word.as_bytes()
    }

    /// Returns the values of a list.
    pub fn list(&self) -> memory::Result<Option<Vec<Value<'a>>>> {
        if !self.json().starts_with(b"[") {
            return Ok(None);
        }
        let (mut list, mut memory) = (Vec::new(), Ok(()));
        values(self.text, self.span.clone(), |span| {
            if memory.is_ok() {
                memory = push(&mut list, Value { text: self.text, span });
            }
        });
        memory.map(|()| Some(list))
    }

    // The functions below are for files. A failed allocation ends the process there, because it must not be mistaken for a value of
    // another type.

    /// Returns the members of an object. Any other value has none.
    pub fn members(&self) -> Vec<(String, Value<'a>)> {
        let mut found = Vec::new();
        members(self.text, self.span.clone(), |_, key, value| {
            let at = |span| Value { text: self.text, span };
            found.push((at(key).decoded().unwrap_or_default(), at(value)));
        });
        found
    }

    /// Returns a member of an object.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.members().into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the text of a string.
    pub fn decoded(&self) -> Option<String> {
        let inside = self.string()?;
        let mut text = Vec::with_capacity(inside.len());
        unescape(inside, |part| text.extend_from_slice(part));
        String::from_utf8(text).ok()
    }
}
