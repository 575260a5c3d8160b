//! The rewriter: the bytes of a server's answer in, the same bytes out with its text split into fields.

use aside::sse::Options;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::host::Host;
use crate::options::{OfTools, WithTools, flag, number, size, start, tools, unknown};
use crate::words;

pub fn new(host: &mut Host, dialect: u32) -> Result<i32, Failure> {
    let (options, max_tools) = options(&mut host.arguments())?;
    let inner = aside::sse::Rewriter::new(host.objects.dialects.get(dialect)?, &options)?;
    Ok(host.objects.rewriters.insert(WithTools { inner, max_tools }))
}

/// Returns the options of a rewriter, and the maximum length of its tools.
fn options(arguments: &mut Arguments) -> Result<(Options, Option<usize>), Failure> {
    let (mut options, mut tools) = (Options::new(), OfTools::default());
    let mut calls = None;
    while let Some(name) = arguments.next_text() {
        let (name, value) = (&*name, &*arguments.text());
        match name {
            "calls" => calls = Some(flag(name, value)?),
            _ if tools.take(name, value)? => {}
            // Generated from src/ffi by tests/header: do not edit.
            "start" => options = options.start(start(value)?),
            "strayClose" => options = options.stray_close(words::find(name, value)?),
            "callsInThinking" => options = options.calls_in_thinking(words::find(name, value)?),
            "leadingTags" => options = options.leading_tags(words::find(name, value)?),
            "thinking" => options = options.thinking(words::find(name, value)?),
            "notWhole" => options = options.not_whole(words::find(name, value)?),
            "unknownTool" => options = options.unknown_tool(words::find(name, value)?),
            "impliedEnd" => options = options.implied_end(words::find(name, value)?),
            "startCall" => options = options.start_call(value),
            "maxHeld" => options = options.max_held(size(name, value)?),
            "maxCalls" => options = options.max_calls(number(name, value)?),
            "repairArguments" => options = options.repair_arguments(flag(name, value)?),
            "promoteEmpty" => options = options.promote_empty(flag(name, value)?),
            "keepGuessed" => options = options.keep_guessed(flag(name, value)?),
            "field" => options = options.field(words::find(name, value)?),
            "body" => options = options.body(words::find(name, value)?),
            "off" => options = options.off(flag(name, value)?),
            "maxEvent" => options = options.max_event(size(name, value)?),
            "formats" => options = options.formats(words::formats(value)?),
            "responsesAs" => options = options.responses_as(words::find(name, value)?),
            "repair" => options = options.repair(flag(name, value)?),
            "merge" => options = options.merge(flag(name, value)?),
            "normalise" => options = options.normalise(words::shapes(value)?),
            "label" => options = options.label(flag(name, value)?),
            "comments" => options = options.comments(words::find(name, value)?),
            // End of the generated part.
            _ => return Err(unknown("a rewriter", name)),
        }
    }
    let most = tools.most;
    let tools = tools.read()?;
    Ok((options.calls(calls.unwrap_or(tools.is_some())).tools(tools), most))
}

/// Feeds the bytes in the window. The output's bytes are to be forwarded.
pub fn feed(host: &mut Host, rewriter: u32, len: u32) -> Result<i32, Failure> {
    let Host { window, output, objects, .. } = host;
    objects.rewriters.get(rewriter)?.inner.feed(&window[..len as usize], &mut output.bytes)?;
    Ok(0)
}

pub fn finish(host: &mut Host, rewriter: u32) -> Result<i32, Failure> {
    let Host { output, objects, .. } = host;
    objects.rewriters.get(rewriter)?.inner.finish(&mut output.bytes)?;
    Ok(0)
}

pub fn reset(host: &mut Host, rewriter: u32) -> Result<i32, Failure> {
    host.objects.rewriters.get(rewriter)?.inner.reset();
    Ok(0)
}

/// Reads the next answer with a different dialect, or with the rewriter's own if `dialect` is below 0. The argument, if there is
/// one, is the start.
pub fn use_dialect(host: &mut Host, rewriter: u32, dialect: i32) -> Result<i32, Failure> {
    let from = host.arguments().next_text().map(|name| start(&name)).transpose()?;
    let objects = &mut host.objects;
    let dialect = u32::try_from(dialect).ok().map(|dialect| objects.dialects.get(dialect).cloned()).transpose()?;
    objects.rewriters.get(rewriter)?.inner.use_dialect(dialect.as_ref(), from)?;
    Ok(0)
}

/// Sets the tools of the next answer. Without an argument, the tools are not known.
pub fn use_tools(host: &mut Host, rewriter: u32) -> Result<i32, Failure> {
    let json = host.arguments().next_text();
    let rewriter = host.objects.rewriters.get(rewriter)?;
    let tools = json.map(|json| tools(&json, rewriter.max_tools)).transpose()?;
    rewriter.inner.use_tools(tools)?;
    Ok(0)
}

/// Starts the next answer where a prompt ends, and writes the span that is open there.
pub fn start_from_prompt(host: &mut Host, rewriter: u32) -> Result<i32, Failure> {
    let tail = host.arguments().bytes();
    let start = host.objects.rewriters.get(rewriter)?.inner.start_from_prompt(tail)?;
    host.output.text(start.as_str());
    Ok(0)
}

pub fn stats(host: &mut Host, rewriter: u32) -> Result<i32, Failure> {
    let stats = host.objects.rewriters.get(rewriter)?.inner.stats();
    stats.counts().into_iter().for_each(|(_, count)| host.output.long(count));
    Ok(0)
}
