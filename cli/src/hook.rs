//! `aside hook`: makes a tool's result shorter where an agent lets a program change it. The agent runs it after each tool, writes
//! an event to it as JSON, and reads JSON.

use std::io::{self, Read};
use std::process::ExitCode;

use aside::compress::{BudgetError, Compressor, Input, Invocation, Outcome, Part, Registry};
use clap::Args;
use serde_json::{Value, json};

use crate::output::write_raw;
use crate::size;
use crate::stop::Stop;

/// Makes the result of an agent's tool shorter, as a hook that the agent runs
///
/// Reads an event from standard input: PostToolUse of Claude Code, or AfterTool of Gemini CLI. Writes the event's answer, or nothing if the result stays unchanged.
#[derive(Args)]
pub struct Arguments {
    /// At most N bytes of a result go to the model: 1024, 10k, 1m; without any budget, 10k
    #[arg(long, value_name = "N", value_parser = size::parse)]
    budget: Option<usize>,

    /// At most N tokens of a result go to the model, by an estimate: 2500, 10k (thousands). Of two budgets, both hold
    #[arg(long, value_name = "N", value_parser = size::parse_count)]
    budget_tokens: Option<usize>,
}

/// The budget in bytes if there is none.
const BUDGET: usize = 10 << 10;

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let usage = |error: BudgetError| Stop::Usage(error.to_string());
    let mut compressor = Compressor::new(&Registry::new());
    if let Some(tokens) = arguments.budget_tokens {
        compressor = compressor.budget_tokens(tokens).map_err(usage)?;
    }
    if let Some(bytes) = arguments.budget.or(arguments.budget_tokens.is_none().then_some(BUDGET)) {
        compressor = compressor.budget(bytes).map_err(usage)?;
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| Stop::io("standard input", &error))?;
    let event: Value = serde_json::from_str(&text).map_err(|error| Stop::Failed(format!("the event: {error}")))?;
    if let Some(answer) = answer(&compressor, &event)? {
        write_raw(answer.to_string().as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the answer to an event, if the tool's result becomes shorter.
fn answer(compressor: &Compressor, event: &Value) -> Result<Option<Value>, Stop> {
    let shorter = |text: &Value| shorter(compressor, event, text.as_str()?);
    let response = &event["tool_response"];
    let (field, result) = match event["hook_event_name"].as_str() {
        // The result has the shape of the tool's own.
        Some("PostToolUse") => (
            "updatedToolOutput",
            match response {
                Value::Object(_) => shorter(&response["stdout"]).map(|text| {
                    let mut response = response.clone();
                    response["stdout"] = text.into();
                    response
                }),
                text => shorter(text).map(Value::from),
            },
        ),
        Some("AfterTool") => ("tool_output", shorter(&response["llmContent"]).map(Value::from)),
        name => {
            let what =
                name.map_or("the event has no `hook_event_name`".to_owned(), |name| format!("the event is {name}"));
            return Err(Stop::Failed(format!("{what}: run this for PostToolUse or AfterTool")));
        }
    };
    Ok(result
        .map(|result| json!({ "hookSpecificOutput": { "hookEventName": event["hook_event_name"], field: result } })))
}

fn shorter(compressor: &Compressor, event: &Value, text: &str) -> Option<String> {
    let input = Input::from_json(&event["tool_input"].to_string()).ok()?;
    let tool = event["tool_name"].as_str().unwrap_or_default();
    let result = compressor.compress(&Invocation::new(tool, &input), &[Part::Text(text.as_bytes())]);
    match result.parts.into_iter().next() {
        Some(Outcome::Text(text)) => Some(String::from_utf8_lossy(&text).into_owned()),
        _ => None,
    }
}
