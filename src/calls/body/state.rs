//! The position in a body, and the steps that all forms of calls use: a piece, a word, a required literal, an end. This file does
//! not depend on the form of calls.

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

/// The maximum number of brackets, or elements, inside each other.
pub const MOST_NESTED: u8 = 64;

/// The role of bytes of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    /// Text outside calls.
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
    /// The end of a value. `is_repaired` means that its closer is missing.
    ValueEnd {
        is_repaired: bool,
    },
    /// The end of a call. `is_repaired` means that the closer of one of its values is missing.
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
    /// Returns the number of bytes of the step.
    pub fn len(&self) -> usize {
        match self {
            Step::Piece { len, .. } => *len,
            Step::Closer => 0,
        }
    }

    /// Returns whether the step ends a call because the text ends.
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
    /// Whether the name, the arguments and the id of the call's object have been read.
    pub(super) has_name: bool,
    pub(super) has_arguments: bool,
    pub(super) has_id: bool,
    /// Whether the object had any other member, except for a type and an index.
    pub(super) has_other: bool,
    /// Whether a value of the call ended without its closer.
    pub(super) is_repaired: bool,
    /// The last key.
    pub(super) key: Key,
    /// The number of the next bytes that were needed to decide the role of the bytes before them.
    pub(super) due: u16,
    pub(super) brackets: Brackets,
    /// The kind of bracket around the arguments, for a call in brackets.
    pub(super) bracket: u8,
    /// The position in a JSON value.
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
    /// Directly after a header. One of the header's fields may be the name of the call.
    AfterHeader,
    Between,
    /// Text outside calls. `is_new` means that the next byte is text, even if it might begin a marker.
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
    /// The call breaks at this place, because a closer is inside the text that was read last.
    Breaks,
    // In an object: before a member or the brace; at a known key; inside any other key; after a key; before a value.
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
    /// Inside the quotes of a name or an id with this length, and after them.
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
    // Keys and values in tags: before a key, in a key, after a key; before a type, in a type, after a type; before the value; in
    // the value.
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
    /// Inside a value. `has_closer` means that the value had a closer that did not count; `is_line`, that a line begins with
    /// the next byte.
    ValueText {
        has_closer: bool,
        is_line: bool,
    },
    CData,
    /// At the end of a value: the lengths of the framing before the closer, and of the closer.
    ValueEnd {
        framing: u16,
        len: u16,
    },
    // Nested elements: `content` is the content of the innermost element.
    Element {
        content: ElementContent,
    },
    ElementKey,
    AfterElementKey,
    /// Before the ends of all open elements.
    ElementEnds,
    // Keys and values in brackets.
    Argument {
        is_first: bool,
    },
    ArgumentComma,
    ArgumentKey,
    /// Inside a quoted key, which ends with a raw quote or `"`.
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

/// The content of the innermost element so far: only blanks, text, or another element.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum ElementContent {
    Blank,
    Text,
    Done,
}

/// A key, as its hash and, if all of its bytes are usual in keys, its length. For other keys the length is 0.
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

    /// Returns whether this byte is usual in keys.
    pub(super) fn may_have(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)
    }
}

/// The open brackets, two bits each, in the bytes of a `u128`: the alignment of a `u128` would make each stream larger.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, Default)]
pub(super) struct Brackets {
    kinds: [u8; 16],
    pub(super) depth: u8,
}

impl Brackets {
    pub(super) const OPEN: &[u8] = b"{[(";
    pub(super) const CLOSE: &[u8] = b"}])";

    /// Opens a bracket. Returns false if too many are open.
    pub(super) fn push(&mut self, kind: usize) -> bool {
        if self.depth == MOST_NESTED {
            return false;
        }
        self.kinds = (u128::from_ne_bytes(self.kinds) << 2 | kind as u128).to_ne_bytes();
        self.depth += 1;
        true
    }

    /// Returns the number of open brackets of a kind.
    pub(super) fn count(&self, kind: u8) -> u8 {
        let kinds = u128::from_ne_bytes(self.kinds);
        (0..self.depth).filter(|at| (kinds >> (2 * at)) & 3 == u128::from(kind)).count() as u8
    }

    /// Closes the innermost bracket. Returns false if it has another kind.
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

/// A transition: a step, or `None` if only the state has changed.
pub(super) type Transition = Result<Option<Step>, Decision>;

impl Body {
    /// Returns the position after the opener with this number.
    pub fn after_opener(opener: u8) -> Body {
        Body::at(State::Opened { opener })
    }

    /// Returns the position at the beginning of the body of a message with a header.
    pub fn after_header() -> Body {
        Body::at(State::AfterHeader)
    }

    /// Returns the position at the start of a stream that starts inside a body.
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

    /// Returns the depth of the element whose name was just read, and the name's hash.
    pub fn named_element(&self) -> Option<(usize, u32)> {
        (self.state == State::AfterElementKey).then(|| (self.brackets.depth.into(), self.key.hash))
    }

    /// Returns whether the position is in an element or its markers.
    pub fn is_in_element(&self) -> bool {
        matches!(self.state, State::Element { .. } | State::ElementKey | State::AfterElementKey)
    }

    pub(super) fn go(&mut self, state: State) -> Transition {
        self.state = state;
        Ok(None)
    }

    /// Returns a step: the next `len` bytes are this piece. Only this function makes steps, so that `due` is always reduced by
    /// their bytes.
    pub(super) fn piece(&mut self, piece: Piece, len: usize, state: State) -> Step {
        self.state = state;
        self.due = self.due.saturating_sub(len.min(usize::from(u16::MAX)) as u16);
        Step::Piece { piece, len, next: *self }
    }

    /// Returns a step of `len` bytes if `len` is not 0; otherwise continues in `state`.
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

    /// Waits for more bytes. If the text has ended, the call is cut instead.
    pub(super) fn more(&mut self, view: &View) -> Transition {
        if view.is_end { Ok(Some(self.cut())) } else { Err(Decision::More) }
    }

    /// Returns the answer. If it is `No` only because the text ends here, cuts the call instead.
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

    /// Reads blanks as framing, after which the body is in `state`. Returns `None` if there are no blanks.
    pub(super) fn blanks(&mut self, view: &View, state: State) -> Option<Step> {
        let len = view.text.iter().take_while(|&&byte| is_blank(byte)).count();
        (len > 0).then(|| self.piece(Piece::Framing, len, state))
    }

    /// Reads a required literal as framing.
    pub(super) fn must(&mut self, view: &View, literal: &[u8], state: State) -> Transition {
        match view.literal(0, literal) {
            Decision::Yes => self.some(Piece::Framing, literal.len(), state),
            Decision::No if view.is_end && literal.starts_with(view.text) => Ok(Some(self.cut())),
            seen => Err(seen),
        }
    }

    /// Reads a word of at most `MOST_OF_WORD` bytes up to a literal. The blanks around the word are framing.
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
        // The literal may begin with a blank, and its bytes may have arrived only after the word was read.
        let blanks = view.text.iter().take_while(|&&byte| is_blank(byte)).count();
        match (0..=blanks).find(|&at| view.literal(at, literal) != Decision::No) {
            None | Some(0) => self.must(view, literal, state),
            Some(before) => self.some(Piece::Framing, before, own),
        }
    }

    /// Reads an optional literal as framing. The next state is `state` if the literal is there, and `otherwise` if not.
    pub(super) fn may(&mut self, view: &View, literal: &[u8], state: State, otherwise: State) -> Transition {
        match view.literal(0, literal) {
            Decision::Yes => self.some(Piece::Framing, literal.len(), state),
            Decision::No => self.go(otherwise),
            Decision::More => Err(Decision::More),
        }
    }

    /// Reads a piece up to its last whole character. If there is no whole character, more bytes are needed.
    pub(super) fn run(&mut self, view: &View, piece: Piece, len: usize, state: State) -> Transition {
        let goes_on = len == view.text.len() && !view.is_end;
        let whole = if goes_on { len - incomplete_tail(view.text) } else { len };
        if whole == 0 { self.more(view) } else { self.some(piece, whole, state) }
    }

    /// Reads a piece up to the byte at an index, which ends the piece. The state changes only when that byte is next: until then
    /// the body stays inside the piece, in `own`, because the host may stop before the byte.
    pub(super) fn ends_at(&mut self, at: usize, piece: Piece, own: State, after: State) -> Transition {
        if at == 0 { self.go(after) } else { self.some(piece, at, own) }
    }

    /// Reads the text before an index, or returns `seen`, the decision about the index, if there is no such text.
    pub(super) fn before(&mut self, at: usize, piece: Piece, state: State, seen: Decision) -> Transition {
        if at > 0 { self.some(piece, at, state) } else { Err(seen) }
    }
}
