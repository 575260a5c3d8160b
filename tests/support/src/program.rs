//! Finds the programs of examples, and runs programs.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::{env, fs};

/// Returns the path of an example's program. Cargo builds the examples with the tests, but not for `cargo test --test NAME`, so
/// cargo is called again here, which is fast if the program exists.
pub fn of_example(example: &str) -> PathBuf {
    // <target>[/<triple>]/<profile>/deps/<test>-<hash>
    let test = env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program = profile.join("examples").join(format!("{example}{}", env::consts::EXE_SUFFIX));
    if let Some(cargo) = env::var_os("CARGO") {
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--example", example]).current_dir(crate::ROOT);
        let name = profile.file_name().unwrap();
        build.arg("--profile").arg(if name == OsStr::new("debug") { OsStr::new("dev") } else { name });
        // The program is built with the profile of the test.
        if cfg!(feature = "templates") {
            build.args(["--features", "templates"]);
        }
        let mut target = profile.parent().unwrap();
        if !target.join(".rustc_info.json").exists() {
            build.arg("--target").arg(target.file_name().unwrap());
            target = target.parent().unwrap();
        }
        let built = build.arg("--target-dir").arg(target).status().unwrap();
        assert!(built.success(), "cargo could not build the example");
    }
    assert!(program.exists(), "{} is not there: run `cargo build --example {example}`", program.display());
    program
}

/// Runs without input.
pub fn run(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap()
}

pub fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs with a short text as standard input.
pub fn feed(command: &mut Command, input: &[u8]) -> Output {
    let mut child = spawn(command);
    // A program that refuses its options does not read its input, so writing may fail.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Returns an empty folder of this test run.
pub fn empty(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns a command for a program, for a user with this home folder.
pub fn at_home(program: &str, home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(home).env("HOME", home).env("XDG_STATE_HOME", home.join("state"));
    command.env_remove("CLAUDE_CONFIG_DIR");
    command
}

/// Returns the path of a file of this test run.
pub fn scratch(name: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let folder = test.ancestors().nth(3).unwrap().join("tmp");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}
