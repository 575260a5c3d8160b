//! Tables of calls as the shared specification has them, for tests that do not read dialect files.

use serde_json::Value;

use crate::calls::table::{BodyRule, CallTable, HeadRule, Literal, LiteralRule, ObjectRule, TagsRule};

/// Returns the table of these keys of `[[span.call]]`.
pub fn table(keys: &Value) -> CallTable {
    let literal = |key: &str| bytes(&keys[key]);
    let body = match keys["body"].as_str().unwrap() {
        "object" => BodyRule::Object(ObjectRule {
            writes_id: false,
            names: literals(&keys["name"]),
            arguments: literals(&keys["arguments"]),
            ids: literals(&keys["id"]),
            key_is_name: keys["key_is_name"] == true,
        }),
        "json" => BodyRule::Json,
        "tags" => BodyRule::Tags(TagsRule {
            key: pair(&keys["key"]),
            value: pair(&keys["value"]),
            kind: keys["type"].is_array().then(|| pair(&keys["type"])),
            kind_words: words(&keys["type_words"]),
            after_open: bytes(&keys["framing"]["after_open"]),
            recovers: false,
            before_close: bytes(&keys["framing"]["before_close"]),
            has_cdata: keys["cdata"] == true,
            nested: (keys["nested"] == true).then(|| literal("mark")),
            unknown_is_string: keys["types"] == "string",
            ends: Vec::new(),
            first_of_ends: Vec::new(),
        }),
        "literal" => BodyRule::Literal(LiteralRule {
            is_sorted: false,
            open: literal("open")[0],
            close: literal("close")[0],
            assign: literal("assign")[0],
            is_list: keys["list"] == true,
            raw_quote: literal("raw_quote"),
        }),
        other => panic!("no body: {other}"),
    };
    let head = HeadRule {
        needs_object: false,
        name_ends: literals(&keys["name_end"]),
        end: literal("head_end"),
        prefixes: literals(&keys["prefix"]),
        needs_prefix: keys["need_prefix"] == true,
        suffix: literal("suffix"),
        is_id: keys["id"] == "head",
        id_end: literal("id_end"),
        id_begin: literal("id_begin"),
        id_close: literals(&keys["name_end"]).into_iter().next().unwrap_or_default(),
        name_from: keys["name_from"].as_str().map(Into::into),
    };
    CallTable {
        body,
        begin: literal("begin"),
        end: literal("end"),
        head,
        namespace: keys["namespace"] == true,
        is_bare: false,
        is_lenient: false,
        is_list: keys["list"] == true,
        separator: None,
    }
}

fn bytes(value: &Value) -> Literal {
    value.as_str().unwrap_or_default().as_bytes().into()
}

fn literals(value: &Value) -> Vec<Literal> {
    value.as_array().map(|all| all.iter().map(bytes).collect()).unwrap_or_default()
}

fn pair(value: &Value) -> [Literal; 2] {
    [bytes(&value[0]), bytes(&value[1])]
}

fn words(value: &Value) -> Vec<(Box<str>, Box<str>)> {
    let words = value.as_object().into_iter().flatten();
    words.map(|(word, meaning)| (word.as_str().into(), meaning.as_str().unwrap().into())).collect()
}
