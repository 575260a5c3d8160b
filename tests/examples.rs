//! Runs every `[[example]]` of every dialect file: the file, the reference and the scanner must agree, however
//! the text is cut.

use aside::answer::Tools;
use reference::{Dialect, Event, Example, ExampleCall, ExampleThought, Thought};
use support::Pair;
use support::calls::{Call, calls};

/// Returns the expectations of an example that a list of events does not meet.
fn faults(dialect: &Dialect, example: &Example, events: &[Event]) -> Vec<String> {
    let mut faults = Vec::new();
    let channels = [
        ("content", &example.content),
        ("thinking", &example.thinking),
        ("narration", &example.narration),
        ("tool", &example.tool),
    ];
    for (channel, wanted) in channels {
        let got = reference::channel(events, channel);
        if got != wanted.as_bytes() {
            faults.push(format!("{channel}: wanted {wanted:?}, got \"{}\"", got.escape_ascii()));
        }
    }
    if let Some(wanted) = &example.thoughts {
        let got = reference::thoughts(dialect, events);
        if wanted.len() != got.len() || !wanted.iter().zip(&got).all(|(wanted, got)| same_thought(wanted, got)) {
            faults.push(format!("thoughts: wanted {wanted:?}, got {got:?}"));
        }
    }
    if let Some(wanted) = &example.attributes {
        let got = reference::attributes(events);
        let bytes = |(name, value): &(String, String)| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        if got != wanted.iter().map(bytes).collect::<Vec<_>>() {
            faults.push(format!("attributes: wanted {wanted:?}, got {got:?}"));
        }
    }
    if let Some(wanted) = &example.causes {
        let got = reference::causes(events);
        if got != *wanted {
            faults.push(format!("causes: wanted {wanted:?}, got {got:?}"));
        }
    }
    faults
}

fn same_thought(wanted: &ExampleThought, got: &Thought) -> bool {
    match wanted {
        ExampleThought::Plain(text) => got.text == text.as_bytes(),
        ExampleThought::Typed { thought, thought_type, confidence } => {
            got.text == thought.as_bytes()
                && got.thought_type == thought_type.as_ref().map(|kind| kind.as_bytes().to_vec())
                && got.confidence == *confidence
        }
    }
}

#[test]
fn every_dialect_has_examples() {
    for dialect in reference::all() {
        assert!(!dialect.examples.is_empty(), "{} has no [[example]]", dialect.name);
    }
}

#[test]
fn the_reference_agrees_with_the_files() {
    for dialect in reference::all() {
        for example in &dialect.examples {
            let events = reference::read(&dialect, example.input.as_bytes(), example.start.as_deref());
            let faults = faults(&dialect, example, &events);
            assert!(faults.is_empty(), "{}, {:?}: {faults:#?}\n{events:#?}", dialect.name, example.about);
        }
    }
}

#[test]
fn the_scanner_agrees_at_every_split() {
    for pair in Pair::all() {
        for example in &pair.reference.examples {
            let text = example.input.as_bytes();
            let start = example.start.as_deref();
            let wanted = reference::read(&pair.reference, text, start);
            pair.check_twos(start, text, &wanted);
            pair.check(start, &support::bytes(text), &wanted);
            if text.len() <= 64 {
                pair.check_threes(start, text, &wanted);
            }
        }
    }
}

/// Checks also the calls of the examples that list some.
#[test]
fn calls_are_those_of_the_files_at_every_split() {
    for pair in Pair::all().iter().filter(|pair| pair.has_calls()) {
        for example in &pair.reference.examples {
            let text = example.input.as_bytes();
            let start = example.start.as_deref();
            let wanted = reference::read_with_calls(&pair.reference, text, start);
            for at in 0..=text.len() {
                pair.check_calls(start, &[&text[..at], &text[at..]], &wanted);
            }
            pair.check_calls(start, &support::bytes(text), &wanted);
            let Some(wanted) = &example.calls else { continue };
            let tools =
                example.tools.as_ref().map(|tools| Tools::read(&serde_json::to_string(tools).unwrap()).unwrap());
            for chunks in [&[text][..], &support::bytes(text)] {
                let got = calls(pair, start, tools.as_ref(), chunks);
                let is_same =
                    wanted.len() == got.len() && wanted.iter().zip(&got).all(|(wanted, got)| got.is(&call(wanted)));
                assert!(is_same, "{}, {:?}: {got:#?}", pair.reference.name, example.about);
            }
        }
    }
}

fn call(wanted: &ExampleCall) -> Call {
    let ExampleCall { name, arguments, id, cause } = wanted.clone();
    Call { name, arguments, id, cause, is_repaired: false }
}

#[test]
fn strip_gives_the_content_trimmed() {
    for pair in Pair::all() {
        for example in pair.reference.examples.iter().filter(|example| example.start.is_none()) {
            let got = pair.library.strip(example.input.as_bytes()).unwrap();
            let wanted = reference::trimmed(example.content.as_bytes());
            assert_eq!(got, wanted, "{}, {:?}", pair.reference.name, example.about);
        }
    }
}

#[test]
fn the_files_hold_what_the_catalogue_names() {
    let mut named: Vec<String> = aside::Dialect::names().map(str::to_string).collect();
    let mut files: Vec<String> = reference::all().into_iter().map(|dialect| dialect.name).collect();
    named.sort();
    files.sort();
    assert_eq!(named, files);
    for file in reference::all() {
        for alias in &file.aliases {
            assert_eq!(aside::Dialect::find(alias).unwrap().name(), file.name);
        }
        let start = aside::Dialect::find(&file.name).unwrap().start();
        let wanted: aside::Start = file.start.as_deref().unwrap_or("content").parse().unwrap();
        assert_eq!(start, wanted, "{}", file.name);
    }
}
