//! Feeds the body of a tool span piece by piece, without a `Pull`: nearly all chunks in a body are a piece of a value, or a part of
//! a held word. A `Pull` reads everything else, such as a closer, beginning with the same bytes. No function here allocates.

use super::{
    advance::{Part, last_of_loop},
    calls::{Lookahead, counts},
    engine::{Engine, SHORT},
    pending::Pending,
};
use crate::{
    calls::body::{Body, Context, Piece, SelfLoop, Step},
    dialect::compiled::Compiled,
    matcher::{automaton::StateInfo, bytes::is_blank, grammar::Action},
};

impl Engine {
    /// Feeds a short chunk inside a value, framing, text or a held word, or a chunk of any length inside a string, if the chunk does
    /// not change the state. In all other cases it returns `None` and feeds nothing. Cannot panic.
    #[inline(always)]
    pub fn advance_in_value(&mut self, compiled: &Compiled, chunk: &[u8]) -> Option<Part> {
        let (SelfLoop { piece, context }, mask) = self.optional.get()?.calls.self_loop?;
        // In a long chunk, only a search for the end of a string is faster than a step.
        if chunk.len() > SHORT && !matches!(context, Context::Quotes | Context::SingleQuotes) {
            return None;
        }
        let end = self.ledger.end_in_table(chunk.len())?;
        let loops = last_of_loop(compiled.automaton.loop_sets(), mask, chunk).is_some();
        let Some(piece) = piece else {
            // A held word continues only with bytes that do not change the state: any other byte may end the word, or be part of an
            // escape.
            let is_held = loops && self.hold_more(chunk);
            let part = Part::whole(Piece::Text, self.ledger.offset(), chunk);
            return is_held.then_some(Part { len: 0, is_held, ..part });
        };
        if !loops && !self.pass_in_body(compiled, mask, chunk) {
            return None;
        }
        let offset = if piece == Piece::Text {
            self.ledger.add_continuations(self.spans.channel(), chunk);
            self.ledger.report_plain(end)
        } else {
            self.ledger.report(chunk.len())
        };
        Some(Part::whole(piece, offset, chunk))
    }

    #[inline(never)]
    fn pass_in_body(&mut self, compiled: &Compiled, mask: u32, chunk: &[u8]) -> bool {
        let Some(tables) = compiled.calls(self.spans.region()) else { return false };
        let Some(body) = self.optional.get_mut().and_then(|optional| optional.calls.body.as_mut()) else {
            return false;
        };
        let Some(table) = tables.tables.get(usize::from(body.table())) else { return false };
        let sets = compiled.automaton.loop_sets();
        let decides = |byte: u8| sets[usize::from(byte)] & mask != 0;
        let was_escaped = body.is_escaped();
        if chunk.is_empty() || !body.pass(table, chunk, decides) {
            return false;
        }
        if body.is_escaped() != was_escaped {
            self.settle_body(compiled);
        }
        true
    }

    /// Holds a chunk that is a part of a word. Returns false, and changes nothing, if there is no room.
    #[inline(never)]
    fn hold_more(&mut self, chunk: &[u8]) -> bool {
        let is_done = self.hold.append_few(chunk);
        if is_done {
            let held = self.hold.unreported().len();
            self.pending = Pending::Held(held);
            if let Some(optional) = self.optional.get_mut()
                && optional.calls.body.is_none_or(|body| body.self_loop(held).is_none())
            {
                // The word is becoming long, so the next chunk must be examined.
                optional.calls.self_loop = None;
            }
        }
        is_done
    }

    /// Holds a short chunk after an opener, if more bytes are needed to decide whether the opener counts. Otherwise returns
    /// `None` and changes nothing.
    fn hold_after_opener(&mut self, compiled: &Compiled, chunk: &[u8]) -> Option<Part> {
        let Pending::Marker { pattern, len, opens_calls: true, .. } = self.pending else { return None };
        let region = compiled.grammar.region(self.spans.region());
        let Action::Open { rule, tag, .. } = region.patterns[usize::from(pattern)].action else { return None };
        let inside = compiled.inside(rule);
        let tables = compiled.calls(inside)?;
        let may_advance = self.text == 0 && !self.hold.has_marks() && (1..=SHORT).contains(&chunk.len());
        let held = self.hold.unreported().len();
        self.ledger.end_in_table(held + chunk.len()).filter(|_| may_advance && self.hold.append_few(chunk))?;
        let lookahead = Lookahead { text: self.hold.unreported(), is_end: false, marks: None, from: 0 };
        let is_waiting = counts(compiled, tables, inside, tag, &lookahead.after(len as usize)).is_none();
        if !is_waiting {
            self.hold.take_back(chunk.len());
            return None;
        }
        self.pending = Pending::Marker { pattern, len, seen: held + chunk.len(), opens_calls: true };
        Some(Part { len: 0, is_held: true, ..Part::whole(Piece::Text, self.ledger.offset(), chunk) })
    }

    /// Feeds the next part of a chunk inside a body. If a `Pull` is needed, it returns `None` and feeds nothing.
    #[inline(never)]
    pub fn advance_in_body(&mut self, compiled: &Compiled, chunk: &[u8]) -> Option<Part> {
        let Some(&body) = self.body() else { return self.hold_after_opener(compiled, chunk) };
        if chunk.len() > SHORT
            && let Some(part) = self.advance_in_value(compiled, chunk)
        {
            return Some(part);
        }
        let held = self.hold.unreported().len();
        let may_advance = self.text == 0 && self.framing == 0 && !self.hold.has_marks();
        self.ledger.end_in_table(held + chunk.len()).filter(|_| may_advance)?;
        let few = if held > 0 { chunk.len().min(SHORT) } else { 0 };
        if few > 0 && !self.hold.append_few(&chunk[..few]) {
            return None;
        }
        let text = if held > 0 { self.hold.unreported() } else { chunk };
        let found = self.next_piece(compiled, body, text);
        let Some((piece, len, next)) = found else {
            self.hold.take_back(few);
            return None;
        };
        let rest = text.len() - len;
        let is_waiting = piece == Piece::Text && len == 0;
        if is_waiting && chunk.len() > SHORT {
            self.hold.take_back(few);
            return None;
        }
        if is_waiting && held == 0 && rest > 0 && !self.hold.keep_few(chunk) {
            return None;
        }
        let fed = match held {
            0 if is_waiting => rest,
            0 => len,
            _ => {
                // Bytes of the chunk that are not part of this piece are fed again, and reported without a copy.
                let back = if is_waiting { 0 } else { rest.min(few) };
                self.hold.take_back(back);
                self.hold.report(len);
                few - back
            }
        };
        let bytes = if held > 0 { self.hold.last_reported(len) } else { &chunk[..len] };
        let left = self.hold.unreported().len();
        self.pending = if left > 0 { Pending::Held(left) } else { Pending::Unread };
        let channel = self.spans.channel();
        let offset = if piece == Piece::Text {
            self.ledger.add_continuations(channel, bytes);
            self.ledger.report_plain(self.ledger.offset() + len as u64)
        } else {
            self.ledger.report_other(channel, len)
        };
        if len > 0 && self.is_first_in_body(compiled) {
            let are_blank = bytes.iter().all(|&byte| is_blank(byte));
            self.pass_first_in_body(compiled, are_blank);
        }
        self.optional.get_mut()?.calls.pass(piece, next);
        let is_last = fed == chunk.len() && (is_waiting || left == 0 && !next.has_empty_piece());
        // The host may stop after this piece, and the state must be valid then.
        self.state = StateInfo::FALLBACK;
        if is_last {
            self.settle_body(compiled);
        }
        Some(Part { piece, offset, is_held: held > 0, len, fed, is_last })
    }

    /// Returns the next piece of a text, its length, and the body's position after it. Returns text without bytes if more bytes
    /// are needed, and `None` before a closer.
    fn next_piece(&self, compiled: &Compiled, mut body: Body, text: &[u8]) -> Option<(Piece, usize, Body)> {
        let closers = self.closers(compiled)?;
        let wants = self.wants_calls();
        // The first bytes may change which closers count.
        let is_first = self.is_first_in_body(compiled);
        let mut len = 0;
        loop {
            let lookahead = Lookahead { text: &text[len..], is_end: false, marks: None, from: 0 };
            match closers.step(&body, &lookahead) {
                Some(Step::Piece { piece, len, next }) if wants => return Some((piece, len, next)),
                // If calls are not wanted, all pieces are one text.
                Some(Step::Piece { len: more, next, .. }) => {
                    (body, len) = (next, len + more);
                    // The closers depend on the innermost element, so they are looked up again after each piece.
                    if (is_first || body.is_in_element()) && len > 0 {
                        return Some((Piece::Text, len, body));
                    }
                }
                Some(Step::Closer) if len == 0 => return None,
                Some(Step::Closer) | None => return Some((Piece::Text, len, body)),
            }
        }
    }

    /// Sets the bytes that do not change the state at the body's position.
    pub fn settle_body(&mut self, compiled: &Compiled) {
        let is_first = self.is_first_in_body(compiled);
        let may_be = self.text == 0 && self.framing == 0 && !self.hold.has_marks() && !is_first;
        let held = self.hold.unreported();
        let region = self.spans.region();
        let self_loop = self.body().filter(|_| may_be).and_then(|body| {
            let self_loop = body.self_loop(held.len())?;
            let piece = if self.wants_calls() { self_loop.piece } else { self_loop.piece.and(Some(Piece::Text)) };
            let mask = compiled.call_loop(region, body.table(), self_loop.context).filter(|_| !body.is_escaped());
            let mask = mask.unwrap_or(StateInfo::FALLBACK.loop_mask());
            // If the held bytes may contain the beginning of a key's end, any byte may complete that end.
            let sets = compiled.automaton.loop_sets();
            let may_end =
                self_loop.context == Context::Key && held.iter().any(|&byte| sets[usize::from(byte)] & mask != 0);
            (!may_end).then_some((SelfLoop { piece, ..self_loop }, mask))
        });
        self.state = match self_loop {
            Some((SelfLoop { piece: Some(Piece::Text), .. }, mask)) => StateInfo::FALLBACK.with_loop_mask(mask),
            _ => StateInfo::FALLBACK,
        };
        if let Some(optional) = self.optional.get_mut() {
            optional.calls.self_loop = self_loop;
        }
    }
}
