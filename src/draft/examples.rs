//! The examples of a draft: the rendered turns, with the thought, answer and calls for which they were rendered. Short words like
//! those of the files in `dialects/` replace the words of the probes. The drafted dialect reads each example, so that a
//! difference is known before the file is used.

use std::fmt::Write;

use super::probes::{ANSWER, Call, KEYS, NAMES, OTHER_WORD, THOUGHT, WORD};
use crate::dialect::quoted;
use crate::template::said::{self, Said, SaidCall};
use crate::{Channel, Dialect, Event, Kind, Scanner, ScannerOptions, Start};

/// A turn, and the parts for which it was rendered.
#[derive(Debug)]
pub struct Example {
    pub about: String,
    pub input: String,
    pub thinks: bool,
    pub answers: bool,
    pub calls: Vec<Call>,
}

/// The result of reading a turn with a dialect.
struct Read {
    said: Said,
    /// The text of the tool channel, if calls are not parsed.
    tool: String,
}

/// Writes the examples. Returns them, and a line for each example that the dialect reads differently from its probe.
pub fn write(dialect: &Dialect, examples: &[Example]) -> (String, Vec<String>) {
    let (mut out, mut wrong) = (String::new(), Vec::new());
    for example in examples {
        let input = shortened(&example.input);
        let content = Start::Channel(Channel::Content);
        let starts = [None].into_iter().chain((dialect.start() != content).then_some(Some(content)));
        let read = starts.filter_map(|start| Some((start, read(dialect, &input, start)?)));
        let (start, read) = read.into_iter().find(|(_, read)| example.is_meant(&read.said)).unwrap_or_else(|| {
            wrong.push(format!("the example \"{}\" is not read as the template means it", example.about));
            (None, Read { said: example.meaning(), tool: String::new() })
        });
        let _ = writeln!(out, "\n[[example]]\nabout = {}\ninput = {}", quoted(&example.about), quoted(&input));
        if start.is_some() {
            out += "start = \"content\"\n";
        }
        for (key, text) in [("thinking", &read.said.thinking), ("content", &read.said.content), ("tool", &read.tool)] {
            if !text.is_empty() {
                let _ = writeln!(out, "{key} = {}", quoted(text));
            }
        }
        if !example.calls.is_empty() {
            let calls = read.said.calls.iter().map(|call| {
                let id = call.id.as_ref().map(|id| format!(", id = {}", quoted(id))).unwrap_or_default();
                format!("{{ name = {}, arguments = {}{id} }}", quoted(&call.name), quoted(&call.arguments))
            });
            let _ = writeln!(out, "calls = [{}]", calls.collect::<Vec<_>>().join(", "));
        }
    }
    (out, wrong)
}

/// Returns the text with short words in place of the probes' words.
fn shortened(text: &str) -> String {
    let words = [
        (THOUGHT, "hm"),
        (ANSWER, "Yes."),
        (NAMES[0], "f"),
        (NAMES[1], "g"),
        (KEYS[0], "x"),
        (KEYS[1], "y"),
        (OTHER_WORD, "b"),
        (WORD, "a"),
    ];
    words.into_iter().fold(text.to_owned(), |text, (long, short)| text.replace(long, short))
}

impl Example {
    /// Returns whether a text was read as expected: the same calls, all whole, and the same texts except for blanks around them.
    fn is_meant(&self, said: &Said) -> bool {
        let meant = self.meaning();
        let is_same = |(call, meant): (&SaidCall, &SaidCall)| {
            let json = |call: &SaidCall| serde_json::from_str::<serde_json::Value>(&call.arguments).ok();
            call.is_whole && call.name == meant.name && json(call) == json(meant)
        };
        (said.thinking.trim(), said.content.trim()) == (&*meant.thinking, &*meant.content)
            && said.calls.len() == meant.calls.len()
            && said.calls.iter().zip(&meant.calls).all(is_same)
    }

    fn meaning(&self) -> Said {
        let text = |is_there: bool, text: &str| if is_there { shortened(text) } else { String::new() };
        let call = |call: &Call| {
            let arguments = shortened(&call.json().to_string());
            SaidCall { name: shortened(call.name), arguments, id: None, is_whole: true }
        };
        Said {
            thinking: text(self.thinks, THOUGHT),
            content: text(self.answers, ANSWER),
            calls: self.calls.iter().map(call).collect(),
        }
    }
}

fn read(dialect: &Dialect, text: &str, start: Option<Start>) -> Option<Read> {
    let said = said::read(dialect, start, None, text)?;
    let mut scanner = Scanner::with_options(dialect, &ScannerOptions::new().start(start)).ok()?;
    let mut tool = String::new();
    let mut take = |event: Event<'_>| {
        if matches!(event.kind, Kind::Text) && event.channel == Channel::Tool {
            tool += &String::from_utf8_lossy(event.bytes);
        }
    };
    scanner.feed(text, &mut take).and_then(|()| scanner.finish(&mut take)).ok()?;
    Some(Read { said, tool })
}
