//! Makes random dialects, as hosts may write them. With each dialect that the library accepts, it must read texts as the reference
//! does, however they are cut. `ASIDE_SEED` sets the seed, which a failure prints. `ASIDE_MADE` is the number of dialects.

use aside::{Channel, Dialect, Scanner, ScannerOptions, Start};
use samples::{Random, Texts, made};
use support::Pair;

#[test]
fn made_dialects_are_read_as_the_reference_reads_them() {
    let mut random = Random::announced("made_dialects");
    let count = std::env::var("ASIDE_MADE").map_or(12_000, |count| count.parse().unwrap());
    let (mut taken, mut with_calls) = (0, 0);
    for _ in 0..count {
        let toml = made(&mut random);
        match Dialect::load(&toml) {
            Ok(_) => {}
            Err(error) => {
                assert!(error.line().is_some(), "{error}\n{toml}");
                continue;
            }
        }
        taken += 1;
        let pair = Pair::parse(&toml);
        let texts = Texts::new(&pair.reference);
        for _ in 0..3 {
            let length = 1 + random.below(60);
            let text = texts.next(&mut random, length);
            let shown = || format!("{}\n{toml}", text.escape_ascii());
            for start in pair.reference.starts() {
                let wanted = reference::read(&pair.reference, &text, Some(start));
                let check = |chunks: &[&[u8]]| {
                    let got = support::run(&mut support::scanner(&pair.library, Some(start), None), chunks);
                    if let Some(difference) = support::difference(&wanted, &got) {
                        panic!("from {start}: {difference}\n  chunks {}\n  text {}", support::shown(chunks), shown());
                    }
                };
                check(&[&text]);
                check(&support::bytes(&text));
                check(&support::random_cuts(&mut random, &text, 5));
                let tokens = support::tokens(&text, &mut random);
                let special = support::special(&tokens);
                let wanted_of_tokens = reference::read_tokens(&pair.reference, &text, Some(start), &special);
                for stops in [false, true] {
                    let mut scanner = support::scanner(&pair.library, Some(start), None);
                    let got = support::feed_tokens(&mut scanner, &text, &tokens, &mut random, stops);
                    let difference = support::difference(&wanted_of_tokens, &got);
                    assert_eq!(difference, None, "from {start}: {tokens:?}\n{}", shown());
                }
                if pair.has_calls() {
                    with_calls += 1;
                    let wanted = reference::read_with_calls(&pair.reference, &text, Some(start));
                    let mut random_cuts = || support::random_cuts(&mut random, &text, 5);
                    for chunks in [vec![&text[..]], support::bytes(&text), random_cuts(), random_cuts()] {
                        if let Some(difference) = pair.difference_of_calls(Some(start), &chunks, &wanted) {
                            let chunks = support::shown(&chunks);
                            panic!("calls from {start}: {difference}\n  chunks {chunks}\n  text {}", shown());
                        }
                    }
                    let wanted = reference::read_tokens_with_calls(&pair.reference, &text, Some(start), &special);
                    let options = ScannerOptions::new().start(start.parse::<Start>().unwrap()).calls(true);
                    let mut scanner = Scanner::with_options(&pair.library, &options).unwrap();
                    let mut got = Vec::new();
                    support::feed_some_tokens(&mut scanner, &text, &tokens, &mut random, true, &mut got);
                    scanner.finish(|event| support::push(&mut got, event)).unwrap();
                    let difference = support::difference(&wanted, &reference::joined_with_calls(&got));
                    assert_eq!(difference, None, "calls from {start}: {tokens:?}\n{}", shown());
                }
                // The host's option to remove closers is compared only if the dialect has this key. Without it, another marker may
                // count in place of such a closer.
                if pair.reference.extra_close.as_deref() == Some("drop") {
                    for (stray_close, stray) in support::STRAYS {
                        let wanted = reference::read_with_stray(&pair.reference, &text, Some(start), stray);
                        for chunks in [support::bytes(&text), support::random_cuts(&mut random, &text, 5)] {
                            let mut scanner = support::scanner_with_stray(&pair.library, start, stray_close);
                            let difference = support::difference(&wanted, &support::run(&mut scanner, &chunks));
                            assert_eq!(difference, None, "{stray:?} from {start}: {}", shown());
                        }
                    }
                }
                if pair.reference.start.as_deref() == Some(start) {
                    let wanted = reference::read_ended(&pair.reference, &text);
                    for chunks in [support::bytes(&text), support::random_cuts(&mut random, &text, 5)] {
                        let got = support::run_ended(&mut Scanner::new(&pair.library), &chunks);
                        assert_eq!(support::difference(&wanted, &got), None, "ended, from {start}: {}", shown());
                    }
                }
                let mut collecting = support::scanner(&pair.library, Some(start), Some(1 << 20));
                let (events, thoughts) =
                    support::collect_whole(&mut collecting, &support::random_cuts(&mut random, &text, 5));
                assert_eq!(support::difference(&wanted, &events), None, "from {start}: {}", shown());
                assert_eq!(thoughts, reference::thoughts(&pair.reference, &wanted), "from {start}: {}", shown());
            }
            // If a dialect has spans without openers, text may open a span without a marker, so escaping is not checked.
            let is_bare = pair.reference.spans.iter().any(|span| span.bare);
            let Some(safe) = pair.library.escape(&text).ok().filter(|_| !is_bare) else { continue };
            for start in [Start::Channel(Channel::Content), Start::Header] {
                let options = ScannerOptions::new().start(start);
                let Ok(mut scanner) = Scanner::with_options(&pair.library, &options) else { continue };
                let events = support::run(&mut scanner, &[&safe]);
                let is_text = |event: &reference::Event| event.what == reference::What::Text;
                assert!(events.iter().all(is_text), "a marker is left from {start:?}: {events:?}\n{}", shown());
            }
        }
    }
    assert!(taken * 20 > count, "of {count} dialects only {taken} are taken");
    assert!(with_calls > taken, "of {taken} dialects only {with_calls} texts were read by tables of calls");
}
