//! Machine formats. Texts in these formats are never shortened, because the program that reads them needs the whole text: half of
//! a JSON text is useless.

use serde::de::IgnoredAny;

use crate::compress::text::{bytes::is_blank, marker::Marker};

/// A machine format, which protects its text from filters. A filter file that may change such a text names the format: `accepts =
/// ["ndjson"]`.
///
/// ```
/// use aside::compress::Format;
///
/// assert_eq!(Format::of(b"{\"a\": 1}\n{\"a\": 2}\n"), Some(Format::Ndjson));
/// assert_eq!(Format::of(b"two tests failed\n"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// A JSON object or array, and nothing after it.
    Json,
    /// A JSON object or array on each line.
    Ndjson,
    /// Front matter or a YAML document: `---`, and then a line with a `key:` or of a list.
    FrontMatter,
    /// `[section]` or `[[table]]`, and soon after it a `key = value` or another section. A log's level, a date, a path, a note such as
    /// `[File: x (94 lines)]`, and a marker do not count as the name of a section.
    Section,
    /// `<?xml` at the beginning and `>` at the end.
    Xml,
    /// At least 5 lines of at least 3 columns, the same number in each, without ESC.
    Csv,
}

/// Returns whether a text is in a machine format, and so stays unchanged.
///
/// ```
/// assert!(aside::compress::is_protected(b" {\"a\": [1, 2]} "));
/// assert!(aside::compress::is_protected(b"[section]\nkey = 1\n"));
/// assert!(!aside::compress::is_protected(b"[INFO]\nscanning\n"));
/// assert!(!aside::compress::is_protected(b"{\"a\": 1"));
/// ```
#[must_use]
pub fn is_protected(text: &[u8]) -> bool {
    Format::of(text).is_some()
}

impl Format {
    /// Returns the machine format of a text, if it has one. Takes time linear in the text, and does not recurse.
    #[must_use]
    pub fn of(text: &[u8]) -> Option<Format> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii();
        match text.first()? {
            b'{' if is_json(text) => Some(Format::Json),
            b'{' => is_ndjson(text).then_some(Format::Ndjson),
            b'[' if is_json(text) => Some(Format::Json),
            b'[' if is_section(text) => Some(Format::Section),
            b'[' if is_ndjson(text) => Some(Format::Ndjson),
            b'-' if is_front_matter(text) => Some(Format::FrontMatter),
            b'<' if text.starts_with(b"<?xml") && text.ends_with(b">") => Some(Format::Xml),
            _ => is_csv(text).then_some(Format::Csv),
        }
    }
}

/// Returns whether a text with this beginning may be in a machine format.
pub fn may_be_protected(beginning: &[u8]) -> bool {
    let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning).trim_ascii_start();
    let whole_lines = memchr::memrchr(b'\n', text).map_or(text, |end| &text[..=end]);
    let opens = matches!(text.first(), Some(b'{' | b'['));
    // The parser found no error before the end.
    opens && serde_json::from_slice::<IgnoredAny>(text).is_err_and(|error| error.is_eof())
        || text.starts_with(b"<?xml")
        || is_protected(whole_lines)
}

fn first_line(text: &[u8]) -> &[u8] {
    text[..memchr::memchr(b'\n', text).unwrap_or(text.len())].trim_ascii_end()
}

/// Returns whether the whole text is one JSON object or array. The parser keeps open brackets in a vector, so depth costs
/// memory but no stack.
fn is_json(text: &[u8]) -> bool {
    // The parser would find a missing bracket only at the end.
    let closes = match text.first() {
        Some(b'{') => text.last() == Some(&b'}'),
        Some(b'[') => text.last() == Some(&b']'),
        _ => false,
    };
    closes && serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// Returns whether each of at least two lines is a JSON object or array. Blank lines do not count.
fn is_ndjson(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let first = lines.next().is_some_and(is_json);
    first && {
        let mut rest = 0;
        lines.all(|line| {
            rest += 1;
            is_json(line)
        }) && rest > 0
    }
}

/// Returns whether the first line is `[name]` or `[[name]]`, and one of the next few lines is also such a line, or a `key =
/// value`.
fn is_section(text: &[u8]) -> bool {
    const NEAR: usize = 3;
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    if !lines.next().is_some_and(is_section_name) {
        return false;
    }
    let is_comment = |line: &[u8]| matches!(line.trim_ascii_start().first(), Some(b'#' | b';'));
    let mut near = lines.filter(|line| !is_blank(line) && !is_comment(line)).take(NEAR);
    near.any(|line| is_section_name(line) || is_assignment(line))
}

/// Returns whether the line is `[name]` or `[[name]]`, and not a log's level, a date, a path, a note (which has a colon and a
/// space) or a marker.
fn is_section_name(line: &[u8]) -> bool {
    fn inner(line: &[u8]) -> Option<&[u8]> {
        line.strip_prefix(b"[")?.strip_suffix(b"]")
    }
    const LEVELS: [&[u8]; 7] = [b"INFO", b"WARN", b"WARNING", b"ERROR", b"DEBUG", b"TRACE", b"FATAL"];
    let Some(name) = inner(line).filter(|_| Marker::parse(line).is_none()) else { return false };
    let name = inner(name).unwrap_or(name);
    let is_note = name.windows(2).any(|pair| pair == b": ");
    let is_date =
        !name.iter().any(u8::is_ascii_alphabetic) || name.len() > 4 && name[..4].iter().all(u8::is_ascii_digit);
    !is_blank(name) && !is_note && !is_date && !name.iter().any(|byte| b"[]/".contains(byte)) && !LEVELS.contains(&name)
}

/// Returns whether the line is `key = value`: the key is one word, or words in quotes.
fn is_assignment(line: &[u8]) -> bool {
    let Some(sign) = memchr::memchr(b'=', line) else { return false };
    let key = line[..sign].trim_ascii();
    let is_of_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\"'".contains(byte) || !byte.is_ascii();
    !key.is_empty() && key.iter().all(is_of_key)
}

/// Returns whether the text is `---`, and then a line with a `key:` or an item of a list.
fn is_front_matter(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    if lines.next() != Some(b"---") {
        return false;
    }
    let is_comment = |line: &[u8]| line.trim_ascii_start().starts_with(b"#");
    lines.find(|line| !is_blank(line) && !is_comment(line)).is_some_and(|line| {
        let line = line.trim_ascii_start();
        let key = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.\"'".contains(byte)).count();
        let rest = &line[key..];
        line.starts_with(b"- ") || key > 0 && (rest == b":" || rest.starts_with(b": "))
    })
}

/// Returns whether every line has the same number of columns. Commas and line ends in quotes do not count. A text with colours
/// is not CSV: their control sequences contain semicolons.
fn is_csv(text: &[u8]) -> bool {
    [b',', b'\t', b';'].into_iter().any(|separator| has_columns(text, separator))
        && memchr::memchr(0x1b, text).is_none()
}

fn has_columns(text: &[u8], separator: u8) -> bool {
    // For most texts, the first line already shows that they are not CSV.
    if memchr::memchr_iter(separator, first_line(text)).count() < 2 {
        return false;
    }
    let (mut rows, mut columns, mut expected) = (0, 1, 0);
    let mut quoted = false;
    let mut at = 0;
    while let Some(found) = memchr::memchr3(separator, b'\n', b'"', &text[at..]) {
        at += found + 1;
        match text[at - 1] {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => {
                if rows > 0 && columns != expected {
                    return false;
                }
                (rows, expected, columns) = (rows + 1, columns, 1);
            }
            byte if byte == separator && !quoted => columns += 1,
            _ => {}
        }
    }
    !quoted && rows + 1 >= 5 && expected >= 3 && columns == expected
}
