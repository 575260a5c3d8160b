//! Compiles one region: collects its markers, checks that none can be mistaken for another, and puts them into tries.

use toml::Spanned;

use super::{compiler::Compiler, leading::leading_rule};
use crate::{
    dialect::{
        Channel,
        ambiguity::{Candidate, Shape, check_apart, distinct},
        fault::Fault,
        schema::{Guard, Model},
    },
    matcher::{
        bytes::insert,
        grammar::{
            Action, FENCE_INDENT, FENCE_INFO, FENCE_TICKS, Guarded, HEADER_BLANKS, LineRule, MOST_LINES, Pattern,
            PatternSet, Region, flag,
        },
    },
};

/// The longest tag with attributes for which a scanner reserves memory when it is made.
const LONG_TAG: usize = 255;

/// The text to which a region belongs.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    Content,
    Inside(usize),
    Body(Channel),
    Started(Channel),
    /// Inside thinking that a leading tag has opened.
    Leading,
}

impl Scope {
    /// Returns whether the region belongs to the content.
    pub(super) fn is_content(self, model: &Model) -> bool {
        match self {
            Scope::Content => true,
            Scope::Inside(rule) => model.spans[rule].get_ref().channel == Channel::Content,
            Scope::Body(channel) | Scope::Started(channel) => channel == Channel::Content,
            Scope::Leading => false,
        }
    }
}

impl Compiler<'_> {
    /// Compiles a region.
    pub(super) fn region(&mut self, scope: Scope) -> Result<Region, Fault> {
        let model = self.model;
        let mut list = Vec::new();
        let channel = match scope {
            Scope::Content => Channel::Content,
            Scope::Inside(rule) => model.spans[rule].get_ref().channel,
            Scope::Body(channel) | Scope::Started(channel) => channel,
            Scope::Leading => Channel::Thinking,
        };
        let is_content = channel == Channel::Content;
        let guards = |guard| model.guard.contains(&guard);
        let mut lines = LineRule::Ignore;
        if is_content {
            self.content(&mut list);
            let (fences, inline) = (guards(Guard::Fences), guards(Guard::Inline));
            let words = model.spans.iter().any(|span| span.get_ref().is_lenient());
            if words || fences || inline {
                lines = LineRule::Guard { fences, inline, words };
            }
        }
        if is_content || !matches!(scope, Scope::Inside(_)) {
            self.headers(&mut list, scope);
        }
        for (rule, spanned) in model.spans.iter().enumerate() {
            let span = spanned.get_ref();
            let is_here = match scope {
                Scope::Inside(own) => own == rule,
                Scope::Started(channel) => span.channel == channel,
                _ => false,
            };
            if is_here {
                self.inside(&mut list, rule, spanned, matches!(scope, Scope::Started(_)));
                if span.fence.is_some() {
                    lines = LineRule::Fence { inline: false };
                }
            }
            if channel == Channel::Thinking && (span.ends.is_some() || span.pauses.is_some()) {
                self.openers(&mut list, rule, span, Some(span.ends.is_some()));
            }
        }
        let mut routes = model.header.iter().flat_map(|header| &header.get_ref().routes);
        if matches!(scope, Scope::Body(_) | Scope::Leading) && routes.any(|route| !route.calls) {
            let is_tool = |rule: u8| model.spans[usize::from(rule)].get_ref().channel == Channel::Tool;
            for candidate in &mut list {
                if let Action::Open { rule, .. } | Action::FenceOpen { rule, .. } = candidate.pattern.action
                    && is_tool(rule)
                {
                    candidate.pattern.avoids |= flag::ADDRESSED;
                }
            }
        }
        if let Scope::Leading = scope {
            self.inside_leading(&mut list);
        } else if channel == Channel::Thinking {
            self.leading_openers(&mut list);
        }
        if channel == Channel::Thinking {
            // The rule of the open span: a marker that ends the thinking closes this span.
            let rule = match scope {
                Scope::Inside(rule) => rule,
                Scope::Started(_) | Scope::Leading => usize::from(leading_rule(model)),
                _ => model.spans.len(),
            };
            let close =
                Pattern { guarded: Guarded::Nowhere, ..Pattern::of(Action::Close { rule: rule as u8, keep: false }) };
            self.dropped(&mut list, &model.drop_ends, close);
            let answer = Pattern { guarded: Guarded::InCodeSpans, ..Pattern::of(Action::Answer { rule: rule as u8 }) };
            self.answer_closers(&mut list, answer);
            let removed = Pattern { guarded: Guarded::Nowhere, ..Pattern::of(Action::Drop) };
            self.dropped(&mut list, model.drop.iter().filter(|it| it.get_ref().thinking), removed);
            let is_guarded = |it: &Candidate| it.pattern.guarded != Guarded::Nowhere;
            if guards(Guard::Inline) && list.iter().any(is_guarded) {
                lines = match lines {
                    LineRule::Fence { .. } => LineRule::Fence { inline: true },
                    _ => LineRule::Guard { fences: false, inline: true, words: false },
                };
            }
        }
        self.finish_region(channel, scope, list, lines)
    }

    /// Builds the tries of the markers that count in a region.
    fn finish_region(
        &mut self,
        channel: Channel,
        scope: Scope,
        mut candidates: Vec<Candidate>,
        mut lines: LineRule,
    ) -> Result<Region, Fault> {
        // Between two quotes of a span, no other marker counts.
        if candidates.iter().any(|candidate| candidate.pattern.action == Action::Quote) {
            for candidate in candidates.iter_mut().filter(|candidate| candidate.pattern.action != Action::Quote) {
                candidate.pattern.avoids |= flag::QUOTED;
            }
        }
        let list = distinct(candidates, self.tag.suffix > 0);
        if !self.is_built_in || matches!(scope, Scope::Leading) {
            check_apart(channel, &list, self.tag.suffix > 0)?;
        }
        let opens_fence = |candidate: &Candidate| matches!(candidate.pattern.action, Action::FenceOpen { .. });
        if lines == LineRule::Ignore && list.iter().any(opens_fence) {
            lines = LineRule::Guard { fences: false, inline: false, words: false };
        }
        let mut region = Region {
            channel,
            started: if let Scope::Started(channel) = scope { Some(channel) } else { None },
            patterns: Vec::new(),
            groups: Vec::new(),
            literals: 0,
            open_names: 0,
            close_names: 0,
            lines_before: {
                let mut none = [0; MOST_LINES + 1];
                none[0] = PatternSet::MAX;
                none
            },
            first_bytes: [0; 4],
            special: 0,
            in_fences: 0,
            in_code_spans: 0,
            in_strings: 0,
            used: list.iter().fold(0, |used, it| used | it.pattern.needs | it.pattern.avoids),
            cleared: match channel {
                Channel::Content => flag::LEAD | flag::FRESH | flag::FORCED | flag::BLANK | flag::LEADING,
                _ => flag::BLANK | flag::LEADING,
            },
            lines,
            fence_close: None,
            is_answered: list.iter().any(|it| matches!(it.pattern.action, Action::Answer { .. })),
            header_name: None,
        };
        let mut numbers: Vec<usize> = Vec::with_capacity(list.len());
        for (at, candidate) in list.iter().enumerate() {
            let index = candidate.twin(&list[..at]).map_or(region.patterns.len(), |twin| numbers[twin]);
            numbers.push(index);
            let Candidate { shape, pattern, yields, .. } = candidate;
            if index == region.patterns.len() {
                region.patterns.push(*pattern);
            }
            let bit = 1 << index;
            self.measure(shape, pattern);
            match region.groups.iter_mut().find(|(other, _)| other.counts_with(pattern)) {
                Some((_, bits)) => *bits |= bit,
                None => region.groups.push((*pattern, bit)),
            }
            region.special |= if pattern.special { bit } else { 0 };
            region.in_fences |= if pattern.guarded == Guarded::InCode { 0 } else { bit };
            region.in_code_spans |= if pattern.guarded == Guarded::Nowhere { bit } else { 0 };
            // Dropped markers also count in strings of an answer in JSON, and so do markers that are never text in code.
            region.in_strings |= if *yields || pattern.guarded == Guarded::Nowhere { bit } else { 0 };
            let (root, bytes) = match shape {
                Shape::Literal(bytes) => (&mut region.literals, bytes),
                Shape::OpenName(bytes) => (&mut region.open_names, bytes),
                Shape::CloseName(bytes, lines) => {
                    if *lines > 0 {
                        region.lines_before[0] &= !bit;
                        region.lines_before[*lines] |= bit;
                        insert(&mut region.first_bytes, b'\n');
                    }
                    (&mut region.close_names, bytes)
                }
                Shape::FenceClose => {
                    region.fence_close = Some(index as u8);
                    continue;
                }
                Shape::HeaderName => {
                    region.header_name = Some(index as u8);
                    let names = (0..=u8::MAX).filter(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
                    names.for_each(|byte| insert(&mut region.first_bytes, byte));
                    continue;
                }
            };
            let first = if matches!(shape, Shape::Literal(_)) { bytes[0] } else { b'<' };
            for first in [first, if self.fold { first.to_ascii_uppercase() } else { first }] {
                insert(&mut region.first_bytes, first);
            }
            if *root == 0 {
                *root = self.node(0);
            }
            let root = *root;
            self.insert(root, bytes, bit);
        }
        Ok(region)
    }

    /// Raises `max_hold` to the number of bytes that this pattern may hold back, if that is more.
    pub(super) fn measure(&mut self, shape: &Shape, pattern: &Pattern) {
        let (space, suffix) = (self.tag.space as usize, self.tag.suffix as usize);
        let hold = match shape {
            Shape::Literal(bytes) if matches!(pattern.action, Action::HeaderBegin { .. } | Action::HeaderWhole) => {
                let header = self.model.header.as_ref().map(|header| header.get_ref());
                let ends = header.into_iter().flat_map(|header| &header.end).map(|end| end.get_ref().len());
                let most = header.map_or(0, |header| header.max as usize) + usize::from(HEADER_BLANKS);
                bytes.len() + most + ends.max().unwrap_or(0) - 1
            }
            Shape::Literal(bytes) => bytes.len() - usize::from(pattern.action != Action::DropLast),
            Shape::OpenName(_) if self.tag.attributes > 0 => {
                let hold = self.tag.attributes as usize - 1;
                self.max_hold = self.max_hold.max(hold);
                hold.min(LONG_TAG)
            }
            Shape::OpenName(name) => 1 + space + name.len() + suffix + space + usize::from(self.tag.self_close),
            Shape::CloseName(name, lines) => lines + 1 + space + 1 + space + name.len() + suffix + space,
            Shape::HeaderName => {
                let header = self.model.header.as_ref().map(Spanned::get_ref);
                let end = header.into_iter().flat_map(|header| &header.end).map(|end| end.get_ref().len()).max();
                header.map_or(0, |header| header.max as usize) + end.unwrap_or(0)
            }
            Shape::FenceClose => (FENCE_INDENT + FENCE_TICKS + FENCE_INFO + 1) as usize,
        };
        // Bytes after a marker may decide whether it counts: for an opener, its label or the closer that follows; for other
        // markers, up to two bytes.
        let after = match (shape, pattern.action) {
            (Shape::Literal(bytes), Action::Open { rule, .. }) => {
                let span = self.model.spans[usize::from(rule)].get_ref();
                let texts = span.close.iter().chain(&span.framing.after_open);
                texts.map(|text| text.get_ref().len()).fold(bytes.len(), usize::max) + 2
            }
            (Shape::OpenName(name), _) => name.len() + 4,
            _ => 2,
        };
        self.hold(hold + if self.model.guard.contains(&Guard::Inline) { after } else { 0 });
    }

    /// Raises `max_hold` to this number of bytes, if that is more.
    pub(super) fn hold(&mut self, bytes: usize) {
        self.max_hold = self.max_hold.max(bytes);
        self.room = self.room.max(bytes);
    }
}
