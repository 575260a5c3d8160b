//! Checks invariants of the table: its fast paths agree with its cells, and there are states for every position in text.

use std::collections::BTreeSet;

use samples::Random;

use super::{
    accel::{Accel, Accels},
    config::{self, Config, Stage},
    places::is_rare,
    state::{EVERY_BYTE, Exit, FALLBACK, Origin, StateId, StateInfo},
    table::{Automaton, MOST_STATES, Room, Run},
};
use crate::{
    Dialect, Event, Kind, Scanner, ScannerOptions, StrayClose,
    matcher::{
        bytes::{contains, insert},
        code::{self, CodeTracker},
        grammar::{Grammar, LineRule},
    },
};

/// Returns the table of a dialect, with all rows filled for which there is room.
fn automaton(dialect: &Dialect) -> &Automaton {
    dialect.compiled.automaton.fill_all(&dialect.compiled.grammar);
    &dialect.compiled.automaton
}

/// Returns the expected result of `run`, computed byte by byte.
fn slowly(automaton: &Automaton, mut state: StateId, text: &[u8]) -> (usize, StateId, Option<Exit>) {
    for (at, &byte) in text.iter().enumerate() {
        let cell = automaton.cell(state, byte);
        if !automaton.is_state(cell) {
            return (at, state, Some(Exit::of_cell(cell)));
        }
        state = cell;
    }
    (text.len(), state, None)
}

fn accelerated(automaton: &Automaton) -> impl Iterator<Item = &Accel> {
    automaton.all_states().filter_map(|state| automaton.accels.of(state).filter(|accel| accel.state == state))
}

#[test]
fn what_is_passed_over_leads_where_all_bytes_lead() {
    let mut random = Random::new(7);
    let (mut far, mut passes, mut exits) = (0, 0, 0);
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let automaton = automaton(&dialect);
        let count = automaton.all_states().count();
        for round in 0..1_000 {
            let state = 1 + random.below(count) as StateId;
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
            assert_eq!((read, end.state(), exit), wanted, "{name}, from {state}: {text:?}");
            let walked = exit.is_none().then_some((end.state(), text.is_ascii()));
            let shown = |(info, is_ascii): (StateInfo, bool)| (info.state(), is_ascii);
            assert_eq!(automaton.walk(state, &text).map(shown), walked, "{name}, from {state}: {text:?}");
            far += usize::from(exit.is_none());
            exits += usize::from(exit.is_some_and(|exit| exit != Exit::Fallback));
            if let Some(passed) = automaton.pass(state, &text) {
                assert_eq!(Some(shown(passed)), walked, "{name}: {text:?}");
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
    let mut accels = Accels::new(1);
    let set = |bytes: &[u8]| {
        let mut set = [0; 4];
        bytes.iter().for_each(|&byte| insert(&mut set, byte));
        set
    };
    let sets = [set(b"abc"), set(b"0123"), set(b"b"), set(b"ab")];
    let masks = sets.map(|set| accels.add_loop(&set));
    assert_eq!(sets.map(|set| accels.loop_mask(&set)), masks, "the same bytes have the same bit");
    for (set, mask) in sets.iter().zip(masks) {
        for byte in 0..=u8::MAX {
            assert_eq!(accels.loop_sets[usize::from(byte)] & mask == 0, contains(set, byte), "{byte}");
        }
    }
    assert_eq!(accels.add_loop(&set(b"x")), EVERY_BYTE, "all bits are taken");
}

#[test]
fn every_state_that_holds_nothing_is_found_by_its_code() {
    let mut count = 0;
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let automaton = automaton(&dialect);
        for state in automaton.all_states().filter(|&state| automaton.info(state).held() == 0) {
            let Origin { code, framing, .. } = automaton.origin(state);
            let found = automaton.enter(&dialect.compiled.grammar, automaton.config(state), &code, framing);
            assert_eq!(found.state(), state, "{name}");
            count += 1;
        }
    }
    assert!(count > 1_000, "{count}");
}

/// Returns the configurations that a stream reaches in a dialect's examples and for which the table has no states.
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
            // Here the text is read by tables of calls or as JSON, not by the automaton.
            if scanner.is_outside_table() {
                continue;
            }
            let config = scanner.config();
            let lines = dialect.compiled.grammar.region(config.region).lines;
            let has_states = [CodeTracker::in_prose(lines), CodeTracker::NEW].iter().any(|code| {
                let state = automaton(dialect).enter(&dialect.compiled.grammar, &config, code, 0);
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
                let state = automaton(&dialect).enter(grammar, &settled, &prose, 0);
                assert!(!state.is_fallback(), "{name}, region {number}: {settled:?}");
            }
        }
    }
}

#[test]
fn rare_states_leave_room_for_others() {
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let automaton = automaton(&dialect);
        let count = |is_counted: &dyn Fn(StateId) -> bool| automaton.all_states().filter(|&it| is_counted(it)).count();
        let of_rare = |state: StateId| is_rare(&automaton.origin(state).code);
        assert!(count(&of_rare) <= MOST_STATES / 2, "{name}");
        for Room { config, most, .. } in &automaton.rooms {
            let is_of = |state: StateId| automaton.config(state) == config;
            assert!(count(&is_of) <= usize::from(*most), "{name}: {config:?}");
            assert!(count(&|state| is_of(state) && of_rare(state)) <= usize::from(most / 2), "{name}: {config:?}");
        }
        assert!(automaton.info(FALLBACK).is_fallback());
    }
}

#[test]
fn prose_is_accelerated_in_whole_messages_and_in_tokens() {
    let prose = "Plain words, as most of a stream is. ".repeat(9);
    let text = format!("<think>\n{prose}\n</think>\n\n{prose}");
    let file = "name = 'own'\n[[span]]\nchannel = 'thinking'\nopen = ['<think>']\nclose = ['</think>']";
    for size in [4, text.len()] {
        let dialect = Dialect::load(file).unwrap();
        let mut scanner = Scanner::new(&dialect);
        text.as_bytes().chunks(size).for_each(|chunk| scanner.feed(chunk, |_| {}).unwrap());
        let regions =
            accelerated(&dialect.compiled.automaton).map(|it| dialect.compiled.automaton.config(it.state).region);
        assert!(regions.collect::<BTreeSet<_>>().len() > 1, "in chunks of {size} bytes");
    }
}

/// A child process of `fork` has a table whose lock nobody will release. The child must still be able to read streams.
#[test]
fn a_stream_does_not_wait_for_the_lock() {
    for name in Dialect::names() {
        let text = std::fs::read_to_string(format!("{}/dialects/{name}.toml", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let examples = toml::from_str::<toml::Table>(&text).unwrap()["example"].as_array().unwrap().clone();
        let (free, locked) = (Dialect::load(&text).unwrap(), Dialect::load(&text).unwrap());
        let _lock = locked.compiled.automaton.book.lock().unwrap();
        let count = locked.compiled.automaton.all_states().count();
        for input in examples.iter().map(|example| example["input"].as_str().unwrap()) {
            for size in [1, 5, input.len().max(1)] {
                let read = |dialect: &Dialect| {
                    let (mut scanner, mut all) = (Scanner::new(dialect), String::new());
                    // Text may be cut into events anywhere.
                    let mut see = |event: Event<'_>| match event.kind {
                        Kind::Text => all += &String::from_utf8_lossy(event.bytes),
                        kind => all += &format!("\n{kind:?} {}\n", event.offset),
                    };
                    input.as_bytes().chunks(size).for_each(|chunk| scanner.feed(chunk, &mut see).unwrap());
                    scanner.finish(&mut see).unwrap();
                    all
                };
                assert_eq!(read(&locked), read(&free), "{name}: {input:?}");
            }
        }
        assert_eq!(locked.compiled.automaton.all_states().count(), count, "{name}");
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
            let Some(number) = tracker.number().filter(|number| !trackers.contains(number)) else { continue };
            trackers.insert(number);
            assert!(tracker.begins_json() || CodeTracker::of_number(number) == tracker, "{tracker:?}");
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
