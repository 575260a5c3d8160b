//! Reads a call whose values are nested elements.

use super::state::{Body, ElementContent, Key, MOST_NESTED, Piece, State, Transition};
use crate::{
    calls::{
        table::{CallTable, MOST_OF_WORD, TagsRule},
        view::{Decision, View},
    },
    matcher::bytes::{is_blank, trim},
};

impl Body {
    pub(super) fn elements(&mut self, table: &CallTable, rule: &TagsRule, mark: &[u8], view: &View) -> Transition {
        match self.state {
            State::Element { content } => {
                let depth = self.brackets.depth;
                let marked = view.literal(0, mark);
                if marked == Decision::More {
                    return Err(Decision::More);
                }
                if marked == Decision::No {
                    return self.between_elements(mark, view, content);
                }
                let [end, close, open] = [&table.end, &rule.value[1], &rule.key[0]];
                let seen = [end, close, open].map(|literal| view.literal(0, literal));
                // The longest literal that fits. It counts only if more bytes cannot make a longer literal fit.
                let longest = seen.iter().zip([end, close, open]).filter(|(seen, _)| **seen == Decision::Yes);
                let longest = longest.map(|(_, literal)| literal.len()).max();
                let may_grow = seen
                    .iter()
                    .zip([end, close, open])
                    .any(|(seen, literal)| *seen == Decision::More && longest.is_none_or(|len| literal.len() > len));
                if may_grow {
                    return Err(Decision::More);
                }
                let is = |literal: &[u8], seen: Decision| seen == Decision::Yes && longest == Some(literal.len());
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
                    let name = &view.text[close.len()..close.len() + len];
                    let is_own = Key::of(trim(name)).hash == view.innermost;
                    self.brackets.depth -= 1;
                    let state = if is_own { State::Element { content: ElementContent::Done } } else { State::Breaks };
                    return self.some(Piece::ValueEnd { is_repaired: false }, close.len() + len + 1, state);
                }
                if is(open, seen[2]) && content != ElementContent::Text && depth < MOST_NESTED {
                    return self.some(Piece::Framing, open.len(), State::ElementKey);
                }
                Err(Decision::No)
            }
            State::ElementKey => self.word(view, &rule.key[1], Piece::Key, State::AfterElementKey),
            State::AfterElementKey => {
                self.brackets.depth += u8::from(view.text.starts_with(&rule.key[1]));
                self.word_end(view, &rule.key[1], State::Element { content: ElementContent::Blank })
            }
            State::ElementEnds if self.brackets.depth > 0 => {
                self.brackets.depth -= 1;
                self.is_repaired = true;
                Ok(Some(self.piece(Piece::ValueEnd { is_repaired: true }, 0, State::ElementEnds)))
            }
            State::ElementEnds => self.go(State::Ended),
            _ => Err(Decision::No),
        }
    }

    /// Reads up to the next marker: text of the innermost element, or blanks.
    fn between_elements(&mut self, mark: &[u8], view: &View, content: ElementContent) -> Transition {
        let text = view.text;
        let first = |from: usize| memchr::memchr(mark[0], &text[from..]).map_or(text.len(), |at| from + at);
        let mut len = first(0);
        while len < text.len() && view.literal(len, mark) == Decision::No {
            len = first(len + 1);
        }
        let run = &text[..len];
        if self.brackets.depth > 0 && content != ElementContent::Done {
            let has_text = content == ElementContent::Text || run.iter().any(|&byte| !is_blank(byte));
            let state = State::Element { content: if has_text { ElementContent::Text } else { ElementContent::Blank } };
            return self.run(view, Piece::Value, len, state);
        }
        // A marker may begin with a blank: only the blanks before the marker are framing.
        match run.iter().take_while(|&&byte| is_blank(byte)).count() {
            0 => Err(Decision::No),
            blanks => self.some(Piece::Framing, blanks, self.state),
        }
    }
}
