//! The forms of a dialect's calls: every table at every place where its calls may be. This file writes calls itself, from the
//! data of the dialect's file, since `join` would refuse hostile values.

use std::ops::Range;

use reference::{CallId, CallTable, Dialect, Header, Span};
use serde_json::Value;

/// A table, and the text around its calls.
pub struct Form {
    pub table: CallTable,
    pub start: &'static str,
    /// The text before a call. If the header names the call, the name is between the two parts.
    front: [String; 2],
    back: String,
    /// Whether the front includes the beginning of the first call.
    is_begun: bool,
    /// The content before the region of calls. Content may also follow the region.
    before: String,
    after: String,
    /// The texts that end the calls of this form, the texts that begin a call anywhere in the dialect, and markers that are
    /// dropped.
    closers: Vec<String>,
    begins: Vec<String>,
    dropped: Vec<String>,
    /// The maximum number of bytes of a suffix in the tags around calls: a colon and a word.
    suffix: usize,
    /// The framing between calls.
    skips: Vec<String>,
}

/// The choices within a form. The last values of a choice are possible only for some tables.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Whether the hostile value is the first of the two values.
    pub is_first: bool,
    shape: Shape,
    /// Whether content is around the call.
    is_amid: bool,
    /// Whether the call is in a list.
    is_list: bool,
    /// Whether the framing around values is left out.
    is_inline: bool,
    /// Whether the other value breaks the call.
    is_broken: bool,
    name_end: usize,
    /// The kind of quotes of strings; whether values are in CDATA, whether arguments are in a JSON string, and whether there is
    /// an id.
    quote: usize,
}

/// The place of the string in its value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Text,
    Array,
    Object,
}

impl Way {
    /// Returns the choices with this number. Any number is valid.
    pub fn new(mut number: usize) -> Way {
        let mut below = |bound: usize| {
            let choice = number % bound;
            number /= bound;
            choice
        };
        Way {
            is_first: below(2) == 0,
            shape: [Shape::Text, Shape::Text, Shape::Array, Shape::Object][below(4)],
            is_amid: below(2) == 0,
            is_list: below(4) == 0,
            is_inline: below(4) == 0,
            is_broken: below(8) == 0,
            name_end: below(8),
            quote: below(6),
        }
    }
}

impl Shape {
    /// Returns a value of this shape that has the string.
    fn of(self, text: &str) -> Value {
        match self {
            Shape::Text => text.into(),
            Shape::Array => vec!["x", text].into(),
            Shape::Object => serde_json::json!({"k": text}),
        }
    }
}

/// A written call.
pub struct Written {
    pub text: String,
    /// The range of the call, and of each value in a table of `tags`.
    pub call: Range<usize>,
    pub values: Vec<Range<usize>>,
}

/// The reason why a form cannot represent a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// The text contains an end of the value in the value's own syntax.
    Syntax,
    /// The text begins or ends with the framing, which this call leaves out.
    Framing,
    /// The text has the value's closer, followed by text that may follow a value.
    Closer,
    /// A line of the text begins with a key that the call does not have.
    Key,
}

impl Form {
    pub fn all(dialect: &Dialect) -> Vec<Form> {
        let mut forms = Vec::new();
        for span in dialect.spans.iter().filter(|span| span.channel == "tool") {
            span.calls.iter().for_each(|table| forms.extend(of_span(dialect, span, table)));
        }
        if let Some(header) = &dialect.header {
            header.calls.iter().for_each(|table| forms.extend(of_header(dialect, header, table)));
        }
        forms
    }

    /// Returns whether another value breaks the call before its hostile value: text that is not JSON, in the place of a null.
    pub fn is_broken(&self, way: &Way) -> bool {
        way.is_broken && self.table.body != "tags" && way.quote != 1
    }

    /// Returns the value that contains the string, as the choices require it.
    pub fn value(&self, way: &Way, text: &str) -> Value {
        // In literals with raw strings, objects can only be written if arguments are written like their members.
        let has_objects = self.table.raw_quote.is_empty() || self.table.assign == ":";
        match way.shape {
            Shape::Object if !has_objects => Shape::Array.of(text),
            shape => shape.of(text),
        }
    }

    /// Writes a call.
    pub fn write(&self, way: &Way, name: &str, arguments: &[(&str, Value)]) -> Written {
        let table = &self.table;
        let mut text = if way.is_amid { self.before.clone() } else { String::new() };
        let mut values = Vec::new();
        text += &self.front[0];
        if table.name_from.is_some() {
            text += name;
        }
        text += &self.front[1];
        let is_list = table.list || way.is_list && table.body == "object" && table.skip.is_empty();
        if is_list {
            text.push('[');
        }
        let begin = text.len();
        if !self.is_begun {
            text += &table.begin;
        }
        if table.body == "object" {
            let is_wrapped = !table.begin.is_empty() && !table.skip.is_empty();
            let line = if is_wrapped { "\n" } else { "" };
            text += &format!("{line}{}{line}", self.object(way, name, arguments));
            if is_wrapped {
                text += &table.skip[0];
            }
        } else {
            text += &self.head(way, name);
            match table.body.as_str() {
                "json" => text += &json(arguments),
                "tags" => self.tags(way, arguments, &mut text, &mut values),
                _ => {
                    let pair =
                        |(key, value): &(&str, Value)| format!("{key}{}{}", table.assign, self.literal(way, value));
                    text += &arguments.iter().map(pair).collect::<Vec<_>>().join(", ");
                    text += &table.close;
                }
            }
            text += &table.end;
        }
        let call = begin..text.len();
        if is_list {
            text.push(']');
        }
        text += &self.back;
        if way.is_amid {
            text += &self.after;
        }
        Written { text, call, values }
    }

    fn object(&self, way: &Way, name: &str, arguments: &[(&str, Value)]) -> String {
        let table = &self.table;
        let mut text = json(arguments);
        if table.key_is_name {
            return format!("{{\"{name}\": {text}}}");
        }
        if way.quote == 1 {
            text = Value::from(text).to_string();
        }
        let id = match &table.id {
            Some(CallId::Members(ids)) if way.quote == 2 => format!(", \"{}\": \"7\"", ids[0]),
            _ => String::new(),
        };
        format!("{{\"{}\": \"{name}\"{id}, \"{}\": {text}}}", table.name[0], table.arguments[0])
    }

    fn head(&self, way: &Way, name: &str) -> String {
        let table = &self.table;
        if table.name_from.is_some() {
            return String::new();
        }
        let mut text = String::new();
        if !table.id_end.is_empty() {
            text += &format!("0{}", table.id_end);
        }
        text += table.prefix.first().map_or("", String::as_str);
        text += name;
        text += &table.suffix;
        if table.id.is_some() {
            text += ":0";
        }
        if !table.id_begin.is_empty() && way.quote == 2 {
            text += &format!("{}123456789", table.id_begin);
        }
        // An end like `/>` has no arguments after it.
        let ends: Vec<&String> = table.name_end.iter().filter(|end| !end.ends_with("/>")).collect();
        if table.body == "literal" {
            text += &table.open;
        } else if !ends.is_empty() {
            text += ends[way.name_end % ends.len()];
        }
        text + &table.head_end
    }

    fn tags(&self, way: &Way, arguments: &[(&str, Value)], text: &mut String, values: &mut Vec<Range<usize>>) {
        let table = &self.table;
        let ([key_open, key_close], [open, close]) = (&table.key, &table.value);
        for (key, value) in arguments {
            *text += &format!("{key_open}{key}{key_close}");
            if let Some([kind_open, kind_close]) = &table.kind {
                let kind = match value {
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    _ => "object",
                };
                let is = |meaning: &str| table.type_words.iter().find(|(_, is)| *is == meaning).map(|(word, _)| word);
                let word = is(kind).or_else(|| is("json")).map_or(kind, String::as_str);
                *text += &format!("{kind_open}{word}{kind_close}");
            }
            *text += open;
            if table.nested {
                *text += &self.element(value);
                *text += &format!("{close}{key}>");
                continue;
            }
            let is_inline = way.is_inline || way.is_cdata(table);
            let framing = if is_inline { ["", ""] } else { [&*table.framing.after_open, &*table.framing.before_close] };
            let cdata = if way.is_cdata(table) { ["<![CDATA[", "]]>"] } else { ["", ""] };
            *text += &format!("{}{}", framing[0], cdata[0]);
            let begin = text.len();
            *text += &value.as_str().map_or_else(|| value.to_string(), str::to_string);
            values.push(begin..text.len());
            *text += &format!("{}{}{close}", cdata[1], framing[1]);
        }
    }

    /// Writes the content of an element.
    fn element(&self, value: &Value) -> String {
        let ([open, end], close) = (&self.table.key, &self.table.value[1]);
        let inside = |(key, value): (&str, &Value)| format!("{open}{key}{end}{}{close}{key}>", self.element(value));
        match value {
            Value::String(text) => text.clone(),
            Value::Array(items) => items.iter().map(|item| inside(("item", item))).collect(),
            Value::Object(members) => members.iter().map(|(key, value)| inside((key, value))).collect(),
            other => other.to_string(),
        }
    }

    fn literal(&self, way: &Way, value: &Value) -> String {
        let is_raw = !self.table.raw_quote.is_empty();
        match value {
            Value::String(text) => match way.literal_quote(&self.table) {
                "\"" => value.to_string(),
                "'" => {
                    let json = value.to_string();
                    format!("'{}'", json[1..json.len() - 1].replace("\\\"", "\"").replace('\'', "\\'"))
                }
                raw => format!("{raw}{text}{raw}"),
            },
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.literal(way, item)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Object(members) => {
                let key = |key: &str| if is_raw { key.to_string() } else { self.literal(way, &key.into()) };
                let pair = |(name, value): (&String, &Value)| format!("{}: {}", key(name), self.literal(way, value));
                format!("{{{}}}", members.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
            _ => "]".into(),
        }
    }

    /// Returns the reasons why the form cannot represent a hostile value, which is the value with the index `number`. There are
    /// none if the form can represent it.
    ///
    /// `keys` are the keys of the call up to this value, including its own. `known` are the keys of the schema, if there is
    /// one.
    pub fn limits(
        &self,
        way: &Way,
        written: &Written,
        number: usize,
        hostile: &str,
        keys: &[&str],
        known: Option<&[&str]>,
    ) -> Vec<Limit> {
        let table = &self.table;
        let ends_early = |end: &str| format!("{hostile}{end}").find(end) != Some(hostile.len());
        let mut limits = Vec::new();
        if table.body == "literal" {
            // A raw string has no escapes, so it ends at its quote.
            let quote = way.literal_quote(table);
            if quote == table.raw_quote && ends_early(quote) {
                limits.push(Limit::Syntax);
            }
        }
        if table.body != "tags" {
            // In JSON, and in quotes with escapes, every text can be written.
            return limits;
        }
        if table.nested {
            // Every marker of elements begins with the mark, so the mark ends a text. Blanks are framing between elements.
            if ends_early(&table.mark) || hostile.trim().is_empty() {
                limits.push(Limit::Syntax);
            }
            return limits;
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        let value = &written.values[number];
        let text = &written.text[value.clone()];
        if way.is_cdata(table) {
            if ends_early(&format!("]]>{}", table.value[1])) {
                limits.push(Limit::Syntax);
            }
            return limits;
        }
        if table.cdata && text.starts_with("<![CDATA[") {
            limits.push(Limit::Syntax);
        }
        let framing = &table.framing;
        let is_framed = |framing: &str, has: bool| !framing.is_empty() && has;
        if way.is_inline
            && (is_framed(&framing.after_open, text.starts_with(&framing.after_open))
                || is_framed(&framing.before_close, text.ends_with(&framing.before_close)))
        {
            limits.push(Limit::Framing);
        }
        for at in value.clone().filter(|&at| written.text.is_char_boundary(at)) {
            if self.ends_at(&written.text, at, value.end) {
                limits.push(Limit::Closer);
            }
            // With a table that has framing, a key at the beginning of a line ends a value without a closer, if the call does
            // not have the key yet and the schema, if there is one, has it. After a misspelt closer, this holds for every
            // table.
            let recovers =
                !framing.after_open.is_empty() || self.is_misspelt_closer(&written.text[value.start..at], keys[number]);
            let is_line = recovers && written.text[..at].ends_with('\n');
            if is_line
                && let Some(key) = self.key_at(&written.text[at..], is_plain, 128)
                && !keys.contains(&key)
                && known.is_none_or(|known| known.contains(&key))
            {
                limits.push(Limit::Key);
            }
        }
        limits
    }

    /// Returns whether a text may end a call, after which a quoted call is a real call. The beginning of a call after the end
    /// of a value ends the call too.
    pub fn may_end(&self, text: &str) -> bool {
        let ends = [&self.table.end, &self.table.close].into_iter().chain(&self.closers);
        let value_end = self.table.value[1].as_str();
        let begins_after = |after: &str| self.begins.iter().any(|begin| after.starts_with(begin.as_str()));
        let has = |end: &String| text.char_indices().any(|(at, _)| self.begins_with(&text[at..], end));
        ends.filter(|end| !end.is_empty()).any(has)
            || !value_end.is_empty()
                && text.split(value_end).skip(1).any(|after| begins_after(after.trim_start_matches(BLANKS)))
    }

    /// Returns whether a closer in a string of a broken call counts, because text that may follow it is there after at most 64
    /// blanks. A string of such a call ends at the end of its line; after that each closer counts, and the call's own bracket
    /// too.
    pub fn ends_broken(&self, way: &Way, text: &str) -> bool {
        let written =
            if self.table.body == "literal" { self.literal(way, &text.into()) } else { json(&[("", text.into())]) };
        let follows = |rest: &str| {
            let after = rest.trim_start_matches(BLANKS);
            let next = self.begins.iter().chain(&self.dropped).any(|next| after.starts_with(next.as_str()));
            rest.len() - after.len() <= 64 && next
        };
        let closers = || self.closers.iter().filter(|closer| !closer.is_empty());
        let own = Some(&self.table.close).filter(|close| !close.is_empty());
        let is_literal = self.table.body == "literal";
        let plain = written.split_once('\n').filter(|_| is_literal).map_or("", |(_, rest)| rest);
        closers().chain(own).any(|closer| plain.contains(closer.as_str()))
            || closers()
                .flat_map(|closer| written.match_indices(closer.as_str()).map(move |(at, _)| at + closer.len()))
                .any(|at| follows(&written[at..]))
    }

    /// Returns whether a text begins with a marker, which may have a suffix if it is a tag.
    fn begins_with(&self, text: &str, marker: &str) -> bool {
        let suffixed = || {
            let rest = text.strip_prefix(marker.strip_suffix('>')?)?.strip_prefix(':')?;
            let letters = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"_.-".contains(c))?;
            Some(letters > 0 && letters < self.suffix && rest[letters..].starts_with('>'))
        };
        text.starts_with(marker) || suffixed().unwrap_or_default()
    }

    /// Returns whether the value's closer is at `at`, followed after at most 64 blanks by a key, the end of the call, or
    /// another call. A closer at the very end of the value is followed by the real closer, like a repeated closer.
    fn ends_at(&self, text: &str, at: usize, end: usize) -> bool {
        let table = &self.table;
        let Some(rest) = text[at..].strip_prefix(&table.value[1]) else { return false };
        let blanks = rest.len() - rest.trim_start_matches(BLANKS).len();
        let after = &rest[blanks..];
        let ends = || [&table.end].into_iter().chain(&self.closers).chain(&self.begins).filter(|end| !end.is_empty());
        let is_end = |after: &str| ends().any(|end| self.begins_with(after, end)) || text.len() - after.len() >= end;
        // Framing between calls may precede the next call.
        let mut skipped =
            self.skips.iter().filter_map(|skip| Some(after.strip_prefix(skip)?.trim_start_matches(BLANKS)));
        blanks <= 64
            && (self.key_at(after, |byte| byte != b'\n' && byte != table.key[0].as_bytes()[0], 256).is_some()
                || is_end(after)
                || skipped.any(is_end))
    }

    /// Returns whether a text ends with a misspelt closer and blanks, for the value of a key.
    fn is_misspelt_closer(&self, text: &str, key: &str) -> bool {
        let text = text.trim_end_matches(BLANKS);
        let word = text.strip_suffix('>').unwrap_or(text);
        let is_letter = |letter: u8| letter.is_ascii_alphabetic() || letter == b'_';
        let stem = self.table.value[1].strip_suffix('>').filter(|stem| !stem.is_empty());
        let is_stem = |stem: &str| word.rfind(stem).is_some_and(|at| word[at + stem.len()..].bytes().all(is_letter));
        stem.is_some_and(is_stem) || text.ends_with(&format!("</{key}>"))
    }

    /// Returns the key of allowed bytes at the beginning of the text, if all of the text before its value follows.
    fn key_at<'t>(&self, text: &'t str, may_have: impl Fn(u8) -> bool, most: usize) -> Option<&'t str> {
        let table = &self.table;
        let rest = text.strip_prefix(&table.key[0])?;
        let bytes = rest.as_bytes();
        let is_over = |at: usize| !may_have(bytes[at]) || bytes[at..].starts_with(table.key[1].as_bytes());
        let len = (0..bytes.len()).find(|&at| is_over(at)).unwrap_or(bytes.len());
        let (key, rest) = rest.split_at(len);
        let mut rest = rest.strip_prefix(&table.key[1])?;
        let gap = |rest: &'t str| if table.key[1].ends_with('>') { rest.trim_start_matches(BLANKS) } else { rest };
        if let Some([open, close]) = &table.kind
            && let Some(kind) = gap(rest).strip_prefix(open)
        {
            rest = &kind[kind.find(close)? + close.len()..];
        }
        let has_value = table.value[0].is_empty() || gap(rest).starts_with(&table.value[0]);
        (len <= most && !key.trim_matches(BLANKS).is_empty() && has_value).then_some(key)
    }
}

const BLANKS: [char; 6] = [' ', '\t', '\n', '\r', '\u{b}', '\u{c}'];

impl Way {
    fn is_cdata(&self, table: &CallTable) -> bool {
        table.cdata && self.quote < 2
    }

    /// Returns the quotes of strings in a literal.
    fn literal_quote<'t>(&self, table: &'t CallTable) -> &'t str {
        match self.quote {
            1 => "\"",
            0 | 2 if table.raw_quote.is_empty() => "'",
            _ if table.raw_quote.is_empty() => "\"",
            _ => &table.raw_quote,
        }
    }
}

fn json(arguments: &[(&str, Value)]) -> String {
    let value = |value: &Value| if value.is_null() { r"C:\x".into() } else { value.to_string() };
    let member = |(key, it): &(&str, Value)| format!("\"{key}\": {}", value(it));
    format!("{{{}}}", arguments.iter().map(member).collect::<Vec<_>>().join(", "))
}

/// Returns all texts that begin a call somewhere in the dialect.
fn begins(dialect: &Dialect) -> Vec<String> {
    let spans = dialect.spans.iter().filter(|span| span.channel == "tool");
    let tables = spans.clone().flat_map(|span| &span.calls).chain(dialect.header.iter().flat_map(|it| &it.calls));
    let tags = spans.clone().flat_map(|span| &span.tag).flat_map(|tag| &tag.names).map(|name| format!("<{name}>"));
    let openers = spans.flat_map(|span| &span.open).cloned();
    let headers = dialect.header.iter().flat_map(|header| &header.begin).cloned();
    let all = tables.map(|table| table.begin.clone()).chain(openers).chain(tags).chain(headers);
    all.filter(|begin| !begin.is_empty()).collect()
}

pub fn dropped(dialect: &Dialect) -> Vec<String> {
    let all = [&dialect.drop, &dialect.drop_ends, &dialect.drop_last].into_iter().flatten();
    all.map(|dropped| dropped.marker().to_string()).collect()
}

/// Returns the forms of a table after each opener of its span.
fn of_span(dialect: &Dialect, span: &Span, table: &CallTable) -> Vec<Form> {
    let tags = span.tag.iter().flat_map(|tag| &tag.names).map(|name| [format!("<{name}>"), format!("</{name}>")]);
    let close = |number: usize| span.close.get(number).or(span.close.first()).cloned().unwrap_or_default();
    let literals = span.open.iter().enumerate().map(|(number, open)| [open.clone(), close(number)]);
    let bare = span.bare.then(|| [String::new(), close(0)]);
    let mut regions: Vec<[String; 2]> = literals.chain(tags).chain(bare).collect();
    // If an opener begins the calls of the table, other openers begin those of other tables.
    let is_begun = |open: &str| !table.begin.is_empty() && open.ends_with(&table.begin);
    if regions.iter().any(|[open, _]| is_begun(open)) {
        regions.retain(|[open, _]| is_begun(open));
    }
    let closers: Vec<String> = regions.iter().map(|[_, close]| close.clone()).collect();
    let is_anywhere = span.place.is_none() && !span.bare;
    let form = |[open, close]: [String; 2]| Form {
        table: table.clone(),
        start: "content",
        is_begun: is_begun(&open),
        before: if is_anywhere { "So.\n".into() } else { String::new() },
        after: if close.is_empty() { String::new() } else { "\nDone.".into() },
        front: [open, String::new()],
        back: close,
        closers: closers.clone(),
        suffix: span.tag.as_ref().map_or(0, |tag| tag.suffix),
        skips: span.calls.iter().flat_map(|table| &table.skip).cloned().collect(),
        begins: begins(dialect),
        dropped: dropped(dialect),
    };
    regions.into_iter().map(form).collect()
}

/// Returns the forms of a table in the messages of a header: with the whole header, and from the stream's start inside it.
fn of_header(dialect: &Dialect, header: &Header, table: &CallTable) -> Vec<Form> {
    let message = |channel: &str| {
        let routes = header.routes.iter().filter(|route| route.channel == channel);
        routes.filter_map(|route| route.write.clone()).next().unwrap_or_default()
    };
    let tools = header.routes.iter().filter(|route| route.channel == "tool").filter_map(|route| route.write.clone());
    let form = |front: [String; 2], start| {
        let is_whole = start == "content";
        Form {
            table: table.clone(),
            start,
            front,
            back: header.close[0].clone(),
            is_begun: false,
            before: if is_whole { format!("{}So.\n{}", message("content"), header.close[0]) } else { String::new() },
            after: format!("{}Done.", message("content")),
            closers: header.close.clone(),
            suffix: 0,
            skips: header.calls.iter().flat_map(|table| &table.skip).cloned().collect(),
            begins: begins(dialect),
            dropped: dropped(dialect),
        }
    };
    let mut forms = Vec::new();
    for write in tools {
        let end = header.end.iter().find(|end| write.ends_with(*end)).unwrap();
        let front = match &table.name_from {
            Some(field) => {
                let key = &header.keys[field];
                let space = format!(" {key}");
                let (before, after) = write.split_once(&space).unwrap_or((write.strip_suffix(end).unwrap(), end));
                let prefix = table.prefix.first().map_or("", String::as_str);
                [format!("{before}{space}{prefix}"), after.to_owned()]
            }
            None => [write, String::new()],
        };
        let started = front[0].strip_prefix(&header.begin[0]).unwrap();
        let started = started.strip_prefix("assistant").unwrap_or(started).to_string();
        forms.push(form([started, front[1].clone()], "header"));
        forms.push(form(front, "content"));
    }
    forms
}
