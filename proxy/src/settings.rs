//! The settings: one description of them for the flags, the file and the environment. All are optional, so that one source can be
//! laid over another.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::Error;

/// Begins the names of environment variables: `ASIDE_PROXY_MAX_BODY` is `--max-body`.
const PREFIX: &str = "ASIDE_PROXY_";

/// The settings of a user. Each field is a flag, a key of the file and an environment variable.
#[derive(Args, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// The server's URL, without /v1: http://127.0.0.1:8080
    #[arg(long, value_name = "URL")]
    pub upstream: Option<String>,

    /// Where clients connect [default: 127.0.0.1:8088]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,

    /// Where /healthz and /metrics are served [default: nowhere]
    #[arg(long, value_name = "ADDRESS")]
    pub admin: Option<String>,

    /// How the server's model marks its thinking; `aside dialects` lists the names [default: by the model of each request, or by what
    /// the server says of its model]
    #[arg(long, value_name = "NAME")]
    pub dialect: Option<String>,

    /// The server's model, which says the dialect: Qwen/Qwen3-32B, gpt-oss:20b, a file's path
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

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
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    pub formats: Option<Vec<Format>>,

    /// The field for the thinking in chat and completions [default: reasoning_content]
    #[arg(long, value_name = "NAME", value_enum)]
    pub field: Option<Field>,

    /// The form of the thinking in Responses [default: reasoning_text]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub responses_as: Option<ResponsesAs>,

    /// Makes tool calls of those in the text, for the tools that the request has [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub calls: Option<bool>,

    /// Mends what makes clients fail in a stream of events
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub repair: Option<bool>,

    /// Makes one shape of answers that servers have split themselves, each in its way
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub normalise: Option<bool>,

    /// Sends the thinking again as content if an answer has neither content nor a call
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub promote_empty: Option<bool>,

    /// Writes one chunk for each that came, the thinking before the content
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub merge: Option<bool>,

    /// The kind of server, whose requests get the thinking of earlier turns where it reads it: vllm, llama.cpp and others; `aside
    /// history --help` lists them [default: requests stay unchanged]
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,

    /// The environment variable that has the key for the proxy's own questions to the server
    #[arg(long, value_name = "NAME")]
    pub upstream_key_env: Option<String>,

    /// Certificates (PEM) that the server's is checked with, in place of the system's
    #[arg(long, value_name = "FILE")]
    pub upstream_ca: Option<PathBuf>,

    /// The most bytes of a request's body [default: 134217728]
    #[arg(long, value_name = "BYTES")]
    pub max_body: Option<u64>,

    /// The most bytes of a head, of requests and of answers [default: 65536]
    #[arg(long, value_name = "BYTES")]
    pub max_header: Option<usize>,

    /// The most bytes of an event, or of an answer that is not a stream, that are read; a longer one passes [default: 16777216]
    #[arg(long, value_name = "BYTES")]
    pub max_event: Option<usize>,

    /// How long connecting to the server may take, and the head of a request [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub connect_timeout: Option<u64>,

    /// How long nothing may arrive, from the server or at a client that does not read [default: 600]
    #[arg(long, value_name = "SECONDS")]
    pub idle_timeout: Option<u64>,
}

/// Where an answer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum StartAt {
    /// Where the dialect, or the chat template, says.
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
    /// To everyone.
    Keep,
    /// To requests that want it, as [`aside::sse::request_thinking`] reads them.
    Request,
}

/// A format of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Format {
    Chat,
    Completions,
    Responses,
    Messages,
    Ollama,
    All,
}

/// The field for the thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Field {
    ReasoningContent,
    Reasoning,
    Thinking,
}

/// The form of the thinking in Responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ResponsesAs {
    ReasoningText,
    Summary,
}

impl Settings {
    /// Returns these settings, with those of `under` where they have none.
    ///
    /// # Errors
    ///
    /// A setting cannot be written as TOML, such as a path that is not UTF-8.
    pub fn over(&self, under: &Settings) -> Result<Settings, Error> {
        let table =
            |settings: &Settings| toml::Table::try_from(settings).map_err(|error| Error::new(error.to_string()));
        let (mut all, over) = (table(under)?, table(self)?);
        // Each says the dialect: the nearer source counts.
        if self.dialect.is_some() || self.model.is_some() {
            all.remove("dialect");
            all.remove("model");
        }
        all.extend(over);
        read(toml::Value::Table(all))
    }

    /// Reads a file of settings.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not TOML, has a key that is not known or a value of another kind.
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
            // A number, a switch or a list is not in quotes here.
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
    use super::{Format, Settings};

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
        assert_eq!(far.formats, Some(vec![Format::Chat, Format::Messages]));
        let near =
            Settings { upstream: Some("http://near".into()), dialect: Some("qwen3".into()), ..Settings::default() };
        let all = near.over(&far).unwrap();
        assert_eq!((all.upstream.as_deref(), all.max_body), (Some("http://near"), Some(7)));
        // The model of the farther source does not choose against the dialect of the nearer.
        assert_eq!((all.dialect.as_deref(), all.model), (Some("qwen3"), None));
    }

    #[test]
    fn unknown_variables_and_wrong_values_are_named() {
        let error = environment(&[("ASIDE_PROXY_LISTN", "x")]).unwrap_err();
        assert!(error.starts_with("ASIDE_PROXY_LISTN: unknown field `listn`"), "{error}");
        let error = environment(&[("ASIDE_PROXY_MAX_BODY", "much")]).unwrap_err();
        assert!(error.starts_with("ASIDE_PROXY_MAX_BODY: invalid type: string \"much\""), "{error}");
    }
}
