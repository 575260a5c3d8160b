//! The events of agents: the fields that contain a tool's texts, and the form of the answers. Each agent documents its own
//! events. A result whose form is not documented stays unchanged.

use std::fs::{self, File};
use std::io::Read;

use serde_json::{Value, json};

use crate::stop::Stop;

/// The fields that have texts, in the results of Claude Code's tools (`Bash`, `WebFetch`, those of MCP servers), and in a
/// content block.
const FIELDS: [&str; 5] = ["stdout", "stderr", "result", "content", "text"];
/// The fields with the path and the length of a whole output, of which `stdout` has only the beginning. As long as a result has
/// the path, Claude Code shows the beginning of the file.
const PERSISTED: [&str; 2] = ["persistedOutputPath", "persistedOutputSize"];
/// Commands whose results are this program's own.
const OWN: [&str; 2] = ["aside recall ", "aside squeeze "];
/// The maximum number of bytes of a file with a whole output that are read, and of a text that the store keeps.
pub const LONGEST: usize = 64 << 20;

pub enum Event {
    /// A tool has run.
    After(Results),
    /// The agent is about to run a tool.
    Before(Value),
}

/// The result of a tool.
pub struct Results {
    pub tool: String,
    /// The tool's input, as JSON.
    pub input: String,
    /// Whether the texts of the tool's result are known.
    pub is_known: bool,
    /// Whether the result stays unchanged because it is from this program, or is an image.
    is_left: bool,
    name: &'static str,
    response: Value,
}

impl Event {
    pub fn read(text: &str) -> Result<Event, Stop> {
        let mut event: Value =
            serde_json::from_str(text).map_err(|error| Stop::Failed(format!("the event: {error}")))?;
        let tool = event["tool_name"].as_str().unwrap_or_default().to_owned();
        let is_mcp = tool.starts_with("mcp_");
        let (name, is_known) = match event["hook_event_name"].as_str() {
            Some("PreToolUse" | "BeforeTool") => return Ok(Event::Before(event)),
            Some("PostToolUse") => ("PostToolUse", is_mcp || ["Bash", "WebFetch"].contains(&&*tool)),
            Some("AfterTool") => ("AfterTool", is_mcp || ["run_shell_command", "web_fetch"].contains(&&*tool)),
            name => {
                let what =
                    name.map_or("the event has no `hook_event_name`".to_owned(), |name| format!("the event is {name}"));
                return Err(Stop::Failed(format!("{what}: run this for PostToolUse or AfterTool")));
            }
        };
        let mut response = event["tool_response"].take();
        if name == "AfterTool" {
            response = joined(response["llmContent"].take());
        } else {
            read_persisted(&mut response);
        }
        let command = event["tool_input"]["command"].as_str().unwrap_or_default();
        let is_own = tool.trim_start_matches("mcp_").trim_start_matches('_').starts_with("aside_")
            || command
                .split(['&', ';', '|', '\n'])
                .any(|part| OWN.iter().any(|own| part.trim_start().starts_with(own)));
        let is_image = response["isImage"] == true;
        let input = event["tool_input"].to_string();
        Ok(Event::After(Results { tool, input, is_known, is_left: is_own || is_image, name, response }))
    }
}

impl Results {
    /// Takes the texts, in order. Returns none if the result is from this program, so that no text is shortened twice, or if it
    /// is an image.
    pub fn texts(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        if !self.is_left {
            visit(&mut self.response, &mut |text| texts.push(std::mem::take(text)));
        }
        texts
    }

    /// Returns the answer: the result with these texts in place of the original texts. If there are fewer texts, the last places
    /// become empty.
    pub fn answer(mut self, texts: Vec<String>) -> Value {
        let mut texts = texts.into_iter();
        let mut is_short = false;
        visit(&mut self.response, &mut |text| {
            let next = texts.next();
            is_short |= next.is_none();
            *text = next.unwrap_or_default();
        });
        if is_short {
            drop_empty(&mut self.response);
        }
        if let Value::Object(fields) = &mut self.response {
            fields.retain(|name, _| !PERSISTED.contains(&name.as_str()));
        }
        let field = if self.name == "AfterTool" { "tool_output" } else { "updatedToolOutput" };
        json!({ "hookSpecificOutput": { "hookEventName": self.name, field: self.response } })
    }
}

/// Calls `each` with every text of a result, always in the same order.
fn visit(response: &mut Value, each: &mut impl FnMut(&mut String)) {
    match response {
        Value::String(text) => each(text),
        Value::Array(blocks) => {
            blocks.iter_mut().filter(|block| block.is_object()).for_each(|block| visit(block, each))
        }
        Value::Object(fields) => {
            for name in FIELDS {
                fields.get_mut(name).into_iter().for_each(|field| visit(field, each));
            }
        }
        _ => {}
    }
}

/// Removes blocks of content without text, which models refuse.
fn drop_empty(response: &mut Value) {
    match response {
        Value::Array(blocks) => blocks.retain(|block| block["text"] != ""),
        Value::Object(fields) => fields.get_mut("content").into_iter().for_each(drop_empty),
        _ => {}
    }
}

/// Returns the content that Gemini CLI shows its model, as one text. Returns null for content with an image or the like.
fn joined(content: Value) -> Value {
    let texts = |parts: &[Value]| parts.iter().map(|part| part["text"].as_str()).collect::<Option<String>>();
    match &content {
        Value::Array(parts) => texts(parts).map_or(Value::Null, Value::from),
        Value::Object(_) => content["text"].as_str().map_or(Value::Null, Value::from),
        _ => content,
    }
}

/// Replaces the beginning of an output by the whole output, if the event names a file that contains it.
fn read_persisted(response: &mut Value) {
    let path = response[PERSISTED[0]].as_str().filter(|_| response["stdout"].is_string());
    let path = path.filter(|path| fs::metadata(path).is_ok_and(|data| data.is_file()));
    let mut bytes = Vec::new();
    if path.is_some_and(|path| {
        File::open(path).is_ok_and(|file| file.take(LONGEST as u64).read_to_end(&mut bytes).is_ok())
    }) {
        response["stdout"] = String::from_utf8_lossy(&bytes).into();
    }
}
