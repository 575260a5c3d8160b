//! The patterns of response templates: the part of regular expressions that says which literals begin and end a field. Everything
//! else is refused, because a scanner that misread a pattern would lose text.

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    /// White space: at least one character of it if `needed`, otherwise any number.
    Blank {
        needed: bool,
    },
    /// A named group: a class of characters up to the next literal.
    Capture(String),
    /// A look-ahead: a pattern that matches later in the text.
    Ahead(Vec<Sequence>),
}

/// Parts that follow each other.
pub type Sequence = Vec<Piece>;

/// The maximum number of alternatives of a pattern.
const MOST: usize = 32;
/// The deepest nesting of groups.
const DEEPEST: usize = 8;

/// Reads a pattern as a list of alternatives. The end of the text (`$`) is an empty alternative. Returns `None` if the pattern has
/// other constructs.
pub fn read(pattern: &str) -> Option<Vec<Sequence>> {
    let mut reader = Reader { rest: pattern, depth: 0 };
    let found = reader.alternatives()?;
    reader.rest.is_empty().then_some(found)
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn takes(&mut self, text: &str) -> bool {
        self.rest.strip_prefix(text).map(|rest| self.rest = rest).is_some()
    }

    /// Reads alternatives up to the end of their group.
    fn alternatives(&mut self) -> Option<Vec<Sequence>> {
        let mut all = Vec::new();
        loop {
            all.extend(self.sequences()?);
            if all.len() > MOST {
                return None;
            }
            if !self.takes("|") {
                return Some(all);
            }
        }
    }

    /// Reads one alternative, which may have alternatives inside.
    fn sequences(&mut self) -> Option<Vec<Sequence>> {
        let mut all: Vec<Sequence> = vec![Vec::new()];
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let mut parts = self.part()?;
            if self.takes("?") {
                parts.push(Vec::new());
            }
            if self.rest.starts_with(['*', '+', '{']) || all.len() * parts.len() > MOST {
                return None;
            }
            let longer = |before: &Sequence| parts.iter().map(|part| joined(before, part)).collect::<Vec<_>>();
            all = all.iter().flat_map(longer).collect();
        }
        Some(all)
    }

    /// Reads a character, a class of blanks or a group. Returns its alternatives.
    fn part(&mut self) -> Option<Vec<Sequence>> {
        if self.takes("$") || self.takes(r"\Z") || self.takes(r"\z") {
            return Some(vec![Vec::new()]);
        }
        if self.takes(r"\s") {
            let needed = !self.takes("*");
            let _ = needed && self.takes("+");
            self.takes("?");
            return Some(vec![vec![Piece::Blank { needed }]]);
        }
        if self.takes("(") {
            return self.group();
        }
        let character = self.next()?;
        let text = match character {
            '\\' => match self.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other if other.is_ascii_alphanumeric() => return None,
                other => other,
            },
            '.' | '[' | '^' | '*' | '+' | '?' | '{' => return None,
            other => other,
        };
        Some(vec![vec![Piece::Text(text.into())]])
    }

    fn group(&mut self) -> Option<Vec<Sequence>> {
        if self.takes("?P<") || self.takes("?<") {
            let (name, rest) = self.rest.split_once('>')?;
            let name = name.to_owned();
            self.rest = rest;
            self.skip_group()?;
            return Some(vec![vec![Piece::Capture(name)]]);
        }
        let is_ahead = self.takes(r"?=[\s\S]*?") || self.takes("?=.*?");
        if !is_ahead && !self.takes("?:") && self.rest.starts_with('?') {
            return None;
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let inside = self.alternatives()?;
        self.depth -= 1;
        self.takes(")").then_some(())?;
        Some(if is_ahead { vec![vec![Piece::Ahead(inside)]] } else { inside })
    }

    /// Skips the rest of a group, which describes the characters that a name, key or value may have.
    fn skip_group(&mut self) -> Option<()> {
        let (mut depth, mut in_class) = (1, false);
        while depth > 0 {
            match (self.next()?, in_class) {
                ('\\', _) => _ = self.next()?,
                (']', true) => in_class = false,
                ('[', false) => in_class = true,
                ('(', false) => depth += 1,
                (')', false) => depth -= 1,
                _ => {}
            }
        }
        Some(())
    }

    fn next(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }
}

/// Returns the two sequences joined. Neighbouring texts become one.
fn joined(one: &Sequence, other: &Sequence) -> Sequence {
    let mut all = one.clone();
    for piece in other {
        match (all.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(text),
            _ => all.push(piece.clone()),
        }
    }
    all
}

/// Returns the texts that a sequence may match, without white space at both ends; `None` if it has more than texts and blanks.
pub fn texts(sequence: &[Piece]) -> Option<Vec<String>> {
    let mut all = vec![String::new()];
    for piece in sequence {
        let parts: &[&str] = match piece {
            Piece::Text(text) => &[text],
            Piece::Blank { needed: true } => &[" ", "\n"],
            Piece::Blank { needed: false } => &["", " ", "\n"],
            _ => return None,
        };
        if all.len() * parts.len() > MOST {
            return None;
        }
        all = all.iter().flat_map(|before| parts.iter().map(move |part| [before, *part].concat())).collect();
    }
    let mut trimmed: Vec<String> = all.iter().map(|text| text.trim().to_owned()).collect();
    trimmed.dedup();
    Some(trimmed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_texts(pattern: &str) -> Vec<String> {
        read(pattern).unwrap().iter().flat_map(|sequence| texts(sequence).unwrap()).collect()
    }

    #[test]
    fn literals_blanks_and_alternatives() {
        assert_eq!(all_texts(r"</think>\s*"), ["</think>"]);
        assert_eq!(all_texts(r"(?:<turn\|>|<eos>)\s*|$"), ["<turn|>", "<eos>", ""]);
        assert_eq!(all_texts(r"\)(?:\]<end>)?\s*"), [")]<end>", ")"]);
        assert_eq!(all_texts(r"a\s+b"), ["a b", "a\nb"]);
        assert_eq!(all_texts(r"a\n?b"), ["a\nb", "ab"]);
    }

    #[test]
    fn captures_and_look_ahead() {
        let text = |text: &str| Piece::Text(text.into());
        let name = Piece::Capture("name".into());
        assert_eq!(read(r"<f=(?P<name>[^\n>]+)>").unwrap(), [[text("<f="), name.clone(), text(">")]]);
        assert_eq!(read(r"f\.(?P<name>\S+?)<m>").unwrap(), [[text("f."), name, text("<m>")]]);
        assert_eq!(read(r"(?=[\s\S]*?</t>)").unwrap(), [[Piece::Ahead(vec![vec![text("</t>")]])]]);
    }

    #[test]
    fn more_is_refused() {
        for pattern in [".*", "a+", "[ab]", "^a", r"\d", "(?!a)", "(?<=a)", "a{2}", "(a", "a)", r"\b", "(?i)a", "(ab)*"]
        {
            assert_eq!(read(pattern), None, "{pattern}");
        }
        assert_eq!(read(&"(a|b)".repeat(20)), None);
        assert_eq!(read(&"(".repeat(1000)), None);
    }
}
