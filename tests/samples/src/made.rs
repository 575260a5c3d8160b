//! Dialects that hosts may write: made at random of a few pieces each, so that their markers begin, end and hold each
//! other.

use crate::random::Random;

const PIECES: [&str; 26] = [
    " ", "<", ">", "<", ">", "a", "b", "k", "K", "\u{212a}", "é", "É", "«", "»", "😀", "\u{feff}", "\u{2028}", "\0",
    "\n", "\r", "\u{b}", "/", "=", "|", "`", "```",
];
const NAMES: [&str; 8] = ["a", "b", "k", "é", "a:b", "ab", "|", "😀"];
const CHANNELS: [&str; 4] = ["content", "thinking", "narration", "tool"];

/// A dialect file in the making.
struct File<'a> {
    random: &'a mut Random,
    pieces: Vec<&'static str>,
    literals: Vec<String>,
    text: String,
}

impl File<'_> {
    fn one_of(&mut self, lines: &[&str]) {
        self.text += *self.random.pick(lines);
    }

    /// Adds a line, in one of `bound` files.
    fn once_in(&mut self, bound: usize, line: &str) {
        if self.random.one_in(bound) {
            self.text += line;
        }
    }

    /// Returns a literal in TOML's quotes; sometimes one that is there already.
    fn literal(&mut self) -> String {
        if self.random.one_in(6) && !self.literals.is_empty() {
            return self.random.pick(&self.literals).clone();
        }
        let length = 1 + self.random.below(4);
        let literal: String = (0..length).map(|_| *self.random.pick(&self.pieces)).collect();
        let quoted = quoted(&literal);
        self.literals.push(quoted.clone());
        quoted
    }

    fn name(&mut self) -> String {
        let name: &&str = self.random.pick(&NAMES);
        quoted(name)
    }

    fn list(&mut self, most: usize) -> String {
        let literals: Vec<String> = (0..1 + self.random.below(most)).map(|_| self.literal()).collect();
        format!("[{}]", literals.join(", "))
    }

    fn key(&mut self, bound: usize, key: &str) {
        if self.random.one_in(bound) {
            let line = format!("{key} = {}\n", self.literal());
            self.text += &line;
        }
    }

    fn span(&mut self) {
        let channel = *self.random.pick(&CHANNELS);
        self.text += &format!("[[span]]\nchannel = \"{channel}\"\n");
        match self.random.below(8) {
            0 => {
                let word = self.name();
                self.text += &format!("fence = {word}\n");
            }
            1 | 2 => {
                let names = [self.name(), self.name()];
                self.text += &format!("tag.names = [{}]\n", names[..1 + self.random.below(2)].join(", "));
                self.one_of(&["", "tag.closer = \"any\"\n"]);
                self.one_of(&["", "tag.self_close = true\n"]);
                self.one_of(&["", "tag.space = 2\n"]);
                self.one_of(&["", "tag.suffix = 3\n"]);
                if channel == "thinking" && self.random.one_in(3) {
                    self.text += "tag.attributes = 64\n";
                    self.text +=
                        "thought = { text = \"thought\", type = \"thought_type\", confidence = \"confidence\" }\n";
                } else {
                    self.one_of(&["", "tag.attributes = 5\n", "tag.attributes = 24\n"]);
                }
            }
            _ => {
                let open = self.list(2);
                self.text += &format!("open = {open}\n");
                if !self.random.one_in(8) {
                    let close = self.list(2);
                    self.text += &format!("close = {close}\n");
                }
                self.once_in(3, "special = true\n");
                for place in ["before_open", "after_open", "before_close", "after_close"] {
                    self.key(4, &format!("framing.{place}"));
                }
            }
        }
        self.once_in(4, "keep = true\n");
        self.once_in(4, "repeat = false\n");
        self.key(5, "quote");
        self.one_of(&["", "", "again = \"absorb\"\n", "again = \"text\"\n"]);
        match channel {
            "thinking" => {
                self.one_of(&["", "", "where = \"start\"\n", "where = \"lead\"\n"]);
                self.one_of(&["", "", "stray_close = \"text\"\n", "stray_close = \"reclassify\"\n"]);
            }
            "content" => self.one_of(&["", "", "ends = \"thinking\"\n", "where = \"lead\"\n"]),
            _ => self.one_of(&["", "", "ends = \"thinking\"\n", "pauses = \"thinking\"\n"]),
        }
    }

    fn header(&mut self) {
        let (begin, close) = (self.list(2), self.list(2));
        let ends: Vec<String> = (0..1 + self.random.below(2)).map(|_| self.literal().replacen('"', "\"<", 1)).collect();
        self.text += &format!("[header]\nbegin = {begin}\nend = [{}]\nclose = {close}\n", ends.join(", "));
        self.one_of(&["max = 0\n", "max = 2\n", "max = 20\n", ""]);
        self.once_in(3, "special = true\n");
        let key = self.literal();
        self.text += &format!("keys = {{ to = {key} }}\n");
        self.once_in(2, &format!("whole = [{key}]\n"));
        for field in ["to", "end", "type"] {
            if self.random.one_in(2) {
                let value = match self.random.below(3) {
                    0 => "\"*\"".into(),
                    1 => self.literal(),
                    _ => self.list(2),
                };
                let channel = self.random.pick(&CHANNELS);
                self.text += &format!("[[header.route]]\nwhen = {{ {field} = {value} }}\nchannel = \"{channel}\"\n");
            }
        }
        self.text += &format!("[[header.route]]\nchannel = \"{}\"\n", self.random.pick(&CHANNELS));
    }
}

fn quoted(text: &str) -> String {
    let escaped: String = text.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect();
    format!("\"{escaped}\"")
}

/// Makes a dialect file. It may be one that is refused.
pub fn made(random: &mut Random) -> String {
    let pieces = (0..2 + random.below(4)).map(|_| *random.pick(&PIECES)).collect();
    let mut file = File { random, pieces, literals: Vec::new(), text: String::from("name = \"made\"\n") };
    file.once_in(3, "case = \"ascii\"\n");
    file.once_in(3, "extra_close = \"drop\"\n");
    file.one_of(&["", "stray_close = \"drop\"\n", "stray_close = \"reclassify\"\n"]);
    file.one_of(&["", "", "guard = [\"fences\"]\n", "guard = [\"inline\", \"fences\"]\n"]);
    if file.random.one_in(4) {
        let line = format!("drop = {}\n", file.list(2));
        file.text += &line;
    }
    if file.random.one_in(4) {
        let line = format!("drop_ends = [{{ marker = {}, special = true }}]\n", file.literal());
        file.text += &line;
    }
    for _ in 0..1 + file.random.below(3) {
        file.span();
    }
    if file.random.one_in(4) {
        file.header();
    }
    file.text
}
