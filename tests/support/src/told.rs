//! Computes a client's expected result for a text with calls from the events of the whole text, slowly and without limits. Only
//! emitted calls are removed from their region, with the markers and framing that were not released before.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use aside::call_writer::{self, CallWriter, Tools};
use aside::{Cause, Channel, Kind, Scanner, ScannerOptions};
use serde_json::Value;

use crate::Pair;
use crate::client::events;

/// A client's expected result for a choice.
#[derive(Debug, Default)]
pub struct Told {
    pub thinking: String,
    pub content: String,
    /// The names and arguments of the calls.
    pub calls: Vec<[String; 2]>,
    /// Whether a call was complete, so that the finish reason is that of a call.
    pub has_ended: bool,
    /// The number of first bytes of the thinking that were content at first, and stay content in a stream.
    pub moved: usize,
    /// Whether all of the thinking was the answer.
    was_answer: bool,
    /// The thinking and the content for a format in which each piece is a block. No block has only blanks.
    blocks: [String; 2],
}

impl Told {
    /// Returns the result for a body: thinking that turned out to be the answer is content.
    pub fn of_body(mut self) -> Told {
        if self.was_answer {
            self.content = mem::take(&mut self.thinking) + &self.content;
        }
        self
    }

    /// Returns the result for a client for which each piece is a block.
    pub fn of_blocks(mut self) -> Told {
        [self.thinking, self.content] = self.blocks.clone();
        self
    }

    /// Compares a client's result with this result. Ids and a missing finish reason are not compared.
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
    /// The opener of a message to one of the server's tools.
    Server,
    Close,
    Text,
    Framing,
    Call(u64),
}

/// Whether a call is sent to the client of a stream, and whether it is whole.
#[derive(Clone, Default)]
struct Call {
    number: u64,
    name: String,
    arguments: String,
    is_whole: bool,
    has_ended: bool,
}

/// Returns a client's result for a text, in a stream or in a body.
pub fn told(pair: &Pair, options: &ScannerOptions, tools: Option<Arc<Tools>>, text: &[u8], is_body: bool) -> Told {
    let dialect = &pair.library;
    // The rule of messages with headers.
    let header = pair.reference.header.as_ref().filter(|header| !header.calls.is_empty());
    // The field of the header that names a call, and the prefixes, one of which must precede the name.
    let named = header.and_then(|header| {
        let call = header.calls.iter().find(|call| call.need_prefix)?;
        Some((call.name_from.clone()?, call.prefix.clone()))
    });
    let header = header.map(|_| pair.reference.spans.len() as u32);
    let has_tools = tools.as_ref().is_none_or(|tools| !tools.is_empty());
    let rehearsed = if has_tools { rehearsed(pair, options, text) } else { Vec::new() };
    let mut number = 0;
    let mut scanner = Scanner::with_options(dialect, &options.calls(true)).unwrap();
    let mut writer = CallWriter::new(dialect, call_writer::Options::new().tools(tools));
    let (mut told, mut calls, mut parts) = (Told::default(), Vec::<Call>::new(), Vec::<Part>::new());
    let (mut call, mut is_message) = (None, false);
    let (mut stretches, mut was_answer) = (Vec::new(), false);
    let mut on_event = |event: aside::Event<'_>| {
        number += 1;
        was_answer |= event.kind == Kind::Reclassify && event.channel == Channel::Content;
        if rehearsed.get(number - 1) == Some(&true) {
            stretches.push(Stretch::Thinking(event.bytes.to_vec()));
            return;
        }
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
        if event.kind == Kind::Reclassify && event.channel == Channel::Thinking {
            stretches.push(Stretch::Moved);
        }
        if event.channel != Channel::Tool {
            if event.kind == Kind::Text {
                match event.channel {
                    Channel::Thinking => stretches.push(Stretch::Thinking(event.bytes.to_vec())),
                    _ => stretches.push(Stretch::Content(event.bytes.to_vec())),
                }
            }
            return;
        }
        let what = match event.kind {
            Kind::Open { rule, .. } => {
                is_message = header == Some(rule);
                if is_message && named.is_some() { What::Server } else { What::Open }
            }
            Kind::Attribute(ref field) if is_message => {
                let names_call = named.as_ref().is_some_and(|(name, prefixes)| {
                    let value = String::from_utf8_lossy(field.value);
                    field.name == name.as_bytes() && prefixes.iter().any(|prefix| value.starts_with(prefix))
                });
                if let Some(first) = parts.first_mut().filter(|_| names_call) {
                    first.what = What::Open;
                }
                What::Framing
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
            stretches.push(Stretch::Region(mem::take(&mut parts), is_message));
        }
    };
    scanner.feed(text, &mut on_event).unwrap();
    scanner.finish(&mut on_event).unwrap();
    calls.retain(|call| !is_body || call.is_whole);
    let is_told = |number| calls.iter().any(|call: &Call| call.number == number);
    let mut flat: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        let of_region = match stretch {
            // A message to a tool of the server.
            Stretch::Region(parts, true) if parts.first().is_some_and(|part| part.what == What::Server) => {
                let texts = parts.into_iter().filter(|part| part.what == What::Text);
                texts.map(|part| Stretch::Thinking(part.bytes)).collect()
            }
            Stretch::Region(parts, is_message) => region(&parts, is_message, is_told),
            stretch => vec![stretch],
        };
        for stretch in of_region {
            match (flat.last_mut(), stretch) {
                (Some(Stretch::Content(last)), Stretch::Content(more))
                | (Some(Stretch::Thinking(last)), Stretch::Thinking(more)) => last.extend(more),
                (_, stretch) => flat.push(stretch),
            }
        }
    }
    let tokens = tokens(&pair.reference);
    let of_blocks = around(&flat, &tokens, is_body, true);
    let of_fields = around(&flat, &tokens, is_body, false);
    told.blocks = [lossy(&of_blocks.thinking), lossy(&of_blocks.content)];
    told.moved = of_fields.moved;
    (told.thinking, told.content) = (lossy(&of_fields.thinking), lossy(&of_fields.content));
    told.was_answer = was_answer;
    told.has_ended = calls.iter().any(|call| if is_body { call.is_whole } else { call.has_ended });
    told.calls = calls.into_iter().map(|call| [call.name, call.arguments]).collect();
    told
}

/// Returns, for each event, whether its bytes are thinking although the scanner has ended the thinking. This holds for a run of
/// calls that other text follows, and for that text up to the next marker.
fn rehearsed(pair: &Pair, options: &ScannerOptions, text: &[u8]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Event {
        /// The opener of a span of calls.
        Opener,
        Tool,
        Thinking,
        /// The thinking ends without its closer.
        Implied,
        Blank,
        Text,
        Other,
    }
    let spans = &pair.reference.spans;
    let of_calls = || spans.iter().filter(|span| !span.calls.is_empty());
    let tags = of_calls().filter_map(|span| span.tag.as_ref()).flat_map(|tag| &tag.names);
    let closers = of_calls().flat_map(|span| &span.close).cloned().chain(tags.map(|name| format!("</{name}>")));
    let stems: Vec<String> = closers.map(|close| close.trim_end_matches('>').to_lowercase()).collect();
    // A closer may have a suffix, or be cut short.
    let is_closer = |bytes: &[u8]| {
        let marker = String::from_utf8_lossy(bytes).to_lowercase();
        stems.iter().any(|stem| marker.starts_with(stem.as_str()) || stem.starts_with(&marker))
    };
    let mut events = Vec::new();
    let mut on_event = |event: aside::Event<'_>| {
        let is_blank = event.bytes.trim_ascii().is_empty();
        events.push(match (&event.kind, event.channel) {
            (Kind::Open { rule, .. }, Channel::Tool)
                if spans.get(*rule as usize).is_some_and(|it| !it.calls.is_empty()) =>
            {
                Event::Opener
            }
            // A closer of the thinking ends the call.
            (Kind::Close(_), Channel::Tool) if !is_blank && !is_closer(event.bytes) => Event::Other,
            (_, Channel::Tool) => Event::Tool,
            (Kind::Close(Cause::Implied), Channel::Thinking) => Event::Implied,
            (Kind::Text | Kind::Framing, _) if is_blank => Event::Blank,
            (Kind::Text | Kind::Open { .. }, Channel::Thinking) => Event::Thinking,
            (Kind::Text, Channel::Content) => Event::Text,
            _ => Event::Other,
        });
    };
    let mut scanner = Scanner::with_options(&pair.library, &options.calls(true)).unwrap();
    scanner.feed(text, &mut on_event).unwrap();
    scanner.finish(&mut on_event).unwrap();
    let mut rehearsed = vec![false; events.len()];
    let (mut thinks, mut continues, mut at) = (false, false, 0);
    while at < events.len() {
        if thinks && events[at] == Event::Opener {
            let is_run = |event: &Event| matches!(event, Event::Opener | Event::Tool | Event::Blank);
            let len = events[at..].iter().take_while(|event| is_run(event)).count();
            let next = events.get(at + len);
            thinks = matches!(next, Some(Event::Text | Event::Thinking));
            continues = thinks;
            rehearsed[at..at + len].fill(thinks);
            at += len;
            continue;
        }
        rehearsed[at] = continues && matches!(events[at], Event::Text | Event::Blank);
        match events[at] {
            Event::Thinking => (thinks, continues) = (true, false),
            Event::Implied => thinks = true,
            Event::Text if continues => {}
            Event::Blank => {}
            _ => (thinks, continues) = (false, false),
        }
        at += 1;
    }
    rehearsed
}

/// A piece of an answer.
enum Stretch {
    Content(Vec<u8>),
    Thinking(Vec<u8>),
    /// All content before was thinking.
    Moved,
    /// A region, and whether it is a message with a header.
    Region(Vec<Part>, bool),
    /// A call that is emitted.
    Told,
}

/// Returns the part of a region that stays content, and its calls that are emitted.
fn region(parts: &[Part], is_message: bool, is_told: impl Fn(u64) -> bool) -> Vec<Stretch> {
    let first = parts.iter().position(|part| matches!(part.what, What::Call(number) if is_told(number)));
    // Text before the first emitted call has released everything before that text.
    let free = match first {
        Some(first) => parts[..first].iter().rposition(|part| part.what == What::Text).map_or(0, |at| at + 1),
        None => parts.len(),
    };
    // If the opener also begins a call, it belongs to the call.
    let is_half = |part: &Part| part.bytes.is_empty() && matches!(part.what, What::Call(number) if !is_told(number));
    let opens_call = parts.get(1).is_some_and(is_half);
    let stays = |(at, part): (usize, &Part)| match part.what {
        What::Open | What::Server | What::Close if is_message => false,
        What::Call(number) => !is_told(number),
        What::Text => true,
        What::Open if at == 0 && opens_call => true,
        What::Open | What::Server | What::Close | What::Framing => at < free,
    };
    let mut last = None;
    let stretches = parts.iter().enumerate().filter_map(|(at, part)| match part.what {
        What::Call(number) if is_told(number) => (last.replace(number) != Some(number)).then_some(Stretch::Told),
        _ => stays((at, part)).then(|| Stretch::Content(part.bytes.clone())),
    });
    stretches.collect()
}

/// The rest of an answer whose calls are emitted.
#[derive(Default)]
struct Left {
    thinking: Vec<u8>,
    content: Vec<u8>,
    moved: usize,
}

/// Removes the framing around emitted calls. `blocks` means that each stretch becomes a block, and that no block may have only
/// blanks.
fn around(stretches: &[Stretch], tokens: &Tokens, is_body: bool, blocks: bool) -> Left {
    #[derive(PartialEq)]
    enum Last {
        Nothing,
        Thinking,
        Content,
        Call,
    }
    let (mut left, mut last) = (Left::default(), Last::Nothing);
    let (mut waiting, mut waiting_thinking) = (Vec::new(), Vec::new());
    // The first blanks around calls between two contents.
    let mut between: Vec<u8> = Vec::new();
    for stretch in stretches {
        match stretch {
            Stretch::Content(text) => {
                let (framing, first) = if last == Last::Content { (0, &[][..]) } else { tokens.framing(text) };
                let (framing, text) = text.split_at(framing);
                if last != Last::Call {
                    waiting.extend(framing);
                } else if between.is_empty() && !left.content.is_empty() && !blocks {
                    between.extend(first);
                }
                let (text, blanks) = text.split_at(text.trim_ascii_end().len());
                if !text.is_empty() {
                    left.content.append(&mut between);
                    left.content.append(&mut waiting);
                    left.content.extend(text);
                    last = Last::Content;
                }
                waiting.extend(blanks);
            }
            Stretch::Thinking(text) => {
                if blocks && last == Last::Content {
                    left.content.append(&mut waiting);
                }
                let text = if last == Last::Call { text.trim_ascii_start() } else { text };
                if blocks && last != Last::Thinking && text.trim_ascii().is_empty() {
                    waiting_thinking.extend(text);
                } else if !text.is_empty() {
                    left.thinking.append(&mut waiting_thinking);
                    left.thinking.extend(text);
                    last = Last::Thinking;
                }
            }
            Stretch::Moved => {
                if !waiting.is_empty() {
                    left.content.append(&mut between);
                }
                left.content.append(&mut waiting);
                if is_body {
                    left.moved = left.content.len();
                    left.thinking.append(&mut left.content);
                    last = Last::Thinking;
                }
            }
            Stretch::Told => {
                if between.is_empty() && !left.content.is_empty() && !blocks && waiting.trim_ascii().is_empty() {
                    between.append(&mut waiting);
                }
                waiting.clear();
                waiting_thinking.clear();
                last = Last::Call;
            }
            Stretch::Region(..) => unreachable!("it is a list of others"),
        }
    }
    if !blocks || matches!(last, Last::Nothing | Last::Content) {
        if !waiting.is_empty() {
            left.content.append(&mut between);
            last = Last::Content;
        }
        left.content.append(&mut waiting);
    }
    if last == Last::Nothing {
        left.thinking.append(&mut waiting_thinking);
    }
    left
}

/// Removes the stretches of a text that would be blocks of only blanks, unless there are no other stretches.
pub fn in_blocks<K: Clone + PartialEq>(stretches: Vec<(K, String)>, content: &K) -> Vec<(K, String)> {
    let mut blocks: Vec<(K, String)> = Vec::new();
    // The waiting blanks of the content, then of the thinking.
    let mut waiting: [Option<(K, String)>; 2] = [None, None];
    for (kind, text) in stretches {
        let waiting = &mut waiting[usize::from(kind != *content)];
        match blocks.last_mut() {
            Some(last) if last.0 == kind => last.1 += &text,
            _ => {
                let waited = waiting.take().map_or(String::new(), |(_, blanks)| blanks);
                let is_blank = text.trim_ascii().is_empty();
                let block = Some((kind, waited + &text));
                if is_blank { *waiting = block } else { blocks.extend(block) }
            }
        }
    }
    if blocks.is_empty() {
        blocks.extend(waiting.into_iter().flatten().take(1));
    }
    blocks
}

/// The framing around calls.
struct Tokens {
    open: Vec<String>,
    close: Vec<String>,
    other: Vec<String>,
}

const ENDS: &str = "</s> <eos> [EOS] <EOS_TOKEN> <end_of_turn> <turn|> <|END_OF_TURN_TOKEN|> <|END_RESPONSE|> <|END_TEXT|> \
    <|call|> <|end_of_text|> <|endoftext|> <|endofturn|> <|end|> <|eom_id|> <|eom|> <|eos|> <|eot_id|> <|eot|> <|im_end|> \
    <|return|> <|tool_response> <｜end▁of▁sentence｜> <｜tool▁output▁begin｜> <｜tool▁output▁end｜> \
    <｜tool▁outputs▁begin｜> <｜tool▁outputs▁end｜>";

fn tokens(dialect: &reference::Dialect) -> Tokens {
    let (mut open, mut close) = (Vec::new(), Vec::new());
    for span in dialect.spans.iter().filter(|span| !span.calls.is_empty()) {
        open.extend(span.open.first().cloned());
        close.extend(span.close.clone());
        close.extend(span.tag.iter().flat_map(|tag| tag.names.iter().map(|name| format!("</{name}>"))));
    }
    let header = dialect.header.iter().filter(|header| !header.calls.is_empty());
    for header in header.clone() {
        close.extend(header.close.clone());
    }
    let spans = dialect.spans.iter().flat_map(|span| &span.calls);
    for call in spans.chain(header.flat_map(|header| &header.calls)) {
        close.extend([call.end.clone(), call.value[1].clone()]);
    }
    let is_long = |literal: &String| literal.len() >= 4;
    open.retain(is_long);
    close.retain(is_long);
    let other = dialect.turns.iter().cloned().chain(ENDS.split_whitespace().map(str::to_owned)).collect();
    Tokens { open, close, other }
}

impl Tokens {
    /// Returns the length of the blanks, tokens and sections without a call at the beginning of the text, and the first blanks
    /// among them.
    fn framing<'a>(&self, text: &'a [u8]) -> (usize, &'a [u8]) {
        let (mut at, mut first) = (0, &text[..0]);
        loop {
            let blanks = &text[at..text.len() - text[at..].trim_ascii_start().len()];
            at += blanks.len();
            if first.is_empty() {
                first = blanks;
            }
            let rest = &text[at..];
            let plain = self.close.iter().chain(&self.other).filter(|token| rest.starts_with(token.as_bytes()));
            let sections = self.open.iter().filter_map(|open| {
                let inside = rest.strip_prefix(open.as_bytes())?;
                let close = inside.trim_ascii_start();
                let closers = self.close.iter().filter(|closer| close.starts_with(closer.as_bytes()));
                let closer = closers.map(String::len).max()?;
                (inside.len() - close.len() <= 64).then_some(rest.len() - close.len() + closer)
            });
            match plain.map(String::len).chain(sections).max() {
                Some(len) => at += len,
                None => return (at, first),
            }
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A client's result for a choice at the end of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    pub thinking: String,
    pub content: String,
    /// Id, name and arguments.
    pub calls: Vec<[String; 3]>,
    pub finish: String,
}

impl Said {
    /// Adds a delta or a message.
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

/// Returns a client's result for a stream or a body.
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
