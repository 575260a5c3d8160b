//! Makes the grammar of a dialect's calls from its tables and the schemas of the tools.

use super::{
    node::{BLANKS, Node, Region, all, any, many, maybe, quoted, text},
    schema::{Key, Part, Tool, member},
};
use crate::{
    call_writer::Types,
    calls::table::{BodyRule, CDATA_END, CallTable, LiteralRule, ObjectRule, TagsRule},
    dialect::compiled::{CallBlock, Compiled},
    join::{is_bare_key, layout, tables, type_word},
};

/// The maximum nesting of a value without a schema in a `literal`.
const DEPTH: u32 = 2;

/// The words for true and false in JSON and in Python. Chat templates write both kinds between tags.
const WORDS: [&str; 4] = ["true", "false", "True", "False"];
const CDATA_BEGIN: &str = "<![CDATA[";

pub const INTEGER: &str = "-?(0|[1-9][0-9]*)";
pub const NUMBER: &str = "-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?";
pub const DOUBLE: &str = "\"([^\"\\\\]|\\\\[\"\\\\nrt]|\\\\u00[01][0-9a-f])*\"";
pub const SINGLE: &str = "'([^'\\\\]|\\\\['\\\\nrt])*'";

pub struct Builder<'a> {
    compiled: &'a Compiled,
    tools: &'a [Tool<'a>],
    /// Whether only one call is allowed.
    is_one: bool,
    /// The conditions of the schemas that the grammar does not express.
    pub limits: Vec<String>,
}

impl<'a> Builder<'a> {
    pub fn new(compiled: &'a Compiled, tools: &'a [Tool<'a>], is_one: bool) -> Builder<'a> {
        Builder { compiled, tools, is_one, limits: Vec::new() }
    }

    /// Returns the text that begins a turn, with which a prompt may end.
    pub fn turn(&self) -> &'a [u8] {
        self.compiled.turns.first().map_or(b"", |turn| turn)
    }

    /// Returns the closer of the thinking.
    pub fn thinking_close(&self) -> &'a [u8] {
        self.compiled.templates.thoughts.first().map_or(b"", |[_, close]| close)
    }

    /// Returns the regions of the thinking. The first bytes of an opener are left out if they are `before`, the text that precedes the
    /// region. No text in a region ends the thinking; the opener of a call is text in it.
    pub fn thoughts(&self, before: &[u8]) -> Vec<Region> {
        let templates = &self.compiled.templates;
        let without: Vec<String> = templates.thinking_ends.iter().map(|end| lossy(end)).collect();
        let region = |[open, close]: &[Box<[u8]>; 2]| Region {
            trigger: lossy(open.strip_prefix(before).unwrap_or(open)),
            rest: Node::Until { begin: "", without: without.clone(), stop: lossy(close) },
            is_sign: true,
        };
        templates.thoughts.iter().map(region).collect()
    }

    /// Returns the regions in which calls are written. The first bytes of an opener are left out if they are `before`, the text that
    /// precedes the region. With `is_first`, no call precedes it, and calls without an opener are allowed.
    pub fn regions(&mut self, is_first: bool, before: &[u8]) -> Vec<Region> {
        let compiled = self.compiled;
        let mut regions = Vec::new();
        for block in &compiled.templates.calls {
            let span = compiled.spans.get(usize::from(block.rule));
            if span.is_some_and(|span| span.is_lenient || span.bare != 0 && !is_first) {
                continue;
            }
            let begun = if block.open.starts_with(before) { before.len() } else { 0 };
            regions.extend(self.region(block, begun, &regions));
        }
        regions
    }

    /// Returns the region of a block, without the first `begun` bytes of its opener, which the prompt has.
    fn region(&mut self, block: &'a CallBlock, begun: usize, others: &[Region]) -> Option<Region> {
        let tables = tables(self.compiled, block).iter().zip(&block.after_call).filter(|(table, _)| !table.is_lenient);
        let close = any(block.closes.iter().map(|close| literal(close)).collect());
        if let Some(at) = block.name {
            let (table, _) = tables.into_iter().next()?;
            let trigger = lossy(&block.open[begun..at]) + &needed_prefix(table);
            let rest = literal(&block.open[at..]);
            let calls = self
                .tools()
                .map(|tool| all([text(&*tool.name), Node::Pattern(" ?"), rest.clone(), self.body(table, tool)]));
            let rest = all([any(calls.collect()), maybe(close)]);
            let is_sign = others.is_empty();
            return Some(Region { trigger, rest, is_sign });
        }
        let calls: Vec<Node> = tables.map(|(table, after)| self.calls(block, table, after)).collect();
        if calls.is_empty() {
            return None;
        }
        // If a closer begins with a blank, no further blanks are allowed before it.
        let has_joint = !block.close.is_empty() && !block.close[0].is_ascii_whitespace();
        let close = if has_joint { all([BLANKS, close]) } else { close };
        let trigger = lossy(&block.open[begun..]);
        let is_sign = !trigger.is_empty();
        Some(Region { trigger, rest: all([any(calls), close]), is_sign })
    }

    /// Returns the tools, without borrowing the builder.
    fn tools(&self) -> std::slice::Iter<'a, Tool<'a>> {
        self.tools.iter()
    }

    /// Returns the calls that a table describes in a region. `after` is the text after each call.
    fn calls(&mut self, block: &'a CallBlock, table: &'a CallTable, after: &[u8]) -> Node {
        let layout = layout(block, table);
        let after = if after.is_empty() { Node::All(Vec::new()) } else { all([BLANKS, literal(after)]) };
        let first = any(self.tools().map(|tool| self.call(table, tool, layout.opens_call)).collect());
        let first = all([first, after.clone()]);
        let comma = || all([BLANKS, text(","), BLANKS]);
        let between = if layout.separator.trim_ascii().is_empty() { BLANKS } else { comma() };
        let more = if layout.is_shared && !self.is_one {
            let next = any(self.tools().map(|tool| self.call(table, tool, false)).collect());
            many(all([between, next, after]))
        } else {
            Node::All(Vec::new())
        };
        let joint = if layout.opens_call { Node::All(Vec::new()) } else { BLANKS };
        match layout.is_list {
            true => all([joint, text("["), BLANKS, first, more, BLANKS, text("]")]),
            // Several bare calls are written as a list.
            false if layout.is_shared && !self.is_one && layout.separator == b", " && !block.open.ends_with(b"[") => {
                all([joint, any(vec![first.clone(), all([text("["), BLANKS, first, more, BLANKS, text("]")])])])
            }
            false => all([joint, first, more]),
        }
    }

    /// Returns a call of a tool. If `is_begun`, the opener of the region was the beginning of the call.
    fn call(&mut self, table: &'a CallTable, tool: &'a Tool<'a>, is_begun: bool) -> Node {
        let begin = if is_begun { text("") } else { literal(&table.begin) };
        if let BodyRule::Object(rule) = &table.body {
            return all([begin, object(rule, tool)]);
        }
        let head = &table.head;
        let id =
            || Node::Pattern(if self.compiled.call_ids == Some(9) { "[a-zA-Z0-9]{9}" } else { "[a-zA-Z0-9_.-]{1,64}" });
        let mut nodes = vec![begin];
        if !head.id_end.is_empty() {
            nodes.extend([id(), literal(&head.id_end)]);
        }
        let prefix = if head.is_id {
            head.prefixes.first().map_or_else(String::new, |it| lossy(it))
        } else {
            needed_prefix(table)
        };
        nodes.extend([text(prefix), text(&*tool.name), literal(&head.suffix)]);
        if head.is_id {
            nodes.extend([text(":"), Node::Pattern("[0-9]+")]);
        }
        if !head.id_begin.is_empty() {
            nodes.push(maybe(all([literal(&head.id_begin), id()])));
        }
        nodes.push(match &table.body {
            BodyRule::Literal(rule) => text(char::from(rule.open)),
            _ => literal(&head.id_close),
        });
        nodes.extend([literal(&head.end), self.body(table, tool)]);
        all(nodes)
    }

    /// Returns the arguments of a call, with the text after them.
    fn body(&mut self, table: &'a CallTable, tool: &'a Tool<'a>) -> Node {
        let end = || if table.end.is_empty() { Node::All(Vec::new()) } else { all([BLANKS, literal(&table.end)]) };
        match &table.body {
            BodyRule::Object(rule) => object(rule, tool),
            BodyRule::Json => {
                let schema =
                    tool.parameters.map_or(r#"{"type":"object"}"#.into(), |schema| tool.document(schema, true));
                all([BLANKS, Node::Schema(schema), end()])
            }
            BodyRule::Tags(rule) => all([self.pairs(rule, tool), end()]),
            BodyRule::Literal(rule) => {
                let arguments = self.arguments(rule, tool);
                all([arguments, text(char::from(rule.close)), end()])
            }
        }
    }

    fn limit(&mut self, tool: &Tool<'_>, key: &str, fact: &str) {
        let limit = format!("{}{}{key}: {fact}", tool.name, if key.is_empty() { "" } else { "." });
        if !self.limits.contains(&limit) {
            self.limits.push(limit);
        }
    }

    /// Notes the keywords of a schema that the grammar does not express.
    fn note(&mut self, tool: &Tool<'_>, key: &str, part: &Part<'_>, known: &[&str]) {
        for word in part.keywords_besides(known) {
            self.limit(tool, key, &format!("`{word}` is not in the grammar"));
        }
    }

    /// Returns the keys of a tool's parameters, or `None` if any keys are allowed. With `is_needed`, returns them even if the
    /// tool is not strict.
    fn keys(&mut self, tool: &'a Tool<'a>, is_needed: bool) -> Option<Vec<Key<'a>>> {
        let part = tool.part(is_needed)?;
        self.note(tool, "", &part, &["type", "properties", "required", "additionalProperties"]);
        if member(part.text, "additionalProperties").is_some_and(|other| other != "false") {
            self.limit(tool, "", "other keys than those of `properties` are not in the grammar");
        }
        part.keys()
    }

    /// Returns keys and values between markers.
    fn pairs(&mut self, rule: &'a TagsRule, tool: &'a Tool<'a>) -> Node {
        // The closer of an element repeats the key, and a pattern for any key cannot ensure that.
        let Some(keys) = self.keys(tool, rule.nested.is_some()) else {
            if rule.nested.is_some() {
                self.limit(tool, "", "arguments without a schema cannot be written in the grammar");
                return Node::All(Vec::new());
            }
            let value = self.tagged(rule, tool, "", None);
            return many(pair(rule, Node::Pattern("[a-zA-Z0-9_.-]{1,64}"), value));
        };
        let mut nodes = Vec::new();
        for key in keys {
            let node = match rule.nested {
                Some(_) => self.element(rule, tool, &key.name, &key.value),
                None => {
                    let value = self.tagged(rule, tool, &key.name, Some(key.value));
                    pair(rule, text(&*key.name), value)
                }
            };
            nodes.push(if key.is_required { node } else { maybe(node) });
        }
        all(nodes)
    }

    /// Returns a value between markers, with the word for its type before it, and with its closer. Without a part, any value is allowed.
    fn tagged(&mut self, rule: &TagsRule, tool: &Tool<'_>, key: &str, part: Option<Part<'_>>) -> Node {
        let types = part.map_or(Types::UNKNOWN, |part| part.types());
        let stop = lossy(&rule.before_close) + &lossy(&rule.value[1]);
        let mut without = vec![lossy(rule.value[1].strip_suffix(b">").unwrap_or(&rule.value[1]))];
        if rule.recovers {
            without.push(lossy(&rule.key[0]));
        }
        let open = |json: &str| {
            let kind = match &rule.kind {
                Some([open, close]) => all([literal(open), text(type_word(rule, json)), literal(close)]),
                None => text(""),
            };
            // Blanks are allowed only before a tag: before `>` they would be in the marker, and before an empty marker in the
            // value.
            let joint = if rule.kind.is_none() && rule.value[0].starts_with(b"<") { BLANKS } else { text("") };
            all([kind, joint, literal(&rule.value[0]), literal(&rule.after_open)])
        };
        let string = |mut without: Vec<String>| {
            if !rule.has_cdata {
                return Node::Until { begin: "", without, stop: stop.clone() };
            }
            without.push(CDATA_BEGIN.into());
            let verbatim =
                Node::Until { begin: CDATA_BEGIN, without: vec![lossy(CDATA_END)], stop: lossy(CDATA_END) + &stop };
            any(vec![Node::Until { begin: "", without, stop: stop.clone() }, verbatim])
        };
        if let Some(values) = part.and_then(|part| part.values()) {
            let value = |value: &str| {
                let written = if value.starts_with('"') { super::schema::string(value) } else { value.into() };
                all([open(value), text(written + &stop)])
            };
            return any(values.into_iter().map(value).collect());
        }
        let json = |schema: String| all([Node::Schema(schema), text(&*stop)]);
        let Some(part) = part.filter(|_| !types.is_unknown()) else {
            let others = [("{", "object"), ("[", "array"), ("true", "boolean"), ("null", "null"), ("0.5", "number")];
            let other = |(value, name): (&str, &str)| all([open(value), json(format!(r#"{{"type":"{name}"}}"#))]);
            let string = all([open("\"\""), string(without)]);
            return match rule.kind.is_some() {
                true => any([string].into_iter().chain(others.map(other)).collect()),
                false => string,
            };
        };
        let mut choices = Vec::new();
        if types.has(Types::STRING) {
            self.note(tool, key, &part, &["type"]);
            choices.push(all([open("\"\""), string(without)]));
        }
        if types == Types::STRING {
            return any(choices);
        }
        if types == Types::BOOLEAN && rule.kind.is_none() {
            let words = WORDS.into_iter().map(text).collect();
            return all([open("true"), any(words), text(&*stop)]);
        }
        if types.has(Types::STRING) && rule.kind.is_none() {
            self.limit(tool, key, "a value that is not a string is text in the grammar");
            return any(choices);
        }
        if types.has(Types::OBJECT) || types.has(Types::ARRAY) {
            self.limit(tool, key, "the strings inside its JSON may contain the closer of the value");
        }
        for (value, one, name) in [
            ("{", Types::OBJECT, "object"),
            ("[", Types::ARRAY, "array"),
            ("true", Types::BOOLEAN, "boolean"),
            ("null", Types::NULL, "null"),
            ("0.5", Types::NUMBER, "number"),
            ("0", Types::INTEGER, "integer"),
        ] {
            if types == one || rule.kind.is_none() {
                choices.push(all([open(value), json(tool.document(part.text, false))]));
                break;
            }
            if types.has(one) {
                choices.push(all([open(value), json(format!(r#"{{"type":"{name}"}}"#))]));
            }
        }
        any(choices)
    }

    /// Returns an element with its value.
    fn element(&mut self, rule: &TagsRule, tool: &Tool<'_>, key: &str, part: &Part<'_>) -> Node {
        let open = all([literal(&rule.key[0]), text(key), literal(&rule.key[1])]);
        let close = lossy(&rule.value[1]) + key + ">";
        let types = part.types();
        let value = if let Some(values) = part.values() {
            let written =
                |value: &str| if value.starts_with('"') { super::schema::string(value) } else { value.into() };
            all([any(values.into_iter().map(|value| text(written(value))).collect()), text(close)])
        } else if types == Types::OBJECT
            && let Some(keys) = part.keys()
        {
            self.note(tool, key, part, &["type", "properties", "required", "additionalProperties"]);
            let mut nodes = Vec::new();
            for key in keys {
                let node = self.element(rule, tool, &key.name, &key.value);
                nodes.push(if key.is_required { node } else { maybe(node) });
            }
            all([all(nodes), text(close)])
        } else if types == Types::ARRAY {
            self.note(tool, key, part, &["type", "items"]);
            all([many(self.element(rule, tool, "item", &part.items())), text(close)])
        } else if types.is_unknown() || types.has(Types::STRING) {
            self.note(tool, key, part, &["type"]);
            if types != Types::STRING {
                self.limit(tool, key, "a value that is not a string is text in the grammar");
            }
            Node::Until {
                begin: "",
                without: vec![rule.nested.as_deref().map_or_else(String::new, lossy)],
                stop: close,
            }
        } else {
            all([Node::Schema(tool.document(part.text, false)), text(close)])
        };
        all([open, value])
    }

    /// Returns keys and values in brackets.
    fn arguments(&mut self, rule: &LiteralRule, tool: &'a Tool<'a>) -> Node {
        match self.keys(tool, false) {
            Some(keys) => self.members(rule, tool, keys, rule.assign, false),
            None => {
                let member = all([
                    Node::Pattern("[a-zA-Z_][a-zA-Z0-9_]{0,63}"),
                    text(char::from(rule.assign)),
                    free(rule, DEPTH),
                ]);
                maybe(all([member.clone(), many(all([COMMA, member]))]))
            }
        }
    }

    /// Returns the members of an object, in the order of the schema or of their names.
    fn members(
        &mut self,
        rule: &LiteralRule,
        tool: &Tool<'_>,
        mut keys: Vec<Key<'_>>,
        assign: u8,
        is_inner: bool,
    ) -> Node {
        if rule.is_sorted {
            keys.sort_by(|one, other| one.name.cmp(&other.name));
        }
        let joint = if is_inner && rule.raw_quote.is_empty() { Node::Pattern(" ?") } else { text("") };
        let mut nodes = Vec::new();
        for key in keys {
            let name = match &rule.raw_quote {
                raw if raw.is_empty() && is_inner => quoted(&key.name),
                raw if !raw.is_empty() && !is_bare_key(&key.name) => lossy(raw) + &key.name + &lossy(raw),
                _ => key.name.clone(),
            };
            let value = self.literal(rule, tool, &key.name, &key.value);
            nodes.push((all([text(name), text(char::from(assign)), joint.clone(), value]), key.is_required));
        }
        // The first member has no comma before it: each member up to the first required one may be the first.
        let first = nodes.iter().position(|(_, is_required)| *is_required);
        let mut choices = Vec::new();
        for at in 0..first.map_or(nodes.len(), |first| first + 1) {
            let rest = nodes[at + 1..].iter().map(|(node, is_required)| {
                let node = all([COMMA, node.clone()]);
                if *is_required { node } else { maybe(node) }
            });
            choices.push(all([nodes[at].0.clone()].into_iter().chain(rest)));
        }
        match (first, choices.is_empty()) {
            (_, true) => Node::All(Vec::new()),
            (None, false) => maybe(any(choices)),
            (Some(_), false) => any(choices),
        }
    }

    /// Returns a value in brackets.
    fn literal(&mut self, rule: &LiteralRule, tool: &Tool<'_>, key: &str, part: &Part<'_>) -> Node {
        let types = part.types();
        if let Some(values) = part.values() {
            return any(values.into_iter().map(|value| constant(rule, value)).collect());
        }
        let mut choices = Vec::new();
        let known: &[(Types, &[&str])] = &[
            (Types::OBJECT, &["type", "properties", "required", "additionalProperties"]),
            (Types::ARRAY, &["type", "items"]),
        ];
        let words = known.iter().find(|(one, _)| *one == types).map_or(&["type"][..], |(_, words)| words);
        self.note(tool, key, part, words);
        if types.is_unknown() {
            return free(rule, DEPTH);
        }
        if types.has(Types::OBJECT) {
            choices.push(match part.keys() {
                Some(keys) => all([text("{"), self.members(rule, tool, keys, b':', true), text("}")]),
                None => free_object(rule, DEPTH),
            });
        }
        if types.has(Types::ARRAY) {
            let item = self.literal(rule, tool, key, &part.items());
            choices.push(listed(item));
        }
        for (one, node) in scalars(rule) {
            if types.has(one) {
                choices.push(node);
            }
        }
        any(choices)
    }
}

const COMMA: Node = Node::Pattern(", ?");

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into()
}

fn literal(bytes: &[u8]) -> Node {
    text(lossy(bytes))
}

/// Returns the prefix that a name must have.
fn needed_prefix(table: &CallTable) -> String {
    table.head.prefixes.first().filter(|_| table.head.needs_prefix).map_or_else(String::new, |prefix| lossy(prefix))
}

/// Returns a call that is an object, as a schema of its members.
fn object(rule: &ObjectRule, tool: &Tool<'_>) -> Node {
    let parameters = tool.parameters.map_or(r#"{"type":"object"}"#.into(), |schema| tool.document(schema, true));
    let name = quoted(&tool.name);
    let one = |members: &[(&str, &str)]| {
        let properties: Vec<String> = members.iter().map(|(key, schema)| format!("{}:{schema}", quoted(key))).collect();
        let required: Vec<String> = members.iter().map(|(key, _)| quoted(key)).collect();
        let definitions =
            ["$defs", "definitions"].into_iter().filter_map(|key| Some((key, member(tool.parameters?, key)?)));
        let definitions: String = definitions.map(|(key, text)| format!(r#","{key}":{text}"#)).collect();
        Node::Schema(format!(
            r#"{{"type":"object","properties":{{{}}},"required":[{}],"additionalProperties":false{definitions}}}"#,
            properties.join(","),
            required.join(",")
        ))
    };
    if rule.key_is_name {
        return one(&[(&tool.name, &parameters)]);
    }
    let first = |keys: &[Box<[u8]>]| keys.first().map_or_else(String::new, |key| lossy(key));
    let (name_key, arguments, id) = (first(&rule.names), first(&rule.arguments), first(&rule.ids));
    let name = format!(r#"{{"const":{name}}}"#);
    let (name, arguments, id) = ((&*name_key, &*name), (&*arguments, &*parameters), (&*id, r#"{"type":"string"}"#));
    match rule.writes_id {
        true => any(vec![one(&[name, arguments]), one(&[name, arguments, id]), one(&[id, name, arguments])]),
        false => one(&[name, arguments]),
    }
}

/// Returns a key between its markers, and the value.
fn pair(rule: &TagsRule, key: Node, value: Node) -> Node {
    all([BLANKS, literal(&rule.key[0]), key, literal(&rule.key[1]), value])
}

/// Returns a constant of a schema, in the form of a literal.
fn constant(rule: &LiteralRule, json: &str) -> Node {
    let is_raw = !rule.raw_quote.is_empty();
    match json {
        _ if json.starts_with('"') => {
            let value = super::schema::string(json);
            let quote = lossy(&rule.raw_quote);
            if is_raw {
                return text(format!("{quote}{value}{quote}"));
            }
            let is_plain = !value.contains(['\'', '\\', '\n']);
            any([text(json)].into_iter().chain(is_plain.then(|| text(format!("'{value}'")))).collect())
        }
        "true" if !is_raw => any(vec![text("True"), text("true")]),
        "false" if !is_raw => any(vec![text("False"), text("false")]),
        "null" if !is_raw => any(vec![text("None"), text("null")]),
        _ => text(json),
    }
}

/// Returns the forms of values that have no parts, each with its type.
fn scalars(rule: &LiteralRule) -> [(Types, Node); 5] {
    let raw = lossy(&rule.raw_quote);
    let is_raw = !raw.is_empty();
    let string = match is_raw {
        true => all([text(&*raw), Node::Until { begin: "", without: vec![raw.clone()], stop: raw.clone() }]),
        false => any(vec![Node::Pattern(DOUBLE), Node::Pattern(SINGLE)]),
    };
    [
        (Types::STRING, string),
        (Types::NUMBER, Node::Pattern(NUMBER)),
        (Types::INTEGER, Node::Pattern(INTEGER)),
        (Types::BOOLEAN, Node::Pattern(if is_raw { "true|false" } else { "true|false|True|False" })),
        (Types::NULL, text(if is_raw { "null" } else { "None" })),
    ]
}

fn listed(item: Node) -> Node {
    all([text("["), maybe(all([item.clone(), many(all([COMMA, item]))])), text("]")])
}

fn free_object(rule: &LiteralRule, depth: u32) -> Node {
    let (key, joint) = match rule.raw_quote.is_empty() {
        true => (Node::Pattern(DOUBLE), Node::Pattern(" ?")),
        false => (Node::Pattern("[a-zA-Z_][a-zA-Z0-9_]{0,63}"), text("")),
    };
    let member = all([key, text(":"), joint, free(rule, depth - 1)]);
    all([text("{"), maybe(all([member.clone(), many(all([COMMA, member]))])), text("}")])
}

/// Returns any value, nested up to a depth.
fn free(rule: &LiteralRule, depth: u32) -> Node {
    let mut choices: Vec<Node> =
        scalars(rule).into_iter().filter(|(one, _)| *one != Types::INTEGER).map(|(_, node)| node).collect();
    if depth > 0 {
        choices.push(listed(free(rule, depth - 1)));
        choices.push(free_object(rule, depth));
    }
    any(choices)
}
