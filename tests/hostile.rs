//! Puts hostile strings into every value of every form of a dialect's calls. For any string, the call must have the same name and
//! the same other arguments, and no other call may be reported. `ASIDE_SEED` sets the seed, which a failure prints. `ASIDE_HOSTILE`
//! is the number of strings for each dialect, and `ASIDE_DIALECT` selects one dialect. With `--nocapture`, the first failure of each
//! kind is printed at once, and each dialect when it is done.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use samples::Random;
use support::hostile::{Cuts, Fault, Subject, Trial, Way};

/// For each kind of failure, the number of failures and the shortest one.
type Failures = BTreeMap<(String, &'static str), (usize, Trial, Fault)>;

fn subjects() -> Vec<Subject> {
    let wanted = std::env::var("ASIDE_DIALECT").ok();
    let mut subjects = Subject::all();
    subjects.retain(|subject| wanted.as_ref().is_none_or(|wanted| *wanted == subject.pair.reference.name));
    subjects
}

#[test]
fn every_form_holds_plain_values() {
    let mut random = Random::announced("every_form_holds_plain_values");
    let mut failures = Vec::new();
    for subject in &subjects() {
        for form in 0..subject.forms.len() {
            let trials = (0..200).map(|number| {
                let way = Way::new(random.next() as usize);
                Trial { form, way, has_tools: number % 2 == 0, hostile: "x y".into() }
            });
            failures.extend(trials.filter_map(|trial| trial.check(subject, Cuts::Random(1)).err()).next());
        }
    }
    failures.iter().for_each(|fault| println!("{}: {}", fault.kind, fault.shown));
    assert!(failures.is_empty());
}

#[test]
fn a_value_is_only_a_value() {
    let count = std::env::var("ASIDE_HOSTILE").map_or(2000, |count| count.parse().unwrap());
    let seed = Random::announced("a_value_is_only_a_value").next();
    let subjects = subjects();
    let failures: Mutex<Failures> = Mutex::default();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(subject) = subjects.get(next.fetch_add(1, Ordering::Relaxed)) {
                    try_many(subject, count, seed, &failures);
                    println!("{}: {count} strings", subject.pair.reference.name);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    for ((dialect, kind), (count, trial, fault)) in &failures {
        println!("{dialect}: {kind}: {count} of the strings, among them {:?}\n  {}", trial.hostile, fault.shown);
    }
    assert!(failures.is_empty(), "values act: {} kinds of failures are above", failures.len());
}

fn try_many(subject: &Subject, count: usize, seed: u64, failures: &Mutex<Failures>) {
    let name = &subject.pair.reference.name;
    let own = name.bytes().fold(seed, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let mut random = Random::new(own);
    for number in 0..count {
        let trial = Trial::random(subject, &mut random);
        // Some texts are cut at every place, and the others in one random way.
        let is_short = number % 100 == 0 && trial.hostile.len() < 60;
        let cuts = if is_short { Cuts::Twos } else { Cuts::Random(random.next()) };
        let Err(fault) = trial.check(subject, cuts) else { continue };
        let mut failures = failures.lock().unwrap();
        let key = (name.clone(), fault.kind);
        if !failures.contains_key(&key) {
            println!("{name}: {}: {:?}\n  {}", fault.kind, trial.hostile, fault.shown);
        }
        let count = failures.get(&key).map_or(0, |(count, ..)| *count) + 1;
        // A failure is only shortened if it may become the shortest one.
        let (trial, fault) = match failures.remove(&key) {
            Some((_, last, shown)) if last.hostile.len() < trial.hostile.len() / 2 => (last, shown),
            Some((_, last, shown)) => {
                let (trial, fault) = shortened(subject, trial, fault);
                if last.hostile.len() <= trial.hostile.len() { (last, shown) } else { (trial, fault) }
            }
            None => shortened(subject, trial, fault),
        };
        failures.insert(key, (count, trial, fault));
    }
}

/// Removes parts of a string as long as it still fails in the same way.
fn shortened(subject: &Subject, mut trial: Trial, mut fault: Fault) -> (Trial, Fault) {
    let mut len = trial.hostile.chars().count() / 2;
    while len > 0 {
        let mut from = 0;
        while from + len <= trial.hostile.chars().count() {
            let chars = trial.hostile.chars().enumerate();
            let hostile = chars.filter(|(at, _)| !(from..from + len).contains(at)).map(|(_, char)| char).collect();
            let less = Trial { hostile, ..trial.clone() };
            match less.check(subject, Cuts::Random(1)) {
                Err(same) if same.kind == fault.kind => (trial, fault) = (less, same),
                _ => from += 1,
            }
        }
        len /= 2;
    }
    (trial, fault)
}
