//! `aside hook`: shortens the results of tools for agents that let a program change a result. The agent runs the program after
//! each tool, writes an event to its standard input as JSON, and reads its answer as JSON. With some options, the program changes
//! the agent's settings or shows statistics, and reads no event.

mod event;
mod halves;
mod install;
mod json_edit;
mod line;
mod stats;
mod wrap;

use std::io::{self, Read};
use std::process::ExitCode;

use aside::compress::{BudgetError, Compressor, Input, Invocation, Outcome, Part, Registry, estimated_tokens};
use aside::store::Store;
use clap::Args;
use serde_json::Value;

use crate::output::{note, write_raw};
use crate::size;
use crate::state::{Bounds, Count};
use crate::stop::{Stop, reason};
use event::{Event, LONGEST, Results};
use halves::Halves;

/// Makes the result of an agent's tool shorter, as a hook that the agent runs
///
/// Reads an event from standard input: PostToolUse or PreToolUse of Claude Code, AfterTool or BeforeTool of Gemini CLI. Writes the event's answer, or nothing if the result stays unchanged. Errors exit 1, since agents show their model what a hook that exits 2 has written.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    settings: Settings,

    /// Writes the hook into an agent's settings; shows the difference first
    #[arg(long, value_name = "AGENT", value_enum, conflicts_with_all = ["remove", "stats"])]
    install: Option<install::Agent>,

    /// Removes the hook from an agent's settings; shows the difference first
    #[arg(long, value_name = "AGENT", value_enum, conflicts_with = "stats")]
    remove: Option<install::Agent>,

    /// Changes the settings of the project in this folder, not those of the user
    #[arg(long)]
    project: bool,

    /// Changes the settings without asking
    #[arg(long)]
    yes: bool,

    /// Shows what the hook has done, by tool: results, bytes before and after, whole texts asked for
    #[arg(long)]
    stats: bool,
}

/// The options of the hook itself, which `--install` writes into the agent's settings.
#[derive(Args)]
struct Settings {
    /// At most N bytes of a result go to the model: 1024, 10k, 1m; without any budget, 10k
    #[arg(long, value_name = "N", value_parser = size::parse)]
    budget: Option<usize>,

    /// At most N tokens of a result go to the model, by an estimate: 2500, 10k (thousands). Of two budgets, both hold
    #[arg(long, value_name = "N", value_parser = size::parse_count)]
    budget_tokens: Option<usize>,

    /// Keeps no whole texts; otherwise, those of shortened results are kept on disk for `aside recall`
    #[arg(long)]
    no_store: bool,

    #[command(flatten)]
    bounds: Bounds,

    /// Proposes `aside squeeze` around these commands before they run, such as 'cargo,npm test'. Without COMMANDS, build tools and test runners
    #[arg(long, value_name = "COMMANDS", num_args = 0..=1, require_equals = true, value_delimiter = ',', default_missing_values = wrap::COMMANDS)]
    wrap: Option<Vec<String>>,
}

impl Settings {
    /// Returns the options that set the budgets.
    fn budgets(&self) -> Vec<String> {
        let budgets = [("--budget", self.budget), ("--budget-tokens", self.budget_tokens)];
        budgets.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?.to_string()])).flatten().collect()
    }

    /// Returns the limit in bytes, if there is one.
    fn bytes(&self) -> Option<usize> {
        self.budget.or(self.budget_tokens.is_none().then_some(BUDGET))
    }

    /// Returns whether the texts together exceed a budget.
    fn are_exceeded<'a>(&self, texts: impl Iterator<Item = &'a String>) -> bool {
        let (mut bytes, mut tokens) = (0, 0);
        for text in texts {
            bytes += text.len();
            tokens += self.budget_tokens.map_or(0, |_| estimated_tokens(text.as_bytes()));
        }
        self.bytes().is_some_and(|most| bytes > most) || self.budget_tokens.is_some_and(|most| tokens > most)
    }
}

/// The longest text that is processed as a whole. A longer text is processed window by window.
const MEMORY: usize = 16 << 20;

/// The default budget in bytes.
const BUDGET: usize = 10 << 10;

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    // Wrong options are refused here, so that `--install` does not write them either.
    let compressor = compressor(&arguments.settings)?;
    if let Some(agent) = arguments.install {
        return install::install(agent, arguments);
    }
    if let Some(agent) = arguments.remove {
        return install::remove(agent, arguments);
    }
    if arguments.stats {
        return stats::show();
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| Stop::io("standard input", &error))?;
    let Some((text, halves)) = Halves::hide(text.trim_start_matches('\u{feff}')) else { return Ok(ExitCode::SUCCESS) };
    let answer = match Event::read(&text)? {
        Event::Before(event) => wrap::propose(&event, &arguments.settings)?,
        Event::After(results) => shorter(&compressor, &arguments.settings, &halves, results),
    };
    if let Some(answer) = answer {
        write_raw(halves.show(answer.to_string()).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compressor(settings: &Settings) -> Result<Compressor, Stop> {
    let usage = |error: BudgetError| Stop::Usage(error.to_string());
    let mut compressor = Compressor::new(&Registry::new()).memory(MEMORY);
    if let Some(tokens) = settings.budget_tokens {
        compressor = compressor.budget_tokens(tokens).map_err(usage)?;
    }
    if let Some(bytes) = settings.bytes() {
        compressor = compressor.budget(bytes).map_err(usage)?;
    }
    Ok(if settings.no_store { compressor } else { compressor.number_lines() })
}

/// Returns the answer to an event after a tool, if a text of its result becomes shorter.
fn shorter(compressor: &Compressor, settings: &Settings, halves: &Halves, mut results: Results) -> Option<Value> {
    let tool = results.tool.clone();
    if !results.is_known {
        Count::Result { tool, bytes: None, ids: String::new() }.add();
        return None;
    }
    let input = Input::from_json(&results.input).ok()?;
    let compress = |texts: &[String]| -> Vec<Option<String>> {
        let parts: Vec<Part> = texts.iter().map(|text| Part::Text(text.as_bytes())).collect();
        let outcomes = compressor.compress(&Invocation::new(&tool, &input), &parts).parts.into_iter();
        let short = |outcome| match outcome {
            Outcome::Text(short) => Some(String::from_utf8_lossy(&short).into_owned()),
            _ => None,
        };
        outcomes.map(short).collect()
    };
    let mut texts = results.texts();
    let length = |texts: &[String]| texts.iter().map(String::len).sum();
    let before = length(&texts);
    let mut shortened = compress(&texts);
    // Each text may have at least 1,024 bytes, so several texts together may exceed the budget. They are then shortened as one
    // text.
    let all = texts.iter().zip(&shortened).map(|(text, short)| short.as_ref().unwrap_or(text));
    if texts.len() > 1 && settings.are_exceeded(all) {
        texts = vec![joined(&texts)];
        shortened = compress(&texts);
    }
    let mut keeper = Keeper { settings, halves, store: None, ids: Vec::new() };
    let mut is_shorter = false;
    for (text, short) in texts.iter_mut().zip(shortened) {
        if let Some(short) = short {
            *text = keeper.keep(text, short);
            is_shorter = true;
        }
    }
    let after = if is_shorter { length(&texts) } else { before };
    Count::Result { tool, bytes: Some((before, after)), ids: keeper.ids.join(",") }.add();
    is_shorter.then(|| results.answer(texts))
}

/// Joins texts; each begins on a new line.
fn joined(texts: &[String]) -> String {
    let mut all = String::new();
    for text in texts.iter().filter(|text| !text.is_empty()) {
        if !all.is_empty() && !all.ends_with('\n') {
            all.push('\n');
        }
        all += text;
    }
    all
}

/// Stores the whole texts of a result.
struct Keeper<'a> {
    settings: &'a Settings,
    halves: &'a Halves,
    /// The store: `None` before it is opened, `Some(None)` after it has failed.
    store: Option<Option<Store>>,
    ids: Vec<String>,
}

impl Keeper<'_> {
    /// Stores a whole text. Returns the shortened text, in which a line with the text's id replaces the banner. If there is no
    /// banner, only control characters were removed, and the text is not stored. If the store fails, that is reported once, and
    /// the banner stays.
    fn keep(&mut self, text: &str, short: String) -> String {
        let has_banner = short.starts_with("[Output compressed by ");
        let Some((_, rest)) = short.split_once('\n').filter(|_| has_banner && !self.settings.no_store) else {
            return short;
        };
        if text.len() > self.settings.bounds.store_size.min(LONGEST) {
            note("the whole text is not kept: it is longer than the store may be");
            return short;
        }
        let open = || self.settings.bounds.open(None).map_err(not_kept).ok();
        let store = self.store.get_or_insert_with(open);
        let Some(id) = store.as_ref().and_then(|store| store.put(&self.halves.bytes(text)).map_err(not_kept).ok())
        else {
            *store = None;
            return short;
        };
        let text = format!("{}{rest}", head(text.len(), rest.len(), &id));
        self.ids.push(id);
        text
    }
}

fn not_kept(error: io::Error) {
    note(&format!("the whole text is not kept: the store: {}", reason(&error)));
}

/// The beginning of the line with the id of a whole text.
const HEAD: &str = "[Shortened by aside: ";

/// Returns the line with the id. Its second number is the length of the text that the model reads, this line included.
fn head(before: usize, rest: usize, id: &str) -> String {
    let line = |after: usize| format!("{HEAD}{before} → {after} bytes. Whole text: aside recall {id} LINES]\n");
    // The number in the line includes the line's own length, so it is found by trying.
    let mut after = rest + line(rest).len();
    while rest + line(after).len() != after {
        after = rest + line(after).len();
    }
    line(after)
}
