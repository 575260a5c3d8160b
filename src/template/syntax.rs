//! Makes a template's text safe to compile and to run. The compiler recurses for each operator in an expression and for each
//! `elif`, so the depth of the syntax is bounded. Dropping a nested value recurses too, so values that a namespace keeps are
//! filtered to bound their depth. Tags must begin and end here at the same places as in the compiler.

/// The name of the filter that checks assigned values. It is defined in `render`.
pub const FILTER: &str = "aside_plain";

/// Returns the template with a filter on its assignments, and without the tags that mark text for training
/// (`generation`). Returns `None` if a tag has more than `most` operators, subscripts, calls and filters, or the
/// template has more branches.
pub fn prepare(template: &str, most: usize) -> Option<String> {
    let bytes = template.as_bytes();
    let mut prepared = Vec::with_capacity(bytes.len() + bytes.len() / 8);
    let (mut branches, mut copied, mut at) = (0, 0, 0);
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
        let inside = at;
        let mut tag = Tag { bytes, at, operators: 0, branches: 0, assigns: None, ends: None };
        tag.read(close);
        at = tag.at;
        branches += tag.branches;
        if tag.operators > most || branches > most {
            return None;
        }
        let Some(end) = tag.ends.filter(|_| close == b"%}") else { continue };
        let mut replace = |from: usize, to: usize, with: &[&str]| {
            prepared.extend_from_slice(&bytes[copied..from]);
            with.iter().for_each(|text| prepared.extend_from_slice(text.as_bytes()));
            copied = to;
        };
        match (bytes[inside..end].trim_ascii(), tag.assigns) {
            (b"generation", _) => replace(inside, end, &[" if true "]),
            (b"endgeneration", _) => replace(inside, end, &[" endif "]),
            (body, assigns) if body.starts_with(b"set") => match assigns {
                // Only attributes of namespaces keep their values from one round of a loop to the next, so only these values can
                // become deep.
                Some(assigns) if bytes[inside..assigns].contains(&b'.') => {
                    replace(assigns, assigns, &[" (("]);
                    replace(end, end, &[") | ", FILTER, ") "]);
                }
                // A filter on a block is refused, because its result would not be checked.
                None if body.contains(&b'|') => return None,
                _ => {}
            },
            _ => {}
        }
    }
    prepared.extend_from_slice(&bytes[copied..]);
    // The texts are inserted between whole characters, so the result is UTF-8.
    String::from_utf8(prepared).ok()
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    Some(from + memchr::memmem::find(bytes.get(from..)?, what)?)
}

/// Returns the end of a tag that consists of this word.
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
    /// The beginning of the assigned expression, after the first `=`.
    assigns: Option<usize>,
    /// The end of the tag's inside; `None` if the tag has no end.
    ends: Option<usize>,
}

impl Tag<'_> {
    /// Reads to the end of the tag, outside strings and brackets.
    fn read(&mut self, close: &[u8]) {
        let mut open = 0isize;
        while let Some(&byte) = self.bytes.get(self.at) {
            if open == 0 && self.bytes[self.at..].starts_with(close) {
                let has_sign = matches!(self.bytes[self.at - 1], b'-' | b'+');
                self.ends = Some(self.at - usize::from(has_sign));
                self.at += close.len();
                return;
            }
            self.at += 1;
            if byte == b'=' && open == 0 {
                self.assigns.get_or_insert(self.at);
            }
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
