//! The dialects that are built in, each compiled when it is first asked for.

use alloc::{string::String, vec::Vec};
use core::fmt;
use std::sync::OnceLock;

use super::{
    Dialect, Start,
    models::{self, Fit},
    template::{Signs, Template},
};

/// A built-in dialect file: its name, its aliases, the models that write it, and its text up to the first example
/// (`build.rs` writes the table).
struct Entry {
    name: &'static str,
    aliases: &'static [&'static str],
    models: &'static [&'static str],
    text: &'static str,
    compiled: OnceLock<Dialect>,
}

include!(concat!(env!("OUT_DIR"), "/dialects.rs"));

pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

pub fn find(name: &str) -> Result<Dialect, UnknownDialect> {
    let entry = ENTRIES
        .iter()
        .find(|entry| entry.name == name || entry.aliases.contains(&name))
        .ok_or_else(|| UnknownDialect::new(name))?;
    Ok(entry.compiled().clone())
}

impl Entry {
    fn compiled(&self) -> &Dialect {
        self.compiled.get_or_init(|| {
            Dialect::from_toml(self.text).unwrap_or_else(|error| unreachable!("built-in {}: {error}", self.name))
        })
    }
}

pub fn find_for_model(model: &str) -> Result<Dialect, UnknownModel> {
    Ok(choose(&ENTRIES, model)?.compiled().clone())
}

/// The entry with the pattern that fits best.
fn choose<'a>(entries: &'a [Entry], model: &str) -> Result<&'a Entry, UnknownModel> {
    let fits = entries.iter().flat_map(|entry| entry.models.iter().map(move |pattern| (entry, pattern)));
    let mut fits: Vec<(Fit, &Entry)> =
        fits.filter_map(|(entry, pattern)| Some((models::fit(pattern, model)?, entry))).collect();
    let best = fits.iter().map(|(fit, _)| *fit).max();
    fits.retain(|(fit, _)| Some(*fit) == best);
    fits.dedup_by_key(|(_, entry)| entry.name);
    match fits[..] {
        [(_, entry)] => Ok(entry),
        _ => {
            let candidates = fits.iter().map(|(_, entry)| entry.name).collect();
            Err(UnknownModel { model: model.into(), candidates })
        }
    }
}

pub fn find_for_template(template: &str) -> Result<(Dialect, Start), UnknownTemplate> {
    static SIGNS: OnceLock<Vec<(&Entry, Signs)>> = OnceLock::new();
    let signs = SIGNS.get_or_init(|| {
        let families = ENTRIES.iter().filter(|entry| !entry.models.is_empty());
        families.map(|entry| (entry, Signs::read(entry.text))).collect()
    });
    let mut template = Template::read(template);
    template.ask_for_tools(signs.iter().map(|(_, signs)| signs));
    let mut fits: Vec<(i32, &Entry, Start)> = signs
        .iter()
        .filter_map(|(entry, signs)| {
            let (score, start) = template.fit(signs)?;
            Some((score, *entry, start))
        })
        .collect();
    let best = fits.iter().map(|(score, ..)| *score).max();
    fits.retain(|(score, ..)| Some(*score) == best);
    match fits[..] {
        [(_, entry, start)] => Ok((entry.compiled().clone(), start)),
        _ => Err(UnknownTemplate { candidates: fits.iter().map(|(_, entry, _)| entry.name).collect() }),
    }
}

/// A chat template has no marker of a built-in dialect, or fits more than one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownTemplate {
    candidates: Vec<&'static str>,
}

impl UnknownTemplate {
    /// The dialects that fit equally well, in alphabetical order; none where there is no marker.
    pub fn candidates(&self) -> &[&'static str] {
        &self.candidates
    }
}

impl fmt::Display for UnknownTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.candidates[..] {
            [] => f.write_str("the template has the markers of no dialect"),
            _ => write!(f, "the template fits several dialects: {}", self.candidates.join(", ")),
        }
    }
}

impl core::error::Error for UnknownTemplate {}

/// No built-in dialect is for a model of that name, or more than one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownModel {
    model: String,
    candidates: Vec<&'static str>,
}

impl UnknownModel {
    /// The dialects that fit equally well, in alphabetical order; none where the model is not known.
    pub fn candidates(&self) -> &[&'static str] {
        &self.candidates
    }
}

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.escape_debug();
        match self.candidates[..] {
            [] => write!(f, "no dialect is known for the model `{model}`"),
            _ => write!(f, "the model `{model}` fits several dialects: {}", self.candidates.join(", ")),
        }
    }
}

impl core::error::Error for UnknownModel {}

/// There is no built-in dialect of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDialect {
    name: String,
    nearest: Vec<&'static str>,
}

impl UnknownDialect {
    const MOST_NAMED: usize = 3;

    fn new(name: &str) -> UnknownDialect {
        let known = ENTRIES.iter().flat_map(|entry| core::iter::once(&entry.name).chain(entry.aliases));
        let mut known: Vec<(usize, &str)> = known.map(|known| (distance(name, known), *known)).collect();
        known.sort_unstable();
        let nearest = known.into_iter().map(|(_, known)| known).take(Self::MOST_NAMED).collect();
        UnknownDialect { name: name.into(), nearest }
    }

    /// The names that come closest to the one asked for, closest first.
    pub fn nearest(&self) -> &[&'static str] {
        &self.nearest
    }
}

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no dialect `{}`; the nearest are {}", self.name.escape_debug(), self.nearest.join(", "))
    }
}

impl core::error::Error for UnknownDialect {}

/// Edits that turn one name into the other (Levenshtein). Names are short; a caller's may not be, and is cut.
fn distance(asked: &str, known: &str) -> usize {
    const ENOUGH: usize = 64;
    let mut row: Vec<usize> = (0..=known.len()).collect();
    for (i, a) in asked.bytes().take(ENOUGH).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in known.bytes().enumerate() {
            let change = diagonal + usize::from(!a.eq_ignore_ascii_case(&b));
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[known.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn entry(name: &'static str, models: &'static [&'static str]) -> Entry {
        Entry { name, aliases: &[], models, text: "", compiled: OnceLock::new() }
    }

    #[test]
    fn models_that_fit_two_dialects_as_well_are_refused_by_name() {
        let entries = [entry("a", &["one-*x-two", "one"]), entry("b", &["one-x-*two"]), entry("c", &["two"])];
        let chosen = |model| choose(&entries, model).map(|entry| entry.name);
        assert_eq!(chosen("one"), Ok("a"));
        assert_eq!(chosen("two-one"), Ok("c"));
        let error = chosen("one-x-two-y").unwrap_err();
        assert_eq!(error.candidates(), ["a", "b"]);
        assert_eq!(error.to_string(), "the model `one-x-two-y` fits several dialects: a, b");
    }

    #[test]
    fn no_two_dialects_have_a_pattern_in_common() {
        for (index, entry) in ENTRIES.iter().enumerate() {
            for other in &ENTRIES[..index] {
                let common = entry.models.iter().find(|pattern| other.models.contains(pattern));
                assert_eq!(common, None, "{} and {}", entry.name, other.name);
            }
        }
    }
}
