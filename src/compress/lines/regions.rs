//! Error regions: a failure line, the lines that lead to it, and the lines that continue it. A message without its context is of
//! little use, so filters keep or drop a region's lines together where they can.

use super::{
    class::Class,
    failures::{Failures, LineMatch},
};
use crate::compress::text::bytes::is_blank;

/// The largest number of lines for which a region continues after its last failure line.
const LONGEST_TAIL: usize = 200;
/// The maximum number of lines before a failure line that belong to its region.
const MOST_LEADS: usize = 6;
/// The maximum number of lines of a failure's message, if the line after the message is recognised.
const LONGEST_MESSAGE: usize = 8;
/// The maximum number of lines of help text about the usage of a program.
const LONGEST_HELP: usize = 400;

/// Adds flags to the classes of the lines. `ends` has the ends of the lines, and `found` the results of the patterns for each.
/// Hunks are marked already.
pub fn classify(failures: &Failures, bytes: &[u8], ends: &[usize], found: &mut [LineMatch], classes: &mut [Class]) {
    Reader { failures, bytes, ends, found, classes }.read();
}

/// A text whose lines are being classified.
struct Reader<'a> {
    failures: &'a Failures,
    bytes: &'a [u8],
    ends: &'a [usize],
    found: &'a mut [LineMatch],
    classes: &'a mut [Class],
}

impl<'a> Reader<'a> {
    /// Classifies all lines. A region never grows backwards over an earlier region, so one pass is enough.
    fn read(&mut self) {
        let mut line = 0;
        // The first line after the last region.
        let mut free = 0;
        while line < self.ends.len() {
            if self.classes[line].has(Class::HUNK) {
                line += 1;
                continue;
            }
            let found = self.look(line);
            self.classes[line].add(found.class);
            if found.begin.is_none() && !found.class.has(Class::FAILURE) {
                line += 1;
                continue;
            }
            let first = self.first_lead(line, free);
            for class in &mut self.classes[first..=line] {
                class.add(Class::REGION);
            }
            self.classes[first].add(Class::START);
            line = self.grow(line, found);
            free = line;
        }
    }

    /// Returns the first line of the region of a failure line: the first of the lines before it, from `free` on, that lead to the
    /// failure.
    fn first_lead(&self, line: usize, free: usize) -> usize {
        let mut first = line;
        while first > free && line - first < MOST_LEADS && self.failures.leads(self.line(first - 1)) {
            first -= 1;
        }
        first
    }

    /// Marks the lines that belong to a region after its failure line. Returns the first line after the region.
    fn grow(&mut self, line: usize, found: LineMatch) -> usize {
        let mut section = found.begin;
        let mut message = found.message;
        let mut message_end = self.message_end(line, found);
        let mut usage = Usage::default();
        let mut since = 0;
        let mut next = line + 1;
        usage.enter(self, line);
        while next < self.ends.len() && !self.classes[next].has(Class::HUNK) {
            let text = self.line(next);
            if section.is_none() && usage.takes(self, next) {
                self.classes[next].add(Class::REGION);
                self.classes[next].add(Class::HELP);
                next += 1;
                continue;
            }
            let mut found = self.look(next);
            if usage.is_indented(text) {
                // The line is an indented message after a label: its words do not count as a failure.
                found = LineMatch::default();
            }
            let is_failure = found.class.has(Class::FAILURE);
            let mut begins_block = false;
            if let Some(open) = section {
                let (begins, ends) = self.failures.block_and_end(open, text);
                begins_block = begins;
                if ends {
                    section = None;
                    if !is_failure {
                        break;
                    }
                }
            } else if is_failure || found.begin.is_some() {
                since = 0;
                message = found.message;
                message_end = self.message_end(next, found);
            } else {
                since += 1;
                let is_message = message && !is_indented(text) && !is_blank(text);
                message &= !is_message;
                let belongs = next < message_end || is_message || usage.is_indented(text) || self.continues(next);
                if since > LONGEST_TAIL || !belongs || self.failures.is_passed(text) {
                    break;
                }
            }
            let begins = match section {
                Some(_) => begins_block,
                // An unindented failure line begins a new region, because it may be kept without the lines before it.
                None => found.block || found.begin.is_some() || is_failure && !is_indented(text),
            };
            section = section.or(found.begin);
            self.classes[next].add(found.class);
            self.classes[next].add(Class::REGION);
            if begins {
                self.classes[next].add(Class::START);
            }
            next += 1;
        }
        next
    }

    /// Returns the end of the message of a line's failure, if the message has several lines.
    fn message_end(&self, line: usize, found: LineMatch) -> usize {
        let last = (line + 1 + LONGEST_MESSAGE).min(self.ends.len().saturating_sub(1));
        let ends = |&next: &usize| self.failures.ends_message(self.line(next));
        found.message.then(|| (line + 1..=last).find(ends)).flatten().unwrap_or(line)
    }

    /// Returns whether a region continues over this line, or over this blank line to the next one.
    fn continues(&self, line: usize) -> bool {
        let next = || Some(line + 1).filter(|&next| next < self.ends.len()).map(|next| self.line(next));
        let text = self.line(line);
        if is_blank(text) {
            return next().is_some_and(|next| !is_blank(next) && self.failures.continues(next));
        }
        self.failures.continues(text)
            || next().is_some_and(|next| {
                is_indented(next) && (is_call(text) && is_place(next) || is_short_heading(text) || is_first_frame(next))
            })
    }

    /// Returns the class of a line by itself.
    fn look(&mut self, line: usize) -> LineMatch {
        if self.found[line].is_candidate {
            self.found[line] = LineMatch { tool: self.found[line].tool, ..self.failures.match_line(self.line(line)) };
        }
        self.found[line]
    }

    /// Returns a line without its line end, and without a machine's prefix.
    fn line(&self, index: usize) -> &'a [u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        let line = &self.bytes[start..self.ends[index]];
        self.failures.without_prefix(line.strip_suffix(b"\n").unwrap_or(line))
    }
}

fn is_indented(line: &[u8]) -> bool {
    matches!(line.first(), Some(b' ' | b'\t'))
}

/// Returns whether the line ends as a call does: `main.run({0x1, 0x2})`.
fn is_call(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b")") && memchr::memchr(b'(', line).is_some_and(|open| open > 0)
}

/// Returns whether the line begins with a place in a file: `path:12`.
fn is_place(line: &[u8]) -> bool {
    let word = line.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or_default();
    memchr::memchr_iter(b':', word).any(|colon| word.get(colon + 1).is_some_and(u8::is_ascii_digit))
}

/// Returns whether the line is the first of numbered frames, so that the line above is their heading.
fn is_first_frame(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"#0 ")
}

/// Returns whether the line may be a heading of the lines indented under it: `Differing items:`.
fn is_short_heading(line: &[u8]) -> bool {
    const LONGEST: usize = 40;
    line.len() <= LONGEST && line.trim_ascii_end().ends_with(b":")
}

/// Reads the help text about its usage that a program prints after an error: lines with the same label as the lines of the error,
/// or, without a label, a list under a heading.
#[derive(Default)]
struct Usage<'a> {
    label: &'a [u8],
    /// The number of lines of the list so far, if a list is open.
    open: Option<usize>,
}

impl<'a> Usage<'a> {
    /// Looks for a label that this line and the next two lines have.
    fn enter(&mut self, reader: &Reader<'a>, line: usize) {
        let label = reader.failures.label(reader.line(line)).trim_ascii_end();
        let has_label = |line: usize| line < reader.ends.len() && rest(reader.line(line), label).is_some();
        if !label.is_empty() && has_label(line + 1) && has_label(line + 2) {
            self.label = label;
        }
    }

    /// Returns whether the line has the label, and an indented message.
    fn is_indented(&self, line: &[u8]) -> bool {
        !self.label.is_empty() && rest(line, self.label).is_some_and(is_indented)
    }

    /// Returns whether the line is such help text.
    fn takes(&mut self, reader: &Reader<'a>, line: usize) -> bool {
        let text = reader.line(line);
        if rest(text, self.label).is_none() {
            *self = Usage::default();
        }
        if self.label.is_empty() {
            self.enter(reader, line);
        }
        let said = rest(text, self.label).unwrap_or_default();
        let is_labelled = !self.label.is_empty();
        if reader.failures.begins_help(said) {
            self.open = self.open.or(Some(0));
        } else if is_labelled {
            return self.open.is_some() || is_blank(said) || is_option(said);
        } else if let Some(taken) = self.open {
            let follows = (line + 1..reader.ends.len()).map(|next| reader.line(next)).find(|next| !is_blank(next));
            let goes_on = |text: &[u8]| is_indented(text) || reader.failures.begins_help(text);
            let goes_on = if is_blank(said) { follows.is_some_and(goes_on) } else { is_indented(said) };
            self.open = goes_on.then_some(taken + 1).filter(|&taken| taken <= LONGEST_HELP);
        } else if is_blank(said) {
            let next = Some(line + 1).filter(|&next| next < reader.ends.len());
            return next.is_some_and(|next| reader.failures.begins_help(reader.line(next)));
        }
        self.open.is_some()
    }
}

/// Returns the message of a line after its label. The line may have only the label.
fn rest<'a>(line: &'a [u8], label: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(label)?;
    match rest.first() {
        _ if label.is_empty() => Some(rest),
        Some(b' ') => Some(&rest[1..]),
        Some(b'\r') | None => Some(rest),
        Some(_) => None,
    }
}

/// Returns whether the text begins with an option: `-x`, `--long`, `[--long]`.
fn is_option(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"[").unwrap_or(text);
    let name = text.strip_prefix(b"--").or_else(|| text.strip_prefix(b"-"));
    name.and_then(<[u8]>::first).is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::lines::{failures::built_in, hunks};

    /// Returns a letter for each line: `S` for the first line of a region, `H` for help text in a region, `R` for any other line
    /// of a region, `.` for a line outside regions.
    fn regions(text: &str) -> String {
        let bytes = text.as_bytes();
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1).collect();
        assert_eq!(ends.last(), Some(&bytes.len()));
        let (mut found, mut classes) = (vec![LineMatch::default(); ends.len()], vec![Class::default(); ends.len()]);
        built_in().mark_candidates(bytes, 0..bytes.len(), &ends, &mut found);
        hunks::mark_hunks(bytes, &ends, &mut classes);
        classify(built_in(), bytes, &ends, &mut found, &mut classes);
        let letter = |class: &Class| match () {
            _ if class.has(Class::HELP) => 'H',
            _ if class.has(Class::START) => 'S',
            _ if class.has(Class::REGION) => 'R',
            _ => '.',
        };
        classes.iter().map(letter).collect()
    }

    #[test]
    fn a_region_goes_on_over_its_notes() {
        let text = "   Compiling a v0.1.0\nerror[E0308]: mismatched types\n --> src/a.rs:1:5\n  |\n1 | x\n  | ^ no\n\nwarning: y\ndone\n";
        assert_eq!(regions(text), ".SRRRR...");
        assert_eq!(regions("In file included from a.c:1:\na.h:3:1: error: no\n    3 | x\nnext\n"), "SRR.");
    }

    #[test]
    fn what_is_above_a_first_frame_is_of_its_region() {
        let text = "==1==ERROR: Sanitizer: use after free\nREAD of size 4 at 0x60\n    #0 0x55 in f a.c:3\n    #1 0x56 in g\nok\n";
        assert_eq!(regions(text), "SRRR.");
        assert_eq!(regions("error: x\nREAD of size 4\n    #1 0x55 in f a.c:3\n"), "S..");
    }

    #[test]
    fn a_section_is_all_region_in_blocks() {
        let text = "..F.\n=== FAILURES ===\n___ test_a ___\n\n    def test_a():\nplain\n\n___ test_b ___\nE   assert 0\n=== short test summary info ===\nFAILED a.py::a - x\n=== 2 failed in 0.1s ===\n";
        assert_eq!(regions(text), "SSSRRRRSR.SS");
    }

    #[test]
    fn a_message_belongs_to_its_failure_whatever_it_says() {
        let text = "thread 'a' panicked at src/a.rs:3:5:\nthe disk is full\nnote: run with x\ndone\ndone\n";
        assert_eq!(regions(text), "SRR..");
        let text = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\nshop.JobStopped: 8812\nok\nok\n";
        assert_eq!(regions(text), "SRRR..");
        let text = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nValueError: x\nok\n";
        assert_eq!(regions(text), "SRS.");
    }

    #[test]
    fn stacks_and_boxes_are_of_their_region() {
        let text = "panic: boom\n\ngoroutine 7 [running]:\nmain.(*Cart).Remove(0xc0001a4000)\n\t/srv/cart.go:118 +0x9a\n\ngoroutine 8 [select]:\nmain.run(...)\nok\n";
        assert_eq!(regions(text), "SRRRRRRR.");
        let text = "╷\n│ Error: Invalid argument\n│ \n│   on main.tf line 12:\n╵\n╷\n│ Warning: x\n";
        assert_eq!(regions(text), ".SRRR..");
    }

    #[test]
    fn what_stands_around_an_error_is_of_its_region() {
        let text = "ok\nFile \"bin/cart.ml\", line 3, characters 8-12:\n3 | let x = itms\n            ^^^^\nError: Unbound value itms\nok\n";
        assert_eq!(regions(text), ".SRRR.");
        let text = "ok\nERROR:  relation \"carts\" does not exist\nLINE 1: select * from carts;\n                      ^\nHINT:  It is somewhere else.\nok\n";
        assert_eq!(regions(text), ".SRRR.");
        let text =
            "ok\nERROR at line 1:\nORA-06550: line 1, column 7:\nPLS-00201: identifier 'CARTS' must be declared\nok\n";
        assert_eq!(regions(text), ".SRR.");
        let text = "ok\nnginx: [emerg] unknown directive \"cart\" in /etc/nginx/nginx.conf:3\nnginx: configuration file /etc/nginx/nginx.conf test failed\nok\n";
        assert_eq!(regions(text), ".SR.");
        let text =
            "ok\nAH00526: Syntax error on line 3 of /etc/apache2/apache2.conf:\nInvalid command 'Cart'\nok\nok\n";
        assert_eq!(regions(text), ".SR..");
        let text = "ok\n==7== Invalid read of size 8\n==7==    at 0x10: f (a.c:3)\nok\n==7== ERROR SUMMARY: 0 errors from 0 contexts\n";
        assert_eq!(regions(text), ".SR..");
        let text =
            "ok\ncart: it is empty\nCallStack (from HasCallStack):\n  error, called at Cart.hs:3:5 in main:Cart\nok\n";
        assert_eq!(regions(text), "..SR.");
    }

    #[test]
    fn what_a_test_says_of_its_failure_is_of_its_region() {
        let text =
            "ok\nFailure:\nCartTest#test_removes [test/cart_test.rb:9]:\nthe cart is full\n\nbin/rails test x\nok\n";
        assert_eq!(regions(text), ".SSR...");
        let text = "ok\nFailed example:\n    add(1, 2)\nExpected:\n    4\nGot:\n    3\nok\n";
        assert_eq!(regions(text), ".SRRRRR.");
        let text = "ok\njava.lang.AssertionError: \nExpecting actual:\n  3\nto be equal to:\n  4\nok\n";
        assert_eq!(regions(text), ".SRRRR.");
        let text = "ok\nINTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \"x.py\", line 3, in main\nINTERNALERROR> KeyError: 'x'\nok\n";
        assert_eq!(regions(text), ".SRS.");
    }

    #[test]
    fn times_before_lines_hide_nothing() {
        let stamped = |line: &str| format!("2024-11-02T10:00:00.1234567Z {line}\n");
        let text: String =
            ["ok", "error[E0308]: mismatched types", " --> a.rs:1:5", "", "note: x", "ok"].map(stamped).concat();
        assert_eq!(regions(&text), ".SRRR.");
        for prefix in [
            "web-1  | ",
            "[pod/web-0/shop] ",
            "2024-11-02T10:00:00.123456789Z stderr F ",
            "web-1  | 2024-11-02T10:00:00Z ",
        ] {
            let lines =
                ["ok", "Traceback (most recent call last):", "  File \"a.py\", line 3, in f", "shop.Stopped: 3", "ok"];
            let text: String = lines.map(|line| format!("{prefix}{line}\n")).concat();
            assert_eq!(regions(&text), ".SRR.", "{prefix}");
        }
        let race = "ok\nWARNING: DATA RACE\nRead at 0x00c0 by goroutine 7:\n  main.f()\n\nPrevious write at 0x00c0 by main goroutine:\n  main.g()\n==================\nok\n";
        assert_eq!(regions(race), ".SRRRRR..");
    }

    #[test]
    fn a_passed_line_ends_a_region_outside_sections() {
        let text = "FAIL a.test.js\n  cart\n    ✓ adds (1 ms)\n    ✓ sums (1 ms)\n\n  ● cart › removes\n\n    no\nPASS b.test.js\n  x\n";
        assert_eq!(regions(text), "SR...SRR..");
        let text = "error: no\n  why\nremoves ... ok (3ms)\n  why\n";
        assert_eq!(regions(text), "SR..");
        let text = "failures:\n\n---- b stdout ----\nthread 'b' panicked at src/lib.rs:3:5:\ntest c ... ok\nfailures:\n    b\n\ntest result: FAILED.\n";
        assert_eq!(regions(text), "SRSRRRRRS");
    }

    #[test]
    fn how_to_call_a_program_is_help() {
        let text = "npm error code EUSAGE\nnpm error\nnpm error It cannot be\nnpm error   so it is\nnpm error Usage:\nnpm error npm ci\nnpm error\nnpm error   --error  x\ndone\n";
        assert_eq!(regions(text), "SHSRHHHH.");
        let text = "npm error a\nnpm error b\nnpm error -x, --long  error\nnpm error [--other]\nnpm error - a dash\n";
        assert_eq!(regions(text), "SSHHS");
        // Two lines with the same label may have it by chance.
        assert_eq!(regions("error: a\nerror: -x\nok\n"), "SS.");
        let text = "unknown flag: --foo\n\nUsage:  docker run IMAGE\n\nOptions:\n      --error: list   of errors\n\nRun it\nok\n";
        assert_eq!(regions(text), "SHHHHH...");
        assert_eq!(
            regions("error: unknown switch `x'\nusage: git status [<options>]\n\n    -v  error: x\n\nok\n"),
            "SHHH.."
        );
    }

    #[test]
    fn traces_go_on_over_frames_of_any_name() {
        let text = "panic: no\n\ngoroutine 1 [running]:\npanic({0xdf8580, 0x1835d80})\n\t/go/panic.go:838 +0x207\ncart.Total(0x1)\n\t/w/total.go:53\nok (it is)\nok\n";
        assert_eq!(regions(text), "SRRRRRR..");
        let text = "  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 3, in f\n  | ExceptionGroup: many\nok\n";
        assert_eq!(regions(text), "SRR.");
        let text =
            "thread 'main' panicked at a.rs:3:5:\nfirst\nsecond\n\nthird\nnote: run with `RUST_BACKTRACE=1`\nok\n";
        assert_eq!(regions(text), "SRRRRR.");
        // A message of nine lines is too long to be wholly in the region.
        let text = format!("thread 'main' panicked at a.rs:3:5:\n{}note: run with `x`\nok\n", "line\n".repeat(9));
        assert_eq!(regions(&text), "SR..........");
        let text = "Segmentation fault\n0   libcart.dylib   0x0000000104a3c1d4 cart_remove + 44\nRegisters:\n  rax 0\nplain\nRegisters:\n";
        assert_eq!(regions(text), "SRRR..");
    }

    #[test]
    fn hunk_text_is_no_failure() {
        let text = "@@ -1,2 +1,2 @@\n-error: a\n+error: b\n x\nerror: real\n";
        assert_eq!(regions(text), "....S");
    }
}
