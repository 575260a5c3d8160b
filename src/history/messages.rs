//! Rewrites requests of Anthropic Messages. The thinking of an assistant message is in blocks of its content.

use super::json::{Fault, Object, Value};
use super::made;
use super::options::{Made, Missing, Name, Options};
use super::report::{Outcome, Report};
use super::thinking::{Kept, join};
use crate::Dialect;
use crate::json::{Edits, Span};
use crate::memory::{OutOfMemory, push};

/// A thinking block without thinking.
const EMPTY: &[u8] = b"{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}";

/// The beginning of a text block.
const TEXT: &[u8] = b"{\"type\":\"text\",\"text\":\"";

/// Notes the changes of a request.
pub fn read(body: &Object<'_>, options: &Options, edits: &mut Edits, report: &mut Report) -> Result<(), Fault> {
    let messages = match body.get("messages") {
        Some(messages) => messages.list()?,
        None => None,
    };
    let messages = messages.ok_or(Fault::Outcome(Outcome::NotRequest))?;
    let mut read = Vec::new();
    for message in &messages {
        push(&mut read, Message::new(message)?)?;
    }
    let last_user = read.iter().rposition(|message| message.is_user);
    let kept = Kept::new(options.turns, last_user);
    // The last assistant message, if it follows the user's last message: the server checks its thinking.
    let last =
        read.iter().rposition(|message| message.is_assistant).filter(|&at| last_user.is_none_or(|user| at > user));
    let mut is_removed = Vec::new();
    for (at, message) in read.iter().enumerate() {
        let before = edits.len();
        let change = match message.is_assistant {
            true => message.write(options, kept.keeps(at), edits, report)?,
            false => Change::default(),
        };
        if change.is_removed {
            // The removal of the message replaces all of its changes.
            edits.truncate(before);
        }
        report.changed += u64::from(change.is_removed || edits.len() > before);
        push(&mut is_removed, change.is_removed)?;
        if Some(at) == last && change.loses_first && options.made == Made::Remove {
            report.thinking_off |= turn_off(body, edits)?;
        }
    }
    Ok(edits.remove(messages.iter().map(|message| &message.span), |at| is_removed[at])?)
}

/// Turns thinking off in a request that the server would otherwise refuse. Returns whether it was on.
fn turn_off(body: &Object<'_>, edits: &mut Edits) -> Result<bool, Fault> {
    let Some(thinking) = body.get("thinking") else { return Ok(false) };
    let is_on = Object::of(thinking)?.is_some_and(|thinking| thinking.says("type", "enabled"));
    if is_on {
        edits.put(thinking.span.clone(), &[b"{\"type\":\"disabled\"}"])?;
    }
    Ok(is_on)
}

/// The outcome for a message, in addition to its edits.
#[derive(Default)]
struct Change {
    /// Whether the message would be empty after the changes, and is removed.
    is_removed: bool,
    /// Whether the message began with thinking, and no longer does.
    loses_first: bool,
}

struct Message<'a> {
    is_assistant: bool,
    /// Whether the message is the user's, and has content other than results of tools.
    is_user: bool,
    content: Option<Value<'a>>,
    /// The blocks of the content, if it is a list.
    blocks: Option<Vec<Block<'a>>>,
}

struct Block<'a> {
    span: Span,
    kind: Kind<'a>,
}

enum Kind<'a> {
    /// Thinking without a signature of the server, as the inside of a string.
    Unsigned(&'a [u8]),
    /// Thinking with a signature, or redacted thinking.
    Signed,
    Text(Value<'a>),
    Result,
    Other,
}

impl<'a> Message<'a> {
    fn new(value: &Value<'a>) -> Result<Message<'a>, Fault> {
        let mut message = Message { is_assistant: false, is_user: false, content: None, blocks: None };
        let Some(object) = Object::of(value)? else { return Ok(message) };
        message.is_assistant = object.says("role", "assistant");
        message.content = object.get("content").cloned();
        if let Some(content) = &message.content
            && let Some(list) = content.list()?
        {
            let mut blocks = Vec::new();
            for value in list {
                let kind = kind(&value)?;
                push(&mut blocks, Block { span: value.span, kind })?;
            }
            message.blocks = Some(blocks);
        }
        let blocks = message.blocks.as_deref().unwrap_or_default();
        let has_only_results = !blocks.is_empty() && blocks.iter().all(|block| matches!(block.kind, Kind::Result));
        message.is_user = object.says("role", "user") && !has_only_results;
        Ok(message)
    }

    fn write(
        &self,
        options: &Options,
        is_kept: bool,
        edits: &mut Edits,
        report: &mut Report,
    ) -> Result<Change, OutOfMemory> {
        // No empty block is added for a server that checks signatures, which would refuse it, or if thinking is written as
        // text.
        let is_text = matches!(options.name, Name::Text(_));
        let has_empty = options.missing == Missing::Empty && options.made == Made::Keep && !is_text;
        let Some(blocks) = &self.blocks else {
            if has_empty {
                self.write_empty(None, edits)?;
            }
            return Ok(Change::default());
        };
        let is_out = |at: usize| match &blocks[at].kind {
            Kind::Unsigned(b"") if has_empty => false,
            Kind::Unsigned(text) => {
                !is_kept || options.made == Made::Remove || options.missing == Missing::Remove && text.is_empty()
            }
            Kind::Signed => !is_kept,
            _ => false,
        };
        let is_left = |at: &usize| !is_out(*at);
        let has_unsigned = blocks.iter().any(|block| matches!(block.kind, Kind::Unsigned(text) if !text.is_empty()));
        if let (true, Name::Text(dialect)) = (is_kept && has_unsigned, &options.name) {
            let before = edits.len();
            let removes_empty = options.missing == Missing::Remove || options.made == Made::Remove;
            if write_text(blocks, dialect, removes_empty, edits)? {
                return Ok(Change::default());
            }
            edits.truncate(before);
            report.refused += 1;
        }
        let thinks = |at: usize| matches!(blocks[at].kind, Kind::Unsigned(_) | Kind::Signed);
        let mut left = (0..blocks.len()).filter(is_left);
        if has_empty && !left.clone().any(thinks) {
            let first = left.next();
            self.write_empty(first, edits)?;
            if first.is_some() {
                edits.remove(blocks.iter().map(|block| &block.span), is_out)?;
            }
            return Ok(Change::default());
        }
        let first = left.next();
        let loses_first = !blocks.is_empty() && thinks(0) && !first.is_some_and(thinks);
        if first.is_some() {
            edits.remove(blocks.iter().map(|block| &block.span), is_out)?;
        }
        Ok(Change { is_removed: first.is_none() && !blocks.is_empty(), loses_first })
    }

    /// Writes an empty thinking block before the first remaining block, or before the text.
    fn write_empty(&self, first: Option<usize>, edits: &mut Edits) -> Result<(), OutOfMemory> {
        let Some(content) = &self.content else { return Ok(()) };
        match (&self.blocks, content.string()) {
            (Some(blocks), _) => match first {
                Some(first) => {
                    let at = blocks[first].span.start;
                    edits.put(at..at, &[EMPTY, b","])
                }
                None => edits.put(content.span.clone(), &[b"[", EMPTY, b"]"]),
            },
            (None, Some(text)) if !text.is_empty() => {
                edits.put(content.span.clone(), &[b"[", EMPTY, b",", TEXT, text, b"\"}]"])
            }
            (None, Some(_)) => edits.put(content.span.clone(), &[b"[", EMPTY, b"]"]),
            (None, None) => Ok(()),
        }
    }
}

fn kind<'a>(value: &Value<'a>) -> Result<Kind<'a>, Fault> {
    let Some(object) = Object::of(value)? else { return Ok(Kind::Other) };
    if object.says("type", "thinking") {
        let text = object.get("thinking").and_then(|text| text.string()).filter(|_| made::is_unsigned(&object));
        return Ok(text.map_or(Kind::Signed, Kind::Unsigned));
    }
    if object.says("type", "text") {
        let text = object.get("text").filter(|text| text.string().is_some()).cloned();
        return Ok(text.map_or(Kind::Other, Kind::Text));
    }
    if object.says("type", "redacted_thinking") {
        return Ok(Kind::Signed);
    }
    Ok(if object.says("type", "tool_result") { Kind::Result } else { Kind::Other })
}

/// Writes each block of unsigned thinking into the text block that follows it, or into a new one. Returns whether all thinking
/// can be written.
fn write_text(
    blocks: &[Block<'_>],
    dialect: &Dialect,
    removes_empty: bool,
    edits: &mut Edits,
) -> Result<bool, OutOfMemory> {
    let mut is_merged = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let thinking = match block.kind {
            Kind::Unsigned(thinking) if !thinking.is_empty() => thinking,
            Kind::Unsigned(_) => {
                push(&mut is_merged, removes_empty)?;
                continue;
            }
            _ => {
                push(&mut is_merged, false)?;
                continue;
            }
        };
        let next = blocks.get(at + 1).and_then(|next| match &next.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        });
        let text = next.and_then(|text| text.string()).unwrap_or_default();
        let Some(joined) = join(dialect, thinking, text)? else { return Ok(false) };
        match next {
            Some(text) => edits.put(text.span.clone(), &[b"\"", &joined, b"\""])?,
            None => edits.put(block.span.clone(), &[TEXT, &joined, b"\"}"])?,
        }
        push(&mut is_merged, next.is_some())?;
    }
    edits.remove(blocks.iter().map(|block| &block.span), |at| is_merged[at])?;
    Ok(true)
}
