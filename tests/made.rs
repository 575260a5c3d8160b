//! Makes dialects at random, as hosts may write them. What the library accepts it must read as the reference does, however
//! the text is cut. `ASIDE_SEED` sets the seed, which a failure shows; `ASIDE_MADE` is the number of dialects.

use aside::{Channel, Dialect, Options, Scanner, Start};
use samples::{Random, Texts, made};
use support::Pair;

#[test]
fn made_dialects_are_read_as_the_reference_reads_them() {
    let mut random = Random::announced("made_dialects");
    let count = std::env::var("ASIDE_MADE").map_or(12_000, |count| count.parse().unwrap());
    let mut taken = 0;
    for _ in 0..count {
        let toml = made(&mut random);
        match Dialect::from_toml(&toml) {
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
                let mut collecting = support::scanner(&pair.library, Some(start), Some(1 << 20));
                let (events, thoughts) =
                    support::collect_whole(&mut collecting, &support::random_cuts(&mut random, &text, 5));
                assert_eq!(support::difference(&wanted, &events), None, "from {start}: {}", shown());
                assert_eq!(thoughts, reference::thoughts(&pair.reference, &wanted), "from {start}: {}", shown());
            }
            let Some(safe) = pair.library.escape(&text).ok() else { continue };
            for start in [Start::Channel(Channel::Content), Start::Header] {
                let options = Options::new().start(start);
                let Ok(mut scanner) = Scanner::with_options(&pair.library, &options) else { continue };
                let events = support::run(&mut scanner, &[&safe]);
                let is_text = |event: &reference::Event| event.what == reference::What::Text;
                assert!(events.iter().all(is_text), "a marker is left from {start:?}: {events:?}\n{}", shown());
            }
        }
    }
    assert!(taken * 20 > count, "of {count} dialects only {taken} are taken");
}
