//! Leaves out, under a budget, the records about tests that passed, because a test runner that writes for machines repeats each
//! test's output. Records of tests that failed, were skipped or have not ended stay. This filter runs before the filters for one
//! tool, which may leave out the record that says that a test passed.

use super::pass::{Pass, Promise, Stage};
use crate::compress::{
    invocation::{files::only_runs, input::Input},
    lines::{layout::Text, protect::Format},
    records::streams,
    text::edit::Edit,
};

/// A pass that leaves out records of things that passed.
pub struct PassedRecords;

impl Pass for PassedRecords {
    fn id(&self) -> &str {
        "passed-records"
    }

    fn promise(&self) -> Promise {
        Promise::Select
    }

    fn stage(&self) -> Stage {
        Stage::Tool
    }

    fn matches(&self, _: &str, input: &Input) -> bool {
        only_runs(input)
    }

    fn accepts(&self, format: Format) -> bool {
        format == Format::Ndjson
    }

    fn edits(&self, text: Text<'_>, _: &Input, limit: usize) -> Vec<Edit> {
        let has_budget = limit < usize::MAX;
        if !has_budget || !streams::has_records(text) {
            return Vec::new();
        }
        let passed = streams::passed(text);
        let goes = |line: usize| passed[line] && !text.class(line).must_stay();
        let mut edits = Vec::new();
        let mut line = 0;
        while line < text.len() {
            let end = (line..text.len()).find(|&next| goes(next) != goes(line)).unwrap_or(text.len());
            if goes(line) {
                edits.push(Edit::leave_out(text.spans(line..end)));
            }
            line = end;
        }
        edits
    }
}
