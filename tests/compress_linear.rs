//! Anyone may have written a tool's output, so the compressor's work must be linear in its size. This test counts instructions with
//! callgrind: a text of four times the size may need at most 4.2 times the work. The texts and command lines make a careless filter
//! read the same bytes again and again.

#![cfg(feature = "compress")]

use std::{env, hint::black_box};

use aside::compress::*;
use samples::SHELL_PIECES;
use support::callgrind::{self, SIZES};
use twox_hash::XxHash3_64;

/// A trap is a text that repeats one of these units.
const TRAPS: [&str; 58] = [
    "   Compiling serde v1.0.1\n",
    "error: expected `;`\n",
    "  --> src/a.rs:3:5\n",
    "3  | let x = 1\n",
    "test a::b ... ok\n",
    "test a::c ... FAILED\n",
    "test result: ok. 3 passed; 0 failed\n",
    "test result: FAILED. 2 passed; 1 failed\n",
    "  \n",
    "Traceback (most recent call last):\n",
    "  File \"a.py\", line 3\n",
    "ValueError: bad\n",
    "=== FAILURES ===\n",
    "___ test_a ___\n",
    "=== 1 failed in 0.1s ===\n",
    "=== 3 passed in 0.1s ===\n",
    "warning: unused variable\n",
    "@@ -1,2 +1,2 @@\n",
    "-a\n",
    "+b\n",
    " c\n",
    "{\"a\": 1}\n",
    "a,b,c\n",
    "Downloading x 12% 3 MB/s\n",
    "\x1b[31mred\x1b[0m text\n",
    "10%\r20%\r30%\n",
    "make: *** [all] Error 1\n",
    "BUILD SUCCESSFUL in 3s\n",
    "In file included from a.h:3:\n",
    "[… 41 lines, 2,310 bytes left out]\nrow\n",
    "\x1b]",
    "\x1b[1A\x1b[2Kx\n",
    "x\r",
    "a\x08",
    "\x1b[1000Cx\r",
    "ab\r\x1b[P\x1b[@",
    "\x1b[1K",
    "\x1b[H",
    "\x1b[2J",
    "\x1b[500;1Hx",
    "[",
    "{\"a\":",
    "\"",
    "a\n\n",
    "error",
    "error:\n",
    "\n",
    "[1]\n",
    "a/b/c\n",
    "a:1:\n",
    "%",
    "1% a\n",
    "@@ -1 +1 @@\n",
    "failures:\n",
    "0 failed ",
    "\u{1f600}",
    "=",
    "x 1\nx 2\nx 3\n",
];

/// Units with lines by which tools are recognised, and with lines that the tools' rules remove.
const TOOL_TRAPS: [&str; 8] = [
    "=== test session starts ===\n",
    "=== test session starts ===\nrunning 3 tests\n    ✔ a\n[INFO] Scanning for projects...\n",
    "=== test session starts ===\na.py::b PASSED [ 1%]\n",
    "=== test session starts ===\na.py::b PASSED [ 1%]\na.py::c PASSED [ 1%]\n=== 2 passed in 0.1s ===\n",
    "    ✔ a\n",
    "test a ... ok\nrunning 3 tests\n",
    "web: > Task :a UP-TO-DATE\nweb: b\n",
    "#1 1.0 Collecting a\n",
];

/// Returns a trap of this size. With a budget, each line gets a number, so that the lines are not folded before the step `budget`.
fn trap(unit: &str, size: usize, numbered: bool) -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0.. {
        match unit.strip_suffix('\n') {
            Some(line) if numbered => text.extend_from_slice(format!("{line} {number}\n").as_bytes()),
            _ => text.extend_from_slice(unit.as_bytes()),
        }
        if text.len() >= size {
            break;
        }
    }
    text.truncate(size);
    text
}

/// Returns lines of eight bytes whose hashes have the same upper bits and mostly the same lower bits. XXH3 of eight bytes can be
/// inverted, so a tool can print such lines. In a table that uses the hashes unchanged, all of them would collide.
fn lines_whose_hashes_meet(size: usize) -> Vec<u8> {
    const FACTOR: u64 = 0x9FB2_1C65_1E98_DF25;
    let inverse = (0..6).fold(1u64, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(FACTOR.wrapping_mul(inverse))));
    let undo = |mut hash: u64| {
        hash = (hash ^ hash >> 28 ^ hash >> 56).wrapping_mul(inverse);
        hash = (hash ^ (hash >> 35).wrapping_add(8)).wrapping_mul(inverse);
        (0..63).fold(hash, |hash, _| hash ^ hash.rotate_left(49) ^ hash.rotate_left(24))
    };
    let secret = undo(XxHash3_64::oneshot(&[0; 8]));
    let line = |hash: u64| (undo(hash) ^ secret).rotate_left(32).to_le_bytes();
    assert_eq!(XxHash3_64::oneshot(&line(0x0123_4567)), 0x0123_4567);
    let lines = (1..).map(|number: u64| line(number << 30 & u64::MAX >> 7));
    let lines = lines.filter(|line| !line.iter().any(|byte| byte.is_ascii_control()));
    lines.take(size / 9).flat_map(|line| [&line[..], b"\n"].concat()).collect()
}

/// Returns a hunk of a merge with `size / 16` sides. Its blank lines would be slow to read if each cost time for every side.
fn hunk_of_many_sides(size: usize) -> Vec<u8> {
    let marks = size / 16;
    let mut text = format!("{}{} +1,99999999 {}\n", "@".repeat(marks), " -1".repeat(marks - 1), "@".repeat(marks));
    text.extend(std::iter::repeat_n('\n', size - text.len()));
    text.into_bytes()
}

/// Runs the measured code. Callgrind counts only inside this function, and writes a count for each call.
#[inline(never)]
fn counted(work: &dyn Fn()) {
    work();
}

/// Does the measured work under valgrind, for the tests below. The job says which: compressing each trap in each size, lines with
/// colliding hashes, or a hunk with many sides, or reading command lines.
#[test]
#[ignore = "a helper of the tests of this file"]
fn work() {
    let Ok(job) = env::var("ASIDE_WORK") else { return };
    if job == "lines" {
        for piece in SHELL_PIECES {
            for size in SIZES {
                let line = piece.repeat(size / piece.len());
                counted(&|| drop(black_box(Command::parse(&line))));
            }
        }
        return;
    }
    if let "hashes" | "sides" = job.as_str() {
        let (compressor, input) = (Compressor::new(&Registry::new()), Input::of_command("make"));
        for size in SIZES {
            let text = if job == "hashes" { lines_whose_hashes_meet(size) } else { hunk_of_many_sides(size) };
            counted(&|| drop(black_box(compressor.compress(&Invocation::new("bash", &input), &[Part::Text(&text)]))));
        }
        return;
    }
    if job == "tools" {
        let (compressor, input) = (Compressor::new(&Registry::new()), Input::of_command("make"));
        let compress = |text: &[u8]| {
            drop(black_box(compressor.compress(&Invocation::new("bash", &input), &[Part::Text(text)])));
        };
        compress("error: expected `;`\n".repeat(5000).as_bytes());
        for unit in TOOL_TRAPS {
            compress(&trap(unit, SIZES[0], false));
            SIZES.iter().for_each(|&size| counted(&|| compress(&trap(unit, size, false))));
        }
        return;
    }
    let budget: usize = job.parse().unwrap();
    let mut registry = Registry::new();
    registry.minify_json();
    let mut compressor = Compressor::new(&registry);
    if budget > 0 {
        compressor = compressor.budget(budget).unwrap();
    }
    let input = Input::of_command("grep x");
    // This call builds tables that a process needs after many lines with a word of failure, so that building them is not counted
    // below.
    let failures = "error: expected `;`\n".repeat(5000);
    let _ = compressor.compress(&Invocation::new("bash", &input), &[Part::Text(failures.as_bytes())]);
    for unit in TRAPS {
        for size in SIZES {
            let text = trap(unit, size, budget > 0);
            counted(&|| drop(black_box(compressor.compress(&Invocation::new("bash", &input), &[Part::Text(&text)]))));
        }
    }
}

#[test]
fn work_is_linear() {
    callgrind::linear("compress_linear", "0", &TRAPS);
}

#[test]
fn work_under_a_budget_is_linear() {
    callgrind::linear("compress_linear", "4000", &TRAPS);
}

#[test]
fn looking_for_tools_is_linear() {
    callgrind::linear("compress_linear", "tools", &TOOL_TRAPS);
}

#[test]
fn hashes_that_meet_are_linear() {
    callgrind::linear("compress_linear", "hashes", &["lines whose hashes meet"]);
}

#[test]
fn a_hunk_of_many_sides_is_linear() {
    callgrind::linear("compress_linear", "sides", &["a hunk of many sides"]);
}

#[test]
fn reading_a_command_line_is_linear() {
    callgrind::linear("compress_linear", "lines", &SHELL_PIECES);
}
