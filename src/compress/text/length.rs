//! Lengths as hosts count them: in bytes, and in UTF-16 code units as editors and JavaScript do. A result counts as
//! shorter only if it is shorter in both.

/// A text shorter than this, in UTF-16 code units, is never changed.
pub const MIN_COMPRESSIBLE_LENGTH: usize = 1024;

/// Returns the length of a text in UTF-16 code units. Each invalid sequence counts as one replacement character.
///
/// ```
/// assert_eq!(aside::compress::units("aé…😀".as_bytes()), 5);
/// ```
#[must_use]
pub fn units(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let mut units = 0;
    let mut rest = text;
    while let Err(error) = std::str::from_utf8(rest) {
        let (valid, invalid) = rest.split_at(error.valid_up_to());
        units += units_of_valid(valid) + 1;
        rest = &invalid[error.error_len().unwrap_or(invalid.len())..];
    }
    units + units_of_valid(rest)
}

/// Counts one unit for each byte that begins a character, and one more for those of four bytes. The sums are bytes, so
/// that the compiler can use wide instructions.
fn units_of_valid(text: &[u8]) -> usize {
    let units = |part: &[u8]| -> u8 {
        part.iter().map(|&byte| u8::from(byte & 0xc0 != 0x80) + u8::from(byte >= 0xf0)).fold(0, u8::wrapping_add)
    };
    text.chunks(127).map(|part| usize::from(units(part))).sum()
}

/// The length of a text.
#[derive(Clone, Copy, Default)]
pub struct Length {
    pub bytes: usize,
    pub units: usize,
}

impl Length {
    pub fn of(text: &[u8]) -> Length {
        Length { bytes: text.len(), units: units(text) }
    }

    /// Returns the length of a text that has only characters of one byte.
    pub fn of_bytes(text: &[u8]) -> Length {
        Length { bytes: text.len(), units: text.len() }
    }

    /// Returns whether each byte is one unit. If so, each byte of every part of the text is one unit too.
    pub fn is_of_bytes(self) -> bool {
        self.bytes == self.units
    }

    /// Returns whether this length is smaller both in bytes and in UTF-16 units.
    pub fn is_below(self, other: Length) -> bool {
        self.bytes < other.bytes && self.units < other.units
    }
}

impl std::iter::Sum for Length {
    fn sum<I: Iterator<Item = Length>>(lengths: I) -> Length {
        lengths.fold(Length::default(), |mut sum, length| {
            sum += length;
            sum
        })
    }
}

impl std::ops::AddAssign for Length {
    fn add_assign(&mut self, other: Length) {
        self.bytes += other.bytes;
        self.units += other.units;
    }
}
