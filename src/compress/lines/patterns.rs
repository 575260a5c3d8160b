//! Sets of regular expressions for lines. Anybody may write a pattern, so patterns run in time linear in the line, and compile
//! within bounded memory.
//!
//! They have no prefilter: lines are short, and callers with many lines look for literals first. Without a prefilter, they
//! compile in half the time and a third of the memory. The library's own patterns are compiled when they are first used, because
//! most outputs need few of them, and compiling all takes longer than most compressions.

use std::{
    ops::Range,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::OnceLock,
};

use regex_automata::{
    Anchored, Input, MatchKind, PatternSet,
    hybrid::dfa::{Cache, Config as DfaConfig, DFA},
    meta::{Config, Regex},
    nfa::thompson::{Config as NfaConfig, WhichCaptures},
    util::{pool::Pool, syntax},
};

/// A set of patterns that is searched for in one pass. The patterns match bytes, not characters.
pub struct Patterns(Source);

/// The origin of the patterns.
enum Source {
    /// A filter file. Its patterns may be wrong, or too large for a DFA.
    File(Box<Regex>),
    Library(LazyAutomaton),
}

/// The reason why patterns cannot be compiled.
#[derive(Debug)]
pub struct PatternError {
    /// The index of the wrong pattern, if a single pattern is known to be wrong.
    pub pattern: Option<usize>,
    pub message: String,
}

/// The length of the longest pattern that an error message repeats.
const LONGEST_SHOWN: usize = 500;

impl Patterns {
    /// Compiles patterns. The error explains the fault to the author of the patterns.
    pub fn new(patterns: &[impl AsRef<str>]) -> Result<Patterns, PatternError> {
        // The places of matches are not recorded: with them, the memory would grow with the square of the number of patterns.
        compile(patterns).map(|regex| Patterns(Source::File(Box::new(regex))))
    }

    /// Returns the memory of the compiled patterns in bytes.
    pub fn memory(&self) -> usize {
        match &self.0 {
            Source::File(regex) => regex.memory_usage(),
            Source::Library(lazy) => lazy.automaton().dfa.memory_usage(),
        }
    }

    /// Returns whether any pattern matches somewhere in the line.
    pub fn is_match(&self, line: &[u8]) -> bool {
        match &self.0 {
            Source::File(regex) => regex.is_match(line),
            Source::Library(lazy) => lazy.automaton().end(&Input::new(line).earliest(true)).is_some(),
        }
    }

    /// Returns the end of the first match in a range of the line, for the library's own patterns.
    pub fn end(&self, line: &[u8], range: Range<usize>) -> Option<usize> {
        let input = Input::new(line).range(range).earliest(true);
        match &self.0 {
            Source::File(regex) => regex.search_half(&input).map(|found| found.offset()),
            Source::Library(lazy) => lazy.automaton().end(&input),
        }
    }

    /// Returns the indices of the patterns that match somewhere in the line.
    pub fn matches(&self, line: &[u8]) -> Vec<usize> {
        let input = Input::new(line);
        let found = match &self.0 {
            Source::File(regex) => {
                let mut found = PatternSet::new(regex.pattern_len());
                regex.which_overlapping_matches(&input, &mut found);
                found
            }
            Source::Library(lazy) => lazy.automaton().which(&input),
        };
        found.iter().map(|pattern| pattern.as_usize()).collect()
    }
}

/// Returns a set of the library's own patterns. If a pattern is wrong, using the set for the first time causes a panic.
pub fn set(patterns: &[impl AsRef<str>]) -> Patterns {
    Patterns(Source::Library(LazyAutomaton::new(patterns)))
}

/// The library's own patterns for the beginning of a line.
pub struct Prefixes(LazyAutomaton);

impl Prefixes {
    pub fn new(patterns: &[impl AsRef<str>]) -> Prefixes {
        Prefixes(LazyAutomaton::new(patterns))
    }

    /// Returns the end of the longest match at the beginning of the line, or 0 if there is none.
    pub fn end(&self, line: &[u8]) -> usize {
        self.0.automaton().end(&Input::new(line).anchored(Anchored::Yes)).unwrap_or(0)
    }
}

/// Patterns for the beginning of a line, all of which are known to be valid. They are compiled when they are first used.
pub struct Starts(LazyAutomaton);

impl Starts {
    pub fn new(patterns: &[impl AsRef<str>]) -> Starts {
        Starts(LazyAutomaton::new(patterns))
    }

    /// Returns whether the line begins with a match of any pattern.
    pub fn is_match(&self, line: &[u8]) -> bool {
        self.0.automaton().end(&Starts::input(line).earliest(true)).is_some()
    }

    /// Returns the indices of the patterns that match at the beginning of the line.
    pub fn matches(&self, line: &[u8]) -> Vec<usize> {
        self.0.automaton().which(&Starts::input(line)).iter().map(|pattern| pattern.as_usize()).collect()
    }

    fn input(line: &[u8]) -> Input<'_> {
        Input::new(line).anchored(Anchored::Yes)
    }
}

/// Patterns that are compiled when they are first used.
struct LazyAutomaton {
    patterns: Vec<String>,
    automaton: OnceLock<Box<Automaton>>,
}

impl LazyAutomaton {
    fn new(patterns: &[impl AsRef<str>]) -> LazyAutomaton {
        let patterns = patterns.iter().map(|pattern| pattern.as_ref().to_owned()).collect();
        LazyAutomaton { patterns, automaton: OnceLock::new() }
    }

    fn automaton(&self) -> &Automaton {
        self.automaton.get_or_init(|| Box::new(Automaton::new(&self.patterns)))
    }
}

/// An automaton whose states are computed when they are first needed. It reads forwards only, because no caller needs the
/// beginning of a match, and the automaton for that would take as long to compile.
struct Automaton {
    dfa: DFA,
    caches: Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>>,
}

impl Automaton {
    fn new(patterns: &[String]) -> Automaton {
        let states = NfaConfig::new().utf8(false).shrink(false).which_captures(WhichCaptures::None);
        let config = DfaConfig::new().match_kind(MatchKind::All).skip_cache_capacity_check(true);
        let dfa = DFA::builder().thompson(states).syntax(syntax()).configure(config).build_many(patterns);
        let dfa = dfa.expect("the library's own patterns are right");
        let of = dfa.clone();
        Automaton { dfa, caches: Pool::new(Box::new(move || of.create_cache())) }
    }

    /// Returns the end of the longest match, or, if the input asks for that, of the match that ends first.
    fn end(&self, input: &Input<'_>) -> Option<usize> {
        let found = self.dfa.try_search_fwd(&mut self.caches.get(), input);
        found.expect(NEVER_FAILS).map(|found| found.offset())
    }

    fn which(&self, input: &Input<'_>) -> PatternSet {
        let mut found = PatternSet::new(self.dfa.pattern_len());
        self.dfa.try_which_overlapping_matches(&mut self.caches.get(), input, &mut found).expect(NEVER_FAILS);
        found
    }
}

const NEVER_FAILS: &str = "no byte ends a search, and its cache is cleared as often as need be";

/// Returns texts that every line contains if this pattern matches it. It considers only parts of the pattern that are neither
/// repeated nor in a group, and returns nothing for a pattern with alternatives.
pub fn needed_texts(pattern: &str) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut chars = pattern.chars().peekable();
    let (mut depth, mut in_class) = (0, false);
    // Whether the last character of the last text may be repeated by the next part.
    let mut is_last = false;
    while let Some(c) = chars.next() {
        let next = if c == '\\' { chars.next() } else { None };
        let literal = match (c, next) {
            ('\\', Some(escaped)) => escaped.is_ascii_punctuation().then_some(escaped),
            _ if in_class || depth > 0 || "[](){}|?*+.^$".contains(c) => None,
            _ => Some(c),
        };
        match c {
            '\\' if !in_class && depth == 0 && next == Some('x') => {
                let _ = (chars.next(), chars.next());
            }
            '[' if !in_class => {
                in_class = true;
                // A closing bracket directly after the opening one is a member of the class.
                let _ = (chars.next_if_eq(&'^'), chars.next_if_eq(&']'));
            }
            ']' if in_class => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => depth -= 1,
            '|' if !in_class && depth == 0 => return Vec::new(),
            '{' if !in_class && depth == 0 => while chars.next().is_some_and(|c| c != '}') {},
            _ => {}
        }
        match literal {
            Some(literal) if !in_class && depth == 0 => {
                texts.last_mut().into_iter().for_each(|text| text.push(literal));
                is_last = true;
            }
            _ => {
                if is_last && "?*{".contains(c) {
                    texts.last_mut().map(String::pop);
                }
                is_last = false;
                texts.push(String::new());
            }
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}

fn syntax() -> syntax::Config {
    syntax::Config::new().unicode(false).utf8(false)
}

fn compile(patterns: &[impl AsRef<str>]) -> Result<Regex, PatternError> {
    let config = Config::new()
        .match_kind(MatchKind::All)
        .utf8_empty(false)
        .which_captures(WhichCaptures::None)
        .auto_prefilter(false);
    Regex::builder().configure(config).syntax(syntax()).build_many(patterns).map_err(|error| {
        let pattern = error.pattern().map(|pattern| pattern.as_usize());
        let is_long = pattern.is_none_or(|pattern| patterns[pattern].as_ref().len() > LONGEST_SHOWN);
        let message = match (error.syntax_error(), error.size_limit()) {
            // Only the last line of the message is kept, because the lines before it repeat the long pattern.
            (Some(error), _) if is_long => error.to_string().lines().last().unwrap_or_default().to_owned(),
            (Some(error), _) => error.to_string(),
            (_, Some(limit)) => format!("more than {limit} bytes when compiled"),
            _ => error.to_string(),
        };
        PatternError { pattern, message }
    })
}

#[cfg(test)]
mod tests {
    use super::{Patterns, Prefixes, needed_texts};

    #[test]
    fn what_a_pattern_cannot_do_without() {
        for (pattern, texts) in [
            ("^test result: FAILED", &["test result: FAILED"][..]),
            (r"\bFound [1-9]\d* (?:errors?|problems?)\b", &["Found ", " "]),
            (r"make(?:\[\d+\])?: \*\*\* ", &["make", ": *** "]),
            ("colou?r+s*{x", &["colo", "r"]),
            ("ab{2,3}c", &["a", "c"]),
            ("[]a(]b[^]c]d", &["b", "d"]),
            (r"[\]x]y(?:[)z]|\))w", &["y", "w"]),
            (r"\xe2x\.y", &["x.y"]),
            ("(?i:error) x", &[" x"]),
            ("a|b", &[]),
            ("", &[]),
        ] {
            assert_eq!(needed_texts(pattern), texts, "{pattern}");
        }
    }

    #[test]
    fn the_longest_start_counts() {
        let patterns = ["ab", "a+(?:b|bc)", "^b", "c$"];
        let starts = Prefixes::new(&patterns);
        for (line, end) in [("ab", 2), ("aabcd", 4), ("xab", 0), ("bb", 1), ("", 0), ("c", 1), ("cc", 0)] {
            assert_eq!(starts.end(line.as_bytes()), end, "{line}");
        }
        let patterns = Patterns::new(&patterns).unwrap();
        assert_eq!(patterns.matches(b"xabc"), [0, 1, 3]);
        assert!(patterns.is_match(b"xab") && !patterns.is_match(b"xb"));
    }
}
