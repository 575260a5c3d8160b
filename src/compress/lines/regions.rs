//! Error regions: a failure line, the lines that lead to it, and the lines that go on after it. A message without what
//! stands around it is of little use, so filters keep or drop a region's lines with this in mind.

use super::{
    class::Class,
    failures::{Failures, LineMatch},
};
use crate::compress::text::bytes::is_blank;

/// The most lines that a region goes on for after its last failure line.
const LONGEST_TAIL: usize = 64;
/// The most lines before a failure line that belong to it.
const MOST_LEADS: usize = 6;

/// Adds to what each line is. `ends` says where the lines end, and `found` what the patterns say of each. Hunks are
/// marked already.
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
    /// Reads all lines. Regions grow forwards only, so one pass is enough.
    fn read(&mut self) {
        let mut line = 0;
        // The first line that no region has taken yet.
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

    /// Returns where the region of a failure line begins. It takes the lines that lead to the failure, back to `free`.
    fn first_lead(&self, line: usize, free: usize) -> usize {
        let mut first = line;
        while first > free && line - first < MOST_LEADS && self.failures.leads(self.line(first - 1)) {
            first -= 1;
        }
        first
    }

    /// Marks what belongs to a region after its failure line. Returns the first line that does not.
    fn grow(&mut self, line: usize, found: LineMatch) -> usize {
        let mut section = found.begin;
        let mut message = found.message;
        let mut since = 0;
        let mut next = line + 1;
        while next < self.ends.len() && !self.classes[next].has(Class::HUNK) {
            let text = self.line(next);
            let found = self.look(next);
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
            } else {
                since += 1;
                let is_message = message && !is_indented(text) && !is_blank(text);
                message &= !is_message;
                if since > LONGEST_TAIL || !(is_message || self.continues(next)) {
                    break;
                }
            }
            let begins = match section {
                Some(_) => begins_block,
                // An unindented failure line is worth keeping by itself.
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

    /// Whether a region goes on over this line, or over this blank line to the next one.
    fn continues(&self, line: usize) -> bool {
        let text = self.line(line);
        if !is_blank(text) {
            return self.failures.continues(text);
        }
        let next = line + 1;
        next < self.ends.len() && !is_blank(self.line(next)) && self.failures.continues(self.line(next))
    }

    /// Returns what a line is by itself.
    fn look(&mut self, line: usize) -> LineMatch {
        if self.found[line].is_candidate {
            self.found[line] = self.failures.match_line(self.line(line));
        }
        self.found[line]
    }

    /// Returns a line without its line end, and without what a machine put before it.
    fn line(&self, index: usize) -> &'a [u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        let line = &self.bytes[start..self.ends[index]];
        self.failures.without_prefix(line.strip_suffix(b"\n").unwrap_or(line))
    }
}

fn is_indented(line: &[u8]) -> bool {
    matches!(line.first(), Some(b' ' | b'\t'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compress::lines::{failures::built_in, hunks};

    /// Returns one letter for each line: `S` the first of a region, `R` another line of one, `.` no line of one.
    fn regions(text: &str) -> String {
        let bytes = text.as_bytes();
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1).collect();
        assert_eq!(ends.last(), Some(&bytes.len()));
        let (mut found, mut classes) = (vec![LineMatch::default(); ends.len()], vec![Class::default(); ends.len()]);
        built_in().mark_candidates(bytes, 0..bytes.len(), &ends, &mut found);
        hunks::mark_hunks(bytes, &ends, &mut classes);
        classify(built_in(), bytes, &ends, &mut found, &mut classes);
        let letter = |class: &Class| match () {
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
    fn hunk_text_is_no_failure() {
        let text = "@@ -1,2 +1,2 @@\n-error: a\n+error: b\n x\nerror: real\n";
        assert_eq!(regions(text), "....S");
    }
}
