//! Measures times alternately, so that they can be compared with each other.

use std::hint::black_box;
use std::time::Instant;

/// Returns the shortest time of each function in seconds. The functions run alternately, so that a disturbance affects all of them.
pub fn shortest(rounds: usize, runs: &mut [impl FnMut() -> usize]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; runs.len()];
    for _ in 0..rounds {
        for (best, run) in best.iter_mut().zip(&mut *runs) {
            let start = Instant::now();
            black_box(run());
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}
