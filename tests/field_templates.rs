//! Looks up published chat templates (`tests/field/templates`): the library must find the dialect and the start in the index for
//! each. It reads the templates, and with the feature `templates` also renders them.

use std::{collections::BTreeSet, fs};

use aside::{Dialect, Start, UnknownTemplate};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/field/templates");

struct Row {
    file: String,
    /// The dialects, each of which is right. Empty if the template has no thinking.
    dialects: Vec<String>,
    start: Option<Start>,
    text: String,
}

fn rows() -> Vec<Row> {
    let index = fs::read_to_string(format!("{FOLDER}/INDEX.tsv")).unwrap();
    let rows = index.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, dialects, start, _repository, _path, _blob, _licence] = fields[..] else { panic!("{line}") };
        Row {
            file: file.to_owned(),
            dialects: dialects.split('|').filter(|name| *name != "-").map(ToOwned::to_owned).collect(),
            start: (start != "-").then(|| start.parse().unwrap()),
            text: fs::read_to_string(format!("{FOLDER}/{file}")).unwrap_or_else(|error| panic!("{file}: {error}")),
        }
    });
    rows.collect()
}

#[test]
fn each_finds_its_dialect_and_start() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows() {
        // This dialect is added in a later version.
        if !row.dialects.is_empty() && Dialect::names().all(|name| row.dialects.iter().all(|dialect| dialect != name)) {
            assert_eq!(row.file, "anew_laguna.jinja");
            continue;
        }
        count += 1;
        for found in ways(&row.text) {
            let is_right = match &found {
                Ok((dialect, start)) => {
                    row.dialects.iter().any(|name| name == dialect.name()) && row.start == Some(*start)
                }
                Err(error) => row.dialects.is_empty() && error.candidates().is_empty(),
            };
            if !is_right {
                wrong.push(format!("{}: {found:?}, not {:?} from {:?}", row.file, row.dialects, row.start));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}: {wrong:#?}", wrong.len());
    assert!(count > 50, "{count} templates");
}

/// Returns the results of reading a template and of rendering it.
fn ways(template: &str) -> Vec<Result<(Dialect, Start), UnknownTemplate>> {
    vec![
        Dialect::find_for_template(template),
        #[cfg(feature = "templates")]
        Dialect::find_for_rendered_template(template, ""),
    ]
}

#[test]
fn every_file_is_in_the_index() {
    let listed: BTreeSet<String> = rows().into_iter().map(|row| row.file).collect();
    let files = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = files.filter(|file| file != "INDEX.tsv" && file != "README.md").collect();
    assert_eq!(files, listed);
}

/// Checks templates of unknown families that share calls or role lines with a known one: the error must name the marker that the
/// nearest dialect does not have.
#[test]
fn a_marker_that_no_dialect_has_is_named() {
    let text = |file: &str| rows().into_iter().find(|row| row.file == file).unwrap().text;
    // The role lines of this template are words, and it has no calls.
    let roles = "{% for m in messages %}{{ m.role }}: {{ m.content.split('</think>')[-1] }}\n\n{% endfor %}\
                 {% if add_generation_prompt %}{{ 'Assistant:' }}{% if enable_thinking %}{{ ' <think>' }}\
                 {% else %}{{ ' <think>\n</think>' }}{% endif %}{% endif %}";
    let thoughts = "{% for m in messages %}<|{{ m.role }}|>{% if m.thought %}<thinking>{{ m.thought }}</thinking>{% endif %}\
                    {{ m.content }}{% for c in m.tool_calls or [] %}<tool_calls>[{{ c.function | tojson }}]</tool_calls>{% endfor %}\
                    <|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
    for (template, marker, nearest) in [
        (
            text("ik_GLM-5.2.jinja").replace("<think>", "<|reflect|>"),
            "<|reflect|>",
            &["think", "glm-4.7", "glm-4.5"][..],
        ),
        (
            text("ik_GLM-5.2.jinja").replace("<think>", "<|reflect|>").replace("</think>", "<|/reflect|>"),
            "<|reflect|>",
            &["think"],
        ),
        (text("anew_lfm2.jinja").replace("<think>", "[[").replace("</think>", "]]"), "]]", &["lfm2.5"]),
        (text("ik_StepFun3.5-Flash.jinja").replace("think>", "cogitate>"), "<cogitate>", &["step-3.5"]),
        (roles.to_owned(), "Assistant:", &["hunyuan-a13b", "deepseek-r1"]),
        (thoughts.to_owned(), "<tool_calls>[", &["nova"]),
    ] {
        let error = Dialect::find_for_template(&template).unwrap_err();
        assert_eq!(error.unnamed(), Some(marker), "{error}");
        assert!(nearest.contains(&error.nearest().unwrap()), "{error}");
        assert!(error.candidates().is_empty() && !error.is_out_of_memory() && !error.is_of_variables());
        assert!(error.to_string().contains(&format!("`{marker}`")), "{error}");
        // The second time, the result is cached.
        assert_eq!(Dialect::find_for_template(&template).unwrap_err(), error);
    }
}

/// Checks that the start of an answer is found from the variables of its request.
#[cfg(feature = "templates")]
#[test]
fn the_variables_of_a_request_count() {
    use aside::Channel::{Content, Thinking};
    const TOOLS: &str =
        r#"{"tools": [{"type": "function", "function": {"name": "f", "description": "", "parameters": {}}}]}"#;
    for (file, variables, start) in [
        ("ik_Qwen-Qwen3-0.6B.jinja", "{}", Content),
        ("ik_Qwen-Qwen3-0.6B.jinja", r#"{"enable_thinking": false}"#, Content),
        ("ik_Qwen3.5-4B.jinja", "", Thinking),
        ("ik_Qwen3.5-4B.jinja", r#"{"enable_thinking": false}"#, Content),
        ("ik_Qwen3.5-4B.jinja", TOOLS, Thinking),
        ("ik_deepseek-ai-DeepSeek-V3.1.jinja", r#"{"thinking": true}"#, Thinking),
        ("ik_deepseek-ai-DeepSeek-V3.1.jinja", r#"{"thinking": false}"#, Content),
        ("ik_GLM-5.2.jinja", r#"{"enable_thinking": false}"#, Content),
        ("anew_cohere2-moe.jinja", r#"{"reasoning": false}"#, Content),
        // The prompt ends with a call's result.
        (
            "ik_deepseek-ai-DeepSeek-V3.1.jinja",
            r#"{"thinking": true, "messages": [{"role": "user", "content": "<think>"}, {"role": "assistant",
                "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                {"role": "tool", "content": "1"}]}"#,
            Content,
        ),
        ("ik_Qwen3.5-4B.jinja", r#"{"add_generation_prompt": false}"#, Content),
    ] {
        let row = rows().into_iter().find(|row| row.file == file).unwrap();
        let (dialect, found) = Dialect::find_for_rendered_template(&row.text, variables).unwrap();
        assert_eq!(found, Start::Channel(start), "{file} with {variables}");
        assert!(row.dialects.iter().any(|name| name == dialect.name()), "{file}: {dialect:?}");
    }
}

#[cfg(feature = "templates")]
#[test]
fn variables_that_cannot_be_are_refused() {
    let template = rows().into_iter().find(|row| row.file == "ik_Qwen3.5-4B.jinja").unwrap().text;
    for (variables, message) in [
        ("{", "the variables are not JSON: "),
        ("[]", "the variables are not a JSON object: "),
        (r#"{"messages": []}"#, "the template cannot be rendered with these variables: invalid operation: No messages"),
    ] {
        let error = Dialect::find_for_rendered_template(&template, variables).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert!(error.is_of_variables() && error.candidates().is_empty() && !error.is_out_of_memory());
    }
    let error = Dialect::find_for_rendered_template("plain", "{}").unwrap_err();
    assert_eq!(error.to_string(), "the template has the markers of no dialect");
}

/// Checks that a template is rendered if it only looks deep or long, or is nested in a way that the compiler does not mind.
#[cfg(feature = "templates")]
#[test]
fn harmless_templates_are_rendered() {
    use aside::Channel;
    let prompt = "{% if add_generation_prompt %}<|turn>model\n{% if x %}<|channel>{% endif %}{% endif %}";
    for before in [
        "{% raw %}{{ \" {% endraw %}",
        "{# \" {{ #}",
        "{% set ns = namespace(x=[]) %}{% for i in range(50) %}{% set ns.x = ns.x + [i] %}{% endfor %}",
        "{% set ns = namespace() %}{% set ns.x, ns.y = 1, {'a': [1, (2, 3)]} -%}{% set ns.z %}a{% endset %}",
        "{%- set ns = namespace(x='') -%}{%- set ns.x = ns.x ~ 'a' if true else 'b' -%}",
        "{%- generation -%}{{ '}}' }}{%- endgeneration +%}",
        "{% set l = [] %}{% set _ = l.append(1) %}",
        "{{ '{} of {:>3}'.format(1, 2) }}",
        "{{ [1, 'é'] | tojson(indent=2, ensure_ascii=true, separators=(', ', ': '), sort_keys=true) }}",
        "{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{% break %}{% endfor %}",
        "{{ raise_exception('no') if not messages }}{{ strftime_now('%Y') }}",
    ] {
        for (variables, start) in [("{}", Channel::Content), (r#"{"x": 1}"#, Channel::Thinking)] {
            let found = Dialect::find_for_rendered_template(&format!("{before}{prompt}"), variables);
            let (dialect, begins) = found.unwrap_or_else(|error| panic!("{before}: {error}"));
            assert_eq!((dialect.name(), begins), ("gemma-4", Start::Channel(start)), "{before}");
        }
    }
}

/// Checks the results of template filters, which must be those of inference engines. In these templates, a true condition opens the
/// thinking.
#[cfg(feature = "templates")]
#[test]
fn filters_are_those_of_the_hosts() {
    use aside::Channel;
    for (condition, holds) in [
        (r#"({'a': [true, false, none, 1.5]} | tojson) == '{"a": [true, false, null, 1.5]}'"#, true),
        (r#"('{"a": [true, 1]}' | from_json).a[1] == 1"#, true),
        (r#"({'a': 1} | from_json).a == 1"#, true),
        (r#"('[' * 100 ~ ']' * 100) | from_json"#, false),
        ("'{' | from_json", false),
    ] {
        let template = format!(
            "{{% if add_generation_prompt %}}<|turn>model\n{{% if {condition} %}}<|channel>{{% endif %}}{{% endif %}}"
        );
        match Dialect::find_for_rendered_template(&template, "") {
            Ok((_, start)) => assert!(holds && start == Start::Channel(Channel::Thinking), "{condition}: {start:?}"),
            Err(error) => assert!(!holds && error.is_of_variables(), "{condition}: {error}"),
        }
    }
}

/// For each template, the text in its turns that its dialect does not read as the template wrote it, and the reason.
#[cfg(feature = "templates")]
const DIFFERENCES: [(&str, &str, &[&str]); 12] = [
    (
        "ik_Apriel-1.6-15b-Thinker-fixed.jinja",
        "a turn of the history has not the words with which the prompt begins the thinking",
        &[
            r#"the thinking is "", without the thought"#,
            r"before the answer, `aside-thought\n[BEGIN FINAL RESPONSE]\n` stays in the content",
            "around a call, `aside-thought\n[BEGIN FINAL RESPONSE]` stays in the content",
        ],
    ),
    (
        "ik_deepseek-ai-DeepSeek-R1-Distill-Qwen-32B.jinja",
        "it writes an empty turn after the calls",
        &["around a call, `<｜Assistant｜>` stays in the content"],
    ),
    (
        "anew_muse.jinja",
        "it writes the arguments as JSON, for which no report shows an answer of the model",
        &["of a turn with a call, these calls are read: []"],
    ),
    (
        "ovms_chat_template_gpt_oss.jinja",
        "it writes the arguments as Python does, which is not JSON",
        &[r#"of a turn with a call, these calls are read: [("aside_invocation", "{")]"#],
    ),
    (
        "kaito_tool-chat-mistral.jinja",
        "a blank comes before an answer, and the model does not write it",
        &["before the answer, ` ` stays in the content"],
    ),
    ("ovmst_chat_template_mistral7b_v03.jinja", "as above", &["before the answer, ` ` stays in the content"]),
    (
        "ovms_chat_template_phi4_mini.jinja",
        "it writes calls in the history otherwise than it tells the model to",
        &[
            "after the answer, `<|assistant|>` stays in the content",
            "of a turn with a call, these calls are read: []",
            "around a call, `{\"name\": \"aside_invocation\", \"arguments\": {'city': 'aside'}}<|assistant|>` stays in the content",
        ],
    ),
    (
        "kaito_tool-chat-phi4-mini.jinja",
        "as above",
        &[
            "after the answer, `<|assistant|>` stays in the content",
            "of a turn with a call, these calls are read: []",
            "around a call, `{\"name\": \"aside_invocation\", \"arguments\": {'city': 'aside'}}<|assistant|>` stays in the content",
        ],
    ),
    (
        "anew_command-r-plus.jinja",
        "it writes the whole list of calls as a request has it",
        &["of a turn with a call, these calls are read: []"],
    ),
    (
        "anew_gigachat-3.jinja",
        "it separates turns by the token at which servers stop",
        &["after the answer, `<|message_sep|>` stays in the content"],
    ),
    (
        "anew_laguna.jinja",
        "reports of the model have no line breaks",
        &[
            r"before the thought, `\n` stays in the thinking",
            r"after the thought, `\n` stays in the thinking",
            r"before the answer, `\n` stays in the content",
        ],
    ),
    (
        "anew_reka-edge.jinja",
        "it has the thinking of qwen3, and `<sep>` where a turn ends",
        &[
            "before the answer, ` ` stays in the content",
            r"after the answer, `\n\n<sep>` stays in the content",
            "around a call, `<sep>` stays in the content",
        ],
    ),
];

/// Checks how dialects read the turns that their templates write.
#[cfg(feature = "templates")]
#[test]
fn turns_are_read_as_the_template_means_them() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for row in rows() {
        for dialect in row.dialects.iter().filter_map(|name| Dialect::find(name).ok()) {
            let known = DIFFERENCES.iter().find(|(file, ..)| *file == row.file).map_or(&[][..], |(.., known)| known);
            let found = dialect.compare_with_template(&row.text).unwrap();
            compared += 1;
            if found != known {
                wrong.push(format!("{} by {}: {found:#?}", row.file, dialect.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 30, "{compared} comparisons");
}
