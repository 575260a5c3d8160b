//! Checks the properties of every report of a tool result.

use aside::compress::{Change, Report, SliceError};
use twox_hash::XxHash3_64;

/// Checks that the stretches of a report's one part are the original, and that the kept stretches are in `rest`, the result, in
/// order.
pub fn tiles(report: &Report, text: &[u8], mut rest: &[u8]) {
    let mut at = 0;
    for stretch in &report.parts[0].stretches {
        assert_eq!(stretch.range.start, at);
        at = stretch.range.end;
        let bytes = report.slice(0, text, stretch.range.clone()).unwrap();
        assert_eq!((bytes, XxHash3_64::oneshot(bytes)), (&text[stretch.range.clone()], stretch.hash));
        assert_eq!(stretch.filter.is_none(), stretch.change == Change::Kept);
        assert!(stretch.filter.is_none_or(|filter| filter < report.filters.len()));
        if stretch.change == Change::Kept {
            let found = rest.windows(bytes.len()).position(|window| window == bytes);
            rest = &rest[found.unwrap_or_else(|| panic!("{:?} is lost", stretch.range)) + bytes.len()..];
        }
    }
    assert_eq!(at, text.len());
    assert_eq!(report.slice(0, &text[1..], 0..1), Err(SliceError::OtherOriginal));
    assert_eq!(report.slice(0, text, 0..text.len() + 1), Err(SliceError::OutOfRange));
}

/// Returns a result without its banner. A text that only the terminal stage has changed may have no banner.
pub fn body(result: &[u8]) -> &[u8] {
    if !result.starts_with(b"[Output compressed by ") {
        return result;
    }
    &result[result.iter().position(|&byte| byte == b'\n').unwrap() + 1..]
}

pub fn rows(text: &[u8]) -> Vec<&[u8]> {
    text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n').collect()
}
