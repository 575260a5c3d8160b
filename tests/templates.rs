//! Dialects by chat templates: those of `tests/templates`, which are built as the families' own are, and hostile ones.

#[path = "support/callgrind.rs"]
mod callgrind;

use std::{env, hint::black_box};

use aside::{Channel, Dialect, Start};

const CONTENT: Start = Start::Channel(Channel::Content);
const THINKING: Start = Start::Channel(Channel::Thinking);

fn read(name: &str) -> String {
    let path = format!("{}/tests/templates/{name}.jinja", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// File, dialect, and where generation starts.
const FOUND: &[(&str, &str, Start)] = &[
    ("apertus", "apertus", CONTENT),
    ("cohere-command-a", "cohere-command-a", THINKING),
    ("deepseek-r1", "deepseek-r1", THINKING),
    ("deepseek-v3", "deepseek-v3", CONTENT),
    ("deepseek-v4", "deepseek-v4", THINKING),
    ("gemma-4", "gemma-4", CONTENT),
    ("glm-4.5", "glm-4.5", CONTENT),
    ("glm-4.7", "glm-4.7", THINKING),
    ("granite-4", "granite-4", CONTENT),
    ("harmony", "harmony", Start::Header),
    ("k2-horizon", "k2-horizon", THINKING),
    ("kimi-k2", "kimi-k2", CONTENT),
    ("kimi-k3", "kimi-k3", THINKING),
    ("kimi-vl", "kimi-vl", CONTENT),
    ("lfm2.5", "lfm2.5", CONTENT),
    ("minicpm5", "minicpm5", CONTENT),
    ("minimax-m2", "minimax-m2", THINKING),
    ("mistral", "mistral", CONTENT),
    ("qwen3", "qwen3", CONTENT),
    ("qwen3-hybrid-open", "qwen3-thinking", THINKING),
    ("qwen3-thinking", "qwen3-thinking", THINKING),
    ("seed-oss", "seed-oss", CONTENT),
    ("smollm3", "smollm3", CONTENT),
    ("solar", "solar", Start::Header),
    ("think", "think", CONTENT),
];

/// Templates that only a list can answer.
const AMBIGUOUS: &[(&str, &[&str])] = &[
    (
        "bare-think",
        &[
            "deepseek-v3",
            "deepseek-v4",
            "dots3",
            "granite-4",
            "hy3",
            "kimi-k2",
            "laguna",
            "lfm2.5",
            "magistral-2506",
            "minimax-m1",
            "think",
        ],
    ),
    ("olmo-3", &["gigachat-3.5", "olmo-3"]),
];

#[test]
fn templates_find_their_dialect() {
    for (file, dialect, start) in FOUND {
        match Dialect::find_for_template(&read(file)) {
            Ok((found, begins)) => assert_eq!((found.name(), begins), (*dialect, *start), "{file}"),
            Err(error) => panic!("{file}: {error}"),
        }
    }
}

#[test]
fn what_cannot_be_told_apart_is_a_list() {
    for (file, candidates) in AMBIGUOUS {
        let error = Dialect::find_for_template(&read(file)).unwrap_err();
        assert_eq!(error.candidates(), *candidates, "{file}");
        assert_eq!(error.to_string(), format!("the template fits several dialects: {}", candidates.join(", ")));
    }
}

#[test]
fn templates_without_thinking_markers_find_nothing() {
    for text in [&read("no-marker"), &read("tools-alone"), "", "{% if add_generation_prompt %}", "think"] {
        let error = Dialect::find_for_template(text).unwrap_err();
        assert!(error.candidates().is_empty(), "{error}");
        assert_eq!(error.to_string(), "the template has the markers of no dialect");
    }
}

#[test]
fn what_stands_where_no_answer_is_asked_for_is_no_prompt() {
    let base = "<|im_start|>user\n<think>\n</think>\n\n<tool_call>\n";
    let thinks = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}";
    let ends = "{% if not add_generation_prompt %}{{ eos_token }}{% endif %}";
    for template in [format!("{base}{thinks}"), format!("{base}{thinks}{ends}"), format!("{base}{ends}{thinks}")] {
        let found = Dialect::find_for_template(&template).unwrap();
        assert_eq!((found.0.name(), found.1), ("qwen3-thinking", THINKING), "{template}");
    }
}

#[test]
fn every_file_is_in_a_table() {
    let folder = format!("{}/tests/templates", env!("CARGO_MANIFEST_DIR"));
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let known = FOUND.iter().any(|(file, ..)| *file == name) || AMBIGUOUS.iter().any(|(file, _)| *file == name);
        assert!(known || ["no-marker", "tools-alone"].contains(&name), "{name}");
    }
}

/// Whatever a template is cut or filled with, it is read to its end.
#[test]
fn hostile_templates_do_no_harm() {
    for (file, ..) in FOUND {
        let text = read(file);
        for (at, _) in text.char_indices() {
            let _ = Dialect::find_for_template(&text[at..]);
            let _ = Dialect::find_for_template(&text[..at]);
        }
    }
    for piece in PIECES {
        let _ = Dialect::find_for_template(&piece.repeat((1 << 20) / piece.len()));
    }
}

const PIECES: [&str; 18] = [
    "{%",
    "{{",
    "{#",
    "{",
    "}}",
    "%}",
    "{%}",
    "{{}}",
    "{{}",
    "'",
    "\\",
    "<think>",
    "{% if add_generation_prompt %}",
    "{% if add_generation_prompt %}{{ '",
    "{% if a %}",
    "{% endif %}",
    "{{ '<think>' if a else '\\",
    "\u{1f9e0}",
];

/// The only function in which callgrind counts, call by call.
#[inline(never)]
fn counted(text: &str) {
    let _ = black_box(Dialect::find_for_template(text));
}

/// Run under valgrind by the test below.
#[test]
#[ignore = "a helper of the tests of this file"]
fn work() {
    if env::var("ASIDE_WORK").is_ok() {
        for piece in PIECES {
            for size in callgrind::SIZES {
                counted(&piece.repeat(size / piece.len()));
            }
        }
    }
}

#[test]
fn reading_a_template_is_linear() {
    callgrind::linear("templates", "", &PIECES);
}
