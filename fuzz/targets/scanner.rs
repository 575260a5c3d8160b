//! Reads a text of a dialect from a start, cut as the input says: the scanner must say what the reference says of the
//! whole.
//!
//! Input: the dialect's name and a newline; the start; how many lengths of chunks, and these; the text.

use std::sync::LazyLock;

use aside::{Scanner, ScannerOptions, Start, Token};
use samples::Random;
use support::{Pair, ROOT};

use super::{Input, contract, cut};

/// All dialects, by name: the built-in ones and those of the tests. Miri takes long to read one, so it has two: one with
/// attributes, one with headers.
pub static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let mut pairs = Vec::new();
    for folder in ["dialects", "tests/dialects"] {
        for path in support::files(format!("{ROOT}/{folder}")) {
            let name = path.file_stem().unwrap();
            let is_wanted = !cfg!(miri) || name == "thinking-tags" || name == "harmony";
            if is_wanted && path.extension().is_some_and(|end| end == "toml") {
                pairs.push(Pair::parse(&std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    pairs.sort_by(|a, b| a.reference.name.cmp(&b.reference.name));
    pairs
});

/// The dialect of that name. A name that is none stands for one of them, so that no input is in vain.
pub fn pair(name: &[u8]) -> &'static Pair {
    let any = name.iter().fold(0usize, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let pair = PAIRS.iter().find(|pair| pair.reference.name.as_bytes() == name);
    pair.unwrap_or_else(|| &PAIRS[any % PAIRS.len()])
}

pub fn run(data: &[u8]) {
    let mut input = Input { rest: data };
    let pair = pair(input.until(b'\n'));
    let starts = pair.reference.starts();
    let start = starts[input.below(starts.len())];
    let lengths = input.lengths();
    let text = input.rest;

    let wanted = reference::read(&pair.reference, text, Some(start));
    let chunks = cut(text, lengths);
    let options = ScannerOptions::new().start(start.parse::<Start>().unwrap());
    let got = contract(&pair.library, &options, text, &chunks).unwrap();
    pair.same(Some(start), &chunks, &wanted, &got);
    let got = support::run_stopping(&mut support::scanner(&pair.library, Some(start), None), &chunks);
    pair.same(Some(start), &chunks, &wanted, &got);
    pair.check(Some(start), &support::bytes(text), &wanted);

    let tokens = tokens(&chunks);
    let wanted = reference::read_tokens(&pair.reference, text, Some(start), &support::special(&tokens));
    for stops in [false, true] {
        let mut scanner = support::scanner(&pair.library, Some(start), None);
        let got = support::feed_tokens(&mut scanner, text, &tokens, &mut Random::new(data.len() as u64), stops);
        pair.same(Some(start), &chunks, &wanted, &got);
    }
    if pair.has_calls() {
        calls(pair, start, text, &chunks, &tokens);
    }
}

/// The same for a host that wants calls told apart, and the same spans.
fn calls(pair: &Pair, start: &str, text: &[u8], chunks: &[&[u8]], tokens: &[Token]) {
    let options = ScannerOptions::new().start(start.parse::<Start>().unwrap()).calls(true);
    let wanted = reference::read_with_calls(&pair.reference, text, Some(start));
    let got = contract(&pair.library, &options, text, chunks).unwrap();
    pair.same(Some(start), chunks, &wanted, &reference::joined_with_calls(&got));
    pair.check_calls(Some(start), &support::bytes(text), &wanted);

    let wanted = reference::read_tokens_with_calls(&pair.reference, text, Some(start), &support::special(tokens));
    let mut scanner = Scanner::with_options(&pair.library, &options).unwrap();
    let (mut random, mut got) = (Random::new(text.len() as u64), Vec::new());
    support::feed_some_tokens(&mut scanner, text, tokens, &mut random, true, &mut got);
    scanner.finish(|event| support::push(&mut got, event)).unwrap();
    pair.same(Some(start), chunks, &wanted, &reference::joined_with_calls(&got));
}

/// The chunks as tokens, of which those of an odd length are special.
pub fn tokens(chunks: &[&[u8]]) -> Vec<Token> {
    let token = |chunk: &&[u8]| {
        let length = chunk.len() as u32;
        if length % 2 == 1 { Token::special(length) } else { Token::text(length) }
    };
    chunks.iter().filter(|chunk| !chunk.is_empty()).map(token).collect()
}
