//! Tests that a string in a value affects only this value: for any string, the call must have the same name and the same other
//! arguments, and no other call may be reported. `forms` writes the calls and decides which values each form cannot represent,
//! and `texts` makes the strings. This file reads the written call as a client would, and compares the result with the call.

mod forms;
mod texts;

use std::sync::{Arc, LazyLock};

use aside::answer::Tools;
use samples::Random;
use serde_json::{Value, json};

use crate::{Pair, bytes, calls, calls::Call, cut, random_cuts};
use forms::Limit;
pub use forms::{Form, Way};
pub use texts::Texts;

/// The tool that is called, and the value of its other argument.
const NAME: &str = "f";
const PLAIN: &str = "plain";
/// The keys of the tool. Calls have the first two.
const KNOWN: [&str; 3] = ["a", "b", "c"];

/// A dialect with all forms of its calls.
pub struct Subject {
    pub pair: Pair,
    pub forms: Vec<Form>,
    pub texts: Texts,
}

impl Subject {
    /// Returns the built-in dialects that have calls.
    pub fn all() -> Vec<Subject> {
        let dialects = reference::all();
        let subject = |dialect: &reference::Dialect| {
            let forms = Form::all(dialect);
            let texts = Texts::new(dialect, &dialects, &forms);
            Subject { pair: Pair::new(dialect.clone()), forms, texts }
        };
        dialects.iter().map(subject).filter(|subject| !subject.forms.is_empty()).collect()
    }
}

/// A call with a hostile value.
#[derive(Clone, Debug)]
pub struct Trial {
    pub form: usize,
    pub way: Way,
    pub has_tools: bool,
    pub hostile: String,
}

/// The change that a value has caused: its kind, and the text of the call with all results.
pub struct Fault {
    pub kind: &'static str,
    pub shown: String,
}

/// The ways to cut a text.
#[derive(Clone, Copy)]
pub enum Cuts<'c> {
    /// Into two pieces, at every place.
    Twos,
    /// Into two pieces, at a random place.
    Random(u64),
    /// Into pieces of these lengths.
    Lengths(&'c [u8]),
}

impl Trial {
    pub fn random(subject: &Subject, random: &mut Random) -> Trial {
        Trial {
            form: random.below(subject.forms.len()),
            way: Way::new(random.next() as usize),
            has_tools: random.one_in(2),
            hostile: subject.texts.next(&subject.forms, random),
        }
    }

    /// Checks the property, for the whole text, byte by byte, and for these cuts.
    pub fn check(&self, subject: &Subject, cuts: Cuts<'_>) -> Result<(), Fault> {
        let form = &subject.forms[self.form];
        let hostile = form.value(&self.way, &self.hostile);
        let tools = self.has_tools.then(|| match &hostile {
            Value::String(_) => &TOOLS[0],
            Value::Array(_) => &TOOLS[1],
            _ => &TOOLS[2],
        });
        let is_broken = form.is_broken(&self.way);
        let is_first = self.way.is_first && !is_broken;
        let mut arguments = [("a", hostile.clone()), ("b", if is_broken { Value::Null } else { PLAIN.into() })];
        if !is_first {
            arguments.reverse();
        }
        let names = arguments.each_ref().map(|(key, _)| *key);
        let written = form.write(&self.way, NAME, &arguments);
        let text = written.text.as_bytes();
        let told = |chunks: &[&[u8]]| calls::calls(&subject.pair, Some(form.start), tools, chunks);
        let whole = told(&[text]);
        let fault = |kind: &'static str, told: &[Call]| {
            let name = &subject.pair.reference.name;
            let shown = format!("{name}, {self:?}: {told:?}\n  text {:?} from {}", written.text, form.start);
            Err(Fault { kind, shown })
        };

        let number = usize::from(!is_first);
        let known = self.has_tools.then_some(&KNOWN[..]);
        let limits = form.limits(&self.way, &written, number, &self.hostile, &names[..=number], known);
        let wrong = match limits.is_empty() && !is_broken {
            true => self.changed(&whole, &names, &hostile),
            false => self.changed_beyond(&whole, form, &limits),
        };
        if let Some(kind) = wrong {
            return fault(kind, &whole);
        }

        let check = |chunks: &[&[u8]]| {
            let told = told(chunks);
            if told == whole { Ok(()) } else { fault("cut", &told) }
        };
        check(&bytes(text))?;
        match cuts {
            Cuts::Twos => (1..text.len()).try_for_each(|at| check(&[&text[..at], &text[at..]])),
            Cuts::Random(seed) => check(&random_cuts(&mut Random::new(seed), text, 40)),
            Cuts::Lengths(lengths) => {
                let mut ends = Vec::new();
                let lengths = lengths.iter().filter(|&&length| length > 0).map(|&length| usize::from(length));
                for length in lengths {
                    ends.push((ends.last().unwrap_or(&0) + length).min(text.len()));
                }
                check(&cut(text, &ends))
            }
        }
    }

    /// Returns the change that the value has caused, for a value that the form can represent.
    fn changed(&self, told: &[Call], names: &[&str], hostile: &Value) -> Option<&'static str> {
        let Some(call) = told.first() else { return Some("no call") };
        if told.len() > 1 {
            return Some("another call");
        }
        if call.name != NAME {
            return Some("another name");
        }
        if call.cause.is_some() {
            return Some("not whole");
        }
        let Ok(Value::Object(members)) = serde_json::from_str::<Value>(&call.arguments) else {
            return Some("no object");
        };
        if keys(&call.arguments) != names {
            return Some("other keys");
        }
        if members["b"] != PLAIN {
            return Some("another argument");
        }
        if members["a"] != *hostile && (self.has_tools || !is_untyped(&members["a"], hostile)) {
            return Some("another value");
        }
        call.is_repaired.then_some("repaired")
    }

    /// Returns a forbidden effect of a value in a call that breaks, or of a value that the form cannot represent. After the end
    /// of the value and the call, a quoted call may be a real call.
    fn changed_beyond(&self, told: &[Call], form: &Form, limits: &[Limit]) -> Option<&'static str> {
        let quotes = limits.contains(&Limit::Closer)
            || limits.contains(&Limit::Syntax) && form.may_end(&self.hostile)
            || form.ends_broken(&self.way, &self.hostile);
        let may_act = |(number, call): (usize, &Call)| {
            number == 0 && call.name == NAME || quotes && self.hostile.contains(&call.name)
        };
        (!told.iter().enumerate().all(may_act)).then_some("a call after a fault")
    }
}

/// Returns whether a reader that does not know the type may take both for the same value: a text may be read as JSON, and JSON as
/// a text.
fn is_untyped(told: &Value, value: &Value) -> bool {
    match (told, value) {
        (Value::Object(told), Value::Object(value)) if told.keys().eq(value.keys()) => {
            std::iter::zip(told.values(), value.values()).all(|(told, value)| is_untyped(told, value))
        }
        (Value::Array(told), Value::Array(value)) if told.len() == value.len() => {
            std::iter::zip(told, value).all(|(told, value)| is_untyped(told, value))
        }
        (told, Value::String(text)) => {
            told == text || serde_json::from_str::<Value>(text.trim()).is_ok_and(|value| value == *told)
        }
        (told, value) => told == value || told.as_str() == Some(&value.to_string()),
    }
}

/// Returns the keys of a JSON object, including repeated ones.
fn keys(object: &str) -> Vec<&str> {
    let (mut keys, mut depth, mut begin, mut is_escaped) = (Vec::new(), 0, None, false);
    for (at, byte) in object.bytes().enumerate() {
        match (begin, byte) {
            (Some(_), b'\\') if !is_escaped => is_escaped = true,
            (Some(from), b'"') if !is_escaped => {
                begin = None;
                if depth == 1 && object[at + 1..].trim_start().starts_with(':') {
                    keys.push(&object[from..at]);
                }
            }
            (Some(_), _) => is_escaped = false,
            (None, b'"') => begin = Some(at + 1),
            (None, b'{' | b'[') => depth += 1,
            (None, b'}' | b']') => depth -= 1,
            _ => {}
        }
    }
    keys
}

/// The tools of a request, for each shape of the hostile value.
static TOOLS: LazyLock<[Arc<Tools>; 3]> = LazyLock::new(|| {
    let text = || json!({"type": "string"});
    let shapes =
        [text(), json!({"type": "array", "items": text()}), json!({"type": "object", "properties": {"k": text()}})];
    shapes.map(|shape| {
        let parameters = json!({"type": "object", "properties": {"a": shape, "b": text(), "c": text()}});
        let quoted = json!({"type": "object", "properties": {"p": text()}});
        let tools = json!([{"name": NAME, "parameters": parameters}, {"name": texts::QUOTED, "parameters": quoted}]);
        Tools::read(&tools.to_string()).unwrap()
    })
});
