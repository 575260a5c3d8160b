//! The position in a body, and the steps that every way of writing a call uses: a piece, a word, a required literal, an end. It
//! knows no grammar.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::rest::Rest;
use crate::{
    calls::{
        head::Head,
        table::{MOST_OF_PLAIN_KEY, MOST_OF_WORD},
        view::{Decision, View},
    },
    json::Syntax,
    matcher::bytes::{is_blank, trim_end, trim_start},
    utf8::incomplete_tail,
};

/// The most brackets, or elements, inside each other.
pub const MOST_NESTED: u8 = 64;

/// The role of bytes of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Text of no call.
    Text,
    Framing,
    /// A call begins, by this table of the span.
    Call {
        table: u8,
    },
    Name,
    /// The name is the value of a header's field.
    NameOfHeader,
    Id,
    Key,
    Type,
    Value,
    /// `is_repaired`: the value ended without its closer.
    ValueEnd {
        is_repaired: bool,
    },
    /// `is_repaired`: a value of the call did.
    End {
        end: CallEnd,
        is_repaired: bool,
    },
}

/// Why a call ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallEnd {
    Marker,
    Implied,
    EndOfText,
    Forced,
    Malformed,
}

/// The next step in a body.
pub enum Step {
    /// The next `len` bytes are this piece, and `next` is the position after them.
    Piece { piece: Piece, len: usize, next: Body },
    /// A closer of the region ends the body.
    Closer,
}

impl Step {
    /// Returns the number of bytes that it takes.
    pub fn len(&self) -> usize {
        match self {
            Step::Piece { len, .. } => *len,
            Step::Closer => 0,
        }
    }

    /// Returns whether it ends a call because the text ends.
    pub fn is_cut(&self) -> bool {
        matches!(self, Step::Piece { piece: Piece::End { end: CallEnd::EndOfText, .. }, .. })
    }
}

/// A position in a body.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
pub struct Body {
    pub(super) state: State,
    /// The table of the call.
    pub(super) table: u8,
    /// The call's object has had its name, its arguments, its id.
    pub(super) has_name: bool,
    pub(super) has_arguments: bool,
    pub(super) has_id: bool,
    /// It has had a member that is none of these, nor a type or a number.
    pub(super) has_other: bool,
    /// A value of the call ended without its closer.
    pub(super) is_repaired: bool,
    /// The last key.
    pub(super) key: Key,
    /// The number of the next bytes that have decided the role of the bytes before them.
    pub(super) due: u16,
    pub(super) brackets: Brackets,
    /// The kind of bracket that the arguments are in, in a call that is written in brackets.
    pub(super) bracket: u8,
    /// Of a JSON value.
    pub(super) json: Syntax,
    pub(super) head: Head,
}

#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum State {
    /// After the opener with this number.
    Opened {
        opener: u8,
    },
    /// Directly after a header, whose field may be the name.
    AfterHeader,
    Between,
    /// Text of no call. `is_new`: its first byte is text, whatever it is.
    Opaque {
        is_new: bool,
    },
    /// The rest of a call that broke its grammar.
    Broken(Rest),
    /// The rest of a text that ends inside a call.
    Cut,
    /// In the head, before the piece with this number.
    Head {
        piece: u8,
    },
    /// After the arguments of a call that has no `end`.
    Ended,
    Implied,
    /// A closer is in the middle of the text that was read last.
    Breaks,
    // An object: before a member or the brace; at a key; inside any other key; after it; before a value.
    Member {
        is_first: bool,
    },
    Key,
    OtherKey {
        is_escaped: bool,
    },
    Colon {
        role: Role,
    },
    MemberValue {
        role: Role,
    },
    /// Inside the quotes of a name or an id, and after them: its length.
    Quoted {
        role: Role,
        len: u16,
    },
    Unquote,
    // A JSON value.
    Json {
        role: Role,
    },
    /// Before the arguments of a call with a head.
    Arguments,
    // Keys and values in tags: before a key, in it, after it; before a type, in it, after it; before the value; in the value.
    Pair {
        is_first: bool,
    },
    TagKey,
    AfterKey,
    BeforeType,
    TagType,
    AfterType,
    BeforeValue,
    ValueOpen,
    ValueStart,
    /// `has_closer`: the value has had a closer that did not count. `is_line`: a line begins with the next byte.
    ValueText {
        has_closer: bool,
        is_line: bool,
    },
    CData,
    /// The `len` bytes of framing before a value's end, and of that.
    ValueEnd {
        framing: u16,
        len: u16,
    },
    // Elements inside each other: `content` is that of the innermost one.
    Element {
        content: ElementContent,
    },
    ElementKey,
    AfterElementKey,
    /// Before the end of all elements that are open.
    ElementEnds,
    // Keys and values in brackets.
    Argument {
        is_first: bool,
    },
    ArgumentComma,
    ArgumentKey,
    /// The end of a quoted key: of the raw quote, or of `"`.
    ArgumentKeyWord {
        is_raw: bool,
    },
    ArgumentKeyEnd {
        is_raw: bool,
    },
    Assign,
    ArgumentValue,
    Literal {
        state: LiteralState,
    },
    LiteralEnd,
}

/// The role of an object's member.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Role {
    Name,
    Id,
    Arguments,
    Other,
}

/// The state inside a value that is written as a literal.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum LiteralState {
    Start,
    Word,
    Nest,
    Text { quote: u8, is_escaped: bool },
    Raw,
}

/// The content of the innermost element so far: nothing but blanks, text, or another element.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum ElementContent {
    Blank,
    Text,
    Done,
}

/// A key, by its hash, and its length if it has no bytes that are rare in keys; otherwise 0.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Key {
    pub(super) plain_len: u8,
    pub(super) hash: u32,
}

impl Key {
    pub(super) fn of(key: &[u8]) -> Key {
        let is_plain = key.len() <= MOST_OF_PLAIN_KEY && key.iter().all(|&byte| Key::may_have(byte));
        Key { plain_len: if is_plain { key.len() as u8 } else { 0 }, hash: FxBuildHasher.hash_one(key) as u32 }
    }

    /// Returns whether a plain key may have this byte.
    pub(super) fn may_have(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
    }
}

/// The brackets that are open, two bits each: the bytes of a `u128`, whose alignment would make each stream larger.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, Default)]
pub(super) struct Brackets {
    kinds: [u8; 16],
    pub(super) depth: u8,
}

impl Brackets {
    pub(super) const OPEN: &[u8] = b"{[(";
    pub(super) const CLOSE: &[u8] = b"}])";

    /// Opens one. Returns false where too many are open.
    pub(super) fn push(&mut self, kind: usize) -> bool {
        if self.depth == MOST_NESTED {
            return false;
        }
        self.kinds = (u128::from_ne_bytes(self.kinds) << 2 | kind as u128).to_ne_bytes();
        self.depth += 1;
        true
    }

    /// Returns the number of open ones of a kind.
    pub(super) fn count(&self, kind: u8) -> u8 {
        let kinds = u128::from_ne_bytes(self.kinds);
        (0..self.depth).filter(|at| (kinds >> (2 * at)) & 3 == u128::from(kind)).count() as u8
    }

    /// Closes the innermost one. Returns false if it has another kind.
    pub(super) fn pop(&mut self, kind: usize) -> bool {
        let kinds = u128::from_ne_bytes(self.kinds);
        if kinds & 3 != kind as u128 {
            return false;
        }
        self.kinds = (kinds >> 2).to_ne_bytes();
        self.depth -= 1;
        true
    }
}

/// A transition: its step, or none where only the state has changed.
pub(super) type Transition = Result<Option<Step>, Decision>;

impl Body {
    /// Returns the body of a span that the opener with this number has opened.
    pub fn after_opener(opener: u8) -> Body {
        Body::at(State::Opened { opener })
    }

    /// Returns the body of a message with a header.
    pub fn after_header() -> Body {
        Body::at(State::AfterHeader)
    }

    /// Returns the body of a stream that starts in it.
    pub fn started() -> Body {
        Body::at(State::Between)
    }

    pub(super) fn at(state: State) -> Body {
        Body {
            state,
            table: 0,
            has_name: false,
            has_arguments: false,
            has_id: false,
            has_other: false,
            is_repaired: false,
            key: Key::default(),
            due: 0,
            json: Syntax::START,
            brackets: Brackets::default(),
            bracket: 0,
            head: Head::default(),
        }
    }

    /// Returns the number of the table of the last call.
    pub fn table(&self) -> u8 {
        self.table
    }

    /// Returns whether a call is open.
    pub fn is_in_call(&self) -> bool {
        !matches!(
            self.state,
            State::Opened { .. }
                | State::AfterHeader
                | State::Between
                | State::Opaque { .. }
                | State::Broken(_)
                | State::Cut
        )
    }

    /// Returns the number of elements that are open.
    pub fn open_elements(&self) -> usize {
        if self.is_in_element() { self.brackets.depth.into() } else { 0 }
    }

    /// Returns the place of the element that has just got its name among those that are open, and the name's hash.
    pub fn named_element(&self) -> Option<(usize, u32)> {
        (self.state == State::AfterElementKey).then(|| (self.brackets.depth.into(), self.key.hash))
    }

    /// Returns whether the body is in an element, or in a marker of one.
    pub fn is_in_element(&self) -> bool {
        matches!(self.state, State::Element { .. } | State::ElementKey | State::AfterElementKey)
    }

    pub(super) fn go(&mut self, state: State) -> Transition {
        self.state = state;
        Ok(None)
    }

    /// Returns the step that the next `len` bytes are this piece. There is no other way to make one, so `due` counts no byte
    /// that is in a piece.
    pub(super) fn piece(&mut self, piece: Piece, len: usize, state: State) -> Step {
        self.state = state;
        self.due = self.due.saturating_sub(len.min(usize::from(u16::MAX)) as u16);
        Step::Piece { piece, len, next: *self }
    }

    /// Returns that step if `len` is not 0; otherwise continues in `state`.
    pub(super) fn some(&mut self, piece: Piece, len: usize, state: State) -> Transition {
        if len == 0 { self.go(state) } else { Ok(Some(self.piece(piece, len, state))) }
    }

    /// Ends the call with the next `len` bytes.
    pub(super) fn end(&mut self, end: CallEnd, len: usize) -> Step {
        let state = match end {
            CallEnd::Malformed => State::Broken(self.rest()),
            CallEnd::EndOfText => State::Cut,
            CallEnd::Marker | CallEnd::Implied | CallEnd::Forced => State::Between,
        };
        self.brackets = Brackets::default();
        self.piece(Piece::End { end, is_repaired: self.is_repaired }, len, state)
    }

    /// Ends the call where the text ends inside it.
    pub(super) fn cut(&mut self) -> Step {
        self.end(CallEnd::EndOfText, 0)
    }

    /// Waits for more bytes, which alone can decide. At the text's end there are none, and the call is cut.
    pub(super) fn more(&mut self, view: &View) -> Transition {
        if view.is_end { Ok(Some(self.cut())) } else { Err(Decision::More) }
    }

    /// Replaces an answer that the text's end has caused: if it is `No` for that reason alone, the call is cut.
    pub(super) fn or_cut<T>(
        &mut self,
        view: &View,
        answer: Result<T, Decision>,
        reach: usize,
    ) -> Result<Result<T, Step>, Decision> {
        match answer {
            Ok(value) => Ok(Ok(value)),
            Err(Decision::No) if view.is_end && view.text.len() <= reach => Ok(Err(self.cut())),
            Err(seen) => Err(seen),
        }
    }

    /// Passes blanks, after which the body is in `state`. Returns none if there are none.
    pub(super) fn blanks(&mut self, view: &View, state: State) -> Option<Step> {
        let len = view.text.iter().take_while(|&&byte| is_blank(byte)).count();
        (len > 0).then(|| self.piece(Piece::Framing, len, state))
    }

    /// Reads a literal that must come here, as framing.
    pub(super) fn must(&mut self, view: &View, literal: &[u8], state: State) -> Transition {
        match view.literal(0, literal) {
            Decision::Yes => self.some(Piece::Framing, literal.len(), state),
            Decision::No if view.is_end && literal.starts_with(view.text) => Ok(Some(self.cut())),
            seen => Err(seen),
        }
    }

    /// Reads a word up to a literal, `MOST_OF_WORD` bytes at most; the blanks around it are framing.
    pub(super) fn word(&mut self, view: &View, literal: &[u8], piece: Piece, state: State) -> Transition {
        let found = view.find(0, literal, MOST_OF_WORD);
        let len = match self.or_cut(view, found, MOST_OF_WORD)? {
            Ok(len) => len,
            Err(step) => return Ok(Some(step)),
        };
        let word = &view.text[..len];
        let before = len - trim_start(word).len();
        if before == len {
            return Err(Decision::No);
        }
        let own = self.state;
        if before > 0 {
            return self.some(Piece::Framing, before, own);
        }
        let word = trim_end(word);
        if piece == Piece::Key {
            self.key = Key::of(word);
        }
        self.some(piece, word.len(), state)
    }

    /// Reads the blanks after a word, and the literal that ends it, as framing.
    pub(super) fn word_end(&mut self, view: &View, literal: &[u8], state: State) -> Transition {
        let own = self.state;
        // The literal may begin with a blank, and have come in pieces since the word was read.
        let blanks = view.text.iter().take_while(|&&byte| is_blank(byte)).count();
        match (0..=blanks).find(|&at| view.literal(at, literal) != Decision::No) {
            None | Some(0) => self.must(view, literal, state),
            Some(before) => self.some(Piece::Framing, before, own),
        }
    }

    /// Reads a literal that may come here, as framing. The next state is `state` after it, and `otherwise` without it.
    pub(super) fn may(&mut self, view: &View, literal: &[u8], state: State, otherwise: State) -> Transition {
        match view.literal(0, literal) {
            Decision::Yes => self.some(Piece::Framing, literal.len(), state),
            Decision::No => self.go(otherwise),
            Decision::More => Err(Decision::More),
        }
    }

    /// Returns the whole characters of a piece that may be cut. If there is none, only more bytes can decide.
    pub(super) fn run(&mut self, view: &View, piece: Piece, len: usize, state: State) -> Transition {
        let goes_on = len == view.text.len() && !view.is_end;
        let whole = if goes_on { len - incomplete_tail(view.text) } else { len };
        if whole == 0 { self.more(view) } else { self.some(piece, whole, state) }
    }

    /// Reads a piece up to an index, where a byte ends it that is not part of it. That byte counts once it is the first one
    /// left: until then the body is inside the piece, in `own`, and another byte may come instead.
    pub(super) fn ends_at(&mut self, at: usize, piece: Piece, own: State, after: State) -> Transition {
        if at == 0 { self.go(after) } else { self.some(piece, at, own) }
    }

    /// Reads the text before an index, and then applies the decision made there.
    pub(super) fn before(&mut self, at: usize, piece: Piece, state: State, seen: Decision) -> Transition {
        if at > 0 { self.some(piece, at, state) } else { Err(seen) }
    }
}
