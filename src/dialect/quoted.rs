//! Quotes texts for a dialect file that the library writes itself.

use crate::json;

/// Returns a text as a basic string of TOML, which has JSON's escapes.
pub fn quoted(text: &str) -> String {
    let mut inside = Vec::new();
    // This fails only if memory runs out.
    let _ = json::escape(text.as_bytes(), &mut inside);
    format!("\"{}\"", String::from_utf8_lossy(&inside).replace('\u{7f}', "\\u007f"))
}
