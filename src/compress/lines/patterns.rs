//! Regular expressions for lines, in sets. Patterns may be anybody's, so they run in time linear in the line and
//! compile within bounded memory.
//!
//! They have no prefilter: lines are short, and whoever has to see many of them looks for literals first. So they
//! compile in half the time and a third of the memory.

use regex_automata::{
    Anchored, Input, MatchKind, PatternSet, meta::Config, meta::Regex, nfa::thompson::WhichCaptures, util::syntax,
};

/// Patterns that are looked for together, in bytes and not in characters.
pub struct Patterns(Regex);

/// Why patterns cannot be compiled.
#[derive(Debug)]
pub struct PatternError {
    /// The index of the wrong pattern, if one is known to be wrong by itself.
    pub pattern: Option<usize>,
    pub message: String,
}

/// The longest pattern that a message about it shows.
const LONGEST_SHOWN: usize = 500;

impl Patterns {
    /// Compiles patterns. An error says what is wrong to whoever wrote them.
    pub fn new(patterns: &[impl AsRef<str>]) -> Result<Patterns, PatternError> {
        // With the place of each match, the memory for many patterns would grow with the square of their number.
        compile(patterns, WhichCaptures::None).map(Patterns)
    }

    /// Returns the memory of the compiled patterns in bytes.
    pub fn memory(&self) -> usize {
        self.0.memory_usage()
    }

    /// Whether any pattern is somewhere in the line.
    pub fn is_match(&self, line: &[u8]) -> bool {
        self.0.is_match(line)
    }

    /// Returns which patterns are somewhere in the line.
    pub fn matches(&self, line: &[u8]) -> Vec<usize> {
        let mut found = PatternSet::new(self.0.pattern_len());
        self.0.which_overlapping_matches(&Input::new(line), &mut found);
        found.iter().map(|pattern| pattern.as_usize()).collect()
    }
}

/// Compiles patterns of the library's own. Panics if they are wrong.
pub fn set(patterns: &[impl AsRef<str>]) -> Patterns {
    Patterns::new(patterns).expect("the library's own patterns are right")
}

/// Patterns that a line may begin with.
pub struct Starts(Regex);

impl Starts {
    pub fn new(patterns: &[impl AsRef<str>]) -> Result<Starts, PatternError> {
        compile(patterns, WhichCaptures::Implicit).map(Starts)
    }

    /// Returns where the longest pattern ends that the line begins with. Returns 0 if it begins with none.
    pub fn end(&self, line: &[u8]) -> usize {
        self.0.search_half(&Input::new(line).anchored(Anchored::Yes)).map_or(0, |found| found.offset())
    }
}

fn compile(patterns: &[impl AsRef<str>], places: WhichCaptures) -> Result<Regex, PatternError> {
    let config =
        Config::new().match_kind(MatchKind::All).utf8_empty(false).which_captures(places).auto_prefilter(false);
    let syntax = syntax::Config::new().unicode(false).utf8(false);
    Regex::builder().configure(config).syntax(syntax).build_many(patterns).map_err(|error| {
        let pattern = error.pattern().map(|pattern| pattern.as_usize());
        let is_long = pattern.is_none_or(|pattern| patterns[pattern].as_ref().len() > LONGEST_SHOWN);
        let message = match (error.syntax_error(), error.size_limit()) {
            // All but its last line show the pattern, with a mark where it is wrong.
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
    use super::{Patterns, Starts};

    #[test]
    fn the_longest_start_counts() {
        let patterns = ["ab", "a+(?:b|bc)", "^b", "c$"];
        let starts = Starts::new(&patterns).unwrap();
        for (line, end) in [("ab", 2), ("aabcd", 4), ("xab", 0), ("bb", 1), ("", 0), ("c", 1), ("cc", 0)] {
            assert_eq!(starts.end(line.as_bytes()), end, "{line}");
        }
        let patterns = Patterns::new(&patterns).unwrap();
        assert_eq!(patterns.matches(b"xabc"), [0, 1, 3]);
        assert!(patterns.is_match(b"xab") && !patterns.is_match(b"xb"));
    }
}
