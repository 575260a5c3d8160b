//! Tests drafts of dialects: the result for each kind of template, refused templates, and the files from which templates are read.
#![cfg(feature = "templates")]

use aside::{Channel, ChatTemplate, Dialect, Draft, Start};

fn draft(template: &str) -> Draft {
    Dialect::draft(&ChatTemplate::new(template)).unwrap_or_else(|error| panic!("{error}: {template}"))
}

/// Returns a template of the usual form, with these texts for the thought and the calls of the model's messages, and for the
/// prompt.
fn template(thought: &str, calls: &str, prompt: &str) -> String {
    format!(
        "{{% for m in messages %}}<|im_start|>{{{{ m.role }}}}\n\
         {{% if m.role == 'assistant' %}}{thought}{{{{ m.content or '' }}}}\
         {{% for c in m.tool_calls or [] %}}{{% set f = c.function %}}{calls}{{% endfor %}}\
         {{% else %}}{{{{ m.content }}}}{{% endif %}}<|im_end|>\n{{% endfor %}}\
         {{% if add_generation_prompt %}}<|im_start|>assistant\n{prompt}{{% endif %}}"
    )
}

const THOUGHT: &str = "{% if m.reasoning %}<reflect>\n{{ m.reasoning }}\n</reflect>\n\n{% endif %}";
const OBJECT: &str = "<call>\n{\"name\": \"{{ f.name }}\", \"arguments\": {{ f.arguments | tojson }}}\n</call>\n";

#[test]
fn a_draft_is_written_as_a_person_would() {
    let draft = draft(&template(THOUGHT, OBJECT, ""));
    let head = r#"# Drafted by `aside draft` from a chat template: what its turns show, and no output of a model.
name = "draft"
models = ["draft"]
turns = ["<|im_start|>assistant\n", "<|im_start|>"]
drop = ["<|im_end|>"]
extra_close = "drop"
stray_close = "reclassify"
guard = ["fences", "inline"]

[[span]]
channel = "thinking"
open = ["<reflect>"]
close = ["</reflect>"]
framing = { after_open = "\n", before_close = "\n", after_close = "\n\n" }

[[span]]
channel = "tool"
open = ["<call>"]
close = ["</call>"]
ends = "thinking"
keep = true

[[span.call]]
body = "object"

[[example]]
about = "the ordinary answer"
input = "<reflect>\nhm\n</reflect>\n\nYes.<|im_end|>"
thinking = "hm"
content = "Yes."

[[example]]
about = "an answer alone"
input = "Yes.<|im_end|>"
content = "Yes."

[[example]]
about = "a call"
"#;
    assert!(draft.toml.starts_with(head), "{}", draft.toml);
    assert!(draft.doubts.is_empty(), "{:?}", draft.doubts);
    assert_eq!(Dialect::load(&draft.toml).unwrap().name(), "draft");
}

/// Checks the keys in the draft for each form of calls.
#[test]
fn every_form_of_a_call_is_seen() {
    for (calls, keys) in [
        (OBJECT, &["open = [\"<call>\"]", "close = [\"</call>\"]", "body = \"object\""][..]),
        (
            "<call>{\"fn\": \"{{ f.name }}\", \"args\": {{ f.arguments | tojson }}}</call>",
            &["body = \"object\"", "name = [\"fn\"]", "arguments = [\"args\"]"],
        ),
        ("<call>{\"{{ f.name }}\": {{ f.arguments | tojson }}}</call>", &["key_is_name = true"]),
        (
            "[CALL]{{ f.name }}[ARGS]{{ f.arguments | tojson }}",
            &["open = [\"[CALL]\"]", "body = \"json\"", "begin = \"[CALL]\"", "name_end = [\"[ARGS]\"]"],
        ),
        (
            "[CALL]{{ f.name }}[ID]{{ c.id }}[ARGS]{{ f.arguments | tojson }}",
            &["body = \"json\"", "id_begin = \"[ID]\"", "name_end = [\"[ARGS]\"]"],
        ),
        (
            "<|call|>functions.{{ f.name }}:{{ loop.index0 }}<|args|>{{ f.arguments | tojson }}<|end_call|>",
            &["prefix = [\"functions.\"]", "id = \"head\"", "name_end = [\"<|args|>\"]", "close = [\"<|end_call|>\"]"],
        ),
        (
            "<call>\n<fn={{ f.name }}>\n{% for k, v in f.arguments.items() %}<p={{ k }}>\n{{ v }}\n</p>\n{% endfor %}</fn>\n</call>\n",
            &[
                "begin = \"<fn=\"",
                "name_end = [\">\"]",
                "key = [\"<p=\", \">\"]",
                "value = [\"\", \"</p>\"]",
                "end = \"</fn>\"",
                "framing = { after_open = \"\\n\", before_close = \"\\n\" }",
            ],
        ),
        (
            "<call>{{ f.name }}\n{% for k, v in f.arguments.items() %}<k>{{ k }}</k>\n<v>{{ v if v is string else v | tojson }}</v>\n{% endfor %}</call>\n",
            &["open = [\"<call>\"]", "key = [\"<k>\", \"</k>\"]", "value = [\"<v>\", \"</v>\"]"],
        ),
        (
            "<call {{ f.name }}>{% for k, v in f.arguments.items() %}<p name=\"{{ k }}\">{{ '<![CDATA[' ~ v ~ ']]>' if '\n' in (v | string) else v }}</p>{% endfor %}</call>",
            &["cdata = true"],
        ),
        (
            "<call name=\"{{ f.name }}\">{% for k, v in f.arguments.items() %}<p name=\"{{ k }}\" text=\"{{ 'yes' if v is string else 'no' }}\">{{ v if v is string else v | tojson }}</p>{% endfor %}</call>",
            &[
                "type = [\" text=\\\"\", \"\\\"\"]",
                "type_words = { \"yes\" = \"string\", \"no\" = \"json\" }",
                "value = [\">\", \"</p>\"]",
            ],
        ),
        (
            "<|call>do:{{ f.name }}{{ '{' }}{% for k, v in f.arguments.items() %}{{ ',' if not loop.first }}{{ k }}:{% if v is string %}<|\"|>{{ v }}<|\"|>{% else %}{{ v | tojson }}{% endif %}{% endfor %}{{ '}' }}<call|>",
            &["body = \"literal\"", "begin = \"do:\"", "open = \"{\"", "assign = \":\"", "raw_quote = \"<|\\\"|>\""],
        ),
    ] {
        let draft = draft(&template(THOUGHT, calls, ""));
        for key in keys {
            assert!(draft.toml.contains(&format!("{key}\n")), "{key} of {calls}:\n{}", draft.toml);
        }
        assert!(!draft.doubts.iter().any(|doubt| doubt.contains("is not read")), "{calls}: {:?}", draft.doubts);
        assert!(draft.toml.contains("about = \"two calls\""), "{}", draft.toml);
    }
}

#[test]
fn the_prompt_says_where_an_answer_starts() {
    let open = "{% if enable_thinking is not defined or enable_thinking %}<reflect>\n{% else %}<reflect>\n\n</reflect>\n\n{% endif %}";
    let draft_of = |thought: &str, prompt: &str| draft(&template(thought, OBJECT, prompt));
    assert_eq!(draft_of(THOUGHT, "").dialect.start(), Start::Channel(Channel::Content));
    assert_eq!(draft_of(THOUGHT, open).dialect.start(), Start::Channel(Channel::Thinking));
    // If no turn shows a thought, the markers are found in the prompt and in the text that the template removes.
    let taken = "{% set m = {'role': m.role, 'content': (m.content or '').split('</reflect>')[-1], 'tool_calls': m.tool_calls} %}";
    let draft = draft_of(taken, open);
    assert_eq!(draft.dialect.start(), Start::Channel(Channel::Thinking));
    assert!(draft.toml.contains("open = [\"<reflect>\"]\nclose = [\"</reflect>\"]"), "{}", draft.toml);
    assert!(draft.doubts.iter().any(|doubt| doubt.starts_with("no turn shows a thought")), "{:?}", draft.doubts);
    // A variable with a default in the template is also a switch.
    let switched = "{% set enable_thinking = enable_thinking | default(false) %}";
    let thought = "{% if enable_thinking and m.reasoning %}<reflect>{{ m.reasoning }}</reflect>{% endif %}";
    let draft = Dialect::draft(&ChatTemplate::new([switched, &template(thought, OBJECT, "")].concat())).unwrap();
    assert!(draft.toml.contains("open = [\"<reflect>\"]"), "{}", draft.toml);
    // The closer of a wrapper of the answer is not the end of the turn.
    let wrapped = "{% if m.reasoning %}<|T|>{{ m.reasoning }}<|/T|>{% endif %}";
    let text = template(wrapped, "", "").replace("{{ m.content or '' }}", "<|A|>{{ m.content }}<|/A|>");
    let draft = Dialect::draft(&ChatTemplate::new(text)).unwrap();
    assert!(draft.toml.contains("channel = \"content\"\nopen = [\"<|A|>\"]\nclose = [\"<|/A|>\"]"), "{}", draft.toml);
    assert!(draft.toml.contains("drop = [\"<|im_end|>\"]"), "{}", draft.toml);
}

#[test]
fn what_cannot_be_drafted_says_why() {
    let headers = "{% for m in messages %}{% if m.thinking %}<|start|>{{ m.role }} to=self<|text|>{{ m.thinking }}<|end|>{% endif %}\
                   <|start|>{{ m.role }}<|text|>{{ m.content }}<|end|>{% endfor %}\
                   {% if add_generation_prompt %}<|start|>assistant{% endif %}";
    for (template, why) in [
        ("{{ '", "the template cannot be rendered: "),
        ("{{ raise_exception('never') }}", "the template cannot be rendered: never"),
        ("plain", "its turns do not show an answer"),
        (&*template("", "", ""), "its turns show no thinking and no calls"),
        (headers, "`<|start|>` comes again between a thought and the answer. Each is a message with a header; "),
    ] {
        let error = Dialect::draft(&ChatTemplate::new(template)).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn what_was_not_seen_is_a_doubt() {
    let one = "{% if m.tool_calls | length > 1 %}{{ raise_exception('one at a time') }}{% endif %}";
    for (text, doubts) in [
        (template(THOUGHT, "", ""), &["no calls were seen"][..]),
        (template("", OBJECT, ""), &["no thinking was seen"]),
        (
            template(THOUGHT, &[one, OBJECT].concat(), ""),
            &["no turn with two calls was seen: each is taken to have its own markers (the template: one at a time)"],
        ),
        (
            template(THOUGHT, OBJECT, "").replace("<|im_end|>", "{{ eos_token }}"),
            &["a turn ends with `eos_token`, whose text the template does not have: add it to `drop`"],
        ),
    ] {
        let draft = draft(&text);
        assert_eq!(draft.doubts, doubts);
        for doubt in doubts {
            assert!(draft.toml.contains(&format!("# Doubt: {doubt}.\n")), "{}", draft.toml);
        }
    }
    // Markers in instructions of the system prompt are also found.
    let told = "{% if tools %}Write <call>{\"name\": NAME, \"arguments\": ARGUMENTS}</call>.{% endif %}";
    let draft = draft(&[told, &template(THOUGHT, "", "")].concat());
    assert_eq!(
        draft.doubts,
        ["no turn shows a call: the system prompt tells the model to write an object between `<call>` and `</call>`"]
    );
}

#[test]
fn a_checkpoint_says_its_tokens_and_its_name() {
    let text = template(THOUGHT, OBJECT, "").replace("<|im_end|>", "{{ eos_token }}");
    let config = serde_json::json!({
        "chat_template": [{"name": "default", "template": "x"}, {"name": "tool_use", "template": text}],
        "bos_token": null,
        "eos_token": {"content": "<|im_end|>", "special": true},
        "added_tokens_decoder": {
            "1": {"content": "<|im_end|>", "special": true},
            "2": {"content": "<reflect>", "special": false},
            "3": {"content": "</reflect>", "special": false},
        },
    });
    let read = ChatTemplate::read(config.to_string().as_bytes()).unwrap().named("Org/New Model-7B");
    assert_eq!((read.name.as_deref(), read.end_of_text.as_deref()), (Some("new-model-7b"), Some("<|im_end|>")));
    let draft = Dialect::draft(&read).unwrap();
    assert!(draft.toml.contains("name = \"new-model-7b\"\nmodels = [\"new-model-7b\"]\n"), "{}", draft.toml);
    assert!(draft.toml.contains("drop = [{ marker = \"<|im_end|>\", special = true }]\n"), "{}", draft.toml);
    assert!(draft.toml.contains("close = [\"</reflect>\"]\nspecial = true\n"), "{}", draft.toml);
    assert!(draft.doubts.is_empty(), "{:?}", draft.doubts);
    // These names do not name a model.
    for name in ["chat_template.jinja", "tokenizer_config.json", "a/model.gguf", "-", "…"] {
        assert_eq!(ChatTemplate::new("").named(name).name, None, "{name}");
    }
    for (name, slug) in [("Qwen3.5-4B.jinja", "qwen3.5-4b"), ("a\\B c.gguf", "b-c"), ("x/../é9", "9")] {
        assert_eq!(ChatTemplate::new("").named(name).name.as_deref(), Some(slug));
    }
    for (bytes, why) in [
        (&b"{\"a\": 1}"[..], "it has no `chat_template`"),
        (b"{\"a\": ", "it is not JSON: "),
        (b"\xff\xfe", "it is neither UTF-8 nor a GGUF file"),
    ] {
        let error = ChatTemplate::read(bytes).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
    assert!(ChatTemplate::from_tokenizer_config("[]").is_err());
    assert_eq!(ChatTemplate::from_tokenizer_config("{}").unwrap().text, "");
    assert_eq!(ChatTemplate::read(&b"{{ messages }}"[..]).unwrap().text, "{{ messages }}");
}

/// Writes the header of a GGUF file for the tests.
struct Gguf(Vec<u8>);

impl Gguf {
    fn new(entries: u64) -> Gguf {
        let mut gguf = Gguf(b"GGUF".to_vec());
        gguf.0.extend(3u32.to_le_bytes());
        gguf.0.extend(7u64.to_le_bytes());
        gguf.0.extend(entries.to_le_bytes());
        gguf
    }

    fn text(&mut self, text: &str) {
        self.0.extend((text.len() as u64).to_le_bytes());
        self.0.extend(text.as_bytes());
    }

    fn key(&mut self, key: &str, kind: u32) {
        self.text(key);
        self.0.extend(kind.to_le_bytes());
    }
}

#[test]
fn the_header_of_a_gguf_is_read() {
    let text = template(THOUGHT, OBJECT, "").replace("<|im_end|>", "{{ eos_token }}");
    let mut gguf = Gguf::new(7);
    gguf.key("general.name", 8);
    gguf.text("New Model");
    gguf.key("some.list", 9);
    gguf.0.extend(9u32.to_le_bytes());
    gguf.0.extend(1u64.to_le_bytes());
    gguf.0.extend(5u32.to_le_bytes());
    gguf.0.extend(2u64.to_le_bytes());
    gguf.0.extend([0; 8]);
    gguf.key("some.number", 12);
    gguf.0.extend([0; 8]);
    gguf.key("tokenizer.ggml.tokens", 9);
    gguf.0.extend(8u32.to_le_bytes());
    gguf.0.extend(3u64.to_le_bytes());
    ["word", "<|im_end|>", "<reflect>"].into_iter().for_each(|token| gguf.text(token));
    gguf.key("tokenizer.ggml.token_type", 9);
    gguf.0.extend(5u32.to_le_bytes());
    gguf.0.extend(3u64.to_le_bytes());
    [1u32, 3, 4].into_iter().for_each(|kind| gguf.0.extend(kind.to_le_bytes()));
    gguf.key("tokenizer.ggml.eos_token_id", 4);
    gguf.0.extend(1u32.to_le_bytes());
    gguf.key("tokenizer.chat_template", 8);
    gguf.text(&text);
    let whole = gguf.0;
    let read = ChatTemplate::read(&whole[..]).unwrap();
    assert_eq!(read.text, text);
    assert_eq!((read.name.as_deref(), read.end_of_text.as_deref()), (Some("new-model"), Some("<|im_end|>")));
    assert_eq!(read.special, ["<|im_end|>", "<reflect>"]);
    // The rest of the file is not read.
    let rest = [&whole[..], &[0xff; 100]].concat();
    assert_eq!(ChatTemplate::read(&rest[..]).unwrap(), read);
    // A file that ends early must be an error. A file with a changed byte must be an error or be read.
    for end in 4..whole.len() {
        assert!(ChatTemplate::read(&whole[..end]).is_err(), "{end}");
        for byte in [0, 0xff] {
            let mut changed = whole.clone();
            changed[end] = byte;
            let _ = ChatTemplate::read(&changed[..]);
        }
    }
}

#[test]
fn a_gguf_that_claims_much_takes_little() {
    for (kind, claims) in [(8u32, u64::MAX), (8, 1 << 40), (9, u64::MAX)] {
        let mut gguf = Gguf::new(1);
        gguf.key("tokenizer.chat_template", kind);
        if kind == 9 {
            gguf.0.extend(0u32.to_le_bytes());
        }
        gguf.0.extend(claims.to_le_bytes());
        let error = ChatTemplate::read(&gguf.0[..]).unwrap_err().to_string();
        assert!(error.contains("too long") || error.contains("ends inside"), "{error}");
    }
    let error = ChatTemplate::read(&Gguf::new(u64::MAX).0[..]).unwrap_err().to_string();
    assert_eq!(error, "it has more entries than a header has");
    let mut gguf = Gguf::new(1);
    gguf.key("tokenizer.ggml.tokens", 9);
    gguf.0.extend(8u32.to_le_bytes());
    gguf.0.extend(u64::MAX.to_le_bytes());
    let error = ChatTemplate::read(&gguf.0[..]).unwrap_err().to_string();
    assert_eq!(error, "its vocabulary has more tokens than any has");
    // Nested lists.
    let mut gguf = Gguf::new(1);
    gguf.key("a", 9);
    for _ in 0..1000 {
        gguf.0.extend(9u32.to_le_bytes());
        gguf.0.extend(1u64.to_le_bytes());
    }
    assert!(ChatTemplate::read(&gguf.0[..]).is_err());
}

/// Checks a template whose turns have no end tokens: after a call, the model stops at the marker that begins the tool's turn.
#[test]
fn a_turn_may_end_with_the_role_of_the_next() {
    let template = "{% for m in messages %}<|{{ m.role }}|>{% if m.reasoning %}<t>{{ m.reasoning }}</t>{% endif %}{{ m.content or '' }}\
        {% for c in m.tool_calls or [] %}<call>{\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}}</call>\
        {% endfor %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
    let draft = draft(template);
    assert!(draft.toml.contains("drop = [\"<|user|>\", \"<|tool|>\"]\n"), "{}", draft.toml);
}
