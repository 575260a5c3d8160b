//! Finds the form of one call in a turn that shows it: an object with name and arguments, JSON after a name, keys and values
//! between markers, or a name with keys and values in brackets.

use serde_json::Value as Json;

use super::caller::Caller;
use super::probes::{Call, Ids, KEYS, NO_ARGUMENT, ONE, OTHER_WORD, TWO_ARGUMENTS, VALUES, WORD};
use super::sketch::{Body, Head, Id, Sketch, Tags};
use super::texts::{begins_marker, marker, shared_end, shared_start, trimmed};

/// The maximum number of brackets of a turn at which the search for an object tries to read one.
const MOST_OBJECTS: usize = 64;

/// The place of a call in a turn, and its form.
pub struct Unit {
    pub start: usize,
    pub end: usize,
    form: Seen,
}

enum Seen {
    Object {
        name: String,
        arguments: String,
        id: Option<String>,
        key_is_name: bool,
    },
    /// The place of the arguments.
    Json(usize),
    Keys,
}

/// Looks for a call in a turn, with the expected arguments.
pub fn locate(text: &str, call: &Call, ids: Ids) -> Option<Unit> {
    let name = text.find(call.name)?;
    object(text, call, name, ids).or_else(|| json(text, call, name)).or_else(|| keys(text, call, name))
}

/// Reads the JSON value that a text begins with.
fn value(text: &str) -> Option<(Json, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Json>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

fn object(text: &str, call: &Call, name: usize, ids: Ids) -> Option<Unit> {
    let wanted = call.json();
    for (at, _) in text.match_indices('{').take_while(|(at, _)| *at < name).take(MOST_OBJECTS) {
        let Some((Json::Object(members), len)) = value(&text[at..]) else { continue };
        if at + len <= name {
            continue;
        }
        let unit = |form| Some(Unit { start: at, end: at + len, form });
        if let [(key, arguments)] = &members.iter().collect::<Vec<_>>()[..]
            && *key == call.name
            && **arguments == wanted
        {
            let (name, arguments) = (String::new(), String::new());
            return unit(Seen::Object { name, arguments, id: None, key_is_name: true });
        }
        let key_of = |wanted: &Json| members.iter().find(|(_, value)| *value == wanted).map(|(key, _)| key.clone());
        let name = key_of(&Json::from(call.name));
        if let (Some(name), Some(arguments)) = (name, key_of(&wanted)) {
            let index = (0..2).find_map(|index| key_of(&Json::from(ids.of(call.name, index))));
            let number = ["id", "tool_call_id", "call_id"].into_iter().find(|key| members.contains_key(*key));
            let id = index.or(number.map(str::to_owned));
            return unit(Seen::Object { name, arguments, id, key_is_name: false });
        }
        // The call is an object with further objects around its members, which no table can describe.
        return None;
    }
    None
}

fn json(text: &str, call: &Call, name: usize) -> Option<Unit> {
    let wanted = call.json();
    let from = name + call.name.len();
    // A name that is a member or a key of an object is not part of a head.
    if text[from..].starts_with("\",") || text[from..].starts_with("\":") {
        return None;
    }
    for (at, _) in text[from..].match_indices('{').take(MOST_OBJECTS) {
        if let Some((found, len)) = value(&text[from + at..])
            && found == wanted
        {
            return Some(Unit { start: name, end: from + at + len, form: Seen::Json(from + at) });
        }
    }
    None
}

/// Looks for a call whose keys and values follow its name and are not JSON.
fn keys(text: &str, call: &Call, name: usize) -> Option<Unit> {
    let mut end = name + call.name.len();
    // Such arguments are an object as Python prints it, which no model writes.
    let is_python = |key: &str| ["{'", "{\""].iter().any(|before| text[end..].contains(&[*before, key].concat()));
    if call.arguments.iter().any(|(key, _)| is_python(key)) {
        return None;
    }
    for (key, json) in call.arguments {
        let word = serde_json::from_str::<String>(json).unwrap_or_else(|_| (*json).to_owned());
        for part in [*key, word.as_str()] {
            end += text[end..].find(part)? + part.len();
        }
    }
    (!call.arguments.is_empty()).then_some(Unit { start: name, end, form: Seen::Keys })
}

/// Returns the end of a call in a text, including the closer of its last value.
pub fn end(text: &str, unit: &Unit, body: &Body) -> usize {
    let rest = &text[unit.end..];
    match body {
        Body::Tags { tags, .. } => {
            rest.find(tags.value[1].as_str()).map_or(unit.end, |at| unit.end + at + tags.value[1].len())
        }
        Body::Literal { close, .. } => rest.find(*close).map_or(unit.end, |at| unit.end + at + close.len_utf8()),
        _ => unit.end,
    }
}

/// Describes the form of the call.
pub fn describe(caller: &Caller<'_>, text: &str, unit: &Unit, sketch: &mut Sketch) -> Option<Body> {
    match &unit.form {
        Seen::Object { name, arguments, id, key_is_name } => Some(Body::Object {
            name: name.clone(),
            arguments: arguments.clone(),
            id: id.clone(),
            key_is_name: *key_is_name,
        }),
        Seen::Json(arguments) => {
            let between = &text[unit.start + ONE.name.len()..*arguments];
            Some(Body::Json { head: head(between, &caller.ids.of(ONE.name, 0)) })
        }
        Seen::Keys => literal(text, unit).or_else(|| tags(caller, text, unit, sketch)),
    }
}

/// Describes the text between a name and its arguments.
fn head(between: &str, id: &str) -> Head {
    let name_end = |text: &str| {
        let trimmed = text.trim_end();
        if trimmed.is_empty() { text.to_owned() } else { trimmed.to_owned() }
    };
    // If a colon and the call's number follow the name, the id consists of all three.
    if let Some(rest) = between.strip_prefix(':').filter(|rest| rest.starts_with(|char: char| char.is_ascii_digit())) {
        let rest = rest.trim_start_matches(|char: char| char.is_ascii_digit());
        return Head { name_end: name_end(rest), id: Id::Head, ..Head::default() };
    }
    match between.find(id) {
        Some(at) => Head {
            id: Id::After(between[..at].trim().to_owned()),
            name_end: name_end(&between[at + id.len()..]),
            ..Head::default()
        },
        None => Head { name_end: name_end(between), ..Head::default() },
    }
}

const PAIRS: [(char, char); 2] = [('(', ')'), ('{', '}')];

/// Describes calls such as `f(a=1)`.
fn literal(text: &str, unit: &Unit) -> Option<Body> {
    let call = &text[unit.start + ONE.name.len()..unit.end];
    let (before, rest) = call.split_once(KEYS[0])?;
    let mut chars = before.trim().chars();
    let (open, None) = (chars.next()?, chars.next()) else { return None };
    let close = PAIRS.iter().find(|(begin, _)| *begin == open)?.1;
    let (assign, _) = rest.split_once(WORD)?;
    let assign = assign.trim_start_matches(['"', '\'']).trim();
    let sign = assign.chars().next().filter(|sign| "=:".contains(*sign))?;
    let quote = assign[1..].trim();
    let is_plain = quote == "\"" || quote == "'";
    let after = &text[unit.end..];
    if quote.is_empty() || !after.starts_with(quote) {
        return None;
    }
    let list = text[..unit.start].trim_end().ends_with('[') && after.contains(']');
    let raw_quote = if is_plain { String::new() } else { quote.to_owned() };
    Some(Body::Literal { open, close, assign: sign, list, raw_quote })
}

/// Describes keys and values between markers.
fn tags(caller: &Caller<'_>, text: &str, unit: &Unit, sketch: &mut Sketch) -> Option<Body> {
    let name = unit.start + ONE.name.len();
    let between = |text: &str, from: &str, to: &str| -> Option<String> {
        let at = text.find(from)? + from.len();
        Some(text[at..at + text[at..].find(to)?].to_owned())
    };
    let two = caller.text(&[TWO_ARGUMENTS]);
    let name_to_key = between(&text[name..], "", KEYS[0])?;
    let key_to_value = between(&text[name..], KEYS[0], WORD)?;
    let Some(value_to_key) = two.as_ref().and_then(|two| between(two, WORD, KEYS[1])) else {
        sketch.doubt("no call with two arguments was seen: the text between them is not known");
        return None;
    };
    if !two.is_some_and(|two| two.contains(OTHER_WORD)) {
        return None;
    }
    let shared = name_to_key.len() - shared_end(&name_to_key, &value_to_key);
    let at =
        name_to_key[shared..].char_indices().map(|(at, _)| shared + at).find(|&at| begins_marker(&name_to_key, at));
    let at = at.unwrap_or_else(|| shared + (name_to_key[shared..].len() - name_to_key[shared..].trim_start().len()));
    let key_open = name_to_key[at..].to_owned();
    let mut name_end = name_to_key[..at].trim_end().to_owned();
    let value_close = value_to_key[..value_to_key.len() - key_open.len()].to_owned();
    let (before_close, close, _) = trimmed(&value_close);
    let close = marker(close).map_or(close, |len| &close[..len]);
    if close.is_empty() || key_open.is_empty() {
        return None;
    }
    // If the opener of the first key does not end the name, a call without arguments shows the text that does.
    if name_end.is_empty()
        && let Some(none) = caller.text(&[NO_ARGUMENT])
        && let Some(at) = none.find(ONE.name)
    {
        let after = &none[at + ONE.name.len()..];
        let shared = shared_start(after, &name_to_key);
        let shared = &after[..super::texts::before_marker(after, shared)];
        name_end = shared.trim_end().to_owned();
    }
    let mut tags = Tags { before_close: before_close.to_owned(), ..Tags::default() };
    tags.key[0] = key_open;
    tags.value[1] = close.to_owned();
    typed(caller, &key_to_value, &mut tags);
    let broken = VALUES.first().and_then(|(_, call)| caller.text(&[*call]));
    tags.has_cdata = broken.is_some_and(|text| text.contains("<![CDATA[aside"));
    if tags.kind.is_none() && is_plain(caller) {
        sketch.doubt("a text that looks like JSON is written as it is: without the tool's schema, `7` is a number");
    }
    Some(Body::Tags { head: Head { name_end, ..Head::default() }, tags: Box::new(tags) })
}

/// Returns whether the template writes a number and a text with the same digits in the same way.
fn is_plain(caller: &Caller<'_>) -> bool {
    let of = |wanted: &str| VALUES.iter().find(|(what, _)| *what == wanted).and_then(|(_, call)| caller.text(&[*call]));
    of("a number").is_some_and(|number| of("the text of a number") == Some(number))
}

/// Splits the text between a key and its value: the end of the key, the word for the type, and the beginning of the value.
fn typed(caller: &Caller<'_>, key_to_value: &str, tags: &mut Tags) {
    // The other kinds of values: JSON's name of each, and how it may be written.
    const KINDS: [(&str, &str, &[&str]); 5] = [
        ("a number", "number", &["7193"]),
        ("true", "boolean", &["true", "True"]),
        ("null", "null", &["null", "None"]),
        ("a list", "array", &["[7193"]),
        ("an object", "object", &["{\"asideinner", "{'asideinner"]),
    ];
    let others: Vec<(&str, String)> = KINDS
        .iter()
        .filter_map(|(what, kind, written)| {
            let (_, call) = VALUES.iter().find(|(known, _)| known == what)?;
            let text = caller.text(&[*call])?;
            let after = &text[text.find(KEYS[0])? + KEYS[0].len()..];
            // The word for the type may look like the value, so the value is the last such text.
            let value = written.iter().filter_map(|written| after.rfind(written)).max()?;
            Some((*kind, after[..value].to_owned()))
        })
        .collect();
    let Some((_, number)) = others.first().filter(|(kind, other)| *kind == "number" && other != key_to_value) else {
        let (_, inner, after_open) = trimmed(key_to_value);
        after_open.clone_into(&mut tags.after_open);
        let len = marker(inner).filter(|len| *len < inner.len()).unwrap_or(inner.len());
        tags.key[1] = inner[..len].to_owned();
        tags.value[0] = inner[len..].trim_start().to_owned();
        return;
    };
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let start = shared_start(key_to_value, number);
    let start = key_to_value[..start].trim_end_matches(is_word).len();
    let rest = &key_to_value[start..];
    let end = rest.len() - shared_end(rest, &number[start..]);
    let end = end + (rest[end..].len() - rest[end..].trim_start_matches(is_word).len());
    let (head, tail) = (&key_to_value[..start], &rest[end..]);
    let word_of = |text: &str| {
        let rest = text.get(start..)?;
        Some(rest[..rest.len() - rest.trim_start_matches(is_word).len()].to_owned())
    };
    let cut = head.find(char::is_whitespace).or_else(|| marker(head)).unwrap_or_else(|| 1.min(head.len()));
    let (after_key, kind_open) = head.split_at(cut);
    let kind_close = tail
        .chars()
        .next()
        .filter(|char| "\"'".contains(*char))
        .map_or_else(|| marker(tail).unwrap_or(tail.len()), char::len_utf8);
    let (kind_close, value_open) = tail.split_at(kind_close);
    let (_, value_open, after_open) = trimmed(value_open);
    tags.key[1] = after_key.to_owned();
    tags.kind = Some([kind_open.to_owned(), kind_close.to_owned()]);
    tags.value[0] = value_open.to_owned();
    after_open.clone_into(&mut tags.after_open);
    let text_word = rest[..end].to_owned();
    let mut words = vec![(text_word, "string")];
    for (kind, other) in &others {
        let Some(word) = word_of(other) else { continue };
        match words.iter_mut().find(|(known, _)| *known == word) {
            // The template uses the same word for several kinds of values.
            Some((_, meaning)) if *meaning != *kind => *meaning = if *meaning == "string" { "string" } else { "json" },
            Some(_) => {}
            None => words.push((word, kind)),
        }
    }
    words.retain(|(word, meaning)| word != meaning);
    tags.words = words;
}
