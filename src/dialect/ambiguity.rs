//! Collects the markers that count in a region, before they are compiled, and refuses markers that could be mistaken for each
//! other, because the result would depend on how a stream is cut. `suffixes` means that a tag's name may have a suffix.

use std::ops::Range;

use super::{Channel, fault::Fault};
use crate::{
    file_error::quoted,
    matcher::grammar::{Action, Pattern, PatternSet, flag},
};

/// The maximum number of patterns of a region: one integer has a bit for each.
const MOST_PATTERNS: usize = PatternSet::BITS as usize;

/// A pattern that is not in a trie yet.
pub struct Candidate {
    pub shape: Shape,
    pub pattern: Pattern,
    /// Whether the marker is removed without opening or closing anything. A closer with the same bytes has precedence over it.
    pub yields: bool,
    /// Whether the marker is left out if it cannot be distinguished from another marker.
    pub is_optional: bool,
    /// The marker's place in the file.
    pub at: Range<usize>,
}

impl Candidate {
    /// Returns the index of the first marker in a list that has the same pattern as this marker. Only closing tags share
    /// patterns: their effect does not depend on their name.
    pub fn twin(&self, list: &[Candidate]) -> Option<usize> {
        let is_tag = |it: &Candidate| matches!(it.shape, Shape::CloseName(..));
        is_tag(self).then(|| list.iter().position(|it| is_tag(it) && it.pattern == self.pattern)).flatten()
    }
}

#[derive(PartialEq)]
pub enum Shape {
    Literal(Box<[u8]>),
    OpenName(Box<[u8]>),
    /// The name of a closing tag, and the number of line breaks before the tag.
    CloseName(Box<[u8]>, usize),
    FenceClose,
    HeaderName,
}

/// Lists each marker once. The list ends when it has more patterns than allowed, because the caller then refuses the dialect.
pub fn distinct(candidates: Vec<Candidate>, suffixes: bool) -> Vec<Candidate> {
    // Closers that count only after a forced close, or that only an option removes, are left out if they could be mistaken for
    // another marker.
    let (courtesies, candidates): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|candidate| candidate.is_optional || candidate.pattern.needs & (flag::FORCED | flag::DROPPED) != 0);
    let (yielding, candidates): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|candidate| candidate.yields);
    let mut list: Vec<Candidate> = Vec::new();
    let mut patterns = 0;
    for candidate in candidates.into_iter().chain(yielding) {
        let gives_way_to = |other: &Candidate| {
            // A closer that counts only as a special token does not replace a marker that also counts as plain text: otherwise,
            // plain text with the same bytes would not be removed.
            let counts_too = candidate.pattern.special || !other.pattern.special;
            candidate.yields && counts_too && matches!(other.pattern.action, Action::Close { .. })
        };
        let is_twin = |other: &Candidate| {
            other.shape == candidate.shape && (gives_way_to(other) || does_same(&other.pattern, &candidate.pattern))
        };
        if patterns <= MOST_PATTERNS && !list.iter().any(is_twin) {
            patterns += usize::from(candidate.twin(&list).is_none());
            list.push(candidate);
        }
    }
    for candidate in courtesies {
        if patterns < MOST_PATTERNS && !list.iter().any(|other| rival(other, &candidate, suffixes).is_some()) {
            patterns += usize::from(candidate.twin(&list).is_none());
            list.push(candidate);
        }
    }
    list
}

/// Refuses too many markers, and markers that cannot be distinguished.
pub fn check_apart(channel: Channel, list: &[Candidate], suffixes: bool) -> Result<(), Fault> {
    let mut patterns = 0;
    for (index, candidate) in list.iter().enumerate() {
        patterns += usize::from(candidate.twin(&list[..index]).is_none());
        let fault = |message| Err(Fault { span: candidate.at.clone(), message });
        if patterns > MOST_PATTERNS {
            return fault(format!("more than {MOST_PATTERNS} markers count in the {channel}"));
        }
        if let Some(message) = list[..index].iter().find_map(|other| rival(other, candidate, suffixes)) {
            return fault(format!("{message}, and both count in the {channel}"));
        }
    }
    Ok(())
}

/// Returns the reason why two markers cannot be distinguished where both count, or `None` if they can. Most pairs are decided
/// before a function is called.
#[inline(always)]
fn rival(a: &Candidate, b: &Candidate, suffixes: bool) -> Option<String> {
    let are_apart = match (&a.shape, &b.shape) {
        (Shape::Literal(a), Shape::Literal(b)) => a.first() != b.first(),
        _ => false,
    };
    if are_apart || !may_meet(&a.pattern, &b.pattern) { None } else { conflict(a, b, suffixes) }
}

/// Returns whether the pattern is an opener, or a repeated opener that is removed.
fn opens(pattern: &Pattern) -> bool {
    matches!(pattern.action, Action::Open { .. } | Action::FenceOpen { .. } | Action::Absorb)
}

fn closes(pattern: &Pattern) -> bool {
    matches!(
        pattern.action,
        Action::Close { .. } | Action::Answer { .. } | Action::DropClose | Action::Reclassify { .. }
    )
}

/// Returns the reason why two markers that may count at the same place cannot be distinguished, or `None` if they can.
#[inline(never)]
fn conflict(a: &Candidate, b: &Candidate, suffixes: bool) -> Option<String> {
    let show = |bytes: &[u8]| quoted(&String::from_utf8_lossy(bytes));
    let show_tag = |slash: &str, name: &[u8]| quoted(&format!("<{slash}{}>", String::from_utf8_lossy(name)));
    match (&a.shape, &b.shape) {
        (Shape::Literal(literal), Shape::Literal(other)) if literal == other => {
            let (marker, a, b) = (show(literal), &a.pattern, &b.pattern);
            Some(match opens(a) && closes(b) || closes(a) && opens(b) {
                true => format!("{marker} is both an opener and a closer: write two different markers"),
                false => format!("{marker} is there twice"),
            })
        }
        (Shape::Literal(a), Shape::Literal(b)) => (a.starts_with(b) || b.starts_with(a))
            .then(|| format!("{} and {} cannot be distinguished", show(a), show(b))),
        (Shape::CloseName(_, lines), Shape::CloseName(_, other)) if lines != other => None,
        (Shape::OpenName(a), Shape::OpenName(b)) | (Shape::CloseName(a, _), Shape::CloseName(b, _)) if a == b => {
            Some(format!("the tag {} is there twice", show(a)))
        }
        (Shape::OpenName(a), Shape::OpenName(b)) | (Shape::CloseName(a, _), Shape::CloseName(b, _)) => {
            let continues = |long: &[u8], short: &[u8]| long.starts_with(short) && long.get(short.len()) == Some(&b':');
            (suffixes && (continues(a, b) || continues(b, a)))
                .then(|| format!("the tags {} and {} cannot be distinguished", show(a), show(b)))
        }
        (Shape::Literal(literal), Shape::OpenName(name)) | (Shape::OpenName(name), Shape::Literal(literal)) => {
            overlap(literal, 0, b"", name)
                .then(|| format!("{} and the tag {} cannot be distinguished", show(literal), show_tag("", name)))
        }
        (Shape::Literal(literal), Shape::CloseName(name, lines))
        | (Shape::CloseName(name, lines), Shape::Literal(literal)) => overlap(literal, *lines, b"/", name)
            .then(|| format!("{} and the tag {} cannot be distinguished", show(literal), show_tag("/", name))),
        (Shape::Literal(literal), Shape::FenceClose) | (Shape::FenceClose, Shape::Literal(literal)) => {
            let rest = literal.trim_ascii_start();
            (rest.is_empty() || rest[0] == b'`')
                .then(|| format!("{} and a closing fence cannot be distinguished", show(literal)))
        }
        (Shape::FenceClose, Shape::FenceClose) => Some("two fence spans".into()),
        _ => None,
    }
}

/// Returns whether both patterns have the same effect, whichever spans they close, so that the first can represent both.
fn does_same(a: &Pattern, b: &Pattern) -> bool {
    let action = match (a.action, b.action) {
        (Action::Close { keep: first, .. }, Action::Close { keep, .. }) if first == keep => b.action,
        (Action::Reclassify { .. }, Action::Reclassify { .. }) => b.action,
        _ => a.action,
    };
    Pattern { action, ..*a } == *b
}

/// Returns whether both patterns can count at the same place.
fn may_meet(a: &Pattern, b: &Pattern) -> bool {
    let same = match (a.same, b.same) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    same && a.needs & b.avoids == 0 && b.needs & a.avoids == 0
}

/// Returns whether the literal begins with a tag of this name, or could be the beginning of such a tag. `lines` is the number of
/// line breaks before the tag.
fn overlap(literal: &[u8], lines: usize, slash: &[u8], name: &[u8]) -> bool {
    let breaks = literal.iter().take(lines).take_while(|&&byte| byte == b'\n').count();
    let literal = &literal[breaks..];
    if breaks < lines || literal.is_empty() {
        return literal.is_empty();
    }
    let Some(mut rest) = literal.strip_prefix(b"<") else { return false };
    for part in [slash, name] {
        rest = rest.trim_ascii_start();
        let common = rest.len().min(part.len());
        if rest[..common] != part[..common] {
            return false;
        }
        rest = &rest[common..];
        if rest.is_empty() {
            return true;
        }
    }
    // The tag may have a suffix.
    rest[0].is_ascii_whitespace() || b">/:".contains(&rest[0])
}
