//! The banner: the first line of a shortened text. It shows a reader that the text is not the tool's own output. It
//! also shows the compressor that the text was processed before, so that no text is shortened twice.

/// The banner's last sentence if a host does not set one.
pub const SWITCH_OFF: &str = "Compression can be switched off for a tool by the host.";

const START: &str = "[Output compressed by ";

/// Returns the line that a changed text begins with, without a line end. Lengths are UTF-16 code units.
///
/// ```
/// let banner = aside::compress::format_banner(&["terminal", "repeats"], 4000, 1200);
/// assert!(banner.starts_with("[Output compressed by terminal, repeats (4000 → 1200 chars). "));
/// ```
#[must_use]
pub fn format_banner(filter_ids: &[&str], before: usize, after: usize) -> String {
    banner(filter_ids, before, after, SWITCH_OFF)
}

/// Returns a banner with this last sentence. Ids may be a host's, so their control characters become spaces: the banner
/// must be one line.
pub fn banner(filter_ids: &[&str], before: usize, after: usize, switch_off: &str) -> String {
    let ids = filter_ids.join(", ").replace(char::is_control, " ");
    format!("{START}{ids} ({before} → {after} chars). {switch_off}]")
}

/// Returns whether a text begins with a banner, and so was compressed before.
pub fn has_banner(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(START.as_bytes()) else { return false };
    let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let Some((head, _)) = line.split_once(" chars). ") else { return false };
    let Some((ids, counts)) = head.rsplit_once(" (") else { return false };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    !ids.is_empty()
        && line.ends_with(']')
        && counts.split_once(" → ").is_some_and(|(before, after)| digits(before) && digits(after))
}
