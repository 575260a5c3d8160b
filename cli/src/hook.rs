//! `aside hook`: makes a tool's result shorter where an agent lets a program change it. The agent runs it after each tool, writes
//! an event to it as JSON, and reads JSON.

use std::io::{self, Read};
use std::process::ExitCode;

use aside::compress::{Compressor, Input, Invocation, Outcome, Part, Registry};
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
    /// At most N bytes of a result go to the model: 1024, 10k, 1m
    #[arg(long, value_name = "N", value_parser = size::parse, default_value = "10k")]
    budget: usize,
}

pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let compressor =
        Compressor::new(&Registry::new()).budget(arguments.budget).map_err(|error| Stop::Usage(error.to_string()))?;
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
            let name = name.unwrap_or("none");
            return Err(Stop::Failed(format!("the event {name}: run this for PostToolUse or AfterTool")));
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
