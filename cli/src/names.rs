//! Names as values of options: a shell completes built-in names, but the option accepts any text.

use std::ffi::OsStr;

use aside::Dialect;
use aside::history::Server;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
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
