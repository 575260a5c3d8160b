//! Reads files that describe which parts of a request's history a server reads or refuses: the files of `servers/`, and a
//! host's own.

use std::fmt;

use serde::Deserialize;
use toml::Spanned;

use super::options::{Format, Made, Missing, Name, Namespaces, Options, Turns};
use crate::Dialect;
use crate::distance::nearest;
use crate::file_error::{self, FileError, listed};
use crate::tables_only::tables_only;

tables_only!(Requests, Example);

/// A built-in file: the name of the server, and the text up to the first example (`build.rs` writes the table).
struct Entry {
    name: &'static str,
    #[cfg(feature = "c-api")]
    c_name: &'static std::ffi::CStr,
    text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/servers.rs"));

/// The parts of a request's history that a server reads or refuses, for each format of the server.
///
/// ```
/// use aside::history::{Format, Server, rewrite};
///
/// let deepseek = Server::find("deepseek")?;
/// let options = deepseek.options(Format::Chat).unwrap();
/// let body = r#"{"messages":[{"role":"assistant","content":"42","reasoning":"Twice 21."},{"role":"assistant","content":"!"}]}"#;
/// let wanted = r#"{"messages":[{"role":"assistant","content":"42","reasoning_content":"Twice 21."},{"role":"assistant","content":"!","reasoning_content":""}]}"#;
/// assert_eq!(String::from_utf8(rewrite(body, options)?.0)?, wanted);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Server {
    name: Box<str>,
    options: [Option<Options>; 3],
}

impl Server {
    /// Returns the built-in server of this name.
    ///
    /// # Errors
    ///
    /// [`UnknownServer`], which lists the names of the known servers.
    #[doc(alias = "aside_history_server_find")]
    pub fn find(name: &str) -> Result<Server, UnknownServer> {
        let unknown = || UnknownServer { name: name.chars().take(64).collect() };
        let entry = SERVERS.iter().find(|entry| entry.name == name).ok_or_else(unknown)?;
        // This cannot fail: the tests load all files.
        Server::load(entry.text).map_err(|_| unknown())
    }

    /// Returns the names of the built-in servers, in alphabetical order.
    #[doc(alias = "aside_history_server_name_at")]
    pub fn names() -> impl Iterator<Item = &'static str> {
        SERVERS.iter().map(|entry| entry.name)
    }

    /// Returns the name of a built-in server, by its index in `names`.
    #[cfg(feature = "c-api")]
    pub(crate) fn c_name(index: usize) -> Option<&'static std::ffi::CStr> {
        SERVERS.get(index).map(|entry| entry.c_name)
    }

    /// Reads a server file. The form of its `[[example]]`s is checked, but they are not run.
    ///
    /// # Errors
    ///
    /// [`FileError`], which describes the fault and its place.
    #[doc(alias = "aside_history_server_load")]
    pub fn load(text: &str) -> Result<Server, FileError> {
        let text = &*file_error::with_lf(text);
        let file: File = file_error::read(text)?;
        if file.name.is_empty() {
            return Err(FileError::at(text, None, "`name` is empty"));
        }
        let read = |requests: Option<Requests>, format| requests.map(|it| it.read(text, format)).transpose();
        let options = [
            read(file.chat, Format::Chat)?,
            read(file.messages, Format::Messages)?,
            read(file.responses, Format::Responses)?,
        ];
        if options.iter().all(Option::is_none) {
            let message = "the file has no requests: write [chat], [messages] or [responses]";
            return Err(FileError::at(text, None, message));
        }
        Ok(Server { name: file.name.into(), options })
    }

    /// Returns the server's name from its file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the options for requests of a format, or `None` if the server's file does not have that format.
    #[must_use]
    pub fn options(&self, format: Format) -> Option<&Options> {
        self.options.iter().flatten().find(|options| options.format == format)
    }
}

/// The error for a name that no built-in server has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownServer {
    name: String,
}

impl fmt::Display for UnknownServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no server `{}`; ", self.name.escape_debug())?;
        if let Some(known) = nearest(&self.name, Server::names()) {
            write!(f, "the nearest is {known}; ")?;
        }
        f.write_str("known:")?;
        Server::names().enumerate().try_for_each(|(at, name)| write!(f, "{} {name}", if at == 0 { "" } else { "," }))
    }
}

impl std::error::Error for UnknownServer {}

/// The content of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    chat: Option<Requests>,
    messages: Option<Requests>,
    responses: Option<Requests>,
    /// The examples. Their form is checked here; the tests run them.
    #[serde(default, rename = "example")]
    #[allow(dead_code)]
    examples: Vec<Example>,
}

/// Describes the thinking that the server reads in requests of one format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
struct Requests {
    name: Option<Spanned<String>>,
    /// The dialect whose markers are used if the thinking is put into the text.
    dialect: Option<Spanned<String>>,
    #[serde(default)]
    turns: Turns,
    #[serde(default)]
    missing: Missing,
    #[serde(default)]
    made: Made,
    #[serde(default)]
    namespaces: Namespaces,
    /// The sources of these facts, each with its statement.
    #[allow(dead_code)]
    sources: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, remote = "Self")]
#[allow(dead_code)]
struct Example {
    about: String,
    format: Format,
    input: String,
    output: String,
}

impl Requests {
    fn read(self, text: &str, format: Format) -> Result<Options, FileError> {
        let fault = |span, message: String| Err(FileError::at(text, Some(span), message));
        let word = self.name.as_ref().map_or("as_is", |word| word.get_ref());
        let dialect = match (&self.dialect, &self.name) {
            (Some(dialect), _) if word == "text" => match Dialect::find(dialect.get_ref()) {
                Ok(found) => Some(found),
                Err(error) => return fault(dialect.span(), error.to_string()),
            },
            (Some(dialect), _) => {
                return fault(
                    dialect.span(),
                    "`dialect` belongs to `name = \"text\"`: write that, or remove it".into(),
                );
            }
            (None, Some(name)) if word == "text" => {
                let message = "the text needs the markers of a dialect: add `dialect` with the name of a built-in one";
                return fault(name.span(), message.into());
            }
            (None, _) => None,
        };
        let (known, otherwise): (&[_], _) = match format {
            Format::Chat => (&["reasoning_content", "reasoning", "thinking", "reasoning_details", "parts", "text"], ""),
            Format::Responses => (&["reasoning_text", "summary", "text"], ""),
            Format::Messages => (&["text"], ", or leave `name` out"),
        };
        match (&self.name, Name::from_word(word, dialect)) {
            (None, _) => Ok(self.options(format, Name::AsIs)),
            (Some(_), Some(name)) if known.contains(&word) => Ok(self.options(format, name)),
            (Some(word), _) => {
                let known = listed(known, "or");
                let message = format!("requests of this format have no such name: write {known}{otherwise}");
                fault(word.span(), message)
            }
        }
    }

    fn options(&self, format: Format, name: Name) -> Options {
        let Requests { turns, missing, made, namespaces, .. } = *self;
        Options::new(format).name(name).turns(turns).missing(missing).made(made).namespaces(namespaces)
    }
}
