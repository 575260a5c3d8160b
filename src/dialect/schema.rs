//! The structure of a dialect file: one strict type for each table, one field for each key. Serde reads it, and `compile`
//! interprets it.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{
        MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use toml::Spanned;

use super::{Channel, Start};
use crate::tables_only::tables_only;

tables_only!(
    StartedPattern,
    Torn,
    Span,
    Tag,
    Framing,
    Thought,
    Call,
    CallFraming,
    Header,
    Route,
    Example,
    ExampleCall,
    ExampleTypedThought
);

/// A marker, and its place in the file.
pub type Literal = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    pub name: Literal,
    #[serde(default)]
    pub aliases: Vec<Literal>,
    /// Patterns of model names, for lookup by model.
    #[serde(default)]
    pub models: Vec<Spanned<ModelPattern>>,
    /// The texts in a prompt where a turn begins.
    #[serde(default)]
    pub turns: Vec<Literal>,
    /// Texts that only chat templates of this family have, for a family that shares its markers with another family.
    #[serde(default)]
    pub templates: Vec<Literal>,
    pub start: Option<Spanned<Start>>,
    #[serde(default)]
    pub case: Case,
    #[serde(default)]
    pub drop: Vec<Spanned<DroppedMarker>>,
    #[serde(default)]
    pub drop_ends: Vec<Spanned<DroppedMarker>>,
    #[serde(default)]
    pub drop_last: Vec<Spanned<DroppedMarker>>,
    pub torn: Option<Torn>,
    #[serde(default)]
    pub extra_close: ExtraClose,
    #[serde(default)]
    pub stray_close: StrayClose,
    #[serde(default)]
    pub guard: Vec<Guard>,
    /// The length of ids that are made for calls.
    pub call_ids: Option<Spanned<u8>>,
    #[serde(default, rename = "span")]
    pub spans: Vec<Spanned<Span>>,
    pub header: Option<Spanned<Header>>,
    /// The examples. Their form is checked here; the tests run them.
    #[serde(default, rename = "example")]
    #[allow(dead_code)]
    pub examples: Vec<Example>,
}

impl Model {
    /// Returns the span that is open at byte 0.
    pub fn start(&self) -> Start {
        self.start.as_ref().map_or(Start::Channel(Channel::Content), |start| *start.get_ref())
    }
}

/// Incomplete forms of closers. The model leaves out `end`, the usual end of these closers, before a text in `before`, or writes `end`
/// twice, the first time without its last byte.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Torn {
    pub end: Literal,
    pub before: Vec<Literal>,
}

/// A marker that is removed without opening or closing a span: a string, or a table with further properties.
pub struct DroppedMarker {
    pub marker: String,
    pub special: bool,
    /// Whether the marker is removed in the thinking too.
    pub thinking: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DroppedTable {
    marker: String,
    #[serde(default)]
    special: bool,
    #[serde(default)]
    thinking: bool,
}

impl<'de> Deserialize<'de> for DroppedMarker {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DroppedMarker, D::Error> {
        struct StringOrTable;

        impl<'de> Visitor<'de> for StringOrTable {
            type Value = DroppedMarker;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a marker, or a table of `marker`, `special` and `thinking`")
            }

            fn visit_str<E>(self, marker: &str) -> Result<DroppedMarker, E> {
                Ok(DroppedMarker { marker: marker.into(), special: false, thinking: false })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DroppedMarker, A::Error> {
                let DroppedTable { marker, special, thinking } =
                    DroppedTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(DroppedMarker { marker, special, thinking })
            }
        }

        deserializer.deserialize_any(StringOrTable)
    }
}

impl Model {
    /// Returns all markers that are removed without opening or closing a span, as literals.
    pub fn dropped(&self) -> Vec<Literal> {
        [&self.drop, &self.drop_ends, &self.drop_last].into_iter().flat_map(|list| markers(list)).collect()
    }
}

/// Returns the markers of such a list, as literals.
fn markers(dropped: &[Spanned<DroppedMarker>]) -> Vec<Literal> {
    dropped.iter().map(|dropped| Spanned::new(dropped.span(), dropped.get_ref().marker.clone())).collect()
}

/// The values of a header's field: a string, or a list of strings.
pub struct FieldValues(pub Vec<String>);

impl<'de> Deserialize<'de> for FieldValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FieldValues, D::Error> {
        struct StringOrList;

        impl<'de> Visitor<'de> for StringOrList {
            type Value = FieldValues;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or a list of values")
            }

            fn visit_str<E>(self, value: &str) -> Result<FieldValues, E> {
                Ok(FieldValues(Vec::from([value.into()])))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<FieldValues, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(FieldValues)
            }
        }

        deserializer.deserialize_any(StringOrList)
    }
}

/// A pattern of model names, alone or with the start of these models.
pub enum ModelPattern {
    Text(String),
    Started(StartedPattern),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct StartedPattern {
    pub pattern: String,
    pub start: Start,
}

impl ModelPattern {
    pub fn text(&self) -> &str {
        match self {
            ModelPattern::Text(pattern) => pattern,
            ModelPattern::Started(started) => &started.pattern,
        }
    }

    pub fn start(&self) -> Option<Start> {
        match self {
            ModelPattern::Text(_) => None,
            ModelPattern::Started(started) => Some(started.start),
        }
    }
}

impl<'de> Deserialize<'de> for ModelPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ModelPattern, D::Error> {
        struct Pattern;

        impl<'de> Visitor<'de> for Pattern {
            type Value = ModelPattern;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a table of `pattern` and `start`")
            }

            fn visit_str<E>(self, pattern: &str) -> Result<ModelPattern, E> {
                Ok(ModelPattern::Text(pattern.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ModelPattern, A::Error> {
                StartedPattern::deserialize(MapAccessDeserializer::new(map)).map(ModelPattern::Started)
            }
        }

        deserializer.deserialize_any(Pattern)
    }
}

/// Returns the texts of these literals.
pub fn strings(literals: &[Literal]) -> Vec<String> {
    literals.iter().map(|literal| literal.get_ref().clone()).collect()
}

/// Returns the text of a literal, or an empty text if it is left out.
pub fn text(literal: &Option<Literal>) -> &str {
    literal.as_ref().map_or("", |literal| literal.get_ref())
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    #[default]
    Exact,
    Ascii,
}

impl Case {
    /// Returns the bytes of a literal in the form in which literals are compared.
    pub fn bytes(&self, literal: &Literal) -> Vec<u8> {
        let bytes = literal.get_ref().as_bytes();
        if *self == Case::Ascii { bytes.to_ascii_lowercase() } else { bytes.to_vec() }
    }
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum ExtraClose {
    #[default]
    Text,
    Drop,
}

#[derive(Deserialize, Default, PartialEq, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub enum StrayClose {
    #[default]
    Text,
    Drop,
    Reclassify,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    Fences,
    Inline,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Span {
    pub channel: Channel,
    pub family: Option<Literal>,
    pub open: Option<Vec<Literal>>,
    #[serde(default)]
    pub close: Vec<Literal>,
    pub tag: Option<Tag>,
    pub fence: Option<Literal>,
    /// Whether the span has no opener, but a body of calls opens it.
    pub bare: Option<Spanned<bool>>,
    #[serde(default, rename = "where")]
    pub place: Place,
    #[serde(default = "Span::default_repeat")]
    pub repeat: bool,
    pub again: Option<RepeatedOpener>,
    pub stray_close: Option<Spanned<StrayClose>>,
    pub ends: Option<Spanned<Channel>>,
    pub pauses: Option<Spanned<Channel>>,
    #[serde(default)]
    pub keep: bool,
    #[serde(default)]
    pub special: bool,
    pub quote: Option<Literal>,
    #[serde(default)]
    pub framing: Framing,
    pub thought: Option<Thought>,
    /// The form of calls inside.
    #[serde(default, rename = "call")]
    pub calls: Vec<Spanned<Call>>,
    pub sure: Option<Spanned<bool>>,
    /// Whether the family does not write this form by itself.
    pub lenient: Option<Spanned<bool>>,
}

impl Span {
    pub fn is_lenient(&self) -> bool {
        self.lenient.as_ref().is_some_and(|lenient| *lenient.get_ref())
    }

    /// Returns whether the span is thinking whose openers are words, with which an answer may begin too.
    pub fn is_label(&self) -> bool {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"'.,:/".contains(&byte);
        let openers = self.open.iter().flatten();
        self.channel == Channel::Thinking
            && self.place != Place::Anywhere
            && self.open.is_some()
            && openers.map(|open| open.get_ref()).all(|open| open.bytes().all(is_word))
    }

    pub fn is_bare(&self) -> bool {
        self.bare.as_ref().is_some_and(|bare| *bare.get_ref())
    }

    fn default_repeat() -> bool {
        true
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Tag {
    pub names: Vec<Literal>,
    #[serde(default)]
    pub closer: Closer,
    #[serde(default)]
    pub space: u32,
    #[serde(default)]
    pub suffix: u32,
    #[serde(default)]
    pub attributes: u32,
    #[serde(default)]
    pub self_close: bool,
}

#[derive(Deserialize, Default, PartialEq, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub enum Closer {
    #[default]
    Same,
    Any,
}

#[derive(Deserialize, Default, PartialEq, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    #[default]
    Anywhere,
    Start,
    Lead,
}

#[derive(Deserialize, PartialEq, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub enum RepeatedOpener {
    Absorb,
    Drop,
    Text,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, remote = "Self", default)]
pub struct Framing {
    pub before_open: Option<Literal>,
    pub after_open: Option<Literal>,
    pub before_close: Option<Literal>,
    pub after_close: Option<Literal>,
}

impl Framing {
    pub fn literals(&self) -> impl Iterator<Item = &Literal> {
        [&self.before_open, &self.after_open, &self.before_close, &self.after_close].into_iter().flatten()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Thought {
    pub text: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub confidence: String,
}

/// The form of calls. These are the keys of all kinds of bodies; each kind has some of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Call {
    pub body: CallBody,
    pub begin: Option<Literal>,
    pub end: Option<Literal>,
    pub between: Option<Literal>,
    #[serde(default)]
    pub skip: Vec<Literal>,
    #[serde(default)]
    pub name_end: Vec<Literal>,
    pub head_end: Option<Literal>,
    #[serde(default)]
    pub prefix: Vec<Literal>,
    pub need_prefix: Option<Spanned<bool>>,
    pub suffix: Option<Literal>,
    pub id: Option<Spanned<CallId>>,
    pub id_end: Option<Literal>,
    pub id_begin: Option<Literal>,
    pub name_from: Option<Literal>,
    pub name: Option<Spanned<Vec<String>>>,
    pub arguments: Option<Spanned<Vec<String>>>,
    pub key_is_name: Option<Spanned<bool>>,
    pub key: Option<Spanned<[String; 2]>>,
    pub value: Option<Spanned<[String; 2]>>,
    #[serde(rename = "type")]
    pub kind: Option<Spanned<[String; 2]>>,
    pub type_words: Option<Spanned<BTreeMap<String, String>>>,
    pub framing: Option<Spanned<CallFraming>>,
    pub cdata: Option<Spanned<bool>>,
    pub nested: Option<Spanned<bool>>,
    pub mark: Option<Literal>,
    pub types: Option<Spanned<UnknownType>>,
    pub open: Option<Literal>,
    pub close: Option<Literal>,
    pub assign: Option<Literal>,
    pub list: Option<Spanned<bool>>,
    pub sorted: Option<Spanned<bool>>,
    pub raw_quote: Option<Literal>,
    #[serde(default)]
    pub namespace: bool,
    #[serde(default)]
    pub lenient: bool,
    pub separator: Option<Literal>,
}

#[derive(Deserialize, PartialEq, Clone, Copy, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum CallBody {
    Object,
    Json,
    Tags,
    Literal,
}

/// The place of a call's id: in members of these names, or in the call's head.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`id` is \"head\", or a list of members")]
pub enum CallId {
    Head(HeadWord),
    Members(Vec<String>),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeadWord {
    Head,
}

/// The way to read a value whose type is not known.
#[derive(Deserialize, PartialEq, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownType {
    Json,
    String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct CallFraming {
    pub after_open: Option<Literal>,
    pub before_close: Option<Literal>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Header {
    pub family: Option<Literal>,
    pub begin: Vec<Literal>,
    pub end: Vec<Literal>,
    #[serde(default)]
    pub close: Vec<Literal>,
    #[serde(default)]
    pub whole: Vec<Literal>,
    #[serde(default)]
    pub keys: BTreeMap<String, Literal>,
    #[serde(default = "Header::default_max")]
    pub max: u32,
    #[serde(default)]
    pub special: bool,
    #[serde(rename = "route")]
    pub routes: Vec<Route>,
    /// The form of calls in bodies of the tool channel.
    #[serde(default, rename = "call")]
    pub calls: Vec<Spanned<Call>>,
}

impl Header {
    fn default_max() -> u32 {
        256
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Route {
    #[serde(default)]
    pub when: BTreeMap<Literal, FieldValues>,
    pub channel: Channel,
    /// A whole header of this route, as the model writes it, and other ways in which it writes it.
    pub write: Option<Literal>,
    #[serde(default)]
    pub also_write: Vec<Literal>,
    /// The closers of a message of this route, the first of which is written; by default, those of the header.
    #[serde(default)]
    pub close: Vec<Literal>,
    /// Whether calls may be in the body.
    #[serde(default = "Route::default_calls")]
    pub calls: bool,
}

impl Route {
    fn default_calls() -> bool {
        true
    }
}

/// A whole text and its expected result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
#[allow(dead_code)]
pub struct Example {
    #[serde(default)]
    pub about: String,
    pub input: String,
    pub start: Option<Start>,
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
    /// The tools of the request.
    pub tools: Option<Vec<toml::Table>>,
    pub calls: Option<Vec<ExampleCall>>,
}

/// A call that an example makes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
#[allow(dead_code)]
pub struct ExampleCall {
    pub name: String,
    /// JSON text.
    pub arguments: String,
    pub id: Option<String>,
    pub cause: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a thought is a text or a table of `thought`, `thought_type` and `confidence`")]
#[allow(dead_code)]
pub enum ExampleThought {
    Text(String),
    Typed(ExampleTypedThought),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
#[allow(dead_code)]
pub struct ExampleTypedThought {
    pub thought: String,
    pub thought_type: Option<String>,
    pub confidence: Option<f64>,
}
