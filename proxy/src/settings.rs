//! The settings, described once for flags, file and environment. All are optional, so that one source can override another.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use aside::Words;
use aside::sse::{Comments, Field, Formats, ResponsesAs};
use clap::builder::{MapValueParser, PossibleValuesParser, TypedValueParser, ValueParserFactory};
use clap::{Args, ValueEnum};
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::error::Error;

/// The prefix of environment variables: `ASIDE_PROXY_MAX_BODY` is `--max-body`.
const PREFIX: &str = "ASIDE_PROXY_";

/// The settings of a user. Each field is a flag, a key of the file and an environment variable.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// The server's URL, without /v1: http://127.0.0.1:8080. A file may have several servers in its place, each for some models:
    /// `[[upstream]]` with `url`, `models` and settings of its answers
    #[arg(long, value_name = "URL", value_parser = clap::builder::ValueParser::new(|url: &str| Ok::<_, Infallible>(Upstreams::from(url))))]
    pub upstream: Option<Upstreams>,

    /// Where clients connect [default: 127.0.0.1:8088]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,

    /// Where /healthz, /readyz and /metrics are served [default: nowhere]
    #[arg(long, value_name = "ADDRESS")]
    pub admin: Option<String>,

    /// A host name that clients may ask for, in addition to localhost; * allows any [default: any, but none if only this machine
    /// can reach the address]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allowed_host: Option<Vec<String>>,

    /// The environment variable with the key that clients must send [default: the server checks their keys]
    #[arg(long, value_name = "NAME")]
    pub client_key_env: Option<String>,

    /// The certificates (PEM) of the proxy, for clients that speak TLS; SIGHUP reads it again
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// The key (PEM) of the first certificate
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,

    /// The dialect of the server's model; `aside dialects` lists the names [default: found by the model of each request, or by the
    /// server's data about its model]
    #[arg(long, value_name = "NAME")]
    pub dialect: Option<String>,

    /// The server's model, which determines the dialect: Qwen/Qwen3-32B, gpt-oss:20b, a file's path
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// A dialect of your own, in TOML, such as `aside draft` writes
    #[arg(long, value_name = "FILE")]
    pub dialect_file: Option<PathBuf>,

    /// Drafts a dialect from the chat template of the server, if none is known for its model
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub draft: Option<bool>,

    /// Where an answer starts if its request turns the thinking on [default: dialect]
    #[arg(long, value_name = "WHERE", value_enum)]
    pub on: Option<StartAt>,

    /// Where an answer starts if its request turns the thinking off [default: content]
    #[arg(long, value_name = "WHERE", value_enum)]
    pub off: Option<StartAt>,

    /// Whether the thinking is sent: always, or only to a request that wants it [default: keep]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub thinking: Option<Thinking>,

    /// The formats of answers that are split, with commas between them [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub formats: Option<Vec<Word<Formats>>>,

    /// The field for the thinking in chat and completions [default: reasoning_content]
    #[arg(long, value_name = "NAME")]
    pub field: Option<Word<Field>>,

    /// The form of the thinking in Responses [default: reasoning_text]
    #[arg(long, value_name = "WHAT")]
    pub responses_as: Option<Word<ResponsesAs>>,

    /// Makes tool calls from the calls in the text, for the tools of the request [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub calls: Option<bool>,

    /// Mends faults in a stream of events that make clients fail
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub repair: Option<bool>,

    /// The treatment of comments in a stream of events, for clients that fail on them; with chunk, each comment becomes an event
    /// without text [default: keep]
    #[arg(long, value_name = "WHAT")]
    pub comments: Option<Word<Comments>>,

    /// Brings answers that servers have split themselves into one shape
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub normalise: Option<bool>,

    /// Sends the thinking again as content if an answer has neither content nor a call
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub promote_empty: Option<bool>,

    /// Writes one chunk for each chunk of the server, the thinking before the content
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub merge: Option<bool>,

    /// The kind of server, which decides where its requests have the thinking of earlier turns: vllm, llama.cpp and others; `aside
    /// history --help` lists them [default: requests stay unchanged]
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,

    /// The environment variable with the key for the server: for the proxy's own questions, and with client-key-env for all
    /// requests
    #[arg(long, value_name = "NAME")]
    pub upstream_key_env: Option<String>,

    /// Certificates (PEM) for checking the server's certificate, in place of the system's; that certificate itself may be one of
    /// them
    #[arg(long, value_name = "FILE")]
    pub upstream_ca: Option<PathBuf>,

    /// The maximum number of bytes of a request's body [default: 134217728]
    #[arg(long, value_name = "BYTES")]
    pub max_body: Option<u64>,

    /// The maximum number of bytes of a head, of requests and of answers [default: 65536]
    #[arg(long, value_name = "BYTES")]
    pub max_header: Option<usize>,

    /// The maximum number of bytes of an event, or of an answer that is not a stream, that are read; a longer one is sent unread
    /// [default: 16777216]
    #[arg(long, value_name = "BYTES")]
    pub max_event: Option<usize>,

    /// The maximum number of bytes of a request's list of tools that are read; with a longer list, calls stay in the text [default:
    /// 1048576]
    #[arg(long, value_name = "BYTES")]
    pub max_tools: Option<usize>,

    /// The maximum number of seconds for connecting to the server, and for the head of a request [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub connect_timeout: Option<u64>,

    /// The maximum number of seconds in which nothing arrives from the server, or a client does not read [default: 600]
    #[arg(long, value_name = "SECONDS")]
    pub idle_timeout: Option<u64>,

    /// The maximum number of seconds after SIGTERM until open streams are ended [default: no limit]
    #[arg(long, value_name = "SECONDS")]
    pub drain: Option<u64>,
}

/// The server, or several, each for some models.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(
    untagged,
    expecting = "write upstream = \"http://127.0.0.1:8080\", or tables [[upstream]] with `url` and `models`"
)]
pub enum Upstreams {
    /// The URL of the only server.
    One(String),
    /// A table for each server, with `url`, `models` and settings.
    Several(Vec<toml::Table>),
}

impl<T: Into<String>> From<T> for Upstreams {
    fn from(url: T) -> Upstreams {
        Upstreams::One(url.into())
    }
}

/// The settings that are the same for all servers.
const OF_ALL: [&str; 13] = [
    "upstream",
    "listen",
    "admin",
    "allowed-host",
    "client-key-env",
    "tls-cert",
    "tls-key",
    "max-body",
    "max-header",
    "max-tools",
    "connect-timeout",
    "idle-timeout",
    "drain",
];

/// Where an answer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum StartAt {
    /// The start of the dialect or of the chat template.
    Dialect,
    /// In the content.
    Content,
    /// In the thinking.
    Thinking,
}

/// Whether the thinking is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Thinking {
    /// Sent to every client.
    Keep,
    /// Sent only if the request wants it, according to [`aside::sse::read_request`].
    Request,
}

/// A value of a rewriter's option, written as one of its [`Words`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<T>(pub T);

impl<T: Words + Send + Sync> ValueParserFactory for Word<T> {
    type Parser = MapValueParser<PossibleValuesParser, fn(String) -> Word<T>>;

    fn value_parser() -> Self::Parser {
        PossibleValuesParser::new(T::WORDS.iter().map(|&(word, _)| word))
            .map(|word| Word(T::from_word(&word).expect("other words are refused")))
    }
}

impl<T: Words> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let word = self.0.word().ok_or_else(|| S::Error::custom("a list has one word for each of its values"))?;
        to.serialize_str(word)
    }
}

impl<'de, T: Words> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = String::deserialize(from)?;
        T::from_word(&word).map(Word).ok_or_else(|| {
            let known: Vec<_> = T::WORDS.iter().map(|(known, _)| format!("`{known}`")).collect();
            D::Error::custom(format!("`{word}` is unknown: write {}", known.join(" or ")))
        })
    }
}

impl Settings {
    /// Returns these settings; the settings of `under` replace missing ones.
    ///
    /// # Errors
    ///
    /// A setting cannot be written as TOML, such as a path that is not UTF-8.
    pub fn over(&self, under: &Settings) -> Result<Settings, Error> {
        let table =
            |settings: &Settings| toml::Table::try_from(settings).map_err(|error| Error::new(error.to_string()));
        let (mut all, over) = (table(under)?, table(self)?);
        // Each of these determines the dialect, so only the source with precedence counts.
        if self.dialect.is_some() || self.model.is_some() || self.dialect_file.is_some() {
            ["dialect", "model", "dialect-file"].iter().for_each(|key| drop(all.remove(*key)));
        }
        all.extend(over);
        read(toml::Value::Table(all))
    }

    /// Returns the settings of a server that a table describes, and the patterns of its models. They override these settings.
    pub(crate) fn of_server(&self, table: &toml::Table) -> Result<(Settings, Vec<String>), Error> {
        let mut own = table.clone();
        let url = own
            .remove("url")
            .ok_or_else(|| Error::new("the `url` is missing; write url = \"http://127.0.0.1:8080\""))?;
        let models = own.remove("models").map(read).transpose()?.unwrap_or_else(Vec::new);
        if models.is_empty() {
            return Err(Error::new(
                "it has no `models`; write models = [\"qwen3*\"], or [\"*\"] for all that are left",
            ));
        }
        if let Some(key) = own.keys().find(|key| OF_ALL.contains(&key.as_str())) {
            return Err(Error::new(format!("`{key}` applies to all servers: write it before the first [[upstream]]")));
        }
        own.insert("upstream".to_owned(), url);
        Ok((read::<Settings>(toml::Value::Table(own))?.over(self)?, models))
    }

    /// Reads a file of settings.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not TOML, has an unknown key or a value of a wrong kind.
    pub fn from_file(path: &Path) -> Result<Settings, Error> {
        let fault = |error: &dyn std::fmt::Display| Error::new(format!("{}: {error}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| fault(&error))?;
        toml::from_str(&text).map_err(|error| fault(&error.to_string().trim_end()))
    }

    /// Reads the settings among environment variables: those whose names begin with `ASIDE_PROXY_`.
    ///
    /// # Errors
    ///
    /// A variable is unknown, or its value has the wrong type.
    pub fn from_environment(variables: impl Iterator<Item = (String, String)>) -> Result<Settings, Error> {
        let mut all = Settings::default();
        for (name, text) in variables {
            let Some(key) = name.strip_prefix(PREFIX) else { continue };
            let key = key.to_lowercase().replace('_', "-");
            let one =
                |value: toml::Value| read::<Settings>(toml::Value::Table([(key.clone(), value)].into_iter().collect()));
            let list = text.split(',').map(|part| toml::Value::String(part.trim().to_owned())).collect();
            // In a variable, numbers, switches and lists have no quotes.
            let said = [
                text.parse::<i64>().ok().map(toml::Value::Integer),
                text.parse::<bool>().ok().map(toml::Value::Boolean),
            ];
            let mut settings = one(toml::Value::String(text.clone()));
            for value in said.into_iter().flatten().chain([toml::Value::Array(list)]) {
                settings = settings.or_else(|first| one(value).map_err(|_| first));
            }
            let settings = settings.map_err(|error| Error::new(format!("{name}: {error}")))?;
            all = settings.over(&all)?;
        }
        Ok(all)
    }
}

fn read<T: DeserializeOwned>(value: toml::Value) -> Result<T, Error> {
    value.try_into().map_err(|error: toml::de::Error| Error::new(error.message()))
}

#[cfg(test)]
mod tests {
    use aside::sse::Formats;

    use super::{Settings, Word};

    fn environment(variables: &[(&str, &str)]) -> Result<Settings, String> {
        let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        Settings::from_environment(variables).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_then_the_file_then_the_environment() {
        let far = environment(&[
            ("ASIDE_PROXY_UPSTREAM", "http://far"),
            ("ASIDE_PROXY_MAX_BODY", "7"),
            ("ASIDE_PROXY_REPAIR", "true"),
            ("ASIDE_PROXY_FORMATS", "chat, messages"),
            ("ASIDE_PROXY_MODEL", "8"),
            ("ASIDE", "other"),
        ]);
        let far = far.unwrap();
        assert_eq!((far.max_body, far.repair, far.model.as_deref()), (Some(7), Some(true), Some("8")));
        assert_eq!(far.formats, Some(vec![Word(Formats::CHAT), Word(Formats::MESSAGES)]));
        let near =
            Settings { upstream: Some("http://near".into()), dialect: Some("qwen3".into()), ..Settings::default() };
        let all = near.over(&far).unwrap();
        assert_eq!((all.upstream, all.max_body), (Some("http://near".into()), Some(7)));
        // A model in a source of lower precedence does not override a dialect in a source of higher precedence.
        assert_eq!((all.dialect.as_deref(), all.model), (Some("qwen3"), None));
    }

    #[test]
    fn unknown_variables_and_wrong_values_are_named() {
        let error = environment(&[("ASIDE_PROXY_LISTN", "x")]).unwrap_err();
        assert!(error.starts_with("ASIDE_PROXY_LISTN: unknown field `listn`"), "{error}");
        let error = environment(&[("ASIDE_PROXY_MAX_BODY", "much")]).unwrap_err();
        assert!(error.starts_with("ASIDE_PROXY_MAX_BODY: invalid type: string \"much\""), "{error}");
        let error = environment(&[("ASIDE_PROXY_COMMENTS", "hide")]).unwrap_err();
        assert_eq!(error, "ASIDE_PROXY_COMMENTS: `hide` is unknown: write `keep` or `drop` or `chunk`");
    }
}
