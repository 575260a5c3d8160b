//! Frames of progress, which programs write into one line, each over the previous frame. A line of frames may be longer than
//! memory allows, but only those overwritten frames that report a failure are needed.

use std::collections::HashSet;

use crate::compress::{
    lines::{class::Class, failures},
    text::{bytes::letters, controls::plain_lines},
};

/// Shortens a line that has not ended to the frames that report a failure, each as a separate line, and the last frame. Returns
/// `None` if nothing was overwritten.
pub fn shown(line: &[u8]) -> Option<Vec<u8>> {
    // A carriage return at the end overwrites nothing if a line feed follows it.
    let body = &line[..line.len() - line.iter().rev().take_while(|&&byte| byte == b'\r').count()];
    let last = memchr::memrchr(b'\r', body)? + 1;
    let failures = failures::built_in();
    // Frames with the same letters are one message, even if their numbers differ.
    let mut said = HashSet::new();
    let mut shown = Vec::new();
    for frame in line[..last].split(|&byte| byte == b'\r').filter(|frame| failures.may_say_failure(frame)) {
        let plain = plain_lines(frame);
        let text = plain.trim_ascii_end();
        let class = failures.match_line(failures.without_prefix(text)).class;
        let is_failure = class.has(Class::FAILURE)
            || class.has(Class::FAILED_VERDICT)
            || failures.failing_words(text, 0..text.len()).next().is_some();
        if is_failure && said.insert(letters(text)) {
            shown.extend_from_slice(text);
            shown.push(b'\n');
        }
    }
    shown.extend_from_slice(&line[last..]);
    Some(shown)
}
