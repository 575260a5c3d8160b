//! One text's way through the filters: each has its turn, and what it did is checked before it counts.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{
    compressor::{Call, Original},
    controls::has_controls,
    draft::{Draft, Edit, How, difference, keeps_lines},
    failures::{self, Class},
    filter::{Filter, Kind, Pass, Stage, is_for},
    protect::{self, Format},
    registry::Entry,
    report::{Failed, Report},
    text::{Layout, Text, is_blank},
};

/// One text on its way through the filters.
pub struct Run<'a> {
    call: &'a Call<'a>,
    report: &'a mut Report,
    draft: Draft,
    /// The draft's lines, made when a filter first asks for them.
    layout: Option<Layout>,
    used: Vec<String>,
    format: Option<Format>,
    goes_on: bool,
    /// The terminal's stage is over, and protection decided once more.
    is_normalised: bool,
}

impl<'a> Run<'a> {
    pub fn new(call: &'a Call<'a>, raw: &Original<'_>, report: &'a mut Report) -> Run<'a> {
        Run {
            call,
            report,
            draft: Draft::new(raw.bytes, raw.length),
            layout: None,
            used: Vec::new(),
            format: raw.format,
            goes_on: raw.goes_on,
            is_normalised: false,
        }
    }

    /// The draft, and who changed it.
    pub fn end(self) -> (Draft, Vec<String>) {
        (self.draft, self.used)
    }

    /// A filter's turn. `free`: how many bytes there are for the text and the names in its banner, under a budget.
    pub fn turn(&mut self, entry: &Entry, free: Option<usize>) {
        let stage = entry.stage();
        if stage > Stage::Terminal && !self.is_normalised {
            self.is_normalised = true;
            if self.format.is_none() && !self.used.is_empty() {
                self.format = protect::format(&self.draft.bytes);
            }
        }
        let room = free.map(|free| {
            let names = self.used.iter().map(|id| id.len() + ", ".len()).sum::<usize>() + entry.id().len();
            free.saturating_sub(names)
        });
        let fits = room.is_none_or(|room| self.draft.bytes.len() <= room);
        match (stage, room) {
            (Stage::Budget | Stage::Last, _) if fits => {}
            (Stage::Last, Some(room)) => self.fit(entry, room),
            (Stage::Fold, Some(room)) => _ = self.step(entry, Some(room), usize::MAX),
            _ => _ = self.step(entry, None, room.unwrap_or(usize::MAX)),
        }
    }

    /// Budget filters: tried with less and less room until the result fits, since markers cost bytes too.
    fn fit(&mut self, entry: &Entry, room: usize) {
        let mut target = room;
        for _ in 0..12 {
            if self.step(entry, Some(room), target) {
                return;
            }
            target -= target / 16;
        }
        if self.format.is_none() {
            let reason = format!("the text does not fit into {room} bytes");
            self.report.failed.push(Failed { filter: entry.id().to_owned(), reason });
        }
    }

    /// Runs a filter. Its result counts if it keeps its promise, is shorter, and fits where it must.
    fn step(&mut self, entry: &Entry, must_fit: Option<usize>, target: usize) -> bool {
        if matches!(entry, Entry::Host(_)) && self.report.failed.iter().any(|failed| failed.filter == entry.id()) {
            return false;
        }
        let next = match entry {
            Entry::Pass(pass) => self.pass(&**pass, target),
            Entry::Host(filter) => self.host(&**filter),
        };
        let next = match next {
            Ok(Some(next)) => next,
            Ok(None) => return false,
            Err(reason) => {
                self.report.failed.push(Failed { filter: entry.id().to_owned(), reason });
                return false;
            }
        };
        let fits = must_fit.is_none_or(|room| next.bytes.len() <= room);
        if !fits || is_blank(&next.bytes) || !next.length.is_below(self.draft.length) {
            return false;
        }
        self.layout = self.layout.take().map(|layout| layout.next(&next, failures::built_in()));
        self.draft = next;
        if !self.used.iter().any(|id| id == entry.id()) {
            self.used.push(entry.id().to_owned());
        }
        if !self.report.filters.iter().any(|id| id == entry.id()) {
            self.report.filters.push(entry.id().to_owned());
        }
        true
    }

    /// The number that this filter has, or will have, in the report.
    fn number(&self, id: &str) -> u32 {
        let known = self.report.filters.iter().position(|known| known == id);
        known.unwrap_or(self.report.filters.len()) as u32
    }

    fn pass(&mut self, pass: &dyn Pass, target: usize) -> Result<Option<Draft>, String> {
        let (tool_id, input) = (self.call.tool_id, self.call.input);
        if self.format.is_some_and(|format| !pass.accepts(format)) || !pass.matches(tool_id, input) {
            return Ok(None);
        }
        let number = self.number(pass.id());
        let (draft, layout, goes_on) = (&self.draft, &mut self.layout, self.goes_on);
        let work = || {
            let bytes = &draft.bytes;
            if pass.kind() == Kind::Normalise {
                let layout = Layout::default();
                let mut text = Text::new(bytes, &layout);
                text.goes_on = goes_on;
                let edits = pass.edits(text, input, target);
                normalises(bytes, &edits)?;
                return Ok((!edits.is_empty()).then(|| draft.with(edits, number)));
            }
            let layout = layout.get_or_insert_with(|| Layout::new(bytes, failures::built_in()));
            let text = Text::new(bytes, layout);
            let mut edits = pass.edits(text, input, target);
            if edits.is_empty() {
                return Ok(None);
            }
            if pass.kind() == Kind::Select {
                let under_budget = pass.stage() == Stage::Last;
                keeps_lines(text, &edits, under_budget)?;
                if under_budget {
                    edits = draft.fitting(edits);
                    no_false_green(text, &edits)?;
                }
            }
            let next = draft.with(edits, number);
            if pass.kind() == Kind::Refold && !pass.is_undone(bytes, &next.bytes) {
                return Err("undoing it did not give its input".to_owned());
            }
            Ok(Some(next))
        };
        caught(work)
    }

    fn host(&mut self, filter: &dyn Filter) -> Result<Option<Draft>, String> {
        let (tool_id, input) = (self.call.tool_id, self.call.input);
        if self.format.is_some() {
            return Ok(None);
        }
        let number = self.number(filter.id());
        let draft = &self.draft;
        let work = || {
            if !is_for(filter.tool_ids(), tool_id) || !filter.matches(tool_id, input)? {
                return Ok(None);
            }
            let filtered = filter.apply(&draft.bytes, input)?;
            if !filtered.compressed {
                return Ok(None);
            }
            Ok(difference(&draft.bytes, &filtered.text).map(|edit| draft.with(vec![edit], number)))
        };
        caught(work)
    }
}

/// The promise of a normaliser: it touches only where there is a control, and leaves none there.
fn normalises(bytes: &[u8], edits: &[Edit]) -> Result<(), String> {
    for edit in edits {
        let How::Replace(text) = &edit.how else { return Err("a normaliser left something out".to_owned()) };
        if !has_controls(&bytes[edit.range.clone()]) {
            return Err(format!("text without a control was changed at byte {}", edit.range.start));
        }
        if has_controls(text) {
            return Err(format!("a control was left at byte {}", edit.range.start));
        }
    }
    Ok(())
}

/// No verdict of success is kept where one of failure goes.
fn no_false_green(text: Text<'_>, edits: &[Edit]) -> Result<(), String> {
    let mut gone = vec![false; text.len()];
    for edit in edits.iter().filter(|edit| !matches!(edit.how, How::Middle)) {
        gone[text.line_at(edit.range.start)..text.line_at(edit.range.end)].fill(true);
    }
    let has =
        |class: Class, is_gone: bool| (0..text.len()).any(|line| gone[line] == is_gone && text.class(line).has(class));
    if has(Class::FAILED_VERDICT, true) && has(Class::PASSED_VERDICT, false) {
        return Err("a verdict of failure went and one of success stayed".to_owned());
    }
    Ok(())
}

/// What a filter or cache gives; a panic in it is an error.
pub fn caught<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(format!("it panicked: {}", message(&*panic))))
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("?")
}
