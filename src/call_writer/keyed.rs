//! Writes arguments that the model has written as keys and values as one JSON object.

use super::{
    document::NodeId,
    element::Element,
    held::HeldText,
    literal, mend,
    output::{Output, Put},
    schema::{Schema, Types},
    string::{escape, quote},
    value,
};
use crate::{
    Error,
    calls::table::{BodyRule, CallTable},
    memory::{copy, copy_text, lossy, push},
};

/// The form of values.
#[derive(Debug, Default)]
enum Form {
    /// Plain text between markers.
    #[default]
    Tags,
    /// Nested elements. The fields are the end of an opener, and the text before the name in a closer.
    Elements(Vec<u8>, String),
    /// Python literals, or those of Gemma, whose strings are between two of these quotes. The second field means that Python's
    /// constants count.
    Literal(String, bool),
}

/// The part of the last value that has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ValueState {
    /// The whole value.
    #[default]
    Whole,
    /// Nothing: no byte of the value has arrived.
    Nothing,
    /// Nothing: the bytes that have arrived are held.
    Held,
    /// All bytes that have arrived, as a string without its closing quote.
    Open,
    /// The part that can be written of a value that is not valid. No more of the arguments may be written.
    Unreadable,
}

/// The arguments of one call.
#[derive(Debug, Default)]
pub struct KeyedArguments {
    form: Form,
    /// The table's words for types.
    words: Vec<(String, Types)>,
    /// The types of a value whose type is unknown.
    unknown: Types,
    has_keys: bool,
    /// The last key, and whether it must still be written.
    key: String,
    is_key_due: bool,
    state: ValueState,
    /// Whether a closer had another name than the element that it closed.
    is_broken: bool,
    /// The types of the last key's value, by the schema or the word for its type.
    types: Types,
    schema: Option<NodeId>,
    element: Element,
    /// The number of bytes of the end of an element's opener that were read.
    opener: usize,
    /// Whether values are to be mended, and whether one was mended.
    pub mends: bool,
    pub is_mended: bool,
}

impl KeyedArguments {
    /// Begins a call of this table.
    pub fn begin(&mut self, table: &CallTable) -> Result<(), Error> {
        (self.has_keys, self.is_key_due, self.state, self.is_broken) = (false, false, ValueState::Whole, false);
        self.element.end_all();
        self.element.clear();
        self.words.clear();
        self.unknown = Types::UNKNOWN;
        self.is_mended = false;
        match &table.body {
            BodyRule::Tags(rule) => {
                self.form = match rule.nested {
                    Some(_) => Form::Elements(copy(&rule.key[1])?, copy_text(&lossy(&rule.value[1])?)?),
                    None => Form::Tags,
                };
                for (word, meaning) in &rule.kind_words {
                    push(&mut self.words, (copy_text(word)?, Types::named(meaning)))?;
                }
                if rule.unknown_is_string {
                    self.unknown = Types::STRING;
                }
            }
            BodyRule::Literal(rule) => {
                self.form = Form::Literal(copy_text(&lossy(&rule.raw_quote)?)?, rule.assign == b'=');
            }
            BodyRule::Object(_) | BodyRule::Json => {}
        }
        Ok(())
    }

    /// Returns whether bytes other than keys and values matter.
    pub fn takes_framing(&self) -> bool {
        self.element.depth > 0
    }

    /// Returns whether values are nested elements, whose names may be repeated.
    pub fn has_elements(&self) -> bool {
        matches!(self.form, Form::Elements(..))
    }

    /// Writes a key. `parameters` is the schema of all arguments.
    pub fn key(
        &mut self,
        key: &str,
        parameters: Option<Schema<'_>>,
        held: &mut HeldText,
        out: &mut Output<'_, '_>,
    ) -> Result<(), Error> {
        if self.state == ValueState::Unreadable {
            return Ok(());
        }
        if let Form::Elements(..) = self.form {
            self.element.begin_name(key)?;
        }
        if self.element.depth > 0 {
            self.start(out)?;
            self.opener = 0;
            if self.state == ValueState::Open || !self.element.open(key, held)? {
                self.element.depth += 1;
                return self.overflow(key, held, out);
            }
            return Ok(());
        }
        self.key.clear();
        self.key.put(key)?;
        self.is_key_due = true;
        self.state = ValueState::Nothing;
        let schema = parameters.map(|parameters| parameters.property(key));
        self.types = schema.map_or(Types::UNKNOWN, Schema::types);
        self.schema = schema.and_then(Schema::place);
        if let Form::Elements(..) = self.form {
            self.element.begin();
            self.opener = 0;
        }
        Ok(())
    }

    /// Sets the type of the next value by the word for it, if the schema has no type.
    pub fn type_word(&mut self, word: &str) {
        if self.types.is_unknown() {
            let known = self.words.iter().find(|(known, _)| known == word);
            self.types = known.map_or_else(|| Types::named(word), |&(_, types)| types);
        }
    }

    /// Reads bytes between an element's markers, or between the parts of a marker.
    pub fn framing(&mut self, mut text: &str, held: &mut HeldText, out: &mut Output<'_, '_>) -> Result<(), Error> {
        let Form::Elements(end, _) = &self.form else { return Ok(()) };
        if self.opener < end.len() {
            let mut len = 0;
            for &byte in text.as_bytes() {
                len += 1;
                self.opener += usize::from(byte == end[self.opener]);
                if self.opener == end.len() {
                    break;
                }
            }
            let is_over = self.opener == end.len();
            while !text.is_char_boundary(len) {
                len += 1;
            }
            let opener;
            (opener, text) = text.split_at(len);
            if self.element.depth > 1 {
                self.add(opener, held, out)?;
                if is_over && self.state == ValueState::Held {
                    self.element.inside(held);
                }
            }
        }
        self.add(text, held, out)
    }

    /// Writes or holds the next part of a value.
    pub fn value(&mut self, text: &str, held: &mut HeldText, out: &mut Output<'_, '_>) -> Result<(), Error> {
        if let Form::Elements(end, _) = &self.form {
            self.opener = end.len();
        }
        self.add(text, held, out)
    }

    /// Ends a value, or the innermost element.
    pub fn value_end(
        &mut self,
        closer: &str,
        parameters: Option<Schema<'_>>,
        held: &mut HeldText,
        out: &mut Output<'_, '_>,
    ) -> Result<(), Error> {
        if matches!(self.state, ValueState::Whole | ValueState::Unreadable) {
            return Ok(());
        }
        if let Form::Elements(_, before) = &self.form {
            let name = closer.strip_prefix(&**before).and_then(|name| name.strip_suffix('>'));
            self.is_broken |= !self.element.end_name(name.map(|name| name.trim_matches(value::BLANKS)));
        }
        self.start(out)?;
        if self.element.depth > 0 {
            if self.state == ValueState::Open || !self.element.close(closer, held)? {
                self.element.depth -= 1;
                let closer = if self.element.depth == 0 { "" } else { closer };
                self.overflow(closer, held, out)?;
            }
            if self.element.depth > 0 {
                return Ok(());
            }
        }
        if self.is_broken {
            // If no key was sent yet, the value is not sent, and the call becomes text.
            if self.has_keys {
                self.overflow("", held, out)?;
            }
            self.state = ValueState::Unreadable;
            return Ok(());
        }
        if self.state == ValueState::Open {
            self.state = ValueState::Whole;
            return out.put("\"");
        }
        let schema = parameters.map(|parameters| parameters.at(self.schema));
        let text = held.as_str();
        self.put_key(out)?;
        let mut is_read = true;
        let mended = match &self.form {
            _ if !self.mends => None,
            Form::Tags | Form::Elements(..) => mend::tagged(text, self.types)?,
            Form::Literal(raw, _) => mend::literal(text, raw, self.types)?,
        };
        self.is_mended |= mended.is_some();
        match &self.form {
            _ if let Some(mended) = &mended => out.put(mended)?,
            Form::Tags => value::write(text, self.known_types(), out)?,
            Form::Elements(..) => self.element.write(text, self.types, schema, self.unknown, out)?,
            Form::Literal(raw, is_python) => is_read = literal::write(text, raw, *is_python, schema, out)?,
        }
        if !is_read && text.is_empty() {
            self.state = ValueState::Unreadable;
        } else if !is_read {
            self.overflow("", held, out)?;
            self.state = ValueState::Unreadable;
        } else {
            self.state = ValueState::Whole;
            self.element.clear();
            held.clear();
        }
        Ok(())
    }

    /// Returns whether all values that have arrived are complete.
    pub fn is_whole(&self) -> bool {
        self.state == ValueState::Whole && !self.is_broken
    }

    /// Returns whether a value between markers has ended, and no next key has begun.
    pub fn is_between_values(&self) -> bool {
        self.is_whole() && self.has_keys && !matches!(self.form, Form::Literal(..))
    }

    /// Returns whether there are held bytes that will be sent even if the call breaks off.
    pub fn has_held(&self) -> bool {
        self.state == ValueState::Held && !self.is_broken
    }

    /// Ends the arguments. If the arguments are not whole, a held value is sent as a string without its end.
    pub fn end(&mut self, is_whole: bool, held: &mut HeldText, out: &mut Output<'_, '_>) -> Result<(), Error> {
        if self.state == ValueState::Held {
            self.overflow("", held, out)?;
        }
        if !self.has_keys {
            out.put("{")?;
        }
        if is_whole { out.put("}") } else { Ok(()) }
    }

    #[cfg(test)]
    pub fn memory(&self) -> usize {
        self.element.memory() + self.key.capacity()
    }

    fn known_types(&self) -> Types {
        if self.types.is_unknown() { self.unknown } else { self.types }
    }

    /// Decides whether the next value is held or sent as it arrives.
    fn start(&mut self, out: &mut impl Put) -> Result<(), Error> {
        if self.state != ValueState::Nothing {
            return Ok(());
        }
        let is_string = match self.form {
            Form::Tags => self.known_types() == Types::STRING,
            Form::Elements(..) => self.types == Types::STRING,
            Form::Literal(..) => false,
        };
        self.state = ValueState::Held;
        if is_string {
            self.state = ValueState::Open;
            self.put_key(out)?;
            out.put("\"")?;
        }
        Ok(())
    }

    /// Writes the key of the next value, unless it was written already.
    fn put_key(&mut self, out: &mut impl Put) -> Result<(), Error> {
        if std::mem::take(&mut self.is_key_due) {
            out.put(if self.has_keys { "," } else { "{" })?;
            quote(&self.key, out)?;
            out.put(":")?;
            self.has_keys = true;
        }
        Ok(())
    }

    fn add(&mut self, text: &str, held: &mut HeldText, out: &mut Output<'_, '_>) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        self.start(out)?;
        let is_held = self.state == ValueState::Held && self.element.text(text, held)?;
        if is_held { Ok(()) } else { self.overflow(text, held, out) }
    }

    /// Writes the held bytes, and then `text`, as a string whose end is missing.
    fn overflow(&mut self, text: &str, held: &mut HeldText, out: &mut Output<'_, '_>) -> Result<(), Error> {
        if self.state == ValueState::Held {
            self.state = ValueState::Open;
            self.put_key(out)?;
            out.put("\"")?;
            escape(held.as_str(), out)?;
            held.clear();
            self.element.clear();
        }
        if self.state == ValueState::Open { escape(text, out) } else { Ok(()) }
    }
}
