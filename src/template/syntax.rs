//! How deep a template's syntax may be, from its bytes: the compiler calls itself for each operator in an expression and
//! for each branch after another, so that their number is bounded before it sees them. Tags begin and end here where
//! they do for the compiler, whatever is in them.

/// The operators, subscripts, calls and filters of the tag that has most, or the branches of the whole template, if these
/// are more.
pub fn depth(template: &str) -> usize {
    let bytes = template.as_bytes();
    let (mut branches, mut deepest) = (0, 0);
    let mut at = 0;
    while let Some(begin) = memchr::memchr(b'{', &bytes[at..]).map(|begin| at + begin) {
        at = begin + 2;
        let close = match bytes.get(begin + 1) {
            Some(b'{') => b"}}",
            Some(b'%') => b"%}",
            Some(b'#') => {
                at += usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
                match find(bytes, at, b"#}") {
                    Some(end) => at = end + 2,
                    None => break,
                }
                continue;
            }
            _ => {
                at = begin + 1;
                continue;
            }
        };
        at += usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
        if close == b"%}"
            && let Some(end) = basic_tag(bytes, at, b"raw")
        {
            match end_of_raw(bytes, end) {
                Some(end) => at = end,
                None => break,
            }
            continue;
        }
        let mut tag = Tag { bytes, at, operators: 0, branches: 0 };
        tag.read(close);
        at = tag.at;
        branches += tag.branches;
        deepest = deepest.max(tag.operators);
    }
    deepest.max(branches)
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    Some(from + memchr::memmem::find(bytes.get(from..)?, what)?)
}

/// The end of a tag that has this one word.
fn basic_tag(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    let space = |at: usize| at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let mut at = space(at);
    if !bytes[at..].starts_with(word) {
        return None;
    }
    at = space(at + word.len());
    at += usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
    bytes[at..].starts_with(b"%}").then_some(at + 2)
}

fn end_of_raw(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = find(bytes, at, b"{%")? + 2;
        let inside = at + usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
        if let Some(end) = basic_tag(bytes, inside, b"endraw") {
            return Some(end);
        }
    }
}

struct Tag<'a> {
    bytes: &'a [u8],
    at: usize,
    operators: usize,
    branches: usize,
}

impl Tag<'_> {
    /// Reads to the end of the tag, which is in no string and in no brackets.
    fn read(&mut self, close: &[u8]) {
        let mut open = 0isize;
        while let Some(&byte) = self.bytes.get(self.at) {
            if open == 0 && self.bytes[self.at..].starts_with(close) {
                self.at += close.len();
                return;
            }
            self.at += 1;
            match byte {
                b'(' | b'[' | b'{' => {
                    open += 1;
                    self.operators += 1;
                }
                b')' | b']' | b'}' => open -= 1,
                b'\'' | b'"' => self.skip_string(byte),
                b'+' | b'-' | b'*' | b'/' | b'~' | b'%' | b'<' | b'>' | b'=' | b'!' | b'|' | b'.' => {
                    self.operators += 1
                }
                byte if byte.is_ascii_alphabetic() || byte == b'_' => self.read_word(),
                _ => {}
            }
        }
    }

    fn skip_string(&mut self, quote: u8) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == quote {
                return;
            }
        }
        self.at = self.bytes.len();
    }

    fn read_word(&mut self) {
        let begin = self.at - 1;
        let is_of_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        self.at = begin + self.bytes[begin..].iter().take_while(is_of_word).count();
        match &self.bytes[begin..self.at] {
            b"not" | b"and" | b"or" | b"if" | b"else" | b"is" | b"in" => self.operators += 1,
            b"elif" => self.branches += 1,
            _ => {}
        }
    }
}
