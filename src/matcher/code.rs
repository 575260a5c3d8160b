//! The tracker of Markdown code: which bytes of a text are in a fenced block or in a code span, decided by the text so far.
//! Markers there may be text. No byte is ever read twice for this.

use super::{
    bytes::{is_blank, is_language},
    grammar::{FENCE_INDENT, FENCE_INFO, FENCE_TICKS, LineRule},
};

/// The longest run, and the longest name of a language, that ordinary text has.
pub const COMMON_RUN: u32 = 4;
pub const COMMON_LANGUAGE: u32 = 12;

/// The number of kinds of bytes; see `kind`.
pub const KINDS: usize = 9;

/// Returns the kind of a byte: those of one kind change each tracker in the same way.
pub fn kind(byte: u8) -> usize {
    match byte {
        b'\n' => 1,
        b'\r' => 2,
        b' ' => 3,
        b'`' => 4,
        b'~' => 5,
        b'{' | b'[' => 8,
        _ if is_blank(byte) => 6,
        _ if is_language(byte) => 7,
        _ => 0,
    }
}

/// The code that a byte is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    None,
    /// A fenced block, or the line that opens one.
    Block,
    /// A span between backticks.
    Span,
}

/// The position of a text in its line, and the code block it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeTracker {
    at: LineState,
    /// Spaces, fence characters or bytes of a language token, by `at`.
    count: u32,
    /// The fence character of this line, and its run.
    fence_char: u8,
    fence_len: u32,
    /// The fence that opened the block around this line; a run of 0 means that there is none.
    block_char: u8,
    block_len: u32,
    /// Backticks directly before here.
    backticks: u32,
    /// The run that opened the code span around this text; 0 is none. Of inline guards alone.
    code: u32,
    /// In a fence span: this line opens a nested block.
    nests: bool,
    /// The line has mentioned an opener, but not yet its closer.
    mentions_tag: bool,
    /// The line has text that is not blank, after its last marker. Set only if the rule asks for it.
    has_words: bool,
    /// A call of this line was text, because it is in a sentence: so are those after it.
    is_sentence: bool,
    /// The block has nothing but blanks so far.
    is_new_block: bool,
    /// The last byte is the bracket with which the block begins.
    begins_json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LineState {
    /// Nothing or up to three spaces.
    Start,
    Run,
    /// After a run that may be a fence.
    Info,
    /// After a language token and a carriage return.
    Return,
    /// In a line that is not a fence.
    Prose,
}

impl CodeTracker {
    /// A line begins, outside all blocks.
    pub const NEW: CodeTracker = CodeTracker {
        at: LineState::Start,
        count: 0,
        fence_char: 0,
        fence_len: 0,
        block_char: 0,
        block_len: 0,
        backticks: 0,
        code: 0,
        nests: false,
        mentions_tag: false,
        has_words: false,
        is_sentence: false,
        is_new_block: false,
        begins_json: false,
    };

    /// A line begins in a block that three backticks opened.
    pub const IN_CODE: CodeTracker = CodeTracker { block_char: b'`', block_len: 3, ..CodeTracker::NEW };

    pub fn at_start(&self) -> bool {
        self.at == LineState::Start && self.count == 0
    }

    /// Returns whether only a line's end or the beginning of a marker can change anything here.
    pub fn is_settled(&self, rule: LineRule) -> bool {
        let has_begun = (self.has_words || !rule.has_words()) && !self.is_new_block;
        self.at == LineState::Prose && self.backticks == 0 && has_begun
    }

    /// Returns whether a fence or a code span has begun in this line, or may have. A block around it does not count.
    pub fn is_near_fence(&self) -> bool {
        self.fence_len.max(self.backticks).max(self.code) > 0
    }

    /// Returns whether it is a place that ordinary text comes to.
    pub fn is_common(&self) -> bool {
        self.fence_len.max(self.block_len).max(self.backticks).max(self.code) <= COMMON_RUN
            && self.count <= COMMON_LANGUAGE
            && !self.mentions_tag
            && !self.is_sentence
    }

    /// Returns a number that no other such place has.
    pub fn number(&self) -> Option<u64> {
        const { assert!(COMMON_RUN < 16 && COMMON_LANGUAGE < 16) };
        let is = [self.nests, self.has_words, self.is_new_block].into_iter().zip(0..);
        let is = is.fold(0, |all, (is, bit)| all | u64::from(is) << bit);
        let kind = [self.fence_char.into(), self.block_char.into(), self.at as u64, is];
        let kind = kind.iter().fold(0, |all, part| all << 8 | part);
        let counts = [self.count, self.fence_len, self.block_len, self.backticks, self.code];
        self.is_common().then(|| counts.iter().fold(kind, |all, &count| all << 4 | u64::from(count)))
    }

    pub fn in_block(&self) -> bool {
        self.block_len > 0
    }

    /// Returns the code that the next byte is in, by a rule that follows it. A backtick refutes a backtick fence's info;
    /// a backtick after another one begins no marker, as if it were between them.
    pub fn code(&self, byte: u8, rule: LineRule) -> Code {
        let in_span = match byte {
            _ if !rule.has_code_spans() || self.in_block() => false,
            // It ends the code span, and may be a marker's framing.
            b'\n' => false,
            b'`' => self.code != 0,
            _ => self.code_after_run() != 0,
        };
        let after_backtick = byte == b'`' && self.backticks > 0;
        let in_block = match rule {
            LineRule::Guard { .. } => {
                let after_run = self.at == LineState::Info || (self.at == LineState::Run && self.fence_len >= 3);
                self.in_block() || after_run && !(self.fence_char == b'`' && byte == b'`')
            }
            // There, blocks are nested ones: see `is_nested`.
            _ => false,
        };
        match (in_span || after_backtick, in_block) {
            (true, _) => Code::Span,
            (false, true) => Code::Block,
            (false, false) => Code::None,
        }
    }

    /// Returns, in a fence span, whether this byte is inside a nested block, or in the line that opens one. A language token
    /// that is not over may still be prose.
    pub fn is_nested(&self, byte: u8) -> bool {
        let after_run =
            self.at == LineState::Info || (self.at == LineState::Run && self.fence_len >= 3 && byte != self.fence_char);
        let ends_token = self.at == LineState::Return || (after_run && self.count > 0);
        self.nests
            || self.in_block()
            || (after_run && self.fence_char == b'~')
            || (ends_token && matches!(byte, b'\r' | b'\n'))
    }

    /// Returns the code span around the next byte, if that is not a backtick: a run that ends here opens one or closes its
    /// like.
    fn code_after_run(&self) -> u32 {
        match (self.code, self.backticks) {
            (code, 0) => code,
            (0, backticks) => backticks,
            (code, backticks) if code == backticks => 0,
            (code, _) => code,
        }
    }

    /// Notes that a recogniser which began with this line has failed, and that its first byte has not passed yet. `nests`:
    /// it has failed because the line opens a nested block.
    pub fn nest_if(&mut self, nests: bool) {
        self.nests |= nests;
    }

    /// Says whether the line has mentioned an opener, but not yet its closer.
    pub fn set_mentions_tag(&mut self, mentions_tag: bool) {
        self.mentions_tag = mentions_tag;
    }

    pub fn mentions_tag(&self) -> bool {
        self.mentions_tag
    }

    /// Returns whether the line has text that is not blank.
    pub fn has_words(&self) -> bool {
        self.has_words
    }

    /// Returns whether a call of this line was text, because it is in a sentence.
    pub fn is_sentence(&self) -> bool {
        self.is_sentence
    }

    pub fn set_sentence(&mut self) {
        self.is_sentence = true;
    }

    /// Notes a marker: words before it no longer count.
    pub fn lose_words(&mut self) {
        (self.has_words, self.is_sentence) = (false, false);
    }

    /// Returns whether the last byte is a bracket with which a block begins.
    pub fn begins_json(&self) -> bool {
        self.begins_json
    }

    /// Returns the place where most text is: in the middle of a line, outside all code.
    pub const fn in_prose(rule: LineRule) -> CodeTracker {
        let has_words = matches!(rule, LineRule::Guard { words: true, .. });
        CodeTracker { has_words, ..CodeTracker::after(b'.') }
    }

    /// Returns the place after text that ended with this byte, outside all code.
    pub const fn after(last: u8) -> CodeTracker {
        let at = if last == b'\n' { LineState::Start } else { LineState::Prose };
        CodeTracker { at, ..CodeTracker::NEW }
    }

    pub fn pass(&mut self, byte: u8, rule: LineRule) {
        self.begins_json = self.is_new_block && matches!(byte, b'{' | b'[');
        self.is_new_block &= is_blank(byte);
        if rule.has_words() {
            self.has_words = byte != b'\n' && (self.has_words || !is_blank(byte));
            self.is_sentence &= byte != b'\n';
        }
        let was_in_block = self.in_block();
        self.pass_line(byte, rule);
        if matches!(rule, LineRule::Guard { .. }) && self.in_block() && !was_in_block {
            self.is_new_block = true;
        }
    }

    fn pass_line(&mut self, byte: u8, rule: LineRule) {
        let is_fence = matches!(rule, LineRule::Fence { .. });
        self.mentions_tag &= byte != b'\n';
        if byte == b'`' && rule != (LineRule::Fence { inline: false }) {
            self.backticks = self.backticks.saturating_add(1);
        } else {
            if rule.has_code_spans() && !self.in_block() {
                self.code = if byte == b'\n' { 0 } else { self.code_after_run() };
            }
            self.backticks = 0;
        }
        if matches!(rule, LineRule::Guard { fences: false, .. }) {
            self.at = LineState::Prose;
            return;
        }
        match self.at {
            LineState::Start => self.start(byte),
            LineState::Run if byte == self.fence_char => {
                self.fence_len = self.fence_len.saturating_add(1);
                if is_fence && byte == b'`' && self.fence_len > FENCE_TICKS && !self.in_block() {
                    self.at = LineState::Prose;
                }
            }
            LineState::Run if self.fence_len < 3 => self.prose(byte),
            LineState::Run => {
                self.at = LineState::Info;
                self.count = 0;
                self.info(byte, is_fence);
            }
            LineState::Info => self.info(byte, is_fence),
            LineState::Return => {
                if byte == b'\n' {
                    self.begin_block();
                } else {
                    self.prose(byte);
                }
            }
            LineState::Prose => self.prose(byte),
        }
    }

    fn start(&mut self, byte: u8) {
        let may_be_fence = byte == b'`' || byte == b'~';
        if byte == b' ' && self.count < FENCE_INDENT {
            self.count += 1;
        } else if may_be_fence && (!self.in_block() || byte == self.block_char) {
            self.at = LineState::Run;
            self.fence_char = byte;
            self.fence_len = 1;
        } else {
            self.prose(byte);
        }
    }

    fn prose(&mut self, byte: u8) {
        self.at = if byte == b'\n' { LineState::Start } else { LineState::Prose };
        (self.count, self.fence_char, self.fence_len) = (0, 0, 0);
        // It does not open a nested block after all: the rest of the line that was read was never fed.
        self.nests = false;
    }

    /// Follows the info of a fence. `is_fence`: inside a fence span.
    fn info(&mut self, byte: u8, is_fence: bool) {
        if self.in_block() {
            match byte {
                b'\n' if self.fence_len >= self.block_len => *self = CodeTracker::NEW,
                _ if is_blank(byte) && byte != b'\n' => {}
                _ => self.prose(byte),
            }
        } else if self.fence_char == b'~' || !is_fence {
            match byte {
                b'\n' => self.begin_block(),
                b'`' if self.fence_char == b'`' => self.prose(byte),
                _ => {}
            }
        } else {
            // Inside a fence span, only a language token and nothing else makes a backtick fence a nested block.
            match byte {
                _ if is_language(byte) && self.count < FENCE_INFO => self.count += 1,
                b'\n' if self.count > 0 => self.begin_block(),
                b'\r' if self.count > 0 => self.at = LineState::Return,
                _ => self.prose(byte),
            }
        }
    }

    fn begin_block(&mut self) {
        *self = CodeTracker { block_char: self.fence_char, block_len: self.fence_len, ..CodeTracker::NEW };
    }
}
