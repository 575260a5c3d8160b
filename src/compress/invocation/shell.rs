//! Cuts a command line into simple commands, as a POSIX shell would. The bytes are read once, with a vector for open constructs
//! (quotes, substitutions): a line may be hostile, so depth must not use the stack.

/// The operator between two simple commands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Pipe,
    Other,
}

/// A simple command: its words, and whether its output is redirected.
pub struct SimpleCommand {
    pub words: Vec<String>,
    pub redirected: bool,
    pub operator: Operator,
}

/// Splits a command line into simple commands. Returns `None` for lines with `case`, which are not parsed.
pub fn split(line: &str) -> Option<Vec<SimpleCommand>> {
    let mut lexer = Lexer { bytes: line.as_bytes(), at: 0, heredocs: Vec::new() };
    let mut commands = Vec::new();
    let mut words = Vec::new();
    let mut redirected = false;
    loop {
        let token = lexer.next();
        let operator = match token {
            Token::Word(word) => {
                if words.is_empty() && word == "case" {
                    return None;
                }
                words.push(word);
                continue;
            }
            Token::Redirected => {
                redirected = true;
                continue;
            }
            Token::Pipe => Operator::Pipe,
            Token::Separator | Token::End => Operator::Other,
        };
        if !words.is_empty() {
            commands.push(SimpleCommand { words: std::mem::take(&mut words), redirected, operator });
        }
        redirected = false;
        if matches!(token, Token::End) {
            return Some(commands);
        }
    }
}

enum Token {
    Word(String),
    /// The output of the command is redirected to a file.
    Redirected,
    Pipe,
    Separator,
    End,
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Delimiters of here-documents whose text begins on the next line, and whether tabs before them are removed.
    heredocs: Vec<(String, bool)>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Token {
        loop {
            match self.peek(0) {
                _ if self.at >= self.bytes.len() => return Token::End,
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.peek(1) == b'\n' => self.at += 2,
                b'#' => self.at += memchr::memchr(b'\n', &self.bytes[self.at..]).unwrap_or(self.bytes.len() - self.at),
                b'\n' => {
                    self.at += 1;
                    self.skip_heredocs();
                    return Token::Separator;
                }
                b'|' => {
                    let two = matches!(self.peek(1), b'|' | b'&');
                    let or = self.peek(1) == b'|';
                    self.at += 1 + usize::from(two);
                    return if or { Token::Separator } else { Token::Pipe };
                }
                b'&' if self.peek(1) == b'>' => {
                    self.at += 1;
                    return self.redirect(true).unwrap_or(Token::Redirected);
                }
                b'&' | b';' | b'(' | b')' => {
                    self.at += 1;
                    return Token::Separator;
                }
                b'<' if self.peek(1) == b'(' => return self.word(),
                b'>' if self.peek(1) == b'(' => return self.word(),
                b'<' | b'>' => {
                    if let Some(token) = self.redirect(self.peek(0) == b'>') {
                        return token;
                    }
                }
                b'0'..=b'9' => {
                    let digits = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    if matches!(self.peek(digits), b'<' | b'>') {
                        let output = &self.bytes[self.at..self.at + digits] == b"1" && self.peek(digits) == b'>';
                        self.at += digits;
                        if let Some(token) = self.redirect(output) {
                            return token;
                        }
                    } else {
                        return self.word();
                    }
                }
                _ => return self.word(),
            }
        }
    }

    /// Reads a redirection, from its sign on. Returns a token if it redirects the output.
    fn redirect(&mut self, output: bool) -> Option<Token> {
        let start = self.at;
        while matches!(self.peek(0), b'<' | b'>' | b'|' | b'&') && self.at - start < 3 {
            self.at += 1;
        }
        let sign = &self.bytes[start..self.at];
        if sign.starts_with(b"<<") && sign != b"<<<" {
            let tabs = self.peek(0) == b'-';
            self.at += usize::from(tabs);
            self.skip_blanks();
            if let Token::Word(delimiter) = self.word() {
                self.heredocs.push((delimiter, tabs));
            }
            return None;
        }
        let copies = sign.ends_with(b"&");
        self.skip_blanks();
        let target = match self.peek(0) {
            b'\n' | b';' | b'&' | b'|' | b'(' | b')' | 0 => String::new(),
            _ => match self.word() {
                Token::Word(word) => word,
                _ => String::new(),
            },
        };
        // The output of `>&2` is still visible on a terminal.
        let shown = copies && target.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
            || matches!(target.as_str(), "/dev/stdout" | "/dev/stderr" | "/dev/tty");
        (output && !shown).then_some(Token::Redirected)
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(0), b' ' | b'\t') && self.at < self.bytes.len() {
            self.at += 1;
        }
    }

    fn skip_heredocs(&mut self) {
        for (delimiter, tabs) in std::mem::take(&mut self.heredocs) {
            while self.at < self.bytes.len() {
                let end = memchr::memchr(b'\n', &self.bytes[self.at..]).map_or(self.bytes.len(), |end| self.at + end);
                let mut line = &self.bytes[self.at..end];
                while tabs && line.first() == Some(&b'\t') {
                    line = &line[1..];
                }
                self.at = (end + 1).min(self.bytes.len());
                if line == delimiter.as_bytes() {
                    break;
                }
            }
        }
    }

    /// Reads a word and removes its quotes. Substitutions stay as they are written.
    fn word(&mut self) -> Token {
        let mut word = Vec::new();
        // The open constructs: `"`, `` ` ``, `(` or `{` of a substitution.
        let mut open: Vec<u8> = Vec::new();
        while self.at < self.bytes.len() {
            let byte = self.bytes[self.at];
            let inner = open.last().copied();
            // Inside a substitution everything is kept, quotes too.
            let raw = open.iter().any(|&sign| sign != b'"');
            match byte {
                b'\\' if self.at + 1 < self.bytes.len() => {
                    let next = self.peek(1);
                    if raw || inner == Some(b'"') && !b"\"\\$`\n".contains(&next) {
                        word.push(byte);
                    }
                    if next != b'\n' || raw {
                        word.push(next);
                    }
                    self.at += 2;
                    continue;
                }
                b'\'' if inner != Some(b'"') => {
                    let rest = &self.bytes[self.at + 1..];
                    let end = memchr::memchr(b'\'', rest).unwrap_or(rest.len());
                    if raw {
                        word.extend_from_slice(&self.bytes[self.at..(self.at + end + 2).min(self.bytes.len())]);
                    } else {
                        word.extend_from_slice(&rest[..end]);
                    }
                    self.at = (self.at + end + 2).min(self.bytes.len());
                    continue;
                }
                b'"' if inner == Some(b'"') => {
                    open.pop();
                    if open.is_empty() {
                        self.at += 1;
                        continue;
                    }
                }
                b'"' => {
                    open.push(b'"');
                    if open.len() == 1 {
                        self.at += 1;
                        continue;
                    }
                }
                b'`' if inner == Some(b'`') => {
                    open.pop();
                }
                b'`' => open.push(b'`'),
                b'$' | b'<' | b'>' if self.peek(1) == b'(' && (byte == b'$' || inner.is_none()) => {
                    open.push(b'(');
                    word.push(byte);
                    self.at += 1;
                }
                b'$' if self.peek(1) == b'{' => {
                    open.push(b'{');
                    word.push(byte);
                    self.at += 1;
                }
                b'(' if inner == Some(b'(') => open.push(b'('),
                b')' if inner == Some(b'(') => {
                    open.pop();
                }
                b'}' if inner == Some(b'{') => {
                    open.pop();
                }
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' if inner.is_none() => {
                    break;
                }
                _ => {}
            }
            word.push(self.bytes[self.at]);
            self.at += 1;
        }
        Token::Word(String::from_utf8_lossy(&word).into_owned())
    }
}
