//! Writes the dialect file for a response template.

use super::fields::{Body, Calls, Part, Template};
use crate::dialect::quoted;

impl Template {
    pub fn to_file(&self) -> String {
        let mut file = File::default();
        file.text("name", "response-template");
        file.list("turns", &self.turns);
        file.list("drop", &self.ends);
        if self.thinking.iter().any(|part| part.is_late) {
            file.text("stray_close", "reclassify");
        }
        for (channel, part) in
            self.thinking.iter().map(|part| ("thinking", part)).chain(self.content.iter().map(|part| ("content", part)))
        {
            file.span(channel, part);
            if channel == "thinking" {
                file.line("framing", r#"{ after_open = "\n", before_close = "\n", after_close = "\n\n" }"#);
            }
        }
        for calls in &self.calls {
            file.span("tool", &calls.part);
            file.line("keep", "true");
            file.calls(calls);
        }
        file.0
    }
}

#[derive(Default)]
struct File(String);

impl File {
    fn line(&mut self, key: &str, value: &str) {
        self.0 += &format!("{key} = {value}\n");
    }

    fn text(&mut self, key: &str, text: &str) {
        self.line(key, &quoted(text));
    }

    fn list(&mut self, key: &str, texts: &[String]) {
        if !texts.is_empty() {
            let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
            self.line(key, &format!("[{}]", texts.join(", ")));
        }
    }

    fn span(&mut self, channel: &str, part: &Part) {
        self.0 += "\n[[span]]\n";
        self.text("channel", channel);
        self.list("open", &part.open);
        self.list("close", &part.close);
    }

    fn calls(&mut self, calls: &Calls) {
        // Makes a table for each text that may begin a call.
        let begins: Vec<Option<&String>> =
            if calls.begin.is_empty() { vec![None] } else { calls.begin.iter().map(Some).collect() };
        for begin in begins {
            self.0 += "\n[[span.call]]\n";
            let body = match &calls.body {
                Body::Object { .. } => "object",
                Body::Json => "json",
                Body::Tags { .. } => "tags",
                Body::Literal { .. } => "literal",
            };
            self.text("body", body);
            if let Some(begin) = begin {
                self.text("begin", begin);
            }
            match &calls.body {
                Body::Object { name, arguments } => {
                    self.list("name", name);
                    self.list("arguments", arguments);
                }
                Body::Json => self.list("name_end", &calls.name_end),
                Body::Tags { key, value, is_text, is_framed } => {
                    self.list("name_end", &calls.name_end);
                    self.list("key", key);
                    self.list("value", value);
                    if *is_text {
                        self.text("types", "string");
                    }
                    if *is_framed {
                        self.line("framing", r#"{ after_open = "\n", before_close = "\n" }"#);
                    }
                    if let Some(end) =
                        begin.and_then(|begin| end_of_tag(begin)).filter(|end| !calls.part.close.contains(end))
                    {
                        self.text("end", &end);
                    }
                }
                Body::Literal { brackets: [open, close], assign, quote, is_list } => {
                    self.text("open", open);
                    self.text("close", close);
                    self.text("assign", assign);
                    if let Some(quote) = quote {
                        self.text("raw_quote", quote);
                    }
                    if *is_list {
                        self.line("list", "true");
                    }
                }
            }
        }
    }
}

/// Returns the end tag of the tag that a text begins: `</function>` of `<function=`. A template does not contain the end tag,
/// because its parser looks only for keys and values.
fn end_of_tag(begin: &str) -> Option<String> {
    let name = begin.strip_prefix('<')?;
    let name = &name[..name.find(['=', ' '])?];
    name.chars().all(|char| char.is_alphanumeric() || "_:-".contains(char)).then(|| format!("</{name}>"))
}
