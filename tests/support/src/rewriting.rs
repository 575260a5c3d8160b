//! Feeds a stream in chunks to a rewriter, for all formats except chat.

use std::path::Path;

use aside::Dialect;
use aside::sse::{Options, Rewriter};
use samples::{Random, Texts};

use crate::{Pair, ROOT, cuts, files, random_cuts, shown};

/// Returns a rewriter's output for a stream or body in these chunks.
pub fn rewrite_bytes(dialect: &Dialect, options: &Options, chunks: impl IntoIterator<Item: AsRef<[u8]>>) -> Vec<u8> {
    let mut rewriter = Rewriter::new(dialect, options).unwrap();
    let mut out = Vec::new();
    for chunk in chunks {
        rewriter.feed(chunk, &mut out).unwrap();
    }
    rewriter.finish(&mut out).unwrap();
    out
}

/// Returns a rewriter's output as a text.
pub fn rewrite(dialect: &Dialect, options: &Options, chunks: impl IntoIterator<Item: AsRef<[u8]>>) -> String {
    String::from_utf8(rewrite_bytes(dialect, options, chunks)).unwrap()
}

/// Returns the rewritten stream or body, checked to be the same at every cut.
pub fn at_every_cut(dialect: &Dialect, options: &Options, input: &str) -> String {
    let input = input.as_bytes();
    let whole = rewrite(dialect, options, [input]);
    for chunks in cuts(input) {
        assert_eq!(rewrite(dialect, options, &chunks), whole, "{}", shown(&chunks));
    }
    whole
}

/// Returns the rewritten stream, checked to be the same at a few random cuts.
pub fn at_random_cuts(dialect: &Dialect, options: &Options, input: &str, random: &mut Random) -> String {
    let whole = rewrite(dialect, options, [input.as_bytes()]);
    for most in [2, 20, 400] {
        let cuts = random_cuts(random, input.as_bytes(), most);
        assert_eq!(rewrite(dialect, options, cuts), whole, "{input}");
    }
    whole
}

/// Reads a stream of a format, or its expected result.
pub fn case(file: &str) -> String {
    let file = Path::new(ROOT).join("tests/sse/formats").join(file);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns the recordings of event streams, with the name of their dialect.
pub fn recordings() -> Vec<(String, String)> {
    let folder = format!("{ROOT}/tests/sse");
    let all = files(&folder).into_iter().chain(files(format!("{folder}/formats")));
    let streams = all.filter(|file| file.extension().is_some_and(|end| end == "sse"));
    let dialect = |name: &str| Dialect::find(name).map_or("qwen3", |_| name).to_owned();
    let named = |file: std::path::PathBuf| {
        let name = file.file_stem().unwrap().to_str().unwrap().split(['-', '.']).next().unwrap().to_owned();
        (dialect(&name), std::fs::read_to_string(file).unwrap())
    };
    streams.map(named).collect()
}

/// Cuts a text between characters into pieces of up to `most` characters, with an empty piece now and then.
pub fn pieces(random: &mut Random, text: &str, most: usize) -> Vec<String> {
    let (mut pieces, mut rest) = (Vec::new(), text.chars().peekable());
    while rest.peek().is_some() {
        let len = random.below(most + 1);
        pieces.push(rest.by_ref().take(len).collect());
    }
    pieces
}

/// Returns texts with markers and with text that resembles markers.
pub fn texts(random: &mut Random, pair: &Pair, count: usize) -> Vec<String> {
    let texts = Texts::new(&pair.reference);
    let text = |random: &mut Random| {
        let length = random.below(120);
        String::from_utf8_lossy(&texts.next(random, length)).into_owned()
    };
    (0..count).map(|_| text(random)).collect()
}

/// Returns the examples of a page in `docs/`: each has two code blocks, the input and the expected output, whose language is that
/// of a stream or a body.
pub fn examples(page: &str) -> Vec<[String; 2]> {
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs").join(page)).unwrap();
    let mut blocks = Vec::new();
    for kind in ["sse", "ndjson", "json"] {
        for block in page.split(&format!("```{kind}\n")).skip(1) {
            let (block, _) = block.split_once("```\n").expect("the end of a block");
            blocks.push(if kind == "sse" { format!("{block}\n") } else { block.to_owned() });
        }
    }
    assert_eq!(blocks.len() % 2, 0, "a block without its other half");
    blocks.chunks(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect()
}

/// Returns copies of a stream, each with one event left out or with one letter or digit changed.
pub fn damaged(stream: &str) -> Vec<String> {
    let events: Vec<&str> = stream.split_inclusive("\n\n").collect();
    let mut all: Vec<String> =
        (0..events.len()).map(|at| [&events[..at], &events[at + 1..]].concat().concat()).collect();
    let letters = stream.char_indices().filter(|(_, character)| character.is_ascii_alphanumeric());
    all.extend(letters.map(|(at, _)| format!("{}4{}", &stream[..at], &stream[at + 1..])));
    all
}

/// Returns the events of a stream in sorted order.
pub fn sorted(stream: &str) -> Vec<&str> {
    let mut events: Vec<&str> = stream.split("\n\n").collect();
    events.sort_unstable();
    events
}
