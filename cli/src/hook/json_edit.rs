//! Changes parts of a JSON text, and leaves all other bytes unchanged: a user's settings file has an order and a layout that a
//! writer of JSON would not keep.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::PrettyFormatter;
use serde_json::value::RawValue;

/// A member of an object, or an element of an array.
pub struct Item {
    /// The member's name; empty for an element.
    pub name: String,
    /// The range of the value.
    pub value: Range<usize>,
    /// The index at which the item begins, with its name.
    start: usize,
}

/// Returns the items of the object or array at a range, in their order, or `None` if neither is there.
pub fn items(text: &str, at: &Range<usize>) -> Option<Vec<Item>> {
    let part = &text[at.clone()];
    let mut values: Vec<(String, &RawValue)> = match part.as_bytes().first()? {
        b'{' => serde_json::from_str::<BTreeMap<String, &RawValue>>(part).ok()?.into_iter().collect(),
        b'[' => {
            serde_json::from_str::<Vec<&RawValue>>(part).ok()?.into_iter().map(|raw| (String::new(), raw)).collect()
        }
        _ => return None,
    };
    values.sort_by_key(|(_, raw)| raw.get().as_ptr());
    let mut end = at.start + 1;
    let item = |(name, raw): (String, &RawValue)| {
        let first = raw.get().as_ptr() as usize - text.as_ptr() as usize;
        let start = end + text[end..].find(|character: char| character != ',' && !character.is_whitespace())?;
        end = first + raw.get().len();
        Some(Item { name, value: first..end, start })
    };
    values.into_iter().map(item).collect()
}

/// Returns the range of a member's value.
pub fn member(text: &str, at: &Range<usize>, name: &str) -> Option<Range<usize>> {
    items(text, at)?.into_iter().find(|item| item.name == name).map(|item| item.value)
}

/// Returns the range of a text's only value.
pub fn whole(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..text.trim_end().len().max(start)
}

/// Adds an item at the end of the object or array at a range, in the layout of the items that are there. The text of the object or array
/// must be JSON.
pub fn add(text: &mut String, at: &Range<usize>, name: Option<&str>, value: &impl Serialize) {
    let inside = &text[at.start + 1..at.end - 1];
    let indent_at = |at: usize| {
        let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
        line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned()
    };
    let unit = text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    let unit = unit.map_or("  ", |line| &line[..line.len() - line.trim_start().len()]).to_owned();
    let feed = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let is_empty = inside.trim().is_empty();
    // An object or array on one line stays on one line.
    let is_flat =
        if is_empty { !text.trim_end().contains('\n') && at.len() < text.trim().len() } else { !inside.contains('\n') };
    let outer = indent_at(at.start);
    let base = match is_empty {
        true => format!("{outer}{unit}"),
        false => indent_at(at.start + 1 + inside.len() - inside.trim_start().len()),
    };
    let name = name
        .map(|name| format!("{}:{}", rendered(&name, None), if is_flat && !inside.contains(": ") { "" } else { " " }));
    let value = rendered(value, (!is_flat).then_some(&unit)).replace('\n', &format!("{feed}{base}"));
    let item = format!("{}{value}", name.unwrap_or_default());
    let end = at.start + 1 + inside.trim_end().len();
    match (is_empty, is_flat) {
        (true, true) => text.replace_range(at.start + 1..at.end - 1, &item),
        (true, false) => text.replace_range(at.start + 1..at.end - 1, &format!("{feed}{base}{item}{feed}{outer}")),
        (false, true) => text.insert_str(end, &format!("{}{item}", if inside.contains(", ") { ", " } else { "," })),
        (false, false) => text.insert_str(end, &format!(",{feed}{base}{item}")),
    }
}

/// Removes an item from the object or array at a range, with its comma.
pub fn remove(text: &mut String, at: &Range<usize>, index: usize) {
    let Some(items) = items(text, at) else { return };
    let range = match (index.checked_sub(1), items.get(index + 1)) {
        (Some(before), _) => items[before].value.end..items[index].value.end,
        (None, Some(next)) => items[index].start..next.start,
        (None, None) => at.start + 1..at.end - 1,
    };
    text.replace_range(range, "");
}

/// Returns a value as JSON, on one line without an indent.
pub fn rendered(value: &impl Serialize, indent: Option<&String>) -> String {
    let mut out = Vec::new();
    // This cannot fail: all values of this program are JSON, and writing to a vector does not fail.
    let _ = match indent {
        None => value.serialize(&mut Serializer::new(&mut out)),
        Some(indent) => {
            let formatter = PrettyFormatter::with_indent(indent.as_bytes());
            value.serialize(&mut Serializer::with_formatter(&mut out, formatter))
        }
    };
    String::from_utf8_lossy(&out).into_owned()
}
