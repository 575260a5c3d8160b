//! Lines and code fences: which of a text's lines are inside a code block, told from what has passed so far.

use super::tables::{FENCE_INDENT, FENCE_INFO, FENCE_TICKS, LineRule};

/// Space, tab, line feed, vertical tab, form feed, carriage return.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

pub fn is_language(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'#' | b'-')
}

/// The longest run, and the longest name of a language, that ordinary text has.
pub const COMMON_RUN: u32 = 4;
pub const COMMON_LANGUAGE: u32 = 12;

/// The code that a byte stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    None,
    /// A fenced block, or the line that opens one.
    Block,
    /// A span between backticks.
    Span,
}

/// Where in its line a text stands, and in which code block.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lines {
    at: At,
    /// Spaces, fence characters or bytes of a language token, by `at`.
    count: u32,
    /// The fence character of this line, and its run.
    mark: u8,
    run: u32,
    /// The fence that opened the block around this line; a run of 0 is no block.
    block_mark: u8,
    block_run: u32,
    /// Backticks directly before here.
    ticks: u32,
    /// The run that opened the code span around this text; 0 is none. Of inline guards alone.
    code: u32,
    /// Of a fence span: this line opens a nested block.
    nests: bool,
}

#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    /// Nothing or up to three spaces.
    Start,
    Run,
    /// Behind a run that may be a fence.
    Info,
    /// Behind a language token and a carriage return.
    Return,
    /// In a line that is no fence.
    Prose,
}

impl Lines {
    /// A line begins, outside all blocks.
    pub const NEW: Lines = Lines {
        at: At::Start,
        count: 0,
        mark: 0,
        run: 0,
        block_mark: 0,
        block_run: 0,
        ticks: 0,
        code: 0,
        nests: false,
    };

    /// A line begins in a block that three backticks opened.
    pub const IN_CODE: Lines = Lines { block_mark: b'`', block_run: 3, ..Lines::NEW };

    pub fn at_start(&self) -> bool {
        self.at == At::Start && self.count == 0
    }

    /// Nothing but a line's end or what may begin a marker can change anything here.
    pub fn is_settled(&self) -> bool {
        self.at == At::Prose && self.ticks == 0
    }

    /// Has a fence or a code span begun in this line, or what may be one? A block around it does not count.
    pub fn is_near_fence(&self) -> bool {
        self.run.max(self.ticks).max(self.code) > 0
    }

    /// Is it a place that ordinary text comes to?
    pub fn is_common(&self) -> bool {
        self.run.max(self.block_run).max(self.ticks).max(self.code) <= COMMON_RUN && self.count <= COMMON_LANGUAGE
    }

    /// A number that no other such place has.
    pub fn number(&self) -> Option<u64> {
        const { assert!(COMMON_RUN < 16 && COMMON_LANGUAGE < 16) };
        let kind = [self.mark.into(), self.block_mark.into(), self.at as u64, self.nests.into()];
        let kind = kind.iter().fold(0, |all, part| all << 8 | part);
        let counts = [self.count, self.run, self.block_run, self.ticks, self.code];
        self.is_common().then(|| counts.iter().fold(kind, |all, &count| all << 4 | u64::from(count)))
    }

    pub fn in_block(&self) -> bool {
        self.block_run > 0
    }

    /// The code that the next byte stands in, by a rule that follows it. A backtick refutes a backtick fence's info; a
    /// backtick after another one begins no marker, as if it stood between them.
    pub fn code(&self, byte: u8, rule: LineRule) -> Code {
        let in_span = match byte {
            _ if !rule.has_code_spans() || self.in_block() => false,
            // It ends the code span, and may be a marker's framing.
            b'\n' => false,
            b'`' => self.code != 0,
            _ => self.code_behind_run() != 0,
        };
        let behind_tick = byte == b'`' && self.ticks > 0;
        let in_block = match rule {
            LineRule::Guard { .. } => {
                let behind_run = self.at == At::Info || (self.at == At::Run && self.run >= 3);
                self.in_block() || behind_run && !(self.mark == b'`' && byte == b'`')
            }
            // There, blocks are nested ones: see `is_nested`.
            _ => false,
        };
        match (in_span || behind_tick, in_block) {
            (true, _) => Code::Span,
            (false, true) => Code::Block,
            (false, false) => Code::None,
        }
    }

    /// Of a fence span: is this byte inside a nested block, or in the line that opens one? A language token that is
    /// not over may still be prose.
    pub fn is_nested(&self, byte: u8) -> bool {
        let behind_run = self.at == At::Info || (self.at == At::Run && self.run >= 3 && byte != self.mark);
        let ends_token = self.at == At::Return || (behind_run && self.count > 0);
        self.nests
            || self.in_block()
            || (behind_run && self.mark == b'~')
            || (ends_token && matches!(byte, b'\r' | b'\n'))
    }

    /// The code span around the next byte, if that is no backtick: a run that ends here opens one or closes its like.
    fn code_behind_run(&self) -> u32 {
        match (self.code, self.ticks) {
            (code, 0) => code,
            (0, ticks) => ticks,
            (code, ticks) if code == ticks => 0,
            (code, _) => code,
        }
    }

    /// An attempt that began with this line has failed, and its first byte has not passed yet. `nests`: because the line
    /// opens a nested block.
    pub fn nest_if(&mut self, nests: bool) {
        self.nests |= nests;
    }

    /// After text that ended with this byte, outside all code.
    pub fn after(last: u8) -> Lines {
        let at = if last == b'\n' { At::Start } else { At::Prose };
        Lines { at, ..Lines::NEW }
    }

    pub fn pass(&mut self, byte: u8, rule: LineRule) {
        let is_fence = matches!(rule, LineRule::Fence { .. });
        if byte == b'`' && rule != (LineRule::Fence { inline: false }) {
            self.ticks = self.ticks.saturating_add(1);
        } else {
            if rule.has_code_spans() && !self.in_block() {
                self.code = if byte == b'\n' { 0 } else { self.code_behind_run() };
            }
            self.ticks = 0;
        }
        if matches!(rule, LineRule::Guard { fences: false, .. }) {
            self.at = At::Prose;
            return;
        }
        match self.at {
            At::Start => self.start(byte),
            At::Run if byte == self.mark => {
                self.run = self.run.saturating_add(1);
                if is_fence && byte == b'`' && self.run > FENCE_TICKS && !self.in_block() {
                    self.at = At::Prose;
                }
            }
            At::Run if self.run < 3 => self.prose(byte),
            At::Run => {
                self.at = At::Info;
                self.count = 0;
                self.info(byte, is_fence);
            }
            At::Info => self.info(byte, is_fence),
            At::Return => {
                if byte == b'\n' {
                    self.begin_block();
                } else {
                    self.prose(byte);
                }
            }
            At::Prose => self.prose(byte),
        }
    }

    fn start(&mut self, byte: u8) {
        let may_be_fence = byte == b'`' || byte == b'~';
        if byte == b' ' && self.count < FENCE_INDENT {
            self.count += 1;
        } else if may_be_fence && (!self.in_block() || byte == self.block_mark) {
            self.at = At::Run;
            self.mark = byte;
            self.run = 1;
        } else {
            self.prose(byte);
        }
    }

    fn prose(&mut self, byte: u8) {
        self.at = if byte == b'\n' { At::Start } else { At::Prose };
        (self.count, self.mark, self.run) = (0, 0, 0);
    }

    /// `is_fence`: inside a fence span.
    fn info(&mut self, byte: u8, is_fence: bool) {
        if self.in_block() {
            match byte {
                b'\n' if self.run >= self.block_run => *self = Lines::NEW,
                _ if is_blank(byte) && byte != b'\n' => {}
                _ => self.prose(byte),
            }
        } else if self.mark == b'~' || !is_fence {
            match byte {
                b'\n' => self.begin_block(),
                b'`' if self.mark == b'`' => self.prose(byte),
                _ => {}
            }
        } else {
            // Inside a fence span, only a language token and nothing else makes a backtick fence a nested block.
            match byte {
                _ if is_language(byte) && self.count < FENCE_INFO => self.count += 1,
                b'\n' if self.count > 0 => self.begin_block(),
                b'\r' if self.count > 0 => self.at = At::Return,
                _ => self.prose(byte),
            }
        }
    }

    fn begin_block(&mut self) {
        *self = Lines { block_mark: self.mark, block_run: self.run, ..Lines::NEW };
    }
}
