//! The texts of a dialect around a tool call, for servers that make a model write calls by a grammar. Joining uses the same texts,
//! so one dialect file serves both the grammar and the reading of the answer.

use super::{
    JoinCall, JoinError,
    call::{WrittenCalls, tables, write_by},
    text::Role,
};
use crate::{
    calls::table::{BodyRule, CallTable},
    dialect::{Dialect, compiled::CallBlock},
    memory::{OutOfMemory, append_text, lossy, push},
};

/// The form of the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolArguments {
    /// One JSON object.
    Json,
    /// Keys and values, each between two texts. A value is plain text or JSON.
    Tags,
    /// Nested elements: after `value_end`, the key and `key_end` are repeated.
    Elements,
    /// Keys and values with `, ` between the pairs. Values are Python literals. If `value_begin` is not empty, a string is
    /// written between it and `value_end`, and keys have no quotes.
    Literal,
}

impl ToolArguments {
    /// Returns `json`, `tags`, `elements` or `literal`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        ["json", "tags", "elements", "literal"][self as usize]
    }
}

/// The texts around one call of a tool: `begin`, its name, `after_name`, its arguments, `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolTrigger {
    /// The text that a model writes only if a call follows. It is the beginning of `begin`.
    pub trigger: String,
    /// The text before the name.
    pub begin: String,
    /// The text between the name and the arguments.
    pub after_name: String,
    /// The text after the arguments.
    pub end: String,
    /// The form of the arguments.
    pub arguments: ToolArguments,
    /// The text before a key. This text and the next three are empty for JSON.
    pub key_begin: String,
    /// The text after a key.
    pub key_end: String,
    /// The text before a value.
    pub value_begin: String,
    /// The text after a value.
    pub value_end: String,
    /// The tags in these texts. If such a tag is a special token of the model, the server must leave it in the text, or the
    /// call cannot be read.
    pub preserved: Vec<String>,
}

impl Dialect {
    /// Returns the texts around a tool call, once for each table of calls in the dialect's file, of which the first is the
    /// usual form. The result is empty for a dialect without tables. Tables of calls without an opener are left out, because
    /// nothing shows that such a call begins.
    ///
    /// A scanner with [`calls`](crate::ScannerOptions::calls) reads a text of these parts as one call. If the form needs an id,
    /// the texts have the id 0.
    ///
    /// ```
    /// let triggers = aside::Dialect::find("qwen3")?.tool_triggers()?;
    /// let first = &triggers[0];
    /// assert_eq!(first.trigger, "<tool_call>");
    /// assert_eq!(first.begin, r#"<tool_call>{"name": ""#);
    /// assert_eq!(first.after_name, r#"", "arguments": "#);
    /// assert_eq!(first.end, "}</tool_call>");
    /// assert_eq!(first.preserved, ["<tool_call>", "</tool_call>"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    #[doc(alias = "aside_dialect_tool_trigger")]
    pub fn tool_triggers(&self) -> Result<Vec<ToolTrigger>, crate::Error> {
        let mut triggers = Vec::new();
        // The first header of a route is the usual one.
        let is_offered =
            |(at, block): &(usize, &CallBlock)| if block.name.is_some() { *at == 0 } else { !block.open.is_empty() };
        for (_, block) in self.compiled.templates.calls.iter().enumerate().filter(is_offered) {
            for (after_call, table) in block.after_call.iter().zip(tables(&self.compiled, block)) {
                let is_new = |one: &ToolTrigger| triggers.iter().all(|other| other != one);
                if let Some(one) = trigger(block, after_call, table)?.filter(is_new) {
                    push(&mut triggers, one)?;
                }
            }
        }
        Ok(triggers)
    }
}

fn trigger(block: &CallBlock, after_call: &[u8], table: &CallTable) -> Result<Option<ToolTrigger>, OutOfMemory> {
    let written = match write_by(block, after_call, table, &[JoinCall::new("f", "{}")]) {
        Ok(written) => written,
        Err(JoinError::OutOfMemory) => return Err(OutOfMemory),
        Err(_) => return Ok(None),
    };
    let WrittenCalls { text, arguments } = written;
    let of_head = text.parts.iter().find(|part| part.role == Role::Name).map(|part| &part.range);
    let Some(name) = text.header_names.first().or(of_head) else { return Ok(None) };
    let begin = &text.bytes[..name.start];
    let mut one = ToolTrigger {
        trigger: copy(&[if block.name.is_some() { begin } else { &block.open }])?,
        begin: copy(&[begin])?,
        after_name: copy(&[&text.bytes[name.end..arguments.start]])?,
        end: copy(&[&text.bytes[arguments.end..]])?,
        arguments: ToolArguments::Json,
        key_begin: String::new(),
        key_end: String::new(),
        value_begin: String::new(),
        value_end: String::new(),
        preserved: Vec::new(),
    };
    let mut mark = "";
    match &table.body {
        BodyRule::Object(_) | BodyRule::Json => {}
        BodyRule::Tags(rule) => {
            one.arguments = if rule.nested.is_some() { ToolArguments::Elements } else { ToolArguments::Tags };
            mark = rule.nested.as_deref().map_or(Ok(""), str::from_utf8).unwrap_or_default();
            (one.key_begin, one.key_end) = (copy(&[&rule.key[0]])?, copy(&[&rule.key[1]])?);
            one.value_begin = copy(&[&rule.value[0], &rule.after_open])?;
            one.value_end = copy(&[&rule.before_close, &rule.value[1]])?;
        }
        BodyRule::Literal(rule) => {
            one.arguments = ToolArguments::Literal;
            one.key_end = copy(&[&[rule.assign]])?;
            (one.value_begin, one.value_end) = (copy(&[&rule.raw_quote])?, copy(&[&rule.raw_quote])?);
        }
    }
    let head = copy(&[&table.head.id_begin])?;
    let texts = [&one.begin, &one.after_name, &head, &one.key_begin, &one.key_end];
    for text in texts.into_iter().chain([&one.value_begin, &one.value_end, &one.end]) {
        add_tags(text, mark, &mut one.preserved)?;
    }
    Ok(Some(one))
}

/// Adds the new tags of a text: texts between `<` and `>` or `[` and `]` without blanks, and `mark`.
fn add_tags(text: &str, mark: &str, tags: &mut Vec<String>) -> Result<(), OutOfMemory> {
    let mut rest = text;
    while let Some(at) = rest.find(['<', '[', ']']) {
        rest = &rest[at..];
        let tag = if !mark.is_empty() && rest.starts_with(mark) { Some(mark) } else { tag(rest) };
        if let Some(tag) = tag
            && !tags.iter().any(|known| known == tag)
        {
            push(tags, copy(&[tag.as_bytes()])?)?;
        }
        rest = &rest[tag.map_or(1, str::len)..];
    }
    Ok(())
}

/// Returns the tag that a text begins with.
fn tag(text: &str) -> Option<&str> {
    let close = if text.starts_with('<') { '>' } else { ']' };
    let inside = &text[1..];
    let end = inside.find(|character: char| character.is_whitespace() || "<>[]{}".contains(character))?;
    let is_tag = end > 0 && !text.starts_with(']') && inside[end..].starts_with(close);
    is_tag.then(|| &text[..end + 2])
}

/// Returns texts of a dialect file, joined.
fn copy(texts: &[&[u8]]) -> Result<String, OutOfMemory> {
    let mut copy = String::new();
    for text in texts {
        append_text(&mut copy, &lossy(text)?)?;
    }
    Ok(copy)
}
