//! Filters for one tool, which are defined by data: `filters/*.toml`. A file is read strictly: a mistake in it is an error, and
//! does not silently disable a rule. The rules of the file then decide about each line.
//!
//! `docs/filters.md` describes every key.

use std::{ops::Range, sync::OnceLock};

use serde::Deserialize;
use toml::Spanned;

use super::pass::{Pass, Promise, Stage, is_for};
use crate::compress::{
    invocation::{
        files::{is_piped, only_runs},
        input::Input,
    },
    lines::{
        class::Class,
        failures,
        layout::{Scope, Text, Views},
        patterns::{PatternError, Patterns},
        protect::Format,
    },
    text::edit::Edit,
};
use crate::{
    file_error::{self, FileError},
    tables_only::tables_only,
};

tables_only!(Program, Rule, Signature, Test);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    id: Spanned<String>,
    #[serde(default)]
    pub tools: Vec<String>,
    #[serde(default)]
    accepts: Vec<Format>,
    #[serde(default)]
    budget: bool,
    #[serde(default)]
    fallback: bool,
    #[serde(default)]
    run: Vec<Program>,
    #[serde(default)]
    signature: Vec<Spanned<Signature>>,
    #[serde(default)]
    rule: Vec<Spanned<Rule>>,
    #[serde(default)]
    pub test: Vec<Spanned<Test>>,
}

/// A program whose output the filter is for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct Program {
    command: Vec<String>,
    #[serde(default)]
    subcommand: Vec<String>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
}

/// The lines by which a tool is recognised.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct Signature {
    opens: Spanned<Vec<String>>,
    closes: Option<Spanned<Vec<String>>>,
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
    #[serde(default)]
    least: usize,
    from: Option<Spanned<String>>,
    until: Option<Spanned<String>>,
    #[serde(default)]
    hunks: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Test {
    pub name: String,
    pub kind: TestKind,
    /// The command line. In a test without a command line, the tool is recognised by its signature.
    pub command: Option<String>,
    pub exit_code: Option<i64>,
    pub input: String,
    pub output: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum TestKind {
    Pass,
    Fail,
    LookAlike,
}

/// The maximum number of bytes of a compiled set of patterns.
const MOST_MEMORY: usize = 10 << 20;
/// The limit for each pattern of a signature, which is lower because the signatures of all files are searched for in one pass.
const MOST_MEMORY_OF_START: usize = 256 << 10;
/// The maximum number of rules and patterns. Each line of a text is compared with all of them.
const MOST_RULES: usize = 1024;
const MOST_PATTERNS: usize = 4096;
/// The maximum number of words of `tools` and of all `[[run]]`s. All of them are compared with the words of a command line.
const MOST_WORDS: usize = 4096;
/// The maximum number of bytes of a pattern. Parsing a pattern may take more than linear time.
const LONGEST_PATTERN: usize = 16 << 10;
/// The maximum number of bytes of a test's command line.
const LONGEST_COMMAND: usize = 16 << 10;

/// Refuses a file whose rules or tests could take much time.
fn check_cost(text: &str, file: &File) -> Result<(), FileError> {
    let fault = |span, message: String| Err(FileError::at(text, span, message));
    if let Some(rule) = file.rule.get(MOST_RULES) {
        return fault(Some(rule.span()), format!("more than {MOST_RULES} rules"));
    }
    let words = file.run.iter().flat_map(|run| [&run.command, &run.subcommand, &run.flags, &run.without]);
    if file.tools.len() + file.run.len() + words.map(Vec::len).sum::<usize>() > MOST_WORDS {
        return fault(None, format!("more than {MOST_WORDS} names in `tools` and the [[run]]s"));
    }
    let mut patterns = 0;
    let of_rules = file.rule.iter().flat_map(|rule| patterns_of(rule.get_ref()));
    let of_rules = of_rules.map(|(pattern, _, span)| (pattern, span));
    for (pattern, span) in of_rules.chain(file.signature.iter().flat_map(|signature| signature.get_ref().patterns())) {
        {
            patterns += 1;
            if patterns > MOST_PATTERNS {
                return fault(Some(span), format!("more than {MOST_PATTERNS} patterns in the file"));
            }
            if pattern.is_empty() {
                let message = "an empty pattern matches at every place of a line: write `'^'` for every line";
                return fault(Some(span), message.to_owned());
            }
            if pattern.len() > LONGEST_PATTERN {
                return fault(Some(span), format!("a pattern of more than {LONGEST_PATTERN} bytes"));
            }
        }
    }
    match file.test.iter().find(|test| test.get_ref().command.as_ref().is_some_and(|line| line.len() > LONGEST_COMMAND))
    {
        Some(test) => fault(Some(test.span()), format!("a command of more than {LONGEST_COMMAND} bytes")),
        None => Ok(()),
    }
}

fn read(text: &str) -> Result<File, FileError> {
    let file: File = file_error::read(text)?;
    let id = file.id.get_ref();
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
        return Err(FileError::at(text, Some(file.id.span()), "an id consists of small letters, digits and hyphens"));
    }
    if file.fallback && (file.budget || !file.run.is_empty()) {
        let message = "`fallback` is for commands that no [[run]] names, without a budget";
        return Err(FileError::at(text, None, message));
    }
    if let Some(signature) = file.signature.first().filter(|_| file.fallback || file.budget) {
        let message = "a [[signature]] is for a filter that always runs: take `fallback` or `budget` away";
        return Err(FileError::at(text, Some(signature.span()), message));
    }
    if file.run.is_empty() && file.tools.is_empty() && file.signature.is_empty() && !file.fallback {
        let message = "neither `tools`, a `[[run]]` nor a `[[signature]]` says what the filter is for";
        return Err(FileError::at(text, None, message));
    }
    if file.rule.is_empty() {
        return Err(FileError::at(text, None, "there is no `[[rule]]`"));
    }
    check_cost(text, &file)?;
    for (pattern, span) in file.signature.iter().flat_map(|signature| signature.get_ref().patterns()) {
        if !pattern.starts_with('^') {
            return Err(FileError::at(text, Some(span), "a pattern of a signature begins with `^`"));
        }
    }
    for rule in &file.rule {
        let (span, rule) = (rule.span(), rule.get_ref());
        let wrong = match (&rule.drop, &rule.keep) {
            (Some(_), Some(_)) | (None, None) => Some("a rule has either `drop` or `keep`"),
            (None, Some(_)) if rule.first + rule.last + rule.least > 0 => {
                Some("`first`, `last` and `least` belong to `drop`")
            }
            _ if rule.until.is_some() && rule.from.is_none() => Some("`until` needs a `from`"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(FileError::at(text, Some(span), wrong));
        }
    }
    Ok(file)
}

/// A filter that was read from a file.
pub struct FileFilter {
    /// A built-in filter, whose file is read on first use, because most are never used.
    built_in: Option<&'static BuiltIn>,
    file: OnceLock<File>,
    /// The patterns of a built-in filter, which are compiled on first use, because most are never used.
    compiled: OnceLock<Compiled>,
}

/// The file of a built-in filter, and copies of those keys that show whether the filter is needed.
struct BuiltIn {
    id: &'static str,
    budget: bool,
    fallback: bool,
    commands: &'static [&'static str],
    opens: &'static [&'static str],
    closes: &'static [&'static str],
    text: &'static str,
}

/// Every pattern of a file, in one set.
struct Compiled {
    patterns: Patterns,
    roles: Vec<(usize, PatternRole)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PatternRole {
    Line,
    From,
    Until,
}

impl FileFilter {
    /// Reads a filter file and compiles its patterns.
    pub fn from_toml(text: &str) -> Result<FileFilter, FileError> {
        let text = &*file_error::with_lf(text);
        let file = read(text)?;
        let compiled = Compiled::new(&file.rule).map_err(|error| wrong_pattern(text, &file.rule, error))?;
        for (pattern, span) in file.signature.iter().flat_map(|signature| signature.get_ref().patterns()) {
            let fault = |message: String| FileError::at(text, Some(span.clone()), message);
            let memory = Patterns::new(&[pattern]).map_err(|error| fault(error.message))?.memory();
            if memory > MOST_MEMORY_OF_START {
                return Err(fault(format!("more than {MOST_MEMORY_OF_START} bytes when compiled")));
            }
        }
        Ok(FileFilter { built_in: None, file: file.into(), compiled: compiled.into() })
    }

    pub fn file(&self) -> &File {
        self.file.get_or_init(|| {
            let BuiltIn { id, text, .. } = self.built_in.expect("other filters have their files");
            read(text).unwrap_or_else(|error| panic!("the built-in filter {id}: {error}"))
        })
    }

    /// Removes the tests of a file that was read, and returns them.
    pub fn take_tests(&mut self) -> Vec<Spanned<Test>> {
        self.file.get_mut().map(|file| std::mem::take(&mut file.test)).unwrap_or_default()
    }

    /// Returns whether the filter runs only under a budget, and whether it is a fallback.
    fn kind(&self) -> (bool, bool) {
        match self.built_in {
            Some(built_in) => (built_in.budget, built_in.fallback),
            None => (self.file().budget, self.file().fallback),
        }
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| Compiled::new(&self.file().rule).expect("built-in patterns are right"))
    }

    fn is_for(&self, input: &Input) -> bool {
        if self.kind().1 {
            return only_runs(input);
        }
        let run = input.printing_command();
        let named = self.built_in.filter(|built_in| !built_in.commands.is_empty());
        if named.is_some_and(|named| !run.is_some_and(|run| named.commands.contains(&run.name()))) {
            return false;
        }
        if self.file().run.is_empty() {
            return self.file().signature.is_empty();
        }
        let Some(run) = run else { return false };
        self.file().run.iter().any(|wanted| {
            wanted.command.iter().any(|command| command == run.name())
                && (wanted.subcommand.is_empty()
                    || run.subcommand().is_some_and(|given| wanted.subcommand.iter().any(|name| is_named(given, name))))
                && wanted.flags.iter().all(|flag| run.has_flag(flag))
                && !wanted.without.iter().any(|flag| run.has_flag(flag))
        })
    }
}

impl Compiled {
    fn new(rules: &[Spanned<Rule>]) -> Result<Compiled, PatternError> {
        let mut patterns = Vec::new();
        let mut roles = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            for (pattern, role, _) in patterns_of(rule.get_ref()) {
                patterns.push(pattern);
                roles.push((index, role));
            }
        }
        Ok(Compiled { patterns: Patterns::new(&patterns)?, roles })
    }
}

/// Returns the error of a file whose patterns cannot be compiled.
fn wrong_pattern(text: &str, rules: &[Spanned<Rule>], error: PatternError) -> FileError {
    let all: Vec<_> = rules.iter().flat_map(|rule| patterns_of(rule.get_ref())).collect();
    if let Some((_, _, span)) = error.pattern.and_then(|pattern| all.get(pattern)) {
        return FileError::at(text, Some(span.clone()), error.message);
    }
    // Either a single pattern or all patterns together are too large. To find out, the patterns are compiled one by one, until
    // their sum exceeds the limit.
    let mut memory = 0;
    for (pattern, _, span) in &all {
        match Patterns::new(&[pattern]) {
            Err(error) => return FileError::at(text, Some(span.clone()), error.message),
            Ok(alone) => memory += alone.memory(),
        }
        if memory > MOST_MEMORY {
            break;
        }
    }
    FileError::at(text, None, format!("the patterns together: {}", error.message))
}

/// Returns whether a pattern matches a subcommand. `test:*` matches all subcommands that begin with `test:`.
fn is_named(given: &str, name: &str) -> bool {
    name.strip_suffix('*').map_or(given == name, |start| given.starts_with(start))
}

impl Signature {
    /// Returns every pattern, with its place.
    fn patterns(&self) -> impl Iterator<Item = (&String, Range<usize>)> {
        let all = std::iter::once(&self.opens).chain(&self.closes);
        all.flat_map(|patterns| patterns.get_ref().iter().map(|pattern| (pattern, patterns.span())))
    }
}

impl Rule {
    /// Returns the patterns for lines.
    fn lines(&self) -> &[String] {
        self.drop.as_ref().or(self.keep.as_ref()).map_or(&[], |patterns| patterns.get_ref())
    }

    /// Returns whether the rule depends on the lines around a line, so that it would be wrong on a part of an output.
    fn needs_whole(&self) -> bool {
        self.from.is_some() || self.first + self.last + self.least > 0
    }
}

/// Returns every pattern of a rule, with its meaning and its place.
fn patterns_of(rule: &Rule) -> Vec<(&String, PatternRole, Range<usize>)> {
    let lines = rule.drop.as_ref().or(rule.keep.as_ref()).map_or(0..0, Spanned::span);
    let mut all: Vec<_> = rule.lines().iter().map(|pattern| (pattern, PatternRole::Line, lines.clone())).collect();
    for (pattern, role) in [(&rule.from, PatternRole::From), (&rule.until, PatternRole::Until)] {
        all.extend(pattern.iter().map(|pattern| (pattern.get_ref(), role, pattern.span())));
    }
    all
}

impl Pass for FileFilter {
    fn id(&self) -> &str {
        self.built_in.map_or_else(|| &self.file().id.get_ref()[..], |built_in| built_in.id)
    }

    fn promise(&self) -> Promise {
        Promise::Select
    }

    fn stage(&self) -> Stage {
        match self.kind() {
            (true, _) => Stage::Budget,
            (_, true) => Stage::Fallback,
            _ => Stage::Tool,
        }
    }

    fn matches(&self, tool_id: &str, input: &Input) -> bool {
        self.is_for(input) && self.is_for_tool(tool_id)
    }

    fn is_for_tool(&self, tool_id: &str) -> bool {
        // The built-in filters are for every tool.
        self.built_in.is_some() || is_for(&self.file().tools, tool_id)
    }

    fn opens(&self) -> Vec<&str> {
        if let Some(built_in) = self.built_in {
            return built_in.opens.to_vec();
        }
        let patterns = self.file().signature.iter().flat_map(|signature| signature.get_ref().opens.get_ref());
        patterns.map(String::as_str).collect()
    }

    fn closes(&self) -> Vec<&str> {
        if let Some(built_in) = self.built_in {
            return built_in.closes.to_vec();
        }
        let patterns = self.file().signature.iter().filter_map(|signature| signature.get_ref().closes.as_ref());
        patterns.flat_map(Spanned::get_ref).map(String::as_str).collect()
    }

    fn knows_any(&self, views: &Views<'_>) -> bool {
        let compiled = self.compiled();
        let drops = |pattern: usize| {
            let (rule, role) = compiled.roles[pattern];
            role == PatternRole::Line && self.file().rule[rule].get_ref().drop.is_some()
        };
        views.iter().any(|view| compiled.patterns.matches(view).into_iter().any(drops))
    }

    fn accepts(&self, format: Format) -> bool {
        self.file().accepts.contains(&format)
    }

    fn edits(&self, text: Text<'_>, input: &Input, limit: usize) -> Vec<Edit> {
        self.decisions(text, input, limit).0
    }

    fn decisions(&self, text: Text<'_>, input: &Input, _: usize) -> (Vec<Edit>, Vec<usize>) {
        let rules: Vec<&Rule> = self.file().rule.iter().map(Spanned::get_ref).collect();
        // For each line, the rule that drops it, or the number of rules if no rule drops it.
        let mut by: Vec<usize> = Vec::with_capacity(text.len());
        let mut taken = Vec::new();
        self.judge(text, input, |judged| {
            if let Err(KeepReason::Kept(_)) = judged {
                taken.push(by.len());
            }
            by.push(judged.unwrap_or(rules.len()));
        });
        keep_ends(&rules, &mut by, |lines| taken.extend(lines));
        (left_out(text, rules.len(), &by), taken)
    }
}

/// The reason why a line stays. The numbers are those of rules, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepReason {
    /// No pattern matches the line.
    Unmatched,
    /// An earlier filter has decided about the line.
    Taken,
    /// The line is not in a section of the filter's tool.
    OfAnother,
    /// The rule keeps the line.
    Kept(usize),
    /// The rule would drop the line, but applies only between certain lines, and this line is not between them.
    Closed(usize),
    /// The rule would drop the line, but the line is in a diff's hunk.
    InHunk(usize),
    /// The rule would drop the line, but depends on the lines around it, which a pipe may have removed.
    Piped(usize),
    /// The rule would drop the line, but the line is a verdict of failure or part of an error region.
    InRegion(usize),
    /// The rule would drop the line, but the line's middle was left out.
    Cut(usize),
    /// The rule drops the run of lines that contains the line, but keeps some lines at the ends of the run.
    AtEnd(usize),
    /// The rule would drop the line, but the run of lines that contains it is too short.
    Few(usize),
    /// The rules would drop the line, but the marker in its place would be longer.
    Short,
}

impl FileFilter {
    /// Reports for each line the rule that drops it, or the reason why it stays. The first rule that matches a line, and applies to
    /// that line, decides. Lines of error regions stay in any case.
    fn judge(&self, text: Text<'_>, input: &Input, mut tell: impl FnMut(Result<usize, KeepReason>)) {
        let piped = is_piped(input);
        let rules: Vec<&Rule> = self.file().rule.iter().map(Spanned::get_ref).collect();
        let compiled = self.compiled();
        let mut open = vec![false; rules.len()];
        let mut hits = vec![false; rules.len()];
        let mut starts = vec![false; rules.len()];
        let failures = failures::built_in();
        let said = text.said(failures);
        for line in 0..text.len() {
            hits.fill(false);
            starts.fill(false);
            let mut ends = Vec::new();
            let mut see = |seen: &[u8]| {
                ends.clear();
                for pattern in compiled.patterns.matches(seen) {
                    match compiled.roles[pattern] {
                        (rule, PatternRole::Line) => hits[rule] = true,
                        (rule, PatternRole::From) => starts[rule] = true,
                        (rule, PatternRole::Until) => ends.push(rule),
                    }
                }
            };
            let class = text.class(line);
            if !text.is_in_scope(line) {
                open.fill(false);
                tell(Err(KeepReason::OfAnother));
                continue;
            }
            if class.has(Class::TAKEN) && (self.kind().1 || text.scope != Scope::All) {
                tell(Err(KeepReason::Taken));
                continue;
            }
            // Rules are tried on the whole line too, because a rule may match the prefix of a machine or a program.
            said.views(line).iter().for_each(&mut see);
            // The last view of the line is the tool's own text, and only `until` patterns that match it end a rule's range.
            ends.iter().for_each(|&rule| open[rule] = false);
            open.iter_mut().zip(&starts).for_each(|(open, start)| *open |= start);
            let holds = |index: usize| match rules[index] {
                rule if rule.from.is_some() && !open[index] => Err(KeepReason::Closed(index)),
                rule if !rule.hunks && class.has(Class::HUNK) => Err(KeepReason::InHunk(index)),
                rule if piped && rule.needs_whole() => Err(KeepReason::Piped(index)),
                _ => Ok(index),
            };
            let mut matching = (0..rules.len()).filter(|&index| hits[index]);
            let mut first = None;
            let decides = matching.find(|&index| {
                let held = holds(index);
                first = first.or(held.err());
                held.is_ok()
            });
            tell(match decides {
                None => Err(first.unwrap_or(KeepReason::Unmatched)),
                Some(rule) if rules[rule].drop.is_none() => Err(KeepReason::Kept(rule)),
                Some(rule) if class.must_stay() => Err(KeepReason::InRegion(rule)),
                Some(rule) if text.cut_before(line) + text.cut_after(line) > 0 => Err(KeepReason::Cut(rule)),
                Some(rule) => Ok(rule),
            });
        }
    }

    /// Returns for each line the rule that drops it, or the reason why it stays. This does not say whether the edit was carried
    /// out.
    pub fn judged(&self, text: Text<'_>, input: &Input) -> Vec<Result<usize, KeepReason>> {
        let rules: Vec<&Rule> = self.file().rule.iter().map(Spanned::get_ref).collect();
        let mut judged = Vec::with_capacity(text.len());
        self.judge(text, input, |line| judged.push(line));
        let mut by: Vec<usize> = judged.iter().map(|line| line.unwrap_or(rules.len())).collect();
        keep_ends(&rules, &mut by, |_| {});
        let mut start = 0;
        for run in judged.chunk_by_mut(|line, next| line == next) {
            let by = &by[start..start + run.len()];
            start += run.len();
            let (Some(&Ok(rule)), length) = (run.first(), run.len()) else { continue };
            let why = if length < rules[rule].least { KeepReason::Few(rule) } else { KeepReason::AtEnd(rule) };
            let stay = run.iter_mut().zip(by).filter(|&(_, &by)| by == rules.len());
            stay.for_each(|(line, _)| *line = Err(why));
        }
        judged
    }

    /// Returns the line of the file on which a rule begins, counted from 1.
    pub fn line_of_rule(&self, text: &str, rule: usize) -> usize {
        let start = self.file().rule[rule].span().start;
        1 + text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count()
    }
}

/// Lets the first and last lines of each run stay, and all lines of a run that is too short. Calls `stay` with these lines.
fn keep_ends(rules: &[&Rule], by: &mut [usize], mut stay: impl FnMut(Range<usize>)) {
    let none = rules.len();
    let mut line = 0;
    while line < by.len() {
        let rule = by[line];
        let end = (line..by.len()).find(|&next| by[next] != rule).unwrap_or(by.len());
        if rule != none {
            let length = end - line;
            let few = length < rules[rule].least;
            let first = if few { length } else { rules[rule].first.min(length) };
            let last = rules[rule].last.min(length);
            for kept in [line..line + first, end - last..end] {
                by[kept.clone()].fill(none);
                stay(kept);
            }
        }
        line = end;
    }
}

/// Returns one edit for each stretch of lines to leave out. `none` means a line that stays.
fn left_out(text: Text<'_>, none: usize, by: &[usize]) -> Vec<Edit> {
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

/// Returns the filters of `filters/`, in the order of their files' names.
pub fn built_in() -> impl Iterator<Item = Box<dyn Pass>> {
    const FILES: &[BuiltIn] = include!(concat!(env!("OUT_DIR"), "/filters.rs"));
    FILES.iter().map(|built_in| {
        let filter = FileFilter { built_in: Some(built_in), file: OnceLock::new(), compiled: OnceLock::new() };
        Box::new(filter) as Box<dyn Pass>
    })
}
