//! Feeds workloads under callgrind, which counts while it is inside `counted`.
//!
//!     instructions WAY DIALECT WORKLOAD     one, for `scripts/count-instructions`; prints how many feeds that was
//!     instructions openers DIALECT          what opens the dialect's thinking, a line each
//!     instructions opened DIALECT OPENER    feeds prose that this opens, in Rust; prints how many feeds that was
//!     instructions all                      all for `scripts/benchmarks`: a line for each, with its name and its feeds
//!
//! `all` has every way, dialect and workload; making and freeing; and texts of three lengths for every dialect of the
//! catalogue, traps among them.

use std::hint::black_box;

use aside::{Channel, Dialect, Event, JoinOptions, Kind, OnMarker, Scanner, join};
use aside_benches::ways::{WAYS, Way};
use aside_benches::workloads::{DIALECTS, Message, TRAPS, Workload, some_prose, trap};

const BYTES: usize = 128 * 1024;
/// The shortest of the growing texts; others are 8 and 64 times as long.
const SHORT: usize = 2 * 1024;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["all"] => all(),
        ["openers", dialect] => openers(dialect),
        ["opened", dialect, opener] => {
            println!("{}", run(WAYS[0].1, dialect, &Workload::of_text(format!("{opener}{}", some_prose(BYTES)))));
        }
        [way, dialect, name] => one(way, dialect, name),
        // `cargo bench` and `cargo test --benches` start every bench with arguments of their own.
        _ => println!("run by scripts/count-instructions"),
    }
}

fn one(way: &str, dialect: &str, name: &str) {
    let markers = DIALECTS.iter().find(|markers| markers.dialect == dialect).expect("a dialect of the workloads");
    let way = WAYS.iter().find(|(known, _)| *known == way).expect("rust, callback or array").1;
    println!("{}", run(way, dialect, &Workload::new(name, markers, BYTES)));
}

/// Of tags, with their brackets; of fences, the line.
fn openers(dialect: &str) {
    let dialect = Dialect::find(dialect).expect("a name of the catalogue");
    for rule in 0.. {
        if dialect.family(rule).is_none() {
            return;
        }
        for opener in (0..).map_while(|tag| dialect.opener(rule, tag)) {
            for text in [opener.to_owned(), format!("<{opener}>"), format!("```{opener}\n")] {
                let mut scanner = Scanner::new(&dialect);
                let mut opens = false;
                let mut see = |event: Event<'_>| {
                    opens |= matches!(event.kind, Kind::Open { rule: opened, .. } if opened == rule)
                        && event.offset == 0
                        && event.channel == Channel::Thinking;
                };
                scanner.feed(text.as_bytes(), &mut see).expect("there is memory");
                if opens {
                    println!("{}", text.trim_end());
                    break;
                }
            }
        }
    }
}

fn all() {
    for (name, way) in WAYS {
        for markers in &DIALECTS {
            let dialect = markers.dialect;
            for workload in ["W2", "W3", "W4", "W5m", "W5t"] {
                let feeds = run(way, dialect, &Workload::new(workload, markers, BYTES));
                println!("instructions\t{name}\t{dialect}\t{workload}\t{feeds}");
            }
            let nothing = Workload { messages: (0..100).map(|_| Message::empty()).collect() };
            run(way, dialect, &nothing);
            println!("instructions\t{name}\t{dialect}\tnew, finish, free\t{}", nothing.messages.len());
        }
    }
    for name in Dialect::names() {
        let dialect = Dialect::find(name).expect("a name of the catalogue");
        let text = |thinking: &str, content: &str| {
            let escape = JoinOptions { markers: OnMarker::Escape, ..JoinOptions::default() };
            let text = join(&dialect, thinking.as_bytes(), content.as_bytes(), &escape).expect("markers are escaped");
            String::from_utf8(text).expect("all parts are UTF-8")
        };
        let probe = text("thinking", "content");
        let open = probe.split_once("thinking").map_or("", |(open, _)| open);
        for times in [1, 8, 64] {
            let bytes = times * SHORT;
            let prose = some_prose(bytes / 2);
            let texts = [("prose", text(&prose, &prose))].into_iter();
            for (kind, text) in texts.chain(TRAPS.iter().map(|kind| (*kind, trap(kind, open, bytes)))) {
                let workload = Workload::of_text(text);
                run(WAYS[0].1, name, &workload);
                println!("growth\t{name}\t{kind}\t{times}\t{}", workload.bytes());
            }
        }
    }
}

fn run(way: Way, dialect: &str, workload: &Workload) -> usize {
    // A dialect is compiled when it is first used: not in the count.
    let none = Workload { messages: Vec::new() };
    way(dialect, &none);
    assert_eq!(counted(way, dialect, workload), workload.bytes());
    workload.feeds()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn counted(way: Way, dialect: &str, workload: &Workload) -> usize {
    black_box(way)(dialect, black_box(workload))
}
