//! Renders a template for probes, within the bounds of one rendering and of all renderings together. If a template raises an
//! exception for a probe, there is no text, and the reason is kept for a doubt.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use minijinja::{Error, ErrorKind, Value, context};

use super::probes::{self, NEXT, QUESTION, Turn};
use crate::template::render::Jinja;

/// The maximum work of one rendering, and of all renderings. Real templates need some thousand units for one rendering, and half
/// a million in total.
pub const FUEL: u64 = 50_000;
const FUEL_OF_ALL: u64 = 4_000_000;
/// The maximum number of bytes of one rendered text. Real texts have some ten thousand, most of them for a system prompt.
pub const LONGEST_TEXT: usize = 256 << 10;

/// The variables of a request without the messages.
pub type Settings = BTreeMap<String, Value>;

pub struct Renderings<'a> {
    jinja: &'a Jinja<'a>,
    end_of_text: &'a str,
    begin_of_text: &'a str,
    left: Cell<u64>,
    /// The template's reason for the last probe that it refused.
    refusal: RefCell<Option<String>>,
}

impl<'a> Renderings<'a> {
    pub fn new(jinja: &'a Jinja<'a>, begin_of_text: &'a str, end_of_text: &'a str) -> Renderings<'a> {
        Renderings { jinja, begin_of_text, end_of_text, left: Cell::new(FUEL_OF_ALL), refusal: RefCell::default() }
    }

    /// Returns the template's reason for the last probe that it refused.
    pub fn refusal(&self) -> Option<String> {
        self.refusal.borrow().clone()
    }

    /// Returns whether the limit of work for all renderings is reached.
    pub fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// Returns the text after the question: the end of the user's turn, and, with `asks`, the generation prompt.
    pub fn prompt(&self, settings: &Settings, asks: bool) -> Option<String> {
        let question = context! { role => "user", content => QUESTION };
        after(&self.render(vec![question], settings, asks)?, QUESTION).map(str::to_owned)
    }

    /// Returns the text before the question, which ends with the user's role line.
    pub fn before_question(&self, settings: &Settings) -> Option<String> {
        let question = context! { role => "user", content => QUESTION };
        let text = self.render(vec![question], settings, true)?;
        text.rfind(QUESTION).map(|at| text[..at].to_owned())
    }

    /// Returns the text after the question, up to the next question.
    pub fn turn(&self, turn: &Turn<'_>, settings: &Settings) -> Option<String> {
        let text = self.render(turn.messages(), settings, false)?;
        let text = after(&text, QUESTION)?;
        Some(text.find(NEXT).map_or(text, |at| &text[..at]).to_owned())
    }

    fn render(&self, messages: Vec<Value>, settings: &Settings, asks: bool) -> Option<String> {
        let mut variables = settings.clone();
        variables.insert("messages".to_owned(), Value::from(messages));
        variables.insert("add_generation_prompt".to_owned(), Value::from(asks));
        variables.insert("bos_token".to_owned(), Value::from(self.begin_of_text));
        variables.insert("eos_token".to_owned(), Value::from(self.end_of_text));
        match self.once(&variables) {
            Ok(text) => Some(text),
            // Some templates need a list of tools, and some write a call only if there is such a list.
            Err(_) if !variables.contains_key("tools") => {
                variables.extend(with_tools());
                self.once(&variables).ok()
            }
            Err(_) => None,
        }
    }

    fn once(&self, variables: &Settings) -> Result<String, Error> {
        if self.is_exhausted() {
            return Err(Error::from(ErrorKind::OutOfFuel));
        }
        match self.jinja.render(Value::from(variables.clone())) {
            Ok((text, work)) => {
                self.left.set(self.left.get().saturating_sub(work.max(1)));
                Ok(text)
            }
            Err(error) => {
                // A template that uses all of its fuel is not rendered again.
                let work = if error.kind() == ErrorKind::OutOfFuel { FUEL_OF_ALL } else { FUEL / 4 };
                self.left.set(self.left.get().saturating_sub(work));
                *self.refusal.borrow_mut() = Some(error.detail().map_or_else(|| error.to_string(), str::to_owned));
                Err(error)
            }
        }
    }
}

/// Returns the variables that have the tools of a request.
pub fn with_tools() -> Settings {
    probes::TOOLS.into_iter().map(|name| (name.to_owned(), probes::tools())).collect()
}

fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.rfind(word).map(|at| &text[at + word.len()..])
}
