//! Reads templates from their sources: a file with nothing else, a `tokenizer_config.json`, the header of a GGUF file. From the
//! last two it also reads the texts of the variables for tokens, and the special tokens. This module opens no files.

use std::io::{Cursor, Read};

use serde_json::Value;

use super::gguf::Header;
use super::{ChatTemplate, DraftError};

/// The longest template file and the longest `tokenizer_config.json`, in bytes.
const LONGEST: u64 = 64 << 20;
/// The names of the templates to choose from a list. The first, which shows calls, is preferred.
const NAMES: [&str; 2] = ["tool_use", "default"];

impl ChatTemplate {
    /// Reads a chat template in any form: Jinja, a `tokenizer_config.json` (or a file that has only `chat_template`), or a GGUF
    /// file, of which only the header is read.
    ///
    /// ```
    /// use aside::ChatTemplate;
    ///
    /// let config = r#"{"chat_template": "{{ eos_token }}", "eos_token": {"content": "</s>"}}"#;
    /// let template = ChatTemplate::read(config.as_bytes())?;
    /// assert_eq!((template.text.as_str(), template.end_of_text.as_deref()), ("{{ eos_token }}", Some("</s>")));
    /// # Ok::<(), aside::DraftError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the source cannot be read, has no template, or is longer than 64 MiB (a GGUF's header: 128 MiB).
    pub fn read(mut source: impl Read) -> Result<ChatTemplate, DraftError> {
        let error = |why: std::io::Error| DraftError(why.to_string());
        let mut begin = Vec::new();
        source.by_ref().take(4).read_to_end(&mut begin).map_err(error)?;
        if begin == b"GGUF" {
            return Header::read(Cursor::new(begin).chain(source)).map_err(error);
        }
        let mut bytes = begin;
        source.take(LONGEST).read_to_end(&mut bytes).map_err(error)?;
        if bytes.len() as u64 > LONGEST {
            return Err(DraftError(format!("it is longer than {LONGEST} bytes")));
        }
        let text =
            String::from_utf8(bytes).map_err(|_| DraftError("it is neither UTF-8 nor a GGUF file".to_owned()))?;
        let trimmed = text.trim_start();
        // A template may begin with a brace too.
        let config = match serde_json::from_str(trimmed) {
            Ok(config @ Value::Object(_)) => config,
            Err(error) if trimmed.starts_with("{\"") || trimmed.starts_with("{\n") || trimmed.starts_with("{\r") => {
                return Err(DraftError(format!("it is not JSON: {error}")));
            }
            _ => return Ok(ChatTemplate::new(text)),
        };
        let template = of_config(&config);
        if template.text.is_empty() {
            return Err(DraftError("it has no `chat_template`".to_owned()));
        }
        Ok(template)
    }

    /// Reads a `tokenizer_config.json`. The text is empty if it has no `chat_template`, as in a checkpoint that has it in a
    /// separate file. From a list of templates, the template for tools is used.
    ///
    /// # Errors
    ///
    /// [`DraftError`] if it is not a JSON object.
    pub fn from_tokenizer_config(json: &str) -> Result<ChatTemplate, DraftError> {
        let config: Value =
            serde_json::from_str(json).map_err(|error| DraftError(format!("it is not JSON: {error}")))?;
        if !config.is_object() {
            return Err(DraftError("it is not a JSON object".to_owned()));
        }
        Ok(of_config(&config))
    }

    /// Sets the name of the dialect from the name of a file, a folder or a model: the letters, digits, `-` and `.` of its last
    /// part, in lower case.
    #[must_use]
    pub fn named(self, name: &str) -> ChatTemplate {
        let last = name.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default();
        let stem = [".jinja2", ".jinja", ".json", ".gguf", ".txt"]
            .into_iter()
            .find_map(|end| last.strip_suffix(end))
            .unwrap_or(last);
        let mut slug = String::new();
        for char in stem.chars().take(64) {
            match char {
                'A'..='Z' | 'a'..='z' | '0'..='9' | '.' => slug.push(char.to_ascii_lowercase()),
                _ if !slug.ends_with('-') => slug.push('-'),
                _ => {}
            }
        }
        let slug = slug.trim_matches(['-', '.']);
        // These names are the same for all models.
        let is_common = ["", "chat-template", "tokenizer-config", "tokenizer", "template", "model"].contains(&slug);
        ChatTemplate { name: if is_common { self.name } else { Some(slug.to_owned()) }, ..self }
    }
}

/// Reads a `tokenizer_config.json` that is an object.
fn of_config(config: &Value) -> ChatTemplate {
    let text = match &config["chat_template"] {
        Value::Array(list) => {
            let of = |name: &str| list.iter().find(|entry| entry["name"] == name).map(|entry| &entry["template"]);
            NAMES.into_iter().find_map(of).or(list.first().map(|entry| &entry["template"]))
        }
        text => Some(text),
    };
    let token = |value: &Value| value.as_str().or(value["content"].as_str()).map(str::to_owned);
    let added = config["added_tokens_decoder"].as_object();
    // All added tokens are included, even those that decoders keep in the text.
    let special = added.into_iter().flatten().filter_map(|(_, added)| token(added));
    ChatTemplate {
        text: text.and_then(Value::as_str).unwrap_or_default().to_owned(),
        name: None,
        begin_of_text: token(&config["bos_token"]),
        end_of_text: token(&config["eos_token"]),
        special: special.collect(),
    }
}
