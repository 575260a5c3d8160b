//! Text in UTF-16, which some programs print, above all on Windows. All other code reads UTF-8, so text in UTF-16 must be
//! recognised and decoded first.

/// The number of bytes at the beginning by which UTF-16 is recognised in a text without a byte order mark.
const SAMPLE: usize = 1000;

/// The order of the bytes in a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// Returns the byte order of a text that is UTF-16: it begins with a byte order mark, or, of its first 1,000 bytes, exactly
    /// every second byte is zero.
    pub fn of(text: &[u8]) -> Option<ByteOrder> {
        let alternates = |zero: usize| {
            let is_right = |(at, &byte): (usize, &u8)| (byte == 0) == (at % 2 == zero);
            text.len() >= SAMPLE && text[..SAMPLE].iter().enumerate().all(is_right)
        };
        match text {
            // The byte order mark of UTF-32, which is not decoded.
            [0xff, 0xfe, 0, 0, ..] => None,
            [0xff, 0xfe, ..] => Some(ByteOrder::Little),
            [0xfe, 0xff, ..] => Some(ByteOrder::Big),
            _ if alternates(1) => Some(ByteOrder::Little),
            _ if alternates(0) => Some(ByteOrder::Big),
            _ => None,
        }
    }

    /// Returns the unit of two bytes.
    pub fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            ByteOrder::Little => u16::from_le_bytes(bytes),
            ByteOrder::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// The byte order mark, which is not part of the text.
pub const MARK: u16 = 0xfeff;

/// Decodes a text that arrives in chunks.
pub struct Decoder {
    order: ByteOrder,
    is_first: bool,
    /// The first byte of a unit.
    half: Option<u8>,
    /// The first unit of a character that has two.
    high: Option<u16>,
}

impl Decoder {
    pub fn new(order: ByteOrder) -> Decoder {
        Decoder { order, is_first: true, half: None, high: None }
    }

    /// Returns the text of the next bytes in UTF-8. Half a character is held until the other half arrives. If the other half
    /// never arrives, the half becomes U+FFFD.
    pub fn decode(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut units = Vec::with_capacity(bytes.len() / 2 + 2);
        units.extend(self.high.take());
        for &byte in bytes {
            match self.half.take() {
                None => self.half = Some(byte),
                Some(half) => units.push(self.order.unit([half, byte])),
            }
        }
        if self.is_first && !units.is_empty() {
            self.is_first = false;
            if units[0] == MARK {
                units.remove(0);
            }
        }
        self.high = units.pop_if(|unit| matches!(unit, 0xd800..=0xdbff));
        text_of(units)
    }

    /// Ends the text. Returns the rest of the text, in which half a unit stays unchanged.
    pub fn end(&mut self) -> Vec<u8> {
        let mut rest = text_of(self.high.take());
        rest.extend(self.half.take());
        rest
    }
}

/// Returns units as UTF-8.
pub fn text_of(units: impl IntoIterator<Item = u16>) -> Vec<u8> {
    let characters = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    characters.collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_cut_gives_the_same_text() {
        let bytes: Vec<u8> =
            "\u{feff}aé😀\n".encode_utf16().chain([0xd83d, 0x41, 0xde00]).flat_map(u16::to_be_bytes).collect();
        for cut in 0..=bytes.len() {
            let mut decoder = Decoder::new(ByteOrder::of(&bytes).unwrap());
            let mut text = decoder.decode(&bytes[..cut]);
            text.extend(decoder.decode(&bytes[cut..]));
            text.extend(decoder.end());
            assert_eq!(String::from_utf8(text).unwrap(), "aé😀\n\u{fffd}A\u{fffd}", "cut at {cut}");
        }
    }

    #[test]
    fn only_utf_16_is_decoded() {
        let text = "a line of a log, as Windows prints it\r\n".repeat(30);
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(ByteOrder::of(&little), Some(ByteOrder::Little));
        assert_eq!(ByteOrder::of(&big), Some(ByteOrder::Big));
        assert_eq!(ByteOrder::of(&little[..SAMPLE - 2]), None);
        for other in [text.as_bytes(), &[0; 2000][..], b"\xff\xfe\0\0a\0\0\0", b"\xef\xbb\xbftext", b""] {
            assert_eq!(ByteOrder::of(other), None, "{other:?}");
        }
    }
}
