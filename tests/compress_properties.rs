//! The promises of SECURITY.md for every text: arbitrary bytes, generated logs, and recorded outputs if `../shared` is
//! there. `ASIDE_SEED=N` repeats a run whose seed was printed.

#![cfg(feature = "compress")]

use std::{fs, sync::Arc};

use aside::compress::*;
use samples::Random;
use support::report::{body, rows, tiles};

const PIECES: [&str; 34] = [
    "   Compiling serde v1.0.1",
    "compiling file",
    "error: expected `;`",
    "  --> src/a.rs:3:5",
    "   |",
    "3  | let x = 1",
    "test a::b ... ok",
    "test a::c ... FAILED",
    "test result: ok. 3 passed; 0 failed",
    "test result: FAILED. 2 passed; 1 failed",
    "",
    "",
    "  ",
    "Traceback (most recent call last):",
    "  File \"a.py\", line 3",
    "ValueError: bad",
    "=== FAILURES ===",
    "___ test_a ___",
    "=== short test summary info ===",
    "=== 1 failed in 0.1s ===",
    "=== 3 passed in 0.1s ===",
    "warning: unused variable",
    "@@ -1,2 +1,2 @@",
    "-a",
    "+b",
    " c",
    "{\"a\": 1}",
    "a,b,c",
    "Downloading x 12% 3 MB/s",
    "Downloading x 13% 4 MB/s",
    "\x1b[31mred\x1b[0m text",
    "10%\r20%\r30%",
    "make: *** [all] Error 1",
    "BUILD SUCCESSFUL in 3s",
];

fn log(random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..random.below(400) {
        let mut line = random.pick(&PIECES).as_bytes().to_vec();
        if random.below(3) == 0 {
            line.extend_from_slice(format!(" {}", random.below(50)).as_bytes());
        }
        if random.below(60) == 0 {
            line = "word ".repeat(random.below(1500)).into_bytes();
        }
        for _ in 0..=random.below(4).saturating_sub(2) * random.below(20) {
            text.extend_from_slice(&line);
            text.extend_from_slice(if random.below(40) == 0 { b"\r\n" } else { b"\n" });
        }
    }
    if random.below(4) == 0 {
        text.pop();
    }
    text
}

fn bytes(random: &mut Random) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ab \n\n\r\t\x08\x1b[]KAmJ;0129:/-@+,\"{}\xe2\x80\xa6\xff\x00E=F";
    let long = random.below(6000);
    (0..long).map(|_| *random.pick(ALPHABET)).collect()
}

/// Returns recorded outputs with their commands.
fn recorded() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = support::shared("corpus/tools") else { return Vec::new() };
    let mut texts = Vec::new();
    for path in support::files(folder) {
        let text = fs::read(&path).unwrap();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            for row in String::from_utf8(text).unwrap().lines() {
                let row: serde_json::Value = serde_json::from_str(row).unwrap();
                texts.push((row["command"].as_str().unwrap().to_owned(), row["output"].as_str().unwrap().into()));
            }
        } else {
            texts.push((String::new(), text));
        }
    }
    assert!(texts.len() > 100);
    texts
}

const COMMANDS: [&str; 9] =
    ["", "cargo test", "pytest -v", "git status", "find . -name x", "grep -rn x .", "cat f", "make | tail", "a; b"];

fn texts() -> Vec<(String, Vec<u8>)> {
    let mut random = Random::announced("texts");
    let mut texts = recorded();
    for round in 0..200 {
        let text = if round % 2 == 0 { log(&mut random) } else { bytes(&mut random) };
        texts.push(((*random.pick(&COMMANDS)).to_owned(), text));
    }
    texts
}

fn compressors() -> Vec<(Option<usize>, Compressor)> {
    let all = || {
        let mut registry = Registry::new();
        registry.minify_json();
        Compressor::new(&registry)
    };
    let mut compressors = vec![(None, all())];
    for budget in [MIN_BUDGET, 3000, 20_000] {
        compressors.push((Some(budget), all().budget(budget).unwrap()));
    }
    compressors
}

fn once(compressor: &Compressor, command: &str, text: &[u8]) -> (Option<Vec<u8>>, Report) {
    let mut result = compressor.compress(&Invocation::new("bash", &Input::of_command(command)), &[Part::Text(text)]);
    match result.parts.remove(0) {
        Outcome::Same => (None, result.report),
        Outcome::Text(text) => (Some(text), result.report),
        Outcome::Gone => panic!("a single part never goes"),
    }
}

/// Returns the result and the report of a stream.
fn of_stream(compressor: Arc<Compressor>, input: Input, memory: usize, text: &[u8]) -> (Vec<u8>, Report) {
    let mut stream = ToolStream::new(compressor, "bash", input, memory).unwrap();
    let mut result = Vec::new();
    stream.feed(text, |bytes| result.extend_from_slice(bytes));
    let report = stream.finish(|bytes| result.extend_from_slice(bytes));
    (result, report)
}

#[test]
fn never_worse_deterministic_and_said_in_the_report() {
    for (command, text) in &texts() {
        for (budget, compressor) in &compressors() {
            let (result, report) = once(compressor, command, text);
            assert_eq!(report.failed, [], "{command}: {}", String::from_utf8_lossy(text));
            assert_eq!((report.before, report.before_units), (text.len(), units(text)));
            let Some(result) = result else {
                let counted = (report.after, report.after_units, report.parts.len());
                assert_eq!(counted, (report.before, report.before_units, 0));
                continue;
            };
            assert!(result.len() < text.len() && units(&result) < units(text));
            assert!(!body(&result).trim_ascii().is_empty());
            assert_eq!((report.after, report.after_units), (result.len(), units(&result)));
            assert!(budget.is_none_or(|budget| result.len() <= budget), "{budget:?}: {}", result.len());
            assert_eq!(once(compressor, command, text), (Some(result.clone()), report.clone()));
            assert_eq!(once(compressor, command, &result).0, None, "compressed twice");
            tiles(&report, text, body(&result));
        }
    }
}

/// Returns the inputs of the cases after public reports, with their commands.
fn reported() -> Vec<(String, Vec<u8>)> {
    let folders = support::shared("cases").map(support::files).unwrap_or_default();
    let files: Vec<_> = folders.iter().map(|folder| folder.join("cases.jsonl")).filter(|path| path.exists()).collect();
    let rows = files.iter().flat_map(|path| {
        let text = fs::read_to_string(path).unwrap();
        let rows = text.lines().map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap());
        rows.filter(|row| row["input"].is_string() && row["command"].is_string()).collect::<Vec<_>>()
    });
    let text =
        |row: serde_json::Value| (row["command"].as_str().unwrap().into(), row["input"].as_str().unwrap().into());
    rows.map(text).collect()
}

/// A unit of budgets: the smallest budget, the bytes of memory for each unit of a budget, and the length of a text.
type Length = (usize, usize, fn(&[u8]) -> usize);

/// Tries budgets that are a little and much smaller than the text, in bytes and in tokens.
#[test]
fn no_result_is_over_its_budget() {
    const SHARES: [usize; 4] = [100, 95, 60, 9];
    // The banner has as many UTF-16 units as a lot of this text.
    let wide: String = (0..150).map(|line| format!("ログの行 {line}\n")).collect();
    for (command, text) in texts().into_iter().chain(reported()).chain([(String::new(), wide.into())]) {
        if units(&text) < MIN_COMPRESSIBLE_LENGTH {
            continue;
        }
        let lengths: [Length; 2] = [(MIN_BUDGET, 4, |text| text.len()), (MIN_BUDGET_TOKENS, 24, estimated_tokens)];
        for (least, memory, length) in lengths {
            let budget = |share: usize| (length(&text) * share / 100).saturating_sub(1);
            for budget in SHARES.map(budget).into_iter().filter(|&budget| budget >= least) {
                let all = Compressor::new(&Registry::new());
                let compressor = if least == MIN_BUDGET { all.budget(budget) } else { all.budget_tokens(budget) };
                let compressor = Arc::new(compressor.unwrap());
                let whole = once(&compressor, &command, &text);
                let streamed = of_stream(compressor, Input::of_command(&command), memory * budget, &text);
                for (result, report) in [(whole.0.unwrap_or_else(|| text.clone()), whole.1), streamed] {
                    let shown = String::from_utf8_lossy(&text);
                    assert_eq!(report.failed, [], "{command}: {shown}");
                    assert!(length(&result) <= budget, "{} of {budget}: {command}: {shown}", length(&result));
                }
            }
        }
    }
}

#[test]
fn lines_come_in_order_or_are_markers_that_count_exactly() {
    for (command, text) in &texts() {
        // Other tests check text that a terminal would change, and folded text.
        let folds = ["find", "grep", "rg ", "git"].iter().any(|word| command.contains(word));
        if folds || text.iter().any(|byte| b"\x1b\r\x08".contains(byte)) || is_protected(text) {
            continue;
        }
        for (budget, compressor) in &compressors() {
            let Some(result) = once(compressor, command, text).0 else { continue };
            let context = || format!("{budget:?} {command}\n{}", String::from_utf8_lossy(&result));
            let input = rows(text);
            let output = rows(body(&result));
            let (mut at, mut counted) = (0, 0);
            let mut index = 0;
            while index < output.len() {
                // A line may be cut in several places. A row with a part precedes each marker, and the last part follows the last
                // marker.
                let gone = |row: usize| match output.get(row).and_then(|row| Marker::parse(row)) {
                    Some(Marker::OfLine { bytes, .. } | Marker::Base64 { bytes, .. } | Marker::Hex { bytes, .. }) => {
                        Some(bytes)
                    }
                    _ => None,
                };
                let cuts: Vec<usize> = (index + 1..).step_by(2).map_while(gone).collect();
                match Marker::parse(output[index]) {
                    Some(Marker::LeftOut { lines, records, .. }) => {
                        counted += lines;
                        // The next line has their names.
                        index += usize::from(records > 0);
                    }
                    Some(Marker::AsAbove { lines, .. }) => counted += lines,
                    _ if !cuts.is_empty() => {
                        let is_cut = |row: &[u8]| {
                            let mut end = 0;
                            let is_there = (0..=cuts.len()).all(|part| {
                                let kept = output[index + 2 * part];
                                let is_there = row.get(end..).is_some_and(|rest| rest.starts_with(kept));
                                end += kept.len() + cuts.get(part).unwrap_or(&0);
                                is_there
                            });
                            is_there && end == row.len()
                        };
                        at += input[at..].iter().position(|row| is_cut(row)).unwrap_or_else(|| panic!("{}", context()));
                        at += 1;
                        counted += 1;
                        index += 2 * cuts.len();
                    }
                    _ => {
                        let found = input.get(at..).unwrap_or_default().iter().position(|row| *row == output[index]);
                        at += found.unwrap_or_else(|| panic!("line {index} of {}", context())) + 1;
                        counted += 1;
                    }
                }
                index += 1;
            }
            // Blank lines may be removed without a marker.
            let blank = input.iter().filter(|row| row.trim_ascii().is_empty()).count();
            assert!(counted <= input.len() && counted + blank >= input.len(), "{counted} {}", context());
        }
    }
}

#[test]
fn a_budget_is_used_and_its_omissions_stand_apart() {
    let mut random = Random::announced("a_budget_is_used_and_its_omissions_stand_apart");
    let is_omission = |row: &&[u8]| matches!(Marker::parse(row), Some(Marker::LeftOut { .. } | Marker::AsAbove { .. }));
    for round in 0..200 {
        // In half of the rounds, the text has no verdicts of success. Removed verdicts leave room in the result, so only these
        // texts show how much of the budget is used.
        let is_plain = round % 2 == 0;
        let mut text = if is_plain { Vec::new() } else { log(&mut random) };
        // The first rounds have few error regions, and the last ones little else.
        for line in 0..400 + random.below(900) {
            let failed = random.below(100) < round / 2;
            let row = if failed { format!("error: number {line}\n") } else { format!("unit {line} is built\n") };
            text.extend_from_slice(row.repeat(1 + random.below(20) / 19 * 5).as_bytes());
        }
        for (budget, compressor) in &compressors()[1..3] {
            let (Some(result), report) = once(compressor, "make", &text) else { continue };
            let shown = String::from_utf8_lossy(&result);
            assert!(report.filters.iter().any(|id| id == "budget"), "{budget:?}\n{shown}");
            let is_twice = |pair: &[&[u8]]| pair.iter().all(is_omission);
            assert!(!rows(body(&result)).windows(2).any(is_twice), "{budget:?}\n{shown}");
            let share = result.len() * 100 / budget.unwrap();
            assert!(!is_plain || share >= 80, "{share} % of {budget:?}\n{shown}");
        }
    }
}

/// Checks that if a stream had to drop failures, no verdict of success stays in its result.
#[test]
fn no_stream_is_falsely_green() {
    let mut random = Random::announced("no_stream_is_falsely_green");
    let compressor = Arc::new(Compressor::new(&Registry::new()).budget(1024).unwrap());
    for _ in 0..200 {
        let often = *random.pick(&[3, 10, 30, 60]);
        let mut text = String::new();
        while text.len() < 9000 {
            text += &match random.below(often) {
                0 => "FAIL\n".to_owned(),
                1 => "PASS\n".to_owned(),
                2 => "x\n".to_owned(),
                _ => format!("line {} {}\n", random.below(100), "y".repeat(random.below(30))),
            };
        }
        let (result, _) = of_stream(compressor.clone(), Input::of_command("make"), 4096, text.as_bytes());
        let result = String::from_utf8(result).unwrap();
        let failures = |text: &str| text.lines().filter(|line| *line == "FAIL").count();
        let is_green = result.lines().any(|line| line == "PASS");
        assert!(!is_green || failures(&result) == failures(&text), "{result}");
    }
}

#[test]
fn no_false_green_and_no_failure_lost() {
    let mut random = Random::announced("no_false_green_and_no_failure_lost");
    let good = ["test result: ok. 3 passed; 0 failed", "BUILD SUCCESSFUL in 3s", "=== 3 passed in 0.1s ==="];
    let bad = ["test result: FAILED. 2 passed; 1 failed", "make: *** [all] Error 1", "BUILD FAILED in"];
    for _ in 0..300 {
        let mut text = String::new();
        let mut failures = Vec::new();
        for line in 0..random.below(900) {
            match random.below(40) {
                0 => text += &format!("{}\n", random.pick(&good)),
                1 => {
                    failures.push(format!("{} {line}", random.pick(&bad)));
                    text += &format!("{}\n", failures.last().unwrap());
                }
                2 => {
                    failures.push(format!("error: number {line}"));
                    text += &format!("{}\n  --> a.rs:{line}:1\n  = note: because\n\n", failures.last().unwrap());
                }
                _ => text += &format!("working on it {}\n", random.below(30)),
            }
        }
        for (budget, compressor) in &compressors() {
            let Some(result) = once(compressor, "cargo test", text.as_bytes()).0 else { continue };
            let kept = String::from_utf8(result).unwrap();
            let rows: Vec<&str> = kept.lines().collect();
            let has = |failure: &String| rows.contains(&failure.as_str());
            if budget.is_none() {
                assert!(failures.iter().all(has), "{kept}");
            }
            if rows.iter().any(|row| good.contains(row)) {
                let lost = failures.iter().filter(|failure| bad.iter().any(|bad| failure.starts_with(&bad[..9])));
                let lost: Vec<_> = lost.filter(|failure| !has(failure)).collect();
                assert!(lost.is_empty(), "{budget:?} {lost:?}\n{kept}");
            }
        }
    }
}

/// Returns the rows that a very simple terminal shows after this text.
fn shown(text: &str) -> Vec<String> {
    let mut rows: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0usize, 0usize);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => {
                (row, column) = (row + 1, 0);
                if row == rows.len() {
                    rows.push(Vec::new());
                }
            }
            '\r' => column = 0,
            '\x08' => column = column.saturating_sub(1),
            '\x1b' => {
                assert_eq!(chars.next(), Some('['));
                let mut digits = String::new();
                while chars.peek().unwrap().is_ascii_digit() {
                    digits.push(chars.next().unwrap());
                }
                let number: Option<usize> = digits.parse().ok();
                let count = number.unwrap_or(1).max(1);
                match chars.next().unwrap() {
                    'A' => row = row.saturating_sub(count),
                    'B' => row = (row + count).min(rows.len() - 1),
                    'C' => column += count,
                    'D' => column = column.saturating_sub(count),
                    'G' => column = count - 1,
                    'K' if number.unwrap_or(0) == 0 => rows[row].truncate(column),
                    'K' if number == Some(2) => rows[row].clear(),
                    _ => {}
                }
            }
            c => {
                while rows[row].len() <= column {
                    rows[row].push(' ');
                }
                rows[row][column] = c;
                column += 1;
            }
        }
    }
    let mut shown: Vec<String> =
        rows.into_iter().map(|row| row.into_iter().collect::<String>().trim_end().to_owned()).collect();
    while shown.last().is_some_and(String::is_empty) {
        shown.pop();
    }
    shown
}

#[test]
fn the_normaliser_shows_what_a_terminal_shows() {
    let mut registry = Registry::new();
    let others: Vec<String> = registry.filter_ids().filter(|id| *id != "terminal").map(str::to_owned).collect();
    others.iter().for_each(|id| assert!(registry.remove(id)));
    let compressor = Compressor::new(&registry);
    let mut random = Random::announced("the_normaliser_shows_what_a_terminal_shows");
    let pieces = [
        "a", "bc", "é…", " ", "\n", "\n", "\r", "\r\n", "\x08", "\x1b[A", "\x1b[2A", "\x1b[B", "\x1b[3C", "\x1b[2D",
        "\x1b[K", "\x1b[2K", "\x1b[5G", "\x1b[31m", "\x1b[0m", "line\n",
    ];
    for _ in 0..1000 {
        // There are enough colours that removing them is worth a banner.
        let mut text = "\x1b[1m".repeat(400) + "start\n";
        for _ in 0..random.below(60) {
            text += *random.pick::<&str>(&pieces);
        }
        let (result, report) = once(&compressor, "", text.as_bytes());
        let text = &text[1600..];
        // A result must not be white space alone.
        if shown(text).is_empty() {
            assert_eq!((result, report.failed), (None, Vec::new()));
            continue;
        }
        let result = result.unwrap_or_else(|| panic!("unchanged: {text:?} {:?}", report.failed));
        let result = String::from_utf8(body(&result).to_vec()).unwrap();
        let mut result: Vec<&str> = result.lines().map(str::trim_end).collect();
        while result.last().is_some_and(|row| row.is_empty()) {
            result.pop();
        }
        assert_eq!(result, shown(text), "{text:?}");
    }
}

#[test]
fn a_stream_does_not_depend_on_its_chunks() {
    let mut random = Random::announced("a_stream_does_not_depend_on_its_chunks");
    for (budget, memory) in
        [(None, 1 << 16), (None, 4096), (Some(1024), 1 << 16), (Some(1024), 4096), (Some(3000), 12_000)]
    {
        let compressor = || {
            let compressor = Compressor::new(&Registry::new());
            Arc::new(match budget {
                Some(budget) => compressor.budget(budget).unwrap(),
                None => compressor,
            })
        };
        for round in 0..30 {
            let text = if round % 3 == 0 { bytes(&mut random) } else { log(&mut random) };
            let mut run = |most: usize| {
                let mut stream = ToolStream::new(compressor(), "bash", Input::of_command("make"), memory).unwrap();
                let (mut result, mut rest) = (Vec::new(), &text[..]);
                while !rest.is_empty() {
                    let (chunk, after) = rest.split_at((1 + random.below(most)).min(rest.len()));
                    stream.feed(chunk, |bytes| result.extend_from_slice(bytes));
                    rest = after;
                }
                let report = stream.finish(|bytes| result.extend_from_slice(bytes));
                (result, report)
            };
            let (result, report) = run(text.len() + 1);
            assert_eq!((&result, &report), (&run(50).0, &run(1000).1));
            assert_eq!(report.failed, []);
            assert!(result.len() <= text.len());
            if text.len() <= memory {
                let whole = once(&compressor(), "make", &text).0.map_or(text.clone(), |result| body(&result).to_vec());
                assert_eq!(result, whole);
            } else if let Some(budget) = budget {
                assert!(result.len() <= budget, "{} {}", result.len(), String::from_utf8_lossy(&result));
            }
        }
    }
}

/// Returns a text of one of the kinds that a compressor treats specially.
fn kind(random: &mut Random, kind: usize) -> Vec<u8> {
    let lines = 60 + random.below(400);
    let mut text = String::new();
    for line in 0..lines {
        let (failed, number) = (random.below(30) == 0, random.below(1000));
        text += &match kind {
            // The JSON records of a test runner.
            0 => {
                let action = ["output", "pass", "fail", "run"][if failed { 2 } else { random.below(4) }];
                format!(
                    "{{\"Action\":\"{action}\",\"Package\":\"p\",\"Test\":\"T{}\",\"Output\":\"at {number}\"}}\n",
                    line / 4
                )
            }
            // Log lines with timestamps.
            1 => {
                let level = if failed { "ERROR" } else { "INFO" };
                format!(
                    "2024-05-0{} 12:{:02}:{:02} {level} [worker-{}] step {number}\n",
                    line % 9 + 1,
                    line % 60,
                    number % 60,
                    number % 4
                )
            }
            // Problems listed under their file.
            2 if line % 9 == 0 => format!("src/part_{line}.js\n"),
            2 => format!(
                "  {line}:{}  {}  Something is not used  no-unused\n",
                number % 80,
                if failed { "error" } else { "warning" }
            ),
            // Diagnostics that no pattern knows.
            3 => format!(
                "lib/part{line}.x({number},{}): {} E{number:04}: it cannot be so\n",
                line % 7,
                if failed { "severe" } else { "note" }
            ),
            // A table, a section, a stage.
            4 => format!(
                "{}{line:<8}{number:<8}Running   {}d\n",
                ["pod-", "[stage 1/2]\n", "---\n", "| "][usize::from(line == 0) * 2 + usize::from(failed)],
                line % 40
            ),
            // A hunk.
            5 if line % 20 == 0 => {
                format!("diff --git a/f{line} b/f{line}\n--- a/f{line}\n+++ b/f{line}\n@@ -{line},3 +{line},3 @@\n")
            }
            5 => format!("{}error: {number}\n", [" ", "+", "-"][random.below(3)]),
            // Passed tests, and a few failed ones.
            6 if failed => format!("  ✗ adds {number}\n    Expected: 3\n      Actual: {number}\n"),
            6 => format!("  ✓ adds {number} ({} ms)\n", line % 30),
            // One long line.
            7 => format!("{number} word "),
            // XML, and help text after an error.
            8 if line == 0 => "<?xml version=\"1.0\"?>\n<list>\n".to_owned(),
            8 => format!("<item n=\"{number}\"/>\n"),
            _ if line == 0 => "npm error cannot find it\nnpm error Usage:\n".to_owned(),
            _ => format!("npm error   --option-{line} <n>\n"),
        };
    }
    text.into_bytes()
}

const KINDS: usize = 10;

/// For every kind of text, compares a call with a stream that has enough memory for the text: both must return the same result for
/// any command and any exit code. The stream gets the exit code before its first byte or after its last one.
#[test]
fn a_stream_that_fits_is_a_call() {
    let mut random = Random::announced("a_stream_that_fits_is_a_call");
    let commands = [
        "",
        "make",
        "cargo test",
        "go test -json ./...",
        "npm ci",
        "npx eslint .",
        "grep -rn error .",
        "git diff",
        "kubectl get pods",
        "a | tail",
    ];
    for round in 0..200 {
        let text = kind(&mut random, round % KINDS);
        let command = *random.pick(&commands);
        let code = *random.pick(&[None, Some(0), Some(1), Some(101)]);
        let budget = *random.pick(&[None, Some(1024), Some(4000)]);
        let compressor = match budget {
            Some(budget) => Compressor::new(&Registry::new()).budget(budget).unwrap(),
            None => Compressor::new(&Registry::new()),
        };
        let compressor = Arc::new(compressor);
        let input = |code: Option<i64>| {
            let input = match code {
                Some(code) => serde_json::json!({ "command": command, "exit_code": code }),
                None => serde_json::json!({ "command": command }),
            };
            Input::from_json(&input.to_string()).unwrap()
        };
        let called = compressor.compress(&Invocation::new("bash", &input(code)), &[Part::Text(&text)]);
        let whole = match &called.parts[0] {
            Outcome::Text(text) => body(text),
            _ => &text,
        };
        for is_told_last in [false, true] {
            let before = if is_told_last { None } else { code };
            let mut stream = ToolStream::new(compressor.clone(), "bash", input(before), 1 << 17).unwrap();
            let (mut result, mut rest) = (Vec::new(), &text[..]);
            while !rest.is_empty() {
                let (chunk, after) = rest.split_at((1 + random.below(2000)).min(rest.len()));
                stream.feed(chunk, |bytes| result.extend_from_slice(bytes));
                rest = after;
            }
            if let Some(code) = code.filter(|_| is_told_last) {
                stream.set_exit_code(code);
            }
            let report = stream.finish(|bytes| result.extend_from_slice(bytes));
            let context = || format!("kind {} of `{command}`, {code:?}, {budget:?}", round % KINDS);
            assert!(
                result == whole,
                "{}\n{}\n---\n{}",
                context(),
                String::from_utf8_lossy(&result),
                String::from_utf8_lossy(whole)
            );
            let of = |report: &Report| (report.filters.clone(), report.cut_protected, report.unexplained);
            assert_eq!(of(&report), of(&called.report), "{}", context());
        }
    }
}

/// Checks every kind of text, from 1,024 units, with and without a limit on the memory of a call, which the text exceeds.
#[test]
fn a_budget_is_a_limit_for_every_kind() {
    let mut random = Random::announced("a_budget_is_a_limit_for_every_kind");
    for round in 0..150 {
        let mut text = kind(&mut random, round % KINDS);
        if round % 3 == 0 {
            let second = random.below(KINDS);
            text.extend(kind(&mut random, second));
        }
        if units(&text) < 1024 {
            continue;
        }
        for budget in [1024, 2000, 7000] {
            let compressor = Compressor::new(&Registry::new()).budget(budget).unwrap();
            for compressor in [compressor, Compressor::new(&Registry::new()).budget(budget).unwrap().memory(0)] {
                let command = *random.pick(&COMMANDS);
                let (result, report) = once(&compressor, command, &text);
                let len = result.as_ref().map_or(text.len(), Vec::len);
                assert!(len <= budget, "kind {} of `{command}`: {len} of {budget}", round % KINDS);
                assert!(report.failed.is_empty(), "{:?}", report.failed);
            }
        }
    }
}

/// Checks that if a text exceeds the limit of a call, its result is a banner and the result of a stream with the same amount of
/// memory.
#[test]
fn a_long_text_of_a_call_goes_as_a_stream_does() {
    let mut random = Random::announced("a_long_text_of_a_call_goes_as_a_stream_does");
    for round in 0..30 {
        let mut text = Vec::new();
        while text.len() < 20_000 {
            text.extend(kind(&mut random, round % KINDS));
        }
        let compressor = Arc::new(Compressor::new(&Registry::new()).memory(8000));
        let mut stream = ToolStream::new(compressor.clone(), "bash", Input::of_command("make"), 8000).unwrap();
        let mut streamed = Vec::new();
        stream.feed(&text, |bytes| streamed.extend_from_slice(bytes));
        let report = stream.finish(|bytes| streamed.extend_from_slice(bytes));
        let (result, called) = once(&compressor, "make", &text);
        assert_eq!((called.before, called.parts.len()), (report.before, 0));
        match result {
            Some(result) => {
                assert_eq!(body(&result), streamed);
                assert_eq!(
                    (called.filters, called.after, called.after_units),
                    (report.filters, result.len(), units(&result))
                );
            }
            None => assert!(report.filters.is_empty() || streamed.len() + 200 > text.len(), "{:?}", report.filters),
        }
    }
}

#[test]
fn a_long_stream_keeps_head_tail_and_failures_with_exact_counts() {
    let compressor = Arc::new(Compressor::new(&Registry::new()).budget(2000).unwrap());
    let mut stream = ToolStream::new(compressor, "bash", Input::of_command("make"), 16_000).unwrap();
    let mut result = Vec::new();
    let mut total = 0;
    for line in 0..50_000 {
        let text = match line {
            20_000 => "error: the cause\n  at some place\n".to_owned(),
            _ => format!("line {line} of many\n"),
        };
        total += text.lines().count();
        stream.feed(text.as_bytes(), |bytes| result.extend_from_slice(bytes));
    }
    assert!(result.is_empty(), "nothing comes out before the end");
    stream.finish(|bytes| result.extend_from_slice(bytes));
    let result = String::from_utf8(result).unwrap();
    assert!(result.len() <= 2000, "{}", result.len());
    assert!(result.starts_with("line 0 of many\n") && result.ends_with("line 49999 of many\n"), "{result}");
    assert!(result.contains("\nerror: the cause\n  at some place\n"), "{result}");
    let counted: usize = result
        .lines()
        .map(|row| match Marker::parse(row.as_bytes()) {
            Some(Marker::LeftOut { lines, .. }) => lines,
            _ => 1,
        })
        .sum();
    assert_eq!(counted, total);
}

#[test]
fn a_long_stream_says_how_many_error_regions_went() {
    for (budget, memory) in [(1024, 4096), (2000, 16_000), (10_000, 40_000)] {
        for every in [7, 40, 300] {
            let compressor = Arc::new(Compressor::new(&Registry::new()).budget(budget).unwrap());
            let mut stream = ToolStream::new(compressor, "bash", Input::of_command("make"), memory).unwrap();
            let mut result = Vec::new();
            for line in 0..9000 {
                let text = match line % every {
                    3 => format!("error: number {line}\n  --> src/part_{line}.c\n  so it says\n"),
                    _ => format!("line {line} of many\n"),
                };
                stream.feed(text.as_bytes(), |bytes| result.extend_from_slice(bytes));
            }
            stream.finish(|bytes| result.extend_from_slice(bytes));
            let shown = String::from_utf8_lossy(&result);
            let told: usize = rows(&result)
                .iter()
                .map(|row| match Marker::parse(row) {
                    Some(Marker::LeftOut { regions, .. }) => regions,
                    _ => usize::from(row.starts_with(b"error: ")),
                })
                .sum();
            let all = (0..9000).filter(|line| line % every == 3).count();
            assert_eq!(told, all, "{budget} {every}: {shown}");
        }
    }
}

/// Checks that colours do not change where a window ends.
#[test]
fn a_failure_in_colours_is_not_cut_between_windows() {
    let frames: String = (0..40).map(|n| format!("   at frame {n} of it\n")).collect();
    let failure =
        format!("\x1b[31mFAILED tests/cart.py::remove\x1b[0m\n{frames}\x1b[31m   the cart is empty\x1b[0m\n   end\n");
    let lines = |count| (0..count).map(|n| format!("step {n} of the work {}\n", n * 7)).collect::<String>();
    let compressor = Arc::new(Compressor::new(&Registry::new()).budget(3000).unwrap());
    for before in (600..650).step_by(3) {
        let text = format!("{}{failure}{}", lines(before), lines(2900));
        let mut stream = ToolStream::new(compressor.clone(), "bash", Input::of_command("x"), 1 << 16).unwrap();
        let mut result = Vec::new();
        stream.feed(text.as_bytes(), |bytes| result.extend_from_slice(bytes));
        stream.finish(|bytes| result.extend_from_slice(bytes));
        let result = String::from_utf8(result).unwrap();
        assert!(result.contains("the cart is empty"), "{before}: {result}");
    }
}

#[test]
fn a_long_stream_keeps_what_is_beside_a_failure() {
    let compressor = Arc::new(Compressor::new(&Registry::new()).budget(10_000).unwrap());
    let mut stream = ToolStream::new(compressor, "bash", Input::of_command("make"), 40_000).unwrap();
    let mut result = Vec::new();
    for line in 0..5000 {
        let text = match line {
            1500 | 2500 | 3500 => format!("cc -c part_{line}.c\nerror: part {line}\nwhat no pattern knows of {line}\n"),
            _ => format!("line {line} of many\n"),
        };
        stream.feed(text.as_bytes(), |bytes| result.extend_from_slice(bytes));
    }
    stream.finish(|bytes| result.extend_from_slice(bytes));
    let result = String::from_utf8(result).unwrap();
    for line in [1500, 2500, 3500] {
        let block = format!("cc -c part_{line}.c\nerror: part {line}\nwhat no pattern knows of {line}\n");
        assert!(result.contains(&block), "{result}");
    }
}

#[test]
fn a_streams_marker_is_not_longer_than_what_it_stands_for() {
    let mut random = Random::announced("a_streams_marker_is_not_longer_than_what_it_stands_for");
    for _ in 0..60 {
        let text: Vec<u8> = (0..4).flat_map(|_| log(&mut random)).collect();
        let compressor = Arc::new(Compressor::new(&Registry::new()).budget(1024).unwrap());
        let mut stream = ToolStream::new(compressor, "bash", Input::of_command("make"), 4096).unwrap();
        let mut result = Vec::new();
        stream.feed(&text, |bytes| result.extend_from_slice(bytes));
        stream.finish(|bytes| result.extend_from_slice(bytes));
        for row in rows(&result) {
            if let Some(Marker::LeftOut { bytes, .. }) = Marker::parse(row) {
                assert!(row.len() < bytes, "{}", String::from_utf8_lossy(&result));
            }
        }
    }
}

#[test]
fn a_long_stream_of_json_is_never_broken_without_a_budget() {
    let compressor = Arc::new(Compressor::new(&Registry::new()));
    let json = format!("[\n{}1]", "1,\n".repeat(20_000));
    let mut stream = ToolStream::new(compressor, "bash", Input::of_command("make"), 4096).unwrap();
    let mut result = Vec::new();
    stream.feed(json.as_bytes(), |bytes| result.extend_from_slice(bytes));
    stream.finish(|bytes| result.extend_from_slice(bytes));
    assert_eq!(result, json.as_bytes());
}

/// Returns the result of a stream without a budget.
fn streamed(text: &str, memory: usize) -> String {
    let compressor = Arc::new(Compressor::new(&Registry::new()));
    String::from_utf8(of_stream(compressor, Input::of_command("x"), memory, text.as_bytes()).0).unwrap()
}

/// Returns the result of a stream with a budget.
fn kept(text: &str, budget: usize, memory: usize) -> String {
    let compressor = Arc::new(Compressor::new(&Registry::new()).budget(budget).unwrap());
    String::from_utf8(of_stream(compressor, Input::of_command("make"), memory, text.as_bytes()).0).unwrap()
}

#[test]
fn a_window_that_looks_like_front_matter_loses_its_colours_and_no_error() {
    let steps = "---\n\x1b[32mstep\x1b[0m is done now x\n".repeat(200);
    let error = "---\n\x1b[31merror\x1b[0m\x1b[1m: mismatched types\x1b[0m\n";
    let text = format!("start of it\n{}\n{steps}{error}{steps}", "x".repeat(16));
    for result in [streamed(&text, 4096), kept(&text, 1024, 4096)] {
        assert!(result.contains("\nerror: mismatched types\n") && !result.contains('\x1b'), "{result:?}");
    }
}

#[test]
fn failures_that_stand_close_together_stay_in_a_stream() {
    let units =
        |from: usize, to: usize| (from..to).map(|n| format!("unit {n} of the program is built\n")).collect::<String>();
    let errors = "error: mismatched types\ntook 3 ms\nerror: no such field\n";
    let result = kept(&format!("{}{errors}{}", units(0, 300), units(300, 700)), 1024, 4096);
    assert!(result.contains(errors), "{result}");
    let tests = |count| (0..count).map(|n| format!("FAIL src/test{n}.test.js\ntook {n} ms\n")).collect::<String>();
    let result = kept(&format!("{}{}{}", units(0, 3000), tests(60), units(3000, 9000)), 10_240, 40_960);
    assert!(result.contains(&tests(60)), "{result}");
    // There are more failures than the memory can keep, and the markers must count the lost ones.
    let result = kept(&format!("{}{}{}", units(0, 3000), tests(600), units(3000, 9000)), 10_240, 40_960);
    let told = rows(result.as_bytes()).into_iter().map(|row| match Marker::parse(row) {
        Some(Marker::LeftOut { regions, .. }) => regions,
        _ => usize::from(row.starts_with(b"FAIL ")),
    });
    assert_eq!(told.sum::<usize>(), 600, "{result}");
}

#[test]
fn what_is_written_above_a_window_overwrites_nothing_in_it() {
    let text = |to: &dyn Fn(usize) -> String, back: &dyn Fn(usize) -> String| {
        let line = |n: usize| {
            let header = format!("{}\r\x1b[2Kheader: {n} done{}\r", to(n + 1), back(n + 1));
            format!("result {n} is worth to be known\n{}", if n % 10 == 9 { header } else { String::new() })
        };
        format!("\x1b7header: 0 done\n{}", (0..1000).map(line).collect::<String>())
    };
    let steps = text(&|n| format!("\x1b[{}A", n + 1), &|n| format!("\x1b[{}B", n + 1));
    let places = text(&|_| "\x1b8".to_owned(), &|_| "\x1b[9999B".to_owned());
    for text in [steps, places] {
        let result = streamed(&text, 4096);
        let rows: Vec<&str> = result.lines().collect();
        for n in 0..1000 {
            assert!(rows.contains(&&*format!("result {n} is worth to be known")), "{n}: {result}");
        }
        assert!(rows.contains(&"header: 999 done") && !rows.contains(&""), "{result}");
        assert!(rows.len() < 1050, "{result}");
    }
}

#[test]
fn hunks_and_sections_that_are_longer_than_a_window_stay_whole() {
    let noise = "compiling the same file once more\n".repeat(60);
    let hunk: String = (0..900).map(|n| ["+same\n", "+line of the hunk\n", "-old\n"][n % 3]).collect();
    let diff = format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,300 +1,600 @@ fn\n{hunk}");
    let combined = diff
        .replace("@@ -1,300 +1,600 @@", "@@@ -1,300 -1,0 +1,600 @@@")
        .replace("\n+", "\n++")
        .replace("\n-old", "\n- old");
    let combined = combined.replace("\n+++++ b/x", "\n+++ b/x");
    let test = "    def test(self):\n        self.go()\n>       assert self.code == 200\nE       assert 500 == 200\n\n";
    let sections: String =
        (0..90).map(|n| format!("____ test_{n} ____\n\n{test}{test}{test}plain\nplain\nplain\n")).collect();
    let pytest = format!("==== FAILURES ====\n{sections}==== 90 failed in 3.1s ====\n");
    let panic =
        format!("panic: boom\n\n{}", "goroutine 7 [running]:\nmain.run(...)\n\t/srv/cart.go:118 +0x9a\n\n".repeat(15));
    for text in [diff, combined, pytest, panic] {
        for memory in [4096, 5000, 16_384] {
            let result = streamed(&format!("{noise}{text}{noise}"), memory);
            assert!(result.contains(&text), "{memory}: {result}");
            assert!(result.len() < text.len() + noise.len(), "{memory}");
        }
    }
}

/// Checks a progress bar that overwrites itself: all of it is one line, however long the program runs.
#[test]
fn a_failure_between_frames_of_a_long_line_stays() {
    let frame = |n: usize| format!("train: {:3}%|{:50}| {n}/3000 [99.9it/s]\r", n / 30, "#".repeat(n / 60));
    let mut text = (0..3000).map(frame).collect::<String>();
    text.insert_str(text.len() / 2, "\rERROR: loss is nan at step 2500\r");
    text.push_str("\ndone\n");
    for result in [streamed(&text, 16_384), kept(&text, 4096, 16_384)] {
        assert!(result.starts_with("ERROR: loss is nan at step 2500\n") && result.ends_with("\ndone\n"), "{result}");
        assert!(result.contains("2999/3000") && result.len() < 4096 && !result.contains('\r'), "{result}");
    }
}

#[test]
fn of_a_long_line_stay_its_ends_and_what_says_a_failure() {
    let items = |from: usize| (from..from + 6000).map(|n| format!("{{\"item\": {n}}}, ")).collect::<String>();
    let line = format!("answer: {}\"error\": \"ledger is closed\", {}end", items(0), items(6000));
    let compressor = Compressor::new(&Registry::new()).budget(4096).unwrap();
    let text = format!("first\n{line}\nlast\n");
    let whole = once(&compressor, "make", text.as_bytes()).0.unwrap();
    for result in [kept(&text, 4096, 16_384), String::from_utf8_lossy(body(&whole)).into_owned()] {
        let rows: Vec<&str> = result.lines().collect();
        let gone = rows.iter().filter_map(|row| match Marker::parse(row.as_bytes()) {
            Some(Marker::OfLine { bytes, .. }) => Some(bytes),
            _ => None,
        });
        let gone: Vec<usize> = gone.collect();
        assert!(
            rows[1].starts_with("answer: ") && rows[3].contains("\"ledger is closed\"") && rows[5].ends_with("end"),
            "{result}"
        );
        assert_eq!(rows[1].len() + rows[3].len() + rows[5].len() + gone.iter().sum::<usize>(), line.len(), "{result}");
    }
}

#[test]
fn encoded_data_becomes_a_marker_under_a_budget() {
    let compressor = Compressor::new(&Registry::new()).budget(4096).unwrap();
    for (digits, marker) in [("aGVsbG8h", "[… 40,000 bytes of base64]"), ("0a1b2c3d", "[… 40,000 bytes of hex]")] {
        let text = format!("first\nshot: data:{} end\nerror: no\n", digits.repeat(5000));
        let whole = once(&compressor, "make", text.as_bytes()).0.unwrap();
        for result in [kept(&text, 4096, 16_384), String::from_utf8_lossy(body(&whole)).into_owned()] {
            assert_eq!(result, format!("first\nshot: data:\n{marker}\n end\nerror: no\n"));
        }
        let text = format!("first\n{}\nerror: no\n", digits.repeat(5000));
        let whole = once(&compressor, "make", text.as_bytes()).0.unwrap();
        for result in [kept(&text, 4096, 16_384), String::from_utf8_lossy(body(&whole)).into_owned()] {
            assert_eq!(result, format!("first\n\n{marker}\n\nerror: no\n"));
        }
    }
}
