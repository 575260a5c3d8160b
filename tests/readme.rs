//! Compares the manual with the code: the program in docs/start.md must run as written, the README must show lines of that page's
//! programs, and the lists of dialects and of calls must agree with `dialects/`. `ASIDE_BLESS=1` rewrites the lists.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use aside::{Channel, Dialect, GrammarError, GrammarFormat, JoinCall, JoinError, JoinOptions, Start, ToolChoice};
use reference::{CallId, CallTable, ExampleCall};
use support::Pair;
use support::program::of_example;

const BEGIN: &str = "<!-- dialects: written by `ASIDE_BLESS=1 cargo test --test readme` -->\n";
const END: &str = "<!-- end of dialects -->";
const CALLS_BEGIN: &str = "<!-- calls: written by `ASIDE_BLESS=1 cargo test --test readme` -->\n";
const CALLS_END: &str = "<!-- end of calls -->";
const USES_BEGIN: &str = "<!-- uses: written by `ASIDE_BLESS=1 cargo test --test readme` -->\n";
const USES_END: &str = "<!-- end of uses -->";

/// Returns a row for each dialect: its name and aliases, its start, and the first comment of its file.
fn table() -> String {
    let mut table = String::from("\n| dialect | starts in | what it reads |\n|---|---|---|\n");
    for name in Dialect::names() {
        let dialect = Dialect::find(name).unwrap();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("dialects/{name}.toml"));
        let text = fs::read_to_string(file).unwrap();
        let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
        let names: Vec<String> = std::iter::once(name)
            .chain(dialect.aliases().iter().map(String::as_str))
            .map(|name| format!("`{name}`"))
            .collect();
        let comment = comment.join(" ").replace('|', "\\|");
        table += &format!("| {} | {} | {comment} |\n", names.join(", "), dialect.start().as_str());
    }
    table + "\n"
}

/// Returns a row for each dialect with tables of calls: the forms of its calls, a call as `join` writes it, and the place of the
/// id.
fn calls_table() -> String {
    let mut table = String::from("\n| dialect | `body` | a call | its id |\n|---|---|---|---|\n");
    for pair in reference::all().into_iter().map(Pair::new).filter(Pair::has_calls) {
        let header = pair.reference.header.iter().flat_map(|header| &header.calls);
        let calls: Vec<&CallTable> = pair.reference.spans.iter().flat_map(|span| &span.calls).chain(header).collect();
        let mut bodies: Vec<&str> = Vec::new();
        for call in &calls {
            if !bodies.contains(&call.body.as_str()) {
                bodies.push(&call.body);
            }
        }
        let start = if pair.reference.header.is_some() { Start::Header } else { Start::Channel(Channel::Content) };
        let call = JoinCall::new("f", r#"{"x": 1}"#);
        let joined = pair.library.join("", "", &JoinOptions::new().start(start).calls(&[call]));
        // `join` does not write calls without an opener, so the first call of the examples is shown.
        let text = joined.map_or_else(|_| first_call(&pair), |text| String::from_utf8(text).unwrap());
        let text = text.replace('\n', "\\n").replace('|', "\\|");
        // A call with a code fence needs more backticks around it.
        let text = if text.contains("```") { format!("```` {text} ````") } else { format!("`{text}`") };
        let id = calls.iter().map(|call| place_of_id(call)).find(|place| !place.is_empty()).unwrap_or_default();
        table += &format!("| `{}` | {} | {text} | {id} |\n", pair.reference.name, bodies.join(", "));
    }
    table + "\n"
}

/// Returns a row for each dialect: whether its calls are read, whether a grammar constrains a model to them, and whether `join` writes
/// them. A cell that says no has a reason.
fn uses_table() -> String {
    const NO_OPENER: &str = "no: nothing opens a call";
    const NO_TABLE: &str = "no: its file has no table of calls";
    let mut table = String::from("\n| dialect | read | constrained | written |\n|---|---|---|---|\n");
    let tools = r#"[{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}]"#;
    for pair in reference::all().into_iter().map(Pair::new) {
        let header = pair.reference.header.iter().flat_map(|header| &header.calls);
        let calls: Vec<&CallTable> = pair.reference.spans.iter().flat_map(|span| &span.calls).chain(header).collect();
        let has = |choice| match pair.library.grammar(GrammarFormat::Xgrammar, tools, choice, None) {
            Ok(_) => true,
            Err(GrammarError::NotWritten) => false,
            Err(error) => panic!("{}: {error}", pair.reference.name),
        };
        let constrained = match (has(ToolChoice::Auto), has(ToolChoice::Required)) {
            (true, true) => "yes",
            (false, true) => "with `required` and a name; not with `auto`: nothing shows where a call begins",
            (true, false) => panic!("{}: no calls with `required`", pair.reference.name),
            (false, false) if calls.is_empty() => NO_TABLE,
            (false, false) => "no: all its tables are `lenient`",
        };
        let start = if pair.reference.header.is_some() { Start::Header } else { Start::Channel(Channel::Content) };
        let call = [JoinCall::new("f", r#"{"x": 1}"#)];
        let written = match pair.library.join("", "", &JoinOptions::new().start(start).calls(&call)) {
            Ok(_) => "yes",
            Err(JoinError::NotWritten(_)) if calls.is_empty() => NO_TABLE,
            Err(JoinError::NotWritten(_)) => NO_OPENER,
            Err(error) => panic!("{}: {error}", pair.reference.name),
        };
        let read = if calls.is_empty() { NO_TABLE } else { "yes" };
        table += &format!("| `{}` | {read} | {constrained} | {written} |\n", pair.reference.name);
    }
    table + "\n"
}

fn first_call(pair: &Pair) -> String {
    let is_whole = |calls: &Vec<ExampleCall>| !calls.is_empty() && calls.iter().all(|call| call.cause.is_none());
    let first = pair.reference.examples.iter().find(|example| example.calls.as_ref().is_some_and(is_whole));
    first.unwrap_or_else(|| panic!("{}: no example of a call", pair.reference.name)).input.trim().to_owned()
}

fn place_of_id(call: &CallTable) -> String {
    match &call.id {
        Some(CallId::Members(names)) => format!("`{}`", names.join("`, `")),
        Some(CallId::Head(_)) => "the head".to_owned(),
        None if call.body == "object" && !call.key_is_name => "`id`".to_owned(),
        None if !call.id_end.is_empty() => "before the name".to_owned(),
        None if !call.id_begin.is_empty() => "after the name".to_owned(),
        None => String::new(),
    }
}

/// Compares the list in a file with the expected list, or writes it.
fn check_list(file: &str, begin: &str, end: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once(begin).expect("the list's first line");
    let (list, tail) = rest.split_once(end).expect("the list's last line");
    if std::env::var_os("ASIDE_BLESS").is_some() {
        fs::write(&path, [head, begin, wanted, end, tail].concat()).unwrap();
    } else {
        assert!(list == wanted, "{file} has an old list: run `ASIDE_BLESS=1 cargo test --test readme`\n{wanted}");
    }
}

#[test]
fn the_list_is_what_the_files_say() {
    check_list("docs/dialects/README.md", BEGIN, END, &table());
}

#[test]
fn the_list_of_calls_is_what_the_files_say() {
    check_list("docs/tool-calls.md", CALLS_BEGIN, CALLS_END, &calls_table());
}

#[test]
fn the_list_of_uses_is_what_the_library_does() {
    check_list("docs/tool-calls.md", USES_BEGIN, USES_END, &uses_table());
}

#[test]
fn the_program_runs_as_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("docs/start.md")).unwrap();
    let (_, section) = readme.split_once("### Rust\n\n```rust\n").expect("the section");
    let (shown, _) = section.split_once("```\n").unwrap();
    let example = fs::read_to_string(root.join("examples/answer.rs")).unwrap();
    let (_, code) = example.split_once("\n\n").unwrap();
    assert_eq!(shown, code, "docs/start.md shows something else than examples/answer.rs");

    let mut command = Command::new(of_example("answer"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"<think>\nTwice 21.\n</think>\n\nIt is 42.\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "It is 42.\n");
}

/// Returns the code blocks of a page, each with its language.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some((_, block)) = rest.split_once("\n```") {
        let (language, block) = block.split_once('\n').unwrap();
        let (code, after) = block.split_once("```\n").unwrap();
        blocks.push((language, code.lines().map(str::trim).collect()));
        rest = after;
    }
    blocks
}

#[test]
fn the_readme_shows_lines_of_programs_that_run() {
    let read = |file: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let (readme, start) = (read("README.md"), read("docs/start.md"));
    assert!(readme.lines().count() <= 150);
    let programs = blocks(&start);
    let shown = blocks(&readme);
    assert!(!shown.is_empty());
    for (language, lines) in &shown {
        let (_, program) = programs.iter().find(|(of, _)| of == language).unwrap();
        let mut at = 0;
        for line in lines {
            // In the README, `…` replaces the rest of a line.
            let is_shown = |other: &&str| {
                line.split_once('…').map_or(other == line, |(begin, _)| other.starts_with(begin.trim_end()))
            };
            let found = program[at..].iter().position(is_shown);
            at += 1 + found
                .unwrap_or_else(|| panic!("{language}: {line:?} is not in docs/start.md, or not in this order"));
        }
        assert!(lines.len() <= 5, "{language}");
    }
}

/// Returns the cells of the first row that begins with this cell in the table after a heading or sentence.
fn row<'a>(text: &'a str, after: &str, first: &str) -> Vec<&'a str> {
    let (_, text) = text.split_once(after).unwrap_or_else(|| panic!("there is no {after:?}"));
    let line = text.lines().find(|line| line.starts_with(&format!("| `{first}` |")));
    let line = line.unwrap_or_else(|| panic!("there is no row `{first}` after {after:?}"));
    line.trim_matches('|').split('|').map(str::trim).collect()
}

#[test]
fn the_figures_of_the_readme_are_measured() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let [readme, benchmarks] =
        ["README.md", "docs/BENCHMARKS.md"].map(|name| fs::read_to_string(root.join(name)).unwrap());
    let rows = readme.split_once("| instructions per piece |").expect("the table").1.lines().skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 1, "the table has too few rows");
    for line in rows {
        let name = line.split('`').nth(1).expect("a name");
        // W5t is the last column in both tables.
        let count = *row(&benchmarks, "Instructions per feed:", name).last().unwrap();
        let wrong = row(&benchmarks, "Wrong messages", name)[3].split(' ').next().unwrap().to_owned();
        let cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| cell.trim().replace(',', "")).collect();
        assert_eq!(cells[1..], [wrong, count.to_owned()], "{name} in README.md, beside docs/BENCHMARKS.md");
    }
}
