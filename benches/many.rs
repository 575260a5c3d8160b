//! Uses many scanners or rewriters, so that most of them are no longer in the processor's caches when their next token arrives, as
//! in a gateway that serves many streams at once.

use aside::Dialect;
use aside::sse::{Body, Options, Rewriter};

use crate::ways::Handle;
use crate::workloads::Markers;
use samples::Random;

/// The chunks that are fed. No sequence of them completes a marker or begins a code fence.
const TOKENS: [&str; 16] = [
    "so", " the", " value", " of", " it", " is", ", then", " we", " check", " that", " first", " user", ".", " a",
    " list", " empty",
];

/// Returns scanners in the middle of thinking.
pub fn scanners(markers: &Markers, count: usize) -> Vec<Handle> {
    let make = || {
        let mut handle = Handle::new(markers.dialect);
        handle.feed(markers.open.as_bytes());
        handle.feed(b"Well, ");
        handle
    };
    (0..count).map(|_| make()).collect()
}

/// Returns the scanner of each feed: every scanner once in each round.
pub fn in_turn(count: usize, feeds: usize) -> Vec<u32> {
    (0..feeds).map(|feed| (feed % count) as u32).collect()
}

/// Returns the scanner of each feed, with the order of every round shuffled.
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

/// Returns the number of bytes in the events.
pub fn feed(scanners: &mut [Handle], order: &[u32]) -> usize {
    let tokens = TOKENS.iter().cycle();
    order.iter().zip(tokens).map(|(&scanner, token)| scanners[scanner as usize].feed(token.as_bytes())).sum()
}

/// Returns rewriters, each of which has rewritten the first of these frames.
pub fn rewriters(frames: &[String], count: usize) -> Vec<Rewriter> {
    let dialect = Dialect::find("qwen3").expect("a name of the catalogue");
    let options = Options::new().body(Body::Events);
    let make = || {
        let mut rewriter = Rewriter::new(&dialect, &options).expect("memory");
        frames[..FIRST_FRAMES].iter().for_each(|frame| rewriter.feed(frame, &mut Vec::new()).expect("memory"));
        rewriter
    };
    (0..count).map(|_| make()).collect()
}

/// After this number of frames, a rewriter knows the envelope.
const FIRST_FRAMES: usize = 3;

/// Returns the number of bytes that were written.
pub fn rewrite(rewriters: &mut [Rewriter], frames: &[String], order: &[u32]) -> usize {
    let mut out = Vec::with_capacity(1 << 12);
    let frames = frames[FIRST_FRAMES..].iter().cycle();
    let write = |(&rewriter, frame): (&u32, &String)| {
        out.clear();
        rewriters[rewriter as usize].feed(frame, &mut out).expect("memory");
        out.len()
    };
    order.iter().zip(frames).map(write).sum()
}
