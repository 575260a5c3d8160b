//! Quotes texts for a dialect file that the library writes itself.

use crate::json;

/// Returns a text as TOML's basic string, which has JSON's escapes.
pub fn quoted(text: &str) -> String {
    let mut inside = Vec::new();
    // Only memory can fail.
    let _ = json::escape(text.as_bytes(), &mut inside);
    format!("\"{}\"", String::from_utf8_lossy(&inside).replace('\u{7f}', "\\u007f"))
}
