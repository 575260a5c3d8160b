//! Simulates servers that contradict themselves. All their events are well formed, but a repeated text may differ from the
//! original, or may name an item with a different id or place, or an item that never began. Random numbers or a fuzzer's bytes
//! choose the actions of the servers.

use serde_json::{Map, Value, json};

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    Chat,
    Completions,
    Responses,
    Messages,
    OllamaChat,
    OllamaGenerate,
}

impl Shape {
    pub const ALL: [Shape; 6] =
        [Shape::Chat, Shape::Completions, Shape::Responses, Shape::Messages, Shape::OllamaChat, Shape::OllamaGenerate];

    pub fn is_of_lines(self) -> bool {
        matches!(self, Shape::OllamaChat | Shape::OllamaGenerate)
    }
}

/// The placeholder for a word in a piece.
pub const WORD: char = '§';

/// The first word. Each word is one character of three bytes that occurs in no other text, so that words can be found, and a cut
/// inside a word is noticed.
const FIRST_WORD: u32 = 0x4E00;

/// Returns all words in a value.
pub fn words(value: &Value) -> Vec<char> {
    match value {
        Value::String(text) => text.chars().filter(|&word| u32::from(word) >= FIRST_WORD).collect(),
        Value::Array(list) => list.iter().flat_map(words).collect(),
        Value::Object(members) => members.values().flat_map(words).collect(),
        _ => Vec::new(),
    }
}

/// A server that writes one answer.
pub struct Server<'a> {
    /// Returns a number less than `bound`.
    below: &'a mut dyn FnMut(usize) -> usize,
    /// The parts of texts, in addition to words.
    pieces: &'a [String],
    next_word: u32,
    out: String,
    line_end: &'static str,
    is_named: bool,
    sequence: Option<u64>,
    /// Whether events of a stream may be missing, moved, or repeat a text with differences.
    contradicts: bool,
}

impl<'a> Server<'a> {
    pub fn new(pieces: &'a [String], below: &'a mut dyn FnMut(usize) -> usize) -> Server<'a> {
        let line_end = ["\n", "\n", "\r\n", "\r"][below(4)];
        let (is_named, sequence) = (below(2) == 0, [Some(0), None, Some(7)][below(3)]);
        Server {
            below,
            pieces,
            next_word: FIRST_WORD,
            out: String::new(),
            line_end,
            is_named,
            sequence,
            contradicts: true,
        }
    }

    /// Makes the server's streams agree with themselves.
    pub fn agreeing(self) -> Server<'a> {
        Server { contradicts: false, ..self }
    }

    /// Returns a whole answer.
    pub fn body(mut self, shape: Shape) -> String {
        let body = match shape {
            Shape::Chat | Shape::Completions => {
                let choices = 1 + self.below(2);
                let choices: Vec<Value> = (0..choices).map(|index| self.whole_choice(shape, index)).collect();
                json!({"id": "c", "choices": choices, "usage": {"total_tokens": self.below(9)}})
            }
            Shape::Responses => {
                let items = 1 + self.below(3);
                let items: Vec<Value> = (0..items).map(|index| self.whole_item(index)).collect();
                json!({"id": "r", "object": "response", "status": "completed", "output": items})
            }
            Shape::Messages => {
                let blocks = 1 + self.below(3);
                let blocks: Vec<Value> = (0..blocks).map(|_| self.block(true)).collect();
                json!({"id": "m", "type": "message", "role": "assistant", "content": blocks, "stop_reason": "end_turn"})
            }
            Shape::OllamaChat | Shape::OllamaGenerate => {
                let said = self.text().concat();
                self.line(shape, &said, true)
            }
        };
        body.to_string()
    }

    /// Returns an answer as a stream.
    pub fn stream(mut self, shape: Shape) -> String {
        match shape {
            Shape::Chat | Shape::Completions => self.choices(shape),
            Shape::Responses => self.responses(),
            Shape::Messages => self.messages(),
            Shape::OllamaChat | Shape::OllamaGenerate => {
                let text = self.text();
                for said in self.deltas(&text) {
                    let line = self.line(shape, &said, false).to_string();
                    self.out += &format!("{line}\n");
                }
                let said = if self.one_in(2) { String::new() } else { self.again(&text) };
                let line = self.line(shape, &said, true).to_string();
                self.out += &format!("{line}\n");
            }
        }
        self.out
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.below)(bound)
    }

    /// Returns true in one of `bound` cases.
    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 1
    }

    // ------------------------------------------------------------------------------------------------------------- texts

    fn word(&mut self) -> String {
        let word = char::from_u32(self.next_word).unwrap_or('x');
        self.next_word += 1;
        word.to_string()
    }

    fn text(&mut self) -> Vec<String> {
        let len = self.below(7);
        (0..len)
            .map(|_| match self.below(4) {
                0 => self.word(),
                1 => format!("{} ", self.word()),
                _ => {
                    let piece = self.pieces[self.below(self.pieces.len())].clone();
                    if piece.contains(WORD) { piece.replace(WORD, &self.word()) } else { piece }
                }
            })
            .collect()
    }

    /// Returns the text that the server sends when it repeats a text.
    fn again(&mut self, text: &[String]) -> String {
        if !self.contradicts {
            return text.concat();
        }
        let at = self.below(text.len() + 1);
        let whole = text.concat();
        match self.below(14) {
            0 => String::new(),
            1 => text[..at].concat(),
            2 => text[at..].concat(),
            3 => format!("{whole}{}", self.text().concat()),
            4 => format!("{}{}", text[..at].concat(), self.text().concat()),
            5 => format!("{}{whole}", self.text().concat()),
            6 => self.text().concat(),
            7 => whole.trim().to_owned(),
            8 => text.iter().rev().cloned().collect(),
            9 => format!("{}{}{}", text[..at].concat(), self.word(), text[at..].concat()),
            _ => whole,
        }
    }

    /// Cuts a text between characters. A call stays whole, because a call without one of its pieces may be a different call.
    fn deltas(&mut self, text: &[String]) -> Vec<String> {
        let most = 1 + self.below(12);
        let mut deltas = Vec::new();
        for piece in text {
            let mut rest = piece.chars().peekable();
            while rest.peek().is_some() {
                let len = if piece.contains('{') { usize::MAX } else { self.below(most + 1) };
                deltas.push(rest.by_ref().take(len.max(usize::from(deltas.len() > 40))).collect());
            }
        }
        deltas
    }

    // ------------------------------------------------------------------------------------------------------------ events

    fn send(&mut self, mut data: Value) {
        let end = self.line_end;
        if let (Some(sequence), Some(data)) = (&mut self.sequence, data.as_object_mut())
            && data.contains_key("output_index")
        {
            data.insert("sequence_number".into(), (*sequence).into());
            *sequence += 1;
        }
        let name = data["type"].as_str().filter(|_| self.is_named);
        let name = name.map_or(String::new(), |name| format!("event: {name}{end}"));
        self.out += &format!("{name}data: {data}{end}{end}");
    }

    /// Sends lists of events, one list after the other or mixed. The events of each list stay in order, but some are left out or
    /// moved.
    fn send_all(&mut self, mut lists: Vec<Vec<Value>>, places: &[&str]) {
        let is_mixed = self.contradicts && self.one_in(3);
        for list in &mut lists {
            list.reverse();
        }
        lists.reverse();
        while !lists.is_empty() {
            let at = if is_mixed { self.below(lists.len()) } else { lists.len() - 1 };
            let Some(mut event) = lists[at].pop() else {
                lists.remove(at);
                continue;
            };
            match self.below(24) {
                _ if !self.contradicts => {}
                0 => continue,
                1 => {
                    let place = places[self.below(places.len())];
                    if event[place].is_u64() {
                        event[place] = self.below(4).into();
                    } else if event[place].is_string() {
                        event[place] = format!("m{}", self.below(4)).into();
                    }
                }
                2 => {
                    event.as_object_mut().unwrap().remove(places[self.below(places.len())]);
                }
                3 => self.send(event.clone()),
                _ => {}
            }
            self.send(event);
        }
    }

    // ----------------------------------------------------------------------------------------------------------- choices

    fn choices(&mut self, shape: Shape) {
        let count = 1 + self.below(2);
        let mut lists = Vec::new();
        for index in 0..count {
            let text = self.text();
            let mut list = Vec::new();
            for said in self.deltas(&text) {
                let mut choice = self.choice(shape, "delta", &said);
                choice["index"] = index.into();
                choice["finish_reason"] = Value::Null;
                list.push(json!({"id": "c", "object": "chat.completion.chunk", "choices": [choice]}));
            }
            let mut choice = json!({"index": index, "delta": {}, "text": "", "finish_reason": "stop"});
            if self.one_in(3) {
                let said = self.again(&text);
                choice["message"] = json!({"role": "assistant", "content": said});
            }
            if self.one_in(3) {
                let said = self.again(&text);
                let last = self.choice(shape, "delta", &said);
                choice.as_object_mut().unwrap().extend(last.as_object().unwrap().clone());
            }
            list.push(json!({"id": "c", "choices": [choice], "usage": {"completion_tokens": self.below(9)}}));
            lists.push(list);
        }
        self.send_all(lists, &["choices", "id"]);
        if !self.one_in(3) {
            self.out += &format!("data: [DONE]{end}{end}", end = self.line_end);
        }
    }

    /// Returns a choice with a text, and sometimes with the fields of a server that splits the thinking or makes calls itself.
    fn choice(&mut self, shape: Shape, part: &str, said: &str) -> Value {
        if shape == Shape::Completions {
            return json!({"text": said});
        }
        let mut message = Map::new();
        message.insert("content".into(), said.into());
        if self.one_in(6) {
            message.insert("role".into(), "assistant".into());
        }
        if self.one_in(12) {
            let name = ["reasoning_content", "reasoning", "thinking"][self.below(3)];
            message.insert(name.into(), self.word().into());
        }
        if self.one_in(30) {
            let call =
                json!([{"index": 0, "id": "t", "type": "function", "function": {"name": "g", "arguments": "{}"}}]);
            message.insert("tool_calls".into(), call);
        }
        json!({part: message})
    }

    fn whole_choice(&mut self, shape: Shape, index: usize) -> Value {
        let text = self.text();
        let mut choice = self.choice(shape, "message", &text.concat());
        if self.one_in(4) {
            let said = self.again(&text);
            choice["delta"] = json!({"content": said});
        }
        choice["index"] = index.into();
        choice["finish_reason"] = ["stop", "length"][self.below(2)].into();
        choice
    }

    /// Returns a line in Ollama's format.
    fn line(&mut self, shape: Shape, said: &str, is_done: bool) -> Value {
        let mut line = json!({"model": "m", "created_at": "2026-07-28T06:38:03.2Z", "done": is_done});
        if shape == Shape::OllamaGenerate {
            line["response"] = said.into();
            if self.one_in(9) {
                line["thinking"] = self.word().into();
            }
        } else {
            line["message"] = json!({"role": "assistant", "content": said});
            if self.one_in(9) {
                line["message"]["thinking"] = self.word().into();
            }
        }
        if is_done {
            line["done_reason"] = ["stop", "length"][self.below(2)].into();
            line["eval_count"] = self.below(9).into();
        }
        line
    }

    // --------------------------------------------------------------------------------------------------------- Responses

    fn responses(&mut self) {
        if !self.one_in(4) {
            self.send(json!({"type": "response.created", "response": {"id": "r", "object": "response", "output": []}}));
        }
        let count = 1 + self.below(3);
        let (mut lists, mut items) = (Vec::new(), Vec::new());
        for index in 0..count {
            let mut list = Vec::new();
            items.push(self.item(index, &mut list));
            lists.push(list);
        }
        self.send_all(lists, &["output_index", "content_index", "item_id"]);
        if self.one_in(5) {
            return;
        }
        if self.contradicts {
            self.contradict(&mut items, count);
        }
        let status = ["completed", "incomplete", "failed"][self.below(5) % 3];
        let mut response = json!({"id": "r", "object": "response", "status": status, "output": items});
        response["usage"] = json!({"output_tokens": self.below(9)});
        if self.one_in(12) {
            response.as_object_mut().unwrap().remove("output");
        }
        self.send(json!({"type": format!("response.{status}"), "response": response}));
    }

    /// Changes the items that the final event repeats.
    fn contradict(&mut self, items: &mut Vec<Value>, count: usize) {
        for item in items.iter_mut() {
            if self.one_in(3) {
                item["id"] = format!("m{}", self.below(5)).into();
            }
        }
        if self.one_in(4) {
            items.reverse();
        }
        if self.one_in(5) {
            items.pop();
        }
        if self.one_in(5) {
            items.push(self.whole_item(count));
        }
        if self.one_in(9) {
            let again = self.below(items.len() + 1);
            items.extend(items.get(again).cloned());
        }
    }

    /// Adds the events of an item to a list. Returns the response's member for it.
    fn item(&mut self, index: usize, list: &mut Vec<Value>) -> Value {
        let kind = self.below(9);
        if kind < 2 {
            let item = self.other_item(index, self.contradicts && kind == 0);
            list.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
            list.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
            return item;
        }
        let id = format!("m{}", if self.contradicts && self.one_in(9) { 0 } else { index });
        let message = |status: &str, content: &[Value]| json!({"id": id, "type": "message", "role": "assistant", "status": status, "content": content});
        let event = |kind: &str, content: usize, member: &str, value: Value| json!({"type": format!("response.{kind}"), "item_id": id, "output_index": index, "content_index": content, member: value});
        list.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": message("in_progress", &[])}),
        );
        let count = 1 + self.below(5) / 3;
        let mut texts = Vec::new();
        let mut parts: Vec<Vec<Value>> = Vec::new();
        for content in 0..count {
            let text = self.text();
            let mut part = vec![event("content_part.added", content, "part", self.part(""))];
            for said in self.deltas(&text) {
                part.push(event("output_text.delta", content, "delta", said.into()));
            }
            if self.contradicts && self.one_in(9) {
                let at = self.below(6);
                let annotation = json!({"type": "url_citation", "start_index": 0, "end_index": at});
                part.push(event("output_text.annotation.added", content, "annotation", annotation));
            }
            let said = self.again(&text);
            part.push(event("output_text.done", content, "text", said.into()));
            let said = self.again(&text);
            part.push(event("content_part.done", content, "part", self.part(&said)));
            texts.push(text);
            parts.push(part);
        }
        // The parts are sent one after the other, or mixed.
        let is_mixed = self.contradicts && self.one_in(4);
        parts.iter_mut().for_each(|part| part.reverse());
        while let Some(at) = (0..parts.len()).find(|&at| !parts[at].is_empty()) {
            // When a fuzzer's input is used up, it would always select the first part.
            let other = if is_mixed { self.below(parts.len()) } else { at };
            let from = if parts[other].is_empty() { at } else { other };
            list.extend(parts[from].pop());
        }
        let again = self.content(&texts);
        list.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": message("completed", &again)}),
        );
        message("completed", &self.content(&texts))
    }

    /// Returns parts that repeat these texts.
    fn content(&mut self, texts: &[Vec<String>]) -> Vec<Value> {
        let mut parts = Vec::new();
        for text in texts {
            let said = self.again(text);
            parts.push(self.part(&said));
        }
        match self.below(12) {
            _ if !self.contradicts => {}
            0 => drop(parts.pop()),
            1 => parts.reverse(),
            2 => parts.insert(0, json!({"type": "refusal", "refusal": self.word()})),
            3 => {
                let said = self.text().concat();
                parts.push(self.part(&said));
            }
            4 => parts.insert(0, json!(7)),
            _ => {}
        }
        parts
    }

    fn part(&mut self, said: &str) -> Value {
        let mut part = json!({"type": "output_text", "annotations": [], "text": said});
        if self.contradicts && self.one_in(9) {
            let (start, end) = (self.below(5), self.below(9));
            part["annotations"] = json!([{"type": "url_citation", "start_index": start, "end_index": end}]);
        }
        if self.contradicts && self.one_in(9) {
            part["logprobs"] = json!([]);
        }
        part
    }

    fn whole_item(&mut self, index: usize) -> Value {
        match self.below(6) {
            kind @ (0 | 1) => self.other_item(index, kind == 0),
            _ => {
                let texts = [self.text(), self.text()];
                let count = 1 + self.below(4) / 3;
                let content = self.content(&texts[..count]);
                json!({"id": format!("m{index}"), "type": "message", "role": "assistant", "status": "completed", "content": content})
            }
        }
    }

    fn other_item(&mut self, index: usize, is_reasoning: bool) -> Value {
        if is_reasoning {
            let content = json!([{"type": "reasoning_text", "text": self.word()}]);
            return json!({"id": format!("rs_{index}"), "type": "reasoning", "summary": [], "content": content});
        }
        json!({"id": format!("fc_{index}"), "type": "function_call", "call_id": "c", "name": "g", "arguments": "{}"})
    }

    // ---------------------------------------------------------------------------------------------------------- Messages

    fn messages(&mut self) {
        if !self.one_in(6) {
            let content = if self.one_in(6) { vec![self.block(true)] } else { Vec::new() };
            let message = json!({"id": "m", "type": "message", "role": "assistant", "content": content, "usage": {}});
            self.send(json!({"type": "message_start", "message": message}));
        }
        let count = 1 + self.below(3);
        let mut lists = Vec::new();
        for index in 0..count {
            let block = self.block(false);
            let event = |kind: &str, member: &str, value: Value| json!({"type": format!("content_block_{kind}"), "index": index, member: value});
            let kind = block["type"].clone();
            let mut list = vec![event("start", "content_block", block)];
            let text = self.text();
            let (of, member) = match kind.as_str() {
                Some("thinking") => ("thinking_delta", "thinking"),
                Some("tool_use") => ("input_json_delta", "partial_json"),
                _ => ("text_delta", "text"),
            };
            for said in self.deltas(&text) {
                list.push(event("delta", "delta", json!({"type": of, member: said})));
            }
            if self.one_in(9) {
                list.push(event(
                    "delta",
                    "delta",
                    json!({"type": "citations_delta", "citation": {"cited_text": self.word()}}),
                ));
            }
            list.push(event("stop", "usage", Value::Null));
            if self.one_in(9) {
                let said = self.again(&text);
                list.push(event("delta", "delta", json!({"type": of, member: said})));
            }
            lists.push(list);
        }
        self.send_all(lists, &["index", "index", "type"]);
        let reason = ["end_turn", "max_tokens", "tool_use"][self.below(5) % 3];
        let usage = json!({"output_tokens": self.below(9)});
        self.send(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}));
        if !self.one_in(4) {
            self.send(json!({"type": "message_stop"}));
        }
    }

    fn block(&mut self, is_whole: bool) -> Value {
        match self.below(8) {
            0 => json!({"type": "thinking", "thinking": self.word(), "signature": ""}),
            1 => json!({"type": "tool_use", "id": "t", "name": "g", "input": {}}),
            _ => {
                let said = if is_whole || self.one_in(6) { self.text().concat() } else { String::new() };
                json!({"type": "text", "text": said})
            }
        }
    }
}
