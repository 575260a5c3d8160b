//! For Anthropic Messages: a server that writes a stream event by event, and a client that reads a stream.

use serde_json::{Value, json};

use crate::client::events;

/// A stream that is written event by event.
#[derive(Default)]
pub struct Server {
    pub stream: String,
    /// Whether the type of an event is only in the data.
    pub is_bare: bool,
}

impl Server {
    pub fn send(&mut self, data: &Value) -> &mut Server {
        let name = if self.is_bare { String::new() } else { format!("event: {}\n", data["type"].as_str().unwrap()) };
        self.stream += &format!("{name}data: {data}\n\n");
        self
    }

    pub fn begin(&mut self) -> &mut Server {
        self.send(&json!({"type": "message_start", "message": {"id": "msg_01A", "type": "message", "content": []}}))
    }

    pub fn start(&mut self, index: usize, block: &Value) -> &mut Server {
        self.send(&json!({"type": "content_block_start", "index": index, "content_block": block}))
    }

    pub fn delta(&mut self, index: usize, delta: &Value) -> &mut Server {
        self.send(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
    }

    pub fn stop(&mut self, index: usize) -> &mut Server {
        self.send(&json!({"type": "content_block_stop", "index": index}))
    }

    pub fn text_start(&mut self, index: usize) -> &mut Server {
        self.start(index, &json!({"type": "text", "text": ""}))
    }

    pub fn text(&mut self, index: usize, text: &str) -> &mut Server {
        self.delta(index, &json!({"type": "text_delta", "text": text}))
    }

    /// Sends a whole text block.
    pub fn texts(&mut self, index: usize, texts: &[&str]) -> &mut Server {
        self.text_start(index);
        for text in texts {
            self.text(index, text);
        }
        self.stop(index)
    }

    /// Sends a whole call that the server itself makes.
    pub fn call(&mut self, index: usize) -> &mut Server {
        self.start(index, &json!({"type": "tool_use", "id": "t1", "name": "f", "input": {}}));
        self.delta(index, &json!({"type": "input_json_delta", "partial_json": "{\"a\":1}"})).stop(index)
    }

    /// Ends the message, and returns the stream.
    pub fn end(&mut self, reason: &str) -> String {
        self.send(&json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}));
        self.send(&json!({"type": "message_stop"}));
        std::mem::take(&mut self.stream)
    }
}

/// A client that uses indexes as positions in a list, like the Python SDK, and expects one kind of text in each block.
#[derive(Default)]
pub struct Client {
    pub blocks: Vec<Value>,
    open: Option<usize>,
    input: String,
    pub stop_reason: Option<String>,
    is_over: bool,
}

impl Client {
    pub fn read(stream: &str) -> Client {
        let mut client = Client::default();
        for event in events(stream) {
            client.take(&event.lines, &serde_json::from_str(&event.data).unwrap());
        }
        assert!(client.open.is_none(), "a block without an end: {stream}");
        client
    }

    fn take(&mut self, lines: &[String], event: &Value) {
        let kind = event["type"].as_str().unwrap();
        assert!(lines.iter().all(|line| *line == format!("event: {kind}")), "{lines:?} of {event}");
        assert!(!self.is_over, "after the end: {event}");
        match kind {
            "content_block_start" => {
                assert_eq!(self.open, None, "{event}");
                assert_eq!(event["index"], self.blocks.len(), "{event}");
                self.open = Some(self.blocks.len());
                self.blocks.push(event["content_block"].clone());
            }
            "content_block_delta" => {
                assert_eq!(event["index"].as_u64().map(|index| index as usize), self.open, "{event}");
                self.delta(&event["delta"]);
            }
            "content_block_stop" => {
                assert_eq!(event["index"].as_u64().map(|index| index as usize), self.open.take(), "{event}");
                let block = self.blocks.last_mut().unwrap();
                if block["type"] == "tool_use" {
                    assert_eq!(block["input"], json!({}), "{event}");
                    block["input"] = std::mem::take(&mut self.input).into();
                }
            }
            "message_delta" => {
                assert_eq!(self.open, None, "{event}");
                self.stop_reason = event["delta"]["stop_reason"].as_str().map(str::to_owned);
            }
            "message_stop" => self.is_over = true,
            "message_start" => assert!(self.blocks.is_empty()),
            "ping" => {}
            _ => panic!("{event}"),
        }
    }

    fn delta(&mut self, delta: &Value) {
        let block = self.blocks.last_mut().unwrap();
        let (kind, member) = match delta["type"].as_str().unwrap() {
            "text_delta" => ("text", "text"),
            "thinking_delta" => ("thinking", "thinking"),
            "signature_delta" => ("thinking", "signature"),
            "citations_delta" => {
                assert_eq!(block["type"], "text");
                return;
            }
            "input_json_delta" => {
                assert_eq!(block["type"], "tool_use");
                self.input += delta["partial_json"].as_str().unwrap();
                return;
            }
            kind => panic!("{kind}"),
        };
        assert_eq!(block["type"], kind, "{delta}");
        block[member] = (block[member].as_str().unwrap().to_owned() + delta[member].as_str().unwrap()).into();
    }

    /// Returns the kind and the text of each block.
    pub fn texts(&self) -> Vec<(String, String)> {
        let text = |block: &Value| {
            let kind = block["type"].as_str().unwrap();
            let member = if kind == "tool_use" { "input" } else { kind };
            (kind.to_owned(), block[member].as_str().unwrap_or_default().to_owned())
        };
        self.blocks.iter().map(text).collect()
    }
}
