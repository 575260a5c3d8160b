//! Counts instructions: a test file runs its test `work` under callgrind. Unlike times, counts do not depend on the load of
//! the machine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process::Command};

/// Runs the test `work` of this test file with `job` in the variable `ASIDE_WORK`. Returns the number of instructions, or, if the
/// options make callgrind dump several times, the number for each dump.
pub fn count(options: &[&str], job: &str) -> Vec<u64> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let out = env::temp_dir().join(format!("aside-callgrind-{}-{run}", std::process::id()));
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--combine-dumps=yes"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .args(options)
        .arg(env::current_exe().unwrap())
        .args(["work", "--exact", "--ignored", "--test-threads=1"])
        .env("ASIDE_WORK", job)
        .output();
    let run = run.unwrap_or_else(|error| panic!("valgrind did not start ({error}): install the package `valgrind`"));
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{job}: {said}\n{}", String::from_utf8_lossy(&run.stdout));
    let counts = fs::read_to_string(&out).unwrap();
    fs::remove_file(&out).unwrap();
    let totals = counts.lines().filter_map(|line| line.strip_prefix("totals: "));
    // If there were earlier dumps, the last one may be empty.
    totals.map(|total| total.trim().parse().unwrap()).filter(|&total| total > 0).collect()
}

/// Sizes of texts for `linear`.
pub const SIZES: [usize; 3] = [2000, 16 << 10, 64 << 10];

/// Checks that work is linear. The test `work` of the test file `file` calls its function `counted` for each unit in three sizes.
/// The first size includes one-time costs. The third size is four times the second, and may need at most 4.2 times as much work.
pub fn linear(file: &str, job: &str, units: &[&str]) {
    within(4.2, file, job, units);
}

/// Checks work like `linear`, with the limit `most` in place of 4.2.
pub fn within(most: f64, file: &str, job: &str, units: &[&str]) {
    let only = ["toggle-collect", "dump-after"].map(|option| format!("--{option}=*{file}::counted"));
    let counts = count(&only.each_ref().map(String::as_str), job);
    assert_eq!(counts.len(), 3 * units.len());
    let mut wrong = Vec::new();
    for (unit, calls) in units.iter().zip(counts.chunks(3)) {
        let ratio = calls[2] as f64 / calls[1] as f64;
        println!("{job}, {unit:?}: {} and {} instructions, {ratio:.2}", calls[1], calls[2]);
        if ratio > most {
            wrong.push(format!("{unit:?}: 4 times the text is {ratio:.2} times the work"));
        }
    }
    assert!(wrong.is_empty(), "{job}: {wrong:#?}");
}
