//! Programs that clear the screen and begin again whenever a file changes. Only their last screen is up to date. But if the program
//! was stopped before that screen was complete, perhaps only the screen before it shows a result.

use super::screen::Screen;
use crate::compress::{
    invocation::input::Input,
    lines::{
        class::Class,
        failures,
        layout::{Layout, Text},
    },
    text::bytes::is_blank,
};

/// Texts on the screens of programs that watch files. They are in lower case.
const SAID: [&str; 5] =
    ["watch mode", "watching for", "waiting for changes", "waiting for file changes", "watch usage"];
/// Programs that run another program again and again.
const PROGRAMS: [&str; 4] = ["watch", "watchexec", "nodemon", "entr"];

/// Returns the first page to show, if the pages before it are out of date.
pub fn first_page(screen: &Screen, input: &Input) -> Option<usize> {
    let mut pages = (0..=screen.pages()).rev().map(|page| (page, screen.page(page))).filter(|page| !is_blank(&page.1));
    let ((last, text), (before, old)) = (pages.next()?, pages.next()?);
    let watches = input.command().is_some_and(watches) || says_so(&text) || says_so(&old);
    let page = if said(&text) == Class::default() && said(&old).has(FAILED) { before } else { last };
    // Even without such a text, pages that begin alike are taken for the screens of such a program, if no failure is lost.
    let is_out_of_date =
        || beginning(&text) == beginning(&old) && (0..page).all(|page| !said(&screen.page(page)).has(FAILED));
    (page > 0 && (watches || is_out_of_date())).then_some(page)
}

/// Returns whether a command line runs its command again whenever a file changes.
fn watches(line: &str) -> bool {
    line.split_ascii_whitespace().any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        PROGRAMS.contains(&name)
            || word.strip_prefix("--watch").is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_lowercase()))
            || word.ends_with(":watch")
            || word.starts_with("watch:")
    })
}

fn says_so(text: &[u8]) -> bool {
    let text = text.to_ascii_lowercase();
    SAID.iter().any(|said| memchr::memmem::find(&text, said.as_bytes()).is_some())
}

/// The classes of lines that report a failure.
const FAILED: Class = Class::FAILURE.or(Class::FAILED_VERDICT);

/// Returns the union of the classes of all lines.
fn said(text: &[u8]) -> Class {
    let layout = Layout::new(text, failures::built_in());
    let text = Text::new(text, &layout);
    (0..text.len()).fold(Class::default(), |all, line| all.or(text.class(line)))
}

/// Returns the first line that is not blank, without its digits.
fn beginning(text: &[u8]) -> Option<Vec<u8>> {
    let line = text.split(|&byte| byte == b'\n').find(|line| !is_blank(line))?;
    Some(line.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect())
}
