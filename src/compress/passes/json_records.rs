//! Shortens JSON to fit into a budget; the result is still JSON.

use super::pass::{Pass, Promise, Stage};
use crate::compress::{
    invocation::input::Input,
    lines::{class::Class, layout::Text},
    records::{json::Document, streams},
    text::edit::Edit,
};

/// A pass that shortens strings and leaves out elements of JSON.
pub struct JsonRecords;

impl Pass for JsonRecords {
    fn id(&self) -> &str {
        "json-records"
    }

    fn promise(&self) -> Promise {
        Promise::Elements
    }

    fn stage(&self) -> Stage {
        Stage::Structure
    }

    fn edits(&self, text: Text<'_>, _: &Input, limit: usize) -> Vec<Edit> {
        let Some(mut document) = Document::find(text.bytes) else { return Vec::new() };
        if streams::has_records(text) {
            let mut classes = vec![Class::default(); text.len()];
            streams::mark(text, &mut classes);
            let lines = (0..text.len()).filter(|&line| classes[line].has(Class::REGION));
            document.relate(lines.map(|line| text.start(line)).collect());
        }
        if text.numbered.is_some() {
            document.number();
        }
        document.edits(limit)
    }

    fn is_undone(&self, old: &[u8], new: &[u8]) -> bool {
        Document::find(old).is_some_and(|document| document.is_json_in(new))
    }
}
