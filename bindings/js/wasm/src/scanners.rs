//! The scanner: one stream of text, cut anywhere, split into its channels.

use aside::call_writer::{CallDelta, CallWriter};
use aside::{Channel, Kind, Token};

use crate::failure::Failure;
use crate::host::{Host, Objects};
use crate::options;
use crate::output::Output;
use crate::words;

pub struct Scanner {
    inner: aside::Scanner,
    writer: Option<CallWriter>,
}

impl Scanner {
    /// Does a step. It is compiled once for all that take events, because the engine is large.
    fn run(&mut self, step: u32, text: &[u8], on_event: &mut dyn FnMut(aside::Event<'_>)) -> Result<(), Failure> {
        Ok(match step {
            FEED => self.inner.feed(text, on_event),
            FLUSH => self.inner.flush(on_event),
            FORCE_CLOSE => self.inner.force_close(on_event),
            _ => self.inner.finish(on_event),
        }?)
    }

    fn end(&mut self, step: u32) {
        if step == FINISH
            && let Some(writer) = &mut self.writer
        {
            writer.reset();
        }
    }
}

const FEED: u32 = 0;
const FLUSH: u32 = 1;
const FORCE_CLOSE: u32 = 2;
const FINISH: u32 = 3;

/// The text of each channel, of a text that may come in pieces.
pub struct Texts {
    parts: [Vec<u8>; 4],
    /// There was no memory for a text.
    is_lost: bool,
}

impl Texts {
    pub const fn new() -> Texts {
        Texts { parts: [const { Vec::new() }; 4], is_lost: false }
    }

    fn take(&mut self, event: &aside::Event<'_>) {
        let is_text = match event.kind {
            Kind::Text => true,
            Kind::Open { .. } | Kind::Close(_) | Kind::Framing => false,
            // The parts of a call are its text.
            _ => event.channel == Channel::Tool,
        };
        if is_text {
            self.add(event.channel, event.bytes);
        }
        if event.kind == Kind::Reclassify {
            let other = if event.channel == Channel::Thinking { Channel::Content } else { Channel::Thinking };
            let moved = std::mem::take(&mut self.parts[other as usize]);
            self.add(event.channel, &moved);
        }
    }

    fn add(&mut self, channel: Channel, bytes: &[u8]) {
        let part = &mut self.parts[channel as usize];
        match part.try_reserve(bytes.len()) {
            Ok(()) => part.extend_from_slice(bytes),
            Err(_) => self.is_lost = true,
        }
    }

    fn is_empty(&self) -> bool {
        self.parts.iter().all(Vec::is_empty)
    }

    /// Writes the texts and forgets them.
    fn write(&mut self, output: &mut Output) {
        for part in &mut self.parts {
            output.text(&part);
            part.clear();
        }
        output.is_lost |= std::mem::take(&mut self.is_lost);
    }
}

pub fn new(host: &mut Host, dialect: u32) -> Result<i32, Failure> {
    let options = options::scanner(&mut host.arguments())?;
    let dialect = host.objects.dialects.get(dialect)?;
    let inner = aside::Scanner::with_options(dialect, &options.options)?;
    let writer = options.writing.map(|writing| CallWriter::new(dialect, writing));
    Ok(host.objects.scanners.insert(Scanner { inner, writer }))
}

/// Returns whether an event is all of the text that was fed: most tokens are, and then JavaScript returns its own text.
fn is_all(event: &aside::Event<'_>, text: &[u8]) -> bool {
    event.kind == Kind::Text && event.first_token == 0 && !text.is_empty() && std::ptr::eq(event.bytes, text)
}

/// Feeds the text in the window, or does another step, and writes the events. If there is one alone, which is all of the text,
/// and that is ASCII, it is not written: the result is 1 and the number of its channel, and its offset is in the results. Other
/// texts are written, as the encoder may have replaced half of a character.
pub fn events(host: &mut Host, scanner: u32, step: u32, len: u32) -> Result<i32, Failure> {
    let Host { window, output, objects, results, .. } = host;
    let text = &window[..len as usize];
    let scanner = objects.scanners.get(scanner)?;
    let (mut count, mut all) = (0, None);
    output.number(0);
    scanner.run(step, text, &mut |event| {
        count += 1;
        if count == 1 && is_all(&event, text) {
            all = Some((event.channel, event.offset));
            return;
        }
        if let Some((channel, offset)) = all.take() {
            write_text(output, channel, offset, text);
        }
        write_event(output, &event);
    })?;
    scanner.end(step);
    output.set(0, count);
    Ok(match all {
        Some((channel, offset)) if text.is_ascii() => {
            results[5..].copy_from_slice(&[offset as u32, (offset >> 32) as u32]);
            1 + channel as i32
        }
        Some((channel, offset)) => {
            write_text(output, channel, offset, text);
            0
        }
        None => 0,
    })
}

/// Feeds a text with its tokens, and writes the events.
pub fn tokens(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let (text, lengths, special) = (arguments.bytes(), arguments.bytes(), arguments.bytes());
    let lengths = lengths.chunks_exact(4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let token = |(len, &special): (u32, &u8)| if special != 0 { Token::special(len) } else { Token::text(len) };
    let tokens: Vec<Token> = lengths.zip(&special).map(token).collect();
    let Host { output, objects, .. } = host;
    let mut count = 0;
    output.number(0);
    let on_event: &mut dyn FnMut(aside::Event<'_>) = &mut |event| {
        count += 1;
        write_event(output, &event);
    };
    objects.scanners.get(scanner)?.inner.feed_tokens(text, &tokens, on_event)?;
    output.set(0, count);
    Ok(0)
}

/// Feeds the text in the window, or does another step, and writes deltas of calls, then the text of each channel. If more of
/// the text comes (`part` is 1), the texts come with its last piece. If the text is all of one channel, the result is 1
/// and the number of the channel.
pub fn split(host: &mut Host, scanner: u32, step: u32, len: u32, part: u32) -> Result<i32, Failure> {
    let Host { window, output, objects, .. } = host;
    let Objects { scanners, texts, .. } = objects;
    let text = &window[..len as usize];
    let scanner = scanners.get(scanner)?;
    let is_first = texts.is_empty();
    let (mut count, mut deltas, mut all) = (0, 0, None);
    let mut written = Ok(());
    output.number(0);
    let mut writer = scanner.writer.take();
    let ran = scanner.run(step, text, &mut |event| {
        count += 1;
        if count == 1 && is_first && part == 0 && is_all(&event, text) {
            all = Some(event.channel);
            return;
        }
        if let Some(channel) = all.take() {
            texts.add(channel, text);
        }
        texts.take(&event);
        if let Some(writer) = &mut writer
            && written.is_ok()
        {
            written = writer.event(&event, |delta| {
                deltas += 1;
                write_delta(output, &delta);
            });
        }
    });
    scanner.writer = writer;
    scanner.end(step);
    if let Some(channel) = all
        && text.is_ascii()
    {
        ran?;
        return Ok(1 + channel as i32);
    }
    if let Some(channel) = all {
        texts.add(channel, text);
    }
    if part == 0 || ran.is_err() || written.is_err() {
        texts.write(output);
    }
    ran?;
    written?;
    output.set(0, deltas);
    Ok(0)
}

fn write_event(output: &mut Output, event: &aside::Event<'_>) {
    let (cause, rule, tag, call) = match event.kind {
        Kind::Open { rule, tag } => (0, rule + 1, tag, 0),
        Kind::Call { rule, table, index } => (0, rule + 1, table, index),
        Kind::Close(cause) => (cause as u32 + 1, 0, 0, 0),
        Kind::CallEnd { cause, index, .. } => (cause as u32 + 1, 0, 0, index),
        Kind::CallName(Some(_)) => (0, 0, 1, 0),
        _ => (0, 0, 0, 0),
    };
    let is_repaired =
        matches!(event.kind, Kind::CallValueEnd { is_repaired: true } | Kind::CallEnd { is_repaired: true, .. });
    output.numbers(&[
        kind(&event.kind),
        event.channel as u32,
        cause,
        rule,
        u32::from(is_repaired),
        event.offset as u32,
        (event.offset >> 32) as u32,
        event.first_token as u32,
        (event.first_token >> 32) as u32,
        event.tokens,
        tag,
        call as u32,
    ]);
    output.text(if let Kind::CallName(Some(name)) = event.kind { name } else { event.bytes });
    if let Kind::Attribute(attribute) = &event.kind {
        output.text(attribute.name);
        output.text(attribute.value);
        let places = [&attribute.raw_name, &attribute.raw_value];
        places.into_iter().flat_map(|place| [place.start, place.len()]).for_each(|number| output.size(number));
    }
}

/// Writes an event that is text without tokens.
fn write_text(output: &mut Output, channel: Channel, offset: u64, text: &[u8]) {
    output.numbers(&[kind(&Kind::Text), channel as u32, 0, 0, 0, offset as u32, (offset >> 32) as u32, 0, 0, 0, 0, 0]);
    output.text(text);
}

/// Returns the number of a kind, which is its place in the list of `words.js`.
fn kind(kind: &Kind<'_>) -> u32 {
    match kind {
        Kind::Open { .. } => 0,
        Kind::Attribute(_) => 1,
        Kind::Text => 2,
        Kind::Framing => 3,
        Kind::Close(_) => 4,
        Kind::Reclassify => 5,
        Kind::Budget => 6,
        Kind::Call { .. } => 7,
        Kind::CallName(_) => 8,
        Kind::CallId => 9,
        Kind::CallKey => 10,
        Kind::CallType => 11,
        Kind::CallValue => 12,
        Kind::CallValueEnd { .. } => 13,
        _ => 14,
    }
}

pub fn write_delta(output: &mut Output, delta: &CallDelta<'_>) {
    output.long(delta.index);
    output.optional(delta.id);
    output.optional(delta.name);
    output.text(delta.arguments);
    output.flag(delta.end.is_some());
    if let Some(end) = delta.end {
        output.number(end.cause as u32);
        output.flag(end.is_whole);
        output.flag(end.is_repaired);
        output.optional(end.late_id);
    }
}

/// Starts the next stream where a prompt ends, and writes the span that is open there.
pub fn start_from_prompt(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let tail = host.arguments().bytes();
    let start = host.objects.scanners.get(scanner)?.inner.start_from_prompt(tail)?;
    host.output.text(start.as_str());
    Ok(0)
}

pub fn end_reason(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let reason = words::find("reason", &host.arguments().text(), words::END_REASON)?;
    host.objects.scanners.get(scanner)?.inner.end_reason(reason);
    Ok(0)
}

/// Writes where the stream starts, whether that is a guess, and how many bytes are held back and may be.
pub fn state(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let Host { output, objects, .. } = host;
    let scanner = &objects.scanners.get(scanner)?.inner;
    output.text(scanner.start().as_str());
    output.flag(scanner.is_start_guessed());
    output.size(scanner.held().len());
    output.size(scanner.max_hold());
    Ok(0)
}

/// Writes the counts of each channel, and how many thoughts were lost.
pub fn counts(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let Host { output, objects, .. } = host;
    let scanner = &objects.scanners.get(scanner)?.inner;
    for channel in Channel::ALL {
        let counts = scanner.counts(channel);
        [counts.bytes, counts.characters, counts.spans, counts.tokens].into_iter().for_each(|count| output.long(count));
    }
    output.long(scanner.lost_thoughts());
    Ok(0)
}

/// Writes the oldest thought that was not taken yet. Returns 0 if there is none.
pub fn take_thought(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let Host { output, objects, .. } = host;
    let Some(thought) = objects.scanners.get(scanner)?.inner.take_thought() else { return Ok(0) };
    output.text(&thought.text);
    output.size(thought.attributes.len());
    for (name, value) in &thought.attributes {
        output.text(name);
        output.text(value);
    }
    output.optional(thought.thought_type.as_ref());
    output.flag(thought.confidence.is_some());
    output.long(thought.confidence.unwrap_or_default().to_bits());
    output.long(thought.offset);
    output.number(thought.cause as u32);
    output.flag(thought.truncated);
    Ok(1)
}

/// Returns a scanner in the same state.
pub fn copy(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let scanner = host.objects.scanners.get(scanner)?;
    if scanner.writer.is_some() {
        let advice = "a scanner that reports calls cannot be copied: make one without `calls` and `tools`";
        return Err(Failure::value(advice));
    }
    let inner = scanner.inner.try_clone()?;
    Ok(host.objects.scanners.insert(Scanner { inner, writer: None }))
}

pub fn reset(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let scanner = host.objects.scanners.get(scanner)?;
    scanner.inner.reset();
    if let Some(writer) = &mut scanner.writer {
        writer.reset();
    }
    Ok(0)
}
