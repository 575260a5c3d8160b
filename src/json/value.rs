//! A value in a text that is known to be JSON, because the text around it has been read. Its inside is read only when it is asked for.

use super::read::{Reader, Span, name};
use super::string::unescape;
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

    /// Returns the value of a text that is known to be JSON.
    pub fn of(text: &'a [u8]) -> Value<'a> {
        Value { text, span: 0..text.len() }
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

    pub fn is_list(&self) -> bool {
        self.json().starts_with(b"[")
    }

    /// Returns the inside of a string, with its escapes.
    pub fn string(&self) -> Option<&'a [u8]> {
        self.json().strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    /// Returns whether the value is this string. The word must be at most 24 bytes long.
    pub fn is(&self, word: &str) -> bool {
        self.string().is_some() && name(self.text, &self.span, &mut [0; 24]) == word.as_bytes()
    }

    fn reader(&self) -> Reader<'a> {
        Reader::at(&self.text[..self.span.end], self.span.start)
    }

    /// Walks over the members of an object: their names without escapes, their keys and their values. Any other value has none.
    pub fn walk(&self, mut member: impl FnMut(&[u8], Span, Value<'a>)) {
        let text = self.text;
        let _ = self.reader().members(|reader, name, key| {
            let span = reader.value()?;
            member(name, key, Value { text, span });
            Some(())
        });
    }

    /// Returns the members of these names, as [`Reader::find`] does. Any other value than an object has none.
    pub fn find<const N: usize>(&self, wanted: [&[u8]; N]) -> [Option<Value<'a>>; N] {
        let text = self.text;
        let found = self.reader().find(wanted).unwrap_or([const { None }; N]);
        found.map(|span| span.map(|span| Value { text, span }))
    }

    /// Returns the value at the end of a path of members.
    pub fn at(&self, path: &[&[u8]]) -> Option<Value<'a>> {
        path.iter().try_fold(self.clone(), |value, key| {
            let [found] = value.find([key]);
            found
        })
    }

    /// Walks over the values of a list. Any other value has none.
    pub fn items(&self, mut item: impl FnMut(Value<'a>)) {
        let text = self.text;
        let _ = self.reader().array(|reader| {
            let span = reader.value()?;
            item(Value { text, span });
            Some(())
        });
    }

    /// Returns the values of a list.
    pub fn list(&self) -> memory::Result<Option<Vec<Value<'a>>>> {
        if !self.is_list() {
            return Ok(None);
        }
        let (mut list, mut memory) = (Vec::new(), Ok(()));
        self.items(|item| {
            if memory.is_ok() {
                memory = push(&mut list, item);
            }
        });
        memory.map(|()| Some(list))
    }

    // The functions below are for files. A failed allocation ends the process there, because it must not be mistaken for a value of
    // another type.

    /// Returns the members of an object. Any other value has none.
    pub fn members(&self) -> Vec<(String, Value<'a>)> {
        let mut found = Vec::new();
        self.walk(|_, span, value| {
            found.push((Value { text: self.text, span }.decoded().unwrap_or_default(), value));
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

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn the_last_member_of_a_name_is_found_and_nothing_in_other_values() {
        let text = br#"{"a": 1, "\u0062": {"a": 2, "c": [3, {}]}, "a": "x"}"#;
        let [a, b, c] = Value::of(text).find([b"a", b"b", b"c"]);
        assert_eq!((a.unwrap().json(), c.is_none()), (&b"\"x\""[..], true));
        assert_eq!(Value::of(text).at(&[b"b", b"a"]).unwrap().json(), b"2");
        let list = Value::of(text).at(&[b"b", b"c"]).unwrap();
        assert_eq!(list.list().unwrap().unwrap().iter().map(Value::json).collect::<Vec<_>>(), [&b"3"[..], b"{}"]);
        assert!(b.unwrap().list().unwrap().is_none());
        assert!(list.at(&[b"a"]).is_none() && Value::of(text).at(&[b"a", b"a"]).is_none());
    }
}
