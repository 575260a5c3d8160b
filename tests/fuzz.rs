//! Runs the fuzz targets without a fuzzer, so that every test run checks the inputs that fuzzing once found (`tests/regressions`).
//! Runs also seeds from the vectors and the dialects, and some thousand mutations of these seeds. With `ASIDE_SEEDS=FOLDER`, it
//! only writes the seeds and the dictionary to that folder, for `scripts/fuzz`.

#[path = "../fuzz/targets/mod.rs"]
mod targets;

use samples::{Random, Texts};
use std::path::Path;
use support::ROOT;

/// Prints an input that fails, which libFuzzer would save.
fn run(what: &str, target: fn(&[u8]), data: &[u8]) {
    if let Err(panic) = std::panic::catch_unwind(|| target(data)) {
        eprintln!("{what}: b\"{}\"", data.escape_ascii());
        std::panic::resume_unwind(panic);
    }
}

fn all(name: &str, target: fn(&[u8]), seeds: &[Vec<u8>], mutations: usize) {
    if let Some(folder) = std::env::var_os("ASIDE_SEEDS") {
        let folder = Path::new(&folder).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
        }
        std::fs::write(folder.with_extension("dict"), targets::dictionary::file()).unwrap();
        return;
    }
    for path in support::files(format!("{ROOT}/tests/regressions/{name}")) {
        run(&path.display().to_string(), target, &std::fs::read(&path).unwrap());
    }
    // Miri needs seconds instead of microseconds, so it runs only the first seed and the last three, which in `abi` are an event
    // stream, whole texts and tool results.
    let (skipped, mutations) = if cfg!(miri) { (1..seeds.len() - 3, 40) } else { (0..0, mutations) };
    for (number, seed) in seeds.iter().enumerate() {
        if !skipped.contains(&number) {
            run(name, target, seed);
        }
    }
    let mut random = Random::announced(name);
    for _ in 0..mutations {
        let mut data = random.pick(seeds).clone();
        for _ in 0..1 + random.below(8) {
            mutate(&mut random, &mut data, seeds);
        }
        run(name, target, &data);
    }
}

fn mutate(random: &mut Random, data: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let at = random.below(data.len() + 1);
    match random.below(5) {
        0 if at < data.len() => data[at] = random.next() as u8,
        1 if at < data.len() => data[at] ^= 1 << random.below(8),
        2 => data.insert(at, random.next() as u8),
        3 => drop(data.drain(at..data.len().min(at + random.below(9)))),
        _ => {
            let other = random.pick(seeds);
            let from = random.below(other.len());
            let part = &other[from..other.len().min(from + random.below(24))];
            data.splice(at..at, part.iter().copied());
        }
    }
}

#[test]
fn scanner() {
    let mut random = Random::announced("seeds");
    let mut seeds = Vec::new();
    for pair in targets::scanner::PAIRS.iter() {
        let texts = Texts::new(&pair.reference);
        let made: Vec<Vec<u8>> = (0..6).map(|number| texts.next(&mut random, 20 << number)).collect();
        let examples = pair.reference.examples.iter().map(|example| example.input.as_bytes().to_vec());
        for text in examples.chain(made) {
            let mut seed = format!("{}\n", pair.reference.name).into_bytes();
            seed.extend([random.below(5) as u8, 3, 1, random.below(9) as u8, 4]);
            seed.push(3);
            seed.extend((0..3).map(|_| random.next() as u8));
            seed.extend(&text);
            seeds.push(seed);
            // A prompt that ends inside the text, chunks of one or two bytes, and actions of the host.
            let mut seed = format!("{}\n", pair.reference.name).into_bytes();
            let length = random.below(text.len().min(255) + 1) as u8;
            seed.extend([random.below(5) as u8, 3, length, 1 + random.below(2) as u8, random.below(9) as u8]);
            seed.extend([3, random.next() as u8 & 0xF0 | targets::scanner::PROMPT]);
            seed.extend((0..2).map(|_| random.next() as u8));
            seed.extend(text);
            seeds.push(seed);
        }
    }
    for path in support::files(format!("{ROOT}/tests/vectors")) {
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            if let (Some(dialect), Some(chunks)) = (case["dialect"].as_str(), case["chunks"].as_array()) {
                let text: String = chunks.iter().filter_map(|chunk| chunk.as_str()).collect();
                if text.len() < 4096 {
                    seeds.push(format!("{dialect}\n\0\x02\x01\x05\0{text}").into_bytes());
                }
            }
        }
    }
    all("scanner", targets::scanner::run, &seeds, 10_000);
}

/// The parts of texts with fences.
const LINES: [&str; 10] = ["\n", "\r\n", "```a\n", "```ab\n", "```c\n", "\n```", "\n```\n", "````", "\n~~~\n", " "];

#[test]
fn dialect() {
    let mut random = Random::announced("seeds");
    let mut seeds = Vec::new();
    for folder in ["dialects", "tests/dialects"] {
        for path in support::files(format!("{ROOT}/{folder}")) {
            let text = std::fs::read_to_string(path).unwrap();
            let rules = text.split("[[example]]").next().unwrap();
            seeds.push(format!("{rules}\0\x02\x01\x05").into_bytes());
        }
    }
    for _ in 0..300 {
        let mut seed = vec![1];
        seed.extend((0..60).map(|_| 1 + random.below(255) as u8));
        seed.extend(b"\0\x03\x01\x02\x05");
        for _ in 0..12 {
            let pieces: &[&str] = if random.below(3) == 0 { &LINES } else { &targets::dialect::MARKERS };
            seed.extend(random.pick(pieces).as_bytes());
        }
        seeds.push(seed);
    }
    all("dialect", targets::dialect::run, &seeds, 10_000);
}

#[test]
fn events() {
    let mut random = Random::announced("seeds");
    let mut seeds = Vec::new();
    // The beginning of a seed: the dialect, the way of feeding, the start, the options, no prompt, and the lengths of chunks.
    let head = |random: &mut Random, dialect: &str, way: u8, others: u8| {
        let mut seed = format!("{dialect}\n").into_bytes();
        seed.extend([way, random.below(6) as u8, random.next() as u8, others, random.below(2) as u8]);
        seed.extend(if others & 64 == 0 { &[][..] } else { &[60] });
        seed.extend(if others & 128 == 0 { &[][..] } else { &[9] });
        seed.extend([0, 2, 7, random.next() as u8]);
        seed
    };
    let folders = ["tests/sse", "tests/sse/formats"].map(|folder| support::files(format!("{ROOT}/{folder}")));
    for path in folders.into_iter().flatten().filter(|path| path.is_file()) {
        let stream = std::fs::read(path).unwrap();
        for limits in [0, 0, 64, 128] {
            let others = random.next() as u8 & 15 | limits;
            let mut seed = head(&mut random, "qwen3", 0, others);
            seed.extend(&stream);
            seeds.push(seed);
        }
    }
    for pair in targets::scanner::PAIRS.iter() {
        let texts = Texts::new(&pair.reference);
        for way in [1, 1, 2] {
            let mut seed = head(&mut random, &pair.reference.name, way, 0);
            seed.push(random.next() as u8);
            for _ in 0..2 + random.below(12) {
                let text = texts.next(&mut random, if way == 1 { 40 } else { 100 });
                if way == 1 {
                    seed.extend([random.next() as u8, text.len() as u8]);
                }
                seed.extend(text);
            }
            seeds.push(seed);
        }
        // Streams of servers that contradict themselves.
        for way in [3, 3, 4, 4, 4, 5] {
            let others = random.next() as u8 & 0b1000_1111;
            let mut seed = head(&mut random, &pair.reference.name, way, others);
            seed.extend((0..600).map(|_| random.next() as u8));
            seeds.push(seed);
        }
    }
    all("events", targets::events::run, &seeds, 6000);
}

#[cfg(feature = "compress")]
#[test]
fn results() {
    let mut random = Random::announced("seeds");
    let samples = &targets::results::SAMPLES;
    let mut seeds = Vec::new();
    for (number, (_, output)) in samples.tests.iter().enumerate() {
        let long = output.repeat(1 + 1500 / output.len().max(1));
        seeds.push([&[number as u8 & 3, number as u8, 2, 40, 255], long.as_bytes()].concat());
    }
    for file in &samples.files {
        let text =
            [&[4 | random.below(4) as u8, 0, 1, 90], file.as_bytes(), b"\0", &b"ok 1\nwrong\n".repeat(150)].concat();
        seeds.push(text);
    }
    for _ in 0..200 {
        let mut seed = vec![8 | random.below(4) as u8, random.next() as u8, 1, 1 + random.below(255) as u8];
        seed.extend((0..100).map(|_| random.next() as u8));
        seeds.push(seed);
    }
    all("results", targets::results::run, &seeds, 1500);
}

#[test]
fn values() {
    let mut random = Random::announced("seeds");
    let mut seeds = Vec::new();
    for subject in targets::values::SUBJECTS.iter() {
        for _ in 0..30 {
            let mut seed = format!("{}\n", subject.pair.reference.name).into_bytes();
            seed.extend((0..4).map(|_| random.next() as u8));
            seed.extend([2, 1 + random.below(9) as u8, random.next() as u8]);
            seed.extend(subject.texts.next(&subject.forms, &mut random).bytes());
            seeds.push(seed);
        }
    }
    all("values", targets::values::run, &seeds, 10_000);
}

#[test]
fn abi() {
    let mut random = Random::announced("seeds");
    let mut seeds = Vec::new();
    for (at, pair) in targets::scanner::PAIRS.iter().enumerate() {
        let texts = Texts::new(&pair.reference);
        let words = targets::dictionary::words(pair).len().min(128);
        let mut seed = Vec::new();
        for slot in 0..3 {
            // A scanner that reports calls and collects thoughts. The host has this header or any other version.
            let header = if random.below(4) > 0 { [0; 2] } else { [random.next() as u8, random.next() as u8] };
            seed.extend([0, 100, at as u8, 3, header[0], header[1], 0, 0, 0, 0, 0, random.next() as u8, 0, 0, 0, 0]);
            if words > 0 && random.one_in(3) {
                // A prompt, which may end inside a word.
                let count = 1 + random.below(3);
                seed.extend([230, slot, 64 + count as u8 - 1]);
                seed.extend((0..count).map(|_| random.below(words) as u8));
            }
            for _ in 0..12 {
                // A feed of words or of a text, how it pauses, and then any call.
                seed.extend([100, random.below(3) as u8, random.next() as u8]);
                if words > 0 && random.below(3) > 0 {
                    let count = 1 + random.below(3);
                    seed.push(64 + count as u8 - 1);
                    seed.extend((0..count).map(|_| random.below(words) as u8));
                } else {
                    let text = texts.next(&mut random, 40);
                    seed.push(text.len() as u8);
                    seed.extend(text);
                }
                seed.extend([random.below(6) as u8, random.next() as u8]);
                let call = match random.below(90) {
                    call @ 0..80 => 160 + call,
                    misuse => 166 + misuse,
                };
                seed.extend([call as u8, random.below(3) as u8]);
                seed.extend((0..2 + random.below(6)).map(|_| random.next() as u8));
            }
        }
        // An answer with some options, which is fed texts and finished.
        seed.extend([249, 0, at as u8]);
        seed.extend((0..21).map(|_| if random.one_in(4) { random.next() as u8 } else { 0 }));
        for _ in 0..8 {
            let text = texts.next(&mut random, 40);
            seed.extend([100, text.len() as u8]);
            seed.extend(text);
        }
        seed.extend([200 + random.below(24) as u8, 0]);
        seeds.push(seed);
    }
    // Tool results that are shortened by a rule, by a cache that contains them, or by a budget.
    let begin = |registry: &[u8], compressor: [u8; 3]| {
        let made = [vec![0, 100, 0], vec![0; 13], vec![246, 0]].concat();
        [&made[..], registry, &[220], &compressor].concat()
    };
    let (rules, cache) = ([20, 140, 0], [20, 170, 0]);
    let log = b"test result: ok. 3 passed; 0 failed\n".repeat(40);
    let stream = |text: &[u8], times: u8| {
        // A tool stream is made, fed, asked for its report too early, finished, asked for its report twice, and freed.
        let feed = [&[120, 0][..], text, &[0, times]].concat();
        [&[90, 0, 0, 1, 0, 0][..], &feed, &[190, 0, 170, 0, 190, 0, 190, 0, 200, 0]].concat()
    };
    let call = |text: &[u8], input: u8| [&[0, 0, 1, 30][..], text, &[0, 0, input, 0]].concat();
    for (registry, compressor, calls) in [
        (&rules[..], [0; 3], [stream(b"one line\nanother\n", 40), call(&b"one\ntwo\n".repeat(300), 1)].concat()),
        (&cache, [0; 3], [call(&log, 2), call(&log, 2), call(&log, 0)].concat()),
        (
            &cache,
            [24, 0, 0],
            [
                stream(b"{\"name\": \"some value\", \"number\": 12345}\n", 255),
                stream(b"one line\nerror: it is broken\n", 250),
            ]
            .concat(),
        ),
        (&[255], [24, 0, 0], [call(&log, 1), stream(&log, 40)].concat()),
    ] {
        seeds.push([begin(registry, compressor), calls].concat());
    }
    // A scanner, then event streams, whole texts and tool results.
    for number in 0..60 {
        let mut seed = vec![0, 100, number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        seed.extend([240 + 3 * (number % 3), 0]);
        seed.extend((0..300).map(|_| random.next() as u8));
        seeds.push(seed);
    }
    all("abi", targets::abi::run, &seeds, 10_000);
}
