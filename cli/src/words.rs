//! Writes the words of a command line so that a shell reads them back.

use std::ffi::OsString;

/// Returns a command as it is written in a shell.
pub fn written(program: &[OsString]) -> String {
    let word = |word: &OsString| {
        let word = word.to_string_lossy();
        let plain =
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:+,@%".contains(&byte));
        if plain { word.into_owned() } else { quoted(&word) }
    };
    program.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Returns a text as one word, in quotes.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
