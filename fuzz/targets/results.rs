//! Compresses tool results, in one call and as a stream, with the built-in filters or a filter from the input. The promises about
//! every result must hold, and every filter file must be refused or usable.
//!
//! Input: the options, the command, the number of chunk lengths, the lengths, by option a filter file up to a NUL, and then the
//! text itself or the choices by which it is generated.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, LazyLock};

use aside::compress::*;
use support::ROOT;
use support::report::{body, rows, tiles};

use super::{Input as Bytes, cut};

/// Commands and lines of outputs from the tests of the built-in filters.
pub struct Samples {
    pub files: Vec<String>,
    pub tests: Vec<(String, String)>,
    commands: Vec<String>,
    lines: Vec<String>,
}

pub static SAMPLES: LazyLock<Samples> = LazyLock::new(|| {
    let paths = support::files(format!("{ROOT}/filters"));
    let files: Vec<String> = paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let mut tests = Vec::new();
    for file in &files {
        let file: toml::Table = file.parse().unwrap();
        for test in file.get("test").and_then(toml::Value::as_array).into_iter().flatten() {
            let command = test.get("command").and_then(toml::Value::as_str).unwrap_or_default();
            tests.push((command.to_owned(), test["input"].as_str().unwrap().to_owned()));
        }
    }
    let commands: BTreeSet<String> = tests.iter().map(|test| test.0.clone()).collect();
    let lines: BTreeSet<&str> = tests.iter().flat_map(|test| test.1.lines()).collect();
    let own = PASSED.iter().chain(&FAILED).copied();
    // Each of these few lines is repeated so often that it occurs with the others in one text.
    let often = lines.len() / (10 * (PASSED.len() + FAILED.len()));
    let own = std::iter::repeat_n(own.collect::<Vec<_>>(), often).flatten();
    let lines = own.chain(lines.iter().copied()).map(str::to_owned).collect();
    Samples { files, commands: commands.into_iter().collect(), lines, tests }
});

/// Lines that report success or failure in any log.
const PASSED: [&str; 3] = ["test result: ok. 3 passed; 0 failed", "BUILD SUCCESSFUL in 3s", "=== 3 passed in 0.1s ==="];
const FAILED: [&str; 3] =
    ["test result: FAILED. 2 passed; 1 failed", "make: *** [all] Error 1", "=== 1 failed in 0.1s ==="];

const BUDGETS: [usize; 4] = [0, MIN_BUDGET, 3000, 20_000];

/// Compressors with all built-in filters, one for each budget. 0 means no budget.
static BUILT_IN: LazyLock<[Arc<Compressor>; 4]> = LazyLock::new(|| {
    BUDGETS.map(|budget| {
        let mut registry = Registry::new();
        registry.minify_json();
        compressor(registry, budget)
    })
});

fn compressor(registry: Registry, budget: usize) -> Arc<Compressor> {
    let compressor = Compressor::new(&registry);
    Arc::new(if budget > 0 { compressor.budget(budget).unwrap() } else { compressor })
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes { rest: data };
    let choices = bytes.byte();
    let command = &SAMPLES.commands[bytes.below(256) % SAMPLES.commands.len()];
    let lengths = bytes.lengths();
    let budget = BUDGETS[usize::from(choices & 3)];
    let own = choices & 4 != 0;
    let compressor = if own {
        let Ok(file) = std::str::from_utf8(bytes.until(0)) else { return };
        let checked = check_filter(file);
        let mut registry = Registry::empty();
        match registry.add_toml(file) {
            Ok(()) => compressor(registry, budget),
            Err(refused) => return assert_eq!(checked.unwrap_err().to_string(), refused.to_string()),
        }
    } else {
        BUILT_IN[usize::from(choices & 3)].clone()
    };
    let text = if choices & 8 != 0 { made(&mut bytes) } else { bytes.rest.to_vec() };
    let result = Result { compressor, budget, own, command, text: &text };
    result.check();
    for memory in [(4 * budget).max(4096), 1 << 17] {
        result.check_stream(memory, lengths);
    }
}

/// Returns a log of lines from the samples, some of them repeated.
fn made(bytes: &mut Bytes<'_>) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut long = 0;
    while !bytes.rest.is_empty() && long < 1 << 15 {
        let from = lines.len();
        match bytes.byte() {
            call @ 0..200 => {
                let at = usize::from(call) << 8 | usize::from(bytes.byte());
                lines.push(SAMPLES.lines[at % SAMPLES.lines.len()].as_bytes().to_vec());
            }
            // The last lines are repeated this often.
            200..220 => {
                let block = lines[from.saturating_sub(1 + bytes.below(6))..].to_vec();
                for _ in 0..bytes.below(40) {
                    lines.extend_from_slice(&block);
                }
            }
            220..235 => lines.push([&bytes.until(b'\n').repeat(1 + bytes.below(80)), &b"-"[..]].concat()),
            235..240 => lines.push(Vec::new()),
            _ => lines.push(bytes.until(b'\n').to_vec()),
        }
        long += lines[from..].iter().map(|line| line.len() + 1).sum::<usize>();
    }
    lines.join(&b'\n')
}

struct Result<'a> {
    compressor: Arc<Compressor>,
    budget: usize,
    own: bool,
    command: &'a str,
    text: &'a [u8],
}

impl Result<'_> {
    fn once(&self, text: &[u8]) -> (Option<Vec<u8>>, Report) {
        let input = Input::of_command(self.command);
        let mut result = self.compressor.compress(&Invocation::new("bash", &input), &[Part::Text(text)]);
        match result.parts.remove(0) {
            Outcome::Same => (None, result.report),
            Outcome::Text(text) => (Some(text), result.report),
            Outcome::Gone => panic!("a single part never goes"),
        }
    }

    fn check(&self) {
        let text = self.text;
        let (result, report) = self.once(text);
        assert!(self.once(text) == (result.clone(), report.clone()), "not the same again");
        // A filter from the input may fail.
        assert!(self.own || report.failed.is_empty(), "{:?}", report.failed);
        assert_eq!((report.before, report.before_units), (text.len(), units(text)));
        let Some(result) = result else {
            let counted = (report.after, report.after_units, report.parts.len());
            assert_eq!(counted, (report.before, report.before_units, 0));
            return;
        };
        assert!(result.len() < text.len() && units(&result) < units(text), "it is not shorter");
        assert_eq!((report.after, report.after_units), (result.len(), units(&result)));
        assert!(!body(&result).trim_ascii().is_empty());
        if self.budget > 0 && !self.own && !is_protected(text) {
            assert!(result.len() <= self.budget, "{} bytes", result.len());
        }
        assert_eq!(self.once(&result).0, None, "compressed twice");
        tiles(&report, text, body(&result));
        self.lines(body(&result));
    }

    /// Checks that each line is in the input, in this order, or is a marker, and that no success is reported without the failures.
    fn lines(&self, result: &[u8]) {
        let text = self.text;
        // Terminal control characters, folded paths, JSON and diffs have special rules, and are not checked.
        if text.iter().any(|byte| b"\x1b\r\x08".contains(byte)) || text.windows(2).any(|pair| pair == b"@@") {
            return;
        }
        if is_protected(text) || text.starts_with(b"diff ") {
            return;
        }
        let (input, output) = (rows(text), rows(result));
        let has: HashSet<&[u8]> = output.iter().copied().collect();
        let said = |lines: &[&str]| lines.iter().any(|line| has.contains(line.as_bytes()));
        let lost: Vec<&&str> =
            FAILED.iter().filter(|line| input.contains(&line.as_bytes()) && !has.contains(line.as_bytes())).collect();
        assert!(lost.is_empty() || !said(&PASSED), "a false green: {lost:?} of\n{}", text.escape_ascii());
        assert!(lost.is_empty() || self.budget > 0 || self.own, "lost: {lost:?} of\n{}", text.escape_ascii());
        let folds = |word| self.command.contains(word);
        if ["find", "grep", "rg", "git", "ls", "tree", "fd", "ag"].into_iter().any(folds) {
            return;
        }
        let mut rest = &input[..];
        for (at, row) in output.iter().enumerate() {
            let beside = |at: usize| output.get(at).and_then(|row| Marker::parse(row));
            let is_end = |marker| matches!(marker, Some(Marker::OfLine { .. }));
            // The line after a marker for records has their names.
            let is_of_names = |marker| matches!(marker, Some(Marker::LeftOut { records, .. }) if records > 0);
            if Marker::parse(row).is_some() || at > 0 && is_of_names(beside(at - 1)) {
                continue;
            }
            let begins = is_end(beside(at + 1));
            let ends = at > 0 && is_end(beside(at - 1));
            let fits = |line: &&[u8]| *line == *row || begins && line.starts_with(row) || ends && line.ends_with(row);
            let found = rest.iter().position(fits);
            let found = found.unwrap_or_else(|| panic!("line {at} did not come in:\n{}", result.escape_ascii()));
            // The two ends of a cut line belong to the same line.
            rest = &rest[found + usize::from(!begins)..];
        }
    }

    fn check_stream(&self, memory: usize, lengths: &[u8]) {
        let run = |chunks: &[&[u8]]| {
            let input = Input::of_command(self.command);
            let mut stream = ToolStream::new(self.compressor.clone(), "bash", input, memory).unwrap();
            let mut result = Vec::new();
            for chunk in chunks {
                stream.feed(chunk, |bytes| result.extend_from_slice(bytes));
            }
            let report = stream.finish(|bytes| result.extend_from_slice(bytes));
            (result, report)
        };
        let (result, report) = run(&[self.text]);
        let mut ways = vec![cut(self.text, lengths), self.text.chunks(1000).collect()];
        if self.text.len() < 3000 {
            ways.push(support::bytes(self.text));
        }
        for chunks in ways {
            let got = run(&chunks);
            assert!(got == (result.clone(), report.clone()), "the cuts show: {}", support::shown(&chunks));
        }
        assert!(result.len() <= self.text.len());
        assert!(self.own || report.failed.is_empty(), "{:?}", report.failed);
        assert_eq!((report.before, report.before_units), (self.text.len(), units(self.text)));
        assert_eq!((report.after, report.after_units), (result.len(), units(&result)));
        if self.text.len() <= memory {
            let whole = self.once(self.text).0.map_or(self.text.to_vec(), |result| body(&result).to_vec());
            assert!(result == whole, "not the result of one call");
        } else if self.budget > 0 {
            assert!(result.len() <= self.budget, "{} bytes", result.len());
        }
    }
}
