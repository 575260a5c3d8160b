//! JSON, for event streams and for calls: the positions of values in a text (`read`), whether a text in pieces is JSON
//! (`syntax`), the text of strings (`string`), and changes (`edits`). No tree of values is built, because most of a text need not
//! be read: a `Value` is a position.

mod braces;
mod edits;
mod read;
mod string;
mod syntax;
mod value;

pub use braces::Braces;
pub use edits::Edits;
pub use read::{Member, Reader, Span, is_json, is_object, name, whole_number};
#[cfg(feature = "templates")]
pub use string::escape_of_unit;
pub use string::{
    Part, Surrogates, Unescape, append_decoded, decode, escape, escape_with, hex, unescape, write_string,
};
pub use syntax::{Seen, Syntax};
pub use value::Value;

use memchr::memchr2;

/// Replaces the line ends in JSON text by blanks, for places where a line end would end the record. Line ends occur only between
/// values, because a string cannot contain them.
pub fn join_lines(json: &mut [u8]) {
    let mut at = 0;
    while let Some(len) = memchr2(b'\r', b'\n', &json[at..]) {
        at += len;
        json[at] = b' ';
    }
}

/// Returns a number as its digits, written to the end of `digits`.
pub fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &str {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return std::str::from_utf8(&digits[at..]).unwrap_or_default();
        }
    }
}
