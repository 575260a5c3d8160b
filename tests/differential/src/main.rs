//! Compares the current scanner with an older one: both get the same random calls, and must return the same results. Other tests
//! compare the scanner with the reference. This one looks for changes of behaviour, in any order of calls. With `rewriters`, it
//! compares the rewriters of event streams and bodies instead; with `agreeing`, those of streams that do not contradict themselves.
//!
//!     differential STREAMS SEED [rewriters|agreeing]
//!
//! `scripts/differential` builds and runs this test. It also fails if one of the listed situations never occurred.

#[path = "../../support/src/accounts.rs"]
#[allow(dead_code)] // Other tests use the rest.
mod accounts;
mod case;
mod rewriters;
mod seen;
mod source;
mod tally;

#[path = "."]
mod before {
    use aside_before as library;

    #[allow(dead_code)] // The options are shown by the other one.
    pub mod rewriting;
    pub mod side;
}

#[path = "."]
mod now {
    use aside as library;

    // The same files are compiled for both libraries.
    #[allow(clippy::duplicate_mod)]
    pub mod rewriting;
    #[allow(clippy::duplicate_mod)]
    pub mod side;
}

use case::{Case, smallest};
use samples::{Random, made};
use seen::Seen;
use source::Source;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tally::Tally;

const THREADS: usize = 2;

/// At most this many streams, one after the other, share a random dialect.
const LOT: u64 = 16;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let [streams, seed] = numbers[..] else {
        eprintln!("differential: give a number of streams and a seed");
        return ExitCode::FAILURE;
    };
    println!("differential: {streams} streams, seed {seed}");
    if let Some(kind) = arguments.get(2) {
        let is_same = rewriters::run(streams, seed, kind == "agreeing");
        return if is_same { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    keep_panics_quiet();
    let run = Run { seed, streams, sources: sources(), next: AtomicU64::new(0), failure: Mutex::new(None) };
    let tallies = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| run.lots())).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect::<Vec<Tally>>()
    });
    if let Some(failure) = run.failure.into_inner().expect("no thread failed") {
        println!("{failure}");
        return ExitCode::FAILURE;
    }
    let tally = tallies.into_iter().reduce(Tally::and).expect("there is a thread");
    if tally.print() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the dialects of `dialects` and `tests/dialects`.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["dialects", "tests/dialects"] {
        let folder = std::fs::read_dir(root.join(folder)).expect("a folder of dialects");
        files.extend(folder.map(|entry| entry.expect("a file").path()));
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let toml = std::fs::read_to_string(file).expect("a dialect's file");
        Source::new(&toml).unwrap_or_else(|failure| panic!("{}: {failure}", file.display())).expect("a dialect")
    };
    let sources: Vec<Source> = files.iter().map(read).collect();
    let has = |name: &str| sources.iter().any(|source| source.name == name);
    assert!(aside::Dialect::names().all(has), "a dialect has no file");
    sources
}

struct Run {
    seed: u64,
    streams: u64,
    sources: Vec<Source>,
    next: AtomicU64,
    failure: Mutex<Option<String>>,
}

impl Run {
    fn random(&self, number: u64) -> Random {
        Random::new(Random::new(self.seed).next() ^ Random::new(number).next())
    }

    fn lots(&self) -> Tally {
        let mut tally = Tally::new(self.sources.iter().map(|source| source.name.clone()));
        loop {
            let first = self.next.fetch_add(LOT, Ordering::Relaxed);
            if first >= self.streams || self.failure.lock().expect("no thread failed").is_some() {
                return tally;
            }
            if let Err(failure) = self.lot(first..self.streams.min(first + LOT), &mut tally) {
                self.failure.lock().expect("no thread failed").get_or_insert(failure);
            }
        }
    }

    fn lot(&self, numbers: std::ops::Range<u64>, tally: &mut Tally) -> Result<(), String> {
        let mut random = self.random(u64::MAX - numbers.start);
        let made = if random.one_in(4) { Some(self.made(&mut random, tally)?) } else { None };
        for number in numbers {
            let mut random = self.random(number);
            let source = made.as_ref().unwrap_or_else(|| self.source(&mut random));
            let case = Case::random(source, &mut random);
            let (before, now) = (seen_before(source, &case), seen_now(source, &case));
            if before != now {
                return Err(self.failure(number, source, case));
            }
            tally.stream(&source.name, &case, &now.0);
        }
        Ok(())
    }

    /// Returns a dialect from a file. Dialects with rare features are chosen more often.
    fn source(&self, random: &mut Random) -> &Source {
        let has_it = random.one_in(3);
        let source = random.pick(&self.sources);
        if has_it && !source.is_rare { self.source(random) } else { source }
    }

    /// Makes a random dialect. The libraries refuse most of them.
    fn made(&self, random: &mut Random, tally: &mut Tally) -> Result<Source, String> {
        loop {
            match Source::new(&made(random))? {
                Some(source) => {
                    tally.add("dialects made at random", 1);
                    return Ok(source);
                }
                None => tally.add("dialects refused", 1),
            }
        }
    }

    fn failure(&self, number: u64, source: &Source, case: Case) -> String {
        let case = smallest(case, |case| seen_before(source, case) != seen_now(source, case));
        let (before, now) = (seen_before(source, &case), seen_now(source, &case));
        let mut text = format!("a difference in stream {number} of seed {}, dialect {}\n", self.seed, source.name);
        if !self.sources.iter().any(|known| std::ptr::eq(known, source)) {
            text += &source.toml;
        }
        text += &format!("{:?}\n", case.setup);
        for step in &case.steps {
            text += &format!("  scanner {}: {:?}\n", step.on, step.call);
        }
        let same = before.0.iter().zip(&now.0).take_while(|(before, now)| before == now).count();
        if let (Some(before), Some(now)) = (before.0.get(same), now.0.get(same)) {
            text += &format!(
                "in result {same}, of which 0 is the scanner as made, and a clone has two:\n{}",
                before.difference(now)
            );
        }
        // Both messages are shown even if only the place of the panic differs.
        if before.1 != now.1 {
            text += &format!("panic\n  before {:?}\n  now    {:?}\n", before.1, now.1);
        }
        text
    }
}

/// The observations of each call, and the message of the panic, if there was one.
type All = (Vec<Seen>, Option<String>);

fn seen_before(source: &Source, case: &Case) -> All {
    seen(|out| before::side::run(&source.before, case, out))
}

fn seen_now(source: &Source, case: &Case) -> All {
    seen(|out| now::side::run(&source.now, case, out))
}

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps panics of the libraries from being printed. They are reported with their case.
fn keep_panics_quiet() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| match IS_CAUGHT.get() {
        true => PANIC.set(panic.to_string()),
        false => hook(panic),
    }));
}

fn seen(run: impl FnOnce(&mut Vec<Seen>)) -> All {
    let mut out = Vec::new();
    IS_CAUGHT.set(true);
    let result = catch_unwind(AssertUnwindSafe(|| run(&mut out)));
    IS_CAUGHT.set(false);
    (out, result.err().map(|_| PANIC.take()))
}
