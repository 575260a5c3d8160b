//! Does a model's name fit a pattern of a dialect file?

use core::cmp::Reverse;

/// How well: what begins further left names the family rather than what it was trained on; then the more said the
/// better.
pub type Fit = (Reverse<usize>, usize);

/// Longer names are none.
const LONGEST: usize = 1024;

/// A pattern fits whole words of the name's last part, in any case; `*` stands for any bytes but a slash. One that has
/// a slash fits the last two parts. A `_` in the name fits a `-` or a `.` too.
pub fn fit(pattern: &str, model: &str) -> Option<Fit> {
    if model.len() > LONGEST {
        return None;
    }
    let model = model.trim_matches(['/', '\\']).as_bytes();
    let parts = model.rsplit(|byte| is_slash(*byte)).take(1 + pattern.matches('/').count());
    let part = &model[model.len() + 1 - parts.map(|part| part.len() + 1).sum::<usize>().min(model.len() + 1)..];
    let is_edge = |at: usize| at == 0 || !part[at - 1].is_ascii_alphanumeric();
    let start = (0..part.len()).find(|&at| is_edge(at) && fits_here(pattern.as_bytes(), &part[at..]))?;
    Some((Reverse(start), pattern.bytes().filter(|byte| *byte != b'*').count()))
}

fn fits_here(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.first()) {
        (None, next) => next.is_none_or(|next| !next.is_ascii_alphanumeric()),
        (Some((b'*', rest)), _) => {
            let reach = name.iter().position(|byte| is_slash(*byte)).unwrap_or(name.len());
            (0..=reach).any(|skip| fits_here(rest, &name[skip..]))
        }
        (Some((b'/', rest)), Some(next)) => is_slash(*next) && fits_here(rest, &name[1..]),
        (Some((byte, rest)), Some(next)) => {
            let is_same = byte.eq_ignore_ascii_case(next) || *next == b'_' && matches!(byte, b'-' | b'.');
            is_same && fits_here(rest, &name[1..])
        }
        (Some(_), None) => false,
    }
}

fn is_slash(byte: u8) -> bool {
    byte == b'/' || byte == b'\\'
}
