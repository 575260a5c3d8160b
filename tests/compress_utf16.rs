//! Tests outputs in UTF-16: at every entry point, the result must be that of the same text in UTF-8, and the report must say that
//! the text was decoded.

#![cfg(feature = "compress")]

use std::sync::Arc;

use aside::compress::*;

fn encoded(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

fn log(lines: usize) -> String {
    let line = |n: usize| match n == lines - 20 {
        true => "cart.c(12): error C2065: 'größe': undeclared identifier\r\n".to_owned(),
        false => format!("\x1b[32mcompiling\x1b[0m module {n}, 模块 {n}\r\n"),
    };
    (0..lines).map(line).collect()
}

fn compressor(budget: Option<usize>) -> Compressor {
    let compressor = Compressor::new(&Registry::new());
    budget.map_or(Compressor::new(&Registry::new()), |budget| compressor.budget(budget).unwrap())
}

/// Returns the result without its banner, and the report.
fn whole(compressor: &Compressor, text: &[u8]) -> (Vec<u8>, Report) {
    let input = Input::from_json(r#"{"command": "build.cmd", "exit_code": 1}"#).unwrap();
    let result = compressor.compress(&Invocation::new("bash", &input), &[Part::Text(text)]);
    assert_eq!(result.report.failed, []);
    let left = match &result.parts[0] {
        Outcome::Text(left) if left.starts_with(b"[Output compressed by ") => {
            left[left.iter().position(|&byte| byte == b'\n').unwrap() + 1..].to_vec()
        }
        Outcome::Text(left) => left.clone(),
        _ => text.to_vec(),
    };
    assert!(left.len() <= text.len());
    (left, result.report)
}

fn stream(compressor: Compressor, text: &[u8], memory: usize, size: usize) -> (Vec<u8>, Report) {
    let input = Input::from_json(r#"{"command": "build.cmd", "exit_code": 1}"#).unwrap();
    let mut stream = ToolStream::new(Arc::new(compressor), "bash", input, memory).unwrap();
    let mut left = Vec::new();
    text.chunks(size).for_each(|chunk| stream.feed(chunk, |bytes| left.extend_from_slice(bytes)));
    let report = stream.finish(|bytes| left.extend_from_slice(bytes));
    assert_eq!(report.failed, []);
    (left, report)
}

#[test]
fn a_result_is_that_of_the_same_text_in_utf_8() {
    let text = log(600);
    let ways = [
        encoded(&format!("\u{feff}{text}"), u16::to_le_bytes),
        encoded(&format!("\u{feff}{text}"), u16::to_be_bytes),
        encoded(&format!("{}{text}", "Build started.\r\n".repeat(40)), u16::to_le_bytes),
    ];
    for bytes in ways {
        for budget in [None, Some(4000)] {
            let (left, report) = whole(&compressor(budget), &bytes);
            assert_eq!(report.filters[..2], ["utf-16", "terminal"]);
            let left = String::from_utf8(left).unwrap();
            assert!(
                left.contains("error C2065: 'größe': undeclared") && left.contains("module 599, 模块 599\n"),
                "{left}"
            );
            assert!(!left.contains('\0') && !left.contains('\u{feff}'), "{left}");
            let (streamed, _) = stream(compressor(budget), &bytes, 1 << 20, 999);
            if budget.is_none() {
                assert_eq!(String::from_utf8(streamed).unwrap(), left);
            }
            // The stretches must cover the bytes of the original.
            let end = report.parts[0].stretches.iter().fold(0, |at, stretch| {
                assert_eq!(stretch.range.start, at);
                stretch.range.end
            });
            assert_eq!(end, bytes.len());
        }
    }
}

#[test]
fn a_text_that_outgrows_its_memory_is_decoded_however_it_is_cut() {
    let text = format!("\u{feff}{}", log(4000));
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes = encoded(&text, unit);
        for budget in [None, Some(4000)] {
            let (left, report) = stream(compressor(budget), &bytes, 16_000, bytes.len());
            assert_eq!((report.before, report.filters[0].as_str()), (bytes.len(), "utf-16"));
            let shown = String::from_utf8(left.clone()).unwrap();
            assert!(shown.contains("error C2065: 'größe'") && shown.contains("模块 3999\n"), "{shown}");
            assert!(!shown.contains('\0') && budget.is_none_or(|budget| left.len() <= budget));
            for size in [1, 7, 1000, 16_001] {
                assert_eq!(stream(compressor(budget), &bytes, 16_000, size), (left.clone(), report.clone()), "{size}");
            }
        }
        // A call with a memory limit, which also uses a stream.
        let (left, report) = whole(&compressor(Some(4000)).memory(16_000), &bytes);
        assert!(String::from_utf8(left).unwrap().contains("error C2065: 'größe'"));
        assert_eq!(report.filters[0], "utf-16");
    }
}

#[test]
fn broken_utf_16_loses_nothing_else() {
    let mut bytes = encoded(&format!("\u{feff}{}", log(200)), u16::to_le_bytes);
    let units = [0xd800, 0x0a].map(u16::to_le_bytes).concat();
    bytes.splice(2..2, units);
    bytes.push(b'!');
    let (left, _) = whole(&compressor(None), &bytes);
    assert!(left.starts_with("\u{fffd}\ncompiling".as_bytes()) && left.ends_with(b" 199\n!"));
}

#[test]
fn a_text_that_would_be_longer_in_utf_8_stays() {
    let characters = (0x4e00..0x5200).filter_map(char::from_u32).collect::<Vec<_>>();
    let text: String = characters.chunks(16).map(|line| line.iter().collect::<String>() + "\n").collect();
    let bytes = encoded(&format!("\u{feff}{text}"), u16::to_le_bytes);
    let (left, report) = whole(&compressor(None), &bytes);
    assert!(left == bytes && report.filters.is_empty());
    let (left, _) = whole(&compressor(Some(1024)), &bytes);
    assert!(left.len() <= 1024 && String::from_utf8(left).unwrap().starts_with('一'));
}
