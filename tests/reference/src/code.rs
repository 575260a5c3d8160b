//! Markdown code: finds the blocks that a line begins or ends, and the text inside code, where a marker is text. Each call of a
//! function reads the line again from its start.

use crate::events::blank;

/// The position in code of the innermost channel's text.
#[derive(Clone, Default)]
pub(crate) struct Code {
    /// The text of the line so far, after the last marker that was removed from it.
    pub(crate) line: Vec<u8>,
    /// The block in which the line began.
    pub(crate) block: Option<Block>,
    /// The closer of an opener that the line has mentioned, if it has not mentioned the closer yet.
    pub(crate) mentioned: Option<String>,
    /// Whether the code block has only blanks so far.
    pub(crate) new_block: bool,
    /// Whether the line has a call that is text, because it is in a sentence.
    pub(crate) sentence: bool,
}

impl Code {
    /// Returns the state after text that ended with this byte.
    pub(crate) fn after(last: u8) -> Code {
        let line = if last == b'\n' { vec![] } else { vec![b'.'] };
        Code { line, block: None, mentioned: None, new_block: false, sentence: false }
    }
}

/// An answer in JSON that has begun and has not ended.
#[derive(Clone, Copy)]
pub(crate) struct Json {
    /// The number of open brackets.
    depth: usize,
    pub(crate) in_string: bool,
    escaped: bool,
    /// Whether the answer began in a code block.
    in_block: bool,
}

impl Json {
    /// Returns the position after the first bracket.
    pub(crate) fn begin(in_block: bool) -> Json {
        Json { depth: 1, in_string: false, escaped: false, in_block }
    }

    /// Reads a byte. Returns `None` at the end of the answer, which is its last bracket or the end of its code block.
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

/// A code block: the character and run of its opening fence, and the containers around the fence, which are the number of `>`
/// signs and the columns of list items.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    mark: u8,
    run: usize,
    quotes: usize,
    indent: usize,
}

/// Returns the block that a line's fence would open, and the rest of the line. A fence is a run of three or more, after the
/// signs of containers and at most three spaces.
fn fence_of(line: &[u8]) -> Option<(Block, &[u8])> {
    let (quotes, indent, at) = containers(line);
    let (mark, run, info) = run_of(&line[at..])?;
    Some((Block { mark, run, quotes, indent }, info))
}

fn run_of(line: &[u8]) -> Option<(u8, usize, &[u8])> {
    let indent = line.iter().take_while(|&&byte| byte == b' ').count();
    let mark = *line.get(indent).filter(|&&byte| byte == b'`' || byte == b'~')?;
    let run = line[indent..].iter().take_while(|&&byte| byte == mark).count();
    (indent <= 3 && run >= 3).then(|| (mark, run, &line[indent + run..]))
}

/// Returns the `>` signs at the beginning of a line, the columns of its list items, and the position after both.
fn containers(line: &[u8]) -> (usize, usize, usize) {
    let (mut quotes, mut indent, mut at) = (0, 0, 0);
    loop {
        let spaces = line[at..].iter().take(3).take_while(|&&byte| byte == b' ').count();
        let rest = &line[at + spaces..];
        let digits = rest.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
        let sign = match rest.get(digits) {
            Some(b'>') if digits == 0 => 0,
            Some(b'-' | b'*' | b'+') if digits == 0 => 1,
            Some(b'.' | b')') if digits > 0 => digits + 1,
            _ => return (quotes, indent, at),
        };
        // Deeper containers are not recognised.
        if quotes.max(indent) > 60 || sign > 0 && rest.get(sign) != Some(&b' ') {
            return (quotes, indent, at);
        }
        if sign == 0 {
            quotes += 1;
            at += spaces + 1 + usize::from(rest.get(1) == Some(&b' '));
        } else {
            indent += spaces + sign + 1;
            at += spaces + sign + 1;
        }
    }
}

/// Returns the position in a line after the signs that continue the containers of its block, or `None` if the line does not
/// continue them. An unfinished line may still continue them.
fn continued(line: &[u8], block: Block) -> Option<usize> {
    let (mut quotes, mut indent, mut at) = (0, 0, 0);
    while quotes < block.quotes || indent < block.indent {
        match line.get(at) {
            None => return Some(at),
            Some(b' ') if indent < block.indent && (at == 0 || line[at - 1] != b'>') => indent += 1,
            Some(b' ') => {}
            Some(b'>') if quotes < block.quotes => quotes += 1,
            // A blank line continues a list item, but not a quote.
            Some(b'\r' | b'\n') if quotes == block.quotes => return Some(at),
            Some(_) => return None,
        }
        at += 1;
    }
    let has_space = at > 0 && line[at - 1] == b'>' && line.get(at) == Some(&b' ');
    Some(at + usize::from(has_space))
}

/// Returns whether the position after this beginning of a line is still in the block in which the line began.
pub(crate) fn is_inside(line: &[u8], block: Option<Block>) -> bool {
    block.is_some_and(|block| continued(line, block).is_some())
}

/// Returns the fence of a line that has left the block in which it began, or is in no block. A line that begins with `>` signs of
/// that block has no fence.
fn fence_outside(line: &[u8], block: Option<Block>) -> Option<(Block, &[u8])> {
    let has_signs = block.is_some_and(|block| block.quotes > 0 && line.trim_ascii_start().starts_with(b">"));
    if has_signs { None } else { fence_of(line) }
}

/// Returns whether the text after this beginning of a line is in the info of a fence. `block` is the block in which the line
/// began, which it has left.
pub(crate) fn in_fence_info(line: &[u8], next: u8, block: Option<Block>) -> bool {
    fence_outside(line, block).is_some_and(|(fence, info)| fence.mark == b'~' || !info.contains(&b'`') && next != b'`')
}

/// Returns the block after a whole line.
pub(crate) fn block_after(line: &[u8], block: Option<Block>) -> Option<Block> {
    if let Some(around) = block
        && let Some(at) = continued(line, around)
    {
        let closes = run_of(&line[at..]).is_some_and(|(mark, run, info)| {
            mark == around.mark && run >= around.run && info.iter().all(|&byte| blank(byte))
        });
        return if closes { None } else { block };
    }
    let (fence, info) = fence_outside(line, block)?;
    (fence.mark == b'~' || !info.contains(&b'`')).then_some(fence)
}

/// Returns whether the text after this beginning of a line is between backticks. An unfinished run of backticks opens or
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

/// A line with at most three spaces, three or more backticks or tildes, and more text.
pub(crate) struct FenceLine {
    pub(crate) mark: u8,
    pub(crate) run: usize,
    pub(crate) run_end: usize,
    /// The text after the run, without the line's end.
    pub(crate) info: Vec<u8>,
    /// Whether the line has a line end.
    pub(crate) whole: bool,
    /// The position of the line's `\n`, or the end of the text.
    pub(crate) line_end: usize,
}

impl FenceLine {
    /// Returns whether the line begins a code block inside a fence's body.
    pub(crate) fn nests(&self) -> bool {
        let letter = |&byte: &u8| byte.is_ascii_alphanumeric() || b"_+#-".contains(&byte);
        let token = (1..=64).contains(&self.info.len()) && self.info.iter().all(letter);
        match self.mark {
            b'`' => self.run <= 64 && self.whole && token,
            _ => true,
        }
    }

    /// Returns whether the line ends a code block that a run of `run` times `mark` began.
    pub(crate) fn ends(&self, mark: u8, run: usize) -> bool {
        self.mark == mark && self.run >= run && self.info.iter().all(|&byte| blank(byte))
    }
}
