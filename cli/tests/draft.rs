//! Runs `aside draft` on a template from each kind of source, and reads an answer with the draft.
#![cfg(feature = "templates")]

use std::fs;
use std::process::Command;
use support::program::{err, out, run, scratch};

const TEMPLATE: &str = "{% for m in messages %}<|{{ m.role }}|>{% if m.reasoning %}<reflect>{{ m.reasoning }}</reflect>{% endif %}\
    {{ m.content or '' }}{% for c in m.tool_calls or [] %}<call>{\"name\": \"{{ c.function.name }}\", \
    \"arguments\": {{ c.function.arguments | tojson }}}</call>{% endfor %}{{ eos_token }}{% endfor %}\
    {% if add_generation_prompt %}<|assistant|>{% endif %}";
const ANSWER: &str = "<reflect>hm</reflect>Yes.<call>{\"name\": \"f\", \"arguments\": {}}</call></s>";

fn aside(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aside"));
    command.args(arguments);
    command
}

#[test]
fn a_template_is_drafted_wherever_it_is() {
    let folder = scratch("new-model");
    fs::create_dir_all(&folder).unwrap();
    let template = folder.join("chat_template.jinja");
    fs::write(&template, TEMPLATE).unwrap();
    let config = serde_json::json!({"chat_template": TEMPLATE, "eos_token": "</s>"}).to_string();
    let configured = folder.join("tokenizer_config.json");
    fs::write(&configured, &config).unwrap();
    for (source, name, doubts) in [(&template, "draft", 1), (&configured, "draft", 0), (&folder, "new-model", 0)] {
        let output = run(aside(&["draft"]).arg(source));
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        assert!(out(&output).contains(&format!("name = \"{name}\"\n")), "{}", out(&output));
        assert_eq!(err(&output).lines().count(), doubts, "{}", err(&output));
        // The file is correct, and reads an answer.
        let file = scratch("drafted.toml");
        fs::write(&file, output.stdout).unwrap();
        let checked = run(aside(&["check", "--template"]).arg(&template).arg(&file));
        assert!(out(&checked).contains("right however the text is cut"), "{}", out(&checked));
        let answer = scratch("answer.txt");
        fs::write(&answer, ANSWER).unwrap();
        let split = run(aside(&["split", "--calls", "--dialect-file"]).arg(&file).arg(&answer));
        assert!(out(&split).contains("hm") && out(&split).contains("Yes."), "{}", out(&split));
    }
    let named = run(aside(&["draft", "--name", "mine"]).arg(&folder));
    assert!(out(&named).contains("name = \"mine\"\n"), "{}", out(&named));
    // A checkpoint whose template is only in its configuration, and a checkpoint without a template.
    fs::remove_file(&template).unwrap();
    assert_eq!(run(aside(&["draft"]).arg(&folder)).status.code(), Some(0));
    fs::remove_file(&configured).unwrap();
    let none = run(aside(&["draft"]).arg(&folder));
    assert_eq!(none.status.code(), Some(1));
    assert!(err(&none).contains("it has no chat_template.jinja"), "{}", err(&none));
}

#[test]
fn what_cannot_be_drafted_fails_with_the_reason() {
    let file = scratch("plain.jinja");
    for (template, why) in
        [("{{ messages[0].content }}", "its turns do not show an answer"), ("{{ '", "cannot be rendered")]
    {
        fs::write(&file, template).unwrap();
        let output = run(aside(&["draft"]).arg(&file));
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
        assert!(err(&output).contains(why), "{}", err(&output));
    }
    // An example that the draft reads differently from the template: the model's own words are between brackets.
    let wrong = TEMPLATE.replace("{{ m.content or '' }}", "<call>{{ m.content or '' }}");
    fs::write(&file, wrong).unwrap();
    let output = run(aside(&["draft"]).arg(&file));
    assert_eq!(output.status.code(), Some(1), "{}", out(&output));
    assert!(err(&output).contains("not right"), "{}", err(&output));
}

#[test]
fn a_stream_is_split_by_a_draft_where_that_is_asked_for() {
    let (template, answer) = (scratch("unknown.jinja"), scratch("unknown.txt"));
    fs::write(&template, TEMPLATE).unwrap();
    fs::write(&answer, ANSWER).unwrap();
    let without = run(aside(&["split", "--template"]).arg(&template).arg(&answer));
    assert_eq!(without.status.code(), Some(1));
    let with = run(aside(&["split", "--draft", "--template"]).arg(&template).arg(&answer));
    assert_eq!(with.status.code(), Some(0), "{}", err(&with));
    assert!(err(&with).contains("this is read by a draft") && err(&with).contains("eos_token"), "{}", err(&with));
    assert!(out(&with).contains("hm"), "{}", out(&with));
    let alone = run(aside(&["split", "--draft"]).arg(&answer));
    assert_eq!(alone.status.code(), Some(2));
}
