//! Checks that a run that a signal ends prints the held text, and that the command gets the signal once: from a shell, from
//! `timeout`, from a terminal, from a parent that leads the process group.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use support::program::{err, out, scratch};

const PROGRAM: &str = env!("CARGO_BIN_EXE_aside");

/// Returns a shell command that prints a line when it begins, notes each signal in a file, and then runs `then`.
fn script(noted: &str, then: &str) -> String {
    format!(
        "for s in INT TERM HUP QUIT; do trap \"echo $s >>'{noted}'; {then}\" $s; done; \
         i=0; while [ $i -lt 300 ]; do echo 'the same'; i=$((i+1)); done; echo 'error: no such cart'; \
         echo begun >>'{noted}'; while :; do sleep 0.05; done"
    )
}

struct Run {
    child: Child,
    noted: PathBuf,
}

/// Starts `before... aside squeeze -- sh -c script`, and returns when the script waits.
fn start(name: &str, before: &[&str], then: &str) -> Run {
    start_by(name, before, "", then)
}

/// Starts the same command, with a program before `sh`.
fn start_by(name: &str, before: &[&str], by: &str, then: &str) -> Run {
    let noted = scratch(name);
    let _ = fs::remove_file(&noted);
    let script = script(noted.to_str().unwrap(), then);
    // The parent of the tests may ignore signals, as `nohup` does, and a shell cannot undo that.
    let plain = ["env", "--default-signal"];
    let run: Vec<&str> = by.split_whitespace().chain(["sh", "-c", &script]).collect();
    let words: Vec<&str> = [&plain, before, &[PROGRAM, "squeeze", "--budget", "1k", "--"], &run].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = Run { child: command.spawn().unwrap(), noted };
    run.until("begun");
    run
}

impl Run {
    fn noted(&self) -> Vec<String> {
        fs::read_to_string(&self.noted).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    fn until(&self, word: &str) {
        let begin = Instant::now();
        while !self.noted().iter().any(|noted| noted == word) {
            assert!(begin.elapsed() < Duration::from_secs(60), "no {word}: {:?}", self.noted());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn kill(&self, signal: &str) {
        send(signal, &self.child.id().to_string());
    }

    /// Returns the output, and the signals that the command got after it had begun.
    fn end(self) -> (Output, Vec<String>) {
        let noted = self.noted.clone();
        let output = self.child.wait_with_output().unwrap();
        let noted = fs::read_to_string(noted).unwrap();
        (output, noted.lines().filter(|line| *line != "begun").map(str::to_owned).collect())
    }
}

fn send(signal: &str, to: &str) {
    assert!(Command::new("kill").args(["-s", signal, "--", to]).status().unwrap().success());
}

const HELD: &str = "the same\n[… 299 lines as above]\nerror: no such cart\n";

#[test]
fn a_signal_reaches_the_command_once_and_what_is_held_comes_out() {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        // The shell's command ends itself with the signal, like programs that clean up first.
        let run = start(&format!("once-{signal}"), &[], "trap - $s; kill -s $s $$");
        run.kill(signal);
        let (output, noted) = run.end();
        assert_eq!(out(&output), HELD, "{signal}: {}", err(&output));
        assert_eq!(output.status.code(), Some(128 + number), "{signal}");
        assert_eq!(noted, [signal]);
    }
}

#[test]
fn a_command_that_ends_well_after_a_signal_has_ended_well() {
    let run = start("well", &[], "exit 0");
    run.kill("TERM");
    let (output, noted) = run.end();
    assert_eq!((out(&output).as_str(), output.status.code()), (HELD, Some(0)));
    assert_eq!(noted, ["TERM"]);
}

#[test]
fn a_second_signal_reaches_the_command_and_ends_the_run() {
    for second in ["INT", "TERM"] {
        // This is so whatever the command does with the signal.
        for (then, status) in
            [(":", if second == "INT" { 130 } else { 143 }), ("n=\\$((n+1)); [ \\$n -lt 2 ] || exit 9", 9)]
        {
            let run = start(&format!("second-{second}-{status}"), &[], then);
            run.kill("TERM");
            run.until("TERM");
            let shell = child_of(run.child.id());
            let noted = run.noted.clone();
            run.kill(second);
            let (output, _) = run.end();
            assert_eq!((out(&output).as_str(), output.status.code()), (HELD, Some(status)), "{second}");
            if then == ":" {
                send("KILL", &shell);
            }
            assert_eq!(fs::read_to_string(noted).unwrap(), format!("begun\nTERM\n{second}\n"));
        }
    }
}

/// Starts a parent in one of several languages, which leads its group, sends signals to its child, and ends as the child does.
fn lead(name: &str, leader: &[&str], then: &str) -> Run {
    let noted = scratch(name);
    let _ = fs::remove_file(&noted);
    let script = script(noted.to_str().unwrap(), then);
    let mut command = Command::new(leader[0]);
    command.args(&leader[1..]).args([
        "env",
        "--default-signal",
        PROGRAM,
        "squeeze",
        "--budget",
        "1k",
        "--",
        "sh",
        "-c",
    ]);
    command.arg(script).process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = Run { child: command.spawn().unwrap(), noted };
    run.until("begun");
    run
}

/// Parents that read names of signals and send each signal to their child. A shell's children in the background ignore SIGINT and
/// SIGQUIT.
const LEADERS: [&[&str]; 3] = [
    &["sh", "-c", "\"$@\" & while read s; do kill -s $s $!; done; wait $!", "sh"],
    &[
        "python3",
        "-c",
        "import signal, subprocess, sys\n\
         child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)\n\
         for name in sys.stdin: child.send_signal(signal.Signals['SIG' + name.strip()])\n\
         sys.exit(child.wait())",
    ],
    &[
        "node",
        "-e",
        "const child = require('child_process').spawn(process.argv[1], process.argv.slice(2), {stdio: ['ignore', 'inherit', 'inherit']});\n\
         require('readline').createInterface({input: process.stdin}).on('line', (name) => child.kill('SIG' + name));\n\
         child.on('exit', (code) => process.exit(code));",
        "--",
    ],
];

#[test]
fn what_the_leader_of_the_group_sends_reaches_the_command() {
    for leader in LEADERS {
        if Command::new(leader[0]).arg("--version").output().is_err() {
            eprintln!("without {}", leader[0]);
            continue;
        }
        for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
            let mut run = lead(&format!("lead-{}-{signal}", leader[0]), leader, "trap - $s; kill -s $s $$");
            writeln!(run.child.stdin.as_ref().unwrap(), "{signal}").unwrap();
            drop(run.child.stdin.take());
            let (output, noted) = run.end();
            assert_eq!(out(&output), HELD, "{leader:?}, {signal}: {}", err(&output));
            assert_eq!((output.status.code(), noted), (Some(128 + number), vec![signal.to_owned()]), "{leader:?}");
        }
        // The same signal twice.
        let mut run = lead(&format!("lead-{}-twice", leader[0]), leader, "n=\\$((n+1)); [ \\$n -lt 2 ] || exit 9");
        writeln!(run.child.stdin.as_ref().unwrap(), "TERM").unwrap();
        run.until("TERM");
        writeln!(run.child.stdin.as_ref().unwrap(), "TERM").unwrap();
        drop(run.child.stdin.take());
        let (output, noted) = run.end();
        assert_eq!((output.status.code(), noted.len()), (Some(9), 2), "{leader:?}: {}", err(&output));
    }
}

/// Returns the number of a process's only child.
fn child_of(id: u32) -> String {
    fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap().trim().to_owned()
}

#[test]
fn what_timeout_sends_reaches_the_command_once() {
    // Sends the signal to the whole group; to a group that the command has left; and only to the program, as the leader of a group.
    for (name, before, command) in [
        ("all", &["timeout", "4"][..], ""),
        ("left", &["timeout", "4"], "setsid"),
        ("alone", &["setsid", "--wait", "timeout", "-s", "TERM", "--foreground", "4"], ""),
    ] {
        let run = start_by(&format!("timeout-{name}"), before, command, "exit 3");
        let (output, noted) = run.end();
        // The shell may add a line that its own command was ended.
        assert!(out(&output).starts_with(HELD), "{name}: {}", out(&output));
        assert_eq!(output.status.code(), Some(124), "{name}: {}", err(&output));
        assert_eq!(noted, ["TERM"], "{name}");
    }
}

#[test]
fn a_process_that_keeps_the_pipe_holds_nobody_up() {
    let noted = scratch("keeps");
    let _ = fs::remove_file(&noted);
    let path = noted.to_str().unwrap();
    let line = format!("(trap '' INT TERM HUP; sleep 30) & echo held; echo begun >'{path}'; sleep 30");
    let mut command = Command::new("env");
    command
        .args(["--default-signal", PROGRAM, "squeeze", "--", "sh", "-c", &line])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let run = Run { child: command.spawn().unwrap(), noted };
    run.until("begun");
    let begin = Instant::now();
    run.kill("TERM");
    let (output, _) = run.end();
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    assert_eq!((out(&output).as_str(), output.status.code()), ("held\n", Some(143)));
}

#[test]
fn a_pipe_that_is_read_gives_what_it_held_too() {
    let mut command = Command::new("env");
    command
        .args(["--default-signal", PROGRAM, "squeeze", "--budget", "1k"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    to.write_all("the same\n".repeat(300).as_bytes()).unwrap();
    to.write_all(b"error: no such cart\n").unwrap();
    // The program has read the text when the pipe is empty. The test cannot observe that, so it waits.
    thread::sleep(Duration::from_millis(500));
    send("TERM", &child.id().to_string());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), child.wait().unwrap().code()), (HELD, Some(143)));
}

/// Checks ctrl-C, which a terminal sends to all processes of its group.
#[test]
fn what_a_terminal_sends_is_not_sent_again() {
    let noted = scratch("terminal");
    let _ = fs::remove_file(&noted);
    let inner = scratch("terminal.sh");
    fs::write(&inner, script(noted.to_str().unwrap(), "trap - $s; kill -s $s $$")).unwrap();
    let line = format!("env --default-signal '{PROGRAM}' squeeze --budget 1k -- sh '{}'", inner.display());
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).env("SHELL", "/bin/bash");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut run = Run { child, noted };
    run.until("begun");
    let mut keys = run.child.stdin.take().unwrap();
    keys.write_all(b"\x03").unwrap();
    keys.flush().unwrap();
    let (output, noted) = run.end();
    assert_eq!(noted, ["INT"], "{}", out(&output));
    assert!(out(&output).contains("error: no such cart"), "{}", out(&output));
}

#[test]
fn a_signal_that_is_ignored_stays_so() {
    let run = start("nohup", &["nohup"], "exit 4");
    run.kill("HUP");
    thread::sleep(Duration::from_millis(300));
    assert!(!run.noted().iter().any(|noted| noted == "HUP"));
    run.kill("TERM");
    let (output, _) = run.end();
    assert_eq!((out(&output).as_str(), output.status.code()), (HELD, Some(4)));
}
