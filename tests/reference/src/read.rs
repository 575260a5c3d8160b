//! Reads a whole text from its first byte to its last: carries out each marker, and writes its events.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::code::{Code, Json, block_after, is_inside};
use crate::events::{END, Event, IMPLIED, MARKER, Part, What, blank, joined, joined_with_calls};
use crate::file::{Dialect, Framing};
use crate::markers::{Does, Found, Opening, Reading, Region, Stray, decoded, fixed};

/// Reads a whole text. `start` replaces the dialect's start.
pub fn events(dialect: &Dialect, text: &[u8], start: Option<&str>) -> Vec<Event> {
    reading(dialect, text, start, None, Options::default())
}

/// Reads a text that the model has ended, with no start given, so that the dialect's start is a guess. Neighbouring text is
/// joined.
pub fn read_ended(dialect: &Dialect, text: &[u8]) -> Vec<Event> {
    let mut reading = begin(dialect, text, None, None, Options::default());
    reading.ended = true;
    reading.guessed = reading.at_start == "thinking";
    reading.read();
    joined(&reading.events)
}

/// Reads a text for a host that wants calls. Events that may arrive in pieces are joined.
pub fn read_with_calls(dialect: &Dialect, text: &[u8], start: Option<&str>) -> Vec<Event> {
    joined_with_calls(&reading(dialect, text, start, None, Options { wants_calls: true, ..Options::default() }))
}

/// Reads a text for a host that sets the treatment of stray closers. Neighbouring text is joined.
pub fn read_with_stray(dialect: &Dialect, text: &[u8], start: Option<&str>, stray: Stray) -> Vec<Event> {
    joined(&reading(dialect, text, start, None, Options { stray: Some(stray), ..Options::default() }))
}

/// Reads a text whose tokens are known. `special` are the positions of special tokens. Neighbouring text is joined.
pub fn read_tokens(dialect: &Dialect, text: &[u8], start: Option<&str>, special: &BTreeSet<usize>) -> Vec<Event> {
    joined(&reading(dialect, text, start, Some(special), Options::default()))
}

/// Reads a text whose tokens are known, like `read_with_calls`.
pub fn read_tokens_with_calls(
    dialect: &Dialect,
    text: &[u8],
    start: Option<&str>,
    special: &BTreeSet<usize>,
) -> Vec<Event> {
    joined_with_calls(&reading(
        dialect,
        text,
        start,
        Some(special),
        Options { wants_calls: true, ..Options::default() },
    ))
}

/// A host's options for a text.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// The treatment of stray closers.
    pub stray: Option<Stray>,
    /// Whether calls are reported.
    pub wants_calls: bool,
    /// Whether leading tags of other families are text.
    pub no_leading_tags: bool,
    /// The length of the prompt's part of the text.
    pub prompt: usize,
}

/// Reads a text for a host with these options.
pub fn events_with(dialect: &Dialect, text: &[u8], start: Option<&str>, options: Options) -> Vec<Event> {
    reading(dialect, text, start, None, options)
}

fn reading(
    dialect: &Dialect,
    text: &[u8],
    start: Option<&str>,
    special: Option<&BTreeSet<usize>>,
    options: Options,
) -> Vec<Event> {
    let mut reading = begin(dialect, text, start, special, options);
    reading.read();
    reading.events
}

fn begin<'a>(
    dialect: &'a Dialect,
    text: &'a [u8],
    start: Option<&str>,
    special: Option<&'a BTreeSet<usize>>,
    Options { stray, wants_calls, no_leading_tags, prompt }: Options,
) -> Reading<'a> {
    let start = start.or(dialect.start.as_deref()).unwrap_or("content");
    Reading {
        dialect,
        text,
        special,
        stray,
        wants_calls,
        calls: 0,
        at_start: start.to_string(),
        events: Vec::new(),
        open: Vec::new(),
        spent: vec![false; dialect.spans.len()],
        lead: true,
        closed: true,
        leading: !no_leading_tags,
        leads: !no_leading_tags,
        line_from: 0,
        prompt_closed: false,
        prompt,
        alone: true,
        first: true,
        ended: false,
        guessed: false,
        spoken_of: None,
        has_closed: false,
        code: Code::default(),
        around: Code::default(),
        json: None,
        sentence: Cell::new(false),
    }
}

/// Reads a whole text like `events`, with neighbouring text joined.
pub fn read(dialect: &Dialect, text: &[u8], start: Option<&str>) -> Vec<Event> {
    joined(&events(dialect, text, start))
}

impl Reading<'_> {
    fn read(&mut self) {
        if self.text.is_empty() {
            return;
        }
        if self.at_start != "content" && self.at_start != "header" {
            self.open_at_start();
        }
        let mut at = self.read_body(0);
        while at < self.text.len() {
            if let Some(end) = self.code(at) {
                self.push_text(at..end);
                at = end;
            } else if let Some(rule) = self.bare(at) {
                at = self.open_bare(at, rule);
                self.line_from = at;
                self.code.sentence = false;
            } else if let Some(found) = self.marker(at) {
                if let Does::Prose { closer } = found.does {
                    self.push_text(at..found.end);
                    if self.channel() == "content" {
                        self.spoken_of = closer.clone().or(self.spoken_of.take());
                        self.code.mentioned = closer;
                    }
                    at = found.end;
                } else {
                    at = self.apply(at, found);
                    self.line_from = at;
                    self.code.sentence = false;
                }
                self.sentence.set(false);
            } else {
                self.code.sentence |= self.sentence.take();
                self.push_text(at..at + 1);
                at += 1;
            }
        }
        if self.guessed && self.first && self.open.len() == 1 {
            self.push(What::Reclassify, "content", at..at, Part::None);
        }
        while !self.open.is_empty() {
            self.push_close(at..at, END, Part::None);
        }
    }

    fn open_at_start(&mut self) {
        let channel = fixed(&self.at_start);
        let spans = &self.dialect.spans;
        let rule = spans.iter().position(|span| span.channel == channel);
        let rule = rule.unwrap_or(spans.len());
        self.alone = false;
        self.push(What::Open { rule, tag: 0 }, channel, 0..0, Part::None);
        let body = self.dialect.header.is_some();
        self.open.push(Region { from_start: true, body, ..Region::new(rule, channel) });
    }

    // ---- what a marker does

    fn apply(&mut self, at: usize, found: Found) -> usize {
        let Found { before, end, does } = found;
        let begin = at + before;
        self.leading = self.leads && end <= self.prompt;
        let in_thinking = self.channel() == "thinking";
        if end <= self.prompt {
            let closes = match &does {
                Does::Close { .. } | Does::End { .. } => in_thinking,
                Does::DropCloser { .. } | Does::Reclassify { .. } => true,
                Does::Open(opening) => opening.channel == "thinking" && opening.self_closing,
                _ => false,
            };
            let opens = match &does {
                Does::Open(opening) => opening.channel == "thinking" && !opening.self_closing,
                Does::Lead { .. } => true,
                _ => false,
            };
            self.prompt_closed = (self.prompt_closed || closes) && !opens;
        }
        match does {
            Does::Open(opening) => self.apply_open(at, begin, end, opening),
            Does::Close { rule, own } => {
                self.push_framing(at..begin, Part::Before);
                let lead = self.open.last().is_some_and(|region| region.lead.is_some());
                let closed = self.block_of(begin..end, rule);
                let told = self.wants_calls && self.open.last().is_some_and(|region| !self.tables(region).is_empty());
                let keep = rule.is_some_and(|rule| own && self.dialect.spans[rule].keep) && !told;
                let is_fence = rule.is_some_and(|rule| own && self.closes_as_fence(rule));
                let call = self.open.last().is_some_and(|region| is_call(self.dialect, region));
                let around = call.then(|| std::mem::take(&mut self.around));
                self.pass_marker(end, keep || is_fence);
                if keep {
                    self.push_marker_text(begin..end);
                    self.push_close(end..end, MARKER, Part::None);
                } else {
                    self.push_close(begin..end, MARKER, Part::Marker);
                }
                self.spend(closed);
                if let Some(around) = around.filter(|_| !self.dialect.guard.is_empty()) {
                    self.code = around;
                }
                match lead {
                    true => self.after_close_of_lead(end),
                    false => self.after_close(end, rule),
                }
            }
            Does::Lead { name } => {
                let first = self.of_channel("thinking").first().copied();
                let rule = first.unwrap_or(self.dialect.spans.len());
                self.pass_marker(end, false);
                if in_thinking {
                    self.guessed = false;
                    self.push_framing(begin..end, Part::Marker);
                } else {
                    let names = self.dialect.leading_tags();
                    let tag = self.dialect.openers(rule) + names.iter().position(|it| *it == name).unwrap();
                    self.alone = false;
                    self.push(What::Open { rule, tag }, "thinking", begin..end, Part::Marker);
                    self.open.push(Region::new(rule, "thinking"));
                }
                let region = self.open.last_mut().unwrap();
                (region.lead, region.rule, region.untouched) = (Some(name), rule, true);
                self.take_framing(end, "\n")
            }
            Does::End { answer } => {
                if answer && self.first && self.open.len() == 1 {
                    self.push(What::Reclassify, "content", begin..begin, Part::None);
                    self.lead = false;
                }
                let region = self.open.last().unwrap();
                let first = || self.of_channel("thinking").first().copied();
                let closed = if region.from_start { first().unwrap_or(region.rule) } else { region.rule };
                self.push_close(begin..end, MARKER, Part::Marker);
                self.pass_marker(end, false);
                self.spend(closed);
                end
            }
            Does::DropCloser { rule } => {
                self.push_framing(at..begin, Part::Before);
                self.push_framing(begin..end, Part::Marker);
                self.pass_marker(end, false);
                // The marker shows that thinking has ended.
                (self.alone, self.closed, self.has_closed) = (false, true, true);
                self.after_close(end, Some(rule))
            }
            Does::Reclassify { rule } => {
                self.push_framing(at..begin, Part::Before);
                self.push(What::Reclassify, "thinking", begin..begin, Part::Closer(rule));
                self.push_framing(begin..end, Part::Marker);
                self.pass_marker(end, false);
                (self.alone, self.lead, self.closed, self.has_closed) = (false, true, true, true);
                self.first = false;
                self.spend(rule);
                self.after_close(end, Some(rule))
            }
            Does::Absorb { rule } => {
                self.push_framing(at..begin, Part::Before);
                self.push_framing(begin..end, Part::Marker);
                self.pass_marker(end, false);
                // The marker is an opener, which confirms guessed thinking, unless the openers are words.
                self.guessed &= rule.is_some_and(|rule| self.dialect.spans[rule].is_label());
                self.open.last_mut().unwrap().untouched = true;
                match rule {
                    Some(_) => self.after(end, rule, |framing| &framing.after_open),
                    None => self.take_framing(end, "\n"),
                }
            }
            Does::Prose { .. } => unreachable!("it is text"),
            Does::Drop => {
                self.push_framing(begin..end, Part::Marker);
                self.pass_marker(end, false);
                end
            }
            Does::Quote => {
                self.push_text(begin..end);
                self.events.last_mut().unwrap().part = Part::Marker;
                let region = self.open.last_mut().unwrap();
                region.quoted = !region.quoted;
                end
            }
        }
    }

    fn apply_open(&mut self, at: usize, begin: usize, end: usize, opening: Opening) -> usize {
        let mut ended_thinking = false;
        let around = self.open.last().filter(|_| !opening.pauses);
        if let Some(region) = around
            && (region.channel != "content" || (region.body && opening.body))
        {
            let closed = region.rule;
            ended_thinking = !opening.body;
            self.push_framing(at..begin, Part::Before);
            self.push_close(begin..begin, IMPLIED, Part::None);
            self.spend(closed);
        } else {
            self.push_framing(at..begin, Part::Before);
        }
        let span = self.dialect.spans.get(opening.rule);
        let told = self.wants_calls && span.is_some_and(|span| !span.calls.is_empty());
        let keep = span.is_some_and(|span| span.keep) && !told;
        if span.is_some_and(|span| span.channel == "tool") {
            self.around = if ended_thinking { Code::default() } else { self.code.clone() };
        }
        self.pass_marker(end, keep || span.is_some_and(|span| span.fence.is_some()));
        let what = What::Open { rule: opening.rule, tag: opening.tag };
        let channel = opening.channel;
        let marker = if keep { begin..begin } else { begin..end };
        self.alone = false;
        self.push(what, channel, marker, Part::Marker);
        for (name, raw) in opening.attributes {
            let value = &self.text[begin + raw.start..begin + raw.end];
            let value = if opening.decode { decoded(value) } else { value.to_vec() };
            let what = What::Attribute { name, value, raw };
            self.push(what, channel, begin..begin, Part::None);
        }
        let name = span.and_then(|span| span.tag.as_ref()).map(|_| opening.tag);
        self.guessed |= self.ended && self.first && self.open.is_empty() && span.is_some_and(|span| span.is_label());
        let Opening { body, addressed, .. } = opening;
        self.open.push(Region { name, body, addressed, ended_thinking, ..Region::new(opening.rule, channel) });
        if keep {
            self.push_marker_text(begin..end);
        }
        if opening.self_closing {
            self.push_close(end..end, MARKER, Part::None);
            self.spend(opening.rule);
            if channel == "tool" && !self.dialect.guard.is_empty() {
                self.code = std::mem::take(&mut self.around);
            }
            return end;
        }
        let rule = (!opening.body).then_some(opening.rule);
        let at = self.after(end, rule, |framing| &framing.after_open);
        self.read_body(at)
    }

    /// Opens a span that has no opener.
    fn open_bare(&mut self, at: usize, rule: usize) -> usize {
        self.alone = false;
        self.leading = false;
        self.around = self.code.clone();
        self.push(What::Open { rule, tag: 0 }, "tool", at..at, Part::None);
        self.open.push(Region::new(rule, "tool"));
        self.read_body(at)
    }

    /// Returns the rule of the open region, which this marker closes. For a region that was open at the start, this is the first
    /// span of its channel with this closer, or else the header's rule.
    fn block_of(&self, marker: Range<usize>, closer: Option<usize>) -> usize {
        let region = self.open.last().unwrap();
        if !region.from_start || region.lead.is_some() {
            return region.rule;
        }
        let has = |rule: &usize| {
            let mut literals = self.dialect.spans[*rule].close.iter();
            literals.any(|literal| literal.len() == marker.len() && self.literal(marker.start, literal))
        };
        self.of_channel(region.channel).into_iter().find(has).or(closer).unwrap_or(self.dialect.spans.len())
    }

    /// Notes that a block of this span was closed. The number after the last span is the header's rule.
    fn spend(&mut self, rule: usize) {
        if self.dialect.spans.get(rule).is_some_and(|span| span.repeat == Some(false)) {
            self.spent[rule] = true;
        }
    }

    /// Reads the framing after a marker: all of it or nothing.
    fn after(&mut self, at: usize, rule: Option<usize>, which: impl Fn(&Framing) -> &String) -> usize {
        let Some(rule) = rule else { return at };
        let framing = which(&self.dialect.spans[rule].framing).clone();
        self.take_framing(at, &framing)
    }

    /// Reads the framing after a closer: all of it or nothing, but if it consists of line breaks, as many of them as there are.
    /// After thinking, reads no line breaks if the content before the thinking ends in a word.
    fn after_close(&mut self, mut at: usize, rule: Option<usize>) -> usize {
        let Some(rule) = rule else { return at };
        let span = &self.dialect.spans[rule];
        let framing = span.framing.after_close.clone();
        if !framing.chars().all(|character| character == '\n') {
            return self.take_framing(at, &framing);
        }
        if span.channel == "thinking" && self.ends_in_word() {
            return at;
        }
        for _ in framing.chars() {
            at = self.take_framing(at, "\n");
        }
        at
    }

    /// Returns whether the content of the stream so far ends in a word.
    fn ends_in_word(&self) -> bool {
        let mut last = None;
        for event in self.events.iter().filter(|event| event.offset >= self.prompt) {
            match event.what {
                What::Reclassify => last = None,
                What::Text if event.channel == "content" => last = event.bytes.last().copied().or(last),
                _ => {}
            }
        }
        last.is_some_and(|byte| !blank(byte))
    }

    /// Reads the framing after the closer of thinking that a leading tag has opened: up to two line breaks.
    fn after_close_of_lead(&mut self, end: usize) -> usize {
        let first = self.take_framing(end, "\n");
        if first == end { end } else { self.take_framing(first, "\n") }
    }

    fn take_framing(&mut self, at: usize, framing: &str) -> usize {
        let length = framing.len();
        if !self.framing(at, framing) {
            return at;
        }
        self.push_framing(at..at + length, Part::After);
        if self.dialect.guard.is_empty() && length > 0 {
            self.code = Code::after(self.text[at + length - 1]);
        }
        at + length
    }

    /// Notes the position in code after a marker. `text` means that the marker stays in the text, or is a fence line.
    fn pass_marker(&mut self, end: usize, text: bool) {
        let starts_line = !self.dialect.guard.is_empty() && !text;
        self.code = if starts_line { Code::default() } else { Code::after(self.text[end - 1]) };
    }

    /// Returns whether the closer of this span is a fence line.
    fn closes_as_fence(&self, rule: usize) -> bool {
        self.dialect.spans[rule].fence.is_some()
    }

    /// Adds text to the line. At its end, the line may begin or end a block.
    fn pass_text(&mut self, range: Range<usize>, leads: bool) {
        let is_content = self.channel() == "content";
        for at in range {
            let byte = self.text[at];
            let bracket = byte == b'{' || byte == b'[';
            let begins_block = self.code.new_block && bracket;
            self.code.new_block &= blank(byte);
            self.code.line.push(byte);
            let mut in_block = is_inside(&self.code.line, self.code.block);
            self.code.new_block &= in_block;
            if byte == b'\n' {
                self.code.mentioned = None;
                self.code.sentence = false;
                let line = std::mem::take(&mut self.code.line);
                if is_content && self.guards("fences") {
                    let around = self.code.block;
                    self.code.block = block_after(&line, around);
                    in_block = self.code.block.is_some();
                    self.code.new_block = in_block && (self.code.new_block || !is_inside(&line, around));
                }
            }
            let dialect = self.dialect;
            let of_header = || dialect.header.as_ref().is_some_and(|header| !header.calls.is_empty());
            let has_calls = || of_header() || dialect.spans.iter().any(|span| !span.calls.is_empty());
            if is_content && (self.guards("inline") || has_calls()) {
                self.json = match self.json {
                    Some(json) => json.after(byte, in_block),
                    None => (begins_block || leads && bracket).then(|| Json::begin(begins_block)),
                };
            }
        }
    }

    // ---- writing events

    pub(crate) fn push(&mut self, what: What, channel: &'static str, range: Range<usize>, part: Part) {
        if matches!(what, What::Open { .. } | What::Close(_) | What::Reclassify) {
            self.json = None;
        }
        self.events.push(Event { what, channel, offset: range.start, bytes: self.text[range].to_vec(), part });
    }

    pub(crate) fn push_text(&mut self, range: Range<usize>) {
        let channel = self.channel();
        self.note_text(range.clone());
        self.push(What::Text, channel, range, Part::None);
    }

    /// Notes text of a channel, which changes the state.
    pub(crate) fn note_text(&mut self, range: Range<usize>) {
        let channel = self.channel();
        let leads = self.lead;
        if !self.text[range.clone()].iter().all(|&byte| blank(byte)) {
            self.leading = false;
            if let Some(region) = self.open.last_mut() {
                region.fresh = false;
            }
            if channel == "content" {
                self.lead = false;
                self.closed = false;
            }
        }
        if self.line_start() {
            self.push_line(range.start);
        }
        self.pass_text(range, leads);
        self.touch();
    }

    /// Notes that the innermost span is not empty.
    fn touch(&mut self) {
        if let Some(region) = self.open.last_mut() {
            region.untouched = false;
        }
    }

    /// Notes whether a line of a fence's body begins or ends a code block in it.
    fn push_line(&mut self, at: usize) {
        let line = self.fence_line(at);
        let Some(region) = self.open.last() else { return };
        let fence = self.closers(region).iter().any(|&rule| self.dialect.spans[rule].fence.is_some());
        if !fence {
            return;
        }
        let region = self.open.last_mut().unwrap();
        match (region.nested, line) {
            (Some((mark, run)), Some(line)) if line.ends(mark, run) => region.nested = None,
            (None, Some(line)) if line.nests() => region.nested = Some((line.mark, line.run)),
            _ => {}
        }
    }

    /// Writes a marker that stays in its channel's text.
    fn push_marker_text(&mut self, range: Range<usize>) {
        let channel = self.channel();
        self.push(What::Text, channel, range, Part::Marker);
    }

    fn push_framing(&mut self, range: Range<usize>, part: Part) {
        if !range.is_empty() {
            let channel = self.channel();
            self.touch();
            self.push(What::Framing, channel, range, part);
        }
    }

    fn push_close(&mut self, range: Range<usize>, cause: &'static str, part: Part) {
        let region = self.open.pop().unwrap();
        self.push(What::Close(cause), region.channel, range, part);
        self.has_closed |= region.channel == "thinking";
        self.closed = true;
        self.first = false;
    }
}

/// Returns whether the region is a block of the channel `tool` with markers and without a header.
fn is_call(dialect: &Dialect, region: &Region) -> bool {
    region.channel == "tool" && region.rule < dialect.spans.len()
}
