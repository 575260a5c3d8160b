//! Tracks Markdown code: finds which bytes of a text are in a fenced block or in a code span, where markers may be text. It decides
//! from the text so far, and reads each byte once.

use super::{
    bytes::{is_blank, is_language},
    grammar::{FENCE_INDENT, FENCE_INFO, FENCE_TICKS, LineRule},
};

/// The longest run of fence characters, and the longest name of a language, in ordinary text.
pub const COMMON_RUN: u32 = 4;
pub const COMMON_LANGUAGE: u32 = 12;

/// The maximum number of digits of a list item's number in CommonMark.
const MOST_DIGITS: u32 = 9;

/// The number of kinds of bytes; see `kind`.
pub const KINDS: usize = 14;

/// Returns the kind of a byte. All bytes of one kind change a tracker in the same way.
pub fn kind(byte: u8) -> usize {
    match byte {
        b'\n' => 1,
        b'\r' => 2,
        b' ' => 3,
        b'`' => 4,
        b'~' => 5,
        b'{' | b'[' => 8,
        b'>' => 9,
        b'*' => 10,
        b'-' | b'+' => 11,
        b'.' | b')' => 12,
        b'0'..=b'9' => 13,
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

/// Block quotes and list items around a fence, as in CommonMark. A line that does not continue them ends the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Containers {
    /// The number of `>` signs.
    quotes: u8,
    /// The columns of list items: of their markers and the spaces around these.
    indent: u8,
}

impl Containers {
    const NONE: Containers = Containers { quotes: 0, indent: 0 };
    /// The maximum number of columns of list items, and of `>` signs, that are tracked.
    const MOST: u8 = 60;

    fn holds(self, inner: Containers) -> bool {
        inner.quotes >= self.quotes && inner.indent >= self.indent
    }
}

/// The position of a text in its line, and the code block it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeTracker {
    at: LineState,
    /// The number of spaces, of digits of a list item or of bytes of a language token, depending on `at`.
    count: u32,
    /// The containers that begin in this line, or, inside a block, those of the block that the line has continued so far.
    line: Containers,
    /// The fence character of this line, and the length of its run.
    fence_char: u8,
    fence_len: u32,
    /// The fence that opened the block around this line. A run of 0 means that there is no block.
    block_char: u8,
    block_len: u32,
    block: Containers,
    /// The number of backticks directly before this position.
    backticks: u32,
    /// The length of the run that opened the code span around this position, or 0. Only used if the dialect guards code spans.
    code: u32,
    /// In a fence span: whether this line opens a nested block.
    nests: bool,
    /// Whether the line has mentioned an opener, but not yet its closer.
    mentions_tag: bool,
    /// Whether the line has text that is not blank after its last marker. Set only if the rule needs it.
    has_words: bool,
    /// Whether a call on this line was text, because it was in a sentence. Later calls on the line are then text too.
    is_sentence: bool,
    /// Whether the block has only blanks so far.
    is_new_block: bool,
    /// Whether the last byte is a bracket with which the block begins.
    begins_json: bool,
}

// The number of bits of each part of a common state's number.
const _: () = assert!(COMMON_RUN < 8 && COMMON_LANGUAGE < 16);

/// The fence characters by their numbers; 0 means no fence.
const FENCES: [u8; 4] = [0, b'`', b'~', 0];

/// The states of a line by their numbers.
const LINE_STATES: [LineState; 16] = {
    use LineState::{Bullet, Digits, Info, Point, Prose, Quote, Return, Run, Start};
    [Start, Quote, Bullet, Digits, Point, Run, Info, Return, Prose, Prose, Prose, Prose, Prose, Prose, Prose, Prose]
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LineState {
    /// At the beginning of the line, or after signs of containers, with up to three spaces.
    Start,
    /// After `>`, which may have a space.
    Quote,
    /// After `-`, `*` or `+`.
    Bullet,
    /// In the number of a list item.
    Digits,
    /// After the number of a list item and its `.` or `)`.
    Point,
    Run,
    /// After a run that may be a fence.
    Info,
    /// After a language token and a carriage return.
    Return,
    /// In a line that is not a fence.
    Prose,
}

impl CodeTracker {
    /// The beginning of a line, outside all blocks.
    pub const NEW: CodeTracker = CodeTracker {
        at: LineState::Start,
        count: 0,
        line: Containers::NONE,
        fence_char: 0,
        fence_len: 0,
        block_char: 0,
        block_len: 0,
        block: Containers::NONE,
        backticks: 0,
        code: 0,
        nests: false,
        mentions_tag: false,
        has_words: false,
        is_sentence: false,
        is_new_block: false,
        begins_json: false,
    };

    /// The beginning of a line in a block that three backticks opened.
    pub const IN_CODE: CodeTracker = CodeTracker { block_char: b'`', block_len: 3, ..CodeTracker::NEW };

    pub fn at_start(&self) -> bool {
        self.at == LineState::Start && self.count == 0 && self.line == Containers::NONE
    }

    /// Returns whether only the end of the line or the beginning of a marker can change the state.
    pub fn is_settled(&self, rule: LineRule) -> bool {
        let has_begun = (self.has_words || !rule.has_words()) && !self.is_new_block;
        self.at == LineState::Prose && self.backticks == 0 && has_begun
    }

    /// Returns whether a fence or a code span has begun, or may have begun, in this line. A block around the line does not
    /// count.
    pub fn is_near_fence(&self) -> bool {
        self.fence_len.max(self.backticks).max(self.code) > 0
    }

    /// Returns whether ordinary text often reaches this state.
    pub fn is_common(&self) -> bool {
        self.fence_len.max(self.block_len).max(self.backticks).max(self.code) <= COMMON_RUN
            && self.count <= COMMON_LANGUAGE
            && self.block == Containers::NONE
            && (!self.is_in_containers() || self.has_common_containers())
            && !self.mentions_tag
            && !self.is_sentence
    }

    /// Returns whether the line so far has only spaces and signs, or beginnings of signs, of containers.
    pub fn is_in_containers(&self) -> bool {
        let is_sign = !matches!(self.at, LineState::Start | LineState::Run | LineState::Info | LineState::Return);
        self.line != Containers::NONE || is_sign && self.at != LineState::Prose
    }

    /// Returns whether the containers of such a line are common: one list item or one quote, not nested.
    fn has_common_containers(&self) -> bool {
        let is_common = match (self.at, self.line.quotes, self.line.indent) {
            (LineState::Digits, 0, 0) => self.count == 1,
            (LineState::Bullet, 0, 1 | 3 | 4) | (LineState::Point, 0, 2) => true,
            (LineState::Start, 0, 2..=5) | (LineState::Run, 0, 2 | 3) => self.count == 0,
            (LineState::Quote | LineState::Start | LineState::Run, 1, 0) => self.count == 0,
            _ => false,
        };
        is_common && self.block_len == 0 && (self.fence_len == 0 || self.fence_len == 1 && self.fence_char == b'`')
    }

    /// Returns a unique number of this state, if it is common.
    pub fn number(&self) -> Option<u32> {
        let fence = |byte: u8| u32::from(byte == b'`') | u32::from(byte == b'~') << 1;
        let is = u32::from(self.nests) << 22 | u32::from(self.has_words) << 21 | u32::from(self.is_new_block) << 20;
        let fences = fence(self.fence_char) << 25 | fence(self.block_char) << 23;
        let line = u32::from(self.line.quotes) << 19 | u32::from(self.line.indent) << 16;
        let counts = self.count << 12 | self.fence_len << 9 | self.block_len << 6 | self.backticks << 3 | self.code;
        self.is_common().then_some((self.at as u32) << 27 | fences | is | line | counts)
    }

    /// Returns the common state with this number.
    pub fn of_number(number: u32) -> CodeTracker {
        let part = |end: u32, bits: u32| number >> end & ((1 << bits) - 1);
        CodeTracker {
            at: LINE_STATES[part(27, 4) as usize],
            fence_char: FENCES[part(25, 2) as usize],
            block_char: FENCES[part(23, 2) as usize],
            nests: part(22, 1) != 0,
            has_words: part(21, 1) != 0,
            is_new_block: part(20, 1) != 0,
            line: Containers { quotes: part(19, 1) as u8, indent: part(16, 3) as u8 },
            count: part(12, 4),
            fence_len: part(9, 3),
            block_len: part(6, 3),
            backticks: part(3, 3),
            code: part(0, 3),
            ..CodeTracker::NEW
        }
    }

    pub fn in_block(&self) -> bool {
        self.block_len > 0
    }

    /// Returns the code that the next byte is in. A backtick in the info of a backtick fence shows that it is not a
    /// fence; a backtick after a backtick counts as inside a code span, since it does not begin a marker.
    pub fn code(&self, byte: u8, rule: LineRule) -> Code {
        let is_around = self.in_block() && !self.leaves(byte);
        let in_span = match byte {
            _ if !rule.has_code_spans() || is_around => false,
            // A line feed ends the code span, and may be the framing of a marker.
            b'\n' => false,
            b'`' => self.code != 0,
            _ => self.code_after_run() != 0,
        };
        let after_backtick = byte == b'`' && self.backticks > 0;
        let in_block = match rule {
            LineRule::Guard { .. } => {
                let after_run = self.at == LineState::Info || (self.at == LineState::Run && self.fence_len >= 3);
                is_around || after_run && !(self.fence_char == b'`' && byte == b'`')
            }
            // In a fence span, nested blocks are handled by `is_nested`.
            _ => false,
        };
        match (in_span || after_backtick, in_block) {
            (true, _) => Code::Span,
            (false, true) => Code::Block,
            (false, false) => Code::None,
        }
    }

    /// Returns, in a fence span, whether this byte is inside a nested block, or in the line that opens such a block. While a
    /// language token is not complete, the line may still be prose.
    pub fn is_nested(&self, byte: u8) -> bool {
        let after_run =
            self.at == LineState::Info || (self.at == LineState::Run && self.fence_len >= 3 && byte != self.fence_char);
        let ends_token = self.at == LineState::Return || (after_run && self.count > 0);
        self.nests
            || self.in_block()
            || (after_run && self.fence_char == b'~')
            || (ends_token && matches!(byte, b'\r' | b'\n'))
    }

    /// Returns the length of the run that opened the code span around the next byte, or 0. The byte must not be a backtick, so a
    /// run before it is complete: it opens a span, or closes a span that an equal run opened.
    fn code_after_run(&self) -> u32 {
        match (self.code, self.backticks) {
            (code, 0) => code,
            (0, backticks) => backticks,
            (code, backticks) if code == backticks => 0,
            (code, _) => code,
        }
    }

    /// Notes that a recogniser failed, before its first byte is read here as text. `nests` means that it failed because the line
    /// opens a nested block.
    pub fn nest_if(&mut self, nests: bool) {
        self.nests |= nests;
    }

    /// Forgets facts about bytes that were read but may never be fed, because a host can stop a call before the end of its chunk.
    pub fn forget_rest(&mut self) {
        self.nests = false;
    }

    /// Sets whether the line has mentioned an opener, but not yet its closer.
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

    /// Returns whether the line has only two blanks or more, or a blank other than a space.
    pub fn is_indented(&self, rule: LineRule) -> bool {
        let is_deep = self.at == LineState::Prose || self.at == LineState::Start && self.count > 1;
        rule.has_indents() && !self.has_words && !self.in_block() && is_deep
    }

    /// Returns whether a call on this line was text, because it was in a sentence.
    pub fn is_sentence(&self) -> bool {
        self.is_sentence
    }

    pub fn set_sentence(&mut self) {
        self.is_sentence = true;
    }

    /// Notes a marker. Words before it no longer count.
    pub fn lose_words(&mut self) {
        (self.has_words, self.is_sentence) = (false, false);
    }

    /// Returns whether the last byte is a bracket with which a block begins.
    pub fn begins_json(&self) -> bool {
        self.begins_json
    }

    /// Returns the state of most text: in the middle of a line, outside all code.
    pub const fn in_prose(rule: LineRule) -> CodeTracker {
        let has_words = matches!(rule, LineRule::Guard { words: true, .. });
        CodeTracker { has_words, ..CodeTracker::after(b'.') }
    }

    /// Returns the state after text that ended with this byte, outside all code.
    pub const fn after(last: u8) -> CodeTracker {
        let at = if last == b'\n' { LineState::Start } else { LineState::Prose };
        CodeTracker { at, ..CodeTracker::NEW }
    }

    pub fn pass(&mut self, byte: u8, rule: LineRule) {
        if self.leaves(byte) {
            self.leave();
        }
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
            LineState::Quote if byte == b' ' => self.at = LineState::Start,
            LineState::Start | LineState::Quote => self.start(byte, !is_fence),
            LineState::Digits if byte.is_ascii_digit() && self.count < MOST_DIGITS => self.count += 1,
            LineState::Digits if matches!(byte, b'.' | b')') => self.widen(LineState::Point, 1),
            LineState::Bullet | LineState::Point if byte == b' ' => self.widen(LineState::Start, 1),
            LineState::Bullet | LineState::Digits | LineState::Point => self.prose(byte),
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

    /// Returns whether the next byte shows that the line does not continue the containers of the block around it.
    fn leaves(&self, byte: u8) -> bool {
        let is_open = matches!(self.at, LineState::Start | LineState::Quote) && !self.block.holds(self.line);
        is_open
            && match byte {
                b' ' => false,
                b'>' => self.line.quotes >= self.block.quotes,
                // A blank line continues a list item, but not a quote.
                b'\r' | b'\n' => self.line.quotes < self.block.quotes,
                _ => true,
            }
    }

    /// Ends the block. The line now begins outside the block, with the signs that were already read.
    fn leave(&mut self) {
        let is_fresh = self.line.quotes == 0 && self.count <= FENCE_INDENT;
        self.at = if is_fresh { LineState::Start } else { LineState::Prose };
        self.count = if is_fresh { self.count } else { 0 };
        (self.line, self.block) = (Containers::NONE, Containers::NONE);
        (self.block_char, self.block_len) = (0, 0);
        self.is_new_block = false;
    }

    /// Reads a byte at the beginning of a line. `in_containers` means that a fence may be in a quote or in a list item.
    fn start(&mut self, byte: u8, in_containers: bool) {
        self.at = LineState::Start;
        let may_be_fence = byte == b'`' || byte == b'~';
        if !self.block.holds(self.line) {
            self.go_on(byte);
        } else if byte == b' ' && self.count < FENCE_INDENT {
            self.count += 1;
        } else if may_be_fence && (!self.in_block() || byte == self.block_char) {
            self.at = LineState::Run;
            self.count = if in_containers { 0 } else { self.count };
            self.fence_char = byte;
            self.fence_len = 1;
        } else if !in_containers || self.in_block() || self.line.quotes.max(self.line.indent) > Containers::MOST {
            self.prose(byte);
        } else {
            match byte {
                b'>' => self.quote(),
                b'-' | b'*' | b'+' => self.widen(LineState::Bullet, 1),
                b'0'..=b'9' => {
                    self.widen(LineState::Digits, 0);
                    self.count = 1;
                }
                _ => self.prose(byte),
            }
        }
    }

    /// Reads a byte at the beginning of a line in a block whose containers the line does not yet continue completely.
    fn go_on(&mut self, byte: u8) {
        match byte {
            b' ' => {
                self.count = self.count.saturating_add(1);
                self.line.indent += u8::from(self.line.indent < self.block.indent);
            }
            b'>' => self.quote(),
            _ => return self.prose(byte),
        }
        if self.block.holds(self.line) {
            self.count = 0;
        }
    }

    fn quote(&mut self) {
        self.at = LineState::Quote;
        self.line.quotes += 1;
        self.count = 0;
    }

    /// Adds the columns of a list item's sign, and of the spaces or digits that were counted.
    fn widen(&mut self, at: LineState, columns: u8) {
        self.at = at;
        self.line.indent += columns + self.count as u8;
        self.count = 0;
    }

    fn prose(&mut self, byte: u8) {
        self.at = if byte == b'\n' { LineState::Start } else { LineState::Prose };
        (self.count, self.fence_char, self.fence_len) = (0, 0, 0);
        self.line = Containers::NONE;
        // The line does not open a nested block, because the bytes that showed the block were not fed.
        self.nests = false;
    }

    /// Reads the info of a fence. `is_fence` means inside a fence span.
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
            // Inside a fence span, a backtick fence opens a nested block only if its info is one language token.
            match byte {
                _ if is_language(byte) && self.count < FENCE_INFO => self.count += 1,
                b'\n' if self.count > 0 => self.begin_block(),
                b'\r' if self.count > 0 => self.at = LineState::Return,
                _ => self.prose(byte),
            }
        }
    }

    fn begin_block(&mut self) {
        let (block_char, block_len) = (self.fence_char, self.fence_len);
        *self = CodeTracker { block_char, block_len, block: self.line, ..CodeTracker::NEW };
    }
}
