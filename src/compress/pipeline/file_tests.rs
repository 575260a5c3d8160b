//! Runs the tests in a filter file. If a test fails, the message must show the author of the file the difference and its reason,
//! so that the author need not read this library's code. Nothing here runs while a result is compressed.

use std::collections::HashMap;

use toml::Spanned;

use super::{filter_run::FilterRun, parts::Original, registry::Entry, report::Report, sections::Signatures};
use crate::compress::{
    invocation::{Invocation, input::Input},
    lines::{
        class::Class,
        failures,
        layout::{Layout, Scope, Text},
        protect::Format,
    },
    passes::{
        built_in,
        file_filter::{FileFilter, KeepReason, Test, TestKind},
        pass::Pass,
    },
    text::limit::Limit,
};
use crate::file_error::{FileError, with_lf};

/// The maximum number of lines of a text that a message shows, and the maximum number of characters of each.
const MOST_LINES: usize = 8;
const LONGEST_LINE: usize = 120;
/// The maximum number of failing tests that a message shows.
const MOST_TESTS: usize = 8;

/// Reads a filter file and runs its `[[test]]`s, of which there must be at least one of each kind. The error shows, for each test
/// that fails, the expected text, the actual text, the difference, and the reason why a line stayed or was left out.
///
/// ```
/// let error = aside::compress::check_filter(r#"
///     id = "mine"
///     [[run]]
///     command = ["mine"]
///     [[rule]]
///     drop = ['^ok ']
/// "#).unwrap_err();
/// assert!(error.message().contains("no test"));
/// ```
///
/// # Errors
///
/// [`FileError`] if the file cannot be used or if tests fail, with the place of the first fault.
pub fn check_filter(text: &str) -> Result<(), FileError> {
    let text = &*with_lf(text);
    let mut filter = FileFilter::from_toml(text)?;
    let tests = filter.take_tests();
    for (kind, name) in [(TestKind::Pass, "pass"), (TestKind::Fail, "fail"), (TestKind::LookAlike, "look-alike")] {
        if !tests.iter().any(|test| test.get_ref().kind == kind) {
            return Err(FileError::at(text, None, format!("there is no test of the kind `{name}`")));
        }
    }
    let tool = filter.file().tools.first().cloned().unwrap_or("terminal".to_owned());
    let entries: Vec<Entry> = built_in::before_tools()
        .chain([Box::new(filter) as Box<dyn Pass>])
        .map(|pass| Entry::Pass(pass.into()))
        .collect();
    let fault = |test: &Spanned<Test>, message: String| {
        FileError::at(text, Some(test.span()), format!("{}: {message}", test.get_ref().name))
    };
    let mut failed = tests.iter().filter_map(|test| Some((test, run(text, &tool, &entries, test.get_ref()).err()?)));
    let Some((first, mut message)) = failed.next() else { return Ok(()) };
    for (test, other) in failed.by_ref().take(MOST_TESTS - 1) {
        message = format!("{}\n\n{}", message.trim_end(), fault(test, other));
    }
    let more = failed.count();
    if more > 0 {
        message = format!("{}\n\nand {more} more tests fail", message.trim_end());
    }
    Err(fault(first, message))
}

/// Runs a test. `entries` are the filters that are applied to the text; the last of them is the filter of the file.
fn run(file: &str, tool: &str, entries: &[Entry], test: &Test) -> Result<(), String> {
    let Some(Entry::Pass(filter)) = entries.last() else { unreachable!("it was just put there") };
    let mut input = serde_json::json!({});
    if let Some(command) = &test.command {
        input["command"] = command.as_str().into();
    }
    if let Some(code) = test.exit_code {
        input["exit_code"] = code.into();
    }
    let input = Input::from_json(&input.to_string()).expect("it was just written");
    if let Some(command) = &test.command
        && !filter.matches(tool, &input)
    {
        return Err(format!("{} does not select the filter", crate::file_error::quoted(command)));
    }
    let expected = match (&test.output, test.kind) {
        (Some(output), TestKind::Pass | TestKind::Fail) => output,
        (None, TestKind::LookAlike) => &test.input,
        (None, _) => return Err("it has no `output`".to_owned()),
        (Some(_), TestKind::LookAlike) => {
            return Err("a look-alike stays as it is: it has no `output`".to_owned());
        }
    };
    let invocation = Invocation::new(tool, &input);
    let (result, has_sections) = through(entries, &invocation, test)?;
    if test.command.is_none() && test.kind != TestKind::LookAlike && !has_sections {
        return Err("there is no `command`, and no [[signature]] opens a section".to_owned());
    }
    if result == expected.as_bytes() {
        return Ok(());
    }
    let (seen, _) = through(&entries[..entries.len() - 1], &invocation, test)?;
    let result = String::from_utf8_lossy(&result);
    let reasons = reasons(file, entries, &invocation, &seen, expected, &result);
    Err(format!("the output is not what is expected\n{}{}", difference(expected, &result), reasons))
}

/// Applies these filters to a test's input. Returns the result, and whether a signature opened a section. There is a budget, so
/// that filters that run only under a budget run too.
fn through(entries: &[Entry], invocation: &Invocation<'_>, test: &Test) -> Result<(Vec<u8>, bool), String> {
    let (raw, mut report) = (Original::new(test.input.as_bytes()), Report::default());
    let limit = Some(Limit::of_bytes(0));
    let mut run = FilterRun::new(invocation, &raw, limit, false, &mut report);
    entries.iter().for_each(|entry| run.turn(entry, limit));
    run.sections(&Signatures::new(entries.iter().filter_map(Entry::pass)), |_| true);
    let has_sections = run.has_sections();
    let result = run.end().0.bytes;
    match report.failed.pop() {
        Some(failed) => Err(failed.reason),
        None => Ok((result, has_sections)),
    }
}

/// Shows both texts, and the lines between their common beginning and their common end.
fn difference(expected: &str, result: &str) -> String {
    let (wanted, got): (Vec<&str>, Vec<&str>) = (lines(expected), lines(result));
    let same = wanted.iter().zip(&got).take_while(|(wanted, got)| wanted == got).count();
    let most = wanted.len().min(got.len()) - same;
    let end = wanted.iter().rev().zip(got.iter().rev()).take(most).take_while(|(wanted, got)| wanted == got).count();
    let mut text = format!("expected:\n{}actual:\n{}", shown("    ", &wanted), shown("    ", &got));
    text += &format!("difference from line {} on (- expected, + actual):\n", same + 1);
    text += &shown("  - ", &wanted[same..wanted.len() - end]);
    text += &shown("  + ", &got[same..got.len() - end]);
    text
}

/// Returns the lines with their line ends, so that a missing line end is visible.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Shows the first lines, each with `before` before it.
fn shown(before: &str, lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines.iter().take(MOST_LINES) {
        let body = line.strip_suffix('\n');
        text +=
            &format!("{before}{}{}\n", cut(body.unwrap_or(line)), if body.is_none() { "  (no line end)" } else { "" });
    }
    if lines.len() > MOST_LINES {
        text += &format!("{before}… {} lines more\n", lines.len() - MOST_LINES);
    }
    text
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Explains why lines stayed that should have been left out, and names the rules that dropped lines that should have stayed.
/// `seen` is the text to which the filter was applied.
fn reasons(
    file: &str,
    entries: &[Entry],
    invocation: &Invocation<'_>,
    seen: &[u8],
    expected: &str,
    result: &str,
) -> String {
    let Ok(filter) = FileFilter::from_toml(file) else { return String::new() };
    let format = Format::of(seen);
    if let Some(format) = format.filter(|&format| !filter.accepts(format)) {
        return format!("the input is text of a machine format ({format:?}), which `accepts` does not name\n");
    }
    let mut layout = Layout::new(seen, failures::built_in());
    let by_signature = invocation.input.command().is_none();
    if by_signature {
        let signatures = Signatures::new(entries.iter().filter_map(Entry::pass));
        layout.set_tools(&signatures.sections(Text::new(seen, &layout), invocation.tool_id, failures::built_in()));
    }
    let mut view = Text::new(seen, &layout);
    view.scope = if by_signature { Scope::AnyTool } else { Scope::All };
    let judged = filter.judged(view, invocation.input);
    let (mut wanted, mut got) = (counted(expected), counted(result));
    let mut text = String::new();
    let mut told = 0;
    for (line, judged) in judged.into_iter().enumerate() {
        let bytes = String::from_utf8_lossy(view.line(line));
        let (is_wanted, is_there) = (take(&mut wanted, &bytes), take(&mut got, &bytes));
        let why = match (is_wanted, is_there, judged) {
            (false, true, judged) => {
                let why = judged.err().unwrap_or(KeepReason::Short);
                format!("stayed: {}", stayed(&filter, file, why, region_of(view, line)))
            }
            (true, false, Ok(rule)) => format!("went: {} drops it", rule_at(&filter, file, rule)),
            _ => continue,
        };
        told += 1;
        if told > MOST_LINES {
            return text + "and more lines\n";
        }
        text += &format!("line {} of the input, `{}`, {why}\n", line + 1, cut(&bytes));
    }
    text
}

/// Counts how often each line is in a text.
fn counted(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for line in text.lines() {
        *counts.entry(line).or_default() += 1;
    }
    counts
}

/// Removes a line from the counts once, and returns whether it was there.
fn take(counts: &mut HashMap<&str, usize>, line: &str) -> bool {
    match counts.get_mut(line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

fn rule_at(filter: &FileFilter, file: &str, rule: usize) -> String {
    format!("the rule on line {}", filter.line_of_rule(file, rule))
}

/// Returns the first line of the error region that contains this line, or `None` if there is no such region.
fn region_of(text: Text<'_>, line: usize) -> Option<usize> {
    let is = |line: usize, class: Class| text.class(line).has(class);
    is(line, Class::REGION).then(|| (0..=line).rev().find(|&line| is(line, Class::START)))?
}

/// Explains why a line stayed. `region` is the first line of the error region that it is in.
fn stayed(filter: &FileFilter, file: &str, why: KeepReason, region: Option<usize>) -> String {
    let rule = |number| rule_at(filter, file, number);
    match why {
        KeepReason::Unmatched => "no pattern of a rule matches it".to_owned(),
        KeepReason::OfAnother => "it is in no section that a [[signature]] opens".to_owned(),
        KeepReason::Taken => "another filter decided on it".to_owned(),
        KeepReason::Kept(number) => format!("{} keeps it", rule(number)),
        KeepReason::Closed(number) => format!("{} does not hold here: see its `from` and `until`", rule(number)),
        KeepReason::InHunk(number) => format!("it is in a diff's hunk, and {} has no `hunks = true`", rule(number)),
        KeepReason::Piped(number) => {
            format!(
                "the output comes from a pipe, where {} does not count: it has `from`, `first`, `last` or `least`",
                rule(number)
            )
        }
        KeepReason::InRegion(number) => {
            let what = match region {
                Some(first) => format!("is in the error region of line {}", first + 1),
                None => "is a verdict of failure".to_owned(),
            };
            format!("{} would drop it, but it {what}", rule(number))
        }
        KeepReason::Cut(number) => format!("{} would drop it, but its middle was left out", rule(number)),
        KeepReason::AtEnd(number) => format!("`first` or `last` of {} keeps it", rule(number)),
        KeepReason::Few(number) => format!("it is in a run of fewer lines than the `least` of {}", rule(number)),
        KeepReason::Short => "the marker in its place would not be shorter".to_owned(),
    }
}
