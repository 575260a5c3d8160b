//! The texts that are arguments of one function, in their order.

/// Texts that JavaScript has put into the window before the call.
pub struct Arguments(std::vec::IntoIter<Vec<u8>>);

impl Arguments {
    pub fn new(texts: Vec<Vec<u8>>) -> Arguments {
        Arguments(texts.into_iter())
    }

    pub fn bytes(&mut self) -> Vec<u8> {
        self.0.next().unwrap_or_default()
    }

    /// Returns the next text, if there is one. It is UTF-8, because JavaScript's encoder writes nothing else.
    pub fn next_text(&mut self) -> Option<String> {
        self.0.next().map(|bytes| {
            String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        })
    }

    pub fn text(&mut self) -> String {
        self.next_text().unwrap_or_default()
    }
}
