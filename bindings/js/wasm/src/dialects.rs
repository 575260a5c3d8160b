//! Dialects: found by name, model or template, or read from a file's text.

use aside::{Dialect, Scanner, ScannerOptions, Start};

use crate::failure::Failure;
use crate::host::Host;

/// Finds a dialect by the argument: 0, its name; 1, the name of a model; 2, a chat template; 3, the text of a file; 4, a response
/// template. Writes the dialect's name, its start, the maximum number of bytes that it may hold back, and the template's start.
pub fn find(host: &mut Host, how: u32) -> Result<i32, Failure> {
    let text = host.arguments().text();
    let (dialect, start) = match how {
        0 => (Dialect::find(&text)?, None),
        1 => (Dialect::find_for_model(&text)?, None),
        2 => {
            let (dialect, start) = Dialect::find_for_template(&text)?;
            (dialect, Some(start))
        }
        3 => (Dialect::load(&text).map_err(|error| Failure::file(&error))?, None),
        _ => (Dialect::from_response_template(&text).map_err(|error| Failure::file(&error))?, None),
    };
    let output = &mut host.output;
    output.text(dialect.name());
    output.text(dialect.start().as_str());
    output.size(dialect.max_hold());
    output.text(start.map_or("", Start::as_str));
    Ok(host.objects.dialects.insert(dialect))
}

/// Writes the version of the library.
pub fn version(host: &mut Host) -> Result<i32, Failure> {
    host.output.text(env!("CARGO_PKG_VERSION"));
    Ok(0)
}

pub fn names(host: &mut Host) -> Result<i32, Failure> {
    host.output.list(Dialect::names());
    Ok(0)
}

/// Writes the spans that may be open where a stream starts.
pub fn starts(host: &mut Host, dialect: u32) -> Result<i32, Failure> {
    let dialect = host.objects.dialects.get(dialect)?;
    let channels = aside::Channel::ALL.into_iter().map(Start::Channel);
    let mut starts = Vec::new();
    for start in channels.chain([Start::Header]) {
        match Scanner::with_options(dialect, &ScannerOptions::new().start(start)) {
            Ok(_) => starts.push(start.as_str()),
            Err(aside::Error::NoSuchStart) => {}
            Err(error) => return Err(error.into()),
        }
    }
    host.output.list(starts);
    Ok(0)
}

/// Writes the family of a rule if `tag` is negative, and otherwise the text of the rule's opener with this number. Writes nothing if
/// there is no such rule or opener.
pub fn label(host: &mut Host, dialect: u32, rule: u32, tag: i32) -> Result<i32, Failure> {
    let dialect = host.objects.dialects.get(dialect)?;
    let label = u32::try_from(tag).map_or(dialect.family(rule), |tag| dialect.opener(rule, tag));
    host.output.text(label.unwrap_or_default());
    Ok(0)
}
