//! Tests filter files. Every built-in file must pass its own tests, and an invalid file must be refused with a message that names
//! the line and the key.

#![cfg(feature = "compress")]

use std::{fs, path::Path};

use aside::compress::{Compressor, Input, Invocation, Outcome, Part, Registry, check_filter};

#[test]
fn built_in_files_pass_their_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("filters");
    let built_in = Registry::new();
    let ids: Vec<&str> = built_in.filter_ids().collect();
    let mut wrong = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name.starts_with('_') {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        // On Windows, Git may check out files with CR LF.
        for text in [text.replace('\n', "\r\n"), text] {
            if let Err(error) = check_filter(&text) {
                wrong.push(format!("{}: {error}", path.display()));
            }
        }
        assert!(ids.contains(&name.as_str()), "the filter of {name}.toml has another id");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_file_in_the_manual_passes_its_tests() {
    let manual = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/filters.md")).unwrap();
    let (_, rest) = manual.split_once("```toml\n").unwrap();
    let (file, _) = rest.split_once("```\n").unwrap();
    check_filter(file).unwrap();
}

/// Checks that the tests of built-in filters also pass if another program wraps the command, and if the output has colours and CR
/// LF.
#[test]
fn neither_wrappers_nor_colours_hide_an_output() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("filters");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut file: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let Some(tests) = file.get_mut("test").and_then(toml::Value::as_array_mut) else { continue };
        for test in tests {
            let test = test.as_table_mut().unwrap();
            if let Some(command) = test.get("command").and_then(toml::Value::as_str) {
                let command = command.replace('\'', "'\\''");
                let wrapped = format!("export A=1\ncd app && sudo -u bob \\\n  bash -c '{command}' 2>&1");
                test.insert("command".to_owned(), wrapped.into());
            }
            if test["kind"].as_str() != Some("look-alike") {
                let coloured = |line: &str| format!("\u{1b}[1;31m{line}\u{1b}[0m\r\n");
                test["input"] = test["input"].as_str().unwrap().lines().map(coloured).collect::<String>().into();
            }
        }
        if let Err(error) = check_filter(&toml::to_string(&file).unwrap()) {
            wrong.push(format!("{}: {error}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks that package scripts select the filter of their tool with every package manager.
#[test]
fn scripts_of_packages_select_the_filters_of_their_tools() {
    let commands = [
        ("jest", &["npm run test:unit", "npm t", "yarn workspace web test", "pnpm -r test", "bun run test:ci"][..]),
        ("vitest", &["npm run test:unit -- --run", "pnpm --filter web run test:unit", "yarn test:watch"]),
        ("mocha", &["npm run test:integration", "yarn test"]),
        ("node-test", &["npm test", "npm run -s test:node"]),
        ("playwright", &["npm run test:e2e", "pnpm run e2e:ci", "npx playwright test"]),
        ("eslint", &["npm run lint:fix", "yarn lint", "npx eslint ."]),
        ("tsc", &["npm run typecheck", "yarn tsc --noEmit", "pnpm exec tsc -b"]),
        ("minitest", &["bin/rails test:models", "bundle exec rake test:jobs"]),
    ];
    for (id, commands) in commands {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("filters/{id}.toml"));
        let mut file: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        for command in commands {
            for test in file["test"].as_array_mut().unwrap() {
                test.as_table_mut().unwrap()["command"] = (*command).into();
            }
            check_filter(&toml::to_string(&file).unwrap()).unwrap_or_else(|error| panic!("{id}: {error}"));
        }
        for command in ["npm run testing", "npm run build", "npm run tests-of-mine"] {
            for test in file["test"].as_array_mut().unwrap() {
                test.as_table_mut().unwrap()["command"] = command.into();
            }
            let error = check_filter(&toml::to_string(&file).unwrap()).unwrap_err();
            assert!(error.message().contains("does not select"), "{id}: {error}");
        }
    }
}

/// The lines of a valid file, which the tests break one by one.
const GOOD: [&str; 7] = [r#"id = "mine""#, "", "[[run]]", r#"command = ["mine"]"#, "", "[[rule]]", r"drop = ['^ok ']"];

/// Checks the error for the valid file with another text in one line, counted from 1.
fn refused(line: usize, text: &str, at: usize, key: &str, words: &str) {
    let mut lines = GOOD;
    lines[line - 1] = text;
    let file = lines.join("\n");
    let error = Registry::empty().add_toml(&file).expect_err(&file);
    assert_eq!((error.line(), error.key()), (Some(at), key), "{error}\n{file}");
    assert!(error.message().contains(words), "{error}\n{file}");
    assert!(error.to_string().starts_with(&format!("line {at}")), "{error}");
}

#[test]
fn wrong_files_are_refused_with_line_and_key() {
    let mut registry = Registry::empty();
    registry.add_toml(&GOOD.join("\n")).unwrap();
    assert_eq!(registry.filter_ids().collect::<Vec<_>>(), ["mine"]);
    refused(2, "colour = 1", 2, "colour", "unknown key `colour`");
    refused(1, r#"id = "My Filter""#, 1, "id", "small letters");
    let deep = ["a"; 100].join(".");
    refused(2, &format!("{deep} = 1"), 2, &deep, "too many parts");
    refused(4, r#"comand = ["mine"]"#, 4, "run.comand", "the nearest is `command`");
    refused(7, r"drop = ['^(ok ']", 7, "rule.drop", "unclosed group");
    refused(7, r"keep = ['^ok ', 1]", 7, "rule.keep", "takes a string in quotes");
    refused(7, "drop = ['a']\nkeep = ['b']", 6, "rule", "either");
    refused(7, "keep = ['a']\nfirst = 1", 6, "rule", "belong to `drop`");
    refused(7, "keep = ['a']\nleast = 1", 6, "rule", "belong to `drop`");
    refused(7, "drop = ['a']\nuntil = 'x'", 6, "rule", "needs a `from`");
    refused(7, "drop = ['a']\nfrom = '('", 8, "rule.from", "unclosed group");
    refused(7, "drop = ['[a-c]{1000000}']", 7, "rule.drop", "10485760 bytes");
    // If a pattern is long, the message shows only its fault.
    refused(7, &format!("drop = ['{}(']", "a".repeat(600)), 7, "rule.drop", "error: unclosed group");
    refused(7, "drop = ['a', '']", 7, "rule.drop", "write `'^'` for every line");
    refused(7, "keep = ['']", 7, "rule.keep", "write `'^'` for every line");
    refused(7, "drop = ['a']\nfrom = ''", 8, "rule.from", "write `'^'` for every line");
    refused(7, "drop = ['a', '(']", 7, "rule.drop", "unclosed group");
    refused(7, &format!("drop = ['{}']", "a".repeat(20_000)), 7, "rule.drop", "a pattern of more than 16384 bytes");
    refused(7, &format!("drop = [{}]", "'a',".repeat(5000)), 7, "rule.drop", "more than 4096 patterns");
    let rules = "drop = ['a']\n[[rule]]\n".repeat(1100) + "drop = ['a']";
    refused(7, &rules, 2054, "rule", "more than 1024 rules");
    let test = format!("\n[[test]]\nname='t'\nkind='pass'\ninput=''\ncommand = '{}'", "a".repeat(20_000));
    refused(7, &format!("drop = ['a']{test}"), 8, "test", "a command of more than 16384 bytes");
    let names = GOOD.join("\n").replace(r#"["mine"]"#, &format!("[{}]", "'a',".repeat(5000)));
    let error = Registry::empty().add_toml(&names).unwrap_err();
    assert_eq!(error.to_string(), "more than 4096 names in `tools` and the [[run]]s");
    // As with dialect files, the error says what to write instead.
    refused(3, "[run]", 3, "run", "write [[run]]");
    refused(6, "[rule]", 6, "rule", "write [[rule]]");
    refused(7, "drop = ['a']\n[test]\nname = 'x'", 8, "test", "write [[test]]");
    refused(7, "drop = ['a']\nbudget = true", 8, "rule.budget", "put `budget` above the first [[run]]");
    refused(7, "drop = '^ok '", 7, "rule.drop", "`drop` takes a list, not a string: write `drop = ['^ok ']`");
    refused(7, "drop = ['a']\nfirst = '1'", 8, "rule.first", "takes a whole number");
    refused(2, "drop = ['a']", 2, "drop", "put it below [[rule]]");
    refused(4, "", 3, "run", "this [[run]] has no `command`");
    let error = Registry::empty().add_toml("tools = ['t']").unwrap_err();
    assert_eq!(error.to_string(), "the file has no `id`");
    refused(7, "drop = ['''\n[ok]\na = 1\n''']\nform = 'x'", 11, "rule.form", "the nearest is `from`");
    let many = format!("id = 'a'\ntools = ['t']\n[[rule]]\ndrop = [{}]", "'[a-c]{100000}', ".repeat(9));
    assert!(Registry::empty().add_toml(&many).unwrap_err().message().starts_with("the patterns together: "));
    for key in ["run", "rule", "signature", "test"] {
        let error = Registry::empty().add_toml(&format!("id = 'a'\n{key} = [[['mine']]]")).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("line 2, {key}: `{key}` takes a table, not a list: write `{key} = {{ … }}`")
        );
    }
    for wrong in ["fallback = true\nbudget = true", "fallback = true\n[[run]]\ncommand = ['x']"] {
        let error = Registry::empty().add_toml(&format!("id = 'a'\n{wrong}\n[[rule]]\ndrop = ['a']")).unwrap_err();
        assert!(error.message().contains("`fallback` is for commands that no [[run]] names"), "{error}");
    }
    refused(4, "command = ['mine']\n[[signature]]\nopens = ['==']", 6, "signature.opens", "begins with `^`");
    refused(4, "command = ['mine']\n[[signature]]\nopens = ['^(']", 6, "signature.opens", "unclosed group");
    refused(4, "command = ['mine']\n[[signature]]\nopens = ['^a', '']", 6, "signature.opens", "an empty pattern");
    let closes = "command = ['mine']\n[[signature]]\nopens = ['^a']\ncloses = ['^[a-c]{20000}']";
    refused(4, closes, 7, "signature.closes", "262144 bytes");
    refused(4, "command = ['mine']\n[[signature]]\ncloses = ['^a']", 5, "signature", "has no `opens`");
    refused(2, "budget = true\n[[signature]]\nopens = ['^a']", 3, "signature", "always runs");
    Registry::empty().add_toml("id = 'a'\n[[signature]]\nopens = ['^a']\n[[rule]]\ndrop = ['a']").unwrap();
    for (file, words) in [("id = 'a'", "what the filter is for"), ("id = 'a'\ntools = ['t']", "no `[[rule]]`")] {
        let error = Registry::empty().add_toml(file).unwrap_err();
        assert!(error.message().contains(words), "{error}");
    }
}

/// Checks that a file's tests treat text in a machine format like a call does: the filter gets it unchanged or not at all.
#[test]
fn tests_of_a_file_see_what_a_call_would_show() {
    let check = |accepts: &str, end: &str| {
        let debug = format!("{{\\\"level\\\":\\\"debug\\\",\\\"n\\\":\\\"{}\\\"}}{end}", "0".repeat(60));
        let info = format!("{{\\\"level\\\":\\\"info\\\"}}{end}");
        let left = 84 + if end == "\\n" { 1 } else { 2 };
        let test = |kind: &str| {
            let output = format!("output = \"\\\"[… 1 line, {left} bytes left out]\\\"\\n{info}\"");
            format!("[[test]]\nname = \"t\"\nkind = \"{kind}\"\ncommand = \"x\"\ninput = \"{debug}{info}\"\n{output}\n")
        };
        let look_alike = "[[test]]\nname = \"l\"\nkind = \"look-alike\"\ncommand = \"x\"\ninput = \"debug\"\n";
        let rule = r#"drop = ['"debug".*\}$']"#;
        let tests = [test("pass"), test("fail"), look_alike.to_owned()].concat();
        check_filter(&format!("id = \"rows\"\ntools = [\"x\"]\n{accepts}\n[[rule]]\n{rule}\n{tests}"))
    };
    check("accepts = [\"ndjson\"]", "\\n").unwrap();
    for (accepts, end) in [("accepts = [\"ndjson\"]", "\\r\\n"), ("", "\\n")] {
        let error = check(accepts, end).unwrap_err();
        assert!(error.message().contains("the output is"), "{error}");
    }
}

#[test]
fn a_files_own_tests_are_run() {
    let test = |kind: &str, command: &str, output: &str| {
        format!(
            "\n[[test]]\nname = \"t\"\nkind = \"{kind}\"\ncommand = \"{command}\"\ninput = \"ok {}\\nbad\\n\"\n{output}\n",
            "x".repeat(40)
        )
    };
    let right = r#"output = "[… 1 line, 44 bytes left out]\nbad\n""#;
    let file = |tests: &[String]| format!("{}\n{}", GOOD.join("\n"), tests.concat());
    let all = [test("pass", "mine", right), test("fail", "sudo mine", right), test("look-alike", "mine | tail", "")];
    assert!(check_filter(&file(&all)).unwrap_err().message().contains("the output is"));
    let error = check_filter(&file(&all[..2])).unwrap_err();
    assert!(error.message().contains("look-alike"), "{error}");
    let other = [test("pass", "other", right), all[1].clone(), all[2].clone()];
    let error = check_filter(&file(&other)).unwrap_err();
    assert!(error.message().contains("does not select"), "{error}");
    assert_eq!(error.line(), Some(9));
}

/// Returns the filters that change this text if it is the output of this command.
fn used(registry: Registry, input: &Input, text: &str) -> Vec<String> {
    let result = Compressor::new(&registry).compress(&Invocation::new("bash", input), &[Part::Text(text.as_bytes())]);
    assert_eq!(result.parts[0] == Outcome::Same, result.report.filters.is_empty());
    result.report.filters
}

/// Checks that a fallback filter gets only lines on which no rule of another filter file has decided, and only if the command runs
/// a program.
#[test]
fn a_fallback_is_for_lines_that_no_other_filter_decided_on() {
    let ticks: String = (0..100).map(|line| format!("✓ the part number {line} of {}\n", line * 7)).collect();
    let filters = |command: &str| used(Registry::new(), &Input::of_command(command), &ticks);
    for command in
        ["./check", "cd app && ./check", "make", "sudo tools/check 2>&1", "./check; echo done", "make | tee log"]
    {
        assert_eq!(filters(command), ["passed"], "{command}");
    }
    for command in [
        "cat ticks.txt",
        "./check; cat ticks.txt",
        "sed -n 1,200p ticks.txt",
        "grep -r ✓ .",
        "git grep ✓",
        "rg ✓",
        "git log",
        "git show HEAD:ticks.txt",
        "git show",
        "git diff --no-index a b",
        "ls ✓*",
        "docker compose logs web",
        "journalctl -u shop",
        "./check | head -200",
        "./check | grep ✓",
        "./check | tail -200; ./check",
        "./check > ticks.txt",
        "case x in esac",
        "",
    ] {
        assert_eq!(filters(command), [""; 0], "{command}");
    }
    assert_eq!(used(Registry::new(), &Input::from_json("{}").unwrap(), &ticks), [""; 0]);
    // A `keep` rule in a host's file decides on the lines that it keeps, and only on these.
    for (rule, expected) in [("keep = ['✓']", &[][..]), ("drop = ['^no']", &["passed"])] {
        let mut registry = Registry::new();
        registry.add_toml(&format!("id = 'mine'\n[[run]]\ncommand = ['check']\n[[rule]]\n{rule}")).unwrap();
        assert_eq!(used(registry, &Input::of_command("./check"), &ticks), expected, "{rule}");
    }
    // Under `cargo run`, the output after the line `Running` is the program's, for which the fallback is not used.
    let ran = format!("     Running `target/debug/shop`\n{ticks}");
    assert_eq!(filters("cargo run"), ["passed"]);
    assert_eq!(used(Registry::new(), &Input::of_command("cargo run"), &ran), [""; 0]);
    // A fallback must not remove lines of hunks and error regions.
    let hunk: String = (0..100).map(|line| format!("+✓ the part number {line}\n")).collect();
    let hunk = format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,100 @@\n{hunk}");
    assert_eq!(used(Registry::new(), &Input::of_command("./check"), &hunk), [""; 0]);
}

/// Returns the error for a failing test with this rule, command, input and expected output.
fn told(rule: &str, command: &str, input: &str, output: &str) -> String {
    let test = |kind: &str, name: &str, command: &str, texts: String| {
        format!("[[test]]\nname = \"{name}\"\nkind = \"{kind}\"\ncommand = \"{command}\"\n{texts}\n")
    };
    let texts = |input: &str, output: &str| format!("input = '''\n{input}'''\noutput = '''\n{output}'''");
    let tests = [
        test("fail", "f", "mine", texts("bad\n", "bad\n")),
        test("look-alike", "l", "mine", "input = 'x'".to_owned()),
        test("pass", "told", command, texts(input, output)),
    ];
    let file = format!("id = 'mine'\n[[run]]\ncommand = ['mine']\n[[rule]]\n{rule}\n{}", tests.concat());
    check_filter(&file).unwrap_err().to_string()
}

#[test]
fn a_test_that_fails_says_what_is_different_and_why() {
    let ok = format!("ok {}\n", "x".repeat(60));
    let line = ok.trim_end();
    let said = told("drop = ['^ok ']", "mine", &format!("{ok}other\n"), "other\n");
    let marker = "[… 1 line, 64 bytes left out]";
    assert!(said.contains("told: the output is not what is expected\nexpected:\n    other\nactual:\n"), "{said}");
    assert!(said.contains(&format!("actual:\n    {marker}\n    other\ndifference")), "{said}");
    assert!(said.contains(&format!("difference from line 1 on (- expected, + actual):\n  + {marker}\n")), "{said}");
    let why = |rule: &str, command: &str, input: &str, output: &str, words: &str| {
        let said = told(rule, command, input, output);
        assert!(said.contains(words), "no {words:?} in: {said}");
    };
    let after = format!("{marker}\n");
    let stays = |words: &str| format!("line 1 of the input, `{line}`, stayed: {words}");
    why("drop = ['^nok ']", "mine", &ok, &after, &stays("no pattern of a rule matches it"));
    why("keep = ['^ok ']", "mine", &ok, &after, &stays("the rule on line 4 keeps it"));
    why("drop = ['^ok ']\nfirst = 1", "mine", &ok, &after, &stays("`first` or `last` of the rule on line 4 keeps it"));
    why("drop = ['^ok ']\nleast = 2", "mine", &ok, &after, &stays("it is in a run of fewer lines than the `least` of"));
    why(
        "drop = ['^ok ']\nfrom = '^begin'",
        "mine",
        &ok,
        &after,
        &stays("the rule on line 4 does not hold here: see its `from` and `until`"),
    );
    why("drop = ['^ok ']\nlast = 1", "mine | tail", &ok, &after, "`, stayed: the output comes from a pipe");
    let error = "x\nerror: bad\n  --> src/a.rs:3:5\n";
    let region = "stayed: the rule on line 4 would drop it, but it is in the error region of line 2";
    why("drop = ['^']", "mine", error, "x\n", &format!("line 2 of the input, `error: bad`, {region}"));
    why("drop = ['^']", "mine", error, "x\n", &format!("line 3 of the input, `  --> src/a.rs:3:5`, {region}"));
    why("drop = ['^ok']", "mine", "ok\nx\n", "x\n", "`ok`, stayed: the marker in its place would not be shorter");
    why("drop = ['^ok ']", "mine", &format!("{ok}x\n"), &format!("{ok}x\n"), "went: the rule on line 4 drops it");
    let hunk = format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{ok}+b\n");
    why(
        "drop = ['^-ok ']",
        "mine",
        &hunk,
        "x\n",
        "it is in a diff's hunk, and the rule on line 4 has no `hunks = true`",
    );
    let rows = "{\"a\": 1}\n".repeat(3);
    why("drop = ['^']", "mine", &rows, "x\n", "the input is text of a machine format");
    // Every failing test is reported.
    let test = |name: &str, output: &str| {
        format!("[[test]]\nname = '{name}'\nkind = 'pass'\ncommand = 'mine'\ninput = 'x'\noutput = '{output}'\n")
    };
    let tests = |names: std::ops::Range<usize>| names.map(|name| test(&format!("t{name}"), "y")).collect::<String>();
    let rest = "[[test]]\nname = 'f'\nkind = 'fail'\ncommand = 'mine'\ninput = 'x'\noutput = 'x'\n\
        [[test]]\nname = 'l'\nkind = 'look-alike'\ncommand = 'mine'\ninput = 'x'\n";
    let file = |tests: &str| format!("id = 'mine'\n[[run]]\ncommand = ['mine']\n[[rule]]\ndrop = ['a']\n{tests}{rest}");
    let said = check_filter(&file(&[tests(0..1), test("right", "x"), tests(1..2)].concat())).unwrap_err().to_string();
    let places = [6, 18].map(|line| format!("line {line}, test: t{}: the output is", line / 12));
    assert!(said.starts_with(&places[0]) && said.contains(&format!("\n\n{}", places[1])), "{said}");
    assert!(!said.contains("right:") && !said.contains("more tests"), "{said}");
    let said = check_filter(&file(&tests(0..11))).unwrap_err().to_string();
    assert!(said.ends_with("\n\nand 3 more tests fail") && said.contains("t7:") && !said.contains("t8:"), "{said}");
    // The message stays short even if the output differs in many long lines.
    let many: String = (0..5000).map(|line| format!("{line} {}\n", "é".repeat(500))).collect();
    let said = told("drop = ['^ok ']", "mine", &many, "x\n");
    assert!(said.len() < 8 << 10 && said.contains("… 4992 lines more"), "{said}");
}

/// Checks that rules match lines after labels that a program puts before the output of other programs, and after times before the
/// labels.
#[test]
fn labels_and_times_before_lines_hide_no_output() {
    let line = |at: usize| format!("✓ renders item {at} of {}", at * 7);
    for labels in [&["packages/ui test: ", "apps/web test: "][..], &["@shop/ui:test: "], &["web  | ", "db   | "]] {
        for time in ["", "2024-11-02T10:00:00.1234567Z ", "10:00:01 "] {
            let text: String =
                (0..100).map(|at| format!("{time}{}{}\n", labels[at % labels.len()], line(at))).collect();
            let text = text + time + labels[0] + "Failed\n";
            for command in ["pnpm -r test", "./ci", "docker compose up"] {
                let input = Input::of_command(command);
                let invocation = Invocation::new("bash", &input);
                let parts = [Part::Text(text.as_bytes())];
                let result = Compressor::new(&Registry::new()).compress(&invocation, &parts);
                let Outcome::Text(left) = &result.parts[0] else { panic!("{command}: {text}") };
                assert!(left.len() < text.len() / 3, "{command}: {}", String::from_utf8_lossy(left));
                assert!(left.ends_with(b"Failed\n"));
            }
        }
    }
    let text: String = (0..100).map(|at| format!("error: {}\n", line(at))).collect();
    assert_eq!(used(Registry::new(), &Input::of_command("./ci"), &text), [""; 0]);
}

/// Returns the data of the built-in files: the id, whether it has a signature, and its tests.
fn built_in_tests() -> Vec<(String, bool, Vec<toml::Value>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("filters");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        paths.filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('_')).collect();
    paths.sort();
    let read = |path| {
        let file: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
        let tests = file["test"].as_array().unwrap().clone();
        (file["id"].as_str().unwrap().to_owned(), file.contains_key("signature"), tests)
    };
    paths.iter().map(read).collect()
}

/// Returns lines that no filter recognises.
fn plain(first: usize, count: usize) -> String {
    (first..first + count).map(|line| format!("the worker took the job number {} from the queue\n", line * 7)).collect()
}

/// Checks that every tool with a signature is recognised by its output, between other lines and after other commands.
#[test]
fn a_tool_is_known_by_what_it_prints() {
    let mut wrong = Vec::new();
    for (id, _, tests) in built_in_tests().into_iter().filter(|(_, has_signature, _)| *has_signature) {
        let mut inputs = tests.iter().filter(|test| test["kind"].as_str() != Some("look-alike"));
        let is_known = |test: &toml::Value| {
            // The output is repeated, so that the removed text is longer than a banner.
            let text = (plain(0, 9) + test["input"].as_str().unwrap()).repeat(9);
            let commands = ["./ci", "./prepare && ./run", ""];
            commands.iter().all(|command| used(Registry::new(), &Input::of_command(command), &text).contains(&id))
                && used(Registry::new(), &Input::from_json("{}").unwrap(), &text).contains(&id)
        };
        if !inputs.any(is_known) {
            wrong.push(id);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Checks that lines that only resemble a tool's output do not begin a section of the tool.
#[test]
fn what_looks_like_a_tool_opens_no_section() {
    let mut wrong = Vec::new();
    for (id, _, tests) in built_in_tests() {
        for test in tests.iter().filter(|test| test["kind"].as_str() == Some("look-alike")) {
            let text = plain(0, 30) + test["input"].as_str().unwrap() + &plain(30, 30);
            let filters = used(Registry::new(), &Input::of_command(""), &text);
            if !filters.is_empty() {
                wrong.push(format!("{id}, {}: {filters:?}", test["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns an output of pytest, which is recognised by its signature.
fn pytest(first: usize, count: usize) -> String {
    let test = |test: usize| format!("tests/test_m{}.py::test_item_{test} PASSED       [ {}%]\n", test % 9, test % 100);
    let tests: String = (first..first + count).map(test).collect();
    format!("=== test session starts ===\ncollected {count} items\n\n{tests}\n=== {count} passed in 3.20s ===\n")
}

/// Returns the result for this text if it is the output of this command.
fn left(input: &Input, text: &str) -> String {
    let compressor = Compressor::new(&Registry::new());
    match &compressor.compress(&Invocation::new("bash", input), &[Part::Text(text.as_bytes())]).parts[0] {
        Outcome::Text(left) => String::from_utf8_lossy(left).into_owned(),
        _ => text.to_owned(),
    }
}

#[test]
fn a_compound_command_has_several_sections() {
    let cargo: String = (0..60).map(|test| format!("test cart::item_{test} ... ok\n")).collect();
    let cargo = format!(
        "   Compiling shop v1.2.0 (/srv/shop)\nrunning 60 tests\n{cargo}\ntest result: ok. 60 passed; 0 failed\n"
    );
    // After a verdict and before the next opener, there is no section, so lines that resemble a tool's output stay.
    let between = "tests/test_z.py::test_z PASSED [ 50%]\ntests/test_y.py::test_y PASSED [ 51%]\n";
    let text = pytest(0, 60) + &plain(0, 5) + between + &cargo + &pytest(60, 60);
    for command in ["npm ci && pytest -v && cargo test && pytest", "make check", "./ci.sh", ""] {
        let left = left(&Input::of_command(command), &text);
        assert!(left.len() < text.len() / 4, "{command}: {left}");
        let verdicts = ["test result: ok. 60 passed; 0 failed", "=== 60 passed in 3.20s ==="];
        for line in ["collected 60 items", "running 60 tests"].into_iter().chain(verdicts) {
            assert!(left.lines().any(|other| other == line), "{line}: {left}");
        }
        assert!(left.contains(&(plain(0, 5) + between)), "{left}");
    }
}

#[test]
fn what_was_read_has_no_sections() {
    let text = pytest(0, 100);
    for command in [
        "cat log.txt",
        "grep -n '' log.txt",
        "git diff",
        "git show HEAD",
        "tail -n 300 log.txt",
        "pytest; cat log.txt",
        "ls",
    ] {
        assert_eq!(left(&Input::of_command(command), &text), text, "{command}");
    }
    for input in [r#"{"file_path": "log.txt"}"#, r#"{"pattern": "test", "path": "."}"#, r#"{"url": "x"}"#] {
        assert_eq!(left(&Input::from_json(input).unwrap(), &text), text, "{input}");
    }
    let hunk: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let hunk = format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,{} @@\n{hunk}", text.lines().count());
    assert_eq!(left(&Input::of_command("./show"), &hunk), hunk);
    // An opener alone does not begin a section, and neither does one without another line of its tool in the next fifty lines.
    let far = "=== test session starts ===\n".to_owned()
        + &plain(0, 60)
        + "tests/a.py::b PASSED [ 1%]\ntests/a.py::c PASSED [ 2%]\n";
    assert_eq!(used(Registry::new(), &Input::of_command("make all"), &far), [""; 0]);
}

/// Checks that a test without a command tests the signature.
#[test]
fn tests_of_a_file_may_be_for_its_signature() {
    let check = |opener: &str| {
        let line = |name: &str| format!("fine {name}{}\n", "x".repeat(40));
        let input = format!("== mine\n{}{}bad\n", line("a"), line("b"));
        let test = |kind: &str| {
            let output = "== mine\n[… 2 lines, 94 bytes left out]\nbad\n";
            format!("[[test]]\nname = 't'\nkind = '{kind}'\ninput = '''\n{input}'''\noutput = '''\n{output}'''\n")
        };
        let look_alike = format!("[[test]]\nname = 'l'\nkind = 'look-alike'\ninput = '''\n{}'''\n", line("a"));
        let file = format!("id = 'mine'\n[[signature]]\nopens = ['{opener}']\n[[rule]]\ndrop = ['^fine ']\n");
        check_filter(&(file + &test("pass") + &test("fail") + &look_alike))
    };
    check("^== mine$").unwrap();
    let error = check("^== yours$").unwrap_err();
    assert!(error.message().contains("no [[signature]] opens a section"), "{error}");
}
