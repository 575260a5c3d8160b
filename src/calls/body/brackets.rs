//! Reads a call whose keys and values are in brackets, as in a program.

use super::state::{Body, Brackets, CallEnd, LiteralState, Piece, State, Transition};
use crate::{
    calls::{
        table::{CallTables, LiteralRule, MOST_OF_NAME},
        view::{Decision, View},
    },
    matcher::bytes::is_blank,
};

impl Body {
    pub(super) fn literal(&mut self, tables: &CallTables, rule: &LiteralRule, view: &View) -> Transition {
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
                self.word_end(view, quote, State::Assign)
            }
            State::Assign => {
                view.one_of(0, &[rule.assign])?;
                self.some(Piece::Framing, 1, State::ArgumentValue)
            }
            State::ArgumentValue => self.go(State::Literal { state: LiteralState::Start }),
            State::Literal { state } => self.literal_value(tables, rule, view, state),
            State::LiteralEnd => {
                Ok(Some(self.piece(Piece::ValueEnd { is_repaired: false }, 0, State::Argument { is_first: false })))
            }
            _ => Err(Decision::No),
        }
    }

    fn argument_key(&mut self, rule: &LiteralRule, view: &View) -> Transition {
        if !rule.raw_quote.is_empty() {
            match view.literal(0, &rule.raw_quote) {
                Decision::Yes => {
                    let state = State::ArgumentKeyWord { is_raw: true };
                    return self.some(Piece::Framing, rule.raw_quote.len(), state);
                }
                Decision::More => return Err(Decision::More),
                Decision::No => {}
            }
            if view.text[0] == b'"' {
                return self.some(Piece::Framing, 1, State::ArgumentKeyWord { is_raw: false });
            }
        }
        let is_key = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte) || byte >= 0x80;
        let len = view.text.iter().take(MOST_OF_NAME + 1).take_while(|&&byte| is_key(byte)).count();
        match len {
            0 => Err(Decision::No),
            len if len > MOST_OF_NAME => Err(Decision::No),
            len if len == view.text.len() && !view.is_end => Err(Decision::More),
            len => self.some(Piece::Key, len, State::Assign),
        }
    }

    fn literal_value(
        &mut self,
        tables: &CallTables,
        rule: &LiteralRule,
        view: &View,
        state: LiteralState,
    ) -> Transition {
        let (text, raw) = (view.text, &rule.raw_quote[..]);
        let (mut state, mut at) = (state, 0);
        loop {
            let own = State::Literal { state };
            if at == text.len() {
                return self.run(view, Piece::Value, at, own);
            }
            let is_outermost = self.brackets.depth == 0;
            match state {
                LiteralState::Text { is_escaped: true, quote } => {
                    (state, at) = (LiteralState::Text { quote, is_escaped: false }, at + 1);
                    continue;
                }
                LiteralState::Text { quote, .. } => {
                    match memchr::memchr2(quote, b'\\', &text[at..]) {
                        None => at = text.len(),
                        Some(len) if text[at + len] == b'\\' => {
                            (state, at) = (LiteralState::Text { quote, is_escaped: true }, at + len + 1);
                        }
                        Some(len) => {
                            (state, at) = (LiteralState::Nest, at + len + 1);
                            if is_outermost {
                                return self.some(Piece::Value, at, State::LiteralEnd);
                            }
                        }
                    }
                    continue;
                }
                LiteralState::Raw => {
                    match memchr::memmem::find(&text[at..], raw) {
                        Some(len) => {
                            (state, at) = (LiteralState::Nest, at + len + raw.len());
                            if is_outermost {
                                return self.some(Piece::Value, at, State::LiteralEnd);
                            }
                        }
                        None if view.is_end => at = text.len(),
                        None => {
                            // Bytes that may begin the closing quote are held.
                            let held = (1..raw.len()).rev().find(|&len| text[at..].ends_with(&raw[..len])).unwrap_or(0);
                            at = text.len() - held;
                            if held > 0 {
                                return self.before(at, Piece::Value, own, Decision::More);
                            }
                        }
                    }
                    continue;
                }
                _ => {}
            }
            match view.marker(at, raw) {
                Decision::Yes => {
                    (state, at) = (LiteralState::Raw, at + raw.len());
                    continue;
                }
                Decision::More => return self.before(at, Piece::Value, own, Decision::More),
                Decision::No => {}
            }
            let byte = text[at];
            if byte == b'"' || byte == b'\'' && raw.is_empty() {
                (state, at) = (LiteralState::Text { quote: byte, is_escaped: false }, at + 1);
                continue;
            }
            let is_start = state == LiteralState::Start;
            // A `begin` that equals the sign between a key and its value counts only between calls.
            let stops = if byte == rule.assign { view.closer(at) } else { view.closer_or_begin(at, &tables.begins) };
            match stops {
                Decision::More => return self.before(at, Piece::Value, own, Decision::More),
                Decision::Yes if is_start => return Err(Decision::No),
                Decision::Yes if is_outermost => return self.ends_at(at, Piece::Value, own, State::LiteralEnd),
                Decision::Yes => return self.before(at, Piece::Value, own, Decision::No),
                Decision::No => {}
            }
            if let Some(kind) = Brackets::OPEN.iter().position(|&open| open == byte) {
                if is_outermost && state == LiteralState::Word && byte == b'(' || !self.brackets.push(kind) {
                    return self.before(at, Piece::Value, own, Decision::No);
                }
                (state, at) = (LiteralState::Nest, at + 1);
            } else if let Some(kind) = Brackets::CLOSE.iter().position(|&close| close == byte) {
                if is_start {
                    return Err(Decision::No);
                }
                if is_outermost {
                    return self.ends_at(at, Piece::Value, own, State::LiteralEnd);
                }
                if !self.brackets.pop(kind) {
                    return self.before(at, Piece::Value, own, Decision::No);
                }
                at += 1;
                if self.brackets.depth == 0 {
                    return self.some(Piece::Value, at, State::LiteralEnd);
                }
            } else if is_outermost && (byte == b',' || is_blank(byte)) {
                if is_start {
                    return Err(Decision::No);
                }
                return self.ends_at(at, Piece::Value, own, State::LiteralEnd);
            } else {
                state = if is_outermost { LiteralState::Word } else { LiteralState::Nest };
                at += 1;
            }
        }
    }
}
