//! Determines which tool printed which lines. Many invocations do not show the tool (`make test`, `npm ci && …`, or no command
//! line at all), so a tool is recognised by its output: a line that matches its signature opens a section, and the tool's filter
//! runs on that section. The contents of a file may look the same, but the model asked for them, so the caller must make sure
//! that no program printed files.

use std::sync::Arc;

use crate::compress::{
    lines::{class::Class, failures::Failures, layout::Text, patterns::Starts},
    passes::pass::Pass,
};

/// The number of lines after the opening line of a section that must match rules of the tool, and the number of lines among which
/// they must be.
const LEAST: usize = 2;
const WITHIN: usize = 50;
/// The number of opening lines without matching lines after them, after which the tool is no longer looked for.
const MOST_TRIES: usize = 16;

/// The signatures of a registry's filters.
pub struct Signatures {
    passes: Vec<Arc<dyn Pass>>,
    /// For each pattern, the index of its filter.
    openers: Vec<usize>,
    opens: Starts,
    closers: Vec<usize>,
    closes: Starts,
}

impl Signatures {
    pub fn new<'a>(passes: impl Iterator<Item = &'a Arc<dyn Pass>>) -> Signatures {
        let passes: Vec<Arc<dyn Pass>> = passes.filter(|pass| !pass.opens().is_empty()).cloned().collect();
        let all = |patterns: fn(&dyn Pass) -> Vec<&str>| {
            let of_each = passes
                .iter()
                .enumerate()
                .flat_map(|(at, pass)| patterns(&**pass).into_iter().map(move |pattern| (at, pattern)));
            of_each.unzip::<usize, &str, Vec<_>, Vec<_>>()
        };
        let ((openers, opens), (closers, closes)) = (all(|pass| pass.opens()), all(|pass| pass.closes()));
        let (opens, closes) = (Starts::new(&opens), Starts::new(&closes));
        Signatures { passes, openers, opens, closers, closes }
    }

    /// Returns the filters with a signature. The number of a filter's sections is the filter's index plus one.
    pub fn passes(&self) -> &[Arc<dyn Pass>] {
        &self.passes
    }

    /// Returns, for each line, the number of the tool whose section it is in, or 0. The list is empty if there is no section.
    pub fn sections(&self, text: Text<'_>, tool_id: &str, failures: &Failures) -> Vec<u16> {
        let mut sections = Vec::new();
        // The tools whose sections are open. There may be several, because a tool may run another tool.
        let mut open: Vec<usize> = Vec::new();
        let mut tries = vec![0; self.passes.len()];
        let said = text.said(failures);
        for line in 0..text.len() {
            let views = said.views(line);
            let is_free = !text.class(line).has(Class::HUNK);
            if is_free && views.iter().any(|view| self.opens.is_match(view)) {
                let mut tools = views.iter().flat_map(|view| self.opens.matches(view)).map(|at| self.openers[at]);
                let mut opens = |&tool: &usize| {
                    if tries[tool] >= MOST_TRIES || !self.passes[tool].is_for_tool(tool_id) {
                        return false;
                    }
                    let after = (line + 1..text.len()).take(WITHIN).filter(|&line| !text.class(line).has(Class::HUNK));
                    let known = after.filter(|&line| self.passes[tool].knows_any(&said.views(line)));
                    let is_enough = known.take(LEAST).count() == LEAST;
                    tries[tool] += usize::from(!is_enough);
                    is_enough
                };
                // A line that looks like output of the last open tool does not open a section of another tool.
                let is_of_last = open.last().is_some_and(|&last| self.passes[last].knows_any(&views));
                if !is_of_last && let Some(tool) = tools.find(|tool| open.last() == Some(tool) || opens(tool)) {
                    sections.resize(text.len(), 0);
                    match open.iter().position(|&other| other == tool) {
                        Some(at) => open.truncate(at + 1),
                        None => open.push(tool),
                    }
                }
            }
            let Some(&tool) = open.last() else { continue };
            sections[line] = tool as u16 + 1;
            if is_free && views.iter().any(|view| self.closes.is_match(view)) {
                let closed = views.iter().flat_map(|view| self.closes.matches(view)).map(|at| self.closers[at]);
                let first = closed.filter_map(|tool| open.iter().position(|&other| other == tool)).min();
                open.truncate(first.unwrap_or(open.len()));
            }
        }
        sections
    }
}
