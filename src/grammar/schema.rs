//! The tools of a request with the order of their keys, which a grammar keeps.

use crate::{
    call_writer::{Schema, Tools, Types, flat_name},
    json::{Reader, unescape},
};

/// A tool. `parameters` is the schema of its arguments, or `None` if any arguments are allowed, as in a tool that is not strict.
/// `given` is the schema even then.
pub struct Tool<'a> {
    pub name: String,
    pub parameters: Option<&'a str>,
    given: Option<&'a str>,
    pub schema: Option<Schema<'a>>,
}

/// A key of an object.
pub struct Key<'a> {
    pub name: String,
    pub is_required: bool,
    pub value: Part<'a>,
}

/// A part of a schema: its text, and what is known about its types.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    pub text: &'a str,
    schema: Option<Schema<'a>>,
}

impl<'a> Part<'a> {
    pub fn types(&self) -> Types {
        self.schema.map_or(Types::UNKNOWN, Schema::types)
    }

    /// Returns the values that the schema lists in `enum` or `const`, or `None` if it has neither.
    pub fn values(&self) -> Option<Vec<&'a str>> {
        match (member(self.text, "enum"), member(self.text, "const")) {
            (Some(list), _) => Some(items(list)),
            (_, Some(value)) => Some(vec![value]),
            _ => None,
        }
    }

    pub fn items(&self) -> Part<'a> {
        Part { text: member(self.text, "items").unwrap_or("{}"), schema: self.schema.map(Schema::items) }
    }

    /// Returns the keys of an object in the schema's order, or `None` if the schema does not list them.
    pub fn keys(&self) -> Option<Vec<Key<'a>>> {
        let required: Vec<String> =
            items(member(self.text, "required").unwrap_or("[]")).into_iter().map(string).collect();
        let key = |(name, text): (String, &'a str)| {
            let schema = self.schema.map(|schema| schema.property(&name));
            Key { is_required: required.contains(&name), value: Part { text, schema }, name }
        };
        let mut keys: Vec<Key<'a>> = members(member(self.text, "properties")?).into_iter().map(key).collect();
        for name in &required {
            if keys.iter().all(|key| key.name != *name) {
                keys.push(key((name.clone(), "{}")));
            }
        }
        Some(keys)
    }

    /// Returns the keywords of the schema that are not in this list.
    pub fn keywords_besides(&self, known: &[&str]) -> Vec<String> {
        let notes = [
            "title",
            "description",
            "default",
            "examples",
            "deprecated",
            "nullable",
            "$schema",
            "$defs",
            "definitions",
        ];
        let mut words: Vec<String> = members(self.text).into_iter().map(|(key, _)| key).collect();
        words.retain(|word| !known.contains(&word.as_str()) && !notes.contains(&word.as_str()));
        words
    }
}

impl<'a> Tool<'a> {
    /// Returns the schema of the parameters, or `None` if any arguments are allowed. With `is_needed`, returns the schema even if
    /// the tool is not strict.
    pub fn part(&self, is_needed: bool) -> Option<Part<'a>> {
        let text = if is_needed { self.given } else { self.parameters }?;
        Some(Part { text, schema: self.schema })
    }

    /// Returns a schema as a whole document: with the definitions to which it may refer, and as the schema of an object if `is_root`.
    pub fn document(&self, text: &str, is_root: bool) -> String {
        let mut document = text.trim().to_owned();
        let Some(inside) = document.strip_prefix('{').map(str::trim_start).map(str::to_owned) else { return document };
        let mut added = String::new();
        if is_root && member(text, "type").is_none() {
            added += r#""type":"object","#;
        }
        for key in ["$defs", "definitions"] {
            if let Some(definitions) =
                self.parameters.and_then(|root| member(root, key)).filter(|_| !is_root && text.contains("\"$ref\""))
            {
                added += &format!(r#""{key}":{definitions},"#);
            }
        }
        if inside == "}" {
            added.truncate(added.len().saturating_sub(1));
        }
        document = format!("{{{added}{inside}");
        document
    }
}

/// Returns the tools of a list that has been read. Of tools with the same name, the last counts.
pub fn tools<'a>(list: &'a str, read: &'a Tools) -> Vec<Tool<'a>> {
    let mut tools: Vec<Tool<'a>> = Vec::new();
    for (namespace, tool) in items(list).into_iter().flat_map(in_namespace) {
        let function = member(tool, "function").unwrap_or(tool);
        let Some(name) = member(function, "name").map(string) else { continue };
        let name = namespace.map_or(name.clone(), |namespace| flat_name(&namespace, &name));
        let is_free = member(function, "strict").is_some_and(|strict| strict == "false");
        let given = member(function, "parameters").or_else(|| member(function, "input_schema"));
        let given = given.filter(|text| text.starts_with('{'));
        tools.retain(|other| other.name != name);
        tools.push(Tool { schema: read.parameters(&name), parameters: given.filter(|_| !is_free), given, name });
    }
    tools
}

/// Returns the tools of a namespace, each with the namespace's name; if `tool` is not a namespace, returns only `tool`.
fn in_namespace(tool: &str) -> Vec<(Option<String>, &str)> {
    let is_namespace = member(tool, "type").is_some_and(|kind| string(kind) == "namespace");
    let Some(name) = member(tool, "name").filter(|_| is_namespace) else { return vec![(None, tool)] };
    let tools = items(member(tool, "tools").unwrap_or_default()).into_iter();
    tools.map(|tool| (Some(string(name)), tool)).collect()
}

/// Returns the members of an object, in its order.
pub fn members(json: &str) -> Vec<(String, &str)> {
    let mut members = Vec::new();
    Reader::new(json.as_bytes()).object(|reader, key| {
        let value = reader.value()?;
        members.push((string(&json[key]), &json[value]));
        Some(())
    });
    members
}

pub fn member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    members(json).into_iter().rfind(|(name, _)| name == key).map(|(_, value)| value)
}

fn items(json: &str) -> Vec<&str> {
    let mut items = Vec::new();
    Reader::new(json.as_bytes()).array(|reader| {
        let value = reader.value()?;
        items.push(&json[value]);
        Some(())
    });
    items
}

/// Returns the text of a JSON string.
pub fn string(json: &str) -> String {
    let mut text = Vec::new();
    unescape(json.as_bytes().get(1..json.len().saturating_sub(1)).unwrap_or_default(), |part| {
        text.extend_from_slice(part)
    });
    String::from_utf8_lossy(&text).into()
}
