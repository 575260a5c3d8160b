//! Grammars that make a model write the calls of a dialect. They are made from the tables by which the calls are read, so that a
//! server constrains a model to exactly the form that is read afterwards.

mod build;
mod node;
mod schema;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::{
    call_writer::{Tools, ToolsError},
    channel::{Channel, Start},
    dialect::Dialect,
};
use node::{AFTER_THINKING, BLANKS, Node, Region, all, any, many, maybe};

/// The language of a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrammarFormat {
    /// A structural tag of xgrammar, as JSON.
    Xgrammar,
    /// A Lark grammar of llguidance.
    Lark,
}

/// The calls that a grammar allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice<'a> {
    /// Free text, and any number of calls in it.
    Auto,
    /// One call or several, and nothing else.
    Required,
    /// One call of the tool with this name, and nothing else.
    Tool(&'a str),
}

impl<'a> ToolChoice<'a> {
    /// Returns the choice for the word `auto` or `required`, or for the name of a tool.
    ///
    /// ```
    /// use aside::ToolChoice;
    ///
    /// assert_eq!(ToolChoice::named("required"), ToolChoice::Required);
    /// assert_eq!(ToolChoice::named("get_time"), ToolChoice::Tool("get_time"));
    /// ```
    #[must_use]
    pub fn named(word: &'a str) -> ToolChoice<'a> {
        match word {
            "auto" => ToolChoice::Auto,
            "required" => ToolChoice::Required,
            name => ToolChoice::Tool(name),
        }
    }
}

/// A grammar, from [`Dialect::grammar`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolGrammar {
    /// The grammar in its language.
    pub text: String,
    /// The conditions of the tools' schemas that the grammar does not express, in English, one line for each.
    pub limits: Vec<String>,
}

/// The reason why there is no grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GrammarError {
    /// The tools cannot be read.
    Tools(ToolsError),
    /// The tools are an empty list.
    NoTools,
    /// No tool has the chosen name.
    UnknownTool(Box<str>),
    /// The dialect does not describe how calls are written.
    NotWritten,
    /// The dialect has no thinking or no header to start in, or a grammar cannot start there.
    NoSuchStart,
}

impl fmt::Display for GrammarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GrammarError::Tools(error) => error.fmt(f),
            GrammarError::NoTools => f.write_str("tools: the list has no tool, so there is no call to write"),
            GrammarError::UnknownTool(name) => write!(f, "no tool is named {name:?}: choose one of the list"),
            GrammarError::NotWritten => f.write_str("the dialect does not say how calls are written"),
            GrammarError::NoSuchStart => {
                f.write_str("a grammar starts in the content, or in the thinking or the header that the dialect has")
            }
        }
    }
}

impl std::error::Error for GrammarError {}

/// Returns the node for one of these regions.
fn whole(regions: &[Region]) -> Node {
    any(regions.iter().map(Region::whole).collect())
}

/// Returns the node for one of the first regions and any number of the next ones.
fn several(first: Vec<Region>, next: Vec<Region>) -> Node {
    if next.is_empty() {
        return whole(&first);
    }
    all([whole(&first), many(all([BLANKS, whole(&next)]))])
}

impl Dialect {
    /// Returns a grammar for calls of these tools, as models of the dialect write them. `tools` are the tools of a request, as JSON.
    ///
    /// `start` says where the text begins that the grammar constrains, as for a scanner:
    ///
    /// - `None`: after the thinking. The grammar has no thinking.
    /// - `Content`: before the thinking. The model may think first; the grammar has the opener and the closer.
    /// - `Header`: the same, in a dialect with headers whose prompt has begun the header.
    /// - `Thinking`: inside the thinking. The prompt has the opener, and the grammar has the closer.
    ///
    /// Thinking is any text without a marker that ends it. It may mention the opener of a call. If it has a whole call, the reader
    /// decides whether the call counts ([`CallsInThinking`](crate::CallsInThinking)).
    ///
    /// This dialect reads every call that the grammar allows, with the arguments that the model meant. The grammar has the forms
    /// that the family writes by itself, and leaves out those that are only read (`lenient`). Between the parts of a call, up to
    /// two blanks are allowed. In JSON, the engine applies the schemas; between markers, the grammar has the types, the enums,
    /// the required keys and the order of the schemas. Markers are text in the grammar, even if they are special tokens of the
    /// model. A tool with `"strict": false` may have any arguments.
    ///
    /// ```
    /// use aside::{Dialect, GrammarFormat, ToolChoice};
    ///
    /// let tools = r#"[{"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]"#;
    /// let glm = Dialect::find("glm-4.5")?;
    /// let grammar = glm.grammar(GrammarFormat::Lark, tools, ToolChoice::Tool("add"), None)?;
    /// assert!(grammar.text.starts_with("%llguidance {}\nstart: \"<tool_call>\""));
    /// assert!(grammar.limits.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Any [`GrammarError`]. Running out of memory ends the process.
    #[doc(alias = "aside_dialect_grammar")]
    pub fn grammar(
        &self,
        format: GrammarFormat,
        tools: &str,
        choice: ToolChoice<'_>,
        start: Option<Start>,
    ) -> Result<ToolGrammar, GrammarError> {
        let read = Tools::read(tools).map_err(GrammarError::Tools)?;
        let mut list = schema::tools(tools, &read);
        if let ToolChoice::Tool(name) = choice {
            list.retain(|tool| tool.name == name);
            if list.is_empty() {
                return Err(GrammarError::UnknownTool(name.into()));
            }
        }
        if list.is_empty() {
            return Err(GrammarError::NoTools);
        }
        let mut builder = build::Builder::new(&self.compiled, &list, matches!(choice, ToolChoice::Tool(_)));
        let node = self.node(&mut builder, choice, start)?;
        let text = match format {
            GrammarFormat::Xgrammar => node::structural_tag(&node),
            GrammarFormat::Lark => node::lark(&node),
        };
        Ok(ToolGrammar { text, limits: builder.limits })
    }

    /// Returns the node for the calls of a choice, with the thinking that may come before them.
    fn node(
        &self,
        builder: &mut build::Builder<'_>,
        choice: ToolChoice<'_>,
        start: Option<Start>,
    ) -> Result<Node, GrammarError> {
        // In free text, the text that a prompt may have begun is part of the text before a call.
        let is_begun = choice == ToolChoice::Auto || start != Some(Start::Channel(Channel::Content));
        let before = if is_begun { builder.turn() } else { b"" };
        let thoughts = start.map_or_else(Vec::new, |_| builder.thoughts(before));
        let is_inside = start == Some(Start::Channel(Channel::Thinking));
        let can_start = match start {
            None | Some(Start::Channel(Channel::Content)) => true,
            Some(Start::Channel(Channel::Thinking)) => !thoughts.is_empty(),
            Some(Start::Header) => self.compiled.grammar.header.is_some(),
            Some(_) => false,
        };
        if !can_start {
            return Err(GrammarError::NoSuchStart);
        }
        let mut first = builder.regions(true, before);
        if choice == ToolChoice::Auto {
            // In free text, only an opener shows that a call begins. Calls without an opener are left out, and so are further
            // spellings of a header.
            first.retain(|one| one.is_sign);
        }
        if first.is_empty() {
            return Err(GrammarError::NotWritten);
        }
        let open = any(thoughts.iter().map(|one| if is_inside { one.rest.clone() } else { one.whole() }).collect());
        if choice == ToolChoice::Auto {
            let free = Node::Free(first.into_iter().chain(thoughts).collect());
            return Ok(if is_inside { all([open, free]) } else { free });
        }
        let next = if choice == ToolChoice::Required { builder.regions(false, b"") } else { Vec::new() };
        if thoughts.is_empty() {
            return Ok(several(first, next));
        }
        let later = builder.regions(true, builder.thinking_close());
        // An opener that begins with a blank needs no further blank before it.
        let has_joint = !later.iter().any(|one| one.trigger.starts_with(' '));
        let thinking = if has_joint { all([open, AFTER_THINKING]) } else { open };
        let later = several(later, next.clone());
        Ok(match start {
            _ if is_inside => all([thinking, later]),
            // The prompt has begun the header of the first message.
            Some(Start::Header) => any(vec![several(first, next), all([thinking, later])]),
            _ => all([maybe(thinking), later]),
        })
    }
}
