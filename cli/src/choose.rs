//! The options for the dialect and the start of a stream, which `split` and `resplit` share.

use std::path::PathBuf;

use aside::{Dialect, LeadingTags, Start, StrayClose};
use clap::Args;

use crate::files::{read_template, read_text, wrong_kind};
use crate::names;
#[cfg(feature = "templates")]
use crate::output::note;
use crate::stop::Stop;

/// The default dialect, which has the markers of all families.
const DEFAULT: &str = "any";

#[derive(Args)]
pub struct Source {
    /// The dialect of the model; `aside dialects` lists the names
    #[arg(long, value_name = "NAME", group = "source", value_parser = names::DIALECTS, hide_possible_values = true)]
    dialect: Option<String>,

    /// A dialect of your own, in TOML
    #[arg(long, value_name = "FILE", group = "source")]
    dialect_file: Option<PathBuf>,

    /// The response template of a model, or the tokenizer_config.json that has it
    #[arg(long, value_name = "FILE", group = "source")]
    response_template: Option<PathBuf>,

    /// The dialect of this model: Qwen/Qwen3-32B, gpt-oss:20b, a file's path
    #[arg(long, value_name = "NAME", group = "source", value_parser = names::MODELS, hide_possible_values = true)]
    model: Option<String>,

    /// The dialect and the start that belong to this chat template (Jinja)
    #[arg(long, value_name = "FILE", group = "source")]
    template: Option<PathBuf>,

    /// The variables of the template, such as {"enable_thinking": true}; needs the feature `templates`
    #[arg(long, value_name = "JSON", requires = "template", conflicts_with_all = ["dialect", "dialect_file", "response_template", "model"])]
    variables: Option<String>,

    /// Drafts a dialect from the chat template if none is known for it, as `aside draft` does; its doubts are printed on standard
    /// error. Needs the feature `templates`
    #[arg(long, requires = "template")]
    draft: bool,

    /// The span that is open at the first byte: content, thinking, narration, tool or header [default: as the dialect says]
    #[arg(long, value_name = "WHAT", value_parser = start)]
    start: Option<Start>,

    /// The treatment of a closer of the thinking without an opener, after content. dialect: the dialect decides. text: it stays as
    /// text, for a model that does not think. drop: it is removed, and the text around it stays, for a prompt that has ended the
    /// thinking
    #[arg(long, value_name = "WHAT", value_parser = names::words::<StrayClose>(), default_value = "dialect")]
    stray_close: StrayClose,

    /// How to read a tag think, thinking or thought at the beginning of an answer, if it is not the dialect's own. dialect: it
    /// opens the thinking, in a dialect of models. text: it stays as text, for a prompt that asks for such a tag
    #[arg(long, value_name = "WHAT", value_parser = names::words::<LeadingTags>(), default_value = "dialect")]
    leading_tags: LeadingTags,
}

/// Returns the start of this name.
pub fn start(text: &str) -> Result<Start, String> {
    text.parse().map_err(|unknown: aside::UnknownStart| unknown.to_string())
}

/// A dialect, and the start of a stream in it.
pub struct Chosen {
    pub dialect: Dialect,
    pub start: Option<Start>,
    pub stray_close: StrayClose,
    pub leading_tags: LeadingTags,
    /// Whether the user has chosen the dialect, so that it is not the default.
    pub is_given: bool,
}

impl Source {
    pub fn choose(&self) -> Result<Chosen, Stop> {
        let usage = |message: String| Stop::Usage(message);
        let (mut begins, mut is_given) = (None, true);
        let dialect = if let Some(name) = &self.dialect {
            Dialect::find(name).map_err(|unknown| usage(unknown.to_string()))?
        } else if let Some(file) = &self.dialect_file {
            let text = read_text(file)?;
            Dialect::load(&text).map_err(|error| wrong_kind(file, &text, error))?
        } else if let Some(file) = &self.response_template {
            let text = read_text(file)?;
            Dialect::from_response_template(&text).map_err(|error| wrong_kind(file, &text, error))?
        } else if let Some(model) = &self.model {
            Dialect::find_for_model(model).map_err(|unknown| usage(unknown.to_string()))?
        } else if let Some(file) = &self.template {
            let text = read_template(file)?;
            let found = match &self.variables {
                Some(variables) => find_for_rendered_template(&text, variables),
                None => Dialect::find_for_template(&text).map_err(|unknown| unknown.to_string()),
            };
            let (dialect, start) = match found {
                Err(unknown) if self.draft => drafted(&text, file, &unknown)?,
                found => found.map_err(|message| Stop::in_file(file, message))?,
            };
            begins = Some(start);
            dialect
        } else {
            is_given = false;
            Dialect::find(DEFAULT).map_err(|unknown| usage(unknown.to_string()))?
        };
        let Source { stray_close, leading_tags, .. } = *self;
        Ok(Chosen { dialect, start: self.start.or(begins), stray_close, leading_tags, is_given })
    }
}

/// Drafts a dialect, and prints that it is a draft.
#[cfg(feature = "templates")]
fn drafted(template: &str, file: &std::path::Path, unknown: &str) -> Result<(Dialect, Start), Stop> {
    let template = aside::ChatTemplate::new(template).named(&file.to_string_lossy());
    let draft = crate::draft::drafted(&template, file)?;
    note(&format!("{}: {unknown}; this is read by a draft", file.display()));
    draft.doubts.iter().for_each(|doubt| note(&format!("{}: {doubt}", file.display())));
    let start = draft.dialect.start();
    Ok((draft.dialect, start))
}

#[cfg(not(feature = "templates"))]
fn drafted(_: &str, file: &std::path::Path, _: &str) -> Result<(Dialect, Start), Stop> {
    let why = "this program renders no templates: build it with --features templates";
    Err(Stop::in_file(file, why))
}

#[cfg(feature = "templates")]
fn find_for_rendered_template(template: &str, variables: &str) -> Result<(Dialect, Start), String> {
    Dialect::find_for_rendered_template(template, variables).map_err(|unknown| unknown.to_string())
}

#[cfg(not(feature = "templates"))]
fn find_for_rendered_template(_: &str, _: &str) -> Result<(Dialect, Start), String> {
    Err("this program reads templates, and renders none: build it with --features templates".to_owned())
}
