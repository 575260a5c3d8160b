//! Checks invariants of the table: its fast paths agree with its cells, and there are states for every position in text.

use std::collections::BTreeSet;

use samples::Random;

use super::{
    accel::{Accel, Accels},
    config::{self, Config, Stage},
    state::{EVERY_BYTE, Exit, FALLBACK, StateId},
    table::{Automaton, Run},
};
use crate::{
    Dialect, Scanner, ScannerOptions, StrayClose,
    matcher::{
        bytes::{contains, insert},
        code::{self, CodeTracker},
        grammar::{Grammar, LineRule},
    },
};

fn automaton(dialect: &Dialect) -> &Automaton {
    &dialect.compiled.automaton
}

/// Returns the expected result of `run`, computed byte by byte.
fn slowly(automaton: &Automaton, mut state: StateId, text: &[u8]) -> (usize, StateId, Option<Exit>) {
    for (at, &byte) in text.iter().enumerate() {
        let cell = automaton.cell(state, byte);
        match automaton.exit(cell) {
            Some(exit) => return (at, state, Some(exit)),
            None => state = cell,
        }
    }
    (text.len(), state, None)
}

fn accelerated(automaton: &Automaton) -> impl Iterator<Item = &Accel> {
    let states = 1..automaton.states.len() as StateId;
    states.filter_map(|state| automaton.accels.of(state).filter(|accel| accel.state == state))
}

#[test]
fn what_is_passed_over_leads_where_all_bytes_lead() {
    let mut random = Random::new(7);
    let (mut far, mut passes, mut exits) = (0, 0, 0);
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let automaton = automaton(&dialect);
        for round in 0..1_000 {
            let state = 1 + random.below(automaton.states.len() - 1) as StateId;
            let often = [b'a', b' ', b'\n', b'<', b'`', 0xC3];
            let mut byte = |rare: usize| match random.below(rare) {
                0 => automaton.classes.bytes()[random.below(automaton.classes.len())],
                1 => often[random.below(often.len())],
                _ => b'e',
            };
            let rare = if round % 2 == 0 { 4 } else { 40 };
            let text: Vec<u8> = (0..80).map(|_| byte(rare)).collect();
            let wanted = slowly(automaton, state, &text);
            let Run { read, state: end, exit } = automaton.run(state, &text);
            assert_eq!((read, end, exit), wanted, "{name}, from {state}: {text:?}");
            let walked = exit.is_none().then_some((end, text.is_ascii()));
            assert_eq!(automaton.walk(state, &text), walked, "{name}, from {state}: {text:?}");
            far += usize::from(exit.is_none());
            exits += usize::from(exit.is_some_and(|exit| exit != Exit::Fallback));
            if let Some(passed) = automaton.pass(state, &text) {
                assert_eq!(Some(passed), walked, "{name}: {text:?}");
                passes += 1;
            }
        }
    }
    assert!(far > 5_000 && passes > 500 && exits > 200, "{far} to the end, {passes} passed, {exits} exits");
}

#[test]
fn what_loops_leads_back_and_nothing_else_does() {
    let (mut looping, mut without_bit) = (0, 0);
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let automaton = automaton(&dialect);
        for accel in accelerated(automaton) {
            let mask = automaton.info(accel.state).loop_mask();
            let own = automaton.self_loop(accel.state).unwrap();
            for byte in 0..=u8::MAX {
                let leads_back = byte.is_ascii() && automaton.cell(accel.state, byte) == accel.state;
                assert_eq!(contains(own, byte), leads_back, "{name}: {byte}");
                let loops = automaton.loop_sets()[usize::from(byte)] & mask == 0;
                assert_eq!(loops, leads_back && mask != EVERY_BYTE, "{name}: {byte}");
                looping += usize::from(loops);
            }
            without_bit += usize::from(mask == EVERY_BYTE);
        }
    }
    assert!(looping > 10_000 && without_bit > 10, "{looping} bytes loop, {without_bit} states have no bit");
}

#[test]
fn a_loop_mask_is_of_its_bytes_until_no_bit_is_left() {
    let mut accels = Accels::default();
    let set = |bytes: &[u8]| {
        let mut set = [0; 4];
        bytes.iter().for_each(|&byte| insert(&mut set, byte));
        set
    };
    let sets = [set(b"abc"), set(b"0123"), set(b""), set(b"ab")];
    let masks = sets.map(|set| accels.loop_mask(&set));
    assert_eq!(sets.map(|set| accels.loop_mask(&set)), masks, "the same bytes have the same bit");
    for (set, mask) in sets.iter().zip(masks) {
        for byte in 0..=u8::MAX {
            assert_eq!(accels.loop_sets()[usize::from(byte)] & mask == 0, contains(set, byte), "{byte}");
        }
    }
    assert_eq!(accels.loop_mask(&set(b"x")), EVERY_BYTE, "all bits are taken");
}

#[test]
fn every_state_that_holds_nothing_is_found_by_its_code() {
    let mut count = 0;
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let automaton = automaton(&dialect);
        for starts in automaton.starts.iter().flatten() {
            for &((_, framing), state) in &starts.list {
                let found = automaton.enter(&starts.config, &automaton.origin(state).code, framing);
                assert_eq!(found.state(), state, "{name}");
                count += 1;
            }
        }
    }
    assert!(count > 1_000, "{count}");
}

/// Returns the configurations without a state that a stream has after some byte of a dialect's examples.
fn configs_without_states(name: &str, dialect: &Dialect) -> BTreeSet<String> {
    let mut without = BTreeSet::new();
    let file = format!("{}/dialects/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let file: toml::Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    for example in file["example"].as_array().unwrap() {
        let input = example["input"].as_str().unwrap().as_bytes();
        let start = example.get("start").map(|start| start.as_str().unwrap().parse().unwrap());
        let all = [StrayClose::Dialect, StrayClose::Text, StrayClose::Drop];
        for (end, stray_close) in (0..=input.len()).flat_map(|end| all.map(|stray| (end, stray))) {
            let options = ScannerOptions::new().start(start).stray_close(stray_close);
            let mut scanner = Scanner::with_options(dialect, &options).unwrap();
            scanner.feed(&input[..end], |_| {}).unwrap();
            // Tables of calls read such a body, not the automaton.
            if scanner.is_outside_table() {
                continue;
            }
            let config = scanner.config();
            let lines = dialect.compiled.grammar.region(config.region).lines;
            let has_states = [CodeTracker::in_prose(lines), CodeTracker::NEW].iter().any(|code| {
                let state = automaton(dialect).enter(&config, code, 0);
                !state.is_fallback()
            });
            if !has_states {
                without.insert(format!("region {}, {:?}", config.region, config.stage));
            }
        }
    }
    without
}

/// Configurations without states, with the reason.
const WITHOUT_STATES: [(&str, &str); 0] = [];

#[test]
fn every_configuration_that_an_example_leads_to_has_states() {
    let mut without = Vec::new();
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let configs = configs_without_states(name, &dialect).into_iter();
        without.extend(configs.map(|config| format!("{name}: {config}")));
    }
    let named: Vec<&str> = WITHOUT_STATES.iter().map(|(config, _)| *config).collect();
    assert_eq!(without, named);
}

#[test]
fn every_configuration_that_markers_lead_to_has_prose() {
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let grammar: &Grammar = &dialect.compiled.grammar;
        for number in 0..grammar.regions.len() as u8 {
            for seed in config::seeds(grammar, number, dialect.compiled.used) {
                let settled: Config = seed.config.after(false);
                assert_eq!(settled.stage, Stage::Settled);
                let prose = CodeTracker::in_prose(grammar.region(number).lines);
                let state = automaton(&dialect).enter(&settled, &prose, 0);
                assert!(!state.is_fallback(), "{name}, region {number}: {settled:?}");
            }
        }
    }
}

#[test]
fn no_table_is_full() {
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let automaton = automaton(&dialect);
        let all = automaton.states.len() + automaton.exits.len();
        assert!(all < usize::from(u16::MAX), "{name}: {all} states and exits");
        assert_eq!(automaton.cells.len(), automaton.states.len() * automaton.classes.len(), "{name}");
        assert!(automaton.info(FALLBACK).is_fallback());
    }
}

/// Checks that one byte of each kind is enough for the builder.
#[test]
fn bytes_of_one_kind_change_a_tracker_in_the_same_way() {
    let both = [false, true];
    let rules = both.into_iter().flat_map(|fences| both.map(|inline| (fences, inline)));
    let rules = rules.flat_map(|(fences, inline)| both.map(|words| LineRule::Guard { fences, inline, words }));
    let fences = [false, true].map(|inline| LineRule::Fence { inline });
    for rule in rules.chain(fences) {
        let mut trackers = BTreeSet::new();
        let mut queue = vec![CodeTracker::NEW];
        while let Some(tracker) = queue.pop() {
            if !tracker.is_common() || !trackers.insert(tracker.number()) {
                continue;
            }
            let mut of_kinds = [None; code::KINDS];
            for byte in 0..=u8::MAX {
                let mut next = tracker;
                next.pass(byte, rule);
                let first = *of_kinds[code::kind(byte)].get_or_insert(next);
                assert_eq!(next, first, "{:?} after {tracker:?} by {rule:?}", char::from(byte));
            }
            queue.extend(of_kinds.into_iter().flatten());
        }
        assert!(trackers.len() > 4, "{rule:?}");
    }
}
