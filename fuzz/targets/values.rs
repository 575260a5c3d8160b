//! Writes a call with the text as one of its values: whatever the text is, the call has the same name and the same other
//! arguments, and no other call is reported.
//!
//! Input: the dialect's name and a newline; the form of the call; two bytes, the choices that the form leaves; whether the
//! request has tools; how many lengths of chunks, and these; the text.

use std::sync::LazyLock;

use support::hostile::{Cuts, Subject, Trial, Way};

use super::Input;

pub static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(Subject::all);

pub fn run(data: &[u8]) {
    let mut input = Input { rest: data };
    let name = input.until(b'\n');
    let named = SUBJECTS.iter().find(|subject| subject.pair.reference.name.as_bytes() == name);
    let subject = named.unwrap_or_else(|| &SUBJECTS[name.len() % SUBJECTS.len()]);
    let form = input.below(subject.forms.len());
    let way = Way::new(usize::from(input.byte()) << 8 | usize::from(input.byte()));
    let has_tools = input.below(2) == 1;
    let lengths = input.lengths();
    let hostile = String::from_utf8_lossy(input.rest).into_owned();
    let held = Trial { form, way, has_tools, hostile }.check(subject, Cuts::Lengths(lengths));
    assert!(held.is_ok(), "{}", held.err().map_or(String::new(), |fault| format!("{}: {}", fault.kind, fault.shown)));
}
