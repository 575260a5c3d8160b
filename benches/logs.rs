//! Logs of failed runs, in which the lines that say why the run failed are marked. They are generated from the templates in
//! `recall/`, and are the same in every run.

use std::{collections::HashSet, ops::Range};

use aside::compress::{Change, Compressor, Input, Invocation, Outcome, Part, Registry};
use samples::Random;
use serde::Deserialize;

/// The log of a failed run.
pub struct Log {
    pub name: String,
    pub command: String,
    pub text: Vec<u8>,
    /// The numbers of the lines that say why the run failed, counted from 0.
    pub marked: Vec<usize>,
    /// Other diagnostics, such as warnings.
    pub others: Vec<usize>,
}

impl Log {
    /// Returns the share of the marked lines of which the line or a copy is left. Blank lines do not count.
    pub fn recall(&self, left: &[bool]) -> f64 {
        let lines: Vec<&[u8]> = self.lines().into_iter().map(|line| self.text[line].trim_ascii()).collect();
        let copies: HashSet<&[u8]> = lines.iter().zip(left).filter(|(_, left)| **left).map(|(line, _)| *line).collect();
        let marked: Vec<&[u8]> = self.marked.iter().map(|&line| lines[line]).filter(|line| !line.is_empty()).collect();
        assert!(!marked.is_empty(), "{} has no marked line", self.name);
        marked.iter().filter(|line| copies.contains(*line)).count() as f64 / marked.len() as f64
    }

    /// Returns the range of each line with its line end.
    pub fn lines(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let ends = self.text.split_inclusive(|&byte| byte == b'\n').scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        });
        ends.map(|end| std::mem::replace(&mut start, end)..end).collect()
    }

    /// Returns for each line whether the compressor keeps it completely. If only the two ends of a long line are left, the line
    /// does not count.
    pub fn left(&self, budget: usize) -> Vec<bool> {
        let compressor = Compressor::new(&Registry::new()).budget(budget).expect("budgets are large");
        let input = Input::of_command(&self.command);
        let result = compressor.compress(&Invocation::new("terminal", &input), &[Part::Text(&self.text)]);
        assert!(result.report.failed.is_empty(), "{}: {:?}", self.name, result.report.failed);
        let lines = self.lines();
        let Outcome::Text(text) = &result.parts[0] else { return vec![true; lines.len()] };
        assert!(text.len() <= budget, "{} has {} bytes at {budget}", self.name, text.len());
        let stretches = &result.report.parts[0].stretches;
        let gone: Vec<_> = stretches.iter().filter(|stretch| stretch.change == Change::LeftOut).collect();
        let is_left = |line: &Range<usize>| {
            let at = gone.partition_point(|stretch| stretch.range.end <= line.start);
            gone.get(at).is_none_or(|stretch| stretch.range.start >= line.end)
        };
        lines.iter().map(is_left).collect()
    }
}

/// Returns the logs with which filters and failure patterns were developed.
pub fn known() -> Vec<Log> {
    from_templates(include_str!("recall/known.toml"), 1, 1)
}

/// Returns the logs that were not used for development.
pub fn held_out() -> Vec<Log> {
    from_templates(include_str!("recall/held-out.toml"), 3, 2)
}

/// Returns logs of tools for which there is no filter and no failure pattern: those for development, or those that are held out.
pub fn unknown(held_out: bool) -> Vec<Log> {
    let file: File = toml::from_str(include_str!("recall/unknown.toml")).expect("the templates are right");
    let log: Vec<Template> = file.log.into_iter().filter(|template| template.held_out == held_out).collect();
    written(&log, 5, 2)
}

#[derive(Deserialize)]
struct File {
    log: Vec<Template>,
}

/// `docs/recall.md` describes the keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Template {
    tool: String,
    command: String,
    #[serde(default)]
    held_out: bool,
    #[serde(default)]
    stamp: bool,
    #[serde(default)]
    head: Vec<String>,
    noise: Vec<String>,
    #[serde(default)]
    decoys: Vec<String>,
    cause: Vec<String>,
    #[serde(default)]
    after: Vec<String>,
    tail: String,
}

/// Returns `copies` logs of each template.
fn from_templates(text: &str, seed: u64, copies: usize) -> Vec<Log> {
    let file: File = toml::from_str(text).expect("the templates are right");
    written(&file.log, seed, copies)
}

fn written(templates: &[Template], seed: u64, copies: usize) -> Vec<Log> {
    let mut random = Random::new(seed);
    let logs = templates.iter().flat_map(|template| (1..=copies).map(move |copy| (template, copy)));
    logs.map(|(template, copy)| Writer::new(&mut random).log(template, copy)).collect()
}

struct Writer<'a> {
    random: &'a mut Random,
    text: String,
    lines: usize,
    marked: Vec<usize>,
    others: Vec<usize>,
    stamp: bool,
    /// The time in the log, in milliseconds from its beginning.
    clock: usize,
}

impl<'a> Writer<'a> {
    fn new(random: &'a mut Random) -> Writer<'a> {
        Writer { random, text: String::new(), lines: 0, marked: Vec::new(), others: Vec::new(), stamp: false, clock: 0 }
    }

    fn log(mut self, template: &Template, copy: usize) -> Log {
        self.stamp = template.stamp;
        template.head.iter().for_each(|line| self.lines(line));
        let before = 25_000 + self.random.below(130_000);
        // Most failures are near the end of a log, but some are far from it.
        let after = match self.random.below(20) {
            0..11 => self.random.below(8_000),
            11..16 => 8_000 + self.random.below(12_000),
            16..19 => 20_000 + self.random.below(20_000),
            _ => 40_000,
        };
        self.noise(&template.noise, &template.decoys, before);
        for (index, cause) in template.cause.iter().enumerate() {
            if index > 0 {
                self.noise(&template.noise, &template.decoys, 2_000);
            }
            self.block(cause);
        }
        if template.after.is_empty() {
            self.noise(&template.noise, &template.decoys, after);
        } else {
            self.noise(&template.after, &[], after);
        }
        self.block(&template.tail);
        let name = format!("{} {copy}", template.tool);
        let Writer { text, marked, others, .. } = self;
        Log { name, command: template.command.clone(), text: text.into_bytes(), marked, others }
    }

    fn noise(&mut self, lines: &[String], decoys: &[String], bytes: usize) {
        let end = self.text.len() + bytes;
        while self.text.len() < end {
            let from = if !decoys.is_empty() && self.random.below(50) == 0 { decoys } else { lines };
            let at = self.random.below(from.len());
            self.lines(&from[at]);
        }
    }

    fn lines(&mut self, lines: &str) {
        lines.split('\n').for_each(|line| self.line(line));
    }

    /// A line begins with `>` if it is marked, with `!` if it is another diagnostic, and else with a space.
    fn block(&mut self, block: &str) {
        for line in block.lines() {
            if line.starts_with('>') {
                self.marked.push(self.lines);
            } else if line.starts_with('!') {
                self.others.push(self.lines);
            }
            self.line(line.get(1..).unwrap_or_default());
        }
    }

    fn line(&mut self, mut line: &str) {
        if self.stamp {
            self.clock += self.random.below(120);
            let (second, rest) = (self.clock / 1000, self.random.below(10_000_000));
            self.text += &format!("2024-11-02T10:{:02}:{:02}.{rest:07}Z ", second / 60 % 60, second % 60);
        }
        while let Some(at) = line.find('{') {
            self.text += &line[..at];
            match line.get(at..at + 3) {
                Some("{w}") => self.text += *self.random.pick(&WORDS),
                Some("{n}") => self.text += &self.random.below(100).to_string(),
                Some("{h}") => self.text += &format!("{:08x}", self.random.next() as u32),
                _ => {
                    self.text.push('{');
                    line = &line[at + 1..];
                    continue;
                }
            }
            line = &line[at + 3..];
        }
        self.text += line;
        self.text.push('\n');
        self.lines += 1;
    }
}

const WORDS: [&str; 40] = [
    "anchor", "basket", "bridge", "candle", "cipher", "cursor", "delta", "engine", "fabric", "filter", "garden",
    "handle", "hollow", "index", "island", "kernel", "ladder", "lantern", "layer", "ledger", "marker", "meadow",
    "mirror", "module", "needle", "orbit", "packet", "parcel", "pillar", "quarry", "record", "ribbon", "router",
    "saddle", "signal", "spiral", "timber", "tunnel", "vector", "window",
];
