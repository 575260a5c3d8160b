//! Many live scanners, so that most of them have left the caches when their next token comes. So it is in a gateway that
//! serves many streams at once.

use crate::ways::Handle;
use crate::workloads::Markers;
use samples::Random;

/// The chunks that are fed. No sequence of them completes a marker or begins a code fence.
const TOKENS: [&str; 16] = [
    "so", " the", " value", " of", " it", " is", ", then", " we", " check", " that", " first", " user", ".", " a",
    " list", " empty",
];

/// Scanners in the middle of a thinking.
pub fn scanners(markers: &Markers, count: usize) -> Vec<Handle> {
    let make = || {
        let mut handle = Handle::new(markers.dialect);
        handle.feed(markers.open.as_bytes());
        handle.feed(b"Well, ");
        handle
    };
    (0..count).map(|_| make()).collect()
}

/// Which scanner each feed is for: every scanner once in each round.
pub fn in_turn(count: usize, feeds: usize) -> Vec<u32> {
    (0..feeds).map(|feed| (feed % count) as u32).collect()
}

/// Returns such an order with every round shuffled.
pub fn in_random_order(count: usize, feeds: usize) -> Vec<u32> {
    let mut random = Random::new(7);
    let mut order = in_turn(count, feeds);
    for round in order.chunks_mut(count) {
        for last in (1..round.len()).rev() {
            round.swap(last, random.below(last + 1));
        }
    }
    order
}

/// Returns how many bytes the events had.
pub fn feed(scanners: &mut [Handle], order: &[u32]) -> usize {
    let tokens = TOKENS.iter().cycle();
    order.iter().zip(tokens).map(|(&scanner, token)| scanners[scanner as usize].feed(token.as_bytes())).sum()
}
