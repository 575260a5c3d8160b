//! Writes calls as a model of the dialect writes them: an opener, calls in the form of the first table, a closer. A scanner then reads
//! the calls back, to check that they are unchanged.

use super::{
    error::{CallFault, CallPart, JoinError},
    text::{Part, Role, Text},
    value::{self, WriteError},
};
use crate::{
    calls::table::{BodyRule, CallTable, ObjectRule},
    channel::{Channel, Start},
    dialect::{
        Dialect,
        compiled::{CallBlock, Compiled},
    },
    json,
    memory::push,
    scanner::{Scanner, ScannerOptions},
};

/// A call for [`JoinOptions::calls`](crate::JoinOptions::calls).
///
/// ```
/// let call = aside::JoinCall::new("get_weather", r#"{"city": "Oslo"}"#).id("call_1");
/// # let _ = call;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a call is not written until it is given to `JoinOptions::calls`"]
pub struct JoinCall<'a> {
    name: &'a str,
    arguments: &'a str,
    id: Option<&'a str>,
}

impl<'a> JoinCall<'a> {
    /// Returns a call of the tool `name`. The arguments are a JSON object.
    pub fn new(name: &'a str, arguments: &'a str) -> JoinCall<'a> {
        JoinCall { name, arguments, id: None }
    }

    /// Sets the call's id, which is written if the dialect has a place for ids.
    pub fn id(self, id: impl Into<Option<&'a str>>) -> JoinCall<'a> {
        JoinCall { id: id.into(), ..self }
    }
}

/// Writes calls, and checks that they are read back unchanged.
pub fn write(dialect: &Dialect, calls: &[JoinCall<'_>]) -> Result<Text, JoinError> {
    let compiled = &*dialect.compiled;
    if calls.is_empty() {
        return Ok(Text::default());
    }
    let not_written = || JoinError::NotWritten(Channel::Tool);
    let has_opener = |block: &&CallBlock| block.name.is_some() || !block.open.is_empty();
    let block = compiled.templates.calls.iter().find(has_opener).ok_or_else(not_written)?;
    let mut tables = tables(compiled, block).iter().zip(&block.after_call);
    let (table, after_call) = tables.find(|(table, _)| !table.is_lenient).ok_or_else(not_written)?;
    let mut writer = Writer { text: Text::default(), block, table, after_call };
    writer.calls(calls)?;
    let text = writer.text;
    let start = if block.name.is_some() || usize::from(block.rule) == compiled.spans.len() {
        Start::Header
    } else {
        Start::Channel(Channel::Content)
    };
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().start(start).calls(true))?;
    match text.misread(&mut scanner)? {
        Some(at) => Err(blame(&text, table, at)),
        None => Ok(text),
    }
}

/// The arrangement of several calls.
pub struct Layout<'a> {
    /// Whether the calls share one region. Otherwise each has a separate opener and closer.
    pub is_shared: bool,
    /// The text between calls that share a region.
    pub separator: &'a [u8],
    /// Whether brackets are around the calls.
    pub is_list: bool,
    /// Whether the region's opener begins the first call.
    pub opens_call: bool,
}

/// Returns the arrangement of a table's calls in a region. Each call has its own region, unless the table has a text between or
/// after calls, or the region has no closer.
pub fn layout<'a>(block: &CallBlock, table: &'a CallTable) -> Layout<'a> {
    let is_bare = table.begin.is_empty() && matches!(table.body, BodyRule::Object(_) | BodyRule::Literal(_));
    let is_separate = table.separator.is_none() && table.end.is_empty() && !block.close.is_empty();
    Layout {
        is_shared: block.name.is_none() && (table.is_list || !is_separate),
        separator: table.separator.as_deref().unwrap_or(if is_bare { b", " } else { b"" }),
        is_list: table.is_list && !block.open.ends_with(b"["),
        opens_call: !table.begin.is_empty() && block.open.ends_with(&table.begin),
    }
}

/// Returns the tables of a region.
pub fn tables<'a>(compiled: &'a Compiled, block: &CallBlock) -> &'a [CallTable] {
    let region = match usize::from(block.rule) < compiled.spans.len() {
        true => compiled.inside(block.rule),
        false => compiled.body(Channel::Tool),
    };
    compiled.calls(region).map_or(&[], |calls| &calls.tables)
}

/// Returns the error for a misread byte: the call and the part of it that the byte belongs to.
fn blame(text: &Text, table: &CallTable, at: usize) -> JoinError {
    let call = text.calls.partition_point(|&begin| begin <= at).saturating_sub(1);
    let from = text.calls[call];
    let is_before = |part: &&Part| (from..=at).contains(&part.range.start);
    let parts: Vec<&Part> = text.parts.iter().filter(is_before).collect();
    let key = || {
        let key = parts.iter().rfind(|part| part.role == Role::Key)?;
        Some(String::from_utf8_lossy(&text.bytes[key.range.clone()]).into())
    };
    let Some(last) = parts.last() else {
        return JoinError::Call { call, part: CallPart::Name, fault: CallFault::Misread { offset: 0 } };
    };
    let part = match last.role {
        Role::Id => CallPart::Id,
        Role::Key => key().map_or(CallPart::Arguments, CallPart::Key),
        Role::InnerKey | Role::Value => key().map_or(CallPart::Arguments, CallPart::Value),
        Role::Name | Role::Text(_) => CallPart::Name,
    };
    let offset = at.min(last.range.end) - last.range.start;
    let written = &text.bytes[last.range.clone()];
    let fault = match &table.body {
        BodyRule::Tags(rule) if last.role == Role::Value => {
            let end = &written[offset..];
            let end = [&rule.before_close[..], b"\n"].into_iter().find_map(|it| end.strip_prefix(it)).unwrap_or(end);
            if end.starts_with(&rule.value[1]) {
                CallFault::Closer { offset }
            } else if rule.ends.iter().any(|other| end.starts_with(other)) {
                CallFault::Stop { offset }
            } else {
                CallFault::Misread { offset }
            }
        }
        _ => CallFault::Misread { offset },
    };
    JoinError::Call { call, part, fault }
}

struct Writer<'a> {
    text: Text,
    block: &'a CallBlock,
    table: &'a CallTable,
    /// The text after a call of the table.
    after_call: &'a [u8],
}

impl Writer<'_> {
    fn calls(&mut self, calls: &[JoinCall<'_>]) -> Result<(), JoinError> {
        let (block, table) = (self.block, self.table);
        let Layout { is_shared, separator, is_list, opens_call } = layout(block, table);
        // Without a separator in the table, bare calls that share a region are a list if there are several.
        let is_bracketed = is_list || is_shared && calls.len() > 1 && separator == b", " && !block.open.ends_with(b"[");
        for (index, call) in calls.iter().enumerate() {
            let at = self.text.bytes.len();
            push(&mut self.text.calls, at)?;
            let is_first = index == 0 || !is_shared;
            if is_first {
                self.opener(call)?;
                self.text.mark(if is_bracketed { b"[" } else { b"" })?;
            } else {
                self.text.mark(separator)?;
            }
            if !(is_first && opens_call) {
                self.text.mark(&table.begin)?;
            }
            self.call(index, call)?;
            if !is_shared || index + 1 == calls.len() {
                self.text.mark(if is_bracketed { b"]" } else { b"" })?;
                self.text.mark(&block.close)?;
            }
        }
        Ok(())
    }

    fn opener(&mut self, call: &JoinCall<'_>) -> Result<(), JoinError> {
        let open = &self.block.open;
        let Some(at) = self.block.name else { return Ok(self.text.mark(open)?) };
        self.text.mark(&open[..at])?;
        self.prefix(call.name)?;
        let name = self.text.bytes.len();
        self.text.mark(call.name.as_bytes())?;
        push(&mut self.text.header_names, name..name + call.name.len())?;
        Ok(self.text.mark(&open[at..])?)
    }

    /// Writes a prefix that the reader removes, if the name would not be read verbatim without a prefix.
    fn prefix(&mut self, name: &str) -> Result<(), JoinError> {
        let head = &self.table.head;
        let is_needed = head.needs_prefix || head.prefixes.iter().any(|prefix| name.as_bytes().starts_with(prefix));
        match head.prefixes.first().filter(|_| is_needed) {
            Some(prefix) => Ok(self.text.mark(prefix)?),
            None => Ok(()),
        }
    }

    fn call(&mut self, index: usize, call: &JoinCall<'_>) -> Result<(), JoinError> {
        let table = self.table;
        let fault = |part, fault| JoinError::Call { call: index, part, fault };
        let arguments = value::object(call.arguments);
        let arguments = arguments.ok_or(fault(CallPart::Arguments, CallFault::NotObject))?;
        if let BodyRule::Object(rule) = &table.body {
            return self.object(rule, call, arguments);
        }
        if table.head.name_from.is_none() {
            self.head(index, call)?;
        }
        let written = match &table.body {
            BodyRule::Object(_) | BodyRule::Json => {
                self.text.part(Role::Value, arguments.as_bytes()).map(drop).map_err(WriteError::from)
            }
            BodyRule::Tags(rule) if rule.nested.is_some() => {
                let text = &mut self.text;
                value::members(arguments, |key, json| value::element(rule, key, json, Role::Key, text))
            }
            BodyRule::Tags(rule) => {
                let text = &mut self.text;
                value::members(arguments, |key, json| {
                    text.mark(&rule.key[0])?;
                    text.part(Role::Key, key.as_bytes())?;
                    text.mark(&rule.key[1])?;
                    if let Some([open, close]) = &rule.kind {
                        text.mark(open)?;
                        text.mark(value::type_word(rule, json).as_bytes())?;
                        text.mark(close)?;
                    }
                    text.mark(&rule.value[0])?;
                    text.mark(&rule.after_open)?;
                    value::tagged(json, text)?;
                    text.mark(&rule.before_close)?;
                    Ok(text.mark(&rule.value[1])?)
                })
            }
            BodyRule::Literal(rule) => {
                let text = &mut self.text;
                let mut separator: &[u8] = b"";
                value::members(arguments, |key, json| {
                    text.mark(std::mem::replace(&mut separator, b", "))?;
                    value::literal_key(rule, key, text)?;
                    text.mark(&[rule.assign])?;
                    value::literal(rule, json, text)
                })
            }
        };
        written.map_err(|error| match error {
            WriteError::OutOfMemory => JoinError::OutOfMemory,
            WriteError::Key(why) => fault(CallPart::Arguments, why),
            WriteError::Value(why) => {
                let begin = self.text.calls[index];
                let of_call = |part: &&Part| part.role == Role::Key && part.range.start >= begin;
                let key = self.text.parts.iter().rfind(of_call).map(|part| &self.text.bytes[part.range.clone()]);
                let part = key.map_or(CallPart::Arguments, |key| CallPart::Value(String::from_utf8_lossy(key).into()));
                fault(part, why)
            }
        })?;
        if let BodyRule::Literal(rule) = &table.body {
            self.text.mark(&[rule.close])?;
        }
        Ok(self.text.mark(&table.end)?)
    }

    fn object(&mut self, rule: &ObjectRule, call: &JoinCall<'_>, arguments: &str) -> Result<(), JoinError> {
        self.text.mark(b"{")?;
        if rule.key_is_name {
            self.text.mark(b"\"")?;
            self.escaped(Role::Name, call.name)?;
            self.text.mark(b"\": ")?;
        } else {
            let id = call.id.zip(rule.ids.first()).map(|(id, key)| (key, Role::Id, id));
            let name = rule.names.first().map(|key| (key, Role::Name, call.name));
            for (key, role, word) in [id, name].into_iter().flatten() {
                self.member(key)?;
                self.text.mark(b"\"")?;
                self.escaped(role, word)?;
                self.text.mark(b"\", ")?;
            }
            self.member(rule.arguments.first().map_or(b"", |key| key))?;
        }
        self.text.part(Role::Value, arguments.as_bytes())?;
        self.text.mark(b"}")?;
        Ok(self.text.mark(self.after_call)?)
    }

    fn member(&mut self, key: &[u8]) -> Result<(), JoinError> {
        self.text.mark(b"\"")?;
        self.text.mark(key)?;
        Ok(self.text.mark(b"\": ")?)
    }

    fn escaped(&mut self, role: Role, word: &str) -> Result<(), JoinError> {
        let from = self.text.bytes.len();
        json::escape(word.as_bytes(), &mut self.text.bytes)?;
        self.text.parts_since(role, from)?;
        Ok(())
    }

    fn head(&mut self, index: usize, call: &JoinCall<'_>) -> Result<(), JoinError> {
        let head = &self.table.head;
        if !head.id_end.is_empty() {
            match call.id {
                Some(id) => self.text.part(Role::Id, id.as_bytes())?,
                None => self.text.part(Role::Id, index.to_string().as_bytes())?,
            };
            self.text.mark(&head.id_end)?;
        }
        if head.is_id {
            self.head_that_is_id(index, call)?;
        } else {
            self.prefix(call.name)?;
            self.text.part(Role::Name, call.name.as_bytes())?;
            self.text.mark(&head.suffix)?;
        }
        if let Some(id) = call.id.filter(|_| !head.id_begin.is_empty() && head.id_end.is_empty()) {
            self.text.mark(&head.id_begin)?;
            self.text.part(Role::Id, id.as_bytes())?;
        }
        match &self.table.body {
            BodyRule::Literal(rule) => self.text.mark(&[rule.open])?,
            _ => self.text.mark(&head.id_close)?,
        }
        Ok(self.text.mark(&head.end)?)
    }

    /// Writes a head that is the id. The name is part of the id, perhaps with a prefix before it and a number after it.
    fn head_that_is_id(&mut self, index: usize, call: &JoinCall<'_>) -> Result<(), JoinError> {
        let Some(id) = call.id else {
            let prefix = self.table.head.prefixes.first().map_or(&b""[..], |prefix| prefix);
            self.text.part(Role::Id, prefix)?;
            self.text.part(Role::Name, call.name.as_bytes())?;
            self.text.part(Role::Id, format!(":{index}").as_bytes())?;
            return Ok(());
        };
        // The reader does not take a colon with digits at the end for a part of the name.
        let number = id.trim_end_matches(|character: char| character.is_ascii_digit());
        let stem = number.strip_suffix(':').unwrap_or(id);
        let Some(before) = stem.strip_suffix(call.name).or_else(|| id.strip_suffix(call.name)) else {
            let fault = CallFault::Misread { offset: 0 };
            return Err(JoinError::Call { call: index, part: CallPart::Id, fault });
        };
        let (name, after) = id[before.len()..].split_at(call.name.len());
        for (role, part) in [(Role::Id, before), (Role::Name, name), (Role::Id, after)] {
            self.text.part(role, part.as_bytes())?;
        }
        Ok(())
    }
}
