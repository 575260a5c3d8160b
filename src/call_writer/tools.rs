//! The tools of a request: which calls are told, and what types their parameters have.

use std::{collections::HashMap, fmt};

use rustc_hash::FxBuildHasher;

use super::{
    document::{Document, Place, Value},
    schema::Schema,
};

/// The tools that a request offers to the model.
///
/// ```json
/// [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
/// ```
///
/// `name` and `parameters` may also stand in the tool itself, where `input_schema` is another name of `parameters`, as in
/// Anthropic's Messages. Tools without a name, as servers have some of their own, are
/// passed over.
#[derive(Debug)]
pub struct Tools {
    document: Document,
    /// Where the parameters of each are, if it has some.
    by_name: HashMap<Box<str>, Option<Place>, FxBuildHasher>,
}

/// Why a request's tools cannot be read.
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
    /// Reads the `tools` of a request, a JSON array. An empty one offers no tools, so no call is told.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or not a list of tools. The error says where.
    pub fn read(text: &str) -> Result<Tools, ToolsError> {
        let (document, root) = Document::read(text).map_err(|offset| not_json(text, offset))?;
        let Value::Array(list) = document.get(root) else {
            return Err(ToolsError { message: "tools: not a JSON array".into() });
        };
        let mut by_name = HashMap::default();
        for (number, &tool) in list.iter().enumerate() {
            let wrong = |what: &str| ToolsError { message: format!("tools[{number}]: {what}") };
            if !matches!(document.get(tool), Value::Object(_)) {
                return Err(wrong("not a JSON object"));
            }
            let function = match document.member(tool, "function") {
                Some(function) if matches!(document.get(function), Value::Object(_)) => function,
                Some(_) => return Err(wrong("`function` is not an object")),
                None => tool,
            };
            let Some(name) = document.member(function, "name") else { continue };
            let name = document.str(name).ok_or_else(|| wrong("`name` is not a string"))?;
            let parameters =
                document.member(function, "parameters").or_else(|| document.member(function, "input_schema"));
            by_name.insert(name.into(), parameters);
        }
        Ok(Tools { document, by_name })
    }

    /// Is there no tool?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Is there a tool of this name?
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns the schema of a tool's parameters, if it has one.
    pub(super) fn parameters(&self, name: &str) -> Option<Schema<'_>> {
        Some(self.schema((*self.by_name.get(name)?)?))
    }

    /// Returns the schema that is the whole of what stands at a place.
    pub(super) fn schema(&self, root: Place) -> Schema<'_> {
        Schema::new(&self.document, root)
    }
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
    fn says_why_tools_cannot_be_read() {
        let cases = [
            ("", "tools: not JSON, or nested too deep, at line 1, column 1"),
            ("[\n {\"name\" 1}]", "tools: not JSON, or nested too deep, at line 2, column 10"),
            ("null", "tools: not a JSON array"),
            ("{}", "tools: not a JSON array"),
            ("[{}, 1]", "tools[1]: not a JSON object"),
            (r#"[{"name": 1}]"#, "tools[0]: `name` is not a string"),
            (r#"[{"function": "f"}]"#, "tools[0]: `function` is not an object"),
        ];
        for (text, message) in cases {
            assert_eq!(Tools::read(text).unwrap_err().to_string(), message, "{text}");
        }
    }
}
