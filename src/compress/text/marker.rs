//! Marker lines, which replace omitted text in a result. Only this file writes or reads markers, so every written marker can be
//! read again.
//!
//! ```text
//! marker  = "[… " ( left-out / above / elements / of-line / of-string / blob ) "]"
//! left-out = lines ", " bytes " left out" [ ", with " count " error region" / " error regions" ] [ ", of " count " record" / " records" ] [ at ]
//! elements = count " element" / " elements" ", " bytes " left out" [ at ]
//! of-string = bytes " of this string" [ at ]
//! above   = lines " as above" [ at ]
//! of-line = bytes " of this line" [ at ]
//! blob    = bytes " of " ( "base64" / "hex" ) [ at ]
//! at      = ": line " digits / ": lines " digits "-" digits / ": line " digits ":" digits "-" digits
//! lines   = "1 line" / count " lines"
//! bytes   = "1 byte" / count " bytes"
//! count   = digits in groups of three, with commas: 41, 2,310
//! ```
//!
//! A line in any other spelling is not a marker: this code must write the parsed marker as the same bytes. In JSON, `elements` is
//! a whole string (`"[… 3 elements, 90 bytes left out]"`, or the name of a member whose value is null), and `of-string` is a part
//! of a string. After a marker with a number of records, one indented line names them.

use std::fmt;

/// The omitted text that a marker line describes. The counts are exact.
///
/// ```
/// use aside::compress::Marker;
///
/// let marker = Marker::LeftOut { lines: 41, bytes: 2310, regions: 0, records: 0, at: None };
/// assert_eq!(marker.to_string(), "[… 41 lines, 2,310 bytes left out]");
/// assert_eq!(Marker::parse("[… 41 lines, 2,310 bytes left out]".as_bytes()), Some(marker));
/// assert_eq!(Marker::parse(b"[... 41 lines left out]"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Marker {
    /// Lines that were left out here, and the number of whole error regions among them.
    LeftOut {
        /// The number of lines.
        lines: usize,
        /// The number of bytes, line ends included.
        bytes: usize,
        /// The number of error regions of which no line is left.
        regions: usize,
        /// The number of records, such as the files of a diff, of which no line is left.
        records: usize,
        /// The place of these lines in the original, if the compressor numbers lines.
        at: Option<Place>,
    },
    /// Elements of a JSON array, members of an object, or records of JSON lines. The marker is a JSON string.
    Elements {
        /// The number of elements.
        elements: usize,
        /// The number of bytes.
        bytes: usize,
        /// The same as in [`Marker::LeftOut`].
        at: Option<Place>,
    },
    /// Bytes from the middle of a JSON string, inside which the marker is.
    OfString {
        /// The number of bytes.
        bytes: usize,
        /// The same as in [`Marker::LeftOut`].
        at: Option<Place>,
    },
    /// Lines that repeat lines further up.
    AsAbove {
        /// The number of lines.
        lines: usize,
        /// The same as in [`Marker::LeftOut`].
        at: Option<Place>,
    },
    /// Bytes from the middle of a line, whose two ends are the lines around the marker.
    OfLine {
        /// The number of bytes.
        bytes: usize,
        /// The same as in [`Marker::LeftOut`].
        at: Option<Place>,
    },
    /// A long run of base64 digits inside a line, whose two ends are the lines around the marker.
    Base64 {
        /// The number of digits.
        bytes: usize,
        /// The same as in [`Marker::LeftOut`].
        at: Option<Place>,
    },
    /// A long run of hexadecimal digits inside a line, whose two ends are the lines around the marker.
    Hex {
        /// The number of digits.
        bytes: usize,
        /// The same as in [`Marker::LeftOut`].
        at: Option<Place>,
    },
}

/// A place in the original text, in the form that `aside recall` takes. All numbers are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The first and the last of some lines.
    Lines(usize, usize),
    /// A part of one line.
    Bytes {
        /// The line.
        line: usize,
        /// The first byte of the part in its line.
        first: usize,
        /// The last byte.
        last: usize,
    },
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[… ")?;
        match *self {
            Marker::LeftOut { lines, bytes, regions, records, at } => {
                write!(f, "{}, {} left out", Count(lines, "line"), Count(bytes, "byte"))?;
                if regions > 0 {
                    write!(f, ", with {}", Count(regions, "error region"))?;
                }
                if records > 0 {
                    write!(f, ", of {}", Count(records, "record"))?;
                }
                write!(f, "{}", At(at))?;
            }
            Marker::AsAbove { lines, at } => write!(f, "{} as above{}", Count(lines, "line"), At(at))?,
            Marker::Elements { elements, bytes, at } => {
                write!(f, "{}, {} left out{}", Count(elements, "element"), Count(bytes, "byte"), At(at))?;
            }
            Marker::OfString { bytes, at } => write!(f, "{} of this string{}", Count(bytes, "byte"), At(at))?,
            Marker::OfLine { bytes, at } => write!(f, "{} of this line{}", Count(bytes, "byte"), At(at))?,
            Marker::Base64 { bytes, at } => write!(f, "{} of base64{}", Count(bytes, "byte"), At(at))?,
            Marker::Hex { bytes, at } => write!(f, "{} of hex{}", Count(bytes, "byte"), At(at))?,
        }
        f.write_str("]")
    }
}

impl Marker {
    /// Returns whether the marker replaces a part of a line, so that the rows around it are parts of the same line.
    pub(crate) fn is_inside_line(self) -> bool {
        matches!(self, Marker::OfLine { .. } | Marker::Base64 { .. } | Marker::Hex { .. })
    }

    /// Reads a line without its line end. Returns `None` if it is not a marker line. A marker of JSON lines has quotes.
    #[must_use]
    pub fn parse(line: &[u8]) -> Option<Marker> {
        let unquoted = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\""));
        match unquoted.map(Marker::read) {
            Some(marker) => marker.filter(|marker| !marker.is_inside_line()),
            None => Marker::read(line),
        }
    }

    fn read(line: &[u8]) -> Option<Marker> {
        let inner = line.strip_prefix("[… ".as_bytes())?.strip_suffix(b"]")?;
        let body = std::str::from_utf8(inner).ok()?;
        let (body, at) = match body.split_once(": line") {
            Some((body, at)) => (body, Some(place(at)?)),
            None => (body, None),
        };
        let marker = if let Some(lines) = body.strip_suffix(" as above") {
            Marker::AsAbove { lines: number(lines)?, at }
        } else if let Some(bytes) = body.strip_suffix(" of this line") {
            Marker::OfLine { bytes: number(bytes)?, at }
        } else if let Some(bytes) = body.strip_suffix(" of this string") {
            Marker::OfString { bytes: number(bytes)?, at }
        } else if let Some(bytes) = body.strip_suffix(" of base64") {
            Marker::Base64 { bytes: number(bytes)?, at }
        } else if let Some(bytes) = body.strip_suffix(" of hex") {
            Marker::Hex { bytes: number(bytes)?, at }
        } else {
            let (counts, rest) = body.split_once(" left out")?;
            let (first, bytes) = counts.split_once(", ")?;
            let (number_of, bytes) = (number(first)?, number(bytes)?);
            let after = |sign| rest.split_once(sign).map_or(Some(0), |(_, count)| number(count));
            match first.split_once(" element") {
                Some(_) => Marker::Elements { elements: number_of, bytes, at },
                None => {
                    let (regions, records) = (after(", with ")?, after(", of ")?);
                    Marker::LeftOut { lines: number_of, bytes, regions, records, at }
                }
            }
        };
        (marker.to_string().as_bytes() == line).then_some(marker)
    }
}

/// The longest name of a record in a marker.
pub const LONGEST_NAME: usize = 80;

/// Returns the line that names records after their marker, with the number of lines of each, within a number of bytes. Names are
/// text of the tool, so characters that could end the line, or make it look like a marker, are replaced.
pub fn names(names: &[(&[u8], usize)], room: usize) -> String {
    let is_plain = |c: char| !c.is_control() && c != '…';
    let mut line = "   ".to_owned();
    for (at, (name, lines)) in names.iter().enumerate() {
        let name = String::from_utf8_lossy(&name[..name.len().min(LONGEST_NAME)]);
        let name: String = name.chars().map(|c| if is_plain(c) { c } else { '?' }).collect();
        let more = format!(" {name} {lines}{}", if at + 1 < names.len() { "," } else { "" });
        if line.len() + more.len() + " …".len() > room {
            line += " …";
            break;
        }
        line += &more;
    }
    line
}

/// Reads the number at the beginning of `2,310 bytes`. The rest of the text is checked when the caller writes the marker again.
fn number(text: &str) -> Option<usize> {
    let digits: String = text.split(' ').next()?.chars().filter(|&c| c != ',').collect();
    digits.parse().ok()
}

/// Reads the place of `s 120-160`, ` 120` or ` 120:1-80`.
fn place(text: &str) -> Option<Place> {
    let text = text.split_once(' ')?.1;
    let (line, range) = text.split_once(':').map_or((None, text), |(line, range)| (Some(line), range));
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    Some(match line {
        Some(line) => Place::Bytes { line: line.parse().ok()?, first, last },
        None => Place::Lines(first, last),
    })
}

/// The place that a marker may have, in the form of an argument of `aside recall`.
struct At(Option<Place>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Place::Lines(first, last)) if first == last => write!(f, ": line {first}"),
            Some(Place::Lines(first, last)) => write!(f, ": lines {first}-{last}"),
            Some(Place::Bytes { line, first, last }) => write!(f, ": line {line}:{first}-{last}"),
            None => Ok(()),
        }
    }
}

/// A number with its noun: `1 line`, `2,310 bytes`.
struct Count(usize, &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        grouped(self.0, f)?;
        write!(f, " {}{}", self.1, if self.0 == 1 { "" } else { "s" })
    }
}

fn grouped(number: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let digits = number.to_string();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            f.write_str(",")?;
        }
        write!(f, "{digit}")?;
    }
    Ok(())
}
