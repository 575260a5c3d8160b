//! Reads a text of a dialect from a start, cut as the input says: the scanner must have the reference's result for the whole text.
//! Then a host also flushes, closes, finishes, resets, clones and stops: it must get the same as without stops, and if it drops the
//! rest of a chunk, every consumed byte.
//!
//! Input: the dialect's name and a newline, the start, the number of chunk lengths, the lengths, the number of the host's actions,
//! the actions, and the text.

use std::path::PathBuf;
use std::sync::LazyLock;

use aside::{
    Budget, BudgetScope, BudgetUnit, CallsInThinking, Channel, Counts, Error, Scanner, ScannerOptions, Start,
    StrayClose, Thought, Token,
};
use samples::Random;
use support::{Pair, ROOT};

use super::{Input, contract, cut};

/// The files of all dialects, with their examples: the built-in ones and those of the tests. Miri needs long to read a dialect, so
/// it has only two: one with attributes and one with headers.
pub static FILES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folders = ["dialects", "tests/dialects"].map(|folder| support::files(format!("{ROOT}/{folder}")));
    let is_wanted = |path: &PathBuf| {
        let name = path.file_stem().unwrap();
        let is_read = !cfg!(miri) || name == "thinking-tags" || name == "harmony";
        is_read && path.extension().is_some_and(|end| end == "toml")
    };
    let paths = folders.into_iter().flatten().filter(is_wanted);
    paths.map(|path| std::fs::read_to_string(path).unwrap()).collect()
});

/// The dialects of these files, in the same order.
pub static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| FILES.iter().map(|file| Pair::parse(file)).collect());

/// Returns the dialect of this name. An unknown name also selects a dialect, so that no input is wasted.
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
    let acts = input.lengths();
    let text = input.rest;

    let wanted = reference::read(&pair.reference, text, Some(start));
    let chunks = cut(text, lengths);
    let options = ScannerOptions::new().start(start.parse::<Start>().unwrap());
    let got = contract(&pair.library, &options, text, &chunks).unwrap();
    pair.same(Some(start), &chunks, &wanted, &got);
    let got = support::run_stopping(&mut support::scanner(&pair.library, Some(start), None), &chunks);
    pair.same(Some(start), &chunks, &wanted, &got);
    pair.check(Some(start), &support::bytes(text), &wanted);
    for (stray_close, stray) in support::STRAYS {
        let wanted = reference::read_with_stray(&pair.reference, text, Some(start), stray);
        let got = contract(&pair.library, &options.stray_close(stray_close), text, &chunks).unwrap();
        pair.same(Some(start), &chunks, &wanted, &got);
    }

    if pair.reference.start.as_deref() == Some(start) {
        let wanted = reference::read_ended(&pair.reference, text);
        let mut scanner = Scanner::new(&pair.library);
        pair.same(None, &chunks, &wanted, &support::run_ended(&mut scanner, &chunks));
    }

    let tokens = tokens(&chunks);
    let wanted = reference::read_tokens(&pair.reference, text, Some(start), &support::special(&tokens));
    for stops in [false, true] {
        let mut scanner = support::scanner(&pair.library, Some(start), None);
        let got = support::feed_tokens(&mut scanner, text, &tokens, &mut Random::new(data.len() as u64), stops);
        pair.same(Some(start), &chunks, &wanted, &got);
    }
    token_numbers(pair, start, text, &tokens);
    if pair.has_calls() {
        calls(pair, start, text, &chunks, &tokens);
    }
    if !acts.is_empty() {
        host(pair, start, &chunks, acts);
    }
}

/// A host's action after a chunk. All other numbers of actions mean no call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    None,
    Flush,
    ForceClose,
    Finish,
    Reset,
    Clone,
    TakeThoughts,
    StartFromPrompt,
}

const ACTS: [Act; 16] = [
    Act::None,
    Act::None,
    Act::Flush,
    Act::Flush,
    Act::ForceClose,
    Act::ForceClose,
    Act::Finish,
    Act::Finish,
    Act::Reset,
    Act::Clone,
    Act::TakeThoughts,
    Act::StartFromPrompt,
    Act::None,
    Act::Finish,
    Act::Flush,
    Act::None,
];

/// The action that makes the first chunk a prompt.
pub const PROMPT: u8 = 11;

/// Everything that a host sees.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// The bytes of the current stream that have been fed, and the number of events of earlier streams.
    fed: Vec<u8>,
    ended: usize,
    events: Vec<reference::Event>,
    thoughts: Vec<Thought>,
    starts: Vec<Start>,
    held: Vec<Vec<u8>>,
    counts: Vec<[Counts; 4]>,
}

/// Stops inside chunks: if the rest is fed later, a host must see the same as without stops. If the rest is dropped, it must see
/// every consumed byte.
fn host(pair: &Pair, start: &str, chunks: &[&[u8]], acts: &[u8]) {
    let first = acts[0];
    let budget = (first & 1 == 1).then(|| {
        let unit = if first & 2 == 0 { BudgetUnit::Bytes } else { BudgetUnit::Characters };
        let scope = if first & 4 == 0 { BudgetScope::Span } else { BudgetScope::Stream };
        Budget::new(u64::from(first >> 4), unit, scope)
    });
    let options = ScannerOptions::new()
        .start(start.parse::<Start>().unwrap())
        .calls(first & 8 == 0)
        .budget(budget)
        .collect((first & 32 == 0).then_some(usize::from(first) * 4))
        .stray_close(match first >> 6 {
            0 | 2 => StrayClose::Dialect,
            1 => StrayClose::Text,
            _ => StrayClose::Drop,
        })
        .calls_in_thinking(if first & 128 == 0 { CallsInThinking::Dialect } else { CallsInThinking::Never });
    let run = |stops: bool, drops: bool| {
        let mut scanner = Scanner::with_options(&pair.library, &options).unwrap();
        let mut seen = Seen::default();
        for (chunk, act) in chunks.iter().zip(acts.iter().cycle()) {
            let kind = ACTS[usize::from(act & 15)];
            // Before a stream's first byte, a chunk may be its prompt.
            if kind == Act::StartFromPrompt
                && let Ok(start) = scanner.start_from_prompt(chunk)
            {
                seen.starts.push(start);
                continue;
            }
            let most = if stops && act & 16 == 0 { 1 + usize::from(act >> 5) } else { usize::MAX };
            let mut rest = *chunk;
            loop {
                let mut events = scanner.events(rest);
                let mut count = 0;
                while count < most
                    && let Some(event) = events.next().unwrap()
                {
                    support::push(&mut seen.events, event);
                    count += 1;
                }
                let (done, left) = rest.split_at(events.consumed());
                seen.fed.extend_from_slice(done);
                rest = left;
                if drops || count < most {
                    break;
                }
            }
            act_of(&mut scanner, kind, chunk, stops && act & 128 != 0, &mut seen);
        }
        act_of(&mut scanner, Act::Finish, b"", false, &mut seen);
        act_of(&mut scanner, Act::TakeThoughts, b"", false, &mut seen);
        seen.events = reference::joined_with_calls(&reference::joined(&seen.events));
        seen
    };
    let (wanted, got) = (run(false, false), run(true, false));
    let difference = support::difference(&wanted.events, &got.events).unwrap_or_default();
    let name = &pair.reference.name;
    assert!(
        wanted == got,
        "{name} from {start}: {difference}\n  {options:?} {acts:?}\n  chunks {}\n{wanted:?}\n{got:?}",
        support::shown(chunks)
    );
    run(true, true);
}

fn act_of(scanner: &mut Scanner, act: Act, chunk: &[u8], stops: bool, seen: &mut Seen) {
    // The next call reports the pending events. Of the actions, only these report events, so before the others, an empty feed does
    // it.
    if !matches!(act, Act::Flush | Act::ForceClose | Act::Finish) {
        scanner.feed(b"", |event| support::push(&mut seen.events, event)).unwrap();
    }
    loop {
        let mut events = match act {
            Act::Flush => scanner.flush_events(),
            Act::ForceClose => scanner.force_close_events(),
            Act::Finish => scanner.finish_events(),
            _ => break,
        };
        let mut count = 0;
        while (count == 0 || !stops)
            && let Some(event) = events.next().unwrap()
        {
            support::push(&mut seen.events, event);
            count += 1;
        }
        if count == 0 || !stops {
            break;
        }
    }
    if matches!(act, Act::Flush | Act::ForceClose | Act::Finish) {
        let told = seen.events[seen.ended..].iter().flat_map(|event| &event.bytes);
        assert!(told.eq(&seen.fed) || act == Act::ForceClose, "bytes are lost: {} {act:?}", seen.fed.escape_ascii());
    }
    if matches!(act, Act::Finish | Act::Reset) {
        (seen.fed, seen.ended) = (Vec::new(), seen.events.len());
    }
    match act {
        Act::Reset => scanner.reset(),
        Act::Clone => {
            let twin = scanner.try_clone().unwrap();
            scanner.feed(chunk, |_| ()).unwrap();
            *scanner = twin;
        }
        Act::TakeThoughts => seen.thoughts.extend(std::iter::from_fn(|| scanner.take_thought())),
        Act::StartFromPrompt => assert_eq!(scanner.start_from_prompt(chunk), Err(Error::StreamBegun)),
        Act::Flush => scanner.flush(|event| panic!("nothing was left to flush: {event:?}")).unwrap(),
        _ => {}
    }
    seen.held.push(scanner.held().to_vec());
    seen.counts.push(Channel::ALL.map(|channel| scanner.counts(channel)));
    assert_eq!(scanner.lost_thoughts(), 0);
}

/// Checks the same for a host that wants calls. The spans must be the same as without calls.
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

/// Checks that each event has the numbers of the tokens that begin in its bytes.
fn token_numbers(pair: &Pair, start: &str, text: &[u8], tokens: &[Token]) {
    let begins: Vec<u64> = support::begins(tokens).map(|(at, _)| at as u64).collect();
    for calls in [false, true] {
        let options = ScannerOptions::new().start(start.parse::<Start>().unwrap()).calls(calls);
        let mut scanner = Scanner::with_options(&pair.library, &options).unwrap();
        let mut next = 0;
        let mut see = |event: aside::Event<'_>| {
            let bytes = event.offset..event.offset + event.bytes.len() as u64;
            let wanted = begins.iter().filter(|begin| bytes.contains(begin)).count();
            assert_eq!((event.first_token, event.tokens as usize), (next, wanted), "{event:?} of {tokens:?}");
            next += wanted as u64;
        };
        scanner.feed_tokens(text, tokens, &mut see).unwrap();
        scanner.finish(&mut see).unwrap();
        assert_eq!(next, tokens.len() as u64, "tokens are lost");
    }
}

/// Returns the chunks as tokens. Tokens with an odd length are special.
pub fn tokens(chunks: &[&[u8]]) -> Vec<Token> {
    let token = |chunk: &&[u8]| {
        let length = chunk.len() as u32;
        if length % 2 == 1 { Token::special(length) } else { Token::text(length) }
    };
    chunks.iter().filter(|chunk| !chunk.is_empty()).map(token).collect()
}
