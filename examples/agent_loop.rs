//! The tool loop of an agent: runs each command that the model asks for, shortens its output under a budget, and returns
//! it to the model. There is no real model: the arguments are the commands that it asks for, in order.
//!
//!     cargo run --release --example agent_loop -- 'ls -lR /usr/lib' 'make -C somewhere'
//!
//! If a command prints the same output again, the model gets only one line. `aside squeeze` does the same as a stream.

use std::io::Read;
use std::process::{Command, ExitCode};
use std::time::SystemTime;
use std::{env, io};

use aside::compress::{Compressor, Input, Invocation, LastRun, Outcome, Part, Registry};

/// The maximum size of a result in bytes.
const BUDGET: usize = 2_000;

fn main() -> ExitCode {
    let mut registry = Registry::new();
    registry.add_cache(Box::new(LastRun::new(1 << 20)));
    let compressor = Compressor::new(&registry).budget(BUDGET).expect("it is large enough");
    for command in env::args().skip(1) {
        match run(&compressor, &command) {
            Ok(text) => println!("$ {command}\n{text}"),
            Err(error) => {
                eprintln!("agent_loop: {command}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Runs a command, and returns the text for the model.
fn run(compressor: &Compressor, command: &str) -> io::Result<String> {
    let (output, code) = output_of(command)?;
    let input = serde_json::json!({ "command": command, "exit_code": code }).to_string();
    let input = Input::from_json(&input).map_err(io::Error::other)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let result = compressor.compress(&Invocation::new("bash", &input).now(now), &[Part::Text(&output)]);
    for failed in &result.report.failed {
        eprintln!("agent_loop: {} was skipped: {}", failed.filter, failed.reason);
    }
    let shown = match &result.parts[0] {
        Outcome::Text(text) => text,
        // The text is not shortened. A result with only one part is never left out.
        Outcome::Same | Outcome::Gone => &output,
    };
    // A message to the model must be UTF-8, but a command may print any bytes.
    let text = String::from_utf8_lossy(shown);
    let ending = code.map_or("killed by a signal".to_owned(), |code| format!("exit {code}"));
    let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let report = &result.report;
    Ok(format!("{text}{line_end}({ending}, {} of {} characters)", report.after_units, report.before_units))
}

/// Returns a command's output, with both streams mixed as in a terminal, and its exit code.
fn output_of(command: &str) -> io::Result<(Vec<u8>, Option<i32>)> {
    let (mut reader, writer) = io::pipe()?;
    // The command object is dropped with its ends of the pipe, so that reading ends when the process ends.
    let mut child = Command::new("sh").args(["-c", command]).stdout(writer.try_clone()?).stderr(writer).spawn()?;
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    Ok((output, child.wait()?.code()))
}
