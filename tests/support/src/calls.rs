//! The calls that a client gets from a text, in the form of examples and shared cases.

use std::sync::Arc;

use aside::call_writer::{self, CallWriter, Tools};
use aside::{Event, Scanner, ScannerOptions};

use crate::Pair;

/// The prefix of ids that the writer makes, which models do not write.
const MADE: &str = "\0";

#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    pub name: String,
    /// JSON text, perhaps incomplete.
    pub arguments: String,
    /// The id, if the model wrote one.
    pub id: Option<String>,
    /// The cause of the end, for a call that is not whole.
    pub cause: Option<String>,
    pub is_repaired: bool,
}

impl Call {
    /// Compares with the expected calls. Blanks and escapes in arguments that are JSON do not matter.
    pub fn is(&self, wanted: &Call) -> bool {
        let json = |call: &Call| serde_json::from_str::<serde_json::Value>(&call.arguments).ok();
        let have_same_arguments = match (json(self), json(wanted)) {
            (Some(arguments), Some(wanted)) => arguments == wanted,
            _ => self.arguments == wanted.arguments,
        };
        have_same_arguments && (&self.name, &self.id, &self.cause) == (&wanted.name, &wanted.id, &wanted.cause)
    }
}

/// Feeds the chunks to a scanner that reports calls, and the scanner's events to a call writer.
pub fn calls(pair: &Pair, start: Option<&str>, tools: Option<&Arc<Tools>>, chunks: &[&[u8]]) -> Vec<Call> {
    let options = ScannerOptions::new().start(start.map(|start| start.parse().unwrap())).calls(true);
    let mut scanner = Scanner::with_options(&pair.library, &options).unwrap();
    let options = call_writer::Options::new().tools(tools.cloned()).id_prefix(MADE);
    let mut writer = CallWriter::new(&pair.library, options);
    let mut calls: Vec<Call> = Vec::new();
    let mut on_event = |event: Event<'_>| {
        let written = writer.event(&event, |delta| {
            if let Some(name) = delta.name {
                let id = delta.id.filter(|id| !id.starts_with(MADE)).map(str::to_owned);
                calls.push(Call {
                    name: name.to_owned(),
                    arguments: String::new(),
                    id,
                    cause: None,
                    is_repaired: false,
                });
            }
            let call = calls.last_mut().unwrap();
            call.arguments += delta.arguments;
            if let Some(end) = delta.end {
                call.id = call.id.take().or(end.late_id.map(str::to_owned));
                call.is_repaired = end.is_repaired;
                call.cause = (!end.is_whole).then(|| end.cause.as_str().to_owned());
            }
        });
        written.unwrap();
    };
    for chunk in chunks {
        scanner.feed(chunk, &mut on_event).unwrap();
    }
    scanner.finish(&mut on_event).unwrap();
    calls
}
