//! Items that come whole, with all of their text: in a body, and once more at the end of a stream. A client must find in them what
//! it has put together from the stream, so each text is cut where the stream's was, if that is known.

use std::mem;

use super::calls::{prefix, unique, write_number};
use super::fields::{Object, each, inside, values};
use super::message::{ItemKind, Message, Piece, SentDigest, TextConfig, TextPart};
use super::outgoing::{Outgoing, Target, write_call, write_promoted, write_reasoning, write_text};
use super::place::{Annotations, Stretches, chars};
use crate::json::Span;
use crate::memory::{self, append, append_all, push};
use crate::sse::edits::{Edits, decode};
use crate::sse::promotion::Promotion;
use crate::sse::protocol::ServerDoes;
use crate::sse::text::{self, CallPart, Input, Parts, Setup};
use crate::utf8::is_continuation;
use crate::{Channel, Error, Kind};

/// At most this many stretches of a text become items of their own, if no stream says what they have become.
const ALONE: usize = 32;

/// A call in a text.
struct WholeCall {
    id: Vec<u8>,
    name: Vec<u8>,
    arguments: Vec<u8>,
}

/// A whole text that was split: how much there is for each kind of item, one after the other.
#[derive(Default)]
struct SplitText {
    order: Vec<(text::Target, usize)>,
    thinking: Vec<u8>,
    content: Vec<u8>,
    calls: Vec<WholeCall>,
    /// The same, as it is compared with what a stream has sent.
    sent: SentDigest,
}

impl SplitText {
    fn read(parts: &Parts) -> Result<SplitText, Error> {
        let mut split = SplitText::default();
        split.sent.add(parts);
        for run in parts.runs() {
            let text = parts.text_of(run);
            match run.target() {
                text::Target::Reasoning => append(&mut split.thinking, text)?,
                text::Target::Content => append(&mut split.content, text)?,
                text::Target::Calls => match (parts.call_part(run), split.calls.last_mut()) {
                    (Some(CallPart::Begin { id, name }), _) => {
                        let (id, name) = (memory::copy(id)?, memory::copy(name)?);
                        push(&mut split.calls, WholeCall { id, name, arguments: Vec::new() })?;
                    }
                    (Some(CallPart::Arguments(more)), Some(call)) => {
                        append(&mut call.arguments, more)?;
                        continue;
                    }
                    _ => continue,
                },
            }
            push(&mut split.order, (run.target(), text.len()))?;
        }
        Ok(split)
    }

    /// Makes thinking of text where the stream had thinking, and content where it had that, if there is as much of both together
    /// but not of each: whether text is one or the other may have been found out when it had gone.
    fn lay_out<'a>(&mut self, pieces: impl Iterator<Item = &'a Piece> + Clone) -> Result<(), Error> {
        let len =
            |kind: ItemKind| pieces.clone().filter(|piece| piece.kind == kind).map(|piece| piece.len).sum::<usize>();
        let (thinking, content) = (len(ItemKind::Reasoning), len(ItemKind::Message));
        let all = self.thinking.len() + self.content.len();
        if thinking == self.thinking.len() || thinking + content != all {
            return Ok(());
        }
        let (mut old, mut joined) = ([0, 0], Vec::new());
        for &(target, len) in &self.order {
            let (at, text) = match target {
                text::Target::Reasoning => (&mut old[0], &self.thinking),
                text::Target::Content => (&mut old[1], &self.content),
                text::Target::Calls => continue,
            };
            append(&mut joined, &text[take(at, text.len(), len, false)])?;
        }
        self.thinking.clear();
        self.content.clear();
        let mut at = 0;
        for piece in pieces {
            match piece.kind {
                ItemKind::Reasoning => append(&mut self.thinking, &joined[take(&mut at, all, piece.len, false)])?,
                ItemKind::Message => append(&mut self.content, &joined[take(&mut at, all, piece.len, false)])?,
                ItemKind::Verbatim | ItemKind::Call(_) => {}
            }
        }
        Ok(())
    }
}

/// A part of a message: its text, if it has one, split.
struct Entry {
    object: Object,
    said: Vec<u8>,
    split: Option<SplitText>,
    stretches: Vec<(u64, u64)>,
    comparison: Comparison,
}

/// A comparison of a whole text with what a stream has sent of its part.
#[derive(Clone, Copy, PartialEq)]
pub enum Comparison {
    /// It is the same text, or the stream had none.
    Same,
    /// It is another, but becomes the same, white space apart.
    Known,
    /// Content of it may not have gone out.
    NewContent,
    /// Thinking or calls of it may not have gone out.
    New,
}

impl Comparison {
    fn of(part: &TextPart, said: &[u8], split: &SplitText) -> Comparison {
        match &split.sent {
            _ if part.agrees(said) => Comparison::Same,
            sent if *sent == part.sent => Comparison::Known,
            sent if sent.has_only_content_more_than(&part.sent) => Comparison::NewContent,
            _ => Comparison::New,
        }
    }

    pub fn is_new(self) -> bool {
        matches!(self, Comparison::NewContent | Comparison::New)
    }
}

impl Entry {
    /// Returns the text that a stretch is of. It was measured on that.
    fn text(&self, stretch: &Stretch) -> &[u8] {
        let text = self.split.as_ref().map(|split| match stretch.kind {
            ItemKind::Reasoning => &split.thinking[..],
            ItemKind::Message => &split.content,
            ItemKind::Verbatim | ItemKind::Call(_) => b"",
        });
        let text = text.and_then(|text| text.get(stretch.range.clone()));
        debug_assert!(
            text.is_some() || !matches!(stretch.kind, ItemKind::Reasoning | ItemKind::Message),
            "a stretch of another text"
        );
        text.unwrap_or_default()
    }

    /// Returns whether its text is content as it is.
    fn is_content(&self) -> bool {
        let Some(split) = &self.split else { return true };
        split.content == self.said && split.thinking.is_empty() && split.calls.is_empty()
    }

    /// Returns whether it has something other than an empty text.
    fn has_content(&self) -> bool {
        self.split.is_none() || !self.said.is_empty()
    }
}

/// Returns the place of the one message that got all of these parts, if it did: then it stays as the server writes it, also where
/// that contradicts the events before.
fn place_of_all(entries: &[Entry], record: &Message) -> Option<u64> {
    let pieces = record.pieces.as_ref()?;
    let first = pieces.first()?;
    let is_one = pieces.iter().all(|piece| {
        matches!(piece.kind, ItemKind::Message | ItemKind::Verbatim) && piece.out == first.out && piece.pair == 1
    });
    (is_one && entries.iter().all(Entry::is_content)).then_some(first.out)
}

/// What goes to an item: a range of an entry's thinking or content, as `kind` says, or one of its calls.
struct Stretch {
    kind: ItemKind,
    entry: usize,
    out: u64,
    pair: u64,
    range: Span,
}

impl Stretch {
    fn is_of_message(&self) -> bool {
        matches!(self.kind, ItemKind::Message | ItemKind::Verbatim)
    }

    /// Returns whether another stretch goes to the same item. Of a server that contradicts itself, several may have one place.
    fn has_item_of(&self, other: &Stretch) -> bool {
        let is_of_kind = match self.kind {
            ItemKind::Reasoning => other.kind == ItemKind::Reasoning,
            ItemKind::Message | ItemKind::Verbatim => other.is_of_message(),
            ItemKind::Call(_) => false,
        };
        is_of_kind && self.out == other.out
    }
}

/// Reads a text of a message anew.
fn split_text(
    setup: &mut Setup,
    id: &[u8],
    config: TextConfig,
    is_body: bool,
    said: &[u8],
) -> Result<SplitText, Error> {
    let stats = setup.stats;
    let mut text = config.start(setup)?;
    let mut parts = Parts::default();
    if !config.server.calls {
        setup.look_for_calls(&mut text, || prefix(id, config.number), is_body)?;
    }
    setup.scan(&mut text, Input::Feed(said), &mut parts)?;
    setup.scan(&mut text, Input::Finish, &mut parts)?;
    if !is_body {
        // It was counted when it came in pieces.
        setup.stats = stats;
    }
    SplitText::read(&parts)
}

/// Returns the content of a whole text of this part, and how that compares with what the stream has sent.
pub fn content_of(setup: &mut Setup, id: &[u8], part: &TextPart, said: &[u8]) -> Result<(Vec<u8>, Comparison), Error> {
    let split = split_text(setup, id, part.config, false, said)?;
    let comparison = Comparison::of(part, said, &split);
    Ok((split.content, comparison))
}

/// Returns where the content of a text stands in it.
pub fn stretches(setup: &Setup, config: TextConfig, said: &[u8], content: &[u8]) -> Result<Vec<(u64, u64)>, Error> {
    for has_calls in [true, false] {
        let mut scanner = config.start(setup)?.scanner;
        let (mut found, mut left, mut taken) = (Stretches::default(), content, Ok(()));
        let mut take = |event: crate::Event<'_>| {
            let is_content = match event.channel {
                Channel::Content | Channel::Narration => event.kind == Kind::Text,
                Channel::Tool => has_calls,
                _ => false,
            };
            if is_content {
                left = left.strip_prefix(event.bytes).unwrap_or(b"");
            }
            if taken.is_ok() {
                taken = found.add(event.bytes, is_content);
            }
        };
        scanner.feed(said, &mut take)?;
        scanner.finish(&mut take)?;
        taken?;
        let len: u64 = found.list.iter().map(|(_, len)| len).sum();
        if left.is_empty() && len == chars(content) {
            return Ok(found.list);
        }
    }
    Ok(Vec::new())
}

/// What a list of items is written for.
#[derive(Clone, Copy, PartialEq)]
pub enum Scope {
    /// A response that comes without a stream.
    Body,
    /// The end of one that was streamed.
    Stream,
    /// One item of a stream, which has gone out.
    Item,
}

/// The items of a response that are written.
pub struct Items<'a> {
    pub setup: &'a mut Setup,
    pub outgoing: &'a mut Outgoing,
    scope: Scope,
    server: ServerDoes,
    /// The places of the items, and where in `json` they stand.
    pub list: Vec<(u64, Span)>,
    pub json: Vec<u8>,
    pub is_changed: bool,
    pub promotion: Promotion,
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
            promotion: Promotion::new(None),
            id: Vec::new(),
        }
    }

    /// Takes note of a message that stays as it is.
    fn see(&mut self, entries: &[Entry]) {
        if entries.iter().any(Entry::has_content) {
            self.promotion.close();
        }
    }

    /// Adds an item that stays as it is.
    fn copy(&mut self, data: &[u8], object: &Object, out: u64) -> memory::Result<()> {
        let start = self.json.len();
        append(&mut self.json, &data[object.whole.clone()])?;
        push(&mut self.list, (out, start..self.json.len()))
    }

    /// Adds the item that stands at this place in the server's list.
    pub fn add(&mut self, data: &[u8], object: &Object, index: u64, record: Option<&Message>) -> Result<(), Error> {
        if object.has_reasoning(data) && !mem::replace(&mut self.server.thinking, true) && self.scope == Scope::Body {
            self.setup.stats.split_by_server += 1;
        }
        let (Some(id), Some(content)) = (&object.id, object.content.as_ref().filter(|_| object.is(data, b"message")))
        else {
            let is_other = !object.is(data, b"reasoning") && !object.is(data, b"message");
            if is_other {
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
        let stretches = match record.and_then(|record| record.pieces.as_ref().map(|pieces| (record, pieces))) {
            Some((record, _)) if self.scope == Scope::Item && is_new => all_in_one(&entries, record)?,
            Some((record, pieces)) => self.as_sent(&mut entries, pieces, record)?,
            None => self.anew(&entries, index, record)?,
        };
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
                let mut split = split_text(self.setup, id, config, self.scope == Scope::Body, &entry.said)?;
                entry.comparison = known.map_or(Comparison::Same, |part| Comparison::of(part, &entry.said, &split));
                if self.scope == Scope::Item && entry.comparison == Comparison::New {
                    // The item has no other place for it.
                    split = SplitText { content: memory::copy(&entry.said)?, ..SplitText::default() };
                }
                let has_annotations = entry.object.annotations.as_ref().is_some_and(|list| list.len() > 2);
                if has_annotations && split.content != entry.said {
                    entry.stretches = self::stretches(self.setup, config, &entry.said, &split.content)?;
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

    /// Returns what goes to each item: what it got in the stream.
    fn as_sent(&mut self, entries: &mut [Entry], pieces: &[Piece], record: &Message) -> Result<Vec<Stretch>, Error> {
        let mut stretches = Vec::new();
        for (place, entry) in entries.iter_mut().enumerate() {
            let own = || pieces.iter().filter(|piece| piece.part == place as u64);
            let Some(split) = &mut entry.split else {
                // No event has said it, if there is no such piece.
                let piece = own().find(|piece| piece.kind == ItemKind::Verbatim);
                let (out, pair) = piece.map_or((record.place, record.pair), |piece| (piece.out, piece.pair));
                push(&mut stretches, Stretch { kind: ItemKind::Verbatim, entry: place, out, pair, range: 0..0 })?;
                continue;
            };
            let is_same = entry.comparison == Comparison::Same;
            if is_same {
                split.lay_out(own())?;
            }
            let [mut thinking, mut content] = [0, 0];
            let last = |kind: ItemKind| {
                own().enumerate().filter(|(_, piece)| piece.kind == kind).last().map(|(number, _)| number)
            };
            let (last_thinking, last_content) = (last(ItemKind::Reasoning), last(ItemKind::Message));
            let mut calls = 0;
            // The lengths are those of the text of the events.
            let take_text = |at: &mut usize, text: &[u8], len: usize, is_last: bool| {
                let len = if is_same { len } else { len + cut_off(text.get(*at..).unwrap_or_default(), len) };
                take(at, text.len(), len, is_last)
            };
            for (number, piece) in own().enumerate() {
                let range = match piece.kind {
                    ItemKind::Reasoning => {
                        take_text(&mut thinking, &split.thinking, piece.len, last_thinking == Some(number))
                    }
                    ItemKind::Message => {
                        take_text(&mut content, &split.content, piece.len, last_content == Some(number))
                    }
                    ItemKind::Call(_) => take(&mut calls, split.calls.len(), 1, false),
                    ItemKind::Verbatim => continue,
                };
                if matches!(piece.kind, ItemKind::Call(_)) && range.is_empty() {
                    continue;
                }
                let (out, pair) = (piece.out, piece.pair);
                push(&mut stretches, Stretch { kind: piece.kind, entry: place, out, pair, range })?;
            }
            // What the stream did not have.
            let rest = [
                (ItemKind::Reasoning, thinking..split.thinking.len()),
                (ItemKind::Message, content..split.content.len()),
            ];
            for (kind, range) in rest.into_iter().filter(|(_, range)| !range.is_empty() && self.scope != Scope::Item) {
                let out = self.outgoing.places.insert(record.index);
                push(&mut stretches, Stretch { kind, entry: place, out, pair: record.pair + 1, range })?;
            }
            for call in (calls..split.calls.len()).filter(|_| self.scope != Scope::Item) {
                let kind = ItemKind::Call(unique(&split.calls[call].id, self.outgoing)?);
                let out = self.outgoing.places.insert(record.index);
                push(&mut stretches, Stretch { kind, entry: place, out, pair: record.pair, range: call..call + 1 })?;
            }
        }
        // Parts that came by turns go to the same item.
        stretches.sort_unstable_by_key(|stretch| (stretch.out, stretch.entry, stretch.range.start));
        Ok(stretches)
    }

    /// Returns what goes to each item: a stretch of the text.
    fn anew(&mut self, entries: &[Entry], index: u64, record: Option<&Message>) -> Result<Vec<Stretch>, Error> {
        let mut stretches: Vec<Stretch> = Vec::new();
        let (mut pair, mut has_reasoning, mut has_message) = (1, false, false);
        let mut is_reserved = record.is_none();
        let mut add = |outgoing: &mut Outgoing, kind: ItemKind, entry: usize, range: Span| {
            let is_message = |kind: ItemKind| matches!(kind, ItemKind::Message | ItemKind::Verbatim);
            let mut out = stretches.last().map_or(0, |last| last.out);
            let goes_on = stretches.last().is_some_and(|last| {
                is_message(last.kind) && is_message(kind)
                    || last.kind == ItemKind::Reasoning && kind == ItemKind::Reasoning
            });
            if !goes_on {
                if is_message(kind) && has_message || kind == ItemKind::Reasoning && (has_message || has_reasoning) {
                    pair += 1;
                    (has_message, has_reasoning) = (false, false);
                }
                out = match is_message(kind) && mem::take(&mut is_reserved) {
                    true => outgoing.places.of(index)?,
                    false => outgoing.places.insert(index),
                };
                has_message |= is_message(kind);
                has_reasoning |= kind == ItemKind::Reasoning;
            }
            Ok::<(), Error>(push(&mut stretches, Stretch { kind, entry, out, pair, range })?)
        };
        for (place, entry) in entries.iter().enumerate() {
            let Some(split) = &entry.split else {
                add(self.outgoing, ItemKind::Verbatim, place, 0..0)?;
                continue;
            };
            if entry.said.is_empty() {
                add(self.outgoing, ItemKind::Message, place, 0..0)?;
            }
            let (mut thinking, mut content, mut calls) = (0, 0, 0);
            for &(target, len) in split.order.iter().take(ALONE) {
                let (kind, range) = match target {
                    text::Target::Reasoning => {
                        (ItemKind::Reasoning, take(&mut thinking, split.thinking.len(), len, false))
                    }
                    text::Target::Content => (ItemKind::Message, take(&mut content, split.content.len(), len, false)),
                    text::Target::Calls => {
                        let range = take(&mut calls, split.calls.len(), 1, false);
                        let id = split.calls.get(range.start).map_or(&b""[..], |call| &call.id);
                        (ItemKind::Call(unique(id, self.outgoing)?), range)
                    }
                };
                add(self.outgoing, kind, place, range)?;
            }
            let rest = [
                (ItemKind::Reasoning, thinking..split.thinking.len()),
                (ItemKind::Message, content..split.content.len()),
            ];
            for (kind, range) in rest.into_iter().filter(|(_, range)| !range.is_empty()) {
                add(self.outgoing, kind, place, range)?;
            }
            for call in calls..split.calls.len() {
                let number = unique(&split.calls[call].id, self.outgoing)?;
                add(self.outgoing, ItemKind::Call(number), place, call..call + 1)?;
            }
        }
        if is_reserved && !entries.is_empty() {
            self.outgoing.places.leave_out();
        }
        Ok(stretches)
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
            // Those before it were not cut off.
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
                    write_reasoning(target, &text, status, self.outgoing.is_summary, &mut self.json)?;
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

    /// Writes a message with some of the parts.
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

    /// Adds a message that says the thinking again.
    pub fn promote(&mut self, id: &[u8], out: u64, thinking: &[u8]) -> Result<(), Error> {
        let start = self.json.len();
        write_promoted(id, thinking, &mut self.json)?;
        push(&mut self.list, (out, start..self.json.len()))?;
        self.is_changed = true;
        Ok(())
    }

    /// Writes the list.
    pub fn write_list(&mut self, out: &mut Vec<u8>) -> memory::Result<()> {
        // Items of one place keep their order.
        self.list.sort_unstable_by_key(|(out, at)| (*out, at.start));
        append(out, b"[")?;
        for (number, (_, at)) in self.list.iter().enumerate() {
            append_all(out, &[if number > 0 { b"," } else { b"" }, &self.json[at.clone()]])?;
        }
        append(out, b"]")
    }
}

/// Returns all of a message in the item that is open.
fn all_in_one(entries: &[Entry], record: &Message) -> Result<Vec<Stretch>, Error> {
    let mut stretches = Vec::new();
    for (entry, Entry { split, .. }) in entries.iter().enumerate() {
        let (kind, len) =
            split.as_ref().map_or((ItemKind::Verbatim, 0), |split| (ItemKind::Message, split.content.len()));
        push(&mut stretches, Stretch { kind, entry, out: record.place, pair: record.pair, range: 0..len })?;
    }
    Ok(stretches)
}

/// Returns how many bytes a character goes on after this length of a text.
pub fn cut_off(text: &[u8], len: usize) -> usize {
    let after = text.get(len..).unwrap_or_default();
    after.iter().take_while(|&&byte| is_continuation(byte)).count()
}

/// Takes the next `len`, or all that is left with `is_last`.
fn take(at: &mut usize, all: usize, len: usize, is_last: bool) -> Span {
    let start = *at;
    *at = if is_last { all } else { all.min(start.saturating_add(len)) };
    start..*at
}

/// Writes a text part with another text than it had.
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
            each(data, at.clone(), |at| {
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
