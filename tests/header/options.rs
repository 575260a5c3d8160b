//! Reads a struct of options in words that fit every language. The struct in `src/ffi` is the only description of its options:
//! the declarations, tables and comments of the bindings are written from it.
//!
//! An option's comment follows a form, which is translated: `1: … . 0: … .` for one that is on or off, `0: …` for the default of a
//! number, and `NULL: …` for a text that is not set.

use crate::description::{Description, Enumeration, Field, Form, Type};

/// A struct of options without its `size`. The options to which it points are among them, since other languages have no need of a
/// struct in a struct.
pub struct Options<'d> {
    /// The name without `aside_` and `_options`.
    pub object: &'d str,
    pub options: Vec<Choice<'d>>,
    /// The field that points to another struct of options, and the name of that struct without `aside_` and `_options`.
    pub inner: Option<(&'d str, &'d str)>,
    /// Whether the struct ends with a reserved number.
    pub is_padded: bool,
}

/// An option.
pub struct Choice<'d> {
    pub name: &'d str,
    pub kind: Kind<'d>,
    /// Whether it is in the inner struct.
    pub is_inner: bool,
    /// The comment, with names of C in backticks.
    text: String,
}

/// The values that an option can have. The default of each is 0, the empty set, or nothing.
pub enum Kind<'d> {
    Flag,
    Number,
    Value(&'d Enumeration),
    /// A set of bits.
    Bits(&'d Enumeration),
    Text,
    /// A request's tools as JSON.
    Tools,
}

/// The words of a language for values of C.
pub struct Words {
    pub on: &'static str,
    pub off: &'static str,
    pub zero: &'static str,
    pub not_set: &'static str,
}

impl<'d> Options<'d> {
    pub fn read(description: &'d Description, name: &'d str) -> Options<'d> {
        let found = description.find_struct(name).unwrap_or_else(|| panic!("there is no struct {name}"));
        let (mut options, mut inner) = (Vec::new(), None);
        for field in found.fields.iter().filter(|field| field.name != "size" && field.name != "reserved") {
            let Type::Pointer { to, .. } = &field.what else {
                options.push(choice(description, field));
                continue;
            };
            let Type::Named(of) = &**to else { panic!("{} points to no struct", field.name) };
            let read = Options::read(description, of);
            inner = Some((field.name.as_str(), read.object));
            // A sentence of the comment names those that must not be set.
            let doc = field.doc.join(" ");
            let without = doc.split(". ").find(|sentence| sentence.contains(" must be 0")).unwrap_or_default();
            let is_taken = |option: &Choice<'_>| !without.contains(&format!("`{}`", option.name));
            let taken = read.options.into_iter().filter(is_taken);
            options.extend(taken.map(|option| Choice { is_inner: true, ..option }));
        }
        let is_padded = found.fields.last().is_some_and(|field| field.name == "reserved");
        Options { object: object(name), options, inner, is_padded }
    }

    /// Returns the options of the struct itself, or those of the inner one.
    pub fn part(&self, is_inner: bool) -> impl Iterator<Item = &Choice<'d>> {
        self.options.iter().filter(move |option| option.is_inner == is_inner)
    }

    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.name == name)
    }
}

fn object(name: &str) -> &str {
    name.trim_start_matches("aside_").trim_end_matches("_options")
}

fn choice<'d>(description: &'d Description, field: &'d Field) -> Choice<'d> {
    let text = field.doc.join(" ");
    let kind = match &field.what {
        Type::Uint32 if text.starts_with("1: ") => Kind::Flag,
        Type::Uint64 | Type::Size if text.contains(" 0: ") => Kind::Number,
        Type::Named(name) if name == "aside_bytes" && field.name == "tools" => Kind::Tools,
        Type::Named(name) if name == "aside_bytes" => Kind::Text,
        Type::Named(name) => match description.enumeration(name) {
            Some(enumeration) if enumeration.form == Form::Bits => Kind::Bits(enumeration),
            Some(enumeration) => Kind::Value(enumeration),
            None => panic!("the option {} has a type that no option has: {name}", field.name),
        },
        _ => panic!("the comment of the option {} does not say what its values mean: {text}", field.name),
    };
    Choice { name: &field.name, kind, is_inner: false, text }
}

impl Choice<'_> {
    /// Returns the comment in these words.
    pub fn text(&self, words: &Words) -> String {
        let zero = if let Kind::Number = self.kind { words.zero } else { words.not_set };
        let text = match self.text.strip_prefix("1: ") {
            Some(rest) => format!("{}{}", words.on, rest.replace(" 0: ", &format!(" {}", words.off))),
            None => self.text.replace(" 0: ", &format!(" {zero}")),
        };
        text.replace(" NULL: ", &format!(" {}", words.not_set))
    }

    /// Returns whether the option is a number that may be larger than the address space.
    pub fn is_wide(&self) -> bool {
        self.name == "max_calls"
    }
}

/// Returns the name of an enumeration's default, unless that is the dialect's.
pub fn default_of(enumeration: &Enumeration) -> Option<String> {
    let (short, _) = enumeration.short().find(|(_, enumerator)| enumerator.value == 0)?;
    (short != "default").then_some(short)
}
