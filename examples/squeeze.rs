//! Makes the output of a command shorter, for a model to read: the compressor of the library as a command.
//!
//!     cargo test 2>&1 | squeeze --budget 10k --command 'cargo test'
//!     squeeze --budget 10k -- cargo test
//!
//! The function `squeeze` below shows how a host uses a stream; the rest is options.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Read, Write};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::{env, fs};

use aside::compress::{Compressor, Input, Registry, Report, Stream, check_filter};

const HELP: &str = "\
Makes what a command printed shorter, for a model to read.

Usage: command 2>&1 | squeeze [OPTIONS]
       squeeze [OPTIONS] -- command …      runs it, and exits as it does
       squeeze --check FILE…               runs the tests in filter files

  --budget N        at most N bytes come out: 1024, 10k, 1m (k is 1,024 bytes, m 1,048,576).
                    Without it only repeats and the like go
  --command LINE    the command line that printed it; after -- it is known
  --exit-code N     what that exited with
  --filter FILE     one filter more, in TOML
  --memory N        bytes of output to hold; longer output is cut as it goes (64m). In all it may
                    take some times as much
  --report          say on standard error what was done
  -h, --help, -V, --version

Values are written --budget 10k or --budget=10k.
";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        // Whoever reads our output has seen enough (`| head -1`).
        Err(Stop::PipeClosed) => ExitCode::SUCCESS,
        Err(Stop::Failed(message)) => say(&message, 1),
        Err(Stop::NotRun(message, code)) => say(&message, code),
        Err(Stop::Usage(message)) => say(&format!("{message}\nTry `squeeze --help`."), 2),
    }
}

fn say(message: &str, code: u8) -> ExitCode {
    let _ = writeln!(io::stderr(), "squeeze: {message}");
    ExitCode::from(code)
}

enum Stop {
    PipeClosed,
    Failed(String),
    /// The command cannot be run. The code is that of a shell.
    NotRun(String, u8),
    Usage(String),
}

struct Settings {
    budget: Option<usize>,
    memory: usize,
    line: Option<String>,
    exit_code: Option<i64>,
    filters: Vec<OsString>,
    report: bool,
    /// The command to run; standard input if there is none.
    program: Vec<OsString>,
}

fn run() -> Result<ExitCode, Stop> {
    let mut settings = Settings {
        budget: None,
        memory: 64 << 20,
        line: None,
        exit_code: None,
        filters: Vec::new(),
        report: false,
        program: Vec::new(),
    };
    let mut args = env::args_os().skip(1);
    while let Some(arg) = args.next() {
        let (option, joined) = parts(&arg);
        let takes_value =
            ["--budget", "--memory", "--command", "--exit-code", "--filter", "--check"].contains(&option.as_str());
        if joined.is_some() && !takes_value {
            return Err(Stop::Usage(format!("{} is not an option, or takes no value", arg.display())));
        }
        let mut value = || {
            let value = joined.clone().or_else(|| args.next());
            value.ok_or_else(|| Stop::Usage(format!("{option} needs a value")))
        };
        match option.as_str() {
            "--budget" => settings.budget = Some(size(&value()?)?),
            "--memory" => settings.memory = size(&value()?)?,
            "--command" => settings.line = Some(value()?.to_string_lossy().into_owned()),
            "--exit-code" => settings.exit_code = Some(number(&value()?)?),
            "--filter" => settings.filters.push(value()?),
            "--report" => settings.report = true,
            "--check" => return check(joined.into_iter().chain(args)),
            "-h" | "--help" => return print(HELP),
            "-V" | "--version" => return print(concat!("squeeze ", env!("CARGO_PKG_VERSION"), "\n")),
            "--" => {
                settings.program = args.collect();
                if settings.program.is_empty() {
                    return Err(Stop::Usage("there is no command after --".to_owned()));
                }
                break;
            }
            _ => return Err(Stop::Usage(format!("{} is not an option", arg.display()))),
        }
    }
    squeeze(&settings)
}

/// An option and the value after its `=`, if it has one.
fn parts(arg: &OsStr) -> (String, Option<OsString>) {
    let text = arg.to_string_lossy();
    match text.split_once('=').filter(|(option, _)| option.starts_with("--")) {
        Some((option, value)) => (option.to_owned(), Some(value.into())),
        None => (text.into_owned(), None),
    }
}

/// Reads, feeds, writes: what every host does.
fn squeeze(settings: &Settings) -> Result<ExitCode, Stop> {
    let mut registry = Registry::new();
    for file in &settings.filters {
        registry.add_toml(&read(file)?).map_err(|error| Stop::Failed(format!("{}: {error}", file.display())))?;
    }
    let mut compressor = Compressor::new(registry);
    if let Some(budget) = settings.budget {
        compressor = compressor.budget(budget).map_err(|error| Stop::Usage(error.to_string()))?;
    }
    let line = settings.line.clone().unwrap_or_else(|| written(&settings.program));
    let mut call = serde_json::json!({ "command": line });
    if let Some(code) = settings.exit_code {
        call["exit_code"] = code.into();
    }
    let input = Input::from_json(&call.to_string()).map_err(|error| Stop::Failed(error.to_string()))?;
    let mut stream = Stream::new(Arc::new(compressor), "terminal", input, settings.memory)
        .map_err(|error| Stop::Usage(error.to_string()))?;

    let (mut source, child) = open(&settings.program)?;
    let mut output = io::stdout().lock();
    let mut failed = None;
    let mut chunk = vec![0; 64 * 1024];
    // Once nobody reads, nothing more is read either, so that a command without an end is told by its pipe.
    while failed.is_none() {
        match source.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => stream.feed(&chunk[..count], |bytes| write(&mut output, bytes, &mut failed)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Stop::Failed(format!("reading: {error}"))),
        }
    }
    drop(source);
    let report = stream.finish(|bytes| write(&mut output, bytes, &mut failed));
    if let Err(error) = output.flush() {
        failed.get_or_insert(error);
    }
    let status = child.map(|mut child| child.wait()).transpose();
    if settings.report {
        let _ = io::stderr().write_all(told(&report).as_bytes());
    }
    let code = status.map_err(|error| Stop::Failed(format!("waiting: {error}")))?.map_or(ExitCode::SUCCESS, exit);
    match failed {
        // The command's own status counts, even if nobody reads any more.
        Some(error) if error.kind() == ErrorKind::BrokenPipe && !settings.program.is_empty() => Ok(code),
        Some(error) if error.kind() == ErrorKind::BrokenPipe => Err(Stop::PipeClosed),
        Some(error) => Err(Stop::Failed(format!("writing: {error}"))),
        None => Ok(code),
    }
}

fn write(output: &mut impl Write, bytes: &[u8], failed: &mut Option<io::Error>) {
    if failed.is_none() {
        *failed = output.write_all(bytes).err();
    }
}

/// Standard input, or a command's output with its errors in between, as in a terminal.
fn open(program: &[OsString]) -> Result<(Box<dyn Read>, Option<Child>), Stop> {
    let Some((name, args)) = program.split_first() else { return Ok((Box::new(io::stdin()), None)) };
    let spawn = || -> io::Result<(io::PipeReader, Child)> {
        let (reader, writer) = io::pipe()?;
        // The command is dropped here with its ends of the pipe, so that reading sees the end.
        Ok((reader, Command::new(name).args(args).stdout(writer.try_clone()?).stderr(writer).spawn()?))
    };
    let (reader, child) = spawn().map_err(|error| {
        let code = if error.kind() == ErrorKind::NotFound { 127 } else { 126 };
        Stop::NotRun(format!("{}: {error}", name.display()), code)
    })?;
    Ok((Box::new(reader), Some(child)))
}

#[cfg(unix)]
fn exit(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    // As shells report that a signal ended it.
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(code as u8)
}

#[cfg(not(unix))]
fn exit(status: ExitStatus) -> ExitCode {
    ExitCode::from(status.code().unwrap_or(1) as u8)
}

/// Runs the tests of filter files.
fn check(files: impl Iterator<Item = OsString>) -> Result<ExitCode, Stop> {
    let (mut count, mut code) = (0, ExitCode::SUCCESS);
    for file in files {
        count += 1;
        match check_filter(&read(&file)?) {
            Ok(()) => _ = print(&format!("{}: ok\n", file.display()))?,
            Err(error) => code = say(&format!("{}: {error}", file.display()), 1),
        }
    }
    if count == 0 { Err(Stop::Usage("--check needs a file".to_owned())) } else { Ok(code) }
}

/// The report in words.
fn told(report: &Report) -> String {
    let mut text = format!("squeeze: {} → {} chars", report.before, report.after);
    if !report.filters.is_empty() {
        let _ = write!(text, ", by {}", report.filters.join(", "));
    }
    text.push('\n');
    for failed in &report.failed {
        let _ = writeln!(text, "squeeze: {} failed: {}", failed.filter, failed.reason);
    }
    if report.cut_protected {
        text.push_str("squeeze: text of a machine format was cut\n");
    }
    if report.unexplained {
        text.push_str("squeeze: it failed, and what is left says only that it passed\n");
    }
    text
}

/// A command as one would write it in a shell.
fn written(program: &[OsString]) -> String {
    let word = |word: &OsString| {
        let word = word.to_string_lossy();
        let plain =
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:+,@%".contains(&byte));
        if plain { word.into_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    program.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn size(text: &OsStr) -> Result<usize, Stop> {
    let wrong = || Stop::Usage(format!("{} is not a size", text.display()));
    let text = text.to_str().ok_or_else(wrong)?;
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(wrong)
}

fn number(text: &OsStr) -> Result<i64, Stop> {
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| Stop::Usage(format!("{} is not a number", text.display())))
}

fn read(file: &OsStr) -> Result<String, Stop> {
    let bytes = fs::read(file).map_err(|error| Stop::Failed(format!("{}: {error}", file.display())))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count();
        Stop::Failed(format!("{}: line {line}: not UTF-8", file.display()))
    })
}

fn print(text: &str) -> Result<ExitCode, Stop> {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Stop::PipeClosed),
        Err(error) => Err(Stop::Failed(format!("writing: {error}"))),
    }
}
