//! The scanner: one stream of text, cut anywhere, split into its channels.

use aside::{Channel, Counts, Kind, Scanner, Token};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::host::{Host, Objects};
use crate::options;
use crate::output::Output;
use crate::words;

const FEED: u32 = 0;
const FLUSH: u32 = 1;
const FORCE_CLOSE: u32 = 2;

/// Runs one step. It is compiled once for all receivers of events, because the engine is large.
fn run(
    scanner: &mut Scanner,
    step: u32,
    text: &[u8],
    on_event: &mut dyn FnMut(aside::Event<'_>),
) -> Result<(), Failure> {
    Ok(match step {
        FEED => scanner.feed(text, on_event),
        FLUSH => scanner.flush(on_event),
        FORCE_CLOSE => scanner.force_close(on_event),
        _ => scanner.finish(on_event),
    }?)
}

pub fn new(host: &mut Host, dialect: u32) -> Result<i32, Failure> {
    let options = options::scanner(&mut host.arguments())?;
    let scanner = Scanner::with_options(host.objects.dialects.get(dialect)?, &options)?;
    Ok(host.objects.scanners.insert(scanner))
}

/// Returns whether a single event covers all of the text that was fed, as for most tokens. JavaScript then returns its own text.
fn is_all(event: &aside::Event<'_>, text: &[u8]) -> bool {
    event.kind == Kind::Text && event.first_token == 0 && !text.is_empty() && std::ptr::eq(event.bytes, text)
}

/// Runs a step, such as feeding the text in the window, and writes the events. If a single event covers all of the text, and the
/// text is ASCII, the event is not written: the result is 1 plus the number of its channel, and its offset is in the results. Other
/// texts are written, as the encoder may have replaced half of a character.
pub fn events(host: &mut Host, scanner: u32, step: u32, len: u32) -> Result<i32, Failure> {
    let Host { window, output, objects, results, .. } = host;
    let text = &window[..len as usize];
    let scanner = objects.scanners.get(scanner)?;
    let (mut count, mut all) = (0, None);
    output.number(0);
    run(scanner, step, text, &mut |event| {
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

/// Returns the arguments of a function that takes a text with its tokens.
pub fn text_and_tokens(arguments: &mut Arguments) -> (Vec<u8>, Vec<Token>) {
    let (text, lengths, special) = (arguments.bytes(), arguments.bytes(), arguments.bytes());
    let lengths = lengths.chunks_exact(4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let token = |(len, &special): (u32, &u8)| if special != 0 { Token::special(len) } else { Token::text(len) };
    (text, lengths.zip(&special).map(token).collect())
}

/// Feeds a text with its tokens, and writes the events.
pub fn tokens(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let (text, tokens) = text_and_tokens(&mut host.arguments());
    let Host { output, objects, .. } = host;
    let mut count = 0;
    output.number(0);
    let on_event: &mut dyn FnMut(aside::Event<'_>) = &mut |event| {
        count += 1;
        write_event(output, &event);
    };
    objects.scanners.get(scanner)?.feed_tokens(text, &tokens, on_event)?;
    output.set(0, count);
    Ok(0)
}

/// Runs a step, such as feeding the text in the window, and writes the text of each channel. If more of the text follows (`part` is
/// 1), the texts are written with its last piece. If all of the text belongs to one channel, the result is 1 plus the number of the
/// channel.
pub fn split(host: &mut Host, scanner: u32, step: u32, len: u32, part: u32) -> Result<i32, Failure> {
    let Host { window, output, objects, .. } = host;
    let Objects { scanners, texts, .. } = objects;
    let text = &window[..len as usize];
    let is_first = texts.is_empty();
    let (mut count, mut all) = (0, None);
    let ran = run(scanners.get(scanner)?, step, text, &mut |event| {
        count += 1;
        if count == 1 && is_first && part == 0 && is_all(&event, text) {
            all = Some(event.channel);
            return;
        }
        if let Some(channel) = all.take() {
            texts.add(channel, text);
        }
        texts.take(&event);
    });
    if let Some(channel) = all
        && text.is_ascii()
    {
        ran?;
        return Ok(1 + channel as i32);
    }
    if let Some(channel) = all {
        texts.add(channel, text);
    }
    if part == 0 || ran.is_err() {
        texts.write(output);
    }
    ran?;
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

/// Starts the next stream where a prompt ends, and writes the span that is open there.
pub fn start_from_prompt(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let tail = host.arguments().bytes();
    let start = host.objects.scanners.get(scanner)?.start_from_prompt(tail)?;
    host.output.text(start.as_str());
    Ok(0)
}

pub fn end_reason(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let reason = words::find("reason", &host.arguments().text())?;
    host.objects.scanners.get(scanner)?.end_reason(reason);
    Ok(0)
}

/// Writes where the stream starts, whether that is a guess, how many bytes are held back now, and the maximum of this number.
pub fn state(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let Host { output, objects, .. } = host;
    let scanner = objects.scanners.get(scanner)?;
    output.text(scanner.start().as_str());
    output.flag(scanner.is_start_guessed());
    output.size(scanner.held().len());
    output.size(scanner.max_hold());
    Ok(0)
}

/// Writes the counts of each channel, and how many thoughts were lost.
pub fn counts(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let Host { output, objects, .. } = host;
    let scanner = objects.scanners.get(scanner)?;
    Channel::ALL.into_iter().for_each(|channel| write_counts(output, scanner.counts(channel)));
    output.long(scanner.lost_thoughts());
    Ok(0)
}

pub fn write_counts(output: &mut Output, counts: Counts) {
    [counts.bytes, counts.characters, counts.spans, counts.tokens].into_iter().for_each(|count| output.long(count));
}

/// Writes the oldest thought that was not taken yet. Returns 0 if there is none.
pub fn take_thought(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    let Host { output, objects, .. } = host;
    let Some(thought) = objects.scanners.get(scanner)?.take_thought() else { return Ok(0) };
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
    let copy = host.objects.scanners.get(scanner)?.try_clone()?;
    Ok(host.objects.scanners.insert(copy))
}

pub fn reset(host: &mut Host, scanner: u32) -> Result<i32, Failure> {
    host.objects.scanners.get(scanner)?.reset();
    Ok(0)
}
