//! The conversations that a template is rendered for. Each conversation differs from another in one thing, and its words occur
//! nowhere else, so that the difference between two renderings shows the text around that thing. This file only has data and turns
//! it into a template's variables; it does not read renderings.

use std::collections::BTreeMap;

use minijinja::{Value, context};

pub const QUESTION: &str = "aside-question";
pub const NEXT: &str = "aside-followup";
pub const THOUGHT: &str = "aside-thought";
pub const ANSWER: &str = "aside-answer";
pub const LATER: &str = "aside-later";
pub const RESULT: &str = "aside-result";
/// The text of `eos_token`, for templates that write this variable and not the token itself.
pub const END_OF_TEXT: &str = "<aside-end-of-text>";
pub const BEGIN_OF_TEXT: &str = "<aside-begin-of-text>";

/// The names of the two functions, and of the keys of their arguments.
pub const NAMES: [&str; 2] = ["aside_invocation", "aside_second"];
pub const KEYS: [&str; 2] = ["asidekey", "asideother"];
/// A value that is a text without characters that need an escape.
pub const WORD: &str = "asidevalue";
pub const OTHER_WORD: &str = "asidelast";

/// Variables of requests that hosts use, with the values that switch thinking on and off.
pub const SWITCHES: &[(&str, &[&str], &[&str])] = &[
    ("enable_thinking", &["true"], &["false"]),
    ("thinking", &["true"], &["false"]),
    ("thinking_mode", &["\"thinking\"", "\"on\"", "\"enabled\""], &["\"chat\"", "\"off\"", "\"disabled\""]),
    ("reasoning", &["true"], &["false"]),
    ("enable_reasoning", &["true"], &["false"]),
    ("reasoning_effort", &["\"high\""], &["\"none\"", "\"low\""]),
    ("thinking_budget", &["1024"], &["0"]),
    ("reasoning_mode", &["\"on\""], &["\"off\""]),
    ("preserve_thinking", &["true"], &["false"]),
    ("keep_thinking", &["true"], &["false"]),
    ("keep_reasoning", &["true"], &["false"]),
    ("clear_thinking", &["false"], &["true"]),
    ("truncate_history_thinking", &["false"], &["true"]),
    ("drop_thinking", &["false"], &["true"]),
    ("strip_thinking", &["false"], &["true"]),
];

/// Variables that every host sets, or that are not switches.
pub const NO_SWITCHES: &[&str] = &[
    "messages",
    "tools",
    "documents",
    "bos_token",
    "eos_token",
    "pad_token",
    "unk_token",
    "add_generation_prompt",
    "raise_exception",
    "strftime_now",
    "range",
    "namespace",
    "dict",
    "loop",
    "caller",
    "date_string",
    "tools_in_user_message",
    "custom_tools",
    "xml_tools",
    "python_tools",
    "builtin_tools",
    "continue_final_message",
];

/// The place of the reasoning in a message of the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A member of the message.
    Member(&'static str),
    /// A part of the content, with this type, and the text in this member.
    Part(&'static str, &'static str),
    /// A part of the content, with this type, and in this member a list of parts with the text.
    PartOfTexts(&'static str, &'static str),
    /// Blocks in one object: a block each for the thoughts, the calls and the response.
    Blocks,
    /// The text of the content, which has the reasoning between these two markers.
    Inside(String, String),
}

pub const SHAPES: &[Shape] = &[
    Shape::Member("reasoning_content"),
    Shape::Member("reasoning"),
    Shape::Member("thinking"),
    Shape::Member("thought"),
    Shape::Member("thoughts"),
    Shape::Part("thinking", "thinking"),
    Shape::PartOfTexts("thinking", "thinking"),
    Shape::Part("reasoning", "text"),
    Shape::Part("thinking", "text"),
    Shape::Blocks,
];

/// The forms of a call's arguments in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Object,
    Text,
}

/// The ids of calls: long ids as hosts make them, nine letters for families that require these, and Kimi's ids, which contain the
/// names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    Letters,
    Long,
    Names,
}

impl Ids {
    pub fn of(self, name: &str, index: usize) -> String {
        match self {
            Ids::Letters => format!("asideid{:02}", index + 1),
            Ids::Long => format!("call_asideid{index}"),
            Ids::Names => format!("functions.{name}:{index}"),
        }
    }
}

/// A call: a name, and its arguments as JSON texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    pub name: &'static str,
    pub arguments: &'static [(&'static str, &'static str)],
}

impl Call {
    /// Returns the arguments as a JSON object.
    pub fn json(&self) -> serde_json::Value {
        let members = self
            .arguments
            .iter()
            .map(|(key, value)| ((*key).to_owned(), serde_json::from_str(value).unwrap_or(serde_json::Value::Null)));
        serde_json::Value::Object(members.collect())
    }

    fn message(&self, index: usize, form: Form, ids: Ids) -> Value {
        let arguments = match form {
            Form::Object => serde_json::from_value(self.json()).unwrap_or_default(),
            Form::Text => Value::from(self.json().to_string()),
        };
        let function = context! { name => self.name, arguments => arguments };
        context! { id => ids.of(self.name, index), type => "function", function => function }
    }
}

const TEXT: &str = "\"asidevalue\"";
pub const ONE: Call = Call { name: NAMES[0], arguments: &[(KEYS[0], TEXT)] };
pub const SECOND: Call = Call { name: NAMES[1], arguments: &[(KEYS[0], TEXT)] };
pub const TWO_ARGUMENTS: Call = Call { name: NAMES[0], arguments: &[(KEYS[0], TEXT), (KEYS[1], "\"asidelast\"")] };
pub const NO_ARGUMENT: Call = Call { name: NAMES[0], arguments: &[] };

/// Calls with one value each, and the kind of that value.
pub const VALUES: &[(&str, Call)] = &[
    ("a text with a line break", Call { name: NAMES[0], arguments: &[(KEYS[0], "\"aside\\nbreak\"")] }),
    ("a number", Call { name: NAMES[0], arguments: &[(KEYS[0], "7193")] }),
    ("true", Call { name: NAMES[0], arguments: &[(KEYS[0], "true")] }),
    ("null", Call { name: NAMES[0], arguments: &[(KEYS[0], "null")] }),
    ("a list", Call { name: NAMES[0], arguments: &[(KEYS[0], "[7193, \"a\"]")] }),
    ("an object", Call { name: NAMES[0], arguments: &[(KEYS[0], "{\"asideinner\": 7193}")] }),
    ("an empty text", Call { name: NAMES[0], arguments: &[(KEYS[0], "\"\"")] }),
    ("the text of a number", Call { name: NAMES[0], arguments: &[(KEYS[0], "\"7193\"")] }),
    ("the text of a word of JSON", Call { name: NAMES[0], arguments: &[(KEYS[0], "\"true\"")] }),
];

/// The content of a message of the model, next to its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Answer,
    Empty,
    Null,
}

/// The messages after the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    Nothing,
    Result,
    Question,
    /// Another question and its answer: some templates remove thoughts only from turns before the last.
    Turn,
}

/// A turn of the model that is rendered.
#[derive(Clone, Debug)]
pub struct Turn<'a> {
    pub thought: Option<&'a Shape>,
    pub content: Content,
    pub calls: &'a [Call],
    pub form: Form,
    pub ids: Ids,
    pub after: After,
}

impl Turn<'_> {
    pub const ANSWER: Turn<'static> = Turn {
        thought: None,
        content: Content::Answer,
        calls: &[],
        form: Form::Object,
        ids: Ids::Letters,
        after: After::Nothing,
    };

    /// Returns the messages of the conversation.
    pub fn messages(&self) -> Vec<Value> {
        let mut messages = vec![context! { role => "user", content => QUESTION }, self.message()];
        match self.after {
            After::Nothing => {}
            After::Question => messages.push(context! { role => "user", content => NEXT }),
            After::Turn => {
                messages.push(context! { role => "user", content => NEXT });
                messages.push(context! { role => "assistant", content => LATER });
            }
            After::Result => {
                for (index, call) in self.calls.iter().enumerate() {
                    let id = self.ids.of(call.name, index);
                    messages
                        .push(context! { role => "tool", tool_call_id => id, name => call.name, content => RESULT });
                }
            }
        }
        messages
    }

    fn message(&self) -> Value {
        let text = match self.content {
            Content::Answer => Some(ANSWER),
            Content::Empty => Some(""),
            Content::Null => None,
        };
        let mut message = BTreeMap::from([("role", Value::from("assistant")), ("content", Value::from(text))]);
        let part = |kind: &str, member: &str, text: Value| {
            Value::from(BTreeMap::from([("type", Value::from(kind)), (member, text)]))
        };
        let answer = || text.filter(|text| !text.is_empty()).map(|text| part("text", "text", Value::from(text)));
        let calls: Vec<Value> =
            self.calls.iter().enumerate().map(|(index, call)| call.message(index, self.form, self.ids)).collect();
        match self.thought {
            None => {}
            Some(Shape::Member(name)) => drop(message.insert(name, Value::from(THOUGHT))),
            Some(Shape::Part(kind, member)) => {
                let parts = [Some(part(kind, member, Value::from(THOUGHT))), answer()];
                message.insert("content", parts.into_iter().flatten().collect());
            }
            Some(Shape::PartOfTexts(kind, member)) => {
                let inner: Value = std::iter::once(part("text", "text", Value::from(THOUGHT))).collect();
                message.insert("content", [Some(part(kind, member, inner)), answer()].into_iter().flatten().collect());
            }
            Some(Shape::Inside(open, close)) => {
                let text = [open, THOUGHT, close, text.unwrap_or_default()].concat();
                message.insert("content", Value::from(text));
            }
            Some(Shape::Blocks) => {
                let mut blocks = vec![part("thoughts", "text", Value::from(THOUGHT))];
                if !calls.is_empty() {
                    let calls: Value = calls.iter().filter_map(|call| call.get_attr("function").ok()).collect();
                    blocks.push(part("tool_calls", "calls", calls));
                }
                blocks.extend(
                    text.filter(|text| !text.is_empty()).map(|text| part("response", "text", Value::from(text))),
                );
                message.insert("content", context! { blocks => blocks });
                return Value::from(message);
            }
        }
        if !calls.is_empty() {
            message.insert("tool_calls", Value::from(calls));
        }
        Value::from(message)
    }
}

/// The names under which templates read the tools of a request.
pub const TOOLS: [&str; 2] = ["tools", "xml_tools"];

/// Returns the tools of the request: the two functions.
pub fn tools() -> Value {
    let tool = |name: &str| {
        let text = || context! { type => "string", description => "A text." };
        let properties = BTreeMap::from(KEYS.map(|key| (key, text())));
        let parameters = context! { type => "object", properties => properties, required => Vec::<Value>::new() };
        context! { type => "function", function => context! { name => name, description => "Works.", parameters => parameters } }
    };
    NAMES.iter().map(|name| tool(name)).collect()
}
