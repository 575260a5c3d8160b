//! Arguments that are words. The stub lists the words of each argument.

use aside::Words;
use aside::sse::{Formats, Shapes};
use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors;

/// Returns the value of a word, or an error that lists the words of this argument.
pub fn find<T: Words>(argument: &str, word: &str) -> PyResult<T> {
    T::from_word(word).ok_or_else(|| unknown(argument, word, T::WORDS.iter().map(|&(known, _)| known)))
}

/// Returns the error for a word that is not among the words of an argument.
pub fn unknown(argument: &str, word: &str, words: impl Iterator<Item = &'static str>) -> PyErr {
    let known: Vec<_> = words.map(|known| format!("{known:?}")).collect();
    let (last, others) = known.split_last().expect("an argument has words");
    errors::value(format!("{argument}={word:?} is unknown: write {} or {last}", others.join(", ")))
}

/// An argument that is a word, or several.
pub enum SeveralWords {
    One(String),
    Several(Vec<String>),
}

impl FromPyObject<'_, '_> for SeveralWords {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<SeveralWords> {
        if let Ok(word) = value.cast::<PyString>() {
            return Ok(SeveralWords::One(word.to_str()?.to_owned()));
        }
        let words = value.extract().map_err(|_| errors::wrong_type("a word or a list of words is wanted", &value))?;
        Ok(SeveralWords::Several(words))
    }
}

/// Returns the shapes of these words: none, if the argument is left out.
pub fn shapes(words: Option<&SeveralWords>) -> PyResult<Shapes> {
    let words = match words {
        None => &[],
        Some(SeveralWords::One(word)) => std::slice::from_ref(word),
        Some(SeveralWords::Several(words)) => &words[..],
    };
    words.iter().try_fold(Shapes::NONE, |all, word| Ok(all | find::<Shapes>("normalise", word)?))
}

/// Returns the formats of these words: all, if the argument is left out.
pub fn formats(words: Option<&SeveralWords>) -> PyResult<Formats> {
    let words = match words {
        None => return Ok(Formats::default()),
        Some(SeveralWords::One(word)) => std::slice::from_ref(word),
        Some(SeveralWords::Several(words)) => words,
    };
    let formats = words.iter().map(|word| find::<Formats>("formats", word)).collect::<PyResult<Vec<_>>>()?;
    let formats = formats.into_iter().reduce(|all, format| all | format);
    formats.ok_or_else(|| errors::value("formats is empty: name at least one, or leave it out for all"))
}
