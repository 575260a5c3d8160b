//! Rewrites whole items, in a body or repeated in a stream. They must have the same texts as the deltas of the stream, so
//! each text is cut where the stream was cut, if that is known.

use std::mem;

use super::annotations::{Annotations, chars};
use super::calls::write_number;
use super::fields::{Object, inside};
use super::message::{ItemKind, Message, TextConfig};
use super::outgoing::{Outgoing, Target, write_call, write_promoted, write_reasoning, write_text};
use super::split::{Comparison, SplitText, content_stretches, split_text};
use super::stretch::{Entry, Stretch, all_in_one, place_of_all};
use crate::answer::{Promotion, Setup};
use crate::json::{Edits, Span, decode, objects, values};
use crate::memory::{self, append, append_all, push};
use crate::sse::protocol::ServerDoes;
use crate::{EndReason, Error};

/// The event or body that a list of items is written for.
#[derive(Clone, Copy, PartialEq)]
pub enum Scope {
    /// A response that is not a stream.
    Body,
    /// The end of a response that was streamed.
    Stream,
    /// An event of a stream that repeats one item.
    Item,
}

/// The items of a response that are written.
pub struct Items<'a> {
    pub setup: &'a mut Setup,
    pub outgoing: &'a mut Outgoing,
    pub(super) scope: Scope,
    server: ServerDoes,
    /// The indexes of the items, and their ranges in `json`.
    pub list: Vec<(u64, Span)>,
    pub json: Vec<u8>,
    pub is_changed: bool,
    pub promotion: Promotion,
    /// The reason why the response ends, if that is known.
    pub end_reason: EndReason,
    /// Whether unclosed thinking at the start of a text becomes content.
    pub may_answer: bool,
    /// The id of the last message.
    pub id: Vec<u8>,
}

impl<'a> Items<'a> {
    pub fn new(setup: &'a mut Setup, outgoing: &'a mut Outgoing, scope: Scope) -> Items<'a> {
        Items {
            setup,
            outgoing,
            scope,
            server: ServerDoes::default(),
            list: Vec::new(),
            json: Vec::new(),
            is_changed: false,
            promotion: Promotion::Closed,
            end_reason: EndReason::Unknown,
            may_answer: false,
            id: Vec::new(),
        }
    }

    /// Notes the content of a message that stays unchanged.
    fn see(&mut self, entries: &[Entry]) {
        if entries.iter().any(Entry::has_content) {
            self.promotion.close();
        }
    }

    /// Adds an item that stays unchanged.
    fn copy(&mut self, data: &[u8], object: &Object, out: u64) -> memory::Result<()> {
        let start = self.json.len();
        append(&mut self.json, &data[object.whole.clone()])?;
        push(&mut self.list, (out, start..self.json.len()))
    }

    /// Adds the item at this place in the server's list.
    pub fn add(&mut self, data: &[u8], object: &Object, index: u64, record: Option<&Message>) -> Result<(), Error> {
        if object.has_reasoning(data) && !mem::replace(&mut self.server.thinking, true) && self.scope == Scope::Body {
            self.setup.stats.split_by_server += 1;
        }
        let (Some(id), Some(content)) = (&object.id, object.content.as_ref().filter(|_| object.is(data, b"message")))
        else {
            let is_reasoning = object.is(data, b"reasoning");
            if is_reasoning && self.outgoing.drops_thinking {
                self.is_changed = true;
                return Ok(self.outgoing.places.hide(index)?);
            }
            if !is_reasoning && !object.is(data, b"message") {
                self.promotion.close();
                self.server.calls = true;
            }
            let out = self.outgoing.places.of(index)?;
            return Ok(self.copy(data, object, out)?);
        };
        let id = inside(data, id);
        let mut entries = self.entries(data, content.clone(), id, record)?;
        if let Some(out) = record.and_then(|record| place_of_all(&entries, record)) {
            self.see(&entries);
            return Ok(self.copy(data, object, out)?);
        }
        let is_new = entries.iter().any(|entry| entry.comparison.is_new());
        let mut stretches = match record.and_then(|record| record.pieces.as_ref().map(|pieces| (record, pieces))) {
            Some((record, _)) if self.scope == Scope::Item && is_new => all_in_one(&entries, record)?,
            Some((record, pieces)) => self.as_sent(&mut entries, pieces, record)?,
            None => self.anew(&entries, index, record)?,
        };
        if self.outgoing.drops_thinking {
            stretches.retain(|stretch| stretch.kind != ItemKind::Reasoning);
        }
        self.write(data, object, id, &entries, &stretches, index)
    }

    /// Reads the parts of a message.
    fn entries(
        &mut self,
        data: &[u8],
        content: Span,
        id: &[u8],
        record: Option<&Message>,
    ) -> Result<Vec<Entry>, Error> {
        let (mut objects, mut memory) = (Vec::new(), Ok(()));
        values(data, content, |at| {
            if memory.is_ok() {
                memory = push(&mut objects, Object::read(data, at));
            }
        });
        memory?;
        let mut entries = Vec::new();
        for (index, object) in objects.into_iter().enumerate() {
            let (said, stretches) = (Vec::new(), Vec::new());
            let mut entry = Entry { object, said, split: None, stretches, comparison: Comparison::Same };
            let text = entry.object.text.clone().filter(|_| entry.object.is(data, b"output_text"));
            if let Some(text) = text {
                let mut room = Vec::new();
                append(&mut entry.said, decode(&data[text], &mut room)?)?;
                let known = record.and_then(|record| record.parts.iter().find(|part| part.index == index as u64));
                let config = match known {
                    Some(part) => part.config,
                    None => self.begin_text(),
                };
                let Items { end_reason, may_answer, .. } = *self;
                let is_body = self.scope == Scope::Body;
                let mut split = split_text(self.setup, id, config, is_body, end_reason, may_answer, &entry.said)?;
                entry.comparison = known.map_or(Comparison::Same, |part| Comparison::of(part, &entry.said, &split));
                if self.scope == Scope::Item && entry.comparison == Comparison::New {
                    // The open item has no place for thinking, so all of the text is content.
                    split = SplitText { content: memory::copy(&entry.said)?, ..SplitText::default() };
                }
                let has_annotations = entry.object.annotations.as_ref().is_some_and(|list| list.len() > 2);
                if has_annotations && split.content != entry.said {
                    entry.stretches = content_stretches(self.setup, config, &entry.said, &split.content)?;
                }
                entry.split = Some(split);
            }
            push(&mut entries, entry)?;
        }
        Ok(entries)
    }

    fn begin_text(&mut self) -> TextConfig {
        let number = self.outgoing.texts;
        self.outgoing.texts += 1;
        TextConfig { number, server: self.server }
    }

    /// Writes the items of a message.
    fn write(
        &mut self,
        data: &[u8],
        object: &Object,
        id: &[u8],
        entries: &[Entry],
        stretches: &[Stretch],
        index: u64,
    ) -> Result<(), Error> {
        let is_same = stretches.len() == entries.len()
            && stretches.iter().enumerate().all(|(place, stretch)| {
                let entry = &entries[stretch.entry];
                let is_whole = stretch.kind == ItemKind::Verbatim || entry.said.len() == stretch.range.len();
                stretch.is_of_message()
                    && stretch.pair == 1
                    && place == stretch.entry
                    && is_whole
                    && stretch.out == stretches[0].out
            });
        if is_same {
            self.see(entries);
            let out = match stretches.first() {
                Some(first) => first.out,
                None => self.outgoing.places.of(index)?,
            };
            return Ok(self.copy(data, object, out)?);
        }
        self.is_changed = true;
        let status = object.status.clone().map_or(&b"\"completed\""[..], |at| &data[at]);
        let mut from = 0;
        while from < stretches.len() {
            let first = &stretches[from];
            let more = stretches[from + 1..].iter().take_while(|next| next.has_item_of(first));
            let until = from + 1 + more.count();
            let target = Target { out: first.out, id, pair: first.pair };
            // Only the last item has the status of the response: earlier items are complete.
            let status = if until == stretches.len() { status } else { &b"\"completed\""[..] };
            let split = entries[first.entry].split.as_ref();
            let start = self.json.len();
            match (first.kind, split) {
                (ItemKind::Reasoning, _) => {
                    let mut text = Vec::new();
                    for stretch in &stretches[from..until] {
                        append(&mut text, entries[stretch.entry].text(stretch))?;
                    }
                    self.promotion.take_thinking(&text)?;
                    self.id.clear();
                    append(&mut self.id, id)?;
                    let (prefix, is_summary) = (self.outgoing.prefix, self.outgoing.is_summary);
                    write_reasoning(prefix, target, &text, status, is_summary, &mut self.json)?;
                }
                (ItemKind::Call(number), Some(split)) => {
                    self.promotion.close();
                    if let Some(call) = split.calls.get(first.range.start) {
                        let mut call_id = memory::copy(&call.id)?;
                        write_number(number, &mut call_id)?;
                        write_call(&call_id, &call.name, &call.arguments, "completed", &mut self.json)?;
                    }
                }
                _ => self.write_message(data, object, target, status, entries, &stretches[from..until])?,
            }
            push(&mut self.list, (first.out, start..self.json.len()))?;
            from = until;
        }
        Ok(())
    }

    /// Writes a message with some of its parts.
    fn write_message(
        &mut self,
        data: &[u8],
        object: &Object,
        target: Target<'_>,
        status: &[u8],
        entries: &[Entry],
        stretches: &[Stretch],
    ) -> Result<(), Error> {
        let mut content = Vec::new();
        append(&mut content, b"[")?;
        for (number, stretch) in stretches.iter().enumerate() {
            let entry = &entries[stretch.entry];
            append(&mut content, if number > 0 { b"," } else { b"" })?;
            if stretch.kind == ItemKind::Verbatim || !stretch.range.is_empty() {
                self.promotion.close();
            }
            match &entry.split {
                Some(_) if stretch.kind == ItemKind::Message => {
                    let before = Stretch { range: 0..stretch.range.start, ..*stretch };
                    let (skip, text) = (chars(entry.text(&before)), entry.text(stretch));
                    let place = Annotations::In { stretches: &entry.stretches, skip, len: chars(text) };
                    write_part(data, &entry.object, &entry.said, text, place, &mut content)?;
                }
                _ => append(&mut content, &data[entry.object.whole.clone()])?,
            }
        }
        append(&mut content, b"]")?;
        let mut edits = Edits::default();
        if let Some(id) = object.id.clone().filter(|_| target.pair > 1) {
            edits.replace(id, |out| target.write_id("", out))?;
        }
        if let Some(at) = object.status.clone() {
            edits.replace(at, |out| append(out, status))?;
        }
        if let Some(at) = object.content.clone() {
            edits.replace(at, |out| append(out, &content))?;
        }
        Ok(edits.apply(data, object.whole.clone(), Span::clone, &mut self.json)?)
    }

    /// Adds a message that repeats the thinking as content.
    pub fn promote(&mut self, id: &[u8], out: u64, thinking: &[u8]) -> Result<(), Error> {
        let start = self.json.len();
        write_promoted(id, thinking, &mut self.json)?;
        push(&mut self.list, (out, start..self.json.len()))?;
        self.is_changed = true;
        Ok(())
    }

    /// Writes the list.
    pub fn write_list(&mut self, out: &mut Vec<u8>) -> memory::Result<()> {
        // Items with one index keep their order.
        self.list.sort_unstable_by_key(|(out, at)| (*out, at.start));
        append(out, b"[")?;
        for (number, (_, at)) in self.list.iter().enumerate() {
            append_all(out, &[if number > 0 { b"," } else { b"" }, &self.json[at.clone()]])?;
        }
        append(out, b"]")
    }
}

/// Writes a text part with a changed text.
pub fn write_part(
    data: &[u8],
    part: &Object,
    said: &[u8],
    text: &[u8],
    place: Annotations<'_>,
    out: &mut Vec<u8>,
) -> memory::Result<()> {
    let mut edits = Edits::default();
    if text != said {
        if let Some(at) = part.text.clone() {
            edits.replace(at, |out| write_text(b"", text, out))?;
        }
        if let Some(at) = part.logprobs.clone() {
            edits.replace(at, |out| append(out, b"[]"))?;
        }
        if let Some(at) = part.annotations.clone().filter(|at| at.len() > 2) {
            let mut list = Vec::new();
            append(&mut list, b"[")?;
            let mut memory = Ok(());
            objects(data, at.clone(), |at| {
                let start = list.len();
                let write = || {
                    append(&mut list, if start > 1 { b"," } else { b"" })?;
                    place.write(data, at, &mut list)
                };
                if memory.is_ok() {
                    match write() {
                        Ok(true) => {}
                        Ok(false) => list.truncate(start),
                        Err(error) => memory = Err(error),
                    }
                }
            });
            memory?;
            append(&mut list, b"]")?;
            edits.replace(at, |out| append(out, &list))?;
        }
    }
    edits.apply(data, part.whole.clone(), Span::clone, out)
}
