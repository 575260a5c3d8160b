//! Makes dialects at random, as hosts may write them. Each has markers of a few pieces, so that markers begin, end and contain
//! each other.

use crate::random::Random;

const PIECES: [&str; 26] = [
    " ", "<", ">", "<", ">", "a", "b", "k", "K", "\u{212a}", "é", "É", "«", "»", "😀", "\u{feff}", "\u{2028}", "\0",
    "\n", "\r", "\u{b}", "/", "=", "|", "`", "```",
];
const NAMES: [&str; 8] = ["a", "b", "k", "é", "a:b", "ab", "|", "😀"];
const CHANNELS: [&str; 4] = ["content", "thinking", "narration", "tool"];

/// A dialect file that is being written.
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

    /// Adds a line in one of `bound` cases.
    fn once_in(&mut self, bound: usize, line: &str) {
        if self.random.one_in(bound) {
            self.text += line;
        }
    }

    /// Returns a literal in TOML's quotes, and sometimes a literal that the file already has.
    fn literal(&mut self) -> String {
        quoted(&self.plain_literal())
    }

    fn plain_literal(&mut self) -> String {
        if self.random.one_in(6) && !self.literals.is_empty() {
            return self.random.pick(&self.literals).clone();
        }
        let length = 1 + self.random.below(4);
        let literal: String = (0..length).map(|_| *self.random.pick(&self.pieces)).collect();
        self.literals.push(literal.clone());
        literal
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
        if self.random.one_in(12) {
            return self.bare();
        }
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
                self.once_in(3, "framing = { before_close = \"\\n\", after_close = \"\\na\", partial = true }\n");
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
                self.once_in(4, "framing.partial = true\n");
            }
        }
        self.once_in(4, "keep = true\n");
        self.once_in(4, "repeat = false\n");
        let has_calls = channel == "tool" && self.random.one_in(2);
        if !has_calls {
            self.key(5, "quote");
        }
        self.one_of(&["", "", "again = \"absorb\"\n", "again = \"drop\"\n", "again = \"text\"\n"]);
        match channel {
            "thinking" => {
                self.one_of(&["", "", "where = \"start\"\n", "where = \"lead\"\n"]);
                self.one_of(&["", "", "stray_close = \"text\"\n", "stray_close = \"reclassify\"\n"]);
            }
            "content" => self.one_of(&["", "", "ends = \"thinking\"\n", "where = \"lead\"\n"]),
            _ => self.one_of(&["", "", "ends = \"thinking\"\n", "pauses = \"thinking\"\n"]),
        }
        if has_calls {
            self.one_of(&["", "", "sure = false\n"]);
            self.once_in(3, "lenient = true\n");
            for _ in 0..1 + self.random.below(2) {
                self.calls("span");
            }
        }
    }

    /// Writes a span that a call opens.
    fn bare(&mut self) {
        self.text += "[[span]]\nchannel = \"tool\"\nbare = true\n";
        self.one_of(&["where = \"start\"\n", "where = \"lead\"\n"]);
        if self.random.one_in(3) {
            let line = format!("close = {}\n", self.list(1));
            self.text += &line;
        }
        self.once_in(3, "keep = true\n");
        self.calls("span");
    }

    /// Writes a table of calls, of a span or of the header.
    fn calls(&mut self, of: &str) {
        let body = *self.random.pick(&["object", "json", "tags", "tags", "literal"]);
        self.text += &format!("[[{of}.call]]\nbody = \"{body}\"\n");
        let is_nested = body == "tags" && self.random.one_in(3);
        let mark = if is_nested { self.plain_literal() } else { String::new() };
        let marked = |file: &mut Self| quoted(&format!("{mark}{}", file.plain_literal()));
        self.key(2, "begin");
        self.once_in(4, "namespace = true\n");
        if self.random.one_in(4) {
            let line = format!("skip = {}\n", self.list(2));
            self.text += &line;
        }
        self.one_of(&["", "", "between = \"\"\n", "between = \",<[a\"\n"]);
        if body == "object" {
            self.one_of(&["", "", "", "key_is_name = true\n"]);
            self.one_of(&["", "", "name = [\"k\", \"name\"]\n"]);
            self.one_of(&["", "", "arguments = [\"k\", \"a\"]\n"]);
            self.one_of(&["", "", "id = [\"a\", \"é\"]\n"]);
            return;
        }
        if body != "literal" && (is_nested || self.random.one_in(2)) {
            let line = format!("end = {}\n", marked(self));
            self.text += &line;
        }
        if self.random.one_in(2) {
            let line = format!("name_end = {}\n", self.list(2));
            self.text += &line;
            self.key(4, "id_begin");
        }
        for key in ["head_end", "id_end"] {
            self.key(5, key);
        }
        self.one_of(&["", "", "", "id = \"head\"\n", "suffix = \"b\"\n"]);
        if self.random.one_in(3) {
            self.text += "prefix = [\"k\", \"ab\"]\n";
            self.once_in(2, "need_prefix = true\n");
        }
        if of == "header" {
            self.once_in(3, "name_from = \"to\"\n");
        }
        match body {
            "tags" => {
                let (key, value) = (marked(self), marked(self));
                let (key_end, open) = (self.literal(), self.literal());
                let open = if self.random.one_in(2) || is_nested { "\"\"".into() } else { open };
                self.text += &format!("key = [{key}, {key_end}]\nvalue = [{open}, {value}]\n");
                if is_nested {
                    self.text += &format!("nested = true\nmark = {}\n", quoted(&mark));
                    return;
                }
                if self.random.one_in(4) {
                    let line = format!("type = [{}, {}]\n", self.literal(), self.literal());
                    self.text += &line;
                }
                for place in ["after_open", "before_close"] {
                    self.key(3, &format!("framing.{place}"));
                }
                self.once_in(4, "cdata = true\n");
            }
            "literal" => {
                self.one_of(&[
                    "open = \"(\"\nclose = \")\"\nassign = \"=\"\n",
                    "open = \"{\"\nclose = \"}\"\nassign = \":\"\n",
                    "open = \"<\"\nclose = \">\"\nassign = \"|\"\n",
                    "open = \"a\"\nclose = \"k\"\nassign = \"/\"\n",
                ]);
                self.once_in(3, "list = true\n");
                self.key(2, "raw_quote");
            }
            _ => {}
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
                self.once_in(3, "calls = false\n");
            }
        }
        self.text += &format!("[[header.route]]\nchannel = \"{}\"\n", self.random.pick(&CHANNELS));
        if self.random.one_in(2) {
            self.calls("header");
        }
    }
}

fn quoted(text: &str) -> String {
    let escaped: String = text.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect();
    format!("\"{escaped}\"")
}

/// Makes a dialect file, which the library may refuse.
pub fn made(random: &mut Random) -> String {
    let pieces = (0..2 + random.below(4)).map(|_| *random.pick(&PIECES)).collect();
    let mut file = File { random, pieces, literals: Vec::new(), text: String::from("name = \"made\"\n") };
    file.once_in(3, "case = \"ascii\"\n");
    file.once_in(3, "extra_close = \"drop\"\n");
    if file.random.one_in(6) {
        let line = format!("drop_last = {}\n", file.list(2));
        file.text += &line;
    }
    file.one_of(&["", "stray_close = \"drop\"\n", "stray_close = \"reclassify\"\n"]);
    file.one_of(&["", "", "guard = [\"fences\"]\n", "guard = [\"inline\", \"fences\"]\n"]);
    if file.random.one_in(4) {
        let thinking = if file.random.one_in(3) { ", thinking = true" } else { "" };
        let line = format!("drop = [{{ marker = {}{thinking} }}, {}]\n", file.literal(), file.literal());
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
