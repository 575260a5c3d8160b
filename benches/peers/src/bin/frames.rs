//! Feeds the frames of W9 to the rewriter, and to a JSON parser and writer, which is the minimal work of a Rust gateway that
//! changes a frame.
//!
//!     frames counts      feeds them under callgrind, which counts inside `counted`; a line with its name for each
//!     frames times       ns per frame
//!
//! Run by `scripts/benchmarks rewriter`.

use std::hint::black_box;
use std::time::Instant;

use aside::Dialect;
use aside::sse::{Body, Formats, Options, Rewriter};

#[allow(dead_code)] // Other benches use the other streams of this module.
#[path = "../../../frames.rs"]
mod frames;
#[path = "../../../workloads.rs"]
#[allow(dead_code)]
mod workloads;

use frames::SERVERS;

const BYTES: usize = 32 * 1024;
/// These frames make the objects that the others use.
const FIRST: usize = 8;

/// Handles a frame that arrives in these parts.
type Way = Box<dyn FnMut(&str, &mut Vec<u8>)>;

fn rewriter(server: &str, parts: usize) -> Way {
    let (body, formats) =
        if server == SERVERS[4] { (Body::Lines, Formats::OLLAMA) } else { (Body::Events, Formats::CHAT) };
    let options = Options::new().body(body).formats(formats);
    let dialect = Dialect::find("qwen3").expect("a name of the catalogue");
    let mut rewriter = Rewriter::new(&dialect, &options).expect("memory");
    Box::new(move |frame, out| {
        for part in frame.as_bytes().chunks(frame.len().div_ceil(parts)) {
            rewriter.feed(black_box(part), out).expect("memory");
        }
    })
}

/// Parses the JSON of a frame and writes it again.
fn round_trip(frame: &str, out: &mut Vec<u8>, write: impl FnOnce(&str, &mut Vec<u8>)) {
    let json = frame.strip_prefix("data: ").unwrap_or(frame);
    out.extend_from_slice(&frame.as_bytes()[..frame.len() - json.len()]);
    write(json.trim_end(), out);
    out.extend_from_slice(&frame.as_bytes()[frame.trim_end().len()..]);
}

fn serde_json(frame: &str, out: &mut Vec<u8>) {
    round_trip(frame, out, |json, out| {
        let value: serde_json::Value = serde_json::from_str(black_box(json)).expect("JSON");
        serde_json::to_writer(out, &value).expect("memory");
    });
}

fn sonic_rs(frame: &str, out: &mut Vec<u8>) {
    round_trip(frame, out, |json, out| {
        let value: sonic_rs::Value = sonic_rs::from_str(black_box(json)).expect("JSON");
        sonic_rs::to_writer(out, &value).expect("memory");
    });
}

fn ways(server: &str) -> [(&'static str, Way); 4] {
    [
        ("rewriter", rewriter(server, 1)),
        ("rewriter, cut in two", rewriter(server, 2)),
        ("serde_json", Box::new(serde_json)),
        ("sonic-rs", Box::new(sonic_rs)),
    ]
}

#[unsafe(no_mangle)]
#[inline(never)]
fn counted(way: &mut Way, frames: &[String], out: &mut Vec<u8>) -> usize {
    let mut bytes = 0;
    for frame in frames {
        out.clear();
        way(frame, out);
        bytes += black_box(&*out).len();
    }
    bytes
}

fn main() {
    let is_timed = match std::env::args().nth(1).as_deref() {
        Some("counts") => false,
        Some("times") => true,
        _ => return println!("run by scripts/benchmarks"),
    };
    let mut out = Vec::with_capacity(1 << 16);
    for server in SERVERS {
        for (envelope, changes) in [("stable", false), ("changing", true)] {
            let frames = frames::frames(server, changes, BYTES);
            let (first, rest) = frames.split_at(FIRST);
            for (name, mut way) in ways(server) {
                for frame in first {
                    way(frame, &mut out);
                }
                if !is_timed {
                    counted(&mut way, rest, &mut out);
                    println!("frame\t{server}\t{envelope}\t{name}\t{}", rest.len());
                    continue;
                }
                let mut best = f64::INFINITY;
                for _ in 0..7 {
                    let start = Instant::now();
                    black_box(counted(&mut way, rest, &mut out));
                    best = best.min(start.elapsed().as_secs_f64());
                }
                println!("frametime\t{server}\t{envelope}\t{name}\t{:.2}", best * 1e9 / rest.len() as f64);
            }
        }
    }
}
