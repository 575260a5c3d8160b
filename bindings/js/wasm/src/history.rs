//! Rewrites the history of requests.

use aside::history::{self, Format, Made, Missing, Name, Options, Server, Turns};

use crate::failure::Failure;
use crate::host::Host;
use crate::options::size;
use crate::words::{self, Words};

const FORMAT: &Words<Format> =
    &[("chat", Format::Chat), ("responses", Format::Responses), ("messages", Format::Messages)];

/// The words of `name`, each with its value; `text` needs a dialect.
const NAME: &Words<Option<fn() -> Name>> = &[
    ("as_is", Some(|| Name::AsIs)),
    ("reasoning_content", Some(|| Name::ReasoningContent)),
    ("reasoning", Some(|| Name::Reasoning)),
    ("thinking", Some(|| Name::Thinking)),
    ("reasoning_details", Some(|| Name::ReasoningDetails)),
    ("parts", Some(|| Name::Parts)),
    ("reasoning_text", Some(|| Name::ReasoningText)),
    ("summary", Some(|| Name::Summary)),
    ("text", None),
];

/// Writes the body and the report. Arguments: the body, the format, then names and values of options. The dialect is -1 if there is
/// none.
pub fn rewrite(host: &mut Host, dialect: i32) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let body = arguments.bytes();
    let mut options = Options::new(words::find("format", &arguments.text(), FORMAT)?);
    while let Some(name) = arguments.next_text() {
        let (name, value) = (&*name, &*arguments.text());
        options = match name {
            "name" => options.name(match (words::find(name, value, NAME)?, u32::try_from(dialect)) {
                (Some(name), _) => name(),
                (None, Ok(dialect)) => Name::Text(host.objects.dialects.get(dialect)?.clone()),
                (None, Err(_)) => {
                    return Err(Failure::value("name: \"text\" needs a dialect, whose markers are written".to_owned()));
                }
            }),
            "turns" => options.turns(words::find(name, value, words::HISTORY_TURNS)?),
            "missing" => options.missing(words::find(name, value, words::HISTORY_MISSING)?),
            "made" => options.made(words::find(name, value, words::HISTORY_MADE)?),
            "maxBody" => options.max_body(size(name, value)?),
            _ => return Err(Failure::value(format!("a history has no option {name:?}"))),
        };
    }
    let (body, report) = history::rewrite(body, &options).map_err(|_| Failure::memory())?;
    host.output.text(body);
    [report.changed, report.refused, report.unread].into_iter().for_each(|count| host.output.long(count));
    host.output.text(word(report.outcome, words::HISTORY_OUTCOME));
    host.output.flag(report.thinking_off);
    Ok(0)
}

/// Writes the format of the requests to a path, or nothing.
pub fn format(host: &mut Host) -> Result<i32, Failure> {
    let path = host.arguments().text();
    host.output.optional(Format::of_path(&path).map(|format| word(format, FORMAT)));
    Ok(0)
}

/// Writes the options of a built-in server for a format, or nothing if its requests need no change. Arguments: its name, the format.
pub fn server(host: &mut Host) -> Result<i32, Failure> {
    let mut arguments = host.arguments();
    let (server, format) = (arguments.text(), arguments.text());
    let server = Server::find(&server).map_err(|error| Failure::value(error.to_string()))?;
    let options = server.options(words::find("format", &format, FORMAT)?);
    host.output.flag(options.is_some());
    let Some(options) = options else { return Ok(0) };
    let (name, dialect) = match &options.name {
        Name::Text(dialect) => ("text", Some(dialect.name())),
        name => {
            (NAME.iter().find(|(_, make)| make.is_some_and(|make| same(&make(), name))).map_or("", |it| it.0), None)
        }
    };
    host.output.text(name);
    host.output.optional(dialect);
    host.output.text(word::<Turns>(options.turns, words::HISTORY_TURNS));
    host.output.text(word::<Missing>(options.missing, words::HISTORY_MISSING));
    host.output.text(word::<Made>(options.made, words::HISTORY_MADE));
    Ok(0)
}

fn word<T: Copy + PartialEq>(value: T, words: &Words<T>) -> &'static str {
    words.iter().find(|&&(_, known)| known == value).map_or("", |&(word, _)| word)
}

fn same(one: &Name, other: &Name) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}
