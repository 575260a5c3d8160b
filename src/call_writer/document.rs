//! A JSON document for look-ups: the tools of a request. It is a flat list of values, so that a position in it is a number
//! that can be kept, and freeing it needs no recursion.

use crate::json::{Reader, Span, unescape};

/// The deepest nesting of values.
const DEPTH: u32 = 128;

/// A value's place in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId(u32);

/// A value.
#[derive(Debug)]
pub enum Node {
    Null,
    Bool(bool),
    Integer,
    /// A number with a fraction or an exponent.
    Number,
    String(Box<str>),
    Array(Vec<NodeId>),
    /// The members, sorted by name. Members of the same name are in the order of the text.
    Object(Box<[(Box<str>, NodeId)]>),
}

/// The values of a JSON text.
#[derive(Debug, Default)]
pub struct Document {
    values: Vec<Node>,
}

impl Document {
    /// Reads a text and returns the place of its value. The error is the offset at which the text stops being JSON.
    #[cfg(test)]
    pub fn read(text: &str) -> Result<(Document, NodeId), usize> {
        let mut document = Document::default();
        let mut reader = Reader::new(text.as_bytes());
        let root = document.value(&mut reader, text, 0);
        match root.filter(|_| reader.end().is_some()) {
            Some(root) => Ok((document, root)),
            None => Err(reader.offset().min(text.len())),
        }
    }

    pub fn get(&self, place: NodeId) -> &Node {
        &self.values[place.0 as usize]
    }

    /// Returns the last member of this name of an object.
    pub fn member(&self, object: NodeId, key: &str) -> Option<NodeId> {
        match self.get(object) {
            Node::Object(members) => {
                let end = members.partition_point(|(name, _)| **name <= *key);
                members[..end].last().filter(|(name, _)| **name == *key).map(|(_, value)| *value)
            }
            _ => None,
        }
    }

    /// Returns the items of a member that is an array, and nothing for any other value.
    pub fn items(&self, object: NodeId, key: &str) -> &[NodeId] {
        match self.member(object, key).map(|place| self.get(place)) {
            Some(Node::Array(items)) => items,
            _ => &[],
        }
    }

    pub fn str(&self, place: NodeId) -> Option<&str> {
        match self.get(place) {
            Node::String(text) => Some(text),
            _ => None,
        }
    }

    /// Reads one value of `text`, which is inside `depth` others. Returns `None` if it is not JSON, or is nested too deeply.
    pub fn value(&mut self, reader: &mut Reader<'_>, text: &str, depth: u32) -> Option<NodeId> {
        if depth == DEPTH {
            return None;
        }
        let value = match reader.peek()? {
            b'{' => {
                let mut members = Vec::new();
                reader.object(|reader, key| {
                    let value = self.value(reader, text, depth + 1)?;
                    members.push((string(text, key), value));
                    Some(())
                })?;
                members.sort_by(|(one, _), (other, _)| one.cmp(other));
                Node::Object(members.into_boxed_slice())
            }
            b'[' => {
                let mut items = Vec::new();
                reader.array(|reader| {
                    items.push(self.value(reader, text, depth + 1)?);
                    Some(())
                })?;
                Node::Array(items)
            }
            first => {
                let span = reader.value()?;
                match first {
                    b'"' => Node::String(string(text, span)),
                    b't' => Node::Bool(true),
                    b'f' => Node::Bool(false),
                    b'n' => Node::Null,
                    _ if text[span].bytes().all(|byte| matches!(byte, b'-' | b'0'..=b'9')) => Node::Integer,
                    _ => Node::Number,
                }
            }
        };
        self.values.push(value);
        Some(NodeId(u32::try_from(self.values.len() - 1).ok()?))
    }
}

/// Returns the text of the string at `span`, which includes its quotes.
fn string(text: &str, span: Span) -> Box<str> {
    let mut decoded = Vec::new();
    unescape(&text.as_bytes()[span.start + 1..span.end - 1], |part| decoded.extend_from_slice(part));
    String::from_utf8_lossy(&decoded).into()
}

#[cfg(test)]
mod tests {
    use super::{Document, Node};

    #[test]
    fn finds_members_and_the_last_of_two_of_a_name() {
        let text = r#" {"a": [1, -2.5, 1e3, "x\n\u00e9", true, null], "b": {"b": 1}, "b": {"\u0062": "late"}} "#;
        let (document, root) = Document::read(text).unwrap();
        let items = document.items(root, "a");
        assert!(matches!(document.get(items[0]), Node::Integer));
        assert!(matches!(document.get(items[1]), Node::Number));
        assert!(matches!(document.get(items[2]), Node::Number));
        assert_eq!(document.str(items[3]), Some("x\né"));
        assert!(matches!(document.get(items[4]), Node::Bool(true)));
        assert!(matches!(document.get(items[5]), Node::Null));
        let late = document.member(root, "b").and_then(|b| document.member(b, "b")).unwrap();
        assert_eq!(document.str(late), Some("late"));
        assert!(document.items(root, "b").is_empty() && document.items(root, "c").is_empty());
    }

    #[test]
    fn says_where_a_text_stops_being_json() {
        for (text, offset) in [("", 0), ("[1, 2", 5), ("[1 2]", 4), ("[] x", 3), ("{\"a\": tru}", 7)] {
            assert_eq!(Document::read(text).unwrap_err(), offset, "{text}");
        }
        let deep = "[".repeat(128) + &"]".repeat(128);
        assert!(Document::read(&deep).is_ok());
        assert!(Document::read(&format!("[{deep}]")).is_err());
    }
}
