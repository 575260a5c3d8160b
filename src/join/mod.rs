//! The opposite of splitting: writes thinking, content and calls as a model of the dialect does, and breaks the markers in a
//! text. A text is returned only after the scanner has checked that it splits back into its parts.

mod call;
mod error;
mod text;
mod value;

use std::{borrow::Cow, ops::Range};

use crate::calls::{
    head,
    view::{Decision, View},
};
use crate::channel::{Channel, Start};
use crate::dialect::{BREAK, Dialect, compiled::Compiled};
use crate::matcher::bytes::{is_blank, is_tag_space, same};
use crate::memory::{OutOfMemory, append};
use crate::scanner::{Scanner, ScannerOptions};
use crate::utf8::is_continuation;
pub use call::JoinCall;
pub(crate) use call::{layout, tables};
pub use error::{CallFault, CallPart, JoinError};
use text::{Role, Text};
pub(crate) use value::{is_bare as is_bare_key, type_word};

/// Options of [`Dialect::join`].
///
/// ```
/// use aside::{Channel, Dialect, JoinOptions, Markers, Start};
///
/// let options = JoinOptions::new().start(Start::Channel(Channel::Thinking)).markers(Markers::Escape);
/// let text = Dialect::find("qwen3")?.join("Twice 21.", "It is 42.", &options)?;
/// assert_eq!(text, b"Twice 21.\n</think>\n\nIt is 42.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "options change nothing until they are given to `join`"]
pub struct JoinOptions<'a> {
    pub(crate) calls: &'a [JoinCall<'a>],
    pub(crate) start: Option<Start>,
    pub(crate) markers: Markers,
}

impl<'a> JoinOptions<'a> {
    /// Returns the default options.
    pub fn new() -> JoinOptions<'a> {
        JoinOptions::default()
    }

    /// Sets the tool calls after the content, for a host that writes a model's earlier turn into a prompt itself.
    ///
    /// Calls are written in the form of the dialect's first table of calls, between an opener and a closer, and without
    /// optional white space. If calls of that form have no end marker, each gets an opener and a closer. An id is written if
    /// the dialect has a place for ids; if it requires one and the call has none, the call's number is used. Calls that need no
    /// opener (`bare`) are not written, because after other text they would be text.
    ///
    /// The scanner checks the calls too: names, ids, keys and values are read back unchanged. In some dialects strings and
    /// numbers look alike; an [`Answer`](crate::answer::Answer) with the tools' schemas then restores the same
    /// arguments. Calls are never escaped, and a value is refused if it contains the text of its closer and then more of a
    /// call.
    ///
    /// ```
    /// use aside::{CallFault, CallPart, Dialect, JoinCall, JoinError, JoinOptions};
    ///
    /// let dialect = Dialect::load(
    ///     r#"
    ///     name = "mine"
    ///     [[span]]
    ///     channel = "tool"
    ///     open = ["<tool_call>"]
    ///     close = ["</tool_call>"]
    ///     [[span.call]]
    ///     body = "tags"
    ///     begin = "<function="
    ///     name_end = [">"]
    ///     key = ["<parameter=", ">"]
    ///     value = ["", "</parameter>"]
    ///     end = "</function>"
    ///     "#,
    /// )?;
    /// let call = JoinCall::new("add", r#"{"a": 1, "note": "x \u003c y"}"#);
    /// let text = dialect.join("", "Adding.", &JoinOptions::new().calls(&[call]))?;
    /// let wanted = "Adding.<tool_call><function=add><parameter=a>1</parameter><parameter=note>x < y</parameter>\
    ///     </function></tool_call>";
    /// assert_eq!(String::from_utf8(text)?, wanted);
    ///
    /// let call = JoinCall::new("add", r#"{"note": "a </parameter></function> b"}"#);
    /// let error = dialect.join("", "", &JoinOptions::new().calls(&[call])).unwrap_err();
    /// let fault = CallFault::Closer { offset: 2 };
    /// assert_eq!(error, JoinError::Call { call: 0, part: CallPart::Value("note".into()), fault });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn calls(self, calls: &'a [JoinCall<'a>]) -> JoinOptions<'a> {
        JoinOptions { calls, ..self }
    }

    /// Sets the span that is open at the beginning of the text, both for joining and for the later splitting. With `None`, the
    /// dialect decides.
    ///
    /// For a start in `Thinking`, no opener is written. A text with a start in `Narration` or `Tool` cannot be joined.
    pub fn start(self, start: impl Into<Option<Start>>) -> JoinOptions<'a> {
        JoinOptions { start: start.into(), ..self }
    }

    /// Sets the treatment of a part with bytes that would be read as a marker.
    pub fn markers(self, markers: Markers) -> JoinOptions<'a> {
        JoinOptions { markers, ..self }
    }
}

/// The treatment of a part that would not split back into the same text.
///
/// ```
/// use aside::{Dialect, JoinOptions, Markers};
///
/// let qwen3 = Dialect::find("qwen3")?;
/// assert!(qwen3.join("", "<think> is a tag.", &JoinOptions::new().markers(Markers::Refuse)).is_err());
/// assert!(qwen3.join("", "<think> is a tag.", &JoinOptions::new().markers(Markers::Escape)).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Markers {
    /// Return an error.
    #[default]
    Refuse,
    /// Break every marker in the part, as [`Dialect::escape`] does. The text then splits back into the escaped part.
    Escape,
}

impl Dialect {
    /// Returns the text that splits into this thinking and this content: one block of thinking with the markers and the framing
    /// of the dialect, then the content. Without thinking, there is no thinking block, unless the text starts inside one. Both
    /// parts may be any bytes.
    ///
    /// Before the text is returned, the scanner itself checks it: with the start of the options, the text's thinking must be
    /// `thinking` and its content `content`, byte for byte, and there must be nothing else. If they differ,
    /// [`JoinOptions::markers`] decides between an error and escaping. Only parts that need it are escaped, and then all markers
    /// in them are broken as by [`escape`](Dialect::escape). If the text is still read differently, U+200B is put before and
    /// after each part. In a dialect with fences, lines of fences are then broken too, and thinking in a fence gets a line end.
    /// Time is linear.
    ///
    /// ```
    /// use aside::{Channel, Dialect, JoinError, JoinOptions, Markers};
    ///
    /// let qwen3 = Dialect::find("qwen3")?;
    /// let text = qwen3.join("Twice 21.", "It is 42.", &JoinOptions::new())?;
    /// assert_eq!(text, b"<think>\nTwice 21.\n</think>\n\nIt is 42.");
    ///
    /// let trap = "It says </think> here.";
    /// let error = qwen3.join(trap, "", &JoinOptions::new()).unwrap_err();
    /// assert_eq!(error, JoinError::Marker { part: Channel::Thinking, offset: 8 });
    /// let text = qwen3.join(trap, "", &JoinOptions::new().markers(Markers::Escape))?;
    /// assert_eq!(text, "<think>\nIt says <\u{200b}/think> here.\n</think>\n\n".as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Any [`JoinError`].
    #[doc(alias = "aside_join")]
    #[inline]
    pub fn join(
        &self,
        thinking: impl AsRef<[u8]>,
        content: impl AsRef<[u8]>,
        options: &JoinOptions<'_>,
    ) -> Result<Vec<u8>, JoinError> {
        join(self, thinking.as_ref(), content.as_ref(), options)
    }

    /// Breaks the dialect's markers in a text, so that a user's text can be put into a prompt. After the first character of each
    /// marker, including markers that begin a turn, U+200B (zero width space) is inserted: the text looks the same but is not a
    /// marker. If a marker counts only at the first byte of a stream, the character is inserted before the marker.
    ///
    /// Nothing else changes, and escaping a text again does not change it. The text may be any bytes; time is linear. The host must
    /// remove special tokens that the dialect does not name.
    ///
    /// Escape a text as a whole: a marker that is cut in two is not recognised in either half. Markers are recognised without
    /// their context: opening and closing tags are broken everywhere. In a dialect with fences, the line that opens a fence is
    /// a marker; a bare fence line is not.
    ///
    /// ```
    /// let dialect = aside::Dialect::find("qwen3")?;
    /// assert_eq!(dialect.escape("a < b, <think>")?, "a < b, <\u{200b}think>".as_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`JoinError::Unbreakable`] if the dialect has a marker that cannot be broken, and [`JoinError::OutOfMemory`].
    #[doc(alias = "aside_escape")]
    #[inline]
    pub fn escape(&self, text: impl AsRef<[u8]>) -> Result<Vec<u8>, JoinError> {
        escape(&self.compiled, text.as_ref())
    }
}

fn join(dialect: &Dialect, thinking: &[u8], content: &[u8], options: &JoinOptions<'_>) -> Result<Vec<u8>, JoinError> {
    let compiled = &*dialect.compiled;
    let calls = call::write(dialect, options.calls)?;
    let start = options.start.unwrap_or(dialect.start());
    let mut scanner =
        Scanner::with_options(dialect, &ScannerOptions::new().start(start).calls(!calls.bytes.is_empty()))?;
    let joined = JoinedText::new(compiled, start, thinking, content, &calls)?;
    let Some(fault) = joined.fault(&mut scanner)? else { return Ok(joined.text.bytes) };
    if options.markers == Markers::Refuse {
        return Err(fault.into());
    }
    // Escape first only the part with the fault, then both parts, and finally both parts with U+200B around each.
    let first = [fault.part == Channel::Thinking, fault.part == Channel::Content];
    for (escaped, padded) in [(first, false), ([true; 2], false), ([true; 2], true)] {
        let thinking = safe_if(escaped[0], compiled, Channel::Thinking, thinking, padded)?;
        let content = safe_if(escaped[1], compiled, Channel::Content, content, padded)?;
        let joined = JoinedText::new(compiled, start, &thinking, &content, &calls)?;
        if joined.fault(&mut scanner)?.is_none() {
            return Ok(joined.text.bytes);
        }
    }
    Err(fault.into())
}

fn escape(compiled: &Compiled, text: &[u8]) -> Result<Vec<u8>, JoinError> {
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
    let after_blanks = &text[text.iter().take_while(|&&byte| is_blank(byte)).count()..];
    if markers.first.iter().any(|marker| begins(compiled, marker, text))
        || markers.leading.iter().any(|marker| begins(compiled, marker, after_blanks))
        || begins_bare(compiled, text)
    {
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

/// Returns whether the text begins, perhaps after blanks, with calls that need no opener.
fn begins_bare(compiled: &Compiled, text: &[u8]) -> bool {
    let text = &text[text.iter().take_while(|&&byte| is_blank(byte)).count()..];
    let view = View { text, is_end: true, innermost: 0, closers: &|_, _| Decision::No };
    let rules = (0..).zip(&compiled.spans).filter(|(_, span)| span.bare != 0);
    let mut tables = rules.filter_map(|(rule, _)| compiled.calls(compiled.inside(rule)));
    tables.any(|tables| head::begins_bare(tables, &view) == Decision::Yes)
}

fn begins(compiled: &Compiled, marker: &[u8], text: &[u8]) -> bool {
    text.get(..marker.len()).is_some_and(|begin| same(compiled.grammar.fold, begin, marker))
}

/// Returns the number of bytes of a marker's first character.
fn first_character(marker: &[u8]) -> usize {
    1 + marker[1..].iter().take_while(|&&byte| is_continuation(byte)).count()
}

/// Returns whether the text begins with a tag of a known name, which need not be complete.
fn begins_tag(compiled: &Compiled, text: &[u8]) -> bool {
    let Some(mut rest) = text.strip_prefix(b"<") else { return false };
    let skip_space = |text: &mut &[u8]| {
        let most = text.len().min(compiled.grammar.tag.space as usize);
        let space = text[..most].iter().take_while(|&&byte| is_tag_space(byte)).count();
        *text = &text[space..];
    };
    skip_space(&mut rest);
    if let Some(after) = rest.strip_prefix(b"/") {
        rest = after;
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
    // An empty part has no markers, and with padding it would no longer be empty.
    if !escaped || text.is_empty() {
        return Ok(Cow::Borrowed(text));
    }
    safe(compiled, channel, text, padded).map(Cow::Owned)
}

/// Returns the part with its markers broken. With `padded`, the part also cannot form a marker together with the text around
/// it.
fn safe(compiled: &Compiled, channel: Channel, text: &[u8], padded: bool) -> Result<Vec<u8>, JoinError> {
    let mut out = Vec::new();
    if padded {
        push_break(&mut out)?;
    }
    append(&mut out, &escape(compiled, text)?)?;
    if padded {
        push_break(&mut out)?;
    }
    if channel != Channel::Thinking {
        return Ok(out);
    }
    // The closer of a fence ends thinking that was open at the start, even in another form of thinking.
    if compiled.grammar.regions.iter().any(|region| region.fence_close.is_some()) {
        out = without_fences(&out)?;
    }
    if compiled.templates.thinking.as_ref().is_some_and(|it| it.is_fence) && !out.ends_with(b"\n") {
        append(&mut out, b"\n")?;
    }
    Ok(out)
}

/// Returns the text with each line of a code fence broken after the first character of its run.
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

fn push_break(out: &mut Vec<u8>) -> Result<(), OutOfMemory> {
    append(out, BREAK.encode_utf8(&mut [0; 4]).as_bytes())
}

/// A text, and the ranges of its thinking and content.
struct JoinedText {
    text: Text,
    thinking: Range<usize>,
    content: Range<usize>,
}

/// The first byte whose role differs from the role in which it was written.
struct Fault {
    part: Channel,
    offset: usize,
}

impl From<Fault> for JoinError {
    fn from(Fault { part, offset }: Fault) -> JoinError {
        JoinError::Marker { part, offset }
    }
}

impl JoinedText {
    fn new(
        compiled: &Compiled,
        start: Start,
        thinking: &[u8],
        content: &[u8],
        calls: &Text,
    ) -> Result<JoinedText, JoinError> {
        let is_inside = match start {
            Start::Channel(Channel::Thinking) => true,
            Start::Channel(Channel::Content) | Start::Header | Start::Calls => false,
            Start::Channel(other) => return Err(JoinError::NotWritten(other)),
        };
        let templates = &compiled.templates;
        let mut text = Text::default();
        let mut place = 0..0;
        if is_inside || !thinking.is_empty() {
            let block = templates.thinking.as_ref().ok_or(JoinError::NotWritten(Channel::Thinking))?;
            if !is_inside {
                text.mark(&block.open)?;
            }
            place = text.part(Role::Text(Channel::Thinking), thinking)?;
            text.mark(&block.close)?;
        }
        // If the dialect has messages for content, content is written in a message: text outside messages is content too, but
        // models do not write it there.
        let block = templates.content.as_ref().filter(|_| !content.is_empty());
        text.mark(block.map_or(b"", |block| &block.open))?;
        let content = text.part(Role::Text(Channel::Content), content)?;
        text.mark(block.map_or(b"", |block| &block.close))?;
        text.append(calls)?;
        Ok(JoinedText { text, thinking: place, content })
    }

    /// Reads the text as a host would, and returns the first fault. The fault is not in the calls, which have already been checked.
    fn fault(&self, scanner: &mut Scanner) -> Result<Option<Fault>, JoinError> {
        let Some(at) = self.text.misread(scanner)? else { return Ok(None) };
        let is_thinking = at < self.content.start || self.content.is_empty() && !self.thinking.is_empty();
        let (part, range) = match is_thinking {
            true => (Channel::Thinking, &self.thinking),
            false => (Channel::Content, &self.content),
        };
        Ok(Some(Fault { part, offset: at.clamp(range.start, range.end) - range.start }))
    }
}
