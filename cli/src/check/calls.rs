//! Reads the calls of an example for `aside check`: the result for a client, and the events of the scanner. Both must not depend
//! on cuts.

use std::{fmt::Write, sync::Arc};

use aside::{
    Channel, Dialect, Event, Kind, Scanner, ScannerOptions, Start,
    call_writer::{self, CallWriter, Tools},
};
use serde::Deserialize;

/// The prefix of the ids that the writer makes, so that these differ from the ids in an example.
const ID_PREFIX: &str = "\0";

/// The kind of an event with its numbers. These are cheaper to compare than the kind itself, whose texts are compared elsewhere.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct What(&'static str, [u64; 3]);

impl What {
    pub const TEXT: What = What("text", [0; 3]);

    pub fn new(kind: &Kind<'_>) -> What {
        let plain = |name| What(name, [0; 3]);
        match *kind {
            Kind::Open { rule, tag } => What("open", [rule.into(), tag.into(), 0]),
            Kind::Attribute(ref attribute) => {
                let at = |range: &std::ops::Range<usize>| (range.start as u64) << 32 | range.len() as u64;
                What("attribute", [at(&attribute.raw_name), at(&attribute.raw_value), 0])
            }
            Kind::Text => What::TEXT,
            Kind::Framing => plain("framing"),
            Kind::Close(cause) => What("close", [cause as u64, 0, 0]),
            Kind::Reclassify => plain("reclassify"),
            Kind::Budget => plain("budget"),
            Kind::Call { rule, table, index } => What("call", [rule.into(), table.into(), index]),
            Kind::CallName(name) => What("name", [name.is_some().into(), 0, 0]),
            Kind::CallId => plain("id"),
            Kind::CallKey => plain("key"),
            Kind::CallType => plain("type"),
            Kind::CallValue => plain("value"),
            Kind::CallValueEnd { is_repaired } => What("value end", [is_repaired.into(), 0, 0]),
            Kind::CallEnd { index, cause, is_repaired } => What("call end", [index, cause as u64, is_repaired.into()]),
            _ => plain("unknown"),
        }
    }

    pub fn is_call_end(self) -> bool {
        self.0 == "call end"
    }
}

/// A call in the form of examples: an expected call, or one that the client gets.
#[derive(Deserialize, Clone, PartialEq, Debug)]
pub struct Call {
    pub name: String,
    /// JSON text, which may be incomplete.
    pub arguments: String,
    /// The id, if the model wrote one.
    pub id: Option<String>,
    /// The cause of the end, for a call that is not whole.
    pub cause: Option<String>,
}

impl Call {
    /// Returns the call as a text for the user: its name, its arguments as JSON, and its cause and id if there are any.
    fn line(&self) -> String {
        let id = self.id.as_ref().map(|id| format!(", id {id:?}")).unwrap_or_default();
        let cause = self.cause.as_ref().map(|cause| format!(", not whole: {cause}")).unwrap_or_default();
        format!("{} {}{id}{cause}", self.name, self.arguments)
    }

    /// Compares two calls: the arguments as JSON if the call is whole, otherwise as text.
    fn is_same(&self, other: &Call) -> bool {
        let json = |call: &Call| serde_json::from_str::<serde_json::Value>(&call.arguments).ok();
        let have_same_arguments = match (&self.cause, json(self), json(other)) {
            (None, Some(arguments), Some(others)) => arguments == others,
            _ => self.arguments == other.arguments,
        };
        have_same_arguments && (&self.name, &self.id, &self.cause) == (&other.name, &other.id, &other.cause)
    }
}

/// The result for one way to cut a text.
#[derive(PartialEq, Default)]
pub struct Called {
    pub calls: Vec<Call>,
    pub thinking: Vec<u8>,
    pub values: Vec<Vec<u8>>,
    /// The events with their channels and bytes. Neighbouring text, framing and values are joined.
    events: Vec<(What, Channel, Vec<u8>)>,
}

/// Feeds the chunks to a scanner that reports calls, and the scanner's events to a call writer.
pub fn run(
    dialect: &Dialect,
    start: Option<Start>,
    tools: Option<&Arc<Tools>>,
    chunks: &[&[u8]],
) -> Result<Called, String> {
    let options = ScannerOptions::new().start(start).calls(true);
    let mut scanner = Scanner::with_options(dialect, &options).map_err(|error| error.to_string())?;
    let options = call_writer::Options::new().tools(tools.cloned()).id_prefix(ID_PREFIX);
    let mut writer = CallWriter::new(dialect, options);
    let mut called = Called::default();
    let mut written = Ok(());
    let mut on_event = |event: Event<'_>| {
        called.add(&event);
        if written.is_ok() {
            written = writer.event(&event, |delta| called_by(&mut called.calls, &delta));
        }
    };
    for chunk in chunks {
        scanner.feed(chunk, &mut on_event).map_err(|error| error.to_string())?;
    }
    scanner.finish(&mut on_event).map_err(|error| error.to_string())?;
    written.map_err(|error| error.to_string())?;
    Ok(called)
}

fn called_by(calls: &mut Vec<Call>, delta: &call_writer::CallDelta<'_>) {
    if let Some(name) = delta.name {
        let own = delta.id.filter(|id| !id.starts_with(ID_PREFIX)).map(str::to_owned);
        calls.push(Call { name: name.to_owned(), arguments: String::new(), id: own, cause: None });
    }
    let Some(call) = calls.last_mut() else { return };
    call.arguments += delta.arguments;
    if let Some(end) = delta.end {
        call.id = call.id.take().or(end.late_id.map(str::to_owned));
        call.cause = (!end.is_whole).then(|| end.cause.as_str().to_owned());
    }
}

impl Called {
    /// Returns whether content that is not blank follows a call.
    pub fn has_text_after_a_call(&self) -> bool {
        let after = self.events.iter().skip_while(|(what, ..)| !what.is_call_end());
        after.into_iter().any(|(what, channel, bytes)| {
            *what == What::TEXT && *channel == Channel::Content && !bytes.trim_ascii().is_empty()
        })
    }

    fn add(&mut self, event: &Event<'_>) {
        let what = What::new(&event.kind);
        match event.kind {
            Kind::Text if event.channel == Channel::Thinking => self.thinking.extend_from_slice(event.bytes),
            Kind::Reclassify if event.channel == Channel::Content => self.thinking.clear(),
            Kind::Reclassify => {
                let content =
                    self.events.iter().filter(|(what, channel, _)| *what == What::TEXT && *channel == Channel::Content);
                self.thinking = content.flat_map(|(_, _, bytes)| bytes.clone()).collect();
            }
            _ => {}
        }
        if let (Kind::Text | Kind::Framing | Kind::CallValue, Some((last, channel, bytes))) =
            (&event.kind, self.events.last_mut())
            && *last == what
            && *channel == event.channel
        {
            bytes.extend_from_slice(event.bytes);
            if let (Kind::CallValue, Some(value)) = (&event.kind, self.values.last_mut()) {
                value.extend_from_slice(event.bytes);
            }
            return;
        }
        if matches!(event.kind, Kind::CallValue) {
            self.values.push(event.bytes.to_vec());
        }
        self.events.push((what, event.channel, event.bytes.to_vec()));
    }

    /// Compares the calls with those of an example. Each difference has two lines, for the expected and the actual call.
    pub fn differences(&self, wanted: &[Call]) -> String {
        let mut faults = String::new();
        if wanted.len() != self.calls.len() || !wanted.iter().zip(&self.calls).all(|(one, other)| one.is_same(other)) {
            for (what, calls) in [("  calls       expected", wanted), ("              actual  ", &self.calls)] {
                let lines: Vec<String> = calls.iter().map(Call::line).collect();
                let all = if lines.is_empty() { "no call".to_owned() } else { lines.join("\n                       ") };
                let _ = writeln!(faults, "{what} {all}");
            }
        }
        faults
    }
}
