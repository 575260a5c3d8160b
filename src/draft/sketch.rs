//! The findings about a template, in the terms of a dialect file: plain data that the other files of this module fill in and `file`
//! writes.

/// A sketch of a dialect. Parts that were not seen are absent, and each is a doubt.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    /// The model's role line, and the beginnings of other roles' lines.
    pub turns: Vec<String>,
    /// Whether the prompt opens the thinking by default.
    pub starts_thinking: bool,
    pub ends: Vec<String>,
    pub thinking: Option<Thinking>,
    /// The markers around the answer.
    pub wrapper: Option<[String; 2]>,
    pub calls: Option<Region>,
    /// Whether calls may also be objects, in addition to the form that was seen.
    pub writes_objects: bool,
    /// The parts that the template did not show, and the assumptions in their place.
    pub doubts: Vec<String>,
}

impl Sketch {
    pub fn doubt(&mut self, doubt: impl Into<String>) {
        let doubt = doubt.into();
        if !self.doubts.contains(&doubt) {
            self.doubts.push(doubt);
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thinking {
    pub open: String,
    pub close: String,
    pub before_open: String,
    pub after_open: String,
    pub before_close: String,
    pub after_close: String,
    /// Whether the opener is prose, which counts as a marker only where an answer begins.
    pub leads: bool,
}

/// The text around calls, and the form of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// The opener. It is empty if there is no text before a call.
    pub open: String,
    pub close: String,
    pub begin: String,
    pub end: String,
    pub skip: Vec<String>,
    /// Whether a turn showed the region.
    pub is_seen: bool,
    /// Whether each call has a separate region.
    pub is_apart: bool,
    pub body: Body,
}

/// The form of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Object { name: String, arguments: String, id: Option<String>, key_is_name: bool },
    Json { head: Head },
    Tags { head: Head, tags: Box<Tags> },
    Literal { open: char, close: char, assign: char, list: bool, raw_quote: String },
}

impl Default for Body {
    fn default() -> Body {
        Body::Json { head: Head::default() }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    pub name_end: String,
    pub prefix: String,
    pub id: Id,
}

/// The place of an id in a head.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Id {
    #[default]
    None,
    /// The whole head of a call is its id, which contains the name.
    Head,
    /// The id follows the name and this text.
    After(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tags {
    pub key: [String; 2],
    pub value: [String; 2],
    pub kind: Option<[String; 2]>,
    pub words: Vec<(String, &'static str)>,
    pub after_open: String,
    pub before_close: String,
    /// Whether a value with a line break is written as CDATA.
    pub has_cdata: bool,
}
