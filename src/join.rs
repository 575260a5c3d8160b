//! The other way: thinking and content written as a model of the dialect writes them, so that they split back into the
//! same; and texts kept free of markers.

use std::{borrow::Cow, collections::TryReserveError, fmt, ops::Range};

use crate::channel::{Channel, Start};
use crate::dialect::{BREAK, Dialect, compiled::Compiled};
use crate::matcher::bytes::{is_tag_space, same};
use crate::scanner::{Error, Kind, Options, Scanner};
use crate::utf8::is_continuation;

/// How a text is joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinOptions {
    /// What is open where the text begins, and will be where it is split; the dialect's own start where there is none.
    /// From `Thinking`, no opener is written. No text is joined from `Narration` or `Tool`.
    pub start: Option<Start>,
    /// What to do where a part holds what would be read as a marker.
    pub markers: OnMarker,
}

/// What to do with a part that would not split back into the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMarker {
    /// Give an error.
    #[default]
    Refuse,
    /// Break every marker in the part, as `escape` does. The text then splits back into the escaped part.
    Escape,
}

/// Why a text cannot be joined, or not be escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// A part would not split back into the same.
    Marker {
        /// `Thinking` or `Content`.
        part: Channel,
        /// Where in the part the first byte is that would be read as something else: of a marker, of framing. The
        /// part's length where it is the marker behind the part that would not be read as one.
        offset: usize,
    },
    /// The dialect says of no marker how a text of this channel is written, or text that starts inside it is not.
    NotWritten(Channel),
    /// This marker of the dialect cannot be broken: it is a single character, or holds U+200B itself.
    Unbreakable(Box<str>),
    /// The dialect has no span of the channel to start in, or no headers.
    NoSuchStart,
    /// There was no memory for the text.
    OutOfMemory,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Marker { part, offset } => {
                write!(
                    f,
                    "the {part} would not split back into the same: byte {offset} of it is read as something else"
                )
            }
            JoinError::NotWritten(channel) => write!(f, "the dialect does not say how {channel} is written"),
            JoinError::Unbreakable(marker) => write!(f, "nothing can break the marker {marker:?}"),
            JoinError::NoSuchStart => Error::NoSuchStart.fmt(f),
            JoinError::OutOfMemory => Error::OutOfMemory.fmt(f),
        }
    }
}

impl std::error::Error for JoinError {}

impl From<TryReserveError> for JoinError {
    fn from(_: TryReserveError) -> JoinError {
        JoinError::OutOfMemory
    }
}

impl From<Error> for JoinError {
    fn from(error: Error) -> JoinError {
        if error == Error::NoSuchStart { JoinError::NoSuchStart } else { JoinError::OutOfMemory }
    }
}

/// The text that splits into this thinking and this content: one block of thinking with the markers and the framing of
/// the dialect, then the content. Without thinking there is no block, unless the text starts inside one. Both parts may
/// be any bytes.
///
/// The property, which the scanner itself is asked for before the text is given away: from `options.start`, the text's
/// thinking is `thinking` and its content is `content`, byte for byte, and there is nothing else in it. Parts for which
/// this cannot be are an error or escaped, as `options.markers` says. Escaping changes a part only where it must; then it
/// breaks all markers in it as `escape` does. Where even that is not enough, U+200B stands before and behind the part,
/// and thinking in a code fence gets its lines of fences broken and a line end. Time is linear.
///
/// ```
/// use aside::{Dialect, JoinError, JoinOptions, OnMarker, join};
///
/// let dialect = Dialect::find("qwen3")?;
/// let text = join(&dialect, b"Twice 21.", b"It is 42.", &JoinOptions::default())?;
/// assert_eq!(text, b"<think>\nTwice 21.\n</think>\n\nIt is 42.");
///
/// let trap = b"It says </think> here.";
/// let error = join(&dialect, trap, b"", &JoinOptions::default()).unwrap_err();
/// assert_eq!(error, JoinError::Marker { part: aside::Channel::Thinking, offset: 8 });
/// let escape = JoinOptions { markers: OnMarker::Escape, ..JoinOptions::default() };
/// let text = join(&dialect, trap, b"", &escape)?;
/// assert_eq!(text, "<think>\nIt says <\u{200b}/think> here.\n</think>\n\n".as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn join(dialect: &Dialect, thinking: &[u8], content: &[u8], options: &JoinOptions) -> Result<Vec<u8>, JoinError> {
    let compiled = &*dialect.compiled;
    let start = options.start.unwrap_or(dialect.start());
    let mut scanner = Scanner::with_options(dialect, &Options { start: Some(start), ..Options::default() })?;
    let text = Joined::new(compiled, start, thinking, content)?;
    let Some(fault) = text.fault(&mut scanner)? else { return Ok(text.bytes) };
    if options.markers == OnMarker::Refuse {
        return Err(fault.into());
    }
    // The part with the fault alone, then both, then both between characters that nothing joins with.
    let first = [fault.part == Channel::Thinking, fault.part == Channel::Content];
    for (escaped, padded) in [(first, false), ([true; 2], false), ([true; 2], true)] {
        let thinking = safe_if(escaped[0], compiled, Channel::Thinking, thinking, padded)?;
        let content = safe_if(escaped[1], compiled, Channel::Content, content, padded)?;
        let text = Joined::new(compiled, start, &thinking, &content)?;
        if text.fault(&mut scanner)?.is_none() {
            return Ok(text.bytes);
        }
    }
    Err(fault.into())
}

/// A text without the dialect's markers, for a prompt that a user's text goes into: behind the first character of each
/// one, those where a turn begins among them, stands U+200B (zero width space), so that it reads the same and is no marker.
/// One that counts at the first byte of a stream alone gets it in front, where the text begins with it. Nothing else
/// changes; a text that was escaped is not changed again. Any bytes will do; time is linear. Special tokens that the
/// dialect does not name are the host's to keep out.
///
/// What a marker is does not depend on what is around it: opening and closing tags are broken wherever they stand. Of a
/// dialect with fences, the line that opens is a marker, a bare fence line is none. Escape a text whole: a marker that
/// is put together from two texts is seen in neither.
///
/// ```
/// let dialect = aside::Dialect::find("qwen3")?;
/// assert_eq!(aside::escape(&dialect, b"a < b, <think>")?, "a < b, <\u{200b}think>".as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn escape(dialect: &Dialect, text: &[u8]) -> Result<Vec<u8>, JoinError> {
    escape_in(&dialect.compiled, text)
}

fn escape_in(compiled: &Compiled, text: &[u8]) -> Result<Vec<u8>, JoinError> {
    let markers = &compiled.markers;
    if let Some(marker) = &markers.unbreakable {
        return Err(JoinError::Unbreakable(marker.clone()));
    }
    let mut may_begin = [false; 256];
    for literal in &markers.literals {
        may_begin[usize::from(literal[0])] = true;
        may_begin[usize::from(literal[0].to_ascii_uppercase())] |= compiled.grammar.fold;
    }
    may_begin[usize::from(b'<')] |= !markers.names.is_empty();

    let mut out = Vec::new();
    out.try_reserve_exact(text.len())?;
    if markers.first.iter().any(|marker| begins(compiled, marker, text)) {
        push_break(&mut out)?;
    }
    let (mut done, mut from) = (0, 0);
    while let Some(at) = text[from..].iter().position(|&byte| may_begin[usize::from(byte)]).map(|at| from + at) {
        from = at + 1;
        let rest = &text[at..];
        let literal = markers.literals.iter().find(|marker| begins(compiled, marker, rest));
        if literal.is_some() || begins_tag(compiled, rest) {
            let len = literal.map_or(1, |marker| first_character(marker));
            append(&mut out, &text[done..at + len])?;
            push_break(&mut out)?;
            done = at + len;
        }
    }
    append(&mut out, &text[done..])?;
    Ok(out)
}

fn begins(compiled: &Compiled, marker: &[u8], text: &[u8]) -> bool {
    text.get(..marker.len()).is_some_and(|begin| same(compiled.grammar.fold, begin, marker))
}

/// Bytes of a marker's first character.
fn first_character(marker: &[u8]) -> usize {
    1 + marker[1..].iter().take_while(|&&byte| is_continuation(byte)).count()
}

/// Does a tag of a known name begin here? Whether it ends does not matter.
fn begins_tag(compiled: &Compiled, text: &[u8]) -> bool {
    let Some(mut rest) = text.strip_prefix(b"<") else { return false };
    let skip_space = |text: &mut &[u8]| {
        let most = text.len().min(compiled.grammar.tag.space as usize);
        let space = text[..most].iter().take_while(|&&byte| is_tag_space(byte)).count();
        *text = &text[space..];
    };
    skip_space(&mut rest);
    if let Some(behind) = rest.strip_prefix(b"/") {
        rest = behind;
        skip_space(&mut rest);
    }
    compiled.markers.names.iter().any(|name| {
        begins(compiled, name, rest)
            && rest.get(name.len()).is_some_and(|&next| is_tag_space(next) || b">/:".contains(&next))
    })
}

fn safe_if<'a>(
    escaped: bool,
    compiled: &Compiled,
    channel: Channel,
    text: &'a [u8],
    padded: bool,
) -> Result<Cow<'a, [u8]>, JoinError> {
    // Nothing to escape, and padding would make a text of no text.
    if !escaped || text.is_empty() {
        return Ok(Cow::Borrowed(text));
    }
    safe(compiled, channel, text, padded).map(Cow::Owned)
}

/// A part that holds no marker. `padded`: nor anything that could be one with what stands around it.
fn safe(compiled: &Compiled, channel: Channel, text: &[u8], padded: bool) -> Result<Vec<u8>, JoinError> {
    let mut out = Vec::new();
    if padded {
        push_break(&mut out)?;
    }
    append(&mut out, &escape_in(compiled, text)?)?;
    if padded {
        push_break(&mut out)?;
    }
    if channel != Channel::Thinking {
        return Ok(out);
    }
    // Where the thinking was open at the start, a fence's closer ends it however it is written.
    if compiled.grammar.regions.iter().any(|region| region.fence_close.is_some()) {
        out = without_fences(&out)?;
    }
    if compiled.templates.thinking.as_ref().is_some_and(|it| it.is_fence) && !out.ends_with(b"\n") {
        append(&mut out, b"\n")?;
    }
    Ok(out)
}

/// The text with each line of a code fence broken behind the first character of its run.
fn without_fences(text: &[u8]) -> Result<Vec<u8>, JoinError> {
    let mut out = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let run = line.iter().position(|&byte| byte != b' ').unwrap_or(0);
        let is_fence = line[run..].starts_with(b"```") || line[run..].starts_with(b"~~~");
        let at = if is_fence { run + 1 } else { 0 };
        append(&mut out, &line[..at])?;
        if is_fence {
            push_break(&mut out)?;
        }
        append(&mut out, &line[at..])?;
    }
    Ok(out)
}

fn append(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), JoinError> {
    out.try_reserve(bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

fn push_break(out: &mut Vec<u8>) -> Result<(), JoinError> {
    append(out, BREAK.encode_utf8(&mut [0; 4]).as_bytes())
}

/// A text, and where in it the parts stand.
struct Joined {
    bytes: Vec<u8>,
    thinking: Range<usize>,
    content: Range<usize>,
}

/// The first byte that is read as something else than what it was written for.
struct Fault {
    part: Channel,
    offset: usize,
}

impl From<Fault> for JoinError {
    fn from(Fault { part, offset }: Fault) -> JoinError {
        JoinError::Marker { part, offset }
    }
}

impl Joined {
    fn new(compiled: &Compiled, start: Start, thinking: &[u8], content: &[u8]) -> Result<Joined, JoinError> {
        let is_inside = match start {
            Start::Channel(Channel::Thinking) => true,
            Start::Channel(Channel::Content) | Start::Header => false,
            Start::Channel(other) => return Err(JoinError::NotWritten(other)),
        };
        let templates = &compiled.templates;
        let mut bytes = Vec::new();
        let mut place = 0..0;
        if is_inside || !thinking.is_empty() {
            let block = templates.thinking.as_ref().ok_or(JoinError::NotWritten(Channel::Thinking))?;
            if !is_inside {
                append(&mut bytes, &block.open)?;
            }
            place = bytes.len()..bytes.len() + thinking.len();
            append(&mut bytes, thinking)?;
            append(&mut bytes, &block.close)?;
        }
        // Text outside of all messages is content too, but no model writes it so.
        let block = templates.content.as_ref().filter(|_| !content.is_empty());
        append(&mut bytes, block.map_or(b"", |block| &block.open))?;
        let content_at = bytes.len();
        append(&mut bytes, content)?;
        append(&mut bytes, block.map_or(b"", |block| &block.close))?;
        Ok(Joined { bytes, thinking: place, content: content_at..content_at + content.len() })
    }

    /// Reads the text as a host would.
    fn fault(&self, scanner: &mut Scanner) -> Result<Option<Fault>, JoinError> {
        let mut wrong = None;
        let mut look = |event: crate::Event<'_>| {
            if wrong.is_none() && !event.bytes.is_empty() {
                let from = event.offset as usize;
                let channel = if event.kind == Kind::Text { Some(event.channel) } else { None };
                wrong = self.misread(from..from + event.bytes.len(), channel);
            }
        };
        scanner.feed(&self.bytes, &mut look)?;
        scanner.finish(&mut look)?;
        Ok(wrong.map(|at| {
            let is_thinking = at < self.content.start;
            let (part, range) = match is_thinking {
                true => (Channel::Thinking, &self.thinking),
                false => (Channel::Content, &self.content),
            };
            Fault { part, offset: at.clamp(range.start, range.end) - range.start }
        }))
    }

    /// Where a stretch is not what it was written for: text of that channel, or a marker where there is none.
    fn misread(&self, read: Range<usize>, channel: Option<Channel>) -> Option<usize> {
        let parts = [(Channel::Thinking, &self.thinking), (Channel::Content, &self.content)];
        let written = parts.into_iter().find(|(_, part)| part.contains(&read.start));
        if written.map(|(channel, _)| channel) != channel {
            return Some(read.start);
        }
        let end = match written {
            Some((_, part)) => part.end,
            None => {
                let next = parts.into_iter().filter(|(_, part)| !part.is_empty() && part.start > read.start);
                next.map(|(_, part)| part.start).min().unwrap_or(self.bytes.len())
            }
        };
        (read.end > end).then_some(end)
    }
}
