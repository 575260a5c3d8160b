//! Standard output and messages. Text of a model or a tool must not control the terminal that shows it: characters that would
//! move the cursor, change colours, fill the clipboard or reverse the order of a line are printed as escapes, as in Rust
//! (`\u{1b}`). Pipes and files get the bytes unchanged.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use crate::stop::Stop;

/// Standard output for text that may be from a model or a tool.
pub struct Output {
    /// The filter of control characters, if standard output is a terminal.
    shown: Option<Shown>,
    text: Vec<u8>,
}

impl Output {
    pub fn new() -> Output {
        Output { shown: io::stdout().is_terminal().then(Shown::default), text: Vec::new() }
    }

    /// Writes without a buffer, so that the output appears before more input is read.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let Some(shown) = &mut self.shown else { return write_raw(bytes) };
        self.text.clear();
        shown.add(bytes, &mut self.text);
        write_raw(&self.text)
    }

    /// Writes the bytes of an incomplete character at the end.
    pub fn finish(mut self) -> Result<(), Stop> {
        let Some(shown) = &mut self.shown else { return Ok(()) };
        self.text.clear();
        shown.end(&mut self.text);
        write_raw(&self.text)
    }
}

/// Writes a whole text.
pub fn write_out(bytes: &[u8]) -> Result<(), Stop> {
    let mut output = Output::new();
    output.write(bytes)?;
    output.finish()
}

/// Writes bytes unchanged and without a buffer.
pub fn write_raw(bytes: &[u8]) -> Result<(), Stop> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| Stop::io("standard output", &error))
}

/// The command at the beginning of messages, such as `aside split`.
pub static COMMAND: OnceLock<String> = OnceLock::new();

/// Writes a message, which needs no line end, after the name of the command.
pub fn note(message: &str) {
    say(&format!("{}: {message}\n", COMMAND.get().map_or("aside", String::as_str)));
}

/// Writes a text to standard error. It may contain names of files and arguments of unknown origin.
pub fn say(message: &str) {
    let mut text = Vec::new();
    Shown::default().add(message.as_bytes(), &mut text);
    let _ = io::stderr().write_all(&text);
}

/// Writes the program's own text to standard error unchanged, for text that moves the cursor.
pub fn say_raw(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Replaces characters that would control a terminal by escapes. Bytes may be cut anywhere.
#[derive(Default)]
pub struct Shown {
    /// The beginning of a character whose end has not arrived.
    held: Vec<u8>,
}

impl Shown {
    /// Appends to `out` the text that is shown for `bytes`.
    pub fn add(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(bytes);
        let mut chunks = text.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            for character in chunk.valid().chars() {
                match acts(character) {
                    true => out.extend(character.escape_default().map(|ascii| ascii as u8)),
                    false => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            let is_cut = |bytes| std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
            match chunks.peek().is_none() && is_cut(chunk.invalid()) {
                true => self.held = chunk.invalid().to_vec(),
                false => show_bytes(chunk.invalid(), out),
            }
        }
    }

    /// Appends to `out` the text that is shown for a character that was cut.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        show_bytes(&std::mem::take(&mut self.held), out);
    }
}

/// Writes bytes that are not UTF-8 as escapes, because some terminals interpret such bytes as control characters.
fn show_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        let _ = write!(out, "\\x{byte:02x}");
    }
}

/// Returns whether a character controls a terminal, except for line feeds and tabs.
fn acts(character: char) -> bool {
    let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || character.is_control() && !matches!(character, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::Shown;

    fn shown(pieces: &[&[u8]]) -> String {
        let (mut shown, mut out) = (Shown::default(), Vec::new());
        for piece in pieces {
            shown.add(piece, &mut out);
        }
        shown.end(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_acts_is_shown_and_the_rest_is_itself() {
        for number in (0..0x300).chain(0x2000..0x2100).chain([0x1f9e0, 0x10ffff]) {
            let Some(character) = char::from_u32(number) else { continue };
            let acts = matches!(number, 0..=8 | 0xb..=0x1f | 0x7f..=0x9f | 0x202a..=0x202e | 0x2066..=0x2069);
            let wanted = match character {
                '\r' => "\\r".to_owned(),
                _ if acts => format!("\\u{{{number:x}}}"),
                _ => character.to_string(),
            };
            assert_eq!(shown(&[character.to_string().as_bytes()]), wanted, "{number:x}");
        }
    }

    #[test]
    fn no_cut_shows() {
        let text = b"a\x1b]52;c;eA==\x07\xc2\x9b0m\xe2\x80\xaeb\xf0\x9f\xa7\xa0\x9b\xc2\xff\xe2\x80\x1b\r\n\tc\xf0\x9f";
        let wanted =
            "a\\u{1b}]52;c;eA==\\u{7}\\u{9b}0m\\u{202e}b\u{1f9e0}\\x9b\\xc2\\xff\\xe2\\x80\\u{1b}\\r\n\tc\\xf0\\x9f";
        assert_eq!(shown(&[text]), wanted);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(shown(&bytes), wanted);
        for at in 0..=text.len() {
            assert_eq!(shown(&[&text[..at], &text[at..]]), wanted, "cut at {at}");
        }
    }
}
