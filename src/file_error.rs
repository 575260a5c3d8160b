//! What is wrong with a TOML file, by line and key.

use alloc::{format, string::String, vec::Vec};
use core::{fmt, ops::Range};

use toml::de::DeTable;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// Counted from 1.
    pub line: Option<usize>,
    /// With its table; empty where the fault is in no key.
    pub key: String,
    pub message: String,
}

impl FileError {
    /// Of a file that is no TOML, or not of the shape asked for.
    pub fn read(text: &str, error: &toml::de::Error) -> FileError {
        if error.message() == TOO_DEEP {
            return FileError::at(text, too_deep(text), "a key has too many parts");
        }
        FileError::at(text, error.span(), error.message())
    }

    /// `span`: bytes of the file.
    pub fn at(text: &str, span: Option<Range<usize>>, message: impl Into<String>) -> FileError {
        let (line, key) = span.map(|span| place(text, span.start)).unzip();
        FileError { line, key: shown(&key.unwrap_or_default()), message: shown(&message.into()) }
    }
}

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

/// What a file says may be anybody's, and errors are read on terminals.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            _ if character.is_control() => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    shown
}

/// What toml says of a key with too many dots, and not where.
const TOO_DEEP: &str = "recursion limit";

/// The end of the first row behind which the file has such a key.
fn too_deep(text: &str) -> Option<Range<usize>> {
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).chain([text.len()]).collect();
    let errors = |end: usize| DeTable::parse_recoverable(&text[..end]).1;
    let first = ends.partition_point(|&end| errors(end).iter().all(|error| error.message() != TOO_DEEP));
    ends.get(first).map(|&end| end..end)
}

/// The line of a byte of the file, and the key that it belongs to: the last one begun at or before it.
fn place(text: &str, at: usize) -> (usize, String) {
    let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let line = text[..at].bytes().filter(|&byte| byte == b'\n').count() + 1;
    let mut table = "";
    let mut key = "";
    let mut open: &[u8] = b"";
    for row in text.lines().take(line) {
        let is_inside = !open.is_empty();
        open = open_behind(row.as_bytes(), open);
        if is_inside {
            continue;
        }
        let row = row.split('#').next().unwrap_or_default().trim();
        if let Some(header) = row.strip_prefix('[').filter(|_| row.ends_with(']') && !row.contains('"')) {
            table = header.trim_matches(['[', ']', ' ']);
            key = "";
        } else if let Some((name, _)) = row.split_once('=').filter(|(name, _)| is_key(name.trim())) {
            key = name.trim();
        }
    }
    let path = if table.is_empty() || key.is_empty() { format!("{table}{key}") } else { format!("{table}.{key}") };
    (line, path)
}

/// The quotes of a text that goes on in the next row, empty where none does; `open`: of the one this row begins in.
fn open_behind<'a>(mut row: &'a [u8], mut open: &'a [u8]) -> &'a [u8] {
    while let Some(&byte) = row.first() {
        let quotes = row.iter().take_while(|&&next| next == byte).count();
        let step = match byte {
            b'#' if open.is_empty() => break,
            b'"' | b'\'' if open.is_empty() => {
                open = &row[..if quotes < 3 { 1 } else { 3 }];
                open.len()
            }
            // A text may end with quotes of its own.
            _ if !open.is_empty() && row.starts_with(open) => {
                open = b"";
                quotes
            }
            b'\\' if open.starts_with(b"\"") => 2,
            _ => 1,
        };
        row = &row[step.min(row.len())..];
    }
    if open.len() == 3 { open } else { b"" }
}

fn is_key(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
