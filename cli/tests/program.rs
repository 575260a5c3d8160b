//! Runs the program as a whole: help, versions, unknown subcommands, the list of dialects, and generated files.

use std::fs;
use std::process::{Command, Output};
use support::ROOT;
use support::program::{err, out, run, scratch};

fn aside(arguments: &[&str]) -> Output {
    run(Command::new(env!("CARGO_BIN_EXE_aside")).args(arguments))
}

const SUBCOMMANDS: [&str; 7] = ["split", "resplit", "squeeze", "dialects", "check", "completions", "man"];

#[test]
fn every_subcommand_says_what_it_is() {
    for arguments in [&["--help"][..], &["-h"]] {
        let help = aside(arguments);
        assert!(help.status.success() && err(&help).is_empty());
        for name in SUBCOMMANDS {
            assert!(out(&help).contains(&format!("  {name} ")), "{name}");
        }
    }
    for name in SUBCOMMANDS {
        for option in ["--help", "-h"] {
            let help = aside(&[name, option]);
            assert!(help.status.success() && err(&help).is_empty(), "{name} {option}");
            assert!(out(&help).contains("Usage: aside ") && out(&help).contains("--version"), "{name}: {}", out(&help));
            assert!(out(&help).lines().all(|line| line.chars().count() <= 100), "{name}: {}", out(&help));
        }
        for option in ["--version", "-V"] {
            let version = aside(&[name, option]);
            assert_eq!(
                (version.status.code(), out(&version)),
                (Some(0), format!("aside-{name} {}\n", env!("CARGO_PKG_VERSION")))
            );
        }
    }
    assert_eq!(out(&aside(&["--version"])), format!("aside {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_is_not_a_subcommand() {
    let output = aside(&["splot"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("'split'"), "{}", err(&output));
    let output = aside(&[]);
    assert!(output.status.code() == Some(2) && err(&output).contains("Usage: aside <COMMAND>"), "{}", err(&output));
}

#[test]
fn the_dialects() {
    let list = out(&aside(&["dialects"]));
    for name in aside::Dialect::names() {
        assert!(list.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name} in {list}");
    }
    let facts = out(&aside(&["dialects", "harmony"]));
    for line in [
        "harmony\n",
        "  other names   gpt-oss\n",
        "  start         header\n",
        "  rule          0: harmony \"<|start|>\"",
    ] {
        assert!(facts.contains(line), "no {line:?} in {facts}");
    }
    assert_eq!(out(&aside(&["dialects", "--model", "openai/gpt-oss-20b"])), facts);
    let both = out(&aside(&["dialects", "qwen3", "gpt-oss"]));
    assert!(both.starts_with("qwen3\n") && both.ends_with(&format!("\n{facts}")), "{both}");
    for (arguments, said) in [
        (&["dialects", "quen3"][..], "aside dialects: no dialect `quen3`; the nearest are qwen3"),
        (&["dialects", "zzzzzzz"], "aside dialects: no dialect `zzzzzzz`, and none with a name like it\n"),
        (&["dialects", "--model", "gpt-4o"], "`gpt-4o` is known to write no thinking"),
        (&["dialects", "qwen3", "--model", "qwq"], "cannot be used with"),
    ] {
        let output = aside(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(err(&output).contains(said), "{arguments:?}: {}", err(&output));
    }
}

#[test]
fn completions_and_manual_pages_are_generated() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = out(&aside(&["completions", shell]));
        for word in ["resplit", "--stray-close", "--responses-as"] {
            let word = if shell == "fish" { word.trim_start_matches('-') } else { word };
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    assert!(
        run(Command::new("bash").args(["-c", "source <(\"$0\" completions bash)", env!("CARGO_BIN_EXE_aside")]))
            .status
            .success()
    );
    assert_eq!(aside(&["completions", "tcsh"]).status.code(), Some(2));
    let page = out(&aside(&["man"]));
    assert!(page.starts_with(".ie ") && page.contains("aside\\-squeeze(1)"), "{page}");
    let folder = scratch("man").join("pages");
    assert!(aside(&["man", "--folder", folder.to_str().unwrap()]).status.success());
    for name in SUBCOMMANDS {
        let page = fs::read_to_string(folder.join(format!("aside-{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    assert_eq!(fs::read_to_string(folder.join("aside.1")).unwrap(), page);
    let output = aside(&["man", "--folder", "/dev/null/folder"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).starts_with("aside man: /dev/null/folder: "), "{}", err(&output));
}

/// Checks that the project's pages show the program's actual output.
#[test]
fn the_readme_of_the_program_is_true() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let mut blocks = 0;
    for block in readme.split("```console\n").skip(1).map(|block| block.split_once("```").unwrap().0) {
        let (line, wanted) = block.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
        let path = format!("{}:{}", scratch("bin").display(), std::env::var("PATH").unwrap());
        fs::create_dir_all(scratch("bin")).unwrap();
        let link = scratch("bin").join("aside");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_aside"), link).unwrap();
        let output =
            run(Command::new("bash").args(["-c", &format!("{{ {line}; }} 2>&1")]).env("PATH", path).current_dir(ROOT));
        assert_eq!(out(&output), wanted, "{line}");
        blocks += 1;
    }
    assert!(blocks >= 5, "{blocks} examples");
}

/// Checks that the manual's pictures show the program's output, and the figures that are on the pages.
#[test]
fn the_pictures_of_the_manual_are_true() {
    let mut command = Command::new("python3");
    command.args(["scripts/pictures", "--check"]).env("ASIDE", env!("CARGO_BIN_EXE_aside")).current_dir(ROOT);
    let output = run(&mut command);
    assert!(output.status.success(), "{}", err(&output));
}

/// Runs the commands on the pages, except those that need a file of the reader, or a whole build.
#[test]
fn commands_of_the_manual_run_as_written() {
    let mut pages = vec![format!("{ROOT}/README.md"), format!("{ROOT}/examples/recordings/README.md")];
    for entry in fs::read_dir(format!("{ROOT}/docs")).unwrap() {
        pages.push(entry.unwrap().path().display().to_string());
    }
    let mut ran = 0;
    for page in pages.iter().filter(|page| page.ends_with(".md")) {
        for line in fs::read_to_string(page).unwrap().lines() {
            let own = [
                "…",
                "mine.toml",
                "answer.",
                "chat_template",
                "tools.json",
                "-- cargo",
                "-- make",
                "--features",
                "--example",
            ];
            let Some(command) = line.strip_prefix("    ").filter(|line| !own.iter().any(|own| line.contains(own)))
            else {
                continue;
            };
            let Some(at) = command.find("cargo run ") else { continue };
            let (_, arguments) = command[at..].split_once(" -- ").unwrap();
            let line = format!("{}'{}' {arguments}", &command[..at], env!("CARGO_BIN_EXE_aside"));
            let output = run(Command::new("bash").args(["-c", &line]).current_dir(ROOT));
            assert!(output.status.success() && !output.stdout.is_empty(), "{page}: {command}: {}", err(&output));
            ran += 1;
        }
    }
    assert!(ran >= 5, "{ran} commands");
}
