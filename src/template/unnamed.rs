//! Finds markers of a template that are missing from the dialect that was found. An unknown family may share calls or role
//! lines with a known family; without this check, its other markers would silently be text.

use memchr::memmem;

use super::marks::{is_closer, markers, split_at};
use super::score::Evidence;
use super::signatures::{Catalogue, NeedleId, Signature};
use super::value::UNKNOWN;

/// The maximum number of bytes that are examined between a role line and the content, or after the role line of a prompt.
const MOST: usize = 256;

/// Returns a sign that the template belongs to a family without a dialect: a marker that the dialect lacks, at the beginning of
/// an answer or where the template splits answers; the opener of a call, if the dialect has no calls; or the role line of
/// another family. `call` is the marker with which the template's calls begin, unless the dialect has it. `has` returns whether
/// the template has a text of the catalogue.
pub fn unnamed<'e>(
    signature: &Signature,
    catalogue: &'static Catalogue,
    evidence: &Evidence<'e>,
    call: Option<&'static str>,
    has: impl Fn(NeedleId) -> bool,
) -> Option<&'e str>
where
    'static: 'e,
{
    // The keys and values in headers look like markers, so they are not examined.
    if signature.header.is_some() {
        return None;
    }
    let known = Known { signature, catalogue };
    let prompts = evidence.prompts.iter().chain(evidence.thinking_prompts);
    let of_prompt = prompts.filter_map(|prompt| known.after_role(prompt)).find_map(|rest| known.first_unknown(rest));
    of_prompt
        .or_else(|| known.before_content(evidence))
        .or_else(|| known.split(evidence.source))
        .or(call.filter(|_| signature.tools.is_empty()))
        .or_else(|| known.role_of_another(evidence, has))
}

struct Known<'s> {
    signature: &'s Signature,
    catalogue: &'s Catalogue,
}

impl Known<'_> {
    fn text(&self, needle: NeedleId) -> &str {
        &self.catalogue.table[needle].text
    }

    /// Returns the text after the last role line of the dialect.
    fn after_role<'t>(&self, text: &'t str) -> Option<&'t str> {
        let ends = self.signature.turns.iter().filter_map(|turn| {
            let turn = self.text(*turn);
            Some(memmem::rfind(text.as_bytes(), turn.as_bytes())? + turn.len())
        });
        ends.max().map(|end| &text[end..])
    }

    /// Returns the first marker that the dialect lacks. The search ends at an opener of the thinking, after which the text is a
    /// thought.
    fn first_unknown<'t>(&self, text: &'t str) -> Option<&'t str> {
        let len = text.len().min(MOST);
        let text = &text[..(0..=len).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)];
        let opens = |marker: &str| {
            let mut openers = self.signature.thinking.iter().flat_map(|pair| &pair.open);
            openers.any(|open| marker.starts_with(self.text(*open)))
        };
        markers(text).map(|marker| &text[marker]).take_while(|marker| !opens(marker)).find(|marker| !self.has(marker))
    }

    fn has(&self, marker: &str) -> bool {
        let signature = self.signature;
        let pairs = signature.thinking.iter().flat_map(|pair| pair.open.iter().chain(&pair.close));
        // Texts that only the family's templates have are tokens of its turns, not unknown markers.
        if signature.own.iter().any(|own| own.contains(marker)) {
            return true;
        }
        let mut all = pairs.chain(&signature.tools).chain(&signature.wrappers).chain(&signature.turns);
        all.any(|needle| {
            let needle = &self.catalogue.table[*needle];
            needle.text.contains(marker) || marker.contains(needle.text.as_str())
        })
    }

    /// Looks for an unknown marker between the model's role line and the text of a message, in a rendered turn. Without
    /// rendering, the text has all branches in succession, which says nothing about the order.
    fn before_content<'e>(&self, evidence: &Evidence<'e>) -> Option<&'e str> {
        let Evidence { written, thought, answer, .. } = *evidence;
        let end = [thought, answer]
            .into_iter()
            .filter(|text| *text != UNKNOWN)
            .filter_map(|text| written.find(text))
            .min()?;
        self.first_unknown(self.after_role(&written[..end])?)
    }

    /// Returns the role line of a prompt, if the template shares with the dialect only the thinking tags, which many families have.
    fn role_of_another<'e>(&self, evidence: &Evidence<'e>, has: impl Fn(NeedleId) -> bool) -> Option<&'e str> {
        let Signature { turns, tools, wrappers, own, .. } = self.signature;
        let has_own = turns.iter().chain(tools).chain(wrappers).any(|needle| has(*needle))
            || own.iter().any(|own| evidence.source.contains(own.as_str()));
        if turns.is_empty() || tools.is_empty() || has_own {
            return None;
        }
        let lines = evidence.prompts.iter().flat_map(|prompt| prompt.split('\n').flat_map(|line| line.split(UNKNOWN)));
        let line = lines.map(str::trim).find(|line| !line.is_empty())?;
        let role = match markers(line).next() {
            Some(first) if first.start == 0 => &line[first],
            Some(first) => line[..first.start].trim_end(),
            None => line,
        };
        (role.len() <= MOST).then_some(role)
    }

    /// Looks for a closer at which the template splits texts, if the template has no closer of the dialect's thinking.
    fn split<'e>(&self, source: &'e str) -> Option<&'e str> {
        let mut closers = self.signature.thinking.iter().flat_map(|pair| &pair.close).map(|close| self.text(*close));
        if closers.any(|close| source.contains(close)) {
            return None;
        }
        split_at(source).find(|text| text.len() <= MOST && is_closer(text) && !self.has(text))
    }
}
