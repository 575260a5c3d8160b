//! Options that are words.

use aside::Words;
use aside::sse::{Formats, Shapes};

use crate::failure::Failure;

/// Returns the value of a word, or an error that lists the words of this option.
pub fn find<T: Words>(option: &str, word: &str) -> Result<T, Failure> {
    T::from_word(word).ok_or_else(|| unknown(option, word, &mut T::WORDS.iter().map(|&(known, _)| known)))
}

/// Returns the error for a word that is not among the words of an option. It is compiled once for all options.
pub fn unknown(option: &str, word: &str, words: &mut dyn Iterator<Item = &'static str>) -> Failure {
    let known: Vec<_> = words.map(|known| format!("{known:?}")).collect();
    let (last, others) = known.split_last().expect("an option has words");
    Failure::value(format!("{option}: {word:?} is unknown: write {} or {last}", others.join(", ")))
}

/// Returns the shapes that these words, separated by commas, name.
pub fn shapes(words: &str) -> Result<Shapes, Failure> {
    let words = words.split(',').filter(|word| !word.is_empty());
    words.into_iter().try_fold(Shapes::NONE, |all, word| Ok(all | find::<Shapes>("normalise", word)?))
}

/// Returns the formats that these words, separated by commas, name: all formats, if there is no word.
pub fn formats(words: &str) -> Result<Formats, Failure> {
    if words.is_empty() {
        return Ok(Formats::default());
    }
    let formats = words.split(',').map(|word| find::<Formats>("formats", word)).collect::<Result<Vec<_>, _>>()?;
    Ok(formats.into_iter().reduce(|all, format| all | format).unwrap_or_default())
}
