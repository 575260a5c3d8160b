//! Divides a line of a shell into simple commands, and decides whether a command is in a list.

/// Commands that change the shell itself, or that wait for processes of the shell: in another shell they would have no effect.
const OF_THE_SHELL: [&str; 27] = [
    ".", "alias", "bg", "cd", "declare", "dirs", "disown", "eval", "exec", "exit", "export", "fg", "jobs", "local",
    "logout", "popd", "pushd", "read", "readonly", "set", "shopt", "source", "trap", "typeset", "umask", "unset",
    "wait",
];
/// Commands that only filter or count the lines of the command before them in a pipe.
const PASSING: [&str; 5] = ["cat", "grep", "head", "tail", "wc"];

/// A simple command of a line.
#[derive(Default)]
pub struct Command {
    pub words: Vec<String>,
    /// Whether the command reads the output of the command before it.
    is_piped: bool,
}

impl Command {
    /// Returns the words after assignments of variables.
    pub fn words(&self) -> &[String] {
        let is_assignment = |word: &String| {
            word.split_once('=')
                .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        };
        &self.words[self.words.iter().take_while(|word| is_assignment(word)).count()..]
    }

    /// Returns whether the command begins with the words of an entry of the list, or only filters or counts lines in a pipe.
    pub fn is_listed(&self, listed: &[String]) -> bool {
        let words = self.words();
        let begins = |entry: &String| {
            let entry: Vec<&str> = entry.split_whitespace().collect();
            !entry.is_empty()
                && entry.len() <= words.len()
                && entry.iter().zip(words).all(|(entry, word)| entry == word)
        };
        let Some(name) = words.first().map(String::as_str).filter(|name| !OF_THE_SHELL.contains(name)) else {
            return false;
        };
        listed.iter().any(begins) || self.is_piped && PASSING.contains(&name)
    }
}

/// Returns the simple commands of a line, or `None` for a line with more than words, quotes, redirections, pipes, `&&`, `||` and
/// `;`.
pub fn commands(line: &str) -> Option<Vec<Command>> {
    let mut commands = vec![Command::default()];
    let (mut word, mut quote) = (None::<String>, None);
    let mut characters = line.trim().chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        match (quote, character) {
            (Some(end), _) if character == end => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(character),
            // Substitutions, also between double quotes; subshells, here-documents, comments, more lines.
            (_, '`' | '\\') | (None, '(' | ')' | '{' | '}' | '\n' | '#' | '!') => return None,
            (_, '$') if next == '(' => return None,
            // Quotes with other rules: `$'…'` and `$"…"`.
            (None, '$') if matches!(next, '\'' | '"') => return None,
            (None, '<') if next == '<' => return None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            // A part of a redirection.
            (None, '&') if before == '>' || next == '>' => word.get_or_insert_default().push('&'),
            (None, '&') if next != '&' => return None,
            (None, '|' | '&' | ';') => {
                commands.last_mut()?.words.extend(word.take());
                let is_double = next == character;
                if is_double {
                    characters.next();
                }
                commands.push(Command { words: Vec::new(), is_piped: character == '|' && !is_double });
            }
            (None, ' ' | '\t') => commands.last_mut()?.words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
        before = character;
    }
    commands.last_mut()?.words.extend(word);
    // No command follows a `;` at the end.
    if commands.last().is_some_and(|command| command.words.is_empty() && !command.is_piped) {
        commands.pop();
    }
    quote.is_none().then_some(commands)
}
