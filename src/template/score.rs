//! Rates how well each dialect fits a template, by comparing its markers and framing with the text that the template writes.
//! Dialects share markers, so a dialect must not be chosen because of one marker if another dialect explains more of them.

use memchr::memmem;

use super::signatures::{Catalogue, Framing, MarkerPair, Needle, NeedleId, Signature};
use super::value::UNKNOWN;
use crate::channel::{Channel, Start};
use crate::memory::{Result, filled};

/// The known facts about a template.
pub struct Evidence<'a> {
    /// The template's own text.
    pub source: &'a str,
    /// The text that the template writes.
    pub written: &'a str,
    /// The text that the template writes for a tool call; empty if it is unknown.
    pub call: &'a str,
    /// The placeholders in `written` for the thought, and for the answer after it.
    pub thought: &'a str,
    pub answer: &'a str,
    /// The texts that the generation prompt may write by default, and if thinking is requested.
    pub prompts: &'a [&'a str],
    pub thinking_prompts: &'a [&'a str],
}

/// A dialect that the template may be written for.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub signature: &'static Signature,
    pub start: Start,
    score: i32,
    /// Whether the template has all tool markers of the dialect, and whether it has all turn markers.
    has_all: (bool, bool),
}

impl Candidate {
    /// Returns the rank. Higher is better.
    pub fn rank(&self) -> (i32, (bool, bool)) {
        (self.score, self.has_all)
    }
}

/// The markers by which a dialect is recognised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The markers of its thinking, or of its header.
    Thinking,
    /// The markers of its calls, for templates of models that do not think.
    Calls,
}

pub struct Scorer<'a> {
    by: By,
    evidence: &'a Evidence<'a>,
    catalogue: &'static Catalogue,
    /// For each text of the table, whether the template has it.
    found: Vec<bool>,
    /// For each text of the table, whether it is the marker with which the template's calls begin.
    outer: Vec<bool>,
    has_outer: bool,
}

impl<'a> Scorer<'a> {
    pub fn new(by: By, evidence: &'a Evidence<'a>, catalogue: &'static Catalogue) -> Result<Scorer<'a>> {
        let mut found = filled(false, catalogue.table.len())?;
        for (needle, found) in catalogue.table.iter().zip(&mut found) {
            *found = place(evidence.written, needle).is_some()
                || place(evidence.call, needle).is_some()
                || place(evidence.source, needle).is_some();
        }
        let outer = filled(false, catalogue.table.len())?;
        let mut scorer = Scorer { by, evidence, catalogue, found, outer, has_outer: false };
        let texts = [evidence.call, evidence.written, evidence.source];
        scorer.has_outer = texts.iter().any(|text| scorer.find_outer(text));
        Ok(scorer)
    }

    /// Finds the first tool marker; of several at one place, the longest. Later tool markers are inside a call, and say little
    /// about the dialect.
    fn find_outer(&mut self, text: &str) -> bool {
        let table = &self.catalogue.table;
        // In the table, the text of a tag lacks the `>`, so one byte is added.
        let length = |tool: NeedleId| table[tool].text.len() + usize::from(table[tool].is_tag);
        let places =
            self.catalogue.tools[self.by as usize].iter().filter_map(|&tool| Some((place(text, &table[tool])?, tool)));
        let Some(first) = places.clone().map(|(at, _)| at).min() else { return false };
        let longest = places.clone().filter(|(at, _)| *at == first).map(|(_, tool)| length(tool)).max();
        for (at, tool) in places {
            self.outer[tool] = at == first && Some(length(tool)) == longest;
        }
        true
    }

    /// Returns the marker with which the template's calls begin, if the dialect does not have it.
    pub fn foreign_call(&self, signature: &Signature) -> Option<&'static str> {
        if !self.has_outer || signature.tools.iter().any(|tool| self.outer[*tool]) {
            return None;
        }
        let outer = self.outer.iter().position(|is_outer| *is_outer)?;
        Some(&self.catalogue.table[outer].text)
    }

    /// Returns whether the template has this text.
    pub fn has(&self, needle: NeedleId) -> bool {
        self.found[needle]
    }

    fn has_any(&self, needles: &[NeedleId]) -> bool {
        needles.iter().any(|needle| self.found[*needle])
    }

    /// Returns the dialect as a candidate, with its score and the start of generation. Returns `None` if the template has no
    /// marker of its thinking, or, for `By::Calls`, of its calls.
    ///
    /// Markers in the template raise the score more than framing and the start. Tool markers that only other dialects have lower
    /// the score.
    pub fn score(&self, signature: &'static Signature) -> Option<Candidate> {
        let has_outer = signature.tools.iter().any(|tool| self.outer[*tool]);
        let is_own = signature.own.iter().any(|text| self.evidence.source.contains(text.as_str()));
        let mut score = 0;
        let mut start = Start::Channel(Channel::Content);
        if self.by == By::Calls {
            if !has_outer && !is_own {
                return None;
            }
            score += i32::from(signature.calls_alone);
        } else if let Some(header) = &signature.header {
            if !self.has_any(&header[0]) || !self.has_any(&header[1]) {
                return None;
            }
            for literal in header.iter().flatten() {
                score += if self.found[*literal] { 2 } else { -1 };
            }
            start = Start::Header;
        } else {
            let pairs = || signature.thinking.iter().filter(|pair| self.has_pair(pair));
            let count = pairs().count();
            // If the template has no markers of the thinking, the dialect is recognised by a wrapper that is a token, or by a
            // text that only templates of this family have.
            let is_known = is_own && !signature.thinking.is_empty();
            let is_token = |wrapper: &&NeedleId| self.catalogue.table[**wrapper].text.starts_with("<|");
            let mut wrappers = signature.wrappers.iter().filter(is_token);
            if count == 0 && !is_known && !wrappers.any(|wrapper| self.found[*wrapper]) {
                return None;
            }
            score += pairs().map(|pair| self.framing(pair)).sum::<i32>();
            score += i32::from(count == signature.thinking.len());
            let thinking = Start::Channel(Channel::Thinking);
            if pairs().any(|pair| self.prompt_opens(pair)) {
                start = thinking;
            } else if count == 0 && self.evidence.prompts.iter().all(|prompt| prompt.contains(UNKNOWN)) {
                // A macro may write the opener, and the text of macros is unknown.
                start = signature.start;
            }
            // If the prompt opens the thinking, and closes it only when no thinking is wanted, the family starts in the
            // thinking.
            let is_like = if pairs().any(|pair| self.prompt_may_open(pair)) { thinking } else { start };
            score += i32::from(is_like == signature.start);
        }
        score += match (self.has_outer, has_outer) {
            (true, true) => 4,
            (true, false) => -3,
            (false, _) => 0,
        };
        let wrappers = signature.wrappers.iter().filter(|wrapper| self.found[**wrapper]).count();
        score += if wrappers == 0 && signature.needs_wrapper { -2 } else { 2 * wrappers as i32 };
        if !signature.turns.is_empty() {
            score += if self.has_any(&signature.turns) { 4 } else { -4 };
        }
        score += 3 * i32::from(is_own);
        let has_all = |needles: &[NeedleId]| needles.iter().all(|needle| self.found[*needle]);
        Some(Candidate { signature, start, score, has_all: (has_all(&signature.tools), has_all(&signature.turns)) })
    }

    /// Returns whether two dialects are the same as far as the template shows.
    pub fn are_alike(&self, one: &Signature, other: &Signature) -> bool {
        let markers = |signature: &'static Signature| {
            let pairs = signature.thinking.iter().flat_map(|pair| pair.open.iter().chain(&pair.close));
            let header = signature.header.iter().flatten().flatten();
            pairs.chain(&signature.tools).chain(&signature.wrappers).chain(header).filter(|needle| self.found[**needle])
        };
        let [one, other] =
            [one, other].map(|signature| self.catalogue.families.iter().find(|all| all.name == signature.name));
        let (Some(one), Some(other)) = (one, other) else { return false };
        let covers = |one, other| {
            let is_covered = |needle: &NeedleId| {
                markers(other).any(|known| {
                    // A tag in one dialect may be a literal in another, which has the same beginning.
                    let [needle, known] = [*needle, *known].map(|needle| &self.catalogue.table[needle]);
                    needle.text == known.text
                        || known.is_tag && needle.text.starts_with(&known.text)
                        || needle.is_tag && known.text.starts_with(&needle.text)
                })
            };
            markers(one).all(is_covered)
        };
        covers(one, other) && covers(other, one)
    }

    fn has_pair(&self, pair: &MarkerPair) -> bool {
        let (open, close) = (self.has_any(&pair.open), self.has_any(&pair.close));
        if pair.both { open && close } else { open || close }
    }

    /// Rates whether the text around the markers looks like the dialect's framing.
    fn framing(&self, pair: &MarkerPair) -> i32 {
        let Evidence { thought, answer, .. } = self.evidence;
        let before = match &pair.before_open[..] {
            [] => 0,
            before => {
                if self.has_any(before) {
                    1
                } else {
                    -1
                }
            }
        };
        before
            + self.stands(&pair.after_open, &pair.open, |marker, framing| self.is_between(marker, framing, thought))
            + self.stands(&pair.before_close, &pair.close, |marker, framing| self.is_between(thought, framing, marker))
            + self.stands(&pair.after_close, &pair.close, |marker, framing| self.is_between(marker, framing, answer))
    }

    /// Returns 1 if exactly this framing is next to one of the markers, and -1 if different framing is. Framing between a marker
    /// and the thought or the answer is the best evidence; elsewhere, empty framing does not count.
    fn stands(&self, framing: &Framing, markers: &[NeedleId], is_between: impl Fn(&str, &str) -> Option<bool>) -> i32 {
        let text = |marker: &NeedleId| &*self.catalogue.table[*marker].text;
        let seen = markers.iter().filter_map(|marker| is_between(text(marker), &framing.text));
        if let Some(is_there) = seen.max() {
            return if is_there { 1 } else { -1 };
        }
        let has = |index: usize| framing.with.iter().any(|with| self.found[with[index]]);
        match (has(0), has(1)) {
            (true, false) => i32::from(!framing.text.is_empty()),
            _ => -1,
        }
    }

    /// Returns whether this framing is between two texts, or `None` if the texts never occur with only white space or the
    /// framing between them.
    fn is_between(&self, left: &str, framing: &str, right: &str) -> Option<bool> {
        let mut seen = None;
        let mut from = 0;
        let written = self.evidence.written;
        while let Some(at) = memmem::find(&written.as_bytes()[from..], right.as_bytes()).map(|at| from + at) {
            // Only a part of very long white space is examined.
            const MOST: usize = 64;
            let before = &written[floor(written, at.saturating_sub(left.len() + framing.len() + MOST))..at];
            if before.strip_suffix(framing).is_some_and(|before| before.ends_with(left)) {
                return Some(true);
            }
            if before.trim_end().ends_with(left) {
                seen = Some(false);
            }
            from = at + right.len();
        }
        seen
    }

    /// Returns whether a path through the generation prompt opens the thinking and leaves it open.
    fn prompt_opens(&self, pair: &MarkerPair) -> bool {
        self.evidence.prompts.iter().any(|prompt| self.opens(prompt, pair))
    }

    /// Returns whether the prompt opens the thinking by default, and leaves it open if thinking is requested.
    fn prompt_may_open(&self, pair: &MarkerPair) -> bool {
        let Evidence { prompts, thinking_prompts, .. } = self.evidence;
        !prompts.is_empty()
            && prompts.iter().all(|prompt| self.last(prompt, &pair.open).is_some())
            && thinking_prompts.iter().any(|prompt| self.opens(prompt, pair))
    }

    fn opens(&self, prompt: &str, pair: &MarkerPair) -> bool {
        match (self.last(prompt, &pair.open), self.last(prompt, &pair.close)) {
            (Some(open), Some(close)) => open > close,
            (open, _) => open.is_some(),
        }
    }

    fn last(&self, prompt: &str, markers: &[NeedleId]) -> Option<usize> {
        markers.iter().filter_map(|marker| last_place(prompt, &self.catalogue.table[*marker])).max()
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the first place of a text.
fn place(text: &str, needle: &Needle) -> Option<usize> {
    let mut places = memmem::find_iter(text.as_bytes(), &needle.text);
    places.find(|at| ends_well(text, *at, needle))
}

fn last_place(text: &str, needle: &Needle) -> Option<usize> {
    let places = memmem::find_iter(text.as_bytes(), &needle.text);
    places.filter(|at| ends_well(text, *at, needle)).last()
}

fn ends_well(text: &str, at: usize, needle: &Needle) -> bool {
    let next = text.as_bytes().get(at + needle.text.len());
    !needle.is_tag || next.is_none_or(|next| !next.is_ascii_alphanumeric() && !b"-_".contains(next))
}
