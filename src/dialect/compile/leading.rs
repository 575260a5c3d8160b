//! Compiles the tags of other families that open the thinking at the beginning of a stream.

use toml::Spanned;

use super::compiler::{Compiler, thinking_spans};
use crate::{
    dialect::{
        ambiguity::Candidate,
        schema::{Case, Literal, Model, strings},
    },
    matcher::grammar::{Action, Guarded, Pattern, flag},
};

/// The tags with which models of any family mark their thinking, or that hosts' prompts ask for.
const LEADING_TAGS: &str = include_str!("../leading_tags.txt");

/// Returns the names of the tags that may replace the dialect's opener at the beginning of a stream. Names that could be mistaken
/// for one of its markers are left out. A dialect that lists no models has no such tags.
pub(super) fn leading_tags(model: &Model) -> Vec<Literal> {
    let spans = || model.spans.iter().map(Spanned::get_ref);
    let of_spans = spans().flat_map(|span| span.open.iter().flatten().chain(&span.close).chain(&span.quote));
    let tags = spans().flat_map(|span| &span.tag).flat_map(|tag| &tag.names);
    let tags = tags.flat_map(|name| [format!("<{}>", name.get_ref()), format!("</{}>", name.get_ref())]);
    let headers = model.header.iter().map(Spanned::get_ref);
    let of_headers = headers.flat_map(|it| it.begin.iter().chain(&it.end).chain(&it.close).chain(it.keys.values()));
    let literals = of_spans.chain(of_headers).map(|literal| literal.get_ref().clone());
    let folds = model.case == Case::Ascii;
    let fold = |marker: String| if folds { marker.to_ascii_lowercase() } else { marker };
    let own: Vec<String> = literals.chain(strings(&model.dropped())).chain(tags).map(fold).collect();
    let meets = |marker: &String, tag: &str| marker.starts_with(tag) || tag.starts_with(marker.as_str());
    let is_free = |name: &&str| {
        let [open, close, framed] = ["<", "</", "\n</"].map(|front| format!("{front}{name}>"));
        own.iter().all(|own| !meets(own, &open) && !meets(own, &framed) && (*own == close || !meets(own, &close)))
    };
    let has_room = usize::from(leading_tag(model)) + LEADING_TAGS.lines().count() <= usize::from(u8::MAX);
    let is_spelt = |name: &&str| !folds || **name == name.to_ascii_lowercase();
    let names = LEADING_TAGS.lines().filter(|_| !model.models.is_empty() && has_room).filter(is_spelt).filter(is_free);
    names.map(|name| Spanned::new(model.name.span(), (*name).to_owned())).collect()
}

/// Returns the rule of spans that a leading tag opens: the first thinking span, or the number after all spans.
pub(super) fn leading_rule(model: &Model) -> u8 {
    thinking_spans(model).next().map_or(model.spans.len(), |(rule, _)| rule) as u8
}

/// Returns the number of the first leading tag. The numbers before it are those of the rule's own openers.
pub(super) fn leading_tag(model: &Model) -> u8 {
    let count = match (model.spans.get(usize::from(leading_rule(model))), &model.header) {
        (Some(span), _) => {
            let span = span.get_ref();
            let names = span.tag.as_ref().map_or(0, |tag| tag.names.len());
            span.open.as_ref().map_or(0, Vec::len) + names + usize::from(span.fence.is_some())
        }
        (None, Some(header)) => header.get_ref().begin.len(),
        (None, None) => 0,
    };
    u8::try_from(count).unwrap_or(u8::MAX)
}

impl Compiler<'_> {
    /// Adds the tags that count at the beginning of a stream.
    pub(super) fn leading_openers(&mut self, list: &mut Vec<Candidate>) {
        if self.leading.is_empty() {
            return;
        }
        let (rule, first) = (leading_rule(self.model), leading_tag(self.model));
        let after = self.framing(b"\n", 0);
        for (tag, name) in (first..).zip(self.leading.clone()) {
            let open = Spanned::new(name.span(), format!("<{}>", name.get_ref()));
            let pattern = Pattern { needs: flag::LEADING, ..Pattern::of(Action::Lead { rule, tag }) };
            self.literals(list, [&open], None, after, |_| pattern);
        }
    }

    /// Adds the markers that count inside thinking that a leading tag has opened: the closer of that tag, and the closers of the
    /// dialect's own thinking.
    pub(super) fn inside_leading(&mut self, list: &mut Vec<Candidate>) {
        let model = self.model;
        let (rule, first) = (leading_rule(model), leading_tag(model));
        let unguarded = |action| Pattern { guarded: Guarded::Nowhere, ..Pattern::of(action) };
        let close = unguarded(Action::Close { rule, keep: false });
        let line = Spanned::new(model.name.span(), "\n".to_owned());
        let after_open = self.framing(b"\n", 0);
        let after = self.framing(b"\n", 0);
        let after = self.framing(b"\n", after);
        for (_, thinking) in thinking_spans(model) {
            self.framed_closers(list, thinking, Some(&line), after, close, true);
        }
        let theirs: Vec<String> = thinking_spans(model).flat_map(|(_, span)| strings(&span.close)).collect();
        let folds = model.case == Case::Ascii;
        for (tag, name) in (first..).zip(self.leading.clone()) {
            let [open, shut] = ["<", "</"].map(|front| format!("{front}{}>", name.get_ref()));
            if !theirs.iter().any(|close| *close == shut || folds && close.eq_ignore_ascii_case(&shut)) {
                let shut = Spanned::new(name.span(), shut);
                self.literals(list, [&shut], Some(&line), after, |_| Pattern { same: Some(tag), ..close });
            }
            let again = Pattern { needs: flag::BLANK, same: Some(tag), ..unguarded(Action::Absorb) };
            self.literals(list, [&Spanned::new(name.span(), open)], None, after_open, |_| again);
        }
        self.body_closers(list, after, close);
    }
}
