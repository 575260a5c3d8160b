//! Reads objects and lists of a body that is known to be JSON, as ranges, so that parts that are not rewritten stay unchanged.

use twox_hash::XxHash3_64;

use super::report::Outcome;
pub use crate::json::Value;
use crate::json::{Reader, Span, append_decoded, is_object, name};
use crate::memory::{self, OutOfMemory, push};

/// The reason why a body is returned unchanged.
pub enum Fault {
    /// The body cannot be rewritten; the report has this outcome.
    Outcome(Outcome),
    OutOfMemory,
}

impl From<OutOfMemory> for Fault {
    fn from(_: OutOfMemory) -> Fault {
        Fault::OutOfMemory
    }
}

/// A member of an object. Its span includes key and value.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    pub key: Span,
    pub value: Value<'a>,
}

impl Member<'_> {
    pub fn span(&self) -> Span {
        self.key.start..self.value.span.end
    }
}

/// An object of the body, in which no member occurs twice.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    pub body: &'a [u8],
    pub members: Vec<Member<'a>>,
}

impl<'a> Object<'a> {
    /// Reads a body.
    pub fn whole(body: &'a [u8]) -> Result<Object<'a>, Fault> {
        if !is_object(body) {
            return Err(Fault::Outcome(Outcome::NotRequest));
        }
        Object::read(body, 0..body.len())
    }

    /// Reads a value. Any other value than an object is `None`.
    pub fn of(value: &Value<'a>) -> Result<Option<Object<'a>>, Fault> {
        if value.is_object() { Object::read(value.text, value.span.clone()).map(Some) } else { Ok(None) }
    }

    fn read(body: &'a [u8], span: Span) -> Result<Object<'a>, Fault> {
        let (mut members, mut hashes, mut result) = (Vec::new(), Vec::new(), Ok(()));
        Reader::at(body, span.start).object(|reader, key| {
            let value = Value { text: body, span: reader.value()? };
            result = hash(&body[key.start + 1..key.end - 1])
                .and_then(|hash| push(&mut hashes, hash))
                .and_then(|()| push(&mut members, Member { key, value }));
            result.ok()
        });
        result?;
        hashes.sort_unstable();
        if hashes.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Fault::Outcome(Outcome::Repeated));
        }
        Ok(Object { body, members })
    }

    /// Returns the position of the member of this name in the object. The name is no longer than 24 bytes.
    pub fn find(&self, wanted: &str) -> Option<usize> {
        let is_wanted = |member: &Member<'_>| name(self.body, &member.key, &mut [0; 24]) == wanted.as_bytes();
        self.members.iter().position(is_wanted)
    }

    /// Returns the value of the member of this name.
    pub fn get(&self, wanted: &str) -> Option<&Value<'a>> {
        self.find(wanted).map(|at| &self.members[at].value)
    }

    /// Returns whether the member of this name is this string.
    pub fn says(&self, wanted: &str, word: &str) -> bool {
        self.get(wanted).is_some_and(|value| value.is(word))
    }

    /// Returns whether there is a member of this name with a value other than `null`.
    pub fn has(&self, wanted: &str) -> bool {
        self.get(wanted).is_some_and(|value| !value.is_null())
    }
}

/// Returns a hash of a key without its escapes.
fn hash(raw: &[u8]) -> memory::Result<u64> {
    if raw.contains(&b'\\') { Ok(XxHash3_64::oneshot(&decode(raw)?)) } else { Ok(XxHash3_64::oneshot(raw)) }
}

/// Decodes the inside of a string.
pub fn decode(raw: &[u8]) -> memory::Result<Vec<u8>> {
    let mut text = Vec::new();
    append_decoded(&mut text, raw)?;
    Ok(text)
}
