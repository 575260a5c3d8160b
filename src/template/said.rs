//! Reads a turn of the model with a dialect: its thinking, its content and its calls.

use crate::call_writer::{self, CallWriter};
use crate::{Channel, Dialect, Event, Kind, Scanner, ScannerOptions, Start};

/// The prefix of ids that the call writer makes, to recognise them.
const ID_PREFIX: &str = "\0";

/// The parts of a turn.
#[derive(Debug, Default)]
pub struct Said {
    pub thinking: String,
    pub content: String,
    pub calls: Vec<SaidCall>,
}

/// A call of a turn.
#[derive(Debug, Default)]
pub struct SaidCall {
    pub name: String,
    pub arguments: String,
    /// The id that the model wrote.
    pub id: Option<String>,
    pub is_whole: bool,
}

/// Reads a turn from a start, or after a prompt. Returns `None` if the dialect does not have this start, or if memory runs out.
pub fn read(dialect: &Dialect, start: Option<Start>, prompt: Option<&str>, turn: &str) -> Option<Said> {
    let mut said = Said::default();
    let mut writer = CallWriter::new(dialect, call_writer::Options::new().id_prefix(ID_PREFIX));
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().start(start).calls(true)).ok()?;
    let mut take = |event: Event<'_>| {
        match (&event.kind, event.channel) {
            (Kind::Text, Channel::Thinking) => said.thinking += &String::from_utf8_lossy(event.bytes),
            (Kind::Text, Channel::Content) => said.content += &String::from_utf8_lossy(event.bytes),
            (Kind::Reclassify, Channel::Thinking) => said.thinking = std::mem::take(&mut said.content),
            (Kind::Reclassify, _) => said.content = std::mem::take(&mut said.thinking),
            _ => {}
        }
        let _ = writer.event(&event, |delta| {
            let own = |id: Option<&str>| id.filter(|id| !id.starts_with(ID_PREFIX)).map(str::to_owned);
            if let Some(name) = delta.name {
                said.calls.push(SaidCall { name: name.to_owned(), id: own(delta.id), ..SaidCall::default() });
            }
            let Some(call) = said.calls.last_mut() else { return };
            call.arguments.push_str(delta.arguments);
            if let Some(end) = delta.end {
                call.id = call.id.take().or(own(end.late_id));
                call.is_whole = end.is_whole;
            }
        });
    };
    if let Some(prompt) = prompt {
        scanner.start_from_prompt(prompt).ok()?;
    }
    scanner.feed(turn, &mut take).and_then(|()| scanner.finish(&mut take)).ok()?;
    Some(said)
}

/// Returns the length of the common beginning of two texts, in bytes, up to a whole character.
pub fn shared_start(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
}
