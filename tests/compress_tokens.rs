//! Tests budgets in tokens, estimated or counted by the host: no result may have more tokens, for any text, any counter and any
//! entry point of the compressor.

#![cfg(feature = "compress")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use aside::compress::*;
use samples::Random;

type Count = fn(&[u8]) -> Result<usize, String>;

const WORDS: [&str; 14] = [
    "error: expected `;`",
    "  --> src/a.rs:3:5",
    "test a::b ... ok",
    "compiling file",
    "====================",
    "日本語のログ",
    "ошибка сборки",
    "⎯⎯⎯⎯⎯⎯⎯⎯",
    "a1b2c3d4e5f60718293a4b5c",
    "\u{1}\u{2}\u{3}",
    "                                                  x",
    "4 8 15 16 23 42",
    "{\"level\":\"error\",\"message\":\"it failed\"}",
    "make: *** [all] Error 1",
];

fn text(random: &mut Random, kind: usize) -> Vec<u8> {
    let lines = 100 + random.below(1500);
    let mut text = Vec::new();
    for line in 0..lines {
        match kind % 4 {
            0 => text.extend_from_slice(format!("{} {line}\n", random.pick(&WORDS)).as_bytes()),
            1 => text.extend((0..random.below(40)).map(|_| random.below(256) as u8)),
            2 => text.extend_from_slice(format!("{}\n", random.pick(&WORDS).repeat(1 + random.below(30))).as_bytes()),
            _ => text.extend_from_slice(format!("{}{line}", WORDS[kind / 4 % WORDS.len()]).as_bytes()),
        }
    }
    text
}

/// Returns the joined results for the texts, and the report.
fn shown(compressor: &Compressor, texts: &[&[u8]]) -> (Vec<u8>, Report) {
    let parts: Vec<Part> = texts.iter().map(|text| Part::Text(text)).collect();
    let result = compressor.compress(&Invocation::new("bash", &Input::of_command("make")), &parts);
    let outcomes = texts.iter().zip(&result.parts).flat_map(|(text, outcome)| match outcome {
        Outcome::Same => text.to_vec(),
        Outcome::Text(text) => text.clone(),
        Outcome::Gone => Vec::new(),
    });
    (outcomes.collect(), result.report)
}

fn streamed(compressor: Arc<Compressor>, text: &[u8], memory: usize, size: usize) -> (Vec<u8>, Report) {
    let mut stream = ToolStream::new(compressor, "bash", Input::of_command("make"), memory).unwrap();
    let mut result = Vec::new();
    text.chunks(size).for_each(|chunk| stream.feed(chunk, |bytes| result.extend_from_slice(bytes)));
    let report = stream.finish(|bytes| result.extend_from_slice(bytes));
    (result, report)
}

fn tokens(tokens: usize) -> Compressor {
    Compressor::new(&Registry::new()).budget_tokens(tokens).unwrap()
}

#[test]
fn no_result_has_more_tokens_than_its_budget() {
    let mut random = Random::announced("no_result_has_more_tokens_than_its_budget");
    for round in 0..160 {
        let (text, most) = (text(&mut random, round), *random.pick(&[MIN_BUDGET_TOKENS, 800, 3000]));
        let whole = Arc::new(tokens(most));
        let bounded = tokens(most).memory(24 * most);
        let results = [
            shown(&whole, &[&text]),
            shown(&bounded, &[&text]),
            streamed(whole.clone(), &text, 1 << 22, text.len().max(1)),
            streamed(whole, &text, 24 * most, 1 + random.below(9000)),
        ];
        for (way, (result, report)) in results.iter().enumerate() {
            let counted = estimated_tokens(result);
            let shown = String::from_utf8_lossy(result);
            assert_eq!(report.failed, [], "round {round}, way {way}");
            assert!(
                counted <= most && result.len() <= 6 * most,
                "round {round}, way {way}: {counted} of {most}\n{shown}"
            );
        }
    }
}

#[test]
fn a_budget_in_tokens_is_used() {
    let log: String = (0..9000).map(|line| format!("unit {line} is built\n")).collect();
    for most in [1000, 4000] {
        let counted = estimated_tokens(&shown(&tokens(most), &[log.as_bytes()]).0);
        assert!(counted * 100 >= most * 85, "{counted} of {most}");
    }
}

#[test]
fn parts_share_a_budget_and_the_smaller_of_two_holds() {
    let log: String = (0..3000).map(|line| format!("unit {line} is built\n")).collect();
    let result = shown(&tokens(2000), &[log.as_bytes(), log.as_bytes(), b"short"]).0;
    assert!((1500..=2000).contains(&estimated_tokens(&result)), "{}", estimated_tokens(&result));
    let both = Compressor::new(&Registry::new()).budget(1500).unwrap().budget_tokens(2000).unwrap();
    assert!(shown(&both, &[log.as_bytes()]).0.len() <= 1500);
    let both = Compressor::new(&Registry::new()).budget_tokens(600).unwrap().budget(50_000).unwrap();
    assert!(estimated_tokens(&shown(&both, &[log.as_bytes()]).0) <= 600);
}

#[test]
fn the_hosts_count_holds() {
    let mut random = Random::announced("the_hosts_count_holds");
    let counts: [fn(&[u8]) -> usize; 4] = [
        |text| text.len().div_ceil(2),
        |text| text.len() / 5,
        |text| estimated_tokens(text) * 3 / 2,
        |text| String::from_utf8_lossy(text).chars().count() / 2,
    ];
    for round in 0..60 {
        let (text, most, count) = (text(&mut random, 4 * round), 1500, counts[round % 4]);
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        let compressor = Arc::new(tokens(most).count_tokens(move |text| {
            counter.fetch_add(1, Relaxed);
            Ok(count(text))
        }));
        let ways: [&dyn Fn() -> (Vec<u8>, Report); 3] =
            [&|| shown(&compressor, &[&text]), &|| streamed(compressor.clone(), &text, 1 << 22, 5000), &|| {
                streamed(compressor.clone(), &text, 24 * most, 5000)
            }];
        for (way, run) in ways.iter().enumerate() {
            asked.store(0, Relaxed);
            let (result, report) = run();
            let (counted, asked) = (count(&result), asked.load(Relaxed));
            assert_eq!(report.failed, [], "round {round}, way {way}, asked {asked} times: {counted}");
            assert!((1..=8).contains(&asked) && counted <= most, "round {round}, way {way}: {asked}, {counted}");
        }
    }
}

#[test]
fn a_count_that_fails_or_lies_changes_nothing_but_the_report() {
    let log: String = (0..9000).map(|line| format!("unit {line} is built\n")).collect();
    let plain = shown(&tokens(1000), &[log.as_bytes()]).0;
    let failing: [Count; 2] = [|_| Err("no tokenizer".to_owned()), |_| panic!("a bug")];
    for (fail, reason) in failing.into_iter().zip(["no tokenizer", "a bug"]) {
        let compressor = Arc::new(tokens(1000).count_tokens(fail));
        let (result, report) = shown(&compressor, &[log.as_bytes()]);
        assert_eq!(result, plain);
        assert!(report.failed.len() == 1 && report.failed[0].filter == "count", "{report:?}");
        assert!(report.failed[0].reason.contains(reason), "{report:?}");
        for memory in [1 << 22, 24_000] {
            let (result, report) = streamed(compressor.clone(), log.as_bytes(), memory, 7000);
            assert!(estimated_tokens(&result) <= 1000 && report.failed.len() == 1, "{report:?}");
        }
    }
    for lie in [0, 1001, usize::MAX] {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = asked.clone();
        let compressor = tokens(1000).count_tokens(move |_| {
            counter.fetch_add(1, Relaxed);
            Ok(lie)
        });
        let (result, report) = shown(&compressor, &[log.as_bytes()]);
        assert!(result.len() <= 6000 && asked.load(Relaxed) <= 8, "{lie}: {}", result.len());
        assert_eq!(report.failed.len(), usize::from(lie > 1000), "{lie}: {report:?}");
    }
}

#[test]
fn least_budgets() {
    let error = Compressor::new(&Registry::new()).budget_tokens(MIN_BUDGET_TOKENS - 1).unwrap_err();
    assert_eq!(error.to_string(), "a budget of 511 tokens is too small: the least is 512");
    // The estimate must have at most 1.4 tokens for a byte.
    for text in [&b"a1B2"[..], b"\xff\xff", b"\n\x01\n", b"A A", b"1 2 3", "é".as_bytes()] {
        assert!(estimated_tokens(&text.repeat(100)) <= text.len() * 140, "{text:?}");
    }
    assert_eq!(estimated_tokens(b""), 0);
}
