//! Runs the filters in their order over one text: the part of a compression that a stream needs too. Whatever a filter does, the
//! result is no longer than the input.

use super::{
    filter_run::FilterRun,
    parts::Original,
    registry::{Entry, Registry},
    report::{PartReport, Report},
};
use crate::compress::{
    invocation::Invocation,
    passes::{built_in::hides_nothing, pass::Stage},
    text::{
        banner::{SWITCH_OFF, banner, has_banner},
        edited::EditedText,
        length::{Length, MIN_COMPRESSIBLE_LENGTH},
        limit::Limit,
    },
};

/// The filters of a compressor, and its settings.
#[derive(Debug)]
pub struct Pipeline {
    pub registry: Registry,
    /// The limit for the text parts of a result together.
    pub budget: Option<Limit>,
    /// The banner's last sentence.
    pub switch_off: String,
    /// Whether markers say which lines of the original they replace.
    pub numbers_lines: bool,
}

impl Pipeline {
    pub fn new(registry: Registry) -> Pipeline {
        Pipeline { registry, budget: None, switch_off: SWITCH_OFF.to_owned(), numbers_lines: false }
    }

    /// Compresses one text part. Returns `None` if it stays unchanged.
    pub fn part(
        &self,
        invocation: &Invocation<'_>,
        part: usize,
        raw: &Original,
        limit: Option<Limit>,
        report: &mut Report,
    ) -> Option<ShortenedText> {
        // A text that fits into the limit is shortened without a budget: no filter makes it longer.
        let limit = limit.filter(|limit| !limit.fits(raw.bytes)).map(|limit| limit.below(raw.length));
        if !raw.is_long() || limit.is_none() && has_banner(raw.bytes) {
            return None;
        }
        let ids = report.filters.len();
        let run = FilterRun::new(invocation, raw, limit, self.numbers_lines, report);
        let (edited, used) = self.turns(run, raw, limit, |_| true);
        if used.is_empty() {
            return None;
        }
        let names: Vec<&str> = used.iter().map(String::as_str).collect();
        let mut head = banner(&names, raw.length.units, edited.length.units, self.switch_off_within(limit));
        head.push('\n');
        let mut length = Length::of(head.as_bytes());
        length += edited.length;
        if !length.is_below(raw.length) {
            // A terminal's view of the text hides nothing, so it needs no banner.
            if !hides_nothing(&names) || edited.length.bytes > raw.length.bytes {
                report.filters.truncate(ids);
                return None;
            }
            (head, length) = (String::new(), edited.length);
        }
        report.parts.push(PartReport::new(part, raw.bytes, &edited));
        Some(ShortenedText { banner: head, text: edited.bytes, length })
    }

    /// Returns the banner's last sentence, or nothing if it would take much of the room.
    pub fn switch_off_within(&self, limit: Option<Limit>) -> &str {
        if limit.is_some_and(|limit| self.switch_off.len() > limit.bytes / 4) { "" } else { &self.switch_off }
    }

    /// Runs the wanted filters over a text or a part of a text. Markers have no line numbers. Returns the edited text, and the
    /// ids of the filters that changed it.
    pub fn run(
        &self,
        invocation: &Invocation<'_>,
        raw: &Original,
        limit: Option<Limit>,
        report: &mut Report,
        wanted: fn(&str) -> bool,
    ) -> (EditedText, Vec<String>) {
        self.turns(FilterRun::new(invocation, raw, limit, false, report), raw, limit, wanted)
    }

    fn turns(
        &self,
        mut run: FilterRun<'_>,
        raw: &Original,
        limit: Option<Limit>,
        wanted: fn(&str) -> bool,
    ) -> (EditedText, Vec<String>) {
        // The budget for the text, without the length of a banner that names no filters.
        let free = limit.map(|limit| {
            let mut head = banner(&[], raw.bytes.len(), raw.bytes.len(), self.switch_off_within(Some(limit)));
            head.push('\n');
            limit.without(head.as_bytes())
        });
        let entries = &self.registry.entries;
        let (first, others) = entries.split_at(entries.partition_point(|entry| entry.stage() <= Stage::Tool));
        let turns = |run: &mut FilterRun, entries: &[Entry]| {
            entries.iter().filter(|entry| wanted(entry.id())).for_each(|entry| run.turn(entry, free));
        };
        turns(&mut run, first);
        // A text shorter than this is not searched for sections, because filters could not leave out much of it.
        if run.len() >= MIN_COMPRESSIBLE_LENGTH {
            run.sections(self.registry.signatures(), wanted);
        }
        turns(&mut run, others);
        run.end()
    }
}

/// A text part that filters made shorter.
pub struct ShortenedText {
    /// The banner with its line end. It is empty if the text needs none.
    pub banner: String,
    pub text: Vec<u8>,
    /// The length of the banner and the text together.
    pub length: Length,
}
