//! Finds the heading of an indented line, which names the file of the problems below it. A reader cannot find a problem without
//! the name of the file, so the heading and the problem are kept or left out together.

use super::layout::Text;
use crate::compress::text::{bytes::is_blank, marker::Marker};

/// The maximum number of lines from a heading to a line under it.
pub const FARTHEST: usize = 400;
/// The maximum number of lines between a table's ruled line and the line above it that names the table's file.
const TABLE_HEAD: usize = 4;

/// Returns for each line the nearest line above it that is less indented, if that is near enough and no blank line is between them.
pub fn parents(text: Text<'_>) -> Vec<Option<u32>> {
    let mut parents = Vec::with_capacity(text.len());
    // The lines that may be headings of the next line, with their indents.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for at in 0..text.len() {
        let line = text.line(at);
        if is_blank(line) {
            open.clear();
            parents.push(None);
            continue;
        }
        // A marker is not indented, but the lines after it still belong to the heading above it.
        if Marker::parse(line).is_some() {
            parents.push(None);
            continue;
        }
        let indent = indent(line);
        while open.pop_if(|last| last.1 >= indent).is_some() {}
        let near = open.last().filter(|&&(parent, _)| at - parent <= FARTHEST);
        parents.push(near.and_then(|&(parent, _)| u32::try_from(parent).ok()));
        open.push((at, indent));
    }
    parents
}

/// Returns the heading of the lines under `parent`: the parent itself if it names a file, or, if it is the ruled line of a table,
/// the line above that names a file.
pub fn heading(text: Text<'_>, parent: u32) -> Option<u32> {
    let parent = parent as usize;
    if !is_rule(text.line(parent)) {
        return names_file(text.line(parent)).then_some(parent as u32);
    }
    let above = (parent.saturating_sub(TABLE_HEAD)..parent).rev();
    above.take_while(|&line| !text.is_blank(line)).find(|&line| names_file(text.line(line))).map(|line| line as u32)
}

/// Returns the number of blanks that a line begins with.
pub fn indent(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Returns whether the line is ruled with drawn characters, like the line between the head of a table and its rows.
fn is_rule(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.len() >= 3 && line.iter().all(|byte| b"-=+| ".contains(byte) || !byte.is_ascii())
}

/// Returns whether the line is the path of a file, or one word before it and text in brackets after it: `src/a.js`,
/// `FAIL src/a.test.js`, `❯ src/a.test.ts (3 tests)`.
pub fn names_file(line: &[u8]) -> bool {
    const LONGEST: usize = 300;
    if line.len() > LONGEST {
        return false;
    }
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return false };
    let mut next = words.next();
    if !is_path(first) {
        let is_label = first.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b':' || !byte.is_ascii());
        if !is_label || !next.is_some_and(is_path) {
            return false;
        }
        next = words.next();
    }
    next.is_none_or(|word| matches!(word.first(), Some(b'(' | b'[')))
}

/// Returns whether the word is a path with a slash, or a name with an ending, and maybe a colon after it.
fn is_path(word: &[u8]) -> bool {
    let word = word.strip_suffix(b":").unwrap_or(word);
    let is_plain =
        word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"/\\._-+@~[]()".contains(byte) || *byte >= 0x80);
    let after_drive = if word.get(1) == Some(&b':') { &word[2..] } else { word };
    let is_plain = is_plain || after_drive.len() < word.len() && !after_drive.contains(&b':');
    let ending = word.rsplit(|&byte| byte == b'.').next().filter(|ending| ending.len() < word.len());
    let has_ending = ending.is_some_and(|ending| {
        (1..=10).contains(&ending.len())
            && ending.iter().all(u8::is_ascii_alphanumeric)
            && ending[0].is_ascii_alphabetic()
    });
    let has_slash = word.len() > 1 && word.iter().any(|byte| b"/\\".contains(byte));
    is_plain && word.iter().any(u8::is_ascii_alphabetic) && (has_slash || has_ending)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::lines::{failures, layout::Layout};

    #[test]
    fn headings_name_files() {
        for line in [
            "/w/src/a.js",
            "src/a.js:",
            "a.py",
            "C:\\shop\\a.cs",
            "FAIL src/a.test.js",
            " ❯ src/a.test.ts (3 tests)",
            "  Line   src/a.php",
            "FILE: /w/a.php",
            "pages/[id].tsx",
        ] {
            assert!(names_file(line.as_bytes()), "{line}");
        }
        for line in ["cart", "1.5", "at src/a.js it is", "src/a.js:3:5", "two words", "PASS", "Done.", "3 files/s", ""]
        {
            assert!(!names_file(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn the_next_line_above_that_is_less_indented_counts() {
        let heads = |text: &str| -> Vec<Option<u32>> {
            let layout = Layout::new(text.as_bytes(), failures::built_in());
            let text = Text::new(text.as_bytes(), &layout);
            parents(text).into_iter().map(|parent| heading(text, parent?)).collect()
        };
        assert_eq!(heads("a.js\n  1:1 x\n    more\n  2:1 y\n"), [None, Some(0), None, Some(0)]);
        assert_eq!(heads("a.js\n[… 9 lines, 900 bytes left out]\n  1:1 x\n"), [None, None, Some(0)]);
        assert_eq!(heads("a.js\n\n  1:1 x\ncart\n  2:1 y\n"), [None; 5]);
        assert_eq!(heads(" ---- ---\n  Line   a.php\n ---- ---\n  3  no\n"), [None, None, None, Some(1)]);
        let far = format!("a.js\n{}", "  x\n".repeat(401));
        let heads = heads(&far);
        assert_eq!((heads[400], heads[401]), (Some(0), None));
    }
}
