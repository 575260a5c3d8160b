//! Writes a sketch as a dialect file: only the keys that are needed, in the order of the files in `dialects/`, and a comment for
//! each doubt.

use std::fmt::Write;

use super::sketch::{Body, Head, Id, Region, Sketch, Tags, Thinking};
use super::texts::marker;
use crate::dialect::quoted;

/// The parts of the file to write. If the library refuses the file, it is written again without some parts.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    pub name: &'a str,
    /// Special tokens of the vocabulary, if they are known.
    pub special: &'a [String],
    pub guard: bool,
    pub drops: bool,
    pub wrapper: bool,
    pub calls: bool,
}

/// Writes the file without its examples.
pub fn write(sketch: &Sketch, way: &Way<'_>) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# Drafted by `aside draft` from a chat template: what its turns show, and no output of a model."
    );
    for doubt in &sketch.doubts {
        let _ = writeln!(out, "# Doubt: {}.", doubt.replace(['\n', '\r'], " "));
    }
    let _ = writeln!(out, "name = {0}\nmodels = [{0}]", quoted(way.name));
    if !sketch.turns.is_empty() {
        let _ = writeln!(out, "turns = {}", list(&sketch.turns));
    }
    if sketch.starts_thinking {
        out += "start = \"thinking\"\n";
    }
    let drops: Vec<String> = sketch.ends.iter().map(|end| dropped(end, way)).collect();
    if way.drops && !drops.is_empty() {
        let _ = writeln!(out, "drop = [{}]", drops.join(", "));
    }
    if sketch.thinking.is_some() {
        out += "extra_close = \"drop\"\nstray_close = \"reclassify\"\n";
    }
    if way.guard {
        out += "guard = [\"fences\", \"inline\"]\n";
    }
    if let Some(thinking) = &sketch.thinking {
        write_thinking(thinking, way, &mut out);
    }
    if let Some([open, close]) = sketch.wrapper.as_ref().filter(|_| way.wrapper) {
        out += "\n[[span]]\nchannel = \"content\"\n";
        let _ = writeln!(out, "open = [{}]\nclose = [{}]", quoted(open), quoted(close));
        if sketch.thinking.is_some() {
            out += "ends = \"thinking\"\n";
        }
        special(open, close, way, &mut out);
    }
    if let Some(region) = sketch.calls.as_ref().filter(|_| way.calls) {
        write_region(region, sketch.thinking.is_some(), way, &mut out);
        if sketch.writes_objects {
            out += "\n# No turn shows it: other models write an object between these tags, and some models both.\n[[span.call]]\nbody = \"object\"\n";
        }
    }
    out
}

fn dropped(end: &str, way: &Way<'_>) -> String {
    if way.special.iter().any(|token| token == end) {
        format!("{{ marker = {}, special = true }}", quoted(end))
    } else {
        quoted(end)
    }
}

fn special(open: &str, close: &str, way: &Way<'_>, out: &mut String) {
    let is_special = |text: &str| text.is_empty() || way.special.iter().any(|token| token == text);
    if !open.is_empty() && is_special(open) && is_special(close) {
        *out += "special = true\n";
    }
}

fn write_thinking(thinking: &Thinking, way: &Way<'_>, out: &mut String) {
    *out += "\n[[span]]\nchannel = \"thinking\"\n";
    let _ = writeln!(out, "open = [{}]\nclose = [{}]", quoted(&thinking.open), quoted(&thinking.close));
    if thinking.leads {
        *out += "where = \"lead\"\n";
    }
    special(&thinking.open, &thinking.close, way, out);
    let framing = [
        ("before_open", &thinking.before_open),
        ("after_open", &thinking.after_open),
        ("before_close", &thinking.before_close),
        ("after_close", &thinking.after_close),
    ];
    framing_line(&framing, out);
}

fn framing_line(framing: &[(&str, &String)], out: &mut String) {
    let there: Vec<String> = framing
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(key, text)| format!("{key} = {}", quoted(text)))
        .collect();
    if !there.is_empty() {
        let _ = writeln!(out, "framing = {{ {} }}", there.join(", "));
    }
}

fn write_region(region: &Region, thinks: bool, way: &Way<'_>, out: &mut String) {
    *out += "\n[[span]]\nchannel = \"tool\"\n";
    if region.open.is_empty() {
        *out += "bare = true\nwhere = \"lead\"\n";
    } else {
        let _ = writeln!(out, "open = [{}]", quoted(&region.open));
        if !region.close.is_empty() {
            let _ = writeln!(out, "close = [{}]", quoted(&region.close));
        }
        if thinks && (marker(&region.open).is_some() || region.open.starts_with('<')) {
            *out += "ends = \"thinking\"\n";
        }
    }
    *out += "keep = true\n";
    special(&region.open, &region.close, way, out);
    *out += "\n[[span.call]]\n";
    let body = match &region.body {
        Body::Object { .. } => "object",
        Body::Json { .. } => "json",
        Body::Tags { .. } => "tags",
        Body::Literal { .. } => "literal",
    };
    let _ = writeln!(out, "body = \"{body}\"");
    text_line("begin", &region.begin, out);
    match &region.body {
        Body::Object { name, arguments, id, key_is_name } => {
            if *key_is_name {
                *out += "key_is_name = true\n";
            } else {
                if name != "name" {
                    let _ = writeln!(out, "name = [{}]", quoted(name));
                }
                if arguments != "arguments" && arguments != "parameters" {
                    let _ = writeln!(out, "arguments = [{}]", quoted(arguments));
                }
                if let Some(id) = id.as_ref().filter(|id| *id != "id") {
                    let _ = writeln!(out, "id = [{}]", quoted(id));
                }
            }
        }
        Body::Json { head } => write_head(head, out),
        Body::Tags { head, tags } => {
            write_head(head, out);
            write_tags(tags, out);
        }
        Body::Literal { open, close, assign, list, raw_quote } => {
            for (key, char) in [("open", open), ("close", close), ("assign", assign)] {
                text_line(key, &char.to_string(), out);
            }
            if *list {
                *out += "list = true\n";
            }
            text_line("raw_quote", raw_quote, out);
        }
    }
    text_line("end", &region.end, out);
    if !region.skip.is_empty() {
        let _ = writeln!(out, "skip = {}", list(&region.skip));
    }
    if let Body::Tags { tags, .. } = &region.body {
        framing_line(&[("after_open", &tags.after_open), ("before_close", &tags.before_close)], out);
    }
}

fn write_head(head: &Head, out: &mut String) {
    if !head.prefix.is_empty() {
        let _ = writeln!(out, "prefix = [{}]", quoted(&head.prefix));
    }
    match &head.id {
        Id::None => {}
        Id::Head => *out += "id = \"head\"\n",
        Id::After(begin) => text_line("id_begin", begin, out),
    }
    if !head.name_end.is_empty() {
        let _ = writeln!(out, "name_end = [{}]", quoted(&head.name_end));
    }
}

fn write_tags(tags: &Tags, out: &mut String) {
    let pair = |[open, close]: &[String; 2]| format!("[{}, {}]", quoted(open), quoted(close));
    let _ = writeln!(out, "key = {}", pair(&tags.key));
    if let Some(kind) = &tags.kind {
        let _ = writeln!(out, "type = {}", pair(kind));
        if !tags.words.is_empty() {
            let words: Vec<String> =
                tags.words.iter().map(|(word, meaning)| format!("{} = \"{meaning}\"", quoted(word))).collect();
            let _ = writeln!(out, "type_words = {{ {} }}", words.join(", "));
        }
    }
    let _ = writeln!(out, "value = {}", pair(&tags.value));
    if tags.has_cdata {
        *out += "cdata = true\n";
    }
}

fn text_line(key: &str, text: &str, out: &mut String) {
    if !text.is_empty() {
        let _ = writeln!(out, "{key} = {}", quoted(text));
    }
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}
