//! Reads the fields of a response template: the channel of each, its markers, and the form of its calls.

use super::json;
use super::pattern::{self, Piece, Sequence, texts};
use crate::file_error::{FileError, quoted};
use crate::json::Value;

/// The content of a response template.
#[derive(Default)]
pub struct Template {
    /// The texts that a prompt writes before the model's turn.
    pub turns: Vec<String>,
    /// Markers that are removed in the content.
    pub ends: Vec<String>,
    pub thinking: Vec<Part>,
    pub content: Vec<Part>,
    pub calls: Vec<Calls>,
}

/// The markers of a field.
#[derive(Default)]
pub struct Part {
    pub open: Vec<String>,
    pub close: Vec<String>,
    /// Whether the field has no opener: only its closer shows that the text before it was the field.
    pub is_late: bool,
}

pub struct Calls {
    pub part: Part,
    /// The texts that begin a call, before the name.
    pub begin: Vec<String>,
    pub name_end: Vec<String>,
    pub body: Body,
}

pub enum Body {
    Object { name: Vec<String>, arguments: Vec<String> },
    Json,
    Tags { key: [String; 2], value: [String; 2], is_text: bool, is_framed: bool },
    Literal { brackets: [&'static str; 2], assign: String, quote: Option<String>, is_list: bool },
}

/// The known keys of a field. Some of them do not change how a text is read.
const KEYS: [&str; 10] = [
    "open",
    "open_pattern",
    "close",
    "close_pattern",
    "content",
    "content_args",
    "repeats",
    "optional",
    "transform",
    "transform_each",
];

impl Template {
    pub fn read(json: &Value<'_>) -> Result<Template, FileError> {
        let fields = json.get("fields").map(|fields| fields.members()).unwrap_or_default();
        if fields.is_empty() {
            return fault(
                "fields",
                "a response template has `fields`, an object with a member for each field of a message",
            );
        }
        let mut template = Template::default();
        let anchor = Markers::read(json, "", "start_anchor")?;
        template.turns = anchor.literals()?;
        let mut has_rest = false;
        for (name, field) in &fields {
            let key = format!("fields.{name}");
            if !field.is_object() {
                return fault(&key, "a field is an object");
            }
            if let Some((unknown, _)) = field.members().iter().find(|(key, _)| !KEYS.contains(&key.as_str())) {
                return fault(&format!("{key}.{unknown}"), format!("a field has no {}", quoted(unknown)));
            }
            let (open, close) = (Markers::read(field, &key, "open")?, Markers::read(field, &key, "close")?);
            match name.as_str() {
                "content" if open.all.is_empty() => {
                    has_rest = true;
                    template.ends.extend(close.literals()?);
                }
                "content" => {
                    template.content.push(Part { open: open.literals()?, close: close.literals()?, is_late: false })
                }
                "reasoning_content" | "reasoning" | "thinking" => template.thinking.push(thinking(&open, &close)?),
                "tool_calls" => template.calls.push(calls(field, &key, &open, &close)?),
                _ => {
                    let message = "a field is `content`, `reasoning_content`, `reasoning`, `thinking` or `tool_calls`";
                    return fault(&key, format!("{message}; {} is not read", quoted(name)));
                }
            }
        }
        if !has_rest {
            // Text outside all fields is dropped, so the texts that begin a turn are dropped too.
            template.ends.extend(template.turns.iter().map(|turn| turn.trim().to_owned()));
        }
        Ok(template)
    }
}

fn fault<T>(key: &str, message: impl Into<String>) -> Result<T, FileError> {
    Err(FileError::of_key(key, message))
}

/// The texts that begin or end a field.
struct Markers {
    key: String,
    /// The text of the pattern, for messages.
    pattern: String,
    all: Vec<Sequence>,
}

impl Markers {
    /// Reads the key `name`, which is a text or a list of texts, or otherwise the key `name` with `_pattern` at its end.
    fn read(field: &Value<'_>, scope: &str, name: &str) -> Result<Markers, FileError> {
        let dot = if scope.is_empty() { "" } else { "." };
        let key = format!("{scope}{dot}{name}");
        if let Some(literals) = field.get(name) {
            let Some(texts) = json::texts(&literals) else { return fault(&key, "this is a text, or a list of texts") };
            let all = texts.into_iter().map(|text| vec![Piece::Text(text)]).collect();
            return Ok(Markers { key, pattern: String::new(), all });
        }
        let key = format!("{key}_pattern");
        let Some(found) = field.get(&format!("{name}_pattern")) else {
            return Ok(Markers { key, pattern: String::new(), all: Vec::new() });
        };
        let Some(pattern) = found.decoded() else { return fault(&key, "a pattern is a text") };
        match pattern::read(&pattern) {
            Some(all) => Ok(Markers { key, pattern, all }),
            None => Err(unread(&key, &pattern)),
        }
    }

    fn unread<T>(&self) -> Result<T, FileError> {
        Err(unread(&self.key, &self.pattern))
    }

    /// Returns the texts that the pattern may match, except for the end of the text.
    fn literals(&self) -> Result<Vec<String>, FileError> {
        let all: Option<Vec<Vec<String>>> = self.all.iter().map(|sequence| exact(sequence)).collect();
        let Some(all) = all else { return self.unread() };
        let mut found = Vec::new();
        add(&mut found, all.into_iter().flatten().filter(|text| !text.is_empty()));
        Ok(found)
    }
}

/// Adds the texts that are not in a list yet.
fn add(list: &mut Vec<String>, texts: impl IntoIterator<Item = String>) {
    for text in texts {
        if !list.contains(&text) {
            list.push(text);
        }
    }
}

/// Returns the texts of a sequence; a literal is unchanged.
fn exact(sequence: &[Piece]) -> Option<Vec<String>> {
    match sequence {
        [Piece::Text(text)] => Some(vec![text.clone()]),
        _ => texts(sequence),
    }
}

fn unread(key: &str, pattern: &str) -> FileError {
    let read = "literals, \\s, alternatives, named groups between literals, $ and the look-ahead (?=[\\s\\S]*?LITERAL)";
    FileError::of_key(key, format!("the pattern {} is not read: {read} are", quoted(pattern)))
}

fn thinking(open: &Markers, close: &Markers) -> Result<Part, FileError> {
    let closers = close.literals()?;
    if closers.is_empty() {
        return fault(&close.key, "a thinking needs a closer: without one it would be all of the text");
    }
    let is_late = matches!(open.all[..], [ref only] if matches!(only[..], [Piece::Ahead(_)]));
    let open = if is_late {
        // The opener is in the prompt, but a model may write it again.
        closers.iter().map(|closer| closer.replacen('/', "", 1)).filter(|opener| !closers.contains(opener)).collect()
    } else {
        open.literals()?
    };
    Ok(Part { open, close: closers, is_late })
}

fn calls(field: &Value<'_>, key: &str, open: &Markers, close: &Markers) -> Result<Calls, FileError> {
    let kind = field.get("content").and_then(|kind| kind.decoded()).unwrap_or_else(|| "text".into());
    let arguments = field.get("content_args");
    let argument = |name: &str| arguments.as_ref().and_then(|arguments| arguments.get(name));
    let mut heads = Vec::new();
    for sequence in &open.all {
        let Some(head) = Head::read(sequence) else { return open.unread() };
        // A comma before a name only separates the calls of a list.
        if !head.open.iter().all(|text| text == ",") {
            heads.push(head);
        }
    }
    let Some(first) = heads.first() else { return fault(&open.key, "calls need an opener") };
    let has_name = first.has_name;
    let mut calls = Calls {
        part: Part { open: Vec::new(), close: close.literals()?, is_late: false },
        begin: Vec::new(),
        name_end: first.name_end.clone(),
        body: match (kind.as_str(), has_name) {
            ("json", false) => object(field, key)?,
            ("json", true) if argument("string_delims").is_some() || argument("unquoted_keys").is_some() => {
                let quote = argument("string_delims").and_then(|all| json::texts(all.list().ok()??.first()?));
                let quote = quote.and_then(|pair| pair.first().cloned()).filter(|quote| quote.len() > 1);
                Body::Literal { brackets: ["{", "}"], assign: ":".into(), quote, is_list: false }
            }
            ("json", true) => Body::Json,
            ("xml-inline", true) => tags(argument("tag_pattern"), argument("value_parser"), key)?,
            _ => {
                let message = "calls are read of `json`, and of `xml-inline` with a name in the opener";
                return fault(&format!("{key}.content"), format!("{message}; {} is not read", quoted(&kind)));
            }
        },
    };
    for head in heads {
        add(&mut calls.part.open, head.open);
        add(&mut calls.begin, head.begin);
    }
    if let Body::Literal { brackets, is_list, .. } = &mut calls.body {
        // A bracket at the end of an opener, or after the name, is part of the literal: it opens the list or the arguments.
        if calls.name_end.first().is_some_and(|end| end == "(") {
            *brackets = ["(", ")"];
        }
        calls.name_end.clear();
        for open in &mut calls.part.open {
            if let Some(list) = open.strip_suffix('[') {
                *is_list = true;
                *open = list.to_owned();
            }
        }
        let openers = calls.part.open.clone();
        calls.begin.retain(|begin| !begin.is_empty() && !openers.contains(&begin.trim_end_matches('[').to_owned()));
        for close in &mut calls.part.close {
            *close = close.trim_start_matches([')', ']']).to_owned();
        }
        calls.part.close.retain(|close| !close.is_empty());
    } else if !has_name {
        calls.begin.clear();
    }
    Ok(calls)
}

/// The beginning of a call.
struct Head {
    /// The opener of the calls.
    open: Vec<String>,
    /// The texts before the name: the opener's texts, or those that follow the opener after white space.
    begin: Vec<String>,
    has_name: bool,
    name_end: Vec<String>,
}

impl Head {
    fn read(sequence: &[Piece]) -> Option<Head> {
        let at = sequence.iter().position(|piece| matches!(piece, Piece::Capture(name) if name == "name"));
        let (before, after) = match at {
            Some(at) => (&sequence[..at], texts(&sequence[at + 1..])?),
            None => (sequence, Vec::new()),
        };
        let name_end: Vec<String> = after.into_iter().filter(|text| !text.is_empty()).collect();
        // A tag, white space and another tag.
        if let [Piece::Text(open), Piece::Blank { .. }, Piece::Text(begin)] = before
            && open.ends_with(['>', ']'])
        {
            let (open, begin) = (vec![open.clone()], vec![begin.clone()]);
            return Some(Head { open, begin, has_name: at.is_some(), name_end });
        }
        let open = exact(before)?;
        Some(Head { begin: open.clone(), open, has_name: at.is_some(), name_end })
    }
}

/// Returns the members of a call's object that are its name and its arguments, according to the field's transform.
fn object(field: &Value<'_>, key: &str) -> Result<Body, FileError> {
    let function = field.get("transform").and_then(|transform| transform.get("function"));
    let placeholder = |name: &str| {
        let text = function.as_ref().and_then(|function| function.get(name)).and_then(|value| value.decoded());
        text.and_then(|text| Some(text.strip_prefix('{')?.strip_suffix('}')?.to_owned()))
    };
    let is_whole = function.as_ref().is_none_or(|function| function.decoded().is_some_and(|text| text == "{content}"));
    let is_each = field.get("transform_each").is_some_and(|each| each.json() == b"true");
    match (placeholder("name"), placeholder("arguments")) {
        (Some(name), Some(arguments)) if is_each => Ok(Body::Object { name: vec![name], arguments: vec![arguments] }),
        _ if is_whole => Ok(Body::Object { name: Vec::new(), arguments: Vec::new() }),
        _ => fault(
            &format!("{key}.transform"),
            "a call's object is taken whole, or its name and arguments with `transform_each`",
        ),
    }
}

/// Returns the form of keys and values.
fn tags(tag_pattern: Option<Value<'_>>, value_parser: Option<Value<'_>>, key: &str) -> Result<Body, FileError> {
    let key = format!("{key}.content_args.tag_pattern");
    let Some(pattern) = tag_pattern.and_then(|pattern| pattern.decoded()) else {
        return fault(&key, "`xml-inline` needs a pattern of keys and values");
    };
    let found = pattern::read(&pattern);
    let Some([sequence]) = found.as_deref() else { return Err(unread(&key, &pattern)) };
    let is = |wanted: &str, piece: &Piece| matches!(piece, Piece::Capture(name) if name == wanted);
    let (at_key, at_value) =
        (sequence.iter().position(|piece| is("key", piece)), sequence.iter().position(|piece| is("value", piece)));
    let (Some(at_key), Some(at_value)) = (at_key, at_value) else { return Err(unread(&key, &pattern)) };
    if at_key > at_value {
        return Err(unread(&key, &pattern));
    }
    let side = |pieces: &[Piece]| texts(pieces).and_then(|texts| texts.into_iter().next());
    let between = &sequence[at_key + 1..at_value];
    let (Some(before), Some(after)) = (side(&sequence[..at_key]), side(&sequence[at_value + 1..])) else {
        return Err(unread(&key, &pattern));
    };
    let Some(middle) = side(between) else { return Err(unread(&key, &pattern)) };
    if after.is_empty() {
        return Ok(Body::Literal { brackets: ["(", ")"], assign: middle, quote: None, is_list: false });
    }
    // The closer of the key ends with its tag, and the text after it opens the value.
    let end = middle.find('>').map_or(middle.len(), |at| at + 1);
    let (key_end, value_begin) = (middle[..end].trim().to_owned(), middle[end..].trim().to_owned());
    let is_text = value_parser
        .is_some_and(|parser| parser.get("name").and_then(|name| name.decoded()).is_none_or(|name| name == "text"));
    let is_framed = value_begin.is_empty() && matches!(between.last(), Some(Piece::Blank { .. }));
    Ok(Body::Tags { key: [before, key_end], value: [value_begin, after], is_text, is_framed })
}
