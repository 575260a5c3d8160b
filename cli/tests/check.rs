//! Runs `aside check` as an author of dialect and filter files would: on correct files, and on files with each kind of error.

use std::fs;
use std::path::Path;
use std::process::Command;
use support::ROOT;
use support::program::{err, out, run, scratch};

fn check_of() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aside"));
    command.arg("check");
    command
}

/// A dialect file with one span of tags with attributes, to which examples are added.
const CHECKED: &str = r#"name = "own"
[[span]]
channel = "thinking"
tag = { names = ["t"], attributes = 99, self_close = true }
thought = { text = "thought", type = "kind", confidence = "confidence" }
"#;

/// Runs the program on a file that ends with these lines, and returns whether it passes, and its message.
fn check(file: &str, lines: &str) -> (Option<i32>, String) {
    let path = scratch(file);
    fs::write(&path, format!("{CHECKED}{lines}")).unwrap();
    let output = run(check_of().arg(&path));
    let said = if output.stdout.is_empty() { err(&output).to_owned() } else { out(&output) };
    (output.status.code(), said.replace(path.to_str().unwrap(), "FILE"))
}

#[test]
fn a_file_with_right_examples_passes() {
    let (code, said) = check(
        "right.toml",
        r#"
[[example]]
input = "a<t kind='x' confidence='.5'>b</t>c<t thought='d'/>e"
content = "ace"
thinking = "b"
thoughts = [{ thought = "b", thought_type = "x", confidence = 0.5 }, "d"]
attributes = [["kind", "x"], ["confidence", ".5"], ["thought", "d"]]
causes = ["marker", "marker"]

[[example]]
start = "thinking"
input = "b"
thinking = "b"
causes = ["end of stream"]
"#,
    );
    assert_eq!((code, said.as_str()), (Some(0), "FILE: 2 examples of `own`, right however the text is cut\n"));
    // Built-in files are checked like any other file.
    for entry in fs::read_dir(Path::new(ROOT).join("dialects")).unwrap() {
        let output = run(check_of().arg(entry.unwrap().path()));
        assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
        assert!(!out(&output).contains("no example shows"), "{}", out(&output));
    }
}

#[test]
fn each_key_of_an_example_is_judged() {
    let wrong = |line: &str, says: [&str; 3]| {
        let right = "input = \"a<t kind='x'>b</t>c\"\nabout = \"the usual\"\n";
        let (code, said) = check("wrong.toml", &format!("[[example]]\n{right}{line}\n"));
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.starts_with("FILE, line 6, example 1: the usual\n  input       \"a<t kind='x'>b</t>c\"\n"),
            "{said}"
        );
        let [key, wanted, got] = says;
        let fault = format!("  {key:<10}  expected {wanted}\n{:14}actual   {got}\n", "");
        assert!(said.contains(&fault), "no {fault} in {said}");
        assert!(said.ends_with("FILE: 1 example of `own`, 1 not right\n"), "{said}");
    };
    let texts = "content = \"ac\"\nthinking = \"b\"\n";
    wrong("content = \"ac\"", ["thinking", r#""""#, r#""b""#]);
    wrong("thinking = \"b\"\ncontent = \"a c\"", ["content", r#""a c""#, r#""ac""#]);
    wrong(&format!("{texts}tool = \"x\""), ["tool", r#""x""#, r#""""#]);
    wrong(&format!("{texts}narration = \"x\""), ["narration", r#""x""#, r#""""#]);
    wrong(&format!("{texts}thoughts = [\"c\"]"), ["thoughts", r#"["c"]"#, r#"["b"]"#]);
    wrong(&format!("{texts}thoughts = []"), ["thoughts", "[]", r#"["b"]"#]);
    wrong(
        &format!("{texts}thoughts = [{{ thought = \"b\", thought_type = \"y\" }}]"),
        ["thoughts", r#"["b" (type Some("y"), confidence None)]"#, r#"["b" (type Some("x"), confidence None)]"#],
    );
    wrong(
        &format!("{texts}attributes = [[\"kind\", \"y\"]]"),
        ["attributes", r#"[("kind", "y")]"#, r#"[("kind", "x")]"#],
    );
    wrong(&format!("{texts}causes = [\"implied\"]"), ["causes", r#"["implied"]"#, r#"["marker"]"#]);
    wrong(&format!("{texts}start = \"thinking\""), ["thinking", r#""b""#, r#""a<t kind='x'>b""#]);
}

/// Checks that everything that is wrong or missing is reported at once.
#[test]
fn wrong_calls_and_missing_kinds_are_shown_together() {
    let lines = r#"
[[span]]
channel = "tool"
open = ["<c>"]
close = ["</c>"]
[[span.call]]
body = "object"

[[example]]
input = "<c>{\"name\": \"f\", \"arguments\": {\"x\": 1}}</c>"
tool = "{\"name\": \"f\", \"arguments\": {\"x\": 1}}"
calls = [{ name = "g", arguments = "{}", id = "c1" }, { name = "f", arguments = "{", cause = "malformed" }]
"#;
    let (code, said) = check("calls.toml", lines);
    assert_eq!(code, Some(1));
    let calls = "  calls       expected g {}, id \"c1\"\n                       f {, not whole: malformed\n              actual   f {\"x\": 1}\n";
    assert!(said.contains(calls), "{said}");
    let kinds = "two calls, no arguments, a closer inside a value, text after a call, a cut value, a broken body";
    assert!(said.contains("1 not right\n") && said.contains(kinds), "{said}");
}

#[test]
fn a_file_that_cannot_be_checked() {
    let (code, said) = check("no-examples.toml", "");
    assert!(code == Some(1) && said.contains("no [[example]]") && said.contains("empty thinking"), "{said}");
    let (code, said) = check("start.toml", "[[example]]\ninput = \"a\"\nstart = \"tool\"\ntool = \"a\"\n");
    assert!(code == Some(1) && said.contains("start       \"tool\": the dialect has nothing"), "{said}");
    let (code, said) = check("unknown.toml", "[[example]]\ninput = \"a\"\nanswer = \"a\"\n");
    assert!(code == Some(1) && said.starts_with("aside check: FILE: line 8") && said.contains("answer"), "{said}");
    let (code, said) = check("broken.toml", "[[example]\n");
    assert!(code == Some(1) && said.starts_with("aside check: FILE: line 6"), "{said}");
    assert_eq!(said, "aside check: FILE: line 6, example: unclosed array table, expected `]`\n");
    let (_, said) = check("no-name.toml", "");
    let kinds: Vec<&str> = said.lines().skip(1).collect();
    assert!(kinds.len() > 3 && kinds.iter().all(|kind| kind.starts_with("  ") && !kind.starts_with("   ")), "{said}");
    let path = scratch("latin1.toml");
    fs::write(&path, b"name = 'x'\n# \xfc\n").unwrap();
    let output = run(check_of().arg(&path));
    assert_eq!(err(&output), format!("aside check: {}: line 2: not UTF-8\n", path.display()));
    fs::write(&path, "start = 'content'\n").unwrap();
    let output = run(check_of().arg(&path));
    assert_eq!(err(&output), format!("aside check: {}: the file has no `name`\n", path.display()));
    let output = run(check_of().arg("no/such.toml"));
    assert_eq!(
        (output.status.code(), err(&output)),
        (Some(1), "aside check: no/such.toml: No such file or directory\n")
    );
}

#[test]
fn filter_files_are_checked() {
    let good = Path::new(ROOT).join("filters/cargo.toml");
    let output = run(check_of().arg(&good));
    assert!(output.status.success() && out(&output).ends_with("cargo.toml: every test passes\n"), "{}", err(&output));
    let bad = scratch("bad.toml");
    fs::write(&bad, "id = \"bad\"\nwrong = 1\n").unwrap();
    let output = run(check_of().arg(&bad).arg(&good));
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("bad.toml: line 2, wrong: "), "{}", out(&output));
    assert!(out(&output).contains("cargo.toml: every test passes"));
    // A failing test shows the expected text, the difference, and the reason.
    let text = fs::read_to_string(&good).unwrap().replacen("|Compiling|Documenting|Downgrading", "|Building", 1);
    fs::write(&bad, text).unwrap();
    let output = run(check_of().arg(&bad));
    assert_eq!(output.status.code(), Some(1));
    for words in ["bad.toml: line ", "expected:\n", "actual:\n", "(- expected, + actual):\n", "stayed: "] {
        assert!(out(&output).contains(words), "no {words:?} in: {}", out(&output));
    }
    fs::write(&bad, b"id = 'bad'\n# \xff").unwrap();
    let output = run(check_of().arg(&bad));
    assert!(err(&output).ends_with("bad.toml: line 2: not UTF-8\n"), "{}", err(&output));
}

/// Checks that a long example that is all markers costs time in proportion to its length: a run for each cut took minutes.
#[test]
fn a_long_example_is_cut_everywhere_in_bounded_time() {
    let file = scratch("long.toml");
    let span = "name = \"own\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<t>\"]\nclose = [\"</t>\"]\n";
    let text = "<t></t>".repeat(12_000);
    let example = |input: &str| format!("{span}[[example]]\ninput = \"{input}\"\n");
    fs::write(&file, example(&text)).unwrap();
    let begin = std::time::Instant::now();
    let output = run(check_of().arg(&file));
    assert!(begin.elapsed().as_secs() < 100, "{:?}", begin.elapsed());
    assert!(output.status.success(), "{}", out(&output).lines().last().unwrap());
    assert!(out(&output).ends_with("1 example of `own`, right however the text is cut\n"));
    // Many short examples.
    fs::write(&file, span.to_owned() + &format!("[[example]]\ninput = \"{}\"\n", &text[..126]).repeat(600)).unwrap();
    let begin = std::time::Instant::now();
    assert!(run(check_of().arg(&file)).status.success());
    assert!(begin.elapsed().as_secs() < 100, "{:?}", begin.elapsed());
}

#[test]
fn response_templates_are_checked() {
    let template = scratch("template.json");
    let fields = r#""fields": {"thinking": {"open": "<t>", "close_pattern": "</t>CLOSE"}, "content": {}}"#;
    let write = |close: &str| {
        fs::write(&template, format!("{{\"start_anchor\": \"<a>\", {}}}", fields.replace("CLOSE", close))).unwrap();
    };
    write(r"\\s*");
    let output = run(check_of().arg(&template));
    assert!(output.status.success() && out(&output).ends_with("the response template is read\n"), "{}", err(&output));
    let answer = scratch("answer.txt");
    fs::write(&answer, "<t>hm</t> Yes.").unwrap();
    let split = Command::new(env!("CARGO_BIN_EXE_aside"))
        .args(["split", "--response-template"])
        .args([&template, &answer])
        .output()
        .unwrap();
    assert!(out(&split).contains("hm") && !out(&split).contains("<t>"), "{}", err(&split));
    write("a+");
    let output = run(check_of().arg(&template));
    assert_eq!(output.status.code(), Some(1));
    assert!(
        out(&output).contains("fields.thinking.close_pattern: the pattern `</t>a+` is not read"),
        "{}",
        out(&output)
    );
}

#[test]
fn wrong_use_is_an_error() {
    let output = run(&mut check_of());
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("<FILE>..."), "{}", err(&output));
}
