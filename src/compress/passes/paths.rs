//! In the output of grep and find, writes the common beginning of several lines only once: the prefix on a separate line, and the
//! rest of each line indented by two spaces. The folded text is used only if unfolding it returns the same bytes.

use super::pass::{Pass, Promise, Stage};
use crate::compress::{
    invocation::input::Input,
    lines::layout::Text,
    text::edit::{Edit, EditKind},
};

const INDENT: &[u8] = b"  ";

/// A pass that folds the common beginnings of lists of paths.
pub struct Paths;

/// Programs that print lists of paths.
const LISTERS: [&str; 10] = ["grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "fdfind", "locate"];

impl Pass for Paths {
    fn id(&self) -> &str {
        "paths"
    }

    fn promise(&self) -> Promise {
        Promise::Refold
    }

    fn stage(&self) -> Stage {
        Stage::Fold
    }

    fn matches(&self, _: &str, input: &Input) -> bool {
        input.printing_command().is_some_and(|run| {
            LISTERS.contains(&run.name())
                || run.name() == "git" && matches!(run.subcommand(), Some("grep" | "ls-files"))
        })
    }

    fn edits(&self, text: Text<'_>, _: &Input, _: usize) -> Vec<Edit> {
        edits(text)
    }

    fn is_undone(&self, old: &[u8], new: &[u8]) -> bool {
        unfold(new) == old
    }
}

/// Returns one edit for each run of lines with a common prefix. A text with indented lines stays unchanged, because unfolding would
/// not return it.
fn edits(text: Text<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    if (0..text.len()).any(|line| text.bytes[text.start(line)..].starts_with(INDENT)) {
        return edits;
    }
    let prefix_of = |line: usize| if line < text.len() { prefix(text.line(line)) } else { b"" };
    let mut line = 0;
    let mut next = prefix_of(0);
    while line < text.len() {
        let prefix = next;
        let mut end = line + 1;
        next = prefix_of(end);
        while !prefix.is_empty() && next == prefix {
            end += 1;
            next = prefix_of(end);
        }
        // Each line but the first saves the prefix, and each line costs its indent.
        if end - line > 1 && (prefix.len() * (end - line - 1)) > (INDENT.len() * (end - line) + 1) {
            let mut folded = prefix.to_vec();
            folded.push(b'\n');
            for member in line..end {
                folded.extend_from_slice(INDENT);
                folded.extend_from_slice(&text.bytes[text.span(member)][prefix.len()..]);
            }
            edits.push(Edit { range: text.spans(line..end), kind: EditKind::Replace(folded) });
        }
        line = end;
    }
    edits
}

/// Returns the file of `file:12:text` with its colon, or the folder of a path with its slash. The result is empty if the line has
/// neither.
fn prefix(line: &[u8]) -> &[u8] {
    if let Some(colon) = memchr::memchr(b':', line) {
        let digits = line[colon + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let follows = line.get(colon + 1 + digits).is_some_and(|byte| b":-".contains(byte));
        if colon > 0 && digits > 0 && follows && !line[..colon].contains(&b' ') {
            return &line[..=colon];
        }
    }
    if memchr::memchr2(b' ', b'\t', line).is_some() {
        return b"";
    }
    memchr::memrchr(b'/', line).filter(|&slash| slash + 1 < line.len()).map_or(b"", |slash| &line[..=slash])
}

/// Unfolds a text. Indented lines belong to the line before them that is not indented.
fn unfold(folded: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(folded.len() * 2);
    let mut lines = folded.split_inclusive(|&byte| byte == b'\n').peekable();
    let mut prefix: &[u8] = b"";
    while let Some(line) = lines.next() {
        match line.strip_prefix(INDENT) {
            Some(member) => {
                text.extend_from_slice(prefix);
                text.extend_from_slice(member);
            }
            None if lines.peek().is_some_and(|next| next.starts_with(INDENT)) => {
                prefix = line.strip_suffix(b"\n").unwrap_or(line);
            }
            None => text.extend_from_slice(line),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::{
        lines::{failures, layout::Layout},
        text::{edited::EditedText, length::Length},
    };

    fn fold(text: &str) -> String {
        let layout = Layout::new(text.as_bytes(), failures::built_in());
        let edits = edits(Text::new(text.as_bytes(), &layout));
        let folded = EditedText::new(text.as_bytes(), Length::of(text.as_bytes()));
        String::from_utf8(folded.with(edits, 0).bytes).unwrap()
    }

    #[test]
    fn prefixes_are_written_once() {
        let find = "src/compress/a.rs\nsrc/compress/b.rs\nsrc/lib.rs\n";
        assert_eq!(fold(find), "src/compress/\n  a.rs\n  b.rs\nsrc/lib.rs\n");
        assert_eq!(unfold(fold(find).as_bytes()), find.as_bytes());
        let grep = "src/main.rs:3:let x = a:b;\nsrc/main.rs:14:  y\nother\n";
        assert_eq!(fold(grep), "src/main.rs:\n  3:let x = a:b;\n  14:  y\nother\n");
        assert_eq!(unfold(fold(grep).as_bytes()), grep.as_bytes());
    }

    #[test]
    fn what_would_not_come_back_is_seen() {
        assert_eq!(fold("a/long/path/x\na/long/path/y\nplain\n"), "a/long/path/\n  x\n  y\nplain\n");
        let indented = "a/long/path/x\na/long/path/y\nplain\n  indented\n";
        assert_eq!(fold(indented), indented);
        assert_ne!(unfold(indented.as_bytes()), indented.as_bytes());
    }
}
