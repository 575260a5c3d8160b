//! Describes the faults of a TOML file: the line, the key, and the correct form. Files may be hostile, so every error takes time
//! linear in the file, has bounded length, and contains no control characters that would control a terminal.

use std::{borrow::Cow, fmt, ops::Range};

use serde::de::DeserializeOwned;

mod advice;
mod values;

/// The maximum number of bytes of a name or literal that a message quotes.
const LONGEST_QUOTE: usize = 200;
/// The maximum number of bytes of a key, its table included.
const LONGEST_KEY: usize = 256;
/// The maximum number of bytes of a message.
const LONGEST_MESSAGE: usize = 4096;

/// The reason why a dialect file or a filter file cannot be used.
///
/// ```
/// let error = aside::Dialect::load("name = 3").unwrap_err();
/// assert_eq!((error.line(), error.key()), (Some(1), "name"));
/// assert_eq!(error.to_string(), format!("line 1, name: {}", error.message()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    line: Option<usize>,
    key: String,
    message: String,
}

/// Returns a file's text with LF at the ends of its lines, so that strings of several lines are the same if the file was checked
/// out with CR LF.
pub(crate) fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// Reads a file into a `T`, which refuses unknown keys.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, FileError> {
    values::read(text).map_err(|error| {
        if is_path(text) {
            return FileError::at(text, None, format!("{} looks like a path: pass the text of the file", quoted(text)));
        }
        FileError::of_values::<T>(text, error)
    })
}

/// Returns whether a text looks like the path of a file, and not like TOML.
fn is_path(text: &str) -> bool {
    !text.contains(['\n', '=', '[', '#']) && (text.ends_with(".toml") || text.contains(['/', '\\']))
}

impl FileError {
    /// Returns the line of the file, counted from 1. `None` if the whole file is at fault.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns the key with its table, such as `span.open` or `rule.drop`. It is empty if the fault does not concern a key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the message, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Describes a fault. `span` is in bytes of the file.
    pub(crate) fn at(text: &str, span: Option<Range<usize>>, message: impl Into<String>) -> FileError {
        let place = span.map(|span| Location::of(text, span.start));
        let line = place.as_ref().map(|place| place.line);
        let key = place.map(|place| place.path()).unwrap_or_default();
        FileError { line, key, message: shown(&message.into(), LONGEST_MESSAGE) }
    }

    /// Describes a fault of a key in a file that is not TOML.
    pub(crate) fn of_key(key: &str, message: impl Into<String>) -> FileError {
        FileError { line: None, key: shown(key, LONGEST_KEY), message: shown(&message.into(), LONGEST_MESSAGE) }
    }

    /// Sets the line of a fault of a key.
    pub(crate) fn on_line(mut self, line: usize) -> FileError {
        self.line = Some(line);
        self
    }

    /// Describes the fault that was found in the values of the file.
    fn of_values<T: DeserializeOwned>(text: &str, error: values::Error) -> FileError {
        let values::Error { message, span } = error;
        if message == TOO_DEEP {
            return FileError::at(text, too_deep(text), "a key has too many parts");
        }
        if let Some(key) = advice::missing(&message)
            && span.as_ref().is_none_or(|span| span.start == 0)
            && advice::keys::<T>("").contains(&key)
        {
            return FileError::at(text, None, format!("the file has no {}", quoted(&key)));
        }
        let Some(span) = span else { return FileError::at(text, None, message) };
        let place = Location::of(text, span.start);
        let value = text.get(span.clone()).unwrap_or_default();
        let better = advice::of::<T>(&place, value, &message);
        FileError::at(text, Some(span), better.unwrap_or(message))
    }
}

impl std::error::Error for FileError {}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}, ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// Returns a text in the form for messages: between backticks, and cut to a bounded length.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", cut(text, LONGEST_QUOTE))
}

/// Returns the beginning of a text, cut between two characters, with an ellipsis if the text is longer.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let end = (0..=most).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}…", &text[..end]).into()
}

/// Returns the text without control characters other than line ends and tabs, cut to a bounded length: errors are read on
/// terminals.
fn shown(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for character in cut(text, most).chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            _ if character.is_control() => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    cut(&shown, most).into_owned()
}

/// The TOML library's message for a key with too many dots, without its place.
const TOO_DEEP: &str = "recursion limit";
/// The number of dots in the shortest such key.
const MOST_DOTS: usize = 80;

/// Returns the place of the first such key. Everything else in the file is well formed, so no value has as many dots.
fn too_deep(text: &str) -> Option<Range<usize>> {
    let mut dots = 0;
    for (at, byte) in BareBytes::new(text) {
        match byte {
            b'.' => dots += 1,
            b'=' | b',' | b'[' | b']' | b'{' | b'}' | b'\n' => dots = 0,
            _ => {}
        }
        if dots == MOST_DOTS {
            return Some(at..at);
        }
    }
    None
}

/// The place of a byte of the file.
struct Location<'a> {
    /// Counted from 1.
    line: usize,
    /// The table's name, without brackets.
    table: &'a str,
    /// The last key that begins at or before the byte.
    key: &'a str,
    /// The last line at or before the byte that does not begin inside a string, without its comment.
    row: &'a str,
    /// The first line of the file that names a table.
    first_header: &'a str,
}

impl<'a> Location<'a> {
    fn of(text: &'a str, at: usize) -> Location<'a> {
        let at = at.min(text.len());
        let line = text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let mut place = Location { line, table: "", key: "", row: "", first_header: "" };
        for row in rows(text, at) {
            let row = row.split('#').next().unwrap_or_default().trim();
            place.row = row;
            if let Some(header) = row.strip_prefix('[').filter(|_| row.ends_with(']') && !row.contains('"')) {
                place.table = header.trim_matches(['[', ']', ' ']);
                place.key = "";
                if place.first_header.is_empty() {
                    place.first_header = row;
                }
            } else if let Some((name, _)) = row.split_once('=').filter(|(name, _)| is_key(name.trim())) {
                place.key = name.trim();
            }
        }
        place
    }

    /// Returns the key with its table: `span.open`.
    fn path(&self) -> String {
        let (table, key) = (cut(self.table, LONGEST_KEY), cut(self.key, LONGEST_KEY));
        let dot = if table.is_empty() || key.is_empty() { "" } else { "." };
        shown(&format!("{table}{dot}{key}"), LONGEST_KEY)
    }
}

/// Returns the lines of the file that do not begin inside a string, up to the line with the byte.
fn rows(text: &str, at: usize) -> impl Iterator<Item = &str> {
    let ends = BareBytes::new(text).filter(|&(_, byte)| byte == b'\n');
    let starts = std::iter::once(0).chain(ends.map(|(end, _)| end + 1));
    starts.take_while(move |&start| start <= at).map(|start| text[start..].lines().next().unwrap_or_default())
}

fn is_key(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// The bytes of a TOML file outside strings and comments, each with its offset. The file may be faulty: a string of one line ends
/// with its line at the latest.
struct BareBytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BareBytes<'a> {
    fn new(text: &'a str) -> BareBytes<'a> {
        BareBytes { bytes: text.as_bytes(), at: 0 }
    }

    /// Skips to the end of the string that begins here with this quote. No byte is examined more than a few times.
    fn skip_string(&mut self, quote: u8) {
        let run = |at: usize| self.bytes[at..].iter().take(5).take_while(|&&byte| byte == quote).count();
        let is_long = run(self.at) >= 3;
        let mut at = self.at + if is_long { 3 } else { 1 };
        while let Some(&byte) = self.bytes.get(at) {
            at += match byte {
                b'\n' if !is_long => break,
                b'\\' if quote == b'"' => {
                    // An escaped line end also ends a string of one line.
                    if !is_long && self.bytes.get(at + 1) == Some(&b'\n') { 1 } else { 2 }
                }
                _ if byte != quote => 1,
                _ if !is_long => {
                    at += 1;
                    break;
                }
                // A text may itself end with one or two quotes.
                _ => match run(at) {
                    quotes @ 3.. => {
                        at += quotes;
                        break;
                    }
                    quotes => quotes,
                },
            };
        }
        self.at = at.min(self.bytes.len());
    }
}

impl Iterator for BareBytes<'_> {
    type Item = (usize, u8);

    fn next(&mut self) -> Option<(usize, u8)> {
        loop {
            let at = self.at;
            match *self.bytes.get(at)? {
                quote @ (b'"' | b'\'') => self.skip_string(quote),
                b'#' => {
                    let rest = &self.bytes[at..];
                    self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                }
                byte => {
                    self.at += 1;
                    return Some((at, byte));
                }
            }
        }
    }
}

/// Lists names as in a sentence, with `word` before the last one: `a`, `b` and `c`.
pub(crate) fn listed(names: &[impl AsRef<str>], word: &str) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {word} {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
