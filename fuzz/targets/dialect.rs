//! Loads any dialect file: the file must be refused, or a scanner with it must keep the contract on any text.
//!
//! Input: a dialect file up to a NUL, the number of chunk lengths, the lengths, and the text. If there is no text, the file itself
//! is the text, which contains all its markers. If the first byte is 1, the file is generated from the bytes up to the NUL, and is
//! rarely refused.

use aside::{Channel, Dialect, ScannerOptions, Start};
use samples::Random;

use super::{Input, contract, cut, scanner::tokens};

/// At each byte, the reference reads the whole text before it.
const MOST_FOR_REFERENCE: usize = 512;

pub fn run(data: &[u8]) {
    let mut input = Input { rest: data };
    let made;
    let file = match input.until(0) {
        [1, rest @ ..] => {
            made = make(rest);
            made.as_bytes()
        }
        file => file,
    };
    let Ok(toml) = std::str::from_utf8(file) else { return };
    let Ok(dialect) = Dialect::load(toml) else { return };
    let lengths = input.lengths();
    let text = if input.rest.is_empty() { file } else { input.rest };
    let plain = reference::Dialect::parse(toml).expect("the library and the reference disagree about the file");
    for start in Channel::ALL.map(Start::Channel).into_iter().chain([Start::Header]) {
        let options = ScannerOptions::new().start(start);
        let Some(whole) = contract(&dialect, &options, text, &[text]) else { continue };
        if text.len() <= MOST_FOR_REFERENCE {
            let wanted = reference::read(&plain, text, Some(start.as_str()));
            if let Some(difference) = support::difference(&wanted, &whole) {
                panic!("from {start:?}: {difference}\n  text {}\n{toml}", support::shown(&[text]));
            }
            let tokens = tokens(&cut(text, lengths));
            let wanted = reference::read_tokens(&plain, text, Some(start.as_str()), &support::special(&tokens));
            let mut scanner = support::scanner(&dialect, Some(start.as_str()), None);
            let got = support::feed_tokens(&mut scanner, text, &tokens, &mut Random::new(data.len() as u64), false);
            if let Some(difference) = support::difference(&wanted, &got) {
                panic!("from {start:?}: {difference}\n  tokens {tokens:?}\n  text {}\n{toml}", support::shown(&[text]));
            }
        }
        for (stray_close, stray) in support::STRAYS {
            let options = options.stray_close(stray_close);
            let whole = contract(&dialect, &options, text, &[text]).unwrap();
            // The host's option to remove closers is compared only if the dialect has this key. Without it, another marker may
            // count in place of such a closer.
            if text.len() <= MOST_FOR_REFERENCE && plain.extra_close.as_deref() == Some("drop") {
                let wanted = reference::read_with_stray(&plain, text, Some(start.as_str()), stray);
                if let Some(difference) = support::difference(&wanted, &whole) {
                    panic!("from {start:?}, {stray:?}: {difference}\n  text {}\n{toml}", support::shown(&[text]));
                }
            }
            let chunks = cut(text, lengths);
            let got = contract(&dialect, &options, text, &chunks).unwrap();
            if let Some(difference) = support::difference(&whole, &got) {
                panic!("from {start:?}, {stray:?}: {difference}\n  chunks {}\n{toml}", support::shown(&chunks));
            }
        }
        for chunks in [cut(text, lengths), support::bytes(text)] {
            let got = contract(&dialect, &options, text, &chunks).unwrap();
            if let Some(difference) = support::difference(&whole, &got) {
                panic!("from {start:?}: {difference}\n  chunks {}\n{toml}", support::shown(&chunks));
            }
        }
        let with_calls = |chunks: &[&[u8]]| {
            reference::joined_with_calls(&contract(&dialect, &options.calls(true), text, chunks).unwrap())
        };
        let whole = with_calls(&[text]);
        let mut all = vec![with_calls(&cut(text, lengths)), with_calls(&support::bytes(text))];
        if text.len() <= MOST_FOR_REFERENCE {
            all.push(reference::read_with_calls(&plain, text, Some(start.as_str())));
        }
        for other in all {
            if let Some(difference) = support::difference(&other, &whole) {
                panic!("calls from {start:?}: {difference}\n  text {}\n{toml}", support::shown(&[text]));
            }
        }
    }
}

pub const MARKERS: [&str; 20] = [
    "<a>", "</a>", "<b>", "</b>", "<a", "<A>", "<|a|>", "<|b|>", "a", "ab", "`", "```", "[a]", "<<a>", "<a><b>", "aab",
    "aba", "é", "/>", "\\n",
];
const BLANKS: [&str; 6] = ["\\n", "\\n\\n", " ", "\\r\\n", "a", "\\n<"];
const CHANNELS: [&str; 4] = ["content", "thinking", "narration", "tool"];

/// Returns a dialect file that looks like one.
fn make(bytes: &[u8]) -> String {
    let mut input = Input { rest: bytes };
    let mut file = String::from("name = \"made\"\n");
    let choices = input.byte();
    let lines =
        ["case = \"ascii\"", "extra_close = \"drop\"", "guard = [\"fences\"]", "guard = [\"inline\", \"fences\"]"];
    for (bit, line) in lines.iter().enumerate() {
        if choices >> bit & 1 == 1 && (bit != 2 || choices & 8 == 0) {
            file += line;
            file += "\n";
        }
    }
    match choices >> 4 & 3 {
        1 => file += "stray_close = \"drop\"\n",
        2 => file += "stray_close = \"reclassify\"\n",
        3 => file += &format!("drop = [{}]\n", literals(&mut input)),
        _ => {}
    }
    if choices >> 6 & 1 == 1 {
        file += &format!("start = \"{}\"\n", [CHANNELS[1], "header"][input.below(2)]);
    }
    for _ in 0..1 + input.below(4) {
        file += &format!("[[span]]\nchannel = \"{}\"\n", CHANNELS[input.below(4)]);
        span(&mut input, &mut file);
    }
    if choices >> 7 == 1 {
        let (begin, end, close) = (literals(&mut input), literals(&mut input), literals(&mut input));
        file += &format!("[header]\nbegin = [{begin}]\nend = [\"<{}\"]\n", MARKERS[input.below(MARKERS.len())]);
        file += &format!("close = [{close}, {end}]\nmax = {}\n", input.below(40));
        let (key, other) = (MARKERS[input.below(MARKERS.len())], MARKERS[input.below(MARKERS.len())]);
        file += &format!("keys = {{ to = \"{key}=\", of = \"{other}\" }}\n");
        if input.below(2) == 1 {
            file += &format!("whole = [\"{key}=\"]\n");
        }
        file += &format!("[[header.route]]\nwhen = {{ to = \"*\" }}\nchannel = \"{}\"\n", CHANNELS[input.below(4)]);
        file += "[[header.route]]\nchannel = \"content\"\n";
    }
    file
}

fn span(input: &mut Input<'_>, file: &mut String) {
    let choices = input.byte();
    match choices & 3 {
        0 | 1 => {
            *file += &format!("open = [{}]\n", literals(input));
            if choices & 4 == 0 {
                *file += &format!("close = [{}]\n", literals(input));
            }
            for place in ["before_open", "after_open", "before_close", "after_close"] {
                if input.below(3) == 0 {
                    *file += &format!("framing.{place} = \"{}\"\n", BLANKS[input.below(BLANKS.len())]);
                }
            }
            if choices & 8 != 0 {
                *file += &format!("quote = \"{}\"\n", MARKERS[input.below(MARKERS.len())]);
            }
        }
        2 => {
            *file += &format!("tag.names = [\"{}\", \"tab\"]\n", ["a", "b", "ab", "é", "t"][input.below(5)]);
            *file += ["", "tag.closer = \"any\"\n"][input.below(2)];
            *file += ["", "tag.self_close = true\n"][input.below(2)];
            *file += &format!("tag.space = {}\ntag.suffix = {}\n", input.below(4), input.below(4));
            *file += &format!("tag.attributes = {}\n", input.below(3) * 9);
        }
        _ => *file += &format!("fence = \"{}\"\n", ["a", "ab", "c"][input.below(3)]),
    }
    for (bit, line) in ["keep = true", "repeat = false", "special = true", "ends = \"thinking\""].iter().enumerate() {
        if choices >> (bit + 4) & 1 == 1 {
            *file += line;
            *file += "\n";
        }
    }
    match input.below(6) {
        0 => *file += "where = \"start\"\n",
        1 => *file += "where = \"lead\"\n",
        2 => *file += "again = \"absorb\"\n",
        3 => *file += "again = \"text\"\n",
        4 => *file += "pauses = \"thinking\"\n",
        _ => {}
    }
}

fn literals(input: &mut Input<'_>) -> String {
    let list: Vec<String> =
        (0..1 + input.below(2)).map(|_| format!("\"{}\"", MARKERS[input.below(MARKERS.len())])).collect();
    list.join(", ")
}
