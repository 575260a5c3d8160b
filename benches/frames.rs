//! W9: the frames of a stream as servers write them, each with a token of a message, and about 224 bytes long.

use samples::Random;

use crate::workloads::{DIALECTS, Workload};

/// Servers. The last one does not write an event stream.
pub const SERVERS: [&str; 5] = ["vLLM", "llama.cpp", "OpenAI", "Ollama", "Ollama's own"];

/// Returns the frames of a message of `bytes` bytes in the dialect `qwen3`. If the envelope `changes`, each frame has different
/// values that clients do not need: token ids, times, padding.
pub fn frames(server: &str, changes: bool, bytes: usize) -> Vec<String> {
    let markers = DIALECTS.iter().find(|markers| markers.dialect == "qwen3").expect("a dialect of the workloads");
    let message = Workload::new("W2", markers, bytes);
    let mut random = Random::new(7);
    let chunks = message.messages.iter().flat_map(|message| message.chunks());
    let frames = chunks.enumerate().map(|(number, token)| {
        let token = std::str::from_utf8(token).expect("no token cuts a character");
        let (time, id, rest) = match changes {
            true => (1_764_000_000 + number / 40, random.below(151_936), random.below(15)),
            false => (1_764_000_000, 4711, 4),
        };
        frame(server, &escaped(token), time, id, &"xK3vQ9ZbLm2TrWd"[..1 + rest])
    });
    frames.collect()
}

/// A stream of events.
pub struct Stream {
    pub name: &'static str,
    /// Whether the host wants calls.
    pub calls: bool,
    /// The frames before the measured ones.
    pub before: String,
    pub frames: Vec<String>,
}

/// Returns streams with texts of `bytes` bytes in the dialect `qwen3`: a stream of chat, streams of other formats, and streams of
/// chat with many tool calls, with a call with a long argument, and with a tool span without a call.
pub fn streams(bytes: usize) -> Vec<Stream> {
    let tokens = || {
        let markers = DIALECTS.iter().find(|markers| markers.dialect == "qwen3").expect("a dialect of the workloads");
        let message = Workload::new("W2", markers, bytes);
        let chunks = message.messages.iter().flat_map(|message| message.chunks());
        chunks.map(|token| String::from_utf8(token.to_vec()).expect("no token cuts a character")).collect::<Vec<_>>()
    };
    let pieces = |text: &str| text.as_bytes().chunks(4).map(|piece| escaped(&String::from_utf8_lossy(piece))).collect();
    let call = |text: &str| {
        format!("<tool_call>\n{{\"name\": \"write\", \"arguments\": {{\"text\": \"{text}\"}}}}\n</tool_call>\n")
    };
    let short: Vec<String> = pieces(&call("a few words").repeat(bytes / 80));
    // The call has no end.
    let long: Vec<String> = pieces(call(&"word ".repeat(bytes / 5)).split_once("\"}}").expect("the end of a call").0);
    let none: Vec<String> = pieces(&format!("<tool_call>\n{}", "word ".repeat(bytes / 5)));
    let chat = |name, calls, tokens: &[String]| {
        let frames = tokens.iter().map(|token| frame(SERVERS[0], token, 1_764_000_000, 4711, ""));
        Stream { name, calls, before: frame(SERVERS[0], "</think>", 1_764_000_000, 4711, ""), frames: frames.collect() }
    };
    let named = |kind: &str, rest: &str| format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{rest}}}\n\n");
    let blocks = |token: String| {
        let delta = format!("\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{}\"}}", escaped(&token));
        named("content_block_delta", &delta)
    };
    let place = "\"item_id\":\"msg_68f0c7e4a9d4d6f\",\"output_index\":0,\"content_index\":0";
    let items = |(number, token): (usize, String)| {
        let number = number + 4;
        let token = escaped(&token);
        let delta = format!("\"sequence_number\":{number},{place},\"delta\":\"{token}\",\"logprobs\":[]");
        named("response.output_text.delta", &delta)
    };
    let plain: Vec<String> = tokens().iter().map(|token| escaped(token)).collect();
    vec![
        chat("chat", false, &plain),
        Stream {
            name: "Messages",
            calls: false,
            before: named(
                "message_start",
                "\"message\":{\"id\":\"msg_01\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}",
            ) + &named(
                "content_block_start",
                "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}",
            ),
            frames: tokens().into_iter().map(blocks).collect(),
        },
        Stream {
            name: "Responses",
            calls: false,
            before: named(
                "response.output_item.added",
                "\"sequence_number\":2,\"output_index\":0,\"item\":{\"id\":\"msg_68f0c7e4a9d4d6f\",\"type\":\"message\",\
                 \"status\":\"in_progress\",\"content\":[],\"role\":\"assistant\"}",
            ) + &named(
                "response.content_part.added",
                &format!("\"sequence_number\":3,{place},\"part\":{{\"type\":\"output_text\",\"text\":\"\"}}"),
            ),
            frames: tokens().into_iter().enumerate().map(items).collect(),
        },
        chat("calls, short", true, &short),
        chat("calls, long", true, &long),
        chat("calls, none", true, &none),
        chat("calls, not asked for", false, &long),
    ]
}

fn escaped(token: &str) -> String {
    token.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn frame(server: &str, token: &str, time: usize, id: usize, padding: &str) -> String {
    match server {
        "vLLM" => format!(
            "data: {{\"id\":\"chatcmpl-5b3f0c7e4a9d4d6f\",\"object\":\"chat.completion.chunk\",\"created\":{time},\"model\":\
             \"Qwen/Qwen3-8B\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{token}\"}},\"logprobs\":null,\
             \"finish_reason\":null,\"token_ids\":[{id}]}}]}}\n\n"
        ),
        "llama.cpp" => format!(
            "data: {{\"choices\":[{{\"finish_reason\":null,\"index\":0,\"delta\":{{\"content\":\"{token}\"}}}}],\"created\":\
             {time},\"id\":\"chatcmpl-lYAFbQ0xVPxnzUYbq6vI6fLNCxLZQLOA\",\"model\":\"Qwen3-8B-Q4_K_M\",\
             \"system_fingerprint\":\"b6940-{id:06}\",\"object\":\"chat.completion.chunk\"}}\n\n"
        ),
        "OpenAI" => format!(
            "data: {{\"id\":\"chatcmpl-CfYw3Uq1nX\",\"object\":\"chat.completion.chunk\",\"created\":{time},\"model\":\
             \"gpt-oss-20b\",\"service_tier\":\"default\",\"system_fingerprint\":null,\"choices\":[{{\"index\":0,\"delta\":\
             {{\"content\":\"{token}\"}},\"finish_reason\":null}}],\"obfuscation\":\"{padding}\"}}\n\n"
        ),
        "Ollama" => format!(
            "data: {{\"id\":\"chatcmpl-871\",\"object\":\"chat.completion.chunk\",\"created\":{time},\"model\":\"qwen3:8b\",\
             \"system_fingerprint\":\"fp_ollama\",\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\
             \"{token}\"}},\"finish_reason\":null}}]}}\n\n"
        ),
        _ => format!(
            "{{\"model\":\"qwen3:8b\",\"created_at\":\"2026-11-25T10:00:{:02}.{id:06}Z\",\"message\":{{\"role\":\"assistant\",\
             \"content\":\"{token}\"}},\"done\":false}}\n",
            time % 60
        ),
    }
}
