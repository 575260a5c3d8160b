//! The options of scanners and rewriters: names and values as texts, so that errors are reported in one place.

use std::sync::Arc;

use aside::call_writer::{self, Tools};
use aside::{Budget, BudgetScope, BudgetUnit, ScannerOptions, Start, sse};

use crate::failure::Failure;
use crate::host::Arguments;
use crate::words;

/// The limit of whole thoughts if the host sets none: 1 MiB.
const COLLECTED: usize = 1 << 20;

/// The options of a scanner, as the crate has them; `writing` is there if calls are wanted.
pub struct OfScanner {
    pub options: ScannerOptions,
    pub writing: Option<call_writer::Options>,
}

pub fn scanner(arguments: &mut Arguments) -> Result<OfScanner, Failure> {
    let (mut options, mut of_calls, mut tools) =
        (ScannerOptions::new(), call_writer::Options::new(), OfTools::default());
    let (mut calls, mut budget) = (None, None);
    let (mut unit, mut scope) = (BudgetUnit::Characters, BudgetScope::Stream);
    while let Some(name) = arguments.next_text() {
        let (name, value) = (&*name, &*arguments.text());
        match name {
            "start" => options = options.start(start(value)?),
            "budget" => budget = Some(number(name, value)?),
            "budgetUnit" => unit = words::find(name, value, words::BUDGET_UNIT)?,
            "budgetScope" => scope = words::find(name, value, words::BUDGET_SCOPE)?,
            "collect" => {
                options = options.collect(match value {
                    "true" => Some(COLLECTED),
                    "false" => None,
                    _ => Some(size(name, value)?),
                });
            }
            "calls" => calls = Some(flag(name, value)?),
            "callsInThinking" => {
                options = options.calls_in_thinking(words::find(name, value, words::CALLS_IN_THINKING)?);
            }
            "strayClose" => options = options.stray_close(words::find(name, value, words::STRAY_CLOSE)?),
            "leadingTags" => options = options.leading_tags(words::find(name, value, words::LEADING_TAGS)?),
            _ if tools.take(name, value)? => {}
            _ => of_calls = writing(of_calls, name, value, "a scanner")?,
        }
    }
    if let Some(budget) = budget {
        options = options.budget(Budget::new(budget, unit, scope));
    }
    let tools = tools.read()?;
    let calls = calls.unwrap_or(tools.is_some());
    Ok(OfScanner { options: options.calls(calls), writing: calls.then(|| of_calls.tools(tools)) })
}

/// Returns the options of a writer of calls.
pub fn writer(arguments: &mut Arguments) -> Result<call_writer::Options, Failure> {
    let (mut options, mut tools) = (call_writer::Options::new(), OfTools::default());
    while let Some(name) = arguments.next_text() {
        let (name, value) = (&*name, arguments.text());
        match name {
            "idPrefix" => options = options.id_prefix(value),
            "maxHeld" => options = options.max_held(size(name, &value)?),
            _ if tools.take(name, &value)? => {}
            _ => options = writing(options, name, &value, "a call writer")?,
        }
    }
    Ok(options.tools(tools.read()?))
}

/// Adds an option of those that say how calls are written; an error names the object that does not have it.
fn writing(
    options: call_writer::Options,
    name: &str,
    value: &str,
    what: &str,
) -> Result<call_writer::Options, Failure> {
    Ok(match name {
        "notWhole" => options.not_whole(words::find(name, value, words::NOT_WHOLE)?),
        "unknownTool" => options.unknown_tool(words::find(name, value, words::UNKNOWN_TOOL)?),
        "impliedEnd" => options.implied_end(words::find(name, value, words::IMPLIED_END)?),
        "maxCalls" => options.max_calls(number(name, value)?),
        "repairArguments" => options.repair_arguments(flag(name, value)?),
        _ => return Err(unknown(what, name)),
    })
}

/// Returns the options of a rewriter, and the most bytes of its tools.
pub fn rewriter(arguments: &mut Arguments) -> Result<(sse::Options, Option<usize>), Failure> {
    let (mut options, mut tools) = (sse::Options::new(), OfTools::default());
    let mut calls = None;
    while let Some(name) = arguments.next_text() {
        let (name, value) = (&*name, &*arguments.text());
        match name {
            "start" => options = options.start(start(value)?),
            "field" => options = options.field(words::find(name, value, words::FIELD)?),
            "body" => options = options.body(words::find(name, value, words::BODY)?),
            "formats" => options = options.formats(words::formats(value)?),
            "responsesAs" => options = options.responses_as(words::find(name, value, words::RESPONSES_AS)?),
            "calls" => calls = Some(flag(name, value)?),
            _ if tools.take(name, value)? => {}
            "callsInThinking" => {
                options = options.calls_in_thinking(words::find(name, value, words::CALLS_IN_THINKING)?);
            }
            "repair" => options = options.repair(flag(name, value)?),
            "promoteEmpty" => options = options.promote_empty(flag(name, value)?),
            "merge" => options = options.merge(flag(name, value)?),
            "strayClose" => options = options.stray_close(words::find(name, value, words::STRAY_CLOSE)?),
            "leadingTags" => options = options.leading_tags(words::find(name, value, words::LEADING_TAGS)?),
            "off" => options = options.off(flag(name, value)?),
            "normalise" => options = options.normalise(words::shapes(value)?),
            "thinking" => options = options.thinking(words::find(name, value, words::THINKING)?),
            "label" => options = options.label(flag(name, value)?),
            "comments" => options = options.comments(words::find(name, value, words::COMMENTS)?),
            "maxEvent" => options = options.max_event(size(name, value)?),
            "maxHeld" => options = options.max_held(size(name, value)?),
            "keepGuessed" => options = options.keep_guessed(flag(name, value)?),
            "notWhole" => options = options.not_whole(words::find(name, value, words::NOT_WHOLE)?),
            "unknownTool" => options = options.unknown_tool(words::find(name, value, words::UNKNOWN_TOOL)?),
            "impliedEnd" => options = options.implied_end(words::find(name, value, words::IMPLIED_END)?),
            "maxCalls" => options = options.max_calls(number(name, value)?),
            "repairArguments" => options = options.repair_arguments(flag(name, value)?),
            "startCall" => options = options.start_call(value),
            _ => return Err(unknown("a rewriter", name)),
        }
    }
    let most = tools.most;
    let tools = tools.read()?;
    Ok((options.calls(calls.unwrap_or(tools.is_some())).tools(tools), most))
}

/// The tools of a request, before they are read.
#[derive(Default)]
struct OfTools {
    json: Option<String>,
    most: Option<usize>,
}

impl OfTools {
    /// Takes an option, and returns whether it is about tools.
    fn take(&mut self, name: &str, value: &str) -> Result<bool, Failure> {
        match name {
            "tools" => self.json = Some(value.to_owned()),
            "maxTools" => self.most = Some(size(name, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn read(&self) -> Result<Option<Arc<Tools>>, Failure> {
        self.json.as_deref().map(|json| tools(json, self.most)).transpose()
    }
}

pub fn tools(json: &str, most: Option<usize>) -> Result<Arc<Tools>, Failure> {
    Tools::read_up_to(json, most).map(Arc::new).map_err(Failure::value)
}

/// Returns the start of this name.
pub fn start(name: &str) -> Result<Start, Failure> {
    name.parse().map_err(|error| Failure::value(format!("start: {error}")))
}

fn unknown(what: &str, name: &str) -> Failure {
    Failure::value(format!("{what} has no option {name:?}"))
}

fn flag(option: &str, value: &str) -> Result<bool, Failure> {
    words::find(option, value, &[("true", true), ("false", false)])
}

fn number(option: &str, value: &str) -> Result<u64, Failure> {
    value.parse().map_err(|_| Failure::value(format!("{option}: {value:?} is not a whole number from 0 on")))
}

pub fn size(option: &str, value: &str) -> Result<usize, Failure> {
    number(option, value).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}
