//! Decides whether a text is in a grammar, by trying all ways in which its nodes may divide the text.

use std::collections::BTreeSet;

use regex_automata::meta::Regex;
use serde_json::Value;

use crate::{grammar::node::Node, json::Reader};

/// Returns whether the whole text is in the grammar of a node.
pub fn accepts(node: &Node, text: &str) -> bool {
    ends(node, text, 0).contains(&text.len())
}

/// Returns all places at which a part of the text that begins at `at` and is in the grammar of a node may end.
fn ends(node: &Node, text: &str, at: usize) -> BTreeSet<usize> {
    let rest = &text[at..];
    match node {
        Node::Text(one) => rest.starts_with(one).then_some(at + one.len()).into_iter().collect(),
        Node::Pattern(pattern) => {
            let pattern = Regex::new(&format!("^(?:{pattern})$")).unwrap();
            let places = rest.char_indices().map(|(place, _)| place).chain([rest.len()]);
            places.filter(|&end| pattern.is_match(&rest[..end])).map(|end| at + end).collect()
        }
        Node::Schema(schema) => {
            let Some(span) = Reader::new(rest.as_bytes()).value().filter(|span| span.start == 0) else {
                return BTreeSet::new();
            };
            let end = at + span.end;
            let value: Value = serde_json::from_str(&rest[span]).unwrap();
            fits(&serde_json::from_str(schema).unwrap(), &value).then_some(end).into_iter().collect()
        }
        Node::Until { begin, without, stop } => {
            let Some(inside) = rest.strip_prefix(begin) else { return BTreeSet::new() };
            let places = inside.match_indices(stop.as_str()).map(|(place, _)| place);
            let fitting = places.filter(|&end| without.iter().all(|one| !inside[..end].contains(one.as_str())));
            fitting.map(|end| at + begin.len() + end + stop.len()).collect()
        }
        Node::All(nodes) => nodes.iter().fold([at].into(), |places: BTreeSet<usize>, node| {
            places.into_iter().flat_map(|place| ends(node, text, place)).collect()
        }),
        Node::Any(nodes) => nodes.iter().flat_map(|node| ends(node, text, at)).collect(),
        Node::Maybe(node) => ends(node, text, at).into_iter().chain([at]).collect(),
        Node::Many(node) => {
            let (mut all, mut new) = (BTreeSet::from([at]), vec![at]);
            while let Some(place) = new.pop() {
                new.extend(ends(node, text, place).into_iter().filter(|end| all.insert(*end)));
            }
            all
        }
        Node::Free(_) => unreachable!("the tests force a call"),
    }
}

/// Returns whether a value fits a schema with the keywords that the tests use.
fn fits(schema: &Value, value: &Value) -> bool {
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let is_of = |one: &&str| match *one {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => value.is_null(),
    };
    let has = |key: &Value| key.as_str().is_some_and(|key| value.get(key).is_some());
    (types.is_empty() || types.iter().any(is_of))
        && schema.get("const").is_none_or(|one| one == value)
        && schema["enum"].as_array().is_none_or(|all| all.contains(value))
        && schema["required"].as_array().is_none_or(|keys| keys.iter().all(has))
        && value.as_array().is_none_or(|items| items.iter().all(|item| fits(&schema["items"], item)))
        && value.as_object().is_none_or(|members| {
            members.iter().all(|(key, value)| match schema["properties"].get(key) {
                Some(of_key) => fits(of_key, value),
                None => schema["additionalProperties"] != false,
            })
        })
}
