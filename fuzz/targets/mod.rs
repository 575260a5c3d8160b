//! Lists the fuzz targets, and reads their input. The fuzzer's binaries and the ordinary tests run the same code, so a finding
//! becomes a test if its input is put into `tests/regressions`.

pub mod abi;
pub mod dialect;
pub mod dictionary;
pub mod events;
#[cfg(feature = "compress")]
pub mod results;
pub mod scanner;
pub mod values;

use aside::{Dialect, Kind, Scanner, ScannerOptions};

/// An input, which is read from its beginning. After its end, all bytes are 0.
pub struct Input<'a> {
    pub rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        first
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.byte() as usize % bound
    }

    pub fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (head, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        head
    }

    /// Returns one of these numbers, and sometimes a number that no option has.
    pub fn one_of(&mut self, numbers: &[u32]) -> u32 {
        match self.byte() {
            255 => 99,
            byte => numbers[usize::from(byte) % numbers.len()],
        }
    }

    /// Returns up to 63 bytes verbatim, or up to eight words.
    pub fn text(&mut self, words: &[Vec<u8>]) -> Vec<u8> {
        let way = self.byte();
        if way < 64 || words.is_empty() {
            return self.bytes(usize::from(way) % 64).to_vec();
        }
        let mut text = Vec::new();
        for _ in 0..=way % 8 {
            // If there are more than 256 words, one byte selects one of the first 128, and two bytes any word.
            let at = match self.byte() {
                byte @ 128.. if words.len() > 256 => usize::from(byte & 127) << 8 | usize::from(self.byte()),
                byte => byte.into(),
            };
            text.extend_from_slice(&words[at % words.len()]);
        }
        text
    }

    /// Returns the bytes before the first byte with this value, which is consumed too, or all bytes if there is none.
    pub fn until(&mut self, end: u8) -> &'a [u8] {
        let at = self.rest.iter().position(|&byte| byte == end).unwrap_or(self.rest.len());
        let head = self.bytes(at);
        self.byte();
        head
    }

    /// Returns up to 15 lengths, which are used in turn.
    pub fn lengths(&mut self) -> &'a [u8] {
        let count = self.below(16);
        self.bytes(count)
    }
}

/// Returns a text cut into pieces of these lengths in turn, or whole if all lengths are 0.
pub fn cut<'a>(text: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    if lengths.iter().all(|&length| length == 0) {
        return vec![text];
    }
    let (mut chunks, mut from) = (Vec::new(), 0);
    for &length in lengths.iter().cycle() {
        if from == text.len() {
            break;
        }
        let to = text.len().min(from + length as usize);
        chunks.push(&text[from..to]);
        from = to;
    }
    chunks
}

/// Returns the events of a text in these chunks, checked to keep the promises for every dialect. `None` if the dialect does not
/// have this start.
pub fn contract(
    dialect: &Dialect,
    options: &ScannerOptions,
    text: &[u8],
    chunks: &[&[u8]],
) -> Option<Vec<reference::Event>> {
    let mut scanner = Scanner::with_options(dialect, options).ok()?;
    let is_utf8 = std::str::from_utf8(text).is_ok();
    let (mut events, mut next) = (Vec::new(), 0);
    let mut see = |event: aside::Event<'_>| {
        // An attribute's event has the offset of its marker, and no bytes.
        assert!(event.bytes.is_empty() || event.offset as usize == next, "{event:?} behind {next} bytes");
        assert_eq!(event.bytes, &text[next..next + event.bytes.len()], "other bytes than were fed");
        assert_eq!((event.first_token, event.tokens), (0, 0), "tokens, and none was fed");
        next += event.bytes.len();
        if event.kind == Kind::Text {
            assert!(!event.bytes.is_empty(), "an empty text");
            assert!(!is_utf8 || std::str::from_utf8(event.bytes).is_ok(), "a character is cut: {event:?}");
        }
        support::push(&mut events, event);
    };
    let mut fed = 0;
    for chunk in chunks {
        scanner.feed(chunk, &mut see).unwrap();
        fed += chunk.len();
        assert!(scanner.held().len() <= scanner.max_hold(), "{} held of {}", scanner.held().len(), scanner.max_hold());
        assert!(text[..fed].ends_with(scanner.held()));
    }
    scanner.finish(&mut see).unwrap();
    assert_eq!(next, text.len(), "bytes are lost");
    Some(events)
}
