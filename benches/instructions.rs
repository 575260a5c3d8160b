//! Feeds workloads under callgrind, which counts instructions inside `counted`. For each count, a line is printed that names it and
//! ends with the number of feeds or calls. Each stream is read once before it is counted, because the first one fills rows of the
//! dialect's table.
//!
//!     instructions WAY DIALECT WORKLOAD...  some workloads
//!     instructions openers DIALECT          prose in Rust after each opener of the dialect
//!     instructions all                      every way, dialect and workload; making and freeing; texts of three lengths for
//!                                           every dialect of the catalogue, traps among them; many scanners against one
//!     instructions calls                    inside tool calls, with and without the option `calls`; and an answer
//!     instructions frames                   the frames of servers through the rewriter, whole and cut in two
//!     instructions streams                  frames of Messages and Responses, and frames of chat whose text has tool calls
//!     instructions finds                    the first `find` of every dialect, and a first answer
//!     instructions lookups                  the dialect of each model and of some chat templates of tests/field in C, not for
//!                                           the first time
//!     instructions result failed            the first result of a compressor in this process, of an output with failures, and
//!     instructions result passed            the second one; and of an output without failures
//!     instructions tools                    results of several tools, without failures, after the first one

use std::hint::black_box;

use aside::answer::{self, Answer};
use aside::compress::{Compressor, Input, Invocation, Part, Registry};
use aside::sse::{self, Body, Formats, Rewriter, Shapes, Thinking};
use aside::{Dialect, Event, JoinOptions, Markers, Scanner, ScannerOptions};
use aside_benches::calls::PLACES;
use aside_benches::frames::{self, SERVERS};
use aside_benches::many;
use aside_benches::openers::{Opener, openers, scanner, stays_open};
use aside_benches::ways::{WAYS, Way, knows_model, knows_template};
use aside_benches::workloads::{DIALECTS, Message, TRAPS, Workload, some_prose, trap};

const BYTES: usize = 128 * 1024;
/// The length of the shortest of the growing texts. The others are 8 and 64 times as long.
const SHORT: usize = 2 * 1024;
/// The bytes of calls that are measured, and the size of the chunks for an answer.
const CALL_BYTES: usize = 16 * 1024;
const PIECE: usize = 64;
/// The number of scanners has no influence on the instructions.
const SCANNERS: usize = 1000;
const FEEDS: usize = 10_000;
/// The text of the frames.
const FRAME_BYTES: usize = 8 * 1024;
const FIRST_FRAMES: usize = 8;
/// The bytes of a first answer.
const FIRST_BYTES: usize = 300;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["all"] => all(),
        ["calls"] => in_calls(),
        ["finds"] => finds(),
        ["frames"] => in_frames(),
        ["lookups"] => lookups(),
        ["streams"] => in_streams(),
        ["openers", dialect] => in_openers(dialect),
        ["result", kind] => results(kind),
        ["tools"] => results_of_tools(),
        [way, dialect, ref workloads @ ..] if !workloads.is_empty() => some(way, dialect, workloads),
        // `cargo bench` and `cargo test --benches` start every bench with different arguments.
        _ => println!("run by scripts/count-instructions"),
    }
}

fn some(way: &str, dialect: &str, workloads: &[&str]) {
    let markers = DIALECTS.iter().find(|markers| markers.dialect == dialect).expect("a dialect of the workloads");
    let way = WAYS.iter().find(|(known, _)| *known == way).expect("rust, callback or array").1;
    for name in workloads {
        println!("{name}\t{}", run(way, dialect, &Workload::new(name, markers, BYTES)));
    }
}

fn in_openers(name: &str) {
    let dialect = Dialect::find(name).expect("a name of the catalogue");
    let prose = some_prose(BYTES);
    for Opener { channel, text: opener } in openers(&dialect) {
        let text = format!("{opener}{prose}");
        assert!(stays_open(&dialect, &text), "the prose closes {opener:?} of {name}");
        let workload = Workload::of_text(text);
        let mut read = || {
            let (mut scanner, mut bytes) = (scanner(&dialect), 0);
            for chunk in workload.messages[0].chunks() {
                scanner.feed(chunk, |event| bytes += black_box(event.bytes).len()).expect("nothing to fail");
            }
            bytes
        };
        read();
        counted(&mut read);
        println!("opener\t{channel}\t{}\t{}", opener.trim_end(), workload.feeds());
    }
}

fn all() {
    for (name, way) in WAYS {
        for markers in &DIALECTS {
            let dialect = markers.dialect;
            for workload in ["W2", "W3", "W4", "W5m", "W5t", "W7", "W7c4", "W7c64"] {
                let feeds = run(way, dialect, &Workload::new(workload, markers, BYTES));
                println!("instructions\t{name}\t{dialect}\t{workload}\t{feeds}");
            }
            let nothing = Workload { messages: (0..100).map(|_| Message::empty()).collect() };
            run(way, dialect, &nothing);
            println!("instructions\t{name}\t{dialect}\tnew, finish, free\t{}", nothing.messages.len());
        }
    }
    growing();
    for markers in &DIALECTS {
        for (what, count) in [("one", 1), ("many", SCANNERS)] {
            let mut scanners = many::scanners(markers, count);
            let order = many::in_random_order(count, FEEDS);
            many::feed(&mut scanners, &order);
            counted(&mut || many::feed(&mut scanners, &order));
            println!("scanners\t{what}\t{}\t{FEEDS}", markers.dialect);
        }
    }
}

/// Returns a text of a dialect's models. Of a dialect that has only calls, it has no thinking.
fn joined(dialect: &Dialect, thinking: &str, content: &str) -> String {
    let escape = JoinOptions::new().markers(Markers::Escape);
    let join = |thinking: &str| dialect.join(thinking.as_bytes(), content.as_bytes(), &escape);
    let text = join(thinking).or_else(|_| join("")).expect("markers are escaped");
    String::from_utf8(text).expect("all parts are UTF-8")
}

fn growing() {
    for name in Dialect::names() {
        let dialect = Dialect::find(name).expect("a name of the catalogue");
        let text = |thinking: &str, content: &str| joined(&dialect, thinking, content);
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

fn in_calls() {
    for place in &PLACES {
        for (way, calls) in [("plain", false), ("calls", true)] {
            let workload = place.workload(CALL_BYTES);
            let mut scanner = place.scanner(calls);
            let chunks = || workload.messages.iter().flat_map(|message| message.chunks());
            let mut read = || chunks().map(|chunk| scanner.feed(black_box(chunk))).sum();
            read();
            let bytes = counted(&mut read);
            assert!(bytes * 100 > workload.bytes() * 99, "{bytes} bytes are reported of {}", place.name);
            println!("call\t{}\t{way}\t{}", place.name, workload.feeds());
        }
    }
    for place in PLACES.iter().filter(|place| place.name != "thinking") {
        for times in [1, 8] {
            let (toml, text) = place.call(times * CALL_BYTES);
            let dialect = Dialect::load(toml).expect("a dialect of the tests");
            let scanner = || Scanner::with_options(&dialect, &ScannerOptions::new().calls(true)).expect("memory");
            let (mut first, mut scanner) = (scanner(), scanner());
            let mut answer = Answer::new(&dialect, &answer::Options::new()).expect("memory");
            let mut bytes = 0;
            let pieces = || text.as_bytes().chunks(PIECE);
            pieces().for_each(|chunk| first.feed(chunk, |_| {}).expect("nothing to fail"));
            counted(&mut || {
                let mut hear = |event: Event<'_>| bytes += black_box(event.bytes).len();
                pieces().for_each(|chunk| scanner.feed(chunk, &mut hear).expect("nothing to fail"));
                bytes
            });
            println!("written\t{}\t{times}\tscanner\t{}", place.name, text.len());
            counted(&mut || {
                let mut take = |part: answer::Part<'_>| {
                    if let answer::Part::Arguments { json, .. } = part {
                        bytes += black_box(json).len();
                    }
                };
                pieces().for_each(|chunk| answer.feed(chunk, &mut take).expect("memory for what is held"));
                bytes
            });
            println!("written\t{}\t{times}\tanswer\t{}", place.name, text.len());
        }
    }
}

fn in_frames() {
    let dialect = Dialect::find("qwen3").expect("a name of the catalogue");
    for server in SERVERS {
        for (envelope, changes) in [("stable", false), ("changing", true)] {
            let frames = frames::frames(server, changes, FRAME_BYTES);
            for (way, parts) in [("whole", 1), ("cut", 2)] {
                let options = sse::Options::new().body(if server == SERVERS[4] { Body::Lines } else { Body::Events });
                let options = options.formats(if server == SERVERS[4] { Formats::OLLAMA } else { Formats::CHAT });
                let rewriter = || Rewriter::new(&dialect, &options).expect("memory");
                let (mut first, mut rewriter) = (rewriter(), rewriter());
                let mut out = Vec::with_capacity(1 << 16);
                let mut feed = |frame: &str| {
                    out.clear();
                    for part in frame.as_bytes().chunks(frame.len().div_ceil(parts)) {
                        rewriter.feed(black_box(part), &mut out).expect("memory");
                    }
                    black_box(&out).len()
                };
                frames.iter().for_each(|frame| first.feed(frame, &mut Vec::new()).expect("memory"));
                // The first frames make the objects that the others use.
                assert_ne!(frames[..FIRST_FRAMES].iter().map(|frame| feed(frame)).sum::<usize>(), 0);
                counted(&mut || frames[FIRST_FRAMES..].iter().map(|frame| feed(frame)).sum());
                println!("frame\t{server}\t{envelope}\t{way}\t{}", frames.len() - FIRST_FRAMES);
            }
        }
    }
}

fn in_streams() {
    let dialect = Dialect::find("qwen3").expect("a name of the catalogue");
    let plain = sse::Options::new().body(Body::Events);
    let ways = [
        ("plain", plain.clone()),
        ("repair", plain.clone().repair(true)),
        ("normalise", plain.clone().normalise(Shapes::ALL)),
        ("both", plain.clone().repair(true).normalise(Shapes::ALL)),
        ("no thinking", plain.thinking(Thinking::Drop)),
    ];
    let streams = frames::streams(FRAME_BYTES);
    for (frames::Stream { name, calls, before, frames }, (way, options)) in
        streams.iter().flat_map(|stream| ways.iter().map(move |way| (stream, way)))
    {
        let options = options.clone().calls(*calls);
        let rewriter = || Rewriter::new(&dialect, &options).expect("memory");
        let (mut first, mut rewriter) = (rewriter(), rewriter());
        [before].into_iter().chain(frames).for_each(|frame| first.feed(frame, &mut Vec::new()).expect("memory"));
        let mut out = Vec::with_capacity(1 << 16);
        let mut feed = |frame: &str| {
            out.clear();
            rewriter.feed(black_box(frame), &mut out).expect("memory");
            black_box(&out).len()
        };
        feed(before);
        frames[..FIRST_FRAMES].iter().for_each(|frame| _ = feed(frame));
        counted(&mut || frames[FIRST_FRAMES..].iter().map(|frame| feed(frame)).sum());
        println!("stream\t{name}\t{way}\t{}", frames.len() - FIRST_FRAMES);
    }
}

fn finds() {
    for name in Dialect::names() {
        counted(&mut || usize::from(black_box(Dialect::find(name)).is_ok()));
        println!("found\t{name}\t1");
        // A text is joined by a copy of the dialect, because joining reads it too.
        let path = format!("{}/../dialects/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let copy = std::fs::read_to_string(path).expect("the file of a built-in dialect");
        let copy = Dialect::load(&copy).expect("the file of a built-in dialect is right");
        let prose = some_prose(1024);
        let half = &prose[..FIRST_BYTES / 2];
        let workload = Workload::of_text(joined(&copy, half, half));
        counted(&mut || WAYS[0].1(name, &workload));
        println!("answered\t{name}\t1");
    }
}

/// Chat templates of a small and a large model, and one without thinking.
const TEMPLATES: [(&str, &str); 3] = [
    ("Qwen3", include_str!("../tests/field/templates/ovmst_chat_template_qwen3.jinja")),
    ("gpt-oss", include_str!("../tests/field/templates/ovms_chat_template_gpt_oss.jinja")),
    ("Llama 3", include_str!("../tests/field/templates/anew_llama-3.jinja")),
];

fn lookups() {
    let rows = include_str!("../tests/field/names.tsv").lines().filter(|row| !row.starts_with('#'));
    for model in rows.filter_map(|row| row.split('\t').next()) {
        let kind = if knows_model(model) { "known" } else { "unknown" };
        counted(&mut || usize::from(knows_model(black_box(model))));
        println!("lookup\t{kind}\t{model}\t1");
    }
    for (name, text) in TEMPLATES {
        knows_template(text);
        counted(&mut || usize::from(knows_template(black_box(text))));
        println!("lookup\ttemplate\t{name}\t1");
    }
}

fn results(kind: &str) {
    let text = test_run(kind == "failed");
    let input = Input::of_command("cargo test");
    let mut compressor = None;
    for which in ["first", "second"] {
        let mut compress = || {
            let compressor = compressor.get_or_insert_with(|| Compressor::new(&Registry::new()));
            let result = compressor.compress(&Invocation::new("bash", &input), &[Part::Text(text.as_bytes())]);
            black_box(result).report.after
        };
        counted(&mut compress);
        println!("result\t{which}\t{kind}\t1");
    }
}

/// The size of each tool's output in bytes.
const OUTPUT: usize = 64 * 1024;

/// Each line has a different number in place of `#`.
const TOOLS: [(&str, &str, &str); 5] = [
    ("cargo test", "cargo test", "test parser::reads::reads_case_# ... ok\n"),
    ("npm", "npm install", "npm http fetch GET 200 https://packages.test/left-#/-/left-#.tgz 12ms (cache miss)\n"),
    ("pytest", "pytest -v", "tests/test_parser.py::test_reads_case[#] PASSED                  [ 41%]\n"),
    ("grep", "grep -rn parse src", "src/parser/reads.rs:#:    let parsed = parse_one(&text[#..]);\n"),
    ("none", "./serve", "10:00:00 request # took 12 ms and was sent to worker #\n"),
];

fn results_of_tools() {
    let compressor = Compressor::new(&Registry::new());
    for (name, command, line) in TOOLS {
        let text: String =
            (0..OUTPUT / line.len()).map(|number| line.replace('#', &(number * 7 + 1000).to_string())).collect();
        let input = Input::of_command(command);
        let mut compress = || {
            let result = compressor.compress(&Invocation::new("bash", &input), &[Part::Text(text.as_bytes())]);
            black_box(result).report.after
        };
        compress();
        counted(&mut compress);
        println!("tool\t{name}\t{}", text.len());
    }
}

/// Returns the output of `cargo test` for 100 tests.
fn test_run(fails: bool) -> String {
    let mut text = "   Compiling parser v0.3.1 (/home/user/parser)\n    Finished `test` profile [unoptimized + debuginfo] \
                    target(s) in 4.21s\n     Running unittests src/lib.rs (target/debug/deps/parser-5e1b7a3c)\n\nrunning \
                    100 tests\n"
        .to_owned();
    for number in 0..100 {
        let verdict = if fails && number == 61 { "FAILED" } else { "ok" };
        text += &format!("test reads_case_{number} ... {verdict}\n");
    }
    text + if fails {
        "\nfailures:\n\n---- reads_case_61 stdout ----\n\nthread 'reads_case_61' panicked at src/lib.rs:212:9:\nassertion \
         `left == right` failed\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1` environment variable to display a \
         backtrace\n\n\nfailures:\n    reads_case_61\n\ntest result: FAILED. 99 passed; 1 failed; 0 ignored; 0 measured; 0 \
         filtered out; finished in 0.02s\n\nerror: test failed, to rerun pass `--lib`\n"
    } else {
        "\ntest result: ok. 100 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n\n"
    }
}

fn run(way: Way, dialect: &str, workload: &Workload) -> usize {
    way(dialect, workload);
    assert_eq!(counted(&mut || way(dialect, black_box(workload))), workload.bytes());
    workload.feeds()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn counted(run: &mut dyn FnMut() -> usize) -> usize {
    black_box(run)()
}
