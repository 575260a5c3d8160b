//! Tool calls of the events that a host has kept: their names, and arguments as JSON.

use aside::call_writer::CallWriter;
use aside::{Cause, Event, Kind};

use crate::failure::Failure;
use crate::host::Host;
use crate::{options, scanners};

pub struct Writer {
    inner: CallWriter,
}

/// The numbers of an event, as `scanners` writes them.
pub struct Numbers {
    pub kind: u32,
    pub cause: u32,
    pub rule: u32,
    pub tag: u32,
    pub call: u32,
}

pub fn new(host: &mut Host, dialect: u32) -> Result<i32, Failure> {
    let options = options::writer(&mut host.arguments())?;
    let inner = CallWriter::new(host.objects.dialects.get(dialect)?, options);
    Ok(host.objects.writers.insert(Writer { inner }))
}

/// Feeds an event of the channel of tools, and writes the deltas, each with the number of its call before it.
pub fn feed(host: &mut Host, writer: u32, numbers: &Numbers) -> Result<i32, Failure> {
    let bytes = host.arguments().bytes();
    let Numbers { rule, tag, call, .. } = *numbers;
    let kind = match numbers.kind {
        3 => Kind::Framing,
        7 => Kind::Call { rule, table: tag, index: u64::from(call) },
        8 => Kind::CallName(None),
        9 => Kind::CallId,
        10 => Kind::CallKey,
        11 => Kind::CallType,
        12 => Kind::CallValue,
        13 => Kind::CallValueEnd { is_repaired: tag == 1 },
        14 => Kind::CallEnd { index: u64::from(call), cause: cause(numbers.cause)?, is_repaired: tag == 1 },
        _ => return Ok(0),
    };
    let event = Event::of_call(kind, &bytes);
    let Host { output, objects, .. } = host;
    let mut count = 0;
    output.number(0);
    objects.writers.get(writer)?.inner.event(&event, |delta| {
        count += 1;
        output.long(delta.call);
        scanners::write_delta(output, &delta);
    })?;
    output.set(0, count);
    Ok(0)
}

fn cause(number: u32) -> Result<Cause, Failure> {
    let causes = [Cause::Marker, Cause::Implied, Cause::EndOfStream, Cause::Forced, Cause::Malformed, Cause::Ended];
    causes.get(number as usize).copied().ok_or_else(|| Failure::value("the event has an unknown cause"))
}

pub fn reset(host: &mut Host, writer: u32) -> Result<i32, Failure> {
    host.objects.writers.get(writer)?.inner.reset();
    Ok(0)
}
