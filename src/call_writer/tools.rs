//! The tools of a request: which calls are emitted, and the types of their parameters.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{
    document::{Document, Node, NodeId},
    schema::Schema,
};
use crate::json::Reader;
use crate::recent::Recent;

/// The default limit for the text of a list, in bytes. A request may come from anyone, and a list uses many times the memory of
/// its text.
const MOST: usize = 4 << 20;

/// The last lists that were read, because an agent sends the same list with each of its requests.
static KNOWN: Recent<Arc<Tools>> = Recent::new(16, 128 << 10);

/// The tools that a request offers to the model.
///
/// ```json
/// [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
/// ```
///
/// `name` and `parameters` may be in the tool's `function` or in the tool itself. There, `input_schema` is another name of
/// `parameters`, as in Anthropic's Messages. Tools without a name, such as those that servers add themselves, are skipped.
///
/// A tool of type `namespace`, as in OpenAI's Responses, has `tools`. Each of these tools gets the flat name `NAMESPACE__NAME`; a `__`
/// at the end of the namespace is not repeated. A model may also write `NAMESPACE.NAME`, or the tool's own name if no other tool has
/// it.
#[derive(Debug)]
pub struct Tools {
    document: Document,
    by_name: BTreeMap<Box<str>, Tool>,
    /// For each name other than the flat one by which a model may call a tool in a namespace, the tool's flat name; `None` if several
    /// tools have that name.
    others: BTreeMap<Box<str>, Option<Box<str>>>,
}

#[derive(Debug)]
struct Tool {
    /// The place of the tool's parameters, if it has any.
    parameters: Option<NodeId>,
    /// For a tool in a namespace, the length of the namespace, and the position of the tool's own name in the flat name.
    namespace: Option<(usize, usize)>,
}

/// The reason why a request's tools cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsError {
    message: String,
}

impl fmt::Display for ToolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolsError {}

impl Tools {
    /// Reads the `tools` of a request, a JSON array of at most 4 MiB. With an empty array, no call is emitted. The last 16 lists of up
    /// to 128 KiB are cached: answers and rewriters with the same list share it.
    ///
    /// # Errors
    ///
    /// The text is not JSON, not a list of tools, or too long. The error names the place of the fault; the text after that place is
    /// not read.
    pub fn read(text: &str) -> Result<Arc<Tools>, ToolsError> {
        Tools::read_up_to(text, None)
    }

    /// Reads the `tools` of a request like [`read`](Tools::read), up to `max_tools` bytes; `None` means 4 MiB. Tools may use
    /// some 40 times as much memory as their text.
    ///
    /// # Errors
    ///
    /// The same as for [`read`](Tools::read).
    pub fn read_up_to(text: &str, max_tools: Option<usize>) -> Result<Arc<Tools>, ToolsError> {
        let wrong = |message: String| Err(ToolsError { message });
        let most = max_tools.unwrap_or(MOST);
        if text.len() > most {
            let len = text.len();
            return wrong(format!("tools: {len} bytes, more than {most}: list fewer tools, or set `max_tools` higher"));
        }
        if let Some(known) = KNOWN.recall(text, Arc::clone) {
            return Ok(known);
        }
        let mut reader = Reader::new(text.as_bytes());
        if reader.peek().is_some_and(|first| first != b'[') {
            return wrong("tools: not a JSON array".into());
        }
        let mut tools = Tools { document: Document::default(), by_name: BTreeMap::new(), others: BTreeMap::new() };
        let (mut number, mut fault) = (0, None);
        let list = reader.array(|reader| {
            fault = match reader.peek()? {
                b'{' => {
                    let tool = tools.document.value(reader, text, 1)?;
                    tools.add(tool, None).err()
                }
                _ => Some("not a JSON object"),
            };
            number += 1;
            fault.is_none().then_some(())
        });
        if let Some(fault) = fault {
            return wrong(format!("tools[{}]: {fault}", number - 1));
        }
        match list.and_then(|()| reader.end()) {
            Some(()) => {
                let tools = Arc::new(tools);
                KNOWN.keep(text, || Some(Arc::clone(&tools)));
                Ok(tools)
            }
            None => Err(not_json(text, reader.offset().min(text.len()))),
        }
    }

    /// Adds a tool of the list, or of a namespace in the list. The error describes the fault of the tool.
    fn add(&mut self, tool: NodeId, namespace: Option<&str>) -> Result<(), &'static str> {
        let document = &self.document;
        let function = match document.member(tool, "function") {
            Some(function) if matches!(document.get(function), Node::Object(_)) => function,
            Some(_) => return Err("`function` is not an object"),
            None => tool,
        };
        let Some(name) = document.member(function, "name") else { return Ok(()) };
        let name = document.str(name).ok_or("`name` is not a string")?;
        let is_namespace = document.member(tool, "type").and_then(|kind| document.str(kind)) == Some("namespace");
        if is_namespace && namespace.is_none() {
            let (name, tools) = (name.to_owned(), document.items(tool, "tools").to_vec());
            return tools.into_iter().try_for_each(|tool| self.add(tool, Some(&name)));
        }
        let parameters = document.member(function, "parameters").or_else(|| document.member(function, "input_schema"));
        let Some(namespace) = namespace else {
            self.by_name.insert(name.into(), Tool { parameters, namespace: None });
            return Ok(());
        };
        let flat: Box<str> = flat_name(namespace, name).into();
        for other in [name.to_owned(), format!("{namespace}.{name}")] {
            let known = self.others.entry(other.into()).or_insert_with(|| Some(flat.clone()));
            *known = known.take().filter(|known| *known == flat);
        }
        let namespace = Some((namespace.len(), flat.len() - name.len()));
        self.by_name.entry(flat).or_insert(Tool { parameters, namespace });
        Ok(())
    }

    /// Returns whether there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns whether there is a tool of this name. A tool in a namespace has its flat name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns the schema of a tool's parameters, if it has one.
    pub(crate) fn parameters(&self, name: &str) -> Option<Schema<'_>> {
        Some(self.schema(self.by_name.get(name)?.parameters?))
    }

    /// Returns the flat name of a tool in a namespace that a model has called by another name.
    pub(crate) fn flat_name(&self, written: &str) -> Option<&str> {
        self.others.get(written).filter(|_| !self.has(written))?.as_deref()
    }

    /// Returns the namespace of the tool with this flat name, and the tool's name in it, if the tool is in a namespace.
    pub(crate) fn in_namespace<'a>(&self, name: &'a str) -> Option<(&'a str, &'a str)> {
        let (len, start) = self.by_name.get(name)?.namespace?;
        Some((&name[..len], &name[start..]))
    }

    /// Returns the value at a place as a schema.
    pub(super) fn schema(&self, root: NodeId) -> Schema<'_> {
        Schema::new(&self.document, root)
    }
}

/// Returns the name of a tool in a namespace, for servers and models that have no namespaces.
pub(crate) fn flat_name(namespace: &str, name: &str) -> String {
    format!("{namespace}{}{name}", namespace_end(namespace.as_bytes()))
}

/// Returns the text between a namespace and a name in a flat name.
pub(crate) fn namespace_end(namespace: &[u8]) -> &'static str {
    if namespace.ends_with(b"__") { "" } else { "__" }
}

fn not_json(text: &str, offset: usize) -> ToolsError {
    let before = &text.as_bytes()[..offset];
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + before.iter().rev().take_while(|&&byte| byte != b'\n').count();
    ToolsError { message: format!("tools: not JSON, or nested too deep, at line {line}, column {column}") }
}

#[cfg(test)]
mod tests {
    use super::Tools;
    use crate::call_writer::schema::Types;

    #[test]
    fn finds_tools_flat_and_nested() {
        let tools = Tools::read(
            r#"[
            {"name": "flat", "parameters": {"properties": {"x": {"type": "integer"}}}},
            {"type": "function", "function": {"name": "nested", "parameters": {"properties": {"x": {"type": "null"}}}}},
            {"name": "of_messages", "input_schema": {"properties": {"x": {"type": "boolean"}}}},
            {"name": "bare"},
            {"type": "web_search"}
        ]"#,
        )
        .unwrap();
        let types = |name| tools.parameters(name).unwrap().property("x").types();
        assert_eq!((types("flat"), types("nested")), (Types::INTEGER, Types::NULL));
        assert_eq!(types("of_messages"), Types::BOOLEAN);
        assert!(tools.has("bare") && tools.parameters("bare").is_none());
        assert!(!tools.has("web_search") && !tools.has(""));
    }

    #[test]
    fn finds_tools_in_namespaces() {
        let tools = Tools::read(
            r#"[
            {"type": "namespace", "name": "mcp__a", "tools": [
                {"type": "function", "name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}},
                {"type": "custom", "name": "g"}
            ]},
            {"type": "namespace", "name": "mcp__b__", "tools": [{"name": "f"}, {"name": "h"}]},
            {"type": "function", "name": "h"},
            {"type": "namespace", "name": "empty"}
        ]"#,
        )
        .unwrap();
        let flat = ["mcp__a__f", "mcp__a__g", "mcp__b__f", "mcp__b__h", "h"];
        assert!(flat.iter().all(|name| tools.has(name)) && !tools.has("mcp__a") && !tools.has("f"));
        let found = ["mcp__a.f", "g", "f", "h", "mcp__b__.h", "mcp__a__f"].map(|name| tools.flat_name(name));
        assert_eq!(found, [Some("mcp__a__f"), Some("mcp__a__g"), None, None, Some("mcp__b__h"), None]);
        let split = ["mcp__a__f", "mcp__b__h", "h"].map(|name| tools.in_namespace(name));
        assert_eq!(split, [Some(("mcp__a", "f")), Some(("mcp__b__", "h")), None]);
        assert_eq!(tools.parameters("mcp__a__f").unwrap().property("x").types(), Types::INTEGER);
        assert_eq!(
            Tools::read(r#"[{"type": "namespace", "name": "n", "tools": [{"name": 1}]}]"#).unwrap_err().to_string(),
            "tools[0]: `name` is not a string"
        );
    }

    #[test]
    fn says_why_tools_cannot_be_read() {
        let cases = [
            ("", "tools: not JSON, or nested too deep, at line 1, column 1"),
            ("[\n {\"name\" 1}]", "tools: not JSON, or nested too deep, at line 2, column 10"),
            ("null", "tools: not a JSON array"),
            ("{}", "tools: not a JSON array"),
            ("[{}, 1]", "tools[1]: not a JSON object"),
            (r#"[{"name": 1}]"#, "tools[0]: `name` is not a string"),
            (r#"[{"function": "f"}]"#, "tools[0]: `function` is not an object"),
            // Text after a fault is not read.
            ("[{}, {}, nul", "tools[2]: not a JSON object"),
            ("{\"a\": nul", "tools: not a JSON array"),
            ("[{}", "tools: not JSON, or nested too deep, at line 1, column 4"),
            ("[{},]", "tools[1]: not a JSON object"),
            ("[{}] x", "tools: not JSON, or nested too deep, at line 1, column 6"),
        ];
        for (text, message) in cases {
            assert_eq!(Tools::read(text).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_longer_than_the_limit() {
        let long = |len: usize| format!("[{{}}{}]", " ".repeat(len - 4));
        let said = |text: &str, most| Tools::read_up_to(text, most).map(|_| ()).map_err(|error| error.to_string());
        let over = "tools: 4194305 bytes, more than 4194304: list fewer tools, or set `max_tools` higher";
        assert_eq!(said(&long(4 << 20), None), Ok(()));
        assert_eq!(said(&long((4 << 20) + 1), None), Err(over.to_owned()));
        assert_eq!(said(&long((4 << 20) + 1), Some(5 << 20)), Ok(()));
        assert_eq!(said(&long(9), Some(9)), Ok(()));
        let over = "tools: 10 bytes, more than 9: list fewer tools, or set `max_tools` higher";
        assert_eq!(said(&long(10), Some(9)), Err(over.to_owned()));
    }
}
