//! The output of a function, in addition to the number that it returns: values in the order in which JavaScript reads them, each
//! one or two words of 32 bits, and the bytes of all texts one after the other.

/// The maximum amount of memory that is kept after a large result, in bytes.
const KEPT: usize = 1 << 20;

pub struct Output {
    pub words: Vec<u32>,
    pub bytes: Vec<u8>,
    /// Whether memory for a value has run out.
    pub is_lost: bool,
}

impl Output {
    pub const fn new() -> Output {
        Output { words: Vec::new(), bytes: Vec::new(), is_lost: false }
    }

    #[inline(never)]
    pub fn clear(&mut self) {
        self.is_lost = false;
        self.words.clear();
        self.bytes.clear();
        // A large result must not keep its memory forever.
        if self.words.capacity() > KEPT / 4 {
            self.words = Vec::new();
        }
        if self.bytes.capacity() > KEPT {
            self.bytes = Vec::new();
        }
    }

    pub fn number(&mut self, number: u32) {
        match self.words.try_reserve(1) {
            Ok(()) => self.words.push(number),
            Err(_) => self.is_lost = true,
        }
    }

    #[cfg(feature = "streams")]
    pub fn numbers(&mut self, numbers: &[u32]) {
        match self.words.try_reserve(numbers.len()) {
            Ok(()) => self.words.extend_from_slice(numbers),
            Err(_) => self.is_lost = true,
        }
    }

    pub fn flag(&mut self, flag: bool) {
        self.number(u32::from(flag));
    }

    #[cfg(feature = "streams")]
    pub fn long(&mut self, number: u64) {
        self.number(number as u32);
        self.number((number >> 32) as u32);
    }

    pub fn size(&mut self, size: usize) {
        self.number(u32::try_from(size).unwrap_or(u32::MAX));
    }

    pub fn text(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        self.size(text.len());
        self.raw(text);
    }

    #[cfg(feature = "streams")]
    /// Writes a text that may be missing.
    pub fn optional(&mut self, text: Option<impl AsRef<[u8]>>) {
        self.flag(text.is_some());
        if let Some(text) = text {
            self.text(text);
        }
    }

    pub fn list(&mut self, texts: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        let at = self.words.len();
        self.number(0);
        let mut count = 0;
        for text in texts {
            self.text(text);
            count += 1;
        }
        self.set(at, count);
    }

    /// Sets a number that was written before it was known.
    pub fn set(&mut self, at: usize, number: u32) {
        if let Some(word) = self.words.get_mut(at) {
            *word = number;
        }
    }

    /// Writes bytes without their length.
    pub fn raw(&mut self, bytes: &[u8]) {
        match self.bytes.try_reserve(bytes.len()) {
            Ok(()) => self.bytes.extend_from_slice(bytes),
            Err(_) => self.is_lost = true,
        }
    }
}
