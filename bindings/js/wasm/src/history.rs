//! Rewrites the history of requests.

use aside::Words;
use aside::history::{self, Format, Name, Options, Server};

use crate::failure::Failure;
use crate::host::Host;
use crate::options::size;
use crate::words;

/// Writes the body and the report. Arguments: the body, the format, then names and values of options. The dialect is -1 if there is
/// none.
pub fn rewrite(host: &mut Host, dialect: i32) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let body = arguments.bytes();
    let mut options = Options::new(words::find("format", &arguments.text())?);
    while let Some(name) = arguments.next_text() {
        let (name, value) = (&*name, &*arguments.text());
        options = match name {
            "name" => {
                let dialect = u32::try_from(dialect).ok().map(|dialect| host.objects.dialects.get(dialect).cloned());
                let found = Name::from_word(value, dialect.transpose()?);
                options.name(found.ok_or_else(|| match value {
                    "text" => Failure::value("name: \"text\" needs a dialect, whose markers are written".to_owned()),
                    _ => words::unknown(name, value, &mut Name::WORDS.into_iter()),
                })?)
            }
            "turns" => options.turns(words::find(name, value)?),
            "missing" => options.missing(words::find(name, value)?),
            "made" => options.made(words::find(name, value)?),
            "maxBody" => options.max_body(size(name, value)?),
            _ => return Err(Failure::value(format!("a history has no option {name:?}"))),
        };
    }
    let (body, report) = history::rewrite(body, &options).map_err(|_| Failure::memory())?;
    host.output.text(body);
    [report.changed, report.refused, report.unread].into_iter().for_each(|count| host.output.long(count));
    host.output.text(report.outcome.word().unwrap_or_default());
    host.output.flag(report.thinking_off);
    Ok(0)
}

/// Writes the format of the requests to a path, or nothing.
pub fn format(host: &mut Host) -> Result<i32, Failure> {
    let path = host.arguments().text();
    host.output.optional(Format::of_path(&path).and_then(Words::word));
    Ok(0)
}

/// Writes the options of a built-in server for a format, or nothing if its requests need no change. Arguments: its name, the format.
pub fn server(host: &mut Host) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let (server, format) = (arguments.text(), arguments.text());
    let server = Server::find(&server).map_err(|error| Failure::value(error.to_string()))?;
    let options = server.options(words::find("format", &format)?);
    host.output.flag(options.is_some());
    let Some(options) = options else { return Ok(0) };
    host.output.text(options.name.word());
    host.output.optional(if let Name::Text(dialect) = &options.name { Some(dialect.name()) } else { None });
    for word in [options.turns.word(), options.missing.word(), options.made.word()] {
        host.output.text(word.unwrap_or_default());
    }
    Ok(0)
}
