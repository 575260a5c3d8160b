//! Measures how much of the reason for a failure stays in the shortened log at a fixed budget, compared with simple ways to cut a
//! log.
//!
//!     cargo bench -p aside-benches --bench recall               the logs of this project
//!     cargo bench -p aside-benches --bench recall -- FOLDER     marked logs of a folder
//!     cargo bench -p aside-benches --bench recall -- --each     a line for each log too
//!
//! `docs/recall.md` describes the measure and the formats.

use std::{fs, path::Path};

use aside_benches::logs::{self, Log};

const BUDGETS: [usize; 4] = [4_000, 10_000, 20_000, 30_000];
const SMALL_BUDGET: usize = 4_000;

/// Returns for each line whether it is in the result.
type Policy = fn(&Log, usize) -> Vec<bool>;

const POLICIES: [(&str, Policy); 4] = [
    ("aside", Log::left),
    ("head and tail, half each", |log, budget| head_and_tail(log, budget / 2, budget / 2)),
    ("head 20 %, tail 80 %", |log, budget| head_and_tail(log, budget / 5, budget - budget / 5)),
    ("tail only", |log, budget| head_and_tail(log, 0, budget)),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let each = arguments.iter().any(|argument| argument == "--each");
    match arguments.iter().find(|argument| *argument != "--each") {
        Some(folder) => report(folder, &folder_of_logs(Path::new(folder)), each),
        None => {
            report("known", &logs::known(), each);
            report("held out", &logs::held_out(), each);
            report_unknown("unknown tools", &logs::unknown(false), each);
            report_unknown("unknown tools, held out", &logs::unknown(true), each);
        }
    }
}

fn report(name: &str, logs: &[Log], each: bool) {
    assert!(!logs.is_empty(), "there are no logs in {name}");
    let sizes = logs.iter().map(|log| log.text.len());
    let (least, most) = (sizes.clone().min().unwrap(), sizes.max().unwrap());
    println!("\n{name}: {} logs of {} to {} kB; macro recall", logs.len(), least / 1000, most / 1000);
    println!("{:<26}{:>9}{:>9}{:>9}{:>9}", "", "4 kB", "10 kB", "20 kB", "30 kB");
    for (policy, keep) in POLICIES {
        let all: Vec<Vec<f64>> =
            BUDGETS.iter().map(|&budget| logs.iter().map(|log| log.recall(&keep(log, budget))).collect()).collect();
        let means: String =
            all.iter().map(|each| format!("{:>7.1} %", 100.0 * each.iter().sum::<f64>() / logs.len() as f64)).collect();
        println!("{policy:<26}{means}");
        if each {
            for (index, log) in logs.iter().enumerate() {
                let own: String = all.iter().map(|recall| format!("{:>7.1} %", 100.0 * recall[index])).collect();
                println!("  {:<24}{own}", log.name);
            }
        }
    }
}

/// Prints the results for tools without a filter at a small budget, where warnings and notes must stay too.
fn report_unknown(name: &str, logs: &[Log], each: bool) {
    let of = |log: &Log| {
        let left = log.left(SMALL_BUDGET);
        let share = |lines: &[usize]| lines.iter().filter(|&&line| left[line]).count() as f64 / lines.len() as f64;
        [share(&log.marked), share(&log.others)]
    };
    let all: Vec<[f64; 2]> = logs.iter().map(of).collect();
    let mean = |kind: usize| 100.0 * all.iter().map(|shares| shares[kind]).sum::<f64>() / all.len() as f64;
    println!(
        "\n{name}: {} logs at {} kB; errors {:.1} %, others {:.1} %",
        logs.len(),
        SMALL_BUDGET / 1000,
        mean(0),
        mean(1)
    );
    for (log, [errors, others]) in logs.iter().zip(&all).filter(|_| each) {
        println!("  {:<24}{:>7.1} %{:>7.1} %", log.name, 100.0 * errors, 100.0 * others);
    }
}

/// Keeps whole lines at both ends, or the whole log if it fits.
fn head_and_tail(log: &Log, head: usize, tail: usize) -> Vec<bool> {
    let size = log.text.len();
    let fits = size <= head + tail;
    log.lines().iter().map(|line| fits || line.end <= head || line.start >= size - tail).collect()
}

/// Reads a folder of logs: `x.log` is a log, and `x.toml` next to it lists the marked lines.
fn folder_of_logs(folder: &Path) -> Vec<Log> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Marks {
        #[serde(default)]
        command: String,
        cause: Vec<[usize; 2]>,
    }
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    paths.sort();
    let read = |path: &Path| {
        let marks = path.with_extension("toml");
        let text = fs::read_to_string(&marks).unwrap_or_else(|error| panic!("{}: {error}", marks.display()));
        let Marks { command, cause } =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", marks.display()));
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut log = Log { name, command, text: fs::read(path).unwrap(), marked: Vec::new(), others: Vec::new() };
        let count = log.lines().len();
        for [first, last] in cause {
            let is_there = 0 < first && first <= last && last <= count;
            assert!(is_there, "{}: no lines {first} to {last} in a log of {count}", marks.display());
            log.marked.extend(first - 1..last);
        }
        log
    };
    paths.iter().map(|path| read(path)).collect()
}
