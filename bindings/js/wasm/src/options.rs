//! Options: names and values as texts, so that errors are reported in one place.

use std::sync::Arc;

use aside::answer::Tools;
use aside::{Budget, BudgetScope, BudgetUnit, ScannerOptions, Start};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::words;

/// The limit of whole thoughts if the host sets none: 1 MiB.
const COLLECTED: usize = 1 << 20;

/// Returns the options of a scanner.
pub fn scanner(arguments: &mut Arguments) -> Result<ScannerOptions, Failure> {
    let mut reading = Reading::new(BudgetUnit::Characters, BudgetScope::Stream);
    while let Some(name) = arguments.next_text() {
        let (name, value) = (&*name, &*arguments.text());
        match name {
            "collect" => {
                reading.options = reading.options.collect(match value {
                    "true" => Some(COLLECTED),
                    "false" => None,
                    _ => Some(size(name, value)?),
                });
            }
            "calls" => reading.options = reading.options.calls(flag(name, value)?),
            _ if reading.take(name, value)? => {}
            _ => return Err(unknown("a scanner", name)),
        }
    }
    Ok(reading.options())
}

/// The options of a scanner that an answer has too.
pub struct Reading {
    options: ScannerOptions,
    budget: Option<u64>,
    unit: BudgetUnit,
    scope: BudgetScope,
}

impl Reading {
    /// Returns the default options; the arguments are the defaults for a budget.
    pub fn new(unit: BudgetUnit, scope: BudgetScope) -> Reading {
        Reading { options: ScannerOptions::new(), budget: None, unit, scope }
    }

    /// Reads the option if it has one of these names, and returns whether it has.
    pub fn take(&mut self, name: &str, value: &str) -> Result<bool, Failure> {
        let options = self.options;
        match name {
            "start" => self.options = options.start(start(value)?),
            "budget" => self.budget = Some(number(name, value)?),
            "budgetUnit" => self.unit = words::find(name, value)?,
            "budgetScope" => self.scope = words::find(name, value)?,
            "callsInThinking" => {
                self.options = options.calls_in_thinking(words::find(name, value)?);
            }
            "strayClose" => self.options = options.stray_close(words::find(name, value)?),
            "leadingTags" => self.options = options.leading_tags(words::find(name, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub fn options(&self) -> ScannerOptions {
        self.options.budget(self.budget.map(|limit| Budget::new(limit, self.unit, self.scope)))
    }
}

/// The tools of a request, before they are read.
#[derive(Default)]
pub struct OfTools {
    json: Option<String>,
    pub most: Option<usize>,
}

impl OfTools {
    /// Reads an option if it is about tools, and returns whether it was.
    pub fn take(&mut self, name: &str, value: &str) -> Result<bool, Failure> {
        match name {
            "tools" => self.json = Some(value.to_owned()),
            "maxTools" => self.most = Some(size(name, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub fn read(&self) -> Result<Option<Arc<Tools>>, Failure> {
        self.json.as_deref().map(|json| tools(json, self.most)).transpose()
    }
}

/// An object that reads tools, and their maximum length in bytes.
pub struct WithTools<T> {
    pub inner: T,
    pub max_tools: Option<usize>,
}

pub fn tools(json: &str, most: Option<usize>) -> Result<Arc<Tools>, Failure> {
    Tools::read_up_to(json, most).map_err(Failure::value)
}

/// Returns the start of this name.
pub fn start(name: &str) -> Result<Start, Failure> {
    name.parse().map_err(|error| Failure::value(format!("start: {error}")))
}

pub fn unknown(what: &str, name: &str) -> Failure {
    Failure::value(format!("{what} has no option {name:?}"))
}

pub fn flag(option: &str, value: &str) -> Result<bool, Failure> {
    value.parse().map_err(|_| words::unknown(option, value, &mut ["true", "false"].into_iter()))
}

pub fn number(option: &str, value: &str) -> Result<u64, Failure> {
    value.parse().map_err(|_| Failure::value(format!("{option}: {value:?} is not a whole number from 0 on")))
}

pub fn size(option: &str, value: &str) -> Result<usize, Failure> {
    number(option, value).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}
