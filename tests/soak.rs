//! Runs many scanners on many threads with shared dialects. Each must have the same result as a single scanner, and the memory must
//! not grow. The ordinary run is short; `cargo test --profile checked --test soak -- --ignored --nocapture` makes 200,000 scanners
//! and feeds them 10 GB.

use aside::{Channel, Dialect, Kind, Scanner, ScannerOptions};
use samples::{Random, Texts};
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::Instant;
use support::Pair;

/// The number of threads.
const THREADS: usize = 8;
/// The number of scanners that each thread has at a time and feeds in turn.
const ALIVE: usize = 256;

/// A text, and the expected sums of its channels and spans.
struct Case {
    dialect: Dialect,
    text: Vec<u8>,
    wanted: Sum,
}

#[derive(Clone, Copy, Default, PartialEq, Debug)]
struct Sum {
    text: [u64; 4],
    others: u64,
    spans: u64,
    /// A hash of the markers and their places.
    places: u64,
}

impl Sum {
    fn see(&mut self, event: &aside::Event<'_>) {
        match event.kind {
            Kind::Text => self.text[event.channel as usize] += event.bytes.len() as u64,
            _ => self.others += event.bytes.len() as u64,
        }
        self.spans += u64::from(matches!(event.kind, Kind::Open { .. }));
        // A scanner may cut text into events anywhere, so the places of text are left out.
        if event.kind != Kind::Text {
            let first = event.bytes.first().map_or(0, |&byte| u64::from(byte));
            self.places = self.places.wrapping_add((first + 1) * (event.offset + 1));
        }
    }
}

/// A stream and its scanner.
struct Stream<'a> {
    case: &'a Case,
    scanner: Scanner,
    at: usize,
    sum: Sum,
    step: usize,
}

impl<'a> Stream<'a> {
    fn new(cases: &'a [Case], random: &mut Random) -> Stream<'a> {
        let case = random.pick(cases);
        let collect = random.one_in(4).then_some(4096);
        let options = ScannerOptions::new().collect(collect);
        let scanner = Scanner::with_options(&case.dialect, &options).unwrap();
        Stream { case, scanner, at: 0, sum: Sum::default(), step: *random.pick(&[5, 64, 700, 16 << 10]) }
    }

    /// Feeds about another kilobyte, or one chunk. Returns false at the end.
    fn go_on(&mut self) -> bool {
        let until = self.case.text.len().min(self.at + self.step.max(1024));
        while self.at < until {
            let chunk = &self.case.text[self.at..self.case.text.len().min(self.at + self.step)];
            self.scanner.feed(chunk, |event| self.sum.see(&event)).unwrap();
            self.at += chunk.len();
        }
        if self.at < self.case.text.len() {
            return true;
        }
        self.scanner.finish(|event| self.sum.see(&event)).unwrap();
        while self.scanner.take_thought().is_some() {}
        assert_eq!(self.sum, self.case.wanted, "{}", self.case.dialect.name());
        false
    }
}

fn cases(size: usize) -> Vec<Case> {
    let mut random = Random::announced("soak");
    let mut cases = Vec::new();
    for pair in Pair::all() {
        let texts = Texts::new(&pair.reference);
        let mut text = Vec::new();
        while text.len() < size {
            text.extend(texts.next(&mut random, 300));
            text.extend(
                b"Plain words, as most of a stream is: nothing that any dialect would take for more. ".repeat(9),
            );
        }
        text.truncate(size);
        let mut wanted = Sum::default();
        let mut scanner = Scanner::new(&pair.library);
        scanner.feed(&text, |event| wanted.see(&event)).unwrap();
        scanner.finish(|event| wanted.see(&event)).unwrap();
        let text_bytes: u64 = wanted.text.iter().sum();
        assert_eq!(text_bytes + wanted.others, text.len() as u64);
        assert!(wanted.text[Channel::Content as usize] > 0 || wanted.spans > 0);
        cases.push(Case { dialect: pair.library, text, wanted });
    }
    cases
}

/// Returns the resident memory in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Makes `scanners` scanners on each thread, and feeds each of them a text of `size` bytes. The memory may grow by `growth` KiB
/// between the first tenth and the end.
fn soak(scanners: usize, size: usize, growth: u64) {
    // The memory of the whole process is measured, so only one such test may run at a time.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let cases = cases(size);
    let began = Instant::now();
    let (first, last) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (cases, first, last) = (&cases, &first, &last);
            scope.spawn(move || {
                let mut random = Random::new(thread as u64);
                let mut alive: Vec<Stream<'_>> = (0..ALIVE).map(|_| Stream::new(cases, &mut random)).collect();
                let (mut made, mut at) = (ALIVE, 0);
                while !alive.is_empty() {
                    at = (at + 1) % alive.len();
                    if alive[at].go_on() {
                        continue;
                    }
                    if made < scanners {
                        alive[at] = Stream::new(cases, &mut random);
                        made += 1;
                        if made == ALIVE + scanners / 10 {
                            first.wait();
                            first.wait();
                        } else if made == scanners {
                            // Each thread has the same number of scanners as at the first measurement.
                            last.wait();
                            last.wait();
                        }
                    } else {
                        alive.swap_remove(at);
                    }
                }
            });
        }
        first.wait();
        let early = resident();
        first.wait();
        last.wait();
        let late = resident();
        last.wait();
        println!("resident: {early} KiB after a tenth, {late} KiB at the end");
        assert!(late <= early + growth, "memory has grown from {early} to {late} KiB");
    });
    let (count, gigabytes) = (scanners * THREADS, (scanners * THREADS * size) as f64 / 1e9);
    println!("{count} scanners on {THREADS} threads, {gigabytes:.1} GB in {:.0} s", began.elapsed().as_secs_f64());
}

/// Threads fill the rows of new tables at once: each must read its text as a thread alone does.
#[test]
fn tables_are_filled_by_many_threads() {
    for case in cases(4096) {
        let file = format!("{}/dialects/{}.toml", env!("CARGO_MANIFEST_DIR"), case.dialect.name());
        // The dialects of the tests have no file there.
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let dialect = Dialect::load(&text).unwrap();
        let cases = [Case { dialect, ..case }];
        let begin = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (cases, begin) = (&cases, &begin);
                scope.spawn(move || {
                    let mut stream = Stream::new(cases, &mut Random::new(thread as u64));
                    begin.wait();
                    while stream.go_on() {}
                });
            }
        });
    }
}

/// Checks a compressor and a cache that all threads use: each result must be the same as in a single thread.
#[cfg(feature = "compress")]
#[test]
fn a_compressor_on_many_threads_remembers_each_call() {
    use aside::compress::{Compressor, Input, Invocation, LastRun, Outcome, Part, Registry};
    let compressor = || {
        let mut registry = Registry::new();
        registry.add_cache(Box::new(LastRun::new(1 << 20)));
        Compressor::new(&registry)
    };
    let log = |thread: usize| format!("{}error: number {thread}\n", "a line\n".repeat(300 + thread));
    // The first time, a filter shortens the text. The second time, the cache recognises it.
    let run = |compressor: &Compressor, thread: usize| -> Vec<Outcome> {
        let (input, text) = (Input::of_command(&format!("make {thread}")), log(thread));
        let once =
            |_| compressor.compress(&Invocation::new("bash", &input), &[Part::Text(text.as_bytes())]).parts.remove(0);
        (0..20).map(once).collect()
    };
    let shared = compressor();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let shared = &shared;
            scope.spawn(move || {
                let alone = run(&compressor(), thread);
                assert!(alone[0] != alone[1] && alone[1] == alone[19]);
                assert_eq!(run(shared, thread), alone);
            });
        }
    });
}

#[test]
fn scanners_on_many_threads_share_dialects() {
    soak(1000, 12_000, 4096);
}

#[test]
#[ignore = "takes minutes"]
fn scanners_by_the_hundred_thousand() {
    soak(25_000, 52_000, 2048);
}
