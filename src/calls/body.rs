//! The body of a tool span, told apart while it streams: calls, their names, ids, keys and values, and the framing between
//! them. It is asked for one piece at a time, and says what the next bytes are as soon as no continuation could change that.
//!
//! A value may have any length, and comes in pieces; so does framing and opaque text. Everything else is a word of bounded
//! length, and comes whole. Nothing is kept but where the body stands: the bytes stay with the scanner.

use super::{
    head::{self, Head},
    table::{
        BodyRule, CDATA, CDATA_END, CallTable, CallTables, LiteralRule, MOST_OF_NAME, MOST_OF_WORD, ObjectRule,
        TagsRule,
    },
    view::{Seen, View},
};
use crate::{
    matcher::bytes::{contains, is_blank},
    utf8::incomplete_tail,
};

/// The most brackets, or elements, inside each other.
const MOST_NESTED: u8 = 64;

/// What bytes of a body are.
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
    ValueEnd,
    End(CallEnd),
}

/// Why a call ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallEnd {
    Marker,
    Implied,
    EndOfText,
    Malformed,
}

/// What comes next.
pub enum Step {
    /// Only more bytes can tell; at the text's end there is nothing more.
    More,
    /// The next `len` bytes are this, and `next` stands after them.
    Piece { piece: Piece, len: usize, next: Body },
    /// A closer of the region ends the body.
    Closer,
}

/// Where a body stands.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy)]
pub struct Body {
    state: State,
    /// The table of the call.
    table: u8,
    /// The call's object has had its name, its arguments, its id.
    has_name: bool,
    has_arguments: bool,
    has_id: bool,
    brackets: Brackets,
    head: Head,
}

#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    /// After the opener with this number.
    Opened {
        opener: u8,
    },
    /// Directly after a header, whose field may be the name.
    AfterHeader,
    Between,
    /// Text of no call. `is_bad`: of one that broke its grammar, whose `end` ends the text too. `is_new`: its first byte is
    /// text, whatever it is.
    Opaque {
        is_bad: bool,
        is_new: bool,
    },
    /// What is left of a text that ends inside a call.
    Rest,
    /// In the head, before the piece with this number.
    Head {
        piece: u8,
    },
    /// After the arguments; of a call that has no end of its own.
    Ended,
    Implied,
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
        part: Json,
        role: Role,
    },
    /// Before the arguments of a call with a head.
    Arguments,
    // Keys and values in tags: before a key; in it; after it; before the type, the value; in the value.
    Pair,
    TagKey,
    AfterKey,
    BeforeType,
    TagType,
    BeforeValue,
    ValueOpen,
    ValueStart,
    ValueText {
        is_cdata: bool,
    },
    /// The `len` bytes of framing before a value's end, and of that.
    ValueEnd {
        framing: u16,
        len: u16,
    },
    // Elements inside each other: `leaf` says what the innermost one has had.
    Element {
        leaf: Leaf,
    },
    ElementKey,
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
        part: Part,
    },
    LiteralEnd,
}

/// What a member of an object is.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
enum Role {
    Name,
    Id,
    Arguments,
    Other,
}

/// Where in a JSON value.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
enum Json {
    Start,
    /// In a number or a word.
    Word,
    /// In brackets, outside of strings.
    Nest,
    Text {
        is_escaped: bool,
    },
}

/// Where in a value of a literal.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
enum Part {
    Start,
    Word,
    Nest,
    Text { quote: u8, is_escaped: bool },
    Raw,
}

/// What the innermost element has had: nothing but blanks, text, or another element.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, PartialEq, Debug)]
enum Leaf {
    Blank,
    Text,
    Done,
}

/// The brackets that are open, two bits each.
#[cfg_attr(test, derive(Hash))]
#[derive(Clone, Copy, Default)]
struct Brackets {
    kinds: u128,
    depth: u8,
}

impl Brackets {
    const OPEN: &[u8] = b"{[(";
    const CLOSE: &[u8] = b"}])";

    /// Opens one. Returns false where too many are open.
    fn push(&mut self, kind: usize) -> bool {
        if self.depth == MOST_NESTED {
            return false;
        }
        self.kinds = self.kinds << 2 | kind as u128;
        self.depth += 1;
        true
    }

    /// Closes the innermost one. Returns whether it is of this kind.
    fn pop(&mut self, kind: usize) -> bool {
        let is_same = self.kinds & 3 == kind as u128;
        self.kinds >>= 2;
        self.depth -= 1;
        is_same
    }
}

/// A step, or none where only the state has changed.
type Turn = Result<Option<Step>, Seen>;

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

    fn at(state: State) -> Body {
        Body {
            state,
            table: 0,
            has_name: false,
            has_arguments: false,
            has_id: false,
            brackets: Brackets::default(),
            head: Head::default(),
        }
    }

    /// Returns whether a call is open.
    pub fn is_in_call(&self) -> bool {
        !matches!(
            self.state,
            State::Opened { .. } | State::AfterHeader | State::Between | State::Opaque { .. } | State::Rest
        )
    }

    /// Returns what comes next.
    pub fn next(&self, tables: &CallTables, view: &View) -> Step {
        let mut body = *self;
        loop {
            match body.turn(tables, view) {
                // A word that was seen whole before: less of it is there now.
                Ok(Some(Step::Piece { len, .. })) if len > view.text.len() => return Step::More,
                Ok(Some(step)) => return step,
                Ok(None) => {}
                Err(Seen::More) => return Step::More,
                // The body breaks its grammar before the next byte.
                Err(_) => return body.end(CallEnd::Malformed, 0),
            }
        }
    }

    /// Returns what held bytes are that the host wants at once, and where the body stands after them; `End` where they end the
    /// call and are text after that.
    pub fn flush(&self) -> (Piece, Body) {
        let (piece, state) = match self.state {
            State::Json { role: Role::Arguments, .. }
            | State::ValueText { .. }
            | State::Literal { .. }
            | State::Element { leaf: Leaf::Blank | Leaf::Text } => (Piece::Value, self.state),
            State::Json { .. } | State::OtherKey { .. } => (Piece::Framing, self.state),
            _ if self.is_in_call() => {
                let opaque = State::Opaque { is_bad: true, is_new: false };
                (Piece::End(CallEnd::Malformed), opaque)
            }
            _ => (Piece::Text, State::Opaque { is_bad: false, is_new: false }),
        };
        (piece, Body { state, ..*self })
    }

    fn turn(&mut self, tables: &CallTables, view: &View) -> Turn {
        if view.text.is_empty() && !self.has_empty_piece() {
            let is_cut = view.is_end && self.is_in_call();
            return Ok(Some(if is_cut { self.cut() } else { Step::More }));
        }
        match self.state {
            State::Opened { opener } => match head::pick_begun(tables, opener, view) {
                Ok(table) => self.begin(tables, view, table, true),
                Err(Seen::No) => self.go(State::Between),
                Err(seen) => Err(seen),
            },
            State::AfterHeader => match tables.tables.iter().position(|table| table.head.name_from.is_some()) {
                Some(table) => self.begin(tables, view, table as u8, true),
                None => self.go(State::Between),
            },
            State::Between => self.between(tables, view),
            State::Opaque { is_bad, is_new } => self.opaque(tables, view, is_bad, is_new),
            State::Rest => Ok(Some(self.piece(Piece::Text, view.text.len(), State::Rest))),
            _ => self.turn_in_call(tables, view),
        }
    }

    /// Whether what comes next has no bytes.
    fn has_empty_piece(&self) -> bool {
        match self.state {
            State::Head { piece } => self.head.lens[usize::from(piece)..].iter().all(|&len| len == 0),
            State::AfterHeader | State::Implied | State::ElementEnds | State::LiteralEnd => true,
            State::ValueEnd { framing: 0, len: 0 } => true,
            _ => false,
        }
    }

    fn turn_in_call(&mut self, tables: &CallTables, view: &View) -> Turn {
        let table = tables.table(self.table);
        match (self.state, &table.body) {
            (State::Head { piece }, _) => self.piece_of_head(table, piece),
            (State::Ended, _) => self.ended(tables, table, view),
            (State::Implied, _) => Ok(Some(self.end(CallEnd::Implied, 0))),
            (State::Json { part, role }, _) => self.json(tables, table, view, part, role),
            (_, BodyRule::Object(rule)) => self.object(rule, view),
            (_, BodyRule::Json) => self.arguments(table, view),
            (_, BodyRule::Tags(rule)) => self.tags(table, rule, view),
            (_, BodyRule::Literal(rule)) => self.literal(tables, rule, view),
        }
    }

    // ---- steps ----

    fn go(&mut self, state: State) -> Turn {
        self.state = state;
        Ok(None)
    }

    /// The next `len` bytes are this.
    fn piece(&mut self, piece: Piece, len: usize, state: State) -> Step {
        self.state = state;
        Step::Piece { piece, len, next: *self }
    }

    /// The same; nothing where there are no bytes.
    fn some(&mut self, piece: Piece, len: usize, state: State) -> Turn {
        if len == 0 { self.go(state) } else { Ok(Some(self.piece(piece, len, state))) }
    }

    /// The call ends with the next `len` bytes.
    fn end(&mut self, end: CallEnd, len: usize) -> Step {
        let state = match end {
            CallEnd::Malformed => State::Opaque { is_bad: true, is_new: false },
            CallEnd::EndOfText => State::Rest,
            CallEnd::Marker | CallEnd::Implied => State::Between,
        };
        self.brackets = Brackets::default();
        self.piece(Piece::End(end), len, state)
    }

    /// The text ends inside the call.
    fn cut(&mut self) -> Step {
        self.end(CallEnd::EndOfText, 0)
    }

    /// Only more bytes can tell: at the text's end none come, and the call is cut.
    fn more(&mut self, view: &View) -> Turn {
        if view.is_end { Ok(Some(self.cut())) } else { Err(Seen::More) }
    }

    /// An answer that the text's end has not made: where it is `No` for that reason alone, the call is cut.
    fn or_cut<T>(&mut self, view: &View, answer: Result<T, Seen>, reach: usize) -> Result<Result<T, Step>, Seen> {
        match answer {
            Ok(value) => Ok(Ok(value)),
            Err(Seen::No) if view.is_end && view.text.len() <= reach => Ok(Err(self.cut())),
            Err(seen) => Err(seen),
        }
    }

    /// Passes blanks, after which `state` stands. Returns none where there are none.
    fn blanks(&mut self, view: &View, state: State) -> Option<Step> {
        let len = view.text.iter().take_while(|&&byte| is_blank(byte)).count();
        (len > 0).then(|| self.piece(Piece::Framing, len, state))
    }

    /// A literal that must come here, as framing.
    fn must(&mut self, view: &View, literal: &[u8], state: State) -> Turn {
        match view.literal(0, literal) {
            Seen::Yes => self.some(Piece::Framing, literal.len(), state),
            Seen::No if view.is_end && literal.starts_with(view.text) => Ok(Some(self.cut())),
            seen => Err(seen),
        }
    }

    /// A word up to a literal, `MOST_OF_WORD` bytes at most; the blanks around it are framing.
    fn word(&mut self, view: &View, literal: &[u8], piece: Piece, state: State) -> Turn {
        let found = view.find(0, literal, MOST_OF_WORD);
        let len = match self.or_cut(view, found, MOST_OF_WORD)? {
            Ok(len) => len,
            Err(step) => return Ok(Some(step)),
        };
        let word = &view.text[..len];
        let before = word.iter().take_while(|&&byte| is_blank(byte)).count();
        if before == len {
            return Err(Seen::No);
        }
        let own = self.state;
        if before > 0 {
            return self.some(Piece::Framing, before, own);
        }
        let after = word.iter().rev().take_while(|&&byte| is_blank(byte)).count();
        self.some(piece, len - after, state)
    }

    /// As much of a piece that may be cut as is whole: its characters.
    fn run(&mut self, view: &View, piece: Piece, len: usize, state: State) -> Turn {
        let tail = match len == view.text.len() && !view.is_end {
            true => incomplete_tail(&view.text[..len]),
            false => 0,
        };
        if len == tail { Err(Seen::More) } else { Ok(Some(self.piece(piece, len - tail, state))) }
    }

    // ---- between calls ----

    fn between(&mut self, tables: &CallTables, view: &View) -> Turn {
        match view.closer(0) {
            Seen::Yes => return Ok(Some(Step::Closer)),
            Seen::More => return Err(Seen::More),
            Seen::No => {}
        }
        match head::pick(tables, view, 0) {
            Ok(table) => return self.begin(tables, view, table, false),
            Err(Seen::No) => {}
            Err(seen) => return Err(seen),
        }
        match view.longest(0, &tables.skips) {
            Ok(len) => return self.some(Piece::Framing, len, State::Between),
            Err(Seen::No) => {}
            Err(seen) => return Err(seen),
        }
        if is_blank(view.text[0]) || contains(&tables.between, view.text[0]) {
            let is_framing = |at: usize| {
                let other = view.closer(at);
                let begin = view.longest(at, &tables.begins).err();
                let skip = view.longest(at, &tables.skips).err();
                is_blank(view.text[at]) && other == Seen::No && begin == Some(Seen::No) && skip == Some(Seen::No)
            };
            let len = (1..view.text.len()).find(|&at| !is_framing(at)).unwrap_or(view.text.len());
            return self.some(Piece::Framing, len, State::Between);
        }
        self.go(State::Opaque { is_bad: false, is_new: true })
    }

    /// Begins a call by this table. `is_begun`: what begins it came before.
    fn begin(&mut self, tables: &CallTables, view: &View, number: u8, is_begun: bool) -> Turn {
        let table = tables.table(number);
        self.table = number;
        let has_begin = !is_begun && view.literal(0, &table.begin) == Seen::Yes;
        let begin = if has_begin { table.begin.len() } else { 0 };
        let (len, state) = match &table.body {
            BodyRule::Object(_) if begin > 0 => return self.some(Piece::Framing, begin, State::Between),
            BodyRule::Object(_) => {
                (self.has_name, self.has_arguments, self.has_id) = (false, false, false);
                (1, State::Member { is_first: true })
            }
            _ => {
                self.head = match &table.head.name_from {
                    Some(_) => Head::default(),
                    None => head::read_head(table, view, begin)?,
                };
                (begin, State::Head { piece: 0 })
            }
        };
        Ok(Some(self.piece(Piece::Call { table: number }, len, state)))
    }

    /// Text up to the next closer or `begin`, or through the `end` of the call that broke its grammar.
    fn opaque(&mut self, tables: &CallTables, view: &View, is_bad: bool, is_new: bool) -> Turn {
        let end = if is_bad { &tables.table(self.table).end[..] } else { &[] };
        let mut at = usize::from(is_new);
        let state = State::Opaque { is_bad, is_new: false };
        let (len, state) = loop {
            if at == view.text.len() {
                break (at, state);
            }
            let begin = view.longest(at, &tables.begins).map_or_else(|seen| seen, |_| Seen::Yes);
            match view.closer(at).or(begin) {
                Seen::Yes => break (at, State::Between),
                Seen::More => break (at, state),
                Seen::No => {}
            }
            if !end.is_empty() {
                match view.literal(at, end) {
                    Seen::Yes => break (at + end.len(), State::Between),
                    Seen::More => break (at, state),
                    Seen::No => {}
                }
            }
            at += 1;
        };
        match (len, state) {
            (0, State::Between) => self.go(state),
            (0, _) => Err(Seen::More),
            (_, State::Between) => self.some(Piece::Text, len, state),
            _ if len < view.text.len() => self.some(Piece::Text, len, state),
            _ => self.run(view, Piece::Text, len, state),
        }
    }

    fn piece_of_head(&mut self, table: &CallTable, piece: u8) -> Turn {
        if table.head.name_from.is_some() {
            return Ok(Some(self.piece(Piece::NameOfHeader, 0, State::Arguments)));
        }
        let number = usize::from(piece);
        let len = usize::from(self.head.lens[number]);
        let state = match (number + 1 == Head::PIECES, &table.body) {
            (false, _) => State::Head { piece: piece + 1 },
            (_, BodyRule::Json) => State::Arguments,
            (_, BodyRule::Tags(rule)) if rule.nested.is_some() => State::Element { leaf: Leaf::Done },
            (_, BodyRule::Tags(_)) => State::Pair,
            _ => State::Argument { is_first: true },
        };
        let kind = match number {
            Head::NAME => Piece::Name,
            _ if Head::is_id(number, table.head.is_id) => Piece::Id,
            _ => Piece::Framing,
        };
        self.some(kind, len, state)
    }

    /// After the arguments: the call's `end`, or what implies it.
    fn ended(&mut self, tables: &CallTables, table: &CallTable, view: &View) -> Turn {
        if let Some(step) = self.blanks(view, State::Ended) {
            return Ok(Some(step));
        }
        if !table.end.is_empty() {
            match view.literal(0, &table.end) {
                Seen::Yes => return Ok(Some(self.end(CallEnd::Marker, table.end.len()))),
                Seen::More => return Err(Seen::More),
                Seen::No => {}
            }
        }
        let begin = view.longest(0, &tables.begins).map_or_else(|seen| seen, |_| Seen::Yes);
        view.closer(0).or(begin).ok()?;
        Ok(Some(self.end(CallEnd::Implied, 0)))
    }

    // ---- JSON ----

    fn arguments(&mut self, table: &CallTable, view: &View) -> Turn {
        if let Some(step) = self.blanks(view, State::Arguments) {
            return Ok(Some(step));
        }
        let end = if table.end.is_empty() { Seen::No } else { view.literal(0, &table.end) };
        match view.closer(0).or(end) {
            Seen::Yes => {
                let state = self.after_json(table);
                return self.go(state);
            }
            Seen::More => return Err(Seen::More),
            Seen::No => {}
        }
        view.one_of(0, b"{")?;
        self.go(State::Json { part: Json::Start, role: Role::Arguments })
    }

    /// After the object of a call with a head.
    fn after_json(&self, table: &CallTable) -> State {
        if table.end.is_empty() { State::Implied } else { State::Ended }
    }

    /// A JSON value: its strings and brackets, and what may break it, are all that is looked at.
    fn json(&mut self, tables: &CallTables, table: &CallTable, view: &View, part: Json, role: Role) -> Turn {
        let text = view.text;
        let piece = if role == Role::Arguments { Piece::Value } else { Piece::Framing };
        let is_object = matches!(table.body, BodyRule::Object(_));
        let done = match is_object {
            true => State::Member { is_first: false },
            false => self.after_json(table),
        };
        let stops = |at: usize| -> Seen {
            let seen = view.closer(at);
            if is_object {
                return seen;
            }
            let end = if table.end.is_empty() { Seen::No } else { view.literal(at, &table.end) };
            let begin = view.longest(at, &tables.begins).map_or_else(|seen| seen, |_| Seen::Yes);
            seen.or(end).or(begin)
        };
        let (mut part, mut at) = (part, 0);
        if part == Json::Start {
            match text[0] {
                b'"' => (part, at) = (Json::Text { is_escaped: false }, 1),
                b'{' | b'[' => part = Json::Nest,
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => part = Json::Word,
                _ => return Err(Seen::No),
            }
        }
        loop {
            if at == text.len() {
                if view.is_end {
                    return self.some_or(piece, at, State::Json { part, role });
                }
                return self.run(view, piece, at, State::Json { part, role });
            }
            if let Json::Text { is_escaped } = part {
                let rest = &text[at..];
                match (is_escaped, memchr::memchr2(b'"', b'\\', rest)) {
                    (true, _) => (part, at) = (Json::Text { is_escaped: false }, at + 1),
                    (false, None) => at = text.len(),
                    (false, Some(len)) if rest[len] == b'\\' => {
                        (part, at) = (Json::Text { is_escaped: true }, at + len + 1);
                    }
                    (false, Some(len)) => {
                        at += len + 1;
                        part = Json::Nest;
                        if self.brackets.depth == 0 {
                            return self.some(piece, at, done);
                        }
                    }
                }
                continue;
            }
            let byte = text[at];
            let stop = if byte == b'"' { Seen::No } else { stops(at) };
            match stop {
                Seen::More if at > 0 => return self.some(piece, at, State::Json { part, role }),
                Seen::More => return Err(Seen::More),
                Seen::Yes if self.brackets.depth == 0 => return self.some(piece, at, done),
                Seen::Yes => return self.broken(piece, at, State::Json { part, role }),
                Seen::No => {}
            }
            match byte {
                b'"' => part = Json::Text { is_escaped: false },
                b'{' | b'[' => {
                    if !self.brackets.push(usize::from(byte == b'[')) {
                        return self.broken(piece, at, State::Json { part, role });
                    }
                    part = Json::Nest;
                }
                b'}' | b']' if self.brackets.depth == 0 => return self.some(piece, at, done),
                b'}' | b']' => {
                    let kinds = self.brackets;
                    if !self.brackets.pop(usize::from(byte == b']')) {
                        self.brackets = kinds;
                        return self.broken(piece, at, State::Json { part, role });
                    }
                    if self.brackets.depth == 0 {
                        return self.some(piece, at + 1, done);
                    }
                }
                b',' if self.brackets.depth == 0 => return self.some(piece, at, done),
                _ if self.brackets.depth == 0 && is_blank(byte) => return self.some(piece, at, done),
                _ => {}
            }
            at += 1;
        }
    }

    /// The text breaks its grammar at an index: what comes before it is told first.
    fn broken(&mut self, piece: Piece, at: usize, state: State) -> Turn {
        if at > 0 { self.some(piece, at, state) } else { Err(Seen::No) }
    }

    /// The last bytes of the text, and then the cut.
    fn some_or(&mut self, piece: Piece, len: usize, state: State) -> Turn {
        if len > 0 { self.some(piece, len, state) } else { Ok(Some(self.cut())) }
    }

    // ---- objects ----

    fn object(&mut self, rule: &ObjectRule, view: &View) -> Turn {
        match self.state {
            State::Member { .. } | State::Key | State::Colon { .. } | State::MemberValue { .. } => {
                let own = self.state;
                if let Some(step) = self.blanks(view, own) {
                    return Ok(Some(step));
                }
            }
            _ => {}
        }
        match self.state {
            State::Member { is_first } => match (view.text[0], is_first) {
                (b'}', _) => {
                    let end = if self.has_name { CallEnd::Marker } else { CallEnd::Malformed };
                    let step = self.end(end, 1);
                    Ok(Some(match (step, end) {
                        // The whole object was read: what comes after it is between calls.
                        (Step::Piece { piece, len, mut next }, CallEnd::Malformed) => {
                            next.state = State::Between;
                            Step::Piece { piece, len, next }
                        }
                        (step, _) => step,
                    }))
                }
                (b',', false) => self.some(Piece::Framing, 1, State::Key),
                (_, false) => Err(Seen::No),
                (_, true) => self.go(State::Key),
            },
            State::Key => self.key(rule, view),
            State::OtherKey { is_escaped } => {
                let (len, state) = rest_of_string(view.text, is_escaped);
                match state {
                    None => self.some(Piece::Framing, len, State::Colon { role: Role::Other }),
                    Some(is_escaped) if view.is_end => self.some(Piece::Framing, len, State::OtherKey { is_escaped }),
                    Some(is_escaped) => self.run(view, Piece::Framing, len, State::OtherKey { is_escaped }),
                }
            }
            State::Colon { role } => {
                view.one_of(0, b":")?;
                self.some(Piece::Framing, 1, State::MemberValue { role })
            }
            State::MemberValue { role } => self.member_value(view, role),
            State::Quoted { role, len } => {
                let (piece, state) = match role {
                    Role::Name => (Piece::Name, State::Unquote),
                    _ => (Piece::Id, State::Unquote),
                };
                self.some(piece, usize::from(len), state)
            }
            // After the name of a `key_is_name` object comes its colon; after others the next member.
            State::Unquote if rule.key_is_name => self.some(Piece::Framing, 1, State::Colon { role: Role::Arguments }),
            State::Unquote => self.some(Piece::Framing, 1, State::Member { is_first: false }),
            _ => Err(Seen::No),
        }
    }

    fn key(&mut self, rule: &ObjectRule, view: &View) -> Turn {
        view.one_of(0, b"\"")?;
        if rule.key_is_name {
            if self.has_name {
                return Err(Seen::No);
            }
            return self.quoted(view, Role::Name);
        }
        let lists = [&rule.names, &rule.arguments, &rule.ids];
        let longest = lists.iter().flat_map(|list| list.iter()).map(|name| name.len()).max().unwrap_or(0);
        let reach = &view.text[1..view.text.len().min(longest + 2)];
        let Some(len) = string_len(reach) else {
            if reach.len() <= longest && !view.is_end {
                return Err(Seen::More);
            }
            return self.some(Piece::Framing, 1, State::OtherKey { is_escaped: false });
        };
        let key = &reach[..len];
        let is_one_of = |names: &[Box<[u8]>]| names.iter().any(|name| **name == *key);
        let role = if is_one_of(&rule.names) && !self.has_name {
            Role::Name
        } else if is_one_of(&rule.arguments) && !self.has_arguments {
            Role::Arguments
        } else if is_one_of(&rule.ids) && !self.has_id {
            Role::Id
        } else {
            Role::Other
        };
        self.some(Piece::Framing, len + 2, State::Colon { role })
    }

    fn member_value(&mut self, view: &View, role: Role) -> Turn {
        match (role, view.text[0]) {
            (Role::Name, b'"') => self.quoted(view, Role::Name),
            (Role::Name, _) => Err(Seen::No),
            (Role::Id, b'"') => self.quoted(view, Role::Id),
            (Role::Id, _) => self.go(State::Json { part: Json::Start, role: Role::Other }),
            (Role::Arguments, _) => {
                self.has_arguments = true;
                self.go(State::Json { part: Json::Start, role })
            }
            (Role::Other, _) => self.go(State::Json { part: Json::Start, role }),
        }
    }

    /// A string that comes whole: a name, or an id. An id that is too long is the value of any other member.
    fn quoted(&mut self, view: &View, role: Role) -> Turn {
        let reach = &view.text[1..view.text.len().min(MOST_OF_WORD + 2)];
        match string_len(reach) {
            Some(0) if role == Role::Name => Err(Seen::No),
            Some(len) => {
                match role {
                    Role::Name => self.has_name = true,
                    _ => self.has_id = true,
                }
                self.some(Piece::Framing, 1, State::Quoted { role, len: len as u16 })
            }
            None if reach.len() <= MOST_OF_WORD => self.more(view),
            None if role == Role::Name => Err(Seen::No),
            None => self.go(State::Json { part: Json::Start, role: Role::Other }),
        }
    }

    // ---- keys and values in tags ----

    fn tags(&mut self, table: &CallTable, rule: &TagsRule, view: &View) -> Turn {
        if let Some(mark) = &rule.nested {
            return self.elements(table, rule, mark, view);
        }
        match self.state {
            State::Pair => {
                if let Some(step) = self.blanks(view, State::Pair) {
                    return Ok(Some(step));
                }
                match view.literal(0, &rule.key[0]) {
                    Seen::Yes => self.some(Piece::Framing, rule.key[0].len(), State::TagKey),
                    Seen::More => Err(Seen::More),
                    Seen::No => self.go(State::Ended),
                }
            }
            State::TagKey => self.word(view, &rule.key[1], Piece::Key, State::AfterKey),
            State::AfterKey => {
                // The blanks at the end of the key's text.
                if let Some(step) = self.blanks_before(view, &rule.key[1], State::AfterKey) {
                    return Ok(Some(step));
                }
                self.must(view, &rule.key[1], State::BeforeType)
            }
            State::BeforeType => {
                let Some(kind) = &rule.kind else { return self.go(State::BeforeValue) };
                if rule.key[1].ends_with(b">")
                    && let Some(step) = self.blanks(view, State::BeforeType)
                {
                    return Ok(Some(step));
                }
                match view.literal(0, &kind[0]) {
                    Seen::Yes => self.some(Piece::Framing, kind[0].len(), State::TagType),
                    Seen::More => Err(Seen::More),
                    Seen::No => self.go(State::BeforeValue),
                }
            }
            State::TagType => {
                let Some(kind) = &rule.kind else { return self.go(State::BeforeValue) };
                match view.literal(0, &kind[1]) {
                    Seen::Yes if self.has_id => {
                        self.has_id = false;
                        self.some(Piece::Framing, kind[1].len(), State::BeforeValue)
                    }
                    _ if self.has_id => {
                        let blanks = self.blanks_before(view, &kind[1], State::TagType);
                        blanks.map_or(Err(Seen::More), |step| Ok(Some(step)))
                    }
                    _ => {
                        let turn = self.word(view, &kind[1], Piece::Type, State::TagType)?;
                        Ok(turn.map(|step| match step {
                            Step::Piece { piece: Piece::Type, len, mut next } => {
                                next.has_id = true;
                                Step::Piece { piece: Piece::Type, len, next }
                            }
                            step => step,
                        }))
                    }
                }
            }
            State::BeforeValue => {
                if rule.value[0].is_empty() {
                    return self.go(State::ValueStart);
                }
                if rule.key[1].ends_with(b">")
                    && let Some(step) = self.blanks(view, State::BeforeValue)
                {
                    return Ok(Some(step));
                }
                self.go(State::ValueOpen)
            }
            State::ValueOpen => self.must(view, &rule.value[0], State::ValueStart),
            State::ValueStart => self.value_start(rule, view),
            State::ValueText { is_cdata } => self.value_text(rule, view, is_cdata),
            State::ValueEnd { framing, len } if framing > 0 => {
                self.some(Piece::Framing, framing.into(), State::ValueEnd { framing: 0, len })
            }
            State::ValueEnd { len, .. } => Ok(Some(self.piece(Piece::ValueEnd, len.into(), State::Pair))),
            _ => Err(Seen::No),
        }
    }

    /// The blanks before a literal that is known to come after them.
    fn blanks_before(&mut self, view: &View, literal: &[u8], state: State) -> Option<Step> {
        if view.text.starts_with(literal) { None } else { self.blanks(view, state) }
    }

    /// What may stand at a value's beginning: CDATA, framing, or a stop that begins its first line.
    fn value_start(&mut self, rule: &TagsRule, view: &View) -> Turn {
        if rule.has_cdata {
            match view.literal(0, CDATA) {
                Seen::Yes => return self.some(Piece::Framing, CDATA.len(), State::ValueText { is_cdata: true }),
                Seen::More => return Err(Seen::More),
                Seen::No => {}
            }
        }
        let in_text = State::ValueText { is_cdata: false };
        let mut after = 0;
        // What stands before the value.
        let mut before = [&rule.value[0], &rule.key[1]].into_iter().find(|literal| !literal.is_empty());
        if !rule.after_open.is_empty() {
            match view.literal(0, &rule.after_open) {
                Seen::Yes => (after, before) = (rule.after_open.len(), Some(&rule.after_open)),
                Seen::More => return Err(Seen::More),
                Seen::No => {}
            }
        }
        if before.is_some_and(|before| before.ends_with(b"\n")) {
            match stop_at(rule, view, after) {
                Seen::Yes => return self.some(Piece::Framing, after, State::ValueEnd { framing: 0, len: 0 }),
                Seen::More => return Err(Seen::More),
                Seen::No => {}
            }
        }
        self.some(Piece::Framing, after, in_text)
    }

    fn value_text(&mut self, rule: &TagsRule, view: &View, is_cdata: bool) -> Turn {
        let closer = &rule.value[1];
        let own = State::ValueText { is_cdata };
        let mut at = 0;
        let before = if is_cdata { CDATA_END } else { &rule.before_close };
        let begins = |byte: u8| {
            byte == closer[0] || before.first() == Some(&byte) || !is_cdata && !rule.stops.is_empty() && byte == b'\n'
        };
        while at < view.text.len() {
            if !begins(view.text[at]) {
                at += 1;
                continue;
            }
            let mut seen = Seen::No;
            if !is_cdata && view.text[at] == closer[0] {
                match view.literal(at, closer) {
                    Seen::Yes => {
                        let end = State::ValueEnd { framing: 0, len: closer.len() as u16 };
                        return self.some(Piece::Value, at, end);
                    }
                    other => seen = seen.or(other),
                }
            }
            if !before.is_empty() {
                let both = match view.literal(at, before) {
                    Seen::Yes => view.literal(at + before.len(), closer),
                    other => other,
                };
                if both == Seen::Yes {
                    let (framing, len) = match is_cdata {
                        true => (0, CDATA_END.len() + closer.len()),
                        false => (before.len(), closer.len()),
                    };
                    return self.some(Piece::Value, at, State::ValueEnd { framing: framing as u16, len: len as u16 });
                }
                seen = seen.or(both);
            }
            if !is_cdata && view.text[at] == b'\n' {
                match stop_at(rule, view, at + 1) {
                    Seen::Yes => return self.some(Piece::Value, at, State::ValueEnd { framing: 1, len: 0 }),
                    other => seen = seen.or(other),
                }
            }
            if seen == Seen::More {
                return if at > 0 { self.some(Piece::Value, at, own) } else { Err(Seen::More) };
            }
            at += 1;
        }
        match view.is_end {
            true => self.some_or(Piece::Value, at, own),
            false => self.run(view, Piece::Value, at, own),
        }
    }

    // ---- elements inside each other ----

    fn elements(&mut self, table: &CallTable, rule: &TagsRule, mark: &[u8], view: &View) -> Turn {
        match self.state {
            State::Element { leaf } => {
                let depth = self.brackets.depth;
                let marked = view.literal(0, mark);
                if marked == Seen::More {
                    return Err(Seen::More);
                }
                if marked == Seen::No {
                    return self.between_elements(mark, view, leaf);
                }
                let [end, close, open] = [&table.end, &rule.value[1], &rule.key[0]];
                let seen = [end, close, open].map(|literal| view.literal(0, literal));
                // The longest one that is there, as soon as no longer one can be.
                let longest = seen.iter().zip([end, close, open]).filter(|(seen, _)| **seen == Seen::Yes);
                let longest = longest.map(|(_, literal)| literal.len()).max();
                let may_grow = seen
                    .iter()
                    .zip([end, close, open])
                    .any(|(seen, literal)| *seen == Seen::More && longest.is_none_or(|len| literal.len() > len));
                if may_grow {
                    return Err(Seen::More);
                }
                let is = |literal: &[u8], seen: Seen| seen == Seen::Yes && longest == Some(literal.len());
                if is(end, seen[0]) {
                    return if depth > 0 { self.go(State::ElementEnds) } else { self.go(State::Ended) };
                }
                if is(close, seen[1]) {
                    if depth == 0 {
                        return self.go(State::Ended);
                    }
                    let found = view.find(close.len(), b">", MOST_OF_WORD);
                    let len = match self.or_cut(view, found, close.len() + MOST_OF_WORD)? {
                        Ok(len) => len,
                        Err(step) => return Ok(Some(step)),
                    };
                    self.brackets.depth -= 1;
                    return self.some(Piece::ValueEnd, close.len() + len + 1, State::Element { leaf: Leaf::Done });
                }
                if is(open, seen[2]) && leaf != Leaf::Text && depth < MOST_NESTED {
                    return self.some(Piece::Framing, open.len(), State::ElementKey);
                }
                Err(Seen::No)
            }
            State::ElementKey => {
                // The key, then what ends it.
                if self.has_id {
                    if let Some(step) = self.blanks_before(view, &rule.key[1], State::ElementKey) {
                        return Ok(Some(step));
                    }
                    self.has_id = false;
                    self.brackets.depth += 1;
                    return self.must(view, &rule.key[1], State::Element { leaf: Leaf::Blank });
                }
                let turn = self.word(view, &rule.key[1], Piece::Key, State::ElementKey)?;
                Ok(turn.map(|step| match step {
                    Step::Piece { piece: Piece::Key, len, mut next } => {
                        next.has_id = true;
                        Step::Piece { piece: Piece::Key, len, next }
                    }
                    step => step,
                }))
            }
            State::ElementEnds if self.brackets.depth > 0 => {
                self.brackets.depth -= 1;
                Ok(Some(self.piece(Piece::ValueEnd, 0, State::ElementEnds)))
            }
            State::ElementEnds => self.go(State::Ended),
            _ => Err(Seen::No),
        }
    }

    /// Text up to the next marker: of the innermost element, or blanks.
    fn between_elements(&mut self, mark: &[u8], view: &View, leaf: Leaf) -> Turn {
        let text = view.text;
        let mut len = 0;
        while len < text.len() && view.literal(len, mark) == Seen::No {
            len += 1;
        }
        let run = &text[..len];
        if self.brackets.depth > 0 && leaf != Leaf::Done {
            let has_text = leaf == Leaf::Text || run.iter().any(|&byte| !is_blank(byte));
            let state = State::Element { leaf: if has_text { Leaf::Text } else { Leaf::Blank } };
            return match view.is_end || len < text.len() {
                true => self.some(Piece::Value, len, state),
                false => {
                    let tail = incomplete_tail(run);
                    if tail == len { Err(Seen::More) } else { self.some(Piece::Value, len - tail, state) }
                }
            };
        }
        let own = self.state;
        match self.blanks(view, own) {
            Some(step) => Ok(Some(step)),
            None => Err(Seen::No),
        }
    }

    // ---- keys and values in brackets ----

    fn literal(&mut self, tables: &CallTables, rule: &LiteralRule, view: &View) -> Turn {
        match self.state {
            State::Argument { .. } | State::ArgumentComma | State::Assign | State::ArgumentValue => {
                let own = self.state;
                if let Some(step) = self.blanks(view, own) {
                    return Ok(Some(step));
                }
            }
            _ => {}
        }
        let byte = view.text.first().copied().unwrap_or(0);
        match self.state {
            State::Argument { .. } | State::ArgumentComma if byte == rule.close => {
                Ok(Some(self.end(CallEnd::Marker, 1)))
            }
            State::Argument { is_first: false } => {
                view.one_of(0, b",")?;
                self.some(Piece::Framing, 1, State::ArgumentComma)
            }
            State::Argument { is_first: true } | State::ArgumentComma => self.go(State::ArgumentKey),
            State::ArgumentKey => self.argument_key(rule, view),
            State::ArgumentKeyWord { is_raw } => {
                let quote = if is_raw { &rule.raw_quote[..] } else { b"\"" };
                self.word(view, quote, Piece::Key, State::ArgumentKeyEnd { is_raw })
            }
            State::ArgumentKeyEnd { is_raw } => {
                let quote = if is_raw { &rule.raw_quote[..] } else { b"\"" };
                if let Some(step) = self.blanks_before(view, quote, State::ArgumentKeyEnd { is_raw }) {
                    return Ok(Some(step));
                }
                self.must(view, quote, State::Assign)
            }
            State::Assign => {
                view.one_of(0, &[rule.assign])?;
                self.some(Piece::Framing, 1, State::ArgumentValue)
            }
            State::ArgumentValue => self.go(State::Literal { part: Part::Start }),
            State::Literal { part } => self.literal_value(tables, rule, view, part),
            State::LiteralEnd => Ok(Some(self.piece(Piece::ValueEnd, 0, State::Argument { is_first: false }))),
            _ => Err(Seen::No),
        }
    }

    fn argument_key(&mut self, rule: &LiteralRule, view: &View) -> Turn {
        if !rule.raw_quote.is_empty() {
            match view.literal(0, &rule.raw_quote) {
                Seen::Yes => {
                    let state = State::ArgumentKeyWord { is_raw: true };
                    return self.some(Piece::Framing, rule.raw_quote.len(), state);
                }
                Seen::More => return Err(Seen::More),
                Seen::No => {}
            }
            if view.text[0] == b'"' {
                return self.some(Piece::Framing, 1, State::ArgumentKeyWord { is_raw: false });
            }
        }
        let is_key = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte) || byte >= 0x80;
        let len = view.text.iter().take(MOST_OF_NAME + 1).take_while(|&&byte| is_key(byte)).count();
        match len {
            0 => Err(Seen::No),
            len if len > MOST_OF_NAME => Err(Seen::No),
            len if len == view.text.len() => self.more(view),
            len => self.some(Piece::Key, len, State::Assign),
        }
    }

    fn literal_value(&mut self, tables: &CallTables, rule: &LiteralRule, view: &View, part: Part) -> Turn {
        let (text, raw) = (view.text, &rule.raw_quote[..]);
        let stops = |at: usize| -> Seen {
            let begin = view.longest(at, &tables.begins).map_or_else(|seen| seen, |_| Seen::Yes);
            view.closer(at).or(begin)
        };
        let (mut part, mut at) = (part, 0);
        loop {
            let own = State::Literal { part };
            if at == text.len() {
                return match view.is_end {
                    true => self.some_or(Piece::Value, at, own),
                    false => self.run(view, Piece::Value, at, own),
                };
            }
            let is_outermost = self.brackets.depth == 0;
            match part {
                Part::Text { is_escaped: true, quote } => {
                    (part, at) = (Part::Text { quote, is_escaped: false }, at + 1);
                    continue;
                }
                Part::Text { quote, .. } => {
                    match memchr::memchr2(quote, b'\\', &text[at..]) {
                        None => at = text.len(),
                        Some(len) if text[at + len] == b'\\' => {
                            (part, at) = (Part::Text { quote, is_escaped: true }, at + len + 1);
                        }
                        Some(len) => {
                            (part, at) = (Part::Nest, at + len + 1);
                            if is_outermost {
                                return self.some(Piece::Value, at, State::LiteralEnd);
                            }
                        }
                    }
                    continue;
                }
                Part::Raw => {
                    match memchr::memmem::find(&text[at..], raw) {
                        Some(len) => {
                            (part, at) = (Part::Nest, at + len + raw.len());
                            if is_outermost {
                                return self.some(Piece::Value, at, State::LiteralEnd);
                            }
                        }
                        None if view.is_end => at = text.len(),
                        None => {
                            // What may be the beginning of the quote stays.
                            let held = (1..raw.len()).rev().find(|&len| text[at..].ends_with(&raw[..len])).unwrap_or(0);
                            at = text.len() - held;
                            if held > 0 {
                                return if at > 0 { self.some(Piece::Value, at, own) } else { Err(Seen::More) };
                            }
                        }
                    }
                    continue;
                }
                _ => {}
            }
            if !raw.is_empty() {
                match view.literal(at, raw) {
                    Seen::Yes => {
                        (part, at) = (Part::Raw, at + raw.len());
                        continue;
                    }
                    Seen::More => return if at > 0 { self.some(Piece::Value, at, own) } else { Err(Seen::More) },
                    Seen::No => {}
                }
            }
            let byte = text[at];
            if byte == b'"' || byte == b'\'' && raw.is_empty() {
                (part, at) = (Part::Text { quote: byte, is_escaped: false }, at + 1);
                continue;
            }
            let is_start = part == Part::Start;
            match stops(at) {
                Seen::More if at > 0 => return self.some(Piece::Value, at, own),
                Seen::More => return Err(Seen::More),
                Seen::Yes if is_start => return Err(Seen::No),
                Seen::Yes if is_outermost => return self.some(Piece::Value, at, State::LiteralEnd),
                Seen::Yes => return self.broken(Piece::Value, at, own),
                Seen::No => {}
            }
            if let Some(kind) = Brackets::OPEN.iter().position(|&open| open == byte) {
                if is_outermost && part == Part::Word && byte == b'(' || !self.brackets.push(kind) {
                    return self.broken(Piece::Value, at, own);
                }
                (part, at) = (Part::Nest, at + 1);
            } else if let Some(kind) = Brackets::CLOSE.iter().position(|&close| close == byte) {
                if is_start {
                    return Err(Seen::No);
                }
                if is_outermost {
                    return self.some(Piece::Value, at, State::LiteralEnd);
                }
                let kinds = self.brackets;
                if !self.brackets.pop(kind) {
                    self.brackets = kinds;
                    return self.broken(Piece::Value, at, own);
                }
                at += 1;
                if self.brackets.depth == 0 {
                    return self.some(Piece::Value, at, State::LiteralEnd);
                }
            } else if is_outermost && (byte == b',' || is_blank(byte)) {
                if is_start {
                    return Err(Seen::No);
                }
                return self.some(Piece::Value, at, State::LiteralEnd);
            } else {
                part = if is_outermost { Part::Word } else { Part::Nest };
                at += 1;
            }
        }
    }
}

/// Whether a stop begins the line at an index.
fn stop_at(rule: &TagsRule, view: &View, at: usize) -> Seen {
    rule.stops.iter().fold(Seen::No, |seen, stop| seen.or(view.literal(at, stop)))
}

/// The length of a string up to its closing quote, which comes after the bytes.
fn string_len(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// How much of a text is the rest of a string, its closing quote included; and whether an escape is open where it goes on.
fn rest_of_string(text: &[u8], mut is_escaped: bool) -> (usize, Option<bool>) {
    for (at, &byte) in text.iter().enumerate() {
        match (is_escaped, byte) {
            (true, _) => is_escaped = false,
            (false, b'\\') => is_escaped = true,
            (false, b'"') => return (at + 1, None),
            _ => {}
        }
    }
    (text.len(), Some(is_escaped))
}
