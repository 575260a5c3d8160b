//! Translates names and comments of the interface for another language.

/// Returns `call_name` as `CallName`. The words in `initials` become all capitals.
pub fn camel(name: &str, initials: &[&str]) -> String {
    let word = |word: &str| {
        let capitals = word.to_ascii_uppercase();
        if initials.contains(&&*capitals) {
            return capitals;
        }
        let first = capitals.chars().next().map(String::from).unwrap_or_default();
        first + word.get(1..).unwrap_or_default()
    };
    name.split('_').map(word).collect()
}

/// Replaces each text in backticks by the result of `word` for it. If the result is None, the text stays unchanged.
pub fn translated(text: &str, word: impl Fn(&str) -> Option<String>) -> String {
    let part = |(index, part): (usize, &str)| match index % 2 {
        0 => part.to_owned(),
        _ => word(part).unwrap_or_else(|| format!("`{part}`")),
    };
    text.split('`').enumerate().map(part).collect()
}

/// A blank at which no line ends.
pub const FIXED: &str = "\u{a0}";

/// Returns the lines of a text, none of which has more characters unless it is one word. A number and its unit are one word.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.replace(" MiB", &format!("{FIXED}MiB")).split_ascii_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| line.replace(FIXED, " ")).collect()
}

/// Returns a text with its first letter in lower case.
pub fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
