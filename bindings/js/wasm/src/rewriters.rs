//! The rewriter: the bytes of a server's answer in, the same bytes out with its text split into fields.

use crate::failure::Failure;
use crate::host::Host;
use crate::options::{self, start, tools};

pub struct Rewriter {
    inner: aside::sse::Rewriter,
    /// The most bytes of tools.
    max_tools: Option<usize>,
}

pub fn new(host: &mut Host, dialect: u32) -> Result<i32, Failure> {
    let (options, max_tools) = options::rewriter(&mut host.arguments())?;
    let inner = aside::sse::Rewriter::new(host.objects.dialects.get(dialect)?, &options)?;
    Ok(host.objects.rewriters.insert(Rewriter { inner, max_tools }))
}

/// Feeds the bytes in the window. The output's bytes are to be sent on.
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

/// Reads the next answer by another dialect, or by the rewriter's own if it is below 0. The argument, if there is one, is the
/// start.
pub fn use_dialect(host: &mut Host, rewriter: u32, dialect: i32) -> Result<i32, Failure> {
    let from = host.arguments().next_text().map(|name| start(&name)).transpose()?;
    let objects = &mut host.objects;
    let dialect = u32::try_from(dialect).ok().map(|dialect| objects.dialects.get(dialect).cloned()).transpose()?;
    objects.rewriters.get(rewriter)?.inner.use_dialect(dialect.as_ref(), from)?;
    Ok(0)
}

/// Sets the tools of the next answer. Without an argument there are none to know.
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
    let counts = [
        stats.events,
        stats.changed,
        stats.added,
        stats.repaired,
        stats.too_long,
        stats.unread,
        stats.unpromoted,
        stats.truncated,
        stats.thinking_bytes,
        stats.content_bytes,
        stats.held,
        stats.split_by_server,
        stats.calls,
    ];
    counts.into_iter().for_each(|count| host.output.long(count));
    host.output.flag(stats.encoded);
    Ok(0)
}
