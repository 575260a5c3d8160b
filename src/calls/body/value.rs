//! Reads the text and the end of a value between markers. A closer counts if the text after it may follow a value. A value
//! without its closer ends where a key follows or the call ends, or with a misspelt closer. See `docs/tool-calls.md`.

use super::{
    around::Around,
    state::{Body, Key, Piece, State, Transition},
};
use crate::{
    calls::{
        table::{
            CDATA, CDATA_END, CallTable, CallTables, MOST_BLANKS_AFTER, MOST_LETTERS, MOST_OF_PLAIN_KEY, MOST_OF_WORD,
            TagsRule,
        },
        view::{Decision, View},
    },
    matcher::bytes::trim_start,
    utf8::incomplete_tail,
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
        let text = |is_line| State::ValueText { has_closer: false, is_line };
        match rule.after_open.is_empty() {
            true => self.go(text(false)),
            false => self.may(view, &rule.after_open, text(rule.after_open.ends_with(b"\n")), text(false)),
        }
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
        is_line: bool,
    ) -> Transition {
        let ends = Ends { around: Around { tables, view }, table, rule, view, key: self.key, is_line };
        // The index of the first closer that does not count.
        let mut closer = None;
        let state = |closer: Option<usize>, len: usize| State::ValueText {
            has_closer: has_closer || closer.is_some_and(|at| at < len),
            is_line: ends.is_line_at(len),
        };
        let mut at = 0;
        while let Some(len) = rule.next_end(&view.text[at..]) {
            at += len;
            let is_closer = view.literal(at, &rule.value[1]) == Decision::Yes;
            let has_closer = has_closer || closer.is_some();
            match ends.end_at(at, has_closer) {
                Ok(End { len, is_repaired }) => {
                    let is_broken = is_repaired && (is_closer || has_closer);
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
                    // The next bytes decided that the value ends here. They count as read, so that a host that stops here cannot
                    // feed others instead.
                    self.due = ends.reach(has_closer) as u16;
                    if is_broken {
                        return self.go(State::Breaks);
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
        // Framing before a possible end is not part of the value.
        let framing = if view.is_end { 0 } else { rule.framing_before(view.text) };
        let len = view.text.len() - framing;
        match framing {
            0 => {
                let len = if view.is_end { len } else { len - incomplete_tail(view.text) };
                if len == 0 { self.more(view) } else { self.some(Piece::Value, len, state(closer, len)) }
            }
            _ => self.before(len, Piece::Value, state(closer, len), Decision::More),
        }
    }

    /// Returns the number of held bytes that belong to the value, and the state after them. If a whole closer is held, that is
    /// the state before the closer.
    pub(super) fn flush_value(&self, rule: &TagsRule, held: &[u8]) -> (usize, State) {
        let closer = &rule.value[1];
        if let Some(at) = memchr::memmem::find(held, closer) {
            let framing = if held[..at].ends_with(&rule.before_close) { rule.before_close.len() } else { 0 };
            return (at - framing, State::ValueEnd { framing: framing as u16, len: closer.len() as u16 });
        }
        let state = match self.state {
            State::ValueText { has_closer, .. } => State::ValueText { has_closer, is_line: held.ends_with(b"\n") },
            state => state,
        };
        (held.len(), state)
    }
}

/// The end of a value: the length of its closer, or 0 without a closer.
struct End {
    len: usize,
    is_repaired: bool,
}

/// Finds the places where a value may end.
struct Ends<'a> {
    around: Around<'a>,
    table: &'a CallTable,
    rule: &'a TagsRule,
    view: &'a View<'a>,
    key: Key,
    /// Whether a line begins at index 0.
    is_line: bool,
}

impl Ends<'_> {
    /// Returns the end of the value at an index. `has_closer` means that the value had a closer that did not count, so that
    /// only a closer or the end of the call may end it.
    fn end_at(&self, at: usize, has_closer: bool) -> Result<End, Decision> {
        let closer = &self.rule.value[1];
        let counts = match self.view.literal(at, closer) {
            Decision::Yes => self.view.comes(at + closer.len(), |at| self.goes_on(at).or(self.is_closed_again(at))),
            seen => seen,
        };
        if let Some(len) = decided(counts, closer.len())? {
            return Ok(End { len, is_repaired: false });
        }
        let over = self.is_over(at);
        let may_recover = self.rule.recovers && !has_closer;
        let over = if may_recover { over.or(self.is_line_of_key(at)) } else { over };
        let len = match decided(over, 0)? {
            Some(len) => len,
            None if has_closer => return Err(Decision::No),
            None => self.misspelt(at)?,
        };
        Ok(End { len, is_repaired: true })
    }

    /// Returns the number of bytes that were needed to decide that the value ends at index 0.
    fn reach(&self, has_closer: bool) -> usize {
        let decides = |len: usize| {
            let view = &self.view.first(len);
            Ends { view, around: Around { view, ..self.around }, ..*self }.end_at(0, has_closer).is_ok()
        };
        let (mut less, mut enough) = (0, self.view.text.len());
        while less + 1 < enough {
            let middle = less.midpoint(enough);
            if decides(middle) { enough = middle } else { less = middle }
        }
        enough
    }

    /// Returns whether a line begins at an index.
    fn is_line_at(&self, at: usize) -> bool {
        at.checked_sub(1).map_or(self.is_line, |before| self.view.text[before] == b'\n')
    }

    /// Returns whether the text at an index, a key or the end of the call, may follow a value's closer.
    fn goes_on(&self, at: usize) -> Decision {
        let seen = match self.table.end.is_empty() {
            true => self.around.follows_call(at, true),
            false => self.view.begins(at, &self.table.end).or(self.around.follows_call(at, false)),
        };
        let open = View { is_end: false, ..*self.view };
        let key = match self.key_at(&open, at, MOST_OF_WORD, |byte| byte != b'\n' && byte != self.rule.key[0][0]) {
            // The text ends inside a key.
            Decision::More if self.view.is_end => Decision::Yes,
            seen => seen,
        };
        seen.or(key)
    }

    /// Returns whether a repeated closer of the value, which is framing, is at an index, and the call continues after it.
    fn is_closed_again(&self, at: usize) -> Decision {
        let closer = std::slice::from_ref(&self.rule.value[1]);
        self.around.then(at, closer, |at| self.goes_on(at)).or(self.around.is_cut_at_end(at, closer))
    }

    /// Returns whether the call ends at an index although the value's closer is missing. This requires that the answer ends too,
    /// because a quotation may contain the end of a call with another call after it.
    fn is_over(&self, at: usize) -> Decision {
        let Around { tables, .. } = self.around;
        let ends = |at: usize| self.around.ends_answer(at);
        if !self.table.end.is_empty() {
            let ends = |at: usize| ends(at).or(self.around.last_closer(at, ends));
            let end = std::slice::from_ref(&self.table.end);
            return self.around.then(at, end, |at| self.around.is_or_follows_skip(at, ends));
        }
        match self.around.then(at, &tables.closes, ends) {
            Decision::No => Decision::No,
            seen => match self.view.closer(at) {
                Decision::Yes => seen,
                other => other,
            },
        }
    }

    /// Returns whether a line with a plain key begins at an index.
    fn is_line_of_key(&self, at: usize) -> Decision {
        match self.is_line_at(at) {
            true => self.key_at(self.view, at, MOST_OF_PLAIN_KEY, Key::may_have),
            false => Decision::No,
        }
    }

    /// Returns whether a key of at most `most` allowed bytes is at an index, with all markers up to its value.
    fn key_at(&self, view: &View, at: usize, most: usize, may_have: impl Fn(u8) -> bool) -> Decision {
        let [open, close] = &self.rule.key;
        match view.literal(at, open) {
            Decision::Yes => {}
            seen => return seen,
        }
        let from = at + open.len();
        let mut len = 0;
        loop {
            match (view.literal(from + len, close), view.byte(from + len)) {
                (Decision::Yes, _) => break,
                (Decision::More, _) | (_, Err(_)) => return Decision::More,
                (Decision::No, Ok(Some(byte))) if len < most && may_have(byte) => len += 1,
                _ => return Decision::No,
            }
        }
        match trim_start(&view.text[from..from + len]).is_empty() {
            true => Decision::No,
            false => self.value_opens(view, from + len + close.len()),
        }
    }

    /// Returns whether, after a key that ends at an index, the opener of a value follows.
    fn value_opens(&self, view: &View, mut at: usize) -> Decision {
        let opener = &self.rule.value[0];
        let gap = if self.rule.key[1].ends_with(b">") { MOST_BLANKS_AFTER } else { 0 };
        let mut opens = || {
            if let Some([open, close]) = &self.rule.kind {
                at = view.skip_blanks(at, gap)?;
                match view.literal(at, open) {
                    Decision::Yes => {
                        at += open.len();
                        at += view.find(at, close, MOST_OF_WORD)? + close.len();
                    }
                    Decision::More => return Err(Decision::More),
                    Decision::No => {}
                }
            }
            at = view.skip_blanks(at, gap)?;
            view.literal(at, opener).ok()
        };
        if opener.is_empty() { Decision::Yes } else { Decision::of(opens()) }
    }

    /// Returns whether the text at an index confirms that the value before it has ended.
    fn must_have_ended(&self, at: usize) -> Decision {
        let closer = |at| self.around.last_closer(at, |at| self.around.ends_answer(at));
        self.view.comes(at, |at| closer(at).or(self.is_over(at)).or(self.is_line_of_key(at)))
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

    /// Returns the length of a closer with the name of the key at an index, as of an XML element.
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

/// Turns an answer into a result: `found` for `Yes`, `None` for `No`, and an error if more bytes are needed.
fn decided<T>(seen: Decision, found: T) -> Result<Option<T>, Decision> {
    match seen {
        Decision::Yes => Ok(Some(found)),
        Decision::No => Ok(None),
        Decision::More => Err(Decision::More),
    }
}
