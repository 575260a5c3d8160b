//! What a client must get of a text in which calls are told, found from the events of the whole text: slow, and without a
//! limit. Of a region with a told call only that call is gone, with the markers and framing that were not let go before.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use aside::call_writer::{self, CallWriter, Tools};
use aside::{Channel, Kind, Scanner, ScannerOptions};
use serde_json::Value;

use crate::Pair;
use crate::client::events;

/// What a client must have of a choice.
#[derive(Debug, Default)]
pub struct Told {
    pub thinking: String,
    pub content: String,
    /// Names and arguments.
    pub calls: Vec<[String; 2]>,
    /// A call ended as it should, which is a reason to stop.
    pub has_ended: bool,
    /// How much of the beginning of the thinking was content, which it stays in a stream.
    pub moved: usize,
}

impl Told {
    /// Compares what a client has with this. Ids and a reason to finish that never came are not compared.
    pub fn check(&self, said: &Said, about: &str) {
        let calls: Vec<&[String]> = said.calls.iter().map(|call| &call[1..]).collect();
        let wanted: Vec<&[String]> = self.calls.iter().map(|call| &call[..]).collect();
        assert_eq!(calls, wanted, "{about}");
        assert_eq!((&said.thinking, &said.content), (&self.thinking, &self.content), "{about}");
        let finish = if self.has_ended { "tool_calls" } else { "stop" };
        assert!(said.finish.is_empty() || said.finish == finish, "{} is not {finish}: {about}", said.finish);
    }
}

/// An event of the tool channel.
struct Part {
    what: What,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Open,
    Close,
    Text,
    Framing,
    Call(u64),
}

/// Whether a call was told to a client of a stream, and whether it is whole.
#[derive(Clone, Default)]
struct Call {
    number: u64,
    name: String,
    arguments: String,
    is_whole: bool,
    has_ended: bool,
}

/// Returns what a client gets of a text, in a stream or in a body.
pub fn told(pair: &Pair, options: &ScannerOptions, tools: Option<Arc<Tools>>, text: &[u8], is_body: bool) -> Told {
    let dialect = &pair.library;
    // The rule of messages with headers.
    let header = pair.reference.header.as_ref().filter(|header| !header.calls.is_empty());
    let header = header.map(|_| pair.reference.spans.len() as u32);
    let mut scanner = Scanner::with_options(dialect, &options.calls(true)).unwrap();
    let mut writer = CallWriter::new(dialect, call_writer::Options::new().tools(tools));
    let (mut told, mut calls, mut parts) = (Told::default(), Vec::<Call>::new(), Vec::<Part>::new());
    let (mut call, mut is_message) = (None, false);
    // Text, the region after it, and whether that is a message with a header.
    let mut content: Vec<(Vec<u8>, Vec<Part>, bool)> = vec![Default::default()];
    let mut thinking = Vec::new();
    let mut on_event = |event: aside::Event<'_>| {
        writer
            .event(&event, |delta| {
                if let Some(name) = delta.name {
                    calls.push(Call { number: delta.call, name: name.into(), ..Call::default() });
                }
                let call = calls.last_mut().unwrap();
                call.arguments += delta.arguments;
                if let Some(end) = delta.end {
                    call.is_whole = end.is_whole;
                    call.has_ended = ["marker", "implied"].contains(&end.cause.as_str());
                }
            })
            .unwrap();
        if event.kind == Kind::Reclassify && is_body {
            thinking.append(&mut content.last_mut().unwrap().0);
            told.moved = thinking.len();
        }
        if event.channel != Channel::Tool {
            if event.kind == Kind::Text {
                match event.channel {
                    Channel::Thinking => thinking.extend_from_slice(event.bytes),
                    _ => content.last_mut().unwrap().0.extend_from_slice(event.bytes),
                }
            }
            return;
        }
        let what = match event.kind {
            Kind::Open { rule, .. } => {
                is_message = header == Some(rule);
                What::Open
            }
            Kind::Close(_) => What::Close,
            Kind::Text => What::Text,
            Kind::Call { index, .. } => {
                call = Some(index);
                What::Call(index)
            }
            Kind::CallEnd { index, .. } => {
                call = None;
                What::Call(index)
            }
            _ => call.map_or(What::Framing, What::Call),
        };
        parts.push(Part { what, bytes: event.bytes.to_vec() });
        if what == What::Close {
            content.last_mut().unwrap().1 = mem::take(&mut parts);
            content.last_mut().unwrap().2 = is_message;
            content.push(Default::default());
        }
    };
    scanner.feed(text, &mut on_event).unwrap();
    scanner.finish(&mut on_event).unwrap();
    calls.retain(|call| !is_body || call.is_whole);
    let is_told = |number| calls.iter().any(|call: &Call| call.number == number);
    let mut left = Vec::new();
    for (text, parts, is_message) in content {
        left.extend(text);
        left.extend(region(&parts, is_message, is_told));
    }
    told.has_ended = calls.iter().any(|call| if is_body { call.is_whole } else { call.has_ended });
    told.calls = calls.into_iter().map(|call| [call.name, call.arguments]).collect();
    (told.thinking, told.content) = (lossy(&thinking), lossy(&left));
    told
}

/// Returns what stays content of a region.
fn region(parts: &[Part], is_message: bool, is_told: impl Fn(u64) -> bool) -> Vec<u8> {
    let first = parts.iter().position(|part| matches!(part.what, What::Call(number) if is_told(number)));
    // Text before the first call that is told has let go of all that stands before it.
    let free = match first {
        Some(first) => parts[..first].iter().rposition(|part| part.what == What::Text).map_or(0, |at| at + 1),
        None => parts.len(),
    };
    let stays = |(at, part): (usize, &Part)| match part.what {
        What::Open | What::Close if is_message => false,
        What::Call(number) => !is_told(number),
        What::Text => true,
        What::Open | What::Close | What::Framing => at < free,
    };
    let stay = parts.iter().enumerate().filter(|&(at, part)| stays((at, part)));
    stay.flat_map(|(_, part)| part.bytes.iter().copied()).collect()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a client has of a choice when the answer is over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    pub thinking: String,
    pub content: String,
    /// Id, name and arguments.
    pub calls: Vec<[String; 3]>,
    pub finish: String,
}

impl Said {
    /// Takes a delta, or a message.
    fn take(&mut self, choice: &Value) {
        let part = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.thinking += &text(&part["reasoning_content"]);
        self.content += &text(&part["content"]);
        let fields = ["reasoning_content", "content"].iter().filter(|name| !text(&part[**name]).is_empty()).count();
        let calls = part["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
        if choice["delta"].is_object() {
            assert!(fields + usize::from(!calls.is_empty()) <= 1, "two fields in one chunk: {choice}");
        }
        for (place, call) in calls.iter().enumerate() {
            let index = call["index"].as_u64().map_or(place, |index| index as usize);
            assert!(index <= self.calls.len(), "{choice}");
            if index == self.calls.len() {
                assert_eq!(call["type"], "function", "{choice}");
                let id = call["id"].as_str().unwrap().to_owned();
                assert!(self.calls.iter().all(|other| other[0] != id), "{choice}");
                self.calls.push([id, call["function"]["name"].as_str().unwrap().to_owned(), String::new()]);
            } else {
                assert_eq!(index + 1, self.calls.len(), "a call after the next has begun: {choice}");
                assert!(call["id"].is_null() && call["function"]["name"].is_null(), "{choice}");
            }
            self.calls[index][2] += call["function"]["arguments"].as_str().unwrap();
        }
        self.finish += &text(&choice["finish_reason"]);
    }
}

/// What a client makes of a stream or of a body.
pub fn client(output: &str) -> BTreeMap<u64, Said> {
    let mut said: BTreeMap<u64, Said> = BTreeMap::new();
    let datas = events(output).into_iter().map(|event| event.data);
    let datas: Vec<String> = if output.starts_with('{') { vec![output.to_owned()] } else { datas.collect() };
    for value in datas.iter().filter_map(|data| serde_json::from_str::<Value>(data).ok()) {
        for choice in value["choices"].as_array().into_iter().flatten() {
            said.entry(choice["index"].as_u64().unwrap()).or_default().take(choice);
        }
    }
    said
}
