//! Renders a template: its generation prompt, and turns of the model that show its markers. A template may be hostile, so rendering
//! is bounded in time, depth and memory. The rendered text is searched for markers and must not be used for anything else.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io::{self, Write},
};

use minijinja::{
    Environment, Error, ErrorKind, State, UndefinedBehavior, Value, context,
    syntax::SyntaxConfig,
    value::{Kwargs, ValueKind},
};
use minijinja_contrib::pycompat;

use super::{score::Evidence, syntax};
use crate::json::{Part, escape_of_unit, escape_with};
use crate::memory::{OutOfMemory, Result as Fallible};
use crate::{Dialect, Scanner, ScannerOptions, Start};

/// The longest template that is rendered, in bytes. Real templates have at most some 20,000.
const LONGEST_TEMPLATE: usize = 256 << 10;
/// The longest text of variables, in bytes.
const LONGEST_VARIABLES: usize = 4 << 20;
/// The maximum work of one rendering: about one unit for each instruction, and for each 64 bytes of output.
const FUEL: u64 = 100_000;
/// The number of bytes of variables that allow one more unit of work.
const BYTES_OF_FUEL: usize = 4;
/// The maximum number of bytes of a rendered text, in addition to twice the bytes of the variables.
const LONGEST_TEXT: usize = 1 << 20;
/// The maximum number of operators, subscripts, calls and filters of one tag, and of branches of the template: the compiler
/// recurses for each. Real templates have at most some 100.
const MOST_OPERATORS: usize = 500;
/// The maximum nesting of blocks and calls. A call of a macro counts as four.
const DEEPEST_CALL: usize = 200;
/// The maximum nesting of lists and maps in a value that a template keeps.
const DEEPEST_VALUE: usize = 64;
/// The maximum nesting of lists and maps in JSON that is written.
const DEEPEST_JSON: usize = 128;

/// Placeholders in the rendered texts for the user's question, and for the model's thought and answer.
const QUESTION: &str = "aside-question";
pub const THOUGHT: &str = "aside-thought";
pub const ANSWER: &str = "aside-answer";

pub struct Rendered {
    /// The part of the prompt after the user's message, or the whole prompt if the message is not found.
    prompt: String,
    /// The prompt without the variables of a request.
    default_prompt: String,
    /// The prompt if thinking is asked for.
    thinking_prompt: String,
    /// Turns of the model with a thought and an answer, and with a thought and a call.
    pub answer: Option<String>,
    pub call: Option<String>,
}

impl Rendered {
    /// Renders the template. Returns `None` if it cannot be rendered.
    pub fn by_default(template: &str) -> Option<Rendered> {
        Rendered::new(template, context! {}, 0).ok()
    }

    /// Renders the template with the variables of a request. An error is a message for the author of the request.
    pub fn with(template: &str, variables: &str) -> Result<Rendered, String> {
        if variables.len() > LONGEST_VARIABLES {
            return Err(format!("the variables are longer than {LONGEST_VARIABLES} bytes"));
        }
        let given = if variables.trim().is_empty() { "{}" } else { variables };
        let given: Value =
            serde_json::from_str(given).map_err(|error| format!("the variables are not JSON: {error}"))?;
        if given.kind() != ValueKind::Map {
            return Err("the variables are not a JSON object: write {\"enable_thinking\": true}, say".into());
        }
        let rendered = Rendered::new(template, given, variables.len())
            .map_err(|error| format!("the template cannot be rendered with these variables: {error}"))?;
        // The dialect does not depend on the request, so the turns are rendered without its variables.
        Ok(match Rendered::by_default(template) {
            Some(by_default) => Rendered { prompt: rendered.prompt, ..by_default },
            None => rendered,
        })
    }

    fn new(template: &str, given: Value, size: usize) -> Result<Rendered, Error> {
        let source = prepared(template)?;
        let template = Jinja::new(&source, FUEL + (size / BYTES_OF_FUEL) as u64, LONGEST_TEXT + 2 * size)?;
        let user = context! { role => "user", content => QUESTION };
        let base = context! { bos_token => "<s>", eos_token => "</s>", messages => [user.clone()], add_generation_prompt => true };
        let given = over(base, &given)?;
        let prompt = render(&template, &given)?;
        let prompt = after_question(&prompt).to_string();
        let thinking =
            over(given, &context! { enable_thinking => true, thinking => true, messages => [user.clone()] })?;
        let thinking_prompt =
            match render(&template, &over(thinking.clone(), &context! { add_generation_prompt => true })?) {
                Ok(text) => after_question(&text).to_string(),
                Err(_) => prompt.clone(),
            };
        // For the turns, thinking is switched on, so that the template writes the markers of the thinking.
        let shown = over(thinking, &context! { add_generation_prompt => false })?;
        let turn = |turn: Value| -> Result<String, Error> {
            let turn = over(shown.clone(), &context! { messages => [user.clone(), turn] })?;
            Ok(after_question(&render(&template, &turn)?).to_string())
        };
        let answer = turn(message(Value::from(ANSWER), None)).ok();
        let mut call = None;
        for content in [Value::from(""), Value::from(())] {
            for arguments in [context! { city => "aside" }, Value::from("{\"city\": \"aside\"}")] {
                match turn(message(content.clone(), Some(arguments))) {
                    Ok(text) if call.is_none() && text.contains(CALLED) => call = Some(text),
                    // The next form of the call would use up the fuel too.
                    Err(error) if error.kind() == ErrorKind::OutOfFuel => break,
                    _ => {}
                }
            }
        }
        Ok(Rendered { default_prompt: prompt.clone(), prompt, thinking_prompt, answer, call })
    }

    /// Returns the text of the default generation prompt, and of the prompt for a request that asks for thinking.
    pub fn prompts(&self) -> [&str; 2] {
        [&self.default_prompt, &self.thinking_prompt]
    }

    /// Replaces evidence from the unrendered template by the rendered turns.
    pub fn show<'a>(&'a self, evidence: &mut Evidence<'a>) {
        if let Some(answer) = &self.answer {
            (evidence.written, evidence.thought, evidence.answer) = (answer, THOUGHT, ANSWER);
        }
        if let Some(call) = &self.call {
            evidence.call = call;
        }
    }

    /// Returns the start of a stream of this dialect after the prompt.
    pub fn start(&self, dialect: &Dialect) -> Fallible<Start> {
        let start = Scanner::with_options(dialect, &ScannerOptions::default());
        let start = start.and_then(|mut scanner| scanner.start_from_prompt(self.prompt.as_bytes()));
        // For a new scanner, this fails only if memory runs out.
        start.map_err(|_| OutOfMemory)
    }
}

/// Returns a template's text in the form that is safe to compile.
pub fn prepared(template: &str) -> Result<String, Error> {
    if template.len() > LONGEST_TEMPLATE {
        let message = format!("it is longer than {LONGEST_TEMPLATE} bytes");
        return Err(Error::new(ErrorKind::SyntaxError, message));
    }
    syntax::prepare(template, MOST_OPERATORS).ok_or_else(|| {
        let message = format!("more than {MOST_OPERATORS} operators in one tag, or branches, or a filtered block");
        Error::new(ErrorKind::SyntaxError, message)
    })
}

/// A compiled template, which is rendered within bounds.
pub struct Jinja<'a> {
    environment: Environment<'a>,
    most: usize,
}

/// The name of the template in messages: Jinja's name for templates without a name.
const NAME: &str = "<string>";

impl<'a> Jinja<'a> {
    /// Compiles a text that was `prepared`. `fuel` is the maximum work of one rendering, and `most` the maximum number of bytes
    /// of its output.
    pub fn new(prepared: &'a str, fuel: u64, most: usize) -> Result<Jinja<'a>, Error> {
        let mut environment = environment()?;
        environment.set_fuel(Some(fuel));
        environment.add_template(NAME, prepared)?;
        Ok(Jinja { environment, most })
    }

    /// Renders the template. Returns the text with the work that it took.
    pub fn render(&self, variables: Value) -> Result<(String, u64), Error> {
        let mut out = BoundedBuffer { text: Vec::new(), most: self.most };
        let done = self.environment.get_template(NAME)?.render_captured_to(variables, &mut out)?;
        let (work, _) = done.state().fuel_levels().unwrap_or_default();
        drop(done);
        Ok((String::from_utf8(out.text).map_err(|_| Error::from(ErrorKind::WriteFailure))?, work))
    }

    /// Returns the names of the variables that the template reads and does not set, in alphabetical order.
    pub fn variables(&self) -> Vec<String> {
        let template = self.environment.get_template(NAME);
        let mut names: Vec<String> =
            template.map(|template| template.undeclared_variables(false).into_iter().collect()).unwrap_or_default();
        names.sort_unstable();
        names
    }
}

/// Renders the template. Some templates need a list of tools.
fn render(template: &Jinja, variables: &Value) -> Result<String, Error> {
    let render = |variables: Value| template.render(variables).map(|(text, _)| text);
    render(variables.clone()).or_else(|error| {
        let has_tools = variables.get_attr("tools").is_ok_and(|tools| !tools.is_undefined());
        if has_tools || error.kind() == ErrorKind::OutOfFuel {
            return Err(error);
        }
        render(over(variables.clone(), &context! { tools => Vec::<Value>::new() })?).map_err(|_| error)
    })
}

/// Returns the variables of both maps. If a variable is in both, the value in `more` counts.
fn over(base: Value, more: &Value) -> Result<Value, Error> {
    let mut all: BTreeMap<String, Value> = BTreeMap::new();
    for from in [&base, more] {
        for key in from.try_iter()? {
            all.insert(key.to_string(), from.get_item(&key)?);
        }
    }
    Ok(Value::from(all))
}

/// A text that grows up to a limit.
struct BoundedBuffer {
    text: Vec<u8>,
    most: usize,
}

impl Write for BoundedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > self.most {
            return Err(io::Error::other("the text is too long"));
        }
        self.text.try_reserve(bytes.len())?;
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The name of the function that the model calls.
pub const CALLED: &str = "aside_invocation";

/// Returns the model's message, which has the thought under each name that templates use.
fn message(content: Value, arguments: Option<Value>) -> Value {
    let said = context! {
        role => "assistant", content => content, reasoning_content => THOUGHT, reasoning => THOUGHT, thinking => THOUGHT,
    };
    let Some(arguments) = arguments else { return said };
    let function = context! { name => CALLED, arguments => arguments };
    // Some templates require ids of nine letters and digits.
    let call = context! { id => "call00001", type => "function", function => function };
    context! { tool_calls => [call], ..said }
}

fn after_question(text: &str) -> &str {
    text.rfind(QUESTION).map_or(text, |at| &text[at + QUESTION.len()..])
}

/// Returns an environment of Jinja with the settings, filters and functions that hosts of chat templates use.
fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_recursion_limit(DEEPEST_CALL);
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_unknown_method_callback(method);
    environment.add_filter("tojson", to_json);
    environment.add_filter("from_json", from_json);
    environment.add_filter(syntax::FILTER, plain);
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    // The date does not matter: no marker has a date.
    environment.add_function("strftime_now", |_: String| "2026-01-01");
    Ok(environment)
}

/// Calls a method that Python values have. `append` does not change the list, since markers are never written from it.
fn method(state: &mut State, value: &Value, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    match (value.kind(), method) {
        (ValueKind::Seq, "append") => Ok(Value::from(())),
        (ValueKind::String, "format") => {
            // The padding of fields is counted as work before it is written: a field has a width up to 999, and nested fields
            // are refused.
            const WIDEST: u64 = 1000;
            let text = value.as_str().unwrap_or_default();
            let mut digits = text.split(|char: char| !char.is_ascii_digit());
            let is_nested = text.split('{').any(|field| field.contains(':') && !field.contains('}'));
            if digits.any(|digits| digits.len() > 3) || is_nested {
                return Err(Error::new(ErrorKind::InvalidOperation, "the widths of this format are too large"));
            }
            state.consume_fuel(text.matches('{').count() as u64 * WIDEST / 64)?;
            pycompat::unknown_method_callback(state, value, method, arguments)
        }
        _ => pycompat::unknown_method_callback(state, value, method, arguments),
    }
}

/// Checks a value that a template keeps: it must not be nested deeply, and not contain macros or namespaces, which can
/// hide deep values.
fn plain(state: &State, value: Value) -> Result<Value, Error> {
    fn check(state: &State, value: &Value, depth: usize, seen: &mut usize) -> Result<(), Error> {
        const ITEMS_OF_FUEL: usize = 8;
        *seen += 1;
        if seen.is_multiple_of(ITEMS_OF_FUEL) {
            state.consume_fuel(1)?;
        }
        let Some(object) = value.as_object() else { return Ok(()) };
        // A namespace also has the kind of a map.
        let is_plain = depth < DEEPEST_VALUE && !object.type_name().ends_with("Namespace");
        match value.kind() {
            ValueKind::Map if is_plain => {
                value.try_iter()?.try_for_each(|key| check(state, &value.get_item(&key)?, depth + 1, seen))
            }
            ValueKind::Seq if is_plain => value.try_iter()?.try_for_each(|entry| check(state, &entry, depth + 1, seen)),
            ValueKind::String => Ok(()),
            kind => Err(Error::new(ErrorKind::InvalidOperation, format!("this {kind} cannot be kept"))),
        }
    }

    // Lazy values are computed now.
    let value = if value.kind() == ValueKind::Iterable { value.try_iter()?.collect() } else { value };
    check(state, &value, 0, &mut 0)?;
    Ok(value)
}

/// Applies the filter `from_json`, which some hosts add because a request has a call's arguments as a JSON text. A value that
/// is not a text stays unchanged.
fn from_json(state: &State, value: Value) -> Result<Value, Error> {
    const BYTES_OF_FUEL: usize = 16;
    let Some(text) = value.as_str() else { return Ok(value) };
    state.consume_fuel((text.len() / BYTES_OF_FUEL) as u64)?;
    let read =
        serde_json::from_str(text).map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?;
    plain(state, read)
}

/// Applies the filter `tojson` as hosts of chat templates define it: without escapes for HTML, and with the options of
/// Python's `json.dumps`.
fn to_json(state: &State, value: &Value, options: Kwargs) -> Result<Value, Error> {
    let separators: Option<Vec<String>> = options.get("separators")?;
    let indent: Option<usize> = options.get::<Option<Value>>("indent")?.and_then(|indent| indent.as_usize());
    let (comma, colon) = match separators.as_deref() {
        Some([comma, colon]) => (comma.as_str(), colon.as_str()),
        _ => (if indent.is_some() { "," } else { ", " }, ": "),
    };
    let ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or_default();
    let sorted = options.get::<Option<bool>>("sort_keys")?.unwrap_or_default();
    options.assert_all_used()?;
    let mut json = JsonWriter { state, text: String::new(), comma, colon, indent, ascii, sorted };
    json.value(value, 0)?;
    Ok(Value::from_safe_string(json.text))
}

struct JsonWriter<'a, 't, 'e> {
    state: &'a State<'t, 'e>,
    text: String,
    comma: &'a str,
    colon: &'a str,
    indent: Option<usize>,
    ascii: bool,
    sorted: bool,
}

impl JsonWriter<'_, '_, '_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > DEEPEST_JSON {
            return Err(Error::new(ErrorKind::InvalidOperation, "lists and maps are too deep in each other for JSON"));
        }
        self.state.consume_fuel(1)?;
        match value.kind() {
            ValueKind::Undefined | ValueKind::None => self.text.push_str("null"),
            ValueKind::String => self.string(value.as_str().unwrap_or_default())?,
            ValueKind::Bool => self.text.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.text.push_str(&value.to_string()),
            ValueKind::Map => {
                let mut pairs = Vec::new();
                for key in value.try_iter()? {
                    self.state.consume_fuel(1)?;
                    pairs.push((key.to_string(), value.get_item(&key)?));
                }
                if self.sorted {
                    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
                }
                self.text.push('{');
                for (index, (key, value)) in pairs.iter().enumerate() {
                    self.next(index, depth + 1)?;
                    self.string(key)?;
                    self.pay(self.colon.len())?;
                    self.text.push_str(self.colon);
                    self.value(value, depth + 1)?;
                }
                self.end(pairs.is_empty(), '}', depth)?;
            }
            ValueKind::Seq | ValueKind::Iterable => {
                self.text.push('[');
                let mut count = 0;
                for entry in value.try_iter()? {
                    self.next(count, depth + 1)?;
                    self.value(&entry, depth + 1)?;
                    count += 1;
                }
                self.end(count == 0, ']', depth)?;
            }
            kind => return Err(Error::new(ErrorKind::InvalidOperation, format!("{kind} is not written in JSON"))),
        }
        Ok(())
    }

    fn next(&mut self, index: usize, depth: usize) -> Result<(), Error> {
        if index > 0 {
            self.pay(self.comma.len())?;
            self.text.push_str(self.comma);
        }
        self.line(depth)
    }

    fn end(&mut self, is_empty: bool, bracket: char, depth: usize) -> Result<(), Error> {
        if !is_empty {
            self.line(depth)?;
        }
        self.text.push(bracket);
        Ok(())
    }

    fn line(&mut self, depth: usize) -> Result<(), Error> {
        if let Some(indent) = self.indent {
            let spaces = indent.saturating_mul(depth);
            self.pay(spaces)?;
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n(' ', spaces));
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Error> {
        self.pay(text.len())?;
        self.text.push('"');
        let Ok(()) = escape_with(text.as_bytes(), |part| {
            match part {
                Part::Same(span) if self.ascii => text[span].chars().for_each(|char| self.ascii(char)),
                Part::Same(span) => self.text.push_str(&text[span]),
                Part::Other(escape) => self.text.extend(escape.iter().map(|&byte| char::from(byte))),
            }
            Ok::<(), Infallible>(())
        });
        self.text.push('"');
        Ok(())
    }

    /// Writes a character, which needs no escape, in ASCII.
    fn ascii(&mut self, char: char) {
        if char.is_ascii() {
            self.text.push(char);
            return;
        }
        for unit in char.encode_utf16(&mut [0; 2]) {
            self.text.extend(escape_of_unit(*unit).map(char::from));
        }
    }

    /// Counts bytes as work before they are written.
    fn pay(&self, bytes: usize) -> Result<(), Error> {
        self.state.consume_fuel((bytes / 16) as u64)
    }
}
