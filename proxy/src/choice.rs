//! Chooses the dialect of an answer: by the settings, by the model of the request, or by the server's data about its model. The
//! server's answers are cached for a while.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex as Shared, PoisonError};
use std::time::{Duration, Instant};

use aside::{Dialect, Start};
use serde_json::json;
use tokio::sync::Mutex;

use crate::error::Error;
use crate::log;
use crate::questions::{Questions, Said};
use crate::settings::Settings;

/// The dialect for an unknown model, which has the markers of all families.
const UNKNOWN: &str = "any";

/// The time for which the server's answers are cached. It is limited because the server may be restarted with a different model.
const KEPT: Duration = Duration::from_secs(60);

/// The maximum number of models in the cache, since clients choose the names.
const MOST: usize = 64;

/// A dialect, and the reason for it.
#[derive(Debug)]
pub struct Choice {
    pub dialect: Dialect,
    /// The start of an answer, if the dialect does not decide it.
    pub start: Option<Start>,
    pub why: String,
}

impl Choice {
    /// Returns the dialect that the settings choose, if they choose one.
    pub fn of_settings(settings: &Settings) -> Result<Option<Choice>, Error> {
        let (dialect, why) = match (&settings.dialect, &settings.model, &settings.dialect_file) {
            (None, None, None) => return Ok(None),
            (Some(name), None, None) => (
                Dialect::find(name).map_err(|unknown| Error::new(format!("dialect: {unknown}")))?,
                "the setting `dialect`",
            ),
            (None, Some(name), None) => (
                Dialect::find_for_model(name).map_err(|unknown| Error::new(format!("model: {unknown}")))?,
                "the setting `model`",
            ),
            (None, None, Some(file)) => {
                let fault = |why: &dyn Display| Error::new(format!("dialect-file: {}: {why}", file.display()));
                let text = std::fs::read_to_string(file).map_err(|error| fault(&error))?;
                (Dialect::load(&text).map_err(|error| fault(&error))?, "the setting `dialect-file`")
            }
            _ => {
                let why = "dialect, model and dialect-file: each says the dialect, so write one of them";
                return Err(Error::new(why));
            }
        };
        Ok(Some(Choice { dialect, start: None, why: why.to_owned() }))
    }
}

/// The last choice for a model, and the time of the choice. The lock is held while the server is asked, so that several requests
/// do not ask at the same time.
type Kept = Arc<Mutex<Option<(Instant, Arc<Choice>)>>>;

pub struct Chooser {
    fixed: Option<Arc<Choice>>,
    unknown: Dialect,
    pub questions: Arc<Questions>,
    kept: Shared<HashMap<String, Kept>>,
}

impl Chooser {
    pub fn new(fixed: Option<Choice>, questions: Questions) -> Result<Chooser, Error> {
        let unknown = Dialect::find(UNKNOWN).map_err(|unknown| Error::new(unknown.to_string()))?;
        let chooser =
            Chooser { fixed: fixed.map(Arc::new), unknown, questions: Arc::new(questions), kept: Shared::default() };
        if let Some(choice) = &chooser.fixed {
            note(choice, None, true);
        }
        Ok(chooser)
    }

    /// Asks the server when the proxy starts, so that the log has the result.
    pub async fn begin(&self) {
        if self.fixed.is_none() {
            self.choose(None).await;
        }
    }

    /// Returns the choice for a request.
    pub async fn choose(&self, model: Option<&str>) -> Arc<Choice> {
        if let Some(choice) = &self.fixed {
            return Arc::clone(choice);
        }
        let kept = self.kept(model.unwrap_or_default());
        let mut kept = kept.lock().await;
        if let Some((since, choice)) = &*kept
            && since.elapsed() < KEPT
        {
            return Arc::clone(choice);
        }
        let (choice, is_known) = self.find(model).await;
        let choice = match (&*kept, choice) {
            // If the server does not answer, the last choice stays.
            (Some((_, before)), None) => Arc::clone(before),
            (Some((_, before)), Some(choice))
                if before.dialect.name() == choice.dialect.name() && before.start == choice.start =>
            {
                Arc::clone(before)
            }
            (_, choice) => {
                let choice =
                    Arc::new(choice.unwrap_or_else(|| self.unknown("the server does not say what its model is")));
                note(&choice, model, is_known);
                choice
            }
        };
        *kept = Some((Instant::now(), Arc::clone(&choice)));
        choice
    }

    /// Returns a choice, or `None` if the server does not answer. Also returns whether the dialect is known, and not only the
    /// fallback.
    async fn find(&self, model: Option<&str>) -> (Option<Choice>, bool) {
        if let Some(dialect) = model.and_then(|model| Dialect::find_for_model(model).ok()) {
            return (Some(Choice { dialect, start: None, why: "the model of the request".to_owned() }), true);
        }
        match self.questions.ask(model).await {
            Ok(Some(Said { dialect, start, why })) => (Some(Choice { dialect, start, why }), true),
            Ok(None) => (Some(self.unknown("no dialect is known for what the server says of its model")), false),
            Err(()) => (None, false),
        }
    }

    fn unknown(&self, why: &str) -> Choice {
        Choice { dialect: self.unknown.clone(), start: None, why: why.to_owned() }
    }

    fn kept(&self, model: &str) -> Kept {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST && !kept.contains_key(model) {
            kept.clear();
        }
        Arc::clone(kept.entry(model.to_owned()).or_default())
    }

    /// Clears the cache after the server was unreachable, since it may have been restarted with a different model.
    pub fn forget(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Logs a choice.
fn note(choice: &Choice, model: Option<&str>, is_known: bool) {
    let fields = json!({"dialect": choice.dialect.name(), "why": choice.why, "model": model});
    if is_known {
        log::info("dialect", fields);
    } else {
        log::warn("no dialect is known: name it by the setting dialect or model, or thinking may show", fields);
    }
}
