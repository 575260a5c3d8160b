//! Finds the types that a schema allows, and the schemas of its members. The schema comes from a client and may refer to
//! itself, so each question examines a bounded number of places.

use std::borrow::Cow;

use super::document::{Document, Node, NodeId};

/// The maximum number of references that are followed in succession.
const REFERENCES: u32 = 8;
/// The maximum number of places that one question examines.
const VISITS: u32 = 256;

/// A set of JSON's types. An empty set means that the type is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    pub const STRING: Types = Types(1);
    pub const NUMBER: Types = Types(1 << 1);
    pub const INTEGER: Types = Types(1 << 2);
    pub const BOOLEAN: Types = Types(1 << 3);
    pub const NULL: Types = Types(1 << 4);
    pub const OBJECT: Types = Types(1 << 5);
    pub const ARRAY: Types = Types(1 << 6);
    pub const UNKNOWN: Types = Types(0);
    const ALL: Types = Types((1 << 7) - 1);

    /// Returns the type with this name, which may be a programming language's name or in capitals. For any other word, the type
    /// is unknown.
    pub fn named(word: &str) -> Types {
        match word {
            "string" | "str" => Types::STRING,
            "number" | "float" | "double" => Types::NUMBER,
            "integer" | "int" => Types::INTEGER,
            "boolean" | "bool" => Types::BOOLEAN,
            "null" => Types::NULL,
            "object" | "dict" => Types::OBJECT,
            "array" | "list" => Types::ARRAY,
            _ if word.len() < 8 && word.bytes().all(|byte| byte.is_ascii_uppercase()) => {
                Types::named(&word.to_ascii_lowercase())
            }
            _ => Types::UNKNOWN,
        }
    }

    fn of(value: &Node) -> Types {
        match value {
            Node::Null => Types::NULL,
            Node::Bool(_) => Types::BOOLEAN,
            Node::Integer => Types::INTEGER,
            Node::Number => Types::NUMBER,
            Node::String(_) => Types::STRING,
            Node::Array(_) => Types::ARRAY,
            Node::Object(_) => Types::OBJECT,
        }
    }

    /// Returns these types, or all types if they are unknown.
    pub fn or_all(self) -> Types {
        if self.is_unknown() { Types::ALL } else { self }
    }

    pub fn is_unknown(self) -> bool {
        self == Types::UNKNOWN
    }

    /// Returns whether both sets have a type in common.
    pub fn has(self, one: Types) -> bool {
        self.0 & one.0 != 0
    }

    pub fn and(self, others: Types) -> Types {
        Types(self.0 | others.0)
    }

    /// Returns the types that are in both sets. If one set is unknown, returns the other; if the sets have no type in common,
    /// so that no value is valid, returns `self`.
    fn meet(self, others: Types) -> Types {
        // Each integer is a number.
        let wide = |types: Types| if types.has(Types::NUMBER) { types.and(Types::INTEGER) } else { types };
        let both = Types(wide(self).0 & wide(others).0);
        match both {
            Types::UNKNOWN if self.is_unknown() => others,
            Types::UNKNOWN => self,
            both if both.has(Types::NUMBER) => both.without(Types::INTEGER),
            both => both,
        }
    }

    pub fn without(self, others: Types) -> Types {
        Types(self.0 & !others.0)
    }
}

/// A place in a schema.
#[derive(Clone, Copy)]
pub struct Schema<'a> {
    document: &'a Document,
    /// The root of the schema, to which its references refer.
    root: NodeId,
    /// The place of this part of the schema; `None` if nothing is known.
    at: Option<NodeId>,
}

impl<'a> Schema<'a> {
    /// Returns the schema of a tool's parameters.
    pub fn new(document: &'a Document, root: NodeId) -> Schema<'a> {
        Schema { document, root, at: Some(root) }
    }

    /// Returns the schema's place in the document.
    pub fn place(self) -> Option<NodeId> {
        self.at
    }

    /// Returns the schema at another place of the document.
    pub fn at(self, at: Option<NodeId>) -> Schema<'a> {
        Schema { at, ..self }
    }

    /// Returns the types that the schema allows.
    pub fn types(self) -> Types {
        self.at.map_or(Types::UNKNOWN, |at| self.types_at(at, 0, &mut VISITS.clone()))
    }

    /// Returns whether the schema lists members.
    pub fn has_properties(self) -> bool {
        let own = |at| self.document.member(at, "properties");
        self.at.is_some_and(|at| self.find(at, 0, &mut VISITS.clone(), &own).is_some())
    }

    /// Returns the schema of a member.
    pub fn property(self, key: &str) -> Schema<'a> {
        self.at(self.at.and_then(|at| {
            self.find(at, 0, &mut VISITS.clone(), &|at| {
                let properties = self.document.member(at, "properties")?;
                self.document.member(properties, key)
            })
        }))
    }

    /// Returns the schema of a list's items.
    pub fn items(self) -> Schema<'a> {
        self.at(self.at.and_then(|at| self.find(at, 0, &mut VISITS.clone(), &|at| self.document.member(at, "items"))))
    }

    fn types_at(self, at: NodeId, references: u32, visits: &mut u32) -> Types {
        if *visits == 0 {
            return Types::UNKNOWN;
        }
        *visits -= 1;
        let document = self.document;
        let mut types = match document.member(at, "type").map(|place| document.get(place)) {
            Some(Node::String(word)) => Types::named(word),
            Some(Node::Array(words)) => {
                let named = words.iter().filter_map(|&word| document.str(word)).map(Types::named);
                named.fold(Types::UNKNOWN, Types::and)
            }
            _ => Types::UNKNOWN,
        };
        if let Some(reference) = document.member(at, "$ref")
            && let Some(place) = self.referred(reference).filter(|_| references < REFERENCES)
        {
            types = types.meet(self.types_at(place, references + 1, visits));
        }
        for &one in document.items(at, "allOf") {
            types = types.meet(self.types_at(one, references, visits));
        }
        for key in ["anyOf", "oneOf"] {
            let all = document.items(at, key).iter().map(|&one| self.types_at(one, references, visits));
            types = types.meet(all.fold(Types::UNKNOWN, Types::and));
        }
        let of_value = |value| Types::of(document.get(value));
        types = types.meet(document.items(at, "enum").iter().copied().map(of_value).fold(Types::UNKNOWN, Types::and));
        types = types.meet(document.member(at, "const").map_or(Types::UNKNOWN, of_value));
        if types.is_unknown() {
            // A schema with `properties` describes an object, one with `items` an array.
            let of = |key, of_key| if document.member(at, key).is_some() { of_key } else { Types::UNKNOWN };
            types = of("properties", Types::OBJECT).and(of("items", Types::ARRAY));
        }
        let is_nullable =
            document.member(at, "nullable").is_some_and(|at| matches!(document.get(at), Node::Bool(true)));
        if is_nullable && !types.is_unknown() { types.and(Types::NULL) } else { types }
    }

    /// Returns the result of `own` for the schema at a place, or for the schemas that are combined there.
    fn find(
        self,
        at: NodeId,
        references: u32,
        visits: &mut u32,
        own: &impl Fn(NodeId) -> Option<NodeId>,
    ) -> Option<NodeId> {
        if *visits == 0 {
            return None;
        }
        *visits -= 1;
        if let Some(found) = own(at) {
            return Some(found);
        }
        if let Some(reference) = self.document.member(at, "$ref")
            && let Some(place) = self.referred(reference).filter(|_| references < REFERENCES)
            && let Some(found) = self.find(place, references + 1, visits, own)
        {
            return Some(found);
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for &one in self.document.items(at, key) {
                let found = self.find(one, references, visits, own);
                // An empty schema says nothing, so the search continues.
                if found.is_some_and(|at| !matches!(self.document.get(at), Node::Object(members) if members.is_empty()))
                {
                    return found;
                }
            }
        }
        None
    }

    /// Returns the place that a reference names, which is a path from the root of the schema.
    fn referred(self, reference: NodeId) -> Option<NodeId> {
        let path = unescaped(self.document.str(reference)?.strip_prefix('#')?)?;
        let mut at = self.root;
        for step in path.split('/').skip(1) {
            let is_plain = !step.contains('~');
            let step = if is_plain { Cow::from(step) } else { step.replace("~1", "/").replace("~0", "~").into() };
            at = match self.document.get(at) {
                Node::Array(items) => *items.get(step.parse::<usize>().ok()?)?,
                _ => self.document.member(at, &step)?,
            };
        }
        Some(at)
    }
}

/// Decodes the percent escapes of a URL fragment. Returns `None` if an escape is faulty or the result is not UTF-8.
fn unescaped(fragment: &str) -> Option<Cow<'_, str>> {
    if !fragment.contains('%') {
        return Some(fragment.into());
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (mut bytes, mut rest) = (Vec::new(), fragment.as_bytes());
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => ((digit(*high)? << 4 | digit(*low)?) as u8, after),
            (b'%', _) => return None,
            _ => (*first, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(schema: &str) -> Vec<&'static str> {
        let (document, root) = Document::read(schema).unwrap();
        names(Schema::new(&document, root).types())
    }

    fn names(types: Types) -> Vec<&'static str> {
        let all = ["string", "number", "integer", "boolean", "null", "object", "array"];
        all.into_iter().filter(|name| types.has(Types::named(name))).collect()
    }

    #[test]
    fn takes_together_what_a_schema_says_of_its_type() {
        let cases: [(&str, &[&str]); 41] = [
            (r#"{"type": "string"}"#, &["string"]),
            (r#"{"type": ["integer", "null"]}"#, &["integer", "null"]),
            (r#"{"type": "string", "nullable": true}"#, &["string", "null"]),
            (r#"{"type": "string", "nullable": false}"#, &["string"]),
            (r#"{"nullable": true}"#, &[]),
            (r#"{"anyOf": [{"type": "string"}, {"type": "null"}], "oneOf": [{"const": 1}]}"#, &["string", "null"]),
            (r#"{"anyOf": [{"type": "string"}, {"type": "null"}], "nullable": true}"#, &["string", "null"]),
            (r#"{"allOf": [{"type": "object"}]}"#, &["object"]),
            (r#"{"type": "number", "anyOf": [{"type": "string"}]}"#, &["number"]),
            (
                r#"{"enum": ["a", 1, 1.5, true, null, [], {}]}"#,
                &["string", "number", "integer", "boolean", "null", "object", "array"],
            ),
            (r#"{"const": "a"}"#, &["string"]),
            (r##"{"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "array"}}}"##, &["array"]),
            (r##"{"$ref": "#/anyOf/0", "anyOf": [{"type": "boolean"}]}"##, &["boolean"]),
            // A value must satisfy all keys of a schema.
            (r#"{"allOf": [{"type": ["string", "integer"]}, {"type": ["integer", "null"]}]}"#, &["integer"]),
            (r#"{"allOf": [{"const": "1"}, {"minLength": 1}]}"#, &["string"]),
            (r#"{"allOf": [{"type": "number"}, {"type": "integer"}]}"#, &["integer"]),
            (r#"{"type": "number", "enum": [1, 2.5]}"#, &["number"]),
            (r#"{"type": ["string", "null"], "oneOf": [{"type": "string"}, {"type": "integer"}]}"#, &["string"]),
            (r#"{"type": ["string", "integer"], "const": 3}"#, &["integer"]),
            (r#"{"type": ["string", "null"], "enum": [null]}"#, &["null"]),
            (
                r##"{"$ref": "#/$defs/a", "type": "integer", "$defs": {"a": {"type": ["string", "integer"]}}}"##,
                &["integer"],
            ),
            (
                r##"{"$ref": "#/$defs/a", "allOf": [{"type": "null"}], "$defs": {"a": {"type": ["null", "integer"]}}}"##,
                &["null"],
            ),
            // No value can have both types, so the first type counts.
            (r#"{"allOf": [{"type": "array"}, {"type": "null"}]}"#, &["array"]),
            // A boolean schema has no type.
            (r##"{"$ref": "#/$defs/all", "$defs": {"all": true}}"##, &[]),
            (r##"{"$ref": "#/$defs/all", "type": "integer", "$defs": {"all": true}}"##, &["integer"]),
            (r##"{"$ref": "#/$defs/none", "type": "integer", "$defs": {"none": false}}"##, &["integer"]),
            (r##"{"$ref": "#/$defs/caf%C3%a9%20name", "$defs": {"café name": {"type": "array"}}}"##, &["array"]),
            (r##"{"$ref": "#/$defs/Slash%7E1%7E0", "$defs": {"Slash/~": {"type": "array"}}}"##, &["array"]),
            (r##"{"$ref": "#/$defs/%2", "$defs": {"%2": {"type": "array"}}}"##, &[]),
            (r##"{"$ref": "#/$defs/%GG", "$defs": {"%GG": {"type": "array"}}}"##, &[]),
            (r##"{"$ref": "#/$defs/%FF", "$defs": {"%FF": {"type": "array"}}}"##, &[]),
            (r##"{"$ref": "#/$defs/none"}"##, &[]),
            (r##"{"$ref": "elsewhere.json#/a", "a": {"type": "array"}}"##, &[]),
            (r#"{"type": "whatever", "description": "?"}"#, &[]),
            ("true", &[]),
            ("{}", &[]),
            (r#"{"type": "STRING"}"#, &["string"]),
            (r#"{"type": "String"}"#, &[]),
            (r#"{"properties": {}}"#, &["object"]),
            (r#"{"anyOf": [{"items": {}}, {"type": "NULL"}]}"#, &["null", "array"]),
            (r#"{"type": "string", "properties": {}}"#, &["string"]),
        ];
        for (schema, expected) in cases {
            assert_eq!(types(schema), expected, "{schema}");
        }
    }

    #[test]
    fn follows_eight_references_and_no_more() {
        let chain = |length: u32| {
            let steps: String = (0..length).map(|n| format!(r##""{n}": {{"$ref": "#/{}"}},"##, n + 1)).collect();
            format!(
                r##"{{{steps} "{length}": {{"type": "string", "properties": {{"x": {{"type": "null"}}}}}}, "$ref": "#/1"}}"##
            )
        };
        assert_eq!(types(&chain(8)), ["string"]);
        assert_eq!(types(&chain(9)), [""; 0]);
        for (length, found) in [(8, &["null"][..]), (9, &[])] {
            let text = chain(length);
            let (document, root) = Document::read(&text).unwrap();
            assert_eq!(names(Schema::new(&document, root).property("x").types()), found);
        }
    }

    #[test]
    fn finds_members_and_items_through_alternatives() {
        let text = r##"{"anyOf": [
            {"properties": {"a": {}}},
            {"properties": {"a": {"type": "integer"}, "l": {"$ref": "#/$defs/l"}}}
        ], "$defs": {"l": {"oneOf": [{"type": "null"}, {"type": "array", "items": {"type": "boolean"}}]}}}"##;
        let (document, root) = Document::read(text).unwrap();
        let schema = Schema::new(&document, root);
        assert_eq!(names(schema.property("a").types()), ["integer"]);
        assert_eq!(names(schema.property("l").types()), ["null", "array"]);
        assert_eq!(names(schema.property("l").items().types()), ["boolean"]);
        assert_eq!(names(schema.property("l").property("x").types()), [""; 0]);
        assert_eq!(names(schema.property("z").items().types()), [""; 0]);
    }

    #[test]
    fn looks_at_a_bounded_number_of_places() {
        let own = r##"{"$ref": "#"},"##.repeat(50);
        let text = format!(r##"{{"anyOf": [{own} {{"type": "string"}}]}}"##);
        let (document, root) = Document::read(&text).unwrap();
        let schema = Schema::new(&document, root);
        let mut visits = VISITS;
        schema.types_at(root, 0, &mut visits);
        assert_eq!(visits, 0);
        assert!(schema.property("x").place().is_none());
    }
}
