//! Of the lines in a log that explain why a run failed, the share that stays in the result must not fall. `docs/recall.md`
//! describes the measure, and `cargo bench -p aside-benches --bench recall` prints the figures.

#![cfg(feature = "compress")]

#[path = "../benches/logs.rs"]
mod logs;

use logs::Log;

/// Returns the mean over some logs, in percent.
fn macro_recall(logs: &[Log], budget: usize) -> f64 {
    100.0 * logs.iter().map(|log| log.recall(&log.left(budget))).sum::<f64>() / logs.len() as f64
}

#[test]
fn marked_lines_are_left() {
    for (name, logs, floors) in [("known", logs::known(), [99.0, 99.5]), ("held out", logs::held_out(), [93.0, 99.5])] {
        for (budget, floor) in [4_000, 10_000].into_iter().zip(floors) {
            let recall = macro_recall(&logs, budget);
            assert!(recall >= floor, "{name} at {budget} bytes: {recall:.1} % of the marked lines, at least {floor} %");
        }
    }
    for (is_held_out, floors) in [(false, [99.0, 99.0]), (true, [99.0, 92.0])] {
        let logs = logs::unknown(is_held_out);
        let errors = macro_recall(&logs, 4_000);
        let others = logs.into_iter().map(|log| Log { marked: log.others.clone(), ..log }).collect::<Vec<_>>();
        let others = macro_recall(&others, 4_000);
        assert!(
            errors >= floors[0] && others >= floors[1],
            "unknown tools: {errors:.1} % of errors, {others:.1} % of others"
        );
    }
}
