//! Finds the end of a JSON object whose bytes arrive in pieces, without parsing it.

/// Finds the end of a JSON object whose bytes arrive in pieces.
#[derive(Clone, Copy)]
pub struct Braces {
    depth: usize,
    string: bool,
    escaped: bool,
}

impl Braces {
    pub const START: Braces = Braces { depth: 0, string: false, escaped: false };

    /// Returns the number of the next bytes that belong to the object, or `None` if it continues after them.
    pub fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.string => self.escaped = true,
                b'"' => self.string = !self.string,
                _ if self.string => {}
                b'{' => self.depth += 1,
                b'}' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
