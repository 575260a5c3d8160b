//! Filters for one tool, as data: `filters/*.toml`. What is in a file, read strictly; and its rules carried out.
//!
//! `docs/filters.md` has every key.

use std::{fmt, ops::Range, sync::OnceLock};

use serde::Deserialize;
use toml::Spanned;

use super::{
    built_in,
    compressor::{Call, Original},
    draft::Edit,
    failures::Class,
    filter::{Kind, Pass, Stage, is_for},
    input::Input,
    patterns::Patterns,
    protect::Format,
    registry::Entry,
    report::Report,
    run::Run as Way,
    text::Text,
};
use crate::{
    file_error::{self, FileError},
    tables_only::tables_only,
};

/// A filter file that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError(FileError);

impl FilterError {
    /// The line of the file, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.0.line
    }

    /// The key, with its table: `rule.drop`. Empty where the fault is in no key.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    fn at(text: &str, span: Option<Range<usize>>, message: impl Into<String>) -> FilterError {
        FilterError(FileError::at(text, span, message))
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for FilterError {}

tables_only!(Run, Rule, Test);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    id: Spanned<String>,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    accepts: Vec<Format>,
    #[serde(default)]
    budget: bool,
    #[serde(default)]
    run: Vec<Run>,
    #[serde(default)]
    rule: Vec<Spanned<Rule>>,
    #[serde(default)]
    test: Vec<Spanned<Test>>,
}

/// A program whose output the filter is for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct Run {
    command: Vec<String>,
    #[serde(default)]
    subcommand: Vec<String>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct Rule {
    drop: Option<Spanned<Vec<String>>>,
    keep: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    first: usize,
    #[serde(default)]
    last: usize,
    from: Option<Spanned<String>>,
    until: Option<Spanned<String>>,
    #[serde(default)]
    hunks: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct Test {
    name: String,
    kind: TestKind,
    command: String,
    exit_code: Option<i64>,
    input: String,
    output: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum TestKind {
    Pass,
    Fail,
    LookAlike,
}

fn read(text: &str) -> Result<File, FilterError> {
    let file: File = file_error::read(text).map_err(FilterError)?;
    let id = file.id.get_ref();
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
        return Err(FilterError::at(text, Some(file.id.span()), "an id is of small letters, digits and hyphens"));
    }
    if file.run.is_empty() && file.tools.is_empty() {
        return Err(FilterError::at(text, None, "neither `tools` nor a `[[run]]` says what the filter is for"));
    }
    if file.rule.is_empty() {
        return Err(FilterError::at(text, None, "there is no `[[rule]]`"));
    }
    for rule in &file.rule {
        let (span, rule) = (rule.span(), rule.get_ref());
        let wrong = match (&rule.drop, &rule.keep) {
            (Some(_), Some(_)) | (None, None) => Some("a rule has either `drop` or `keep`"),
            (None, Some(_)) if rule.first + rule.last > 0 => Some("`first` and `last` belong to `drop`"),
            _ if rule.until.is_some() && rule.from.is_none() => Some("`until` needs a `from`"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(FilterError::at(text, Some(span), wrong));
        }
    }
    Ok(file)
}

/// A filter made from a file.
pub struct ToolFilter {
    file: File,
    /// Of a built-in filter, compiled on first use: most never are.
    compiled: OnceLock<Compiled>,
}

/// Every pattern of a file in one set.
struct Compiled {
    patterns: Patterns,
    meanings: Vec<(usize, Meaning)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Line,
    From,
    Until,
}

impl ToolFilter {
    /// Reads a filter file and compiles its patterns.
    pub fn from_toml(text: &str) -> Result<ToolFilter, FilterError> {
        let file = read(text)?;
        let compiled = Compiled::new(&file.rule).map_err(|error| {
            let all = file.rule.iter().flat_map(|rule| patterns_of(rule.get_ref()));
            let mut wrong = all.filter_map(|(pattern, _, span)| Some((Patterns::new(&[pattern]).err()?, span)));
            match wrong.next() {
                Some((error, span)) => FilterError::at(text, Some(span), error),
                // Each is right by itself.
                None => FilterError::at(text, None, format!("the patterns together: {error}")),
            }
        })?;
        Ok(ToolFilter { file, compiled: compiled.into() })
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| Compiled::new(&self.file.rule).expect("built-in patterns are right"))
    }

    fn is_for(&self, input: &Input) -> bool {
        if self.file.run.is_empty() {
            return true;
        }
        let Some(run) = input.invocation() else { return false };
        self.file.run.iter().any(|wanted| {
            wanted.command.iter().any(|command| command == run.command())
                && (wanted.subcommand.is_empty()
                    || run.subcommand().is_some_and(|given| wanted.subcommand.iter().any(|name| is_named(given, name))))
                && wanted.flags.iter().all(|flag| run.has_flag(flag))
                && !wanted.without.iter().any(|flag| run.has_flag(flag))
        })
    }
}

impl Compiled {
    fn new(rules: &[Spanned<Rule>]) -> Result<Compiled, String> {
        let mut patterns = Vec::new();
        let mut meanings = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            for (pattern, meaning, _) in patterns_of(rule.get_ref()) {
                patterns.push(pattern);
                meanings.push((index, meaning));
            }
        }
        Ok(Compiled { patterns: Patterns::new(&patterns)?, meanings })
    }
}

/// `test:*` names all that begin with `test:`.
fn is_named(given: &str, name: &str) -> bool {
    name.strip_suffix('*').map_or(given == name, |start| given.starts_with(start))
}

impl Rule {
    /// The patterns for lines.
    fn lines(&self) -> &[String] {
        self.drop.as_ref().or(self.keep.as_ref()).map_or(&[], |patterns| patterns.get_ref())
    }

    /// Needs to see the lines around, so that it is wrong on a part of an output.
    fn needs_whole(&self) -> bool {
        self.from.is_some() || self.first + self.last > 0
    }
}

/// Every pattern of a rule, with its meaning and its place.
fn patterns_of(rule: &Rule) -> Vec<(&String, Meaning, Range<usize>)> {
    let lines = rule.drop.as_ref().or(rule.keep.as_ref()).map_or(0..0, Spanned::span);
    let mut all: Vec<_> = rule.lines().iter().map(|pattern| (pattern, Meaning::Line, lines.clone())).collect();
    for (pattern, meaning) in [(&rule.from, Meaning::From), (&rule.until, Meaning::Until)] {
        all.extend(pattern.iter().map(|pattern| (pattern.get_ref(), meaning, pattern.span())));
    }
    all
}

impl Pass for ToolFilter {
    fn id(&self) -> &str {
        self.file.id.get_ref()
    }

    fn kind(&self) -> Kind {
        Kind::Select
    }

    fn stage(&self) -> Stage {
        if self.file.budget { Stage::Budget } else { Stage::Tool }
    }

    fn matches(&self, tool_id: &str, input: &Input) -> bool {
        is_for(&self.file.tools, tool_id) && self.is_for(input)
    }

    fn accepts(&self, format: Format) -> bool {
        self.file.accepts.contains(&format)
    }

    /// The first rule that matches a line, where the rule holds, decides on it. Error regions stay whatever it says.
    fn edits(&self, text: Text<'_>, input: &Input, _: usize) -> Vec<Edit> {
        let piped = input.invocation().is_some_and(|run| run.is_piped());
        let rules: Vec<&Rule> = self.file.rule.iter().map(Spanned::get_ref).collect();
        let compiled = self.compiled();
        let mut open = vec![false; rules.len()];
        let mut hits = vec![false; rules.len()];
        let mut starts = vec![false; rules.len()];
        // Who drops a line; the number of rules where none does.
        let mut by = vec![rules.len(); text.len()];
        for (line, by) in by.iter_mut().enumerate() {
            hits.fill(false);
            starts.fill(false);
            for pattern in compiled.patterns.matches(text.line(line)) {
                match compiled.meanings[pattern] {
                    (rule, Meaning::Line) => hits[rule] = true,
                    (rule, Meaning::From) => starts[rule] = true,
                    (rule, Meaning::Until) => open[rule] = false,
                }
            }
            open.iter_mut().zip(&starts).for_each(|(open, start)| *open |= start);
            let class = text.class(line);
            let decides = |&index: &usize| {
                let rule = rules[index];
                hits[index]
                    && (rule.from.is_none() || open[index])
                    && (rule.hunks || !class.has(Class::HUNK))
                    && !(piped && rule.needs_whole())
            };
            if let Some(rule) = (0..rules.len()).find(decides)
                && rules[rule].drop.is_some()
                && !class.must_stay()
                && text.cut_before(line) + text.cut_behind(line) == 0
            {
                *by = rule;
            }
        }
        left_out(text, &rules, &mut by)
    }
}

/// Takes the first and last lines of each run out again, then makes one edit of what is left side by side.
fn left_out(text: Text<'_>, rules: &[&Rule], by: &mut [usize]) -> Vec<Edit> {
    let none = rules.len();
    let mut line = 0;
    while line < by.len() {
        let rule = by[line];
        let end = (line..by.len()).find(|&next| by[next] != rule).unwrap_or(by.len());
        if rule != none {
            let (first, last) = (rules[rule].first.min(end - line), rules[rule].last.min(end - line));
            by[line..line + first].fill(none);
            by[end - last..end].fill(none);
        }
        line = end;
    }
    let mut edits = Vec::new();
    let mut line = 0;
    while line < by.len() {
        let end = (line..by.len()).find(|&next| (by[next] == none) != (by[line] == none)).unwrap_or(by.len());
        if by[line] != none {
            edits.push(Edit::leave_out(text.spans(line..end)));
        }
        line = end;
    }
    edits
}

/// The filters of `filters/`, in the order of their files' names.
pub fn built_in() -> impl Iterator<Item = Box<dyn Pass>> {
    const FILES: &[&str] = include!(concat!(env!("OUT_DIR"), "/filters.rs"));
    FILES.iter().map(|text| {
        let file = read(text).unwrap_or_else(|error| panic!("a built-in filter: {error}\n{text}"));
        Box::new(ToolFilter { file, compiled: OnceLock::new() }) as Box<dyn Pass>
    })
}

/// Reads a filter file and runs its `[[test]]`s, of which there must be at least one of each kind.
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
pub fn check_filter(text: &str) -> Result<(), FilterError> {
    let mut filter = ToolFilter::from_toml(text)?;
    let tests = std::mem::take(&mut filter.file.test);
    for (kind, name) in [(TestKind::Pass, "pass"), (TestKind::Fail, "fail"), (TestKind::LookAlike, "look-alike")] {
        if !tests.iter().any(|test| test.get_ref().kind == kind) {
            return Err(FilterError::at(text, None, format!("there is no test of the kind `{name}`")));
        }
    }
    let tool = filter.file.tools.first().cloned().unwrap_or("terminal".to_owned());
    let terminal = built_in::passes().into_iter().filter(|pass| pass.stage() == Stage::Terminal);
    let entries: Vec<Entry> = terminal.chain([Box::new(filter) as Box<dyn Pass>]).map(Entry::Pass).collect();
    let Some(Entry::Pass(filter)) = entries.last() else { unreachable!("it was just put there") };
    for test in &tests {
        let (span, test) = (test.span(), test.get_ref());
        let wrong = |message: String| FilterError::at(text, Some(span.clone()), format!("{}: {message}", test.name));
        let mut call = serde_json::json!({ "command": test.command });
        if let Some(code) = test.exit_code {
            call["exit_code"] = code.into();
        }
        let input = Input::from_json(&call.to_string()).expect("it was just written");
        if !filter.matches(&tool, &input) {
            return Err(wrong(format!("`{}` does not select the filter", test.command)));
        }
        let raw = test.input.as_bytes();
        let expected = match (&test.output, test.kind) {
            (Some(output), TestKind::Pass | TestKind::Fail) => output,
            (None, TestKind::LookAlike) => &test.input,
            (None, _) => return Err(wrong("it has no `output`".to_owned())),
            (Some(_), TestKind::LookAlike) => {
                return Err(wrong("a look-alike stays as it is: it has no `output`".to_owned()));
            }
        };
        let (call, raw, mut report) = (Call::new(&tool, &input), Original::new(raw), Report::default());
        let mut way = Way::new(&call, &raw, &mut report);
        // Under a budget, so that a filter for one has its turn too.
        entries.iter().for_each(|entry| way.turn(entry, Some(0)));
        let result = way.end().0.bytes;
        if let Some(failed) = report.failed.pop() {
            return Err(wrong(failed.reason));
        }
        if result != expected.as_bytes() {
            return Err(wrong(format!("the output is\n{}", String::from_utf8_lossy(&result))));
        }
    }
    Ok(())
}
