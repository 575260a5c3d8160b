//! Names and comments of the interface in the words of another language.

/// Returns `call_name` as `CallName`; `initials` are words that are all capitals.
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

/// Replaces text in backticks by the result of `word` for it; if that is None, it stays unchanged.
pub fn translated(text: &str, word: impl Fn(&str) -> Option<String>) -> String {
    let part = |(index, part): (usize, &str)| match index % 2 {
        0 => part.to_owned(),
        _ => word(part).unwrap_or_else(|| format!("`{part}`")),
    };
    text.split('`').enumerate().map(part).collect()
}

/// Returns the lines of a text, none of which has more bytes unless it is one word.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns a text whose first letter is small.
pub fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
