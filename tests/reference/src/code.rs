//! Markdown code: the blocks that a line begins, ends or hides. A marker that is shown as code is text. Each function looks at
//! a whole line, from its start, as often as it is asked.

use crate::events::blank;

/// The position in code of the innermost channel's text.
#[derive(Clone, Default)]
pub(crate) struct Code {
    /// The text of the line so far, since a marker was removed.
    pub(crate) line: Vec<u8>,
    /// The character and run of the fence that opened the block around it.
    pub(crate) block: Option<(u8, usize)>,
    /// The name of a tag of which the line has spoken, and not yet of its closer.
    pub(crate) mentioned: Option<String>,
    /// The block has nothing but blanks so far.
    pub(crate) new_block: bool,
    /// The line has a call that is text, because it is in a sentence.
    pub(crate) sentence: bool,
}

impl Code {
    /// Returns the place after text that ended with this byte.
    pub(crate) fn after(last: u8) -> Code {
        let line = if last == b'\n' { vec![] } else { vec![b'.'] };
        Code { line, block: None, mentioned: None, new_block: false, sentence: false }
    }
}

/// An answer in JSON that has begun, and has not ended.
#[derive(Clone, Copy)]
pub(crate) struct Json {
    /// Brackets that are open.
    depth: usize,
    pub(crate) in_string: bool,
    escaped: bool,
    /// It began in a code block.
    in_block: bool,
}

impl Json {
    /// Returns the position after the first bracket.
    pub(crate) fn begin(in_block: bool) -> Json {
        Json { depth: 1, in_string: false, escaped: false, in_block }
    }

    /// Passes a byte. Returns none at the end of the answer: its last bracket, or the end of its code block.
    pub(crate) fn after(mut self, byte: u8, in_block: bool) -> Option<Json> {
        if byte == b'\n' {
            (self.in_string, self.escaped) = (false, false);
        } else if self.escaped {
            self.escaped = false;
        } else if self.in_string {
            self.escaped = byte == b'\\';
            self.in_string = byte != b'"';
        } else {
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
        (self.depth > 0 && (in_block || !self.in_block)).then_some(self)
    }
}

/// The kind of code that hides the next byte.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Hidden {
    No,
    InBlock,
    InSpan,
}

/// Returns a line's fence: after at most three spaces, a run of three or more, and the rest.
fn fence_of(line: &[u8]) -> Option<(u8, usize, &[u8])> {
    let indent = line.iter().take_while(|&&byte| byte == b' ').count();
    let mark = *line.get(indent).filter(|&&byte| byte == b'`' || byte == b'~')?;
    let run = line[indent..].iter().take_while(|&&byte| byte == mark).count();
    (indent <= 3 && run >= 3).then(|| (mark, run, &line[indent + run..]))
}

/// Returns whether the text after this beginning of a line is in the info of a fence.
pub(crate) fn in_fence_info(line: &[u8], next: u8) -> bool {
    fence_of(line).is_some_and(|(mark, _, info)| mark == b'~' || !info.contains(&b'`') && next != b'`')
}

/// Returns the block after a whole line.
pub(crate) fn block_after(line: &[u8], block: Option<(u8, usize)>) -> Option<(u8, usize)> {
    let Some((mark, run, info)) = fence_of(line) else { return block };
    match block {
        Some((opened, length)) if mark == opened && run >= length && info.iter().all(|&byte| blank(byte)) => None,
        Some(_) => block,
        None if mark == b'~' || !info.contains(&b'`') => Some((mark, run)),
        None => None,
    }
}

/// Returns whether the text after this beginning of a line is between backticks. A run of them that is not over opens or
/// closes nothing yet.
pub(crate) fn in_code_span(line: &[u8], next: u8) -> bool {
    let mut open = None;
    let mut at = 0;
    while at < line.len() {
        let run = line[at..].iter().take_while(|&&byte| byte == b'`').count();
        at += run.max(1);
        let goes_on = at == line.len() && next == b'`';
        if run == 0 || goes_on {
            continue;
        }
        match open {
            None => open = Some(run),
            Some(length) if length == run => open = None,
            Some(_) => {}
        }
    }
    open.is_some() && next != b'\n'
}

/// At most three spaces, three or more backticks or tildes, and the rest of the line.
pub(crate) struct FenceLine {
    pub(crate) mark: u8,
    pub(crate) run: usize,
    pub(crate) run_end: usize,
    /// Without the line's end.
    pub(crate) info: Vec<u8>,
    /// It has a line end.
    pub(crate) whole: bool,
    /// The position of its `\n`, or the end of the text.
    pub(crate) line_end: usize,
}

impl FenceLine {
    /// Returns whether it begins a code block inside a fence's body.
    pub(crate) fn nests(&self) -> bool {
        let letter = |&byte: &u8| byte.is_ascii_alphanumeric() || b"_+#-".contains(&byte);
        let token = (1..=64).contains(&self.info.len()) && self.info.iter().all(letter);
        match self.mark {
            b'`' => self.run <= 64 && self.whole && token,
            _ => true,
        }
    }

    /// Returns whether it ends a code block that a run of `run` times `mark` began.
    pub(crate) fn ends(&self, mark: u8, run: usize) -> bool {
        self.mark == mark && self.run >= run && self.info.iter().all(|&byte| blank(byte))
    }
}
