//! `aside squeeze`: makes the output of a command shorter, in a pipe or around the command.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::Arc;

use aside::compress::{Compressor, Input, Registry, Report, ToolStream};
use clap::Args;

use crate::files::{self, READ, read_text};
use crate::output::{Output, say};
use crate::size;
use crate::stop::Stop;

/// Makes what a command printed shorter, for a model to read
///
/// In a pipe: make 2>&1 | aside squeeze --command make. Around the command, whose exit status it returns: aside squeeze -- make.
#[derive(Args)]
#[command(override_usage = "aside squeeze [OPTIONS] [FILE]\n       aside squeeze [OPTIONS] -- COMMAND...")]
pub struct Arguments {
    /// What the command printed; without FILE, or with -, standard input
    #[arg(conflicts_with = "program")]
    file: Option<PathBuf>,

    /// At most N bytes come out: 1024, 10k, 1m. Without it, only repeats and the like go
    #[arg(long, value_name = "N", value_parser = size::parse)]
    budget: Option<usize>,

    /// The command line that printed the text; after -- it is known
    #[arg(long, value_name = "LINE", conflicts_with = "program")]
    command: Option<String>,

    /// What that command exited with
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "program")]
    exit_code: Option<i64>,

    /// A filter file of your own, in TOML; may be given several times
    #[arg(long = "filter", value_name = "FILE")]
    filters: Vec<PathBuf>,

    /// Bytes of output to hold; longer output is cut as it goes. In all it may take some times as much
    #[arg(long, value_name = "N", value_parser = size::parse, default_value = "64m")]
    memory: usize,

    /// Says on standard error what was done
    #[arg(long)]
    report: bool,

    /// The command to run, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    program: Vec<OsString>,
}

/// Reads, feeds, writes: what every host does.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Stop> {
    let mut registry = Registry::new();
    for file in &arguments.filters {
        registry.add_toml(&read_text(file)?).map_err(|error| Stop::Failed(format!("{}: {error}", file.display())))?;
    }
    let mut compressor = Compressor::new(&registry);
    if let Some(budget) = arguments.budget {
        compressor = compressor.budget(budget).map_err(|error| Stop::Usage(error.to_string()))?;
    }
    let line = arguments.command.clone().unwrap_or_else(|| written(&arguments.program));
    let mut call = serde_json::json!({ "command": line });
    if let Some(code) = arguments.exit_code {
        call["exit_code"] = code.into();
    }
    let input = Input::from_json(&call.to_string()).map_err(|error| Stop::Failed(error.to_string()))?;
    let mut stream = ToolStream::new(Arc::new(compressor), "terminal", input, arguments.memory)
        .map_err(|error| Stop::Usage(error.to_string()))?;

    let (mut source, child) = open(arguments)?;
    let mut output = Output::new();
    let mut failed = None;
    let mut chunk = vec![0; READ];
    // Once nobody reads, nothing more is read either, so that a command without an end is told by its pipe.
    while failed.is_none() {
        match source.read(&mut chunk)? {
            0 => break,
            len => stream.feed(&chunk[..len], |bytes| write(&mut output, bytes, &mut failed)),
        }
    }
    drop(source);
    // The code is known last, and says how the end is read.
    let status = child.map(|mut child| child.wait()).transpose().map_err(|error| Stop::io("waiting", &error))?;
    if let Some(status) = status {
        stream.set_exit_code(code_of(status).into());
    }
    let report = stream.finish(|bytes| write(&mut output, bytes, &mut failed));
    if failed.is_none() {
        failed = output.finish().err();
    }
    if arguments.report {
        say(&told(&report));
    }
    let code = status.map_or(ExitCode::SUCCESS, |status| ExitCode::from(code_of(status)));
    match failed {
        // The command's own status counts, even if nobody reads any more.
        Some(Stop::PipeClosed) if !arguments.program.is_empty() => Ok(code),
        Some(stop) => Err(stop),
        None => Ok(code),
    }
}

fn write(output: &mut Output, bytes: &[u8], failed: &mut Option<Stop>) {
    if failed.is_none() {
        *failed = output.write(bytes).err();
    }
}

/// Opens the file, or a command's output with its errors in between, as in a terminal.
fn open(arguments: &Arguments) -> Result<(files::Input, Option<Child>), Stop> {
    let Some((name, args)) = arguments.program.split_first() else {
        return Ok((files::Input::open(arguments.file.as_deref())?, None));
    };
    let spawn = || -> io::Result<(io::PipeReader, Child)> {
        let (reader, writer) = io::pipe()?;
        // The command is dropped here with its ends of the pipe, so that reading sees the end.
        Ok((reader, Command::new(name).args(args).stdout(writer.try_clone()?).stderr(writer).spawn()?))
    };
    let (reader, child) = spawn().map_err(|error| {
        let code = if error.kind() == ErrorKind::NotFound { 127 } else { 126 };
        Stop::NotRun(format!("{}: {error}", name.display()), code)
    })?;
    Ok((files::Input::new(reader, &name.display().to_string()), Some(child)))
}

/// Returns the exit code of a command that has ended.
#[cfg(unix)]
fn code_of(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    // As shells report that a signal ended it.
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    code as u8
}

#[cfg(not(unix))]
fn code_of(status: ExitStatus) -> u8 {
    status.code().unwrap_or(1) as u8
}

/// The report in words.
fn told(report: &Report) -> String {
    let mut text = format!("aside squeeze: {} → {} chars", report.before_units, report.after_units);
    if !report.filters.is_empty() {
        let _ = write!(text, ", by {}", report.filters.join(", "));
    }
    text.push('\n');
    for failed in &report.failed {
        let _ = writeln!(text, "aside squeeze: {} failed: {}", failed.filter, failed.reason);
    }
    if report.cut_protected {
        text.push_str("aside squeeze: text of a machine format was cut\n");
    }
    if report.unexplained {
        text.push_str("aside squeeze: it failed, and what is left says only that it passed\n");
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
