//! The kinds of examples that a file with tables of calls should have, since a correct call tests only a small part of its
//! table. The file's spans and tables decide which of these kinds are possible.

use serde::Deserialize;

use super::calls::{Call, Called};

#[derive(Deserialize)]
pub struct Span {
    channel: String,
    #[serde(default)]
    open: Vec<String>,
    #[serde(default)]
    close: Vec<String>,
    tag: Option<Tag>,
    ends: Option<String>,
    #[serde(default, rename = "call")]
    tables: Vec<Table>,
}

#[derive(Deserialize)]
struct Tag {
    names: Vec<String>,
}

#[derive(Deserialize)]
pub struct Header {
    #[serde(default)]
    close: Vec<String>,
    #[serde(default, rename = "call")]
    tables: Vec<Table>,
}

#[derive(Deserialize)]
struct Table {
    body: String,
    value: Option<[String; 2]>,
    mark: Option<String>,
}

/// The markers of calls in a file.
pub struct Markers {
    openers: Vec<String>,
    /// The closers that a value may contain without ending at them.
    closers: Vec<String>,
    has_thinking: bool,
    /// Whether a span of calls has a closer, so that text may follow the span.
    may_text_follow: bool,
}

impl Markers {
    /// Returns the markers of a file that has tables of calls.
    pub fn new(spans: &[Span], header: Option<&Header>) -> Option<Markers> {
        let thinking = || spans.iter().filter(|span| span.channel == "thinking");
        let has_thinking = thinking().next().is_some();
        let mut markers = Markers { openers: Vec::new(), closers: Vec::new(), has_thinking, may_text_follow: false };
        let with_tables = spans.iter().filter(|span| !span.tables.is_empty());
        let mut has_tables = false;
        for span in with_tables {
            has_tables = true;
            let names = || span.tag.iter().flat_map(|tag| &tag.names);
            markers.openers.extend(span.open.iter().cloned().chain(names().map(|name| format!("<{name}"))));
            let mut closers: Vec<String> =
                span.close.iter().cloned().chain(names().map(|name| format!("</{name}"))).collect();
            markers.may_text_follow |= !closers.is_empty();
            if span.ends.is_some() {
                closers.extend(thinking().flat_map(|span| span.close.iter().cloned()));
            }
            markers
                .closers
                .extend(closers.into_iter().filter(|closer| span.tables.iter().any(|table| table.holds(closer))));
        }
        if let Some(header) = header.filter(|header| !header.tables.is_empty()) {
            has_tables = true;
            let closers = header.close.iter().filter(|closer| header.tables.iter().any(|table| table.holds(closer)));
            markers.closers.extend(closers.cloned());
        }
        has_tables.then_some(markers)
    }

    /// Returns the kinds of calls that no example shows.
    pub fn missing(&self, examples: &[Called]) -> Vec<&'static str> {
        let any_call = |is: fn(&Call) -> bool| examples.iter().flat_map(|example| &example.calls).any(is);
        let has = |bytes: &[u8], marker: &String| bytes.windows(marker.len()).any(|window| window == marker.as_bytes());
        let mut values = examples.iter().flat_map(|example| &example.values);
        let mut thoughts = examples.iter().map(|example| &example.thinking);
        let kinds = [
            ("two calls", true, examples.iter().any(|example| example.calls.len() > 1)),
            ("no arguments", true, any_call(|call| call.cause.is_none() && call.arguments == "{}")),
            (
                "a closer inside a value",
                !self.closers.is_empty(),
                values.any(|value| self.closers.iter().any(|closer| has(value, closer))),
            ),
            ("text after a call", self.may_text_follow, examples.iter().any(Called::has_text_after_a_call)),
            ("a cut value", true, any_call(|call| call.ends_by("end of stream"))),
            ("a broken body", true, any_call(|call| call.ends_by("malformed"))),
            (
                "a mention inside the thinking",
                self.has_thinking && !self.openers.is_empty(),
                thoughts.any(|thought| self.openers.iter().any(|opener| has(thought, opener))),
            ),
        ];
        kinds.into_iter().filter(|(_, is_wanted, is_shown)| *is_wanted && !is_shown).map(|(kind, ..)| kind).collect()
    }
}

impl Call {
    fn ends_by(&self, cause: &str) -> bool {
        self.cause.as_deref() == Some(cause)
    }
}

impl Table {
    /// Returns whether a value of this table may contain this closer of the span. Between tags, the closer must not contain the
    /// value's closer; in a JSON string, it must not have a line break.
    fn holds(&self, closer: &str) -> bool {
        match self.body.as_str() {
            "tags" => {
                let end = self.mark.as_ref().or(self.value.as_ref().map(|[_, close]| close));
                end.is_none_or(|end| !closer.contains(end.as_str()))
            }
            "literal" => true,
            _ => !closer.contains('\n'),
        }
    }
}
