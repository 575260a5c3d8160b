//! Shortens tool results: whole results, and output as it is printed. The result of a function is the output's bytes.

use std::sync::Arc;

use aside::compress::{Compressor, Input, Invocation, Outcome, Part, Registry, Report, ToolStream};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::host::Host;
use crate::output::Output;

pub fn new(host: &mut Host) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let (mut registry, mut budget, mut memory, mut switch_off) = (Registry::new(), None, None, None);
    let mut budget_tokens = None;
    while let Some(name) = arguments.next_text() {
        let (name, value) = (&*name, arguments.text());
        match name {
            "budget" => budget = Some(size(name, &value)?),
            "budgetTokens" => budget_tokens = Some(size(name, &value)?),
            "memory" => memory = Some(size(name, &value)?),
            "switchOff" => switch_off = Some(value),
            "filter" => registry.add_toml(&value).map_err(|error| Failure::file(&error))?,
            "minifyJson" => {
                if value == "true" {
                    registry.minify_json();
                }
            }
            _ => return Err(Failure::value(format!("a compressor has no option {name:?}"))),
        }
    }
    let mut compressor = Compressor::new(&registry);
    if let Some(budget) = budget {
        compressor = compressor.budget(budget).map_err(Failure::value)?;
    }
    if let Some(budget) = budget_tokens {
        compressor = compressor.budget_tokens(budget).map_err(Failure::value)?;
    }
    if let Some(memory) = memory {
        compressor = compressor.memory(memory);
    }
    if let Some(sentence) = switch_off {
        compressor = compressor.switch_off(&sentence);
    }
    Ok(host.objects.compressors.insert(Arc::new(compressor)))
}

fn size(option: &str, value: &str) -> Result<usize, Failure> {
    value.parse().map_err(|_| Failure::value(format!("{option}: {value:?} is not a whole number from 0 on")))
}

/// Reads a tool's input: a command line, or JSON.
fn input(arguments: &mut Arguments, is_command: u32) -> Result<Input, Failure> {
    let text = arguments.text();
    if is_command == 1 { Ok(Input::of_command(&text)) } else { Input::from_json(&text).map_err(Failure::value) }
}

pub fn compress(host: &mut Host, compressor: u32, is_command: u32) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let (tool, input, text) = (arguments.text(), input(&mut arguments, is_command)?, arguments.bytes());
    let Host { output, objects, .. } = host;
    let compressor = objects.compressors.get(compressor)?;
    let mut compressed = compressor.compress(&Invocation::new(&tool, &input), &[Part::Text(&text)]);
    let short = match compressed.parts.pop() {
        Some(Outcome::Text(short)) => short.to_vec(),
        _ => text,
    };
    output.text(short);
    write_report(output, &compressed.report);
    Ok(0)
}

pub fn stream(host: &mut Host, compressor: u32, is_command: u32, memory: u32) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let (tool, input) = (arguments.text(), input(&mut arguments, is_command)?);
    let compressor = Arc::clone(host.objects.compressors.get(compressor)?);
    let stream = ToolStream::new(compressor, &tool, input, memory as usize).map_err(Failure::value)?;
    Ok(host.objects.streams.insert(stream))
}

/// Feeds the bytes in the window, and writes the text that is decided.
pub fn feed(host: &mut Host, stream: u32, len: u32) -> Result<i32, Failure> {
    let Host { window, output, objects, .. } = host;
    objects.streams.get(stream)?.feed(&window[..len as usize], |part| output.raw(part));
    Ok(0)
}

pub fn set_exit_code(host: &mut Host, stream: u32, code: i32) -> Result<i32, Failure> {
    host.objects.streams.get(stream)?.set_exit_code(i64::from(code));
    Ok(0)
}

/// Ends a stream and removes it.
pub fn finish(host: &mut Host, stream: u32) -> Result<i32, Failure> {
    let Host { output, objects, .. } = host;
    let stream =
        objects.streams.remove(stream).ok_or_else(|| Failure::value("the stream has ended: make another one"))?;
    let mut text = Vec::new();
    let report = stream.finish(|part| text.extend_from_slice(part));
    output.text(text);
    write_report(output, &report);
    Ok(0)
}

fn write_report(output: &mut Output, report: &Report) {
    output.list(&report.filters);
    [report.before, report.after, report.before_units, report.after_units]
        .into_iter()
        .for_each(|size| output.size(size));
    output.size(report.failed.len());
    for failed in &report.failed {
        output.text(&failed.filter);
        output.text(&failed.reason);
    }
    output.flag(report.cut_protected);
    output.flag(report.unexplained);
}
