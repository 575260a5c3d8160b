//! W9: the frames of a stream as servers write them, each with a token of a message, of about 224 bytes.

use samples::Random;

use crate::workloads::{DIALECTS, Workload};

/// Servers, and the one that writes no event stream last.
pub const SERVERS: [&str; 5] = ["vLLM", "llama.cpp", "OpenAI", "Ollama", "Ollama's own"];

/// Returns the frames of a message of `bytes` bytes in the dialect `qwen3`. Where the envelope `changes`, values that clients do
/// not need are others in each: token ids, times, padding.
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
