//! Runs the program as a whole: help, versions, unknown subcommands, the list of dialects, and generated files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::ROOT;
use support::program::{err, out, run, scratch};

fn aside(arguments: &[&str]) -> Output {
    run(Command::new(env!("CARGO_BIN_EXE_aside")).args(arguments))
}

const SUBCOMMANDS: [&str; 10] =
    ["split", "resplit", "history", "squeeze", "recall", "hook", "dialects", "check", "completions", "man"];

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
        assert_eq!(out(&aside(&["help", name])), out(&aside(&[name, "--help"])), "{name}");
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
    let said = err(&output);
    assert!(said.starts_with("aside: unrecognized subcommand 'splot'\n") && said.contains("'split'"), "{said}");
    assert!(said.ends_with("\nTry `aside --help`.\n"), "{said}");
    let output = aside(&[]);
    assert!(output.status.code() == Some(2) && err(&output).contains("Usage: aside <COMMAND>"), "{}", err(&output));
}

/// Checks that a subcommand of a feature is known without it.
#[test]
fn what_this_program_was_built_without() {
    for (name, feature, is_there) in [
        ("proxy", "proxy", cfg!(feature = "proxy")),
        ("mcp", "proxy", cfg!(feature = "proxy")),
        ("draft", "templates", cfg!(feature = "templates")),
    ] {
        assert!(out(&aside(&["--help"])).contains(&format!("  {name} ")));
        // With the feature, the command would start the proxy.
        let attempts = [&["--upstream", "http://x"][..], &["a.jinja"], &["--help"], &[]];
        for arguments in attempts.into_iter().filter(|_| !is_there) {
            let output = aside(&[&[name], arguments].concat());
            let said =
                format!("; in a checkout of its sources: cargo install --locked --path cli --features {feature}\n");
            let is_said = err(&output) == format!("aside {name}: this program was built without it{said}");
            assert!(is_said && output.status.code() == Some(2), "{name} {arguments:?}: {}", err(&output));
        }
    }
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
        (&["dialects", "nope"], "aside dialects: no dialect `nope`, and none with a name like it\n"),
        (&["dialects", "GLM"], "aside dialects: no dialect `GLM`; the nearest are glm-5, glm-4.5, glm-4.6\n"),
        (&["dialects", "kimi"], "aside dialects: no dialect `kimi`; the nearest are kimi-k2, kimi-k3, kimi-vl\n"),
        (&["dialects", "form"], "and none with a name like it"),
        (
            &["dialects", "--model", "qwen"],
            "no dialect is known for `qwen`; a similar name, qwen3, belongs to the dialect qwen3; ",
        ),
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
        // For two shells, the completions have no values of options.
        let has_names = !["elvish", "powershell"].contains(&shell);
        let names = ["qwen3-thinking", "gpt-oss", "vllm"].into_iter().filter(|_| has_names);
        for word in ["resplit", "--stray-close", "--responses-as"].into_iter().chain(names) {
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
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH EXAMPLES"), "{name}: {page}");
    }
    let squeeze = fs::read_to_string(folder.join("aside-squeeze.1")).unwrap();
    assert!(squeeze.contains(".SH FILES\n.TP\n\\fBFOLDER/ID.aside\\-text\\fR\n"), "{squeeze}");
    let split = fs::read_to_string(folder.join("aside-split.1")).unwrap();
    assert!(split.contains(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\n"), "{split}");
    assert_eq!(fs::read_to_string(folder.join("aside.1")).unwrap(), page);
    let output = aside(&["man", "--folder", "/dev/null/folder"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).starts_with("aside man: /dev/null/folder: "), "{}", err(&output));
}

/// Runs a line of a shell, in which `aside` is the program.
fn shell(line: &str, folder: &Path) -> Output {
    let program = format!("aside() {{ '{}' \"$@\"; }}; export -f aside; set -o pipefail", env!("CARGO_BIN_EXE_aside"));
    let mut command = Command::new("bash");
    command.args(["-c", &format!("{program}; {line}")]).current_dir(folder);
    // The tests do not use the state folder of the user who runs them.
    run(command.env("XDG_STATE_HOME", scratch("state")).env("HOME", scratch("home")))
}

/// Returns a folder with links to the files of a checkout, in which a test may write.
fn checkout(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for entry in ["examples", "dialects", "filters", "tests"] {
        std::os::unix::fs::symlink(Path::new(ROOT).join(entry), folder.join(entry)).unwrap();
    }
    folder
}

#[test]
fn the_examples_of_the_manual_pages_run() {
    let pages: toml::Table = toml::from_str(include_str!("../src/pages.toml")).unwrap();
    let folder = checkout("examples");
    let examples = pages.values().filter_map(|page| page.get("examples")?.as_array()).flatten();
    for example in examples.map(|example| example.as_str().unwrap()) {
        let output = shell(example, &folder);
        assert!(output.status.success(), "{example}: {}", err(&output));
    }
}

/// Checks that the project's pages show the program's actual output.
#[test]
fn the_readme_of_the_program_is_true() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let mut blocks = 0;
    for block in readme.split("```console\n").skip(1).map(|block| block.split_once("```").unwrap().0) {
        let (line, wanted) = block.strip_prefix("$ ").unwrap().split_once('\n').unwrap();
        let output = shell(&format!("{{ {line}; }} 2>&1"), ROOT.as_ref());
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

/// Runs the commands of the program on the pages of the manual. Their files are made here; a server only checks its settings.
#[test]
fn commands_of_the_manual_run_as_written() {
    let folder = checkout("manual");
    let lines: String = (0..300).map(|line| format!("CartTest {line} {}\n", "x".repeat(line))).collect();
    for (file, text) in [
        ("qwen3.jinja", fs::read_to_string(format!("{ROOT}/tests/templates/qwen3.jinja")).unwrap()),
        (
            "mine.toml",
            fs::read_to_string(format!("{ROOT}/dialects/qwen3.toml"))
                .unwrap()
                .replace("name = \"qwen3\"", "name = \"mine\""),
        ),
        ("answer.txt", "<think>hm</think>Yes.".to_owned()),
        ("answer.sse", fs::read_to_string(format!("{ROOT}/tests/sse/qwen3.sse")).unwrap()),
        ("tools.json", r#"[{"name": "f"}]"#.to_owned()),
        ("log.txt", lines),
        (".local/share/bash-completion/completions/aside", String::new()),
        // Programs whose output is squeezed.
        ("bin/make", "#!/bin/sh\necho made\n".to_owned()),
        ("bin/cargo", "#!/bin/sh\necho built\n".to_owned()),
    ] {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(file, mode).unwrap();
    }
    fs::copy(folder.join("qwen3.jinja"), folder.join("chat_template.jinja")).unwrap();
    let stored = shell("aside squeeze --store --budget 2k log.txt", &folder);
    let id = out(&stored).split("recall ").nth(1).unwrap()[..12].to_owned();

    let summary = fs::read_to_string(format!("{ROOT}/docs/SUMMARY.md")).unwrap();
    let links = summary.split("](").skip(1).map(|link| format!("docs/{}", link.split_once(')').unwrap().0));
    let mut ran = 0;
    for page in links.chain(["examples/recordings/README.md".to_owned()]) {
        for line in fs::read_to_string(Path::new(ROOT).join(&page)).unwrap().lines() {
            let Some(line) = line.strip_prefix("    ") else { continue };
            let Some(mut line) = command_of(line) else { continue };
            let has = |feature: &str| {
                cfg!(feature = "proxy") && feature == "proxy" || cfg!(feature = "templates") && feature != "proxy"
            };
            let needs = [
                ("aside proxy ", "proxy"),
                ("aside draft ", "templates"),
                ("--variables ", "templates"),
                ("--draft", "templates"),
            ];
            if needs.iter().any(|(word, feature)| line.contains(word) && !has(feature)) {
                continue;
            }
            if line.contains("aside proxy ") {
                line += " --check-config";
            }
            if page.ends_with("filters.md") {
                line = line.replace("mine.toml", "filters/cargo.toml");
            }
            let line = format!(
                "export HOME=$PWD PATH=$PWD/bin:$PATH ASIDE_PROXY_UPSTREAM=http://127.0.0.1:8000; {}",
                line.replace(" ID ", &format!(" {id} ")).replace('…', "make")
            );
            let output = shell(&line, &folder);
            assert!(output.status.success(), "{page}: {line}: {}", err(&output));
            ran += 1;
        }
    }
    assert!(ran >= 20, "{ran} commands");
}

/// Returns a line of a page as a command of the program, if it is one.
fn command_of(line: &str) -> Option<String> {
    let line = line.trim_start_matches("$ ");
    let line = line.split_once("    #").map_or(line, |(line, _)| line);
    if line.starts_with("cargo ") || line.contains("| cargo ") {
        let at = line.find("cargo run ")?;
        let (options, arguments) = line[at..].split_once(" -- ")?;
        // An example is a separate program.
        return (!options.contains("--example")).then(|| format!("{}aside {arguments}", &line[..at]));
    }
    // Commands of several lines need other programs.
    let is_whole = line.matches('\'').count().is_multiple_of(2);
    (is_whole && (line.starts_with("aside ") || line.contains("| aside "))).then(|| line.to_owned())
}
