//! The values of a template's expressions, as far as they are known: their truth, their equality, and texts of bounded length
//! that may have unknown parts. `expression` evaluates expressions.

use std::borrow::Cow;

use crate::memory::{Result, append_text, copy_text};

/// Marks the unknown parts of a text.
pub const UNKNOWN: &str = "\0";

/// The longest text that is joined or stored. A longer text is cut.
const LONGEST: usize = 2048;

/// A value, as far as it is known.
pub enum Value<'v> {
    Unknown,
    /// Unknown, but defined and not empty.
    Given,
    Undefined,
    None,
    Bool(bool),
    Text(Cow<'v, str>),
    /// Either of two texts.
    Either(Cow<'v, str>, Cow<'v, str>),
    List(Vec<Value<'v>>),
}

/// The truth of a value, in three-valued logic.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Truth {
    No,
    Maybe,
    Yes,
}

impl From<bool> for Truth {
    fn from(known: bool) -> Truth {
        if known { Truth::Yes } else { Truth::No }
    }
}

impl Truth {
    pub fn not(self) -> Truth {
        match self {
            Truth::No => Truth::Yes,
            Truth::Maybe => Truth::Maybe,
            Truth::Yes => Truth::No,
        }
    }

    pub fn value<'v>(self) -> Value<'v> {
        match self {
            Truth::No => Value::Bool(false),
            Truth::Maybe => Value::Unknown,
            Truth::Yes => Value::Bool(true),
        }
    }
}

impl<'v> Value<'v> {
    pub fn truth(&self) -> Truth {
        match self {
            Value::Undefined | Value::None => Truth::No,
            Value::Bool(known) => Truth::from(*known),
            Value::Text(text) if is_known(text) => Truth::from(!text.is_empty()),
            Value::List(list) => Truth::from(!list.is_empty()),
            Value::Given => Truth::Yes,
            Value::Text(_) | Value::Unknown | Value::Either(..) => Truth::Maybe,
        }
    }

    /// Returns whether two values are equal. The result is unknown if either value is unknown.
    pub fn equals(&self, other: &Value) -> Truth {
        match (self, other) {
            (Value::Text(one), Value::Text(two)) if is_known(one) && is_known(two) => Truth::from(one == two),
            (Value::Bool(one), Value::Bool(two)) => Truth::from(one == two),
            (Value::None, Value::None) | (Value::Undefined, Value::Undefined) => Truth::Yes,
            (Value::Text(_), Value::Text(_)) => Truth::Maybe,
            (Value::Unknown | Value::Given | Value::Either(..) | Value::List(_), _)
            | (_, Value::Unknown | Value::Given | Value::Either(..) | Value::List(_)) => Truth::Maybe,
            _ => Truth::No,
        }
    }

    /// Returns whether the value is in the container.
    pub fn is_in(&self, container: &Value) -> Truth {
        match (self, container) {
            (_, Value::List(list)) => list.iter().fold(Truth::No, |found, entry| match (found, self.equals(entry)) {
                (Truth::Yes, _) | (_, Truth::Yes) => Truth::Yes,
                (Truth::Maybe, _) | (_, Truth::Maybe) => Truth::Maybe,
                _ => Truth::No,
            }),
            (Value::Text(part), Value::Text(whole)) if is_known(part) && is_known(whole) => {
                Truth::from(whole.contains(&**part))
            }
            _ => Truth::Maybe,
        }
    }

    pub fn text(self) -> Result<Cow<'v, str>> {
        Ok(match self {
            Value::Text(text) => text,
            Value::Either(one, other) => join(join(one, UNKNOWN)?, &other)?,
            _ => Cow::Borrowed(UNKNOWN),
        })
    }

    /// Copies the value, so that it borrows nothing.
    pub fn stored(self) -> Result<Value<'static>> {
        Ok(match self {
            Value::Text(text) => Value::Text(Cow::Owned(cut(&text)?)),
            Value::Undefined => Value::Undefined,
            Value::None => Value::None,
            Value::Bool(known) => Value::Bool(known),
            Value::Given => Value::Given,
            Value::Unknown | Value::Either(..) | Value::List(_) => Value::Unknown,
        })
    }

    pub fn borrowed(&self) -> Value<'_> {
        match self {
            Value::Text(text) => Value::Text(Cow::Borrowed(text)),
            Value::Undefined => Value::Undefined,
            Value::None => Value::None,
            Value::Bool(known) => Value::Bool(*known),
            Value::Given => Value::Given,
            Value::Unknown | Value::Either(..) | Value::List(_) => Value::Unknown,
        }
    }
}

/// Returns whether a text has no unknown part.
fn is_known(text: &str) -> bool {
    !text.contains(UNKNOWN)
}

/// Joins two texts, up to the longest that is kept.
pub fn join<'v>(left: Cow<'v, str>, right: &str) -> Result<Cow<'v, str>> {
    if left.len() + right.len() > LONGEST && left.len() <= LONGEST {
        let mut joined = cut(&left)?;
        append_text(&mut joined, &cut(right)?)?;
        return Ok(Cow::Owned(joined));
    }
    if left.len() > LONGEST {
        return Ok(left);
    }
    let mut joined = match left {
        Cow::Owned(left) => left,
        Cow::Borrowed(left) => copy_text(left)?,
    };
    append_text(&mut joined, right)?;
    Ok(Cow::Owned(joined))
}

/// Copies the beginning of a text.
fn cut(text: &str) -> Result<String> {
    if text.len() <= LONGEST {
        return copy_text(text);
    }
    let end = (0..=LONGEST).rev().find(|&end| text.is_char_boundary(end)).unwrap_or_default();
    let mut beginning = copy_text(&text[..end])?;
    append_text(&mut beginning, UNKNOWN)?;
    Ok(beginning)
}
