//! Compares the current rewriter with an older one: both rewrite the same random answers with the same random options, and must
//! write the same bytes. The answers are those of servers that contradict themselves (`accounts`), and recordings, some of them
//! without their beginning or their end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use samples::Random;

use crate::accounts::{Server, Shape};
use crate::{THREADS, before, now};

/// The dialects of the answers.
const DIALECTS: [&str; 6] = ["qwen3", "qwen3", "qwen3-thinking", "any", "deepseek-r1", "glm-4.5"];

/// The parts of texts, in addition to words.
const PIECES: [&str; 17] = [
    "<think>",
    "<think>\n",
    "</think>",
    "\n</think>\n\n",
    "<think>§</think>",
    "<think>\n§\n</think>\n\n§",
    "\n",
    " ",
    "é",
    "<thi",
    "\"\\",
    "§ <tool_",
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"§\"}}\n</tool_call>",
    "<tool_call>\n{\"name\": \"h\", \"arguments\": {\"a\": \"§\"}}\n</tool_call>",
    "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": ",
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>§</arg_value>\n</tool_call>",
    "</tool_call>",
];

/// The options that decide most about the output, and the random bits that choose the others.
#[derive(Clone, Copy)]
pub struct Wishes {
    pub thinking: usize,
    pub body: usize,
    pub bits: u64,
    /// Whether text may be too long to be kept.
    pub limits: bool,
}

/// An answer, and how it is rewritten.
#[derive(Clone)]
pub struct Case {
    pub dialect: String,
    pub wishes: Wishes,
    /// The longest chunk, and the seed of the lengths.
    pub most: usize,
    pub cuts: u64,
    pub stream: Vec<u8>,
    /// The kind of the answer.
    kind: String,
}

impl Case {
    fn random(random: &mut Random, recordings: &[(String, Vec<u8>)], agrees: bool) -> Case {
        let dialect = (*random.pick(&DIALECTS)).to_owned();
        let thinking = *random.pick(&[0, 0, 1, 1, 2]);
        let (kind, stream, body) = if random.one_in(5) {
            let (name, recording) = random.pick(recordings);
            let mut part = &recording[..];
            if !agrees && random.one_in(3) {
                part = &part[random.below(part.len())..];
            } else if !agrees && random.one_in(3) {
                part = &part[..random.below(part.len())];
            }
            let body = match name.rsplit('.').next() {
                Some("ndjson" | "jsonl") => 3,
                Some("json") => 2,
                _ => 1,
            };
            (format!("recording {name}"), part.to_vec(), body)
        } else {
            let shape = *random.pick(&Shape::ALL);
            let is_body = random.one_in(4);
            let pieces = PIECES.map(str::to_owned);
            let mut below = |bound| random.below(bound);
            let server = Server::new(&pieces, &mut below);
            let answer = match (is_body, agrees) {
                (true, _) => server.body(shape),
                (false, true) => server.agreeing().stream(shape),
                (false, false) => server.stream(shape),
            };
            let body = match (is_body, shape.is_of_lines()) {
                (true, _) => 2,
                (false, true) => 3,
                (false, false) => 1,
            };
            (format!("{} {shape:?}", if is_body { "body" } else { "stream" }), answer.into_bytes(), body)
        };
        let body = if random.one_in(3) { 0 } else { body };
        let most = *random.pick(&[1, 1, 7, 100, 1000, 1 << 20]);
        let cuts = random.next();
        Case { dialect, wishes: Wishes { thinking, body, bits: random.next(), limits: !agrees }, most, cuts, stream, kind }
    }

    /// Returns the stream in chunks.
    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let (mut random, mut rest) = (Random::new(self.cuts), &self.stream[..]);
        std::iter::from_fn(move || {
            let chunk = rest.split_off(..rest.len().min(1 + random.below(self.most)))?;
            Some(chunk).filter(|chunk| !chunk.is_empty())
        })
    }

    fn differs(&self) -> bool {
        self.compared(before::rewriting::run(self)) != self.compared(now::rewriting::run(self))
    }

    /// Returns the part of an output that is compared: streams of Responses that agree with themselves are compared without the events
    /// that repeat texts.
    fn compared(&self, out: Vec<u8>) -> Vec<u8> {
        if self.wishes.limits || self.kind != "stream Responses" {
            return out;
        }
        let repeats = ["done\"", "response.completed\"", "response.incomplete\"", "response.failed\""];
        let text = String::from_utf8_lossy(&out).into_owned();
        let lines = text.lines().filter(|line| !repeats.iter().any(|kind| line.contains(kind)));
        lines.collect::<Vec<_>>().join("\n").into_bytes()
    }

    /// Leaves out as many events or lines as possible while the outputs still differ.
    fn smallest(mut self) -> Case {
        let end: &[u8] = if self.stream.starts_with(b"{") { b"\n" } else { b"\n\n" };
        let mut at = 0;
        loop {
            let ends = self.stream.windows(end.len()).enumerate().filter(|(_, part)| *part == end);
            let ends: Vec<usize> = [0].into_iter().chain(ends.map(|(at, _)| at + end.len())).collect();
            if at + 1 >= ends.len() {
                return self;
            }
            let mut less = self.clone();
            less.stream.drain(ends[at]..ends[at + 1]);
            if less.differs() {
                self = less;
            } else {
                at += 1;
            }
        }
    }

    /// Describes the difference. If the streams should agree with themselves, no event is left out.
    fn shown(self, agrees: bool) -> String {
        let case = if agrees { self } else { self.smallest() };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!(
            "a difference in {}, dialect {}, chunks of up to {}\n{}\n{}\n-- before\n{}\n-- now\n{}",
            case.kind,
            case.dialect,
            case.most,
            now::rewriting::shown(&case),
            text(&case.stream),
            text(&before::rewriting::run(&case)),
            text(&now::rewriting::run(&case))
        )
    }
}

/// Returns the recorded answers of the tests, and those in the folder `../shared` of the repository, if there is one.
fn recordings() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared =
        ["anthropic", "ollama-ndjson", "openai-chat", "openai-responses"].map(|name| format!("corpus/sse/{name}"));
    let shared = shared.iter().map(String::as_str).chain(["cases/streams-2"]);
    let shared = shared.map(|name| root.join("../shared").join(name));
    let mut files = Vec::new();
    for folder in [root.join("tests/sse"), root.join("tests/sse/formats")].into_iter().chain(shared) {
        let Ok(folder) = std::fs::read_dir(folder) else { continue };
        files.extend(folder.map(|entry| entry.expect("a file").path()).filter(|path| path.is_file()));
    }
    files.retain(|path| path.extension().is_none_or(|end| end != "md"));
    assert!(files.len() > 12, "recordings are missing");
    files.sort();
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read(path).expect("a recording"))).collect()
}

/// Compares the rewriters. With `agrees`, the events of a stream repeat its texts without differences, and none is missing. Returns
/// whether the rewriters wrote the same, and every kind of answer occurred and was changed.
pub fn run(streams: u64, seed: u64, agrees: bool) -> bool {
    let recordings = recordings();
    let next = AtomicU64::new(0);
    let failure: Mutex<Option<Case>> = Mutex::new(None);
    let tally: Mutex<BTreeMap<String, [u64; 2]>> = Mutex::default();
    let one = |number: u64| {
        let mut random = Random::new(Random::new(seed).next() ^ Random::new(number).next());
        let case = Case::random(&mut random, &recordings, agrees);
        let out = now::rewriting::run(&case);
        if case.differs() {
            failure.lock().expect("no thread failed").get_or_insert(case);
            return;
        }
        let mut tally = tally.lock().expect("no thread failed");
        let kind = if case.kind.starts_with("recording") { "recordings" } else { &case.kind };
        let of_thinking = ["kept", "dropped", "inline"][case.wishes.thinking];
        let [all, changed] = tally.entry(format!("{kind}, thinking {of_thinking}")).or_default();
        *all += 1;
        *changed += u64::from(out != case.stream);
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= streams || failure.lock().expect("no thread failed").is_some() {
                        return;
                    }
                    one(number);
                }
            });
        }
    });
    if let Some(case) = failure.into_inner().expect("no thread failed") {
        println!("{}", case.shown(agrees));
        return false;
    }
    let tally = tally.into_inner().expect("no thread failed");
    for (kind, [all, changed]) in &tally {
        println!("{all:8} {changed:8} changed  {kind}");
    }
    // Every shape as stream and as body, and recordings, each with the thinking kept, dropped and inline. Inline thinking is not
    // changed where no calls are made of the text.
    let is_changed = |(kind, [_, changed]): (&String, &[u64; 2])| *changed > 0 || kind.ends_with("inline");
    tally.len() == (2 * Shape::ALL.len() + 1) * 3 && tally.iter().all(is_changed)
}
