//! Collects the parts of a dialect's texts from its own file: its markers, pieces of its calls, its examples. Raw
//! bytes rarely hit a marker, so inputs name these words by number, and libFuzzer gets the same ones as its dictionary.

use std::collections::HashSet;
use std::sync::LazyLock;

use samples::{CallPieces, Pieces};
use support::Pair;

use super::scanner::PAIRS;

/// Longer examples would fill most of an input.
const LONGEST: usize = 160;

/// The words of each dialect of `PAIRS`: whole calls and examples first, then the beginnings of calls, then markers and their
/// parts.
static WORDS: LazyLock<Vec<Vec<Vec<u8>>>> = LazyLock::new(|| PAIRS.iter().map(of).collect());

fn of(pair: &Pair) -> Vec<Vec<u8>> {
    let dialect = &pair.reference;
    let calls = CallPieces::of_spans(dialect);
    let examples = dialect.examples.iter().map(|example| &example.input).filter(|text| text.len() <= LONGEST);
    let whole = calls.iter().flat_map(|calls| &calls.whole).chain(examples);
    let begins = calls.iter().flat_map(|calls| &calls.begins);
    let few = calls.iter().flat_map(|calls| &calls.few);
    let mut words: Vec<Vec<u8>> = whole.chain(begins).chain(few).map(|text| text.as_bytes().to_vec()).collect();
    words.extend(Pieces::new(dialect).few);
    let mut known = HashSet::new();
    words.retain(|word| !word.is_empty() && known.insert(word.clone()));
    words
}

/// Returns the words of a dialect of `PAIRS`.
pub fn words(pair: &Pair) -> &'static [Vec<u8>] {
    let at = PAIRS.iter().position(|known| known.reference.name == pair.reference.name);
    at.map_or(&[], |at| &WORDS[at])
}

/// Returns the words of all dialects in the format of libFuzzer's dictionary, whose words have at most 64 bytes.
pub fn file() -> String {
    let all: HashSet<&Vec<u8>> = WORDS.iter().flatten().filter(|word| (2..=64).contains(&word.len())).collect();
    let mut lines: Vec<String> = all.into_iter().map(|word| line(word)).collect();
    lines.sort();
    lines.concat()
}

fn line(word: &[u8]) -> String {
    let shown = |&byte: &u8| match byte {
        b'"' | b'\\' => format!("\\{}", byte as char),
        b' '..=b'~' => (byte as char).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    format!("\"{}\"\n", word.iter().map(shown).collect::<String>())
}
