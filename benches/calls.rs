//! Tool calls for the benches: a place inside a call at which a long text continues, and whole calls, one after the other.

use crate::ways::Handle;
use crate::workloads::{Workload, some_prose};

const TAGS: &str = include_str!("../tests/dialects/calls-tags.toml");
const HEADS: &str = include_str!("../tests/dialects/calls-heads.toml");
const RAW: &str = include_str!("../tests/dialects/calls-raw.toml");
const PYTHON: &str = include_str!("../tests/dialects/calls-python.toml");
const NESTED: &str = include_str!("../tests/dialects/calls-nested.toml");

/// The size of a chunk in bytes, which is that of most tokens.
const CHUNK: usize = 4;

/// A place in the text of a dialect with tables of calls.
pub struct Place {
    pub name: &'static str,
    dialect: &'static str,
    /// The text before the measured text.
    before: &'static str,
    text: fn(usize) -> String,
}

pub const PLACES: [Place; 11] = [
    Place {
        name: "JSON string",
        dialect: TAGS,
        before: "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"text\": \"",
        text: escaped,
    },
    Place { name: "Python string", dialect: PYTHON, before: "<|start|>[write_file(text=\"", text: escaped },
    Place {
        name: "tagged value",
        dialect: TAGS,
        before: "<tool_call>\n<function=write_file>\n<parameter=text>\n",
        text: some_prose,
    },
    Place { name: "raw quote", dialect: RAW, before: "<|tool>call:write_file{text:<|q|>", text: some_prose },
    Place { name: "element", dialect: NESTED, before: "<tools>|call write_file>|text>a", text: some_prose },
    Place { name: "thinking", dialect: TAGS, before: "<think>", text: some_prose },
    Place { name: "objects", dialect: TAGS, before: "<tool_call>\n", text: objects },
    Place { name: "tags", dialect: TAGS, before: "<tool_call>\n", text: tags },
    Place { name: "heads", dialect: HEADS, before: "<calls>", text: heads },
    Place { name: "raw quotes", dialect: RAW, before: "<|tool>", text: raw },
    Place { name: "Python", dialect: PYTHON, before: "<|start|>[", text: python },
];

/// The places inside a value. In `PLACES`, the thinking and the places with whole calls follow them.
pub const VALUES: [&str; 5] = ["JSON string", "Python string", "tagged value", "raw quote", "element"];
pub const BODIES: [&str; 5] = ["objects", "tags", "heads", "raw quotes", "Python"];

impl Place {
    /// Returns the measured text: at least `bytes` bytes of calls, or at most `bytes` bytes of prose.
    pub fn text(&self, bytes: usize) -> String {
        (self.text)(bytes)
    }

    /// Returns a scanner at the beginning of the measured text. With `calls`, it reports calls.
    pub fn scanner(&self, calls: bool) -> Handle {
        let mut scanner = Handle::of_file(self.dialect, calls);
        scanner.feed(self.before.as_bytes());
        scanner
    }

    pub fn workload(&self, bytes: usize) -> Workload {
        Workload::in_chunks(self.text(bytes), CHUNK)
    }

    /// Returns the dialect and the whole text, for hosts that want calls.
    pub fn call(&self, bytes: usize) -> (&'static str, String) {
        (self.dialect, self.before.to_owned() + &self.text(bytes))
    }
}

/// Returns prose as it is written in a JSON string.
fn escaped(bytes: usize) -> String {
    let escape = |byte| match byte {
        '\n' => "\\n".to_owned(),
        '"' | '\\' => format!("\\{byte}"),
        _ => byte.to_string(),
    };
    some_prose(bytes).chars().map(escape).collect()
}

fn repeat(call: &str, bytes: usize) -> String {
    call.repeat(bytes.div_ceil(call.len()))
}

fn objects(bytes: usize) -> String {
    let call = r#"{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3, "unit": "celsius"}}"#;
    repeat(&format!("{call}\n"), bytes)
}

fn tags(bytes: usize) -> String {
    let parameter = |name: &str, value: &str| format!("<parameter={name}>\n{value}\n</parameter>\n");
    let all = parameter("city", "Oslo") + &parameter("days", "3") + &parameter("unit", "celsius");
    repeat(&format!("<function=get_weather>\n{all}</function>\n"), bytes)
}

fn heads(bytes: usize) -> String {
    let call = r#"<call>functions.get_weather:0<args>{"city": "Oslo", "days": 3, "unit": "celsius"}</call>"#;
    repeat(call, bytes)
}

fn raw(bytes: usize) -> String {
    repeat("call:get_weather{city:<|q|>Oslo<|q|>,days:3,unit:<|q|>celsius<|q|>}", bytes)
}

fn python(bytes: usize) -> String {
    repeat(r#"get_weather(city="Oslo", days=3, unit="celsius"), "#, bytes)
}
