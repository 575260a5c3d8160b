//! Runs the cases in `tests/field/cases.jsonl`: outputs from public bug reports and from other parsers' tests, with their sources.
//! The reference and the scanner read each case: whole, byte by byte, cut as it was reported, and at every split into two.

use serde::Deserialize;
use std::path::Path;
use support::Pair;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    kind: String,
    about: String,
    #[serde(rename = "source")]
    _source: String,
    dialect: String,
    start: Option<String>,
    chunks: Vec<String>,
    content: String,
    thinking: String,
    tool: String,
}

impl Case {
    /// Returns the first channel whose text differs from the case, with both texts.
    fn difference(&self, events: &[reference::Event]) -> Option<String> {
        let wanted = [("content", &self.content), ("thinking", &self.thinking), ("tool", &self.tool)];
        let different = wanted.into_iter().find_map(|(channel, wanted)| {
            let got = reference::channel(events, channel);
            (got != wanted.as_bytes()).then(|| format!("{channel}: wanted {wanted:?}, got \"{}\"", got.escape_ascii()))
        })?;
        let Case { dialect, kind, about, .. } = self;
        Some(format!("{dialect}, {kind}, {about}: {:?}\n  {different}", self.chunks.concat()))
    }
}

fn cases(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let cases: Vec<Case> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!cases.is_empty(), "{}: no case", file.display());
    cases
}

fn run(file: &Path) {
    let cases = cases(file);
    let mut wrong = Vec::new();
    for case in &cases {
        let pair = Pair::find(&case.dialect);
        let start = case.start.as_deref();
        let text = case.chunks.concat().into_bytes();
        let wanted = reference::read(&pair.reference, &text, start);
        wrong.extend(case.difference(&wanted));
        let chunks: Vec<&[u8]> = case.chunks.iter().map(|chunk| chunk.as_bytes()).collect();
        pair.check(start, &chunks, &wanted);
        pair.check(start, &[&text], &wanted);
        pair.check(start, &support::bytes(&text), &wanted);
        pair.check_twos(start, &text, &wanted);
    }
    assert!(wrong.is_empty(), "{} of {} cases are not right:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Checks the cases of a file; `ASIDE_FIELD` names another file.
#[test]
fn cases_from_the_field() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/field/cases.jsonl");
    run(&std::env::var_os("ASIDE_FIELD").map_or(own, Into::into));
}
