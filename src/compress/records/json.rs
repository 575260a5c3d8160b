//! Shortens JSON so that it stays JSON: long strings lose their middle, then lists lose elements. Elements that differ from the
//! others or report a failure stay.

use std::ops::Range;

use twox_hash::XxHash3_64;

use super::{
    fields::{Field, rarity},
    streams::{ENDS, FAILED},
};
use crate::{
    compress::{
        lines::failures,
        text::{
            bytes::is_boundary,
            edit::{Edit, EditKind},
        },
    },
    json::{Reader, is_json},
};

/// The maximum number of lines at which reading JSON is tried.
const MOST_TRIES: usize = 8;
/// Values that are nested deeper stay as they are.
const DEEPEST: usize = 32;
/// The least length of a string, and of a container in an object.
const LEAST_STRING: usize = 100;
const LEAST_INSIDE: usize = 160;
/// The length of a marker, and of the place that it may name.
const MARKER: usize = 56;
const PLACE: usize = 24;
/// The least length of a piece of a string around a word of failure.
const LEAST_PIECE: usize = 40;
/// The minimum number of objects in an object that make it a map of records.
const LEAST_OF_MAP: usize = 8;
/// The share of the room for an element that differs from the others, and for any other element.
const RARE_SHARE: usize = 4;
const SHARE: usize = 16;
/// If this many successive elements do not fit, no more elements are tried.
const MISSES: usize = 16;

/// Names of fields that report a failure: by the value `false`, by a number other than 0, and by a number that is at least the
/// given number.
const TRUE: [&str; 6] = ["ok", "success", "succeeded", "passed", "healthy", "valid"];
const ZERO: [&str; 6] = ["exitcode", "exitstatus", "returncode", "rc", "exit", "errorcount"];
const BELOW: [(&str, f64); 4] = [("status", 400.0), ("statuscode", 400.0), ("httpstatus", 400.0), ("level", 50.0)];

/// The JSON in a text.
pub struct Document<'a> {
    bytes: &'a [u8],
    root: Node,
    /// The beginnings of records that belong to a failure.
    related: Vec<usize>,
    /// The length of a marker.
    marker: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar,
    String,
    Array,
    Object,
    /// A sequence of values, each of which ends with a line.
    Lines,
}

struct Node {
    span: Range<usize>,
    /// The key of a member, with its quotes.
    key: Option<Range<usize>>,
    kind: Kind,
    children: Vec<Node>,
    /// The length to which the value can be shortened.
    least: usize,
}

impl Node {
    fn new(span: Range<usize>, key: Option<Range<usize>>, kind: Kind, children: Vec<Node>) -> Node {
        let mut node = Node { span, key, kind, children, least: 0 };
        let len = node.span.len();
        node.least = match kind {
            Kind::Scalar => len,
            Kind::String => len.min(LEAST_STRING),
            Kind::Array | Kind::Lines => len.min(LEAST_INSIDE),
            Kind::Object => node.overhead() + node.children.iter().map(Node::floor).sum::<usize>(),
        };
        node
    }

    /// Returns the length to which the value can be shortened if its members may be left out too.
    fn floor(&self) -> usize {
        self.least.min(if self.children.is_empty() { usize::MAX } else { LEAST_INSIDE })
    }

    /// Returns whether this is an object of records, by name.
    fn is_map(&self) -> bool {
        let records = self.children.iter().filter(|child| child.kind == Kind::Object).count();
        self.kind == Kind::Object && records >= LEAST_OF_MAP && records * 2 > self.children.len()
    }

    fn read(reader: &mut Reader<'_>, key: Option<Range<usize>>, depth: usize) -> Option<Node> {
        let (first, start) = (reader.peek()?, reader.offset());
        let mut children = Vec::new();
        let kind = match first {
            b'{' if depth < DEEPEST => {
                reader.object(|reader, key| {
                    children.push(Node::read(reader, Some(key), depth + 1)?);
                    Some(())
                })?;
                Kind::Object
            }
            b'[' if depth < DEEPEST => {
                reader.array(|reader| {
                    children.push(Node::read(reader, None, depth + 1)?);
                    Some(())
                })?;
                Kind::Array
            }
            _ => {
                reader.value()?;
                if first == b'"' { Kind::String } else { Kind::Scalar }
            }
        };
        Some(Node::new(start..reader.offset(), key, kind, children))
    }

    /// Returns the number of bytes between two children.
    fn overhead(&self) -> usize {
        self.span.len() - self.children.iter().map(|child| child.span.len()).sum::<usize>()
    }

    /// Returns the place of the child in a list: a member begins at its key.
    fn start(&self) -> usize {
        self.key.as_ref().map_or(self.span.start, |key| key.start)
    }
}

impl<'a> Document<'a> {
    /// Finds JSON that is most of a text: one value that begins and ends with lines, or a sequence of at least two such values; or a
    /// single string that is the whole text.
    pub fn find(bytes: &'a [u8]) -> Option<Document<'a>> {
        let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let ends_a_string = bytes.trim_ascii_end().ends_with(b"\"");
        let mut tries = 0;
        // The number of attempts is limited, because each of them may read a large part of the text up to a fault.
        while tries < MOST_TRIES {
            rest = rest.trim_ascii_start();
            if rest.len() * 2 < bytes.len() {
                break;
            }
            let is_string = tries == 0 && ends_a_string && rest.starts_with(b"\"");
            if is_string || matches!(rest.first(), Some(b'{' | b'[')) {
                tries += 1;
                let root = Document::value(bytes, bytes.len() - rest.len());
                if let Some(root) = root.filter(|root| root.span.len() * 2 > bytes.len()) {
                    return Some(Document { bytes, root, related: Vec::new(), marker: MARKER });
                }
            }
            rest = &rest[memchr::memchr(b'\n', rest)? + 1..];
        }
        None
    }

    fn value(bytes: &[u8], at: usize) -> Option<Node> {
        let mut reader = Reader::at(bytes, at);
        let mut children = Vec::new();
        let ends_line = |end: usize| {
            let rest = &bytes[end..];
            rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())].trim_ascii().is_empty()
        };
        let mut end = at;
        if reader.peek() == Some(b'"') {
            return Node::read(&mut reader, None, 0).filter(|node| bytes[node.span.end..].trim_ascii().is_empty());
        }
        while matches!(reader.peek(), Some(b'{' | b'[')) {
            let Some(node) = Node::read(&mut reader, None, 0).filter(|node| ends_line(node.span.end)) else { break };
            end = node.span.end;
            children.push(node);
        }
        let start = children.first()?.span.start;
        match children.len() {
            1 => children.pop(),
            _ => Some(Node::new(start..end, None, Kind::Lines, children)),
        }
    }

    /// Returns whether this is one value, and not values on lines.
    pub fn is_value(&self) -> bool {
        self.root.kind != Kind::Lines
    }

    /// Returns whether `new`, which edits have made from this text, still has JSON in the same place.
    pub fn is_json_in(&self, new: &[u8]) -> bool {
        let after = self.bytes.len() - self.root.span.end;
        let new = new.len().checked_sub(after).and_then(|end| new.get(self.root.span.start..end));
        new.is_some_and(|new| if self.root.kind == Kind::Lines { are_values(new) } else { is_json(new) })
    }

    /// Ranks records that begin at these offsets, which are in order, like records with words of failures.
    pub fn relate(&mut self, starts: Vec<usize>) {
        self.related = starts;
    }

    /// Leaves room for markers that name a place.
    pub fn number(&mut self) {
        self.marker = MARKER + PLACE;
    }

    /// Returns edits after which the text has about `limit` bytes.
    pub fn edits(&self, limit: usize) -> Vec<Edit> {
        let room = limit.saturating_sub(self.bytes.len() - self.root.span.len());
        let mut edits = Vec::new();
        self.fit(&self.root, room, &mut edits);
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }

    /// Shortens a value to the room, if that is possible. Returns the new length of the value.
    fn fit(&self, node: &Node, room: usize, edits: &mut Vec<Edit>) -> usize {
        let len = node.span.len();
        if len <= room {
            return len;
        }
        match node.kind {
            Kind::Scalar => return len,
            Kind::String => return self.cut(node, room.max(LEAST_STRING), edits),
            _ => {}
        }
        let inner = room.saturating_sub(node.overhead());
        // Whole records are left out before a record loses members.
        let is_one = node.kind == Kind::Object && !node.is_map();
        let least = move |child: &Node| if is_one { child.floor() } else { child.least };
        let sizes = |cap: usize| node.children.iter().map(move |child| child.span.len().min(cap.max(least(child))));
        if sizes(0).sum::<usize>() > inner {
            return self.select(node, room, edits);
        }
        let (mut low, mut high) = (0, len);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if sizes(middle).sum::<usize>() <= inner { low = middle } else { high = middle }
        }
        node.overhead() + node.children.iter().map(|child| self.fit(child, low.max(least(child)), edits)).sum::<usize>()
    }

    /// Leaves out the middle of a string, but not the text around the first and the last word in it that says that something failed.
    fn cut(&self, node: &Node, room: usize, edits: &mut Vec<Edit>) -> usize {
        let Range { start, end } = node.span;
        let keep = room.saturating_sub(self.marker);
        // The length of each piece between markers, for that number of words.
        let piece = |words: usize| keep.saturating_sub(words * self.marker) / (2 + words);
        let middle = |piece: usize| start + 1 + piece..(end - 1).saturating_sub(piece);
        let inside = middle(piece(1) + self.marker);
        let is_long = piece(1) >= LEAST_PIECE && inside.start < inside.end;
        let mut found = is_long.then(|| failures::built_in().failing_words(self.bytes, inside)).into_iter().flatten();
        let first = found.next();
        let last =
            found.last().filter(|last| piece(2) >= LEAST_PIECE && first.is_some_and(|first| first + piece(2) < *last));
        let words: Vec<usize> = first.into_iter().chain(last).collect();
        let piece = piece(words.len());
        let middle = match words.is_empty() {
            true => start + 1 + keep * 2 / 3..end - 1 - keep / 3,
            false => middle(piece),
        };
        let mut at = middle.start;
        let mut gone = Vec::new();
        for word in words {
            let from = word.saturating_sub(piece / 3).max(at);
            gone.push(at..from);
            at = (from + piece).min(middle.end).max(at);
        }
        gone.push(at..middle.end);
        let mut left = node.span.len();
        for gone in gone {
            let gone = self.whole(&node.span, gone);
            if gone.start + self.marker < gone.end {
                left = left - gone.len() + self.marker;
                edits.push(Edit { range: gone, kind: EditKind::OfString });
            }
        }
        left
    }

    /// Returns a range in a string that is a little larger, so that it divides neither a character nor an escape.
    fn whole(&self, string: &Range<usize>, range: Range<usize>) -> Range<usize> {
        let (mut from, mut at) = (string.start + 1, string.start + 1);
        while at < string.end - 1 {
            let pair = self.bytes[at..].starts_with(b"\\u") && self.bytes[at + 6..].starts_with(b"\\u");
            let step = match self.bytes[at] {
                b'\\' if pair => 12,
                b'\\' if self.bytes[at + 1] == b'u' => 6,
                b'\\' => 2,
                _ => 1,
            };
            let is_whole = is_boundary(self.bytes, at);
            if is_whole && at <= range.start {
                from = at;
            } else if is_whole && at >= range.end {
                return from..at;
            }
            at += step;
        }
        from..string.end - 1
    }

    /// Leaves out children of a value.
    fn select(&self, node: &Node, room: usize, edits: &mut Vec<Edit>) -> usize {
        let count = node.children.len();
        let between = node.overhead() / count.max(1) + 1;
        let mut spent = self.marker + count.min(2);
        let mut stays = vec![false; count];
        let mut misses = 0;
        for (at, share) in self.order(node) {
            let child = &node.children[at];
            let mut own = Vec::new();
            let free = room.saturating_sub(spent + between);
            let may_lose_members = child.least > free && (share <= RARE_SHARE || spent <= self.marker + count.min(2));
            let least = if may_lose_members { child.floor() } else { child.least };
            let size = between + self.fit(child, least.max(free.min(room / share.min(count))), &mut own);
            // A kept child may divide a run of omitted children, which costs one more marker, or be at the end of a run.
            let runs = usize::from(at > 0 && !stays[at - 1]) + usize::from(at + 1 < count && !stays[at + 1]);
            let size = (size + runs * self.marker).saturating_sub(self.marker);
            if spent + size > room {
                misses += 1;
                if misses > MISSES { break } else { continue }
            }
            (misses, spent, stays[at]) = (0, spent + size, true);
            edits.append(&mut own);
        }
        let mut at = 0;
        while at < count {
            let end = (at..count).find(|&next| stays[next] != stays[at]).unwrap_or(count);
            if !stays[at] {
                let range = node.children[at].start()..node.children[end - 1].span.end;
                let kind =
                    if node.kind == Kind::Object { EditKind::Members(end - at) } else { EditKind::Elements(end - at) };
                edits.push(Edit { range, kind });
            }
            at = end;
        }
        spent
    }

    /// Returns the children in the order in which they are kept, each with its share of the room: children that differ, the first
    /// and the last, and then the others from the first on. In an object that is not a map of records, short values are first.
    fn order(&self, node: &Node) -> Vec<(usize, usize)> {
        let mut order: Vec<usize> = (0..node.children.len()).collect();
        if node.kind == Kind::Object && !node.is_map() {
            order.sort_by_key(|&at| node.children[at].least.div_ceil(LEAST_INSIDE));
            return order.into_iter().map(|at| (at, SHARE)).collect();
        }
        let (mut fields, mut failures, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for child in &node.children {
            let mut found = Found { fields: Vec::new(), is_failure: false };
            self.describe(child, 0, 0, &mut found);
            fields.push(found.fields);
            failures.push(found.is_failure);
            let mut said = failures::built_in().failing_words(self.bytes, child.span.clone());
            words.push(said.next().is_some() || self.related.binary_search(&child.span.start).is_ok());
        }
        let rarity = rarity(&fields);
        let tells = |of: &[bool]| of.iter().filter(|&&is| is).count() * 2 <= of.len();
        let (tell_failures, tell_words) = (tells(&failures), tells(&words));
        let last = order.len().saturating_sub(1);
        let rank = |at: usize| match () {
            _ if tell_failures && failures[at] => 0,
            _ if tell_words && words[at] => 1,
            _ if rarity[at] < usize::MAX => 1 + rarity[at],
            _ if at == 0 || at == last => usize::MAX - 1,
            _ => usize::MAX,
        };
        order.sort_by_key(|&at| rank(at));
        let is_rare = |at: usize| rank(at) < usize::MAX - 1;
        let rare = order.iter().filter(|&&at| is_rare(at)).count().clamp(RARE_SHARE / 2, RARE_SHARE);
        order.into_iter().map(|at| (at, if is_rare(at) { rare } else { SHARE })).collect()
    }

    /// Collects the fields of a record and of all values in it, and notes whether any field reports a failure.
    fn describe(&self, node: &Node, name: u64, depth: usize, found: &mut Found) {
        const DEPTH: usize = 5;
        const LONGEST: usize = 200;
        const MOST_FIELDS: usize = 256;
        let text = &self.bytes[node.span.clone()];
        let is_long = text.len() > LONGEST;
        let is_list = node.kind == Kind::Array;
        match node.kind {
            _ if is_long => found.fields.push((name, 0)),
            _ if is_list || node.children.is_empty() => found.fields.push((name, XxHash3_64::oneshot(text))),
            _ => found.fields.push((name, 1)),
        }
        if let Some(key) = &node.key {
            found.is_failure |= reports_failure(&self.bytes[key.clone()], text);
        }
        if depth == DEPTH {
            return;
        }
        for child in &node.children {
            if found.fields.len() >= MOST_FIELDS {
                break;
            }
            let key = child.key.clone().map_or(&b""[..], |key| &self.bytes[key]);
            // The elements of a list are fields with the same name.
            self.describe(child, XxHash3_64::oneshot_with_seed(name, key), depth + usize::from(!is_list), found);
        }
    }
}

struct Found {
    fields: Vec<Field>,
    is_failure: bool,
}

/// Returns whether a field reports a failure by its value.
fn reports_failure(key: &[u8], value: &[u8]) -> bool {
    let key: String =
        key.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(|&byte| byte.to_ascii_lowercase() as char).collect();
    let key = &key[..];
    let number = || std::str::from_utf8(value).ok()?.parse::<f64>().ok();
    let text = std::str::from_utf8(value).unwrap_or_default().trim_matches('"').to_ascii_lowercase();
    ENDS.contains(&key) && FAILED.contains(&&text[..])
        || TRUE.contains(&key) && value == b"false"
        || ZERO.contains(&key) && number().is_some_and(|number| number != 0.0)
        || BELOW.iter().any(|&(name, least)| name == key && number().is_some_and(|number| number >= least))
}

/// Returns whether the text is a sequence of JSON values.
fn are_values(text: &[u8]) -> bool {
    let mut reader = Reader::new(text);
    while reader.end().is_none() {
        if reader.value().is_none() {
            return false;
        }
    }
    true
}

/// Checks the promise of a filter for JSON: it leaves out whole elements or members, or the middle of a string.
pub fn keeps_elements(bytes: &[u8], edits: &[Edit]) -> Result<(), String> {
    let mut at = 0;
    for Edit { range, kind } in edits {
        if range.start < at || range.end > bytes.len() {
            return Err(format!("edits out of order at byte {}", range.start));
        }
        at = range.end;
        let gone = &bytes[range.clone()];
        let is_whole = match kind {
            EditKind::Elements(_) => are_values(gone) || is_json(&[b"[", gone, b"]"].concat()),
            EditKind::Members(_) => is_json(&[b"{", gone, b"}"].concat()),
            EditKind::OfString => is_json(&[b"\"", gone, b"\""].concat()),
            _ => false,
        };
        if !is_whole {
            return Err(format!("what was left out at byte {} is not whole", range.start));
        }
    }
    Ok(())
}
