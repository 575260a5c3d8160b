//! The parts of a grammar, and how an engine's language writes them: a structural tag for xgrammar, Lark for llguidance.

use std::fmt::Write;

use crate::json;

/// A part of a grammar.
#[derive(Clone, Debug)]
pub enum Node {
    /// This text.
    Text(String),
    /// The text that this regular expression matches.
    Pattern(&'static str),
    /// JSON that this schema, which is JSON itself, allows.
    Schema(String),
    /// `begin`, then text that contains none of `without`, then `stop`.
    Until {
        begin: &'static str,
        without: Vec<String>,
        stop: String,
    },
    /// The nodes in order; one of the nodes; the node or nothing; the node any number of times.
    All(Vec<Node>),
    Any(Vec<Node>),
    Maybe(Box<Node>),
    Many(Box<Node>),
    /// Free text with any number of these regions in it.
    Free(Vec<Region>),
}

/// The blanks that may be between two parts of a call. The number is limited, because a model that may write any number of blanks
/// sometimes writes blanks without end.
pub const BLANKS: Node = Node::Pattern("[ \\n]{0,2}");
/// The blanks between thinking and a call: templates write a blank line after the thinking, and some a line break before the call.
pub const AFTER_THINKING: Node = Node::Pattern("[ \\n]{0,3}");

pub fn text(text: impl Into<String>) -> Node {
    Node::Text(text.into())
}

pub fn maybe(node: Node) -> Node {
    Node::Maybe(Box::new(node))
}

pub fn many(node: Node) -> Node {
    Node::Many(Box::new(node))
}

/// Returns these nodes in order. Neighbouring texts become one text.
pub fn all(nodes: impl IntoIterator<Item = Node>) -> Node {
    let mut flat: Vec<Node> = Vec::new();
    for node in nodes {
        let inner = match node {
            Node::All(inner) => inner,
            Node::Text(text) if text.is_empty() => continue,
            node => vec![node],
        };
        for node in inner {
            match (flat.last_mut(), node) {
                (Some(Node::Text(before)), Node::Text(text)) => before.push_str(&text),
                (_, node) => flat.push(node),
            }
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Node::All(flat) }
}

pub fn any(mut nodes: Vec<Node>) -> Node {
    if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) }
}

/// A region of calls: its opener, the calls, its closer. A model may write `trigger`, the beginning of the opener, only if a call
/// follows.
#[derive(Clone, Debug)]
pub struct Region {
    pub trigger: String,
    pub rest: Node,
    /// Whether the trigger shows in free text that a call begins.
    pub is_sign: bool,
}

impl Region {
    /// Returns the region with its trigger.
    pub fn whole(&self) -> Node {
        all([text(&*self.trigger), self.rest.clone()])
    }
}

/// Returns a text as a JSON string.
pub fn quoted(text: &str) -> String {
    let mut quoted = vec![b'"'];
    // This fails only if memory runs out.
    let _ = json::escape(text.as_bytes(), &mut quoted);
    quoted.push(b'"');
    String::from_utf8(quoted).unwrap_or_default()
}

fn list<T>(items: impl IntoIterator<Item = T>, write: impl FnMut(T) -> String) -> String {
    format!("[{}]", items.into_iter().map(write).collect::<Vec<_>>().join(","))
}

/// Writes a structural tag of xgrammar.
pub fn structural_tag(node: &Node) -> String {
    format!(r#"{{"type":"structural_tag","format":{}}}"#, xgrammar(node))
}

/// Writes a grammar of llguidance.
pub fn lark(node: &Node) -> String {
    let mut lark = Lark::default();
    let start = lark.node(node);
    lark.whole(&start)
}

/// Writes a node as a format of xgrammar's structural tags.
fn xgrammar(node: &Node) -> String {
    let one = |kind: &str, key: &str, value: String| format!(r#"{{"type":"{kind}","{key}":{value}}}"#);
    match node {
        Node::Text(text) => one("const_string", "value", quoted(text)),
        Node::Pattern(pattern) => one("regex", "pattern", quoted(pattern)),
        Node::Schema(schema) => one("json_schema", "json_schema", schema.clone()),
        Node::Until { begin, without, stop } => {
            let inside = one("any_text", "excludes", list(without, |one| quoted(one)));
            let begin = if begin.is_empty() { String::new() } else { xgrammar(&text(*begin)) + "," };
            one("sequence", "elements", format!("[{begin}{inside},{}]", xgrammar(&text(&**stop))))
        }
        Node::All(nodes) if nodes.is_empty() => one("const_string", "value", quoted("")),
        Node::All(nodes) => one("sequence", "elements", list(nodes, xgrammar)),
        Node::Any(nodes) => one("or", "elements", list(nodes, xgrammar)),
        Node::Maybe(node) => one("optional", "content", xgrammar(node)),
        Node::Many(node) => one("star", "content", xgrammar(node)),
        // `triggered_tags` is not used, because xgrammar refuses repetitions in it.
        Node::Free(regions) => {
            let text = one("any_text", "excludes", list(regions, |region| quoted(&region.trigger)));
            let calls = one("or", "elements", list(regions, |region| xgrammar(&region.whole())));
            let calls = one("sequence", "elements", format!("[{text},{calls}]"));
            one("sequence", "elements", format!("[{},{text}]", one("star", "content", calls)))
        }
    }
}

/// A grammar in Lark. Texts up to a stop, and schemas, are separate rules, each written once.
#[derive(Default)]
struct Lark {
    rules: Vec<(&'static str, String)>,
}

impl Lark {
    /// Returns the whole grammar, which begins with this expression.
    fn whole(self, start: &str) -> String {
        let mut text = format!("%llguidance {{}}\nstart: {start}\n");
        for (number, (kind, rule)) in self.rules.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = match *kind {
                "lazy" => writeln!(text, "rule_{number}[lazy]: TEXT_{number}\nTEXT_{number}: {rule}"),
                "json" => writeln!(text, "rule_{number}: %json {rule}"),
                _ => writeln!(text, "rule_{number}: {rule}"),
            };
        }
        text
    }

    fn rule(&mut self, kind: &'static str, rule: String) -> String {
        let known = self.rules.iter().position(|(of, other)| *of == kind && *other == rule);
        let number = known.unwrap_or_else(|| {
            self.rules.push((kind, rule));
            self.rules.len() - 1
        });
        format!("rule_{number}")
    }

    /// Returns the expression of a node, or `""` for a node without text.
    fn node(&mut self, node: &Node) -> String {
        let mut each = |nodes: &[Node]| nodes.iter().map(|node| self.node(node)).collect::<Vec<_>>();
        match node {
            Node::Text(text) => quoted(text),
            // A terminal may not be empty.
            Node::Pattern(pattern) if pattern.contains("{0,") => {
                format!("(/{}/)?", pattern.replace("{0,", "{1,"))
            }
            Node::Pattern(pattern) => format!("/{}/", pattern.replace('/', "\\/")),
            Node::All(nodes) if nodes.is_empty() => "\"\"".into(),
            Node::All(nodes) => each(nodes).join(" "),
            Node::Any(nodes) => format!("({})", each(nodes).join(" | ")),
            Node::Maybe(node) => format!("({})?", self.node(node)),
            Node::Many(node) => format!("({})*", self.node(node)),
            Node::Schema(schema) => self.rule("json", schema.clone()),
            Node::Free(regions) => {
                let mut choices = Vec::new();
                for one in regions {
                    let before = self.rule("lazy", format!("/(?s:.*){}/", escaped(&one.trigger)));
                    choices.push(format!("{before} {}", self.node(&one.rest)));
                }
                let triggers: Vec<String> = regions.iter().map(|one| escaped(&one.trigger)).collect();
                let rest = self.rule("", format!("~/(?s:.*)({})(?s:.*)/", triggers.join("|")));
                format!("({})* {rest}?", choices.join(" | "))
            }
            Node::Until { begin, without, stop } => {
                // `begin`, the text and `stop` are one terminal. If `stop` were a separate one, llguidance would read it as part
                // of the text.
                let begin = if begin.is_empty() { String::new() } else { quoted(begin) + " " };
                let without: Vec<String> = without.iter().map(|one| escaped(one)).collect();
                self.rule("lazy", format!("{begin}~/(?s:.*)({})(?s:.*)/ {}", without.join("|"), quoted(stop)))
            }
        }
    }
}

/// Returns a regular expression for a text, between the slashes of Lark.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        match character {
            '\n' => pattern.push_str("\\n"),
            _ => {
                if "\\/.+*?()|[]{}^$#&~-".contains(character) {
                    pattern.push('\\');
                }
                pattern.push(character);
            }
        }
    }
    pattern
}
