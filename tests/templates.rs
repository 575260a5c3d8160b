//! Finds dialects by chat templates: by those of `tests/templates`, which resemble the families' own templates, and by hostile
//! ones.

use std::{env, hint::black_box};

use aside::{Channel, Dialect, Start};
use support::callgrind;

const CONTENT: Start = Start::Channel(Channel::Content);
const THINKING: Start = Start::Channel(Channel::Thinking);

fn read(name: &str) -> String {
    let path = format!("{}/tests/templates/{name}.jinja", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The file, the dialect, and the start of the answer.
const FOUND: &[(&str, &str, Start)] = &[
    ("apertus", "apertus", CONTENT),
    ("bare-think", "magistral-2506", CONTENT),
    ("cohere-command-a", "cohere-command-a", CONTENT),
    ("cohere2", "cohere-command-a", CONTENT),
    ("deepseek-r1", "deepseek-r1", THINKING),
    ("deepseek-v3", "deepseek-v3", CONTENT),
    ("deepseek-v4", "deepseek-v4", CONTENT),
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
    ("lfm2.5-instruct", "lfm2.5", CONTENT),
    ("minicpm5", "minicpm5", CONTENT),
    ("minimax-m2", "minimax-m2", THINKING),
    ("mistral", "mistral", CONTENT),
    ("olmo-3", "olmo-3", THINKING),
    ("qwen3", "qwen3", CONTENT),
    ("qwen3-hybrid-open", "qwen3-thinking", THINKING),
    ("qwen3-thinking", "qwen3-thinking", THINKING),
    ("seed-oss", "seed-oss", CONTENT),
    ("smollm3", "smollm3", CONTENT),
    ("solar", "solar", Start::Header),
    ("think", "think", CONTENT),
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

/// Checks dialects that fit equally well, and differ in something that the template has.
#[test]
fn what_cannot_be_told_apart_is_a_list() {
    let error = Dialect::find_for_template("{{ '[unused16]◁think▷' }}").unwrap_err();
    assert_eq!(error.candidates(), ["kimi-vl", "openpangu"]);
    assert_eq!(error.to_string(), "the template fits several dialects: kimi-vl, openpangu");
    assert!(!error.is_out_of_memory());
}

/// Checks dialects that do not differ in anything that the template has: each is right, and the first one is found.
#[test]
fn what_makes_no_difference_is_found() {
    let (found, start) = Dialect::find_for_template("{{ message.content.split('</think>')[-1] }}").unwrap();
    assert_eq!((found.name(), start), ("magistral-2506", CONTENT));
}

/// Conditions of a branch, and whether the branch is taken without variables.
const CONDITIONS: &[(&str, bool)] = &[
    ("enable_thinking", false),
    ("not enable_thinking", true),
    ("enable_thinking is defined and enable_thinking", false),
    ("enable_thinking is not defined or enable_thinking", true),
    ("enable_thinking | default(false)", false),
    ("enable_thinking|default(true)", true),
    ("(enable_thinking | default(none)) is none", true),
    ("enable_thinking is defined and enable_thinking is false", false),
    ("not (enable_thinking is defined and enable_thinking is false)", true),
    ("not (enable_thinking is defined and not enable_thinking)", true),
    ("enable_thinking is undefined", true),
    ("reasoning_effort == 'none'", false),
    ("reasoning_effort is defined and reasoning_effort == 'none'", false),
    ("reasoning_effort != 'none'", true),
    ("reasoning_effort | default('high') in ['medium', 'high']", true),
    ("reasoning_effort | default('low') in ['medium', 'high']", false),
    ("reasoning_effort | default('low') not in [\"medium\", 'high']", true),
    ("(reasoning_effort if reasoning_effort is defined else 'high') == 'high'", true),
    ("true and not false or none", true),
    ("'' or 'a'", true),
    ("tools", false),
    ("messages", true),
    ("add_generation_prompt is defined and add_generation_prompt", true),
    ("bos_token", true),
    ("'a' ~ 'b' == 'ab'", true),
    ("'a' + \"'\" in \"ba'\"", true),
    ("x is defined and x is string", false),
    ("x is none", false),
    ("not x is defined", true),
];

#[test]
fn the_branches_that_count_are_taken_by_default() {
    let template = |before: &str, condition: &str| {
        let prompt = format!("{{{{ '<|turn>model\\n' }}}}{{% if {condition} %}}<|channel>thought\n{{% endif %}}");
        format!("{before}{{% if add_generation_prompt %}}{prompt}{{% endif %}}")
    };
    let start_of = |template: &str| {
        let (found, start) = Dialect::find_for_template(template).unwrap();
        assert_eq!(found.name(), "gemma-4");
        start
    };
    for (condition, is_taken) in CONDITIONS {
        let other = format!("not ({condition})");
        for (condition, is_taken) in [(*condition, *is_taken), (&*other, !is_taken)] {
            let start = if is_taken { THINKING } else { CONTENT };
            assert_eq!(start_of(&template("", condition)), start, "{condition}");
            // The same with variables that the template sets.
            let before = format!("{{%- set answer = {condition} -%}}{{%- set ns = namespace(a=answer, b=1) -%}}");
            assert_eq!(start_of(&template(&before, "ns.a")), start, "{condition}");
            let before =
                format!("{{% if {condition} %}}{{% set x = true %}}{{% else %}}{{% set x = false %}}{{% endif %}}");
            assert_eq!(start_of(&template(&before, "x")), start, "{condition}");
            let chain = format!("false %}}{{% elif {condition}");
            assert_eq!(start_of(&template("", &chain)), start, "{condition}");
            let chain = format!("not ({condition}) %}}{{% else");
            assert_eq!(start_of(&template("", &chain)), start, "{condition}");
        }
    }
}

/// Checks that a prompt that opens the thinking may close it again.
#[test]
fn what_closes_the_thinking_again_counts() {
    for (rest, start) in [
        ("{{ '<|channel>thought\n<channel|>' }}", CONTENT),
        ("<|channel>thought\n{% if not enable_thinking %}<channel|>{% endif %}", CONTENT),
        ("<|channel>thought\n{% if enable_thinking %}{% else %}<channel|>{% endif %}", CONTENT),
        ("<|channel>thought\n{% if enable_thinking %}<channel|>{% endif %}", THINKING),
        ("{{ '<|channel>thought\n' if not enable_thinking else '' }}", THINKING),
        ("{{ '<|channel>thought\n' if enable_thinking }}", CONTENT),
        ("{% set opener = '<|channel>' ~ 'thought\n' %}{{ opener }}", THINKING),
    ] {
        let template = format!("{{% if add_generation_prompt %}}{{{{ '<|turn>model\n' }}}}{rest}{{% endif %}}");
        let (found, begins) = Dialect::find_for_template(&template).unwrap();
        assert_eq!((found.name(), begins), ("gemma-4", start), "{rest}");
    }
}

#[test]
fn templates_without_thinking_markers_find_nothing() {
    for text in [&read("no-marker"), "", "{% if add_generation_prompt %}", "think"] {
        let error = Dialect::find_for_template(text).unwrap_err();
        assert!(error.candidates().is_empty(), "{error}");
        assert_eq!(error.to_string(), "the template has the markers of no dialect");
    }
    // The dialect is found by the calls in this template.
    let (found, begins) = Dialect::find_for_template(&read("tools-alone")).unwrap();
    assert_eq!((found.name(), begins), ("qwen3", CONTENT));
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
        let known = FOUND.iter().any(|(file, ..)| *file == name);
        assert!(known || ["no-marker", "tools-alone"].contains(&name), "{name}");
    }
}

/// Checks that cut templates, and templates that repeat one piece, are read without a panic.
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

const PIECES: [&str; 31] = [
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
    "{% set a = a ~ 'bcdefgh' ~ a %}",
    "{% set a.b = 'x' %}{% set b.c = d.e %}",
    "{% set ns = namespace(a='b', c=d) %}",
    "{{ ((((a)))) }}",
    "{{ (",
    "(",
    "[",
    "not ",
    "{{ a | default(b) is c ",
    "a if b else ",
    "{% if add_generation_prompt %}{% if a.b %}x{% elif a.b %}y",
    "{% if add_generation_prompt %}{% if a.b %}x{% else %}y{% endif %}",
    "{{ '\\\\'",
];

/// Runs the measured code. Callgrind counts only inside this function, and writes a count for each call.
#[inline(never)]
fn counted(text: &str) {
    let _ = black_box(Dialect::find_for_template(text));
}

/// Runs the measured work under valgrind, for the test below.
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
