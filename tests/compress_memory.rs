//! A stream must use a bounded amount of memory, however long the output is. An allocator in this file counts it. `cargo test
//! --release --test compress_memory -- --ignored` runs the same tests with 1 GiB.

#![cfg(feature = "compress")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use aside::compress::{
    Cache, Compressor, Input, Invocation, LastRun, Marker, Outcome, Part, Registry, ToolStream, is_protected,
};

struct Counting;

thread_local! {
    /// The bytes that this thread has allocated, and the maximum so far.
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn grow(size: usize) {
    // These variables no longer exist when a thread ends.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + size, most.max(now + size)));
    });
}

fn shrink(size: usize) {
    let _ = HELD.try_with(|held| held.set((held.get().0.saturating_sub(size), held.get().1)));
}

// Counts allocations, and calls the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrink(layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(size);
        shrink(layout.size());
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the maximum memory that `body` used, beyond the memory in use before.
fn most(body: impl FnOnce()) -> usize {
    let before = HELD.get().0;
    HELD.set((before, before));
    body();
    HELD.get().1 - before
}

const MEMORY: usize = 1 << 16;

/// Feeds a stream `size` bytes, which are generated one chunk at a time. Returns the maximum memory between the calls and the
/// maximum during them.
fn stream(size: usize, budget: Option<usize>, chunk: fn(usize) -> Vec<u8>) -> [usize; 2] {
    let compressor = Compressor::new(&Registry::new());
    let compressor = Arc::new(match budget {
        Some(budget) => compressor.budget(budget).unwrap(),
        None => compressor,
    });
    let (mut fed, mut number, mut came, mut lines) = (0, 0, 0, 0);
    let mut result = Vec::new();
    let mut between = 0;
    let before = HELD.get().0;
    let most = most(|| {
        let mut stream = ToolStream::new(compressor, "bash", Input::of_command("make"), MEMORY).unwrap();
        while fed < size {
            let chunk = chunk(number);
            number += 1;
            fed += chunk.len();
            lines += chunk.iter().filter(|&&byte| byte == b'\n').count();
            stream.feed(&chunk, |bytes| came += bytes.len());
            drop(chunk);
            between = between.max(HELD.get().0 - before);
        }
        let report = stream.finish(|bytes| {
            came += bytes.len();
            result.extend_from_slice(bytes);
        });
        assert_eq!(report.failed, []);
        assert_eq!(report.before, fed);
    });
    assert!(came <= fed);
    if let Some(budget) = budget {
        assert!(came <= budget, "{came}");
        let counted = |row: &[u8]| match Marker::parse(row) {
            Some(Marker::LeftOut { lines, .. }) => lines as isize,
            // The rows before and after this marker are parts of one line.
            Some(Marker::OfLine { .. } | Marker::Base64 { .. } | Marker::Hex { .. }) => -1,
            _ => 1,
        };
        let rows = result.strip_suffix(b"\n").unwrap_or(&result).split(|&byte| byte == b'\n');
        assert_eq!(rows.map(counted).sum::<isize>(), lines.max(1) as isize, "{}", String::from_utf8_lossy(&result));
    }
    [between, most]
}

/// Lines of a build, some of them errors.
fn log(number: usize) -> Vec<u8> {
    let line = |line: usize| match line % 10_000 {
        77 => format!("error: number {line}\n  --> a.rs:1:2\n"),
        _ => format!("compiling file {line} of a large program\n"),
    };
    (number * 1000..(number + 1) * 1000).map(line).collect::<String>().into_bytes()
}

fn one_line(_: usize) -> Vec<u8> {
    b"word ".repeat(10_000)
}

fn errors(number: usize) -> Vec<u8> {
    format!("error: number {number}\n").repeat(500).into_bytes()
}

fn json(number: usize) -> Vec<u8> {
    if number == 0 { b"[".to_vec() } else { b"{\"a\": [1, 2]},\n".repeat(1000) }
}

/// Lines so short that the data about each line needs more memory than its text.
fn line_ends(_: usize) -> Vec<u8> {
    b"\n".repeat(10_000)
}

fn letters(_: usize) -> Vec<u8> {
    b"x\n".repeat(10_000)
}

fn rewritten(_: usize) -> Vec<u8> {
    b"a\rb\n".repeat(10_000)
}

fn returns(_: usize) -> Vec<u8> {
    b"\r\n".repeat(10_000)
}

fn numbers(number: usize) -> Vec<u8> {
    (number * 1000..(number + 1) * 1000).map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn short_errors(_: usize) -> Vec<u8> {
    b"error:\n".repeat(10_000)
}

type Output = (&'static str, fn(usize) -> Vec<u8>);

const OUTPUTS: [Output; 4] = [("log", log), ("one line", one_line), ("errors", errors), ("json", json)];
const SHORT_LINES: [Output; 6] = [
    ("line ends", line_ends),
    ("letters", letters),
    ("rewritten", rewritten),
    ("returns", returns),
    ("numbers", numbers),
    ("short errors", short_errors),
];

fn is_bounded(size: usize, outputs: &[Output]) {
    for budget in [None, Some(1024)] {
        for &(name, chunk) in outputs {
            // The first run compiles the patterns, which stay in memory.
            stream(1 << 18, budget, chunk);
            let [between, most] = stream(size, budget, chunk).map(|held| held as f64 / MEMORY as f64);
            println!("{name}, {budget:?}: {between:.1} times the memory between calls, {most:.1} times inside");
            assert!(between <= 2.5 && most <= 28.0, "{name}, {budget:?}: {between} and {most} times the memory");
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_output() {
    is_bounded(4 << 20, &OUTPUTS);
    is_bounded(2 << 20, &SHORT_LINES);
}

#[test]
#[ignore = "takes minutes"]
fn memory_does_not_grow_with_the_output_of_a_gibibyte() {
    is_bounded(1 << 30, &OUTPUTS);
}

#[test]
fn a_call_needs_a_multiple_of_its_text() {
    let compressor = Compressor::new(&Registry::new()).budget(10_000).unwrap();
    let input = Input::of_command("make");
    for (name, chunk) in OUTPUTS.into_iter().chain(SHORT_LINES) {
        let text: Vec<u8> = (0..).flat_map(chunk).take(1 << 20).collect();
        let compress = || drop(compressor.compress(&Invocation::new("bash", &input), &[Part::Text(&text)]));
        // The first run compiles the patterns, which stay in memory.
        compress();
        let times = most(compress) as f64 / text.len() as f64;
        println!("{name}: {times:.1} times the text");
        assert!(times <= 110.0, "{name}: {times} times the text");
    }
}

/// Checks that with a limit, a call needs memory for a multiple of the limit and for the result, however long the text is.
#[test]
fn a_bounded_call_needs_a_multiple_of_its_memory() {
    let input = Input::of_command("make");
    for budget in [None, Some(1024)] {
        let compressor = Compressor::new(&Registry::new()).memory(MEMORY);
        let compressor = match budget {
            Some(budget) => compressor.budget(budget).unwrap(),
            None => compressor,
        };
        for (name, chunk) in OUTPUTS.into_iter().chain(SHORT_LINES) {
            let text: Vec<u8> = (0..).flat_map(chunk).take(2 << 20).collect();
            let mut len = 0;
            let mut compress = || {
                let result = compressor.compress(&Invocation::new("bash", &input), &[Part::Text(&text)]);
                if let Outcome::Text(text) = &result.parts[0] {
                    len = text.len();
                    assert!(budget.is_none_or(|budget| len <= budget), "{name}, {budget:?}: {len}");
                }
            };
            // The first run compiles the patterns, which stay in memory.
            compress();
            let held = most(compress);
            // Without a budget, the result is kept while it grows, even if it is not used in the end.
            let result = if budget.is_none() { 4 * text.len() } else { 4 * len };
            let times = held.saturating_sub(result) as f64 / MEMORY as f64;
            println!("{name}, {budget:?}: {times:.1} times the memory, besides the result");
            assert!(times <= 30.0, "{name}, {budget:?}: {times} times the memory");
        }
    }
}

/// With characters beyond ASCII, `(?u)\b` needs the slowest matcher.
#[test]
fn patterns_need_memory_as_they_are_long() {
    let needed = |count: usize| {
        let patterns: String = (0..count).map(|number| format!(r"'(?u)\bfoo{number}',")).collect();
        let mut registry = Registry::empty();
        most(|| {
            registry.add_toml(&format!("id = 'mine'\ntools = ['bash']\n[[rule]]\ndrop = [{patterns}]")).unwrap();
            let input = Input::of_command("make");
            let text = "é a line of text\n".repeat(100);
            let _ =
                Compressor::new(&registry).compress(&Invocation::new("bash", &input), &[Part::Text(text.as_bytes())]);
        })
    };
    let (few, many) = (needed(500), needed(4000));
    println!("500 patterns: {few} bytes, 4000: {many}");
    assert!(many < 12 * few && many < 64 << 20, "{few} and {many} bytes");
}

#[test]
fn the_librarys_cache_keeps_to_its_size() {
    const SIZE: usize = 1 << 20;
    for text in [0, 1, 100, 10_000] {
        let most = most(|| {
            let cache = LastRun::new(SIZE);
            for number in 0..20_000 {
                let input = Input::of_command(&number.to_string());
                cache.record(&Invocation::new("bash", &input), &vec![b'x'; text]).unwrap();
            }
        });
        assert!(most <= SIZE + 2 * text + 1000, "{most} bytes for texts of {text}");
    }
}

#[test]
fn json_is_read_whole_without_a_copy_of_it() {
    let mut text = b"[".to_vec();
    text.extend(b"{\"a\": [1, 2.50, \"x\"]},".repeat(10_000_000 / 22));
    text.extend(b"1]");
    assert!(most(|| assert!(is_protected(&text))) < 1 << 16);
    text.pop();
    assert!(most(|| assert!(!is_protected(&text))) < 1 << 16);
    // 10,000 levels must need only a little memory, and no stack.
    let deep = [b"[".repeat(10_000), b"]".repeat(10_000)].concat();
    let thread = std::thread::Builder::new().stack_size(64 * 1024);
    assert!(thread.spawn(move || is_protected(&deep)).unwrap().join().unwrap());
}
