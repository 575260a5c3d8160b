//! Checks that text of a model, a tool, a file's name or an argument cannot control the terminal that shows it, on a real terminal
//! made by `script`. Also tests the program's behaviour if standard input or output is closed.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use support::program::{err, out, run, scratch};

const PROGRAM: &str = env!("CARGO_BIN_EXE_aside");

/// Controls of every kind: the clipboard, colours, the title, C1 as UTF-8 and as a byte, DEL, a return, a line turned around.
const HOSTILE: &[u8] = b"a\x1b]52;c;eA==\x07b\x1b[0mc\xc2\x9b31md\x9b1me\x7f\x08\x00\rf\xe2\x80\xaeg\xe2\x81\xa6h\tk\nl\xf0\x9f\xa7\xa0\xff";
const SHOWN: &str = "a\\u{1b}]52;c;eA==\\u{7}b\\u{1b}[0mc\\u{9b}31md\\x9b1me\\u{7f}\\u{8}\\u{0}\\rf\\u{202e}g\\u{2066}h\tk\nl\u{1f9e0}\\xff";

/// Returns the output that a terminal gets from a command line of the shell, in which `aside` is the program.
fn terminal(line: &str) -> Vec<u8> {
    let line = format!("aside() {{ '{PROGRAM}' \"$@\"; }}; {line}");
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("SHELL", "/bin/bash").env("TERM", "xterm").env_remove("NO_COLOR");
    let got = run(&mut command).stdout;
    // A terminal ends its lines in this way.
    let mut text = Vec::new();
    for (index, line) in got.split(|&byte| byte == b'\n').enumerate() {
        text.extend_from_slice(if index > 0 { b"\n" } else { b"" });
        text.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
    }
    text
}

/// Returns the output as text, and checks that no control is left in it.
fn harmless(line: &str) -> String {
    let text = String::from_utf8(terminal(line)).unwrap();
    let acts = |character: &char| character.is_control() && !matches!(character, '\n' | '\t');
    assert_eq!(text.chars().find(acts), None, "{line}: {text:?}");
    assert!(!text.contains(['\u{202e}', '\u{2066}']), "{line}: {text:?}");
    text
}

fn shell(line: &str) -> Output {
    run(Command::new("bash").args(["-c", &line.replace("aside ", &format!("'{PROGRAM}' "))]))
}

fn file(name: &str, text: &[u8]) -> PathBuf {
    let path = scratch(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn split_shows_what_would_act() {
    let text = [b"<think>", HOSTILE, b"</think>", HOSTILE].concat();
    let path = file("hostile.txt", &text);
    let path = path.display();
    for chunk in ["1", "2", "3", "5", "4k"] {
        let shown =
            harmless(&format!("NO_COLOR=1 aside split --dialect=inline-think --chunk={chunk} {path} 2>/dev/null"));
        assert_eq!(shown, format!("[thinking]\n{SHOWN}\n[content]\n{SHOWN}\n"), "in feeds of {chunk}");
        // With styles, the only escapes are the program's own, and thinking keeps the style of thinking.
        let got = terminal(&format!("aside split --dialect=inline-think --chunk={chunk} {path} 2>/dev/null"));
        let got = String::from_utf8(got).unwrap();
        let (mut thinking, mut content, mut dim) = (String::new(), String::new(), false);
        for (index, part) in got.split('\x1b').enumerate() {
            let part = match (index, part.strip_prefix("[2m"), part.strip_prefix("[0m")) {
                (0, ..) => part,
                (_, Some(part), _) => {
                    dim = true;
                    part
                }
                (_, _, Some(part)) => {
                    dim = false;
                    part
                }
                _ => panic!("an escape of the text: {got:?}"),
            };
            if dim { &mut thinking } else { &mut content }.push_str(part);
        }
        assert_eq!((thinking.as_str(), content), (SHOWN, format!("\n{SHOWN}\n")), "in feeds of {chunk}");
    }
    // The text in a marker or a call is text of the model too.
    let tagged = file("hostile-tag.txt", "A <thinking thought='\u{1b}[31mx\u{9b}'/>B\n".as_bytes());
    let shown = harmless(&format!("NO_COLOR=1 aside split --dialect=thought-stream {} 2>/dev/null", tagged.display()));
    assert_eq!(shown, "[content]\nA \n[thinking thought=\"\\u{1b}[31mx\\u{9b}\"]\n[content]\nB\n");
    let call = "<tool_call>{\"name\": \"f\u{202e}\", \"arguments\": {\"x\": \"\u{9b}31m\"}}</tool_call>";
    let call = file("hostile-call.txt", call.as_bytes());
    let shown = harmless(&format!("NO_COLOR=1 aside split --dialect=qwen3 --calls {} 2>/dev/null", call.display()));
    assert_eq!(shown, "[tool call=\"f\\u{202e}\" id=\"call_0\"]\n{\"x\": \"\\u{9b}31m\"}\n");
}

#[test]
fn what_is_asked_for_raw_and_pipes_get_the_bytes() {
    let path = file("raw.txt", HOSTILE);
    let path = path.display();
    assert_eq!(terminal(&format!("aside split --only=content --dialect=qwen3 {path}")), HOSTILE);
    for command in ["split --only=content --dialect=qwen3", "resplit", "squeeze"] {
        let output = shell(&format!("aside {command} {path}"));
        assert!(output.status.success(), "{command}: {}", err(&output));
        assert_eq!(output.stdout, HOSTILE, "{command}");
    }
    let labelled = [b"[content]\n", HOSTILE, b"\n"].concat();
    assert_eq!(shell(&format!("aside split --dialect=qwen3 {path}")).stdout, labelled);
    let events = terminal(&format!("aside split --events --dialect=qwen3 {path} 2>/dev/null"));
    assert_eq!(events, shell(&format!("aside split --events --dialect=qwen3 {path}")).stdout);
}

#[test]
fn the_other_subcommands_show_what_would_act() {
    let text = file("hostile-output.txt", HOSTILE);
    let text = text.display();
    for command in ["resplit", "squeeze", "squeeze -- cat"] {
        assert_eq!(harmless(&format!("aside {command} {text} 2>/dev/null")), SHOWN, "{command}");
    }
    // A character that is split over two reads.
    let cut = "(printf '\\302'; sleep 0.3; printf '\\23331m\\342\\200'; sleep 0.3; printf '\\256\\302')";
    for command in ["resplit", "squeeze"] {
        assert_eq!(harmless(&format!("{cut} | aside {command} 2>/dev/null")), "\\u{9b}31m\\u{202e}\\xc2", "{command}");
    }
    let dialect = "name = \"mine\"\n[[span]]\nchannel = \"thinking\"\nopen = [\"<t>\"]\nclose = [\"</t>\"]\n\
                   [[example]]\nabout = \"\\u001b[31m\\u202e\"\ninput = \"\\u001b[31m\"\ncontent = \"x\"\n";
    let said = harmless(&format!("aside check {}", file("hostile.toml", dialect.as_bytes()).display()));
    assert!(said.contains("example 1: \\u{1b}[31m\\u{202e}\n"), "{said}");
}

#[test]
fn messages_show_what_would_act_wherever_they_go() {
    let hostile = "x\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\u{7f}\ry";
    let shown = "x\\u{1b}]0;t\\u{7}\\u{9b}31m\\u{202e}\\u{7f}\\ry";
    let folder = scratch("hostile-names");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(hostile);
    fs::write(&path, b"name = \xff").unwrap();
    let path = path.to_str().unwrap();
    let missing = format!("/no/such/{hostile}");
    let not_text = std::ffi::OsStr::from_bytes(b"--\x1b[31m\xff");
    let cases: &[&[&str]] = &[
        &["split", &missing],
        &["split", "--dialect-file", path],
        &["split", "--dialect", hostile],
        &["split", "--model", hostile],
        &["split", "--template", path],
        &["split", "--start", hostile],
        &["split", "--only", hostile],
        &["split", "--chunk", hostile],
        &["split", hostile, hostile],
        &["resplit", &missing],
        &["resplit", "--calls", "--tools", path],
        &["resplit", "--formats", hostile],
        &["squeeze", "--filter", path],
        &["squeeze", "--budget", hostile],
        &["squeeze", "--", hostile],
        &["squeeze", hostile, "--", hostile],
        &["dialects", hostile],
        &["dialects", "--model", hostile],
        &["check", path],
        &["check", &missing],
        &["completions", hostile],
        &["man", "--folder", &format!("/dev/null/{hostile}")],
        &[hostile],
        &[&format!("--{hostile}")],
    ];
    for arguments in cases {
        let output = run(Command::new(PROGRAM).args(*arguments));
        let said = err(&output);
        assert!(!output.status.success() && out(&output).is_empty(), "{arguments:?}: {said}");
        assert!(!said.chars().any(|character| character.is_control() && character != '\n'), "{arguments:?}: {said:?}");
        assert!(!said.contains('\u{202e}'), "{arguments:?}: {said:?}");
        // Not all messages quote the wrong text, but quoted text is complete.
        assert!(said.contains(shown) || !said.contains('x'), "{arguments:?}: {said}");
    }
    let output = run(Command::new(PROGRAM).arg("split").arg(not_text));
    assert!(err(&output).contains("\\u{1b}[31m"), "{}", err(&output));
    // A terminal gets the same messages.
    let said = harmless(&format!("aside split '{missing}'"));
    assert_eq!(said, format!("aside split: /no/such/{shown}: No such file or directory\n"));
}

/// Checks that progress is shown for a file that takes some seconds, only on a terminal, and that the line is removed.
#[test]
fn a_long_file_shows_progress() {
    let lines: String = (0..3_000_000).map(|line| format!("[{line}] compiling unit {line}.c\n")).collect();
    let path = file("long.txt", lines.as_bytes());
    let path = path.display();
    let said = String::from_utf8(terminal(&format!("aside squeeze --budget 4k {path} >/dev/null"))).unwrap();
    let of = format!(" of {} MB", lines.len().div_ceil(1_000_000));
    assert!(said.contains("aside squeeze: ") && said.contains(&of) && said.ends_with("\r\u{1b}[K"), "{said:?}");
    let output = shell(&format!("aside squeeze --budget 4k {path} >/dev/null"));
    assert_eq!(err(&output), "");
}

#[test]
fn a_closed_stream_is_an_error_and_a_closed_pipe_is_not() {
    let path = file("closed.txt", b"a\nb\n");
    let path = path.display();
    for command in
        ["split", "split --only=content", "resplit", "squeeze", "squeeze --", "dialects", "check", "man", "--help"]
    {
        let command = if command == "squeeze --" { "squeeze -- cat" } else { command };
        let output = shell(&format!("aside {command} {path} >&-"));
        let name = command.split(' ').next().filter(|name| *name != "--help").map(|name| format!(" {name}"));
        let name = name.unwrap_or_default();
        assert_eq!(output.status.code(), Some(1), "{command}: {}", err(&output));
        assert_eq!(err(&output), format!("aside{name}: standard output is closed\n"), "{command}");
        let output = shell(&format!("aside {command} {path} >/dev/null"));
        assert!(!err(&output).contains("is closed"), "{command}: {}", err(&output));
    }
    let output = shell("aside split --dialect=qwen3 <&-");
    assert_eq!((output.status.code(), err(&output)), (Some(1), "aside split: standard input is closed\n"));
    let output = shell(&format!("aside split --dialect=qwen3 {path} <&-"));
    assert!(output.status.success());
    // The reader of a pipe has closed it.
    for command in ["split", "split --events", "resplit", "squeeze"] {
        let line = format!("yes | head -200000 | aside {command} 2>&1 | head -1 >/dev/null; exit ${{PIPESTATUS[2]}}");
        let output = shell(&line);
        assert_eq!((output.status.code(), err(&output)), (Some(0), ""), "{command}");
    }
    // A full disk is an error.
    let output = shell(&format!("aside split --only=content {path} >/dev/full"));
    assert_eq!(
        (output.status.code(), err(&output)),
        (Some(1), "aside split: standard output: No space left on device\n")
    );
}

#[test]
fn a_run_that_left_nothing_out_says_so_on_a_terminal() {
    let path = file("short.txt", b"a\nb\n");
    let path = path.display();
    let shown = String::from_utf8(terminal(&format!("aside squeeze {path}"))).unwrap();
    assert!(shown.starts_with("a\nb\naside squeeze: nothing was left out; --budget 10k "), "{shown}");
    assert_eq!(terminal(&format!("aside squeeze --budget 2k {path}")), b"a\nb\n");
    assert_eq!(err(&shell(&format!("aside squeeze {path}"))), "");
}
