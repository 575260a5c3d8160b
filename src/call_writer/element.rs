//! Writes a value of nested elements as JSON. Whether an element is a list, an object or a text depends on its schema and its
//! first inner element, so the outermost element is held until it is whole.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::{
    held::HeldText,
    output::Put,
    schema::{Schema, Types},
    string::quote,
    value::{self, BLANKS},
};
use crate::{Error, memory::push};

/// The deepest nesting of elements.
const DEPTH: usize = 64;
/// The maximum memory for a tag, in bytes: the list of tags grows by a quarter.
const TAG: usize = size_of::<Tag>() * 5 / 4;
/// The number of tags for which memory is kept from one element to the next.
const KEPT: usize = 64;
/// The name of an element that is an item of a list.
const ITEM: &str = "item";

/// An opener or a closer in the text of the outermost element.
#[derive(Clone, Copy, Debug)]
struct Tag {
    is_open: bool,
    /// The beginning and end of an opener's name. A closer has only a beginning.
    start: u32,
    end: u32,
    /// The end of an opener.
    inside: u32,
}

/// The outermost element: its text, and the positions of the inner tags.
#[derive(Debug, Default)]
pub struct Element {
    tags: Vec<Tag>,
    /// The number of open elements, including this one.
    pub depth: usize,
    /// A hash of the name of each open element.
    names: Vec<u64>,
}

impl Element {
    /// Begins the outermost element, after its opener.
    pub fn begin(&mut self) {
        self.clear();
        self.depth = 1;
    }

    /// Forgets the tags, but not the number of open elements.
    pub fn clear(&mut self) {
        self.tags.clear();
        if self.tags.capacity() > KEPT {
            self.tags = Vec::new();
        }
    }

    /// Notes the name of an element that opens.
    pub fn begin_name(&mut self, name: &str) -> Result<(), Error> {
        push(&mut self.names, hash(name))?;
        Ok(())
    }

    /// Notes that the innermost element closes. Returns whether the closer has the element's name, or no name.
    pub fn end_name(&mut self, name: Option<&str>) -> bool {
        let own = self.names.pop();
        name.is_none_or(|name| own == Some(hash(name)))
    }

    /// Forgets which elements are open.
    pub fn end_all(&mut self) {
        self.depth = 0;
        self.names.clear();
    }

    /// Adds text between tags. Returns false if there is no room, as the functions below do; in that case nothing has changed.
    pub fn text(&mut self, text: &str, held: &mut HeldText) -> Result<bool, Error> {
        held.add(text, self.size())
    }

    /// Adds the name of an element. Text after it belongs to its opener until `inside` is called.
    pub fn open(&mut self, name: &str, held: &mut HeldText) -> Result<bool, Error> {
        let start = held.as_str().len() as u32;
        let end = start + name.len() as u32;
        let is_held = self.depth < DEPTH && self.tag(Tag { is_open: true, start, end, inside: end }, name, held)?;
        self.depth += usize::from(is_held);
        Ok(is_held)
    }

    /// Notes that the opener ends here.
    pub fn inside(&mut self, held: &HeldText) {
        if let Some(tag) = self.tags.last_mut() {
            tag.inside = held.as_str().len() as u32;
        }
    }

    /// Adds the closer of the innermost element, unless that is the outermost one, whose text does not include its closer.
    pub fn close(&mut self, closer: &str, held: &mut HeldText) -> Result<bool, Error> {
        let start = held.as_str().len() as u32;
        let closer = if self.depth == 1 { "" } else { closer };
        let is_held = self.tag(Tag { is_open: false, start, end: start, inside: start }, closer, held)?;
        self.depth -= usize::from(is_held);
        Ok(is_held)
    }

    /// Writes the outermost element, which is closed and has these types, as JSON. `unknown` are the types of elements that
    /// have no inner elements and are not in the schema.
    pub fn write(
        &self,
        text: &str,
        types: Types,
        schema: Option<Schema<'_>>,
        unknown: Types,
        out: &mut impl Put,
    ) -> Result<(), Error> {
        Tree { text, tags: &self.tags, unknown }.element(0, 0, types, schema, out).map(drop)
    }

    #[cfg(test)]
    pub fn memory(&self) -> usize {
        self.tags.capacity() * size_of::<Tag>() + self.names.capacity() * size_of::<u64>()
    }

    fn size(&self) -> usize {
        self.tags.len() * TAG
    }

    /// Adds a tag with its text.
    fn tag(&mut self, tag: Tag, text: &str, held: &mut HeldText) -> Result<bool, Error> {
        if !held.add(text, self.size() + TAG)? {
            return Ok(false);
        }
        if self.tags.len() == self.tags.capacity() {
            self.tags.try_reserve_exact(8.max(self.tags.len() / 4))?;
        }
        self.tags.push(tag);
        Ok(true)
    }
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

struct Tree<'a> {
    text: &'a str,
    tags: &'a [Tag],
    unknown: Types,
}

impl<'a> Tree<'a> {
    /// Writes the element whose text begins at `inside` and whose first inner tag, or closer, has the index `at`. Returns the
    /// index of the tag after its closer.
    fn element(
        &self,
        mut at: usize,
        inside: u32,
        types: Types,
        schema: Option<Schema<'_>>,
        out: &mut impl Put,
    ) -> Result<usize, Error> {
        if !self.tags[at].is_open || types == Types::STRING {
            at = self.closer(at);
            self.leaf(&self.text[inside as usize..self.tags[at].start as usize], types, out)?;
            return Ok(at + 1);
        }
        let is_list = self.is_list(self.name(at), types);
        out.put(if is_list { "[" } else { "{" })?;
        let mut is_first = true;
        while self.tags[at].is_open {
            if !std::mem::replace(&mut is_first, false) {
                out.put(",")?;
            }
            let name = self.name(at);
            let inner = if is_list {
                schema.map(Schema::items)
            } else {
                quote(name, out)?;
                out.put(":")?;
                schema.map(|schema| schema.property(name))
            };
            let types = inner.map_or(Types::UNKNOWN, Schema::types);
            at = self.element(at + 1, self.tags[at].inside, types, inner, out)?;
        }
        out.put(if is_list { "]" } else { "}" })?;
        Ok(at + 1)
    }

    fn is_list(&self, first: &str, types: Types) -> bool {
        let types = types.without(Types::NULL);
        types == Types::ARRAY || first == ITEM && (types.is_unknown() || types.has(Types::ARRAY))
    }

    /// Writes an element without inner elements, or an element that is a string, with all text in it.
    fn leaf(&self, text: &str, types: Types, out: &mut impl Put) -> Result<(), Error> {
        let is_blank = !types.has(Types::STRING) && text.trim_matches(BLANKS).is_empty();
        if is_blank && types.has(Types::ARRAY) {
            out.put("[]")
        } else if is_blank && types.has(Types::OBJECT) {
            out.put("{}")
        } else {
            value::write(text, if types.is_unknown() { self.unknown } else { types }, out)
        }
    }

    fn name(&self, at: usize) -> &'a str {
        let Tag { start, end, .. } = self.tags[at];
        &self.text[start as usize..end as usize]
    }

    /// Returns the index of the closer of the element whose first inner tag has the index `at`.
    fn closer(&self, mut at: usize) -> usize {
        let mut depth = 0;
        loop {
            match self.tags[at].is_open {
                true => depth += 1,
                false if depth == 0 => return at,
                false => depth -= 1,
            }
            at += 1;
        }
    }
}
