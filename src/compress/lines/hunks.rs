//! Finds the lines that are text of a diff's hunks, by the counts in the headers of the hunks. Such text is not a message of the
//! tool: an error in it is not an error of the run, and a diff is useless if a line of it is left out.

use memchr::memmem;

use super::class::Class;

/// The maximum number of `@` signs at the beginning of a header, which is the limit for the sides of a merge. Each blank line of
/// a hunk is examined once for each side.
const MOST_MARKS: usize = 100;
/// The text that every hunk's header contains.
const SIGN: &[u8] = b"@@ -";

pub fn may_have_hunks(bytes: &[u8]) -> bool {
    memmem::find(bytes, SIGN).is_some()
}

/// Marks every line that belongs to a hunk, its header included.
pub fn mark_hunks(bytes: &[u8], ends: &[usize], classes: &mut [Class]) {
    let finder = memmem::Finder::new(SIGN);
    let mut at = 0;
    let mut line = 0;
    while let Some(found) = finder.find(&bytes[at..]) {
        line += ends[line..].partition_point(|&end| end <= at + found);
        let start = if line == 0 { 0 } else { ends[line - 1] };
        let Some(mut hunk) = Hunk::read(&bytes[start..ends[line]]) else {
            at = ends[line];
            continue;
        };
        classes[line].add(Class::HUNK);
        line += 1;
        while line < ends.len() && hunk.takes(&bytes[ends[line - 1]..ends[line]]) {
            classes[line].add(Class::HUNK);
            line += 1;
        }
        if line >= ends.len() {
            return;
        }
        at = ends[line - 1];
    }
}

/// Returns a header for the rest of a hunk after these lines, the first of which is the hunk's own header.
pub fn rest_of_hunk<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
    let mut hunk = Hunk::read(lines.next()?)?;
    lines.all(|line| hunk.takes(line)).then(|| {
        let marks = "@".repeat(hunk.old.len() + 1);
        let old: String = hunk.old.iter().map(|count| format!(" -1,{count}")).collect();
        format!("{marks}{old} +1,{} {marks}\n", hunk.new).into_bytes()
    })
}

/// The number of lines of each side that a hunk still has. A combined diff has several old sides.
struct Hunk {
    old: Vec<usize>,
    new: usize,
}

impl Hunk {
    /// Reads `@@ -1,2 +1,3 @@`, or `@@@ -1,2 -1,2 +1,3 @@@`.
    fn read(line: &[u8]) -> Option<Hunk> {
        let marks = line.iter().take_while(|&&byte| byte == b'@').count();
        if !(2..=MOST_MARKS).contains(&marks) {
            return None;
        }
        let line = std::str::from_utf8(&line[marks..]).ok().or_else(|| {
            // The text after the header may be anything.
            let end = memmem::find(&line[marks..], b" @@")?;
            std::str::from_utf8(&line[marks..marks + end + 3]).ok()
        })?;
        let mut words = line.strip_prefix(' ')?.split(' ');
        let count = |word: &str, sign: char| -> Option<usize> {
            let mut numbers = word.strip_prefix(sign)?.split(',');
            numbers.next()?.parse::<usize>().ok()?;
            numbers.next().map_or(Some(1), |count| count.parse().ok())
        };
        let old = (1..marks).map(|_| count(words.next()?, '-')).collect::<Option<Vec<_>>>()?;
        let new = count(words.next()?, '+')?;
        (words.next()?.trim_end().bytes().take_while(|&byte| byte == b'@').count() == marks)
            .then_some(Hunk { old, new })
    }

    /// Counts the next line, and returns whether it belongs to the hunk.
    fn takes(&mut self, line: &[u8]) -> bool {
        if line.first() == Some(&b'\\') {
            return true;
        }
        if self.new == 0 && self.old.iter().all(|&count| count == 0) {
            return false;
        }
        // Some tools strip the space of an empty line.
        let empty = [b' '].repeat(self.old.len());
        let signs = if line.trim_ascii().is_empty() && line.len() <= 2 {
            &empty[..]
        } else {
            match line.get(..self.old.len()) {
                Some(signs) if signs.iter().all(|sign| b" +-".contains(sign)) => signs,
                _ => return false,
            }
        };
        let removed = signs.contains(&b'-');
        let side = if removed { b'-' } else { b' ' };
        for (count, _) in self.old.iter_mut().zip(signs).filter(|(_, sign)| **sign == side) {
            *count = count.saturating_sub(1);
        }
        if !removed {
            self.new = self.new.saturating_sub(1);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one character for each line: `h` for a line of a hunk.
    fn hunks(text: &str) -> String {
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).collect();
        let mut classes = vec![Class::default(); ends.len()];
        mark_hunks(text.as_bytes(), &ends, &mut classes);
        classes.iter().map(|class| if class.has(Class::HUNK) { 'h' } else { '.' }).collect()
    }

    #[test]
    fn counts_say_where_a_hunk_ends() {
        assert_eq!(hunks("--- a\n+++ b\n@@ -1,2 +1,2 @@ fn\n-- x\n+y\n z\n--- c\n"), "..hhhh.");
        assert_eq!(
            hunks("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n a\n"),
            "hhhhh."
        );
        assert_eq!(hunks("@@@ -1,2 -1,2 +1,2 @@@\n  a\n- b\n -c\n++d\n e\n"), "hhhhh.");
        assert_eq!(hunks(" a.rs | 2 +-\n 1 file changed\n@@ nothing\n"), "...");
        assert_eq!(hunks("@@ -1,9 +1,9 @@\n a\nend of the diff\n"), "hh.");
    }
}
