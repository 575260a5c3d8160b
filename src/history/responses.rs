//! Rewrites requests of OpenAI Responses. The thinking of an earlier turn is an item before the message or the call that it
//! belongs to.

use super::json::{Fault, Object, Value};
use super::made;
use super::namespaces::{flatten_choice, flatten_name, flatten_tools, remove_members};
use super::options::{Made, Missing, Name, Namespaces, Options};
use super::report::{Outcome, Report};
use super::thinking::{Kept, add_text, join};
use crate::Dialect;
use crate::json::{Edits, Span};
use crate::memory::{OutOfMemory, append_all, push};

/// Notes the changes of a request.
pub fn read(body: &Object<'_>, options: &Options, edits: &mut Edits, report: &mut Report) -> Result<(), Fault> {
    if body.has("previous_response_id") || body.has("conversation") {
        return Err(Fault::Outcome(Outcome::Stored));
    }
    let Some(input) = body.get("input") else { return Err(Fault::Outcome(Outcome::NotRequest)) };
    if options.namespaces == Namespaces::Flat {
        body.get("tools").map_or(Ok(()), |tools| flatten_tools(tools, edits))?;
        body.get("tool_choice").map_or(Ok(()), |choice| flatten_choice(choice, edits))?;
    }
    let Some(values) = input.list()? else {
        // A request whose input is a text has no history.
        return input.string().map(|_| ()).ok_or(Fault::Outcome(Outcome::NotRequest));
    };
    let mut items = Vec::new();
    for value in &values {
        push(&mut items, Item::new(value)?)?;
    }
    let kept = Kept::new(options.turns, items.iter().rposition(|item| item.says("role", "user")));
    let mut thoughts = Vec::new();
    for item in items.iter().filter(|item| item.says("type", "reasoning")) {
        let id = item.object.as_ref().and_then(|object| object.get("id")).and_then(|id| id.string());
        id.filter(|id| id.starts_with(b"rs_")).map_or(Ok(()), |id| push(&mut thoughts, id))?;
    }
    thoughts.sort_unstable_by_key(|id| made::own_part(id));
    let mut is_removed = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let before = edits.len();
        let has_made_id = options.made == Made::Remove && item.has_made_id(&thoughts);
        let removed = item.write(options, kept.keeps(at), has_made_id, items.get(at + 1), edits, report)?;
        push(&mut is_removed, removed)?;
        report.changed += u64::from(removed || edits.len() > before);
    }
    Ok(edits.remove(values.iter().map(|value| &value.span), |at| is_removed[at])?)
}

/// An item of the input.
struct Item<'a> {
    span: Span,
    object: Option<Object<'a>>,
    /// The thinking of the item, if it is a reasoning item that can be read.
    thinking: Option<Vec<u8>>,
    /// The text of the item's first part, if it is a message of the assistant.
    text: Option<Value<'a>>,
}

impl<'a> Item<'a> {
    fn new(value: &Value<'a>) -> Result<Item<'a>, Fault> {
        let mut item = Item { span: value.span.clone(), object: Object::of(value)?, thinking: None, text: None };
        let Some(object) = &item.object else { return Ok(item) };
        if object.says("type", "reasoning") {
            item.thinking = thinking(object)?;
        } else if object.says("role", "assistant") {
            item.text = text(object)?;
        }
        Ok(item)
    }

    fn says(&self, name: &str, word: &str) -> bool {
        self.object.as_ref().is_some_and(|object| object.says(name, word))
    }

    fn has_made_id(&self, thoughts: &[&[u8]]) -> bool {
        self.object.as_ref().is_some_and(|object| made::has_made_id(object, thoughts))
    }

    /// Notes the changes of the item. Returns whether it is removed.
    fn write(
        &self,
        options: &Options,
        is_kept: bool,
        has_made_id: bool,
        next: Option<&Item<'_>>,
        edits: &mut Edits,
        report: &mut Report,
    ) -> Result<bool, OutOfMemory> {
        let Some(object) = &self.object else { return Ok(false) };
        if has_made_id && object.says("type", "item_reference") {
            return Ok(true);
        }
        if object.says("type", "reasoning") {
            let Some(thinking) = &self.thinking else {
                let is_moved = !matches!(options.name, Name::AsIs) && is_kept;
                report.unread += u64::from(is_moved);
                return Ok(!is_kept);
            };
            if !is_kept || thinking.is_empty() && options.missing == Missing::Remove {
                return Ok(true);
            }
            match &options.name {
                Name::Text(_) if thinking.is_empty() => {}
                Name::Text(dialect) => match self.write_text(dialect, thinking, next, edits)? {
                    Some(is_removed) => return Ok(is_removed),
                    None => report.refused += 1,
                },
                Name::ReasoningText => move_text(object, CONTENT, SUMMARY, thinking, edits)?,
                Name::Summary => move_text(object, SUMMARY, CONTENT, thinking, edits)?,
                _ => {}
            }
        }
        let mut removed = Vec::new();
        let id = object.find("id").filter(|_| has_made_id);
        let namespace = match options.namespaces {
            Namespaces::Flat => flatten_name(object, edits)?,
            Namespaces::Keep => None,
        };
        for at in [id, namespace].into_iter().flatten() {
            push(&mut removed, at)?;
        }
        remove_members(object, &removed, edits)?;
        Ok(false)
    }

    /// Writes the thinking of an item into the message that follows, or as a message. Returns whether the item is removed, or
    /// `None` if the thinking cannot be written as text.
    fn write_text(
        &self,
        dialect: &Dialect,
        thinking: &[u8],
        next: Option<&Item<'_>>,
        edits: &mut Edits,
    ) -> Result<Option<bool>, OutOfMemory> {
        let place = next.and_then(|next| next.text.as_ref());
        let text = place.and_then(|text| text.string()).unwrap_or_default();
        let Some(joined) = join(dialect, thinking, text)? else { return Ok(None) };
        match place {
            Some(place) => edits.put(place.span.clone(), &[b"\"", &joined, b"\""])?,
            None => {
                let open: &[u8] =
                    b"{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"";
                edits.put(self.span.clone(), &[open, &joined, b"\"}]}"])?;
            }
        }
        Ok(Some(place.is_some()))
    }
}

/// A member of a reasoning item with a list of texts, and the type of its parts.
type Place = (&'static str, &'static str);
const CONTENT: Place = ("content", "reasoning_text");
const SUMMARY: Place = ("summary", "summary_text");

/// Returns the thinking of a reasoning item, or `None` if it is encrypted or not known.
fn thinking(item: &Object<'_>) -> Result<Option<Vec<u8>>, Fault> {
    let is_sealed =
        item.get("encrypted_content").is_some_and(|it| it.string().is_none_or(|raw| !raw.is_empty()) && !it.is_null());
    if is_sealed {
        return Ok(None);
    }
    let Some(content) = texts(item, CONTENT)? else { return Ok(None) };
    let Some(summary) = texts(item, SUMMARY)? else { return Ok(None) };
    Ok(Some(if content.is_empty() { summary } else { content }))
}

/// Returns the texts of a member, joined, or `None` if a part is of another type.
fn texts(item: &Object<'_>, (name, kind): Place) -> Result<Option<Vec<u8>>, Fault> {
    let mut text = Vec::new();
    let Some(value) = item.get(name).filter(|value| !value.is_null()) else { return Ok(Some(text)) };
    let Some(list) = value.list()? else { return Ok(None) };
    for value in list {
        let Some(part) = Object::of(&value)?.filter(|part| part.says("type", kind)) else { return Ok(None) };
        let Some(raw) = part.get("text").and_then(|text| text.string()) else { return Ok(None) };
        add_text(&mut text, raw)?;
    }
    Ok(Some(text))
}

/// Returns the content of a message if it is a string, or the text of its first part.
fn text<'a>(message: &Object<'a>) -> Result<Option<Value<'a>>, Fault> {
    let Some(content) = message.get("content") else { return Ok(None) };
    if content.string().is_some() {
        return Ok(Some(content.clone()));
    }
    let Some(list) = content.list()? else { return Ok(None) };
    let Some(first) = list.first() else { return Ok(None) };
    let text = Object::of(first)?.filter(|part| part.says("type", "output_text") || part.says("type", "text"));
    Ok(text.and_then(|part| part.get("text").filter(|text| text.string().is_some()).cloned()))
}

/// Moves the thinking of an item from its member `from` to its member `to`, unless `to` already has thinking. `from` becomes an
/// empty list, because an item without a `summary` is refused.
fn move_text(item: &Object<'_>, to: Place, from: Place, text: &[u8], edits: &mut Edits) -> Result<(), OutOfMemory> {
    let is_empty = |name: &str| item.get(name).is_none_or(|value| value.is_null() || is_empty_list(value));
    if text.is_empty() || !is_empty(to.0) {
        return Ok(());
    }
    let mut list = Vec::new();
    append_all(&mut list, &[b"[{\"type\":\"", to.1.as_bytes(), b"\",\"text\":\"", text, b"\"}]"])?;
    match item.get(to.0) {
        Some(value) => edits.put(value.span.clone(), &[&list])?,
        None => {
            // The item has `content` or `summary`, so it is not empty.
            let end = item.members.last().map_or(0, |member| member.value.span.end);
            edits.put(end..end, &[b",\"", to.0.as_bytes(), b"\":", &list])?;
        }
    }
    item.get(from.0).map_or(Ok(()), |value| edits.put(value.span.clone(), &[b"[]"]))
}

fn is_empty_list(value: &Value<'_>) -> bool {
    value.list().is_ok_and(|list| list.is_some_and(|list| list.is_empty()))
}
