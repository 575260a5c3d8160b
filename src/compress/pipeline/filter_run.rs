//! Runs the filters over one text, one after the other. A filter's result is checked before it is accepted; if it is not
//! accepted, the text stays unchanged.

use super::{
    host::Filter,
    parts::Original,
    promises::{caught, keeps_lines, no_false_green, normalises},
    registry::Entry,
    report::{Failed, Report},
    sections::Signatures,
};
use crate::compress::{
    invocation::{Invocation, files::may_have_sections},
    lines::{
        failures,
        layout::{Layout, Scope, Text},
        protect::Format,
    },
    passes::{
        built_in::minify_json,
        pass::{Pass, Promise, Stage, is_for},
    },
    records::json::{Document, keeps_elements},
    text::{banner::has_banner, bytes::is_blank, edit::difference, edited::EditedText, limit::Limit},
};

/// A text while filters run over it.
pub struct FilterRun<'a> {
    invocation: &'a Invocation<'a>,
    report: &'a mut Report,
    edited: EditedText,
    /// The lines of the text, which are found when a filter first needs them.
    layout: Option<Layout>,
    used: Vec<String>,
    format: Option<Format>,
    /// Whether the text was compressed before, so that only a budget changes it.
    has_banner: bool,
    goes_on: bool,
    /// The approximate number of bytes that the text may have at the end.
    target: usize,
    /// Whether the terminal stage is over, and the format of its result was determined.
    is_normalised: bool,
    /// The lines that the running filter applies to.
    scope: Scope,
    /// Whether some lines belong to tools that are known by their signatures.
    has_sections: bool,
}

impl<'a> FilterRun<'a> {
    pub fn new(
        invocation: &'a Invocation<'a>,
        raw: &Original<'_>,
        limit: Option<Limit>,
        is_numbered: bool,
        report: &'a mut Report,
    ) -> FilterRun<'a> {
        let mut edited = EditedText::new(raw.bytes, raw.length);
        if is_numbered {
            edited.number_lines();
        }
        FilterRun {
            invocation,
            report,
            edited,
            layout: None,
            used: Vec::new(),
            format: raw.format,
            has_banner: has_banner(raw.bytes),
            goes_on: raw.goes_on,
            target: limit.map_or(usize::MAX, |limit| limit.target(raw.bytes)),
            is_normalised: false,
            scope: Scope::All,
            has_sections: false,
        }
    }

    /// Returns the text, and the ids of the filters that changed it.
    pub fn end(self) -> (EditedText, Vec<String>) {
        (self.edited, self.used)
    }

    /// Returns the number of bytes of the text.
    pub fn len(&self) -> usize {
        self.edited.bytes.len()
    }

    /// Runs a filter, unless its stage does not concern this text. Under a budget, `free` is the limit for the text and the names
    /// in its banner together.
    pub fn turn(&mut self, entry: &Entry, free: Option<Limit>) {
        let stage = entry.stage();
        if stage > Stage::Terminal {
            self.end_terminal_stage();
        }
        let room = free.map(|free| {
            let names: Vec<&str> = self.used.iter().map(String::as_str).chain([entry.id()]).collect();
            free.without(names.join(", ").as_bytes())
        });
        let fits = || room.is_none_or(|room| room.fits(&self.edited.bytes));
        match (stage, room) {
            _ if self.has_banner && stage < Stage::Last => {}
            (Stage::Budget | Stage::Structure | Stage::Last, _) if fits() => {}
            (Stage::Structure, Some(room)) => _ = self.fit(entry, room),
            (Stage::Last, Some(room)) => {
                if !self.fit(entry, room) {
                    let reason = format!("the text does not fit into {room}");
                    self.report.failed.push(Failed { filter: entry.id().to_owned(), reason });
                }
            }
            (Stage::Fold, Some(room)) => _ = self.step(entry, Some(room), usize::MAX),
            _ => _ = self.step(entry, None, room.map_or(usize::MAX, |room| room.bytes.min(self.target))),
        }
    }

    fn end_terminal_stage(&mut self) {
        if !self.is_normalised && self.format.is_none() && !self.used.is_empty() {
            self.format = Format::of(&self.edited.bytes);
        }
        // Filters that leave out lines would make the JSON invalid.
        let is_json = || Document::find(&self.edited.bytes).is_some_and(|document| document.is_value());
        if !self.is_normalised && self.format.is_none() && self.target < usize::MAX && is_json() {
            self.format = Some(Format::Json);
        }
        if self.format == Some(Format::Ndjson) {
            self.edited.quote_markers();
        }
        self.is_normalised = true;
    }

    /// Looks for the sections of tools, unless the command is known to read files, or to search or list. The filters of those tools
    /// then run on these sections, except for filters that ran on the whole text.
    pub fn sections(&mut self, signatures: &Signatures, wanted: fn(&str) -> bool) {
        let Invocation { tool_id, input, .. } = *self.invocation;
        self.end_terminal_stage();
        let takes = |pass: &dyn Pass| self.format.is_none_or(|format| pass.accepts(format));
        let is_wanted = signatures.passes().iter().any(|pass| wanted(pass.id()) && takes(&**pass));
        if !is_wanted || self.has_banner || !may_have_sections(input) {
            return;
        }
        let failures = failures::built_in();
        let layout = self.layout.get_or_insert_with(|| Layout::new(&self.edited.bytes, failures));
        let tools = signatures.sections(Text::new(&self.edited.bytes, layout), tool_id, failures);
        layout.set_tools(&tools);
        self.has_sections = !tools.is_empty();
        for (at, pass) in signatures.passes().iter().enumerate() {
            let number = at as u16 + 1;
            if wanted(pass.id()) && tools.contains(&number) && !pass.matches(tool_id, input) {
                self.scope = Scope::Tool(number);
                _ = self.step(&Entry::Pass(pass.clone()), None, usize::MAX);
            }
        }
        self.scope = Scope::All;
    }

    /// Returns whether some lines belong to tools that are known by their signatures.
    pub fn has_sections(&self) -> bool {
        self.has_sections
    }

    /// Makes the text fit into a budget. If it is enough to remove the white space of JSON, only that is done. Otherwise a budget
    /// filter runs with less and less room until the result fits, because markers take bytes too. Returns whether the text fits.
    fn fit(&mut self, entry: &Entry, room: Limit) -> bool {
        if self.format == Some(Format::Json)
            && self.step(&Entry::Pass(minify_json().into()), Some(room), usize::MAX).is_ok()
        {
            return true;
        }
        let mut target = room.target(&self.edited.bytes);
        for round in 0..12 {
            match self.step(entry, Some(room), target) {
                Ok(()) => {
                    self.report.cut_protected |= self.format.is_some() || self.has_banner;
                    return true;
                }
                Err(None) if entry.stage() < Stage::Last => return false,
                Err(next) => {
                    let text = &next.as_ref().unwrap_or(&self.edited).bytes;
                    target = room.next_target(round, target, text);
                }
            }
        }
        false
    }

    /// Runs a filter. Accepts its result if it keeps the filter's promise, is shorter, and fits into the limit `must_fit`, if
    /// there is one. If the result does not fit, returns it as the error.
    fn step(&mut self, entry: &Entry, must_fit: Option<Limit>, target: usize) -> Result<(), Option<EditedText>> {
        if matches!(entry, Entry::Host(_)) && self.report.failed.iter().any(|failed| failed.filter == entry.id()) {
            return Err(None);
        }
        let next = match entry {
            Entry::Pass(pass) => self.pass(&**pass, target),
            Entry::Host(filter) => self.host(&**filter),
        };
        let next = match next {
            Ok(Some(next)) => next,
            Ok(None) => return Err(None),
            Err(reason) => {
                self.report.failed.push(Failed { filter: entry.id().to_owned(), reason });
                return Err(None);
            }
        };
        if must_fit.is_some_and(|room| !room.fits(&next.bytes)) {
            return Err(Some(next));
        }
        let is_decoded = matches!(entry, Entry::Pass(pass) if pass.promise() == Promise::Decode);
        if is_blank(&next.bytes) || !is_decoded && !next.length.is_below(self.edited.length) {
            return Err(None);
        }
        self.layout = self.layout.take().map(|layout| layout.next(&next, failures::built_in()));
        self.edited = next;
        if !self.used.iter().any(|id| id == entry.id()) {
            self.used.push(entry.id().to_owned());
        }
        if !self.report.filters.iter().any(|id| id == entry.id()) {
            self.report.filters.push(entry.id().to_owned());
        }
        Ok(())
    }

    /// Returns the number that this filter has, or will have, in the report.
    fn number(&self, id: &str) -> u32 {
        let known = self.report.filters.iter().position(|known| known == id);
        known.unwrap_or(self.report.filters.len()) as u32
    }

    fn pass(&mut self, pass: &dyn Pass, target: usize) -> Result<Option<EditedText>, String> {
        let (tool_id, input) = (self.invocation.tool_id, self.invocation.input);
        let accepts = |format| pass.stage() >= Stage::Structure || pass.accepts(format);
        if self.format.is_some_and(|format| !accepts(format)) {
            return Ok(None);
        }
        let scope = match self.scope {
            Scope::All if pass.matches(tool_id, input) => Scope::All,
            // For an unknown command, a fallback is applied to the output of all tools that were recognised.
            Scope::All if self.has_sections && pass.stage() == Stage::Fallback => Scope::AnyTool,
            Scope::All => return Ok(None),
            scope => scope,
        };
        let number = self.number(pass.id());
        let (edited, layout, goes_on) = (&self.edited, &mut self.layout, self.goes_on);
        let work = || {
            let bytes = &edited.bytes;
            if matches!(pass.promise(), Promise::Decode | Promise::Normalise) {
                let layout = Layout::default();
                let mut text = Text::new(bytes, &layout);
                text.goes_on = goes_on;
                let edits = pass.edits(text, input, target);
                if edits.is_empty() {
                    return Ok(None);
                }
                if pass.promise() == Promise::Normalise {
                    normalises(bytes, &edits)?;
                }
                return undone(pass, bytes, edited.with(edits, number)).map(Some);
            }
            let layout = layout.get_or_insert_with(|| Layout::new(bytes, failures::built_in()));
            let mut text = Text::new(bytes, layout);
            (text.scope, text.numbered) = (scope, edited.numbered());
            let (mut edits, taken) = pass.decisions(text, input, target);
            if edits.is_empty() {
                layout.take(&taken);
                return Ok(None);
            }
            if pass.promise() == Promise::Select {
                let under_budget = pass.stage() == Stage::Last;
                keeps_lines(text, &edits, under_budget)?;
                if under_budget {
                    edits = edited.fitting(edits);
                    no_false_green(text, &edits)?;
                }
            }
            if pass.promise() == Promise::Elements {
                keeps_elements(bytes, &edits)?;
            }
            let next = undone(pass, bytes, edited.with(edits, number))?;
            layout.take(&taken);
            Ok(Some(next))
        };
        caught(work)
    }

    fn host(&mut self, filter: &dyn Filter) -> Result<Option<EditedText>, String> {
        let invocation = self.invocation;
        if self.format.is_some() {
            return Ok(None);
        }
        let number = self.number(filter.id());
        let edited = &self.edited;
        let work = || {
            if !is_for(filter.tool_ids(), invocation.tool_id) || !filter.matches(invocation)? {
                return Ok(None);
            }
            let filtered = filter.apply(&edited.bytes, invocation)?;
            if !filtered.compressed {
                return Ok(None);
            }
            Ok(difference(&edited.bytes, &filtered.text).map(|edit| edited.with(vec![edit], number)))
        };
        caught(work)
    }
}

/// Returns the result of a filter. If the filter promises that undoing its result returns its input, this is checked.
fn undone(pass: &dyn Pass, old: &[u8], next: EditedText) -> Result<EditedText, String> {
    let promises = matches!(pass.promise(), Promise::Decode | Promise::Refold | Promise::Elements);
    if promises && !pass.is_undone(old, &next.bytes) {
        return Err("undoing it did not give its input".to_owned());
    }
    Ok(next)
}
