//! Renders a loop of tool calls with the chat templates of four models (`tests/field/templates`). The prompt of the third turn must
//! have the thinking of the earlier turns where the model wrote it, whatever name the client uses for the thinking.

#![cfg(feature = "templates")]

use std::fs;

use aside::Dialect;
use aside::history::{Format, Name, Options, Server, rewrite};
use minijinja::{Environment, Error, ErrorKind, Value, syntax::SyntaxConfig, value::Kwargs};
use minijinja_contrib::pycompat;
use serde_json::{Map, json};
use support::ROOT;

/// The file, the beginning of a model's turn with its thinking, and the variable that switches the thinking on.
const TEMPLATES: &[(&str, &str, &str)] = &[
    ("ik_Qwen-Qwen3-0.6B.jinja", "<|im_start|>assistant\n<think>\n{}\n</think>\n\n", "enable_thinking"),
    ("ik_deepseek-ai-DeepSeek-V4.jinja", "<｜Assistant｜><think>{}</think>", "thinking"),
    ("ovms_chat_template_gpt_oss.jinja", "<|start|>assistant<|channel|>analysis<|message|>{}<|end|>", "thinking"),
    ("anew_kimi-k2-thinking.jinja", "<|im_assistant|>assistant<|im_middle|><think>{}</think>", "thinking"),
];

const THOUGHTS: [&str; 2] = ["The user wants é \"weather\".", "Rain.\nNow the clock."];

/// Returns the request for the third turn from a client that received the thinking under this name.
fn request(name: &str) -> String {
    let turn = |at: usize, tool: &str| {
        let call = json!({"id": format!("functions.{tool}:{at}"), "type": "function", "function": {"name": tool, "arguments": {}}});
        let mut turn = json!({"role": "assistant", "content": "", "tool_calls": [call]});
        turn[name] = THOUGHTS[at].into();
        turn
    };
    let result = |at: usize, tool: &str| json!({"role": "tool", "tool_call_id": format!("functions.{tool}:{at}"), "name": tool, "content": "noon"});
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "description": "", "parameters": {"type": "object", "properties": {}}}});
    let messages = json!([
        {"role": "user", "content": "How is Paris, and when?"},
        turn(0, "weather"), result(0, "weather"), turn(1, "clock"), result(1, "clock"),
    ]);
    json!({"model": "m", "messages": messages, "tools": [tool("weather"), tool("clock")]}).to_string()
}

/// Renders the prompt of a request like a server that reads the thinking under one name and passes it to the template under all
/// names that templates use.
fn prompt(file: &str, thinks: &str, reads: &str, request: &str) -> String {
    let mut request: serde_json::Value = serde_json::from_str(request).unwrap();
    for message in request["messages"].as_array_mut().unwrap() {
        let message = message.as_object_mut().unwrap();
        let thinking = message.remove(reads);
        for name in ["reasoning", "reasoning_content", "thinking", "reasoning_details"] {
            message.remove(name);
        }
        if let Some(thinking) = thinking {
            message.insert("reasoning".into(), thinking.clone());
            message.insert("reasoning_content".into(), thinking);
        }
    }
    let mut variables: Map<String, serde_json::Value> = request.as_object().unwrap().clone();
    variables.insert("add_generation_prompt".into(), true.into());
    variables.insert(thinks.into(), true.into());
    let variables: Value = serde_json::from_value(variables.into()).unwrap();
    let template = fs::read_to_string(format!("{ROOT}/tests/field/templates/{file}")).unwrap();
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().unwrap());
    // Templates append text to their own lists only, which is not in the prompt.
    environment.set_unknown_method_callback(|state, value, method, arguments| match method {
        "append" => Ok(Value::from(())),
        _ => pycompat::unknown_method_callback(state, value, method, arguments),
    });
    environment.add_filter("tojson", |value: Value, _: Kwargs| serde_json::to_string(&value).unwrap());
    environment.add_function("strftime_now", |_: String| "2026-01-01");
    let raise = |message: String| -> Result<Value, Error> { Err(Error::new(ErrorKind::InvalidOperation, message)) };
    environment.add_function("raise_exception", raise);
    let rendered = environment.template_from_named_str(file, &template).and_then(|it| it.render(variables));
    rendered.unwrap_or_else(|error| panic!("{file}: {error:#}"))
}

/// Returns whether the prompt has all thoughts in order, each once, as the model wrote them.
fn has_thoughts(prompt: &str, turn: &str) -> bool {
    let mut rest = prompt;
    THOUGHTS.iter().all(|thought| match rest.split_once(&turn.replace("{}", thought)) {
        Some((_, after)) => {
            rest = after;
            prompt.matches(thought).count() == 1
        }
        None => false,
    })
}

#[test]
fn the_third_turn_has_the_thinking_where_the_model_had_it() {
    for (file, turn, thinks) in TEMPLATES {
        for (server, reads) in
            [("vllm", "reasoning"), ("sglang", "reasoning_content"), ("llama.cpp", "reasoning_content")]
        {
            let server = Server::find(server).unwrap();
            let options = server.options(Format::Chat).unwrap();
            for sends in ["reasoning_content", "reasoning", "thinking"] {
                let sent = request(sends);
                let (body, report) = rewrite(&sent, options).unwrap();
                let body = String::from_utf8(body).unwrap();
                assert_eq!(report.changed, if sends == reads { 0 } else { 2 }, "{file}, {sends}");
                let prompt = prompt(file, thinks, reads, &body);
                assert!(has_thoughts(&prompt, turn), "{file}, {sends}: {prompt}");
                // Without the rewriting, the model does not get the thinking, unless the names agree.
                let without = self::prompt(file, thinks, reads, &sent);
                assert_eq!(has_thoughts(&without, turn), sends == reads, "{file}, {sends}: {without}");
            }
        }
    }
}

/// Checks that a template that searches the content for the markers makes the same prompt from markers in the content.
#[test]
fn thinking_in_the_text_makes_the_same_prompt() {
    let (file, turn, thinks) = TEMPLATES[0];
    let sent = request("reasoning_content");
    let options = Options::new(Format::Chat).name(Name::Text(Dialect::find("qwen3").unwrap()));
    let (body, report) = rewrite(&sent, &options).unwrap();
    assert_eq!((report.changed, report.refused), (2, 0));
    let body = String::from_utf8(body).unwrap();
    assert!(!body.contains("reasoning_content"), "{body}");
    let prompt = prompt(file, thinks, "reasoning_content", &body);
    assert!(has_thoughts(&prompt, turn), "{prompt}");
    assert_eq!(prompt, self::prompt(file, thinks, "reasoning_content", &sent));
}
