//! Collects whole thoughts while their text is streamed, until the host takes them. Thoughts must never exceed the limit, and must
//! not depend on how the stream was cut.

use std::collections::VecDeque;

use crate::memory::{append, copy};
use crate::{
    channel::Channel,
    dialect::compiled::ThoughtRule,
    matcher::bytes::{trim, trim_start},
    utf8::fit,
};

use super::{attributes::Attributes, error::Error, event::Cause};

/// The whole text of a thinking span, with its attributes.
///
/// ```
/// use aside::{Cause, Dialect, Scanner, ScannerOptions};
///
/// let options = ScannerOptions::new().collect(1 << 20);
/// let mut scanner = Scanner::with_options(&Dialect::find("qwen3")?, &options)?;
/// scanner.feed("<think>\nhm\n</think>\n\nYes.", |_| ())?;
/// let thought = scanner.take_thought().unwrap();
/// assert_eq!((&thought.text[..], thought.cause, thought.truncated), (&b"hm"[..], Cause::Marker, false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Thought {
    /// The offset of the opener: the number of bytes since the start of the stream.
    pub offset: u64,
    /// The text between the markers. If the dialect has a `thought` rule, the text that the rule finds, trimmed.
    pub text: Vec<u8>,
    /// The attributes of the opening marker in their order: names, and decoded values.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// The type according to the dialect's `thought` rule, if the tag has a type.
    pub thought_type: Option<Vec<u8>>,
    /// The confidence from 0 to 1 according to the dialect's `thought` rule, if the tag has a confidence. It is 0.5 if the
    /// tag's value is not a number.
    pub confidence: Option<f64>,
    /// The cause of the span's end.
    pub cause: Cause,
    /// Whether the thought exceeded the limit: its text ends early, or its type or attributes are missing.
    pub truncated: bool,
}

/// A queue of thoughts that were not taken yet, and the unfinished thought.
pub struct Thoughts {
    cap: usize,
    /// The number of bytes in `waiting`.
    held: usize,
    waiting: VecDeque<Thought>,
    open: Option<Thought>,
    /// The span of the unfinished thought, if it has a `thought` rule: blanks at both ends of the thought are then removed.
    rule: Option<u8>,
    /// Whether bytes of the unfinished thought did not fit. If the thought is not marked as truncated, these were blanks.
    is_full: bool,
    /// Whether the unfinished thought is still content, which a closer may turn into thinking.
    is_guess: bool,
    lost: u64,
}

impl Thoughts {
    const MOST_WAITING: usize = 1024;

    pub fn new(cap: usize) -> Thoughts {
        let (waiting, open) = (VecDeque::new(), None);
        Thoughts { cap, held: 0, waiting, open, rule: None, is_full: false, is_guess: false, lost: 0 }
    }

    pub fn try_clone(&self) -> Result<Thoughts, Error> {
        let mut waiting = VecDeque::new();
        waiting.try_reserve_exact(self.waiting.len())?;
        for thought in &self.waiting {
            waiting.push_back(copy_thought(thought)?);
        }
        let open = self.open.as_ref().map(copy_thought).transpose()?;
        Ok(Thoughts { waiting, open, ..*self })
    }

    pub fn clear(&mut self) {
        *self = Thoughts::new(self.cap);
    }

    pub fn lost(&self) -> u64 {
        self.lost
    }

    pub fn take(&mut self) -> Option<Thought> {
        let thought = self.waiting.pop_front()?;
        self.held -= size(&thought);
        Some(thought)
    }

    fn room(&self) -> usize {
        self.cap.saturating_sub(self.held)
    }

    /// Begins a thought. `rule` is the span, if it has a `thought` rule: blanks at both ends of such a thought need no room.
    pub fn begin(&mut self, offset: u64, attributes: &Attributes, rule: Option<u8>) -> Result<(), Error> {
        let mut list = Vec::new();
        list.try_reserve_exact(attributes.len())?;
        for attribute in attributes.iter() {
            list.push((copy(attribute.name)?, copy(attribute.value)?));
        }
        let (text, thought_type, confidence) = (Vec::new(), None, None);
        let (cause, truncated) = (Cause::Marker, false);
        self.rule = rule;
        self.is_full = false;
        self.is_guess = false;
        // Attributes are cut to the limit only when the thought ends. Until then, the maximum length of a tag bounds them.
        self.open = Some(Thought { offset, text, attributes: list, thought_type, confidence, cause, truncated });
        Ok(())
    }

    /// Begins a possible thought at the start of the stream.
    pub fn guess(&mut self) -> Result<(), Error> {
        self.begin(0, &Attributes::NONE, None)?;
        self.is_guess = true;
        Ok(())
    }

    /// Returns the span of the unfinished thought, if the span has a `thought` rule.
    pub fn rule(&self) -> Option<u8> {
        self.rule
    }

    /// Returns whether this channel's text is collected now.
    pub fn collects(&self, channel: Channel) -> bool {
        channel == Channel::Thinking || channel == Channel::Content && self.is_guess
    }

    pub fn drop_guess(&mut self) {
        if self.is_guess {
            self.drop_open();
        }
    }

    /// Forgets the unfinished thought, because it is not a thought.
    pub fn drop_open(&mut self) {
        self.open = None;
        self.is_guess = false;
    }

    pub fn text(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let room = self.room();
        let Some(thought) = self.open.as_mut().filter(|thought| !thought.truncated) else { return Ok(()) };
        let bytes = if self.rule.is_some() && thought.text.is_empty() { trim_start(bytes) } else { bytes };
        // After bytes that did not fit, nothing is added, even if there is room because a thought was taken.
        let room = if self.is_full { 0 } else { room - thought.text.len().min(room) };
        let fit = fit(bytes, room);
        let rest = &bytes[fit.len()..];
        self.is_full |= !rest.is_empty();
        thought.truncated = if self.rule.is_some() { !trim_start(rest).is_empty() } else { self.is_full };
        Ok(append(&mut thought.text, fit)?)
    }

    pub fn end(&mut self, cause: Cause, rule: Option<&ThoughtRule>) -> Result<(), Error> {
        self.is_guess = false;
        let Some(mut thought) = self.open.take() else { return Ok(()) };
        thought.cause = cause;
        if let Some(rule) = rule {
            finish(&mut thought, rule)?;
            if thought.text.is_empty() && !thought.truncated {
                return Ok(());
            }
        }
        if self.waiting.len() == Self::MOST_WAITING {
            self.lost += 1;
            return Ok(());
        }
        cut(&mut thought, self.room());
        self.waiting.try_reserve(1)?;
        self.held += size(&thought);
        self.waiting.push_back(thought);
        Ok(())
    }
}

/// Cuts a thought to the available room. The text has priority, then the type, then the attributes, of which only whole ones
/// are kept.
fn cut(thought: &mut Thought, mut room: usize) {
    let fitting = fit(&thought.text, room).len();
    thought.truncated |= fitting < thought.text.len();
    thought.text.truncate(fitting);
    room -= fitting;
    if thought.thought_type.as_ref().is_some_and(|kind| kind.len() > room) {
        thought.thought_type = None;
        thought.truncated = true;
    }
    room -= thought.thought_type.as_ref().map_or(0, Vec::len);
    let mut fits = 0;
    for attribute in &thought.attributes {
        let Some(left) = room.checked_sub(weight(attribute)) else { break };
        (room, fits) = (left, fits + 1);
    }
    thought.truncated |= fits < thought.attributes.len();
    thought.attributes.truncate(fits);
}

/// Returns the number of bytes that count towards the limit: text, type and attributes.
fn size(thought: &Thought) -> usize {
    let kind = thought.thought_type.as_ref().map_or(0, Vec::len);
    thought.text.len() + kind + thought.attributes.iter().map(weight).sum::<usize>()
}

/// Returns the number of bytes that an attribute counts as: its own bytes, but at least the memory that any attribute uses.
fn weight((name, value): &(Vec<u8>, Vec<u8>)) -> usize {
    const LEAST: usize = 48;
    (name.len() + value.len()).max(LEAST)
}

/// Sets the thought's text, type and confidence from the attributes that the dialect names.
fn finish(thought: &mut Thought, rule: &ThoughtRule) -> Result<(), Error> {
    let value = |name: &str| {
        thought.attributes.iter().find(|(other, _)| other == name.as_bytes()).map(|(_, value)| value.as_slice())
    };
    let given = value(&rule.text).map(trim).filter(|text| !text.is_empty());
    // If the attribute has the text, it does not matter whether the body was truncated.
    let truncated = thought.truncated && given.is_none();
    // The end of a truncated thought is not trimmed, because it is not the real end.
    let body = if thought.truncated { &thought.text } else { trim(&thought.text) };
    let text = copy(given.unwrap_or(body))?;
    let kind = value(&rule.kind).map(copy).transpose()?;
    let confidence = value(&rule.confidence).map(confidence);
    (thought.text, thought.thought_type, thought.confidence) = (text, kind, confidence);
    thought.truncated = truncated;
    Ok(())
}

/// Reads a number from 0 to 1. If it is not a number, returns the default, a half.
fn confidence(value: &[u8]) -> f64 {
    const DEFAULT: f64 = 0.5;
    let value = trim(value);
    // The grammar is narrower than Rust's, which has `inf` and `nan`.
    let is_number = value.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte));
    let number = std::str::from_utf8(value).ok().filter(|_| is_number).and_then(|value| value.parse::<f64>().ok());
    number.map_or(DEFAULT, |number| number.clamp(0.0, 1.0) + 0.0)
}

fn copy_thought(thought: &Thought) -> Result<Thought, Error> {
    let mut attributes = Vec::new();
    attributes.try_reserve_exact(thought.attributes.len())?;
    for (name, value) in &thought.attributes {
        attributes.push((copy(name)?, copy(value)?));
    }
    let thought_type = thought.thought_type.as_deref().map(copy).transpose()?;
    Ok(Thought { text: copy(&thought.text)?, attributes, thought_type, ..*thought })
}
