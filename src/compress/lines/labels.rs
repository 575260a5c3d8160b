//! Labels: names that a program puts before each line of the output of other programs that run at the same time:
//! `packages/ui test: `, `web  | `. There are too many possible labels for a list, so a name counts as a label if most lines around it
//! share the name. A line without its label is the tool's own output.

use rustc_hash::FxHashMap;

use super::failures::Failures;

/// The longest label.
const LONGEST: usize = 64;
/// The number of stretches of a text that are examined, and of the lines of each.
const STRETCHES: usize = 16;
const LINES: usize = 16;
/// The least number of these lines that must have the same label.
const LEAST: usize = 4;

/// The labels of a text.
#[derive(Default)]
pub struct Labels(Vec<Box<[u8]>>);

impl Labels {
    /// Finds the labels of a text with this number of lines, in stretches at equal distances. The lines must not begin with times.
    pub fn of<'a>(count: usize, line: impl Fn(usize) -> &'a [u8], failures: &Failures) -> Labels {
        let mut counts: FxHashMap<&[u8], usize> = FxHashMap::default();
        let stretches = STRETCHES.min(count.div_ceil(LINES));
        for stretch in 0..stretches {
            let first = count.saturating_sub(LINES) * stretch / stretches.saturating_sub(1).max(1);
            let lines = (first..count).take(LINES);
            let labels: Vec<&[u8]> = lines.filter_map(|at| label(line(at))).collect();
            let is_shared = |label: &&[u8]| labels.iter().filter(|other| other == &label).count() > 1;
            if labels.iter().filter(|label| is_shared(label)).count() * 2 > LINES.min(count) {
                labels.iter().for_each(|label| *counts.entry(label).or_default() += 1);
            }
        }
        // A level or a place is not a name.
        let is_name = |label: &[u8]| !failures.is_weak(label) && failures.label(label).is_empty();
        let shared = counts.into_iter().filter(|&(label, count)| count >= LEAST && is_name(label));
        Labels(shared.map(|(label, _)| label.into()).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the line without its label.
    pub fn without<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let label = self.0.iter().find(|label| line.starts_with(label));
        &line[label.map_or(0, |label| label.len())..]
    }
}

/// Returns a line's possible label: up to the first `: ` or `| `.
fn label(line: &[u8]) -> Option<&[u8]> {
    let start = &line[..line.len().min(LONGEST)];
    let end = memchr::memchr2_iter(b':', b'|', start).find(|&at| at > 0 && start.get(at + 1) == Some(&b' '))?;
    Some(&line[..end + 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::lines::failures;

    /// Returns the text's lines without their labels.
    fn said(text: &str) -> Vec<String> {
        let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
        let labels = Labels::of(lines.len(), |line| lines[line], failures::built_in());
        lines.iter().map(|line| String::from_utf8_lossy(labels.without(line)).into_owned()).collect()
    }

    #[test]
    fn labels_are_what_most_lines_share() {
        let lines = |labels: &[&str], count: usize| -> String {
            (0..count).map(|line| format!("{}line {line}\n", labels[line % labels.len()])).collect()
        };
        for labels in [&["packages/ui test: ", "apps/web test: "][..], &["@shop/ui:test: "], &["web  | ", "db   | "]] {
            let expected: Vec<String> = (0..40).map(|line| format!("line {line}")).collect();
            assert_eq!(said(&lines(labels, 40)), expected);
        }
        for label in ["error: ", "warning: ", "src/cart.c:3:5: ", "line ", "npm error: "] {
            let text = lines(&[label], 40);
            assert_eq!(said(&text), text.lines().collect::<Vec<_>>(), "{label}");
        }
        // Labels are found in a part of a longer text, but not if most lines have no label.
        let plain: String = (0..400).map(|line| format!("plain {line}\n")).collect();
        let text = format!("{plain}{}{plain}", lines(&["web: "], 100));
        assert_eq!(said(&text)[400..500], (0..100).map(|line| format!("line {line}")).collect::<Vec<_>>());
        let text = lines(&["web: ", "", ""], 100);
        assert_eq!(said(&text), text.lines().collect::<Vec<_>>());
    }
}
