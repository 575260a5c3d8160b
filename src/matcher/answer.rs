//! Finds the strings of an answer in JSON, because openers and tags of the thinking in strings are text. Only brackets and quotes
//! are examined. Models write faulty JSON, so a string also ends at the end of its line.

/// The position in an answer in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct JsonAnswer {
    /// The number of open brackets; 0 if the text is not an answer in JSON.
    depth: u32,
    in_string: bool,
    is_escaped: bool,
    /// Whether the answer began in a code block, and so ends with the block.
    in_block: bool,
}

impl JsonAnswer {
    pub const NONE: JsonAnswer = JsonAnswer { depth: 0, in_string: false, is_escaped: false, in_block: false };

    /// Returns the position after the bracket with which an answer begins.
    pub fn after_bracket(in_block: bool) -> JsonAnswer {
        JsonAnswer { depth: 1, in_block, ..JsonAnswer::NONE }
    }

    /// Returns whether an answer may begin with this byte.
    pub fn begins_with(byte: u8) -> bool {
        matches!(byte, b'{' | b'[')
    }

    pub fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Returns whether the answer is in a string, for `is_plain`, or `None` if any byte changes the position.
    pub fn self_loop(&self) -> Option<bool> {
        (self.is_open() && !self.is_escaped).then_some(self.in_string)
    }

    /// Returns whether a byte does not change the position.
    pub fn is_plain(byte: u8, in_string: bool) -> bool {
        match byte {
            b'\n' | b'"' => false,
            b'\\' => !in_string,
            b'{' | b'[' | b'}' | b']' => in_string,
            _ => true,
        }
    }

    /// Returns whether the next byte is inside a string.
    pub fn in_string(&self, byte: u8) -> bool {
        self.in_string && byte != b'\n'
    }

    /// Reads a byte. `in_block` says whether the text after the byte is in a code block.
    pub fn pass(&mut self, byte: u8, in_block: bool) {
        match byte {
            b'\n' => (self.in_string, self.is_escaped) = (false, false),
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.in_string => self.is_escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        if self.depth == 0 || self.in_block && !in_block {
            *self = JsonAnswer::NONE;
        }
    }
}
