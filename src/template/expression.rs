//! Evaluates a template's expressions for a host that sets only the required variables. This reads enough of Jinja to
//! find the branch of a generation prompt that is taken and the texts that are written; everything else is unknown.
//! These functions must not fail on any template, and must not read input twice.

use std::borrow::Cow;

use super::value::{Truth, Value, join};
use crate::memory::{Result, push};

/// The maximum nesting of parentheses, and the maximum number of `else` in succession.
const DEEPEST: usize = 32;
/// The maximum number of variables, and of entries of a list. Further variables and entries are unknown.
const MOST: usize = 512;

/// The variables that a template has set, and the attributes of its namespaces.
#[derive(Default)]
pub struct Variables<'a> {
    /// The known values, sorted by name and attribute. The value of a variable itself has the attribute "".
    known: Vec<((&'a str, &'a str), Value<'static>)>,
}

impl<'a> Variables<'a> {
    /// Returns the variables that every host sets: the messages, the special tokens, and `add_generation_prompt`.
    pub fn given() -> Result<Variables<'a>> {
        let mut variables = Variables::default();
        for name in ["messages", "bos_token", "eos_token"] {
            variables.set(name, "", Value::Given)?;
        }
        for name in ["loop", "raise_exception", "strftime_now", "range"] {
            variables.set(name, "", Value::Unknown)?;
        }
        variables.set("add_generation_prompt", "", Value::Bool(true))?;
        Ok(variables)
    }

    fn place(&self, name: &str, attribute: &str) -> std::result::Result<usize, usize> {
        self.known.binary_search_by(|((known, of), _)| (*known, *of).cmp(&(name, attribute)))
    }

    fn get(&self, name: &str, attribute: &str) -> Option<&Value<'static>> {
        Some(&self.known[self.place(name, attribute).ok()?].1)
    }

    fn value(&self, name: &str) -> Value<'_> {
        match self.get(name, "") {
            Some(value) => value.borrowed(),
            None if self.known.len() >= MOST => Value::Unknown,
            None => Value::Undefined,
        }
    }

    pub fn set(&mut self, name: &'a str, attribute: &'a str, value: Value<'static>) -> Result<()> {
        match self.place(name, attribute) {
            Ok(place) => self.known[place].1 = value,
            Err(_) if self.known.len() >= MOST => {}
            Err(place) => {
                self.known.try_reserve(1)?;
                self.known.insert(place, ((name, attribute), value));
            }
        }
        Ok(())
    }

    /// Carries out a `set` without a block. If it is uncertain whether the statement runs, and the old and the new value differ,
    /// the variable is unknown afterwards.
    pub fn assign(&mut self, statement: &'a str, is_sure: bool) -> Result<()> {
        let Some((target, source)) = statement.split_once('=') else { return Ok(()) };
        let (target, source) = (target.trim(), source.trim());
        let (name, attribute) = target.split_once('.').unwrap_or((target, ""));
        if let Some(fields) = source.strip_prefix("namespace").map(str::trim).and_then(|rest| rest.strip_prefix('(')) {
            self.set(name, "", Value::Unknown)?;
            let mut parser = Parser::new(fields);
            while let Some(field) = parser.field() {
                let value = parser.choice(self)?.stored()?;
                self.set(name, field, value)?;
            }
            return Ok(());
        }
        let mut value = evaluate(source, self)?.stored()?;
        if !is_sure {
            let before = match self.get(name, attribute) {
                Some(before) => before.borrowed(),
                None => Value::Undefined,
            };
            if before.equals(&value) != Truth::Yes {
                value = Value::Unknown;
            }
        }
        self.set(name, attribute, value)
    }
}

pub fn evaluate<'v>(expression: &'v str, variables: &'v Variables<'_>) -> Result<Value<'v>> {
    let mut parser = Parser::new(expression);
    let value = parser.choice(variables)?;
    parser.space();
    // If the parser stopped before the end, the expression's value is unknown.
    Ok(if parser.rest.is_empty() { value } else { Value::Unknown })
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

const OPERATORS: [&str; 10] = ["~", "+", "-", "**", "*", "//", "/", "%", "<", ">"];

impl<'t> Parser<'t> {
    fn new(rest: &'t str) -> Parser<'t> {
        Parser { rest, depth: 0 }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, sign: &str) -> bool {
        self.space();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Returns the next word without reading past it.
    fn word(&mut self) -> &'t str {
        self.space();
        let end = self.rest.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.word() == word;
        if is_next {
            self.rest = &self.rest[word.len()..];
        }
        is_next
    }

    /// Reads the name of the next field of a `namespace`, up to its `=`.
    fn field(&mut self) -> Option<&'t str> {
        self.take(",");
        let name = self.word();
        self.rest = &self.rest[name.len()..];
        (!name.is_empty() && self.take("=")).then_some(name)
    }

    /// Stops reading the expression, whose value is then unknown.
    fn lost<'v>(&mut self) -> Value<'v> {
        self.rest = "\0";
        Value::Unknown
    }

    fn choice<'v>(&mut self, variables: &'v Variables<'_>) -> Result<Value<'v>>
    where
        't: 'v,
    {
        if self.depth == DEEPEST {
            return Ok(self.lost());
        }
        self.depth += 1;
        let value = self.either(variables)?;
        if !self.take_word("if") {
            self.depth -= 1;
            return Ok(value);
        }
        let condition = self.either(variables)?.truth();
        let other = if self.take_word("else") { self.choice(variables)? } else { Value::Undefined };
        self.depth -= 1;
        Ok(match (condition, value, other) {
            (Truth::Yes, value, _) => value,
            (Truth::No, _, other) => other,
            (Truth::Maybe, Value::Text(one), Value::Text(other)) => Value::Either(one, other),
            (Truth::Maybe, Value::Text(one), Value::Undefined) => Value::Either(one, Cow::Borrowed("")),
            _ => Value::Unknown,
        })
    }

    fn either<'v>(&mut self, variables: &'v Variables<'_>) -> Result<Value<'v>>
    where
        't: 'v,
    {
        let mut value = self.both(variables)?;
        while self.take_word("or") {
            let other = self.both(variables)?;
            value = match value.truth() {
                Truth::Yes => value,
                Truth::No => other,
                Truth::Maybe if other.truth() == Truth::Yes => Value::Bool(true),
                Truth::Maybe => Value::Unknown,
            };
        }
        Ok(value)
    }

    fn both<'v>(&mut self, variables: &'v Variables<'_>) -> Result<Value<'v>>
    where
        't: 'v,
    {
        let mut value = self.negation(variables)?;
        while self.take_word("and") {
            let other = self.negation(variables)?;
            value = match value.truth() {
                Truth::No => value,
                Truth::Yes => other,
                Truth::Maybe if other.truth() == Truth::No => Value::Bool(false),
                Truth::Maybe => Value::Unknown,
            };
        }
        Ok(value)
    }

    fn negation<'v>(&mut self, variables: &'v Variables<'_>) -> Result<Value<'v>>
    where
        't: 'v,
    {
        let mut turns = 0;
        while self.take_word("not") {
            turns += 1;
        }
        let value = self.comparison(variables)?;
        Ok(match turns {
            0 => value,
            turns if turns % 2 == 1 => value.truth().not().value(),
            _ => value.truth().value(),
        })
    }

    fn comparison<'v>(&mut self, variables: &'v Variables<'_>) -> Result<Value<'v>>
    where
        't: 'v,
    {
        let mut value = self.sum(variables)?;
        loop {
            value = if self.take("==") {
                value.equals(&self.sum(variables)?).value()
            } else if self.take("!=") {
                value.equals(&self.sum(variables)?).not().value()
            } else if self.take_word("in") {
                value.is_in(&self.sum(variables)?).value()
            } else if self.word() == "not" {
                self.take_word("not");
                if !self.take_word("in") {
                    return Ok(self.lost());
                }
                value.is_in(&self.sum(variables)?).not().value()
            } else {
                return Ok(value);
            }
        }
    }

    /// Reads a sum of operands. Texts are joined; the result of other operators is unknown.
    fn sum<'v>(&mut self, variables: &'v Variables<'_>) -> Result<Value<'v>>
    where
        't: 'v,
    {
        let mut value = self.operand(variables)?;
        while let Some(operator) = OPERATORS.iter().find(|operator| self.take(operator)) {
            self.take("=");
            let other = self.operand(variables)?;
            value = match (*operator, &value, &other) {
                ("~" | "+", Value::Text(_) | Value::Either(..), _)
                | ("~" | "+", _, Value::Text(_) | Value::Either(..)) => {
                    Value::Text(join(value.text()?, &other.text()?)?)
                }
                _ => Value::Unknown,
            };
        }
        Ok(value)
    }

    fn operand<'v>(&mut self, variables: &'v Variables<'_>) -> Result<Value<'v>>
    where
        't: 'v,
    {
        while self.take("-") || self.take("+") {}
        self.space();
        let (mut value, mut name) = match self.rest.as_bytes().first() {
            Some(b'\'' | b'"') => (self.literal()?, ""),
            Some(b'(') => {
                self.rest = &self.rest[1..];
                let value = self.choice(variables)?;
                // The value of a tuple is unknown.
                let is_whole = self.take(")");
                if !is_whole {
                    self.skip_group();
                }
                (if is_whole { value } else { Value::Unknown }, "")
            }
            Some(b'[') => (self.list(variables)?, ""),
            Some(b'{') => {
                self.rest = &self.rest[1..];
                self.skip_group();
                (Value::Unknown, "")
            }
            _ => {
                let name = self.word();
                if name.is_empty() {
                    return Ok(self.lost());
                }
                self.rest = &self.rest[name.len()..];
                let value = match name {
                    "true" | "True" => Value::Bool(true),
                    "false" | "False" => Value::Bool(false),
                    "none" | "None" => Value::None,
                    _ if name.starts_with(|char: char| char.is_ascii_digit()) => Value::Unknown,
                    _ => variables.value(name),
                };
                (value, name)
            }
        };
        loop {
            self.space();
            // Only namespaces have known attributes and entries.
            let mut attribute = None;
            if self.rest.starts_with('.') {
                self.rest = &self.rest[1..];
                let word = self.word();
                self.rest = &self.rest[word.len()..];
                attribute = Some(word);
            } else if self.rest.starts_with('[') {
                self.rest = &self.rest[1..];
                self.skip_group();
                attribute = Some("");
            } else if self.rest.starts_with('(') {
                self.rest = &self.rest[1..];
                self.skip_group();
                (value, name) = (Value::Unknown, "");
            } else if self.rest.starts_with('|') {
                self.rest = &self.rest[1..];
                (value, name) = (self.filtered(value, variables)?, "");
            } else if self.take_word("is") {
                let is_negated = self.take_word("not");
                let truth = self.test(&value, variables)?;
                (value, name) = (if is_negated { truth.not() } else { truth }.value(), "");
            } else {
                return Ok(value);
            }
            if let Some(attribute) = attribute {
                let known = if name.is_empty() || attribute.is_empty() { None } else { variables.get(name, attribute) };
                value = known.map_or(Value::Unknown, Value::borrowed);
                name = "";
            }
        }
    }

    /// Reads one or more string literals, which are joined.
    fn literal<'v>(&mut self) -> Result<Value<'v>>
    where
        't: 'v,
    {
        let mut text: Option<Cow<'v, str>> = None;
        while let Some(quote @ (b'\'' | b'"')) = self.rest.as_bytes().first().copied() {
            let Some(end) = end_of_literal(&self.rest[1..], quote) else { return Ok(self.lost()) };
            let part = unescape(&self.rest[1..1 + end])?;
            self.rest = &self.rest[end + 2..];
            self.space();
            text = Some(match text {
                None => part,
                Some(text) => join(text, &part)?,
            });
        }
        Ok(text.map_or(Value::Unknown, Value::Text))
    }

    fn list<'v>(&mut self, variables: &'v Variables<'_>) -> Result<Value<'v>>
    where
        't: 'v,
    {
        self.rest = &self.rest[1..];
        let mut list = Vec::new();
        while !self.take("]") {
            let entry = self.choice(variables)?;
            if list.len() == MOST || !(self.take(",") || self.rest.trim_start().starts_with(']')) {
                return Ok(self.lost());
            }
            push(&mut list, entry)?;
        }
        Ok(Value::List(list))
    }

    fn filtered<'v>(&mut self, value: Value<'v>, variables: &'v Variables<'_>) -> Result<Value<'v>>
    where
        't: 'v,
    {
        let filter = self.word();
        self.rest = &self.rest[filter.len()..];
        let has_arguments = self.rest.starts_with('(');
        if has_arguments {
            self.rest = &self.rest[1..];
        }
        if !matches!(filter, "default" | "d") || !has_arguments {
            if has_arguments {
                self.skip_group();
            }
            let keeps = matches!((filter, &value), ("trim" | "string" | "safe", Value::Text(_)));
            return Ok(if keeps { value } else { Value::Unknown });
        }
        let other = self.choice(variables)?;
        let falsy_too = self.take(",") && {
            self.take_word("boolean");
            self.take("=");
            matches!(self.word(), "true" | "True")
        };
        self.skip_group();
        Ok(match (&value, value.truth()) {
            (Value::Undefined, _) => other,
            (_, Truth::No) if falsy_too => other,
            (_, Truth::Maybe) => Value::Unknown,
            _ => value,
        })
    }

    fn test(&mut self, value: &Value, variables: &Variables<'_>) -> Result<Truth> {
        let test = self.word();
        self.rest = &self.rest[test.len()..];
        if self.rest.starts_with('(') {
            self.rest = &self.rest[1..];
            self.skip_group();
            return Ok(Truth::Maybe);
        }
        Ok(match (test, value) {
            ("defined", Value::Undefined) => Truth::No,
            ("undefined", Value::Undefined) => Truth::Yes,
            ("none" | "true" | "false" | "string" | "mapping" | "boolean" | "number", Value::Undefined) => Truth::No,
            (_, Value::Unknown | Value::Either(..)) => Truth::Maybe,
            ("defined", _) => Truth::Yes,
            ("undefined" | "none", Value::Given) => Truth::No,
            (_, Value::Given) => Truth::Maybe,
            ("undefined", _) => Truth::No,
            ("none", value) => Truth::from(matches!(value, Value::None)),
            ("true", value) => Truth::from(matches!(value, Value::Bool(true))),
            ("false", value) => Truth::from(matches!(value, Value::Bool(false))),
            ("boolean", value) => Truth::from(matches!(value, Value::Bool(_))),
            ("string", value) => Truth::from(matches!(value, Value::Text(_))),
            ("mapping" | "number", _) => Truth::No,
            ("eq" | "equalto" | "sameas", _) => {
                // The argument of the test may have no parentheses: it is the next operand.
                let other = self.operand(variables)?;
                value.equals(&other)
            }
            _ => Truth::Maybe,
        })
    }

    /// Skips the rest of the open group, including its closing bracket.
    fn skip_group(&mut self) {
        let bytes = self.rest.as_bytes();
        let (mut at, mut depth) = (0, 1);
        while at < bytes.len() {
            match bytes[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                quote @ (b'\'' | b'"') => match end_of_literal(&self.rest[at + 1..], quote) {
                    Some(end) => at += end + 1,
                    None => break,
                },
                _ => {}
            }
            at += 1;
            if depth == 0 {
                self.rest = &self.rest[at..];
                return;
            }
        }
        self.lost();
    }
}

/// Returns the end of a string literal, from the text after its opening quote.
pub fn end_of_literal(text: &str, quote: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            byte if byte == quote => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Decodes the escapes of a Jinja string literal that templates use. They are Python's escapes, not JSON's. A text without
/// escapes is not copied.
pub fn unescape(text: &str) -> Result<Cow<'_, str>> {
    if !text.contains('\\') {
        return Ok(Cow::Borrowed(text));
    }
    let mut plain = String::new();
    plain.try_reserve(text.len())?;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        plain.push(match char {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            char => char,
        });
    }
    Ok(Cow::Owned(plain))
}
