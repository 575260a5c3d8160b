//! The patterns of failures, from `filters/_failures.toml`. Only that file contains the words that tools use for failure. This code
//! must be fast for the many lines that contain none of them.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        LazyLock, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind, StartKind};
use rustc_hash::FxHashSet;
use serde::Deserialize;

use super::{
    class::Class,
    patterns::{Patterns, Prefixes, needed_texts, set},
};

/// The compiled definitions. Each rule has its own sets of patterns, which are tried only on lines that contain one of their
/// literals.
pub struct Failures {
    /// Searchers that quickly determine whether a text contains any literal.
    any: Vec<AhoCorasick>,
    literals: Literals,
    /// For each literal, its owners: the sets in `lines` and the sections whose patterns need the literal.
    owners: Vec<OwnerSet>,
    lines: Vec<LineRule>,
    /// The `begin`, `end` and `block` of each section.
    sections: Vec<Patterns>,
    /// The exceptions: patterns of lines that report no failure, each with patterns of lines for which the exception is not
    /// valid.
    except: Vec<(Patterns, Patterns)>,
    /// Matches a line that says that a single test or step passed.
    passed: Patterns,
    prefix: Prefixes,
    label: Prefixes,
    continues: Patterns,
    leads: Patterns,
    help: Patterns,
    record: Patterns,
    message: Patterns,
    frame: Patterns,
    library: Patterns,
    notes: Patterns,
    progress: Patterns,
    ends_message: Patterns,
    /// Match lines that look like a diagnostic, and lines that say that there was no diagnostic.
    weak: Patterns,
    nothing: Patterns,
    /// Match text in a long line that reports a failure, and text that denies a failure if it follows.
    inside: Patterns,
    unless: Prefixes,
}

/// The literals of all rules and sections. The fast automaton takes long to build, so a process uses the small automaton until it
/// has seen many lines with a literal.
struct Literals {
    all: Vec<String>,
    small: AhoCorasick,
    fast: OnceLock<AhoCorasick>,
    lines: AtomicUsize,
}

/// The number of lines after which the fast automaton is built.
const MANY_LINES: usize = 4096;

impl Literals {
    fn new<'a>(all: impl Iterator<Item = &'a str>) -> Literals {
        let all: Vec<String> = all.map(str::to_owned).collect();
        let small = automaton(&all, AhoCorasickKind::ContiguousNFA);
        Literals { all, small, fast: OnceLock::new(), lines: AtomicUsize::new(0) }
    }

    fn automaton(&self) -> &AhoCorasick {
        if self.fast.get().is_none() && self.lines.fetch_add(1, Ordering::Relaxed) < MANY_LINES {
            return &self.small;
        }
        self.fast.get_or_init(|| automaton(&self.all, AhoCorasickKind::DFA))
    }
}

fn automaton(literals: &[String], kind: AhoCorasickKind) -> AhoCorasick {
    let mut builder = AhoCorasick::builder();
    builder.kind(Some(kind)).start_kind(StartKind::Unanchored);
    builder.build(literals).expect("the literals are few")
}

/// The owners of a literal, with a bit for each set of patterns and for each section.
#[derive(Clone, Copy, Default)]
struct OwnerSet([u64; 4]);

impl OwnerSet {
    fn add(&mut self, owner: usize) {
        self.0[owner / 64] |= 1 << (owner % 64);
    }

    fn add_all(&mut self, others: OwnerSet) {
        self.0.iter_mut().zip(others.0).for_each(|(bits, others)| *bits |= others);
    }

    fn has(&self, owner: usize) -> bool {
        self.0[owner / 64] & 1 << (owner % 64) != 0
    }
}

/// Patterns of a rule: those that need one particular literal, or those that share no literal.
struct LineRule {
    patterns: Patterns,
    class: Class,
    block: bool,
    message: bool,
}

/// The indices of a section's patterns in its set.
const BEGIN: usize = 0;
const END: usize = 1;
const BLOCK: usize = 2;

/// The result of the patterns for a single line, whatever lines are around it.
#[derive(Clone, Copy, Default)]
pub struct LineMatch {
    /// The line has a literal of some pattern, and no pattern has been tried on it yet.
    pub is_candidate: bool,
    pub class: Class,
    pub block: bool,
    /// The next line that is not indented is the message of the failure.
    pub message: bool,
    /// The section that begins with the line.
    pub begin: Option<u8>,
    /// The number of the tool that printed the line; 0 if none is known.
    pub tool: u16,
}

/// Returns the definitions that are part of the library.
pub fn built_in() -> &'static Failures {
    static FAILURES: LazyLock<Failures> = LazyLock::new(|| {
        let file: File = serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/failures.json")))
            .expect("_failures.toml is right");
        Failures::new(&file)
    });
    &FAILURES
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    line: Vec<Line>,
    except: Vec<Exception>,
    section: Vec<Section>,
    prefix: Extent,
    label: Extent,
    continues: Extent,
    leads: Extent,
    help: Extent,
    record: Extent,
    message: Extent,
    frame: Extent,
    library: Extent,
    notes: Extent,
    progress: Extent,
    ends_message: Extent,
    weak: Vec<Extent>,
    nothing: Extent,
    inside: Inside,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), allow(dead_code))] // Only the tests read names and examples.
struct Line {
    name: String,
    is: Vec<ClassName>,
    #[serde(default)]
    block: bool,
    #[serde(default)]
    message: bool,
    with: Vec<String>,
    patterns: Vec<String>,
    #[serde(default)]
    yes: Vec<String>,
    #[serde(default)]
    no: Vec<String>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum ClassName {
    Failure,
    #[serde(rename = "failed verdict")]
    Failed,
    #[serde(rename = "passed verdict")]
    Passed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), allow(dead_code))]
struct Exception {
    name: String,
    #[serde(default)]
    ends_region: bool,
    patterns: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    yes: Vec<String>,
    #[serde(default)]
    no: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), allow(dead_code))]
struct Section {
    name: String,
    with: Vec<String>,
    begin: String,
    end: String,
    block: String,
    #[serde(default)]
    yes: Vec<String>,
    #[serde(default)]
    no: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), allow(dead_code))]
struct Extent {
    #[serde(default)]
    name: String,
    patterns: Vec<String>,
    #[serde(default)]
    yes: Vec<String>,
    #[serde(default)]
    no: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), allow(dead_code))]
struct Inside {
    patterns: Vec<String>,
    unless: Vec<String>,
    #[serde(default)]
    yes: Vec<String>,
    #[serde(default)]
    no: Vec<String>,
}

/// Returns searchers for any of these literals, such that wide instructions look for all literals of a searcher at once.
/// Therefore literals that contain another literal are left out, each searcher has at most 44 literals (with more, it compares
/// too many bytes), and literals of two bytes, which are often found by chance, have a separate searcher.
fn any_of<'a>(literals: impl Iterator<Item = &'a str> + Clone) -> Vec<AhoCorasick> {
    let all: FxHashSet<&str> = literals.clone().collect();
    let mut needed: Vec<&str> = literals.filter(|literal| !contains_another(literal, &all)).collect();
    needed.sort_by_key(|literal| std::cmp::Reverse(literal.len()));
    let (long, short) = needed.split_at(needed.partition_point(|literal| literal.len() > 2));
    let searcher = |few: &[&str]| {
        // A DFA is not needed: with few literals, wide instructions find the matches without the automaton.
        let kind = Some(AhoCorasickKind::ContiguousNFA);
        AhoCorasick::builder().kind(kind).match_kind(MatchKind::LeftmostFirst).build(few)
    };
    long.chunks(44).chain([short]).map(|few| searcher(few).expect("the literals are few")).collect()
}

fn contains_another(literal: &str, all: &FxHashSet<&str>) -> bool {
    let starts = || (0..literal.len()).filter(|&at| literal.is_char_boundary(at));
    let ends = |start| (start + 1..=literal.len()).filter(|&at| literal.is_char_boundary(at));
    let mut parts = starts().flat_map(|start| ends(start).map(move |end| &literal[start..end]));
    parts.any(|part| part.len() < literal.len() && all.contains(part))
}

/// Some patterns of a rule, and their literals: a line that matches any of the patterns contains at least one of these.
struct PatternsOfLine<'a> {
    line: &'a Line,
    with: &'a [String],
    patterns: Vec<&'a str>,
}

/// Returns the rule's patterns in sets, so that a line is compared with few of them, and few are compiled. There is one set for
/// each literal that some patterns always need, and one set for the other patterns.
fn sets_of(line: &Line) -> Vec<PatternsOfLine<'_>> {
    let mut sets: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for pattern in &line.patterns {
        let needed = needed_texts(pattern);
        let is_needed = |index: &usize| needed.iter().any(|text| text.contains(&line.with[*index]));
        let longest = (0..line.with.len()).filter(is_needed).max_by_key(|&index| line.with[index].len());
        sets.entry(longest.unwrap_or(line.with.len())).or_default().push(pattern);
    }
    let with = |index| line.with.get(index).map_or(&line.with[..], std::slice::from_ref);
    sets.into_iter().map(|(index, patterns)| PatternsOfLine { line, with: with(index), patterns }).collect()
}

impl Failures {
    fn new(file: &File) -> Failures {
        let sets: Vec<PatternsOfLine<'_>> = file.line.iter().flat_map(sets_of).collect();
        let mut owners: BTreeMap<&str, OwnerSet> = BTreeMap::new();
        let of_sections = file.section.iter().map(|section| &section.with[..]);
        let all = sets.iter().map(|set| set.with).chain(of_sections);
        for (index, with) in all.enumerate() {
            for literal in with {
                owners.entry(literal).or_default().add(index);
            }
        }
        let lines = sets.iter().map(|PatternsOfLine { line, patterns, .. }| {
            let mut class = Class::default();
            for is in &line.is {
                class.add(match is {
                    ClassName::Failure => Class::FAILURE,
                    ClassName::Failed => Class::FAILED_VERDICT,
                    ClassName::Passed => Class::PASSED_VERDICT,
                });
            }
            LineRule { patterns: set(patterns), class, block: line.block, message: line.message }
        });
        let weak: Vec<&String> = file.weak.iter().flat_map(|weak| &weak.patterns).collect();
        let passed: Vec<&String> =
            file.except.iter().filter(|except| except.ends_region).flat_map(|except| &except.patterns).collect();
        Failures {
            any: any_of(owners.keys().copied()),
            literals: Literals::new(owners.keys().copied()),
            owners: owners.into_values().collect(),
            lines: lines.collect(),
            sections: file.section.iter().map(|section| set(&[&section.begin, &section.end, &section.block])).collect(),
            except: file.except.iter().map(|except| (set(&except.patterns), set(&except.unless))).collect(),
            passed: set(&passed),
            prefix: Prefixes::new(&file.prefix.patterns),
            label: Prefixes::new(&file.label.patterns),
            continues: set(&file.continues.patterns),
            leads: set(&file.leads.patterns),
            help: set(&file.help.patterns),
            record: set(&file.record.patterns),
            message: set(&file.message.patterns),
            frame: set(&file.frame.patterns),
            library: set(&file.library.patterns),
            notes: set(&file.notes.patterns),
            progress: set(&file.progress.patterns),
            ends_message: set(&file.ends_message.patterns),
            weak: set(&weak),
            nothing: set(&file.nothing.patterns),
            inside: set(&file.inside.patterns),
            unless: Prefixes::new(&file.inside.unless),
        }
    }

    /// Marks the lines on which the patterns must be tried. `ends` are the ends of the lines in `part`.
    pub fn mark_candidates(&self, bytes: &[u8], part: Range<usize>, ends: &[usize], found: &mut [LineMatch]) {
        for any in &self.any {
            let mut at = part.start;
            let mut line = 0;
            while let Some(literal) = any.find(Input::new(bytes).range(at..part.end)) {
                while ends[line] <= literal.start() {
                    line += 1;
                }
                found[line].is_candidate = true;
                at = ends[line];
            }
        }
    }

    /// Returns whether any line of these bytes may say that something failed. For most texts this is fast.
    pub fn may_say_failure(&self, bytes: &[u8]) -> bool {
        self.any.iter().any(|any| any.find(bytes).is_some())
    }

    /// Returns whether this line, which has no prefix, leads to a failure line after it, so that both belong to the same error
    /// region.
    pub fn leads(&self, line: &[u8]) -> bool {
        self.leads.is_match(line)
    }

    /// Returns whether an error region continues over this line, which has no prefix.
    pub fn continues(&self, line: &[u8]) -> bool {
        self.continues.is_match(line)
    }

    /// Returns whether this line, which has no prefix, says that a single test or step passed.
    pub fn is_passed(&self, line: &[u8]) -> bool {
        self.passed.is_match(line)
    }

    /// Returns whether this line, which has no prefix, begins help text about the usage of a program.
    pub fn begins_help(&self, line: &[u8]) -> bool {
        self.help.is_match(line)
    }

    /// Returns whether this line, which has no prefix, shows the progress of tests.
    pub fn is_progress(&self, line: &[u8]) -> bool {
        self.progress.is_match(line)
    }

    /// Returns the rank of this line, which has no prefix, in its region: a message has rank 0, a place in the code 1, any other
    /// line 2, a frame in a library's code 3, and a note 4.
    pub fn rank(&self, line: &[u8]) -> u8 {
        match () {
            _ if self.notes.is_match(line) => 4,
            _ if self.library.is_match(line) => 3,
            _ if self.message.is_match(line) => 0,
            _ if self.frame.is_match(line) => 1,
            _ => 2,
        }
    }

    /// Returns whether this line is the heading of a record.
    pub fn is_record(&self, line: &[u8]) -> bool {
        self.record.is_match(line)
    }

    /// Returns whether this line, which has no prefix, shows that the message of a failure has ended.
    pub fn ends_message(&self, line: &[u8]) -> bool {
        self.ends_message.is_match(line)
    }

    /// Returns whether this line, which has no prefix, looks like a diagnostic of some tool.
    pub fn is_weak(&self, line: &[u8]) -> bool {
        self.weak.is_match(line)
            && !self.nothing.is_match(line)
            && !self.except.iter().any(|(these, unless)| these.is_match(line) && !unless.is_match(line))
    }

    /// Returns the end of each word in a range of a long line that says that something failed.
    pub fn failing_words<'a>(&'a self, line: &'a [u8], range: Range<usize>) -> impl Iterator<Item = usize> + 'a {
        let mut at = range.start;
        std::iter::from_fn(move || {
            at = self.inside.end(line, at..range.end)?;
            Some(at)
        })
        .filter(|&end| self.unless.end(&line[end..]) == 0)
    }

    /// Returns the prefix that a program puts before each line of an error message, such as `npm error`. It may be empty.
    pub fn label<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        &line[..self.label.end(line)]
    }

    /// Returns whether this line, which has no prefix, begins a block of the section, and whether it ends the section.
    pub fn block_and_end(&self, section: u8, line: &[u8]) -> (bool, bool) {
        let matches = self.sections[usize::from(section)].matches(line);
        (matches.contains(&BLOCK), matches.contains(&END))
    }

    /// Returns the line without a machine's prefix, such as a time.
    pub fn without_prefix<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        if !line.first().is_some_and(|&first| first.is_ascii_alphanumeric() || matches!(first, b'[' | b'#')) {
            return line;
        }
        &line[self.prefix.end(line)..]
    }

    /// Returns the class of a line by itself. This function is not inlined, so that the code for lines without a literal stays
    /// fast.
    #[inline(never)]
    pub fn match_line(&self, line: &[u8]) -> LineMatch {
        let mut found = LineMatch::default();
        let mut owners = OwnerSet::default();
        for literal in self.literals.automaton().find_overlapping_iter(line) {
            owners.add_all(self.owners[literal.pattern().as_usize()]);
        }
        for (index, rule) in self.lines.iter().enumerate() {
            // Patterns that could only add known flags are not tried.
            let (block, message) = (rule.block && !found.block, rule.message && !found.message);
            let is_new = block || message || !found.class.has_all(rule.class);
            if is_new && owners.has(index) && rule.patterns.is_match(line) {
                found.class.add(rule.class);
                found.block |= rule.block;
                found.message |= rule.message;
            }
        }
        for (index, section) in self.sections.iter().enumerate() {
            if owners.has(self.lines.len() + index) && section.matches(line).contains(&BEGIN) {
                found.begin = Some(index as u8);
            }
        }
        let is_except = |(these, unless): &(Patterns, Patterns)| these.is_match(line) && !unless.is_match(line);
        if found.class != Class::default() && self.except.iter().any(is_except) {
            (found.block, found.message) = (false, false);
            let passed = found.class.has(Class::PASSED_VERDICT);
            found.class = if passed { Class::PASSED_VERDICT } else { Class::default() };
        }
        // A verdict of failure is not a verdict of success, even if the line also counts tests that passed.
        if found.class.has(Class::FAILED_VERDICT) {
            found.class.remove(Class::PASSED_VERDICT);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> File {
        toml::from_str(include_str!("../../../filters/_failures.toml")).unwrap()
    }

    #[test]
    fn both_automatons_find_the_same_literals() {
        let literals = &built_in().literals;
        let fast = automaton(&literals.all, AhoCorasickKind::DFA);
        for line in file().line.iter().flat_map(|line| line.yes.iter().chain(&line.no)) {
            let found = |automaton: &AhoCorasick| -> Vec<(usize, usize)> {
                let all = automaton.find_overlapping_iter(line);
                all.map(|literal| (literal.pattern().as_usize(), literal.start())).collect()
            };
            assert_eq!(found(&literals.small), found(&fast), "{line}");
        }
    }

    /// Returns the class of a line, found as for a text that has only this line.
    fn class(line: &str) -> Class {
        let (line, mut found) = (line.as_bytes(), [LineMatch::default()]);
        built_in().mark_candidates(line, 0..line.len(), &[line.len()], &mut found);
        let [LineMatch { is_candidate, class, .. }] = found;
        if is_candidate { built_in().match_line(built_in().without_prefix(line)).class } else { class }
    }

    #[test]
    fn every_line_rule_has_its_examples() {
        let mut wrong = Vec::new();
        for rule in file().line {
            assert!(!rule.yes.is_empty() && !rule.no.is_empty(), "{} lacks examples", rule.name);
            let expected = |line: &str| {
                let class = class(line);
                rule.is.iter().all(|is| {
                    class.has(match is {
                        ClassName::Failure => Class::FAILURE,
                        ClassName::Failed => Class::FAILED_VERDICT,
                        ClassName::Passed => Class::PASSED_VERDICT,
                    })
                })
            };
            let own = set(&rule.patterns);
            for line in &rule.yes {
                if !expected(line) || !own.is_match(line.as_bytes()) {
                    wrong.push(format!("{}: {line:?} should match", rule.name));
                }
                // Each pattern that matches an example line must be in exactly one set, and the line must contain one of the
                // literals of this set.
                for pattern in rule.patterns.iter().filter(|pattern| set(&[pattern]).is_match(line.as_bytes())) {
                    let mut sets = sets_of(&rule).into_iter().filter(|set| set.patterns.contains(&pattern.as_str()));
                    let with = sets.next().unwrap().with;
                    if sets.next().is_some() || !with.iter().any(|literal| line.contains(literal)) {
                        wrong.push(format!("{}: {line:?} does not lead to {pattern}", rule.name));
                    }
                }
            }
            for line in &rule.no {
                if expected(line) {
                    wrong.push(format!("{}: {line:?} should not match", rule.name));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn exceptions_sections_and_extents_have_their_examples() {
        let file = file();
        let check = |name: &str, these: Patterns, unless: &[String], yes: &[String], no: &[String]| {
            assert!(!yes.is_empty() && !no.is_empty(), "{name} lacks examples");
            let unless = set(unless);
            let is_match = |line: &str| these.is_match(line.as_bytes()) && !unless.is_match(line.as_bytes());
            for line in yes {
                assert!(is_match(line), "{name}: {line:?} should match");
            }
            for line in no {
                assert!(!is_match(line), "{name}: {line:?} should not match");
            }
        };
        for except in &file.except {
            check(&except.name, set(&except.patterns), &except.unless, &except.yes, &except.no);
        }
        for section in &file.section {
            check(&section.name, set(&[&section.begin]), &[], &section.yes, &section.no);
        }
        for (name, extent) in [
            ("prefix", &file.prefix),
            ("label", &file.label),
            ("continues", &file.continues),
            ("leads", &file.leads),
            ("help", &file.help),
            ("record", &file.record),
            ("message", &file.message),
            ("frame", &file.frame),
            ("library", &file.library),
            ("notes", &file.notes),
            ("progress", &file.progress),
            ("ends_message", &file.ends_message),
            ("nothing", &file.nothing),
        ] {
            check(name, set(&extent.patterns), &[], &extent.yes, &extent.no);
        }
        let inside = &file.inside;
        let failures = Failures::new(&file);
        let says_failure = |line: &str| failures.failing_words(line.as_bytes(), 0..line.len()).next().is_some();
        assert_eq!(inside.yes.iter().filter(|line| !says_failure(line)).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(inside.no.iter().filter(|line| says_failure(line)).collect::<Vec<_>>(), [""; 0]);
        for weak in &file.weak {
            check(&weak.name, set(&weak.patterns), &[], &weak.yes, &weak.no);
        }
    }
}
