//! Collects the markers that count in a region, span by span, in the order of their precedence.

use toml::Spanned;

use super::compiler::{Compiler, thinking_spans, where_flag};
use crate::{
    channel::Start,
    dialect::{
        Channel,
        ambiguity::{Candidate, Shape},
        schema::{
            Closer, DroppedMarker, ExtraClose, Guard, Literal, Place, RepeatedOpener, Span, StrayClose, Torn, text,
        },
    },
    matcher::grammar::{Action, FENCE_INFO, Guarded, Pattern, flag},
};

impl Compiler<'_> {
    /// Adds the markers that count inside a span itself.
    pub(super) fn inside(&mut self, list: &mut Vec<Candidate>, rule: usize, spanned: &Spanned<Span>, is_started: bool) {
        let span = spanned.get_ref();
        let unguarded = |action| Pattern { guarded: Guarded::Nowhere, ..Pattern::of(action) };
        let own = unguarded(Action::Close { rule: rule as u8, keep: span.keep });
        self.closers(list, span, own, is_started);
        // The framing after the opener may be a label with a line break. If the span is empty, the label may occur without the line
        // break.
        let label = text(&span.framing.after_open);
        let label = label.trim_end().len();
        if let Some(after) =
            span.framing.after_open.as_ref().filter(|after| (1..after.get_ref().len()).contains(&label))
        {
            let label = Spanned::new(after.span(), after.get_ref()[..label].into());
            let empty = Pattern { needs: flag::OPENED, special: span.special, ..own };
            let mut labelled = Vec::new();
            let after = self.after_close(span);
            self.literals(&mut labelled, &span.close, Some(&label), after, |_| empty);
            list.extend(labelled.into_iter().filter(|candidate| candidate.pattern.before > 0));
        }
        if span.fence.is_some() {
            list.push(Candidate {
                shape: Shape::FenceClose,
                pattern: own,
                yields: false,
                is_optional: false,
                at: spanned.span(),
            });
        }
        if let Some(quote) = &span.quote {
            self.literals(list, [quote], None, 0, |_| unguarded(Action::Quote));
        }
        let absorb =
            span.again.map_or(is_started || span.channel == Channel::Thinking, |again| again != RepeatedOpener::Text);
        if absorb {
            let needs = if span.again == Some(RepeatedOpener::Drop) { 0 } else { flag::BLANK };
            let needs = needs | where_flag(span.place);
            let again = Pattern { needs, special: span.special, ..unguarded(Action::Absorb) };
            let after = self.after_open(span);
            // If the dialect's texts start inside the thinking, a line break may precede the repeated opener.
            let thinks = self.model.start() == Start::Channel(Channel::Thinking) && span.channel == Channel::Thinking;
            let starts = is_started && thinks && span.place == Place::Anywhere && needs & flag::BLANK != 0;
            let line = Spanned::new(self.model.name.span(), "\n".to_owned());
            let line = Some(&line).filter(|_| starts);
            let before = span.framing.before_open.as_ref().or(line);
            self.literals(list, span.open.iter().flatten(), before, after, |_| again);
            for name in span.tag.iter().flat_map(|tag| &tag.names) {
                let shape = Shape::OpenName(self.folded(name));
                let pattern = Pattern { after, ..again };
                list.push(Candidate { shape, pattern, yields: false, is_optional: false, at: name.span() });
            }
        }
        // A span that was open at the start has not ended any thinking. After an answer that ended the thinking, the closer of
        // the thinking is a stray closer.
        if span.ends.is_some() && !is_started && span.channel != Channel::Content {
            let action = Action::Close { rule: rule as u8, keep: false };
            let pattern = Pattern { needs: flag::ENDED, ..unguarded(action) };
            for (_, thinking) in thinking_spans(self.model) {
                self.closers(list, thinking, pattern, true);
            }
            self.body_closers(list, 0, pattern);
        }
    }

    /// Adds everything that counts in the content and inside its wrappers.
    pub(super) fn content(&mut self, list: &mut Vec<Candidate>) {
        let model = self.model;
        for (rule, span) in model.spans.iter().enumerate() {
            self.openers(list, rule, span.get_ref(), None);
        }
        self.leading_openers(list);
        // A closer with only blanks before it is an extra closer; any other closer is a stray closer. After a forced close, a closer
        // belongs to the span that was closed.
        let extra = if model.extra_close == ExtraClose::Drop { flag::FRESH } else { flag::FRESH | flag::FORCED };
        for (rule, thinking) in thinking_spans(model) {
            self.closers(list, thinking, Pattern { needs: extra, ..Pattern::of(Action::DropClose) }, true);
            if model.extra_close == ExtraClose::Drop && model.guard.contains(&Guard::Inline) {
                // The blank lines before an extra closer at the beginning of an answer are removed with it.
                let pattern = Pattern { needs: extra, ..Pattern::of(Action::DropClose) };
                let own = text(&thinking.framing.before_close);
                let after = self.after_close(thinking);
                for lines in ["\n", "\n\n"].into_iter().filter(|lines| *lines != own) {
                    let lines = Spanned::new(model.name.span(), lines.to_owned());
                    let first = list.len();
                    self.framed_closers(list, thinking, Some(&lines), after, pattern, true);
                    list[first..].iter_mut().for_each(|candidate| candidate.is_optional = true);
                    let mut index = first;
                    // Candidates without framing, or with less framing, are already in the list.
                    while let Some(candidate) = list.get(index) {
                        match usize::from(candidate.pattern.before) == lines.get_ref().len() {
                            true => index += 1,
                            false => drop(list.remove(index)),
                        }
                    }
                }
            }
            let alone = Pattern { needs: flag::DROPPED, avoids: flag::FRESH, ..Pattern::of(Action::Drop) };
            self.framed_closers(list, thinking, None, 0, alone, true);
            let avoids = flag::FRESH | flag::LITERAL | flag::DROPPED;
            match thinking.stray_close.as_ref().map_or(model.stray_close, |stray| *stray.get_ref()) {
                StrayClose::Text => {}
                StrayClose::Drop => {
                    self.closers(list, thinking, Pattern { avoids, ..Pattern::of(Action::DropClose) }, true);
                }
                StrayClose::Reclassify => {
                    let rule = rule as u8;
                    let first = Pattern { needs: flag::ALONE, avoids, ..Pattern::of(Action::Reclassify { rule }) };
                    self.closers(list, thinking, first, true);
                    let avoids = avoids | flag::ALONE;
                    let once = (!thinking.repeat).then_some(rule);
                    let later = Pattern { avoids, once, ..Pattern::of(Action::Drop) };
                    self.framed_closers(list, thinking, None, 0, later, true);
                }
            }
        }
        for dropped in [&model.drop, &model.drop_ends] {
            self.dropped(list, dropped, Pattern::of(Action::Drop));
        }
        // After a forced close, the same bytes are the late closer of the span that was closed.
        let last = Pattern { avoids: flag::FORCED, ..Pattern::of(Action::DropLast) };
        self.dropped(list, &model.drop_last, last);
    }

    /// Adds markers that are removed.
    pub(super) fn dropped<'l>(
        &mut self,
        list: &mut Vec<Candidate>,
        dropped: impl IntoIterator<Item = &'l Spanned<DroppedMarker>>,
        pattern: Pattern,
    ) {
        for marker in dropped {
            let literal = Spanned::new(marker.span(), marker.get_ref().marker.clone());
            let pattern = Pattern { special: marker.get_ref().special, ..pattern };
            let spares_prose = pattern.special && pattern.action == Action::Drop;
            let first = list.len();
            self.literals(list, [&literal], None, 0, |_| Pattern { spares_prose, ..pattern });
            self.torn(list, [&literal], None, 0, pattern);
            let yields = matches!(pattern.action, Action::Drop | Action::DropLast);
            list[first..].iter_mut().for_each(|candidate| candidate.yields = yields);
        }
    }

    /// Adds the openers of a span. For openers that count inside the thinking, `of_thinking` says whether they end the thinking.
    pub(super) fn openers(&mut self, list: &mut Vec<Candidate>, rule: usize, span: &Span, of_thinking: Option<bool>) {
        let rule = rule as u8;
        let ends = of_thinking == Some(true);
        let is_call = of_thinking.is_some() || span.channel == Channel::Tool;
        let pattern = |tag: usize| Pattern {
            guarded: if is_call { Guarded::InCodeSpans } else { Guarded::InCode },
            needs: where_flag(span.place),
            avoids: if span.channel == Channel::Content { flag::FULL } else { 0 },
            once: (!span.repeat).then_some(rule),
            special: span.special,
            ..Pattern::of(Action::Open { rule, tag: tag as u8, ends })
        };
        if let Some(open) = &span.open {
            // If an opener ends the thinking, the framing before it is part of the marker only if the span is part of the answer.
            let before = span.framing.before_open.as_ref().filter(|_| !ends || span.channel == Channel::Content);
            let after = self.after_open(span);
            self.literals(list, open, before, after, pattern);
        }
        if let Some(tag) = &span.tag {
            let after = self.after_open(span);
            for (number, name) in tag.names.iter().enumerate() {
                let shape = Shape::OpenName(self.folded(name));
                let pattern = Pattern { after, ..pattern(number) };
                list.push(Candidate { shape, pattern, yields: false, is_optional: false, at: name.span() });
            }
        }
        if let Some(info) = &span.fence {
            let literal = [b"```", &self.folded(info)[..]].concat();
            self.hold(literal.len() + FENCE_INFO as usize + 1);
            let pattern = Pattern { action: Action::FenceOpen { rule, ends }, ..pattern(0) };
            list.push(Candidate {
                shape: Shape::Literal(literal.into()),
                pattern,
                yields: false,
                is_optional: false,
                at: info.span(),
            });
        }
    }

    /// Adds a span's closers. With `any_name`, the span is not the innermost one or was not opened, so that a tag's name
    /// cannot be compared with its opener.
    fn closers(&mut self, list: &mut Vec<Candidate>, span: &Span, pattern: Pattern, any_name: bool) {
        let after = self.after_close(span);
        self.framed_closers(list, span, span.framing.before_close.as_ref(), after, pattern, any_name);
    }

    pub(super) fn framed_closers(
        &mut self,
        list: &mut Vec<Candidate>,
        span: &Span,
        before: Option<&Literal>,
        after: u16,
        pattern: Pattern,
        any_name: bool,
    ) {
        let pattern = Pattern { special: span.special, ..pattern };
        self.literals(list, &span.close, before, after, |_| pattern);
        self.torn(list, &span.close, before, after, pattern);
        let pattern = Pattern { special: false, ..pattern };
        if let Some(tag) = &span.tag {
            for (number, name) in tag.names.iter().enumerate() {
                let same = (tag.closer == Closer::Same && !any_name).then_some(number as u8);
                for lines in 0..=before.map_or(0, |before| before.get_ref().len()) {
                    let shape = Shape::CloseName(self.folded(name), lines);
                    let pattern = Pattern { same, before: lines as u16, after, ..pattern };
                    list.push(Candidate { shape, pattern, yields: false, is_optional: false, at: name.span() });
                }
            }
        }
    }

    /// Adds the closers of the answer's wrappers, for a region of thinking: if the opener of a wrapper is missing, its closer
    /// shows that the thinking was the answer.
    pub(super) fn answer_closers(&mut self, list: &mut Vec<Candidate>, pattern: Pattern) {
        let model = self.model;
        let spans = model.spans.iter().map(Spanned::get_ref);
        for span in spans.filter(|span| span.channel == Channel::Content && span.ends.is_some()) {
            self.framed_closers(list, span, None, 0, pattern, true);
        }
    }

    /// Adds the torn forms of closers: see `Torn`.
    fn torn<'l>(
        &mut self,
        list: &mut Vec<Candidate>,
        literals: impl IntoIterator<Item = &'l Literal>,
        before: Option<&Literal>,
        after: u16,
        pattern: Pattern,
    ) {
        let Some(Torn { end, before: next }) = &self.model.torn else { return };
        let end = end.get_ref();
        let next: Vec<_> = next.iter().map(|next| next.get_ref().as_str()).collect();
        for literal in literals {
            let front = literal.get_ref().strip_suffix(end.as_str());
            let Some(front) = front.filter(|front| !front.is_empty()) else { continue };
            let twice = format!("{front}{}{end}", &end[..end.len() - 1]);
            let torn = next.iter().map(|next| (format!("{front}{next}"), next.len() as u16));
            for (text, ahead) in [(twice, 0)].into_iter().chain(torn) {
                let text = Spanned::new(literal.span(), text);
                let first = list.len();
                self.literals(list, [&text], before, after, |_| pattern);
                for candidate in &mut list[first..] {
                    candidate.pattern = Pattern { ahead, len: candidate.pattern.len - ahead, ..candidate.pattern };
                }
            }
        }
    }

    /// Adds the closers of a message's body.
    pub(super) fn body_closers(&mut self, list: &mut Vec<Candidate>, after: u16, pattern: Pattern) {
        if let Some(header) = self.model.header.as_ref().map(Spanned::get_ref) {
            self.literals(list, &header.close, None, after, |_| Pattern { special: header.special, ..pattern });
        }
    }

    /// Adds each literal alone and, if it has framing, also with the framing before it.
    pub(super) fn literals<'l>(
        &mut self,
        list: &mut Vec<Candidate>,
        literals: impl IntoIterator<Item = &'l Literal>,
        before: Option<&Literal>,
        after: u16,
        pattern: impl Fn(usize) -> Pattern,
    ) {
        for (number, literal) in literals.into_iter().enumerate() {
            for before in [None, before].into_iter().take(if before.is_some() { 2 } else { 1 }) {
                let mut bytes = before.map_or(Vec::new(), |before| self.model.case.bytes(before));
                let before = bytes.len() as u16;
                bytes.extend(self.folded(literal));
                let pattern = Pattern { before, len: bytes.len() as u16, after, ..pattern(number) };
                let shape = Shape::Literal(bytes.into());
                list.push(Candidate { shape, pattern, yields: false, is_optional: false, at: literal.span() });
            }
        }
    }
}
