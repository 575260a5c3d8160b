//! The answer: one text of a model, cut anywhere, in; thinking, content and tool calls out.

use aside::answer::{Options, Part};
use aside::{BudgetScope, BudgetUnit, Channel};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::host::Host;
use crate::options::{OfTools, Reading, WithTools, flag, number, size, tools, unknown};
use crate::output::Output;
use crate::scanners;
use crate::words;

const FEED: u32 = 0;
const FLUSH: u32 = 1;

pub fn new(host: &mut Host, dialect: u32) -> Result<i32, Failure> {
    let (options, max_tools) = options(&mut host.arguments())?;
    let inner = aside::answer::Answer::new(host.objects.dialects.get(dialect)?, &options)?;
    Ok(host.objects.answers.insert(WithTools { inner, max_tools }))
}

/// Returns the options of an answer, and the maximum length of the text of its tools. By default, a budget counts the bytes of each
/// span, as in C.
fn options(arguments: &mut Arguments) -> Result<(Options, Option<usize>), Failure> {
    let (mut options, mut tools) = (Options::new(), OfTools::default());
    let mut reading = Reading::new(BudgetUnit::Bytes, BudgetScope::Span);
    while let Some(name) = arguments.next_text() {
        let (name, value) = (&*name, &*arguments.text());
        match name {
            _ if reading.take(name, value)? || tools.take(name, value)? => {}
            // Generated from src/ffi by tests/header: do not edit.
            "thinking" => options = options.thinking(words::find(name, value)?),
            "notWhole" => options = options.not_whole(words::find(name, value)?),
            "unknownTool" => options = options.unknown_tool(words::find(name, value)?),
            "impliedEnd" => options = options.implied_end(words::find(name, value)?),
            "startCall" => options = options.start_call(value),
            "idPrefix" => options = options.id_prefix(value.to_owned()),
            "maxHeld" => options = options.max_held(size(name, value)?),
            "maxCalls" => options = options.max_calls(number(name, value)?),
            "repairArguments" => options = options.repair_arguments(flag(name, value)?),
            "promoteEmpty" => options = options.promote_empty(flag(name, value)?),
            "keepGuessed" => options = options.keep_guessed(flag(name, value)?),
            "mayTakeBack" => options = options.may_take_back(flag(name, value)?),
            "inlineCalls" => options = options.inline_calls(flag(name, value)?),
            // End of the generated part.
            _ => return Err(unknown("an answer", name)),
        }
    }
    let (most, tools) = (tools.most, tools.read()?);
    Ok((options.scanner(reading.options()).tools(tools), most))
}

/// A call of a function of an answer, which may read the text in the window.
type Step<'a> = dyn Fn(&mut aside::answer::Answer, &[u8], &mut dyn FnMut(Part<'_>)) -> Result<(), aside::Error> + 'a;

/// Runs a function of an answer, and writes the number of parts and the parts that it reports.
fn read(host: &mut Host, answer: u32, step: &Step<'_>) -> Result<i32, Failure> {
    let Host { window, output, objects, .. } = host;
    let mut count = 0;
    output.number(0);
    step(&mut objects.answers.get(answer)?.inner, window, &mut |part| {
        count += 1;
        write_part(output, part);
    })?;
    output.set(0, count);
    Ok(0)
}

/// Runs a step, such as feeding the text in the window.
pub fn feed(host: &mut Host, answer: u32, step: u32, len: u32) -> Result<i32, Failure> {
    read(host, answer, &|answer, window, on_part| match step {
        FEED => answer.feed(&window[..len as usize], on_part),
        FLUSH => answer.flush(on_part),
        _ => answer.force_close(on_part),
    })
}

/// Feeds a text with its tokens.
pub fn tokens(host: &mut Host, answer: u32) -> Result<i32, Failure> {
    let (text, tokens) = scanners::text_and_tokens(&mut host.arguments());
    read(host, answer, &|answer, _, on_part| answer.feed_tokens(&text, &tokens, on_part))
}

pub fn finish(host: &mut Host, answer: u32) -> Result<i32, Failure> {
    let reason = words::find("reason", &host.arguments().text())?;
    read(host, answer, &|answer, _, on_part| answer.finish(reason, on_part))
}

/// Writes the numbers of a part, then its text and its id. Values that a kind does not have are 0 or empty.
fn write_part(output: &mut Output, part: Part<'_>) {
    let (kind, numbers, index, text, id) = match part {
        Part::Thinking(text) => (0, [0; 6], 0, text, ""),
        Part::Content(text) => (1, [0; 6], 0, text, ""),
        Part::Call { index, id, is_made, name } => (2, [0, 0, 0, is_made.into(), 0, 0], index, name.as_bytes(), id),
        Part::Arguments { index, json } => (3, [0; 6], index, json.as_bytes(), ""),
        Part::CallEnd { index, is_whole, is_repaired, cause, late_id } => {
            let numbers = [cause as u32, 0, 0, 0, is_whole.into(), is_repaired.into()];
            (4, numbers, index, &b""[..], late_id.unwrap_or_default())
        }
        Part::Moved { from, to } => (5, [0, from as u32, to as u32, 0, 0, 0], 0, &b""[..], ""),
        Part::Budget => (6, [0; 6], 0, &b""[..], ""),
        // The list in `words.js` has no such kind.
        _ => (7, [0; 6], 0, &b""[..], ""),
    };
    output.number(kind);
    output.numbers(&numbers);
    output.long(index);
    output.text(text);
    output.text(id);
}

/// Starts the next text where a prompt ends, and writes the span that is open there.
pub fn start_from_prompt(host: &mut Host, answer: u32) -> Result<i32, Failure> {
    let tail = host.arguments().bytes();
    let start = host.objects.answers.get(answer)?.inner.start_from_prompt(tail)?;
    host.output.text(start.as_str());
    Ok(0)
}

/// Sets the tools of the next text. Without an argument, the tools are not known.
pub fn use_tools(host: &mut Host, answer: u32) -> Result<i32, Failure> {
    let json = host.arguments().next_text();
    let answer = host.objects.answers.get(answer)?;
    let tools = json.map(|json| tools(&json, answer.max_tools)).transpose()?;
    answer.inner.use_tools(tools)?;
    Ok(0)
}

pub fn reset(host: &mut Host, answer: u32) -> Result<i32, Failure> {
    host.objects.answers.get(answer)?.inner.reset();
    Ok(0)
}

/// Returns the number of bytes that are held back.
pub fn held(host: &mut Host, answer: u32) -> Result<i32, Failure> {
    Ok(i32::try_from(host.objects.answers.get(answer)?.inner.held()).unwrap_or(i32::MAX))
}

/// Writes the counts of each channel.
pub fn counts(host: &mut Host, answer: u32) -> Result<i32, Failure> {
    let Host { output, objects, .. } = host;
    let answer = &objects.answers.get(answer)?.inner;
    Channel::ALL.into_iter().for_each(|channel| scanners::write_counts(output, answer.counts(channel)));
    Ok(0)
}
