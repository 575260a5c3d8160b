//! Names and words as values of options. A shell completes built-in names, but their options accept any text.

use std::ffi::OsStr;

use aside::history::Server;
use aside::{Dialect, Words};
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

/// A parser that accepts any text. The function returns the names that a shell offers.
#[derive(Clone)]
pub struct Names(fn() -> Vec<&'static str>);

pub const DIALECTS: Names = Names(|| Dialect::names().collect());
pub const MODELS: Names = Names(|| Dialect::models().collect());
pub const SERVERS: Names = Names(|| Server::names().collect());

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(&self, command: &Command, option: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, option, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// Returns a parser that accepts only the words of a type.
pub fn words<T: Words + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::WORDS.iter().map(|&(word, _)| word))
        .map(|word| T::from_word(&word).expect("other words are refused"))
}
