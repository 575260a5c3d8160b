//! Runs a whole compression: caches, then filters, then the banner and the report. Whatever a filter or a cache does, the result is
//! not longer than the input.

use std::{borrow::Cow, sync::Arc};

use super::{
    invocation::Invocation,
    lines::verdict::Verdicts,
    passes::{built_in::hides_nothing, pass::is_for, terminal::TERMINAL},
    pipeline::{
        counter::Counter,
        filters::{Pipeline, ShortenedText},
        host::Cache,
        parts::{Compressed, Original, Outcome, Part},
        promises::caught,
        registry::Registry,
        report::{Failed, Report},
    },
    text::{
        banner::banner,
        length::{Length, MIN_COMPRESSIBLE_LENGTH},
        limit::Limit,
        tokens::estimated_tokens,
    },
    windows::{BoundedText, Run, least_memory},
};

/// The smallest budget, in bytes. With less there would be no room for a failure and the markers around it.
pub const MIN_BUDGET: usize = 1024;

/// Makes tool results shorter. Only the caches of a compressor change, and these use locks, so threads may share a compressor.
///
/// ```
/// use aside::compress::{Compressor, Input, Invocation, Outcome, Part, Registry};
///
/// let compressor = Compressor::new(&Registry::new());
/// let input = Input::of_command("make");
/// let log = format!("{}make: *** [all] Error 1\n", "warning: the same again and again\n".repeat(100));
/// let result = compressor.compress(&Invocation::new("bash", &input), &[Part::Text(log.as_bytes())]);
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
    pipeline: Pipeline,
    /// The longest text that is processed as a whole, in bytes.
    memory: Option<usize>,
    /// The host's count of tokens.
    counter: Option<Counter>,
}

/// The smallest budget in tokens.
pub const MIN_BUDGET_TOKENS: usize = 512;

/// The error of a budget below [`MIN_BUDGET`] or [`MIN_BUDGET_TOKENS`].
///
/// ```
/// use aside::compress::{Compressor, MIN_BUDGET, Registry};
///
/// let error = Compressor::new(&Registry::new()).budget(MIN_BUDGET - 1).unwrap_err();
/// assert_eq!(error.to_string(), "a budget of 1023 bytes is too small: the least is 1024");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetError {
    budget: usize,
    least: usize,
    unit: &'static str,
}

impl std::fmt::Display for BudgetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let BudgetError { budget, least, unit } = self;
        write!(f, "a budget of {budget} {unit} is too small: the least is {least}")
    }
}

impl std::error::Error for BudgetError {}

impl Compressor {
    /// Returns a compressor with the filters and caches that a registry has now: without a budget, for texts of any length.
    ///
    /// Several compressors may be made from one registry. They share its caches.
    #[doc(alias = "aside_compressor_new")]
    pub fn new(registry: &Registry) -> Compressor {
        Compressor { pipeline: Pipeline::new(registry.clone()), memory: None, counter: None }
    }

    /// Sets the maximum number of bytes of the text parts of a result together, banners and markers included. Short texts stay
    /// whole nevertheless. Each other text is allowed at least [`MIN_BUDGET`] bytes, so several texts together may exceed the
    /// budget. Text of a machine format stays whole if it fits. If it does not fit, it is cut like any other text, and
    /// [`Report::cut_protected`] says so.
    ///
    /// # Errors
    ///
    /// [`BudgetError`] if the budget is less than [`MIN_BUDGET`].
    pub fn budget(mut self, bytes: usize) -> Result<Compressor, BudgetError> {
        if bytes < MIN_BUDGET {
            return Err(BudgetError { budget: bytes, least: MIN_BUDGET, unit: "bytes" });
        }
        self.limit(Limit::of_bytes(bytes));
        Ok(self)
    }

    /// Sets the maximum number of tokens of the text parts of a result together, by the estimate of
    /// [`estimated_tokens`](crate::compress::estimated_tokens()). It also limits the result to six bytes for each token. If there
    /// is also a budget in bytes, a result must keep to both. Otherwise this is like [`Compressor::budget`], with at least
    /// [`MIN_BUDGET_TOKENS`] for each text.
    ///
    /// ```
    /// use aside::compress::{Compressor, Input, Invocation, Outcome, Part, Registry, estimated_tokens};
    ///
    /// let compressor = Compressor::new(&Registry::new()).budget_tokens(1000)?;
    /// let log: String = (0..5000).map(|n| format!("step {n} took {} ms\n", n % 7)).collect();
    /// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
    /// let Outcome::Text(text) = &result.parts[0] else { panic!() };
    /// assert!((800..=1000).contains(&estimated_tokens(text)));
    /// # Ok::<(), aside::compress::BudgetError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BudgetError`] if the budget is less than [`MIN_BUDGET_TOKENS`].
    pub fn budget_tokens(mut self, tokens: usize) -> Result<Compressor, BudgetError> {
        if tokens < MIN_BUDGET_TOKENS {
            return Err(BudgetError { budget: tokens, least: MIN_BUDGET_TOKENS, unit: "tokens" });
        }
        self.limit(Limit::of_tokens(tokens));
        Ok(self)
    }

    /// Sets a function that counts the tokens of a text by the model's tokenizer, for a budget in tokens. The estimate still
    /// decides which text stays. The function is called at most eight times for one result, with all text parts of the result as
    /// one text. Several threads may call it at the same time.
    ///
    /// If the function fails or panics, the estimate is used instead. If none of the results that it counted has few enough tokens,
    /// the result with the fewest is returned. In both cases, [`Report::failed`] has an entry `count`.
    ///
    /// ```
    /// use aside::compress::{Compressor, Input, Invocation, Outcome, Part, Registry};
    ///
    /// let count = |text: &[u8]| Ok(text.len().div_ceil(3));
    /// let compressor = Compressor::new(&Registry::new()).budget_tokens(1000)?.count_tokens(count);
    /// let log: String = (0..5000).map(|n| format!("step {n} took {} ms\n", n % 7)).collect();
    /// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
    /// let Outcome::Text(text) = &result.parts[0] else { panic!() };
    /// assert!(text.len() <= 3000);
    /// # Ok::<(), aside::compress::BudgetError>(())
    /// ```
    pub fn count_tokens(
        mut self,
        count: impl Fn(&[u8]) -> Result<usize, String> + Send + Sync + 'static,
    ) -> Compressor {
        self.counter = Some(Counter::new(count));
        self
    }

    fn limit(&mut self, limit: Limit) {
        self.pipeline.budget = Some(self.pipeline.budget.map_or(limit, |budget| budget.and(limit)));
    }

    /// Sets the banner's last sentence, which says how a user of this host switches compression off. Line ends become
    /// spaces.
    pub fn switch_off(mut self, sentence: &str) -> Compressor {
        self.pipeline.switch_off = sentence.replace(['\r', '\n'], " ");
        self
    }

    /// Makes markers say which lines of the original they replace, for a host that shows those lines on request. Lines of a text
    /// that is longer than the memory have no numbers.
    ///
    /// ```
    /// use aside::compress::{Compressor, Input, Invocation, Outcome, Part, Registry};
    ///
    /// let compressor = Compressor::new(&Registry::new()).number_lines();
    /// let log = format!("first\n{}last\n", "the same line\n".repeat(100));
    /// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
    /// let Outcome::Text(text) = &result.parts[0] else { panic!() };
    /// assert!(text.ends_with("the same line\n[… 99 lines as above: lines 3-101]\nlast\n".as_bytes()));
    /// ```
    pub fn number_lines(mut self) -> Compressor {
        self.pipeline.numbers_lines = true;
        self
    }

    /// Sets the longest text, in bytes, that is processed as a whole. A longer text is processed window by window, as in a
    /// [`ToolStream`](crate::compress::ToolStream) with that much memory, so that a tool that prints without end cannot exhaust a
    /// host. The repeats of such a text are left out; under a budget, only its head, its tail and its error regions stay. Filters
    /// for a tool are not applied to it, and the report has no stretches of it. Values below 4,096 bytes and below four times the
    /// budget are raised to these. Without this setting, a text of any length is processed as a whole, which takes several times
    /// as much memory as the text has bytes.
    ///
    /// ```
    /// use aside::compress::{Compressor, Input, Invocation, Outcome, Part, Registry};
    ///
    /// let compressor = Compressor::new(&Registry::new()).budget(2000)?.memory(1 << 20);
    /// let log = "the same line\n".repeat(1 << 20);
    /// let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &[Part::Text(log.as_bytes())]);
    /// let Outcome::Text(text) = &result.parts[0] else { panic!() };
    /// assert!(text.len() <= 2000);
    /// # Ok::<(), aside::compress::BudgetError>(())
    /// ```
    pub fn memory(mut self, bytes: usize) -> Compressor {
        self.memory = Some(bytes);
        self
    }

    /// Compresses the parts of the result of one invocation.
    #[doc(alias = "aside_compress")]
    pub fn compress(&self, invocation: &Invocation<'_>, parts: &[Part<'_>]) -> Compressed {
        let texts: Vec<Original> =
            parts.iter().filter_map(|part| part.text()).map(|text| self.original(text)).collect();
        let total: Length = texts.iter().map(|text| text.length).sum();
        let mut report = Report { tool_id: invocation.tool_id.to_owned(), ..Report::default() };
        report.add_before(total);
        let raw: Option<Cow<[u8]>> = match &texts[..] {
            [only] => Some(only.bytes.into()),
            // A cache gets all texts as one text. For texts that are longer than the memory, that copy would be too large.
            _ if texts.iter().any(|text| self.is_bounded(text.bytes)) => None,
            _ => Some(texts.iter().map(|text| text.bytes).collect::<Vec<_>>().join(&b'\n').into()),
        };
        let hit = raw.as_ref().and_then(|raw| self.ask_caches(invocation, raw, &mut report));
        let mut verdicts = Verdicts::default();
        let mut outcomes = vec![Outcome::Same; parts.len()];
        let replacement = hit.map(|timestamp| same_output(timestamp, &texts)).filter(|line| {
            total.units >= MIN_COMPRESSIBLE_LENGTH
                && texts.iter().all(|text| text.format.is_none())
                && Length::of(line.as_bytes()).is_below(total)
        });
        if let Some(line) = replacement {
            report.add_after(Length::of(line.as_bytes()));
            let mut line = Some(line.into_bytes());
            for (outcome, _) in outcomes.iter_mut().zip(parts).filter(|(_, part)| part.text().is_some()) {
                *outcome = line.take().map_or(Outcome::Gone, Outcome::Text);
            }
        } else {
            report.hit = None;
            let make = |limit| self.shorter(invocation, parts, &texts, limit, report.clone());
            let all = |made: &Shorter| joined(parts, &made.outcomes);
            let mut failed = Vec::new();
            let mut made = Counter::within_any(self.counter(), self.pipeline.budget, &mut failed, make, all);
            made.report.failed.append(&mut failed);
            Shorter { outcomes, report, verdicts } = made;
        }
        if invocation.input.exit_code().is_some_and(|code| code != 0) {
            let is_bounded =
                |part: &Part| report.hit.is_none() && part.text().is_some_and(|text| self.is_bounded(text));
            for (part, outcome) in parts.iter().zip(&outcomes).filter(|(part, _)| !is_bounded(part)) {
                match outcome {
                    Outcome::Same => verdicts.read(part.text().unwrap_or_default()),
                    Outcome::Text(text) => verdicts.read(text),
                    Outcome::Gone => {}
                }
            }
            report.unexplained = verdicts.is_unexplained(invocation.input);
        }
        if let Some(raw) = &raw {
            for cache in self.caches(invocation.tool_id) {
                let record = || cache.record(invocation, raw);
                guarded(cache.id(), &mut report, record);
            }
        }
        Compressed { parts: outcomes, report }
    }

    /// Shortens each text part, within a limit for all of them.
    fn shorter(
        &self,
        invocation: &Invocation<'_>,
        parts: &[Part<'_>],
        texts: &[Original<'_>],
        limit: Option<Limit>,
        mut report: Report,
    ) -> Shorter {
        let mut verdicts = Verdicts::default();
        let mut outcomes: Vec<Outcome> = parts.iter().map(|_| Outcome::Same).collect();
        let places = (0..parts.len()).filter(|&index| parts[index].text().is_some());
        for ((index, text), share) in places.zip(texts).zip(shares(texts, limit)) {
            let shorter = match self.is_bounded(text.bytes) {
                true => self.bounded_part(invocation, text, share, &mut verdicts, &mut report),
                false => self.pipeline.part(invocation, index, text, share, &mut report),
            };
            report.add_after(shorter.as_ref().map_or(text.length, |shorter| shorter.length));
            if let Some(shorter) = shorter {
                outcomes[index] = Outcome::Text([shorter.banner.as_bytes(), &shorter.text].concat());
            }
        }
        Shorter { outcomes, report, verdicts }
    }

    /// Returns the host's count of tokens.
    pub(crate) fn counter(&self) -> Option<&Counter> {
        self.counter.as_ref()
    }

    /// Returns the passes for each text.
    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Returns whether a text is too long to be processed as a whole.
    fn is_bounded(&self, text: &[u8]) -> bool {
        self.memory.is_some_and(|memory| text.len() > memory.max(least_memory(self.pipeline.budget)))
    }

    /// Reads a text. The format of a text that is too long to be processed as a whole is not determined.
    fn original<'a>(&self, text: &'a [u8]) -> Original<'a> {
        match self.is_bounded(text) {
            true => Original { bytes: text, length: Length::of(text), format: None, goes_on: false },
            false => Original::new(text),
        }
    }

    /// Compresses a text that is too long to be processed as a whole. Returns `None` if it stays unchanged.
    fn bounded_part(
        &self,
        invocation: &Invocation<'_>,
        raw: &Original<'_>,
        limit: Option<Limit>,
        verdicts: &mut Verdicts,
        report: &mut Report,
    ) -> Option<ShortenedText> {
        let head = |names: &[&str], after: usize| {
            let switch_off = self.pipeline.switch_off_within(limit);
            banner(names, raw.length.units, after, switch_off) + "\n"
        };
        let limit = limit.filter(|limit| !limit.fits(raw.bytes));
        let budget = limit.map(|limit| limit.without(head(&[TERMINAL, "budget"], raw.length.units).as_bytes()));
        let memory = self.memory.unwrap_or(usize::MAX).max(least_memory(budget));
        let (mut own, mut text) = (Report::default(), Vec::new());
        let mut bounded = BoundedText::new(memory, budget);
        let mut run = Run { pipeline: &self.pipeline, counter: None, invocation, report: &mut own };
        bounded.feed(&mut run, raw.bytes, |bytes| text.extend_from_slice(bytes));
        verdicts.join(bounded.finish(&mut run, |bytes| text.extend_from_slice(bytes)));
        report.failed.append(&mut own.failed);
        let names: Vec<&str> = own.filters.iter().map(String::as_str).collect();
        let after = Length::of(&text);
        let mut banner = if hides_nothing(&names) { String::new() } else { head(&names, after.units) };
        let mut length = Length::of(banner.as_bytes());
        length += after;
        if names.is_empty() || !length.is_below(raw.length) {
            banner.clear();
            return None;
        }
        report.cut_protected |= own.cut_protected;
        for id in own.filters {
            if !report.filters.contains(&id) {
                report.filters.push(id);
            }
        }
        Some(ShortenedText { banner, text, length })
    }

    fn caches(&self, tool_id: &str) -> impl Iterator<Item = &dyn Cache> {
        let caches = self.pipeline.registry.caches.iter().map(Arc::as_ref);
        caches.filter(move |cache| is_for(cache.tool_ids(), tool_id))
    }

    /// Lets every cache observe the invocation. Returns the time of the first record with the same text.
    fn ask_caches(&self, invocation: &Invocation<'_>, raw: &[u8], report: &mut Report) -> Option<u64> {
        for cache in self.caches(invocation.tool_id) {
            guarded(cache.id(), report, || cache.observe(invocation));
        }
        for cache in self.caches(invocation.tool_id) {
            let found = guarded(cache.id(), report, || cache.lookup(invocation)).flatten();
            if let Some(hit) = found.filter(|hit| hit.text == raw) {
                report.hit = Some(cache.id().to_owned());
                return Some(hit.timestamp);
            }
        }
        None
    }
}

/// The outcome of each part, and the report on all of them.
struct Shorter {
    outcomes: Vec<Outcome>,
    report: Report,
    verdicts: Verdicts,
}

/// Returns the text parts of a result as one text.
fn joined(parts: &[Part<'_>], outcomes: &[Outcome]) -> Vec<u8> {
    let text = |(part, outcome): (&Part<'_>, &Outcome)| match outcome {
        Outcome::Same => part.text().unwrap_or_default().to_vec(),
        Outcome::Text(text) => text.clone(),
        Outcome::Gone => Vec::new(),
    };
    parts.iter().zip(outcomes).flat_map(text).collect()
}

/// Returns each text's share of the budget.
fn shares(texts: &[Original], limit: Option<Limit>) -> Vec<Option<Limit>> {
    let Some(limit) = limit else { return vec![None; texts.len()] };
    let bytes = shares_of(texts, limit.bytes, MIN_BUDGET, |text| text.len());
    let tokens = limit.tokens.map(|tokens| shares_of(texts, tokens, MIN_BUDGET_TOKENS, estimated_tokens));
    let limit =
        |(at, bytes)| Some(Limit { tokens: tokens.as_ref().map(|tokens| tokens[at]), ..Limit::of_bytes(bytes) });
    bytes.into_iter().enumerate().map(limit).collect()
}

/// Divides a budget in some unit among the texts. Texts that are too short to be changed get their share first, and so do texts
/// that should stay whole, if both kinds together fit. The other texts share the rest by their lengths.
fn shares_of(texts: &[Original], budget: usize, least: usize, length: fn(&[u8]) -> usize) -> Vec<usize> {
    if let [_] = texts {
        return vec![budget];
    }
    let lengths: Vec<usize> = texts.iter().map(|text| length(text.bytes)).collect();
    let sum = |of: &dyn Fn(&Original) -> bool| -> usize {
        texts.iter().zip(&lengths).filter(|(text, _)| of(text)).map(|(_, length)| length).sum()
    };
    let keeps_sealed = sum(&|text| !text.is_long() || text.is_sealed()) <= budget;
    let stays = |text: &Original| !text.is_long() || keeps_sealed && text.is_sealed();
    let free = budget.saturating_sub(sum(&stays)) as u128;
    let all = sum(&|text| !stays(text)).max(1) as u128;
    let share = |(text, &length): (&Original, &usize)| {
        let share = ((free * length as u128 / all) as usize).max(least);
        if stays(text) { length.max(least) } else { share }
    };
    texts.iter().zip(&lengths).map(share).collect()
}

/// Runs code of the host. An error or a panic in the code is added to the report.
fn guarded<T>(id: &str, report: &mut Report, run: impl FnOnce() -> Result<T, String>) -> Option<T> {
    let failed = |reason| report.failed.push(Failed { filter: id.to_owned(), reason });
    caught(run).map_err(failed).ok()
}

/// Returns the line that replaces a result that equals the last result.
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
