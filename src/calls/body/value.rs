//! The value of a call whose keys and values are between markers: its text and its end. A closer counts if the text after it
//! may follow a value. A value without its closer ends where a key follows or the call ends, or with a misspelt closer. See
//! `docs/tool-calls.md`.

use super::state::{Body, Key, Piece, State, Transition};
use crate::calls::{
    table::{CDATA, CDATA_END, CallTable, CallTables, Literal, MOST_LETTERS, MOST_OF_PLAIN_KEY, TagsRule},
    view::{Decision, View},
};

impl Body {
    /// Reads the beginning of CDATA, or the framing before a value's text.
    pub(super) fn value_start(&mut self, rule: &TagsRule, view: &View) -> Transition {
        if rule.has_cdata {
            match view.literal(0, CDATA) {
                Decision::Yes => return self.some(Piece::Framing, CDATA.len(), State::CData),
                Decision::More => return Err(Decision::More),
                Decision::No => {}
            }
        }
        let text = State::ValueText { has_closer: false };
        if rule.after_open.is_empty() { self.go(text) } else { self.may(view, &rule.after_open, text, text) }
    }

    pub(super) fn cdata(&mut self, rule: &TagsRule, view: &View) -> Transition {
        let (own, closer) = (self.state, &rule.value[1]);
        let mut at = 0;
        while let Some(len) = memchr::memchr(CDATA_END[0], &view.text[at..]) {
            at += len;
            let seen = match view.literal(at, CDATA_END) {
                Decision::Yes => view.literal(at + CDATA_END.len(), closer),
                seen => seen,
            };
            match seen {
                Decision::Yes => {
                    let len = (CDATA_END.len() + closer.len()) as u16;
                    return self.some(Piece::Value, at, State::ValueEnd { framing: 0, len });
                }
                Decision::More => return self.before(at, Piece::Value, own, Decision::More),
                Decision::No => at += 1,
            }
        }
        self.run(view, Piece::Value, view.text.len(), own)
    }

    pub(super) fn value_text(
        &mut self,
        tables: &CallTables,
        table: &CallTable,
        rule: &TagsRule,
        view: &View,
        has_closer: bool,
    ) -> Transition {
        let ends = Ends { tables, table, rule, view, key: self.key };
        // The first closer that does not count.
        let mut closer = None;
        let state = |closer: Option<usize>, len| State::ValueText {
            has_closer: has_closer || closer.is_some_and(|at| at < len),
        };
        let mut at = 0;
        while let Some(len) = rule.next_end(&view.text[at..]) {
            at += len;
            let end = ends.end_at(at);
            let is_closer = view.literal(at, &rule.value[1]) == Decision::Yes;
            match end {
                Ok(End { len, is_repaired }) => {
                    let is_broken = is_repaired && (is_closer || has_closer || closer.is_some());
                    let before: &[u8] = match len {
                        _ if is_broken => b"",
                        0 => b"\n",
                        _ => &rule.before_close,
                    };
                    let framing = if view.text[..at].ends_with(before) { before.len() } else { 0 };
                    let len_of_value = at - framing;
                    if !is_repaired {
                        let end = State::ValueEnd { framing: framing as u16, len: len as u16 };
                        return self.some(Piece::Value, len_of_value, end);
                    }
                    if at > 0 {
                        let (piece, len) = match len_of_value {
                            0 => (Piece::Framing, framing),
                            len => (Piece::Value, len),
                        };
                        return self.some(piece, len, state(closer, len));
                    }
                    // The bytes that follow have decided it. If the host stops before them, no other bytes may come in their
                    // place.
                    self.due = ends.reach() as u16;
                    if is_broken {
                        return self.go(State::Broken);
                    }
                    self.is_repaired = true;
                    return Ok(Some(self.piece(Piece::ValueEnd { is_repaired }, len, State::Pair { is_first: false })));
                }
                Err(Decision::No) => closer = closer.or(is_closer.then_some(at)),
                Err(seen) => {
                    let len = at - rule.framing_before(&view.text[..at]);
                    return self.before(len, Piece::Value, state(closer, len), seen);
                }
            }
            at += 1;
        }
        // Framing of an end that may follow is not of the value.
        let framing = if view.is_end { 0 } else { rule.framing_before(view.text) };
        let len = view.text.len() - framing;
        match framing {
            0 => self.run(view, Piece::Value, len, state(closer, len)),
            _ => self.before(len, Piece::Value, state(closer, len), Decision::More),
        }
    }

    /// Returns the number of the held bytes that are the value's, and the state after them: before the closer, if a whole one is
    /// held.
    pub(super) fn flush_value(&self, rule: &TagsRule, held: &[u8]) -> (usize, State) {
        let closer = &rule.value[1];
        let Some(at) = memchr::memmem::find(held, closer) else { return (held.len(), self.state) };
        let framing = if held[..at].ends_with(&rule.before_close) { rule.before_close.len() } else { 0 };
        (at - framing, State::ValueEnd { framing: framing as u16, len: closer.len() as u16 })
    }
}

/// The end of a value: the length of its closer, 0 if it has none.
struct End {
    len: usize,
    is_repaired: bool,
}

/// Where a value may end.
struct Ends<'a> {
    tables: &'a CallTables,
    table: &'a CallTable,
    rule: &'a TagsRule,
    view: &'a View<'a>,
    key: Key,
}

impl Ends<'_> {
    /// Returns the end of the value at an index.
    fn end_at(&self, at: usize) -> Result<End, Decision> {
        let closer = &self.rule.value[1];
        let counts = match self.view.literal(at, closer) {
            Decision::Yes => self.view.comes(at + closer.len(), |at| self.goes_on(at)),
            seen => seen,
        };
        if let Some(len) = decided(counts, closer.len())? {
            return Ok(End { len, is_repaired: false });
        }
        let implied = decided(self.is_without_closer(at), 0)?;
        let len = implied.map_or_else(|| self.misspelt(at), Ok)?;
        Ok(End { len, is_repaired: true })
    }

    /// Returns the number of bytes that have decided that the value ends at index 0.
    fn reach(&self) -> usize {
        let decides = |len: usize| Ends { view: &self.view.first(len), ..*self }.end_at(0).is_ok();
        let (mut less, mut enough) = (0, self.view.text.len());
        while less + 1 < enough {
            let middle = less.midpoint(enough);
            if decides(middle) { enough = middle } else { less = middle }
        }
        enough
    }

    /// Returns whether a call may be followed by the text at an index.
    fn follows(&self, at: usize) -> Decision {
        let view = self.view;
        if at == view.text.len() {
            return if view.is_end { Decision::Yes } else { Decision::More };
        }
        self.tables.follows.iter().fold(view.closer(at), |seen, literal| seen.or(view.begins(at, literal)))
    }

    /// Returns whether a closer of a value may be followed by the text at an index: by more of the call, or by its end.
    fn goes_on(&self, at: usize) -> Decision {
        let own = [&self.rule.key[0], &self.rule.value[1], &self.table.end];
        own.into_iter().fold(self.follows(at), |seen, literal| seen.or(self.view.begins(at, literal)))
    }

    /// Returns whether a value ends at an index although its closer is missing: where a key follows, or the call ends.
    fn is_without_closer(&self, at: usize) -> Decision {
        let is_over = |seen: Decision, end: &Literal| match self.view.literal(at, end) {
            Decision::Yes => seen.or(self.view.comes(at + end.len(), |at| self.follows(at))),
            other => seen.or(other),
        };
        let over = match self.table.end.is_empty() {
            false => is_over(Decision::No, &self.table.end),
            true => match self.tables.closes.iter().fold(Decision::No, is_over) {
                Decision::No => Decision::No,
                seen => match self.view.closer(at) {
                    Decision::Yes => seen,
                    other => other,
                },
            },
        };
        over.or(self.is_plain_key(at))
    }

    /// Returns whether a plain key is at an index, with the literals around it.
    fn is_plain_key(&self, at: usize) -> Decision {
        let [open, close] = &self.rule.key;
        match self.view.literal(at, open) {
            Decision::Yes => {}
            seen => return seen,
        }
        let from = at + open.len();
        let mut seen = Decision::No;
        for at in from..from + MOST_OF_PLAIN_KEY {
            match self.view.byte(at) {
                Ok(Some(byte)) if Key::may_have(byte) => seen = seen.or(self.view.literal(at + 1, close)),
                Ok(_) => break,
                Err(more) => return seen.or(more),
            }
        }
        seen
    }

    /// Returns whether the text at an index confirms that the value before it has ended.
    fn must_have_ended(&self, at: usize) -> Decision {
        self.view.comes(at, |at| self.view.closer(at).or(self.is_without_closer(at)))
    }

    /// Returns the length of the misspelt closer at an index, if the text after it confirms that the value has ended.
    fn misspelt(&self, at: usize) -> Result<usize, Decision> {
        if let Some(stem) = self.rule.value[1].strip_suffix(b">").filter(|stem| !stem.is_empty())
            && self.view.literal(at, stem) == Decision::Yes
        {
            let end = at + stem.len();
            if let Some(len) = decided(self.must_have_ended(end), stem.len())? {
                return Ok(len);
            }
            let is_letter = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'_';
            let letters = self.view.text[end..].iter().take(MOST_LETTERS + 1).take_while(is_letter).count();
            let is_word = (1..=MOST_LETTERS).contains(&letters);
            match self.view.one_of(end + letters, b">") {
                Ok(()) if is_word => {
                    if let Some(len) = decided(self.must_have_ended(end + letters + 1), stem.len() + letters + 1)? {
                        return Ok(len);
                    }
                }
                Err(Decision::More) if letters <= MOST_LETTERS => return Err(Decision::More),
                _ => {}
            }
        }
        let len = self.closer_of_key(at)?;
        self.must_have_ended(at + len).ok().map(|()| len)
    }

    /// Returns the length of a closer of an element that is named by the key.
    fn closer_of_key(&self, at: usize) -> Result<usize, Decision> {
        self.view.literal(at, b"</").ok()?;
        let from = at + 2;
        let end = from + usize::from(self.key.plain_len);
        let word = self.view.text.get(from..end.min(self.view.text.len())).unwrap_or_default();
        if self.key.plain_len == 0 || !word.iter().all(|&byte| Key::may_have(byte)) {
            return Err(Decision::No);
        }
        self.view.one_of(end, b">")?;
        if Key::of(word) == self.key { Ok(end + 1 - at) } else { Err(Decision::No) }
    }
}

/// Returns `found` for a yes, none for a no; `Err` where only more bytes can decide.
fn decided<T>(seen: Decision, found: T) -> Result<Option<T>, Decision> {
    match seen {
        Decision::Yes => Ok(Some(found)),
        Decision::No => Ok(None),
        Decision::More => Err(Decision::More),
    }
}
