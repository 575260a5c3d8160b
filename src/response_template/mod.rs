//! Response templates: what a checkpoint writes, as its `tokenizer_config.json` may say it for parsers that search whole texts by
//! regular expressions. Here one becomes a dialect's file, which streams. Above `dialect`, which knows nothing of them.

mod fields;
mod file;
mod json;
mod pattern;

use crate::{dialect::Dialect, file_error::FileError};

impl Dialect {
    /// Reads a response template: JSON that says in `fields` how the text of a model is divided, as `transformers` and the
    /// servers that use it read it. `json` is the template, or a `tokenizer_config.json` with a `response_template`.
    ///
    /// The patterns of a template are regular expressions. Read are literals, blanks, alternatives, named groups up to the next
    /// literal, the end of the text, and the look-ahead for a closer. The latter means thinking without an opener: the scanner then
    /// says at the closer that all before it was thinking ([`Kind::Reclassify`](crate::Kind::Reclassify)). Markers and texts are as
    /// the template says; white space around them may be left, where its parser removes all of it.
    ///
    /// ```
    /// use aside::Dialect;
    ///
    /// let dialect = Dialect::from_response_template(r#"{
    ///     "start_anchor": "<|assistant|>",
    ///     "fields": {
    ///         "reasoning_content": {"open": "<think>", "close_pattern": "</think>\\s*"},
    ///         "content": {"close_pattern": "<\\|end\\|>\\s*|$"}
    ///     }
    /// }"#)?;
    /// assert_eq!(dialect.strip("<think>hm</think>Yes.<|end|>")?, b"Yes.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FileError`], whose key is that of the template's part which cannot be read, and whose message names its pattern.
    #[doc(alias = "aside_dialect_from_response_template")]
    pub fn from_response_template(json: &str) -> Result<Dialect, FileError> {
        let template = json::Json::read(json)?;
        let template = template.get("response_template").unwrap_or(template);
        let file = fields::Template::read(&template)?.to_file();
        Dialect::load(&file).map_err(|error| FileError::of_key("", format!("as a dialect: {error}")))
    }
}
