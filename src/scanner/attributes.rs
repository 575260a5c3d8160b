//! Reads the fields of a marker: the attributes of a tag, or the fields of a header. The marker is complete, so no function here
//! may wait for more bytes.

use std::ops::Range;

use super::{error::Error, event::Attribute};
use crate::matcher::{
    bytes::{is_blank, is_name, is_name_start, is_tag_space, same},
    grammar::{HeaderRule, Route},
};
use crate::memory::TryBox;

/// The attributes of the marker that was read last. Memory is allocated with the first attribute.
pub struct Attributes(TryBox<Lists>);

#[derive(Default)]
struct Lists {
    list: Vec<Entry>,
    /// All names and decoded values, joined.
    text: Vec<u8>,
}

#[derive(Clone)]
struct Entry {
    text: usize,
    name: usize,
    value: usize,
    raw_name: Range<usize>,
    raw_value: Range<usize>,
}

impl Attributes {
    pub const NONE: Attributes = Attributes(TryBox::NONE);

    pub fn try_clone(&self) -> Result<Attributes, Error> {
        let mut copy = Attributes::NONE;
        if let Some(own) = self.0.get() {
            let copy = copy.0.made()?;
            copy.list.try_reserve_exact(own.list.len())?;
            copy.list.extend_from_slice(&own.list);
            copy.text.try_reserve_exact(own.text.len())?;
            copy.text.extend_from_slice(&own.text);
        }
        Ok(copy)
    }

    pub fn clear(&mut self) {
        if let Some(Lists { list, text }) = self.0.get_mut() {
            list.clear();
            text.clear();
        }
    }

    pub fn len(&self) -> usize {
        self.0.get().map_or(0, |lists| lists.list.len())
    }

    pub fn get(&self, index: usize) -> Option<Attribute<'_>> {
        let lists = self.0.get()?;
        let Entry { text, name, value, raw_name, raw_value } = lists.list.get(index)?;
        let (name, rest) = lists.text[*text..].split_at(*name);
        Some(Attribute { name, value: &rest[..*value], raw_name: raw_name.clone(), raw_value: raw_value.clone() })
    }

    pub fn iter(&self) -> impl Iterator<Item = Attribute<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Returns the value of the first attribute of that name.
    pub fn value(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|attribute| attribute.name == name.as_bytes()).map(|attribute| attribute.value)
    }

    /// Returns the value of the last attribute of that name.
    fn last_value(&self, name: &str) -> Option<&[u8]> {
        (0..self.len())
            .rev()
            .filter_map(|index| self.get(index))
            .find(|it| it.name == name.as_bytes())
            .map(|it| it.value)
    }

    /// Reads the attributes of a whole tag, whose grammar was already checked.
    pub fn read_tag(&mut self, tag: &[u8]) -> Result<(), Error> {
        self.clear();
        // Values may contain `=`, so each `=` is looked for after the end of the last value.
        let lead = 1 + tag.iter().skip(1).take_while(|&&byte| is_tag_space(byte)).count();
        let mut at = (lead..tag.len()).find(|&at| is_tag_space(tag[at])).unwrap_or(tag.len());
        while let Some(name) = run(tag, at, is_name_start, is_name) {
            let Some(equals) = tag[name.end..].iter().position(|&byte| byte == b'=') else { break };
            let Some(quote) = tag[name.end + equals..].iter().position(|&byte| byte == b'"' || byte == b'\'') else {
                break;
            };
            let start = name.end + equals + quote + 1;
            let Some(len) = memchr::memchr(tag[start - 1], &tag[start..]) else { break };
            let value = start..start + len;
            at = value.end + 1;
            self.push(&tag[name.clone()], name, tag, value, true)?;
        }
        Ok(())
    }

    /// Reads the fields of a header that ended properly.
    pub fn read_header(&mut self, rule: &HeaderRule, header: &[u8]) -> Result<(), Error> {
        self.clear();
        let middle = before_end(rule, header);
        let (_, bare) = self.read_keys(rule, &header[..middle], false)?;
        if let Some(bare) = bare.filter(|_| self.value("type").is_none()) {
            self.push(b"type", bare.start..bare.start, header, bare, false)?;
        }
        self.push(b"end", middle..header.len(), header, middle..header.len(), false)
    }

    /// Reads a header that consists of a key, its value and an end.
    pub fn read_whole_header(&mut self, rule: &HeaderRule, header: &[u8]) -> Result<(), Error> {
        self.clear();
        let middle = before_end(rule, header);
        if let Some(key) = rule.keys.iter().find(|key| begins(rule, header, &key.literal)) {
            let name = 0..key.literal.len();
            self.push(key.name.as_bytes(), name.clone(), header, name.end..middle, false)?;
        }
        self.push(b"end", middle..header.len(), header, middle..header.len(), false)
    }

    /// Reads the fields of a header that broke off. Returns the end of its last value, if it has a value.
    pub fn read_broken_header(&mut self, rule: &HeaderRule, text: &[u8], torn: bool) -> Result<Option<usize>, Error> {
        self.clear();
        Ok(self.read_keys(rule, text, torn)?.0)
    }

    /// Reads keys with their values, in order. Returns the end of the last value, and the bare word at the end of the text.
    fn read_keys(
        &mut self,
        rule: &HeaderRule,
        text: &[u8],
        torn: bool,
    ) -> Result<(Option<usize>, Option<Range<usize>>), Error> {
        let key_at = |at: usize| rule.keys.iter().find(|key| begins(rule, &text[at..], &key.literal));
        let word_end = |from: usize| {
            (from..text.len()).find(|&at| is_blank(text[at]) || key_at(at).is_some()).unwrap_or(text.len())
        };
        let mut last_value = None;
        let mut bare = None;
        let mut at = 0;
        // The beginning of the header is skipped, unless it is also a key.
        if let Some(begin) = rule.begins.iter().find(|begin| begins(rule, text, begin) && key_at(0).is_none()) {
            at = begin.len();
        }
        while at < text.len() {
            if let Some(key) = key_at(at) {
                let value = at + key.literal.len()..word_end(at + key.literal.len());
                let raw_name = at..value.start;
                at = value.end;
                let is_whole = !torn || value.end < text.len();
                if !value.is_empty() && is_whole {
                    last_value = Some(value.end);
                    self.push(key.name.as_bytes(), raw_name, text, value, false)?;
                }
                bare = None;
            } else if is_blank(text[at]) {
                at += 1;
            } else {
                let end = word_end(at);
                bare = Some(at..end);
                at = end;
            }
        }
        Ok((last_value, bare))
    }

    fn push(
        &mut self,
        name: &[u8],
        raw_name: Range<usize>,
        marker: &[u8],
        raw_value: Range<usize>,
        has_references: bool,
    ) -> Result<(), Error> {
        let raw = &marker[raw_value.clone()];
        let Lists { list, text } = self.0.made()?;
        list.try_reserve(1)?;
        // Decoding never makes a value longer.
        text.try_reserve(name.len() + raw.len())?;
        let at = text.len();
        text.extend_from_slice(name);
        if has_references {
            decode(raw, text);
        } else {
            text.extend_from_slice(raw);
        }
        let value = text.len() - at - name.len();
        list.push(Entry { text: at, name: name.len(), value, raw_name, raw_value });
        Ok(())
    }
}

/// Returns the position of a whole header's end. If the header ends with several of the rule's `ends`, the longest counts.
fn before_end(rule: &HeaderRule, header: &[u8]) -> usize {
    let begin = rule.begins.iter().find(|begin| begins(rule, header, begin)).map_or(0, |begin| begin.len());
    let ends = rule.ends.iter().filter_map(|literal| {
        let end = header.len().checked_sub(literal.len())?;
        (end >= begin && begins(rule, &header[end..], literal)).then_some(end)
    });
    ends.min().unwrap_or(header.len())
}

/// Returns whether the text begins with this literal of the header.
fn begins(rule: &HeaderRule, text: &[u8], literal: &[u8]) -> bool {
    text.get(..literal.len()).is_some_and(|text| same(rule.fold, text, literal))
}

/// Returns whether this route fits the fields. Of two fields with the same name, the last counts.
pub fn fits(rule: &HeaderRule, route: &Route, fields: &Attributes) -> bool {
    route.when.iter().all(|(field, wanted)| {
        let is_wanted = |value: &[u8]| wanted.iter().any(|wanted| same(rule.fold, value, wanted.as_bytes()));
        fields.last_value(field).is_some_and(|value| wanted.is_empty() || is_wanted(value))
    })
}

/// Returns the first stretch from `at` on that begins with a byte for which `first` is true, and continues while `rest` is true.
fn run(bytes: &[u8], at: usize, first: fn(u8) -> bool, rest: fn(u8) -> bool) -> Option<Range<usize>> {
    let start = at + bytes.get(at..)?.iter().position(|&byte| first(byte))?;
    let len = bytes[start..].iter().position(|&byte| !rest(byte))?;
    Some(start..start + len)
}

/// Replaces `&lt; &gt; &amp; &quot; &apos;` and numeric references, in one pass; every other `&` stays.
fn decode(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        match reference(rest) {
            Some((len, character)) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[len..];
            }
            None => {
                out.push(b'&');
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest);
}

/// Returns the length and the character of the reference at the start of `text`, which begins with `&`.
fn reference(text: &[u8]) -> Option<(usize, char)> {
    const LONGEST: usize = "&#1234567;".len();
    let len = text.iter().take(LONGEST).position(|&byte| byte == b';')? + 1;
    let number = |digits: &[u8], radix: u32, most: usize| {
        let digits = std::str::from_utf8(digits).ok()?;
        let is_number = (1..=most).contains(&digits.len()) && digits.chars().all(|digit| digit.is_digit(radix));
        let code = u32::from_str_radix(digits, radix).ok().filter(|code| is_number && *code != 0)?;
        char::from_u32(code)
    };
    let character = match &text[1..len - 1] {
        b"lt" => '<',
        b"gt" => '>',
        b"amp" => '&',
        b"quot" => '"',
        b"apos" => '\'',
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16, 6)?,
        [b'#', digits @ ..] => number(digits, 10, 7)?,
        _ => return None,
    };
    Some((len, character))
}
