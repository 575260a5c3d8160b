//! Reads a template's text without running it. Finds the texts that it may write for any messages, and the texts that
//! its generation prompt writes if a host sets only the required variables. The template is read once, in time linear in
//! its length.

use std::borrow::Cow;

use super::expression::{Variables, end_of_literal, evaluate, unescape};
use super::value::{Truth, UNKNOWN, Value};
use crate::memory::{Result, append_text, copy_text, push};

/// The maximum number of paths through a generation prompt that are followed.
const MOST_PATHS: usize = 8;
/// At least this many bytes at the end of each path are kept.
const TAIL: usize = 512;
/// The maximum nesting of branches that are followed as separate paths.
const DEEPEST: usize = 32;

pub struct Source<'a> {
    /// The template, with the escapes of its string literals decoded.
    pub text: Cow<'a, str>,
    /// The texts of all branches, in the order of the template, whether they are taken or not. U+0000 marks unknown text.
    pub written: String,
    /// The texts that the generation prompt may write by default, and if thinking is requested.
    pub prompts: Vec<String>,
    pub thinking_prompts: Vec<String>,
}

impl<'a> Source<'a> {
    pub fn read(template: &'a str) -> Result<Source<'a>> {
        let by_default = Reader::read(template, Variables::given()?)?;
        let mut variables = Variables::given()?;
        for name in ["enable_thinking", "thinking"] {
            variables.set(name, "", Value::Bool(true))?;
        }
        let thinking = Reader::read(template, variables)?;
        Ok(Source {
            text: unescape(template)?,
            written: by_default.written,
            prompts: by_default.paths,
            thinking_prompts: thinking.paths,
        })
    }
}

/// A block that has not ended.
struct Frame {
    is_if: bool,
    /// Whether the branch that is being read is taken.
    taken: Truth,
    /// Whether an earlier branch of the block is taken.
    earlier: Truth,
    /// In a generation prompt: the paths to the block, and the paths through its branches.
    before: Vec<String>,
    through: Vec<String>,
    forks: bool,
}

struct Reader<'a> {
    variables: Variables<'a>,
    written: String,
    /// The maximum number of bytes of a text.
    most: usize,
    frames: Vec<Frame>,
    /// The number of open blocks whose current branch is not taken, and of those for which this is unknown.
    dead: usize,
    unsure: usize,
    /// The paths through the last generation prompt.
    paths: Vec<String>,
    /// While a generation prompt is being read: the number of blocks around it.
    inside: Option<usize>,
}

/// A `{…}` of a template.
struct Tag<'a> {
    kind: u8,
    body: &'a str,
    trims_before: bool,
    trims_after: bool,
}

impl<'a> Reader<'a> {
    fn read(template: &'a str, variables: Variables<'a>) -> Result<Reader<'a>> {
        let mut reader = Reader {
            variables,
            written: String::new(),
            most: template.len().saturating_mul(4).saturating_add(1 << 16),
            frames: Vec::new(),
            dead: 0,
            unsure: 0,
            paths: Vec::new(),
            inside: None,
        };
        reader.run(template)?;
        Ok(reader)
    }

    fn run(&mut self, template: &'a str) -> Result<()> {
        let mut rest = template;
        // The white space of the next text that the previous tag removes.
        let (mut trims, mut ends_line) = (false, false);
        let mut searched = 0;
        while let Some(at) = rest[searched..].find('{').map(|at| searched + at) {
            let Some((tag, after)) = tag(&rest[at..]) else {
                // A brace that does not begin a tag is text.
                searched = at + 1;
                if is_tag(&rest[at..]) {
                    break;
                }
                continue;
            };
            self.text(&rest[..at], trims, ends_line, Some(&tag))?;
            (trims, ends_line) = (tag.trims_after, tag.kind != b'{');
            (rest, searched) = (after, 0);
            match tag.kind {
                b'{' => self.expression(tag.body)?,
                b'%' => self.statement(tag.body)?,
                _ => {}
            }
        }
        self.text(rest, trims, ends_line, None)
    }

    /// Writes the text between two tags, after `trim_blocks` and `lstrip_blocks` have removed white space.
    fn text(&mut self, mut text: &str, trims: bool, ends_line: bool, next: Option<&Tag>) -> Result<()> {
        if trims {
            text = text.trim_start();
        } else if ends_line {
            text = text.strip_prefix('\n').unwrap_or(text);
        }
        match next {
            Some(tag) if tag.trims_before => text = text.trim_end(),
            Some(tag) if tag.kind != b'{' => {
                let left = text.trim_end_matches([' ', '\t']);
                if left.ends_with('\n') || left.is_empty() && ends_line {
                    text = left;
                }
            }
            _ => {}
        }
        self.write(text)
    }

    fn write(&mut self, text: &str) -> Result<()> {
        if self.written.len() + text.len() <= self.most {
            append_text(&mut self.written, text)?;
        }
        if self.inside.is_some() && self.dead == 0 {
            for path in &mut self.paths {
                append_text(path, text)?;
                if path.len() > 2 * TAIL {
                    let start = (0..path.len() - TAIL).rev().find(|&start| path.is_char_boundary(start));
                    path.drain(..start.unwrap_or_default());
                }
            }
        }
        Ok(())
    }

    fn expression(&mut self, expression: &'a str) -> Result<()> {
        // The output is copied, since it may be part of the variables.
        let variables = std::mem::take(&mut self.variables);
        let done = match evaluate(expression, &variables)? {
            Value::Text(text) => self.write(&text),
            Value::Either(one, other) => self.write_either(&one, &other),
            _ => self.write(UNKNOWN),
        };
        self.variables = variables;
        done
    }

    fn write_either(&mut self, one: &str, other: &str) -> Result<()> {
        if self.inside.is_none() || self.dead > 0 {
            self.write(one)?;
            self.write(UNKNOWN)?;
            return self.write(other);
        }
        let before = copies(&self.paths)?;
        self.write(one)?;
        let through = std::mem::replace(&mut self.paths, before);
        self.write(UNKNOWN)?;
        self.write(other)?;
        add(&mut self.paths, through)
    }

    fn statement(&mut self, body: &'a str) -> Result<()> {
        let end = body.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(body.len());
        let (word, rest) = body.split_at(end);
        match word {
            "if" => self.begin_if(rest),
            "elif" | "else" => self.next_branch(word, rest),
            "for" => {
                let (targets, _) = rest.split_once(" in ").unwrap_or((rest, ""));
                self.forget(targets)?;
                self.begin(false, Truth::Maybe)
            }
            "macro" => {
                self.forget(rest)?;
                self.begin(false, Truth::Maybe)
            }
            "set" if rest.contains('=') => self.variables.assign(rest, self.dead == 0 && self.unsure == 0),
            "set" => {
                self.forget(rest)?;
                self.begin(false, Truth::Yes)
            }
            "call" | "filter" => self.begin(false, Truth::Yes),
            "endif" | "endfor" | "endmacro" | "endset" | "endcall" | "endfilter" => self.end(),
            _ => Ok(()),
        }
    }

    /// Makes the names of a loop or a macro unknown.
    fn forget(&mut self, names: &'a str) -> Result<()> {
        const MOST: usize = 32;
        let names = names.split(|char: char| !char.is_alphanumeric() && char != '_').filter(|name| !name.is_empty());
        for name in names.take(MOST) {
            self.variables.set(name, "", Value::Unknown)?;
        }
        Ok(())
    }

    fn begin_if(&mut self, condition: &'a str) -> Result<()> {
        let taken = evaluate(condition, &self.variables)?.truth();
        self.begin(true, taken)?;
        self.begin_prompt(condition, taken)
    }

    fn begin(&mut self, is_if: bool, taken: Truth) -> Result<()> {
        let forks = is_if && self.inside.is_some_and(|inside| self.frames.len() < inside + DEEPEST) && self.dead == 0;
        let before = if forks { copies(&self.paths)? } else { Vec::new() };
        push(&mut self.frames, Frame { is_if, taken, earlier: Truth::No, before, through: Vec::new(), forks })?;
        self.enter(taken, 1);
        Ok(())
    }

    fn enter(&mut self, taken: Truth, count: isize) {
        match taken {
            Truth::No => self.dead = self.dead.saturating_add_signed(count),
            Truth::Maybe => self.unsure = self.unsure.saturating_add_signed(count),
            Truth::Yes => {}
        }
    }

    /// Begins a generation prompt at a branch with `add_generation_prompt` in its condition. The last such branch counts.
    fn begin_prompt(&mut self, condition: &str, taken: Truth) -> Result<()> {
        if self.inside.is_some() || self.dead > 0 || taken == Truth::No || !condition.contains("add_generation_prompt")
        {
            return Ok(());
        }
        self.inside = Some(self.frames.len());
        self.paths = Vec::new();
        push(&mut self.paths, String::new())
    }

    fn next_branch(&mut self, word: &str, condition: &'a str) -> Result<()> {
        let condition_is = match word {
            "elif" => evaluate(condition, &self.variables)?.truth(),
            _ => Truth::Yes,
        };
        let depth = self.frames.len();
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.is_if) else { return Ok(()) };
        let last = frame.taken;
        frame.earlier = match (frame.earlier, last) {
            (Truth::Yes, _) | (_, Truth::Yes) => Truth::Yes,
            (Truth::Maybe, _) | (_, Truth::Maybe) => Truth::Maybe,
            _ => Truth::No,
        };
        frame.taken = match (frame.earlier, condition_is) {
            (Truth::Yes, _) | (_, Truth::No) => Truth::No,
            (Truth::No, condition_is) => condition_is,
            _ => Truth::Maybe,
        };
        let taken = frame.taken;
        if frame.forks {
            let before = copies(&frame.before)?;
            let through = std::mem::replace(&mut self.paths, before);
            if last != Truth::No {
                add(&mut frame.through, through)?;
            }
        }
        self.enter(last, -1);
        self.enter(taken, 1);
        if self.inside == Some(depth) {
            // The next branch may have another generation prompt.
            self.inside = None;
            let before = std::mem::take(&mut self.paths);
            self.begin_prompt(condition, taken)?;
            add(&mut self.paths, before)?;
            return Ok(());
        }
        self.begin_prompt(condition, taken)
    }

    fn end(&mut self) -> Result<()> {
        if self.inside == Some(self.frames.len()) {
            self.inside = None;
        }
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        self.enter(frame.taken, -1);
        if frame.forks {
            if frame.taken != Truth::No {
                add(&mut frame.through, std::mem::take(&mut self.paths))?;
            }
            if frame.earlier != Truth::Yes && frame.taken != Truth::Yes {
                add(&mut frame.through, frame.before)?;
            }
            self.paths = frame.through;
        }
        Ok(())
    }
}

fn copies(paths: &[String]) -> Result<Vec<String>> {
    let mut copies = Vec::new();
    for path in paths {
        push(&mut copies, copy_text(path)?)?;
    }
    Ok(copies)
}

/// Adds new paths, as long as there is room.
fn add(paths: &mut Vec<String>, more: Vec<String>) -> Result<()> {
    for path in more {
        if paths.len() < MOST_PATHS && !paths.contains(&path) {
            push(paths, path)?;
        }
    }
    Ok(())
}

fn is_tag(text: &str) -> bool {
    matches!(text.as_bytes().get(1), Some(b'%' | b'{' | b'#'))
}

/// Returns the tag at the beginning of the text, and the rest of the text. Returns `None` if there is no tag, or the tag has no
/// end.
fn tag(text: &str) -> Option<(Tag<'_>, &str)> {
    let kind = *text.as_bytes().get(1)?;
    let close = match kind {
        b'%' => "%}",
        b'{' => "}}",
        b'#' => "#}",
        _ => return None,
    };
    let inside = &text[2..];
    let end = if kind == b'#' { inside.find(close)? } else { end_of_tag(inside, close)? };
    let body = &inside[..end];
    let (trims_before, trims_after) = (body.starts_with('-'), body.len() > 1 && body.ends_with('-'));
    let body = body.strip_prefix(['-', '+']).unwrap_or(body);
    let body = body.strip_suffix(['-', '+']).unwrap_or(body).trim();
    Some((Tag { kind, body, trims_before, trims_after }, &inside[end + close.len()..]))
}

/// Returns the end of a tag. Text like a closer in a string literal does not count, and the braces of a dictionary do not
/// either.
fn end_of_tag(inside: &str, close: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    let (mut at, mut braces) = (0, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"') => at += end_of_literal(&inside[at + 1..], quote)? + 2,
            _ if braces == 0 && inside.as_bytes()[at..].starts_with(close.as_bytes()) => return Some(at),
            byte => {
                match byte {
                    b'{' => braces += 1,
                    b'}' => braces = braces.saturating_sub(1),
                    _ => {}
                }
                at += 1;
            }
        }
    }
    None
}
