//! Rewrites requests for chat completions. The thinking of an assistant message is under one of several names, or in the
//! content, if that is a list.

use super::json::{Fault, Member, Object, Value};
use super::made;
use super::options::{Missing, Name, Options};
use super::report::{Outcome, Report};
use super::thinking::{Kept, add_text, join};
use crate::Dialect;
use crate::json::{Edits, Span};
use crate::memory::{OutOfMemory, append_all, push};

/// The names of members that have thinking as a string. If several have thinking, the first in this order counts.
const NAMES: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

const DETAILS: &str = "reasoning_details";

/// Notes the changes of a request.
pub fn read(body: &Object<'_>, options: &Options, edits: &mut Edits, report: &mut Report) -> Result<(), Fault> {
    let messages = match body.get("messages") {
        Some(messages) => messages.list()?,
        None => None,
    };
    let messages = messages.ok_or(Fault::Outcome(Outcome::NotRequest))?;
    let mut objects = Vec::new();
    for message in &messages {
        push(&mut objects, Object::of(message)?)?;
    }
    let says = |message: &Option<Object<'_>>, role: &str| message.as_ref().is_some_and(|it| it.says("role", role));
    let kept = Kept::new(options.turns, objects.iter().rposition(|message| says(message, "user")));
    for (at, object) in objects.iter().enumerate() {
        if let Some(object) = object.as_ref().filter(|_| says(&objects[at], "assistant")) {
            let before = edits.len();
            let message = Message::new(object, kept.keeps(at))?;
            if !message.write(options, edits)? {
                edits.truncate(before);
                report.refused += 1;
            }
            report.changed += u64::from(edits.len() > before);
            // Unreadable thinking is only a problem if it must be moved.
            let is_moved = !matches!(options.name, Name::AsIs | Name::ReasoningDetails);
            report.unread += u64::from(message.is_unread && message.is_kept && is_moved);
        }
    }
    Ok(())
}

/// An assistant message, and the places of its thinking.
struct Message<'a> {
    object: &'a Object<'a>,
    /// Whether the thinking stays in the request.
    is_kept: bool,
    /// The members with names in `NAMES` that are strings or `null`.
    strings: [Option<usize>; 3],
    /// The position of `reasoning_details`, if they can be read, and their text.
    details: Option<(usize, Vec<u8>)>,
    /// The parts of the content, if it is a list.
    parts: Option<Vec<Part<'a>>>,
    /// Whether the message has thinking that cannot be read.
    is_unread: bool,
}

/// A part of a content that is a list.
struct Part<'a> {
    span: Span,
    /// The thinking of the part, if it is thinking.
    thinking: Option<Vec<u8>>,
    /// The text of the part, if it is text.
    text: Option<Value<'a>>,
}

impl<'a> Message<'a> {
    fn new(object: &'a Object<'a>, is_kept: bool) -> Result<Message<'a>, Fault> {
        let mut is_unread = false;
        let strings = NAMES.map(|name| {
            let at = object.find(name)?;
            let value = &object.members[at].value;
            let is_read = value.is_null() || value.string().is_some();
            is_unread |= !is_read;
            is_read.then_some(at)
        });
        let mut details = None;
        if let Some(at) = object.find(DETAILS) {
            match text_of_details(&object.members[at].value)? {
                Some(text) => details = Some((at, text)),
                None => is_unread = true,
            }
        }
        let mut parts = None;
        if let Some(content) = object.get("content")
            && let Some(list) = content.list()?
        {
            let mut read = Vec::new();
            for value in list {
                let part = Part::read(&value, is_kept, &mut is_unread)?;
                push(&mut read, part)?;
            }
            parts = Some(read);
        }
        Ok(Message { object, is_kept, strings, details, parts, is_unread })
    }

    fn raw(&self, at: usize) -> &'a [u8] {
        self.object.members[at].value.string().unwrap_or_default()
    }

    /// Returns the thinking in parts of the content.
    fn thinking_parts(&self) -> impl Iterator<Item = &[u8]> {
        self.parts.iter().flatten().filter_map(|part| part.thinking.as_deref())
    }

    /// Returns the thinking of the message, or an empty text. Thinking under the wanted name has priority.
    fn thinking(&self, wanted: Option<usize>) -> Result<Vec<u8>, OutOfMemory> {
        let mut text = Vec::new();
        let mut order = wanted.into_iter().chain(0..NAMES.len()).filter_map(|name| self.strings[name]);
        if let Some(at) = order.find(|&at| !self.raw(at).is_empty()) {
            append_all(&mut text, &[self.raw(at)])?;
        } else if let Some((_, details)) = self.details.as_ref().filter(|(_, text)| !text.is_empty()) {
            append_all(&mut text, &[details])?;
        } else {
            self.thinking_parts().try_for_each(|part| add_text(&mut text, part))?;
        }
        Ok(text)
    }

    /// Notes the changes of the message. Returns whether they are possible.
    fn write(&self, options: &Options, edits: &mut Edits) -> Result<bool, OutOfMemory> {
        let wanted = match options.name {
            Name::ReasoningContent => Some(0),
            Name::Reasoning => Some(1),
            Name::Thinking => Some(2),
            _ => None,
        };
        let thinking = self.thinking(wanted)?;
        if !self.is_kept || thinking.is_empty() {
            self.write_missing(wanted, options.missing, edits)?;
            return Ok(true);
        }
        match (&options.name, wanted) {
            (_, Some(wanted)) => self.write_under(wanted, &thinking, edits)?,
            (Name::ReasoningDetails, _) => self.write_details(&thinking, edits)?,
            (Name::Parts, _) => return self.write_parts(&thinking, edits),
            (Name::Text(dialect), _) => return self.write_text(dialect, &thinking, edits),
            _ if options.missing == Missing::Remove => {
                self.remove(edits, |at| self.is_place(at) && self.is_empty(at))?
            }
            _ => {}
        }
        Ok(true)
    }

    /// Returns whether a member has thinking. If the thinking stays, unreadable members do not count.
    fn is_place(&self, at: usize) -> bool {
        let is_read = self.strings.contains(&Some(at)) || self.details.as_ref().is_some_and(|(place, _)| *place == at);
        let is_at = |name: &str| self.object.find(name) == Some(at);
        is_read || !self.is_kept && NAMES.into_iter().chain([DETAILS]).any(is_at)
    }

    /// Returns whether a member with thinking is empty.
    fn is_empty(&self, at: usize) -> bool {
        match &self.details {
            Some((details, text)) if *details == at => text.is_empty(),
            _ => self.strings.contains(&Some(at)) && self.raw(at).is_empty(),
        }
    }

    /// Removes members.
    fn remove(&self, edits: &mut Edits, is_removed: impl Fn(usize) -> bool) -> Result<(), OutOfMemory> {
        edits.remove(self.object.members.iter().map(Member::span), is_removed)
    }

    /// Removes the parts that are thinking. If no other part is left, the content becomes an empty string.
    fn remove_parts(&self, edits: &mut Edits) -> Result<(), OutOfMemory> {
        let Some(parts) = self.parts.as_ref().filter(|_| self.thinking_parts().next().is_some()) else {
            return Ok(());
        };
        match (self.object.get("content"), parts.iter().all(|part| part.thinking.is_some())) {
            (Some(content), true) => edits.put(content.span.clone(), &[b"\"\""]),
            _ => edits.remove(parts.iter().map(|part| &part.span), |at| parts[at].thinking.is_some()),
        }
    }

    /// Notes the changes of a message without thinking, or whose thinking is removed.
    fn write_missing(&self, wanted: Option<usize>, missing: Missing, edits: &mut Edits) -> Result<(), OutOfMemory> {
        if !self.is_kept || missing == Missing::Remove || wanted.is_some() {
            self.remove_parts(edits)?;
        }
        match (missing, wanted) {
            (Missing::Empty, Some(wanted)) => self.put(wanted, b"", edits),
            (Missing::Remove, _) => self.remove(edits, |at| self.is_place(at)),
            (_, None) => self.remove(edits, |at| self.is_place(at) && !self.is_empty(at)),
            (_, Some(wanted)) => {
                // Empty thinking is kept only under the wanted name.
                let is_empty = |at: &usize| self.is_empty(*at);
                let own = self.strings[wanted].filter(is_empty);
                let place = own.or_else(|| self.strings.into_iter().flatten().find(is_empty));
                if let Some(at) = place.filter(|_| own.is_none()) {
                    self.rename(at, wanted, edits)?;
                }
                self.remove(edits, |at| Some(at) != place && self.is_place(at))
            }
        }
    }

    /// Writes thinking under a name, and removes it from all other places.
    fn write_under(&self, wanted: usize, thinking: &[u8], edits: &mut Edits) -> Result<(), OutOfMemory> {
        self.remove_parts(edits)?;
        self.put(wanted, thinking, edits)
    }

    /// Writes thinking, or an empty string, under a name. An existing member with this name keeps its place.
    fn put(&self, wanted: usize, thinking: &[u8], edits: &mut Edits) -> Result<(), OutOfMemory> {
        let own = self.strings[wanted];
        let same = |at: &usize| self.raw(*at) == thinking;
        let mut strings = self.strings.into_iter().flatten();
        let place = own.filter(same).or_else(|| strings.clone().find(same)).or(own).or_else(|| strings.next());
        if let Some(at) = place {
            if own != place {
                self.rename(at, wanted, edits)?;
            }
            let value = &self.object.members[at].value;
            if value.string() != Some(thinking) {
                edits.put(value.span.clone(), &[b"\"", thinking, b"\""])?;
            }
        } else {
            self.insert(NAMES[wanted], [b"\"", thinking, b"\""], edits)?;
        }
        self.remove(edits, |at| Some(at) != place && self.is_place(at))
    }

    fn rename(&self, at: usize, wanted: usize, edits: &mut Edits) -> Result<(), OutOfMemory> {
        edits.put(self.object.members[at].key.clone(), &[b"\"", NAMES[wanted].as_bytes(), b"\""])
    }

    /// Inserts a member after the last remaining member; at least the role remains.
    fn insert(&self, name: &str, value: [&[u8]; 3], edits: &mut Edits) -> Result<(), OutOfMemory> {
        let members = &self.object.members;
        let end = (0..members.len()).rfind(|&at| !self.is_place(at)).map(|at| members[at].value.span.end);
        let Some(end) = end else { return Ok(()) };
        edits.put(end..end, &[b",\"", name.as_bytes(), b"\":", value[0], value[1], value[2]])
    }

    fn write_details(&self, thinking: &[u8], edits: &mut Edits) -> Result<(), OutOfMemory> {
        self.remove_parts(edits)?;
        let own = self.details.as_ref().filter(|(_, text)| !text.is_empty()).map(|(at, _)| *at);
        // Details that cannot be read are the server's own and contain all of the thinking, so they are kept.
        if own.is_none() && !(self.object.has(DETAILS) && self.details.is_none()) {
            let open = b"[{\"type\":\"reasoning.text\",\"text\":\"";
            self.insert(DETAILS, [open, thinking, b"\"}]"], edits)?;
        }
        self.remove(edits, |at| Some(at) != own && self.is_place(at))
    }

    /// Writes thinking as the first part of the content. Returns whether the content can be a list.
    fn write_parts(&self, thinking: &[u8], edits: &mut Edits) -> Result<bool, OutOfMemory> {
        if self.thinking_parts().all(<[u8]>::is_empty) {
            let open = b"{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"";
            let mut part = Vec::new();
            append_all(&mut part, &[open, thinking, b"\"}]}"])?;
            match (self.object.get("content"), &self.parts) {
                (None, _) => self.insert("content", [b"[", &part, b"]"], edits)?,
                (Some(content), Some(parts)) => {
                    let (start, comma) = (content.span.start + 1, if parts.is_empty() { "" } else { "," });
                    edits.put(start..start, &[&part, comma.as_bytes()])?;
                }
                (Some(content), None) => {
                    let Some(text) = text_of(content) else { return Ok(false) };
                    let text: [&[u8]; 4] = if text.is_empty() { [b""; 4] } else { [b",", TEXT, text, b"\"}"] };
                    let [comma, open, text, close] = text;
                    edits.put(content.span.clone(), &[b"[", &part, comma, open, text, close, b"]"])?;
                }
            }
        }
        self.remove(edits, |at| self.is_place(at))?;
        Ok(true)
    }

    /// Writes thinking into the text. Returns whether that can be done.
    fn write_text(&self, dialect: &Dialect, thinking: &[u8], edits: &mut Edits) -> Result<bool, OutOfMemory> {
        let first = self.parts.iter().flatten().find(|part| part.thinking.is_none());
        // The string that gets the thinking.
        let place = match &self.parts {
            None => self.object.get("content"),
            Some(_) => first.and_then(|part| part.text.as_ref()),
        };
        let Some(text) = place.map_or(Some(&b""[..]), text_of) else { return Ok(false) };
        let Some(joined) = join(dialect, thinking, text)? else { return Ok(false) };
        if first.is_some() {
            self.remove_parts(edits)?;
        }
        match (place, self.object.get("content"), first) {
            (Some(place), ..) => edits.put(place.span.clone(), &[b"\"", &joined, b"\""])?,
            (None, Some(_), Some(first)) => {
                let at = first.span.start;
                edits.put(at..at, &[TEXT, &joined, b"\"},"])?;
            }
            (None, Some(content), None) => {
                edits.put(content.span.clone(), &[b"[", TEXT, &joined, b"\"}]"])?;
            }
            (None, None, _) => self.insert("content", [b"\"", &joined, b"\""], edits)?,
        }
        self.remove(edits, |at| self.is_place(at))?;
        Ok(true)
    }
}

/// The beginning of a part of text.
const TEXT: &[u8] = b"{\"type\":\"text\",\"text\":\"";

/// Returns the inside of a `content` that is a string, or an empty text for `null`.
fn text_of<'a>(content: &Value<'a>) -> Option<&'a [u8]> {
    if content.is_null() { Some(b"") } else { content.string() }
}

impl<'a> Part<'a> {
    fn read(value: &Value<'a>, is_kept: bool, is_unread: &mut bool) -> Result<Part<'a>, Fault> {
        let mut part = Part { span: value.span.clone(), thinking: None, text: None };
        let Some(object) = Object::of(value)? else { return Ok(part) };
        if object.says("type", "text") {
            part.text = object.get("text").filter(|text| text.string().is_some()).cloned();
        } else if object.says("type", "thinking") {
            if made::is_unsigned(&object) {
                part.thinking = text_of_part(&object)?;
            }
            if part.thinking.is_none() {
                *is_unread = true;
                part.thinking = (!is_kept).then(Vec::new);
            }
        }
        Ok(part)
    }
}

/// Returns the text of a part that is thinking: a string, or a list of parts of text.
fn text_of_part(part: &Object<'_>) -> Result<Option<Vec<u8>>, Fault> {
    let Some(value) = part.get("thinking") else { return Ok(None) };
    let mut text = Vec::new();
    if let Some(raw) = value.string() {
        append_all(&mut text, &[raw])?;
        return Ok(Some(text));
    }
    let Some(list) = value.list()? else { return Ok(None) };
    for value in list {
        let Some(part) = Object::of(&value)?.filter(|part| part.says("type", "text")) else { return Ok(None) };
        let Some(raw) = part.get("text").and_then(|text| text.string()) else { return Ok(None) };
        append_all(&mut text, &[raw])?;
    }
    Ok(Some(text))
}

/// Returns the text of `reasoning_details`, or `None` if an entry is signed, encrypted or not known.
fn text_of_details(value: &Value<'_>) -> Result<Option<Vec<u8>>, Fault> {
    let mut text = Vec::new();
    if value.is_null() {
        return Ok(Some(text));
    }
    let Some(list) = value.list()? else { return Ok(None) };
    for value in list {
        let Some(entry) = Object::of(&value)? else { return Ok(None) };
        let name = match (entry.says("type", "reasoning.text"), entry.says("type", "reasoning.summary")) {
            (true, _) => "text",
            (_, true) => "summary",
            _ => return Ok(None),
        };
        let raw = entry.get(name).and_then(|text| text.string());
        let Some(raw) = raw.filter(|_| made::is_unsigned(&entry)) else { return Ok(None) };
        append_all(&mut text, &[raw])?;
    }
    Ok(Some(text))
}
