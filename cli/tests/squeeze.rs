//! Runs `aside squeeze` as a user would: in a pipe, around a command, on a file.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use support::ROOT;
use support::program::{err, out, run, scratch};

#[test]
fn a_pipe_comes_out_shorter_and_says_so_if_asked() {
    let text = format!("{}make: *** [all] Error 1\n", "the same warning\n".repeat(200));
    let output = feed(&["--report", "--command", "make", "--exit-code", "2"], text.as_bytes());
    assert_eq!(out(&output), "the same warning\n[… 199 lines as above]\nmake: *** [all] Error 1\n");
    assert_eq!(err(&output), "aside squeeze: 3424 → 66 bytes, by repeats\n");
    assert!(output.status.success());
    assert_eq!(err(&feed(&[], text.as_bytes())), "");
    assert_eq!(out(&feed(&[], b"short")), "short");
    assert_eq!(out(&feed(&[], b"")), "");
}

#[test]
fn a_budget_holds_for_any_length() {
    let text: String = (0..200_000).map(|line| format!("line {line}\n")).collect();
    // In the last case, `--memory` is too small for the budget, so it is raised.
    for args in
        [&["--budget", "2k"][..], &["--budget", "2048", "--memory", "8k"], &["--budget", "2k", "--memory", "6k"]]
    {
        let result = out(&feed(args, text.as_bytes()));
        assert!(result.len() <= 2048, "{}", result.len());
        assert!(result.starts_with("line 0\n") && result.ends_with("line 199999\n"), "{result}");
    }
}

#[test]
fn a_budget_in_tokens_holds_too() {
    let text: String = (0..200_000).map(|line| format!("line {line}\n")).collect();
    for args in [&["--budget-tokens", "1k"][..], &["--budget-tokens", "1000", "--memory", "24k"]] {
        let result = out(&feed(args, text.as_bytes()));
        let tokens = aside::compress::estimated_tokens(result.as_bytes());
        assert!((800..=1000).contains(&tokens), "{tokens}");
    }
    let folder = scratch("tokens");
    let folder = folder.to_str().unwrap();
    let result = out(&feed(&["--budget-tokens", "600", "--memory", "1k", "--store", folder], text.as_bytes()));
    assert!(result.starts_with("[The whole text: ") && aside::compress::estimated_tokens(result.as_bytes()) <= 600);
}

#[test]
#[cfg(unix)]
fn a_command_is_run_and_its_status_kept() {
    let script = "i=0; while [ $i -lt 300 ]; do echo the same; i=$((i+1)); done; echo 'error: no' >&2; exit 7";
    let output = run(squeeze().args(["--report", "--", "sh", "-c", script]));
    assert_eq!(out(&output), "the same\n[… 299 lines as above]\nerror: no\n");
    assert_eq!(output.status.code(), Some(7));
    assert!(err(&output).starts_with("aside squeeze: 2710 → "), "{}", err(&output));
    assert_eq!(run(squeeze().args(["--", "/"])).status.code(), Some(126));
    let killed = run(squeeze().args(["--", "sh", "-c", "kill -9 $$"]));
    assert_eq!(killed.status.code(), Some(137));
    let missing = run(squeeze().args(["--", "/no/such/program"]));
    assert_eq!(missing.status.code(), Some(127));
    assert!(err(&missing).contains("/no/such/program"), "{}", err(&missing));
}

#[test]
#[cfg(unix)]
fn the_command_behind_the_dashes_selects_filters() {
    let filter = scratch("echo.toml");
    fs::write(&filter, "id = \"mine\"\n[[run]]\ncommand = [\"printf\"]\n[[rule]]\ndrop = ['^noise']\n").unwrap();
    let noise = "noise of its own\n".repeat(80).replace('\n', r"\n");
    let filter = filter.to_str().unwrap();
    let output = run(squeeze().args(["--filter", filter, "--report", "--", "printf", &format!("{noise}it's done")]));
    assert_eq!(out(&output), "[… 80 lines, 1,360 bytes left out]\nit's done");
    assert!(err(&output).ends_with("by mine\n"), "{}", err(&output));
}

#[test]
#[cfg(unix)]
fn bytes_that_are_no_text_and_output_without_end() {
    let bytes: Vec<u8> = (0..300_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
    let plain: Vec<u8> = bytes.iter().copied().filter(|byte| !b"\x1b\r\x08".contains(byte)).collect();
    assert!(feed(&["--budget", "4k"], &bytes).stdout.len() <= 4096);
    assert!(feed(&[], &plain).stdout.len() <= plain.len());
    // The reader has closed its end: the command ends because its pipe is closed, and its status counts.
    let script = format!("{PROGRAM} squeeze -- sh -c 'yes | head -200000; exit 3' | head -1; exit ${{PIPESTATUS[0]}}");
    let output = run(Command::new("bash").args(["-c", &script]));
    assert_eq!((out(&output).as_str(), output.status.code()), ("y\n", Some(3)));
    // A command without an end stops too, as the child or in a pipe.
    for ending in ["{} squeeze --memory 64k -- yes | head -2", "yes | {} squeeze --memory 64k | head -2"] {
        let script = format!("timeout 60 bash -c \"{ending}; exit \\${{PIPESTATUS[0]}}\"");
        let output = run(Command::new("bash").args(["-c", &script.replace("{}", PROGRAM)]));
        assert!(out(&output).starts_with("y\n[… "), "{}", out(&output));
        // The status of `yes`, which ended because its pipe was closed.
        assert_eq!(output.status.code(), Some(141), "{ending}");
    }
}

/// Checks that the program prints the manual's first example.
#[test]
fn the_first_screen_of_the_manual_is_true() {
    let manual = fs::read_to_string(Path::new(ROOT).join("docs/tool-results.md")).unwrap();
    let mut texts = manual.split("```text\n").skip(1).map(|text| text.split_once("```").unwrap().0);
    let (before, after) = (texts.next().unwrap(), texts.next().unwrap());
    let file = Path::new(ROOT).join("examples/outputs/phpunit.txt");
    let text = fs::read_to_string(&file).unwrap();
    for line in before.lines().filter(|line| !line.contains("more of these")) {
        assert!(text.lines().any(|printed| printed == line), "{line}");
    }
    assert!(manual.contains("-- squeeze examples/outputs/phpunit.txt\n"));
    let output = run(squeeze().arg("--report").arg(file));
    assert_eq!(out(&output), after);
    assert_eq!(err(&output), "aside squeeze: 5326 → 274 bytes, by phpunit\n");
    assert!(manual.contains(": 5,326 bytes") && manual.contains("has 274:"));
}

#[test]
fn wrong_use_is_an_error() {
    for (args, says) in [
        (&["--budget", "1k", "--budgets"][..], "a similar argument exists: '--budget'"),
        (&["--budget"], "a value is required for '--budget <N>'"),
        (&["--budget", "ten"], "'--budget <N>': not a size: write 512, 10k or 1m"),
        (&["--budget", "1000"], "aside squeeze: "),
        (&["--budget-tokens", "511"], "a budget of 511 tokens is too small: the least is 512"),
        (&["--budget-tokens", "ten"], "not a number: write 2500 or 10k"),
        (&["--memory", "1k"], "aside squeeze: a stream needs at least 4096 bytes of memory"),
        (&["--exit-code", "x"], "'--exit-code <N>'"),
        (&["--exit-code="], "'--exit-code <N>'"),
        (&["--budget="], "'--budget <N>'"),
        (&["--report=yes"], "'--report'"),
        (&["--command", "make", "--", "make"], "cannot be used with"),
        (&["build.log", "--", "make"], "cannot be used with"),
    ] {
        let output = run(squeeze().args(args));
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(err(&output).contains(says) && err(&output).contains("--help"), "{args:?}: {}", err(&output));
    }
    for args in [["--filter", "/no/such/file"], ["--budget=1k", "/no/such/file"]] {
        let output = run(squeeze().args(args));
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(err(&output), "aside squeeze: /no/such/file: No such file or directory\n");
    }
}

#[test]
fn a_file_is_read_as_a_pipe_is() {
    let path = scratch("build.log");
    fs::write(&path, "the same\n".repeat(300)).unwrap();
    let output = run(squeeze().arg(&path));
    assert_eq!(out(&output), "the same\n[… 299 lines as above]\n");
}

#[test]
fn values_come_apart_and_joined() {
    let text: String = (0..3000).map(|line| format!("line {line}\n")).collect();
    let filter = concat!(env!("CARGO_MANIFEST_DIR"), "/../filters/cargo.toml");
    for (option, value) in [
        ("--budget", "10k"),
        ("--budget", "10K"),
        ("--budget", "10240"),
        ("--budget", "1M"),
        ("--memory", "1m"),
        ("--command", "make A=1"),
        ("--exit-code", "-1"),
        ("--filter", filter),
    ] {
        let apart = feed(&[option, value, "--report"], text.as_bytes());
        let joined = feed(&[&format!("{option}={value}"), "--report"], text.as_bytes());
        assert!(apart.status.success(), "{option}: {}", err(&apart));
        assert_eq!((out(&apart), err(&apart)), (out(&joined), err(&joined)), "{option}");
    }
    assert!(feed(&["--budget=10k"], text.as_bytes()).stdout.len() <= 10 << 10);
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_aside");

fn squeeze() -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("squeeze");
    command
}

fn feed(args: &[&str], input: &[u8]) -> Output {
    support::program::feed(squeeze().args(args), input)
}

/// Checks that all of a line can be shown, however long it is, and that a search in it shows the text around each match.
#[test]
fn a_long_line_can_be_read_again() {
    let folder = scratch("store-long-line");
    let _ = fs::remove_dir_all(&folder);
    let folder = folder.to_str().unwrap();
    let words: String = (0..9000).map(|word| format!("é{word} ")).collect();
    let text = format!("first\n{words}\nlast\n");
    let result = out(&feed(&["--store", folder, "--budget", "2k"], text.as_bytes())).to_owned();
    let id = result.split(&format!("--store {folder} ")).nth(1).unwrap()[..12].to_owned();
    let output = |rest: &[&str]| run(Command::new(PROGRAM).args(["recall", "--store", folder, &id]).args(rest));
    let recall = |rest: &[&str]| out(&output(rest)).to_owned();
    // Each page names the next one, and no page divides a character.
    let (mut whole, mut range) = (String::new(), "2".to_owned());
    while !range.is_empty() {
        let page = recall(&[&range]);
        let (bytes, next) = page.split_once("\n[the next of ").unwrap_or((page.trim_end_matches('\n'), ""));
        whole += bytes;
        range =
            next.split_once(&format!("{} bytes of line 2: ", words.len() + 1)).map_or("", |(_, next)| next).to_owned();
        assert!(range.is_empty() || range.ends_with("; the next of 3 lines: 3-]\n"), "{range}");
        range = range.split(';').next().unwrap().to_owned();
    }
    assert!(whole == words && !whole.contains('\u{fffd}'));
    assert_eq!(recall(&[]), "first\n[the next of 3 lines: 2-]\n");
    assert_eq!(recall(&["2:1-6"]), "é0 é\n");
    assert_eq!(recall(&["2:99999-"]), "");
    assert!(err(&output(&["2:99999-"])).contains(&format!("line 2 has {} bytes", words.len() + 1)));
    let found = recall(&["--find", "é4242 "]);
    let (place, shown) = found.split_once(": ").unwrap();
    let (first, last) = place.strip_prefix("2:").unwrap().split_once('-').unwrap();
    assert!(shown.contains(" é4242 é4243 ") && shown.len() < 700 && found.lines().count() == 1, "{found}");
    let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
    assert_eq!(&format!("{}\n", &text["first\n".len()..][first - 1..last]), shown);
    assert_eq!(recall(&[&format!("2:{last}-"), "--find", "é4242 "]), "");
    // Two matches that are near each other are shown at once. If there are too many matches, the last line names the next one.
    assert_eq!(recall(&["--find", "é424"]).matches("é424").count(), 11);
    let many = recall(&["--find", "00 "]);
    assert!(many.lines().count() > 9 && many.lines().last().unwrap().starts_with("[the next of "), "{many}");
    for wrong in ["2:", "2:0-", "2-3:1-2", "2:9-7", ":4"] {
        assert!(err(&output(&[wrong])).contains("12:501-1400"), "{wrong}");
    }
}

#[test]
fn the_whole_text_can_be_read_again() {
    let folder = scratch("store");
    let _ = fs::remove_dir_all(&folder);
    let folder = folder.to_str().unwrap();
    let text: String = (1..=5000).map(|line| format!("line {line}\n")).collect();
    let result = feed(&["--store", folder, "--budget", "2k"], text.as_bytes());
    let result = out(&result);
    assert!(result.len() <= 2048, "{}", result.len());
    let head = result.lines().next().unwrap();
    let words: Vec<&str> = head.strip_prefix("[The whole text: aside ").unwrap().split(' ').collect();
    let ["recall", "--store", stored, id, "LINES]"] = words[..] else { panic!("{result}") };
    assert!(stored == folder && id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_digit()), "{head}");
    let recall = |rest: &[&str]| run(Command::new(PROGRAM).args(["recall", "--store", folder, id]).args(rest));
    // Each marker names the lines that it replaces, in the form that recall accepts: with these lines put back, the result is the
    // whole text.
    let (mut whole, mut markers) = (String::new(), 0);
    for line in result.lines().skip(1) {
        match line.strip_suffix(']').and_then(|line| line.split_once(" left out: lines ")) {
            Some((_, lines)) => {
                let (first, last) = lines.split_once('-').unwrap();
                let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
                for from in (first..=last).step_by(200) {
                    whole += &out(&recall(&[&format!("{from}-{}", last.min(from + 199))]));
                }
                markers += 1;
            }
            None => whole = whole + line + "\n",
        }
    }
    assert!(markers > 0 && whole == text, "{result}");
    assert_eq!(out(&recall(&["7-9"])), "line 7\nline 8\nline 9\n");
    assert_eq!(out(&recall(&["5000"])), "line 5000\n");
    assert_eq!(out(&recall(&["--find", "4242"])), "4242: line 4242\n");
    assert_eq!(
        out(&recall(&["4-20", "--find", "9", "--context", "1"])),
        "8- line 8\n9: line 9\n10- line 10\n--\n18- line 18\n19: line 19\n20- line 20\n"
    );
    assert_eq!(out(&recall(&["--find", "4999", "--context", "3"])).lines().count(), 5);
    assert_eq!(out(&recall(&["--find", "line", "--context", "99999999"])).lines().count(), 201);
    assert!(err(&recall(&["--context", "3"])).contains("--find"));
    let page = recall(&["4000-"]);
    assert!(
        out(&page).starts_with("line 4000\n") && out(&page).ends_with("line 4199\n[the next of 5000 lines: 4200-]\n")
    );
    assert_eq!(recall(&["0"]).status.code(), Some(2));
    assert_eq!(recall(&["9-7"]).status.code(), Some(2));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            (mode(Path::new(folder)), mode(&Path::new(folder).join(format!("{id}.aside-text")))),
            (0o700, 0o600)
        );
        // A symbolic link in the store is not followed, and an id cannot be a path.
        std::os::unix::fs::symlink("/etc/passwd", Path::new(folder).join("111111111111.aside-text")).unwrap();
        // A pipe without a writer does not block the program.
        let pipe = Path::new(folder).join("333333333333.aside-text");
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
        fs::write(Path::new(folder).join("abcdef"), "mine").unwrap();
        for id in ["111111111111", "333333333333", "abcdef", "../passwd", ""] {
            let output = run(Command::new(PROGRAM).args(["recall", "--store", folder, id]));
            assert_eq!((output.status.code(), out(&output).as_str()), (Some(1), ""), "{id}");
        }
    }
    // Reading does not create the folder.
    let none = format!("{folder}/new/folder");
    let output = run(Command::new(PROGRAM).args(["recall", "--store", &none, id]));
    assert_eq!((output.status.code(), Path::new(&none).exists()), (Some(1), false));
    assert_eq!(err(&output), format!("aside recall: {none}: No such file or directory\n"));
    for (lines, says) in [
        (&["99999"][..], "lines, and none of those that were asked for\n"),
        (&["99999-"], "has 5000 lines, and none"),
        (&["--find", "no such"], "none of those"),
    ] {
        let output = recall(lines);
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{lines:?}");
        assert!(err(&output).contains(says), "{}", err(&output));
    }
    // A text that is printed whole is not kept.
    let files = || fs::read_dir(folder).unwrap().count();
    let before = files();
    assert_eq!(out(&feed(&["--store", folder], b"short\n")), "short\n");
    // A text is not kept either if nothing of it is printed, because the options or the input are wrong.
    for wrong in [&["--budget=1k"][..], &["--budget-tokens=512"], &["--memory=1"], &["no/such/file"]] {
        let output = feed(&[&["--store", folder], wrong].concat(), text.as_bytes());
        let is_option = wrong[0].starts_with("--");
        assert_eq!(output.status.code(), Some(if is_option { 2 } else { 1 }), "{wrong:?}: {}", err(&output));
        assert_eq!(files(), before, "{wrong:?}");
    }
}

/// Checks that a store that cannot be made, is full, or disappears changes neither the command's output nor its status.
#[test]
#[cfg(unix)]
fn a_store_that_fails_is_only_said() {
    let (folder, reached) = (scratch("failing"), scratch("failing.reached"));
    let _ = fs::remove_dir_all(&folder);
    let print = "i=0; while [ $i -lt 12000 ]; do echo \"line $i of a build\"; i=$((i+1)); done; echo the important end";
    let removes = format!("{print}; rm -r '{}'; touch '{}'; exit 6", folder.display(), reached.display());
    let prints = format!("{print}; touch '{}'; exit 6", reached.display());
    let aside = |shell: &str, store: &[&str], options: &[&str], script: &str| {
        let _ = fs::remove_file(&reached);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{shell} exec \"$@\""), "sh", PROGRAM, "squeeze"]).args(store).args(options);
        let output = run(command.args(["--", "sh", "-c", script]));
        assert!(reached.exists(), "the command was ended: {}", err(&output));
        output
    };
    let store = ["--store", folder.to_str().unwrap()];
    let of_a_file = ["--store", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")];
    for options in [&[][..], &["--budget", "4k"], &["--memory", "16k"], &["--report"]] {
        let plain = aside("", &[], options, &prints);
        for (says, shell, store, script) in [
            ("File too large", "ulimit -f 8;", store, &prints),
            ("No such file or directory", "", store, &removes),
            ("File exists", "", of_a_file, &prints),
            // Standard error is full or closed.
            ("", "ulimit -f 8; exec 2>/dev/full;", store, &prints),
            ("", "ulimit -f 8; exec 2>&-;", store, &prints),
        ] {
            let output = aside(shell, &store, options, script);
            assert_eq!(output.status.code(), Some(6), "{options:?}, {says}: {}", err(&output));
            // An output that was written in parts may have begun with the id.
            let text = out(&output);
            let text = text.strip_prefix("[The whole text").map_or(&text[..], |text| text.split_once('\n').unwrap().1);
            match options {
                ["--budget", _] => {
                    assert!(text.ends_with("the important end\n") && text.len() <= 4096, "{says}: {text}")
                }
                ["--memory", _] => assert!(text.ends_with("the important end\n"), "{says}"),
                _ => assert!(out(&output) == out(&plain), "{says}: {} bytes of {}", text.len(), out(&plain).len()),
            }
            let line = format!("aside squeeze: the whole text is not kept: the store: {says}\n");
            // A text that is printed whole would not be kept.
            let is_whole = says.starts_with("No such") && !matches!(options, ["--budget" | "--memory", _]);
            let is_said = err(&output).starts_with(&line);
            assert!(is_said || says.is_empty() || is_whole, "{options:?}, {says}: {}", err(&output));
            let left = fs::read_dir(&folder).map_or(0, Iterator::count);
            assert!(left == 0 || says.starts_with("No such"), "{options:?}, {says}: {left} files are left");
        }
    }
}

#[test]
fn the_kind_of_a_file_is_said() {
    for (command, file, says) in [
        ("squeeze --filter", "dialects/qwen3.toml", "a dialect file, for aside split --dialect-file"),
        ("squeeze --filter", "servers/vllm.toml", "a server file, for aside history --server-file"),
        ("split --dialect-file", "filters/cargo.toml", "a filter file, for aside squeeze --filter"),
        ("history --server-file", "filters/cargo.toml", "a filter file, for aside squeeze --filter"),
        ("check", "servers/vllm.toml", "a server file, for aside history --server-file"),
    ] {
        let output = run(Command::new(PROGRAM).args(command.split(' ')).arg(file).current_dir(support::ROOT));
        let name = command.split(' ').next().unwrap();
        assert_eq!(err(&output), format!("aside {name}: {file}: this is {says}\n"));
        assert_eq!(output.status.code(), Some(1), "{command}");
    }
}

#[test]
fn a_command_is_told_from_a_file() {
    let output = run(squeeze().arg("make"));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(err(&output), "aside squeeze: make: there is no such file. To run a command: aside squeeze -- make\n");
}

#[test]
fn a_store_without_a_folder_is_the_users() {
    let state = scratch("state");
    let _ = fs::remove_dir_all(&state);
    let mut command = squeeze();
    let text: String = (1..=5000).map(|line| format!("line {line}\n")).collect();
    let output = support::program::feed(
        command.args(["--budget", "2k", "--store"]).env("XDG_STATE_HOME", &state),
        text.as_bytes(),
    );
    let id = out(&output).strip_prefix("[The whole text: aside recall ").unwrap()[..12].to_owned();
    let recalled = run(Command::new(PROGRAM).args(["recall", &id, "7-8"]).env("XDG_STATE_HOME", &state));
    assert_eq!(out(&recalled), "line 7\nline 8\n");
}
