//! Measures times and memory for `scripts/benchmarks`, and prints a line for each figure.
//!
//!     figures times             workloads through Rust, next to memchr for the same bytes and memcpy
//!     figures memory            bytes of a scanner and of a dialect
//!     figures many              100,000 scanners, in turn and in random order, on one thread and on two; then 1 to
//!                               100,000 rewriters, in random order
//!     figures cold PROGRAM      starts `benches/c/cold.c` up to the first event
//!     figures finds             the first `find` of every dialect, each in a process of its own
//!     figures find DIALECT      one of them, in nanoseconds
//!     figures write WORKLOAD DIALECT BYTES FILE      a workload as a file, for programs in other languages
//!
//! The shortest time of several rounds counts. Times that are compared with each other are measured alternately.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::process::Command;
use std::sync::Barrier;
use std::time::Instant;
use std::{fs, thread};

use aside::{Dialect, Scanner};
use aside_benches::frames::frames;
use aside_benches::many::{feed, in_random_order, in_turn, rewrite, rewriters, scanners};
use aside_benches::timing;
use aside_benches::ways::{Handle, WAYS};
use aside_benches::workloads::{DIALECTS, Markers, Workload};

const MIB: usize = 1 << 20;
const MANY: usize = 3_150_000;
const ROUNDS: usize = 15;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["times"] => times(),
        ["memory"] => memory(),
        ["many"] => many(),
        ["cold", program] => cold(program),
        ["finds"] => finds(),
        ["find", dialect] => println!("{}", find(dialect)),
        ["write", workload, dialect, bytes, file] => {
            let bytes = bytes.parse().expect("a number of bytes");
            fs::write(file, Workload::new(workload, markers_of(dialect), bytes).to_bytes()).expect("a file to write");
        }
        // `cargo bench` and `cargo test --benches` start every bench with different arguments.
        _ => println!("run by scripts/benchmarks"),
    }
}

fn markers_of(dialect: &str) -> &'static Markers {
    DIALECTS.iter().find(|markers| markers.dialect == dialect).expect("a dialect of the workloads")
}

fn shortest<const N: usize>(mut runs: [&mut dyn FnMut() -> usize; N]) -> [f64; N] {
    timing::shortest(ROUNDS, &mut runs).try_into().expect("a time of each")
}

fn times() {
    for name in ["W1", "W2", "W3", "W4", "W5m", "W5t", "W7", "W7c4", "W7c64"] {
        for markers in &DIALECTS {
            let workload = Workload::new(name, markers, if name.starts_with("W5") { MANY } else { MIB });
            let mut copy = vec![0; MIB];
            let [rust, memchr, memcpy] = shortest([
                &mut || WAYS[0].1(markers.dialect, black_box(&workload)),
                &mut || each(&workload, |chunk| triggers(markers.triggers, chunk)),
                &mut || {
                    each(&workload, |chunk| {
                        black_box(&mut copy)[..chunk.len()].copy_from_slice(chunk);
                        chunk.len()
                    })
                },
            ]);
            for (what, seconds) in [("rust", rust), ("memchr", memchr), ("memcpy", memcpy)] {
                let (bytes, feeds) = (workload.bytes() as f64, workload.feeds() as f64);
                let (byte, feed) = (seconds * 1e9 / bytes, seconds * 1e9 / feeds);
                println!("time\t{what}\t{}\t{name}\t{byte:.4}\t{feed:.2}", markers.dialect);
            }
        }
    }
}

fn triggers(bytes: &[u8], chunk: &[u8]) -> usize {
    let sum = |sum, at| sum + black_box(at);
    match *bytes {
        [a] => memchr::memchr_iter(a, chunk).fold(0, sum),
        [a, b] => memchr::memchr2_iter(a, b, chunk).fold(0, sum),
        [a, b, c] => memchr::memchr3_iter(a, b, c, chunk).fold(0, sum),
        _ => unreachable!("no dialect of the workloads has more"),
    }
}

fn each(workload: &Workload, mut look: impl FnMut(&[u8]) -> usize) -> usize {
    let chunks = workload.messages.iter().flat_map(|message| message.chunks());
    chunks.fold(0usize, |sum, chunk| sum.wrapping_add(look(chunk)))
}

// ---- memory ----

/// Counts the memory of the current thread. A shared count would make threads wait for each other.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    LIVE.set(LIVE.get() + bytes);
    CALLS.set(CALLS.get() + 1);
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller promises the same for this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller promises the same for this function.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: the caller promises the same for this function.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn memory() {
    for name in Dialect::names() {
        let live = LIVE.get();
        let dialect = Dialect::find(name).expect("a name of the catalogue");
        let compiled = LIVE.get() - live;
        let live = LIVE.get();
        let scanner = Scanner::new(&dialect);
        let rust = LIVE.get() - live + size_of::<Scanner>() as isize;
        drop(scanner);
        // The first scanner of a dialect makes data that C borrows, which is kept.
        drop(Handle::new(name));
        let (live, calls) = (LIVE.get(), CALLS.get());
        let handle = Handle::new(name);
        let (c, allocations) = (LIVE.get() - live, CALLS.get() - calls);
        drop(handle);
        println!("memory\t{name}\t{rust}\t{c}\t{allocations}\t{compiled}\t{}", dialect.max_hold());
    }
    let frames = frames("vLLM", false, 1 << 10);
    drop(rewriters(&frames, 1));
    let live = LIVE.get();
    let all = rewriters(&frames, 1);
    println!("rewritermemory\t{}", LIVE.get() - live);
    drop(all);
}

// ---- many ----

const SCANNERS: usize = 100_000;
const FEEDS: usize = 500_000;
const ROUNDS_OF_REWRITERS: usize = 5;

fn many() {
    for markers in &DIALECTS {
        let dialect = markers.dialect;
        let mut one = scanners(markers, 1);
        let mut all = scanners(markers, SCANNERS);
        // The same loop with an order of the same length, so that only the number of scanners differs.
        let orders = [in_turn(1, FEEDS), in_turn(SCANNERS, FEEDS), in_random_order(SCANNERS, FEEDS)];
        let shared = RefCell::new(&mut all);
        let [alone, turn, random] = shortest([
            &mut || feed(&mut one, &orders[0]),
            &mut || feed(&mut shared.borrow_mut(), &orders[1]),
            &mut || feed(&mut shared.borrow_mut(), &orders[2]),
        ]);
        let made = shortest([&mut || make_and_free(dialect)])[0];

        // Each thread has every second scanner, so that neighbours in memory are fed at the same time.
        let (mut even, mut odd) = (Vec::new(), Vec::new());
        for (index, handle) in all.into_iter().enumerate() {
            if index % 2 == 0 { even.push(handle) } else { odd.push(handle) }
        }
        let order = in_turn(SCANNERS / 2, FEEDS);
        let feeds = |half: &mut [Handle]| feed(half, &order);
        let [first, second, both] = {
            let halves = std::sync::Mutex::new((even, odd));
            shortest([
                &mut || feeds(&mut halves.lock().unwrap().0),
                &mut || feeds(&mut halves.lock().unwrap().1),
                &mut || {
                    let (even, odd) = &mut *halves.lock().unwrap();
                    at_once(|| feeds(even), || feeds(odd))
                },
            ])
        };
        // The machine's own cost for two threads that share nothing.
        let [spin, spins] = shortest([&mut || spin(), &mut || at_once(spin, spin)]);
        let nanos = |seconds: f64, times: usize| seconds * 1e9 / times as f64;
        println!(
            "many\t{dialect}\t{:.2}\t{:.2}\t{:.2}\t{:.1}\t{:.3}\t{:.3}",
            nanos(alone, FEEDS),
            nanos(turn, FEEDS),
            nanos(random, FEEDS),
            nanos(made, SCANNERS),
            (first + second) / both,
            2.0 * spin / spins
        );
    }
    many_rewriters();
}

fn many_rewriters() {
    let frames = frames("vLLM", false, 1 << 14);
    for count in [1, 1_000, 10_000, 100_000] {
        let mut all = rewriters(&frames, count);
        let order = in_random_order(count, FEEDS);
        let seconds = timing::shortest(ROUNDS_OF_REWRITERS, &mut [|| rewrite(&mut all, &frames, &order)])[0];
        println!("rewriters\t{count}\t{:.0}", seconds * 1e9 / FEEDS as f64);
    }
}

fn make_and_free(dialect: &str) -> usize {
    (0..SCANNERS).for_each(|_| drop(black_box(Handle::new(dialect))));
    SCANNERS
}

fn at_once(one: impl FnOnce() -> usize + Send, other: impl FnOnce() -> usize) -> usize {
    let start = Barrier::new(2);
    thread::scope(|scope| {
        let one = scope.spawn(|| {
            start.wait();
            one()
        });
        start.wait();
        let bytes = other();
        bytes + one.join().expect("no panic in a thread")
    })
}

fn spin() -> usize {
    (0..20_000_000).fold(1usize, |sum, i| black_box(sum.wrapping_mul(i | 1)))
}

// ---- cold starts ----

const STARTS: usize = 50;
const FINDS: usize = 10;

fn cold(program: &str) {
    let start = |dialect: &str| {
        let status = Command::new(program).arg(dialect).status().expect("a program that starts");
        assert!(status.success(), "{program} {dialect}: {status}");
        1
    };
    let mut runs = COLD.map(|dialect| move || start(dialect));
    for (dialect, seconds) in COLD.iter().zip(timing::shortest(STARTS, &mut runs)) {
        println!("cold\t{dialect}\t{:.3}", seconds * 1e3);
    }
}

/// With `none`, the process starts and does not look for a dialect.
const COLD: [&str; 4] = ["none", "inline-think", "qwen3", "any"];

fn finds() {
    let this = std::env::current_exe().expect("this program");
    for name in Dialect::names() {
        let nanos = (0..FINDS).map(|_| {
            let output = Command::new(&this).args(["find", name]).output().expect("this program starts");
            let text = String::from_utf8(output.stdout).expect("it prints text");
            text.trim().parse::<u128>().expect("it prints a number")
        });
        println!("find\t{name}\t{:.3}", nanos.min().expect("there are runs") as f64 / 1e6);
    }
}

fn find(name: &str) -> u128 {
    let start = Instant::now();
    black_box(Dialect::find(name)).expect("a name of the catalogue");
    start.elapsed().as_nanos()
}
