//! Holds the README to the code: its program must run as written, and its list of dialects must be what `dialects/` has.
//! `ASIDE_BLESS=1` writes the list again.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use aside::Dialect;
use support::program::of_example;

const BEGIN: &str = "<!-- dialects: written by `ASIDE_BLESS=1 cargo test --test readme` -->\n";
const END: &str = "<!-- end of dialects -->";

/// One row a dialect: its name and aliases, what is open at the first byte, and its file's first comment.
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

#[test]
fn the_list_is_what_the_files_say() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&file).unwrap();
    let (head, rest) = readme.split_once(BEGIN).expect("the list's first line");
    let (list, tail) = rest.split_once(END).expect("the list's last line");
    let wanted = table();
    if std::env::var_os("ASIDE_BLESS").is_some() {
        fs::write(&file, [head, BEGIN, &wanted, END, tail].concat()).unwrap();
    } else {
        assert!(list == wanted, "the README's list is old: run `ASIDE_BLESS=1 cargo test --test readme`\n{wanted}");
    }
}

#[test]
fn the_program_runs_as_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (_, section) = readme.split_once("### Rust\n\n```rust\n").expect("the section");
    let (shown, _) = section.split_once("```\n").unwrap();
    let example = fs::read_to_string(root.join("examples/answer.rs")).unwrap();
    let (_, code) = example.split_once("\n\n").unwrap();
    assert_eq!(shown, code, "the README shows something else than examples/answer.rs");

    let mut command = Command::new(of_example("answer"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"<think>\nTwice 21.\n</think>\n\nIt is 42.\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "It is 42.\n");
}
