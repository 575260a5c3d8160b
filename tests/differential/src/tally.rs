//! Counts how often each listed situation occurred, because a run in which one never occurred must fail.

use crate::case::{Call, Case, Input, Setup, Stop};
use crate::seen::{Seen, What};
use std::collections::BTreeMap;

const KINDS: [&str; 58] = [
    "streams",
    "streams after another one of the scanner",
    "dialects made at random",
    "dialects refused",
    "starts as the dialect says",
    "starts in content",
    "starts in thinking",
    "starts in narration",
    "starts in tool",
    "starts in header",
    "stray closers wanted as text",
    "budgets of bytes",
    "budgets of characters",
    "budgets of spans",
    "budgets of streams",
    "scanners that collect thoughts",
    "calls",
    "bytes fed",
    "bytes fed that are no UTF-8",
    "bytes held after a call",
    "feeds",
    "feeds of nothing",
    "feeds of tokens",
    "feeds without tokens after such",
    "feeds of what a stopped call left",
    "feeds, pulled to the end",
    "feeds stopped once",
    "feeds stopped again and again",
    "tokens",
    "special tokens",
    "tokens counted",
    "flushes",
    "flushes stopped",
    "flushes with text",
    "closings by force",
    "closings by force stopped",
    "finishes",
    "finishes stopped",
    "resets",
    "clones",
    "calls of clones",
    "prompts",
    "prompts that end in a span or header",
    "events",
    "opens",
    "attributes",
    "texts",
    "framings",
    "closes by marker",
    "closes implied",
    "closes at the end",
    "closes forced",
    "reclassifications",
    "budgets exceeded",
    "thoughts",
    "thoughts truncated",
    "thoughts with a type",
    "thoughts lost",
];
const ERRORS: [&str; 4] = ["FinishPending", "NoSuchStart", "StreamBegun", "TokenLengths"];

pub struct Tally {
    kinds: BTreeMap<&'static str, u64>,
    /// The number of streams of each dialect that has a file.
    dialects: BTreeMap<String, u64>,
}

impl Tally {
    pub fn new(dialects: impl Iterator<Item = String>) -> Tally {
        let kinds = KINDS.iter().chain(&ERRORS).map(|&kind| (kind, 0)).collect();
        Tally { kinds, dialects: dialects.map(|name| (name, 0)).collect() }
    }

    pub fn add(&mut self, kind: &'static str, more: u64) {
        *self.kinds.get_mut(kind).unwrap_or_else(|| panic!("{kind} is no kind")) += more;
    }

    fn one_if(&mut self, kind: &'static str, is_so: bool) {
        self.add(kind, is_so.into());
    }

    pub fn and(mut self, other: Tally) -> Tally {
        for (kind, more) in other.kinds {
            self.add(kind, more);
        }
        for (name, more) in other.dialects {
            *self.dialects.entry(name).or_default() += more;
        }
        self
    }

    /// Prints the counts. Returns false if one of them is 0.
    pub fn print(&self) -> bool {
        for (kind, count) in &self.kinds {
            println!("{count:>12} {kind}");
        }
        println!("{:>12} dialects that have a file", self.dialects.len());
        let kinds = self.kinds.iter().filter(|(_, count)| **count == 0).map(|(kind, _)| *kind);
        let dialects = self.dialects.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name.as_str());
        let missing: Vec<&str> = kinds.chain(dialects).collect();
        if !missing.is_empty() {
            println!("differential: never came up: {}", missing.join(", "));
        }
        missing.is_empty()
    }

    /// Adds a case and its observations. If its scanner cannot be made, no calls are counted.
    pub fn stream(&mut self, dialect: &str, case: &Case, all: &[Seen]) {
        if let Some(count) = self.dialects.get_mut(dialect) {
            *count += 1;
        }
        self.add("streams", 1);
        self.setup(&case.setup);
        let mut seen = all.iter();
        seen.next().into_iter().for_each(|seen| self.seen(seen));
        let (mut has_tokens, mut is_finished) = (false, false);
        for step in &case.steps {
            // Making a clone has two observations.
            if step.call == Call::Clone {
                seen.next();
            }
            let Some(seen) = seen.next() else { return };
            self.add("calls", 1);
            self.one_if("calls of clones", step.on > 0);
            self.call(&step.call, seen);
            self.seen(seen);
            match &step.call {
                Call::Feed(Input { bytes, tokens }, _) if !bytes.0.is_empty() => {
                    self.one_if("feeds without tokens after such", has_tokens && tokens.is_none());
                    self.one_if("streams after another one of the scanner", is_finished);
                    has_tokens |= tokens.is_some();
                    is_finished = false;
                }
                Call::Finish(_) | Call::Reset => (has_tokens, is_finished) = (false, true),
                _ => {}
            }
        }
    }

    fn setup(&mut self, setup: &Setup) {
        self.add(
            match setup.start {
                None => "starts as the dialect says",
                Some("content") => "starts in content",
                Some("thinking") => "starts in thinking",
                Some("narration") => "starts in narration",
                Some("tool") => "starts in tool",
                Some(_) => "starts in header",
            },
            1,
        );
        self.one_if("stray closers wanted as text", setup.keeps_stray);
        self.one_if("scanners that collect thoughts", setup.collect.is_some());
        if let Some(budget) = setup.budget {
            self.add(if budget.in_characters { "budgets of characters" } else { "budgets of bytes" }, 1);
            self.add(if budget.of_stream { "budgets of streams" } else { "budgets of spans" }, 1);
        }
    }

    fn call(&mut self, call: &Call, seen: &Seen) {
        let is_stopped = seen.stops > 0;
        match call {
            Call::Feed(Input { bytes, tokens }, stop) => {
                self.add("feeds", 1);
                self.one_if("feeds of nothing", bytes.0.is_empty());
                self.add("bytes fed", bytes.0.len() as u64);
                let broken = if std::str::from_utf8(&bytes.0).is_err() { bytes.0.len() } else { 0 };
                self.add("bytes fed that are no UTF-8", broken as u64);
                self.one_if("feeds, pulled to the end", matches!(stop, Stop::AfterMarks(_)) && !is_stopped);
                self.one_if("feeds stopped once", is_stopped);
                self.one_if("feeds stopped again and again", stop.goes_on() && !seen.events.is_empty());
                if let Some(tokens) = tokens {
                    self.add("feeds of tokens", 1);
                    self.add("tokens", tokens.len() as u64);
                    self.add("special tokens", tokens.iter().filter(|(_, special)| *special).count() as u64);
                }
            }
            Call::Rest(_) => self.one_if("feeds of what a stopped call left", !seen.events.is_empty()),
            Call::Flush(_) => {
                self.add("flushes", 1);
                self.one_if("flushes stopped", is_stopped);
                self.one_if("flushes with text", !seen.events.is_empty());
            }
            Call::Force(_) => {
                self.add("closings by force", 1);
                self.one_if("closings by force stopped", is_stopped);
            }
            Call::Finish(_) => {
                self.add("finishes", 1);
                self.one_if("finishes stopped", is_stopped);
                self.add("tokens counted", seen.counts.iter().map(|[.., tokens]| tokens).sum());
                self.add("thoughts lost", seen.lost_thoughts);
            }
            Call::Reset => self.add("resets", 1),
            Call::Clone => self.add("clones", 1),
            Call::TakeThoughts(_) => self.add("thoughts lost", seen.lost_thoughts),
            Call::Prompt(_) => {
                self.add("prompts", 1);
                self.one_if("prompts that end in a span or header", seen.start.is_some_and(|start| start != "content"));
            }
        }
    }

    fn seen(&mut self, seen: &Seen) {
        if let Some(error) = &seen.error {
            let kind = ERRORS.into_iter().find(|kind| error.starts_with(kind));
            self.add(kind.unwrap_or_else(|| panic!("an error that no call should have: {error}")), 1);
        }
        self.add("bytes held after a call", seen.held.0.len() as u64);
        self.add("events", seen.events.len() as u64);
        for event in &seen.events {
            let kind = match event.what {
                What::Open { .. } => "opens",
                What::Attribute { .. } => "attributes",
                What::Text => "texts",
                What::Framing => "framings",
                What::Close("marker") => "closes by marker",
                What::Close("implied") => "closes implied",
                What::Close("forced") => "closes forced",
                What::Close(_) => "closes at the end",
                What::Reclassify => "reclassifications",
                What::Budget => "budgets exceeded",
            };
            self.add(kind, 1);
        }
        for thought in &seen.thoughts {
            self.add("thoughts", 1);
            self.one_if("thoughts truncated", thought.truncated);
            self.one_if("thoughts with a type", thought.thought_type.is_some());
        }
    }
}
