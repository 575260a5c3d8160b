//! Reads a dialect's file. The format is described separately here, so that a mistake of the library in reading a file becomes a
//! difference between the results. This code must not call the library, and does not look up models or templates.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    #[serde(default)]
    pub models: Vec<ModelPattern>,
    #[serde(default)]
    pub turns: Vec<String>,
    #[serde(default)]
    pub templates: Vec<String>,
    pub start: Option<String>,
    pub case: Option<String>,
    #[serde(default)]
    pub drop: Vec<Dropped>,
    #[serde(default)]
    pub drop_ends: Vec<Dropped>,
    #[serde(default)]
    pub drop_last: Vec<Dropped>,
    pub torn: Option<Torn>,
    pub extra_close: Option<String>,
    pub stray_close: Option<String>,
    #[serde(default)]
    pub guard: Vec<String>,
    pub call_ids: Option<u8>,
    #[serde(default, rename = "span")]
    pub spans: Vec<Span>,
    pub header: Option<Header>,
    #[serde(default, rename = "example")]
    pub examples: Vec<Example>,
}

/// A pattern of model names. Only its form is checked here.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum ModelPattern {
    Plain(String),
    Started(StartedPattern),
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct StartedPattern {
    pub pattern: String,
    pub start: String,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Span {
    pub channel: String,
    pub family: Option<String>,
    #[serde(default)]
    pub open: Vec<String>,
    #[serde(default)]
    pub close: Vec<String>,
    pub tag: Option<Tag>,
    pub fence: Option<String>,
    #[serde(default)]
    pub bare: bool,
    #[serde(rename = "where")]
    pub place: Option<String>,
    pub repeat: Option<bool>,
    pub again: Option<String>,
    pub stray_close: Option<String>,
    pub ends: Option<String>,
    pub pauses: Option<String>,
    #[serde(default)]
    pub keep: bool,
    #[serde(default)]
    pub special: bool,
    pub quote: Option<String>,
    #[serde(default)]
    pub framing: Framing,
    pub thought: Option<ThoughtKeys>,
    #[serde(default, rename = "call")]
    pub calls: Vec<Call>,
    pub sure: Option<bool>,
    #[serde(default)]
    pub lenient: bool,
}

impl Span {
    /// Returns whether the span's openers are words, with which an answer may begin too.
    pub(crate) fn is_label(&self) -> bool {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"'.,:/".contains(&byte);
        self.channel == "thinking"
            && self.place.is_some()
            && !self.open.is_empty()
            && self.open.iter().all(|open| open.bytes().all(is_word))
    }
}

/// The form of calls in a span, or in the bodies of a header.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub body: String,
    #[serde(default)]
    pub begin: String,
    #[serde(default)]
    pub end: String,
    pub between: Option<String>,
    #[serde(default)]
    pub skip: Vec<String>,
    #[serde(default)]
    pub name_end: Vec<String>,
    #[serde(default)]
    pub head_end: String,
    #[serde(default)]
    pub prefix: Vec<String>,
    #[serde(default)]
    pub need_prefix: bool,
    #[serde(default)]
    pub suffix: String,
    pub id: Option<CallId>,
    #[serde(default)]
    pub id_end: String,
    #[serde(default)]
    pub id_begin: String,
    pub name_from: Option<String>,
    #[serde(default = "names")]
    pub name: Vec<String>,
    #[serde(default = "arguments")]
    pub arguments: Vec<String>,
    #[serde(default)]
    pub key_is_name: bool,
    #[serde(default)]
    pub key: [String; 2],
    #[serde(default)]
    pub value: [String; 2],
    #[serde(rename = "type")]
    pub kind: Option<[String; 2]>,
    #[serde(default)]
    pub type_words: BTreeMap<String, String>,
    #[serde(default)]
    pub framing: CallFraming,
    #[serde(default)]
    pub cdata: bool,
    #[serde(default)]
    pub nested: bool,
    #[serde(default)]
    pub mark: String,
    pub types: Option<String>,
    #[serde(default)]
    pub open: String,
    #[serde(default)]
    pub close: String,
    #[serde(default)]
    pub assign: String,
    #[serde(default)]
    pub list: bool,
    #[serde(default)]
    pub raw_quote: String,
    #[serde(default)]
    pub namespace: bool,
    // These keys matter only for writing calls.
    #[serde(default)]
    pub lenient: bool,
    pub separator: Option<String>,
    #[serde(default)]
    pub sorted: bool,
    /// Whether the table is one of a span without opener.
    #[serde(skip)]
    pub is_bare: bool,
}

fn names() -> Vec<String> {
    vec!["name".into()]
}

fn arguments() -> Vec<String> {
    vec!["arguments".into(), "parameters".into()]
}

/// `"head"`, or the names of members.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum CallId {
    Head(String),
    Members(Vec<String>),
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(deny_unknown_fields, default)]
pub struct CallFraming {
    pub after_open: String,
    pub before_close: String,
}

/// The way in which a closer may be torn: its usual end, and the texts that may follow it instead.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Torn {
    pub end: String,
    pub before: Vec<String>,
}

/// A marker that is removed without opening or closing a span, and may be special.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Dropped {
    Plain(String),
    Table(DroppedTable),
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct DroppedTable {
    pub marker: String,
    #[serde(default)]
    pub special: bool,
    /// Whether the marker is removed in the thinking too.
    #[serde(default)]
    pub thinking: bool,
}

impl Dropped {
    pub fn marker(&self) -> &str {
        match self {
            Dropped::Plain(marker) => marker,
            Dropped::Table(table) => &table.marker,
        }
    }

    pub fn special(&self) -> bool {
        matches!(self, Dropped::Table(table) if table.special)
    }

    pub fn in_thinking(&self) -> bool {
        matches!(self, Dropped::Table(table) if table.thinking)
    }
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Tag {
    pub names: Vec<String>,
    #[serde(default)]
    pub closer: String,
    #[serde(default)]
    pub space: usize,
    #[serde(default)]
    pub suffix: usize,
    pub attributes: Option<usize>,
    #[serde(default)]
    pub self_close: bool,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Framing {
    pub before_open: String,
    pub after_open: String,
    pub before_close: String,
    pub after_close: String,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct ThoughtKeys {
    pub text: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub confidence: String,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Header {
    pub family: Option<String>,
    pub begin: Vec<String>,
    pub end: Vec<String>,
    #[serde(default)]
    pub close: Vec<String>,
    #[serde(default)]
    pub whole: Vec<String>,
    #[serde(default)]
    pub keys: BTreeMap<String, String>,
    pub max: Option<usize>,
    #[serde(default)]
    pub special: bool,
    #[serde(default, rename = "route")]
    pub routes: Vec<Route>,
    #[serde(default, rename = "call")]
    pub calls: Vec<Call>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Route {
    #[serde(default)]
    pub when: BTreeMap<String, Values>,
    pub channel: String,
    pub write: Option<String>,
    #[serde(default)]
    pub also_write: Vec<String>,
    #[serde(default)]
    pub close: Vec<String>,
    pub calls: Option<bool>,
}

/// The values of a field.
#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Values {
    One(String),
    Several(Vec<String>),
}

impl Values {
    pub(crate) fn all(&self) -> &[String] {
        match self {
            Values::One(value) => std::slice::from_ref(value),
            Values::Several(values) => values,
        }
    }
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Example {
    pub about: Option<String>,
    pub input: String,
    pub start: Option<String>,
    #[serde(default)]
    pub content: String,
    #[serde(default)]
    pub thinking: String,
    #[serde(default)]
    pub narration: String,
    #[serde(default)]
    pub tool: String,
    pub thoughts: Option<Vec<ExampleThought>>,
    pub attributes: Option<Vec<(String, String)>>,
    pub causes: Option<Vec<String>>,
    pub tools: Option<Vec<toml::Table>>,
    pub calls: Option<Vec<ExampleCall>>,
}

/// A call of an example. Its arguments are JSON text.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct ExampleCall {
    pub name: String,
    pub arguments: String,
    pub id: Option<String>,
    pub cause: Option<String>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum ExampleThought {
    Plain(String),
    Typed { thought: String, thought_type: Option<String>, confidence: Option<f64> },
}

impl Dialect {
    pub fn parse(text: &str) -> Result<Dialect, String> {
        let mut dialect: Dialect = toml::from_str(text).map_err(|error| error.to_string())?;
        dialect.known()?;
        for span in &mut dialect.spans {
            span.calls.iter_mut().for_each(|call| call.is_bare = span.bare);
        }
        // In the format, a missing number is 0.
        for tag in dialect.spans.iter_mut().filter_map(|span| span.tag.as_mut()) {
            tag.attributes = tag.attributes.filter(|&bound| bound > 0);
        }
        Ok(dialect)
    }

    /// Refuses unknown values, just as unknown keys are refused.
    fn known(&self) -> Result<(), String> {
        let one_of = |key: &str, value: &Option<String>, known: &[&str]| match value {
            Some(value) if !known.contains(&value.as_str()) => Err(format!("{}: {key} = {value:?}", self.name)),
            _ => Ok(()),
        };
        one_of("case", &self.case, &["exact", "ascii"])?;
        for pattern in &self.models {
            if let ModelPattern::Started(started) = pattern {
                one_of("start", &Some(started.start.clone()), &["content", "thinking", "narration", "tool", "header"])?;
            }
        }
        one_of("extra_close", &self.extra_close, &["text", "drop"])?;
        one_of("stray_close", &self.stray_close, &["text", "drop", "reclassify"])?;
        for guard in &self.guard {
            one_of("guard", &Some(guard.clone()), &["fences", "inline"])?;
        }
        for span in &self.spans {
            one_of("where", &span.place, &["anywhere", "start", "lead"])?;
            one_of("again", &span.again, &["absorb", "drop", "text"])?;
            one_of("stray_close", &span.stray_close, &["text", "drop", "reclassify"])?;
            one_of("ends", &span.ends, &["thinking"])?;
            one_of("pauses", &span.pauses, &["thinking"])?;
            let closer = span.tag.as_ref().map(|tag| tag.closer.clone());
            one_of("closer", &closer, &["", "same", "any"])?;
        }
        let of_header = self.header.iter().flat_map(|header| &header.calls);
        for call in self.spans.iter().flat_map(|span| &span.calls).chain(of_header) {
            one_of("body", &Some(call.body.clone()), &["object", "json", "tags", "literal"])?;
            one_of("types", &call.types, &["json", "string"])?;
            if let Some(CallId::Head(id)) = &call.id {
                one_of("id", &Some(id.clone()), &["head"])?;
            }
        }
        let keys = self.header.iter().flat_map(|header| header.keys.values());
        let keys: Vec<&str> = keys.map(String::as_str).collect();
        for literal in self.header.iter().flat_map(|header| &header.whole) {
            one_of("whole", &Some(literal.clone()), &keys)?;
        }
        Ok(())
    }

    /// Returns the number of openers of a span or of the header.
    pub fn openers(&self, rule: usize) -> usize {
        match (self.spans.get(rule), &self.header) {
            (Some(span), _) => {
                span.open.len() + span.tag.as_ref().map_or(0, |tag| tag.names.len()) + span.fence.iter().count()
            }
            (None, Some(header)) => header.begin.len(),
            (None, None) => 0,
        }
    }

    /// Returns the names of leading tags, which open the thinking at the beginning of a text in place of this dialect's
    /// markers. Tags that could be taken for one of its markers are not included.
    pub fn leading_tags(&self) -> Vec<&'static str> {
        if self.models.is_empty() {
            return Vec::new();
        }
        let mut own: Vec<String> = Vec::new();
        for span in &self.spans {
            own.extend(span.open.iter().chain(&span.close).chain(&span.quote).cloned());
            own.extend(
                span.tag.iter().flat_map(|tag| &tag.names).flat_map(|name| [format!("<{name}>"), format!("</{name}>")]),
            );
        }
        own.extend(
            [&self.drop, &self.drop_ends, &self.drop_last].into_iter().flatten().map(|it| it.marker().to_string()),
        );
        if let Some(header) = &self.header {
            own.extend(
                header.begin.iter().chain(&header.end).chain(&header.close).chain(header.keys.values()).cloned(),
            );
        }
        let own: Vec<String> = own.iter().map(|marker| self.folded(marker)).collect();
        let one_begins_the_other = |a: &str, b: &str| a.starts_with(b) || b.starts_with(a);
        let is_free = |name: &&str| {
            let (open, close) = (format!("<{name}>"), format!("</{name}>"));
            let is_apart = |marker: &String| {
                let broken = format!("\n{close}");
                let is_close = *marker == close;
                !one_begins_the_other(marker, &open)
                    && (is_close || !one_begins_the_other(marker, &close))
                    && !one_begins_the_other(marker, &broken)
            };
            own.iter().all(is_apart)
        };
        let cases = ["THINK", "THINKING", "THOUGHT", "Think", "Thinking", "Thought"];
        let names = ["think", "thinking", "thought"].into_iter().chain(cases.into_iter().filter(|_| !self.folds()));
        names.filter(is_free).collect()
    }

    /// Returns whether markers match in any ASCII case.
    pub(crate) fn folds(&self) -> bool {
        self.case.as_deref() == Some("ascii")
    }

    /// Returns a marker in the form in which markers are compared.
    pub(crate) fn folded(&self, marker: &str) -> String {
        if self.folds() { marker.to_ascii_lowercase() } else { marker.to_string() }
    }

    /// Returns the channels (and `header`) that a text of this dialect may start in.
    pub fn starts(&self) -> Vec<&'static str> {
        let mut starts = vec!["content"];
        for channel in ["thinking", "narration", "tool"] {
            let header = self.header.iter().flat_map(|header| &header.routes);
            if self.spans.iter().any(|span| span.channel == channel)
                || header.into_iter().any(|route| route.channel == channel)
            {
                starts.push(channel);
            }
        }
        if self.header.is_some() {
            starts.push("header");
        }
        starts
    }
}

/// Reads every file of `dialects/`, by name.
pub fn all() -> Vec<Dialect> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../dialects"));
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            Dialect::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        })
        .collect()
}

/// Reads the file of that name or alias.
pub fn find(name: &str) -> Option<Dialect> {
    all().into_iter().find(|dialect| dialect.name == name || dialect.aliases.iter().any(|alias| alias == name))
}
