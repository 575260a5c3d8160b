//! Streams of tool calls through aside's answers and through the crate `tool-parser`, with the same tools.
//!
//!     calls counts      feeds them under callgrind, which counts inside `counted`; a line with its name for each
//!     calls wrong       how many streams come out with other calls than those that went in, if chunks cut markers too
//!
//! Run by `scripts/benchmarks callpeers`.

use std::hint::black_box;
use std::sync::Arc;

use aside::answer::{Answer, Options, Part, Tools};
use aside::{Dialect, EndReason};
use openai_protocol::common::Tool;
use tool_parser::{Glm4MoeParser, KimiK2Parser, QwenParser, ToolParser};

/// The size of a chunk in bytes, which is that of most tokens.
const CHUNK: usize = 4;
const TOOLS: &str = r#"[{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object",
    "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]"#;

/// A family: its dialect, its parser, and the text of a call before and after the argument.
struct Family {
    name: &'static str,
    dialect: &'static str,
    parser: fn() -> Box<dyn ToolParser>,
    call: fn(usize, &str) -> String,
    around: [&'static str; 2],
}

const FAMILIES: [Family; 3] = [
    Family {
        name: "Qwen3",
        dialect: "qwen3",
        parser: || Box::new(QwenParser::new()),
        call: |_, city| {
            format!("<tool_call>\n{{\"name\": \"get_weather\", \"arguments\": {{\"city\": \"{city}\"}}}}\n</tool_call>\n")
        },
        around: ["", ""],
    },
    Family {
        name: "GLM-4.5",
        dialect: "glm-4.5",
        parser: || Box::new(Glm4MoeParser::glm45()),
        call: |_, city| {
            format!(
                "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>{city}</arg_value>\n</tool_call>\n"
            )
        },
        around: ["", ""],
    },
    Family {
        name: "Kimi K2",
        dialect: "kimi-k2",
        parser: || Box::new(KimiK2Parser::new()),
        call: |number, city| {
            format!(
                "<|tool_call_begin|>functions.get_weather:{number}<|tool_call_argument_begin|>{{\"city\": \
                 \"{city}\"}}<|tool_call_end|>"
            )
        },
        around: ["<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"],
    },
];

impl Family {
    fn text(&self, cities: &[String]) -> String {
        let calls: String = cities.iter().enumerate().map(|(number, city)| (self.call)(number, city)).collect();
        format!("{}{calls}{}", self.around[0], self.around[1])
    }
}

/// The names and the arguments of calls in order.
type Calls = Vec<(String, String)>;
/// Feeds a stream of chunks to a new parser. Returns its calls.
type Way<'a> = Box<dyn FnMut(&[&str]) -> Calls + 'a>;

fn ways(family: &Family) -> [(&'static str, Way<'_>); 2] {
    let dialect = Dialect::find(family.dialect).expect("a name of the catalogue");
    let tools = Tools::read(TOOLS).expect("tools");
    let aside = move |chunks: &[&str]| {
        let mut calls = Calls::new();
        let mut answer = Answer::new(&dialect, &Options::new().tools(Arc::clone(&tools))).expect("memory");
        let mut take = |part: Part<'_>| match part {
            Part::Call { name, .. } => calls.push((name.to_owned(), String::new())),
            Part::Arguments { index, json } => calls[index as usize].1.push_str(json),
            _ => {}
        };
        for chunk in chunks {
            answer.feed(chunk, &mut take).expect("memory");
        }
        answer.finish(EndReason::Unknown, &mut take).expect("memory");
        calls
    };
    let tools: Vec<Tool> = serde_json::from_str(TOOLS).expect("tools");
    let peer = move |chunks: &[&str]| {
        let mut calls = Calls::new();
        let mut parser = (family.parser)();
        let mut take = |items: Vec<tool_parser::types::ToolCallItem>| {
            for item in items {
                if let Some(name) = item.name {
                    calls.push((name, String::new()));
                }
                if let Some((_, arguments)) = calls.get_mut(item.tool_index) {
                    arguments.push_str(&item.parameters);
                }
            }
        };
        for chunk in chunks {
            // A chunk that the parser refuses has no calls.
            if let Ok(result) = pollster::block_on(parser.parse_incremental(chunk, &tools)) {
                take(result.calls);
            }
        }
        take(parser.get_unstreamed_tool_args().unwrap_or_default());
        calls
    };
    [("aside", Box::new(aside)), ("tool-parser", Box::new(peer))]
}

fn chunks(text: &str, size: usize) -> Vec<&str> {
    // All texts are ASCII, so every byte is a character.
    text.as_bytes().chunks(size).map(|chunk| std::str::from_utf8(chunk).expect("ASCII")).collect()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn counted(way: &mut Way<'_>, chunks: &[&str]) -> usize {
    black_box(way)(black_box(chunks)).len()
}

fn counts() {
    let short: Vec<String> = (0..8).map(|number| format!("Oslo {number}")).collect();
    let long = |kibibytes: usize| vec!["word and ".repeat(kibibytes * 1024 / 9)];
    for family in &FAMILIES {
        for (name, mut way) in ways(family) {
            for (what, cities) in [("8 short calls", &short), ("1 KiB", &long(1)), ("8 KiB", &long(8))] {
                let text = family.text(cities);
                let chunks = chunks(&text, CHUNK);
                // Objects that are made only once are not counted.
                way(&chunks);
                counted(&mut way, &chunks);
                println!("callpeers\t{name}\t{}\t{what}\t{}", family.name, chunks.len());
            }
        }
    }
}

fn wrong() {
    let cities: Vec<String> = ["Oslo", "New York", "Sao Paulo"].map(str::to_owned).to_vec();
    for family in &FAMILIES {
        let texts: Vec<String> = (1..=cities.len()).map(|count| family.text(&cities[..count])).collect();
        for (name, mut way) in ways(family) {
            let (mut all, mut wrong) = (0, 0);
            for (count, text) in (1..).zip(&texts) {
                for size in 1..48 {
                    let calls = way(&chunks(text, size));
                    let is_right = calls.len() == count
                        && calls.iter().zip(&cities).all(|((name, arguments), city)| {
                            let arguments = serde_json::from_str::<serde_json::Value>(arguments).ok();
                            name == "get_weather" && arguments == Some(serde_json::json!({ "city": city }))
                        });
                    all += 1;
                    wrong += usize::from(!is_right);
                }
            }
            println!("callwrong\t{name}\t{}\t{wrong}\t{all}", family.name);
        }
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("counts") => counts(),
        Some("wrong") => wrong(),
        _ => println!("run by scripts/benchmarks"),
    }
}
