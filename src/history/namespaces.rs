//! Writes flat names for tools in namespaces, for servers of Responses that know only functions. A rewriter that has the client's own list of
//! tools writes the namespaces of new calls.

use super::json::{Fault, Member, Object, Value};
use crate::call_writer::namespace_end;
use crate::json::Edits;
use crate::memory::{OutOfMemory, append_all, push};

/// Notes the changes of the list of tools.
pub fn flatten_tools(tools: &Value<'_>, edits: &mut Edits) -> Result<(), Fault> {
    let Some(values) = tools.list()? else { return Ok(()) };
    let mut is_empty = Vec::new();
    for value in &values {
        let list = Object::of(value)?.map_or(Ok(None), |tool| flat(&tool))?;
        push(&mut is_empty, list.as_ref().is_some_and(Vec::is_empty))?;
        if let Some(list) = list.filter(|list| !list.is_empty()) {
            edits.put(value.span.clone(), &[&list])?;
        }
    }
    Ok(edits.remove(values.iter().map(|value| &value.span), |at| is_empty[at])?)
}

/// Returns the tools of a namespace under their flat names, with commas between them, or `None` if the tool is not a namespace.
fn flat(tool: &Object<'_>) -> Result<Option<Vec<u8>>, Fault> {
    let namespace = tool.get("name").and_then(Value::string).filter(|_| tool.says("type", "namespace"));
    let (Some(namespace), Some(tools)) = (namespace, tool.get("tools")) else { return Ok(None) };
    let mut list = Vec::new();
    for value in tools.list()?.unwrap_or_default() {
        let Some(object) = Object::of(&value)? else { continue };
        let Some(name) = object.get("name") else { continue };
        let Some(own) = name.string() else { continue };
        let (before, after) = (value.span.start..name.span.start, name.span.end..value.span.end);
        let comma: &[u8] = if list.is_empty() { b"" } else { b"," };
        append_all(
            &mut list,
            &[
                comma,
                &tool.body[before],
                b"\"",
                namespace,
                namespace_end(namespace).as_bytes(),
                own,
                b"\"",
                &tool.body[after],
            ],
        )?;
    }
    Ok(Some(list))
}

/// Writes the flat name of the tool that an item or a choice names, if the tool is in a namespace. Returns the place of the
/// member with the namespace, which must be removed.
pub fn flatten_name(object: &Object<'_>, edits: &mut Edits) -> Result<Option<usize>, OutOfMemory> {
    let at = object.find("namespace");
    let Some(namespace) = at.and_then(|at| object.members[at].value.string()) else { return Ok(None) };
    if let Some((name, own)) = object.get("name").and_then(|name| Some((name, name.string()?))) {
        edits.put(name.span.clone(), &[b"\"", namespace, namespace_end(namespace).as_bytes(), own, b"\""])?;
    }
    Ok(at)
}

/// Notes the changes of the choice of a tool.
pub fn flatten_choice(choice: &Value<'_>, edits: &mut Edits) -> Result<(), Fault> {
    let Some(choice) = Object::of(choice)? else { return Ok(()) };
    match flatten_name(&choice, edits)? {
        Some(at) => Ok(remove_members(&choice, &[at], edits)?),
        None => Ok(()),
    }
}

/// Removes these members of an object.
pub fn remove_members(object: &Object<'_>, removed: &[usize], edits: &mut Edits) -> Result<(), OutOfMemory> {
    edits.remove(object.members.iter().map(Member::span), |at| removed.contains(&at))
}
