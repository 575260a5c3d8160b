//! Counting instructions: a test file runs its own test `work` under callgrind. Counts do not depend on the machine's mood,
//! as times do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process::Command};

/// Runs the test `work` of this test file with `job` in the variable `ASIDE_WORK`. Gives the instructions counted: one number,
/// or one for each call where the options make callgrind dump more often.
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
    // The dump at the end has nothing left where the others have it all.
    totals.map(|total| total.trim().parse().unwrap()).filter(|&total| total > 0).collect()
}
