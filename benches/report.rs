//! Writes docs/BENCHMARKS.md and docs/plots from the lines that `scripts/benchmarks` has written to a folder.
//!
//!     report FOLDER
//!
//! Every number is from such a line. If a part was not run, it has dashes.

use std::fmt::{Display, Write};
use std::path::Path;
use std::{array, env, fs};

mod plot;

use aside_benches::calls::{BODIES, VALUES};
use plot::{Line, Plot};

const DIALECTS: [&str; 6] = ["inline-think", "qwen3", "thinking-tags", "fenced-thinking", "thought-stream", "any"];
/// Dialects in which only `<` matters, and dialects in which backticks matter too, as fences or as code that hides markers.
const BY_TAGS: [&str; 3] = ["inline-think", "thinking-tags", "thought-stream"];
const BY_FENCES: [&str; 3] = ["qwen3", "fenced-thinking", "any"];
/// The workloads with which other parsers are measured too.
const WORKLOADS: [&str; 6] = ["W1", "W2", "W3", "W4", "W5m", "W5t"];
/// The workloads with which the minimal scanner is measured too.
const LIMITED: [&str; 7] = ["W2", "W3", "W4", "W5m", "W5t", "W7", "W7c64"];
const CJK: [&str; 3] = ["W7", "W7c4", "W7c64"];
const TEXTS: [&str; 5] = ["prose", "near misses", "blank lead", "one line", "open fence"];
const PEERS: [&str; 4] = ["aside", "reasoning-parser", "clark-agent", "dynamo-parsers"];
/// The minimal cost of a Ruby method that calls the library.
const METHOD: &str = "empty call in a method";
const PARTS: [&str; 19] = [
    "instructions",
    "openers",
    "calls",
    "callpeers",
    "rewriter",
    "streams",
    "lookups",
    "times",
    "c",
    "memory",
    "many",
    "cold",
    "peers",
    "go",
    "ruby",
    "python",
    "compress",
    "llama",
    "trajectories",
];

fn main() {
    let folder = env::args().nth(1).expect("the folder of the lines");
    let figures = Figures::read(Path::new(&folder));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::create_dir_all(root.join("docs/plots")).expect("a folder for the plots");
    let mut report = String::from(HEAD);
    // The costs of other parsers are first, then the machine's limits. The goals and the machine are last.
    report += &peers(&figures, &root);
    report += &llama(&figures);
    report += &times(&figures);
    report += &crossings(&figures);
    report += &places(&figures);
    report += &calls(&figures);
    report += &rewriter(&figures);
    report += &lookups(&figures);
    report += &growth(&figures);
    report += &memory(&figures);
    report += &cold(&figures);
    report += &tools(&figures);
    report += &trajectories(&figures);
    report += &targets(&figures);
    report += &machine(&figures);
    fs::write(root.join("docs/BENCHMARKS.md"), report).expect("a file to write");
}

const HEAD: &str = "\
# Benchmarks

`scripts/benchmarks` writes this page. Machines are noisy: times are the shortest of several rounds, are compared only with
times of the same run, and are best read as ratios. Instruction counts (callgrind) are repeatable.

| workload | what it is |
|---|---|
| W1 | one message of 1 MiB, two thirds of it thinking, in one chunk: prose, code, CJK, emoji |
| W2 | the same in chunks as long as tokens, 4.3 bytes |
| W3 | the same in chunks of 64 bytes |
| W4 | beginnings of markers that do not continue as markers, in tokens: 18 % `<`, 12 % backticks |
| W5m, W5t | 10,000 messages of 315 bytes, a fresh scanner each; whole, in tokens |
| W6 | texts of growing length in tokens, some of them hard (see [Growth](#growth)) |
| W7 | a message as W1, but Chinese, Japanese, Korean and emoji, in tokens |
| W7c4, W7c64 | the same in chunks of 4 and of 64 bytes, which also cut characters |
| W8 | 100,000 scanners in the middle of a thinking, each fed a short token, in random order |
| W9 | frames of about 224 bytes as servers write them, each with a token of a message |
| W10 | tool results of 64 kB, without failures, after the first one |
| W11 | cold start: a process from its start to the first event; the first result of a compressor |

Instructions are counted on 128 KiB of the same text.
";

// ---- lines ----

/// Lines of fields. The first fields of a line name the others.
struct Figures(Vec<Vec<String>>);

impl Figures {
    fn read(folder: &Path) -> Figures {
        let files = PARTS.iter().copied().chain(["machine"]);
        let texts = files.filter_map(|name| fs::read_to_string(folder.join(name).with_extension("tsv")).ok());
        Figures(texts.flat_map(|text| text.lines().map(fields).collect::<Vec<_>>()).collect())
    }

    /// Returns the fields after these fields, for each line that begins with them.
    fn all<'a>(&'a self, key: &'a [&'a str]) -> impl Iterator<Item = &'a [String]> {
        let is =
            move |line: &&Vec<String>| line.len() > key.len() && line.iter().zip(key).all(|(field, key)| field == key);
        self.0.iter().filter(is).map(move |line| &line[key.len()..])
    }

    fn text<'a>(&'a self, key: &'a [&'a str], field: usize) -> Option<&'a str> {
        self.all(key).next()?.get(field).map(String::as_str)
    }

    fn number(&self, key: &[&str], field: usize) -> Option<f64> {
        self.text(key, field)?.parse().ok()
    }

    /// Reads the last two fields of a count, which are the number of calls and the number of instructions, and returns instructions
    /// per call.
    fn each(&self, key: &[&str]) -> Option<f64> {
        Some(self.number(key, 1)? / self.number(key, 0)?)
    }
}

fn fields(line: &str) -> Vec<String> {
    line.split('\t').map(str::to_owned).collect()
}

// ---- writing ----

fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut text = format!("\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(N));
    for row in rows {
        writeln!(text, "| {} |", row.join(" | ")).unwrap();
    }
    text
}

fn show(value: Option<f64>, decimals: usize) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.decimals$}"))
}

fn count(value: Option<impl Display>) -> String {
    value.map_or("–".to_owned(), |value| value.to_string())
}

fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b?)
}

fn most(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().reduce(f64::max)
}

fn least(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().reduce(f64::min)
}

// ---- sections ----

fn machine(figures: &Figures) -> String {
    let rows = figures.all(&["machine"]).map(|line| [line[0].clone(), line[1].clone()]);
    let crates = figures.all(&["version"]).map(|line| [format!("crate `{}`", line[0]), line[1].clone()]);
    let all: Vec<[String; 2]> = rows.chain(crates).collect();
    let runs = PARTS.iter().filter_map(|part| {
        let of = |field| figures.text(&["run", part], field).map(str::to_owned);
        Some([format!("`{part}`"), of(0)?, of(1)?, of(2)?])
    });
    let runs: Vec<[String; 4]> = runs.collect();
    "\n## Machine and runs\n".to_owned()
        + &table(["machine", ""], all)
        + &table(["part", "day", "version", "load before it"], runs)
}

/// A figure with a goal.
struct Target {
    what: String,
    /// None if the figure is only shown.
    limit: Option<f64>,
    at_least: bool,
    measured: Option<f64>,
    decimals: usize,
    alone: Option<f64>,
}

impl Target {
    fn shown(what: &str, measured: Option<f64>, decimals: usize) -> Target {
        Target { what: what.to_owned(), limit: None, at_least: false, measured, decimals, alone: None }
    }

    fn at_most(limit: f64, what: &str, measured: Option<f64>, decimals: usize) -> Target {
        Target { limit: Some(limit), ..Target::shown(what, measured, decimals) }
    }

    fn at_least(limit: f64, what: &str, measured: Option<f64>, decimals: usize) -> Target {
        Target { at_least: true, ..Target::at_most(limit, what, measured, decimals) }
    }

    /// Sets the figure that remains if aside does nothing.
    fn alone(self, alone: Option<f64>) -> Target {
        Target { alone, ..self }
    }

    fn row(self) -> [String; 5] {
        let alone = self.alone.map_or(String::new(), |alone| show(Some(alone), self.decimals));
        let measured = show(self.measured, self.decimals);
        let Some(limit) = self.limit else { return [self.what, "shown".to_owned(), alone, measured, String::new()] };
        let is_met = |measured| if self.at_least { measured >= limit } else { measured <= limit };
        let met = self.measured.map_or("–", |measured| if is_met(measured) { "yes" } else { "**no**" });
        let sign = if self.at_least { "≥" } else { "≤" };
        [self.what, format!("{sign} {limit}"), alone, measured, met.to_owned()]
    }
}

fn targets(figures: &Figures) -> String {
    let of = |workload: &str, dialect: &str| figures.each(&["instructions", "callback", dialect, workload]);
    let worst = |workload: &str, other: &str| most(DIALECTS.iter().map(|d| ratio(of(workload, d), of(other, d))));
    // The cost of reporting an event does not depend on the length of its text.
    let event = most(figures.all(&["shared", "event callback"]).map(|line| {
        let [_, feeds, instructions] = line else { return None };
        ratio(instructions.parse().ok(), feeds.parse().ok())
    }));
    let per_feed = |limit, workload: &str, dialect: &str| {
        let what = format!("{workload} through C, callback, `{dialect}`: instructions a feed");
        Target::at_most(limit, &what, of(workload, dialect), 0).alone(event)
    };
    let of_memchr = |d: &&str| {
        ratio(figures.number(&["time", "memchr", d, "W1"], 0), figures.number(&["time", "rust", d, "W1"], 0))
    };
    let exponent = most(exponents(figures).into_iter().map(|all| most(all.1.into_iter())));
    let go_allocations = most(figures.all(&["go", "Feed"]).map(|line| line[1].parse().ok()));
    let ruby = |what| ratio(figures.number(&["ruby", what], 0), figures.number(&["ruby", "empty call"], 0));
    let idle = |dialect| figures.number(&["memory", dialect], 1);
    let above = most(figures.all(&["memory"]).map(|line| {
        let [_, _, bytes, _, _, max_hold] = line else { return None };
        ratio(Some(bytes.parse::<f64>().ok()? - idle("inline-think")?), max_hold.parse().ok())
    }));
    let random = most(figures.all(&["many"]).map(|line| ratio(line[3].parse().ok(), line[1].parse().ok())));
    let find = most(figures.all(&["find"]).map(|line| line[1].parse().ok()));
    let result = figures.each(&["result", "first", "failed"]).map(|count| count / 1e6);
    let tool = |name| figures.each(&["tool", name]);
    let targets = [
        per_feed(95.0, "W2", "inline-think"),
        per_feed(100.0, "W2", "any"),
        per_feed(170.0, "W3", "inline-think"),
        per_feed(300.0, "W3", "fenced-thinking"),
        per_feed(400.0, "W3", "qwen3"),
        per_feed(400.0, "W3", "any"),
        per_feed(120.0, "W4", "inline-think"),
        per_feed(120.0, "W4", "fenced-thinking"),
        per_feed(300.0, "W4", "qwen3"),
        per_feed(280.0, "W4", "any"),
        per_feed(140.0, "W5t", "inline-think"),
        per_feed(230.0, "W7", "inline-think"),
        per_feed(450.0, "W7c64", "inline-think"),
        Target::at_most(
            4500.0,
            "W5m, Rust, `think`: instructions a message",
            figures.each(&["peers", "aside", "W5m"]),
            0,
        ),
        Target::at_most(
            1.5,
            "W7c64 against W3 through C, callback, every dialect: instructions a feed",
            worst("W7c64", "W3"),
            2,
        ),
        Target::at_most(
            1.6,
            "W7 against W2 through C, callback, every dialect: instructions a feed",
            worst("W7", "W2"),
            2,
        ),
        Target::at_least(
            0.6,
            "W1 through Rust where only `<` decides: share of the speed of `memchr` over the same bytes",
            least(BY_TAGS.iter().map(of_memchr)),
            2,
        ),
        Target::at_least(
            0.8,
            "W1 through Rust where backticks decide too: share of that speed",
            least(BY_FENCES.iter().map(of_memchr)),
            2,
        ),
        Target::at_most(
            1.5,
            "tool calls through C, callback: 4 bytes inside a value against W2, every kind of value: instructions a feed",
            ratio(most(VALUES.iter().flat_map(|place| call_feeds(figures, place))), token(figures)),
            2,
        ),
        Target::at_most(
            2.5,
            "tool calls through C, callback: 4 bytes of whole calls against W2, the mean: instructions a feed",
            ratio(most(mean_of_bodies(figures).into_iter()), token(figures)),
            2,
        ),
        Target::at_most(1.02, "W6: exponent of cost against length, every dialect and text", exponent, 3),
        Target::at_most(
            2.0,
            "every place inside every tag of `any`: the largest against the median, instructions a feed",
            ratio(most(counts_of_places(figures)), median_place(figures)),
            2,
        ),
        Target::at_most(
            1.0,
            "Go, `Feed` of a token against an empty cgo call",
            ratio(go(figures, "Feed"), go(figures, "EmptyCall")),
            2,
        ),
        Target::at_most(0.0, "Go, `Feed` of a token: allocations", go_allocations, 0),
        Target::at_most(2.0, "Ruby, `feed_text` of a token against an empty ffi call", ruby("Scanner#feed_text"), 2)
            .alone(ruby(METHOD)),
        Target::at_most(344.0, "bytes of an idle scanner through C, `inline-think`", idle("inline-think"), 0),
        Target::at_most(882.0, "bytes of an idle scanner through C, `any`", idle("any"), 0),
        Target::at_most(
            2.0,
            "bytes of an idle scanner through C above `inline-think`, every dialect: for each byte that it may hold back",
            above,
            2,
        ),
        Target::shown("W8 against one scanner, every dialect: time of a feed", random, 2),
        Target::at_most(1.0, "W11: first `find` of every dialect, ms", find, 2),
        Target::at_most(30.0, "W11: first result with failures, millions of instructions", result, 1),
        Target::at_most(
            2.5,
            "W10: `cargo test` by `grep`, instructions a byte",
            ratio(tool("cargo test"), tool("grep")),
            2,
        ),
    ];
    let targets = targets.into_iter().chain(of_fleets(figures));
    "\n## Goals\n\n`alone` is the figure without the work of aside: in C, reporting an event without reading the text; in \
     Ruby, a method around an empty call of the ffi gem. Where several dialects are measured, the worst figure counts.\n"
        .to_owned()
        + &table(["what", "wanted", "alone", "measured", "reached"], targets.map(Target::row))
        + &limits(figures, event)
}

/// Returns the goals for the costs of servers and gateways besides the scanner. Each has the cost of the minimal work with the same
/// effect, measured in the same run, which explains why some goals are not reached.
fn of_fleets(figures: &Figures) -> Vec<Target> {
    let stream = |limit, name: &str, what: &str| {
        let what = format!("{what}: instructions a frame");
        Target::at_most(limit, &what, figures.each(&["stream", name, "plain"]), 0)
    };
    let repair = |limit, name: &str, what: &str| {
        let [plain, repair] = ["plain", "repair"].map(|way| figures.each(&["stream", name, way]));
        Target::at_most(limit, &format!("{what}, `repair` against without"), ratio(repair, plain), 2)
    };
    let lookup = |limit, kind, what: &str| Target::at_most(limit, what, median(&lookups_of(figures, kind)), 0);
    let first = |limit, dialect: &str| {
        let [found, answered] = ["found", "answered"].map(|what| figures.each(&[what, dialect]));
        let count = found.zip(answered).map(|(found, answered)| (found + answered) / 1e6);
        let what = format!("first `find` of `{dialect}` and a first answer of 300 bytes: millions of instructions");
        Target::at_most(limit, &what, count, 0)
    };
    let [bytes, text] =
        ["Scanner.feed of bytes", "Scanner.feed of str"].map(|what| figures.number(&["python", what], 0));
    vec![
        stream(2700.0, "chat", "chat"),
        stream(2700.0, "Messages", "Messages"),
        stream(4500.0, "Responses", "Responses"),
        stream(5000.0, "calls, short", "chat with `calls`, short ones"),
        stream(4000.0, "calls, long", "chat with `calls`, a long one"),
        stream(3500.0, "calls, not asked for", "chat in a tool span, without `calls`"),
        repair(1.1, "chat", "chat"),
        repair(1.35, "Messages", "Messages"),
        repair(1.35, "Responses", "Responses"),
        Target::at_most(
            4.5,
            "100,000 rewriters in random order against one: time of a frame",
            ratio(figures.number(&["rewriters", "100000"], 0), figures.number(&["rewriters", "1"], 0)),
            1,
        ),
        Target::at_most(2200.0, "bytes of a rewriter after three frames", figures.number(&["rewritermemory"], 0), 0),
        lookup(500.0, "known", "`find_for_model`, a model that is known: instructions, the median"),
        lookup(5000.0, "unknown", "`find_for_model`, one that is not: instructions, the median"),
        Target::at_most(
            20000.0,
            "`find_for_template`, the same bytes again: instructions, the largest",
            most(lookups_of(figures, "template").into_iter().map(Some)),
            0,
        ),
        first(5.0, "qwen3"),
        first(10.0, "any"),
        Target::at_most(1.1, "Python, `feed` of `bytes` against `str`", ratio(bytes, text), 2),
    ]
}

fn limits(figures: &Figures, event: Option<f64>) -> String {
    let row = |name: &str, way: &'static str| -> [String; 8] {
        let counts = LIMITED.map(|workload| show(figures.each(&["limit", way, workload]), 0));
        let mut counts = counts.into_iter();
        array::from_fn(|at| if at == 0 { name.to_owned() } else { counts.next().unwrap_or_default() })
    };
    let event = show(event, 0);
    let alone = array::from_fn(|at| if at == 0 { "an event alone".to_owned() } else { event.clone() });
    let mut head = [""; 8];
    head[1..].copy_from_slice(&LIMITED);
    let any = figures.each(&["found", "any"]).map(|count| count / 1e6);
    let think = figures.each(&["found", "think"]).map(|count| count / 1e6);
    let of = |workload| {
        ratio(figures.each(&["limit", "callback", workload]), figures.each(&["limit", "minimal callback", workload]))
    };
    let times = most(LIMITED.map(of).into_iter());
    let words = [
        format!(
            "W2 and W4: libaside costs {} and {} times the minimal scanner; most of this cost is the call and the event. In W4, \
             `qwen3` and `any` cost more: they decide after each `<` and backtick whether a marker is quoted or only mentioned, and one \
             feed in ten asks the recogniser.",
            show(of("W2"), 2),
            show(of("W4"), 2)
        ),
        format!(
            "W3, W5 and W7: libaside costs up to {} times the minimal scanner. The difference is for work that the minimal \
             scanner does not do: the counts of bytes and characters of each channel, one engine for markers of every dialect, feeds \
             that a callback may stop, and errors. Fences and `any` also look for more bytes than `<`.",
            show(times, 1)
        ),
        "W2 since commit 376c52c, in Rust, `inline-think` and `any`: 59 and 70 instructions up to eff0cdbe; 62 and 72 at a564c15b, \
         after all ways to feed a chunk had become one function; 62 and 78 at c03c77e5, which removes line ends around tags of \
         thinking in `any`, so that some chunks end in a line end that is held; 65 and 82 at 1ed9fb5f; 65 and 86 at c196dafc, after \
         rows were filled when they are needed. W3 of `any` at these commits: 542, 567, 579 and 622, and \
         653 today, because more bytes are read one by one."
            .to_owned(),
        "W1 where backticks decide too: after a `<` or a backtick the automaton reads byte by byte until it is back in a \
         state that almost no byte leaves. `memchr` over the same bytes only counts the bytes that it finds."
            .to_owned(),
        "W5m: no function takes more than 20 % of a short message. A feed returns the events of a message one by one, so that \
         a host may stop between two events: this costs 225 instructions an event. Finding the table's state after a marker \
         costs 400, and making and freeing a scanner a tenth of a message. Where a call without an opener may begin, as before \
         the first content of `qwen3`, a recogniser reads (`instructions rust qwen3 W5m` under callgrind)."
            .to_owned(),
        "W7: a host's chunks may cut a character, and events may not, so the part of a character at the end of a chunk is \
         held and counted. The scanner also checks whether the last character is a mark that opens a quotation."
            .to_owned(),
        "A frame of chat, and of Responses: the scanner takes about 5 % of a frame of Responses. The rest finds the text in the \
         event, writes it again with its escapes, numbers the event again and keeps the text that the end of the item must \
             repeat."
            .to_owned(),
        "Short calls: half of a frame is the scanner, which reads the words of a call byte by byte and makes an event for each. \
         [Tool calls](#tool-calls) has the parts."
            .to_owned(),
        "A long call: 64 bytes of a JSON string cost 3,000 instructions as an answer. The scanner takes 750 of them, the check \
         of the arguments 670, and the check of UTF-8 220. Most of the rest decides whether the text is a call and whether the \
         call is reported (`instructions calls` under callgrind)."
            .to_owned(),
        "Many rewriters in random order: if the rewriter is in the processor's cache, a frame takes a sixth of the time. The \
         rest is waiting for memory: 23 lines of 64 bytes of the rewriter, its scanner and its envelope (callgrind's simulation of a \
         cache of 1 MiB, 4,000 rewriters). The buffers for one event are not among them: they belong to the thread."
            .to_owned(),
        "`repair`: an event is compared with the event before it a second time, and one that differs in more than its text is \
            read once more.".to_owned(),
        "`find_for_model`: a name is split at every separator, looked up once in the table of all names, and once more to \
            find a dialect for its calls."
            .to_owned(),
        "Besides its state, an idle scanner has room for the bytes that its dialect may hold back; the table of memory has \
            `max_hold`.".to_owned(),
        format!(
            "W11: a first `find` reads the dialect's file and compiles its markers, {} million instructions for `think` and {} \
             million for `any`. Rows of the table are filled when a stream first enters their states. Half of the instructions \
             for `any` compile its 28 regions, which have up to 92 markers: each marker is compared with all others of its region, \
             because two of the same effect are one pattern, and some are left out where they resemble another.",
            show(think, 0),
            show(any, 0)
        ),
        "A first use in Node: V8 needs 10 ms of the processor to check the WebAssembly file and make its instance, and 8 ms to \
         compile the functions that a first dialect of any size needs. With `any`, its optimiser takes another 45 ms on other \
         threads, which `node --liftoff-only` does not spend."
            .to_owned(),
    ];
    "\n### Why some are not reached\n\nThe minimal scanner (`benches/c/minimal.c`) is written by hand in C for one pair of markers. \
     It makes the same events as `inline-think`, holds back the same bytes, does not cut a character, and does nothing else. \
     The table has the instructions of a feed with `inline-think` (for W5m, of a message) in the same C program:\n"
        .to_owned()
        + &table(head, [row("libaside", "callback"), row("minimal scanner", "minimal callback"), alone])
        + "\n"
        + &words.map(|line| format!("- {line}\n")).concat()
}

fn go(figures: &Figures, bench: &str) -> Option<f64> {
    least(figures.all(&["go", bench]).map(|line| line[0].parse().ok()))
}

fn crossings(figures: &Figures) -> String {
    let mut rows = Vec::new();
    for way in ["rust", "callback", "array"] {
        for dialect in DIALECTS {
            let of = |workload: &str| show(figures.each(&["instructions", way, dialect, workload]), 0);
            rows.push([
                way.to_owned(),
                format!("`{dialect}`"),
                of("W2"),
                of("W3"),
                of("W4"),
                of("W5m"),
                of("W5t"),
                of("W7"),
                of("W7c4"),
                of("W7c64"),
                of("new, finish, free"),
            ]);
        }
    }
    let mut text =
        "\n## Instructions per feed\n\n`callback` and `array` are the two ways of the C interface to report events; W5m and \
                    W5t include making and freeing the scanners.\n"
            .to_owned();
    let head = ["way", "dialect", "W2", "W3", "W4", "W5m", "W5t", "W7", "W7c4", "W7c64", "make, finish, free"];
    text += &table(head, rows);

    text += "\nA C program that calls `libaside.so`, with its loop. For comparison it calls two functions of another shared \
             library with the same arguments: an empty function, and a function that reports the whole chunk as an event \
             without reading it.\n";
    let shared = |way, dialect| show(figures.each(&["shared", way, dialect]), 0);
    let time = |way, dialect| show(figures.number(&["time", way, dialect, "W2"], 1), 1);
    text += &table(
        [
            "W2",
            "callback",
            "array",
            "empty call, callback",
            "empty call, array",
            "event alone, callback",
            "event alone, array",
            "callback, ns",
            "array, ns",
            "empty calls, ns",
        ],
        DIALECTS.map(|dialect| {
            [
                format!("`{dialect}`"),
                shared("callback", dialect),
                shared("array", dialect),
                shared("empty callback", dialect),
                shared("empty array", dialect),
                shared("event callback", dialect),
                shared("event array", dialect),
                time("callback", dialect),
                time("array", dialect),
                format!("{}, {}", time("empty callback", dialect), time("empty array", dialect)),
            ]
        }),
    );

    text += "\nGo, Ruby and Python feed the same tokens (W2). The empty call passes the same arguments to a C function that \
             does nothing; in Python, it is a method of a list. Go's `Feed` checks short chunks itself, and calls C only if a \
             marker can begin in the chunk.\n";
    let empty = go(figures, "EmptyCall");
    let mut rows: Vec<[String; 4]> = [
        ("Feed", "Go, `Feed`"),
        ("FeedSixteen", "Go, `Feed` of 16 tokens at once, for each"),
        ("FeedTokens", "Go, `FeedTokens`"),
        ("Splitter", "Go, `Splitter`"),
        ("EmptyCall", "Go, empty cgo call"),
    ]
    .map(|(bench, name)| {
        let allocations = figures.all(&["go", bench]).next().map(|line| line[1].clone());
        let time = go(figures, bench);
        [name.to_owned(), show(time, 1), show(ratio(time, empty), 2), count(allocations)]
    })
    .into();
    let empty = figures.number(&["ruby", "empty call"], 0);
    for (what, name) in [
        ("Scanner#feed", "Ruby, `Scanner#feed`"),
        ("Scanner#feed of 16", "Ruby, `Scanner#feed` of 16 tokens at once, for each"),
        ("Scanner#feed_deltas", "Ruby, `Scanner#feed_deltas`"),
        ("Scanner#feed_text", "Ruby, `Scanner#feed_text`"),
        ("InlineThinkFilter#feed", "Ruby, `InlineThinkFilter#feed`"),
        ("InlineThinkFilter#feed of 16", "Ruby, `InlineThinkFilter#feed` of 16 tokens, joined, for each"),
        ("plain filter", "Ruby, a plain filter"),
        ("plain filter of 16", "Ruby, a plain filter of 16 tokens, joined, for each"),
        (METHOD, "Ruby, empty ffi call in a method"),
        ("empty call", "Ruby, empty ffi call"),
    ] {
        let time = figures.number(&["ruby", what], 0);
        rows.push([name.to_owned(), show(time, 1), show(ratio(time, empty), 2), String::new()]);
    }
    for (what, name) in [
        ("Scanner.feed of str", "Python, `Scanner.feed` of `str`"),
        ("Scanner.feed of bytes", "Python, `Scanner.feed` of `bytes`"),
        ("empty call", "Python, `list.append`"),
    ] {
        let [time, empty] = [what, "empty call"].map(|what| figures.number(&["python", what], 0));
        rows.push([name.to_owned(), show(time, 1), show(ratio(time, empty), 2), String::new()]);
    }
    text + &table(["a token", "ns", "empty calls", "allocations"], rows)
}

fn counts_of_places(figures: &Figures) -> impl Iterator<Item = Option<f64>> {
    figures.all(&["opener"]).map(|line| ratio(line[3].parse().ok(), line[2].parse().ok()))
}

fn median_place(figures: &Figures) -> Option<f64> {
    let mut counts: Vec<f64> = counts_of_places(figures).flatten().collect();
    counts.sort_by(f64::total_cmp);
    let last = counts.len().checked_sub(1)?;
    Some((counts[last / 2] + counts[last.div_ceil(2)]) / 2.0)
}

fn places(figures: &Figures) -> String {
    let median = median_place(figures);
    let rows = figures.all(&["opener"]).zip(counts_of_places(figures)).map(|(line, count)| {
        let opener = line[1].replace('|', "\\|");
        [line[0].clone(), format!("`` {opener} ``"), show(count, 0), show(ratio(count, median), 2)]
    });
    "\nA feed of one token of prose inside each span of `any`, by its opener, in Rust; the last column is the ratio to the \
     median.\n"
        .to_owned()
        + &table(["channel", "opener", "instructions", "ratio"], rows)
}

fn times(figures: &Figures) -> String {
    let mut text =
        "\n## Compared with what the machine can do\n\nns per byte; `memchr` searches for the bytes with which a marker or \
                    code may begin: `<`; for `qwen3` also a backtick; for `fenced-thinking` only a backtick; for `any` `<`, \
                    `[` and a backtick.\n"
            .to_owned();
    let mut rows = Vec::new();
    for dialect in DIALECTS {
        for way in ["rust", "callback", "array", "memchr", "memcpy"] {
            let of = |workload: &str| show(figures.number(&["time", way, dialect, workload], 0), 3);
            let [w1, w2, w3, w4, w5m, w5t] = WORKLOADS.map(of);
            let [w7, w7c4, w7c64] = CJK.map(of);
            rows.push([format!("`{dialect}`"), way.to_owned(), w1, w2, w3, w4, w5m, w5t, w7, w7c4, w7c64]);
        }
    }
    text += &table(["dialect", "way", "W1", "W2", "W3", "W4", "W5m", "W5t", "W7", "W7c4", "W7c64"], rows);
    text += "\nW1 as speed:\n";
    text + &table(
        ["W1", "Rust, GB/s", "C, GB/s", "`memchr`, GB/s", "`memcpy`, GB/s", "Rust against `memchr`"],
        DIALECTS.map(|dialect| {
            let speed = |way| figures.number(&["time", way, dialect, "W1"], 0).map(|nanos| 1.0 / nanos);
            [
                format!("`{dialect}`"),
                show(speed("rust"), 1),
                show(speed("callback"), 1),
                show(speed("memchr"), 1),
                show(speed("memcpy"), 1),
                show(ratio(speed("rust"), speed("memchr")), 2),
            ]
        }),
    )
}

fn peers(figures: &Figures, root: &Path) -> String {
    let there: Vec<&str> = PEERS.into_iter().filter(|peer| figures.each(&["peers", peer, "W2"]).is_some()).collect();
    let mut text = "\n## Compared with other libraries\n\nThe same texts through published crates, with the tags `<think>` and `</think>` \
                    (aside: the dialect `think`; `reasoning-parser`: `Qwen3Parser`; `clark-agent`: \
                    `ThinkingTagStreamFilter`; `dynamo-parsers`: `Qwen`), all through their Rust interfaces. The other crates \
                    return Strings, aside returns slices, and their other work differs, so this compares the costs for a \
                    host, not the quality of the libraries.\n"
        .to_owned();
    if !there.contains(&"dynamo-parsers") {
        text += "\n`dynamo-parsers` was not measured in this run: `ASIDE_DYNAMO=1` builds it.\n";
    }
    let row = |peer: &&str, of: &dyn Fn(&str) -> String| {
        let [w1, w2, w3, w4, w5m, w5t] = WORKLOADS.map(of);
        [format!("`{peer}`"), w1, w2, w3, w4, w5m, w5t]
    };
    text += "\nInstructions per feed:\n";
    text += &table(
        ["", "W1", "W2", "W3", "W4", "W5m", "W5t"],
        there.iter().map(|peer| row(peer, &|workload| show(figures.each(&["peers", peer, workload]), 0))),
    );
    text += "\nns per byte:\n";
    text += &table(
        ["", "W1", "W2", "W3", "W4", "W5m", "W5t"],
        there.iter().map(|peer| row(peer, &|workload| show(figures.number(&["peertime", peer, workload], 0), 3))),
    );
    text += "\nWrong messages out of all, and bytes of markers in the output. In W5t chunks also cut markers, as \
             happens where a marker is not a single token; in W5m each message is whole. The texts of `<<` have a `<` just \
             before the closer, and are cut into chunks of every size. White space at the ends of a part is not compared.\n";
    text += &table(
        ["", "W4", "W5m", "W5t", "`<<`"],
        there.iter().map(|peer| {
            let [w4, w5m, w5t, angle] = ["W4", "W5m", "W5t", "<<"].map(|workload| {
                let of = |field| count(figures.text(&["wrong", peer, workload], field));
                format!("{} of {}; {} bytes", of(0), of(2), of(1))
            });
            [format!("`{peer}`"), w4, w5m, w5t, angle]
        }),
    );
    let line = |peer: &&str, key: &[&str]| {
        let key: Vec<&str> = [key[0], peer].iter().chain(&key[1..]).copied().collect();
        let points = figures.all(&key).filter_map(|line| {
            let [x, bytes, instructions] = line else { return None };
            Some((x.parse().ok()?, instructions.parse::<f64>().ok()? / bytes.parse::<f64>().ok()?))
        });
        Line { name: (*peer).to_owned(), points: points.collect() }
    };
    let mut draw = |file: &str, title: &str, x: &str, key: &[&str]| {
        let lines: Vec<Line> = there.iter().map(|peer| line(peer, key)).collect();
        let plot = Plot { title, x, y: "instructions per byte", lines: &lines };
        if !lines.is_empty() {
            fs::write(root.join("docs/plots").join(file), plot.to_svg()).expect("a file to write");
            write!(text, "\n![{title}](plots/{file})\n").unwrap();
        }
    };
    draw("chunk.svg", "Cost against chunk size", "bytes in a chunk", &["chunk"]);
    draw("length.svg", "Cost against length, prose in tokens", "length, in 8 KiB", &["length", "prose"]);
    draw(
        "near-misses.svg",
        "Cost against length, near misses in tokens",
        "length, in 8 KiB",
        &["length", "near misses"],
    );
    text
}

/// Returns the exponent of each text for every dialect, between 8 and 64 times the shortest length, where one-time costs matter
/// least.
fn exponents(figures: &Figures) -> Vec<(&str, [Option<f64>; 5])> {
    let mut dialects: Vec<&str> = figures.all(&["growth"]).map(|line| line[0].as_str()).collect();
    dialects.dedup();
    let exponent = |dialect: &str, text: &str| {
        let cost = |times: &str| figures.number(&["growth", dialect, text, times], 1);
        let bytes = |times: &str| figures.number(&["growth", dialect, text, times], 0);
        Some((cost("64")? / cost("8")?).ln() / (bytes("64")? / bytes("8")?).ln())
    };
    dialects.into_iter().map(|dialect| (dialect, TEXTS.map(|text| exponent(dialect, text)))).collect()
}

fn growth(figures: &Figures) -> String {
    let rows = exponents(figures).into_iter().map(|(dialect, all)| {
        let [prose, near, blank, line, fence] = all.map(|exponent| show(exponent, 3));
        [format!("`{dialect}`"), prose, near, blank, line, fence]
    });
    "\n## Growth\n\nHow the instructions grow with the length of a text in tokens, as an exponent: 1 is linear. \
     `prose` is thinking and content as the dialect's models write them; the others are hard texts: beginnings of markers, white space alone before the text, \
     one line without end, a code fence without end.\n"
        .to_owned()
        + &table(["dialect", "prose", "near misses", "blank lead", "one line", "open fence"], rows)
}

/// Returns an empty text if the part was not run, because it needs the sources of llama.cpp.
fn llama(figures: &Figures) -> String {
    let rows: Vec<[String; 6]> = figures
        .all(&["llama"])
        .map(|line| {
            let number = |field: usize| line.get(field).and_then(|text| text.parse::<f64>().ok());
            let [tokens, own, inside, alone] = [0, 2, 3, 4].map(number);
            let whole = |each: Option<f64>| Some(each? * tokens? / 1e6);
            [show(tokens, 0), show(own, 1), show(inside, 1), show(alone, 3), show(whole(own), 1), show(whole(alone), 4)]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    "\n## In place of llama.cpp's parser\n\nMicroseconds of processor time for a token of 4 bytes, for an answer of thinking \
     and content: llama.cpp's `common_chat_parse`, which its server calls with the whole text so far at each token; the same \
     function with the parser of `hosts/llama.cpp`, which keeps its scanner between the calls and only has to copy and \
     compare the whole message, because the function returns a whole message; and the scanner by itself. In answers longer \
     than 4,000 tokens, llama.cpp's parser was timed at 400 evenly spread tokens.\n"
        .to_owned()
        + &table(
            ["tokens", "llama.cpp", "with aside in it", "aside alone", "the whole answer, llama.cpp, s", "aside alone, s"],
            rows,
        )
}

/// Returns the instructions of a feed of W2 through C, callback.
fn token(figures: &Figures) -> Option<f64> {
    figures.each(&["instructions", "callback", "inline-think", "W2"])
}

/// Returns the instructions of a feed of a tool call, without and with the option `calls`.
fn call_feeds(figures: &Figures, place: &str) -> [Option<f64>; 2] {
    ["plain", "calls"].map(|way| figures.each(&["call", place, way]))
}

/// Returns the mean for the forms of whole calls, without and with the option `calls`.
fn mean_of_bodies(figures: &Figures) -> [Option<f64>; 2] {
    let counts = BODIES.map(|place| call_feeds(figures, place));
    [0, 1].map(|way| {
        let sum = counts.iter().map(|count| count[way]).sum::<Option<f64>>();
        sum.map(|sum| sum / counts.len() as f64)
    })
}

fn calls(figures: &Figures) -> String {
    let row = |name: &str, [plain, calls]: [Option<f64>; 2]| {
        let of_token = |count| show(ratio(count, token(figures)), 1);
        [name.to_owned(), show(plain, 0), of_token(plain), show(calls, 0), of_token(calls)]
    };
    let places = VALUES.iter().chain(&["thinking"]).chain(&BODIES);
    let rows = places.map(|place| row(place, call_feeds(figures, place)));
    let mean = row("whole calls, mean", mean_of_bodies(figures));
    let mut text = "\n## Tool calls\n\nInstructions of a feed of 4 bytes through C, callback, without and with the option \
                    `calls`, and the ratio to a feed of W2 with `inline-think`: in long values with prose, in the thinking of \
                    such a dialect, and in whole short calls, one after the other. In a value, most feeds need no step of the \
                    call's parser. A feed of whole calls has about one event on average, and needs a step for each event.\n"
        .to_owned();
    text += &table(["place", "plain", "of W2", "`calls`", "of W2"], rows.chain([mean]));
    let rows = VALUES.iter().chain(&BODIES).map(|place| {
        let [short, long] = ["1", "8"].map(|times| {
            let of = |what| figures.each(&["written", place, times, what]);
            Some(of("answer")? - of("scanner")?)
        });
        [(*place).to_owned(), show(short, 1), show(long, 1), show(ratio(long, short), 2)]
    });
    const STREAMS: [&str; 3] = ["8 short calls", "1 KiB", "8 KiB"];
    text += "\nInstructions of a feed of 4 bytes in Rust, from a fresh parser to the end of the stream, through aside (an answer) and through \
             the crate `tool-parser`, for short calls and for one call with an argument of that length; and the streams of one to three calls that come out wrong, \
             cut into chunks of 1 to 47 bytes, which also cut markers.\n";
    let peers = ["Qwen3", "GLM-4.5", "Kimi K2"].iter().flat_map(|family| {
        ["aside", "tool-parser"].map(|who| {
            let counts = STREAMS.map(|what| show(figures.each(&["callpeers", who, family, what]), 0));
            let [short, one, eight] = counts;
            let [wrong, all] = [0, 1].map(|field| figures.number(&["callwrong", who, family], field));
            let wrong = format!("{} of {}", show(wrong, 0), show(all, 0));
            [(*family).to_owned(), format!("`{who}`"), short, one, eight, wrong]
        })
    });
    text += &table(["calls of", "", STREAMS[0], STREAMS[1], STREAMS[2], "wrong"], peers);
    text +=
        "\nInstructions a byte of an answer, without its scanner, for 16 KiB and for 128 KiB in chunks of 64 bytes:\n";
    text + &table(["place", "16 KiB", "128 KiB", "ratio"], rows)
}

fn memory(figures: &Figures) -> String {
    let mut text =
        "\n## Memory, and many streams\n\nBytes that an idle scanner takes from the allocator (in Rust, the value itself is \
                    included), and a dialect, which all its scanners share; and the most bytes that a scanner holds back.\n"
            .to_owned();
    text += &table(
        ["dialect", "scanner, Rust", "scanner, C", "allocations, C", "shared", "held"],
        figures.all(&["memory"]).map(|line| {
            let [name, rust, c, allocations, dialect, held] = line else { panic!("a line of memory has six fields") };
            [format!("`{name}`"), rust.clone(), c.clone(), allocations.clone(), dialect.clone(), held.clone()]
        }),
    );
    text += "\nFeeds to 100,000 live scanners through C, each in the middle of a thinking, in turn and in random order (W8), \
             and the same feeds to one scanner. The first column has the instructions of a feed to one scanner and to one of \
             many; they are equal, so the times differ only by the access to memory. On two threads, \
             neighbours in memory belong to different threads. Two cores can at best double the speed; the last column is the \
             speed of two threads that share nothing.\n";
    text + &table(
        [
            "dialect",
            "instructions",
            "one scanner, ns a feed",
            "in turn, ns",
            "ratio",
            "random, ns",
            "ratio",
            "make and free, ns",
            "two threads",
            "two loops",
        ],
        figures.all(&["many"]).map(|line| {
            let [name, one, turn, random, make, threads, spins] = line else {
                panic!("a line of many has seven fields")
            };
            let against_one = |all: &String| show(ratio(all.parse().ok(), one.parse().ok()), 2);
            let instructions = ["one", "many"].map(|what| show(figures.each(&["scanners", what, name]), 0));
            [
                format!("`{name}`"),
                instructions.join(", "),
                one.clone(),
                turn.clone(),
                against_one(turn),
                random.clone(),
                against_one(random),
                make.clone(),
                format!("{threads} ×"),
                format!("{spins} ×"),
            ]
        }),
    )
}

/// The rate of a stream, in tokens per second, for the number of streams per core.
const TOKENS_A_SECOND: f64 = 100.0;

fn rewriter(figures: &Figures) -> String {
    const SERVERS: [&str; 5] = ["vLLM", "llama.cpp", "OpenAI", "Ollama", "Ollama's own"];
    const WAYS: [&str; 4] = ["rewriter", "rewriter, cut in two", "serde_json", "sonic-rs"];
    let mut text = "\n## Event streams (W9)\n\nInstructions a frame: for the rewriter to split the frame, and, for \
                    comparison, for a JSON library to parse it into a `Value` and write it again, the least work of any \
                    program that changes a field. A stable envelope is the same in each frame; in a changing envelope, token \
                    ids, times or padding differ from frame to frame.\n"
        .to_owned();
    let counts = SERVERS.iter().flat_map(|server| {
        ["stable", "changing"].map(|envelope| {
            let count = |way| show(figures.each(&["frame", server, envelope, way]), 0);
            [(*server).to_owned(), envelope.to_owned(), count(WAYS[0]), count(WAYS[1]), count(WAYS[2]), count(WAYS[3])]
        })
    });
    text += &table(["frames of", "envelope", WAYS[0], WAYS[1], WAYS[2], WAYS[3]], counts);
    text += "\nNanoseconds a frame in one run, and how many streams of 100 tokens a second one core can rewrite if it does \
             nothing else.\n";
    let times = SERVERS.iter().flat_map(|server| {
        ["stable", "changing"].map(|envelope| {
            let time = |way| figures.number(&["frametime", server, envelope, way], 0);
            let streams = time(WAYS[0]).map(|time| (1e9 / (time * TOKENS_A_SECOND)).round());
            [
                (*server).to_owned(),
                envelope.to_owned(),
                show(time(WAYS[0]), 0),
                show(time(WAYS[2]), 0),
                show(time(WAYS[3]), 0),
                show(streams, 0),
            ]
        })
    });
    text += &table(["frames of", "envelope", WAYS[0], WAYS[2], WAYS[3], "streams a core"], times);
    text += "\nInstructions a frame of each format, and of chat whose text is inside of tool calls, with and without the option \
             `calls`; and the same with the option `repair`.\n";
    let streams = figures.all(&["stream"]).filter(|line| line[1] == "plain").map(|line| {
        let [plain, repair] = ["plain", "repair"].map(|way| figures.each(&["stream", &line[0], way]));
        [line[0].clone(), show(plain, 0), show(repair, 0), show(ratio(repair, plain), 2)]
    });
    text += &table(["stream", "instructions a frame", "`repair`", "ratio"], streams);
    text += "\nThe number of rewriters of vLLM's stable frames that are alive at once, and the nanoseconds for a frame, with \
             the rewriters in random order. The difference is the time for access to memory.\n";
    let many = figures.all(&["rewriters"]).map(|line| {
        let time: Option<f64> = line[1].parse().ok();
        let streams = time.map(|time| (1e9 / (time * TOKENS_A_SECOND)).round());
        [line[0].clone(), show(time, 0), show(streams, 0)]
    });
    text += &table(["rewriters", "ns a frame", "streams a core"], many);
    let bytes = figures.text(&["rewritermemory"], 0).unwrap_or("–");
    text + &format!("\nAfter three frames, such a rewriter has asked the allocator for {bytes} bytes.\n")
}

/// Returns the instructions for lookups of this kind, in ascending order.
fn lookups_of(figures: &Figures, kind: &str) -> Vec<f64> {
    let mut counts: Vec<f64> = figures.all(&["lookup", kind]).filter_map(|line| line.last()?.parse().ok()).collect();
    counts.sort_by(f64::total_cmp);
    counts
}

fn median(counts: &[f64]) -> Option<f64> {
    counts.get(counts.len().saturating_sub(1) / 2).copied()
}

fn lookups(figures: &Figures) -> String {
    let mut text = "\n## Finding a dialect\n\nInstructions of `aside_dialect_find_for_model` for each name of \
                    `tests/field/names.tsv`, and of `aside_dialect_find_for_template` for a template that was looked up \
                    before.\n"
        .to_owned();
    let models = [("known", "a model that is known"), ("unknown", "one that is not")].map(|(kind, name)| {
        let counts = lookups_of(figures, kind);
        [name.to_owned(), counts.len().to_string(), show(median(&counts), 0), show(counts.last().copied(), 0)]
    });
    let templates = figures.all(&["lookup", "template"]).map(|line| {
        let count = show(line.last().and_then(|count| count.parse().ok()), 0);
        [format!("the template of {}", line[0]), "1".to_owned(), count.clone(), count]
    });
    text += &table(["what is looked up", "how many", "median", "the largest"], models.into_iter().chain(templates));
    text
}

fn cold(figures: &Figures) -> String {
    const SHOWN: usize = 8;
    let mut text = "\n## Cold starts (W11)\n\nA C program linked with `libaside.so`, from the start of its process to the first \
                    event: it finds a dialect, makes a scanner and feeds `<think>a`. `none` ends at once, and shows the cost \
                    of the process and its libraries alone. The parent process measures the times, from start to end.\n"
        .to_owned();
    let rows = figures.all(&["start"]).map(|line| {
        let [dialect, _] = line else { panic!("a line of start has two fields") };
        let name = if dialect == "none" { dialect.clone() } else { format!("`{dialect}`") };
        let [count, time] = ["start", "cold"].map(|key| figures.number(&[key, dialect], 0));
        [name, show(count.map(|count| count / 1e6), 2), show(time, 2)]
    });
    text += &table(["dialect", "millions of instructions", "ms"], rows);

    text += "\nThe first `find` of a dialect in a process, the longest ones and all together:\n";
    let mut finds: Vec<(&str, f64, Option<f64>)> = figures
        .all(&["find"])
        .filter_map(|line| {
            let count = figures.each(&["found", &line[0]]).map(|count| count / 1e6);
            Some((line[0].as_str(), line[1].parse().ok()?, count))
        })
        .collect();
    finds.sort_by(|one, other| other.1.total_cmp(&one.1));
    let row = |name: String, time: f64, count: Option<f64>| [name, show(count, 2), show(Some(time), 2)];
    let mut rows: Vec<[String; 3]> =
        finds.iter().take(SHOWN).map(|&(name, time, count)| row(format!("`{name}`"), time, count)).collect();
    let counts: Option<f64> = finds.iter().map(|find| find.2).sum();
    let total = finds.iter().map(|find| find.1).sum();
    rows.push(row(format!("all {}", finds.len()), total, counts));
    text += &table(["dialect", "millions of instructions", "ms"], rows);

    text += "\nShortening the output of `cargo test` with 100 tests, of which one fails or none, and the same output again. \
             The first result in a process includes the making of the compressor.\n";
    let rows = [("failed", "with a failure"), ("passed", "without")].map(|(kind, name)| {
        let of = |which| show(figures.each(&["result", which, kind]).map(|count| count / 1e6), 1);
        [name.to_owned(), of("first"), of("second")]
    });
    text + &table(["output", "first, millions of instructions", "second"], rows)
}

fn tools(figures: &Figures) -> String {
    let a_byte = figures.all(&["tool"]).map(|line| {
        let count = show(figures.each(&["tool", &line[0]]), 1);
        [format!("`{}`", line[0]), count]
    });
    let a_byte = table(["output of (W10)", "instructions a byte"], a_byte);
    let rows = figures.all(&["compress"]).map(|line| [line[0].clone(), line[1].clone(), line[2].clone()]);
    "\n## Tool results\n\nThe time as a multiple of the time for cutting the same texts into a vector of lines with `memchr`.\n".to_owned()
        + &table(["texts", "filters", "times the lines"], rows)
        + "\n"
        + &a_byte
}

/// Returns nothing if the part was not run: it needs transcripts of others.
fn trajectories(figures: &Figures) -> String {
    let all = |key: &str| count(figures.text(&["trajectories", key], 0));
    let budgets: Vec<&[String]> = figures.all(&["trajectories", "longer"]).collect();
    if budgets.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n## The next actions of agents\n\nA fact is a place in a file, an identifier or a number that the ten actions after \
         a tool's result cite, and that is in no earlier text of the session. The table has the share of facts that is left \
         after the result was shortened to a budget in estimated tokens: by `aside`, which knows the command and its exit \
         code, and by cuts at line ends as agents make them. {} sessions with {} \
         results of more than 1 kB; of {} of these, {} such facts are cited. The second share of each budget counts only the \
         results that are longer than the budget. [How it was measured](recall.md#the-next-actions-of-agents).\n",
        all("sessions"),
        all("results"),
        all("cited"),
        all("facts"),
    );
    let mut ways: Vec<&str> = figures.all(&["trajectories", "left"]).map(|line| line[1].as_str()).collect();
    ways.dedup();
    ways.truncate(ways.len() / budgets.len());
    let share = |way: &str, budget: usize, field: usize| {
        let budget = budgets.get(budget).map_or("", |line| line[0].as_str());
        figures
            .text(&["trajectories", "left", budget, way], field)
            .map_or("–".to_owned(), |share| format!("{share} %"))
    };
    let of = |budget: usize| {
        budgets.get(budget).map_or(String::new(), |line| format!("{} results, {} facts", line[1], line[2]))
    };
    let longer = ["longer than the budget".to_owned(), of(0), of(1), of(2)];
    let pair = |way: &str, budget: usize| format!("{}, {}", share(way, budget, 0), share(way, budget, 1));
    text += &table(
        ["way", "1,000 tokens", "2,000 tokens", "4,000 tokens"],
        ways.into_iter().map(|way| [way.to_owned(), pair(way, 0), pair(way, 1), pair(way, 2)]).chain([longer]),
    );
    for peer in figures.all(&["trajectories", "peer"]) {
        text += &format!(
            "\n{} has no budget. Its results have {} % of the tokens and {} % of the facts; those of `aside` at the same sizes (but \
             at least 512 tokens) have {} % of the facts.\n",
            peer[0], peer[3], peer[1], peer[2]
        );
    }
    text += "\nheadroom-ai 0.42.0 is not compared: without a network, it did not shorten the one log that was tried. squeez \
             was not measured.\n";
    text
}
