//! What a failure looks like, as `filters/_failures.toml` says it. That file is the only place that knows a tool's
//! words for failure; this one must stay fast for the many lines that say nothing of the kind.

use std::{collections::BTreeMap, ops::Range, sync::LazyLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind, StartKind};
use serde::Deserialize;

use super::{
    class::Class,
    patterns::{Patterns, Starts, set},
};

/// The compiled definitions. Each rule has patterns of its own, which see only lines with one of its literals.
pub struct Failures {
    /// Searchers that find fast whether there is any literal.
    any: Vec<AhoCorasick>,
    literals: AhoCorasick,
    /// For each literal, the rules and sections that it belongs to: one bit each, those of lines first.
    owners: Vec<u64>,
    lines: Vec<LineRule>,
    /// The `begin`, `end` and `block` of each section.
    sections: Vec<Patterns>,
    /// Exceptions, each with the patterns of the lines to which it does not apply.
    except: Vec<(Patterns, Patterns)>,
    /// What says that one thing passed.
    passed: Patterns,
    prefix: Starts,
    label: Starts,
    continues: Patterns,
    leads: Patterns,
    help: Patterns,
    ends_message: Patterns,
}

struct LineRule {
    patterns: Patterns,
    class: Class,
    block: bool,
    message: bool,
}

/// Indices in a section's set.
const BEGIN: usize = 0;
const END: usize = 1;
const BLOCK: usize = 2;

/// What the patterns say of a line by itself, whatever lines are around it.
#[derive(Clone, Copy, Default)]
pub struct LineMatch {
    /// The line has a literal of some pattern, and no pattern has been tried on it yet.
    pub is_candidate: bool,
    pub class: Class,
    pub block: bool,
    /// The next line that is not indented says what happened.
    pub message: bool,
    /// The section that begins with the line.
    pub begin: Option<u8>,
}

/// The definitions that come with the library.
pub fn built_in() -> &'static Failures {
    static FAILURES: LazyLock<Failures> = LazyLock::new(|| {
        let file: File =
            toml::from_str(include_str!("../../../filters/_failures.toml")).expect("_failures.toml is right");
        Failures::new(&file)
    });
    &FAILURES
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    line: Vec<Line>,
    except: Vec<Except>,
    section: Vec<Section>,
    prefix: Extent,
    label: Extent,
    continues: Extent,
    leads: Extent,
    help: Extent,
    ends_message: Extent,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), allow(dead_code))] // names and examples are for the tests
struct Line {
    name: String,
    is: Vec<Is>,
    #[serde(default)]
    block: bool,
    #[serde(default)]
    message: bool,
    with: Vec<String>,
    patterns: Vec<String>,
    yes: Vec<String>,
    no: Vec<String>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Is {
    Failure,
    #[serde(rename = "failed verdict")]
    Failed,
    #[serde(rename = "passed verdict")]
    Passed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), allow(dead_code))]
struct Except {
    name: String,
    #[serde(default)]
    ends_region: bool,
    patterns: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
    yes: Vec<String>,
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
    yes: Vec<String>,
    no: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), allow(dead_code))]
struct Extent {
    patterns: Vec<String>,
    yes: Vec<String>,
    no: Vec<String>,
}

/// Returns searchers for any of these literals, such that wide instructions look for all of one searcher at once. So
/// literals that contain another one are left out, each searcher has at most 44 (with more, it compares too many
/// bytes), and literals of two bytes, which are often found by chance, have a searcher of their own.
fn any_of<'a>(literals: impl Iterator<Item = &'a str> + Clone) -> Vec<AhoCorasick> {
    let is_needed = |literal: &&str| !literals.clone().any(|other| other != *literal && literal.contains(other));
    let mut needed: Vec<&str> = literals.clone().filter(is_needed).collect();
    needed.sort_by_key(|literal| std::cmp::Reverse(literal.len()));
    let (long, short) = needed.split_at(needed.partition_point(|literal| literal.len() > 2));
    let searcher = |few: &[&str]| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(few);
    long.chunks(44).chain([short]).map(|few| searcher(few).expect("the literals are few")).collect()
}

impl Failures {
    fn new(file: &File) -> Failures {
        assert!(file.line.len() + file.section.len() <= 64, "of each there is a bit in `owners`");
        let mut owners: BTreeMap<&str, u64> = BTreeMap::new();
        let all = file.line.iter().map(|line| &line.with).chain(file.section.iter().map(|section| &section.with));
        for (index, with) in all.enumerate() {
            for literal in with {
                *owners.entry(literal).or_default() |= 1 << index;
            }
        }
        let lines = file.line.iter().map(|line| {
            let mut class = Class::default();
            for is in &line.is {
                class.add(match is {
                    Is::Failure => Class::FAILURE,
                    Is::Failed => Class::FAILED_VERDICT,
                    Is::Passed => Class::PASSED_VERDICT,
                });
            }
            LineRule { patterns: set(&line.patterns), class, block: line.block, message: line.message }
        });
        let passed: Vec<&String> =
            file.except.iter().filter(|except| except.ends_region).flat_map(|except| &except.patterns).collect();
        let starts =
            |extent: &Extent| Starts::new(&extent.patterns).expect("the beginnings in _failures.toml are right");
        Failures {
            any: any_of(owners.keys().copied()),
            literals: AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::DFA))
                .start_kind(StartKind::Unanchored)
                .build(owners.keys())
                .expect("the literals are few"),
            owners: owners.into_values().collect(),
            lines: lines.collect(),
            sections: file.section.iter().map(|section| set(&[&section.begin, &section.end, &section.block])).collect(),
            except: file.except.iter().map(|except| (set(&except.patterns), set(&except.unless))).collect(),
            passed: set(&passed),
            prefix: starts(&file.prefix),
            label: starts(&file.label),
            continues: set(&file.continues.patterns),
            leads: set(&file.leads.patterns),
            help: set(&file.help.patterns),
            ends_message: set(&file.ends_message.patterns),
        }
    }

    /// Marks the lines that the patterns have to see. `ends` are the ends of the lines in `part`.
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

    /// Whether any line of these bytes may say that something failed. For most texts the answer is fast.
    pub fn may_say_failure(&self, bytes: &[u8]) -> bool {
        self.any.iter().any(|any| any.find(bytes).is_some())
    }

    /// Whether the error region of a failure line that follows begins with this line already. The line has no prefix.
    pub fn leads(&self, line: &[u8]) -> bool {
        self.leads.is_match(line)
    }

    /// Whether an error region goes on over this line, which has no prefix.
    pub fn continues(&self, line: &[u8]) -> bool {
        self.continues.is_match(line)
    }

    /// Whether this line, which has no prefix, says that one thing passed.
    pub fn is_passed(&self, line: &[u8]) -> bool {
        self.passed.is_match(line)
    }

    /// Whether this line, which has no prefix, begins a list of how a program is to be called.
    pub fn begins_help(&self, line: &[u8]) -> bool {
        self.help.is_match(line)
    }

    /// Whether this line, which has no prefix, comes after the message of a failure.
    pub fn ends_message(&self, line: &[u8]) -> bool {
        self.ends_message.is_match(line)
    }

    /// Returns what a program puts before each line of what it says of an error, such as `npm error`. It may be empty.
    pub fn label<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        &line[..self.label.end(line)]
    }

    /// Whether this line, which has no prefix, begins a block of the section, and whether it ends the section.
    pub fn block_and_end(&self, section: u8, line: &[u8]) -> (bool, bool) {
        let matches = self.sections[usize::from(section)].matches(line);
        (matches.contains(&BLOCK), matches.contains(&END))
    }

    /// Returns the line without what a machine put before it, such as a time.
    pub fn without_prefix<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        if !line.first().is_some_and(|&first| first.is_ascii_alphanumeric() || matches!(first, b'[' | b'#')) {
            return line;
        }
        &line[self.prefix.end(line)..]
    }

    /// Returns what a line is by itself. It is not inlined, so that lines without a literal pass quickly.
    #[inline(never)]
    pub fn match_line(&self, line: &[u8]) -> LineMatch {
        let mut found = LineMatch::default();
        let mut owners = 0;
        for literal in self.literals.find_overlapping_iter(line) {
            owners |= self.owners[literal.pattern().as_usize()];
        }
        for (index, rule) in self.lines.iter().enumerate() {
            if owners & 1 << index != 0 && rule.patterns.is_match(line) {
                found.class.add(rule.class);
                found.block |= rule.block;
                found.message |= rule.message;
            }
        }
        for (index, section) in self.sections.iter().enumerate() {
            if owners & 1 << (self.lines.len() + index) != 0 && section.matches(line).contains(&BEGIN) {
                found.begin = Some(index as u8);
            }
        }
        let is_except = |(these, unless): &(Patterns, Patterns)| these.is_match(line) && !unless.is_match(line);
        if found.class != Class::default() && self.except.iter().any(is_except) {
            (found.block, found.message) = (false, false);
            let passed = found.class.has(Class::PASSED_VERDICT);
            found.class = if passed { Class::PASSED_VERDICT } else { Class::default() };
        }
        // A run that failed has not passed, whatever else its summary counts.
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

    /// The class of a text's only line, found as in any text.
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
                        Is::Failure => Class::FAILURE,
                        Is::Failed => Class::FAILED_VERDICT,
                        Is::Passed => Class::PASSED_VERDICT,
                    })
                })
            };
            let own = set(&rule.patterns);
            for line in &rule.yes {
                if !expected(line) || !own.is_match(line.as_bytes()) {
                    wrong.push(format!("{}: {line:?} should match", rule.name));
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
            ("ends_message", &file.ends_message),
        ] {
            check(name, set(&extent.patterns), &[], &extent.yes, &extent.no);
        }
    }
}
