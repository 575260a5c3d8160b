//! Samples calls from the grammars of all dialects, and reads them back: each must be read as one whole call with the values that
//! were sampled. `ASIDE_GRAMMAR=10000 cargo test --lib grammar` samples that many for each dialect, `ASIDE_DIALECT=NAME` for one
//! dialect. If the dialect thinks, two of three calls have thinking before them. `ASIDE_SAMPLES=FILE` also writes some of the samples
//! to a file, for `tests/grammar/closure.py`. The calls that `join` writes must be in the grammars; `ASIDE_JOINED=FILE` also writes
//! these calls to a file.

#[cfg(feature = "compress")]
mod accept;

use std::{env, fmt::Write, fs, sync::Arc};

use serde_json::{Value, json};

use super::{
    build::Builder,
    node::{AFTER_THINKING, Node},
    schema, several,
};
use crate::{
    CallsInThinking, Dialect, EndReason, JoinCall, JoinError, JoinOptions, ScannerOptions,
    answer::{Answer, Options, Part},
    call_writer::Tools,
    calls::table::BodyRule,
    channel::{Channel, Start},
    join::tables,
};

const TOOLS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/grammar/tools.json"));

/// The dialect for the markers of many families, which no model writes.
const OF_NO_FAMILY: &str = "any";

/// Texts that are, or look like, markers of some dialect.
const HOSTILE: &[&str] = &[
    "a",
    "é",
    " ",
    "\n",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "=",
    "0",
    "true",
    "null",
    "<",
    ">",
    "</",
    "<tool_call>",
    "</tool_call>",
    "<function=now>",
    "</function>",
    "<parameter=city>",
    "</parameter>",
    "<arg_key>",
    "</arg_value>",
    "<|tool_call_end|>",
    "<invoke name=\"now\">",
    "</invoke>",
    "<｜DSML｜parameter name=\"city\" string=\"true\">",
    "</｜DSML｜parameter>",
    "<|\"|>",
    "```",
    "<escape>",
    "<tool_call|>",
    "]<]minimax[>[</city>",
    "[TOOL_CALLS]now[ARGS]{}",
    "<think>",
    "</think>",
    "<|call|>",
    "<![CDATA[",
    "]]>",
    "{\"name\": \"now\"}",
];

struct Sampler {
    state: u64,
    text: String,
    /// The values in the text.
    values: Vec<Value>,
}

impl Sampler {
    fn below(&mut self, most: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % most as u64) as usize
    }

    fn pick<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }

    fn hostile(&mut self) -> String {
        (0..self.below(6)).map(|_| self.pick(HOSTILE)).collect()
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Text(text) => self.text += text,
            Node::All(nodes) => nodes.iter().for_each(|node| self.node(node)),
            Node::Any(nodes) => {
                let at = self.below(nodes.len());
                self.node(&nodes[at]);
                // A word for a value is a separate text.
                if let Node::Text(word) = &nodes[at] {
                    match &**word {
                        "true" | "True" => self.values.push(true.into()),
                        "false" | "False" => self.values.push(false.into()),
                        "null" | "None" => self.values.push(Value::Null),
                        _ => {}
                    }
                }
            }
            Node::Maybe(node) => {
                if self.below(2) == 0 {
                    self.node(node);
                }
            }
            Node::Many(node) => {
                for _ in 0..self.below(3) {
                    self.node(node);
                }
            }
            Node::Until { begin, without, stop } => {
                let value = loop {
                    let text = self.hostile();
                    // If the schema allows null too, this text is null.
                    if text.trim() != "null"
                        && without.iter().all(|one| !text.contains(one.as_str()))
                        && (text.clone() + stop).find(stop) == Some(text.len())
                    {
                        break text;
                    }
                };
                self.text += begin;
                self.text += &value;
                self.text += stop;
                self.values.push(value.into());
            }
            Node::Schema(schema) => {
                let value = self.json(&serde_json::from_str(schema).unwrap());
                let is_spaced = self.below(2) == 0;
                self.text += &ordered(&value, schema, is_spaced);
                self.values.push(value);
            }
            Node::Pattern(pattern) => self.pattern(pattern),
            Node::Free(_) => unreachable!("the tests force a call"),
        }
    }

    fn pattern(&mut self, pattern: &str) {
        let choices: &[&str] = match pattern {
            "[ \\n]{0,2}" => &["", "", " ", "\n", "\n\n", " \n"],
            "[ \\n]{0,3}" => &["", "\n\n", "\n\n\n"],
            " ?" => &["", " "],
            ", ?" => &[",", ", "],
            "[0-9]+" => &["0", "17"],
            "[a-zA-Z0-9]{9}" => &["abcdefgh1", "123456789"],
            "[a-zA-Z0-9_.-]{1,64}" | "[a-zA-Z_][a-zA-Z0-9_]{0,63}" => &["key", "a_b"],
            _ => &[],
        };
        if !choices.is_empty() {
            let chosen = self.pick(choices);
            self.text += chosen;
            return;
        }
        let (text, value) = match pattern {
            "true|false" | "true|false|True|False" => {
                let words: Vec<&str> = pattern.split('|').collect();
                let word = self.pick(&words);
                (word.to_owned(), word.eq_ignore_ascii_case("true").into())
            }
            _ if pattern == super::build::DOUBLE => {
                let value = self.hostile();
                (Value::from(&*value).to_string(), value.into())
            }
            _ if pattern == super::build::SINGLE => {
                let value = self.hostile();
                let text = value.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n");
                (format!("'{text}'"), value.into())
            }
            _ if pattern == super::build::INTEGER => (self.pick(&["0", "-7", "120"]).to_owned(), Value::Null),
            _ if pattern == super::build::NUMBER => (self.pick(&["0", "-7.5", "120"]).to_owned(), Value::Null),
            other => panic!("a new pattern: {other}"),
        };
        let value = if value.is_null() { serde_json::from_str(&text).unwrap() } else { value };
        self.text += &text;
        self.values.push(value);
    }

    /// Returns a value of a schema.
    fn json(&mut self, schema: &Value) -> Value {
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values[self.below(values.len())].clone();
        }
        match schema["type"].as_str().unwrap_or("string") {
            "object" => {
                let mut object = serde_json::Map::new();
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                for (key, of_key) in schema["properties"].as_object().into_iter().flatten() {
                    if required.contains(&key.as_str().into()) || self.below(2) == 0 {
                        object.insert(key.clone(), self.json(of_key));
                    }
                }
                object.into()
            }
            "array" => (0..self.below(3)).map(|_| self.json(&schema["items"])).collect(),
            "integer" => json!(1 + self.below(5)),
            "number" => json!(self.below(100) as f64 / 4.0),
            "boolean" => (self.below(2) == 0).into(),
            "null" => Value::Null,
            _ => self.hostile().into(),
        }
    }
}

/// Writes JSON with the members of objects in the order of their schema, as engines do. If `is_spaced`, a blank follows each comma and
/// colon, as in chat templates.
fn ordered(value: &Value, schema: &str, is_spaced: bool) -> String {
    let (comma, colon) = if is_spaced { (", ", ": ") } else { (",", ":") };
    let of = |key: &str| schema::member(schema, key);
    match (value, of("properties"), of("items")) {
        (Value::Object(members), Some(properties), _) => {
            let keys = schema::members(properties).into_iter();
            let written = keys.filter_map(|(key, schema)| {
                Some(format!("{}{colon}{}", json!(key), ordered(members.get(&key)?, schema, is_spaced)))
            });
            format!("{{{}}}", written.collect::<Vec<_>>().join(comma))
        }
        (Value::Array(items), _, Some(schema)) => {
            let written: Vec<String> = items.iter().map(|item| ordered(item, schema, is_spaced)).collect();
            format!("[{}]", written.join(comma))
        }
        _ => value.to_string(),
    }
}

/// Adds the texts, numbers and words of a value, as JSON.
fn leaves(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.values().for_each(|value| leaves(value, all)),
        Value::Array(items) => items.iter().for_each(|value| leaves(value, all)),
        Value::Number(number) => all.push(number.as_f64().unwrap().to_string()),
        other => all.push(other.to_string()),
    }
}

/// Returns the calls that a dialect reads: name, arguments, and whether the call is whole and not repaired.
fn read(
    dialect: &Dialect,
    tools: &Arc<Tools>,
    text: &str,
    start: Start,
    in_thinking: CallsInThinking,
) -> Vec<(String, String, bool)> {
    let scanner = ScannerOptions::new().start(start).calls_in_thinking(in_thinking);
    let options = Options::new().scanner(scanner).tools(tools.clone());
    let mut answer = Answer::new(dialect, &options).unwrap();
    let mut calls: Vec<(String, String, bool)> = Vec::new();
    let mut take = |part: Part<'_>| match part {
        Part::Call { name, .. } => calls.push((name.to_owned(), String::new(), false)),
        Part::Arguments { index, json } => calls[index as usize].1 += json,
        Part::CallEnd { index, is_whole, is_repaired, .. } => calls[index as usize].2 = is_whole && !is_repaired,
        _ => {}
    };
    answer.feed(text, &mut take).unwrap();
    answer.finish(EndReason::Ended, &mut take).unwrap();
    calls
}

#[test]
fn a_call_of_the_grammar_is_read_with_its_values() {
    let count: usize = env::var("ASIDE_GRAMMAR").map_or(200, |count| count.parse().unwrap());
    let only = env::var("ASIDE_DIALECT").ok();
    let tools = Arc::new(Tools::read(TOOLS).unwrap());
    let list = schema::tools(TOOLS, &tools);
    let (mut samples, mut wrong, mut dialects, mut thinking) = (String::new(), Vec::new(), 0, 0);
    for name in
        Dialect::names().filter(|name| *name != OF_NO_FAMILY && only.as_deref().is_none_or(|only| only == *name))
    {
        let dialect = Dialect::find(name).unwrap();
        let mut sampler = Sampler { state: 0x9e37_79b9_7f4a_7c15, text: String::new(), values: Vec::new() };
        let mut faults = 0;
        for number in 0..count {
            let tool = &list[number % list.len()..][..1];
            // Of three calls, the second has thinking before it, and the third follows thinking that the prompt has opened.
            let mut builder = Builder::new(&dialect.compiled, tool, true);
            let is_header = dialect.start() == Start::Header;
            let thoughts = if number % 3 == 0 {
                Vec::new()
            } else {
                builder.thoughts(if is_header { builder.turn() } else { b"" })
            };
            let start = match (thoughts.is_empty(), number % 3) {
                (false, 2) => Start::Channel(Channel::Thinking),
                _ if is_header => Start::Header,
                _ => Start::Channel(Channel::Content),
            };
            let before = if thoughts.is_empty() { builder.turn() } else { builder.thinking_close() };
            let regions = builder.regions(true, before);
            if regions.is_empty() {
                break;
            }
            dialects += usize::from(number == 0);
            // The thinking ends with an incomplete header, and the opener of the call is the rest of that header. So the opener ends
            // the thinking.
            let is_rest_of_header = regions[0].trigger.starts_with(' ');
            let in_thinking = if is_rest_of_header { CallsInThinking::Dialect } else { CallsInThinking::Never };
            sampler.text.clear();
            if !thoughts.is_empty() {
                let at = sampler.below(thoughts.len());
                sampler.text += if number % 3 == 1 { &thoughts[at].trigger } else { "" };
                sampler.node(&thoughts[at].rest);
                // An open code span hides openers, and so the end of this thinking.
                if is_rest_of_header {
                    sampler.text = sampler.text.replace('`', "");
                } else {
                    sampler.node(&AFTER_THINKING);
                }
                thinking += 1;
            }
            sampler.values.clear();
            let at = sampler.below(regions.len());
            sampler.node(&regions[at].whole());
            let calls = read(&dialect, &tools, &sampler.text, start, in_thinking);
            let (mut meant, mut found) = (Vec::new(), Vec::new());
            for value in &mut sampler.values {
                // In a call that is an object, name and id are values too.
                if let Some(members) = value
                    .as_object_mut()
                    .filter(|members| members.len() > 1 && members.values().any(|it| *it == tool[0].name))
                {
                    for key in ["name", "id", "tool_name", "tool_call_id"] {
                        members.remove(key);
                    }
                }
                leaves(value, &mut meant);
            }
            // A value of an enum is text in the grammar.
            let has_enum = tool[0].name == "set_unit";
            let is_right = match &calls[..] {
                [(called, arguments, true)] => {
                    let arguments = serde_json::from_str(arguments).unwrap();
                    leaves(&arguments, &mut found);
                    meant.sort();
                    found.sort();
                    *called == tool[0].name
                        && (meant == found
                            || has_enum && ["celsius", "fahrenheit"].map(Value::from).contains(&arguments["unit"]))
                }
                _ => false,
            };
            // The grammar cannot keep the closer of a value out of the strings in its JSON.
            let is_limit = builder.limits.iter().any(|limit| limit.contains("may contain the closer"));
            if !(is_right || is_limit && meant.iter().any(|leaf| leaf.contains("</"))) {
                faults += 1;
                if faults <= 3 {
                    wrong.push(format!("{name}: {:?}: {calls:?}, not {meant:?}", sampler.text));
                }
            }
            if number < 120 {
                let start = (!thoughts.is_empty()).then_some(start.as_str());
                let line = json!({"dialect": name, "tool": tool[0].name, "text": sampler.text, "start": start});
                writeln!(samples, "{line}").unwrap();
            }
        }
        if faults > 0 {
            wrong.push(format!("{name}: {faults} of {count}"));
        }
    }
    if let Ok(file) = env::var("ASIDE_SAMPLES") {
        fs::write(file, samples).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        only.is_some() || dialects > 45 && thinking > 30 * count / 2,
        "{dialects} dialects, {thinking} with thinking"
    );
}

/// Arguments of the tools, with the keys in the order of the schemas.
const ARGUMENTS: [(&str, &str); 12] = [
    ("get_weather", r#"{"city": "Oslo", "days": 3}"#),
    ("now", "{}"),
    ("search", r#"{"query": "a <b> & \"c\"", "limit": 5}"#),
    ("write_file", r##"{"content": "# Title\n\nText.\n", "path": "a/b.md"}"##),
    ("set_unit", r#"{"unit": "celsius"}"#),
    ("add", r#"{"a": -1.5, "b": 2}"#),
    ("tag-list", r#"{"tags": ["x", "y z"]}"#),
    ("move_to", r#"{"place": {"x": 1, "y": -2}}"#),
    ("remind", r#"{"at": "noon"}"#),
    ("play", r#"{"loud": true, "song": "Ode"}"#),
    ("rate", r#"{"stars": 4}"#),
    ("draw", r#"{"points": [{"x": 0.5, "y": 1}, {"x": 2, "y": 3}]}"#),
];

/// Returns whether models of a dialect write keys in the order of their names.
fn is_sorted(dialect: &Dialect) -> bool {
    let blocks = &dialect.compiled.templates.calls;
    let mut tables = blocks.iter().flat_map(|block| tables(&dialect.compiled, block));
    tables.any(|table| matches!(&table.body, BodyRule::Literal(rule) if rule.is_sorted))
}

/// Returns the calls as `join` writes them. `join` keeps the order of the keys, so where models sort them, they are sorted here.
fn joined(dialect: &Dialect, calls: &[(&str, &str)]) -> Result<String, JoinError> {
    // A map of serde_json is sorted.
    let sorted =
        |arguments: &str| serde_json::from_str::<Value>(arguments).map_or(arguments.to_owned(), |it| it.to_string());
    let is_sorted = is_sorted(dialect);
    let calls: Vec<(&str, String)> = calls
        .iter()
        .map(|&(name, arguments)| (name, if is_sorted { sorted(arguments) } else { arguments.to_owned() }))
        .collect();
    let start = if dialect.start() == Start::Header { Start::Header } else { Start::Channel(Channel::Content) };
    let calls: Vec<JoinCall> = calls.iter().map(|(name, arguments)| JoinCall::new(name, arguments)).collect();
    let text = dialect.join("", "", &JoinOptions::new().start(start).calls(&calls))?;
    Ok(String::from_utf8(text).unwrap())
}

#[cfg(feature = "compress")]
#[test]
fn joined_calls_are_in_the_grammar() {
    let tools = Tools::read(TOOLS).unwrap();
    let list = schema::tools(TOOLS, &tools);
    let (mut samples, mut wrong, mut written, mut dialects) = (String::new(), Vec::new(), 0, 0);
    for name in Dialect::names().filter(|name| *name != OF_NO_FAMILY) {
        let dialect = Dialect::find(name).unwrap();
        let mut builder = Builder::new(&dialect.compiled, &list, false);
        let first = builder.regions(true, builder.turn());
        if first.is_empty() {
            continue;
        }
        let node = several(first, builder.regions(false, b""));
        // `join` writes all calls that have an opener.
        let is_written = dialect.compiled.templates.calls.iter().any(|block| !block.open.is_empty());
        written += usize::from(is_written);
        let turns = ARGUMENTS.chunks(1).chain([&ARGUMENTS[..2], &ARGUMENTS[2..5], &ARGUMENTS[..]]);
        dialects += 1;
        for calls in turns {
            let text = match joined(&dialect, calls) {
                Err(JoinError::NotWritten(_)) if !is_written => break,
                text => text.unwrap_or_else(|error| panic!("{name}: {calls:?}: {error}")),
            };
            // A prompt has the beginning of the turn.
            let turn = dialect.compiled.turns.first().map_or("", |turn| std::str::from_utf8(turn).unwrap());
            let text = text.strip_prefix(turn).unwrap_or(&text);
            if !accept::accepts(&node, text) {
                wrong.push(format!("{name}: {text:?}"));
            }
            // The same call without its first key, which is required, is not in the grammar.
            if let [(tool, arguments)] = calls
                && let Some((_, rest)) = arguments.split_once(", ")
            {
                let less = joined(&dialect, &[(tool, &format!("{{{rest}"))]);
                if less.is_ok_and(|text| accept::accepts(&node, text.strip_prefix(turn).unwrap_or(&text))) {
                    wrong.push(format!("{name}: {tool} without a required key"));
                }
            }
            writeln!(samples, "{}", json!({"dialect": name, "text": text})).unwrap();
        }
    }
    if let Ok(file) = env::var("ASIDE_JOINED") {
        fs::write(file, samples).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(written > 40 && dialects > 45, "{written} of {dialects} dialects");
}
