//! A value in a text that is known to be JSON.

use crate::file_error::FileError;
use crate::json::{Reader, Span, members, unescape, values};

#[derive(Clone)]
pub struct Json<'a> {
    data: &'a [u8],
    at: Span,
}

impl<'a> Json<'a> {
    pub fn read(text: &'a str) -> Result<Json<'a>, FileError> {
        let mut reader = Reader::new(text.as_bytes());
        match reader.value().and_then(|at| reader.end().map(|()| at)) {
            Some(at) => Ok(Json { data: text.as_bytes(), at }),
            None => {
                let fault = FileError::of_key("", "a response template is JSON, and this is not");
                Err(fault.on_line(line(text.as_bytes(), reader.offset())))
            }
        }
    }

    /// Returns the members of an object. Any other value has none.
    pub fn members(&self) -> Vec<(String, Json<'a>)> {
        let mut found = Vec::new();
        members(self.data, self.at.clone(), |_, key, value| {
            let at = |at| Json { data: self.data, at };
            found.push((at(key).text().unwrap_or_default(), at(value)));
        });
        found
    }

    /// Returns a member of an object.
    pub fn get(&self, name: &str) -> Option<Json<'a>> {
        self.members().into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the line of the value at a path such as `fields.content`, counted from 1. If only the beginning of the path exists,
    /// returns the line of that part's value.
    pub fn line_of(&self, path: &str) -> usize {
        let mut found = self.clone();
        for key in path.split('.') {
            let Some(inner) = found.get(key) else { break };
            found = inner;
        }
        line(self.data, found.at.start)
    }

    /// Returns the text of a string.
    pub fn text(&self) -> Option<String> {
        let raw = &self.data[self.at.clone()];
        let inside = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        // A failed allocation ends the process, as everywhere in reading a file, because it must not be mistaken for a value of
        // another type.
        let mut text = Vec::with_capacity(inside.len());
        unescape(inside, |part| text.extend_from_slice(part));
        String::from_utf8(text).ok()
    }

    /// Returns the strings of a string or of an array of strings.
    pub fn texts(&self) -> Option<Vec<String>> {
        if !self.is_list() {
            return self.text().map(|text| vec![text]);
        }
        self.items().iter().map(Json::text).collect()
    }

    pub fn items(&self) -> Vec<Json<'a>> {
        let mut found = Vec::new();
        values(self.data, self.at.clone(), |at| found.push(Json { data: self.data, at }));
        found
    }

    fn is_list(&self) -> bool {
        self.data[self.at.start] == b'['
    }

    pub fn is_object(&self) -> bool {
        self.data[self.at.start] == b'{'
    }

    pub fn is_true(&self) -> bool {
        &self.data[self.at.clone()] == b"true"
    }
}

/// Returns the line of a place in a text, counted from 1.
fn line(text: &[u8], at: usize) -> usize {
    text.iter().take(at).filter(|&&byte| byte == b'\n').count() + 1
}
