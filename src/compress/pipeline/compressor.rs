//! A call from its beginning to its end: caches, then the filters, then the banner and the report. Whatever a filter or
//! a cache does, a call returns a result that is no longer than what came in.

use std::{borrow::Cow, cell::LazyCell};

use super::{
    call::{Call, Compressed, Original, Outcome, Part},
    filter_run::FilterRun,
    host::Cache,
    promises::caught,
    registry::Registry,
    report::{Failed, PartReport, Report},
};
use crate::compress::{
    lines::verdict::Said,
    passes::{
        pass::{Stage, is_for},
        terminal::TERMINAL,
    },
    text::{
        banner::{SWITCH_OFF, banner, has_banner},
        edited::EditedText,
        length::{Length, MIN_COMPRESSIBLE_LENGTH, units},
    },
};

/// The smallest budget, in bytes. With less there would be no room for a failure and the markers around it.
pub const MIN_BUDGET: usize = 1024;

/// Makes tool results shorter. Only its caches change, and they lock themselves, so threads may share a compressor.
///
/// ```
/// use aside::compress::{Call, Compressor, Input, Outcome, Part, Registry};
///
/// let compressor = Compressor::new(Registry::new());
/// let input = Input::of_command("make");
/// let log = format!("{}make: *** [all] Error 1\n", "warning: the same again and again\n".repeat(100));
/// let result = compressor.compress(&Call::new("bash", &input), &[Part::Text(log.as_bytes())]);
/// let Outcome::Text(text) = &result.parts[0] else { panic!() };
/// let text = String::from_utf8_lossy(text);
/// assert!(text.starts_with("[Output compressed by repeats (3424 → "));
/// assert!(text.contains("[… 99 lines as above]\nmake: *** [all] Error 1\n"));
/// // What was left out can be read again.
/// let left = &result.report.parts[0].stretches[1];
/// assert_eq!(result.report.slice(0, log.as_bytes(), left.range.clone()).unwrap().len(), 99 * 34);
/// ```
#[derive(Debug)]
#[must_use = "a compressor does nothing until it is called"]
pub struct Compressor {
    registry: Registry,
    budget: Option<usize>,
    switch_off: String,
}

/// The error of a budget below [`MIN_BUDGET`].
///
/// ```
/// use aside::compress::{Compressor, MIN_BUDGET, Registry};
///
/// let error = Compressor::new(Registry::new()).budget(MIN_BUDGET - 1).unwrap_err();
/// assert_eq!(error.to_string(), "a budget of 1023 bytes is too small: the least is 1024");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetError(usize);

impl std::fmt::Display for BudgetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a budget of {} bytes is too small: the least is {MIN_BUDGET}", self.0)
    }
}

impl std::error::Error for BudgetError {}

impl Compressor {
    /// Returns a compressor without a budget.
    #[doc(alias = "aside_compressor_new")]
    pub fn new(registry: Registry) -> Compressor {
        Compressor { registry, budget: None, switch_off: SWITCH_OFF.to_owned() }
    }

    /// Sets how many bytes the text parts of a result may have together, banners and markers included. Short text stays
    /// whole all the same. Each other text has at least [`MIN_BUDGET`] bytes, so together they may come to more than the
    /// budget. Text of a machine format stays whole if it fits; if it does not, it is cut as any text, and
    /// [`Report::cut_protected`] says so.
    ///
    /// # Errors
    ///
    /// [`BudgetError`] if the budget is less than [`MIN_BUDGET`].
    pub fn budget(mut self, bytes: usize) -> Result<Compressor, BudgetError> {
        if bytes < MIN_BUDGET {
            return Err(BudgetError(bytes));
        }
        self.budget = Some(bytes);
        Ok(self)
    }

    /// Sets the banner's last sentence, which says how a user of this host switches compression off. Line ends become
    /// spaces.
    pub fn switch_off(mut self, sentence: &str) -> Compressor {
        self.switch_off = sentence.replace(['\r', '\n'], " ");
        self
    }

    /// Compresses the parts of one result.
    #[doc(alias = "aside_compress")]
    pub fn compress(&self, call: &Call<'_>, parts: &[Part<'_>]) -> Compressed {
        let texts: Vec<Original> = parts.iter().filter_map(|part| part.text()).map(Original::new).collect();
        let before = texts.iter().map(|text| text.length.units).sum();
        let mut report = Report { tool_id: call.tool_id.to_owned(), before, after: before, ..Report::default() };
        let raw: Cow<[u8]> = match &texts[..] {
            [only] => only.bytes.into(),
            _ => texts.iter().map(|text| text.bytes).collect::<Vec<_>>().join(&b'\n').into(),
        };
        let hit = self.ask_caches(call, &raw, &mut report);
        let mut outcomes = vec![Outcome::Same; parts.len()];
        let total = Length { bytes: texts.iter().map(|text| text.bytes.len()).sum(), units: before };
        let replacement = hit.map(|timestamp| same_output(timestamp, &texts)).filter(|line| {
            before >= MIN_COMPRESSIBLE_LENGTH
                && texts.iter().all(|text| text.format.is_none())
                && Length::of(line.as_bytes()).is_below(total)
        });
        if let Some(line) = replacement {
            report.after = units(line.as_bytes());
            let mut line = Some(line.into_bytes());
            for (outcome, _) in outcomes.iter_mut().zip(parts).filter(|(_, part)| part.text().is_some()) {
                *outcome = line.take().map_or(Outcome::Gone, Outcome::Text);
            }
        } else {
            report.hit = None;
            let places = (0..parts.len()).filter(|&index| parts[index].text().is_some());
            for ((index, text), share) in places.zip(&texts).zip(self.shares(&texts)) {
                if let Some(shorter) = self.part(call, index, text, share, &mut report) {
                    report.after = report.after - text.length.units + shorter.length.units;
                    outcomes[index] = Outcome::Text([shorter.banner.as_bytes(), &shorter.text].concat());
                }
            }
        }
        if call.input.exit_code().is_some_and(|code| code != 0) {
            let mut said = Said::default();
            for (part, outcome) in parts.iter().zip(&outcomes) {
                match outcome {
                    Outcome::Same => said.read(part.text().unwrap_or_default()),
                    Outcome::Text(text) => said.read(text),
                    Outcome::Gone => {}
                }
            }
            report.unexplained = said.is_unexplained(call.input);
        }
        for cache in self.caches(call.tool_id) {
            let record = || cache.record(call.tool_id, call.input, &raw, call.now);
            guarded(cache.id(), &mut report, record);
        }
        Compressed { parts: outcomes, report }
    }

    fn caches(&self, tool_id: &str) -> impl Iterator<Item = &dyn Cache> {
        let caches = self.registry.caches.iter().map(Box::as_ref);
        caches.filter(move |cache| is_for(cache.tool_ids(), tool_id))
    }

    /// Lets every cache observe the call. Returns the time of the first record with the same text.
    fn ask_caches(&self, call: &Call<'_>, raw: &[u8], report: &mut Report) -> Option<u64> {
        for cache in self.caches(call.tool_id) {
            guarded(cache.id(), report, || cache.observe(call.tool_id, call.input));
        }
        for cache in self.caches(call.tool_id) {
            let found = guarded(cache.id(), report, || cache.lookup(call.tool_id, call.input)).flatten();
            if let Some(hit) = found.filter(|hit| hit.text == raw) {
                report.hit = Some(cache.id().to_owned());
                return Some(hit.timestamp);
            }
        }
        None
    }

    /// Returns how much of the budget each text may use. What is never touched comes first, and what should stay whole
    /// if all of that fits; the others share the rest by length.
    fn shares(&self, texts: &[Original]) -> Vec<Option<usize>> {
        let Some(budget) = self.budget else { return vec![None; texts.len()] };
        let sum = |of: &dyn Fn(&Original) -> bool| -> usize {
            texts.iter().filter(|text| of(text)).map(|text| text.bytes.len()).sum()
        };
        let keeps_sealed = sum(&|text| !text.is_long() || text.is_sealed()) <= budget;
        let stays = |text: &Original| !text.is_long() || keeps_sealed && text.is_sealed();
        let free = budget.saturating_sub(sum(&stays)) as u128;
        let all = sum(&|text| !stays(text)).max(1) as u128;
        let share = |text: &Original| {
            let share = ((free * text.bytes.len() as u128 / all) as usize).max(MIN_BUDGET);
            Some(if stays(text) { text.bytes.len().max(MIN_BUDGET) } else { share })
        };
        texts.iter().map(share).collect()
    }

    /// Returns how many bytes the text parts of a result may have together.
    pub(crate) fn limit(&self) -> Option<usize> {
        self.budget
    }

    /// Compresses one text part. Returns `None` if it stays as it is.
    pub(crate) fn part(
        &self,
        call: &Call<'_>,
        part: usize,
        raw: &Original,
        limit: Option<usize>,
        report: &mut Report,
    ) -> Option<Shorter> {
        // A result is shorter than its text, so what fits needs no budget.
        let limit = limit.filter(|&limit| raw.bytes.len() > limit);
        if !raw.is_long() || limit.is_none() && has_banner(raw.bytes) {
            return None;
        }
        let ids = report.filters.len();
        let (edited, used) = self.run(call, raw, limit, report, |_| true);
        if used.is_empty() {
            return None;
        }
        let names: Vec<&str> = used.iter().map(String::as_str).collect();
        let mut head = banner(&names, raw.length.units, edited.length.units, self.switch_off_within(limit));
        head.push('\n');
        let mut length = Length::of(head.as_bytes());
        length += edited.length;
        if !length.is_below(raw.length) {
            // Nothing is hidden if a text is what a terminal shows, so it needs no banner.
            if names != [TERMINAL] {
                report.filters.truncate(ids);
                return None;
            }
            (head, length) = (String::new(), edited.length);
        }
        report.parts.push(PartReport::new(part, raw.bytes, &edited));
        Some(Shorter { banner: head, text: edited.bytes, length })
    }

    /// Returns the banner's last sentence, or nothing if it would take much of the room.
    fn switch_off_within(&self, limit: Option<usize>) -> &str {
        if limit.is_some_and(|limit| self.switch_off.len() > limit / 4) { "" } else { &self.switch_off }
    }

    /// Runs the wanted filters over one text. Returns the edited text, and the ids of the filters that changed it.
    pub(crate) fn run(
        &self,
        call: &Call<'_>,
        raw: &Original,
        limit: Option<usize>,
        report: &mut Report,
        wanted: fn(&str) -> bool,
    ) -> (EditedText, Vec<String>) {
        let mut run = FilterRun::new(call, raw, report);
        // What is left for the text next to a banner without names.
        let free = limit.map(|limit| {
            let head = banner(&[], raw.bytes.len(), raw.bytes.len(), self.switch_off_within(Some(limit)));
            limit.saturating_sub(head.len() + 1)
        });
        let entries = &self.registry.entries;
        // Looked for when the first fallback has its turn.
        let is_taken = LazyCell::new(|| entries.iter().any(|entry| entry.is_for_some(call)));
        for entry in entries.iter().filter(|entry| wanted(entry.id())) {
            if entry.stage() != Stage::Fallback || !*is_taken {
                run.turn(entry, free);
            }
        }
        run.end()
    }
}

/// What a text part became.
pub(crate) struct Shorter {
    /// The banner with its line end. It is empty if the text needs none.
    pub banner: String,
    pub text: Vec<u8>,
    /// The length of both.
    pub length: Length,
}

/// Runs code of the host. An error or a panic in it goes to the report.
fn guarded<T>(id: &str, report: &mut Report, run: impl FnOnce() -> Result<T, String>) -> Option<T> {
    let failed = |reason| report.failed.push(Failed { filter: id.to_owned(), reason });
    caught(run).map_err(failed).ok()
}

/// Returns the line that stands for a result that equals the last one.
fn same_output(timestamp: u64, texts: &[Original]) -> String {
    let (mut lines, mut bytes) = (0, 0);
    for text in texts.iter().map(|text| text.bytes).filter(|text| !text.is_empty()) {
        lines += bytecount::count(text, b'\n') + usize::from(!text.ends_with(b"\n"));
        bytes += text.len();
    }
    let time = iso_time(timestamp);
    format!("Same output as last run ({time}): not shown again (lines: {lines}, bytes: {bytes}).")
}

/// Writes seconds since 1970 as `2026-01-31T12:00:00Z`.
fn iso_time(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days since 1 March of year 0, in cycles of 400 years.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + next;
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::iso_time;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(iso_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_time(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(iso_time(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(iso_time(1_798_761_599), "2026-12-31T23:59:59Z");
    }
}
