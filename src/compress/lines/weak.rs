//! Lines that look like a diagnostic of some tool: they name a place in a file, or a level. The tool is not known, so these lines
//! never make an error region. If not all lines fit into a budget, they are only preferred to other lines.

use std::ops::Range;

use super::{class::Class, failures::Failures, headings, layout::Text};
use crate::compress::{
    invocation::{files::reads_or_searches, input::Input},
    text::bytes::is_blank,
};

/// The maximum number of indented lines after a diagnostic that belong to it.
const MOST_LINES: usize = 3;
/// The longest line that is examined.
const LONGEST: usize = 1000;

/// Returns whether an invocation's output may contain such lines. The output of a successful run or of a search does not.
pub fn may_have_weak(input: &Input) -> bool {
    input.exit_code() != Some(0) && !reads_or_searches(input)
}

/// Returns the lines that may be diagnostics, each with the indented lines after it.
pub fn weak(text: Text<'_>, failures: &Failures) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let is_free = |line: usize| !text.class(line).must_stay() && !text.class(line).has(Class::HUNK);
    let mut line = 0;
    while line < text.len() {
        let start = line;
        line += 1;
        if !is_free(start) || !is_weak(text.line(start), failures) {
            continue;
        }
        let indent = headings::indent(text.line(start));
        let goes_on = |&next: &usize| {
            let bytes = text.line(next);
            is_free(next) && !is_blank(bytes) && headings::indent(bytes) > indent && !is_weak(bytes, failures)
        };
        line += (line..text.len()).take(MOST_LINES).take_while(goes_on).count();
        found.push(start..line);
    }
    found
}

/// Returns whether the line may be a diagnostic.
pub fn is_weak(line: &[u8], failures: &Failures) -> bool {
    line.len() <= LONGEST && failures.is_weak(failures.without_prefix(line))
}
