//! Response templates: descriptions of a checkpoint's output in its `tokenizer_config.json`, for parsers that search whole texts by
//! regular expressions. Here a template is turned into the text of a dialect file, which can be read from a stream. This module
//! uses `dialect`, which does not know templates.

mod fields;
mod file;
mod json;
mod pattern;

use crate::{dialect::Dialect, file_error::FileError};

impl Dialect {
    /// Reads a response template: JSON whose `fields` describe how the text of a model is divided, in the form that `transformers`
    /// and its servers read. `json` is the template, or a `tokenizer_config.json` with a `response_template`.
    ///
    /// The patterns of a template are regular expressions, of which literals, blanks, alternatives, named groups up to the next
    /// literal, the end of the text, and the look-ahead for a closer are supported. A look-ahead means thinking without an opener:
    /// at the closer, the scanner then reports that all text before it was thinking
    /// ([`Kind::Reclassify`](crate::Kind::Reclassify)). Markers and texts are those of the template. The template's parser removes
    /// all white space around a text; some of it may stay here.
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
    /// [`FileError`], with the line and the key of the unreadable part of the template, and a message that names its pattern.
    #[doc(alias = "aside_dialect_from_response_template")]
    pub fn from_response_template(json: &str) -> Result<Dialect, FileError> {
        let template = json::read(json)?;
        let template = template.get("response_template").unwrap_or(template);
        let read = fields::Template::read(&template).map_err(|error| {
            let line = json::line_of(&template, error.key());
            error.on_line(line)
        });
        let file = read?.to_file();
        Dialect::load(&file).map_err(|error| FileError::of_key("", format!("as a dialect: {error}")))
    }
}
