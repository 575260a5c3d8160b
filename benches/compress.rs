//! Measures the time for shortening tool results: with all general filters and with each alone, compared with splitting the same
//! texts into a vector of lines with `memchr`.
//!
//!     cargo bench -p aside-benches --bench compress
//!
//! Times vary, so use an idle machine and compare the ratios: each run ends with the ratio of each time to that of splitting lines.
//! `all` and `all, 10 kB` (with a budget) must stay below 25 for the recorded outputs.
//!
//! The texts are a generated log of 1 MiB, and recorded outputs if `../shared/corpus/tools` exists.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;
use std::{env, fs};

use aside::compress::{Compressor, Input, Invocation, Part, Registry};
use aside_benches::timing::shortest;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const FILTERS: [&str; 6] = ["terminal", "repeats", "repeats-above", "long-lines", "paths", "budget"];

/// Returns the log of a build with many parts, tests, warnings, colours and two failures.
fn log() -> Vec<u8> {
    let mut text = String::new();
    let mut number = 7u32;
    while text.len() < 1 << 20 {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (kind, n) = (number >> 28, number >> 12 & 0xfff);
        text += &match kind {
            0..=5 => format!("   Compiling crate-{n} v1.{}.0 (/home/build/crates/crate-{n})\n", n % 30),
            6..=10 => format!("test module_{}::handles_case_{n} ... ok\n", n % 50),
            11 => format!("warning: unused variable: `value_{n}`\n  --> src/module_{}.rs:{n}:9\n   |\n", n % 50),
            12 => format!("\x1b[32m[INFO]\x1b[0m 2024-05-01 12:{:02}:07 step {n} is done\n", n % 60),
            13 => "same line as ever\n".repeat(n as usize % 6),
            14 => format!("Downloading part {n}: {}%\r\n", n % 100),
            _ => format!("  {{\"id\": {n}, \"name\": \"item\", \"tags\": [\"a\", \"b\"]}}\n"),
        };
        if n == 99 {
            text +=
                "error[E0308]: mismatched types\n  --> src/a.rs:3:5\n   |\n3  |     x\n   |     ^ expected `u8`\n\n";
        }
    }
    text.into_bytes()
}

fn texts() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let mut texts = vec![("log", vec![log()])];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus/tools");
    if let Ok(entries) = fs::read_dir(folder) {
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
        paths.sort();
        texts.push(("recorded", paths.iter().map(|path| fs::read(path).unwrap()).collect()));
    }
    texts
}

/// Returns a compressor with the general filters, or with only one of them. Filters for a single tool do not apply to this command.
fn compressor(only: Option<&str>, budget: Option<usize>) -> Compressor {
    let mut registry = Registry::new();
    let ids: Vec<String> = registry.filter_ids().map(str::to_owned).collect();
    for id in ids.iter().filter(|id| !FILTERS.contains(&id.as_str()) || only.is_some_and(|only| only != *id)) {
        registry.remove(id);
    }
    let compressor = Compressor::new(&registry);
    match budget {
        Some(budget) => compressor.budget(budget).unwrap(),
        None => compressor,
    }
}

/// Splits each text into a vector of lines with `memchr`, as a program would before it examines the lines. The filters are compared
/// with this.
fn lines(texts: &[Vec<u8>]) -> usize {
    let split = |text: &Vec<u8>| {
        let mut lines = Vec::new();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text) {
            lines.push(&text[start..end]);
            start = end + 1;
        }
        lines.push(&text[start..]);
        black_box(lines).len()
    };
    texts.iter().map(split).sum()
}

fn compress(compressor: &Compressor, texts: &[Vec<u8>]) -> usize {
    // The filter `paths` applies to `grep`.
    let input = Input::of_command("grep -rn x .");
    let call = Invocation::new("bash", &input);
    texts.iter().map(|text| black_box(compressor.compress(&call, &[Part::Text(text)])).report.after).sum()
}

fn runs() -> Vec<(String, Compressor)> {
    let mut runs = vec![
        ("all".to_owned(), compressor(None, None)),
        ("all, 10 kB".to_owned(), compressor(None, Some(10_000))),
        ("none".to_owned(), Compressor::new(&Registry::empty())),
    ];
    runs.extend(FILTERS.iter().map(|id| {
        let budget = (*id == "budget").then_some(10_000);
        (format!("only {id}"), compressor(Some(id), budget))
    }));
    runs
}

fn benches(c: &mut Criterion) {
    for (name, texts) in texts() {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::BytesDecimal(texts.iter().map(|text| text.len() as u64).sum()));
        group.bench_function(BenchmarkId::new("limit", "lines"), |b| b.iter(|| lines(black_box(&texts))));
        for (id, compressor) in runs() {
            group.bench_function(BenchmarkId::new("compress", id), |b| {
                b.iter(|| compress(&compressor, black_box(&texts)))
            });
        }
        group.finish();
    }
}

fn ratios(_: &mut Criterion) {
    for (name, texts) in texts() {
        let runs = runs();
        // Splitting is repeated so often that it takes about as long as the filters.
        let mut work: Vec<Box<dyn FnMut() -> usize + '_>> =
            vec![Box::new(|| (0..25).map(|_| lines(black_box(&texts))).sum())];
        for (_, compressor) in &runs {
            work.push(Box::new(|| compress(compressor, &texts)));
        }
        let times = shortest(40, &mut work);
        let unit = times[0] / 25.0;
        println!("{name}: lines {:.0} µs", unit * 1e6);
        for ((id, _), time) in runs.iter().zip(&times[1..]) {
            println!("{name}: {id:<20} {:>6.1} times the lines", time / unit);
        }
    }
}

criterion_group! {
    name = all;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400));
    targets = benches, ratios
}
criterion_main!(all);
