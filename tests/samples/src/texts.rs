//! Random texts of the parts that matter to a dialect: markers, pieces of markers and similar texts, framing, blanks, characters
//! of every length, and invalid bytes.

use crate::random::Random;
use reference::{CallTable, Dialect};

pub struct Texts {
    /// Whole markers, with and without their framing.
    markers: Vec<Vec<u8>>,
    /// The texts between markers.
    fillers: Vec<Vec<u8>>,
    any_case: bool,
}

impl Texts {
    pub fn new(dialect: &Dialect) -> Texts {
        let mut markers: Vec<Vec<u8>> = Vec::new();
        let mut fillers: Vec<Vec<u8>> = Vec::new();
        let mut add = |text: &str| markers.push(text.as_bytes().to_vec());
        for span in &dialect.spans {
            let framing = &span.framing;
            for literal in &span.open {
                add(literal);
                add(&format!("{}{literal}{}", framing.before_open, framing.after_open));
            }
            for literal in &span.close {
                add(literal);
                add(&format!("{}{literal}{}", framing.before_close, framing.after_close));
            }
            if let Some(quote) = &span.quote {
                add(quote);
            }
            if let Some(tag) = &span.tag {
                for name in &tag.names {
                    for text in ["<N>", "</N>", "< N\t>", "<\n/ N >", "<N/>", "<N />", "<N\u{b}>", "<N", "</N "] {
                        add(&text.replace('N', name));
                    }
                    if tag.suffix > 0 {
                        for text in SUFFIXES {
                            add(&text.replace('N', name));
                        }
                        for letters in [tag.suffix - 1, tag.suffix] {
                            add(&format!("<{name}:{}>", "s".repeat(letters)));
                            add(&format!("</{name}:{}>", "s".repeat(letters)));
                        }
                    }
                    if tag.attributes.is_some() {
                        for text in ATTRIBUTES {
                            add(&text.replace("<N", &format!("<{name}")));
                        }
                    }
                }
            }
            if let Some(word) = &span.fence {
                for text in FENCES {
                    add(&text.replace("WORD", word));
                }
            }
        }
        let of_header = dialect.header.iter().flat_map(|header| &header.calls);
        for table in dialect.spans.iter().flat_map(|span| &span.calls).chain(of_header) {
            for text in pieces_of(table).iter().filter(|text| !text.is_empty()) {
                add(text);
            }
            calls_of(table).iter().for_each(|text| add(text));
        }
        for span in dialect.spans.iter().filter(|span| !span.calls.is_empty()) {
            let tags =
                span.tag.iter().flat_map(|tag| &tag.names).map(|name| (format!("<{name}>"), format!("</{name}>")));
            let close = span.close.first().cloned().unwrap_or_default();
            let literals = span.open.iter().map(|open| (open.clone(), close.clone()));
            for (open, close) in literals.chain(tags) {
                for call in span.calls.iter().flat_map(calls_of) {
                    add(&format!("{open}{call}"));
                    add(&format!("{open}\n{call}{close}"));
                    add(&format!("{open} [{call}, {call}]{close}"));
                    // The opener begins the call too.
                    let rest = |table: &CallTable| call.strip_prefix(&table.begin).map(str::to_string);
                    let rest = span.calls.iter().filter(|table| open.ends_with(&table.begin)).find_map(rest);
                    add(&format!("{open}{}", rest.unwrap_or_default()));
                }
            }
        }
        for header in dialect.header.iter().filter(|header| !header.calls.is_empty()) {
            for call in header.calls.iter().flat_map(calls_of) {
                let [begin, end] = [&header.begin[0], &header.end[0]];
                for route in header.routes.iter().filter(|route| route.channel == "tool") {
                    let types = route.when.get("type").map_or("to=functions.f", |_| "tool");
                    add(&format!("{begin}{types}{end}{call}"));
                }
            }
        }
        for dropped in dialect.drop.iter().chain(&dialect.drop_ends) {
            add(dropped.marker());
        }
        if let Some(header) = &dialect.header {
            for list in [&header.begin, &header.end, &header.close] {
                list.iter().for_each(|literal| add(literal));
            }
            header.keys.values().for_each(|literal| add(literal));
            for value in ["analysis", "final", "commentary", " to=f.g", "assistant", " json", "user to=", "x to=y to=z"]
            {
                add(value);
            }
            for key in &header.whole {
                let most = header.max.unwrap_or(256);
                let names = ["self", "f.g", "a b", "", "é\u{b}", "a<", "v\n", key.as_str()];
                for name in names.map(str::to_string).into_iter().chain([most, most + 1].map(|most| "v".repeat(most))) {
                    for end in &header.end {
                        add(&format!("{key}{name}{end}"));
                    }
                    add(&format!("{key}{name}"));
                }
            }
            for begin in &header.begin {
                add(&format!("{begin}analysis{}", header.end[0]));
                add(&format!("{begin}final to=f json {}", header.end[0]));
                add(&format!("{begin}{}", "v".repeat(250)));
            }
        }
        if !dialect.guard.is_empty() {
            FENCES.iter().for_each(|text| add(&text.replace("WORD", "w")));
        }
        if dialect.guard.iter().any(|guard| guard == "inline") {
            let literals = dialect.spans.iter().flat_map(|span| span.open.first()).cloned();
            let tags = dialect.spans.iter().flat_map(|span| &span.tag).map(|tag| format!("<{}>", tag.names[0]));
            for marker in literals.chain(tags) {
                CODE_SPANS.iter().chain(MENTIONS).for_each(|text| add(&text.replace('M', &marker)));
            }
        }
        ANSWERS.iter().for_each(|text| add(text));
        for span in &dialect.spans {
            let framing = &span.framing;
            for text in [&framing.before_open, &framing.after_open, &framing.before_close, &framing.after_close] {
                fillers.push(text.as_bytes().to_vec());
            }
        }
        for text in FILLERS {
            fillers.push(text.as_bytes().to_vec());
        }
        for bytes in BROKEN {
            fillers.push(bytes.to_vec());
        }
        for run in [2, 3, 5, 62, 63, 64, 65, 66] {
            fillers.push(b" ".repeat(run));
            fillers.push(b"`".repeat(run));
            fillers.push(b"k".repeat(run));
        }
        fillers.retain(|filler| !filler.is_empty());
        let any_case = dialect.case.as_deref() == Some("ascii");
        Texts { markers, fillers, any_case }
    }

    /// Returns a text of about `length` bytes, never longer.
    pub fn next(&self, random: &mut Random, length: usize) -> Vec<u8> {
        let mut text = Vec::new();
        // Some texts begin like an answer in JSON.
        if random.one_in(6) {
            text.extend_from_slice(random.pick(ANSWERS).as_bytes());
        }
        // Some texts have many markers, and others few.
        let density = 2 + random.below(3);
        while text.len() < length {
            let word = if random.one_in(density) { random.pick(&self.fillers).clone() } else { self.marker(random) };
            // A long filler would be most of a short text, so it is used only now and then.
            if word.len() > length / 2 && !random.one_in(4) {
                continue;
            }
            text.extend_from_slice(&word);
        }
        text.truncate(length);
        text
    }

    fn marker(&self, random: &mut Random) -> Vec<u8> {
        let mut word = random.pick(&self.markers).clone();
        if self.any_case {
            for byte in &mut word {
                if random.one_in(6) {
                    *byte = byte.to_ascii_uppercase();
                }
            }
        }
        match random.below(10) {
            0 => word.truncate(random.below(word.len()) + 1),
            1 => {
                word.drain(..random.below(word.len()));
            }
            2 => {
                let at = random.below(word.len());
                word[at] = *random.pick(b"<>/x \n`\"'=|\0\xff");
            }
            3 => {
                let at = random.below(word.len());
                word.insert(at, word[at]);
            }
            _ => {}
        }
        word
    }
}

/// Returns the literals of a table, and the texts between them.
fn pieces_of(table: &CallTable) -> Vec<String> {
    let mut out: Vec<String> = CALLS.iter().map(|text| text.to_string()).collect();
    let single = [
        &table.begin,
        &table.end,
        &table.head_end,
        &table.id_end,
        &table.id_begin,
        &table.suffix,
        &table.mark,
        &table.raw_quote,
        &table.open,
        &table.close,
        &table.assign,
        &table.framing.after_open,
        &table.framing.before_close,
    ];
    out.extend(single.into_iter().cloned());
    out.extend([&table.skip, &table.name_end, &table.prefix].into_iter().flatten().cloned());
    out.extend(table.key.iter().chain(&table.value).chain(table.kind.iter().flatten()).cloned());
    if table.body == "tags" {
        // Closers that count or do not, and misspelt ones.
        let (closer, [open, close]) = (&table.value[1], &table.key);
        let stem = closer.strip_suffix('>').unwrap_or(closer);
        for end in ["</k>", stem, &format!("{stem}_x>"), &format!("{stem}{}>", "w".repeat(25)), closer] {
            for blanks in [0, 2, 64, 65] {
                out.push(format!("{end}{}", " ".repeat(blanks)));
                out.push(format!("{end}{}{}", " ".repeat(blanks), table.end));
                out.push(format!("{end}{}{open}k{close}", "\n".repeat(blanks)));
            }
            out.push(format!("{end}x"));
        }
        out.extend([format!("{open}k{close}"), format!("\n{open}k.1-_{close}"), format!("{open}k k{close}")]);
        out.extend([127, 128, 129].map(|letters| format!("{open}{}{close}", "k".repeat(letters))));
        out.push(format!("\n{}", table.end));
    }
    if table.body == "object" {
        for name in table.name.iter().chain(&table.arguments) {
            out.push(format!("\"{name}\": "));
            out.push(format!(", \"{name}\": \"f\""));
        }
    }
    out
}

/// Returns some whole calls of a table, and texts that are nearly calls.
pub(crate) fn calls_of(table: &CallTable) -> Vec<String> {
    let values = ["1", "{\"a\": [1, \"}</x>\\\"\"]}", "{}", "\"é\"", "[1, {\"b\": null}]", "x"];
    let begin = &table.begin;
    if table.body == "object" {
        let (name, arguments) = (&table.name[0], &table.arguments[0]);
        let with = |value: &&str| match table.key_is_name {
            true => format!("{begin}{{\"f\": {value}}}"),
            false => format!("{begin}{{\"{name}\": \"f\", \"id\": \"7\", \"{arguments}\": {value}}}"),
        };
        return values.iter().map(with).collect();
    }
    let prefix = table.prefix.first().map_or("", String::as_str);
    let id = if table.id_end.is_empty() { String::new() } else { format!("7{}", table.id_end) };
    let name_end = match table.body.as_str() {
        "literal" => table.open.clone(),
        _ => table.name_end.first().cloned().unwrap_or_default(),
    };
    let suffix = &table.suffix;
    let mut heads =
        vec![format!("{begin}{id}{prefix}f{suffix}{name_end}"), format!("{begin}{id}{prefix}f:1{suffix} {name_end}")];
    if !table.id_begin.is_empty() {
        heads.push(format!("{begin}{id}{prefix}f{suffix}{}8{name_end}", table.id_begin));
    }
    let [key, value] = [&table.key, &table.value];
    let argument = |text: &str| match table.body.as_str() {
        "json" => "{\"a\": 1}".to_string(),
        "tags" if table.nested => format!("{0}k{1}{0}l{1}{text}{2}l>{2}k>", key[0], key[1], value[1]),
        "tags" => {
            let kind = table.kind.as_ref().map_or(String::new(), |[open, close]| format!("{open}int{close}"));
            let framing = &table.framing;
            format!(
                "{}k{}{kind}{}{}{text}{}{}",
                key[0], key[1], value[0], framing.after_open, framing.before_close, value[1]
            )
        }
        _ => format!("k{}{text}", table.assign),
    };
    let mut out = Vec::new();
    for head in heads {
        let head = format!("{head}{}", table.head_end);
        let end = if table.body == "literal" { &table.close } else { &table.end };
        out.push(format!("{head}{end}"));
        let quoted = format!("{0}}}'\"{0}", table.raw_quote);
        for text in values.into_iter().chain(["<![CDATA[x]]>", "'a\\'b'", &quoted]) {
            let one = argument(text);
            out.push(format!("{head}{one}{end}"));
            if table.body == "literal" {
                out.push(format!("{head}{one}, {one}{end}"));
            } else if table.body == "tags" {
                out.push(format!("{head}{one}\n{one}{end}"));
            }
        }
    }
    out
}

/// Beginnings of answers in JSON, and parts of them.
const ANSWERS: &[&str] =
    &["{\"", "[\"a", " {\"k\": \"5\\\" ", "\"", "\\\"", "\"}", "]", "```w\n [\"", "~~~\n{", "words ", "\" \n"];

/// The parts of the bodies of all tables.
const CALLS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "\\",
    "\\\"",
    ",",
    ":",
    "f",
    "f ",
    "=",
    "null",
    "1",
    "{\"",
    "\": ",
    "\", \"",
    "\"}",
    "\"x\": 1",
    "\"id\": \"7\"",
    "a.b",
    "<![CDATA[",
    "]]>",
    ">",
    "f>",
    "k",
];

const ATTRIBUTES: &[&str] = &[
    "<N a=\"b\">",
    "<N a='b' c = \"d>e\" />",
    "<N thought=\"hm\" thought_type=\"reflection\" confidence=\"0.7\"/>",
    "<N thought='&lt;&#x1F9E0;&#0;&bogus; &amp;lt;' confidence=' 2e0 '/>",
    "<N thought=' ' thought='x' confidence='.5x'>",
    "<N a=\"<N b='",
    "<N a='<N b=\"",
    " a=\"",
    " b='",
    "\"",
    "'",
    "/>",
    ">",
    "=",
    " x",
];

const SUFFIXES: &[&str] = &[
    "<N:opensource>",
    "</N:opensource>",
    "<N:a.B-c_9 >",
    "</ N:x\t>",
    "<N:>",
    "</N:>",
    "<N:a:b>",
    "<N:é>",
    "<N :a>",
    "<N: a>",
    "<N:a/>",
    "<N:a b='c'>",
    "<N:",
    "</N:op",
    ":opensource",
];

const CODE_SPANS: &[&str] = &[
    "`M`",
    "``M``",
    "```M```",
    "`M``M`",
    "``M`M\n",
    "`M\nM`",
    "\n```M`M```M\n",
    "\n   ```M```M\n",
    "\n    ```M\n",
    "a```M\n",
    "\n~~~M`M\n",
    "`",
    "``",
    "`\n",
];

/// Places at which an opener may only be mentioned.
const MENTIONS: &[&str] = &["x M y", "x M. ", "“M”", "标M示", "x\n  My", "x\n\tM", "\n M", "x M\u{e38}"];

const FENCES: &[&str] = &[
    "```WORD\n",
    "```WORD \t\n",
    "```WORD\r\n",
    "\n```WORD\n",
    "   ```WORD\n",
    "```WORD",
    "```WORDs\n",
    "````WORD\n",
    "\n```\n",
    "\n```\r\n",
    "\n``` \t\u{b}\r\n",
    "\n   ```",
    "\n    ```\n",
    "\n```rs\n",
    "\n```c++\r\n",
    "\n```rs ",
    "\n```a`b\n",
    "\n~~~\n",
    "\n~~~~ x\n",
    "\n````\n",
    "\n````md\n",
    "\n``` x y",
    "```",
    "~~~",
    "\n",
    "\r\n",
    "\r",
];

const FILLERS: &[&str] = &[
    "a",
    "Hm",
    "x y",
    "é",
    "日本",
    "🧠",
    "\u{feff}",
    "\0",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\r",
    "\r\n",
    "\u{b}",
    "\u{c}",
    "<",
    "<<",
    ">",
    "/",
    "|",
    "`",
    "``",
    "&",
    "&lt;",
    "=",
    "\"",
    "'",
    "</",
    "<|",
    "thought",
    "1 < 2 > 0",
    "\n\n\n",
];

const BROKEN: &[&[u8]] = &[
    b"\xff",
    b"\xc3",
    b"\xe2\x82",
    b"\xf0\x9f\xa7",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xa9",
    b"\xf4\x90",
    b"\xe0\x80",
    b"\xf0\x9f\xa7<",
];
